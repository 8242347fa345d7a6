//! Telling the model which tools it could ask for: a list of names in the system prompt, as Claude Code writes it.

use alloc::string::String;

use super::open::{edit, take, view};
use crate::{
    error::{Code, Error},
    json::{Data, Node, Text},
    options::Format,
};

const OPEN: &str = "<available-deferred-tools>";
const CLOSE: &str = "</available-deferred-tools>";
/// What [`OPEN`] contains in any usual spelling: some writers escape `<` and `>`.
const CORE: &str = "available-deferred-tools";

/// The list as text. All deferred tools are in it, loaded or not, so that it stays the same from turn to turn and with it
/// the provider's prompt cache.
fn block(names: &[String]) -> String {
    let mut text = String::from(OPEN);
    for name in names {
        text.push('\n');
        text.push_str(name);
    }
    text.push('\n');
    text.push_str(CLOSE);
    text
}

/// Is such a list in the request already? Clients put it into the system prompt or into a message.
pub(super) fn is_present(request: &Node<'_>) -> Result<bool, Error> {
    for key in ["system", "instructions", "messages", "input"] {
        if let Some(node) = request.get(key) {
            if holds_block(node)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn holds_block(node: &Node<'_>) -> Result<bool, Error> {
    match node.data() {
        Data::String(text) => Ok(match text.as_plain() {
            Some(plain) => plain.contains(OPEN),
            None => text.display().contains(OPEN),
        }),
        Data::Array(items) => any(items.iter()),
        Data::Object(object) => any(object.iter().map(|member| &member.value)),
        // Letters are escaped by nobody, but they may be: then a `\u` is in the text.
        Data::Verbatim(text) if text.contains(CORE) || text.contains("\\u") => holds_block(&*view(node)?),
        _ => Ok(false),
    }
}

fn any<'n, 'a: 'n>(nodes: impl Iterator<Item = &'n Node<'a>>) -> Result<bool, Error> {
    for node in nodes {
        if holds_block(node)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Appends the list to the system prompt.
///
/// # Errors
/// `invalid-request` if the system prompt is nothing that can be appended to.
pub(super) fn append(request: &mut Node<'_>, format: Format, names: &[String]) -> Result<(), Error> {
    let text = block(names);
    match format {
        Format::Anthropic => append_member(request, "system", "text", text),
        Format::OpenaiResponses => append_member(request, "instructions", "input_text", text),
        Format::OpenaiChat => append_message(request, text),
    }
}

fn append_member(request: &mut Node<'_>, key: &'static str, text_type: &'static str, text: String) -> Result<(), Error> {
    let prompt = take(request, key)?.unwrap_or_default();
    let prompt = appended(prompt, text_type, text, &alloc::format!("/{key}"))?;
    if let Some(object) = request.as_object_mut() {
        object.set(key, prompt);
    }
    Ok(())
}

/// Chat Completions has its system prompt as a message, the first one.
fn append_message(request: &mut Node<'_>, text: String) -> Result<(), Error> {
    request
        .visit("messages", |messages| {
            let leads = match messages.as_array().and_then(<[Node<'_>]>::first) {
                Some(first) => {
                    let first = view(first)?;
                    first.get("role").is_some_and(|role| role.is_text("system") || role.is_text("developer"))
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

/// A prompt with one text more at its end: after a cache breakpoint, if there is one.
fn appended<'a>(mut prompt: Node<'a>, text_type: &'static str, text: String, at: &str) -> Result<Node<'a>, Error> {
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
            let found = alloc::format!("expected the system prompt to be a string or an array of text blocks, found {}", prompt.kind());
            return Err(Error::new(Code::InvalidRequest, at, found));
        }
    }
    if let Some(blocks) = prompt.as_array_mut() {
        blocks.push(Node::record([("type", Node::literal(text_type)), ("text", Node::string(text))]));
    }
    Ok(prompt)
}
