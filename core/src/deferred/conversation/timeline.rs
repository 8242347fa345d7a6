//! What a history does to the tools, in its order.
//!
//! A removal stands: a later search that finds the tool does not bring it back; an addition does.

use super::{Addition, Conversation, Event, What};
use crate::{
    deferred::report::Warnings,
    json::Text,
    options::{DeferredOptions, Mode},
};

/// Lets everything happen to the tools.
pub(in crate::deferred) fn run(
    conversation: &mut Conversation<'_>,
    options: &DeferredOptions,
    warnings: &mut Warnings,
) {
    let Conversation { tools, events, .. } = conversation;
    for name in &options.loaded_tools {
        match tools.get_mut(&Text::new(name.as_str())) {
            Some(tool) => (tool.loaded, tool.is_wanted) = (true, true),
            None => warnings.about("unknown_tool_reference", name.as_str()),
        }
    }
    if options.mode == Mode::LoadAll {
        tools.iter_mut().for_each(|tool| (tool.loaded, tool.is_wanted) = (true, true));
    }
    for Event { what, .. } in events.iter_mut() {
        match what {
            What::Result(outcome) => {
                for name in outcome.found.iter().flatten() {
                    match tools.get_mut(name) {
                        Some(tool) if !tool.withdrawn => tool.loaded = true,
                        Some(_) => {
                            outcome.gone.insert(name.clone());
                        }
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
                Some(tool) => {
                    tool.was_gone |= tool.is_available();
                    tool.withdrawn = true;
                }
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
