//! Objects: members, what is left out, defaults.

use alloc::vec::Vec;

use super::{
    apply::{key_of, member_mut, Held},
    at::{At, Below, Layers},
    names::OldNames,
    scalars::says_null,
    view::View,
    words, Fixed, Repairer,
};
use crate::{
    collections::Set,
    json::{Data, Member, Node, Text},
    report::{Confidence, RepairRule},
    schema::{instance_types::InstanceTypes, keyword::Keyword, validate::Verdict},
};

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

    /// Leaves out optional members that say null and may not.
    fn leave_out<'n>(
        &mut self,
        view: &View<'s, 'a>,
        fixed: &mut Fixed<'n>,
        held: &mut [Held<'s, 'a>],
        at: At<'_>,
        old_names: &OldNames<'n>,
    ) {
        let required = view.required();
        let (mut index, mut gone) = (0, 0);
        while let Some(key) = key_of(&fixed.value, index) {
            index += 1;
            if !view.declares(&key) || required.contains(&&key) {
                continue;
            }
            let schemas = self.member_schemas(view, &key);
            let Some(member) = member_mut(&mut fixed.value, index - 1) else { break };
            let Some(rule) = self.omission(&schemas, &member.value) else { continue };
            let old = old_names.get(&(index - 1 + gone)).unwrap_or(&key);
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
                continue;
            }
            (index, gone) = (index - 1, gone + 1);
            fixed.repairs.push(repair);
        }
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
