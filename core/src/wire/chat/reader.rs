//! Reader for OpenAI Chat Completions, including Kimi's system messages with tools.

use alloc::{format, vec::Vec};

use crate::{
    error::Error,
    json::{
        lazy::{take, view},
        Data, Node, Text,
    },
    request::{
        carriers::{is_system, misplaced_tools_error},
        conversation::{string_of, Addition, Arguments, Call, Content, EventKind, Outcome, Part, Role, Searcher},
        location::{Location, Step},
        reader::{lenient_role, no_object, no_role, Reader},
        tool::{self, has_type},
        tools::Arrival,
    },
    wire::anthropic::mentions::is_tool_ref,
    wire::anthropic::reader::{self as anthropic, concerns, in_user_message, result_content, take_content},
};

pub(crate) fn read(reader: &mut Reader<'_, '_, '_>) -> Result<(), Error> {
    for index in 0..reader.history.messages().len() {
        let (at, pointer) = (index + 1, format!("/messages/{index}"));
        reader.location = Location::of_message(at);
        if reader.reads_only_tool_messages() {
            let concerns = |message: &Node<'_>, calls: bool| {
                let calls_or_answers = message.get("tool_calls").is_some() || is_tool(message);
                has_tools(message) || calls && calls_or_answers || concerns(message, calls)
            };
            let Some(mut old) = reader.open_if_concerned(index, concerns)? else { continue };
            if is_tool_ref(&old) {
                old = in_user_message(old);
                reader.is_bare = true;
            }
            let role = lenient_role(&old);
            message(reader, at, old, role, &pointer)?;
            continue;
        }
        if reader.same_format() {
            let old = reader.history.messages().get(index).map(view).transpose()?;
            let kept = old
                .as_ref()
                .filter(|old| ["tool_calls", "tool_call_id", "tools"].iter().all(|key| old.get(key).is_none()));
            if let Some(role) = kept.map(|old| role(old, &pointer)).transpose()? {
                reader.push(at, EventKind::Unchanged(role));
                continue;
            }
        }
        let mut old = reader.open(index)?;
        if is_tool_ref(&old) && reader.emulates() {
            old = in_user_message(old);
            reader.is_bare = true;
        }
        let role = role(&old, &pointer)?;
        message(reader, at, old, role, &pointer)?;
    }
    anthropic::read_server_calls(reader, part)
}

fn has_tools(message: &Node<'_>) -> bool {
    message.get("tools").is_some_and(|tools| tools.as_array().is_some())
}

fn is_tool(message: &Node<'_>) -> bool {
    ["tool", "function"].iter().any(|name| message.get("role").is_some_and(|role| role.is_text(name)))
}

fn message<'a>(
    reader: &mut Reader<'_, '_, 'a>,
    at: usize,
    mut old: Node<'a>,
    role: Role,
    pointer: &str,
) -> Result<(), Error> {
    let has_list = read_tool_list(reader, at, &mut old, pointer)?;
    if is_tool(&old) {
        if !reader.same_format() {
            reader.lose_rest(&old, &["role", "content", "tool_call_id"]);
        }
        let id = string_of(&old, "tool_call_id");
        let (source_item, content) = take_content(reader, old, "content");
        let content = result_content(reader, (at, "content"), content, part)?;
        reader.push(at, EventKind::Result(Outcome::new(id, content, source_item)));
        return Ok(());
    }
    let content = take(&mut old, "content")?;
    let mut refusal = None;
    if !reader.same_format() {
        if old.text_at("refusal").is_some_and(|text| !text.is_empty()) {
            refusal = old.visit("refusal", core::mem::take);
        }
        reader.lose_rest(&old, &["role", "content", "tool_calls", "tools", "reasoning_content"]);
    }
    if !reader.reads_only_tool_messages() {
        if let Some(thought) = old.visit("reasoning_content", core::mem::take).filter(|text| text.as_text().is_some()) {
            let outer = reader.enter(Step::Name("reasoning_content"));
            reader.push(at, EventKind::Reasoning(Node::record([("reasoning_content", thought)])));
            reader.location = outer;
        }
    }
    let calls = old.visit("tool_calls", core::mem::take).map(Node::into_data);
    let calls = if let Some(Data::Array(calls)) = calls { calls } else { Vec::new() };
    let is_silent = |text: &Text<'_>| (has_list || !calls.is_empty()) && text.is_empty();
    let has_no_content =
        content.as_ref().is_none_or(|content| content.is_null() || content.as_text().is_some_and(is_silent));
    if reader.same_format() {
        if has_no_content && content.is_some() {
            old.visit("content", |old| *old = content.clone().unwrap_or_default());
        }
        // The tools that the message adds are in the list now.
        if old.get("tools").is_some_and(Node::is_null) {
            old.remove("tools");
        }
        reader.conversation.originals.insert(at, old);
    }
    if !has_no_content {
        anthropic::message(reader, (at, at), role, content, part)?;
    }
    if let Some(refusal) = refusal {
        let content = Content::Parts(Vec::from([reader.refusal(refusal)]));
        let outer = reader.enter(Step::Name("refusal"));
        reader.push(at, EventKind::Text { role, content });
        reader.location = outer;
    }
    let message = reader.enter(Step::Name("tool_calls"));
    for (index, call) in calls.into_iter().enumerate() {
        let list = reader.enter(Step::Index(index));
        let call = read_call(reader, call);
        reader.push(at, call);
        reader.location = list;
    }
    reader.location = message;
    Ok(())
}

/// Returns the role. The role of tool results is treated as `user`.
fn role(message: &Node<'_>, pointer: &str) -> Result<Role, Error> {
    if message.as_object().is_none() {
        return Err(no_object(message, pointer));
    }
    let is = |name: &&str| message.get("role").is_some_and(|role| role.is_text(name));
    if ["system", "developer", "user", "tool", "function", "assistant"].iter().any(is) {
        Ok(lenient_role(message))
    } else {
        Err(no_role(message, pointer, "`system`, `developer`, `user`, `assistant` or `tool`"))
    }
}

/// Reads the tools that a system message adds. Returns true if the message lists tools.
fn read_tool_list<'a>(
    reader: &mut Reader<'_, '_, 'a>,
    at: usize,
    message: &mut Node<'a>,
    pointer: &str,
) -> Result<bool, Error> {
    if !has_tools(message) {
        return Ok(false);
    }
    if !is_system(message) {
        return Err(misplaced_tools_error(pointer));
    }
    let Some(Data::Array(tools)) = message.visit("tools", core::mem::take).map(Node::into_data) else {
        return Ok(false);
    };
    reader.mark_changed(at);
    if !reader.may_change() {
        for (index, tool) in tools.iter().enumerate() {
            if let Some(name) = tool::name(tool).cloned() {
                reader.at_entry("tools", index, |reader| reader.push(at, EventKind::Ignored(name)));
            }
        }
        return Ok(true);
    }
    let is_head = reader.is_before_messages();
    let mut additions = Vec::with_capacity(tools.len());
    let outer = reader.enter(Step::Name("tools"));
    for (index, definition) in tools.into_iter().enumerate() {
        let list = reader.enter(Step::Index(index));
        if is_head {
            reader.add_to_list(definition, reader.location);
        } else if let Some(name) = tool::name(&definition).cloned() {
            reader.add_definition(definition, Arrival::Found);
            let origin = reader.location;
            additions.push(Addition { origin, name, definition: None, cache_control: None, is_known: false });
        } else if reader.emulates() {
            reader.add_definition(definition, Arrival::Found);
        } else {
            reader.lose_block(&definition);
        }
        reader.location = list;
    }
    reader.location = outer;
    if !additions.is_empty() {
        reader.push(at, EventKind::Define(additions));
    }
    Ok(true)
}

fn read_call<'a>(reader: &mut Reader<'_, '_, 'a>, mut call: Node<'a>) -> EventKind<'a> {
    let source_item = reader.same_format().then(|| call.clone());
    let id = string_of(&call, "id");
    let inner = if has_type(&call, "custom") { "custom" } else { "function" };
    if !reader.same_format() {
        reader.lose_rest(&call, &["type", "id", "index", inner]);
        if let Some(function) = call.get(inner) {
            let outer = reader.enter(Step::Name(inner));
            reader.lose_rest(function, &["name", "arguments", "input"]);
            reader.location = outer;
        }
    }
    let mut function = call.visit(inner, core::mem::take).unwrap_or_default();
    let name = function.text_at("name").cloned().unwrap_or_else(|| Text::literal(""));
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
    EventKind::Call(Call { id, name, arguments, search, source_item })
}

fn part<'a>(reader: &mut Reader<'_, '_, 'a>, mut block: Node<'a>) -> Result<Option<Part<'a>>, Error> {
    if reader.same_format() {
        return Ok(Some(Part::Untranslated(block)));
    }
    for kind in ["text", "refusal"] {
        if has_type(&block, kind) {
            reader.lose_rest(&block, &["type", kind]);
            let text = block.visit(kind, core::mem::take).filter(|text| text.as_text().is_some());
            return Ok(text.map(|text| if kind == "text" { Part::Text(text) } else { reader.refusal(text) }));
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
