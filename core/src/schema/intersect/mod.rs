//! The conjunction of two schemas: one schema object that accepts exactly what both accept, as far as one object can
//! say it.
//!
//! The theorem, for JSON Schema 2020-12 (whoever calls has respelled what older drafts say otherwise, and reads `$ref`
//! as a name that means the same everywhere):
//!
//! - Whatever both accept, the result accepts. It is never narrower.
//! - Where nothing is left over ([`Merged::is_exact`]), it accepts nothing else.
//! - What is left over says what is missing: the result and every [`Residual::schema`] at its place are exact together
//!   (`unevaluated*` alone cannot be said apart from the rest of its side).
//!
//! Where the merging is in doubt nothing of this is claimed. Nothing is claimed either about which parts of an instance
//! count as evaluated for an `unevaluated*` that stands outside of both.

mod branches;
mod items;
mod keywords;
mod operands;
mod order;
mod properties;
mod provenance;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

pub(super) use self::order::{values, ByValue};
use self::{
    operands::Operands,
    provenance::{Chosen, ContainerMeta, Value},
};
use super::keyword::{Keyword, Keywords, Role};
use crate::{
    budget::Budget,
    json::{self, Data, Member, Node, Object, Pointer, Step, Text},
    limits::MAX_NODES,
};

/// Two lists of `anyOf` become one list of all pairs only up to so many branches; lists inside the pairs share them, so
/// that merging never makes more than so many copies of anything.
const MAX_BRANCHES: usize = 16;

/// How many levels of JSON two schemas are merged down. Each takes kilobytes of stack, and no real tool schema nests
/// deeper than 40; where both still say something further down, that is in doubt.
const MAX_LEVELS: usize = 128;

/// Two schemas as one.
#[derive(Debug)]
pub(crate) struct Merged<'a> {
    /// What both accept, and more if something is left over. With the outer's origin, or untouched if it is one of the
    /// two.
    pub(crate) node: Node<'a>,
    /// What the schema could not say as well.
    pub(crate) residual: Vec<Residual<'a>>,
    /// A text or another annotation had to give way to the other side's. Texts about what nothing can be do not count.
    pub(crate) guidance_lost: bool,
    /// A value was malformed, spelled as in an older draft, hung on an identifier, or too large to copy: nothing is
    /// claimed.
    pub(crate) inexact: bool,
}

impl<'a> Merged<'a> {
    /// One schema alone.
    pub(crate) fn exact(node: Node<'a>) -> Self {
        Merged { node, residual: Vec::new(), guidance_lost: false, inexact: false }
    }

    /// Does it accept exactly what both accept?
    pub(crate) fn is_exact(&self) -> bool {
        self.residual.is_empty() && !self.inexact
    }
}

/// Which of the two schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    Outer,
    Inner,
}

/// A keyword that is missing from the merged schema, or that does not reach as far there as it did.
///
/// Where two values of a keyword cannot be said at once, the outer's is said and the inner's is left over.
/// `additionalProperties` is left over where it does not reach the other side's new names, and still stands for all
/// other names.
#[derive(Debug)]
pub(crate) struct Residual<'a> {
    /// Whose it is.
    pub(crate) side: Operand,
    pub(crate) keyword: Keyword,
    /// Where it is missing: the path to a schema in the merged one.
    pub(crate) at: Pointer<'a>,
    /// A schema that says it: the keyword and whatever of its side it is read with (`contains` with `minContains`).
    pub(crate) schema: Node<'a>,
}

impl<'a> Residual<'a> {
    /// The keyword's value.
    pub(crate) fn value(&self) -> Option<&Node<'a>> {
        self.schema.get(self.keyword.name())
    }
}

/// The schema that accepts exactly what both accept, as far as one schema object can say it.
///
/// The outer's keys keep their places and the inner's new ones come last. `$schema`, `$id` and anchors of the inner are
/// dropped. A side to which the other adds nothing comes back untouched (the inner only if its keys need not move for
/// it).
pub(crate) fn both<'a>(budget: &Budget, outer: Node<'a>, inner: Node<'a>) -> Merged<'a> {
    both_at(budget, outer, inner, usize::MAX)
}

/// As [`both`], with the inner's new keys before the outer's key number `place`.
pub(crate) fn both_at<'a>(budget: &Budget, outer: Node<'a>, inner: Node<'a>, place: usize) -> Merged<'a> {
    let mut merge = Merge::new(budget, MAX_BRANCHES, MAX_NODES);
    let node = merge.schema_at(outer, inner, place).into_node();
    let Merge { residual, guidance_lost, inexact, .. } = merge;
    Merged { node, residual, guidance_lost, inexact }
}

/// No instance at all: the two contradict each other.
#[derive(Debug)]
struct Impossible;

struct Merge<'b, 'a> {
    budget: &'b Budget,
    residual: Vec<Residual<'a>>,
    guidance_lost: bool,
    inexact: bool,
    at: Pointer<'a>,
    /// How many branches two lists of `anyOf` may become from here on down.
    branches: usize,
    /// How many nodes may still be copied to where a rule for all other names or items meets a name or an item.
    spare: usize,
}

/// What a schema is before one looks closer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// `true` or `{}`
    Anything,
    Nothing,
    Object,
    Malformed,
}

fn shape(node: &Node<'_>) -> Shape {
    match node.data() {
        Data::Bool(true) => Shape::Anything,
        Data::Object(object) if object.is_empty() => Shape::Anything,
        _ if accepts_nothing(node) => Shape::Nothing,
        Data::Object(_) => Shape::Object,
        _ => Shape::Malformed,
    }
}

/// Does it plainly accept every instance?
pub(super) fn accepts_all(node: &Node<'_>) -> bool {
    let assertion = |key| Keyword::named(key).is_some_and(|keyword| keyword.role() == Role::Assertion);
    match node.data() {
        Data::Bool(value) => *value,
        Data::Object(object) => !object.iter().any(|member| assertion(&member.key)),
        _ => false,
    }
}

/// Does it plainly accept no instance?
pub(super) fn accepts_nothing(node: &Node<'_>) -> bool {
    match node.data() {
        Data::Bool(value) => !value,
        _ => node.get(Keyword::Not).is_some_and(accepts_all),
    }
}

/// What speaks of the schema itself or names it; not of use in another schema.
const OWN: Keywords = Keywords::of(&[
    Keyword::Schema,
    Keyword::Id,
    Keyword::Anchor,
    Keyword::DynamicAnchor,
    Keyword::RecursiveAnchor,
    Keyword::Vocabulary,
]);

impl<'b, 'a> Merge<'b, 'a> {
    fn new(budget: &'b Budget, branches: usize, spare: usize) -> Self {
        Merge {
            budget,
            residual: Vec::new(),
            guidance_lost: false,
            inexact: false,
            at: Pointer::root(),
            branches,
            spare,
        }
    }

    /// Two schemas as one.
    fn schema(&mut self, outer: Node<'a>, inner: Node<'a>) -> Chosen<'a> {
        self.schema_at(outer, inner, usize::MAX)
    }

    fn schema_at(&mut self, outer: Node<'a>, inner: Node<'a>, place: usize) -> Chosen<'a> {
        let (residual, guidance_lost) = (self.residual.len(), self.guidance_lost);
        match (shape(&outer), shape(&inner)) {
            _ if self.at.steps().len() > MAX_LEVELS || !self.pay(&outer, &inner) => {
                self.inexact = true;
                Chosen::Outer(outer)
            }
            (Shape::Malformed, _) | (_, Shape::Malformed) => {
                self.inexact = true;
                Chosen::Outer(outer)
            }
            (Shape::Anything, Shape::Anything) | (Shape::Nothing, Shape::Nothing) => Chosen::Either(outer, inner),
            (Shape::Nothing, _) | (_, Shape::Anything) => Chosen::Outer(outer),
            (_, Shape::Nothing) => Chosen::Inner(inner),
            (Shape::Anything, Shape::Object) => self.without_own(inner),
            (Shape::Object, Shape::Object) => {
                self.objects(outer, inner, place).unwrap_or_else(|Impossible| {
                    // Nothing is left over from what accepts nothing, and no reader needs to know more of it.
                    self.residual.truncate(residual);
                    self.guidance_lost = guidance_lost;
                    Chosen::Made(Node::record([("not", Node::empty_object())]))
                })
            }
        }
    }

    /// Are two values the same? The budget pays.
    fn same(&self, one: &Node<'a>, two: &Node<'a>) -> bool {
        json::same_within(self.budget, one, two)
    }

    /// Pays for the members of both.
    fn pay(&self, outer: &Node<'a>, inner: &Node<'a>) -> bool {
        let members = |node: &Node<'a>| node.as_object().map_or(0, Object::len);
        self.budget.pay(1 + members(outer) + members(inner))
    }

    fn without_own(&mut self, mut inner: Node<'a>) -> Chosen<'a> {
        let is_own = |member: &Member<'a>| Keyword::named(&member.key).is_some_and(|keyword| OWN.contains(keyword));
        if !inner.as_object().is_some_and(|object| object.iter().any(is_own)) {
            return Chosen::Inner(inner);
        }
        self.doubt_identifiers(&Node::empty_object(), &inner);
        if let Some(object) = inner.as_object_mut() {
            object.retain(|member| !is_own(member));
        }
        Chosen::Made(inner)
    }

    fn objects(&mut self, outer: Node<'a>, inner: Node<'a>, place: usize) -> Result<Chosen<'a>, Impossible> {
        self.doubt_identifiers(&outer, &inner);
        self.doubt_older_spellings(&outer, &inner);
        let shells = (ContainerMeta::of(&outer), ContainerMeta::of(&inner));
        let (Data::Object(outer), Data::Object(inner)) = (outer.into_data(), inner.into_data()) else {
            return Err(Impossible);
        };
        let mut sides = Operands::of(outer, inner, place);
        self.unevaluated(&mut sides);
        self.members(&mut sides);
        self.positions(&mut sides);
        self.contains(&mut sides);
        self.conditions(&mut sides);
        for slot in &mut sides.slots {
            if let Value::Both(..) = slot.value {
                self.value(slot)?;
            }
        }
        self.enum_within_type(&mut sides)?;
        sides.requires_what_it_forbids()?;
        Ok(provenance::object(sides.slots, Some(shells.0), Some(shells.1)))
    }

    /// A name means something else once an identifier is gone.
    fn doubt_identifiers(&mut self, outer: &Node<'a>, inner: &Node<'a>) {
        let has = |node: &Node<'a>, keyword: Keyword| node.get(keyword.name()).is_some();
        let dynamic = has(inner, Keyword::DynamicAnchor) || has(inner, Keyword::RecursiveAnchor);
        let based = has(outer, Keyword::Id) || has(inner, Keyword::Id);
        self.inexact |= dynamic || (based && (refers(outer, self.budget) || refers(inner, self.budget)));
    }

    /// What the two say of one keyword at a step down.
    fn below<R>(&mut self, step: Step<'a>, inside: impl FnOnce(&mut Self) -> R) -> R {
        self.at.push(step);
        let result = inside(self);
        self.at.pop();
        result
    }

    /// Two schemas under one keyword.
    fn under(&mut self, keyword: Keyword, outer: Node<'a>, inner: Node<'a>) -> Chosen<'a> {
        self.below(Step::Name(keyword.name()), |merge| merge.schema(outer, inner))
    }

    /// Notes what could not be said here.
    fn push_residual(
        &mut self,
        side: Operand,
        keyword: Keyword,
        members: impl IntoIterator<Item = (Keyword, Node<'a>)>,
    ) {
        let members = members.into_iter().map(|(keyword, value)| Member { key: Text::literal(keyword.name()), value });
        let schema = Node::object(Object::from_unique(members.collect()));
        self.residual.push(Residual { side, keyword, at: self.at.clone(), schema });
    }

    /// May so many copies of a schema be made?
    fn afford(&mut self, schema: &Node<'_>, copies: usize) -> bool {
        // A copy that is one node takes the place of nothing worth counting.
        let cost = if copies == 0 { 0 } else { (json::size(schema, self.budget) - 1).saturating_mul(copies) };
        let left = self.spare.checked_sub(cost);
        self.spare = left.unwrap_or(self.spare);
        left.is_some()
    }
}

/// Does a reference stand anywhere inside? A property of such a name counts: it costs no more than a doubt.
fn refers(node: &Node<'_>, budget: &Budget) -> bool {
    let mut open = Vec::from([node]);
    while let Some(node) = open.pop().filter(|_| budget.pay(1)) {
        match node.data() {
            Data::Array(items) => open.extend(items),
            Data::Object(object) => {
                for member in object {
                    if matches!(
                        Keyword::named(&member.key),
                        Some(Keyword::Ref | Keyword::DynamicRef | Keyword::RecursiveRef)
                    ) {
                        return true;
                    }
                    open.push(&member.value);
                }
            }
            _ => {}
        }
    }
    false
}
