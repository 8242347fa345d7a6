//! Decodes records to trees. Records are the encoding of JavaScript values for the core.
//!
//! A value is one record of three words. The records are in document order, with a container before its members. The
//! words are: `kind | length << 3`; the length of the name plus one, or 0 for a value without a name; and a word that
//! each side uses on its own. Lengths of strings, numbers and names are in UTF-16 units, and the length of a container
//! is the number of its members. Names and strings are concatenated in the characters, a name before its value's
//! string, each followed by a separator character. Without it, a high surrogate at the end of one string could form a
//! pair with a low surrogate at the start of the next.
//!
//! The index of a value's record is its [`Origin`].

use toolwire::internal::json::{Data, Member, Node, Object, Origin, Text};

/// The kinds, with the same numbers as in `npm/src/values/wire-encoder.ts`.
mod kind {
    pub(super) const NULL: u32 = 0;
    pub(super) const FALSE: u32 = 1;
    pub(super) const TRUE: u32 = 2;
    pub(super) const NUMBER: u32 = 3;
    pub(super) const STRING: u32 = 4;
    pub(super) const ARRAY: u32 = 5;
    pub(super) const OBJECT: u32 = 6;
}

/// Words in a record.
const RECORD: usize = 3;

/// Error for records that the two sides interpret differently: a defect in toolwire, never the caller's fault.
#[derive(Debug)]
pub(crate) struct Mismatch;

pub(crate) struct WireDecoder<'w, 'a> {
    words: &'w mut [u32],
    chars: &'a str,
    /// True if strings are escaped as in JSON text, because one of them has no other encoding.
    spelled: bool,
    /// Number of the next value.
    next: usize,
    /// Index of the next name or string in `chars`.
    at: usize,
}

impl<'w, 'a> WireDecoder<'w, 'a> {
    pub(crate) fn new(words: &'w mut [u32], chars: &'a str, spelled: bool) -> Self {
        WireDecoder { words, chars, spelled, next: 0, at: 0 }
    }

    /// Returns the names of all values that were read.
    pub(crate) fn names(self) -> Names<'w, 'a> {
        Names { words: self.words, chars: self.chars }
    }

    /// Decodes a value. JavaScript has limited the depth.
    pub(crate) fn value(&mut self) -> Result<Node<'a>, Mismatch> {
        let number = self.next;
        let head = *self.words.get(number * RECORD).ok_or(Mismatch)?;
        self.next += 1;
        let length = head >> 3;
        let data = match head & 7 {
            kind::NULL => Data::Null,
            kind::FALSE => Data::Bool(false),
            kind::TRUE => Data::Bool(true),
            kind::NUMBER => Data::Number(self.text(length)?.into()),
            kind::STRING => Data::String(self.string(length)?),
            kind::ARRAY => {
                let mut items = Vec::with_capacity(self.plausible_capacity(length));
                for _ in 0..length {
                    items.push(self.value()?);
                }
                Data::Array(items)
            }
            kind::OBJECT => {
                let mut members = Vec::with_capacity(self.plausible_capacity(length));
                for _ in 0..length {
                    members.push(Member { key: self.read_name()?, value: self.value()? });
                }
                Data::Object(Object::from_unique(members))
            }
            _ => return Err(Mismatch),
        };
        Ok(Node::read(data, Origin::new(u32::try_from(number).map_err(|_| Mismatch)?)))
    }

    /// Records the location of the name, so that the result can refer to it by number.
    fn read_name(&mut self) -> Result<Text<'a>, Mismatch> {
        let number = self.next;
        let start = self.at;
        let length = *self.words.get(number * RECORD + 1).ok_or(Mismatch)?;
        let key = self.string(length.checked_sub(1).ok_or(Mismatch)?)?;
        let end = self.at - 1;
        // Plus one, because 0 means that there is no name.
        if let Some([from, to]) = self.words.get_mut(number * RECORD + 1..(number + 1) * RECORD) {
            (*from, *to) = (start as u32 + 1, end as u32);
        }
        Ok(key)
    }

    #[inline(always)]
    fn string(&mut self, length: u32) -> Result<Text<'a>, Mismatch> {
        let chars = self.text(length)?;
        Ok(if self.spelled { Text::spelled(chars, chars.contains('\\')) } else { Text::new(chars) })
    }

    /// Skips the separator after the text.
    fn text(&mut self, length: u32) -> Result<&'a str, Mismatch> {
        let start = self.at;
        let end = start + self.bytes_of_units(length as usize).ok_or(Mismatch)?;
        self.at = end + 1;
        self.chars.get(start..end).ok_or(Mismatch)
    }

    /// Returns the number of bytes of the next `length` UTF-16 units.
    fn bytes_of_units(&self, length: usize) -> Option<usize> {
        let rest = self.chars.as_bytes().get(self.at..)?;
        if rest.get(..length)?.is_ascii() {
            return Some(length);
        }
        let (mut units, mut bytes) = (0, 0);
        while units < length {
            let (more_bytes, more_units) = match *rest.get(bytes)? {
                0..=0x7F => (1, 1),
                0x80..=0xDF => (2, 1),
                0xE0..=0xEF => (3, 1),
                0xF0..=0xFF => (4, 2),
            };
            bytes += more_bytes;
            units += more_units;
        }
        Some(bytes)
    }

    /// Limits a length, which may be wrong, to the number of remaining records.
    fn plausible_capacity(&self, length: u32) -> usize {
        (length as usize).min((self.words.len() / RECORD).saturating_sub(self.next))
    }
}

/// The locations of the names of the values that were read.
pub(crate) struct Names<'w, 'a> {
    words: &'w [u32],
    chars: &'a str,
}

impl Names<'_, '_> {
    /// Returns true if `key` is the name of value `number`. Names with escapes never match, and are copied instead.
    pub(crate) fn is(&self, key: &Text<'_>, number: u32) -> bool {
        let first = number as usize * RECORD + 1;
        let Some([after, end]) = self.words.get(first..first + 2) else { return false };
        // An item has no name, so its word is still 0.
        let Some(start) = after.checked_sub(1) else { return false };
        key.as_plain().is_some_and(|key| self.chars.get(start as usize..*end as usize) == Some(key))
    }
}
