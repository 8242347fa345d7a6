//! What a rewrite says about itself: changes, their effects, and the summary of them.
//!
//! These are plain types; `api` turns them into JSON. They know nothing of schemas or trees.

#[macro_use]
mod repair;
mod answer;

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::fmt;

use crate::collections::{self, Set};
pub use answer::AnswerChange;
pub(crate) use repair::{retry_message, Permits, Stood};
pub use repair::{Confidence, Left, LeftReason, Repair, RepairRule, Repaired, RepairedCall};

macro_rules! names {
    ($(#[$doc:meta])* $type:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $type { $($(#[$vdoc])* $variant,)* }

        impl $type {
            /// The name as it stands in reports.
            pub const fn as_str(self) -> &'static str {
                match self { $($type::$variant => $text,)* }
            }
        }
    };
}

names! {
    /// What a change does to the set of accepted arguments. The universe is JSON objects at the root.
    Accepts {
        /// Exactly the same arguments are accepted.
        Same = "same",
        /// No new argument is accepted. Those that no longer are have, in some object, a property that the schema does
        /// not name, and it never said that others are wanted.
        Closed = "closed",
        /// Every argument accepted before still is; some more are.
        Wider = "wider",
        /// No new argument is accepted; some legal ones no longer are.
        Narrower = "narrower",
        /// Some are gained and some lost, or it cannot be proved which.
        Mixed = "mixed",
    }
}

names! {
    /// What a change does to what the model reads: descriptions, defaults, examples, constraints.
    Guidance {
        /// The model reads the same.
        Same = "same",
        /// Said elsewhere, for instance in a description.
        Moved = "moved",
        /// No longer said.
        Lost = "lost",
    }
}

names! {
    /// What an API does with what goes against one of its facts.
    Severity {
        /// It answers with an error, or the client drops the tool.
        Refused = "refused",
        /// It answers, and holds the model to other arguments than the schema says.
        Reinterpreted = "reinterpreted",
        /// It answers, and what is written has no effect.
        Ignored = "ignored",
    }
}

impl Accepts {
    /// Both effects after one another.
    ///
    /// `Closed` is a kind of `Narrower`, so that both together are `Narrower`, and with `Wider` it is `Mixed`: some
    /// arguments are gained and some lost, however few these are.
    pub fn and(self, other: Accepts) -> Accepts {
        match (self, other) {
            (Accepts::Same, effect) | (effect, Accepts::Same) => effect,
            (one, two) if one == two => one,
            (Accepts::Closed, Accepts::Narrower) | (Accepts::Narrower, Accepts::Closed) => Accepts::Narrower,
            _ => Accepts::Mixed,
        }
    }

    /// What is said of one change that has this effect at one place and another at the next.
    pub(crate) fn or_elsewhere(self, other: Accepts) -> Accepts {
        match (self, other) {
            (Accepts::Same, _) | (_, Accepts::Same) if self != other => Accepts::Mixed,
            _ => self.and(other),
        }
    }

    /// The effect as seen from outside a `not`. There a closed object is one that denies less: what it lets through by
    /// that was refused before, so `Closed` becomes `Wider` as `Narrower` does.
    pub fn inverted(self) -> Accepts {
        match self {
            Accepts::Wider => Accepts::Narrower,
            Accepts::Closed => Accepts::Wider,
            Accepts::Narrower => Accepts::Wider,
            effect => effect,
        }
    }
}

/// What a kind of change does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    /// To accepted arguments.
    pub(crate) accepts: Accepts,
    /// To what the model reads.
    pub(crate) guidance: Guidance,
    /// Arguments look different, and can be restored.
    pub(crate) encoded: bool,
}

impl Effect {
    /// The same arguments are accepted and the model reads the same.
    pub(crate) const SAME: Effect = Effect { accepts: Accepts::Same, guidance: Guidance::Same, encoded: false };

    pub(crate) const fn accepts(self, accepts: Accepts) -> Self {
        Effect { accepts, ..self }
    }

    pub(crate) const fn guidance(self, guidance: Guidance) -> Self {
        Effect { guidance, ..self }
    }

    pub(crate) const fn encoded(self) -> Self {
        Effect { encoded: true, ..self }
    }
}

/// Why a change was made: the fact of an API that it serves, with its confidence and its source.
/// [`Display`](fmt::Display) writes all three, as reports have them in the other languages.
///
/// ```
/// use toolwire::{sanitize, SanitizeOptions};
/// let sanitized = sanitize(r#"{"type":"object"}"#, &SanitizeOptions::new("openai-strict"))?;
/// let reason = &sanitized.changes()?[0].reason;
/// assert_eq!(reason.confidence(), Some('A'));
/// assert!(reason.to_string().starts_with(reason.statement()));
/// # Ok::<(), toolwire::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    statement: Cow<'static, str>,
    /// How sure it is, and where it was read.
    known: Option<(char, &'static str)>,
}

impl Reason {
    /// What an API was seen to do with this confidence, and where that was read. (In pieces: many changes of one schema
    /// serve the same fact, and most reports are never written out.)
    pub(crate) const fn fact(statement: &'static str, confidence: char, source: &'static str) -> Self {
        Reason { statement: Cow::Borrowed(statement), known: Some((confidence, source)) }
    }

    /// The fact in words.
    pub fn statement(&self) -> &str {
        &self.statement
    }

    /// How sure it is, from `A` to `C`, as in the tables of dialects; `None`: it is no fact of an API.
    pub fn confidence(&self) -> Option<char> {
        self.known.map(|(confidence, _)| confidence)
    }

    /// Where it was read; `None`: it is no fact of an API.
    pub fn source(&self) -> Option<&'static str> {
        self.known.map(|(_, source)| source)
    }
}

impl From<&'static str> for Reason {
    fn from(statement: &'static str) -> Self {
        Reason { statement: Cow::Borrowed(statement), known: None }
    }
}

impl From<String> for Reason {
    fn from(statement: String) -> Self {
        Reason { statement: Cow::Owned(statement), known: None }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.statement)?;
        match self.known {
            Some((confidence, source)) => write!(out, " (confidence {confidence}): {source}"),
            None => Ok(()),
        }
    }
}

/// One change: where, by which rule, with what effect, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// JSON Pointer into the input: where the cause stands. For a node that came through a `$ref`, where the definition
    /// stands.
    pub pointer: String,
    /// JSON Pointer into the output: where the effect stands; `None` if nothing is left.
    pub output_pointer: Option<String>,
    /// The rule's kebab-case name.
    pub rule: &'static str,
    /// The effect on accepted arguments. With `encoded`, it is the effect after restoring.
    pub accepts: Accepts,
    /// The effect on what the model reads.
    pub guidance: Guidance,
    /// Arguments look different now, and `restore_arguments` brings them back.
    pub encoded: bool,
    /// The provider fact the rule serves.
    pub reason: Reason,
    /// For people: what was done to what.
    pub message: String,
}

impl Change {
    /// A change of which no more is told than its rule and its effect.
    pub(crate) fn in_brief(rule: &'static str, effect: Effect) -> Change {
        let Effect { accepts, guidance, encoded } = effect;
        let (pointer, message, reason) = (String::new(), String::new(), Reason::from(""));
        Change { pointer, output_pointer: None, rule, accepts, guidance, encoded, reason, message }
    }
}

/// The most loss a caller accepts (`allow`); beyond it the error is `too-lossy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Allow {
    /// Only changes that accept exactly the same arguments, unencoded.
    Same,
    /// Arguments may be encoded, because they can be restored.
    Encoded,
    /// Besides, objects may be closed that never said whether they are open.
    Closed,
    /// Besides, more arguments may be accepted: the tool's own server catches those.
    Wider,
    /// Anything, also schemas that forbid legal calls.
    #[default]
    Any,
}

impl Allow {
    /// The word as it stands in options.
    pub const fn as_str(self) -> &'static str {
        match self {
            Allow::Same => "same",
            Allow::Encoded => "encoded",
            Allow::Closed => "closed",
            Allow::Wider => "wider",
            Allow::Any => "any",
        }
    }

    /// The least permission that lets this change through.
    pub fn needed_for(accepts: Accepts, encoded: bool) -> Allow {
        match accepts {
            Accepts::Same if !encoded => Allow::Same,
            Accepts::Same => Allow::Encoded,
            Accepts::Closed => Allow::Closed,
            Accepts::Wider => Allow::Wider,
            Accepts::Narrower | Accepts::Mixed => Allow::Any,
        }
    }
}

/// `true` if every change accepts the same arguments and no guidance is lost.
pub fn lossless(changes: &[Change]) -> bool {
    changes.iter().all(|change| change.accepts == Accepts::Same && change.guidance != Guidance::Lost)
}

/// How much is noted of each change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Its rule and its effects. Pointers, reason and message may be empty: they are most of what a report costs.
    Effects,
    /// All of it.
    Whole,
}

/// Collects changes while a rewrite runs; costs nothing when nobody asked.
pub(crate) struct Recorder {
    /// Each with its place in document order.
    changes: Option<Vec<(u32, Change)>>,
    detail: Detail,
}

impl Recorder {
    /// Notes every change.
    pub(crate) fn on() -> Self {
        Recorder::of(Detail::Whole)
    }

    /// Notes as much of every change.
    pub(crate) fn of(detail: Detail) -> Self {
        Recorder { changes: Some(Vec::new()), detail }
    }

    /// Notes nothing.
    pub(crate) fn off() -> Self {
        Recorder { changes: None, detail: Detail::Whole }
    }

    pub(crate) fn detail(&self) -> Detail {
        self.detail
    }

    /// Notes a change at a place in document order. The change is only made if somebody asked.
    pub(crate) fn note(&mut self, place: u32, change: impl FnOnce() -> Change) {
        if let Some(changes) = &mut self.changes {
            changes.push((place, change()));
        }
    }

    /// Makes room for as many changes.
    pub(crate) fn reserve(&mut self, count: usize) {
        if let Some(changes) = &mut self.changes {
            changes.reserve_exact(count);
        }
    }

    /// Whether anybody asked.
    pub(crate) fn is_on(&self) -> bool {
        self.changes.is_some()
    }

    /// Forgets the changes at or below these pointers into the input: what they changed is gone, and another change
    /// says so.
    pub(crate) fn forget(&mut self, gone: &Set<String>) {
        let Some(changes) = self.changes.as_mut().filter(|_| !gone.is_empty()) else { return };
        changes.retain(|(_, change)| {
            let ends = change.pointer.match_indices('/').map(|(end, _)| end).chain([change.pointer.len()]);
            !ends.filter_map(|end| change.pointer.get(..end)).any(|above| gone.contains(above))
        });
    }

    /// Forgets the latest changes as far as they stand strictly below a pointer. For rules that go through a schema
    /// from the inside out: what they noted last is what they noted below.
    pub(crate) fn forget_latest_below(&mut self, pointer: &str) {
        let Some(changes) = &mut self.changes else { return };
        let is_below = |change: &Change| change.pointer.strip_prefix(pointer).is_some_and(|rest| rest.starts_with('/'));
        while changes.last().is_some_and(|(_, change)| is_below(change)) {
            changes.pop();
        }
    }

    /// The changes in document order; at one place, in the order of the rules.
    pub(crate) fn finish(self) -> Vec<Change> {
        let changes = collections::by(self.changes.unwrap_or_default(), |(one, _), (two, _)| one.cmp(two));
        changes.into_iter().map(|(_, change)| change).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Accepts, Allow};
    use Accepts::{Closed, Mixed, Narrower, Same, Wider};

    #[test]
    fn effects_compose_as_their_definitions_do() {
        for (one, two, both) in [
            (Same, Closed, Closed),
            (Closed, Closed, Closed),
            (Closed, Narrower, Narrower),
            (Closed, Wider, Mixed),
            (Closed, Mixed, Mixed),
            (Narrower, Wider, Mixed),
            (Same, Wider, Wider),
        ] {
            assert_eq!((one.and(two), two.and(one)), (both, both), "{one:?} and {two:?}");
        }
    }

    #[test]
    fn a_change_that_does_one_thing_here_and_another_there_says_the_worst() {
        for (here, there, said) in [
            (Closed, Closed, Closed),
            (Closed, Narrower, Narrower),
            (Closed, Wider, Mixed),
            (Same, Closed, Mixed),
            (Same, Same, Same),
        ] {
            assert_eq!((here.or_elsewhere(there), there.or_elsewhere(here)), (said, said), "{here:?}, {there:?}");
        }
    }

    #[test]
    fn each_permission_takes_what_loses_less() {
        let needed = [(Same, false), (Same, true), (Closed, false), (Wider, true), (Narrower, false), (Mixed, false)]
            .map(|(accepts, encoded)| Allow::needed_for(accepts, encoded));
        assert_eq!(needed, [Allow::Same, Allow::Encoded, Allow::Closed, Allow::Wider, Allow::Any, Allow::Any]);
        assert!(needed.is_sorted());
    }
}
