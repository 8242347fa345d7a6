//! Splits a stream into lines. Each line is a message.

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line that is not blank, without its line end.
    Text(Vec<u8>),
    /// A line that exceeds the limit. The rest of it is skipped.
    TooLong,
}

/// Assembles lines from the pieces of a stream.
#[derive(Debug)]
pub(crate) struct Lines {
    /// Maximum size of a line, in bytes.
    most: usize,
    line: Vec<u8>,
    is_skipping: bool,
}

impl Lines {
    pub(crate) fn new(most: usize) -> Lines {
        Lines { most, line: Vec::new(), is_skipping: false }
    }

    pub(crate) fn push(&mut self, piece: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut parts = piece.split(|byte| *byte == b'\n');
        lines.extend(self.add(parts.next().unwrap_or_default()));
        for part in parts {
            lines.extend(self.end());
            lines.extend(self.add(part));
        }
        lines
    }

    /// Returns the last line, which needs no line end.
    pub(crate) fn end(&mut self) -> Option<Line> {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_skipping) {
            return None;
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        let is_blank = line.iter().all(|byte| matches!(byte, b' ' | b'\t'));
        (!is_blank).then_some(Line::Text(line))
    }

    fn add(&mut self, part: &[u8]) -> Option<Line> {
        if self.is_skipping {
            return None;
        }
        if self.line.len() + part.len() > self.most {
            self.is_skipping = true;
            self.line = Vec::new();
            return Some(Line::TooLong);
        }
        self.line.extend_from_slice(part);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_in_any_pieces() {
        let text = b"{}\r\n \t\n\n\"a\rb\"\ntoo long, too long\nlast";
        for size in 1..=text.len() {
            let mut lines = Lines::new(10);
            let mut found: Vec<Line> = text.chunks(size).flat_map(|piece| lines.push(piece)).collect();
            found.extend(lines.end());
            let texts = [&b"{}"[..], b"\"a\rb\""].map(|line| Line::Text(line.into()));
            let expected: Vec<Line> = texts.into_iter().chain([Line::TooLong, Line::Text(b"last".into())]).collect();
            assert_eq!(found, expected, "{size}");
        }
    }
}
