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
const VALUES: usize = 12;
const LETTERS: usize = 60;
/// Maximum number of members that are compared with a missing name.
const CANDIDATES: usize = 64;

pub(crate) fn short(text: &str) -> String {
    match text.char_indices().nth(LETTERS) {
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
    let others = members.iter().map(|member| &member.key).filter(|key| !declared.has(key));
    let others: Vec<String> = others.take(CANDIDATES).map(|key| short(&key.display())).collect();
    let (missing, own) = (short(&missing.display()), parts(&missing.display()));
    let holds = |all: &[String], some: &[String]| !some.is_empty() && some.iter().all(|part| all.contains(part));
    let alike = others.iter().find(|other| {
        let other = parts(other);
        holds(&own, &other) || holds(&other, &own)
    });
    match alike {
        Some(other) => format!(" (given as `{other}`?)"),
        None => naming::did_you_mean(&missing, &others).replace("did you mean", "given as"),
    }
}

/// In lower case and without a plural `s`.
fn parts(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut before = ' ';
    for letter in name.chars() {
        let begins = !before.is_alphanumeric() || (before.is_lowercase() && letter.is_uppercase());
        if letter.is_alphanumeric() {
            if begins {
                parts.push(String::new());
            }
            if let Some(part) = parts.last_mut() {
                part.extend(letter.to_lowercase());
            }
        }
        before = letter;
    }
    parts.iter_mut().filter(|part| part.len() > 3 && part.ends_with('s')).for_each(|part| {
        part.pop();
    });
    parts
}

pub(super) fn value(value: &Node<'_>) -> String {
    short(&json::write(value))
}

pub(super) fn values(values: &[Node<'_>]) -> String {
    let named: Vec<String> = values.iter().take(VALUES).map(value).collect();
    match values.len().saturating_sub(VALUES) {
        0 if named.len() == 1 => named.concat(),
        0 => format!("one of {}", named.join(", ")),
        more => format!("one of {} and {more} more", named.join(", ")),
    }
}

/// For example "a string or null".
pub(super) fn types(types: InstanceTypes) -> String {
    let (nulls, others): (Vec<&str>, Vec<&str>) = types.names().partition(|name| *name == "null");
    let kinds: Vec<&str> = others
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
    if kinds.is_empty() {
        return "nothing".into();
    }
    kinds.join(" or ")
}
