//! Makes tool names legal for an API. Each tool has a distinct name, which does not depend on the order of the tools.
//!
//! A legal name is kept. Any other name keeps as much of its text as possible. If the result is also the name of
//! another tool, or had to be truncated, a digest of the whole name is appended. A name therefore depends on the set of
//! tools, not on their order, and usually on nothing but the original name.
//!
//! The digest is 65 bits of SHA-256. Servers choose the names of their tools: with a short or invertible hash, a server
//! could choose a name that replaces the name of another server's tool. The digest has no key, because the same tools
//! must have the same names in the next turn and in another process.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use hmac_sha256::Hash;

use crate::{
    collections::{Map, Set},
    dialect::surface::NamePattern,
    json::Text,
};

pub(crate) fn is_legal(name_pattern: NamePattern, name: &Text<'_>) -> bool {
    let (mut length, mut fits) = (0, true);
    for point in name.code_points() {
        fits &= is_allowed(name_pattern, point) && (length > 0 || may_begin(name_pattern, point));
        length += 1;
    }
    fits && length >= name_pattern.min_length
        && length <= name_pattern.max_length
        && !is_reserved_rule(name_pattern, name)
}

/// Returns the characters of the grammar rule that is generated for a name. A run of characters that rule names cannot
/// have becomes one `-`, while each `-` of the name is kept.
fn rule_chars(name: &str) -> impl Iterator<Item = char> + use<'_> {
    let mut is_in_run = false;
    name.chars().filter_map(move |letter| {
        let is_kept = letter.is_ascii_alphanumeric() || letter == '-';
        let begins_run = !is_kept && !is_in_run;
        is_in_run = !is_kept;
        is_kept.then_some(letter).or_else(|| begins_run.then_some('-'))
    })
}

/// Returns the name of the grammar rule that is generated for a name.
fn rule_of(name: &Text<'_>) -> String {
    rule_chars(&name.display()).collect()
}

/// Returns 32 bits of a hash (FNV-1a) of the grammar rule.
fn hash_of_rule(name: &Text<'_>) -> u64 {
    let hash = rule_chars(&name.display()).fold(0xcbf2_9ce4_8422_2325_u64, |hash, letter| {
        (hash ^ u64::from(u32::from(letter))).wrapping_mul(0x0100_0000_01b3)
    });
    hash >> 32
}

fn is_reserved_rule(name_pattern: NamePattern, name: &Text<'_>) -> bool {
    name_pattern.rules.is_some_and(|rules| rules.contains(&&*rule_of(name)))
}

pub(crate) fn sharing_rules<'n, 'a: 'n>(
    name_pattern: NamePattern,
    names: impl Iterator<Item = &'n Text<'a>>,
) -> Set<&'n Text<'a>> {
    let mut sharing_rules = Set::new();
    if name_pattern.rules.is_none() {
        return sharing_rules;
    }
    // Searching a map of all rules for each name is slow if the map exceeds the caches. Each number is a hash and the
    // index of a name. An index fits into 32 bits, because each name is a value in memory.
    let names: Vec<&Text<'a>> = names.collect();
    let mut hashes: Vec<u64> =
        names.iter().enumerate().map(|(index, name)| hash_of_rule(name) << 32 | index as u64).collect();
    hashes.sort_unstable();
    for equal in hashes.chunk_by(|left, right| left >> 32 == right >> 32).filter(|equal| equal.len() > 1) {
        let mut first: Map<String, &Text<'a>> = Map::new();
        for name in equal.iter().filter_map(|number| names.get((number & 0xffff_ffff) as usize)) {
            let known = *first.entry(rule_of(name)).or_insert(name);
            if known != *name {
                sharing_rules.extend([known, *name]);
            }
        }
    }
    sharing_rules
}

fn is_allowed(name_pattern: NamePattern, point: u32) -> bool {
    // An unpaired surrogate is not a character, and no API accepts one.
    char::from_u32(point).is_some_and(|letter| {
        name_pattern.also.is_none_or(|also| letter.is_ascii_alphanumeric() || also.contains(letter))
    })
}

fn may_begin(name_pattern: NamePattern, point: u32) -> bool {
    !name_pattern.letter_first
        || char::from_u32(point).is_some_and(|letter| letter.is_ascii_alphabetic() || letter == '_')
}

/// Alphabet of a digest: five bits per letter, all legal in every API.
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// Number of letters of a digest: 65 bits.
const DIGEST: usize = 13;
/// Number of characters of `_` and a digest.
pub(crate) const TAIL: usize = DIGEST + 1;

/// Returns a digest of several strings, which also depends on where each string ends.
pub(crate) fn digest(texts: &[&Text<'_>]) -> String {
    let mut hash = Hash::new();
    for text in texts {
        // The length precedes each string, so that `a`, `bc` and `ab`, `c` differ.
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

/// Returns a legal name with as much of the original name as possible: characters that the pattern does not allow
/// become `_`.
fn make_legal(name_pattern: NamePattern, name: &Text<'_>) -> String {
    let mut out = String::new();
    let mut length = 0;
    for point in name.code_points() {
        if length == 0 && !may_begin(name_pattern, point) && is_allowed(name_pattern, point) {
            out.push('_');
            length += 1;
        }
        out.push(char::from_u32(point).filter(|_| is_allowed(name_pattern, point)).unwrap_or('_'));
        length += 1;
        if length > name_pattern.max_length {
            return with_digest(name_pattern, name, out);
        }
    }
    while length < name_pattern.min_length {
        out.push('_');
        length += 1;
    }
    out
}

/// Replaces illegal characters, for a part of a name. The result has any length.
pub(crate) fn folded(name_pattern: NamePattern, text: &Text<'_>) -> String {
    make_legal(NamePattern { min_length: 0, max_length: usize::MAX, ..name_pattern }, text)
}

/// Returns the beginning of `legal_name`, followed by a digest of the original name.
fn with_digest(name_pattern: NamePattern, name: &Text<'_>, legal_name: String) -> String {
    format!("{}_{}", cut(&legal_name, name_pattern.max_length.saturating_sub(TAIL)), digest(&[name]))
}

/// Returns a name for a tool that occurs only in the history. No tool that was sent has the returned name. `digests`
/// contains the names of the tools that were sent.
pub(crate) fn for_history(name_pattern: NamePattern, name: &Text<'_>, digests: &TakenDigests) -> String {
    digests.first_unused(|kept| {
        let name_pattern = NamePattern { max_length: name_pattern.max_length.saturating_sub(kept), ..name_pattern };
        with_digest(name_pattern, name, make_legal(name_pattern, name))
    })
}

/// Returns a legal name with a digest of `texts`. It keeps as much of `name` as possible, or only letters of the digest
/// if the pattern allows few characters.
pub(crate) fn mapped(name_pattern: NamePattern, name: &Text<'_>, texts: &[&Text<'_>]) -> String {
    let digest = digest(texts);
    if name_pattern.max_length <= TAIL {
        return cut(&digest, name_pattern.max_length).into();
    }
    format!("{}_{digest}", cut(&folded(name_pattern, name), name_pattern.max_length - TAIL))
}

pub(crate) fn cut(text: &str, max_length: usize) -> &str {
    text.char_indices().nth(max_length).and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

/// The names in use, from which unused names are derived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    names: Set<String>,
    /// Next number to try for each name that was requested before. Without it, a thousand requests for one name would
    /// each count from 2.
    next: Map<String, u32>,
}

impl Taken {
    /// Adds a name in use. Ignores a name with an unpaired surrogate.
    pub(crate) fn take(&mut self, name: &Text<'_>) {
        if let Some(name) = name.value() {
            self.names.insert(name.into_owned());
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.names.iter()
    }

    /// Adds and returns a name, or, if it is in use, the first unused name with a number appended.
    pub(crate) fn reserve_unused(&mut self, wanted: String, max_length: usize) -> String {
        if self.names.insert(wanted.clone()) {
            return wanted;
        }
        // All numbers have the same head, so that names which differ only in the truncated part share one counter.
        let head = cut(&wanted, max_length.saturating_sub(NUMBER));
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

/// The names in use that end with a digest. A tool that occurs only in the history gets a name with a digest. A server
/// can compute that name, and publish many tools with that name and appended numbers. This set finds an unused number
/// without counting through those tools for every call in the history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TakenDigests {
    /// In [`canonical`] form, because the names are made legal later.
    names: Set<String>,
    /// Smallest unused number for each name that occurs with numbers.
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

    /// Returns a name that ends with a digest, or, if it is in use, a shorter name with a number. `wanted` returns the
    /// name shortened by the given number of characters.
    pub(crate) fn first_unused(&self, wanted: impl Fn(usize) -> String) -> String {
        let name = wanted(0);
        if self.names.is_empty() || !self.names.contains(&canonical(&name)) {
            return name;
        }
        let head = wanted(NUMBER);
        let number = self.numbers.get(&canonical(&head)).unwrap_or(&2);
        format!("{head}_{number}")
    }
}

/// Maximum number of digits in the number that makes a name unique. Requests have far fewer tools than this allows.
const DIGITS: usize = 8;
/// Number of characters of `_` and a number.
const NUMBER: usize = DIGITS + 1;

fn is_separator(letter: char) -> bool {
    !letter.is_ascii_alphanumeric()
}

/// Returns the canonical form, which is equal for names that may become equal legal names: characters that some API
/// refuses become `_`.
fn canonical(name: &str) -> String {
    name.trim_start_matches(is_separator)
        .chars()
        .map(|letter| if is_separator(letter) { '_' } else { letter })
        .collect()
}

fn ends_with_digest(name: &str) -> bool {
    let tail = name.rsplit_once('_').map(|(_, tail)| tail);
    tail.is_some_and(|tail| tail.len() == DIGEST && tail.bytes().all(|byte| LETTERS.contains(&byte)))
}

/// Splits a name into a part that ends with a digest, and the number after it.
fn number_after_digest(name: &str) -> Option<(&str, u32)> {
    let (head, digits) = name.rsplit_once('_')?;
    let is_number =
        digits.len() <= DIGITS && !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number)?;
    ends_with_digest(head).then_some((head, number))
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    taken: Taken,
    /// New names of the renamed tools.
    renamed: Map<Text<'static>, String>,
}

impl Names {
    pub(crate) fn bytes(&self) -> usize {
        let taken = self.taken.names.iter().chain(self.taken.next.keys());
        let renamed =
            self.renamed.iter().map(|(original, name)| original.chars().len() + name.len() + size_of::<Text<'_>>());
        taken.map(|name| 2 * size_of::<String>() + name.len()).chain(renamed).sum()
    }

    /// Plans new names for tools whose names are illegal. `others` contains further names in use.
    pub(crate) fn plan<'n, 'a: 'n>(
        &mut self,
        name_pattern: NamePattern,
        names: impl Iterator<Item = &'n Text<'a>>,
        others: &[&Text<'a>],
    ) {
        others.iter().for_each(|name| self.taken.take(name));
        let names: Vec<&Text<'a>> = names.collect();
        let sharing_rules = sharing_rules(name_pattern, names.iter().copied().chain(others.iter().copied()));
        // Sorted by name, so that the order of the list does not matter and each name occurs once.
        let mut illegal: Map<&Text<'a>, String> = Map::new();
        for name in &names {
            let name = *name;
            let new_name = || match sharing_rules.contains(&name) || is_reserved_rule(name_pattern, name) {
                true => with_digest(name_pattern, name, make_legal(name_pattern, name)),
                false => make_legal(name_pattern, name),
            };
            if is_legal(name_pattern, name) && !sharing_rules.contains(&name) {
                self.taken.take(name);
            } else if self.new_name(name).is_none() {
                illegal.entry(name).or_insert_with(new_name);
            }
        }
        // The rules in use matter only for new names.
        let mut rules = Set::new();
        if name_pattern.rules.is_some() && !illegal.is_empty() {
            let kept = names.iter().filter(|name| is_legal(name_pattern, name) && !sharing_rules.contains(*name));
            rules.extend(kept.map(|name| rule_of(name)));
        }
        let mut wanted: Map<&String, usize> = Map::new();
        for new_name in illegal.values() {
            *wanted.entry(new_name).or_default() += 1;
        }
        let (unique, shared): (Vec<_>, Vec<_>) =
            illegal.iter().partition(|(_, new_name)| wanted.get(new_name) == Some(&1) && !self.taken.has(new_name));
        let unique = unique.into_iter().map(|(name, new_name)| (name, new_name.clone()));
        let with_digests =
            shared.into_iter().map(|(name, new_name)| (name, with_digest(name_pattern, name, new_name.clone())));
        for (name, new_name) in unique.chain(with_digests) {
            // Two digests are never equal by chance, but a server may choose a name that equals the digest name of
            // another tool.
            let mut found = self.taken.reserve_unused(new_name, name_pattern.max_length);
            while name_pattern.rules.is_some() && !rules.insert(rule_of(&Text::new(found.clone()))) {
                found = self.taken.reserve_unused(found, name_pattern.max_length);
            }
            self.renamed.insert((*name).clone().into_owned(), found);
        }
    }

    pub(crate) fn new_name(&self, name: &Text<'_>) -> Option<&str> {
        if self.renamed.is_empty() {
            return None;
        }
        // The owned key is needed because the map's keys have the lifetime `'static`.
        self.renamed.get(&name.borrowed().into_owned()).map(String::as_str)
    }

    pub(crate) fn current<'n>(&'n self, name: &'n Text<'_>) -> Cow<'n, str> {
        self.new_name(name).map_or_else(|| name.display(), Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_number_is_the_smallest_unused_one() {
        let digest = "x_aaaaaaaaaaaa7";
        let numbers = [2, 3, 5, 6].map(|number| format!("{digest}_{number}"));
        // A name that some API converts into the digest name is treated as in use, too.
        let others = [digest, "-x.aaaaaaaaaaaa3", "x_aaaaaaaaaaaa7_04", "x_aaaaaaaaaaaa7__4", "x_2", "4", ""];
        let taken = TakenDigests::of(numbers.iter().map(String::as_str).chain(others));
        let free = |name: &str| taken.first_unused(|_| name.into());
        assert_eq!(free(digest), format!("{digest}_4"));
        assert_eq!(free("x_aaaaaaaaaaaa3"), "x_aaaaaaaaaaaa3_2");
        assert_eq!(free("x_aaaaaaaaaaaa6"), "x_aaaaaaaaaaaa6");
        assert_eq!((taken.names.len(), taken.numbers.len()), (2, 1), "ordinary names with numbers are not stored");
    }

    /// Numbering used to start again from 2 for each of these names.
    #[test]
    fn truncated_names_share_a_counter() {
        let mut taken = Taken::default();
        for number in 0..20_000 {
            let name = format!("{}{number:05}", "a".repeat(59));
            taken.take(&Text::new(name.clone()));
            assert!(taken.reserve_unused(name, 64).len() <= 64);
        }
        assert_eq!(taken.next.len(), 1);
    }

    #[test]
    fn digest_depends_on_the_boundaries_between_strings() {
        let text = |text: &'static str| Text::new(text);
        let one = digest(&[&text("a"), &text("bc")]);
        assert_eq!(one.len(), DIGEST);
        assert_ne!(one, digest(&[&text("ab"), &text("c")]));
        assert_ne!(one, digest(&[&text("abc")]));
        assert_eq!(one, digest(&[&text("a"), &text("bc")]));
    }

    /// Numbering used to start again from 2 at each request for one name: 16,384 names with equal hashes took half a
    /// minute.
    #[test]
    fn numbering_continues_from_the_last_number() {
        let mut taken = Taken::default();
        for number in 1..=20_000 {
            let found = taken.reserve_unused("wanted".into(), 64);
            assert!(number == 1 || found == format!("wanted_{number}"), "{found}");
        }
        // The next number is found without counting from 2.
        assert_eq!(taken.next.get("wanted"), Some(&20_001));
    }

    #[test]
    fn a_name_with_a_taken_digest_gets_a_number() {
        let mut names = Names::default();
        let (one, other) = (Text::new("read.file"), Text::new("read_file"));
        names.plan(NamePattern::OPENAI, [&one, &other].into_iter(), &[]);
        let first = names.current(&one).into_owned();
        // Another tool is published under exactly this name.
        let (mut names, taken) = (Names::default(), Text::new(first.clone()));
        names.plan(NamePattern::OPENAI, [&one, &other, &taken].into_iter(), &[]);
        assert_eq!(names.current(&one), format!("{first}_2"));
        assert_eq!(names.current(&taken), first);
    }
}
