//! Declares `custom` tools of OpenAI Responses as functions, for backends of this format that refuse `custom` tools.

use alloc::{format, string::String, vec::Vec};

use crate::{
    error::Error,
    json::{
        self,
        lazy::{edit, edit_member, may_hold},
        Flags, Node, Text,
    },
    options::{Api, CustomTools},
    request::{
        origins::GivenShape,
        report::{CallKind, ClientTool, Warnings},
        tool::{self, has_type},
        tool_format::ToolShape,
        writer::definitions,
    },
    wire::responses::namespaces::{is_default, FlatNames},
};

/// A tool's flat name, and the tool as the client defines it.
type TranslatedTool = (String, ClientTool);

/// The pointer to a converted tool, its shape before the conversion, and its shape after it.
pub(crate) type Replaced = (String, GivenShape, ToolShape);

#[derive(Default)]
pub(crate) struct Converted {
    /// The converted tools, and the functions in namespaces. Without these functions, a call to one of them could be
    /// mistaken for a call to a `custom` tool with the function's name.
    pub(crate) tools: Vec<TranslatedTool>,
    pub(crate) replaced: Vec<Replaced>,
}

pub(crate) fn as_functions(
    request: &mut Node<'_>,
    names: &FlatNames,
    warnings: &mut Warnings,
) -> Result<Converted, Error> {
    let mut converted = Converted::default();
    // The request may have been rewritten.
    warnings.set_origin(None);
    tools_as_functions(request, "", (names, &mut converted), warnings)?;
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
        let mut index = 0;
        input.visit_children(|_, item| {
            let pointer = format!("/input/{index}");
            index += 1;
            if may_hold(item, Flags::CALL | Flags::CARRIER) {
                edit(item, |item| {
                    item_as_function(item);
                    if has_type(item, "additional_tools") || has_type(item, "tool_search_output") {
                        tools_as_functions(item, &pointer, (names, &mut converted), warnings)?;
                    }
                    Ok(())
                })?;
            }
            Ok(())
        })
    });
    items.transpose()?;
    warnings.clear_location();
    Ok(converted)
}

fn tools_as_functions(
    holder: &mut Node<'_>,
    pointer: &str,
    (names, Converted { tools: translated, replaced }): (&FlatNames, &mut Converted),
    warnings: &mut Warnings,
) -> Result<(), Error> {
    let mut convert = |tool: &mut Node<'_>, pointer: String| {
        let given_shape = GivenShape::of(tool);
        *tool = convert_tool(core::mem::take(tool), warnings)?;
        replaced.push((pointer, given_shape, ToolShape::of(tool)));
        Ok::<(), Error>(())
    };
    let tools = edit_member(holder, "tools", |tools| {
        let mut index = 0;
        tools.visit_children(|_, tool| {
            let pointer = format!("{pointer}/tools/{index}");
            index += 1;
            if has_type(tool, "custom") {
                let name = tool::name(tool).map(|name| name.display().into_owned());
                translated.extend(
                    name.map(|name| (name.clone(), ClientTool { namespace: None, name, kind: CallKind::Custom })),
                );
                return convert(tool, pointer);
            }
            let namespace = tool.text_at("name").filter(|_| has_type(tool, "namespace")).cloned();
            let inner = tool.visit("tools", |inner| {
                let mut index = 0;
                inner.visit_children(|_, tool| {
                    let pointer = format!("{pointer}/tools/{index}");
                    index += 1;
                    translated.extend(translated_tool(namespace.as_ref(), tool, names));
                    if has_type(tool, "custom") {
                        convert(tool, pointer)?;
                    }
                    Ok::<(), Error>(())
                })
            });
            inner.unwrap_or(Ok(()))
        })
    });
    tools.map(drop)
}

/// Returns `None` if a call to the tool needs no translation.
fn translated_tool<'a>(namespace: Option<&Text<'a>>, tool: &Node<'a>, names: &FlatNames) -> Option<TranslatedTool> {
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

fn convert_tool<'a>(custom: Node<'a>, warnings: &mut Warnings) -> Result<Node<'a>, Error> {
    const BOTH: (Api, Api) = (Api::OpenaiResponses, Api::OpenaiResponses);
    Ok(definitions::write_definition(custom, BOTH, CustomTools::Function, warnings)?.unwrap_or_default())
}

fn as_function(entry: &mut Node<'_>) {
    if has_type(entry, "custom") {
        entry.set("type", Node::literal("function"));
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
