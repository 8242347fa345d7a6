//! Splits the difference between a schema and its rewritten form into parts that can be written independently: each
//! part is the change of the schema of one value. Also finds what a fix must keep, regardless of the report: targets of
//! references, names of properties, descriptions, and schemas that accept something.
//!
//! Unions, references and some other keywords apply several schemas to one value. A schema with such a keyword is one
//! part with everything below it, because keywords may have moved between its branches. All references and definitions
//! together are one part.

use std::collections::{BTreeMap, BTreeSet};

use toolwire::{
    internal::{
        self,
        json::{self, Data, Member, Node, Object},
    },
    reports::{Change, Guidance},
    rules::Rule,
};

use crate::position::value_at;

/// Keywords that contain schemas for members or items of the value: as a map, as one schema, or as a list.
const MAPS: [&str; 3] = ["properties", DEFINITIONS[0], DEFINITIONS[1]];
const SCHEMAS: [&str; 2] = ["items", "additionalProperties"];
const LISTS: [&str; 1] = ["prefixItems"];
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];
/// Keywords from which, or to which, other keywords may move.
const MOVING: [&str; 13] = [
    REFERENCE,
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "unevaluatedProperties",
];
const REFERENCE: &str = "$ref";

/// Keywords on whose values the meaning of other keywords depends.
const BASE: [&str; 5] = ["type", "required", "$schema", "const", "enum"];

pub(super) fn is_structural(keyword: &str) -> bool {
    [&MAPS[..], &SCHEMAS, &LISTS, &MOVING, &BASE].iter().any(|keywords| keywords.contains(&keyword))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Safety {
    /// Neither the accepted arguments nor the information for the model changes.
    Safe,
    /// The schema accepts other arguments, or loses guidance.
    Unsafe,
    /// The server would have to restore the arguments, which it cannot do.
    Encoded,
}

/// Parts that have to be written together.
pub(super) struct Unit {
    pub(super) paths: BTreeSet<String>,
    pub(super) safety: Safety,
}

impl Unit {
    pub(super) fn sum(&self, numbers: &BTreeMap<&str, usize>) -> usize {
        self.paths.iter().filter_map(|path| numbers.get(path.as_str())).sum()
    }
}

/// Returns a pointer and its ancestors, the longest first.
pub(super) fn prefixes(pointer: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(pointer), |pointer| pointer.rfind('/').and_then(|end| pointer.get(..end)))
}

pub(super) struct Parts<'n, 'a> {
    before: &'n Node<'a>,
    after: &'n Node<'a>,
    parts: BTreeMap<String, Part>,
}

#[derive(Clone, Copy)]
struct Part {
    /// Everything below the pointer belongs to this part.
    is_whole: bool,
    /// The part contains a reference, or definitions that changed.
    has_reference: bool,
}

impl<'n, 'a> Parts<'n, 'a> {
    pub(super) fn of(before: &'n Node<'a>, after: &'n Node<'a>) -> Parts<'n, 'a> {
        let mut parts = Parts { before, after, parts: BTreeMap::new() };
        parts.compare(before, after, String::new());
        parts
    }

    fn compare(&mut self, before: &Node<'a>, after: &Node<'a>, path: String) {
        if json::write(before) == json::write(after) {
            return;
        }
        let (Some(before_object), Some(after_object)) = (before.as_object(), after.as_object()) else {
            self.parts
                .insert(path, Part { is_whole: true, has_reference: has_reference(before) || has_reference(after) });
            return;
        };
        let is_own = before_object.len() != after_object.len()
            || before_object
                .iter()
                .zip(after_object.iter())
                .any(|(old, new)| old.key != new.key || !differs_only_below(old, new));
        if is_own {
            let has = |keyword: &str| before_object.has(keyword) || after_object.has(keyword);
            // With another `$schema`, keywords may have other meanings everywhere below.
            let draft = |object: &Object<'_>| object.get("$schema").map(json::write);
            let is_whole = MOVING.iter().any(|keyword| has(keyword))
                || draft(before_object) != draft(after_object)
                || DEFINITIONS.iter().any(|keyword| before_object.has(*keyword) != after_object.has(*keyword));
            let has_reference = match is_whole {
                true => has_reference(before) || has_reference(after),
                false => {
                    has(REFERENCE)
                        || DEFINITIONS.iter().any(|table| names(before_object, table) != names(after_object, table))
                }
            };
            self.parts.insert(path.clone(), Part { is_whole, has_reference });
            if is_whole {
                return;
            }
        }
        for (step, before, after) in below(before_object, after_object) {
            self.compare(before, after, path.clone() + &step);
        }
    }

    pub(super) fn units(&self, changes: &[Change]) -> Vec<Unit> {
        let is_shared = |path: &str, part: &Part| {
            part.has_reference || DEFINITIONS.iter().any(|keyword| is_below(path, &format!("/{keyword}")))
        };
        let has_references = self.parts.values().any(|part| part.has_reference);
        let (shared, alone): (Vec<_>, Vec<_>) =
            self.parts.iter().partition(|(path, part)| has_references && is_shared(path, part));
        let paths =
            |parts: Vec<(&String, &Part)>| parts.into_iter().map(|(path, _)| path.clone()).collect::<Vec<String>>();
        let mut units: Vec<Unit> = paths(alone)
            .into_iter()
            .map(|path| Unit { paths: BTreeSet::from([path]), safety: Safety::Safe })
            .chain(
                (!shared.is_empty()).then(|| Unit { paths: paths(shared).into_iter().collect(), safety: Safety::Safe }),
            )
            .collect();
        let owners: BTreeMap<String, usize> = units
            .iter()
            .enumerate()
            .flat_map(|(at, unit)| unit.paths.iter().map(move |path| (path.clone(), at)))
            .collect();
        let reported: BTreeSet<&str> = changes
            .iter()
            .flat_map(|change| [Some(change.pointer.as_str()), change.output_pointer.as_deref()])
            .flatten()
            .collect();
        let (mut of_all, mut of_any) = (Safety::Safe, Safety::Safe);
        for change in changes {
            let safety = safety(change);
            of_any = of_any.max(safety);
            let pointers = [Some(change.pointer.as_str()), change.output_pointer.as_deref()];
            let mut around: Vec<&String> =
                pointers.into_iter().flatten().flat_map(|pointer| self.around(pointer, &reported)).collect();
            // The effects of a change on parts below its location are not reported separately.
            for pointer in pointers.into_iter().flatten().filter(|pointer| !pointer.is_empty()) {
                let below = self.parts.range(format!("{pointer}/")..).map(|(path, _)| path);
                around.extend(below.take_while(|path| is_below(path, pointer)));
            }
            // A value that the rewriting added is reported at the root, regardless of its position.
            if pointers.iter().all(|pointer| pointer.is_none_or(str::is_empty)) {
                around.clear();
            }
            if around.is_empty() {
                of_all = of_all.max(safety);
            }
            for unit in around.into_iter().filter_map(|path| owners.get(path)) {
                if let Some(unit) = units.get_mut(*unit) {
                    unit.safety = unit.safety.max(safety);
                }
            }
        }
        for unit in &mut units {
            // A change elsewhere in the schema may have been copied along a reference.
            let follows = unit.paths.iter().any(|path| self.parts.get(path).is_some_and(|part| part.has_reference));
            unit.safety = unit.safety.max(if follows { of_any } else { of_all });
        }
        units
    }

    /// `reported` are the pointers of all changes.
    fn around(&self, pointer: &str, reported: &BTreeSet<&str>) -> Vec<&String> {
        let part = |path| self.parts.get_key_value(path).map(|(path, _)| path);
        let mut around: Vec<&String> = prefixes(pointer).filter_map(part).collect();
        // A change that is reported at a schema may also affect the object around it, for example its `required`.
        let is_of_schema = around.first().is_some_and(|path| **path == pointer);
        let outer = around.get(1).filter(|path| is_of_schema && !self.is_reported(path, reported)).copied();
        around.truncate(1);
        around.extend(outer);
        around
    }

    /// Returns true if a change is reported for each member of a schema that differs.
    fn is_reported(&self, path: &str, reported: &BTreeSet<&str>) -> bool {
        let objects = [self.before, self.after].map(|schema| value_at(schema, path).and_then(Node::as_object));
        let [Some(one), Some(two)] = objects else { return false };
        let differs = |member: &&Member<'_>, other: &Object<'_>| {
            let other = other.iter().find(|other| other.key == member.key);
            other.is_none_or(|other| !differs_only_below(member, other))
        };
        let differing =
            one.iter().filter(|member| differs(member, two)).chain(two.iter().filter(|member| differs(member, one)));
        let mut pointers = differing.map(|member| format!("{path}{}", step(&member.key.display())));
        pointers.all(|pointer| reported.contains(pointer.as_str()))
    }

    pub(super) fn merged(&self, chosen: &BTreeSet<&str>) -> Node<'a> {
        self.merge(self.before, self.after, String::new(), chosen)
    }

    fn merge(&self, before: &Node<'a>, after: &Node<'a>, path: String, chosen: &BTreeSet<&str>) -> Node<'a> {
        let part = self.parts.get(&path);
        let is_chosen = part.is_some() && chosen.contains(path.as_str());
        let base = if is_chosen { after } else { before };
        let (Some(one), Some(two), Some(object)) = (before.as_object(), after.as_object(), base.as_object()) else {
            return base.clone();
        };
        if part.is_some_and(|part| part.is_whole) {
            return base.clone();
        }
        let mut merged: BTreeMap<String, Node<'a>> = below(one, two)
            .map(|(step, one, two)| (step.clone(), self.merge(one, two, path.clone() + &step, chosen)))
            .collect();
        let mut take = |step: String, value: &Node<'a>| merged.remove(&step).unwrap_or_else(|| value.clone());
        let members = object.iter().map(|member| {
            let key = member.key.display();
            let step = step(&key);
            let value = match (member.value.as_object(), member.value.as_array()) {
                (Some(map), _) if MAPS.contains(&&*key) => {
                    let inner = map.iter().map(|inner| Member {
                        key: inner.key.clone(),
                        value: take(format!("{step}{}", self::step(&inner.key.display())), &inner.value),
                    });
                    Node::object(Object::from_members(inner.collect()))
                }
                (_, Some(list)) if LISTS.contains(&&*key) => {
                    let inner = list.iter().enumerate().map(|(at, inner)| take(format!("{step}/{at}"), inner));
                    Node::array(inner.collect())
                }
                _ => take(step, &member.value),
            };
            Member { key: member.key.clone(), value }
        });
        Node::object(Object::from_members(members.collect()))
    }
}

fn differs_only_below(first: &Member<'_>, second: &Member<'_>) -> bool {
    let key = first.key.display();
    let names = |node: &Node<'_>| -> Option<Vec<String>> {
        Some(node.as_object()?.iter().map(|member| member.key.display().into_owned()).collect())
    };
    let count = |node: &Node<'_>| node.as_array().map(<[_]>::len);
    match &*key {
        key if MAPS.contains(&key) && names(&first.value).is_some() => names(&first.value) == names(&second.value),
        key if LISTS.contains(&key) && count(&first.value).is_some() => count(&first.value) == count(&second.value),
        key if SCHEMAS.contains(&key) && first.value.as_object().is_some() => second.value.as_object().is_some(),
        _ => json::write(&first.value) == json::write(&second.value),
    }
}

/// Returns the schemas below an object that both of its versions contain, with the pointer to each.
fn below<'n, 'a>(
    before: &'n Object<'a>,
    after: &'n Object<'a>,
) -> impl Iterator<Item = (String, &'n Node<'a>, &'n Node<'a>)> {
    let mut subschemas = Vec::new();
    for member in before.iter() {
        let key = member.key.display();
        let Some(after_value) = after.get_text(&member.key) else { continue };
        let step = step(&key);
        match (member.value.as_object(), after_value.as_object(), member.value.as_array(), after_value.as_array()) {
            (Some(before), Some(after), ..) if MAPS.contains(&&*key) => {
                let both =
                    before.iter().filter_map(|inner| Some((&inner.key, &inner.value, after.get_text(&inner.key)?)));
                subschemas.extend(
                    both.map(|(name, before, after)| (format!("{step}{}", self::step(&name.display())), before, after)),
                );
            }
            (Some(_), Some(_), ..) if SCHEMAS.contains(&&*key) => subschemas.push((step, &member.value, after_value)),
            (_, _, Some(before), Some(after)) if LISTS.contains(&&*key) && before.len() == after.len() => {
                subschemas.extend(
                    before
                        .iter()
                        .zip(after)
                        .enumerate()
                        .map(|(at, (before, after))| (format!("{step}/{at}"), before, after)),
                );
            }
            _ => {}
        }
    }
    subschemas.into_iter()
}

fn step(key: &str) -> String {
    let mut step = String::new();
    internal::push_token(&mut step, key);
    step
}

fn is_below(pointer: &str, path: &str) -> bool {
    pointer.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn has_reference(node: &Node<'_>) -> bool {
    let mut open = Vec::from([node]);
    while let Some(node) = open.pop() {
        if node.get(REFERENCE).is_some() {
            return true;
        }
        open.extend(node.as_array().into_iter().flatten());
        open.extend(node.as_object().into_iter().flat_map(|object| object.iter()).map(|member| &member.value));
    }
    false
}

fn names(schema: &Object<'_>, table: &str) -> Vec<String> {
    let table = schema.get(table).and_then(Node::as_object);
    table.into_iter().flat_map(|table| table.iter()).map(|member| member.key.display().into_owned()).collect()
}

fn safety(change: &Change) -> Safety {
    match change {
        _ if change.encoded => Safety::Encoded,
        // `nullable` is a keyword of OpenAPI, and has no meaning in JSON Schema.
        _ if change.rule == Rule::NullToNullable => Safety::Unsafe,
        // Guidance moves into descriptions, where programs that read `format` or `default` do not find it.
        _ if change.accepts == toolwire::reports::Accepts::Same && change.guidance == Guidance::Same => Safety::Safe,
        _ => Safety::Unsafe,
    }
}

/// Maximum number of descriptions that a fix may extend. Each description is searched for in all others.
const MAX_EXTENDED: usize = 100;

#[derive(Debug, Default)]
pub(super) struct Contents {
    /// Number of local references without a target.
    dangling: usize,
    /// Number of schemas that accept nothing.
    empty: usize,
    properties: BTreeSet<String>,
    descriptions: BTreeSet<String>,
}

impl Contents {
    pub(super) fn of(schema: &Node<'_>) -> Contents {
        let mut found = Contents::default();
        let mut open = Vec::from([schema]);
        while let Some(node) = open.pop() {
            match node.data() {
                Data::Array(items) => open.extend(items),
                Data::Object(_) => found.object(schema, node, &mut open),
                _ => {}
            }
        }
        found
    }

    fn object<'n, 'a>(&mut self, root: &'n Node<'a>, node: &'n Node<'a>, open: &mut Vec<&'n Node<'a>>) {
        let text = |key: &str| node.text_at(key).map(|text| text.display().into_owned());
        if text("$ref").is_some_and(|reference| reference.starts_with('#') && !has_target(root, &reference)) {
            self.dangling += 1;
        }
        let accepts_all = |schema: &Node<'_>| {
            schema.as_bool() == Some(true) || schema.as_object().is_some_and(|object| object.is_empty())
        };
        if node.get("not").is_some_and(accepts_all) {
            self.empty += 1;
        }
        self.descriptions.extend(text("description"));
        for member in node.as_object().into_iter().flat_map(|object| object.iter()) {
            if member.key.is("properties") {
                for property in member.value.as_object().into_iter().flat_map(|object| object.iter()) {
                    self.properties.insert(property.key.display().into_owned());
                    self.empty += usize::from(property.value.as_bool() == Some(false));
                }
            }
            open.push(&member.value);
        }
    }

    pub(super) fn keeps_references(&self, after: &Contents) -> bool {
        after.dangling <= self.dangling
    }

    pub(super) fn keeps_meaning(&self, after: &Contents) -> bool {
        let extended: Vec<&String> = self.descriptions.difference(&after.descriptions).take(MAX_EXTENDED + 1).collect();
        let contains = |text: &&String| after.descriptions.iter().any(|other| other.contains(text.as_str()));
        after.empty <= self.empty
            && self.properties.is_subset(&after.properties)
            && extended.len() <= MAX_EXTENDED
            && extended.iter().all(contains)
    }
}

/// Anchors are treated as targets, because no fix changes them.
fn has_target(root: &Node<'_>, reference: &str) -> bool {
    let pointer = reference.trim_start_matches('#');
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return true;
    }
    value_at(root, pointer).is_some()
        || internal::percent_decoded(pointer).is_some_and(|name| value_at(root, &name).is_some())
}
