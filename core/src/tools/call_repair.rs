//! Restores and repairs the arguments of a call.
//!
//! Arguments that match the tool's own schema after decoding are not repaired. Other arguments are repaired by the
//! schema that was sent, decoded, and then repaired by the tool's own schema.

use alloc::{string::String, vec::Vec};

use super::joined;
use crate::{
    collections::{Map, Set},
    error::Error,
    json::{self, tolerant::Refusal, Node, Text},
    limits::MAX_HELD_BYTES,
    options::{RepairOptions, Truncated},
    repair::{self, RawArguments},
    report::{AnswerChange, Left, LeftReason, Repair, Repaired, RepairedCall},
    sanitize::decode::Plan,
    schema::validate::{Prepared, Verdict},
};

/// The schemas that the arguments of a tool have to match.
#[derive(Clone, Debug)]
pub(super) struct Schemas {
    own: Prepared,
    /// The schema that was sent, if the tool's arguments are encoded.
    sent: Option<Prepared>,
}

impl Schemas {
    /// Prepares the schemas of a tool. Returns `None` if the tool's own schema cannot be prepared.
    pub(super) fn new(own: &Node<'_>, sent: Option<&Node<'_>>) -> Option<Schemas> {
        Some(Schemas { own: Prepared::new(own)?, sent: sent.and_then(Prepared::new) })
    }

    /// Returns the approximate size in bytes.
    pub(super) fn bytes(&self) -> usize {
        let (own, sent) = self.parts();
        size_of::<Schemas>() + json::weight(own) + sent.map_or(0, json::weight)
    }

    /// Returns the tool's own schema, and the schema that was sent if the arguments are encoded.
    pub(super) fn parts(&self) -> (&Node<'static>, Option<&Node<'static>>) {
        (self.own.schema(), self.sent.as_ref().map(Prepared::schema))
    }
}

/// Collects the reports of repaired calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallReports {
    calls: Vec<RepairedCall>,
    /// Approximate size of the reports in bytes.
    bytes: usize,
    /// Suppresses reports for calls that were already reported.
    pub(super) is_silent: bool,
    /// Ids of the reported calls of a stream, because its last event repeats them.
    seen: Set<String>,
    /// True if a call without an id was reported.
    has_nameless: bool,
    /// True while an event that repeats calls is processed: calls in `seen` are not reported again.
    pub(super) skips_seen: bool,
    /// Complete arguments that were received in pieces, by call id, for calls whose later events may lack the
    /// arguments.
    filled: Map<String, String>,
    /// True if the reply may be incomplete (length limit, or a stream): unterminated text counts as truncated.
    pub(super) is_cut: bool,
    /// True if the reply ended at a length limit: blank arguments may be truncated as well.
    pub(super) is_limited: bool,
    /// Changes of the answer that are not drained yet.
    answer: Vec<AnswerChange>,
    /// All changes of the answer so far, so that each is reported only once.
    answer_so_far: Vec<AnswerChange>,
    /// First error while the current event was processed. Processing continues, because the event may end other calls;
    /// [`Self::check`] returns the error.
    failure: Option<Error>,
}

impl CallReports {
    /// Returns a collector for streams, in which unterminated text counts as truncated.
    pub(super) fn cut() -> CallReports {
        CallReports { is_cut: true, ..CallReports::default() }
    }

    /// Adds a report. If the caller does not drain the buffer and it is full, only `valid` is kept of further calls.
    fn push(&mut self, mut call: RepairedCall) {
        let is_seen = match &call.id {
            Some(id) => self.seen.contains(id),
            None => self.has_nameless,
        };
        if self.is_silent || (self.skips_seen && is_seen) {
            return;
        }
        let mut bytes = cost(&call);
        if self.bytes.saturating_add(bytes) > MAX_HELD_BYTES {
            (call.repairs, call.left, call.retry_message) = (Vec::new(), Vec::new(), None);
            bytes = cost(&call);
        }
        if self.bytes.saturating_add(bytes) <= MAX_HELD_BYTES {
            self.bytes += bytes;
            self.calls.push(call);
        }
    }

    /// Adds changes of the answer.
    pub(crate) fn push_changes(&mut self, changes: impl IntoIterator<Item = AnswerChange>) {
        for change in changes {
            if !self.answer_so_far.contains(&change) {
                self.answer_so_far.push(change);
                self.answer.push(change);
            }
        }
    }

    /// Removes and returns the collected changes of the answer.
    pub(crate) fn take_answer_changes(&mut self) -> Vec<AnswerChange> {
        core::mem::take(&mut self.answer)
    }

    /// Records that a call of a stream was reported.
    pub(super) fn see(&mut self, id: Option<&str>) {
        match id {
            Some(id) if self.seen.len() < MAX_SEEN && id.len() <= MAX_ID_LENGTH => {
                self.seen.insert(String::from(id));
            }
            Some(_) => {}
            None => self.has_nameless = true,
        }
    }

    /// Records the arguments of a call whose later events may lack them.
    pub(super) fn fill(&mut self, id: Option<&str>, whole: &str) {
        if let Some(id) = id.filter(|id| self.filled.len() < MAX_FILLED && id.len() + whole.len() <= MAX_FILLED_LENGTH)
        {
            self.filled.insert(String::from(id), String::from(whole));
        }
    }

    /// Records that a call has a second id.
    pub(super) fn is_also(&mut self, old: &str, new: &str) {
        if let Some(whole) = self.filled.get(old).cloned() {
            self.fill(Some(new), &whole);
        }
        if self.seen.contains(old) {
            self.see(Some(new));
        }
    }

    /// Returns restored arguments. Records an error for [`Self::check`], because the event that ends a call may end
    /// others as well.
    pub(super) fn restored(&mut self, restored: Result<Option<String>, Error>) -> Option<String> {
        restored.unwrap_or_else(|error| {
            self.fail(Some(error));
            None
        })
    }

    /// Records an error for [`Self::check`], which returns the first one.
    pub(super) fn fail(&mut self, error: Option<Error>) {
        self.failure = self.failure.take().or(error);
    }

    /// Removes and returns the recorded error.
    ///
    /// # Errors
    /// The errors of restoring.
    pub(super) fn check(&mut self) -> Result<(), Error> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Resets the state that belongs to one stream.
    pub(super) fn forget(&mut self) {
        (self.seen, self.filled, self.has_nameless) = (Set::new(), Map::new(), false);
    }

    /// Returns true if no state is buffered.
    pub(super) fn is_at_rest(&self) -> bool {
        self.seen.is_empty() && self.filled.is_empty() && !self.has_nameless && self.answer_so_far.is_empty()
    }

    #[cfg(feature = "search")]
    pub(crate) fn extend(&mut self, calls: Vec<RepairedCall>, changes: Vec<AnswerChange>) {
        calls.into_iter().for_each(|call| self.push(call));
        self.push_changes(changes);
    }

    /// Removes and returns the collected reports.
    pub(crate) fn take(&mut self) -> Vec<RepairedCall> {
        self.bytes = 0;
        core::mem::take(&mut self.calls)
    }
}

/// Limits of the records about reported calls. A call beyond these limits may be reported twice.
const MAX_SEEN: usize = 65_536;
const MAX_ID_LENGTH: usize = 256;
const MAX_FILLED: usize = 64;
const MAX_FILLED_LENGTH: usize = 1 << 20;

/// Returns the approximate size of a report in bytes.
fn cost(call: &RepairedCall) -> usize {
    let repair = |repair: &Repair| {
        let output = repair.output_pointer.as_ref().map_or(0, String::len);
        size_of::<Repair>() + repair.pointer.len() + output + repair.from.len() + repair.to.len() + repair.message.len()
    };
    let left = |left: &Left| size_of::<Left>() + left.pointer.len() + left.message.len();
    let texts = [call.id.as_ref(), Some(&call.name), call.retry_message.as_ref()];
    size_of::<RepairedCall>()
        + texts.into_iter().flatten().map(String::len).sum::<usize>()
        + call.repairs.iter().map(repair).sum::<usize>()
        + call.left.iter().map(left).sum::<usize>()
}

/// Repairs the arguments of one call.
pub(super) struct Repairing<'r> {
    pub(super) schemas: &'r Schemas,
    pub(super) plan: &'r Plan,
    pub(super) options: &'r RepairOptions,
    /// The tool's name as sent to the model.
    pub(super) called: &'r Text<'r>,
    /// The tool's original name.
    pub(super) name: String,
    pub(super) id: Option<String>,
}

impl Repairing<'_> {
    /// Repairs arguments in place. A string is read as JSON text, and the result is text again only if the API expects
    /// text.
    ///
    /// # Errors
    /// `budget-exceeded`, for a plan that takes too many steps.
    pub(super) fn value(
        self,
        arguments: &mut Node<'_>,
        has_text: bool,
        reports: &mut CallReports,
    ) -> Result<(), Error> {
        if has_text && reports.is_limited && arguments.is_null() {
            self.report(Err(BROKEN_OFF), reports);
            return Ok(());
        }
        let Some(text) = arguments.as_text().filter(|_| has_text) else {
            let given = core::mem::take(arguments);
            let kept = given.clone();
            let repaired = match RawArguments::value(given) {
                Ok(raw) => self.repair(raw, reports)?,
                Err(refusal) => Err(refusal),
            };
            *arguments = self.report(repaired, reports).unwrap_or(kept);
            return Ok(());
        };
        let written = match text.value() {
            Some(text) => self.text(&text, reports)?,
            // Text with a lone surrogate is not JSON.
            None => {
                self.report(Err(Refusal { reason: LeftReason::NoJson, offset: 0 }), reports);
                None
            }
        };
        if let Some(written) = written {
            *arguments = Node::string(written);
        }
        Ok(())
    }

    /// Repairs arguments that are JSON text, or text that was meant as JSON. Returns `None` if the text does not
    /// change.
    ///
    /// # Errors
    /// Same as [`Self::value`].
    pub(super) fn text(&self, text: &str, reports: &mut CallReports) -> Result<Option<String>, Error> {
        let filled = self.id.as_ref().filter(|_| text.is_empty()).and_then(|id| reports.filled.get(id));
        if let Some(filled) = filled {
            return Ok(Some(filled.clone()));
        }
        let repaired = match RawArguments::text(text) {
            // The reply ended before the arguments began. Calling the tool without arguments could do something that
            // the model did not ask for.
            Ok(RawArguments::Text(_)) if reports.is_limited && is_blank(text) => Err(BROKEN_OFF),
            Ok(raw) => self.repair(raw, reports)?,
            Err(_) => Err(Refusal { reason: LeftReason::TooDeep, offset: 0 }),
        };
        Ok(self.report(repaired, reports).map(|arguments| json::write(&arguments)))
    }

    /// Reports a call. Returns the arguments if they changed.
    fn report<'n>(&self, repaired: Result<Repaired<Node<'n>>, Refusal>, reports: &mut CallReports) -> Option<Node<'n>> {
        let (arguments, report) = match repaired {
            Ok(repaired) => {
                let (changed, mut arguments) = (repaired.changed, None);
                let report = repaired.map(|found| arguments = changed.then_some(found));
                (arguments, report)
            }
            Err(refusal) => {
                let model_knows = self.called.display();
                (None, Repaired::unread((), refusal.reason, refusal.message(), Some(&model_knows)))
            }
        };
        let Repaired { valid, repairs, left, retry_message, .. } = report;
        let (id, name) = (self.id.clone(), self.name.clone());
        reports.push(RepairedCall { id, name, valid, repairs, left, retry_message });
        arguments
    }

    /// Repairs arguments. Decoding an encoded argument also counts as a change.
    fn repair<'n>(
        &self,
        raw: RawArguments<'n>,
        reports: &CallReports,
    ) -> Result<Result<Repaired<Node<'n>>, Refusal>, Error> {
        let own = self.schemas.own.validator();
        let sent = self.schemas.sent.as_ref().filter(|_| !self.plan.is_empty());
        let raw = match (sent, raw) {
            // Fast path: most arguments are valid. JSON text inside JSON text is left to the repairer.
            (None, RawArguments::Value(value)) if value.as_object().is_some() => match own.takes(&value) {
                Verdict::Invalid => RawArguments::Value(value),
                verdict => return Ok(Ok(Repaired::untouched(value, verdict.known()))),
            },
            (None, RawArguments::Repeated(value)) => match own.takes(&value) {
                Verdict::Invalid => RawArguments::Repeated(value),
                verdict => return Ok(Ok(Repaired { changed: true, ..Repaired::untouched(value, verdict.known()) })),
            },
            (_, raw) => raw,
        };
        let is_repeated = matches!(raw, RawArguments::Repeated(_));
        let mut options = RepairOptions { name: Some(self.called.display().into_owned()), ..self.options.clone() };
        if reports.is_cut {
            options.truncated = Truncated::Refuse;
        }
        let Some(sent) = sent else {
            return Ok(repair::repair(&own, raw, &options).map(free));
        };
        let mut as_answered = None;
        if let RawArguments::Value(value) | RawArguments::Repeated(value) = &raw {
            let mut restored = value.clone();
            self.plan.restore(&mut restored)?;
            let verdict = own.takes(&restored);
            if verdict != Verdict::Invalid {
                let changed = is_repeated || !restored.is_intact();
                return Ok(Ok(Repaired { changed, ..Repaired::untouched(restored, verdict.known()) }));
            }
            as_answered = Some(restored);
        }
        // Only the tool's own schema decides which properties are required and which are allowed: in a strict mode, all
        // properties are required, and no others are allowed.
        let as_sent = RepairOptions { use_defaults: false, remove_additional: false, ..options.clone() };
        let first = match repair::repair(&sent.validator(), raw, &as_sent) {
            Ok(first) => first,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let done = joined::repair(first, self.plan, &own, &options)?;
        Ok(Ok(match as_answered {
            // Repairs changed nothing, but the encoding still has to be undone.
            Some(arguments) if !done.changed => {
                Repaired { changed: is_repeated || !arguments.is_intact(), arguments, ..done }
            }
            _ => done,
        }))
    }
}

/// The reply ended before the arguments began.
const BROKEN_OFF: Refusal = Refusal { reason: LeftReason::Truncated, offset: 0 };

/// Returns true if the text contains only whitespace or byte order marks.
fn is_blank(text: &str) -> bool {
    text.trim_matches(|next: char| next.is_whitespace() || next == '\u{FEFF}').is_empty()
}

/// Detaches repaired arguments from the input, because some of their values may come from the schema.
fn free(mut repaired: Repaired<Node<'_>>) -> Repaired<Node<'_>> {
    if repaired.changed {
        repaired.arguments = repaired.arguments.detached();
    }
    repaired
}
