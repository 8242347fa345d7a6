//! Reports on repaired arguments: rules, repairs, remaining violations and their reasons.

use alloc::{format, string::String, vec::Vec};

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

/// Confidence in a repair.
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
        /// The number is too large for many programs to read it exactly.
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

    /// Returns the reason why a repair is not permitted; `None` if it is.
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
    /// Description of the repair for people.
    pub message: String,
    /// Original position of a part of the result, if the pointers do not describe everything that the repair moved.
    pub(crate) moved_from: Option<MovedFrom>,
}

/// A position in the result, and the position in the original arguments from which the values below it were moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MovedFrom {
    pub(crate) to: String,
    pub(crate) from: String,
    /// True if the original position is inside a text, whose position then applies to all values below.
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
    /// Message for people and models: what was expected, and the kind of value that was found.
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

/// Returns the remaining violations as text for the model. It contains names, kinds and values from the schema, but no
/// values of the arguments.
pub(crate) fn retry_message(left: &[Left], tool: Option<&str>) -> Option<String> {
    if left.is_empty() {
        return None;
    }
    let of = tool.map_or_else(String::new, |name| format!(" of `{name}`"));
    let mut message = format!("The arguments{of} do not match the schema of the tool:\n");
    for Left { pointer, message: wrong, .. } in left.iter().take(LINES) {
        let place = if pointer.is_empty() { "the arguments" } else { pointer };
        message.push_str(&format!("- {place}: {wrong}\n"));
    }
    if let Some(more @ 1..) = left.len().checked_sub(LINES) {
        message.push_str(&format!("- and {more} more\n"));
    }
    message.push_str("Call the tool again with arguments that match.");
    Some(message)
}

impl<T> Repaired<T> {
    /// Creates the result for arguments that need no repair.
    pub(crate) fn untouched(arguments: T, valid: Option<bool>) -> Repaired<T> {
        Repaired { arguments, changed: false, valid, repairs: Vec::new(), left: Vec::new(), retry_message: None }
    }

    /// Creates the result for text that cannot be read and is left unchanged.
    pub(crate) fn unread(arguments: T, reason: LeftReason, message: String, tool: Option<&str>) -> Repaired<T> {
        let left = Vec::from([Left { pointer: String::new(), keyword: "type", reason, message }]);
        let retry_message = retry_message(&left, tool);
        Repaired { arguments, changed: false, valid: Some(false), repairs: Vec::new(), left, retry_message }
    }

    /// Returns the result with the arguments converted by `form`.
    pub(crate) fn map<U>(self, form: impl FnOnce(T) -> U) -> Repaired<U> {
        let Repaired { arguments, changed, valid, repairs, left, retry_message } = self;
        Repaired { arguments: form(arguments), changed, valid, repairs, left, retry_message }
    }
}
