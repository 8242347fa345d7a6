//! Repairs objects: repairs their members, omits members, and sets defaults. Renames members that are spelled
//! differently from declared names.

use alloc::{string::String, vec::Vec};

use super::{
    kinds::{fold_name, means_null},
    view::{key_of, member_mut, Assertion, View, NAME_ASSERTIONS, VALUE_ASSERTIONS},
    words, At, ChildLocations, Fixed, Layers, Repairer,
};
use crate::{
    collections::{self, Map, Set},
    json::{Data, LookUp, Member, Node, Order, Text},
    report::{Confidence, LeftReason, Repair, RepairRule},
    schema::{instance_types::InstanceTypes, keyword::Keyword, validate::Verdict},
};

impl<'s, 'a> Repairer<'_, 's, 'a> {
    #[inline(never)]
    pub(super) fn repair_members<'n>(&mut self, view: &View<'s, 'a>, fixed: &mut Fixed<'n>, at: At<'_>) {
        let (renamed, old_names) = self.rename_members(view, fixed, at);
        let satisfied = self.satisfied_assertions(view, &fixed.value, &VALUE_ASSERTIONS);
        if satisfied.is_empty() {
            self.repair_each_member(view, fixed, &satisfied, at, (&renamed, &old_names));
        } else {
            // All members are repaired together. If that breaks an assertion, each member is repaired individually.
            let (value, count) = (fixed.value.copy(self.judge.budget()), fixed.repairs.len());
            self.repair_each_member(view, fixed, &[], at, (&renamed, &old_names));
            if self.breaks(&satisfied, &fixed.value) {
                fixed.value = value;
                fixed.repairs.truncate(count);
                self.repair_each_member(view, fixed, &satisfied, at, (&renamed, &old_names));
            }
        }
        self.omit_members(view, fixed, at, &old_names);
        if self.options.use_defaults {
            self.set_defaults(view, fixed, at);
        }
        if self.options.remove_additional {
            self.remove_additional(view, fixed, at);
        }
    }

    fn repair_each_member<'n>(
        &mut self,
        view: &View<'s, 'a>,
        fixed: &mut Fixed<'n>,
        satisfied: &[Assertion<'s, 'a>],
        at: At<'_>,
        (skipped, old_names): (&Set<usize>, &OldNames<'n>),
    ) {
        let count = fixed.value.as_object().map_or(0, |object| object.len());
        for index in (0..count).filter(|index| !skipped.contains(index)) {
            let Some(key) = key_of(&fixed.value, index).filter(|_| self.judge.budget().pay(1)) else { break };
            let schemas = self.member_schemas(view, &key);
            if schemas.is_empty() {
                continue;
            }
            let Some(member) = member_mut(&mut fixed.value, index) else { break };
            let previous = (!satisfied.is_empty()).then(|| member.value.copy(self.judge.budget()));
            let child = ChildLocations::member(at, old_names.get(&index).unwrap_or(&key), &key);
            let repaired =
                self.repair_value(&schemas, core::mem::take(&mut member.value), child.at(at, Layers::default()));
            member.value = repaired.value;
            if repaired.repairs.is_empty() {
                continue;
            }
            if self.breaks(satisfied, &fixed.value) {
                if let (Some(member), Some(previous)) = (member_mut(&mut fixed.value, index), previous) {
                    member.value = previous;
                    continue;
                }
            }
            fixed.repairs.extend(repaired.repairs);
        }
    }

    /// Removes optional members whose value is null, blank or a word for null, if their schema refuses this value.
    fn omit_members<'n>(&mut self, view: &View<'s, 'a>, fixed: &mut Fixed<'n>, at: At<'_>, old_names: &OldNames<'n>) {
        let (required, count) = (view.required_names(), fixed.value.as_object().map_or(0, |object| object.len()));
        let mut removals: Vec<(usize, Repair)> = Vec::new();
        for index in 0..count {
            let Some(key) = key_of(&fixed.value, index).filter(|_| self.judge.budget().pay(1)) else { break };
            let Some(member) = fixed.value.as_object().and_then(|object| object.members().get(index)) else { break };
            if !means_absence(&member.value) || !view.declares(&key) || required.contains(&key) {
                continue;
            }
            let schemas = self.member_schemas(view, &key);
            let Some((rule, confidence)) = self.omission_rule(&schemas, &member.value) else { continue };
            let child = ChildLocations::member(at, old_names.get(&index).unwrap_or(&key), &key);
            let member_at = child.at(at, Layers::default());
            let repair = words::omission(member_at, (rule, confidence), &member.value);
            if self.verdict(&schemas, &member.value, member_at) != Verdict::Invalid {
                continue;
            }
            match self.permits.refusal(rule, confidence) {
                Some(reason) => self.record_reason(member_at, reason),
                None => removals.push((index, repair)),
            }
        }
        self.remove_members(view, fixed, removals);
    }

    /// Removes all members, or else only the members whose removal breaks no assertion.
    fn remove_members(&mut self, view: &View<'s, 'a>, fixed: &mut Fixed<'_>, removals: Vec<(usize, Repair)>) {
        if removals.is_empty() {
            return;
        }
        let mut satisfied = self.satisfied_assertions(view, &fixed.value, &VALUE_ASSERTIONS);
        satisfied.extend(self.satisfied_assertions(view, &fixed.value, &NAME_ASSERTIONS));
        let before = fixed.value.copy(self.judge.budget());
        let mut removed_indices: Set<usize> = removals.iter().map(|(index, _)| *index).collect();
        remove_indices(&mut fixed.value, &removed_indices);
        if self.breaks(&satisfied, &fixed.value) {
            removed_indices = Set::new();
            // A removal may break an assertion only because another member is still present, so it is tried again
            // after other removals.
            let mut count = usize::MAX;
            while removed_indices.len() != count && !self.judge.budget().is_spent() {
                count = removed_indices.len();
                for (index, _) in &removals {
                    if !removed_indices.insert(*index) {
                        continue;
                    }
                    fixed.value = before.copy(self.judge.budget());
                    remove_indices(&mut fixed.value, &removed_indices);
                    if self.breaks(&satisfied, &fixed.value) {
                        removed_indices.remove(index);
                    }
                }
            }
            fixed.value = before;
            remove_indices(&mut fixed.value, &removed_indices);
        }
        fixed.repairs.extend(
            removals.into_iter().filter(|(index, _)| removed_indices.contains(index)).map(|(_, repair)| repair),
        );
    }

    fn omission_rule(&mut self, schemas: &[&'s Node<'a>], value: &Node<'_>) -> Option<(RepairRule, Confidence)> {
        match value.data() {
            Data::Null => Some((RepairRule::OmitNull, Confidence::Exact)),
            Data::String(text) => {
                let (text, types) = (text.value()?, self.view(schemas)?.types);
                let trimmed = text.trim();
                if types.intersects(InstanceTypes::NULL) {
                    return None;
                }
                if trimmed.is_empty() {
                    return Some((RepairRule::OmitEmpty, Confidence::Likely));
                }
                (means_null(trimmed) && !types.intersects(InstanceTypes::STRING))
                    .then_some((RepairRule::OmitNullString, Confidence::Likely))
            }
            _ => None,
        }
    }

    /// Sets required members that are missing or blank to the schema's default.
    fn set_defaults<'n>(&mut self, view: &View<'s, 'a>, fixed: &mut Fixed<'n>, at: At<'_>) {
        let Some(object) = fixed.value.as_object() else { return };
        if !self.judge.budget().pay(object.len() / 16) {
            return;
        }
        // Indexes stay valid: a default replaces a value, or is appended.
        let order = Order::of(object);
        let required: Vec<_> = view.required_names().iter().map(|name| (*name, order.index_of(object, name))).collect();
        for (name, index_of_member) in required {
            if !self.judge.budget().pay(1) {
                break;
            }
            let schemas = self.member_schemas(view, name);
            let new = name.clone().into_owned();
            let child = ChildLocations::member(at, &new, &new);
            let member_at = child.at(at, Layers::default());
            let old_type = match index_of_member.and_then(|index| fixed.value.as_object()?.members().get(index)) {
                None => "nothing",
                Some(member) if is_blank(&member.value) => words::type_name(&member.value),
                Some(_) => continue,
            };
            if let Some(index) = index_of_member {
                let Some(member) = member_mut(&mut fixed.value, index) else { continue };
                if self.verdict(&schemas, &member.value, member_at) != Verdict::Invalid {
                    continue;
                }
            }
            let Some(default) = self.default_of(&schemas, member_at) else { continue };
            let (rule, confidence) = (RepairRule::UseDefault, Confidence::Exact);
            if let Some(reason) = self.permits.refusal(rule, confidence) {
                self.record_reason(member_at, reason);
                self.record_reason(at, reason);
                continue;
            }
            let mut satisfied = self.satisfied_assertions(view, &fixed.value, &VALUE_ASSERTIONS);
            satisfied.extend(self.satisfied_assertions(view, &fixed.value, &NAME_ASSERTIONS));
            let before = (!satisfied.is_empty()).then(|| fixed.value.copy(self.judge.budget()));
            let repair = words::replacement(member_at, (rule, confidence), old_type, &default);
            match index_of_member.and_then(|index| member_mut(&mut fixed.value, index)) {
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
        let defaults: Vec<&'s Node<'a>> = view.keyword_values(Keyword::Default).map(|(_, default)| default).collect();
        for default in defaults {
            if self.verdict(schemas, default, at) == Verdict::Valid {
                let size = crate::json::size(default, self.judge.budget());
                return self.judge.budget().pay(size).then(|| default.detached());
            }
        }
        None
    }

    fn remove_additional<'n>(&mut self, view: &View<'s, 'a>, fixed: &mut Fixed<'n>, at: At<'_>) {
        let is_closed =
            view.keyword_values(Keyword::AdditionalProperties).any(|(_, values)| values.as_bool() == Some(false));
        let (rule, confidence) = (RepairRule::RemoveAdditional, Confidence::Likely);
        let count = fixed.value.as_object().filter(|_| is_closed).map_or(0, |object| object.len());
        let mut removals: Vec<(usize, Repair)> = Vec::new();
        for index in 0..count {
            let Some(key) = key_of(&fixed.value, index).filter(|_| self.judge.budget().pay(1)) else { break };
            if view.declares(&key) || !self.matches_no_pattern(view, &key) {
                continue;
            }
            let child = ChildLocations::member(at, &key, &key);
            let member_at = child.at(at, Layers::default());
            let member = fixed.value.as_object().and_then(|object| object.members().get(index));
            match (self.permits.refusal(rule, confidence), member) {
                (Some(reason), _) => self.record_reason(member_at, reason),
                (None, Some(member)) => {
                    removals.push((index, words::omission(member_at, (rule, confidence), &member.value)))
                }
                (None, None) => break,
            }
        }
        self.remove_members(view, fixed, removals);
    }
}

fn remove_indices(value: &mut Node<'_>, removed_indices: &Set<usize>) {
    let mut index = 0;
    if let Some(object) = value.as_object_mut() {
        object.retain(|_| {
            index += 1;
            !removed_indices.contains(&(index - 1))
        });
    }
}

fn is_blank(value: &Node<'_>) -> bool {
    value.is_null() || value.as_text().is_some_and(|text| text.display().trim().is_empty())
}

fn means_absence(value: &Node<'_>) -> bool {
    is_blank(value) || value.as_text().is_some_and(|text| means_null(text.display().trim()))
}

/// A possible renaming of a member, with its repaired value.
struct Renaming<'n> {
    index: usize,
    old: Text<'n>,
    new: Text<'n>,
    value: Node<'n>,
    repairs: Vec<Repair>,
    is_required: bool,
}

/// Original names of renamed members, by index.
pub(super) type OldNames<'n> = Map<usize, Text<'n>>;

impl<'s, 'a> Repairer<'_, 's, 'a> {
    /// Returns the indexes of the renamed members, whose values are already repaired, and their original names.
    pub(super) fn rename_members<'n>(
        &mut self,
        view: &View<'s, 'a>,
        fixed: &mut Fixed<'n>,
        at: At<'_>,
    ) -> (Set<usize>, OldNames<'n>) {
        let (mut renamed_indices, mut old_names) = (Set::new(), OldNames::new());
        let additional: Vec<&Node<'a>> =
            view.keyword_values(Keyword::AdditionalProperties).map(|(_, values)| values).collect();
        // If the object is a map, its names are data, so no name is a misspelling.
        if additional.iter().any(|value| value.as_bool().is_none()) {
            return (renamed_indices, old_names);
        }
        let is_closed = additional.iter().any(|value| value.as_bool() == Some(false));
        let similar = self.similar_names(view, fixed, at);
        let required = view.required_names();
        let only_missing = if similar.is_empty() { None } else { self.only_missing(&required, &fixed.value) };
        let mut renamings = Vec::new();
        for (index, name) in similar {
            let Some(old) = key_of(&fixed.value, index).filter(|old| !required.contains(old)) else {
                continue;
            };
            let Some(member) = member_mut(&mut fixed.value, index) else { continue };
            let copy = member.value.copy(self.judge.budget());
            let schemas = self.member_schemas(view, name);
            let new = name.clone().into_owned();
            let child = ChildLocations::member(at, &old, &new);
            let member_at = child.at(at, Layers::default());
            let repaired = self.repair_value(&schemas, copy, member_at);
            if self.verdict(&schemas, &repaired.value, member_at) != Verdict::Valid {
                continue;
            }
            if let Some(reason) = self.permits.refusal(RepairRule::PropertyName, Confidence::Likely) {
                self.record_member_reason(at, &old, reason);
                if only_missing == Some(name) {
                    self.record_reason(at, reason);
                }
                continue;
            }
            let mut repairs = alloc::vec![words::renaming(member_at, &old, &new)];
            repairs.extend(repaired.repairs);
            let is_required = required.contains(name);
            renamings.push(Renaming { index, old, new, value: repaired.value, repairs, is_required });
        }
        if !is_closed && !renamings.iter().any(|renaming| renaming.is_required) {
            return (renamed_indices, old_names);
        }
        let mut satisfied = self.satisfied_assertions(view, &fixed.value, &VALUE_ASSERTIONS);
        satisfied.extend(self.satisfied_assertions(view, &fixed.value, &NAME_ASSERTIONS));
        // A renaming that breaks an assertion may be possible after another renaming, so it is tried again at the end.
        let mut pending = renamings;
        while !pending.is_empty() {
            let (count, mut retried) = (pending.len(), Vec::new());
            for Renaming { index, old, new, value, repairs, is_required } in pending {
                let Some(member) = member_mut(&mut fixed.value, index) else { continue };
                let previous = core::mem::replace(member, Member { key: new, value });
                if self.breaks(&satisfied, &fixed.value) {
                    if let Some(member) = member_mut(&mut fixed.value, index) {
                        let Member { key: new, value } = core::mem::replace(member, previous);
                        retried.push(Renaming { index, old, new, value, repairs, is_required });
                    }
                    continue;
                }
                renamed_indices.insert(index);
                old_names.insert(index, old);
                fixed.repairs.extend(repairs);
            }
            pending = if retried.len() < count { retried } else { Vec::new() };
        }
        (renamed_indices, old_names)
    }

    /// Returns the only missing required name. Returns `None` if several names are missing: a reason at the
    /// object would then not tell to which missing name it belongs.
    fn only_missing(&self, required: &Set<&'s Text<'a>>, value: &Node<'_>) -> Option<&'s Text<'a>> {
        let object = value.as_object()?;
        self.judge.budget().pay((required.len() + object.len()) / 16).then_some(())?;
        let existing = LookUp::of(object);
        let mut missing = required.iter().copied().filter(|name| !existing.has(name));
        missing.next().filter(|_| missing.next().is_none())
    }

    /// Returns the index of each undeclared member that resembles exactly one declared name, with this name. Skips
    /// names of existing members, and names with several similar members.
    fn similar_names(&mut self, view: &View<'s, 'a>, fixed: &Fixed<'_>, at: At<'_>) -> Vec<(usize, &'s Text<'a>)> {
        let Some(object) = fixed.value.as_object() else { return Vec::new() };
        if object.iter().all(|member| view.declares(&member.key)) {
            return Vec::new();
        }
        let mut declared_by_folded_name: Map<String, Option<&'s Text<'a>>> = Map::new();
        for name in view.declared_names() {
            if !self.judge.budget().pay(1) {
                return Vec::new();
            }
            let Some(folded) = fold_name(name) else { continue };
            let known = declared_by_folded_name.entry(folded).or_insert(Some(name));
            // Two declared names with the same folded spelling are ambiguous.
            if known.is_some_and(|known| known != name) {
                *known = None;
            }
        }
        let existing = LookUp::of(object);
        let mut similar_by_folded_name: Map<String, Option<(usize, &'s Text<'a>)>> = Map::new();
        for (index, member) in object.iter().enumerate() {
            if view.declares(&member.key) || !self.matches_no_pattern(view, &member.key) {
                continue;
            }
            let Some(folded) = fold_name(&member.key).filter(|_| self.judge.budget().pay(1)) else { continue };
            let Some(name) = declared_by_folded_name.get(&folded).copied() else { continue };
            if name.is_some_and(|name| existing.has(name)) {
                continue;
            }
            let is_first = !similar_by_folded_name.contains_key(&folded);
            let (Some(name), true) = (name, is_first) else {
                self.record_member_reason(at, &member.key, LeftReason::Ambiguous);
                if let Some(Some((other_index, _))) = similar_by_folded_name.insert(folded, None) {
                    let other = object.members().get(other_index);
                    other
                        .into_iter()
                        .for_each(|other| self.record_member_reason(at, &other.key, LeftReason::Ambiguous));
                }
                continue;
            };
            similar_by_folded_name.insert(folded, Some((index, name)));
        }
        let similar: Vec<_> = similar_by_folded_name.values().copied().flatten().collect();
        collections::sorted_by(similar, |(left, _), (right, _)| left.cmp(right))
    }

    fn record_member_reason(&mut self, at: At<'_>, name: &Text<'_>, reason: LeftReason) {
        let child = ChildLocations::member(at, name, name);
        self.record_reason(child.at(at, Layers::default()), reason);
    }
}
