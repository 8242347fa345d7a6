//! Gives tools of one name in one list names of their own, if the caller asks for it (`duplicateNames: "rename"`).
//!
//! The name of each depends on its definition, not on its place. `restore` returns the place: the names are the same.

use alloc::{string::String, vec::Vec};

use crate::{
    collections::Map,
    dialect::surface::NamePattern,
    json::{self, Node, Text},
    names::{cut, digest, folded, Taken, TAIL},
    request::tool_format::{self, Entry, Shape},
};

/// The tools that share their name with another tool of the list, by their names in the list.
#[derive(Debug, Default)]
pub(crate) struct SameNames {
    owners: Map<Text<'static>, Owner>,
}

/// A tool that shares its name.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(super) name: Text<'static>,
    /// The index of the tool in the list.
    pub(super) index: usize,
}

impl SameNames {
    /// Returns the tool behind a name of the list.
    pub(super) fn owner(&self, called: &Text<'_>) -> Option<&Owner> {
        self.owners.get(&called.borrowed().into_owned())
    }
}

/// Renames the tools of one name and several definitions. Of identical definitions, all get the same name.
pub(super) fn settle(list: &mut Node<'_>, shape: NamePattern) -> SameNames {
    match list.get("tools").is_some() {
        true => list.visit("tools", |tools| rename(tools, shape)).unwrap_or_default(),
        false => rename(list, shape),
    }
}

fn rename(list: &mut Node<'_>, shape: NamePattern) -> SameNames {
    let Some(entries) = list.as_array() else { return SameNames::default() };
    let mut taken = Taken::default();
    let mut definitions: Map<Text<'static>, Map<String, Vec<usize>>> = Map::new();
    for (index, entry) in entries.iter().enumerate() {
        let Some((_, name)) = named(entry) else { continue };
        taken.take(&name);
        definitions.entry(name).or_default().entry(json::write(entry)).or_default().push(index);
    }
    let (mut owners, mut names) = (Map::new(), Map::new());
    for (name, places) in definitions.iter().filter(|(_, places)| places.iter().nth(1).is_some()) {
        for (definition, indices) in places.iter() {
            let own = folded(shape, name);
            let tail = digest(&[name, &Text::new(definition.as_str())]);
            let called = alloc::format!("{}_{tail}", cut(&own, shape.most.saturating_sub(TAIL)));
            let called = Text::new(taken.free(called, shape.most));
            indices.iter().for_each(|index| drop(names.insert(*index, called.clone())));
            if let Some(index) = indices.first() {
                owners.insert(called, Owner { name: name.clone(), index: *index });
            }
        }
    }
    let mut index = 0;
    // The visitor never fails.
    let _ = list.visit_children::<core::convert::Infallible>(|_, entry| {
        if let (Some(called), Some((shape, _))) = (names.get(&index), named(entry)) {
            shape.rename(entry, called.clone());
        }
        index += 1;
        Ok(())
    });
    SameNames { owners }
}

fn named(entry: &Node<'_>) -> Option<(Shape, Text<'static>)> {
    match tool_format::recognise(entry) {
        Entry::Tool(shape) => Some((shape, shape.name(entry)?.clone().into_owned())),
        Entry::Hosted | Entry::Unknown => None,
    }
}
