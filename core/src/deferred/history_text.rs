//! Rewrites the mentions of tools in a history as text, for an API without deferred tools.
//!
//! Tool references and tool changes become text at the same position. Searches that the API's servers ran are removed
//! or become ordinary calls and results. Every API accepts the resulting conversation.

use alloc::{string::String, vec::Vec};

use crate::{
    collections::Set,
    json::{Node, Text},
    options::{Api, DeferredOptions, ServerHistory, UnknownReference},
    request::{
        conversation::{
            Addition, Call, Content, Conversation, Event, EventKind, Outcome, Part, ReadMember, Reference, Role,
            SearchOutcome, Searcher,
        },
        instructions::{self, Notices},
        location::Location,
        report::{Warnings, DROPPED_SEARCH, LOST, ORPHAN},
        tool::CACHE,
        tools::ToolState,
    },
    wire,
    wire::additions::Additions,
    wire::anthropic::mentions,
};

/// Removes the searches that the API's servers ran from a history, or turns them into ordinary calls and results.
/// `name` is the name of the function that replaces a search.
pub(super) fn replace_searches(
    conversation: &mut Conversation<'_>,
    (source, same_format, keeps_caller): (Api, bool, bool),
    (options, name): (&DeferredOptions, &str),
) {
    let emulates = options.emulates_search();
    if wire::of(source).turns().has_items() {
        let is_item = wire::of(source).searches().has_item();
        for event in &mut conversation.events {
            if let EventKind::Call(call) = &mut event.kind {
                // In Gemini Interactions, the client's search keeps its own name.
                if call.search == Some(Searcher::Hosted) || call.search.is_some() && is_item {
                    call.name = Text::new(String::from(name));
                }
            }
        }
    }
    if !emulates && options.server_history == ServerHistory::Drop {
        let losses = &mut conversation.losses;
        conversation.events.retain(|event| {
            let is_dropped = is_hosted(&event.kind);
            if is_dropped {
                losses.set_location(event.origin);
                losses.warn_named(LOST, DROPPED_SEARCH);
            }
            !is_dropped
        });
        losses.clear_location();
        return;
    }
    let (mut called, mut answered) = (Set::new(), Set::new());
    for event in &conversation.events {
        match &event.kind {
            EventKind::Call(call) if is_hosted(&event.kind) => called.extend(call.id.as_text().cloned()),
            EventKind::Result(outcome) if is_hosted(&event.kind) => answered.extend(outcome.id.as_text().cloned()),
            _ => {}
        }
    }
    let losses = &mut conversation.losses;
    conversation.events.retain(|event| match &event.kind {
        // APIs refuse a call without a result.
        EventKind::Call(call) if is_hosted(&event.kind) => {
            let is_answered = call.id.as_text().is_some_and(|id| answered.contains(id));
            if !is_answered {
                losses.set_location(event.origin);
                losses.warn_named(LOST, DROPPED_SEARCH);
            }
            is_answered
        }
        EventKind::Result(outcome) if is_hosted(&event.kind) => {
            let is_called = outcome.id.as_text().is_some_and(|id| called.contains(id));
            if !is_called {
                let id = outcome.id.as_text().map(Text::display).unwrap_or_default();
                losses.set_location(event.origin);
                losses.warn_named(ORPHAN, id);
            }
            is_called
        }
        _ => true,
    });
    losses.clear_location();
    if !wire::of(source).turns().has_items() {
        conversation.events = split_at_results(core::mem::take(&mut conversation.events));
    }
    for event in &mut conversation.events {
        if !is_hosted(&event.kind) {
            continue;
        }
        losses.set_location(event.origin);
        match &mut event.kind {
            EventKind::Call(call) => {
                as_client_call(call, (source, same_format), options, name);
                let source_item = call.source_item.as_mut().filter(|_| same_format && !keeps_caller);
                if let Some(caller) = source_item.and_then(|source_item| source_item.remove("caller")) {
                    losses.warn_lost("caller", &caller);
                }
            }
            EventKind::Result(outcome) => {
                outcome.source_item = (same_format && !wire::of(source).turns().has_items())
                    .then(|| mentions::client_result(outcome.source_item.as_ref(), outcome.is_error));
            }
            _ => {}
        }
    }
}

/// Returns true for a search that the API's servers ran, and for its result.
fn is_hosted(kind: &EventKind<'_>) -> bool {
    match kind {
        EventKind::Call(call) => call.search == Some(Searcher::Hosted),
        EventKind::Result(outcome) => outcome.of_search == Some(Searcher::Hosted),
        _ => false,
    }
}

/// Splits assistant messages that contain results of hosted searches. APIs require ordinary results in a user message
/// directly after the message with the calls, so the assistant message ends before each group of results. The client
/// answers its calls in the next message, so the client's calls move to the last part.
fn split_at_results(events: Vec<Event<'_>>) -> Vec<Event<'_>> {
    let mut message = SplitMessage::default();
    let mut out = Vec::with_capacity(events.len());
    let mut at = 0;
    for event in events {
        if core::mem::replace(&mut at, event.at) != event.at {
            message.end_message(&mut out);
        }
        match &event.kind {
            EventKind::Result(_) if is_hosted(&event.kind) => message.results.push(event),
            _ => {
                message.end_part(&mut out);
                message.before_results.push(event);
            }
        }
    }
    message.end_message(&mut out);
    out
}

/// An assistant message that is being split at the results of hosted searches.
#[derive(Default)]
struct SplitMessage<'a> {
    /// The events before the results.
    before_results: Vec<Event<'a>>,
    /// The calls that the client answers. They move to the last part.
    calls: Vec<Event<'a>>,
    results: Vec<Event<'a>>,
}

impl<'a> SplitMessage<'a> {
    /// Ends the part if it has results.
    fn end_part(&mut self, out: &mut Vec<Event<'a>>) {
        if self.results.is_empty() {
            return;
        }
        for event in self.before_results.drain(..) {
            let is_call = matches!(event.kind, EventKind::Call(_)) && !is_hosted(&event.kind);
            if is_call { &mut self.calls } else { &mut *out }.push(event);
        }
        out.append(&mut self.results);
    }

    fn end_message(&mut self, out: &mut Vec<Event<'a>>) {
        self.end_part(out);
        out.append(&mut self.calls);
        out.append(&mut self.before_results);
    }
}

/// Converts a search that the API's servers ran to an ordinary call. If search is emulated, it becomes a call to the
/// function that replaces the search.
fn as_client_call(call: &mut Call<'_>, (source, same_format): (Api, bool), options: &DeferredOptions, name: &str) {
    if options.emulates_search() {
        call.name = Text::new(String::from(name));
    }
    let is_search = options.search_tools.iter().any(|search| call.name.is(search.as_str()));
    call.search = is_search.then_some(Searcher::Client);
    // In a format with items, a call is a separate item, even if it was a block before.
    if wire::of(source).turns().has_items() {
        call.source_item = None;
    }
    if !same_format {
        return;
    }
    if let Some(source_item) = &mut call.source_item {
        mentions::as_client_call(source_item, options.emulates_search().then(|| call.name.clone()));
    }
}

/// Returns the names of the tools that the history mentions.
pub(super) fn mentioned_names<'a>(events: &mut [Event<'a>]) -> Vec<Text<'a>> {
    let mut names = Vec::new();
    for event in events {
        match &mut event.kind {
            EventKind::Text { content, .. } | EventKind::Result(Outcome { content, .. }) => {
                content.each_reference(&mut |reference| names.push(reference.name.clone()));
            }
            EventKind::Add(additions) => names.extend(additions.iter().map(|addition| addition.name.clone())),
            EventKind::Remove { name, .. } => names.push(name.clone()),
            _ => {}
        }
    }
    names
}

/// Replaces the mentions of tools in a history with text.
pub(super) struct Writer<'w, 'a> {
    pub(super) notices: Notices<'a>,
    pub(super) options: &'w DeferredOptions,
    pub(super) source: Api,
    /// True if source and target format are the same. Blocks that are not about tools then stay unchanged.
    pub(super) same_format: bool,
    /// True if the request has a toolset, whose tools the request does not list.
    pub(super) has_toolsets: bool,
}

impl<'a> Writer<'_, 'a> {
    /// Replaces tool references, searches and tool changes with text.
    pub(super) fn write(&mut self, conversation: &mut Conversation<'a>) {
        // A Converse backend without tool changes also has no system messages.
        let with_user_role = match wire::of(self.source).additions() {
            Additions::Listed => messages_with_changes(&conversation.events),
            _ => Set::new(),
        };
        let Conversation { events, losses, bare_references, read_members, changed, .. } = conversation;
        let mut out: Vec<Event<'a>> = Vec::with_capacity(events.len());
        // Placeholder for a Responses item that has lost all of its content so far.
        let mut emptied: Option<Event<'a>> = None;
        for Event { at, message, member, origin, other_origins, kind } in core::mem::take(events) {
            losses.set_location(origin);
            out.extend(emptied.take_if(|emptied| emptied.at != at));
            let kind = match kind {
                EventKind::Text { role, content } => match self.content_without_mentions(content, losses) {
                    Some(content) => EventKind::Text { role, content },
                    None => {
                        let is_first = out.last().is_none_or(|last| last.at != at);
                        let is_item = wire::of(self.source).searches().has_item() && !bare_references.contains(&at);
                        if is_item && is_first && !self.same_format {
                            let kind = self.placeholder_event(role, losses);
                            emptied = Some(Event { at, message, member, origin, other_origins, kind });
                        }
                        continue;
                    }
                },
                EventKind::Add(additions) => {
                    let parts: Vec<Part<'a>> =
                        additions.iter().filter_map(|addition| self.addition_part(addition, losses)).collect();
                    if parts.is_empty() {
                        continue;
                    }
                    EventKind::Text { role: Role::System, content: Content::Parts(parts) }
                }
                EventKind::Remove { name, cache_control } => {
                    let Some(text) = self.notices.removal_notice(&name) else { continue };
                    let part = self.text_part(text, cache_control, losses);
                    EventKind::Text { role: Role::System, content: Content::Parts(Vec::from([part])) }
                }
                EventKind::Result(outcome) => EventKind::Result(self.result_without_mentions(outcome, losses)),
                EventKind::Call(mut call) => {
                    // A search that was an item becomes an ordinary call.
                    if wire::of(self.source).turns().has_items() {
                        call.search = None;
                    }
                    EventKind::Call(call)
                }
                EventKind::Define(_) | EventKind::Orphan(_) | EventKind::Used(_) | EventKind::Ignored(_) => continue,
                unchanged => unchanged,
            };
            emptied = None;
            push_merged(&mut out, Event { at, message, member, origin, other_origins, kind });
        }
        losses.clear_location();
        out.extend(emptied);
        if self.same_format {
            // The model's items are omitted if they became empty. If another member of the item remains, the emptied
            // member gets the placeholder text.
            let members: Set<(usize, &str)> = out.iter().map(|event| (event.at, event.member)).collect();
            let items: Set<usize> = members.iter().map(|(at, _)| *at).collect();
            let is_emptied = |member: &&ReadMember| {
                let stays = member.role != Role::Assistant || items.contains(&member.at);
                stays && changed.contains(&member.at) && !members.contains(&(member.at, member.member))
            };
            for ReadMember { at, member, role } in read_members.iter().filter(is_emptied) {
                let kind = self.placeholder_event(*role, losses);
                let (origin, other_origins) = (Location::of_message(*at).name(member), Vec::new());
                out.push(Event { at: *at, message: *at, member, origin, other_origins, kind });
            }
        }
        for event in &mut out {
            if let EventKind::Text { role: role @ Role::System, .. } = &mut event.kind {
                if with_user_role.contains(&event.at) {
                    *role = Role::User;
                }
            }
        }
        *events = out;
    }

    /// Returns the content with its references replaced with text, or `None` if nothing is left.
    fn content_without_mentions(&mut self, content: Content<'a>, losses: &mut Warnings) -> Option<Content<'a>> {
        let parts = match content {
            Content::Parts(parts) if parts.iter().any(is_about_tools) => parts,
            content => return Some(content),
        };
        let parts = self.parts_without_mentions(parts, losses);
        (!parts.is_empty()).then_some(Content::Parts(parts))
    }

    /// Returns the text for content that became empty.
    fn placeholder_event(&self, role: Role, losses: &mut Warnings) -> EventKind<'a> {
        let mut part = self.text_part(instructions::REMOVED.into(), None, losses);
        let kind = wire::of(self.source).turns().model_text.filter(|_| role == Role::Assistant);
        if let (Part::Untranslated(block), Some(kind)) = (&mut part, kind) {
            block.set("type", Node::literal(kind));
        }
        EventKind::Text { role, content: Content::Parts(Vec::from([part])) }
    }

    fn result_without_mentions(&mut self, mut outcome: Outcome<'a>, losses: &mut Warnings) -> Outcome<'a> {
        let parts = match &mut outcome.content {
            Content::Parts(parts) if parts.iter().any(is_about_tools) => core::mem::take(parts),
            _ => return outcome,
        };
        let is_search_item = wire::of(self.source).turns().has_items() && outcome.of_search.take().is_some();
        // If the format does not change, `of_search` is kept: the writer (`same.rs`) puts the result of a hosted search
        // in a user message, which ends the model's message.
        outcome.of_search = outcome.of_search.filter(|_| self.same_format);
        let mut parts = match parts.as_slice() {
            [Part::Search(search)] if is_search_item => {
                let search = search.clone();
                search.references.iter().filter_map(|reference| self.reference_part(reference, losses)).collect()
            }
            _ => self.parts_without_mentions(parts, losses),
        };
        outcome.content = if parts.is_empty() && is_search_item {
            Content::String(Node::literal(instructions::NO_MATCH))
        } else {
            if parts.is_empty() {
                parts.push(self.text_part(instructions::REMOVED.into(), None, losses));
            }
            Content::Parts(parts)
        };
        outcome
    }

    fn parts_without_mentions(&mut self, parts: Vec<Part<'a>>, losses: &mut Warnings) -> Vec<Part<'a>> {
        let mut out = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Part::Reference(reference) => out.extend(self.reference_part(&reference, losses)),
                Part::Search(search) if search.is_whole => out.extend(self.search_parts(&search, losses)),
                Part::Search(mut search) => {
                    losses.set_location(search.origin);
                    // A result that was a single block stays a single block.
                    search.references.iter_mut().for_each(|reference| reference.block = Node::default());
                    let texts: Vec<String> = self.search_texts(&search).into_iter().map(|(text, ..)| text).collect();
                    out.push(self.text_part(texts.join("\n\n"), None, losses));
                }
                Part::Ignored => {}
                other => out.push(other),
            }
        }
        out
    }

    fn search_parts(&mut self, search: &SearchOutcome<'a>, losses: &mut Warnings) -> Vec<Part<'a>> {
        let texts = self.search_texts(search).into_iter();
        let part = |(text, cache_control, origin)| {
            losses.set_location(origin);
            self.text_part(text, cache_control, losses)
        };
        texts.map(part).collect()
    }

    /// Returns the text for each tool that a search found, each with the cache breakpoint and the location of its
    /// reference.
    fn search_texts(&mut self, search: &SearchOutcome<'a>) -> Vec<(String, Option<Node<'a>>, Location)> {
        if let Some(code) = &search.error {
            return Vec::from([(instructions::failure_notice(code), None, search.origin)]);
        }
        let mut texts = Vec::with_capacity(search.references.len());
        for reference in &search.references {
            let text = self.notice_about(&reference.name, reference.state);
            texts.extend(text.map(|text| (text, reference.block.get(CACHE).cloned(), reference.origin)));
        }
        if texts.is_empty() {
            let text = if search.references.is_empty() { instructions::NO_MATCH } else { instructions::REMOVED };
            texts.push((text.into(), None, search.origin));
        }
        texts
    }

    fn reference_part(&mut self, reference: &Reference<'a>, losses: &mut Warnings) -> Option<Part<'a>> {
        let text = self.notice_about(&reference.name, reference.state)?;
        losses.set_location(reference.origin);
        Some(self.text_part(text, reference.block.get(CACHE).cloned(), losses))
    }

    fn addition_part(&mut self, addition: &Addition<'a>, losses: &mut Warnings) -> Option<Part<'a>> {
        let state = if addition.is_known { ToolState::Loaded } else { ToolState::Unknown };
        let text = self.notice_about(&addition.name, state)?;
        losses.set_location(addition.origin);
        Some(self.text_part(text, addition.cache_control.clone(), losses))
    }

    /// Returns the text that replaces a reference to a tool.
    fn notice_about(&mut self, name: &Text<'a>, state: ToolState) -> Option<String> {
        match (state, self.options.unknown_reference) {
            (ToolState::Unknown, _) if self.has_toolsets => self.notices.write(name),
            (ToolState::Unknown, UnknownReference::Unavailable) => Some(instructions::REMOVED.into()),
            (ToolState::Unknown, UnknownReference::Drop) => None,
            (ToolState::Unknown, UnknownReference::Notice) | (ToolState::Removed, _) => {
                self.notices.removal_notice(name)
            }
            (ToolState::Loaded, _) => self.notices.write(name),
        }
    }

    /// Builds a text part. Its cache breakpoint is kept only if the format does not change.
    fn text_part(&self, text: String, cache_control: Option<Node<'a>>, losses: &mut Warnings) -> Part<'a> {
        if !self.same_format {
            cache_control.iter().for_each(|cache_control| losses.warn_lost(CACHE, cache_control));
            return Part::Text(Node::string(text));
        }
        let mut block = wire::of(self.source).turns().text(Text::new(text));
        let cache_control = cache_control.filter(|_| wire::of(self.source).turns().has_typed_parts());
        if let (Some(object), Some(cache_control)) = (block.as_object_mut(), cache_control) {
            object.set(CACHE, cache_control);
        }
        Part::Untranslated(block)
    }
}

fn is_about_tools(part: &Part<'_>) -> bool {
    matches!(part, Part::Reference(_) | Part::Search(_) | Part::Ignored)
}

/// Returns the indices of the messages that add or remove tools.
fn messages_with_changes(events: &[Event<'_>]) -> Set<usize> {
    let is_change =
        |event: &&Event<'_>| matches!(event.kind, EventKind::Add(_) | EventKind::Remove { .. }) && event.at > 0;
    events.iter().filter(is_change).map(|event| event.at).collect()
}

/// Adds an event. Adjacent text events of one message, member and role are merged.
fn push_merged<'a>(events: &mut Vec<Event<'a>>, event: Event<'a>) {
    let Event { at, message, member, origin, other_origins, kind } = event;
    let last = events.last_mut().filter(|last| last.at == at && last.member == member);
    let kind = match (last.map(|last| &mut last.kind), kind) {
        (
            Some(EventKind::Text { role: before, content: Content::Parts(parts) }),
            EventKind::Text { role, content: Content::Parts(more) },
        ) if *before == role => {
            parts.extend(more);
            if let Some(last) = events.last_mut() {
                last.other_origins.push(origin);
                last.other_origins.extend(other_origins);
            }
            return;
        }
        (_, kind) => kind,
    };
    events.push(Event { at, message, member, origin, other_origins, kind });
}
