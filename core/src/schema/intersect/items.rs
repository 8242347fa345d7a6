//! Merges `prefixItems` with `items`, position by position, and `contains` with its counts.

use alloc::vec::Vec;
use core::cmp::Ordering;

use super::{
    accepts_nothing,
    operands::Operands,
    provenance::{self, Chosen, ContainerMeta, Item},
    Merge, Operand,
};
use crate::{
    json::{self, Data, Node, Step},
    schema::keyword::{Keyword, Keywords},
};

const CONTAINS: [Keyword; 3] = [Keyword::Contains, Keyword::MinContains, Keyword::MaxContains];

impl<'a> Merge<'_, 'a> {
    /// Merges `prefixItems` and `items`: a position on one side is merged with `items` of the other side if that has no
    /// such position.
    pub(super) fn positions(&mut self, sides: &mut Operands<'a>) {
        let group = Keywords::of(&[Keyword::PrefixItems, Keyword::Items]);
        if !sides.has(Operand::Outer, group) || !sides.has(Operand::Inner, group) {
            return;
        }
        let (ours, theirs) = sides.take(Keyword::PrefixItems);
        let (our_rest, their_rest) = sides.take(Keyword::Items);
        let lists = [&ours, &theirs].into_iter().flatten().all(|list| list.as_array().is_some());
        let schemas = [&our_rest, &their_rest]
            .into_iter()
            .flatten()
            .all(|rest| rest.as_object().is_some() || rest.as_bool().is_some());
        if !lists || !schemas {
            self.inexact = true;
            sides.restore(Keyword::PrefixItems, ours, theirs);
            sides.restore(Keyword::Items, our_rest, their_rest);
            for keyword in [Keyword::PrefixItems, Keyword::Items] {
                if let Some((ours, theirs)) = sides.take_pair(keyword) {
                    let kept = self.equal(keyword, ours, theirs);
                    sides.settle(keyword, kept);
                }
            }
            return;
        }
        let shells = (ours.as_ref().map(ContainerMeta::of), theirs.as_ref().map(ContainerMeta::of));
        let (ours, theirs) = (items(ours), items(theirs));
        let both = ours.len().min(theirs.len());
        let list = self
            .below(Step::Name(Keyword::PrefixItems.name()), |merge| merge.prefix(ours, theirs, &our_rest, &their_rest));
        let rest = match (our_rest, their_rest) {
            (Some(ours), Some(theirs)) => Some(self.under(Keyword::Items, ours, theirs)),
            (Some(ours), None) => Some(Chosen::Outer(ours)),
            (None, theirs) => theirs.map(Chosen::Inner),
        };
        let mut list = list;
        // If no further items are allowed anyway, positions that accept nothing are redundant.
        if rest.as_ref().is_some_and(|rest| accepts_nothing(rest.node())) {
            while list.len() > both && list.last().is_some_and(|item| accepts_nothing(item.kept.node())) {
                list.pop();
            }
        }
        if let Some(rest) = rest {
            sides.settle(Keyword::Items, rest);
        }
        if !list.is_empty() {
            sides.settle(Keyword::PrefixItems, provenance::list(list, shells.0, shells.1));
        }
    }

    fn prefix(
        &mut self,
        ours: Vec<Node<'a>>,
        theirs: Vec<Node<'a>>,
        our_rest: &Option<Node<'a>>,
        their_rest: &Option<Node<'a>>,
    ) -> Vec<Item<'a>> {
        let beyond = |rest: &Option<Node<'a>>, missing: usize, merge: &mut Self| {
            let rest = rest.as_ref().filter(|_| missing > 0);
            let affordable = rest.is_none_or(|rest| merge.afford(rest, missing));
            merge.inexact |= !affordable;
            rest.filter(|_| affordable).map(|rest| rest.copy(merge.budget))
        };
        let our_rest = beyond(our_rest, theirs.len().saturating_sub(ours.len()), self);
        let their_rest = beyond(their_rest, ours.len().saturating_sub(theirs.len()), self);
        let length = ours.len().max(theirs.len());
        let (mut ours, mut theirs) = (ours.into_iter(), theirs.into_iter());
        let mut list = Vec::with_capacity(length);
        for place in 0..length {
            let (ours, theirs) = (ours.next(), theirs.next());
            let (outer, inner) = (ours.as_ref().map(|_| place), theirs.as_ref().map(|_| place));
            let kept = self.below(Step::Index(place), |merge| match (ours, theirs) {
                (Some(ours), Some(theirs)) => Some(merge.schema(ours, theirs)),
                (Some(ours), None) => Some(match &their_rest {
                    Some(rest) => {
                        let rest = rest.copy(merge.budget);
                        merge.schema(ours, rest)
                    }
                    None => Chosen::Outer(ours),
                }),
                (None, Some(theirs)) => Some(match &our_rest {
                    Some(rest) => {
                        let rest = rest.copy(merge.budget);
                        merge.schema(rest, theirs)
                    }
                    None => Chosen::Inner(theirs),
                }),
                (None, None) => None,
            });
            list.extend(kept.map(|kept| Item { outer, inner, kept }));
        }
        list
    }

    /// Merges `contains`: two different ones cannot be expressed, but the counts of equal ones can be combined.
    pub(super) fn contains(&mut self, sides: &mut Operands<'a>) {
        let [contains, min, max] = CONTAINS.map(|keyword| sides.take(keyword));
        match (contains, min, max) {
            ((None, None), min, max) => {
                // Counts without `contains` have no effect.
                sides.settle_all([Keyword::MinContains, Keyword::MaxContains], [min.0, max.0], Chosen::Outer);
            }
            ((Some(ours), None), min, max) => sides.settle_all(CONTAINS, [Some(ours), min.0, max.0], Chosen::Outer),
            ((None, Some(theirs)), min, max) => sides.settle_all(CONTAINS, [Some(theirs), min.1, max.1], Chosen::Inner),
            ((Some(ours), Some(theirs)), min, max) if self.same(&ours, &theirs) => {
                sides.settle(Keyword::Contains, Chosen::Either(ours, theirs));
                let min = match min {
                    (Some(ours), Some(theirs)) => {
                        Some(self.tighter(Keyword::MinContains, Ordering::Greater, ours, theirs))
                    }
                    // The default of the other side is 1.
                    (Some(ours), None) => is_positive(&ours).then_some(Chosen::Outer(ours)),
                    (None, Some(theirs)) => is_positive(&theirs).then_some(Chosen::Inner(theirs)),
                    (None, None) => None,
                };
                let max = match max {
                    (Some(ours), Some(theirs)) => {
                        Some(self.tighter(Keyword::MaxContains, Ordering::Less, ours, theirs))
                    }
                    (Some(ours), None) => Some(Chosen::Outer(ours)),
                    (None, theirs) => theirs.map(Chosen::Inner),
                };
                for (keyword, kept) in [(Keyword::MinContains, min), (Keyword::MaxContains, max)] {
                    if let Some(kept) = kept {
                        sides.settle(keyword, kept);
                    }
                }
            }
            ((ours, theirs), min, max) => {
                let theirs = [theirs, min.1, max.1];
                let left = CONTAINS.into_iter().zip(theirs);
                self.push_residual(
                    Operand::Inner,
                    Keyword::Contains,
                    left.filter_map(|(keyword, node)| Some((keyword, node?))),
                );
                sides.settle_all(CONTAINS, [ours, min.0, max.0], Chosen::Outer);
            }
        }
    }
}

fn items(list: Option<Node<'_>>) -> Vec<Node<'_>> {
    match list.map(Node::into_data) {
        Some(Data::Array(items)) => items,
        _ => Vec::new(),
    }
}

fn is_positive(count: &Node<'_>) -> bool {
    count.as_number().is_some_and(|count| json::compare(count, "1").is_ge())
}
