//! Rewrites the calls of a stream of chunks as OpenAI's own servers send them, before the calls are restored. Each call
//! has a separate index and an id. Only the first entry of a call has the name and the id, and each entry continues the
//! arguments. Entries that already have this form remain unchanged.
//!
//! How a server sends calls is learned from its entries:
//!
//! - An entry without an index belongs to the call with its id, or to the last call at its position in the list.
//! - If two calls have one index, another name begins a call. Another id begins a call if the earlier arguments are
//!   complete, because some servers send a new id with every piece of a call.
//! - An entry with a new index, but without a name and an id, belongs to the call that is still open.
//! - A call without an id gets one, because clients refuse it otherwise.
//!
//! Sources: openai-python#3246 (no index), pi#8861, maka#1976, rig#1443, vercel/ai#18440 (one index), dirac#215 (wrong
//! index), bifrost#1829 (name in each piece), openai-node 6 `ChatCompletionStream` (refuses a call without an id).

use alloc::{string::String, vec::Vec};

use super::{
    buffered_calls::{append, Chunks, CALL},
    snapshots::{Arguments, Sends},
};
use crate::{
    collections::{Map, Set},
    json::{self, Node, Text},
    limits::MAX_HELD_BYTES,
    names::digest,
    report::AnswerChange,
    wire::{alternatives::PiecedCalls, reply},
};

/// Maximum number of stored bytes. Later calls remain unchanged.
const MAX_BYTES: usize = MAX_HELD_BYTES / 4;

/// Number of positions in a list for which the last call is stored.
const POSITIONS: u64 = 4096;

/// Number of recent calls among which the open call is searched, for an entry without an index, a name and an id.
const MAX_OPEN: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct ChunkCalls {
    choices: Map<u64, Choice>,
    /// Id of the reply that the calls belong to.
    reply: Option<Text<'static>>,
    /// Number of choices that have not ended.
    open: usize,
    /// Number of stored bytes.
    cost: usize,
    sends: Option<Sends>,
    /// Choices that hold arguments since the current event.
    holding: Vec<u64>,
    changes: Vec<AnswerChange>,
}

#[derive(Debug, Default)]
struct Choice {
    calls: Vec<Call>,
    /// The last call with each index of the server.
    by_index: Map<u64, usize>,
    by_id: Map<String, usize>,
    /// The last call at each position of the list.
    at_position: Map<u64, usize>,
    /// The indices that the client knows.
    indices: Set<u64>,
    next_index: u64,
    /// The call of the last entry.
    last: usize,
    /// True if the server sends a new id with every piece.
    renews_ids: bool,
    is_open: bool,
    /// The calls that began or held arguments since the last end.
    held: Vec<usize>,
    template: Option<(Node<'static>, Chunks)>,
}

#[derive(Debug)]
struct Call {
    index: u64,
    name: String,
    /// The first id that the server sent for this call.
    id: Option<String>,
    arguments: Arguments,
    /// Id of another call that may have begun under the same index.
    next_id: Option<String>,
    /// True if the client knows an id of this call.
    has_id: bool,
    /// False for a call of a `custom` tool.
    is_function: bool,
}

struct Entry {
    index: Option<u64>,
    position: u64,
    id: Option<String>,
    name: Option<String>,
    /// The piece of the arguments; `None` for the input of a `custom` tool.
    piece: Option<String>,
    is_value: bool,
}

/// Returns true for the name of a listed tool.
type IsTool<'t> = &'t dyn Fn(&str) -> bool;

enum Owner {
    Known(usize),
    New { name: Option<String>, id: Option<String>, replaces: Option<usize> },
}

fn non_empty(text: &Text<'_>) -> Option<String> {
    Some(text.display().into_owned()).filter(|text| !text.is_empty())
}

impl Entry {
    fn read(entry: &Node<'_>, position: u64, calls: PiecedCalls) -> Entry {
        let name = calls.any_of(entry).and_then(|inner| inner.text_at(calls.name())).and_then(non_empty);
        let arguments = calls.arguments_of(entry);
        let is_value = arguments.is_some_and(|arguments| arguments.as_object().is_some());
        let piece = calls.of(entry).map(|_| match arguments.and_then(Node::as_text) {
            Some(text) => {
                let mut piece = String::new();
                append(&mut piece, text);
                piece
            }
            None => arguments.filter(|_| is_value).map(json::write).unwrap_or_default(),
        });
        let (index, id) = (calls.index_of(entry), calls.id_of(entry).and_then(non_empty));
        Entry { index, position, id, name, piece, is_value }
    }

    fn begins_arguments(&self) -> bool {
        !self.is_empty_value() && self.piece.as_ref().is_some_and(|piece| piece.trim_start().starts_with('{'))
    }

    fn is_blank(&self) -> bool {
        self.is_empty_value() || self.piece.as_ref().is_none_or(|piece| piece.trim().is_empty())
    }

    fn is_empty_value(&self) -> bool {
        self.is_value && self.piece.as_deref() == Some("{}")
    }

    fn is_named(&self) -> bool {
        self.name.is_some() || self.id.is_some()
    }
}

impl Choice {
    /// Returns the call to which an entry belongs. `is_tool` returns true for the name of a listed tool.
    fn owner(&mut self, entry: &Entry, is_tool: IsTool<'_>) -> Owner {
        let by_id = entry.id.as_ref().and_then(|id| self.by_id.get(id).copied());
        let current = match entry.index {
            Some(index) => self.by_index.get(&index).copied(),
            None => by_id.or_else(|| self.at(entry.position, entry)),
        };
        if let Some(current) = current {
            return self.owner_of_continued_call(current, by_id, entry, is_tool);
        }
        let begins = Owner::New { name: None, id: None, replaces: None };
        if !entry.is_named() {
            let last = (!self.calls.is_empty() && entry.is_blank()).then_some(self.last);
            return self.open_call().or(last).map_or(begins, Owner::Known);
        }
        // The index of the entry may be wrong.
        let candidate = by_id.or_else(|| self.open_call().filter(|_| entry.name.is_none() && !entry.is_blank()));
        let continues = |call: &Call| {
            let is_same_name = entry.name.as_ref().is_none_or(|name| *name == call.name);
            is_same_name && !call.arguments.is_whole() && !entry.begins_arguments()
        };
        let candidate = candidate.filter(|at| self.calls.get(*at).is_some_and(continues));
        candidate.map_or(begins, Owner::Known)
    }

    fn at(&self, position: u64, entry: &Entry) -> Option<usize> {
        let last = self.at_position.get(&position).copied();
        let by_position = || self.by_index.get(&position).copied().filter(|_| entry.name.is_none());
        let last = last.or_else(by_position)?;
        let is_whole = self.calls.get(last).is_some_and(|call| call.arguments.is_whole());
        let is_for_open = is_whole && !entry.is_named() && !entry.is_blank();
        self.open_call().filter(|_| is_for_open).or(Some(last))
    }

    fn open_call(&self) -> Option<usize> {
        let is_open = |at: &usize| self.calls.get(*at).is_some_and(|call| !call.arguments.is_whole());
        Some(self.last).filter(is_open).or_else(|| (0..self.calls.len()).rev().take(MAX_OPEN).find(is_open))
    }

    /// Returns the call to which an entry belongs, if `current` is the last call with its index or at its position.
    fn owner_of_continued_call(
        &mut self,
        current: usize,
        by_id: Option<usize>,
        entry: &Entry,
        is_tool: IsTool<'_>,
    ) -> Owner {
        let is_numbered = entry.index.is_some();
        let renews_ids = self.renews_ids;
        let is_named = |call: &Call| entry.name.as_ref().is_none_or(|name| call.name.is_empty() || *name == call.name);
        if let Some(of_id) = by_id.filter(|of_id| self.calls.get(*of_id).is_some_and(is_named)) {
            return Owner::Known(of_id);
        }
        let Some(call) = self.calls.get_mut(current) else { return Owner::Known(current) };
        let replaces = Some(current).filter(|_| is_numbered);
        if !is_named(call) {
            // The name may come in pieces.
            let is_piece = entry.is_blank() && call.arguments.is_empty() && entry.id.is_none();
            let is_piece = is_piece && entry.name.as_ref().is_some_and(|name| !is_tool(name)) && !is_tool(&call.name);
            return if is_piece && is_numbered {
                Owner::Known(current)
            } else {
                Owner::New { name: None, id: None, replaces }
            };
        }
        let is_over = call.arguments.is_whole();
        let name = entry.name.is_none().then(|| call.name.clone());
        if let Some(id) = &entry.id {
            if by_id.is_none() && is_over {
                if entry.begins_arguments() || (entry.is_blank() && entry.name.is_some() && !renews_ids) {
                    return Owner::New { name, id: None, replaces };
                }
                call.next_id = Some(id.clone()).filter(|id| entry.is_blank() && id.len() <= CALL);
            } else if by_id.is_none() && call.id.is_some() && !entry.is_blank() {
                self.renews_ids = true;
            }
            return Owner::Known(current);
        }
        if is_over && entry.begins_arguments() {
            if let Some(id) = call.next_id.take() {
                return Owner::New { name, id: Some(id), replaces };
            }
            // Without ids, equal calls with one index are a single call that the server repeats.
            let is_repeated = is_numbered && entry.piece.as_ref().is_some_and(|piece| call.arguments.equals(piece));
            if entry.name.is_some() && !is_repeated {
                return Owner::New { name: None, id: None, replaces };
            }
        }
        Owner::Known(current)
    }

    /// Adds a call. Returns its position in the list of calls.
    fn begin(&mut self, entry: &Entry, name: String, id: Option<String>) -> usize {
        let free = entry.index.filter(|index| !self.indices.contains(index));
        let index = free.unwrap_or(self.next_index);
        self.indices.insert(index);
        self.next_index = self.next_index.max(index.saturating_add(1));
        let at = self.calls.len();
        self.held.push(at);
        if let Some(id) = &id {
            self.by_id.insert(id.clone(), at);
        }
        let (has_id, is_function) = (id.is_some(), entry.piece.is_some());
        self.calls.push(Call { index, name, id, arguments: Arguments::new(), next_id: None, has_id, is_function });
        at
    }
}

impl ChunkCalls {
    pub(crate) fn is_at_rest(&self) -> bool {
        self.open == 0
    }

    pub(crate) fn take_changes(&mut self) -> Vec<AnswerChange> {
        core::mem::take(&mut self.changes)
    }

    pub(crate) fn read(&mut self, event: &Node<'_>, chunks: Chunks) {
        let reply = event.text_at(chunks.of.id).filter(|id| !id.is_empty());
        let is_other = reply.is_some() && self.reply.as_ref() != reply;
        if is_other {
            if self.is_at_rest() {
                (self.choices, self.cost) = (Map::new(), 0);
            }
            self.reply = reply.filter(|reply| reply.chars().len() <= CALL).cloned().map(Text::into_owned);
        }
    }

    /// Rewrites the entries of an event. Returns the indices of calls whose index the server has used for another call.
    pub(crate) fn rewrite(
        &mut self,
        item: &mut Node<'_>,
        number: u64,
        chunks: Chunks,
        (is_tool, is_repaired): (IsTool<'_>, IsTool<'_>),
    ) -> Vec<u64> {
        // Repairing reports missing arguments itself.
        let needs_arguments = |call: &Call| call.is_function && !call.name.is_empty() && !is_repaired(&call.name);
        let mut all_replaced = Vec::new();
        let mut before: Vec<(usize, Node<'static>)> = Vec::new();
        item.visit(chunks.of.part, |part| {
            crate::wire::each(part, chunks.of.units, &mut |position, entry| {
                if let Some(replaced) = self.entry(entry, (number, position as u64), chunks.calls, is_tool) {
                    if let Some(held) = self.release(number, replaced, chunks.calls) {
                        before.push((position, held));
                    }
                    all_replaced.extend(self.call(number, replaced).map(|call| call.index));
                }
            });
            if !before.is_empty() {
                part.visit(chunks.of.units, |list| {
                    let list = list.as_array_mut();
                    list.into_iter()
                        .for_each(|list| before.drain(..).rev().for_each(|(at, held)| list.insert(at, held)));
                });
            }
        });
        if chunks.of.ends(item) {
            let held = self.end(number, chunks.calls, &|call| !reply::is_cut(item) && needs_arguments(call));
            if !held.is_empty() {
                chunks.of.edit_part(item, |part| {
                    if part.array_at(chunks.of.units).is_none() {
                        part.set(chunks.of.units, Node::array(Vec::new()));
                    }
                    part.visit(chunks.of.units, |list| list.as_array_mut().map(|list| list.extend(held)));
                });
            }
        }
        all_replaced
    }

    pub(crate) fn keep_template(&mut self, event: &Node<'_>, chunks: Chunks) {
        for number in core::mem::take(&mut self.holding) {
            let Some(choice) = self.choices.get_mut(&number).filter(|choice| choice.template.is_none()) else {
                continue;
            };
            let template = chunks.of.without_output(event);
            self.cost += json::length(&template);
            choice.template = Some((template, chunks));
        }
    }

    /// Returns events with the arguments that are still held.
    pub(crate) fn finish(&mut self) -> Vec<Node<'static>> {
        let mut events = Vec::new();
        let numbers: Vec<u64> = self.choices.keys().copied().collect();
        for number in numbers {
            let template = self.choices.get_mut(&number).and_then(|choice| choice.template.take());
            let Some((mut event, chunks)) = template else { continue };
            let held = self.end(number, chunks.calls, &|_| false);
            if !held.is_empty() {
                chunks.of.set_units(&mut event, number, held);
                events.push(event);
            }
        }
        *self = ChunkCalls { changes: core::mem::take(&mut self.changes), ..ChunkCalls::default() };
        events
    }

    fn call(&self, number: u64, at: usize) -> Option<&Call> {
        self.choices.get(&number)?.calls.get(at)
    }

    /// Ends an alternative. Returns entries with the arguments that are still held. `is_complete` returns true for a
    /// call that may have no arguments.
    fn end(&mut self, number: u64, calls: PiecedCalls, is_complete: &dyn Fn(&Call) -> bool) -> Vec<Node<'static>> {
        let Some(choice) = self.choices.get_mut(&number) else { return Vec::new() };
        self.open = self.open.saturating_sub(usize::from(choice.is_open));
        choice.is_open = false;
        let held = core::mem::take(&mut choice.held);
        let mut entries = Vec::new();
        for at in held {
            let call = self.choices.get_mut(&number).and_then(|choice| choice.calls.get_mut(at));
            if let Some(call) = call.filter(|call| call.arguments.is_empty() && is_complete(call)) {
                call.arguments.feed_empty_value();
                self.changes.push(AnswerChange::TextArguments);
            }
            entries.extend(self.release(number, at, calls));
        }
        entries
    }

    fn release(&mut self, number: u64, at: usize, calls: PiecedCalls) -> Option<Node<'static>> {
        let call = self.choices.get_mut(&number)?.calls.get_mut(at)?;
        let held = call.arguments.finish();
        let arguments = Node::record([(calls.arguments(), Node::string(held.clone()))]);
        (!held.is_empty()).then(|| calls.entry(Some((calls.index(), Node::count(call.index))), arguments))
    }

    /// Rewrites an entry. Returns the call that the entry replaces.
    fn entry(
        &mut self,
        node: &mut Node<'_>,
        (number, position): (u64, u64),
        calls: PiecedCalls,
        is_tool: IsTool<'_>,
    ) -> Option<usize> {
        let entry = Entry::read(node, position, calls);
        let choice = self.choices.entry(number).or_default();
        self.open += usize::from(!choice.is_open);
        choice.is_open = true;
        let owner = choice.owner(&entry, is_tool);
        let replaced = if let Owner::New { replaces, .. } = &owner { *replaces } else { None };
        let at = match owner {
            Owner::Known(at) => {
                self.continue_call(node, number, at, &entry, calls);
                at
            }
            Owner::New { name, id, .. } => self.begin_call(node, number, &entry, (name, id), calls)?,
        };
        if let Some(choice) = self.choices.get_mut(&number) {
            choice.last = at;
            if position < POSITIONS {
                choice.at_position.insert(position, at);
            }
        }
        self.arguments(node, number, at, entry, calls);
        replaced
    }

    fn begin_call(
        &mut self,
        node: &mut Node<'_>,
        number: u64,
        entry: &Entry,
        (name, id): (Option<String>, Option<String>),
        calls: PiecedCalls,
    ) -> Option<usize> {
        let of = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let cost = CALL + 2 * (of(&entry.name) + of(&name) + of(&entry.id) + of(&id));
        if self.cost.saturating_add(cost) > MAX_BYTES {
            return None;
        }
        self.cost += cost;
        let choice = self.choices.get_mut(&number)?;
        let own_name = entry.name.clone().or_else(|| name.clone()).unwrap_or_default();
        let own_id = entry.id.clone().or(id);
        let at = choice.begin(entry, own_name, own_id.clone());
        let call = choice.calls.get(at)?;
        if let Some(index) = entry.index {
            choice.by_index.insert(index, at);
        }
        if entry.index != Some(call.index) {
            calls.set_index(node, call.index);
            self.changes.push(AnswerChange::NumberCall);
        }
        if let Some(name) = name {
            calls.edit(node, |inner| inner.set(calls.name(), Node::string(name)));
        }
        if let Some(id) = own_id.filter(|_| entry.id.is_none()) {
            calls.set_id(node, id);
        }
        self.identify(node, number, at, calls);
        Some(at)
    }

    fn identify(&mut self, node: &mut Node<'_>, number: u64, at: usize, calls: PiecedCalls) {
        let call = self.choices.get_mut(&number).and_then(|choice| choice.calls.get_mut(at));
        let Some(call) = call.filter(|call| !call.has_id && !call.name.is_empty()) else { return };
        call.has_id = true;
        let text = |number: u64| Text::new(json::write(&Node::count(number)));
        let reply = self.reply.clone().unwrap_or(Text::literal(""));
        let id = digest(&[&reply, &text(number), &text(call.index), &Text::new(call.name.clone())]);
        calls.set_id(node, String::from("call_") + &id);
        self.changes.push(AnswerChange::AddCallId);
    }

    fn continue_call(&mut self, node: &mut Node<'_>, number: u64, at: usize, entry: &Entry, calls: PiecedCalls) {
        let Some(choice) = self.choices.get_mut(&number) else { return };
        let Some(call) = choice.calls.get_mut(at) else { return };
        if entry.index != Some(call.index) {
            calls.set_index(node, call.index);
            self.changes.push(AnswerChange::NumberCall);
        }
        if let Some(id) = entry.id.as_ref() {
            if core::mem::replace(&mut call.has_id, true) {
                node.remove(calls.id());
                self.changes.push(AnswerChange::DropRepeated);
            }
            let cost = CALL + id.len();
            if !choice.by_id.contains_key(id) && self.cost.saturating_add(cost) <= MAX_BYTES {
                self.cost += cost;
                choice.by_id.insert(id.clone(), at);
            }
            call.id.get_or_insert_with(|| id.clone());
        }
        match &entry.name {
            Some(name) if call.name.is_empty() => call.name.clone_from(name),
            Some(name) if *name == call.name => {
                calls.edit_any(node, &mut |inner| drop(inner.remove(calls.name())));
                self.changes.push(AnswerChange::DropRepeated);
            }
            Some(name) => {
                self.cost += name.len();
                call.name.push_str(name);
            }
            None => {}
        }
        self.identify(node, number, at, calls);
    }

    fn arguments(&mut self, node: &mut Node<'_>, number: u64, at: usize, entry: Entry, calls: PiecedCalls) {
        let is_empty_value = entry.is_empty_value();
        let Some(piece) = entry.piece.filter(|piece| !piece.is_empty()) else { return };
        let Some(choice) = self.choices.get_mut(&number) else { return };
        let Some(call) = choice.calls.get_mut(at) else { return };
        let (before, was_held) = (call.arguments.bytes(), call.arguments.is_held());
        let text = if is_empty_value {
            call.arguments.feed_empty_value();
            "".into()
        } else {
            call.arguments.feed(&piece, &mut self.sends)
        };
        if entry.is_value || *text != *piece {
            let text = Node::string(text.into_owned());
            calls.edit(node, |inner| inner.set(calls.arguments(), text));
            self.changes.push(if entry.is_value { AnswerChange::TextArguments } else { AnswerChange::DropRepeated });
        }
        if call.arguments.is_held() && !was_held {
            choice.held.push(at);
            self.holding.push(number);
        }
        self.cost = (self.cost + call.arguments.bytes()).saturating_sub(before);
        if self.cost > MAX_BYTES {
            let forgotten = call.arguments.forget();
            self.cost = self.cost.saturating_sub(forgotten);
        }
    }
}
