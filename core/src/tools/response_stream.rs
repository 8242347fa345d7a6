//! Restores streamed calls of OpenAI Responses. Up to four events contain the arguments of a call, which are reported
//! once.

use alloc::string::String;

use super::{
    buffered_calls::{BufferedCall, Key},
    call_sites::{self, is_none},
    stream_restorer::Stream,
};
use crate::{
    error::Error,
    json::{Node, Text},
};

impl Stream {
    /// Processes the event that ends an item's arguments and repeats them.
    pub(super) fn end_arguments(&mut self, event: &mut Node<'_>) -> Result<Option<Node<'static>>, Error> {
        let key = Key::of(event);
        let Some(buffered) = self.buffered.get(&key) else { return Ok(None) };
        if buffered.pieces.is_empty() && event.get("arguments").is_none() {
            // The arguments are not known yet.
            return Ok(None);
        }
        let (name, id) = (buffered.name.clone(), buffered.id.clone());
        let carried = if buffered.pieces.is_empty() || !is_none(event, "arguments") {
            self.reports.is_silent = buffered.is_reported;
            let (restore_map, reports) = (&self.restore_map, &mut self.reports);
            let restored =
                event.visit("arguments", |node| restore_map.arguments(&name, node, (id.clone(), true), reports));
            self.reports.is_silent = false;
            restored.unwrap_or(Ok(()))?;
            self.buffered.close(&key).and_then(|buffered| self.carried(buffered.reported(true)))
        } else {
            self.whole_in(&key, event)
        };
        self.known(key, name, id)?;
        Ok(carried)
    }

    /// Processes the event that ends an item and contains the whole item.
    pub(super) fn end_item(&mut self, event: &mut Node<'_>) -> Result<Option<Node<'static>>, Error> {
        let key = Key::of(event);
        let item = event.get("item");
        let is_its =
            |buffered: &&BufferedCall| item.is_some_and(|item| call_sites::may_be(item, buffered.id.as_deref()));
        let Some(buffered) = self.buffered.get(&key).filter(is_its) else {
            // The item has no start event, or another item started under the same key.
            let call = item.filter(|item| item.get("type").is_some_and(|kind| kind.is_text("function_call")));
            let name = call.and_then(|item| self.restore_map.called(item, "name")).map(Text::into_owned);
            let id = item.and_then(call_sites::id_of);
            let id = id.map(|id| id.display().into_owned());
            self.in_item(event, "item")?;
            let carried = self.buffered.close(&key).and_then(|buffered| self.carried(buffered));
            if let Some(name) = name {
                self.known(key, name, id)?;
            }
            return Ok(carried);
        };
        let (name, id) = (buffered.name.clone(), buffered.id.clone());
        // Some servers send one of the item's two ids first and the other one later.
        if let (Some(old), Some(new)) = (&id, item.and_then(call_sites::id_of)) {
            self.reports.is_also(old, &new.display());
        }
        if buffered.pieces.is_empty() || !item.is_some_and(|item| is_none(item, "arguments")) {
            self.reports.is_silent = buffered.is_reported;
            let restored = self.in_item(event, "item");
            self.reports.is_silent = false;
            restored?;
            let carried = self.buffered.close(&key).and_then(|buffered| self.carried(buffered.reported(true)));
            self.known(key, name, id)?;
            return Ok(carried);
        }
        let mut carried = None;
        event.visit("item", |item| carried = self.whole_in(&key, item));
        event.visit("item", |node| self.names_of(node)).unwrap_or(Ok(()))?;
        self.known(key, name, id)?;
        Ok(carried)
    }

    /// Ends a call whose event lacks the arguments: fills in the arguments that were received in pieces.
    fn whole_in(&mut self, key: &Key, holder: &mut Node<'_>) -> Option<Node<'static>> {
        let mut buffered = self.buffered.close(key)?;
        let id = buffered.id.clone();
        let whole = self.whole(&mut buffered);
        self.reports.fill(id.as_deref(), &whole);
        if holder.get("arguments").is_some() {
            holder.set("arguments", Node::string(whole.clone()));
        }
        buffered.carried(whole)
    }

    /// Records that a call was reported, because later events may repeat it.
    fn known(&mut self, key: Key, name: Text<'static>, id: Option<String>) -> Result<(), Error> {
        if self.restore_map.repairs(&name) {
            self.reports.see(id.as_deref());
            self.buffered.open(key, name, id, true)?;
        }
        Ok(())
    }
}
