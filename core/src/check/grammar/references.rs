//! Checks `$ref` and `$defs`: the form of references, their targets, the depth that they reach, and recursion.
//!
//! Every distinct reference is resolved once and has a number.
//!
//! References are resolved as the provider resolves them: the text is split at `/`, nothing is decoded, and the path
//! passes through objects only.
//!
//! The provider defines the depth: it counts levels through `properties`, `additionalProperties` and `anyOf` but not
//! `items`, along a chain of references. Each reference occurs once in the chain. In a dense graph of references, the
//! longest such chain is expensive to find, so the search has a budget; beyond it, an upper bound is used.

use alloc::{borrow::Cow, format, string::String, vec, vec::Vec};

use super::{is_schema_value, quoted, seen, Report, Schema};
use crate::{
    budget::Budget,
    collections::{Map, Set},
    dialect::grammar::{Recursion, RefRule},
    error::Error,
    json::{push_token, unescaped_token, Data, Node, Pointer, Step, Text},
    rules::Constraint,
    schema::{
        cycles::{self, Cycles},
        graph::Graph,
        keyword::{Draft, Keyword, Keywords},
        references,
        uri::percent_decoded,
        visit::{self, Visit},
    },
};

const OLD_TABLE: &str = "#/definitions/";

pub(super) fn check_reference(
    schema: &Schema<'_, '_>,
    value: &Node<'_>,
    depth: usize,
    references: &mut References<'_, '_>,
    nesting: &mut Nesting,
    report: &mut Report<'_>,
) {
    let rule = report.grammar.refs;
    let at = || schema.at("$ref");
    let Some(text) = value.as_text() else {
        report.add(value, Constraint::RefNotString, at(), "a string", value.kind());
        return;
    };
    let reference = text.display();
    if rule.anywhere {
        if rule.plain_pointers && !is_plain_pointer(&reference) {
            let expected = "`#/` and names that need no escapes";
            report.add(value, Constraint::RefForm, at(), expected, &quoted(text));
            return;
        }
        if references.resolved.target(value).is_none() || references.resolved.is_misnamed(value) {
            report.add(value, Constraint::RefTarget, at(), "a reference to a schema of this document", &quoted(text));
        }
        return;
    }
    if rule.to_definitions
        && reference.strip_prefix(OLD_TABLE).is_some_and(|name| !name.is_empty() && !name.contains('/'))
    {
        let known = references
            .root
            .get(Keyword::Definitions)
            .and_then(|table| table.get(reference.strip_prefix(OLD_TABLE).unwrap_or_default()));
        if known.is_none() {
            report.add(value, Constraint::RefTarget, at(), "a reference to an existing definition", &quoted(text));
        }
        return;
    }
    let name = reference.strip_prefix(TABLE);
    let is_known_form =
        (rule.to_root && reference == "#") || (rule.to_defs && name.is_some_and(|name| !name.is_empty()));
    if !is_known_form {
        let expected = match (rule.to_root, rule.to_defs) {
            (true, true) => "`#` or `#/$defs/` and a name",
            (true, false) => "`#`",
            (false, true) => "`#/$defs/` and a name",
            (false, false) => "no reference",
        };
        let is_pointer = reference.starts_with("#/") && reference.len() > 2;
        let constraint = match rule.takes_other_forms && is_pointer {
            true => Constraint::RefTarget,
            false => Constraint::RefForm,
        };
        report.add(value, constraint, at(), expected, &quoted(text));
        return;
    }
    if name.is_some() {
        schema.not_below_braces(Keyword::Ref, value, report);
    }
    let number = references.number(&reference);
    if references.target(number).is_none() && !name.is_some_and(|name| references.is_accepted_otherwise(name, rule)) {
        report.add(
            value,
            Constraint::RefTarget,
            at(),
            "a reference to an object under the root's `$defs`",
            &quoted(text),
        );
        return;
    }
    let deepest = report.deepest;
    let in_all = depth.saturating_add(nesting.depth(number, &reference, references));
    if depth <= deepest && in_all > deepest {
        let (expected, found) = (
            format!("`properties` nested at most {deepest} levels deep"),
            format!("{in_all} levels through this reference"),
        );
        report.add(value, Constraint::TooDeep, at(), &expected, &found);
    }
}

/// Returns true if decoding of escapes does not change a pointer into the document.
fn is_plain_pointer(reference: &str) -> bool {
    reference.starts_with("#/") && !reference.contains(['~', '%'])
}

const TABLE: &str = "#/$defs/";

pub(super) struct References<'t, 'a> {
    pub(super) root: &'t Node<'a>,
    definitions: Map<Cow<'t, str>, &'t Node<'a>>,
    numbers: Map<String, usize>,
    targets: Vec<Option<&'t Node<'a>>>,
    /// Targets according to JSON Schema, if the grammar uses them.
    pub(super) resolved: &'t references::References,
}

impl<'t, 'a> References<'t, 'a> {
    pub(super) fn new(root: &'t Node<'a>, resolved: &'t references::References) -> Self {
        let table = root.get(Keyword::Defs.name()).and_then(Node::as_object);
        let named = table.into_iter().flatten().filter_map(|member| Some((member.key.value()?, &member.value)));
        References { root, definitions: named.collect(), numbers: Map::new(), targets: Vec::new(), resolved }
    }

    pub(super) fn number(&mut self, reference: &str) -> usize {
        if let Some(number) = self.numbers.get(reference) {
            return *number;
        }
        let number = self.targets.len();
        self.targets.push(self.resolve(reference));
        self.numbers.insert(reference.into(), number);
        number
    }

    pub(super) fn number_of(&mut self, schema: &Node<'_>) -> Option<usize> {
        let reference = schema.get(Keyword::Ref)?.as_text()?.value()?;
        Some(self.number(&reference))
    }

    pub(super) fn target(&self, number: usize) -> Option<&'t Node<'a>> {
        self.targets.get(number).copied().flatten()
    }

    /// Returns true if `name` refers to a definition that the grammar accepts but [`Self::target`] does not return.
    /// Such a definition is the schema `true`, or has a name that is escaped in the reference.
    fn is_accepted_otherwise(&self, name: &str, rule: RefRule) -> bool {
        let is_fine =
            |target: &&Node<'_>| target.as_object().is_some() || (rule.to_true && target.as_bool() == Some(true));
        let unescaped = || Some(unescaped_token(&percent_decoded(name)?).into_owned());
        let is_there = |name: &str| self.definitions.get(name).is_some_and(is_fine);
        is_there(name) || (rule.escapes && !name.contains('/') && unescaped().is_some_and(|name| is_there(&name)))
    }

    pub(super) fn count(&self) -> usize {
        self.targets.len()
    }

    fn number_definitions(&mut self) -> Vec<usize> {
        let texts: Vec<String> = self.definitions.keys().map(|name| format!("{TABLE}{name}")).collect();
        texts.iter().map(|text| self.number(text)).collect()
    }

    fn resolve(&self, reference: &str) -> Option<&'t Node<'a>> {
        if reference == "#" {
            return Some(self.root);
        }
        let mut parts = reference.strip_prefix(TABLE)?.split('/');
        let first = self.definitions.get(parts.next()?).copied()?;
        parts.try_fold(first, |node, part| node.get(part)).filter(|node| node.as_object().is_some())
    }
}

/// Maximum number of repeated visits to references in a document. Without cycles, no repeated visits are necessary.
const STEPS: usize = 20_000;

pub(super) struct Nesting {
    /// Contents of the target of each reference, computed when first needed.
    below: Vec<Option<Below>>,
    /// Depths that do not depend on the path, because no cycle is involved.
    known_depths: Vec<Option<usize>>,
    /// Depth of each reference as the start of a chain.
    depths: Vec<Option<usize>>,
    /// References that are followed from some definition.
    followed: Option<Set<usize>>,
    visited: Set<usize>,
    steps: usize,
    /// Number of references included in the upper bound, and the sum of their depths.
    in_all: (usize, usize),
}

impl Default for Nesting {
    fn default() -> Self {
        Nesting {
            below: Vec::new(),
            known_depths: Vec::new(),
            depths: Vec::new(),
            followed: None,
            visited: Set::new(),
            steps: STEPS,
            in_all: (0, 0),
        }
    }
}

#[derive(Clone, Default)]
struct Below {
    /// Maximum depth without following references.
    deepest: usize,
    /// References in the target, with their depths.
    references: Vec<(usize, usize)>,
}

struct Frame {
    number: usize,
    /// Depth of the reference in the schema above.
    at: usize,
    next: usize,
    deepest: usize,
    /// True if a reference below points back into the current chain.
    is_cut: bool,
}

impl Nesting {
    pub(super) fn depth(&mut self, number: usize, reference: &str, references: &mut References<'_, '_>) -> usize {
        // The provider measures definitions first. A target that is neither in a definition nor followed from one has
        // no depth.
        let is_measured = is_within_a_definition(reference);
        if !is_measured && !self.followed(references).contains(&number) {
            return 0;
        }
        if let Some(Some(depth)) = self.depths.get(number) {
            return *depth;
        }
        // A definition is measured without a reference to it, so its own reference may occur once more below.
        let on_the_way = if is_measured { Set::new() } else { Set::from([number]) };
        let depth = self.search(number, on_the_way, references).unwrap_or_else(|| self.bound(number, references));
        set(&mut self.depths, number, depth);
        depth
    }

    fn below(&mut self, number: usize, references: &mut References<'_, '_>) -> &Below {
        if self.below.get(number).is_none_or(Option::is_none) {
            let below = references.target(number).map(|target| measure(target, references)).unwrap_or_default();
            set(&mut self.below, number, below);
        }
        const NOTHING: &Below = &Below { deepest: 0, references: Vec::new() };
        self.below.get(number).and_then(Option::as_ref).unwrap_or(NOTHING)
    }

    /// Returns the depth of the longest chain that starts at a reference and contains no reference in `on_the_way`;
    /// `None` if the budget does not suffice.
    fn search(
        &mut self,
        start: usize,
        mut on_the_way: Set<usize>,
        references: &mut References<'_, '_>,
    ) -> Option<usize> {
        if let Some(Some(depth)) = self.known_depths.get(start) {
            return Some(*depth);
        }
        let mut frames = vec![Frame {
            number: start,
            at: 0,
            next: 0,
            deepest: self.below(start, references).deepest,
            is_cut: false,
        }];
        while let Some(frame) = frames.last_mut() {
            let edge = self.below(frame.number, references).references.get(frame.next).copied();
            frame.next += 1;
            if let Some((number, at)) = edge {
                if let Some(Some(depth)) = self.known_depths.get(number) {
                    frame.deepest = frame.deepest.max(at.saturating_add(*depth));
                } else if on_the_way.contains(&number) {
                    frame.is_cut = true;
                } else {
                    if !self.visited.insert(number) {
                        self.steps = self.steps.checked_sub(1)?;
                    }
                    let deepest = self.below(number, references).deepest;
                    on_the_way.insert(number);
                    frames.push(Frame { number, at, next: 0, deepest, is_cut: false });
                }
                continue;
            }
            let done = frames.pop()?;
            if !done.is_cut {
                set(&mut self.known_depths, done.number, done.deepest);
            }
            let Some(parent) = frames.last_mut() else { return Some(done.deepest) };
            on_the_way.remove(&done.number);
            parent.is_cut |= done.is_cut;
            parent.deepest = parent.deepest.max(done.at.saturating_add(done.deepest));
        }
        None
    }

    /// Returns an upper bound: the depth of a chain that contains each reference once, and the first reference twice.
    fn bound(&mut self, start: usize, references: &mut References<'_, '_>) -> usize {
        // Measuring a reference may discover other references.
        let mut next = self.in_all.0;
        while next < references.count() {
            self.in_all.1 = self.in_all.1.saturating_add(self.below(next, references).deepest);
            next += 1;
        }
        self.in_all.0 = next;
        self.in_all.1.saturating_add(self.below(start, references).deepest)
    }

    fn followed(&mut self, references: &mut References<'_, '_>) -> &Set<usize> {
        if self.followed.is_none() {
            let mut found = Set::new();
            let mut open = references.number_definitions();
            let mut seen: Set<usize> = open.iter().copied().collect();
            while let Some(number) = open.pop() {
                for (target, _) in self.below(number, references).references.clone() {
                    found.insert(target);
                    if seen.insert(target) {
                        open.push(target);
                    }
                }
            }
            self.followed = Some(found);
        }
        const NONE: &Set<usize> = &Set::new();
        self.followed.as_ref().unwrap_or(NONE)
    }
}

/// Returns true if a reference points to a definition, or to a schema below a definition that is reached only through
/// `properties` and `additionalProperties`.
fn is_within_a_definition(reference: &str) -> bool {
    let Some(path) = reference.strip_prefix("#/$defs/") else { return false };
    let mut parts = path.split('/').skip(1);
    while let Some(part) = parts.next() {
        let is_member = match part {
            "properties" => parts.next().is_some(),
            part => part == "additionalProperties",
        };
        if !is_member {
            return false;
        }
    }
    true
}

fn measure(target: &Node<'_>, references: &mut References<'_, '_>) -> Below {
    let mut below = Below::default();
    let mut open = vec![(target, 0_usize)];
    while let Some((schema, depth)) = open.pop() {
        below.deepest = below.deepest.max(depth);
        below.references.extend(references.number_of(schema).map(|number| (number, depth)));
        if let Some(table) = schema.get(Keyword::Properties).and_then(Node::as_object) {
            below.deepest = below.deepest.max(depth + 1);
            open.extend(table.iter().map(|member| (&member.value, depth + 1)));
        }
        open.extend(schema.get(Keyword::AdditionalProperties).map(|schema| (schema, depth)));
        open.extend(
            schema
                .get(Keyword::AnyOf)
                .and_then(Node::as_array)
                .unwrap_or_default()
                .iter()
                .map(|branch| (branch, depth)),
        );
    }
    below
}

fn set<T: Clone>(list: &mut Vec<Option<T>>, number: usize, value: T) {
    if list.len() <= number {
        list.resize(number + 1, None);
    }
    if let Some(place) = list.get_mut(number) {
        *place = Some(value);
    }
}

pub(super) fn check_definitions(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    let Some(table) = value.as_object() else {
        report.add(value, Constraint::DefsNotObject, schema.at("$defs"), "an object of schemas", value.kind());
        return;
    };
    // A table inside a definition was already searched for slashes together with that definition.
    let is_inside = schema.pointer.steps().contains(&Step::Name(Keyword::Defs.name()));
    let no_slash = report.grammar.refs.no_slash_in_definitions && !is_inside;
    for member in table {
        let mut pointer = schema.at("$defs");
        push_token(&mut pointer, &member.key.display());
        if member.key.is_empty() && !report.grammar.refs.anywhere {
            report.add(&member.value, Constraint::DefinitionName, pointer.clone(), "a name", "an empty one");
        } else if no_slash && member.key.display().contains('/') {
            report.add(
                &member.value,
                Constraint::DefinitionName,
                pointer.clone(),
                "a name without `/`",
                &quoted(&member.key),
            );
        }
        if !is_schema_value(&member.value, report.grammar) {
            report.add(&member.value, Constraint::NotASchema, pointer, "a schema (an object)", &seen(&member.value));
        } else if no_slash {
            let mut inside = schema.pointer.clone();
            inside.push(Step::Name(Keyword::Defs.name()));
            inside.push(Step::Member(member.key.clone()));
            slashes(&member.value, &mut inside, report);
        }
    }
}

/// Reports slashes in keys of objects, of nested objects, and of objects in lists, even if they are not schemas.
fn slashes<'a>(value: &Node<'a>, pointer: &mut Pointer<'a>, report: &mut Report<'_>) {
    for member in value.as_object().into_iter().flatten() {
        pointer.push(Step::Member(member.key.clone()));
        if member.key.display().contains('/') {
            let (expected, found) = ("no `/` in any key inside a definition", quoted(&member.key));
            report.add(&member.value, Constraint::SlashInDefinition, pointer.render(), expected, &found);
        }
        match member.value.data() {
            Data::Object(_) => slashes(&member.value, pointer, report),
            // Lists within lists are not searched.
            Data::Array(items) => {
                for (index, item) in items.iter().enumerate().filter(|(_, item)| item.as_object().is_some()) {
                    pointer.push(Step::Index(index));
                    slashes(item, pointer, report);
                    pointer.pop();
                }
            }
            _ => {}
        }
        pointer.pop();
    }
}

/// No schema may apply to itself at the same instance location, through the keywords that the API reads.
pub(super) fn check_left_recursion(
    root: &Node<'_>,
    references: &references::References,
    report: &mut Report<'_>,
    budget: &Budget,
) -> Result<(), Error> {
    if !report.grammar.refs.no_left_recursion || references.is_empty() {
        return Ok(());
    }
    let unread = report.grammar.ignores.union(report.grammar.refuses);
    let cycles = Cycles::of(root, references, cycles::IN_PLACE.difference(unread), Draft::of(root), budget)?;
    if cycles.is_empty() {
        return Ok(());
    }
    let mut next = 0;
    cycles::walk(root, references, budget, &mut |node, place, part| {
        if let Some(reference) =
            node.get(Keyword::Ref).filter(|_| cycles.role(next, 0).is_some() && !cycles.is_unused(next))
        {
            let found = reference.as_text().map(quoted).unwrap_or_default();
            let expected = "a schema that does not apply to the same value endlessly";
            let pointer = format!("{}{}", part.pointer, place.pointer.render_with("$ref"));
            report.add(reference, Constraint::LeftRecursion, pointer, expected, &found);
        }
        next += 1;
        Ok(Visit::Descend)
    })
}

pub(super) fn check_recursion(
    root: &Node<'_>,
    references: &references::References,
    report: &mut Report<'_>,
    budget: &Budget,
) -> Result<(), Error> {
    let rule = report.grammar.refs.recursion;
    // If references are refused altogether, each of them is reported as such.
    if references.is_empty()
        || matches!(rule, Recursion::Free | Recursion::MustEnd)
        || report.grammar.refuses.contains(Keyword::Ref)
    {
        return Ok(());
    }
    let graph = Graph::of(root, references, budget)?;
    let recursive: Set<_> = graph.all().filter(|target| graph.is_recursive(*target)).collect();
    if recursive.is_empty() {
        return Ok(());
    }
    // The schemas that enclose the current schema.
    let mut way: Vec<Passed<'_, '_>> = Vec::new();
    visit::walk(budget, root, Keywords::ALL, &mut |node, place| {
        way.truncate(place.depth);
        let is_optional = match (place.keyword, place.pointer.steps().last(), way.last()) {
            (Some(Keyword::Properties), Some(Step::Member(name)), Some(outer)) => !outer.required.contains(name),
            _ => false,
        };
        way.push(Passed {
            is_recursive: references.at(node, place).is_some_and(|target| recursive.contains(&target)),
            is_optional,
            is_definition: matches!(place.keyword, Some(Keyword::Defs | Keyword::Definitions)),
            required: node
                .get(Keyword::Required)
                .and_then(Node::as_array)
                .into_iter()
                .flatten()
                .filter_map(Node::as_text)
                .collect(),
        });
        let target = references.target_of(node);
        if !target.is_some_and(|target| recursive.contains(&target)) {
            return Ok(Visit::Descend);
        }
        // A reference outside of the cycle points into it, but is not part of the recursion.
        let leads_in = !way.iter().any(|passed| passed.is_recursive);
        let in_definition = way.iter().rposition(|passed| passed.is_definition).map_or(0, |at| at + 1);
        let is_optional = way.iter().skip(in_definition).any(|passed| passed.is_optional);
        let fine = rule == Recursion::OnlyOptional && (leads_in || is_optional);
        if let Some(reference) = node.get(Keyword::Ref).filter(|_| !fine) {
            let found = reference.as_text().map(quoted).unwrap_or_default();
            let expected = match rule {
                Recursion::OnlyOptional => "recursion only through properties that are not required",
                _ => "no recursion",
            };
            report.add(reference, Constraint::Recursion, place.pointer.render_with("$ref"), expected, &found);
        }
        Ok(Visit::Descend)
    })
}

/// A schema on the path to a reference.
struct Passed<'t, 'a> {
    /// True if a reference points back to the schema.
    is_recursive: bool,
    /// True if the schema is an optional property.
    is_optional: bool,
    is_definition: bool,
    /// Names of the required properties.
    required: Set<&'t Text<'a>>,
}
