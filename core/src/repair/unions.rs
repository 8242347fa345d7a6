//! Repairs values to fit `anyOf` and `oneOf`: each branch is tried alone.

use alloc::vec::Vec;

use super::{
    kinds::Candidate,
    view::{only_value, Union, View},
    At, Fixed, Repairer,
};
use crate::{
    json::{same, Data, Node},
    report::Confidence,
    schema::{instance_types::InstanceTypes, keyword::Keyword, validate::Verdict},
};

/// Maximum depth of the search for what a branch breaks.
const MAX_DEPTH: usize = 16;

impl<'s, 'a> Repairer<'_, 's, 'a> {
    #[inline(never)]
    pub(super) fn unions<'n>(&mut self, view: &View<'s, 'a>, fixed: &mut Fixed<'n>, at: At<'_>) {
        for union in &view.unions {
            if self.judge.keyword(union.keyword, union.schema, &fixed.value) != Verdict::Invalid {
                continue;
            }
            if let Some(found) = self.union(view, *union, &fixed.value, at) {
                fixed.value = found.value;
                fixed.repairs.extend(found.repairs);
            }
        }
    }

    fn union<'n>(
        &mut self,
        view: &View<'s, 'a>,
        union: Union<'s, 'a>,
        value: &Node<'n>,
        at: At<'_>,
    ) -> Option<Fixed<'n>> {
        let kind = InstanceTypes::of_instance(value);
        let mut branches: Vec<(&'s Node<'a>, Option<View<'s, 'a>>)> = Vec::new();
        for branch in union.branches {
            let branch_view = self.view(&[branch]);
            branches.push((branch, branch_view));
        }
        let takes = |branch_view: &Option<View<'_, '_>>| {
            branch_view.as_ref().is_none_or(|branch_view| kind.within(branch_view.kinds))
        };
        let mut open: Vec<bool> = Vec::new();
        for (_, branch_view) in &branches {
            open.push(!branch_view.as_ref().is_some_and(|branch_view| self.contradicts(branch_view, value)));
        }
        // If the value contradicts every branch for its type, no branch is excluded.
        if !branches.iter().zip(&open).any(|((_, branch_view), is_open)| *is_open && takes(branch_view)) {
            open.iter_mut().for_each(|is_open| *is_open = true);
        }
        let (mut valid, mut partial): (Vec<Candidate<'n>>, Vec<(bool, bool, Fixed<'n>)>) = (Vec::new(), Vec::new());
        for ((branch, branch_view), _) in branches.iter().zip(&open).filter(|(_, is_open)| **is_open) {
            let repaired = self.branch(branch, value, at);
            if !repaired.repairs.is_empty() && self.keeps(view, union, value, &repaired.value) {
                if self.judge.keyword(union.keyword, union.schema, &repaired.value) == Verdict::Valid {
                    let lowest = |lowest: Confidence, repair: &crate::report::Repair| lowest.min(repair.confidence);
                    let confidence = repaired.repairs.iter().fold(Confidence::Exact, lowest);
                    valid.push(Candidate { fixed: repaired, confidence });
                    continue;
                }
                let is_null = branch_view.as_ref().is_some_and(|branch_view| branch_view.kinds == InstanceTypes::NULL);
                partial.push((is_null, takes(branch_view), repaired));
                continue;
            }
            let is_null = branch_view.as_ref().is_some_and(|branch_view| branch_view.kinds == InstanceTypes::NULL);
            partial.push((is_null, takes(branch_view), Fixed { value: Node::default(), repairs: Vec::new() }));
        }
        if !valid.is_empty() {
            return self.choose(valid, at);
        }
        // No branch is valid: if one is clearly meant, its members are repaired as far as possible.
        let only = |is_meant: &dyn Fn(&(bool, bool, Fixed<'n>)) -> bool| {
            let mut meant =
                partial.iter().enumerate().filter(|(_, candidate)| is_meant(candidate)).map(|(index, _)| index);
            meant.next().filter(|_| meant.next().is_none())
        };
        let index = only(&|(is_null, _, _)| !is_null).or_else(|| only(&|(_, takes, _)| *takes))?;
        let (_, _, repaired) = partial.into_iter().nth(index)?;
        (!repaired.repairs.is_empty()).then_some(repaired)
    }

    fn branch<'n>(&mut self, branch: &'s Node<'a>, value: &Node<'n>, at: At<'_>) -> Fixed<'n> {
        let copy = value.copy(self.judge.budget());
        self.repair_value(&[branch], copy, At { level: at.level + 1, is_untyped_root: false, ..at })
    }

    fn contradicts(&mut self, branch: &View<'s, 'a>, value: &Node<'_>) -> bool {
        let Some(object) = value.as_object() else { return false };
        for (_, table) in branch.values(Keyword::Properties) {
            for member in table.as_object().into_iter().flatten() {
                let Some(found) = object.get_text(&member.key).filter(|_| self.judge.budget().pay(1)) else { continue };
                let own = self.view(&[&member.value]);
                let parts = own.iter().flat_map(|own| own.parts.iter());
                if parts.filter_map(|part| only_value(part)).any(|only| !same(only, found)) {
                    return true;
                }
            }
        }
        false
    }

    /// Returns true if everything that held at this position, apart from the union, still holds.
    fn keeps(&mut self, view: &View<'s, 'a>, union: Union<'s, 'a>, before: &Node<'_>, after: &Node<'_>) -> bool {
        for part in &view.parts {
            for member in part.iter() {
                let Some(keyword) = Keyword::named(&member.key) else { continue };
                let is_union = keyword == union.keyword && core::ptr::eq(*part, union.schema);
                let is_followed = matches!(keyword, Keyword::Ref | Keyword::AllOf);
                if is_union || is_followed || self.judge.keyword(keyword, part, after) != Verdict::Invalid {
                    continue;
                }
                if self.judge.keyword(keyword, part, before) != Verdict::Invalid {
                    return false;
                }
            }
        }
        !self.harms_inside(view, before, after, MAX_DEPTH)
    }

    /// Returns true if a nested value that the repair changed violates a schema of this position outside the union. If
    /// a changed value was already invalid and keeps its type, only the values inside it matter.
    fn harms_inside(&mut self, view: &View<'s, 'a>, before: &Node<'_>, after: &Node<'_>, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match (before.data(), after.data()) {
            (Data::Object(before), Data::Object(after)) => before.iter().any(|member| {
                let Some(now) = after.get_text(&member.key) else { return false };
                let schemas = self.member_schemas(view, &member.key);
                self.harms(&schemas, &member.value, now, depth)
            }),
            (Data::Array(before), Data::Array(after)) => {
                before.iter().zip(after).enumerate().any(|(index, (before, after))| {
                    let schemas = self.item_schemas(view, index);
                    self.harms(&schemas, before, after, depth)
                })
            }
            _ => false,
        }
    }

    fn harms(&mut self, schemas: &[&'s Node<'a>], before: &Node<'_>, after: &Node<'_>, depth: usize) -> bool {
        if schemas.is_empty() || !self.judge.budget().pay(1) || same(before, after) {
            return false;
        }
        let [was_invalid, is_invalid] = [before, after]
            .map(|value| schemas.iter().any(|schema| self.judge.verdict(schema, value) == Verdict::Invalid));
        let is_inside = was_invalid && InstanceTypes::of_instance(before) == InstanceTypes::of_instance(after);
        match self.view(schemas).filter(|_| is_invalid && is_inside) {
            Some(view) => self.harms_inside(&view, before, after, depth),
            None => is_invalid,
        }
    }
}
