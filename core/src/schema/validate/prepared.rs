//! A schema that is kept to judge the arguments of many calls.

use alloc::borrow::Cow;
use core::cell::OnceCell;

use super::{pattern, resolved, Validator};
use crate::{
    json::{Data, Node},
    schema::{draft::Draft, references::References},
};

/// A schema with what every validation needs to know of it.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    root: Node<'static>,
    draft: Draft,
    references: Option<References>,
    patterns: pattern::Read,
}

impl Prepared {
    /// Keeps a schema; `None` if it is neither an object nor a boolean.
    pub(crate) fn new(schema: &Node<'_>) -> Option<Prepared> {
        if !matches!(schema.data(), Data::Object(_) | Data::Bool(_)) {
            return None;
        }
        let mut root = schema.detached();
        // References find their targets by these numbers.
        root.number_in_order();
        let draft = Draft::of(&root);
        let references = resolved(&root, draft);
        let patterns = pattern::of(&root);
        Some(Prepared { root, draft, references, patterns })
    }

    /// The schema.
    pub(crate) fn schema(&self) -> &Node<'static> {
        &self.root
    }

    /// What judges by it.
    pub(crate) fn validator(&self) -> Validator<'_, 'static> {
        let references = self.references.as_ref().map(Cow::Borrowed);
        let patterns = Some(&self.patterns).filter(|patterns| !patterns.is_empty());
        Validator { root: &self.root, draft: self.draft, references, patterns, targets: OnceCell::new() }
    }
}
