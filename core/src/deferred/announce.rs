//! Announces deferred tools to the model: adds a list of their names to the system prompt, in Claude Code's format.

use alloc::{string::String, vec::Vec};

use crate::{
    error::Error,
    json::{lazy::view, Data, Node},
    options::{Announce, Api, DeferredOptions, Mode},
    request::{
        carriers::is_system,
        conversation::{Content, Conversation, Event, EventKind, Part, Role},
        instructions::plain_or_quoted,
        location::Location,
        tool::has_type,
    },
    wire::{
        self,
        prompt::{self, appended},
    },
};

const OPENING_TAG: &str = "<available-deferred-tools>";
const CLOSING_TAG: &str = "</available-deferred-tools>";
/// The part of [`OPENING_TAG`] that is the same in all usual JSON encodings: some writers escape `<` and `>`.
const TAG_NAME: &str = "available-deferred-tools";

/// Returns the list as text. It contains all deferred tools, loaded or not, so that it does not change between turns
/// and the provider's prompt cache stays valid. A name that could end the list or start another tag is quoted.
fn list_text(names: &[String]) -> String {
    let mut text = String::from(OPENING_TAG);
    for name in names {
        text.push('\n');
        text.push_str(&plain_or_quoted(name));
    }
    text.push('\n');
    text.push_str(CLOSING_TAG);
    text
}

/// Returns true if the client already announces tools: in the system prompt, in system messages, or in user messages
/// before the first answer, as Claude Code does. Text from tools, from the model and in later user messages is
/// ignored, because it could be meant to suppress this list.
pub(super) fn is_present(request: &Node<'_>) -> Result<bool, Error> {
    for key in prompt::members() {
        if let Some(prompt) = request.get(key) {
            if contains_list(prompt)? {
                return Ok(true);
            }
        }
    }
    for key in wire::histories() {
        let messages = request.get(key).map(items_or_object).unwrap_or_default();
        let mut is_before_answer = true;
        for (at, message) in messages.iter().enumerate().filter(|(_, message)| may_contain_list(message)) {
            let message = view(message)?;
            let is_from_client = is_system(&message);
            if (is_from_client || is_before_answer && is_user(&message))
                && ["content", "parts"].iter().find_map(|key| message.get(key)).map_or(Ok(false), contains_list)?
            {
                is_before_answer = is_from_client || has_no_answer(messages.get(..at).unwrap_or_default())?;
                if is_before_answer {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

fn is_user(message: &Node<'_>) -> bool {
    // In Gemini's format, a content without a role is from the user.
    let is_content = message.get("role").is_none() && message.get("parts").is_some();
    is_content || message.get("role").is_some_and(|role| role.is_text("user")) || has_type(message, "user_input")
}

/// Returns true if all messages are from the user or the system.
fn has_no_answer(messages: &[Node<'_>]) -> Result<bool, Error> {
    for message in messages {
        let message = view(message)?;
        if !is_user(&message) && !is_system(&message) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns false if a JSON text cannot contain the list. Writers do not usually escape letters, but they may: then the
/// text contains `\u`.
fn may_contain_list(node: &Node<'_>) -> bool {
    match node.data() {
        Data::Verbatim(text) => text.contains(TAG_NAME) || text.contains("\\u"),
        _ => true,
    }
}

/// Returns true if a prompt contains the list, in its text or in one of its text blocks.
fn contains_list(prompt: &Node<'_>) -> Result<bool, Error> {
    if !may_contain_list(prompt) {
        return Ok(false);
    }
    let prompt = view(prompt)?;
    let has_list = |text: &Node<'_>| text.as_text().is_some_and(|text| text.display().contains(OPENING_TAG));
    let parts = prompt.get("parts").map(items_or_object);
    if let Some(blocks) = prompt.as_array().or(parts) {
        for block in blocks.iter().filter(|block| may_contain_list(block)) {
            let block = view(block)?;
            // Texts of Converse and Gemini have no type.
            let is_text = wire::is_text(&block) || block.get("type").is_none();
            if is_text && block.get("text").is_some_and(has_list) || has_list(&block) {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    Ok(has_list(&prompt) || prompt.get("text").is_some_and(has_list))
}

/// Returns the items of a list, or a single object.
fn items_or_object<'n, 'a>(node: &'n Node<'a>) -> &'n [Node<'a>] {
    match node.data() {
        Data::Object(_) => core::slice::from_ref(node),
        _ => node.as_array().unwrap_or_default(),
    }
}

/// Adds the list if the options request it and the client's request has no list. If the request then has a list, clears
/// `unreachable`: the model can call hidden tools by the names in the list.
///
/// # Errors
/// Same as [`append_list`].
pub(super) fn add_list(
    request: &mut Node<'_>,
    format: Api,
    names: &[String],
    (options, unreachable): (&DeferredOptions, &mut bool),
) -> Result<(), Error> {
    let is_requested = options.announce == Announce::Names && options.mode == Mode::Filter && !names.is_empty();
    if !is_requested && !*unreachable {
        return Ok(());
    }
    let is_present = is_present(request)?;
    if is_requested && !is_present {
        append_list(request, format, names)?;
    }
    *unreachable &= !is_requested && !is_present;
    Ok(())
}

/// Adds the list to the system prompt of a conversation.
///
/// # Errors
/// `invalid-value` for an unpaired surrogate in the prompt.
pub(super) fn add_list_to_conversation(
    conversation: &mut Conversation<'_>,
    source: Api,
    names: &[String],
) -> Result<(), Error> {
    let text = list_text(names);
    // In Chat Completions, the system prompt is the first message.
    let prompt = usize::from(wire::of(source).prompt_member().is_none());
    let is_prompt = |event: &&mut Event<'_>| event.at == prompt;
    let last = conversation.events.iter_mut().take_while(is_prompt).last();
    if let Some(EventKind::Text { role: Role::System, content }) = last.map(|event| &mut event.kind) {
        match content {
            Content::Parts(parts) => parts.push(Part::Text(Node::string(text))),
            Content::String(old) => {
                let old = core::mem::take(old);
                *content = Content::String(appended(old, "text", text, "/system")?);
            }
        }
        return Ok(());
    }
    let content = Content::String(Node::string(text));
    let kind = EventKind::Text { role: Role::System, content };
    let (origin, other_origins) = (Location::default(), Vec::new());
    conversation.events.insert(0, Event { at: 0, message: 0, member: "content", origin, other_origins, kind });
    Ok(())
}

/// Appends the list to the system prompt.
///
/// # Errors
/// `invalid-request` if the system prompt is neither text nor text blocks.
pub(super) fn append_list(request: &mut Node<'_>, format: Api, names: &[String]) -> Result<(), Error> {
    wire::of(format).append_to_prompt(request, list_text(names))
}
