//! One answer of several servers.

use std::collections::BTreeMap;

use toolwire::json::{self, Member, Node, Object, Text};

use super::message::{at, empty, quoted, text_at};

/// The result of a list: what the first server said beside its entries, and the entries of all.
pub(super) fn list(first: &BTreeMap<usize, String>, key: &'static str, entries: &[String]) -> String {
    list_text(first, key, &format!("[{}]", entries.join(",")))
}

/// The same, with the entries as JSON text.
pub(super) fn list_text(first: &BTreeMap<usize, String>, key: &'static str, entries: &str) -> String {
    let frame = first.values().next().map_or("{}", String::as_str);
    let mut result = json::read(frame).unwrap_or_else(|_| empty());
    if let Ok(entries) = json::read(entries) {
        result.set(key, entries);
        return json::write(&result);
    }
    json::write(&result)
}

/// The result of `initialize`: the oldest version that a server speaks, so that all understand it; what any of them can
/// do; and what each has to say to the model.
pub(super) fn greetings<'s>(servers: impl Iterator<Item = (&'s str, &'s str)>) -> String {
    let read = servers.filter_map(|(name, greeting)| Some((name, json::read(greeting).ok()?)));
    let read: Vec<(&str, Node<'s>)> = read.collect();
    let version = read.iter().filter_map(|(_, greeting)| text_at(greeting, &["protocolVersion"])).min();
    let mut capabilities: Vec<Member<'_>> = Vec::new();
    for (_, greeting) in &read {
        let found = at(greeting, &["capabilities"]).and_then(Node::as_object);
        for member in found.into_iter().flat_map(Object::iter) {
            match capabilities.iter_mut().find(|one| one.key == member.key) {
                Some(known) => unite(&mut known.value, &member.value),
                None => capabilities.push(member.clone()),
            }
        }
    }
    let instructions: Vec<String> = read
        .iter()
        .filter_map(|(name, greeting)| Some(format!("# {name}\n\n{}", text_at(greeting, &["instructions"])?)))
        .collect();
    let capabilities = json::write(&Node::object(Object::from_members(capabilities)));
    let instructions = if instructions.is_empty() {
        String::new()
    } else {
        format!(",\"instructions\":{}", quoted(&instructions.join("\n\n")))
    };
    format!(
        "{{\"protocolVersion\":{},\"capabilities\":{capabilities},\"serverInfo\":{{\"name\":\"toolwire\",\"version\":\
         \"{}\"}}{instructions}}}",
        quoted(version.as_deref().unwrap_or_default()),
        env!("CARGO_PKG_VERSION")
    )
}

/// Adds what another server can do to a capability.
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
