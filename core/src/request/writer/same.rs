//! Writer for requests with emulated deferred loading whose format stays the same: only changed messages are rewritten.

use alloc::vec::Vec;

use super::{join_texts, InPlace, Messages};
use crate::{
    error::Error,
    json::{
        lazy::{edit, view},
        Data, Node,
    },
    options::Api,
    request::{
        conversation::{parse_verbatim, Call, Content, Conversation, Event, EventKind, Outcome, Part, Role, Searcher},
        reader::lenient_role,
        splice,
    },
    wire::{self, turns::Blocks},
};

/// Rewrites the changed messages. Returns true if every message or item keeps its index.
pub(super) fn write<'a>(
    request: &mut Node<'a>,
    conversation: Conversation<'a>,
    (api, form): (Api, &InPlace),
) -> Result<bool, Error> {
    let Conversation { events, mut originals, changed, read_members, .. } = conversation;
    let mut groups: Vec<(usize, Vec<Event<'a>>)> = changed.iter().map(|at| (*at, Vec::new())).collect();
    for event in events {
        let index = groups.binary_search_by_key(&event.at, |(at, _)| *at);
        if let Some((_, group)) = index.ok().and_then(|index| groups.get_mut(index)) {
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
        let replacement = match form {
            InPlace::Items(replace) => {
                let from = read_members.partition_point(|read_members| read_members.at < at);
                let members = read_members
                    .iter()
                    .skip(from)
                    .take_while(|read_members| read_members.at == at)
                    .map(|read_members| read_members.member);
                replace(original, &members.collect::<Vec<_>>(), group)
            }
            InPlace::Messages(form) => write_segments(original, group, (api, form))?,
        };
        replaced.push((index, replacement));
    }
    let is_aligned = replaced.iter().all(|(_, replacement)| replacement.len() == 1);
    let alternates = matches!(form, InPlace::Messages(Messages { alternates: true, .. }));
    if !replaced.is_empty() && alternates {
        let key = wire::of(api).history();
        let list = request.visit(key, |list| list.as_array_mut().map(core::mem::take)).flatten();
        let messages = merge_user_messages(list.unwrap_or_default(), replaced)?;
        request.visit(key, |list| *list = Node::array(messages));
    } else if !replaced.is_empty() {
        request.visit(wire::of(api).history(), |history| splice(history, replaced));
    }
    Ok(is_aligned)
}

/// Restores the alternation of roles: merges a user message into a preceding user message if either was replaced.
fn merge_user_messages<'a>(
    messages: Vec<Node<'a>>,
    replaced: Vec<(usize, Vec<Node<'a>>)>,
) -> Result<Vec<Node<'a>>, Error> {
    let mut out: Vec<Node<'a>> = Vec::with_capacity(messages.len());
    let mut replaced = replaced.into_iter().peekable();
    let (mut was_new, mut was_user) = (false, false);
    for (at, message) in messages.into_iter().enumerate() {
        let replacement = replaced.next_if(|(index, _)| *index == at).map(|(_, replacement)| replacement);
        let is_new = replacement.is_some();
        for message in replacement.unwrap_or_else(|| Vec::from([message])) {
            let is_user = has_role(&*view(&message)?, "user");
            match out.last_mut().filter(|_| is_user && was_user && (is_new || was_new)) {
                Some(last) => {
                    let more = parse_verbatim(message)?.visit("content", core::mem::take).map(Node::into_data);
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

pub(crate) fn text(text: Node<'_>) -> Node<'_> {
    Node::record([("type", Node::literal("text")), ("text", text)])
}

pub(crate) fn block(part: Part<'_>) -> Option<Node<'_>> {
    match part {
        Part::Untranslated(block) => Some(block),
        Part::Text(content) => Some(text(content)),
        _ => None,
    }
}

pub(crate) fn blocks(kind: EventKind<'_>) -> Vec<Node<'_>> {
    match kind {
        EventKind::Text { content, .. } => content.into_parts().into_iter().filter_map(block).collect(),
        EventKind::Call(Call { source_item: item, .. }) => item.into_iter().collect(),
        EventKind::Result(outcome) => result(outcome, "content").into_iter().collect(),
        EventKind::Reasoning(block) => Vec::from([block]),
        _ => Vec::new(),
    }
}

pub(crate) fn result<'a>(outcome: Outcome<'a>, key: &'static str) -> Option<Node<'a>> {
    let mut item = outcome.source_item?;
    match outcome.content {
        Content::Parts(parts) if !parts.is_empty() => {
            item.set(key, Node::array(parts.into_iter().filter_map(block).collect()));
        }
        // The content was taken out, and has become text.
        Content::String(text) if item.get(key).is_some_and(Node::is_null) => item.set(key, text),
        // The content is unchanged.
        _ => {}
    }
    Some(item)
}

struct Segment<'a> {
    role: Role,
    parts: Vec<Part<'a>>,
    /// True if the content is a single string.
    is_string: bool,
    calls: Vec<Node<'a>>,
}

fn write_segments<'a>(
    mut original: Option<Node<'a>>,
    events: Vec<Event<'a>>,
    format: (Api, &Messages),
) -> Result<Vec<Node<'a>>, Error> {
    let base_role = original.as_ref().map_or(Role::User, lenient_role);
    let mut out = Vec::new();
    let mut segment: Option<Segment<'a>> = None;
    for event in events {
        let role = match &event.kind {
            EventKind::Text { role, .. } => *role,
            // The result of a hosted search is in the same message as the call, and the result of a client's search is
            // in the next message.
            EventKind::Result(outcome) if outcome.of_search == Some(Searcher::Hosted) => Role::User,
            _ => base_role,
        };
        if let Some(finished) = segment.take_if(|segment| segment.role != role) {
            let original = original.take_if(|_| finished.matches_role(base_role));
            out.push(write_segment(finished, original, format)?);
        }
        match event.kind {
            // In Chat Completions, a result is a separate message.
            EventKind::Result(outcome)
                if outcome.source_item.as_ref().is_some_and(|item| item.get("role").is_some()) =>
            {
                if let Some(finished) = segment.take() {
                    out.push(write_segment(finished, None, format)?);
                }
                out.extend(result(outcome, "content"));
            }
            kind => {
                let segment = segment.get_or_insert_with(|| Segment {
                    role,
                    parts: Vec::new(),
                    is_string: true,
                    calls: Vec::new(),
                });
                segment.add_event(kind, format.1);
            }
        }
    }
    if let Some(finished) = segment {
        let original = original.filter(|_| finished.matches_role(base_role));
        out.push(write_segment(finished, original, format)?);
    }
    Ok(out)
}

fn has_role(message: &Node<'_>, name: &str) -> bool {
    message.get("role").is_some_and(|role| role.is_text(name))
}

impl<'a> Segment<'a> {
    fn matches_role(&self, base_role: Role) -> bool {
        (self.role == Role::Assistant) == (base_role == Role::Assistant)
    }

    fn add_event(&mut self, kind: EventKind<'a>, form: &Messages) {
        match kind {
            EventKind::Text { content: Content::String(text), .. } => {
                self.is_string &= self.parts.is_empty();
                self.parts.push(Part::Text(text));
            }
            EventKind::Call(Call { source_item: Some(item), .. })
                if form.calls.is_some_and(|(_, is_call)| is_call(&item)) =>
            {
                self.calls.push(item);
            }
            kind => {
                self.is_string = false;
                match kind {
                    EventKind::Text { content: Content::Parts(parts), .. } => self.parts.extend(parts),
                    EventKind::Result(outcome) => self.parts.extend((form.result)(outcome).map(Part::Untranslated)),
                    kind => self.parts.extend(blocks(kind).into_iter().map(Part::Untranslated)),
                }
            }
        }
    }
}

/// Writes a segment as a message. The first segment keeps the other members of the original message.
fn write_segment<'a>(
    segment: Segment<'a>,
    original: Option<Node<'a>>,
    (api, form): (Api, &Messages),
) -> Result<Node<'a>, Error> {
    let Segment { role, mut parts, is_string, calls } = segment;
    let is_text = |part: &Part<'_>| matches!(part, Part::Text(_));
    let turns = wire::of(api).turns();
    let key = turns.blocks().map_or("content", Blocks::list);
    if !turns.has_typed_parts() {
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
            Some(if form.joins_texts && parts.iter().all(is_text) {
                join_texts(parts, "/messages")?
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
    if let Some((key, _)) = form.calls {
        if !calls.is_empty() {
            message.set(key, Node::array(calls));
        } else if message.get(key).is_some_and(Node::is_null) {
            message.remove(key);
        }
    }
    Ok(message)
}
