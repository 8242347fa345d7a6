//! Repairs the arguments of calls in the history: an API refuses every later turn if they are not a JSON object.

use alloc::{format, vec::Vec};

use super::{call_sites::each, request_facts::RequestChange};
use crate::{
    dialect::requests::HISTORY_ARGUMENTS,
    error::{Code, Error},
    json::{
        self, lazy,
        tolerant::{read_tolerant, Tolerance},
        Data, Node, Text,
    },
    options::Api,
    report::{Confidence, Permits},
    request::prefilter::CALL,
};

/// Repairs the arguments of all calls in a request's history. Arguments that are a JSON object stay unchanged.
///
/// # Errors
/// `invalid-json`, if a message is text that cannot be read.
pub(super) fn repair(request: &mut Node<'_>, api: Api) -> Result<Vec<RequestChange>, Error> {
    let (key, mut changes) = (api.history(), Vec::new());
    let repaired = request.visit(key, |history| {
        if !matches!(history.data(), Data::Array(_)) {
            return Ok(());
        }
        let mut at = 0;
        history.visit_children(|_, message| {
            let place = format!("/{key}/{at}");
            at += 1;
            if !lazy::may_hold(message, CALL) {
                return Ok(());
            }
            lazy::edit(message, |message| {
                in_message(message, api, &place, &mut changes);
                Ok(())
            })
        })
    });
    repaired.unwrap_or(Ok(()))?;
    Ok(changes)
}

/// Repairs the arguments of the calls in one message or item.
fn in_message(message: &mut Node<'_>, api: Api, place: &str, changes: &mut Vec<RequestChange>) {
    if has_type(message, "function_call") {
        member(message, "arguments", api != Api::GeminiInteractions, place, changes);
    }
    numbered(message, "content", place, &mut |block, place| {
        if has_type(block, "tool_use") {
            member(block, "input", false, place, changes);
        }
        block.visit("toolUse", |call| member(call, "input", false, &format!("{place}/toolUse"), changes));
    });
    numbered(message, "tool_calls", place, &mut |call, place| {
        call.visit("function", |function| member(function, "arguments", true, &format!("{place}/function"), changes));
    });
    message.visit("function_call", |call| member(call, "arguments", true, &format!("{place}/function_call"), changes));
    numbered(message, "parts", place, &mut |part, place| {
        for key in ["functionCall", "function_call"] {
            part.visit(key, |call| {
                // Arguments that come in pieces are not a complete object.
                if ["partialArgs", "willContinue"].iter().all(|key| call.get(key).is_none()) {
                    member(call, "args", false, &format!("{place}/{key}"), changes);
                }
            });
        }
    });
}

fn has_type(node: &Node<'_>, name: &str) -> bool {
    node.get("type").is_some_and(|kind| kind.is_text(name))
}

/// Visits the items of a member that is a list, with their pointers.
fn numbered(holder: &mut Node<'_>, key: &str, place: &str, visit: &mut dyn FnMut(&mut Node<'_>, &str)) {
    let mut at = 0;
    each(holder, key, &mut |item| {
        visit(item, &format!("{place}/{key}/{at}"));
        at += 1;
    });
}

/// Repairs the arguments in one member; `is_text` is true if the API expects JSON text there.
fn member(call: &mut Node<'_>, key: &str, is_text: bool, place: &str, changes: &mut Vec<RequestChange>) {
    call.visit(key, |arguments| {
        let Some((object, message)) = object_of(arguments, is_text) else { return };
        *arguments = if is_text { Node::string(json::write(&object)) } else { object };
        let pointer = format!("{place}/{key}");
        changes.push(RequestChange::new(pointer, &HISTORY_ARGUMENTS, message));
    });
}

/// Returns the object that replaces the arguments, with the message about the change; `None` if the arguments already
/// are a JSON object in the expected form.
fn object_of(arguments: &Node<'_>, is_text: bool) -> Option<(Node<'static>, &'static str)> {
    if arguments.as_object().is_some() {
        return None;
    }
    let text = arguments.as_text().map(Text::value);
    // Text with a lone surrogate cannot be read, but may be the text of an object.
    if matches!(text, Some(None)) || (is_text && matches!(&text, Some(Some(text)) if is_object(text))) {
        return None;
    }
    let found = text.flatten().as_deref().and_then(read);
    match found {
        Some(object) => Some((object, "repaired arguments that are not a JSON object")),
        None => Some((Node::empty_object(), "replaced arguments that are not a JSON object with `{}`")),
    }
}

/// Returns true for the text of a JSON object, at any nesting depth.
fn is_object(text: &str) -> bool {
    match json::read(text) {
        Ok(node) => node.as_object().is_some(),
        Err(error) => error.code() == Code::TooDeep && text.trim_start().starts_with('{'),
    }
}

/// Reads text that was meant as a JSON object and may have been encoded twice.
fn read(text: &str) -> Option<Node<'static>> {
    let how = Tolerance { permits: Permits::new(Confidence::Likely, &[]), closes: true, is_inside: false };
    let node = read_tolerant(text, how).ok()?.node;
    let inner = node.as_text().and_then(Text::value);
    let node = match inner.as_deref() {
        Some(inner) => read_tolerant(inner, how).ok()?.node,
        None => node.clone(),
    };
    node.as_object().is_some().then(|| node.detached())
}
