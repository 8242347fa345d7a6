//! Messages of violations: what the schema expects, in its own names and values, and the kind of value that was found.
//! They never contain a value of the arguments.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use crate::{
    json::{self, LookUp, Node, Object, Text},
    naming,
    schema::instance_types::InstanceTypes,
};

/// Maximum number of listed `enum` values, and maximum length of a name or a value in characters.
const MAX_VALUES: usize = 12;
const MAX_LETTERS: usize = 60;
/// Maximum number of members that are compared with a missing name.
const CANDIDATES: usize = 64;

pub(crate) fn short(text: &str) -> String {
    match text.char_indices().nth(MAX_LETTERS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_string(),
    }
}

pub(crate) fn name(name: &Text<'_>) -> String {
    format!("`{}`", short(&name.display()))
}

/// Suggests the undeclared member that was probably meant as the missing member: `path` for `file_path`, `contents` for
/// `content`.
pub(super) fn instead(missing: &Text<'_>, declared: Option<&Object<'_>>, members: &Object<'_>) -> String {
    let Some(declared) = declared.map(LookUp::of) else { return String::new() };
    let undeclared = members.iter().map(|member| &member.key).filter(|key| !declared.has(key));
    let undeclared: Vec<String> = undeclared.take(CANDIDATES).map(|key| short(&key.display())).collect();
    let (missing, missing_words) = (short(&missing.display()), words_of(&missing.display()));
    let contains_all = |all: &[String], some: &[String]| !some.is_empty() && some.iter().all(|part| all.contains(part));
    let similar = undeclared.iter().find(|other| {
        let other = words_of(other);
        contains_all(&missing_words, &other) || contains_all(&other, &missing_words)
    });
    match similar {
        Some(other) => format!(" (given as `{other}`?)"),
        None => naming::did_you_mean(&missing, &undeclared).replace("did you mean", "given as"),
    }
}

/// Returns the words of a name in lower case, without a plural `s`.
fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous = ' ';
    for letter in name.chars() {
        let starts_word = !previous.is_alphanumeric() || (previous.is_lowercase() && letter.is_uppercase());
        if letter.is_alphanumeric() {
            if starts_word {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(letter.to_lowercase());
            }
        }
        previous = letter;
    }
    words.iter_mut().filter(|word| word.len() > 3 && word.ends_with('s')).for_each(|word| {
        word.pop();
    });
    words
}

pub(super) fn value(value: &Node<'_>) -> String {
    short(&json::write(value))
}

pub(super) fn values(values: &[Node<'_>]) -> String {
    let named: Vec<String> = values.iter().take(MAX_VALUES).map(value).collect();
    match values.len().saturating_sub(MAX_VALUES) {
        0 if named.len() == 1 => named.concat(),
        0 => format!("one of {}", named.join(", ")),
        more => format!("one of {} and {more} more", named.join(", ")),
    }
}

/// Returns a list such as "a string or null".
pub(super) fn types(types: InstanceTypes) -> String {
    let (nulls, non_null): (Vec<&str>, Vec<&str>) = types.names().partition(|name| *name == "null");
    let names: Vec<&str> = non_null
        .into_iter()
        .chain(nulls)
        .map(|name| match name {
            "boolean" => "a boolean",
            "object" => "an object",
            "array" => "an array",
            "number" => "a number",
            "integer" => "an integer",
            "string" => "a string",
            other => other,
        })
        .collect();
    if names.is_empty() {
        return "nothing".into();
    }
    names.join(" or ")
}
