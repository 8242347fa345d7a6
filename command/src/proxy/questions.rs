//! Questions of legacy servers for modern clients. The proxy answers the client's request with a result that asks for
//! input. The server receives the answers when the client sends its request again.
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>

use std::{
    collections::VecDeque,
    hash::{BuildHasher as _, RandomState},
};

use toolwire::internal::json::{self, Node};

use super::{
    message::{self, at, quoted, Envelope, INVALID_PARAMS, METHOD_NOT_FOUND, SERVER_ERROR},
    rounds::{ASKING, ELICIT},
    versions::{Era, CAPABILITIES},
    Effect, Pending, Proxy, RESULT_TYPE,
};

/// Methods of a server's questions, and the capability of the client for each.
const QUESTIONS: [(&str, &str); 2] = [(ELICIT, "elicitation"), ("sampling/createMessage", "sampling")];
/// Members of parameters that differ when a client sends a request again.
const ROUND_MEMBERS: [&str; 3] = ["_meta", STATE, RESPONSES];
const STATE: &str = "requestState";
const RESPONSES: &str = "inputResponses";
/// Time limit for the client's answers, in milliseconds. The user may have to decide.
const PATIENCE: u64 = 600_000;
/// Maximum number of requests that wait for an answer.
const MAX_ASKED: usize = 1_000;
/// Maximum total size of the questions and answers that wait for the client, in bytes.
const MAX_ASKED_BYTES: usize = 16 << 20;
/// Maximum number of questions about one request.
const MAX_QUESTIONS: usize = 100;

/// Requests that a server answers after the client has answered its questions, the oldest first.
#[derive(Debug)]
pub(super) struct Questions {
    asked: VecDeque<Asked>,
    /// Makes states, which other clients of a shared server must not guess. `None` for transcripts, in which states are
    /// numbers.
    secrets: Option<[RandomState; 2]>,
}

#[derive(Debug)]
struct Asked {
    /// `requestState` of the result that asks for input.
    state: String,
    alarm: u64,
    /// Key of the request's id at the server.
    key: String,
    pending: Pending,
    /// Questions that the client has received.
    shown: Vec<Question>,
    /// Questions that the server asked afterwards.
    later: Vec<Question>,
    /// The answer, if the server has not waited for the client.
    answer: Option<String>,
}

#[derive(Debug)]
struct Question {
    /// The server's id, as JSON text.
    id: String,
    method: String,
    /// JSON text, until the client has received it.
    params: String,
}

impl Questions {
    pub(super) fn new(counted_ids: bool) -> Questions {
        Questions { asked: VecDeque::new(), secrets: (!counted_ids).then(|| [RandomState::new(), RandomState::new()]) }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.asked.iter().any(|asked| asked.key == key)
    }

    fn bytes(&self) -> usize {
        let later = |asked: &Asked| asked.later.iter().map(|question| question.params.len()).sum::<usize>();
        self.asked.iter().map(|asked| later(asked) + asked.answer.as_ref().map_or(0, String::len)).sum()
    }

    fn state(&self, number: u64) -> String {
        match &self.secrets {
            Some(secrets) => secrets.iter().map(|secret| format!("{:016x}", secret.hash_one(number))).collect(),
            None => format!("s{number}"),
        }
    }
}

/// Returns the capabilities of a modern client that a legacy server may use.
pub(super) fn legacy_capabilities(mut capabilities: Node<'_>) -> Node<'_> {
    // Servers ask for roots outside of calls, and tasks of the two eras differ.
    for name in ["roots", "tasks"] {
        capabilities.remove(name);
    }
    capabilities
}

/// Returns the parts of parameters that do not change when a client sends a request again.
fn comparable(params: &str) -> String {
    let mut params = json::read(params).unwrap_or_default();
    for name in ROUND_MEMBERS {
        params.remove(name);
    }
    json::canonical(&params)
}

impl Proxy {
    /// Returns the parameters of a modern client's request and the capabilities that a legacy server may use for it, if
    /// there are any.
    pub(super) fn askable_params(&self, method: &str, text: &str) -> Option<(String, Vec<&'static str>)> {
        let is_askable = self.client == Some(Era::Modern) && ASKING.contains(&method);
        let message = json::read(text).ok().filter(|_| is_askable)?;
        let capabilities = at(&message, &["params", "_meta", CAPABILITIES])?;
        let names = QUESTIONS.iter().map(|(_, name)| *name);
        let accepts: Vec<&'static str> = names.filter(|name| capabilities.get(name).is_some()).collect();
        let params = message.get("params").filter(|_| !accepts.is_empty())?;
        Some((json::write(params), accepts))
    }

    /// Handles a question of a legacy server for a modern client.
    pub(super) fn on_question(&mut self, server: usize, envelope: &Envelope, message: &Node<'_>) {
        let Envelope { id, method, .. } = envelope;
        if method == "ping" {
            return self.write_server(server, message::result(id, "{}"));
        }
        let capability = QUESTIONS.iter().find(|(known, _)| known == method).map(|(_, name)| *name);
        let mut params = message.get("params").cloned().unwrap_or_else(message::empty);
        for name in ["_meta", "task"] {
            params.remove(name);
        }
        let question = Question { id: id.clone(), method: method.clone(), params: json::write(&params) };
        let found = match capability.map(|name| self.try_to_ask(server, name, question)) {
            Some(None) => return,
            Some(Some(found)) => found,
            None => format!("`{method}`"),
        };
        let found = format!(
            "expected the server {} to ask its client only during a call, and only what the client accepts; found \
             {found}",
            self.name(server)
        );
        self.log_once(&found);
        self.write_server(server, message::error(id, METHOD_NOT_FOUND, &found));
    }

    /// Asks the client a question. Returns the reason if this is impossible.
    fn try_to_ask(&mut self, server: usize, capability: &str, question: Question) -> Option<String> {
        let is_of_server = |pending: &&Pending| pending.server == server && ASKING.contains(&pending.method.as_str());
        let accepts = |pending: &Pending| is_of_server(&pending) && pending.accepts.contains(&capability);
        let waiting = self.questions.asked.iter().map(|asked| &asked.pending);
        let count = self.pending.values().chain(waiting).filter(is_of_server).count();
        // A question about the call of one client must not reach another client, even if only the other client accepts
        // it.
        if count > 1 && self.settings.is_listening {
            return Some("several such calls, perhaps of several clients".into());
        }
        if self.questions.bytes().saturating_add(question.params.len()) > MAX_ASKED_BYTES {
            return Some(format!("questions and answers of more than {MAX_ASKED_BYTES} bytes"));
        }
        let mut open = self.pending.iter().filter(|(_, pending)| accepts(pending)).map(|(key, _)| key.clone());
        if let Some(key) = open.next_back() {
            if self.questions.asked.len() >= MAX_ASKED {
                return Some(format!("{MAX_ASKED} calls that wait for answers"));
            }
            let pending = self.pending.remove(&key)?;
            self.ask_client(key, pending, Vec::from([question]));
            return None;
        }
        match self.questions.asked.iter_mut().find(|asked| accepts(&asked.pending)) {
            Some(asked) if asked.later.len() < MAX_QUESTIONS => {
                asked.later.push(question);
                None
            }
            _ => Some("no such call".into()),
        }
    }

    fn ask_client(&mut self, key: String, pending: Pending, mut shown: Vec<Question>) {
        self.next += 1;
        let (alarm, state) = (self.next, self.questions.state(self.next));
        let requests = shown.iter().enumerate().map(|(index, Question { method, params, .. })| {
            format!("\"{index}\":{{\"method\":{},\"params\":{params}}}", quoted(method))
        });
        let result = format!(
            "{{\"{RESULT_TYPE}\":\"input_required\",\"inputRequests\":{{{}}},\"{STATE}\":{}}}",
            requests.collect::<Vec<_>>().join(","),
            quoted(&state)
        );
        self.write_client(message::result(&pending.id, &result));
        self.effects.push(Effect::Alarm(alarm, PATIENCE));
        shown.iter_mut().for_each(|question| question.params = String::new());
        self.questions.asked.push_back(Asked { state, alarm, key, pending, shown, later: Vec::new(), answer: None });
    }

    /// Continues a request that the client has sent again with its answers, `text`. Returns false if `text` is a new
    /// request.
    pub(super) fn continue_request(&mut self, server: usize, id: &str, method: &str, text: &str) -> bool {
        let message = json::read(text).unwrap_or_default();
        let Some(params) = message.get("params") else { return false };
        if params.get(STATE).is_none() && params.get(RESPONSES).is_none() {
            return false;
        }
        let state = message::text_at(params, &[STATE]).unwrap_or_default();
        let is_asked_request = |Asked { state: of, pending, .. }: &Asked| {
            let params_of = pending.params.as_deref().unwrap_or_default();
            *of == state
                && (pending.server, pending.method.as_str()) == (server, method)
                && comparable(params_of) == comparable(&json::write(params))
        };
        let Some(index) = self.questions.asked.iter().position(is_asked_request) else {
            let found = "expected the `requestState` of this request while it waits for input, found another one";
            self.write_client(message::error(id, INVALID_PARAMS, found));
            return true;
        };
        let answers = params.get(RESPONSES);
        let shown = self.questions.asked.get(index).map_or(0, |asked| asked.shown.len());
        let answers: Vec<String> =
            (0..shown).filter_map(|at| Some(json::write(answers?.get(&at.to_string())?))).collect();
        if answers.len() < shown {
            let found = format!("expected an answer to each input in `{RESPONSES}`, found fewer");
            self.write_client(message::error(id, INVALID_PARAMS, &found));
            return true;
        }
        let Some(Asked { key, mut pending, shown, later, answer, .. }) = self.questions.asked.remove(index) else {
            return true;
        };
        for (question, answer) in shown.iter().zip(answers) {
            self.write_server(server, message::result(&question.id, &answer));
        }
        let token = |params: &str| {
            let params = json::read(params).unwrap_or_default();
            at(&params, &["_meta", "progressToken"]).map(json::write)
        };
        let first = pending.params.as_deref().and_then(token);
        pending.token = pending.token.map(|(first, _)| first).or(first).zip(token(&json::write(params)));
        pending.retry = pending.retry.or_else(|| Some(pending.id.clone()));
        pending.id = id.to_string();
        pending.rounds += 1;
        if !later.is_empty() {
            self.ask_client(key.clone(), pending, later);
            if let Some(asked) = self.questions.asked.back_mut() {
                asked.answer = answer;
            }
            return true;
        }
        self.pending.insert(key, pending);
        if let Some(answer) = answer {
            self.on_server_line(server, answer.as_bytes());
        }
        true
    }

    /// Keeps the answer to a request whose client has not answered the server's questions yet. Returns false for other
    /// requests.
    pub(super) fn keep_answer(&mut self, server: usize, key: &str, message: &Node<'_>) -> bool {
        let bytes = self.questions.bytes();
        let mut asked = self.questions.asked.iter_mut();
        let Some(asked) = asked.find(|asked| asked.pending.server == server && asked.key == key) else { return false };
        let answer = json::write(message);
        asked.answer = Some(if bytes.saturating_add(answer.len()) <= MAX_ASKED_BYTES {
            answer
        } else {
            let found =
                format!("expected answers of at most {MAX_ASKED_BYTES} bytes before the client's input, found more");
            message::error(&message.get("id").map(json::write).unwrap_or_default(), SERVER_ERROR, &found)
        });
        true
    }

    /// Inserts the progress token with which the client has sent its request again. Returns `None` for other tokens.
    pub(super) fn with_last_token(&self, server: usize, message: &Node<'_>) -> Option<String> {
        let token = at(message, &["params", "progressToken"]).map(json::write)?;
        let mut tokens = self
            .pending
            .values()
            .filter(|pending| pending.server == server)
            .filter_map(|pending| pending.token.as_ref());
        let last = json::read(&tokens.find(|(first, _)| *first == token)?.1).ok()?;
        let mut message = message.clone();
        message.visit("params", |params| params.set("progressToken", last));
        Some(json::write(&message))
    }

    /// Handles an alarm. Returns false if the alarm is for something else.
    pub(super) fn handle_question_alarm(&mut self, alarm: u64) -> bool {
        let Some(index) = self.questions.asked.iter().position(|asked| asked.alarm == alarm) else { return false };
        let Some(Asked { key, pending, shown, later, answer, .. }) = self.questions.asked.remove(index) else {
            return true;
        };
        if answer.is_some() {
            return true;
        }
        let found = format!("expected the client to answer in {} s, found no answer", PATIENCE / 1000);
        for Question { id, method, .. } in shown.iter().chain(&later) {
            let refusal = match method.as_str() {
                ELICIT => message::result(id, "{\"action\":\"cancel\"}"),
                _ => message::error(id, SERVER_ERROR, &found),
            };
            self.write_server(pending.server, refusal);
        }
        let id = pending.retry.unwrap_or(pending.id);
        self.write_server(pending.server, message::cancelled(&id, &found));
        super::remember(&mut self.cancelled, &key);
        true
    }

    pub(super) fn forget_questions(&mut self, server: usize) {
        self.questions.asked.retain(|asked| asked.pending.server != server);
    }
}
