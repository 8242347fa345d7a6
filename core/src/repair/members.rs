//! Repairs objects: members, omissions, defaults. Renames members that are spelled differently from declared names.

use alloc::{string::String, vec::Vec};

use super::{
    kinds::{folded, means_null},
    view::{key_of, member_mut, Assertion, View, OF_NAMES, OF_VALUES},
    words, At, Below, Fixed, Layers, Repairer,
};
use crate::{
    collections::{self, Map, Set},
    json::{Data, LookUp, Member, Node, Order, Text},
    report::{Confidence, LeftReason, Repair, RepairRule},
    schema::{instance_types::InstanceTypes, keyword::Keyword, validate::Verdict},
};

impl<'s, 'a> Repairer<'_, 's, 'a> {
    #[inline(never)]
    pub(super) fn members<'n>(&mut self, view: &View<'s, 'a>, fixed: &mut Fixed<'n>, at: At<'_>) {
        let (renamed, old_names) = self.rename(view, fixed, at);
        let satisfied = self.satisfied(view, &fixed.value, &OF_VALUES);
        if satisfied.is_empty() {
            self.each_member(view, fixed, &satisfied, at, (&renamed, &old_names));
        } else {
            // All members are repaired together, and individually only if that breaks something.
            let (value, count) = (fixed.value.copy(self.judge.budget()), fixed.repairs.len());
            self.each_member(view, fixed, &[], at, (&renamed, &old_names));
            if self.breaks(&satisfied, &fixed.value) {
                fixed.value = value;
                fixed.repairs.truncate(count);
                self.each_member(view, fixed, &satisfied, at, (&renamed, &old_names));
            }
        }
        self.leave_out(view, fixed, at, &old_names);
        if self.options.use_defaults {
            self.defaults(view, fixed, at);
        }
        if self.options.remove_additional {
            self.remove_additional(view, fixed, at);
        }
    }

    fn each_member<'n>(
        &mut self,
        view: &View<'s, 'a>,
        fixed: &mut Fixed<'n>,
        satisfied: &[Assertion<'s, 'a>],
        at: At<'_>,
        (done, old_names): (&Set<usize>, &OldNames<'n>),
    ) {
        let count = fixed.value.as_object().map_or(0, |object| object.len());
        for index in (0..count).filter(|index| !done.contains(index)) {
            let Some(key) = key_of(&fixed.value, index).filter(|_| self.judge.budget().pay(1)) else { break };
            let schemas = self.member_schemas(view, &key);
            if schemas.is_empty() {
                continue;
            }
            let Some(member) = member_mut(&mut fixed.value, index) else { break };
            let old = (!satisfied.is_empty()).then(|| member.value.copy(self.judge.budget()));
            let below = Below::member(at, old_names.get(&index).unwrap_or(&key), &key);
            let found =
                self.repair_value(&schemas, core::mem::take(&mut member.value), below.at(at, Layers::default()));
            member.value = found.value;
            if found.repairs.is_empty() {
                continue;
            }
            if self.breaks(satisfied, &fixed.value) {
                if let (Some(member), Some(old)) = (member_mut(&mut fixed.value, index), old) {
                    member.value = old;
                    continue;
                }
            }
            fixed.repairs.extend(found.repairs);
        }
    }

    /// Removes optional members that are null, blank, or a word for null, if their schema refuses that.
    fn leave_out<'n>(&mut self, view: &View<'s, 'a>, fixed: &mut Fixed<'n>, at: At<'_>, old_names: &OldNames<'n>) {
        let (required, count) = (view.required(), fixed.value.as_object().map_or(0, |object| object.len()));
        let mut going: Vec<(usize, Repair)> = Vec::new();
        for index in 0..count {
            let Some(key) = key_of(&fixed.value, index).filter(|_| self.judge.budget().pay(1)) else { break };
            let Some(value) = fixed.value.as_object().and_then(|object| object.members().get(index)) else { break };
            if !is_absent(&value.value) || !view.declares(&key) || required.contains(&key) {
                continue;
            }
            let schemas = self.member_schemas(view, &key);
            let Some(rule) = self.omission(&schemas, &value.value) else { continue };
            let below = Below::member(at, old_names.get(&index).unwrap_or(&key), &key);
            let place = below.at(at, Layers::default());
            let repair = words::left_out(place, rule, &value.value);
            if self.verdict(&schemas, &value.value, place) != Verdict::Invalid {
                continue;
            }
            match self.permits.refusal(rule.0, rule.1) {
                Some(reason) => self.leave(place, reason),
                None => going.push((index, repair)),
            }
        }
        self.take_out(view, fixed, going);
    }

    /// Removes members: all at once, or only those whose removal breaks nothing.
    fn take_out(&mut self, view: &View<'s, 'a>, fixed: &mut Fixed<'_>, going: Vec<(usize, Repair)>) {
        if going.is_empty() {
            return;
        }
        let mut satisfied = self.satisfied(view, &fixed.value, &OF_VALUES);
        satisfied.extend(self.satisfied(view, &fixed.value, &OF_NAMES));
        let before = fixed.value.copy(self.judge.budget());
        let mut gone: Set<usize> = going.iter().map(|(index, _)| *index).collect();
        retain(&mut fixed.value, &gone);
        if self.breaks(&satisfied, &fixed.value) {
            gone = Set::new();
            // A removal may break something only because another member is still present, so it is tried again after
            // other removals.
            let mut count = usize::MAX;
            while gone.len() != count && !self.judge.budget().is_spent() {
                count = gone.len();
                for (index, _) in &going {
                    if !gone.insert(*index) {
                        continue;
                    }
                    fixed.value = before.copy(self.judge.budget());
                    retain(&mut fixed.value, &gone);
                    if self.breaks(&satisfied, &fixed.value) {
                        gone.remove(index);
                    }
                }
            }
            fixed.value = before;
            retain(&mut fixed.value, &gone);
        }
        fixed.repairs.extend(going.into_iter().filter(|(index, _)| gone.contains(index)).map(|(_, repair)| repair));
    }

    fn omission(&mut self, schemas: &[&'s Node<'a>], value: &Node<'_>) -> Option<(RepairRule, Confidence)> {
        match value.data() {
            Data::Null => Some((RepairRule::OmitNull, Confidence::Exact)),
            Data::String(text) => {
                let (text, kinds) = (text.value()?, self.view(schemas)?.kinds);
                let trimmed = text.trim();
                if kinds.meets(InstanceTypes::NULL) {
                    return None;
                }
                if trimmed.is_empty() {
                    return Some((RepairRule::OmitEmpty, Confidence::Likely));
                }
                (means_null(trimmed) && !kinds.meets(InstanceTypes::STRING))
                    .then_some((RepairRule::OmitNullString, Confidence::Likely))
            }
            _ => None,
        }
    }

    /// Sets required members that are missing or blank to the schema's default.
    fn defaults<'n>(&mut self, view: &View<'s, 'a>, fixed: &mut Fixed<'n>, at: At<'_>) {
        let Some(object) = fixed.value.as_object() else { return };
        if !self.judge.budget().pay(object.len() / 16) {
            return;
        }
        // Indexes stay valid: a default replaces a value, or is appended.
        let order = Order::of(object);
        let required: Vec<_> = view.required().iter().map(|name| (*name, order.index_of(object, name))).collect();
        for (name, found) in required {
            if !self.judge.budget().pay(1) {
                break;
            }
            let schemas = self.member_schemas(view, name);
            let new = name.clone().into_owned();
            let below = Below::member(at, &new, &new);
            let place = below.at(at, Layers::default());
            let from = match found.and_then(|index| fixed.value.as_object()?.members().get(index)) {
                None => "nothing",
                Some(member) if is_blank(&member.value) => words::kind(&member.value),
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
            let mut satisfied = self.satisfied(view, &fixed.value, &OF_VALUES);
            satisfied.extend(self.satisfied(view, &fixed.value, &OF_NAMES));
            let before = (!satisfied.is_empty()).then(|| fixed.value.copy(self.judge.budget()));
            let repair = words::replaced(place, rule, from, &default);
            match found.and_then(|index| member_mut(&mut fixed.value, index)) {
                Some(member) => member.value = default,
                None => {
                    if let Some(object) = fixed.value.as_object_mut() {
                        object.members_mut().push(Member { key: new.clone(), value: default });
                    }
                }
            }
            match before.filter(|_| self.breaks(&satisfied, &fixed.value)) {
                Some(before) => fixed.value = before,
                None => fixed.repairs.push(repair),
            }
        }
    }

    fn default_of(&mut self, schemas: &[&'s Node<'a>], at: At<'_>) -> Option<Node<'static>> {
        let view = self.view(schemas)?;
        let defaults: Vec<&'s Node<'a>> = view.values(Keyword::Default).map(|(_, default)| default).collect();
        for default in defaults {
            if self.verdict(schemas, default, at) == Verdict::Valid {
                let size = crate::json::size(default, self.judge.budget());
                return self.judge.budget().pay(size).then(|| default.detached());
            }
        }
        None
    }

    fn remove_additional<'n>(&mut self, view: &View<'s, 'a>, fixed: &mut Fixed<'n>, at: At<'_>) {
        let is_closed = view.values(Keyword::AdditionalProperties).any(|(_, values)| values.as_bool() == Some(false));
        let rule = (RepairRule::RemoveAdditional, Confidence::Likely);
        let count = fixed.value.as_object().filter(|_| is_closed).map_or(0, |object| object.len());
        let mut going: Vec<(usize, Repair)> = Vec::new();
        for index in 0..count {
            let Some(key) = key_of(&fixed.value, index).filter(|_| self.judge.budget().pay(1)) else { break };
            if view.declares(&key) || !self.is_undeclared(view, &key) {
                continue;
            }
            let below = Below::member(at, &key, &key);
            let place = below.at(at, Layers::default());
            let value = fixed.value.as_object().and_then(|object| object.members().get(index));
            match (self.permits.refusal(rule.0, rule.1), value) {
                (Some(reason), _) => self.leave(place, reason),
                (None, Some(member)) => going.push((index, words::left_out(place, rule, &member.value))),
                (None, None) => break,
            }
        }
        self.take_out(view, fixed, going);
    }
}

fn retain(value: &mut Node<'_>, gone: &Set<usize>) {
    let mut index = 0;
    if let Some(object) = value.as_object_mut() {
        object.retain(|_| {
            index += 1;
            !gone.contains(&(index - 1))
        });
    }
}

fn is_blank(value: &Node<'_>) -> bool {
    value.is_null() || value.as_text().is_some_and(|text| text.display().trim().is_empty())
}

fn is_absent(value: &Node<'_>) -> bool {
    is_blank(value) || value.as_text().is_some_and(|text| means_null(text.display().trim()))
}

/// Original names of renamed members, by index.
pub(super) type OldNames<'n> = Map<usize, Text<'n>>;

impl<'s, 'a> Repairer<'_, 's, 'a> {
    /// Returns the indexes of the renamed members, whose values are already repaired, and their original names.
    pub(super) fn rename<'n>(
        &mut self,
        view: &View<'s, 'a>,
        fixed: &mut Fixed<'n>,
        at: At<'_>,
    ) -> (Set<usize>, OldNames<'n>) {
        let (mut done, mut old_names) = (Set::new(), OldNames::new());
        let additional: Vec<&Node<'a>> = view.values(Keyword::AdditionalProperties).map(|(_, values)| values).collect();
        // If the object is a map, its names are data, and none is a misspelling.
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
            let inner = self.repair_value(&schemas, copy, place);
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
        // A renaming may be possible only after another one, so those that break something are tried again at the end.
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

    /// Returns `None` if several are missing, because a reason noted for the object could not be attributed to one of
    /// them.
    fn only_lacking(&self, required: &Set<&'s Text<'a>>, value: &Node<'_>) -> Option<&'s Text<'a>> {
        let object = value.as_object()?;
        self.judge.budget().pay((required.len() + object.len()) / 16).then_some(())?;
        let own = LookUp::of(object);
        let mut lacking = required.iter().copied().filter(|name| !own.has(name));
        lacking.next().filter(|_| lacking.next().is_none())
    }

    /// Returns the undeclared members that resemble exactly one declared name, unless a member already has that name or
    /// another member also resembles it.
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

    fn leave_member(&mut self, at: At<'_>, name: &Text<'_>, reason: LeftReason) {
        let below = Below::member(at, name, name);
        self.leave(below.at(at, Layers::default()), reason);
    }
}
