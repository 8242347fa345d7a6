//! The normal form of a schema: schemas with the same normal form accept the same values.

use alloc::{format, string::String, vec::Vec};

use super::super::{
    definitions::{self, TABLES},
    keyword::{Draft, Keyword, Keywords, Role, Subschemas},
    references,
};
use crate::{
    budget::Budget,
    collections::{self, Set},
    json::{self, Data, Member, Node, Object},
};

/// Returns the normal form of a schema, with or without annotations. It is incomplete if the budget is spent.
pub(super) fn normal(root: &Node<'_>, has_annotations: bool, budget: &Budget) -> String {
    let reached = definitions::reached(root, budget).unwrap_or_default();
    let has_references = references::mentions_references(root);
    let unevaluated = Keywords::of(&[Keyword::UnevaluatedItems, Keyword::UnevaluatedProperties]);
    let has_unevaluated = references::mentions(root, unevaluated);
    let mut text = format!("{:?} ", Draft::of(root));
    Normalizer { budget, reached, has_references, has_unevaluated, has_annotations }.schema(root, true, &mut text);
    text
}

struct Normalizer<'b> {
    budget: &'b Budget,
    /// References to definitions that are used.
    reached: Set<String>,
    has_references: bool,
    /// True if the schema has `unevaluated*`: then even keywords without a constraint mark members as evaluated.
    has_unevaluated: bool,
    has_annotations: bool,
}

impl Normalizer<'_> {
    fn schema(&self, schema: &Node<'_>, is_root: bool, text: &mut String) {
        if !self.budget.pay(1) {
            return;
        }
        let Some(object) = schema.as_object() else { return text.push_str(&json::canonical(schema)) };
        let parts: Vec<(String, String)> =
            object.iter().filter_map(|member| self.member(member, object, is_root)).collect();
        if parts.is_empty() {
            return text.push_str("true");
        }
        text.push('{');
        for (key, value) in collections::by(parts, Ord::cmp) {
            text.push_str(&key);
            text.push(':');
            text.push_str(&value);
            text.push(';');
        }
        text.push('}');
    }

    /// Returns a member in its normal form; `None` if it constrains nothing.
    fn member(&self, member: &Member<'_>, schema: &Object<'_>, is_root: bool) -> Option<(String, String)> {
        let Some(keyword) = Keyword::named(&member.key) else {
            // A reference may point into a member that is no keyword.
            return self.has_references.then(|| (quoted(member), self.value(&member.value)));
        };
        let is_of_type = keyword.applies_to().is_some();
        let is_text = keyword.role() == Role::Annotation && self.has_annotations;
        if matches!(keyword.role(), Role::Annotation | Role::Meta) && !is_of_type && !is_text {
            return None;
        }
        let value = &member.value;
        let name = String::from(keyword.name());
        let written = match (keyword, keyword.subschemas(), value.data()) {
            (Keyword::Const, ..) if !schema.has(Keyword::Enum) => {
                return Some((Keyword::Enum.name().into(), format!("[{},]", self.value(value))));
            }
            (Keyword::Enum | Keyword::Required, _, Data::Array(items)) => {
                list(sorted(items.iter().map(|item| self.value(item)).collect(), true))
            }
            (Keyword::Type, _, Data::Array(items)) => match items.as_slice() {
                [only] => self.value(only),
                items => list(sorted(items.iter().map(|item| self.value(item)).collect(), true)),
            },
            (Keyword::Defs | Keyword::Definitions, _, Data::Object(table)) if is_root => {
                let table_name = TABLES.into_iter().find(|known| *known == keyword.name())?;
                let is_used = |member: &&Member<'_>| {
                    let reference = definitions::reference_to(table_name, member);
                    reference.is_some_and(|reference| self.reached.contains(&reference))
                };
                self.table(keyword, table.iter().filter(is_used))
            }
            (_, Subschemas::Named | Subschemas::NamedOrNames, Data::Object(table)) => self.table(keyword, table.iter()),
            (_, Subschemas::Schemas | Subschemas::SchemaOrSchemas, Data::Array(items)) => {
                let parts = items.iter().map(|item| self.normal_form(item)).collect();
                list(match keyword {
                    Keyword::AllOf | Keyword::AnyOf => sorted(parts, true),
                    Keyword::OneOf => sorted(parts, false),
                    _ => parts,
                })
            }
            (_, Subschemas::Schema | Subschemas::SchemaOrSchemas | Subschemas::Schemas, _) => self.normal_form(value),
            _ => self.value(value),
        };
        let is_empty = match keyword {
            Keyword::Required
            | Keyword::Properties
            | Keyword::PatternProperties
            | Keyword::DependentRequired
            | Keyword::DependentSchemas
            | Keyword::Dependencies
            | Keyword::Defs
            | Keyword::Definitions => written == "[]",
            Keyword::AdditionalProperties
            | Keyword::AdditionalItems
            | Keyword::PropertyNames
            | Keyword::UnevaluatedItems
            | Keyword::UnevaluatedProperties => written == "true" && !self.has_unevaluated,
            Keyword::Items => written == "true" && !schema.has(Keyword::AdditionalItems) && !self.has_unevaluated,
            Keyword::MinLength | Keyword::MinItems | Keyword::MinProperties => {
                value.as_number().is_some_and(|number| json::compare(number, "0").is_eq())
            }
            Keyword::UniqueItems | Keyword::Nullable => value.as_bool() == Some(false),
            _ => false,
        };
        (!is_empty).then_some((name, written))
    }

    fn table<'n>(&self, keyword: Keyword, members: impl Iterator<Item = &'n Member<'n>>) -> String {
        let member = |member: &Member<'_>| {
            let value = match member.value.as_array() {
                Some(names) if keyword.subschemas() == Subschemas::NamedOrNames => {
                    list(sorted(names.iter().map(|name| self.value(name)).collect(), true))
                }
                _ => self.normal_form(&member.value),
            };
            format!("{}:{value}", quoted(member))
        };
        list(sorted(members.map(member).collect(), false))
    }

    fn normal_form(&self, schema: &Node<'_>) -> String {
        let mut text = String::new();
        self.schema(schema, false, &mut text);
        text
    }

    fn value(&self, value: &Node<'_>) -> String {
        let text = json::canonical(value);
        self.budget.pay(1 + text.len() / 16);
        text
    }
}

fn quoted(member: &Member<'_>) -> String {
    json::canonical(&Node::string(member.key.borrowed()))
}

fn list(parts: Vec<String>) -> String {
    let mut text = String::from("[");
    for part in parts {
        text.push_str(&part);
        text.push(',');
    }
    text.push(']');
    text
}

fn sorted(parts: Vec<String>, is_set: bool) -> Vec<String> {
    let mut parts = collections::by(parts, Ord::cmp);
    if is_set {
        parts.dedup();
    }
    parts
}
