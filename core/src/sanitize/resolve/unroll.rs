//! Expands recursion a few levels deep if the grammar refuses it, or accepts it only through optional properties. The
//! last level has only type, title and description.
//!
//! Expects resolved references: every recursive schema is under `$defs` of the root.

use alloc::{format, string::String, vec::Vec};

use crate::{
    budget::Budget,
    collections::{Map, Set},
    dialect::grammar::{AnyEncoding, Recursion},
    error::Error,
    json::{Data, Member, Node, Object, Step, Text},
    limits::MAX_DEPTH,
    rules::{Constraint, Rule},
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        legalize::all_of::intersected,
    },
    schema::{
        definitions::definition_name,
        graph,
        keyword::{Keyword, Keywords},
        visit::{self, SchemaPath, Visit, VisitorMut},
    },
};

const UNROLL: ChangeKind = ChangeKind::of(Rule::UnrollRecursion);
const INLINE: ChangeKind = ChangeKind::of(Rule::InlineRef).caused_by(Constraint::Recursion);

/// Number of times that a definition is nested in itself. More levels would only repeat what the model has read.
const LEVELS: usize = 3;

/// Maximum nesting of definitions that refer to each other.
const MAX_LEVELS: usize = 6;

/// Maximum number of values that levels after the first may add, because the model reads every copy.
const MAX_ADDED: usize = 1_000;

pub(crate) fn unroll<'a>(root: &mut Node<'a>, context: &mut PassContext) -> Result<(), Error> {
    let recursion = context.grammar.refs.recursion;
    if matches!(recursion, Recursion::Free | Recursion::MustEnd) {
        return Ok(());
    }
    let Some(table) = root.object_at(Keyword::Defs) else { return Ok(()) };
    let budget = context.budget.clone();
    let bodies = table.iter().filter_map(|member| Some((member.key.value()?.into_owned(), &member.value)));
    let bodies: Map<String, &Node<'a>> = bodies.collect();
    let mut expanded = recursive(&bodies, &budget);
    if expanded.is_empty() {
        return Ok(());
    }
    // Definitions between two recursive definitions were kept, too. If the grammar refuses references, no definition
    // can stay.
    if recursion == Recursion::Refused && !context.grammar.refs.to_defs {
        expanded = bodies.keys().cloned().collect();
    }
    let bodies = bodies.into_iter().filter(|(name, _)| expanded.contains(name));
    let bodies: Map<String, Node<'a>> = bodies.map(|(name, body)| (name, body.copy(&budget))).collect();
    let levels = levels(root, &bodies, context.max_nodes, &budget);
    let mut unroll = Unroll {
        bodies: &bodies,
        levels,
        enclosing: Vec::new(),
        only_required: recursion == Recursion::OnlyOptional,
        context,
    };
    visit::walk_mut(&budget, root, Keywords::ALL, &mut unroll)?;
    // Definitions that are kept may no longer be recursive.
    context.effects.unrolled_more |= recursion != Recursion::Refused;
    if recursion == Recursion::Refused {
        if let Some(object) = root.as_object_mut() {
            if let Some(table) = object.get_mut(Keyword::Defs).and_then(Node::as_object_mut) {
                table.retain(|member| member.key.value().is_some_and(|name| !expanded.contains(&*name)));
            }
            if object.object_at(Keyword::Defs).is_some_and(Object::is_empty) {
                object.remove(Keyword::Defs);
            }
        }
    }
    Ok(())
}

fn recursive(bodies: &Map<String, &Node<'_>>, budget: &Budget) -> Set<String> {
    let names: Vec<&String> = bodies.keys().collect();
    let numbers: Map<&str, u32> = (0..).zip(&names).map(|(number, name)| (name.as_str(), number)).collect();
    let edges = bodies.iter().filter_map(|(name, body)| {
        let to = references(body, budget).into_iter().filter_map(|to| numbers.get(to).copied()).collect();
        Some((*numbers.get(name.as_str())?, to))
    });
    let recursive = graph::recursive_nodes(&edges.collect());
    recursive.into_iter().filter_map(|number| names.get(number as usize).map(|name| (*name).clone())).collect()
}

fn references<'n>(schema: &'n Node<'_>, budget: &Budget) -> Vec<&'n str> {
    let (mut names, mut pending) = (Vec::new(), Vec::from([schema]));
    while let Some(node) = pending.pop() {
        match node.data() {
            Data::Array(items) if budget.pay(1 + items.len()) => pending.extend(items),
            Data::Object(object) if budget.pay(1 + object.len()) => {
                names.extend(definition_name(node));
                for Member { value, .. } in object {
                    if value.is_container() {
                        pending.push(value);
                    }
                }
            }
            _ => {}
        }
    }
    names
}

#[derive(Default)]
struct Measure {
    nodes: usize,
    depth: usize,
    /// Definitions to which the schema refers, with the depth of each reference.
    references: Vec<(usize, String)>,
}

fn measure(schema: &Node<'_>, budget: &Budget) -> Measure {
    let (mut measured, mut pending) = (Measure::default(), Vec::from([(schema, 0)]));
    while let Some((node, depth)) = pending.pop().filter(|_| budget.pay(1)) {
        measured.nodes += 1;
        measured.depth = measured.depth.max(depth);
        match node.data() {
            Data::Array(items) => pending.extend(items.iter().map(|item| (item, depth + 1))),
            Data::Object(object) => {
                // The count includes a property named `$ref`, which makes the estimate larger, never smaller.
                measured.references.extend(definition_name(node).map(|name| (depth, String::from(name))));
                pending.extend(object.iter().map(|member| (&member.value, depth + 1)));
            }
            _ => {}
        }
    }
    measured
}

/// Returns 0 if even one level exceeds the limits.
fn levels(root: &Node<'_>, bodies: &Map<String, Node<'_>>, max_nodes: usize, budget: &Budget) -> usize {
    let measures: Map<&str, Measure> =
        bodies.iter().map(|(name, body)| (name.as_str(), measure(body, budget))).collect();
    let root_size = measure(root, budget);
    // For each definition, nodes and depth if expanded this many levels; the last level has the size of a reference.
    let mut sizes: Map<&str, (usize, usize)> = measures.keys().map(|name| (*name, (4, 2))).collect();
    let mut affordable = 0;
    for level in 1..=(LEVELS.saturating_mul(bodies.len())).min(MAX_LEVELS) {
        let larger = measures.iter().map(|(name, measure)| (*name, expanded_size(measure, &sizes)));
        sizes = larger.collect();
        let (nodes, depth) = expanded_size(&root_size, &sizes);
        let limit = if level > 1 { MAX_ADDED.min(max_nodes) } else { max_nodes };
        if nodes.saturating_sub(root_size.nodes) > limit || depth >= MAX_DEPTH {
            break;
        }
        affordable = level;
    }
    affordable
}

fn expanded_size(measure: &Measure, sizes: &Map<&str, (usize, usize)>) -> (usize, usize) {
    let (mut nodes, mut depth) = (measure.nodes, measure.depth);
    for (at, name) in &measure.references {
        if let Some((nodes_of_target, depth_below)) = sizes.get(name.as_str()) {
            nodes = nodes.saturating_add(*nodes_of_target);
            depth = depth.max(at.saturating_add(*depth_below));
        }
    }
    (nodes, depth)
}

#[derive(Clone)]
struct Frame<'a> {
    /// Number of definitions that were expanded on the path.
    level: usize,
    /// True if the path is inside a recursive definition that is kept.
    in_definition: bool,
    /// True if a property on the path is optional.
    optional: bool,
    required: Vec<Text<'a>>,
}

struct Unroll<'u, 'a> {
    bodies: &'u Map<String, Node<'a>>,
    levels: usize,
    enclosing: Vec<Frame<'a>>,
    /// True if only recursion through required properties is expanded.
    only_required: bool,
    context: &'u mut PassContext,
}

impl<'a> VisitorMut<'a> for Unroll<'_, 'a> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let mut frame = self.frame(path);
        let is_kept = self.only_required && (!frame.in_definition || frame.optional);
        // A definition that will be removed is expanded only where it is used.
        let is_removed = !self.only_required && self.is_definition(path);
        // A definition may be just a reference to the next one.
        while let Some((name, body)) =
            definition_name(node).filter(|_| !is_kept && !is_removed).and_then(|name| self.bodies.get_key_value(name))
        {
            self.expand_reference(node, path, name, body, frame.level >= self.levels);
            frame.level += 1;
            if frame.level > self.levels {
                break;
            }
        }
        frame.required = node.items_at(Keyword::Required).iter().filter_map(|name| name.as_text().cloned()).collect();
        self.enclosing.push(frame);
        Ok(if is_removed { Visit::Skip } else { Visit::Descend })
    }

    fn leave(&mut self, _node: &mut Node<'a>, _place: &SchemaPath<'_, 'a>) -> Result<(), Error> {
        self.enclosing.pop();
        Ok(())
    }
}

impl<'a> Unroll<'_, 'a> {
    fn is_definition(&self, path: &SchemaPath<'_, 'a>) -> bool {
        let [Step::Name("$defs"), Step::Member(name)] = path.pointer.steps() else { return false };
        name.value().is_some_and(|name| self.bodies.contains_key(&*name))
    }

    fn frame(&self, path: &SchemaPath<'_, 'a>) -> Frame<'a> {
        let Some(enclosing) = self.enclosing.last() else {
            return Frame { level: 0, in_definition: false, optional: false, required: Vec::new() };
        };
        if path.keyword == Some(Keyword::Defs) {
            return Frame { level: 0, in_definition: self.is_definition(path), optional: false, required: Vec::new() };
        }
        let is_optional = match (path.keyword, path.pointer.steps().last()) {
            (Some(Keyword::Properties), Some(Step::Member(name))) => !enclosing.required.contains(name),
            _ => false,
        };
        Frame { optional: enclosing.optional || is_optional, required: Vec::new(), ..*enclosing }
    }

    fn expand_reference(
        &mut self,
        node: &mut Node<'a>,
        path: &SchemaPath<'_, 'a>,
        name: &str,
        body: &Node<'a>,
        is_last_level: bool,
    ) {
        let at = node.as_object().and_then(|object| object.position(Keyword::Ref)).unwrap_or_default();
        let from = Location::under(node, "$ref");
        if let Some(object) = node.as_object_mut() {
            object.remove(Keyword::Ref);
        }
        let (origin, schema_location) = (node.origin(), Location::of(node));
        let target = if is_last_level {
            let levels = self.levels;
            self.context.diagnostics.report(path, Location::of(body).to(schema_location.clone()), UNROLL, || {
                match levels {
                    0 => {
                        format!("removed the content of `{name}`: it refers to itself, and is too large to be expanded")
                    }
                    _ => format!("expanded the recursion of `{name}`, {levels} levels deep"),
                }
            });
            last_level(body, self.context)
        } else {
            self.context.diagnostics.report(path, from.to(Location::of(body)), INLINE, || format!("inlined `{name}`"));
            self.context.diagnostics.record_location(body, false);
            let mut copy = body.copy(&self.context.budget);
            // `$schema` belongs to a document, not to a copy inside it.
            if copy.get(Keyword::Schema).is_some() {
                copy.as_object_mut().and_then(|object| object.remove(Keyword::Schema));
            }
            copy
        };
        let siblings = core::mem::take(node);
        if siblings.as_object().is_some_and(Object::is_empty) {
            *node = if is_last_level { target.with_origin(origin) } else { target };
        } else {
            self.context.effects.unrolled_more = true;
            *node = intersected((siblings, target), at, path.polarity, Some(&schema_location), self.context);
        }
        node.touch();
    }
}

pub(crate) fn last_level<'a>(body: &Node<'a>, context: &PassContext) -> Node<'a> {
    // A string that holds JSON can be any type, so the type is not kept.
    let keeps_type = context.grammar.anything != AnyEncoding::JsonText;
    let is_kept = |key: &Text<'_>| {
        key.is(Keyword::Title) || key.is(Keyword::Description) || (keeps_type && key.is(Keyword::Type))
    };
    let members = body
        .as_object()
        .into_iter()
        .flatten()
        .filter(|member| is_kept(&member.key))
        .map(|member| member.copy(&context.budget))
        .collect();
    Node::object(Object::from_unique(members))
}
