//! The normal form of a schema: schemas with the same normal form accept the same values.

use alloc::{format, string::String, vec::Vec};

use super::super::{
    definitions::TABLES,
    keyword::{Draft, Keyword, Keywords, Role, Subschemas},
    references::{self, Number},
    validate::Prepared,
    visit::{self, Visit},
};
use crate::{
    budget::Budget,
    collections::{self, Map, Set},
    json::{self, Data, Member, Node, Object},
};

/// Returns the normal form of a schema, with or without annotations. It is incomplete if the budget is spent.
pub(super) fn normal(prepared: &Prepared, has_annotations: bool, budget: &Budget) -> String {
    let root = prepared.schema();
    let draft = Draft::of(root);
    let unevaluated = Keywords::of(&[Keyword::UnevaluatedItems, Keyword::UnevaluatedProperties]);
    let has_unevaluated = references::mentions(root, unevaluated);
    let Some(targets) = Targets::of(prepared, budget) else {
        return format!("plain {draft:?} {}", value(root, budget));
    };
    // A pointer into a list names another schema if the list is sorted.
    let mut out = format!("{} {draft:?} ", if targets.are_in_lists { "listed" } else { "sorted" });
    Form { budget, draft, targets, has_unevaluated, has_annotations }.schema(root, true, &mut out);
    out
}

/// Targets of the references that are used.
#[derive(Default)]
struct Targets {
    /// Pointer to the target, by the number of the value of `$ref`.
    pointers: Map<Number, String>,
    /// Numbers of used definitions at the root.
    definitions: Set<Number>,
    /// True if a target is inside `allOf`, `anyOf` or `oneOf`.
    are_in_lists: bool,
}

impl Targets {
    /// Returns `None` if a target is unknown, depends on the dynamic scope, or is not at the position of a subschema.
    /// Such a target may be a member that the normal form changes or leaves out.
    fn of(prepared: &Prepared, budget: &Budget) -> Option<Targets> {
        let Some(references) = prepared.references() else { return Some(Targets::default()) };
        let root = prepared.schema();
        if references::mentions(root, Keywords::of(&[Keyword::DynamicRef, Keyword::RecursiveRef])) {
            return None;
        }
        let known = references.targets(root, budget);
        let outside: Set<Number> =
            references.outside(root, budget).iter().filter_map(|node| node.origin().number()).collect();
        let tables = root.as_object().into_iter().flatten().filter(|member| is_table(member));
        let definitions: Vec<(Number, &Node<'static>)> = tables
            .filter_map(|member| member.value.as_object())
            .flatten()
            .filter_map(|member| Some((member.value.origin().number()?, &member.value)))
            .collect();
        let (mut targets, mut open, mut is_whole) = (Targets::default(), Vec::from([root]), true);
        while let Some(part) = open.pop() {
            let mut reached = Vec::new();
            let walked = visit::walk(budget, part, Keywords::ALL, &mut |node, path| {
                let is_definition = path.depth == 1
                    && core::ptr::eq(part, root)
                    && matches!(path.keyword, Some(Keyword::Defs | Keyword::Definitions));
                if is_definition {
                    return Ok(Visit::Skip);
                }
                let Some(reference) = node.get(Keyword::Ref).filter(|value| value.as_text().is_some()) else {
                    return Ok(Visit::Descend);
                };
                let target = references.target(reference).filter(|target| !outside.contains(target));
                let target = target.and_then(|target| Some((target, known.get(&target)?)));
                match (reference.origin().number(), target) {
                    (Some(number), Some((target, (_, pointer)))) => {
                        budget.pay(pointer.len() / 8);
                        let mut tokens = pointer.split('/');
                        targets.are_in_lists |= tokens.any(|token| matches!(token, "allOf" | "anyOf" | "oneOf"));
                        targets.pointers.insert(number, pointer.clone());
                        if TABLES.iter().any(|table| pointer.split('/').nth(1) == Some(*table)) {
                            reached.push(target);
                        }
                    }
                    _ => is_whole = false,
                }
                Ok(Visit::Descend)
            });
            if walked.is_err() || !is_whole {
                return None;
            }
            for target in reached {
                let after = definitions.partition_point(|(number, _)| *number <= target);
                if let Some((number, body)) = after.checked_sub(1).and_then(|at| definitions.get(at)) {
                    if targets.definitions.insert(*number) {
                        open.push(body);
                    }
                }
            }
        }
        Some(targets)
    }
}

fn is_table(member: &Member<'_>) -> bool {
    TABLES.iter().any(|table| member.key.is(*table))
}

struct Form<'b> {
    budget: &'b Budget,
    draft: Draft,
    targets: Targets,
    /// Then, even keywords without a constraint mark members as evaluated.
    has_unevaluated: bool,
    has_annotations: bool,
}

impl Form<'_> {
    fn schema(&self, schema: &Node<'_>, is_root: bool, out: &mut String) {
        if !self.budget.pay(1) {
            return;
        }
        let Some(object) = schema.as_object() else { return out.push_str(&json::canonical(schema)) };
        let parts: Vec<(String, String)> =
            object.iter().filter_map(|member| self.member(member, object, is_root)).collect();
        if parts.is_empty() {
            return out.push_str("true");
        }
        out.push('{');
        for (key, value) in collections::by(parts, Ord::cmp) {
            out.push_str(&key);
            out.push(':');
            out.push_str(&value);
            out.push(';');
        }
        out.push('}');
    }

    /// Returns a member in its normal form; `None` if it constrains nothing.
    fn member(&self, member: &Member<'_>, schema: &Object<'_>, is_root: bool) -> Option<(String, String)> {
        let keyword = Keyword::named(&member.key)?;
        let is_of_type = keyword.applies_to().is_some();
        let is_text = keyword.role() == Role::Annotation && self.has_annotations;
        if matches!(keyword.role(), Role::Annotation | Role::Meta) && !is_of_type && !is_text {
            return None;
        }
        let value = &member.value;
        let name = String::from(keyword.name());
        let written = match (keyword, keyword.subschemas(), value.data()) {
            (Keyword::Ref, _, Data::String(_)) => self.target(value),
            (Keyword::Const, ..) if self.draft.knows(Keyword::Const) && !schema.has(Keyword::Enum) => {
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
                let is_used = |member: &&Member<'_>| {
                    member.value.origin().number().is_some_and(|number| self.targets.definitions.contains(&number))
                };
                self.table(keyword, table.iter().filter(is_used))
            }
            (_, Subschemas::Named | Subschemas::NamedOrNames, Data::Object(table)) => self.table(keyword, table.iter()),
            (_, Subschemas::Schemas | Subschemas::SchemaOrSchemas, Data::Array(items)) => {
                let parts = items.iter().map(|item| self.below(item)).collect();
                list(match keyword {
                    _ if self.targets.are_in_lists => parts,
                    Keyword::AllOf | Keyword::AnyOf => sorted(parts, true),
                    Keyword::OneOf => sorted(parts, false),
                    _ => parts,
                })
            }
            (_, Subschemas::Schema | Subschemas::SchemaOrSchemas | Subschemas::Schemas, _) => self.below(value),
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
                _ => self.below(&member.value),
            };
            format!("{}:{value}", quoted(member))
        };
        list(sorted(members.map(member).collect(), false))
    }

    fn below(&self, schema: &Node<'_>) -> String {
        let mut out = String::new();
        self.schema(schema, false, &mut out);
        out
    }

    /// Returns the pointer to the target of a reference, so that the names of anchors and resources do not matter.
    fn target(&self, reference: &Node<'_>) -> String {
        let pointer = reference.origin().number().and_then(|number| self.targets.pointers.get(&number));
        match pointer {
            Some(pointer) => format!("->{pointer:?}"),
            None => self.value(reference),
        }
    }

    fn value(&self, node: &Node<'_>) -> String {
        value(node, self.budget)
    }
}

fn value(node: &Node<'_>, budget: &Budget) -> String {
    let text = json::canonical(node);
    budget.pay(1 + text.len() / 16);
    text
}

fn quoted(member: &Member<'_>) -> String {
    json::canonical(&Node::string(member.key.borrowed()))
}

fn list(parts: Vec<String>) -> String {
    let mut out = String::from("[");
    for part in parts {
        out.push_str(&part);
        out.push(',');
    }
    out.push(']');
    out
}

fn sorted(parts: Vec<String>, is_set: bool) -> Vec<String> {
    let mut parts = collections::by(parts, Ord::cmp);
    if is_set {
        parts.dedup();
    }
    parts
}
