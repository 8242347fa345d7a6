//! Renames members that are spelled differently from declared names.

use alloc::{string::String, vec::Vec};

use super::{
    apply::{key_of, member_mut, OF_NAMES, OF_VALUES},
    at::{At, Below, Layers},
    scalars::folded,
    view::View,
    words, Fixed, Repairer,
};
use crate::{
    collections::{self, Map, Set},
    json::{LookUp, Member, Node, Text},
    report::{Confidence, LeftReason, RepairRule},
    schema::{keyword::Keyword, validate::Verdict},
};

/// Original names of renamed members, by index.
pub(super) type OldNames<'n> = Map<usize, Text<'n>>;

impl<'s, 'a> Repairer<'_, 's, 'a> {
    /// Renames members to the declared names that they resemble. Returns which members were repaired by that, and their
    /// original names.
    pub(super) fn rename<'n>(
        &mut self,
        view: &View<'s, 'a>,
        fixed: &mut Fixed<'n>,
        at: At<'_>,
    ) -> (Set<usize>, OldNames<'n>) {
        let (mut done, mut old_names) = (Set::new(), OldNames::new());
        let additional: Vec<&Node<'a>> = view.values(Keyword::AdditionalProperties).map(|(_, values)| values).collect();
        // The names in a map are data.
        if additional.iter().any(|value| value.as_bool().is_none()) {
            return (done, old_names);
        }
        let is_closed = additional.iter().any(|value| value.as_bool() == Some(false));
        let meant = self.meant(view, fixed, at);
        let required = view.required();
        let lacking = if meant.is_empty() { None } else { self.only_lacking(&required, &fixed.value) };
        let mut found = Vec::new();
        for (index, name) in meant {
            let Some(old) = key_of(&fixed.value, index).filter(|old| !required.contains(old)) else {
                continue;
            };
            let Some(member) = member_mut(&mut fixed.value, index) else { continue };
            let copy = member.value.copy(self.judge.budget());
            let schemas = self.member_schemas(view, name);
            let new = name.clone().into_owned();
            let below = Below::member(at, &old, &new);
            let place = below.at(at, Layers::default());
            let inner = self.place(&schemas, copy, place);
            if self.verdict(&schemas, &inner.value, place) != Verdict::Valid {
                continue;
            }
            if let Some(reason) = self.permits.refusal(RepairRule::PropertyName, Confidence::Likely) {
                self.leave_member(at, &old, reason);
                if lacking == Some(name) {
                    self.leave(at, reason);
                }
                continue;
            }
            let mut repairs = alloc::vec![words::renamed(place, &old, &new)];
            repairs.extend(inner.repairs);
            let is_required = required.contains(name);
            found.push((index, old, new, inner.value, repairs, is_required));
        }
        if !is_closed && !found.iter().any(|(.., is_required)| *is_required) {
            return (done, old_names);
        }
        let mut satisfied = self.satisfied(view, &fixed.value, &OF_VALUES);
        satisfied.extend(self.satisfied(view, &fixed.value, &OF_NAMES));
        // One new name may depend on another one: renamings that break something are tried again after the others.
        let mut open: Vec<_> =
            found.into_iter().map(|(index, old, new, value, repairs, _)| (index, old, new, value, repairs)).collect();
        while !open.is_empty() {
            let (count, mut later) = (open.len(), Vec::new());
            for (index, old, new, value, repairs) in open {
                let Some(member) = member_mut(&mut fixed.value, index) else { continue };
                let before = core::mem::replace(member, Member { key: new, value });
                if self.breaks(&satisfied, &fixed.value) {
                    if let Some(member) = member_mut(&mut fixed.value, index) {
                        let Member { key: new, value } = core::mem::replace(member, before);
                        later.push((index, old, new, value, repairs));
                    }
                    continue;
                }
                done.insert(index);
                old_names.insert(index, old);
                fixed.repairs.extend(repairs);
            }
            open = if later.len() < count { later } else { Vec::new() };
        }
        (done, old_names)
    }

    /// Returns the only required name that is missing. If several are missing, a reason noted for the object could not
    /// be attributed to one of them.
    fn only_lacking(&self, required: &Set<&'s Text<'a>>, value: &Node<'_>) -> Option<&'s Text<'a>> {
        let object = value.as_object()?;
        self.judge.budget().pay((required.len() + object.len()) / 16).then_some(())?;
        let own = LookUp::of(object);
        let mut lacking = required.iter().copied().filter(|name| !own.has(name));
        lacking.next().filter(|_| lacking.next().is_none())
    }

    /// Returns the undeclared members that resemble exactly one declared name, if that is absent and no other member
    /// resembles it.
    fn meant(&mut self, view: &View<'s, 'a>, fixed: &Fixed<'_>, at: At<'_>) -> Vec<(usize, &'s Text<'a>)> {
        let Some(object) = fixed.value.as_object() else { return Vec::new() };
        if object.iter().all(|member| view.declares(&member.key)) {
            return Vec::new();
        }
        let mut declared: Map<String, Option<&'s Text<'a>>> = Map::new();
        for name in view.declared() {
            if !self.judge.budget().pay(1) {
                return Vec::new();
            }
            let Some(spelled) = folded(name) else { continue };
            let known = declared.entry(spelled).or_insert(Some(name));
            // Two declared names with the same folded spelling are ambiguous.
            if known.is_some_and(|known| known != name) {
                *known = None;
            }
        }
        let own = LookUp::of(object);
        let mut meant: Map<String, Option<(usize, &'s Text<'a>)>> = Map::new();
        for (index, member) in object.iter().enumerate() {
            if view.declares(&member.key) || !self.is_undeclared(view, &member.key) {
                continue;
            }
            let Some(spelled) = folded(&member.key).filter(|_| self.judge.budget().pay(1)) else { continue };
            let Some(name) = declared.get(&spelled).copied() else { continue };
            if name.is_some_and(|name| own.has(name)) {
                continue;
            }
            let is_alone = !meant.contains_key(&spelled);
            let (Some(name), true) = (name, is_alone) else {
                self.leave_member(at, &member.key, LeftReason::Ambiguous);
                if let Some(Some((twin, _))) = meant.insert(spelled, None) {
                    let twin = object.members().get(twin);
                    twin.into_iter().for_each(|twin| self.leave_member(at, &twin.key, LeftReason::Ambiguous));
                }
                continue;
            };
            meant.insert(spelled, Some((index, name)));
        }
        let found: Vec<_> = meant.values().copied().flatten().collect();
        collections::by(found, |(one, _), (two, _)| one.cmp(two))
    }

    /// Records why a member is left unchanged.
    fn leave_member(&mut self, at: At<'_>, name: &Text<'_>, reason: LeftReason) {
        let below = Below::member(at, name, name);
        self.leave(below.at(at, Layers::default()), reason);
    }
}
