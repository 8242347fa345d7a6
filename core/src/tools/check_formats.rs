//! Checks the response formats of a request against the rules of an API.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use super::formats;
use crate::{
    dialect::{
        formats::SCHEMA,
        requests::{FormatRule, Refusal, RequestFact},
        Dialect,
    },
    error::Error,
    json::{lazy::view, Data, Node},
    options::Api,
    report::Severity,
    request::{
        formats::{json_mode, pointers},
        tool::has_type,
        tool_format::{self, Entry},
    },
};

/// A rule that the response formats of a request violate.
pub(super) struct Broken {
    pub(super) fact: &'static RequestFact,
    pub(super) severity: Severity,
    pub(super) pointer: String,
    pub(super) message: String,
}

/// Returns the rules that the response formats of a request violate.
///
/// # Errors
/// `invalid-json` if a part of the request is text that cannot be read.
pub(super) fn broken(
    request: &mut Node<'_>,
    api: Api,
    dialect: &'static Dialect,
    model: &str,
) -> Result<Vec<Broken>, Error> {
    let schemas = pointers(request, api)?;
    let schema = schemas.last().map(|(pointer, _)| pointer.as_str());
    let mode = json_mode(request, api)?;
    let any = schema.or(mode.as_deref());
    let mut found = Vec::new();
    let mut add = |fact: &'static RequestFact, pointer: &str| {
        let message = format!("expected a different request: {}", fact.statement);
        found.push(Broken { fact, severity: fact.severity, pointer: pointer.to_string(), message });
    };
    for fact in dialect.requests() {
        let Refusal::Format(rule) = fact.refuses else { continue };
        let pointer = match rule {
            FormatRule::Schema(of) if of == api => {
                schemas.iter().find(|(_, place)| place.is_main).map(|(pointer, _)| pointer.as_str())
            }
            FormatRule::ByModel(models) if models.include(model) => schema,
            FormatRule::BesideTools { models, only_json } if models.include(model) => {
                let pointer = if only_json { mode.as_deref() } else { any };
                pointer.filter(|_| !only_json || schema.is_none())
            }
            FormatRule::BesideHosted { models, .. } if models.include(model) => mode.as_deref(),
            FormatRule::WithoutWord => mode.as_deref(),
            FormatRule::BesidePrefill(of) if of == api => schema,
            _ => None,
        };
        let Some(pointer) = pointer else { continue };
        let is_broken = match rule {
            FormatRule::BesideTools { .. } => has_tools(request, true)?,
            FormatRule::BesideHosted { hosted, .. } => has_entry(request, hosted)?,
            FormatRule::BesidePrefill(_) => ends_with_assistant(request, api)?,
            FormatRule::WithoutWord => schema.is_none() && !mentions_json(request, api)?,
            _ => true,
        };
        if is_broken {
            add(fact, pointer);
        }
    }
    let updates = dialect.requests().iter().find(|fact| fact.refuses == Refusal::Format(FormatRule::Updates));
    if let Some(fact) = updates.filter(|_| api == Api::OpenaiResponses) {
        for at in second_updates(request)? {
            add(fact, &format!("/input/{at}"));
        }
    }
    if let Some((fact, shape)) = formats::name_rule(dialect) {
        for pointer in formats::badly_named(request, api, shape)? {
            add(fact, &pointer);
        }
    }
    for (pointer, violation) in formats::check(request, api, dialect)? {
        let (severity, message) = (violation.severity, violation.message);
        found.push(Broken { fact: &SCHEMA, severity, pointer: pointer + &violation.pointer, message });
    }
    Ok(found)
}

/// Returns true if a request lists tools. If `functions` is true, only functions of the client count.
pub(super) fn has_tools(request: &Node<'_>, functions: bool) -> Result<bool, Error> {
    let Some(tools) = request.get("tools") else { return Ok(false) };
    let tools = view(tools)?;
    let mut list = tools.as_array().unwrap_or_default().iter();
    let is_group = |entry: &Node<'_>| {
        ["functionDeclarations", "function_declarations"].iter().any(|key| entry.get(*key).is_some())
    };
    Ok(list.any(|entry| !functions || is_group(entry) || matches!(tool_format::recognize(entry), Entry::Tool(_))))
}

/// Returns true if an entry of the list of tools has one of these members, which Google's APIs accept in both
/// spellings.
pub(super) fn has_entry(request: &Node<'_>, wanted: &[&str]) -> Result<bool, Error> {
    let Some(tools) = request.get("tools") else { return Ok(false) };
    let tools = view(tools)?;
    Ok(tools.as_array().unwrap_or_default().iter().any(|entry| {
        let members = entry.as_object().map(crate::json::Object::members).unwrap_or_default();
        members.iter().any(|own| {
            let name = own.key.display().replace('_', "");
            wanted.iter().any(|member| name.eq_ignore_ascii_case(member)) && !own.value.is_null()
        })
    }))
}

fn ends_with_assistant(request: &Node<'_>, api: Api) -> Result<bool, Error> {
    let last = request.array_at(api.history()).and_then(<[Node<'_>]>::last);
    let last = last.map(view).transpose()?;
    let Some(message) = last.filter(|message| message.get("role").is_some_and(|role| role.is_text("assistant"))) else {
        return Ok(false);
    };
    // A message that ends with another block is not the beginning of an answer: for example, a turn that paused in a
    // call to a hosted tool continues after the result.
    let last = message.array_at("content").and_then(<[Node<'_>]>::last);
    Ok(last.is_none_or(|block| has_type(block, "text") || api == Api::Bedrock && block.get("text").is_some()))
}

/// Returns true if the last message of a request is the beginning of the answer.
///
/// # Errors
/// `invalid-json` if the message is text that cannot be read.
pub(super) fn begins_answer(request: &Node<'_>, api: Api) -> Result<bool, Error> {
    match api {
        Api::Anthropic | Api::Bedrock => return ends_with_assistant(request, api),
        Api::OpenaiChat | Api::Gemini => {}
        _ => return Ok(false),
    }
    let last = request.array_at(api.history()).and_then(<[Node<'_>]>::last);
    let Some(message) = last.map(view).transpose()? else { return Ok(false) };
    if api == Api::Gemini {
        let parts = message.items_at("parts");
        return Ok(message.get("role").is_some_and(|role| role.is_text("model"))
            && parts.last().is_some_and(|part| part.get("text").is_some()));
    }
    // DeepSeek and Mistral use `prefix`, Moonshot uses `partial`.
    let is_set = |key: &&str| message.bool_at(*key) == Some(true);
    Ok(["prefix", "partial"].iter().any(is_set))
}

/// Returns true if text of a message or of the instructions contains the word JSON.
fn mentions_json(request: &Node<'_>, api: Api) -> Result<bool, Error> {
    for part in ["system", "instructions", api.history()] {
        if request.get(part).map(text_mentions_json).transpose()? == Some(true) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns true if text in the history of a request contains the word JSON.
///
/// # Errors
/// `invalid-json` if a part of the history is text that cannot be read.
pub(super) fn input_mentions_json(request: &Node<'_>, api: Api) -> Result<bool, Error> {
    request.get(api.history()).map_or(Ok(false), text_mentions_json)
}

/// Returns true if any text contains the word JSON. Names of functions and arguments of calls do not count as text.
fn text_mentions_json(node: &Node<'_>) -> Result<bool, Error> {
    let node = view(node)?;
    match node.data() {
        Data::String(text) => Ok(text.display().as_bytes().windows(4).any(|word| word.eq_ignore_ascii_case(b"json"))),
        Data::Array(items) => {
            for item in items {
                if text_mentions_json(item)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        _ => {
            for key in ["content", "text", "output"] {
                if node.get(key).map(text_mentions_json).transpose()? == Some(true) {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }
}

/// Returns the indices of updates that directly follow another update.
fn second_updates(request: &Node<'_>) -> Result<Vec<usize>, Error> {
    let (mut found, mut was_update) = (Vec::new(), false);
    for (at, item) in request.items_at("input").iter().enumerate() {
        let is_update = crate::json::lazy::may_hold(item, crate::request::prefilter::FORMAT)
            && has_type(&*view(item)?, "configuration_update");
        if is_update && was_update {
            found.push(at);
        }
        was_update = is_update;
    }
    Ok(found)
}
