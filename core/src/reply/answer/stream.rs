//! Restores structured output in a stream. Text that may be JSON is buffered, and sent as a whole when
//! its block ends. Other text is passed on at once.

use alloc::{string::String, vec::Vec};

use super::text::Restores;
use crate::{
    error::Error,
    json::{Node, Text},
    reply::streams::{
        restorer::{Passed, Stream},
        text::{delta_of, step_of, text_key, BufferedText, Carrier, Piece, Run, Step, TextKey, TextLocation},
    },
    report::AnswerChange,
    wire::{
        alternatives::{alternatives_of, Alternatives},
        events::{self, at, decode, set, Content, Key, KnownEvent, Meaning, Path},
        reply::is_text_part,
    },
};

impl Stream {
    pub(crate) fn answer<'a>(&mut self, event: &mut Node<'a>, out: &mut Vec<Node<'a>>) -> Result<Passed, Error> {
        // A model that does not call the function may write the answer as text.
        if self.restore_map.answer.as_ref().is_none_or(|answer| !answer.restores_text()) {
            return Ok(Passed::Event);
        }
        if self.continue_run(event, out)? {
            return Ok(Passed::Nothing);
        }
        if let Some((key, path)) = delta_of(event) {
            return self.delta(event, &key, path);
        }
        if let Some(alternatives) = alternatives_of(event) {
            return self.texts_of_chunk(event, alternatives);
        }
        // Ollama's own API.
        if event.get("done").is_some_and(|done| done.as_bool().is_some()) && event.get("message").is_some() {
            return self.ollama_text(event);
        }
        self.begin_text(event)?;
        self.end_texts(event, out);
        Ok(Passed::Event)
    }

    pub(crate) fn take_unended_texts(&mut self) -> Vec<Node<'static>> {
        let mut events = Vec::new();
        self.end_run(&mut events);
        let buffered = self.texts.close_all(None);
        events.extend(buffered.into_iter().filter_map(|buffered| self.text_event(buffered)));
        events
    }

    /// Processes an event while adjacent text parts may form one answer. Returns true if the event is buffered.
    fn continue_run<'a>(&mut self, event: &Node<'_>, out: &mut Vec<Node<'a>>) -> Result<bool, Error> {
        let Some(answer) = self.restore_map.answer.clone() else { return Ok(false) };
        let step = step_of(event);
        if let Some(run) = &mut self.run {
            if step == Step::Ping {
                return Ok(false);
            }
            let path = if let Step::GoesOn(_, path) = &step { *path } else { &[] };
            let has_others = matches!(step, Step::GoesOn(..)) && !events::has_only_piece(event);
            if !has_others && run.take(event, || Carrier::new(events::only_piece(event), TextLocation::Path(path)))? {
                return Ok(true);
            }
            self.end_run(out);
        }
        let Step::Ends(key) = step else { return Ok(false) };
        let breaks_off =
            |text: &str| answer.restores().may_be(text) && answer.read(text).is_none_or(|content| content.is_cut);
        if !self.texts.pieces(&key).is_some_and(breaks_off) {
            return Ok(false);
        }
        self.run = self.texts.close(&key).map(|buffered| Run::new(buffered, key, event));
        Ok(self.run.is_some())
    }

    fn end_run(&mut self, out: &mut Vec<Node<'_>>) {
        let (Some(run), Some(answer)) = (self.run.take(), self.restore_map.answer.clone()) else { return };
        let released = answer.with_restorer(&mut self.reports, |restorer| run.release(restorer));
        released.gone.into_iter().for_each(|index| self.gone.insert(index));
        out.extend(released.events);
    }

    fn text_event(&mut self, mut buffered: BufferedText) -> Option<Node<'static>> {
        let whole = self.whole_text(&mut buffered);
        Some(buffered.carrier?.with(whole))
    }

    fn whole_text(&mut self, buffered: &mut BufferedText) -> String {
        let pieces = core::mem::take(&mut buffered.pieces);
        let content = self.restore_map.content(&pieces);
        self.reports.push_changes(content.is_unfenced.then_some(AnswerChange::RemoveFence));
        self.reports.fail(content.failure);
        content.text.unwrap_or(pieces)
    }

    fn restores(&self) -> Restores {
        let none = Restores { json: false, fenced: false };
        self.restore_map.answer.as_ref().map_or(none, |answer| answer.restores())
    }

    /// Processes an event that contains only a piece of text.
    fn delta(&mut self, event: &mut Node<'_>, key: &TextKey, path: Path) -> Result<Passed, Error> {
        let Some(piece) = at(event, path).and_then(Node::as_text).map(|text| text.clone().into_owned()) else {
            return Ok(Passed::Event);
        };
        let carrier = || Carrier::new(events::only_piece(event), TextLocation::Path(path));
        let restores = self.restores();
        match self.texts.piece(key, &piece, restores, carrier)? {
            Piece::Same => {}
            Piece::Text(text) => set(event, path, Node::string(text)),
            Piece::BufferedText if events::has_only_piece(event) => return Ok(Passed::Nothing),
            Piece::BufferedText => set(event, path, Node::literal("")),
        }
        Ok(Passed::Event)
    }

    fn begin_text(&mut self, event: &mut Node<'_>) -> Result<(), Error> {
        let Some(known_event) = decode(event).filter(|known_event| known_event.has_first_text()) else { return Ok(()) };
        let Some((carrier, path)) = known_event.piece_event(event, Content::Text) else { return Ok(()) };
        let (key, carrier) = (text_key(known_event, event), Carrier::new(carrier, TextLocation::Path(path)));
        let mut outcome = Ok(());
        known_event.visit_first_text(event, &mut |part| {
            if outcome.is_ok() && is_text_part(part) {
                outcome = self.take(part, "text", &key, || carrier.clone()).map(drop);
            }
        });
        outcome
    }

    /// Returns true if the piece is buffered and the member is empty.
    fn take(
        &mut self,
        holder: &mut Node<'_>,
        member: &'static str,
        key: &TextKey,
        carrier: impl FnOnce() -> Carrier,
    ) -> Result<bool, Error> {
        let piece = holder.text_at(member).filter(|piece| !piece.is_empty());
        let Some(piece) = piece.cloned().map(Text::into_owned) else { return Ok(false) };
        let restores = self.restores();
        match self.texts.piece(key, &piece, restores, carrier)? {
            Piece::Same => return Ok(false),
            Piece::Text(text) => holder.set(member, Node::string(text)),
            Piece::BufferedText => {
                holder.set(member, Node::literal(""));
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Passes on the text parts that an event ends, before the event. Restores text that the event repeats.
    fn end_texts<'a>(&mut self, event: &mut Node<'a>, out: &mut Vec<Node<'a>>) {
        let known_event = decode(event);
        let says = known_event.map(KnownEvent::meaning);
        let ends_all = known_event.is_some_and(KnownEvent::is_finish);
        let is_error = says == Some(Meaning::Error) || event.get("error").is_some_and(|error| !error.is_null());
        let mut ended = Vec::new();
        match (known_event, says) {
            (Some(known_event), Some(Meaning::EndPart)) => {
                ended.extend(self.texts.close(&text_key(known_event, event)))
            }
            (Some(known_event), Some(Meaning::End)) => ended = self.texts.close_all(Some(&known_event.key(event))),
            // Clients stop reading at an error.
            _ if ends_all || is_error => ended = self.texts.close_all(None),
            _ => {}
        }
        out.extend(ended.into_iter().filter_map(|buffered| self.text_event(buffered)));
        // Whole replies, and events that repeat earlier pieces.
        // Deltas may continue the texts of a reply that begins.
        let is_start = says == Some(Meaning::ReplyBegin) && known_event.is_some_and(KnownEvent::begins_with_pieces);
        if !is_start && !known_event.is_some_and(KnownEvent::has_first_text) {
            let may_be_cut = ends_all || matches!(says, Some(Meaning::EndPart | Meaning::End));
            self.restore_map.contents(event, may_be_cut, &mut self.reports);
        }
    }

    fn texts_of_chunk(&mut self, event: &mut Node<'_>, alternatives: &'static Alternatives) -> Result<Passed, Error> {
        let has_text = alternatives.items(event).iter().any(|item| alternatives.may_have_text(item));
        let carrier = if has_text { alternatives.text_carrier(event) } else { Node::empty_object() };
        let carrier = Carrier::new(carrier, TextLocation::Alternative(alternatives, 0));
        let (mut outcome, mut is_withheld) = (Ok(()), false);
        let mut nothing_left = alternatives.has_only_output(event);
        alternatives.visit(event, &mut |item, number| {
            if outcome.is_err() {
                return;
            }
            match self.alternative_text(item, (alternatives, number), &carrier) {
                Ok(withheld) => is_withheld |= withheld,
                Err(error) => outcome = Err(error),
            }
            nothing_left &= alternatives.has_only_text(item);
        });
        outcome?;
        Ok(if is_withheld && nothing_left { Passed::Nothing } else { Passed::Event })
    }

    /// Returns true if the text is buffered.
    fn alternative_text(
        &mut self,
        item: &mut Node<'_>,
        (alternatives, number): (&'static Alternatives, u64),
        carrier: &Carrier,
    ) -> Result<bool, Error> {
        let key = TextKey { block: Key::in_choice(number, 0), part: 0 };
        let ends = alternatives.ends(item);
        if alternatives.whole != alternatives.part {
            // Some servers send whole messages as chunks.
            item.visit(alternatives.whole, |message| self.restore_map.contents(message, ends, &mut self.reports));
        }
        let (mut outcome, mut is_withheld) = (Ok(()), false);
        item.visit(alternatives.part, |part| {
            alternatives.visit_texts(part, &mut |holder, member| {
                if outcome.is_ok() {
                    let carrier = || carrier.at(TextLocation::Alternative(alternatives, number));
                    match self.take(holder, member, &key, carrier) {
                        Ok(withheld) => is_withheld |= withheld,
                        Err(error) => outcome = Err(error),
                    }
                }
            });
            if is_withheld {
                alternatives.drop_empty_texts(part);
            }
        });
        outcome?;
        let ended = if ends { self.texts.close(&key) } else { None };
        if let Some(mut buffered) = ended.filter(|buffered| !buffered.pieces.is_empty()) {
            alternatives.put_text(item, self.whole_text(&mut buffered));
        }
        Ok(is_withheld)
    }

    fn ollama_text(&mut self, event: &mut Node<'_>) -> Result<Passed, Error> {
        const PATH: Path = &["message", "content"];
        let key = TextKey { block: Key::in_choice(0, 0), part: 0 };
        let ends = event.bool_at("done") == Some(true);
        let mut passed = Passed::Event;
        let carrier = Carrier::new(event.detached(), TextLocation::Path(PATH));
        let is_withheld = event.visit("message", |message| self.take(message, "content", &key, || carrier));
        if is_withheld.unwrap_or(Ok(false))? && !ends {
            let message = event.object_at("message");
            let is_alone = message
                .is_none_or(|message| message.iter().all(|member| member.key.is("role") || member.key.is("content")));
            if is_alone
                && events::has_only(event, |key| {
                    ["model", "created_at", "message", "done"].iter().any(|known| key.is(*known))
                })
            {
                passed = Passed::Nothing;
            }
        }
        let ended = if ends { self.texts.close(&key) } else { None };
        if let Some(mut buffered) = ended.filter(|buffered| !buffered.pieces.is_empty()) {
            set(event, PATH, Node::string(self.whole_text(&mut buffered)));
        }
        Ok(passed)
    }
}
