//! Recursion where the grammar has none, or has it only through properties that need not be there: it is written out a
//! few levels deep, and ends in a schema that says no more than the type.
//!
//! Works on settled references: whatever is recursive stands under the root's `$defs`.

use alloc::{format, string::String, vec::Vec};

use crate::{
    budget::Budget,
    collections::{Map, Set},
    dialect::grammar::{AnyEncoding, Recursion},
    error::Error,
    json::{Data, Node, Object, Step, Text},
    limits::MAX_DEPTH,
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{merge_conflicts::intersected, ChangeKind, Location},
    },
    schema::{
        definitions::definition_name,
        graph,
        keyword::{Keyword, Keywords},
        visit::{self, SchemaPath, Visit, VisitorMut},
    },
};

const UNROLL: ChangeKind = ChangeKind::of(Rule::UnrollRecursion);
const INLINE: ChangeKind = ChangeKind::of(Rule::InlineRef);

/// How often one definition stands in itself; more would only repeat what the reader has seen.
const LEVELS: usize = 3;

/// How many definitions stand in one another where they refer to each other.
const MOST_LEVELS: usize = 6;

/// Values that writing recursion out may add where fewer levels would do: a model reads every copy.
const MOST_ADDED: usize = 1_000;

/// Writes recursion out, if the grammar refuses it.
pub(in crate::sanitize) fn unroll<'a>(root: &mut Node<'a>, context: &mut PassContext) -> Result<(), Error> {
    let recursion = context.grammar.refs.recursion;
    if matches!(recursion, Recursion::Free | Recursion::MustEnd) {
        return Ok(());
    }
    let Some(table) = root.get(Keyword::Defs).and_then(Node::as_object) else { return Ok(()) };
    let budget = context.budget.clone();
    let bodies = table.iter().filter_map(|member| Some((member.key.value()?.into_owned(), member.value.copy(&budget))));
    let bodies: Map<String, Node<'a>> = bodies.collect();
    let recursive = recursive(&bodies, &budget);
    if recursive.is_empty() {
        return Ok(());
    }
    let bodies: Map<String, Node<'a>> = bodies.into_iter().filter(|(name, _)| recursive.contains(name)).collect();
    let levels = levels(root, &bodies, context.max_nodes, &budget);
    let mut unroll = Unroll {
        bodies: &bodies,
        levels,
        above: Vec::new(),
        only_forced: recursion == Recursion::OnlyOptional,
        context,
    };
    visit::walk_mut(&budget, root, Keywords::ALL, &mut unroll)?;
    if recursion == Recursion::Refused {
        if let Some(object) = root.as_object_mut() {
            if let Some(table) = object.get_mut(Keyword::Defs).and_then(Node::as_object_mut) {
                table.retain(|member| member.key.value().is_some_and(|name| !recursive.contains(&*name)));
            }
            if object.get(Keyword::Defs).and_then(Node::as_object).is_some_and(Object::is_empty) {
                object.remove(Keyword::Defs);
            }
        }
    }
    Ok(())
}

/// The names of the definitions that can reach themselves.
fn recursive(bodies: &Map<String, Node<'_>>, budget: &Budget) -> Set<String> {
    let names: Vec<&String> = bodies.keys().collect();
    let numbers: Map<&str, u32> = (0..).zip(&names).map(|(number, name)| (name.as_str(), number)).collect();
    let edges = bodies.iter().filter_map(|(name, body)| {
        let to =
            measure(body, budget).references.iter().filter_map(|(_, to)| numbers.get(to.as_str()).copied()).collect();
        Some((*numbers.get(name.as_str())?, to))
    });
    let recursive = graph::recursive(&edges.collect());
    recursive.into_iter().filter_map(|number| names.get(number as usize).map(|name| (*name).clone())).collect()
}

/// What a schema is made of.
#[derive(Default)]
struct Measure {
    nodes: usize,
    depth: usize,
    /// The definitions it refers to, with the depth at which each reference stands.
    references: Vec<(usize, String)>,
}

fn measure(schema: &Node<'_>, budget: &Budget) -> Measure {
    let (mut found, mut open) = (Measure::default(), Vec::from([(schema, 0)]));
    while let Some((node, depth)) = open.pop().filter(|_| budget.pay(1)) {
        found.nodes += 1;
        found.depth = found.depth.max(depth);
        match node.data() {
            Data::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Data::Object(object) => {
                // A property of that name counts too; it makes the estimate no smaller.
                found.references.extend(definition_name(node).map(|name| (depth, String::from(name))));
                open.extend(object.iter().map(|member| (&member.value, depth + 1)));
            }
            _ => {}
        }
    }
    found
}

/// How many levels can be written out within the budgets; none where even one is too much.
fn levels(root: &Node<'_>, bodies: &Map<String, Node<'_>>, max_nodes: usize, budget: &Budget) -> usize {
    let measures: Map<&str, Measure> =
        bodies.iter().map(|(name, body)| (name.as_str(), measure(body, budget))).collect();
    let whole = measure(root, budget);
    // By name, the nodes and the depth of a definition with so many levels in it: what ends it is a reference's own
    // size.
    let mut sizes: Map<&str, (usize, usize)> = measures.keys().map(|name| (*name, (4, 2))).collect();
    let mut best = 0;
    for level in 1..=(LEVELS.saturating_mul(bodies.len())).min(MOST_LEVELS) {
        let larger = measures.iter().map(|(name, measure)| (*name, written(measure, &sizes)));
        sizes = larger.collect();
        let (nodes, depth) = written(&whole, &sizes);
        let most = if level > 1 { MOST_ADDED.min(max_nodes) } else { max_nodes };
        if nodes.saturating_sub(whole.nodes) > most || depth >= MAX_DEPTH {
            break;
        }
        best = level;
    }
    best
}

fn written(measure: &Measure, sizes: &Map<&str, (usize, usize)>) -> (usize, usize) {
    let (mut nodes, mut depth) = (measure.nodes, measure.depth);
    for (at, name) in &measure.references {
        if let Some((inner, below)) = sizes.get(name.as_str()) {
            nodes = nodes.saturating_add(*inner);
            depth = depth.max(at.saturating_add(*below));
        }
    }
    (nodes, depth)
}

/// What is known of a schema that the walk is in.
#[derive(Clone)]
struct Frame<'a> {
    /// How many definitions were written out on the way.
    level: usize,
    /// The way began in a recursive definition, which is still there.
    in_definition: bool,
    /// A property on the way is not required.
    optional: bool,
    /// What this schema requires.
    required: Vec<Text<'a>>,
}

struct Unroll<'u, 'a> {
    bodies: &'u Map<String, Node<'a>>,
    levels: usize,
    above: Vec<Frame<'a>>,
    /// Only recursion through what must be there is written out.
    only_forced: bool,
    context: &'u mut PassContext,
}

impl<'a> VisitorMut<'a> for Unroll<'_, 'a> {
    fn enter(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let mut frame = self.frame(place);
        let stays = self.only_forced && (!frame.in_definition || frame.optional);
        // A definition of a table that goes is written out where it is used.
        let goes = !self.only_forced && self.is_definition(place);
        // A definition may be nothing but a reference to the next one.
        while let Some((name, body)) =
            definition_name(node).filter(|_| !stays && !goes).and_then(|name| self.bodies.get_key_value(name))
        {
            self.write_out(node, place, name, body, frame.level >= self.levels);
            frame.level += 1;
            if frame.level > self.levels {
                break;
            }
        }
        frame.required = node
            .get(Keyword::Required)
            .and_then(Node::as_array)
            .into_iter()
            .flatten()
            .filter_map(|name| name.as_text().cloned())
            .collect();
        self.above.push(frame);
        Ok(if goes { Visit::Skip } else { Visit::Descend })
    }

    fn leave(&mut self, _node: &mut Node<'a>, _place: &SchemaPath<'_, 'a>) -> Result<(), Error> {
        self.above.pop();
        Ok(())
    }
}

impl<'a> Unroll<'_, 'a> {
    fn is_definition(&self, place: &SchemaPath<'_, 'a>) -> bool {
        let [Step::Name("$defs"), Step::Member(name)] = place.pointer.steps() else { return false };
        name.value().is_some_and(|name| self.bodies.contains_key(&*name))
    }

    fn frame(&self, place: &SchemaPath<'_, 'a>) -> Frame<'a> {
        let Some(above) = self.above.last() else {
            return Frame { level: 0, in_definition: false, optional: false, required: Vec::new() };
        };
        if place.keyword == Some(Keyword::Defs) {
            return Frame { level: 0, in_definition: self.is_definition(place), optional: false, required: Vec::new() };
        }
        let is_optional = match (place.keyword, place.pointer.steps().last()) {
            (Some(Keyword::Properties), Some(Step::Member(name))) => !above.required.contains(name),
            _ => false,
        };
        Frame { optional: above.optional || is_optional, required: Vec::new(), ..*above }
    }

    /// Puts a definition where it is referred to, or its end.
    fn write_out(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, name: &str, body: &Node<'a>, ends: bool) {
        let at = node.as_object().and_then(|object| object.position(Keyword::Ref)).unwrap_or_default();
        let from = Location::under(node, "$ref");
        if let Some(object) = node.as_object_mut() {
            object.remove(Keyword::Ref);
        }
        let (origin, met) = (node.origin(), Location::of(node));
        let target = if ends {
            let levels = self.levels;
            self.context.diagnostics.report(place.polarity, Location::of(body), met.clone(), UNROLL, || match levels {
                0 => format!("removed the content of `{name}`: it refers to itself, and is too large to be expanded"),
                _ => format!("expanded the recursion of `{name}`, {levels} levels deep"),
            });
            end(body, self.context)
        } else {
            self.context
                .diagnostics
                .report(place.polarity, from, Location::of(body), INLINE, || format!("inlined `{name}`"));
            let mut copy = body.copy(&self.context.budget);
            // What a document says of itself is no part of a copy inside it.
            if copy.get(Keyword::Schema).is_some() {
                copy.as_object_mut().and_then(|object| object.remove(Keyword::Schema));
            }
            copy
        };
        let rest = core::mem::take(node);
        if rest.as_object().is_some_and(Object::is_empty) {
            *node = if ends { target.with_origin(origin) } else { target };
        } else {
            *node = intersected((rest, target), at, place.polarity, Some(&met), self.context);
        }
        node.touch();
    }
}

/// What is said where nothing more of a definition is written: what it is for, and its type.
pub(in crate::sanitize) fn end<'a>(body: &Node<'a>, context: &PassContext) -> Node<'a> {
    // JSON text says all of it, whatever the type.
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
