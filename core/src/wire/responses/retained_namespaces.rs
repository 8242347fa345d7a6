//! Keeps the namespaces of a Responses list if the API has namespaces. Requests are rewritten with a flat list. At the
//! end, the tools of the kept namespaces are moved back into their namespaces. Calls and the choice get the namespaces
//! back as well.
//!
//! A namespace is kept if all its tools are sent with their original names. The names must be legal, and no tool may be
//! deferred, unless the API itself loads deferred tools. All other namespaces are flattened. No namespace is kept if a
//! name alone does not identify the called tool, or if the choice may contain several tools.
//!
//! If the API itself adds tools, the namespaces of the items that add tools are kept, too. A call in the history keeps
//! its namespace if the request does not have that namespace at all, as in a request for a summary without tools.

use alloc::{
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use core::ops::Range;

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
    options::{Api, Native},
    reply::restore::RestoreMap,
    request::{
        carriers,
        report::DeferredReport,
        tool::{self, has_type},
        tool_format::{recognize, Entry},
    },
    rules::Rule,
    tools::{
        request_facts::{Namespace, RequestChange},
        sanitize_list::ToolChange,
    },
    wire::responses::namespaces::{self, each_chosen, is_default},
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

pub(crate) struct RetainedNamespaces<'a> {
    original: Node<'a>,
    spaces: Vec<Space<'a>>,
    /// Indices in `spaces`, by name.
    index: Map<String, usize>,
    /// Indices of the kept namespaces in the request's list.
    entry_indices: Set<usize>,
    /// The ids of calls in the history, each with the called tool. An id may be used several times.
    calls: Set<(String, Member)>,
    /// Indices of the calls in the history whose namespace the request does not have.
    unlisted: Set<usize>,
    /// True if namespaces of items that add tools are kept.
    keeps_carriers: bool,
}

#[derive(Default)]
pub(crate) struct Flattened {
    /// Range of the request's report that contains the changes about flattened namespaces.
    pub(crate) reported: Range<usize>,
    /// The changes if no namespace can be put back.
    pub(crate) changes: Vec<RequestChange>,
}

struct Space<'a> {
    name: String,
    /// Entry of the list, without its tools.
    entry: Node<'a>,
    members: Set<String>,
}

/// Index of a namespace, and name of a tool in it.
type Member = (usize, String);

impl<'a> RetainedNamespaces<'a> {
    /// Returns the namespaces to keep. Removes their descriptions from the request, because flattening would add them
    /// to the descriptions of the tools.
    pub(crate) fn take(
        request: &mut Node<'a>,
        name_pattern: NamePattern,
        native: Native,
    ) -> Result<Option<Self>, Error> {
        let (spaces, entry_indices) = retained_in(request, name_pattern, native)?;
        let unlisted = unlisted_calls(request)?;
        let is_flattened = spaces.is_empty() && lists_namespaces(request)?;
        let keeps_calls = !unlisted.is_empty() && chooses_one_tool(request)?;
        if is_flattened || spaces.is_empty() && !keeps_calls {
            return Ok(None);
        }
        let index = spaces.iter().enumerate().map(|(at, space)| (space.name.clone(), at)).collect();
        let (original, calls, keeps_carriers) = (request.clone(), Set::new(), native != Native::None);
        let mut kept = RetainedNamespaces { original, spaces, index, entry_indices, calls, unlisted, keeps_carriers };
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
                if kept.entry_indices.contains(&at) {
                    entry.remove("description");
                }
            }
            Ok(())
        })?;
        if kept.keeps_carriers {
            edit_carriers(request, |_, list| {
                for entry in list.as_array_mut().into_iter().flatten() {
                    if has_type(entry, NAMESPACE) && name_of(entry).is_some_and(|name| kept.index.contains_key(&name)) {
                        entry.remove("description");
                    }
                }
            })?;
        }
        Ok(Some(kept))
    }

    pub(crate) fn keeps(&self, namespace: &Namespace) -> bool {
        match namespace.index {
            Some(index) => self.entry_indices.contains(&index),
            None => self.keeps_carriers && self.index.contains_key(&namespace.name),
        }
    }

    fn member(&self, space: &Text<'_>, name: &Text<'_>) -> Option<Member> {
        let name = name.display().into_owned();
        let at = *self.index.get(&*space.display())?;
        self.spaces.get(at).filter(|space| space.members.contains(&name))?;
        Some((at, name))
    }

    /// Returns false if the tools cannot be moved back. All tools then stay in flat lists.
    pub(crate) fn put_back(
        self,
        request: &mut Node<'a>,
        restore_map: &RestoreMap,
        (deferred, changes): (Option<&mut DeferredReport>, &mut Arc<Vec<ToolChange>>),
    ) -> Result<bool, Error> {
        let flat: Map<String, Member> = restore_map
            .names_in_namespaces()
            .filter_map(|(called, space, name)| Some((called.to_string(), self.member(&space, &name)?)))
            .collect();
        let of = |node: &Node<'_>| flat.get(&*node.get("name")?.as_text()?.display());
        let original_items = self.original.get("input").and_then(Node::as_array).unwrap_or_default();
        let is_aligned = request.array_at("input").map_or(0, <[Node<'_>]>::len) == original_items.len();
        // Stream events have the name without the namespace, so each tool has to be called by its own name. Without its
        // item, a namespace cannot be restored, and the calls of its tools must keep their flat names.
        if flat.values().any(|(_, name)| restore_map.renames(name)) || self.keeps_carriers && !is_aligned {
            self.describe(request, &flat)?;
            return Ok(false);
        }
        let mut moved: Map<String, String> = Map::new();
        edit_member(request, LIST, |list| self.regroup(list, self.original.get(LIST), &flat, ("", &mut moved)))
            .map(drop)?;
        if self.keeps_carriers {
            let mut failed = Ok(());
            edit_carriers(request, |at, list| {
                let original_item = original_items.get(at).map(view).transpose();
                let item_pointer = format!("/input/{at}");
                let done = original_item.and_then(|original_item| {
                    self.regroup(
                        list,
                        original_item.as_deref().and_then(|original_item| original_item.get(LIST)),
                        &flat,
                        (&item_pointer, &mut moved),
                    )
                });
                failed = core::mem::replace(&mut failed, Ok(())).and(done);
            })?;
            failed?;
        }
        let restore_namespace = |node: &mut Node<'a>, (space, name): &Member| {
            if let Some(space) = self.spaces.get(*space) {
                node.set("name", Node::string(name.clone()));
                node.set(NAMESPACE, Node::string(space.name.clone()));
            }
        };
        each_chosen(request, |chosen| {
            if let Some(member) = of(chosen).filter(|_| chosen.get(NAMESPACE).is_none()) {
                restore_namespace(chosen, member);
            }
        })?;
        let was_sent = |key: &str| self.original.get(key);
        if let Some((chosen, original_choice)) = request.get("tool_choice").zip(was_sent("tool_choice")) {
            if json::same(&*view(chosen)?, &*view(original_choice)?) {
                request.set("tool_choice", original_choice.clone());
            }
        }
        let history = request.visit("input", |input| {
            if !matches!(input.data(), Data::Array(_)) {
                return Ok(());
            }
            input.visit_children(|child, item| {
                if !may_hold(item, Flags::NAMES_TOOLS) {
                    return Ok(());
                }
                let mut is_restored = false;
                let item_index = if let Child::Item(at) = child { Some(at) } else { None };
                edit(item, |item| {
                    let id = item.text_at("call_id").map(Text::display);
                    let is_of = |member: &Member| {
                        id.as_deref().is_some_and(|id| self.calls.contains(&(id.to_string(), member.clone())))
                    };
                    if let Some(member) = of(item).filter(|member| is_call(item) && is_of(member)) {
                        restore_namespace(item, member);
                        is_restored = true;
                    }
                    let is_unlisted = is_aligned && item_index.is_some_and(|at| self.unlisted.contains(&at));
                    if let Some(original_item) =
                        item_index.and_then(|at| original_items.get(at)).filter(|_| is_unlisted && is_call(item))
                    {
                        let original_item = view(original_item)?;
                        for key in ["name", NAMESPACE] {
                            original_item.get(key).into_iter().for_each(|value| item.set(key, value.clone()));
                        }
                        is_restored = true;
                    }
                    is_restored |= is_aligned && self.keeps_carriers && is_carrier(item);
                    Ok(())
                })?;
                // An item that is equal to the original again keeps its original text, because prompt caches depend on
                // the text.
                if let Some(original_item) = item_index.filter(|_| is_restored).and_then(|at| original_items.get(at)) {
                    if json::same(&*view(item)?, &*view(original_item)?) {
                        *item = original_item.clone();
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
        update_output_pointers(changes, &moved);
        if is_unchanged(request, &self.original)? {
            *request = self.original;
        }
        Ok(true)
    }

    /// Adds the descriptions of the namespaces to their tools, which stay in flat lists.
    fn describe(&self, request: &mut Node<'a>, flat: &Map<String, Member>) -> Result<(), Error> {
        let describe = |list: &mut Node<'a>| {
            for tool in list.as_array_mut().into_iter().flatten() {
                let member = tool.text_at("name").and_then(|name| flat.get(&*name.display()));
                let Some(space) = member.and_then(|(space, _)| self.spaces.get(*space)) else { continue };
                let text = namespaces::description_of(&space.entry);
                namespaces::describe(tool, text.filter(|text| namespaces::may_describe(text, space.members.len())));
            }
        };
        edit_member(request, LIST, |list| {
            describe(list);
            Ok(())
        })?;
        match self.keeps_carriers {
            true => edit_carriers(request, |_, list| describe(list)),
            false => Ok(()),
        }
    }

    fn regroup(
        &self,
        list: &mut Node<'a>,
        original_list: Option<&Node<'a>>,
        flat: &Map<String, Member>,
        (pointer_prefix, moved): (&str, &mut Map<String, String>),
    ) -> Result<(), Error> {
        let original_list = original_list.map(view).transpose()?;
        let original_entries = original_list.as_deref().and_then(Node::as_array).unwrap_or_default();
        let of = |node: &Node<'_>| flat.get(&*node.get("name")?.as_text()?.display());
        if list.as_array().is_none() {
            return Ok(());
        }
        let Data::Array(entries) = core::mem::take(list).into_data() else { return Ok(()) };
        let mut out: Vec<Node<'a>> = Vec::with_capacity(entries.len());
        let mut open: Map<usize, (usize, Vec<Node<'a>>)> = Map::new();
        for (index, mut entry) in entries.into_iter().enumerate() {
            let Some((space, name)) = of(&entry) else {
                moved
                    .insert(format!("{pointer_prefix}/tools/{index}"), format!("{pointer_prefix}/tools/{}", out.len()));
                out.push(entry);
                continue;
            };
            if !open.contains_key(space) {
                open.insert(*space, (out.len(), Vec::new()));
                out.push(Node::default());
            }
            entry.set("name", Node::string(name.clone()));
            if let Some((at, members)) = open.get_mut(space) {
                moved.insert(
                    format!("{pointer_prefix}/tools/{index}"),
                    format!("{pointer_prefix}/tools/{at}/tools/{}", members.len()),
                );
                members.push(entry);
            }
        }
        for (space, (at, members)) in open {
            let Some(space) = self.spaces.get(space) else { continue };
            // The namespace may have another description in each list.
            let is_namespace =
                |entry: &&Node<'a>| has_type(entry, NAMESPACE) && name_of(entry).is_some_and(|name| name == space.name);
            let mut shell = original_entries.iter().find(is_namespace).cloned().unwrap_or_else(|| space.entry.clone());
            shell.set(LIST, Node::array(members));
            if let Some(entry) = out.get_mut(at) {
                *entry = shell;
            }
        }
        *list = Node::array(out);
        Ok(())
    }
}

fn update_output_pointers(changes: &mut Arc<Vec<ToolChange>>, moved: &Map<String, String>) {
    let moved_pointer = |pointer: &str| {
        let list = pointer.find("/tools/")? + "/tools/".len();
        let end = pointer.get(list..)?.find('/').map_or(pointer.len(), |at| list + at);
        let (entry, rest) = pointer.split_at_checked(end)?;
        let to = moved.get(entry)?;
        Some((to, format!("{to}{rest}")))
    };
    if changes.iter().all(|about| about.change.output_pointer.is_none()) {
        return;
    }
    Arc::make_mut(changes).retain_mut(|about| {
        let change = &mut about.change;
        let Some((to, pointer)) = change.output_pointer.as_deref().and_then(moved_pointer) else { return true };
        // In its namespace, the tool has its original name.
        if to.matches("/tools/").count() > 1 && change.rule == Rule::RenameTool {
            return false;
        }
        change.output_pointer = Some(pointer);
        true
    });
}

fn is_call(item: &Node<'_>) -> bool {
    has_type(item, "function_call") || has_type(item, "custom_tool_call")
}

fn is_carrier(item: &Node<'_>) -> bool {
    has_type(item, "additional_tools") || has_type(item, "tool_search_output")
}

/// `change` receives the index of the item and its list.
fn edit_carriers<'a>(request: &mut Node<'a>, mut change: impl FnMut(usize, &mut Node<'a>)) -> Result<(), Error> {
    let edited = request.visit("input", |input| {
        if !matches!(input.data(), Data::Array(_)) {
            return Ok(());
        }
        input.visit_children(|child, item| {
            let Child::Item(at) = child else { return Ok(()) };
            if !may_hold(item, Flags::CARRIER) {
                return Ok(());
            }
            edit(item, |item| {
                if is_carrier(item) {
                    item.visit(LIST, |list| change(at, list));
                }
                Ok(())
            })
        })
    });
    edited.unwrap_or(Ok(()))
}

fn lists<'a>(request: &Node<'a>, with_carriers: bool) -> Result<Vec<Node<'a>>, Error> {
    let mut lists = Vec::new();
    if let Some(tools) = request.get(LIST) {
        lists.push(view(tools)?.clone());
    }
    for item in request.items_at("input").iter().filter(|item| with_carriers && may_hold(item, Flags::CARRIER)) {
        let item = view(item)?;
        lists.extend(item.get(LIST).filter(|_| is_carrier(&item)).cloned());
    }
    Ok(lists)
}

fn lists_namespaces(request: &Node<'_>) -> Result<bool, Error> {
    let is_namespace = |entry: &Node<'_>| has_type(entry, NAMESPACE);
    Ok(lists(request, true)?.iter().any(|list| list.as_array().unwrap_or_default().iter().any(is_namespace)))
}

/// Returns the indices of calls to tools in namespaces that the request does not have. The API puts a tool that it
/// loads into such a namespace, with the tool's name.
fn unlisted_calls(request: &Node<'_>) -> Result<Set<usize>, Error> {
    let lists = lists(request, true)?;
    let entries = lists.iter().flat_map(|list| list.as_array().unwrap_or_default());
    let known: Set<String> = entries.filter(|entry| has_type(entry, NAMESPACE)).filter_map(name_of).collect();
    let mut unlisted = Set::new();
    for (at, item) in request.items_at("input").iter().enumerate() {
        if !may_hold(item, Flags::NAMES_TOOLS) {
            continue;
        }
        let item = view(item)?;
        let Some(space) = item.text_at(NAMESPACE).filter(|_| is_call(&item)) else { continue };
        if !is_default(space) && item.text_at("name") != Some(space) && !known.contains(&*space.display()) {
            unlisted.insert(at);
        }
    }
    Ok(unlisted)
}

/// Returns the kept namespaces, and their indices in the list. Namespaces with equal names are merged.
fn retained_in<'a>(
    request: &Node<'a>,
    name_pattern: NamePattern,
    native: Native,
) -> Result<(Vec<Space<'a>>, Set<usize>), Error> {
    let (mut spaces, mut entry_indices): (Vec<Space<'a>>, _) = (Vec::new(), Set::new());
    let lists = lists(request, native != Native::None)?;
    let all = || lists.iter().flat_map(|list| list.as_array().unwrap_or_default());
    let has_namespaces = all().any(|entry| has_type(entry, NAMESPACE));
    if !has_namespaces || !names_differ(all(), name_pattern) || !chooses_one_tool(request)? {
        return Ok((spaces, entry_indices));
    }
    let list_node = match request.get(LIST) {
        Some(tools) => view(tools)?.clone(),
        None => Node::array(Vec::new()),
    };
    let list = list_node.as_array().unwrap_or_default();
    let mut refused: Set<String> = RESERVED.iter().map(|name| (*name).to_string()).collect();
    // A namespace is flattened if the history redefines one of its tools. Other tools that the history adds to a
    // namespace are not moved back into it. They keep their flat names and stay after the list, so that the
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
            // If the API itself adds tools, it also replaces definitions.
            refused.extend((replaces && native == Native::None).then_some(space));
        }
    })?;
    let entries = || list.iter().enumerate().filter(|(_, entry)| has_type(entry, NAMESPACE));
    // The API itself loads the tools that are deferred.
    let loads = native == Native::ToolSearch;
    let namespaces = || all().filter(|entry| has_type(entry, NAMESPACE));
    refused.extend(namespaces().filter(|entry| !is_retained(entry, name_pattern, loads)).filter_map(name_of));
    // A namespace can have only one description in a list.
    let mut described: Map<String, Option<&Text<'_>>> = Map::new();
    for (_, entry) in entries() {
        let Some(name) = name_of(entry) else { continue };
        let description = entry.text_at("description");
        if *described.entry(name.clone()).or_insert(description) != description {
            refused.insert(name);
        }
    }
    let is_kept = |entry: &Node<'_>| name_of(entry).is_some_and(|name| !refused.contains(&name));
    entry_indices.extend(entries().filter(|(_, entry)| is_kept(entry)).map(|(at, _)| at));
    let mut index: Map<String, usize> = Map::new();
    for entry in namespaces().filter(|entry| is_kept(entry)) {
        let Some(name) = name_of(entry) else { continue };
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
    Ok((spaces, entry_indices))
}

/// Returns true if the name of each tool in a namespace differs from the flattened names of all other tools. Otherwise,
/// a stream event, which has no namespace, would not identify the tool.
fn names_differ<'n, 'a: 'n>(entries: impl Iterator<Item = &'n Node<'a>>, name_pattern: NamePattern) -> bool {
    let (mut flat, mut plain_names) = (Set::new(), Vec::new());
    for entry in entries {
        match entry.array_at(LIST).filter(|_| has_type(entry, NAMESPACE)) {
            None if entry.get("name").is_some() && legal_name(entry, name_pattern).is_none() => return false,
            None => {}
            Some(members) => {
                let space = name_of(entry).unwrap_or_default();
                for name in members.iter().filter_map(name_of) {
                    flat.insert(format!("{space}{SEPARATOR}{name}"));
                    plain_names.push(name);
                }
            }
        }
    }
    plain_names.iter().all(|name| !flat.contains(name))
}

fn chooses_one_tool(request: &Node<'_>) -> Result<bool, Error> {
    let Some(choice) = request.get("tool_choice") else { return Ok(true) };
    let choice = view(choice)?;
    Ok(choice.as_object().is_none() || has_type(&choice, "function") || has_type(&choice, "custom"))
}

fn name_of(entry: &Node<'_>) -> Option<String> {
    Some(entry.get("name")?.as_text()?.display().into_owned())
}

fn legal_name<'n, 'a>(entry: &'n Node<'a>, name_pattern: NamePattern) -> Option<&'n Text<'a>> {
    entry.text_at("name").filter(|name| names::is_legal(name_pattern, name))
}

/// Returns true if a namespace can be sent unchanged, except for the schemas of its tools.
fn is_retained(entry: &Node<'_>, name_pattern: NamePattern, loads: bool) -> bool {
    let (Some(name), Some(members)) = (legal_name(entry, name_pattern), entry.array_at(LIST)) else {
        return false;
    };
    let is_sent = |member: &Node<'_>| {
        let is_tool = matches!(recognize(member), Entry::Tool(_)) || tool::is_custom(member);
        let member_name = legal_name(member, name_pattern);
        // The API puts each tool that it loads into a namespace that has the tool's name.
        is_tool
            && !has_type(member, NAMESPACE)
            && member_name.is_some_and(|member_name| member_name != name)
            && (loads || !tool::deferral(member).0)
    };
    !is_default(name) && !tool::deferral(entry).0 && !members.is_empty() && members.iter().all(is_sent)
}

fn is_unchanged(request: &Node<'_>, original: &Node<'_>) -> Result<bool, Error> {
    let (Some(new), Some(old)) = (request.as_object(), original.as_object()) else { return Ok(false) };
    if new.len() != old.len() {
        return Ok(false);
    }
    for (member, old_member) in new.iter().zip(old) {
        if member.key != old_member.key {
            return Ok(false);
        }
        let (new, old) = (view(&member.value)?, view(&old_member.value)?);
        let is_same = match (new.as_array(), old.as_array()) {
            (Some(new), Some(old)) if new.len() == old.len() => {
                let mut is_same = true;
                for (new, old) in new.iter().zip(old) {
                    is_same = is_same && json::same(&*view(new)?, &*view(old)?);
                }
                is_same
            }
            (Some(_), Some(_)) => false,
            _ => json::same(&new, &old),
        };
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}
