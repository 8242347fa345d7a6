//! Repairs values to fit `anyOf` and `oneOf`: each branch is tried alone.

use alloc::vec::Vec;

use super::{
    kinds::Candidate,
    view::{only_listed_value, Union, View},
    At, Fixed, Repairer,
};
use crate::{
    json::{same, Data, Node},
    report::Confidence,
    schema::{instance_types::InstanceTypes, keyword::Keyword, validate::Verdict},
};

/// Maximum depth of the search for nested values that the repair of a branch makes invalid.
const MAX_DEPTH: usize = 16;

/// Result of the repair by a branch that did not make the union valid.
struct Attempt<'n> {
    /// True if the branch accepts only null.
    is_null: bool,
    /// True if the branch accepts the type of the value.
    accepts_type: bool,
    repaired: Fixed<'n>,
}

impl<'s, 'a> Repairer<'_, 's, 'a> {
    #[inline(never)]
    pub(super) fn repair_unions<'n>(&mut self, view: &View<'s, 'a>, fixed: &mut Fixed<'n>, at: At<'_>) {
        for union in &view.unions {
            if self.judge.keyword(union.keyword, union.schema, &fixed.value) != Verdict::Invalid {
                continue;
            }
            if let Some(repaired) = self.repair_union(view, *union, &fixed.value, at) {
                fixed.value = repaired.value;
                fixed.repairs.extend(repaired.repairs);
            }
        }
    }

    fn repair_union<'n>(
        &mut self,
        view: &View<'s, 'a>,
        union: Union<'s, 'a>,
        value: &Node<'n>,
        at: At<'_>,
    ) -> Option<Fixed<'n>> {
        let value_type = InstanceTypes::of_instance(value);
        let mut branches: Vec<(&'s Node<'a>, Option<View<'s, 'a>>)> = Vec::new();
        for branch in union.branches {
            let branch_view = self.view(&[branch]);
            branches.push((branch, branch_view));
        }
        let accepts_type = |branch_view: &Option<View<'_, '_>>| {
            branch_view.as_ref().is_none_or(|branch_view| value_type.is_subset_of(branch_view.types))
        };
        let mut is_possible: Vec<bool> = Vec::new();
        for (_, branch_view) in &branches {
            is_possible
                .push(!branch_view.as_ref().is_some_and(|branch_view| self.violates_constant(branch_view, value)));
        }
        // If the constants of every branch for its type differ from the value, no branch is excluded.
        if !branches
            .iter()
            .zip(&is_possible)
            .any(|((_, branch_view), is_possible_branch)| *is_possible_branch && accepts_type(branch_view))
        {
            is_possible.iter_mut().for_each(|is_possible_branch| *is_possible_branch = true);
        }
        let (mut valid, mut attempts): (Vec<Candidate<'n>>, Vec<Attempt<'n>>) = (Vec::new(), Vec::new());
        for ((branch, branch_view), _) in
            branches.iter().zip(&is_possible).filter(|(_, is_possible_branch)| **is_possible_branch)
        {
            let repaired = self.repair_branch(branch, value, at);
            if !repaired.repairs.is_empty() && self.keeps_assertions(view, union, value, &repaired.value) {
                if self.judge.keyword(union.keyword, union.schema, &repaired.value) == Verdict::Valid {
                    let lowest = |lowest: Confidence, repair: &crate::report::Repair| lowest.min(repair.confidence);
                    let confidence = repaired.repairs.iter().fold(Confidence::Exact, lowest);
                    valid.push(Candidate { fixed: repaired, confidence });
                    continue;
                }
                let is_null = branch_view.as_ref().is_some_and(|branch_view| branch_view.types == InstanceTypes::NULL);
                attempts.push(Attempt { is_null, accepts_type: accepts_type(branch_view), repaired });
                continue;
            }
            let is_null = branch_view.as_ref().is_some_and(|branch_view| branch_view.types == InstanceTypes::NULL);
            let repaired = Fixed { value: Node::default(), repairs: Vec::new() };
            attempts.push(Attempt { is_null, accepts_type: accepts_type(branch_view), repaired });
        }
        if !valid.is_empty() {
            return self.choose_candidate(valid, at);
        }
        // No branch is valid. If only one branch can be meant, its members are repaired as far as possible.
        let only_attempt = |is_meant: &dyn Fn(&Attempt<'n>) -> bool| {
            let mut matching =
                attempts.iter().enumerate().filter(|(_, attempt)| is_meant(attempt)).map(|(index, _)| index);
            matching.next().filter(|_| matching.next().is_none())
        };
        let index =
            only_attempt(&|attempt| !attempt.is_null).or_else(|| only_attempt(&|attempt| attempt.accepts_type))?;
        let Attempt { repaired, .. } = attempts.into_iter().nth(index)?;
        (!repaired.repairs.is_empty()).then_some(repaired)
    }

    fn repair_branch<'n>(&mut self, branch: &'s Node<'a>, value: &Node<'n>, at: At<'_>) -> Fixed<'n> {
        let copy = value.copy(self.judge.budget());
        self.repair_value(&[branch], copy, At { level: at.level + 1, is_untyped_root: false, ..at })
    }

    fn violates_constant(&mut self, branch: &View<'s, 'a>, value: &Node<'_>) -> bool {
        let Some(object) = value.as_object() else { return false };
        for (_, table) in branch.keyword_values(Keyword::Properties) {
            for member in table.as_object().into_iter().flatten() {
                let Some(value) = object.get_text(&member.key).filter(|_| self.judge.budget().pay(1)) else { continue };
                let property_view = self.view(&[&member.value]);
                let parts = property_view.iter().flat_map(|property_view| property_view.parts.iter());
                if parts.filter_map(|part| only_listed_value(part)).any(|constant| !same(constant, value)) {
                    return true;
                }
            }
        }
        false
    }

    /// Returns true if all assertions at this position that held before still hold, apart from the union.
    fn keeps_assertions(
        &mut self,
        view: &View<'s, 'a>,
        union: Union<'s, 'a>,
        before: &Node<'_>,
        after: &Node<'_>,
    ) -> bool {
        for part in &view.parts {
            for member in part.iter() {
                let Some(keyword) = Keyword::named(&member.key) else { continue };
                let is_union = keyword == union.keyword && core::ptr::eq(*part, union.schema);
                let is_in_parts = matches!(keyword, Keyword::Ref | Keyword::AllOf);
                if is_union || is_in_parts || self.judge.keyword(keyword, part, after) != Verdict::Invalid {
                    continue;
                }
                if self.judge.keyword(keyword, part, before) != Verdict::Invalid {
                    return false;
                }
            }
        }
        !self.breaks_nested_values(view, before, after, MAX_DEPTH)
    }

    /// Returns true if a changed nested value violates a schema of this position outside the union. If the value was
    /// already invalid and keeps its type, only the values inside it matter.
    fn breaks_nested_values(&mut self, view: &View<'s, 'a>, before: &Node<'_>, after: &Node<'_>, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match (before.data(), after.data()) {
            (Data::Object(before), Data::Object(after)) => before.iter().any(|member| {
                let Some(new_value) = after.get_text(&member.key) else { return false };
                let schemas = self.member_schemas(view, &member.key);
                self.breaks_changed_value(&schemas, &member.value, new_value, depth)
            }),
            (Data::Array(before), Data::Array(after)) => {
                before.iter().zip(after).enumerate().any(|(index, (before, after))| {
                    let schemas = self.item_schemas(view, index);
                    self.breaks_changed_value(&schemas, before, after, depth)
                })
            }
            _ => false,
        }
    }

    fn breaks_changed_value(
        &mut self,
        schemas: &[&'s Node<'a>],
        before: &Node<'_>,
        after: &Node<'_>,
        depth: usize,
    ) -> bool {
        if schemas.is_empty() || !self.judge.budget().pay(1) || same(before, after) {
            return false;
        }
        let [was_invalid, is_invalid] = [before, after]
            .map(|value| schemas.iter().any(|schema| self.judge.verdict(schema, value) == Verdict::Invalid));
        let keeps_type = was_invalid && InstanceTypes::of_instance(before) == InstanceTypes::of_instance(after);
        match self.view(schemas).filter(|_| is_invalid && keeps_type) {
            Some(view) => self.breaks_nested_values(&view, before, after, depth),
            None => is_invalid,
        }
    }
}
