//! Rewriting a history: references and directives become text, hosted searches go. In the same places where
//! `load_events` reads them.

use alloc::{string::String, vec::Vec};

use super::{
    lazy::{edit, may_hold},
    load_events::{
        self, directive_name, is_block, is_call, is_search_outcome, is_typed_outcome, reference_name, Directive, Voice,
    },
    notice::{self, Notices},
    prefilter,
    tool::{has_type, remove, starts_with},
};
use crate::{
    collections::Set,
    error::Error,
    json::{Data, Node, Text},
    options::{
        DeferredOptions, Format, ServerHistory, ServerToolSearch, SystemMessages, ToolChanges, UnknownReference,
    },
};

/// What becomes of an item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Stays,
    Goes,
}

/// Rewrites histories with what was found out about the request.
pub(super) struct Rewriter<'r, 'a> {
    notices: &'r mut Notices<'a>,
    /// Names the catalogue has.
    known: &'r dyn Fn(&Text<'a>) -> bool,
    /// Whether a `server_tool_use` is a tool search by its name.
    is_search: &'r dyn Fn(&Text<'a>) -> bool,
    pub(super) options: &'r DeferredOptions,
    pub(super) server_calls: &'r Set<Text<'a>>,
    pub(super) search_results: &'r Set<Text<'a>>,
    /// `text`, or `input_text` for Responses.
    pub(super) text_type: &'static str,
    /// Whether messages may bring tools.
    is_chat: bool,
    /// Search results without a call, dropped on the way.
    pub(super) orphans: Vec<String>,
    /// Whether the message at hand held a directive.
    directives: bool,
}

impl<'r, 'a> Rewriter<'r, 'a> {
    pub(super) fn new(
        notices: &'r mut Notices<'a>,
        options: &'r DeferredOptions,
        known: &'r dyn Fn(&Text<'a>) -> bool,
        is_search: &'r dyn Fn(&Text<'a>) -> bool,
        events: (&'r Set<Text<'a>>, &'r Set<Text<'a>>),
        format: Format,
    ) -> Self {
        let (server_calls, search_results) = events;
        Rewriter {
            notices,
            known,
            is_search,
            options,
            server_calls,
            search_results,
            text_type: if format == Format::OpenaiResponses { "input_text" } else { "text" },
            is_chat: format == Format::OpenaiChat,
            orphans: Vec::new(),
            directives: false,
        }
    }

    /// Whether hosted searches become ordinary exchanges.
    pub(super) fn splits(&self) -> bool {
        splits(self.options)
    }

    /// Rewrites a block that stands in the place of an item of Responses; `false`: it goes.
    pub(super) fn stray_item(&mut self, item: &mut Node<'a>) -> bool {
        let stays = self.block(item, Voice::Other) == Fate::Stays;
        if stays {
            let content = Node::array(alloc::vec![core::mem::take(item)]);
            *item = Node::record([
                ("type", Node::literal("message")),
                ("role", Node::literal("developer")),
                ("content", content),
            ]);
        }
        stays
    }

    /// Rewrites one message in place; `false`: it goes.
    pub(super) fn message(&mut self, message: &mut Node<'a>) -> bool {
        self.directives = false;
        self.whole_message(message) == Fate::Stays
    }

    fn whole_message(&mut self, message: &mut Node<'a>) -> Fate {
        if is_block(message) {
            let fate = self.block(message, Voice::Other);
            let block = core::mem::take(message);
            *message = Node::record([("role", Node::literal("user")), ("content", Node::array(alloc::vec![block]))]);
            return fate;
        }
        let voice = Voice::of(message);
        if self.brings_tools(message, voice) {
            remove(message, "tools");
            let is_silent = message
                .get("content")
                .is_none_or(|content| content.is_null() || content.as_text().is_some_and(Text::is_empty));
            if is_silent {
                return Fate::Goes;
            }
        }
        let had = message.get("content").and_then(Node::as_array).is_some_and(|blocks| !blocks.is_empty());
        message.visit("content", |content| self.content(content, voice, true));
        let emptied = had && message.get("content").and_then(Node::as_array).is_some_and(<[Node<'_>]>::is_empty);
        if self.directives && self.options.system_messages == SystemMessages::User {
            message.visit("role", |role| {
                if role.is_text("system") {
                    *role = Node::literal("user");
                }
            });
        }
        if !emptied {
            return Fate::Stays;
        }
        // A result answers a call, and a call awaits its result: such a message stays whatever it lost.
        if message.get("tool_call_id").is_some() || message.get("role").is_some_and(|role| role.is_text("tool")) {
            let removed = Node::array(alloc::vec![self.text_block(notice::REMOVED, None)]);
            message.visit("content", |content| content.replace(removed.into_data()));
            Fate::Stays
        } else if message.get("tool_calls").is_some() {
            message.visit("content", |content| content.replace(Data::Null));
            Fate::Stays
        } else {
            Fate::Goes
        }
    }

    /// Whether it is a message of Kimi's that brings tools: they are in the list now.
    fn brings_tools(&self, message: &Node<'a>, voice: Voice) -> bool {
        self.is_chat && voice == Voice::System && message.get("tools").is_some_and(|tools| tools.as_array().is_some())
    }

    /// Rewrites the blocks of the system prompt in place.
    pub(super) fn system(&mut self, list: &mut Node<'a>) -> Result<(), Error> {
        let mut gone = Vec::new();
        let mut at = 0;
        list.visit_children(|_, block| {
            if may_hold(block, prefilter::DEFERRAL)
                && edit(block, |block| Ok(self.block(block, Voice::System)))? == Fate::Goes
            {
                gone.push((at, Vec::new()));
            }
            at += 1;
            Ok::<(), Error>(())
        })?;
        splice(list, gone);
        Ok(())
    }

    /// Rewrites what a message, an item or a result holds: blocks, one block, or what a search found. `of_message`: an
    /// emptied list of blocks is the message's matter; anywhere else something stands for what is gone.
    pub(super) fn content(&mut self, content: &mut Node<'a>, voice: Voice, of_message: bool) {
        self.list_or_one(content, of_message, &mut |rewriter, block| rewriter.block(block, voice));
    }

    /// Rewrites what a tool said: what is inside a block of that is not looked at.
    fn result(&mut self, content: &mut Node<'a>) {
        self.list_or_one(content, false, &mut |rewriter, block| {
            if is_block(block) {
                return rewriter.named(block, Voice::Other);
            }
            rewriter.outcome_alone(block);
            Fate::Stays
        });
    }

    fn list_or_one(
        &mut self,
        content: &mut Node<'a>,
        of_message: bool,
        rewrite: &mut dyn FnMut(&mut Self, &mut Node<'a>) -> Fate,
    ) {
        if content.as_array().is_some() {
            let had = content.as_array().is_some_and(|blocks| !blocks.is_empty());
            let (mut gone, mut at) = (Vec::new(), 0);
            // The visitor never fails.
            let _ = content.visit_children::<()>(|_, block| {
                if rewrite(self, block) == Fate::Goes {
                    gone.push((at, Vec::new()));
                }
                at += 1;
                Ok(())
            });
            splice(content, gone);
            if had && !of_message && content.as_array().is_some_and(<[Node<'_>]>::is_empty) {
                self.placeholder(content);
            }
        } else if is_search_outcome(content) {
            let said = self.outcome(content).0;
            content.replace(Data::Array(said));
        } else if content.as_object().is_some() {
            let single = is_block(content);
            if rewrite(self, content) == Fate::Goes {
                self.placeholder(content);
            } else if single {
                let block = core::mem::take(content);
                content.replace(Data::Array(alloc::vec![block]));
            }
        }
    }

    fn placeholder(&self, content: &mut Node<'a>) {
        content.replace(Data::Array(alloc::vec![self.text_block(notice::REMOVED, None)]));
    }

    /// Rewrites one block in place.
    fn block(&mut self, node: &mut Node<'a>, voice: Voice) -> Fate {
        if is_block(node) {
            return self.named(node, voice);
        }
        if is_call(node) {
            if self.is_search_call(node) {
                return Fate::Goes;
            }
            if has_type(node, "tool_use") && node.get("caller").is_some() {
                remove(node, "caller");
            }
        } else if has_type(node, "tool_search_tool_result") {
            return Fate::Goes;
        } else if has_type(node, "tool_result") {
            node.visit("content", |content| self.result(content));
        } else {
            self.outcome_alone(node);
        }
        Fate::Stays
    }

    /// Makes a reference or a directive a text, if anything stands for it.
    fn named(&mut self, node: &mut Node<'a>, voice: Voice) -> Fate {
        let Some(text) = self.said(node, voice) else { return Fate::Goes };
        let cache_control = node.visit("cache_control", core::mem::take);
        node.replace(self.text_block(text, cache_control).into_data());
        Fate::Stays
    }

    /// Makes a text of what a search found, if it is that, among other blocks.
    fn outcome_alone(&mut self, node: &mut Node<'a>) {
        if !is_typed_outcome(node) {
            return;
        }
        let mut text = String::new();
        for block in &self.outcome(node).0 {
            text.push_str(if text.is_empty() { "" } else { "\n\n" });
            text.push_str(&block.get("text").and_then(Node::as_text).map(Text::display).unwrap_or_default());
        }
        node.replace(self.text_block(text, None).into_data());
    }

    /// Is it a call of the hosted search?
    pub(super) fn is_search_call(&self, block: &Node<'a>) -> bool {
        if !has_type(block, "server_tool_use") {
            return false;
        }
        let text = |key| block.get(key).and_then(Node::as_text);
        text("name").is_some_and(|name| starts_with(name, "tool_search_tool_") || (self.is_search)(name))
            || text("id").is_some_and(|id| self.search_results.contains(id))
    }

    /// What stands for a reference or a directive; `None`: nothing does.
    fn said(&mut self, node: &Node<'a>, voice: Voice) -> Option<String> {
        let Some(directive) = load_events::directive(node) else { return self.reference(&reference_name(node)) };
        if voice == Voice::Other || self.options.tool_changes == ToolChanges::Ignore {
            return None;
        }
        self.directives = true;
        let name = directive_name(node);
        if name.is_empty() && load_events::directive_definition(node).is_some() {
            return None;
        }
        match directive {
            Directive::Addition => self.reference(&name),
            Directive::Removal => self.notices.withdrawn(&name),
        }
    }

    /// What stands for a reference to a tool.
    pub(super) fn reference(&mut self, name: &Text<'a>) -> Option<String> {
        let unknown = !(self.known)(name);
        match self.options.unknown_reference {
            UnknownReference::Unavailable if unknown => Some(notice::REMOVED.into()),
            UnknownReference::Drop if unknown => None,
            UnknownReference::Notice if unknown => self.notices.withdrawn(name),
            _ => self.notices.write(name),
        }
    }

    /// What a hosted search found, as text blocks, and whether it failed.
    pub(super) fn outcome(&mut self, outcome: &Node<'a>) -> (Vec<Node<'a>>, bool) {
        if let Some(found) = outcome.get("tool_references").and_then(Node::as_array) {
            let mut said = Vec::with_capacity(found.len());
            for entry in found {
                if let Some(text) = self.reference(&reference_name(entry)) {
                    said.push(self.text_block(text, entry.get("cache_control").cloned()));
                }
            }
            if said.is_empty() {
                said.push(self.text_block(if found.is_empty() { notice::NO_MATCH } else { notice::REMOVED }, None));
            }
            return (said, false);
        }
        if outcome.get("error_code").is_none() {
            return (alloc::vec![self.text_block(notice::NO_MATCH, None)], false);
        }
        let code = outcome.get("error_code").and_then(Node::as_text).map(Text::display).unwrap_or_default();
        (alloc::vec![self.text_block(alloc::format!("Tool search failed: {code}"), None)], true)
    }

    pub(super) fn text_block(&self, text: impl Into<Text<'a>>, cache_control: Option<Node<'a>>) -> Node<'a> {
        let mut block = Node::record([("type", Node::literal(self.text_type)), ("text", Node::string(text))]);
        if let (Some(object), Some(cache_control)) = (block.as_object_mut(), cache_control) {
            object.set("cache_control", cache_control);
        }
        block
    }
}

/// Whether hosted searches become ordinary exchanges.
pub(super) fn splits(options: &DeferredOptions) -> bool {
    options.server_history == ServerHistory::Split || options.server_tool_search == ServerToolSearch::Emulate
}

/// Puts other items in the place of some, which are given in order.
pub(crate) fn splice<'a>(list: &mut Node<'a>, replaced: Vec<(usize, Vec<Node<'a>>)>) {
    if replaced.is_empty() {
        return;
    }
    let Some(items) = list.as_array_mut() else { return };
    let mut replaced = replaced.into_iter().peekable();
    let mut spliced = Vec::with_capacity(items.len());
    for (at, item) in core::mem::take(items).into_iter().enumerate() {
        match replaced.next_if(|(place, _)| *place == at) {
            Some((_, instead)) => spliced.extend(instead),
            None => spliced.push(item),
        }
    }
    *items = spliced;
}
