//! Results of modern servers that ask for input, for legacy clients: the client receives requests, and the server
//! receives the answers with a second request.
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>

use toolwire::internal::json::{self, Data, Node, Object};

use super::{
    message::{self, empty, SERVER_ERROR},
    versions::Era,
    OwnRequest, Pending, Proxy, REMEMBERED, RESULT_TYPE,
};

/// Maximum number of times that a server may ask for input for one request.
const MAX_ROUNDS: u32 = 16;
/// Methods whose results may ask for input.
pub(super) const ASKING: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];
pub(super) const ELICIT: &str = "elicitation/create";
/// Methods of the input that a result may ask for.
const INPUTS: [&str; 3] = [ELICIT, "sampling/createMessage", "roots/list"];
/// Maximum number of inputs that one result may ask for. Each is a request to the client.
const MAX_INPUTS: usize = 100;

#[derive(Debug)]
/// A request of the client, and the input that its server asks for.
pub(super) struct Round {
    pub(super) pending: Pending,
    /// `requestState` from the server, as JSON text.
    state: Option<String>,
    inputs: Vec<Input>,
}

#[derive(Debug)]
struct Input {
    /// The server's name for the input.
    name: String,
    method: String,
    /// Id of the request to the client, as JSON text.
    id: String,
    /// The client's result, as JSON text.
    result: Option<String>,
}

impl Proxy {
    pub(super) fn kept_params(&self, server: usize, method: &str, text: &str) -> Option<String> {
        let is_kept = self.is_modern(server) && ASKING.contains(&method);
        json::read(text).ok().filter(|_| is_kept)?.get("params").map(json::write)
    }

    /// Requests the input that a result asks for. Returns the request if the result asks for no input.
    pub(super) fn request_input(&mut self, pending: Pending, message: &Node<'_>) -> Option<Pending> {
        let result = message.get("result").filter(|result| {
            self.client != Some(Era::Modern)
                && pending.params.is_some()
                && result.get(RESULT_TYPE).is_some_and(|kind| kind.is_text("input_required"))
        });
        let Some(result) = result else { return Some(pending) };
        if pending.rounds >= MAX_ROUNDS {
            let found = format!("expected the server to ask for input at most {MAX_ROUNDS} times, found more");
            self.write_client(message::error(&pending.id, SERVER_ERROR, &found));
            return None;
        }
        let wanted = result.object_at("inputRequests").into_iter().flat_map(Object::iter);
        let is_input = |input: &Node<'_>| {
            INPUTS.iter().any(|known| input.get("method").is_some_and(|method| method.is_text(known)))
        };
        let is_known = wanted.clone().all(|input| is_input(&input.value));
        if !is_known || wanted.clone().count() > MAX_INPUTS || self.inputs.len() >= REMEMBERED {
            let found = format!(
                "expected the server to ask for at most {MAX_INPUTS} inputs, each with the method {}, found others",
                INPUTS.join(" or ")
            );
            self.write_client(message::error(&pending.id, SERVER_ERROR, &found));
            return None;
        }
        self.next += 1;
        let number = self.next;
        let mut inputs = Vec::new();
        for member in wanted {
            self.next += 1;
            let id = format!("\"{}{}\"", self.prefix, self.next);
            let method = message::text_at(&member.value, &["method"]).unwrap_or_default();
            let params = member.value.get("params").map(json::write).unwrap_or_default();
            self.inputs.insert(message::key_of(&id), (number, inputs.len()));
            self.write_client(message::request(&id, &method, &params));
            inputs.push(Input { name: member.key.display().into_owned(), method, id, result: None });
        }
        let state = result.get("requestState").map(json::write);
        self.rounds.insert(number, Round { pending, state, inputs });
        self.finish_round(number);
        None
    }

    pub(super) fn on_input(&mut self, key: &str, message: &Node<'_>) {
        let Some((number, index)) = self.inputs.remove(key) else { return };
        let Some(input) = self.rounds.get_mut(&number).and_then(|round| round.inputs.get_mut(index)) else { return };
        match message.get("result") {
            Some(result) => input.result = Some(json::write(result)),
            None if input.method == ELICIT => input.result = Some("{\"action\":\"cancel\"}".into()),
            None => {
                let why = message::text_at(message, &["error", "message"]).unwrap_or_default();
                let found = format!("the client has refused `{}`: {why}", input.method);
                return self.end_round(number, Some(&found));
            }
        }
        self.finish_round(number);
    }

    fn finish_round(&mut self, number: u64) {
        let is_complete = |round: &Round| round.inputs.iter().all(|input| input.result.is_some());
        if !self.rounds.get(&number).is_some_and(is_complete) {
            return;
        }
        let Some(Round { mut pending, state, inputs }) = self.rounds.remove(&number) else { return };
        let params = pending.params.clone().unwrap_or_default();
        let mut params = json::read(&params).unwrap_or_default();
        let mut responses = empty();
        for Input { name, result, .. } in &inputs {
            let result = result.as_deref().and_then(|result| json::read(result).ok()).unwrap_or_default();
            if let Data::Object(object) = responses.data_mut() {
                object.set(name.clone(), result);
            }
        }
        params.remove("requestState");
        params.remove("inputResponses");
        if !inputs.is_empty() {
            params.set("inputResponses", responses);
        }
        if let Some(state) = state.as_deref().and_then(|state| json::read(state).ok()) {
            params.set("requestState", state);
        }
        // The id of a request may not be used again.
        let id = self.own_id(OwnRequest::Other(pending.server));
        let key = message::key_of(&id);
        self.own_requests.remove(&key);
        pending.rounds += 1;
        pending.retry = Some(id.clone());
        let text = message::request(&id, &pending.method, &json::write(&params));
        self.add_headers(pending.server, pending.tool.as_deref(), &text);
        self.write_server(pending.server, text);
        self.pending.insert(key, pending);
    }

    /// Cancels a request that waits for input. Returns false if the request does not exist.
    pub(super) fn cancel_round(&mut self, key: &str) -> bool {
        let mut rounds = self.rounds.iter().filter(|(_, round)| message::key_of(&round.pending.id) == key);
        let Some(number) = rounds.next().map(|(number, _)| *number) else { return false };
        self.end_round(number, None);
        true
    }

    /// Cancels a request that was sent again. Returns false if the request does not exist.
    pub(super) fn cancel_retry(&mut self, key: &str) -> bool {
        let is_retried = |pending: &Pending| pending.rounds > 0 && message::key_of(&pending.id) == key;
        let Some(retry_key) = self.pending.iter().find(|(_, pending)| is_retried(pending)).map(|(key, _)| key.clone())
        else {
            return false;
        };
        super::remember(&mut self.cancelled, &retry_key);
        if let Some(pending) = self.pending.remove(&retry_key) {
            let id = pending.retry.unwrap_or_default();
            self.write_server(pending.server, message::cancelled(&id, "cancelled by the client"));
        }
        true
    }

    pub(super) fn end_rounds(&mut self, server: usize, found: &str) {
        let of = self.rounds.iter().filter(|(_, round)| round.pending.server == server).map(|(number, _)| *number);
        for number in of.collect::<Vec<u64>>() {
            self.end_round(number, Some(found));
        }
    }

    fn end_round(&mut self, number: u64, found: Option<&str>) {
        let Some(round) = self.rounds.remove(&number) else { return };
        for Input { id, .. } in round.inputs.iter().filter(|input| input.result.is_none()) {
            if self.inputs.remove(&message::key_of(id)).is_some() {
                self.write_client(message::cancelled(id, found.unwrap_or("cancelled by the client")));
            }
        }
        if let Some(found) = found {
            self.write_client(message::error(&round.pending.id, SERVER_ERROR, found));
        }
    }
}
