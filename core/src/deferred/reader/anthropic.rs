//! Anthropic Messages.

use alloc::{format, string::String, vec::Vec};

use super::{no_object, no_role, Reader};
use crate::{
    collections::Set,
    deferred::{
        conversation::{opened, string_of, Addition, Arguments, Call, Content, Outcome, Part, Role, Searcher, What},
        lazy::{may_hold, take, view},
        load_events::{directive, directive_definition, directive_name, is_reference, reference_name, Directive},
        prefilter,
        tool::{self, has_type, starts_with},
        tools::Arrival,
    },
    error::Error,
    json::{Data, Node, Text},
    options::{Format, UnavailableCalls},
};

/// Reads a request.
pub(super) fn read<'a>(reader: &mut Reader<'_, 'a>, request: &mut Node<'a>) -> Result<(), Error> {
    reader.list(request);
    if !reader.stays() && request.get("system").is_some() {
        let system = take(request, "system")?.unwrap_or_default();
        tool::remove(request, "system");
        message(reader, 0, Role::System, Some(system))?;
    }
    if reader.reading.target == Format::OpenaiChat && reader.conversation.events.is_empty() {
        let listed = request.get("messages").and_then(Node::as_array).unwrap_or_default();
        if listed.iter().map(|message| is_copied(reader, message)).collect::<Result<Vec<_>, _>>()?.iter().all(|is| *is)
        {
            reader.conversation.is_in_place = true;
            return Ok(());
        }
    }
    let messages = request
        .visit("messages", |messages| messages.as_array_mut().map(core::mem::take))
        .flatten()
        .unwrap_or_default();
    for (at, old) in messages.into_iter().enumerate() {
        if is_copied(reader, &old)? {
            let role = role(&*view(&old)?, &format!("/messages/{at}"))?;
            reader.push(at + 1, What::Copied(old, role));
            continue;
        }
        let pointer = format!("/messages/{at}");
        let mut old = opened(old)?;
        let role = role(&old, &pointer)?;
        reader.lose_rest(&old, &["role", "content"]);
        let content = take(&mut old, "content")?;
        message(reader, at + 1, role, content)?;
    }
    Ok(())
}

/// Whether a message stands in the target's format for the same.
fn is_copied(reader: &Reader<'_, '_>, message: &Node<'_>) -> Result<bool, Error> {
    Ok(match reader.reading.target {
        Format::Anthropic if reader.reading.options.unavailable_calls == UnavailableCalls::Text => false,
        Format::Anthropic => !may_hold(message, prefilter::DEFERRAL) || !speaks_of_tools(&*view(message)?),
        Format::OpenaiChat => is_common(&*view(message)?),
        Format::OpenaiResponses => false,
    })
}

/// Whether a message refers to tools, or changes them.
fn speaks_of_tools(message: &Node<'_>) -> bool {
    let blocks = |node: &Node<'_>| {
        node.get("content")
            .and_then(Node::as_array)
            .is_some_and(|blocks| blocks.iter().any(|block| is_reference(block) || directive(block).is_some()))
    };
    let listed = message.get("content").and_then(Node::as_array).unwrap_or_default();
    let is_search = |block: &Node<'_>| has_type(block, "server_tool_use") || has_type(block, "tool_search_tool_result");
    blocks(message) || listed.iter().any(|block| blocks(block) || is_search(block))
}

/// Whether a message means the same in Chat Completions.
fn is_common(message: &Node<'_>) -> bool {
    let Some(object) = message.as_object() else { return false };
    let roles = ["user", "assistant", "system"];
    let role = object.get("role").is_some_and(|role| roles.iter().any(|name| role.is_text(name)));
    let plain = object.iter().all(|member| member.key.is("role") || member.key.is("content"));
    let content = object.get("content").is_some_and(|content| match content.data() {
        Data::String(_) => true,
        // What this library writes for a message with images.
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
    if is("user") {
        Ok(Role::User)
    } else if is("assistant") {
        Ok(Role::Assistant)
    } else if is("system") || is("developer") {
        Ok(Role::System)
    } else {
        Err(no_role(message, at, "`user`, `assistant` or `system`"))
    }
}

/// Reads what a message holds, block by block.
fn message<'a>(reader: &mut Reader<'_, 'a>, at: usize, role: Role, content: Option<Node<'a>>) -> Result<(), Error> {
    let blocks = match content.map(Node::into_data) {
        Some(Data::Array(blocks)) if !blocks.is_empty() => blocks,
        other => {
            let content = reader.content(other.map(Node::new), part)?;
            reader.push(at, What::Text { role, content });
            return Ok(());
        }
    };
    let mut parts = Vec::new();
    let mut additions = Vec::new();
    for block in blocks {
        let block = opened(block)?;
        if role == Role::System && directive(&block).is_some() {
            change(reader, at, &block, &mut additions);
            continue;
        }
        let event = if has_type(&block, "tool_use") || is_search_call(reader, &block) {
            Some(call(reader, block))
        } else if has_type(&block, "tool_result") {
            Some(result(reader, block)?)
        } else if has_type(&block, "tool_search_tool_result") {
            Some(search_result(reader, &block))
        } else if has_type(&block, "thinking") || has_type(&block, "redacted_thinking") {
            Some(What::Reasoning(block))
        } else {
            parts.extend(part(reader, block)?);
            None
        };
        if let Some(event) = event {
            if !parts.is_empty() {
                reader.push(at, What::Text { role, content: Content::Parts(core::mem::take(&mut parts)) });
            }
            reader.push(at, event);
        }
    }
    if !additions.is_empty() {
        reader.push(at, What::Add(additions));
    }
    if !parts.is_empty() {
        reader.push(at, What::Text { role, content: Content::Parts(parts) });
    }
    Ok(())
}

/// An addition or a removal. Additions in a row are one.
fn change<'a>(reader: &mut Reader<'_, 'a>, at: usize, block: &Node<'a>, additions: &mut Vec<Addition<'a>>) {
    let name = directive_name(block);
    let definition = directive_definition(block);
    if !reader.may_change(core::iter::once(&name)) {
        return;
    }
    match directive(block) {
        Some(Directive::Removal) => {
            if !additions.is_empty() {
                reader.push(at, What::Add(core::mem::take(additions)));
            }
            reader.push(at, What::Remove(name));
        }
        // The tools of a toolset are not in the request.
        _ if name.is_empty() && definition.is_some() => {
            definition.into_iter().for_each(|definition| reader.lose_block(definition));
        }
        // A tool of another format is none that this API can have.
        _ if definition.is_some_and(|definition| definition.get(tool::INNER_FUNCTION).is_some()) => {
            definition.into_iter().for_each(|definition| reader.lose_block(definition));
        }
        _ => {
            if let Some(definition) = definition {
                reader.bring(definition.clone(), Arrival::Added);
            }
            additions.push(Addition { name, definition: definition.cloned() });
        }
    }
}

fn is_search_call(reader: &Reader<'_, '_>, block: &Node<'_>) -> bool {
    has_type(block, "server_tool_use")
        && block
            .get("name")
            .and_then(Node::as_text)
            .is_some_and(|name| starts_with(name, "tool_search_tool_") || reader.conversation.tools.is_search(name))
}

fn call<'a>(reader: &mut Reader<'_, 'a>, mut block: Node<'a>) -> What<'a> {
    let own = reader.stays().then(|| block.clone());
    if own.is_none() {
        reader.lose_rest(&block, &["type", "id", "name", "input", "caller"]);
    }
    let name = block.get("name").and_then(Node::as_text).cloned().unwrap_or_else(|| Text::literal(""));
    let is_hosted = has_type(&block, "server_tool_use");
    What::Call(Call {
        id: string_of(&block, "id"),
        search: searcher(reader, &name, is_hosted),
        name,
        arguments: Arguments::Value(block.visit("input", core::mem::take).unwrap_or_default()),
        own,
    })
}

fn searcher(reader: &Reader<'_, '_>, name: &Text<'_>, is_hosted: bool) -> Option<Searcher> {
    if is_hosted {
        return Some(Searcher::Hosted);
    }
    reader.reading.options.search_tools.iter().any(|search| name.is(search.as_str())).then_some(Searcher::Client)
}

fn result<'a>(reader: &mut Reader<'_, 'a>, mut block: Node<'a>) -> Result<What<'a>, Error> {
    let own = reader.stays().then(|| block.clone());
    if own.is_none() {
        reader.lose_rest(&block, &["type", "tool_use_id", "content", "is_error"]);
    }
    let is_error = block.get("is_error").and_then(Node::as_bool) == Some(true);
    let id = string_of(&block, "tool_use_id");
    let content = block.visit("content", core::mem::take);
    let mut found = Vec::new();
    let content = match content.map(Node::into_data) {
        Some(Data::Array(blocks)) => {
            let (references, others): (Vec<_>, Vec<_>) = blocks.into_iter().partition(is_reference);
            // What a failed call says of tools is nothing that the API honours.
            if !is_error {
                found.extend(references.iter().map(reference_name));
            }
            Some(Node::array(others))
        }
        other => other.map(Node::new),
    };
    let content = reader.content(content, part)?;
    Ok(What::Result(Outcome {
        id,
        content,
        is_error,
        found: Some(found).filter(|found| !found.is_empty()),
        gone: Set::new(),
        of_search: None,
        own,
    }))
}

fn search_result<'a>(reader: &mut Reader<'_, 'a>, block: &Node<'a>) -> What<'a> {
    let outcome = block.get("content").unwrap_or(block);
    let listed = outcome.get("tool_references").and_then(Node::as_array).unwrap_or_default();
    let failed = outcome.get("error_code").map(|code| code.as_text().map(Text::display).unwrap_or_default());
    let content = match &failed {
        Some(code) => Content::sentence(format!("Tool search failed: {code}")),
        None => Content::Parts(Vec::new()),
    };
    What::Result(Outcome {
        id: string_of(block, "tool_use_id"),
        content,
        is_error: failed.is_some(),
        found: Some(listed.iter().map(reference_name).collect()),
        gone: Set::new(),
        of_search: None,
        own: reader.stays().then(|| block.clone()),
    })
}

/// A text or an image.
fn part<'a>(reader: &mut Reader<'_, 'a>, mut block: Node<'a>) -> Result<Option<Part<'a>>, Error> {
    if reader.stays() {
        return Ok(Some(Part::Own(block)));
    }
    if has_type(&block, "text") {
        reader.lose_rest(&block, &["type", "text"]);
        let text = block.visit("text", core::mem::take).filter(|text| text.as_text().is_some());
        return Ok(text.map(Part::Text));
    }
    if has_type(&block, "image_url") && reader.reading.target == Format::OpenaiChat {
        return Ok(Some(Part::Own(block)));
    }
    let url = if has_type(&block, "image") { image(&block)? } else { None };
    let Some(url) = url else {
        reader.lose_block(&block);
        return Ok(None);
    };
    reader.lose_rest(&block, &["type", "source"]);
    Ok(Some(Part::Image { url, detail: None }))
}

/// The URL of an image; `None` if its source has none.
fn image<'a>(image: &Node<'a>) -> Result<Option<Node<'a>>, Error> {
    let Some(source) = image.get("source") else { return Ok(None) };
    if has_type(source, "url") {
        return Ok(source.get("url").filter(|url| url.as_text().is_some()).cloned());
    }
    let text = |key| source.get(key).and_then(Node::as_text);
    Ok(match (text("media_type"), text("data")) {
        (Some(media_type), Some(data)) if has_type(source, "base64") => {
            let whole = crate::deferred::notice::whole;
            let (media_type, data) = (whole(media_type, "/messages")?, whole(data, "/messages")?);
            let mut url = String::from("data:");
            url.extend([&*media_type, ";base64,", &*data]);
            Some(Node::string(url))
        }
        _ => None,
    })
}
