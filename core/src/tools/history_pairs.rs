//! Completes the pairs of calls and results in a history: APIs refuse a call without a result and a result without a
//! call, in this turn and every later one.
//!
//! A result is of a call before it. One that stands too far from its call is moved to it. A call without a result gets
//! one that says so, and a result without a call is removed.

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
        Data, Node, Text,
    },
    options::Api,
    request::{
        prefilter::{CALL, CHAT, RESULT},
        tool::has_type,
    },
};

/// The result of a call that has none.
const NO_RESULT: &str = "[No result]";
const ADDED: &str = "added a result to a call without one";
const MOVED: &str = "moved a result to its call";
const REMOVED: &str = "removed a result without a call";
/// The content of a message that has lost its results, where a message of the user is needed.
const NO_CONTENT: &str = "[No content]";

/// How an API writes calls and results as blocks of messages.
struct Blocks {
    /// The member of a message that holds its blocks.
    list: &'static str,
    /// The spellings of the member of a block that holds a call; `None` if the block is the call.
    call: &'static [&'static str],
    /// Those of a result.
    result: &'static [&'static str],
    /// The member of a call with its id.
    call_id: &'static str,
    /// The member of a result with the id of its call.
    result_id: &'static str,
    /// The types of calls and results, if blocks have types.
    types: Option<(&'static str, &'static str)>,
    /// True if calls and results may have names in place of ids.
    is_named: bool,
    /// True if messages of one role that follow each other count as one: otherwise, all results of a message are in the
    /// next one.
    joins: bool,
    /// True if results stand before other content.
    is_first: bool,
}

const ANTHROPIC: Blocks = Blocks {
    list: "content",
    call: &[],
    result: &[],
    call_id: "id",
    result_id: "tool_use_id",
    types: Some(("tool_use", "tool_result")),
    is_named: false,
    joins: true,
    is_first: true,
};

const CONVERSE: Blocks = Blocks {
    list: "content",
    call: &["toolUse"],
    result: &["toolResult"],
    call_id: "toolUseId",
    result_id: "toolUseId",
    types: None,
    is_named: false,
    joins: false,
    is_first: false,
};

const GEMINI: Blocks = Blocks {
    list: "parts",
    call: &["functionCall", "function_call"],
    result: &["functionResponse", "function_response"],
    call_id: "id",
    result_id: "id",
    types: None,
    is_named: true,
    joins: false,
    is_first: false,
};

impl Blocks {
    /// Returns how an API writes blocks; `None` if calls and results are no blocks there.
    const fn of(api: Api) -> Option<&'static Blocks> {
        match api {
            Api::Anthropic => Some(&ANTHROPIC),
            Api::Bedrock => Some(&CONVERSE),
            Api::Gemini => Some(&GEMINI),
            _ => None,
        }
    }

    fn inner<'n, 'a>(&self, block: &'n Node<'a>, keys: &[&str], kind: Option<&str>) -> Option<&'n Node<'a>> {
        match kind {
            Some(kind) => has_type(block, kind).then_some(block),
            None => keys.iter().find_map(|key| block.get(*key)),
        }
    }

    /// Returns a block of text.
    fn text<'a>(&self, text: Text<'a>) -> Node<'a> {
        let text = ("text", Node::string(text));
        match self.types {
            Some(_) => Node::record([("type", Node::literal("text")), text]),
            None => Node::record([text]),
        }
    }

    /// Returns the call in a block.
    fn call<'n, 'a>(&self, block: &'n Node<'a>) -> Option<&'n Node<'a>> {
        self.inner(block, self.call, self.types.map(|(call, _)| call))
    }

    /// Returns the result in a block.
    fn result<'n, 'a>(&self, block: &'n Node<'a>) -> Option<&'n Node<'a>> {
        self.inner(block, self.result, self.types.map(|(_, result)| result))
    }

    /// Returns the id of a call or result; for an API in which these need none, an id that the other side does not
    /// have counts as none, and the name is returned.
    fn key(&self, one: &Node<'_>, id: &str, shared: &Set<String>) -> Option<String> {
        let own = text(one, id);
        if !self.is_named {
            return own;
        }
        let id = own.filter(|own| shared.contains(own)).map(|own| format!("id {own}"));
        id.or_else(|| text(one, "name").map(|name| format!("name {name}")))
    }

    /// Returns the id and the name of a call, for an API in which results have both.
    fn named(&self, call: &Node<'_>) -> Vec<(&'static str, String)> {
        let members = ["id", "name"].into_iter().filter(|_| self.is_named);
        members.filter_map(|key| Some((key, text(call, key)?))).collect()
    }

    /// Returns the ids that calls and results of a history share, for an API in which they need none.
    fn shared_ids(&self, messages: &[Node<'_>]) -> Result<Set<String>, Error> {
        let (mut calls, mut shared) = (Set::new(), Set::new());
        if !self.is_named {
            return Ok(shared);
        }
        for message in messages {
            let message = view(message)?;
            for block in message.get(self.list).and_then(Node::as_array).unwrap_or_default() {
                calls.extend(self.call(block).and_then(|call| text(call, self.call_id)));
                let id = self.result(block).and_then(|result| text(result, self.result_id));
                shared.extend(id.filter(|id| calls.contains(id)));
            }
        }
        Ok(shared)
    }
}

fn text(node: &Node<'_>, key: &str) -> Option<String> {
    node.get(key).and_then(Node::as_text).map(|id| id.display().to_string())
}

/// Who speaks in a message or item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Speaker {
    User,
    Model,
    /// A message of the role `tool`, or an output of Responses.
    Tool,
    /// For example `system`.
    #[default]
    Other,
}

/// What one message or item has of calls and results.
#[derive(Default)]
struct Facts {
    speaker: Speaker,
    /// The calls that need a result.
    calls: Vec<Called>,
    /// The ids of the results. True for those that other content of the message stands before.
    results: Vec<(String, bool)>,
    /// True for a result of Chat Completions without an id.
    is_nameless: bool,
    /// True if it has content other than results.
    has_content: bool,
    /// The ids of other calls, whose results stay.
    others: Vec<String>,
}

/// A call that needs a result.
#[derive(Clone, Default)]
struct Called {
    /// What its result refers to.
    key: String,
    /// Its id and name, where the key may be either.
    named: Vec<(&'static str, String)>,
}

impl From<String> for Called {
    fn from(key: String) -> Self {
        Called { key, named: Vec::new() }
    }
}

/// The changes to one message or item.
#[derive(Default)]
struct Change {
    /// The results that leave it, by their places among its results.
    leaving: Set<usize>,
    /// The results that follow it.
    following: Vec<Following>,
    /// The id that its result gets.
    id: Option<String>,
}

/// A result that follows a message.
struct Following {
    called: Called,
    /// The message of the call.
    call: usize,
    /// The result of another message, if there is one.
    from: Option<Place>,
}

/// The index of a message, and of a call or result among those of the message.
type Place = (usize, usize);

/// Completes the pairs of a request's history, of any API but Gemini Interactions, of which no rule is known.
///
/// # Errors
/// `invalid-json`, if a message is text that cannot be read.
pub(super) fn complete(request: &mut Node<'_>, api: Api) -> Result<Vec<RequestChange>, Error> {
    if api == Api::GeminiInteractions {
        return Ok(Vec::new());
    }
    // The calls of an earlier response, or of a cached prefix, are not in the request.
    let stored = ["previous_response_id", "conversation", "cachedContent", "cached_content"];
    let is_whole = stored.iter().all(|key| request.get(key).is_none_or(Node::is_null));
    let Some(messages) = request.get(api.history()).and_then(Node::as_array) else { return Ok(Vec::new()) };
    if !messages.iter().any(|message| lazy::may_hold(message, CALL | CHAT | RESULT)) {
        return Ok(Vec::new());
    }
    let mut facts = Vec::with_capacity(messages.len());
    let mut has_reference = false;
    let shared = Blocks::of(api).map(|blocks| blocks.shared_ids(messages)).transpose()?.unwrap_or_default();
    for message in messages {
        let message = view(message)?;
        has_reference |= has_type(&message, "item_reference");
        facts.push(facts_of(&message, api, &shared));
    }
    let changes = plan(&facts, api, is_whole && !has_reference);
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    let mut reported = Vec::new();
    let speakers: Vec<Speaker> = facts.iter().map(|facts| facts.speaker).collect();
    request
        .visit(api.history(), |history| rewrite(history, api, (changes, &speakers), &mut reported))
        .unwrap_or(Ok(()))?;
    Ok(reported)
}

/// Returns the pointer to each message with a broken pair, and what was expected. Rewrites the history: the request
/// cannot be used afterwards.
///
/// # Errors
/// As [`complete`].
pub(super) fn broken(request: &mut Node<'_>, api: Api) -> Result<Vec<(String, &'static str)>, Error> {
    let (mut found, mut known) = (Vec::new(), Set::new());
    for RequestChange { pointer, message, .. } in complete(request, api)? {
        let expected = match message.as_str() {
            ADDED => "expected a result directly after each call, found a call without one",
            REMOVED => "expected a call before each result, found a result without one",
            MOVED => "expected a result directly after its call, found one elsewhere",
            _ => "expected a result with the id of its call, found one without an id",
        };
        // Changes of one message are not adjacent.
        if known.insert((pointer.clone(), expected)) {
            found.push((pointer, expected));
        }
    }
    Ok(found)
}

/// `shared`: the ids that calls and results share, where they need none.
fn facts_of(message: &Node<'_>, api: Api, shared: &Set<String>) -> Facts {
    let mut facts = Facts { speaker: speaker(message, api), has_content: true, ..Facts::default() };
    match api {
        Api::OpenaiResponses => {
            let is_one = |kinds: [&str; 2]| kinds.iter().any(|kind| has_type(message, kind));
            if is_one(["function_call", "custom_tool_call"]) {
                facts.calls.extend(text(message, "call_id").map(Called::from));
            } else if is_one(["function_call_output", "custom_tool_call_output"]) {
                facts.results.extend(text(message, "call_id").map(|id| (id, false)));
            } else {
                facts.others.extend(["call_id", "id"].iter().filter_map(|key| text(message, key)));
            }
        }
        Api::OpenaiChat if facts.speaker == Speaker::Tool => {
            facts.results.extend(text(message, "tool_call_id").map(|id| (id, false)));
            facts.is_nameless = facts.results.is_empty();
        }
        Api::OpenaiChat => {
            let calls = message.get("tool_calls").and_then(Node::as_array).unwrap_or_default();
            facts.calls.extend(calls.iter().filter_map(|call| text(call, "id")).map(Called::from));
        }
        _ => {
            let Some(written) = Blocks::of(api) else { return facts };
            let content = message.get(written.list);
            let blocks = content.and_then(Node::as_array).unwrap_or_default();
            facts.has_content = content.is_some_and(|content| content.as_text().is_some());
            for block in blocks {
                if let Some(result) = written.result(block) {
                    let id = written.key(result, written.result_id, shared);
                    facts.results.extend(id.map(|id| (id, written.is_first && facts.has_content)));
                    continue;
                }
                facts.has_content = true;
                if let Some(call) = written.call(block) {
                    let key = written.key(call, written.call_id, shared);
                    if facts.speaker == Speaker::Model {
                        facts.calls.extend(key.map(|key| Called { key, named: written.named(call) }));
                    } else {
                        facts.others.extend(key);
                    }
                }
            }
        }
    }
    facts
}

fn speaker(message: &Node<'_>, api: Api) -> Speaker {
    let role = |role: &str| message.get("role").is_some_and(|found| found.is_text(role));
    match api {
        _ if role("user") => Speaker::User,
        _ if role("assistant") => Speaker::Model,
        Api::Gemini if role("model") => Speaker::Model,
        // Older clients of Gemini give results the role `function`.
        Api::Gemini if message.get("role").is_none() || role("function") => Speaker::User,
        Api::OpenaiChat if role("tool") => Speaker::Tool,
        Api::OpenaiResponses if message.get("role").is_none() => {
            let kind = message.get("type").and_then(Node::as_text).map(|kind| kind.display());
            match kind.is_some_and(|kind| kind.ends_with("_output")) {
                true => Speaker::Tool,
                false => Speaker::Model,
            }
        }
        _ => Speaker::Other,
    }
}

/// The calls of one id without a result so far, by the turn of the model in which they are.
#[derive(Default)]
struct Open {
    turns: Vec<(usize, VecDeque<Place>)>,
    /// The number of times that the user had spoken before them.
    said: usize,
}

impl Open {
    fn add(&mut self, call: Place, turn: usize, said: usize) {
        if self.said < said {
            // Some backends begin to number anew in each reply.
            self.turns.clear();
            self.said = said;
        }
        match self.turns.last_mut().filter(|(last, _)| *last == turn) {
            Some((_, calls)) => calls.push_back(call),
            None => self.turns.push((turn, VecDeque::from([call]))),
        }
    }

    /// Takes the first call of the last turn.
    fn take(&mut self) -> Option<(usize, Place)> {
        let (turn, calls) = self.turns.last_mut()?;
        let found = calls.pop_front().map(|call| (*turn, call));
        if calls.is_empty() {
            self.turns.pop();
        }
        found
    }
}

/// Returns the changes of each message, by its index.
fn plan(facts: &[Facts], api: Api, is_whole: bool) -> Map<usize, Change> {
    let mut open: Map<&str, Open> = Map::new();
    let mut others: Set<&str> = Set::new();
    // The calls that have a result, and where it has to be fetched from.
    let mut answered: Map<Place, Option<Place>> = Map::new();
    let mut changes: Map<usize, Change> = Map::new();
    // The turn of each message, the last message of the model in each turn, and the results without an id.
    let (mut turns, mut lasts, mut nameless) = (Vec::with_capacity(facts.len()), Map::new(), Map::new());
    let (mut turn, mut said) = (0, 0);
    // Since the model spoke last: whether it was answered, and whether with anything but results.
    let (mut has_reply, mut has_content) = (false, false);
    // Whether the model called when it spoke last.
    let mut has_calls = false;
    let written = Blocks::of(api);
    for (at, message) in facts.iter().enumerate() {
        let speaker = message.speaker;
        // In Chat Completions, results follow the message of the call. Anthropic joins messages of one role.
        turn += usize::from(match api {
            Api::OpenaiChat => speaker != Speaker::Tool,
            _ => speaker == Speaker::Model && (has_reply || has_calls && written.is_some_and(|written| !written.joins)),
        });
        if speaker == Speaker::Model {
            (has_reply, has_content, has_calls) = (false, false, !message.calls.is_empty());
            lasts.insert(turn, at);
        }
        turns.push(turn);
        for (place, (id, is_behind)) in message.results.iter().enumerate() {
            let stays = match open.get_mut(id.as_str()).and_then(Open::take) {
                Some((of, call)) => {
                    let is_first = written.is_some_and(|written| {
                        let is_in_time = !(written.is_first && has_content || !written.joins && has_reply);
                        speaker == Speaker::User && is_in_time && !is_behind
                    });
                    let stays = api == Api::OpenaiResponses || of == turn && (api == Api::OpenaiChat || is_first);
                    answered.insert(call, (!stays).then_some((at, place)));
                    stays
                }
                None => !is_whole || others.contains(id.as_str()),
            };
            if !stays {
                changes.entry(at).or_default().leaving.insert(place);
            }
        }
        if message.is_nameless {
            nameless.entry(turn).or_insert_with(VecDeque::new).push_back(at);
        }
        has_reply |= matches!(speaker, Speaker::User | Speaker::Tool);
        has_content |= speaker == Speaker::User && message.has_content;
        said += usize::from(speaker == Speaker::User && message.has_content);
        for (place, called) in message.calls.iter().enumerate() {
            open.entry(&called.key).or_default().add((at, place), turn, said);
        }
        others.extend(message.others.iter().map(String::as_str));
    }
    for (at, (message, turn)) in facts.iter().zip(&turns).enumerate() {
        let home = lasts.get(turn).copied().filter(|_| written.is_some()).unwrap_or(at);
        for (place, called) in message.calls.iter().enumerate() {
            let from = answered.get(&(at, place)).copied();
            if from == Some(None) {
                continue;
            }
            let result = nameless.get_mut(turn).filter(|_| from.is_none()).and_then(VecDeque::pop_front);
            match result {
                Some(result) => changes.entry(result).or_default().id = Some(called.key.clone()),
                None => {
                    let following = Following { called: called.clone(), call: at, from: from.flatten() };
                    changes.entry(home).or_default().following.push(following);
                }
            }
        }
    }
    changes
}

/// Applies the changes to a history.
fn rewrite<'a>(
    history: &mut Node<'a>,
    api: Api,
    (changes, speakers): (Map<usize, Change>, &[Speaker]),
    reported: &mut Vec<RequestChange>,
) -> Result<(), Error> {
    let Some(messages) = history.as_array_mut() else { return Ok(()) };
    let mut report = |at: usize, message: &str| {
        reported.push(RequestChange::new(format!("/{}/{at}", api.history()), &HISTORY_PAIRS, message));
    };
    let mut moved: Map<Place, Node<'a>> = Map::new();
    let mut emptied = Set::new();
    for (at, change) in changes.iter() {
        let Some(message) = messages.get_mut(*at) else { continue };
        if let Some(id) = &change.id {
            report(*at, "gave a result without an id that of its call");
            lazy::edit(message, |message| {
                message.set("tool_call_id", Node::string(id.clone()));
                Ok(())
            })?;
        }
        if change.leaving.is_empty() {
            continue;
        }
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
    let last = messages.len().saturating_sub(1);
    let written = Blocks::of(api);
    let mut settled = Settled { messages: Vec::with_capacity(messages.len()), has_begun: false };
    let mut pending: Vec<Node<'a>> = Vec::new();
    for (at, mut message) in core::mem::take(messages).into_iter().enumerate() {
        let speaker = speakers.get(at).copied().unwrap_or_default();
        let mut is_emptied = emptied.contains(&at);
        if !pending.is_empty() && (written.is_none() || speaker != Speaker::Other) {
            let results = core::mem::take(&mut pending);
            if let Some(written) = written.filter(|_| speaker == Speaker::User) {
                lazy::edit(&mut message, |message| {
                    join(message, results, written);
                    Ok(())
                })?;
                is_emptied = false;
            } else {
                settled.add(messages_of(results, api), Speaker::Tool);
            }
        }
        let following = changes.get(&at).map(|change| change.following.as_slice()).unwrap_or_default();
        let is_custom = !following.is_empty() && has_type(&*view(&message)?, "custom_tool_call");
        match is_emptied {
            false => settled.add(Vec::from([message]), speaker),
            // APIs with blocks want the user to begin.
            true if written.is_some() && !settled.has_begun => settled.add(no_content(message, api), Speaker::User),
            true if at == last && settled.ends_with_model(api)? => settled.add(no_content(message, api), Speaker::User),
            true => {}
        }
        for Following { called, call, from } in following {
            let given = from.and_then(|from| moved.remove(&from).map(|result| (from, result)));
            match given {
                Some(((from, _), result)) => {
                    report(from, MOVED);
                    pending.push(result);
                }
                None => {
                    report(*call, ADDED);
                    pending.push(no_result(called, api, is_custom));
                }
            }
        }
    }
    settled.add(messages_of(pending, api), Speaker::Tool);
    for ((at, _), _) in moved.iter() {
        report(*at, REMOVED);
    }
    *messages = settled.messages;
    Ok(())
}

/// The messages of the new history.
struct Settled<'a> {
    messages: Vec<Node<'a>>,
    /// True if the user or the model has spoken.
    has_begun: bool,
}

impl<'a> Settled<'a> {
    fn add(&mut self, messages: Vec<Node<'a>>, speaker: Speaker) {
        self.has_begun |= !messages.is_empty() && speaker != Speaker::Other;
        self.messages.extend(messages);
    }

    /// Returns true if nobody has spoken, or the model was the last.
    fn ends_with_model(&self, api: Api) -> Result<bool, Error> {
        let Some(last) = self.messages.last().filter(|_| self.has_begun) else { return Ok(true) };
        Ok(speaker(&*view(last)?, api) == Speaker::Model)
    }
}

/// Returns a message of the user in the place of one that has lost its results.
fn no_content(message: Node<'_>, api: Api) -> Vec<Node<'_>> {
    let mut message = message;
    if let Some(written) = Blocks::of(api) {
        message.set(written.list, Node::array(Vec::from([written.text(Text::from(NO_CONTENT))])));
    } else {
        message = Node::record([("role", Node::literal("user")), ("content", Node::literal(NO_CONTENT))]);
    }
    Vec::from([message])
}

/// Takes the results at these places out of a message.
fn take<'a>(message: &mut Node<'a>, api: Api, places: &Set<usize>) -> Vec<(usize, Node<'a>)> {
    let Some(written) = Blocks::of(api) else { return Vec::from([(0, core::mem::take(message))]) };
    let taken = message.visit(written.list, |content| {
        let Some(blocks) = content.as_array_mut() else { return Vec::new() };
        let (mut results, mut taken, mut staying) = (0, Vec::new(), Vec::new());
        for block in core::mem::take(blocks) {
            // The results that count are those with a key.
            let has_key = |result: &Node<'_>| {
                text(result, written.result_id).is_some() || written.is_named && text(result, "name").is_some()
            };
            let is_result = written.result(&block).is_some_and(has_key);
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
    match Blocks::of(api) {
        Some(written) => message.get(written.list).and_then(Node::as_array).is_some_and(<[Node<'_>]>::is_empty),
        None => message.is_null(),
    }
}

/// Puts results before the other content of a message.
fn join<'a>(message: &mut Node<'a>, results: Vec<Node<'a>>, written: &Blocks) {
    message.visit(written.list, |content| {
        let mut blocks = results;
        match core::mem::take(content).into_data() {
            Data::Array(own) => blocks.extend(own),
            Data::String(text) => {
                blocks.push(written.text(text));
            }
            _ => {}
        }
        *content = Node::array(blocks);
    });
}

/// Returns results as messages or items of their own.
fn messages_of(results: Vec<Node<'_>>, api: Api) -> Vec<Node<'_>> {
    match Blocks::of(api) {
        Some(written) if !results.is_empty() => {
            Vec::from([Node::record([("role", Node::literal("user")), (written.list, Node::array(results))])])
        }
        _ => results,
    }
}

/// Returns a result that says that there is none.
fn no_result<'a>(called: &Called, api: Api, is_custom: bool) -> Node<'a> {
    let id = Node::string(called.key.clone());
    let text = Node::literal(NO_RESULT);
    match api {
        Api::Bedrock => {
            let content = Node::array(Vec::from([Node::record([("text", text)])]));
            let error = ("status", Node::literal("error"));
            Node::record([("toolResult", Node::record([("toolUseId", id), ("content", content), error]))])
        }
        Api::Gemini => {
            let mut result = Node::empty_object();
            for (key, value) in &called.named {
                result.set(*key, Node::string(value.clone()));
            }
            result.set("response", Node::record([("error", text)]));
            Node::record([("functionResponse", result)])
        }
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
