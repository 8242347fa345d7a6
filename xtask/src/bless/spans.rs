//! Locations of the members of an object, and of the items of a list, in JSON text.

use std::ops::Range;

pub(super) struct Member {
    /// Empty for an item of a list.
    pub(super) name: String,
    /// With the quotation marks; empty for an item of a list.
    pub(super) key: Range<usize>,
    pub(super) value: Range<usize>,
}

/// Returns the members or items of the value in a range. The text has to be valid JSON.
pub(super) fn members(text: &str, range: Range<usize>) -> Vec<Member> {
    let bytes = text.as_bytes();
    let mut at = skip_space(bytes, range.start);
    let is_object = bytes.get(at) == Some(&b'{');
    at = skip_space(bytes, at + 1);
    let mut list = Vec::new();
    while at < range.end && !matches!(bytes[at], b'}' | b']') {
        let key = if is_object { at..value_end(bytes, at) } else { at..at };
        if is_object {
            // The colon.
            at = skip_space(bytes, skip_space(bytes, key.end) + 1);
        }
        let value = at..value_end(bytes, at);
        at = skip_space(bytes, value.end);
        if bytes.get(at) == Some(&b',') {
            at = skip_space(bytes, at + 1);
        }
        let name = text[key.clone()].trim_matches('"').to_owned();
        list.push(Member { name, key, value });
    }
    list
}

fn skip_space(bytes: &[u8], start: usize) -> usize {
    bytes[start..].iter().position(|byte| !byte.is_ascii_whitespace()).map_or(bytes.len(), |length| start + length)
}

fn value_end(bytes: &[u8], start: usize) -> usize {
    let (mut depth, mut at) = (0_usize, start);
    loop {
        match bytes[at] {
            b'"' => at = string_end(bytes, at),
            b'{' | b'[' => (depth, at) = (depth + 1, at + 1),
            b'}' | b']' => (depth, at) = (depth - 1, at + 1),
            _ => at += 1,
        }
        let is_end =
            bytes.get(at).is_none_or(|byte| matches!(byte, b',' | b':' | b'}' | b']') || byte.is_ascii_whitespace());
        if depth == 0 && is_end {
            return at;
        }
    }
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

#[cfg(test)]
mod tests {
    use super::members;

    #[test]
    fn spans() {
        let text = r#" [ {"a\"": [1, {"b": "]"}], "c":true} ,2]"#;
        let items = members(text, 0..text.len());
        let texts: Vec<&str> = items.iter().map(|item| &text[item.value.clone()]).collect();
        assert_eq!(texts, [r#"{"a\"": [1, {"b": "]"}], "c":true}"#, "2"]);
        let inner: Vec<&str> =
            members(text, items[0].value.clone()).iter().map(|item| &text[item.value.clone()]).collect();
        assert_eq!(inner, [r#"[1, {"b": "]"}]"#, "true"]);
    }
}
