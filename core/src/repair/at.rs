//! Position of a repair: in the original arguments, in the result, and in the nesting of readings.

use alloc::string::String;

use crate::{
    json::Text,
    schema::{instance_types::InstanceTypes, validate::Place},
};

/// A position, and what has been tried there.
#[derive(Clone, Copy)]
pub(super) struct At<'p> {
    /// Location in the original arguments.
    pub(super) from: &'p Place<'p>,
    /// Location in the result.
    pub(super) to: &'p Place<'p>,
    /// True inside a string that was parsed: everything in it has the location of the string.
    pub(super) is_frozen: bool,
    /// True for the root, if it does not declare that arguments are an object.
    pub(super) is_untyped_root: bool,
    /// Number of enclosing positions, branches and readings.
    pub(super) level: usize,
    /// Types that the whole schema of this position accepts, while one of its branches is tried.
    pub(super) outer: Option<InstanceTypes>,
    /// Readings that were applied to the value.
    pub(super) layers: Layers,
}

/// Readings of one value, counted to limit their nesting.
#[derive(Clone, Copy, Default)]
pub(super) struct Layers {
    /// Number of strings that were parsed inside one another.
    pub(super) texts: u8,
    /// True for the only item of an array that a repair added.
    pub(super) is_wrapped: bool,
    /// True for one of several items none of which is an array: together they may be the intended array.
    pub(super) is_of_row: bool,
    /// Number of enclosing arrays and objects that were removed.
    pub(super) unwrapped: u8,
}

impl<'p> At<'p> {
    /// Returns the position for another reading of the same value.
    pub(super) const fn again(self, layers: Layers) -> At<'p> {
        At { layers, level: self.level + 1, outer: None, ..self }
    }

    /// Returns the pointer into the original arguments.
    pub(super) fn pointer(self) -> String {
        self.from.pointer()
    }

    /// Returns the pointer into the result.
    pub(super) fn output_pointer(self) -> String {
        self.to.pointer()
    }
}

/// Locations of a member, under its old name and its new one.
pub(super) struct Below<'p> {
    from: Place<'p>,
    to: Place<'p>,
}

impl<'p> Below<'p> {
    pub(super) fn member(at: At<'p>, old: &'p Text<'p>, new: &'p Text<'p>) -> Self {
        let from = if at.is_frozen { *at.from } else { Place::Member(at.from, old) };
        Below { from, to: Place::Member(at.to, new) }
    }

    /// `is_own` is true if the item is in the original arguments.
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
