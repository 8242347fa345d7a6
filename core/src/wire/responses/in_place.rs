//! Writer for items of OpenAI Responses whose request keeps its format.

use alloc::vec::Vec;

use crate::{
    json::Node,
    request::{
        conversation::{Call, Content, Event, EventKind, Outcome, Part, Role},
        writer::same,
    },
};

pub(crate) fn replace<'a>(
    original: Option<Node<'a>>,
    members: &[&'static str],
    events: Vec<Event<'a>>,
) -> Vec<Node<'a>> {
    match original {
        Some(original) => refill(original, members, events),
        None => events.into_iter().filter_map(|event| item(event.kind)).collect(),
    }
}

/// Returns the original item with its new content. A search in the content becomes a separate item, which splits the
/// original. An item whose content becomes empty is removed.
fn refill<'a>(original: Node<'a>, members: &[&'static str], events: Vec<Event<'a>>) -> Vec<Node<'a>> {
    if members.is_empty() {
        return Vec::from([original]);
    }
    let role = original.get("role").cloned().unwrap_or_default();
    let mut items = Vec::new();
    let mut original = Some(original);
    let mut content: Vec<(&'static str, Node<'a>)> = Vec::new();
    let mut end = |content: Vec<(&'static str, Node<'a>)>, items: &mut Vec<Node<'a>>| {
        if content.is_empty() {
            return;
        }
        let mut lists: Vec<(&'static str, Vec<Node<'a>>)> = Vec::new();
        let mut item = original.take().inspect(|_| lists.extend(members.iter().map(|member| (*member, Vec::new()))));
        let item = item.get_or_insert_with(|| {
            lists.push(("content", Vec::new()));
            Node::record([("type", Node::literal("message")), ("role", role.clone())])
        });
        for (member, block) in content {
            let list = lists.iter_mut().find(|(key, _)| *key == member);
            list.into_iter().for_each(|(_, list)| list.push(block.clone()));
        }
        lists.into_iter().for_each(|(member, list)| item.set(member, Node::array(list)));
        items.push(core::mem::take(item));
    };
    for Event { member, kind, .. } in events {
        let is_item = matches!(
            &kind,
            EventKind::Call(Call { source_item: None, .. }) | EventKind::Result(Outcome { source_item: None, .. })
        );
        if is_item {
            end(core::mem::take(&mut content), &mut items);
            items.extend(item(kind));
        } else {
            content.extend(same::blocks(kind).into_iter().map(|block| (member, block)));
        }
    }
    end(content, &mut items);
    items
}

fn item(kind: EventKind<'_>) -> Option<Node<'_>> {
    match kind {
        EventKind::Call(Call { source_item: Some(item), .. }) => Some(item),
        EventKind::Call(call) => Some(Node::record([
            ("type", Node::literal("function_call")),
            ("call_id", call.id),
            ("name", Node::string(call.name)),
            ("arguments", call.arguments.text()),
        ])),
        EventKind::Result(outcome) if outcome.source_item.is_some() => same::result(outcome, "output"),
        EventKind::Result(outcome) => {
            let output = match outcome.content {
                Content::String(text) => text,
                Content::Parts(parts) => Node::array(parts.into_iter().filter_map(same::block).collect()),
            };
            Some(Node::record([
                ("type", Node::literal("function_call_output")),
                ("call_id", outcome.id),
                ("output", output),
            ]))
        }
        EventKind::Text { role, content } => {
            let (role, kind) = match role {
                Role::System => ("developer", "input_text"),
                Role::User => ("user", "input_text"),
                Role::Assistant => ("assistant", "output_text"),
            };
            let content = content.into_parts().into_iter().filter_map(|part| match part {
                Part::Text(text) => Some(Node::record([("type", Node::literal(kind)), ("text", text)])),
                other => same::block(other),
            });
            Some(Node::record([
                ("type", Node::literal("message")),
                ("role", Node::literal(role)),
                ("content", Node::array(content.collect())),
            ]))
        }
        _ => None,
    }
}
