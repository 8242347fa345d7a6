//! Reports on rewriting: changes, their effects, and their summary. Reports on repaired arguments: rules, repairs,
//! remaining violations and their reasons.
//!
//! These types are plain data and independent of schemas and trees; `api` converts them into JSON.

use alloc::{borrow::Cow, format, string::String, vec::Vec};
use core::fmt;

use crate::{
    collections::{self, Set},
    effect::{names, Accepts, Effect, Guidance},
    rules::Rule,
};

names! {
    /// Reaction of an API to input that violates one of its facts. The list is closed.
    Severity {
        /// The API returns an error, or the client drops the tool.
        Refused = "refused",
        /// The API responds, but holds the model to arguments other than those that the schema describes.
        Reinterpreted = "reinterpreted",
        /// The API responds, but the violating part has no effect.
        Ignored = "ignored",
    }
}

/// How well a fact is known, from the surest. The list is closed. [`Display`](fmt::Display) writes the letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// Official documentation, validator or source, or two independent live reports.
    A,
    /// One live report.
    B,
    /// Inferred.
    C,
}

impl Grade {
    /// Returns the letter used in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Grade::A => "A",
            Grade::B => "B",
            Grade::C => "C",
        }
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

/// Reason for a change: the fact of an API that it serves, with its confidence and its source.
/// [`Display`](fmt::Display) writes all three, in the form that reports have in the other languages.
///
/// ```
/// use toolwire::{sanitize, Dialect, SanitizeOptions};
/// let sanitized = sanitize(r#"{"type":"object"}"#, &SanitizeOptions::new(Dialect::OPENAI_STRICT))?;
/// let reason = &sanitized.changes()?[0].reason;
/// assert_eq!(reason.confidence(), Some(toolwire::reports::Grade::A));
/// assert!(reason.to_string().starts_with(reason.statement()));
/// # Ok::<(), toolwire::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    statement: Cow<'static, str>,
    /// Confidence and source of the fact.
    known: Option<(Grade, &'static str)>,
}

impl Reason {
    /// Creates a reason from a fact. Confidence and source are stored separately from the statement, because most
    /// reports are never formatted.
    pub(crate) const fn fact(statement: &'static str, confidence: Grade, source: &'static str) -> Self {
        Reason { statement: Cow::Borrowed(statement), known: Some((confidence, source)) }
    }

    /// Returns the statement of the fact.
    pub fn statement(&self) -> &str {
        &self.statement
    }

    /// Returns the confidence, from `A` to `C`, as in the tables of dialects; `None` if the reason is not a fact of an
    /// API.
    pub fn confidence(&self) -> Option<Grade> {
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
#[non_exhaustive]
pub struct Change {
    /// JSON Pointer into the input, to the cause. For a node that was reached through a `$ref`, the pointer refers
    /// to the definition.
    pub pointer: String,
    /// JSON Pointer into the output, to the changed part; `None` if nothing is left of the node.
    pub output_pointer: Option<String>,
    /// The kind of change.
    pub rule: Rule,
    /// Effect on the accepted arguments. If `encoded`, it is the effect after restoring.
    pub accepts: Accepts,
    /// Effect on what the model reads.
    pub guidance: Guidance,
    /// True if arguments are encoded; `restore_arguments` restores them.
    pub encoded: bool,
    /// Fact of the provider that the rule serves.
    pub reason: Reason,
    /// Human-readable description of the change.
    pub message: String,
}

impl Change {
    /// Creates a change that consists only of its rule and its effect.
    pub(crate) fn in_brief(rule: Rule, effect: Effect) -> Change {
        let Effect { accepts, guidance, encoded } = effect;
        let (pointer, message, reason) = (String::new(), String::new(), Reason::from(""));
        Change { pointer, output_pointer: None, rule, accepts, guidance, encoded, reason, message }
    }
}

/// Maximum loss that a caller accepts (`allow`); a greater loss is the error `too-lossy`. The list is closed, in the
/// order of increasing loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Allow {
    /// Changes must accept exactly the same arguments, unencoded.
    Same,
    /// Arguments may be encoded, because they can be restored.
    Encoded,
    /// In addition, objects that do not state whether they are open may be closed.
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

    pub(crate) fn needed_for(accepts: Accepts, encoded: bool) -> Allow {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Rules and effects. Pointers, reasons and messages may be empty, because they account for most of the cost of a
    /// report.
    Effects,
    /// All fields.
    Whole,
}

/// Records changes. Recording costs nothing if it is off.
pub(crate) struct Recorder {
    /// Changes with their positions in document order; `None` if recording is off.
    changes: Option<Vec<(u32, Change)>>,
    detail: Detail,
}

impl Recorder {
    pub(crate) fn on() -> Self {
        Recorder::of(Detail::Whole)
    }

    pub(crate) fn of(detail: Detail) -> Self {
        Recorder { changes: Some(Vec::new()), detail }
    }

    pub(crate) fn off() -> Self {
        Recorder { changes: None, detail: Detail::Whole }
    }

    pub(crate) fn detail(&self) -> Detail {
        self.detail
    }

    /// Records a change at a position in document order. The change is created only if recording is on.
    pub(crate) fn record(&mut self, number: u32, change: impl FnOnce() -> Change) {
        if let Some(changes) = &mut self.changes {
            changes.push((number, change()));
        }
    }

    pub(crate) fn reserve(&mut self, count: usize) {
        if let Some(changes) = &mut self.changes {
            changes.reserve_exact(count);
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.changes.is_some()
    }

    /// Removes the changes at or below these pointers into the input. The values that they changed were removed, and
    /// another change reports the removal.
    pub(crate) fn forget(&mut self, removed: &Set<String>) {
        let Some(changes) = self.changes.as_mut().filter(|_| !removed.is_empty()) else { return };
        changes.retain(|(_, change)| {
            let ends = change.pointer.match_indices('/').map(|(end, _)| end).chain([change.pointer.len()]);
            !ends.filter_map(|end| change.pointer.get(..end)).any(|above| removed.contains(above))
        });
    }

    /// Removes the most recent changes that are strictly below a pointer. Rules that traverse a schema bottom-up need
    /// this: they record the changes below a schema immediately before the changes of the schema itself.
    pub(crate) fn forget_latest_below(&mut self, pointer: &str) {
        let Some(changes) = &mut self.changes else { return };
        let is_below = |change: &Change| change.pointer.strip_prefix(pointer).is_some_and(|rest| rest.starts_with('/'));
        while changes.last().is_some_and(|(_, change)| is_below(change)) {
            changes.pop();
        }
    }

    /// Returns the changes in document order. Changes at one position are in the order of the rules.
    pub(crate) fn finish(self) -> Vec<Change> {
        let changes = collections::sorted_by(self.changes.unwrap_or_default(), |(left, _), (right, _)| left.cmp(right));
        changes.into_iter().map(|(_, change)| change).collect()
    }
}

macro_rules! named {
    ($(#[$meta:meta])* $type:ident { $(#[doc = $doc:literal] $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $type { $(#[doc = $doc] $variant,)* }

        impl $type {
            /// All values, in the order of the documentation.
            pub const ALL: &'static [$type] = &[$($type::$variant,)*];

            /// Returns the name used in reports.
            pub const fn as_str(self) -> &'static str {
                match self { $($type::$variant => $text,)* }
            }

            /// Returns a description in one sentence.
            pub const fn summary(self) -> &'static str {
                match self { $($type::$variant => $doc.trim_ascii(),)* }
            }
        }
    };
}

named! {
    /// A kind of mistake that models make in arguments, and its repair. Mistakes in text come first, then those in
    /// values.
    RepairRule {
        /// A byte order mark or a no-break space between tokens is ignored.
        ByteOrderMark = "byte-order-mark",
        /// The Markdown fence around JSON is ignored.
        Fence = "fence",
        /// The words around a single JSON value are ignored.
        SurroundingText = "surrounding-text",
        /// A comma before the first or after the last member is ignored.
        ExtraComma = "extra-comma",
        /// A comment is ignored.
        Comment = "comment",
        /// A raw line break, tab or other control character inside a string is that character.
        ControlCharacter = "control-character",
        /// `'text'` is a string.
        SingleQuotes = "single-quotes",
        /// `\'` in a string is an apostrophe.
        EscapedApostrophe = "escaped-apostrophe",
        /// `“text”` is a string.
        SmartQuotes = "smart-quotes",
        /// A bare word before a colon is a name.
        UnquotedKey = "unquoted-key",
        /// A name lacks one of its quotation marks; the schema declares it.
        MissingQuote = "missing-quote",
        /// The colon between a name and its value is missing; the schema declares the name.
        MissingColon = "missing-colon",
        /// A bare word is a string, and `+3` a number, where the schema expects nothing else.
        UnquotedString = "unquoted-string",
        /// A model's token for quotation marks, such as `<|"|>`, is a quotation mark.
        QuoteToken = "quote-token",
        /// `{{` and `}}` are single braces.
        DoubledBraces = "doubled-braces",
        /// `True`, `False` and `None` are `true`, `false` and `null`.
        PythonLiteral = "python-literal",
        /// `undefined` is `null`.
        Undefined = "undefined",
        /// A comma is missing between two members, or between items on separate lines.
        MissingComma = "missing-comma",
        /// There are too many closing brackets after the value.
        ExtraBracket = "extra-bracket",
        /// In the last run of closing brackets, one is missing or of the wrong kind.
        MisnestedBracket = "misnested-bracket",
        /// Closing brackets are missing at the end; only with `truncated: "close"`.
        MissingBracket = "missing-bracket",
        /// A backslash that does not begin an escape is a literal backslash.
        InvalidEscape = "invalid-escape",
        /// The whole text was escaped once too often.
        EscapedText = "escaped-text",
        /// The same value occurs more than once.
        RepeatedValue = "repeated-value",
        /// An empty value precedes or follows the real one.
        EmptyValue = "empty-value",
        /// Blank text, `null` and `None` are equivalent to missing arguments.
        EmptyArguments = "empty-arguments",
        /// The arguments are wrapped in another object, as `arguments`, `input` or the like.
        UnwrapArguments = "unwrap-arguments",
        /// A name in another spelling refers to the declared property.
        PropertyName = "property-name",
        /// A string contains the JSON text of the expected array or object.
        JsonString = "json-string",
        /// A string contains a number.
        StringToNumber = "string-to-number",
        /// A string contains `true` or `false`.
        StringToBoolean = "string-to-boolean",
        /// A string contains `null`.
        StringToNull = "string-to-null",
        /// A blank string where null is allowed.
        EmptyToNull = "empty-to-null",
        /// 0 or 1 where a boolean is expected.
        NumberToBoolean = "number-to-boolean",
        /// A number where a string is expected; its spelling is kept.
        NumberToString = "number-to-string",
        /// A boolean where a string is expected.
        BooleanToString = "boolean-to-string",
        /// A value of an `enum` or `const` in another spelling.
        EnumSpelling = "enum-spelling",
        /// A single value where an array is expected.
        WrapArray = "wrap-array",
        /// An array of one item where the item is expected.
        UnwrapArray = "unwrap-array",
        /// `{"item": …}` around an array or an item.
        ItemWrapper = "item-wrapper",
        /// Null for an optional member that does not allow null.
        OmitNull = "omit-null",
        /// A blank string for an optional member that refuses it.
        OmitEmpty = "omit-empty",
        /// A word for null for an optional member that does not accept strings.
        OmitNullString = "omit-null-string",
        /// The schema's default for a missing required member; only with `useDefaults`.
        UseDefault = "use-default",
        /// An undeclared member of a closed object is removed; only with `removeAdditional`.
        RemoveAdditional = "remove-additional",
    }
}

impl RepairRule {
    /// Returns the rule with this name.
    pub fn named(name: &str) -> Option<RepairRule> {
        RepairRule::ALL.iter().copied().find(|rule| rule.as_str() == name)
    }

    const fn bit(self) -> u64 {
        1 << self as u32
    }
}

/// Confidence in a repair. The list is closed, in the order of increasing confidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// A guess with a single valid outcome.
    #[default]
    Likely,
    /// The same value in another notation, with a single interpretation.
    Exact,
}

impl Confidence {
    /// Returns the name used in reports and options.
    pub const fn as_str(self) -> &'static str {
        match self {
            Confidence::Exact => "exact",
            Confidence::Likely => "likely",
        }
    }
}

named! {
    /// Reason why a violation was not repaired.
    LeftReason {
        /// No rule applies.
        NoRule = "no-rule",
        /// Several interpretations are valid.
        Ambiguous = "ambiguous",
        /// The number is too large for many programs to read exactly.
        Inexact = "inexact",
        /// A rule applies, but only with confidence `likely`.
        NotExact = "not-exact",
        /// A rule applies, but is disabled.
        SwitchedOff = "switched-off",
        /// The text is truncated.
        Truncated = "truncated",
        /// The text contains several different values.
        SeveralValues = "several-values",
        /// The text contains no JSON.
        NoJson = "no-json",
        /// The text has backslashes that can be read as escapes or literally.
        AmbiguousEscape = "ambiguous-escape",
        /// A name occurs twice, with different values.
        DuplicateName = "duplicate-name",
        /// The text is nested deeper than can be read.
        TooDeep = "too-deep",
        /// The text is not JSON, and no rule can repair it.
        Syntax = "syntax",
    }
}

/// The repairs that a caller permits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Permits {
    pub(crate) min_confidence: Confidence,
    disabled: u64,
}

impl Permits {
    pub(crate) fn new(min_confidence: Confidence, disabled: &[RepairRule]) -> Self {
        Permits { min_confidence, disabled: disabled.iter().fold(0, |bits, rule| bits | rule.bit()) }
    }

    pub(crate) const fn refusal(self, rule: RepairRule, confidence: Confidence) -> Option<LeftReason> {
        match () {
            () if self.disabled & rule.bit() != 0 => Some(LeftReason::SwitchedOff),
            () if matches!((self.min_confidence, confidence), (Confidence::Exact, Confidence::Likely)) => {
                Some(LeftReason::NotExact)
            }
            () => None,
        }
    }
}

/// A repair. It contains positions, names, kinds and offsets, but no values.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// JSON Pointer into the model's original arguments. A value inside a text has the position of that text.
    pub pointer: String,
    /// JSON Pointer into the result; `None` if the value was removed.
    pub output_pointer: Option<String>,
    /// Rule of the repair.
    pub rule: RepairRule,
    /// Confidence in the repair.
    pub confidence: Confidence,
    /// Kind of the original value, as `type` names it; for `property-name`, the original name. `text` for text that was
    /// not JSON, `nothing` for a missing value.
    pub from: String,
    /// Kind of the new value, or the new name; `nothing` if it was removed.
    pub to: String,
    /// Human-readable description of the repair.
    pub message: String,
    /// The move of a whole value, if the pointers do not describe everything that the repair moved.
    pub(crate) moved_from: Option<MovedFrom>,
}

/// A position in the result, and the position in the original arguments from which the values below it were moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MovedFrom {
    pub(crate) to: String,
    pub(crate) from: String,
    /// True if the original position is inside a text. Then the position of the text applies to all values below.
    pub(crate) is_in_text: bool,
}

/// A violation that is left after repairing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Left {
    /// JSON Pointer into the result.
    pub pointer: String,
    /// Keyword that is violated; `false` for a schema that is `false`.
    pub keyword: &'static str,
    /// Reason why it was not repaired.
    pub reason: LeftReason,
    /// Human-readable message, also for models: what was expected, and the kind of value that was found.
    pub message: String,
}

/// Result of repairing arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired<T> {
    /// The arguments, repaired or unchanged.
    pub arguments: T,
    /// True if anything was repaired.
    pub changed: bool,
    /// True if the schema accepts the arguments now; `None` if this cannot be determined.
    pub valid: Option<bool>,
    /// All repairs, in the order in which they were made.
    pub repairs: Vec<Repair>,
    /// Remaining violations, at most 100; empty unless `valid` is `Some(false)`.
    pub left: Vec<Left>,
    /// Remaining violations as text to send back to the model as the result of its call; `None` if no violation is
    /// left.
    pub retry_message: Option<String>,
}

named! {
    /// A change of a result by `fit_result`.
    ResultRule {
        /// Missing structured content is the JSON in the only text, which matches the `outputSchema`.
        FillContent = "fill-content",
        /// The structured content is added as text.
        AddText = "add-text",
        /// Structured content of an error is removed, because it does not match the `outputSchema` or is null.
        DropErrorContent = "drop-error-content",
        /// Structured content is removed: it does not match (`mismatch: "drop"`) or is null without `outputSchema`.
        DropContent = "drop-content",
        /// An error takes the place of the result; only with `mismatch: "refuse"`.
        RefuseResult = "refuse-result",
    }
}

/// A change of a result. It contains names and kinds, but no values of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResultChange {
    /// JSON Pointer into the given result, to the cause.
    pub pointer: String,
    /// JSON Pointer into the new result; `None` if the value was removed.
    pub output_pointer: Option<String>,
    /// Rule of the change.
    pub rule: ResultRule,
    /// Human-readable description of the change.
    pub message: String,
}

/// Repairs of the arguments of a restored call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairedCall {
    /// Id of the call, if the API provides one.
    pub id: Option<String>,
    /// The tool's own name.
    pub name: String,
    /// True if the tool's own schema accepts the arguments now; `None` if this cannot be determined.
    pub valid: Option<bool>,
    /// All repairs, in the order in which they were made.
    pub repairs: Vec<Repair>,
    /// Remaining violations, at most 100; empty unless `valid` is `Some(false)`. Text that cannot be read is left
    /// unchanged, and is a violation as a whole.
    pub left: Vec<Left>,
    /// Remaining violations as text to send back to the model as the result of its call; `None` if no violation is
    /// left.
    pub retry_message: Option<String>,
}

/// Maximum number of positions in a message to the model.
const LINES: usize = 20;

/// Returns the text for the model. It contains names, kinds and values from the schema, but no values of the arguments.
pub(crate) fn retry_message(left: &[Left], tool: Option<&str>) -> Option<String> {
    if left.is_empty() {
        return None;
    }
    let of = tool.map_or_else(String::new, |name| format!(" of `{name}`"));
    let mut message = format!("The arguments{of} do not match the schema of the tool:\n");
    for Left { pointer, message: wrong, .. } in left.iter().take(LINES) {
        let location = if pointer.is_empty() { "the arguments" } else { pointer };
        message.push_str(&format!("- {location}: {wrong}\n"));
    }
    if let Some(more @ 1..) = left.len().checked_sub(LINES) {
        message.push_str(&format!("- and {more} more\n"));
    }
    message.push_str("Call the tool again with arguments that match.");
    Some(message)
}

impl<T> Repaired<T> {
    pub(crate) fn untouched(arguments: T, valid: Option<bool>) -> Repaired<T> {
        Repaired { arguments, changed: false, valid, repairs: Vec::new(), left: Vec::new(), retry_message: None }
    }

    pub(crate) fn unread(arguments: T, reason: LeftReason, message: String, tool: Option<&str>) -> Repaired<T> {
        let left = Vec::from([Left { pointer: String::new(), keyword: "type", reason, message }]);
        let retry_message = retry_message(&left, tool);
        Repaired { arguments, changed: false, valid: Some(false), repairs: Vec::new(), left, retry_message }
    }

    pub(crate) fn map<U>(self, form: impl FnOnce(T) -> U) -> Repaired<U> {
        let Repaired { arguments, changed, valid, repairs, left, retry_message } = self;
        Repaired { arguments: form(arguments), changed, valid, repairs, left, retry_message }
    }
}

named! {
    /// A change to a reply that does not affect the values of its structured output, or of the arguments of its calls.
    AnswerChange {
        /// Text next to structured output that came as a call was removed.
        DropText = "drop-text",
        /// Further calls to the function after the one with the structured output were removed.
        DropCall = "drop-call",
        /// The structured output was extracted from a Markdown fence.
        RemoveFence = "remove-fence",
        /// A call of a stream got the index that tells it apart from other calls.
        NumberCall = "number-call",
        /// A call of a stream got an id.
        AddCallId = "add-call-id",
        /// Names, ids and arguments of a call that a stream repeated were removed.
        DropRepeated = "drop-repeated",
        /// Arguments that were a value, or missing, became the JSON text that the API promises.
        TextArguments = "text-arguments",
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
    fn effects_of_one_change_at_two_places_are_combined() {
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
    fn values_of_allow_are_ordered_by_loss() {
        let needed = [(Same, false), (Same, true), (Closed, false), (Wider, true), (Narrower, false), (Mixed, false)]
            .map(|(accepts, encoded)| Allow::needed_for(accepts, encoded));
        assert_eq!(needed, [Allow::Same, Allow::Encoded, Allow::Closed, Allow::Wider, Allow::Any, Allow::Any]);
        assert!(needed.is_sorted());
    }
}
