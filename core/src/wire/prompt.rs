//! The system prompt of a request.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use super::{Wire, ALL};
use crate::{
    error::{Code, Error},
    json::{
        lazy::{edit, take, view},
        Data, Node, Text,
    },
};

#[derive(Debug)]
pub(super) enum Prompt {
    /// A member with text, or with parts of this `type`.
    Text { member: &'static str, kind: &'static str },
    /// A member with a list of blocks without types.
    Blocks(&'static str),
    /// A member with text or parts. The member has several spellings.
    Content(&'static [&'static str]),
    /// The first message, if it has one of these roles.
    Message { roles: &'static [&'static str] },
}

impl Prompt {
    fn members(&self) -> &[&'static str] {
        match self {
            Prompt::Text { member, .. } | Prompt::Blocks(member) => core::slice::from_ref(member),
            Prompt::Content(members) => members,
            Prompt::Message { .. } => &[],
        }
    }
}

impl Wire {
    pub(crate) fn prompt_member(&self) -> Option<&'static str> {
        match self.prompt {
            Prompt::Text { member, .. } | Prompt::Blocks(member) => Some(member),
            Prompt::Content(members) => members.first().copied(),
            Prompt::Message { .. } => None,
        }
    }

    pub(crate) fn append_to_prompt(&self, request: &mut Node<'_>, text: String) -> Result<(), Error> {
        match self.prompt {
            Prompt::Text { member, kind } => append_member(request, member, kind, text),
            Prompt::Blocks(member) => append_block(request, member, text),
            Prompt::Content(members) => append_part(request, members, text),
            Prompt::Message { roles } => append_message(request, self.history, roles, text),
        }
    }

    /// Searches the system prompt and the system messages of the history.
    pub(crate) fn has_in_prompt(&self, request: &Node<'_>, text: &str) -> Result<bool, Error> {
        for key in ALL.iter().flat_map(|wire| wire.prompt.members()) {
            if request.get(*key).map_or(Ok(false), |prompt| holds(prompt, text, LEVELS))? {
                return Ok(true);
            }
        }
        for message in request.items_at(self.history) {
            // An unparsed message is only parsed if it may be a system message.
            if matches!(message.data(), Data::Verbatim(json) if !SYSTEM_ROLES.iter().any(|role| json.contains(role))) {
                continue;
            }
            let message = view(message)?;
            if is_system(&message) && holds(&message, text, LEVELS)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

pub(crate) fn members() -> impl Iterator<Item = &'static str> {
    ALL.iter().flat_map(|wire| wire.prompt.members()).copied()
}

const SYSTEM_ROLES: [&str; 2] = ["system", "developer"];

pub(super) fn is_system(message: &Node<'_>) -> bool {
    message.get("role").is_some_and(|role| SYSTEM_ROLES.iter().any(|name| role.is_text(name)))
}

/// Maximum number of levels from a message to its text: message, content, part.
const LEVELS: usize = 5;

fn holds(node: &Node<'_>, text: &str, levels: usize) -> Result<bool, Error> {
    let Some(levels) = levels.checked_sub(1) else { return Ok(false) };
    let node = view(node)?;
    match node.data() {
        Data::String(string) => Ok(string.value().is_some_and(|string| string.contains(text))),
        Data::Array(items) => items.iter().try_fold(false, |is_found, item| Ok(is_found || holds(item, text, levels)?)),
        _ => ["content", "parts", "text"].iter().try_fold(false, |is_found, key| {
            Ok(is_found || node.get(*key).map_or(Ok(false), |inner| holds(inner, text, levels))?)
        }),
    }
}

/// Inserts text into the input. For example, JSON mode requires the word JSON in the input.
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

/// Appends to a system prompt whose parts have no type. The API also accepts a single part; SDKs accept a string, a
/// part, and lists of them.
fn append_part(request: &mut Node<'_>, members: &[&'static str], text: String) -> Result<(), Error> {
    let is_given = |key: &&&str| request.get(**key).is_some();
    let key = members.iter().find(is_given).or_else(|| members.first()).copied().unwrap_or_default();
    let mut prompt = take(request, key)?.unwrap_or_default();
    let is_content = prompt.get("parts").is_some();
    let system_prompt = match is_content {
        true => prompt.visit("parts", core::mem::take).unwrap_or_default(),
        false => core::mem::take(&mut prompt),
    };
    let kind = system_prompt.kind();
    let system_prompt = match system_prompt.into_data() {
        Data::Null => Vec::new(),
        Data::Array(parts) => parts,
        content @ (Data::String(_) | Data::Object(_)) => Vec::from([Node::new(content)]),
        _ => {
            let message = format!("expected the system prompt to be a string or parts, found {kind}");
            return Err(Error::new(Code::InvalidRequest, format!("/{key}"), message));
        }
    };
    let mut parts = Vec::with_capacity(system_prompt.len() + 1);
    for part in system_prompt {
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
    let prompt = appended(prompt, text_type, text, &format!("/{key}"))?;
    if let Some(object) = request.as_object_mut() {
        object.set(key, prompt);
    }
    Ok(())
}

fn append_block(request: &mut Node<'_>, member: &'static str, text: String) -> Result<(), Error> {
    let block = Node::record([("text", Node::string(text))]);
    let mut prompt = take(request, member)?.unwrap_or_default();
    if prompt.is_null() {
        prompt = Node::array(Vec::new());
    }
    let Some(blocks) = prompt.as_array_mut() else {
        let message = format!("expected the system prompt to be a list of blocks, found {}", prompt.kind());
        return Err(Error::new(Code::InvalidRequest, format!("/{member}"), message));
    };
    blocks.push(block);
    request.set(member, prompt);
    Ok(())
}

fn append_message(request: &mut Node<'_>, history: &str, roles: &[&'static str], text: String) -> Result<(), Error> {
    request
        .visit(history, |messages| {
            let leads = match messages.as_array().and_then(<[Node<'_>]>::first) {
                Some(first) => {
                    let first = view(first)?;
                    // A Kimi message with tools has no text.
                    first.get("tools").is_none()
                        && first.get("role").is_some_and(|role| roles.iter().any(|name| role.is_text(name)))
                }
                None => false,
            };
            let Some(list) = messages.as_array_mut() else { return Ok(()) };
            match list.first_mut().filter(|_| leads) {
                Some(first) => edit(first, |first| {
                    let content = first.visit("content", core::mem::take).unwrap_or_default();
                    let content = appended(content, "text", text, &format!("/{history}/0/content"))?;
                    if let Some(object) = first.as_object_mut() {
                        object.set("content", content);
                    }
                    Ok(())
                }),
                None => {
                    let role = roles.first().copied().unwrap_or_default();
                    list.insert(0, Node::record([("role", Node::literal(role)), ("content", Node::string(text))]));
                    Ok(())
                }
            }
        })
        .transpose()?;
    Ok(())
}

/// Appends the text after any cache breakpoint.
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
            let message = format!(
                "expected the system prompt to be a string or an array of text blocks, found {}",
                prompt.kind()
            );
            return Err(Error::new(Code::InvalidRequest, at, message));
        }
    }
    if let Some(blocks) = prompt.as_array_mut() {
        blocks.push(Node::record([("type", Node::literal(text_type)), ("text", Node::string(text))]));
    }
    Ok(prompt)
}

/// Returns the value of a text. An unpaired surrogate is an error, because a Rust string cannot contain it.
pub(crate) fn whole<'t>(text: &'t Text<'_>, at: &str) -> Result<Cow<'t, str>, Error> {
    text.value().ok_or_else(|| {
        let shown = text.display();
        Error::new(
            Code::InvalidValue,
            at,
            format!("expected a string of valid Unicode, found `{shown}` with half a surrogate pair"),
        )
    })
}
