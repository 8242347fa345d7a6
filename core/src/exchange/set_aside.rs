//! What is told of tools that are not sent: nothing is left out in silence.

use alloc::{format, string::String, vec::Vec};

use crate::{
    error::{Code, Error},
    json::Text,
    names,
    naming::Naming,
    rules::Constraint,
    tools::{
        quarantine::{reasons, Quarantined},
        request::AdaptReport,
    },
};

/// A warning that tools are not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetAsideWarning {
    /// For people: the tools, the dialect, why each was set aside, and what to do.
    pub message: String,
    /// The same for the same tools, dialect and reasons: who has told it once need not tell it again.
    pub key: String,
}

/// The warning, if there is anything to be told.
pub(super) fn warning(report: &AdaptReport, naming: Naming) -> Option<SetAsideWarning> {
    let message = message(report, naming)?;
    // Of all of them: the message names the first few.
    let mut told: Vec<Text<'_>> = Vec::from([Text::new(report.dialect)]);
    for Quarantined { name, pointer, rule, .. } in &report.quarantined {
        told.extend([Text::new(name.as_deref().unwrap_or_default()), Text::new(pointer.as_str()), Text::new(*rule)]);
    }
    let key = names::digest(&told.iter().collect::<Vec<_>>());
    Some(SetAsideWarning { message, key })
}

/// The error where none may be missing.
pub(super) fn refused(report: &AdaptReport, naming: Naming) -> Option<Error> {
    let first = report.quarantined.first()?;
    Some(Error::new(Code::NotRepresentable, first.pointer.as_str(), message(report, naming)?))
}

fn message(report: &AdaptReport, naming: Naming) -> Option<String> {
    let list = &report.quarantined;
    let count = match list.len() {
        0 => return None,
        1 => String::from("1 tool"),
        many => format!("{many} tools"),
    };
    let why = reasons(list, report.dialect).join("; ");
    let mut advice: Vec<String> = Vec::new();
    for one in list.iter().map(|tool| remedy(tool, naming)) {
        if !advice.contains(&one) {
            advice.push(one);
        }
    }
    Some(format!("expected to send every tool, set {count} aside: {why}. What to do: {}", advice.join("; ")))
}

/// What mends it.
fn remedy(tool: &Quarantined, naming: Naming) -> String {
    let is = |constraints: &[Constraint]| constraints.iter().any(|one| one.id() == tool.rule);
    let (fallback, max_tools) = (naming.spell("fallback"), naming.spell("maxTools"));
    if is(&[Constraint::NotATool, Constraint::NamelessTool]) {
        "give the tool a name and a schema, or leave it out".into()
    } else if is(&[Constraint::DuplicateName]) {
        "rename one of the tools of one name".into()
    } else if is(&[Constraint::TooManyTools]) {
        format!("leave tools out or defer them, or raise `{max_tools}` where the API takes more")
    } else if tool.rule == Code::TooLossy.as_str() {
        format!("let `allow` permit more, or set `{fallback}` to a dialect that can say the schema")
    } else {
        let check = naming.spell("checkTools");
        format!(
            "mend the schema (`{check}` finds all that the API refuses), or set `{fallback}` to a dialect that can \
                say it"
        )
    }
}
