//! `custom` tools of OpenAI Responses as functions, for backends of that format which refuse them.

use alloc::{string::String, vec::Vec};

use super::{
    compact::compact,
    lazy::{edit, edit_member, may_hold},
    prefilter,
    report::Warnings,
    tool::{self, has_type, remove},
    writer::function,
};
use crate::{
    error::Error,
    json::{Node, Text},
    options::{CustomTools, Format},
};

/// Makes functions of them, and calls of functions of their calls; gives their names.
///
/// # Errors
/// `invalid-value` for half a surrogate pair in a grammar.
pub(super) fn as_functions(request: &mut Node<'_>, warnings: &mut Warnings) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    tools_as_functions(request, &mut names, warnings)?;
    edit_member(request, "tool_choice", |choice| {
        as_function(choice);
        choice.visit("tools", |tools| {
            tools.visit_children(|_, tool| {
                as_function(tool);
                Ok::<(), Error>(())
            })
        });
        Ok(())
    })?;
    let items = request.visit("input", |input| {
        input.visit_children(|_, item| {
            if may_hold(item, prefilter::CALL | prefilter::CARRIER) {
                edit(item, |item| {
                    item_as_function(item);
                    if has_type(item, "additional_tools") || has_type(item, "tool_search_output") {
                        tools_as_functions(item, &mut names, warnings)?;
                    }
                    Ok(())
                })?;
            }
            Ok(())
        })
    });
    items.transpose()?;
    Ok(names)
}

/// Those of a list, and of its namespaces.
fn tools_as_functions(holder: &mut Node<'_>, names: &mut Vec<String>, warnings: &mut Warnings) -> Result<(), Error> {
    let tools = edit_member(holder, "tools", |tools| {
        tools.visit_children(|_, tool| {
            if has_type(tool, "custom") {
                *tool = as_one(core::mem::take(tool), names, warnings)?;
                return Ok(());
            }
            let inner = tool.visit("tools", |inner| {
                inner.visit_children(|_, tool| {
                    if has_type(tool, "custom") {
                        *tool = as_one(core::mem::take(tool), names, warnings)?;
                    }
                    Ok::<(), Error>(())
                })
            });
            inner.unwrap_or(Ok(()))
        })
    });
    tools.map(drop)
}

fn as_one<'a>(custom: Node<'a>, names: &mut Vec<String>, warnings: &mut Warnings) -> Result<Node<'a>, Error> {
    const BOTH: (Format, Format) = (Format::OpenaiResponses, Format::OpenaiResponses);
    names.extend(tool::name(&custom).map(|name| name.display().into_owned()));
    Ok(function::write(custom, BOTH, CustomTools::Function, warnings)?.unwrap_or_default())
}

fn as_function(named: &mut Node<'_>) {
    if has_type(named, "custom") {
        set(named, "type", Node::literal("function"));
    }
}

fn item_as_function(item: &mut Node<'_>) {
    if has_type(item, "custom_tool_call_output") {
        set(item, "type", Node::literal("function_call_output"));
    } else if has_type(item, "custom_tool_call") {
        let input = item.visit("input", core::mem::take).filter(|input| input.as_text().is_some());
        let mut arguments = String::new();
        compact(&Node::record([("input", input.unwrap_or_else(|| Node::literal("")))]), &mut arguments);
        set(item, "type", Node::literal("function_call"));
        // An item's own id says of what kind it is (`ctc_…`), and the API holds it to that.
        remove(item, "id");
        set(item, "input", Node::string(arguments));
        if let Some(object) = item.as_object_mut() {
            let members = object.members_mut();
            if let Some(member) = members.iter_mut().find(|member| member.key.is("input")) {
                member.key = Text::literal("arguments");
            }
        }
    }
}

fn set<'a>(node: &mut Node<'a>, key: &'static str, value: Node<'a>) {
    if let Some(object) = node.as_object_mut() {
        object.set(key, value);
    }
}
