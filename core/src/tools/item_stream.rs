//! Items of OpenAI Responses that become others on their way to the client, in pieces: functions that stand for
//! `custom` tools, whose input passes as soon as it is there, and for a search, which comes whole.

use alloc::vec::Vec;

use super::{
    call_pieces::CallPieces,
    call_repair::Told,
    held::{pay, Key, CALL},
    restore::RestoreMap,
};
use crate::{
    collections::Map,
    error::Error,
    json::{self, Node, Text},
    request::report::CallKind,
};

const PIECE: &str = "response.function_call_arguments.delta";
const WHOLE: &str = "response.function_call_arguments.done";
const CUSTOM_PIECE: &str = "response.custom_tool_call_input.delta";
const CUSTOM_WHOLE: &str = "response.custom_tool_call_input.done";

/// After these nothing comes any more.
const ENDS: [&str; 3] = ["response.completed", "response.incomplete", "response.failed"];

/// The items that are not whole yet.
#[derive(Debug, Default)]
pub(super) struct Items {
    open: Map<Key, Open>,
    /// How much is held back in all.
    cost: usize,
}

#[derive(Debug)]
struct Open {
    /// The name that the API saw.
    name: Text<'static>,
    /// What a `custom` tool is called with; a search waits for its end.
    pieces: Option<CallPieces>,
    /// The last event that said nothing yet: it carries what is left.
    carrier: Option<Node<'static>>,
    cost: usize,
}

impl Items {
    /// Whether none is open.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Takes an event; `false`: it is none of these.
    ///
    /// # Errors
    /// `limit-exceeded`, and those of restoring.
    pub(super) fn feed<'a>(
        &mut self,
        event: &mut Node<'a>,
        restore_map: &RestoreMap,
        out: &mut Vec<Node<'a>>,
    ) -> Result<bool, Error> {
        let is = |name: &str| event.get("type").is_some_and(|kind| kind.is_text(name));
        if is("response.output_item.added") {
            return self.begin(event, restore_map, out);
        }
        if ENDS.iter().any(|end| is(end)) {
            out.extend(self.finish());
            return Ok(false);
        }
        if self.open.is_empty() || !(is(PIECE) || is(WHOLE) || is("response.output_item.done")) {
            return Ok(false);
        }
        let key = Key::of(event);
        let Some(open) = self.open.get_mut(&key) else { return Ok(false) };
        if is(PIECE) {
            // More than the event cannot be kept of it: what is refused has changed nothing.
            let most = json::length(event);
            pay(&mut self.cost, most)?;
            let passes = open.piece(event);
            self.cost -= most + open.cost;
            open.cost = CALL + open.held();
            self.cost += open.cost;
            if passes? {
                out.push(core::mem::take(event));
            }
        } else if is(WHOLE) {
            out.extend(open.rest(event));
            if open.pieces.is_some() {
                open.whole(event, restore_map)?;
                out.push(core::mem::take(event));
            }
        } else {
            // A text or a search, which nobody repairs.
            event.visit("item", |item| restore_map.item(item, &mut Told::default())).unwrap_or(Ok(()))?;
            out.extend(open.rest(event));
            out.push(core::mem::take(event));
            self.close(&key);
        }
        Ok(true)
    }

    /// What is left of those that never ended.
    pub(super) fn finish(&mut self) -> Vec<Node<'static>> {
        self.cost = 0;
        let open = core::mem::take(&mut self.open);
        open.into_iter().filter_map(|(_, mut open)| open.rest(&Node::default())).collect()
    }

    /// An item begins.
    fn begin<'a>(
        &mut self,
        event: &mut Node<'a>,
        restore_map: &RestoreMap,
        out: &mut Vec<Node<'a>>,
    ) -> Result<bool, Error> {
        let item = event.get("item").filter(|item| item.get("type").is_some_and(|kind| kind.is_text("function_call")));
        let Some(name) = item.and_then(|item| restore_map.called(item, "name")).map(Text::into_owned) else {
            return Ok(false);
        };
        let (kind, key) = (restore_map.item_kind(&name), Key::of(event));
        // One that never ended: what was held back of it goes before.
        if let Some(mut before) = self.close(&key) {
            out.extend(before.rest(&Node::default()));
        }
        if kind == CallKind::Function {
            return Ok(false);
        }
        let pieces = (kind == CallKind::Custom).then(|| CallPieces::new(restore_map, &name));
        pay(&mut self.cost, CALL)?;
        self.open.insert(key, Open { name, pieces, carrier: None, cost: CALL });
        event.visit("item", |item| restore_map.item(item, &mut Told::default())).unwrap_or(Ok(()))?;
        out.push(core::mem::take(event));
        Ok(true)
    }

    fn close(&mut self, key: &Key) -> Option<Open> {
        let open = self.open.remove(key)?;
        self.cost -= open.cost;
        Some(open)
    }
}

impl Open {
    /// Writes a piece; tells whether it says something.
    fn piece(&mut self, event: &mut Node<'_>) -> Result<bool, Error> {
        let Some(pieces) = &mut self.pieces else { return Ok(false) };
        let piece = event.get("delta").and_then(Node::as_text);
        let text = match piece {
            Some(piece) => pieces.feed_text(piece)?,
            None => return Ok(true),
        };
        event.set("type", Node::literal(CUSTOM_PIECE));
        let says = !text.is_empty();
        if says {
            event.set("delta", Node::string(text));
            self.carrier = None;
        } else {
            event.set("delta", Node::literal(""));
            self.carrier = Some(event.detached());
        }
        Ok(says)
    }

    /// How much is held back.
    fn held(&self) -> usize {
        self.pieces.as_ref().map_or(0, CallPieces::held) + self.carrier.as_ref().map_or(0, json::length)
    }

    /// What was held back, in an event of its own: the last one that said nothing, or one made of that which ends the
    /// call.
    fn rest(&mut self, ends: &Node<'_>) -> Option<Node<'static>> {
        let rest = self.pieces.as_mut()?.finish();
        if rest.is_empty() {
            return None;
        }
        let mut event = self.carrier.take().unwrap_or_else(|| {
            let mut event = ends.detached();
            ["arguments", "input", "name", "item"].into_iter().for_each(|key| drop(event.remove(key)));
            event
        });
        event.as_object()?;
        event.set("type", Node::literal(CUSTOM_PIECE));
        event.set("delta", Node::string(rest));
        Some(event)
    }

    /// Writes the event that has the whole input.
    fn whole(&self, event: &mut Node<'_>, restore_map: &RestoreMap) -> Result<(), Error> {
        let arguments = event.visit("arguments", core::mem::take).unwrap_or_default();
        let arguments = arguments.as_text().map(|text| text.display().into_owned()).unwrap_or_default();
        let mut pieces = CallPieces::new(restore_map, &self.name);
        let mut input = pieces.feed(&arguments)?;
        input.push_str(&pieces.finish());
        event.set("type", Node::literal(CUSTOM_WHOLE));
        event.remove("arguments");
        event.remove("name");
        event.set("input", Node::string(input));
        Ok(())
    }
}
