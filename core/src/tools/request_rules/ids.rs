//! The ids that connect results to their calls.

use alloc::{collections::VecDeque, string::String, vec::Vec};

use super::{FactRule, RuleViolation, ViolationLocation};
use crate::{
    collections::Map,
    dialect::{
        name_rules::NamePattern,
        rule::{Fix, Location, Refused},
    },
    error::Error,
    json::{
        lazy::{may_hold, view},
        Flags, Node, Text,
    },
    names,
    wire::{units::Role, Wire},
};

pub(super) struct Ids {
    pattern_rule: Option<(FactRule, NamePattern)>,
    uniqueness_rule: Option<FactRule>,
    ids: Vec<Id>,
}

struct Id {
    role: Role,
    text: Text<'static>,
    pointer: String,
    message: usize,
}

#[derive(Default)]
struct Calls {
    count: usize,
    /// Numbers of the calls that have no result yet.
    waiting: VecDeque<usize>,
    /// Index of the message with the last call.
    message: usize,
}

impl Ids {
    pub(super) fn of(rules: &[FactRule]) -> Self {
        let mut ids = Ids { pattern_rule: None, uniqueness_rule: None, ids: Vec::new() };
        for (fact, rule) in rules.iter().filter(|(_, rule)| rule.at == Location::CallId) {
            match rule.refuses {
                // The dialect's rules take precedence over the host's rules, which follow them.
                Refused::NotMatch(pattern) => {
                    ids.pattern_rule.get_or_insert(((*fact, *rule), pattern));
                }
                _ => {
                    ids.uniqueness_rule.get_or_insert((*fact, *rule));
                }
            }
        }
        ids
    }

    fn has_no_rules(&self) -> bool {
        self.pattern_rule.is_none() && self.uniqueness_rule.is_none()
    }

    pub(super) fn read(&mut self, message: &Node<'_>, index: usize, wire: &'static Wire) {
        if self.has_no_rules() {
            return;
        }
        wire.parts(message, &mut |part| {
            if let Some(text) = part.id().filter(|_| !part.is_hosted()) {
                let pointer = alloc::format!("/{}/{index}{}", wire.history(), part.pointer_to_id());
                self.ids.push(Id { role: part.role(), text: text.into_owned(), pointer, message: index });
            }
        });
    }

    /// Returns the replacement of each id, with the rule that requires it; `None` for an id that stays.
    fn plan_replacements(&self) -> Vec<Option<(FactRule, String)>> {
        let mut plan: Vec<Option<(FactRule, String)>> = Vec::with_capacity(self.ids.len());
        for id in &self.ids {
            let illegal = self.pattern_rule.filter(|(_, pattern)| !names::is_legal(*pattern, &id.text));
            plan.push(illegal.map(|(rule, pattern)| (rule, names::mapped(pattern, &id.text, &[&id.text]))));
        }
        let Some(rule) = self.uniqueness_rule else { return plan };
        let pattern = self.pattern_rule.map_or(NamePattern::ANY, |(_, pattern)| pattern);
        // If the API has no pattern, new ids still have the characters of ids.
        let pattern = NamePattern { also: pattern.also.or(Some("_-")), ..pattern };
        let is_in_message = rule.1.refuses == Refused::RepeatedInMessage;
        let mut calls: Map<String, Calls> = Map::new();
        for (id, new) in self.ids.iter().zip(&mut plan) {
            let sent = new.as_ref().map_or_else(|| id.text.display().into_owned(), |(_, new)| new.clone());
            let calls_with_id = calls.entry(sent.clone()).or_default();
            let number = match id.role {
                Role::Call => {
                    if is_in_message && calls_with_id.message != id.message {
                        *calls_with_id = Calls { message: id.message, ..Calls::default() };
                    }
                    calls_with_id.count += 1;
                    calls_with_id.waiting.push_back(calls_with_id.count);
                    calls_with_id.count
                }
                _ => calls_with_id.waiting.pop_front().unwrap_or(calls_with_id.count),
            };
            if number > 1 {
                let number = Text::new(alloc::format!("{number}"));
                *new = Some((rule, names::mapped(pattern, &Text::new(sent), &[&id.text, &number])));
            }
        }
        plan
    }

    pub(super) fn add_violations(self, violations: &mut Vec<RuleViolation>) {
        let plan = self.plan_replacements();
        let calls: crate::collections::Set<&Text<'_>> =
            self.ids.iter().filter(|id| id.role == Role::Call).map(|id| &id.text).collect();
        for (number, (id, new)) in self.ids.iter().zip(plan).enumerate() {
            let Some(((fact, rule), _)) = new else { continue };
            if id.role == Role::Call || !calls.contains(&id.text) {
                violations.push(RuleViolation {
                    fact,
                    rule,
                    pointer: id.pointer.clone(),
                    location: ViolationLocation::Id(number),
                });
            }
        }
    }
}

/// Returns the replacement of each id, in the order of [`Wire::visit_ids`].
pub(super) fn replacements(
    messages: &[Node<'_>],
    wire: &'static Wire,
    rules: &[FactRule],
) -> Result<Vec<Option<String>>, Error> {
    let mut ids = Ids::of(rules);
    for (index, message) in messages.iter().enumerate().filter(|(_, message)| may_have_ids(message)) {
        ids.read(&*view(message)?, index, wire);
    }
    let is_fixed = |((_, rule), new): (FactRule, String)| (rule.fix == Fix::MapId).then_some(new);
    Ok(ids.plan_replacements().into_iter().map(|new| new.and_then(is_fixed)).collect())
}

pub(super) fn may_have_ids(message: &Node<'_>) -> bool {
    may_hold(message, Flags::CALL | Flags::RESULT | Flags::CHAT)
}
