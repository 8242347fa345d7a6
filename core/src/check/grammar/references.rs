//! Checks `$ref` and `$defs`: the form of references, their targets, the depth that they reach, and recursion.
//!
//! Every distinct reference is resolved once, and has a number.
//!
//! References are resolved as the provider resolves them: the text is split at `/`, nothing is decoded, and the path
//! passes through objects only.
//!
//! The provider defines the depth: it counts levels through `properties`, `additionalProperties` and `anyOf` but not
//! `items`, along a chain of references. Each reference occurs once in the chain. In a dense graph of references, the
//! longest chain is expensive to find, so the search has a budget. If the budget is spent, an upper bound is used.

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
        let definition = references
            .root
            .get(Keyword::Definitions)
            .and_then(|table| table.get(reference.strip_prefix(OLD_TABLE).unwrap_or_default()));
        if definition.is_none() {
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
    let deepest = report.max_depth;
    let total_depth = depth.saturating_add(nesting.depth(number, &reference, references));
    if depth <= deepest && total_depth > deepest {
        let (expected, found) = (
            format!("`properties` nested at most {deepest} levels deep"),
            format!("{total_depth} levels through this reference"),
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
        let is_accepted =
            |target: &&Node<'_>| target.as_object().is_some() || (rule.to_true && target.as_bool() == Some(true));
        let unescaped = || Some(unescaped_token(&percent_decoded(name)?).into_owned());
        let exists = |name: &str| self.definitions.get(name).is_some_and(is_accepted);
        exists(name) || (rule.escapes && !name.contains('/') && unescaped().is_some_and(|name| exists(&name)))
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
const MAX_REPEATED_VISITS: usize = 20_000;

pub(super) struct Nesting {
    /// Contents of the target of each reference, computed when first needed.
    contents: Vec<Option<TargetContents>>,
    /// Depths that do not depend on the path, because no cycle is involved.
    known_depths: Vec<Option<usize>>,
    /// Depth of each reference as the start of a chain.
    depths: Vec<Option<usize>>,
    /// References that are followed from any definition.
    followed: Option<Set<usize>>,
    visited: Set<usize>,
    steps: usize,
    /// Number of references that are included in the upper bound, and the sum of their depths.
    total: (usize, usize),
}

impl Default for Nesting {
    fn default() -> Self {
        Nesting {
            contents: Vec::new(),
            known_depths: Vec::new(),
            depths: Vec::new(),
            followed: None,
            visited: Set::new(),
            steps: MAX_REPEATED_VISITS,
            total: (0, 0),
        }
    }
}

#[derive(Clone, Default)]
struct TargetContents {
    /// Maximum depth without following references.
    deepest: usize,
    /// References in the target, with their depths.
    references: Vec<(usize, usize)>,
}

struct Frame {
    number: usize,
    /// Depth of the reference in the previous target.
    reference_depth: usize,
    next: usize,
    deepest: usize,
    /// True if a reference in the target points back into the current chain.
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
        // A definition is measured without a reference to it, so the chain may contain that reference once more.
        let chain = if is_measured { Set::new() } else { Set::from([number]) };
        let depth = self.search(number, chain, references).unwrap_or_else(|| self.upper_bound(number, references));
        set_at(&mut self.depths, number, depth);
        depth
    }

    fn contents(&mut self, number: usize, references: &mut References<'_, '_>) -> &TargetContents {
        if self.contents.get(number).is_none_or(Option::is_none) {
            let contents =
                references.target(number).map(|target| measure_contents(target, references)).unwrap_or_default();
            set_at(&mut self.contents, number, contents);
        }
        const NOTHING: &TargetContents = &TargetContents { deepest: 0, references: Vec::new() };
        self.contents.get(number).and_then(Option::as_ref).unwrap_or(NOTHING)
    }

    /// Returns the depth of the longest chain that starts at a reference and contains no reference in `chain`;
    /// `None` if the budget does not suffice.
    fn search(&mut self, start: usize, mut chain: Set<usize>, references: &mut References<'_, '_>) -> Option<usize> {
        if let Some(Some(depth)) = self.known_depths.get(start) {
            return Some(*depth);
        }
        let mut frames = vec![Frame {
            number: start,
            reference_depth: 0,
            next: 0,
            deepest: self.contents(start, references).deepest,
            is_cut: false,
        }];
        while let Some(frame) = frames.last_mut() {
            let edge = self.contents(frame.number, references).references.get(frame.next).copied();
            frame.next += 1;
            if let Some((number, reference_depth)) = edge {
                if let Some(Some(depth)) = self.known_depths.get(number) {
                    frame.deepest = frame.deepest.max(reference_depth.saturating_add(*depth));
                } else if chain.contains(&number) {
                    frame.is_cut = true;
                } else {
                    if !self.visited.insert(number) {
                        self.steps = self.steps.checked_sub(1)?;
                    }
                    let deepest = self.contents(number, references).deepest;
                    chain.insert(number);
                    frames.push(Frame { number, reference_depth, next: 0, deepest, is_cut: false });
                }
                continue;
            }
            let finished = frames.pop()?;
            if !finished.is_cut {
                set_at(&mut self.known_depths, finished.number, finished.deepest);
            }
            let Some(parent) = frames.last_mut() else { return Some(finished.deepest) };
            chain.remove(&finished.number);
            parent.is_cut |= finished.is_cut;
            parent.deepest = parent.deepest.max(finished.reference_depth.saturating_add(finished.deepest));
        }
        None
    }

    /// Returns an upper bound: the depth of a chain that contains each reference once, and the first reference twice.
    fn upper_bound(&mut self, start: usize, references: &mut References<'_, '_>) -> usize {
        // Measuring a reference may discover other references.
        let mut next = self.total.0;
        while next < references.count() {
            self.total.1 = self.total.1.saturating_add(self.contents(next, references).deepest);
            next += 1;
        }
        self.total.0 = next;
        self.total.1.saturating_add(self.contents(start, references).deepest)
    }

    fn followed(&mut self, references: &mut References<'_, '_>) -> &Set<usize> {
        if self.followed.is_none() {
            let mut followed = Set::new();
            let mut pending = references.number_definitions();
            let mut seen: Set<usize> = pending.iter().copied().collect();
            while let Some(number) = pending.pop() {
                for (target, _) in self.contents(number, references).references.clone() {
                    followed.insert(target);
                    if seen.insert(target) {
                        pending.push(target);
                    }
                }
            }
            self.followed = Some(followed);
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

fn measure_contents(target: &Node<'_>, references: &mut References<'_, '_>) -> TargetContents {
    let mut contents = TargetContents::default();
    let mut pending = vec![(target, 0_usize)];
    while let Some((schema, depth)) = pending.pop() {
        contents.deepest = contents.deepest.max(depth);
        contents.references.extend(references.number_of(schema).map(|number| (number, depth)));
        if let Some(table) = schema.get(Keyword::Properties).and_then(Node::as_object) {
            contents.deepest = contents.deepest.max(depth + 1);
            pending.extend(table.iter().map(|member| (&member.value, depth + 1)));
        }
        pending.extend(schema.get(Keyword::AdditionalProperties).map(|schema| (schema, depth)));
        pending.extend(
            schema
                .get(Keyword::AnyOf)
                .and_then(Node::as_array)
                .unwrap_or_default()
                .iter()
                .map(|branch| (branch, depth)),
        );
    }
    contents
}

fn set_at<T: Clone>(list: &mut Vec<Option<T>>, number: usize, value: T) {
    if list.len() <= number {
        list.resize(number + 1, None);
    }
    if let Some(entry) = list.get_mut(number) {
        *entry = Some(value);
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
            report_slashes(&member.value, &mut inside, report);
        }
    }
}

/// Reports slashes in keys of objects, of nested objects, and of objects in lists, even if they are not schemas.
fn report_slashes<'a>(value: &Node<'a>, pointer: &mut Pointer<'a>, report: &mut Report<'_>) {
    for member in value.as_object().into_iter().flatten() {
        pointer.push(Step::Member(member.key.clone()));
        if member.key.display().contains('/') {
            let (expected, found) = ("no `/` in any key inside a definition", quoted(&member.key));
            report.add(&member.value, Constraint::SlashInDefinition, pointer.render(), expected, &found);
        }
        match member.value.data() {
            Data::Object(_) => report_slashes(&member.value, pointer, report),
            // Lists within lists are not searched.
            Data::Array(items) => {
                for (index, item) in items.iter().enumerate().filter(|(_, item)| item.as_object().is_some()) {
                    pointer.push(Step::Index(index));
                    report_slashes(item, pointer, report);
                    pointer.pop();
                }
            }
            _ => {}
        }
        pointer.pop();
    }
}

/// Reports schemas that apply to themselves at one instance location. Only the keywords that the API reads are
/// followed.
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
    cycles::walk(root, references, budget, &mut |node, path, part| {
        if let Some(reference) =
            node.get(Keyword::Ref).filter(|_| cycles.role(next, 0).is_some() && !cycles.is_unused(next))
        {
            let found = reference.as_text().map(quoted).unwrap_or_default();
            let expected = "a schema that does not apply to the same value endlessly";
            let pointer = format!("{}{}", part.pointer, path.pointer.render_with("$ref"));
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
    // If the grammar refuses all references, another check reports each reference.
    if references.is_empty()
        || matches!(rule, Recursion::Free | Recursion::MustEnd)
        || report.grammar.refuses.contains(Keyword::Ref)
    {
        return Ok(());
    }
    let graph = Graph::of(root, references, budget)?;
    let recursive: Set<_> = graph.target_numbers().filter(|target| graph.is_recursive(*target)).collect();
    if recursive.is_empty() {
        return Ok(());
    }
    // The schemas that enclose the current schema.
    let mut enclosing: Vec<EnclosingSchema<'_, '_>> = Vec::new();
    visit::walk(budget, root, Keywords::ALL, &mut |node, path| {
        enclosing.truncate(path.depth);
        let is_optional = match (path.keyword, path.pointer.steps().last(), enclosing.last()) {
            (Some(Keyword::Properties), Some(Step::Member(name)), Some(outer)) => !outer.required.contains(name),
            _ => false,
        };
        enclosing.push(EnclosingSchema {
            is_recursive: references.number_at(node, path).is_some_and(|target| recursive.contains(&target)),
            is_optional,
            is_definition: matches!(path.keyword, Some(Keyword::Defs | Keyword::Definitions)),
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
        // A reference outside of the cycle may point into it, but is not part of the recursion.
        let is_outside_cycle = !enclosing.iter().any(|schema| schema.is_recursive);
        let index_after_definition = enclosing.iter().rposition(|schema| schema.is_definition).map_or(0, |at| at + 1);
        let is_optional = enclosing.iter().skip(index_after_definition).any(|schema| schema.is_optional);
        let is_accepted = rule == Recursion::OnlyOptional && (is_outside_cycle || is_optional);
        if let Some(reference) = node.get(Keyword::Ref).filter(|_| !is_accepted) {
            let found = reference.as_text().map(quoted).unwrap_or_default();
            let expected = match rule {
                Recursion::OnlyOptional => "recursion only through properties that are not required",
                _ => "no recursion",
            };
            report.add(reference, Constraint::Recursion, path.pointer.render_with("$ref"), expected, &found);
        }
        Ok(Visit::Descend)
    })
}

/// A schema on the path to a reference.
struct EnclosingSchema<'t, 'a> {
    /// True if a reference points back to the schema.
    is_recursive: bool,
    /// True if the schema is an optional property.
    is_optional: bool,
    is_definition: bool,
    /// Names of the required properties.
    required: Set<&'t Text<'a>>,
}
