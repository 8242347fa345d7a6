//! Repairs the arguments of calls in the history, adds names to results, and removes the ids of messages that were
//! calls.

use alloc::{format, string::String, vec::Vec};

use crate::{
    collections::Map,
    dialect::requests::{ANSWERED, HISTORY_ARGUMENTS},
    error::{Code, Error},
    json::{
        self,
        lazy::{self, edit, may_hold, view},
        tolerant::{read_tolerant, Tolerance},
        Data, Flags, Node, Text,
    },
    options::Api,
    report::{Confidence, Permits},
    request::{
        origins::{MessageOrigin, Origins},
        tool::{has_type, starts_with},
    },
    tools::request_facts::RequestChange,
    wire::{
        self,
        responses::answer::ANSWER_ID,
        units::{self, Role},
    },
};

/// Repairs or replaces arguments in the history that are not a JSON object.
pub(crate) fn repair_arguments(request: &mut Node<'_>, api: Api) -> Result<Vec<RequestChange>, Error> {
    let wire = wire::of(api);
    let (key, mut changes) = (wire.history(), Vec::new());
    let repaired = request.visit(key, |history| {
        if !matches!(history.data(), Data::Array(_)) {
            return Ok(());
        }
        let mut at = 0;
        history.visit_children(|_, message| {
            let pointer_to_call = format!("/{key}/{at}");
            at += 1;
            if !lazy::may_hold(message, Flags::CALL) {
                return Ok(());
            }
            lazy::edit(message, |message| {
                units::visit(message, Some(wire), &mut |site| {
                    if let Some((key, is_text)) = site.arguments.filter(|_| site.role == Role::Call) {
                        repair_member(site.node, key, is_text, &site.location.pointer(&pointer_to_call), &mut changes);
                    }
                });
                Ok(())
            })
        })
    });
    repaired.unwrap_or(Ok(()))?;
    Ok(changes)
}

fn repair_member(
    call: &mut Node<'_>,
    key: &str,
    is_text: bool,
    pointer_to_call: &str,
    changes: &mut Vec<RequestChange>,
) {
    call.visit(key, |arguments| {
        let Some((object, message)) = repaired_object(arguments, is_text) else { return };
        *arguments = if is_text { Node::string(json::write(&object)) } else { object };
        let pointer = format!("{pointer_to_call}/{key}");
        changes.push(RequestChange::new(pointer, &HISTORY_ARGUMENTS, message));
    });
}

fn repaired_object(arguments: &Node<'_>, is_text: bool) -> Option<(Node<'static>, &'static str)> {
    if arguments.as_object().is_some() {
        return None;
    }
    let text = arguments.as_text().map(Text::value);
    // Text with a lone surrogate cannot be read, but may be the text of an object.
    if matches!(text, Some(None)) || (is_text && matches!(&text, Some(Some(text)) if is_object(text))) {
        return None;
    }
    match text.flatten().as_deref().and_then(read_object) {
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
fn read_object(text: &str) -> Option<Node<'static>> {
    let tolerance =
        Tolerance { permits: Permits::new(Confidence::Likely, &[]), closes: true, is_inside: false, guesses: false };
    let node = read_tolerant(text, tolerance).ok()?.node;
    let inner = node.as_text().and_then(Text::value);
    let node = match inner.as_deref() {
        Some(inner) => read_tolerant(inner, tolerance).ok()?.node,
        None => node.clone(),
    };
    node.as_object().is_some().then(|| node.detached())
}

/// Returns the pointers to the results that got a name.
pub(crate) fn name_results(request: &mut Node<'_>, api: Api) -> Result<Vec<String>, Error> {
    let mut pointers = Vec::new();
    let wire = wire::of(api);
    if !wire.turns().names_results() {
        return Ok(pointers);
    }
    let mut names_by_id: Map<Text<'_>, Text<'_>> = Map::new();
    let completed = request.visit(wire.history(), |items| {
        let mut missing = Vec::new();
        for (at, item) in items.as_array().unwrap_or_default().iter().enumerate() {
            if !may_hold(item, Flags::CALL) {
                continue;
            }
            let item = view(item)?;
            wire.parts(&item, &mut |part| {
                let (id, name) = (part.id().filter(|id| !id.is_empty()), part.name().filter(|name| !name.is_empty()));
                match (part.role(), id, name) {
                    (Role::Call, Some(id), Some(name)) => drop(names_by_id.insert(id, name)),
                    (Role::Result, Some(id), None) => {
                        missing.extend(names_by_id.get(&id).map(|name| (at, name.clone())))
                    }
                    _ => {}
                }
            });
        }
        if missing.is_empty() {
            return Ok(());
        }
        let Some(list) = items.as_array_mut() else { return Ok(()) };
        for (at, name) in missing {
            if let Some(item) = list.get_mut(at) {
                edit(item, |item| {
                    item.set("name", Node::string(name));
                    Ok::<(), Error>(())
                })?;
                pointers.push(format!("/{}/{at}", wire.history()));
            }
        }
        Ok(())
    });
    completed.unwrap_or(Ok(()))?;
    Ok(pointers)
}

/// Removes the ids of messages that were calls from a Responses history. Also removes the reasoning directly before
/// each such message, because the API knows that reasoning only as part of the call. Returns the changes, and the
/// origins of the items if any item changed. `origins` contains the origins of the request's parts.
pub(crate) fn remove_message_ids(
    request: &mut Node<'_>,
    api: Api,
    origins: &Origins,
) -> Result<(Vec<RequestChange>, Vec<MessageOrigin>), Error> {
    let history = wire::of(api).history();
    let items = request.items_at(history);
    let (mut answers, mut reasoning) = (Vec::new(), Vec::new());
    for (at, item) in items.iter().enumerate() {
        let may_have_id = match item.data() {
            Data::Verbatim(text) => text.contains(ANSWER_ID),
            _ => true,
        };
        if !may_have_id || !is_answer(&*view(item)?) {
            continue;
        }
        answers.push(at);
        for (before, item) in items.iter().enumerate().take(at).rev() {
            if !has_type(&*view(item)?, "reasoning") {
                break;
            }
            reasoning.push(before);
        }
    }
    if answers.is_empty() {
        // Returns here, because a list is treated as changed once it is borrowed mutably.
        return Ok((Vec::new(), Vec::new()));
    }
    reasoning.sort_unstable();
    let message = |index: &usize| {
        let mut pointer = format!("/{history}/{index}");
        origins.to_given(&mut pointer);
        pointer
    };
    let message_origins =
        (0..items.len()).filter(|index| reasoning.binary_search(index).is_err()).map(MessageOrigin::Same).collect();
    let mut changes: Vec<RequestChange> = answers
        .iter()
        .map(|at| RequestChange::new(message(at), &ANSWERED, "removed the id of an answer that was sent as a call"))
        .collect();
    changes.extend(reasoning.iter().map(|at| {
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
        let (mut at, mut reasoning) = (0, reasoning.iter().peekable());
        items.retain(|_| {
            let is_removed = reasoning.next_if(|index| **index == at).is_some();
            at += 1;
            !is_removed
        });
        Ok(())
    });
    edited.unwrap_or(Ok(())).map(|()| (changes, message_origins))
}

fn is_answer(item: &Node<'_>) -> bool {
    has_type(item, "message") && item.text_at("id").is_some_and(|id| starts_with(id, ANSWER_ID))
}
