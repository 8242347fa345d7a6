//! Restores the arguments of one call piece by piece.

use alloc::{format, string::String, vec::Vec};
use core::mem::take;

use super::{buffered_calls::append, call_repair::CallReports, custom_input::CustomInput, restore::RestoreMap};
use crate::{
    error::{Code, Error},
    json::Text,
    limits::MAX_HELD_BYTES,
    report::RepairedCall,
    request::report::CallKind,
};

/// The arguments of one call.
#[derive(Debug)]
pub(crate) struct CallPieces {
    /// The map, the tool's name and the pieces so far, if the arguments can be restored only as a whole.
    buffered: Option<(RestoreMap, Text<'static>, String)>,
    /// The parser of a `custom` tool's input.
    input: Option<CustomInput>,
    /// True once a piece was added, even an empty one: then there is a call to finish.
    has_begun: bool,
    reports: CallReports,
}

impl CallPieces {
    pub(crate) fn new(restore_map: &RestoreMap, name: &Text<'_>) -> Self {
        let buffered = restore_map
            .is_buffered(name)
            .then(|| (restore_map.only(name), name.borrowed().into_owned(), String::new()));
        let input = (restore_map.kind(name) == CallKind::Custom).then(CustomInput::new);
        // In a stream, unterminated text counts as truncated.
        CallPieces { buffered, input, has_begun: false, reports: CallReports::cut() }
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

    /// Does the same as [`Self::feed`] for text that may end with half of a surrogate pair and continue with the other
    /// half in the next piece. Inside JSON text, an escape is equivalent.
    ///
    /// # Errors
    /// Same as [`Self::feed`].
    pub(super) fn feed_text(&mut self, piece: &Text<'_>) -> Result<String, Error> {
        match piece.value() {
            Some(piece) => self.feed(&piece),
            None => {
                let mut written = String::new();
                append(&mut written, piece);
                self.feed(&written)
            }
        }
    }

    /// Returns the reports of repaired calls, without duplicates.
    pub(crate) fn take_repaired_calls(&mut self) -> Vec<RepairedCall> {
        self.reports.take()
    }

    /// Returns true if no state is buffered.
    pub(crate) fn is_at_rest(&self) -> bool {
        !self.has_begun && self.buffered() == 0 && self.input.as_ref().is_none_or(CustomInput::is_at_rest)
    }

    /// Returns the number of buffered bytes.
    pub(super) fn buffered(&self) -> usize {
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
