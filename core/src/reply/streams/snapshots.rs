//! Detects servers that repeat all earlier arguments of a call in each piece, or all arguments at the end of the call.
//! Passes on only the new part of a piece.
//!
//! A piece that begins with all earlier arguments may also continue them, if an object contains its own beginning:
//! `{"a":` and `{"a":1}}`. Both readings are then stored, and the pieces are held until one reading is not JSON.
//!
//! Sources: hermes-agent#35718, opencode#17339 (DeepSeek on Qianfan, and servers like GLM's).

use alloc::{borrow::Cow, string::String};

use super::brackets::Scan;
use crate::json::{self, close_cut};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
/// How a server sends the arguments of a call.
pub(super) enum Sends {
    /// Each piece continues the earlier ones.
    Deltas,
    /// Each piece repeats the earlier ones.
    Snapshots,
}

/// Maximum number of pieces that are held while both readings are possible, to limit the work for each piece.
const MAX_HELD_PIECES: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Arguments {
    /// The arguments that were passed on; `None` once they are too long to be kept.
    passed: Option<String>,
    scan: Scan,
    sends: Option<Sends>,
    held: Option<Held>,
    /// True if the server sent an empty object as a value. Some servers send the arguments after it.
    is_empty_value: bool,
}

#[derive(Debug)]
struct Held {
    /// The arguments if each piece continues the earlier ones.
    joined: String,
    /// The arguments if each piece repeats the earlier ones.
    snapshot: String,
    pieces: usize,
}

fn may_become_json(text: &str) -> bool {
    is_json(text) || close_cut(text).is_some()
}

fn is_json(text: &str) -> bool {
    json::read(text).is_ok()
}

impl Arguments {
    pub(super) fn new() -> Arguments {
        Arguments { passed: Some(String::new()), ..Arguments::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes() == 0 && self.passed.is_some()
    }

    /// Returns true if the pieces form a complete value, as far as their brackets show.
    pub(super) fn is_whole(&self) -> bool {
        self.scan.is_whole && self.held.is_none()
    }

    pub(super) fn equals(&self, text: &str) -> bool {
        self.passed.as_deref() == Some(text)
    }

    pub(super) fn bytes(&self) -> usize {
        let held = self.held.as_ref().map_or(0, |held| held.joined.len() + held.snapshot.len());
        self.passed.as_ref().map_or(0, String::len) + held
    }

    pub(super) const fn is_held(&self) -> bool {
        self.held.is_some() || self.is_empty_value
    }

    /// Adds an empty object. It is passed on at the end, if nothing else is.
    pub(super) fn feed_empty_value(&mut self) {
        self.is_empty_value = self.is_empty();
    }

    /// Stops comparing: later pieces are passed on unchanged. Returns the freed bytes.
    pub(super) fn forget(&mut self) -> usize {
        if self.is_held() {
            return 0;
        }
        self.passed.take().map_or(0, |passed| passed.len())
    }

    /// Returns the text to pass on in place of the piece. `known` is how the server has sent other
    /// arguments.
    pub(super) fn feed<'t>(&mut self, piece: &'t str, known: &mut Option<Sends>) -> Cow<'t, str> {
        self.is_empty_value &= piece.is_empty();
        if let Some(held) = self.held.take() {
            return Cow::Owned(self.choose_reading(held, piece, known));
        }
        let Some(passed) = self.passed.as_deref().filter(|passed| !passed.is_empty() && !piece.is_empty()) else {
            return self.pass(piece);
        };
        let Some(rest) = piece.strip_prefix(passed) else {
            if self.sends.is_none() {
                self.learn(Sends::Deltas, known);
            }
            return self.pass(piece);
        };
        if self.sends == Some(Sends::Snapshots) {
            return self.pass(rest);
        }
        if !may_become_json(passed) {
            // Text that is not JSON does not show how it continues.
            return if self.scan.is_whole && rest.is_empty() { Cow::Borrowed("") } else { self.pass(piece) };
        }
        let joined = String::from(passed) + piece;
        if !may_become_json(&joined) {
            if self.sends.is_none() {
                self.learn(Sends::Snapshots, known);
            }
            return self.pass(rest);
        }
        match *known {
            Some(Sends::Deltas) => self.pass(piece),
            Some(Sends::Snapshots) => {
                self.sends = Some(Sends::Snapshots);
                self.pass(rest)
            }
            None => {
                self.held = Some(Held { joined, snapshot: piece.into(), pieces: 1 });
                Cow::Borrowed("")
            }
        }
    }

    pub(super) fn finish(&mut self) -> String {
        if core::mem::take(&mut self.is_empty_value) {
            return self.release("{}");
        }
        let Some(held) = self.held.take() else { return String::new() };
        let is_snapshot = !is_json(&held.joined) && is_json(&held.snapshot);
        self.release(if is_snapshot { &held.snapshot } else { &held.joined })
    }

    fn learn(&mut self, sends: Sends, known: &mut Option<Sends>) {
        self.sends = Some(sends);
        known.get_or_insert(sends);
    }

    /// Returns the text to pass on.
    fn choose_reading(&mut self, mut held: Held, piece: &str, known: &mut Option<Sends>) -> String {
        if piece.is_empty() {
            self.held = Some(held);
            return String::new();
        }
        let repeats = piece.starts_with(held.snapshot.as_str());
        held.joined.push_str(piece);
        held.pieces += 1;
        if !repeats || held.pieces > MAX_HELD_PIECES {
            self.learn(Sends::Deltas, known);
            return self.release(&held.joined);
        }
        if !may_become_json(&held.joined) {
            self.learn(Sends::Snapshots, known);
            return self.release(piece);
        }
        held.snapshot = piece.into();
        self.held = Some(held);
        String::new()
    }

    /// Passes on the new part of `whole`, which contains all arguments.
    fn release(&mut self, whole: &str) -> String {
        let passed = self.passed.as_ref().map_or(0, String::len);
        self.pass(whole.get(passed..).unwrap_or_default()).into_owned()
    }

    fn pass<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        self.scan.feed(text);
        if let Some(passed) = &mut self.passed {
            passed.push_str(text);
        }
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(pieces: &[&str]) -> String {
        let (mut arguments, mut known) = (Arguments::new(), None);
        let mut whole = String::new();
        for piece in pieces {
            whole.push_str(&arguments.feed(piece, &mut known));
        }
        whole + &arguments.finish()
    }

    #[test]
    fn repeated_arguments_are_passed_on_once() {
        for pieces in [
            &["{\"a\"", "{\"a\":\"x", "{\"a\":\"xy\"}"][..],
            // The second piece could continue the first one.
            &["{\"a\":", "{\"a\":\"x", "{\"a\":\"xy\"}"],
            &["{\"a\":", "{\"a\":\"xy\"}"],
            &["{", "{\"a\":\"xy\"}", "{\"a\":\"xy\"}"],
            &["{\"a\":", "\"xy\"}", "{\"a\":\"xy\"}"],
            &["{\"a\":\"xy\"}", "", "{\"a\":\"xy\"}"],
        ] {
            assert_eq!(join(pieces), "{\"a\":\"xy\"}", "{pieces:?}");
        }
    }

    #[test]
    fn arguments_that_contain_themselves_are_kept() {
        for pieces in [
            &["{\"a\":", "{\"a\":", "1}}"][..],
            &["{\"a\":", "{\"a\":1}", "}"],
            &["{\"a\":", "{\"a\":1}}"],
            &["{\"a\":[", "{\"a\":[", "1]}]}"],
            &["{'a':", "{'a': 1}}"],
            &["not", "note", "d"],
        ] {
            assert_eq!(join(pieces), pieces.concat(), "{pieces:?}");
        }
    }

    #[test]
    fn held_pieces_are_bounded() {
        let pieces = ["{\"a\":"; 100];
        assert_eq!(join(&pieces), pieces.concat());
    }
}
