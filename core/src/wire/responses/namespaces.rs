//! Moves the tools in namespaces of OpenAI Responses into a flat list, with the names that Codex gives them.
//!
//! A flat name depends only on the tool's namespace and name. It is therefore the same in the history, in a provider's
//! prompt cache, in restored calls and in every later request. Only tools whose names would collide get other names
//! ([`FlatNames`]). A tool is identified by namespace and name: two definitions define the same tool only if both are
//! equal.

use alloc::{format, string::String, vec::Vec};

use crate::{
    collections::{Map, Set},
    error::Error,
    json::{
        lazy::{edit, edit_member, may_hold, view},
        Flags, Node, Text,
    },
    names::{digest, Taken, TakenDigests},
    options::{Api, ToolChanges},
    request::{
        carriers,
        location::Location,
        report::{CallKind, ClientTool, Warnings},
        tool::{self, has_type, DEFERRAL_FLAG},
    },
};

/// The namespace name that Codex writes for tools outside any namespace.
/// Source: openai/codex, codex-rs, `ToolName::is_default_namespace`; read 2026-11.
const DEFAULT: &str = "functions";

/// Tools in this namespace are treated as tools outside any namespace.
pub(crate) fn is_default(namespace: &Text<'_>) -> bool {
    namespace.is_empty() || namespace.is(DEFAULT)
}

/// Returns the name of a tool in a flat list: the name prefixed with the namespace. A name in the default namespace, a
/// name with this prefix, and a name that equals its namespace remain unchanged.
pub(crate) fn flat<'a>(namespace: Option<&Text<'a>>, name: &Text<'a>) -> Text<'a> {
    let Some(namespace) = namespace.filter(|namespace| !is_default(namespace)) else { return name.clone() };
    let (prefix, plain_name) = (namespace.display(), name.display());
    if prefix == plain_name {
        return name.clone();
    }
    let separator = if prefix.ends_with('_') || plain_name.starts_with('_') { "" } else { "__" };
    let has_prefix = plain_name
        .strip_prefix(&*prefix)
        .is_some_and(|rest| !rest.is_empty() && (prefix.ends_with('_') || rest.starts_with("__")));
    if has_prefix {
        name.clone()
    } else {
        Text::new(format!("{prefix}{separator}{plain_name}"))
    }
}

pub(crate) fn nested_namespace<'a>(outer: Option<&Text<'a>>, inner: Option<&Text<'a>>) -> Option<Text<'a>> {
    match (outer, inner) {
        (Some(outer), Some(inner)) => Some(flat(Some(outer), inner)),
        (outer, inner) => inner.or(outer).cloned(),
    }
}

/// A namespaced tool: its namespace and its name there.
type Member<'a> = (Text<'a>, Text<'a>);

/// The namespaced tool that owns each flat name; `None` if the name is reserved but no namespaced tool owns it.
type Owners<'a> = Map<Text<'a>, Option<Member<'a>>>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlatNames {
    /// Tools whose flat name is not the result of [`flat`], because that name collides with another tool.
    renamed: Map<Member<'static>, Text<'static>>,
    owners: Owners<'static>,
    /// Digests in the names of `owners`.
    digests: TakenDigests,
    /// Tools that are defined both at the top level and in the default namespace.
    doubled: Set<Text<'static>>,
}

#[derive(Debug, Default)]
pub(crate) struct Planner {
    /// True if a tool of the default namespace and the top-level tool with its name are one tool.
    default_is_top: bool,
    top: Set<Text<'static>>,
    in_default: Set<Member<'static>>,
    members: Set<Member<'static>>,
}

impl Planner {
    pub(crate) fn with_default_at_top() -> Planner {
        Planner { default_is_top: true, ..Planner::default() }
    }

    pub(crate) fn add(&mut self, list: &[Node<'_>]) {
        list.iter().for_each(|tool| self.collect(tool, None));
    }

    fn collect<'a>(&mut self, tool: &Node<'a>, outer: Option<&Text<'a>>) {
        if has_type(tool, "namespace") {
            let namespace = nested_namespace(outer, tool.text_at("name"));
            for member in tool.items_at("tools") {
                self.collect(member, namespace.as_ref());
            }
            return;
        }
        // In Chat Completions, `name` is nested one level deeper, and namespaces do not exist.
        let outer = outer.filter(|namespace| self.default_is_top || !namespace.is_empty());
        match (outer, tool.text_at("name")) {
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

    pub(crate) fn has_members(&self) -> bool {
        !self.members.is_empty() || !self.in_default.is_empty()
    }

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
            let mut flat_name = flat(Some(&namespace), &name);
            // All colliding tools are renamed. Otherwise, their order would decide which tool keeps the plain name.
            if top.contains(&flat_name) || wanted.get(&flat_name) != Some(&1) {
                flat_name = Text::new(taken.reserve_unused(name_with_hash(&flat_name, &namespace, &name), usize::MAX));
                renamed.insert((namespace.clone(), name.clone()), flat_name.clone());
            }
            owners.insert(flat_name, Some((namespace, name)));
        }
        // No tool gets a plain name that several tools wanted.
        for name in top.into_iter().chain(wanted.into_iter().map(|(name, _)| name)) {
            owners.entry(name).or_insert(None);
        }
        let digests = TakenDigests::of(owners.keys().map(Text::display));
        FlatNames { renamed, owners, digests, doubled }
    }
}

impl FlatNames {
    /// Returns the approximate size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let text = |text: &Text<'_>| size_of::<Text<'_>>() + text.chars().len();
        let member = |(namespace, name): &Member<'_>| text(namespace) + text(name);
        let renamed = self.renamed.iter().map(|(key, name)| member(key) + text(name));
        let owners = self.owners.iter().map(|(name, owner)| text(name) + owner.as_ref().map_or(0, member));
        // The digests contain the names of the owners.
        renamed.chain(owners.map(|size| 2 * size)).chain(self.doubled.iter().map(text)).sum()
    }

    pub(crate) fn plan(list: &[Node<'_>]) -> FlatNames {
        let mut planner = Planner::default();
        planner.add(list);
        if planner.has_members() {
            planner.finish()
        } else {
            FlatNames::default()
        }
    }

    /// Returns the flat name of a tool. The flat name of an unlisted tool never collides with the name of a listed
    /// tool.
    pub(crate) fn of<'a>(&self, namespace: &Text<'a>, name: &Text<'a>) -> Text<'a> {
        let plain = flat(Some(namespace), name);
        // The keys are `'static` but the arguments are not; views of the maps with a shorter lifetime allow the lookup.
        let (renamed, owners): (&Map<Member<'_>, Text<'_>>, &Owners<'_>) = (&self.renamed, &self.owners);
        let member = (namespace.borrowed(), name.borrowed());
        if let Some(flat_name) = renamed.get(&member) {
            return flat_name.clone().into_owned();
        }
        // In calls, the API puts a top-level tool into a namespace with the tool's own name or the default namespace.
        let is_top = is_default(namespace) || namespace == name;
        match owners.get(&plain) {
            Some(owner) if !is_top && owner.as_ref() != Some(&member) => {
                Text::new(self.digests.first_unused(|_| name_with_hash(&plain, namespace, name)))
            }
            _ => plain,
        }
    }

    pub(crate) fn has(&self, namespace: &Text<'_>, name: &Text<'_>) -> bool {
        let owners: &Owners<'_> = &self.owners;
        let member = (namespace.borrowed(), name.borrowed());
        owners.get(&self.of(namespace, name).borrowed()).is_some_and(|owner| owner.as_ref() == Some(&member))
    }

    pub(crate) fn is_doubled(&self, name: &Text<'_>) -> bool {
        let doubled: &Set<Text<'_>> = &self.doubled;
        doubled.contains(&name.borrowed())
    }

    /// Yields the names of renamed tools that are in a namespace with the tool's name.
    pub(crate) fn renamed_own_names(&self) -> impl Iterator<Item = &Text<'static>> {
        self.renamed.keys().filter(|(namespace, name)| namespace == name).map(|(_, name)| name)
    }

    /// Returns only the part that determines the names in a list. Additions of the history do not change this part, so
    /// the list is found in the cache.
    pub(crate) fn of_list(&self) -> FlatNames {
        FlatNames { renamed: self.renamed.clone(), ..FlatNames::default() }
    }
}

fn name_with_hash(flat: &Text<'_>, namespace: &Text<'_>, name: &Text<'_>) -> String {
    format!("{}_{}", flat.display(), digest(&[namespace, name]))
}

/// Plans the flat names of the request's tools. Includes the tools that the history adds, unless tool changes are
/// ignored. Tools outside of namespaces keep their names.
pub(crate) fn flat_names(request: &Node<'_>, changes: ToolChanges) -> Result<FlatNames, Error> {
    plan(request, changes, Planner::with_default_at_top())
}

/// Like [`flat_names`], for a request that is sent unchanged. Includes all tools that the history adds.
pub(crate) fn flat_names_of_unchanged(request: &Node<'_>) -> Result<FlatNames, Error> {
    plan(request, ToolChanges::Apply, Planner::default())
}

fn plan(request: &Node<'_>, changes: ToolChanges, mut planner: Planner) -> Result<FlatNames, Error> {
    let listed = request.get("tools").map(view).transpose()?;
    planner.add(listed.as_ref().and_then(|tools| tools.as_array()).unwrap_or_default());
    // If tool changes are ignored, added tools are not sent and reserve no names.
    if changes == ToolChanges::Apply {
        carriers::each(request, Api::OpenaiResponses, None, |list| planner.add(list))?;
    }
    Ok(planner.finish())
}

/// Returns the names of the top-level tools that a search can load or that an item adds. The API puts each of them into
/// a namespace with the tool's own name.
pub(crate) fn loadable_names(request: &Node<'_>) -> Result<Set<String>, Error> {
    let mut names = Set::new();
    let mut take = |list: &[Node<'_>], all: bool| {
        let tools = list.iter().filter(|tool| all || tool::deferral(tool).0);
        names.extend(tools.filter_map(tool::name).map(|name| String::from(name.display())));
    };
    if let Some(tools) = request.get("tools") {
        take(view(tools)?.as_array().unwrap_or_default(), false);
    }
    carriers::each(request, Api::OpenaiResponses, None, |list| take(list, true))?;
    Ok(names)
}

#[derive(Default)]
pub(crate) struct NameMap<'a> {
    list: Vec<(String, ClientTool)>,
    flat: FlatNames,
    /// True if each tool also gets the description of its namespace.
    describes: bool,
    /// The namespace, if any, and the name in it, by flat name.
    known: Map<Text<'a>, (Option<Text<'a>>, Text<'a>)>,
}

impl<'a> NameMap<'a> {
    pub(crate) fn with(flat: FlatNames, describes: bool) -> Self {
        NameMap { flat, describes, ..NameMap::default() }
    }

    pub(crate) fn called(&self, call: &Node<'a>) -> Option<Text<'a>> {
        let name = call.get("name")?.as_text()?;
        Some(match call.text_at("namespace") {
            Some(namespace) => self.flat.of(namespace, name),
            None => name.clone(),
        })
    }

    pub(crate) fn has(&self, namespace: &Text<'_>, name: &Text<'_>) -> bool {
        self.flat.has(namespace, name)
    }

    pub(crate) fn name_in(&self, namespace: &Text<'a>, name: &Text<'a>) -> Text<'a> {
        self.flat.of(namespace, name)
    }

    pub(crate) fn flatten_call(&self, call: &mut Node<'a>) {
        if call.get("namespace").is_none() {
            return;
        }
        if let Some(name) = self.called(call) {
            if call.text_at("name").is_some_and(|old| *old != name) {
                call.set("name", Node::string(name));
            }
        }
        call.remove("namespace");
    }

    /// Returns false if another tool has the flat name, so that this tool cannot be called.
    fn add(&mut self, flat: &Text<'a>, (namespace, name): (&Text<'a>, &Text<'a>), kind: CallKind) -> bool {
        // The tool is defined twice; the top-level definition wins.
        if is_default(namespace) && self.flat.is_doubled(name) {
            return false;
        }
        // A tool of the default namespace is recorded without a namespace, unless a top-level tool has the same name.
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

    /// Records the client's tool for a flat name, unless the tool was already recorded with its namespace. Once a
    /// deferred tool is loaded, the API puts it into a namespace with the tool's own name, unless the tool is in the
    /// default namespace.
    pub(crate) fn record_client_tool(&mut self, flat: &Text<'_>, (is_loaded, is_at_api): (bool, bool), kind: CallKind) {
        let known: &Map<Text<'_>, (Option<Text<'_>>, Text<'_>)> = &self.known;
        let is_top = match known.get(flat) {
            Some((Some(_), _)) => return,
            Some((None, _)) => false,
            None => true,
        };
        let name = flat.display().into_owned();
        // Another tool may be in a namespace with this name.
        let is_alone = is_top && !self.flat.has(flat, flat);
        let namespace = (is_loaded && is_alone).then(|| name.clone());
        // The API puts the tool into a namespace with the tool's own name, in which the client does not have the tool.
        let is_put = is_loaded && !is_alone && is_at_api;
        if namespace.is_some() || is_put || kind != CallKind::Function {
            self.list.push((name.clone(), ClientTool { namespace, name, kind }));
        }
    }

    pub(crate) fn finish(self) -> Vec<(String, ClientTool)> {
        self.list
    }
}

pub(crate) fn has_namespace(tools: &[Node<'_>]) -> bool {
    tools.iter().any(|tool| has_type(tool, "namespace"))
}

/// Returns the flat names of a list that is not sent, each with the location of its tool.
pub(crate) fn names_in<'a>(tools: &[Node<'a>], location: Location, names: &NameMap<'a>) -> Vec<(Text<'a>, Location)> {
    let mut out = Vec::new();
    for (index, tool) in tools.iter().enumerate() {
        let entry = location.index(index);
        if !has_type(tool, "namespace") {
            out.extend(tool::name(tool).cloned().map(|name| (name, entry)));
            continue;
        }
        let namespace = tool.text_at("name").filter(|namespace| !namespace.is_empty());
        let members = tool.items_at("tools").iter().enumerate();
        let members = members.filter(|(_, member)| !has_type(member, "namespace"));
        let members = members.filter_map(|(index, member)| Some((index, tool::name(member)?)));
        out.extend(members.map(|(index, name)| {
            let flat = namespace.map_or_else(|| name.clone(), |namespace| names.flat.of(namespace, name));
            (flat, entry.name("tools").index(index))
        }));
    }
    out
}

/// Moves the tools out of their namespaces, in the order of the list at `location`. Returns each tool with its
/// location.
pub(crate) fn flatten<'a>(
    tools: Vec<Node<'a>>,
    location: Location,
    names: &mut NameMap<'a>,
    warnings: &mut Warnings,
) -> Vec<(Node<'a>, Location)> {
    let mut out = Vec::with_capacity(tools.len());
    for (index, mut tool) in tools.into_iter().enumerate() {
        let entry = location.index(index);
        if !has_type(&tool, "namespace") {
            out.push((tool, entry));
            continue;
        }
        let namespace = tool.text_at("name").cloned();
        let description = description_of(&tool).filter(|_| names.describes).cloned();
        let deferred = tool.bool_at(DEFERRAL_FLAG) == Some(true);
        let members = tool.visit("tools", |tools| tools.as_array_mut().map(core::mem::take)).flatten();
        let members = members.unwrap_or_default();
        let description = description.filter(|text| may_describe(text, members.len()));
        for (index, mut member) in members.into_iter().enumerate() {
            let origin = entry.name("tools").index(index);
            describe(&mut member, description.as_ref());
            warnings.set_location(origin);
            let member = to_flat_entry(namespace.as_ref(), deferred, member, names, warnings);
            out.extend(member.map(|member| (member, origin)));
        }
    }
    warnings.clear_location();
    out
}

pub(crate) fn description_of<'n, 'a>(namespace: &'n Node<'a>) -> Option<&'n Text<'a>> {
    namespace.text_at(DESCRIPTION).filter(|text| !text.is_empty())
}

const DESCRIPTION: &str = "description";

/// Maximum number of bytes that copies of one namespace's description may add to the list. Without the limit, copying
/// it to every tool could take quadratic space.
const MAX_COPIED: usize = 64 << 10;

pub(crate) fn may_describe(description: &Text<'_>, tools: usize) -> bool {
    description.chars().len().saturating_mul(tools) <= MAX_COPIED
}

/// Prepends the description of a namespace to the description of a tool, because a flat list has no namespaces.
pub(crate) fn describe(tool: &mut Node<'_>, namespace: Option<&Text<'_>>) {
    let Some(namespace) = namespace.filter(|_| !has_type(tool, "namespace")) else { return };
    let text = match tool.get(DESCRIPTION).map(Node::as_text) {
        Some(Some(description)) if !description.is_empty() => {
            format!("{}\n\n{}", namespace.display(), description.display())
        }
        None | Some(Some(_)) => String::from(namespace.display()),
        Some(None) if tool.get(DESCRIPTION).is_some_and(Node::is_null) => String::from(namespace.display()),
        // The rules for descriptions handle values that are not strings.
        Some(None) => return,
    };
    tool.set(DESCRIPTION, Node::string(text));
}

/// Returns the tool as an entry of a flat list, or `None` if the tool could not be called there.
fn to_flat_entry<'a>(
    namespace: Option<&Text<'a>>,
    deferred: bool,
    mut tool: Node<'a>,
    names: &mut NameMap<'a>,
    warnings: &mut Warnings,
) -> Option<Node<'a>> {
    // The API does not support nested namespaces.
    if has_type(&tool, "namespace") {
        warnings.warn_optional_name("not-translated", tool.text_at("name"));
        return None;
    }
    let name = tool.text_at("name").filter(|name| !name.is_empty()).cloned();
    if let (Some(namespace), Some(name)) = (namespace, name) {
        let flat_name = names.flat.of(namespace, &name);
        let kind = if has_type(&tool, "custom") { CallKind::Custom } else { CallKind::Function };
        if !names.add(&flat_name, (namespace, &name), kind) {
            warnings.warn_named("duplicate-tool-name", flat_name.display());
            return None;
        }
        if flat_name != name {
            tool.set("name", Node::string(flat_name));
        }
    }
    if deferred && tool.as_object().is_some() && tool.get(DEFERRAL_FLAG).is_none() {
        tool.set(DEFERRAL_FLAG, Node::bool(true));
    }
    Some(tool)
}

/// Replaces names in namespaces by flat names, in calls and in the choice. `renamed` yields each tool's flat name, its
/// namespace, and its name in the namespace. A call to a loaded tool needs the tool's name as its namespace; otherwise,
/// the API refuses the call. With emulated deferred loading, calls and choices are already renamed.
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
    let digests = TakenDigests::of(sent.iter());
    let choices = Renames { known: &known, sent, digests: &digests, loaded: &loaded, keeps_loaded: false };
    each_chosen(request, |tool| choices.rename(tool))?;
    let calls = Renames { keeps_loaded: true, ..choices };
    let flattened = request.visit("input", |input| {
        input.visit_children(|_, item| {
            if !may_hold(item, Flags::NAMES_TOOLS) {
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

struct Renames<'n> {
    /// Flat names by namespace and name.
    known: &'n Map<(String, String), &'n str>,
    sent: &'n Set<String>,
    /// Digests in the names of `sent`.
    digests: &'n TakenDigests,
    /// Names of tools added by a search or an item, and of deferred tools that a search can load.
    loaded: &'n Set<String>,
    /// True if a loaded tool keeps the namespace into which the API has put it.
    keeps_loaded: bool,
}

impl Renames<'_> {
    fn rename(&self, node: &mut Node<'_>) {
        let text = |key: &str| node.text_at(key).map(|text| text.clone().into_owned());
        let Some((namespace, name)) = text("namespace").zip(text("name")) else { return };
        let key = (String::from(namespace.display()), String::from(name.display()));
        let known = self.known.get(&key);
        // The API puts a loaded top-level tool into a namespace with the tool's own name. A choice with such a
        // namespace refers to that tool.
        let is_loaded = self.keeps_loaded && self.loaded.contains(&key.1);
        if namespace == name && (known.is_none() || is_loaded) {
            return;
        }
        let called: Text<'static> = match known {
            Some(called) => Text::new(String::from(*called)),
            // The tool is not sent, and its flat name may belong to another tool that is sent.
            None => match flat(Some(&namespace), &name) {
                flat if self.sent.contains(&*flat.display()) && !is_default(&namespace) => {
                    Text::new(self.digests.first_unused(|_| name_with_hash(&flat, &namespace, &name)))
                }
                flat => flat,
            },
        };
        if self.keeps_loaded && self.loaded.contains(&*called.display()) {
            node.set("namespace", Node::string(called.clone()));
        } else {
            node.remove("namespace");
        }
        if called != name {
            node.set("name", Node::string(called));
        }
    }
}

/// Replaces names in namespaces by flat names in the choice. A namespace with the tool's own name may be the API's
/// namespace for a loaded top-level tool, so that name remains.
pub(crate) fn flatten_choice<'a>(request: &mut Node<'a>, names: &NameMap<'a>) -> Result<(), Error> {
    each_chosen(request, |chosen| {
        let text = |key: &str| chosen.text_at(key);
        let is_member = |(namespace, name): (&Text<'a>, &Text<'a>)| namespace != name || names.has(namespace, name);
        if text("namespace").zip(text("name")).is_some_and(is_member) {
            names.flatten_call(chosen);
        }
    })
}

/// Replaces each namespace in a choice of allowed tools with its tools, because a flat list has no namespaces. The
/// entry of an empty namespace remains; it is dropped later.
pub(crate) fn expand_choice(request: &mut Node<'_>, changes: ToolChanges) -> Result<(), Error> {
    let is_namespace = |entry: &Node<'_>| has_type(entry, "namespace");
    let Some(choice) = request.get("tool_choice") else { return Ok(()) };
    let choice = view(choice)?;
    let allowed = choice.items_at("tools");
    if !has_type(&choice, "allowed_tools") || !allowed.iter().any(is_namespace) {
        return Ok(());
    }
    let name_of = |entry: &Node<'_>| entry.text_at("name").map(|name| name.clone().into_owned());
    let mut members: Map<Text<'static>, Vec<Node<'static>>> = allowed
        .iter()
        .filter(|entry| is_namespace(entry))
        .filter_map(|entry| Some((name_of(entry)?, Vec::new())))
        .collect();
    // Tools that the choice lists individually are already allowed.
    let mut seen: Set<(Text<'static>, Text<'static>)> = Set::new();
    for entry in allowed {
        let space = entry.text_at("namespace").map(|space| space.clone().into_owned());
        seen.extend(space.zip(name_of(entry)));
    }
    drop(choice);
    let mut collect = |list: &[Node<'_>]| {
        for space in list.iter().filter(|entry| is_namespace(entry)) {
            let Some(name) = name_of(space) else { continue };
            let Some(allowed_tools) = members.get_mut(&name) else { continue };
            for tool in space.items_at("tools") {
                let Some(tool_name) = name_of(tool).filter(|_| !is_namespace(tool)) else { continue };
                if seen.insert((name.clone(), tool_name.clone())) {
                    let kind = if has_type(tool, "custom") { "custom" } else { "function" };
                    allowed_tools.push(Node::record([
                        ("type", Node::literal(kind)),
                        ("name", Node::string(tool_name)),
                        ("namespace", Node::string(name.clone())),
                    ]));
                }
            }
        }
    };
    if let Some(listed) = request.get("tools") {
        collect(view(listed)?.as_array().unwrap_or_default());
    }
    if changes == ToolChanges::Apply {
        carriers::each(request, Api::OpenaiResponses, None, &mut collect)?;
    }
    edit_member(request, "tool_choice", |choice| {
        choice.visit("tools", |tools| {
            let Some(entries) = tools.as_array_mut() else { return };
            let mut expanded = Set::new();
            for entry in core::mem::take(entries) {
                let space = name_of(&entry).filter(|_| is_namespace(&entry));
                match space {
                    Some(space) if !expanded.contains(&space) => {
                        match members.remove(&space).filter(|tools| !tools.is_empty()) {
                            Some(tools) => {
                                entries.extend(tools);
                                expanded.insert(space);
                            }
                            None => entries.push(entry),
                        }
                    }
                    Some(_) => {}
                    None => entries.push(entry),
                }
            }
        });
        Ok(())
    })
    .map(drop)
}

pub(crate) fn each_chosen<'a>(request: &mut Node<'a>, edit: impl Fn(&mut Node<'a>)) -> Result<(), Error> {
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
