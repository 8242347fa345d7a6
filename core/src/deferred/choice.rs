//! `tool_choice` and deferred tools: what a choice becomes if the tool that it names is not sent, and its translation
//! for another API.

use alloc::{format, string::String, vec::Vec};

use super::{
    emulation::{Emulation, Standing},
    lazy::view,
    namespace::NameMap,
    reader::lose,
    report::{Warnings, LOST},
    tool::{has_type, remove},
    tools::{Tool, Tools},
};
use crate::{
    collections::Set,
    error::{Code, Error},
    json::{Data, Node, Text},
    options::{Api, DeferredOptions, ForcedTool, Native},
    request::choice::{self, Choice, Fate, Mention},
};

/// Settles the choice of a request that stays in its format, once it is known what the history loads. A forced tool may
/// be loaded for it.
///
/// # Errors
/// `forced-deferred-tool` if the options ask for it.
pub(super) fn settle<'a>(
    request: &mut Node<'a>,
    format: Api,
    (emulation, map): (&mut Emulation<'a>, &NameMap<'a>),
    options: &DeferredOptions,
    search: Option<&str>,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    let api = format;
    // Asked for every tool that a choice allows.
    let has_toolsets = emulation.has_toolsets();
    let replaced = || search.map_or(Fate::Gone, |name| Fate::Named(Text::new(String::from(name))));
    let mut decide = |mention: &Mention<'a>, is_forced: bool| {
        let (namespace, name) = match mention {
            Mention::Search => return Ok(replaced()),
            Mention::Hosted(_) => return Ok(Fate::Stays),
            // Its tools are tools of the list now.
            Mention::Namespace(_) => return Ok(if is_forced { Fate::Stays } else { Fate::Gone }),
            Mention::Tool { namespace, name } => (namespace.as_ref().filter(|_| api == Api::OpenaiResponses), name),
        };
        let flat = namespace.map_or_else(|| name.clone(), |namespace| map.name_in(namespace, name));
        let is_sent = match emulation.standing(&flat) {
            Standing::Visible => true,
            Standing::Search => return Ok(replaced()),
            // A toolset brings tools that the request does not name.
            Standing::Unknown => has_toolsets || is_forced && emulation.is_empty(),
            Standing::Hidden if is_forced => is_loaded_for_choice(&flat, options, warnings)?,
            Standing::Hidden | Standing::Withdrawn => false,
        };
        if !is_sent {
            return Ok(Fate::Gone);
        }
        emulation.tools.load(&flat);
        Ok(if namespace.is_some() { Fate::Named(flat) } else { Fate::Stays })
    };
    if choice::settle(request, api, &mut decide)?.emptied.is_some() {
        choice::replace(request, &Choice::Auto, api)?;
    }
    Ok(())
}

/// Whether a deferred tool that a choice forces, and that nothing has loaded, is loaded for it.
///
/// # Errors
/// `forced-deferred-tool` if the options ask for it.
fn is_loaded_for_choice(name: &Text<'_>, options: &DeferredOptions, warnings: &mut Warnings) -> Result<bool, Error> {
    if options.forced_tool == ForcedTool::Error {
        let shown = name.display();
        let message = format!(
            "expected `tool_choice` to force a tool that is loaded, found `{shown}`, which is deferred and was not \
                referred to"
        );
        return Err(Error::new(Code::ForcedDeferredTool, "/tool_choice", message));
    }
    warnings.about("forced-deferred-tool", name.display());
    Ok(options.forced_tool == ForcedTool::Load)
}

/// The choice of a request, in no API's spelling.
pub(super) struct Wanted<'a> {
    pub(super) choice: Option<Choice<'a>>,
    /// One call at a time.
    single: bool,
}

/// Reads the choice of a request. One that only its own API has is removed, with a warning.
pub(super) fn take<'a>(request: &mut Node<'a>, source: Api, warnings: &mut Warnings) -> Result<Wanted<'a>, Error> {
    let mut wanted = Wanted { choice: None, single: false };
    if source != Api::Anthropic {
        let parallel = request.get("parallel_tool_calls").map(view).transpose()?;
        wanted.single = parallel.and_then(|parallel| parallel.as_bool()) == Some(false);
    }
    let Some(found) = request.get("tool_choice") else { return Ok(wanted) };
    let found = view(found)?;
    wanted.single |= found.get("disable_parallel_tool_use").and_then(Node::as_bool) == Some(true);
    wanted.choice = choice::read(&found);
    let is_lost = matches!(
        wanted.choice,
        None | Some(Choice::Tool(Mention::Search | Mention::Namespace(_) | Mention::Hosted(_)))
    );
    drop(found);
    if is_lost {
        wanted.choice = None;
        if let Some(found) = remove(request, "tool_choice") {
            lose("tool_choice", &*view(&found)?, warnings);
        }
    }
    Ok(wanted)
}

/// The names of the tools among some entries.
fn names<'n, 'a: 'n>(tools: &'n [Mention<'a>]) -> impl Iterator<Item = &'n Text<'a>> {
    tools.iter().filter_map(|tool| if let Mention::Tool { name, .. } = tool { Some(name) } else { None })
}

/// The tools that are sent.
pub(super) struct Sent<'a> {
    /// Their names, wherever they stand; `None`: the request has no list, and brings none.
    pub(super) names: Option<Set<Text<'a>>>,
    /// The list has entries.
    pub(super) has_list: bool,
    /// The tools that are sent as `custom` ones.
    pub(super) custom: Set<Text<'a>>,
    /// The client's search, for which the backend's is sent: a choice cannot name it.
    pub(super) search: Option<Text<'a>>,
}

/// Writes the choice for another API.
pub(super) fn write<'a>(
    request: &mut Node<'a>,
    wanted: Wanted<'a>,
    (target, native): (Api, Native),
    sent: &Sent<'a>,
    warnings: &mut Warnings,
) {
    let (api, has_tools) = (target, sent.has_list);
    if api == Api::Anthropic {
        drop_member(request, "parallel_tool_calls");
    } else {
        limit_parallel_calls(request, wanted.single && has_tools);
    }
    // Chat Completions refuses a choice without tools. Kimi's may stand in messages, and it refuses demands alone.
    let is_demand = matches!(wanted.choice, Some(Choice::Required | Choice::Tool(_) | Choice::Allowed { .. }));
    let is_bare = sent.names.as_ref().is_some_and(|names| names.is_empty());
    if api == Api::OpenaiChat && !has_tools && (native != Native::Kimi || is_demand && is_bare) {
        drop_member(request, "tool_choice");
        return;
    }
    let is_sent = |name: &Text<'a>| sent.names.as_ref().is_none_or(|names| names.contains(name));
    let single = wanted.single && has_tools;
    let written = match wanted.choice {
        Some(Choice::Tool(Mention::Tool { name, .. })) if sent.search.as_ref() == Some(&name) => {
            warnings.about("forced-choice-widened", name.display());
            Some(choice::plain(&Choice::Required, api))
        }
        Some(Choice::Tool(Mention::Tool { name, .. })) if !is_sent(&name) => Some(choice::plain(&Choice::Auto, api)),
        Some(Choice::Tool(Mention::Tool { name, .. })) if native == Native::Kimi => {
            warnings.about("forced-choice-widened", name.display());
            Some(choice::plain(&Choice::Required, api))
        }
        Some(Choice::Tool(Mention::Tool { name, .. })) => {
            let is_custom = sent.custom.contains(&name);
            Some(choice::forced(name, api, is_custom))
        }
        Some(Choice::Allowed { required, tools }) => {
            let names: Vec<Text<'a>> = names(&tools).filter(|name| is_sent(name)).cloned().collect();
            if names.is_empty() {
                Some(choice::plain(&Choice::Auto, api))
            } else if has_allowed(target, native) {
                Some(choice::allowed(required, names, api, &sent.custom))
            } else {
                // The others have left the list.
                warnings.about(LOST, "allowed_tools");
                Some(choice::plain(if required { &Choice::Required } else { &Choice::Auto }, api))
            }
        }
        // Anthropic refuses a choice without tools, and this one says nothing.
        Some(Choice::Auto) if api == Api::Anthropic && !has_tools => {
            drop_member(request, "tool_choice");
            None
        }
        Some(plain) => Some(choice::plain(&plain, api)),
        None if single && api == Api::Anthropic => Some(choice::plain(&Choice::Auto, api)),
        None => None,
    };
    if let Some(mut choice) = written {
        if single && api == Api::Anthropic && !has_type(&choice, "none") {
            set(&mut choice, "disable_parallel_tool_use", Node::bool(true));
        }
        set(request, "tool_choice", choice);
    }
}

fn limit_parallel_calls(request: &mut Node<'_>, single: bool) {
    if single {
        set(request, "parallel_tool_calls", Node::bool(false));
    } else if request.get("parallel_tool_calls").is_some_and(|parallel| parallel.as_bool() != Some(true)) {
        drop_member(request, "parallel_tool_calls");
    }
}

/// Loads a tool for a choice that forces it, in a request that is handed on.
///
/// # Errors
/// `forced-deferred-tool` if the options ask for it.
pub(super) fn load_forced<'a>(
    request: &Node<'a>,
    tools: &mut Tools<'a>,
    options: &DeferredOptions,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    let Some(name) = forced_name(request)? else { return Ok(()) };
    let is_hidden = tools.get(&name).is_some_and(Tool::is_hidden);
    if is_hidden && is_loaded_for_choice(&name, options, warnings)? {
        tools.load(&name);
        tools.get_mut(&name).into_iter().for_each(|tool| tool.is_wanted = true);
    }
    Ok(())
}

/// Demands any tool in the place of a named one: Kimi takes no named choice.
pub(super) fn widen(request: &mut Node<'_>, warnings: &mut Warnings) -> Result<(), Error> {
    let Some(name) = forced_name(request)?.map(|name| name.display().into_owned()) else { return Ok(()) };
    warnings.about("forced-choice-widened", name);
    set(request, "tool_choice", Node::literal("required"));
    Ok(())
}

/// The name of the tool that a choice forces, if it forces one.
fn forced_name<'a>(request: &Node<'a>) -> Result<Option<Text<'a>>, Error> {
    let found = request.get("tool_choice").map(view).transpose()?;
    Ok(match found.as_deref().and_then(choice::read) {
        Some(Choice::Tool(Mention::Tool { name, .. })) => Some(name),
        _ => None,
    })
}

/// Whether a choice may list the tools that may be called.
fn has_allowed(target: Api, native: Native) -> bool {
    target != Api::Anthropic && native != Native::Kimi
}

/// The names of the only tools that may be called, if the target cannot say that in a choice.
pub(super) fn only<'a>(wanted: &Wanted<'a>, (target, native): (Api, Native)) -> Option<Set<Text<'a>>> {
    match &wanted.choice {
        Some(Choice::Allowed { tools, .. }) if !has_allowed(target, native) => {
            let names: Set<Text<'a>> = names(tools).cloned().collect();
            Some(names).filter(|names| !names.is_empty())
        }
        _ => None,
    }
}

/// Adds a choice to a request of Responses that has tools and no choice.
pub(super) fn complete(request: &mut Node<'_>) {
    let has_tools = request.get("tools").is_some_and(|tools| !matches!(tools.data(), Data::Null));
    if has_tools && request.get("tool_choice").is_none() {
        set(request, "tool_choice", Node::literal("auto"));
    }
}

fn drop_member(request: &mut Node<'_>, key: &str) {
    if request.get(key).is_some() {
        remove(request, key);
    }
}

fn set<'a>(node: &mut Node<'a>, key: &'static str, value: Node<'a>) {
    if let Some(object) = node.as_object_mut() {
        object.set(key, value);
    }
}
