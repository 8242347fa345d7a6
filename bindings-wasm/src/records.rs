//! Records into trees: how JavaScript spells values for this side.
//!
//! A value is one record of three words, in document order, a container before its members: `kind | length << 3`; for
//! members of objects the length of the name plus one, else 0; and one for each side's own use. Lengths of strings,
//! numbers and names are in UTF-16 units, that of a container in members. Names and texts lie one after another in the
//! characters, a name before its value's text, each followed by one character that belongs to none: without it half a
//! surrogate pair at the end of one string could meet the other half at the start of the next.
//!
//! A value's place among the records is its [`Origin`].

use toolwire::json::{Data, Member, Node, Object, Origin, Text};

/// The kinds, as `npm/src/values/records.ts` numbers them.
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

/// The two sides disagree about the records: a defect of toolwire, never the caller's.
#[derive(Debug)]
pub(crate) struct Mismatch;

/// Records being read.
pub(crate) struct Records<'w, 'a> {
    words: &'w mut [u32],
    chars: &'a str,
    /// Strings are spelled as between the quotes of JSON text, because one of them has no other spelling.
    spelled: bool,
    next: usize,
    at: usize,
}

impl<'w, 'a> Records<'w, 'a> {
    pub(crate) fn new(words: &'w mut [u32], chars: &'a str, spelled: bool) -> Self {
        Records { words, chars, spelled, next: 0, at: 0 }
    }

    /// Every value's name, as they were found so far.
    pub(crate) fn names(self) -> Names<'w, 'a> {
        Names { words: self.words, chars: self.chars }
    }

    /// The next value, with everything in it. (How deep it goes was counted on the other side.)
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
                let mut items = Vec::with_capacity(self.plausible(length));
                for _ in 0..length {
                    items.push(self.value()?);
                }
                Data::Array(items)
            }
            kind::OBJECT => {
                let mut members = Vec::with_capacity(self.plausible(length));
                for _ in 0..length {
                    members.push(Member { key: self.key()?, value: self.value()? });
                }
                Data::Object(Object::from_unique(members))
            }
            _ => return Err(Mismatch),
        };
        Ok(Node::read(data, Origin::new(u32::try_from(number).map_err(|_| Mismatch)?)))
    }

    /// The name of the next value. Notes where it lies, so that the answer can say "the name of value N".
    fn key(&mut self) -> Result<Text<'a>, Mismatch> {
        let number = self.next;
        let start = self.at;
        let length = *self.words.get(number * RECORD + 1).ok_or(Mismatch)?;
        let key = self.string(length.checked_sub(1).ok_or(Mismatch)?)?;
        let end = self.at - 1;
        // Plus one, because 0 says that there is no name.
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

    /// The next text, and past the character after it.
    fn text(&mut self, length: u32) -> Result<&'a str, Mismatch> {
        let start = self.at;
        let end = start + self.bytes(length as usize).ok_or(Mismatch)?;
        self.at = end + 1;
        self.chars.get(start..end).ok_or(Mismatch)
    }

    /// How many bytes the next `length` UTF-16 units take.
    fn bytes(&self, length: usize) -> Option<usize> {
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

    /// A capacity that a wrong length cannot blow up: every member has a record of its own.
    fn plausible(&self, length: u32) -> usize {
        (length as usize).min((self.words.len() / RECORD).saturating_sub(self.next))
    }
}

/// Where the names of the values that were read lie.
pub(crate) struct Names<'w, 'a> {
    words: &'w [u32],
    chars: &'a str,
}

impl Names<'_, '_> {
    /// Does value `number` stand under the name `key`? (A name with escapes is never recognised, and copied instead.)
    pub(crate) fn is(&self, key: &Text<'_>, number: u32) -> bool {
        let first = number as usize * RECORD + 1;
        let Some([after, end]) = self.words.get(first..first + 2) else { return false };
        // 0 is still that of an item, which has no name.
        let Some(start) = after.checked_sub(1) else { return false };
        key.as_plain().is_some_and(|key| self.chars.get(start as usize..*end as usize) == Some(key))
    }
}
