//! Parses strings that hold JSON, for dialects that cannot express these values otherwise.
//!
//! The plan contains the parts of the sent schema that are needed. If the values of a schema are sent as text, the
//! member `json` is the kind of these values: `"any"` JSON, an `"object"`, or an `"integer"`, `"number"` or `"boolean"`
//! that `enum` lists as a string. Other strings, and text that is not JSON, are left unchanged. `absent` names the
//! properties whose null means that they are absent. Dialects that need `json` or `absent` get schemas without
//! references, so the decoder follows none.

use alloc::vec::Vec;

use crate::{
    budget::Budget,
    collections::Set,
    dialect::grammar::{AnyEncoding, Grammar, RequiredRule},
    json::{self, Child, Data, LookUp, Member, Node, Object, Text},
    sanitize::{
        decode::discriminator::Discriminators,
        encode::{json_string::Holds, require_one},
    },
};

const DISTINGUISHING_KEYWORDS: [&str; 4] = ["type", "nullable", "enum", "required"];

pub(super) fn may_need_plan(grammar: &Grammar) -> bool {
    grammar.anything == AnyEncoding::JsonText
        || !grammar.enums.as_text.is_empty()
        || grammar.objects.required == RequiredRule::One
}

/// Returns `None` if nothing is to be undone.
pub(super) fn plan(written: &Node<'_>, budget: &Budget) -> Option<Node<'static>> {
    plan_of(written, false, budget).map(|plan| plan.detached())
}

/// Returns the plan for a schema. If `is_full` is true, it also contains what distinguishes values of the schema from
/// other values.
fn plan_of<'a>(schema: &Node<'a>, is_full: bool, budget: &Budget) -> Option<Node<'a>> {
    let object = schema.as_object().filter(|object| budget.pay(1 + object.len()))?;
    let mut plan = Object::new();
    let holds = Holds::of_schema(schema);
    if let Some(branches) = branches(schema) {
        if is_full || holds.is_some() || branches.iter().any(|branch| plan_of(branch, false, budget).is_some()) {
            let full_plans = branches.iter().map(|branch| plan_of(branch, true, budget).unwrap_or_default());
            plan.set(Text::literal("anyOf"), Node::array(full_plans.collect()));
        }
    }
    if let Some(holds) = holds {
        plan.set(Text::literal("json"), Node::literal(holds.name()));
    }
    if let Some(name) = require_one::property_with_null_for_absence(schema) {
        plan.set(Text::literal("absent"), Node::array(alloc::vec![name.copy(budget)]));
    }
    // Keywords of the schema itself also distinguish it from other branches of a union.
    let is_full = is_full || plan.has("anyOf");
    for keyword in DISTINGUISHING_KEYWORDS
        .into_iter()
        .filter(|keyword| is_full || (holds.is_some_and(Holds::is_from_enum) && *keyword == "enum"))
    {
        if let Some(value) = object.get(keyword) {
            plan.set(Text::literal(keyword), value.copy(budget));
        }
    }
    let others = object.get("additionalProperties").and_then(|others| plan_of(others, is_full, budget));
    if let Some(table) = object.object_at("properties") {
        // Declared properties are included so that they are not mistaken for additional ones.
        let names = is_full || others.is_some();
        let property_plan = |member: &Member<'a>| {
            let child_plan = plan_of(&member.value, is_full, budget);
            Some(Member {
                key: member.key.clone(),
                value: if names { child_plan.unwrap_or_default() } else { child_plan? },
            })
        };
        let table: Vec<Member<'a>> = table.iter().filter_map(property_plan).collect();
        if names || !table.is_empty() {
            plan.set(Text::literal("properties"), Node::object(Object::from_unique(table)));
        }
    }
    if let Some(others) = others {
        plan.set(Text::literal("additionalProperties"), others);
    }
    if let Some(items) = object.get("items").and_then(|items| plan_of(items, is_full, budget)) {
        plan.set(Text::literal("items"), items);
    }
    (is_full || !plan.is_empty()).then(|| Node::object(plan))
}

pub(super) fn read<'p>(arguments: &mut Node<'_>, plan: &'p Node<'p>, budget: &Budget) {
    if may_need_restoring(arguments, budget) {
        TextDecoder { budget, discriminators: Discriminators::default() }.value(arguments, plan);
    }
}

/// Returns true if the arguments contain null or a string that may be JSON. Most arguments contain neither.
pub(super) fn may_need_restoring(node: &Node<'_>, budget: &Budget) -> bool {
    let mut open = alloc::vec![node];
    while let Some(node) = open.pop().filter(|_| budget.pay(1)) {
        match node.data() {
            Data::String(text) if may_be_json(&text.display()) => return true,
            Data::Null => return true,
            Data::Array(items) => open.extend(items),
            Data::Object(object) => open.extend(object.iter().map(|member| &member.value)),
            _ => {}
        }
    }
    false
}

fn may_be_json(text: &str) -> bool {
    text.trim_start().starts_with(|first: char| matches!(first, '{' | '[' | '"' | '-' | '0'..='9' | 't' | 'f' | 'n'))
}

fn parse_json(text: &str) -> Option<Node<'static>> {
    json::read(text).ok().map(|node| node.detached())
}

/// Returns true if the text was quoted because it would itself be parsed as an object.
fn is_quoted_object_text(parsed: &Node<'_>) -> bool {
    let Some(text) = parsed.as_text().and_then(|text| text.value()) else { return false };
    parse_json(&text).is_some_and(|inner| inner.as_object().is_some() || is_quoted_object_text(&inner))
}

struct TextDecoder<'b, 's, 'n> {
    budget: &'b Budget,
    discriminators: Discriminators<'s, 'n>,
}

impl<'s, 'n> TextDecoder<'_, 's, 'n> {
    fn value(&self, value: &mut Node<'_>, schema: &'s Node<'n>) {
        if !self.pay(value) {
            return;
        }
        if let Some(text) = value.as_text().and_then(|text| text.value().map(|text| text.into_owned())) {
            if let Some(parsed) = self.parsed_value(&text, schema) {
                value.replace(parsed.into_data());
            }
            return;
        }
        if let Some(branches) = branches(schema) {
            let candidates = self.candidates(value, branches);
            let find_strictly = |fit: Fit| candidates.iter().copied().find(|branch| self.fits(value, branch, fit));
            let find_by_type = || branches.iter().find(|branch| self.fits(value, branch, Fit::TypeOnly));
            if let Some(branch) = Fit::STRICT.into_iter().find_map(find_strictly).or_else(find_by_type) {
                self.value(value, branch);
            }
        }
        remove_absent(value, schema, self.budget);
        let table = if value.as_object().is_some() { self.table(schema) } else { None };
        // The visitor never fails.
        let _ = value.visit_children::<()>(|child, inner| {
            let child_schema = match child {
                Child::Member(name) => self.member(table.as_ref(), name, schema),
                Child::Item(_) => schema.get("items"),
            };
            if let Some(child_schema) = child_schema {
                self.value(inner, child_schema);
            }
            Ok(())
        });
    }

    fn candidates(&self, value: &Node<'_>, branches: &'s [Node<'n>]) -> Vec<&'s Node<'n>> {
        self.discriminators.candidates(value, branches, self.budget, Some)
    }

    fn pay(&self, value: &Node<'_>) -> bool {
        let members = value.as_object().map_or(0, Object::len) + value.as_array().map_or(0, <[_]>::len);
        self.budget.pay(1 + members)
    }

    fn table(&self, schema: &'s Node<'n>) -> Option<LookUp<'s, 'n>> {
        let properties = schema.object_at("properties")?;
        self.budget.pay(properties.len());
        Some(LookUp::of(properties))
    }

    fn member(&self, table: Option<&LookUp<'s, 'n>>, name: &Text<'_>, schema: &'s Node<'n>) -> Option<&'s Node<'n>> {
        table.and_then(|table| table.get(name)).or_else(|| schema.get("additionalProperties"))
    }

    fn lists(&self, schema: &Node<'_>, text: &str) -> bool {
        let values = schema.array_at("enum");
        self.budget.pay(values.map_or(0, <[_]>::len));
        values.is_none_or(|values| values.iter().any(|known| known.is_text(text)))
    }

    /// Returns `None` if the text remains a string.
    fn parsed_value(&self, text: &str, schema: &Node<'_>) -> Option<Node<'static>> {
        let mut readings = TextReadings::default();
        self.collect_readings(schema, text, &mut readings);
        if !(readings.anything || readings.object || readings.listed) {
            return None;
        }
        let parsed = if self.budget.pay(text.len()) { parse_json(text)? } else { return None };
        let reads = readings.anything
            || (readings.object
                && (parsed.as_object().is_some() || (readings.string && is_quoted_object_text(&parsed))))
            || (readings.listed && !readings.string && (parsed.as_number().is_some() || parsed.as_bool().is_some()));
        reads.then_some(parsed)
    }

    fn collect_readings(&self, schema: &Node<'_>, text: &str, readings: &mut TextReadings) {
        if !self.budget.pay(1) {
            return;
        }
        for branch in branches(schema).into_iter().flatten() {
            self.collect_readings(branch, text, readings);
        }
        match Holds::of_plan(schema) {
            Some(Holds::Anything) => readings.anything = true,
            Some(Holds::Object) => readings.object = true,
            Some(Holds::Integer | Holds::Number | Holds::Boolean) => readings.listed |= self.lists(schema, text),
            None => {
                readings.string |=
                    schema.get("type").is_some_and(|name| name.is_text("string")) && self.lists(schema, text)
            }
        }
    }

    fn fits(&self, value: &Node<'_>, schema: &'s Node<'n>, fit: Fit) -> bool {
        if !self.pay(value) {
            return false;
        }
        if let Some(branches) = branches(schema) {
            return match fit {
                Fit::TypeOnly => branches.iter().any(|branch| self.fits(value, branch, fit)),
                _ => self.candidates(value, branches).into_iter().any(|branch| self.fits(value, branch, fit)),
            };
        }
        let has_type = |name: &str| {
            schema.get("type").is_none_or(|known| match known.as_array() {
                Some(names) => names.iter().any(|known| known.is_text(name)),
                None => known.is_text(name),
            })
        };
        let listed = Holds::of_plan(schema).filter(|holds| holds.is_from_enum());
        match value.data() {
            Data::Null => schema.get("nullable").and_then(Node::as_bool) == Some(true) || has_type("null"),
            // A value that is listed as text may also be sent unquoted.
            Data::Bool(value) if listed == Some(Holds::Boolean) => {
                self.lists(schema, if *value { "true" } else { "false" })
            }
            Data::Number(text) if matches!(listed, Some(Holds::Integer | Holds::Number)) => {
                self.lists(schema, &json::plain_number(text))
            }
            Data::Bool(_) => has_type("boolean"),
            Data::Number(text) => has_type("number") || (has_type("integer") && json::is_integral(text)),
            Data::String(text) => {
                (listed.is_some() || has_type("string")) && text.value().is_some_and(|text| self.lists(schema, &text))
            }
            Data::Array(items) => {
                let each = |item: &Node<'_>| schema.get("items").is_none_or(|below| self.fits(item, below, fit));
                has_type("array") && (fit == Fit::TypeOnly || items.iter().all(each))
            }
            Data::Object(members) => {
                has_type("object") && (fit == Fit::TypeOnly || self.fits_members(members, schema, fit))
            }
            Data::Verbatim(_) => false,
        }
    }

    fn fits_members(&self, members: &Object<'_>, schema: &'s Node<'n>, fit: Fit) -> bool {
        let required = schema.items_at("required");
        if !self.budget.pay(required.len()) {
            return false;
        }
        let (table, members_by_name) = (self.table(schema), LookUp::of(members));
        let fits = |member: &Member<'_>| match self.member(table.as_ref(), &member.key, schema) {
            Some(member_schema) => self.fits(&member.value, member_schema, fit),
            None => fit != Fit::Declared,
        };
        required.iter().filter_map(Node::as_text).all(|name| members_by_name.has(name)) && members.iter().all(fits)
    }
}

fn remove_absent(value: &mut Node<'_>, schema: &Node<'_>, budget: &Budget) {
    let Some(names) = schema.array_at("absent") else { return };
    if !budget.pay(names.len()) {
        return;
    }
    let names: Set<&Text<'_>> = names.iter().filter_map(Node::as_text).collect();
    let is_absent = |member: &Member<'_>| member.value.is_null() && names.contains(&member.key);
    if value.as_object().is_some_and(|members| members.iter().any(is_absent)) {
        if let Some(members) = value.as_object_mut() {
            members.retain(|member| !is_absent(member));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// Every member is declared.
    Declared,
    /// No keyword is violated.
    Valid,
    /// The type matches.
    TypeOnly,
}

impl Fit {
    const STRICT: [Fit; 2] = [Fit::Declared, Fit::Valid];
}

/// Values that the branches of a union accept as the same JSON text.
#[derive(Default)]
struct TextReadings {
    anything: bool,
    object: bool,
    listed: bool,
    /// The string itself.
    string: bool,
}

fn branches<'s, 'n>(schema: &'s Node<'n>) -> Option<&'s [Node<'n>]> {
    schema.array_at("anyOf")
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::may_need_plan;
    use crate::dialect::{
        grammar::{Inlining, Recursion},
        Method, DIALECTS,
    };

    #[test]
    fn dialects_that_encode_json_in_strings_accept_no_references() {
        let grammars = DIALECTS.iter().filter_map(|dialect| match dialect.method {
            Method::Rules(grammar) if may_need_plan(grammar) => Some((dialect.name, grammar)),
            _ => None,
        });
        let grammars: Vec<_> = grammars.collect();
        assert!(!grammars.is_empty());
        for (name, grammar) in grammars {
            let refs = grammar.refs;
            let sends = refs.anywhere
                || (refs.to_defs && (refs.inlining != Inlining::All || refs.recursion != Recursion::Refused));
            assert!(!sends, "{name} may send references, which `TextDecoder` does not follow");
        }
    }
}
