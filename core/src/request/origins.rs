//! The origin of each part of a rewritten request in the given request. Reports point to the given request.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use super::{
    location::Location,
    tool_format::{self, ToolShape},
};
use crate::{collections::Map, json::Node, options::Api, wire};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GivenShape {
    shape: ToolShape,
    has_name: bool,
    has_description: bool,
    has_strict: bool,
    has_type: bool,
    /// False if the tool has no schema, or one that is not an object.
    has_schema: bool,
}

impl GivenShape {
    pub(crate) fn of(entry: &Node<'_>) -> Self {
        let shape = ToolShape::of(entry);
        GivenShape {
            shape,
            has_name: shape.part(entry, "name").is_some(),
            has_description: shape.part(entry, "description").is_some(),
            has_strict: shape.strict(entry).is_some(),
            has_type: entry.get("type").is_some(),
            has_schema: shape.schema(entry).is_some_and(|schema| schema.as_object().is_some()),
        }
    }

    /// Converts a pointer into the sent tool to a pointer into the given tool.
    fn pointer_to_part(self, pointer: &str, sent_shape: ToolShape) -> String {
        let parts = [
            (sent_shape.pointer_to_schema(), self.shape.pointer_to_schema(), self.has_schema),
            (sent_shape.pointer_to("name"), self.shape.pointer_to("name"), self.has_name),
            (sent_shape.pointer_to("description"), self.shape.pointer_to("description"), self.has_description),
            (sent_shape.pointer_to("strict"), self.shape.pointer_to("strict"), self.has_strict),
            (Vec::from(["type"]), Vec::from(["type"]), self.has_type),
        ];
        for (sent_path, given_path, exists) in parts {
            let sent_path = tool_format::pointer(&sent_path);
            match pointer.strip_prefix(sent_path.as_str()) {
                Some(rest) if exists && !sent_path.is_empty() && (rest.is_empty() || rest.starts_with('/')) => {
                    return tool_format::pointer(&given_path) + rest;
                }
                _ => {}
            }
        }
        tool_format::pointer(&self.shape.path())
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EntryOrigin {
    /// `None` if the entry was added.
    pub(crate) location: Option<Location>,
    /// The shapes of the tool in the given request and in the list, if its shape changed.
    pub(crate) shapes: Option<(GivenShape, ToolShape)>,
}

impl EntryOrigin {
    /// Returns the origins for a list that was rewritten twice: from the second result to the given list.
    pub(crate) fn of_rewritten(entries: &[EntryOrigin], before: Option<&[EntryOrigin]>) -> Vec<EntryOrigin> {
        let first_origin = |entry: &EntryOrigin| match (before, entry.location) {
            (Some(before), Some(location)) if location.is_in_list() => {
                let first = location.entry_of_list().and_then(|index| before.get(index));
                EntryOrigin {
                    location: first.and_then(|first| first.location),
                    shapes: match (first.and_then(|first| first.shapes), entry.shapes) {
                        (Some((given, _)), Some((_, sent))) => Some((given, sent)),
                        (first, second) => first.or(second),
                    },
                }
            }
            _ => *entry,
        };
        entries.iter().map(first_origin).collect()
    }

    fn is_unchanged(&self, index: usize) -> bool {
        let has_index = |location: Location| location.is_entry() && location.entry_of_list() == Some(index);
        self.shapes.is_none() && self.location.is_some_and(has_index)
    }
}

/// The pointers to all entries of a list that has groups, before and after its rewriting.
pub(crate) type Grouped = (Vec<String>, Vec<String>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageOrigin {
    Added,
    /// The message at this index, without changes of its parts.
    Same(usize),
    /// The message at this index, whose parts have other indices.
    Changed(usize),
}

impl MessageOrigin {
    pub(crate) fn changed(self) -> Self {
        match self {
            MessageOrigin::Same(index) => MessageOrigin::Changed(index),
            other => other,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origins {
    /// All rewritings in their order.
    rewritings: Vec<Rewriting>,
    /// Number of the rewritings before deferred loading.
    before_deferral: usize,
    /// True if the rewriting at `before_deferral` contains the tools that the history defines.
    has_tools_of_history: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Rewriting {
    /// The entries whose location or shape has changed, by their pointers after the rewriting.
    Entries(Map<String, Entry>),
    /// The messages or items, with the pointer to the history.
    Messages(String, Vec<MessageOrigin>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    pointer: String,
    shapes: Option<(GivenShape, ToolShape)>,
    /// True if the entry was added; the pointer then points to the list.
    is_added: bool,
}

impl Entry {
    fn new(origin: &EntryOrigin, pointer: impl FnOnce(Location) -> String, list: &str) -> Self {
        let pointer = origin.location.map(pointer);
        let is_added = pointer.is_none();
        Entry { pointer: pointer.unwrap_or_else(|| list.to_owned()), shapes: origin.shapes, is_added }
    }
}

impl Origins {
    pub(crate) fn is_empty(&self) -> bool {
        self.rewritings.is_empty()
    }

    pub(crate) fn add_messages(&mut self, api: Api, messages: Vec<MessageOrigin>) {
        let is_same = |(index, origin): (usize, &MessageOrigin)| *origin == MessageOrigin::Same(index);
        if !messages.iter().enumerate().all(is_same) {
            self.rewritings.push(Rewriting::Messages(format!("/{}", wire::of(api).history()), messages));
        }
    }

    /// Adds the rewriting of the list. `source` is the API of the request before the rewriting, and `target` its API
    /// afterwards.
    pub(crate) fn add_list(&mut self, entries: &[EntryOrigin], (source, target): (Api, Api), grouped: Option<Grouped>) {
        self.before_deferral = self.rewritings.len();
        self.has_tools_of_history = false;
        let keeps_groups = grouped.as_ref().is_none_or(|(before, after)| before == after);
        let mut all = entries.iter().enumerate();
        if source == target && keeps_groups && all.all(|(index, entry)| entry.is_unchanged(index)) {
            return;
        }
        let (before, after) = grouped.map_or((None, None), |(before, after)| (Some(before), Some(after)));
        let list = wire::of(target).tools().pointer();
        let mut rewritten = Map::new();
        for (index, origin) in entries.iter().enumerate() {
            let pointer = match &after {
                Some(after) => after.get(index).cloned(),
                None => Some(format!("{list}/{index}")),
            };
            let given_pointer = |location: Location| match (&before, location.entry_of_list()) {
                (Some(before), Some(index)) => before.get(index).cloned().unwrap_or_default(),
                _ => location.pointer(source),
            };
            let entry = Entry::new(origin, given_pointer, wire::of(source).tools().pointer());
            rewritten.extend(pointer.map(|pointer| (pointer, entry)));
        }
        self.rewritings.push(Rewriting::Entries(rewritten));
    }

    pub(crate) fn add_replaced(&mut self, tools: Vec<(String, GivenShape, ToolShape)>) {
        if tools.is_empty() {
            return;
        }
        let entry = |(pointer, given_shape, sent_shape): (String, GivenShape, ToolShape)| {
            (pointer.clone(), Entry { pointer, shapes: Some((given_shape, sent_shape)), is_added: false })
        };
        self.rewritings.push(Rewriting::Entries(tools.into_iter().map(entry).collect()));
    }

    pub(crate) fn add_moved(&mut self, moved: impl Iterator<Item = (String, String)>) {
        let entries = moved.map(|(pointer, now)| (now, Entry { pointer, shapes: None, is_added: false }));
        self.rewritings.push(Rewriting::Entries(entries.collect()));
    }

    pub(crate) fn add_in_history(&mut self, list: impl Iterator<Item = (String, EntryOrigin)>, source: Api) {
        let history = format!("/{}", wire::of(source).history());
        let mut entries = list
            .map(|(pointer, origin)| (pointer, Entry::new(&origin, |location| location.pointer(source), &history)))
            .peekable();
        if entries.peek().is_none() {
            return;
        }
        if !self.has_tools_of_history {
            self.rewritings.insert(self.before_deferral, Rewriting::Entries(Map::new()));
            self.has_tools_of_history = true;
        }
        // All parts of the history share one rewriting, because every pointer is tested against every rewriting.
        if let Some(Rewriting::Entries(known)) = self.rewritings.get_mut(self.before_deferral) {
            known.extend(entries);
        }
    }

    /// Returns only the rewritings of lists, for pointers to parts of the list.
    pub(crate) fn of_list(&self) -> Origins {
        let entries = self.rewritings.iter().filter(|rewriting| matches!(rewriting, Rewriting::Entries(_)));
        Origins { rewritings: entries.cloned().collect(), ..Origins::default() }
    }

    pub(crate) fn is_same_for_list(&self, other: &Origins) -> bool {
        let is_entries = |rewriting: &&Rewriting| matches!(rewriting, Rewriting::Entries(_));
        self.rewritings.iter().filter(is_entries).eq(other.rewritings.iter().filter(is_entries))
    }

    pub(crate) fn to_given(&self, pointer: &mut String) {
        for rewriting in self.rewritings.iter().rev() {
            if let Some(before) = rewriting.pointer_before(pointer) {
                *pointer = before;
            }
        }
    }
}

impl Rewriting {
    /// Returns the pointer before the rewriting, or `None` if the pointer does not change.
    fn pointer_before(&self, pointer: &str) -> Option<String> {
        match self {
            Rewriting::Entries(entries) => {
                let ends = pointer.match_indices('/').map(|(end, _)| end).skip(1).chain([pointer.len()]);
                let parts = ends.filter_map(|end| pointer.split_at_checked(end));
                // The innermost entry applies, because an entry may contain other entries.
                let (entry, rest) = parts.filter_map(|(entry, rest)| Some((entries.get(entry)?, rest))).last()?;
                if entry.is_added {
                    return Some(entry.pointer.clone());
                }
                let rest = entry.shapes.map_or_else(
                    || rest.to_owned(),
                    |(given_shape, sent_shape)| given_shape.pointer_to_part(rest, sent_shape),
                );
                Some(format!("{}{rest}", entry.pointer))
            }
            Rewriting::Messages(history, messages) => {
                let inner = pointer.strip_prefix(history.as_str())?.strip_prefix('/')?;
                let (index, rest) = inner.split_at(inner.find('/').unwrap_or(inner.len()));
                Some(match messages.get(index.parse::<usize>().ok()?)? {
                    MessageOrigin::Added => history.clone(),
                    MessageOrigin::Same(index) => format!("{history}/{index}{rest}"),
                    MessageOrigin::Changed(index) => format!("{history}/{index}"),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise, each pointer would be tested against one rewriting for each part that adds tools.
    #[test]
    fn all_tools_of_the_history_are_one_rewriting() {
        let mut origins = Origins::default();
        let part = |at: usize| (format!("/messages/{at}/tools/0"), EntryOrigin::default());
        for at in 0..3 {
            origins.add_in_history([part(at)].into_iter(), Api::OpenaiChat);
        }
        origins.add_in_history(core::iter::empty(), Api::OpenaiChat);
        assert_eq!(origins.rewritings.len(), 1);
        for at in 0..3 {
            let mut pointer = format!("/messages/{at}/tools/0/function");
            origins.to_given(&mut pointer);
            assert_eq!(pointer, "/messages");
        }
    }
}
