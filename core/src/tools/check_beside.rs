//! Finds parts of a request that an API does not combine: functions and hosted tools; a cache and members that the
//! cache contains.

use super::check_formats::{has_entry, has_tools};
use crate::{
    dialect::requests::{Refusal, RequestFact},
    error::Error,
    json::{lazy::view, Node},
    options::Api,
};

/// Members of a request in both spellings that Google's APIs accept.
const CACHE: [&str; 2] = ["cachedContent", "cached_content"];
const CONFIG: [&str; 2] = ["toolConfig", "tool_config"];
const BESIDE_CACHE: [(&str, &str); 5] = [
    ("tools", "/tools"),
    (CONFIG[0], "/toolConfig"),
    (CONFIG[1], "/tool_config"),
    ("systemInstruction", "/systemInstruction"),
    ("system_instruction", "/system_instruction"),
];

/// Returns the pointer to the part of a request that violates a fact, if there is one.
///
/// # Errors
/// `invalid-json` if a part of the request is text that cannot be read.
pub(super) fn broken(
    request: &Node<'_>,
    api: Api,
    fact: &RequestFact,
    model: &str,
) -> Result<Option<&'static str>, Error> {
    if api != Api::Gemini {
        return Ok(None);
    }
    match fact.refuses {
        Refusal::FunctionsBesideHosted { models, hosted, unless } => {
            let is_broken = models.include(model)
                && has_tools(request, true)?
                && has_entry(request, hosted)?
                && !unless.map_or(Ok(false), |member| is_set(request, member))?;
            Ok(is_broken.then_some("/tools"))
        }
        Refusal::BesideCache => {
            let given = |(key, _): &&(&str, &str)| request.get(*key).is_some_and(|member| !member.is_null());
            Ok(BESIDE_CACHE.iter().find(given).filter(|_| has_cache(request)).map(|(_, pointer)| *pointer))
        }
        _ => Ok(None),
    }
}

/// Returns true if a request continues from a cached prefix of the prompt.
pub(super) fn has_cache(request: &Node<'_>) -> bool {
    CACHE.iter().any(|key| request.get(*key).is_some_and(|cache| !cache.is_null()))
}

/// Returns true if the configuration of tools has this member with the value true.
fn is_set(request: &Node<'_>, member: &str) -> Result<bool, Error> {
    for config in CONFIG.iter().filter_map(|key| request.get(*key)) {
        let config = view(config)?;
        let mut members = config.as_object().into_iter().flatten();
        if members.any(|own| {
            own.key.display().replace('_', "").eq_ignore_ascii_case(member) && own.value.as_bool() == Some(true)
        }) {
            return Ok(true);
        }
    }
    Ok(false)
}
