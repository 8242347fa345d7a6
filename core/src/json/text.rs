//! A JSON string: its value and, if it was read from JSON text, its spelling.
//!
//! Unchanged strings are written back exactly as they were spelled, including escapes. A lone surrogate cannot occur in
//! a Rust string. It is preserved as the escape with which it was spelled.

use alloc::{borrow::Cow, string::String};
use core::{
    fmt,
    sync::atomic::{AtomicU8, Ordering::Relaxed},
};

/// A name by which a member is looked up: a string or a keyword.
pub trait Name: Copy {
    /// Returns true if this is the name of the key.
    fn is_name_of(self, key: &Text<'_>) -> bool;
}

impl Name for &str {
    #[inline(always)]
    fn is_name_of(self, key: &Text<'_>) -> bool {
        key.has_value(self)
    }
}

impl Name for &String {
    #[inline(always)]
    fn is_name_of(self, key: &Text<'_>) -> bool {
        key.has_value(self)
    }
}

impl Name for &Cow<'_, str> {
    #[inline(always)]
    fn is_name_of(self, key: &Text<'_>) -> bool {
        key.has_value(self)
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
    /// See [`Text::cached_lookup`]. It is atomic because several threads may read the tree. All threads store equal
    /// results.
    lookup: AtomicU8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// The value, which needs no escapes in JSON text.
    Plain,
    /// The value, which may need escapes in JSON text.
    Value,
    /// JSON text between the quotes, with at least one escape.
    Escaped,
}

impl<'a> Text<'a> {
    const fn of(chars: Cow<'a, str>, spelling: Spelling) -> Self {
        Text { chars, spelling, lookup: AtomicU8::new(0) }
    }

    /// Returns the cached result of a look-up of this name in a table; 0 if the name was not looked up yet.
    #[inline(always)]
    pub(crate) fn cached_lookup(&self) -> u8 {
        self.lookup.load(Relaxed)
    }

    pub(crate) fn cache_lookup(&self, lookup: u8) {
        self.lookup.store(lookup, Relaxed);
    }

    /// Returns a string with this value.
    pub fn new(value: impl Into<Cow<'a, str>>) -> Self {
        Text::of(value.into(), Spelling::Value)
    }

    /// Returns a string with this value, which must need no escapes in JSON text.
    pub(crate) const fn literal(value: &'static str) -> Self {
        Text::of(Cow::Borrowed(value), Spelling::Plain)
    }

    /// Returns a string from its spelling between the quotes of valid JSON text. `escaped` is true if it contains a
    /// backslash.
    ///
    /// Bindings use this for strings with lone surrogates, whose only spelling is an escape such as `\ud800`.
    pub fn spelled(between_quotes: impl Into<Cow<'a, str>>, escaped: bool) -> Self {
        Text::of(between_quotes.into(), if escaped { Spelling::Escaped } else { Spelling::Plain })
    }

    /// Returns the value, or `None` if it contains a lone surrogate.
    pub fn value(&self) -> Option<Cow<'_, str>> {
        match self.spelling {
            Spelling::Plain | Spelling::Value => Some(Cow::Borrowed(&self.chars)),
            Spelling::Escaped => self.decoded().map(Cow::Owned),
        }
    }

    // Escapes are rare, so the code that decodes them is not inlined at every comparison of strings.
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

    /// Returns the value, if it is stored without escapes.
    pub fn as_plain(&self) -> Option<&str> {
        (self.spelling != Spelling::Escaped).then_some(&*self.chars)
    }

    /// Returns the value for display. A lone surrogate is shown as its escape.
    #[inline(never)]
    pub fn display(&self) -> Cow<'_, str> {
        self.value().unwrap_or(Cow::Borrowed(&self.chars))
    }

    /// Returns true if this is the string `value`, regardless of escapes.
    pub fn is(&self, value: impl Name) -> bool {
        value.is_name_of(self)
    }

    /// Like [`Text::is`], but inlined, for searches through many names. Inlining every call to `is` would enlarge the
    /// code too much.
    #[inline(always)]
    pub(crate) fn has_value(&self, value: &str) -> bool {
        match self.spelling {
            // Keys of equal length usually differ in the first byte. Comparing that byte is cheaper than a call that
            // compares all bytes.
            Spelling::Plain | Spelling::Value => {
                let (left, right) = (self.chars.as_bytes(), value.as_bytes());
                left.len() == right.len() && left.first() == right.first() && same_bytes(left, right)
            }
            Spelling::Escaped => self.decodes_to(value),
        }
    }

    /// Returns true if the value is the empty string.
    pub fn is_empty(&self) -> bool {
        self.chars.is_empty()
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.code_points().all(|point| char::from_u32(point).is_some_and(char::is_whitespace))
    }

    /// Returns the code points of the value. A lone surrogate is one code point.
    pub fn code_points(&self) -> CodePoints<'_> {
        CodePoints { rest: &self.chars, escaped: self.spelling == Spelling::Escaped }
    }

    /// Returns the spelling between the quotes, if the string has a spelling that can be copied.
    pub(crate) fn spelling(&self) -> Option<&str> {
        (self.spelling != Spelling::Value).then_some(&*self.chars)
    }

    /// The stored characters: the value, or its escaped spelling.
    pub(crate) fn chars(&self) -> &str {
        &self.chars
    }

    /// Returns the same string, which borrows nothing.
    pub fn into_owned(self) -> Text<'static> {
        Text { chars: Cow::Owned(self.chars.into_owned()), spelling: self.spelling, lookup: self.lookup }
    }

    /// Returns the same string, borrowed from this one.
    pub fn borrowed(&self) -> Text<'_> {
        Text { chars: Cow::Borrowed(&self.chars), spelling: self.spelling, lookup: AtomicU8::new(self.cached_lookup()) }
    }
}

impl Clone for Text<'_> {
    #[inline(always)]
    fn clone(&self) -> Self {
        match &self.chars {
            Cow::Borrowed(chars) => Text {
                chars: Cow::Borrowed(chars),
                spelling: self.spelling,
                lookup: AtomicU8::new(self.cached_lookup()),
            },
            Cow::Owned(_) => self.cloned(),
        }
    }
}

impl<'a> Text<'a> {
    // Most strings are borrowed, so the copying of owned strings is not inlined.
    #[inline(never)]
    fn cloned(&self) -> Text<'a> {
        Text {
            chars: Cow::Owned((*self.chars).into()),
            spelling: self.spelling,
            lookup: AtomicU8::new(self.cached_lookup()),
        }
    }

    /// Like `==`, but faster in a search through many names, because most names differ in length or in the first byte.
    #[inline(always)]
    pub(super) fn equals(&self, other: &Text<'_>) -> bool {
        let both_plain = self.spelling != Spelling::Escaped && other.spelling != Spelling::Escaped;
        let (left, right) = (self.chars.as_bytes(), other.chars.as_bytes());
        let differ = both_plain && (left.len() != right.len() || left.first() != right.first());
        !differ && self == other
    }
}

/// Compares bytes of equal length, eight at a time. WebAssembly has no instruction that compares memory, and Rust's
/// replacement compares byte by byte.
#[cfg(target_family = "wasm")]
#[inline(never)]
fn same_bytes(mut left: &[u8], mut right: &[u8]) -> bool {
    while let (Some((first, rest)), Some((second, others))) =
        (left.split_first_chunk::<8>(), right.split_first_chunk::<8>())
    {
        if first != second {
            return false;
        }
        (left, right) = (rest, others);
    }
    if let (Some((first, rest)), Some((second, others))) =
        (left.split_first_chunk::<4>(), right.split_first_chunk::<4>())
    {
        if first != second {
            return false;
        }
        (left, right) = (rest, others);
    }
    left.iter().zip(right).all(|(left, right)| left == right)
}

#[cfg(not(target_family = "wasm"))]
#[inline(always)]
fn same_bytes(left: &[u8], right: &[u8]) -> bool {
    left == right
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

/// Compares code points. For strings without escapes, this is the order of their bytes.
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

/// Iterator over the code points of a [`Text`], in which surrogate pairs are combined.
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
            // `"`, `\` and `/` are escaped as themselves, and the reader accepts no other escapes.
            other => other.into(),
        })
    }
}
