//! The calls of a stream whose arguments are held back: where their pieces belong, and how much is kept of them.

use alloc::{format, string::String, sync::Arc, vec::Vec};
use core::fmt::Write as _;

use super::call_sites;
use crate::{
    collections::Map,
    error::{Code, Error},
    json::{self, Node, Text},
    limits::MAX_HELD_BYTES,
};

/// What an open call costs beside its pieces, roughly: a stream that opens calls and never says a word in them must
/// end, too.
pub(super) const CALL: usize = 256;

/// The event of Bedrock Converse that carries a piece.
pub(super) const CONVERSE_DELTA: &str = "contentBlockDelta";

/// Where the pieces of a call say they belong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// The choice of a chunk of Chat Completions; `None` in other APIs.
    choice: Option<u64>,
    place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Number(u64),
    /// No whole number, and still a place of its own.
    Other(String),
}

impl Key {
    /// The place of a block (Anthropic) or of an item (Responses).
    pub(super) fn of(event: &Node<'_>) -> Key {
        let place =
            event.get("output_index").or_else(|| event.get("index")).and_then(Node::as_number).unwrap_or_default();
        if !place.is_empty() {
            return Key::at(place);
        }
        // Some servers name the item only.
        let id = event.get("item_id").or_else(|| event.get("item")?.get("id")).and_then(Node::as_text);
        let id = id.map(|id| format!("item {}", id.display())).unwrap_or_default();
        Key { choice: None, place: Place::Other(id) }
    }

    fn at(place: &str) -> Key {
        let place = place.parse().map_or_else(|_| Place::Other(place.into()), Place::Number);
        Key { choice: None, place }
    }

    /// The place of a block of Bedrock Converse, by its index.
    pub(super) fn of_block(index: Option<&Node<'_>>) -> Key {
        Key::at(index.and_then(Node::as_number).unwrap_or_default())
    }

    /// The place of an entry of `tool_calls`.
    pub(super) fn in_choice(choice: u64, index: u64) -> Key {
        Key { choice: Some(choice), place: Place::Number(index) }
    }
}

/// One call.
#[derive(Debug)]
pub(super) struct Held {
    /// The name that the API saw.
    pub(super) name: Text<'static>,
    /// The call's id.
    pub(super) id: Option<String>,
    pub(super) pieces: String,
    /// It is known already what became of its arguments.
    pub(super) is_told: bool,
    carrier: Option<Carrier>,
    /// The id under which another call may have begun in the same place.
    pub(super) next_id: Option<String>,
    scan: Scan,
    /// What it takes of the limit.
    cost: usize,
    /// What of that is for neither pieces nor carrier.
    base: usize,
}

/// How far JSON text goes, by its brackets.
#[derive(Clone, Copy, Debug, Default)]
struct Scan {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    /// The last bracket closed the first one, and nothing but spaces came after it.
    is_whole: bool,
}

impl Scan {
    fn feed(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.is_in_string => self.is_escaped = true,
                b'"' => self.is_in_string = !self.is_in_string,
                _ if self.is_in_string || byte.is_ascii_whitespace() => continue,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.is_whole = self.depth == 0 && matches!(byte, b'}' | b']');
        }
    }
}

/// An event that can carry the whole of the arguments in place of a piece.
#[derive(Debug)]
enum Carrier {
    /// The last piece's own.
    Event(Node<'static>),
    /// A chunk of Chat Completions without its choices. Calls that began in one chunk share it.
    Chunk(Arc<Node<'static>>, Key),
}

/// The open calls.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: Map<Key, Held>,
    /// How much is held back in all.
    cost: usize,
}

impl Calls {
    /// Opens a call; gives the one that was open in its place.
    ///
    /// # Errors
    /// `limit-exceeded`.
    pub(super) fn open(
        &mut self,
        key: Key,
        name: Text<'static>,
        id: Option<String>,
        is_told: bool,
    ) -> Result<Option<Held>, Error> {
        // What is refused has closed nothing.
        let base = CALL + id.as_ref().map_or(0, String::len);
        self.pay(base)?;
        let before = self.close(&key);
        let (pieces, scan) = (String::new(), Scan::default());
        let held = Held { name, id, pieces, is_told, carrier: None, next_id: None, scan, cost: base, base };
        self.open.insert(key, held);
        Ok(before)
    }

    /// Whether none is open.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// An open call.
    pub(super) fn get(&self, key: &Key) -> Option<&Held> {
        self.open.get(key)
    }

    /// Adds a piece to an open call.
    ///
    /// # Errors
    /// `limit-exceeded`; the piece is not kept then.
    pub(super) fn add(&mut self, key: &Key, piece: &Text<'_>) -> Result<(), Error> {
        let Some(held) = self.open.get_mut(key) else { return Ok(()) };
        let before = held.pieces.len();
        append(&mut held.pieces, piece);
        let cost = held.pieces.len() - before;
        if let Err(error) = pay(&mut self.cost, cost) {
            held.pieces.truncate(before);
            return Err(error);
        }
        held.cost += cost;
        held.scan.feed(held.pieces.get(before..).unwrap_or_default());
        Ok(())
    }

    /// Notes the id of a call that may have begun in the place of another one.
    pub(super) fn may_give_way(&mut self, key: &Key, id: Option<String>) {
        if let Some(held) = self.open.get_mut(key) {
            held.next_id = id.filter(|id| id.len() <= CALL);
        }
    }

    /// Keeps the event of a call's last piece, as it would have been passed on.
    ///
    /// # Errors
    /// `limit-exceeded`.
    pub(super) fn carry(&mut self, key: &Key, event: &Node<'_>) -> Result<(), Error> {
        let cost = json::length(event);
        self.set_carrier(key, cost, || Carrier::Event(event.detached()))
    }

    /// Makes, for calls that a chunk held back the first piece of, a chunk that could carry the whole.
    ///
    /// # Errors
    /// `limit-exceeded`.
    pub(super) fn carry_in_chunk(&mut self, keys: Vec<Key>, event: &Node<'_>) -> Result<(), Error> {
        let mut chunk = event.detached();
        chunk.remove("choices");
        let (cost, chunk) = (json::length(&chunk), Arc::new(chunk));
        for key in keys {
            self.set_carrier(&key, cost, || Carrier::Chunk(chunk.clone(), key.clone()))?;
        }
        Ok(())
    }

    fn set_carrier(&mut self, key: &Key, cost: usize, carrier: impl FnOnce() -> Carrier) -> Result<(), Error> {
        let Some(held) = self.open.get_mut(key) else { return Ok(()) };
        // What the event before this one cost is free again.
        let freed = held.cost - held.base - held.pieces.len();
        self.cost -= freed;
        held.cost -= freed;
        held.carrier = None;
        pay(&mut self.cost, cost)?;
        held.cost += cost;
        held.carrier = Some(carrier());
        Ok(())
    }

    /// Takes a call out.
    pub(super) fn close(&mut self, key: &Key) -> Option<Held> {
        let held = self.open.remove(key)?;
        self.cost -= held.cost;
        Some(held)
    }

    /// Takes all calls of a choice out, by their places.
    pub(super) fn close_choice(&mut self, choice: u64) -> Vec<(u64, Held)> {
        let mut closed = Vec::new();
        let first = Key::in_choice(choice, 0);
        while let Some(key) = self.open.first_key_from(&first).filter(|key| key.choice == Some(choice)).cloned() {
            if let (Place::Number(index), Some(held)) = (&key.place, self.close(&key)) {
                closed.push((*index, held));
            }
        }
        closed
    }

    /// Notes that it is known what became of the arguments of a call.
    pub(super) fn is_told(&mut self, key: &Key) {
        if let Some(held) = self.open.get_mut(key) {
            held.is_told = true;
        }
    }

    /// Takes all calls out.
    pub(super) fn close_all(&mut self) -> Vec<Held> {
        self.cost = 0;
        core::mem::take(&mut self.open).into_iter().map(|(_, held)| held).collect()
    }

    fn pay(&mut self, cost: usize) -> Result<(), Error> {
        pay(&mut self.cost, cost)
    }
}

pub(super) fn pay(paid: &mut usize, cost: usize) -> Result<(), Error> {
    let sum = paid.saturating_add(cost);
    if sum > MAX_HELD_BYTES {
        let message = format!("expected all open calls to take at most {MAX_HELD_BYTES} bytes, found more");
        return Err(Error::new(Code::LimitExceeded, "", message));
    }
    *paid = sum;
    Ok(())
}

impl Held {
    /// Whether its pieces are a whole value, by their brackets.
    pub(super) fn is_whole(&self) -> bool {
        self.scan.is_whole
    }

    /// The same, it being known or not what became of its arguments.
    pub(super) fn told(self, is_told: bool) -> Held {
        Held { is_told, ..self }
    }

    /// The same with an event to carry the arguments, if there was none.
    pub(super) fn beside(self, event: impl FnOnce() -> Node<'static>) -> Held {
        Held { carrier: self.carrier.or_else(|| Some(Carrier::Event(event()))), ..self }
    }

    /// The event that carries the arguments, if any were held back.
    pub(super) fn carried(self, whole: String) -> Option<Node<'static>> {
        let carrier = self.carrier?;
        if whole.is_empty() && matches!(carrier, Carrier::Chunk(..)) {
            return None;
        }
        match carrier {
            Carrier::Event(mut event) => {
                if event.get(CONVERSE_DELTA).is_some() {
                    event.visit(CONVERSE_DELTA, |block| {
                        block.visit("delta", |delta| {
                            delta.visit("toolUse", |call| call.set("input", Node::string(whole)))
                        })
                    });
                } else if event.get("delta").is_some_and(|delta| delta.as_text().is_some()) {
                    event.set("delta", Node::string(whole));
                } else {
                    event.visit("delta", |delta| delta.set("partial_json", Node::string(whole)));
                }
                Some(event)
            }
            Carrier::Chunk(chunk, Key { choice, place: Place::Number(index) }) => {
                let mut event = Node::clone(&chunk);
                let choice = Node::record([
                    ("index", Node::count(choice.unwrap_or_default())),
                    ("delta", Node::record([("tool_calls", Node::array(Vec::from([entry(index, whole)])))])),
                    ("finish_reason", Node::default()),
                ]);
                event.set("choices", Node::array(Vec::from([choice])));
                Some(event)
            }
            Carrier::Chunk(..) => None,
        }
    }
}

/// Gives calls their arguments in a chunk: in their entries, or in entries of their own. `calls` are sorted by their
/// places.
pub(super) fn put(delta: &mut Node<'_>, calls: Vec<(u64, String)>) {
    let mut missing: Map<u64, String> = calls.into_iter().collect();
    call_sites::each(delta, "tool_calls", &mut |call| {
        let Some(index) = call.get("index").and_then(Node::as_u64) else { return };
        call.visit("function", |function| {
            if let Some(whole) = missing.remove(&index) {
                function.set("arguments", Node::string(whole));
            }
        });
    });
    if missing.is_empty() {
        return;
    }
    if delta.get("tool_calls").and_then(Node::as_array).is_none() {
        delta.set("tool_calls", Node::array(Vec::new()));
    }
    let entries = missing.into_iter().map(|(index, whole)| entry(index, whole));
    delta.visit("tool_calls", |list| list.as_array_mut().map(|list| list.extend(entries)));
}

fn entry(index: u64, arguments: String) -> Node<'static> {
    Node::record([("index", Node::count(index)), ("function", Node::record([("arguments", Node::string(arguments))]))])
}

/// Appends a text; half a surrogate pair as its escape.
pub(super) fn append(pieces: &mut String, piece: &Text<'_>) {
    for point in piece.code_points() {
        match char::from_u32(point) {
            Some(one) => pieces.push(one),
            // Half of a surrogate pair, whose other half is in the next piece: inside JSON text its escape says the
            // same.
            None => {
                // Writing into a String cannot fail.
                let _ = write!(pieces, "\\u{point:04x}");
            }
        }
    }
}
