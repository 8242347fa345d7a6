//! Buffers the text parts of a stream until they end, with the events that can carry them.

use alloc::{string::String, sync::Arc, vec::Vec};

use super::{
    answer_fence::{Beginning, Restores},
    buffered_calls::{append, pay, Key, CALL},
};
use crate::{
    collections::Map,
    error::Error,
    json::{self, Node, Text},
};

/// The text parts of a stream that have not ended.
#[derive(Debug, Default)]
pub(super) struct Texts {
    open: Map<TextKey, BufferedText>,
    cost: usize,
}

/// Key of a text part: its block or choice, and its index there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TextKey {
    pub(super) block: Key,
    pub(super) part: u64,
}

#[derive(Debug)]
pub(super) struct BufferedText {
    beginning: Beginning,
    /// True if the text need not be restored. All of it is then passed on.
    passes: bool,
    pub(super) pieces: String,
    /// Event that can carry the whole text.
    pub(super) carrier: Option<Carrier>,
    cost: usize,
}

/// An event that can carry a whole text part. The parts of one event share it.
#[derive(Clone, Debug)]
pub(super) struct Carrier {
    event: Arc<Node<'static>>,
    slot: Slot,
    length: usize,
}

/// Treatment of a piece of text.
pub(super) enum Piece {
    /// The piece is passed on unchanged.
    Same,
    /// The piece is passed on together with the buffered text before it.
    Text(Text<'static>),
    /// The piece is buffered.
    BufferedText,
}

/// Position of the text in an event.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// Names of the members that lead to the text.
    Path(&'static [&'static str]),
    /// The choice with this index, in a chunk of Chat Completions whose choices were removed.
    Choice(u64),
    /// The candidate with this index, in an event of Gemini whose candidates were removed.
    Candidate(u64),
}

impl Texts {
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Processes a piece of text.
    ///
    /// # Errors
    /// `limit-exceeded`, in which case the piece is discarded.
    pub(super) fn piece(
        &mut self,
        key: &TextKey,
        piece: &Text<'_>,
        restores: Restores,
        carrier: impl FnOnce() -> Carrier,
    ) -> Result<Piece, Error> {
        let is_new = !self.open.contains_key(key);
        if is_new {
            pay(&mut self.cost, CALL)?;
            self.open.insert(key.clone(), BufferedText::new(restores));
        }
        let Some(buffered) = self.open.get_mut(key) else { return Ok(Piece::Same) };
        if buffered.passes {
            return Ok(Piece::Same);
        }
        let before = buffered.pieces.len();
        append(&mut buffered.pieces, piece);
        // Before this is decided, only whitespace and the opening of a fence can have been buffered.
        if buffered.beginning.feed(buffered.pieces.get(before..).unwrap_or_default()) == Some(false) {
            buffered.passes = true;
            self.cost -= buffered.cost - CALL;
            buffered.cost = CALL;
            buffered.carrier = None;
            let mut space = core::mem::take(&mut buffered.pieces);
            space.truncate(before);
            return Ok(if space.is_empty() { Piece::Same } else { Piece::Text(behind(space, piece)) });
        }
        let carrier = carrier();
        let cost = CALL + buffered.pieces.len() + carrier.length;
        let mut total = self.cost - buffered.cost;
        if let Err(error) = pay(&mut total, cost) {
            buffered.pieces.truncate(before);
            return Err(error);
        }
        (self.cost, buffered.cost, buffered.carrier) = (total, cost, Some(carrier));
        Ok(Piece::BufferedText)
    }

    /// Returns the buffered pieces of a text part.
    pub(super) fn pieces(&self, key: &TextKey) -> Option<&str> {
        self.open.get(key).filter(|buffered| !buffered.passes).map(|buffered| buffered.pieces.as_str())
    }

    pub(super) fn close(&mut self, key: &TextKey) -> Option<BufferedText> {
        let buffered = self.open.remove(key)?;
        self.cost -= buffered.cost;
        Some(buffered)
    }

    /// Removes and returns the text parts of a block, or all text parts, in order.
    pub(super) fn close_all(&mut self, block: Option<&Key>) -> Vec<BufferedText> {
        let Some(block) = block else {
            self.cost = 0;
            return core::mem::take(&mut self.open).into_iter().map(|(_, buffered)| buffered).collect();
        };
        let (first, mut closed) = (TextKey { block: block.clone(), part: 0 }, Vec::new());
        while let Some(key) = self.open.first_key_from(&first).filter(|key| key.block == *block).cloned() {
            closed.extend(self.close(&key));
        }
        closed
    }
}

impl BufferedText {
    fn new(restores: Restores) -> Self {
        let (beginning, pieces) = (Beginning::new(restores), String::new());
        BufferedText { beginning, passes: false, pieces, carrier: None, cost: CALL }
    }
}

/// Returns buffered whitespace, or the opening of a fence, followed by a piece. Unpaired surrogates are preserved.
fn behind(mut space: String, piece: &Text<'_>) -> Text<'static> {
    if let Some(value) = piece.value() {
        space.push_str(&value);
        return Text::new(space);
    }
    let mut spelled = String::new();
    for one in space.chars() {
        match one {
            '\n' => spelled.push_str("\\n"),
            '\r' => spelled.push_str("\\r"),
            '\t' => spelled.push_str("\\t"),
            // The form feed is the only other whitespace character.
            '\u{c}' => spelled.push_str("\\f"),
            one => spelled.push(one),
        }
    }
    spelled.push_str(piece.chars());
    Text::spelled(spelled, true)
}

impl Carrier {
    pub(super) fn new(event: Node<'static>, slot: Slot) -> Carrier {
        Carrier { length: json::length(&event), event: Arc::new(event), slot }
    }

    /// Returns the same event with a different position of the text.
    pub(super) fn at(&self, slot: Slot) -> Carrier {
        Carrier { slot, ..self.clone() }
    }

    /// Returns the event with this text.
    pub(super) fn with(self, text: String) -> Node<'static> {
        let mut event = Arc::unwrap_or_clone(self.event);
        self.slot.set(&mut event, text);
        event
    }
}

/// Returns the node at a path.
pub(super) fn at<'n, 'a>(node: &'n Node<'a>, path: &[&'static str]) -> Option<&'n Node<'a>> {
    path.iter().try_fold(node, |node, key| node.get(*key))
}

/// Sets the node at a path.
pub(super) fn set<'a>(node: &mut Node<'a>, path: &[&'static str], value: Node<'a>) {
    match path {
        [] => {}
        [key] => node.set(key, value),
        [key, rest @ ..] => drop(node.visit(*key, |inner| set(inner, rest, value))),
    }
}

impl Slot {
    /// Puts text into the event.
    fn set(&self, event: &mut Node<'_>, text: String) {
        let text = Node::string(text);
        match self {
            Slot::Path(path) => set(event, path, text),
            Slot::Choice(number) => {
                let choice = Node::record([
                    ("index", Node::count(*number)),
                    ("delta", Node::record([("content", text)])),
                    ("finish_reason", Node::default()),
                ]);
                event.set("choices", Node::array(Vec::from([choice])));
            }
            Slot::Candidate(number) => {
                let parts = Node::array(Vec::from([Node::record([("text", text)])]));
                let content = Node::record([("parts", parts), ("role", Node::literal("model"))]);
                let candidate = Node::record([("content", content), ("index", Node::count(*number))]);
                event.set("candidates", Node::array(Vec::from([candidate])));
            }
        }
    }
}
