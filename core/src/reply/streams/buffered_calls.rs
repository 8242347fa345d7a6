//! Buffers the arguments of calls in a stream: assigns each piece to its call, and limits the size of the buffer.

use alloc::{format, string::String, sync::Arc, vec::Vec};
use core::fmt::Write as _;

use crate::{
    collections::Map,
    error::{Code, Error},
    json::{self, Node, Text},
    limits::MAX_HELD_BYTES,
    reply::{
        call_sites,
        streams::{
            brackets::Scan,
            unnumbered::{entry_id, CallNumber, Unnumbered},
        },
    },
    wire::{
        alternatives::{alternatives_of, Alternatives, PiecedCalls},
        events::{decode, set, Content, Key},
    },
};

pub(crate) use super::unnumbered::CALL;

/// One open call.
#[derive(Debug)]
pub(crate) struct BufferedCall {
    /// The tool's name as sent to the API.
    pub(crate) name: Text<'static>,
    pub(crate) id: Option<String>,
    /// The tool's name as the client knows it, if the entries of the call have neither an index nor an id.
    client_name: String,
    pub(crate) pieces: String,
    /// True if the call was already reported.
    pub(crate) is_reported: bool,
    carrier: Option<Carrier>,
    /// Id of another call that may have started under the same key.
    pub(crate) next_id: Option<String>,
    scan: Scan,
    /// Total cost counted against the limit.
    cost: usize,
    /// Cost of the call without its pieces and carrier.
    base: usize,
}

/// An event that can carry the complete arguments.
#[derive(Debug)]
enum Carrier {
    /// The event of the last piece.
    Event(Node<'static>),
    /// A chunk without its alternatives. Calls that began in one chunk share it.
    Chunk(Arc<Node<'static>>, Key, Chunks),
}

/// How the chunks of a stream contain calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunks {
    pub(crate) of: &'static Alternatives,
    pub(crate) calls: PiecedCalls,
}

impl Chunks {
    /// Returns how a chunk contains calls; `None` for an event that is not a chunk, or whose calls are whole.
    pub(crate) fn of(event: &Node<'_>) -> Option<Chunks> {
        let of = alternatives_of(event)?;
        Some(Chunks { of, calls: of.calls()? })
    }
}

#[derive(Debug, Default)]
pub(crate) struct Calls {
    open: Map<Key, BufferedCall>,
    /// Assigns the entries without an index in each choice, with its cost.
    unnumbered: Map<u64, (Unnumbered, usize)>,
    /// Total cost of all open calls.
    cost: usize,
}

impl Calls {
    /// Opens a call. Returns the call that was open under the same key.
    ///
    /// # Errors
    /// `limit-exceeded`.
    pub(crate) fn open(
        &mut self,
        key: Key,
        name: Text<'static>,
        id: Option<String>,
        is_reported: bool,
    ) -> Result<Option<BufferedCall>, Error> {
        // Charge the cost first, so that a call over the limit does not close another one.
        let base = CALL + id.as_ref().map_or(0, String::len);
        self.pay(base)?;
        let before = self.close(&key);
        let buffered = BufferedCall {
            name,
            id,
            client_name: String::new(),
            pieces: String::new(),
            is_reported,
            carrier: None,
            next_id: None,
            scan: Scan::default(),
            cost: base,
            base,
        };
        self.open.insert(key, buffered);
        Ok(before)
    }

    /// Returns true if no call is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.unnumbered.is_empty()
    }

    /// Returns the key of an entry of `tool_calls`. `position` is the index of the entry in the list.
    ///
    /// # Errors
    /// `limit-exceeded`.
    pub(crate) fn key_in_choice(&mut self, choice: u64, call: &Node<'_>, position: u64) -> Result<Key, Error> {
        if let Some(index) = call.u64_at("index") {
            return Ok(Key::in_choice(choice, index));
        }
        let is_index = self.open.contains_key(&Key::in_choice(choice, position));
        let number = self.in_choice(choice, |calls, pay| calls.number(call, position, is_index, pay))?;
        Ok(match number {
            CallNumber::Index(index) => Key::in_choice(choice, index),
            CallNumber::Unnumbered(number) => Key::unnumbered(choice, number),
        })
    }

    /// Records the index of an entry, because the next entry at its position may have none.
    ///
    /// # Errors
    /// `limit-exceeded`.
    pub(crate) fn record_index(&mut self, key: &Key, position: u64) -> Result<(), Error> {
        match (key.choice(), key.index()) {
            (Some(choice), Some(index)) => {
                self.in_choice(choice, |calls, pay| calls.record_index(index, position, pay))
            }
            _ => Ok(()),
        }
    }

    /// Edits the calls of a choice without an index. The second argument of `edit` pays for stored bytes.
    fn in_choice<R>(
        &mut self,
        choice: u64,
        edit: impl FnOnce(&mut Unnumbered, &mut dyn FnMut(usize) -> Result<(), Error>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        if !self.unnumbered.contains_key(&choice) {
            self.pay(CALL)?;
            self.unnumbered.insert(choice, (Unnumbered::default(), CALL));
        }
        let (unnumbered, paid) = self.unnumbered.entry(choice).or_default();
        let all = &mut self.cost;
        edit(unnumbered, &mut |cost| {
            pay(all, cost)?;
            *paid += cost;
            Ok(())
        })
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&BufferedCall> {
        self.open.get(key)
    }

    /// Adds a piece to an open call.
    ///
    /// # Errors
    /// `limit-exceeded`, in which case the piece is discarded.
    pub(crate) fn add(&mut self, key: &Key, piece: &Text<'_>) -> Result<(), Error> {
        let Some(buffered) = self.open.get_mut(key) else { return Ok(()) };
        let before = buffered.pieces.len();
        append(&mut buffered.pieces, piece);
        let cost = buffered.pieces.len() - before;
        if let Err(error) = pay(&mut self.cost, cost) {
            buffered.pieces.truncate(before);
            return Err(error);
        }
        buffered.cost += cost;
        buffered.scan.feed(buffered.pieces.get(before..).unwrap_or_default());
        Ok(())
    }

    /// Records the id of a call that may have begun under the same key.
    pub(crate) fn may_give_way(&mut self, key: &Key, id: Option<String>) {
        if let Some(buffered) = self.open.get_mut(key) {
            buffered.next_id = id.filter(|id| id.len() <= CALL);
        }
    }

    /// Sets the tool's name as the client knows it.
    pub(crate) fn set_client_name(&mut self, key: &Key, name: String) {
        if let Some(buffered) = self.open.get_mut(key) {
            buffered.client_name = name;
        }
    }

    /// Keeps the event of a call's last piece to carry the complete arguments.
    ///
    /// # Errors
    /// `limit-exceeded`.
    pub(crate) fn carry(&mut self, key: &Key, event: &Node<'_>) -> Result<(), Error> {
        let cost = json::length(event);
        self.set_carrier(key, cost, || Carrier::Event(event.detached()))
    }

    /// Makes a chunk that can carry the complete arguments, for calls whose first piece was in this chunk.
    ///
    /// # Errors
    /// `limit-exceeded`.
    pub(crate) fn carry_in_chunk(&mut self, keys: Vec<Key>, event: &Node<'_>, chunks: Chunks) -> Result<(), Error> {
        let chunk = chunks.of.without_output(event);
        let (cost, chunk) = (json::length(&chunk), Arc::new(chunk));
        for key in keys {
            self.set_carrier(&key, cost, || Carrier::Chunk(chunk.clone(), key.clone(), chunks))?;
        }
        Ok(())
    }

    fn set_carrier(&mut self, key: &Key, cost: usize, carrier: impl FnOnce() -> Carrier) -> Result<(), Error> {
        let Some(buffered) = self.open.get_mut(key) else { return Ok(()) };
        // Frees the cost of the previous carrier.
        let freed = buffered.cost - buffered.base - buffered.pieces.len();
        self.cost -= freed;
        buffered.cost -= freed;
        buffered.carrier = None;
        pay(&mut self.cost, cost)?;
        buffered.cost += cost;
        buffered.carrier = Some(carrier());
        Ok(())
    }

    /// Removes and returns a call.
    pub(crate) fn close(&mut self, key: &Key) -> Option<BufferedCall> {
        let buffered = self.open.remove(key)?;
        self.cost -= buffered.cost;
        Some(buffered)
    }

    /// Removes and returns all calls of a choice, sorted by key.
    pub(crate) fn close_choice(&mut self, choice: u64) -> Vec<(Key, BufferedCall)> {
        let mut closed = Vec::new();
        self.cost -= self.unnumbered.remove(&choice).map_or(0, |(_, paid)| paid);
        let first = Key::in_choice(choice, 0);
        while let Some(key) = self.open.first_key_from(&first).filter(|key| key.choice() == Some(choice)).cloned() {
            let Some(buffered) = self.close(&key) else { break };
            closed.push((key, buffered));
        }
        closed
    }

    /// Marks a call as reported.
    pub(crate) fn mark_reported(&mut self, key: &Key) {
        if let Some(buffered) = self.open.get_mut(key) {
            buffered.is_reported = true;
        }
    }

    /// Removes and returns all calls.
    pub(crate) fn close_all(&mut self) -> Vec<BufferedCall> {
        self.cost = 0;
        self.unnumbered = Map::new();
        core::mem::take(&mut self.open).into_iter().map(|(_, buffered)| buffered).collect()
    }

    fn pay(&mut self, cost: usize) -> Result<(), Error> {
        pay(&mut self.cost, cost)
    }
}

pub(crate) fn pay(paid: &mut usize, cost: usize) -> Result<(), Error> {
    let sum = paid.saturating_add(cost);
    if sum > MAX_HELD_BYTES {
        let message = format!("expected at most {MAX_HELD_BYTES} bytes of buffered calls and text, found more");
        return Err(Error::new(Code::LimitExceeded, "", message));
    }
    *paid = sum;
    Ok(())
}

impl BufferedCall {
    /// Returns the entry of a chunk with the restored arguments of this call.
    pub(crate) fn entry(self, key: &Key, whole: String) -> Entry {
        Entry { identity: Identity::of(key, self.id, self.client_name), whole }
    }

    /// Returns true if the pieces form a complete value, as far as their brackets show.
    pub(crate) fn is_whole(&self) -> bool {
        self.scan.is_whole
    }

    /// Sets whether the call was already reported.
    pub(crate) fn reported(self, is_reported: bool) -> BufferedCall {
        BufferedCall { is_reported, ..self }
    }

    /// Sets the event that carries the arguments, unless the call already has one.
    pub(crate) fn beside(self, event: impl FnOnce() -> Option<Node<'static>>) -> BufferedCall {
        BufferedCall { carrier: self.carrier.or_else(|| event().map(Carrier::Event)), ..self }
    }

    /// Returns the event that carries the arguments, with the complete arguments in it, if there is one.
    pub(crate) fn carried(self, whole: String) -> Option<Node<'static>> {
        let carrier = self.carrier?;
        if whole.is_empty() && matches!(carrier, Carrier::Chunk(..)) {
            return None;
        }
        match carrier {
            Carrier::Event(mut event) => {
                if let Some(path) = decode(&event).and_then(|cursor| cursor.piece(&event, Content::Arguments)) {
                    set(&mut event, path, Node::string(whole));
                }
                Some(event)
            }
            Carrier::Chunk(chunk, key, chunks) => {
                let mut event = Node::clone(&chunk);
                let entry = Entry { identity: Identity::of(&key, self.id, self.client_name), whole };
                let entries = Vec::from([entry.written(chunks.calls)]);
                chunks.of.set_units(&mut event, key.choice().unwrap_or_default(), entries);
                Some(event)
            }
        }
    }
}

/// The member by which a client assigns an entry of `tool_calls` to its call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    Index(u64),
    Id(String),
    /// The tool's name, for a server that sends neither an index nor an id.
    Name(String),
}

impl Identity {
    fn of(key: &Key, id: Option<String>, name: String) -> Identity {
        match (key.index(), id) {
            (Some(index), _) => Identity::Index(index),
            (_, Some(id)) => Identity::Id(id),
            (_, None) => Identity::Name(name),
        }
    }

    /// Returns the identity of an entry that a chunk already contains.
    fn of_entry(call: &Node<'_>, calls: PiecedCalls) -> Option<Identity> {
        let text = |text: &Text<'_>| text.display().into_owned();
        if let Some(index) = call.u64_at("index") {
            return Some(Identity::Index(index));
        }
        let id = entry_id(call).map(|id| Identity::Id(text(&id)));
        id.or_else(|| Some(Identity::Name(text(calls.of(call)?.text_at(calls.name())?))))
    }
}

/// An entry of a chunk with the restored arguments of a call.
pub(crate) struct Entry {
    identity: Identity,
    whole: String,
}

impl Entry {
    fn written(self, calls: PiecedCalls) -> Node<'static> {
        let arguments = (calls.arguments(), Node::string(self.whole));
        match self.identity {
            Identity::Index(index) => calls.entry(Some(("index", Node::count(index))), Node::record([arguments])),
            Identity::Id(id) => calls.entry(Some(("id", Node::string(id))), Node::record([arguments])),
            Identity::Name(name) => calls.entry(None, Node::record([(calls.name(), Node::string(name)), arguments])),
        }
    }
}

/// Puts the arguments of calls into a chunk: into their existing entries, or into new entries in this order.
pub(crate) fn put(part: &mut Node<'_>, entries: Vec<Entry>, chunks: Chunks) {
    let (list, calls) = (chunks.of.units, chunks.calls);
    let mut places: Map<Identity, usize> = Map::new();
    for (at, entry) in entries.iter().enumerate() {
        places.entry(entry.identity.clone()).or_insert(at);
    }
    let mut missing: Vec<Option<Entry>> = entries.into_iter().map(Some).collect();
    call_sites::each(part, list, &mut |call| {
        let place = Identity::of_entry(call, calls).and_then(|identity| places.get(&identity).copied());
        calls.edit(call, |function| {
            if let Some(entry) = place.and_then(|place| missing.get_mut(place)?.take()) {
                function.set(calls.arguments(), Node::string(entry.whole));
            }
        });
    });
    let entries: Vec<Node<'static>> = missing.into_iter().flatten().map(|entry| entry.written(calls)).collect();
    if entries.is_empty() {
        return;
    }
    if part.array_at(list).is_none() {
        part.set(list, Node::array(Vec::new()));
    }
    part.visit(list, |list| list.as_array_mut().map(|list| list.extend(entries)));
}

/// Appends text. A lone surrogate is written as an escape.
pub(crate) fn append(pieces: &mut String, piece: &Text<'_>) {
    for point in piece.code_points() {
        match char::from_u32(point) {
            Some(one) => pieces.push(one),
            // Half of a surrogate pair, whose other half is in the next piece. In JSON text, the escape is equivalent.
            None => {
                // Writing into a `String` cannot fail.
                let _ = write!(pieces, "\\u{point:04x}");
            }
        }
    }
}
