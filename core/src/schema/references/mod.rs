//! Where references lead: pointers, anchors and embedded resources of a schema as it was read, names of definitions
//! once passes have written it.
//!
//! A schema is resolved as it came, before anything moves; the numbers of its nodes then find them wherever they are.
//! What passes have written refers to the root and to its definitions alone, so names are enough.

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
    json::{Data, Node},
};
use by_name::by_name;
pub(crate) use resolve::resolve;

/// What tells a target of references from the others: the number of the node as it was read, or the place among the
/// definitions. They follow one another in document order.
pub(crate) type Number = u32;

/// Whose schema it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The caller's, as it was read: references may lead anywhere.
    Read,
    /// Ours: references lead to the root and to its definitions.
    Written,
}

/// Resolves every reference of a schema.
///
/// # Errors
/// Those of the walk.
pub(crate) fn of(root: &Node<'_>, form: Form, draft: Draft, budget: &Budget) -> Result<References, Error> {
    match form {
        Form::Read => resolve(root, draft, budget),
        Form::Written => by_name(root, budget),
    }
}

/// Every reference of a schema that leads somewhere in it.
#[derive(Clone, Debug)]
pub(crate) enum References {
    /// Of a schema as it was read.
    Read(resolve::Resolved),
    /// Of a schema that passes have written.
    Written(by_name::Names),
}

impl Default for References {
    fn default() -> Self {
        References::Read(resolve::Resolved::default())
    }
}

impl References {
    /// What a reference refers to, by the value of its keyword; `None` if it leads nowhere in this document.
    pub(crate) fn target(&self, reference: &Node<'_>) -> Option<Number> {
        match self {
            References::Read(known) => known.target(reference),
            References::Written(names) => names.target(reference),
        }
    }

    /// What the reference of a schema refers to.
    pub(crate) fn target_of(&self, schema: &Node<'_>) -> Option<Number> {
        self.target(reference(schema)?)
    }

    /// The root, as a target.
    pub(crate) fn root(&self, root: &Node<'_>) -> Option<Number> {
        match self {
            References::Read(_) => root.origin().number(),
            References::Written(_) => Some(0),
        }
    }

    /// The target that stands here: `place` is counted from the root.
    pub(crate) fn at(&self, schema: &Node<'_>, place: &SchemaPath<'_, '_>) -> Option<Number> {
        match self {
            References::Read(known) => known.at(schema),
            References::Written(names) => names.at(place),
        }
    }

    /// Does one of these targets stand here, or in what stands here?
    pub(crate) fn leads_into(&self, schema: &Node<'_>, place: &SchemaPath<'_, '_>, targets: &Set<Number>) -> bool {
        match self {
            References::Read(_) => {
                let range = numbers(schema);
                targets.first_from(&range.start).is_some_and(|first| range.contains(first))
            }
            References::Written(names) => names.at(place).is_some_and(|target| targets.contains(&target)),
        }
    }

    /// Where the targets stand, with their pointers.
    pub(crate) fn targets<'s, 'a>(&self, root: &'s Node<'a>, budget: &Budget) -> Map<Number, (&'s Node<'a>, String)> {
        match self {
            References::Read(known) => known.targets(root, budget),
            References::Written(names) => names.targets(root, budget),
        }
    }

    /// The schema that a target is.
    pub(crate) fn located<'s, 'a>(&self, root: &'s Node<'a>, target: Number) -> Option<&'s Node<'a>> {
        match self {
            References::Read(_) => resolve::numbered(root, target),
            References::Written(names) => names.located(root, target),
        }
    }

    /// Does no reference lead anywhere?
    pub(crate) fn is_empty(&self) -> bool {
        self.uses().next().is_none()
    }

    /// Every schema that is referred to, once.
    pub(crate) fn all_targets(&self) -> impl Iterator<Item = Number> + '_ {
        self.uses().collect::<Set<Number>>().into_iter()
    }

    /// What every reference refers to, one entry a reference.
    pub(crate) fn uses(&self) -> Box<dyn Iterator<Item = Number> + '_> {
        match self {
            References::Read(known) => Box::new(known.uses()),
            References::Written(names) => Box::new(names.uses()),
        }
    }

    /// The parts of the document that hold targets and that no walk over the schema meets, in document order.
    pub(crate) fn outside<'t, 'a>(&self, root: &'t Node<'a>, budget: &Budget) -> Vec<&'t Node<'a>> {
        match self {
            References::Read(known) => known.outside(root, budget),
            References::Written(_) => Vec::new(),
        }
    }

    /// May another anchor of the name catch this dynamic reference, depending on where the way to it began?
    pub(crate) fn is_ambiguous(&self, reference: &Node<'_>) -> bool {
        match self {
            References::Read(known) => known.is_ambiguous(reference),
            References::Written(_) => false,
        }
    }
}

/// The keywords that refer to another schema.
pub(crate) const KEYWORDS: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// The reference of a schema: the value of its `$ref`, or of a dynamic one.
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

/// Is there a key anywhere that is called like a reference, whatever it means there? Quicker to tell than whether it is
/// one.
pub(crate) fn mentions_references(root: &Node<'_>) -> bool {
    let mut open = Vec::from([root]);
    while let Some(node) = open.pop() {
        match node.data() {
            Data::Array(items) => open.extend(items.iter().filter(|item| is_container(item))),
            Data::Object(object) => {
                if object.iter().any(|member| Keyword::named(&member.key).is_some_and(is_reference)) {
                    return true;
                }
                open.extend(object.iter().map(|member| &member.value).filter(|value| is_container(value)));
            }
            _ => {}
        }
    }
    false
}

const fn is_reference(keyword: Keyword) -> bool {
    matches!(keyword, Keyword::Ref | Keyword::DynamicRef | Keyword::RecursiveRef)
}

fn is_container(node: &Node<'_>) -> bool {
    matches!(node.data(), Data::Array(_) | Data::Object(_))
}

/// Is there a reference anywhere where a schema stands?
///
/// # Errors
/// Those of the walk.
pub(crate) fn has_references(root: &Node<'_>, budget: &Budget) -> Result<bool, Error> {
    has(root, &KEYWORDS, budget)
}

/// Is there a reference whose target is found by what stands around it, `$dynamicRef` or `$recursiveRef`?
///
/// # Errors
/// Those of the walk.
pub(crate) fn has_dynamic(root: &Node<'_>, budget: &Budget) -> Result<bool, Error> {
    has(root, &["$dynamicRef", "$recursiveRef"], budget)
}

fn has(root: &Node<'_>, keywords: &[&str], budget: &Budget) -> Result<bool, Error> {
    let mut found = false;
    visit::walk(budget, root, Keywords::ALL, &mut |node, _| {
        found = found
            || keywords.iter().any(|keyword| node.get(keyword).is_some_and(|reference| reference.as_text().is_some()));
        Ok(if found { Visit::Skip } else { Visit::Descend })
    })?;
    Ok(found)
}

/// The numbers of a node and everything in it.
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
