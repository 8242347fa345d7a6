//! The rules of an API about a request as a whole: the choice of tools.

use alloc::{format, string::String, vec::Vec};

use super::{carriers, tool_format::remove};
use crate::{
    deferred::tool::has_type,
    dialect::{
        requests::{Refusal, RequestFact, Thinks, CUSTOM_TOOLS},
        surface::Surface,
    },
    error::{Code, Error},
    json::{self, lazy::view, Node},
    options::Api,
    report::Reason,
    request::{
        self,
        choice::{self, Choice},
    },
};

/// A change of a request outside its tools.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestChange {
    /// The place in the input.
    pub pointer: String,
    /// The rule: that of a [`RequestFact`].
    pub rule: &'static str,
    /// For people: what was done. It has no values of the request.
    pub message: String,
    /// Why: the fact that the change serves.
    pub reason: Reason,
}

impl RequestChange {
    pub(super) fn new(pointer: impl Into<String>, fact: &RequestFact, message: impl Into<String>) -> Self {
        let reason = Reason::fact(fact.statement, fact.confidence, fact.source);
        RequestChange { pointer: pointer.into(), rule: fact.rule(), message: message.into(), reason }
    }
}

/// A choice of tools that the API refuses in this request, and what is sent for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChoiceChange {
    /// The choice as it was, as JSON.
    pub found: String,
    /// The choice as it is sent, as JSON: `null` if none is.
    pub sent: String,
    /// Why: the API's answer, with its source.
    pub because: &'static str,
}

/// Reports the `custom` tools of a list of Responses, and of its namespaces, that become functions.
pub(super) fn custom_tools(request: &Node<'_>) -> Result<Vec<RequestChange>, Error> {
    let mut changes = Vec::new();
    let Some(tools) = request.get("tools") else { return Ok(changes) };
    let tools = view(tools)?;
    let mut report = |tool: &Node<'_>, pointer: String| {
        if has_type(tool, "custom") {
            let message = "declared the `custom` tool as a function with `input`; `restore` undoes it";
            changes.push(RequestChange::new(pointer, &CUSTOM_TOOLS, message));
        }
    };
    for (at, tool) in tools.as_array().unwrap_or_default().iter().enumerate() {
        report(tool, format!("/tools/{at}"));
        let members = tool.get("tools").and_then(Node::as_array).filter(|_| has_type(tool, "namespace"));
        for (inner, member) in members.unwrap_or_default().iter().enumerate() {
            report(member, format!("/tools/{at}/tools/{inner}"));
        }
    }
    Ok(changes)
}

/// Weakens or removes a choice that the API refuses in this request. `given`: the choice of the request as it came,
/// which may be gone by now.
///
/// # Errors
/// `invalid-request` for a choice that forces a call in a request without tools.
pub(super) fn mend_choice(
    request: &mut Node<'_>,
    api: Api,
    surface: &Surface,
    given: Option<String>,
) -> Result<Option<(ChoiceChange, RequestChange)>, Error> {
    let without = without_tools(request, api, surface)?;
    let Some((found, choice)) = choice_of(request, api)? else {
        let removed = given.zip(without);
        return Ok(removed.map(|(found, fact)| changed(found, "null".into(), fact)));
    };
    if let Some(fact) = without {
        if choice.is_some_and(|choice| choice.is_demand()) {
            let message = format!("expected tools that the choice can force, found none; {}", fact.source);
            return Err(Error::new(Code::InvalidRequest, "/tool_choice", message));
        }
        for key in ["tool_choice", "parallel_tool_calls"] {
            remove(request, key);
        }
        return Ok(Some(changed(found, "null".into(), fact)));
    }
    let Some((fact, takes_required)) = while_thinking(request, surface)? else { return Ok(None) };
    if !is_refused(choice.as_ref(), takes_required) {
        return Ok(None);
    }
    choice::replace(request, if takes_required { &Choice::Required } else { &Choice::Auto }, api)?;
    let sent = request.get("tool_choice").map(json::write).unwrap_or_default();
    Ok(Some(changed(found, sent, fact)))
}

/// Whether a model that thinks refuses a choice.
fn is_refused(choice: Option<&Choice<'_>>, takes_required: bool) -> bool {
    match choice {
        Some(Choice::Tool(_)) => true,
        Some(Choice::Required) => !takes_required,
        _ => false,
    }
}

/// Returns the fact that the choice of a request breaks, if [`mend_choice`] would change or refuse it.
pub(super) fn broken_by_choice(
    request: &Node<'_>,
    api: Api,
    surface: &Surface,
) -> Result<Option<&'static RequestFact>, Error> {
    let Some((_, choice)) = choice_of(request, api)? else { return Ok(None) };
    if let Some(fact) = without_tools(request, api, surface)? {
        return Ok(Some(fact));
    }
    let found = while_thinking(request, surface)?;
    let broken = found.filter(|(_, takes_required)| is_refused(choice.as_ref(), *takes_required));
    Ok(broken.map(|(fact, _)| fact))
}

/// Returns the change of a choice, as both parts of the report have it.
fn changed(found: String, sent: String, fact: &'static RequestFact) -> (ChoiceChange, RequestChange) {
    let message = if sent == "null" { "left out `tool_choice`" } else { "weakened `tool_choice`" };
    let change = RequestChange::new("/tool_choice", fact, message);
    (ChoiceChange { found, sent, because: fact.source }, change)
}

/// Returns the choice of a request as JSON and as read, if it has one.
pub(super) fn choice_of<'a>(request: &Node<'a>, api: Api) -> Result<Option<(String, Option<Choice<'a>>)>, Error> {
    let Some(written) = request.get("tool_choice").filter(|_| api != Api::Gemini) else { return Ok(None) };
    let written = view(written)?;
    Ok((!written.is_null()).then(|| (json::write(&written), choice::read(&written))))
}

/// Returns the fact that a choice needs tools, if the API has this rule and the request has none.
fn without_tools(request: &Node<'_>, api: Api, surface: &Surface) -> Result<Option<&'static RequestFact>, Error> {
    let Some(fact) = surface.requests.iter().find(|fact| fact.refuses == Refusal::ChoiceWithoutTools) else {
        return Ok(None);
    };
    if let Some(tools) = request.get("tools") {
        let tools = view(tools)?;
        if tools.as_array().map_or(!tools.is_null(), |list| !list.is_empty()) {
            return Ok(None);
        }
    }
    // Stored prompts of Responses may have tools, and so may items of the history.
    let has_prompt = request.get("prompt").is_some_and(|prompt| !prompt.is_null());
    Ok((!has_prompt && carriers::lists(request, api)?.is_empty()).then_some(fact))
}

/// Returns the fact that some choices are refused, and whether `required` is not among them, if the model thinks.
fn while_thinking(request: &Node<'_>, surface: &Surface) -> Result<Option<(&'static RequestFact, bool)>, Error> {
    let model = request::model(request)?;
    let found = surface.requests.iter().find_map(|fact| match fact.refuses {
        Refusal::ChoiceWhileThinking { models, thinks, required } if models.include(&model) => {
            Some((fact, thinks, required))
        }
        _ => None,
    });
    let Some((fact, thinks, required)) = found else { return Ok(None) };
    let thinking = request.get("thinking").map(view).transpose()?;
    let kind = thinking.as_deref().and_then(|thinking| thinking.get("type"));
    let is = |name: &str| kind.is_some_and(|kind| kind.is_text(name));
    let enabled = request.get("enable_thinking").map(view).transpose()?;
    let is_enabled = enabled.is_some_and(|enabled| enabled.as_bool() == Some(true));
    let does_think = match thinks {
        Thinks::Always => true,
        Thinks::ByDefault => !is("disabled"),
        Thinks::IfAsked => is("enabled") || is("adaptive"),
        Thinks::IfEnabled => is_enabled,
    };
    Ok(does_think.then_some((fact, required)))
}
