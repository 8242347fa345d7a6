//! Moves the tools of a request to a flat list in `tools` and back. Bedrock Converse has its tools in `toolConfig`, and
//! Gemini `generateContent` has them in groups.

use alloc::{format, string::String, vec::Vec};

use super::{
    tool::{self, Kind},
    tool_format::{recognize, Entry},
};
use crate::{
    error::Error,
    json::{
        lazy::{edit_member, take},
        Data, Node, Object,
    },
    options::Api,
    wire::{self, GROUPS},
};

const TOOLS: &str = "tools";

/// The parts of a request's tool list that remain after its tools were moved to a flat list.
#[derive(Default)]
pub(crate) struct RemainingEntries<'a> {
    /// Gemini's original list.
    original: Node<'a>,
    /// The remaining entries of Gemini's list. Groups are empty, and functions outside of groups are omitted.
    entries: Vec<Node<'a>>,
    /// Index of the functions outside of groups, if the list has no group.
    outside: Option<usize>,
    functions: usize,
}

fn entries_of<'n, 'a>(list: &'n Node<'a>) -> &'n [Node<'a>] {
    match list.data() {
        Data::Object(_) => core::slice::from_ref(list),
        _ => list.as_array().unwrap_or_default(),
    }
}

fn functions_of<'n, 'a>(entry: &'n Node<'a>) -> impl Iterator<Item = &'n Node<'a>> {
    GROUPS.iter().filter_map(|group| entry.get(group)).flat_map(|group| entries_of(group))
}

fn is_moved(entry: &Node<'_>) -> bool {
    matches!(recognize(entry), Entry::Tool(_)) || tool::kind(entry) == Kind::HostedSearch
}

fn is_group(entry: &Node<'_>) -> bool {
    let is_list = |group: &Node<'_>| group.as_array().is_some() || group.as_object().is_some();
    GROUPS.iter().any(|group| entry.get(group).is_some_and(is_list))
}

pub(crate) type Show<'s, 'n, 'a> = dyn FnMut(&'n Node<'a>, bool, &dyn Fn() -> String) + 's;

/// Calls `show` with each entry in the order of the flat list, and with the entries of groups instead of the groups.
/// Its arguments are the entry, true if the entry is in a group, and a function that returns its pointer.
pub(crate) fn each<'n, 'a>(list: &'n Node<'a>, pointer: &str, show: &mut Show<'_, 'n, 'a>) {
    let is_single = list.as_object().is_some();
    for (at, entry) in entries_of(list).iter().enumerate() {
        let above = || if is_single { pointer.into() } else { format!("{pointer}/{at}") };
        if !is_group(entry) {
            show(entry, false, &above);
            continue;
        }
        for group in GROUPS {
            let Some(functions) = entry.get(group) else { continue };
            let is_alone = functions.as_object().is_some();
            for (index, function) in entries_of(functions).iter().enumerate() {
                show(function, true, &|| match is_alone {
                    true => format!("{}/{group}", above()),
                    false => format!("{}/{group}/{index}", above()),
                });
            }
        }
    }
}

pub(crate) fn pointers(list: &Node<'_>) -> Vec<String> {
    let mut pointers = Vec::new();
    each(list, "/tools", &mut |entry, is_in_group, pointer| {
        if is_in_group || is_moved(entry) {
            pointers.push(pointer());
        }
    });
    pointers
}

pub(crate) fn each_function<'n, 'a>(list: &'n Node<'a>, show: &mut dyn FnMut(&'n Node<'a>)) {
    entries_of(list).iter().flat_map(functions_of).for_each(show);
}

pub(crate) fn all<'n, 'a>(list: &'n Node<'a>) -> Vec<&'n Node<'a>> {
    let mut all: Vec<&Node<'a>> = entries_of(list).iter().filter(|entry| !is_group(entry)).collect();
    each_function(list, &mut |function| all.push(function));
    all
}

pub(crate) fn count(list: &Node<'_>, of_entry: impl Fn(&Node<'_>) -> usize) -> usize {
    all(list).into_iter().map(of_entry).sum()
}

impl RemainingEntries<'_> {
    /// Returns the number of remaining entries, without the entry that will contain the functions.
    pub(crate) fn count_hosted_entries(&self) -> usize {
        let first = self.entries.iter().position(is_group);
        let has_others = |entry: &Node<'_>| {
            let members = entry.as_object().into_iter().flatten();
            members.filter(|member| !GROUPS.iter().any(|group| member.key.is(group))).count() > 0
        };
        let entries = self.entries.iter().enumerate().filter(|(at, _)| Some(*at) != first);
        entries.filter(|(_, entry)| !is_group(entry) || has_others(entry)).count()
    }
}

pub(crate) fn flatten<'a>(request: &mut Node<'a>, api: Api) -> Result<RemainingEntries<'a>, Error> {
    let mut shell = RemainingEntries::default();
    let tools = wire::of(api).tools();
    match tools.config() {
        Some(config) => {
            let list = edit_member(request, config, |config| Ok(config.visit(TOOLS, core::mem::take)))?;
            if let Some(list) = list.flatten() {
                request.set(TOOLS, list);
            }
        }
        None if !tools.groups().is_empty() => {
            let Some(list) = take(request, TOOLS)? else { return Ok(shell) };
            shell.original = list.clone();
            let entries = match list.into_data() {
                Data::Array(entries) => entries,
                Data::Object(entry) => Vec::from([Node::new(Data::Object(entry))]),
                other => {
                    request.set(TOOLS, Node::new(other));
                    return Ok(shell);
                }
            };
            let has_group = entries.iter().any(is_group);
            let mut flat = Vec::new();
            for mut entry in entries {
                if is_group(&entry) {
                    for group in GROUPS {
                        match entry.visit(group, core::mem::take).map(Node::into_data) {
                            Some(Data::Array(functions)) => flat.extend(functions),
                            Some(Data::Object(function)) => flat.push(Node::new(Data::Object(function))),
                            _ => continue,
                        }
                        entry.set(group, Node::array(Vec::new()));
                    }
                } else if is_moved(&entry) {
                    let index = shell.entries.len();
                    shell.outside = shell.outside.or((!has_group).then_some(index));
                    flat.push(entry);
                    continue;
                }
                shell.entries.push(entry);
            }
            shell.functions = flat.len();
            request.set(TOOLS, Node::array(flat));
        }
        None => {}
    }
    Ok(shell)
}

/// Puts Gemini's functions into the first group, or restores the original list if nothing changed. If no tool is left,
/// removes Converse's `toolConfig` and Gemini's choice, because the APIs refuse both without tools.
pub(crate) fn write_back<'a>(request: &mut Node<'a>, api: Api, shell: RemainingEntries<'a>) -> Result<(), Error> {
    let tools = wire::of(api).tools();
    match tools.config() {
        Some(config) => {
            let Some(list) = request.remove(TOOLS) else {
                request.remove(config);
                return Ok(());
            };
            if request.get(config).is_none() {
                request.set(config, Node::empty_object());
            }
            edit_member(request, config, |config| {
                config.set(TOOLS, list);
                Ok(())
            })
            .map(drop)
        }
        None if tools.groups().is_empty() || shell.original.is_null() => Ok(()),
        None => {
            let list = request.visit(TOOLS, |list| list.as_array_mut().map(core::mem::take)).flatten();
            let functions = list.unwrap_or_default();
            if functions.len() == shell.functions && functions.iter().all(Node::is_intact) {
                request.set(TOOLS, shell.original);
                return Ok(());
            }
            let is_emptied = shell.functions > 0 && functions.is_empty();
            let is_single = shell.original.as_object().is_some();
            let mut entries = with_functions(functions, shell);
            match entries.pop() {
                None => drop(request.remove(TOOLS)),
                Some(only) if is_single && entries.is_empty() => request.set(TOOLS, only),
                Some(last) => {
                    entries.push(last);
                    request.set(TOOLS, Node::array(entries));
                }
            }
            if is_emptied {
                wire::of(api).choice().remove(request)?;
            }
            Ok(())
        }
    }
}

fn with_functions<'a>(functions: Vec<Node<'a>>, shell: RemainingEntries<'a>) -> Vec<Node<'a>> {
    let RemainingEntries { entries, outside, .. } = shell;
    let mut functions = Some(functions).filter(|list| !list.is_empty());
    let mut out = Vec::with_capacity(entries.len() + 1);
    for (at, mut entry) in entries.into_iter().enumerate() {
        if outside == Some(at) {
            out.extend(functions.take().into_iter().flatten());
        }
        let mut is_removed = false;
        for group in GROUPS {
            if entry.get(group).is_none_or(|list| list.as_array().is_none()) {
                continue;
            }
            if let Some(functions) = functions.take() {
                entry.visit(group, |list| *list = Node::array(functions));
            } else {
                entry.remove(group);
                is_removed = entry.as_object().is_some_and(Object::is_empty);
            }
        }
        if !is_removed {
            out.push(entry);
        }
    }
    match (functions, outside) {
        (Some(functions), Some(_)) => out.extend(functions),
        (Some(functions), None) => out.push(Node::record([(GROUPS[0], Node::array(functions))])),
        (None, _) => {}
    }
    out
}
