//! Finds the end of JSON text that arrives in pieces.

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scan {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    /// True if the last bracket closed the first one, and only whitespace followed it.
    pub(crate) is_whole: bool,
}

impl Scan {
    pub(crate) fn feed(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.is_in_string => self.is_escaped = true,
                b'"' => self.is_in_string = !self.is_in_string,
                _ if self.is_in_string || byte.is_ascii_whitespace() => continue,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.is_whole = self.depth == 0 && matches!(byte, b'}' | b']');
        }
    }
}
