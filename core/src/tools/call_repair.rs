//! The arguments of a call, restored and repaired.
//!
//! What the tool's own schema takes once its encoding is undone is done. Otherwise arguments are repaired as the model
//! was told to write them, the encoding is undone, and what came of that is repaired by the tool's own schema.

use alloc::{string::String, vec::Vec};

use super::joined;
use crate::{
    collections::{Map, Set},
    error::Error,
    json::{self, tolerant::Refusal, Node, Text},
    limits::MAX_HELD_BYTES,
    options::{RepairOptions, Truncated},
    repair::{self, Answered},
    report::{Left, LeftReason, Repair, Repaired, RepairedCall},
    sanitize::decode::Plan,
    schema::validate::{Prepared, Verdict},
};

/// What the arguments of a tool have to match.
#[derive(Clone, Debug)]
pub(super) struct Schemas {
    own: Prepared,
    /// The schema that was sent, of a tool whose arguments are encoded.
    sent: Option<Prepared>,
}

impl Schemas {
    /// Keeps the schemas of a tool; `None` if its own is none.
    pub(super) fn new(own: &Node<'_>, sent: Option<&Node<'_>>) -> Option<Schemas> {
        Some(Schemas { own: Prepared::new(own)?, sent: sent.and_then(Prepared::new) })
    }

    /// What they take, in bytes, roughly.
    pub(super) fn bytes(&self) -> usize {
        let (own, sent) = self.parts();
        size_of::<Schemas>() + json::weight(own) + sent.map_or(0, json::weight)
    }

    /// The tool's own, and the one that was sent if that matters.
    pub(super) fn parts(&self) -> (&Node<'static>, Option<&Node<'static>>) {
        (self.own.schema(), self.sent.as_ref().map(Prepared::schema))
    }
}

/// What became of the arguments of calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    calls: Vec<RepairedCall>,
    /// How many bytes they take, roughly.
    bytes: usize,
    /// Nothing is told of what is restored once more.
    pub(super) is_silent: bool,
    /// Calls of a stream that were told of, by their ids: its last event has them once more.
    seen: Set<String>,
    /// Some of them had no id.
    has_nameless: bool,
    /// Nothing is told of those.
    pub(super) skips_seen: bool,
    /// Arguments that came in pieces, of calls whose later events have none.
    filled: Map<String, String>,
    /// The reply ended at a length limit, or is not at its end: text that breaks off is not whole.
    pub(super) is_cut: bool,
    /// The reply ended at a length limit: a text with nothing in it may be all that came of one.
    pub(super) is_limited: bool,
}

impl Told {
    /// For what comes in pieces: text that breaks off is not whole.
    pub(super) fn cut() -> Told {
        Told { is_cut: true, ..Told::default() }
    }

    /// Tells of a call. Who never asks gets no more than fits: then only whether the arguments are valid.
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

    /// Notes that a call of a stream was told of.
    pub(super) fn see(&mut self, id: Option<&str>) {
        match id {
            Some(id) if self.seen.len() < MOST_SEEN && id.len() <= LONGEST_ID => {
                self.seen.insert(String::from(id));
            }
            Some(_) => {}
            None => self.has_nameless = true,
        }
    }

    /// Notes the arguments of a call whose later events may have none.
    pub(super) fn fill(&mut self, id: Option<&str>, whole: &str) {
        if let Some(id) = id.filter(|id| self.filled.len() < MOST_FILLED && id.len() + whole.len() <= LONGEST_FILLED) {
            self.filled.insert(String::from(id), String::from(whole));
        }
    }

    /// A call has another id, too.
    pub(super) fn is_also(&mut self, old: &str, new: &str) {
        if let Some(whole) = self.filled.get(old).cloned() {
            self.fill(Some(new), &whole);
        }
        if self.seen.contains(old) {
            self.see(Some(new));
        }
    }

    /// A stream begins anew.
    pub(super) fn forget(&mut self) {
        (self.seen, self.filled, self.has_nameless) = (Set::new(), Map::new(), false);
    }

    /// Returns true if no state is buffered.
    pub(super) fn is_at_rest(&self) -> bool {
        self.seen.is_empty() && self.filled.is_empty() && !self.has_nameless
    }

    /// Takes in what another one told.
    #[cfg(feature = "search")]
    pub(crate) fn extend(&mut self, calls: Vec<RepairedCall>) {
        calls.into_iter().for_each(|call| self.push(call));
    }

    /// Takes out what was told.
    pub(crate) fn take(&mut self) -> Vec<RepairedCall> {
        self.bytes = 0;
        core::mem::take(&mut self.calls)
    }
}

/// What is kept of calls that were told of is bounded: beyond it they are told of again.
const MOST_SEEN: usize = 65_536;
const LONGEST_ID: usize = 256;
const MOST_FILLED: usize = 64;
const LONGEST_FILLED: usize = 1 << 20;

/// What is kept of a call, in bytes, roughly.
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

/// The repairing of one call.
pub(super) struct Repairing<'r> {
    pub(super) schemas: &'r Schemas,
    pub(super) plan: &'r Plan,
    pub(super) options: &'r RepairOptions,
    /// The name that the model knows.
    pub(super) called: &'r Text<'r>,
    /// The tool's own name.
    pub(super) name: String,
    pub(super) id: Option<String>,
}

impl Repairing<'_> {
    /// Arguments that are a value, in place. A string is their text, and stays one only where the API has text.
    ///
    /// # Errors
    /// `budget-exceeded`, which only a plan from elsewhere can come to.
    pub(super) fn value(self, arguments: &mut Node<'_>, has_text: bool, told: &mut Told) -> Result<(), Error> {
        if has_text && told.is_limited && arguments.is_null() {
            self.tell(Err(BROKEN_OFF), told);
            return Ok(());
        }
        let Some(text) = arguments.as_text().filter(|_| has_text) else {
            let given = core::mem::take(arguments);
            let kept = given.clone();
            let repaired = match Answered::value(given) {
                Ok(answered) => self.repair(answered, told)?,
                Err(refusal) => Err(refusal),
            };
            *arguments = self.tell(repaired, told).unwrap_or(kept);
            return Ok(());
        };
        let written = match text.value() {
            Some(text) => self.text(&text, told)?,
            // Half of a surrogate pair is in no JSON.
            None => {
                self.tell(Err(Refusal { reason: LeftReason::NoJson, offset: 0 }), told);
                None
            }
        };
        if let Some(written) = written {
            *arguments = Node::string(written);
        }
        Ok(())
    }

    /// Arguments that are JSON text, or were meant as such; `None`: the text as it is.
    ///
    /// # Errors
    /// As [`Self::value`].
    pub(super) fn text(&self, text: &str, told: &mut Told) -> Result<Option<String>, Error> {
        let filled = self.id.as_ref().filter(|_| text.is_empty()).and_then(|id| told.filled.get(id));
        if let Some(filled) = filled {
            return Ok(Some(filled.clone()));
        }
        let repaired = match Answered::text(text) {
            // Nothing of it came: a tool that is called without arguments because of that does what nobody asked for.
            Ok(Answered::Text(_)) if told.is_limited && is_blank(text) => Err(BROKEN_OFF),
            Ok(answered) => self.repair(answered, told)?,
            Err(_) => Err(Refusal { reason: LeftReason::TooDeep, offset: 0 }),
        };
        Ok(self.tell(repaired, told).map(|arguments| json::write(&arguments)))
    }

    /// Tells what became of a call; gives the arguments, if they are others than were answered.
    fn tell<'n>(&self, repaired: Result<Repaired<Node<'n>>, Refusal>, told: &mut Told) -> Option<Node<'n>> {
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
        told.push(RepairedCall { id, name, valid, repairs, left, retry_message });
        arguments
    }

    /// Repairs arguments. They count as changed, too, where an encoding was undone in them.
    fn repair<'n>(&self, answered: Answered<'n>, told: &Told) -> Result<Result<Repaired<Node<'n>>, Refusal>, Error> {
        let own = self.schemas.own.validator();
        let sent = self.schemas.sent.as_ref().filter(|_| !self.plan.is_empty());
        let answered = match (sent, answered) {
            // Most arguments are right. A text in a text is for the repairer to read.
            (None, Answered::Value(value)) if value.as_object().is_some() => match own.takes(&value) {
                Verdict::Invalid => Answered::Value(value),
                verdict => return Ok(Ok(Repaired::untouched(value, verdict.known()))),
            },
            (None, Answered::Repeated(value)) => match own.takes(&value) {
                Verdict::Invalid => Answered::Repeated(value),
                verdict => return Ok(Ok(Repaired { changed: true, ..Repaired::untouched(value, verdict.known()) })),
            },
            (_, answered) => answered,
        };
        let is_repeated = matches!(answered, Answered::Repeated(_));
        let mut options = RepairOptions { name: Some(self.called.display().into_owned()), ..self.options.clone() };
        if told.is_cut {
            options.truncated = Truncated::Refuse;
        }
        let Some(sent) = sent else {
            return Ok(repair::repair(&own, answered, &options).map(free));
        };
        let mut as_answered = None;
        if let Answered::Value(value) | Answered::Repeated(value) = &answered {
            let mut restored = value.clone();
            self.plan.restore(&mut restored)?;
            let verdict = own.takes(&restored);
            if verdict != Verdict::Invalid {
                let changed = is_repeated || !restored.is_intact();
                return Ok(Ok(Repaired { changed, ..Repaired::untouched(restored, verdict.known()) }));
            }
            as_answered = Some(restored);
        }
        // What is required and closed is for the own schema to say: a strict mode requires and closes everything.
        let as_sent = RepairOptions { use_defaults: false, remove_additional: false, ..options.clone() };
        let first = match repair::repair(&sent.validator(), answered, &as_sent) {
            Ok(first) => first,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let done = joined::repair(first, self.plan, &own, &options)?;
        Ok(Ok(match as_answered {
            // The encoding is undone all the same.
            Some(arguments) if !done.changed => {
                Repaired { changed: is_repeated || !arguments.is_intact(), arguments, ..done }
            }
            _ => done,
        }))
    }
}

/// Of a text nothing came before the reply ended.
const BROKEN_OFF: Refusal = Refusal { reason: LeftReason::Truncated, offset: 0 };

/// Has a text nothing in it?
fn is_blank(text: &str) -> bool {
    text.trim_matches(|next: char| next.is_whitespace() || next == '\u{FEFF}').is_empty()
}

/// The same, with nothing in it that stands for a value of an input: some of it may be the schema's.
fn free(mut repaired: Repaired<Node<'_>>) -> Repaired<Node<'_>> {
    if repaired.changed {
        repaired.arguments = repaired.arguments.detached();
    }
    repaired
}
