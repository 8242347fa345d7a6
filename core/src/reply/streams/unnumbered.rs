//! Identifies the calls of Chat Completions streams whose entries have no `index`.
//!
//! An id identifies its call. An entry without an id continues the last call at its position in the list, unless it has
//! another name, or the arguments of that call are complete. Such servers usually send each call in one entry. Some
//! servers send the index only in the first entry of a call.
//!
//! Source: openai-python#3246 (entries without `index`; an `index` of 0 without an id is worse than none).

use alloc::string::String;

use super::brackets::Scan;
use crate::{
    collections::Map,
    json::{Node, Text},
    reply::call_sites::id_of,
};

/// Approximate cost of an open call without its pieces. Because of this cost, a stream that only opens calls without
/// arguments also reaches the limit.
pub(crate) const CALL: usize = 256;

/// Number of a call in its choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallNumber {
    /// The server's index.
    Index(u64),
    /// A call without an index.
    Unnumbered(u64),
}

/// The calls of one choice.
#[derive(Debug, Default)]
pub(crate) struct Unnumbered {
    ids: Map<String, CallNumber>,
    /// The last call at each position of the list.
    last: Map<u64, Last>,
    next: u64,
}

#[derive(Debug)]
struct Last {
    number: CallNumber,
    name: Option<String>,
    has_arguments: bool,
    scan: Scan,
}

/// Returns the id of an entry of `tool_calls`. Some servers send an empty id, which identifies nothing.
pub(crate) fn entry_id<'a>(call: &Node<'a>) -> Option<Text<'a>> {
    id_of(call).filter(|id| !id.is_empty())
}

impl Unnumbered {
    /// Returns the number of the call that an entry without an index belongs to. `position` is the index of the entry
    /// in its list. `is_index` is true if a call has `position` as its index. `pay` receives the number of bytes to
    /// store.
    ///
    /// # Errors
    /// The error of `pay`; nothing is stored, and the position has no last call.
    pub(crate) fn number<E>(
        &mut self,
        call: &Node<'_>,
        position: u64,
        is_index: bool,
        pay: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<CallNumber, E> {
        let text = |text: &Text<'_>| Some(text.display().into_owned()).filter(|text| !text.is_empty());
        let inner = ["function", "custom"].into_iter().find_map(|key| call.get(key));
        let name = inner.and_then(|inner| inner.text_at("name")).and_then(text);
        let pieces = ["arguments", "input"].into_iter().find_map(|key| inner?.text_at(key));
        let pieces = pieces.and_then(text).unwrap_or_default();
        let id = entry_id(call).as_ref().and_then(text);
        let known = id.as_ref().and_then(|id| self.ids.get(id).copied());
        let last = self.last.get(&position);
        let continued = last.filter(|last| last.is_continued(&id, &name, &pieces)).map(|last| last.number);
        let by_position = Some(CallNumber::Index(position)).filter(|_| is_index && last.is_none() && name.is_none());
        let fresh = CallNumber::Unnumbered(self.next);
        let number = known.or(continued).or(by_position).unwrap_or(fresh);
        let is_last = last.is_some_and(|last| last.number == number);
        let id = id.filter(|_| known.is_none());
        let of_id = id.as_ref().map_or(0, |id| CALL + id.len());
        let of_position = if last.is_none() { CALL } else { 0 };
        let of_name = name.as_ref().filter(|_| !is_last).map_or(0, String::len);
        if let Err(error) = pay(of_id + of_position + of_name) {
            // Later pieces must not continue the call before this one.
            self.last.remove(&position);
            return Err(error);
        }
        self.next += u64::from(number == fresh);
        if let Some(id) = id {
            self.ids.insert(id, number);
        }
        if !is_last {
            self.last.insert(position, Last::new(number, name));
        }
        if let Some(last) = self.last.get_mut(&position) {
            last.has_arguments |= !pieces.is_empty();
            last.scan.feed(&pieces);
        }
        Ok(number)
    }

    /// Records the index of an entry, because the next entry at its position may have none.
    ///
    /// # Errors
    /// The error of `pay`; nothing is stored.
    pub(crate) fn record_index<E>(
        &mut self,
        index: u64,
        position: u64,
        pay: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let number = CallNumber::Index(index);
        let last = self.last.get(&position);
        if last.is_some_and(|last| last.number == number) {
            return Ok(());
        }
        if last.is_none() {
            pay(CALL)?;
        }
        self.last.insert(position, Last::new(number, None));
        Ok(())
    }
}

impl Last {
    fn new(number: CallNumber, name: Option<String>) -> Last {
        Last { number, name, has_arguments: false, scan: Scan::default() }
    }

    /// Returns true if an entry with an unknown id, or without an id, continues this call.
    fn is_continued(&self, id: &Option<String>, name: &Option<String>, pieces: &str) -> bool {
        if name.is_none() {
            return true;
        }
        let is_open = *name == self.name && !self.scan.is_whole;
        // Some servers send a new id with every piece.
        let is_piece = self.has_arguments && !pieces.is_empty() && !pieces.trim_start().starts_with('{');
        is_open && (id.is_none() || is_piece)
    }
}
