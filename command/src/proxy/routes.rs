//! Whose a message is, among several servers: by the tool, the URI, the prompt or the task that it names.
//!
//! With one server there is nothing to decide: everything that is not about tools passes.

use std::collections::{BTreeMap, BTreeSet};

use toolwire::json::{self, Node};

use super::{
    gathering::What,
    message::{self, Envelope, Kind, INVALID_PARAMS, METHOD_NOT_FOUND},
    Effect, Proxy, Server, State, CANCELLED, INITIALIZE, REPORT,
};

/// What stands between the name of a server and that of a prompt that several servers have.
const BETWEEN: &str = "__";
/// The most names of one kind that are kept.
const MOST: usize = 100_000;

/// What the servers have listed.
#[derive(Debug, Default)]
pub(super) struct Routes {
    resources: BTreeMap<String, usize>,
    /// What stands before the first `{` of a template.
    templates: BTreeMap<String, usize>,
    /// The prompts as the client knows them: the server, and the name there.
    prompts: BTreeMap<String, (usize, String)>,
    tasks: BTreeMap<String, usize>,
}

impl Routes {
    /// Notes the entries of a list; gives those that the client gets.
    pub(super) fn list(
        &mut self,
        method: &str,
        key: &'static str,
        lists: &[(usize, &[String])],
        servers: &[Server],
    ) -> Vec<String> {
        let mut count: BTreeMap<String, usize> = BTreeMap::new();
        if method == "prompts/list" {
            self.prompts.clear();
            for (_, entries) in lists {
                let names: BTreeSet<String> = entries.iter().filter_map(|entry| named(entry, "name")).collect();
                names.into_iter().for_each(|name| *count.entry(name).or_default() += 1);
            }
        }
        let mut out = Vec::new();
        for (server, entries) in lists {
            for entry in *entries {
                match key {
                    "prompts" => {
                        let Some(name) = named(entry, "name") else { continue };
                        let whose = servers.get(*server).map(|server| server.name.as_str()).unwrap_or_default();
                        let is_unique = count.get(&name).is_none_or(|count| *count == 1);
                        let shown = if is_unique { name.clone() } else { format!("{whose}{BETWEEN}{name}") };
                        if self.prompts.contains_key(&shown) || self.prompts.len() >= MOST {
                            continue;
                        }
                        out.push(if is_unique { entry.clone() } else { renamed(entry, &shown) });
                        self.prompts.insert(shown, (*server, name));
                        continue;
                    }
                    "resources" => note(&mut self.resources, named(entry, "uri"), *server),
                    "resourceTemplates" => {
                        let template = named(entry, "uriTemplate");
                        let before = template.map(|text| text.split('{').next().unwrap_or_default().to_string());
                        note(&mut self.templates, before, *server);
                    }
                    "tasks" => note(&mut self.tasks, named(entry, "taskId"), *server),
                    _ => {}
                }
                out.push(entry.clone());
            }
        }
        out
    }

    /// Notes the task that a result begins.
    pub(super) fn note(&mut self, server: usize, method: &str, message: &Node<'_>) {
        if method == super::TOOLS_CALL {
            note(&mut self.tasks, message::text_at(message, &["result", "task", "taskId"]), server);
        }
    }

    /// Forgets the tasks of a server that has ended.
    pub(super) fn forget(&mut self, server: usize) {
        self.tasks.retain(|_, of| *of != server);
    }

    fn of_uri(&self, uri: &str) -> Option<usize> {
        let known = self.resources.get(uri).copied();
        // The longest beginning says most.
        let templates = || self.templates.iter().filter(|(before, _)| uri.starts_with(before.as_str()));
        known.or_else(|| templates().max_by_key(|(before, _)| before.len()).map(|(_, server)| *server))
    }
}

fn named(entry: &str, key: &str) -> Option<String> {
    message::text_at(&json::read(entry).ok()?, &[key])
}

fn renamed(entry: &str, name: &str) -> String {
    let Ok(mut entry) = json::read(entry) else { return entry.to_string() };
    entry.set("name", Node::string(name));
    json::write(&entry)
}

/// Notes whose a name is: the first server that has it.
fn note(names: &mut BTreeMap<String, usize>, name: Option<String>, server: usize) {
    if let Some(name) = name.filter(|_| names.len() < MOST) {
        names.entry(name).or_insert(server);
    }
}

impl Proxy {
    /// Hands a message of the client to whom it is for.
    pub(super) fn route(&mut self, envelope: &Envelope, message: &Node<'_>, text: &str, is_whole: bool) {
        let Envelope { kind, id, method } = envelope;
        if self.is_one() {
            if *kind == Kind::Request {
                return self.send(id, 0, method, None, text, is_whole);
            }
            if method == CANCELLED {
                self.cancel(message);
            }
            return self.pass_to_server(0, text, is_whole);
        }
        match kind {
            Kind::Request => self.request(id, method, message, text, is_whole),
            Kind::Notification if method == CANCELLED => {
                if let Some(server) = self.cancel(message) {
                    self.pass_to_server(server, text, is_whole);
                }
            }
            Kind::Notification if method == "notifications/progress" => {
                let token = message::text_at(message, &["params", "progressToken"]);
                let Some((server, own)) = token.as_deref().and_then(taken_apart) else { return };
                let (server, own) = (server, own.to_string());
                let mut restored = message.clone();
                if let Ok(token) = json::read(&own) {
                    restored.visit("params", |params| params.set("progressToken", token));
                }
                self.pass_to_server(server, &json::write(&restored), false);
            }
            // The others are about the client itself.
            Kind::Notification => {
                (0..self.servers.len()).for_each(|server| self.pass_to_server(server, text, is_whole))
            }
            Kind::Response => {
                let Some(own) = message.get("id").and_then(Node::as_text).map(|id| id.display().into_owned()) else {
                    return;
                };
                let Some((server, own)) = taken_apart(&own) else { return };
                let mut restored = message.clone();
                if let Ok(own) = json::read(own) {
                    restored.set("id", own);
                    let restored = json::write(&restored);
                    self.pass_to_server(server, &restored, false);
                }
            }
        }
    }

    /// A request of the client, where there are several servers.
    fn request(&mut self, id: &str, method: &str, message: &Node<'_>, text: &str, is_whole: bool) {
        let list = |key: &'static str| What::List(method.to_string(), key);
        let what = match method {
            INITIALIZE => Some(What::Initialize),
            "server/discover" | "logging/setLevel" => Some(What::All(method.to_string())),
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
        let (server, named) = match method {
            "ping" => return self.to_client(message::result(id, "{}")),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                let uri = param(&["params", "uri"]);
                (self.routes.of_uri(&uri), format!("the URI of a resource that was listed, found `{uri}`"))
            }
            "prompts/get" => return self.prompt(id, &["params", "name"], method, message, text, is_whole),
            "completion/complete" => match param(&["params", "ref", "uri"]) {
                uri if uri.is_empty() => {
                    return self.prompt(id, &["params", "ref", "name"], method, message, text, is_whole);
                }
                uri => (self.routes.of_uri(&uri), format!("the URI of a resource that was listed, found `{uri}`")),
            },
            "tasks/get" | "tasks/result" | "tasks/cancel" => {
                let task = param(&["params", "taskId"]);
                (self.routes.tasks.get(&task).copied(), format!("the id of a task that runs, found `{task}`"))
            }
            _ => {
                let found = format!("expected a method that names one of several servers, found `{method}`");
                return self.to_client(message::error(id, METHOD_NOT_FOUND, &found));
            }
        };
        match server {
            Some(server) => self.send(id, server, method, None, text, is_whole),
            None => self.to_client(message::error(id, INVALID_PARAMS, &format!("expected {named}"))),
        }
    }

    /// A request about a prompt.
    fn prompt(
        &mut self,
        id: &str,
        path: &[&'static str],
        method: &str,
        message: &Node<'_>,
        text: &str,
        is_whole: bool,
    ) {
        let shown = message::text_at(message, path).unwrap_or_default();
        let Some((server, name)) = self.routes.prompts.get(&shown).cloned() else {
            let found = format!("expected the name of a prompt that was listed, found `{shown}`");
            return self.to_client(message::error(id, INVALID_PARAMS, &found));
        };
        if name == shown {
            return self.send(id, server, method, None, text, is_whole);
        }
        let mut restored = message.clone();
        if let [above @ .., last] = path {
            set_at(&mut restored, above, last, &name);
        }
        self.send(id, server, method, None, &json::write(&restored), false);
    }

    /// Forgets a request that the client has given up; gives whose it was.
    fn cancel(&mut self, message: &Node<'_>) -> Option<usize> {
        let id = message::at(message, &["params", "requestId"]).map(json::write)?;
        self.pending.remove(&id).map(|pending| pending.server)
    }

    fn pass_to_server(&mut self, server: usize, text: &str, is_whole: bool) {
        if self.servers.get(server).is_none_or(|server| server.state != State::Up) {
            return;
        }
        let effect = if is_whole { Effect::PassToServer(server) } else { Effect::ToServer(server, text.to_string()) };
        self.effects.push(effect);
    }

    /// Hands a request or a notification of a server to the client. Ids of several servers may be the same, so that the
    /// client gets one that says whose it is.
    pub(super) fn route_back(&mut self, server: usize, envelope: &Envelope, message: &Node<'_>, is_whole: bool) {
        if self.is_one() {
            return self.pass_to_client(message, is_whole);
        }
        let mut named = message.clone();
        match envelope.kind {
            Kind::Request => {
                named.set("id", Node::string(put_together(server, &envelope.id)));
                if let Some(token) = message::at(message, &["params", "_meta", "progressToken"]).map(json::write) {
                    set_at(&mut named, &["params", "_meta"], "progressToken", &put_together(server, &token));
                }
            }
            Kind::Notification if envelope.method == CANCELLED => {
                let Some(id) = message::at(message, &["params", "requestId"]).map(json::write) else { return };
                set_at(&mut named, &["params"], "requestId", &put_together(server, &id));
            }
            _ => return self.pass_to_client(message, is_whole),
        }
        self.to_client(json::write(&named));
    }

    /// What the resource `toolwire://report` says.
    pub(super) fn report(&self) -> String {
        let report = self.catalogue.report();
        let texts = |list: &[String]| list.iter().map(|text| message::quoted(text)).collect::<Vec<_>>().join(",");
        let left_out = report.left_out.iter().map(|one| {
            let server = one.server.as_deref().map_or_else(|| "null".into(), message::quoted);
            let (tool, why) = (message::quoted(&one.tool), message::quoted(&one.message));
            format!("{{\"tool\":{tool},\"server\":{server},\"message\":{why}}}")
        });
        let client = self.settings.client.as_ref().map_or_else(
            || "null".into(),
            |(name, source)| format!("{{\"name\":{},\"source\":{}}}", message::quoted(name), message::quoted(source)),
        );
        format!(
            "{{\"uri\":\"{REPORT}\",\"client\":{client},\"servers\":[{}],\"dialects\":[{}],\"tools\":{},\"behindSearch\":{},\"leftOut\":[{}],\
             \"changes\":[{}]}}",
            texts(&self.servers.iter().map(|server| server.name.clone()).collect::<Vec<_>>()),
            texts(&self.settings.dialects),
            report.count,
            report.searched,
            left_out.collect::<Vec<_>>().join(","),
            texts(&report.changes)
        )
    }

    /// Says what became of the tools: which are left out always, and what was changed if that was asked for.
    pub(super) fn tell(&mut self, report: &super::catalogue::Report) {
        for one in &report.left_out {
            let of = one.server.as_deref().map(|server| format!(" of `{server}`")).unwrap_or_default();
            let tool = if one.tool.is_empty() { "a tool without a name".into() } else { format!("`{}`", one.tool) };
            self.log(&format!("{tool}{of} is left out: {}", one.message));
        }
        if report.searched {
            self.log(&format!("{} tools are behind a search", report.count));
        }
        for change in &report.changes {
            self.told("changed", change);
        }
    }
}

/// An id of a server's, with its number, as the client gets it.
fn put_together(server: usize, id: &str) -> String {
    format!("{server}:{id}")
}

/// The server, and the id as the server wrote it, as JSON text.
fn taken_apart(id: &str) -> Option<(usize, &str)> {
    let (server, id) = id.split_once(':')?;
    Some((server.parse().ok()?, id))
}

/// Sets a text in an object at a path of members.
fn set_at(message: &mut Node<'_>, path: &[&'static str], key: &'static str, text: &str) {
    match path {
        [] => message.set(key, Node::string(text.to_string())),
        [first, rest @ ..] => {
            message.visit(*first, |inner| set_at(inner, rest, key, text));
        }
    }
}
