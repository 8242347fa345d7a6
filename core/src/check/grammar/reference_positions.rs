//! Checks references in context: their locations, the keywords next to them given their target, and the end of
//! recursion through them.
//!
//! The provider looks for references in the values of every key, even if they are not schemas. So this check walks over
//! plain JSON: objects, and lists only under `anyOf`. In any object, the key `$ref` is a reference.
//!
//! In the provider's interpretation, a schema terminates if a required property or a branch terminates. An object
//! without required properties terminates. A non-empty schema without a type does not terminate. An array does not
//! terminate if its items do not.

use alloc::{format, string::String, vec, vec::Vec};

use super::{keywords::is_annotation, quoted, references::References, Report};
use crate::{
    collections::{Map, Set},
    dialect::grammar::{Grammar, Recursion},
    json::{Node, Pointer, Step, Text},
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

pub(super) fn check<'a>(root: &Node<'a>, references: &mut References<'_, 'a>, report: &mut Report<'_>) {
    let Some(allowed_keywords) = report.grammar.refs.only_under else { return };
    // The root and every reference must have a number before termination is computed.
    let root_number = references.number("#");
    if !collect(root, references) {
        return;
    }
    let can_end = references_that_end(references);
    let root_ends = can_end.get(root_number).copied().unwrap_or_default();
    let mut search = ReferenceSearch {
        allowed_keywords,
        references,
        can_end: &can_end,
        chain_ends: ChainEnds::default(),
        targets: Map::new(),
        pointer: Pointer::root(),
        report,
    };
    search.visit_object(root, Position { kind: ObjectKind::Schema, key: None, is_allowed: true, must_end: !root_ends });
}

/// Assigns a number to every reference. Returns true if any reference exists, even a malformed one.
fn collect(value: &Node<'_>, references: &mut References<'_, '_>) -> bool {
    let mut has_reference = false;
    for member in value.as_object().into_iter().flatten() {
        if member.key.is(Keyword::Ref) {
            references.number_of(value);
            has_reference = true;
        }
        match member.value.as_array() {
            Some(items) if member.key.is(Keyword::AnyOf) => {
                items.iter().for_each(|item| has_reference |= collect(item, references))
            }
            Some(_) => {}
            None if member.value.is_container() => has_reference |= collect(&member.value, references),
            None => {}
        }
    }
    has_reference
}

/// Other checks report faults in the `$ref` of a schema and in the names of properties, so this check does not report
/// these faults again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ObjectKind {
    Schema,
    Properties,
    Other,
}

#[derive(Clone, Copy)]
struct Position {
    kind: ObjectKind,
    /// Keyword that equals the key of this object.
    key: Option<Keyword>,
    /// True if a reference is allowed here.
    is_allowed: bool,
    /// True if a reference here must terminate.
    must_end: bool,
}

struct ReferenceSearch<'s, 'g, 't, 'a> {
    allowed_keywords: Keywords,
    references: &'s mut References<'t, 'a>,
    can_end: &'s [bool],
    chain_ends: ChainEnds,
    /// Keys of the targets of references with siblings.
    targets: Map<usize, TargetKeys<'t, 'a>>,
    pointer: Pointer<'a>,
    report: &'s mut Report<'g>,
}

#[derive(Default)]
struct TargetKeys<'t, 'a> {
    itself: Set<&'t Text<'a>>,
    in_branches: Set<&'t Text<'a>>,
}

impl<'a> ReferenceSearch<'_, '_, '_, 'a> {
    fn visit_object(&mut self, value: &Node<'a>, position: Position) {
        let Some(object) = value.as_object() else { return };
        if position.kind != ObjectKind::Properties && object.has(Keyword::Ref) {
            self.check_reference(value, position);
        }
        let has_empty_required = object.get(Keyword::Required).and_then(Node::as_array).is_some_and(<[_]>::is_empty);
        for member in object {
            let key = Keyword::named(&member.key);
            if key.is_some_and(|key| self.report.grammar.refs.unjudged_under.contains(key)) {
                continue;
            }
            self.pointer.push(Step::Member(member.key.clone()));
            match member.value.as_array() {
                None => self.visit_object(
                    &member.value,
                    position.child(key, has_empty_required, self.allowed_keywords, self.pointer.steps().len()),
                ),
                Some(branches) if key == Some(Keyword::AnyOf) => {
                    let kind = if position.kind == ObjectKind::Schema { ObjectKind::Schema } else { ObjectKind::Other };
                    for (index, branch) in branches.iter().enumerate() {
                        self.pointer.push(Step::Index(index));
                        let is_allowed = self.allowed_keywords.contains(Keyword::AnyOf);
                        self.visit_object(
                            branch,
                            Position { kind, key: None, is_allowed, must_end: position.must_end },
                        );
                        self.pointer.pop();
                    }
                }
                Some(_) => {}
            }
            self.pointer.pop();
        }
    }

    fn check_reference(&mut self, value: &Node<'a>, position: Position) {
        let Some(reference) = value.get(Keyword::Ref) else { return };
        if !position.is_allowed {
            let expected = "references only as properties, items, additional properties and branches of `anyOf`";
            self.report.add(reference, Constraint::RefPlace, self.at_ref(), expected, "one elsewhere");
            return;
        }
        let number = self.references.number_of(value).filter(|number| self.references.target(*number).is_some());
        let Some(number) = number else {
            // Another check reports unresolved references of schemas.
            if position.kind != ObjectKind::Schema {
                let pointer = self.at_ref();
                match reference.as_text() {
                    Some(text) => self.report.add(
                        reference,
                        Constraint::RefTarget,
                        pointer,
                        "a reference that resolves",
                        &quoted(text),
                    ),
                    None => self.report.add(reference, Constraint::RefNotString, pointer, "a string", reference.kind()),
                }
            }
            return;
        };
        let end = self.chain_ends.of(number, self.references, self.report.grammar);
        if let Some(last) = end.last {
            self.check_siblings(value, last, position.kind);
        }
        let is_something = |last| {
            // An empty schema terminates. If annotations of the chain are merged into it, it is no longer empty;
            // without a type, it then does not terminate.
            let is_empty =
                self.references.target(last).and_then(Node::as_object).is_some_and(|object| object.is_empty());
            !(is_empty && end.is_annotated)
        };
        let can_end =
            end.last.is_some_and(|last| is_something(last) && self.can_end.get(last).copied().unwrap_or_default());
        if position.must_end && self.report.grammar.refs.recursion == Recursion::MustEnd && !can_end {
            let expected = "recursion that can end: an optional property, or a branch without recursion";
            self.report.add(reference, Constraint::EndlessRecursion, self.at_ref(), expected, "none");
        }
    }

    fn check_siblings(&mut self, value: &Node<'a>, target: usize, kind: ObjectKind) {
        let grammar = self.report.grammar;
        let Some(object) = value.as_object().filter(|object| object.len() > 1) else { return };
        let references = &*self.references;
        let keys =
            self.targets.entry(target).or_insert_with(|| references.target(target).map(keys_of).unwrap_or_default());
        let has_key = |keyword| keys.itself.contains(&Text::literal(keyword));
        for member in
            object.iter().filter(|member| !member.key.is(Keyword::Ref) && !is_annotation(&member.key, grammar))
        {
            let (is_type, is_any_of) = (member.key.is(Keyword::Type), member.key.is(Keyword::AnyOf));
            if grammar.refs.no_type_beside {
                if is_type && kind == ObjectKind::Schema {
                    // Another check reports `type` next to a reference.
                    continue;
                }
                if (is_any_of && has_key("type")) || (is_type && has_key("anyOf")) {
                    let (expected, found) = ("no reference with a type on one side and `anyOf` on the other", "one");
                    self.report.add(
                        &member.value,
                        Constraint::RefAnyOf,
                        self.pointer.render_with(&member.key.display()),
                        expected,
                        found,
                    );
                }
            }
            let in_branches = !is_any_of && keys.in_branches.contains(&member.key);
            if grammar.refs.no_shared_keywords && (keys.itself.contains(&member.key) || in_branches) {
                let name = member.key.display();
                let (expected, found) =
                    ("a keyword either next to `$ref` or in its target", format!("`{name}` in both"));
                self.report.add(
                    &member.value,
                    Constraint::RefShared,
                    self.pointer.render_with(&name),
                    expected,
                    &found,
                );
            }
        }
    }

    fn at_ref(&self) -> String {
        self.pointer.render_with("$ref")
    }
}

impl Position {
    /// Returns the position of a member's value. `levels` is its distance from the root.
    fn child(
        self,
        key: Option<Keyword>,
        has_empty_required: bool,
        allowed_keywords: Keywords,
        levels: usize,
    ) -> Position {
        let kind = match (self.kind, key) {
            (ObjectKind::Properties, _) => ObjectKind::Schema,
            (ObjectKind::Schema, Some(Keyword::Properties)) => ObjectKind::Properties,
            (ObjectKind::Schema, Some(Keyword::Items | Keyword::AdditionalProperties)) => ObjectKind::Schema,
            _ => ObjectKind::Other,
        };
        let is_property = self.key == Some(Keyword::Properties) && allowed_keywords.contains(Keyword::Properties);
        let is_allowed_by_key = key.is_some_and(|key| key != Keyword::Properties && allowed_keywords.contains(key));
        // `additionalProperties` terminates recursion, and so do the properties of an object whose `required` is empty.
        let ends_recursion = match key {
            Some(Keyword::AdditionalProperties) => true,
            Some(Keyword::Properties) => has_empty_required,
            _ => false,
        };
        Position {
            kind,
            key,
            is_allowed: is_property || is_allowed_by_key || levels == 1,
            must_end: self.must_end && !ends_recursion,
        }
    }
}

fn keys_of<'t, 'a>(target: &'t Node<'a>) -> TargetKeys<'t, 'a> {
    let branches = target.get(Keyword::AnyOf).and_then(Node::as_array).unwrap_or_default();
    TargetKeys {
        itself: target.as_object().into_iter().flatten().map(|member| &member.key).collect(),
        in_branches: branches.iter().filter_map(Node::as_object).flatten().map(|member| &member.key).collect(),
    }
}

/// States if a schema terminates, and through which references it can continue.
struct Continuations {
    /// True if the schema terminates, or points to a schema that terminates without passing through a reference.
    ends: bool,
    references: Vec<usize>,
}

fn continuations(schema: &Node<'_>, references: &mut References<'_, '_>) -> Continuations {
    let mut continuations = Continuations { ends: false, references: Vec::new() };
    let mut pending = vec![schema];
    while let Some(schema) = pending.pop() {
        if ends_by_itself(schema, &mut pending) {
            continuations.ends = true;
            break;
        }
        continuations.references.extend(references.number_of(schema));
    }
    continuations
}

/// Returns true if a schema terminates by itself. If not, its continuations are pushed to `open`.
fn ends_by_itself<'t, 'a>(schema: &'t Node<'a>, pending: &mut Vec<&'t Node<'a>>) -> bool {
    let Some(object) = schema.as_object() else { return false };
    let is_container = |value: &Node<'_>| value.is_text("object") || value.is_text("array");
    let container = match object.get(Keyword::Type) {
        // Another check reports an unknown type.
        Some(value) => match value.as_array() {
            Some(list) if !list.iter().all(is_container) => return true,
            Some(list) => list.last(),
            None if value.as_text().is_some() && !is_container(value) => return true,
            None => Some(value),
        },
        None => None,
    };
    if container.is_some_and(|value| value.is_text("array")) {
        match object.get(Keyword::Items) {
            None => return true,
            Some(items) if items.is_null() => return true,
            Some(items) => pending.push(items),
        }
    }
    if container.is_some_and(|value| value.is_text("object")) {
        let required = object.get(Keyword::Required).and_then(Node::as_array).unwrap_or_default();
        let properties = object.get(Keyword::Properties).and_then(Node::as_object).filter(|table| !table.is_empty());
        let Some(properties) = properties.filter(|_| !required.is_empty()) else { return true };
        let names: Set<&Text<'_>> = required.iter().filter_map(Node::as_text).collect();
        pending.extend(properties.iter().filter(|member| names.contains(&member.key)).map(|member| &member.value));
    }
    match object.get(Keyword::AnyOf).and_then(Node::as_array) {
        Some([]) => return true,
        Some(branches) => pending.extend(branches),
        None => {}
    }
    object.is_empty()
}

/// Returns true for every reference that terminates.
fn references_that_end(references: &mut References<'_, '_>) -> Vec<bool> {
    let mut targets_by_reference = Vec::new();
    let mut pending = Vec::new();
    // Visiting a target may discover new references, which get the next numbers.
    while targets_by_reference.len() < references.count() {
        let continuation =
            references.target(targets_by_reference.len()).map(|target| continuations(target, references));
        if continuation.as_ref().is_some_and(|continuations| continuations.ends) {
            pending.push(targets_by_reference.len());
        }
        targets_by_reference.push(continuation.map(|continuations| continuations.references).unwrap_or_default());
    }
    let mut sources_by_target: Vec<Vec<usize>> = vec![Vec::new(); targets_by_reference.len()];
    for (number, targets) in targets_by_reference.iter().enumerate() {
        for target in targets {
            if let Some(list) = sources_by_target.get_mut(*target) {
                list.push(number);
            }
        }
    }
    let mut can_end = vec![false; targets_by_reference.len()];
    while let Some(number) = pending.pop() {
        match can_end.get_mut(number) {
            Some(known) if !*known => *known = true,
            _ => continue,
        }
        pending.extend(sources_by_target.get(number).into_iter().flatten());
    }
    can_end
}

/// The end of a chain of bare references.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChainEnd {
    /// Last reference of the chain; `None` if the chain is cyclic or points to no schema.
    pub(super) last: Option<usize>,
    /// True if a schema of the chain has annotations, which the result inherits.
    is_annotated: bool,
}

/// The ends of chains of bare references. Each chain is followed only once.
#[derive(Default)]
struct ChainEnds {
    known: Vec<Option<ChainEnd>>,
}

impl ChainEnds {
    /// Returns the end of a chain. It follows references to schemas that only contain a reference and annotations.
    pub(super) fn of(&mut self, number: usize, references: &mut References<'_, '_>, grammar: &Grammar) -> ChainEnd {
        let mut chain: Vec<(usize, bool)> = Vec::new();
        let mut seen = Set::new();
        let mut current = number;
        let mut end = loop {
            if let Some(Some(known)) = self.known.get(current) {
                break *known;
            }
            if !seen.insert(current) {
                break ChainEnd { last: None, is_annotated: false };
            }
            let Some(object) = references.target(current).and_then(Node::as_object) else {
                break ChainEnd { last: None, is_annotated: false };
            };
            let others = object.iter().filter(|member| !member.key.is(Keyword::Ref));
            let is_bare = object.has(Keyword::Ref) && others.clone().all(|member| is_annotation(&member.key, grammar));
            if !is_bare {
                break ChainEnd { last: Some(current), is_annotated: false };
            }
            chain.push((current, others.count() > 0));
            match references.target(current).and_then(|target| references.number_of(target)) {
                Some(next) => current = next,
                None => break ChainEnd { last: None, is_annotated: false },
            }
        };
        self.keep(current, end);
        for (number, is_annotated) in chain.into_iter().rev() {
            end.is_annotated |= is_annotated;
            self.keep(number, end);
        }
        end
    }

    fn keep(&mut self, number: usize, chain_end: ChainEnd) {
        if self.known.len() <= number {
            self.known.resize(number + 1, None);
        }
        if let Some(entry) = self.known.get_mut(number) {
            *entry = Some(chain_end);
        }
    }
}
