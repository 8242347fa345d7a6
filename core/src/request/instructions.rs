//! Appends text to the system prompt of a request of any API. Builds the text that informs a model about tools.

use alloc::{borrow::Cow, format, string::String, vec::Vec};
use core::fmt::Write as _;

use super::tool;
use crate::{
    collections::Map,
    error::{Code, Error},
    json::{
        lazy::{edit, take, view},
        write_compact, Data, Node, Text,
    },
    limits::REPEATED_NOTICE_BYTES,
    options::Api,
};

/// Appends text to the system prompt.
///
/// # Errors
/// `invalid-request` if the system prompt is neither text nor text blocks.
pub(crate) fn append(request: &mut Node<'_>, format: Api, text: String) -> Result<(), Error> {
    match format {
        Api::Anthropic => append_member(request, "system", "text", text),
        Api::OpenaiResponses => append_member(request, "instructions", "input_text", text),
        Api::Bedrock => append_block(request, text),
        Api::GeminiInteractions => append_member(request, "system_instruction", "text", text),
        Api::Gemini | Api::GeminiJsonSchema => append_part(request, text),
        Api::OpenaiChat | Api::LlamaCpp => append_message(request, text),
    }
}

/// Returns true if the instructions of a request already contain the text. Instructions are the system prompt, and the
/// system messages in the input of Responses.
///
/// # Errors
/// `invalid-json` if a part of the instructions is text that cannot be parsed.
pub(crate) fn have(request: &Node<'_>, format: Api, text: &str) -> Result<bool, Error> {
    for key in ["system", "instructions", "system_instruction", "systemInstruction"] {
        if request.get(key).map_or(Ok(false), |prompt| holds(prompt, text, LEVELS))? {
            return Ok(true);
        }
    }
    let messages = request.items_at(format.history());
    for message in messages {
        // An unparsed message is only parsed if it may be a system message.
        if matches!(message.data(), Data::Verbatim(json) if !json.contains("system") && !json.contains("developer")) {
            continue;
        }
        let message = view(message)?;
        let leads = message.get("role").is_some_and(|role| role.is_text("system") || role.is_text("developer"));
        if leads && holds(&message, text, LEVELS)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Maximum number of levels from a message to its text: message, content, part.
const LEVELS: usize = 5;

fn holds(node: &Node<'_>, text: &str, levels: usize) -> Result<bool, Error> {
    let Some(levels) = levels.checked_sub(1) else { return Ok(false) };
    let node = view(node)?;
    match node.data() {
        Data::String(own) => Ok(own.value().is_some_and(|own| own.contains(text))),
        Data::Array(items) => items.iter().try_fold(false, |found, item| Ok(found || holds(item, text, levels)?)),
        _ => ["content", "parts", "text"].iter().try_fold(false, |found, key| {
            Ok(found || node.get(*key).map_or(Ok(false), |inner| holds(inner, text, levels))?)
        }),
    }
}

/// Inserts a system message at the start of the input of a Responses request, for text that must be in the input: JSON
/// mode requires the word JSON there.
///
/// # Errors
/// `invalid-json` if the history is text that cannot be parsed.
pub(crate) fn insert_before_input(request: &mut Node<'_>, text: String) -> Result<(), Error> {
    let message = |role, content| Node::record([("role", Node::literal(role)), ("content", content)]);
    let first = message("system", Node::string(text));
    let mut input = take(request, "input")?.unwrap_or_default();
    if input.as_array().is_none() {
        let user_message = (!input.is_null()).then(|| message("user", input));
        input = Node::array(user_message.into_iter().collect());
    }
    input.as_array_mut().into_iter().for_each(|items| items.insert(0, first.clone()));
    request.set("input", input);
    Ok(())
}

/// Appends to the system prompt of Gemini, whose parts have no type. The API also accepts a single part; SDKs accept a
/// string, a part, and lists of them.
fn append_part(request: &mut Node<'_>, text: String) -> Result<(), Error> {
    let is_given = |key: &&str| request.get(key).is_some();
    let key = ["systemInstruction", "system_instruction"].into_iter().find(is_given).unwrap_or("systemInstruction");
    let mut prompt = take(request, key)?.unwrap_or_default();
    let is_content = prompt.get("parts").is_some();
    let given = match is_content {
        true => prompt.visit("parts", core::mem::take).unwrap_or_default(),
        false => core::mem::take(&mut prompt),
    };
    let kind = given.kind();
    let given = match given.into_data() {
        Data::Null => Vec::new(),
        Data::Array(parts) => parts,
        one @ (Data::String(_) | Data::Object(_)) => Vec::from([Node::new(one)]),
        _ => {
            let found = alloc::format!("expected the system prompt to be a string or parts, found {kind}");
            return Err(Error::new(Code::InvalidRequest, alloc::format!("/{key}"), found));
        }
    };
    let mut parts = Vec::with_capacity(given.len() + 1);
    for part in given {
        parts.push(if part.as_text().is_some() { Node::record([("text", part)]) } else { part });
    }
    parts.push(Node::record([("text", Node::string(text))]));
    if is_content {
        prompt.set("parts", Node::array(parts));
    } else {
        prompt = Node::record([("parts", Node::array(parts))]);
    }
    request.set(key, prompt);
    Ok(())
}

fn append_member(
    request: &mut Node<'_>,
    key: &'static str,
    text_type: &'static str,
    text: String,
) -> Result<(), Error> {
    let prompt = take(request, key)?.unwrap_or_default();
    let prompt = appended(prompt, text_type, text, &alloc::format!("/{key}"))?;
    if let Some(object) = request.as_object_mut() {
        object.set(key, prompt);
    }
    Ok(())
}

/// Appends to the system prompt of Converse, which is a list of blocks without types.
fn append_block(request: &mut Node<'_>, text: String) -> Result<(), Error> {
    let block = Node::record([("text", Node::string(text))]);
    let mut prompt = take(request, "system")?.unwrap_or_default();
    if prompt.is_null() {
        prompt = Node::array(Vec::new());
    }
    let Some(blocks) = prompt.as_array_mut() else {
        let found = alloc::format!("expected the system prompt to be a list of blocks, found {}", prompt.kind());
        return Err(Error::new(Code::InvalidRequest, "/system", found));
    };
    blocks.push(block);
    request.set("system", prompt);
    Ok(())
}

/// Appends to the system prompt of Chat Completions, which is the first message.
fn append_message(request: &mut Node<'_>, text: String) -> Result<(), Error> {
    request
        .visit("messages", |messages| {
            let leads = match messages.as_array().and_then(<[Node<'_>]>::first) {
                Some(first) => {
                    let first = view(first)?;
                    // A Kimi message with tools has no text.
                    first.get("tools").is_none()
                        && first.get("role").is_some_and(|role| role.is_text("system") || role.is_text("developer"))
                }
                None => false,
            };
            let Some(list) = messages.as_array_mut() else { return Ok(()) };
            match list.first_mut().filter(|_| leads) {
                Some(first) => edit(first, |first| {
                    let content = first.visit("content", core::mem::take).unwrap_or_default();
                    let content = appended(content, "text", text, "/messages/0/content")?;
                    if let Some(object) = first.as_object_mut() {
                        object.set("content", content);
                    }
                    Ok(())
                }),
                None => {
                    list.insert(0, Node::record([("role", Node::literal("system")), ("content", Node::string(text))]));
                    Ok(())
                }
            }
        })
        .transpose()?;
    Ok(())
}

/// Returns the prompt with one more text at its end, after any cache breakpoint.
pub(crate) fn appended<'a>(
    mut prompt: Node<'a>,
    text_type: &'static str,
    text: String,
    at: &str,
) -> Result<Node<'a>, Error> {
    match prompt.data() {
        Data::Null => return Ok(Node::string(text)),
        Data::String(old) => {
            let mut joined = String::from(&*whole(old, at)?);
            if !joined.is_empty() {
                joined.push_str("\n\n");
            }
            joined.push_str(&text);
            return Ok(Node::string(Text::new(joined)));
        }
        Data::Array(_) => {}
        _ => {
            let found = alloc::format!(
                "expected the system prompt to be a string or an array of text blocks, found {}",
                prompt.kind()
            );
            return Err(Error::new(Code::InvalidRequest, at, found));
        }
    }
    if let Some(blocks) = prompt.as_array_mut() {
        blocks.push(Node::record([("type", Node::literal(text_type)), ("text", Node::string(text))]));
    }
    Ok(prompt)
}

/// The content of a result whose references were all removed.
pub(crate) const REMOVED: &str = "[Tool references removed - tools no longer available]";
/// The content of a search result without matches.
pub(crate) const NO_MATCH: &str = "No matching deferred tools found";

/// Maximum number of characters of an unquoted name. No API allows longer names.
const MAX_PLAIN_NAME: usize = 128;

/// Returns true if a name needs no quotes in a sentence.
fn is_plain(name: &str) -> bool {
    name.len() <= MAX_PLAIN_NAME && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte))
}

/// Returns a name to write on a separate line. Servers choose the names of their tools, so a name that is not plain is
/// quoted as JSON, without line breaks, tags or invisible characters.
pub(crate) fn listed(name: &str) -> Cow<'_, str> {
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

/// Returns a name in quotes for use in a sentence.
fn quoted(name: &str) -> Cow<'_, str> {
    if is_plain(name) {
        Cow::Owned(format!("'{name}'"))
    } else {
        listed(name)
    }
}

/// Returns the text that announces an available tool.
pub(crate) fn available(name: &str) -> String {
    format!("Tool {} is now available.", quoted(name))
}

/// Returns the text that announces a removed tool.
pub(crate) fn withdrawn(name: &str) -> String {
    format!("Tool {} is no longer available.", quoted(name))
}

/// Returns the text for a failed search, with the API's error code.
pub(crate) fn failed(code: &str) -> String {
    format!("Tool search failed: {code}")
}

/// Returns the value of a string that will become part of another string.
///
/// # Errors
/// `invalid-value` for an unpaired surrogate, which text cannot contain.
pub(crate) fn whole<'t>(text: &'t Text<'_>, at: &str) -> Result<Cow<'t, str>, Error> {
    text.value().ok_or_else(|| {
        let found = text.display();
        Error::new(
            Code::InvalidValue,
            at,
            format!("expected a string of valid Unicode, found `{found}` with half a surrogate pair"),
        )
    })
}

/// The part of a tool that a notice contains.
pub(crate) enum Quoted<'n, 'a> {
    /// The complete definition; `None` if only the name is known.
    Definition(Option<&'n Node<'a>>),
    /// Nothing, because the tool cannot be sent.
    SetAside,
}

/// The text about one tool.
struct Notice {
    /// Announces the tool, with everything that the model needs to call it.
    full: String,
    /// Length of the first sentence of `full`.
    sentence: usize,
    /// Announces the removal of the tool.
    withdrawn: String,
    /// True once `full` has been written into the history.
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

/// The notices of a request, created once per name.
///
/// A repeated reference is replaced with the full notice as long as the total size of all repeats does not exceed that
/// of the first notices before them (or 64 KiB), and with the notice's first sentence after that. The size of the
/// request therefore depends on its tools rather than on the number of references: 106 KB of references to one large
/// tool once became 66 MB. Only the notices before a repeat are counted, so later turns do not change the
/// repeat, and a provider's prompt cache stays valid.
#[derive(Default)]
pub(crate) struct Notices<'a> {
    notices: Map<Text<'a>, Notice>,
    /// Total bytes of full notices so far: first ones (`first`) and repeats (`repeated`).
    first: usize,
    repeated: usize,
    /// Maximum total bytes of repeats; `None` for the total of the first notices.
    limit: Option<usize>,
}

impl<'a> Notices<'a> {
    pub(crate) fn new(limit: Option<usize>) -> Self {
        Notices { limit, ..Notices::default() }
    }

    /// Creates the notice for a name if it does not exist yet. `called` is the name that the model uses for the tool.
    ///
    /// # Errors
    /// `invalid-value` for a description with an unpaired surrogate.
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

    /// Returns the next notice that announces the tool: the full text, or its first sentence.
    pub(crate) fn write(&mut self, name: &Text<'a>) -> Option<String> {
        let notice = self.notices.get_mut(name)?;
        let length = notice.full.len();
        if !core::mem::replace(&mut notice.written, true) {
            self.first = self.first.saturating_add(length);
            return Some(notice.full.clone());
        }
        let limit = self.limit.unwrap_or_else(|| self.first.max(REPEATED_NOTICE_BYTES));
        if self.repeated.saturating_add(length) > limit {
            return notice.full.get(..notice.sentence).map(String::from);
        }
        self.repeated += length;
        Some(notice.full.clone())
    }

    /// Returns the notice that announces the removal of the tool.
    pub(crate) fn withdrawn(&self, name: &Text<'a>) -> Option<String> {
        self.notices.get(name).map(|notice| notice.withdrawn.clone())
    }
}
