//! What repairing arguments says about itself: rules, repairs, what was left and why.

use alloc::{format, string::String, vec::Vec};

macro_rules! named {
    ($(#[$meta:meta])* $type:ident { $(#[doc = $doc:literal] $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $type { $(#[doc = $doc] $variant,)* }

        impl $type {
            /// All of them, in the order of the documentation.
            pub const ALL: &'static [$type] = &[$($type::$variant,)*];

            /// The name as it stands in reports.
            pub const fn as_str(self) -> &'static str {
                match self { $($type::$variant => $text,)* }
            }

            /// What it stands for, in a sentence.
            pub const fn summary(self) -> &'static str {
                match self { $($type::$variant => $doc.trim_ascii(),)* }
            }
        }
    };
}

named! {
    /// One way in which models answer arguments wrongly, and how it is undone. Those of text come first, then those of
    /// values.
    RepairRule {
        /// A byte order mark or a no-break space between tokens is nothing.
        ByteOrderMark = "byte-order-mark",
        /// The Markdown fence around JSON is nothing.
        Fence = "fence",
        /// The words around the one JSON value are nothing.
        SurroundingText = "surrounding-text",
        /// A comma before the first or behind the last member is nothing.
        ExtraComma = "extra-comma",
        /// A comment is nothing.
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
        /// A comma is missing between two members, or between items on lines of their own.
        MissingComma = "missing-comma",
        /// The closing brackets behind the value are too many.
        ExtraBracket = "extra-bracket",
        /// In the last run of closing brackets one lacks, or is of the wrong kind.
        MisnestedBracket = "misnested-bracket",
        /// The closing brackets lack at the end; only with `truncated: "close"`.
        MissingBracket = "missing-bracket",
        /// A backslash that begins no escape is a backslash.
        InvalidEscape = "invalid-escape",
        /// The whole text was escaped once too often.
        EscapedText = "escaped-text",
        /// The same value stands there more than once.
        RepeatedValue = "repeated-value",
        /// An empty value stands before or behind the real one.
        EmptyValue = "empty-value",
        /// Blank text, `null` and `None` are no arguments.
        EmptyArguments = "empty-arguments",
        /// The arguments stand inside one more object, as `arguments`, `input` or the like.
        UnwrapArguments = "unwrap-arguments",
        /// A name in another spelling is the declared one.
        PropertyName = "property-name",
        /// A string that holds the JSON text of the array or object that was asked for.
        JsonString = "json-string",
        /// A string that spells a number.
        StringToNumber = "string-to-number",
        /// A string that says `true` or `false`.
        StringToBoolean = "string-to-boolean",
        /// A string that says `null`.
        StringToNull = "string-to-null",
        /// A blank string where null is admitted.
        EmptyToNull = "empty-to-null",
        /// 0 and 1 where a boolean was asked for.
        NumberToBoolean = "number-to-boolean",
        /// A number where a string was asked for, as it is spelled.
        NumberToString = "number-to-string",
        /// A boolean where a string was asked for.
        BooleanToString = "boolean-to-string",
        /// A value of an `enum` or `const` in another spelling.
        EnumSpelling = "enum-spelling",
        /// One value where an array was asked for.
        WrapArray = "wrap-array",
        /// An array of one where its item was asked for.
        UnwrapArray = "unwrap-array",
        /// `{"item": …}` around an array or an item.
        ItemWrapper = "item-wrapper",
        /// Null for an optional member that admits none.
        OmitNull = "omit-null",
        /// A blank string for an optional member that refuses it.
        OmitEmpty = "omit-empty",
        /// A word for null for an optional member that is no string.
        OmitNullString = "omit-null-string",
        /// The schema's default for a required member that lacks; only with `useDefaults`.
        UseDefault = "use-default",
        /// An undeclared member of a closed object goes; only with `removeAdditional`.
        RemoveAdditional = "remove-additional",
    }
}

impl RepairRule {
    /// The rule of that name.
    pub fn named(name: &str) -> Option<RepairRule> {
        RepairRule::ALL.iter().copied().find(|rule| rule.as_str() == name)
    }

    const fn bit(self) -> u64 {
        1 << self as u32
    }
}

/// How sure a repair is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// A guess that has one valid outcome.
    #[default]
    Likely,
    /// The same value in another notation, with one reading.
    Exact,
}

impl Confidence {
    /// The name as it stands in reports and options.
    pub const fn as_str(self) -> &'static str {
        match self {
            Confidence::Exact => "exact",
            Confidence::Likely => "likely",
        }
    }
}

named! {
    /// Why something was left as the model answered it.
    LeftReason {
        /// No rule answers this.
        NoRule = "no-rule",
        /// Several readings are valid.
        Ambiguous = "ambiguous",
        /// The number is too large for half of the programs that would read it.
        Inexact = "inexact",
        /// A rule would, but only with confidence `likely`.
        NotExact = "not-exact",
        /// A rule would, and is disabled.
        SwitchedOff = "switched-off",
        /// The text breaks off.
        Truncated = "truncated",
        /// The text holds several different values.
        SeveralValues = "several-values",
        /// The text holds no JSON.
        NoJson = "no-json",
        /// The text has backslashes that can be read as escapes and as themselves.
        AmbiguousEscape = "ambiguous-escape",
        /// A name stands twice, with two values.
        DuplicateName = "duplicate-name",
        /// The text is nested deeper than can be read.
        TooDeep = "too-deep",
        /// The text is not JSON, and no rule reads it.
        Syntax = "syntax",
    }
}

/// Which repairs a caller lets happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Permits {
    pub(crate) least: Confidence,
    disabled: u64,
}

impl Permits {
    pub(crate) fn new(least: Confidence, disabled: &[RepairRule]) -> Self {
        Permits { least, disabled: disabled.iter().fold(0, |bits, rule| bits | rule.bit()) }
    }

    /// Why a repair may not happen; `None`: it may.
    pub(crate) const fn refusal(self, rule: RepairRule, confidence: Confidence) -> Option<LeftReason> {
        match () {
            () if self.disabled & rule.bit() != 0 => Some(LeftReason::SwitchedOff),
            () if matches!((self.least, confidence), (Confidence::Exact, Confidence::Likely)) => {
                Some(LeftReason::NotExact)
            }
            () => None,
        }
    }
}

/// One repair. It has places, names, kinds and offsets, and nothing of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// JSON Pointer into the arguments as they were answered. What stands inside a text has the place of that text.
    pub pointer: String,
    /// JSON Pointer into the result; `None` if nothing is left.
    pub output_pointer: Option<String>,
    /// The rule.
    pub rule: RepairRule,
    /// How sure it is.
    pub confidence: Confidence,
    /// The kind of value that was answered, as `type` names it; for `property-name` the name. `text` for text that was
    /// not JSON, `nothing` for what was missing.
    pub from: String,
    /// The kind of value that it is now, or the name; `nothing` if it was left out.
    pub to: String,
    /// For people: what was found and what became of it.
    pub message: String,
    /// Where a part of the result stood, if a repair moved more than the pointers tell.
    pub(crate) stood: Option<Stood>,
}

/// A place of the result, and where what is below it stood in the arguments as they were answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stood {
    pub(crate) to: String,
    pub(crate) from: String,
    /// In a text: all of it has the text's place.
    pub(crate) is_in_text: bool,
}

/// What is still wrong after repairing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Left {
    /// JSON Pointer into the result.
    pub pointer: String,
    /// The keyword that refuses it; `false` for a schema that is `false`.
    pub keyword: &'static str,
    /// Why it was not repaired.
    pub reason: LeftReason,
    /// For people and models: what was expected and what kind of value was found.
    pub message: String,
}

/// What came of repairing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired<T> {
    /// The arguments, repaired or as they were.
    pub arguments: T,
    /// Whether anything was repaired.
    pub changed: bool,
    /// Whether the schema takes them now; `None` where that cannot be determined.
    pub valid: Option<bool>,
    /// Every repair, in the order in which they were made.
    pub repairs: Vec<Repair>,
    /// What is still wrong, at most 100; empty unless `valid` is `Some(false)`.
    pub left: Vec<Left>,
    /// What is still wrong as one text, to be sent back to the model as the result of its call; `None` if nothing is.
    pub retry_message: Option<String>,
}

/// What became of the arguments of one call when it was restored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairedCall {
    /// The call's id, if the API gave one.
    pub id: Option<String>,
    /// The tool's own name.
    pub name: String,
    /// Whether the tool's own schema takes the arguments now; `None` where that cannot be determined.
    pub valid: Option<bool>,
    /// Every repair, in the order in which they were made.
    pub repairs: Vec<Repair>,
    /// What is still wrong, at most 100; empty unless `valid` is `Some(false)`. Text that cannot be read stays as it
    /// was answered, and is wrong as a whole.
    pub left: Vec<Left>,
    /// What is still wrong as one text, to be sent back to the model as the result of its call; `None` if nothing is.
    pub retry_message: Option<String>,
}

/// The most places that a message to the model names.
const LINES: usize = 20;

/// What is still wrong, as a text for the model: names, kinds and listed values, and nothing of its own values.
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
    /// What is said of arguments that need no repair.
    pub(crate) fn untouched(arguments: T, valid: Option<bool>) -> Repaired<T> {
        Repaired { arguments, changed: false, valid, repairs: Vec::new(), left: Vec::new(), retry_message: None }
    }

    /// What is said of a text that cannot be read, and stays.
    pub(crate) fn unread(arguments: T, reason: LeftReason, message: String, tool: Option<&str>) -> Repaired<T> {
        let left = Vec::from([Left { pointer: String::new(), keyword: "type", reason, message }]);
        let retry_message = retry_message(&left, tool);
        Repaired { arguments, changed: false, valid: Some(false), repairs: Vec::new(), left, retry_message }
    }

    /// The same with the arguments in another form.
    pub(crate) fn map<U>(self, form: impl FnOnce(T) -> U) -> Repaired<U> {
        let Repaired { arguments, changed, valid, repairs, left, retry_message } = self;
        Repaired { arguments: form(arguments), changed, valid, repairs, left, retry_message }
    }
}
