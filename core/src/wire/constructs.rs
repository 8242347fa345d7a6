//! Constructs of histories that a backend does not support.

use super::{
    additions::ToolChangeKind,
    anthropic::mentions::{changed_definition, tool_change_kind},
    ALL,
};
use crate::{
    error::Error,
    json::{
        lazy::{may_hold, view},
        Flags, Node,
    },
    options::Native,
    request::tool::{self, has_type},
};

pub(crate) enum Unsupported {
    Nothing,
    /// Some messages with tools, of Kimi.
    Carriers,
    /// The messages or items of this history for which `is_unsupported` returns true.
    Parts {
        history: &'static str,
        is_unsupported: fn(&Node<'_>, Native) -> bool,
    },
}

/// `ignores` is true if changes of the tools are ignored. Messages with changes are then removed even if the backend
/// supports them.
pub(crate) fn unsupported(native: Native, ignores: bool) -> Unsupported {
    let (history, is_unsupported): (&str, fn(&Node<'_>, Native) -> bool) = match native {
        Native::Inline if ignores => ("messages", |message, _| changes(message, Native::References)),
        Native::ToolSearch if ignores => ("input", |item, _| has_type(item, "additional_tools")),
        Native::Kimi if ignores => ("messages", |message, _| message.get("tools").is_some()),
        Native::Kimi => return Unsupported::Carriers,
        Native::None | Native::Inline | Native::ToolSearch | Native::Interactions | Native::Converse => {
            return Unsupported::Nothing;
        }
        Native::References => ("messages", changes),
        Native::Changes if ignores => ("messages", |message, _| changes(message, Native::References)),
        Native::Changes => ("messages", changes),
        Native::AdditionalTools if ignores => ("input", |item, _| {
            ["additional_tools", "tool_search_call", "tool_search_output"].iter().any(|kind| has_type(item, kind))
        }),
        Native::AdditionalTools => {
            ("input", |item, _| has_type(item, "tool_search_call") || has_type(item, "tool_search_output"))
        }
    };
    Unsupported::Parts { history, is_unsupported }
}

fn changes(message: &Node<'_>, native: Native) -> bool {
    let blocks = message.items_at("content");
    blocks.iter().any(|block| match tool_change_kind(block) {
        None => false,
        Some(_) if native == Native::References => true,
        Some(ToolChangeKind::Removal) => false,
        Some(ToolChangeKind::Addition) => changed_definition(block).is_some(),
    })
}

/// Returns true if a tool is deferred in the list of the request or of an `additional_tools` item, inside or outside a
/// namespace.
pub(crate) fn lists_deferred(request: &Node<'_>) -> Result<bool, Error> {
    if request.get("tools").map(view).transpose()?.is_some_and(|tools| has_deferred(&tools)) {
        return Ok(true);
    }
    for wire in ALL.iter().filter(|wire| wire.additions.has_lists()) {
        for item in request.items_at(wire.history).iter().filter(|item| may_hold(item, Flags::CARRIER)) {
            let item = view(item)?;
            if wire.additions.is_list(&item) && item.get("tools").is_some_and(has_deferred) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn has_deferred(list: &Node<'_>) -> bool {
    let is_deferred = |entry: &Node<'_>| tool::deferral(entry).0;
    list.as_array().unwrap_or_default().iter().any(|entry| {
        let members = entry.get("tools").filter(|_| has_type(entry, "namespace")).and_then(Node::as_array);
        is_deferred(entry) || members.unwrap_or_default().iter().any(is_deferred)
    })
}
