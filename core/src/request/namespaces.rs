//! Namespaces of OpenAI Responses: their tools become tools of the list, under the names that Codex gives them.
//!
//! A name depends on its own namespace and name alone, so that the history, a provider's prompt cache and the way back
//! agree from request to request; only tools that would share a name get others ([`FlatNames`]). A tool is known by
//! its namespace and name: two definitions are of one tool only if they agree in both.

use alloc::{format, string::String, vec::Vec};

use super::{
    carriers,
    prefilter::NAMES_TOOLS,
    report::{CallKind, ClientTool, Warnings},
    tool::{self, has_type, FLAG},
};
use crate::{
    collections::{Map, Set},
    error::Error,
    json::{
        lazy::{edit, edit_member, may_hold, view},
        Node, Text,
    },
    names::{digest, Taken},
    options::{Api, ToolChanges},
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
    pub(crate) fn with_default_at_top() -> Planner {
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
    pub(crate) fn is_doubled(&self, name: &Text<'_>) -> bool {
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

/// The flat names of all tools that a request lists and that its history brings, unless its changes are ignored.
/// Without namespaces every tool keeps its name.
pub(crate) fn flat_names(request: &Node<'_>, changes: ToolChanges) -> Result<FlatNames, Error> {
    plan(request, changes, Planner::with_default_at_top())
}

/// The flat names of all tools of a request that is sent as it is: whatever stands in it is sent with it.
pub(crate) fn flat_names_as_it_is(request: &Node<'_>) -> Result<FlatNames, Error> {
    plan(request, ToolChanges::Apply, Planner::default())
}

fn plan(request: &Node<'_>, changes: ToolChanges, mut planner: Planner) -> Result<FlatNames, Error> {
    let listed = request.get("tools").map(view).transpose()?;
    planner.add(listed.as_ref().and_then(|tools| tools.as_array()).unwrap_or_default());
    // Tools whose change is ignored are not sent, and take no names.
    if changes == ToolChanges::Apply {
        carriers::each(request, Api::OpenaiResponses, |list| planner.add(list))?;
    }
    Ok(planner.finish())
}

/// The names of the tools of the top level that a search may load or that an item brings. The API calls them by a
/// namespace of their own name.
pub(crate) fn loadable_names(request: &Node<'_>) -> Result<Set<String>, Error> {
    let mut names = Set::new();
    let mut take = |list: &[Node<'_>], all: bool| {
        let tools = list.iter().filter(|tool| all || tool::deferral(tool).0);
        names.extend(tools.filter_map(tool::name).map(|name| String::from(name.display())));
    };
    if let Some(tools) = request.get("tools") {
        take(view(tools)?.as_array().unwrap_or_default(), false);
    }
    carriers::each(request, Api::OpenaiResponses, |list| take(list, true))?;
    Ok(names)
}

/// What the names that the model calls stand for.
#[derive(Default)]
pub(crate) struct NameMap<'a> {
    list: Vec<(String, ClientTool)>,
    /// The names of all tools in namespaces.
    flat: FlatNames,
    /// Tools get the descriptions of their namespaces.
    describes: bool,
    /// What each name stands for: the namespace, if there is one, and the name in it.
    known: Map<Text<'a>, (Option<Text<'a>>, Text<'a>)>,
}

impl<'a> NameMap<'a> {
    /// With the names of all lists of a request; `describes`: tools get the descriptions of their namespaces.
    pub(crate) fn with(flat: FlatNames, describes: bool) -> Self {
        NameMap { flat, describes, ..NameMap::default() }
    }

    /// The flat name of what a call (or a choice) calls.
    pub(crate) fn called(&self, call: &Node<'a>) -> Option<Text<'a>> {
        let name = call.get("name")?.as_text()?;
        Some(match call.get("namespace").and_then(Node::as_text) {
            Some(namespace) => self.flat.of(namespace, name),
            None => name.clone(),
        })
    }

    /// Whether a list has this tool in this namespace.
    pub(crate) fn has(&self, namespace: &Text<'_>, name: &Text<'_>) -> bool {
        self.flat.has(namespace, name)
    }

    /// The flat name of a tool of a namespace.
    pub(crate) fn name_in(&self, namespace: &Text<'a>, name: &Text<'a>) -> Text<'a> {
        self.flat.of(namespace, name)
    }

    /// Gives a call its flat name and takes its namespace off.
    pub(crate) fn flatten_call(&self, call: &mut Node<'a>) {
        if call.get("namespace").is_none() {
            return;
        }
        if let Some(name) = self.called(call) {
            if call.get("name").and_then(Node::as_text).is_some_and(|old| *old != name) {
                call.set("name", Node::string(name));
            }
        }
        call.remove("namespace");
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
    pub(crate) fn note(&mut self, flat: &Text<'_>, (is_loaded, is_at_api): (bool, bool), kind: CallKind) {
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
pub(crate) fn names_in<'a>(tools: &[Node<'a>], names: &NameMap<'a>) -> Vec<Text<'a>> {
    let mut out = Vec::new();
    for tool in tools {
        if !has_type(tool, "namespace") {
            out.extend(tool::name(tool).cloned());
            continue;
        }
        let namespace = tool.get("name").and_then(Node::as_text).filter(|namespace| !namespace.is_empty());
        let members = tool.get("tools").and_then(Node::as_array).unwrap_or_default().iter();
        let members = members.filter(|member| !has_type(member, "namespace")).filter_map(tool::name);
        out.extend(members.map(|name| match namespace {
            Some(namespace) => names.flat.of(namespace, name),
            None => name.clone(),
        }));
    }
    out
}

/// The list without namespaces, in the same order.
pub(crate) fn flatten<'a>(tools: Vec<Node<'a>>, names: &mut NameMap<'a>, warnings: &mut Warnings) -> Vec<Node<'a>> {
    let mut out = Vec::with_capacity(tools.len());
    for mut tool in tools {
        if !has_type(&tool, "namespace") {
            out.push(tool);
            continue;
        }
        let namespace = tool.get("name").and_then(Node::as_text).cloned();
        let description = description_of(&tool).filter(|_| names.describes).cloned();
        let deferred = tool.get(FLAG).and_then(Node::as_bool) == Some(true);
        let members = tool.visit("tools", |tools| tools.as_array_mut().map(core::mem::take)).flatten();
        let members = members.unwrap_or_default();
        let description = description.filter(|text| may_describe(text, members.len()));
        for mut member in members {
            describe(&mut member, description.as_ref());
            out.extend(member_of(namespace.as_ref(), deferred, member, names, warnings));
        }
    }
    out
}

/// The description of a namespace, unless it is empty.
pub(crate) fn description_of<'n, 'a>(namespace: &'n Node<'a>) -> Option<&'n Text<'a>> {
    namespace.get(DESCRIPTION).and_then(Node::as_text).filter(|text| !text.is_empty())
}

const DESCRIPTION: &str = "description";

/// The most bytes that the tools of a namespace get of its description, all together: copies must not grow with the
/// square of the input.
const MOST_COPIED: usize = 64 << 10;

/// Returns whether this many tools of a namespace get its description.
pub(crate) fn may_describe(description: &Text<'_>, tools: usize) -> bool {
    description.chars().len().saturating_mul(tools) <= MOST_COPIED
}

/// Puts the description of a namespace before that of a tool which leaves it, because the model reads it nowhere else.
pub(crate) fn describe(tool: &mut Node<'_>, namespace: Option<&Text<'_>>) {
    let Some(namespace) = namespace.filter(|_| !has_type(tool, "namespace")) else { return };
    let text = match tool.get(DESCRIPTION).map(Node::as_text) {
        Some(Some(own)) if !own.is_empty() => format!("{}\n\n{}", namespace.display(), own.display()),
        None | Some(Some(_)) => String::from(namespace.display()),
        Some(None) if tool.get(DESCRIPTION).is_some_and(Node::is_null) => String::from(namespace.display()),
        // Other values are judged by the rules for descriptions.
        Some(None) => return,
    };
    tool.set(DESCRIPTION, Node::string(text));
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
            tool.set("name", Node::string(found));
        }
    }
    if deferred && tool.as_object().is_some() && tool.get(FLAG).is_none() {
        tool.set(FLAG, Node::bool(true));
    }
    Some(tool)
}

/// Gives calls and choices of tools in namespaces the names that the tools have in a list without namespaces.
/// `renamed` has for each the name that is called, its namespace and its own name. Emulated deferred loading has done
/// so already. A loaded tool stands in a namespace of its own name: without that the API refuses the call.
///
/// Source: the OpenAI Responses API's answer `Missing namespace for function_call`, recorded 2026-10 (pydantic-ai).
pub(crate) fn rename_calls<'n>(
    request: &mut Node<'_>,
    renamed: impl Iterator<Item = (&'n str, Text<'n>, Text<'n>)>,
    sent: &Set<String>,
) -> Result<(), Error> {
    let known: Map<(String, String), &str> = renamed
        .map(|(called, namespace, name)| ((namespace.display().into(), name.display().into()), called))
        .collect();
    if known.is_empty() {
        return Ok(());
    }
    let loaded = loadable_names(request)?;
    let choices = Renames { known: &known, sent, loaded: &loaded, keeps_loaded: false };
    each_chosen(request, |tool| choices.rename(tool))?;
    let calls = Renames { keeps_loaded: true, ..choices };
    let flattened = request.visit("input", |input| {
        input.visit_children(|_, item| {
            if !may_hold(item, NAMES_TOOLS) {
                return Ok(());
            }
            edit(item, |item| {
                if has_type(item, "function_call") || has_type(item, "custom_tool_call") {
                    calls.rename(item);
                }
                Ok(())
            })
        })
    });
    flattened.unwrap_or(Ok(()))
}

/// The names that tools of namespaces have in a list without namespaces.
struct Renames<'n> {
    /// By namespace and own name.
    known: &'n Map<(String, String), &'n str>,
    /// The names of all tools that are sent.
    sent: &'n Set<String>,
    /// The names of the tools that a search or an item brings, or that wait for a search.
    loaded: &'n Set<String>,
    /// A loaded tool keeps the namespace that the API gives it.
    keeps_loaded: bool,
}

impl Renames<'_> {
    /// Gives a call or a choice of a tool in a namespace the name that the tool has now.
    fn rename(&self, one: &mut Node<'_>) {
        let text = |key: &str| one.get(key).and_then(Node::as_text).map(|text| text.clone().into_owned());
        let Some((namespace, name)) = text("namespace").zip(text("name")) else { return };
        let key = (String::from(namespace.display()), String::from(name.display()));
        let known = self.known.get(&key);
        // The API calls a loaded tool of the top level by a namespace of its own name. A choice that names a tool
        // of such a namespace means that one.
        let is_loaded = self.keeps_loaded && self.loaded.contains(&key.1);
        if namespace == name && (known.is_none() || is_loaded) {
            return;
        }
        let called: Text<'static> = match known {
            Some(called) => Text::new(String::from(*called)),
            // The tool is not sent, and another tool that is sent may have its flat name.
            None => match flat(Some(&namespace), &name) {
                flat if self.sent.contains(&*flat.display()) && !is_default(&namespace) => {
                    let mut own = hashed(&flat, &namespace, &name);
                    // Everybody can compute digests.
                    while self.sent.contains(&own) {
                        own.push('_');
                    }
                    Text::new(own)
                }
                flat => flat,
            },
        };
        if self.keeps_loaded && self.loaded.contains(&*called.display()) {
            one.set("namespace", Node::string(called.clone()));
        } else {
            one.remove("namespace");
        }
        if called != name {
            one.set("name", Node::string(called));
        }
    }
}

/// Gives the tools that a choice names their flat names. A tool of the top level that the API has loaded stands in a
/// namespace of its own name, which is no namespace of the client's.
pub(crate) fn flatten_choice<'a>(request: &mut Node<'a>, names: &NameMap<'a>) -> Result<(), Error> {
    each_chosen(request, |chosen| {
        let text = |key: &str| chosen.get(key).and_then(Node::as_text);
        let is_member = |(namespace, name): (&Text<'a>, &Text<'a>)| namespace != name || names.has(namespace, name);
        if text("namespace").zip(text("name")).is_some_and(is_member) {
            names.flatten_call(chosen);
        }
    })
}

/// Edits the tool that a choice of Responses names, or each that it allows.
fn each_chosen<'a>(request: &mut Node<'a>, edit: impl Fn(&mut Node<'a>)) -> Result<(), Error> {
    edit_member(request, "tool_choice", |choice| {
        edit(choice);
        let allowed = choice.visit("tools", |tools| {
            tools.visit_children(|_, tool| {
                edit(tool);
                Ok(())
            })
        });
        allowed.unwrap_or(Ok(()))
    })
    .map(drop)
}
