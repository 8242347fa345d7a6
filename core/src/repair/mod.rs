//! Repairs invalid arguments of a model.
//!
//! Valid values are never changed. A repair fixes a failed assertion of the schema at a position. It is kept only if
//! that assertion then holds and all other assertions still hold. If a value has several readings, the only reading of
//! exact confidence is chosen, or else the only reading of likely confidence. Each member is validated separately.
//! Reports contain no value of the arguments.
//!
//! Each application of a schema to a value is a step of the budget, and so is each copied value. Once the budget is
//! spent, the rest is left unchanged.

mod guesses;
mod kinds;
mod members;
pub(crate) mod results;
mod root;
mod unions;
mod view;
mod words;

pub(crate) use root::{repair, unreadable, RawArguments};

use alloc::{string::String, vec::Vec};

use crate::{
    collections::{Map, Set},
    json::{unescaped_token, Data, Node, Text},
    options::RepairOptions,
    report::{LeftReason, Permits, Repair},
    schema::{
        instance_types::InstanceTypes,
        keyword::Keyword,
        validate::{Judge, Location, Verdict},
    },
};
use view::View;

/// Maximum nesting of positions, branches and readings. Each level takes stack space, and a call must run in 512 KiB of
/// it.
const MAX_LEVEL: usize = 64;

/// Maximum number of strings to parse inside one another at one position.
const MAX_PARSED_STRINGS: u8 = 3;

struct Fixed<'n> {
    value: Node<'n>,
    repairs: Vec<Repair>,
}

struct Repairer<'v, 's, 'a> {
    judge: Judge<'v, 's, 'a>,
    options: &'v RepairOptions,
    permits: Permits,
    /// Reasons why values in the result were left unchanged, by pointer.
    reasons: Map<String, LeftReason>,
}

impl<'s, 'a> Repairer<'_, 's, 'a> {
    fn repair_value<'n>(&mut self, schemas: &[&'s Node<'a>], value: Node<'n>, at: At<'_>) -> Fixed<'n> {
        let mut fixed = Fixed { value, repairs: Vec::new() };
        if at.level > MAX_LEVEL || self.verdict(schemas, &fixed.value, at) != Verdict::Invalid {
            return fixed;
        }
        // Reports contain pointers, which are as long as all names on the path together.
        if !self.judge.budget().pay((at.from.length() + at.to.length()) / 64) {
            return fixed;
        }
        let Some(mut view) = self.view(schemas) else { return fixed };
        if at.is_untyped_root {
            view.types = view.types.and(InstanceTypes::OBJECT);
        }
        let at = At { outer_types: Some(at.outer_types.unwrap_or(view.types)), ..at };
        if !self.fits_type_and_values(&view, &fixed.value) {
            return self.replace_value(&view, schemas, &fixed.value, at).unwrap_or(fixed);
        }
        match fixed.value.data() {
            Data::Object(_) => self.repair_members(&view, &mut fixed, at),
            Data::Array(_) => self.repair_items(&view, &mut fixed, at),
            _ => {}
        }
        if !view.unions.is_empty() {
            self.repair_unions(&view, &mut fixed, at);
        }
        fixed
    }

    fn verdict(&mut self, schemas: &[&'s Node<'a>], value: &Node<'_>, at: At<'_>) -> Verdict {
        if at.is_untyped_root && value.as_object().is_none() {
            return Verdict::Invalid;
        }
        self.judge.with_shared_indexes(|judge| {
            let mut all = Verdict::Valid;
            for schema in schemas {
                all = all.and(judge.verdict(schema, value));
                if all == Verdict::Invalid {
                    break;
                }
            }
            all
        })
    }

    fn fits_type_and_values(&mut self, view: &View<'s, 'a>, value: &Node<'_>) -> bool {
        let keywords = [Keyword::Type, Keyword::Enum, Keyword::Const];
        InstanceTypes::of_instance(value).is_subset_of(view.types)
            && view.parts.iter().all(|part| {
                keywords.iter().all(|keyword| self.judge.keyword(*keyword, part, value) != Verdict::Invalid)
            })
    }

    fn record_reason(&mut self, at: At<'_>, reason: LeftReason) {
        self.reasons.insert(at.output_pointer(), reason);
    }
}

/// A position in the arguments, and the readings that were tried there. A reading is another value that the model may
/// have meant.
#[derive(Clone, Copy)]
pub(crate) struct At<'p> {
    /// Location in the original arguments.
    pub(crate) from: &'p Location<'p>,
    /// Location in the result.
    pub(crate) to: &'p Location<'p>,
    /// True inside a string that was parsed: everything in it has the location of the string.
    pub(crate) is_in_text: bool,
    /// True for the root, if it does not declare that arguments are an object.
    pub(crate) is_untyped_root: bool,
    /// Number of enclosing positions, branches and readings.
    pub(crate) level: usize,
    /// Types that the whole schema of this position accepts; set while one branch of its unions is tried.
    pub(crate) outer_types: Option<InstanceTypes>,
    pub(crate) layers: Layers,
}

/// Readings inside one another at one position, counted to limit their nesting.
#[derive(Clone, Copy, Default)]
pub(crate) struct Layers {
    /// Number of strings that were parsed inside one another.
    pub(crate) parsed_strings: u8,
    /// True for the only item of an array that a repair added.
    pub(crate) is_wrapped: bool,
    /// True for an item of an array that contains several items, but no array. If the schema expects an array in place
    /// of each item, all items together may be that array.
    pub(crate) is_in_flat_array: bool,
    /// Number of enclosing arrays and objects that were removed.
    pub(crate) removed_containers: u8,
}

impl<'p> At<'p> {
    pub(crate) const fn for_next_reading(self, layers: Layers) -> At<'p> {
        At { layers, level: self.level + 1, outer_types: None, ..self }
    }

    pub(crate) fn pointer(self) -> String {
        self.from.pointer()
    }

    pub(crate) fn output_pointer(self) -> String {
        self.to.pointer()
    }
}

/// Locations of a member or an item in the original arguments and in the result.
pub(crate) struct ChildLocations<'p> {
    from: Location<'p>,
    to: Location<'p>,
}

impl<'p> ChildLocations<'p> {
    pub(crate) fn member(at: At<'p>, old: &'p Text<'p>, new: &'p Text<'p>) -> Self {
        let from = if at.is_in_text { *at.from } else { Location::Member(at.from, old) };
        ChildLocations { from, to: Location::Member(at.to, new) }
    }

    pub(crate) fn item(at: At<'p>, index: usize) -> Self {
        let from = if at.is_in_text { *at.from } else { Location::Item(at.from, index) };
        ChildLocations { from, to: Location::Item(at.to, index) }
    }

    /// The array is not in the original arguments, so the item has the location of the value that was wrapped.
    pub(crate) fn item_of_added_array(at: At<'p>, index: usize) -> Self {
        ChildLocations { from: *at.from, to: Location::Item(at.to, index) }
    }

    pub(crate) fn at<'b>(&'b self, enclosing: At<'b>, layers: Layers) -> At<'b>
    where
        'p: 'b,
    {
        At {
            from: &self.from,
            to: &self.to,
            is_in_text: enclosing.is_in_text,
            is_untyped_root: false,
            level: enclosing.level + 1,
            outer_types: None,
            layers,
        }
    }
}

/// Removes the output pointer of each repair whose result a later repair removed or moved.
pub(crate) fn clear_stale_output_pointers(repairs: &mut [Repair], arguments: &Node<'_>) {
    let removed_pointers = repairs.iter().filter(|repair| repair.output_pointer.is_none());
    let removed_pointers: Set<String> = removed_pointers.map(|repair| repair.pointer.clone()).collect();
    let mut later_pointers = Set::new();
    for repair in repairs.iter_mut().rev() {
        let Some(pointer) = repair.output_pointer.clone() else { continue };
        let may_be_gone = enclosing_pointers(&repair.pointer).any(|location| removed_pointers.contains(location))
            || removed_pointers.contains(&repair.pointer)
            || enclosing_pointers(&pointer).any(|location| later_pointers.contains(location));
        if may_be_gone && !exists(arguments, &pointer) {
            repair.output_pointer = None;
        }
        later_pointers.insert(pointer);
    }
}

fn enclosing_pointers(pointer: &str) -> impl Iterator<Item = &str> {
    pointer.match_indices('/').filter_map(|(end, _)| pointer.get(..end))
}

fn exists(root: &Node<'_>, pointer: &str) -> bool {
    let mut node = Some(root);
    for token in pointer.split('/').skip(1) {
        let name = unescaped_token(token);
        node = node.and_then(|node| match node.data() {
            Data::Array(items) => items.get(name.parse::<usize>().ok()?),
            Data::Object(object) => {
                object.iter().find(|member| member.key.display() == name).map(|member| &member.value)
            }
            _ => None,
        });
    }
    node.is_some()
}
