//! Namespaces of OpenAI Responses: tools in a namespace become tools of the list, `ns__name`.

use alloc::{format, string::String, vec::Vec};

use super::{
    report::NamespacedName,
    tool::{has_type, remove, FLAG},
};
use crate::{
    json::{Node, Text},
    sorted::Set,
};

/// The name a tool of a namespace has in the list. One that already carries the prefix keeps its name, and so does one
/// whose namespace was made up for it.
pub(crate) fn flat<'a>(namespace: &Text<'a>, name: &Text<'a>) -> Text<'a> {
    let (prefix, own) = (namespace.display(), name.display());
    if namespace.is_empty() || prefix == own || own.strip_prefix(&*prefix).is_some_and(|rest| rest.starts_with("__")) {
        name.clone()
    } else {
        Text::new(format!("{prefix}__{own}"))
    }
}

/// Restores flat names.
#[derive(Default)]
pub(super) struct NameMap {
    list: Vec<(String, NamespacedName)>,
    known: Set<String>,
}

impl NameMap {
    fn add(&mut self, flat: &Text<'_>, namespace: &Text<'_>, name: &Text<'_>) {
        let flat = flat.display().into_owned();
        if self.known.insert(flat.clone()) {
            let original = NamespacedName { namespace: namespace.display().into_owned(), name: name.display().into_owned() };
            self.list.push((flat, original));
        }
    }

    pub(super) fn finish(self) -> Vec<(String, NamespacedName)> {
        self.list
    }
}

/// Is there a namespace in this list?
pub(super) fn any(tools: &[Node<'_>]) -> bool {
    tools.iter().any(|tool| has_type(tool, "namespace"))
}

/// The list without namespaces, in the same order.
pub(super) fn flatten<'a>(tools: Vec<Node<'a>>, names: &mut NameMap) -> Vec<Node<'a>> {
    let mut out = Vec::with_capacity(tools.len());
    for tool in tools {
        flatten_one(tool, None, false, &mut out, names);
    }
    out
}

fn flatten_one<'a>(mut tool: Node<'a>, outer: Option<&Text<'a>>, deferred: bool, out: &mut Vec<Node<'a>>, names: &mut NameMap) {
    if has_type(&tool, "namespace") {
        let own = tool.get("name").and_then(Node::as_text);
        let namespace = match (outer, own) {
            (Some(outer), Some(own)) => Some(flat(outer, own)),
            (outer, own) => own.or(outer).cloned(),
        };
        let deferred = deferred || tool.get(FLAG).and_then(Node::as_bool) == Some(true);
        let members = tool.visit("tools", |tools| tools.as_array_mut().map(core::mem::take)).flatten();
        for member in members.unwrap_or_default() {
            flatten_one(member, namespace.as_ref(), deferred, out, names);
        }
        return;
    }
    let name = tool.get("name").and_then(Node::as_text).filter(|name| !name.is_empty()).cloned();
    if let (Some(namespace), Some(name)) = (outer, name) {
        let flat = flat(namespace, &name);
        names.add(&flat, namespace, &name);
        if flat != name {
            set(&mut tool, "name", Node::string(flat));
        }
    }
    if deferred && tool.as_object().is_some() && tool.get(FLAG).is_none() {
        set(&mut tool, FLAG, Node::bool(true));
    }
    out.push(tool);
}

fn set<'a>(tool: &mut Node<'a>, key: &'static str, value: Node<'a>) {
    if let Some(object) = tool.as_object_mut() {
        object.set(key, value);
    }
}

/// The flat name of what a call (or a choice) calls.
pub(super) fn called<'a>(call: &Node<'a>) -> Option<Text<'a>> {
    let name = call.get("name")?.as_text()?;
    Some(match call.get("namespace").and_then(Node::as_text) {
        Some(namespace) => flat(namespace, name),
        None => name.clone(),
    })
}

/// Gives a call its flat name and takes its namespace off.
pub(super) fn flatten_call(call: &mut Node<'_>) {
    if call.get("namespace").is_none() {
        return;
    }
    if let Some(name) = called(call) {
        if call.get("name").and_then(Node::as_text).is_some_and(|old| *old != name) {
            set(call, "name", Node::string(name));
        }
    }
    remove(call, "namespace");
}
