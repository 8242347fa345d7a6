//! Routes messages to servers by the tool, URI, prompt or task that a message names. Rewrites tool calls and their
//! results.
//!
//! With one server, every message that does not concern tools is forwarded.

use toolwire::internal::json::{self, Node};

use super::{
    catalogue::Target,
    gathering::What,
    message::{self, Envelope, Kind, INVALID_PARAMS, METHOD_NOT_FOUND, SERVER_ERROR},
    owners::Owner,
    results::READ,
    versions::Era,
    Effect, Pending, Proxy, State, Waiting, CANCELLED, INITIALIZE, MAX_WAITING, REPORT, TOOLS_CALL,
};

/// Maximum number of tools of a list that are logged because they are left out.
const MAX_LOGGED: usize = 100;

impl Proxy {
    pub(super) fn route(&mut self, envelope: &Envelope, message: &Node<'_>, text: &str, is_whole: bool) {
        let Envelope { kind, id, key, method } = envelope;
        match kind {
            Kind::Request if self.has_one_server() => self.send(id, key, 0, method, None, text, is_whole),
            Kind::Request => self.route_request(envelope, message, text, is_whole),
            Kind::Notification if method == CANCELLED => {
                if let Some(server) = self.cancel(message) {
                    self.pass_server(server, text, is_whole);
                }
            }
            Kind::Notification if method == "notifications/progress" => {
                let token = message::text_at(message, &["params", "progressToken"]);
                let Some((server, own)) = token.as_deref().and_then(|token| self.split_id(token)) else {
                    return self.pass_if_one_server(text, is_whole);
                };
                let mut restored = message.clone();
                if let Ok(token) = json::read(own) {
                    restored.visit("params", |params| params.set("progressToken", token));
                }
                let restored = json::write(&restored);
                self.pass_server(server, &restored, false);
            }
            // The other notifications concern the client itself, so every server receives them.
            Kind::Notification => self.notify_servers(method, text, is_whole),
            Kind::Response => self.route_response(key, message, text, is_whole),
        }
    }

    fn route_response(&mut self, key: &str, message: &Node<'_>, text: &str, is_whole: bool) {
        let asking =
            self.servers.iter_mut().enumerate().find_map(|(at, server)| server.open_requests.remove(key).map(|_| at));
        let Some(server) = asking else {
            return self.log("ignored a response of the client: no server waits for it");
        };
        let id = message::text_at(message, &["id"]);
        match id.as_deref().and_then(|id| self.split_id(id)) {
            Some((of, own)) if of == server => {
                let mut restored = message.clone();
                if let Ok(own) = json::read(own) {
                    restored.set("id", own);
                }
                let restored = json::write(&restored);
                self.pass_server(server, &restored, false);
            }
            _ => self.pass_server(server, text, is_whole),
        }
    }

    fn pass_if_one_server(&mut self, text: &str, is_whole: bool) {
        if self.has_one_server() {
            self.pass_server(0, text, is_whole);
        }
    }

    /// Routes a request, if there are several servers.
    fn route_request(&mut self, envelope: &Envelope, message: &Node<'_>, text: &str, is_whole: bool) {
        let Envelope { id, key, method, .. } = envelope;
        let (id, method) = (id.as_str(), method.as_str());
        let list = |key: &'static str| What::List(method.to_string(), key);
        let what = match method {
            INITIALIZE => Some(What::Initialize),
            "server/discover" => Some(What::Discover),
            "logging/setLevel" => Some(What::All(method.to_string())),
            "resources/list" => Some(list("resources")),
            "resources/templates/list" => Some(list("resourceTemplates")),
            "prompts/list" => Some(list("prompts")),
            "tasks/list" => Some(list("tasks")),
            _ => None,
        };
        if let Some(what) = what {
            return self.gather(what, Some(id.to_string()), &message::params_without(message, &["cursor"]));
        }
        let param = |path: &[&str]| message::text_at(message, path).unwrap_or_default();
        let (owner, named) = match method {
            "ping" => return self.answer(id, "{}"),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                let uri = param(&["params", "uri"]);
                if let (Some(own), Owner::One(server)) = (self.owners.own_uri(&uri), self.owners.of_uri(&uri)) {
                    let mut restored = message.clone();
                    message::set_at(&mut restored, &["params"], "uri", own);
                    return self.send(id, key, server, method, None, &json::write(&restored), false);
                }
                if !self.owners.is_listed(&uri) && self.request_lists_first(envelope, message, text) {
                    return;
                }
                (self.owners.of_uri(&uri), format!("the URI of a listed resource, found `{uri}`"))
            }
            "prompts/get" => return self.route_prompt_request(envelope, &["params", "name"], message, text, is_whole),
            "completion/complete" => match param(&["params", "ref", "uri"]) {
                uri if uri.is_empty() => {
                    return self.route_prompt_request(envelope, &["params", "ref", "name"], message, text, is_whole);
                }
                uri => (self.owners.of_uri(&uri), format!("the URI of a listed resource, found `{uri}`")),
            },
            "tasks/get" | "tasks/result" | "tasks/update" | "tasks/cancel" => {
                let task = param(&["params", "taskId"]);
                (self.owners.of_task(&task), format!("the id of a known task, found `{task}`"))
            }
            _ => {
                let found = format!("expected a method that names one of several servers, found `{method}`");
                return self.write_client(message::error(id, METHOD_NOT_FOUND, &found));
            }
        };
        if owner == Owner::Unknown && self.request_lists_first(envelope, message, text) {
            return;
        }
        let refusal = match owner {
            Owner::One(server) => return self.send(id, key, server, method, None, text, is_whole),
            Owner::Several => format!("expected {named}, which several servers use"),
            Owner::Unknown => format!("expected {named}"),
        };
        self.write_client(message::error(id, INVALID_PARAMS, &refusal));
    }

    fn route_prompt_request(
        &mut self,
        envelope: &Envelope,
        path: &[&'static str],
        message: &Node<'_>,
        text: &str,
        is_whole: bool,
    ) {
        let Envelope { id, key, method, .. } = envelope;
        let shown = message::text_at(message, path).unwrap_or_default();
        let Some((server, name)) = self.owners.of_prompt(&shown) else {
            if self.request_lists_first(envelope, message, text) {
                return;
            }
            let found = format!("expected the name of a listed prompt, found `{shown}`");
            return self.write_client(message::error(id, INVALID_PARAMS, &found));
        };
        if name == shown {
            return self.send(id, key, server, method, None, text, is_whole);
        }
        let mut restored = message.clone();
        if let [above @ .., last] = path {
            message::set_at(&mut restored, above, last, &name);
        }
        self.send(id, key, server, method, None, &json::write(&restored), false);
    }

    fn cancel(&mut self, message: &Node<'_>) -> Option<usize> {
        let key = message::at(message, &["params", "requestId"]).map(json::canonical)?;
        if self.cancel_retry(&key) {
            return None;
        }
        let server = self.pending.remove(&key)?.server;
        super::remember(&mut self.cancelled, &key);
        Some(server)
    }

    pub(super) fn pass_server(&mut self, server: usize, text: &str, is_whole: bool) {
        if self.servers.get(server).is_none_or(|server| server.state != State::Up) {
            return;
        }
        let effect = if is_whole { Effect::PassToServer(server) } else { Effect::ToServer(server, text.to_string()) };
        self.effects.push(effect);
    }

    /// Passes on a message of a server. Requests of several servers, or of several runs of a server, may have equal
    /// ids, so the client receives an id that identifies the server and the run.
    pub(super) fn route_back(&mut self, server: usize, envelope: &Envelope, message: &Node<'_>, is_whole: bool) {
        if self.translate_back(server, envelope, message) {
            return;
        }
        let Some(state) = self.servers.get(server) else { return };
        let run = (server, state.run);
        let is_qualified = !self.has_one_server() || state.run > 0;
        let mut named = message.clone();
        match envelope.kind {
            Kind::Request => {
                let id =
                    if is_qualified { message::quoted(&qualified(run, &envelope.id)) } else { envelope.id.clone() };
                let Some(state) = self.servers.get_mut(server) else { return };
                if state.open_requests.len() >= super::REMEMBERED {
                    let found = "too many requests that the client has not answered";
                    return self.write_server(server, message::error(&envelope.id, message::SERVER_ERROR, found));
                }
                state.open_requests.insert(message::key_of(&id), id);
                if let Some(token) = message::at(message, &["params", "_meta", "progressToken"]).map(json::write) {
                    message::set_at(&mut named, &["params", "_meta"], "progressToken", &qualified(run, &token));
                }
                named.set("id", Node::string(qualified(run, &envelope.id)));
            }
            Kind::Notification if envelope.method == CANCELLED => {
                let Some(id) = message::at(message, &["params", "requestId"]) else { return };
                let shown = qualified(run, &json::write(id));
                let key = if is_qualified { message::key_of(&message::quoted(&shown)) } else { json::canonical(id) };
                if let Some(state) = self.servers.get_mut(server) {
                    state.open_requests.remove(&key);
                }
                message::set_at(&mut named, &["params"], "requestId", &shown);
            }
            _ => return self.pass_client(message, is_whole),
        }
        if is_qualified {
            self.write_client(json::write(&named));
        } else {
            self.pass_client(message, is_whole);
        }
    }

    /// Splits an id that the client received into the server and the server's own id. Returns `None` if the id is from
    /// an earlier run.
    fn split_id<'i>(&self, id: &'i str) -> Option<(usize, &'i str)> {
        let (run, own) = id.split_once(':')?;
        let (server, run) = run.split_once('.')?;
        let server: usize = server.parse().ok()?;
        let state = self.servers.get(server)?;
        let is_present = run.parse() == Ok(state.run) && (!self.has_one_server() || state.run > 0);
        is_present.then_some((server, own))
    }

    /// Returns the content of the resource `toolwire://report`.
    pub(super) fn report(&self) -> String {
        let report = self.catalogue.report();
        let texts = |list: &[String]| list.iter().map(|text| message::quoted(text)).collect::<Vec<_>>().join(",");
        let left_out = report.left_out.iter().map(|entry| {
            let server = entry.server.as_deref().map_or_else(|| "null".into(), message::quoted);
            let (tool, why) = (message::quoted(&entry.tool), message::quoted(&entry.message));
            format!("{{\"tool\":{tool},\"server\":{server},\"message\":{why}}}")
        });
        let client = self.settings.client.as_ref().map_or_else(
            || "null".into(),
            |(name, source)| format!("{{\"name\":{},\"source\":{}}}", message::quoted(name), message::quoted(source)),
        );
        format!(
            "{{\"uri\":\"{REPORT}\",\"client\":{client},\"servers\":[{}],\"dialects\":[{}],\"tools\":{},\
             \"behindSearch\":{},\"leftOut\":[{}],\"changes\":[{}]}}",
            texts(&self.servers.iter().map(|server| server.name.clone()).collect::<Vec<_>>()),
            texts(&self.settings.dialects.iter().map(ToString::to_string).collect::<Vec<_>>()),
            report.tool_count,
            report.has_search,
            left_out.collect::<Vec<_>>().join(","),
            texts(&report.changes)
        )
    }

    pub(super) fn log_report(&mut self, report: &super::catalogue::Report) {
        for entry in report.left_out.iter().take(MAX_LOGGED) {
            let of = entry.server.as_deref().map(|server| format!(" of `{server}`")).unwrap_or_default();
            let tool = if entry.tool.is_empty() { "a tool without a name".into() } else { format!("`{}`", entry.tool) };
            self.log(&format!("{tool}{of} is left out: {}", entry.message));
        }
        if let Some(more) = report.left_out.len().checked_sub(MAX_LOGGED).filter(|more| *more > 0) {
            self.log(&format!("{more} more tools are left out; the resource `{REPORT}` lists them"));
        }
        if report.has_search {
            self.log(&format!("{} tools are available through a search", report.tool_count));
        }
        for change in &report.changes {
            self.report_line("changed", change);
        }
    }
}

fn qualified((server, run): (usize, u32), id: &str) -> String {
    format!("{server}.{run}:{id}")
}

impl Proxy {
    /// Handles a call. Before the first tool list, the call waits, because the list maps the name of the call to a
    /// tool.
    pub(super) fn call(&mut self, envelope: &Envelope, message: &Node<'_>, text: &str, is_whole: bool) {
        let (id, key) = (envelope.id.as_str(), envelope.key.as_str());
        if !self.catalogue.has_list() {
            let size: usize = self.waiting.iter().map(|waiting| waiting.text.len()).sum();
            if size.saturating_add(text.len()) > MAX_WAITING {
                let found = "too many calls are waiting for the list of tools";
                return self.write_client(message::error(id, SERVER_ERROR, found));
            }
            let is_asked = self.gatherings.values().any(|gathering| gathering.is_first_list_of(&What::Tools));
            self.waiting.push(Waiting { id: id.into(), key: key.into(), text: text.into() });
            if !is_asked {
                self.gather(What::Tools, None, &message::meta_of(message));
            }
            return;
        }
        let Some(name) = message::text_at(message, &["params", "name"]) else {
            let found = "expected the name of a tool in `params.name`, found none";
            return self.write_client(message::error(id, INVALID_PARAMS, found));
        };
        let arguments = message::at(message, &["params", "arguments"]).map(json::write);
        let call = match self.catalogue.resolve(&name, arguments.as_deref()) {
            Ok(Target::Server(call)) => *call,
            Ok(Target::Answer(result)) => return self.answer(id, &result),
            Ok(Target::Reader) => {
                let result = self.results.read(arguments.as_deref(), &name);
                return self.answer(id, &result);
            }
            // The server may have tools that it does not list.
            Ok(Target::Unknown) if self.has_one_server() => {
                return self.send_call(envelope, 0, Some(name), text, is_whole)
            }
            Ok(Target::Unknown) => {
                let found = format!("expected the name of a listed tool, found `{name}`");
                return self.write_client(message::error(id, INVALID_PARAMS, &found));
            }
            Err(error) => return self.write_client(message::error(id, INVALID_PARAMS, error.message())),
        };
        // A server may list a tool with the name of the reader after the model has seen a note with it.
        if name.starts_with(READ) && self.results.has_kept(arguments.as_deref()) {
            let result = self.results.read(arguments.as_deref(), &name);
            return self.answer(id, &result);
        }
        if let Some(repaired) = &call.repaired {
            for repair in &repaired.repairs {
                // The pointer is omitted, because it may contain names that the model derived from values.
                self.report_line("repaired", &format!("{}: {}", call.name, repair.rule.as_str()));
            }
            if let (Some(false), Some(wrong)) = (repaired.valid, &repaired.retry_message) {
                self.report_line("refused", &format!("{}: arguments that do not match its schema", call.name));
                return self.answer(id, &message::failed_call(wrong));
            }
        }
        if call.name == name && call.arguments == arguments {
            return self.send_call(envelope, call.server, Some(call.name), text, is_whole);
        }
        let mut restored = message.clone();
        let arguments = call.arguments.as_deref().map(|text| json::read(text).unwrap_or_else(|_| Node::string(text)));
        restored.visit("params", |params| {
            params.set("name", Node::string(call.name.as_str()));
            match arguments {
                Some(arguments) => params.set("arguments", arguments),
                None => {
                    params.remove("arguments");
                }
            }
        });
        let restored = json::write(&restored);
        self.send_call(envelope, call.server, Some(call.name), &restored, false);
    }

    fn send_call(&mut self, envelope: &Envelope, server: usize, tool: Option<String>, text: &str, is_whole: bool) {
        self.send(&envelope.id, &envelope.key, server, TOOLS_CALL, tool, text, is_whole);
    }

    /// Sends `text` to a server. If the message is whole, the host sends the line just received.
    #[allow(clippy::too_many_arguments, reason = "a request, its destination and its options")]
    pub(super) fn send(
        &mut self,
        id: &str,
        key: &str,
        server: usize,
        method: &str,
        tool: Option<String>,
        text: &str,
        is_whole: bool,
    ) {
        if self.servers.get(server).is_none_or(|server| server.state != State::Up) {
            let fault = self.servers.get(server).and_then(|server| server.fault.clone());
            let found = fault.unwrap_or_else(|| format!("the server {} is restarting", self.name(server)));
            return self.write_client(message::error(id, SERVER_ERROR, &found));
        }
        let is_modern_to_legacy = self.eras(server) == Some((Era::Modern, Era::Legacy));
        if is_modern_to_legacy && self.continue_request(server, id, method, text) {
            return;
        }
        self.add_headers(server, tool.as_deref(), text);
        let translated = self.translate(server, text);
        let (params, accepts) = if is_modern_to_legacy {
            self.askable_params(method, text).unzip()
        } else {
            (translated.as_deref().and_then(|text| self.kept_params(server, method, text)), None)
        };
        let accepts = accepts.unwrap_or_default();
        let (text, is_whole) = translated.as_deref().map_or((text, is_whole), |text| (text, false));
        let tool = tool.or_else(|| self.results.tool_of_task(server, method, text));
        let (id, method) = (id.to_string(), method.to_string());
        let pending = Pending { id, server, tool, method, params, accepts, rounds: 0, retry: None, token: None };
        self.pending.insert(key.to_string(), pending);
        let effect = if is_whole { Effect::PassToServer(server) } else { Effect::ToServer(server, text.to_string()) };
        self.effects.push(effect);
    }

    pub(super) fn report_line(&mut self, what: &str, line: &str) {
        if self.settings.verbose {
            self.log(&format!("{what} {line}"));
        }
        let line = crate::escaped_lines(&format!("{{\"{what}\":{}}}", message::quoted(line)));
        self.effects.push(Effect::Report(line));
    }
}
