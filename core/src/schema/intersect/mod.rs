//! Merges two schemas into their conjunction: one schema object that accepts exactly what both accept, as far as one
//! object can express that.
//!
//! These statements hold for JSON Schema 2020-12. The caller has converted older drafts, and reads `$ref` as a name
//! with one meaning everywhere.
//!
//! - The result accepts every instance that both accept. It is never narrower.
//! - If there is no residual ([`Merged::is_exact`]), the result accepts nothing else.
//! - The residuals contain what is missing: the result, together with every [`Residual::schema`] at its location,
//!   accepts exactly what both accept (except for `unevaluated*`, which cannot be separated from the rest of its side).
//!
//! If the result is inexact, none of this is claimed. Nothing is claimed about the parts of an instance that are
//! evaluated for an `unevaluated*` outside of both schemas.

mod branches;
mod keywords;
mod members;
mod operands;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use self::operands::Operands;
use super::keyword::{Keyword, Keywords, Role};
use crate::{
    budget::Budget,
    json::{self, Data, Member, Node, Object, Pointer, Step, Text},
    limits::MAX_NODES,
};
use operands::{Chosen, ContainerMeta, Value};

pub(super) use keywords::{values, ByValue};

/// Maximum number of branches in the product of two `anyOf` lists. Lists inside the pairs share this number, so merging
/// never makes more copies of anything than this.
const MAX_BRANCHES: usize = 16;

/// Maximum depth of a merge, in levels of JSON. Each level takes kilobytes of stack, and no known tool schema nests
/// deeper than 40. A merge that would go deeper is inexact.
const MAX_LEVELS: usize = 128;

#[derive(Debug)]
pub(crate) struct Merged<'a> {
    /// Accepts what both accept, and more if there are residuals. The schema has the origin of the outer schema, or is
    /// one of the two schemas unchanged.
    pub(crate) node: Node<'a>,
    /// Keywords that `node` could not express in addition.
    pub(crate) residual: Vec<Residual<'a>>,
    /// True if an annotation of one side replaced an annotation of the other side. Annotations of branches that accept
    /// nothing are ignored.
    pub(crate) guidance_lost: bool,
    /// True if a value was malformed, spelled as in an older draft, dependent on an identifier, or too large to copy.
    /// Then nothing is claimed.
    pub(crate) inexact: bool,
}

impl<'a> Merged<'a> {
    pub(crate) fn exact(node: Node<'a>) -> Self {
        Merged { node, residual: Vec::new(), guidance_lost: false, inexact: false }
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.residual.is_empty() && !self.inexact
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    Outer,
    Inner,
}

/// A keyword that is missing from the merged schema, or whose scope is smaller there.
///
/// If two values of a keyword cannot be combined, the outer value is kept and the inner value becomes a residual.
/// `additionalProperties` becomes a residual if it would not apply to new names from the other side; it still applies
/// to all other names.
#[derive(Debug)]
pub(crate) struct Residual<'a> {
    pub(crate) side: Operand,
    pub(crate) keyword: Keyword,
    /// The path to a schema inside the merged schema, at which the keyword is missing.
    pub(crate) at: Pointer<'a>,
    /// Schema that expresses the keyword, together with keywords of its side that it depends on (`contains` with
    /// `minContains`).
    pub(crate) schema: Node<'a>,
}

impl<'a> Residual<'a> {
    pub(crate) fn value(&self) -> Option<&Node<'a>> {
        self.schema.get(self.keyword.name())
    }
}

/// Merges two schemas. Keys of the outer schema keep their positions, and new keys of the inner schema come last.
/// `$schema`, `$id` and anchors of the inner schema are dropped. If a side adds nothing, the other side is returned
/// unchanged (the inner schema only if the order of its keys allows it).
pub(crate) fn both<'a>(budget: &Budget, outer: Node<'a>, inner: Node<'a>) -> Merged<'a> {
    both_at(budget, outer, inner, usize::MAX)
}

/// Like [`both`], but inserts the new keys of the inner schema at this index of the outer schema.
pub(crate) fn both_at<'a>(budget: &Budget, outer: Node<'a>, inner: Node<'a>, position: usize) -> Merged<'a> {
    let mut merge = Merge::new(budget, MAX_BRANCHES, MAX_NODES);
    let node = merge.merge_schemas_at(outer, inner, position).into_node();
    let Merge { residual, guidance_lost, inexact, .. } = merge;
    Merged { node, residual, guidance_lost, inexact }
}

/// The two schemas contradict each other: no instance matches both.
#[derive(Debug)]
struct Impossible;

struct Merge<'b, 'a> {
    budget: &'b Budget,
    residual: Vec<Residual<'a>>,
    guidance_lost: bool,
    inexact: bool,
    at: Pointer<'a>,
    /// Maximum number of branches that merging two `anyOf` lists may still produce.
    branches: usize,
    /// Number of nodes that may still be copied to merge the schema for all other names or items into the schemas of
    /// single names or items.
    remaining_copies: usize,
}

/// Form of a schema, as far as its own keywords show it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SchemaKind {
    /// `true` or `{}`
    Anything,
    Nothing,
    Object,
    Malformed,
}

fn kind_of(node: &Node<'_>) -> SchemaKind {
    match node.data() {
        Data::Bool(true) => SchemaKind::Anything,
        Data::Object(object) if object.is_empty() => SchemaKind::Anything,
        _ if accepts_nothing(node) => SchemaKind::Nothing,
        Data::Object(_) => SchemaKind::Object,
        _ => SchemaKind::Malformed,
    }
}

/// Returns true if the schema certainly accepts every value. False proves nothing.
pub(crate) fn accepts_all(node: &Node<'_>) -> bool {
    let is_assertion = |key| Keyword::named(key).is_some_and(|keyword| keyword.role() == Role::Assertion);
    match node.data() {
        Data::Bool(value) => *value,
        Data::Object(object) => !object.iter().any(|member| is_assertion(&member.key)),
        _ => false,
    }
}

/// Returns true if the schema certainly accepts no value. False proves nothing.
pub(super) fn accepts_nothing(node: &Node<'_>) -> bool {
    match node.data() {
        Data::Bool(value) => !value,
        _ => node.get(Keyword::Not).is_some_and(accepts_all),
    }
}

/// Keywords that identify a schema. They must not be merged into another schema.
const IDENTIFYING: Keywords = Keywords::of(&[
    Keyword::Schema,
    Keyword::Id,
    Keyword::Anchor,
    Keyword::DynamicAnchor,
    Keyword::RecursiveAnchor,
    Keyword::Vocabulary,
]);

impl<'b, 'a> Merge<'b, 'a> {
    fn new(budget: &'b Budget, branches: usize, remaining_copies: usize) -> Self {
        Merge {
            budget,
            residual: Vec::new(),
            guidance_lost: false,
            inexact: false,
            at: Pointer::root(),
            branches,
            remaining_copies,
        }
    }

    fn merge_schemas(&mut self, outer: Node<'a>, inner: Node<'a>) -> Chosen<'a> {
        self.merge_schemas_at(outer, inner, usize::MAX)
    }

    fn merge_schemas_at(&mut self, outer: Node<'a>, inner: Node<'a>, position: usize) -> Chosen<'a> {
        let (residual, guidance_lost) = (self.residual.len(), self.guidance_lost);
        match (kind_of(&outer), kind_of(&inner)) {
            _ if self.at.steps().len() > MAX_LEVELS || !self.pay(&outer, &inner) => {
                self.inexact = true;
                Chosen::Outer(outer)
            }
            (SchemaKind::Malformed, _) | (_, SchemaKind::Malformed) => {
                self.inexact = true;
                Chosen::Outer(outer)
            }
            (SchemaKind::Anything, SchemaKind::Anything) | (SchemaKind::Nothing, SchemaKind::Nothing) => {
                Chosen::Either(outer, inner)
            }
            (SchemaKind::Nothing, _) | (_, SchemaKind::Anything) => Chosen::Outer(outer),
            (_, SchemaKind::Nothing) => Chosen::Inner(inner),
            (SchemaKind::Anything, SchemaKind::Object) => self.without_identifiers(inner),
            (SchemaKind::Object, SchemaKind::Object) => {
                self.merge_objects(outer, inner, position).unwrap_or_else(|Impossible| {
                    // The result accepts nothing, so residuals and lost annotations no longer matter.
                    self.residual.truncate(residual);
                    self.guidance_lost = guidance_lost;
                    Chosen::New(Node::record([("not", Node::empty_object())]))
                })
            }
        }
    }

    fn are_same(&self, left: &Node<'a>, right: &Node<'a>) -> bool {
        json::same_within(self.budget, left, right)
    }

    fn pay(&self, outer: &Node<'a>, inner: &Node<'a>) -> bool {
        let members = |node: &Node<'a>| node.as_object().map_or(0, Object::len);
        self.budget.pay(1 + members(outer) + members(inner))
    }

    fn without_identifiers(&mut self, mut inner: Node<'a>) -> Chosen<'a> {
        let is_identifying =
            |member: &Member<'a>| Keyword::named(&member.key).is_some_and(|keyword| IDENTIFYING.contains(keyword));
        if !inner.as_object().is_some_and(|object| object.iter().any(is_identifying)) {
            return Chosen::Inner(inner);
        }
        self.mark_identifiers(&Node::empty_object(), &inner);
        if let Some(object) = inner.as_object_mut() {
            object.retain(|member| !is_identifying(member));
        }
        Chosen::New(inner)
    }

    fn merge_objects(&mut self, outer: Node<'a>, inner: Node<'a>, position: usize) -> Result<Chosen<'a>, Impossible> {
        self.mark_identifiers(&outer, &inner);
        self.mark_older_spellings(&outer, &inner);
        let shells = (ContainerMeta::of(&outer), ContainerMeta::of(&inner));
        let (Data::Object(outer), Data::Object(inner)) = (outer.into_data(), inner.into_data()) else {
            return Err(Impossible);
        };
        let mut sides = Operands::of(outer, inner, position);
        self.separate_unevaluated(&mut sides);
        self.merge_members(&mut sides);
        self.merge_positions(&mut sides);
        self.merge_contains(&mut sides);
        self.merge_conditions(&mut sides);
        for merged_member in &mut sides.merged_members {
            if let Value::Both(..) = merged_member.value {
                self.merge_value(merged_member)?;
            }
        }
        self.limit_enum_to_type(&mut sides)?;
        sides.refuse_contradictory_required()?;
        Ok(operands::merged_object(sides.merged_members, Some(shells.0), Some(shells.1)))
    }

    /// Marks the result as inexact if a removed identifier may change the target of a reference.
    fn mark_identifiers(&mut self, outer: &Node<'a>, inner: &Node<'a>) {
        let has = |node: &Node<'a>, keyword: Keyword| node.get(keyword.name()).is_some();
        let has_dynamic_anchor = has(inner, Keyword::DynamicAnchor) || has(inner, Keyword::RecursiveAnchor);
        let has_base = has(outer, Keyword::Id) || has(inner, Keyword::Id);
        self.inexact |= has_dynamic_anchor
            || (has_base && (mentions_references(outer, self.budget) || mentions_references(inner, self.budget)));
    }

    fn with_step<R>(&mut self, step: Step<'a>, inside: impl FnOnce(&mut Self) -> R) -> R {
        self.at.push(step);
        let result = inside(self);
        self.at.pop();
        result
    }

    fn merge_under(&mut self, keyword: Keyword, outer: Node<'a>, inner: Node<'a>) -> Chosen<'a> {
        self.with_step(Step::Name(keyword.name()), |merge| merge.merge_schemas(outer, inner))
    }

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

    fn pay_for_copies(&mut self, schema: &Node<'_>, copies: usize) -> bool {
        // A copy of a single node costs nothing, because it replaces another node.
        let cost = if copies == 0 { 0 } else { (json::size(schema, self.budget) - 1).saturating_mul(copies) };
        let remaining = self.remaining_copies.checked_sub(cost);
        self.remaining_copies = remaining.unwrap_or(self.remaining_copies);
        remaining.is_some()
    }
}

/// Returns true if a member is named like a reference. If it is a property, the result is inexact, which is harmless.
fn mentions_references(node: &Node<'_>, budget: &Budget) -> bool {
    let mut pending = Vec::from([node]);
    while let Some(node) = pending.pop().filter(|_| budget.pay(1)) {
        match node.data() {
            Data::Array(items) => pending.extend(items),
            Data::Object(object) => {
                for member in object {
                    if matches!(
                        Keyword::named(&member.key),
                        Some(Keyword::Ref | Keyword::DynamicRef | Keyword::RecursiveRef)
                    ) {
                        return true;
                    }
                    pending.push(&member.value);
                }
            }
            _ => {}
        }
    }
    false
}
