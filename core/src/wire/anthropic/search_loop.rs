//! Runs tool searches for clients of Anthropic Messages. Rewrites replies and streams as if Anthropic's servers had run
//! the searches.
//!
//! The client receives the searches as `server_tool_use` and `tool_search_tool_result` blocks, which it stores in its
//! history and sends with later requests.
//!
//! The model's replies are stored for the request that asks the model again. Above [`MAX_HELD_BYTES`], or after a call
//! to one of the client's tools, nothing more is stored. The rest of the reply is then passed on, and a search in the
//! rest ends the reply with `pause_turn`.

use alloc::{string::String, vec::Vec};

use crate::{
    collections::Map,
    deferred,
    error::{Code, Error},
    exchange::{
        searches::{Catalogue, Searches},
        usage,
    },
    json::{self, Node, Text},
    limits::MAX_HELD_BYTES,
    options::{AdaptOptions, Api, ToolFormat},
    search::{self, Call},
    wire::{self, units::has_type as is},
};

#[derive(Debug)]
pub(crate) struct SearchLoop {
    searches: Searches,
    pub(crate) client_request: String,
    /// Number of times that the model may still be asked again.
    rounds_left: usize,
    /// Blocks of all rounds so far, as the client receives them.
    client_blocks: Vec<Node<'static>>,
    /// Number of stored bytes of replies, over all rounds.
    stored_bytes: usize,
    /// True if the rest of the stream is passed on without being stored, so the model cannot be asked again.
    only_passes: bool,
    /// Token usage of the previous rounds.
    used: Option<Node<'static>>,
    /// The id of the first round's message.
    id: Option<Node<'static>>,
    round: Round,
    /// True if this round ended with a search, so the model must be asked again.
    pub(crate) asks_again: bool,
    /// True if this round contains the structured output.
    pub(crate) is_answered: bool,
}

impl SearchLoop {
    /// Returns the name of the hosted search in the request, if this module must answer it.
    pub(crate) fn hosted_search_to_answer(
        request: &Node<'_>,
        adapting: &AdaptOptions,
    ) -> Result<Option<Text<'static>>, Error> {
        let Some(deferred) = &adapting.deferred else { return Ok(None) };
        let emulates = deferred.emulates_search() && adapting.tools.format == Some(ToolFormat::Anthropic);
        if emulates {
            deferred::hosted_search(request)
        } else {
            Ok(None)
        }
    }

    pub(crate) fn new(searches: Searches, body: &str, rounds: usize) -> SearchLoop {
        SearchLoop {
            searches,
            client_request: body.into(),
            rounds_left: rounds,
            client_blocks: Vec::new(),
            stored_bytes: 0,
            only_passes: false,
            used: None,
            id: None,
            round: Round::default(),
            asks_again: false,
            is_answered: false,
        }
    }

    pub(crate) fn next_request(&self) -> Result<Node<'_>, Error> {
        let mut node = crate::request::read(&self.client_request)?;
        let turn =
            Node::record([("role", Node::literal("assistant")), ("content", Node::array(self.client_blocks.clone()))]);
        node.visit("messages", |messages| messages.as_array_mut().map(|messages| messages.push(turn)));
        Ok(node)
    }

    pub(crate) fn reply(&mut self, reply: &mut Node<'_>) -> Result<(), Error> {
        let Some(blocks) = reply.array_at("content") else { return Ok(()) };
        let blocks: Vec<Node<'static>> = blocks.iter().map(Node::detached).collect();
        if self.client_blocks.is_empty() && !blocks.iter().any(|block| is_search(&self.searches, block)) {
            return Ok(());
        }
        let (mut searched, mut called) = (false, false);
        if self.is_answered {
            // Clients read all text as structured output, so earlier text is removed.
            self.client_blocks.retain(|block| !is(block, "text"));
        }
        self.stored_bytes =
            blocks.iter().fold(self.stored_bytes, |bytes, block| bytes.saturating_add(json::length(block)));
        for mut block in blocks {
            let is_search = is_search(&self.searches, &block);
            if is_search {
                rewrite_call(&self.searches, &mut block);
                let result = result(&mut self.searches, &block, &self.client_request)?;
                self.client_blocks.extend([block, result]);
            } else {
                called |= is(&block, "tool_use");
                self.client_blocks.push(block);
            }
            searched |= is_search;
        }
        let used = usage::total(self.used.as_ref(), reply.get(wire::of(Api::Anthropic).reply().usage()));
        let id = self.id.take().or_else(|| reply.get("id").map(Node::detached));
        let next = self.decide_next(searched, called, reply.get("stop_reason"));
        if next == Next::AsksAgain {
            (self.used, self.id, self.asks_again) = (used, id, true);
            return Ok(());
        }
        for (key, value) in [("id", id), ("content", Some(Node::array(self.client_blocks.clone()))), ("usage", used)] {
            if let Some(value) = value {
                reply.set(key, value);
            }
        }
        if next == Next::Pauses {
            reply.set("stop_reason", Node::literal(PAUSE));
        }
        if self.is_answered && !called {
            end_with_text(reply);
        }
        Ok(())
    }

    fn decide_next(&mut self, searched: bool, called: bool, stop_reason: Option<&Node<'_>>) -> Next {
        let ended = stop_reason
            .is_none_or(|reason| reason.is_null() || ["tool_use", "end_turn"].iter().any(|word| reason.is_text(word)));
        // The client answers calls to its own tools and sends the next request itself.
        if !searched || called || self.is_answered || !ended {
            return Next::Ends;
        }
        if self.rounds_left == 0 || self.only_passes || self.stored_bytes > MAX_HELD_BYTES {
            return Next::Pauses;
        }
        self.rounds_left -= 1;
        Next::AsksAgain
    }
}

/// Changes the stop reason of a message that has no calls for the client: only searches or the structured output.
fn end_with_text(holder: &mut Node<'_>) {
    if holder.get("stop_reason").is_some_and(|reason| reason.is_text("tool_use")) {
        holder.set("stop_reason", Node::literal("end_turn"));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Ends,
    AsksAgain,
    /// The reply ends with [`PAUSE`], and the client may ask again.
    Pauses,
}

/// Anthropic's stop reason if the server's search loop ends before the model does: the client sends the reply back to
/// continue.
const PAUSE: &str = "pause_turn";

fn is_search(searches: &Searches, block: &Node<'_>) -> bool {
    is(block, "tool_use") && searches.is_call(block)
}

fn rewrite_call(searches: &Searches, block: &mut Node<'_>) {
    let id = block.text_at("id").map(|id| server_id(&id.display())).unwrap_or_default();
    block.set("type", Node::literal("server_tool_use"));
    block.set("id", Node::string(id));
    block.set("name", Node::string(searches.name.clone()));
}

/// `rewritten` is a call that [`rewrite_call`] rewrote. `client_request` contains the tools.
fn result(searches: &mut Searches, rewritten: &Node<'_>, client_request: &str) -> Result<Node<'static>, Error> {
    let mut call = rewritten.detached();
    call.set("type", Node::literal("tool_use"));
    call.set("name", Node::string(searches.options.tool_search_name.clone()));
    let options = searches.options.clone();
    let Catalogue { index, restore_map, .. } = searches.catalogue(client_request)?;
    let answer = match Call::recognize(&call, &options) {
        Some(call) => search::answer(&call, index, &options, &|_, _| {})?,
        None => Node::default(),
    };
    let content = if answer.get("is_error").is_some() {
        Node::record([
            ("type", Node::literal("tool_search_tool_result_error")),
            ("error_code", Node::literal("invalid_tool_input")),
        ])
    } else {
        let blocks = answer.items_at("content");
        let reference = |block: &Node<'_>| {
            let mut reference = block.detached();
            let called = block.text_at("tool_name");
            if let Some(restored) = called.and_then(|called| restore_map.name(called)) {
                reference.set("tool_name", Node::string(restored.name.into_owned()));
                if let Some(server) = restored.server {
                    reference.set("server", Node::string(server.into_owned()));
                }
            }
            reference
        };
        let references = blocks.iter().filter(|block| is(block, "tool_reference")).map(reference).collect();
        Node::record([
            ("type", Node::literal("tool_search_tool_search_result")),
            ("tool_references", Node::array(references)),
        ])
    };
    let id = rewritten.get("id").map(Node::detached).unwrap_or_default();
    Ok(Node::record([("type", Node::literal("tool_search_tool_result")), ("tool_use_id", id), ("content", content)]))
}

/// Returns an id in the form of Anthropic's server tools: `srvtoolu_`, then letters, digits and underscores.
fn server_id(id: &str) -> String {
    let suffix = ["srvtoolu_", "toolu_"].iter().find_map(|prefix| id.strip_prefix(prefix)).unwrap_or(id);
    let legal = suffix.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' });
    "srvtoolu_".chars().chain(legal).collect()
}

#[derive(Debug, Default)]
pub(crate) struct Round {
    /// The incomplete blocks, by the backend's block number.
    open: Map<u64, Open>,
    /// The client's block numbers minus the backend's.
    index_offset: u64,
    /// True if the client already has the beginning of the message.
    continues: bool,
    searched: bool,
    called: bool,
    /// True if the round's stop reason was processed.
    stopped: bool,
    used: Option<Node<'static>>,
}

#[derive(Debug)]
struct Open {
    block: Node<'static>,
    /// The text so far, or the JSON text of the arguments so far.
    pieces: String,
    is_search: bool,
}

/// The types of deltas, each with the member that contains its piece.
const PIECES: [(&str, &str); 3] =
    [("text_delta", "text"), ("thinking_delta", "thinking"), ("input_json_delta", "partial_json")];
const INPUT: &str = "input";
/// Approximate size of an open block without its text, in bytes.
const BLOCK: usize = 256;

fn bare(block: &Node<'_>) -> Node<'static> {
    Node::record([("type", block.get("type").map(Node::detached).unwrap_or_default())])
}

impl SearchLoop {
    pub(crate) fn feed<'a>(&mut self, mut event: Node<'a>, out: &mut Vec<Node<'a>>) -> Result<(), Error> {
        let number = event.u64_at("index");
        if is(&event, "message_start") {
            let message = event.get("message");
            self.round.used = message.and_then(|message| message.get("usage")).map(Node::detached);
            if self.round.continues {
                return Ok(());
            }
            self.id = message.and_then(|message| message.get("id")).map(Node::detached);
        } else if let (true, Some(number)) = (is(&event, "content_block_start"), number) {
            self.begin(number, &mut event)?;
        } else if let (true, Some(number)) = (is(&event, "content_block_delta"), number) {
            self.add(number, &event)?;
            self.renumber(&mut event, number);
        } else if let (true, Some(number)) = (is(&event, "content_block_stop"), number) {
            self.renumber(&mut event, number);
            out.push(event);
            return self.end(number, out);
        } else if is(&event, "message_delta") {
            if !self.process_message_delta(&mut event) {
                return Ok(());
            }
        } else if is(&event, "message_stop") && (self.asks_again || self.ends_without_reason()) {
            return Ok(());
        }
        out.push(event);
        Ok(())
    }

    fn renumber(&self, event: &mut Node<'_>, number: u64) {
        if self.round.index_offset > 0 {
            event.set("index", Node::count(number.saturating_add(self.round.index_offset)));
        }
    }

    fn begin(&mut self, number: u64, event: &mut Node<'_>) -> Result<(), Error> {
        let Some(block) = event.get("content_block") else { return Ok(()) };
        let is_search = is_search(&self.searches, block);
        self.count_stored(BLOCK.saturating_add(if self.only_passes && !is_search { 0 } else { json::length(block) }))?;
        let mut block = if self.only_passes && !is_search { bare(block) } else { block.detached() };
        if is_search {
            rewrite_call(&self.searches, &mut block);
            event.visit("content_block", |block| rewrite_call(&self.searches, block));
        }
        self.renumber(event, number);
        self.round.open.insert(number, Open { block, pieces: String::new(), is_search });
        Ok(())
    }

    fn end(&mut self, number: u64, out: &mut Vec<Node<'_>>) -> Result<(), Error> {
        let Some(open) = self.round.open.remove(&number) else { return Ok(()) };
        let is_search = open.is_search;
        if self.only_passes {
            let block = if is_search { json::length(&open.block) } else { 0 };
            self.stored_bytes = self.stored_bytes.saturating_sub(BLOCK + block + open.pieces.len());
        }
        let block = open.whole();
        self.round.called |= is(&block, "tool_use");
        self.round.searched |= is_search;
        let result = if is_search { Some(result(&mut self.searches, &block, &self.client_request)?) } else { None };
        if let Some(result) = result.as_ref().filter(|_| !self.only_passes) {
            self.count_stored(json::length(result))?;
        }
        self.store(block);
        if let Some(result) = result {
            self.round.index_offset += 1;
            let index = Node::count(number.saturating_add(self.round.index_offset));
            out.push(Node::record([
                ("type", Node::literal("content_block_start")),
                ("index", index.clone()),
                ("content_block", result.clone()),
            ]));
            out.push(Node::record([("type", Node::literal("content_block_stop")), ("index", index)]));
            self.store(result);
        }
        // The client answers calls to its own tools, so this module does not ask the model again.
        if self.round.called {
            self.drop_stored_blocks();
        }
        Ok(())
    }

    fn store(&mut self, block: Node<'static>) {
        if !self.only_passes {
            self.client_blocks.push(block);
        }
    }

    fn add(&mut self, number: u64, event: &Node<'_>) -> Result<(), Error> {
        let only_passes = self.only_passes;
        let open = self.round.open.get_mut(&number).filter(|open| !only_passes || open.is_search);
        let Some((open, delta)) = open.zip(event.get("delta")) else { return Ok(()) };
        if let Some((_, key)) = PIECES.iter().find(|(kind, _)| is(delta, kind)) {
            let piece = delta.text_at(key).map(Text::display).unwrap_or_default();
            open.pieces.push_str(&piece);
            return self.count_stored(piece.len());
        }
        if let (true, Some(signature)) = (is(delta, "signature_delta"), delta.get("signature")) {
            open.block.set("signature", signature.detached());
            return self.count_stored(json::length(signature));
        }
        Ok(())
    }

    /// Counts stored bytes. Above the limit, drops everything except incomplete searches.
    ///
    /// # Errors
    /// `limit-exceeded` if the incomplete searches alone exceed the limit.
    fn count_stored(&mut self, bytes: usize) -> Result<(), Error> {
        self.stored_bytes = self.stored_bytes.saturating_add(bytes);
        if self.stored_bytes > MAX_HELD_BYTES && !self.only_passes {
            self.drop_stored_blocks();
        }
        if self.stored_bytes > MAX_HELD_BYTES {
            let message = alloc::format!("expected searches of at most {MAX_HELD_BYTES} bytes, found more");
            return Err(Error::new(Code::LimitExceeded, "", message));
        }
        Ok(())
    }

    /// Keeps only incomplete searches.
    fn drop_stored_blocks(&mut self) {
        self.only_passes = true;
        self.client_blocks = Vec::new();
        self.stored_bytes = 0;
        let open = core::mem::take(&mut self.round.open);
        for (number, mut open) in open {
            if open.is_search {
                self.stored_bytes =
                    self.stored_bytes.saturating_add(BLOCK + json::length(&open.block) + open.pieces.len());
            } else {
                (open.block, open.pieces) = (bare(&open.block), String::new());
                self.stored_bytes = self.stored_bytes.saturating_add(BLOCK);
            }
            self.round.open.insert(number, open);
        }
    }

    /// Returns true if the event must be passed on.
    fn process_message_delta(&mut self, event: &mut Node<'_>) -> bool {
        if let Some(last) = event.get("usage") {
            self.round.used = Some(usage::overlay(self.round.used.as_ref(), last));
        }
        // Only one of several `message_delta` events has the stop reason.
        let reason = event
            .get("delta")
            .and_then(|delta| delta.get("stop_reason"))
            .filter(|reason| !reason.is_null())
            .map(Node::detached);
        let next = match reason {
            Some(reason) if !self.asks_again => self.decide(Some(&reason)),
            _ => Next::Ends,
        };
        if self.asks_again {
            return false;
        }
        let used = usage::total(self.used.as_ref(), self.round.used.as_ref());
        if let (true, Some(used)) = (self.round.continues, used) {
            event.set("usage", used);
        }
        if next == Next::Pauses {
            event.visit("delta", |delta| delta.set("stop_reason", Node::literal(PAUSE)));
        }
        if self.is_answered && !self.round.called {
            event.visit("delta", end_with_text);
        }
        true
    }

    /// Returns true if the model must be asked again.
    fn ends_without_reason(&mut self) -> bool {
        !self.round.stopped && self.decide(None) == Next::AsksAgain
    }

    fn decide(&mut self, reason: Option<&Node<'_>>) -> Next {
        self.round.stopped = true;
        let next = self.decide_next(self.round.searched, self.round.called, reason);
        self.asks_again = next == Next::AsksAgain;
        next
    }

    pub(crate) fn begin_round(&mut self) {
        let round = core::mem::replace(
            &mut self.round,
            Round { index_offset: self.client_blocks.len() as u64, continues: true, ..Round::default() },
        );
        self.used = usage::total(self.used.as_ref(), round.used.as_ref());
    }
}

impl Open {
    fn whole(self) -> Node<'static> {
        let Open { mut block, pieces, .. } = self;
        if block.get(INPUT).is_some() {
            // If the model's arguments are not valid JSON, the input of the block's first event remains: an empty
            // search.
            if let Ok(input) = json::read(&pieces) {
                block.set(INPUT, input.detached());
            }
        } else if let Some(key) = ["text", "thinking"].into_iter().find(|key| block.get(key).is_some()) {
            let begun = block.text_at(key).map(|text| text.display().into_owned()).unwrap_or_default();
            block.set(key, Node::string(begun + &pieces));
        }
        block
    }
}
