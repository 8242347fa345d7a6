//! Reports of Codex's changes. Pointers into input and output are equal, because Codex moves nothing.

use alloc::string::String;

use crate::{
    budget::Budget,
    collections::Set,
    error::Error,
    json::{Node, Pointer},
    report::{Accepts, Change, Guidance, Reason, Recorder},
    rules::Rule,
    schema::{
        keyword::{Keyword, Keywords},
        visit::{self, Polarity, SchemaPath, Visit},
    },
};

const REASON: &str =
    "Codex does this to every tool schema (openai/codex, codex-rs/tools/src/json_schema.rs, confidence A)";

/// Location of the effect of a change, relative to the schema that was changed.
pub(super) enum Left {
    /// Under a keyword of the schema.
    Keyword(&'static str),
    /// The schema itself.
    Here,
    /// Nothing is left.
    Nothing,
}

/// Rule and effect of one change.
pub(super) struct Note {
    pub(super) rule: Rule,
    pub(super) accepts: Accepts,
    pub(super) guidance: Guidance,
    pub(super) left: Left,
}

/// The recorder, and facts about the whole schema.
pub(super) struct Diagnostics<'r> {
    /// Remaining budget of the call.
    pub(super) budget: &'r Budget,
    recorder: &'r mut Recorder,
    /// True if effects at definitions may not carry over to the root, so every effect but `same` is uncertain.
    inexact: bool,
}

impl<'r> Diagnostics<'r> {
    pub(super) fn new(
        root: &Node<'_>,
        wire: bool,
        recorder: &'r mut Recorder,
        budget: &'r Budget,
    ) -> Result<Self, Error> {
        let inexact = recorder.is_on() && inexact(root, wire, budget)?;
        Ok(Diagnostics { budget, recorder, inexact })
    }

    pub(super) fn is_on(&self) -> bool {
        self.recorder.is_on()
    }

    /// Reports a change to a schema. `at` is the keyword that caused the change, if any.
    pub(super) fn report(
        &mut self,
        node: &Node<'_>,
        place: &SchemaPath<'_, '_>,
        at: Option<&str>,
        note: Note,
        message: impl FnOnce() -> String,
    ) {
        self.report_at(node, place.pointer, place.polarity, at, note, message);
    }

    pub(super) fn report_at(
        &mut self,
        node: &Node<'_>,
        pointer: &Pointer<'_>,
        polarity: Polarity,
        at: Option<&str>,
        note: Note,
        message: impl FnOnce() -> String,
    ) {
        let polarity = if self.inexact { Polarity::Mixed } else { polarity };
        self.recorder.note(node.origin().number().unwrap_or_default(), || Change {
            pointer: at.map_or_else(|| pointer.render(), |keyword| pointer.render_with(keyword)),
            output_pointer: match note.left {
                Left::Keyword(keyword) => Some(pointer.render_with(keyword)),
                Left::Here => Some(pointer.render()),
                Left::Nothing => None,
            },
            rule: note.rule.id(),
            accepts: polarity.through(note.accepts),
            guidance: note.guidance,
            encoded: false,
            reason: Reason::from(REASON),
            message: message(),
        });
    }

    /// Removes the latest changes that are below this schema, because everything there was removed.
    pub(super) fn forget_latest_below(&mut self, place: &SchemaPath<'_, '_>) {
        if self.is_on() {
            self.recorder.forget_latest_below(&place.pointer.render());
        }
    }

    /// Removes the changes at or below these pointers, because a later change removed these parts.
    pub(super) fn retract(&mut self, gone: &Set<String>) {
        self.recorder.forget(gone);
    }
}

/// True if a reference occurs inside `not`, `oneOf` and the like, or if a surviving `unevaluated*` depends on its
/// siblings.
fn inexact(root: &Node<'_>, wire: bool, budget: &Budget) -> Result<bool, Error> {
    let mut found = false;
    visit::walk(budget, root, Keywords::ALL, &mut |node, place| {
        found |= place.polarity != Polarity::Positive && node.get(Keyword::Ref).is_some();
        found |=
            !wire && ["unevaluatedProperties", "unevaluatedItems"].iter().any(|keyword| node.get(keyword).is_some());
        Ok(if found { Visit::Skip } else { Visit::Descend })
    })?;
    Ok(found)
}
