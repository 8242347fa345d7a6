//! Builds messages and blocks in Anthropic's format.

use alloc::{string::String, vec::Vec};

use crate::{
    json::{Node, Text},
    request::{
        conversation::{Content, Part, Role},
        tool::type_of,
    },
};

pub(super) fn message<'a>(role: Role, blocks: Vec<Node<'a>>) -> Node<'a> {
    Node::record([("role", Node::literal(role.name())), ("content", Node::array(blocks))])
}

pub(super) fn text(text: Node<'_>) -> Node<'_> {
    Node::record([("type", Node::literal("text")), ("text", text)])
}

pub(super) fn reference<'a>(name: &Text<'a>) -> Node<'a> {
    Node::record([("type", Node::literal("tool_reference")), ("tool_name", Node::string(name.clone()))])
}

/// Returns the name of a tool that is added or removed.
pub(super) fn changed_name<'n, 'a>(tool: &'n Node<'a>) -> Option<&'n Text<'a>> {
    tool.get("definition").unwrap_or(tool).text_at("name")
}

/// Returns true if the message ends with the result of a tool that the API's servers ran.
pub(super) fn ends_in_server_result(message: &Node<'_>) -> bool {
    let last = message.array_at("content").and_then(<[Node<'_>]>::last);
    last.and_then(type_of).is_some_and(|kind| kind.display().ends_with("_result"))
}

/// Returns a tool reference by name, the form in additions and removals.
pub(super) fn by_name<'a>(name: &Text<'a>) -> Node<'a> {
    Node::record([("type", Node::literal("tool_reference")), ("name", Node::string(name.clone()))])
}

pub(super) fn change<'a>(kind: &'static str, tool: Node<'a>) -> Node<'a> {
    Node::record([("type", Node::literal(kind)), ("tool", tool)])
}

/// Returns the content of a result. A single text becomes a string.
pub(super) fn result_content(content: Content<'_>) -> Node<'_> {
    let mut parts = match content {
        Content::String(text) => return text,
        Content::Parts(parts) => parts,
    };
    if let [Part::Text(_)] = parts.as_slice() {
        if let Some(Part::Text(text)) = parts.pop() {
            return text;
        }
    }
    let blocks: Vec<Node<'_>> = parts.into_iter().filter_map(block).collect();
    if blocks.is_empty() {
        return Node::literal("");
    }
    Node::array(blocks)
}

/// Converts a part to a block. An empty text yields no block, because the API refuses empty text blocks.
pub(super) fn block(part: Part<'_>) -> Option<Node<'_>> {
    match part {
        Part::Text(words) if words.as_text().is_some_and(Text::is_empty) => None,
        Part::Text(words) => Some(text(words)),
        Part::Untranslated(block) => Some(block),
        Part::Reference(_) | Part::Search(_) | Part::Ignored => None,
        Part::Image { url, .. } => Some(Node::record([("type", Node::literal("image")), ("source", source(url))])),
    }
}

/// Converts the URL of an image to a source with embedded data or a link.
fn source(url: Node<'_>) -> Node<'_> {
    let inline = url.as_text().and_then(Text::value).and_then(|url| {
        let (media_type, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
        Some((String::from(media_type), String::from(data)))
    });
    match inline {
        Some((media_type, data)) => Node::record([
            ("type", Node::literal("base64")),
            ("media_type", Node::string(media_type)),
            ("data", Node::string(data)),
        ]),
        None => Node::record([("type", Node::literal("url")), ("url", url)]),
    }
}
