//! The choice of tools in a request that is translated into another format.

use alloc::{format, string::String, vec::Vec};

use super::report::{Warnings, LOST};
use crate::{
    collections::Set,
    error::Error,
    json::{lazy::view, Data, Node, Text},
    options::{Api, Native},
    wire::{
        self,
        choice::{Choice, ToolRef, WithoutTools, CHOICE},
    },
};

pub(crate) struct SourceChoice<'a> {
    pub(crate) choice: Option<Choice<'a>>,
    forbids_parallel_calls: bool,
    /// Member of the given request that contains the choice; `None` if the choice is a member of the request itself.
    holder: Option<&'static str>,
}

impl SourceChoice<'_> {
    fn pointer(&self) -> String {
        match self.holder {
            Some(holder) => format!("/{holder}/{CHOICE}"),
            None => format!("/{CHOICE}"),
        }
    }
}

/// Removes the choice from a request, and returns it. Drops a choice that only the source API supports, with a warning.
/// `holder` is the member of the given request that contained the choice, if the choice was moved.
pub(crate) fn take_choice<'a>(
    request: &mut Node<'a>,
    (source, holder): (Api, Option<&'static str>),
    warnings: &mut Warnings,
) -> Result<SourceChoice<'a>, Error> {
    let format = wire::of(source).choice();
    let choice = request.get(CHOICE).map(view).transpose()?;
    let forbids_parallel_calls = format.is_single(request, choice.as_deref())?;
    let mut taken = SourceChoice {
        choice: choice.as_deref().and_then(|choice| format.read(choice)),
        forbids_parallel_calls,
        holder,
    };
    let is_lost =
        matches!(taken.choice, None | Some(Choice::Tool(ToolRef::Search | ToolRef::Namespace(_) | ToolRef::Hosted(_))));
    if choice.is_some() && is_lost {
        drop(choice);
        taken.choice = None;
        if let Some(choice) = request.remove(CHOICE) {
            warnings.warn_lost_in(holder, CHOICE, &*view(&choice)?);
        }
    }
    Ok(taken)
}

fn names_of_tools<'n, 'a: 'n>(tools: &'n [ToolRef<'a>]) -> impl Iterator<Item = &'n Text<'a>> {
    tools.iter().filter_map(|tool| if let ToolRef::Tool { name, .. } = tool { Some(name) } else { None })
}

pub(crate) struct SentTools<'a> {
    /// Names of all tools that are sent, in the list or in messages; `None` if the request has no list and its history
    /// adds no tool.
    pub(crate) names: Option<Set<Text<'a>>>,
    /// True if the list is not empty.
    pub(crate) has_list: bool,
    pub(crate) custom: Set<Text<'a>>,
    /// The client's search function, if the backend's native search replaces it. A choice cannot name the native
    /// search.
    pub(crate) search: Option<Text<'a>>,
}

pub(crate) fn write_choice<'a>(
    request: &mut Node<'a>,
    source_choice: SourceChoice<'a>,
    (target, native): (Api, Native),
    sent: &SentTools<'a>,
    warnings: &mut Warnings,
) {
    let (format, has_tools) = (wire::of(target).choice(), sent.has_list);
    let forbids_parallel_calls = source_choice.forbids_parallel_calls && has_tools;
    // In Kimi's requests, messages may contain tools. Without any tools, Kimi refuses only choices that require a call.
    let is_demand = matches!(source_choice.choice, Some(Choice::Required | Choice::Tool(_) | Choice::Allowed { .. }));
    let has_no_tools = sent.names.as_ref().is_some_and(|names| names.is_empty());
    let may_have_choice = has_tools || format.without_tools() != WithoutTools::None;
    if !may_have_choice && (native != Native::Kimi || is_demand && has_no_tools) {
        format.limit_parallel_calls(request, forbids_parallel_calls, None);
        request.remove(CHOICE);
        return;
    }
    let is_sent = |name: &Text<'a>| sent.names.as_ref().is_none_or(|names| names.contains(name));
    let widened = Choice::Required;
    let pointer = source_choice.pointer();
    let written = match source_choice.choice {
        Some(Choice::Tool(ToolRef::Tool { name, .. })) if sent.search.as_ref() == Some(&name) => {
            warnings.warn_named_at("forced-choice-widened", name.display(), pointer);
            Some(format.plain(&widened))
        }
        Some(Choice::Tool(ToolRef::Tool { name, .. })) if !is_sent(&name) => Some(format.plain(&Choice::Auto)),
        Some(Choice::Tool(ToolRef::Tool { name, .. })) if native == Native::Kimi => {
            warnings.warn_named_at("forced-choice-widened", name.display(), pointer);
            Some(format.plain(&widened))
        }
        Some(Choice::Tool(ToolRef::Tool { name, .. })) => {
            let is_custom = sent.custom.contains(&name);
            Some(format.forced(name, is_custom))
        }
        Some(Choice::Allowed { required, tools }) => {
            let names: Vec<Text<'a>> = names_of_tools(&tools).filter(|name| is_sent(name)).cloned().collect();
            if names.is_empty() {
                Some(format.plain(&Choice::Auto))
            } else if has_allowed(target, native) {
                Some(format.allowed(required, names, &sent.custom))
            } else {
                // Tools that are not allowed have already been removed from the list.
                warnings.warn_named_at(LOST, "allowed_tools", pointer);
                Some(format.plain(if required { &Choice::Required } else { &Choice::Auto }))
            }
        }
        Some(Choice::Auto) if format.without_tools() == WithoutTools::NotAuto && !has_tools => {
            request.remove(CHOICE);
            None
        }
        Some(unnamed) => Some(format.plain(&unnamed)),
        None => None,
    };
    if let Some(choice) = format.limit_parallel_calls(request, forbids_parallel_calls, written) {
        request.set(CHOICE, choice);
    }
}

/// Replaces a choice that forces a single tool by `required`, because Kimi does not support forcing a tool.
pub(crate) fn widen_forced_choice(request: &mut Node<'_>, warnings: &mut Warnings) -> Result<(), Error> {
    let Some(format) = Native::Kimi.api().map(|api| wire::of(api).choice()) else { return Ok(()) };
    let Some(name) = format.forced_name(request)?.map(|name| name.display().into_owned()) else { return Ok(()) };
    warnings.warn_named_at("forced-choice-widened", name, format!("/{CHOICE}"));
    request.set(CHOICE, format.plain(&Choice::Required));
    Ok(())
}

fn has_allowed(target: Api, native: Native) -> bool {
    wire::of(target).choice().has_allowed() && native != Native::Kimi
}

pub(crate) fn allowed_names_to_filter<'a>(
    source_choice: &SourceChoice<'a>,
    (target, native): (Api, Native),
) -> Option<Set<Text<'a>>> {
    match &source_choice.choice {
        Some(Choice::Allowed { tools, .. }) if !has_allowed(target, native) => {
            let names: Set<Text<'a>> = names_of_tools(tools).cloned().collect();
            Some(names).filter(|names| !names.is_empty())
        }
        _ => None,
    }
}

pub(crate) fn add_auto_choice(request: &mut Node<'_>) {
    let has_tools = request.get("tools").is_some_and(|tools| !matches!(tools.data(), Data::Null));
    if has_tools && request.get(CHOICE).is_none() {
        request.set(CHOICE, Node::literal("auto"));
    }
}
