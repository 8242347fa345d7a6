//! Restores the arguments of one call piece by piece. Converts streamed items to the items that the client expects.

use alloc::{format, string::String, vec::Vec};
use core::mem::take;

use super::buffered_calls::{append, pay, CALL};
use crate::{
    collections::Map,
    error::{Code, Error},
    json::{self, Node, Text},
    limits::MAX_HELD_BYTES,
    reply::{call_repair::CallReports, restore::RestoreMap},
    report::RepairedCall,
    request::report::CallKind,
    wire::events::{at, decode, visit, Content, InputEvents, Key, KnownEvent, Meaning},
    wire::responses::client_item::CustomInput,
};

#[derive(Debug)]
pub(crate) struct CallPieces {
    /// The map, the tool's name and the pieces so far, if the arguments can be restored only as a whole.
    buffered: Option<(RestoreMap, Text<'static>, String)>,
    input: Option<CustomInput>,
    /// True once a piece was added, even an empty one. Then there is a call to finish.
    has_begun: bool,
    reports: CallReports,
}

impl CallPieces {
    pub(crate) fn new(restore_map: &RestoreMap, name: &Text<'_>) -> Self {
        let buffered = restore_map
            .is_buffered(name)
            .then(|| (restore_map.only(name), name.borrowed().into_owned(), String::new()));
        let input = (restore_map.kind(name) == CallKind::Custom).then(CustomInput::new);
        // In a stream, unterminated text is treated as truncated.
        CallPieces { buffered, input, has_begun: false, reports: CallReports::of_incomplete_reply() }
    }

    /// Adds a piece. Returns the text to pass on.
    ///
    /// # Errors
    /// `limit-exceeded`, in which case the piece is discarded.
    pub(crate) fn feed(&mut self, piece: &str) -> Result<String, Error> {
        if self.buffered.is_none() && self.input.is_none() {
            return Ok(piece.into());
        }
        if self.buffered().saturating_add(piece.len()) > MAX_HELD_BYTES {
            let message = format!("expected arguments of at most {MAX_HELD_BYTES} bytes, found more");
            return Err(Error::new(Code::LimitExceeded, "", message));
        }
        self.has_begun = true;
        match (&mut self.buffered, &mut self.input) {
            (Some((_, _, kept)), _) => kept.push_str(piece),
            (None, Some(input)) => return Ok(input.feed(piece)),
            (None, None) => {}
        }
        Ok(String::new())
    }

    /// Like [`Self::feed`], for text that may end with half of a surrogate pair. Each half is written as an escape such
    /// as `\ud83d`, which is equivalent in JSON text.
    pub(crate) fn feed_text(&mut self, piece: &Text<'_>) -> Result<String, Error> {
        match piece.value() {
            Some(piece) => self.feed(&piece),
            None => {
                let mut written = String::new();
                append(&mut written, piece);
                self.feed(&written)
            }
        }
    }

    pub(crate) fn take_repaired_calls(&mut self) -> Vec<RepairedCall> {
        self.reports.take()
    }

    pub(crate) fn is_at_rest(&self) -> bool {
        !self.has_begun && self.buffered() == 0 && self.input.as_ref().is_none_or(CustomInput::is_at_rest)
    }

    pub(crate) fn buffered(&self) -> usize {
        let buffered = self.buffered.as_ref().map_or(0, |(_, _, kept)| kept.len());
        buffered + self.input.as_ref().map_or(0, CustomInput::buffered)
    }

    /// Ends the call and resets the state. Returns the rest of the arguments, which is empty if no call has begun.
    ///
    /// # Errors
    /// `budget-exceeded` if the arguments take too many steps to restore. They are discarded.
    pub(crate) fn finish(&mut self) -> Result<String, Error> {
        let mut out = String::new();
        let has_begun = take(&mut self.has_begun);
        if let Some((restore_map, name, kept)) = self.buffered.as_mut().filter(|_| has_begun) {
            let written = take(kept);
            out = match restore_map.text(name, &written, None, &mut self.reports) {
                Ok(restored) => restored.unwrap_or(written),
                Err(error) => {
                    self.input = self.input.take().map(|_| CustomInput::new());
                    return Err(error);
                }
            };
        }
        if let Some(input) = &mut self.input {
            out = input.feed(&out);
            out.push_str(&input.finish());
            *input = CustomInput::new();
        }
        Ok(out)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Items {
    open: Map<Key, Open>,
    cost: usize,
}

#[derive(Debug)]
struct Open {
    /// The tool's name as sent to the API.
    name: Text<'static>,
    /// The input of a `custom` tool; `None` for a search, which is passed on when it ends.
    pieces: Option<CallPieces>,
    /// The last event with empty text, to send with the rest of the input.
    carrier: Option<Node<'static>>,
    events: &'static InputEvents,
    cost: usize,
}

impl Items {
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns false if the event does not belong to one of these items.
    pub(crate) fn feed<'a>(
        &mut self,
        event: &mut Node<'a>,
        restore_map: &RestoreMap,
        out: &mut Vec<Node<'a>>,
    ) -> Result<bool, Error> {
        let Some(known_event) = decode(event) else { return Ok(false) };
        let meaning = known_event.meaning();
        if meaning == Meaning::Begin {
            return self.begin(known_event, event, restore_map, out);
        }
        if known_event.is_finish() {
            out.extend(self.finish()?);
            return Ok(false);
        }
        let is_piece = meaning == Meaning::Delta && known_event.may_have(Content::Arguments);
        let is_end = meaning == Meaning::End && !known_event.unit_path().is_empty();
        if self.open.is_empty() || !(is_piece || is_end || meaning == Meaning::Snapshot) {
            return Ok(false);
        }
        let key = known_event.key(event);
        let Some(open) = self.open.get_mut(&key) else { return Ok(false) };
        if is_piece {
            // Charges the length of the whole event before processing it, because no more than this can be buffered. An
            // event that would exceed the limit is therefore refused before it changes the state.
            let length = json::length(event);
            pay(&mut self.cost, length)?;
            let passes = open.piece(known_event, event);
            self.cost -= length + open.cost;
            open.cost = CALL + open.buffered();
            self.cost += open.cost;
            if passes? {
                out.push(core::mem::take(event));
            }
        } else if !is_end {
            out.extend(open.rest(event)?);
            if open.pieces.is_some() {
                open.whole(event, restore_map)?;
                out.push(core::mem::take(event));
            }
        } else {
            // The item is a search, or a call of a `custom` tool. Neither is repaired, so there are no reports.
            restore(known_event, event, restore_map)?;
            out.extend(open.rest(event)?);
            out.push(core::mem::take(event));
            self.close(&key);
        }
        Ok(true)
    }

    /// # Errors
    /// The errors of [`CallPieces::finish`]. No item stays open.
    pub(crate) fn finish(&mut self) -> Result<Vec<Node<'static>>, Error> {
        self.cost = 0;
        let open = core::mem::take(&mut self.open);
        open.into_iter().filter_map(|(_, mut open)| open.rest(&Node::default()).transpose()).collect()
    }

    fn begin<'a>(
        &mut self,
        known_event: KnownEvent,
        event: &mut Node<'a>,
        restore_map: &RestoreMap,
        out: &mut Vec<Node<'a>>,
    ) -> Result<bool, Error> {
        let Some(events) = known_event.inputs() else { return Ok(false) };
        let name = known_event.call(event).and_then(|call| restore_map.called(call, known_event.call_name()));
        let Some(name) = name.map(Text::into_owned) else { return Ok(false) };
        let key = known_event.key(event);
        let kind = restore_map.item_kind(&name);
        // Passes on the rest of an item that never ended.
        if let Some(mut before) = self.close(&key) {
            out.extend(before.rest(&Node::default())?);
        }
        if kind == CallKind::Function {
            return Ok(false);
        }
        let pieces = (kind == CallKind::Custom).then(|| CallPieces::new(restore_map, &name));
        pay(&mut self.cost, CALL)?;
        self.open.insert(key, Open { name, pieces, carrier: None, events, cost: CALL });
        restore(known_event, event, restore_map)?;
        out.push(core::mem::take(event));
        Ok(true)
    }

    fn close(&mut self, key: &Key) -> Option<Open> {
        let open = self.open.remove(key)?;
        self.cost -= open.cost;
        Some(open)
    }
}

fn restore(known_event: KnownEvent, event: &mut Node<'_>, restore_map: &RestoreMap) -> Result<(), Error> {
    let restored = visit(event, known_event.unit_path(), |item| restore_map.item(item, &mut CallReports::default()));
    restored.unwrap_or(Ok(()))
}

impl Open {
    /// Returns true if the event has to be passed on.
    fn piece(&mut self, known_event: KnownEvent, event: &mut Node<'_>) -> Result<bool, Error> {
        let Some(pieces) = &mut self.pieces else { return Ok(false) };
        let piece = known_event.piece(event, Content::Arguments).and_then(|path| at(event, path)?.as_text());
        let text = match piece {
            Some(piece) => pieces.feed_text(piece)?,
            None => return Ok(true),
        };
        let has_text = !text.is_empty();
        (self.events.piece)(event, text);
        self.carrier = (!has_text).then(|| event.detached());
        Ok(has_text)
    }

    fn buffered(&self) -> usize {
        self.pieces.as_ref().map_or(0, CallPieces::buffered) + self.carrier.as_ref().map_or(0, json::length)
    }

    /// Returns the buffered input in a separate event: the last event without text, or an event made from the event
    /// that ends the call.
    fn rest(&mut self, ends: &Node<'_>) -> Result<Option<Node<'static>>, Error> {
        let rest = self.pieces.as_mut().map_or(Ok(String::new()), CallPieces::finish)?;
        if rest.is_empty() {
            return Ok(None);
        }
        let mut event = self.carrier.take().unwrap_or_else(|| ends.detached());
        if event.as_object().is_none() {
            return Ok(None);
        }
        (self.events.piece)(&mut event, rest);
        Ok(Some(event))
    }

    fn whole(&self, event: &mut Node<'_>, restore_map: &RestoreMap) -> Result<(), Error> {
        let arguments = event.text_at("arguments").map(|text| text.display().into_owned()).unwrap_or_default();
        let mut pieces = CallPieces::new(restore_map, &self.name);
        let mut input = pieces.feed(&arguments)?;
        input.push_str(&pieces.finish()?);
        (self.events.whole)(event, input);
        Ok(())
    }
}
