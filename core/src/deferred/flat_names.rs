//! The names that tools of namespaces get in a list without namespaces.
//!
//! Two tools that would get one name get names of their own, so that the model never reads the definition of one and
//! calls the other. The names of all lists of a request are planned together: its own list and those that its history
//! brings. A tool of the top level keeps its name, because the client has no other name for it.

use alloc::{format, string::String};

use super::tool::{self, has_type};
use crate::{
    collections::{Map, Set},
    json::{Node, Text},
    names::{digest, Taken},
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
        Text::new(format!("{prefix}{separator}{own}"))
    }
}

/// The namespace of a namespace in another one.
pub(crate) fn nested<'a>(outer: Option<&Text<'a>>, own: Option<&Text<'a>>) -> Option<Text<'a>> {
    match (outer, own) {
        (Some(outer), Some(own)) => Some(flat(Some(outer), own)),
        (outer, own) => own.or(outer).cloned(),
    }
}

/// A tool of a namespace: the namespace and the name in it.
type Member<'a> = (Text<'a>, Text<'a>);

/// The tool that has each flat name; `None` if no tool of a namespace has it.
type Owners<'a> = Map<Text<'a>, Option<Member<'a>>>;

/// The flat names of the tools of a request, by namespace and name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlatNames {
    /// The tools whose flat name is not the one that [`flat`] gives, because other tools have that.
    renamed: Map<Member<'static>, Text<'static>>,
    /// The flat names that belong to a tool, each to one only.
    owners: Owners<'static>,
    /// The tools that stand at the top level and in the default namespace.
    doubled: Set<Text<'static>>,
}

/// Collects the tools of all lists of a request.
#[derive(Debug, Default)]
pub(crate) struct Planner {
    /// Whether a tool of the default namespace is the tool of the top level that has its name.
    default_is_top: bool,
    top: Set<Text<'static>>,
    in_default: Set<Member<'static>>,
    members: Set<Member<'static>>,
}

impl Planner {
    /// For lists in which a tool of the default namespace is one of the top level.
    pub(super) fn with_default_at_top() -> Planner {
        Planner { default_is_top: true, ..Planner::default() }
    }

    /// Takes in the tools of a list.
    pub(crate) fn add(&mut self, list: &[Node<'_>]) {
        list.iter().for_each(|tool| self.collect(tool, None));
    }

    fn collect<'a>(&mut self, tool: &Node<'a>, outer: Option<&Text<'a>>) {
        if has_type(tool, "namespace") {
            let namespace = nested(outer, tool.get("name").and_then(Node::as_text));
            for member in tool.get("tools").and_then(Node::as_array).unwrap_or_default() {
                self.collect(member, namespace.as_ref());
            }
            return;
        }
        // Tools of Chat Completions have their names one level deeper, and stand in no namespace.
        let outer = outer.filter(|namespace| self.default_is_top || !namespace.is_empty());
        match (outer, tool.get("name").and_then(Node::as_text)) {
            (Some(namespace), Some(name)) if is_default(namespace) => {
                self.in_default.insert((namespace.clone().into_owned(), name.clone().into_owned()));
            }
            (_, None) => self.top.extend(tool::name(tool).cloned().map(Text::into_owned)),
            (None, Some(name)) => {
                self.top.insert(name.clone().into_owned());
            }
            (Some(namespace), Some(name)) => {
                self.members.insert((namespace.clone().into_owned(), name.clone().into_owned()));
            }
        }
    }

    /// Whether any tool stands in a namespace.
    pub(crate) fn has_members(&self) -> bool {
        !self.members.is_empty() || !self.in_default.is_empty()
    }

    /// Finds a name for every tool.
    pub(crate) fn finish(self) -> FlatNames {
        let Planner { mut top, mut members, in_default, default_is_top } = self;
        let mut doubled = Set::new();
        for (namespace, name) in in_default {
            if top.insert(name.clone()) {
                continue;
            }
            if default_is_top {
                doubled.insert(name);
            } else {
                members.insert((namespace, name));
            }
        }
        let mut wanted: Map<Text<'static>, usize> = Map::new();
        for (namespace, name) in &members {
            *wanted.entry(flat(Some(namespace), name)).or_default() += 1;
        }
        let mut taken = Taken::default();
        top.iter().chain(wanted.keys()).for_each(|name| taken.take(name));
        let (mut renamed, mut owners) = (Map::new(), Map::new());
        for (namespace, name) in members {
            let mut own = flat(Some(&namespace), &name);
            // Which of them came first must not decide who keeps the plain name.
            if top.contains(&own) || wanted.get(&own) != Some(&1) {
                own = Text::new(taken.free(hashed(&own, &namespace, &name), usize::MAX));
                renamed.insert((namespace.clone(), name.clone()), own.clone());
            }
            owners.insert(own, Some((namespace, name)));
        }
        // No tool of a namespace gets a plain name that several tools wanted.
        for name in top.into_iter().chain(wanted.into_iter().map(|(name, _)| name)) {
            owners.entry(name).or_insert(None);
        }
        FlatNames { renamed, owners, doubled }
    }
}

impl FlatNames {
    /// The names of one list.
    pub(crate) fn plan(list: &[Node<'_>]) -> FlatNames {
        let mut planner = Planner::default();
        planner.add(list);
        if planner.has_members() {
            planner.finish()
        } else {
            FlatNames::default()
        }
    }

    /// The flat name of a tool. One that no list has gets no other tool's name.
    pub(crate) fn of<'a>(&self, namespace: &Text<'a>, name: &Text<'a>) -> Text<'a> {
        let plain = flat(Some(namespace), name);
        // Keys borrow nothing, the tool from anywhere: shorter-lived views of the maps compare both.
        let (renamed, owners): (&Map<Member<'_>, Text<'_>>, &Owners<'_>) = (&self.renamed, &self.owners);
        let member = (namespace.borrowed(), name.borrowed());
        if let Some(own) = renamed.get(&member) {
            return own.clone().into_owned();
        }
        // The API calls a tool of the top level by a namespace of its own name, or by the default one.
        let is_top = is_default(namespace) || namespace == name;
        match owners.get(&plain) {
            Some(owner) if !is_top && owner.as_ref() != Some(&member) => {
                // Digests can be computed by everybody: a listed tool may have this one for its name.
                let mut own = Text::new(hashed(&plain, namespace, name));
                while owners.contains_key(&own) {
                    own = Text::new(format!("{}_", own.display()));
                }
                own
            }
            _ => plain,
        }
    }

    /// Whether a list has this tool in this namespace.
    pub(crate) fn has(&self, namespace: &Text<'_>, name: &Text<'_>) -> bool {
        let owners: &Owners<'_> = &self.owners;
        let member = (namespace.borrowed(), name.borrowed());
        owners.get(&self.of(namespace, name).borrowed()).is_some_and(|owner| owner.as_ref() == Some(&member))
    }

    /// Whether a tool of the default namespace stands at the top level, too.
    pub(super) fn is_doubled(&self, name: &Text<'_>) -> bool {
        let doubled: &Set<Text<'_>> = &self.doubled;
        doubled.contains(&name.borrowed())
    }

    /// The tools of a namespace of their own name that have another flat name.
    pub(crate) fn renamed_own_names(&self) -> impl Iterator<Item = &Text<'static>> {
        self.renamed.keys().filter(|(namespace, name)| namespace == name).map(|(_, name)| name)
    }

    /// The names that differ from what [`flat`] gives: what the rewriting of a list depends on beside the list.
    pub(crate) fn renamed(&self) -> Map<(Text<'static>, Text<'static>), Text<'static>> {
        self.renamed.clone()
    }
}

fn hashed(flat: &Text<'_>, namespace: &Text<'_>, name: &Text<'_>) -> String {
    format!("{}_{}", flat.display(), digest(&[namespace, name]))
}
