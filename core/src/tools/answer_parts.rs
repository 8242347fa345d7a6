//! Restores an answer that arrives in several text parts: JSON may begin in one part and end in another.

use alloc::{string::String, vec, vec::Vec};

use super::{buffered_calls::append, call_sites::each};
use crate::{
    collections::Map,
    error::Error,
    json::{Node, Text},
    request::tool::has_type,
};

/// Result of restoring the text of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    /// The new text; `None` if the text does not change.
    pub(crate) text: Option<String>,
    /// True if the text is truncated JSON.
    pub(crate) is_cut: bool,
    /// True if the new text was taken out of a Markdown fence.
    pub(crate) is_unfenced: bool,
    /// Why the text could not be restored.
    pub(crate) failure: Option<Error>,
}

impl From<Result<Option<String>, Error>> for Content {
    fn from(restored: Result<Option<String>, Error>) -> Content {
        match restored {
            Ok(text) => Content { text, ..Content::default() },
            Err(error) => Content { failure: Some(error), ..Content::default() },
        }
    }
}

/// Functions that restore text.
#[derive(Clone, Copy)]
pub(super) struct Read<'r> {
    /// Restores one text part. Returns `None` if the text cannot be, or begin, JSON that needs restoring.
    pub(super) restore: &'r dyn Fn(&str) -> Option<Content>,
    /// Returns true if JSON that needs restoring may begin in this part.
    pub(super) may_begin: &'r dyn Fn(&str) -> bool,
}

/// The text of each part of a list, in order; `None` for a part that is not text.
#[derive(Debug, Default)]
struct Parts(Vec<Option<String>>);

/// The new text of each part, in the order of [`Parts`]; `None` for a part that does not change.
type NewTexts = vec::IntoIter<Option<String>>;

/// Restores the text of a list of parts. JSON that is spread over adjacent text parts is put into the first of them.
pub(super) fn restore(read: Read<'_>, message: &mut Node<'_>, list: &'static str, may_be_cut: bool) {
    let mut parts = Parts::default();
    parts.add(message, list);
    put(message, list, &mut parts.restored(read, may_be_cut));
}

/// Restores the candidates of a reply that is a list of chunks, like a Gemini stream without events. The text of a
/// candidate is concatenated across chunks.
pub(super) fn restore_chunks<'a>(
    read: Read<'_>,
    chunks: &mut Node<'a>,
    may_be_cut: bool,
    other: &mut dyn FnMut(&mut Node<'a>),
) {
    let mut found: Map<u64, Parts> = Map::new();
    for chunk in chunks.as_array().unwrap_or_default() {
        let candidates = holder(chunk).and_then(|holder| holder.get("candidates")).and_then(Node::as_array);
        for candidate in candidates.unwrap_or_default() {
            if let Some(content) = candidate.get("content") {
                found.entry(number(candidate)).or_default().add(content, "parts");
            }
        }
    }
    let restored = found.into_iter().map(|(number, parts)| (number, parts.restored(read, may_be_cut)));
    let mut restored: Map<u64, NewTexts> = restored.collect();
    let mut in_candidates = |holder: &mut Node<'a>| {
        each(holder, "candidates", &mut |candidate| {
            let Some(texts) = restored.get_mut(&number(candidate)) else { return };
            candidate.visit("content", |content| put(content, "parts", texts));
        });
    };
    // The visitor never fails.
    let _ = chunks.visit_children::<()>(|_, chunk| {
        if has_candidates(chunk) {
            in_candidates(chunk);
        } else if holder(chunk).is_some() {
            chunk.visit("response", &mut in_candidates);
        } else {
            other(chunk);
        }
        Ok(())
    });
}

fn has_candidates(node: &Node<'_>) -> bool {
    node.get("candidates").is_some_and(|candidates| candidates.as_array().is_some())
}

/// Returns the object that contains the candidates of a chunk. Some gateways wrap it in `response`.
fn holder<'n, 'a>(chunk: &'n Node<'a>) -> Option<&'n Node<'a>> {
    if has_candidates(chunk) {
        return Some(chunk);
    }
    chunk.get("response").filter(|response| has_candidates(response))
}

fn number(candidate: &Node<'_>) -> u64 {
    candidate.u64_at("index").unwrap_or_default()
}

/// Returns true for a thought of Gemini, which may occur between two parts of the same text.
fn is_thought(part: &Node<'_>) -> bool {
    part.bool_at("thought") == Some(true)
}

fn text_of<'n, 'a>(part: &'n Node<'a>) -> Option<&'n Text<'a>> {
    part.get("text").filter(|_| is_text_part(part))?.as_text()
}

impl Parts {
    fn add(&mut self, message: &Node<'_>, list: &str) {
        let parts = message.items_at(list);
        self.0.extend(parts.iter().filter(|part| !is_thought(part)).map(|part| {
            text_of(part).map(|text| {
                let mut value = String::new();
                append(&mut value, text);
                value
            })
        }));
    }

    fn restored(&self, read: Read<'_>, may_be_cut: bool) -> NewTexts {
        let mut new = Vec::with_capacity(self.0.len());
        for run in self.0.chunk_by(|one, next| one.is_some() == next.is_some()) {
            let texts: Vec<&str> = run.iter().flatten().map(String::as_str).collect();
            if texts.is_empty() {
                new.extend(run.iter().map(|_| None));
            } else {
                new.extend(in_run(&texts, read, may_be_cut));
            }
        }
        new.into_iter()
    }
}

/// Returns the new text of each of several adjacent parts.
pub(super) fn in_run(texts: &[&str], read: Read<'_>, may_be_cut: bool) -> Vec<Option<String>> {
    let (mut new, mut is_tried) = (Vec::with_capacity(texts.len()), false);
    while let Some((text, rest)) = texts.get(new.len()..).and_then(<[&str]>::split_first) {
        let is_last = rest.is_empty();
        let alone = (read.restore)(text).filter(|content| !content.is_cut || is_last && may_be_cut);
        if alone.is_none() && !is_last && !is_tried && (read.may_begin)(text) {
            is_tried = true;
            let whole = texts.get(new.len()..).unwrap_or_default().concat();
            if let Some(content) = (read.restore)(&whole) {
                let whole = content.text.filter(|_| may_be_cut || !content.is_cut);
                let others = whole.as_ref().map(|_| String::new());
                new.push(whole);
                new.resize(texts.len(), others);
                break;
            }
        }
        new.push(alone.and_then(|content| content.text));
    }
    new
}

/// Replaces the text of each part. Removes a block whose text has become empty, if the API refuses empty blocks in the
/// history.
fn put(message: &mut Node<'_>, list: &'static str, texts: &mut NewTexts) {
    let mut is_emptied = Vec::new();
    each(message, list, &mut |part| {
        let new = if is_thought(part) { None } else { texts.next().flatten() };
        let is_empty = new.as_ref().is_some_and(String::is_empty);
        is_emptied.push(is_empty && is_bare_block(part));
        if let Some(new) = new {
            part.set("text", Node::string(new));
        }
    });
    if is_emptied.contains(&true) {
        let mut is_emptied = is_emptied.into_iter();
        message.visit(list, |list| list.as_array_mut().map(|parts| parts.retain(|_| is_emptied.next() != Some(true))));
    }
}

/// Returns true for a text block without other content.
pub(super) fn is_bare_block(part: &Node<'_>) -> bool {
    has_type(part, "text")
        && part.as_object().is_some_and(|part| {
            part.iter().all(|member| member.key.is("type") || member.key.is("text") || member.value.is_null())
        })
}

/// Returns true if a block or a part contains text of the answer, not a thought or something else.
pub(super) fn is_text_part(part: &Node<'_>) -> bool {
    const KINDS: [&str; 2] = ["text", "output_text"];
    let is_of_kind = part.get("type").is_none_or(|kind| kind.is_null() || KINDS.iter().any(|text| kind.is_text(text)));
    is_of_kind && part.bool_at("thought") != Some(true)
}
