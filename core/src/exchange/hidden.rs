//! Answers the model's searches without the client, for APIs whose replies cannot represent a search that the client
//! did not make: OpenAI's formats, Gemini and Gemini Interactions. Calls and items of a streamed reply are
//! assembled from their pieces, and stored for the request that asks the model again.
//!
//! Calls to the search are removed from the reply and answered here, and the model is asked again. The client receives
//! the output of all rounds without the searches. Its history contains no search, so a tool that was found stays loaded
//! only if the model calls it.

use alloc::{string::String, vec::Vec};

use super::{is, searches::Searches, usage};
use crate::{
    collections::Map,
    error::Error,
    json::{
        self,
        lazy::{self, view},
        Data, Node, Text,
    },
    limits::MAX_HELD_BYTES,
    options::Api,
    request::tool::type_of,
    tools::streams::unnumbered::Unnumbered,
    wire,
};

/// State for asking the model again after a search that the client does not see.
#[derive(Debug)]
pub(super) struct HiddenLoop {
    pub(super) api: Api,
    searches: Searches,
    /// The client's request.
    pub(super) client_request: String,
    /// Number of times that the model may still be asked again.
    left: usize,
    /// Messages that the next request appends to the client's: the model's answers, and the results of its searches.
    turns: Vec<Node<'static>>,
    /// Output items, parts or steps of earlier rounds that the client receives.
    pub(super) shown: Vec<Node<'static>>,
    /// Text of earlier rounds that the client receives in Chat Completions.
    text: String,
    /// Number of stored bytes of replies, over all rounds.
    pub(super) stored_bytes: usize,
    /// Token usage of the previous rounds.
    pub(super) used: Option<Node<'static>>,
    /// The state of the current round's stream.
    pub(super) round: Round,
    /// True if this round ended with a search, so the model must be asked again.
    pub(super) again: bool,
    /// True if this round contains the structured output.
    pub(super) is_answered: bool,
}

/// Separator between the text of two rounds.
pub(super) const BREAK: &str = "\n\n";

/// Returns true if searches can be hidden in the replies to a request.
pub(super) fn can_hide(request: &Node<'_>, api: Api) -> Result<bool, Error> {
    let value = |key: &str| request.get(key).map(view).transpose();
    let is_given = |key: &str| Ok::<_, Error>(value(key)?.is_some_and(|value| !value.is_null()));
    let is_true = |key: &str| Ok::<_, Error>(value(key)?.is_some_and(|value| value.as_bool() == Some(true)));
    Ok(match api {
        // Each choice would need its own conversation.
        Api::OpenaiChat => value("n")?.is_none_or(|count| count.as_u64().is_none_or(|count| count <= 1)),
        // The API stores the history, or replies later.
        Api::OpenaiResponses => !is_given("conversation")? && !is_true("background")?,
        Api::GeminiInteractions => !is_true("background")?,
        Api::Gemini => true,
        _ => false,
    })
}

/// Returns the calls in a non-streamed reply of Chat Completions, or the items, parts or steps of another API.
fn units<'n, 'a>(reply: &'n Node<'a>, api: Api) -> Option<&'n [Node<'a>]> {
    let first = |key: &str| reply.get(key)?.as_array()?.first();
    match api {
        Api::OpenaiChat => first("choices")?.get("message")?.get("tool_calls")?.as_array(),
        Api::Gemini => first("candidates")?.get("content")?.get("parts")?.as_array(),
        Api::GeminiInteractions => reply.get("steps")?.as_array(),
        _ => reply.get("output")?.as_array(),
    }
}

/// Returns true for a call that the client must answer.
pub(super) fn is_call(unit: &Node<'_>, api: Api) -> bool {
    const ITEMS: [&str; 9] = [
        "function_call",
        "custom_tool_call",
        "tool_search_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
        "computer_call",
        "mcp_approval_request",
        "program_call",
    ];
    match api {
        Api::OpenaiChat => true,
        Api::Gemini => unit.get("functionCall").is_some() || unit.get("function_call").is_some(),
        Api::GeminiInteractions => is(unit, "function_call"),
        _ => ITEMS.iter().any(|kind| is(unit, kind)),
    }
}

/// Returns true for a reasoning item, which belongs to the item after it.
pub(super) fn is_reasoning(unit: &Node<'_>) -> bool {
    is(unit, "reasoning") || is(unit, "thought")
}

impl HiddenLoop {
    pub(super) fn new(api: Api, searches: Searches, body: &str, rounds: usize) -> HiddenLoop {
        HiddenLoop {
            api,
            searches,
            client_request: body.into(),
            left: rounds,
            turns: Vec::new(),
            shown: Vec::new(),
            text: String::new(),
            stored_bytes: 0,
            used: None,
            round: Round::default(),
            again: false,
            is_answered: false,
        }
    }

    pub(super) fn is_search(&self, unit: &Node<'_>) -> bool {
        self.searches.is_call(unit)
    }

    /// Returns true after the first round.
    pub(super) fn continues(&self) -> bool {
        !self.turns.is_empty()
    }

    /// Decides whether to ask the model again. `searched` is true if the round had a search, `called` if it had a call
    /// of one of the client's tools.
    pub(super) fn decide(&mut self, (searched, called): (bool, bool), ended: bool) -> bool {
        // The client answers calls to its own tools and sends the next request itself.
        self.again =
            searched && !called && !self.is_answered && ended && self.left > 0 && self.stored_bytes <= MAX_HELD_BYTES;
        self.left -= usize::from(self.again);
        self.again
    }

    /// Appends the model's answer and the results of its searches to the next request.
    ///
    /// # Errors
    /// The errors of the searches.
    pub(super) fn answer(&mut self, model_answer: Vec<Node<'static>>, units: &[Node<'static>]) -> Result<(), Error> {
        let mut answers = Vec::new();
        for unit in units {
            if self.searches.is_call(unit) {
                answers.push(self.searches.answer(unit, &self.client_request)?);
            }
        }
        self.stored_bytes =
            answers.iter().fold(self.stored_bytes, |bytes, answer| bytes.saturating_add(json::length(answer)));
        self.turns.extend(model_answer);
        if self.api == Api::Gemini {
            answers = [Node::record([("role", Node::literal("user")), ("parts", Node::array(answers))])].into();
        }
        self.turns.append(&mut answers);
        Ok(())
    }

    /// Returns the items for the client: without searches, and without the reasoning before a search.
    pub(super) fn without_searches(&self, units: &[Node<'static>]) -> Vec<Node<'static>> {
        let mut kept: Vec<Node<'static>> = Vec::with_capacity(units.len());
        for unit in units {
            if !self.is_search(unit) {
                kept.push(unit.clone());
                continue;
            }
            while kept.last().is_some_and(is_reasoning) {
                kept.pop();
            }
        }
        kept
    }

    /// Removes the searches from a non-streamed reply, and adds the output of earlier rounds.
    ///
    /// # Errors
    /// The errors of the searches.
    pub(super) fn reply(&mut self, reply: &mut Node<'_>) -> Result<(), Error> {
        let api = self.api;
        let own: Vec<Node<'static>> = units(reply, api).unwrap_or_default().iter().map(Node::detached).collect();
        let searched = own.iter().any(|unit| self.is_search(unit));
        if !searched && !self.continues() {
            return Ok(());
        }
        let called = own.iter().any(|unit| is_call(unit, api) && !self.is_search(unit));
        self.stored_bytes = self.stored_bytes.saturating_add(json::length(reply));
        let used = usage::total(self.used.as_ref(), reply.get(wire::of(api).reply().usage()));
        let first = |key: &str| reply.array_at(key).and_then(<[Node<'_>]>::first);
        let is_one_of = |reason: Option<&Node<'_>>, all: &[&str]| {
            reason.is_none_or(|reason| reason.is_null() || all.iter().any(|one| reason.is_text(one)))
        };
        let ended = match api {
            Api::OpenaiChat => is_one_of(first("choices").and_then(|choice| choice.get("finish_reason")), CHAT_ENDS),
            Api::Gemini => is_one_of(first("candidates").and_then(|one| one.get("finishReason")), GEMINI_ENDS),
            _ => is_one_of(reply.get("status"), STATUSES),
        };
        if self.decide((searched, called), ended) {
            let model_answer = match api {
                Api::OpenaiChat => first("choices").and_then(|choice| choice.get("message")).map(Node::detached),
                Api::Gemini => first("candidates").and_then(|one| one.get("content")).map(as_model),
                _ => None,
            };
            let text =
                model_answer.as_ref().filter(|_| api == Api::OpenaiChat).and_then(|one| one.get("content")?.as_text());
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                let text = text.display().into_owned();
                self.text = joined(&self.text, &text);
            }
            self.shown.extend(self.without_searches(&own));
            self.used = used;
            let model_answer = model_answer.map_or_else(|| own.clone(), |one| [one].into());
            return self.answer(model_answer, &own);
        }
        if self.is_answered {
            // Clients read the whole text as the answer, so other text is removed.
            self.text = String::new();
            self.shown.retain(|unit| !is(unit, "message") && !is(unit, "model_output") && unit.get("text").is_none());
        }
        let kept = self.without_searches(&own);
        let is_emptied = searched && !called;
        match api {
            Api::OpenaiChat => {
                let text = &self.text;
                edit_first(reply, "choices", |choice| {
                    choice.visit("message", |message| {
                        match kept.is_empty() {
                            true => drop(message.remove("tool_calls")),
                            false => message.set("tool_calls", Node::array(kept)),
                        }
                        let own = message.text_at("content").map(Text::display);
                        let whole = joined(text, own.as_deref().unwrap_or_default());
                        if !text.is_empty() {
                            message.set("content", Node::string(whole));
                        }
                    });
                    if is_emptied && choice.get("finish_reason").is_some_and(|reason| reason.is_text("tool_calls")) {
                        choice.set("finish_reason", Node::literal("stop"));
                    }
                });
            }
            Api::Gemini => {
                let parts = self.shown.iter().cloned().chain(kept).collect();
                edit_first(reply, "candidates", |candidate| {
                    candidate.visit("content", |content| content.set("parts", Node::array(parts)));
                });
            }
            _ => self.finish_items(reply, kept, is_emptied),
        }
        if let Some(used) = used {
            reply.set(wire::of(api).reply().usage(), used);
        }
        Ok(())
    }

    /// Completes the list of items in a response, or of steps in an interaction.
    pub(super) fn finish_items(&self, reply: &mut Node<'_>, kept: Vec<Node<'static>>, is_emptied: bool) {
        let key = if self.api == Api::GeminiInteractions { "steps" } else { "output" };
        if reply.get(key).is_some() {
            reply.set(key, Node::array(self.shown.iter().cloned().chain(kept).collect()));
        }
        if is_emptied && reply.get("status").is_some_and(|status| status.is_text("requires_action")) {
            reply.set("status", Node::literal("completed"));
        }
    }

    /// Returns the next request before it is adapted: the client's request, the model's answers so far, and the results
    /// of its searches.
    ///
    /// # Errors
    /// `invalid-json`.
    pub(super) fn next_request(&self) -> Result<Node<'_>, Error> {
        let mut request = crate::request::read(&self.client_request)?;
        let key = wire::of(self.api).history();
        let history = lazy::take(&mut request, key)?.unwrap_or_default();
        let mut list = self.as_list(history)?;
        list.extend(self.turns.iter().cloned());
        request.set(key, Node::array(list));
        Ok(request)
    }

    /// Returns a history as a list of messages. Some APIs accept a string or a content as the user's message.
    fn as_list<'a>(&self, history: Node<'a>) -> Result<Vec<Node<'a>>, Error> {
        let text = |text: Node<'a>| Node::record([("type", Node::literal("text")), ("text", text)]);
        let input = |content: Vec<Node<'a>>| {
            Vec::from([Node::record([("type", Node::literal("user_input")), ("content", Node::array(content))])])
        };
        let user = |key: &'static str, content: Node<'a>| {
            Vec::from([Node::record([("role", Node::literal("user")), (key, content)])])
        };
        let is_content = |node: &Node<'a>| {
            let kinds = ["text", "image", "audio", "document", "video"];
            Ok::<_, Error>(kinds.iter().any(|kind| view(node).is_ok_and(|node| is(&node, kind))))
        };
        let is_interactions = self.api == Api::GeminiInteractions;
        Ok(match history.into_data() {
            Data::Array(items) => match items.first() {
                Some(first) if is_interactions && is_content(first)? => input(items),
                _ => items,
            },
            Data::String(string) if is_interactions => input([text(Node::new(Data::String(string)))].into()),
            Data::Object(one) if is_interactions && type_of(&Node::new(Data::Object(one.clone()))).is_some() => {
                input([Node::new(Data::Object(one))].into())
            }
            Data::Object(one) => [Node::new(Data::Object(one))].into(),
            Data::String(string) if self.api == Api::Gemini => {
                let part = Node::record([("text", Node::new(Data::String(string)))]);
                user("parts", Node::array([part].into()))
            }
            Data::String(string) => user("content", Node::new(Data::String(string))),
            _ => Vec::new(),
        })
    }
}

/// Finish reasons after which the model may be asked again.
pub(super) const CHAT_ENDS: &[&str] = &["tool_calls", "stop", "function_call"];
pub(super) const GEMINI_ENDS: &[&str] = &["STOP"];
pub(super) const STATUSES: &[&str] = &["completed", "requires_action"];

/// Returns a Gemini content with the role `model`, which some backends omit.
fn as_model(content: &Node<'_>) -> Node<'static> {
    let mut content = content.detached();
    if content.get("role").is_none() {
        content.set("role", Node::literal("model"));
    }
    content
}

fn joined(one: &str, other: &str) -> String {
    let mut whole = String::from(one);
    if !one.is_empty() && !other.is_empty() {
        whole.push_str(BREAK);
    }
    whole.push_str(other);
    whole
}

/// Edits the first entry of a list.
pub(super) fn edit_first<'a, R>(
    holder: &mut Node<'a>,
    key: &'static str,
    edit: impl FnOnce(&mut Node<'a>) -> R,
) -> Option<R> {
    holder.visit(key, |list| list.as_array_mut().and_then(|list| list.first_mut()).map(edit)).flatten()
}

/// The state of one round of a streamed reply.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// The assistant message of Chat Completions.
    pub(super) message: Pieces,
    /// The calls of Chat Completions.
    pub(super) calls: Vec<Pieces>,
    /// The steps of Gemini Interactions.
    pub(super) steps: Vec<Step>,
    /// The parts of Gemini, or the items of Responses.
    pub(super) units: Vec<Node<'static>>,
    /// The calls of Chat Completions without an index.
    pub(super) unnumbered: Unnumbered,
    /// Delivery of the last call of Chat Completions without an index whose number could not be stored.
    pub(super) last_above_limit: Option<Delivery>,
    /// Delivery of each call or item, by the backend's index, with its position in the lists above.
    pub(super) deliveries: Map<u64, (Delivery, usize)>,
    /// Buffered reasoning events.
    pub(super) buffered: Vec<Node<'static>>,
    /// Number of calls or items that the client has received, over all rounds.
    pub(super) passed: u64,
    pub(super) searched: bool,
    pub(super) called: bool,
    /// True if the end of the round was processed.
    pub(super) stopped: bool,
    /// True if the client has received text of this round.
    pub(super) spoke: bool,
    /// True if the client has received text of an earlier round.
    pub(super) spoke_before: bool,
    pub(super) used: Option<Node<'static>>,
    /// The id of the first round's reply.
    pub(super) id: Option<Node<'static>>,
    /// The sequence number of the next event of Responses.
    pub(super) sequence: Option<u64>,
}

/// Delivery of a call or an item: whether the client receives it, and at which index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// The client receives it with this index.
    Shown(u64),
    Search,
    /// Reasoning; the next item decides whether the client receives it.
    Buffered,
}

/// An object that arrives in pieces: strings are concatenated, and lists are extended.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    members: Vec<(Text<'static>, Piece)>,
    places: Map<Text<'static>, usize>,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    List(Vec<Node<'static>>),
    Object(Pieces),
    Value(Node<'static>),
}

impl Pieces {
    pub(super) fn add(&mut self, object: &Node<'static>, except: &[&str]) {
        for member in object.as_object().into_iter().flatten() {
            if except.iter().any(|key| member.key.is(key)) || member.value.is_null() {
                continue;
            }
            let place = *self.places.entry(member.key.clone()).or_insert(self.members.len());
            let Some((key, known)) = self.members.get_mut(place) else {
                self.members.push((member.key.clone(), Piece::of(&member.value)));
                continue;
            };
            // Some backends repeat the name of a call in each piece.
            let is_name = ["id", "type", "name"].iter().any(|name| key.is(name));
            match (known, member.value.data()) {
                (Piece::Text(_), _) if is_name => {}
                (Piece::Text(text), Data::String(more)) => text.push_str(&more.display()),
                (Piece::List(list), Data::Array(more)) => list.extend(more.iter().cloned()),
                (Piece::Object(inner), Data::Object(_)) => inner.add(&member.value, &[]),
                (known, _) => *known = Piece::of(&member.value),
            }
        }
    }

    pub(super) fn whole(self) -> Node<'static> {
        Node::object(self.members.into_iter().map(|(key, piece)| (key, piece.whole())).collect())
    }
}

impl Piece {
    fn of(value: &Node<'static>) -> Piece {
        match value.data() {
            Data::String(text) => Piece::Text(text.display().into_owned()),
            Data::Array(list) => Piece::List(list.clone()),
            Data::Object(_) => {
                let mut inner = Pieces::default();
                inner.add(value, &[]);
                Piece::Object(inner)
            }
            _ => Piece::Value(value.clone()),
        }
    }

    fn whole(self) -> Node<'static> {
        match self {
            Piece::Text(text) => Node::string(text),
            Piece::List(list) => Node::array(list),
            Piece::Object(inner) => inner.whole(),
            Piece::Value(value) => value,
        }
    }
}

/// A step of Gemini Interactions that arrives in pieces.
#[derive(Debug, Default)]
pub(super) struct Step {
    pub(super) node: Node<'static>,
    arguments: String,
    /// The text at the end of the content.
    text: String,
}

impl Step {
    pub(super) fn new(node: Node<'static>) -> Step {
        Step { node, ..Step::default() }
    }

    pub(super) fn add(&mut self, delta: &Node<'_>) {
        let text = |key: &str| delta.text_at(key).map(Text::display).unwrap_or_default();
        let value = |key: &str| delta.get(key).map(Node::detached).unwrap_or_default();
        if is(delta, "arguments_delta") {
            self.arguments.push_str(&text("arguments"));
        } else if is(delta, "thought_signature") {
            self.node.set("signature", value("signature"));
        } else if is(delta, "thought_summary") {
            self.push("summary", value("content"));
        } else if is(delta, "text") {
            self.text.push_str(&text("text"));
        } else if !is(delta, "text_annotation_delta") {
            self.end_text();
            self.push("content", delta.detached());
        }
    }

    fn end_text(&mut self) {
        if !self.text.is_empty() {
            let text = Node::string(core::mem::take(&mut self.text));
            self.push("content", Node::record([("type", Node::literal("text")), ("text", text)]));
        }
    }

    fn push(&mut self, key: &'static str, value: Node<'static>) {
        if self.node.array_at(key).is_none() {
            self.node.set(key, Node::array(Vec::new()));
        }
        self.node.visit(key, |list| list.as_array_mut().map(|list| list.push(value)));
    }

    pub(super) fn whole(mut self) -> Node<'static> {
        self.end_text();
        let arguments = json::read(&self.arguments).ok().filter(|_| !self.arguments.is_empty());
        if let Some(arguments) = arguments.map(|arguments| arguments.detached()) {
            self.node.set("arguments", arguments);
        }
        self.node
    }
}
