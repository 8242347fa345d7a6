//! Members of a request that an API refuses regardless of the tools.

use alloc::{format, string::String, vec::Vec};

use super::request_facts::{is_set, RequestChange};
use crate::{
    dialect::{
        requests::{Member, Refusal, RequestFact, SentAs},
        surface::Surface,
    },
    error::Error,
    json::{self, lazy::view, Node},
    options::Api,
};

/// Renames or removes the members that the API refuses.
///
/// # Errors
/// `invalid-json` if a member is text that cannot be read.
pub(super) fn mend(request: &mut Node<'_>, api: Api, facts: (&Surface, &str)) -> Result<Vec<RequestChange>, Error> {
    let mut changes = Vec::new();
    for (fact, member) in refused(request, api, facts)? {
        let Some(value) = request.remove(member.name) else { continue };
        let sent = match member.sent_as {
            SentAs::Nothing => None,
            SentAs::Member(name) => Some((name, value)),
            SentAs::Part { part, name } => {
                let part = view(&value)?.get(part).filter(|part| part.as_text().is_some()).cloned();
                part.map(|value| (name, value))
            }
        };
        let sent = sent.filter(|(name, _)| !request.get(*name).is_some_and(is_set));
        let message = match (&sent, member.sent_as) {
            (Some((name, _)), SentAs::Part { part, .. }) => {
                format!("sent `{part}` of `{}` as `{name}`, and removed the rest", member.name)
            }
            (Some((name, _)), _) => format!("sent `{}` as `{name}`", member.name),
            (None, _) => format!("removed `{}`", member.name),
        };
        if let Some((name, value)) = sent {
            request.set(name, value);
        }
        changes.push(RequestChange::new(pointer(member), fact, message));
    }
    Ok(changes)
}

/// Returns the members of a request that the API refuses, each with its fact.
pub(super) fn refused(
    request: &Node<'_>,
    api: Api,
    (surface, model): (&Surface, &str),
) -> Result<Vec<(&'static RequestFact, &'static Member)>, Error> {
    let mut found: Vec<(&RequestFact, &Member)> = Vec::new();
    for fact in surface.requests {
        let Refusal::Member(member) = &fact.refuses else { continue };
        let is_known = found.iter().any(|(_, other)| other.name == member.name);
        if member.api == api && member.models.include(model) && !is_known && has(request, member)? {
            found.push((fact, member));
        }
    }
    Ok(found)
}

/// Returns true if a request has a member, and lacks the other member that makes the API accept it.
fn has(request: &Node<'_>, member: &Member) -> Result<bool, Error> {
    if !request.get(member.name).is_some_and(is_set) {
        return Ok(false);
    }
    let Some((name, value)) = member.unless else { return Ok(true) };
    let found = request.get(name).map(view).transpose()?;
    Ok(found.is_none_or(|found| json::write(&found) != value))
}

pub(super) fn pointer(member: &Member) -> String {
    format!("/{}", member.name)
}
