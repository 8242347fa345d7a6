//! Events of a streamed reply: what each kind of event means, the part of the reply that it concerns, and the location
//! of its piece.
//!
//! Events are recognized by their kind, so the API of a stream need not be known. Chunks of Chat Completions and of
//! Gemini have no kind: each is a reply with a part of the content.

use alloc::{format, string::String};

use super::{
    units::{Arguments, Step},
    Wire, ALL,
};
use crate::json::{Node, Object, Text};

/// Names of nested members, from an event to a value.
pub(crate) type Path = &'static [&'static str];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The reply begins. Later rounds do not repeat this event.
    ReplyBegin,
    /// A block, an item or a step begins.
    Begin,
    /// A text part of an item begins.
    BeginPart,
    /// A piece of a block, an item or a step.
    Delta,
    /// The whole value of earlier pieces.
    Snapshot,
    /// A text part of an item ends.
    EndPart,
    /// A block, an item or a step ends.
    End,
    /// The reply ends; clients stop reading. `is_complete` is false if the event itself reports a failure or a limit.
    Finish { is_complete: bool },
    /// The stream fails; clients stop reading.
    Error,
    /// The connection stays open.
    KeepAlive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Text,
    /// JSON text of the arguments of a call.
    Arguments,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Test {
    Always,
    /// The piece exists.
    Exists,
    /// The delta has this `type`.
    Type(&'static str),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) content: Content,
    pub(super) test: Test,
    pub(super) path: Path,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct BegunCall {
    /// The `type` of a unit that is a call; `None` if every unit is a call.
    pub(super) kind: Option<&'static str>,
    /// The member with the tool's name.
    pub(super) name: &'static str,
    pub(super) arguments: Arguments,
    /// True if a later event repeats the whole call.
    pub(super) has_later_copy: bool,
}

#[derive(Debug)]
pub(super) struct Event {
    pub(super) name: &'static str,
    pub(super) meaning: Meaning,
    /// Path of the block, item, step, part or reply that begins or ends.
    pub(super) unit: Path,
    pub(super) pieces: &'static [Piece],
    /// How to recognize a call among the units that begin.
    pub(super) call: Option<BegunCall>,
    /// Steps to the first piece of text, if the event that begins a block or step contains it.
    pub(super) first_text: &'static [Step],
    /// True if the block or part that begins or ends can be a text.
    pub(super) can_be_text: bool,
    /// True if the block that begins must be removed if it is empty, because the API refuses empty blocks in a history.
    pub(super) may_be_removed: bool,
    /// Member that repeats the pieces of a text.
    pub(super) repeated_text: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// The value of this member is the kind.
    Value(&'static str),
    /// The name of the only member is the kind. That member contains the event.
    Member,
}

#[derive(Debug)]
pub(crate) struct Events {
    pub(super) kind: Kind,
    pub(super) list: &'static [Event],
    /// Members that may contain the index of the block, item or step, in order of precedence.
    pub(super) index: &'static [&'static str],
    /// Paths of an id that identifies an item without an index.
    pub(super) ids: &'static [Path],
    /// Member that contains the number of an event in its stream.
    pub(super) sequence: Option<&'static str>,
    /// Pairs of a prefix and a member: an event whose kind has the prefix belongs to an item only if the event has the
    /// member. Empty if all events belong to items.
    pub(super) item_prefixes: &'static [(&'static str, &'static str)],
    /// Like `item_prefixes`, for events whose kind is not listed.
    pub(super) unlisted_item_prefixes: &'static [(&'static str, &'static str)],
    /// Members that the client does not need if the piece of the event is buffered.
    pub(super) needless: &'static [&'static str],
    /// How events contain the input of a call whose input is free-form text; `None` if there are no such calls.
    pub(super) inputs: Option<&'static InputEvents>,
    /// Returns an event with a piece, from the index, the content and the piece.
    pub(super) write: Option<fn(Node<'static>, Content, Node<'static>) -> Node<'static>>,
}

/// Events of a call with free-form input, made from events of a call with arguments.
#[derive(Debug)]
pub(crate) struct InputEvents {
    /// Converts an event with a piece of the arguments to an event with this piece of the input.
    pub(crate) piece: fn(&mut Node<'_>, String),
    /// Converts an event that repeats the arguments to an event that repeats the input.
    pub(crate) whole: fn(&mut Node<'_>, String),
}

/// For events of items whose kind is not listed.
static UNLISTED: Event = Event::new("", Meaning::Delta);

impl Event {
    pub(super) const fn new(name: &'static str, meaning: Meaning) -> Event {
        Event {
            name,
            meaning,
            unit: &[],
            pieces: &[],
            call: None,
            first_text: &[],
            can_be_text: false,
            may_be_removed: false,
            repeated_text: None,
        }
    }

    pub(super) const fn with(self, unit: Path) -> Event {
        Event { unit, ..self }
    }

    pub(super) const fn pieces(self, pieces: &'static [Piece]) -> Event {
        Event { pieces, ..self }
    }

    pub(super) const fn call(self, call: BegunCall) -> Event {
        Event { call: Some(call), ..self }
    }

    pub(super) const fn first_text(self, first_text: &'static [Step]) -> Event {
        Event { first_text, ..self }
    }

    pub(super) const fn removed_if_empty(self) -> Event {
        Event { may_be_removed: true, ..self }
    }

    pub(super) const fn repeated_text(self, member: &'static str) -> Event {
        Event { repeated_text: Some(member), ..self }
    }

    pub(super) const fn possible_text(self) -> Event {
        Event { can_be_text: true, ..self }
    }
}

impl Events {
    pub(super) const NONE: Events = Events {
        kind: Kind::Member,
        list: &[],
        index: &["index"],
        ids: &[],
        sequence: None,
        item_prefixes: &[],
        unlisted_item_prefixes: &[],
        needless: &[],
        inputs: None,
        write: None,
    };

    fn listed(&'static self, node: &Node<'_>) -> Option<&'static Event> {
        match self.kind {
            Kind::Member => {
                let is_here = |event: &&Event| match node.get(event.name) {
                    Some(inner) if event.meaning == Meaning::Error => !inner.is_null(),
                    inner => inner.is_some_and(|inner| inner.as_object().is_some()),
                };
                self.list.iter().find(is_here)
            }
            Kind::Value(key) => {
                let kind = node.text_at(key)?;
                self.list.iter().find(|event| kind.has_value(event.name))
            }
        }
    }

    fn unlisted(&self, node: &Node<'_>) -> Option<&'static Event> {
        let Kind::Value(key) = self.kind else { return None };
        (node.text_at(key).is_some() && self.is_marked(node, self.unlisted_item_prefixes)).then_some(&UNLISTED)
    }

    fn is_marked(&self, node: &Node<'_>, item_prefixes: &[(&str, &str)]) -> bool {
        let Kind::Value(key) = self.kind else { return false };
        let begins =
            |prefix: &str| prefix.is_empty() || node.text_at(key).is_some_and(|kind| starts_with(kind, prefix));
        item_prefixes.iter().any(|(prefix, member)| node.get(*member).is_some() && begins(prefix))
    }
}

#[derive(Clone, Copy)]
pub(crate) struct KnownEvent {
    wire: &'static Wire,
    of: &'static Events,
    event: &'static Event,
}

/// Yields the formats in the reverse order of [`ALL`], because the last format has precedence.
fn all() -> impl Iterator<Item = (&'static Wire, &'static Events)> {
    ALL.iter().rev().filter_map(|wire| Some((*wire, wire.events?)))
}

impl Wire {
    pub(crate) fn decode(&'static self, node: &Node<'_>) -> Option<KnownEvent> {
        let of = self.events?;
        Some(KnownEvent { wire: self, of, event: of.listed(node).or_else(|| of.unlisted(node))? })
    }
}

pub(crate) fn decode(node: &Node<'_>) -> Option<KnownEvent> {
    // A kind that one format lists is never an unlisted kind of another format.
    let listed = all().find_map(|(wire, of)| Some(KnownEvent { wire, of, event: of.listed(node)? }));
    listed.or_else(|| all().find_map(|(wire, of)| Some(KnownEvent { wire, of, event: of.unlisted(node)? })))
}

pub(crate) fn sequence(node: &Node<'_>) -> Option<u64> {
    all().find_map(|(_, of)| node.u64_at(of.sequence?))
}

pub(crate) fn set_sequence(node: &mut Node<'_>, number: u64) {
    let key = all().find_map(|(_, of)| of.sequence.filter(|key| node.get(*key).is_some()));
    if let Some(key) = key {
        node.set(key, Node::count(number));
    }
}

pub(crate) fn has_only_piece(event: &Node<'_>) -> bool {
    has_only(event, is_needless)
}

/// Returns a copy of an event without the members that the client needs at once.
pub(crate) fn only_piece(event: &Node<'_>) -> Node<'static> {
    let all = event.as_object().map(Object::members).unwrap_or_default();
    let kept = all.iter().filter(|member| is_needless(&member.key));
    Node::object(kept.map(|member| (member.key.clone().into_owned(), member.value.detached())).collect())
}

/// Gateways mix the members of several formats.
fn is_needless(key: &Text<'_>) -> bool {
    all().any(|(_, of)| of.needless.iter().any(|known| key.is(known)))
}

/// Returns true if `test` accepts all names. Ignores members that are null or empty arrays.
pub(crate) fn has_only(node: &Node<'_>, test: impl Fn(&Text<'_>) -> bool) -> bool {
    let all = node.as_object().map(Object::members).unwrap_or_default();
    let is_empty = |value: &Node<'_>| value.is_null() || value.as_array().is_some_and(<[_]>::is_empty);
    all.iter().all(|member| is_empty(&member.value) || test(&member.key))
}

fn starts_with(text: &Text<'_>, prefix: &str) -> bool {
    prefix.chars().map(u32::from).eq(text.code_points().take(prefix.chars().count()))
}

pub(crate) fn at<'n, 'a>(node: &'n Node<'a>, path: &[&'static str]) -> Option<&'n Node<'a>> {
    path.iter().try_fold(node, |node, key| node.get(*key))
}

pub(crate) fn visit<'a, R>(
    node: &mut Node<'a>,
    path: &[&'static str],
    edit: impl FnOnce(&mut Node<'a>) -> R,
) -> Option<R> {
    match path {
        [] => Some(edit(node)),
        [key, rest @ ..] => node.visit(*key, |inner| visit(inner, rest, edit)).flatten(),
    }
}

/// Sets the value at a path. The members above the value must exist.
pub(crate) fn set<'a>(node: &mut Node<'a>, path: &[&'static str], value: Node<'a>) {
    match path {
        [] => {}
        [key] => node.set(key, value),
        [key, rest @ ..] => drop(node.visit(*key, |inner| set(inner, rest, value))),
    }
}

impl KnownEvent {
    pub(crate) const fn meaning(self) -> Meaning {
        self.event.meaning
    }

    pub(crate) const fn wire(self) -> &'static Wire {
        self.wire
    }

    pub(crate) const fn is_finish(self) -> bool {
        matches!(self.event.meaning, Meaning::Finish { .. })
    }

    pub(crate) const fn is_text(self) -> bool {
        self.event.can_be_text
    }

    pub(crate) const fn may_be_removed(self) -> bool {
        self.event.may_be_removed
    }

    pub(crate) fn repeated_arguments<'n, 'a>(self, call: &'n Node<'a>) -> (Option<&'n Node<'a>>, bool) {
        let begun = self.of.list.iter().find_map(|event| event.call);
        begun.map_or((None, true), |begun| begun.arguments.of(call))
    }

    /// Returns true if texts begin with their first piece, without a separate event.
    pub(crate) fn begins_without_event(self) -> bool {
        let has = |meaning: Meaning| self.of.list.iter().any(|event| event.can_be_text && event.meaning == meaning);
        has(Meaning::End) && !has(Meaning::Begin)
    }

    pub(crate) fn begins_with_pieces(self) -> bool {
        self.of.list.iter().any(|event| !event.first_text.is_empty())
    }

    pub(crate) const fn has_first_text(self) -> bool {
        !self.event.first_text.is_empty()
    }

    pub(crate) fn is_in_unit(self, node: &Node<'_>) -> bool {
        match self.event.meaning {
            Meaning::Begin | Meaning::End => true,
            Meaning::Delta | Meaning::BeginPart | Meaning::EndPart | Meaning::Snapshot => {
                self.of.item_prefixes.is_empty() || self.of.is_marked(node, self.of.item_prefixes)
            }
            _ => false,
        }
    }

    pub(crate) fn unit<'n, 'a>(self, node: &'n Node<'a>) -> Option<&'n Node<'a>> {
        at(node, self.event.unit).filter(|_| !self.event.unit.is_empty())
    }

    pub(crate) const fn unit_path(self) -> Path {
        self.event.unit
    }

    pub(crate) fn call<'n, 'a>(self, node: &'n Node<'a>) -> Option<&'n Node<'a>> {
        let call = self.event.call?;
        let is_call =
            |unit: &&Node<'a>| call.kind.is_none_or(|kind| unit.get("type").is_some_and(|value| value.is_text(kind)));
        self.unit(node).filter(is_call)
    }

    pub(crate) fn call_name(self) -> &'static str {
        self.event.call.map_or("name", |call| call.name)
    }

    pub(crate) fn call_arguments(self) -> Option<&'static str> {
        self.event.call?.arguments.member()
    }

    pub(crate) fn arguments_of<'n, 'a>(self, call: &'n Node<'a>) -> (Option<&'n Node<'a>>, bool) {
        self.event.call.map_or((None, true), |begun| begun.arguments.of(call))
    }

    pub(crate) const fn inputs(self) -> Option<&'static InputEvents> {
        self.of.inputs
    }

    pub(crate) fn repeats_call(self) -> bool {
        self.event.call.is_some_and(|call| call.has_later_copy)
    }

    pub(crate) fn may_have(self, content: Content) -> bool {
        self.event.pieces.iter().any(|piece| piece.content == content)
    }

    pub(crate) fn piece(self, node: &Node<'_>, content: Content) -> Option<Path> {
        let is_here = |piece: &&Piece| match piece.test {
            Test::Always => true,
            Test::Exists => at(node, piece.path).is_some(),
            Test::Type(kind) => {
                let delta = piece.path.split_last().and_then(|(_, before)| at(node, before));
                delta.is_some_and(|delta| delta.get("type").is_some_and(|value| value.is_text(kind)))
            }
        };
        let mut pieces = self.event.pieces.iter().filter(|piece| piece.content == content);
        pieces.find(is_here).map(|piece| piece.path)
    }

    pub(crate) const fn repeated_text(self) -> Option<&'static str> {
        self.event.repeated_text
    }

    pub(crate) fn set_repeated(self, node: &mut Node<'_>, text: &str) {
        let text = || Node::string(String::from(text));
        match self.repeated_text() {
            Some(key) if node.get(key).is_some() => node.set(key, text()),
            Some(_) => {}
            None if !self.event.unit.is_empty() => {
                visit(node, self.event.unit, |unit| unit.set("text", text()));
            }
            None => {}
        }
    }

    pub(crate) fn visit_first_text(self, node: &mut Node<'_>, visit: &mut dyn FnMut(&mut Node<'_>)) {
        super::units::walk(node, self.event.first_text, visit);
    }

    /// Returns an event with an empty piece of the same block or step, and the path of the piece.
    pub(crate) fn piece_event(self, node: &Node<'_>, content: Content) -> Option<(Node<'static>, Path)> {
        let deltas = self.of.list.iter().filter(|event| event.meaning == Meaning::Delta);
        let piece = deltas.flat_map(|event| event.pieces).find(|piece| piece.content == content)?;
        let index = self.index(node).map(|(_, index)| index.detached()).unwrap_or_default();
        Some(((self.of.write?)(index, content, Node::literal("")), piece.path))
    }

    pub(crate) fn index_holder<'n, 'a>(self, node: &'n Node<'a>) -> Option<&'n Node<'a>> {
        match self.of.kind {
            Kind::Value(_) => Some(node),
            Kind::Member => node.get(self.event.name),
        }
    }

    fn index<'n, 'a>(self, node: &'n Node<'a>) -> Option<(&'static str, &'n Node<'a>)> {
        let inner = self.index_holder(node)?;
        self.of.index.iter().find_map(|key| Some((*key, inner.get(*key)?)))
    }

    pub(crate) fn number(self, node: &Node<'_>) -> Option<u64> {
        self.index(node).and_then(|(_, index)| index.as_u64())
    }

    pub(crate) fn renumber(self, node: &mut Node<'_>, number: u64) {
        let Some((key, _)) = self.index(node) else { return };
        match self.of.kind {
            Kind::Value(_) => node.set(key, Node::count(number)),
            Kind::Member => drop(node.visit(self.event.name, |inner| inner.set(key, Node::count(number)))),
        }
    }

    pub(crate) fn key(self, node: &Node<'_>) -> Key {
        let number = self.index(node).and_then(|(_, index)| index.as_number()).unwrap_or_default();
        if !number.is_empty() || self.of.ids.is_empty() {
            return Key::at(number);
        }
        // Some servers send only the item's id.
        let id = self.of.ids.iter().find_map(|path| at(node, path)).and_then(Node::as_text);
        let id = id.map(|id| format!("item {}", id.display())).unwrap_or_default();
        Key { choice: None, index: Index::Other(id) }
    }
}

/// Identifies the block, item, step or call that a piece belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    /// Index of the choice in Chat Completions; `None` in other APIs.
    choice: Option<u64>,
    index: Index,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Index {
    Number(u64),
    /// An index that is not a whole number, or an item's id.
    Other(String),
}

impl Key {
    fn at(index: &str) -> Key {
        let index = index.parse().map_or_else(|_| Index::Other(index.into()), Index::Number);
        Key { choice: None, index }
    }

    /// Returns the key of an entry of `tool_calls`.
    pub(crate) const fn in_choice(choice: u64, index: u64) -> Key {
        Key { choice: Some(choice), index: Index::Number(index) }
    }

    pub(crate) const fn choice(&self) -> Option<u64> {
        self.choice
    }

    pub(crate) const fn index(&self) -> Option<u64> {
        match self.index {
            Index::Number(index) => Some(index),
            _ => None,
        }
    }
}

pub(crate) fn kind_of<'n, 'a>(node: &'n Node<'a>) -> Option<&'n Text<'a>> {
    let mut keys = all().filter_map(|(_, of)| match of.kind {
        Kind::Value(key) => Some(key),
        Kind::Member => None,
    });
    keys.find_map(|key| node.text_at(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise, buffered arguments could not be sent.
    #[test]
    fn a_call_that_no_event_repeats_has_events_for_its_arguments() {
        for (_, events) in all() {
            let has_later_copy = |event: &&Event| event.call.is_none_or(|call| call.has_later_copy);
            if events.list.iter().any(|event| !has_later_copy(&event)) {
                assert!(events.write.is_some());
                let is_of_arguments = |piece: &Piece| piece.content == Content::Arguments;
                assert!(events.list.iter().flat_map(|event| event.pieces).any(is_of_arguments));
            }
        }
    }
}
