//! Damages arguments and their text in the ways in which models do.

use arbitrary::{Result, Unstructured};
use serde_json::{json, Value};

/// Tokens of text that is almost JSON.
#[rustfmt::skip]
const TOKENS: [&str; 58] = [
    "{", "}", "[", "]", ",", ":", "\"", "'", "\\", "\\\"", "\\'", "\\n", "\\u0041", "\\q", "\n", "\t", " ",
    "\u{FEFF}", "\u{A0}",
    "“", "”", "‘", "`", "```", "```json\n", "\n```", "//", "/*", "*/", "#", "a", "b", "\"a\"", "'b'", "\"a\":",
    "'a':", "a:", "1",
    "-", "0.5", "1e5", "007", ".5", "true", "True", "None", "null", "undefined", "NaN", "x", "é", "\u{0}",
    "</invoke>", "Sure: ",
    "{}", "[]", "{\"a\":1}", "\\\\",
];

/// Strings that represent nothing, or a different value.
#[rustfmt::skip]
const STRINGS: [&str; 25] = [
    "", " ", "null", "None", "undefined", "true", "False", "0", "1", "+3", "007", ".5", "1e3", "3.0",
    "9007199254740993", "secret words",
    "[\"a\"]", "{\"a\": 1}", "['a']", "[1, 2", "\"300\"", "a, b", "[a-z]*.ts", "{\"item\": [1]}", "\"[1]\"",
];

/// Damages one place in a value.
///
/// # Errors
/// None in practice.
pub(super) fn value(place: &mut Value, data: &mut Unstructured<'_>) -> Result<()> {
    // Rarely the root, because an invalid root hides everything below it.
    let inner = match place {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    if inner > 0 && data.ratio(3_u8, 4_u8)? {
        let index = data.choose_index(inner)?;
        return match place {
            Value::Array(items) => value(&mut items[index], data),
            Value::Object(members) => members.values_mut().nth(index).map_or(Ok(()), |inner| value(inner, data)),
            _ => Ok(()),
        };
    }
    if let Value::Object(members) = place {
        if data.ratio(1_u8, 3_u8)? && !members.is_empty() {
            let index = data.choose_index(members.len())?;
            let name = members.keys().nth(index).cloned().unwrap_or_default();
            let other = misspell(&name, data)?;
            let inner = members.remove(&name).unwrap_or_default();
            members.insert(other, inner);
            return Ok(());
        }
    }
    let old = place.take();
    *place = match data.int_in_range(0..=15)? {
        0 | 1 => json!(old.to_string()),
        2 => json!(json!(old.to_string()).to_string()),
        3 => json!([old]),
        4 => json!({"item": old}),
        5 => json!({"items": [old]}),
        6 => match old {
            Value::Array(mut items) if !items.is_empty() => items.swap_remove(0),
            other => json!([other]),
        },
        7 => Value::Null,
        8 => json!({*data.choose(&["arguments", "args", "Tool_Input", "params"])?: old, "name": "search"}),
        9 => json!({*data.choose(&["arguments", "input", "kwargs"])?: old}),
        10 => json!({"input": old.to_string()}),
        11 => match old {
            Value::String(text) => json!(misspell(&text, data)?),
            other => json!(python(&other)),
        },
        12 => json!(*data.choose(&[0, 1, 2])?),
        13 => json!(data.arbitrary::<bool>()?),
        _ => json!(*data.choose(&STRINGS)?),
    };
    Ok(())
}

/// Returns another spelling of a name.
fn misspell(name: &str, data: &mut Unstructured<'_>) -> Result<String> {
    Ok(match data.int_in_range(0..=4)? {
        0 => name.to_uppercase(),
        1 => name.to_lowercase(),
        2 => format!("\"{name}\""),
        3 => name.replace(' ', "_"),
        _ => format!("{name}_"),
    })
}

/// Returns a value in Python syntax.
fn python(value: &Value) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n")),
        Value::Array(items) => format!("[{}]", items.iter().map(python).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let member = |(name, inner): (&String, &Value)| format!("{}: {}", python(&json!(name)), python(inner));
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Returns the text of a value, damaged.
///
/// # Errors
/// None in practice.
pub(super) fn text(value: &Value, data: &mut Unstructured<'_>) -> Result<String> {
    let mut text = value.to_string();
    for _ in 0..data.int_in_range(1..=3)? {
        text = match data.int_in_range(0..=15)? {
            0 => python(value),
            1 => format!("```json\n{text}\n```"),
            2 => format!("```\n{text}"),
            3 => text.replace('}', ",}").replace(']', ", ]"),
            4 => format!("{text}}}"),
            5 => format!("{text}{text}"),
            6 => format!("Here it is: {text} Done."),
            7 => text.replace('"', "'"),
            8 => text.replace('"', "\\\""),
            9 => text.replace(',', "\n"),
            10 => json!(text).to_string(),
            11 => serde_json::to_string_pretty(value).unwrap_or_default(),
            _ => {
                let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
                let (one, two) = (*data.choose(&places)?, *data.choose(&places)?);
                match data.int_in_range(0..=3)? {
                    0 => text[..one].into(),
                    1 => {
                        let end = places.iter().find(|at| **at > one).copied().unwrap_or(text.len());
                        format!("{}{}", &text[..one], &text[end..])
                    }
                    2 => format!("{}{}{}", &text[..one], data.choose(&TOKENS)?, &text[one..]),
                    _ => format!("{}{}", &text[..one.min(two)], &text[one.max(two)..]),
                }
            }
        };
    }
    Ok(text)
}

/// Returns arbitrary text.
///
/// # Errors
/// None in practice.
pub(super) fn any(data: &mut Unstructured<'_>) -> Result<String> {
    if data.ratio(1_u8, 4_u8)? {
        let bytes = data.bytes(data.len().min(40))?;
        return Ok(String::from_utf8_lossy(bytes).into_owned());
    }
    let count = data.int_in_range(0..=24)?;
    (0..count).map(|_| data.choose(&TOKENS).copied()).collect()
}
