//! Pairs the calls and results in a history. An API that finds a call without a result, or a result without a call,
//! refuses the request and every later request of the same conversation.
//!
//! Each result belongs to a call before it. A result that is too far from its call is moved to the call. A call without
//! a result gets a placeholder result, and a result without a call is removed.

use alloc::{collections::VecDeque, format, string::String, vec::Vec};

use crate::{
    collections::{Map, Set},
    dialect::requests::RequestFact,
    error::Error,
    json::{
        lazy::{self, view},
        Data, Flags, Node, Text,
    },
    options::Api,
    request::origins::MessageOrigin,
    tools::request_facts::RequestChange,
    wire::{
        self,
        turns::{AnsweredCall, Blocks, Results, Speaker, Turns},
        units::Role,
        Wire,
    },
};

const NO_RESULT: &str = "[No result]";
const ADDED_RESULT: &str = "added a result to a call without one";
const MOVED_RESULT: &str = "moved a result to its call";
const REMOVED_RESULT: &str = "removed a result without a call";
const JOINED_MESSAGES: &str = "merged two messages of the model, so that the results of both follow";
/// Content of a message that has lost its results, if a user message is required in its place.
const NO_CONTENT: &str = "[No content]";

/// The calls and results of one message or item.
#[derive(Default)]
struct Facts {
    speaker: Speaker,
    /// The calls that need a result.
    calls: Vec<PendingCall>,
    results: Vec<CallResult>,
    /// True for a result of Chat Completions without an id.
    lacks_id: bool,
    /// True if the message or item has content other than results.
    has_content: bool,
    /// Ids of calls whose results are always kept, for example calls of tools that the API runs.
    kept_ids: Vec<String>,
}

/// A call that needs a result, identified by its id, by its name (Gemini), or by both.
#[derive(Clone, Default)]
struct PendingCall {
    id: Option<String>,
    name: Option<String>,
    /// True if the tool has free-form input.
    is_custom: bool,
}

/// A result, which refers to its call by the id or (Gemini) by the name.
struct CallResult {
    id: Option<String>,
    name: Option<String>,
    /// True if other content of the message precedes the result although the API requires results first.
    follows_content: bool,
    /// Index of the result's block in the message, if the API uses content blocks.
    block: usize,
}

impl CallResult {
    fn of_id(id: String) -> CallResult {
        CallResult { id: Some(id), name: None, follows_content: false, block: 0 }
    }
}

#[derive(Default)]
struct Change {
    /// Indices of the result blocks to remove from the message.
    removed_blocks: Set<usize>,
    inserted_results: Vec<InsertedResult>,
    /// The id to set, if the message is a result without an id.
    id: Option<String>,
    /// True if the message is merged into the preceding message.
    is_joined: bool,
}

/// A result to insert after a message.
struct InsertedResult {
    pending_call: PendingCall,
    /// Index of the message with the call.
    call: usize,
    /// Index of the call among the calls of that message.
    index: usize,
    /// Position of the existing result in another message, if there is one.
    from: Option<BlockIndex>,
}

/// Index of a message, and index of a call among the message's calls or of a result among its blocks.
type BlockIndex = (usize, usize);

/// Returns the changes, and the origin of each message if any changed. Changes nothing for Gemini Interactions, for
/// which no rule about pairs is known. `fact` states the rule of the API.
pub(crate) fn complete_pairs(
    request: &mut Node<'_>,
    api: Api,
    fact: &'static RequestFact,
) -> Result<(Vec<RequestChange>, Vec<MessageOrigin>), Error> {
    let wire = wire::of(api);
    let unchanged = (Vec::new(), Vec::new());
    if matches!(wire.turns().results(), Results::Unknown) {
        return Ok(unchanged);
    }
    let is_whole = !wire::is_continued(request);
    let Some(messages) = request.array_at(wire.history()) else { return Ok(unchanged) };
    if !messages.iter().any(|message| lazy::may_hold(message, Flags::CALL | Flags::CHAT | Flags::RESULT)) {
        return Ok(unchanged);
    }
    let mut facts = Vec::with_capacity(messages.len());
    let mut has_reference = false;
    for message in messages {
        let message = view(message)?;
        has_reference |= wire.turns().is_stored(&message);
        facts.push(facts_of(&message, wire));
    }
    let (changes, calls_of_results) = plan_changes(&facts, wire.turns(), is_whole && !has_reference);
    if changes.is_empty() {
        return Ok(unchanged);
    }
    let mut reported = Vec::new();
    let speakers: Vec<Speaker> = facts.iter().map(|facts| facts.speaker).collect();
    let origins = request.visit(wire.history(), |history| {
        apply_changes(history, (wire, fact), (changes, &calls_of_results, &speakers), &mut reported)
    });
    Ok((reported, origins.transpose()?.unwrap_or_default()))
}

/// Returns a pointer to each message with an incomplete pair, and the expectation that it violates. Rewrites the
/// history, so the request must not be used afterwards.
pub(crate) fn find_broken(
    request: &mut Node<'_>,
    api: Api,
    fact: &'static RequestFact,
) -> Result<Vec<(String, &'static str)>, Error> {
    let (mut broken, mut reported) = (Vec::new(), Set::new());
    for RequestChange { pointer, message, .. } in complete_pairs(request, api, fact)?.0 {
        let expected = match message.as_str() {
            JOINED_MESSAGES => continue,
            ADDED_RESULT => "expected a result directly after each call, found a call without one",
            REMOVED_RESULT => "expected a call before each result, found a result without one",
            MOVED_RESULT => "expected a result directly after its call, found one elsewhere",
            _ => "expected a result with the id of its call, found one without an id",
        };
        // The changes of one message are not necessarily adjacent.
        if reported.insert((pointer.clone(), expected)) {
            broken.push((pointer, expected));
        }
    }
    Ok(broken)
}

fn facts_of(message: &Node<'_>, wire: &Wire) -> Facts {
    let turns = wire.turns();
    let speaker = turns.speaker(message);
    let mut facts = Facts { speaker, has_content: true, ..Facts::default() };
    let string = |text: Text<'_>| text.display().into_owned();
    let Some(blocks) = turns.blocks() else {
        let mut is_part = false;
        wire.parts(message, &mut |part| {
            is_part = true;
            let id = part.id().map(string);
            if part.role() == Role::Result {
                facts.lacks_id |= id.is_none() && part.has_ids() && matches!(turns.results(), Results::Following);
                facts.results.extend(id.map(CallResult::of_id));
            } else {
                let is_custom = part.is_custom();
                facts.calls.extend(id.map(|id| PendingCall { id: Some(id), name: None, is_custom }));
            }
        });
        if !is_part {
            facts.kept_ids.extend(turns.other_ids(message).into_iter().map(string));
        }
        return facts;
    };
    let content = message.get(blocks.list());
    facts.has_content = content.is_some_and(|content| content.as_text().is_some());
    let is_of_client = speaker != Speaker::Model || !blocks.is_hosted_by_model();
    // Number of blocks up to the last part.
    let mut count = 0;
    wire.parts(message, &mut |part| {
        let block = part.entry.unwrap_or_default();
        let is_result = part.role() == Role::Result && is_of_client;
        facts.has_content |= block > count || !is_result;
        count = block + 1;
        let id = part.id().map(string);
        let name = part.name().filter(|_| blocks.is_named()).map(string);
        if is_result {
            if id.is_some() || name.is_some() {
                let follows_content = blocks.is_first() && facts.has_content;
                facts.results.push(CallResult { id, name, follows_content, block });
            }
        } else if part.role() == Role::Call && (speaker != Speaker::Model || part.is_hosted()) {
            facts.kept_ids.extend(id);
        } else if part.role() == Role::Call && (id.is_some() || name.is_some()) {
            facts.calls.push(PendingCall { id, name, is_custom: false });
        }
    });
    facts.has_content |= content.and_then(Node::as_array).is_some_and(|blocks| blocks.len() > count);
    facts
}

#[derive(Clone, Copy)]
enum FromTurn {
    First,
    Last,
}

/// The calls with one id (or name) that have no result yet, grouped by the turn of the model that contains them.
#[derive(Default)]
struct UnansweredCalls {
    turns: VecDeque<(usize, VecDeque<BlockIndex>)>,
    /// Number of user messages with content before these calls.
    user_messages: usize,
}

impl UnansweredCalls {
    fn add(&mut self, call: BlockIndex, turn: usize, user_messages: usize) {
        if self.user_messages < user_messages {
            // Some backends restart the numbering of their ids in each reply.
            self.turns.clear();
            self.user_messages = user_messages;
        }
        match self.turns.back_mut().filter(|(last, _)| *last == turn) {
            Some((_, calls)) => calls.push_back(call),
            None => self.turns.push_back((turn, VecDeque::from([call]))),
        }
    }

    /// Removes and returns the first unanswered call of the first or the last turn that has one.
    fn take_call(
        &mut self,
        from_turn: FromTurn,
        answered: &Map<BlockIndex, Option<BlockIndex>>,
    ) -> Option<(usize, BlockIndex)> {
        loop {
            let at = match from_turn {
                FromTurn::First => 0,
                FromTurn::Last => self.turns.len().checked_sub(1)?,
            };
            let (turn, calls) = self.turns.get_mut(at)?;
            let call = calls.pop_front();
            let turn = *turn;
            if calls.is_empty() {
                self.turns.remove(at);
            }
            // A call is listed under its id and under its name, so it may already have its result under the other key.
            if let Some(call) = call.filter(|call| !answered.contains_key(call)) {
                return Some((turn, call));
            }
        }
    }
}

/// Returns the changes of each changed message, keyed by its index. Also returns the call of each result that has no id
/// and stays in its message.
fn plan_changes(facts: &[Facts], format: &Turns, is_whole: bool) -> (Map<usize, Change>, Map<BlockIndex, BlockIndex>) {
    // The calls without a result, keyed by their ids (`true`) and by their names (`false`).
    let mut unanswered_calls: Map<(bool, &str), UnansweredCalls> = Map::new();
    let mut kept_ids: Set<&str> = Set::new();
    // The calls that have a result, each with the position from which the result is moved; `None` if the result is not
    // moved.
    let mut answered: Map<BlockIndex, Option<BlockIndex>> = Map::new();
    let mut changes: Map<usize, Change> = Map::new();
    let mut calls_of_results: Map<BlockIndex, BlockIndex> = Map::new();
    // The turn of each message, the model's messages in each turn, and the results without an id in each turn.
    let (mut turns, mut model_messages, mut messages_without_id) =
        (Vec::with_capacity(facts.len()), Map::<usize, Vec<usize>>::new(), Map::new());
    let (mut turn, mut user_messages) = (0, 0);
    // The calls of the current turn, in order, and the number of calls at the beginning that have a result.
    let (mut calls_of_turn, mut answered_first): (Vec<BlockIndex>, usize) = (Vec::new(), 0);
    // `has_reply`: a reply follows the model's last message. `has_content`: the reply has content other than results.
    let (mut has_reply, mut has_content) = (false, false);
    let block_format = format.blocks();
    for (at, message) in facts.iter().enumerate() {
        let speaker = message.speaker;
        // If results directly follow the calls, each message and its results form a turn. Otherwise, a turn begins with
        // the model's first message after a reply.
        let is_new_turn = match format.results() {
            Results::Following => speaker != Speaker::Tool,
            _ => speaker == Speaker::Model && has_reply,
        };
        if is_new_turn {
            turn += 1;
            calls_of_turn.clear();
            answered_first = 0;
        }
        if speaker == Speaker::Model {
            (has_reply, has_content) = (false, false);
            model_messages.entry(turn).or_default().push(at);
        }
        turns.push(turn);
        let is_in_time = block_format.is_some_and(|block_format| {
            speaker == Speaker::User && !(block_format.is_first() && has_content || !block_format.joins() && has_reply)
        });
        // A result belongs to the call with its id. If no result has an id and there are as many results as calls, the
        // results belong to the calls in order. Otherwise, a result without a matching id belongs to the first call
        // with its name. If no call has its name, the result belongs to the first remaining call of the turn, even in a
        // later message.
        let has_ids = message.results.iter().any(|result| result.id.is_some());
        let unanswered: Vec<BlockIndex> = match is_in_time && !has_ids && !message.results.is_empty() {
            true => calls_of_turn.iter().copied().filter(|call| !answered.contains_key(call)).collect(),
            false => Vec::new(),
        };
        let is_in_order = !unanswered.is_empty() && unanswered.len() == message.results.len();
        let mut named_results: Vec<&CallResult> = Vec::new();
        let mut assign_call = |result: &CallResult,
                               call: Option<(usize, BlockIndex)>,
                               answered: &mut Map<BlockIndex, Option<BlockIndex>>| {
            let stays = match call {
                Some((call_turn, call)) => {
                    let stays = match format.results() {
                        Results::Anywhere => true,
                        Results::Following => call_turn == turn,
                        _ => call_turn == turn && is_in_time && !result.follows_content,
                    };
                    answered.insert(call, (!stays).then_some((at, result.block)));
                    if stays && result.id.is_none() {
                        calls_of_results.insert((at, result.block), call);
                    }
                    stays
                }
                None => !is_whole || result.id.as_deref().is_some_and(|id| kept_ids.contains(id)),
            };
            if !stays {
                changes.entry(at).or_default().removed_blocks.insert(result.block);
            }
        };
        for (result, call) in message.results.iter().zip(&unanswered).filter(|_| is_in_order) {
            assign_call(result, Some((turn, *call)), &mut answered);
        }
        for result in message.results.iter().filter(|_| !is_in_order) {
            let by_id = result
                .id
                .as_deref()
                .and_then(|id| unanswered_calls.get_mut(&(true, id))?.take_call(FromTurn::Last, &answered));
            match by_id {
                None if result.name.is_some() => named_results.push(result),
                call => assign_call(result, call, &mut answered),
            }
        }
        let mut remaining_results: Vec<&CallResult> = Vec::new();
        for result in named_results {
            let name = result.name.as_deref().unwrap_or_default();
            match unanswered_calls.get_mut(&(false, name)).and_then(|calls| calls.take_call(FromTurn::First, &answered))
            {
                None if result.id.is_none() => remaining_results.push(result),
                call => assign_call(result, call, &mut answered),
            }
        }
        for result in remaining_results {
            while calls_of_turn.get(answered_first).is_some_and(|call| answered.contains_key(call)) {
                answered_first += 1;
            }
            let call = calls_of_turn.get(answered_first).copied();
            assign_call(result, call.map(|call| (turn, call)), &mut answered);
        }
        if message.lacks_id {
            messages_without_id.entry(turn).or_insert_with(VecDeque::new).push_back(at);
        }
        has_reply |= matches!(speaker, Speaker::User | Speaker::Tool);
        has_content |= speaker == Speaker::User && message.has_content;
        user_messages += usize::from(speaker == Speaker::User && message.has_content);
        for (index, pending_call) in message.calls.iter().enumerate() {
            calls_of_turn.push((at, index));
            let keys = [(true, pending_call.id.as_deref()), (false, pending_call.name.as_deref())];
            for (is_id, key) in keys {
                if let Some(key) = key {
                    unanswered_calls.entry((is_id, key)).or_default().add((at, index), turn, user_messages);
                }
            }
        }
        kept_ids.extend(message.kept_ids.iter().map(String::as_str));
    }
    for (at, (message, turn)) in facts.iter().zip(&turns).enumerate() {
        let messages_of_turn = model_messages.get(turn).filter(|_| block_format.is_some());
        let target = messages_of_turn.and_then(|messages| messages.last()).copied().unwrap_or(at);
        for (index, pending_call) in message.calls.iter().enumerate() {
            let from = answered.get(&(at, index)).copied();
            if from == Some(None) {
                continue;
            }
            let result = messages_without_id.get_mut(turn).filter(|_| from.is_none()).and_then(VecDeque::pop_front);
            match result {
                Some(result) => changes.entry(result).or_default().id.clone_from(&pending_call.id),
                None => {
                    let inserted_results =
                        InsertedResult { pending_call: pending_call.clone(), call: at, index, from: from.flatten() };
                    changes.entry(target).or_default().inserted_results.push(inserted_results);
                    // The API requires all results in the message after the calls, and does not merge messages of one
                    // role. Therefore, consecutive messages of the model are merged here.
                    let is_split = block_format.is_some_and(|block_format| !block_format.joins());
                    if let Some(messages) = messages_of_turn.filter(|_| is_split && !is_joined(&changes, target)) {
                        let is_adjacent =
                            messages.windows(2).all(|pair| matches!(pair, [left, right] if left + 1 == *right));
                        for later in messages.iter().skip(1).filter(|_| is_adjacent) {
                            changes.entry(*later).or_default().is_joined = true;
                        }
                    }
                }
            }
        }
    }
    (changes, calls_of_results)
}

fn is_joined(changes: &Map<usize, Change>, at: usize) -> bool {
    changes.get(&at).is_some_and(|change| change.is_joined)
}

fn apply_changes<'a>(
    history: &mut Node<'a>,
    (wire, fact): (&Wire, &'static RequestFact),
    (changes, calls_of_results, speakers): (Map<usize, Change>, &Map<BlockIndex, BlockIndex>, &[Speaker]),
    reported: &mut Vec<RequestChange>,
) -> Result<Vec<MessageOrigin>, Error> {
    let Some(messages) = history.as_array_mut() else { return Ok(Vec::new()) };
    let mut report = |at: usize, message: &str| {
        reported.push(RequestChange::new(format!("/{}/{at}", wire.history()), fact, message));
    };
    let turns = wire.turns();
    let mut removed_results: Map<BlockIndex, Node<'a>> = Map::new();
    let mut emptied = Set::new();
    for (at, change) in changes.iter() {
        let Some(message) = messages.get_mut(*at) else { continue };
        if let Some(id) = &change.id {
            report(*at, "gave a result without an id the id of its call");
            lazy::edit(message, |message| {
                wire.set_result_id(message, id);
                Ok(())
            })?;
        }
        if change.removed_blocks.is_empty() {
            continue;
        }
        lazy::edit(message, |message| {
            for (index, result) in take_blocks(message, turns, &change.removed_blocks) {
                removed_results.insert((*at, index), result);
            }
            if is_empty(message, turns) {
                emptied.insert(*at);
            }
            Ok(())
        })?;
    }
    let last = messages.len().saturating_sub(1);
    // If the API does not merge messages of one role, the roles have to alternate.
    let block_format = turns.blocks();
    let separates = |at: usize| {
        block_format.is_some_and(|block_format| !block_format.joins()) && speakers.get(at + 1) == Some(&Speaker::Model)
    };
    let count = messages.len();
    let mut completed =
        Completed { messages: Vec::with_capacity(count), origins: Vec::with_capacity(count), has_begun: false };
    // Results, each with its call.
    let mut pending: Vec<(BlockIndex, Node<'a>)> = Vec::new();
    for (at, mut message) in core::mem::take(messages).into_iter().enumerate() {
        let speaker = speakers.get(at).copied().unwrap_or_default();
        let mut is_emptied = emptied.contains(&at);
        let is_changed = changes.get(&at).is_some_and(|change| !change.removed_blocks.is_empty());
        let mut origin = if is_changed { MessageOrigin::Changed(at) } else { MessageOrigin::Same(at) };
        if !pending.is_empty() && (block_format.is_none() || speaker != Speaker::Other) {
            let results = core::mem::take(&mut pending);
            if block_format.is_some() && speaker == Speaker::User {
                let removed_blocks = changes.get(&at).map(|change| &change.removed_blocks);
                let kept =
                    (0..).filter(|block| !removed_blocks.is_some_and(|removed_blocks| removed_blocks.contains(block)));
                let calls = kept.map(|block| calls_of_results.get(&(at, block)).copied());
                lazy::edit(&mut message, |message| {
                    insert_results(message, results, calls, turns);
                    Ok(())
                })?;
                (is_emptied, origin) = (false, MessageOrigin::Changed(at));
            } else {
                completed.add_messages(messages_of(results, turns), MessageOrigin::Added, Speaker::Tool);
            }
        }
        let inserted_results = changes.get(&at).map(|change| change.inserted_results.as_slice()).unwrap_or_default();
        if let (true, Some(block_format)) = (is_joined(&changes, at), block_format) {
            report(at, JOINED_MESSAGES);
            completed.merge_into_last(message, block_format)?;
        } else {
            match is_emptied {
                false => completed.add_messages(Vec::from([message]), origin, speaker),
                // APIs with content blocks require the first message to be the user's.
                true if block_format.is_some() && !completed.has_begun => {
                    completed.add_messages(placeholder_message(message, turns), origin, Speaker::User)
                }
                true if (at == last || separates(at)) && completed.ends_with_model(turns)? => {
                    completed.add_messages(placeholder_message(message, turns), origin, Speaker::User)
                }
                true => {}
            }
        }
        for InsertedResult { pending_call, call, index, from } in inserted_results {
            let existing = from.and_then(|from| removed_results.remove(&from).map(|result| (from, result)));
            match existing {
                Some(((from, _), result)) => {
                    report(from, MOVED_RESULT);
                    pending.push(((*call, *index), result));
                }
                None => {
                    report(*call, ADDED_RESULT);
                    pending.push(((*call, *index), placeholder_result(pending_call, turns)));
                }
            }
        }
    }
    completed.add_messages(messages_of(pending, turns), MessageOrigin::Added, Speaker::Tool);
    for ((at, _), _) in removed_results.iter() {
        report(*at, REMOVED_RESULT);
    }
    *messages = completed.messages;
    Ok(completed.origins)
}

struct Completed<'a> {
    messages: Vec<Node<'a>>,
    origins: Vec<MessageOrigin>,
    /// True if there is a message of the user, the model or a tool.
    has_begun: bool,
}

impl<'a> Completed<'a> {
    fn add_messages(&mut self, messages: Vec<Node<'a>>, origin: MessageOrigin, speaker: Speaker) {
        self.has_begun |= !messages.is_empty() && speaker != Speaker::Other;
        self.origins.extend(messages.iter().map(|_| origin));
        self.messages.extend(messages);
    }

    fn merge_into_last(&mut self, message: Node<'a>, block_format: &Blocks) -> Result<(), Error> {
        let Some(last) = self.messages.last_mut() else { return Ok(()) };
        if let Some(origin) = self.origins.last_mut() {
            *origin = origin.changed();
        }
        let mut message = message;
        let mut blocks = None;
        lazy::edit(&mut message, |message| {
            blocks = message.visit(block_format.list(), core::mem::take);
            Ok(())
        })?;
        let Some(Data::Array(blocks)) = blocks.map(Node::into_data) else { return Ok(()) };
        lazy::edit(last, |last| {
            last.visit(block_format.list(), |list| list.as_array_mut().map(|list| list.extend(blocks)));
            Ok(())
        })
    }

    fn ends_with_model(&self, turns: &Turns) -> Result<bool, Error> {
        let Some(last) = self.messages.last().filter(|_| self.has_begun) else { return Ok(true) };
        Ok(turns.speaker(&*view(last)?) == Speaker::Model)
    }
}

fn placeholder_message<'a>(message: Node<'a>, turns: &Turns) -> Vec<Node<'a>> {
    let mut message = message;
    if let Some(block_format) = turns.blocks() {
        message.set("role", Node::literal("user"));
        message.set(block_format.list(), Node::array(Vec::from([turns.text(Text::from(NO_CONTENT))])));
    } else {
        message = Node::record([("role", Node::literal("user")), ("content", Node::literal(NO_CONTENT))]);
    }
    Vec::from([message])
}

fn take_blocks<'a>(message: &mut Node<'a>, turns: &Turns, indices: &Set<usize>) -> Vec<(usize, Node<'a>)> {
    let Some(block_format) = turns.blocks() else { return Vec::from([(0, core::mem::take(message))]) };
    let taken = message.visit(block_format.list(), |content| {
        let Some(blocks) = content.as_array_mut() else { return Vec::new() };
        let (mut taken, mut calls_of_results) = (Vec::new(), Vec::new());
        for (at, block) in core::mem::take(blocks).into_iter().enumerate() {
            match indices.contains(&at) {
                true => taken.push((at, block)),
                false => calls_of_results.push(block),
            }
        }
        *blocks = calls_of_results;
        taken
    });
    taken.unwrap_or_default()
}

fn is_empty(message: &Node<'_>, turns: &Turns) -> bool {
    match turns.blocks() {
        Some(block_format) => {
            let blocks = message.array_at(block_format.list());
            blocks.is_some_and(|blocks| !blocks.iter().any(|block| block_format.is_content(block)))
        }
        None => message.is_null(),
    }
}

/// Inserts results, each with its call, before the other content of a message. `calls` returns the call of each block
/// that is a result without an id. Such results have the order of their calls, because an API can pair them only by
/// their order.
fn insert_results<'a>(
    message: &mut Node<'a>,
    results: Vec<(BlockIndex, Node<'a>)>,
    calls: impl Iterator<Item = Option<BlockIndex>>,
    turns: &Turns,
) {
    let Some(block_format) = turns.blocks() else { return };
    message.visit(block_format.list(), |content| {
        let mut blocks = Vec::with_capacity(results.len());
        let mut results = results.into_iter().peekable();
        let content_data = core::mem::take(content).into_data();
        let calls: Vec<Option<BlockIndex>> = match &content_data {
            Data::Array(content_data) => calls.take(content_data.len()).collect(),
            _ => Vec::new(),
        };
        let last = calls.iter().rposition(Option::is_some);
        if last.is_none() {
            blocks.extend(results.by_ref().map(|(_, result)| result));
        }
        match content_data {
            Data::Array(content_data) => {
                for (at, (block, call)) in content_data.into_iter().zip(calls).enumerate() {
                    while let Some((_, result)) = results.next_if(|(of, _)| call.is_some_and(|call| *of < call)) {
                        blocks.push(result);
                    }
                    blocks.push(block);
                    if last == Some(at) {
                        blocks.extend(results.by_ref().map(|(_, result)| result));
                    }
                }
            }
            Data::String(text) => {
                blocks.push(turns.text(text));
            }
            _ => {}
        }
        *content = Node::array(blocks);
    });
}

fn messages_of<'a>(results: Vec<(BlockIndex, Node<'a>)>, turns: &Turns) -> Vec<Node<'a>> {
    let results: Vec<Node<'a>> = results.into_iter().map(|(_, result)| result).collect();
    match turns.blocks() {
        Some(_) if !results.is_empty() => Vec::from([turns.user_message(results)]),
        _ => results,
    }
}

fn placeholder_result<'a>(pending_call: &PendingCall, turns: &Turns) -> Node<'a> {
    let PendingCall { id, name, is_custom } = pending_call.clone();
    turns.result(AnsweredCall { id, name, text: Node::literal(NO_RESULT), is_custom })
}
