//! Reader for Anthropic Messages.

use alloc::{format, string::String, vec::Vec};

use super::{
    blocks::{message, settle_server_calls},
    no_object, no_role, Reader,
};
use crate::{
    error::Error,
    json::{
        lazy::{may_hold, take, view},
        Data, Node, Text,
    },
    options::{Api, UnavailableCalls},
    request::{
        blocks::{any_block, concerns_tools, is_mention},
        conversation::{EventKind, Part, Role},
        prefilter,
        tool::has_type,
    },
};

/// Reads the history of a request.
pub(super) fn read<'a>(
    reader: &mut Reader<'_, '_, 'a>,
    request: &Node<'a>,
    prompt: Option<Node<'a>>,
) -> Result<(), Error> {
    if prompt.is_some() {
        message(reader, (0, 0), Role::System, prompt, part)?;
    } else if reader.skims() {
        let blocks = request.items_at("system");
        let mut concerns = false;
        for block in blocks {
            concerns |= may_hold(block, prefilter::DEFERRAL) && concerns_tools(&*view(block)?);
        }
        if concerns {
            message(reader, (0, 0), Role::System, request.get("system").cloned(), part)?;
        }
    }
    if reader.conversation.is_in_place {
        for (index, message) in request.items_at("messages").iter().enumerate() {
            let role = lenient_role(&*view(message)?);
            reader.push(index + 1, EventKind::Unchanged(role));
        }
        return Ok(());
    }
    for index in 0..reader.history.messages().len() {
        let at = index + 1;
        if reader.skims() {
            let Some(mut old) = reader.skim(index, concerns)? else { continue };
            let role = if is_mention(&old) {
                old = bare(old);
                Role::User
            } else {
                lenient_role(&old)
            };
            let content = take(&mut old, "content")?;
            reader.conversation.originals.insert(at, old);
            message(reader, (at, at), role, content, part)?;
            continue;
        }
        let pointer = format!("/messages/{index}");
        let kept = match reader.history.messages().get(index) {
            Some(old) if is_unchanged(reader, old)? => {
                let old = view(old)?;
                let used = if reader.reading.options.load_used_tools { called(&old) } else { Vec::new() };
                Some((role(&old, &pointer)?, used))
            }
            _ => None,
        };
        if let Some((role, used)) = kept {
            used.into_iter().for_each(|name| reader.push(at, EventKind::Used(name)));
            reader.push(at, EventKind::Unchanged(role));
            continue;
        }
        let mut old = reader.open(index)?;
        if is_mention(&old) && reader.emulates() {
            old = bare(old);
        }
        let role = role(&old, &pointer)?;
        reader.lose_rest(&old, &["role", "content"]);
        let content = take(&mut old, "content")?;
        message(reader, (at, at), role, content, part)?;
    }
    settle_server_calls(reader, part)
}

/// Returns true if a message concerns tools. If `calls` is true, calls and results also count.
pub(super) fn concerns(message: &Node<'_>, calls: bool) -> bool {
    let is = |block: &Node<'_>| {
        concerns_tools(block)
            || calls && ["tool_use", "mcp_tool_use", "tool_result"].iter().any(|kind| has_type(block, kind))
    };
    is_mention(message) || message.get("content").is_some_and(|content| any_block(content, is))
}

/// Wraps a block at the position of a message in a user message.
pub(super) fn bare(block: Node<'_>) -> Node<'_> {
    Node::record([("role", Node::literal("user")), ("content", Node::array(alloc::vec![block]))])
}

/// Returns true if a message has the same meaning in the target format.
fn is_unchanged(reader: &Reader<'_, '_, '_>, message: &Node<'_>) -> Result<bool, Error> {
    Ok(match reader.reading.target {
        Api::Anthropic => {
            let texts = reader.reading.options.unavailable_calls == UnavailableCalls::Text;
            !may_hold(message, reader.wanted()) || !refers_to_tools(&*view(message)?, texts)
        }
        Api::OpenaiChat => is_plain(&*view(message)?),
        _ => false,
    })
}

/// Returns the names of the tools that a message calls.
fn called<'a>(message: &Node<'a>) -> Vec<Text<'a>> {
    let blocks = message.items_at("content");
    let calls = blocks.iter().filter(|block| has_type(block, "tool_use") || has_type(block, "mcp_tool_use"));
    calls.filter_map(|call| call.text_at("name")).cloned().collect()
}

/// Returns true if a message refers to tools, changes them or searches for them. If `calls` is true, calls and results
/// also count. The `caller` of a call does not count.
fn refers_to_tools(message: &Node<'_>, calls: bool) -> bool {
    let is = |block: &Node<'_>| {
        !has_type(block, "tool_use") && concerns_tools(block)
            || calls && ["tool_use", "tool_result"].iter().any(|kind| has_type(block, kind))
    };
    message.get("content").is_some_and(|content| any_block(content, is))
}

/// Returns true if the request has no system prompt and every message has the same meaning in Chat Completions.
pub(super) fn is_common(request: &Node<'_>) -> Result<bool, Error> {
    if request.get("system").is_some() {
        return Ok(false);
    }
    for message in request.items_at("messages") {
        if !is_plain(&*view(message)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns true if a message has the same meaning in Chat Completions.
fn is_plain(message: &Node<'_>) -> bool {
    let Some(object) = message.as_object() else { return false };
    let roles = ["user", "assistant", "system"];
    let role = object.get("role").is_some_and(|role| roles.iter().any(|name| role.is_text(name)));
    let plain = object.iter().all(|member| member.key.is("role") || member.key.is("content"));
    let content = object.get("content").is_some_and(|content| match content.data() {
        Data::String(_) => true,
        // This library writes messages with images in this form.
        Data::Array(parts) => {
            let is_image = |part: &Node<'_>| has_type(part, "image_url");
            parts.iter().any(is_image) && parts.iter().all(|part| is_image(part) || is_text_alone(part))
        }
        _ => false,
    });
    role && plain && content
}

fn is_text_alone(part: &Node<'_>) -> bool {
    has_type(part, "text")
        && part
            .as_object()
            .is_some_and(|object| object.len() == 2 && object.get("text").is_some_and(|text| text.as_text().is_some()))
}

fn role(message: &Node<'_>, at: &str) -> Result<Role, Error> {
    if message.as_object().is_none() {
        return Err(no_object(message, at));
    }
    let is = |name| message.get("role").is_some_and(|role| role.is_text(name));
    if ["user", "assistant", "system", "developer"].into_iter().any(is) {
        Ok(lenient_role(message))
    } else {
        Err(no_role(message, at, "`user`, `assistant` or `system`"))
    }
}

/// Returns the role of a message. An unknown or missing role counts as `user`.
pub(crate) fn lenient_role(message: &Node<'_>) -> Role {
    let is = |name| message.get("role").is_some_and(|role| role.is_text(name));
    if is("assistant") {
        Role::Assistant
    } else if is("system") || is("developer") {
        Role::System
    } else {
        Role::User
    }
}

/// Reads text or an image.
fn part<'a>(reader: &mut Reader<'_, '_, 'a>, mut block: Node<'a>) -> Result<Option<Part<'a>>, Error> {
    if reader.same_format() {
        return Ok(Some(Part::Untranslated(block)));
    }
    if has_type(&block, "text") {
        reader.lose_rest(&block, &["type", "text"]);
        let text = block.visit("text", core::mem::take).filter(|text| text.as_text().is_some());
        return Ok(text.map(Part::Text));
    }
    if has_type(&block, "image_url") && reader.reading.target == Api::OpenaiChat {
        return Ok(Some(Part::Untranslated(block)));
    }
    let url = if has_type(&block, "image") { image(&block)? } else { None };
    let Some(url) = url else {
        reader.lose_block(&block);
        return Ok(None);
    };
    reader.lose_rest(&block, &["type", "source"]);
    Ok(Some(Part::Image { url, detail: None }))
}

/// Returns the URL of an image, or `None` if the image has no URL and no data.
fn image<'a>(image: &Node<'a>) -> Result<Option<Node<'a>>, Error> {
    let Some(source) = image.get("source") else { return Ok(None) };
    if has_type(source, "url") {
        return Ok(source.get("url").filter(|url| url.as_text().is_some()).cloned());
    }
    let text = |key| source.text_at(key);
    Ok(match (text("media_type"), text("data")) {
        (Some(media_type), Some(data)) if has_type(source, "base64") => {
            let whole = crate::request::notice::whole;
            let (media_type, data) = (whole(media_type, "/messages")?, whole(data, "/messages")?);
            let mut url = String::from("data:");
            url.extend([&*media_type, ";base64,", &*data]);
            Some(Node::string(url))
        }
        _ => None,
    })
}
