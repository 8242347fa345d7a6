//! Quarantined tools and the reasons for quarantining them.

use alloc::{format, string::String, vec::Vec};

use crate::{
    error::{Code, Error},
    json::{Data, Node},
    report::{Allow, Change},
    request::tool_format::{pointer, ToolShape},
    rules::Constraint,
};

/// A tool that is not sent, with the reason. The other tools are not affected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quarantined {
    /// The tool's name, if it has one.
    pub name: Option<String>,
    /// The tool's server, if the list has several servers.
    pub server: Option<String>,
    /// JSON Pointer into the list, to the part that cannot be accepted.
    pub pointer: String,
    /// The reason, in kebab-case: the code of an error of [`sanitize`](crate::sanitize), or a rule about tools.
    pub rule: &'static str,
    /// For people: what was expected, then what was found.
    pub message: String,
}

/// Maximum number of tools that a message lists.
const NAMED: usize = 10;

/// Returns the reasons for quarantining the tools of a list, for a message.
pub(crate) fn reasons(list: &[Quarantined], dialect: &str) -> Vec<String> {
    let one = |tool: &Quarantined| {
        let name = tool.name.as_deref().map_or("a tool without a name".into(), |name| format!("`{name}`"));
        let Quarantined { pointer, rule, message, .. } = tool;
        format!("{name} at `{pointer}` for `{dialect}`: {message} (`{rule}`)")
    };
    let mut reasons: Vec<String> = list.iter().take(NAMED).map(one).collect();
    if list.len() > NAMED {
        reasons.push(format!("and {} more", list.len() - NAMED));
    }
    reasons
}

/// The reason why a tool is quarantined.
pub(super) struct Refused {
    pub(super) rule: &'static str,
    pub(super) pointer: String,
    pub(super) message: String,
}

pub(super) fn within(allow: Allow, changes: &[Change]) -> Result<(), Refused> {
    let Some(worst) = changes.iter().find(|change| Allow::needed_for(change.accepts, change.encoded) > allow) else {
        return Ok(());
    };
    let (needed, allowed) = (Allow::needed_for(worst.accepts, worst.encoded).as_str(), allow.as_str());
    let message =
        format!("expected changes within `allow: \"{allowed}\"`, found one that needs \"{needed}\": {}", worst.message);
    Err(Refused { rule: Code::TooLossy.as_str(), pointer: worst.pointer.clone(), message })
}

pub(super) fn failed(error: &Error, at: &str) -> Refused {
    Refused {
        rule: error.code().as_str(),
        pointer: format!("{at}{}", error.pointer()),
        message: error.message().into(),
    }
}

pub(super) fn refused(rule: &'static str, at: &str, message: String) -> Refused {
    Refused { rule, pointer: at.into(), message }
}

pub(super) fn unknown(entry: &Node<'_>) -> Refused {
    let found = match entry.data() {
        Data::Object(_) => "an object without any of them",
        _ => entry.kind(),
    };
    refused(
        Constraint::NotATool.id(),
        "",
        format!("expected a tool (an object with a name, a schema or the type of a hosted tool), found {found}"),
    )
}

pub(super) fn nameless(shape: ToolShape, entry: &Node<'_>) -> Refused {
    let found = match shape.part(entry, "name") {
        None => "none",
        Some(name) if name.as_text().is_some() => "an empty string",
        Some(name) => name.kind(),
    };
    refused(
        Constraint::NamelessTool.id(),
        &pointer(&shape.pointer_to("name")),
        format!("expected the name to be a string, found {found}"),
    )
}
