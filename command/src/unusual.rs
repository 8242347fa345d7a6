//! Detects inputs that only look like tools: files of other programs, and tools whose schema has a misspelt key. A
//! verdict on them would be meaningless.

use toolwire::{
    internal,
    json::{Node, Object},
};

use super::{
    error::CommandError,
    places::Places,
    terminal::{cut, shown},
};

/// Members of tools other than the name and the schema, in MCP and in APIs.
const MEMBERS: [&str; 21] = [
    "name",
    "title",
    "description",
    "annotations",
    "outputSchema",
    "icons",
    "_meta",
    "execution",
    "type",
    "function",
    "strict",
    "toolSpec",
    "response",
    "responseJsonSchema",
    "behavior",
    "cache_control",
    "defer_loading",
    "input_examples",
    "allowed_callers",
    "eager_input_streaming",
    "custom",
];
/// Keys of members that may contain the definition.
const HOLDERS: [&str; 2] = ["function", "toolSpec"];
/// Key of the schema in MCP; the next one is the key in a `function`.
const MCP: &str = "inputSchema";
const OPENAI: &str = "parameters";
/// Maximum number of members that a message names.
const NAMED: usize = 6;

/// Returns true if a single object is not a tool: it has members that tools never have and no schema, or it is a tool
/// that an API runs itself.
pub(crate) fn is_no_tool(node: &Node<'_>) -> bool {
    let Some(object) = node.as_object() else { return true };
    let is_known = |name: &str| MEMBERS.contains(&name) || internal::schema_members().any(|member| member == name);
    if internal::is_hosted(node) {
        return true;
    }
    let has_schema = HOLDERS.into_iter().chain(internal::schema_members()).any(|member| object.has(member));
    let misspelt = misspelt_member(object, MCP).is_some();
    !has_schema && !misspelt && object.iter().any(|member| !is_known(&member.key.display()))
}

/// Returns the error for an unrecognized input.
pub(crate) fn unknown(expected: &str, above: &str, node: &Node<'_>) -> CommandError {
    let found = match node.as_object() {
        Some(object) if !object.is_empty() => {
            let names: Vec<String> = object
                .iter()
                .take(NAMED)
                .map(|member| format!("`{}`", cut(&shown(&member.key.display()), 40)))
                .collect();
            let more = if object.len() > NAMED { ", …" } else { "" };
            let what = if object.has("name") { "an object with a name, but no schema: " } else { "an object with " };
            format!("{what}{}{more}", names.join(", "))
        }
        _ => node.kind().to_string(),
    };
    CommandError::new(above, format!("{expected}, found {found}"))
}

/// Returns an error if a tool of a list has its schema under an unknown key.
pub(crate) fn misspelt(list: &Node<'_>, places: &Places) -> Result<(), CommandError> {
    let entries = list.as_array().unwrap_or_default();
    for (at, entry) in entries.iter().enumerate() {
        let holder = HOLDERS.into_iter().find(|holder| entry.get(holder).is_some_and(|it| it.as_object().is_some()));
        let definition = holder.and_then(|holder| entry.get(holder)).unwrap_or(entry);
        let Some(object) = definition.as_object() else { continue };
        let otherwise = if holder == Some("function") { OPENAI } else { MCP };
        if let Some((found, meant)) = misspelt_member(object, otherwise) {
            let above = holder.map(|holder| format!("/{holder}")).unwrap_or_default();
            let (line, pointer) = places.of(&format!("/{at}{above}"));
            let error = CommandError::new(
                pointer,
                format!("expected the tool's schema in `{meant}`, found it in `{}`", shown(&found)),
            );
            return Err(match line {
                Some(line) => error.in_line(line),
                None => error,
            });
        }
    }
    Ok(())
}

/// Returns a member that is probably the schema, and its correct key; `otherwise` is the key if no known one is
/// similar. Returns `None` if the tool has a schema.
fn misspelt_member(object: &Object<'_>, otherwise: &'static str) -> Option<(String, &'static str)> {
    if internal::schema_members().any(|member| object.has(member)) || !object.has("name") {
        return None;
    }
    object.iter().filter(|member| member.value.as_object().is_some()).find_map(|member| {
        let name = member.key.display().into_owned();
        if MEMBERS.contains(&name.as_str()) {
            return None;
        }
        // Short words may be similar by chance.
        let tolerance = |letters| if letters > 6 { 2 } else { 0 };
        let meant = internal::nearest(&name, internal::schema_members(), tolerance);
        // A value that looks like a schema is probably the schema, whatever its key is.
        let meant = meant.or_else(|| is_like_a_schema(&member.value).then_some(otherwise))?;
        Some((name, meant))
    })
}

/// Returns true if a value is an object schema.
fn is_like_a_schema(node: &Node<'_>) -> bool {
    node.get("type").is_some_and(|kind| kind.is_text("object"))
        || node.get("properties").is_some_and(|properties| properties.as_object().is_some())
        || node.get("$schema").is_some()
}
