//! Merges keywords for the members of objects and the items of arrays: `properties`, `patternProperties` and
//! `additionalProperties`, which depend on each other, `prefixItems` with `items`, position by position, and `contains`
//! with its counts.

use alloc::vec::Vec;
use core::cmp::Ordering;

use super::{
    accepts_all, accepts_nothing,
    operands::{self, Chosen, ContainerMeta, Item, Operands, Value},
    Merge, Operand,
};
use crate::{
    json::{self, Data, Member, Node, Object, Step, Text},
    schema::keyword::{Keyword, Keywords},
};

const PROPERTY_KEYWORDS: [Keyword; 3] =
    [Keyword::Properties, Keyword::PatternProperties, Keyword::AdditionalProperties];

/// The schemas that one side has for members; `additional` is the value of `additionalProperties`.
struct Members<'a> {
    names: Option<Node<'a>>,
    patterns: Option<Node<'a>>,
    additional: Option<Node<'a>>,
}

/// Copies of the `additionalProperties` of one side, for members that only the other side lists.
struct AdditionalCopies<'a> {
    /// Schema to merge into new names.
    names: Option<Node<'a>>,
    /// Schema to merge into new patterns.
    patterns: Option<Node<'a>>,
}

impl<'a> Merge<'_, 'a> {
    /// `additionalProperties` of one side applies to all names that neither `properties` lists nor `patternProperties`
    /// matches on the same side. The merged keyword no longer applies to names that the other side lists, so it must be
    /// merged into their schemas:
    /// - A new *name* is certainly affected if this side has no patterns. With patterns it may be affected, but nothing
    ///   here matches patterns.
    /// - A new *pattern* is certainly affected, for all names that it matches, if this side has neither names nor
    ///   patterns.
    pub(super) fn merge_members(&mut self, sides: &mut Operands<'a>) {
        let group = Keywords::of(&PROPERTY_KEYWORDS);
        if !sides.has_any(Operand::Outer, group) || !sides.has_any(Operand::Inner, group) {
            return;
        }
        let [names, patterns, additional] = PROPERTY_KEYWORDS.map(|keyword| sides.take(keyword));
        let outer = Members { names: names.0, patterns: patterns.0, additional: additional.0 };
        let inner = Members { names: names.1, patterns: patterns.1, additional: additional.1 };
        if !outer.is_well_formed() || !inner.is_well_formed() {
            self.inexact = true;
            sides.restore(Keyword::Properties, outer.names, inner.names);
            sides.restore(Keyword::PatternProperties, outer.patterns, inner.patterns);
            sides.restore(Keyword::AdditionalProperties, outer.additional, inner.additional);
            for keyword in PROPERTY_KEYWORDS {
                if let Some((ours, theirs)) = sides.take_pair(keyword) {
                    let chosen = self.keep_outer_unless_equal(keyword, ours, theirs);
                    sides.set_merged(keyword, chosen);
                }
            }
            return;
        }
        let outer_copies = self.copies_for_new_members(Operand::Outer, &outer, &inner);
        let inner_copies = self.copies_for_new_members(Operand::Inner, &inner, &outer);
        let additional = match (outer.additional, inner.additional) {
            (Some(ours), Some(theirs)) => Some(self.merge_under(Keyword::AdditionalProperties, ours, theirs)),
            (Some(ours), None) => Some(Chosen::Outer(ours)),
            (None, theirs) => theirs.map(Chosen::Inner),
        };
        // If all unlisted names are forbidden, forbidden names need not be listed.
        let is_closed = additional.as_ref().is_some_and(|additional| accepts_nothing(additional.node()))
            && [&outer.patterns, &inner.patterns].into_iter().flatten().all(is_empty);
        if let Some(additional) = additional {
            sides.set_merged(Keyword::AdditionalProperties, additional);
        }
        let copies = (outer_copies.names, inner_copies.names);
        if let Some(names) =
            self.merge_member_tables(Keyword::Properties, (outer.names, inner.names), copies, is_closed)
        {
            sides.set_merged(Keyword::Properties, names);
        }
        let copies = (outer_copies.patterns, inner_copies.patterns);
        if let Some(patterns) =
            self.merge_member_tables(Keyword::PatternProperties, (outer.patterns, inner.patterns), copies, false)
        {
            sides.set_merged(Keyword::PatternProperties, patterns);
        }
    }

    fn copies_for_new_members(
        &mut self,
        side: Operand,
        own_members: &Members<'a>,
        other_members: &Members<'a>,
    ) -> AdditionalCopies<'a> {
        let no_copies = AdditionalCopies { names: None, patterns: None };
        let Some(additional) = own_members.additional.as_ref().filter(|additional| additional.as_bool() != Some(true))
        else {
            return no_copies;
        };
        let (names, patterns) = (
            new_members(&own_members.names, &other_members.names),
            new_members(&own_members.patterns, &other_members.patterns),
        );
        let has_no_patterns = own_members.patterns.as_ref().is_none_or(is_empty);
        let has_no_names = own_members.names.as_ref().is_none_or(is_empty);
        let (to_names, to_patterns) = (names > 0 && has_no_patterns, patterns > 0 && has_no_patterns && has_no_names);
        let copies = if to_names { names } else { 0 } + if to_patterns { patterns } else { 0 };
        let is_affordable = self.pay_for_copies(additional, copies);
        let applies_to_all_new = (to_names || names == 0) && (to_patterns || patterns == 0) && is_affordable;
        if !applies_to_all_new && !accepts_all(additional) {
            self.push_additional_residual(side, own_members, additional);
        }
        let copy_additional = |wanted: bool| (wanted && is_affordable).then(|| additional.copy(self.budget));
        AdditionalCopies { names: copy_additional(to_names), patterns: copy_additional(to_patterns) }
    }

    fn push_additional_residual(&mut self, side: Operand, members: &Members<'a>, additional: &Node<'a>) {
        let tables = [&members.names, &members.patterns].into_iter().flatten();
        let names = tables.clone().filter_map(Node::as_object).map(Object::len).sum::<usize>();
        if !self.pay_for_copies(additional, 1) || self.remaining_copies < names {
            self.inexact = true;
            return;
        }
        self.remaining_copies -= names;
        let accepting_anything = |table: &Node<'a>| {
            let names = table.as_object().into_iter().flatten();
            let entries = names.map(|member| Member { key: member.key.clone(), value: Node::bool(true) });
            Node::object(Object::from_unique(entries.collect()))
        };
        let [names, patterns] = [&members.names, &members.patterns].map(|table| table.as_ref().map(accepting_anything));
        let values = PROPERTY_KEYWORDS.into_iter().zip([names, patterns, Some(additional.copy(self.budget))]);
        self.push_residual(
            side,
            Keyword::AdditionalProperties,
            values.filter_map(|(keyword, value)| Some((keyword, value?))),
        );
    }

    /// Merges two tables. New entries of one table are merged with the `additionalProperties` of the other side.
    fn merge_member_tables(
        &mut self,
        keyword: Keyword,
        (outer, inner): (Option<Node<'a>>, Option<Node<'a>>),
        (outer_additional, inner_additional): (Option<Node<'a>>, Option<Node<'a>>),
        is_closed: bool,
    ) -> Option<Chosen<'a>> {
        if outer.is_none() && inner.is_none() {
            return None;
        }
        let keep_unless_forbidden = |merged: Chosen<'a>, additional: &Node<'a>| match merged {
            merged if is_closed && accepts_nothing(additional) && accepts_nothing(merged.node()) => Value::Removed,
            merged => Value::Merged(merged),
        };
        Some(self.each_member(keyword, outer, inner, |merge, value| {
            match (value, &outer_additional, &inner_additional) {
                (Value::Both(ours, theirs), _, _) => Value::Merged(merge.merge_schemas(ours, theirs)),
                (Value::Inner(theirs), Some(additional), _) => {
                    keep_unless_forbidden(merge.merge_schemas(additional.copy(merge.budget), theirs), additional)
                }
                (Value::Outer(ours), _, Some(additional)) => {
                    keep_unless_forbidden(merge.merge_schemas(ours, additional.copy(merge.budget)), additional)
                }
                (value, _, _) => value,
            }
        }))
    }

    pub(super) fn merge_tables(
        &mut self,
        keyword: Keyword,
        outer: Node<'a>,
        inner: Node<'a>,
        mut merge_schemas: impl FnMut(&mut Self, Node<'a>, Node<'a>) -> Chosen<'a>,
    ) -> Chosen<'a> {
        if outer.as_object().is_none() || inner.as_object().is_none() {
            return self.keep_outer_unless_equal(keyword, outer, inner);
        }
        self.each_member(keyword, Some(outer), Some(inner), |merge, value| match value {
            Value::Both(ours, theirs) => Value::Merged(merge_schemas(merge, ours, theirs)),
            value => value,
        })
    }

    fn each_member(
        &mut self,
        keyword: Keyword,
        outer: Option<Node<'a>>,
        inner: Option<Node<'a>>,
        mut merge_value: impl FnMut(&mut Self, Value<'a>) -> Value<'a>,
    ) -> Chosen<'a> {
        let (outer_shell, inner_shell) = (outer.as_ref().map(ContainerMeta::of), inner.as_ref().map(ContainerMeta::of));
        let mut merged_members = operands::merged_members(members_of(outer), members_of(inner), usize::MAX);
        self.with_step(Step::Name(keyword.name()), |merge| {
            for merged_member in &mut merged_members {
                let value = core::mem::replace(&mut merged_member.value, Value::Removed);
                merged_member.value =
                    merge.with_step(Step::Member(merged_member.name()), |merge| merge_value(merge, value));
            }
        });
        operands::merged_object(merged_members, outer_shell, inner_shell)
    }
}

impl Members<'_> {
    fn is_well_formed(&self) -> bool {
        [&self.names, &self.patterns].into_iter().flatten().all(|table| table.as_object().is_some())
            && self
                .additional
                .as_ref()
                .is_none_or(|additional| additional.as_object().is_some() || additional.as_bool().is_some())
    }
}

fn members_of<'a>(table: Option<Node<'a>>) -> Object<'a> {
    match table.map(Node::into_data) {
        Some(Data::Object(object)) => object,
        _ => Object::new(),
    }
}

fn is_empty(table: &Node<'_>) -> bool {
    table.as_object().is_none_or(Object::is_empty)
}

fn new_members(known: &Option<Node<'_>>, table: &Option<Node<'_>>) -> usize {
    let Some(table) = table.as_ref().and_then(Node::as_object) else { return 0 };
    let known = known.as_ref().and_then(Node::as_object).map(Object::index).unwrap_or_default();
    let is_new = |name: &Text<'_>| !known.contains_key(name);
    table.iter().filter(|member| is_new(&member.key)).count()
}

const CONTAINS: [Keyword; 3] = [Keyword::Contains, Keyword::MinContains, Keyword::MaxContains];

impl<'a> Merge<'_, 'a> {
    /// Merges `prefixItems` and `items`. A position that only one side has is merged with `items` of the other side.
    pub(super) fn merge_positions(&mut self, sides: &mut Operands<'a>) {
        let group = Keywords::of(&[Keyword::PrefixItems, Keyword::Items]);
        if !sides.has_any(Operand::Outer, group) || !sides.has_any(Operand::Inner, group) {
            return;
        }
        let (ours, theirs) = sides.take(Keyword::PrefixItems);
        let (our_rest, their_rest) = sides.take(Keyword::Items);
        let are_lists = [&ours, &theirs].into_iter().flatten().all(|list| list.as_array().is_some());
        let are_schemas = [&our_rest, &their_rest]
            .into_iter()
            .flatten()
            .all(|rest| rest.as_object().is_some() || rest.as_bool().is_some());
        if !are_lists || !are_schemas {
            self.inexact = true;
            sides.restore(Keyword::PrefixItems, ours, theirs);
            sides.restore(Keyword::Items, our_rest, their_rest);
            for keyword in [Keyword::PrefixItems, Keyword::Items] {
                if let Some((ours, theirs)) = sides.take_pair(keyword) {
                    let chosen = self.keep_outer_unless_equal(keyword, ours, theirs);
                    sides.set_merged(keyword, chosen);
                }
            }
            return;
        }
        let shells = (ours.as_ref().map(ContainerMeta::of), theirs.as_ref().map(ContainerMeta::of));
        let (ours, theirs) = (items_of(ours), items_of(theirs));
        let shared_length = ours.len().min(theirs.len());
        let list = self.with_step(Step::Name(Keyword::PrefixItems.name()), |merge| {
            merge.merge_prefix_items(ours, theirs, &our_rest, &their_rest)
        });
        let rest = match (our_rest, their_rest) {
            (Some(ours), Some(theirs)) => Some(self.merge_under(Keyword::Items, ours, theirs)),
            (Some(ours), None) => Some(Chosen::Outer(ours)),
            (None, theirs) => theirs.map(Chosen::Inner),
        };
        let mut list = list;
        // If `items` accepts nothing, positions that accept nothing are redundant.
        if rest.as_ref().is_some_and(|rest| accepts_nothing(rest.node())) {
            while list.len() > shared_length && list.last().is_some_and(|item| accepts_nothing(item.chosen.node())) {
                list.pop();
            }
        }
        if let Some(rest) = rest {
            sides.set_merged(Keyword::Items, rest);
        }
        if !list.is_empty() {
            sides.set_merged(Keyword::PrefixItems, operands::merged_list(list, shells.0, shells.1));
        }
    }

    fn merge_prefix_items(
        &mut self,
        ours: Vec<Node<'a>>,
        theirs: Vec<Node<'a>>,
        our_rest: &Option<Node<'a>>,
        their_rest: &Option<Node<'a>>,
    ) -> Vec<Item<'a>> {
        let rest_for_missing = |rest: &Option<Node<'a>>, missing: usize, merge: &mut Self| {
            let rest = rest.as_ref().filter(|_| missing > 0);
            let is_affordable = rest.is_none_or(|rest| merge.pay_for_copies(rest, missing));
            merge.inexact |= !is_affordable;
            rest.filter(|_| is_affordable).map(|rest| rest.copy(merge.budget))
        };
        let our_rest = rest_for_missing(our_rest, theirs.len().saturating_sub(ours.len()), self);
        let their_rest = rest_for_missing(their_rest, ours.len().saturating_sub(theirs.len()), self);
        let length = ours.len().max(theirs.len());
        let (mut ours, mut theirs) = (ours.into_iter(), theirs.into_iter());
        let mut list = Vec::with_capacity(length);
        for index in 0..length {
            let (ours, theirs) = (ours.next(), theirs.next());
            let (outer, inner) = (ours.as_ref().map(|_| index), theirs.as_ref().map(|_| index));
            let chosen = self.with_step(Step::Index(index), |merge| match (ours, theirs) {
                (Some(ours), Some(theirs)) => Some(merge.merge_schemas(ours, theirs)),
                (Some(ours), None) => Some(match &their_rest {
                    Some(rest) => {
                        let rest = rest.copy(merge.budget);
                        merge.merge_schemas(ours, rest)
                    }
                    None => Chosen::Outer(ours),
                }),
                (None, Some(theirs)) => Some(match &our_rest {
                    Some(rest) => {
                        let rest = rest.copy(merge.budget);
                        merge.merge_schemas(rest, theirs)
                    }
                    None => Chosen::Inner(theirs),
                }),
                (None, None) => None,
            });
            list.extend(chosen.map(|chosen| Item { outer, inner, chosen }));
        }
        list
    }

    /// Merges `contains`. Two different schemas cannot be merged, but the counts of equal schemas can be combined.
    pub(super) fn merge_contains(&mut self, sides: &mut Operands<'a>) {
        let [contains, min, max] = CONTAINS.map(|keyword| sides.take(keyword));
        match (contains, min, max) {
            ((None, None), min, max) => {
                // Counts without `contains` have no effect.
                sides.set_merged_all([Keyword::MinContains, Keyword::MaxContains], [min.0, max.0], Chosen::Outer);
            }
            ((Some(ours), None), min, max) => sides.set_merged_all(CONTAINS, [Some(ours), min.0, max.0], Chosen::Outer),
            ((None, Some(theirs)), min, max) => {
                sides.set_merged_all(CONTAINS, [Some(theirs), min.1, max.1], Chosen::Inner)
            }
            ((Some(ours), Some(theirs)), min, max) if self.are_same(&ours, &theirs) => {
                sides.set_merged(Keyword::Contains, Chosen::Either(ours, theirs));
                let min = match min {
                    (Some(ours), Some(theirs)) => {
                        Some(self.choose_tighter(Keyword::MinContains, Ordering::Greater, ours, theirs))
                    }
                    // The default of the other side is 1.
                    (Some(ours), None) => is_positive(&ours).then_some(Chosen::Outer(ours)),
                    (None, Some(theirs)) => is_positive(&theirs).then_some(Chosen::Inner(theirs)),
                    (None, None) => None,
                };
                let max = match max {
                    (Some(ours), Some(theirs)) => {
                        Some(self.choose_tighter(Keyword::MaxContains, Ordering::Less, ours, theirs))
                    }
                    (Some(ours), None) => Some(Chosen::Outer(ours)),
                    (None, theirs) => theirs.map(Chosen::Inner),
                };
                for (keyword, chosen) in [(Keyword::MinContains, min), (Keyword::MaxContains, max)] {
                    if let Some(chosen) = chosen {
                        sides.set_merged(keyword, chosen);
                    }
                }
            }
            ((ours, theirs), min, max) => {
                let theirs = [theirs, min.1, max.1];
                let members = CONTAINS.into_iter().zip(theirs);
                self.push_residual(
                    Operand::Inner,
                    Keyword::Contains,
                    members.filter_map(|(keyword, node)| Some((keyword, node?))),
                );
                sides.set_merged_all(CONTAINS, [ours, min.0, max.0], Chosen::Outer);
            }
        }
    }
}

fn items_of(list: Option<Node<'_>>) -> Vec<Node<'_>> {
    match list.map(Node::into_data) {
        Some(Data::Array(items)) => items,
        _ => Vec::new(),
    }
}

fn is_positive(count: &Node<'_>) -> bool {
    count.as_number().is_some_and(|count| json::compare(count, "1").is_ge())
}
