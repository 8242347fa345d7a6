//! Limits on the root and on each definition separately, without following references: properties, levels, values,
//! characters.

use alloc::{format, string::String};

use super::Report;
use crate::{
    budget::Budget,
    collections::Map,
    dialect::Dialect,
    error::Error,
    json::{Data, Node, Step},
    rules::Constraint,
    schema::{
        keyword::{Keyword, Keywords},
        visit::{self, Visit},
    },
};

/// An `enum` with at most this number of values may have any number of characters.
const FEW: usize = 250;

/// Counts of one part so far.
#[derive(Default)]
struct PartCounts {
    properties: usize,
    values: usize,
    characters: usize,
    /// The limits that are already exceeded: properties, values, characters.
    over: [bool; 3],
}

pub(super) fn check(root: &Node<'_>, dialect: &Dialect, report: &mut Report<'_>, budget: &Budget) -> Result<(), Error> {
    let limit = |name: &str| dialect.limit(name);
    let (properties, depth, values) = (limit("propertiesPerPart"), limit("depthPerPart"), limit("enumValuesPerPart"));
    let (list, characters) = (limit("longEnumCharacters"), limit("charactersPerPart"));
    if [properties, depth, values, list, characters].iter().all(Option::is_none) {
        return Ok(());
    }
    if is_within(root, dialect, report) {
        return Ok(());
    }
    // Counts of the root, and those of the definitions by name.
    let (mut main, mut parts) = (PartCounts::default(), Map::<String, PartCounts>::new());
    visit::walk(budget, root, Keywords::ALL, &mut |node, place| {
        let Some(object) = node.as_object() else { return Ok(Visit::Skip) };
        let (counts, inside) = match place.pointer.steps() {
            [Step::Name("$defs" | "definitions"), Step::Member(name), rest @ ..] => {
                let name = name.display().into_owned();
                let length = name.chars().count();
                // A definition with an empty name counts towards the root.
                let counts = if name.is_empty() { &mut main } else { parts.entry(name).or_default() };
                if rest.is_empty() {
                    counts.characters += length;
                }
                (counts, rest)
            }
            steps => (&mut main, steps),
        };
        let level = inside.iter().filter(|step| matches!(step, Step::Name("properties"))).count();
        let at = |keyword: &str| place.pointer.render_with(keyword);
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
            let length = items.iter().map(length).sum::<usize>();
            counts.values += items.len();
            counts.characters += length;
            if let Some(limit) = list.filter(|limit| items.len() > FEW && length > *limit) {
                let expected = format!("at most {limit} characters in an `enum` of more than {FEW} values");
                report.add(listed, Constraint::EnumTooLong, at("enum"), &expected, &format!("{length}"));
            }
        }
        counts.characters += object.get(Keyword::Const).map_or(0, length);
        let amounts = [
            (properties, counts.properties, Constraint::TooManyProperties, "properties"),
            (values, counts.values, Constraint::TooManyEnumValues, "values in `enum`"),
            (characters, counts.characters, Constraint::TooManyCharacters, "characters of names, values and constants"),
        ];
        for ((limit, found, rule, what), over) in amounts.into_iter().zip(&mut counts.over) {
            if let Some(limit) = limit.filter(|limit| found > *limit && !*over) {
                *over = true;
                let expected = format!("at most {limit} {what} in the root, and in each definition");
                report.add(node, rule, place.pointer.render(), &expected, &format!("{found} so far"));
            }
        }
        Ok(Visit::Descend)
    })
}

/// Returns the number of characters of a string, or of the JSON text of any other value.
fn length(value: &Node<'_>) -> usize {
    match value.data() {
        Data::String(text) => text.code_points().count(),
        _ => crate::json::plain_length(value),
    }
}

/// Returns true if the whole document is within the limits of one part. This is the common case, and cheap to
/// determine.
fn is_within(root: &Node<'_>, dialect: &Dialect, report: &Report<'_>) -> bool {
    let counted = &report.counted;
    // The counts are incomplete if there are violations or some keywords are not visited.
    let has_all = report.found.is_empty() && report.grammar.through == Keywords::ALL;
    let within = |found: usize, name: &str| dialect.limit(name).is_none_or(|limit| found <= limit);
    has_all
        && within(report.properties, "propertiesPerPart")
        && within(counted.levels, "depthPerPart")
        && within(counted.values, "enumValuesPerPart")
        && (counted.longest <= FEW || dialect.limit("longEnumCharacters").is_none())
        && within(crate::json::length(root), "charactersPerPart")
}
