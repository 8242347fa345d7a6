//! A conversation, independent of any format: the output of every reader and the input of every writer. Results of
//! calls are placed directly after the calls.
//!
//! A conversation contains the messages, calls and results, and the additions and removals of tools. Features that only
//! one API has are left to the reader or writer of that API.
//!
//! Events between a call and its result move after all results of the turn. Text of the model between them moves before
//! the calls. A call after a result also moves there if another result is missing. Each move is reported.

use alloc::{borrow::Cow, collections::VecDeque, string::String, vec::Vec};

use super::{
    formats::TranslatedFormat,
    instructions,
    location::Location,
    report::{Warnings, LOST},
    tools::{ToolState, Tools},
};
use crate::{
    collections::{Map, Set},
    error::Error,
    json::{self, Data, Node, Text},
    options::{DeferredOptions, Native},
    wire::anthropic::mentions::REFERENCE,
};

#[derive(Default)]
pub(crate) struct Conversation<'a> {
    pub(crate) tools: Tools<'a>,
    pub(crate) events: Vec<Event<'a>>,
    /// Name of the function that replaces the client's search if the target has no tool search.
    pub(crate) search_name: Option<String>,
    /// Loaded tools that cannot be sent to the target.
    pub(crate) set_aside: Set<Text<'a>>,
    /// Messages of the source. If the format changes, null replaces a message that was read. Otherwise, the messages
    /// remain in the request until they are written.
    pub(crate) history: Vec<Node<'a>>,
    /// Messages and items that were read although the format does not change, by number. They lack the parts that were
    /// read. The items of Responses' calls and results are in [`Call::source_item`] and [`Outcome::source_item`].
    pub(crate) originals: Map<usize, Node<'a>>,
    /// Numbers of the messages and items in `originals` whose content changes.
    pub(crate) changed: Set<usize>,
    /// Numbers of the Responses items that are references without a message around them.
    pub(crate) bare_references: Set<usize>,
    /// Members of Responses items that were read although the format does not change, in order.
    pub(crate) read_members: Vec<ReadMember>,
    /// Tools loaded by references outside of results. Recorded only by native deferred loading that keeps the format.
    pub(crate) referenced_tools: Set<Text<'a>>,
    pub(crate) losses: Warnings,
    pub(crate) format: Option<TranslatedFormat<'a>>,
    /// True if the history also has its meaning in the target format. It then remains in the request.
    pub(crate) is_in_place: bool,
}

pub(crate) fn apply_to_tools<'a>(
    events: &mut [Event<'a>],
    tools: &mut Tools<'a>,
    options: &DeferredOptions,
    warnings: &mut Warnings,
) {
    tools.load_by_options(options, warnings);
    for Event { origin, kind, .. } in events {
        warnings.set_location(*origin);
        match kind {
            // APIs with references ignore references in the result of a failed call.
            EventKind::Result(Outcome { content, is_error: true, .. }) if options.native != Native::None => {
                content.each_reference(&mut |reference| {
                    reference.state = tools.state_of(&reference.name);
                    if reference.state == ToolState::Unknown {
                        warnings.set_location(reference.origin);
                        warnings.warn_named("unknown-tool-reference", reference.name.display());
                    }
                });
            }
            EventKind::Text { content, .. }
            | EventKind::Result(Outcome { content, .. })
            | EventKind::Orphan(content) => {
                content.each_reference(&mut |reference| {
                    warnings.set_location(reference.origin);
                    reference.state = tools.load_referenced(&reference.name, warnings);
                });
            }
            EventKind::Add(additions) | EventKind::Define(additions) => {
                for addition in additions {
                    warnings.set_location(addition.origin);
                    addition.is_known = tools.load_added(&addition.name, warnings);
                }
            }
            EventKind::Remove { name, .. } => tools.remove(name, warnings),
            EventKind::Ignored(name) => warnings.warn_named("tool-change-ignored", name.display()),
            // A search item of Responses does not call a function.
            EventKind::Call(Call { name, search: Some(_), .. })
                if !options.search_tools.iter().any(|search| name.is(search.as_str())) => {}
            EventKind::Call(Call { name, .. }) | EventKind::Used(name) if options.load_used_tools => {
                tools.load_called(name)
            }
            _ => {}
        }
    }
    warnings.clear_location();
}

pub(crate) fn refers_to_unknown(events: &mut [Event<'_>]) -> bool {
    let mut refers = false;
    for event in events {
        if let EventKind::Text { content, .. } | EventKind::Result(Outcome { content, is_error: false, .. }) =
            &mut event.kind
        {
            content.each_reference(&mut |reference| refers |= reference.state == ToolState::Unknown);
        }
    }
    refers
}

impl<'a> Conversation<'a> {
    /// Removes references outside of results, with warnings. APIs with references read them only in results.
    pub(crate) fn lose_references(&mut self) {
        for event in &mut self.events {
            if let EventKind::Text { content: Content::Parts(parts), .. } = &mut event.kind {
                parts.retain(|part| {
                    let (Part::Reference(Reference { origin, .. }) | Part::Search(SearchOutcome { origin, .. })) = part
                    else {
                        return true;
                    };
                    self.losses.set_location(*origin);
                    self.losses.warn_named(LOST, REFERENCE);
                    false
                });
            }
        }
        self.losses.clear_location();
    }

    /// Records the tools that each result found, and the removed tools among them, for targets that refer to tools.
    /// Results of failed calls are skipped, because the API ignores their references. References outside of results
    /// remain unchanged.
    pub(crate) fn collect_found_tools(&mut self) {
        for event in &mut self.events {
            if let EventKind::Text { content, .. } = &mut event.kind {
                content.each_reference(&mut |reference| {
                    if reference.state == ToolState::Loaded {
                        self.referenced_tools.insert(reference.name.clone());
                    }
                });
                if let Content::Parts(parts) = content {
                    for part in parts {
                        if let Part::Reference(Reference { block, .. }) | Part::Search(SearchOutcome { block, .. }) =
                            part
                        {
                            *part = Part::Untranslated(core::mem::take(block));
                        }
                    }
                }
            }
            let EventKind::Result(outcome) = &mut event.kind else { continue };
            let Content::Parts(parts) = &mut outcome.content else { continue };
            if !parts.iter().any(|part| matches!(part, Part::Reference(_) | Part::Search(_))) {
                continue;
            }
            let mut names = Vec::new();
            let mut others = Vec::with_capacity(parts.len());
            let mut is_search = false;
            for part in core::mem::take(parts) {
                let references = match part {
                    Part::Reference(reference) => Vec::from([reference]),
                    Part::Search(search) => {
                        is_search = true;
                        others.extend(
                            search.error.map(|code| Part::Text(Node::string(instructions::failure_notice(&code)))),
                        );
                        search.references
                    }
                    other => {
                        others.push(other);
                        continue;
                    }
                };
                for reference in references.into_iter().filter(|_| !outcome.is_error) {
                    if reference.state == ToolState::Removed {
                        outcome.removed_tools.insert(reference.name.clone());
                    }
                    names.push(reference.name);
                }
            }
            *parts = others;
            outcome.found_tools = Some(names).filter(|names| is_search || !names.is_empty());
        }
    }
}

/// A member of a Responses item that was read. The rest of the item remains unchanged.
pub(crate) struct ReadMember {
    /// Number of the item, as in [`Event::at`].
    pub(crate) at: usize,
    pub(crate) member: &'static str,
    pub(crate) role: Role,
}

pub(crate) struct Event<'a> {
    /// Number of the source's message or item, starting at 1; 0 is the system prompt.
    pub(crate) at: usize,
    /// Number of the source's message. In a target with messages, events with equal numbers form one message.
    pub(crate) message: usize,
    /// Member of the message or item that holds the event, if several members are read: `content` or `output`.
    pub(crate) member: &'static str,
    /// The part of the given request that the event is about. The origin stays the same if the event moves to another
    /// message.
    pub(crate) origin: Location,
    /// Further parts that the event is about.
    pub(crate) other_origins: Vec<Location>,
    pub(crate) kind: EventKind<'a>,
}

pub(crate) enum EventKind<'a> {
    /// A text from the client or the model.
    Text { role: Role, content: Content<'a> },
    /// The model called a tool.
    Call(Call<'a>),
    /// The result of a call.
    Result(Outcome<'a>),
    /// An explicit addition of tools by the client.
    Add(Vec<Addition<'a>>),
    /// Definitions of tools by the client, without an explicit addition.
    Define(Vec<Addition<'a>>),
    /// The removal of a tool by the client.
    Remove { name: Text<'a>, cache_control: Option<Node<'a>> },
    /// The model's reasoning, in the source's format.
    Reasoning(Node<'a>),
    /// A message or item that has its meaning in the target as well, with its role.
    Unchanged(Role),
    /// A call that the API's servers run. The type of its result shows if it is a tool search. Only readers use this
    /// variant.
    Server { role: Role, block: Node<'a> },
    /// References that are not sent but load tools, for example in a search result without its call.
    Orphan(Content<'a>),
    /// A call to a tool in a construct that only the source supports.
    Used(Text<'a>),
    /// An ignored addition or removal of this tool. It does not come from the client, or tool changes are ignored.
    Ignored(Text<'a>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    System,
    User,
    Assistant,
}

impl Role {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        }
    }
}

pub(crate) enum Content<'a> {
    /// A string node.
    String(Node<'a>),
    Parts(Vec<Part<'a>>),
}

impl<'a> Content<'a> {
    pub(crate) fn into_parts(self) -> Vec<Part<'a>> {
        match self {
            _ if self.is_empty() => Vec::new(),
            Content::String(text) => Vec::from([Part::Text(text)]),
            Content::Parts(parts) => parts,
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Content::String(text) => text.as_text().is_some_and(Text::is_empty),
            Content::Parts(parts) => parts.is_empty(),
        }
    }

    pub(crate) fn each_reference(&mut self, show: &mut dyn FnMut(&mut Reference<'a>)) {
        let Content::Parts(parts) = self else { return };
        for part in parts {
            match part {
                Part::Reference(reference) => show(reference),
                Part::Search(search) => search.references.iter_mut().for_each(&mut *show),
                _ => {}
            }
        }
    }

    pub(crate) fn added_text(text: impl Into<Text<'a>>) -> Self {
        Content::Parts(Vec::from([Part::Text(Node::string(text))]))
    }
}

pub(crate) enum Part<'a> {
    /// A string node.
    Text(Node<'a>),
    /// An image by its URL, which may be a `data:` URL, with the member `detail` of OpenAI's formats.
    Image { url: Node<'a>, detail: Option<Node<'a>> },
    /// A block in the format of the source, which is not translated.
    Untranslated(Node<'a>),
    /// A reference to a tool.
    Reference(Reference<'a>),
    /// The outcome of a search in a single block.
    Search(SearchOutcome<'a>),
    /// An addition or a removal in a tool's result, where it has no effect.
    Ignored,
}

#[derive(Clone)]
pub(crate) struct Reference<'a> {
    pub(crate) origin: Location,
    pub(crate) name: Text<'a>,
    pub(crate) block: Node<'a>,
    /// State of the tool after the history is applied.
    pub(crate) state: ToolState,
}

#[derive(Clone)]
pub(crate) struct SearchOutcome<'a> {
    pub(crate) origin: Location,
    pub(crate) references: Vec<Reference<'a>>,
    pub(crate) block: Node<'a>,
    /// The error code, if the search failed.
    pub(crate) error: Option<String>,
    /// True if the result contains nothing else, so that each reference can be a block.
    pub(crate) is_whole: bool,
}

pub(crate) struct Call<'a> {
    /// A string node.
    pub(crate) id: Node<'a>,
    /// The tool's flat name.
    pub(crate) name: Text<'a>,
    pub(crate) arguments: Arguments<'a>,
    /// `None` if the call is not a tool search.
    pub(crate) search: Option<Searcher>,
    pub(crate) source_item: Option<Node<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Searcher {
    Client,
    Hosted,
}

pub(crate) enum Arguments<'a> {
    Value(Node<'a>),
    /// A string node that should contain JSON.
    Text(Node<'a>),
    /// A string node with free-form text: the input of a `custom` tool.
    Freeform(Node<'a>),
}

impl<'a> Arguments<'a> {
    pub(crate) fn text(self) -> Node<'a> {
        match self {
            Arguments::Text(text) => text,
            Arguments::Value(value) if value.is_null() => Node::literal("{}"),
            other => {
                let (value, _) = other.value();
                let mut text = String::new();
                json::write_compact(&value, &mut text);
                Node::string(text)
            }
        }
    }

    /// Returns the arguments as an object, and true if they already were an object.
    pub(crate) fn value(self) -> (Node<'a>, bool) {
        let value = match self {
            Arguments::Freeform(text) => return (Node::record([("input", text)]), true),
            Arguments::Value(value) => value,
            Arguments::Text(text) => match text.as_text().map(Text::value) {
                Some(Some(text)) if text.trim().is_empty() => return (Node::empty_object(), true),
                Some(Some(text)) => read_owned(&text).unwrap_or_default(),
                _ => Node::default(),
            },
        };
        match value.as_object() {
            Some(_) => (value, true),
            None => (Node::empty_object(), false),
        }
    }
}

fn read_owned<'a>(text: &str) -> Option<Node<'a>> {
    json::read(text).ok().map(|node| node.detached())
}

pub(crate) struct Outcome<'a> {
    /// The id of the call, as a string node.
    pub(crate) id: Node<'a>,
    pub(crate) content: Content<'a>,
    pub(crate) is_error: bool,
    /// True if the content states the error.
    pub(crate) states_error: bool,
    /// The tools that a search found; `None` if the call was not a search.
    pub(crate) found_tools: Option<Vec<Text<'a>>>,
    /// The party that ran the search, if this is a search result. Set by [`match_searches`].
    pub(crate) of_search: Option<Searcher>,
    /// Tools in `found_tools` that had been removed.
    pub(crate) removed_tools: Set<Text<'a>>,
    pub(crate) source_item: Option<Node<'a>>,
}

impl<'a> Outcome<'a> {
    pub(crate) fn new(id: Node<'a>, content: Content<'a>, source_item: Option<Node<'a>>) -> Self {
        Outcome {
            id,
            content,
            is_error: false,
            states_error: false,
            found_tools: None,
            removed_tools: Set::new(),
            of_search: None,
            source_item,
        }
    }
}

pub(crate) struct Addition<'a> {
    pub(crate) origin: Location,
    pub(crate) name: Text<'a>,
    pub(crate) definition: Option<(Node<'a>, Location)>,
    pub(crate) cache_control: Option<Node<'a>>,
    /// True if the tool is known after the history is applied.
    pub(crate) is_known: bool,
}

pub(crate) fn parse_verbatim<'a>(node: Node<'a>) -> Result<Node<'a>, Error> {
    match node.data() {
        Data::Verbatim(text) => json::read(text),
        _ => Ok(node),
    }
}

pub(crate) fn string_of<'a>(object: &Node<'a>, key: &str) -> Node<'a> {
    object.get(key).filter(|value| value.as_text().is_some()).cloned().unwrap_or_else(|| Node::literal(""))
}

/// Orders calls and results so that every API accepts the order.
pub(crate) fn order_turns<'a>(events: Vec<Event<'a>>, warnings: &mut Warnings) -> Vec<Event<'a>> {
    // A call is open until its last result.
    let last_results = last_results(&events);
    let mut out: Vec<Event<'a>> = Vec::with_capacity(events.len());
    let mut turn = Turn::default();
    for (at, event) in events.into_iter().enumerate() {
        if let EventKind::Call(_) = &event.kind {
            // A call after a result begins the next turn, unless another call of this turn is still open.
            if !turn.results.is_empty() && at > turn.last_result {
                turn.end(&mut out);
            }
            turn.last_result = turn.last_result.max(last_results.get(&at).copied().unwrap_or_default());
            // Each event in `after_results` is reported separately.
            if !turn.results.is_empty() {
                warn_of_move(&event, warnings);
            }
            turn.calls.push(event);
            continue;
        }
        if turn.calls.is_empty() {
            out.push(event);
            continue;
        }
        match &event.kind {
            EventKind::Result(_) if at <= turn.last_result => turn.results.push(event),
            _ if at > turn.last_result => {
                turn.end(&mut out);
                out.push(event);
            }
            EventKind::Text { role: Role::Assistant, .. } | EventKind::Reasoning(_) => {
                warn_of_move(&event, warnings);
                turn.before_calls.push(event);
            }
            _ => {
                warn_of_move(&event, warnings);
                turn.after_results.push(event);
            }
        }
    }
    warnings.clear_location();
    turn.end(&mut out);
    out
}

fn warn_of_move(event: &Event<'_>, warnings: &mut Warnings) {
    let mut warn = |origin: &Location, name: Cow<'_, str>| {
        warnings.set_location(*origin);
        warnings.warn_named("moved", name);
    };
    match &event.kind {
        EventKind::Text { content, .. } if content.is_empty() => {}
        EventKind::Text { .. } => {
            warn(&event.origin, "text".into());
            event.other_origins.iter().for_each(|origin| warn(origin, "text".into()));
        }
        EventKind::Reasoning(_) => warn(&event.origin, "reasoning".into()),
        EventKind::Unchanged(_) => warn(&event.origin, "message".into()),
        EventKind::Call(call) => warn(&event.origin, call.name.display()),
        EventKind::Remove { name, .. } => warn(&event.origin, name.display()),
        EventKind::Add(additions) | EventKind::Define(additions) => {
            additions.iter().for_each(|addition| warn(&addition.origin, addition.name.display()));
        }
        _ => {}
    }
}

/// Returns the index of the last result of each call, by the index of the call. A result belongs to the oldest open
/// call with its id. A call without a result is closed if its id is used again after a user message, because some
/// backends restart the numbering of calls in each reply.
fn last_results(events: &[Event<'_>]) -> Map<usize, usize> {
    #[derive(Default)]
    struct Calls {
        /// Index of each open call, and the number of user messages before it.
        unanswered: VecDeque<(usize, usize)>,
        /// The most recently answered call.
        answered: Option<usize>,
    }
    let (mut calls, mut results, mut user_messages): (Map<&Text<'_>, Calls>, _, _) = (Map::new(), Map::new(), 0);
    for (at, event) in events.iter().enumerate() {
        match &event.kind {
            EventKind::Text { role: Role::User, .. } | EventKind::Unchanged(Role::User) => user_messages += 1,
            EventKind::Call(call) => {
                let Some(id) = call.id.as_text() else { continue };
                let calls = calls.entry(id).or_default();
                while calls.unanswered.front().is_some_and(|(_, before)| *before < user_messages) {
                    calls.unanswered.pop_front();
                }
                calls.unanswered.push_back((at, user_messages));
                calls.answered = None;
            }
            EventKind::Result(outcome) => {
                let Some(calls) = outcome.id.as_text().and_then(|id| calls.get_mut(id)) else { continue };
                let call = calls.unanswered.pop_front().map(|(call, _)| call).or(calls.answered);
                calls.answered = call;
                results.extend(call.map(|call| (call, at)));
            }
            _ => {}
        }
    }
    results
}

/// Detects the results of searches: results that contain references, and results of calls that are searches. Ids need
/// not be unique: each result belongs to the oldest open call with its id, as in [`last_results`]. Removes hosted
/// searches without a result, unless `keeps_unanswered` is true.
pub(crate) fn match_searches(events: &mut Vec<Event<'_>>, keeps_unanswered: bool, warnings: &mut Warnings) {
    let mut open_calls: Map<String, VecDeque<(usize, usize)>> = Map::new();
    let (mut unanswered, mut user_messages) = (Set::new(), 0);
    let id = |node: &Node<'_>| node.as_text().map(|text| text.display().into_owned()).unwrap_or_default();
    for at in 0..events.len() {
        let (before, rest) = events.split_at_mut(at);
        match rest.first_mut().map(|event| &mut event.kind) {
            Some(EventKind::Text { role: Role::User, .. } | EventKind::Unchanged(Role::User)) => user_messages += 1,
            Some(EventKind::Call(call)) => {
                let calls = open_calls.entry(id(&call.id)).or_default();
                while calls.front().is_some_and(|(_, before)| *before < user_messages) {
                    unanswered.extend(calls.pop_front().map(|(call, _)| call));
                }
                calls.push_back((at, user_messages));
            }
            Some(EventKind::Result(outcome)) => {
                let called = open_calls.get_mut(&id(&outcome.id)).and_then(VecDeque::pop_front);
                let call = match called.and_then(|(at, _)| before.get_mut(at)).map(|event| &mut event.kind) {
                    Some(EventKind::Call(call)) => Some(call),
                    _ => None,
                };
                let default_search = outcome.found_tools.as_ref().map(|_| Searcher::Client);
                outcome.of_search = call.as_ref().and_then(|call| call.search).or(default_search);
                if let Some(call) = call {
                    call.search = outcome.of_search;
                }
            }
            _ => {}
        }
    }
    if keeps_unanswered {
        return;
    }
    // A hosted search does not wait for the client. If it became a call that the client must answer, it would never get
    // a result.
    unanswered.extend(open_calls.values().flatten().map(|(at, _)| *at));
    let mut at = 0;
    events.retain(|event| {
        at += 1;
        match &event.kind {
            EventKind::Call(call) if call.search == Some(Searcher::Hosted) && unanswered.contains(&(at - 1)) => {
                warnings.set_location(event.origin);
                warnings.warn_named(LOST, call.name.display());
                false
            }
            _ => true,
        }
    });
    warnings.clear_location();
}

/// Unmarks calls and results of ordinary tools, which are marked as searches. For APIs that accept found tools only in
/// results of searches. `is_search` is true for the names of the client's searches.
pub(crate) fn keep_searches<'a>(events: &mut [Event<'a>], is_search: impl Fn(&Text<'a>) -> bool) {
    let mut ordinary: Set<Text<'a>> = Set::new();
    for event in events {
        match &mut event.kind {
            EventKind::Call(call) if call.search != Some(Searcher::Hosted) => {
                let Some(id) = call.id.as_text().cloned() else { continue };
                if is_search(&call.name) {
                    ordinary.remove(&id);
                } else {
                    call.search = None;
                    ordinary.insert(id);
                }
            }
            EventKind::Result(outcome) if outcome.id.as_text().is_some_and(|id| ordinary.contains(id)) => {
                outcome.of_search = None;
            }
            _ => {}
        }
    }
}

#[derive(Default)]
struct Turn<'a> {
    before_calls: Vec<Event<'a>>,
    calls: Vec<Event<'a>>,
    results: Vec<Event<'a>>,
    after_results: Vec<Event<'a>>,
    /// Index of the turn's last result.
    last_result: usize,
}

impl<'a> Turn<'a> {
    fn end(&mut self, out: &mut Vec<Event<'a>>) {
        // In formats whose messages contain the calls, a turn is a single message.
        if let Some(message) = self.calls.first().map(|call| call.message) {
            self.before_calls.iter_mut().chain(&mut self.calls).for_each(|event| event.message = message);
        }
        for part in [&mut self.before_calls, &mut self.calls, &mut self.results, &mut self.after_results] {
            out.append(part);
        }
        self.last_result = 0;
    }
}
