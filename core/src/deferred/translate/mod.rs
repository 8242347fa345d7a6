//! Translating an Anthropic request that has been rewritten already: the members of the request and its tools.

mod chat;
mod image;
mod responses;

use alloc::{string::String, vec::Vec};

use super::{
    compact::compact,
    lazy::{take, view},
    report::Warnings,
    tool::{self, has_type, remove, type_of},
};
use crate::{
    envelope,
    error::Error,
    json::{Data, Member, Node, Text},
    options::Target,
    report::Recorder,
};

/// The warning about what the target cannot say.
const LOST: &str = "not_translated";

/// Members that mean the same in all three formats.
const SHARED: [&str; 5] = ["model", "stream", "temperature", "top_p", "metadata"];

/// Translates a request in place.
pub(super) fn request(request: &mut Node<'_>, target: Target, warnings: &mut Warnings) -> Result<(), Error> {
    let names = tools(request, target, warnings);
    choice(request, target, names.as_deref(), warnings)?;
    let system = take_system(request)?;
    match target {
        Target::OpenaiResponses => responses::input(request, system, warnings)?,
        Target::OpenaiChat => chat::messages(request, system, warnings)?,
    }
    members(request, target, warnings)
}

/// Whenever Responses gets tools, it gets a choice.
pub(super) fn complete_choice(request: &mut Node<'_>) {
    if request.get("tools").is_some() && request.get("tool_choice").is_none() {
        set(request, "tool_choice", Node::literal("auto"));
    }
}

fn set<'a>(node: &mut Node<'a>, key: &'static str, value: Node<'a>) {
    if let Some(object) = node.as_object_mut() {
        object.set(key, value);
    }
}

/// Warns that something is left out, unless nothing is lost.
fn lose(name: &str, value: &Node<'_>, warnings: &mut Warnings) {
    let nothing = match value.data() {
        Data::Null | Data::Verbatim("null") | Data::Bool(false) | Data::Verbatim("false") => true,
        Data::Array(items) => items.is_empty(),
        _ => false,
    };
    if !nothing {
        warnings.about(LOST, name);
    }
}

/// Renames, keeps or leaves out each member.
fn members(request: &mut Node<'_>, target: Target, warnings: &mut Warnings) -> Result<(), Error> {
    let rename = |key: &Text<'_>| match target {
        Target::OpenaiResponses if key.is("max_tokens") => Some("max_output_tokens"),
        Target::OpenaiChat if key.is("max_tokens") => Some("max_completion_tokens"),
        Target::OpenaiChat if key.is("stop_sequences") => Some("stop"),
        _ => None,
    };
    let written: &[&str] = match target {
        Target::OpenaiResponses => &["input", "tools", "tool_choice", "parallel_tool_calls"],
        Target::OpenaiChat => &["messages", "tools", "tool_choice", "parallel_tool_calls"],
    };
    let stays = |key: &Text<'_>| SHARED.iter().chain(written).any(|name| key.is(name));
    let Some(object) = request.as_object() else { return Ok(()) };
    if object.iter().all(|member| stays(&member.key)) {
        return Ok(());
    }
    let Some(object) = request.as_object_mut() else { return Ok(()) };
    let mut members: Vec<Member<'_>> = Vec::with_capacity(object.len());
    for mut member in core::mem::take(object.members_mut()) {
        if let Some(name) = rename(&member.key) {
            if matches!(&*view(&member.value)?, node if node.as_array().is_some_and(<[Node<'_>]>::is_empty)) {
                continue;
            }
            member.key = Text::literal(name);
        } else if !stays(&member.key) {
            lose(&member.key.display(), &*view(&member.value)?, warnings);
            continue;
        }
        members.push(member);
    }
    *object.members_mut() = members;
    Ok(())
}

/// The system prompt, taken out of the request: its texts.
fn take_system<'a>(request: &mut Node<'a>) -> Result<Option<Node<'a>>, Error> {
    if request.get("system").is_none() {
        return Ok(None);
    }
    let system = take(request, "system")?;
    remove(request, "system");
    Ok(system)
}

/// Translates the tools; gives the names of those that could be.
fn tools<'a>(request: &mut Node<'a>, target: Target, warnings: &mut Warnings) -> Option<Vec<Text<'a>>> {
    request
        .visit("tools", |tools| {
            let items = core::mem::take(tools.as_array_mut()?);
            let mut names = Vec::with_capacity(items.len());
            let mut translated = Vec::with_capacity(items.len());
            for item in items {
                if let Some((name, function)) = function(item, target, warnings) {
                    names.push(name);
                    translated.push(function);
                }
            }
            tools.replace(Data::Array(translated));
            Some(names)
        })
        .flatten()
}

/// A tool as a function. `None`: it runs on the provider's servers, or has no name.
fn function<'a>(tool: Node<'a>, target: Target, warnings: &mut Warnings) -> Option<(Text<'a>, Node<'a>)> {
    let custom = type_of(&tool).is_none_or(|name| name.is("custom"));
    let name = tool.get("name").and_then(Node::as_text).filter(|name| !name.is_empty() && custom).cloned();
    let Some(name) = name else {
        let shown = tool::name(&tool).or_else(|| type_of(&tool)).map_or_else(|| "tools".into(), Text::display);
        warnings.about(LOST, shown);
        return None;
    };
    let Data::Object(object) = tool.into_data() else { return None };
    let (mut named, mut description, mut schema) = (Node::default(), None, Node::default());
    for member in object.into_members() {
        let key = &member.key;
        if key.is("name") {
            named = member.value;
        } else if key.is("description") {
            description = Some(member.value).filter(|text| text.as_text().is_some());
        } else if key.is("input_schema") {
            schema = member.value;
        } else if !key.is("type") {
            lose(&key.display(), &member.value, warnings);
        }
    }
    envelope::normalize(&mut schema, &mut Recorder::off());
    if schema.get("$schema").is_some() {
        remove(&mut schema, "$schema");
    }
    let mut function = match target {
        Target::OpenaiResponses => Node::record([("type", Node::literal("function")), ("name", named)]),
        Target::OpenaiChat => Node::record([("name", named)]),
    };
    if let Some(description) = description {
        set(&mut function, "description", description);
    }
    set(&mut function, "parameters", schema);
    match target {
        Target::OpenaiResponses => set(&mut function, "strict", Node::bool(false)),
        Target::OpenaiChat => function = Node::record([("type", Node::literal("function")), ("function", function)]),
    }
    Some((name, function))
}

/// Translates the choice. Nothing can be forced that is not in the list.
fn choice<'a>(
    request: &mut Node<'a>,
    target: Target,
    names: Option<&[Text<'a>]>,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    let Some(choice) = request.get("tool_choice") else { return Ok(()) };
    // Chat Completions refuses a choice without tools.
    if target == Target::OpenaiChat && names.is_none_or(<[Text<'_>]>::is_empty) {
        remove(request, "tool_choice");
        return Ok(());
    }
    let choice = view(choice)?;
    let single = choice.get("disable_parallel_tool_use").and_then(Node::as_bool) == Some(true);
    let kind = |name| has_type(&choice, name);
    let forced = choice.get("name").and_then(Node::as_text).filter(|_| kind("tool"));
    let translated = match forced {
        Some(name) if names.is_none_or(|names| names.contains(name)) => {
            let named = ("name", Node::string(name.clone()));
            let function = ("type", Node::literal("function"));
            Some(match target {
                Target::OpenaiResponses => Node::record([function, named]),
                Target::OpenaiChat => Node::record([function, ("function", Node::record([named]))]),
            })
        }
        Some(_) => Some(Node::literal("auto")),
        None if kind("auto") => Some(Node::literal("auto")),
        None if kind("any") => Some(Node::literal("required")),
        None if kind("none") => Some(Node::literal("none")),
        None => None,
    };
    drop(choice);
    match translated {
        Some(choice) => set(request, "tool_choice", choice),
        None => {
            if let Some(choice) = remove(request, "tool_choice") {
                lose("tool_choice", &choice, warnings);
            }
        }
    }
    if single && names.is_some_and(|names| !names.is_empty()) {
        set(request, "parallel_tool_calls", Node::bool(false));
    }
    Ok(())
}

/// A call's arguments as compact text.
fn arguments<'a>(call: &Node<'a>) -> Node<'a> {
    match call.get("input").filter(|input| !input.is_null()) {
        None => Node::literal("{}"),
        Some(input) => {
            let mut text = String::new();
            compact(input, &mut text);
            Node::string(text)
        }
    }
}

/// A message's content as blocks: a string is one text.
fn blocks<'a>(content: Option<Node<'a>>, warnings: &mut Warnings) -> Vec<Node<'a>> {
    match content.map(Node::into_data) {
        Some(Data::Array(items)) => items,
        Some(Data::String(text)) if text.is_empty() => Vec::new(),
        Some(Data::String(text)) => {
            alloc::vec![Node::record([("type", Node::literal("text")), ("text", Node::new(Data::String(text)))])]
        }
        None | Some(Data::Null) => Vec::new(),
        Some(other) => {
            lose("content", &Node::new(other), warnings);
            Vec::new()
        }
    }
}

/// What a block has beyond what was translated of it.
fn lose_rest(block: &Node<'_>, translated: &[&str], warnings: &mut Warnings) {
    for member in block.as_object().into_iter().flatten() {
        if !translated.iter().any(|key| member.key.is(key)) {
            lose(&member.key.display(), &member.value, warnings);
        }
    }
}

/// Warns about a block that cannot be translated, by its type.
fn lose_block(block: &Node<'_>, warnings: &mut Warnings) {
    warnings.about(LOST, type_of(block).map_or_else(|| "content".into(), Text::display));
}
