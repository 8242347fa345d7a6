//! Buffers the arguments of calls in a stream: assigns each piece to its call, and limits the size of the buffer.

use alloc::{format, string::String, sync::Arc, vec::Vec};
use core::fmt::Write as _;

use crate::{
    collections::Map,
    error::{Code, Error},
    json::{self, Node, Text},
    limits::MAX_HELD_BYTES,
    reply::call_sites,
    wire::{
        alternatives::{alternatives_of, Alternatives, PiecedCalls},
        events::{decode, set, Content, Key},
    },
};

/// Approximate cost of a call without its id, name and arguments. A stream that only opens calls therefore also reaches
/// the limit.
pub(crate) const CALL: usize = 256;

#[derive(Debug)]
pub(crate) struct BufferedCall {
    /// The tool's name as sent to the API.
    pub(crate) name: Text<'static>,
    pub(crate) id: Option<String>,
    pub(crate) pieces: String,
    pub(crate) is_reported: bool,
    template: Option<EventTemplate>,
    /// Total that is charged against the limit.
    cost: usize,
    /// Cost of the call without its pieces and template.
    base: usize,
}

/// An event to send with the complete arguments.
#[derive(Debug)]
enum EventTemplate {
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
    pub(crate) fn of(event: &Node<'_>) -> Option<Chunks> {
        let of = alternatives_of(event)?;
        Some(Chunks { of, calls: of.calls()? })
    }
}

#[derive(Debug, Default)]
pub(crate) struct Calls {
    open: Map<Key, BufferedCall>,
    cost: usize,
}

impl Calls {
    /// Starts buffering a call. Returns the call that this key identified before.
    pub(crate) fn open(
        &mut self,
        key: Key,
        name: Text<'static>,
        id: Option<String>,
        is_reported: bool,
    ) -> Result<Option<BufferedCall>, Error> {
        // Charges the cost first, so that a call over the limit does not close another call.
        let base = CALL + id.as_ref().map_or(0, String::len);
        self.pay(base)?;
        let before = self.close(&key);
        let buffered = BufferedCall { name, id, pieces: String::new(), is_reported, template: None, cost: base, base };
        self.open.insert(key, buffered);
        Ok(before)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&BufferedCall> {
        self.open.get(key)
    }

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
        Ok(())
    }

    /// Keeps the event of a call's last piece: it is sent with the complete arguments.
    pub(crate) fn keep_template(&mut self, key: &Key, event: &Node<'_>) -> Result<(), Error> {
        let cost = json::length(event);
        self.set_template(key, cost, || EventTemplate::Event(event.detached()))
    }

    /// Keeps a chunk without its output for the calls `keys`, which began in it.
    pub(crate) fn keep_chunk_template(
        &mut self,
        keys: Vec<Key>,
        event: &Node<'_>,
        chunks: Chunks,
    ) -> Result<(), Error> {
        let chunk = chunks.of.without_output(event);
        let (cost, chunk) = (json::length(&chunk), Arc::new(chunk));
        for key in keys {
            self.set_template(&key, cost, || EventTemplate::Chunk(chunk.clone(), key.clone(), chunks))?;
        }
        Ok(())
    }

    fn set_template(&mut self, key: &Key, cost: usize, template: impl FnOnce() -> EventTemplate) -> Result<(), Error> {
        let Some(buffered) = self.open.get_mut(key) else { return Ok(()) };
        // Frees the cost of the previous template.
        let freed = buffered.cost - buffered.base - buffered.pieces.len();
        self.cost -= freed;
        buffered.cost -= freed;
        buffered.template = None;
        pay(&mut self.cost, cost)?;
        buffered.cost += cost;
        buffered.template = Some(template());
        Ok(())
    }

    pub(crate) fn close(&mut self, key: &Key) -> Option<BufferedCall> {
        let buffered = self.open.remove(key)?;
        self.cost -= buffered.cost;
        Some(buffered)
    }

    /// Closes the calls of a choice. The result is sorted by key.
    pub(crate) fn close_choice(&mut self, choice: u64) -> Vec<(Key, BufferedCall)> {
        let mut closed = Vec::new();
        let first = Key::in_choice(choice, 0);
        while let Some(key) = self.open.first_key_from(&first).filter(|key| key.choice() == Some(choice)).cloned() {
            let Some(buffered) = self.close(&key) else { break };
            closed.push((key, buffered));
        }
        closed
    }

    pub(crate) fn close_all(&mut self) -> Vec<BufferedCall> {
        self.cost = 0;
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
    pub(crate) fn entry(key: &Key, whole: String) -> Entry {
        Entry { index: key.index().unwrap_or_default(), whole }
    }

    pub(crate) const fn has_template(&self) -> bool {
        self.template.is_some()
    }

    pub(crate) fn with_reported(self, is_reported: bool) -> BufferedCall {
        BufferedCall { is_reported, ..self }
    }

    pub(crate) fn with_template(self, event: impl FnOnce() -> Option<Node<'static>>) -> BufferedCall {
        BufferedCall { template: self.template.or_else(|| event().map(EventTemplate::Event)), ..self }
    }

    pub(crate) fn into_event(self, whole: String) -> Option<Node<'static>> {
        let template = self.template?;
        if whole.is_empty() && matches!(template, EventTemplate::Chunk(..)) {
            return None;
        }
        match template {
            EventTemplate::Event(mut event) => {
                if let Some(path) = decode(&event).and_then(|known_event| known_event.piece(&event, Content::Arguments))
                {
                    set(&mut event, path, Node::string(whole));
                }
                Some(event)
            }
            EventTemplate::Chunk(chunk, key, chunks) => {
                let mut event = Node::clone(&chunk);
                let entries = Vec::from([BufferedCall::entry(&key, whole).write(chunks.calls)]);
                chunks.of.set_units(&mut event, key.choice().unwrap_or_default(), entries);
                Some(event)
            }
        }
    }
}

/// An entry of a chunk with the restored arguments of a call.
pub(crate) struct Entry {
    index: u64,
    whole: String,
}

impl Entry {
    fn write(self, calls: PiecedCalls) -> Node<'static> {
        let arguments = (calls.arguments(), Node::string(self.whole));
        calls.entry(Some((calls.index(), Node::count(self.index))), Node::record([arguments]))
    }
}

/// Puts the arguments of calls into a chunk: into their existing entries, or into new entries in this order.
pub(crate) fn put(part: &mut Node<'_>, entries: Vec<Entry>, chunks: Chunks) {
    let (list, calls) = (chunks.of.units, chunks.calls);
    let indices: Map<u64, usize> = entries.iter().enumerate().map(|(at, entry)| (entry.index, at)).collect();
    let mut missing: Vec<Option<Entry>> = entries.into_iter().map(Some).collect();
    call_sites::each(part, list, &mut |call| {
        let index = calls.index_of(call).and_then(|index| indices.get(&index).copied());
        calls.edit(call, |function| {
            if let Some(entry) = index.and_then(|index| missing.get_mut(index)?.take()) {
                function.set(calls.arguments(), Node::string(entry.whole));
            }
        });
    });
    let entries: Vec<Node<'static>> = missing.into_iter().flatten().map(|entry| entry.write(calls)).collect();
    if entries.is_empty() {
        return;
    }
    if part.array_at(list).is_none() {
        part.set(list, Node::array(Vec::new()));
    }
    part.visit(list, |list| list.as_array_mut().map(|list| list.extend(entries)));
}

/// Appends a piece. A lone surrogate is written as an escape.
pub(crate) fn append(pieces: &mut String, piece: &Text<'_>) {
    for point in piece.code_points() {
        match char::from_u32(point) {
            Some(letter) => pieces.push(letter),
            // Half of a surrogate pair. The next piece has the other half. In JSON text, the escape is equivalent.
            None => {
                // Writing into a `String` cannot fail.
                let _ = write!(pieces, "\\u{point:04x}");
            }
        }
    }
}
