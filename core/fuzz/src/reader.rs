//! Compares the reader with serde_json on text that is almost JSON.

use arbitrary::Unstructured;
use serde_json::Value;
use toolwire::internal::json;

use crate::grammar::{self, Style};

pub(crate) fn verdict(data: &[u8]) -> Result<(), String> {
    let mut unstructured = Unstructured::new(data);
    let text = match unstructured.int_in_range(0..=3_u8) {
        Ok(0) => String::from_utf8_lossy(unstructured.take_rest()).into_owned(),
        Ok(1) => grammar::value(&mut unstructured, Style::Any).unwrap_or_default(),
        Ok(2) => mutate(&mut unstructured).unwrap_or_default(),
        _ => pieces(&mut unstructured).unwrap_or_default(),
    };
    judge(&text)
}

/// Generates JSON with characters replaced or missing.
fn mutate(data: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    let mut characters: Vec<char> = grammar::schema(data, Style::Any)?.chars().collect();
    for _ in 0..data.int_in_range(1..=3)? {
        let at = data.choose_index(characters.len().max(1))?.min(characters.len().saturating_sub(1));
        match data.int_in_range(0..=3)? {
            0 if !characters.is_empty() => {
                characters.remove(at);
            }
            1 => characters
                .insert(at, *data.choose(&['"', '\\', '{', ']', ',', ':', '0', ' ', '\u{0}', '\u{2028}', 'e', '-'])?),
            _ if !characters.is_empty() => characters[at] = char::from(data.arbitrary::<u8>()?),
            _ => {}
        }
    }
    Ok(characters.into_iter().collect())
}

/// Generates tokens of JSON and other text, in any order.
fn pieces(data: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    const PIECES: [&str; 40] = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\"a\"",
        "\"\"",
        "null",
        "true",
        "false",
        "nul",
        "0",
        "-0",
        "01",
        "1.",
        ".5",
        "1e5",
        "1E+",
        "-",
        "1e-999",
        "123456789012345678901234567890",
        "\\",
        "\\u00e9",
        "\\ud800",
        "\\udc00",
        "\\ud83d\\ude00",
        "\\x",
        "\\u12",
        " ",
        "\n",
        "\t",
        "\u{feff}",
        "é",
        "\u{1}",
        "//",
        "NaN",
        "'a'",
        "\u{7f}",
    ];
    let count = data.int_in_range(0..=24)?;
    let mut text = String::new();
    for _ in 0..count {
        text.push_str(data.choose(&PIECES)?);
    }
    Ok(text)
}

fn judge(text: &str) -> Result<(), String> {
    let ours = json::read(text);
    let theirs = theirs(text);
    match (&ours, &theirs) {
        (Ok(ours), Ok(theirs)) => {
            let written = json::write(ours);
            let again: Result<Value, _> = serde_json::from_str(&written);
            if again.as_ref().ok() != Some(theirs) {
                return Err(format!(
                    "{text:?} is written as {written:?}, which reads as {again:?} and not as {theirs:?}"
                ));
            }
            let reread = json::read(&written)
                .map_err(|error| format!("{text:?} is written as {written:?}, which is not read: {error}"))?;
            if json::write(&reread) != written {
                return Err(format!("{written:?} changes when it is read and written again"));
            }
            if json::length(ours) != written.len() {
                return Err(format!(
                    "{written:?} has {} bytes, and {} were counted",
                    written.len(),
                    json::length(ours)
                ));
            }
            Ok(())
        }
        (Err(_), Err(_)) => Ok(()),
        // The reader accepts unpaired surrogates and numbers beyond a 64-bit float.
        (Ok(ours), Err(error)) if is_richer(&json::write(ours), error) => Ok(()),
        (Ok(_), Err(error)) => Err(format!("{text:?} is read, and serde_json says {error}")),
        (Err(error), Ok(_)) if error.code() == toolwire::Code::TooDeep => Ok(()),
        (Err(error), Ok(_)) => Err(format!("{text:?} is not read: {error}")),
    }
}

fn theirs(text: &str) -> Result<Value, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let value = serde::Deserialize::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

fn is_richer(text: &str, error: &serde_json::Error) -> bool {
    let message = error.to_string();
    let surrogate =
        text.to_ascii_lowercase().contains("\\ud") && (message.contains("surrogate") || message.contains("hex escape"));
    surrogate || message.contains("number out of range")
}
