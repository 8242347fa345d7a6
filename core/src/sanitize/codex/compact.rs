//! Compacts schemas that are too large, step by step until they fit, as Codex does. If the last step does not suffice,
//! the result remains too large. Also removes unreachable definitions from the tables at the root.

use alloc::{format, string::String, vec::Vec};

use super::{ChangeKind, Diagnostics, Remainder, APPLICATORS};
use crate::{
    collections::Set,
    effect::{Accepts, Guidance},
    error::Error,
    json::{self, Data, Node, Object, Pointer, Step, Text},
    rules::Rule,
    schema::{
        definitions::{self, Definition, TABLES},
        keyword::{Keyword, Keywords},
        visit::{self, Polarity, SchemaPath, Visit, VisitorMut},
    },
};

/// Number of steps below the root from which structure is removed.
const MIN_DEPTH: usize = 3;

const COMBINATORS: [&str; 3] = ["anyOf", "oneOf", "allOf"];
const STRUCTURE: [&str; 7] = ["items", "anyOf", "oneOf", "allOf", "properties", "additionalProperties", "$ref"];

/// Keywords whose subschemas form a level. Definitions are not a level.
const LEVEL_KEYWORDS: Keywords = Keywords::of(&[
    Keyword::Properties,
    Keyword::Items,
    Keyword::AdditionalProperties,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::AllOf,
]);

pub(super) fn compact(root: &mut Node<'_>, max_bytes: usize, diagnostics: &mut Diagnostics<'_>) -> Result<(), Error> {
    let fits = |root: &Node<'_>| json::plain_length(root) <= max_bytes;
    if fits(root) {
        return Ok(());
    }
    visit::walk_mut(diagnostics.budget, root, APPLICATORS, &mut DescriptionRemover { diagnostics, max_bytes })?;
    if fits(root) {
        return Ok(());
    }
    let refers =
        |node: &Node<'_>, _: usize| node.text_at(Keyword::Ref).and_then(definitions::codex_definition).is_some();
    replace_with_empty(root, APPLICATORS, Rule::CompactReferences, &refers, max_bytes, diagnostics)?;
    drop_tables(root, max_bytes, diagnostics);
    if fits(root) {
        return Ok(());
    }
    let deep = |node: &Node<'_>, depth: usize| {
        depth >= MIN_DEPTH && STRUCTURE.iter().any(|keyword| node.get(keyword).is_some())
    };
    replace_with_empty(root, LEVEL_KEYWORDS, Rule::CompactDepth, &deep, max_bytes, diagnostics)?;
    if fits(root) {
        return Ok(());
    }
    let combined = |node: &Node<'_>, _: usize| COMBINATORS.iter().any(|keyword| node.get(keyword).is_some());
    replace_with_empty(root, APPLICATORS, Rule::CompactCombinators, &combined, max_bytes, diagnostics)
}

struct DescriptionRemover<'n, 'r> {
    diagnostics: &'n mut Diagnostics<'r>,
    max_bytes: usize,
}

impl<'a> VisitorMut<'a> for DescriptionRemover<'_, '_> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        if node.get(Keyword::Description).is_some() {
            let kind = ChangeKind {
                rule: Rule::CompactDescriptions,
                accepts: Accepts::Same,
                guidance: Guidance::Lost,
                remainder: Remainder::Nothing,
            };
            let max_bytes = self.max_bytes;
            self.diagnostics.report(node, path, Some("description"), kind, || {
                format!("removed `description` to fit into {max_bytes} bytes")
            });
            if let Some(object) = node.as_object_mut() {
                object.remove(Keyword::Description);
            }
        }
        Ok(Visit::Descend)
    }
}

/// Replaces the schemas for which `is_replaced` returns true. Its second argument is the depth.
fn replace_with_empty<'a>(
    root: &mut Node<'a>,
    keywords: Keywords,
    rule: Rule,
    is_replaced: &dyn Fn(&Node<'a>, usize) -> bool,
    max_bytes: usize,
    diagnostics: &mut Diagnostics<'_>,
) -> Result<(), Error> {
    // Two passes: earlier changes inside the schemas are retracted before the new ones are reported.
    if diagnostics.is_on() {
        let mut retracted = Set::new();
        visit::walk(diagnostics.budget, root, keywords, &mut |node, path| {
            if !is_replaced(node, path.depth) {
                return Ok(Visit::Descend);
            }
            retracted.insert(path.pointer.render());
            Ok(Visit::Skip)
        })?;
        diagnostics.retract(&retracted);
    }
    visit::walk_mut(
        diagnostics.budget,
        root,
        keywords,
        &mut EmptyReplacer { diagnostics, rule, is_replaced, max_bytes },
    )
}

struct EmptyReplacer<'e, 'r, 'a> {
    diagnostics: &'e mut Diagnostics<'r>,
    rule: Rule,
    is_replaced: &'e dyn Fn(&Node<'a>, usize) -> bool,
    max_bytes: usize,
}

impl<'a> VisitorMut<'a> for EmptyReplacer<'_, '_, 'a> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        if !(self.is_replaced)(node, path.depth) {
            return Ok(Visit::Descend);
        }
        let kind = ChangeKind {
            rule: self.rule,
            accepts: Accepts::Wider,
            guidance: Guidance::Lost,
            remainder: Remainder::Here,
        };
        let max_bytes = self.max_bytes;
        self.diagnostics
            .report(node, path, None, kind, || format!("replaced a schema with `{{}}` to fit into {max_bytes} bytes"));
        node.replace(Data::Object(Object::new()));
        Ok(Visit::Skip)
    }
}

fn drop_tables(root: &mut Node<'_>, max_bytes: usize, diagnostics: &mut Diagnostics<'_>) {
    let tables: Vec<&'static str> = TABLES.into_iter().filter(|table| root.get(table).is_some()).collect();
    for table in tables {
        if let Some(definitions) = root.get(table).filter(|_| diagnostics.is_on()) {
            let mut pointer = Pointer::root();
            pointer.push(Step::Name(table));
            diagnostics.retract(&Set::from([pointer.render()]));
            let kind = ChangeKind {
                rule: Rule::CompactReferences,
                accepts: Accepts::Same,
                guidance: Guidance::Lost,
                remainder: Remainder::Nothing,
            };
            diagnostics.report_at(definitions, &pointer, Polarity::Positive, None, kind, || -> String {
                format!("removed `{table}` to fit into {max_bytes} bytes")
            });
        }
        if let Some(object) = root.as_object_mut() {
            object.remove(table);
        }
    }
}

const PRUNED_DEFINITION: ChangeKind = ChangeKind {
    rule: Rule::PruneDefinition,
    accepts: Accepts::Same,
    guidance: Guidance::Same,
    remainder: Remainder::Nothing,
};

pub(super) fn prune(root: &mut Node<'_>, diagnostics: &mut Diagnostics<'_>) {
    if !TABLES.iter().any(|table| root.get(table).is_some()) {
        return;
    }
    let reached = definitions::reached_by_codex(root, diagnostics.budget);
    for (number, table) in TABLES.iter().enumerate() {
        let is_reached = |name: &Text<'_>| match name.value() {
            Some(value) => reached.contains(&Definition { table: number, name: value.into_owned() }),
            None => false,
        };
        let Some(definitions) = root.object_at(table) else { continue };
        let kept_count = definitions.iter().filter(|member| is_reached(&member.key)).count();
        if kept_count == definitions.len() && kept_count > 0 {
            continue;
        }
        record_pruned(root, table, kept_count, &is_reached, diagnostics);
        let Some(object) = root.as_object_mut() else { continue };
        if kept_count == 0 {
            object.remove(table);
        } else if let Some(definitions) = object.get_mut(table).and_then(Node::as_object_mut) {
            definitions.retain(|member| is_reached(&member.key));
        }
    }
}

fn record_pruned(
    root: &Node<'_>,
    table: &'static str,
    kept_count: usize,
    is_reached: &dyn Fn(&Text<'_>) -> bool,
    diagnostics: &mut Diagnostics<'_>,
) {
    let Some(definitions) = root.get(table).filter(|_| diagnostics.is_on()) else { return };
    let mut pointer = Pointer::root();
    pointer.push(Step::Name(table));
    if kept_count == 0 {
        diagnostics.retract(&Set::from([pointer.render()]));
        diagnostics.report_at(definitions, &pointer, Polarity::Positive, None, PRUNED_DEFINITION, || {
            format!("removed `{table}`: nothing refers to it")
        });
        return;
    }
    let pruned: Vec<_> =
        definitions.as_object().into_iter().flatten().filter(|member| !is_reached(&member.key)).collect();
    let retracted: Set<String> = pruned.iter().map(|member| pointer.render_with(&member.key.display())).collect();
    diagnostics.retract(&retracted);
    for member in pruned {
        pointer.push(Step::Member(member.key.borrowed()));
        diagnostics.report_at(&member.value, &pointer, Polarity::Positive, None, PRUNED_DEFINITION, || {
            format!("removed the definition `{}`: nothing refers to it", member.key.display())
        });
        pointer.pop();
    }
}
