//! The answer to a response format, restored: out of its wrapper, and with encoded values as the caller's schema has
//! them. Text that is no JSON, or needs nothing, stays byte for byte.

use alloc::{string::String, vec::Vec};

use super::call_sites::each;
use crate::{
    json::{self, Data, Node, Text},
    sanitize::decode::Plan,
};

/// What has to be undone in the answer of a model.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(super) plan: Plan,
}

/// A text of an answer, restored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    /// The new text; `None` if the text stays as it is.
    pub(crate) text: Option<String>,
    /// True if the text is the beginning of a JSON text.
    pub(crate) is_cut: bool,
}

/// Returns true if a text may be JSON that a plan changes: no plan changes a number, `true`, `false` or `null`.
pub(super) fn may_change(text: &str) -> Option<bool> {
    let first = text.bytes().find(|byte| !byte.is_ascii_whitespace())?;
    Some(matches!(first, b'{' | b'[' | b'"'))
}

/// Restores a text, if there is something to undo. Of a text that breaks off, whatever is whole is restored.
pub(super) fn restored(answer: Option<&Answer>, text: &str) -> Content {
    if may_change(text) != Some(true) {
        return Content::default();
    }
    let restored = |mut node: Node<'_>| answer.and_then(|answer| answer.restored(&mut node));
    if let Ok(node) = json::read(text) {
        return Content { text: restored(node), is_cut: false };
    }
    let Some(closed) = json::close_cut(text) else { return Content::default() };
    Content { text: json::read(&closed).ok().and_then(restored), is_cut: true }
}

impl Answer {
    pub(super) const fn new(plan: Plan) -> Self {
        Answer { plan }
    }

    fn text(&self, text: &str) -> Content {
        restored(Some(self), text)
    }

    /// Returns the restored text; `None` if nothing changes.
    fn restored(&self, node: &mut Node<'_>) -> Option<String> {
        self.plan.restore(node).ok()?;
        (!node.is_intact()).then(|| json::write(node))
    }
}

impl Answer {
    /// Restores the texts of a whole reply of any API.
    pub(super) fn reply(&self, reply: &mut Node<'_>) {
        if !matches!(reply.data(), Data::Array(_)) {
            return self.in_reply(reply);
        }
        // The visitor never fails.
        let _ = reply.visit_children::<()>(|_, one| {
            self.in_reply(one);
            Ok(())
        });
    }

    fn in_reply(&self, reply: &mut Node<'_>) {
        // Anthropic's message, a message of Chat Completions, an item of Responses, or a step of Interactions.
        self.in_message(reply);
        each(reply, "choices", &mut |choice| {
            choice.visit("message", |message| self.in_message(message));
        });
        each(reply, "output", &mut |item| self.in_message(item));
        self.in_text(reply, "output_text");
        each(reply, "steps", &mut |step| self.in_message(step));
        reply.visit("output", |output| output.visit("message", |message| self.in_message(message)));
        each(reply, "candidates", &mut |candidate| {
            candidate.visit("content", |content| self.in_message(content));
        });
        for inner in ["message", "response", "interaction", "item", "step"] {
            reply.visit(inner, |inner| {
                self.in_message(inner);
                each(inner, "output", &mut |item| self.in_message(item));
                each(inner, "steps", &mut |step| self.in_message(step));
                each(inner, "candidates", &mut |candidate| {
                    candidate.visit("content", |content| self.in_message(content));
                });
            });
        }
        reply.visit("part", |part| self.in_part(part));
        if reply.get("type").is_some_and(|kind| kind.is_text("response.output_text.done")) {
            self.in_text(reply, "text");
        }
    }

    /// Restores the texts of a message, unless it is the caller's.
    fn in_message(&self, message: &mut Node<'_>) {
        const OTHERS: [&str; 4] = ["user", "system", "developer", "tool"];
        let is_other = message.get("role").is_some_and(|role| OTHERS.iter().any(|other| role.is_text(other)));
        let is_step_of_others = message.get("type").is_some_and(|kind| {
            ["user_input", "function_result", "reasoning", "thought"].iter().any(|other| kind.is_text(other))
        });
        if is_other || is_step_of_others {
            return;
        }
        self.in_text(message, "content");
        for list in ["content", "parts"] {
            if !self.in_parts_together(message, list) {
                each(message, list, &mut |part| self.in_part(part));
            }
        }
    }

    /// Restores JSON that comes in several parts, as Gemini may send it: the first part gets all of it. Returns true if
    /// it did.
    fn in_parts_together(&self, message: &mut Node<'_>, list: &'static str) -> bool {
        let parts = message.get(list).and_then(Node::as_array).unwrap_or_default();
        let texts = parts.iter().filter(|part| is_text_part(part)).filter_map(|part| part.get("text")?.as_text());
        let texts: Vec<_> = texts.filter_map(Text::value).collect();
        if texts.len() < 2 {
            return false;
        }
        let Content { text: Some(whole), is_cut: false } = self.text(&texts.concat()) else { return false };
        let mut whole = Some(whole);
        each(message, list, &mut |part| {
            if is_text_part(part) && part.get("text").is_some() {
                part.set("text", Node::string(whole.take().unwrap_or_default()));
            }
        });
        true
    }

    /// Restores a block or a part that is text.
    fn in_part(&self, part: &mut Node<'_>) {
        if is_text_part(part) {
            self.in_text(part, "text");
        }
    }

    fn in_text(&self, holder: &mut Node<'_>, key: &'static str) {
        let Some(text) = holder.get(key).and_then(Node::as_text).and_then(Text::value) else { return };
        if let Some(restored) = self.text(&text).text {
            holder.set(key, Node::string(restored));
        }
    }
}

/// Returns true if a block or a part holds text of the answer, not a thought or something else.
pub(super) fn is_text_part(part: &Node<'_>) -> bool {
    const KINDS: [&str; 2] = ["text", "output_text"];
    let is_of_kind = part.get("type").is_none_or(|kind| kind.is_null() || KINDS.iter().any(|text| kind.is_text(text)));
    is_of_kind && part.get("thought").and_then(Node::as_bool) != Some(true)
}
