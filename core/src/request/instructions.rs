//! Appends text to the system prompt of a request of any API.

use alloc::{string::String, vec::Vec};

use crate::{
    error::{Code, Error},
    json::{
        lazy::{edit, take, view},
        Data, Node, Text,
    },
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

/// Returns true if the instructions of a request already contain the text: the system prompt, or a system message in
/// the input of Responses.
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

/// Inserts a system message at the start of the input of a Responses request, for words that the API requires in the
/// input itself.
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
            let mut joined = String::from(&*super::notice::whole(old, at)?);
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
