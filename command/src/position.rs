//! Finds the lines and columns of JSON Pointers in a JSON text, in one pass. Also converts pointers into a list of
//! tools or schemas to locations in the input that contains the list.
//!
//! No library is used: parsers with positions reject text that the core accepts, for example lone surrogates.

use std::{collections::BTreeMap, ops::Range};

use toolwire::{
    internal::{
        self,
        json::{self, Node},
    },
    Error,
};

use super::error::CommandError;

/// A position in text. Lines and columns count from 1, and columns count characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// The wanted pointers, as a tree of their steps.
#[derive(Default)]
struct Wanted {
    /// Indices of the pointers that end here.
    here: Vec<usize>,
    below: BTreeMap<String, Wanted>,
}

/// Returns the position of the key for a member, and the position of an item. If a target does not exist, returns the
/// position of the nearest ancestor.
pub(crate) fn positions<'p>(text: &str, pointers: impl Iterator<Item = &'p str>) -> Vec<Position> {
    positions_in(text, text, pointers)
}

/// Like [`positions`], but for text that is not JSON itself; `plain` is the text with spaces in place of comments.
pub(crate) fn positions_in<'p>(text: &str, plain: &str, pointers: impl Iterator<Item = &'p str>) -> Vec<Position> {
    let mut root = Wanted::default();
    let mut count = 0;
    for pointer in pointers {
        let mut at = &mut root;
        for step in pointer.split('/').skip(1) {
            at = at.below.entry(internal::unescaped_token(step).into_owned()).or_default();
        }
        at.here.push(count);
        count += 1;
    }
    let mut offsets = vec![0; count];
    let mut scan = Scan { bytes: plain.as_bytes(), at: 0, offsets: &mut offsets };
    scan.skip_space();
    let start = scan.at;
    scan.mark(&root, start);
    scan.value(Some(&root), plain);
    lines_and_columns(text, &offsets)
}

/// Returns the byte range of a value in valid JSON. `steps` are the keys and indices on the path to the value.
pub(crate) fn value_span<'n>(plain: &str, steps: impl Iterator<Item = &'n str>) -> Option<Range<usize>> {
    let mut scan = Scan { bytes: plain.as_bytes(), at: 0, offsets: &mut [] };
    scan.skip_space();
    for wanted in steps {
        if scan.peek()? == b'[' {
            let item = children(plain, scan.at..plain.len()).into_iter().nth(wanted.parse().ok()?)?;
            scan.at = item.value.start;
            continue;
        }
        (scan.peek()? == b'{').then_some(())?;
        scan.at += 1;
        loop {
            scan.skip_space();
            let start = scan.at;
            (scan.peek()? == b'"').then_some(())?;
            scan.skip_string();
            let found = plain.get(start..scan.at).and_then(name);
            scan.skip_space();
            if found.as_deref() == Some(wanted) {
                break;
            }
            scan.skip_value();
        }
    }
    let start = scan.at;
    scan.skip_value();
    let length = plain.get(start..scan.at)?.trim_end().len();
    Some(start..start + length)
}

pub(crate) fn span_of(text: &str, pointer: &str) -> Option<Range<usize>> {
    let steps: Vec<_> = pointer.split('/').skip(1).map(internal::unescaped_token).collect();
    value_span(text, steps.iter().map(AsRef::as_ref))
}

/// Byte ranges of a member of an object, or of an item of an array, which has no key.
#[derive(Clone, Debug)]
pub(crate) struct Child {
    pub(crate) key: Option<Range<usize>>,
    pub(crate) value: Range<usize>,
}

impl Child {
    pub(crate) fn start(&self) -> usize {
        self.key.as_ref().unwrap_or(&self.value).start
    }
}

/// Returns the members or items of the object or array at `span`. The JSON must be valid.
pub(crate) fn children(text: &str, span: Range<usize>) -> Vec<Child> {
    let mut scan = Scan { bytes: text.as_bytes(), at: span.start, offsets: &mut [] };
    let is_object = scan.peek() == Some(b'{');
    scan.at += 1;
    let mut found = Vec::new();
    loop {
        scan.skip_space();
        if matches!(scan.peek(), None | Some(b']' | b'}')) {
            return found;
        }
        let key = scan.at;
        let key = is_object.then(|| {
            scan.skip_string();
            key..scan.at
        });
        scan.skip_space();
        let start = scan.at;
        scan.skip_value();
        let length = text.get(start..scan.at).map_or(0, |value| value.trim_end().len());
        found.push(Child { key, value: start..start + length });
    }
}

/// Replaces ranges of a text with other texts. The ranges must not overlap.
pub(crate) fn splice(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    // The sort is stable, so an insertion at the end of a replaced range stays after the replacement.
    edits.sort_by_key(|(at, _)| at.start);
    let (mut out, mut copied_end) = (String::with_capacity(text.len()), 0);
    for (at, new) in edits {
        out.push_str(text.get(copied_end..at.start).unwrap_or_default());
        out.push_str(&new);
        copied_end = at.end;
    }
    out.push_str(text.get(copied_end..).unwrap_or_default());
    out
}

fn lines_and_columns(text: &str, offsets: &[usize]) -> Vec<Position> {
    let mut order: Vec<(usize, usize)> = offsets.iter().copied().enumerate().map(|(of, at)| (at, of)).collect();
    order.sort_unstable();
    let mut found = vec![Position::default(); offsets.len()];
    let (mut line, mut column, mut seen) = (1, 1, 0);
    for (at, of) in order {
        for character in text.get(seen..at).unwrap_or_default().chars() {
            (line, column) = if character == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        seen = seen.max(at);
        if let Some(position) = found.get_mut(of) {
            *position = Position { line, column };
        }
    }
    found
}

/// Scans valid JSON.
struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
    offsets: &'t mut [usize],
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace() || byte == b',' || byte == b':') {
            self.at += 1;
        }
    }

    /// Sets the position of the pointers that end here or below. Deeper positions are corrected later.
    fn mark(&mut self, wanted: &Wanted, at: usize) {
        for of in &wanted.here {
            if let Some(offset) = self.offsets.get_mut(*of) {
                *offset = at;
            }
        }
        wanted.below.values().for_each(|below| self.mark(below, at));
    }

    /// Skips a value. The recursion is only as deep as the wanted pointers.
    fn value(&mut self, wanted: Option<&Wanted>, text: &str) {
        let wanted = wanted.filter(|wanted| !wanted.below.is_empty());
        match (self.peek(), wanted) {
            (Some(b'{'), Some(wanted)) => {
                self.at += 1;
                loop {
                    self.skip_space();
                    let start = self.at;
                    if self.peek() != Some(b'"') {
                        break;
                    }
                    self.skip_string();
                    let below = text.get(start..self.at).and_then(name).and_then(|name| wanted.below.get(&name));
                    if let Some(below) = below {
                        self.mark(below, start);
                    }
                    self.skip_space();
                    self.value(below, text);
                }
                self.at += 1;
            }
            (Some(b'['), Some(wanted)) => {
                self.at += 1;
                for index in 0.. {
                    self.skip_space();
                    if matches!(self.peek(), None | Some(b']')) {
                        break;
                    }
                    let below = wanted.below.get(&index.to_string());
                    if let Some(below) = below {
                        let start = self.at;
                        self.mark(below, start);
                    }
                    self.value(below, text);
                }
                self.at += 1;
            }
            _ => self.skip_value(),
        }
    }

    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => self.skip_string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth == 0 => return,
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' if depth == 0 => return,
                _ => {
                    self.at += 1;
                    continue;
                }
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                return;
            }
        }
    }
}

fn name(key: &str) -> Option<String> {
    let plain = key.get(1..key.len() - 1)?;
    if !plain.contains('\\') {
        return Some(plain.into());
    }
    Some(json::read(key).ok()?.as_text()?.display().into_owned())
}

/// Converts pointers into the list to locations in the input.
#[derive(Clone, Debug)]
pub(crate) enum InputPointers {
    /// The list is at this pointer.
    Below(String),
    /// The only entry of the list is at this pointer.
    Alone(String),
    /// Each entry is a line; these are the line numbers.
    Lines(Vec<usize>),
}

impl InputPointers {
    /// Returns the line, if the input has lines, and the pointer into the input.
    pub(crate) fn of(&self, pointer: &str) -> (Option<usize>, String) {
        let (index, rest) = split(pointer);
        match self {
            InputPointers::Below(above) => (None, format!("{above}{pointer}")),
            InputPointers::Alone(above) => (None, format!("{above}{rest}")),
            InputPointers::Lines(numbers) => match numbers.get(index) {
                Some(line) => (Some(*line), rest.into()),
                None => (None, pointer.into()),
            },
        }
    }

    pub(crate) fn locate(&self, error: &Error) -> CommandError {
        let (line, pointer) = self.of(error.pointer());
        CommandError { line, pointer, ..CommandError::from_core(error, "") }
    }
}

fn split(pointer: &str) -> (usize, &str) {
    let steps = pointer.strip_prefix('/').unwrap_or_default();
    let end = steps.find('/').unwrap_or(steps.len());
    let (first, rest) = steps.split_at_checked(end).unwrap_or_default();
    (first.parse().unwrap_or_default(), rest)
}

pub(crate) fn value_at<'n, 'a>(node: &'n Node<'a>, pointer: &str) -> Option<&'n Node<'a>> {
    pointer.split('/').skip(1).try_fold(node, |node, step| match node.as_array() {
        Some(items) => items.get(step.parse::<usize>().ok()?),
        None => node.get(&*internal::unescaped_token(step)),
    })
}

#[cfg(test)]
mod tests {
    use super::{positions, Position};

    #[test]
    fn pointers_are_mapped_to_lines_and_columns() {
        let text = "{\n  \"ä\": 1, \"t\\u006fols\": [\n    {\"x/y\": [true, {\"a\": \"]\\\"\"}, []]}, {}\n ]\n}";
        let pointers =
            ["", "/tools", "/tools/0", "/tools/0/x~1y/1/a", "/tools/0/x~1y/1/none/deep", "/tools/1", "/none"];
        let found = positions(text, pointers.into_iter()).into_iter().map(|Position { line, column }| (line, column));
        let expected = [(1, 1), (2, 11), (3, 5), (3, 21), (3, 20), (3, 40), (1, 1)];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
}
