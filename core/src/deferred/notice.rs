//! The texts that tell a model about tools, and compact JSON inside texts.

use alloc::{format, string::String};
use core::fmt::Write as _;

use super::tool;
use crate::{
    error::{Code, Error},
    json::{Data, Node, Text},
    limits::MAX_NOTICE_BYTES,
    sorted::Map,
};

/// What a result says from which every reference was taken.
pub(super) const REMOVED: &str = "[Tool references removed - tools no longer available]";
/// What a search says that found nothing.
pub(super) const NO_MATCH: &str = "No matching deferred tools found";

/// That a tool can be called, with all a model needs to call it.
pub(super) fn available(name: &str, tool: Option<&Node<'_>>, at: &str) -> Result<String, Error> {
    let mut text = format!("Tool '{name}' is now available.");
    if let Some(description) = tool.and_then(tool::description) {
        text.push_str("\n\nDescription: ");
        text.push_str(&whole(description, at)?);
    }
    if let Some(schema) = tool.and_then(tool::schema) {
        text.push_str("\n\nParameters:\n");
        let properties = schema.get("properties").filter(|properties| properties.as_object().is_some());
        compact(properties.unwrap_or(schema), &mut text);
    }
    Ok(text)
}

/// That a tool can no longer be called.
pub(super) fn withdrawn(name: &str) -> String {
    format!("Tool '{name}' is no longer available.")
}

/// A string's value, where it has to be written into another one.
///
/// # Errors
/// `invalid-value` for half a surrogate pair, which no text can hold.
pub(super) fn whole<'t>(text: &'t Text<'_>, at: &str) -> Result<alloc::borrow::Cow<'t, str>, Error> {
    text.value().ok_or_else(|| {
        let found = text.display();
        Error::new(Code::InvalidValue, at, format!("expected a string of whole characters, found `{found}` with half a surrogate pair"))
    })
}

/// The notices of a request, made once for each name.
#[derive(Default)]
pub(super) struct Notices<'a> {
    texts: Map<Text<'a>, String>,
    written: usize,
}

impl<'a> Notices<'a> {
    /// Makes sure there is a notice for a name, once for each time that it will be written.
    ///
    /// # Errors
    /// `limit-exceeded` if the notices of this request get too long together, `invalid-value`.
    pub(super) fn prepare(&mut self, name: &Text<'a>, tool: Option<&Node<'a>>, at: &str) -> Result<(), Error> {
        let length = match self.texts.get(name) {
            Some(text) => text.len(),
            None => {
                let text = available(&whole(name, at)?, tool, at)?;
                let length = text.len();
                self.texts.insert(name.clone(), text);
                length
            }
        };
        self.written = self.written.saturating_add(length);
        if self.written > MAX_NOTICE_BYTES {
            let found = format!("expected the notices of loaded tools to take at most {MAX_NOTICE_BYTES} bytes together, found more");
            return Err(Error::new(Code::LimitExceeded, at, found));
        }
        Ok(())
    }

    /// The notice for a name.
    pub(super) fn of(&self, name: &Text<'a>) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }
}

/// Appends the compact JSON of a value, strings spelled the shortest way: the same text wherever the value came from.
pub(super) fn compact(node: &Node<'_>, out: &mut String) {
    match node.data() {
        Data::String(text) => string(text, out),
        Data::Array(items) => {
            let mut before = "[";
            for item in items {
                out.push_str(before);
                compact(item, out);
                before = ",";
            }
            out.push_str(if items.is_empty() { "[]" } else { "]" });
        }
        Data::Object(object) => {
            let mut before = "{";
            for member in object {
                out.push_str(before);
                string(&member.key, out);
                out.push(':');
                compact(&member.value, out);
                before = ",";
            }
            out.push_str(if object.is_empty() { "{}" } else { "}" });
        }
        _ => crate::json::write_into(node, out),
    }
}

fn string(text: &Text<'_>, out: &mut String) {
    match text.value() {
        Some(value) => crate::json::write_into(&Node::string(Text::new(value)), out),
        // Half a surrogate pair has one spelling only, and as JSON inside a text it is plain ASCII.
        None => {
            out.push('"');
            for point in text.code_points() {
                match char::from_u32(point) {
                    Some(character) => {
                        let mut buffer = [0; 4];
                        let mut quoted = String::new();
                        crate::json::write_into(&Node::string(Text::new(&*character.encode_utf8(&mut buffer))), &mut quoted);
                        out.push_str(quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default());
                    }
                    None => {
                        let _ = write!(out, "\\u{point:04x}");
                    }
                }
            }
            out.push('"');
        }
    }
}

/// The length of [`compact`] of a tool as it would be sent, without its flags.
pub(super) fn cost(tool: &Node<'_>, scratch: &mut String) -> usize {
    let Some(object) = tool.as_object() else { return 0 };
    let mut length = 1;
    for member in object {
        if member.key.is(tool::FLAG) || member.key.is("cache_control") {
            continue;
        }
        scratch.clear();
        string(&member.key, scratch);
        let wrapped = member.key.is("function") || member.key.is("custom");
        // Between the members and after the last one stands one character each: a comma, or the closing brace.
        length += 2
            + scratch.len()
            + if wrapped && member.value.as_object().is_some() {
                cost(&member.value, scratch)
            } else {
                scratch.clear();
                compact(&member.value, scratch);
                scratch.len()
            };
    }
    length.max(2)
}
