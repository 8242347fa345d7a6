//! Visits the strings and numbers of JSON text without building a tree. Checks only that brackets match, and not the
//! rest of the grammar.

use super::{scan::Stops, Text};

/// Maximum depth, because `kinds` has one bit for each open container.
const MAX_SKIMMED: u32 = u64::BITS;

#[derive(Debug, PartialEq)]
pub(crate) enum Skimmed<'a> {
    /// The name of a member of the root object.
    Member(Text<'a>),
    /// A member's value, if it is a string.
    Value(Text<'a>),
    /// A member's value, if it is a number.
    Number(&'a str),
    /// The start of a member's value, if it is an array.
    List,
    /// A name or a value in a member's value.
    Inner(Text<'a>),
}

/// Calls `watch` with every string, and with the numbers and lists that are members of the root object, in order. Stops
/// if `watch` returns false. Returns false if it stopped, if the text is not an object, or if it is nested too deeply.
pub(crate) fn skim<'a>(source: &'a str, mut watch: impl FnMut(Skimmed<'a>) -> bool) -> bool {
    let bytes = source.as_bytes();
    let mut stops = Stops::new(bytes);
    // `kinds` has a bit for each open container, which is 1 for an object.
    let (mut at, mut depth, mut kinds, mut is_name, mut has_root) = (0, 0_u32, 0_u64, false, false);
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b'{' if !has_root => (has_root, depth, kinds, is_name) = (true, 1, 1, true),
            _ if depth == 0 => return false,
            b'"' => {
                let Some((end, escaped)) = string_end(bytes, &mut stops, at) else { return false };
                let text = Text::spelled(source.get(at..end).unwrap_or_default(), escaped);
                at = end + 1;
                let part = match (depth, is_name) {
                    (1, true) => Skimmed::Member(text),
                    (1, false) => Skimmed::Value(text),
                    _ => Skimmed::Inner(text),
                };
                if !watch(part) {
                    return false;
                }
            }
            b'{' | b'[' if depth == MAX_SKIMMED => return false,
            b'[' if depth == 1 && !watch(Skimmed::List) => return false,
            b'{' | b'[' => (depth, kinds) = (depth + 1, kinds << 1 | u64::from(*byte == b'{')),
            b'}' | b']' if (kinds & 1 == 1) != (*byte == b'}') => return false,
            b'}' | b']' => (depth, kinds) = (depth - 1, kinds >> 1),
            b':' => is_name &= depth > 1,
            b',' => is_name |= depth == 1,
            b'0'..=b'9' | b'-' if depth == 1 && !is_name => {
                let rest = bytes.get(at..).unwrap_or_default();
                let is_part = |byte: &&u8| byte.is_ascii_digit() || b"+-.eE".contains(*byte);
                let end = at + rest.iter().take_while(is_part).count();
                let number = source.get(at - 1..end).unwrap_or_default();
                at = end;
                if !watch(Skimmed::Number(number)) {
                    return false;
                }
            }
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'+' | b'.' | b'E' => {}
            _ => return false,
        }
    }
    has_root && depth == 0
}

fn string_end(bytes: &[u8], stops: &mut Stops<'_>, start: usize) -> Option<(usize, bool)> {
    let (mut at, mut escaped) = (start, false);
    loop {
        let stop = stops.next(at);
        escaped |= stop.passed_escape | stop.is_escaped;
        match bytes.get(stop.at)? {
            b'"' => return Some((stop.at, escaped)),
            _ if stop.is_escaped => at = stop.at + 1,
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::{string::String, vec::Vec};

    use super::*;

    fn strings(source: &str) -> Option<Vec<(u8, String)>> {
        let mut strings = Vec::new();
        let is_object = skim(source, |part| {
            let (kind, text) = match part {
                Skimmed::Member(text) => (0, text),
                Skimmed::Value(text) => (1, text),
                Skimmed::Inner(text) => (2, text),
                Skimmed::List => (3, Text::literal("")),
                Skimmed::Number(number) => (4, Text::new(number)),
            };
            strings.push((kind, text.display().into_owned()));
            true
        });
        is_object.then_some(strings)
    }

    #[test]
    fn every_string_is_found() {
        let text = concat!(
            r#" {"a": "b,:{\"", "\u0063":[1, -2.5e+3, "d:\\", {"e": "\/\n"}], "f":true, "n": -2.5e+3 , "#,
            r#""g" : {"a":"h", "m": 1}, "o":0, "": ""} "#
        );
        let actual = strings(text).unwrap_or_default();
        let actual: Vec<(u8, &str)> = actual.iter().map(|(kind, text)| (*kind, text.as_str())).collect();
        let expected = [
            (0, "a"),
            (1, "b,:{\""),
            (0, "c"),
            (3, ""),
            (2, "d:\\"),
            (2, "e"),
            (2, "/\n"),
            (0, "f"),
            (0, "n"),
            (4, "-2.5e+3"),
            (0, "g"),
            (2, "a"),
            (2, "h"),
            (2, "m"),
            (0, "o"),
            (4, "0"),
            (0, ""),
            (1, ""),
        ];
        assert_eq!(actual, expected);
    }

    #[test]
    fn other_text_is_no_object() {
        let deep = "{\"a\":".repeat(65) + "1" + &"}".repeat(65);
        for text in [
            "",
            "[]",
            "1",
            "\"a\"",
            "{",
            "{}{}",
            "{} 1",
            "{\"a",
            "{\"a\":[}",
            "{\"a\":]}",
            "{'a':1}",
            "{\"a\n\":1}",
            &deep,
        ] {
            assert_eq!(strings(text), None, "{text}");
        }
        let deep = "{\"a\":".repeat(64) + "1" + &"}".repeat(64);
        assert_eq!(strings(&deep).map(|list| list.len()), Some(64));
    }
}
