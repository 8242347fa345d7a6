//! Stores the calls and items of a streamed reply, assembled from their pieces, to ask the model again.

use alloc::{string::String, vec::Vec};

use super::is;
use crate::{
    collections::Map,
    json::{self, Data, Node, Text},
};

/// The state of one round of a streamed reply.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// The assistant message of Chat Completions.
    pub(super) message: Pieces,
    /// The calls of Chat Completions.
    pub(super) calls: Vec<Pieces>,
    /// The steps of Gemini Interactions.
    pub(super) steps: Vec<Step>,
    /// The parts of Gemini, or the items of Responses.
    pub(super) units: Vec<Node<'static>>,
    /// Delivery of each call or item, by the backend's index, with its position in the lists above.
    pub(super) deliveries: Map<u64, (Delivery, usize)>,
    /// Buffered reasoning events.
    pub(super) buffered: Vec<Node<'static>>,
    /// Number of calls or items that the client has received, over all rounds.
    pub(super) passed: u64,
    pub(super) searched: bool,
    pub(super) called: bool,
    /// True if the end of the round was processed.
    pub(super) stopped: bool,
    /// True if the client has received text of this round.
    pub(super) spoke: bool,
    /// True if the client has received text of an earlier round.
    pub(super) spoke_before: bool,
    pub(super) used: Option<Node<'static>>,
    /// The id of the first round's reply.
    pub(super) id: Option<Node<'static>>,
    /// The sequence number of the next event of Responses.
    pub(super) sequence: Option<u64>,
}

/// Delivery of a call or an item: whether the client receives it, and its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// The client receives it with this index.
    Shown(u64),
    Search,
    /// Reasoning; the next item decides whether the client receives it.
    Buffered,
}

/// An object that arrives in pieces: strings are concatenated, and lists are extended.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    members: Vec<(Text<'static>, Piece)>,
    places: Map<Text<'static>, usize>,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    List(Vec<Node<'static>>),
    Object(Pieces),
    Value(Node<'static>),
}

impl Pieces {
    pub(super) fn add(&mut self, object: &Node<'static>, except: &[&str]) {
        for member in object.as_object().into_iter().flatten() {
            if except.iter().any(|key| member.key.is(key)) || member.value.is_null() {
                continue;
            }
            let place = *self.places.entry(member.key.clone()).or_insert(self.members.len());
            let Some((key, known)) = self.members.get_mut(place) else {
                self.members.push((member.key.clone(), Piece::of(&member.value)));
                continue;
            };
            // Some backends repeat the name of a call in each piece.
            let is_name = ["id", "type", "name"].iter().any(|name| key.is(name));
            match (known, member.value.data()) {
                (Piece::Text(_), _) if is_name => {}
                (Piece::Text(text), Data::String(more)) => text.push_str(&more.display()),
                (Piece::List(list), Data::Array(more)) => list.extend(more.iter().cloned()),
                (Piece::Object(inner), Data::Object(_)) => inner.add(&member.value, &[]),
                (known, _) => *known = Piece::of(&member.value),
            }
        }
    }

    pub(super) fn whole(self) -> Node<'static> {
        Node::object(self.members.into_iter().map(|(key, piece)| (key, piece.whole())).collect())
    }
}

impl Piece {
    fn of(value: &Node<'static>) -> Piece {
        match value.data() {
            Data::String(text) => Piece::Text(text.display().into_owned()),
            Data::Array(list) => Piece::List(list.clone()),
            Data::Object(_) => {
                let mut inner = Pieces::default();
                inner.add(value, &[]);
                Piece::Object(inner)
            }
            _ => Piece::Value(value.clone()),
        }
    }

    fn whole(self) -> Node<'static> {
        match self {
            Piece::Text(text) => Node::string(text),
            Piece::List(list) => Node::array(list),
            Piece::Object(inner) => inner.whole(),
            Piece::Value(value) => value,
        }
    }
}

/// A step of Gemini Interactions that arrives in pieces.
#[derive(Debug, Default)]
pub(super) struct Step {
    pub(super) node: Node<'static>,
    arguments: String,
    /// The text at the end of the content.
    text: String,
}

impl Step {
    pub(super) fn new(node: Node<'static>) -> Step {
        Step { node, ..Step::default() }
    }

    pub(super) fn add(&mut self, delta: &Node<'_>) {
        let text = |key: &str| delta.text_at(key).map(Text::display).unwrap_or_default();
        let value = |key: &str| delta.get(key).map(Node::detached).unwrap_or_default();
        if is(delta, "arguments_delta") {
            self.arguments.push_str(&text("arguments"));
        } else if is(delta, "thought_signature") {
            self.node.set("signature", value("signature"));
        } else if is(delta, "thought_summary") {
            self.push("summary", value("content"));
        } else if is(delta, "text") {
            self.text.push_str(&text("text"));
        } else if !is(delta, "text_annotation_delta") {
            self.end_text();
            self.push("content", delta.detached());
        }
    }

    fn end_text(&mut self) {
        if !self.text.is_empty() {
            let text = Node::string(core::mem::take(&mut self.text));
            self.push("content", Node::record([("type", Node::literal("text")), ("text", text)]));
        }
    }

    fn push(&mut self, key: &'static str, value: Node<'static>) {
        if self.node.array_at(key).is_none() {
            self.node.set(key, Node::array(Vec::new()));
        }
        self.node.visit(key, |list| list.as_array_mut().map(|list| list.push(value)));
    }

    pub(super) fn whole(mut self) -> Node<'static> {
        self.end_text();
        let arguments = json::read(&self.arguments).ok().filter(|_| !self.arguments.is_empty());
        if let Some(arguments) = arguments.map(|arguments| arguments.detached()) {
            self.node.set("arguments", arguments);
        }
        self.node
    }
}
