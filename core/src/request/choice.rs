//! The choice of tools (`tool_choice` and its counterparts): the tools that the model may or must call.
//!
//! This file contains the spellings of all APIs. Its callers decide what happens to the tools that a choice names.

use alloc::{string::String, vec::Vec};

use super::{
    report::{Warnings, LOST},
    tool::has_type,
};
use crate::{
    collections::Set,
    error::Error,
    json::{
        self,
        lazy::{edit_member, view},
        Data, Node, Text,
    },
    options::{Api, Native},
};

/// The tools that the model may or must call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice<'a> {
    /// `auto`: the model decides.
    Auto,
    /// `none`: the model must not call a tool.
    None,
    /// `required` or `any`: the model must call at least one tool.
    Required,
    /// The model must call this tool.
    Tool(Mention<'a>),
    /// The model may call only these tools. If `required` is true, it must call at least one.
    Allowed { required: bool, tools: Vec<Mention<'a>> },
}

impl Choice<'_> {
    /// Returns true if the model must call a tool.
    pub(crate) const fn is_demand(&self) -> bool {
        matches!(self, Choice::Required | Choice::Tool(_) | Choice::Allowed { required: true, .. })
    }
}

/// An entry of a choice: the tool that the choice forces, or one that it allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mention<'a> {
    /// A tool, in Responses possibly in a namespace.
    Tool { namespace: Option<Text<'a>>, name: Text<'a> },
    /// `{"type": "tool_search"}` of Responses, which has no name.
    Search,
    /// All tools of a namespace of Responses.
    Namespace(Text<'a>),
    /// A hosted tool, identified by its type: `{"type": "web_search"}`.
    Hosted(Text<'a>),
}

/// Members in which Chat Completions nests the name of a tool.
const INNER: [&str; 2] = ["function", "custom"];
pub(super) const ALLOWED: &str = "allowed_tools";

fn name_of<'a>(node: &Node<'a>) -> Option<Text<'a>> {
    node.text_at("name").cloned()
}

/// Parses a choice in the spelling of any API except Gemini, because gateways mix the spellings. Returns `None` if no
/// API uses the spelling.
pub(crate) fn read<'a>(choice: &Node<'a>) -> Option<Choice<'a>> {
    // Cohere uses upper-case words.
    let is_word = |name: &str| choice.as_text().is_some_and(|word| word.display().eq_ignore_ascii_case(name));
    let is = |name: &str| is_word(name) || has_type(choice, name);
    if is("auto") {
        return Some(Choice::Auto);
    }
    if is("any") || is("required") {
        return Some(Choice::Required);
    }
    if is("none") {
        return Some(Choice::None);
    }
    if has_type(choice, ALLOWED) {
        let inner = choice.get(ALLOWED).unwrap_or(choice);
        let listed = inner.items_at("tools");
        let required = inner.get("mode").is_some_and(|mode| mode.is_text("required"));
        return Some(Choice::Allowed { required, tools: listed.iter().filter_map(mention).collect() });
    }
    mention(choice).map(Choice::Tool)
}

/// Parses an entry of a choice.
fn mention<'a>(entry: &Node<'a>) -> Option<Mention<'a>> {
    let tool = |namespace, name| Mention::Tool { namespace, name };
    if let Some(name) = INNER.iter().find_map(|inner| name_of(entry.get(inner)?)) {
        return Some(tool(None, name));
    }
    if has_type(entry, "tool_search") {
        return Some(Mention::Search);
    }
    if has_type(entry, "namespace") {
        return name_of(entry).map(Mention::Namespace);
    }
    let is_tool =
        entry.get("type").is_none() || ["tool", "function", "custom"].iter().any(|kind| has_type(entry, kind));
    if !is_tool {
        let kind = entry.text_at("type");
        // Choices that do not name a tool may also be objects: `{"type": "auto"}`.
        let is_plain = |kind: &&Text<'_>| ["auto", "any", "none", "required"].iter().any(|plain| kind.is(*plain));
        return kind.filter(|kind| !is_plain(kind)).cloned().map(Mention::Hosted);
    }
    let namespace = entry.text_at("namespace").cloned();
    name_of(entry).map(|name| tool(namespace, name))
}

/// Parses a choice of Gemini Interactions: a mode, or a mode with the names of the allowed tools.
fn read_interactions<'a>(choice: &Node<'a>) -> Option<Choice<'a>> {
    let allowed = choice.get(ALLOWED);
    let mode = allowed.map_or(Some(choice), |allowed| allowed.get("mode")).and_then(Node::as_text);
    let is = |name: &str| mode.is_some_and(|mode| mode.display().eq_ignore_ascii_case(name));
    if is("none") {
        return Some(Choice::None);
    }
    let listed = allowed.and_then(|allowed| allowed.get("tools")).and_then(Node::as_array).unwrap_or_default();
    let names = listed.iter().filter_map(Node::as_text);
    let mut tools: Vec<Mention<'a>> = names.map(|name| Mention::Tool { namespace: None, name: name.clone() }).collect();
    let required = is("any");
    match (tools.len(), required) {
        (0, true) => Some(Choice::Required),
        // `validated` validates the arguments of calls but does not require a call.
        (0, false) => (is("auto") || is("validated")).then_some(Choice::Auto),
        (1, true) => tools.pop().map(Choice::Tool),
        _ => Some(Choice::Allowed { required, tools }),
    }
}

/// Returns a choice that names no tool, in the spelling of an API other than Gemini `generateContent`.
pub(crate) fn plain<'a>(choice: &Choice<'_>, api: Api) -> Node<'a> {
    let name = match choice {
        Choice::None => "none",
        choice if choice.is_demand() && api == Api::GeminiInteractions => "any",
        Choice::Required if api == Api::Anthropic => "any",
        choice if choice.is_demand() => "required",
        _ => "auto",
    };
    match api {
        Api::Anthropic => Node::record([("type", Node::literal(name))]),
        _ => Node::literal(name),
    }
}

/// Returns a choice that forces one tool. `is_custom` is true for an OpenAI `custom` tool.
pub(crate) fn forced(name: Text<'_>, api: Api, is_custom: bool) -> Node<'_> {
    let kind = if is_custom { "custom" } else { "function" };
    let named = ("name", Node::string(name));
    let function = ("type", Node::literal(kind));
    match api {
        Api::Anthropic => Node::record([("type", Node::literal("tool")), named]),
        Api::OpenaiChat => Node::record([function, (kind, Node::record([named]))]),
        Api::GeminiInteractions => {
            let (_, name) = named;
            Node::record([(
                ALLOWED,
                Node::record([("mode", Node::literal("any")), ("tools", Node::array([name].into()))]),
            )])
        }
        _ => Node::record([function, named]),
    }
}

/// Returns a choice that allows some tools, in the spelling of OpenAI's APIs or of Gemini Interactions.
pub(crate) fn allowed<'a>(required: bool, names: Vec<Text<'a>>, api: Api, custom: &Set<Text<'a>>) -> Node<'a> {
    if api == Api::GeminiInteractions {
        let mode = plain(if required { &Choice::Required } else { &Choice::Auto }, api);
        let tools = Node::array(names.into_iter().map(Node::string).collect());
        return Node::record([(ALLOWED, Node::record([("mode", mode), ("tools", tools)]))]);
    }
    let tools = names.into_iter().map(|name| {
        let is_custom = custom.contains(&name);
        forced(name, api, is_custom)
    });
    let tools = Node::array(tools.collect());
    let mode = plain(if required { &Choice::Required } else { &Choice::Auto }, api);
    let kind = ("type", Node::literal(ALLOWED));
    match api {
        Api::OpenaiChat => Node::record([kind, (ALLOWED, Node::record([("mode", mode), ("tools", tools)]))]),
        _ => Node::record([kind, ("mode", mode), ("tools", tools)]),
    }
}

/// Replaces the choice of a request with one that names no tool. In Anthropic's spelling, members that limit parallel
/// calls remain.
///
/// # Errors
/// `invalid-json` if the choice is text that cannot be parsed.
pub(crate) fn replace(request: &mut Node<'_>, choice: &Choice<'_>, api: Api) -> Result<(), Error> {
    if api == Api::Bedrock {
        let kind = if choice.is_demand() { "any" } else { "auto" };
        let (outer, inner, _) = CONVERSE;
        let written = Node::record([(kind, Node::empty_object())]);
        return edit_member(request, outer, |config| {
            config.set(inner, written);
            Ok(())
        })
        .map(drop);
    }
    if api == Api::Gemini {
        for (outer, inner, _) in GEMINI {
            edit_member(request, outer, |config| {
                config.visit(inner, |config| {
                    GEMINI_ALLOWED.iter().for_each(|list| drop(config.remove(list)));
                    // NONE forbids calls, and VALIDATED validates their arguments; neither requires a call.
                    if !choice.is_demand() && forces_a_call(config) {
                        config.set("mode", Node::literal("AUTO"));
                    }
                });
                Ok(())
            })?;
        }
        return Ok(());
    }
    let written = plain(choice, api);
    if api == Api::GeminiInteractions {
        let (outer, inner, _) = INTERACTIONS;
        return edit_member(request, outer, |config| {
            config.set(inner, written);
            Ok(())
        })
        .map(drop);
    }
    let replaced = edit_member(request, "tool_choice", |old| {
        let Some((kind, object)) = written.get("type").zip(old.as_object_mut()) else {
            *old = written.clone();
            return Ok(());
        };
        for key in ["name", "namespace", "function", "custom", "tools", "mode", ALLOWED] {
            if object.has(key) {
                object.remove(key);
            }
        }
        object.set("type", kind.clone());
        Ok(())
    });
    replaced.map(drop)
}

/// Returns the choice of a request as JSON text and parsed. Returns `None` for Gemini `generateContent`.
pub(crate) fn of<'a>(request: &Node<'a>, api: Api) -> Result<Option<(String, Option<Choice<'a>>)>, Error> {
    let (outer, inner, _) = match api {
        Api::Bedrock => CONVERSE,
        Api::GeminiInteractions => INTERACTIONS,
        Api::Gemini => return Ok(None),
        _ => {
            let Some(written) = request.get("tool_choice") else { return Ok(None) };
            let written = view(written)?;
            return Ok((!written.is_null()).then(|| (json::write(&written), read(&written))));
        }
    };
    let config = request.get(outer).map(view).transpose()?;
    let Some(choice) = config.as_deref().and_then(|config| config.get(inner)).filter(|choice| !choice.is_null()) else {
        return Ok(None);
    };
    let read = if api == Api::GeminiInteractions {
        read_interactions(choice)
    } else if choice.get("auto").is_some() {
        Some(Choice::Auto)
    } else if choice.get("any").is_some() {
        Some(Choice::Required)
    } else {
        let name = choice.get("tool").and_then(name_of);
        name.map(|name| Choice::Tool(Mention::Tool { namespace: None, name }))
    };
    Ok(Some((json::write(choice), read)))
}

/// Returns the choice of a request of any API.
///
/// # Errors
/// `invalid-json` if the choice is text that cannot be parsed.
pub(crate) fn chosen<'a>(request: &Node<'a>, api: Api) -> Result<Option<Choice<'a>>, Error> {
    match api {
        Api::Gemini => of_gemini(request),
        _ => Ok(of(request, api)?.and_then(|(_, choice)| choice)),
    }
}

/// Changes the choice to `auto`: the model may call the tools that the choice allows, but need not call one.
///
/// # Errors
/// The errors of [`replace`].
pub(crate) fn weaken(request: &mut Node<'_>, api: Api) -> Result<(), Error> {
    if api == Api::GeminiInteractions {
        let (outer, inner, _) = INTERACTIONS;
        return edit_member(request, outer, |config| {
            config.visit(inner, |choice| match choice.get(ALLOWED) {
                Some(_) => drop(choice.visit(ALLOWED, |allowed| allowed.set("mode", Node::literal("auto")))),
                None => *choice = plain(&Choice::Auto, api),
            });
            Ok(())
        })
        .map(drop);
    }
    let found = request.get("tool_choice").map(view).transpose()?;
    if !found.is_some_and(|choice| has_type(&choice, ALLOWED)) {
        return replace(request, &Choice::Auto, api);
    }
    let mode = || Node::literal("auto");
    edit_member(request, "tool_choice", |choice| {
        if choice.visit(ALLOWED, |inner| inner.as_object_mut().map(|inner| inner.set("mode", mode()))).is_none() {
            choice.as_object_mut().into_iter().for_each(|choice| choice.set("mode", mode()));
        }
        Ok(())
    })
    .map(drop)
}

/// The decision about an entry of a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision<'a> {
    /// Keep the entry unchanged.
    Keep,
    /// Replace the entry with this tool name, without a namespace.
    Rename(Text<'a>),
    /// Remove the entry, because the tool is not sent.
    Remove,
}

/// Decides what to do with an entry. The flag is true if the choice forces that tool.
pub(crate) type Decide<'d, 'a> = &'d mut dyn FnMut(&Mention<'a>, bool) -> Result<Decision<'a>, Error>;

/// The outcome of [`settle`].
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// Names of removed tools: those that are not sent.
    pub(crate) gone: Vec<Text<'static>>,
    /// Pointer to the choice, if the forced tool is not sent, or if none of the allowed tools is sent. The forced tool
    /// remains in the choice; the list of allowed tools is then empty.
    pub(crate) emptied: Option<&'static str>,
}

/// Places of the choice in Gemini's JSON and in its SDKs. The API accepts both spellings at each level.
pub(super) const GEMINI: [(&str, &str, &str); 4] = [
    ("toolConfig", "functionCallingConfig", "/toolConfig/functionCallingConfig"),
    ("toolConfig", "function_calling_config", "/toolConfig/function_calling_config"),
    ("tool_config", "functionCallingConfig", "/tool_config/functionCallingConfig"),
    ("tool_config", "function_calling_config", "/tool_config/function_calling_config"),
];
/// The list of allowed tools in Gemini's choice.
pub(super) const GEMINI_ALLOWED: [&str; 2] = ["allowedFunctionNames", "allowed_function_names"];

/// Returns true if Gemini's choice requires a call.
fn forces_a_call(config: &Node<'_>) -> bool {
    let mode = config.text_at("mode");
    mode.is_some_and(|mode| mode.display().eq_ignore_ascii_case("any"))
}

/// Returns Gemini's choice if it forces a call or restricts the allowed tools.
fn of_gemini<'a>(request: &Node<'a>) -> Result<Option<Choice<'a>>, Error> {
    for (outer, inner, _) in GEMINI {
        let config = request.get(outer).map(view).transpose()?;
        let Some(config) = config.as_deref().and_then(|config| config.get(inner)) else { continue };
        let required = forces_a_call(config);
        let names = GEMINI_ALLOWED.iter().find_map(|key| config.get(key)?.as_array()).unwrap_or_default();
        let mention = |name: &Text<'a>| Mention::Tool { namespace: None, name: name.clone() };
        let mut tools: Vec<Mention<'a>> = names.iter().filter_map(Node::as_text).map(mention).collect();
        return Ok(match tools.len() {
            0 => required.then_some(Choice::Required),
            1 if required => tools.pop().map(Choice::Tool),
            _ => Some(Choice::Allowed { required, tools }),
        });
    }
    Ok(None)
}

/// Returns true if a choice lists allowed tools.
///
/// # Errors
/// `invalid-json` if the choice is text that cannot be parsed.
pub(crate) fn is_list(request: &Node<'_>, api: Api) -> Result<bool, Error> {
    let choice = match api {
        Api::Gemini => of_gemini(request)?,
        _ => of(request, api)?.and_then(|(_, choice)| choice),
    };
    Ok(matches!(choice, Some(Choice::Allowed { .. })))
}

/// Removes the choice from a Gemini request, and its configuration if nothing else is left in it.
///
/// # Errors
/// `invalid-json` if the configuration is text that cannot be parsed.
pub(crate) fn remove_from_gemini(request: &mut Node<'_>) -> Result<(), Error> {
    for (outer, inner, _) in GEMINI {
        let is_emptied = edit_member(request, outer, |config| {
            Ok(config.remove(inner).is_some() && config.as_object().is_some_and(json::Object::is_empty))
        })?;
        if is_emptied == Some(true) {
            request.remove(outer);
        }
    }
    Ok(())
}
const TOOL_CHOICE: &str = "/tool_choice";
/// Place of the choice in Bedrock Converse: `{"auto": {}}`, `{"any": {}}` or `{"tool": {"name": …}}`.
pub(super) const CONVERSE: (&str, &str, &str) = ("toolConfig", "toolChoice", "/toolConfig/toolChoice");
/// Place of the choice in Gemini Interactions: a mode, or `{"allowed_tools": {"mode": …, "tools": […]}}`.
pub(super) const INTERACTIONS: (&str, &str, &str) =
    ("generation_config", "tool_choice", "/generation_config/tool_choice");

/// Returns the pointer to the choice of a request.
pub(crate) const fn pointer(api: Api) -> &'static str {
    match api {
        Api::Bedrock => CONVERSE.2,
        Api::GeminiInteractions => INTERACTIONS.2,
        Api::Gemini => GEMINI[0].2,
        _ => TOOL_CHOICE,
    }
}

/// Removes the choice from the settings of Gemini Interactions, and the settings if nothing else is left in them.
///
/// # Errors
/// `invalid-json` if the settings are text that cannot be parsed.
pub(crate) fn remove_from_settings(request: &mut Node<'_>) -> Result<(), Error> {
    let (outer, inner, _) = INTERACTIONS;
    let emptied = edit_member(request, outer, |config| {
        Ok(config.remove(inner).is_some() && config.as_object().is_some_and(json::Object::is_empty))
    })?;
    if emptied == Some(true) {
        request.remove(outer);
    }
    Ok(())
}

/// Applies `decide` to every entry of a request's choice, in place. Entries that stay keep their text.
///
/// # Errors
/// The errors of `decide`.
pub(crate) fn settle<'a>(request: &mut Node<'a>, api: Api, decide: Decide<'_, 'a>) -> Result<Settled, Error> {
    let mut settled = Settled::default();
    if api == Api::Gemini {
        let is_forced = matches!(of_gemini(request)?, Some(Choice::Tool(_)));
        for ((outer, inner, pointer), list) in GEMINI.iter().flat_map(|place| GEMINI_ALLOWED.map(|list| (place, list)))
        {
            let emptied = edit_member(request, outer, |config| {
                let mut settle =
                    |config: &mut Node<'a>| among(config, (list, is_forced), api, &mut *decide, &mut settled.gone);
                config.visit(*inner, &mut settle).unwrap_or(Ok(false))
            })?;
            settled.emptied = settled.emptied.or((emptied == Some(true)).then_some(*pointer));
        }
        return Ok(settled);
    }
    if api == Api::GeminiInteractions {
        let is_forced = matches!(of(request, api)?, Some((_, Some(Choice::Tool(_)))));
        let (outer, inner, pointer) = INTERACTIONS;
        let emptied = edit_member(request, outer, |config| {
            let mut settle =
                |allowed: &mut Node<'a>| among(allowed, ("tools", is_forced), api, &mut *decide, &mut settled.gone);
            let emptied = config.visit(inner, |choice| choice.visit(ALLOWED, &mut settle)).flatten();
            emptied.unwrap_or(Ok(false))
        })?;
        settled.emptied = (emptied == Some(true)).then_some(pointer);
        return Ok(settled);
    }
    if api == Api::Bedrock {
        let (outer, inner, pointer) = CONVERSE;
        let emptied = edit_member(request, outer, |config| {
            let mut settle = |tool: &mut Node<'a>| entry(tool, true, api, &mut *decide, &mut settled.gone);
            let emptied = config.visit(inner, |choice| choice.visit("tool", &mut settle)).flatten();
            emptied.unwrap_or(Ok(false))
        })?;
        settled.emptied = (emptied == Some(true)).then_some(pointer);
        return Ok(settled);
    }
    let emptied = edit_member(request, "tool_choice", |choice| {
        if !has_type(choice, ALLOWED) {
            return entry(choice, true, api, &mut *decide, &mut settled.gone);
        }
        if choice.get(ALLOWED).is_some_and(|inner| inner.as_object().is_some()) {
            let among =
                choice.visit(ALLOWED, |inner| among(inner, ("tools", false), api, &mut *decide, &mut settled.gone));
            return among.unwrap_or(Ok(false));
        }
        among(choice, ("tools", false), api, &mut *decide, &mut settled.gone)
    })?;
    settled.emptied = (emptied == Some(true)).then_some(TOOL_CHOICE);
    Ok(settled)
}

/// Applies `decide` to one entry. Returns true if the tool is not sent.
fn entry<'a>(
    node: &mut Node<'a>,
    is_forced: bool,
    api: Api,
    decide: Decide<'_, 'a>,
    gone: &mut Vec<Text<'static>>,
) -> Result<bool, Error> {
    // Gemini lists plain names.
    let bare = node.as_text().filter(|_| matches!(api, Api::Gemini | Api::GeminiInteractions));
    let bare = bare.map(|name| Mention::Tool { namespace: None, name: name.clone() });
    let Some(mention) = bare.or_else(|| mention(node)) else { return Ok(false) };
    match decide(&mention, is_forced)? {
        Decision::Keep => {}
        Decision::Rename(name) => rename(node, name, api),
        Decision::Remove => {
            if let Mention::Tool { name, .. } | Mention::Namespace(name) | Mention::Hosted(name) = mention {
                gone.push(name.into_owned());
            }
            return Ok(true);
        }
    }
    Ok(false)
}

fn rename<'a>(node: &mut Node<'a>, name: Text<'a>, api: Api) {
    if node.as_text().is_some() {
        *node = Node::string(name);
        return;
    }
    let set = |node: &mut Node<'a>, name: Text<'a>| {
        if node.text_at("name") != Some(&name) {
            if let Some(object) = node.as_object_mut() {
                object.set("name", Node::string(name));
            }
        }
    };
    if let Some(inner) =
        INNER.into_iter().find(|inner| node.get(inner).is_some_and(|inner| inner.get("name").is_some()))
    {
        node.visit(inner, |inner| set(inner, name));
        return;
    }
    if node.get("name").is_none() {
        *node = forced(name, api, false);
        return;
    }
    set(node, name);
    if node.get("namespace").is_some() {
        if let Some(object) = node.as_object_mut() {
            object.remove("namespace");
        }
    }
}

/// Applies `decide` to a list of entries and removes those that are not sent. Returns true if the list becomes empty.
/// `is_forced` is true if the list has one entry that the choice forces.
fn among<'a>(
    holder: &mut Node<'a>,
    (list, is_forced): (&str, bool),
    api: Api,
    decide: Decide<'_, 'a>,
    gone: &mut Vec<Text<'static>>,
) -> Result<bool, Error> {
    let emptied = holder.visit(list, |list| {
        if !matches!(list.data(), Data::Array(_)) {
            return Ok(false);
        }
        let (mut at, mut places) = (0, Vec::new());
        list.visit_children(|_, item| {
            if entry(item, is_forced, api, &mut *decide, gone)? {
                places.push(at);
            }
            at += 1;
            Ok::<(), Error>(())
        })?;
        if places.is_empty() {
            return Ok(false);
        }
        let Some(items) = list.as_array_mut() else { return Ok(false) };
        let (mut at, mut places) = (0, places.into_iter().peekable());
        items.retain(|_| {
            let goes = places.next_if_eq(&at).is_some();
            at += 1;
            !goes
        });
        Ok(items.is_empty())
    });
    emptied.unwrap_or(Ok(false))
}

/// Returns the pointer to the choice of a request if the choice requires a call.
pub(crate) fn demand(request: &Node<'_>, api: Api) -> Result<Option<&'static str>, Error> {
    if api == Api::Gemini {
        for (outer, inner, pointer) in GEMINI {
            let Some(config) = request.get(outer) else { continue };
            if view(config)?.get(inner).is_some_and(forces_a_call) {
                return Ok(Some(pointer));
            }
        }
        return Ok(None);
    }
    if api == Api::Bedrock {
        let (outer, inner, pointer) = CONVERSE;
        let config = request.get(outer).map(view).transpose()?;
        let choice = config.as_ref().and_then(|config| config.get(inner));
        let is_demand = choice.is_some_and(|choice| ["any", "tool"].iter().any(|kind| choice.get(*kind).is_some()));
        return Ok(is_demand.then_some(pointer));
    }
    let choice = of(request, api)?.and_then(|(_, choice)| choice);
    Ok(choice.is_some_and(|choice| choice.is_demand()).then_some(pointer(api)))
}

/// The choice of a request, independent of any API's spelling.
pub(crate) struct Wanted<'a> {
    pub(crate) choice: Option<Choice<'a>>,
    /// True if parallel calls are disabled.
    single: bool,
}

/// Removes the choice from a request and parses it. A choice that only the source API supports is dropped with a
/// warning.
pub(crate) fn take<'a>(request: &mut Node<'a>, source: Api, warnings: &mut Warnings) -> Result<Wanted<'a>, Error> {
    let mut wanted = Wanted { choice: None, single: false };
    if source != Api::Anthropic {
        let parallel = request.get("parallel_tool_calls").map(view).transpose()?;
        wanted.single = parallel.and_then(|parallel| parallel.as_bool()) == Some(false);
    }
    let Some(found) = request.get("tool_choice") else { return Ok(wanted) };
    let found = view(found)?;
    wanted.single |= found.bool_at("disable_parallel_tool_use") == Some(true);
    wanted.choice = if source == Api::GeminiInteractions { read_interactions(&found) } else { read(&found) };
    let is_lost = matches!(
        wanted.choice,
        None | Some(Choice::Tool(Mention::Search | Mention::Namespace(_) | Mention::Hosted(_)))
    );
    drop(found);
    if is_lost {
        wanted.choice = None;
        if let Some(found) = request.remove("tool_choice") {
            warnings.lose("tool_choice", &*view(&found)?);
        }
    }
    Ok(wanted)
}

/// Returns the names of the tools among these entries.
fn names<'n, 'a: 'n>(tools: &'n [Mention<'a>]) -> impl Iterator<Item = &'n Text<'a>> {
    tools.iter().filter_map(|tool| if let Mention::Tool { name, .. } = tool { Some(name) } else { None })
}

pub(crate) struct Sent<'a> {
    /// Names of all tools that are sent, in the list or in messages; `None` if the request has no list and its history
    /// adds no tool.
    pub(crate) names: Option<Set<Text<'a>>>,
    /// True if the list is not empty.
    pub(crate) has_list: bool,
    /// The tools that are sent as OpenAI `custom` tools.
    pub(crate) custom: Set<Text<'a>>,
    /// The client's search function, if the backend's native search replaces it. A choice cannot name
    /// the native search.
    pub(crate) search: Option<Text<'a>>,
}

/// Writes the choice for another API.
pub(crate) fn write<'a>(
    request: &mut Node<'a>,
    wanted: Wanted<'a>,
    (target, native): (Api, Native),
    sent: &Sent<'a>,
    warnings: &mut Warnings,
) {
    let (api, has_tools) = (target, sent.has_list);
    if matches!(api, Api::Anthropic | Api::GeminiInteractions) {
        request.remove("parallel_tool_calls");
    } else {
        limit_parallel_calls(request, wanted.single && has_tools);
    }
    // Chat Completions refuses a choice without tools. In Kimi's requests, tools may be in messages; without any tool,
    // Kimi only refuses choices that require a call.
    let is_demand = matches!(wanted.choice, Some(Choice::Required | Choice::Tool(_) | Choice::Allowed { .. }));
    let is_bare = sent.names.as_ref().is_some_and(|names| names.is_empty());
    if api == Api::OpenaiChat && !has_tools && (native != Native::Kimi || is_demand && is_bare) {
        request.remove("tool_choice");
        return;
    }
    let is_sent = |name: &Text<'a>| sent.names.as_ref().is_none_or(|names| names.contains(name));
    let single = wanted.single && has_tools;
    let written = match wanted.choice {
        Some(Choice::Tool(Mention::Tool { name, .. })) if sent.search.as_ref() == Some(&name) => {
            warnings.about("forced-choice-widened", name.display());
            Some(plain(&Choice::Required, api))
        }
        Some(Choice::Tool(Mention::Tool { name, .. })) if !is_sent(&name) => Some(plain(&Choice::Auto, api)),
        Some(Choice::Tool(Mention::Tool { name, .. })) if native == Native::Kimi => {
            warnings.about("forced-choice-widened", name.display());
            Some(plain(&Choice::Required, api))
        }
        Some(Choice::Tool(Mention::Tool { name, .. })) => {
            let is_custom = sent.custom.contains(&name);
            Some(forced(name, api, is_custom))
        }
        Some(Choice::Allowed { required, tools }) => {
            let names: Vec<Text<'a>> = names(&tools).filter(|name| is_sent(name)).cloned().collect();
            if names.is_empty() {
                Some(plain(&Choice::Auto, api))
            } else if has_allowed(target, native) {
                Some(allowed(required, names, api, &sent.custom))
            } else {
                // Tools that are not allowed have already been removed from the list.
                warnings.about(LOST, "allowed_tools");
                Some(plain(if required { &Choice::Required } else { &Choice::Auto }, api))
            }
        }
        // Anthropic refuses a choice without tools, and `auto` is the default.
        Some(Choice::Auto) if api == Api::Anthropic && !has_tools => {
            request.remove("tool_choice");
            None
        }
        Some(unnamed) => Some(plain(&unnamed, api)),
        None if single && api == Api::Anthropic => Some(plain(&Choice::Auto, api)),
        None => None,
    };
    if let Some(mut choice) = written {
        if single && api == Api::Anthropic && !has_type(&choice, "none") {
            choice.set("disable_parallel_tool_use", Node::bool(true));
        }
        request.set("tool_choice", choice);
    }
}

fn limit_parallel_calls(request: &mut Node<'_>, single: bool) {
    if single {
        request.set("parallel_tool_calls", Node::bool(false));
    } else if request.get("parallel_tool_calls").is_some_and(|parallel| parallel.as_bool() != Some(true)) {
        request.remove("parallel_tool_calls");
    }
}

/// Replaces a choice of one tool with one that requires any tool, because Kimi does not support forcing a single tool.
pub(crate) fn widen(request: &mut Node<'_>, warnings: &mut Warnings) -> Result<(), Error> {
    let Some(name) = forced_name(request, Api::OpenaiChat)?.map(|name| name.display().into_owned()) else {
        return Ok(());
    };
    warnings.about("forced-choice-widened", name);
    request.set("tool_choice", Node::literal("required"));
    Ok(())
}

/// Returns the name of the tool that the choice forces, if any.
pub(crate) fn forced_name<'a>(request: &Node<'a>, api: Api) -> Result<Option<Text<'a>>, Error> {
    Ok(match of(request, api)?.and_then(|(_, choice)| choice) {
        Some(Choice::Tool(Mention::Tool { name, .. })) => Some(name),
        _ => None,
    })
}

/// Returns true if a choice of this API can list allowed tools.
fn has_allowed(target: Api, native: Native) -> bool {
    target != Api::Anthropic && native != Native::Kimi
}

/// Returns the names of the allowed tools, if the target's choice cannot list them.
pub(crate) fn only<'a>(wanted: &Wanted<'a>, (target, native): (Api, Native)) -> Option<Set<Text<'a>>> {
    match &wanted.choice {
        Some(Choice::Allowed { tools, .. }) if !has_allowed(target, native) => {
            let names: Set<Text<'a>> = names(tools).cloned().collect();
            Some(names).filter(|names| !names.is_empty())
        }
        _ => None,
    }
}

/// Adds the choice `auto` to a Responses request that has tools but no choice.
pub(crate) fn complete(request: &mut Node<'_>) {
    let has_tools = request.get("tools").is_some_and(|tools| !matches!(tools.data(), Data::Null));
    if has_tools && request.get("tool_choice").is_none() {
        request.set("tool_choice", Node::literal("auto"));
    }
}
