//! Closes truncated JSON text, because a model that reaches its token limit may stop at any point.

use alloc::{string::String, vec::Vec};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    Value,
    /// An item, or the end of the array.
    FirstItem,
    /// A name, or the end of the object.
    FirstName,
    Name,
    Colon,
    /// A comma, or the end of the open array or object.
    Comma,
}

/// Removes incomplete members and items of text that is the beginning of JSON, and closes open brackets. Returns `None`
/// if the text is not the beginning of JSON, or is complete.
pub(crate) fn close_cut(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let byte_at = |at: usize| bytes.get(at).copied();
    let (mut at, mut want) = (0, Want::Value);
    // The closing bracket of each open bracket.
    let mut open: Vec<u8> = Vec::new();
    // End of the last complete value, or of the last opening bracket.
    let mut whole = None;
    while let Some(byte) = byte_at(at) {
        match (byte, want) {
            (b' ' | b'\t' | b'\n' | b'\r', _) => at += 1,
            (b'{' | b'[', Want::Value | Want::FirstItem) => {
                let is_object = byte == b'{';
                open.push(if is_object { b'}' } else { b']' });
                want = if is_object { Want::FirstName } else { Want::FirstItem };
                at += 1;
                whole = Some(at);
            }
            (b'}', Want::FirstName | Want::Comma) | (b']', Want::FirstItem | Want::Comma) => {
                if open.pop() != Some(byte) || open.is_empty() {
                    return None;
                }
                want = Want::Comma;
                at += 1;
                whole = Some(at);
            }
            (b',', Want::Comma) => {
                want = if open.last() == Some(&b'}') { Want::Name } else { Want::Value };
                at += 1;
            }
            (b':', Want::Colon) => {
                want = Want::Value;
                at += 1;
            }
            (b'"', Want::Name | Want::FirstName | Want::Value | Want::FirstItem) => {
                let Some(end) = end_of_string(bytes, at)? else { break };
                at = end;
                if matches!(want, Want::Name | Want::FirstName) {
                    want = Want::Colon;
                } else {
                    want = Want::Comma;
                    whole = Some(at);
                }
            }
            (_, Want::Value | Want::FirstItem) => {
                let rest = text.get(at..)?;
                let length =
                    rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || matches!(letter, '-' | '+' | '.')));
                let word = rest.get(..length.unwrap_or(rest.len()))?;
                let is_cut = length.is_none();
                if !is_scalar(word, is_cut) {
                    return None;
                }
                if is_cut {
                    break;
                }
                at += word.len();
                want = Want::Comma;
                whole = Some(at);
            }
            _ => return None,
        }
    }
    if open.is_empty() {
        return None;
    }
    let mut closed = String::from(text.get(..whole?)?);
    closed.extend(open.iter().rev().map(|byte| char::from(*byte)));
    Some(closed)
}

/// Returns `Some(None)` if the text ends inside the string, and `None` if the string contains a control character,
/// which JSON forbids.
#[expect(clippy::option_option, reason = "a truncated string is not an error")]
fn end_of_string(bytes: &[u8], start: usize) -> Option<Option<usize>> {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return Some(Some(at + 1)),
            b'\\' => at += 2,
            0..=0x1f => return None,
            _ => at += 1,
        }
    }
    Some(None)
}

/// If `is_cut` is true, the text ends after `word`, so the word may be only the beginning of a number or a literal.
fn is_scalar(word: &str, is_cut: bool) -> bool {
    let is_word = ["true", "false", "null"].iter().any(|whole| *whole == word || is_cut && whole.starts_with(word));
    let is_number = word.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        && word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E'));
    !word.is_empty() && (is_word || is_number)
}

#[cfg(test)]
mod tests {
    use super::close_cut;

    #[test]
    fn complete_values_are_kept() {
        for (text, closed) in [
            (r#"{"response":[{"city":"Rome","note":nu"#, r#"{"response":[{"city":"Rome"}]}"#),
            (r#"{"response":[1,2"#, r#"{"response":[1]}"#),
            (r#"{"response":[1,2,"#, r#"{"response":[1,2]}"#),
            (r#"{"response":"Hel"#, "{}"),
            (r#"{"response":["a\"b","c\"#, r#"{"response":["a\"b"]}"#),
            (r#"{"response":[]"#, r#"{"response":[]}"#),
            ("{", "{}"),
            (" [[1, [2], ", " [[1, [2]]]"),
        ] {
            assert_eq!(close_cut(text).as_deref(), Some(closed), "{text}");
        }
    }

    #[test]
    fn text_that_is_not_truncated_json_is_refused() {
        for text in ["", "Hello", "{name} is here", "[link](x)", "{\"a\":1}", "[1]]", "{\"a\" 1", "\"a", "[1 2", "{]"] {
            assert_eq!(close_cut(text), None, "{text}");
        }
    }
}
