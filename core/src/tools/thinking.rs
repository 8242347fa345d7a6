//! Choices of tools beside thinking: some models refuse a demand for a call while they think.

use alloc::string::String;

use crate::{
    dialect::surface::Surface,
    error::Error,
    json::{self, lazy::view, Node},
    request::{
        self,
        api::Api,
        choice::{self, Choice},
    },
};

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

/// Weakens a choice that the model refuses while it thinks.
pub(super) fn beside_thinking(
    request: &mut Node<'_>,
    api: Api,
    surface: &Surface,
) -> Result<Option<ChoiceChange>, Error> {
    let (Some(choice), true) = (request.get("tool_choice"), api != Api::Gemini) else { return Ok(None) };
    let model = request::model(request)?;
    let Some(rule) = surface.thinking.iter().find(|rule| model.starts_with(rule.model)) else { return Ok(None) };
    let mut thinks = rule.always.is_some_and(|part| model.contains(part));
    if let Some(thinking) = request.get("thinking") {
        let thinking = view(thinking)?;
        thinks |= thinking.get("type").is_some_and(|kind| kind.is_text("enabled") || kind.is_text("adaptive"));
    }
    let choice = view(choice)?;
    let (found, wanted) = (json::write(&choice), choice::read(&choice));
    let is_refused = match wanted {
        Some(Choice::Tool(_)) => true,
        Some(Choice::Required) => !rule.required,
        _ => false,
    };
    drop(choice);
    if !thinks || !is_refused {
        return Ok(None);
    }
    choice::replace(request, if rule.required { &Choice::Required } else { &Choice::Auto }, api)?;
    let sent = request.get("tool_choice").map(json::write).unwrap_or_default();
    Ok(Some(ChoiceChange { found, sent, because: rule.source }))
}
