//! Calls and choices of tools in namespaces, where a list has lost them: in OpenAI Responses they get the names that
//! their tools have now. (Deferred loading that is emulated has done so already.)

use alloc::{format, string::String};

use super::{
    restore::RestoreMap,
    tool_format::{remove, set},
};
use crate::{
    collections::{Map, Set},
    deferred::{
        flat_name,
        flat_names::is_default,
        lazy::{edit, edit_member, may_hold, view},
        tool::{deferral, has_type, name as name_of},
        NAMES_TOOLS,
    },
    error::Error,
    json::{Node, Text},
    names::digest,
};

/// Renames them. A tool that was loaded stands in a namespace of its own name; without that the API refuses the call.
///
/// Source: the OpenAI Responses API's answer `Missing namespace for function_call`, recorded 2026-10 (pydantic-ai).
pub(super) fn flatten(request: &mut Node<'_>, restore_map: &RestoreMap, sent: &Set<String>) -> Result<(), Error> {
    let known: Map<(String, String), &str> = restore_map
        .names_in_namespaces()
        .filter(|(_, namespace, name)| namespace != name)
        .map(|(called, namespace, name)| ((namespace.display().into(), name.display().into()), called))
        .collect();
    if known.is_empty() {
        return Ok(());
    }
    edit_member(request, "tool_choice", |choice| {
        rename(choice, (&known, sent), &Set::new());
        let listed = choice.visit("tools", |tools| {
            tools.visit_children(|_, tool| {
                rename(tool, (&known, sent), &Set::new());
                Ok::<(), Error>(())
            })
        });
        listed.unwrap_or(Ok(()))
    })?;
    let loaded = deferred_tools(request)?;
    let flattened = request.visit("input", |input| {
        input.visit_children(|_, item| {
            if !may_hold(item, NAMES_TOOLS) {
                return Ok(());
            }
            edit(item, |item| {
                if has_type(item, "function_call") || has_type(item, "custom_tool_call") {
                    rename(item, (&known, sent), &loaded);
                }
                Ok(())
            })
        })
    });
    flattened.unwrap_or(Ok(()))
}

/// Gives what names a tool in a namespace the name that the tool has now.
fn rename(one: &mut Node<'_>, (known, sent): (&Map<(String, String), &str>, &Set<String>), loaded: &Set<String>) {
    let text = |key: &str| one.get(key).and_then(Node::as_text).map(|text| text.clone().into_owned());
    let Some((namespace, name)) = text("namespace").zip(text("name")).filter(|(namespace, name)| namespace != name)
    else {
        return;
    };
    let key = (String::from(namespace.display()), String::from(name.display()));
    let called: Text<'static> = match known.get(&key) {
        Some(called) => Text::new(String::from(*called)),
        // The tool is not sent, and its name may be that of one that is.
        None => match flat_name(Some(&namespace), &name) {
            flat if sent.contains(&*flat.display()) && !is_default(&namespace) => {
                Text::new(format!("{}_{}", flat.display(), digest(&[&namespace, &name])))
            }
            flat => flat,
        },
    };
    if loaded.contains(&*called.display()) {
        set(one, "namespace", Node::string(called.clone()));
    } else {
        remove(one, "namespace");
    }
    if called != name {
        set(one, "name", Node::string(called));
    }
}

/// The tools that a search or an item brings, by their names.
fn deferred_tools(request: &Node<'_>) -> Result<Set<String>, Error> {
    let mut names = Set::new();
    let mut take = |list: &Node<'_>, all: bool| {
        let tools = list.as_array().unwrap_or_default().iter().filter(|tool| all || deferral(tool).0);
        names.extend(tools.filter_map(name_of).map(|name| String::from(name.display())));
    };
    if let Some(tools) = request.get("tools") {
        take(&*view(tools)?, false);
    }
    for item in request.get("input").and_then(Node::as_array).unwrap_or_default() {
        if may_hold(item, NAMES_TOOLS) {
            let item = view(item)?;
            if has_type(&item, "additional_tools") || has_type(&item, "tool_search_output") {
                item.get("tools").into_iter().for_each(|tools| take(tools, true));
            }
        }
    }
    Ok(names)
}
