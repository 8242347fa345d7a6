//! Places in the arguments and in the schema: each knows the one above it, so that nothing is spelled, and nothing is
//! kept, unless somebody asks for a pointer.

use alloc::{string::String, vec::Vec};

use crate::json::{Pointer, Step, Text};

/// A place in a document.
#[derive(Clone, Copy)]
pub(crate) enum Place<'p> {
    /// A known place, by its pointer.
    At(&'p str),
    /// A member whose name the program knows.
    Name(&'p Place<'p>, &'static str),
    /// A member.
    Member(&'p Place<'p>, &'p Text<'p>),
    /// An item.
    Item(&'p Place<'p>, usize),
}

impl Place<'_> {
    /// How many bytes the names on the way to it take.
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

    /// The pointer to it.
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
