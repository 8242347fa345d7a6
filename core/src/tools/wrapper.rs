//! What stands around a schema in a tool: the description, and the flag that says whether the schema is enforced.

use alloc::{format, string::String, vec::Vec};

use super::target::{about, reason};
use crate::{
    dialect::{lookup::has_strict_mode, Dialect},
    json::Node,
    names,
    report::{Accepts, Change, Guidance},
    request::tool_format::{pointer, Shape},
    rules::{Constraint, Rule},
};

/// Reports the flag `strict` where it will say something else than the caller's tool did. That a tool has another shape
/// is no change, and what a shape without the flag left unsaid is a part of the new one.
pub(super) fn strict(
    entry: &Node<'_>,
    (shape, written): (Shape, Shape),
    sent: Option<bool>,
    dialect: &'static Dialect,
    changes: &mut Vec<Change>,
) {
    let found = shape.strict(entry);
    let stays = shape.stays(written);
    // A tool that is sent not strict, because a strict dialect cannot take it, was told of already.
    let is_told = changes.iter().any(|change| change.rule == Rule::StrictFlag.id());
    let same = match (sent, found) {
        (Some(sent), Some(found)) => found.as_bool() == Some(sent),
        (Some(_), None) => !stays,
        (None, found) => found.is_none_or(|found| !stays && found.as_bool() != Some(true)),
    };
    if same || is_told {
        return;
    }
    let from = if found.is_some() { shape.pointer_to(STRICT) } else { shape.path() };
    let (to, message) = match sent {
        Some(true) => (Some(STRICT), "set `strict` to true: the API holds the model to the schema".into()),
        Some(false) => (Some(STRICT), "set `strict` to false: nothing enforces the schema".into()),
        None => (None, String::from("removed `strict`: it is not sent to this API")),
    };
    let at = (pointer(&from), to.map(|key| pointer(&written.pointer_to(key))));
    let change = about(Rule::StrictFlag, at, Guidance::Same, reason(dialect, Constraint::StrictFlag), message);
    // Without the flag, nothing enforces what the API would have enforced.
    let is_lost = found.and_then(Node::as_bool) == Some(true) && sent != Some(true);
    let accepts = if is_lost && has_strict_mode(dialect.name) { Accepts::Wider } else { Accepts::Same };
    changes.push(Change { accepts, ..change });
}

const STRICT: &str = "strict";

/// What becomes of the description; `None`: it stays.
pub(super) fn description(
    entry: &Node<'_>,
    (shape, written): (Shape, Shape),
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
    let most = surface.description_most?;
    let length = text.code_points().count();
    let cut =
        text.value().filter(|_| length > most).map(|text| format!("{}…", names::cut(&text, most.saturating_sub(1))))?;
    let message = format!("shortened the description from {length} to {most} characters");
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
