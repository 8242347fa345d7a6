//! Namespaces of OpenAI Responses: their tools become tools of the list, under the names that Codex gives them.
//!
//! A name depends on its own namespace and name alone, never on its neighbours: so the history, a provider's prompt
//! cache and the way back agree from request to request. Where two tools have one name, the first is sent, and a tool
//! of the top level before one of a namespace: what the model reads is what its call goes to.

use alloc::{string::String, vec::Vec};

use super::{
    report::{CallKind, ClientTool, Warnings},
    tool::{has_type, remove, FLAG},
};
use crate::{
    collections::{Map, Set},
    json::{Node, Text},
};

/// The namespace of tools that are in none, as Codex writes it.
/// Source: openai/codex, codex-rs, `ToolName::is_default_namespace`; read 2026-11.
const DEFAULT: &str = "functions";

/// Whether a namespace is that of tools which are in none.
pub(crate) fn is_default(namespace: &Text<'_>) -> bool {
    namespace.is_empty() || namespace.is(DEFAULT)
}

/// The name that a tool of a namespace has in a flat list: bare in the default namespace, else with the namespace
/// before it. One that already has that prefix keeps its name, and so does one whose namespace was made up for it.
pub(crate) fn flat<'a>(namespace: Option<&Text<'a>>, name: &Text<'a>) -> Text<'a> {
    let Some(namespace) = namespace.filter(|namespace| !is_default(namespace)) else { return name.clone() };
    let (prefix, own) = (namespace.display(), name.display());
    if prefix == own {
        return name.clone();
    }
    let separator = if prefix.ends_with('_') || own.starts_with('_') { "" } else { "__" };
    let has_prefix = own
        .strip_prefix(&*prefix)
        .is_some_and(|rest| !rest.is_empty() && (prefix.ends_with('_') || rest.starts_with("__")));
    if has_prefix {
        name.clone()
    } else {
        Text::new(alloc::format!("{prefix}{separator}{own}"))
    }
}

/// The namespace of a namespace in another one.
pub(crate) fn nested<'a>(outer: Option<&Text<'a>>, own: Option<&Text<'a>>) -> Option<Text<'a>> {
    match (outer, own) {
        (Some(outer), Some(own)) => Some(flat(Some(outer), own)),
        (outer, own) => own.or(outer).cloned(),
    }
}

/// The flat name of what a call (or a choice) calls.
pub(super) fn called<'a>(call: &Node<'a>) -> Option<Text<'a>> {
    let name = call.get("name")?.as_text()?;
    Some(flat(call.get("namespace").and_then(Node::as_text), name))
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

/// What the names that the model calls stand for.
#[derive(Default)]
pub(crate) struct NameMap<'a> {
    list: Vec<(String, ClientTool)>,
    /// What each name stands for: the namespace, if there is one, and the name in it.
    known: Map<Text<'a>, (Option<Text<'a>>, Text<'a>)>,
    /// The names of the top level.
    top: Set<Text<'a>>,
    /// Tools of namespaces that another tool's name keeps out, by namespace and name.
    kept_out: Set<(Text<'a>, Text<'a>)>,
}

impl<'a> NameMap<'a> {
    /// Takes the tools of the top level in, before any of a namespace.
    pub(super) fn reserve(&mut self, tools: &[Node<'a>]) {
        self.top
            .extend(tools.iter().filter(|tool| !has_type(tool, "namespace")).filter_map(super::tool::name).cloned());
    }

    /// The flat name of what a choice calls; `None`: that tool is not sent, and its name is another one's.
    pub(super) fn called(&self, choice: &Node<'a>) -> Option<Text<'a>> {
        let text = |key| choice.get(key).and_then(Node::as_text).cloned();
        let is_kept_out = text("namespace").zip(text("name")).is_some_and(|tool| self.kept_out.contains(&tool));
        if is_kept_out {
            None
        } else {
            called(choice)
        }
    }

    /// Takes a tool of a namespace in. `false`: another tool has its flat name, and it cannot be called.
    fn add(&mut self, flat: &Text<'a>, (namespace, name): (&Text<'a>, &Text<'a>), kind: CallKind) -> bool {
        let is_called = self.is_called(flat, (namespace, name), kind);
        if !is_called {
            self.kept_out.insert((namespace.clone(), name.clone()));
        }
        is_called
    }

    fn is_called(&mut self, flat: &Text<'a>, (namespace, name): (&Text<'a>, &Text<'a>), kind: CallKind) -> bool {
        if self.top.contains(flat) {
            return false;
        }
        let namespace = Some(namespace).filter(|namespace| !is_default(namespace));
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
        let namespace = (is_loaded && is_top).then(|| name.clone());
        // The API puts a loaded tool into a namespace of its own name: one of the default namespace has none.
        let is_put = is_loaded && !is_top && is_at_api;
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
        warnings.about_maybe("not_translated", tool.get("name").and_then(Node::as_text));
        return None;
    }
    let name = tool.get("name").and_then(Node::as_text).filter(|name| !name.is_empty()).cloned();
    if let (Some(namespace), Some(name)) = (namespace, name) {
        let found = flat(Some(namespace), &name);
        let kind = if has_type(&tool, "custom") { CallKind::Custom } else { CallKind::Function };
        if !names.add(&found, (namespace, &name), kind) {
            warnings.about("duplicate_tool_name", found.display());
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
