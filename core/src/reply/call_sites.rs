//! Small parts of calls, which messages, replies and events share.

use crate::{
    json::{Data, Node, Text},
    wire::{self, calls::RESULT_IDS},
};

/// Renames a tool. Also renames its namespace if it has the tool's name, as the namespace of a loaded tool does.
pub(crate) fn rename(node: &mut Node<'_>, key: &'static str, called: Text<'static>) {
    let name = node.text_at(key);
    if name.is_some() && node.text_at("namespace") == name {
        node.set("namespace", Node::string(called.clone()));
    }
    node.set(key, Node::string(called));
}

pub(crate) fn id_of<'a>(call: &Node<'a>) -> Option<Text<'a>> {
    RESULT_IDS.into_iter().find_map(|key| call.get(key)?.as_text().cloned())
}

/// Returns the id of a call. Ignores the empty id that some servers send, because it identifies nothing.
pub(crate) fn entry_id<'a>(call: &Node<'a>) -> Option<Text<'a>> {
    id_of(call).filter(|id| !id.is_empty())
}

pub(crate) fn may_have_id(call: &Node<'_>, id: Option<&str>) -> bool {
    let mut ids = RESULT_IDS.into_iter().filter_map(|key| call.get(key)?.as_text()).peekable();
    ids.peek().is_none() || ids.any(|candidate| id.is_some_and(|id| candidate.is(id)))
}

pub(crate) fn each<'a>(node: &mut Node<'a>, key: &str, visit: &mut dyn FnMut(&mut Node<'a>)) {
    wire::each(node, key, &mut |_, item| visit(item));
}

pub(crate) fn has_no_arguments(item: &Node<'_>, key: &str) -> bool {
    item.get(key).is_none_or(|value| match value.data() {
        Data::Object(object) => object.is_empty(),
        _ => value.is_null() || value.is_text("") || value.is_text("{}"),
    })
}
