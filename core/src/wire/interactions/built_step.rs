//! A step that arrives in pieces.

use alloc::{boxed::Box, string::String, vec::Vec};

use crate::{
    json::{self, Node, Text},
    wire::{rounds::BuiltItem, units::has_type},
};

#[derive(Debug, Default)]
pub(super) struct BuiltStep {
    node: Node<'static>,
    arguments: String,
    /// The text at the end of the content.
    text: String,
}

impl BuiltStep {
    pub(super) fn new(node: Node<'static>) -> BuiltStep {
        BuiltStep { node, ..BuiltStep::default() }
    }

    fn end_text(&mut self) {
        if !self.text.is_empty() {
            let text = Node::string(core::mem::take(&mut self.text));
            self.push("content", Node::record([("type", Node::literal("text")), ("text", text)]));
        }
    }

    fn push(&mut self, key: &'static str, value: Node<'static>) {
        if self.node.array_at(key).is_none() {
            self.node.set(key, Node::array(Vec::new()));
        }
        self.node.visit(key, |list| list.as_array_mut().map(|list| list.push(value)));
    }
}

impl BuiltItem for BuiltStep {
    fn add(&mut self, delta: &Node<'_>) {
        let text = |key: &str| delta.text_at(key).map(Text::display).unwrap_or_default();
        let value = |key: &str| delta.get(key).map(Node::detached).unwrap_or_default();
        if has_type(delta, "arguments_delta") {
            self.arguments.push_str(&text("arguments"));
        } else if has_type(delta, "thought_signature") {
            self.node.set("signature", value("signature"));
        } else if has_type(delta, "thought_summary") {
            self.push("summary", value("content"));
        } else if has_type(delta, "text") {
            self.text.push_str(&text("text"));
        } else if !has_type(delta, "text_annotation_delta") {
            self.end_text();
            self.push("content", delta.detached());
        }
    }

    fn whole(mut self: Box<Self>) -> Node<'static> {
        self.end_text();
        let arguments = json::read(&self.arguments).ok().filter(|_| !self.arguments.is_empty());
        if let Some(arguments) = arguments.map(|arguments| arguments.detached()) {
            self.node.set("arguments", arguments);
        }
        self.node
    }
}
