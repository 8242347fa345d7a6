//! `tool_choice` and its like: tools under their new names, and what is forced must be there.

use alloc::{string::String, vec::Vec};

use super::{
    tool_format::{remove, set},
    wire::Wire,
};
use crate::{
    deferred::lazy::{edit_member, view},
    dialect::surface::Surface,
    error::Error,
    json::{self, Data, Node, Text},
};

/// What becomes of a tool that a choice names.
pub(super) enum ChoiceOutcome {
    Stays,
    Renamed(String),
    /// It was set aside.
    Gone,
}

/// A choice of tools that was refused beside what else a request says, and what is sent for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChoiceChange {
    /// The choice as it was, as JSON.
    pub found: String,
    /// The choice as it is sent, as JSON.
    pub sent: String,
    /// Why: the API's answer, with its source.
    pub because: &'static str,
}

/// Asks for less where a model thinks that may not be forced meanwhile.
pub(super) fn beside_thinking(
    request: &mut Node<'_>,
    wire: Wire,
    surface: &Surface,
) -> Result<Option<ChoiceChange>, Error> {
    let (Some(choice), true) = (request.get("tool_choice"), wire != Wire::Gemini) else { return Ok(None) };
    let model = model(request)?;
    let Some(rule) = surface.thinking.iter().find(|rule| model.starts_with(rule.model)) else { return Ok(None) };
    let mut thinks = rule.always.is_some_and(|part| model.contains(part));
    if let Some(thinking) = request.get("thinking") {
        let thinking = view(thinking)?;
        thinks |= thinking.get("type").is_some_and(|kind| kind.is_text("enabled") || kind.is_text("adaptive"));
    }
    let choice = view(choice)?;
    let is = |name: &str| choice.is_text(name) || choice.get("type").is_some_and(|kind| kind.is_text(name));
    let is_named = ["function", "tool", "custom"].into_iter().any(is);
    let is_required = ["required", "any"].into_iter().any(is);
    if !thinks || !(is_named || (is_required && !rule.required)) {
        return Ok(None);
    }
    let sent = match (wire, rule.required) {
        (Wire::Anthropic, true) => Node::record([("type", Node::literal("any"))]),
        (Wire::Anthropic, false) => Node::record([("type", Node::literal("auto"))]),
        (_, true) => Node::literal("required"),
        (_, false) => Node::literal("auto"),
    };
    let found = json::write(&choice);
    drop(choice);
    match sent.get("type") {
        // Its siblings say how many calls there may be.
        Some(kind) => {
            edit_member(request, "tool_choice", |choice| {
                remove(choice, "name");
                set(choice, "type", kind.clone());
                Ok(())
            })?;
        }
        None => set(request, "tool_choice", sent),
    }
    let sent = request.get("tool_choice").map(json::write).unwrap_or_default();
    Ok(Some(ChoiceChange { found, sent, because: rule.source }))
}

/// The model of a request in lower case, without the vendor that routers write before it.
pub(super) fn model(request: &Node<'_>) -> Result<String, Error> {
    let Some(model) = request.get("model") else { return Ok(String::new()) };
    let model = view(model)?;
    let name = model.as_text().map(|name| name.display().into_owned()).unwrap_or_default();
    Ok(name.rsplit('/').next().unwrap_or_default().to_ascii_lowercase())
}

/// Where Gemini's JSON and its SDKs keep the choice, and in it the list of allowed tools.
const GEMINI: [(&str, &str, &str, &str); 2] = [
    ("toolConfig", "functionCallingConfig", "allowedFunctionNames", "/toolConfig/functionCallingConfig"),
    ("tool_config", "function_calling_config", "allowed_function_names", "/tool_config/function_calling_config"),
];
const TOOL_CHOICE: &str = "/tool_choice";

/// The pointer to a choice that makes the model call a tool, if a request has one.
pub(super) fn demand(request: &Node<'_>, wire: Wire) -> Result<Option<&'static str>, Error> {
    if wire == Wire::Gemini {
        for (outer, inner, _, pointer) in GEMINI {
            let Some(config) = request.get(outer) else { continue };
            let config = view(config)?;
            let mode = config.get(inner).and_then(|config| config.get("mode")).and_then(Node::as_text);
            if mode.is_some_and(|mode| mode.display().eq_ignore_ascii_case("any")) {
                return Ok(Some(pointer));
            }
        }
        return Ok(None);
    }
    let Some(choice) = request.get("tool_choice") else { return Ok(None) };
    let choice = view(choice)?;
    let nested = choice.get("allowed_tools").filter(|inner| inner.as_object().is_some());
    let is = |name: &str| choice.is_text(name) || choice.get("type").is_some_and(|kind| kind.is_text(name));
    let demands = ["any", "required", "tool", "function", "custom"].into_iter().any(is)
        || is("allowed_tools") && nested.unwrap_or(&choice).get("mode").is_some_and(|mode| mode.is_text("required"));
    Ok(demands.then_some(TOOL_CHOICE))
}

/// What became of a choice.
#[derive(Default)]
pub(super) struct Settled {
    /// The names of tools in it that are gone.
    pub(super) lost: Vec<Text<'static>>,
    /// Where it stands, if nothing is left of what it forces or allows.
    pub(super) stuck: Option<&'static str>,
}

/// Settles the choice of a request.
pub(super) fn settle<'a>(
    request: &mut Node<'a>,
    wire: Wire,
    fate: &dyn Fn(&Text<'a>) -> ChoiceOutcome,
) -> Result<Settled, Error> {
    let mut settled = Settled::default();
    if wire == Wire::Gemini {
        for (outer, inner, list, pointer) in GEMINI {
            let emptied = edit_member(request, outer, |config| {
                Ok(config.visit(inner, |config| gemini(config, list, fate, &mut settled.lost)) == Some(true))
            })?;
            settled.stuck = settled.stuck.or((emptied == Some(true)).then_some(pointer));
        }
        return Ok(settled);
    }
    edit_member(request, "tool_choice", |choice| {
        let is = |name: &str| choice.get("type").is_some_and(|kind| kind.is_text(name));
        let is_stuck = if is("allowed_tools") {
            allowed(choice, fate, &mut settled.lost)
        } else if let Some(name) = forced(choice, fate) {
            settled.lost.push(name);
            true
        } else {
            false
        };
        settled.stuck = is_stuck.then_some(TOOL_CHOICE);
        Ok(())
    })?;
    Ok(settled)
}

/// Renames what a choice forces; its name, if it is gone.
fn forced<'a>(choice: &mut Node<'a>, fate: &dyn Fn(&Text<'a>) -> ChoiceOutcome) -> Option<Text<'static>> {
    for inner in ["function", "custom"] {
        if choice.get(inner).is_some_and(|inner| inner.as_object().is_some()) {
            return choice.visit(inner, |inner| forced_here(inner, fate)).flatten();
        }
    }
    forced_here(choice, fate)
}

fn forced_here<'a>(choice: &mut Node<'a>, fate: &dyn Fn(&Text<'a>) -> ChoiceOutcome) -> Option<Text<'static>> {
    let name = choice.get("name")?.as_text()?;
    match fate(name) {
        ChoiceOutcome::Stays => None,
        ChoiceOutcome::Renamed(new) => {
            set(choice, "name", Node::string(new));
            None
        }
        ChoiceOutcome::Gone => Some(name.clone().into_owned()),
    }
}

/// A choice among some tools: those that are gone cannot be allowed. Tells whether none is left.
fn allowed<'a>(
    choice: &mut Node<'a>,
    fate: &dyn Fn(&Text<'a>) -> ChoiceOutcome,
    lost: &mut Vec<Text<'static>>,
) -> bool {
    let mut among = |inner: &mut Node<'a>| {
        let had = lost.len();
        inner.visit("tools", |tools| filter(tools, lost, &mut |tool| forced(tool, fate)));
        lost.len() > had && inner.get("tools").and_then(Node::as_array).is_some_and(<[Node<'a>]>::is_empty)
    };
    let nested = choice.get("allowed_tools").is_some_and(|inner| inner.as_object().is_some());
    if nested {
        choice.visit("allowed_tools", &mut among) == Some(true)
    } else {
        among(choice)
    }
}

fn gemini<'a>(
    config: &mut Node<'a>,
    list: &str,
    fate: &dyn Fn(&Text<'a>) -> ChoiceOutcome,
    lost: &mut Vec<Text<'static>>,
) -> bool {
    let had = lost.len();
    config.visit(list, |names| {
        filter(names, lost, &mut |name| {
            let text = name.as_text()?;
            match fate(text) {
                ChoiceOutcome::Stays => None,
                ChoiceOutcome::Renamed(new) => {
                    *name = Node::string(new);
                    None
                }
                ChoiceOutcome::Gone => Some(text.clone().into_owned()),
            }
        });
    });
    lost.len() > had && config.get(list).and_then(Node::as_array).is_some_and(<[Node<'a>]>::is_empty)
}

/// Leaves out of a list what `gone` gives a name for.
fn filter<'a>(
    list: &mut Node<'a>,
    lost: &mut Vec<Text<'static>>,
    gone: &mut dyn FnMut(&mut Node<'a>) -> Option<Text<'static>>,
) {
    let (mut at, mut places) = (0, Vec::new());
    if !matches!(list.data(), Data::Array(_)) {
        return;
    }
    // The visitor never fails.
    let _ = list.visit_children::<()>(|_, item| {
        if let Some(name) = gone(item) {
            lost.push(name);
            places.push(at);
        }
        at += 1;
        Ok(())
    });
    if places.is_empty() {
        return;
    }
    if let Some(items) = list.as_array_mut() {
        let (mut at, mut places) = (0, places.into_iter().peekable());
        items.retain(|_| {
            let goes = places.next_if_eq(&at).is_some();
            at += 1;
            !goes
        });
    }
}
