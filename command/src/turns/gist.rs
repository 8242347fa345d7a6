//! Summarizes a message: its author, its text, its calls and its tools. For display only.

use toolwire::json::{self, Data, Node};

use super::{history::items, tool::label};

/// Returns the author of a message, in the words of its format.
pub(super) fn who(message: &Node<'_>) -> String {
    let text = |key| message.text_at(key).map(|text| text.display().into_owned());
    let kind = text("type").unwrap_or_default();
    match text("role") {
        Some(role) => role,
        None if kind.ends_with("_output") => "tool".into(),
        None if kind.is_empty() => "user".into(),
        None => "assistant".into(),
    }
}

/// Returns summaries of the parts of a message.
pub(super) fn pieces(message: &Node<'_>) -> Vec<String> {
    let mut out = Vec::new();
    if message.as_text().is_some() {
        part(message, &mut out);
        return out;
    }
    if message.get("role").is_none() || message.get("content").is_none() {
        item(message, &mut out);
    }
    if message.get("role").is_some() {
        items(message, "content").iter().for_each(|each| part(each, &mut out));
    }
    for call in items(message, "tool_calls") {
        let called = call.get("function").or_else(|| call.get("custom")).unwrap_or(call);
        out.push(calls(&label(called), called.get("arguments").or_else(|| called.get("input"))));
    }
    out
}

/// Summarizes an item of Responses, or a message that contains only tools.
fn item(item: &Node<'_>, out: &mut Vec<String>) {
    let kind = kind(item);
    let brought = items(item, "tools");
    match kind.as_str() {
        "tool_search_call" => out.push(calls("tool_search", item.get("arguments"))),
        "function_call" | "custom_tool_call" => {
            out.push(calls(&label(item), item.get("arguments").or_else(|| item.get("input"))));
        }
        _ if brought.is_empty() && item.get("tools").is_some() => out.push("adds no tools".into()),
        _ if !brought.is_empty() => {
            let names = brought.iter().map(|tool| match items(tool, "tools") {
                [] => label(tool),
                members => members.iter().map(label).collect::<Vec<_>>().join(", "),
            });
            out.push(format!("adds {}", names.collect::<Vec<_>>().join(", ")));
        }
        _ if item.get("output").is_some() => items(item, "output").iter().for_each(|each| part(each, out)),
        "" => {}
        _ => out.push(kind),
    }
}

/// Summarizes a block of a message.
fn part(block: &Node<'_>, out: &mut Vec<String>) {
    if let Some(text) = block.as_text().or_else(|| block.get("text")?.as_text()) {
        out.extend(Some(text.display().into_owned()).filter(|text| !text.is_empty()));
        return;
    }
    let tool = || block.get("tool").map(|tool| tool.get("definition").map_or_else(|| label(tool), label));
    match (kind(block).as_str(), tool()) {
        ("tool_use" | "server_tool_use", _) => out.push(calls(&label(block), block.get("input"))),
        ("tool_addition", Some(tool)) => out.push(format!("adds {tool}")),
        ("tool_removal", Some(tool)) => out.push(format!("removes {tool}")),
        ("tool_reference", _) => {
            let name = block.text_at("tool_name");
            out.extend(name.map(|name| format!("refers to {}", name.display())));
        }
        ("", _) => {}
        (kind, _) if block.get("content").is_some() || block.get("tool_references").is_some() => {
            let inside = items(block, "content").iter().chain(items(block, "tool_references"));
            let before = out.len();
            inside.for_each(|each| part(each, out));
            if out.len() == before {
                out.push(kind.into());
            }
        }
        (kind, _) => out.push(kind.into()),
    }
}

fn kind(node: &Node<'_>) -> String {
    node.text_at("type").map(|kind| kind.display().into_owned()).unwrap_or_default()
}

fn calls(name: &str, arguments: Option<&Node<'_>>) -> String {
    let arguments = arguments.map(|arguments| match arguments.data() {
        Data::String(text) => text.display().into_owned(),
        _ => json::write(arguments),
    });
    format!("calls {name} {}", arguments.unwrap_or_default())
}
