//! Restores structured output: removes its wrapper, and decodes values for the caller's schema. Text that
//! is not JSON, or that need not be restored, is preserved byte for byte.

use alloc::string::String;
use core::cell::Cell;

use super::{
    answer_fence::{unfenced, Restores},
    answer_parts::{self, is_text_part, Content, Read},
    call_repair::CallReports,
    call_sites::each,
};
use crate::{
    error::Error,
    json::{self, Data, Node, Text},
    report::AnswerChange,
    sanitize::decode::Plan,
    schema::validate::Prepared,
};

/// Plan for restoring a model's structured output.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(super) plan: Plan,
    /// Name of the function that replaces the format; `None` if the answer is text.
    pub(super) tool: Option<String>,
    /// True if the model may call only this function, so that text next to the call is not meant for the client.
    pub(super) is_only: bool,
    /// The schema, if only the instructions contain it. An answer in a Markdown fence is taken out of the fence unless
    /// this schema refuses it.
    pub(super) instructed: Option<Prepared>,
}

/// Restores text, if necessary. Truncated text is restored as far as it is complete.
pub(super) fn restored(answer: Option<&Answer>, text: &str) -> Content {
    read(answer, text).unwrap_or_default()
}

/// Same as [`restored`], but returns `None` if the text is neither JSON that may change nor the beginning of such JSON.
fn read(answer: Option<&Answer>, text: &str) -> Option<Content> {
    if let Some((answer, schema)) = answer.and_then(|answer| Some((answer, answer.instructed.as_ref()?))) {
        if let Some(content) = unfenced(text, &answer.plan, schema) {
            return Some(content);
        }
    }
    if !(Restores { json: true, fenced: false }).may_be(text) {
        return None;
    }
    let restored = |mut node: Node<'_>| answer.map_or(Ok(None), |answer| answer.restored(&mut node)).into();
    if let Ok(node) = json::read(text) {
        return Some(restored(node));
    }
    let closed = json::close_cut(text)?;
    let mut node = json::read(&closed).ok();
    if let (Some(node), true) = (&mut node, answer.is_some_and(|answer| answer.plan.may_have_pairs())) {
        drop_half_pair(node);
    }
    Some(Content { is_cut: true, ..node.map(restored).unwrap_or_default() })
}

/// Removes the last pair of a list of pairs if its value is missing, so that the other pairs can be restored.
fn drop_half_pair(node: &mut Node<'_>) {
    if !ends_in_half_pair(node) {
        return;
    }
    let mut at = node;
    loop {
        let is_list = is_list_with_half_pair(at);
        let last = match at.data() {
            Data::Object(_) => {
                at.as_object_mut().and_then(|object| object.members_mut().last_mut()).map(|last| &mut last.value)
            }
            Data::Array(_) => at.as_array_mut().and_then(|items| {
                if is_list {
                    items.pop();
                }
                items.last_mut()
            }),
            _ => None,
        };
        match last.filter(|_| !is_list) {
            Some(last) => at = last,
            None => return,
        }
    }
}

fn ends_in_half_pair(node: &Node<'_>) -> bool {
    let mut at = Some(node);
    while let Some(node) = at {
        if is_list_with_half_pair(node) {
            return true;
        }
        at = match node.data() {
            Data::Object(object) => object.members().last().map(|last| &last.value),
            Data::Array(items) => items.last(),
            _ => None,
        };
    }
    false
}

fn is_list_with_half_pair(node: &Node<'_>) -> bool {
    let is_pair = |pair: &Node<'_>| pair.as_object().is_some_and(|pair| pair.len() == 2 && pair.has("value"));
    let Some((last, others)) = node.as_array().and_then(<[_]>::split_last) else { return false };
    let is_half = last.as_object().is_some_and(|pair| pair.is_empty() || pair.len() == 1 && pair.has("key"));
    is_half && !others.is_empty() && others.iter().all(|pair| is_pair(pair) && pair.get("key").is_some())
}

impl Answer {
    pub(super) const fn new(plan: Plan) -> Self {
        Answer { plan, tool: None, is_only: false, instructed: None }
    }

    /// Returns an answer whose schema is only in the instructions.
    pub(super) fn instructed(plan: Plan, schema: &Node<'_>) -> Self {
        Answer { instructed: Prepared::new(schema), ..Answer::new(plan) }
    }

    /// Returns an answer that consists of the arguments of a function.
    pub(super) fn of_tool(plan: Plan, name: String, is_only: bool) -> Self {
        Answer { tool: Some(name), is_only, ..Answer::new(plan) }
    }

    /// Returns true if text may have to be restored. If the answer is the arguments of a function, only encoded answers
    /// have to be restored.
    pub(super) fn restores_text(&self) -> bool {
        self.tool.is_none() || !self.plan.is_empty()
    }

    /// Returns the kinds of text that may have to be restored.
    pub(super) fn restores(&self) -> Restores {
        Restores { json: !self.plan.is_empty(), fenced: self.instructed.is_some() }
    }

    /// Restores text. Returns `None` if it is neither JSON that may change nor the beginning of such JSON.
    pub(super) fn read(&self, text: &str) -> Option<Content> {
        read(Some(self), text)
    }

    /// Returns the restored text, or `None` if nothing changes.
    fn restored(&self, node: &mut Node<'_>) -> Result<Option<String>, Error> {
        self.plan.restore(node)?;
        Ok((!node.is_intact()).then(|| json::write(node)))
    }

    /// Calls `work` with functions that restore text. Reports whether text was taken out of a fence, and the first
    /// error of restoring.
    pub(super) fn reading<R>(&self, reports: &mut CallReports, work: impl FnOnce(Read<'_>) -> R) -> R {
        let (is_unfenced, failure) = (Cell::new(false), Cell::new(None));
        let restore = |text: &str| {
            let mut content = self.read(text)?;
            is_unfenced.set(is_unfenced.get() || content.is_unfenced);
            failure.set(failure.take().or(content.failure.take()));
            Some(content)
        };
        let restores = self.restores();
        let done = work(Read { restore: &restore, may_begin: &|text| restores.may_be(text) });
        reports.push_changes(is_unfenced.get().then_some(AnswerChange::RemoveFence));
        reports.fail(failure.take());
        done
    }

    /// Restores the text of a whole reply of any API.
    pub(super) fn reply(&self, reply: &mut Node<'_>, reports: &mut CallReports) {
        self.event(reply, true, reports);
    }

    /// Restores the complete text parts of a stream event, like [`Self::reply`]. A truncated part is restored only if
    /// the event ends it.
    pub(super) fn event(&self, event: &mut Node<'_>, is_end: bool, reports: &mut CallReports) {
        self.reading(reports, |read| {
            let walk = Walk { read, may_be_cut: is_end };
            match event.data() {
                Data::Array(_) => answer_parts::restore_chunks(read, event, is_end, &mut |one| walk.in_reply(one)),
                _ => walk.in_reply(event),
            }
        });
    }
}

/// A walk over the text of a reply.
#[derive(Clone, Copy)]
struct Walk<'w> {
    read: Read<'w>,
    /// True if a truncated text does not continue in another event.
    may_be_cut: bool,
}

impl Walk<'_> {
    fn in_reply(self, reply: &mut Node<'_>) {
        // A message of Anthropic or Chat Completions, an item of Responses, or a step of Interactions.
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
        reply.visit("part", |part| {
            if is_text_part(part) {
                self.in_text(part, "text");
            }
        });
        if reply.get("type").is_some_and(|kind| kind.is_text("response.output_text.done")) {
            self.in_text(reply, "text");
        }
    }

    /// Restores the text of a message, unless its author is not the model.
    fn in_message(self, message: &mut Node<'_>) {
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
            answer_parts::restore(self.read, message, list, self.may_be_cut);
        }
    }

    fn in_text(self, holder: &mut Node<'_>, key: &'static str) {
        let Some(text) = holder.text_at(key).and_then(Text::value) else { return };
        let content = (self.read.restore)(&text).filter(|content| self.may_be_cut || !content.is_cut);
        if let Some(restored) = content.and_then(|content| content.text) {
            holder.set(key, Node::string(restored));
        }
    }
}
