//! The parts of a tool outside its schema: the description, and the flag `strict`, which makes the API enforce the
//! schema.

use alloc::{format, string::String, vec::Vec};

use super::target::{about, reason};
use crate::{
    dialect::{lookup::has_strict_mode, Dialect},
    json::Node,
    names,
    report::{Accepts, Change, Guidance},
    request::tool_format::{pointer, ToolShape},
    rules::{Constraint, Rule},
};

/// Reports the flag `strict` if its meaning differs from its meaning in the caller's tool. A different shape alone is
/// not a change, and neither is a flag that only the new shape has.
pub(super) fn strict(
    entry: &Node<'_>,
    (shape, written): (ToolShape, ToolShape),
    sent: Option<bool>,
    dialect: &'static Dialect,
    changes: &mut Vec<Change>,
) {
    let found = shape.strict(entry);
    let stays = shape.stays(written);
    // The fallback to a dialect that is not strict was already reported.
    let is_reported = changes.iter().any(|change| change.rule == Rule::StrictFlag.id());
    let same = match (sent, found) {
        (Some(sent), Some(found)) => found.as_bool() == Some(sent),
        (Some(_), None) => !stays,
        (None, found) => found.is_none_or(|found| !stays && found.as_bool() != Some(true)),
    };
    if same || is_reported {
        return;
    }
    let from = if found.is_some() { shape.pointer_to(STRICT) } else { shape.path() };
    let (to, message) = match sent {
        Some(true) => (Some(STRICT), "set `strict` to true: the API enforces the schema".into()),
        Some(false) => (Some(STRICT), "set `strict` to false: nothing enforces the schema".into()),
        None => (None, String::from("removed `strict`, which is not sent to this API")),
    };
    let at = (pointer(&from), to.map(|key| pointer(&written.pointer_to(key))));
    let change = about(Rule::StrictFlag, at, Guidance::Same, reason(dialect, Constraint::StrictFlag), message);
    // Without the flag, the API no longer enforces the schema.
    let is_lost = found.and_then(Node::as_bool) == Some(true) && sent != Some(true);
    let accepts = if is_lost && has_strict_mode(dialect.name) { Accepts::Wider } else { Accepts::Same };
    changes.push(Change { accepts, ..change });
}

const STRICT: &str = "strict";

/// Returns the new description: `None` if it is unchanged, `Some(None)` if it is removed.
pub(super) fn description(
    entry: &Node<'_>,
    (shape, written): (ToolShape, ToolShape),
    dialect: &'static Dialect,
    changes: &mut Vec<Change>,
) -> Option<Option<String>> {
    const KEY: &str = "description";
    let surface = dialect.tools;
    let found = shape.part(entry, KEY)?;
    let from = pointer(&shape.pointer_to(KEY));
    let Some(text) = found.as_text() else {
        let message = format!("removed the description: it is not a string but {}", found.kind());
        let guidance = if found.is_null() { Guidance::Same } else { Guidance::Lost };
        changes.push(about(
            Rule::DropDescription,
            (from, None),
            guidance,
            "a description is a string wherever there is one".into(),
            message,
        ));
        return Some(None);
    };
    if text.is_empty() && surface.no_empty_description {
        let message = "removed the empty description".into();
        changes.push(about(
            Rule::DropDescription,
            (from, None),
            Guidance::Same,
            reason(dialect, Constraint::EmptyDescription),
            message,
        ));
        return Some(None);
    }
    let limit = surface.max_description?;
    let length = text.code_points().count();
    let cut = text
        .value()
        .filter(|_| length > limit)
        .map(|text| format!("{}…", names::cut(&text, limit.saturating_sub(1))))?;
    let message = format!("shortened the description from {length} to {limit} characters");
    let at = (from, Some(pointer(&written.pointer_to(KEY))));
    changes.push(about(
        Rule::CutDescription,
        at,
        Guidance::Lost,
        reason(dialect, Constraint::DescriptionLength),
        message,
    ));
    Some(Some(cut))
}
