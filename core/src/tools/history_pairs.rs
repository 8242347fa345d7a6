//! Completes the pairs of calls and results in a history: APIs refuse a call without a result and a result without a
//! call, in this turn and every later one.
//!
//! A result that stands too far from its call is moved to it. A call without a result gets one that says so, and a
//! result without a call is removed.

use alloc::{
    collections::VecDeque,
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::request_facts::RequestChange;
use crate::{
    collections::{Map, Set},
    dialect::requests::HISTORY_PAIRS,
    error::Error,
    json::{
        lazy::{self, view},
        Data, Node,
    },
    options::Api,
    request::{
        prefilter::{CALL, CHAT, RESULT},
        tool::has_type,
    },
};

/// The result of a call that has none.
const NO_RESULT: &str = "[No result]";

/// The calls and results of one message or item, by their ids.
#[derive(Default)]
struct Ids {
    calls: Vec<String>,
    results: Vec<String>,
}

/// The changes to one message or item.
#[derive(Default)]
struct Change {
    /// The results that leave it, by their places among its results.
    leaving: Set<usize>,
    /// The results that follow it: the id of each, and the result of another message, if there is one.
    following: Vec<(String, Option<Place>)>,
}

/// The index of a message, and of a result among its results.
type Place = (usize, usize);

/// Completes the pairs of a request's history. Only for Anthropic Messages, Chat Completions and Responses.
///
/// # Errors
/// `invalid-json`, if a message is text that cannot be read.
pub(super) fn complete(request: &mut Node<'_>, api: Api) -> Result<Vec<RequestChange>, Error> {
    if !matches!(api, Api::Anthropic | Api::OpenaiChat | Api::OpenaiResponses) {
        return Ok(Vec::new());
    }
    // The calls of an earlier response are not in the request.
    let stored = ["previous_response_id", "conversation"];
    let is_whole = stored.iter().all(|key| request.get(key).is_none_or(Node::is_null));
    let Some(messages) = request.get(api.history()).and_then(Node::as_array) else { return Ok(Vec::new()) };
    let mut ids = Vec::with_capacity(messages.len());
    let mut is_whole = is_whole;
    for message in messages {
        is_whole &= !has_type(message, "item_reference");
        let ids_of = match lazy::may_hold(message, CALL | CHAT | RESULT) {
            true => ids_in(&*view(message)?, api),
            false => Ids::default(),
        };
        ids.push(ids_of);
    }
    let answers: Vec<bool> = messages.iter().map(|message| may_answer(message, api)).collect::<Result<_, _>>()?;
    let changes = plan(&ids, &answers, api, is_whole);
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    let mut reported = Vec::new();
    request.visit(api.history(), |history| rewrite(history, api, changes, &mut reported)).unwrap_or(Ok(()))?;
    Ok(reported)
}

/// Returns true for a message that may directly follow a call and hold its result.
fn may_answer(message: &Node<'_>, api: Api) -> Result<bool, Error> {
    let role = match api {
        Api::OpenaiResponses => return Ok(true),
        Api::OpenaiChat => "tool",
        _ => "user",
    };
    Ok(view(message)?.get("role").is_some_and(|found| found.is_text(role)))
}

fn ids_in(message: &Node<'_>, api: Api) -> Ids {
    let mut ids = Ids::default();
    let text = |node: &Node<'_>, key: &str| node.get(key).and_then(Node::as_text).map(|id| id.display().to_string());
    match api {
        Api::OpenaiResponses => {
            let is_one = |kinds: [&str; 2]| kinds.iter().any(|kind| has_type(message, kind));
            if is_one(["function_call", "custom_tool_call"]) {
                ids.calls.extend(text(message, "call_id"));
            } else if is_one(["function_call_output", "custom_tool_call_output"]) {
                ids.results.extend(text(message, "call_id"));
            }
        }
        Api::OpenaiChat => {
            let calls = message.get("tool_calls").and_then(Node::as_array).unwrap_or_default();
            ids.calls.extend(calls.iter().filter_map(|call| text(call, "id")));
            ids.results.extend(text(message, "tool_call_id"));
        }
        _ => {
            for block in message.get("content").and_then(Node::as_array).unwrap_or_default() {
                if has_type(block, "tool_use") {
                    ids.calls.extend(text(block, "id"));
                } else if has_type(block, "tool_result") {
                    ids.results.extend(text(block, "tool_use_id"));
                }
            }
        }
    }
    ids
}

/// Returns the changes of each message, by its index.
fn plan(ids: &[Ids], answers: &[bool], api: Api, is_whole: bool) -> Map<usize, Change> {
    // The calls without a result so far, by their ids, oldest first.
    let mut open: Map<&str, VecDeque<usize>> = Map::new();
    let mut orphans = Vec::new();
    let mut changes: Map<usize, Change> = Map::new();
    let mut turn = 0;
    for (at, Ids { calls, results }) in ids.iter().enumerate() {
        let answers_at = |at: usize| answers.get(at).copied().unwrap_or_default();
        // Anthropic joins messages of one role.
        let goes_on = api == Api::Anthropic && at.checked_sub(1).is_some_and(|before| !answers_at(before));
        if !answers_at(at) && !goes_on {
            turn = at;
        }
        for (place_in_message, id) in results.iter().enumerate() {
            let of_turn = |call: &usize| api == Api::OpenaiResponses || *call >= turn;
            let calls = open.get_mut(id.as_str());
            let place = calls.as_ref().and_then(|calls| calls.iter().position(of_turn));
            match calls.zip(place) {
                Some((calls, place)) => drop(calls.remove(place)),
                None => orphans.push(((at, place_in_message), id)),
            }
        }
        calls.iter().for_each(|id| open.entry(id).or_default().push_back(at));
    }
    for (at, id) in orphans {
        let call = open.get_mut(id.as_str()).and_then(VecDeque::pop_front);
        if call.is_none() && !is_whole {
            continue;
        }
        changes.entry(at.0).or_default().leaving.insert(at.1);
        if let Some(call) = call {
            changes.entry(call).or_default().following.push((id.clone(), Some(at)));
        }
    }
    for (id, calls) in open.iter() {
        for call in calls {
            changes.entry(*call).or_default().following.push(((*id).into(), None));
        }
    }
    changes
}

/// Applies the changes to a history.
fn rewrite<'a>(
    history: &mut Node<'a>,
    api: Api,
    changes: Map<usize, Change>,
    reported: &mut Vec<RequestChange>,
) -> Result<(), Error> {
    let Some(messages) = history.as_array_mut() else { return Ok(()) };
    let mut report = |at: usize, message: &str| {
        reported.push(RequestChange::new(format!("/{}/{at}", api.history()), &HISTORY_PAIRS, message));
    };
    let mut moved: Map<Place, Node<'a>> = Map::new();
    let mut emptied = Set::new();
    for (at, change) in changes.iter().filter(|(_, change)| !change.leaving.is_empty()) {
        let Some(message) = messages.get_mut(*at) else { continue };
        lazy::edit(message, |message| {
            for (place, result) in take(message, api, &change.leaving) {
                moved.insert((*at, place), result);
            }
            if is_empty(message, api) {
                emptied.insert(*at);
            }
            Ok(())
        })?;
    }
    let mut settled: Vec<Node<'a>> = Vec::with_capacity(messages.len());
    let mut pending: Vec<Node<'a>> = Vec::new();
    for (at, mut message) in core::mem::take(messages).into_iter().enumerate() {
        if !pending.is_empty() {
            let results = core::mem::take(&mut pending);
            let is_joined = !emptied.contains(&at) && api == Api::Anthropic && may_answer(&message, api)?;
            match is_joined {
                true => lazy::edit(&mut message, |message| {
                    join(message, results);
                    Ok(())
                })?,
                false => settled.extend(messages_of(results, api)),
            }
        }
        let following = changes.get(&at).map(|change| change.following.as_slice()).unwrap_or_default();
        let is_custom = !following.is_empty() && has_type(&*view(&message)?, "custom_tool_call");
        if !emptied.contains(&at) {
            settled.push(message);
        }
        for (id, from) in following {
            let given = from.and_then(|from| moved.remove(&from).map(|result| (from, result)));
            match given {
                Some(((from, _), result)) => {
                    report(from, "moved a result to its call");
                    pending.push(result);
                }
                None => {
                    report(at, "added a result to a call without one");
                    pending.push(no_result(id, api, is_custom));
                }
            }
        }
    }
    settled.extend(messages_of(pending, api));
    for ((at, _), _) in moved.iter() {
        report(*at, "removed a result without a call");
    }
    *messages = settled;
    Ok(())
}

/// Takes the results at these places out of a message.
fn take<'a>(message: &mut Node<'a>, api: Api, places: &Set<usize>) -> Vec<(usize, Node<'a>)> {
    if api != Api::Anthropic {
        return Vec::from([(0, core::mem::take(message))]);
    }
    let taken = message.visit("content", |content| {
        let Some(blocks) = content.as_array_mut() else { return Vec::new() };
        let (mut results, mut taken, mut staying) = (0, Vec::new(), Vec::new());
        for block in core::mem::take(blocks) {
            let is_result =
                has_type(&block, "tool_result") && block.get("tool_use_id").and_then(Node::as_text).is_some();
            match is_result && places.contains(&results) {
                true => taken.push((results, block)),
                false => staying.push(block),
            }
            results += usize::from(is_result);
        }
        *blocks = staying;
        taken
    });
    taken.unwrap_or_default()
}

/// Returns true for a message that has nothing left.
fn is_empty(message: &Node<'_>, api: Api) -> bool {
    match api {
        Api::Anthropic => message.get("content").and_then(Node::as_array).is_some_and(<[Node<'_>]>::is_empty),
        _ => message.is_null(),
    }
}

/// Puts results before the content of a message of Anthropic's.
fn join<'a>(message: &mut Node<'a>, results: Vec<Node<'a>>) {
    message.visit("content", |content| {
        let mut blocks = results;
        match core::mem::take(content).into_data() {
            Data::Array(own) => blocks.extend(own),
            Data::String(text) => {
                blocks.push(Node::record([("type", Node::literal("text")), ("text", Node::string(text))]));
            }
            _ => {}
        }
        *content = Node::array(blocks);
    });
}

/// Returns results as messages or items of their own.
fn messages_of(results: Vec<Node<'_>>, api: Api) -> Vec<Node<'_>> {
    if api != Api::Anthropic || results.is_empty() {
        return results;
    }
    Vec::from([Node::record([("role", Node::literal("user")), ("content", Node::array(results))])])
}

/// Returns a result that says that there is none.
fn no_result<'a>(id: &str, api: Api, is_custom: bool) -> Node<'a> {
    let id = Node::string(String::from(id));
    let text = Node::literal(NO_RESULT);
    match api {
        Api::OpenaiResponses => Node::record([
            ("type", Node::literal(if is_custom { "custom_tool_call_output" } else { "function_call_output" })),
            ("call_id", id),
            ("output", text),
        ]),
        Api::OpenaiChat => Node::record([("role", Node::literal("tool")), ("tool_call_id", id), ("content", text)]),
        _ => Node::record([
            ("type", Node::literal("tool_result")),
            ("tool_use_id", id),
            ("content", text),
            ("is_error", Node::bool(true)),
        ]),
    }
}
