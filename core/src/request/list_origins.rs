//! The parts of a request, as it was given, from which the entries of a rewritten list of tools come.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use super::{
    location::Location,
    tool_format::{self, ToolShape},
};
use crate::{collections::Map, options::Api, wire};

/// The origin of one entry of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryOrigin {
    /// `None` if the entry was added.
    pub(crate) location: Option<Location>,
    /// The shapes of the tool in the given request and in the list, if its format changed.
    pub(crate) shapes: Option<(ToolShape, ToolShape)>,
}

impl EntryOrigin {
    /// Returns the origins of the entries of a list that was rewritten twice.
    pub(crate) fn of_rewritten(entries: &[EntryOrigin], before: Option<&[EntryOrigin]>) -> Vec<EntryOrigin> {
        let given = |entry: &EntryOrigin| match (before, entry.location) {
            (Some(before), Some(location)) if location.is_in_list() => {
                let first = location.entry_of_list().and_then(|index| before.get(index));
                EntryOrigin {
                    location: first.and_then(|first| first.location),
                    shapes: match (first.and_then(|first| first.shapes), entry.shapes) {
                        (Some((given, _)), Some((_, sent))) => Some((given, sent)),
                        (one, other) => one.or(other),
                    },
                }
            }
            _ => *entry,
        };
        entries.iter().map(given).collect()
    }
}

/// The pointers to all entries of a list that has groups, before and after its rewriting.
pub(crate) type Grouped = (Vec<String>, Vec<String>);

/// Translates pointers to parts of a rewritten list into pointers to parts of the given request.
#[derive(Debug)]
pub(crate) struct ListOrigins {
    /// The entries whose index or format has changed, by their pointers.
    entries: Map<String, Entry>,
}

#[derive(Debug)]
struct Entry {
    pointer: String,
    shapes: Option<(ToolShape, ToolShape)>,
    /// True if the entry was added; the pointer then points to the list.
    is_added: bool,
}

impl ListOrigins {
    /// Returns `None` if every entry is where it was. `given` is the API of the given request, and `target` that of the
    /// list.
    pub(crate) fn new(entries: &[EntryOrigin], (given, target): (Api, Api), grouped: Option<Grouped>) -> Option<Self> {
        let is_same = |(at, entry): (usize, &EntryOrigin)| {
            entry.shapes.is_none()
                && entry.location.is_some_and(|origin| origin.is_entry() && origin.entry_of_list() == Some(at))
        };
        let keeps_groups = grouped.as_ref().is_none_or(|(before, after)| before == after);
        if given == target && keeps_groups && entries.iter().enumerate().all(is_same) {
            return None;
        }
        let (before, after) = grouped.map_or((None, None), |(before, after)| (Some(before), Some(after)));
        let list = wire::of(target).tools().pointer();
        let mut found = Map::new();
        for (at, entry) in entries.iter().enumerate() {
            let now = match &after {
                Some(after) => after.get(at).cloned(),
                None => Some(format!("{list}/{at}")),
            };
            let pointer = entry.location.map(|location| match (&before, location.entry_of_list()) {
                (Some(before), Some(index)) => before.get(index).cloned().unwrap_or_default(),
                _ => location.pointer(given),
            });
            let is_added = pointer.is_none();
            let pointer = pointer.unwrap_or_else(|| wire::of(given).tools().pointer().to_owned());
            found.extend(now.map(|now| (now, Entry { pointer, shapes: entry.shapes, is_added })));
        }
        Some(ListOrigins { entries: found })
    }

    /// Returns the pointer in the given request to the same part.
    pub(crate) fn given(&self, pointer: &str) -> Option<String> {
        let ends = pointer.char_indices().filter(|(_, char)| *char == '/').map(|(at, _)| at).skip(1);
        let (entry, rest) = ends.chain([pointer.len()]).find_map(|end| {
            let (entry, rest) = pointer.split_at_checked(end)?;
            Some((self.entries.get(entry)?, rest))
        })?;
        if entry.is_added {
            return Some(entry.pointer.clone());
        }
        let rest = entry.shapes.map_or_else(|| rest.to_owned(), |(given, sent)| in_shape(rest, given, sent));
        Some(format!("{}{rest}", entry.pointer))
    }
}

/// Returns the pointer to a part of a tool in the shape that the tool was given in.
fn in_shape(pointer: &str, given: ToolShape, sent: ToolShape) -> String {
    let parts = [
        (sent.pointer_to_schema(), given.pointer_to_schema()),
        (sent.pointer_to("name"), given.pointer_to("name")),
        (sent.pointer_to("description"), given.pointer_to("description")),
    ];
    for (sent, given) in parts {
        let sent = tool_format::pointer(&sent);
        match pointer.strip_prefix(sent.as_str()) {
            Some(rest) if !sent.is_empty() && (rest.is_empty() || rest.starts_with('/')) => {
                // A tool without a schema was given one.
                let rest = if given.is_empty() { "" } else { rest };
                return tool_format::pointer(&given) + rest;
            }
            _ => {}
        }
    }
    tool_format::pointer(&given.path())
}
