//! Quarantined tools and the reasons for quarantining them. Warns about tools that are not sent, so that no tool is
//! left out silently.

use alloc::{format, string::String, vec::Vec};

use crate::{
    dialect::DialectId,
    error::{Code, Error},
    json::{Data, Node, Text},
    names,
    naming::Naming,
    options::OnSetAside,
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
    /// The type of a hosted tool: a tool that the API would have to run itself, and that often has no name.
    pub(crate) hosted: Option<String>,
    /// JSON Pointer into the list, to the part that cannot be accepted.
    pub pointer: String,
    /// The reason, in kebab-case: the code of an error of [`sanitize`](crate::sanitize), or a rule about tools.
    pub rule: &'static str,
    /// Human-readable: what was expected, then what was found.
    pub message: String,
}

/// Maximum number of tools that a message lists.
const MAX_LISTED: usize = 10;

pub(crate) fn reasons(list: &[Quarantined], dialect: &str) -> Vec<String> {
    let reason = |tool: &Quarantined| {
        let name = match (&tool.hosted, &tool.name) {
            (Some(kind), _) => format!("the hosted tool `{kind}`"),
            (None, Some(name)) => format!("`{name}`"),
            (None, None) => "a tool without a name".into(),
        };
        let Quarantined { pointer, rule, message, .. } = tool;
        format!("{name} at `{pointer}` for `{dialect}`: {message} (`{rule}`)")
    };
    let mut reasons: Vec<String> = list.iter().take(MAX_LISTED).map(reason).collect();
    if list.len() > MAX_LISTED {
        reasons.push(format!("and {} more", list.len() - MAX_LISTED));
    }
    reasons
}

pub(super) struct Refused {
    pub(super) rule: &'static str,
    pub(super) pointer: String,
    pub(super) message: String,
}

pub(super) fn require_allowed(allow: Allow, changes: &[Change]) -> Result<(), Refused> {
    let Some(worst) = changes.iter().find(|change| Allow::needed_for(change.accepts, change.encoded) > allow) else {
        return Ok(());
    };
    let (needed, allowed) = (Allow::needed_for(worst.accepts, worst.encoded).as_str(), allow.as_str());
    let message =
        format!("expected changes within `allow: \"{allowed}\"`, found one that needs \"{needed}\": {}", worst.message);
    Err(Refused { rule: Code::TooLossy.as_str(), pointer: worst.pointer.clone(), message })
}

pub(super) fn refusal_of_error(error: &Error, at: &str) -> Refused {
    Refused {
        rule: error.code().as_str(),
        pointer: format!("{at}{}", error.pointer()),
        message: error.message().into(),
    }
}

pub(super) fn refusal(rule: &'static str, at: &str, message: String) -> Refused {
    Refused { rule, pointer: at.into(), message }
}

pub(super) fn refusal_of_unknown(entry: &Node<'_>) -> Refused {
    let found = match entry.data() {
        Data::Object(_) => "an object without any of them",
        _ => entry.kind(),
    };
    refusal(
        Constraint::NotATool.id(),
        "",
        format!("expected a tool (an object with a name, a schema or the type of a hosted tool), found {found}"),
    )
}

pub(super) fn refusal_of_nameless(shape: ToolShape, entry: &Node<'_>) -> Refused {
    let found = match shape.part(entry, "name") {
        None => "none",
        Some(name) if name.as_text().is_some() => "an empty string",
        Some(name) => name.kind(),
    };
    refusal(
        Constraint::NamelessTool.id(),
        &pointer(&shape.pointer_to("name")),
        format!("expected the name to be a string, found {found}"),
    )
}

/// A warning that tools are not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetAsideWarning {
    /// Human-readable: the tools, the dialect, the reason for each tool, and advice.
    pub message: String,
    /// Key that is equal for equal tools, dialects and reasons, so that a caller can show each warning once.
    pub key: String,
}

/// # Errors
/// `not-representable` with [`OnSetAside::Error`].
pub(crate) fn set_aside_warning(
    on_set_aside: OnSetAside,
    dialect: DialectId,
    list: &[Quarantined],
    naming: Naming,
) -> Result<Option<SetAsideWarning>, Error> {
    let Some(first) = list.first() else { return Ok(None) };
    let (reasons, count) = (message(dialect, list, naming), list.len());
    let tools = if count == 1 { String::from("1 tool") } else { format!("{count} tools") };
    match on_set_aside {
        OnSetAside::Warn => {
            let verb = if count == 1 { "was" } else { "were" };
            let message = format!("{tools} {verb} not sent: {reasons}");
            Ok(Some(SetAsideWarning { message, key: key(dialect, list) }))
        }
        OnSetAside::Error => {
            let message = format!("expected to send every tool, found {tools} that cannot be sent: {reasons}");
            Err(Error::new(Code::NotRepresentable, first.pointer.as_str(), message))
        }
    }
}

/// A digest of all tools, because the message lists only the first few.
fn key(dialect: DialectId, list: &[Quarantined]) -> String {
    let mut texts: Vec<Text<'_>> = Vec::from([Text::new(dialect.as_str())]);
    for Quarantined { name, pointer, rule, .. } in list {
        texts.extend([Text::new(name.as_deref().unwrap_or_default()), Text::new(pointer.as_str()), Text::new(*rule)]);
    }
    names::digest(&texts.iter().collect::<Vec<_>>())
}

fn message(dialect: DialectId, list: &[Quarantined], naming: Naming) -> String {
    let why = reasons(list, dialect.as_str()).join("; ");
    let mut advice: Vec<String> = Vec::new();
    for remedy in list.iter().map(|tool| remedy(tool, naming)) {
        if !advice.contains(&remedy) {
            advice.push(remedy);
        }
    }
    format!("{why}. What to do: {}", advice.join("; "))
}

fn remedy(tool: &Quarantined, naming: Naming) -> String {
    if let Some(kind) = &tool.hosted {
        return format!(
            "turn `{kind}` off in the client's settings, or use an API that runs it; a function, or a tool of an MCP \
                server, can replace it for every API"
        );
    }
    let is = |constraints: &[Constraint]| constraints.iter().any(|constraint| constraint.id() == tool.rule);
    let (fallback, max_tools) = (naming.spell("fallback"), naming.spell("maxTools"));
    if is(&[Constraint::NotATool, Constraint::NamelessTool]) {
        "give the tool a name and a schema, or leave it out".into()
    } else if is(&[Constraint::DuplicateName]) {
        "rename one of the tools that share a name".into()
    } else if is(&[Constraint::TooManyTools]) {
        format!("leave tools out or defer them, or raise `{max_tools}` if the API accepts more")
    } else if tool.rule == Code::TooLossy.as_str() {
        format!("allow more changes with `allow`, or set `{fallback}` to a dialect that can express the schema")
    } else {
        let check = naming.spell("checkTools");
        format!(
            "correct the schema (`{check}` lists everything that the API refuses), or set `{fallback}` to a dialect \
                that can express it"
        )
    }
}
