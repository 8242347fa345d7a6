//! Handles answers of earlier turns that were calls: the client sends them as messages that the API does not know.

use alloc::{format, vec::Vec};

use super::{answer_call::ANSWER_ID, request_facts::RequestChange};
use crate::{
    dialect::requests::ANSWERED,
    error::Error,
    json::{
        lazy::{edit, view},
        Data, Node,
    },
    options::Api,
    request::tool::{has_type, starts_with},
};

/// Removes the ids of such messages from a Responses history, and the reasoning directly before each message, which the
/// API knows as part of the call.
///
/// # Errors
/// `invalid-json` if an item is text that cannot be read.
pub(super) fn forget(request: &mut Node<'_>) -> Result<Vec<RequestChange>, Error> {
    let history = Api::OpenaiResponses.history();
    let items = request.items_at(history);
    let (mut answers, mut gone) = (Vec::new(), Vec::new());
    for (at, item) in items.iter().enumerate() {
        let may_be = match item.data() {
            Data::Verbatim(text) => text.contains(ANSWER_ID),
            _ => true,
        };
        if !may_be || !is_answer(&*view(item)?) {
            continue;
        }
        answers.push(at);
        for (before, item) in items.iter().enumerate().take(at).rev() {
            if !has_type(&*view(item)?, "reasoning") {
                break;
            }
            gone.push(before);
        }
    }
    if answers.is_empty() {
        // A list that is borrowed mutably counts as changed.
        return Ok(Vec::new());
    }
    gone.sort_unstable();
    let message = |place: &usize| format!("/{history}/{place}");
    let mut changes: Vec<RequestChange> = answers
        .iter()
        .map(|at| RequestChange::new(message(at), &ANSWERED, "removed the id of an answer that was sent as a call"))
        .collect();
    changes.extend(gone.iter().map(|at| {
        RequestChange::new(message(at), &ANSWERED, "removed the reasoning of an answer that was sent as a call")
    }));
    let edited = request.visit(history, |list| {
        let Some(items) = list.as_array_mut() else { return Ok(()) };
        for at in &answers {
            if let Some(item) = items.get_mut(*at) {
                edit(item, |item| {
                    item.remove("id");
                    Ok(())
                })?;
            }
        }
        let (mut at, mut gone) = (0, gone.iter().peekable());
        items.retain(|_| {
            let goes = gone.next_if(|place| **place == at).is_some();
            at += 1;
            !goes
        });
        Ok(())
    });
    edited.unwrap_or(Ok(())).map(|()| changes)
}

fn is_answer(item: &Node<'_>) -> bool {
    has_type(item, "message") && item.text_at("id").is_some_and(|id| starts_with(id, ANSWER_ID))
}
