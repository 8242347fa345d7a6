//! Size limits: removes the cheapest parts first, until the schema fits.
//!
//! Also limits the nesting of properties for providers that follow references when they measure the nesting: references
//! that are too deep are cut.

pub(crate) mod strict;

use alloc::{format, string::String, vec, vec::Vec};

use super::{
    anything,
    context::{Effects, PassContext},
    description,
    diagnostics::{ChangeKind, Location},
    resolve::break_cycles::ReferenceCutter,
};
use crate::{
    budget::Budget,
    collections::{Map, Set},
    effect::{Accepts, Guidance},
    error::{Code, Error},
    json::{self, Data, Member, Node, Object, Step, Text},
    options::Hints,
    rules::Rule,
    schema::{
        definitions::definition_name,
        graph,
        keyword::{Keyword, Keywords, Role},
        references,
        visit::{self, Polarity, SchemaPath, Visit, VisitorMut},
    },
};

const DROP: ChangeKind = ChangeKind::of(Rule::FitDropKeyword);
const CONSTRAINT: ChangeKind = ChangeKind::of(Rule::FitDropConstraint);
const CUT: ChangeKind = ChangeKind::of(Rule::FitCutSchema);
const SHORTEN: ChangeKind = ChangeKind::of(Rule::FitShortenDescription);

/// Maximum lengths of descriptions, in characters, tried in this order.
const DESCRIPTION_LENGTHS: [usize; 3] = [1024, 256, 64];

struct Limits {
    bytes: usize,
    depth: usize,
    properties: usize,
}

impl Limits {
    fn are_unlimited(&self) -> bool {
        [self.bytes, self.depth, self.properties].iter().all(|limit| *limit == usize::MAX)
    }
}

pub(crate) fn fit(root: &mut Node<'_>, context: &mut PassContext) -> Result<(), Error> {
    let dialect = context.dialect;
    let limit = |name: &str| dialect.limit(name).unwrap_or(usize::MAX);
    let bytes = context.max_bytes.unwrap_or(usize::MAX);
    fit_within(root, &Limits { bytes, depth: limit("propertyDepth"), properties: limit("properties") }, context)
}

/// In a union or under another keyword, the passes before this one may have more to do after a part of the schema is
/// removed. Without one of its references, a definition may be unused or no longer recursive.
fn record_cut<'a>(path: &SchemaPath<'_, '_>, removed: &Node<'a>, effects: &mut Effects) {
    let is_plain = |step: &Step<'_>| matches!(step, Step::Name("properties" | "items") | Step::Member(_));
    effects.cut_more |= !path.pointer.steps().iter().all(is_plain) || references::mentions_references(removed);
}

fn fit_bytes(root: &mut Node<'_>, bytes: usize, context: &mut PassContext) -> Result<(), Error> {
    fit_within(root, &Limits { bytes, depth: usize::MAX, properties: usize::MAX }, context)
}

fn fit_within(root: &mut Node<'_>, limits: &Limits, context: &mut PassContext) -> Result<(), Error> {
    if context.grammar.refs.to_defs && limits.depth != usize::MAX && root.get(Keyword::Defs).is_some() {
        cut_deep(root, limits.depth, context)?;
    }
    if limits.are_unlimited() {
        return Ok(());
    }
    // This test suffices for most schemas. A character is at most six bytes, a property is at least five bytes, and
    // properties nest at most as deep as schemas.
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
    let escapes = EscapeGrowth::of(context.grammar.escaped_chars);
    let mut measured =
        Measured { bytes: length + escapes.in_value(root), nesting: NestingSize::of(root, limits, &context.budget)? };
    if measured.excess(limits).is_none() {
        return Ok(());
    }
    if measured.is_too_long(limits) {
        drop_keywords(root, context)?;
        measured = Measured::of(root, limits, &escapes, &context.budget)?;
    }
    if measured.is_too_long(limits) {
        drop_constraints(root, context)?;
        measured = Measured::of(root, limits, &escapes, &context.budget)?;
    }
    let mut level = deepest(root, &context.budget)?;
    let budget = context.budget.clone();
    while let Some(excess) = measured.excess(limits).filter(|_| level > 0) {
        let mut cut =
            LevelCut { context, level, for_bytes: excess.unit == "bytes", escapes: &escapes, saved: 0, added: 0 };
        visit::walk_mut(&budget, root, Keywords::ALL, &mut cut)?;
        // The cut counts the removed and added bytes, so the length need not be measured again at each level.
        measured = Measured {
            bytes: (measured.bytes + cut.added).saturating_sub(cut.saved),
            nesting: NestingSize::of(root, limits, &context.budget)?,
        };
        level -= 1;
    }
    for length in DESCRIPTION_LENGTHS {
        if measured.excess(limits).is_some() {
            visit::walk_mut(&context.budget.clone(), root, Keywords::ALL, &mut Shorten { context, length })?;
            measured = Measured::of(root, limits, &escapes, &context.budget)?;
        }
    }
    match measured.excess(limits) {
        None => Ok(()),
        Some(Excess { unit, limit, size }) => Err(Error::new(
            Code::LimitExceeded,
            "",
            format!("expected at most {limit} {unit} after removing everything that can be removed, found {size}"),
        )),
    }
}

struct Excess {
    unit: &'static str,
    limit: usize,
    size: usize,
}

struct Measured {
    bytes: usize,
    nesting: NestingSize,
}

#[derive(Default)]
struct NestingSize {
    depth: usize,
    properties: usize,
}

impl Measured {
    fn of(root: &Node<'_>, limits: &Limits, escapes: &EscapeGrowth<'_>, budget: &Budget) -> Result<Self, Error> {
        Ok(Measured { bytes: escapes.length(root), nesting: NestingSize::of(root, limits, budget)? })
    }

    fn excess(&self, limits: &Limits) -> Option<Excess> {
        [
            ("levels of properties", limits.depth, self.nesting.depth),
            ("properties", limits.properties, self.nesting.properties),
            ("bytes", limits.bytes, self.bytes),
        ]
        .into_iter()
        .find(|(_, limit, size)| size > limit)
        .map(|(unit, limit, size)| Excess { unit, limit, size })
    }

    fn is_too_long(&self, limits: &Limits) -> bool {
        self.excess(limits).is_some_and(|excess| excess.unit == "bytes")
    }
}

impl NestingSize {
    fn of(root: &Node<'_>, limits: &Limits, budget: &Budget) -> Result<Self, Error> {
        let mut nesting = NestingSize::default();
        if limits.depth == usize::MAX && limits.properties == usize::MAX {
            return Ok(nesting);
        }
        visit::walk(budget, root, Keywords::ALL, &mut |node, path| {
            nesting.properties += node.object_at(Keyword::Properties).map_or(0, Object::len);
            if path.depth > nesting.depth {
                let steps = path.pointer.steps().iter();
                nesting.depth =
                    nesting.depth.max(steps.filter(|step| matches!(step, json::Step::Name("properties"))).count());
            }
            Ok(Visit::Descend)
        })?;
        Ok(nesting)
    }
}

/// Counts the bytes to add for characters that the API measures as six bytes, the length of a Unicode escape.
struct EscapeGrowth<'c> {
    characters: &'c [char],
    /// First bytes of these characters; most strings contain none of them.
    first_bytes: Vec<u8>,
}

impl<'c> EscapeGrowth<'c> {
    fn of(characters: &'c [char]) -> Self {
        let mut first_bytes: Vec<u8> =
            characters.iter().filter_map(|character| character.encode_utf8(&mut [0; 4]).bytes().next()).collect();
        first_bytes.dedup();
        EscapeGrowth { characters, first_bytes }
    }

    fn length(&self, node: &Node<'_>) -> usize {
        json::plain_length(node) + self.in_value(node)
    }

    fn in_value(&self, node: &Node<'_>) -> usize {
        if self.characters.is_empty() {
            return 0;
        }
        match node.data() {
            Data::String(text) => self.in_text(text),
            Data::Array(items) => items.iter().map(|item| self.in_value(item)).sum(),
            Data::Object(object) => {
                object.iter().map(|member| self.in_text(&member.key) + self.in_value(&member.value)).sum()
            }
            _ => 0,
        }
    }

    fn in_text(&self, text: &Text<'_>) -> usize {
        let Some(plain) = text.as_plain() else {
            let counted =
                text.code_points().filter_map(char::from_u32).filter(|character| self.characters.contains(character));
            return counted.map(|character| 6 - character.len_utf8()).sum();
        };
        // Without an early exit, the compiler can vectorize this loop.
        let occurs = |first: &u8| plain.bytes().fold(false, |occurs, byte| occurs | (byte == *first));
        if !self.first_bytes.iter().any(occurs) {
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
        let is_removed = |member: &Member<'_>| match Keyword::named(&member.key) {
            None => true,
            Some(keyword) => {
                matches!(keyword, Keyword::Default | Keyword::Examples | Keyword::Comment | Keyword::Schema)
            }
        };
        let Some(object) = node.as_object().filter(|object| object.iter().any(is_removed)) else {
            return Ok(Visit::Descend);
        };
        for member in self.context.budget.each(object).filter(|member| is_removed(member)) {
            record_cut(path, &member.value, &mut self.context.effects);
            let name = member.key.display().into_owned();
            self.context.diagnostics.report(path, Location::of(&member.value).removed(), DROP, || {
                format!("removed `{name}` to fit the size limit")
            });
        }
        if let Some(object) = node.as_object_mut() {
            object.retain(|member| !is_removed(member));
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
        let is_removed = |member: &Member<'_>| {
            Keyword::named(&member.key).is_some_and(|keyword| {
                keyword.applies_to().is_some()
                    && keyword.subschemas() == crate::schema::keyword::Subschemas::Value
                    && matches!(keyword.role(), Role::Assertion | Role::Annotation)
                    && !matches!(keyword, Keyword::Required | Keyword::DependentRequired)
            })
        };
        let Some(object) = node.as_object().filter(|object| object.iter().any(is_removed)) else {
            return Ok(Visit::Descend);
        };
        let is_described = self.context.hints == Hints::Describe;
        let guidance = if is_described { Guidance::Moved } else { Guidance::Lost };
        let mut removed: Vec<(String, Node<'a>)> = Vec::new();
        for member in self.context.budget.each(object).filter(|member| is_removed(member)) {
            let name = member.key.display().into_owned();
            let annotates = Keyword::named(&member.key).is_some_and(|keyword| keyword.role() == Role::Annotation);
            record_cut(path, &member.value, &mut self.context.effects);
            let effect = CONSTRAINT.guidance(guidance).accepts(if annotates { Accepts::Same } else { Accepts::Wider });
            self.context.diagnostics.report(path, Location::of(&member.value).removed(), effect, || {
                format!("removed `{name}` to fit the size limit")
            });
            removed.push((name, member.value.copy(&self.context.budget)));
        }
        if let Some(object) = node.as_object_mut() {
            object.retain(|member| !is_removed(member));
        }
        if is_described {
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
    escapes: &'g EscapeGrowth<'g>,
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
        let is_kept = |member: &Member<'_>| member.key.is(Keyword::Description) || member.key.is(Keyword::Title);
        if object.iter().all(|member| is_kept(member) || member.key.is(Keyword::Type)) {
            return Ok(Visit::Skip);
        }
        // The schema that accepts anything may be longer than the one it would replace.
        let kept_length: usize = object
            .iter()
            .filter(|member| is_kept(member))
            .map(|member| json::plain_length(&member.value) + member.key.display().len() + 4)
            .sum();
        if self.for_bytes && kept_length + anything::length(self.context) >= json::plain_length(node) {
            return Ok(Visit::Descend);
        }
        record_cut(path, node, &mut self.context.effects);
        let location = Location::of(node);
        self.context.diagnostics.report(path, location.in_place(), CUT, || {
            String::from("replaced a schema with one that accepts anything, to fit the limits")
        });
        self.saved += self.escapes.length(node);
        if let Some(object) = node.as_object_mut() {
            object.retain(|member| is_kept(member));
        }
        anything::write(node, path, self.context);
        self.added += self.escapes.length(node);
        Ok(Visit::Skip)
    }
}

struct Shorten<'r> {
    context: &'r mut PassContext,
    length: usize,
}

impl<'a> VisitorMut<'a> for Shorten<'_> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let too_long_text = |text: &Text<'_>| {
            text.value().filter(|value| value.chars().count() > self.length).map(|value| value.into_owned())
        };
        let Some(text) = node.text_at(Keyword::Description).and_then(too_long_text) else {
            return Ok(Visit::Descend);
        };
        record_cut(path, &Node::default(), &mut self.context.effects);
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

struct Reference {
    /// Number of `properties` that enclose the reference in its part.
    depth: usize,
    target: usize,
    pointer: String,
}

/// A definition, or (at index 0) the schema without its definitions.
#[derive(Default)]
struct Part {
    depth: usize,
    references: Vec<Reference>,
}

fn cut_deep(root: &mut Node<'_>, limit: usize, context: &mut PassContext) -> Result<(), Error> {
    let parts = parts(root, &context.budget)?;
    if parts.iter().map(|part| part.depth).fold(0, usize::saturating_add) <= limit
        || longest(&parts).is_some_and(|longest| longest <= limit)
    {
        return Ok(());
    }
    let too_deep = too_deep(&parts, limit);
    context.effects.cut_more = true;
    let budget = context.budget.clone();
    let mut cutter = ReferenceCutter {
        context,
        is_cut: &|_, path| too_deep.contains(&path.pointer.render()),
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
        part.depth = part.depth.max(depth);
        if let Some(to) = definition_name(node).and_then(|name| names.get(name)) {
            part.references.push(Reference { depth, target: *to, pointer: path.pointer.render() });
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

/// Returns the depth of the longest path that visits no definition twice, except the first definition. Returns `None`
/// if the search needs too many steps.
fn longest(parts: &[Part]) -> Option<usize> {
    let mut steps = STEPS;
    let mut known_depths: Map<usize, usize> = Map::new();
    let mut max_depth = 0;
    for start in 0..parts.len() {
        let mut on_path: Set<usize> = Set::new();
        // State of the path: part, next reference, depth of the reference to this part, depth below it, and true if a
        // reference back to the path was skipped.
        let mut frames = vec![(start, 0_usize, 0_usize, parts.get(start)?.depth, false)];
        while let Some((number, next, depth_of_reference, deepest, is_cut)) = frames.last_mut() {
            let reference = parts.get(*number)?.references.get(*next);
            *next += 1;
            if let Some(reference) = reference {
                if let Some(depth) = known_depths.get(&reference.target) {
                    *deepest = (*deepest).max(reference.depth.saturating_add(*depth));
                } else if on_path.insert(reference.target) {
                    steps = steps.checked_sub(1)?;
                    frames.push((reference.target, 0, reference.depth, parts.get(reference.target)?.depth, false));
                } else {
                    *is_cut = true;
                }
                continue;
            }
            let (number, depth_of_reference, deepest, is_cut) = (*number, *depth_of_reference, *deepest, *is_cut);
            frames.pop();
            if !is_cut {
                known_depths.insert(number, deepest);
            }
            match frames.last_mut() {
                None => max_depth = max_depth.max(deepest),
                Some((_, _, _, above, cut_above)) => {
                    on_path.remove(&number);
                    *above = (*above).max(depth_of_reference.saturating_add(deepest));
                    *cut_above |= is_cut;
                }
            }
        }
    }
    Some(max_depth)
}

/// Returns the references that are too deep on some path from the root, and all references that are part of a
/// recursion.
fn too_deep(parts: &[Part], limit: usize) -> Set<String> {
    let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    let edges: Map<u32, Set<u32>> = parts
        .iter()
        .enumerate()
        .map(|(index, part)| {
            (number(index), part.references.iter().map(|reference| number(reference.target)).collect())
        })
        .collect();
    let recursive = graph::recursive_nodes(&edges);
    let is_recursive = |index: usize| recursive.contains(&number(index));
    let mut refused_references: Set<String> = Set::new();
    let mut incoming: Vec<usize> = vec![0; parts.len()];
    let is_acyclic = |from: usize, reference: &Reference| !(is_recursive(from) && is_recursive(reference.target));
    for (from, part) in parts.iter().enumerate() {
        for reference in &part.references {
            if !is_acyclic(from, reference) {
                refused_references.insert(reference.pointer.clone());
            } else if let Some(count) = incoming.get_mut(reference.target) {
                *count += 1;
            }
        }
    }
    // In topological order: each definition follows all definitions that refer to it.
    let mut depths: Vec<usize> = vec![0; parts.len()];
    let mut ready: Vec<usize> = (0..parts.len()).filter(|index| incoming.get(*index) == Some(&0)).collect();
    while let Some(from) = ready.pop() {
        let (Some(part), Some(top)) = (parts.get(from), depths.get(from).copied()) else { continue };
        for reference in part.references.iter().filter(|reference| is_acyclic(from, reference)) {
            let at = top.saturating_add(reference.depth);
            let target_depth = parts.get(reference.target).map_or(0, |target| target.depth);
            if at.saturating_add(target_depth) > limit {
                refused_references.insert(reference.pointer.clone());
            } else if let Some(target_start) = depths.get_mut(reference.target) {
                *target_start = (*target_start).max(at);
            }
            if let Some(count) = incoming.get_mut(reference.target) {
                *count -= 1;
                if *count == 0 {
                    ready.push(reference.target);
                }
            }
        }
    }
    refused_references
}
