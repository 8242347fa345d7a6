//! The names of tools that stand in namespaces, for a list that has none: two tools that would have one name get names
//! of their own, so that the model never reads the definition of one and calls the other. Names of the top level stay,
//! because the client knows nothing else to call them by.

use alloc::{format, string::String};

use crate::{
    collections::{Map, Set},
    deferred::{flat_name, nested_namespace},
    json::{Node, Text},
    names::{digest, Taken},
};

/// What the tools of a list are called without its namespaces, by namespace and name.
#[derive(Debug, Default)]
pub(super) struct FlatNames<'a> {
    members: Map<(Text<'a>, Text<'a>), Text<'a>>,
}

impl<'a> FlatNames<'a> {
    /// Finds a name for every tool in a list.
    pub(super) fn plan(list: &[Node<'a>]) -> Self {
        let (mut top, mut found) = (Set::new(), Set::new());
        for tool in list {
            collect(tool, None, &mut top, &mut found);
        }
        let mut wanted: Map<Text<'a>, usize> = Map::new();
        for (namespace, name) in &found {
            *wanted.entry(flat_name(Some(namespace), name)).or_default() += 1;
        }
        let mut taken = Taken::default();
        top.iter().chain(wanted.keys()).for_each(|name| taken.take(name));
        let mut members = Map::new();
        for (namespace, name) in found {
            let mut own = flat_name(Some(&namespace), &name);
            // Which of them came first must not decide who keeps the plain name.
            if top.contains(&own) || wanted.get(&own) != Some(&1) {
                own = Text::new(taken.free(hashed(&own, &namespace, &name), usize::MAX));
            }
            members.insert((namespace, name), own);
        }
        FlatNames { members }
    }

    /// The flat name of a tool of the list.
    pub(super) fn of(&self, namespace: &Text<'a>, name: &Text<'a>) -> Text<'a> {
        let own = self.members.get(&(namespace.clone(), name.clone()));
        own.cloned().unwrap_or_else(|| flat_name(Some(namespace), name))
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
    if crate::deferred::tool::has_type(tool, "namespace") {
        let namespace = nested_namespace(outer, tool.get("name").and_then(Node::as_text));
        for member in tool.get("tools").and_then(Node::as_array).unwrap_or_default() {
            collect(member, namespace.as_ref(), top, members);
        }
        return;
    }
    // Tools of Chat Completions have their names one level deeper, and stand in no namespace.
    match (outer.filter(|namespace| !namespace.is_empty()), tool.get("name").and_then(Node::as_text)) {
        (_, None) => top.extend(crate::deferred::tool::name(tool).cloned()),
        (None, Some(name)) => {
            top.insert(name.clone());
        }
        (Some(namespace), Some(name)) => {
            members.insert((namespace.clone(), name.clone()));
        }
    }
}
