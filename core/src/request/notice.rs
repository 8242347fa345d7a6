//! The texts that tell a model about tools.

use alloc::{borrow::Cow, format, string::String};
use core::fmt::Write as _;

use super::tool;
use crate::{
    collections::Map,
    error::{Code, Error},
    json::{write_compact, Node, Text},
    limits::REPEATED_NOTICE_BYTES,
};

/// What a result says from which every reference was taken.
pub(crate) const REMOVED: &str = "[Tool references removed - tools no longer available]";
/// What a search says that found nothing.
pub(crate) const NO_MATCH: &str = "No matching deferred tools found";

/// The most characters of a name that is written into a text. No API has longer ones.
const LONGEST: usize = 128;

/// Whether a name cannot be taken for anything but a name, whatever text stands around it.
fn is_plain(name: &str) -> bool {
    name.len() <= LONGEST && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte))
}

/// A name on a line of its own: servers choose the names of their tools, so that any other than a plain one is quoted
/// as JSON, in which there is no line break, no tag and no character that nobody sees.
pub(crate) fn listed(name: &str) -> Cow<'_, str> {
    if is_plain(name) && !name.is_empty() {
        return Cow::Borrowed(name);
    }
    let mut quoted = String::from("\"");
    for (at, letter) in name.chars().enumerate() {
        match letter {
            _ if at == LONGEST => {
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

/// A name inside a sentence.
fn quoted(name: &str) -> Cow<'_, str> {
    if is_plain(name) {
        Cow::Owned(format!("'{name}'"))
    } else {
        listed(name)
    }
}

/// That a tool can be called now.
pub(crate) fn available(name: &str) -> String {
    format!("Tool {} is now available.", quoted(name))
}

/// That a tool can no longer be called.
pub(crate) fn withdrawn(name: &str) -> String {
    format!("Tool {} is no longer available.", quoted(name))
}

/// That a search failed, with the API's code.
pub(crate) fn failed(code: &str) -> String {
    format!("Tool search failed: {code}")
}

/// A string's value, where it has to be written into another one.
///
/// # Errors
/// `invalid-value` for half a surrogate pair, which no text can hold.
pub(crate) fn whole<'t>(text: &'t Text<'_>, at: &str) -> Result<Cow<'t, str>, Error> {
    text.value().ok_or_else(|| {
        let found = text.display();
        Error::new(
            Code::InvalidValue,
            at,
            format!("expected a string of whole characters, found `{found}` with half a surrogate pair"),
        )
    })
}

/// What is quoted of a tool.
pub(crate) enum Quoted<'n, 'a> {
    /// All of this definition; `None`: nothing is known of it but the name.
    Definition(Option<&'n Node<'a>>),
    /// Nothing: it cannot be sent.
    SetAside,
}

/// What is told about one tool.
struct Notice {
    /// That it can be called, with all a model needs to call it.
    full: String,
    /// How much of that is the first sentence.
    sentence: usize,
    /// That it can no longer be called.
    withdrawn: String,
    /// Whether the history has it in full already.
    written: bool,
}

impl Notice {
    fn of(name: &str, tool: &Quoted<'_, '_>, at: &str) -> Result<Notice, Error> {
        let withdrawn = withdrawn(name);
        let tool = match tool {
            Quoted::Definition(tool) => *tool,
            Quoted::SetAside => {
                return Ok(Notice { full: REMOVED.into(), sentence: REMOVED.len(), withdrawn, written: false })
            }
        };
        let mut full = available(name);
        let sentence = full.len();
        if let Some(description) = tool.and_then(tool::description) {
            full.push_str("\n\nDescription: ");
            full.push_str(&whole(description, at)?);
        }
        if let Some(schema) = tool.and_then(tool::schema) {
            full.push_str("\n\nParameters:\n");
            let properties = schema.get("properties").filter(|properties| properties.as_object().is_some());
            write_compact(properties.unwrap_or(schema), &mut full);
        }
        Ok(Notice { full, sentence, withdrawn, written: false })
    }
}

/// The notices of a request, made once for each name.
///
/// A repeated reference is answered by the whole notice again, as long as repeats take no more than first notices did
/// up to there (or 64 KiB); then by its first sentence. So the request grows with what it holds, and not with how often
/// it says so: 106 KB of references to one large tool once made 66 MB. What is counted stands before the repeat, so
/// that no later turn changes it and a provider's prompt cache holds.
#[derive(Default)]
pub(crate) struct Notices<'a> {
    notices: Map<Text<'a>, Notice>,
    /// The bytes of full notices so far: of first ones, and of repeats.
    first: usize,
    repeated: usize,
    /// What repeats may take; `None`: as much as first ones.
    most: Option<usize>,
}

impl<'a> Notices<'a> {
    pub(crate) fn new(most: Option<usize>) -> Self {
        Notices { most, ..Notices::default() }
    }

    /// Makes sure there is a notice for a name; `called` is the name that the model is to call.
    ///
    /// # Errors
    /// `invalid-value` for a description with half a surrogate pair.
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

    /// The notice that a tool can be called, to be written now.
    pub(crate) fn write(&mut self, name: &Text<'a>) -> Option<String> {
        let notice = self.notices.get_mut(name)?;
        let length = notice.full.len();
        if !core::mem::replace(&mut notice.written, true) {
            self.first = self.first.saturating_add(length);
            return Some(notice.full.clone());
        }
        let most = self.most.unwrap_or_else(|| self.first.max(REPEATED_NOTICE_BYTES));
        if self.repeated.saturating_add(length) > most {
            return notice.full.get(..notice.sentence).map(String::from);
        }
        self.repeated += length;
        Some(notice.full.clone())
    }

    /// The notice that a tool can no longer be called.
    pub(crate) fn withdrawn(&self, name: &Text<'a>) -> Option<String> {
        self.notices.get(name).map(|notice| notice.withdrawn.clone())
    }
}
