//! What tools are called: names that an API refuses made legal, each its own, whatever order the tools come in.
//!
//! A name that is legal stays. Any other keeps as much of itself as can be kept; where that is another tool's name too,
//! or where something had to be cut off, a digest of the whole name makes the difference. So a name depends on the set
//! of tools, not on their order, and mostly on nothing but itself.
//!
//! The digest is 65 bits of SHA-256. Servers choose their names: with a short hash that anyone can compute backwards,
//! one server could choose a name that takes the place of another's. It has no key, because the same tools must have
//! the same names in the next turn and in another process.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use hmac_sha256::Hash;

use crate::{
    collections::{Map, Set},
    dialect::surface::NamePattern,
    json::Text,
};

/// Is it a name of this shape?
pub(crate) fn is_legal(shape: NamePattern, name: &Text<'_>) -> bool {
    let (mut length, mut fits) = (0, true);
    for point in name.code_points() {
        fits &= may_stand(shape, point) && (length > 0 || may_begin(shape, point));
        length += 1;
    }
    fits && length >= shape.least && length <= shape.most && !is_own_rule(shape, name)
}

/// Returns the rule that a grammar makes of a name.
fn rule_of(name: &Text<'_>) -> String {
    let mut rule = String::new();
    for one in name.display().chars() {
        if one.is_ascii_alphanumeric() || one == '-' {
            rule.push(one);
        } else if !rule.ends_with(SEPARATOR) {
            rule.push(SEPARATOR);
        }
    }
    rule.replace(SEPARATOR, "-")
}

/// Marks a character that a rule cannot have, so that several in a row become one `-` and the `-` of a name stays.
const SEPARATOR: char = '_';

fn is_own_rule(shape: NamePattern, name: &Text<'_>) -> bool {
    shape.rules.is_some_and(|rules| rules.contains(&&*rule_of(name)))
}

/// Returns the names of which a grammar makes the rule of another name.
pub(crate) fn meeting<'n, 'a: 'n>(shape: NamePattern, names: impl Iterator<Item = &'n Text<'a>>) -> Set<&'n Text<'a>> {
    let mut meeting = Set::new();
    if shape.rules.is_none() {
        return meeting;
    }
    let mut first: Map<String, &Text<'a>> = Map::new();
    for name in names {
        let known = *first.entry(rule_of(name)).or_insert(name);
        if known != name {
            meeting.extend([known, name]);
        }
    }
    meeting
}

fn may_stand(shape: NamePattern, point: u32) -> bool {
    // Half a surrogate pair is no character, and no API gets one.
    char::from_u32(point)
        .is_some_and(|one| shape.also.is_none_or(|also| one.is_ascii_alphanumeric() || also.contains(one)))
}

fn may_begin(shape: NamePattern, point: u32) -> bool {
    !shape.letter_first || char::from_u32(point).is_some_and(|one| one.is_ascii_alphabetic() || one == '_')
}

/// The letters of a digest: five bits each, and legal in every API.
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// How many letters a digest has: 65 bits.
const DIGEST: usize = 13;
/// How many characters `_` and a digest have.
pub(crate) const TAIL: usize = DIGEST + 1;

/// A digest of some texts, no two lists of which are taken for one another.
pub(crate) fn digest(texts: &[&Text<'_>]) -> String {
    let mut hash = Hash::new();
    for text in texts {
        // Lengths first: `a` and `bc` are not `ab` and `c`.
        hash.update((text.code_points().count() as u64).to_le_bytes());
        for point in text.code_points() {
            hash.update(point.to_le_bytes());
        }
    }
    let mut bits = 0_u128;
    for byte in hash.finalize().iter().take(16) {
        bits = bits << 8 | u128::from(*byte);
    }
    let letter = |at| LETTERS.get((bits >> (123 - 5 * at)) as usize & 31).copied().map_or('a', char::from);
    (0..DIGEST).map(letter).collect()
}

/// A legal name that says as much as possible of this one. Made only of what every API allows: ASCII letters, digits
/// and `_` take the place of everything else.
fn close(shape: NamePattern, name: &Text<'_>) -> String {
    let mut out = String::new();
    let mut length = 0;
    for point in name.code_points() {
        if length == 0 && !may_begin(shape, point) && may_stand(shape, point) {
            out.push('_');
            length += 1;
        }
        out.push(char::from_u32(point).filter(|_| may_stand(shape, point)).unwrap_or('_'));
        length += 1;
        if length > shape.most {
            return hashed(shape, name, out);
        }
    }
    while length < shape.least {
        out.push('_');
        length += 1;
    }
    out
}

/// A text as a part of a legal name, whatever its length.
pub(crate) fn folded(shape: NamePattern, text: &Text<'_>) -> String {
    close(NamePattern { least: 0, most: usize::MAX, ..shape }, text)
}

/// The beginning of a legal name, and a digest of the original.
fn hashed(shape: NamePattern, name: &Text<'_>, close: String) -> String {
    format!("{}_{}", cut(&close, shape.most.saturating_sub(TAIL)), digest(&[name]))
}

/// Returns a legal name for a tool that only the history has. No tool that was sent has this name; `digests` are those
/// of the tools that were sent.
pub(crate) fn of_the_past(shape: NamePattern, name: &Text<'_>, digests: &TakenDigests) -> String {
    digests.free(|kept| {
        let shape = NamePattern { most: shape.most.saturating_sub(kept), ..shape };
        hashed(shape, name, close(shape, name))
    })
}

/// The first characters of a text.
pub(crate) fn cut(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

/// Names that are given already, and the search for free ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    names: Set<String>,
    /// The number to try next, for each name that was wanted before: otherwise a thousand that want one name would each
    /// count from 2.
    next: Map<String, u32>,
}

impl Taken {
    /// Takes a name, if it can be said at all.
    pub(crate) fn take(&mut self, name: &Text<'_>) {
        if let Some(name) = name.value() {
            self.names.insert(name.into_owned());
        }
    }

    /// Whether a name is given already.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Returns all names that are taken.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.names.iter()
    }

    /// Takes a name, or the first free one with a number behind it.
    pub(crate) fn free(&mut self, wanted: String, most: usize) -> String {
        if self.names.insert(wanted.clone()) {
            return wanted;
        }
        // Cut once for all numbers: names that differ only in what is cut off count together.
        let head = cut(&wanted, most.saturating_sub(NUMBER));
        let next = self.next.entry(head.into()).or_insert(2);
        loop {
            let found = format!("{head}_{next}");
            *next = next.saturating_add(1);
            if self.names.insert(found.clone()) {
                return found;
            }
        }
    }
}

/// The names with a digest that are taken. A tool that only the history has gets a digest, and anyone can compute it
/// and publish it, with numbers after it, as names of tools: this set finds a free number without counting through them
/// in every call of the history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TakenDigests {
    /// In their [`canonical`] form, because names are made legal later.
    names: Set<String>,
    /// The smallest number that is free after each name that has numbers.
    numbers: Map<String, u32>,
}

impl TakenDigests {
    /// Collects the names that end with a digest, or with a digest and a number.
    pub(crate) fn of<N: AsRef<str>>(names: impl Iterator<Item = N>) -> Self {
        let (mut taken, mut numbered): (_, Map<String, Vec<u32>>) = (Set::new(), Map::new());
        for name in names {
            let name = name.as_ref();
            if !name.chars().rev().take(NUMBER + DIGEST).any(is_separator) {
                continue;
            }
            let name = canonical(name);
            if let Some((head, number)) = number_after_digest(&name) {
                numbered.entry(head.into()).or_default().push(number);
            } else if ends_with_digest(&name) {
                taken.insert(name);
            }
        }
        let mut numbers = Map::new();
        for (head, mut taken) in numbered {
            taken.sort_unstable();
            let free = taken.into_iter().fold(2, |free, number| if number == free { free + 1 } else { free });
            numbers.insert(head, free);
        }
        TakenDigests { names: taken, numbers }
    }

    /// Returns a name that ends with a digest, or, if it is taken, a shorter one with a number. `wanted` makes the name
    /// shorter by as many characters as it is given.
    pub(crate) fn free(&self, wanted: impl Fn(usize) -> String) -> String {
        let name = wanted(0);
        if self.names.is_empty() || !self.names.contains(&canonical(&name)) {
            return name;
        }
        let head = wanted(NUMBER);
        let number = self.numbers.get(&canonical(&head)).unwrap_or(&2);
        format!("{head}_{number}")
    }
}

/// Maximum number of digits of a number after a name; no request has that many tools.
const DIGITS: usize = 8;
/// Number of characters of `_` and a number.
const NUMBER: usize = DIGITS + 1;

fn is_separator(one: char) -> bool {
    !one.is_ascii_alphanumeric()
}

/// Returns one text for all names that may become one legal name: what some API refuses becomes `_`.
fn canonical(name: &str) -> String {
    name.trim_start_matches(is_separator).chars().map(|one| if is_separator(one) { '_' } else { one }).collect()
}

fn ends_with_digest(name: &str) -> bool {
    let tail = name.rsplit_once('_').map(|(_, tail)| tail);
    tail.is_some_and(|tail| tail.len() == DIGEST && tail.bytes().all(|one| LETTERS.contains(&one)))
}

/// Splits a name into what ends with a digest and the number after it.
fn number_after_digest(name: &str) -> Option<(&str, u32)> {
    let (head, digits) = name.rsplit_once('_')?;
    let is_number =
        digits.len() <= DIGITS && !digits.starts_with('0') && digits.bytes().all(|one| one.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number)?;
    ends_with_digest(head).then_some((head, number))
}

/// The names of a list of tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    taken: Taken,
    /// What is called otherwise now.
    renamed: Map<Text<'static>, String>,
}

impl Names {
    /// Finds a name for each tool that has none yet. `others` are names that are given already.
    pub(crate) fn plan<'n, 'a: 'n>(
        &mut self,
        shape: NamePattern,
        names: impl Iterator<Item = &'n Text<'a>>,
        others: &[&Text<'a>],
    ) {
        others.iter().for_each(|name| self.taken.take(name));
        let names: Vec<&Text<'a>> = names.collect();
        let meeting = meeting(shape, names.iter().copied().chain(others.iter().copied()));
        let mut rules = Set::new();
        // By name, so that the order of the list does not matter, and one name is one tool.
        let mut illegal: Map<&Text<'a>, String> = Map::new();
        for name in names {
            let close = || match meeting.contains(&name) || is_own_rule(shape, name) {
                true => hashed(shape, name, close(shape, name)),
                false => close(shape, name),
            };
            if is_legal(shape, name) && !meeting.contains(&name) {
                self.taken.take(name);
                if shape.rules.is_some() {
                    rules.insert(rule_of(name));
                }
            } else if self.new_name(name).is_none() {
                illegal.entry(name).or_insert_with(close);
            }
        }
        let mut wanted: Map<&String, usize> = Map::new();
        for close in illegal.values() {
            *wanted.entry(close).or_default() += 1;
        }
        let (alone, hashing): (Vec<_>, Vec<_>) =
            illegal.iter().partition(|(_, close)| wanted.get(close) == Some(&1) && !self.taken.has(close));
        let alone = alone.into_iter().map(|(name, close)| (name, close.clone()));
        let hashing = hashing.into_iter().map(|(name, close)| (name, hashed(shape, name, close.clone())));
        for (name, close) in alone.chain(hashing) {
            // Two digests are never equal by chance, but a server may choose what another one's would be.
            let mut found = self.taken.free(close, shape.most);
            while shape.rules.is_some() && !rules.insert(rule_of(&Text::new(found.clone()))) {
                found = self.taken.free(found, shape.most);
            }
            self.renamed.insert((*name).clone().into_owned(), found);
        }
    }

    /// The new name, if it has one.
    pub(crate) fn new_name(&self, name: &Text<'_>) -> Option<&str> {
        if self.renamed.is_empty() {
            return None;
        }
        // The key borrows nothing, but may be compared with what does.
        self.renamed.get(&name.borrowed().into_owned()).map(String::as_str)
    }

    /// The name as it is now.
    pub(crate) fn current<'n>(&'n self, name: &'n Text<'_>) -> Cow<'n, str> {
        self.new_name(name).map_or_else(|| name.display(), Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_number_is_the_smallest_that_no_name_has() {
        let digest = "x_aaaaaaaaaaaa7";
        let numbers = [2, 3, 5, 6].map(|number| format!("{digest}_{number}"));
        // A name of which an API makes the digest is taken, too.
        let others = [digest, "-x.aaaaaaaaaaaa3", "x_aaaaaaaaaaaa7_04", "x_aaaaaaaaaaaa7__4", "x_2", "4", ""];
        let taken = TakenDigests::of(numbers.iter().map(String::as_str).chain(others));
        let free = |name: &str| taken.free(|_| name.into());
        assert_eq!(free(digest), format!("{digest}_4"));
        assert_eq!(free("x_aaaaaaaaaaaa3"), "x_aaaaaaaaaaaa3_2");
        assert_eq!(free("x_aaaaaaaaaaaa6"), "x_aaaaaaaaaaaa6");
        assert_eq!((taken.names.len(), taken.numbers.len()), (2, 1), "ordinary names with numbers cost nothing");
    }

    /// Names that differ only in what is cut off once each counted from 2.
    #[test]
    fn a_cut_name_is_counted_once() {
        let mut taken = Taken::default();
        for number in 0..20_000 {
            let name = format!("{}{number:05}", "a".repeat(59));
            taken.take(&Text::new(name.clone()));
            assert!(taken.free(name, 64).len() <= 64);
        }
        assert_eq!(taken.next.len(), 1);
    }

    #[test]
    fn a_digest_is_of_the_texts_and_not_of_their_letters() {
        let text = |text: &'static str| Text::new(text);
        let one = digest(&[&text("a"), &text("bc")]);
        assert_eq!(one.len(), DIGEST);
        assert_ne!(one, digest(&[&text("ab"), &text("c")]));
        assert_ne!(one, digest(&[&text("abc")]));
        assert_eq!(one, digest(&[&text("a"), &text("bc")]));
    }

    /// Each of them once counted from 2: 16,384 names of one hash took half a minute.
    #[test]
    fn a_name_that_many_want_is_counted_once() {
        let mut taken = Taken::default();
        for number in 1..=20_000 {
            let found = taken.free("wanted".into(), 64);
            assert!(number == 1 || found == format!("wanted_{number}"), "{found}");
        }
        // The next is found without counting from the start.
        assert_eq!(taken.next.get("wanted"), Some(&20_001));
    }

    #[test]
    fn a_taken_digest_gets_a_number() {
        let mut names = Names::default();
        let (one, other) = (Text::new("read.file"), Text::new("read_file"));
        names.plan(NamePattern::OPENAI, [&one, &other].into_iter(), &[]);
        let first = names.current(&one).into_owned();
        // Somebody publishes a tool under the very name.
        let (mut names, taken) = (Names::default(), Text::new(first.clone()));
        names.plan(NamePattern::OPENAI, [&one, &other, &taken].into_iter(), &[]);
        assert_eq!(names.current(&one), format!("{first}_2"));
        assert_eq!(names.current(&taken), first);
    }
}
