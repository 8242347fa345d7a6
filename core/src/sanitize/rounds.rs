//! Passes that run again, over what they have written: every value is made to look as if it had just been read, and
//! gets back afterwards what it had.

use alloc::vec::Vec;

use crate::{
    json::{Node, Origin},
    schema::references::Number,
};

/// A value before it was numbered anew.
pub(in crate::sanitize) struct Before {
    origin: Origin,
    is_intact: bool,
    /// The value of the input that it is, or that the nearest value around it is.
    pub(in crate::sanitize) within: Number,
}

/// Numbers every value in document order, and calls it unchanged.
pub(in crate::sanitize) fn renumber(root: &mut Node<'_>) -> Vec<Before> {
    fn number(node: &mut Node<'_>, around: Number, before: &mut Vec<Before>) {
        let origin = node.origin();
        let within = origin.number().unwrap_or(around);
        let number_here = Number::try_from(before.len()).map_or(Origin::NONE, Origin::new);
        before.push(Before { origin, is_intact: node.is_intact(), within });
        // The visitor never fails.
        let _ = node.visit_children::<()>(|_, child| {
            number(child, within, before);
            Ok(())
        });
        node.see_as(number_here, true);
    }
    let mut before = Vec::new();
    number(root, 0, &mut before);
    before
}

/// Makes every value what it was, unless it was changed since.
pub(in crate::sanitize) fn restore(node: &mut Node<'_>, before: &[Before]) {
    // The visitor never fails.
    let _ = node.visit_children::<()>(|_, child| {
        restore(child, before);
        Ok(())
    });
    match node.origin().number().and_then(|number| before.get(number as usize)) {
        Some(known) => node.see_as(known.origin, known.is_intact && node.is_intact()),
        None => node.see_as(Origin::NONE, false),
    }
}
