//! `tool_choice` in the words of another format.

use alloc::vec::Vec;

use super::{drop_member, set};
use crate::{
    collections::Set,
    deferred::{
        choice::never_loaded,
        conversation::tools::Tools,
        lazy::view,
        reader::lose,
        report::{Warnings, LOST},
        tool::{has_type, remove},
    },
    error::Error,
    json::{Data, Node, Text},
    options::{DeferredOptions, ForcedTool, Format, Native},
};

/// What may be called.
pub(super) enum Choice<'a> {
    Auto,
    Required,
    None,
    Tool(Text<'a>),
    /// Some tools alone; `required`: one of them.
    Allowed {
        required: bool,
        names: Vec<Text<'a>>,
    },
}

/// What a request says of it.
pub(super) struct Wanted<'a> {
    pub(super) choice: Option<Choice<'a>>,
    /// One call at a time.
    single: bool,
}

/// Takes the choice out of a request; what no format knows is lost.
pub(super) fn take<'a>(request: &mut Node<'a>, source: Format, warnings: &mut Warnings) -> Result<Wanted<'a>, Error> {
    let mut wanted = Wanted { choice: None, single: false };
    if source != Format::Anthropic {
        let parallel = request.get("parallel_tool_calls").map(view).transpose()?;
        wanted.single = parallel.and_then(|parallel| parallel.as_bool()) == Some(false);
    }
    let Some(choice) = request.get("tool_choice") else { return Ok(wanted) };
    let choice = view(choice)?;
    wanted.single |= choice.get("disable_parallel_tool_use").and_then(Node::as_bool) == Some(true);
    wanted.choice = read(&choice);
    let is_lost = wanted.choice.is_none();
    drop(choice);
    if is_lost {
        if let Some(choice) = remove(request, "tool_choice") {
            lose("tool_choice", &*view(&choice)?, warnings);
        }
    }
    Ok(wanted)
}

/// In any format's spelling: gateways mix them up.
fn read<'a>(choice: &Node<'a>) -> Option<Choice<'a>> {
    let is = |name| choice.is_text(name) || has_type(choice, name);
    if is("auto") {
        return Some(Choice::Auto);
    }
    if is("any") || is("required") {
        return Some(Choice::Required);
    }
    if is("none") {
        return Some(Choice::None);
    }
    if has_type(choice, "allowed_tools") {
        let inner = choice.get("allowed_tools").unwrap_or(choice);
        let listed = inner.get("tools").and_then(Node::as_array).unwrap_or_default();
        let required = inner.get("mode").is_some_and(|mode| mode.is_text("required"));
        return Some(Choice::Allowed { required, names: listed.iter().filter_map(named).collect() });
    }
    named(choice).map(Choice::Tool)
}

/// The tool that an entry names.
fn named<'a>(entry: &Node<'a>) -> Option<Text<'a>> {
    if has_type(entry, "tool") {
        return entry.get("name").and_then(Node::as_text).cloned();
    }
    let kind = ["function", "custom"].into_iter().find(|kind| has_type(entry, kind))?;
    entry
        .get(kind)
        .and_then(|inner| inner.get("name")?.as_text())
        .cloned()
        .or_else(|| entry.get("name")?.as_text().cloned())
}

/// What is sent.
pub(super) struct Sent<'a> {
    /// The names of its tools, wherever they stand; `None`: the request has no list, and brings none.
    pub(super) names: Option<Set<Text<'a>>>,
    /// The list has entries.
    pub(super) has_list: bool,
    /// The tools that are sent as `custom` ones.
    pub(super) custom: Set<Text<'a>>,
    /// The client's search, where the backend's stands for it: a choice cannot name that.
    pub(super) search: Option<Text<'a>>,
}

/// Writes the choice.
pub(super) fn write<'a>(
    request: &mut Node<'a>,
    wanted: Wanted<'a>,
    (target, native): (Format, Native),
    sent: &Sent<'a>,
    warnings: &mut Warnings,
) {
    let has_tools = sent.has_list;
    if target != Format::Anthropic {
        remove_unless_false(request, wanted.single && has_tools);
    } else {
        drop_member(request, "parallel_tool_calls");
    }
    // Chat Completions refuses a choice without tools. Kimi's may stand in messages, and it refuses demands alone.
    let is_demand = matches!(wanted.choice, Some(Choice::Required | Choice::Tool(_) | Choice::Allowed { .. }));
    let is_bare = sent.names.as_ref().is_some_and(|names| names.is_empty());
    if target == Format::OpenaiChat && !has_tools && (native != Native::Kimi || is_demand && is_bare) {
        drop_member(request, "tool_choice");
        return;
    }
    let is_sent = |name: &Text<'a>| sent.names.as_ref().is_none_or(|names| names.contains(name));
    let single = wanted.single && has_tools;
    let written = match wanted.choice {
        Some(Choice::Tool(name)) if sent.search.as_ref() == Some(&name) => {
            warnings.about("forced_choice_widened", name.display());
            Some(plain(Plain::Required, target))
        }
        Some(Choice::Tool(name)) if !is_sent(&name) => Some(plain(Plain::Auto, target)),
        Some(Choice::Tool(name)) if native == Native::Kimi => {
            warnings.about("forced_choice_widened", name.display());
            Some(plain(Plain::Required, target))
        }
        Some(Choice::Tool(name)) => Some(forced(name, target, &sent.custom)),
        Some(Choice::Allowed { required, mut names }) => {
            names.retain(is_sent);
            Some(allowed(required, names, (target, native, &sent.custom), warnings))
        }
        // Anthropic refuses a choice without tools, and this one says nothing.
        Some(Choice::Auto) if target == Format::Anthropic && !has_tools => {
            drop_member(request, "tool_choice");
            None
        }
        Some(Choice::Auto) => Some(plain(Plain::Auto, target)),
        Some(Choice::Required) => Some(plain(Plain::Required, target)),
        Some(Choice::None) => Some(plain(Plain::None, target)),
        None if single && target == Format::Anthropic => Some(plain(Plain::Auto, target)),
        None => None,
    };
    if let Some(mut choice) = written {
        if single && target == Format::Anthropic && !has_type(&choice, "none") {
            set(&mut choice, "disable_parallel_tool_use", Node::bool(true));
        }
        set(request, "tool_choice", choice);
    }
}

fn remove_unless_false(request: &mut Node<'_>, single: bool) {
    if single {
        set(request, "parallel_tool_calls", Node::bool(false));
    } else if request.get("parallel_tool_calls").is_some_and(|parallel| parallel.as_bool() != Some(true)) {
        drop_member(request, "parallel_tool_calls");
    }
}

enum Plain {
    Auto,
    Required,
    None,
}

fn plain<'a>(choice: Plain, target: Format) -> Node<'a> {
    let name = match (choice, target) {
        (Plain::Auto, _) => "auto",
        (Plain::Required, Format::Anthropic) => "any",
        (Plain::Required, _) => "required",
        (Plain::None, _) => "none",
    };
    match target {
        Format::Anthropic => Node::record([("type", Node::literal(name))]),
        _ => Node::literal(name),
    }
}

fn forced<'a>(name: Text<'a>, target: Format, custom: &Set<Text<'a>>) -> Node<'a> {
    let kind = if custom.contains(&name) { "custom" } else { "function" };
    let named = ("name", Node::string(name));
    let function = ("type", Node::literal(kind));
    match target {
        Format::Anthropic => Node::record([("type", Node::literal("tool")), named]),
        Format::OpenaiResponses => Node::record([function, named]),
        Format::OpenaiChat => Node::record([function, (kind, Node::record([named]))]),
    }
}

fn allowed<'a>(
    required: bool,
    names: Vec<Text<'a>>,
    (target, native, custom): (Format, Native, &Set<Text<'a>>),
    warnings: &mut Warnings,
) -> Node<'a> {
    let mode = if required { Plain::Required } else { Plain::Auto };
    if names.is_empty() {
        return plain(Plain::Auto, target);
    }
    if !has_allowed(target, native) {
        // The others have left the list.
        warnings.about(LOST, "allowed_tools");
        return plain(mode, target);
    }
    let tools = Node::array(names.into_iter().map(|name| forced(name, target, custom)).collect());
    let mode = plain(mode, target);
    let kind = ("type", Node::literal("allowed_tools"));
    if target == Format::OpenaiChat {
        return Node::record([kind, ("allowed_tools", Node::record([("mode", mode), ("tools", tools)]))]);
    }
    Node::record([kind, ("mode", mode), ("tools", tools)])
}

/// A choice may force a tool that is deferred and was never loaded: what the options say of that.
///
/// # Errors
/// `forced-deferred-tool` if they want one.
pub(in crate::deferred) fn load_forced<'a>(
    request: &Node<'a>,
    tools: &mut Tools<'a>,
    options: &DeferredOptions,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    let Some(Choice::Tool(name)) = request.get("tool_choice").map(view).transpose()?.as_deref().and_then(read) else {
        return Ok(());
    };
    let Some(tool) = tools.get_mut(&name).filter(|tool| tool.deferred && !tool.loaded && !tool.withdrawn) else {
        return Ok(());
    };
    match options.forced_tool {
        ForcedTool::Error => return Err(never_loaded(&name)),
        ForcedTool::Auto => {}
        ForcedTool::Load => (tool.loaded, tool.is_wanted) = (true, true),
    }
    warnings.about("forced_deferred_tool", name.display());
    Ok(())
}

/// Kimi takes no named choice: any tool is demanded.
pub(in crate::deferred) fn widen(request: &mut Node<'_>, warnings: &mut Warnings) -> Result<(), Error> {
    let named = match request.get("tool_choice").map(view).transpose()?.as_deref().and_then(read) {
        Some(Choice::Tool(name)) => name.display().into_owned(),
        _ => return Ok(()),
    };
    warnings.about("forced_choice_widened", named);
    set(request, "tool_choice", Node::literal("required"));
    Ok(())
}

/// Whether a choice may list the tools that may be called.
fn has_allowed(target: Format, native: Native) -> bool {
    target != Format::Anthropic && native != Native::Kimi
}

/// The names that alone may be called, where the target has no way to say so.
pub(super) fn only<'w, 'a>(wanted: &'w Wanted<'a>, (target, native): (Format, Native)) -> Option<&'w [Text<'a>]> {
    match &wanted.choice {
        Some(Choice::Allowed { names, .. }) if !has_allowed(target, native) && !names.is_empty() => Some(names),
        _ => None,
    }
}

/// Whenever Responses gets tools, it gets a choice.
pub(in crate::deferred) fn complete(request: &mut Node<'_>) {
    let has_tools = request.get("tools").is_some_and(|tools| !matches!(tools.data(), Data::Null));
    if has_tools && request.get("tool_choice").is_none() {
        set(request, "tool_choice", Node::literal("auto"));
    }
}
