//! Determines the era of each server. For a legacy client, every server receives `initialize`, and a server that
//! refuses it receives `server/discover`. For a modern client, servers receive `server/discover` first. Requests wait
//! meanwhile.
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>

use toolwire::internal::json::{self, Node};

use super::{
    gathering::{Gathering, What},
    message::{self, at, empty, Envelope, Kind, SERVER_ERROR},
    owners::PAGE,
    questions, translation,
    versions::{self, discovered, modern_params, Era, CAPABILITIES, CLIENT, DISCOVER},
    Effect, OwnRequest, Proxy, State, Waiting, Waits, CANCELLED, INITIALIZE, INITIALIZED, MAX_WAITING,
};

/// Time limit for the answer to `server/discover`, in seconds. Some legacy servers do not answer an unknown method.
const PATIENCE: u32 = 5;

#[derive(Debug)]
pub(super) struct Opening {
    alarm: u64,
    step: Step,
}

#[derive(Debug)]
enum Step {
    Discover,
    /// The server has received `initialize`, after `server/discover`.
    Initialize,
    /// The server has refused `initialize` with these errors, and then received `server/discover`. An error is a whole
    /// message.
    Refused(Vec<(Waits, String)>),
    /// The server has refused an `initialize` that no request waits for, and then received `server/discover`.
    Again,
}

impl Proxy {
    pub(super) fn open_all(&mut self, message: &Node<'_>) {
        self.client = Some(Era::Modern);
        if self.envelope.is_none() {
            let meta = at(message, &["params", "_meta"]).cloned().unwrap_or_default();
            self.envelope = Some(json::write(&translation::without_token(meta)));
        }
        for server in 0..self.servers.len() {
            let is_unknown = self.servers.get(server).is_some_and(|one| one.state == State::Up && one.era.is_none());
            if is_unknown && !self.openings.contains_key(&server) {
                self.discover(server, Step::Discover);
            }
        }
    }

    pub(super) fn discover_after(&mut self, server: usize, waits: Waits, error: String) {
        let is_legacy = self.servers.get(server).is_none_or(|server| server.era == Some(Era::Legacy));
        match self.openings.get_mut(&server).map(|opening| &mut opening.step) {
            Some(Step::Refused(refused)) => refused.push((waits, error)),
            None if !is_legacy => self.discover(server, Step::Refused(Vec::from([(waits, error)]))),
            _ => self.on_refused_initialize(server, waits, &error),
        }
    }

    pub(super) fn discover_again(&mut self, server: usize) {
        if !self.openings.contains_key(&server) {
            self.discover(server, Step::Again);
        }
    }

    fn on_refused_initialize(&mut self, server: usize, waits: Waits, error: &str) {
        match waits {
            Waits::Client(_) => self.write_client(error.into()),
            Waits::Gathering(number) => self.add_failure(number, server, error),
        }
    }

    pub(super) fn waiting_greetings(&self) -> impl Iterator<Item = &str> {
        let refused = self.openings.values().filter_map(|opening| match &opening.step {
            Step::Refused(refused) => Some(refused),
            _ => None,
        });
        refused.flatten().filter_map(|(waits, _)| match waits {
            Waits::Client(id) => Some(id.as_str()),
            Waits::Gathering(_) => None,
        })
    }

    /// Returns false if the client's `initialize` does not exist.
    pub(super) fn cancel_greeting(&mut self, key: &str) -> bool {
        let is_cancelled = |waits: &Waits| matches!(waits, Waits::Client(id) if message::key_of(id) == key);
        let mut is_found = false;
        for opening in self.openings.values_mut() {
            if let Step::Refused(refused) = &mut opening.step {
                is_found |= refused.iter().any(|(waits, _)| is_cancelled(waits));
                refused.retain(|(waits, _)| !is_cancelled(waits));
            }
        }
        is_found
    }

    fn discover(&mut self, server: usize, step: Step) {
        self.next += 1;
        let alarm = self.next;
        self.openings.insert(server, Opening { alarm, step });
        let id = self.own_id(OwnRequest::Discover(server));
        let params = self.stated_params("{}");
        self.write_server(server, message::request(&id, DISCOVER, &params));
        let seconds = self.settings.timeout.min(PATIENCE);
        self.effects.push(Effect::Alarm(alarm, u64::from(seconds) * 1000));
    }

    pub(super) fn stated_params(&self, params: &str) -> String {
        let read = |text: &Option<String>| text.as_deref().and_then(|text| json::read(text).ok().map(|_| text.into()));
        let (holder, names): (Option<String>, [&str; 2]) = match self.client {
            Some(Era::Modern) => (read(&self.envelope), [CLIENT, CAPABILITIES]),
            _ => (read(&self.initialize), ["clientInfo", "capabilities"]),
        };
        let holder = holder.unwrap_or_else(|| "{}".into());
        let holder = json::read(&holder).unwrap_or_default();
        let [client, capabilities] = names.map(|name| holder.get(name).map(json::write));
        modern_params(params, client.as_deref(), capabilities.as_deref().unwrap_or("{}"))
    }

    /// Sends `initialize` to a server, for a modern client.
    pub(super) fn send_initialize(&mut self, server: usize) {
        self.next += 1;
        let alarm = self.next;
        self.openings.insert(server, Opening { alarm, step: Step::Initialize });
        let envelope = self.envelope.clone().unwrap_or_default();
        let envelope = json::read(&envelope).unwrap_or_default();
        let capabilities = questions::legacy_capabilities(envelope.get(CAPABILITIES).cloned().unwrap_or_else(empty));
        let proxy_info = format!("{{\"name\":\"toolwire\",\"version\":\"{}\"}}", env!("CARGO_PKG_VERSION"));
        let client = envelope.get(CLIENT).map_or(proxy_info, json::write);
        let params = format!(
            "{{\"protocolVersion\":\"{}\",\"capabilities\":{},\"clientInfo\":{client}}}",
            Era::Legacy.latest(),
            json::write(&capabilities)
        );
        let id = self.own_id(OwnRequest::Initialize(server));
        self.write_server(server, message::request(&id, INITIALIZE, &params));
        self.initialize = Some(params);
        self.effects.push(Effect::Alarm(alarm, u64::from(self.settings.timeout) * 1000));
    }

    pub(super) fn on_discovery(&mut self, server: usize, message: &Node<'_>) {
        let result = message.get("result").filter(|result| discovered(result).is_some());
        let Some(result) = result else { return self.on_no_discovery(server, &json::write(message)) };
        let opening = self.openings.remove(&server);
        if opening.is_none() && self.servers.get(server).is_none_or(|server| server.era.is_some()) {
            return;
        }
        // If the proxy has sent `initialize` meanwhile, the answer to it is ignored.
        self.own_requests.retain(|_, (_, own)| !matches!(own, OwnRequest::Initialize(of) if *of == server));
        let Some(state) = self.servers.get_mut(server) else { return };
        (state.state, state.era, state.fault) = (State::Up, Some(Era::Modern), None);
        state.greeting = Some(json::write(result));
        let refused = match opening.map(|opening| opening.step) {
            Some(Step::Refused(refused)) => refused,
            Some(Step::Again) => {
                self.announce_changed_lists(server);
                return self.resume_held();
            }
            _ => return self.resume_held(),
        };
        let wanted = self.initialize.as_deref().and_then(|text| json::read(text).ok());
        let wanted = wanted.and_then(|params| message::text_at(&params, &["protocolVersion"]));
        let greeting = translation::legacy_greeting(result, wanted.as_deref());
        for (waits, _) in refused {
            match waits {
                Waits::Client(id) => self.write_client(message::result(&id, &greeting)),
                Waits::Gathering(number) => {
                    let answer = message::result("0", &greeting);
                    self.add_page(number, server, &json::read(&answer).unwrap_or_default());
                }
            }
        }
        self.resume_held();
    }

    /// Handles an answer that shows no modern server, or the lack of an answer. `error` is a whole message.
    pub(super) fn on_no_discovery(&mut self, server: usize, error: &str) {
        let is_modern = |step: &Opening| matches!(step.step, Step::Discover);
        match self.openings.get(&server) {
            Some(opening) if is_modern(opening) => {
                let read = json::read(error).unwrap_or_default();
                let is_legacy = |name: &String| Era::of(name) == Some(Era::Legacy);
                if let Some(names) = versions::supported(&read).filter(|names| !names.iter().any(is_legacy)) {
                    let found = format!(
                        "the server {} supports only other versions of MCP: {}",
                        self.name(server),
                        names.join(", ")
                    );
                    return self.not_opened(server, &found);
                }
                if self.servers.get(server).is_some_and(|server| server.state == State::Up) {
                    self.send_initialize(server);
                } else if let Some(opening) = self.openings.get_mut(&server) {
                    // Some legacy servers end after a message before `initialize`. It is sent after the restart.
                    opening.step = Step::Initialize;
                }
            }
            Some(Opening { step: Step::Refused(..) | Step::Again, .. }) => self.not_opened(server, ""),
            _ => {}
        }
    }

    /// Handles the answer to `initialize`, for a modern client.
    pub(super) fn on_initialize_answer(&mut self, server: usize, message: &Node<'_>) {
        if message.get("result").is_none() {
            let why = message::text_at(message, &["error", "message"]).unwrap_or_default();
            return self
                .not_opened(server, &format!("the server {} has refused `{INITIALIZE}`: {why}", self.name(server)));
        }
        self.openings.remove(&server);
        self.record_greeting(server, message);
        self.write_server(server, message::notification(INITIALIZED));
        self.resume_held();
    }

    pub(super) fn not_opened(&mut self, server: usize, found: &str) {
        match self.openings.remove(&server).map(|opening| opening.step) {
            Some(Step::Refused(refused)) => {
                refused.into_iter().for_each(|(waits, error)| self.on_refused_initialize(server, waits, &error));
            }
            Some(Step::Again) => {
                self.log(&format!("the server {} has refused `{INITIALIZE}`", self.name(server)));
                self.stop(server);
            }
            Some(Step::Discover | Step::Initialize) => {
                self.log(found);
                let Some(state) = self.servers.get_mut(server) else { return };
                state.fault = Some(found.into());
                if state.state != State::Down {
                    self.stop(server);
                }
            }
            None => {}
        }
        self.resume_held();
    }

    /// Handles an alarm. Returns false if the alarm is for something else.
    pub(super) fn handle_opening_alarm(&mut self, alarm: u64, seconds: u32) -> bool {
        let found = self.openings.iter().find(|(_, opening)| opening.alarm == alarm).map(|(server, _)| *server);
        let Some(server) = found else { return false };
        match self.openings.get(&server).map(|opening| &opening.step) {
            Some(Step::Initialize) => {
                let whose = self.name(server);
                self.not_opened(
                    server,
                    &format!("expected the server {whose} to answer in {seconds} s, found no answer"),
                );
            }
            _ => self.on_no_discovery(server, "{}"),
        }
        true
    }

    /// Returns true if a message of the client has to wait, and then keeps the message.
    pub(super) fn hold_if_waiting(&mut self, envelope: &Envelope, message: &Node<'_>, text: &str) -> bool {
        if envelope.kind == Kind::Notification && envelope.method == CANCELLED {
            let key = at(message, &["params", "requestId"]).map(json::canonical).unwrap_or_default();
            let count = self.held.len();
            self.held.retain(|held| held.key != key);
            return self.held.len() < count;
        }
        if envelope.kind != Kind::Request || self.openings.is_empty() {
            return false;
        }
        self.hold(envelope, text);
        true
    }

    fn hold(&mut self, envelope: &Envelope, text: &str) {
        let size: usize = self.held.iter().map(|held| held.text.len()).sum();
        if size.saturating_add(text.len()) > MAX_WAITING {
            let found = "too many requests are waiting for the servers";
            return self.write_client(message::error(&envelope.id, SERVER_ERROR, found));
        }
        self.held.push(Waiting { id: envelope.id.clone(), key: envelope.key.clone(), text: text.into() });
    }

    pub(super) fn resume_held(&mut self) {
        let lists = self.gatherings.values().any(Gathering::is_first_list);
        if !self.openings.is_empty() || lists {
            return;
        }
        for Waiting { text, .. } in std::mem::take(&mut self.held) {
            if let Ok(message) = json::read(&text) {
                self.on_client_message(&message, &text, false);
            }
        }
    }

    /// Requests the lists that determine the server of a message, unless the client has requested them. Returns false
    /// if these lists are known.
    pub(super) fn request_lists_first(&mut self, envelope: &Envelope, message: &Node<'_>, text: &str) -> bool {
        const RESOURCES: &[(&str, &str)] =
            &[("resources/list", "resources"), ("resources/templates/list", "resourceTemplates")];
        const PROMPTS: &[(&str, &str)] = &[("prompts/list", "prompts")];
        let is_prompt = envelope.method == "prompts/get" || at(message, &["params", "ref", "name"]).is_some();
        let lists = if is_prompt { PROMPTS } else { RESOURCES };
        let unknown = lists.iter().filter(|(_, key)| !self.listed.contains(key));
        let unknown: Vec<What> = unknown.map(|(method, key)| What::List((*method).into(), key)).collect();
        // The pages of tools need not be listed.
        let is_page = message::text_at(message, &["params", "uri"]).is_some_and(|uri| uri.starts_with(PAGE));
        let tools = (is_page && !self.catalogue.has_list() && !self.listed.contains("tools")).then_some(What::Tools);
        if unknown.is_empty() && tools.is_none() || envelope.method.starts_with("tasks/") {
            return false;
        }
        let params = message::meta_of(message);
        for what in tools.into_iter().chain(unknown) {
            if !self.gatherings.values().any(|gathering| gathering.is_first_list_of(&what)) {
                self.gather(what, None, &params);
            }
        }
        // A list that no server has is gathered at once.
        self.hold(envelope, text);
        self.resume_held();
        true
    }

    pub(super) fn is_known(&self, server: usize) -> bool {
        self.initialize.is_some() || self.servers.get(server).is_some_and(|server| server.greeting.is_some())
    }
}
