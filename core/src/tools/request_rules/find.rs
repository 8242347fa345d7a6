//! Finds violations of rules about locations in a request.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use super::{ids, FactRule, RuleViolation, ViolationLocation};
use crate::{
    collections::Set,
    dialect::rule::{BetaLocation, Fix, Location, Messages, Parts, Path, Refused, Rule, When},
    error::Error,
    json::{
        self,
        lazy::{may_hold, view},
        pointer::push_token,
        Data, Flags, Node, Text,
    },
    options::Api,
    request::betas::{self, Header},
    wire::{
        self,
        choice::Choice,
        turns::{Speaker, Turns},
        units::{has_type, Role},
        Wire,
    },
};

/// Returns the violations in members of the request, in the order of the rules, and then the violations in the history.
pub(crate) fn find_violations(
    request: &Node<'_>,
    api: Api,
    rules: &[FactRule],
    header: Option<&Header>,
) -> Result<Vec<RuleViolation>, Error> {
    let wire = wire::of(api);
    let betas = Betas::of(request, rules, header)?;
    // At most one violation for each rule.
    let mut of_request: Vec<RuleViolation> = Vec::new();
    let (mut of_system, mut of_tools, mut of_betas) = (Vec::new(), Vec::new(), Vec::new());
    let mut of_history = Vec::new();
    for (fact, rule) in rules {
        if !is_applicable(request, rule.when, &betas)? {
            continue;
        }
        if rule.at == Location::Beta {
            let Refused::Words(words) = rule.refuses else { continue };
            of_betas.extend(betas.refused_locations(words).map(|(pointer, beta_location)| {
                let location = ViolationLocation::Beta(beta_location);
                RuleViolation { fact, rule, pointer, location }
            }));
            continue;
        }
        let mut add = |pointer: String, location| {
            // Several rules may be about one member; the first violated one is used.
            let is_known = |other: &RuleViolation| {
                location == ViolationLocation::Request && other.pointer == pointer && other.rule.id == rule.id
            };
            if !of_request.iter().any(is_known) {
                of_request.push(RuleViolation { fact, rule, pointer, location });
            }
        };
        match rule.at {
            Location::Request(path) => {
                if test_at(request, path, &mut |value| is_refused(value, rule.refuses))? {
                    add(join_pointer("", reported_path(rule, path)), ViolationLocation::Request);
                }
            }
            Location::Choice => {
                let choice = wire.choice().of(request)?.and_then(|(_, choice)| choice);
                let is_refused = match rule.refuses {
                    Refused::WithoutTools => choice.is_some() && !has_functions(request, wire)?,
                    refused => choice.is_some_and(|choice| is_choice(&choice, refused)),
                };
                if is_refused {
                    add(wire.choice().pointer_in(request)?.unwrap_or_default().to_owned(), ViolationLocation::Choice);
                }
            }
            Location::SystemPart(path) => {
                let Some(member) = wire.prompt_member() else { continue };
                let Some(prompt) = request.get(member) else { continue };
                for (index, part) in view(prompt)?.as_array().unwrap_or_default().iter().enumerate() {
                    if test_at(part, path, &mut |value| is_refused(value, rule.refuses))? {
                        let pointer = join_pointer(&format!("/{member}/{index}"), path);
                        of_system.push(RuleViolation {
                            fact,
                            rule,
                            pointer,
                            location: ViolationLocation::SystemPart(index),
                        });
                    }
                }
            }
            Location::Tool(path) => {
                let list = wire.tools().pointer();
                wire.tools().look(request, |tools| {
                    for (index, tool) in tools.as_array().unwrap_or_default().iter().enumerate() {
                        if test_at(tool, path, &mut |value| is_refused(value, rule.refuses))? {
                            let pointer = join_pointer(&format!("{list}/{index}"), path);
                            of_tools.push(RuleViolation {
                                fact,
                                rule,
                                pointer,
                                location: ViolationLocation::Tool(index),
                            });
                        }
                    }
                    Ok(())
                })?;
            }
            Location::Message(..) | Location::Part(..) | Location::CallId => of_history.push((*fact, *rule)),
            Location::Beta => {}
        }
    }
    let mut violations = of_request;
    violations.append(&mut of_betas);
    violations.append(&mut of_system);
    violations.append(&mut of_tools);
    find_in_history(request, wire, &of_history, &mut violations)?;
    Ok(violations)
}

/// Returns the path to report. A missing member has no pointer, and a removed part is reported as a whole.
fn reported_path(rule: &Rule, path: Path) -> Path {
    let is_whole = rule.refuses == Refused::Absent || rule.fix == Fix::RemovePart;
    if is_whole {
        path.split_last().map_or(path, |(_, outer)| outer)
    } else {
        path
    }
}

fn join_pointer(pointer: &str, path: Path) -> String {
    let mut pointer = pointer.to_owned();
    path.iter().for_each(|name| push_token(&mut pointer, name));
    pointer
}

pub(super) fn test_at(
    node: &Node<'_>,
    path: Path,
    test: &mut dyn FnMut(Option<&Node<'_>>) -> bool,
) -> Result<bool, Error> {
    match path {
        [] => Ok(test(Some(&*view(node)?))),
        [name, rest @ ..] => {
            let node = view(node)?;
            match node.get(*name) {
                Some(member) => test_at(member, rest, test),
                None => Ok(test(None)),
            }
        }
    }
}

#[derive(Default)]
struct Betas<'h> {
    /// `None` if the caller does not know the header.
    header: Option<&'h Header>,
    /// The names in the body, each with the pointer to its string.
    body: Vec<(String, String)>,
}

impl<'h> Betas<'h> {
    fn of(request: &Node<'_>, rules: &[FactRule], header: Option<&'h Header>) -> Result<Self, Error> {
        if !rules.iter().any(|(_, rule)| rule.is_about_betas()) {
            return Ok(Betas::default());
        }
        let mut body = Vec::new();
        betas::each_in_body(request, &mut |name, pointer| body.push((name.to_owned(), pointer.to_owned())))?;
        Ok(Betas { header, body })
    }

    /// Returns one location for all names in the header, without a pointer, and one for each name in the body.
    fn refused_locations(&self, names: &[&str]) -> impl Iterator<Item = (String, BetaLocation)> {
        let is_refused = |name: &str| names.contains(&name);
        let is_in_header = self.header.is_some_and(|header| names.iter().any(|name| header.has(name)));
        let of_header = is_in_header.then(|| (String::new(), BetaLocation::Header));
        let of_body = self.body.iter().filter(|(name, _)| is_refused(name));
        let of_body: Vec<_> = of_body.map(|(_, pointer)| (pointer.clone(), BetaLocation::Body)).collect();
        of_header.into_iter().chain(of_body)
    }

    fn is_missing(&self, beta: &str, beta_location: BetaLocation) -> bool {
        match beta_location {
            BetaLocation::Header => self.header.is_some_and(|header| !header.has(beta)),
            BetaLocation::Body => !self.body.iter().any(|(name, at)| name == beta && betas::is_in_first_member(at)),
        }
    }
}

fn is_applicable(request: &Node<'_>, conditions: &[When], betas: &Betas<'_>) -> Result<bool, Error> {
    let has = |path, wanted: Option<&str>| {
        test_at(request, path, &mut |value| match (value, wanted) {
            (Some(value), Some(wanted)) => json::write(value) == wanted || is_number(value, wanted),
            (value, None) => value.is_some_and(|value| !value.is_null()),
            (None, _) => false,
        })
    };
    for condition in conditions {
        let is_met = match condition {
            When::Unless(path, value) => !has(path, Some(value))?,
            When::Is(path, value) => has(path, Some(value))?,
            When::Has(path) => has(path, None)?,
            When::WithoutBeta(beta, beta_location) => betas.is_missing(beta, *beta_location),
            When::Below(path, limit) => {
                !test_at(request, path, &mut |value| value.is_some_and(|value| !is_below_or_no_number(value, limit)))?
            }
            When::OnlyPart | When::MessageHas(_) | When::MessageLacks(_) | When::TextOnly | When::CurrentTurn => true,
        };
        if !is_met {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns true if a value is below a limit, or is not a number.
fn is_below_or_no_number(value: &Node<'_>, limit: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    value.as_number().and_then(number).zip(number(limit)).is_none_or(|(number, limit)| number < limit)
}

fn is_above(value: &Node<'_>, maximum: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    value.as_number().and_then(number).zip(number(maximum)).is_some_and(|(number, maximum)| number > maximum)
}

fn is_number(value: &Node<'_>, wanted: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    value.as_number().and_then(number).is_some_and(|value| number(wanted) == Some(value))
}

/// Returns true if the list has an entry that the client's history or choice may refer to.
fn has_functions(request: &Node<'_>, wire: &Wire) -> Result<bool, Error> {
    let tools = wire.tools();
    let is_function = |entry: &Node<'_>| match tools.groups() {
        [] => tools.is_tool(entry),
        groups => groups.iter().any(|group| !entry.items_at(*group).is_empty()),
    };
    // A single group may replace the list of groups.
    let has =
        |list: &Node<'_>| Ok(list.as_array().map_or_else(|| is_function(list), |list| list.iter().any(is_function)));
    Ok(tools.look(request, has)?.unwrap_or_default())
}

fn is_refused(value: Option<&Node<'_>>, refused: Refused) -> bool {
    let value = value.filter(|value| refused == Refused::Null || !value.is_null());
    let Some(value) = value else { return refused == Refused::Absent };
    let text = value.as_text();
    match refused {
        Refused::Present => true,
        Refused::Null => value.is_null(),
        Refused::Words(words) => text.is_some_and(|text| words.iter().any(|word| text.is(*word))),
        Refused::NotBegin(prefix) => text.is_some_and(|text| !text.display().starts_with(prefix)),
        Refused::Empty => match value.data() {
            Data::Array(items) => items.is_empty(),
            Data::String(text) => text.is_empty(),
            _ => false,
        },
        Refused::Blank => text.is_some_and(|text| !text.is_empty() && text.is_blank()),
        Refused::NotObject => value.as_object().is_none(),
        Refused::Above(maximum) => is_above(value, maximum),
        _ => false,
    }
}

fn is_choice(choice: &Choice<'_>, refused: Refused) -> bool {
    match (choice, refused) {
        (Choice::Allowed { required, .. }, Refused::AllowedOptional) => !required,
        (Choice::Allowed { .. }, Refused::Allowed)
        | (Choice::Tool(_), Refused::Named)
        | (Choice::None, Refused::Forbidden) => true,
        _ => false,
    }
}

fn matches_message(message: &Node<'_>, turns: &Turns, wanted: Messages) -> bool {
    match wanted {
        Messages::By(speaker) => turns.speaker(message) == speaker,
        Messages::Type(kind) => has_type(message, kind),
        Messages::Role(role) => message.get("role").is_some_and(|value| value.is_text(role)),
    }
}

fn matches_part(part: &Node<'_>, turns: &Turns, wanted: Parts) -> bool {
    match wanted {
        Parts::Text => turns.is_text(part),
        Parts::Type(kind) => has_type(part, kind),
        Parts::With(member) => part.get(member).is_some_and(|value| !value.is_null()),
    }
}

fn find_in_history(
    request: &Node<'_>,
    wire: &'static Wire,
    rules: &[FactRule],
    violations: &mut Vec<RuleViolation>,
) -> Result<(), Error> {
    let Some(messages) = request.array_at(wire.history()).filter(|_| !rules.is_empty()) else { return Ok(()) };
    let flags = rules.iter().fold(Flags::NONE, |flags, (_, rule)| flags | rule.flags());
    let after = rules.iter().find_map(|(_, rule)| match rule.refuses {
        Refused::After(speaker) => Some(speaker),
        _ => None,
    });
    let needs_turn = rules.iter().any(|(_, rule)| {
        matches!(rule.refuses, Refused::FirstCallWithout(_)) || rule.when.contains(&When::CurrentTurn)
    });
    let turn = if needs_turn { current_turn(messages, wire)? } else { 0 };
    let has_starts = rules.iter().any(|(_, rule)| rule.refuses == Refused::First);
    let last = if has_starts { last_of_model(messages, wire)? } else { None };
    let needs_tools = rules.iter().any(|(_, rule)| rule.refuses == Refused::WithoutTools);
    let lacks_tools = needs_tools && !has_functions(request, wire)?;
    let mut ids = ids::Ids::of(rules);
    let mut before = None;
    for (index, message) in messages.iter().enumerate() {
        let is_after = after.is_some() && before == after;
        if !may_hold(message, flags) && !is_after {
            before = None;
            continue;
        }
        let message = view(message)?;
        let is_last = index + 1 == messages.len();
        let message_context =
            MessageContext { message: &message, index, wire, before, turn, last, lacks_tools, is_last };
        let first = violations.len();
        for (fact, rule) in rules {
            message_context.check_rule(rule, &mut |pointer, location| {
                violations.push(RuleViolation { fact, rule, pointer, location })
            })?;
        }
        drop_inside_removed_parts(violations, first);
        ids.read(&message, index, wire);
        before = Some(wire.turns().speaker(&message));
    }
    ids.add_violations(violations);
    Ok(())
}

/// Drops violations inside parts that are removed anyway, except the removals. The violations of the message begin at
/// `first`.
fn drop_inside_removed_parts(violations: &mut Vec<RuleViolation>, first: usize) {
    let is_removal = |violation: &RuleViolation| violation.rule.fix == Fix::RemovePart;
    if !violations.iter().skip(first).any(is_removal) {
        return;
    }
    let mut of_message = violations.split_off(first);
    let removed: Set<usize> = of_message
        .iter()
        .filter(|violation| is_removal(violation))
        .filter_map(|violation| violation.location.part())
        .collect();
    let mut kept_parts = Set::new();
    of_message.retain(|violation| match violation.location.part().filter(|part| removed.contains(part)) {
        Some(part) => is_removal(violation) && kept_parts.insert(part),
        None => true,
    });
    violations.append(&mut of_message);
}

/// A message, with the facts about the history that rules need.
struct MessageContext<'n, 'a> {
    message: &'n Node<'a>,
    index: usize,
    wire: &'static Wire,
    /// Author of the message before this one, if it was read.
    before: Option<Speaker>,
    /// Index of the message with which the current turn begins.
    turn: usize,
    /// Index of the model's last message.
    last: Option<usize>,
    lacks_tools: bool,
    /// True for the last message of the history.
    is_last: bool,
}

impl MessageContext<'_, '_> {
    fn check_rule(&self, rule: &'static Rule, add: &mut dyn FnMut(String, ViolationLocation)) -> Result<(), Error> {
        let turns = self.wire.turns();
        let pointer = || format!("/{}/{}", self.wire.history(), self.index);
        match rule.at {
            Location::Message(messages, path)
                if matches_message(self.message, turns, messages) && self.meets_conditions(rule.when) =>
            {
                let is_broken = match rule.refuses {
                    Refused::After(speaker) => self.before == Some(speaker),
                    Refused::WithoutTools => self.lacks_tools && self.has_calls(),
                    refused => test_at(self.message, path, &mut |value| is_refused(value, refused))?,
                };
                if is_broken {
                    add(join_pointer(&pointer(), reported_path(rule, path)), ViolationLocation::Message(self.index));
                }
            }
            Location::Part(parts, path) => {
                let list = self.wire.parts_list();
                let all = self.message.items_at(list);
                let first_call = match rule.refuses {
                    Refused::AfterCall | Refused::FirstCallWithout(_) => first_call(self.message, self.wire),
                    _ => None,
                };
                let answered = match rule.refuses {
                    Refused::WithoutResult { reference, .. } => {
                        all.iter().filter_map(|part| part.text_at(reference)).collect()
                    }
                    _ => Set::new(),
                };
                for (index, part) in all.iter().enumerate() {
                    if !matches_part(part, turns, parts) {
                        continue;
                    }
                    let is_only = all.len() == 1;
                    let is_broken = match rule.refuses {
                        Refused::AfterCall => first_call.is_some_and(|call| call < index),
                        Refused::First => index == 0 && self.last == Some(self.index),
                        Refused::FirstCallWithout(member) => {
                            self.index >= self.turn
                                && first_call == Some(index)
                                && turns.speaker(self.message) == Speaker::Model
                                && google_spellings(member).iter().all(|member| part.get(member.as_str()).is_none())
                        }
                        Refused::WithoutTools => self.lacks_tools,
                        Refused::WithoutResult { name, .. } => {
                            let is_named = part.text_at("name").is_some_and(|value| value.display().starts_with(name));
                            let is_answered = part.text_at("id").is_none_or(|id| answered.contains(id));
                            is_named && !self.is_last && !is_answered
                        }
                        refused => test_at(part, path, &mut |value| is_refused(value, refused))?,
                    };
                    if is_broken && (is_only || !rule.when.contains(&When::OnlyPart)) {
                        let pointer = format!("{}/{list}/{index}", pointer());
                        add(
                            join_pointer(&pointer, reported_path(rule, path)),
                            ViolationLocation::Part(self.index, index),
                        );
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn has_calls(&self) -> bool {
        let mut has = false;
        self.wire.parts(self.message, &mut |part| has |= part.role() == Role::Call);
        has
    }

    fn is_text(&self) -> bool {
        let list = self.wire.parts_list();
        match self.message.text_at(list) {
            Some(text) => !text.is_blank(),
            None => {
                let parts = self.message.items_at(list);
                let is_blank = |part: &Node<'_>| part.text_at("text").is_none_or(Text::is_blank);
                parts.iter().all(|part| self.wire.turns().is_text(part)) && !parts.iter().all(is_blank)
            }
        }
    }

    fn meets_conditions(&self, conditions: &[When]) -> bool {
        conditions.iter().all(|condition| match condition {
            When::MessageHas(member) => self.message.get(*member).is_some_and(|value| {
                let is_empty = value.as_array().is_some_and(<[Node<'_>]>::is_empty);
                !value.is_null() && !is_empty
            }),
            When::MessageLacks(member) => self.message.get(*member).is_none_or(Node::is_null),
            When::TextOnly => self.is_text(),
            When::CurrentTurn => self.index >= self.turn,
            _ => true,
        })
    }
}

pub(super) fn first_call(message: &Node<'_>, wire: &Wire) -> Option<usize> {
    let mut first: Option<usize> = None;
    wire.parts(message, &mut |part| {
        if part.role() == Role::Call {
            first = first.into_iter().chain(part.entry).min();
        }
    });
    first
}

/// Returns the spellings of a member that Google's APIs accept: `thoughtSignature` and `thought_signature`.
fn google_spellings(member: &str) -> [String; 2] {
    let mut snake = String::new();
    for letter in member.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    [member.to_owned(), snake]
}

fn last_of_model(messages: &[Node<'_>], wire: &Wire) -> Result<Option<usize>, Error> {
    for (index, message) in messages.iter().enumerate().rev() {
        if wire.turns().speaker(&*view(message)?) == Speaker::Model {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// Returns the index of the user's last message with content other than results.
fn current_turn(messages: &[Node<'_>], wire: &Wire) -> Result<usize, Error> {
    for (index, message) in messages.iter().enumerate().rev() {
        let message = view(message)?;
        if wire.turns().speaker(&message) != Speaker::User {
            continue;
        }
        let mut results = 0;
        wire.parts(&message, &mut |part| results += usize::from(part.role() == Role::Result));
        let is_text = message.text_at(wire.parts_list()).is_some_and(|text| !text.is_empty());
        if is_text || message.items_at(wire.parts_list()).len() > results {
            return Ok(index);
        }
    }
    Ok(0)
}
