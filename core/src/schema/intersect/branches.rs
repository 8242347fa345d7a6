//! Merges keywords that combine schemas for the same instance: `allOf`, `anyOf`, `not`, `if`, and `unevaluated*`, which
//! depends on them.

use alloc::{vec, vec::Vec};

use super::{
    accepts_all, accepts_nothing,
    keywords::{values, ByValue},
    operands::{self, Chosen, ContainerMeta, Item, Operands},
    Impossible, Merge, Operand,
};
use crate::{
    json::Node,
    schema::keyword::{Keyword, Keywords},
};

const CONDITION: [Keyword; 3] = [Keyword::If, Keyword::Then, Keyword::Else];

const EVALUATES_PROPERTIES: Keywords =
    IN_PLACE.insert(Keyword::Properties).insert(Keyword::PatternProperties).insert(Keyword::AdditionalProperties);

const EVALUATES_ITEMS: Keywords = IN_PLACE
    .insert(Keyword::PrefixItems)
    .insert(Keyword::Items)
    .insert(Keyword::AdditionalItems)
    .insert(Keyword::Contains);

/// In-place applicators and references, without `not`, which evaluates nothing.
const IN_PLACE: Keywords = Keywords::of(&[
    Keyword::AllOf,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::If,
    Keyword::Then,
    Keyword::Else,
    Keyword::DependentSchemas,
    Keyword::Dependencies,
    Keyword::Ref,
    Keyword::DynamicRef,
    Keyword::RecursiveRef,
]);

impl<'a> Merge<'_, 'a> {
    /// Moves `unevaluated*` to the residual if the other side adds siblings that evaluate. It applies to what its
    /// siblings do not evaluate.
    pub(super) fn separate_unevaluated(&mut self, sides: &mut Operands<'a>) {
        let keywords =
            [(Keyword::UnevaluatedProperties, EVALUATES_PROPERTIES), (Keyword::UnevaluatedItems, EVALUATES_ITEMS)];
        for (keyword, evaluates) in keywords {
            let (outer, inner) = sides.take(keyword);
            let outer = self.keep_unless(sides.adds_any(Operand::Inner, evaluates), Operand::Outer, keyword, outer);
            let inner = self.keep_unless(sides.adds_any(Operand::Outer, evaluates), Operand::Inner, keyword, inner);
            sides.restore(keyword, outer, inner);
        }
    }

    /// Returns the value, or moves it to the residual if the other side disturbs its meaning.
    fn keep_unless(
        &mut self,
        is_disturbed: bool,
        side: Operand,
        keyword: Keyword,
        value: Option<Node<'a>>,
    ) -> Option<Node<'a>> {
        if !is_disturbed {
            return value;
        }
        let value = value.filter(|value| !accepts_all(value))?;
        self.push_residual(side, keyword, [(keyword, value)]);
        None
    }

    pub(super) fn all_of(&mut self, mut outer: Node<'a>, inner: Node<'a>) -> Chosen<'a> {
        let (Some(ours), Some(theirs)) = (outer.as_array(), inner.as_array()) else {
            return self.keep_outer_unless_equal(Keyword::AllOf, outer, inner);
        };
        let (our_values, their_values) = (values(ours), values(theirs));
        if their_values.is_subset(&our_values) {
            return if self.are_same(&outer, &inner) { Chosen::Either(outer, inner) } else { Chosen::Outer(outer) };
        }
        let new_schemas = theirs
            .iter()
            .filter(|schema| !our_values.contains(&ByValue(schema)))
            .map(|schema| schema.copy(self.budget));
        let new_schemas: Vec<Node<'a>> = new_schemas.collect();
        if let Some(schemas) = outer.as_array_mut() {
            schemas.extend(new_schemas);
        }
        Chosen::New(outer)
    }

    /// Returns the merged pairs of branches if there are few pairs and each can be merged exactly. Otherwise, returns
    /// the outer list, and moves the inner list to the residual.
    pub(super) fn any_of(&mut self, outer: Node<'a>, inner: Node<'a>) -> Result<Chosen<'a>, Impossible> {
        let (Some(ours), Some(theirs)) = (outer.as_array(), inner.as_array()) else {
            return Ok(self.keep_outer_unless_equal(Keyword::AnyOf, outer, inner));
        };
        let pairs = ours.len().saturating_mul(theirs.len());
        if pairs == 0 || self.are_same(&outer, &inner) {
            return Ok(self.keep_outer_unless_equal(Keyword::AnyOf, outer, inner));
        }
        if pairs <= self.branches {
            if let Some(items) = self.merge_pairs(ours, theirs, pairs) {
                let shells = (ContainerMeta::of(&outer), ContainerMeta::of(&inner));
                return if items.is_empty() {
                    Err(Impossible)
                } else {
                    Ok(operands::merged_list(items, Some(shells.0), Some(shells.1)))
                };
            }
        }
        self.push_residual(Operand::Inner, Keyword::AnyOf, [(Keyword::AnyOf, inner)]);
        Ok(Chosen::Outer(outer))
    }

    fn merge_pairs(&mut self, ours: &[Node<'a>], theirs: &[Node<'a>], pairs: usize) -> Option<Vec<Item<'a>>> {
        let mut nested = Merge::new(self.budget, self.branches / pairs.max(1), self.remaining_copies);
        nested.at = self.at.clone();
        let mut items = Vec::with_capacity(pairs);
        let mut guidance_lost = false;
        for (outer_index, outer) in ours.iter().enumerate() {
            for (inner_index, inner) in theirs.iter().enumerate() {
                nested.guidance_lost = false;
                let chosen = nested.merge_schemas(outer.copy(self.budget), inner.copy(self.budget));
                self.remaining_copies = nested.remaining_copies;
                if nested.inexact || !nested.residual.is_empty() {
                    return None;
                }
                // A branch that accepts nothing is dropped, and its annotations are not lost because they never
                // applied.
                if !accepts_nothing(chosen.node()) {
                    guidance_lost |= nested.guidance_lost;
                    items.push(Item { outer: Some(outer_index), inner: Some(inner_index), chosen });
                }
            }
        }
        self.guidance_lost |= guidance_lost;
        Some(items)
    }

    pub(super) fn not(&mut self, mut outer: Node<'a>, inner: Node<'a>) -> Result<Chosen<'a>, Impossible> {
        if accepts_all(&outer) || accepts_all(&inner) {
            return Err(Impossible);
        }
        let is_same = self.are_same(&outer, &inner);
        if accepts_nothing(&inner) || is_same {
            return Ok(if accepts_nothing(&outer) || is_same {
                Chosen::Either(outer, inner)
            } else {
                Chosen::Outer(outer)
            });
        }
        if accepts_nothing(&outer) {
            return Ok(Chosen::Inner(inner));
        }
        // If the outer schema is only a union, it is extended, so that repeated merges do not nest.
        let is_only_union = outer.as_object().is_some_and(|object| object.len() == 1);
        let was_extended = outer.visit(Keyword::AnyOf, |list| match list.as_array_mut() {
            Some(list) if is_only_union => {
                if !list.iter().any(|schema| self.are_same(schema, &inner)) {
                    list.push(inner.copy(self.budget));
                }
                true
            }
            _ => false,
        });
        if was_extended == Some(true) {
            return Ok(Chosen::New(outer));
        }
        Ok(Chosen::New(Node::record([("anyOf", Node::array(vec![outer, inner]))])))
    }

    /// `then` and `else` belong to the `if` of their own side, and have no effect without it.
    pub(super) fn merge_conditions(&mut self, sides: &mut Operands<'a>) {
        let [condition, then, otherwise] = CONDITION.map(|keyword| sides.take(keyword));
        let ours = [condition.0, then.0, otherwise.0];
        let theirs = [condition.1, then.1, otherwise.1];
        // True if `if` has `then` or `else`.
        let has_effect = |group: &[Option<Node<'a>>; 3]| matches!(group, [Some(_), Some(_), _] | [Some(_), _, Some(_)]);
        if self.are_same_groups(&ours, &theirs) {
            for ((keyword, ours), theirs) in CONDITION.into_iter().zip(ours).zip(theirs) {
                if let (Some(ours), Some(theirs)) = (ours, theirs) {
                    sides.set_merged(keyword, Chosen::Either(ours, theirs));
                }
            }
        } else if !has_effect(&ours) && (has_effect(&theirs) || ours.iter().all(Option::is_none)) {
            sides.set_merged_all(CONDITION, theirs, Chosen::Inner);
        } else {
            if has_effect(&theirs) {
                let members = CONDITION.into_iter().zip(theirs);
                self.push_residual(
                    Operand::Inner,
                    Keyword::If,
                    members.filter_map(|(keyword, node)| Some((keyword, node?))),
                );
            }
            sides.set_merged_all(CONDITION, ours, Chosen::Outer);
        }
    }

    fn are_same_groups<const N: usize>(&self, ours: &[Option<Node<'a>>; N], theirs: &[Option<Node<'a>>; N]) -> bool {
        ours.iter().zip(theirs).all(|(ours, theirs)| match (ours, theirs) {
            (Some(ours), Some(theirs)) => self.are_same(ours, theirs),
            (None, None) => true,
            _ => false,
        })
    }
}
