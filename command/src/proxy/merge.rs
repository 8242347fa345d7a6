//! Merges the answers of several servers into one.

use std::collections::BTreeMap;

use toolwire::json::{self, Member, Node, Object, Text};

use super::message::{at, empty, quoted, text_at};

/// Returns the result of a list request: the entries of all servers, and the other members of the first server's
/// result.
pub(super) fn list(first: &BTreeMap<usize, String>, key: &'static str, entries: &[String]) -> String {
    list_text(first, key, &format!("[{}]", entries.join(",")))
}

/// Same as [`list`], with the entries as JSON text.
pub(super) fn list_text(first: &BTreeMap<usize, String>, key: &'static str, entries: &str) -> String {
    let mut result = frame(first);
    if let Ok(entries) = json::read(entries) {
        result.set(key, entries);
        return json::write(&result);
    }
    json::write(&result)
}

/// Returns the other members of the first server's result, with the strictest cache rules of all servers.
fn frame(first: &BTreeMap<usize, String>) -> Node<'_> {
    let read: Vec<Node<'_>> = first.values().filter_map(|text| json::read(text).ok()).collect();
    let least = read.iter().map(|one| one.u64_at("ttlMs").unwrap_or_default()).min();
    let is_public = read.iter().all(|one| one.get("cacheScope").is_some_and(|scope| scope.is_text("public")));
    let several = read.len() > 1;
    let mut frame = read.into_iter().next().unwrap_or_else(empty);
    if let (true, Some(least), true) = (several, least, frame.get("ttlMs").is_some()) {
        frame.set("ttlMs", Node::count(least));
    }
    if several && !is_public && frame.get("cacheScope").is_some() {
        frame.set("cacheScope", Node::string("private"));
    }
    frame
}

/// Returns the result of `server/discover`: the versions that all servers support, and the capabilities of any server.
pub(super) fn discoveries(first: &BTreeMap<usize, String>, names: &[&str]) -> String {
    const VERSIONS: &str = "supportedVersions";
    let read: Vec<Node<'_>> = first.values().filter_map(|text| json::read(text).ok()).collect();
    let named: Vec<(&str, &Node<'_>)> = names.iter().copied().zip(&read).collect();
    let has =
        |one: &Node<'_>, version: &Node<'_>| one.items_at(VERSIONS).iter().any(|other| json::same(other, version));
    let versions = read.first().and_then(|one| one.get(VERSIONS)).and_then(Node::as_array).unwrap_or_default();
    let versions: Vec<Node<'_>> =
        versions.iter().filter(|version| read.iter().all(|one| has(one, version))).cloned().collect();
    let mut result = frame(first);
    result.set("capabilities", capabilities(&read));
    result.set(VERSIONS, Node::array(versions));
    if let Some(instructions) = instructions(&named) {
        result.set("instructions", Node::string(instructions));
    }
    json::write(&result)
}

/// Returns the result of `initialize`: the oldest version among the servers' answers, so that all servers support it;
/// the capabilities of any server; and the instructions of every server.
pub(super) fn greetings<'s>(servers: impl Iterator<Item = (&'s str, &'s str)>) -> String {
    let read = servers.filter_map(|(name, greeting)| Some((name, json::read(greeting).ok()?)));
    let read: Vec<(&str, Node<'s>)> = read.collect();
    let version = read.iter().filter_map(|(_, greeting)| text_at(greeting, &["protocolVersion"])).min();
    let greetings: Vec<Node<'_>> = read.iter().map(|(_, greeting)| greeting.clone()).collect();
    let capabilities = json::write(&capabilities(&greetings));
    let named: Vec<(&str, &Node<'_>)> = read.iter().map(|(name, greeting)| (*name, greeting)).collect();
    let instructions = instructions(&named).map(|text| format!(",\"instructions\":{}", quoted(&text)));
    let instructions = instructions.unwrap_or_default();
    format!(
        "{{\"protocolVersion\":{},\"capabilities\":{capabilities},\"serverInfo\":{{\"name\":\"toolwire\",\"version\":\
         \"{}\"}}{instructions}}}",
        quoted(version.as_deref().unwrap_or_default()),
        env!("CARGO_PKG_VERSION")
    )
}

/// Returns the servers' instructions for the model, each under the name of its server.
fn instructions(servers: &[(&str, &Node<'_>)]) -> Option<String> {
    let texts = servers
        .iter()
        .filter_map(|(name, greeting)| Some(format!("# {name}\n\n{}", text_at(greeting, &["instructions"])?)));
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// Returns the union of the servers' capabilities.
fn capabilities<'a>(greetings: &[Node<'a>]) -> Node<'a> {
    let mut capabilities: Vec<Member<'a>> = Vec::new();
    for greeting in greetings {
        let found = at(greeting, &["capabilities"]).and_then(Node::as_object);
        for member in found.into_iter().flat_map(Object::iter) {
            match capabilities.iter_mut().find(|one| one.key == member.key) {
                Some(known) => unite(&mut known.value, &member.value),
                None => capabilities.push(member.clone()),
            }
        }
    }
    Node::object(Object::from_members(capabilities))
}

/// Adds the members of another server's capability to a capability.
fn unite<'a>(known: &mut Node<'a>, other: &Node<'a>) {
    let Some(other) = other.as_object() else { return };
    let Some(object) = known.as_object_mut() else { return };
    for member in other.iter() {
        let key = member.key.display().into_owned();
        if object.get(key.as_str()).and_then(Node::as_bool) != Some(true) {
            object.set(Text::new(key), member.value.clone());
        }
    }
}
