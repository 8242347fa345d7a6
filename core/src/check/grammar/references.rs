//! Checks a `$ref`: its form, its target, and the depth to which it leads.

use alloc::format;

use super::{
    nesting::Nesting,
    quoted,
    reference_table::{References, TABLE},
    Report, Schema,
};
use crate::{json::Node, rules::Constraint, schema::keyword::Keyword};

const OLD_TABLE: &str = "#/definitions/";

/// Checks the `$ref` of a schema.
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
        if rule.plain_pointers && !is_plain_pointer(&reference) {
            let expected = "`#/` and names that need no escapes";
            report.add(value, Constraint::RefForm, at(), expected, &quoted(text));
            return;
        }
        if references.resolved.target(value).is_none() {
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
    if references.target(number).is_none() && !name.is_some_and(|name| references.leads_elsewhere(name, rule)) {
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

/// Returns true if a pointer into the document is the same with and without decoding of escapes.
fn is_plain_pointer(reference: &str) -> bool {
    reference.starts_with("#/") && !reference.contains(['~', '%'])
}
