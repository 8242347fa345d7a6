//! Buffers the text parts of a stream until they end. Restores an answer that is spread over adjacent parts. Finds the
//! text part of an event, in APIs whose text consists of blocks, parts or steps.
//!
//! After a part that is truncated JSON, all events of text parts are buffered until another event arrives. The whole
//! answer is then put into the first part, as in a whole reply.

use alloc::{string::String, sync::Arc, vec::Vec};

use super::buffered_calls::{append, pay, CALL};
use crate::{
    collections::Map,
    error::Error,
    json::{self, Node, Text},
    reply::answer::text::{is_bare_block, restore_run, Beginning, Restores, TextRestorer},
    wire::{
        alternatives::Alternatives,
        events::{at, decode, set, Content, Key, KnownEvent, Meaning, Path},
        reply::is_text_part,
    },
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Begins(TextKey),
    /// The event contains a piece of the text, at this path.
    GoesOn(TextKey, Path),
    Ends(TextKey),
    Ping,
    Other,
}

pub(crate) fn step_of(event: &Node<'_>) -> Step {
    let Some(known_event) = decode(event) else { return Step::Other };
    if let Some((key, path)) = text_at(known_event, event) {
        return Step::GoesOn(key, path);
    }
    match known_event.meaning() {
        Meaning::KeepAlive => Step::Ping,
        Meaning::Begin | Meaning::BeginPart
            if known_event.is_text() && known_event.unit(event).is_some_and(is_text_part) =>
        {
            Step::Begins(text_key(known_event, event))
        }
        Meaning::End | Meaning::EndPart if known_event.is_text() => Step::Ends(text_key(known_event, event)),
        _ => Step::Other,
    }
}

/// Returns `None` unless the event contains only a piece of a text.
pub(crate) fn delta_of(event: &Node<'_>) -> Option<(TextKey, Path)> {
    text_at(decode(event)?, event)
}

fn text_at(known_event: KnownEvent, event: &Node<'_>) -> Option<(TextKey, Path)> {
    let path = known_event.piece(event, Content::Text)?;
    Some((text_key(known_event, event), path))
}

pub(crate) fn text_key(known_event: KnownEvent, event: &Node<'_>) -> TextKey {
    TextKey { block: known_event.key(event), part: event.u64_at("content_index").unwrap_or_default() }
}

#[derive(Debug, Default)]
pub(crate) struct Texts {
    open: Map<TextKey, BufferedText>,
    cost: usize,
}

/// Key of a text part: its block or choice, and its index there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TextKey {
    pub(crate) block: Key,
    pub(crate) part: u64,
}

#[derive(Debug)]
pub(crate) struct BufferedText {
    beginning: Beginning,
    /// True if the text need not be restored. All of it is then passed on.
    passes: bool,
    pub(crate) pieces: String,
    pub(crate) template: Option<EventTemplate>,
    cost: usize,
}

/// An event to send with a whole text part. All parts of an event share one template.
#[derive(Clone, Debug)]
pub(crate) struct EventTemplate {
    event: Arc<Node<'static>>,
    location: TextLocation,
    length: usize,
}

pub(crate) enum Piece {
    Same,
    /// The piece is passed on together with the buffered text before it.
    Text(Text<'static>),
    BufferedText,
}

#[derive(Clone, Debug)]
pub(crate) enum TextLocation {
    /// Names of the members that point to the text.
    Path(Path),
    /// The alternative with this number, in a chunk.
    Alternative(&'static Alternatives, u64),
}

impl Texts {
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// # Errors
    /// `limit-exceeded`, in which case the piece is discarded.
    pub(crate) fn piece(
        &mut self,
        key: &TextKey,
        piece: &Text<'_>,
        restores: Restores,
        template: impl FnOnce() -> EventTemplate,
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
        // Until it is decided whether the text may have to be restored, only whitespace and the opening of a fence are
        // buffered.
        if buffered.beginning.feed(buffered.pieces.get(before..).unwrap_or_default()) == Some(false) {
            buffered.passes = true;
            self.cost -= buffered.cost - CALL;
            buffered.cost = CALL;
            buffered.template = None;
            let mut space = core::mem::take(&mut buffered.pieces);
            space.truncate(before);
            return Ok(if space.is_empty() { Piece::Same } else { Piece::Text(prepend_space(space, piece)) });
        }
        let template = template();
        let cost = CALL + buffered.pieces.len() + template.length;
        let mut total = self.cost - buffered.cost;
        if let Err(error) = pay(&mut total, cost) {
            buffered.pieces.truncate(before);
            return Err(error);
        }
        (self.cost, buffered.cost, buffered.template) = (total, cost, Some(template));
        Ok(Piece::BufferedText)
    }

    pub(crate) fn pieces(&self, key: &TextKey) -> Option<&str> {
        self.open.get(key).filter(|buffered| !buffered.passes).map(|buffered| buffered.pieces.as_str())
    }

    pub(crate) fn close(&mut self, key: &TextKey) -> Option<BufferedText> {
        let buffered = self.open.remove(key)?;
        self.cost -= buffered.cost;
        Some(buffered)
    }

    /// Closes the texts of a block, or of all blocks. The result is in order.
    pub(crate) fn close_all(&mut self, block: Option<&Key>) -> Vec<BufferedText> {
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
        BufferedText { beginning, passes: false, pieces, template: None, cost: CALL }
    }
}

/// Returns buffered whitespace, or the opening of a fence, followed by a piece. Unpaired surrogates are preserved.
fn prepend_space(mut space: String, piece: &Text<'_>) -> Text<'static> {
    if let Some(value) = piece.value() {
        space.push_str(&value);
        return Text::new(space);
    }
    let mut spelled = String::new();
    for letter in space.chars() {
        match letter {
            '\n' => spelled.push_str("\\n"),
            '\r' => spelled.push_str("\\r"),
            '\t' => spelled.push_str("\\t"),
            // The form feed is the only other control character that can be buffered.
            '\u{c}' => spelled.push_str("\\f"),
            letter => spelled.push(letter),
        }
    }
    spelled.push_str(piece.chars());
    Text::spelled(spelled, true)
}

impl EventTemplate {
    pub(crate) fn new(event: Node<'static>, location: TextLocation) -> EventTemplate {
        EventTemplate { length: json::length(&event), event: Arc::new(event), location }
    }

    pub(crate) const fn length(&self) -> usize {
        self.length
    }

    pub(crate) fn at(&self, location: TextLocation) -> EventTemplate {
        EventTemplate { location, ..self.clone() }
    }

    pub(crate) fn with(self, text: String) -> Node<'static> {
        let mut event = Arc::unwrap_or_clone(self.event);
        self.location.set(&mut event, text);
        event
    }
}

impl TextLocation {
    fn set(&self, event: &mut Node<'_>, text: String) {
        match self {
            TextLocation::Path(path) => set(event, path, Node::string(text)),
            TextLocation::Alternative(alternatives, number) => alternatives.set_text(event, *number, text),
        }
    }
}

/// Adjacent text parts. All parts except the last part have ended.
#[derive(Debug)]
pub(crate) struct Run {
    texts: Vec<Part>,
    /// Key of the last part, to which further pieces may belong.
    last: TextKey,
    is_open: bool,
    /// The start and end events of the parts, each with the index of its part.
    events: Vec<(Node<'static>, usize)>,
    cost: usize,
}

#[derive(Debug, Default)]
struct Part {
    text: String,
    template: Option<EventTemplate>,
    /// Index of the block that is removed if its text moves into another block.
    bare: Option<u64>,
}

pub(crate) struct Released {
    pub(crate) events: Vec<Node<'static>>,
    pub(crate) gone: Vec<u64>,
}

impl Run {
    /// Starts a run with a truncated text part, and the event that ends this part.
    pub(crate) fn new(buffered: BufferedText, key: TextKey, end: &Node<'_>) -> Run {
        let first = Part { text: buffered.pieces, template: buffered.template, bare: None };
        let events = Vec::from([(end.detached(), 0)]);
        Run { texts: Vec::from([first]), last: key, is_open: false, events, cost: 0 }
    }

    /// Adds an event. Returns false if the run ends before this event.
    pub(crate) fn take(&mut self, event: &Node<'_>, template: impl FnOnce() -> EventTemplate) -> Result<bool, Error> {
        let number = self.texts.len().saturating_sub(1);
        match step_of(event) {
            // Texts of Converse start with their first piece.
            Step::GoesOn(key, path) => {
                if key != self.last {
                    if self.is_open || !decode(event).is_some_and(KnownEvent::begins_without_event) {
                        return Ok(false);
                    }
                    (self.last, self.is_open) = (key, true);
                    self.texts.push(Part::default());
                } else if !self.is_open {
                    return Ok(false);
                }
                let piece = at(event, path).and_then(Node::as_text);
                pay(&mut self.cost, piece.map_or(0, |piece| piece.chars().len()))?;
                let Some(part) = self.texts.last_mut() else { return Ok(false) };
                piece.into_iter().for_each(|piece| append(&mut part.text, piece));
                part.template = Some(template());
            }
            Step::Begins(key) if !self.is_open && key != self.last && self.may_begin(&key, event) => {
                pay(&mut self.cost, json::length(event))?;
                (self.last, self.is_open) = (key, true);
                let known_event = decode(event).filter(|known_event| known_event.may_be_removed());
                let known_event = known_event.filter(|known_event| known_event.unit(event).is_some_and(is_bare_block));
                let bare = known_event.and_then(|known_event| known_event.number(event));
                self.texts.push(Part { bare, ..Part::default() });
                self.events.push((event.detached(), number + 1));
            }
            Step::Ends(key) if key == self.last => {
                pay(&mut self.cost, json::length(event))?;
                self.is_open = false;
                self.events.push((event.detached(), number));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns true if an event may start the text that follows the last text. The event must not have text yet. A part
    /// of Responses must be in the item of the last text.
    fn may_begin(&self, key: &TextKey, event: &Node<'_>) -> bool {
        let Some(known_event) = decode(event) else { return false };
        let is_empty = known_event
            .unit(event)
            .and_then(|unit| unit.get("text"))
            .is_none_or(|text| text.is_null() || text.is_text(""));
        is_empty && (known_event.meaning() != Meaning::BeginPart || key.block == self.last.block)
    }

    /// Puts the whole answer into the first part.
    pub(crate) fn release(self, restorer: TextRestorer<'_>) -> Released {
        let texts: Vec<&str> = self.texts.iter().map(|part| part.text.as_str()).collect();
        let mut new = restore_run(&texts, restorer, true).into_iter();
        let mut parts: Vec<(Part, Option<String>)> = Vec::new();
        for part in self.texts {
            parts.push((part, new.next().flatten()));
        }
        let is_gone = |part: &Part, new: &Option<String>| part.bare.is_some() && new.as_deref() == Some("");
        let gone = parts.iter().filter(|(part, new)| is_gone(part, new)).filter_map(|(part, _)| part.bare).collect();
        let mut events = Vec::new();
        for (mut event, number) in self.events {
            let Some((part, new)) = parts.get_mut(number) else { continue };
            if is_gone(part, new) {
                continue;
            }
            if let Step::Ends(_) = step_of(&event) {
                events.extend(part.piece(new.as_deref()));
                if let Some(text) = new {
                    decode(&event).into_iter().for_each(|known_event| known_event.set_repeated(&mut event, text));
                }
            }
            events.push(event);
        }
        for (part, new) in &mut parts {
            events.extend(part.piece(new.as_deref()));
        }
        Released { events, gone }
    }
}

impl Part {
    fn piece(&mut self, new: Option<&str>) -> Option<Node<'static>> {
        let template = self.template.take()?;
        let text = new.unwrap_or(&self.text);
        (!text.is_empty()).then(|| template.with(text.into()))
    }
}
