//! Objects: names, members, what is left out, defaults.

use alloc::{string::String, vec::Vec};

use super::{
    at::{At, Below, Layers},
    scalars::{folded, says_null},
    schemas::Held,
    view::View,
    words, Fixed, Repairer,
};
use crate::{
    collections::{self, Map, Set},
    json::{Data, Member, Node, Text},
    report::{Confidence, RepairRule},
    schema::{instance_types::InstanceTypes, keyword::Keyword, validate::Verdict},
};

/// The names that members were answered under, where these are not their names any more.
type OldNames<'n> = Map<usize, Text<'n>>;

impl<'s, 'a> Repairer<'_, 's, 'a> {
    /// Repairs the members of an object, each by itself.
    #[inline(never)]
    pub(super) fn members<'n>(&mut self, view: &View<'s, 'a>, fixed: &mut Fixed<'n>, at: At<'_>) {
        let mut held = self.held(view, &fixed.value);
        let (renamed, old_names) = self.rename(view, fixed, &mut held, at);
        self.each_member(view, fixed, &mut held, at, &renamed, &old_names);
        self.leave_out(view, fixed, &mut held, at, &old_names);
        if self.options.use_defaults {
            self.defaults(view, fixed, at);
        }
        if self.options.remove_additional {
            self.remove_additional(view, fixed, &mut held, at);
        }
    }

    /// Each member by its schemas.
    fn each_member<'n>(
        &mut self,
        view: &View<'s, 'a>,
        fixed: &mut Fixed<'n>,
        held: &mut [Held<'s, 'a>],
        at: At<'_>,
        done: &Set<usize>,
        old_names: &OldNames<'n>,
    ) {
        let count = fixed.value.as_object().map_or(0, |object| object.len());
        for index in (0..count).filter(|index| !done.contains(index)) {
            let Some(key) = key_of(&fixed.value, index) else { break };
            let schemas = self.member_schemas(view, &key);
            if schemas.is_empty() {
                continue;
            }
            let Some(member) = member_mut(&mut fixed.value, index) else { break };
            let old = (!held.is_empty()).then(|| member.value.copy(self.judge.budget()));
            let below = Below::member(at, old_names.get(&index).unwrap_or(&key), &key);
            let found = self.place(&schemas, core::mem::take(&mut member.value), below.at(at, Layers::default()));
            member.value = found.value;
            if found.repairs.is_empty() {
                continue;
            }
            if self.breaks(held, &fixed.value) {
                if let (Some(member), Some(old)) = (member_mut(&mut fixed.value, index), old) {
                    member.value = old;
                    continue;
                }
            }
            fixed.repairs.extend(found.repairs);
        }
    }

    /// Gives members the declared names that they spell otherwise. Tells which were repaired by that, and how they
    /// were called.
    fn rename<'n>(
        &mut self,
        view: &View<'s, 'a>,
        fixed: &mut Fixed<'n>,
        held: &mut [Held<'s, 'a>],
        at: At<'_>,
    ) -> (Set<usize>, OldNames<'n>) {
        let (mut done, mut old_names) = (Set::new(), OldNames::new());
        let additional: Vec<&Node<'a>> = view.says(Keyword::AdditionalProperties).map(|(_, says)| says).collect();
        // Names of a map are data.
        if additional.iter().any(|says| says.as_bool().is_none()) {
            return (done, old_names);
        }
        let is_closed = additional.iter().any(|says| says.as_bool() == Some(false));
        let meant = self.meant(view, fixed);
        let required = view.required();
        let mut found = Vec::new();
        for (index, name) in meant {
            let Some(old) = key_of(&fixed.value, index).filter(|old| !required.contains(&old)) else {
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
                self.leave(at, reason);
                self.leave(At { to: &crate::schema::validate::place::Place::Member(at.to, &old), ..at }, reason);
                continue;
            }
            let mut repairs = alloc::vec![words::renamed(place, &old, &new)];
            repairs.extend(inner.repairs);
            let is_required = required.contains(&name);
            found.push((index, old, new, inner.value, repairs, is_required));
        }
        if !is_closed && !found.iter().any(|(.., is_required)| *is_required) {
            return (done, old_names);
        }
        // A name may be needed by another one: what breaks something is tried again after the others.
        let mut open: Vec<_> =
            found.into_iter().map(|(index, old, new, value, repairs, _)| (index, old, new, value, repairs)).collect();
        while !open.is_empty() {
            let (count, mut later) = (open.len(), Vec::new());
            for (index, old, new, value, repairs) in open {
                let Some(member) = member_mut(&mut fixed.value, index) else { continue };
                let before = core::mem::replace(member, Member { key: new, value });
                if self.breaks(held, &fixed.value) {
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

    /// The undeclared members that spell exactly one declared name, which is not there, and are alone in that.
    fn meant(&mut self, view: &View<'s, 'a>, fixed: &Fixed<'_>) -> Vec<(usize, &'s Text<'a>)> {
        let Some(object) = fixed.value.as_object() else { return Vec::new() };
        if object.iter().all(|member| view.declares(&member.key)) {
            return Vec::new();
        }
        let mut declared: Map<String, Option<&'s Text<'a>>> = Map::new();
        for name in view.declared() {
            if !self.judge.budget().pay(1) {
                return Vec::new();
            }
            let known = declared.entry(folded(&name.display())).or_insert(Some(name));
            // Two declared names that are spelled alike: nobody can tell which is meant.
            if known.is_some_and(|known| known != name) {
                *known = None;
            }
        }
        let mut meant: Map<String, Option<(usize, &'s Text<'a>)>> = Map::new();
        for (index, member) in object.iter().enumerate() {
            if view.declares(&member.key) || !self.is_undeclared(view, &member.key) {
                continue;
            }
            let spelled = folded(&member.key.display());
            let Some(name) = declared.get(&spelled).copied().flatten() else { continue };
            if object.get_text(name).is_some() {
                continue;
            }
            match meant.get_mut(&spelled) {
                Some(twin) => *twin = None,
                None => {
                    meant.insert(spelled, Some((index, name)));
                }
            }
        }
        let found: Vec<_> = meant.values().copied().flatten().collect();
        collections::by(found, |(one, _), (two, _)| one.cmp(two))
    }

    /// Leaves out optional members that say null and may not.
    fn leave_out<'n>(
        &mut self,
        view: &View<'s, 'a>,
        fixed: &mut Fixed<'n>,
        held: &mut [Held<'s, 'a>],
        at: At<'_>,
        old_names: &OldNames<'n>,
    ) {
        let count = fixed.value.as_object().map_or(0, |object| object.len());
        let mut indices: Vec<usize> = (0..count).collect();
        // A member may be needed by another one: it is tried again once that has gone.
        while self.leave_out_once(view, fixed, held, at, (&mut indices, old_names)) {}
    }

    /// Tells whether a member was left out after another one could not be.
    fn leave_out_once<'n>(
        &mut self,
        view: &View<'s, 'a>,
        fixed: &mut Fixed<'n>,
        held: &mut [Held<'s, 'a>],
        at: At<'_>,
        (indices, old_names): (&mut Vec<usize>, &OldNames<'n>),
    ) -> bool {
        let required = view.required();
        let (mut index, mut is_blocked, mut may_go_on) = (0, false, false);
        while let Some(key) = key_of(&fixed.value, index) {
            index += 1;
            if !view.declares(&key) || required.contains(&&key) {
                continue;
            }
            let schemas = self.member_schemas(view, &key);
            let Some(member) = member_mut(&mut fixed.value, index - 1) else { break };
            let Some(rule) = self.omission(&schemas, &member.value) else { continue };
            let old = indices.get(index - 1).and_then(|index| old_names.get(index)).unwrap_or(&key);
            let below = Below::member(at, old, &key);
            let place = below.at(at, Layers::default());
            let repair = words::left_out(place, rule, &member.value);
            if self.verdict(&schemas, &member.value, place) != Verdict::Invalid {
                continue;
            }
            if let Some(reason) = self.permits.refusal(rule.0, rule.1) {
                self.leave(place, reason);
                continue;
            }
            let Some(members) = fixed.value.as_object_mut().map(|object| object.members_mut()) else { break };
            let member = members.remove(index - 1);
            if self.breaks(held, &fixed.value) {
                if let Some(object) = fixed.value.as_object_mut() {
                    object.members_mut().insert(index - 1, member);
                }
                is_blocked = true;
                continue;
            }
            index -= 1;
            indices.remove(index);
            may_go_on |= is_blocked;
            fixed.repairs.push(repair);
        }
        may_go_on
    }

    /// The rule by which a value may be left out.
    fn omission(&mut self, schemas: &[&'s Node<'a>], value: &Node<'_>) -> Option<(RepairRule, Confidence)> {
        match value.data() {
            Data::Null => Some((RepairRule::OmitNull, Confidence::Exact)),
            Data::String(text) => {
                let text = text.value()?;
                let said = text.trim();
                if said.is_empty() {
                    return Some((RepairRule::OmitEmpty, Confidence::Likely));
                }
                let is_string = says_null(said) && self.view(schemas)?.kinds.meets(InstanceTypes::STRING);
                (says_null(said) && !is_string).then_some((RepairRule::OmitNullString, Confidence::Likely))
            }
            _ => None,
        }
    }

    /// Gives required members that lack, or say nothing, the schema's default.
    fn defaults<'n>(&mut self, view: &View<'s, 'a>, fixed: &mut Fixed<'n>, at: At<'_>) {
        for name in view.required() {
            let schemas = self.member_schemas(view, name);
            let new = name.clone().into_owned();
            let below = Below::member(at, &new, &new);
            let place = below.at(at, Layers::default());
            let found = fixed.value.as_object().and_then(|object| object.position(TextName(name)));
            let says_nothing = |value: &Node<'_>| {
                value.is_null() || value.as_text().is_some_and(|text| text.display().trim().is_empty())
            };
            let from = match found.and_then(|index| fixed.value.as_object()?.members().get(index)) {
                None => "nothing",
                Some(member) if says_nothing(&member.value) => words::kind(&member.value),
                Some(_) => continue,
            };
            if let Some(index) = found {
                let Some(member) = member_mut(&mut fixed.value, index) else { continue };
                if self.verdict(&schemas, &member.value, place) != Verdict::Invalid {
                    continue;
                }
            }
            let Some(default) = self.default_of(&schemas, place) else { continue };
            let rule = (RepairRule::UseDefault, Confidence::Exact);
            if let Some(reason) = self.permits.refusal(rule.0, rule.1) {
                self.leave(place, reason);
                self.leave(at, reason);
                continue;
            }
            fixed.repairs.push(words::replaced(place, rule, from, &default));
            match found.and_then(|index| member_mut(&mut fixed.value, index)) {
                Some(member) => member.value = default,
                None => {
                    if let Some(object) = fixed.value.as_object_mut() {
                        object.members_mut().push(Member { key: new.clone(), value: default });
                    }
                }
            }
        }
    }

    /// The first default that the schemas have and take.
    fn default_of(&mut self, schemas: &[&'s Node<'a>], at: At<'_>) -> Option<Node<'static>> {
        let view = self.view(schemas)?;
        let defaults: Vec<&'s Node<'a>> = view.says(Keyword::Default).map(|(_, default)| default).collect();
        for default in defaults {
            if self.verdict(schemas, default, at) == Verdict::Valid {
                let size = crate::json::size(default, self.judge.budget());
                return self.judge.budget().pay(size).then(|| default.detached());
            }
        }
        None
    }

    /// Leaves out what a closed object does not declare.
    fn remove_additional<'n>(
        &mut self,
        view: &View<'s, 'a>,
        fixed: &mut Fixed<'n>,
        held: &mut [Held<'s, 'a>],
        at: At<'_>,
    ) {
        let is_closed = view.says(Keyword::AdditionalProperties).any(|(_, says)| says.as_bool() == Some(false));
        let rule = (RepairRule::RemoveAdditional, Confidence::Likely);
        let mut index = 0;
        while let Some(key) = key_of(&fixed.value, index).filter(|_| is_closed) {
            index += 1;
            if view.declares(&key) || !self.is_undeclared(view, &key) {
                continue;
            }
            let below = Below::member(at, &key, &key);
            let place = below.at(at, Layers::default());
            if let Some(reason) = self.permits.refusal(rule.0, rule.1) {
                self.leave(place, reason);
                continue;
            }
            let Some(members) = fixed.value.as_object_mut().map(|object| object.members_mut()) else { break };
            let member = members.remove(index - 1);
            if self.breaks(held, &fixed.value) {
                if let Some(object) = fixed.value.as_object_mut() {
                    object.members_mut().insert(index - 1, member);
                }
                continue;
            }
            index -= 1;
            fixed.repairs.push(words::left_out(place, rule, &member.value));
        }
    }
}

/// A name, as members are looked up by.
#[derive(Clone, Copy)]
struct TextName<'t, 'a>(&'t Text<'a>);

impl crate::json::Name for TextName<'_, '_> {
    fn is_name_of(self, key: &Text<'_>) -> bool {
        self.0 == key
    }
}

fn key_of<'n>(value: &Node<'n>, index: usize) -> Option<Text<'n>> {
    value.as_object()?.members().get(index).map(|member| member.key.clone())
}

fn member_mut<'o, 'n>(value: &'o mut Node<'n>, index: usize) -> Option<&'o mut Member<'n>> {
    value.as_object_mut()?.members_mut().get_mut(index)
}
