//! `custom` tools of OpenAI Responses as functions, for backends of that format which refuse them.

use alloc::string::String;

use super::{
    compact::compact,
    lazy::{edit, edit_member, may_hold},
    prefilter,
    report::Warnings,
    tool::has_type,
    writer::function,
};
use crate::{
    error::Error,
    json::{Node, Text},
    options::{CustomTools, Format},
};

/// Makes functions of them, and calls of functions of their calls.
///
/// # Errors
/// `invalid-value` for half a surrogate pair in a grammar.
pub(super) fn as_functions(request: &mut Node<'_>, warnings: &mut Warnings) -> Result<(), Error> {
    const BOTH: (Format, Format) = (Format::OpenaiResponses, Format::OpenaiResponses);
    let tools = request.visit("tools", |tools| {
        tools.visit_children(|_, tool| {
            if has_type(tool, "custom") {
                let custom = core::mem::take(tool);
                *tool = function::write(custom, BOTH, CustomTools::Function, warnings)?.unwrap_or_default();
            }
            Ok(())
        })
    });
    tools.transpose()?;
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
            if may_hold(item, prefilter::CALL) {
                edit(item, |item| {
                    item_as_function(item);
                    Ok(())
                })?;
            }
            Ok(())
        })
    });
    items.transpose().map(drop)
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
