//! Code that the readers of all formats share. The reader of each format is in the folder of its API. A reader converts
//! a request's tools and history to a [`Conversation`].
//!
//! If the format changes, the history is removed from the request. Otherwise, the history remains in the request. With
//! emulated deferred loading, only messages that concern tools are then read, and the writer handles the rest.

use alloc::{format, vec::Vec};

use super::{
    carriers::REFERENCES,
    conversation::{parse_verbatim, Content, Conversation, Event, EventKind, Part, Reference, Role},
    formats, listed,
    location::{Location, Step},
    origins::EntryOrigin,
    report::{Warnings, LOST, ORPHAN},
    tool::type_of,
    tools::{Arrival, ToolState, Tools},
};
use crate::{
    error::{Code, Error},
    json::{
        lazy::{take as take_member, view, View},
        Data, Flags, Node, Text,
    },
    options::{Api, DeferredOptions, Native, ToolChanges, UnavailableCalls},
    wire::additions::reference_name,
    wire::anthropic::mentions::changed_tool_name,
    wire::responses::namespaces::NameMap,
    wire::{self, additions::Additions},
};

pub(crate) enum Flattened<'a> {
    /// The request has the flat list. Contains the origins of its entries.
    InPlace(Vec<EntryOrigin>),
    /// The request keeps its own list. Contains the flat list.
    Apart(Vec<(Node<'a>, Location)>),
}

/// `wire/history_formats.rs` has the readers of all formats.
pub(crate) struct HistoryReader {
    /// `None` if lists have no namespaces.
    pub(crate) flatten: Option<Flatten>,
    pub(crate) read: Read,
    /// Formats that may preserve the meaning of a history, each with a test for the history.
    pub(crate) shared: &'static [(Api, IsShared)],
}

pub(crate) type IsShared = fn(&Node<'_>) -> Result<bool, Error>;

pub(crate) type Flatten = for<'r, 'a> fn(&mut Node<'a>, &mut Reading<'r, 'a>) -> Result<Option<Flattened<'a>>, Error>;

/// Receives the request without its history, and the system prompt that was taken from it.
pub(crate) type Read = for<'a> fn(&mut Reader<'_, '_, 'a>, &Node<'a>, prompt: Option<Node<'a>>) -> Result<(), Error>;

pub(crate) struct Reading<'r, 'a> {
    pub(crate) options: &'r DeferredOptions,
    pub(crate) names: &'r mut NameMap<'a>,
    pub(crate) warnings: &'r mut Warnings,
    pub(crate) format: &'static HistoryReader,
    pub(crate) target: Api,
    /// True if the request is read only to decide if it can be sent unchanged. Then, only content that concerns tools
    /// is read, and nothing is written.
    pub(crate) is_trial: bool,
    /// Known only in `adapt_request`. If it is known, tools of a namespace get the description of the namespace, and
    /// members that only some backends have remain.
    pub(crate) backend: Option<Backend>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Backend {
    /// True if the backend accepts refusals of the model in messages.
    pub(crate) has_refusals: bool,
}

/// Reads a request. The tool list remains in the request.
pub(crate) fn read<'a>(
    request: &mut Node<'a>,
    source: Api,
    mut reading: Reading<'_, 'a>,
) -> Result<Conversation<'a>, Error> {
    let same_format = source == reading.target;
    let form = reading.format;
    let mut conversation = Conversation::default();
    reading.warnings.set_format(source);
    conversation.losses.set_format(source);
    let flattened = form.flatten.map_or(Ok(None), |flatten| flatten(request, &mut reading))?;
    conversation.tools = match flattened {
        Some(Flattened::Apart(tools)) => {
            let mut flat_tools = Tools::default();
            tools.into_iter().for_each(|(tool, origin)| flat_tools.add_to_list(tool, Some(origin), reading.warnings));
            flat_tools
        }
        Some(Flattened::InPlace(origins)) => Tools::read(listed(request), Some(&origins), source, reading.warnings),
        None => Tools::read(listed(request), None, source, reading.warnings),
    };
    let (mut prompt, mut taken_history) = (None, None);
    if !same_format {
        conversation.format = formats::take_format(request, source, reading.warnings)?;
        let shared = form.shared.iter().find(|(api, _)| *api == reading.target);
        conversation.is_in_place = shared.map_or(Ok(false), |(_, is_shared)| is_shared(request))?;
        if let Some(key) = wire::of(source).prompt_member().filter(|key| request.get(*key).is_some()) {
            prompt = take_member(request, key)?.filter(|prompt| !prompt.is_null());
            request.remove(key);
        }
        if !conversation.is_in_place {
            taken_history = Some(request.visit(wire::of(source).history(), core::mem::take).unwrap_or_default());
        }
    }
    let request = &*request;
    let history = match taken_history {
        Some(node) => History::Taken(parse_verbatim(node)?),
        None => History::Borrowed(request.get(wire::of(source).history()).filter(|_| same_format)),
    };
    // An `input` that is not a list contains nothing that concerns tools.
    conversation.is_in_place |=
        same_format && matches!(&history, History::Borrowed(Some(node)) if node.as_array().is_none());
    let listed = listed(request);
    let location = Location::default();
    let mut reader = Reader {
        reading,
        source,
        listed,
        history,
        conversation,
        has_messages: false,
        member: "content",
        location,
        is_bare: false,
    };
    (form.read)(&mut reader, request, prompt)?;
    let Reader { history, mut conversation, .. } = reader;
    if let History::Taken(node) = history {
        if let Data::Array(messages) = node.into_data() {
            conversation.history = messages;
        }
    }
    Ok(conversation)
}

pub(crate) enum History<'n, 'a> {
    Borrowed(Option<&'n Node<'a>>),
    Taken(Node<'a>),
}

impl<'a> History<'_, 'a> {
    pub(crate) fn messages(&self) -> &[Node<'a>] {
        match self {
            History::Borrowed(node) => node.and_then(Node::as_array).unwrap_or_default(),
            History::Taken(node) => node.as_array().unwrap_or_default(),
        }
    }
}

pub(crate) struct Reader<'r, 'n, 'a> {
    pub(crate) reading: Reading<'r, 'a>,
    pub(crate) source: Api,
    pub(crate) listed: &'n [Node<'a>],
    pub(crate) history: History<'n, 'a>,
    pub(crate) conversation: Conversation<'a>,
    /// True once the history has a message that is not a system message.
    pub(crate) has_messages: bool,
    pub(crate) member: &'static str,
    pub(crate) location: Location,
    /// True if a block is read that replaces a message.
    pub(crate) is_bare: bool,
}

impl<'a> Reader<'_, '_, 'a> {
    pub(crate) fn same_format(&self) -> bool {
        self.source == self.reading.target
    }

    pub(crate) fn emulates(&self) -> bool {
        self.reading.options.native == Native::None || self.reading.is_trial
    }

    pub(crate) fn reads_only_tool_messages(&self) -> bool {
        self.same_format() && self.emulates()
    }

    /// Returns true if calls must be read even if the format stays the same, because they load tools or may become
    /// text.
    pub(crate) fn wants_calls(&self) -> bool {
        let options = self.reading.options;
        options.load_used_tools || options.unavailable_calls == UnavailableCalls::Text
    }

    /// Returns the flags of messages that must be read even if the format does not change.
    pub(crate) fn wanted_flags(&self) -> Flags {
        let texts = self.reading.options.unavailable_calls == UnavailableCalls::Text;
        match self.wants_calls() {
            // The result of the client's search contains functions.
            _ if matches!(wire::of(self.source).additions(), Additions::Results { .. }) => {
                Flags::DEFERRAL | Flags::CALL
            }
            true if texts => Flags::DEFERRAL | Flags::CALL | Flags::CHAT | Flags::RESULT,
            true => Flags::DEFERRAL | Flags::CALL,
            false => Flags::DEFERRAL,
        }
    }

    /// Returns a parsed message. If the format changes, the message is removed from the history.
    pub(crate) fn open(&mut self, index: usize) -> Result<Node<'a>, Error> {
        self.location = Location::of_message(index + 1);
        match &mut self.history {
            History::Taken(node) => {
                let message = node.as_array_mut().and_then(|messages| messages.get_mut(index)).map(core::mem::take);
                parse_verbatim(message.unwrap_or_default())
            }
            History::Borrowed(_) => match self.history.messages().get(index).map(view).transpose()? {
                Some(View::Tree(node)) => Ok(node.clone()),
                Some(View::Read(node)) => Ok(node),
                None => Ok(Node::default()),
            },
        }
    }

    /// Returns a message that concerns tools. Does not parse messages without the wanted flags.
    pub(crate) fn open_if_concerned(
        &mut self,
        index: usize,
        concerns: impl Fn(&Node<'a>, bool) -> bool,
    ) -> Result<Option<Node<'a>>, Error> {
        self.location = Location::of_message(index + 1);
        let (wanted, calls) = (self.wanted_flags(), self.wants_calls());
        let Some(message) = self.history.messages().get(index) else { return Ok(None) };
        if !crate::json::lazy::may_hold(message, wanted) {
            return Ok(None);
        }
        Ok(match view(message)? {
            View::Tree(node) => concerns(node, calls).then(|| node.clone()),
            View::Read(node) => Some(node).filter(|node| concerns(node, calls)),
        })
    }

    pub(crate) fn push(&mut self, at: usize, kind: EventKind<'a>) {
        self.push_to(at, at, kind);
    }

    /// Adds an event to an earlier message of the model's turn.
    pub(crate) fn push_to(&mut self, at: usize, message: usize, kind: EventKind<'a>) {
        self.has_messages |= match &kind {
            EventKind::Text { role, .. } | EventKind::Unchanged(role) => *role != Role::System,
            EventKind::Call(_) | EventKind::Result(_) | EventKind::Reasoning(_) | EventKind::Server { .. } => true,
            EventKind::Add(_) | EventKind::Define(_) | EventKind::Remove { .. } | EventKind::Orphan(_) => false,
            EventKind::Used(_) | EventKind::Ignored(_) => false,
        };
        let (member, origin) = (self.member, self.location);
        self.conversation.events.push(Event { at, message, member, origin, other_origins: Vec::new(), kind });
    }

    pub(crate) fn mark_changed(&mut self, at: usize) {
        self.conversation.changed.insert(at);
    }

    /// Returns true before the first message that is not a system message. Definitions there belong to the beginning of
    /// the prompt. Always returns false if the format does not change, or if deferred loading is emulated: the list
    /// then begins with the request's tools.
    pub(crate) fn is_before_messages(&self) -> bool {
        !self.has_messages && !self.same_format() && !self.emulates()
    }

    pub(crate) fn may_change(&self) -> bool {
        self.reading.options.tool_changes == ToolChanges::Apply
    }

    pub(crate) fn add_definition(&mut self, definition: Node<'a>, arrival: Arrival) {
        self.add_definition_at(definition, arrival, self.location);
    }

    pub(crate) fn add_definition_at(&mut self, definition: Node<'a>, arrival: Arrival, origin: Location) {
        self.conversation.tools.add_definition(definition, (arrival, origin), self.listed, self.reading.warnings);
    }

    pub(crate) fn add_to_list(&mut self, definition: Node<'a>, origin: Location) {
        self.conversation.tools.add_to_list(definition, Some(origin), self.reading.warnings);
    }

    pub(crate) fn reference(&mut self, at: usize, block: Node<'a>) -> Part<'a> {
        self.mark_changed(at);
        Part::Reference(reference(block, self.location))
    }

    pub(crate) fn record_ignored(&mut self, at: usize, block: &Node<'a>) {
        self.mark_changed(at);
        self.push(at, EventKind::Ignored(changed_tool_name(block)));
    }

    /// Returns the warnings about lost parts. With emulation, they follow the warnings about the request's tools.
    pub(crate) fn losses(&mut self) -> &mut Warnings {
        match self.emulates() {
            true => &mut self.conversation.losses,
            false => self.reading.warnings,
        }
    }

    pub(crate) fn at_entry<R>(&mut self, member: &'static str, index: usize, read: impl FnOnce(&mut Self) -> R) -> R {
        let inner = self.location.name(member).index(index);
        let outer = core::mem::replace(&mut self.location, inner);
        let result = read(self);
        self.location = outer;
        result
    }

    /// Adds a step to the current location. Returns the location without this step.
    pub(crate) fn enter(&mut self, step: Step) -> Location {
        let inner = self.location.with_step(step);
        core::mem::replace(&mut self.location, inner)
    }

    pub(crate) fn lose(&mut self, name: &str, value: &Node<'_>) {
        let (location, api) = (self.location, self.source);
        self.losses().warn_lost_at(name, value, || location.pointer(api));
    }

    pub(crate) fn lose_member(&mut self, name: &str, value: &Node<'_>) {
        let (location, api) = (self.location, self.source);
        self.losses().warn_lost_at(name, value, || location.member(api, name));
    }

    pub(crate) fn refusal(&self, text: Node<'a>) -> Part<'a> {
        let is_accepted = self.reading.backend.is_none_or(|backend| backend.has_refusals);
        match is_accepted && wire::of(self.reading.target).turns().has_refusals() {
            true => Part::Untranslated(Node::record([("type", Node::literal("refusal")), ("refusal", text)])),
            false => Part::Text(text),
        }
    }

    pub(crate) fn lose_rest(&mut self, block: &Node<'_>, translated: &[&str]) {
        for member in block.as_object().into_iter().flatten() {
            if !translated.iter().any(|key| member.key.is(key)) {
                self.lose_member(&member.key.display(), &member.value);
            }
        }
    }

    pub(crate) fn lose_block(&mut self, block: &Node<'_>) {
        let name = type_of(block).map_or_else(|| "content".into(), Text::display);
        let pointer = self.location.pointer(self.source);
        self.losses().warn_named_at(LOST, name, pointer);
    }

    pub(crate) fn warn_of_orphan(&mut self, id: Option<&Text<'_>>) {
        let pointer = self.location.pointer(self.source);
        match id {
            Some(id) => self.losses().warn_named_at(ORPHAN, id.display(), pointer),
            None => self.losses().warn_at(ORPHAN, &pointer),
        }
    }

    pub(crate) fn member_content(
        &mut self,
        member: &'static str,
        content: Option<Node<'a>>,
        part: fn(&mut Self, Node<'a>) -> Result<Option<Part<'a>>, Error>,
    ) -> Result<Content<'a>, Error> {
        let outer = self.enter(Step::Name(member));
        let content = self.content(content, part);
        self.location = outer;
        content
    }

    pub(crate) fn content(
        &mut self,
        content: Option<Node<'a>>,
        part: fn(&mut Self, Node<'a>) -> Result<Option<Part<'a>>, Error>,
    ) -> Result<Content<'a>, Error> {
        let content = content.map(parse_verbatim).transpose()?.map(Node::into_data);
        Ok(match content {
            Some(Data::String(text)) => Content::String(Node::new(Data::String(text))),
            Some(Data::Array(blocks)) => {
                let mut parts = Vec::with_capacity(blocks.len());
                for (index, block) in blocks.into_iter().enumerate() {
                    let outer = self.enter(Step::Index(index));
                    parts.extend(part(self, block)?);
                    self.location = outer;
                }
                Content::Parts(parts)
            }
            None | Some(Data::Null) => Content::Parts(Vec::new()),
            Some(other) => {
                self.lose("content", &Node::new(other));
                Content::Parts(Vec::new())
            }
        })
    }
}

pub(crate) fn reference<'a>(block: Node<'a>, origin: Location) -> Reference<'a> {
    Reference { origin, name: reference_name(&block), block, state: ToolState::Unknown }
}

pub(crate) fn references_from<'a>(references: &[Node<'a>], part: Location) -> Vec<Reference<'a>> {
    let list = part.name(REFERENCES);
    references.iter().cloned().enumerate().map(|(index, block)| reference(block, list.index(index))).collect()
}

pub(crate) fn no_object(message: &Node<'_>, at: &str) -> Error {
    Error::new(Code::InvalidRequest, at, format!("expected the message to be an object, found {}", message.kind()))
}

pub(crate) fn no_role(message: &Node<'_>, at: &str, expected: &str) -> Error {
    let found = message.get("role").map_or_else(|| "none".into(), crate::json::write);
    Error::new(Code::InvalidRequest, format!("{at}/role"), format!("expected a `role` of {expected}, found {found}"))
}

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
