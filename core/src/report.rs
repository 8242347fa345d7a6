//! Reports on rewriting: changes, their effects, and their summary.
//!
//! These types are plain data and independent of schemas and trees; `api` converts them into JSON.

#[macro_use]
mod repair;
mod answer;

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::fmt;

use crate::collections::{self, Set};
pub use answer::AnswerChange;
pub(crate) use repair::{retry_message, MovedFrom, Permits};
pub use repair::{Confidence, Left, LeftReason, Repair, RepairRule, Repaired, RepairedCall};

macro_rules! names {
    ($(#[$doc:meta])* $type:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $type { $($(#[$vdoc])* $variant,)* }

        impl $type {
            /// Returns the name used in reports.
            pub const fn as_str(self) -> &'static str {
                match self { $($type::$variant => $text,)* }
            }
        }
    };
}

names! {
    /// Effect of a change on the set of accepted arguments, which is a subset of all JSON objects.
    Accepts {
        /// Exactly the same arguments are accepted.
        Same = "same",
        /// No additional argument is accepted. Each argument that is no longer accepted has a property which its object
        /// schema does not declare and never explicitly allowed.
        Closed = "closed",
        /// All previously accepted arguments are still accepted, and some more.
        Wider = "wider",
        /// No additional argument is accepted, and some arguments are no longer accepted.
        Narrower = "narrower",
        /// Some arguments are gained and some lost, or the effect cannot be proved.
        Mixed = "mixed",
    }
}

names! {
    /// Effect of a change on what the model reads: descriptions, defaults, examples, constraints.
    Guidance {
        /// The model reads the same.
        Same = "same",
        /// The information is in another place, for example in a description.
        Moved = "moved",
        /// The information is removed.
        Lost = "lost",
    }
}

names! {
    /// Reaction of an API to input that violates one of its facts.
    Severity {
        /// The API returns an error, or the client drops the tool.
        Refused = "refused",
        /// The API responds, but holds the model to other arguments than those that the schema describes.
        Reinterpreted = "reinterpreted",
        /// The API responds, but the violating part has no effect.
        Ignored = "ignored",
    }
}

impl Accepts {
    /// Combines two consecutive effects.
    ///
    /// `Closed` is a special case of `Narrower`, so both together are `Narrower`. `Closed` together with `Wider` is
    /// `Mixed`, because some arguments are gained and others lost.
    pub fn and(self, other: Accepts) -> Accepts {
        match (self, other) {
            (Accepts::Same, effect) | (effect, Accepts::Same) => effect,
            (one, two) if one == two => one,
            (Accepts::Closed, Accepts::Narrower) | (Accepts::Narrower, Accepts::Closed) => Accepts::Narrower,
            _ => Accepts::Mixed,
        }
    }

    /// Combines the effects of one change at two places.
    pub(crate) fn or_elsewhere(self, other: Accepts) -> Accepts {
        match (self, other) {
            (Accepts::Same, _) | (_, Accepts::Same) if self != other => Accepts::Mixed,
            _ => self.and(other),
        }
    }

    /// Returns the effect outside of a `not` whose operand has this effect. Closing an object in the operand makes the
    /// `not` accept arguments that it refused before, so `Closed` becomes `Wider`, like `Narrower`.
    pub fn inverted(self) -> Accepts {
        match self {
            Accepts::Wider => Accepts::Narrower,
            Accepts::Closed => Accepts::Wider,
            Accepts::Narrower => Accepts::Wider,
            effect => effect,
        }
    }
}

/// Effect of a kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    /// Effect on the accepted arguments.
    pub(crate) accepts: Accepts,
    /// Effect on what the model reads.
    pub(crate) guidance: Guidance,
    /// True if arguments are encoded and can be restored.
    pub(crate) encoded: bool,
}

impl Effect {
    /// No effect: the same arguments are accepted, and the model reads the same.
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

/// Reason of a change: the fact of an API that it serves, with its confidence and its source. [`Display`](fmt::Display)
/// writes all three, in the form that reports have in the other languages.
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
    /// Confidence and source of the fact.
    known: Option<(char, &'static str)>,
}

impl Reason {
    /// Creates a reason from observed behavior of an API, with its confidence and its source. The parts are kept
    /// separate because many changes of one schema serve the same fact, and most reports are never formatted.
    pub(crate) const fn fact(statement: &'static str, confidence: char, source: &'static str) -> Self {
        Reason { statement: Cow::Borrowed(statement), known: Some((confidence, source)) }
    }

    /// Returns the statement of the fact.
    pub fn statement(&self) -> &str {
        &self.statement
    }

    /// Returns the confidence, from `A` to `C`, as in the tables of dialects; `None` if the reason is not a fact of an
    /// API.
    pub fn confidence(&self) -> Option<char> {
        self.known.map(|(confidence, _)| confidence)
    }

    /// Returns the source; `None` if the reason is not a fact of an API.
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

/// A change: its position, rule, effect and reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// JSON Pointer into the input to the cause. For a node that was reached through a `$ref`, the pointer refers to
    /// the definition.
    pub pointer: String,
    /// JSON Pointer into the output to the effect; `None` if nothing is left of the node.
    pub output_pointer: Option<String>,
    /// Kebab-case name of the rule.
    pub rule: &'static str,
    /// Effect on the accepted arguments. If `encoded`, it is the effect after restoring.
    pub accepts: Accepts,
    /// Effect on what the model reads.
    pub guidance: Guidance,
    /// True if arguments are encoded; `restore_arguments` restores them.
    pub encoded: bool,
    /// Fact of the provider that the rule serves.
    pub reason: Reason,
    /// Description of the change for people.
    pub message: String,
}

impl Change {
    /// Creates a change that consists only of its rule and its effect.
    pub(crate) fn in_brief(rule: &'static str, effect: Effect) -> Change {
        let Effect { accepts, guidance, encoded } = effect;
        let (pointer, message, reason) = (String::new(), String::new(), Reason::from(""));
        Change { pointer, output_pointer: None, rule, accepts, guidance, encoded, reason, message }
    }
}

/// Maximum loss that a caller accepts (`allow`); a greater loss is the error `too-lossy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Allow {
    /// Changes must accept exactly the same arguments, unencoded.
    Same,
    /// Arguments may be encoded, because they can be restored.
    Encoded,
    /// In addition, objects may be closed that did not state whether they are open.
    Closed,
    /// In addition, more arguments may be accepted; the tool's own server refuses invalid ones.
    Wider,
    /// Any change is accepted, including those that forbid valid calls.
    #[default]
    Any,
}

impl Allow {
    /// Returns the word used in options.
    pub const fn as_str(self) -> &'static str {
        match self {
            Allow::Same => "same",
            Allow::Encoded => "encoded",
            Allow::Closed => "closed",
            Allow::Wider => "wider",
            Allow::Any => "any",
        }
    }

    /// Returns the strictest permission that accepts this change.
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

/// Returns true if every change accepts the same arguments and no guidance is lost.
pub fn lossless(changes: &[Change]) -> bool {
    changes.iter().all(|change| change.accepts == Accepts::Same && change.guidance != Guidance::Lost)
}

/// Level of detail of recorded changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Rules and effects. Pointers, reasons and messages may be empty, because they account for most of the cost of a
    /// report.
    Effects,
    /// All fields.
    Whole,
}

/// Collects changes during a rewrite. It costs nothing if recording is off.
pub(crate) struct Recorder {
    /// Changes with their positions in document order; `None` if recording is off.
    changes: Option<Vec<(u32, Change)>>,
    detail: Detail,
}

impl Recorder {
    /// Creates a recorder of all details.
    pub(crate) fn on() -> Self {
        Recorder::of(Detail::Whole)
    }

    /// Creates a recorder with this level of detail.
    pub(crate) fn of(detail: Detail) -> Self {
        Recorder { changes: Some(Vec::new()), detail }
    }

    /// Creates a recorder that records nothing.
    pub(crate) fn off() -> Self {
        Recorder { changes: None, detail: Detail::Whole }
    }

    pub(crate) fn detail(&self) -> Detail {
        self.detail
    }

    /// Records a change at a position in document order. The change is only created if recording is on.
    pub(crate) fn note(&mut self, place: u32, change: impl FnOnce() -> Change) {
        if let Some(changes) = &mut self.changes {
            changes.push((place, change()));
        }
    }

    /// Reserves capacity for `count` changes.
    pub(crate) fn reserve(&mut self, count: usize) {
        if let Some(changes) = &mut self.changes {
            changes.reserve_exact(count);
        }
    }

    /// Returns true if recording is on.
    pub(crate) fn is_on(&self) -> bool {
        self.changes.is_some()
    }

    /// Removes the changes at or below these pointers into the input, because the values that they changed were
    /// removed, which another change reports.
    pub(crate) fn forget(&mut self, gone: &Set<String>) {
        let Some(changes) = self.changes.as_mut().filter(|_| !gone.is_empty()) else { return };
        changes.retain(|(_, change)| {
            let ends = change.pointer.match_indices('/').map(|(end, _)| end).chain([change.pointer.len()]);
            !ends.filter_map(|end| change.pointer.get(..end)).any(|above| gone.contains(above))
        });
    }

    /// Removes the most recent changes that are strictly below a pointer. This is for rules that traverse a schema
    /// bottom-up, so that the changes below a schema are the most recent ones.
    pub(crate) fn forget_latest_below(&mut self, pointer: &str) {
        let Some(changes) = &mut self.changes else { return };
        let is_below = |change: &Change| change.pointer.strip_prefix(pointer).is_some_and(|rest| rest.starts_with('/'));
        while changes.last().is_some_and(|(_, change)| is_below(change)) {
            changes.pop();
        }
    }

    /// Returns the changes in document order; changes at the same position are in the order of the rules.
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
    fn effects_compose_by_their_definitions() {
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
    fn effects_at_several_places_combine_to_the_worst() {
        for (here, there, both) in [
            (Closed, Closed, Closed),
            (Closed, Narrower, Narrower),
            (Closed, Wider, Mixed),
            (Same, Closed, Mixed),
            (Same, Same, Same),
        ] {
            assert_eq!((here.or_elsewhere(there), there.or_elsewhere(here)), (both, both), "{here:?}, {there:?}");
        }
    }

    #[test]
    fn permissions_are_ordered_by_loss() {
        let needed = [(Same, false), (Same, true), (Closed, false), (Wider, true), (Narrower, false), (Mixed, false)]
            .map(|(accepts, encoded)| Allow::needed_for(accepts, encoded));
        assert_eq!(needed, [Allow::Same, Allow::Encoded, Allow::Closed, Allow::Wider, Allow::Any, Allow::Any]);
        assert!(needed.is_sorted());
    }
}
