//! The parts of a schema that a fix must keep, whatever the report of the rewriting contains: targets of references,
//! names of properties, descriptions, and schemas that accept something.

use std::collections::BTreeSet;

use toolwire::{
    internal,
    json::{Data, Node},
};

use crate::places::value_at;

/// Maximum number of descriptions that a fix may extend. Each one is searched for in all others.
const MAX_EXTENDED: usize = 100;

/// Contents of a schema that a fix has to preserve.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// Number of local references without a target.
    dangling: usize,
    /// Number of schemas that accept nothing.
    empty: usize,
    /// Names of properties.
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
        if text("$ref").is_some_and(|reference| reference.starts_with('#') && !resolves(root, &reference)) {
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

    /// Returns true if every reference that has a target in this schema still has one.
    pub(super) fn keeps_references(&self, after: &Contents) -> bool {
        after.dangling <= self.dangling
    }

    /// Returns true if the fixed schema still declares every property, contains every description, and accepts
    /// something wherever this one does.
    pub(super) fn keeps_meaning(&self, after: &Contents) -> bool {
        let extended: Vec<&String> = self.descriptions.difference(&after.descriptions).take(MAX_EXTENDED + 1).collect();
        let contains = |text: &&String| after.descriptions.iter().any(|other| other.contains(text.as_str()));
        after.empty <= self.empty
            && self.properties.is_subset(&after.properties)
            && extended.len() <= MAX_EXTENDED
            && extended.iter().all(contains)
    }
}

/// Returns true if a local reference has a target. Anchors count as targets, because no fix changes them.
fn resolves(root: &Node<'_>, reference: &str) -> bool {
    let pointer = reference.trim_start_matches('#');
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return true;
    }
    value_at(root, pointer).is_some()
        || internal::percent_decoded(pointer).is_some_and(|name| value_at(root, &name).is_some())
}
