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
        lazy::{edit, edit_member, may_hold},
        responses::loadable_names,
        tool::has_type,
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
        .map(|(called, namespace, name)| ((namespace.display().into(), name.display().into()), called))
        .collect();
    if known.is_empty() {
        return Ok(());
    }
    let loaded = loadable_names(request)?;
    let choices = Names { known: &known, sent, loaded: &loaded, keeps_loaded: false };
    edit_member(request, "tool_choice", |choice| {
        choices.rename(choice);
        let listed = choice.visit("tools", |tools| {
            tools.visit_children(|_, tool| {
                choices.rename(tool);
                Ok::<(), Error>(())
            })
        });
        listed.unwrap_or(Ok(()))
    })?;
    let calls = Names { keeps_loaded: true, ..choices };
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
struct Names<'n> {
    /// By namespace and own name.
    known: &'n Map<(String, String), &'n str>,
    /// The names of all tools that are sent.
    sent: &'n Set<String>,
    /// The names of the tools that a search or an item brings, or that wait for a search.
    loaded: &'n Set<String>,
    /// A loaded tool keeps the namespace that the API gives it.
    keeps_loaded: bool,
}

impl Names<'_> {
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
            None => match flat_name(Some(&namespace), &name) {
                flat if self.sent.contains(&*flat.display()) && !is_default(&namespace) => {
                    Text::new(format!("{}_{}", flat.display(), digest(&[&namespace, &name])))
                }
                flat => flat,
            },
        };
        if self.keeps_loaded && self.loaded.contains(&*called.display()) {
            set(one, "namespace", Node::string(called.clone()));
        } else {
            remove(one, "namespace");
        }
        if called != name {
            set(one, "name", Node::string(called));
        }
    }
}
