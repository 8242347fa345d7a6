//! Where a repair is: in the arguments as they were answered, in the result, and among the readings of one place.

use alloc::string::String;

use crate::{
    json::Text,
    schema::{instance_types::InstanceTypes, validate::place::Place},
};

/// A place, and what has been tried at it.
#[derive(Clone, Copy)]
pub(super) struct At<'p> {
    /// In the arguments as they were answered.
    pub(super) from: &'p Place<'p>,
    /// In the result.
    pub(super) to: &'p Place<'p>,
    /// Inside a text that was read: all of it has the place of that text.
    pub(super) is_frozen: bool,
    /// It is the root, and nothing says that arguments are an object.
    pub(super) is_untyped_root: bool,
    /// How many places, branches and readings are around this one.
    pub(super) level: usize,
    /// The kinds that the whole schema of this place admits, while a branch of it is tried.
    pub(super) outer: Option<InstanceTypes>,
    /// What has become of the value already.
    pub(super) layers: Layers,
}

/// Readings of one value that must not go on for ever.
#[derive(Clone, Copy, Default)]
pub(super) struct Layers {
    /// How many texts were read in one another.
    pub(super) texts: u8,
    /// It is the one item of an array that was put around it.
    pub(super) is_wrapped: bool,
    /// It is one of several items none of which is an array: all of them together may be the one that was asked for.
    pub(super) is_of_row: bool,
    /// How many arrays or objects were taken off.
    pub(super) unwrapped: u8,
}

impl<'p> At<'p> {
    /// Another reading of the same value.
    pub(super) const fn again(self, layers: Layers) -> At<'p> {
        At { layers, level: self.level + 1, outer: None, ..self }
    }

    /// The pointer to what was answered.
    pub(super) fn pointer(self) -> String {
        self.from.pointer()
    }

    /// The pointer to what it is now.
    pub(super) fn output_pointer(self) -> String {
        self.to.pointer()
    }
}

/// The places of a member: under its old name and its new one.
pub(super) struct Below<'p> {
    from: Place<'p>,
    to: Place<'p>,
}

impl<'p> Below<'p> {
    pub(super) fn member(at: At<'p>, old: &'p Text<'p>, new: &'p Text<'p>) -> Self {
        let from = if at.is_frozen { *at.from } else { Place::Member(at.from, old) };
        Below { from, to: Place::Member(at.to, new) }
    }

    /// `is_own`: the item stands in the arguments as they were answered.
    pub(super) fn item(at: At<'p>, index: usize, is_own: bool) -> Self {
        let from = if at.is_frozen || !is_own { *at.from } else { Place::Item(at.from, index) };
        Below { from, to: Place::Item(at.to, index) }
    }

    pub(super) fn at<'b>(&'b self, around: At<'b>, layers: Layers) -> At<'b>
    where
        'p: 'b,
    {
        At {
            from: &self.from,
            to: &self.to,
            is_frozen: around.is_frozen,
            is_untyped_root: false,
            level: around.level + 1,
            outer: None,
            layers,
        }
    }
}
