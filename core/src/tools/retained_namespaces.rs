//! Keeps the namespaces of a Responses list if the API has namespaces. Requests are rewritten with a flat list. At the
//! end, the tools of the kept namespaces are moved back into them, in the list, in calls and in the choice.
//!
//! A namespace is kept if all its tools are sent under their own names: none is deferred, and all names are legal. All
//! other namespaces are flattened. No namespace is kept if a name alone does not identify the called tool, or if the
//! choice may be something other than a single tool.

use alloc::{
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use super::{restore::RestoreMap, sanitize_list::ToolChange};
use crate::{
    collections::{Map, Set},
    dialect::surface::NamePattern,
    error::Error,
    json::{
        self,
        lazy::{edit, edit_member, may_hold, view},
        Child, Data, Flags, Node, Text,
    },
    names,
    options::Api,
    request::{
        carriers,
        namespaces::{each_chosen, is_default},
        report::DeferredReport,
        tool::{self, has_type},
        tool_format::{recognize, Entry},
    },
    rules::Rule,
};

/// Names of OpenAI's own namespaces.
///
/// Source: the API's answer `User-defined namespace 'file_search' collides with an existing tool namespace.`
/// (vscode#313033, bifrost#7084; read 2026-11).
const RESERVED: [&str; 12] = [
    "api_tool",
    "browser",
    "code_interpreter",
    "computer",
    "container",
    "file_search",
    "image_gen",
    "image_generation",
    "multi_tool_use",
    "python",
    "tool_search",
    "web_search",
];

const LIST: &str = "tools";
const NAMESPACE: &str = "namespace";
/// Separator of the namespace and the tool in a flattened name.
const SEPARATOR: &str = "__";

/// The kept namespaces of a request, and what is needed to move tools back into them.
pub(super) struct RetainedNamespaces<'a> {
    /// The original request.
    original: Node<'a>,
    spaces: Vec<Space<'a>>,
    /// Indices in `spaces`, by name.
    index: Map<String, usize>,
    /// Indices of the kept namespaces in the request's list.
    pub(super) places: Set<usize>,
    /// The ids of calls in the history, each with the called tool. An id may be used several times.
    calls: Set<(String, Member)>,
}

struct Space<'a> {
    name: String,
    /// Entry of the list, without its tools.
    entry: Node<'a>,
    /// Names of the tools.
    members: Set<String>,
}

/// Index of a namespace, and name of a tool in it.
type Member = (usize, String);

impl<'a> RetainedNamespaces<'a> {
    /// Finds the namespaces to keep, and removes their descriptions from the request: flattening would add the
    /// descriptions to those of the tools.
    ///
    /// # Errors
    /// `invalid-json` if a part of the request is text that cannot be read.
    pub(super) fn take(request: &mut Node<'a>, shape: NamePattern) -> Result<Option<Self>, Error> {
        let (spaces, places) = found(request, shape)?;
        if spaces.is_empty() {
            return Ok(None);
        }
        let index = spaces.iter().enumerate().map(|(at, space)| (space.name.clone(), at)).collect();
        let mut kept = RetainedNamespaces { original: request.clone(), spaces, index, places, calls: Set::new() };
        for item in request.items_at("input") {
            if !may_hold(item, Flags::NAMES_TOOLS) {
                continue;
            }
            let item = view(item)?;
            let text = |key: &str| item.text_at(key);
            if let (Some(space), Some(name), Some(id)) = (text(NAMESPACE), text("name"), text("call_id")) {
                let member = kept.member(space, name).filter(|_| is_call(&item));
                kept.calls.extend(member.map(|member| (id.display().into_owned(), member)));
            }
        }
        edit_member(request, LIST, |list| {
            for (at, entry) in list.as_array_mut().into_iter().flatten().enumerate() {
                if kept.places.contains(&at) {
                    entry.remove("description");
                }
            }
            Ok(())
        })?;
        Ok(Some(kept))
    }

    fn member(&self, space: &Text<'_>, name: &Text<'_>) -> Option<Member> {
        let name = name.display().into_owned();
        let at = *self.index.get(&*space.display())?;
        self.spaces.get(at).filter(|space| space.members.contains(&name))?;
        Some((at, name))
    }

    /// Moves the tools back into their namespaces.
    ///
    /// # Errors
    /// Same as [`Self::take`].
    pub(super) fn put_back(
        self,
        request: &mut Node<'a>,
        restore_map: &RestoreMap,
        (deferred, changes): (Option<&mut DeferredReport>, &mut Arc<Vec<ToolChange>>),
    ) -> Result<(), Error> {
        let flat: Map<String, Member> = restore_map
            .names_in_namespaces()
            .filter_map(|(called, space, name)| Some((called.to_string(), self.member(&space, &name)?)))
            .collect();
        // Stream events have the name without the namespace, so each tool has to be called by its own name.
        if flat.values().any(|(_, own)| restore_map.renames(own)) {
            return Ok(());
        }
        let of = |node: &Node<'_>| flat.get(&*node.get("name")?.as_text()?.display());
        let mut moved: Map<usize, String> = Map::new();
        edit_member(request, LIST, |list| {
            let Data::Array(entries) = core::mem::take(list).into_data() else { return Ok(()) };
            let mut out: Vec<Node<'a>> = Vec::with_capacity(entries.len());
            let mut open: Map<usize, (usize, Vec<Node<'a>>)> = Map::new();
            for (index, mut entry) in entries.into_iter().enumerate() {
                let Some((space, name)) = of(&entry) else {
                    moved.insert(index, format!("/tools/{}", out.len()));
                    out.push(entry);
                    continue;
                };
                if !open.contains_key(space) {
                    open.insert(*space, (out.len(), Vec::new()));
                    out.push(Node::default());
                }
                entry.set("name", Node::string(name.clone()));
                if let Some((at, members)) = open.get_mut(space) {
                    moved.insert(index, format!("/tools/{at}/tools/{}", members.len()));
                    members.push(entry);
                }
            }
            for (space, (at, members)) in open {
                let shell = self.spaces.get(space).map(|space| space.entry.clone());
                if let (Some(place), Some(mut shell)) = (out.get_mut(at), shell) {
                    shell.set(LIST, Node::array(members));
                    *place = shell;
                }
            }
            *list = Node::array(out);
            Ok(())
        })?;
        let returned = |node: &mut Node<'a>, (space, name): &Member| {
            if let Some(space) = self.spaces.get(*space) {
                node.set("name", Node::string(name.clone()));
                node.set(NAMESPACE, Node::string(space.name.clone()));
            }
        };
        each_chosen(request, |chosen| {
            if let Some(member) = of(chosen).filter(|_| chosen.get(NAMESPACE).is_none()) {
                returned(chosen, member);
            }
        })?;
        let was_sent = |key: &str| self.original.get(key);
        if let Some((chosen, twin)) = request.get("tool_choice").zip(was_sent("tool_choice")) {
            if json::same(&*view(chosen)?, &*view(twin)?) {
                request.set("tool_choice", twin.clone());
            }
        }
        let twins = was_sent("input").and_then(Node::as_array).unwrap_or_default();
        let history = request.visit("input", |input| {
            if !matches!(input.data(), Data::Array(_)) {
                return Ok(());
            }
            input.visit_children(|child, item| {
                if !may_hold(item, Flags::NAMES_TOOLS) {
                    return Ok(());
                }
                let mut is_returned = false;
                edit(item, |item| {
                    let id = item.text_at("call_id").map(Text::display);
                    let is_of = |member: &Member| {
                        id.as_deref().is_some_and(|id| self.calls.contains(&(id.to_string(), member.clone())))
                    };
                    if let Some(member) = of(item).filter(|member| is_call(item) && is_of(member)) {
                        returned(item, member);
                        is_returned = true;
                    }
                    Ok(())
                })?;
                // A call that is equal to the original again keeps its original text, because prompt caches depend on
                // the text.
                let place = if let Child::Item(at) = child { Some(at) } else { None };
                if let Some(twin) = place.filter(|_| is_returned).and_then(|at| twins.get(at)) {
                    if json::same(&*view(item)?, &*view(twin)?) {
                        *item = twin.clone();
                    }
                }
                Ok(())
            })
        });
        history.unwrap_or(Ok(()))?;
        if let Some(deferred) = deferred {
            // The model calls these tools by the client's names.
            deferred.name_map.retain(|(called, _)| !flat.contains_key(called));
        }
        settle_pointers(changes, &moved);
        if is_unchanged(request, &self.original)? {
            *request = self.original;
        }
        Ok(())
    }
}

/// Updates the output pointers of changes to tools that were moved into namespaces.
fn settle_pointers(changes: &mut Arc<Vec<ToolChange>>, moved: &Map<usize, String>) {
    let place = |pointer: &str| {
        let rest = pointer.strip_prefix("/tools/")?;
        let (index, rest) = rest.split_once('/').map_or((rest, ""), |(index, rest)| (index, rest));
        let to = moved.get(&index.parse().ok()?)?;
        Some((to, if rest.is_empty() { to.clone() } else { format!("{to}/{rest}") }))
    };
    if changes.iter().all(|about| about.change.output_pointer.is_none()) {
        return;
    }
    Arc::make_mut(changes).retain_mut(|about| {
        let change = &mut about.change;
        let Some((to, pointer)) = change.output_pointer.as_deref().and_then(place) else { return true };
        // In its namespace, the tool has its original name.
        if to.matches("/tools/").count() > 1 && change.rule == Rule::RenameTool.id() {
            return false;
        }
        change.output_pointer = Some(pointer);
        true
    });
}

fn is_call(item: &Node<'_>) -> bool {
    has_type(item, "function_call") || has_type(item, "custom_tool_call")
}

/// Returns the namespaces of a list that are kept, with their indices in the list. Namespaces with equal names are
/// merged.
fn found<'a>(request: &Node<'a>, shape: NamePattern) -> Result<(Vec<Space<'a>>, Set<usize>), Error> {
    let (mut spaces, mut places): (Vec<Space<'a>>, _) = (Vec::new(), Set::new());
    let Some(tools) = request.get(LIST) else { return Ok((spaces, places)) };
    let tools = view(tools)?;
    let list = tools.as_array().unwrap_or_default();
    let has_namespaces = list.iter().any(|entry| has_type(entry, NAMESPACE));
    if !has_namespaces || !names_differ(list, shape) || !chooses_one_tool(request)? {
        return Ok((spaces, places));
    }
    let mut refused: Set<String> = RESERVED.iter().map(|name| (*name).to_string()).collect();
    // A namespace is flattened if the history redefines one of its tools. Other tools that the history adds to a
    // namespace are not moved back into it. They keep their flat names and their places after the list, so that the
    // beginning of the list stays the same in the turn that adds them.
    let members_of = |entry: &Node<'_>| {
        let members = entry.items_at(LIST);
        members.iter().filter_map(name_of).collect::<Vec<String>>()
    };
    let mut listed: Set<(String, String)> = Set::new();
    for entry in list.iter().filter(|entry| has_type(entry, NAMESPACE)) {
        let space = name_of(entry).unwrap_or_default();
        listed.extend(members_of(entry).into_iter().map(|member| (space.clone(), member)));
    }
    carriers::each(request, Api::OpenaiResponses, None, |list| {
        for entry in list.iter().filter(|entry| has_type(entry, NAMESPACE)) {
            let Some(space) = name_of(entry) else { continue };
            let replaces = members_of(entry).into_iter().any(|member| listed.contains(&(space.clone(), member)));
            refused.extend(replaces.then_some(space));
        }
    })?;
    let entries = || list.iter().enumerate().filter(|(_, entry)| has_type(entry, NAMESPACE));
    refused.extend(entries().filter(|(_, entry)| !is_retained(entry, shape)).filter_map(|(_, entry)| name_of(entry)));
    // A namespace can have only one description.
    let mut described: Map<String, Option<&Text<'_>>> = Map::new();
    for (_, entry) in entries() {
        let Some(name) = name_of(entry) else { continue };
        let description = entry.text_at("description");
        if *described.entry(name.clone()).or_insert(description) != description {
            refused.insert(name);
        }
    }
    let mut index: Map<String, usize> = Map::new();
    for (at, entry) in entries() {
        let Some(name) = name_of(entry).filter(|name| !refused.contains(name)) else { continue };
        places.insert(at);
        let members = entry.items_at(LIST);
        let members: Set<String> = members.iter().filter_map(name_of).collect();
        if let Some(known) = index.get(&name).and_then(|at| spaces.get_mut(*at)) {
            known.members.extend(members);
            continue;
        }
        index.insert(name.clone(), spaces.len());
        let mut entry = entry.clone();
        entry.set(LIST, Node::array(Vec::new()));
        spaces.push(Space { name, entry, members });
    }
    Ok((spaces, places))
}

/// Returns true if the name of each tool in a namespace differs from the flattened names of all others. Stream events
/// have the name without the namespace.
fn names_differ(list: &[Node<'_>], shape: NamePattern) -> bool {
    let (mut flat, mut own) = (Set::new(), Vec::new());
    for entry in list {
        match entry.array_at(LIST).filter(|_| has_type(entry, NAMESPACE)) {
            None if entry.get("name").is_some() && legal_name(entry, shape).is_none() => return false,
            None => {}
            Some(members) => {
                let space = name_of(entry).unwrap_or_default();
                for name in members.iter().filter_map(name_of) {
                    flat.insert(format!("{space}{SEPARATOR}{name}"));
                    own.push(name);
                }
            }
        }
    }
    own.iter().all(|name| !flat.contains(name))
}

/// Returns true if the choice of a request is absent, a word, or a single tool.
fn chooses_one_tool(request: &Node<'_>) -> Result<bool, Error> {
    let Some(choice) = request.get("tool_choice") else { return Ok(true) };
    let choice = view(choice)?;
    Ok(choice.as_object().is_none() || has_type(&choice, "function") || has_type(&choice, "custom"))
}

fn name_of(entry: &Node<'_>) -> Option<String> {
    Some(entry.get("name")?.as_text()?.display().into_owned())
}

fn legal_name<'n, 'a>(entry: &'n Node<'a>, shape: NamePattern) -> Option<&'n Text<'a>> {
    entry.text_at("name").filter(|name| names::is_legal(shape, name))
}

/// Returns true if a namespace can be sent unchanged, except for the schemas of its tools.
fn is_retained(entry: &Node<'_>, shape: NamePattern) -> bool {
    let (Some(name), Some(members)) = (legal_name(entry, shape), entry.array_at(LIST)) else {
        return false;
    };
    let is_sent = |member: &Node<'_>| {
        let is_tool = matches!(recognize(member), Entry::Tool(_)) || tool::is_custom(member);
        let own = legal_name(member, shape);
        // The API puts each tool that it loads into a namespace that has the tool's name.
        is_tool && !has_type(member, NAMESPACE) && own.is_some_and(|own| own != name) && !tool::deferral(member).0
    };
    !is_default(name) && !tool::deferral(entry).0 && !members.is_empty() && members.iter().all(is_sent)
}

/// Returns true if a rewritten request equals the original.
fn is_unchanged(request: &Node<'_>, original: &Node<'_>) -> Result<bool, Error> {
    let (Some(one), Some(other)) = (request.as_object(), original.as_object()) else { return Ok(false) };
    if one.len() != other.len() {
        return Ok(false);
    }
    for (member, twin) in one.iter().zip(other) {
        if member.key != twin.key {
            return Ok(false);
        }
        let (one, other) = (view(&member.value)?, view(&twin.value)?);
        let is_same = match (one.as_array(), other.as_array()) {
            (Some(one), Some(other)) if one.len() == other.len() => {
                let mut is_same = true;
                for (one, other) in one.iter().zip(other) {
                    is_same = is_same && json::same(&*view(one)?, &*view(other)?);
                }
                is_same
            }
            (Some(_), Some(_)) => false,
            _ => json::same(&one, &other),
        };
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}
