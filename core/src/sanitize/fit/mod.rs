//! Size limits: removes the cheapest parts first, until the schema fits.
//!
//! Also limits the nesting of properties for providers that follow references when they measure the nesting: references
//! that are too deep are cut.

pub(crate) mod strict;

use alloc::{format, string::String, vec, vec::Vec};

use super::{
    anything,
    context::PassContext,
    description,
    diagnostics::{ChangeKind, Location},
    resolve::break_cycles::ReferenceCutter,
};
use crate::{
    budget::Budget,
    collections::{Map, Set},
    error::{Code, Error},
    json::{self, Data, Member, Node, Object, Step, Text},
    options::Hints,
    report::{Accepts, Guidance},
    rules::Rule,
    schema::{
        definitions::definition_name,
        graph,
        keyword::{Keyword, Keywords, Role},
        visit::{self, Polarity, SchemaPath, Visit, VisitorMut},
    },
};

const DROP: ChangeKind = ChangeKind::of(Rule::FitDropKeyword);
const CONSTRAINT: ChangeKind = ChangeKind::of(Rule::FitDropConstraint);
const CUT: ChangeKind = ChangeKind::of(Rule::FitCutSchema);
const SHORTEN: ChangeKind = ChangeKind::of(Rule::FitShortenDescription);

/// Maximum lengths of descriptions, in characters, tried in this order.
const SHORTER: [usize; 3] = [1024, 256, 64];

struct Limits {
    bytes: usize,
    depth: usize,
    properties: usize,
}

impl Limits {
    fn is_none(&self) -> bool {
        [self.bytes, self.depth, self.properties].iter().all(|limit| *limit == usize::MAX)
    }
}

pub(crate) fn fit(root: &mut Node<'_>, context: &mut PassContext) -> Result<(), Error> {
    let dialect = context.dialect;
    let limit = |name: &str| dialect.limit(name).unwrap_or(usize::MAX);
    let bytes = context.max_bytes.unwrap_or(usize::MAX);
    within(root, &Limits { bytes, depth: limit("propertyDepth"), properties: limit("properties") }, context)
}

fn to_bytes(root: &mut Node<'_>, bytes: usize, context: &mut PassContext) -> Result<(), Error> {
    within(root, &Limits { bytes, depth: usize::MAX, properties: usize::MAX }, context)
}

fn within(root: &mut Node<'_>, limits: &Limits, context: &mut PassContext) -> Result<(), Error> {
    if context.grammar.refs.to_defs && limits.depth != usize::MAX && root.get(Keyword::Defs).is_some() {
        cut_deep(root, limits.depth, context)?;
    }
    if limits.is_none() {
        return Ok(());
    }
    // This test suffices for most schemas: a character is treated as at most six bytes, a property takes at least five,
    // and properties nest at most as deep as schemas.
    let is_small = |length: usize| {
        length.saturating_mul(6) <= limits.bytes
            && length / 5 <= limits.properties
            && context.survey.deepest <= limits.depth
    };
    if is_small(json::plain_length_at_most(root)) {
        return Ok(());
    }
    let length = json::plain_length(root);
    if is_small(length) {
        return Ok(());
    }
    let growth = Growth::of(context.grammar.escaped_chars);
    let mut measured =
        Measured { bytes: length + growth.value(root), shape: NestingSize::of(root, limits, &context.budget)? };
    if measured.excess(limits).is_none() {
        return Ok(());
    }
    if measured.is_too_long(limits) {
        drop_keywords(root, context)?;
        measured = Measured::of(root, limits, &growth, &context.budget)?;
    }
    if measured.is_too_long(limits) {
        drop_constraints(root, context)?;
        measured = Measured::of(root, limits, &growth, &context.budget)?;
    }
    let mut level = deepest(root, &context.budget)?;
    let budget = context.budget.clone();
    while let Some(excess) = measured.excess(limits).filter(|_| level > 0) {
        let mut cut = LevelCut { context, level, for_bytes: excess.of == "bytes", growth: &growth, saved: 0, added: 0 };
        visit::walk_mut(&budget, root, Keywords::ALL, &mut cut)?;
        // The removed and added bytes were counted on the way, so the length need not be measured again at each level.
        measured = Measured {
            bytes: (measured.bytes + cut.added).saturating_sub(cut.saved),
            shape: NestingSize::of(root, limits, &context.budget)?,
        };
        level -= 1;
    }
    for length in SHORTER {
        if measured.excess(limits).is_some() {
            visit::walk_mut(&context.budget.clone(), root, Keywords::ALL, &mut Shorten { context, length })?;
            measured = Measured::of(root, limits, &growth, &context.budget)?;
        }
    }
    match measured.excess(limits) {
        None => Ok(()),
        Some(Excess { of, limit, found }) => Err(Error::new(
            Code::LimitExceeded,
            "",
            format!("expected at most {limit} {of} after removing everything that can be removed, found {found}"),
        )),
    }
}

struct Excess {
    of: &'static str,
    limit: usize,
    found: usize,
}

struct Measured {
    bytes: usize,
    shape: NestingSize,
}

#[derive(Default)]
struct NestingSize {
    depth: usize,
    properties: usize,
}

impl Measured {
    fn of(root: &Node<'_>, limits: &Limits, growth: &Growth<'_>, budget: &Budget) -> Result<Self, Error> {
        Ok(Measured { bytes: growth.length(root), shape: NestingSize::of(root, limits, budget)? })
    }

    fn excess(&self, limits: &Limits) -> Option<Excess> {
        [
            ("levels of properties", limits.depth, self.shape.depth),
            ("properties", limits.properties, self.shape.properties),
            ("bytes", limits.bytes, self.bytes),
        ]
        .into_iter()
        .find(|(_, limit, found)| found > limit)
        .map(|(of, limit, found)| Excess { of, limit, found })
    }

    fn is_too_long(&self, limits: &Limits) -> bool {
        self.excess(limits).is_some_and(|excess| excess.of == "bytes")
    }
}

impl NestingSize {
    fn of(root: &Node<'_>, limits: &Limits, budget: &Budget) -> Result<Self, Error> {
        let mut shape = NestingSize::default();
        if limits.depth == usize::MAX && limits.properties == usize::MAX {
            return Ok(shape);
        }
        visit::walk(budget, root, Keywords::ALL, &mut |node, path| {
            shape.properties += node.object_at(Keyword::Properties).map_or(0, Object::len);
            if path.depth > shape.depth {
                let steps = path.pointer.steps().iter();
                shape.depth =
                    shape.depth.max(steps.filter(|step| matches!(step, json::Step::Name("properties"))).count());
            }
            Ok(Visit::Descend)
        })?;
        Ok(shape)
    }
}

/// Finds characters that the API measures as six bytes, the length of a Unicode escape, and counts the bytes to add.
struct Growth<'c> {
    characters: &'c [char],
    /// First bytes of these characters; most strings contain none of them.
    begins: Vec<u8>,
}

impl<'c> Growth<'c> {
    fn of(characters: &'c [char]) -> Self {
        let mut begins: Vec<u8> =
            characters.iter().filter_map(|character| character.encode_utf8(&mut [0; 4]).bytes().next()).collect();
        begins.dedup();
        Growth { characters, begins }
    }

    fn length(&self, node: &Node<'_>) -> usize {
        json::plain_length(node) + self.value(node)
    }

    fn value(&self, node: &Node<'_>) -> usize {
        if self.characters.is_empty() {
            return 0;
        }
        match node.data() {
            Data::String(text) => self.text(text),
            Data::Array(items) => items.iter().map(|item| self.value(item)).sum(),
            Data::Object(object) => {
                object.iter().map(|member| self.text(&member.key) + self.value(&member.value)).sum()
            }
            _ => 0,
        }
    }

    fn text(&self, text: &Text<'_>) -> usize {
        let Some(plain) = text.as_plain() else {
            let counted =
                text.code_points().filter_map(char::from_u32).filter(|character| self.characters.contains(character));
            return counted.map(|character| 6 - character.len_utf8()).sum();
        };
        // Without an early exit, the compiler can vectorize this loop.
        let is_used = |begin: &u8| plain.bytes().fold(false, |found, byte| found | (byte == *begin));
        if !self.begins.iter().any(is_used) {
            return 0;
        }
        let counted = plain.chars().filter(|character| self.characters.contains(character));
        counted.map(|character| 6 - character.len_utf8()).sum()
    }
}

fn deepest(root: &Node<'_>, budget: &Budget) -> Result<usize, Error> {
    let mut deepest = 0;
    visit::walk(budget, root, Keywords::ALL, &mut |_, path| {
        deepest = deepest.max(path.depth);
        Ok(Visit::Descend)
    })?;
    Ok(deepest)
}

fn drop_keywords<'a>(root: &mut Node<'a>, context: &mut PassContext) -> Result<(), Error> {
    visit::walk_mut(&context.budget.clone(), root, Keywords::ALL, &mut DropKeywords { context })
}

struct DropKeywords<'r> {
    context: &'r mut PassContext,
}

impl<'a> VisitorMut<'a> for DropKeywords<'_> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let goes = |member: &Member<'_>| match Keyword::named(&member.key) {
            None => true,
            Some(keyword) => {
                matches!(keyword, Keyword::Default | Keyword::Examples | Keyword::Comment | Keyword::Schema)
            }
        };
        let Some(object) = node.as_object().filter(|object| object.iter().any(goes)) else { return Ok(Visit::Descend) };
        for member in self.context.budget.each(object).filter(|member| goes(member)) {
            let name = member.key.display().into_owned();
            self.context.diagnostics.report(path, Location::of(&member.value).removed(), DROP, || {
                format!("removed `{name}` to fit the size limit")
            });
        }
        if let Some(object) = node.as_object_mut() {
            object.retain(|member| !goes(member));
        }
        Ok(Visit::Descend)
    }
}

fn drop_constraints<'a>(root: &mut Node<'a>, context: &mut PassContext) -> Result<(), Error> {
    visit::walk_mut(&context.budget.clone(), root, Keywords::ALL, &mut DropConstraints { context })
}

struct DropConstraints<'r> {
    context: &'r mut PassContext,
}

impl<'a> VisitorMut<'a> for DropConstraints<'_> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let goes = |member: &Member<'_>| {
            Keyword::named(&member.key).is_some_and(|keyword| {
                keyword.applies_to().is_some()
                    && keyword.subschemas() == crate::schema::keyword::Subschemas::Value
                    && matches!(keyword.role(), Role::Assertion | Role::Annotation)
                    && !matches!(keyword, Keyword::Required | Keyword::DependentRequired)
            })
        };
        let Some(object) = node.as_object().filter(|object| object.iter().any(goes)) else { return Ok(Visit::Descend) };
        let described = self.context.hints == Hints::Describe;
        let guidance = if described { Guidance::Moved } else { Guidance::Lost };
        let mut removed: Vec<(String, Node<'a>)> = Vec::new();
        for member in self.context.budget.each(object).filter(|member| goes(member)) {
            let name = member.key.display().into_owned();
            let annotates = Keyword::named(&member.key).is_some_and(|keyword| keyword.role() == Role::Annotation);
            let effect = CONSTRAINT.guidance(guidance).accepts(if annotates { Accepts::Same } else { Accepts::Wider });
            self.context.diagnostics.report(path, Location::of(&member.value).removed(), effect, || {
                format!("removed `{name}` to fit the size limit")
            });
            removed.push((name, member.value.copy(&self.context.budget)));
        }
        if let Some(object) = node.as_object_mut() {
            object.retain(|member| !goes(member));
        }
        if described {
            let removed: Vec<(&str, &Node<'a>)> = removed.iter().map(|(name, value)| (name.as_str(), value)).collect();
            description::append(node, &removed);
        }
        Ok(Visit::Descend)
    }
}

struct LevelCut<'r, 'g> {
    context: &'r mut PassContext,
    level: usize,
    /// True if the limit on bytes is exceeded, so a cut must save bytes.
    for_bytes: bool,
    growth: &'g Growth<'g>,
    /// Bytes of the schemas that were cut, and of their replacements.
    saved: usize,
    added: usize,
}

impl<'a> VisitorMut<'a> for LevelCut<'_, '_> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        if path.depth < self.level {
            return Ok(Visit::Descend);
        }
        // Inside `not` and the like, accepting anything may narrow the schema; the enclosing schema is cut later.
        if path.polarity != Polarity::Positive {
            return Ok(Visit::Skip);
        }
        let Some(object) = node.as_object() else { return Ok(Visit::Skip) };
        let keeps = |member: &Member<'_>| member.key.is(Keyword::Description) || member.key.is(Keyword::Title);
        if object.iter().all(|member| keeps(member) || member.key.is(Keyword::Type)) {
            return Ok(Visit::Skip);
        }
        // The schema that accepts anything may be longer than the one it would replace.
        let kept: usize = object
            .iter()
            .filter(|member| keeps(member))
            .map(|member| json::plain_length(&member.value) + member.key.display().len() + 4)
            .sum();
        if self.for_bytes && kept + anything::length(self.context) >= json::plain_length(node) {
            return Ok(Visit::Descend);
        }
        let location = Location::of(node);
        self.context.diagnostics.report(path, location.in_place(), CUT, || {
            String::from("replaced a schema with one that accepts anything, to fit the limits")
        });
        self.saved += self.growth.length(node);
        if let Some(object) = node.as_object_mut() {
            object.retain(|member| keeps(member));
        }
        anything::write(node, path, self.context);
        self.added += self.growth.length(node);
        Ok(Visit::Skip)
    }
}

struct Shorten<'r> {
    context: &'r mut PassContext,
    length: usize,
}

impl<'a> VisitorMut<'a> for Shorten<'_> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let long = |text: &Text<'_>| {
            text.value().filter(|value| value.chars().count() > self.length).map(|value| value.into_owned())
        };
        let Some(text) = node.text_at(Keyword::Description).and_then(long) else {
            return Ok(Visit::Descend);
        };
        let length = self.length;
        let location = Location::under(node, "description");
        self.context.diagnostics.report(path, location.in_place(), SHORTEN, || {
            format!("shortened a description to {length} characters to fit the size limit")
        });
        node.visit(Keyword::Description, |description| {
            description.replace(Data::String(Text::new(text.chars().take(length).collect::<String>())));
        });
        Ok(Visit::Descend)
    }
}

const CUT_REFERENCE: ChangeKind = ChangeKind::of(Rule::FitCutReference);

/// Maximum number of steps of the search for the longest path, which could take exponential time.
const STEPS: usize = 10_000;

/// A reference: its depth in properties, the index of its target, and its pointer.
struct Reference {
    at: usize,
    to: usize,
    pointer: String,
}

/// A definition, or (at index 0) the schema without its definitions.
#[derive(Default)]
struct Part {
    deepest: usize,
    references: Vec<Reference>,
}

fn cut_deep(root: &mut Node<'_>, limit: usize, context: &mut PassContext) -> Result<(), Error> {
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
        is_cut: &|_, path| gone.contains(&path.pointer.render()),
        effect: CUT_REFERENCE,
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
    visit::walk(budget, root, Keywords::ALL, &mut |node, path| {
        let (number, depth) = part_of(path, &names);
        let Some(part) = parts.get_mut(number) else { return Ok(Visit::Skip) };
        part.deepest = part.deepest.max(depth);
        if let Some(to) = definition_name(node).and_then(|name| names.get(name)) {
            part.references.push(Reference { at: depth, to: *to, pointer: path.pointer.render() });
        }
        Ok(Visit::Descend)
    })?;
    Ok(parts)
}

/// Returns the index of the part that a schema belongs to, and the number of `properties` above it.
fn part_of(path: &SchemaPath<'_, '_>, names: &Map<String, usize>) -> (usize, usize) {
    let depth = path.pointer.steps().iter().filter(|step| **step == Step::Name("properties")).count();
    let number = match path.pointer.steps() {
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
    let mut known_depths: Map<usize, usize> = Map::new();
    let mut limit = 0;
    for start in 0..parts.len() {
        let mut on_the_way: Set<usize> = Set::new();
        // State of the path: part, next reference, depth of the reference to this part, depth below it, and true if a
        // reference back to the path was skipped.
        let mut frames = vec![(start, 0_usize, 0_usize, parts.get(start)?.deepest, false)];
        while let Some((number, next, at, deepest, is_cut)) = frames.last_mut() {
            let reference = parts.get(*number)?.references.get(*next);
            *next += 1;
            if let Some(reference) = reference {
                if let Some(depth) = known_depths.get(&reference.to) {
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
                known_depths.insert(number, deepest);
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

/// Returns the references that are too deep on some path from the root, and all references that are part of a
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
                gone.insert(reference.pointer.clone());
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
                gone.insert(reference.pointer.clone());
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
