//! Warns about tools that are not sent, so that no tool is left out silently.

use alloc::{format, string::String, vec::Vec};

use super::quarantine::{reasons, Quarantined};
use crate::{
    error::{Code, Error},
    json::Text,
    names,
    naming::Naming,
    options::OnSetAside,
    rules::Constraint,
};

/// A warning that tools are not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetAsideWarning {
    /// For people: the tools, the dialect, the reason for each tool, and advice.
    pub message: String,
    /// Key that is equal for equal tools, dialects and reasons, so that a caller can show each warning once.
    pub key: String,
}

/// Returns the warning about tools that were set aside, or an error if the caller does not allow that.
///
/// # Errors
/// `not-representable` with [`OnSetAside::Error`].
pub(crate) fn warning(
    on_set_aside: OnSetAside,
    dialect: &'static str,
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

/// Returns a digest of all tools, because the message lists only the first few.
fn key(dialect: &'static str, list: &[Quarantined]) -> String {
    let mut texts: Vec<Text<'_>> = Vec::from([Text::new(dialect)]);
    for Quarantined { name, pointer, rule, .. } in list {
        texts.extend([Text::new(name.as_deref().unwrap_or_default()), Text::new(pointer.as_str()), Text::new(*rule)]);
    }
    names::digest(&texts.iter().collect::<Vec<_>>())
}

/// Returns the reasons for the first tools, and advice.
fn message(dialect: &'static str, list: &[Quarantined], naming: Naming) -> String {
    let why = reasons(list, dialect).join("; ");
    let mut advice: Vec<String> = Vec::new();
    for one in list.iter().map(|tool| remedy(tool, naming)) {
        if !advice.contains(&one) {
            advice.push(one);
        }
    }
    format!("{why}. What to do: {}", advice.join("; "))
}

/// Returns advice for one tool.
fn remedy(tool: &Quarantined, naming: Naming) -> String {
    let is = |constraints: &[Constraint]| constraints.iter().any(|one| one.id() == tool.rule);
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
