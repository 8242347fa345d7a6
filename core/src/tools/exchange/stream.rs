//! A reply in pieces, told as the provider would tell it: text passes at once, searches as blocks of the provider's own, and
//! several rounds as one message.

use alloc::{string::String, vec::Vec};

use super::{is, overlay, total, Next, Rounds, PAUSE};
use crate::{
    error::{Code, Error},
    json::{self, Node, Text},
    limits::MAX_HELD_BYTES,
    sorted::Map,
    tools::shape::set,
};

/// What a round has said.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// The blocks that are not whole yet, by the number that the backend gave them.
    open: Map<u64, Open>,
    /// How much of them is kept.
    bytes: usize,
    /// What the numbers of the client's blocks are ahead of the backend's.
    ahead: u64,
    /// Whether the client has the beginning of the message already.
    continues: bool,
    searched: bool,
    called: bool,
    used: Option<Node<'static>>,
}

/// A block that is not whole yet.
#[derive(Debug)]
struct Open {
    block: Node<'static>,
    /// What came of its text, or of its arguments as JSON text.
    pieces: String,
    is_search: bool,
}

/// By the kind of a piece: the member that holds it.
const PIECES: [(&str, &str); 3] = [("text_delta", "text"), ("thinking_delta", "thinking"), ("input_json_delta", "partial_json")];
const INPUT: &str = "input";

impl Rounds {
    /// Takes an event, and gives what is to be passed on.
    pub(super) fn feed<'a>(&mut self, mut event: Node<'a>, out: &mut Vec<Node<'a>>) -> Result<(), Error> {
        let number = event.get("index").and_then(Node::as_u64);
        if is(&event, "message_start") {
            let message = event.get("message");
            self.round.used = message.and_then(|message| message.get("usage")).map(Node::detached);
            if self.round.continues {
                return Ok(());
            }
            self.id = message.and_then(|message| message.get("id")).map(Node::detached);
        } else if let (true, Some(number)) = (is(&event, "content_block_start"), number) {
            self.begin(number, &mut event);
        } else if let (true, Some(number)) = (is(&event, "content_block_delta"), number) {
            self.round.add(number, &event)?;
            self.renumber(&mut event, number);
        } else if let (true, Some(number)) = (is(&event, "content_block_stop"), number) {
            self.renumber(&mut event, number);
            out.push(event);
            return self.end(number, out);
        } else if is(&event, "message_delta") {
            if !self.stops(&mut event) {
                return Ok(());
            }
        } else if is(&event, "message_stop") && self.again {
            return Ok(());
        }
        out.push(event);
        Ok(())
    }

    fn renumber(&self, event: &mut Node<'_>, number: u64) {
        if self.round.ahead > 0 {
            set(event, "index", Node::count(number.saturating_add(self.round.ahead)));
        }
    }

    fn begin(&mut self, number: u64, event: &mut Node<'_>) {
        let Some(block) = event.get("content_block") else { return };
        let mut block = block.detached();
        let is_search = self.searches.is_search(&block);
        if is_search {
            self.searches.tell(&mut block);
            event.visit("content_block", |shown| self.searches.tell(shown));
        }
        self.renumber(event, number);
        self.round.open.insert(number, Open { block, pieces: String::new(), is_search });
    }

    /// A block is whole. If it is a search, its result follows.
    fn end(&mut self, number: u64, out: &mut Vec<Node<'_>>) -> Result<(), Error> {
        let Some(open) = self.round.open.remove(&number) else { return Ok(()) };
        let is_search = open.is_search;
        let block = open.whole();
        self.round.called |= is(&block, "tool_use");
        self.round.searched |= is_search;
        let result = if is_search { Some(self.searches.result(&block, &self.asked)?) } else { None };
        self.said.push(block);
        if let Some(result) = result {
            self.round.ahead += 1;
            let place = Node::count(number.saturating_add(self.round.ahead));
            out.push(Node::record([
                ("type", Node::literal("content_block_start")),
                ("index", place.clone()),
                ("content_block", result.clone()),
            ]));
            out.push(Node::record([("type", Node::literal("content_block_stop")), ("index", place)]));
            self.said.push(result);
        }
        Ok(())
    }

    /// The round stops. Tells whether the client is to know.
    fn stops(&mut self, event: &mut Node<'_>) -> bool {
        let continues = self.round.continues;
        let used = match event.get("usage") {
            Some(last) => Some(overlay(self.round.used.take(), &last.detached())),
            None => self.round.used.take(),
        };
        let used = used.map(|used| total(self.used.as_ref(), &used)).or_else(|| self.used.clone());
        let (searched, called) = (self.round.searched, self.round.called);
        let next = self.next(searched, called, event.get("delta").and_then(|delta| delta.get("stop_reason")));
        if next == Next::AsksAgain {
            self.again = true;
            self.used = used;
            self.round = Round { ahead: self.said.len() as u64, continues: true, ..Round::default() };
            return false;
        }
        if let (true, Some(used)) = (continues, used) {
            set(event, "usage", used);
        }
        if next == Next::Pauses {
            event.visit("delta", |delta| set(delta, "stop_reason", Node::literal(PAUSE)));
        }
        true
    }
}

impl Open {
    /// The block as it would stand in a whole reply.
    fn whole(self) -> Node<'static> {
        let Open { mut block, pieces, .. } = self;
        if block.get(INPUT).is_some() {
            // Arguments that are no JSON are the model's mistake; what is searched for then is nothing.
            if let Ok(input) = json::read(&pieces) {
                set(&mut block, INPUT, input.detached());
            }
        } else if let Some(key) = ["text", "thinking"].into_iter().find(|key| block.get(key).is_some()) {
            let begun = block.get(key).and_then(Node::as_text).map(|text| text.display().into_owned()).unwrap_or_default();
            set(&mut block, key, Node::string(begun + &pieces));
        }
        block
    }
}

impl Round {
    /// Adds a piece to the block that it belongs to.
    fn add(&mut self, number: u64, event: &Node<'_>) -> Result<(), Error> {
        let Some((open, delta)) = self.open.get_mut(&number).zip(event.get("delta")) else { return Ok(()) };
        if let Some((_, key)) = PIECES.iter().find(|(kind, _)| is(delta, kind)) {
            let piece = delta.get(key).and_then(Node::as_text).map(Text::display).unwrap_or_default();
            self.bytes += piece.len();
            open.pieces.push_str(&piece);
        } else if let (true, Some(signature)) = (is(delta, "signature_delta"), delta.get("signature")) {
            set(&mut open.block, "signature", signature.detached());
        }
        if self.bytes > MAX_HELD_BYTES {
            let message = alloc::format!("expected a reply of at most {MAX_HELD_BYTES} bytes, found more");
            return Err(Error::new(Code::LimitExceeded, "", message));
        }
        Ok(())
    }
}
