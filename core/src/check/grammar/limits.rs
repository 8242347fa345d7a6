//! Checks the document as JSON, independent of keywords: its size, and the range of its numbers. Also checks limits on
//! the root and on each definition separately, without following references: properties, levels, values, characters.

use alloc::{format, string::String, vec::Vec};

use super::{shortened, Report};
use crate::{
    budget::Budget,
    collections::Map,
    dialect::Dialect,
    error::Error,
    json::{self, Data, Node, Pointer, Step, Text},
    rules::Constraint,
    schema::{
        complexity::Complexity,
        keyword::{Keyword, Keywords},
        visit::{self, Visit},
    },
};

pub(super) fn check_document(root: &Node<'_>, report: &mut Report<'_>) {
    // Most documents have no such number, so a search without pointers comes first.
    if report.grammar.finite_numbers && has_number_beyond_range(root) {
        report_large_numbers(root, &mut Pointer::root(), report);
    }
    // Serialization multiplies the length of the text by at most six.
    if let Some(limit) = report.max_bytes.filter(|limit| json::length(root).saturating_mul(6) > *limit) {
        let size = SizeMeasure::new(report.grammar.escaped_chars).size_of(root);
        if size > limit {
            let (expected, found) = (format!("at most {limit} bytes of compact JSON"), format!("{size}"));
            report.add(root, Constraint::TooManyBytes, String::new(), &expected, &found);
        }
    }
}

fn has_number_beyond_range(value: &Node<'_>) -> bool {
    match value.data() {
        // A number without an exponent needs more than 300 digits to exceed the range.
        Data::Number(text) => {
            (text.len() > 300 || text.bytes().any(|byte| matches!(byte, b'e' | b'E'))) && as_float(text).is_infinite()
        }
        // Most values are strings, which need no call.
        Data::Array(items) => items.iter().any(|item| item.as_text().is_none() && has_number_beyond_range(item)),
        Data::Object(object) => {
            object.iter().any(|member| member.value.as_text().is_none() && has_number_beyond_range(&member.value))
        }
        _ => false,
    }
}

fn report_large_numbers<'a>(value: &Node<'a>, pointer: &mut Pointer<'a>, report: &mut Report<'_>) {
    match value.data() {
        Data::Number(text) if as_float(text).is_infinite() => {
            let found = format!("`{}`", shortened(text));
            report.add(
                value,
                Constraint::NumberRange,
                pointer.render(),
                "a number within the range of a 64-bit float",
                &found,
            );
        }
        Data::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointer.push(Step::Index(index));
                report_large_numbers(item, pointer, report);
                pointer.pop();
            }
        }
        Data::Object(object) => {
            for member in object {
                pointer.push(Step::Member(member.key.clone()));
                report_large_numbers(&member.value, pointer, report);
                pointer.pop();
            }
        }
        _ => {}
    }
}

/// Returns the number as a float. The text is always a valid float, and a number beyond the range becomes infinite.
fn as_float(text: &str) -> f64 {
    text.parse().unwrap_or(f64::INFINITY)
}

/// Computes the size of a value in the provider's own serialization, which may differ from the size of the input.
struct SizeMeasure {
    escaped_chars: &'static [char],
    /// Size that each byte of a string contributes; 0 if the byte begins a character that must be decoded.
    counts: [u8; 256],
}

impl SizeMeasure {
    fn new(escaped_chars: &'static [char]) -> Self {
        let mut measure = SizeMeasure { escaped_chars, counts: [1; 256] };
        let of_ascii = (0..128_u8).map(|byte| measure.character_size(byte.into()));
        let begins = escaped_chars
            .iter()
            .filter(|character| !character.is_ascii())
            .map(|character| character.encode_utf8(&mut [0; 4]).bytes().next());
        let counts: Vec<(u8, usize)> = (0..).zip(of_ascii).chain(begins.flatten().map(|byte| (byte, 0))).collect();
        for (byte, count) in counts {
            if let Some(entry) = measure.counts.get_mut(usize::from(byte)) {
                *entry = u8::try_from(count).unwrap_or_default();
            }
        }
        measure
    }

    fn size_of(&self, value: &Node<'_>) -> usize {
        match value.data() {
            Data::Null | Data::Bool(true) => 4,
            Data::Bool(false) => 5,
            Data::Number(text) => number_size(text),
            Data::String(text) => self.string_size(text),
            Data::Array(items) => {
                punctuation_size(items.len()) + items.iter().map(|item| self.size_of(item)).sum::<usize>()
            }
            Data::Object(object) => {
                let members =
                    object.iter().map(|member| self.string_size(&member.key) + 1 + self.size_of(&member.value));
                punctuation_size(object.len()) + members.sum::<usize>()
            }
            Data::Verbatim(text) => text.len(),
        }
    }

    fn string_size(&self, text: &Text<'_>) -> usize {
        let count = |byte: u8| self.counts.get(usize::from(byte)).copied().unwrap_or_default();
        if let Some(plain) =
            text.as_plain().filter(|plain| plain.is_ascii() || plain.bytes().all(|byte| count(byte) > 0))
        {
            return 2 + plain.bytes().map(|byte| usize::from(count(byte))).sum::<usize>();
        }
        2 + text.code_points().map(|point| self.character_size(point)).sum::<usize>()
    }

    fn character_size(&self, point: u32) -> usize {
        // The provider writes an unpaired surrogate as U+FFFD.
        let Some(character) = char::from_u32(point) else { return char::REPLACEMENT_CHARACTER.len_utf8() };
        match character {
            '"' | '\\' | '\n' | '\r' | '\t' => 2,
            '\0'..='\x1f' => 6,
            other if self.escaped_chars.contains(&other) => 6,
            other => other.len_utf8(),
        }
    }
}

fn punctuation_size(members: usize) -> usize {
    2 + members.saturating_sub(1)
}

/// Returns the size of a 64-bit float in the provider's format: the shortest digits, with an exponent below 1e-6 and
/// from 1e21 on.
fn number_size(text: &str) -> usize {
    let value = as_float(text);
    let magnitude = if value < 0.0 { -value } else { value };
    if magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude) {
        // Rust writes `1e21`, the provider `1e+21`.
        let sign = usize::from(magnitude >= 1e21);
        format!("{value:e}").len() + sign
    } else {
        format!("{value}").len()
    }
}

/// An `enum` with at most this number of values may have any number of characters.
const MAX_UNLIMITED_VALUES: usize = 250;

/// Counts of one part so far.
#[derive(Default)]
struct PartCounts {
    properties: usize,
    values: usize,
    characters: usize,
    /// The limits that are already exceeded: properties, values, characters.
    exceeded: [bool; 3],
}

pub(super) fn check_parts(
    root: &Node<'_>,
    dialect: &Dialect,
    report: &mut Report<'_>,
    budget: &Budget,
) -> Result<(), Error> {
    let limit = |name: &str| dialect.limit(name);
    let (properties, depth, values) = (limit("propertiesPerPart"), limit("depthPerPart"), limit("enumValuesPerPart"));
    let (max_list_characters, characters) = (limit("longEnumCharacters"), limit("charactersPerPart"));
    if [properties, depth, values, max_list_characters, characters].iter().all(Option::is_none) {
        return Ok(());
    }
    if is_within(root, dialect, report) {
        return Ok(());
    }
    // Counts of the root, and counts of the definitions by name.
    let (mut main, mut parts) = (PartCounts::default(), Map::<String, PartCounts>::new());
    visit::walk(budget, root, Keywords::ALL, &mut |node, path| {
        let Some(object) = node.as_object() else { return Ok(Visit::Skip) };
        let (counts, steps_in_part) = match path.pointer.steps() {
            [Step::Name("$defs" | "definitions"), Step::Member(name), rest @ ..] => {
                let name = name.display().into_owned();
                let length = name.chars().count();
                // A definition with an empty name is counted with the root.
                let counts = if name.is_empty() { &mut main } else { parts.entry(name).or_default() };
                if rest.is_empty() {
                    counts.characters += length;
                }
                (counts, rest)
            }
            steps => (&mut main, steps),
        };
        let level = steps_in_part.iter().filter(|step| matches!(step, Step::Name("properties"))).count();
        let at = |keyword: &str| path.pointer.render_with(keyword);
        if let Some(table) =
            object.get(Keyword::Properties).filter(|table| table.as_object().is_some_and(|table| !table.is_empty()))
        {
            let names = table.as_object().into_iter().flatten();
            counts.properties += names.clone().count();
            counts.characters += names.map(|member| member.key.code_points().count()).sum::<usize>();
            if depth == Some(level) {
                let (expected, found) =
                    (format!("`properties` nested at most {level} levels deep"), format!("level {}", level + 1));
                report.add(table, Constraint::TooDeep, at("properties"), &expected, &found);
            }
        }
        if let Some((listed, items)) = object.get(Keyword::Enum).and_then(|listed| Some((listed, listed.as_array()?))) {
            let length = items.iter().map(character_count).sum::<usize>();
            counts.values += items.len();
            counts.characters += length;
            if let Some(limit) =
                max_list_characters.filter(|limit| items.len() > MAX_UNLIMITED_VALUES && length > *limit)
            {
                let expected =
                    format!("at most {limit} characters in an `enum` of more than {MAX_UNLIMITED_VALUES} values");
                report.add(listed, Constraint::EnumTooLong, at("enum"), &expected, &format!("{length}"));
            }
        }
        counts.characters += object.get(Keyword::Const).map_or(0, character_count);
        let amounts = [
            (properties, counts.properties, Constraint::TooManyProperties, "properties"),
            (values, counts.values, Constraint::TooManyEnumValues, "values in `enum`"),
            (characters, counts.characters, Constraint::TooManyCharacters, "characters of names, values and constants"),
        ];
        for ((limit, found, rule, what), exceeded) in amounts.into_iter().zip(&mut counts.exceeded) {
            if let Some(limit) = limit.filter(|limit| found > *limit && !*exceeded) {
                *exceeded = true;
                let expected = format!("at most {limit} {what} in the root, and in each definition");
                report.add(node, rule, path.pointer.render(), &expected, &format!("{found} so far"));
            }
        }
        Ok(Visit::Descend)
    })
}

pub(super) fn check_complexity(
    root: &Node<'_>,
    dialect: &Dialect,
    report: &mut Report<'_>,
    budget: &Budget,
) -> Result<(), Error> {
    let limits = [("optionalProperties", "optional properties"), ("unions", "properties with several types")];
    let limits = limits.map(|(name, what)| (dialect.limit(name), what));
    if limits.iter().all(|(limit, _)| limit.is_none()) {
        return Ok(());
    }
    let Complexity { optional, unions, .. } = Complexity::of(root, budget)?;
    for ((limit, what), found) in limits.into_iter().zip([optional, unions]) {
        if let Some(limit) = limit.filter(|limit| found > *limit) {
            let expected = format!("at most {limit} {what}");
            report.add(root, Constraint::TooComplex, String::new(), &expected, &format!("{found}"));
        }
    }
    Ok(())
}

/// Returns the number of characters of a string, or of the JSON text of any other value.
fn character_count(value: &Node<'_>) -> usize {
    match value.data() {
        Data::String(text) => text.code_points().count(),
        _ => crate::json::plain_length(value),
    }
}

/// Returns true if the whole document is within the limits of one part. This is the common case, and cheap to
/// determine.
fn is_within(root: &Node<'_>, dialect: &Dialect, report: &Report<'_>) -> bool {
    let document_counts = &report.document_counts;
    // The counts are incomplete if there are violations or some keywords are not visited.
    let is_complete = report.found.is_empty() && report.grammar.through == Keywords::ALL;
    let is_within_limit = |count: usize, name: &str| dialect.limit(name).is_none_or(|limit| count <= limit);
    is_complete
        && is_within_limit(report.properties, "propertiesPerPart")
        && is_within_limit(document_counts.levels, "depthPerPart")
        && is_within_limit(document_counts.values, "enumValuesPerPart")
        && (document_counts.longest <= MAX_UNLIMITED_VALUES || dialect.limit("longEnumCharacters").is_none())
        && is_within_limit(crate::json::length(root), "charactersPerPart")
}
