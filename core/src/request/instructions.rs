//! Builds the text that informs a model about tools.

use alloc::{borrow::Cow, format, string::String};
use core::fmt::Write as _;

use super::tool;
use crate::{
    collections::Map,
    error::Error,
    json::{write_compact, Node, Text},
    limits::REPEATED_NOTICE_BYTES,
    wire::prompt::whole,
};

pub(crate) const REMOVED: &str = "[Tool references removed - tools no longer available]";
pub(crate) const NO_MATCH: &str = "No matching deferred tools found";

/// Maximum number of characters of an unquoted name. No API allows longer names.
const MAX_PLAIN_NAME: usize = 128;

fn is_plain(name: &str) -> bool {
    name.len() <= MAX_PLAIN_NAME && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte))
}

/// Returns a plain name unchanged. Quotes any other name as JSON, without line breaks, tags or invisible characters,
/// because servers choose the names of their tools.
pub(crate) fn plain_or_quoted(name: &str) -> Cow<'_, str> {
    if is_plain(name) && !name.is_empty() {
        return Cow::Borrowed(name);
    }
    let mut quoted = String::from("\"");
    for (at, letter) in name.chars().enumerate() {
        match letter {
            _ if at == MAX_PLAIN_NAME => {
                quoted.push('…');
                break;
            }
            '"' | '\\' => quoted.extend(['\\', letter]),
            ' ' => quoted.push(letter),
            _ if letter.is_alphanumeric() || letter.is_ascii_graphic() && !matches!(letter, '<' | '>') => {
                quoted.push(letter)
            }
            _ => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    // Writing into a String cannot fail.
                    let _ = write!(quoted, "\\u{unit:04x}");
                }
            }
        }
    }
    quoted.push('"');
    Cow::Owned(quoted)
}

fn quoted_name(name: &str) -> Cow<'_, str> {
    if is_plain(name) {
        Cow::Owned(format!("'{name}'"))
    } else {
        plain_or_quoted(name)
    }
}

pub(crate) fn addition_notice(name: &str) -> String {
    format!("Tool {} is now available.", quoted_name(name))
}

pub(crate) fn removal_notice(name: &str) -> String {
    format!("Tool {} is no longer available.", quoted_name(name))
}

pub(crate) fn failure_notice(code: &str) -> String {
    format!("Tool search failed: {code}")
}

pub(crate) enum Quoted<'n, 'a> {
    /// The complete definition; `None` if only the name is known.
    Definition(Option<&'n Node<'a>>),
    /// Nothing, because the tool cannot be sent.
    SetAside,
}

struct Notice {
    /// Announces the tool, with everything that the model needs to call it.
    full: String,
    /// Length of the first sentence of `full`.
    sentence_length: usize,
    removal: String,
    /// True once `full` has been written into the history.
    written: bool,
}

impl Notice {
    fn of(name: &str, tool: &Quoted<'_, '_>, at: &str) -> Result<Notice, Error> {
        let removal = removal_notice(name);
        let tool = match tool {
            Quoted::Definition(tool) => *tool,
            Quoted::SetAside => {
                return Ok(Notice { full: REMOVED.into(), sentence_length: REMOVED.len(), removal, written: false })
            }
        };
        let mut full = addition_notice(name);
        let sentence_length = full.len();
        if let Some(description) = tool.and_then(tool::description) {
            full.push_str("\n\nDescription: ");
            full.push_str(&whole(description, at)?);
        }
        if let Some(schema) = tool.and_then(tool::schema) {
            full.push_str("\n\nParameters:\n");
            let properties = schema.get("properties").filter(|properties| properties.as_object().is_some());
            write_compact(properties.unwrap_or(schema), &mut full);
        }
        Ok(Notice { full, sentence_length, removal, written: false })
    }
}

/// The notices of a request, one for each name.
///
/// The full notice replaces the first reference to a tool. It also replaces a repeated reference as long as all repeats
/// together are not larger than all earlier first notices (or 64 KiB). After that, only the notice's first sentence
/// replaces a repeated reference. The size of the request therefore depends on its tools, not on the number of
/// references: 106 KB of references to one large tool once became 66 MB. Only notices before a repeat are counted.
/// Later turns therefore do not change the repeat, and a provider's prompt cache stays valid.
#[derive(Default)]
pub(crate) struct Notices<'a> {
    notices: Map<Text<'a>, Notice>,
    /// Total bytes of full notices so far: first notices (`first`) and repeats (`repeated`).
    first: usize,
    repeated: usize,
    /// Maximum total bytes of repeats; `None` if the maximum is the total of the first notices.
    limit: Option<usize>,
}

impl<'a> Notices<'a> {
    pub(crate) fn new(limit: Option<usize>) -> Self {
        Notices { limit, ..Notices::default() }
    }

    /// `called` is the name that the model uses for the tool.
    pub(crate) fn prepare(
        &mut self,
        name: &Text<'a>,
        called: &str,
        tool: &Quoted<'_, 'a>,
        at: &str,
    ) -> Result<(), Error> {
        if !self.notices.contains_key(name) {
            self.notices.insert(name.clone(), Notice::of(called, tool, at)?);
        }
        Ok(())
    }

    pub(crate) fn write(&mut self, name: &Text<'a>) -> Option<String> {
        let notice = self.notices.get_mut(name)?;
        let length = notice.full.len();
        if !core::mem::replace(&mut notice.written, true) {
            self.first = self.first.saturating_add(length);
            return Some(notice.full.clone());
        }
        let limit = self.limit.unwrap_or_else(|| self.first.max(REPEATED_NOTICE_BYTES));
        if self.repeated.saturating_add(length) > limit {
            return notice.full.get(..notice.sentence_length).map(String::from);
        }
        self.repeated += length;
        Some(notice.full.clone())
    }

    pub(crate) fn removal_notice(&self, name: &Text<'a>) -> Option<String> {
        self.notices.get(name).map(|notice| notice.removal.clone())
    }
}
