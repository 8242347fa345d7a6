//! A JSON string: its value, and its spelling where it came from JSON text.
//!
//! Untouched strings are written back exactly as they were spelled, escapes included, and a lone surrogate (which no
//! Rust string can hold) survives as the escape it was written with.

use alloc::{borrow::Cow, string::String};
use core::{
    fmt,
    sync::atomic::{AtomicU8, Ordering::Relaxed},
};

/// What a member is looked up by: its name, or what whoever reads documents of one kind knows it as.
pub trait Name: Copy {
    /// Is this the key?
    fn is_name_of(self, key: &Text<'_>) -> bool;
}

impl Name for &str {
    #[inline(always)]
    fn is_name_of(self, key: &Text<'_>) -> bool {
        key.is_found(self)
    }
}

impl Name for &String {
    #[inline(always)]
    fn is_name_of(self, key: &Text<'_>) -> bool {
        key.is_found(self)
    }
}

impl Name for &Cow<'_, str> {
    #[inline(always)]
    fn is_name_of(self, key: &Text<'_>) -> bool {
        key.is_found(self)
    }
}

impl<N: Name> Name for &N {
    #[inline(always)]
    fn is_name_of(self, key: &Text<'_>) -> bool {
        (*self).is_name_of(key)
    }
}

/// A JSON string.
pub struct Text<'a> {
    chars: Cow<'a, str>,
    spelling: Spelling,
    /// See [`Text::noted`]. Atomic only because others may look at the tree at the same time: all would note the same.
    note: AtomicU8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// The value; JSON text spells it the same way.
    Plain,
    /// The value; writing it as JSON text may need escapes.
    Value,
    /// JSON text between the quotes, with at least one escape in it.
    Escaped,
}

impl<'a> Text<'a> {
    const fn of(chars: Cow<'a, str>, spelling: Spelling) -> Self {
        Text { chars, spelling, note: AtomicU8::new(0) }
    }

    /// What whoever looked the name up in a table noted about it, so that nobody has to a second time; 0 before that.
    #[inline(always)]
    pub(crate) fn noted(&self) -> u8 {
        self.note.load(Relaxed)
    }

    /// See [`Text::noted`].
    pub(crate) fn take_note(&self, note: u8) {
        self.note.store(note, Relaxed);
    }

    /// A string by its value.
    pub fn new(value: impl Into<Cow<'a, str>>) -> Self {
        Text::of(value.into(), Spelling::Value)
    }

    /// A keyword or another literal that needs no escapes in JSON text.
    pub(crate) const fn literal(value: &'static str) -> Self {
        Text::of(Cow::Borrowed(value), Spelling::Plain)
    }

    /// A string by its spelling between the quotes of valid JSON text; `escaped` says whether a backslash is in it.
    ///
    /// Bindings use it for strings that hold lone surrogates: `\ud800` is their only spelling.
    pub fn spelled(between_quotes: impl Into<Cow<'a, str>>, escaped: bool) -> Self {
        Text::of(between_quotes.into(), if escaped { Spelling::Escaped } else { Spelling::Plain })
    }

    /// The value, or `None` if it holds a lone surrogate.
    pub fn value(&self) -> Option<Cow<'_, str>> {
        match self.spelling {
            Spelling::Plain | Spelling::Value => Some(Cow::Borrowed(&self.chars)),
            Spelling::Escaped => self.decoded().map(Cow::Owned),
        }
    }

    // What deals with escapes is rare and long: apart, so that it is not in every place that looks at a string.
    #[cold]
    #[inline(never)]
    fn decoded(&self) -> Option<String> {
        let mut value = String::with_capacity(self.chars.len());
        for point in self.code_points() {
            value.push(char::from_u32(point)?);
        }
        Some(value)
    }

    #[cold]
    #[inline(never)]
    fn decodes_to(&self, value: &str) -> bool {
        self.code_points().eq(value.chars().map(u32::from))
    }

    #[cold]
    #[inline(never)]
    fn compare_decoded(&self, other: &Text<'_>) -> core::cmp::Ordering {
        self.code_points().cmp(other.code_points())
    }

    /// The value without decoding, where there is nothing to decode.
    pub fn as_plain(&self) -> Option<&str> {
        (self.spelling != Spelling::Escaped).then_some(&*self.chars)
    }

    /// The value as it can be shown to people: a lone surrogate shows as its escape.
    #[inline(never)]
    pub fn display(&self) -> Cow<'_, str> {
        self.value().unwrap_or(Cow::Borrowed(&self.chars))
    }

    /// Is this the string `value`? Sees through escapes.
    pub fn is(&self, value: impl Name) -> bool {
        value.is_name_of(self)
    }

    /// [`Text::is`] for a search through many names: inlined, which in all the places that ask about one would be too
    /// much.
    #[inline(always)]
    pub(crate) fn is_found(&self, value: &str) -> bool {
        match self.spelling {
            // Keys of one length mostly differ in the first byte, and a call to compare them all costs more than a look
            // at that.
            Spelling::Plain | Spelling::Value => {
                let (own, other) = (self.chars.as_bytes(), value.as_bytes());
                own.len() == other.len() && own.first() == other.first() && same_bytes(own, other)
            }
            Spelling::Escaped => self.decodes_to(value),
        }
    }

    /// Is the value the empty string?
    pub fn is_empty(&self) -> bool {
        self.chars.is_empty()
    }

    /// The value's code points; a surrogate without its partner stands for itself.
    pub fn code_points(&self) -> CodePoints<'_> {
        CodePoints { rest: &self.chars, escaped: self.spelling == Spelling::Escaped }
    }

    /// The spelling between the quotes, where the string came with one that can be copied.
    pub(crate) fn spelling(&self) -> Option<&str> {
        (self.spelling != Spelling::Value).then_some(&*self.chars)
    }

    /// The characters behind the string: its value, or its escaped spelling.
    pub(crate) fn chars(&self) -> &str {
        &self.chars
    }

    /// The same string, borrowing nothing.
    pub fn into_owned(self) -> Text<'static> {
        Text { chars: Cow::Owned(self.chars.into_owned()), spelling: self.spelling, note: self.note }
    }

    /// The same string, borrowed from this one.
    pub fn borrowed(&self) -> Text<'_> {
        Text { chars: Cow::Borrowed(&self.chars), spelling: self.spelling, note: AtomicU8::new(self.noted()) }
    }
}

impl Clone for Text<'_> {
    #[inline(always)]
    fn clone(&self) -> Self {
        match &self.chars {
            Cow::Borrowed(chars) => {
                Text { chars: Cow::Borrowed(chars), spelling: self.spelling, note: AtomicU8::new(self.noted()) }
            }
            Cow::Owned(_) => self.cloned(),
        }
    }
}

impl<'a> Text<'a> {
    // Most strings are borrowed: what copies the others is apart.
    #[inline(never)]
    fn cloned(&self) -> Text<'a> {
        Text { chars: Cow::Owned((*self.chars).into()), spelling: self.spelling, note: AtomicU8::new(self.noted()) }
    }

    /// `==` for a search through many names: most differ in length or in the first byte.
    #[inline(always)]
    pub(super) fn is_twin(&self, other: &Text<'_>) -> bool {
        let both_plain = self.spelling != Spelling::Escaped && other.spelling != Spelling::Escaped;
        let (one, two) = (self.chars.as_bytes(), other.chars.as_bytes());
        let differ = both_plain && (one.len() != two.len() || one.first() != two.first());
        !differ && self == other
    }
}

/// Are bytes of the same length the same? Eight at a time: WebAssembly has no instruction that compares memory, and
/// what Rust links there instead goes byte by byte.
#[cfg(target_family = "wasm")]
#[inline(never)]
fn same_bytes(mut one: &[u8], mut two: &[u8]) -> bool {
    while let (Some((first, rest)), Some((second, others))) =
        (one.split_first_chunk::<8>(), two.split_first_chunk::<8>())
    {
        if first != second {
            return false;
        }
        (one, two) = (rest, others);
    }
    if let (Some((first, rest)), Some((second, others))) = (one.split_first_chunk::<4>(), two.split_first_chunk::<4>())
    {
        if first != second {
            return false;
        }
        (one, two) = (rest, others);
    }
    one.iter().zip(two).all(|(one, two)| one == two)
}

/// Are bytes of the same length the same?
#[cfg(not(target_family = "wasm"))]
#[inline(always)]
fn same_bytes(one: &[u8], two: &[u8]) -> bool {
    one == two
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self.spelling == Spelling::Escaped, other.spelling == Spelling::Escaped) {
            (false, false) => {
                self.chars.len() == other.chars.len() && same_bytes(self.chars.as_bytes(), other.chars.as_bytes())
            }
            _ => self.compare_decoded(other).is_eq(),
        }
    }
}

impl Eq for Text<'_> {}

impl PartialOrd for Text<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// By code points, which for strings without escapes is the order of their bytes.
impl Ord for Text<'_> {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        match (self.spelling == Spelling::Escaped, other.spelling == Spelling::Escaped) {
            (false, false) => self.chars.cmp(&other.chars),
            _ => self.compare_decoded(other),
        }
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.display(), f)
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(value: &'a str) -> Self {
        Text::new(value)
    }
}

impl From<String> for Text<'_> {
    fn from(value: String) -> Self {
        Text::new(value)
    }
}

/// The code points of a [`Text`], surrogate pairs joined.
#[derive(Clone)]
pub struct CodePoints<'t> {
    rest: &'t str,
    escaped: bool,
}

impl CodePoints<'_> {
    fn hex(&mut self) -> u32 {
        let (digits, rest) = self.rest.split_at_checked(4).unwrap_or((self.rest, ""));
        self.rest = rest;
        u32::from_str_radix(digits, 16).unwrap_or(0xFFFD)
    }
}

impl Iterator for CodePoints<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let mut chars = self.rest.chars();
        let first = chars.next()?;
        self.rest = chars.as_str();
        if !self.escaped || first != '\\' {
            return Some(first.into());
        }
        let kind = chars.next()?;
        self.rest = chars.as_str();
        Some(match kind {
            'b' => 0x08,
            'f' => 0x0C,
            'n' => 0x0A,
            'r' => 0x0D,
            't' => 0x09,
            'u' => {
                let unit = self.hex();
                if (0xD800..0xDC00).contains(&unit) {
                    let mut ahead = self.clone();
                    if let Some(rest) = ahead.rest.strip_prefix("\\u") {
                        ahead.rest = rest;
                        let low = ahead.hex();
                        if (0xDC00..0xE000).contains(&low) {
                            *self = ahead;
                            return Some(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
                        }
                    }
                }
                unit
            }
            // `"`, `\` and `/` stand for themselves, and the reader lets nothing else through.
            other => other.into(),
        })
    }
}
