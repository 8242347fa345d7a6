//! Checks `type`, and the keywords whose values depend on it: `enum`, `pattern`, `format`, and the fields of a protobuf
//! message.
//!
//! Source: the JSON mapping of protocol buffers, in which a string may contain a number or a boolean.

use alloc::{format, string::String, vec::Vec};

use super::{quoted, seen, Extent, Report, Schema};
use crate::{
    collections::Set,
    dialect::{
        features::COUNTS,
        grammar::{Grammar, PatternRule, TypeLists},
    },
    json::{self, push_token, Data, Node, Text},
    rules::Constraint,
    schema::{
        instance_types::type_of_number,
        keyword::Keyword,
        regex,
        regex_engines::{self, Reading},
    },
};

/// Returns `None` if `type` is not a known name or a list of known names.
pub(super) fn known_names(value: &Node<'_>, types: &[&'static str], grammar: &Grammar) -> Option<Vec<&'static str>> {
    let known = |value: &Node<'_>| types.iter().copied().find(|name| is_name(value, name, grammar));
    match value.as_array() {
        Some([]) => None,
        Some(list) => list.iter().map(known).collect(),
        None => known(value).map(|name| [name].into()),
    }
}

pub(super) fn contains_type(value: &Node<'_>, name: &str, grammar: &Grammar) -> bool {
    is_name(value, name, grammar)
        || value.as_array().is_some_and(|names| names.iter().any(|known| is_name(known, name, grammar)))
}

pub(super) fn is_name(value: &Node<'_>, name: &str, grammar: &Grammar) -> bool {
    // The names are ASCII, so a string of a different length is a different name.
    let in_upper_case = |text: &Text<'_>| {
        let text = text.display();
        text.len() == name.len() && text.bytes().eq(name.bytes().map(|byte| byte.to_ascii_uppercase()))
    };
    let protocol_type_name = || match value.as_text() {
        Some(text) => in_upper_case(text),
        None => type_of_number(value) == Some(name),
    };
    value.is_text(name) || (grammar.protocol_types && protocol_type_name())
}

pub(super) fn check_type(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    let grammar = report.grammar;
    let is_walked = schema.is_walked;
    // Names in a list are checked against the names of JSON Schema, because `type_lists` determines which lists are
    // allowed.
    let types = if is_walked && value.as_array().is_none() { grammar.types } else { Grammar::OPEN.types };
    if grammar.any_of.no_type_beside && schema.present.contains(Keyword::AnyOf) {
        report.add(
            value,
            Constraint::TypeBesideAnyOf,
            schema.at("type"),
            "`type` in the branches of `anyOf`",
            "it next to `anyOf`",
        );
    }
    if grammar.refs.no_type_beside && schema.present.contains(Keyword::Ref) {
        report.add(
            value,
            Constraint::TypeBesideRef,
            schema.at("type"),
            "`type` in the definition",
            "it next to `$ref`",
        );
    }
    // Most types are a single known name, which needs no further checks.
    let is_plain_name = || value.as_text().and_then(Text::as_plain).is_some_and(|plain| types.contains(&plain));
    if is_plain_name() || types.iter().any(|name| is_name(value, name, grammar)) {
        return;
    }
    // Most lists are a type and null.
    if let Some([first, second]) = value.as_array() {
        let known_name = |value: &Node<'_>| types.iter().find(|name| is_name(value, name, grammar));
        if let (TypeLists::Any, None, Some(first), Some(second)) =
            (grammar.type_lists, grammar.beside_type_list, known_name(first), known_name(second))
        {
            if first != second {
                return;
            }
        }
    }
    match known_names(value, types, grammar) {
        None => {
            let accepted: Vec<String> = types.iter().map(|name| format!("`{name}`")).collect();
            let expected = format!("one of {}, or a list of them", accepted.join(", "));
            let found = match value.as_array() {
                Some([]) => "an empty list".into(),
                Some(_) => "a list with other values".into(),
                None => seen(value),
            };
            report.add(value, Constraint::UnknownType, schema.at("type"), &expected, &found);
        }
        Some(names) if is_walked && value.as_array().is_some() && !is_accepted_list(&names, grammar.type_lists) => {
            let expected = match grammar.type_lists {
                TypeLists::Scalars => "a list of scalar types and `null` only",
                _ => "one type, not a list",
            };
            report.add(value, Constraint::TypeList, schema.at("type"), expected, &format!("`{}`", names.join("`, `")));
        }
        Some(names) if grammar.metaschema && !are_distinct_names(&names) => {
            let (expected, found) = ("a list of unique types", format!("`{}`", names.join("`, `")));
            report.add(value, Constraint::KeywordValue, schema.at("type"), expected, &found);
        }
        Some(names) if names.len() > 1 => check_siblings_of_list(schema, &names, report),
        Some(_) => {}
    }
}

/// Returns true if no name occurs twice. The search is short, because a list of more than seven known names contains
/// duplicates.
fn are_distinct_names(names: &[&str]) -> bool {
    names.iter().enumerate().all(|(at, name)| at < 7 && !names.iter().take(at).any(|before| before == name))
}

fn is_accepted_list(names: &[&str], rule: TypeLists) -> bool {
    match rule {
        TypeLists::Any => true,
        TypeLists::Scalars => !names.iter().any(|name| matches!(*name, "object" | "array")),
        TypeLists::None => false,
    }
}

fn check_siblings_of_list(schema: &Schema<'_, '_>, names: &[&str], report: &mut Report<'_>) {
    let Some(rule) = report.grammar.beside_type_list else { return };
    // Another check covers a nullable enum, next to which all keywords are allowed.
    if names.len() == 2 && schema.get(Keyword::Enum).is_some_and(|values| !values.is_null()) {
        return;
    }
    for member in schema.object {
        let keyword = Keyword::named(&member.key);
        let allowed = keyword.is_some_and(|keyword| {
            keyword == Keyword::Type
                || rule.anywhere.contains(keyword)
                || (schema.is_root() && rule.at_root.contains(keyword))
        });
        if !allowed {
            let name = member.key.display();
            let (expected, found) = ("only annotations next to a list of several types", format!("`{name}`"));
            report.add(&member.value, Constraint::BesideTypeList, schema.at(&name), expected, &found);
        }
    }
}

pub(super) fn check_enum(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    let rule = report.grammar.enums;
    schema.not_below_braces(Keyword::Enum, value, report);
    let Some(values) = value.as_array() else {
        report.add(value, Constraint::EnumNotList, schema.at("enum"), "a list of values", value.kind());
        return;
    };
    // The root must accept some arguments.
    if values.is_empty() && (!rule.empty || schema.is_root()) {
        report.add(value, Constraint::EnumEmpty, schema.at("enum"), "at least one value", "none");
    }
    if rule.distinct && !are_distinct(values) {
        let (expected, found) = ("unique values under `enum`", "a duplicate");
        report.add(value, Constraint::KeywordValue, schema.at("enum"), expected, found);
    }
    if values.len() > rule.max_values {
        let (expected, found) = (format!("at most {} values", rule.max_values), format!("{}", values.len()));
        report.add(value, Constraint::EnumTooLong, schema.at("enum"), &expected, &found);
    }
    for (index, item) in values.iter().enumerate() {
        let at = || schema.at("enum") + &format!("/{index}");
        if !rule.kinds.iter().any(|name| has_type(item, name)) {
            let expected = format!("values of type `{}` only", rule.kinds.join("` or `"));
            report.add(item, Constraint::EnumKind, at(), &expected, &seen(item));
        } else if !rule.empty_string && item.as_text().is_some_and(|text| text.is_empty()) {
            report.add(item, Constraint::EnumKind, at(), "no empty string among the values", "one");
        } else if let Some(refused) =
            rule.without.filter(|refused| item.as_text().is_some_and(|text| text.display().contains(*refused)))
        {
            report.add(item, Constraint::EnumKind, at(), &format!("values without `{refused}`"), &seen(item));
        }
    }
    let Some(declared_type) = schema.get(Keyword::Type) else {
        if rule.needs_type {
            report.add(value, Constraint::EnumWithoutType, schema.at("enum"), "a `type` next to `enum`", "none");
        }
        return;
    };
    // Another check reports an unknown type.
    let Some(names) = known_names(declared_type, report.grammar.types, report.grammar) else { return };
    if rule.nullable_scalar_only && names.len() > 1 && !is_nullable_scalar(&names) {
        let (expected, found) =
            ("one type, or `null` and one scalar type, next to `enum`", format!("`{}`", names.join("`, `")));
        report.add(declared_type, Constraint::EnumTypeList, schema.at("type"), expected, &found);
        return;
    }
    if rule.agrees && !values.is_empty() && !values.iter().any(|item| names.iter().any(|name| has_type(item, name))) {
        let expected = format!("`enum` with a value of type `{}`", names.join("` or `"));
        report.add(value, Constraint::EnumContradicts, schema.at("enum"), &expected, "none");
    }
    if !rule.needs_type {
        return;
    }
    for (index, item) in values.iter().enumerate() {
        if !names.iter().any(|name| has_type(item, name)) {
            let (expected, found) = (format!("a value of type `{}`", names.join("` or `")), seen(item));
            report.add(item, Constraint::EnumValue, schema.at("enum") + &format!("/{index}"), &expected, &found);
        }
    }
    let is_numeric_first = names.first().is_some_and(|name| matches!(*name, "number" | "integer"));
    if rule.null_first && is_numeric_first && names.len() > 1 && values.iter().any(Node::is_null) {
        let (expected, found) =
            ("`null` first in the list of types, because `enum` contains null", format!("`{}`", names.join("`, `")));
        report.add(declared_type, Constraint::EnumNullFirst, schema.at("type"), expected, &found);
    }
}

fn are_distinct(values: &[Node<'_>]) -> bool {
    let mut seen: Set<String> = Set::new();
    values.iter().all(|value| seen.insert(json::canonical(value)))
}

fn is_nullable_scalar(names: &[&str]) -> bool {
    let is_scalar = |name: &str| matches!(name, "string" | "integer" | "number" | "boolean");
    match names {
        [first, second] => (*first == "null" && is_scalar(second)) || (*second == "null" && is_scalar(first)),
        _ => false,
    }
}

fn has_type(value: &Node<'_>, name: &str) -> bool {
    match value.data() {
        Data::Null => name == "null",
        Data::Bool(_) => name == "boolean",
        // The API reads the number as a 64-bit float, so that 1.00000000000000000001 is an integer.
        Data::Number(text) => {
            name == "number" || (name == "integer" && text.parse::<f64>().is_ok_and(|number| number % 1.0 == 0.0))
        }
        Data::String(_) => name == "string",
        Data::Array(_) => name == "array",
        Data::Object(_) => name == "object",
        Data::Verbatim(_) => false,
    }
}

pub(super) fn check_pattern(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    let is_read = report.grammar.patterns.reads(Keyword::Pattern, schema.object);
    let Some(text) = value.as_text().filter(|_| is_read) else { return };
    if let Some((rule, why)) = pattern_fault(text, report.grammar.patterns) {
        report.add(value, rule, schema.at("pattern"), why, &quoted(text));
    }
    // A pattern that is merely not enforced needs no rewriting, so it is not reported if only the first violation is
    // wanted.
    if report.grammar.patterns == PatternRule::Gbnf && report.extent != Extent::First {
        if let Reading::NotEnforced(why) = regex_engines::gbnf_reading(&text.display()) {
            let found = format!("{}: {why}", quoted(text));
            let expected = "a pattern that this API enforces";
            report.add(value, Constraint::PatternNotEnforced, schema.at("pattern"), expected, &found);
        }
    }
}

pub(super) fn check_pattern_properties(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    if !report.grammar.patterns.reads(Keyword::PatternProperties, schema.object) {
        return;
    }
    for member in value.as_object().into_iter().flatten() {
        if let Some((rule, why)) = pattern_fault(&member.key, report.grammar.patterns) {
            let mut pointer = schema.at("patternProperties");
            push_token(&mut pointer, &member.key.display());
            report.add(&member.value, rule, pointer, why, &quoted(&member.key));
        }
    }
}

fn pattern_fault(pattern: &Text<'_>, rule: PatternRule) -> Option<(Constraint, &'static str)> {
    let text = pattern.display();
    if rule == PatternRule::Gbnf {
        return match regex_engines::gbnf_reading(&text) {
            Reading::Refused(_) => {
                Some((Constraint::Pattern, "a regular expression that llama.cpp's converter supports"))
            }
            Reading::Enforced | Reading::NotEnforced(_) => None,
        };
    }
    let uses = regex::uses(&text);
    let does_not_compile = |expected| Some((Constraint::Pattern, expected));
    match rule {
        PatternRule::Unicode if uses.not_unicode.is_some() => {
            does_not_compile("a regular expression that JavaScript compiles with the flag `u`")
        }
        PatternRule::Unicode => None,
        _ if uses.not_python.is_some() => does_not_compile("a regular expression that Python's `re` compiles"),
        PatternRule::Any | PatternRule::Python => None,
        // For a pattern with characters beyond ASCII, the API uses another engine, which does not support lookaround.
        PatternRule::Whole if uses.not_regular.is_some() && !uses.beyond_lookaround && text.is_ascii() => {
            Some((Constraint::PatternAnchors, "a regular expression without lookaround, which this API ignores"))
        }
        _ if uses.not_regular.is_some() => {
            does_not_compile("a regular expression without lookaround, backreferences and word boundaries")
        }
        PatternRule::Whole if !regex_engines::is_whole(&text) => Some((
            Constraint::PatternAnchors,
            "a regular expression that begins with `^` and ends with `$`, because this API matches the whole string",
        )),
        PatternRule::Unanchored if regex_engines::is_anchored(&text) => {
            Some((Constraint::PatternAnchors, "a regular expression without `^` and `$`"))
        }
        PatternRule::Regular | PatternRule::Gbnf | PatternRule::Whole | PatternRule::Unanchored => None,
    }
}

pub(super) fn check_format(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    let (Some(accepted_formats), Some(text)) = (report.grammar.formats, value.as_text()) else { return };
    let has_type =
        |name: &str| schema.get(Keyword::Type).is_some_and(|value| contains_type(value, name, report.grammar));
    // Without a type, `format` applies to strings.
    let is_untyped = schema.get(Keyword::Type).is_none();
    let is_accepted = accepted_formats.iter().any(|(kind, formats)| {
        (has_type(kind) || (is_untyped && *kind == "string"))
            && (formats.is_empty() || formats.iter().any(|name| text.is(name)))
    });
    if !is_accepted {
        let expected = format!(
            "a `format` that this API knows for {}",
            schema.get(Keyword::Type).map_or_else(|| "`string`".into(), seen)
        );
        report.add(value, Constraint::Format, schema.at("format"), &expected, &quoted(text));
    }
}

pub(super) fn check_field(schema: &Schema<'_, '_>, keyword: Keyword, value: &Node<'_>, report: &mut Report<'_>) {
    let expected_unless = |is_valid: bool, expected| if is_valid || value.is_null() { None } else { Some(expected) };
    let expected = match keyword {
        Keyword::Nullable => expected_unless(is_boolean(value), "a boolean"),
        Keyword::Minimum | Keyword::Maximum => expected_unless(is_number(value, |_| true), "a number"),
        _ if COUNTS.contains(keyword) => expected_unless(is_number(value, json::is_integral), "an integer"),
        _ => expected_unless(value.as_text().is_some(), "a string"),
    };
    if let Some(expected) = expected {
        let expected = format!("{expected} under `{}`", keyword.name());
        report.add(value, Constraint::KeywordValue, schema.at(keyword.name()), &expected, &seen(value));
    }
}

fn is_boolean(value: &Node<'_>) -> bool {
    value.as_bool().is_some() || value.is_text("true") || value.is_text("false")
}

fn is_number(value: &Node<'_>, is_accepted: fn(&str) -> bool) -> bool {
    let text = value.as_text().and_then(|text| text.value());
    match (value.as_number(), text.as_deref().map(json::read)) {
        (Some(number), _) => is_accepted(number),
        (None, Some(Ok(read))) => read.as_number().is_some_and(is_accepted),
        _ => false,
    }
}
