//! A schema that is prepared to validate the arguments of many calls.

use alloc::{borrow::Cow, string::String};
use core::cell::OnceCell;

use super::{pattern, resolved, Validator};
use crate::{
    budget::Budget,
    collections::Map,
    json::{Data, Node},
    schema::{
        draft::Draft,
        references::{Number, References},
    },
};

/// Maximum number of bytes of pointers that are kept per value of the schema. Beyond it (deep schemas with long names),
/// each validation that follows a reference builds them again.
const POINTERS: usize = 64;

/// A schema with precomputed data for every validation.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    root: Node<'static>,
    draft: Draft,
    references: Option<References>,
    /// Pointers to the targets of references, by number.
    targets: Option<Map<Number, String>>,
    patterns: pattern::Read,
}

impl Prepared {
    /// Prepares a schema; `None` if it is neither an object nor a boolean.
    pub(crate) fn new(schema: &Node<'_>) -> Option<Prepared> {
        if !matches!(schema.data(), Data::Object(_) | Data::Bool(_)) {
            return None;
        }
        let mut root = schema.detached();
        // References identify their targets by these numbers.
        root.number_in_order();
        let draft = Draft::of(&root);
        let references = resolved(&root, draft);
        let targets = references.as_ref().and_then(|references| pointers(&root, references));
        let patterns = pattern::of(&root);
        Some(Prepared { root, draft, references, targets, patterns })
    }

    /// Returns the schema.
    pub(crate) fn schema(&self) -> &Node<'static> {
        &self.root
    }

    /// Returns a validator for this schema.
    pub(crate) fn validator(&self) -> Validator<'_, 'static> {
        let references = self.references.as_ref().map(Cow::Borrowed);
        let patterns = Some(&self.patterns).filter(|patterns| !patterns.is_empty());
        let prepared_targets = self.targets.as_ref();
        Validator {
            root: &self.root,
            draft: self.draft,
            references,
            patterns,
            prepared_targets,
            targets: OnceCell::new(),
        }
    }
}

/// Returns the pointers to the targets of references, if they are not too long.
fn pointers(root: &Node<'_>, references: &References) -> Option<Map<Number, String>> {
    let targets = references.targets(root, &Budget::new(root.values_read(), None));
    let bytes: usize = targets.values().map(|(_, pointer)| pointer.len()).sum();
    let fits = bytes <= POINTERS.saturating_mul(root.values_read());
    let are_found = targets
        .iter()
        .all(|(number, (schema, _))| numbered(root, *number).is_some_and(|own| core::ptr::eq(own, *schema)));
    (fits && are_found).then(|| targets.into_iter().map(|(number, (_, pointer))| (number, pointer)).collect())
}

/// Returns the value with a number in a tree numbered in document order: it is inside the last child whose number is
/// not greater.
pub(super) fn numbered<'s, 'a>(root: &'s Node<'a>, number: Number) -> Option<&'s Node<'a>> {
    let is_before = |node: &Node<'_>| node.origin().number().is_some_and(|own| own <= number);
    let mut node = root;
    while node.origin().number()? != number {
        node = match node.data() {
            Data::Array(items) => items.get(items.partition_point(is_before).checked_sub(1)?)?,
            Data::Object(object) => {
                let members = object.members();
                let after = members.partition_point(|member| is_before(&member.value));
                &members.get(after.checked_sub(1)?)?.value
            }
            _ => return None,
        };
    }
    Some(node)
}
