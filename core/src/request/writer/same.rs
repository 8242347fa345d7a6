//! Writer for requests with emulated deferred loading whose format stays the same: only changed messages are rewritten.

use alloc::{string::String, vec::Vec};

use super::{interactions::function_call, joined};
use crate::{
    error::Error,
    json::{
        lazy::{edit, view},
        Data, Node, Text,
    },
    options::Api,
    request::{
        carriers::{FUNCTION_RESPONSES, REFERENCES},
        conversation::{opened, Call, Content, Conversation, Event, EventKind, Outcome, Part, Role, Searcher},
        reader::lenient_role,
        splice,
        tool::has_type,
    },
    wire,
};

/// Writes the history. Returns true if every message or item has its index as before.
pub(super) fn write<'a>(request: &mut Node<'a>, conversation: Conversation<'a>, format: Api) -> Result<bool, Error> {
    let Conversation { events, mut originals, changed, read_members, .. } = conversation;
    let mut groups: Vec<(usize, Vec<Event<'a>>)> = changed.iter().map(|at| (*at, Vec::new())).collect();
    for event in events {
        let place = groups.binary_search_by_key(&event.at, |(at, _)| *at);
        if let Some((_, group)) = place.ok().and_then(|place| groups.get_mut(place)) {
            group.push(event);
        }
    }
    let mut replaced = Vec::with_capacity(groups.len());
    for (at, group) in groups {
        let original = originals.remove(&at);
        let Some(index) = at.checked_sub(1) else {
            let blocks = group.into_iter().flat_map(|event| blocks(event.kind)).collect();
            request.set("system", Node::array(blocks));
            continue;
        };
        let instead = match (format, original) {
            (Api::OpenaiResponses, Some(original)) => {
                let from = read_members.partition_point(|read_members| read_members.at < at);
                let read = read_members
                    .iter()
                    .skip(from)
                    .take_while(|read_members| read_members.at == at)
                    .map(|read_members| read_members.member);
                refilled(original, &read.collect::<Vec<_>>(), group)
            }
            (Api::OpenaiResponses, None) => group.into_iter().filter_map(|event| item(event.kind)).collect(),
            (Api::GeminiInteractions, _) => group.into_iter().filter_map(|event| step(event.kind)).collect(),
            (_, original) => messages(original, group, format)?,
        };
        replaced.push((index, instead));
    }
    let is_aligned = replaced.iter().all(|(_, instead)| instead.len() == 1);
    if !replaced.is_empty() && format == Api::Bedrock {
        let list = request.visit("messages", |list| list.as_array_mut().map(core::mem::take)).flatten();
        let messages = alternating(list.unwrap_or_default(), replaced)?;
        request.visit("messages", |list| *list = Node::array(messages));
    } else if !replaced.is_empty() {
        request.visit(wire::of(format).history(), |history| splice(history, replaced));
    }
    Ok(is_aligned)
}

/// Replaces messages of Converse. Roles must alternate in Converse, so a user message is merged into a preceding user
/// message if one of the two was replaced.
fn alternating<'a>(messages: Vec<Node<'a>>, replaced: Vec<(usize, Vec<Node<'a>>)>) -> Result<Vec<Node<'a>>, Error> {
    let mut out: Vec<Node<'a>> = Vec::with_capacity(messages.len());
    let mut replaced = replaced.into_iter().peekable();
    let (mut was_new, mut was_user) = (false, false);
    for (at, message) in messages.into_iter().enumerate() {
        let instead = replaced.next_if(|(place, _)| *place == at).map(|(_, instead)| instead);
        let is_new = instead.is_some();
        for message in instead.unwrap_or_else(|| Vec::from([message])) {
            let is_user = has_role(&*view(&message)?, "user");
            match out.last_mut().filter(|_| is_user && was_user && (is_new || was_new)) {
                Some(last) => {
                    let more = opened(message)?.visit("content", core::mem::take).map(Node::into_data);
                    edit(last, |last| {
                        last.visit("content", |content| {
                            let list = content.as_array_mut();
                            list.into_iter().zip(more).for_each(|(list, more)| {
                                if let Data::Array(more) = more {
                                    list.extend(more);
                                }
                            });
                        });
                        Ok(())
                    })?;
                }
                None => out.push(message),
            }
            (was_new, was_user) = (is_new, is_user);
        }
    }
    Ok(out)
}

fn text(text: Node<'_>) -> Node<'_> {
    Node::record([("type", Node::literal("text")), ("text", text)])
}

fn block(part: Part<'_>) -> Option<Node<'_>> {
    match part {
        Part::Untranslated(block) => Some(block),
        Part::Text(content) => Some(text(content)),
        _ => None,
    }
}

/// Returns the blocks of an event.
fn blocks(kind: EventKind<'_>) -> Vec<Node<'_>> {
    match kind {
        EventKind::Text { content, .. } => content.into_parts().into_iter().filter_map(block).collect(),
        EventKind::Call(Call { own, .. }) => own.into_iter().collect(),
        EventKind::Result(outcome) => result_block(outcome, "content").into_iter().collect(),
        EventKind::Reasoning(block) => Vec::from([block]),
        _ => Vec::new(),
    }
}

/// Returns a result in its original format with the new content.
fn result_block<'a>(outcome: Outcome<'a>, key: &'static str) -> Option<Node<'a>> {
    let mut own = outcome.own?;
    let is_search = outcome.of_search.is_some();
    // Converse results that are not search results are only read to become text, so they are unchanged here.
    if own.get("toolResult").is_some() {
        let found = outcome.content.into_parts().into_iter().filter_map(block).collect();
        if is_search {
            own.visit("toolResult", |result| result.set("content", Node::array(found)));
        }
        return Some(own);
    }
    // In Gemini, only search results are read.
    if let Some(key) = FUNCTION_RESPONSES.into_iter().find(|key| own.get(key).is_some()) {
        let found = outcome.content.into_parts().into_iter().filter_map(block);
        let texts: Vec<String> =
            found.filter_map(|block| block.get("text")?.as_text().map(Text::display).map(Into::into)).collect();
        let text = Node::string(texts.join("\n\n"));
        own.visit(key, |result| {
            result.visit("response", |response| {
                response.remove(REFERENCES);
                let key = if response.get("output").is_some() { "found_tools" } else { "output" };
                response.set(key, text);
            })
        });
        return Some(own);
    }
    match outcome.content {
        Content::Parts(parts) if !parts.is_empty() => {
            own.set(key, Node::array(parts.into_iter().filter_map(block).collect()));
        }
        // The content that was taken out has become text.
        Content::String(text) if own.get(key).is_some_and(Node::is_null) => own.set(key, text),
        // The content is unchanged.
        _ => {}
    }
    Some(own)
}

// Anthropic and Chat Completions: messages.

/// The content of one role in a message under construction.
struct Segment<'a> {
    role: Role,
    parts: Vec<Part<'a>>,
    /// True if the content is a single string.
    is_string: bool,
    calls: Vec<Node<'a>>,
}

/// Returns the messages that replace one message.
fn messages<'a>(mut original: Option<Node<'a>>, events: Vec<Event<'a>>, format: Api) -> Result<Vec<Node<'a>>, Error> {
    let base = original.as_ref().map_or(Role::User, lenient_role);
    let mut out = Vec::new();
    let mut segment: Option<Segment<'a>> = None;
    for event in events {
        let role = match &event.kind {
            EventKind::Text { role, .. } => *role,
            // The result of a hosted search is in the same message as the call, and the result of a client's search is
            // in the next message.
            EventKind::Result(outcome) if outcome.of_search == Some(Searcher::Hosted) => Role::User,
            _ => base,
        };
        if let Some(done) = segment.take_if(|segment| segment.role != role) {
            let original = original.take_if(|_| done.matches_role(base));
            out.push(message(done, original, format)?);
        }
        match event.kind {
            // In Chat Completions, a result is a separate message.
            EventKind::Result(outcome) if outcome.own.as_ref().is_some_and(|own| own.get("role").is_some()) => {
                if let Some(done) = segment.take() {
                    out.push(message(done, None, format)?);
                }
                out.extend(result_block(outcome, "content"));
            }
            kind => {
                let segment = segment.get_or_insert_with(|| Segment {
                    role,
                    parts: Vec::new(),
                    is_string: true,
                    calls: Vec::new(),
                });
                segment.add(kind);
            }
        }
    }
    if let Some(done) = segment {
        let original = original.filter(|_| done.matches_role(base));
        out.push(message(done, original, format)?);
    }
    Ok(out)
}

fn has_role(message: &Node<'_>, name: &str) -> bool {
    message.get("role").is_some_and(|role| role.is_text(name))
}

impl<'a> Segment<'a> {
    /// Returns true if the segment has the role of the original message.
    fn matches_role(&self, base: Role) -> bool {
        (self.role == Role::Assistant) == (base == Role::Assistant)
    }

    fn add(&mut self, kind: EventKind<'a>) {
        match kind {
            EventKind::Text { content: Content::String(text), .. } => {
                self.is_string &= self.parts.is_empty();
                self.parts.push(Part::Text(text));
            }
            EventKind::Call(Call { own: Some(own), .. })
                if !has_type(&own, "tool_use") && own.get("toolUse").is_none() =>
            {
                self.calls.push(own);
            }
            kind => {
                self.is_string = false;
                match kind {
                    EventKind::Text { content: Content::Parts(parts), .. } => self.parts.extend(parts),
                    kind => self.parts.extend(blocks(kind).into_iter().map(Part::Untranslated)),
                }
            }
        }
    }
}

/// Converts a segment to a message. The first segment keeps the other members of the original message.
fn message<'a>(segment: Segment<'a>, original: Option<Node<'a>>, format: Api) -> Result<Node<'a>, Error> {
    let Segment { role, mut parts, is_string, calls } = segment;
    let is_text = |part: &Part<'_>| matches!(part, Part::Text(_));
    let key = if format == Api::Gemini { "parts" } else { "content" };
    if matches!(format, Api::Bedrock | Api::Gemini) {
        // Blocks of these formats have no type.
        for part in &mut parts {
            if let Part::Text(text) = part {
                *part = Part::Untranslated(Node::record([("text", core::mem::take(text))]));
            }
        }
    }
    let content = match parts.pop() {
        Some(Part::Text(text)) if is_string && parts.is_empty() => Some(text),
        Some(last) => {
            parts.push(last);
            Some(if format == Api::OpenaiChat && parts.iter().all(is_text) {
                joined(parts, "/messages")?
            } else {
                Node::array(parts.into_iter().filter_map(block).collect())
            })
        }
        None => None,
    };
    let Some(mut message) = original else {
        let content = content.unwrap_or_default();
        return Ok(Node::record([("role", Node::literal(role.name())), (key, content)]));
    };
    if role == Role::User && has_role(&message, "system") {
        message.set("role", Node::literal("user"));
    }
    if let Some(content) = content {
        message.set(key, content);
    }
    if !calls.is_empty() {
        message.set("tool_calls", Node::array(calls));
    } else if message.get("tool_calls").is_some_and(Node::is_null) {
        message.remove("tool_calls");
    }
    Ok(message)
}

// Responses: items.

/// Returns an item with the new content of the members that were read. A search in the content becomes a separate item
/// and splits the original; an item without any content left is removed.
fn refilled<'a>(original: Node<'a>, read: &[&'static str], events: Vec<Event<'a>>) -> Vec<Node<'a>> {
    if read.is_empty() {
        return Vec::from([original]);
    }
    let role = original.get("role").cloned().unwrap_or_default();
    let mut items = Vec::new();
    let mut original = Some(original);
    let mut content: Vec<(&'static str, Node<'a>)> = Vec::new();
    let mut end = |content: Vec<(&'static str, Node<'a>)>, items: &mut Vec<Node<'a>>| {
        if content.is_empty() {
            return;
        }
        let mut lists: Vec<(&'static str, Vec<Node<'a>>)> = Vec::new();
        let mut item = original.take().inspect(|_| lists.extend(read.iter().map(|member| (*member, Vec::new()))));
        let item = item.get_or_insert_with(|| {
            lists.push(("content", Vec::new()));
            Node::record([("type", Node::literal("message")), ("role", role.clone())])
        });
        for (member, block) in content {
            let list = lists.iter_mut().find(|(key, _)| *key == member);
            list.into_iter().for_each(|(_, list)| list.push(block.clone()));
        }
        lists.into_iter().for_each(|(member, list)| item.set(member, Node::array(list)));
        items.push(core::mem::take(item));
    };
    for Event { member, kind, .. } in events {
        let is_item =
            matches!(&kind, EventKind::Call(Call { own: None, .. }) | EventKind::Result(Outcome { own: None, .. }));
        if is_item {
            end(core::mem::take(&mut content), &mut items);
            items.extend(item(kind));
        } else {
            content.extend(blocks(kind).into_iter().map(|block| (member, block)));
        }
    }
    end(content, &mut items);
    items
}

fn item(kind: EventKind<'_>) -> Option<Node<'_>> {
    match kind {
        EventKind::Call(Call { own: Some(own), .. }) => Some(own),
        EventKind::Call(call) => Some(Node::record([
            ("type", Node::literal("function_call")),
            ("call_id", call.id),
            ("name", Node::string(call.name)),
            ("arguments", call.arguments.text()),
        ])),
        EventKind::Result(outcome) if outcome.own.is_some() => result_block(outcome, "output"),
        EventKind::Result(outcome) => {
            let output = match outcome.content {
                Content::String(text) => text,
                Content::Parts(parts) => Node::array(parts.into_iter().filter_map(block).collect()),
            };
            Some(Node::record([
                ("type", Node::literal("function_call_output")),
                ("call_id", outcome.id),
                ("output", output),
            ]))
        }
        EventKind::Text { role, content } => {
            let (role, kind) = match role {
                Role::System => ("developer", "input_text"),
                Role::User => ("user", "input_text"),
                Role::Assistant => ("assistant", "output_text"),
            };
            let content = content.into_parts().into_iter().filter_map(|part| match part {
                Part::Text(text) => Some(Node::record([("type", Node::literal(kind)), ("text", text)])),
                other => block(other),
            });
            Some(Node::record([
                ("type", Node::literal("message")),
                ("role", Node::literal(role)),
                ("content", Node::array(content.collect())),
            ]))
        }
        _ => None,
    }
}

// Gemini Interactions: steps.

fn step(kind: EventKind<'_>) -> Option<Node<'_>> {
    match kind {
        EventKind::Call(Call { own: Some(own), .. }) => Some(own),
        EventKind::Call(call) => Some(function_call(call)),
        EventKind::Result(outcome) if outcome.own.is_some() => result_block(outcome, "result"),
        EventKind::Result(Outcome { id, content, .. }) => {
            let result = match content {
                Content::String(text) => text,
                Content::Parts(parts) => Node::array(parts.into_iter().filter_map(block).collect()),
            };
            Some(Node::record([("type", Node::literal("function_result")), ("call_id", id), ("result", result)]))
        }
        EventKind::Text { role, content } => {
            let kind = if role == Role::Assistant { "model_output" } else { "user_input" };
            let content = content.into_parts().into_iter().filter_map(block);
            Some(Node::record([("type", Node::literal(kind)), ("content", Node::array(content.collect()))]))
        }
        _ => None,
    }
}
