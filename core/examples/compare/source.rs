//! Reads inputs from rows of JSON files. Each row contains a schema, a list of tools, or a request.

use std::{
    fs,
    path::{Path, PathBuf},
};

use toolwire::internal::json::{self, Node, Object};

/// The kind of input in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Schema,
    Tools,
    Request,
}

/// One input.
pub(crate) struct Input {
    /// File and row, for example `mcp_tools.jsonl#12`.
    pub(crate) id: String,
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

/// Members that hold a schema, in rows of schemas and of tools.
const SCHEMAS: [&str; 4] = ["inputSchema", "input_schema", "schema", "parameters"];

/// Reads the inputs of a file, or of all files in a folder.
///
/// # Errors
/// A message if a file cannot be read.
pub(crate) fn read(path: &Path) -> Result<Vec<Input>, String> {
    let mut inputs = Vec::new();
    for file in files(path)? {
        let text =
            fs::read_to_string(&file).map_err(|error| format!("expected a file at `{}`: {error}", file.display()))?;
        let name = name_of(&file);
        let lines = file.extension().is_some_and(|extension| extension == "jsonl");
        if lines {
            for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                let row = json::read(line).map_err(|error| format!("{name}#{number}: {error}"))?;
                inputs.extend(input(format!("{name}#{number}"), &row));
            }
            continue;
        }
        let Ok(document) = json::read(&text) else { continue };
        match document.as_array() {
            Some(rows) => inputs
                .extend(rows.iter().enumerate().filter_map(|(number, row)| input(format!("{name}#{number}"), row))),
            None => inputs.extend(input(name, &document)),
        }
    }
    Ok(inputs)
}

fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let entries = fs::read_dir(path).map_err(|error| format!("expected a folder at `{}`: {error}", path.display()))?;
    let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.sort();
    let mut all = Vec::new();
    for path in found {
        let is_json = path.extension().is_some_and(|extension| extension == "json" || extension == "jsonl");
        if path.is_dir() || is_json {
            all.extend(files(&path)?);
        }
    }
    Ok(all)
}

/// Returns the last two components of a path, which identify the file and are the same on every machine.
fn name_of(path: &Path) -> String {
    let parts: Vec<String> = path.iter().rev().take(2).map(|part| part.to_string_lossy().into_owned()).collect();
    parts.into_iter().rev().collect::<Vec<_>>().join("/")
}

fn input(id: String, row: &Node<'_>) -> Option<Input> {
    let (kind, node) = find_input(row)?;
    Some(Input { id, kind, text: json::write(node) })
}

/// Wraps a schema as a property of an object, because arguments are objects, but many schemas of test suites describe
/// other values.
///
/// An identifier is added to the schema, so that its references still resolve within it.
pub(crate) fn wrapped(input: &Input) -> Option<Input> {
    let mut inner = json::read(&input.text).ok().filter(|_| input.kind == Kind::Schema)?;
    let draft = inner.get("$schema").cloned();
    let object = inner.as_object_mut()?;
    if !object.has("$id") {
        object.set("$id", Node::string("https://example.com/inner"));
    }
    let mut properties = Object::new();
    properties.set("v", inner);
    let mut outer = Object::new();
    outer.set("type", Node::string("object"));
    outer.set("properties", Node::object(properties));
    outer.set("required", Node::array(vec![Node::string("v")]));
    if let Some(draft) = draft {
        outer.set("$schema", draft);
    }
    Some(Input { id: format!("{} wrapped", input.id), kind: Kind::Schema, text: json::write(&Node::object(outer)) })
}

fn find_input<'n, 'a>(row: &'n Node<'a>) -> Option<(Kind, &'n Node<'a>)> {
    // A recorded row also has an `input` and a `model`; its input is a request.
    let is_history = |input: &Node<'_>| input.as_object().is_none();
    if row.get("messages").is_some() || (row.get("input").is_some_and(is_history) && row.get("model").is_some()) {
        return Some((Kind::Request, row));
    }
    if let Some(request) = row.get("request").filter(|request| request.as_object().is_some()) {
        return Some((Kind::Request, request));
    }
    if let Some(schema) = SCHEMAS.iter().find_map(|member| row.get(member)).filter(|schema| !schema.is_null()) {
        return Some((Kind::Schema, schema));
    }
    if let Some(tools) = row.get("tools").filter(|tools| tools.as_array().is_some()) {
        return Some((Kind::Tools, tools));
    }
    // The input of a fixture case.
    if let Some(input) = row.get("input").filter(|input| input.as_object().is_some()) {
        let is_request = ["messages", "input", "contents"].iter().any(|member| input.get(member).is_some());
        return Some((if is_request { Kind::Request } else { Kind::Schema }, input));
    }
    let is_case = row.get("name").is_some() && row.get("why").is_some();
    (row.as_object().is_some() && !is_case).then_some((Kind::Schema, row))
}
