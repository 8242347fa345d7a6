//! What tools are called: names that an API refuses made legal, each its own, whatever order the tools come in.
//!
//! A name that is legal stays. Any other keeps as much of itself as can be kept; where that is another tool's name too, or where
//! something had to be cut off, a hash of the whole name makes the difference. So a name depends on the set of tools, not on
//! their order, and mostly on nothing but itself.

use alloc::{format, string::String};

use crate::{
    dialect::surface::NameShape,
    json::Text,
    sorted::{Map, Set},
};

/// Is it a name of this shape?
pub(super) fn is_legal(shape: NameShape, name: &Text<'_>) -> bool {
    let (mut length, mut fits) = (0, true);
    for point in name.code_points() {
        fits &= may_stand(shape, point) && (length > 0 || may_begin(shape, point));
        length += 1;
    }
    fits && length >= shape.least && length <= shape.most
}

fn may_stand(shape: NameShape, point: u32) -> bool {
    // Half a surrogate pair is no character, and no API gets one.
    char::from_u32(point).is_some_and(|one| shape.also.is_none_or(|also| one.is_ascii_alphanumeric() || also.contains(one)))
}

fn may_begin(shape: NameShape, point: u32) -> bool {
    !shape.letter_first || char::from_u32(point).is_some_and(|one| one.is_ascii_alphabetic() || one == '_')
}

/// `_` and a hash in eight digits.
const TAIL: usize = 9;

/// A legal name that says as much as possible of this one. Made only of what every API allows: ASCII letters, digits and `_`
/// take the place of everything else.
fn close(shape: NameShape, name: &Text<'_>) -> String {
    let mut out = String::new();
    let mut length = 0;
    for point in name.code_points() {
        if length == 0 && !may_begin(shape, point) && may_stand(shape, point) {
            out.push('_');
            length += 1;
        }
        out.push(char::from_u32(point).filter(|_| may_stand(shape, point)).unwrap_or('_'));
        length += 1;
        if length > shape.most {
            return hashed(shape, name, out);
        }
    }
    while length < shape.least {
        out.push('_');
        length += 1;
    }
    out
}

/// The beginning of a legal name, and a hash of the original.
fn hashed(shape: NameShape, name: &Text<'_>, close: String) -> String {
    let mut hash = 0x811c_9dc5_u32;
    for byte in name.code_points().flat_map(u32::to_le_bytes) {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    format!("{}_{hash:08x}", cut(&close, shape.most.saturating_sub(TAIL)))
}

/// A legal name for a tool that only the past of a conversation knows: nobody can call it any more.
pub(super) fn of_the_past(shape: NameShape, name: &Text<'_>) -> String {
    hashed(shape, name, close(shape, name))
}

/// The first characters of a text.
pub(super) fn cut(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

/// The names of a list of tools.
#[derive(Default)]
pub(crate) struct Names {
    /// What is called otherwise now.
    renamed: Map<Text<'static>, String>,
}

impl Names {
    /// Finds a name for each tool of a list. `others` are names that are given already.
    pub(super) fn plan<'n, 'a: 'n>(shape: NameShape, names: impl Iterator<Item = &'n Text<'a>>, others: &[&Text<'a>]) -> Names {
        let mut taken: Set<String> = others.iter().filter_map(|name| Some(name.value()?.into_owned())).collect();
        // By name, so that the order of the list does not matter, and one name is one tool.
        let mut illegal: Map<&Text<'a>, String> = Map::new();
        for name in names {
            if is_legal(shape, name) {
                taken.extend(name.value().map(|name| name.into_owned()));
            } else {
                illegal.entry(name).or_insert_with(|| close(shape, name));
            }
        }
        let mut wanted: Map<&String, usize> = Map::new();
        for close in illegal.values() {
            *wanted.entry(close).or_default() += 1;
        }
        let alone = |close: &String| wanted.get(close) == Some(&1) && !taken.contains(close);
        let mut renamed = Map::new();
        let mut hashing = Map::new();
        for (name, close) in &illegal {
            if alone(close) {
                renamed.insert((*name).clone().into_owned(), close.clone());
            } else {
                hashing.insert(*name, close.clone());
            }
        }
        taken.extend(renamed.values().cloned());
        for (name, close) in hashing {
            let mut found = hashed(shape, name, close);
            let mut next = 2_u32;
            while !taken.insert(found.clone()) {
                // Two hashes are equal once in four thousand million times, or because somebody wanted it.
                let tail = format!("_{next}");
                found = format!("{}{tail}", cut(&found, shape.most.saturating_sub(tail.len())));
                next += 1;
            }
            renamed.insert(name.clone().into_owned(), found);
        }
        Names { renamed }
    }

    /// The new name, if it has one.
    pub(crate) fn new_name(&self, name: &Text<'_>) -> Option<&str> {
        // The key borrows nothing, but may be compared with what does.
        self.renamed.get(&name.borrowed().into_owned()).map(String::as_str)
    }
}
