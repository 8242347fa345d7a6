//! The tools of the old and the new list, in pairs.

use std::collections::{BTreeMap, BTreeSet};

use toolwire::internal::{
    self,
    json::{self, Node},
};

use crate::{
    input::{Named, Subject},
    position::value_at,
};

/// A tool, with the parts that are compared.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: Option<String>,
    server: Option<String>,
    /// Pointer into the list.
    pub(super) pointer: String,
    /// Schemas of the arguments and of the results, as JSON.
    pub(super) input: String,
    pub(super) output: Option<String>,
    /// Title and description.
    pub(super) text: String,
    pub(super) annotations: String,
}

/// Indices of an old tool and of its new version, or of a tool without a counterpart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) old: Option<usize>,
    pub(super) new: Option<usize>,
}

/// Returns the tools of a list.
pub(super) fn tools(subject: &Subject<'_>, entries: &[Named]) -> Vec<Tool> {
    match subject {
        Subject::Schemas(schemas) => {
            let tool = |(schema, entry): (&Node<'_>, &Named)| Tool {
                name: None,
                server: None,
                pointer: entry.pointer.clone(),
                input: json::write(schema),
                output: None,
                text: String::new(),
                annotations: String::new(),
            };
            schemas.iter().zip(entries).map(tool).collect()
        }
        Subject::Tools(list) | Subject::Request(list) => {
            entries.iter().map(|entry| tool(value_at(list, &entry.pointer), entry)).collect()
        }
    }
}

fn tool(value: Option<&Node<'_>>, entry: &Named) -> Tool {
    let canonical = |node: Option<&Node<'_>>| node.map(json::canonical).unwrap_or_default();
    // The definition is inside a member in some formats.
    let parts = value.into_iter().chain(value.and_then(Node::as_object).into_iter().flat_map(|object| {
        object.iter().filter(|member| member.key.is("function") || member.key.is("toolSpec")).map(|it| &it.value)
    }));
    let (mut text, mut annotations, mut output) = (String::new(), String::new(), None);
    for part in parts {
        for name in ["title", "description"] {
            if let Some(written) = part.get(name) {
                text.push_str(&format!("{name}: {}\n", json::canonical(written)));
            }
        }
        output = output.or_else(|| part.get("outputSchema"));
        annotations.push_str(&canonical(part.get("annotations")));
    }
    let schema = value.and_then(internal::schema_of);
    Tool {
        name: entry.name.clone(),
        server: entry.server.clone(),
        pointer: entry.pointer.clone(),
        input: schema.map_or_else(|| "{}".into(), json::write),
        // Converse wraps a schema in `json`.
        output: output.map(|schema| unwrap_json(schema).unwrap_or(schema)).map(json::write),
        text,
        annotations,
    }
}

fn unwrap_json<'n, 'a>(schema: &'n Node<'a>) -> Option<&'n Node<'a>> {
    schema.get("json").filter(|_| schema.as_object().is_some_and(|object| object.len() == 1))
}

/// Pairs the tools of two lists by server and name. A tool without a counterpart is treated as renamed if exactly one
/// tool of the other list has equal schemas. Both also need equal descriptions, unless the schema declares properties.
pub(super) fn pairs(old: &[Tool], new: &[Tool]) -> Vec<Pair> {
    let mut by_name = BTreeMap::<(Option<&str>, Option<&str>, usize), usize>::new();
    for (at, key) in keys(new).into_iter().enumerate() {
        by_name.insert(key, at);
    }
    let (mut pairs, mut gone) = (Vec::new(), BTreeSet::new());
    for (at, key) in keys(old).into_iter().enumerate() {
        match by_name.remove(&key) {
            Some(new) => pairs.push(Pair { old: Some(at), new: Some(new) }),
            None => drop(gone.insert(at)),
        }
    }
    let mut added: BTreeSet<usize> = by_name.into_values().collect();
    for with_text in [true, false] {
        let alike = |tool: &Tool| {
            let text = if with_text { Some(tool.text.clone()) } else { None };
            let is_distinct =
                tool.name.is_some() && (with_text && !tool.text.is_empty() || declares_properties(&tool.input));
            is_distinct.then(|| (canonical(&tool.input), tool.output.as_deref().map(canonical), text))
        };
        let mut candidates = BTreeMap::<_, (Vec<usize>, Vec<usize>)>::new();
        for at in &gone {
            if let Some(key) = old.get(*at).and_then(alike) {
                candidates.entry(key).or_default().0.push(*at);
            }
        }
        for at in &added {
            if let Some(key) = new.get(*at).and_then(alike) {
                candidates.entry(key).or_default().1.push(*at);
            }
        }
        for (olds, news) in candidates.into_values() {
            if let ([old], [new]) = (olds.as_slice(), news.as_slice()) {
                pairs.push(Pair { old: Some(*old), new: Some(*new) });
                gone.remove(old);
                added.remove(new);
            }
        }
    }
    pairs.extend(gone.into_iter().map(|at| Pair { old: Some(at), new: None }));
    pairs.extend(added.into_iter().map(|at| Pair { old: None, new: Some(at) }));
    pairs.sort_by_key(|pair| (pair.new.is_none(), pair.new.or(pair.old)));
    pairs
}

/// Returns the key of each tool. Tools with the same name have a number.
fn keys(tools: &[Tool]) -> Vec<(Option<&str>, Option<&str>, usize)> {
    let mut numbers = BTreeMap::<_, usize>::new();
    let mut keys = Vec::with_capacity(tools.len());
    for tool in tools {
        let (server, name) = (tool.server.as_deref(), tool.name.as_deref());
        let number = numbers.entry((server, name)).or_default();
        keys.push((server, name, *number));
        *number += 1;
    }
    keys
}

fn canonical(text: &str) -> String {
    json::read(text).map(|node| json::canonical(&node)).unwrap_or_default()
}

/// Returns true if a schema declares properties. Two tools hardly have equal schemas with properties by chance.
fn declares_properties(schema: &str) -> bool {
    let schema = json::read(schema).unwrap_or_default();
    schema.object_at("properties").is_some_and(|table| !table.is_empty())
}
