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
        return format!("plain {draft:?} {}", canonical(root, budget));
    };
    // Sorting a list of schemas would change what the pointers into the list refer to.
    let mut out = format!("{} {draft:?} ", if targets.are_in_lists { "listed" } else { "sorted" });
    Normalizer { budget, draft, targets, has_unevaluated, has_annotations }.write_schema(root, true, &mut out);
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
        let pointers_of_targets = references.targets(root, budget);
        let outside: Set<Number> = references
            .targets_outside_subschemas(root, budget)
            .iter()
            .filter_map(|node| node.origin().number())
            .collect();
        let tables = root.as_object().into_iter().flatten().filter(|member| is_table(member));
        let definitions: Vec<(Number, &Node<'static>)> = tables
            .filter_map(|member| member.value.as_object())
            .flatten()
            .filter_map(|member| Some((member.value.origin().number()?, &member.value)))
            .collect();
        let (mut targets, mut pending, mut is_complete) = (Targets::default(), Vec::from([root]), true);
        while let Some(part) = pending.pop() {
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
                let target = target.and_then(|target| Some((target, pointers_of_targets.get(&target)?)));
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
                    _ => is_complete = false,
                }
                Ok(Visit::Descend)
            });
            if walked.is_err() || !is_complete {
                return None;
            }
            for target in reached {
                let after = definitions.partition_point(|(number, _)| *number <= target);
                if let Some((number, body)) = after.checked_sub(1).and_then(|at| definitions.get(at)) {
                    if targets.definitions.insert(*number) {
                        pending.push(body);
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

struct Normalizer<'b> {
    budget: &'b Budget,
    draft: Draft,
    targets: Targets,
    /// True if the schema has `unevaluatedProperties` or `unevaluatedItems`. A keyword that constrains nothing then
    /// still has an effect: its members or items are evaluated.
    has_unevaluated: bool,
    has_annotations: bool,
}

impl Normalizer<'_> {
    fn write_schema(&self, schema: &Node<'_>, is_root: bool, out: &mut String) {
        if !self.budget.pay(1) {
            return;
        }
        let Some(object) = schema.as_object() else { return out.push_str(&json::canonical(schema)) };
        let parts: Vec<(String, String)> =
            object.iter().filter_map(|member| self.normal_member(member, object, is_root)).collect();
        if parts.is_empty() {
            return out.push_str("true");
        }
        out.push('{');
        for (key, value) in collections::sorted_by(parts, Ord::cmp) {
            out.push_str(&key);
            out.push(':');
            out.push_str(&value);
            out.push(';');
        }
        out.push('}');
    }

    /// Returns a member in its normal form; `None` if it constrains nothing.
    fn normal_member(&self, member: &Member<'_>, schema: &Object<'_>, is_root: bool) -> Option<(String, String)> {
        let keyword = Keyword::named(&member.key)?;
        let applies_to_one_type = keyword.applies_to().is_some();
        let is_kept_annotation = keyword.role() == Role::Annotation && self.has_annotations;
        if matches!(keyword.role(), Role::Annotation | Role::Meta) && !applies_to_one_type && !is_kept_annotation {
            return None;
        }
        let value = &member.value;
        let name = String::from(keyword.name());
        let normal_value = match (keyword, keyword.subschemas(), value.data()) {
            (Keyword::Ref, _, Data::String(_)) => self.normal_reference(value),
            (Keyword::Const, ..) if self.draft.knows(Keyword::Const) && !schema.has(Keyword::Enum) => {
                return Some((Keyword::Enum.name().into(), format!("[{},]", self.canonical(value))));
            }
            (Keyword::Enum | Keyword::Required, _, Data::Array(items)) => {
                joined_list(sorted_set(items.iter().map(|item| self.canonical(item)).collect()))
            }
            (Keyword::Type, _, Data::Array(items)) => match items.as_slice() {
                [only] => self.canonical(only),
                items => joined_list(sorted_set(items.iter().map(|item| self.canonical(item)).collect())),
            },
            (Keyword::Defs | Keyword::Definitions, _, Data::Object(table)) if is_root => {
                let is_used = |member: &&Member<'_>| {
                    member.value.origin().number().is_some_and(|number| self.targets.definitions.contains(&number))
                };
                self.normal_table(keyword, table.iter().filter(is_used))
            }
            (_, Subschemas::Named | Subschemas::NamedOrNames, Data::Object(table)) => {
                self.normal_table(keyword, table.iter())
            }
            (_, Subschemas::Schemas | Subschemas::SchemaOrSchemas, Data::Array(items)) => {
                let parts = items.iter().map(|item| self.normal_subschema(item)).collect();
                joined_list(match keyword {
                    _ if self.targets.are_in_lists => parts,
                    Keyword::AllOf | Keyword::AnyOf => sorted_set(parts),
                    Keyword::OneOf => sorted(parts),
                    _ => parts,
                })
            }
            (_, Subschemas::Schema | Subschemas::SchemaOrSchemas | Subschemas::Schemas, _) => {
                self.normal_subschema(value)
            }
            _ => self.canonical(value),
        };
        let is_empty = match keyword {
            Keyword::Required
            | Keyword::Properties
            | Keyword::PatternProperties
            | Keyword::DependentRequired
            | Keyword::DependentSchemas
            | Keyword::Dependencies
            | Keyword::Defs
            | Keyword::Definitions => normal_value == "[]",
            Keyword::AdditionalProperties
            | Keyword::AdditionalItems
            | Keyword::PropertyNames
            | Keyword::UnevaluatedItems
            | Keyword::UnevaluatedProperties => normal_value == "true" && !self.has_unevaluated,
            Keyword::Items => normal_value == "true" && !schema.has(Keyword::AdditionalItems) && !self.has_unevaluated,
            Keyword::MinLength | Keyword::MinItems | Keyword::MinProperties => {
                value.as_number().is_some_and(|number| json::compare(number, "0").is_eq())
            }
            Keyword::UniqueItems | Keyword::Nullable => value.as_bool() == Some(false),
            _ => false,
        };
        (!is_empty).then_some((name, normal_value))
    }

    fn normal_table<'n>(&self, keyword: Keyword, members: impl Iterator<Item = &'n Member<'n>>) -> String {
        let member = |member: &Member<'_>| {
            let value = match member.value.as_array() {
                Some(names) if keyword.subschemas() == Subschemas::NamedOrNames => {
                    joined_list(sorted_set(names.iter().map(|name| self.canonical(name)).collect()))
                }
                _ => self.normal_subschema(&member.value),
            };
            format!("{}:{value}", quoted_key(member))
        };
        joined_list(sorted(members.map(member).collect()))
    }

    fn normal_subschema(&self, schema: &Node<'_>) -> String {
        let mut out = String::new();
        self.write_schema(schema, false, &mut out);
        out
    }

    /// Returns the pointer to the target of a reference, so that the names of anchors and resources do not matter.
    fn normal_reference(&self, reference: &Node<'_>) -> String {
        let pointer = reference.origin().number().and_then(|number| self.targets.pointers.get(&number));
        match pointer {
            Some(pointer) => format!("->{pointer:?}"),
            None => self.canonical(reference),
        }
    }

    fn canonical(&self, node: &Node<'_>) -> String {
        canonical(node, self.budget)
    }
}

fn canonical(node: &Node<'_>, budget: &Budget) -> String {
    let text = json::canonical(node);
    budget.pay(1 + text.len() / 16);
    text
}

fn quoted_key(member: &Member<'_>) -> String {
    json::canonical(&Node::string(member.key.borrowed()))
}

fn joined_list(parts: Vec<String>) -> String {
    let mut out = String::from("[");
    for part in parts {
        out.push_str(&part);
        out.push(',');
    }
    out.push(']');
    out
}

fn sorted(parts: Vec<String>) -> Vec<String> {
    collections::sorted_by(parts, Ord::cmp)
}

fn sorted_set(parts: Vec<String>) -> Vec<String> {
    let mut parts = sorted(parts);
    parts.dedup();
    parts
}
