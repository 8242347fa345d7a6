//! Repairs whose results were removed later.

use alloc::string::String;

use crate::{
    collections::Set,
    json::{unescaped_token, Data, Node},
    report::Repair,
};

/// Removes the output pointer of repairs whose results were removed or moved by a later repair.
pub(super) fn forget(repairs: &mut [Repair], arguments: &Node<'_>) {
    let gone = repairs.iter().filter(|repair| repair.output_pointer.is_none());
    let gone: Set<String> = gone.map(|repair| repair.pointer.clone()).collect();
    let mut later = Set::new();
    for repair in repairs.iter_mut().rev() {
        let Some(pointer) = repair.output_pointer.clone() else { continue };
        let is_doubtful = around(&repair.pointer).any(|place| gone.contains(place))
            || gone.contains(&repair.pointer)
            || around(&pointer).any(|place| later.contains(place));
        if is_doubtful && !exists(arguments, &pointer) {
            repair.output_pointer = None;
        }
        later.insert(pointer);
    }
}

/// Returns the pointers to all enclosing values.
fn around(pointer: &str) -> impl Iterator<Item = &str> {
    pointer.match_indices('/').filter_map(|(end, _)| pointer.get(..end))
}

/// Returns true if there is a value at a pointer.
fn exists(root: &Node<'_>, pointer: &str) -> bool {
    let mut place = Some(root);
    for token in pointer.split('/').skip(1) {
        let name = unescaped_token(token);
        place = place.and_then(|place| match place.data() {
            Data::Array(items) => items.get(name.parse::<usize>().ok()?),
            Data::Object(object) => {
                object.iter().find(|member| member.key.display() == name).map(|member| &member.value)
            }
            _ => None,
        });
    }
    place.is_some()
}
