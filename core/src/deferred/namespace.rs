//! Namespaces of OpenAI Responses: tools in a namespace become tools of the list, `ns__name`.
//!
//! Which tool a call goes to depends on its namespace and its name, and two tools that differ in one of them can have
//! one flat name: `crm` with `delete`, and a top-level `crm__delete`. Each gets a name of its own, so that the model
//! never reads the definition of one and calls the other. Names of the top level stay, because the client knows nothing
//! else to call them by.

use alloc::{format, string::String, vec::Vec};

use super::{
    report::NamespacedName,
    tool::{has_type, remove, FLAG},
};
use crate::{
    collections::{Map, Set},
    json::{Node, Text},
    names::{digest, Taken},
};

/// The name a tool of a namespace has in the list, unless that is another tool's name, too. One that already carries
/// the prefix keeps its name, and so does one whose namespace was made up for it.
fn flat<'a>(namespace: &Text<'a>, name: &Text<'a>) -> Text<'a> {
    let (prefix, own) = (namespace.display(), name.display());
    if namespace.is_empty() || prefix == own || own.strip_prefix(&*prefix).is_some_and(|rest| rest.starts_with("__")) {
        name.clone()
    } else {
        Text::new(format!("{prefix}__{own}"))
    }
}

/// The namespace of a namespace in another one.
pub(crate) fn nested<'a>(outer: Option<&Text<'a>>, own: Option<&Text<'a>>) -> Option<Text<'a>> {
    match (outer, own) {
        (Some(outer), Some(own)) => Some(flat(outer, own)),
        (outer, own) => own.or(outer).cloned(),
    }
}

/// What the tools of a request are called in its flat list.
#[derive(Debug, Default)]
pub(crate) struct FlatNames<'a> {
    /// Tools in namespaces, by namespace and name.
    members: Map<(Text<'a>, Text<'a>), Text<'a>>,
    /// Tools that stand in no namespace.
    top: Set<Text<'a>>,
    taken: Taken,
}

impl<'a> FlatNames<'a> {
    /// Finds a name for every tool in some lists.
    pub(crate) fn plan<'n>(lists: impl Iterator<Item = &'n Node<'a>>) -> Self
    where
        'a: 'n,
    {
        let (mut top, mut found) = (Set::new(), Set::new());
        for tool in lists {
            collect(tool, None, &mut top, &mut found);
        }
        let mut wanted: Map<Text<'a>, usize> = Map::new();
        for (namespace, name) in &found {
            *wanted.entry(flat(namespace, name)).or_default() += 1;
        }
        let mut taken = Taken::default();
        top.iter().chain(wanted.keys()).for_each(|name| taken.take(name));
        let mut members = Map::new();
        for (namespace, name) in found {
            let mut own = flat(&namespace, &name);
            // Which of them came first must not decide who keeps the plain name.
            if top.contains(&own) || wanted.get(&own) != Some(&1) {
                own = Text::new(taken.free(hashed(&own, &namespace, &name), usize::MAX));
            }
            members.insert((namespace, name), own);
        }
        FlatNames { members, top, taken }
    }

    /// The flat name of a tool.
    pub(crate) fn of(&self, namespace: Option<&Text<'a>>, name: &Text<'a>) -> Text<'a> {
        let Some(namespace) = namespace.filter(|namespace| !namespace.is_empty()) else { return name.clone() };
        if let Some(own) = self.members.get(&(namespace.clone(), name.clone())) {
            return own.clone();
        }
        let own = flat(namespace, name);
        // A tool that only the past knows is not taken for one that is here. (Calls of a tool that stands in no
        // namespace may come back with one that has its name.)
        if *namespace != *name && own.value().is_some_and(|own| self.taken.has(&own)) {
            return Text::new(hashed(&own, namespace, name));
        }
        own
    }

    /// The flat name of what a call (or a choice) calls.
    pub(crate) fn called(&self, call: &Node<'a>) -> Option<Text<'a>> {
        let name = call.get("name")?.as_text()?;
        Some(self.of(call.get("namespace").and_then(Node::as_text), name))
    }

    /// Gives a call its flat name and takes its namespace off.
    pub(crate) fn flatten_call(&self, call: &mut Node<'a>) {
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
}

fn hashed(flat: &Text<'_>, namespace: &Text<'_>, name: &Text<'_>) -> String {
    format!("{}_{}", flat.display(), digest(&[namespace, name]))
}

/// The tools of an entry, by where they stand.
fn collect<'a>(
    tool: &Node<'a>,
    outer: Option<&Text<'a>>,
    top: &mut Set<Text<'a>>,
    members: &mut Set<(Text<'a>, Text<'a>)>,
) {
    if has_type(tool, "namespace") {
        let namespace = nested(outer, tool.get("name").and_then(Node::as_text));
        for member in tool.get("tools").and_then(Node::as_array).unwrap_or_default() {
            collect(member, namespace.as_ref(), top, members);
        }
        return;
    }
    // Tools of Chat Completions have their names one level deeper, and stand in no namespace.
    match (outer.filter(|namespace| !namespace.is_empty()), tool.get("name").and_then(Node::as_text)) {
        (_, None) => top.extend(super::tool::name(tool).cloned()),
        (None, Some(name)) => {
            top.insert(name.clone());
        }
        (Some(namespace), Some(name)) => {
            members.insert((namespace.clone(), name.clone()));
        }
    }
}

/// Restores flat names.
#[derive(Default)]
pub(crate) struct NameMap {
    list: Vec<(String, NamespacedName)>,
    known: Set<String>,
}

impl NameMap {
    fn add(&mut self, flat: &Text<'_>, namespace: &Text<'_>, name: &Text<'_>) {
        let flat = flat.display().into_owned();
        if self.known.insert(flat.clone()) {
            let original =
                NamespacedName { namespace: namespace.display().into_owned(), name: name.display().into_owned() };
            self.list.push((flat, original));
        }
    }

    pub(crate) fn finish(self) -> Vec<(String, NamespacedName)> {
        self.list
    }
}

/// Is there a namespace in this list?
pub(crate) fn any(tools: &[Node<'_>]) -> bool {
    tools.iter().any(|tool| has_type(tool, "namespace"))
}

/// The list without namespaces, in the same order.
pub(crate) fn flatten<'a>(tools: Vec<Node<'a>>, flat: &FlatNames<'a>, names: &mut NameMap) -> Vec<Node<'a>> {
    let mut out = Vec::with_capacity(tools.len());
    for tool in tools {
        flatten_one(tool, None, false, &mut out, flat, names);
    }
    out
}

fn flatten_one<'a>(
    mut tool: Node<'a>,
    outer: Option<&Text<'a>>,
    deferred: bool,
    out: &mut Vec<Node<'a>>,
    flat: &FlatNames<'a>,
    names: &mut NameMap,
) {
    if has_type(&tool, "namespace") {
        let namespace = nested(outer, tool.get("name").and_then(Node::as_text));
        let deferred = deferred || tool.get(FLAG).and_then(Node::as_bool) == Some(true);
        let members = tool.visit("tools", |tools| tools.as_array_mut().map(core::mem::take)).flatten();
        for member in members.unwrap_or_default() {
            flatten_one(member, namespace.as_ref(), deferred, out, flat, names);
        }
        return;
    }
    let name = tool.get("name").and_then(Node::as_text).filter(|name| !name.is_empty()).cloned();
    if let (Some(namespace), Some(name)) = (outer, name) {
        let found = flat.of(Some(namespace), &name);
        // No namespace and one without a name are the same: where both have the tool, it is the one without.
        if !(namespace.is_empty() && flat.top.contains(&name)) {
            names.add(&found, namespace, &name);
        }
        if found != name {
            set(&mut tool, "name", Node::string(found));
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
