//! Strings that hold JSON, read again: where the tool's own schema wants something that the dialect could only ask for as text.

use alloc::borrow::Cow;

use crate::{
    dialect::grammar::{Anything, Grammar},
    json::{self, Data, Member, Node, Object},
    schema::keyword::{Keyword, Kind},
};

/// What a type says of a value.
type Test = fn(&Data<'_>) -> bool;

/// The types that a schema may name.
const TYPES: [(&str, Test); 7] = [
    ("null", |data| matches!(data, Data::Null)),
    ("boolean", |data| matches!(data, Data::Bool(_))),
    ("string", |data| matches!(data, Data::String(_))),
    ("array", |data| matches!(data, Data::Array(_))),
    ("object", |data| matches!(data, Data::Object(_))),
    ("number", |data| matches!(data, Data::Number(_))),
    ("integer", |data| matches!(data, Data::Number(text) if json::is_integral(text))),
];

/// Schemas that are joined with others: by themselves they say nothing of the type.
const JOINS: [&str; 4] = ["allOf", "anyOf", "oneOf", "$ref"];

/// Does this grammar have values written as text?
pub(super) fn applies(grammar: &Grammar) -> bool {
    grammar.anything == Anything::JsonText || grammar.enums.integers_as_text
}

/// Reads a string as JSON, if these schemas, which all apply to it, want what it holds rather than a string; where there are none,
/// anything is wanted. `true` if it was read.
///
/// `whole` is the one schema that all the others are parts of, if there is one: what its type excludes is not wanted.
pub(super) fn read(value: &mut Node<'_>, schemas: &[&Node<'_>], whole: Option<&Node<'_>>, grammar: &Grammar) -> bool {
    let Some(text) = value.as_text().and_then(|text| text.value()) else { return false };
    let Ok(held) = json::read(&text) else { return false };
    let is_container = held.as_object().is_some() || held.as_array().is_some();
    let silent = schemas.is_empty()
        || schemas
            .iter()
            .filter(|schema| !JOINS.iter().any(|keyword| schema.get(keyword).is_some()))
            .any(|schema| !says_types(schema, grammar));
    let wants = |data: &Data<'_>| schemas.iter().any(|schema| admits(schema, data, grammar));
    let takes_texts = wants(value.data());
    // A string that a schema wants as a string is one, unless nothing but JSON looks like that.
    let is_excluded = whole.is_some_and(|schema| schema.get("type").is_some() && !admits(schema, held.data(), grammar));
    let reads = !is_excluded && (silent || wants(held.data())) && (is_container || !takes_texts);
    if reads {
        value.replace(owned(&held));
    }
    reads
}

/// Does a schema say that the value is an array?
pub(super) fn is_array(schema: &Node<'_>, grammar: &Grammar) -> bool {
    admits(schema, &Data::Array(alloc::vec::Vec::new()), grammar)
}

/// The same value, borrowing nothing.
fn owned(node: &Node<'_>) -> Data<'static> {
    match node.data() {
        Data::Null | Data::Verbatim(_) => Data::Null,
        Data::Bool(flag) => Data::Bool(*flag),
        Data::Number(text) => Data::Number(Cow::Owned(text.clone().into_owned())),
        Data::String(text) => Data::String(text.clone().into_owned()),
        Data::Array(items) => Data::Array(items.iter().map(|item| Node::new(owned(item))).collect()),
        Data::Object(object) => {
            let members =
                object.iter().map(|member| Member { key: member.key.clone().into_owned(), value: Node::new(owned(&member.value)) });
            Data::Object(Object::from_members(members.collect()))
        }
    }
}

fn says_types(schema: &Node<'_>, grammar: &Grammar) -> bool {
    ["type", "enum", "const"].iter().any(|keyword| schema.get(keyword).is_some()) || hints(schema, grammar).next().is_some()
}

/// The kinds of values that the keywords of a schema without a type speak of: it was given their types.
/// What is refused was gone by then, and most formats are.
fn hints<'s>(schema: &'s Node<'_>, grammar: &'s Grammar) -> impl Iterator<Item = Kind> + 's {
    let stays = |keyword: Keyword| !grammar.refuses.has(keyword) && keyword != Keyword::Format;
    let named = schema.as_object().into_iter().flatten().filter_map(|member| Some((Keyword::named(&member.key)?, &member.value)));
    // A list of items is what `prefixItems` says.
    let keywords = named.map(|(keyword, value)| match keyword {
        Keyword::Items if value.as_array().is_some() => Keyword::PrefixItems,
        _ => keyword,
    });
    keywords.filter(move |keyword| stays(*keyword)).filter_map(Keyword::constrains)
}

fn kind_of(data: &Data<'_>) -> Option<Kind> {
    match data {
        Data::String(_) => Some(Kind::String),
        Data::Number(_) => Some(Kind::Number),
        Data::Array(_) => Some(Kind::Array),
        Data::Object(_) => Some(Kind::Object),
        _ => None,
    }
}

/// Does a schema name the type of such a value, or list one of it?
fn admits(schema: &Node<'_>, data: &Data<'_>, grammar: &Grammar) -> bool {
    let is_of = |name: &Node<'_>| TYPES.iter().any(|(known, test)| name.is_text(known) && test(data));
    let same_kind = |value: &Node<'_>| TYPES.iter().any(|(_, test)| test(value.data()) && test(data));
    match schema.get("type") {
        Some(types) => types.as_array().map_or_else(|| is_of(types), |names| names.iter().any(is_of)),
        None => {
            schema.get("const").is_some_and(same_kind)
                || schema.get("enum").and_then(Node::as_array).is_some_and(|values| values.iter().any(same_kind))
                || hints(schema, grammar).any(|kind| Some(kind) == kind_of(data))
        }
    }
}
