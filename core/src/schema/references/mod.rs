//! Resolution of references: pointers, anchors and embedded resources in a schema as read, names of definitions in a
//! rewritten schema.
//!
//! A schema is resolved as it was read, before nodes move; their numbers identify the targets from then on. References
//! in a rewritten schema lead only to the root and to its definitions, so names are enough.

mod by_name;
mod resolve;

use alloc::{boxed::Box, string::String, vec::Vec};
use core::ops::Range;

use super::{
    draft::Draft,
    keyword::{Keyword, Keywords},
    visit::{self, SchemaPath, Visit},
};
use crate::{
    budget::Budget,
    collections::{Map, Set},
    error::Error,
    json::{Data, Member, Node},
};
use by_name::by_name;
pub(crate) use resolve::resolve;

/// Identifies a target of references: the number of a node in a schema as read, or of a definition in a rewritten one.
/// Numbers follow document order.
pub(crate) type Number = u32;

/// Origin of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The caller's schema as read: references may lead anywhere.
    Read,
    /// A schema rewritten by passes: references lead to the root and its definitions.
    Written,
}

/// Resolves every reference of a schema.
///
/// # Errors
/// The errors of the walk.
pub(crate) fn of(root: &Node<'_>, form: Form, draft: Draft, budget: &Budget) -> Result<References, Error> {
    match form {
        Form::Read => resolve(root, draft, budget),
        Form::Written => by_name(root, budget),
    }
}

/// Resolved references of a schema.
#[derive(Clone, Debug)]
pub(crate) enum References {
    /// References of a schema as read.
    Read(resolve::Resolved),
    /// References of a rewritten schema.
    Written(by_name::Names),
}

impl Default for References {
    fn default() -> Self {
        References::Read(resolve::Resolved::default())
    }
}

impl References {
    /// Returns the target of a reference, given the value of its keyword; `None` if it does not resolve in this
    /// document.
    pub(crate) fn target(&self, reference: &Node<'_>) -> Option<Number> {
        match self {
            References::Read(known) => known.target(reference),
            References::Written(names) => names.target(reference),
        }
    }

    /// Returns the target of a schema's reference.
    pub(crate) fn target_of(&self, schema: &Node<'_>) -> Option<Number> {
        self.target(reference(schema)?)
    }

    /// Returns the root as a target.
    pub(crate) fn root(&self, root: &Node<'_>) -> Option<Number> {
        match self {
            References::Read(_) => root.origin().number(),
            References::Written(_) => Some(0),
        }
    }

    /// Returns the number of this schema if it is a target; `place` must be relative to the root.
    pub(crate) fn at(&self, schema: &Node<'_>, place: &SchemaPath<'_, '_>) -> Option<Number> {
        match self {
            References::Read(known) => known.at(schema),
            References::Written(names) => names.at(place),
        }
    }

    /// Returns true if one of these targets is this schema, or (in a schema as read) inside it.
    pub(crate) fn leads_into(&self, schema: &Node<'_>, place: &SchemaPath<'_, '_>, targets: &Set<Number>) -> bool {
        match self {
            References::Read(_) => {
                let range = numbers(schema);
                targets.first_from(&range.start).is_some_and(|first| range.contains(first))
            }
            References::Written(names) => names.at(place).is_some_and(|target| targets.contains(&target)),
        }
    }

    /// Returns the targets with their pointers.
    pub(crate) fn targets<'s, 'a>(&self, root: &'s Node<'a>, budget: &Budget) -> Map<Number, (&'s Node<'a>, String)> {
        match self {
            References::Read(known) => known.targets(root, budget),
            References::Written(names) => names.targets(root, budget),
        }
    }

    /// Returns the schema of a target.
    pub(crate) fn located<'s, 'a>(&self, root: &'s Node<'a>, target: Number) -> Option<&'s Node<'a>> {
        match self {
            References::Read(_) => resolve::numbered(root, target),
            References::Written(names) => names.located(root, target),
        }
    }

    /// Returns true if no reference resolves.
    pub(crate) fn is_empty(&self) -> bool {
        self.uses().next().is_none()
    }

    /// Returns all targets, without duplicates.
    pub(crate) fn all_targets(&self) -> impl Iterator<Item = Number> + '_ {
        self.uses().collect::<Set<Number>>().into_iter()
    }

    /// Returns the target of every reference, one entry per reference.
    pub(crate) fn uses(&self) -> Box<dyn Iterator<Item = Number> + '_> {
        match self {
            References::Read(known) => Box::new(known.uses()),
            References::Written(names) => Box::new(names.uses()),
        }
    }

    /// Returns the parts of the document that are targets but not at the position of a subschema, in document order.
    pub(crate) fn outside<'t, 'a>(&self, root: &'t Node<'a>, budget: &Budget) -> Vec<&'t Node<'a>> {
        match self {
            References::Read(known) => known.outside(root, budget),
            References::Written(_) => Vec::new(),
        }
    }

    /// Returns true if another anchor of this name may match the dynamic reference, depending on the dynamic scope.
    pub(crate) fn is_ambiguous(&self, reference: &Node<'_>) -> bool {
        match self {
            References::Read(known) => known.is_ambiguous(reference),
            References::Written(_) => false,
        }
    }
}

/// Keywords that refer to another schema.
pub(crate) const KEYWORDS: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Returns the reference of a schema: the value of `$ref`, otherwise of a dynamic reference.
pub(crate) fn reference<'n, 'a>(schema: &'n Node<'a>) -> Option<&'n Node<'a>> {
    let mut found = None;
    for member in schema.as_object()? {
        match Keyword::named(&member.key) {
            Some(Keyword::Ref) if member.value.as_text().is_some() => return Some(&member.value),
            Some(Keyword::DynamicRef | Keyword::RecursiveRef) if member.value.as_text().is_some() => {
                found = Some(&member.value)
            }
            _ => {}
        }
    }
    found
}

/// Returns true if any key is named like a reference, even if it is not a keyword there. Faster than
/// [`has_references`].
pub(crate) fn mentions_references(root: &Node<'_>) -> bool {
    mentions(root, Keywords::of(&[Keyword::Ref, Keyword::DynamicRef, Keyword::RecursiveRef]))
}

/// Returns true if any key is named like one of these keywords, even if it is not a keyword there. Faster than a walk.
pub(crate) fn mentions(root: &Node<'_>, keywords: Keywords) -> bool {
    root.has_member(|Member { key, .. }| Keyword::named(key).is_some_and(|keyword| keywords.contains(keyword)))
}

/// Returns true if any subschema has a reference.
///
/// # Errors
/// The errors of the walk.
pub(crate) fn has_references(root: &Node<'_>, budget: &Budget) -> Result<bool, Error> {
    has(root, &[Keyword::Ref, Keyword::DynamicRef, Keyword::RecursiveRef], budget)
}

/// Returns true if any subschema has `$dynamicRef` or `$recursiveRef`.
///
/// # Errors
/// The errors of the walk.
pub(crate) fn has_dynamic(root: &Node<'_>, budget: &Budget) -> Result<bool, Error> {
    let dynamic = [Keyword::DynamicRef, Keyword::RecursiveRef];
    Ok(mentions(root, Keywords::of(&dynamic)) && has(root, &dynamic, budget)?)
}

fn has(root: &Node<'_>, keywords: &[Keyword], budget: &Budget) -> Result<bool, Error> {
    let mut found = false;
    visit::walk(budget, root, Keywords::ALL, &mut |node, _| {
        found = found
            || keywords.iter().any(|keyword| node.get(keyword).is_some_and(|reference| reference.as_text().is_some()));
        Ok(if found { Visit::Skip } else { Visit::Descend })
    })?;
    Ok(found)
}

/// Returns the range of numbers of a node and its descendants.
pub(crate) fn numbers(node: &Node<'_>) -> Range<Number> {
    fn last(node: &Node<'_>) -> Number {
        let own = node.origin().number().unwrap_or_default();
        match node.data() {
            Data::Array(items) => items.iter().map(last).fold(own, Number::max),
            Data::Object(object) => object.iter().map(|member| last(&member.value)).fold(own, Number::max),
            _ => own,
        }
    }
    let first = node.origin().number().unwrap_or_default();
    first..last(node).saturating_add(1)
}
