//! Rewrites the `outputSchema` of MCP tools for clients that read it: one schema that a client refuses can cost all
//! tools of a server.

use alloc::{format, string::String, vec::Vec};

use super::target::{about, reason};
use crate::{
    dialect::Dialect,
    json::Node,
    options::{SanitizeOptions, ToolFormat, Use},
    report::{Accepts, Change, Detail, Guidance},
    request::tool_format::{pointer, ToolShape},
    rules::{Constraint, Rule},
    sanitize,
};

/// Member of an MCP tool that contains its output schema.
const KEY: &str = "outputSchema";

/// Rewrites the `outputSchema` of a tool. Removes it if the rewritten schema would not accept everything that the
/// original accepts, because the results of the server have to stay valid. A schema without violations is not changed.
pub(super) fn settle(
    entry: &mut Node<'_>,
    format: ToolFormat,
    shape: ToolShape,
    dialect: &'static Dialect,
    changes: &mut Vec<Change>,
) {
    let (Some(of_output), ToolFormat::Mcp) = (dialect.tools.output, format) else { return };
    let Some(mut schema) = entry.get(KEY).cloned() else { return };
    let options = SanitizeOptions::new(of_output.name).used_as(Use::Output);
    let at = pointer(&shape.pointer_to(KEY));
    let is_narrower = |change: &&Change| change.accepts != Accepts::Same && change.accepts != Accepts::Wider;
    let (reason, why) = match sanitize::sanitize_with_plan(&mut schema, &options, Detail::Whole) {
        Ok((own, _)) if own.is_empty() => return,
        Ok((own, _)) => match own.iter().find(is_narrower) {
            None => {
                changes.extend(own.into_iter().map(|mut change| {
                    change.pointer.insert_str(0, &at);
                    if let Some(output) = &mut change.output_pointer {
                        output.insert_str(0, &at);
                    }
                    change
                }));
                entry.set(KEY, schema);
                return;
            }
            Some(change) => (change.reason.clone(), change.message.clone()),
        },
        Err(error) => (reason(of_output, Constraint::RootObject), String::from(error.message())),
    };
    entry.remove(KEY);
    let message = format!("removed `{KEY}`: {why}");
    changes.push(about(Rule::DropOutputSchema, (at, None), Guidance::Lost, reason, message));
}

/// Returns the member of an API's function that contains the output schema of an MCP tool, and the schema as the server
/// defines it.
pub(super) fn sent<'a>(
    entry: &Node<'a>,
    (format, shape): (ToolFormat, ToolShape),
    dialect: &'static Dialect,
) -> Option<(&'static str, Node<'a>)> {
    let is_of_mcp = shape.format() == Some(ToolFormat::Mcp) && format == ToolFormat::OpenaiResponses;
    let member = dialect.tools.result_member.filter(|_| is_of_mcp)?;
    entry.get(KEY).filter(|schema| schema.as_object().is_some()).map(|schema| (member, schema.clone()))
}
