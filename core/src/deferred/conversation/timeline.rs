//! What a history does to the tools, in its order.
//!
//! A removal stands: a later search that finds the tool does not bring it back; an addition does.

use super::{Addition, Conversation, Event, What};
use crate::{
    deferred::report::Warnings,
    json::Text,
    options::{DeferredOptions, Mode, ToolChanges},
};

/// Lets everything happen to the tools. What may not change them is taken out, each with a warning.
pub(in crate::deferred) fn run(
    conversation: &mut Conversation<'_>,
    options: &DeferredOptions,
    warnings: &mut Warnings,
) {
    let Conversation { tools, events, .. } = conversation;
    if options.tool_changes == ToolChanges::Ignore {
        events.retain(|event| {
            let ignored: &mut dyn Iterator<Item = &Text<'_>> = &mut match &event.what {
                What::Add(additions) => Some(additions.iter().map(|addition| &addition.name)),
                _ => None,
            }
            .into_iter()
            .flatten();
            ignored.for_each(|name| warnings.about("tool_change_ignored", name.display()));
            if let What::Remove(name) = &event.what {
                warnings.about("tool_change_ignored", name.display());
            }
            !matches!(event.what, What::Add(_) | What::Remove(_))
        });
    }
    for name in &options.loaded_tools {
        match tools.get_mut(&Text::new(name.as_str())) {
            Some(tool) => tool.loaded = true,
            None => warnings.about("unknown_tool_reference", name.as_str()),
        }
    }
    if options.mode == Mode::LoadAll {
        let names: alloc::vec::Vec<_> = tools.iter().filter_map(|tool| tool.name.clone()).collect();
        names.iter().filter_map(|name| tools.get_mut(name).map(|tool| tool.loaded = true)).for_each(drop);
    }
    for Event { what, .. } in events.iter_mut() {
        match what {
            What::Result(outcome) => {
                for name in outcome.found.iter().flatten() {
                    match tools.get_mut(name) {
                        Some(tool) if !tool.withdrawn => tool.loaded = true,
                        Some(_) => outcome.gone.push(name.clone()),
                        None => warnings.about("unknown_tool_reference", name.display()),
                    }
                }
            }
            What::Add(additions) => {
                for Addition { name, definition } in additions {
                    if let Some(definition) = definition {
                        tools.bring(definition, true, warnings);
                    }
                    match tools.get_mut(name) {
                        Some(tool) => (tool.loaded, tool.withdrawn) = (true, false),
                        None => warnings.about("unknown_tool_reference", name.display()),
                    }
                }
            }
            What::Remove(name) => match tools.get_mut(name) {
                Some(tool) => tool.withdrawn = true,
                None => warnings.about("unknown_tool_reference", name.display()),
            },
            What::Call(call) if options.load_used_tools => {
                if let Some(tool) = tools.get_mut(&call.name).filter(|tool| !tool.withdrawn) {
                    tool.loaded = true;
                }
            }
            _ => {}
        }
    }
}
