//! Namespaces of OpenAI Responses: their tools become tools of the list, under the names that Codex gives them.
//!
//! A name depends on its own namespace and name alone, so that the history, a provider's prompt cache and the way back
//! agree from request to request; only tools that would share a name get others ([`FlatNames`]). A tool is known by
//! its namespace and name: two definitions are of one tool only if they agree in both.

use alloc::{string::String, vec::Vec};

use super::{
    flat_names::{is_default, FlatNames},
    report::{CallKind, ClientTool, Warnings},
    tool::{has_type, remove, FLAG},
};
use crate::{
    collections::Map,
    json::{Node, Text},
};

/// What the names that the model calls stand for.
#[derive(Default)]
pub(crate) struct NameMap<'a> {
    list: Vec<(String, ClientTool)>,
    /// The names of all tools in namespaces.
    flat: FlatNames,
    /// What each name stands for: the namespace, if there is one, and the name in it.
    known: Map<Text<'a>, (Option<Text<'a>>, Text<'a>)>,
}

impl<'a> NameMap<'a> {
    /// With the names of all lists of a request.
    pub(super) fn with(flat: FlatNames) -> Self {
        NameMap { flat, ..NameMap::default() }
    }

    /// The flat name of what a call (or a choice) calls.
    pub(super) fn called(&self, call: &Node<'a>) -> Option<Text<'a>> {
        let name = call.get("name")?.as_text()?;
        Some(match call.get("namespace").and_then(Node::as_text) {
            Some(namespace) => self.flat.of(namespace, name),
            None => name.clone(),
        })
    }

    /// Whether a list has this tool in this namespace.
    pub(super) fn has(&self, namespace: &Text<'_>, name: &Text<'_>) -> bool {
        self.flat.has(namespace, name)
    }

    /// The flat name of a tool of a namespace.
    pub(super) fn name_in(&self, namespace: &Text<'a>, name: &Text<'a>) -> Text<'a> {
        self.flat.of(namespace, name)
    }

    /// Gives a call its flat name and takes its namespace off.
    pub(super) fn flatten_call(&self, call: &mut Node<'a>) {
        if call.get("namespace").is_none() {
            return;
        }
        if let Some(name) = self.called(call) {
            if call.get("name").and_then(Node::as_text).is_some_and(|old| *old != name) {
                set(call, "name", Node::string(name));
            }
        }
        remove(call, "namespace");
    }

    /// Takes a tool of a namespace in. `false`: another tool has its flat name, and it cannot be called.
    fn add(&mut self, flat: &Text<'a>, (namespace, name): (&Text<'a>, &Text<'a>), kind: CallKind) -> bool {
        // The same tool twice: the one of the top level counts.
        if is_default(namespace) && self.flat.is_doubled(name) {
            return false;
        }
        // One of the default namespace is in none, unless a tool of the top level has its name.
        let namespace = Some(namespace).filter(|namespace| !is_default(namespace) || flat != name);
        if let Some(known) = self.known.get(flat) {
            return (known.0.as_ref(), &known.1) == (namespace, name);
        }
        self.known.insert(flat.clone(), (namespace.cloned(), name.clone()));
        if let Some(namespace) = namespace {
            let namespace = Some(namespace.display().into_owned());
            let tool = ClientTool { namespace, name: name.display().into_owned(), kind };
            self.list.push((flat.display().into_owned(), tool));
        }
        true
    }

    /// Notes what a tool is to the client, unless its namespace has said so already. One that came deferred stands in a
    /// namespace of its own name once it is loaded, unless it came in the default namespace.
    pub(super) fn note(&mut self, flat: &Text<'_>, (is_loaded, is_at_api): (bool, bool), kind: CallKind) {
        let known: &Map<Text<'_>, (Option<Text<'_>>, Text<'_>)> = &self.known;
        let is_top = match known.get(flat) {
            Some((Some(_), _)) => return,
            Some((None, _)) => false,
            None => true,
        };
        let name = flat.display().into_owned();
        // Another tool may stand in a namespace of this name.
        let is_alone = is_top && !self.flat.has(flat, flat);
        let namespace = (is_loaded && is_alone).then(|| name.clone());
        // The API calls it by a namespace of its own name, which the client does not have.
        let is_put = is_loaded && !is_alone && is_at_api;
        if namespace.is_some() || is_put || kind != CallKind::Function {
            self.list.push((name.clone(), ClientTool { namespace, name, kind }));
        }
    }

    pub(crate) fn finish(self) -> Vec<(String, ClientTool)> {
        self.list
    }
}

/// Is there a namespace in this list?
pub(crate) fn any(tools: &[Node<'_>]) -> bool {
    tools.iter().any(|tool| has_type(tool, "namespace"))
}

/// The names of the tools of a list without namespaces, for a list whose tools are not sent.
pub(super) fn names_in<'a>(tools: &[Node<'a>], names: &NameMap<'a>) -> Vec<Text<'a>> {
    let mut out = Vec::new();
    for tool in tools {
        if !has_type(tool, "namespace") {
            out.extend(super::tool::name(tool).cloned());
            continue;
        }
        let namespace = tool.get("name").and_then(Node::as_text).filter(|namespace| !namespace.is_empty());
        let members = tool.get("tools").and_then(Node::as_array).unwrap_or_default().iter();
        let members = members.filter(|member| !has_type(member, "namespace")).filter_map(super::tool::name);
        out.extend(members.map(|name| match namespace {
            Some(namespace) => names.flat.of(namespace, name),
            None => name.clone(),
        }));
    }
    out
}

/// The list without namespaces, in the same order.
pub(super) fn flatten<'a>(tools: Vec<Node<'a>>, names: &mut NameMap<'a>, warnings: &mut Warnings) -> Vec<Node<'a>> {
    let mut out = Vec::with_capacity(tools.len());
    for mut tool in tools {
        if !has_type(&tool, "namespace") {
            out.push(tool);
            continue;
        }
        let namespace = tool.get("name").and_then(Node::as_text).cloned();
        let deferred = tool.get(FLAG).and_then(Node::as_bool) == Some(true);
        let members = tool.visit("tools", |tools| tools.as_array_mut().map(core::mem::take)).flatten();
        for member in members.unwrap_or_default() {
            out.extend(member_of(namespace.as_ref(), deferred, member, names, warnings));
        }
    }
    out
}

/// A tool of a namespace as one of the list; `None`: it cannot be called there.
fn member_of<'a>(
    namespace: Option<&Text<'a>>,
    deferred: bool,
    mut tool: Node<'a>,
    names: &mut NameMap<'a>,
    warnings: &mut Warnings,
) -> Option<Node<'a>> {
    // The API knows one level of them.
    if has_type(&tool, "namespace") {
        warnings.about_maybe("not-translated", tool.get("name").and_then(Node::as_text));
        return None;
    }
    let name = tool.get("name").and_then(Node::as_text).filter(|name| !name.is_empty()).cloned();
    if let (Some(namespace), Some(name)) = (namespace, name) {
        let found = names.flat.of(namespace, &name);
        let kind = if has_type(&tool, "custom") { CallKind::Custom } else { CallKind::Function };
        if !names.add(&found, (namespace, &name), kind) {
            warnings.about("duplicate-tool-name", found.display());
            return None;
        }
        if found != name {
            set(&mut tool, "name", Node::string(found));
        }
    }
    if deferred && tool.as_object().is_some() && tool.get(FLAG).is_none() {
        set(&mut tool, FLAG, Node::bool(true));
    }
    Some(tool)
}

fn set<'a>(tool: &mut Node<'a>, key: &'static str, value: Node<'a>) {
    if let Some(object) = tool.as_object_mut() {
        object.set(key, value);
    }
}
