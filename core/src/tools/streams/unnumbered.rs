//! Identifies the calls of Chat Completions streams whose entries have no `index`.
//!
//! An id identifies its call. An entry without an id continues the last call at its position in the list, unless it has
//! another name, or the arguments of that call are complete. Such servers usually send each call in one entry.
//!
//! Source: openai-python#3246 (entries without `index`; an `index` of 0 without an id is worse than none).

use alloc::string::String;

use super::brackets::Scan;
use crate::{
    collections::Map,
    json::{Node, Text},
    tools::call_sites::id_of,
};

/// The calls of one choice.
#[derive(Debug, Default)]
pub(crate) struct Unnumbered {
    ids: Map<String, u64>,
    /// The last call at each position of the list.
    last: Map<u64, Last>,
    next: u64,
}

#[derive(Debug)]
struct Last {
    number: u64,
    name: Option<String>,
    has_arguments: bool,
    scan: Scan,
}

impl Unnumbered {
    /// Returns true if the id of an entry is known, or if the entry has no id.
    pub(crate) fn knows(&self, call: &Node<'_>) -> bool {
        id_of(call).is_none_or(|id| self.ids.contains_key(&*id.display()))
    }

    /// Returns a number for the call that an entry belongs to. `position` is the index of the entry in its list.
    pub(crate) fn number(&mut self, call: &Node<'_>, position: u64) -> u64 {
        let text =
            |text: Option<&Text<'_>>| text.filter(|text| !text.is_empty()).map(|text| text.display().into_owned());
        let inner = ["function", "custom"].into_iter().find_map(|key| call.get(key));
        let name = text(inner.and_then(|inner| inner.text_at("name")));
        let pieces = ["arguments", "input"].into_iter().find_map(|key| inner?.text_at(key));
        let pieces = text(pieces).unwrap_or_default();
        let id = text(id_of(call).as_ref());
        let known = id.as_ref().and_then(|id| self.ids.get(id).copied());
        let continued = self.last.get(&position).filter(|last| last.is_continued(&id, &name, &pieces));
        let number = known.or_else(|| continued.map(|last| last.number)).unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        if let Some(id) = id {
            self.ids.entry(id).or_insert(number);
        }
        if self.last.get(&position).is_none_or(|last| last.number != number) {
            self.last.insert(position, Last { number, name, has_arguments: false, scan: Scan::default() });
        }
        if let Some(last) = self.last.get_mut(&position) {
            last.has_arguments |= !pieces.is_empty();
            last.scan.feed(&pieces);
        }
        number
    }
}

impl Last {
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
