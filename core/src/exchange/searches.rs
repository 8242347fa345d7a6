//! Answers the model's searches instead of the provider, and rewrites streamed replies into the provider's form.
//!
//! The client receives the searches in the provider's form, as `server_tool_use` and `tool_search_tool_result` blocks,
//! which it stores in its history and sends with later requests.
//!
//! The model's answers, up to [`MAX_HELD_BYTES`], are stored for the request that asks the model again. Above that
//! limit, or after a call to one of the client's tools, nothing more is stored: the rest of the reply is passed on, and
//! a search in it ends the reply with `pause_turn`.

use alloc::{string::String, vec::Vec};

use super::{end_with_text, usage, Next, SearchLoop, PAUSE};
use crate::{
    adapt::catalogue,
    collections::Map,
    error::{Code, Error},
    json::{self, lazy, Node, Text},
    limits::MAX_HELD_BYTES,
    names::Names,
    options::{AdaptOptions, SearchOptions, ToolFormat},
    reply::restore::RestoreMap,
    request::{namespaces, tool},
    search::{self, Call, Index},
};

/// Answers the calls to the function that replaces a hosted search.
#[derive(Debug)]
pub(super) struct Searches {
    /// The client's name for the hosted search.
    name: Text<'static>,
    options: SearchOptions,
    /// The options with which tools are adapted, and their names.
    adapting: AdaptOptions,
    names: Names,
    /// Built at the first search.
    catalogue: Option<Catalogue>,
}

/// The tools of the client's request, as the model sees them.
#[derive(Debug)]
struct Catalogue {
    index: Index,
    /// Translates the names of tools back to the client's names.
    restore_map: RestoreMap,
    /// The client's definitions by name, for APIs whose search results are definitions.
    definitions: Map<Text<'static>, Node<'static>>,
}

impl Searches {
    pub(super) fn new(name: Text<'static>, options: SearchOptions, adapting: AdaptOptions, names: Names) -> Self {
        Searches { name, options, adapting, names, catalogue: None }
    }

    /// Returns true if the block calls the search function.
    pub(super) fn is_search(&self, block: &Node<'_>) -> bool {
        is(block, "tool_use") && Call::recognize(block, &self.options).is_some()
    }

    /// Returns true if a call in the format of any API calls the search function.
    pub(super) fn is_call(&self, unit: &Node<'_>) -> bool {
        Call::recognize(unit, &self.options).is_some()
    }

    /// Answers a call in the format of its API. `client_request` is the client's request, which contains the tools.
    ///
    /// # Errors
    /// `invalid-option`.
    pub(super) fn answer(&mut self, call: &Node<'_>, client_request: &str) -> Result<Node<'static>, Error> {
        let options = self.options.clone();
        let catalogue = self.catalogue(client_request)?;
        let Some(call) = Call::recognize(call, &options) else { return Ok(Node::default()) };
        search::answer(&call, &catalogue.index, &options, &|found, key| catalogue.name(found, key))
    }

    fn catalogue(&mut self, client_request: &str) -> Result<&mut Catalogue, Error> {
        let catalogue = match self.catalogue.take() {
            Some(catalogue) => catalogue,
            None => Catalogue::new(client_request, &self.adapting, &self.names)?,
        };
        Ok(self.catalogue.insert(catalogue))
    }

    /// Rewrites a call into a call to the hosted search.
    pub(super) fn rewrite_call(&self, block: &mut Node<'_>) {
        let id = block.text_at("id").map(|id| server_id(&id.display())).unwrap_or_default();
        block.set("type", Node::literal("server_tool_use"));
        block.set("id", Node::string(id));
        block.set("name", Node::string(self.name.clone()));
    }

    /// Returns the result block for a call that [`Self::rewrite_call`] rewrote. `client_request` is the client's
    /// request, which contains the tools.
    ///
    /// # Errors
    /// `invalid-option`.
    pub(super) fn result(&mut self, rewritten: &Node<'_>, client_request: &str) -> Result<Node<'static>, Error> {
        let mut call = rewritten.detached();
        call.set("type", Node::literal("tool_use"));
        call.set("name", Node::string(self.options.tool_search_name.clone()));
        let options = self.options.clone();
        let Catalogue { index, restore_map, .. } = self.catalogue(client_request)?;
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
            let found = answer.items_at("content");
            let reference = |block: &Node<'_>| {
                let mut reference = block.detached();
                let called = block.text_at("tool_name");
                if let Some(found) = called.and_then(|called| restore_map.name(called)) {
                    reference.set("tool_name", Node::string(found.name.into_owned()));
                    if let Some(server) = found.server {
                        reference.set("server", Node::string(server.into_owned()));
                    }
                }
                reference
            };
            let references = found.iter().filter(|block| is(block, "tool_reference")).map(reference).collect();
            Node::record([
                ("type", Node::literal("tool_search_tool_search_result")),
                ("tool_references", Node::array(references)),
            ])
        };
        let id = rewritten.get("id").map(Node::detached).unwrap_or_default();
        Ok(Node::record([
            ("type", Node::literal("tool_search_tool_result")),
            ("tool_use_id", id),
            ("content", content),
        ]))
    }
}

impl Catalogue {
    fn new(client_request: &str, adapting: &AdaptOptions, names: &Names) -> Result<Catalogue, Error> {
        let mut request = crate::request::read(client_request)?;
        let tools = lazy::take(&mut request, "tools")?.unwrap_or_else(|| Node::array(Vec::new()));
        let mut definitions = Map::new();
        if adapting.tools.format == Some(ToolFormat::GeminiInteractions) {
            let named = |entry: &Node<'_>| Some((tool::name(entry)?.clone().into_owned(), entry.detached()));
            for (name, definition) in tools.as_array().unwrap_or_default().iter().filter_map(named) {
                definitions.entry(name).or_insert(definition);
            }
        }
        request.set("tools", tools);
        let (tools, restore_map) = catalogue::catalogue(&mut request, adapting, names.clone())?;
        // The client's list of tools in the prompt uses the client's names, so the model may search for them. A
        // name that several servers use does not identify a tool.
        let mut count: Map<Text<'_>, usize> = Map::new();
        restore_map.names().for_each(|(_, own)| *count.entry(own).or_default() += 1);
        let own = |(called, own): (&str, Text<'_>)| (own.into_owned(), Text::new(String::from(called)));
        let also = restore_map.names().filter(|(_, own)| count.get(own) == Some(&1)).map(own).collect();
        Ok(Catalogue {
            index: Index::new(&tools, !definitions.is_empty())?.also_called(also),
            restore_map,
            definitions,
        })
    }

    /// Replaces the name of a tool that was found with the client's name, or the definition with the client's.
    fn name(&self, found: &mut Node<'static>, key: &'static str) {
        let called = found.text_at(key).cloned();
        let Some(own) = called.as_ref().and_then(|called| self.restore_map.name(called)) else { return };
        let name = namespaces::flat(own.namespace.as_ref(), &own.name).into_owned();
        let server = own.server.map(Text::into_owned);
        if let Some(definition) = self.definitions.get(&name).filter(|_| is(found, "function")) {
            *found = definition.clone();
            return;
        }
        found.set(key, Node::string(name));
        if let Some(server) = server {
            found.set("server", Node::string(server));
        }
    }
}

pub(super) fn is(node: &Node<'_>, kind: &str) -> bool {
    node.get("type").is_some_and(|found| found.is_text(kind))
}

/// Returns an id in the form of Anthropic's server tools: `srvtoolu_`, then letters, digits and underscores.
fn server_id(id: &str) -> String {
    let own = ["srvtoolu_", "toolu_"].iter().find_map(|prefix| id.strip_prefix(prefix)).unwrap_or(id);
    let legal = own.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' });
    "srvtoolu_".chars().chain(legal).collect()
}

/// State of one round of a streamed reply.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// The incomplete blocks, by the backend's block number.
    open: Map<u64, Open>,
    /// The client's block numbers minus the backend's.
    ahead: u64,
    /// True if the client already has the beginning of the message.
    continues: bool,
    searched: bool,
    called: bool,
    /// True if the round's stop reason was processed.
    stopped: bool,
    used: Option<Node<'static>>,
}

/// An incomplete block.
#[derive(Debug)]
struct Open {
    block: Node<'static>,
    /// The text so far, or the JSON text of the arguments so far.
    pieces: String,
    is_search: bool,
}

/// The types of deltas, and the member that holds the piece in each.
const PIECES: [(&str, &str); 3] =
    [("text_delta", "text"), ("thinking_delta", "thinking"), ("input_json_delta", "partial_json")];
const INPUT: &str = "input";
/// Approximate size of an open block without its text, in bytes.
const BLOCK: usize = 256;

/// Returns a block that has only its type.
fn bare(block: &Node<'_>) -> Node<'static> {
    Node::record([("type", block.get("type").map(Node::detached).unwrap_or_default())])
}

impl SearchLoop {
    /// Processes an event and appends the events to pass on to `out`.
    pub(super) fn feed<'a>(&mut self, mut event: Node<'a>, out: &mut Vec<Node<'a>>) -> Result<(), Error> {
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
            if !self.stops(&mut event) {
                return Ok(());
            }
        } else if is(&event, "message_stop") && (self.again || self.ends_without_reason()) {
            return Ok(());
        }
        out.push(event);
        Ok(())
    }

    fn renumber(&self, event: &mut Node<'_>, number: u64) {
        if self.round.ahead > 0 {
            event.set("index", Node::count(number.saturating_add(self.round.ahead)));
        }
    }

    fn begin(&mut self, number: u64, event: &mut Node<'_>) -> Result<(), Error> {
        let Some(block) = event.get("content_block") else { return Ok(()) };
        let is_search = self.searches.is_search(block);
        self.keeps(BLOCK.saturating_add(if self.only_passes && !is_search { 0 } else { json::length(block) }))?;
        let mut block = if self.only_passes && !is_search { bare(block) } else { block.detached() };
        if is_search {
            self.searches.rewrite_call(&mut block);
            event.visit("content_block", |shown| self.searches.rewrite_call(shown));
        }
        self.renumber(event, number);
        self.round.open.insert(number, Open { block, pieces: String::new(), is_search });
        Ok(())
    }

    /// Completes a block. For a search, appends the events of its result.
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
        let result = if is_search { Some(self.searches.result(&block, &self.client_request)?) } else { None };
        if let Some(result) = result.as_ref().filter(|_| !self.only_passes) {
            self.keeps(json::length(result))?;
        }
        self.store(block);
        if let Some(result) = result {
            self.round.ahead += 1;
            let place = Node::count(number.saturating_add(self.round.ahead));
            out.push(Node::record([
                ("type", Node::literal("content_block_start")),
                ("index", place.clone()),
                ("content_block", result.clone()),
            ]));
            out.push(Node::record([("type", Node::literal("content_block_stop")), ("index", place)]));
            self.store(result);
        }
        // The client answers calls to its own tools, so this module does not ask the model again.
        if self.round.called {
            self.only_pass();
        }
        Ok(())
    }

    /// Stores a complete block for the next request, unless `only_passes` is set.
    fn store(&mut self, block: Node<'static>) {
        if !self.only_passes {
            self.shown.push(block);
        }
    }

    /// Adds the piece in a delta event to its block.
    fn add(&mut self, number: u64, event: &Node<'_>) -> Result<(), Error> {
        let only_passes = self.only_passes;
        let open = self.round.open.get_mut(&number).filter(|open| !only_passes || open.is_search);
        let Some((open, delta)) = open.zip(event.get("delta")) else { return Ok(()) };
        if let Some((_, key)) = PIECES.iter().find(|(kind, _)| is(delta, kind)) {
            let piece = delta.text_at(key).map(Text::display).unwrap_or_default();
            open.pieces.push_str(&piece);
            return self.keeps(piece.len());
        }
        if let (true, Some(signature)) = (is(delta, "signature_delta"), delta.get("signature")) {
            open.block.set("signature", signature.detached());
            return self.keeps(json::length(signature));
        }
        Ok(())
    }

    /// Counts stored bytes. Above the limit, everything except open searches is dropped.
    ///
    /// # Errors
    /// `limit-exceeded` if the open searches alone exceed the limit.
    fn keeps(&mut self, bytes: usize) -> Result<(), Error> {
        self.stored_bytes = self.stored_bytes.saturating_add(bytes);
        if self.stored_bytes > MAX_HELD_BYTES && !self.only_passes {
            self.only_pass();
        }
        if self.stored_bytes > MAX_HELD_BYTES {
            let message = alloc::format!("expected searches of at most {MAX_HELD_BYTES} bytes, found more");
            return Err(Error::new(Code::LimitExceeded, "", message));
        }
        Ok(())
    }

    /// Drops stored data except for open searches. The rest of the stream is only passed on.
    fn only_pass(&mut self) {
        self.only_passes = true;
        self.shown = Vec::new();
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

    /// Processes a `message_delta` event: adds up the usage and decides how to continue. Returns true if the event must
    /// be passed on.
    fn stops(&mut self, event: &mut Node<'_>) -> bool {
        if let Some(last) = event.get("usage") {
            self.round.used = Some(usage::overlay(self.round.used.as_ref(), last));
        }
        // A stream may have several `message_delta` events, of which one has the stop reason.
        let reason = event
            .get("delta")
            .and_then(|delta| delta.get("stop_reason"))
            .filter(|reason| !reason.is_null())
            .map(Node::detached);
        let next = match reason {
            Some(reason) if !self.again => self.decide(Some(&reason)),
            _ => Next::Ends,
        };
        if self.again {
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

    /// Ends a message without a stop reason. Returns true if the model must be asked again.
    fn ends_without_reason(&mut self) -> bool {
        !self.round.stopped && self.decide(None) == Next::AsksAgain
    }

    fn decide(&mut self, reason: Option<&Node<'_>>) -> Next {
        self.round.stopped = true;
        let next = self.next(self.round.searched, self.round.called, reason);
        self.again = next == Next::AsksAgain;
        next
    }

    /// Begins the next round.
    pub(super) fn turn(&mut self) {
        let round = core::mem::replace(
            &mut self.round,
            Round { ahead: self.shown.len() as u64, continues: true, ..Round::default() },
        );
        self.used = usage::total(self.used.as_ref(), round.used.as_ref());
    }
}

impl Open {
    /// Returns the complete block, as in a non-streamed reply.
    fn whole(self) -> Node<'static> {
        let Open { mut block, pieces, .. } = self;
        if block.get(INPUT).is_some() {
            // If the model's arguments are not valid JSON, the input of the block's first event remains (an empty
            // search).
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
