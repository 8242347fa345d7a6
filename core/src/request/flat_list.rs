//! Moves the tools of a request to a flat list in `tools` and back: Bedrock Converse has them in `toolConfig`, and
//! Gemini `generateContent` in groups.

use alloc::vec::Vec;

use super::tool_list::GROUPS;
use crate::{
    error::Error,
    json::{
        lazy::{edit_member, take},
        Data, Node, Object,
    },
    options::Api,
};

const TOOLS: &str = "tools";
const CONFIG: &str = "toolConfig";
/// Where Gemini's JSON and its SDKs hold the choice.
const CHOICES: [(&str, &str); 2] =
    [("toolConfig", "functionCallingConfig"), ("tool_config", "function_calling_config")];

/// A list of tools without the tools that were moved out of it.
#[derive(Default)]
pub(crate) struct Shell<'a> {
    /// The entries of Gemini's list. Groups are empty.
    entries: Vec<Node<'a>>,
    /// True if Gemini's list had a function.
    had_functions: bool,
}

impl Shell<'_> {
    /// Returns the number of entries of Gemini's list that are sent without functions.
    pub(crate) fn others(&self) -> usize {
        let is_group = |entry: &Node<'_>| GROUPS.iter().any(|group| entry.get(group).is_some());
        let first = self.entries.iter().position(is_group);
        let has_others = |entry: &Node<'_>| {
            let members = entry.as_object().into_iter().flatten();
            members.filter(|member| !GROUPS.iter().any(|group| member.key.is(group))).count() > 0
        };
        let entries = self.entries.iter().enumerate().filter(|(at, _)| Some(*at) != first);
        entries.filter(|(_, entry)| !is_group(entry) || has_others(entry)).count()
    }
}

/// Moves the tools to a flat list.
///
/// # Errors
/// `invalid-json` if the list is text that cannot be read.
pub(crate) fn lift<'a>(request: &mut Node<'a>, api: Api) -> Result<Shell<'a>, Error> {
    let mut shell = Shell::default();
    match api {
        Api::Bedrock => {
            let list = edit_member(request, CONFIG, |config| Ok(config.visit(TOOLS, core::mem::take)))?;
            if let Some(list) = list.flatten() {
                request.set(TOOLS, list);
            }
        }
        Api::Gemini => {
            let Some(list) = take(request, TOOLS)? else { return Ok(shell) };
            let mut entries = match list.into_data() {
                Data::Array(entries) => entries,
                other => {
                    request.set(TOOLS, Node::new(other));
                    return Ok(shell);
                }
            };
            let mut flat = Vec::new();
            for entry in &mut entries {
                for group in GROUPS {
                    let functions = entry.visit(group, |list| list.as_array_mut().map(core::mem::take)).flatten();
                    flat.extend(functions.unwrap_or_default());
                }
            }
            shell = Shell { entries, had_functions: !flat.is_empty() };
            request.set(TOOLS, Node::array(flat));
        }
        _ => {}
    }
    Ok(shell)
}

/// Moves the tools back: those of Gemini to the first group of the list. A configuration without tools is refused, so
/// it leaves with the last of them.
///
/// # Errors
/// `invalid-json` if the configuration is text that cannot be read.
pub(crate) fn sink<'a>(request: &mut Node<'a>, api: Api, shell: Shell<'a>) -> Result<(), Error> {
    match api {
        Api::Bedrock => {
            let Some(list) = request.remove(TOOLS) else {
                request.remove(CONFIG);
                return Ok(());
            };
            if request.get(CONFIG).is_none() {
                request.set(CONFIG, Node::empty_object());
            }
            edit_member(request, CONFIG, |config| {
                config.set(TOOLS, list);
                Ok(())
            })
            .map(drop)
        }
        Api::Gemini => {
            let list = request.visit(TOOLS, |list| list.as_array_mut().map(core::mem::take)).flatten();
            let mut functions = list.filter(|list| !list.is_empty());
            let is_emptied = shell.had_functions && functions.is_none();
            let mut entries = Vec::with_capacity(shell.entries.len() + 1);
            for mut entry in shell.entries {
                let mut is_removed = false;
                for group in GROUPS {
                    if entry.get(group).is_none() {
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
                    entries.push(entry);
                }
            }
            if let Some(functions) = functions {
                entries.push(Node::record([(GROUPS[0], Node::array(functions))]));
            }
            if entries.is_empty() {
                request.remove(TOOLS);
            } else {
                request.set(TOOLS, Node::array(entries));
            }
            for (outer, inner) in CHOICES.into_iter().filter(|_| is_emptied) {
                let is_rest = edit_member(request, outer, |config| {
                    Ok(config.remove(inner).is_none() || !config.as_object().is_some_and(Object::is_empty))
                })?;
                if is_rest == Some(false) {
                    request.remove(outer);
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Calls `show` with each function of Gemini's list.
pub(crate) fn each_function<'n, 'a>(list: &'n Node<'a>, show: &mut dyn FnMut(&'n Node<'a>)) {
    for entry in list.as_array().unwrap_or_default() {
        let groups = GROUPS.iter().filter_map(|group| entry.get(group)?.as_array());
        groups.flatten().for_each(&mut *show);
    }
}
