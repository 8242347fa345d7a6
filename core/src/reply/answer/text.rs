//! Restores structured output: removes its wrapper, and decodes values for the caller's schema. The text may be in a
//! Markdown fence, or arrive in several parts.
//!
//! Text that is not JSON, or that need not be restored, is preserved byte for byte.

use alloc::{string::String, vec, vec::Vec};
use core::cell::Cell;

use crate::{
    collections::Map,
    error::Error,
    json::{self, Data, Node, Text},
    reply::{call_repair::CallReports, call_sites::each, streams::buffered_calls::append},
    report::AnswerChange,
    request::tool::has_type,
    sanitize::decode::Plan,
    schema::validate::{Prepared, Verdict},
    wire::{
        alternatives::{alternatives_of, number},
        events::{decode, visit, KnownEvent},
        reply::{self, is_text_part},
    },
};

/// Plan for restoring a model's structured output.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) plan: Plan,
    /// Name of the function that replaces the format; `None` if the answer is text.
    pub(crate) tool: Option<String>,
    /// True if the model may call only this function. Text next to the call is then not part of the reply for the
    /// client.
    pub(crate) is_only: bool,
    /// The schema, if only the instructions contain it. An answer in a Markdown fence is taken out of the fence unless
    /// this schema refuses it.
    pub(crate) instructed: Option<Prepared>,
}

/// Restores structured output in a text. Truncated text is restored as far as it is complete.
pub(crate) fn restore_text(answer: Option<&Answer>, text: &str) -> Content {
    read(answer, text).unwrap_or_default()
}

/// Like [`restore_text`], but returns `None` for text that is not JSON, and not the beginning of JSON.
fn read(answer: Option<&Answer>, text: &str) -> Option<Content> {
    if let Some((answer, schema)) = answer.and_then(|answer| Some((answer, answer.instructed.as_ref()?))) {
        if let Some(content) = remove_fence(text, &answer.plan, schema) {
            return Some(content);
        }
    }
    if !(Restores { json: true, fenced: false }).may_be(text) {
        return None;
    }
    let restore = |mut node: Node<'_>| answer.map_or(Ok(None), |answer| answer.restore_node(&mut node)).into();
    if let Ok(node) = json::read(text) {
        return Some(restore(node));
    }
    let closed = json::close_cut(text)?;
    let mut node = json::read(&closed).ok();
    if let (Some(node), true) = (&mut node, answer.is_some_and(|answer| answer.plan.may_have_pairs())) {
        drop_half_pair(node);
    }
    Some(Content { is_cut: true, ..node.map(restore).unwrap_or_default() })
}

/// Removes the last pair of a list of pairs if the pair has no value. The other pairs can then be restored.
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
    pub(crate) const fn new(plan: Plan) -> Self {
        Answer { plan, tool: None, is_only: false, instructed: None }
    }

    pub(crate) fn instructed(plan: Plan, schema: &Node<'_>) -> Self {
        Answer { instructed: Prepared::new(schema), ..Answer::new(plan) }
    }

    pub(crate) fn of_tool(plan: Plan, name: String, is_only: bool) -> Self {
        Answer { tool: Some(name), is_only, ..Answer::new(plan) }
    }

    /// Returns true if text may have to be restored. If a call contains the answer, only an encoded answer has to be
    /// restored.
    pub(crate) fn restores_text(&self) -> bool {
        self.tool.is_none() || !self.plan.is_empty()
    }

    pub(crate) fn restores(&self) -> Restores {
        Restores { json: !self.plan.is_empty(), fenced: self.instructed.is_some() }
    }

    pub(crate) fn read(&self, text: &str) -> Option<Content> {
        read(Some(self), text)
    }

    fn restore_node(&self, node: &mut Node<'_>) -> Result<Option<String>, Error> {
        self.plan.restore(node)?;
        Ok((!node.is_intact()).then(|| json::write(node)))
    }

    pub(crate) fn with_restorer<R>(&self, reports: &mut CallReports, work: impl FnOnce(TextRestorer<'_>) -> R) -> R {
        let (is_unfenced, failure) = (Cell::new(false), Cell::new(None));
        let restore = |text: &str| {
            let mut content = self.read(text)?;
            is_unfenced.set(is_unfenced.get() || content.is_unfenced);
            failure.set(failure.take().or(content.failure.take()));
            Some(content)
        };
        let restores = self.restores();
        let done = work(TextRestorer { restore: &restore, may_begin: &|text| restores.may_be(text) });
        reports.push_changes(is_unfenced.get().then_some(AnswerChange::RemoveFence));
        reports.fail(failure.take());
        done
    }

    pub(crate) fn reply(&self, reply: &mut Node<'_>, reports: &mut CallReports) {
        self.event(reply, true, reports);
    }

    pub(crate) fn event(&self, event: &mut Node<'_>, is_end: bool, reports: &mut CallReports) {
        self.with_restorer(reports, |restorer| {
            let walk = Walk { restorer, may_be_cut: is_end };
            match event.data() {
                Data::Array(_) => restore_chunks(restorer, event, is_end, &mut |reply| walk.in_reply(reply)),
                _ => walk.in_reply(event),
            }
        });
    }
}

#[derive(Clone, Copy)]
struct Walk<'w> {
    restorer: TextRestorer<'w>,
    /// True if a truncated text does not continue in another event.
    may_be_cut: bool,
}

impl Walk<'_> {
    fn in_reply(self, reply: &mut Node<'_>) {
        self.in_unwrapped(reply);
        for inner in reply::wrappers() {
            reply.visit(inner, |inner| self.in_unwrapped(inner));
        }
    }

    fn in_unwrapped(self, reply: &mut Node<'_>) {
        reply::visit_own_messages(reply, &mut |message| self.in_message(message));
        if let Some(key) = decode(reply).and_then(KnownEvent::repeated_text) {
            self.in_text(reply, key);
        }
        for path in reply::repeated_texts() {
            let Some((key, holder)) = path.split_last() else { continue };
            visit(reply, holder, |holder| self.in_text(holder, key));
        }
        for path in reply::repeated_parts() {
            visit(reply, path, |part| {
                if is_text_part(part) {
                    self.in_text(part, "text");
                }
            });
        }
    }

    fn in_message(self, message: &mut Node<'_>) {
        if !reply::may_be_output(message) {
            return;
        }
        self.in_text(message, "content");
        for list in ["content", "parts"] {
            restore_parts(self.restorer, message, list, self.may_be_cut);
        }
    }

    fn in_text(self, holder: &mut Node<'_>, key: &'static str) {
        let Some(text) = holder.text_at(key).and_then(Text::value) else { return };
        let content = (self.restorer.restore)(&text).filter(|content| self.may_be_cut || !content.is_cut);
        if let Some(restored) = content.and_then(|content| content.text) {
            holder.set(key, Node::string(restored));
        }
    }
}

/// Minimum number of backticks in a fence.
const TICKS: usize = 3;
/// Maximum length in bytes of the word after the backticks, such as `json`.
const WORD: usize = 32;

/// Kinds of text that are restored, recognized by their beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Restores {
    pub(crate) json: bool,
    /// JSON text in a Markdown fence.
    pub(crate) fenced: bool,
}

/// Parser for the beginning of text that arrives in pieces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beginning {
    restores: Restores,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Blank,
    /// Number of backticks so far, counted up to the minimum of a fence.
    Ticks(usize),
    /// Number of bytes so far of the word after the backticks.
    Word(usize),
    /// Whitespace after the opening of a fence.
    Opened,
    /// Decided: true if the text may have to be restored.
    Known(bool),
}

impl Restores {
    pub(crate) fn may_be(self, text: &str) -> bool {
        let mut beginning = Beginning::new(self);
        beginning.feed(text);
        !matches!(beginning.state, State::Blank | State::Known(false))
    }
}

impl Beginning {
    pub(crate) const fn new(restores: Restores) -> Self {
        Beginning { restores, state: State::Blank }
    }

    /// Returns true if the text may have to be restored, and `None` if more pieces must decide.
    pub(crate) fn feed(&mut self, piece: &str) -> Option<bool> {
        for byte in piece.bytes() {
            self.state = match (self.state, byte) {
                (State::Known(_), _) => break,
                (State::Blank, byte) if byte.is_ascii_whitespace() => State::Blank,
                (State::Blank, b'`') if self.restores.fenced => State::Ticks(1),
                // Decoding never changes a number, `true`, `false` or `null`.
                (State::Blank, b'{' | b'[' | b'"') => State::Known(self.restores.json),
                (State::Blank, _) => State::Known(false),
                (State::Ticks(count), b'`') => State::Ticks(TICKS.min(count + 1)),
                (State::Ticks(count), _) if count < TICKS => State::Known(false),
                (State::Ticks(_) | State::Word(_) | State::Opened, byte) if byte.is_ascii_whitespace() => State::Opened,
                (State::Ticks(_), byte) if is_of_word(byte) => State::Word(1),
                (State::Word(length), byte) if is_of_word(byte) && length < WORD => State::Word(length + 1),
                (State::Ticks(_) | State::Word(_) | State::Opened, byte) => State::Known(begins_json(byte)),
            };
        }
        match self.state {
            State::Known(may) => Some(may),
            _ => None,
        }
    }
}

const fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'.')
}

const fn begins_json(byte: u8) -> bool {
    matches!(byte, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
}

enum Fenced<'t> {
    Whole(&'t str),
    /// A fence without its end, with the content so far.
    Open(&'t str),
}

fn parse_fence(text: &str) -> Option<Fenced<'_>> {
    let ticks = |text: &str| text.bytes().take_while(|byte| *byte == b'`').count();
    let text = text.trim_matches(is_space);
    let opening = ticks(text);
    if opening < TICKS {
        return None;
    }
    let rest = text.get(opening..)?;
    let word = rest.bytes().take_while(|byte| is_of_word(*byte)).count();
    let inner = rest.get(word..).filter(|_| word <= WORD)?;
    let closing = inner.bytes().rev().take_while(|byte| *byte == b'`').count();
    if closing < opening {
        return Some(Fenced::Open(inner));
    }
    let inner = inner.get(..inner.len() - closing)?;
    Some(Fenced::Whole(inner.trim_matches(is_space)))
}

const fn is_space(letter: char) -> bool {
    letter.is_ascii_whitespace()
}

/// Takes an answer out of its fence, unless the schema refuses the answer. Returns `None` for text that is not JSON
/// in a fence.
fn remove_fence(text: &str, plan: &Plan, schema: &Prepared) -> Option<Content> {
    let inner = match parse_fence(text)? {
        Fenced::Whole(inner) => inner,
        // Some backticks of the closing fence may still be missing.
        Fenced::Open(inner) => {
            let inner = inner.trim_end_matches('`');
            let is_json = json::close_cut(inner).is_some() || json::read(inner).is_ok();
            return is_json.then_some(Content { is_cut: true, ..Content::default() });
        }
    };
    let mut node = json::read(inner).ok()?;
    if let Err(error) = plan.restore(&mut node) {
        return Some(Err(error).into());
    }
    if schema.validator().verdict(&node) == Verdict::Invalid {
        return Some(Content::default());
    }
    let restored = if node.is_intact() { String::from(inner) } else { json::write(&node) };
    Some(Content { text: Some(restored), is_unfenced: true, ..Content::default() })
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    /// The new text; `None` if the text does not change.
    pub(crate) text: Option<String>,
    /// True if the text is truncated JSON.
    pub(crate) is_cut: bool,
    pub(crate) is_unfenced: bool,
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

#[derive(Clone, Copy)]
pub(crate) struct TextRestorer<'r> {
    /// Restores a text. Returns `None` if the text is neither JSON nor the beginning of JSON.
    pub(crate) restore: &'r dyn Fn(&str) -> Option<Content>,
    /// Returns true if JSON that needs restoring may begin in this part.
    pub(crate) may_begin: &'r dyn Fn(&str) -> bool,
}

/// The text of each part of a list, in order; `None` for a part that is not text.
#[derive(Debug, Default)]
struct Parts(Vec<Option<String>>);

/// The new text of each part, in the order of [`Parts`]; `None` for a part that does not change.
type NewTexts = vec::IntoIter<Option<String>>;

/// Restores the text parts of a message. JSON that is spread over adjacent parts is put into the first of them.
fn restore_parts(restorer: TextRestorer<'_>, message: &mut Node<'_>, list: &'static str, may_be_cut: bool) {
    let mut parts = Parts::default();
    parts.add(message, list);
    put(message, list, &mut parts.restore_all(restorer, may_be_cut));
}

/// Restores a reply that is a list of chunks with whole units, like a Gemini stream without events. The text of an
/// alternative is concatenated across chunks.
fn restore_chunks<'a>(
    restorer: TextRestorer<'_>,
    chunks: &mut Node<'a>,
    may_be_cut: bool,
    visit_other: &mut dyn FnMut(&mut Node<'a>),
) {
    let in_units = |chunk: &Node<'_>| alternatives_of(chunk).filter(|of| of.calls().is_none());
    let mut parts_by_number: Map<u64, Parts> = Map::new();
    for chunk in chunks.as_array().unwrap_or_default() {
        let Some(of) = in_units(chunk) else { continue };
        for item in of.items(chunk) {
            if let Some(part) = item.get(of.part) {
                parts_by_number.entry(number(item)).or_default().add(part, of.units);
            }
        }
    }
    let restored_texts =
        parts_by_number.into_iter().map(|(number, parts)| (number, parts.restore_all(restorer, may_be_cut)));
    let mut restored_texts: Map<u64, NewTexts> = restored_texts.collect();
    // The visitor never fails.
    let _ = chunks.visit_children::<()>(|_, chunk| {
        match in_units(chunk) {
            Some(of) => of.visit(chunk, &mut |item, number| {
                if let Some(texts) = restored_texts.get_mut(&number) {
                    item.visit(of.part, |part| put(part, of.units, texts));
                }
            }),
            None => visit_other(chunk),
        }
        Ok(())
    });
}

/// Returns true for a thought of Gemini, which may occur between two parts of a text.
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

    fn restore_all(&self, restorer: TextRestorer<'_>, may_be_cut: bool) -> NewTexts {
        let mut new = Vec::with_capacity(self.0.len());
        for run in self.0.chunk_by(|left, right| left.is_some() == right.is_some()) {
            let texts: Vec<&str> = run.iter().flatten().map(String::as_str).collect();
            if texts.is_empty() {
                new.extend(run.iter().map(|_| None));
            } else {
                new.extend(restore_run(&texts, restorer, may_be_cut));
            }
        }
        new.into_iter()
    }
}

pub(crate) fn restore_run(texts: &[&str], restorer: TextRestorer<'_>, may_be_cut: bool) -> Vec<Option<String>> {
    let (mut new, mut is_tried) = (Vec::with_capacity(texts.len()), false);
    while let Some((text, rest)) = texts.get(new.len()..).and_then(<[&str]>::split_first) {
        let is_last = rest.is_empty();
        let alone = (restorer.restore)(text).filter(|content| !content.is_cut || is_last && may_be_cut);
        if alone.is_none() && !is_last && !is_tried && (restorer.may_begin)(text) {
            is_tried = true;
            let whole = texts.get(new.len()..).unwrap_or_default().concat();
            if let Some(content) = (restorer.restore)(&whole) {
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

/// Sets the new texts. Removes a block whose text becomes empty, if the API refuses empty blocks in the history.
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

pub(crate) fn is_bare_block(part: &Node<'_>) -> bool {
    has_type(part, "text")
        && part.as_object().is_some_and(|part| {
            part.iter().all(|member| member.key.is("type") || member.key.is("text") || member.value.is_null())
        })
}
