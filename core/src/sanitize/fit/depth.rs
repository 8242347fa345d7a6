//! Limits the nesting of properties for providers that follow references when they measure it: references that lead too
//! deep are cut.

use alloc::{format, string::String, vec, vec::Vec};

use crate::{
    budget::Budget,
    collections::{Map, Set},
    error::Error,
    json::{Node, Step},
    rules::Rule,
    sanitize::{context::PassContext, diagnostics::ChangeKind, resolve::reference_cutter::ReferenceCutter},
    schema::{
        definitions::definition_name,
        graph,
        keyword::{Keyword, Keywords},
        visit::{self, SchemaPath, Visit},
    },
};

const CUT: ChangeKind = ChangeKind::of(Rule::FitCutReference);

/// Maximum number of steps of the search for the longest path, which could take exponential time.
const STEPS: usize = 10_000;

/// A reference: its depth in properties, the index of its target, and its pointer.
struct Reference {
    at: usize,
    to: usize,
    place: String,
}

/// A definition, or (at index 0) the schema without its definitions.
#[derive(Default)]
struct Part {
    deepest: usize,
    references: Vec<Reference>,
}

/// Cuts references until no path through them nests deeper than `limit`.
pub(crate) fn cut_deep(root: &mut Node<'_>, limit: usize, context: &mut PassContext) -> Result<(), Error> {
    let parts = parts(root, &context.budget)?;
    if parts.iter().map(|part| part.deepest).fold(0, usize::saturating_add) <= limit
        || longest(&parts).is_some_and(|longest| longest <= limit)
    {
        return Ok(());
    }
    let gone = too_deep(&parts, limit);
    let budget = context.budget.clone();
    let mut cutter = ReferenceCutter {
        context,
        goes: &|_, place| gone.contains(&place.pointer.render()),
        effect: CUT,
        describe: &|name| {
            format!(
                "removed the reference to `{name}`: properties may nest at most {limit} levels deep, including \
                    references"
            )
        },
    };
    visit::walk_mut(&budget, root, Keywords::ALL, &mut cutter)
}

fn parts(root: &Node<'_>, budget: &Budget) -> Result<Vec<Part>, Error> {
    let table = root.get(Keyword::Defs).and_then(crate::json::Node::as_object);
    let names: Map<String, usize> = table
        .into_iter()
        .flatten()
        .zip(1..)
        .filter_map(|(member, number)| Some((member.key.value()?.into_owned(), number)))
        .collect();
    let mut parts: Vec<Part> = (0..=names.len()).map(|_| Part::default()).collect();
    visit::walk(budget, root, Keywords::ALL, &mut |node, place| {
        let (number, depth) = part_of(place, &names);
        let Some(part) = parts.get_mut(number) else { return Ok(Visit::Skip) };
        part.deepest = part.deepest.max(depth);
        if let Some(to) = definition_name(node).and_then(|name| names.get(name)) {
            part.references.push(Reference { at: depth, to: *to, place: place.pointer.render() });
        }
        Ok(Visit::Descend)
    })?;
    Ok(parts)
}

/// Returns the index of the part that a schema belongs to, and the number of `properties` above it.
fn part_of(place: &SchemaPath<'_, '_>, names: &Map<String, usize>) -> (usize, usize) {
    let depth = place.pointer.steps().iter().filter(|step| **step == Step::Name("properties")).count();
    let number = match place.pointer.steps() {
        [Step::Name("$defs"), Step::Member(name), ..] => {
            name.value().and_then(|name| names.get(&*name).copied()).unwrap_or_default()
        }
        _ => 0,
    };
    (number, depth)
}

/// Returns the length of the longest path that visits no definition twice, except the first one; `None` if the search
/// takes too long.
fn longest(parts: &[Part]) -> Option<usize> {
    let mut steps = STEPS;
    let mut settled: Map<usize, usize> = Map::new();
    let mut limit = 0;
    for start in 0..parts.len() {
        let mut on_the_way: Set<usize> = Set::new();
        // State of the path: part, next reference, depth of the reference to this part, depth below it, and whether a
        // reference back to the path was skipped.
        let mut frames = vec![(start, 0_usize, 0_usize, parts.get(start)?.deepest, false)];
        while let Some((number, next, at, deepest, is_cut)) = frames.last_mut() {
            let reference = parts.get(*number)?.references.get(*next);
            *next += 1;
            if let Some(reference) = reference {
                if let Some(depth) = settled.get(&reference.to) {
                    *deepest = (*deepest).max(reference.at.saturating_add(*depth));
                } else if on_the_way.insert(reference.to) {
                    steps = steps.checked_sub(1)?;
                    frames.push((reference.to, 0, reference.at, parts.get(reference.to)?.deepest, false));
                } else {
                    *is_cut = true;
                }
                continue;
            }
            let (number, at, deepest, is_cut) = (*number, *at, *deepest, *is_cut);
            frames.pop();
            if !is_cut {
                settled.insert(number, deepest);
            }
            match frames.last_mut() {
                None => limit = limit.max(deepest),
                Some((_, _, _, above, cut_above)) => {
                    on_the_way.remove(&number);
                    *above = (*above).max(at.saturating_add(deepest));
                    *cut_above |= is_cut;
                }
            }
        }
    }
    Some(limit)
}

/// Returns the references to cut: those that lead too deep on some path from the root, and all that are part of a
/// recursion.
fn too_deep(parts: &[Part], limit: usize) -> Set<String> {
    let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    let edges: Map<u32, Set<u32>> = parts
        .iter()
        .enumerate()
        .map(|(index, part)| (number(index), part.references.iter().map(|reference| number(reference.to)).collect()))
        .collect();
    let recursive = graph::recursive(&edges);
    let is_recursive = |index: usize| recursive.contains(&number(index));
    let mut gone: Set<String> = Set::new();
    let mut waits: Vec<usize> = vec![0; parts.len()];
    let forward = |from: usize, reference: &Reference| !(is_recursive(from) && is_recursive(reference.to));
    for (from, part) in parts.iter().enumerate() {
        for reference in &part.references {
            if !forward(from, reference) {
                gone.insert(reference.place.clone());
            } else if let Some(count) = waits.get_mut(reference.to) {
                *count += 1;
            }
        }
    }
    // In topological order: each definition after all that refer to it.
    let mut tops: Vec<usize> = vec![0; parts.len()];
    let mut open: Vec<usize> = (0..parts.len()).filter(|index| waits.get(*index) == Some(&0)).collect();
    while let Some(from) = open.pop() {
        let (Some(part), Some(top)) = (parts.get(from), tops.get(from).copied()) else { continue };
        for reference in part.references.iter().filter(|reference| forward(from, reference)) {
            let at = top.saturating_add(reference.at);
            let below = parts.get(reference.to).map_or(0, |target| target.deepest);
            if at.saturating_add(below) > limit {
                gone.insert(reference.place.clone());
            } else if let Some(known) = tops.get_mut(reference.to) {
                *known = (*known).max(at);
            }
            if let Some(count) = waits.get_mut(reference.to) {
                *count -= 1;
                if *count == 0 {
                    open.push(reference.to);
                }
            }
        }
    }
    gone
}
