//! OpenAI Chat Completions, and Kimi's, whose system messages may bring tools.

use alloc::{format, vec::Vec};

use super::{no_object, no_role, Reader};
use crate::{
    collections::Set,
    deferred::{
        conversation::{opened, string_of, Addition, Arguments, Call, Content, Outcome, Part, Role, Searcher, What},
        lazy::take,
        load_events::brings_tools,
        tool::{self, has_type},
        tools::Arrival,
    },
    error::Error,
    json::{Data, Node, Text},
};

/// Reads a request.
pub(super) fn read<'a>(reader: &mut Reader<'_, 'a>, request: &mut Node<'a>) -> Result<(), Error> {
    reader.list(request);
    let messages = request
        .visit("messages", |messages| messages.as_array_mut().map(core::mem::take))
        .flatten()
        .unwrap_or_default();
    for (at, old) in messages.into_iter().enumerate() {
        message(reader, at + 1, opened(old)?, &format!("/messages/{at}"))?;
    }
    Ok(())
}

fn message<'a>(reader: &mut Reader<'_, 'a>, at: usize, mut old: Node<'a>, pointer: &str) -> Result<(), Error> {
    let calls = old.get("tool_calls").is_some() || old.get("tool_call_id").is_some();
    if reader.stays() && !calls && old.get("tools").is_none() {
        let speaker = role(&old, pointer)?;
        reader.push(at, What::Copied(old, speaker));
        return Ok(());
    }
    let role = role(&old, pointer)?;
    let is_system = role == Role::System;
    let is_tool = ["tool", "function"].iter().any(|name| old.get("role").is_some_and(|role| role.is_text(name)));
    let brings = carried(reader, at, &mut old, is_system, pointer)?;
    let content = take(&mut old, "content")?;
    if is_tool {
        reader.lose_rest(&old, &["role", "content", "tool_call_id"]);
        let content = reader.content(content, part)?;
        let id = string_of(&old, "tool_call_id");
        reader.push(
            at,
            What::Result(Outcome {
                id,
                content,
                is_error: false,
                found: None,
                gone: Set::new(),
                of_search: None,
                own: None,
            }),
        );
        return Ok(());
    }
    reader.lose_rest(&old, &["role", "content", "tool_calls", "tools", "reasoning_content"]);
    if let Some(thought) = old.visit("reasoning_content", core::mem::take).filter(|text| text.as_text().is_some()) {
        reader.push(at, What::Reasoning(Node::record([("reasoning_content", thought)])));
    }
    let calls = old.visit("tool_calls", core::mem::take).map(Node::into_data);
    let calls = if let Some(Data::Array(calls)) = calls { calls } else { Vec::new() };
    let content = reader.content(content, part)?;
    let is_empty = matches!(&content, Content::Parts(parts) if parts.is_empty())
        || matches!(&content, Content::String(text)
            if (brings || !calls.is_empty()) && text.as_text().is_some_and(Text::is_empty));
    if !is_empty {
        reader.push(at, What::Text { role, content });
    }
    for call in calls {
        let call = called(reader, call);
        reader.push(at, call);
    }
    Ok(())
}

/// Who speaks; what a tool gives is the client's word.
fn role(message: &Node<'_>, pointer: &str) -> Result<Role, Error> {
    if message.as_object().is_none() {
        return Err(no_object(message, pointer));
    }
    let is = |name: &&str| message.get("role").is_some_and(|role| role.is_text(name));
    if ["system", "developer"].iter().any(is) {
        Ok(Role::System)
    } else if ["user", "tool", "function"].iter().any(is) {
        Ok(Role::User)
    } else if is(&"assistant") {
        Ok(Role::Assistant)
    } else {
        Err(no_role(message, pointer, "`system`, `developer`, `user`, `assistant` or `tool`"))
    }
}

/// The tools that a message brings; gives whether it has a list of them.
fn carried<'a>(
    reader: &mut Reader<'_, 'a>,
    at: usize,
    message: &mut Node<'a>,
    is_system: bool,
    pointer: &str,
) -> Result<bool, Error> {
    let Some(Data::Array(tools)) = message.visit("tools", core::mem::take).map(Node::into_data) else {
        return Ok(false);
    };
    if !is_system {
        return Err(brings_tools(pointer));
    }
    if !reader.may_change(tools.iter().filter_map(tool::name)) {
        return Ok(true);
    }
    // Where the format stays, so does the message: a cached prefix begins with it.
    let is_head = reader.is_head() && !reader.stays();
    let mut additions = Vec::with_capacity(tools.len());
    for definition in tools {
        if is_head {
            reader.conversation.tools.list_own(definition, reader.reading.warnings);
        } else if let Some(name) = tool::name(&definition).cloned() {
            reader.bring(definition, Arrival::Found);
            additions.push(Addition { name, definition: None });
        } else {
            reader.lose_block(&definition);
        }
    }
    if !additions.is_empty() {
        reader.push(at, What::Add(additions));
    }
    Ok(true)
}

fn called<'a>(reader: &mut Reader<'_, 'a>, mut call: Node<'a>) -> What<'a> {
    let id = string_of(&call, "id");
    let inner = if has_type(&call, "custom") { "custom" } else { "function" };
    let mut function = call.visit(inner, core::mem::take).unwrap_or_default();
    let name = function.get("name").and_then(Node::as_text).cloned().unwrap_or_else(|| Text::literal(""));
    let arguments = if inner == "custom" {
        Arguments::Freeform(string_of(&function, "input"))
    } else {
        match function.visit("arguments", core::mem::take).unwrap_or_default() {
            text if text.as_text().is_some() => Arguments::Text(text),
            value => Arguments::Value(value),
        }
    };
    let searches = &reader.reading.options.search_tools;
    let search = searches.iter().any(|search| name.is(search.as_str())).then_some(Searcher::Client);
    What::Call(Call { id, name, arguments, search, own: None })
}

/// A text or an image.
fn part<'a>(reader: &mut Reader<'_, 'a>, mut block: Node<'a>) -> Result<Option<Part<'a>>, Error> {
    for kind in ["text", "refusal"] {
        if has_type(&block, kind) {
            reader.lose_rest(&block, &["type", kind]);
            let text = block.visit(kind, core::mem::take).filter(|text| text.as_text().is_some());
            return Ok(text.map(Part::Text));
        }
    }
    let image = block.get("image_url").filter(|_| has_type(&block, "image_url"));
    let url = image.and_then(|image| image.get("url")).filter(|url| url.as_text().is_some()).cloned();
    match url {
        Some(url) => {
            let detail = image.and_then(|image| image.get("detail")).filter(|text| text.as_text().is_some()).cloned();
            Ok(Some(Part::Image { url, detail }))
        }
        None => {
            reader.lose_block(&block);
            Ok(None)
        }
    }
}
