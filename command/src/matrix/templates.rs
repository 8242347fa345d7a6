//! Chat templates of open models, which refuse tools that the server accepts: docs/templates.md.

use toolwire::{internal, json::Node, reports::Severity, Dialect, Error, SanitizeOptions};

use super::Named;
use crate::{input::Subject, places::value_at};

/// A chat template that refuses tools.
#[derive(Debug)]
pub(super) struct Template {
    /// Name of the file, as in `--template`.
    pub(super) file: &'static str,
    /// Number of tools that the template refuses although the server accepts them.
    pub(super) refused: usize,
    /// Number of these tools that cannot be rewritten for the template.
    pub(super) left: usize,
}

/// Returns the templates of a server that refuse some of the tools.
pub(super) fn refusing(
    dialect: &'static Dialect,
    subject: &Subject<'_>,
    tools: &[Named],
) -> Result<Vec<Template>, Error> {
    let known: Vec<&'static str> =
        dialect.templates().filter(|(_, refused)| refused.is_some()).map(|(file, _)| file).collect();
    if known.is_empty() {
        return Ok(Vec::new());
    }
    let plain = SanitizeOptions::new(dialect.name);
    let is_refused = |schema: &Node<'_>, options: &SanitizeOptions| -> Result<bool, Error> {
        let found = internal::check(schema, options)?;
        Ok(found.iter().any(|violation| violation.severity == Severity::Refused))
    };
    let mut accepted: Vec<&Node<'_>> = Vec::new();
    for schema in schemas(subject, tools) {
        if !is_refused(schema, &plain)? {
            accepted.push(schema);
        }
    }
    let mut found = Vec::new();
    for file in known {
        let options = SanitizeOptions::new(dialect.name).template(file);
        let mut template = Template { file, refused: 0, left: 0 };
        for schema in &accepted {
            if is_refused(schema, &options)? {
                template.refused += 1;
                template.left += usize::from(internal::sanitize(&mut (*schema).clone(), &options, false).is_err());
            }
        }
        if template.refused > 0 {
            found.push(template);
        }
    }
    found.sort_by_key(|template| std::cmp::Reverse(template.refused));
    Ok(found)
}

fn schemas<'n, 'a>(subject: &'n Subject<'a>, tools: &[Named]) -> Vec<&'n Node<'a>> {
    match subject {
        Subject::Schemas(schemas) => schemas.iter().collect(),
        Subject::Tools(list) | Subject::Request(list) => {
            tools.iter().filter_map(|tool| value_at(list, &tool.pointer).and_then(internal::schema_of)).collect()
        }
    }
}
