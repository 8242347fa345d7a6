//! Rewriting a history: references and directives become text, hosted searches go. One walk for all formats.

use alloc::{string::String, vec::Vec};

use super::{
    loads::{self, directive_name, is_call, is_reference, is_search_outcome, reference_name, Directive},
    marks,
    notice::{self, Notices},
    open::{edit, may_hold},
    split,
    tool::{has_type, remove, starts_with},
};
use crate::{
    error::Error,
    json::{Child, Data, Node, Text},
    options::{DeferredOptions, ServerHistory, ServerToolSearch, SystemMessages, UnknownReference},
    sorted::Set,
};

/// What becomes of an item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Stays,
    Goes,
}

/// Rewrites histories with what was found out about the request.
pub(super) struct Rewriter<'r, 'a> {
    pub(super) notices: &'r Notices<'a>,
    /// Names the catalogue has.
    pub(super) known: &'r dyn Fn(&Text<'a>) -> bool,
    /// Whether a `server_tool_use` is a tool search by its name.
    pub(super) is_search: &'r dyn Fn(&Text<'a>) -> bool,
    pub(super) options: &'r DeferredOptions,
    pub(super) server_calls: &'r Set<Text<'a>>,
    pub(super) search_results: &'r Set<Text<'a>>,
    /// `text`, or `input_text` for Responses.
    pub(super) text_type: &'static str,
    /// Search results without a call, dropped on the way.
    pub(super) orphans: Vec<String>,
    /// Whether the message at hand held a directive.
    directives: bool,
}

impl<'r, 'a> Rewriter<'r, 'a> {
    pub(super) fn new(
        notices: &'r Notices<'a>,
        options: &'r DeferredOptions,
        known: &'r dyn Fn(&Text<'a>) -> bool,
        is_search: &'r dyn Fn(&Text<'a>) -> bool,
        events: (&'r Set<Text<'a>>, &'r Set<Text<'a>>),
        text_type: &'static str,
    ) -> Self {
        let (server_calls, search_results) = events;
        Rewriter { notices, known, is_search, options, server_calls, search_results, text_type, orphans: Vec::new(), directives: false }
    }

    /// Whether hosted searches become ordinary exchanges.
    pub(super) fn splits(&self) -> bool {
        splits(self.options)
    }

    /// Rewrites a list of messages in place.
    pub(super) fn messages(&mut self, list: &mut Node<'a>) -> Result<(), Error> {
        let mut replaced: Vec<(usize, Vec<Node<'a>>)> = Vec::new();
        let mut at = 0;
        list.visit_children(|_, message| {
            if may_hold(message, marks::DEFERRAL) {
                let instead = edit(message, |message| self.message(message))?;
                replaced.extend(instead.map(|messages| (at, messages)));
            }
            at += 1;
            Ok::<(), Error>(())
        })?;
        splice(list, replaced);
        Ok(())
    }

    /// Rewrites one message in place, or says what stands in its place.
    fn message(&mut self, message: &mut Node<'a>) -> Result<Option<Vec<Node<'a>>>, Error> {
        self.directives = false;
        if self.splits() {
            if let Some(parts) = split::message(message, self)? {
                let mut kept = Vec::with_capacity(parts.len());
                for mut part in parts {
                    if self.whole_message(&mut part)? == Fate::Stays {
                        kept.push(part);
                    }
                }
                return Ok(Some(kept));
            }
        }
        Ok((self.whole_message(message)? == Fate::Goes).then(Vec::new))
    }

    /// Rewrites a block that stands in the place of an item of Responses; `false`: it goes.
    pub(super) fn stray_item(&mut self, item: &mut Node<'a>) -> Result<bool, Error> {
        let stays = self.value(item, false)? == Fate::Stays;
        if stays {
            let content = Node::array(alloc::vec![core::mem::take(item)]);
            *item = Node::record([("type", Node::literal("message")), ("role", Node::literal("developer")), ("content", content)]);
        }
        Ok(stays)
    }

    fn whole_message(&mut self, message: &mut Node<'a>) -> Result<Fate, Error> {
        let stray = is_block(message);
        let had = message.get("content").and_then(Node::as_array).is_some_and(|blocks| !blocks.is_empty());
        let fate = self.value(message, true)?;
        let emptied = had && message.get("content").and_then(Node::as_array).is_some_and(<[Node<'_>]>::is_empty);
        if self.directives && self.options.system_messages == SystemMessages::User {
            message.visit("role", |role| {
                if role.is_text("system") {
                    *role = Node::literal("user");
                }
            });
        }
        if stray && fate == Fate::Stays {
            let block = core::mem::take(message);
            *message = Node::record([("role", Node::literal("user")), ("content", Node::array(alloc::vec![block]))]);
        }
        if !emptied {
            return Ok(fate);
        }
        // A result answers a call, and a call awaits its result: such a message stays whatever it lost.
        if message.get("tool_call_id").is_some() || message.get("role").is_some_and(|role| role.is_text("tool")) {
            let removed = Node::array(alloc::vec![self.text_block(notice::REMOVED, None)]);
            message.visit("content", |content| content.replace(removed.into_data()));
            Ok(Fate::Stays)
        } else if message.get("tool_calls").is_some() {
            message.visit("content", |content| content.replace(Data::Null));
            Ok(Fate::Stays)
        } else {
            Ok(Fate::Goes)
        }
    }

    /// Rewrites a list of blocks in place, for instance a system prompt.
    pub(super) fn blocks(&mut self, list: &mut Node<'a>) -> Result<(), Error> {
        let mut gone = Vec::new();
        let mut at = 0;
        list.visit_children(|_, block| {
            if may_hold(block, marks::DEFERRAL) && edit(block, |block| self.value(block, false))? == Fate::Goes {
                gone.push((at, Vec::new()));
            }
            at += 1;
            Ok::<(), Error>(())
        })?;
        splice(list, gone);
        Ok(())
    }

    /// Rewrites any value in place. `of_message`: an emptied list of blocks is the message's matter.
    fn value(&mut self, node: &mut Node<'a>, of_message: bool) -> Result<Fate, Error> {
        if node.as_array().is_some() {
            self.items(node)?;
        } else if node.as_object().is_some() {
            if let Some(fate) = self.known_block(node)? {
                return Ok(fate);
            }
            self.members(node, of_message)?;
        }
        Ok(Fate::Stays)
    }

    /// Rewrites the items of an array in place.
    fn items(&mut self, list: &mut Node<'a>) -> Result<(), Error> {
        let mut gone = Vec::new();
        let mut at = 0;
        list.visit_children(|_, item| {
            if self.value(item, false)? == Fate::Goes {
                gone.push((at, Vec::new()));
            }
            at += 1;
            Ok::<(), Error>(())
        })?;
        splice(list, gone);
        Ok(())
    }

    /// Rewrites a block that has a meaning of its own; `None`: it has none, its members may have.
    // Kept out of the recursion, whose frames have to be small: 512 levels have to fit a WebAssembly stack.
    #[inline(never)]
    fn known_block(&mut self, node: &mut Node<'a>) -> Result<Option<Fate>, Error> {
        if is_block(node) {
            return Ok(Some(match self.said(node)? {
                Some(text) => {
                    let cache_control = node.visit("cache_control", core::mem::take);
                    node.replace(self.text_block(text, cache_control).into_data());
                    Fate::Stays
                }
                None => Fate::Goes,
            }));
        }
        if is_call(node) {
            if self.is_search_call(node) {
                return Ok(Some(Fate::Goes));
            }
            if has_type(node, "tool_use") && node.get("caller").is_some() {
                remove(node, "caller");
            }
            return Ok(Some(Fate::Stays));
        }
        if has_type(node, "tool_search_tool_result") {
            return Ok(Some(Fate::Goes));
        }
        if is_search_outcome(node) {
            let said = self.outcome(node)?.0;
            let mut text = String::new();
            for block in &said {
                text.push_str(if text.is_empty() { "" } else { "\n\n" });
                text.push_str(&block.get("text").and_then(Node::as_text).map(Text::display).unwrap_or_default());
            }
            node.replace(self.text_block(text, None).into_data());
            return Ok(Some(Fate::Stays));
        }
        Ok(None)
    }

    fn members(&mut self, node: &mut Node<'a>, of_message: bool) -> Result<(), Error> {
        node.visit_children(|child, value| match child {
            Child::Member(key) if !key.is("tool_calls") => self.member(value, key.is("content"), of_message),
            _ => Ok(()),
        })
    }

    /// Rewrites a member's value. `list`: its blocks are in a list, or one stands for a list; nothing may leave it empty,
    /// unless the message it belongs to sees to that.
    pub(super) fn member(&mut self, value: &mut Node<'a>, list: bool, of_message: bool) -> Result<(), Error> {
        if list && is_search_outcome(value) {
            return self.found(value);
        }
        let single = is_block(value);
        let had = value.as_array().is_some_and(|items| !items.is_empty());
        let fate = self.value(value, false)?;
        let emptied = had && value.as_array().is_some_and(<[Node<'_>]>::is_empty);
        if fate == Fate::Goes || emptied && !of_message {
            self.placeholder(value, list || emptied);
        } else if list && single {
            let block = core::mem::take(value);
            value.replace(Data::Array(alloc::vec![block]));
        }
        Ok(())
    }

    #[inline(never)]
    fn found(&mut self, value: &mut Node<'a>) -> Result<(), Error> {
        let said = self.outcome(value)?.0;
        value.replace(Data::Array(said));
        Ok(())
    }

    #[inline(never)]
    fn placeholder(&self, value: &mut Node<'a>, list: bool) {
        let removed = self.text_block(notice::REMOVED, None);
        value.replace(if list { Data::Array(alloc::vec![removed]) } else { removed.into_data() });
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
    fn said(&mut self, node: &Node<'a>) -> Result<Option<String>, Error> {
        match loads::directive(node) {
            None => self.reference(&reference_name(node)),
            Some(directive) => {
                self.directives = true;
                let name = directive_name(node);
                match directive {
                    Directive::Addition => self.reference(&name),
                    Directive::Removal => Ok(Some(notice::withdrawn(&notice::whole(&name, "/messages")?))),
                }
            }
        }
    }

    /// What stands for a reference to a tool.
    pub(super) fn reference(&self, name: &Text<'a>) -> Result<Option<String>, Error> {
        let unknown = !(self.known)(name);
        Ok(match self.options.unknown_reference {
            UnknownReference::Unavailable if unknown => Some(notice::REMOVED.into()),
            UnknownReference::Drop if unknown => None,
            _ => self.notices.of(name).map(String::from),
        })
    }

    /// What a hosted search found, as text blocks, and whether it failed.
    pub(super) fn outcome(&self, outcome: &Node<'a>) -> Result<(Vec<Node<'a>>, bool), Error> {
        if let Some(found) = outcome.get("tool_references").and_then(Node::as_array) {
            let mut said = Vec::with_capacity(found.len());
            for entry in found {
                if let Some(text) = self.reference(&reference_name(entry))? {
                    said.push(self.text_block(text, entry.get("cache_control").cloned()));
                }
            }
            if said.is_empty() {
                said.push(self.text_block(if found.is_empty() { notice::NO_MATCH } else { notice::REMOVED }, None));
            }
            return Ok((said, false));
        }
        if outcome.get("error_code").is_none() {
            return Ok((alloc::vec![self.text_block(notice::NO_MATCH, None)], false));
        }
        let code = outcome.get("error_code").and_then(Node::as_text).map(Text::display).unwrap_or_default();
        Ok((alloc::vec![self.text_block(alloc::format!("Tool search failed: {code}"), None)], true))
    }

    pub(super) fn text_block(&self, text: impl Into<Text<'a>>, cache_control: Option<Node<'a>>) -> Node<'a> {
        let mut block = Node::record([("type", Node::literal(self.text_type)), ("text", Node::string(text))]);
        if let (Some(object), Some(cache_control)) = (block.as_object_mut(), cache_control) {
            object.set("cache_control", cache_control);
        }
        block
    }
}

/// Is it a block that becomes text: a reference or a directive?
pub(super) fn is_block(node: &Node<'_>) -> bool {
    is_reference(node) || loads::directive(node).is_some()
}

/// Whether hosted searches become ordinary exchanges.
pub(super) fn splits(options: &DeferredOptions) -> bool {
    options.server_history == ServerHistory::Split || options.server_tool_search == ServerToolSearch::Emulate
}

/// Puts other items in the place of some, which are given in order.
pub(super) fn splice<'a>(list: &mut Node<'a>, replaced: Vec<(usize, Vec<Node<'a>>)>) {
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
