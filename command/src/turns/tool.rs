//! Reads entries of `tools`, in any format.

use toolwire::json::Node;

/// Returns true if the provider defers a tool.
pub(super) fn waits(tool: &Node<'_>) -> bool {
    let flagged = |node: &Node<'_>| node.bool_at("defer_loading") == Some(true);
    flagged(tool) || tool.get("function").is_some_and(flagged)
}

/// Returns the name of a tool; if it has no name, its type.
pub(super) fn label(tool: &Node<'_>) -> String {
    let within = |key| tool.get(key).and_then(|inner| inner.get("name"));
    let name = tool.get("name").or_else(|| within("function")).or_else(|| within("custom"));
    let label = name.or_else(|| tool.get("type")).and_then(Node::as_text);
    label.map_or_else(|| String::from("?"), |label| label.display().into_owned())
}
