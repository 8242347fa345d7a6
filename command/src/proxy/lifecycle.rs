//! The life of the servers: their ends and restarts, and requests that they do not answer or receive.

use toolwire::internal::json::{self, Node};

use super::{
    message::{self, Outline, SERVER_ERROR},
    versions::Era,
    Effect, OwnRequest, Proxy, State, Waits, FIRST_DELAY, INITIALIZE, INITIALIZED, MAX_DELAY,
};

impl Proxy {
    /// Handles the end of a server. `why` is a human-readable reason.
    pub fn ended(&mut self, server: usize, why: &str) -> Vec<Effect> {
        let whose = self.name(server);
        // A library's message may have several lines.
        let found = format!("the server {whose} has ended: {}", why.lines().next().unwrap_or_default());
        self.log(&found);
        self.fail_open_requests(server, &found);
        if let Some(state) = self.servers.get_mut(server) {
            let delay = (FIRST_DELAY << state.ends.min(10)).min(MAX_DELAY);
            state.ends += 1;
            self.effects.push(Effect::Start(server, delay));
        }
        self.take_effects()
    }

    /// Stops a server. Its open requests are answered at once, because a process that cannot be killed never ends.
    pub(super) fn stop(&mut self, server: usize) {
        self.effects.push(Effect::Stop(server));
        let found = format!("the server {} was stopped", self.name(server));
        self.fail_open_requests(server, &found);
    }

    fn fail_open_requests(&mut self, server: usize, reason: &str) {
        if let Some(state) = self.servers.get_mut(server) {
            (state.state, state.level) = (State::Down, None);
        }
        let open: Vec<String> =
            self.pending.iter().filter(|entry| entry.1.server == server).map(|entry| entry.0.clone()).collect();
        for pending in open.iter().filter_map(|key| self.pending.remove(key)).collect::<Vec<_>>() {
            self.write_client(message::error(&pending.id, SERVER_ERROR, reason));
        }
        let keys: Vec<String> = self
            .own_requests
            .iter()
            .filter(|(_, (_, request))| request.server() == server)
            .map(|entry| entry.0.clone())
            .collect();
        for key in keys {
            if let Some((_, request)) = self.own_requests.remove(&key) {
                self.unanswered_own(request, reason);
            }
        }
        self.end_rounds(server, reason);
        self.forget_questions(server);
        self.greetings.retain(|_, of| *of != server);
        self.owners.forget(server);
        let Some(state) = self.servers.get_mut(server) else { return };
        for id in std::mem::take(&mut state.open_requests).into_values() {
            self.write_client(message::cancelled(&id, reason));
        }
    }

    /// Handles the restart of a server.
    pub fn started(&mut self, server: usize) -> Vec<Effect> {
        let params = self.initialize.clone();
        let Some(state) = self.servers.get_mut(server) else { return self.take_effects() };
        state.run += 1;
        if state.era == Some(Era::Modern) {
            state.state = State::Up;
            self.announce_changed_lists(server);
            return self.take_effects();
        }
        if self.openings.contains_key(&server) {
            state.state = State::Up;
            self.send_initialize(server);
            return self.take_effects();
        }
        // The next request of a modern client determines the era.
        let params = params.filter(|_| self.client != Some(Era::Modern) || state.era.is_some());
        state.state = if params.is_some() { State::Greeting } else { State::Up };
        if let Some(params) = params {
            let id = self.own_id(OwnRequest::Greeting(server));
            self.write_server(server, message::request(&id, INITIALIZE, &params));
            self.next += 1;
            let alarm = self.next;
            self.greetings.insert(alarm, server);
            self.effects.push(Effect::Alarm(alarm, u64::from(self.settings.timeout) * 1000));
        }
        self.take_effects()
    }

    /// Handles the end of the delay of an [`Effect::Alarm`].
    pub fn alarm(&mut self, alarm: u64) -> Vec<Effect> {
        let seconds = self.settings.timeout;
        if let Some(server) = self.greetings.remove(&alarm) {
            self.log(&format!("expected the server {} to answer in {seconds} s, found no answer", self.name(server)));
            self.stop(server);
            return self.take_effects();
        }
        if self.handle_opening_alarm(alarm, seconds)
            || self.handle_listen_alarm(alarm)
            || self.handle_question_alarm(alarm)
        {
            return self.take_effects();
        }
        let Some(gathering) = self.gatherings.get(&alarm) else { return self.take_effects() };
        let greets = gathering.is_initialize();
        for server in gathering.open() {
            let is_of =
                |request: &OwnRequest| matches!(request, OwnRequest::Page(of, by) if *of == alarm && *by == server);
            if greets {
                // The server is still starting, so its answer is used even if it is late.
                let own_request = self
                    .own_requests
                    .values_mut()
                    .map(|(_, own_request)| own_request)
                    .filter(|own_request| is_of(own_request));
                own_request.for_each(|own_request| *own_request = OwnRequest::Greeting(server));
            } else {
                self.cancel_requests(is_of, "no answer in time");
            }
            let reason = format!("expected the server {} to answer in {seconds} s, found no answer", self.name(server));
            self.add_failure(alarm, server, &message::error("0", SERVER_ERROR, &reason));
        }
        self.take_effects()
    }

    /// Handles a message that could not be delivered to a server that is still running. `why` is a
    /// human-readable reason.
    pub fn undelivered(&mut self, server: usize, message: &[u8], why: &str) -> Vec<Effect> {
        let found = format!(
            "the server {} could not be reached: {}",
            self.name(server),
            why.lines().next().unwrap_or_default()
        );
        // The client's responses have the ids of the server's requests.
        let request = Outline::read(message).filter(|outline| outline.method.is_some());
        let key = request.and_then(|outline| outline.key()).unwrap_or_default();
        match self.own_requests.remove(&key) {
            Some((_, request)) => self.unanswered_own(request, &found),
            None => match self.pending.remove(&key) {
                Some(pending) if pending.method == INITIALIZE => {
                    let error = message::error(&pending.id, SERVER_ERROR, &found);
                    self.discover_after(server, Waits::Client(pending.id), error);
                }
                Some(pending) => self.write_client(message::error(&pending.id, SERVER_ERROR, &found)),
                None => self.log(&found),
            },
        }
        self.take_effects()
    }

    fn unanswered_own(&mut self, request: OwnRequest, found: &str) {
        let error = || message::error("0", SERVER_ERROR, found);
        match request {
            OwnRequest::Page(gathering, server) => self.no_page(gathering, server, &error()),
            OwnRequest::Discover(server) => self.on_no_discovery(server, &error()),
            OwnRequest::Initialize(server) => self.not_opened(server, found),
            OwnRequest::Listen(key, server) => self.listen_ended(&key, server, false),
            OwnRequest::Other(_) => {}
            OwnRequest::Greeting(server) => {
                if self.servers.get(server).is_some_and(|server| server.state != State::Down) {
                    self.log(found);
                    self.stop(server);
                }
            }
        }
    }

    pub(super) fn on_greeting(&mut self, server: usize, message: &Node<'_>) {
        self.greetings.retain(|_, of| *of != server);
        if message.get("result").is_none() {
            // For a modern client, the server was asked before.
            let is_unknown = self.servers.get(server).is_some_and(|server| server.era.is_none());
            if is_unknown && self.client != Some(Era::Modern) {
                return self.discover_again(server);
            }
            self.log(&format!("the server {} has refused `{INITIALIZE}`", self.name(server)));
            return self.stop(server);
        }
        self.record_greeting(server, message);
        self.write_server(server, message::notification(INITIALIZED));
        self.announce_changed_lists(server);
    }

    /// The lists of a restarted server may have changed since the client read them.
    pub(super) fn announce_changed_lists(&mut self, server: usize) {
        self.listen_again(server);
        for list in ["tools", "prompts", "resources"] {
            if self.declares(server, &["capabilities", list, "listChanged"]) {
                self.tell_changed(list, server);
            }
        }
    }

    pub(super) fn record_greeting(&mut self, server: usize, message: &Node<'_>) {
        if let (Some(state), Some(result)) = (self.servers.get_mut(server), message.get("result")) {
            state.greeting = Some(json::write(result));
            state.state = State::Up;
            state.era = Some(Era::Legacy);
            state.fault = None;
        }
    }

    pub(super) fn has_capability(&self, server: usize, capability: &str) -> bool {
        self.declares(server, &["capabilities", capability])
    }

    pub(super) fn declares(&self, server: usize, path: &[&str]) -> bool {
        let greeting = self.servers.get(server).and_then(|server| server.greeting.as_deref());
        let greeting = greeting.and_then(|text| json::read(text).ok());
        greeting.is_some_and(|greeting| {
            message::at(&greeting, path).is_some_and(|found| !found.is_null() && found.as_bool() != Some(false))
        })
    }
}
