//! Escapes untrusted text for HTML and SVG.

use crate::terminal::shown;

pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape(text, &mut out);
    out
}

/// Appends a text, escaped for an element or a quoted attribute. Characters that are invisible or change the writing
/// direction are written as visible escapes, as on a terminal.
pub(crate) fn escape(text: &str, out: &mut String) {
    for character in shown(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // XML, and so SVG, does not allow these characters.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            character => out.push(character),
        }
    }
}
