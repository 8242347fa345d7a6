//! Picks the tool or schema that a command works on.

use super::{
    error::CommandError,
    input::{Named, Subject},
    terminal::{counted, cut, shown},
};

/// Returns the entry that `--tool` names, or the only one.
pub(crate) fn pick(
    subject: &Subject<'_>,
    entries: &[Named],
    tool: Option<&str>,
    command: &str,
) -> Result<Named, CommandError> {
    let is_about_schemas = matches!(subject, Subject::Schemas(_));
    let found = || counted(entries.len(), subject.noun());
    let message = match (tool, entries) {
        (Some(wanted), _) if is_about_schemas => {
            format!("expected no `--tool` because a schema has no name, found `{}`", shown(wanted))
        }
        (Some(wanted), _) => match entries.iter().find(|entry| entry.name.as_deref() == Some(wanted)) {
            Some(entry) => return Ok(entry.clone()),
            None => format!("expected `--tool` to be one of {}, found `{}`", names(entries), shown(wanted)),
        },
        (None, [only]) => return Ok(only.clone()),
        (None, _) if is_about_schemas => {
            format!("expected one schema, found {}: `{command}` accepts one at a time", found())
        }
        (None, _) => {
            format!("expected one tool, or `--tool` with the name of one, found {}: {}", found(), names(entries))
        }
    };
    Err(CommandError::new("", message))
}

fn names(entries: &[Named]) -> String {
    let names = entries.iter().filter_map(|entry| entry.name.as_deref());
    let names: Vec<String> = names.map(|name| format!("`{}`", shown(name))).collect();
    if names.is_empty() {
        return "no names".into();
    }
    cut(&names.join(", "), 1_000).into_owned()
}
