//! Declares `custom` tools of OpenAI Responses as functions, for backends of this format that refuse `custom` tools.

use alloc::{string::String, vec::Vec};

use crate::{
    error::Error,
    json::{
        self,
        lazy::{edit, edit_member, may_hold},
        Flags, Node, Text,
    },
    options::{Api, CustomTools},
    request::{
        namespaces::{is_default, FlatNames},
        report::{CallKind, ClientTool, Warnings},
        tool::{self, has_type},
        writer::definitions,
    },
};

/// A tool's flat name, and the tool as the client defines it.
type Noted = (String, ClientTool);

/// Converts `custom` tools to functions, and their calls to function calls. Returns these tools, and also the functions
/// in namespaces, because a call to such a function could otherwise be mistaken for a call to a `custom` tool with the
/// same name.
///
/// # Errors
/// `invalid-value` for an unpaired surrogate in a grammar.
pub(super) fn as_functions(
    request: &mut Node<'_>,
    names: &FlatNames,
    warnings: &mut Warnings,
) -> Result<Vec<Noted>, Error> {
    let mut noted = Vec::new();
    // The request may have been rewritten.
    warnings.set_origin(None);
    tools_as_functions(request, (names, &mut noted), warnings)?;
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
            if may_hold(item, Flags::CALL | Flags::CARRIER) {
                edit(item, |item| {
                    item_as_function(item);
                    if has_type(item, "additional_tools") || has_type(item, "tool_search_output") {
                        tools_as_functions(item, (names, &mut noted), warnings)?;
                    }
                    Ok(())
                })?;
            }
            Ok(())
        })
    });
    items.transpose()?;
    warnings.clear_location();
    Ok(noted)
}

/// Converts the `custom` tools of a list and of its namespaces to functions.
fn tools_as_functions(
    holder: &mut Node<'_>,
    (names, noted): (&FlatNames, &mut Vec<Noted>),
    warnings: &mut Warnings,
) -> Result<(), Error> {
    let tools = edit_member(holder, "tools", |tools| {
        tools.visit_children(|_, tool| {
            if has_type(tool, "custom") {
                let name = tool::name(tool).map(|name| name.display().into_owned());
                noted.extend(
                    name.map(|name| (name.clone(), ClientTool { namespace: None, name, kind: CallKind::Custom })),
                );
                *tool = as_one(core::mem::take(tool), warnings)?;
                return Ok(());
            }
            let namespace = tool.text_at("name").filter(|_| has_type(tool, "namespace")).cloned();
            let inner = tool.visit("tools", |inner| {
                inner.visit_children(|_, tool| {
                    noted.extend(note(namespace.as_ref(), tool, names));
                    if has_type(tool, "custom") {
                        *tool = as_one(core::mem::take(tool), warnings)?;
                    }
                    Ok::<(), Error>(())
                })
            });
            inner.unwrap_or(Ok(()))
        })
    });
    tools.map(drop)
}

/// Returns the flat name of a tool and the client's tool, or `None` if a call to it needs no translation.
fn note<'a>(namespace: Option<&Text<'a>>, tool: &Node<'a>, names: &FlatNames) -> Option<Noted> {
    let name = tool.text_at("name").filter(|_| !has_type(tool, "namespace"))?;
    let flat = namespace.map_or_else(|| name.clone(), |namespace| names.of(namespace, name));
    let namespace = namespace.filter(|namespace| !is_default(namespace) || flat != *name);
    let kind = if has_type(tool, "custom") { CallKind::Custom } else { CallKind::Function };
    if namespace.is_none() && kind == CallKind::Function {
        return None;
    }
    let namespace = namespace.map(|namespace| namespace.display().into_owned());
    Some((flat.display().into_owned(), ClientTool { namespace, name: name.display().into_owned(), kind }))
}

fn as_one<'a>(custom: Node<'a>, warnings: &mut Warnings) -> Result<Node<'a>, Error> {
    const BOTH: (Api, Api) = (Api::OpenaiResponses, Api::OpenaiResponses);
    Ok(definitions::write_definition(custom, BOTH, CustomTools::Function, warnings)?.unwrap_or_default())
}

fn as_function(named: &mut Node<'_>) {
    if has_type(named, "custom") {
        named.set("type", Node::literal("function"));
    }
}

fn item_as_function(item: &mut Node<'_>) {
    if has_type(item, "custom_tool_call_output") {
        item.set("type", Node::literal("function_call_output"));
    } else if has_type(item, "custom_tool_call") {
        let input = item.visit("input", core::mem::take).filter(|input| input.as_text().is_some());
        let mut arguments = String::new();
        json::write_compact(&Node::record([("input", input.unwrap_or_else(|| Node::literal("")))]), &mut arguments);
        item.set("type", Node::literal("function_call"));
        // The prefix of an item's id names its type (`ctc_…`), and the API checks it.
        item.remove("id");
        item.set("input", Node::string(arguments));
        if let Some(object) = item.as_object_mut() {
            let members = object.members_mut();
            if let Some(member) = members.iter_mut().find(|member| member.key.is("input")) {
                member.key = Text::literal("arguments");
            }
        }
    }
}
