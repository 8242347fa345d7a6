//! Writes a changed value into JSON text in the layout of the text. Members and items that did not change keep their
//! bytes.

use std::ops::Range;

use toolwire::internal::json::{self, Node, Object};

use crate::position::{children, Child};

/// Layout of a file's text, for new parts.
pub(super) struct Layout {
    /// One level of indentation.
    unit: String,
    line_end: &'static str,
    /// Whitespace after a colon, after a comma within a line, and inside the braces of an object on one line.
    colon: String,
    comma: String,
    brace: String,
    /// Lists of scalars are written on one line.
    has_short_lists: bool,
}

impl Layout {
    /// Reads the layout of a text. Constructs that do not occur in it get the layout of `JSON.stringify`: an
    /// indentation of two spaces, or no whitespace if the text is compact.
    pub(super) fn of(text: &str) -> Layout {
        let is_long = text.trim_end().contains('\n');
        let blank =
            |rest: &str| rest.chars().take_while(|character| matches!(character, ' ' | '\t')).collect::<String>();
        let (mut unit, mut colon, mut comma, mut brace) = (None, None, None, None);
        let mut has_short_lists = false;
        let (mut in_string, mut escaped) = (false, false);
        for (at, character) in text.char_indices() {
            if in_string {
                in_string = escaped || character != '"';
                escaped = character == '\\' && !escaped;
                continue;
            }
            in_string = character == '"';
            let rest = text.get(at + character.len_utf8()..).unwrap_or_default();
            let next = || rest.trim_start_matches([' ', '\t']).chars().next().unwrap_or('\n');
            match character {
                '\n' if unit.is_none() => unit = Some(blank(rest)).filter(|blank| !blank.is_empty()),
                ':' if colon.is_none() => colon = Some(blank(rest)),
                ',' if comma.is_none() && !matches!(next(), '\n' | '\r') => comma = Some(blank(rest)),
                '{' if brace.is_none() && next() == '"' => brace = Some(blank(rest)),
                '[' => has_short_lists |= !matches!(next(), '\n' | '\r' | '{' | '[' | ']'),
                _ => {}
            }
        }
        let space = || String::from(if is_long { " " } else { "" });
        Layout {
            unit: unit.unwrap_or_else(|| "  ".into()),
            line_end: if text.contains("\r\n") { "\r\n" } else { "\n" },
            comma: comma.unwrap_or_else(|| if is_long { " ".into() } else { colon.clone().unwrap_or_default() }),
            colon: colon.unwrap_or_else(space),
            brace: brace.unwrap_or_default(),
            has_short_lists,
        }
    }

    fn write_new(&self, node: &Node<'_>, indent: &str, in_line: bool) -> String {
        let is_scalar = |node: &Node<'_>| node.as_array().is_none() && node.as_object().is_none();
        let parts: Vec<(String, &Node<'_>)> = match (node.as_object(), node.as_array()) {
            (Some(object), _) if !object.is_empty() => {
                object.iter().map(|member| (self.key(&json::write(&Node::string(member.key.clone()))), &member.value))
            }
            .collect(),
            (_, Some(items)) if !items.is_empty() => items.iter().map(|item| (String::new(), item)).collect(),
            _ => return json::write(node),
        };
        let is_object = node.as_object().is_some();
        let (open, close) = if is_object { ('{', '}') } else { ('[', ']') };
        let in_line = in_line || !is_object && self.has_short_lists && parts.iter().all(|(_, value)| is_scalar(value));
        let deeper = format!("{indent}{}", self.unit);
        let parts = parts.into_iter().map(|(key, value)| key + &self.write_new(value, &deeper, in_line));
        let parts: Vec<String> = parts.collect();
        if in_line {
            let brace = if is_object { self.brace.as_str() } else { "" };
            return format!("{open}{brace}{}{brace}{close}", parts.join(&format!(",{}", self.comma)));
        }
        let lead = format!("{}{deeper}", self.line_end);
        format!("{open}{lead}{}{}{indent}{close}", parts.join(&format!(",{lead}")), self.line_end)
    }

    fn key(&self, quoted: &str) -> String {
        format!("{quoted}:{}", self.colon)
    }

    /// `in_line` is true if the object or array that contains the value is on one line.
    pub(super) fn rewrite(
        &self,
        text: &str,
        span: Range<usize>,
        before: &Node<'_>,
        after: &Node<'_>,
        in_line: bool,
    ) -> String {
        let old_text = text.get(span.clone()).unwrap_or_default();
        if json::write(before) == json::write(after) {
            return old_text.into();
        }
        let parts = match (before.as_object(), after.as_object(), before.as_array(), after.as_array()) {
            (Some(before), Some(after), ..) if !before.is_empty() && !after.is_empty() => of_members(before, after),
            (_, _, Some(before), Some(after)) if !before.is_empty() && !after.is_empty() => of_items(before, after),
            _ => return self.write_new(after, indentation(text, span.start), in_line),
        };
        let old = children(text, span.clone());
        let (Some(first), Some(last)) = (old.first(), old.last()) else {
            return self.write_new(after, indentation(text, span.start), in_line);
        };
        let piece = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
        let lead = piece(span.start + 1, first.start());
        let in_line = !lead.contains('\n');
        let separator = match old.get(1) {
            Some(second) if in_line => piece(first.value.end, second.start()).to_string(),
            _ if in_line => format!(",{}", self.comma),
            _ => format!(",{lead}"),
        };
        let indent = lead.rsplit('\n').next().filter(|_| !in_line).unwrap_or_default();
        let (mut out, mut previous) = (format!("{}{lead}", piece(span.start, span.start + 1)), None);
        for (at, part) in parts.iter().enumerate() {
            let place: Option<(usize, &Child)> = part.of.and_then(|of| Some((of, old.get(of)?)));
            if at > 0 {
                let kept = place.zip(previous).filter(|((of, _), previous)| previous + 1 == *of);
                let kept = kept.and_then(|((of, place), _)| Some(piece(old.get(of - 1)?.value.end, place.start())));
                out.push_str(kept.unwrap_or(&separator));
            }
            previous = place.map(|(of, _)| of);
            match (place, part.before) {
                (Some((_, place)), Some(before)) => {
                    if let (Some(key), Some(name)) = (&place.key, &part.name) {
                        out.push_str(name.as_deref().unwrap_or(piece(key.start, key.end)));
                        out.push_str(piece(key.end, place.value.start));
                    }
                    out.push_str(&self.rewrite(text, place.value.clone(), before, part.after, in_line));
                }
                _ => {
                    if let Some(Some(name)) = &part.name {
                        out.push_str(&self.key(name));
                    }
                    out.push_str(&self.write_new(part.after, indent, in_line));
                }
            }
        }
        out.push_str(piece(last.value.end, span.end));
        out
    }
}

/// A member or an item after the change.
struct Part<'n, 'a> {
    /// Index of the old member or item at the same location, with its value.
    of: Option<usize>,
    before: Option<&'n Node<'a>>,
    /// For members: the quoted name, if it is not the old name.
    name: Option<Option<String>>,
    after: &'n Node<'a>,
}

fn of_members<'n, 'a>(before: &'n Object<'a>, after: &'n Object<'a>) -> Vec<Part<'n, 'a>> {
    let old = before.members();
    let mut next = 0;
    let kept: Vec<Option<usize>> = after
        .iter()
        .map(|member| {
            let at = old.iter().position(|old_member| old_member.key == member.key).filter(|at| *at >= next)?;
            next = at + 1;
            Some(at)
        })
        .collect();
    let pairs = pair_replaced_items(&kept, old.len());
    let part = |(member, of): (&'n json::Member<'a>, Option<usize>)| {
        let old_member = of.and_then(|of| old.get(of));
        let is_same = old_member.is_some_and(|old_member| old_member.key == member.key);
        let name = (!is_same).then(|| json::write(&Node::string(member.key.clone())));
        Part { of, before: old_member.map(|old_member| &old_member.value), name: Some(name), after: &member.value }
    };
    after.iter().zip(pairs).map(part).collect()
}

fn of_items<'n, 'a>(before: &'n [Node<'a>], after: &'n [Node<'a>]) -> Vec<Part<'n, 'a>> {
    let written = |items: &[Node<'_>]| items.iter().map(json::write).collect::<Vec<_>>();
    let (old, new) = (written(before), written(after));
    let mut next = 0;
    let kept: Vec<Option<usize>> = new
        .iter()
        .map(|item| {
            let at = old.iter().skip(next).position(|old_item| old_item == item)? + next;
            next = at + 1;
            Some(at)
        })
        .collect();
    let pairs = pair_replaced_items(&kept, before.len());
    let part = |(after, of): (&'n Node<'a>, Option<usize>)| Part {
        of,
        before: of.and_then(|of| before.get(of)),
        name: None,
        after,
    };
    after.iter().zip(pairs).map(part).collect()
}

/// Pairs a new element with a removed element between equal neighbors.
fn pair_replaced_items(kept: &[Option<usize>], old: usize) -> Vec<Option<usize>> {
    let mut pairs = Vec::with_capacity(kept.len());
    let mut free = 0;
    for (at, place) in kept.iter().enumerate() {
        let limit = kept.iter().skip(at).find_map(|place| *place).unwrap_or(old);
        let place = place.or((free < limit).then_some(free));
        free = place.map_or(free, |place| place + 1);
        pairs.push(place);
    }
    pairs
}

fn indentation(text: &str, at: usize) -> &str {
    let line = text.get(..at).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
    line.get(..line.len() - line.trim_start_matches([' ', '\t']).len()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use toolwire::internal::json;

    use super::Layout;

    fn rewrite(text: &str, after: &str) -> String {
        let (before, after) = (json::read(text).unwrap_or_default(), json::read(after).unwrap_or_default());
        Layout::of(text).rewrite(text, 0..text.len(), &before, &after, true)
    }

    #[test]
    fn unchanged_parts_keep_their_layout() {
        for (text, after, expected) in [
            // A member is renamed, and its value is replaced by one of the same kind.
            (
                "{\"a\" : 1.0,\n\t\"oneOf\":[ {}, 2 ]}",
                r#"{"a":1.0,"anyOf":[{},3]}"#,
                "{\"a\" : 1.0,\n\t\"anyOf\":[ {}, 3 ]}",
            ),
            // Indentation and line ends follow the file.
            (
                "{\r\n\t\"a\": {\"b\": 1}\r\n}",
                r#"{"a":{"b":1,"c":{"d":[1,2]}},"e":{"f":[]}}"#,
                "{\r\n\t\"a\": {\"b\": 1, \"c\": {\"d\": [1, 2]}},\r\n\t\"e\": {\r\n\t\t\"f\": []\r\n\t}\r\n}",
            ),
            (
                "{\n  \"a\": 1,\n  \"b\": [\"x\", \"y\"]\n}",
                r#"{"b":["x"],"c":["z",1]}"#,
                "{\n  \"b\": [\"x\"],\n  \"c\": [\"z\", 1]\n}",
            ),
            (
                "{\n  \"a\": [\n    1,\n    2\n  ]\n}",
                r#"{"a":[0,1,2],"b":[1]}"#,
                "{\n  \"a\": [\n    0,\n    1,\n    2\n  ],\n  \"b\": [\n    1\n  ]\n}",
            ),
            // Compact text remains compact, and braces keep their spaces.
            (r#"{"a":{"b":1,"c":2}}"#, r#"{"a":{"c":2,"d":[1,2]}}"#, r#"{"a":{"c":2,"d":[1,2]}}"#),
            (r#"{ "a": { "b": 1 } }"#, r#"{"a":{"b":1,"c":{"d":1}}}"#, r#"{ "a": { "b": 1, "c": { "d": 1 } } }"#),
            (r#"{"a": true}"#, r#"{"a":{"b":1}}"#, r#"{"a": {"b": 1}}"#),
            (r#"{"a": {"b": 1}}"#, r#"{"a":{}}"#, r#"{"a": {}}"#),
        ] {
            assert_eq!(rewrite(text, after), expected);
        }
    }
}
