//! The dialects `codex` and `codex-wire`: the changes that OpenAI Codex makes to a tool's schema, step by step.
//!
//! Source: openai/codex, `codex-rs/tools/src/json_schema.rs` as of late 2026. This is an emulation: it loses what Codex
//! loses, and reports it. Two deviations keep it idempotent: a modelled keyword with the value null is removed before
//! types are inferred, and pruning runs once more after [`sanitizer::reduce`].
//!
//! Also Codex's typed model of a schema (the type names and keywords that it supports, and the keywords that it
//! searches for subschemas), and reports of Codex's changes. Pointers into input and output are equal, because Codex
//! moves nothing.

mod compact;
mod sanitizer;

use alloc::string::String;

use crate::{
    budget::Budget,
    collections::Set,
    dialect::codex,
    effect::{Accepts, Guidance},
    error::Error,
    json::{Node, Pointer, Text},
    report::{Change, Recorder},
    rules::Rule,
    schema::{
        keyword::{Keyword, Keywords},
        visit::{self, Polarity, SchemaPath, Visit},
    },
};

/// Changes that Codex makes before it sends a request, in addition to repairs.
pub(crate) struct Wire {
    /// Size in bytes above which a schema is compacted.
    pub(crate) max_bytes: Option<usize>,
}

/// Applies Codex's sanitizer, and with `wire` also the changes before a request.
pub(crate) fn sanitize(
    node: &mut Node<'_>,
    wire: Option<&Wire>,
    recorder: &mut Recorder,
    budget: &Budget,
) -> Result<(), Error> {
    let mut diagnostics = Diagnostics::new(node, wire.is_some(), recorder, budget)?;
    sanitizer::repair(node, &mut diagnostics)?;
    if let Some(wire) = wire {
        compact::prune(node, &mut diagnostics);
        sanitizer::reduce(node, &mut diagnostics)?;
        if let Some(max_bytes) = wire.max_bytes {
            compact::compact(node, max_bytes, &mut diagnostics)?;
        }
        // The second pruning runs last, because Codex also measures definitions that only a dropped keyword reached.
        compact::prune(node, &mut diagnostics);
    }
    Ok(())
}

/// Type names that Codex accepts, in exactly this spelling.
pub(crate) const TYPES: [&str; 7] = ["string", "number", "boolean", "integer", "object", "array", "null"];

/// Keywords that survive at every level.
const MODELLED_KEYWORDS: [&str; 15] = [
    "$ref",
    "type",
    "description",
    "encrypted",
    "enum",
    "items",
    "minItems",
    "properties",
    "required",
    "additionalProperties",
    "anyOf",
    "oneOf",
    "allOf",
    "$defs",
    "definitions",
];

pub(crate) fn modelled_keyword(key: &Text<'_>) -> Option<&'static str> {
    MODELLED_KEYWORDS.iter().find(|name| key.has_value(name)).copied()
}

pub(crate) const APPLICATORS: Keywords = Keywords::of(&[
    Keyword::Properties,
    Keyword::Items,
    Keyword::AdditionalProperties,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::AllOf,
    Keyword::Defs,
    Keyword::Definitions,
]);

pub(crate) enum Remainder {
    Keyword(&'static str),
    Here,
    Nothing,
}

pub(crate) struct ChangeKind {
    pub(crate) rule: Rule,
    pub(crate) accepts: Accepts,
    pub(crate) guidance: Guidance,
    pub(crate) remainder: Remainder,
}

pub(crate) struct Diagnostics<'r> {
    pub(crate) budget: &'r Budget,
    recorder: &'r mut Recorder,
    /// True if effects at definitions may not carry over to the root, so every effect but `same` is uncertain.
    has_uncertain_effects: bool,
}

impl<'r> Diagnostics<'r> {
    pub(crate) fn new(
        root: &Node<'_>,
        wire: bool,
        recorder: &'r mut Recorder,
        budget: &'r Budget,
    ) -> Result<Self, Error> {
        let has_uncertain_effects = recorder.is_on() && has_uncertain_effects(root, wire, budget)?;
        Ok(Diagnostics { budget, recorder, has_uncertain_effects })
    }

    pub(crate) fn is_on(&self) -> bool {
        self.recorder.is_on()
    }

    /// `at` is the keyword that caused the change, if any.
    pub(crate) fn report(
        &mut self,
        node: &Node<'_>,
        path: &SchemaPath<'_, '_>,
        at: Option<&str>,
        kind: ChangeKind,
        message: impl FnOnce() -> String,
    ) {
        self.report_at(node, path.pointer, path.polarity, at, kind, message);
    }

    pub(crate) fn report_at(
        &mut self,
        node: &Node<'_>,
        pointer: &Pointer<'_>,
        polarity: Polarity,
        at: Option<&str>,
        kind: ChangeKind,
        message: impl FnOnce() -> String,
    ) {
        let polarity = if self.has_uncertain_effects { Polarity::Mixed } else { polarity };
        self.recorder.record(node.origin().number().unwrap_or_default(), || Change {
            pointer: at.map_or_else(|| pointer.render(), |keyword| pointer.render_with(keyword)),
            output_pointer: match kind.remainder {
                Remainder::Keyword(keyword) => Some(pointer.render_with(keyword)),
                Remainder::Here => Some(pointer.render()),
                Remainder::Nothing => None,
            },
            rule: kind.rule,
            accepts: polarity.through(kind.accepts),
            guidance: kind.guidance,
            encoded: false,
            reason: codex::reason(kind.rule),
            message: message(),
        });
    }

    /// Removes the latest changes below this schema, whose content must have been removed.
    pub(crate) fn forget_latest_below(&mut self, path: &SchemaPath<'_, '_>) {
        if self.is_on() {
            self.recorder.forget_latest_below(&path.pointer.render());
        }
    }

    /// Removes the changes at and below these pointers, because a later change removed the parts.
    pub(crate) fn retract(&mut self, gone: &Set<String>) {
        self.recorder.forget(gone);
    }
}

/// Returns true if a reference occurs inside `not`, `oneOf` and the like, or if a surviving `unevaluated*` depends on
/// its siblings.
fn has_uncertain_effects(root: &Node<'_>, wire: bool, budget: &Budget) -> Result<bool, Error> {
    let mut is_uncertain = false;
    visit::walk(budget, root, Keywords::ALL, &mut |node, path| {
        is_uncertain |= path.polarity != Polarity::Positive && node.get(Keyword::Ref).is_some();
        is_uncertain |=
            !wire && ["unevaluatedProperties", "unevaluatedItems"].iter().any(|keyword| node.get(keyword).is_some());
        Ok(if is_uncertain { Visit::Skip } else { Visit::Descend })
    })?;
    Ok(is_uncertain)
}
