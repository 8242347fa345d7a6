//! The counted tools: for each one, its schema and its server. Names and sources are only read to determine the server,
//! and are not kept.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;

#[derive(Default)]
pub(crate) struct Tools {
    /// The distinct schemas, as JSON text.
    pub(crate) schemas: Vec<String>,
    /// Indices of the server and of the schema of each tool.
    pub(crate) tools: Vec<(usize, usize)>,
    pub(crate) servers: usize,
}

impl Tools {
    /// Reads a file with one tool per line. Returns `None` if the file does not exist.
    pub(crate) fn of_file(path: &Path) -> Option<Tools> {
        let text = fs::read_to_string(path).ok()?;
        let rows = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        Some(Tools::of(rows.filter_map(|row| {
            let schema = row.get("inputSchema").filter(|schema| !schema.is_null())?.to_string();
            Some((server(row.get("source")?.as_str()?).to_owned(), schema))
        })))
    }

    /// Collects tools from pairs of a server and a schema.
    pub(crate) fn of(pairs: impl IntoIterator<Item = (String, String)>) -> Tools {
        let (mut servers, mut schemas) = (BTreeMap::new(), BTreeMap::new());
        let mut found = Tools::default();
        for (server, schema) in pairs {
            let next = servers.len();
            let server = *servers.entry(server).or_insert(next);
            let schema = *schemas.entry(schema).or_insert_with_key(|schema: &String| {
                found.schemas.push(schema.clone());
                found.schemas.len() - 1
            });
            found.tools.push((server, schema));
        }
        found.servers = servers.len();
        found
    }

    pub(crate) fn tools_of_largest_servers(&self, count: usize) -> usize {
        let mut sizes = vec![0; self.servers];
        for (server, _) in &self.tools {
            if let Some(size) = sizes.get_mut(*server) {
                *size += 1;
            }
        }
        sizes.sort_unstable_by(|left, right| right.cmp(left));
        sizes.iter().take(count).sum()
    }
}

/// Returns the server of a source: the package or repository, without its version and the path in it.
pub(crate) fn server(source: &str) -> &str {
    let source = source.split(" (via ").next().unwrap_or(source);
    // The scope of an npm package also begins with `@`.
    let scope = source.find(":@").map_or(0, |at| at + 2);
    let version = source.get(scope..).and_then(|rest| rest.find('@'));
    version.and_then(|at| source.get(..scope + at)).unwrap_or(source)
}
