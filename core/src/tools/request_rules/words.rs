//! The messages about violations and their fixes.

use alloc::{format, string::String};

use crate::dialect::{
    requests::RequestFact,
    rule::{Fix, Location, Path, Refused, Rule},
};

fn subject(location: Location) -> String {
    let member = |path: Path, whole: &str| match path {
        [] => String::from(whole),
        path => format!("`{}`", path.join(".")),
    };
    match location {
        Location::Request(path) => member(path, "request"),
        Location::Message(_, path) => member(path, "message"),
        Location::Part(_, path) | Location::SystemPart(path) => member(path, "part"),
        Location::Tool(path) => member(path, "tool"),
        Location::CallId => "id".into(),
        Location::Choice => "choice of tools".into(),
        Location::Beta => "beta".into(),
    }
}

pub(super) fn violation_message(rule: &Rule, fact: &RequestFact) -> String {
    let subject = subject(rule.at);
    let expected = match rule.refuses {
        Refused::Words([beta]) if rule.at == Location::Beta => format!("expected no beta `{beta}`, found it"),
        Refused::Present if matches!(rule.fix, Fix::AddBeta(..)) => {
            format!("expected the beta of {subject}, found none")
        }
        Refused::Present => format!("expected no {subject}, found one"),
        Refused::Absent => format!("expected {subject}, found none"),
        Refused::Null => format!("expected no null {subject}, found one"),
        Refused::Words(_) => format!("expected another {subject}"),
        Refused::NotBegin(prefix) => format!("expected {subject} to begin with `{prefix}`, found another"),
        Refused::NotMatch(pattern) => format!("expected an id of {pattern}, found another"),
        Refused::Repeated | Refused::RepeatedInMessage => "expected calls with different ids, found an id again".into(),
        Refused::Empty => format!("expected no empty {subject}, found one"),
        Refused::Blank => format!("expected no blank {subject}, found one"),
        Refused::Above(maximum) => format!("expected {subject} up to {maximum}, found more"),
        Refused::NotObject => format!("expected an object as {subject}, found another value"),
        Refused::AfterCall => "expected text before the calls of its message, found it after one".into(),
        Refused::After(_) => "expected a message of the model first, found another".into(),
        Refused::First => "expected another part at the start of the message".into(),
        Refused::FirstCallWithout(member) => format!("expected `{member}` next to the call, found none"),
        Refused::Allowed | Refused::AllowedOptional | Refused::Named | Refused::Forbidden => {
            "expected a different choice of tools".into()
        }
        Refused::WithoutResult { .. } => "expected a search with its result, found one without".into(),
        Refused::WithoutTools if rule.at == Location::Choice => "expected tools, found none".into(),
        Refused::WithoutTools => "expected the tools that the history calls, found none".into(),
    };
    format!("{expected}: {}", fact.statement)
}

/// `is_renamed` is false if a value was removed instead of renamed, because the request already has the new name.
pub(super) fn fix_message(rule: &Rule, is_renamed: bool) -> String {
    if let (Location::Beta, Refused::Words([beta])) = (rule.at, rule.refuses) {
        return match rule.fix {
            Fix::Rename(name) => format!("sent the beta `{beta}` as `{name}`"),
            _ => format!("removed the beta `{beta}`"),
        };
    }
    let subject = subject(rule.at);
    match rule.fix {
        Fix::None => String::new(),
        Fix::AddBeta(beta, _) => format!("added the beta `{beta}`"),
        Fix::Rename(name) if is_renamed => format!("sent {subject} as `{name}`"),
        Fix::Take { part, name } if is_renamed => {
            format!("sent `{part}` of {subject} as `{name}`, and removed the rest")
        }
        Fix::Remove | Fix::RemoveList | Fix::Rename(_) | Fix::Take { .. } => format!("removed {subject}"),
        Fix::RemovePart if matches!(rule.refuses, Refused::WithoutResult { .. }) => {
            "removed a search without a result".into()
        }
        Fix::RemovePart => "removed a part without text".into(),
        Fix::Set(value) => format!("set {subject} to `{value}`"),
        Fix::SetOuter(value) => format!("replaced the object with {subject} by `{value}`"),
        Fix::RemoveOuter => format!("removed the object with {subject}"),
        Fix::Wrap(name) => format!("sent {subject} as `{name}` of an object"),
        Fix::MapId => "replaced the id of a call, and of its result".into(),
        Fix::MoveBeforeCalls => "moved text before the calls of its message".into(),
        Fix::InsertMessage(_) => "added a message of the model before the message".into(),
        Fix::ToUser => "sent the message as one of the user".into(),
        Fix::Insert(name, _) => format!("added `{name}`"),
        Fix::DeclareTools => "declared the tools that the history calls".into(),
        Fix::Narrow => "sent only the tools that the choice allows, and a choice that names none".into(),
    }
}
