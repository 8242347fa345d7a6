//! Turning a hosted search inside an assistant's message into an ordinary exchange of call and result.
//!
//! The provider answers its own search within one message. An ordinary result stands in a message of the user, directly
//! after the message with the call, so the message is cut there.

use alloc::{string::String, vec::Vec};

use super::{history::Rewriter, tool::has_type};
use crate::{
    json::{Node, Text},
    options::ServerToolSearch,
};

/// Cuts a message into its parts; `None` if no hosted search is in it.
pub(super) fn message<'a>(message: &mut Node<'a>, rewriter: &mut Rewriter<'_, 'a>) -> Option<Vec<Node<'a>>> {
    let is_search = |block: &Node<'a>| rewriter.is_search_call(block) || has_type(block, "tool_search_tool_result");
    let blocks = message.get("content").and_then(Node::as_array)?;
    if !blocks.iter().any(is_search) {
        return None;
    }
    let blocks =
        message.visit("content", |content| content.as_array_mut().map(core::mem::take)).flatten().unwrap_or_default();
    let mut parts = Parts { first: Some(message), done: Vec::new(), blocks: Vec::new(), results: Vec::new() };
    for block in blocks {
        if rewriter.is_search_call(&block) {
            // Without a result it would be a call that nobody answers.
            if block.get("id").and_then(Node::as_text).is_some_and(|id| rewriter.search_results.contains(id)) {
                parts.cut();
                parts.blocks.push((call(block, rewriter), true));
            }
        } else if has_type(&block, "tool_search_tool_result") {
            let id = block.get("tool_use_id").and_then(Node::as_text);
            match id {
                Some(id) if rewriter.server_calls.contains(id) => {
                    parts.results.push(result(&block, rewriter));
                }
                _ => rewriter.orphans.push(id.map(Text::display).unwrap_or_default().into_owned()),
            }
        } else {
            parts.cut();
            parts.blocks.push((block, false));
        }
    }
    parts.cut();
    parts.close();
    Some(parts.done)
}

/// A message being cut.
struct Parts<'m, 'a> {
    /// The message itself, until its first part is done: that one keeps whatever else the message has.
    first: Option<&'m mut Node<'a>>,
    done: Vec<Node<'a>>,
    /// The blocks since the last cut; the flag says that it is a search's call.
    blocks: Vec<(Node<'a>, bool)>,
    results: Vec<Node<'a>>,
}

impl<'a> Parts<'_, 'a> {
    /// Ends a part, if there are results to follow it.
    fn cut(&mut self) {
        if self.results.is_empty() {
            return;
        }
        // The caller answers his own calls in the next message: they must not be separated from it.
        let (later, now) = core::mem::take(&mut self.blocks)
            .into_iter()
            .partition(|(block, search)| !search && has_type(block, "tool_use"));
        self.blocks = now;
        self.close();
        self.blocks = later;
        self.done.push(Node::record([
            ("role", Node::literal("user")),
            ("content", Node::array(core::mem::take(&mut self.results))),
        ]));
    }

    fn close(&mut self) {
        if self.blocks.is_empty() {
            return;
        }
        let content = Node::array(core::mem::take(&mut self.blocks).into_iter().map(|(block, _)| block).collect());
        self.done.push(match self.first.take() {
            Some(message) => {
                message.visit("content", |old| *old = content);
                core::mem::take(message)
            }
            None => Node::record([("role", Node::literal("assistant")), ("content", content)]),
        });
    }
}

/// A search's call as an ordinary one. Under `emulate` it calls the function that is offered.
fn call<'a>(mut block: Node<'a>, rewriter: &Rewriter<'_, 'a>) -> Node<'a> {
    if let Some(object) = block.as_object_mut() {
        object.set("type", Node::literal("tool_use"));
        if rewriter.options.server_tool_search == ServerToolSearch::Emulate {
            object.set("name", Node::string(String::from(rewriter.options.tool_search_name.as_str())));
        }
        object.remove("caller");
    }
    block
}

/// A search's result as an ordinary one.
fn result<'a>(block: &Node<'a>, rewriter: &mut Rewriter<'_, 'a>) -> Node<'a> {
    let (said, failed) = rewriter.outcome(block.get("content").unwrap_or(block));
    let mut result = Node::record([("type", Node::literal("tool_result"))]);
    if let Some(object) = result.as_object_mut() {
        object.set("tool_use_id", block.get("tool_use_id").cloned().unwrap_or_default());
        if failed {
            object.set("is_error", Node::bool(true));
        }
        object.set("content", Node::array(said));
        if let Some(cache_control) = block.get("cache_control") {
            object.set("cache_control", cache_control.clone());
        }
    }
    result
}
