//! Converts the candidates of Gemini, in whole replies and in events: the first call to the function that replaces the
//! response format becomes the text of its candidate.

use alloc::{string::String, vec::Vec};

use super::{
    answer::Answer,
    answer_block::{in_block, is_answer_block, is_not_blank, is_text, Calls, Dropped},
    buffered_calls::{append, pay, CALL},
    buffered_text::{Carrier, Slot},
    call_sites::each,
};
use crate::{
    collections::Map,
    error::Error,
    json::{Data, Node},
};

/// State of the candidates of a reply.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    known: Map<u64, Candidate>,
    /// True if text is buffered until it is known whether an answer follows.
    pub(super) buffers: bool,
    /// True if a candidate has an answer.
    pub(super) is_answered: bool,
    /// The kinds of content that were dropped because of an answer.
    pub(super) dropped: Dropped,
    cost: usize,
}

#[derive(Debug, Default)]
struct Candidate {
    calls: Calls,
    /// True if the candidate has an answer in this event or an earlier one.
    is_answered: bool,
    buffered: String,
    /// Event that can carry the buffered text.
    carrier: Option<Carrier>,
}

/// Returns true if a node has candidates.
fn has_candidates(node: &Node<'_>) -> bool {
    node.get("candidates").is_some_and(|list| list.as_array().is_some())
}

/// Returns the object that contains the candidates of an event. Some gateways wrap it in `response`.
fn holder<'n, 'a>(event: &'n Node<'a>) -> Option<&'n Node<'a>> {
    if has_candidates(event) {
        return Some(event);
    }
    event.get("response").filter(|inner| has_candidates(inner))
}

fn number(candidate: &Node<'_>) -> u64 {
    candidate.u64_at("index").unwrap_or_default()
}

/// Converts the calls of the candidates in a whole reply, or in a list of its chunks. Returns `None` if there are no
/// candidates.
pub(super) fn in_reply(reply: &mut Node<'_>, answer: &Answer) -> Option<Calls> {
    let mut candidates = Candidates::default();
    if !matches!(reply.data(), Data::Array(_)) {
        // Feeding fails only at the limit for streams.
        return candidates.feed(reply, answer).unwrap_or_default().then(|| candidates.calls());
    }
    let mut is_any = false;
    for chunk in reply.as_array().unwrap_or_default() {
        is_any |= holder(chunk).is_some();
        candidates.find(chunk, answer).unwrap_or_default();
    }
    if !is_any {
        return None;
    }
    // The visitor never fails.
    let _ = reply.visit_children::<()>(|_, chunk| {
        candidates.feed(chunk, answer).unwrap_or_default();
        Ok(())
    });
    Some(candidates.calls())
}

impl Candidates {
    /// Converts the calls of the candidates in an event. Returns false if the event has no candidates.
    ///
    /// # Errors
    /// `limit-exceeded`.
    pub(super) fn feed(&mut self, event: &mut Node<'_>, answer: &Answer) -> Result<bool, Error> {
        if holder(event).is_none() {
            return Ok(false);
        }
        self.find(event, answer)?;
        let is_wrapped = !has_candidates(event);
        let mut carrier = None;
        if self.buffers {
            let mut bare = event.detached();
            let strip = |node: &mut Node<'_>| {
                // The event itself is passed on with its usage.
                ["candidates", "usageMetadata"].into_iter().for_each(|key| drop(node.remove(key)));
            };
            if is_wrapped {
                bare.visit("response", strip);
            } else {
                strip(&mut bare);
            }
            carrier = Some(Carrier::new(bare, Slot::Candidate(0)));
        }
        let mut outcome = Ok(());
        let mut visit = |holder: &mut Node<'_>| {
            each(holder, "candidates", &mut |candidate| {
                if outcome.is_ok() {
                    outcome = self.in_candidate(candidate, answer, carrier.as_ref());
                }
            });
        };
        if is_wrapped {
            event.visit("response", visit);
        } else {
            visit(event);
        }
        outcome.map(|()| true)
    }

    /// Records which candidates have an answer in an event.
    fn find(&mut self, event: &Node<'_>, answer: &Answer) -> Result<(), Error> {
        let list = holder(event).and_then(|holder| holder.get("candidates")?.as_array()).unwrap_or_default();
        for candidate in list {
            let number = number(candidate);
            if !self.known.contains_key(&number) {
                pay(&mut self.cost, CALL)?;
            }
            let known = self.known.entry(number).or_default();
            let parts = candidate.get("content").and_then(|content| content.get("parts")?.as_array());
            known.is_answered |= parts.unwrap_or_default().iter().any(|part| is_answer_block(part, answer));
        }
        Ok(())
    }

    fn in_candidate(
        &mut self,
        candidate: &mut Node<'_>,
        answer: &Answer,
        carrier: Option<&Carrier>,
    ) -> Result<(), Error> {
        let number = number(candidate);
        let Some(known) = self.known.get_mut(&number) else { return Ok(()) };
        let (mut is_left_out, before) = (Vec::new(), known.buffered.len());
        let buffers = carrier.is_some();
        candidate.visit("content", |content| {
            each(content, "parts", &mut |part| {
                let is_second = known.calls.has_answer && is_answer_block(part, answer);
                let own = if is_second { Calls::default() } else { in_block(part, answer) };
                known.calls.add(own);
                let is_beside = own == Calls::default() && is_text(part);
                known.calls.dropped.calls |= is_second;
                known.calls.dropped.text |= known.is_answered && is_beside && is_not_blank(part.get("text"));
                if is_beside && buffers && !known.is_answered {
                    part.text_at("text").into_iter().for_each(|text| append(&mut known.buffered, text));
                }
                is_left_out.push(is_second || is_beside && (buffers || known.is_answered));
            });
            if is_left_out.contains(&true) {
                let mut is_left_out = is_left_out.iter();
                content.visit("parts", |parts| {
                    parts.as_array_mut().map(|parts| parts.retain(|_| is_left_out.next() != Some(&true)))
                });
            }
        });
        if known.is_answered {
            self.is_answered = true;
            known.calls.dropped.text |= !known.buffered.trim().is_empty();
            self.dropped.add(known.calls.dropped);
            self.cost -= before;
            (known.buffered, known.carrier) = (String::new(), None);
            return Ok(());
        }
        pay(&mut self.cost, known.buffered.len() - before)?;
        known.carrier = carrier.map(|carrier| carrier.at(Slot::Candidate(number)));
        if candidate.get("finishReason").is_some_and(|reason| !reason.is_null()) && !known.buffered.is_empty() {
            self.cost -= known.buffered.len();
            let part = Node::record([("text", Node::string(core::mem::take(&mut known.buffered)))]);
            if candidate.get("content").is_none_or(|content| content.as_object().is_none()) {
                candidate.set("content", Node::record([("role", Node::literal("model"))]));
            }
            candidate.visit("content", |content| {
                if content.get("parts").is_none_or(|parts| parts.as_array().is_none()) {
                    content.set("parts", Node::array(Vec::new()));
                }
                content.visit("parts", |parts| parts.as_array_mut().map(|parts| parts.insert(0, part)))
            });
        }
        Ok(())
    }

    /// Returns the calls of all candidates.
    fn calls(&self) -> Calls {
        let mut calls = Calls::default();
        self.known.values().for_each(|known| calls.add(known.calls));
        calls
    }

    /// Returns true if no candidate has state.
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Returns the text that is still buffered at the end of a stream.
    pub(super) fn left(&mut self) -> Vec<Node<'static>> {
        let buffered = core::mem::take(&mut self.known).into_iter().map(|(_, known)| known);
        self.cost = 0;
        buffered
            .filter(|known| !known.buffered.is_empty())
            .filter_map(|mut known| {
                let text = core::mem::take(&mut known.buffered);
                Some(known.carrier?.with(text))
            })
            .collect()
    }
}
