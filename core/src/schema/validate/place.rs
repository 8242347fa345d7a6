//! Locations in the arguments and in the schema: linked lists towards the root, so that pointers are only built on
//! demand.

use alloc::{string::String, vec::Vec};

use crate::json::{Pointer, Step, Text};

/// A location in a document.
#[derive(Clone, Copy)]
pub(crate) enum Place<'p> {
    /// A known location, by its pointer.
    At(&'p str),
    /// A member with a fixed name.
    Name(&'p Place<'p>, &'static str),
    /// A member.
    Member(&'p Place<'p>, &'p Text<'p>),
    /// An item.
    Item(&'p Place<'p>, usize),
}

impl Place<'_> {
    /// Returns the total length of the names on the path.
    pub(crate) fn length(&self) -> usize {
        let (mut length, mut next) = (0, Some(self));
        while let Some(place) = next {
            next = match *place {
                Place::At(pointer) => {
                    length += pointer.len();
                    None
                }
                Place::Name(above, name) => {
                    length += name.len();
                    Some(above)
                }
                Place::Member(above, name) => {
                    length += name.chars().len();
                    Some(above)
                }
                Place::Item(above, _) => Some(above),
            };
        }
        length
    }

    /// Returns the JSON Pointer.
    pub(crate) fn pointer(&self) -> String {
        let (mut start, mut steps, mut next) = ("", Vec::new(), Some(self));
        while let Some(place) = next {
            let (above, step) = match *place {
                Place::At(pointer) => {
                    start = pointer;
                    break;
                }
                Place::Name(above, name) => (above, Step::Name(name)),
                Place::Member(above, name) => (above, Step::Member(name.borrowed())),
                Place::Item(above, index) => (above, Step::Index(index)),
            };
            steps.push(step);
            next = Some(above);
        }
        let mut below = Pointer::root();
        steps.into_iter().rev().for_each(|step| below.push(step));
        [start, &below.render()].concat()
    }
}
