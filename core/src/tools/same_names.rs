//! Renames tools of one list that share a name, if the caller requests it (`duplicateNames: "rename"`).
//!
//! The new name of each tool depends on its definition, not on its index. `restore` returns the index, because the
//! original names are equal.

use alloc::{string::String, vec::Vec};

use crate::{
    collections::Map,
    dialect::surface::NamePattern,
    json::{self, Node, Text},
    names::{cut, digest, folded, Taken, TAIL},
    request::{
        tool::CACHE,
        tool_format::{self, Entry, ToolShape},
        tool_list::GROUPS,
    },
};

/// The tools that share their original name with another tool of the list, by their names in the list.
#[derive(Debug, Default)]
pub(crate) struct SameNames {
    owners: Map<Text<'static>, Owner>,
}

/// A tool that shares its original name with another tool.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(super) name: Text<'static>,
    /// Index of the tool in the list. Each of Gemini's functions counts as an entry.
    pub(super) index: usize,
}

impl SameNames {
    /// Returns the tool that has this name in the list.
    pub(super) fn owner(&self, called: &Text<'_>) -> Option<&Owner> {
        self.owners.get(&called.borrowed().into_owned())
    }
}

/// Renames tools with one name and different definitions. Tools with identical definitions get the same new name. Tools
/// in namespaces are not renamed.
pub(super) fn settle(list: &mut Node<'_>, shape: NamePattern) -> SameNames {
    let within = group_of(list).or_else(|| list.get("tools").map(|_| "tools"));
    match within {
        Some(key) => list.visit(key, |tools| rename(tools, shape)).unwrap_or_default(),
        None => rename(list, shape),
    }
}

/// Returns the member that contains the functions of a Gemini entry.
fn group_of(entry: &Node<'_>) -> Option<&'static str> {
    GROUPS.into_iter().find(|key| entry.get(key).is_some_and(|list| list.as_array().is_some()))
}

/// Returns the tools of a list in order. Each function of a Gemini entry counts as a tool.
fn tools_of<'n, 'a>(entries: &'n [Node<'a>]) -> impl Iterator<Item = &'n Node<'a>> {
    entries.iter().flat_map(|entry| {
        let group = group_of(entry).and_then(|key| entry.get(key)?.as_array());
        group.unwrap_or(core::slice::from_ref(entry))
    })
}

fn rename(list: &mut Node<'_>, shape: NamePattern) -> SameNames {
    let Some(entries) = list.as_array() else { return SameNames::default() };
    let mut taken = Taken::default();
    let mut definitions: Map<Text<'static>, Map<String, Vec<usize>>> = Map::new();
    for (index, entry) in tools_of(entries).enumerate() {
        let Some((_, name)) = named(entry) else { continue };
        taken.take(&name);
        definitions.entry(name).or_default().entry(definition(entry)).or_default().push(index);
    }
    let (mut owners, mut names) = (Map::new(), Map::new());
    for (name, places) in definitions.iter().filter(|(_, places)| places.iter().nth(1).is_some()) {
        for (definition, indices) in places.iter() {
            let own = folded(shape, name);
            let tail = digest(&[name, &Text::new(definition.as_str())]);
            let called = alloc::format!("{}_{tail}", cut(&own, shape.max_length.saturating_sub(TAIL)));
            let called = Text::new(taken.free(called, shape.max_length));
            indices.iter().for_each(|index| drop(names.insert(*index, called.clone())));
            if let Some(index) = indices.first() {
                owners.insert(called, Owner { name: name.clone(), index: *index });
            }
        }
    }
    let mut index = 0;
    let mut give = |entry: &mut Node<'_>| {
        if let (Some(called), Some((shape, _))) = (names.get(&index), named(entry)) {
            shape.rename(entry, called.clone());
        }
        index += 1;
    };
    each(list, &mut |entry| match group_of(entry) {
        Some(key) => drop(entry.visit(key, |group| each(group, &mut give))),
        None => give(entry),
    });
    SameNames { owners }
}

fn each(list: &mut Node<'_>, change: &mut dyn FnMut(&mut Node<'_>)) {
    // The visitor never fails.
    let _ = list.visit_children::<core::convert::Infallible>(|_, entry| {
        change(entry);
        Ok(())
    });
}

/// Returns a tool's definition as text. A cache breakpoint is not part of it.
fn definition(entry: &Node<'_>) -> String {
    if entry.get(CACHE).is_none() {
        return json::write(entry);
    }
    let mut entry = entry.clone();
    entry.remove(CACHE);
    json::write(&entry)
}

fn named(entry: &Node<'_>) -> Option<(ToolShape, Text<'static>)> {
    match tool_format::recognize(entry) {
        Entry::Tool(shape) => Some((shape, shape.name(entry)?.clone().into_owned())),
        Entry::Hosted | Entry::Unknown => None,
    }
}
