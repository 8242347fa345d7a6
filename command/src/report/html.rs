//! HTML that escapes text of servers: only literals of this crate are written unescaped.

use crate::markup::escape;

/// HTML text.
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Writes markup.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Html {
        self.0.push_str(markup);
        self
    }

    /// Writes text. Control characters and invisible characters are written as escapes.
    pub(super) fn text(&mut self, text: &str) -> &mut Html {
        escape(text, &mut self.0);
        self
    }

    /// Writes text with code between backticks.
    pub(super) fn prose(&mut self, text: &str) -> &mut Html {
        let parts: Vec<&str> = text.split('`').collect();
        // Without the last backtick, there is no code after it.
        let is_even = parts.len() % 2 == 0;
        for (at, part) in parts.iter().enumerate() {
            match at % 2 {
                1 if !(is_even && at + 1 == parts.len()) => self.element("code", part),
                1 => self.raw("`").text(part),
                _ => self.text(part),
            };
        }
        self
    }

    pub(super) fn count(&mut self, count: usize) -> &mut Html {
        self.text(&count.to_string())
    }

    /// Writes a start tag.
    pub(super) fn tag(&mut self, name: &'static str, attributes: &[(&'static str, &str)]) -> &mut Html {
        self.raw("<").raw(name);
        for (attribute, value) in attributes {
            self.raw(" ").raw(attribute).raw("=\"").text(value).raw("\"");
        }
        self.raw(">")
    }

    /// Writes an element with text.
    pub(super) fn element(&mut self, name: &'static str, text: &str) -> &mut Html {
        self.raw("<").raw(name).raw(">").text(text).raw("</").raw(name).raw(">")
    }

    /// Appends a part, if the whole is at most this long.
    pub(super) fn append(&mut self, part: &Html, max_length: usize) -> bool {
        let fits = self.len() + part.len() <= max_length;
        if fits {
            self.0.push_str(&part.0);
        }
        fits
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}
