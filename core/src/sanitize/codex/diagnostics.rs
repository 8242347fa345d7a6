//! How the Codex rules report: pointers into input and output are the same here, because Codex moves nothing.

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

/// Where the effect of a change stands, seen from the schema it happened at.
pub(super) enum Left {
    /// Under a keyword of the schema.
    Keyword(&'static str),
    /// The schema itself.
    Here,
    /// Nothing is left.
    Nothing,
}

/// What one change did.
pub(super) struct Note {
    pub(super) rule: Rule,
    pub(super) accepts: Accepts,
    pub(super) guidance: Guidance,
    pub(super) left: Left,
}

/// The recorder, and what is known of the schema as a whole.
pub(super) struct Diagnostics<'r> {
    /// What the call may still do.
    pub(super) budget: &'r Budget,
    recorder: &'r mut Recorder,
    /// Something refers to definitions from a place where only "the same" can be carried outside, so every effect is in
    /// doubt.
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

    /// Reports a change at a schema; `at` is the keyword that caused it, if one did.
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

    /// Forgets what was noted last, as far as it stands below this place: everything there is gone.
    pub(super) fn forget_latest_below(&mut self, place: &SchemaPath<'_, '_>) {
        if self.is_on() {
            self.recorder.forget_latest_below(&place.pointer.render());
        }
    }

    /// Forgets the changes at or below these pointers: a later change removed what they changed.
    pub(super) fn retract(&mut self, gone: &Set<String>) {
        self.recorder.forget(gone);
    }
}

/// Is there a reference from a place below `not`, `oneOf` and the like? Or, where such keywords survive,
/// `unevaluated*`, which looks at everything beside it?
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
