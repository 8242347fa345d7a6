//! Adapts a `tool_choice` that names deferred tools, which are possibly not sent.

use alloc::{format, string::String};

use super::{
    emulation::{Availability, Emulation},
    quote::Overflowed,
};
use crate::{
    error::{Code, Error},
    json::{Node, Text},
    options::{Api, DeferredOptions, ForcedTool},
    request::{
        choice::{self, forced_name, Choice, Decision, Mention},
        namespaces::NameMap,
        report::Warnings,
        tools::{Tool, Tools},
    },
};

/// Rewrites the `tool_choice` of a request whose format does not change, after the history was applied. A tool that the
/// choice forces may be loaded. Tools in `overflowed` are loaded if the choice forces or allows them.
///
/// # Errors
/// `forced-deferred-tool` if the options request it.
pub(super) fn settle<'a>(
    request: &mut Node<'a>,
    format: Api,
    (emulation, map): (&mut Emulation<'a>, &NameMap<'a>),
    (options, overflowed): (&DeferredOptions, Option<&Overflowed>),
    search: Option<&str>,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    let api = format;
    let is_list = choice::is_list(request, api)?;
    // Computed once, because `decide` runs for every tool that a choice allows.
    let has_toolsets = emulation.has_toolsets();
    let replaced = || search.map_or(Decision::Remove, |name| Decision::Rename(Text::new(String::from(name))));
    let mut decide = |mention: &Mention<'a>, is_forced: bool| {
        let (namespace, name) = match mention {
            Mention::Search => return Ok(replaced()),
            Mention::Hosted(_) => return Ok(Decision::Keep),
            // The tools of the namespace are now in the list itself.
            Mention::Namespace(_) => return Ok(if is_forced { Decision::Keep } else { Decision::Remove }),
            Mention::Tool { namespace, name } => (namespace.as_ref().filter(|_| api == Api::OpenaiResponses), name),
        };
        let flat = namespace.map_or_else(|| name.clone(), |namespace| map.name_in(namespace, name));
        // The caller deferred these tools, not the client: a choice that names them keeps its meaning.
        let is_overflowed = || {
            let key = (namespace.map(|namespace| namespace.display().into_owned()), name.display().into_owned());
            overflowed.is_some_and(|overflowed| overflowed.contains(&key))
        };
        let is_sent = match emulation.availability(&flat) {
            Availability::Visible => true,
            Availability::Search => return Ok(replaced()),
            // The request does not list the tools of a toolset.
            Availability::Unknown => has_toolsets || is_forced && emulation.is_empty(),
            Availability::Hidden if is_overflowed() => true,
            Availability::Hidden if is_forced => is_loaded_for_choice(&flat, api, options, warnings)?,
            Availability::Hidden | Availability::Removed => false,
        };
        if !is_sent {
            return Ok(Decision::Remove);
        }
        emulation.tools.load(&flat);
        Ok(if namespace.is_some() { Decision::Rename(flat) } else { Decision::Keep })
    };
    if choice::settle(request, api, &mut decide)?.emptied.is_some() {
        choice::replace(request, &Choice::Auto, api)?;
        if is_list {
            warnings.warn("choice-emptied");
        }
    }
    Ok(())
}

/// Returns true if a hidden tool is loaded because a choice forces it.
///
/// # Errors
/// `forced-deferred-tool` if the options request it.
fn is_loaded_for_choice(
    name: &Text<'_>,
    api: Api,
    options: &DeferredOptions,
    warnings: &mut Warnings,
) -> Result<bool, Error> {
    if options.forced_tool == ForcedTool::Error {
        let shown = name.display();
        let message = format!(
            "expected the choice to force a loaded tool, found `{shown}`, which is deferred and was not referenced"
        );
        return Err(Error::new(Code::ForcedDeferredTool, choice::pointer(api), message));
    }
    warnings.about("forced-deferred-tool", name.display());
    Ok(options.forced_tool == ForcedTool::Load)
}

/// Removes tools that are not sent from a choice that lists tools, for a construct that sends no deferred tools.
///
/// # Errors
/// `invalid-json` if the choice is text that cannot be read.
pub(super) fn settle_allowed<'a>(
    (request, format): (&mut Node<'a>, Api),
    tools: &Tools<'a>,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    if !choice::is_list(request, format)? {
        return Ok(());
    }
    let mut decide = |mention: &Mention<'a>, _| {
        let Mention::Tool { name, .. } = mention else { return Ok(Decision::Keep) };
        let is_sent = tools.get(name).is_none_or(Tool::is_available);
        Ok(if is_sent { Decision::Keep } else { Decision::Remove })
    };
    if choice::settle(request, format, &mut decide)?.emptied.is_some() {
        choice::replace(request, &Choice::Auto, format)?;
        warnings.warn("choice-emptied");
    }
    Ok(())
}

/// Loads a tool that a choice forces, in a request with the backend's own constructs.
///
/// # Errors
/// `forced-deferred-tool` if the options request it.
pub(super) fn load_forced<'a>(
    (request, format): (&Node<'a>, Api),
    tools: &mut Tools<'a>,
    options: &DeferredOptions,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    let Some(name) = forced_name(request, format)? else { return Ok(()) };
    let is_hidden = tools.get(&name).is_some_and(Tool::is_hidden);
    if is_hidden && is_loaded_for_choice(&name, format, options, warnings)? {
        tools.load(&name);
        tools.get_mut(&name).into_iter().for_each(|tool| tool.is_wanted = true);
    }
    Ok(())
}
