//! Messages between a client and a server of different eras.
//!
//! | what | legacy client, modern server | modern client, legacy server |
//! |---|---|---|
//! | requests | state version and client | state neither |
//! | results | pass | receive a type and cache rules |
//! | requests of the server | are in results (`rounds`) | become results (`questions`) |
//! | lists that change, resources | `subscriptions` | `subscriptions` |
//! | log level | in each request | `logging/setLevel` |

use toolwire::internal::json::{self, Node};

use super::{
    message::{self, at, quoted, Envelope, Kind, METHOD_NOT_FOUND, SERVER_ERROR},
    mirrored,
    subscriptions::{changed_list, LISTEN, SUBSCRIBE, UNSUBSCRIBE, UPDATED},
    versions::{Era, CAPABILITIES, CLIENT, DISCOVER, LOG_LEVEL, SERVER, SUBSCRIPTION, VERSION},
    Effect, OwnRequest, Proxy, CANCELLED, INITIALIZED, REMEMBERED, RESULT_TYPE,
};

const SET_LEVEL: &str = "logging/setLevel";
const LOGGED: &str = "notifications/message";
const PROGRESS: &str = "notifications/progress";
/// Notifications of a legacy client that modern servers do not know.
const LEGACY_NOTIFICATIONS: [&str; 3] = [INITIALIZED, "notifications/roots/list_changed", PROGRESS];
/// Methods whose modern results have cache rules.
const CACHED: [&str; 6] =
    ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read", DISCOVER];
/// Code of a legacy error for an unknown resource, and the code of the modern error.
const NO_RESOURCE: &str = "-32002";
const NO_PARAMETER: &str = "-32602";

/// Adds the members that a modern result of this method needs. `result` is JSON text.
pub(super) fn modern_result(method: &str, result: &str) -> String {
    let mut text = result.to_string();
    let mut add = |name: &str, value: &str, is_first: bool| {
        if !text.starts_with('{') || message::has_member(&text, name) {
            return;
        }
        let comma = if text == "{}" { "" } else { "," };
        if is_first {
            text = format!("{{{}:{value}{comma}{}", quoted(name), text.get(1..).unwrap_or_default());
        } else {
            let inner = text.trim_end().strip_suffix('}').unwrap_or_default();
            text = format!("{inner}{comma}{}:{value}}}", quoted(name));
        }
    };
    add(RESULT_TYPE, "\"complete\"", true);
    if CACHED.contains(&method) {
        add("ttlMs", "0", false);
        add("cacheScope", "\"private\"", false);
    }
    text
}

pub(super) fn without_token(mut meta: Node<'_>) -> Node<'_> {
    meta.remove("progressToken");
    meta
}

/// Converts the result of `server/discover` to the result of `initialize`. `wanted` is the client's version.
pub(super) fn legacy_greeting(discovered: &Node<'_>, wanted: Option<&str>) -> String {
    let version = wanted.filter(|version| Era::of(version) == Some(Era::Legacy)).unwrap_or(Era::Legacy.latest());
    let capabilities = discovered.get("capabilities").map_or_else(|| "{}".into(), json::write);
    let server = at(discovered, &["_meta", SERVER]).or_else(|| discovered.get("serverInfo"));
    let server = server.map_or_else(|| "{\"name\":\"\",\"version\":\"\"}".into(), json::write);
    let instructions = discovered.get("instructions").map(|text| format!(",\"instructions\":{}", json::write(text)));
    format!(
        "{{\"protocolVersion\":{},\"capabilities\":{capabilities},\"serverInfo\":{server}{}}}",
        quoted(version),
        instructions.unwrap_or_default()
    )
}

/// Converts the result of `initialize` to the result of `server/discover`.
fn modern_greeting(greeting: &Node<'_>) -> String {
    let versions: Vec<String> = Era::Modern.versions().map(quoted).collect();
    let member = |name: &str| greeting.get(name).map(json::write);
    let server = at(greeting, &["_meta", SERVER]).map(json::write).or_else(|| member("serverInfo"));
    let meta = server.map(|server| format!(",\"_meta\":{{\"{SERVER}\":{server}}}")).unwrap_or_default();
    let instructions = member("instructions").map(|text| format!(",\"instructions\":{text}")).unwrap_or_default();
    format!(
        "{{\"supportedVersions\":[{}],\"capabilities\":{}{instructions}{meta}}}",
        versions.join(","),
        member("capabilities").unwrap_or_else(|| "{}".into()),
    )
}

impl Proxy {
    /// Returns the eras of the client and of the server, if they differ.
    pub(super) fn eras(&self, server: usize) -> Option<(Era, Era)> {
        let client = self.client.unwrap_or(Era::Legacy);
        let server = self.servers.get(server)?.era.unwrap_or(client);
        (client != server).then_some((client, server))
    }

    pub(super) fn translates(&self, server: usize) -> bool {
        self.eras(server).is_some()
    }

    pub(super) fn is_modern(&self, server: usize) -> bool {
        self.servers.get(server).is_some_and(|server| server.era == Some(Era::Modern))
    }

    pub(super) fn translate(&mut self, server: usize, text: &str) -> Option<String> {
        let (_, era) = self.eras(server)?;
        let mut message = json::read(text).ok()?;
        if era == Era::Modern {
            let params = message.get("params").map_or_else(|| "{}".into(), json::write);
            let params = self.stated_params(&params);
            let mut params = json::read(&params).unwrap_or_default();
            if let Some(level) = &self.level {
                params.visit("_meta", |meta| meta.set(LOG_LEVEL, Node::string(level.clone())));
            }
            message.set("params", params);
            return Some(json::write(&message));
        }
        let level = message::text_at(&message, &["params", "_meta", LOG_LEVEL]);
        let known_level = self.servers.get(server).and_then(|server| server.level.clone());
        if level.is_some() && level != known_level && self.has_capability(server, "logging") {
            let params = format!("{{\"level\":{}}}", quoted(level.as_deref().unwrap_or_default()));
            let id = self.own_id(OwnRequest::Other(server));
            self.write_server(server, message::request(&id, SET_LEVEL, &params));
            if let Some(state) = self.servers.get_mut(server) {
                state.level.clone_from(&level);
            }
        }
        self.level = level.or_else(|| self.level.take());
        message.visit("params", |params| {
            params.visit("_meta", |meta| {
                for name in [VERSION, CLIENT, CAPABILITIES, LOG_LEVEL] {
                    meta.remove(name);
                }
            });
            if at(params, &["_meta"]).and_then(Node::as_object).is_some_and(|meta| meta.is_empty()) {
                params.remove("_meta");
            }
        });
        Some(json::write(&message))
    }

    pub(super) fn write_request(&mut self, server: usize, text: String) {
        let text = self.translate(server, &text).unwrap_or(text);
        self.write_server(server, text);
    }

    /// Adds the headers that repeat arguments of a call. The tool's original schema marks these arguments.
    pub(super) fn add_headers(&mut self, server: usize, tool: Option<&str>, text: &str) {
        let definition =
            tool.filter(|_| self.is_modern(server)).and_then(|tool| self.catalogue.original_definitions(server, tool));
        let Some(definition) = definition.filter(|definition| definition.contains(mirrored::ANNOTATION)) else {
            return;
        };
        let read = json::read(definition).ok().zip(json::read(text).ok());
        let headers = read.as_ref().and_then(|(tool, message)| {
            Some(mirrored::parameters(tool.get("inputSchema")?, at(message, &["params", "arguments"])?))
        });
        if let Some(headers) = headers.filter(|headers| !headers.is_empty()) {
            self.effects.push(Effect::Headers(server, headers));
        }
    }

    pub(super) fn notify_servers(&mut self, method: &str, text: &str, is_whole: bool) {
        for server in 0..self.servers.len() {
            if self.eras(server).is_none() || !LEGACY_NOTIFICATIONS.contains(&method) {
                self.pass_server(server, text, is_whole);
            } else if method == INITIALIZED {
                self.listen_to(server);
            }
        }
    }

    /// Answers a request that only servers of the client's era know. Returns false for other requests.
    pub(super) fn answer_for_era(&mut self, envelope: &Envelope, message: &Node<'_>) -> bool {
        let Envelope { kind, id, key, method } = envelope;
        let has_other = (0..self.servers.len()).any(|server| self.translates(server));
        if *kind != Kind::Request {
            return false;
        }
        match (self.client, method.as_str()) {
            (Some(Era::Modern), DISCOVER) if has_other || !self.has_one_server() => match self.merged_discovery() {
                Some(result) => self.answer_to(DISCOVER, id, &result),
                None => self.refuse_discovery(id),
            },
            (Some(Era::Modern), LISTEN) if has_other || !self.has_one_server() => self.listen(id, key, message),
            (Some(Era::Legacy), "ping") if has_other && self.has_one_server() => self.answer(id, "{}"),
            (Some(Era::Legacy), SET_LEVEL) if has_other => {
                self.level = message::text_at(message, &["params", "level"]);
                let mut others = (0..self.servers.len()).filter(|server| !self.is_modern(*server));
                if others.any(|server| self.has_capability(server, "logging")) {
                    return false;
                }
                self.answer(id, "{}");
            }
            (Some(Era::Legacy), SUBSCRIBE | UNSUBSCRIBE) if has_other => {
                let uri = message::text_at(message, &["params", "uri"]).unwrap_or_default();
                let Some(server) = self.owner(&uri).filter(|server| self.is_modern(*server)) else { return false };
                if self.subscribe(server, uri, method == SUBSCRIBE) {
                    self.answer(id, "{}");
                } else {
                    let found = format!("expected at most {REMEMBERED} subscriptions to resources, found more");
                    self.write_client(message::error(id, SERVER_ERROR, &found));
                }
            }
            _ => return false,
        }
        true
    }

    /// Refuses `server/discover` while no server is known. An empty list of versions would end the session.
    fn refuse_discovery(&mut self, id: &str) {
        let fault = self.servers.iter().find_map(|server| server.fault.clone());
        let found = fault.unwrap_or_else(|| "expected a server to run, found all restarting".into());
        self.write_client(message::error(id, SERVER_ERROR, &found));
    }

    /// Returns the result of `server/discover` for all servers together; `None` if no server has answered it.
    fn merged_discovery(&self) -> Option<String> {
        let known = self.servers.iter().filter_map(|server| Some((server, server.greeting.as_deref()?)));
        let known: Vec<(&str, String)> = known
            .map(|(server, greeting)| {
                (server.name.as_str(), modern_greeting(&json::read(greeting).unwrap_or_default()))
            })
            .collect();
        match known.as_slice() {
            [] => None,
            [(_, greeting)] if self.has_one_server() => Some(greeting.clone()),
            known => Some(super::gathering::merged_discoveries(known)),
        }
    }

    /// Replaces the URIs of a server with the URIs that the client knows. Returns `None` if they are equal.
    pub(super) fn with_shown_uris<'a>(&self, server: usize, method: &str, message: &Node<'a>) -> Option<Node<'a>> {
        if self.has_one_server() || method != "resources/read" {
            return None;
        }
        let shown = |content: &Node<'_>| {
            let uri = message::text_at(content, &["uri"])?;
            self.owners.shown_uri(server, &uri).filter(|shown| *shown != uri)
        };
        let contents = at(message, &["result", "contents"])?.as_array()?;
        let changed: Vec<Option<String>> = contents.iter().map(shown).collect();
        changed.iter().any(Option::is_some).then(|| {
            let mut message = message.clone();
            message.visit("result", |result| {
                result.visit("contents", |contents| {
                    for (content, shown) in contents.as_array_mut().into_iter().flatten().zip(changed) {
                        if let Some(shown) = shown {
                            content.set("uri", Node::string(shown));
                        }
                    }
                });
            });
            message
        })
    }

    pub(super) fn pass_answer(&mut self, server: usize, method: &str, message: &Node<'_>, is_whole: bool) {
        if self.eras(server) != Some((Era::Modern, Era::Legacy)) {
            return self.pass_client(message, is_whole);
        }
        let mut message = message.clone();
        if let Some(result) = message.get("result").map(json::write) {
            let result = modern_result(method, &result);
            let id = message.get("id").map(json::write).unwrap_or_default();
            return self.write_client(message::result(&id, &result));
        }
        message.visit("error", |error| {
            if error.get("code").and_then(Node::as_number) == Some(NO_RESOURCE) {
                error.set("code", json::read(NO_PARAMETER).unwrap_or_default());
            }
        });
        self.write_client(json::write(&message));
    }

    /// Handles a message that the client does not know, or that belongs to a subscription. Returns false for other
    /// messages.
    pub(super) fn translate_back(&mut self, server: usize, envelope: &Envelope, message: &Node<'_>) -> bool {
        let (id, method) = (envelope.id.as_str(), envelope.method.as_str());
        if let Some(list) = changed_list(method) {
            let lists: &[&str] = if list == "resources" { &["resources", "resourceTemplates"] } else { &[list] };
            self.listed.retain(|listed| !lists.contains(listed));
        }
        if envelope.kind == Kind::Request {
            if self.client != Some(Era::Modern) || self.has_one_server() && self.is_modern(server) {
                return false;
            }
            if !self.is_modern(server) {
                self.on_question(server, envelope, message);
                return true;
            }
            let found = format!(
                "expected no request from the server {}, because its client accepts none; found `{method}`",
                self.name(server)
            );
            self.log_once(&found);
            self.write_server(server, message::error(id, METHOD_NOT_FOUND, &found));
            return true;
        }
        if let Some(subscription) = at(message, &["params", "_meta", SUBSCRIPTION]).map(json::canonical) {
            return self.handle_listen_message(server, &subscription, message);
        }
        if method == CANCELLED && self.is_modern(server) {
            let key = at(message, &["params", "requestId"]).map(json::canonical).unwrap_or_default();
            // The server has ended the client's own subscription.
            if self.pending.get(&key).is_some_and(|pending| pending.server == server && pending.method == LISTEN) {
                self.pending.remove(&key);
            }
            return self.handle_end_of_listen(server, &key);
        }
        if self.eras(server) != Some((Era::Modern, Era::Legacy)) {
            return false;
        }
        match method {
            // These are about requests of the server, which the client does not know.
            CANCELLED => true,
            PROGRESS => match self.with_last_token(server, message) {
                Some(text) => {
                    self.write_client(text);
                    true
                }
                None => false,
            },
            LOGGED => self.level.is_none(),
            UPDATED => {
                self.tell_updated(server, message);
                true
            }
            _ => match changed_list(method) {
                Some(list) => {
                    self.tell_changed(list, server);
                    true
                }
                None => false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::modern_result;

    #[test]
    fn a_modern_result_has_each_member_once() {
        for (method, result, expected) in [
            ("", "{}", r#"{"resultType":"complete"}"#),
            (
                "tools/list",
                r#"{"tools":[]}"#,
                r#"{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}"#,
            ),
            (
                "tools/list",
                r#"{"tools":[],"resultType":"complete","cacheScope":"public","ttlMs":5}"#,
                r#"{"tools":[],"resultType":"complete","cacheScope":"public","ttlMs":5}"#,
            ),
            ("", r#"{"result\u0054ype":"input_required"}"#, r#"{"result\u0054ype":"input_required"}"#),
            ("", "[]", "[]"),
        ] {
            assert_eq!(modern_result(method, result), expected);
        }
    }
}
