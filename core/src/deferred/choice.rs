//! `tool_choice`: what it forces, and what it becomes where that is gone.

use alloc::{format, string::String, vec::Vec};

use super::{
    catalogue::{Catalogue, Standing},
    lazy::edit_member,
    namespace::NameMap,
    report::Warnings,
    tool::{has_type, remove},
};
use crate::{
    error::{Code, Error},
    json::{Node, Text},
    options::{DeferredOptions, ForcedTool, Format},
};

/// What becomes of what is forced.
enum Ruling<'a> {
    Stays,
    /// The function of this name is forced instead.
    Follows(Text<'a>),
    /// The model chooses.
    Auto,
}

/// Settles `tool_choice`, once it is known what the history loads; a forced tool may be loaded for it.
///
/// # Errors
/// `forced-deferred-tool` if the options ask for it.
pub(super) fn settle<'a>(
    request: &mut Node<'a>,
    format: Format,
    (catalogue, map): (&mut Catalogue<'a>, &NameMap<'a>),
    options: &DeferredOptions,
    search: Option<&str>,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    edit_member(request, "tool_choice", |choice| {
        if has_type(choice, "allowed_tools") {
            return allowed(choice, format, (catalogue, map), search);
        }
        let ruling = match forced(choice, map) {
            None => return Ok(()),
            Some(Forced::Search) => search_ruling(search),
            Some(Forced::Tool(name)) => rule(&name, catalogue, options, search, warnings)?,
        };
        carry_out(choice, format, map, ruling);
        Ok(())
    })?;
    Ok(())
}

enum Forced<'a> {
    Tool(Text<'a>),
    /// The search of Responses, which has no name.
    Search,
}

/// What a choice forces, by the name it has in the list. Read in any format's spelling: gateways mix them up.
fn forced<'a>(choice: &Node<'a>, map: &NameMap<'a>) -> Option<Forced<'a>> {
    let name = |node: &Node<'a>| node.get("name").and_then(Node::as_text).cloned();
    if has_type(choice, "tool") {
        name(choice).map(Forced::Tool)
    } else if has_type(choice, "tool_search") {
        Some(Forced::Search)
    } else {
        let kind = ["function", "custom"].iter().find(|kind| has_type(choice, kind))?;
        if let Some(name) = choice.get(kind).and_then(name) {
            return Some(Forced::Tool(name));
        }
        map.called(choice).map(Forced::Tool)
    }
}

fn search_ruling<'a>(search: Option<&str>) -> Ruling<'a> {
    search.map_or(Ruling::Auto, |name| Ruling::Follows(Text::new(String::from(name))))
}

fn rule<'a>(
    name: &Text<'a>,
    catalogue: &mut Catalogue<'a>,
    options: &DeferredOptions,
    search: Option<&str>,
    warnings: &mut Warnings,
) -> Result<Ruling<'a>, Error> {
    Ok(match catalogue.standing(name) {
        Standing::Visible => Ruling::Stays,
        Standing::Search => search_ruling(search),
        Standing::Withdrawn => Ruling::Auto,
        // A toolset brings tools that the request does not name.
        Standing::Unknown if catalogue.has_toolsets() || catalogue.is_empty() => Ruling::Stays,
        Standing::Unknown => Ruling::Auto,
        Standing::Hidden => {
            let shown = name.display();
            match options.forced_tool {
                ForcedTool::Error => return Err(never_loaded(name)),
                ForcedTool::Auto => {
                    warnings.about("forced_deferred_tool", shown);
                    Ruling::Auto
                }
                ForcedTool::Load => {
                    warnings.about("forced_deferred_tool", shown);
                    catalogue.load(name);
                    Ruling::Stays
                }
            }
        }
    })
}

/// The error of a choice that forces a tool which was never loaded.
pub(super) fn never_loaded(name: &Text<'_>) -> Error {
    let message = format!(
        "expected `tool_choice` to force a tool that is loaded, found `{}`, which is deferred and was not referred to",
        name.display()
    );
    Error::new(Code::ForcedDeferredTool, "/tool_choice", message)
}

/// Writes a ruling into the choice. In Responses, a name loses its namespace in any case.
fn carry_out<'a>(choice: &mut Node<'a>, format: Format, map: &NameMap<'a>, ruling: Ruling<'a>) {
    match (format, ruling) {
        (Format::OpenaiResponses, Ruling::Stays) => map.flatten_call(choice),
        (_, Ruling::Stays) => {}
        (_, Ruling::Auto) if has_type(choice, "tool") => {
            remove(choice, "name");
            set(choice, "type", Node::literal("auto"));
        }
        (Format::Anthropic, Ruling::Auto) => *choice = Node::record([("type", Node::literal("auto"))]),
        (_, Ruling::Auto) => *choice = Node::literal("auto"),
        (_, Ruling::Follows(name)) if has_type(choice, "tool") => set(choice, "name", Node::string(name)),
        (Format::Anthropic, Ruling::Follows(name)) => {
            *choice = Node::record([("type", Node::literal("tool")), ("name", Node::string(name))]);
        }
        (Format::OpenaiResponses, Ruling::Follows(name)) => *choice = function(name),
        (Format::OpenaiChat, Ruling::Follows(name)) => {
            *choice = Node::record([
                ("type", Node::literal("function")),
                ("function", Node::record([("name", Node::string(name))])),
            ]);
        }
    }
}

fn function(name: Text<'_>) -> Node<'_> {
    Node::record([("type", Node::literal("function")), ("name", Node::string(name))])
}

fn set<'a>(node: &mut Node<'a>, key: &'static str, value: Node<'a>) {
    if let Some(object) = node.as_object_mut() {
        object.set(key, value);
    }
}

/// A choice among some tools: those that are not in the list cannot be allowed; if none is left, all are.
fn allowed<'a>(
    choice: &mut Node<'a>,
    format: Format,
    (catalogue, map): (&Catalogue<'a>, &NameMap<'a>),
    search: Option<&str>,
) -> Result<(), Error> {
    let chat = format == Format::OpenaiChat;
    let list =
        if chat { choice.get("allowed_tools").and_then(|inner| inner.get("tools")) } else { choice.get("tools") };
    let Some(items) = list.and_then(Node::as_array) else { return Ok(()) };
    let mut kept: Vec<Node<'a>> = Vec::with_capacity(items.len());
    let mut same = true;
    for item in items {
        let ruling = match forced(item, map) {
            None if has_type(item, "namespace") => Ruling::Auto,
            None => Ruling::Stays,
            Some(Forced::Search) => search_ruling(search),
            Some(Forced::Tool(name)) => match catalogue.standing(&name) {
                Standing::Visible => Ruling::Stays,
                Standing::Search => search_ruling(search),
                Standing::Unknown if catalogue.has_toolsets() => Ruling::Stays,
                Standing::Hidden | Standing::Withdrawn | Standing::Unknown => Ruling::Auto,
            },
        };
        if matches!(ruling, Ruling::Auto) {
            same = false;
            continue;
        }
        let mut item = item.clone();
        let intact = item.is_intact();
        carry_out(&mut item, format, map, ruling);
        same &= intact == item.is_intact();
        kept.push(item);
    }
    if same {
        return Ok(());
    }
    if kept.is_empty() {
        *choice = Node::literal("auto");
    } else if chat {
        choice.visit("allowed_tools", |inner| set(inner, "tools", Node::array(kept)));
    } else {
        set(choice, "tools", Node::array(kept));
    }
    Ok(())
}
