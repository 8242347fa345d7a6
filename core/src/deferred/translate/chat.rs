//! Messages as messages of Chat Completions.

use alloc::{string::String, vec::Vec};

use super::{arguments, blocks, image, lose_block, lose_rest, set};
use crate::{
    deferred::{
        history::splice,
        lazy::{take, view},
        notice::whole,
        report::Warnings,
        tool::has_type,
    },
    error::{Code, Error},
    json::{Data, Node, Text},
};

/// Rewrites the messages at their place; the system prompt is the first one. A message that is one of both formats is
/// not touched.
pub(super) fn messages<'a>(
    request: &mut Node<'a>,
    system: Option<Node<'a>>,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    let first = match system {
        Some(system) => message(system, "system", "/system", warnings)?,
        None => Vec::new(),
    };
    request
        .visit("messages", |messages| {
            let mut replaced: Vec<(usize, Vec<Node<'a>>)> = Vec::new();
            for (at, old) in messages.as_array().unwrap_or_default().iter().enumerate() {
                let old = view(old)?;
                if !is_common(&old) {
                    let mut new = old.clone();
                    let pointer = alloc::format!("/messages/{at}");
                    let role = role(&new, &pointer)?;
                    lose_rest(&new, &["role", "content"], warnings);
                    let content = take(&mut new, "content")?.unwrap_or_default();
                    replaced.push((at, message(content, role, &pointer, warnings)?));
                }
            }
            splice(messages, replaced);
            if !first.is_empty() {
                if let Some(list) = messages.as_array_mut() {
                    list.splice(0..0, first);
                }
            }
            Ok::<(), Error>(())
        })
        .transpose()?;
    Ok(())
}

/// Whether a message stands in both formats for the same.
fn is_common(message: &Node<'_>) -> bool {
    let Some(object) = message.as_object() else { return false };
    let roles = ["user", "assistant", "system"];
    let role = object.get("role").is_some_and(|role| roles.iter().any(|name| role.is_text(name)));
    let plain = object.iter().all(|member| member.key.is("role") || member.key.is("content"));
    let content = object.get("content").is_some_and(|content| match content.data() {
        Data::String(_) => true,
        // What this file writes for a message with images.
        Data::Array(parts) => {
            parts.iter().any(is_image) && parts.iter().all(|part| is_image(part) || is_text_alone(part))
        }
        _ => false,
    });
    role && plain && content
}

fn is_image(part: &Node<'_>) -> bool {
    has_type(part, "image_url")
}

fn is_text_alone(part: &Node<'_>) -> bool {
    has_type(part, "text")
        && part
            .as_object()
            .is_some_and(|object| object.len() == 2 && object.get("text").is_some_and(|text| text.as_text().is_some()))
}

fn role(message: &Node<'_>, at: &str) -> Result<&'static str, Error> {
    if message.as_object().is_none() {
        return Err(Error::new(
            Code::InvalidRequest,
            at,
            alloc::format!("expected a message as an object, found {}", message.kind()),
        ));
    }
    let known = ["user", "assistant", "system", "developer"];
    match message.get("role").and_then(|role| known.iter().find(|name| role.is_text(name))) {
        Some(role) => Ok(role),
        None => {
            let found = message.get("role").map_or_else(|| "none".into(), crate::json::write);
            let message = alloc::format!("expected a `role` of `user`, `assistant` or `system`, found {found}");
            Err(Error::new(Code::InvalidRequest, alloc::format!("{at}/role"), message))
        }
    }
}

/// One message of Anthropic's as one or more: results first, as they answer the message before.
fn message<'a>(
    content: Node<'a>,
    role: &'static str,
    at: &str,
    warnings: &mut Warnings,
) -> Result<Vec<Node<'a>>, Error> {
    if content.as_text().is_some() {
        return Ok(alloc::vec![Node::record([("role", Node::literal(role)), ("content", content)])]);
    }
    let had = blocks(Some(content), warnings);
    let empty = had.is_empty();
    let (mut results, mut calls, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for mut block in had {
        if let Data::Verbatim(text) = block.data() {
            block = crate::json::read(text)?;
        }
        if has_type(&block, "tool_use") {
            lose_rest(&block, &["type", "id", "name", "input"], warnings);
            let named = |key| block.get(key).cloned().unwrap_or_else(|| Node::literal(""));
            calls.push(Node::record([
                ("id", named("id")),
                ("type", Node::literal("function")),
                ("function", Node::record([("name", named("name")), ("arguments", arguments(&block))])),
            ]));
        } else if has_type(&block, "tool_result") {
            lose_rest(&block, &["type", "tool_use_id", "content"], warnings);
            let mut said = Vec::new();
            for block in blocks(block.visit("content", core::mem::take), warnings) {
                // A result is text here. An image in it follows in the next message, where images are allowed.
                match part(block, warnings)? {
                    Some(image) if is_image(&image) => parts.push(image),
                    text => said.extend(text),
                }
            }
            results.push(Node::record([
                ("role", Node::literal("tool")),
                ("tool_call_id", block.get("tool_use_id").cloned().unwrap_or_else(|| Node::literal(""))),
                ("content", joined(said, at)?),
            ]));
        } else {
            parts.extend(part(block, warnings)?);
        }
    }
    let mut out = results;
    if !parts.is_empty() || !calls.is_empty() || empty {
        let content = match (parts.is_empty(), calls.is_empty()) {
            (true, false) => Node::new(Data::Null),
            _ if parts.iter().any(is_image) => Node::array(parts),
            _ => joined(parts, at)?,
        };
        let mut own = Node::record([("role", Node::literal(role)), ("content", content)]);
        if !calls.is_empty() {
            set(&mut own, "tool_calls", Node::array(calls));
        }
        out.push(own);
    }
    Ok(out)
}

/// A text or an image.
fn part<'a>(mut block: Node<'a>, warnings: &mut Warnings) -> Result<Option<Node<'a>>, Error> {
    if has_type(&block, "text") {
        lose_rest(&block, &["type", "text"], warnings);
        let text = block.visit("text", core::mem::take).filter(|text| text.as_text().is_some());
        return Ok(text.map(|text| Node::record([("type", Node::literal("text")), ("text", text)])));
    }
    if is_image(&block) {
        return Ok(Some(block));
    }
    let url = if has_type(&block, "image") { image::url(&block)? } else { None };
    let Some(url) = url else {
        lose_block(&block, warnings);
        return Ok(None);
    };
    lose_rest(&block, &["type", "source"], warnings);
    Ok(Some(Node::record([("type", Node::literal("image_url")), ("image_url", Node::record([("url", url)]))])))
}

/// Texts joined by a blank line; one alone keeps its spelling.
fn joined<'a>(mut texts: Vec<Node<'a>>, at: &str) -> Result<Node<'a>, Error> {
    if let [only] = texts.as_mut_slice() {
        if let Some(text) = only.visit("text", core::mem::take) {
            return Ok(text);
        }
    }
    let mut out = String::new();
    for (index, block) in texts.iter().enumerate() {
        if index > 0 {
            out.push_str("\n\n");
        }
        if let Some(text) = block.get("text").and_then(Node::as_text) {
            out.push_str(&whole(text, at)?);
        }
    }
    Ok(Node::string(Text::new(out)))
}
