//! Subscriptions: a modern client has a subscription for each `subscriptions/listen`, a legacy client has one for each
//! modern server. For each subscription, modern servers receive a request of the proxy, legacy servers
//! `resources/subscribe`.
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions>

use std::collections::{BTreeMap, BTreeSet};

use toolwire::internal::json::{self, Node};

use super::{
    message::{self, at, quoted, INVALID_REQUEST},
    owners::Owner,
    versions::{Era, SUBSCRIPTION},
    Effect, OwnRequest, Proxy, State, FIRST_DELAY, MAX_DELAY, REMEMBERED,
};

pub(super) const LISTEN: &str = "subscriptions/listen";
pub(super) const SUBSCRIBE: &str = "resources/subscribe";
pub(super) const UNSUBSCRIBE: &str = "resources/unsubscribe";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
pub(super) const UPDATED: &str = "notifications/resources/updated";

/// Members of the filter, and the lists whose changes they select.
const LISTS: [(&str, &str); 3] =
    [("toolsListChanged", "tools"), ("promptsListChanged", "prompts"), ("resourcesListChanged", "resources")];
const RESOURCES: &str = "resourceSubscriptions";

#[derive(Debug)]
pub(super) struct Listen {
    /// Id of the client's request, as JSON text. `None` for a legacy client.
    id: Option<String>,
    /// `_meta` of the client's request in an object, as JSON text.
    meta: String,
    lists: BTreeSet<&'static str>,
    /// Resources, and their servers.
    uris: BTreeMap<String, usize>,
    /// Ids of the proxy's own requests to modern servers, as JSON text.
    parts: BTreeMap<usize, String>,
    /// Servers that have not acknowledged their part.
    open: BTreeSet<usize>,
    /// Servers that have acknowledged the present request for their part.
    agreed: BTreeSet<usize>,
    lists_agreed: BTreeSet<&'static str>,
    uris_agreed: BTreeSet<String>,
    is_acknowledged: bool,
    /// Alarm for the acknowledgment. `again` contains the alarms for parts that are requested again.
    alarm: u64,
    again: BTreeMap<u64, usize>,
    /// Number of parts that have ended.
    ends: u32,
}

/// Returns the key of a legacy client's subscription. No id has this key.
fn legacy_key(server: usize) -> String {
    format!("server {server}")
}

impl Proxy {
    pub(super) fn listen(&mut self, id: &str, key: &str, message: &Node<'_>) {
        if self.listens.len() >= REMEMBERED {
            let found = format!("expected at most {REMEMBERED} subscriptions, found more");
            return self.write_client(message::error(id, INVALID_REQUEST, &found));
        }
        let filter = at(message, &["params", "notifications"]).cloned().unwrap_or_default();
        let lists = LISTS.iter().filter(|(member, _)| filter.bool_at(member) == Some(true)).map(|(_, list)| *list);
        let wanted = filter.items_at(RESOURCES).iter().filter_map(Node::as_text);
        let wanted: Vec<String> = wanted.map(|uri| uri.display().into_owned()).collect();
        let owned = |uri: String| Some((uri.clone(), self.owner(&uri)?));
        let uris = wanted.into_iter().filter_map(owned).collect();
        self.next += 1;
        let listen = Listen {
            id: Some(id.into()),
            meta: message::meta_of(message),
            lists: lists.collect(),
            uris,
            ..Listen::new(self.next)
        };
        let alarm = listen.alarm;
        self.listens.insert(key.into(), listen);
        for server in 0..self.servers.len() {
            self.listen_part(key, server);
        }
        match self.listens.get(key).is_some_and(|listen| listen.open.is_empty()) {
            true => self.acknowledge(key),
            false => self.effects.push(Effect::Alarm(alarm, u64::from(self.settings.timeout) * 1000)),
        }
    }

    /// Opens the subscription of a legacy client to a modern server.
    pub(super) fn listen_to(&mut self, server: usize) {
        self.next += 1;
        let listen = Listen {
            lists: LISTS.iter().map(|(_, list)| *list).collect(),
            is_acknowledged: true,
            ..Listen::new(self.next)
        };
        let key = legacy_key(server);
        self.listens.entry(key.clone()).or_insert(listen);
        self.listen_part(&key, server);
    }

    /// Adds a resource to the subscription of a legacy client to a modern server, or removes it if `begins` is false.
    /// Returns false if there are too many resources.
    pub(super) fn subscribe(&mut self, server: usize, uri: String, begins: bool) -> bool {
        let key = legacy_key(server);
        if !self.listens.contains_key(&key) {
            self.listen_to(server);
        }
        let Some(listen) = self.listens.get_mut(&key) else { return false };
        if begins && listen.uris.len() >= REMEMBERED && !listen.uris.contains_key(&uri) {
            return false;
        }
        let has_changed = match begins {
            true => listen.uris.insert(uri, server).is_none(),
            false => listen.uris.remove(&uri).is_some(),
        };
        if has_changed {
            self.end_part(&key, server);
            self.listen_part(&key, server);
        }
        true
    }

    pub(super) fn owner(&self, uri: &str) -> Option<usize> {
        match self.owners.of_uri(uri) {
            _ if self.has_one_server() => Some(0),
            Owner::One(server) => Some(server),
            _ => None,
        }
    }

    fn listen_part(&mut self, key: &str, server: usize) {
        let Some(listen) = self.listens.get(key) else { return };
        if self.servers.get(server).is_none_or(|server| server.state != State::Up) {
            return;
        }
        let declares = |list: &str, what| self.declares(server, &["capabilities", list, what]);
        let lists: Vec<&'static str> =
            listen.lists.iter().copied().filter(|list| declares(list, "listChanged")).collect();
        let uris = listen.uris.iter().filter(|(_, of)| **of == server && declares("resources", "subscribe"));
        let uris: Vec<String> = uris.map(|(uri, _)| uri.clone()).collect();
        if lists.is_empty() && uris.is_empty() || listen.parts.contains_key(&server) {
            return;
        }
        let meta = listen.meta.clone();
        let is_modern = self.is_modern(server);
        if is_modern {
            let params = match self.client {
                Some(Era::Modern) => meta,
                _ => self.stated_params("{}"),
            };
            let filter = filter(&lists, &uris);
            let params = message::params_with(&params, "notifications", json::read(&filter).unwrap_or_default());
            let id = self.own_id(OwnRequest::Listen(key.into(), server));
            self.write_server(server, message::request(&id, LISTEN, &params));
            if let Some(listen) = self.listens.get_mut(key) {
                listen.parts.insert(server, id);
                if !listen.is_acknowledged {
                    listen.open.insert(server);
                }
            }
            return;
        }
        for uri in &uris {
            let id = self.own_id(OwnRequest::Other(server));
            self.write_server(server, message::request(&id, SUBSCRIBE, &format!("{{\"uri\":{}}}", quoted(uri))));
        }
        if let Some(listen) = self.listens.get_mut(key) {
            listen.lists_agreed.extend(lists);
            listen.uris_agreed.extend(uris);
        }
    }

    pub(super) fn listen_again(&mut self, server: usize) {
        for key in self.listens.keys().cloned().collect::<Vec<String>>() {
            let is_other =
                self.listens.get(&key).is_some_and(|listen| listen.id.is_none()) && key != legacy_key(server);
            if !is_other {
                self.listen_part(&key, server);
            }
        }
    }

    fn acknowledge(&mut self, key: &str) {
        let Some(listen) = self.listens.get_mut(key).filter(|listen| !listen.is_acknowledged) else { return };
        listen.is_acknowledged = true;
        listen.open.clear();
        let lists: Vec<&str> = listen.lists_agreed.iter().copied().collect();
        let uris: Vec<String> = listen.uris.keys().filter(|uri| listen.uris_agreed.contains(*uri)).cloned().collect();
        let (id, filter) = (listen.id.clone().unwrap_or_default(), filter(&lists, &uris));
        self.write_client(format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"{ACKNOWLEDGED}\",\"params\":{{\"_meta\":{{\"{SUBSCRIPTION}\":{id}}},\
             \"notifications\":{filter}}}}}"
        ));
    }

    /// Handles an alarm. Returns false if the alarm is for something else.
    pub(super) fn handle_listen_alarm(&mut self, alarm: u64) -> bool {
        let is_of = |listen: &Listen| listen.alarm == alarm || listen.again.contains_key(&alarm);
        let found = self.listens.iter_mut().find(|(_, listen)| is_of(listen));
        let Some((key, listen)) = found.map(|(key, listen)| (key.clone(), listen)) else { return false };
        match listen.again.remove(&alarm) {
            Some(server) => self.listen_part(&key, server),
            None => self.acknowledge(&key),
        }
        true
    }

    /// Handles the end of a server's part. `is_graceful` is true if the server has ended the part. Such a part may be
    /// requested again, and so may an acknowledged part whose connection has ended.
    pub(super) fn listen_ended(&mut self, key: &str, server: usize, is_graceful: bool) {
        let Some(listen) = self.listens.get_mut(key) else { return };
        listen.parts.remove(&server);
        let waited = listen.open.remove(&server);
        let is_up = self.servers.get(server).is_some_and(|server| server.state == State::Up);
        let is_renewed = is_graceful || listen.agreed.contains(&server) && is_up;
        listen.agreed.remove(&server);
        let is_complete = waited && listen.open.is_empty();
        if is_renewed {
            let delay = (FIRST_DELAY << listen.ends.min(10)).min(MAX_DELAY);
            listen.ends += 1;
            self.next += 1;
            listen.again.insert(self.next, server);
            self.effects.push(Effect::Alarm(self.next, delay));
        }
        if is_complete {
            self.acknowledge(key);
        }
    }

    fn end_part(&mut self, key: &str, server: usize) {
        let Some(id) = self.listens.get_mut(key).and_then(|listen| listen.parts.remove(&server)) else { return };
        let part_key = message::key_of(&id);
        self.own_requests.remove(&part_key);
        super::remember(&mut self.cancelled, &part_key);
        self.write_server(server, message::cancelled(&id, "cancelled by the client"));
    }

    /// Returns false if the subscription does not exist.
    pub(super) fn cancel_listen(&mut self, key: &str) -> bool {
        let Some(listen) = self.listens.get(key) else { return false };
        for server in listen.parts.keys().copied().collect::<Vec<usize>>() {
            self.end_part(key, server);
        }
        let Some(listen) = self.listens.remove(key) else { return true };
        for (uri, server) in listen.uris {
            let is_wanted = self.listens.values().any(|other| other.uris.contains_key(&uri));
            if !is_wanted && !self.is_modern(server) && listen.uris_agreed.contains(&uri) {
                let id = self.own_id(OwnRequest::Other(server));
                let params = format!("{{\"uri\":{}}}", quoted(&uri));
                self.write_server(server, message::request(&id, UNSUBSCRIBE, &params));
            }
        }
        true
    }

    /// Handles a notification with the id of a subscription. Returns false if the subscription is the client's own.
    pub(super) fn handle_listen_message(&mut self, server: usize, subscription: &str, message: &Node<'_>) -> bool {
        let is_part = |listen: &Listen| listen.parts.get(&server).is_some_and(|id| message::key_of(id) == subscription);
        let found = self.listens.iter_mut().find(|(_, listen)| is_part(listen));
        let Some((key, listen)) = found.map(|(key, listen)| (key.clone(), listen)) else {
            // The subscription of the message was cancelled, or belongs to another server.
            return !self.has_one_server() || self.cancelled.iter().any(|key| key == subscription);
        };
        if message::text_at(message, &["method"]).as_deref() == Some(ACKNOWLEDGED) {
            let filter = at(message, &["params", "notifications"]).cloned().unwrap_or_default();
            let agreed = LISTS.iter().filter(|(member, _)| filter.bool_at(member) == Some(true));
            let agreed = agreed.map(|(_, list)| *list).filter(|list| listen.lists.contains(list));
            listen.lists_agreed.extend(agreed);
            listen.agreed.insert(server);
            if !listen.open.remove(&server) {
                return true;
            }
            let uris = filter.items_at(RESOURCES).iter().filter_map(Node::as_text);
            let uris = uris.map(|uri| uri.display().into_owned());
            listen.uris_agreed.extend(uris.filter(|uri| listen.uris.get(uri) == Some(&server)));
            if listen.open.is_empty() {
                self.acknowledge(&key);
            }
            return true;
        }
        let id = listen.id.clone();
        let method = message::text_at(message, &["method"]).unwrap_or_default();
        let is_requested = match changed_list(&method) {
            Some(list) => listen.lists.contains(list),
            None => {
                let uri = message::text_at(message, &["params", "uri"]).unwrap_or_default();
                method == UPDATED && listen.uris.get(&uri) == Some(&server)
            }
        };
        if !listen.is_acknowledged || !is_requested {
            return true;
        }
        let message = subscribed(message.clone(), id.as_deref());
        self.write_client(message);
        true
    }

    /// Handles a cancellation of a server. Returns true if the cancellation ends a part of a subscription.
    pub(super) fn handle_end_of_listen(&mut self, server: usize, key_of_part: &str) -> bool {
        let found = self.own_requests.get(key_of_part).and_then(|(_, request)| match request {
            OwnRequest::Listen(key, of) if *of == server => Some(key.clone()),
            _ => None,
        });
        let Some(key) = found else { return false };
        self.own_requests.remove(key_of_part);
        self.listen_ended(&key, server, true);
        true
    }

    pub(super) fn tell_changed(&mut self, list: &'static str, server: usize) {
        let method = format!("notifications/{list}/list_changed");
        if self.client != Some(Era::Modern) {
            return self.write_client(message::notification(&method));
        }
        let is_wanted = |listen: &&Listen| {
            listen.is_acknowledged && listen.lists.contains(list) && listen.lists_agreed.contains(list)
        };
        let ids: Vec<String> = self.listens.values().filter(is_wanted).filter_map(|listen| listen.id.clone()).collect();
        let message = message::notification(&method);
        let message = json::read(&message).unwrap_or_default();
        // A single modern server tells its client itself.
        if self.has_one_server() && self.is_modern(server) {
            return;
        }
        for id in &ids {
            self.effects.push(Effect::ToClient(subscribed(message.clone(), Some(id))));
        }
    }

    /// Notifies a modern client of an updated resource of a legacy server.
    pub(super) fn tell_updated(&mut self, server: usize, message: &Node<'_>) {
        let uri = message::text_at(message, &["params", "uri"]).unwrap_or_default();
        let is_wanted = |listen: &&Listen| listen.is_acknowledged && listen.uris.get(&uri) == Some(&server);
        let ids: Vec<String> = self.listens.values().filter(is_wanted).filter_map(|listen| listen.id.clone()).collect();
        for id in ids {
            self.write_client(subscribed(message.clone(), Some(&id)));
        }
    }
}

impl Listen {
    fn new(alarm: u64) -> Listen {
        Listen {
            id: None,
            meta: String::new(),
            lists: BTreeSet::new(),
            uris: BTreeMap::new(),
            parts: BTreeMap::new(),
            open: BTreeSet::new(),
            agreed: BTreeSet::new(),
            lists_agreed: BTreeSet::new(),
            uris_agreed: BTreeSet::new(),
            is_acknowledged: false,
            alarm,
            again: BTreeMap::new(),
            ends: 0,
        }
    }
}

fn filter(lists: &[&str], uris: &[String]) -> String {
    let flags = LISTS.iter().filter(|(_, list)| lists.contains(list)).map(|(member, _)| format!("\"{member}\":true"));
    let quoted_uris: Vec<String> = uris.iter().map(|uri| quoted(uri)).collect();
    let uris = (!uris.is_empty()).then(|| format!("\"{RESOURCES}\":[{}]", quoted_uris.join(",")));
    format!("{{{}}}", flags.chain(uris).collect::<Vec<String>>().join(","))
}

fn subscribed<'a>(mut message: Node<'a>, id: Option<&'a str>) -> String {
    let mut params = message.get("params").cloned().unwrap_or_else(message::empty);
    let mut meta = params.get("_meta").cloned().unwrap_or_else(message::empty);
    match id {
        Some(id) => meta.set(SUBSCRIPTION, json::read(id).unwrap_or_default()),
        None => drop(meta.remove(SUBSCRIPTION)),
    }
    match meta.as_object().is_some_and(|meta| meta.is_empty()) {
        true => drop(params.remove("_meta")),
        false => params.set("_meta", meta),
    }
    match params.as_object().is_some_and(|params| params.is_empty()) {
        true => drop(message.remove("params")),
        false => message.set("params", params),
    }
    json::write(&message)
}

pub(super) fn changed_list(method: &str) -> Option<&'static str> {
    let list = method.strip_prefix("notifications/")?.strip_suffix("/list_changed")?;
    ["tools", "prompts", "resources"].into_iter().find(|known| *known == list)
}
