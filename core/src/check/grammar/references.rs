//! References: how they may be written and what they point at. Every distinct reference is resolved once and has a number.
//!
//! Resolved the way the provider does it: the text is split at `/`, nothing is decoded, and only objects are gone through.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use super::{nesting::Nesting, quoted, Report, Schema};
use crate::{
    collections::Map,
    json::Node,
    rules::Constraint,
    schema::{keyword::Keyword, references},
};

const TABLE: &str = "#/$defs/";
const OLD_TABLE: &str = "#/definitions/";

pub(super) struct References<'t, 'a> {
    root: &'t Node<'a>,
    definitions: Map<Cow<'t, str>, &'t Node<'a>>,
    numbers: Map<String, usize>,
    targets: Vec<Option<&'t Node<'a>>>,
    /// What JSON Schema says references refer to, where the grammar goes by that.
    resolved: &'t references::References,
}

impl<'t, 'a> References<'t, 'a> {
    pub(super) fn new(root: &'t Node<'a>, resolved: &'t references::References) -> Self {
        let table = root.get(Keyword::Defs.name()).and_then(Node::as_object);
        let named = table.into_iter().flatten().filter_map(|member| Some((member.key.value()?, &member.value)));
        References { root, definitions: named.collect(), numbers: Map::new(), targets: Vec::new(), resolved }
    }

    /// The number of a reference.
    pub(super) fn number(&mut self, reference: &str) -> usize {
        if let Some(number) = self.numbers.get(reference) {
            return *number;
        }
        let number = self.targets.len();
        self.targets.push(self.resolve(reference));
        self.numbers.insert(reference.into(), number);
        number
    }

    /// The number of the reference that a schema holds, if it is a string.
    pub(super) fn held_by(&mut self, schema: &Node<'_>) -> Option<usize> {
        let reference = schema.get("$ref")?.as_text()?.value()?;
        Some(self.number(&reference))
    }

    /// The object that a reference points at.
    pub(super) fn target(&self, number: usize) -> Option<&'t Node<'a>> {
        self.targets.get(number).copied().flatten()
    }

    /// How many numbers were given so far.
    pub(super) fn count(&self) -> usize {
        self.targets.len()
    }

    /// Gives a number to a reference to each definition.
    pub(super) fn number_definitions(&mut self) -> Vec<usize> {
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

/// A `$ref` in a schema: its form, its target, and how deep it leads.
pub(super) fn check(
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
        if value.origin().number().and_then(|number| references.resolved.target(number)).is_none() {
            report.add(value, Constraint::RefTarget, at(), "a reference to a schema of this document", &quoted(text));
        }
        return;
    }
    if rule.to_definitions && reference.strip_prefix(OLD_TABLE).is_some_and(|name| !name.is_empty() && !name.contains('/')) {
        let known = references.root.get("definitions").and_then(|table| table.get(reference.strip_prefix(OLD_TABLE).unwrap_or_default()));
        if known.is_none() {
            report.add(value, Constraint::RefTarget, at(), "a reference to a definition that is there", &quoted(text));
        }
        return;
    }
    let name = reference.strip_prefix(TABLE);
    let is_known_form = (rule.to_root && reference == "#") || (rule.to_defs && name.is_some_and(|name| !name.is_empty()));
    if !is_known_form {
        let expected = match (rule.to_root, rule.to_defs) {
            (true, true) => "`#` or `#/$defs/` and a name",
            (true, false) => "`#`",
            (false, true) => "`#/$defs/` and a name",
            (false, false) => "no reference",
        };
        report.add(value, Constraint::RefForm, at(), expected, &quoted(text));
        return;
    }
    if name.is_some() {
        schema.not_below_braces(Keyword::Ref, value, report);
    }
    let number = references.number(&reference);
    if references.target(number).is_none() {
        report.add(value, Constraint::RefTarget, at(), "a reference to an object under the root's `$defs`", &quoted(text));
        return;
    }
    let deepest = report.deepest;
    let in_all = depth.saturating_add(nesting.depth(number, &reference, references));
    if depth <= deepest && in_all > deepest {
        let (expected, found) = (format!("`properties` nested at most {deepest} deep"), format!("{in_all} levels through this reference"));
        report.add(value, Constraint::TooDeep, at(), &expected, &found);
    }
}
