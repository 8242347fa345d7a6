//! What the history says about tools: references, additions, removals and calls, in order, before anything is
//! rewritten.
//!
//! Not everything in a history is the client's own word. Results of tools are whatever a server sent, and calls are the
//! model's. So additions and removals count where the API takes them from the client: as blocks of a system message, or
//! of the system prompt. A reference only loads what the client has listed; it counts as a block of a message, and of a
//! tool's or a search's result. Nothing counts that stands below another member of a block.

use alloc::{format, vec::Vec};

use super::{
    lazy::{may_hold, view},
    prefilter,
    report::Warnings,
    tool::{self, has_type, starts_with, type_of},
    tools::{Arrival, Tools},
};
use crate::{
    collections::Set,
    error::{Code, Error},
    json::{Node, Text},
    options::{DeferredOptions, Format, ToolChanges},
};

/// One thing that happened to a tool.
pub(super) enum Event<'a> {
    /// It was referred to: found by a search, or named by its finder.
    Reference(Text<'a>),
    /// It was added, by reference or with a definition.
    Addition(Text<'a>),
    /// It was taken away.
    Removal(Text<'a>),
    /// It was added or taken away by somebody who has no say in it.
    Ignored(Text<'a>),
    /// It was called.
    Call(Text<'a>),
    /// Its definition came along.
    Definition(Text<'a>),
}

/// Everything that happened, and the hosted searches with it.
#[derive(Default)]
pub(super) struct Events<'a> {
    pub(super) list: Vec<Event<'a>>,
    /// Definitions that the history brings.
    pub(super) definitions: Vec<(Node<'a>, Arrival)>,
    /// Ids of `server_tool_use` blocks.
    pub(super) server_calls: Set<Text<'a>>,
    /// Ids that `tool_search_tool_result` blocks answer.
    pub(super) search_results: Set<Text<'a>>,
    /// Whether calls matter.
    with_calls: bool,
    /// Whether anybody may change the list.
    pub(super) with_changes: bool,
}

/// Whose word a list of blocks is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// The client's, about its own tools: a system prompt or message.
    System,
    /// Anybody else's.
    Other,
}

impl Voice {
    /// Whose word a message is.
    pub(super) fn of(message: &Node<'_>) -> Voice {
        let is = |name| message.get("role").is_some_and(|role| role.is_text(name));
        if is("system") || is("developer") {
            Voice::System
        } else {
            Voice::Other
        }
    }
}

impl<'a> Events<'a> {
    pub(super) fn new(options: &DeferredOptions) -> Self {
        let with_changes = options.tool_changes == ToolChanges::Apply;
        Events { with_calls: options.load_used_tools, with_changes, ..Events::default() }
    }

    /// Which texts can hold something that matters.
    pub(super) fn wanted(&self) -> u8 {
        if self.with_calls {
            prefilter::DEFERRAL | prefilter::CALL
        } else {
            prefilter::DEFERRAL
        }
    }

    /// Reads a list of messages. Messages that are text and hold none of the words in question are passed over.
    ///
    /// # Errors
    /// `invalid-request` for tools in a message that is no system message, where messages may bring tools.
    pub(super) fn messages(&mut self, list: &Node<'a>, format: Format) -> Result<(), Error> {
        for (at, message) in list.as_array().unwrap_or_default().iter().enumerate() {
            if may_hold(message, self.wanted()) {
                let message = view(message)?;
                if format == Format::OpenaiChat {
                    self.carrier(&message, at)?;
                }
                self.message(&message);
            }
        }
        Ok(())
    }

    /// Reads the tools that a message of Kimi's brings.
    fn carrier(&mut self, message: &Node<'a>, at: usize) -> Result<(), Error> {
        let Some(tools) = message.get("tools").and_then(Node::as_array) else { return Ok(()) };
        if Voice::of(message) != Voice::System {
            return Err(brings_tools(&alloc::format!("/messages/{at}")));
        }
        for definition in tools {
            let name = tool::name(definition).cloned();
            if !self.with_changes {
                self.list.extend(name.map(Event::Ignored));
                continue;
            }
            self.list.extend(name.map(Event::Definition));
            self.definitions.push((definition.clone(), Arrival::Found));
        }
        Ok(())
    }

    /// Reads the blocks of the system prompt.
    pub(super) fn system(&mut self, list: &Node<'a>) -> Result<(), Error> {
        for block in list.as_array().unwrap_or_default() {
            if may_hold(block, self.wanted()) {
                self.block(&*view(block)?, Voice::System);
            }
        }
        Ok(())
    }

    fn message(&mut self, message: &Node<'a>) {
        if is_block(message) {
            return self.block(message, Voice::Other);
        }
        if let Some(content) = message.get("content") {
            self.content(content, Voice::of(message));
        }
        if self.with_calls {
            for call in message.get("tool_calls").and_then(Node::as_array).unwrap_or_default() {
                self.call(call.get("function").and_then(|function| function.get("name")));
            }
        }
    }

    /// Reads what a message, or an item of Responses, holds: blocks, one block, or what a search found.
    pub(super) fn content(&mut self, content: &Node<'a>, voice: Voice) {
        match content.as_array() {
            Some(blocks) => blocks.iter().for_each(|block| self.block(block, voice)),
            None if is_search_outcome(content) => self.found(content),
            None => self.block(content, voice),
        }
    }

    /// Reads one block.
    pub(super) fn block(&mut self, block: &Node<'a>, voice: Voice) {
        if is_block(block) {
            return self.named(block, voice);
        }
        if is_call(block) {
            if has_type(block, "server_tool_use") {
                self.server_calls.extend(block.get("id").and_then(Node::as_text).cloned());
            } else if self.with_calls {
                self.call(block.get("name"));
            }
        } else if has_type(block, "tool_search_tool_result") {
            self.search_results.extend(block.get("tool_use_id").and_then(Node::as_text).cloned());
            self.found(block.get("content").unwrap_or(block));
        } else if is_typed_outcome(block) {
            self.found(block);
        } else if has_type(block, "tool_result") {
            if let Some(content) = block.get("content") {
                self.result(content);
            }
        }
    }

    /// Reads what a tool said.
    fn result(&mut self, content: &Node<'a>) {
        match content.as_array() {
            Some(blocks) => {
                for block in blocks {
                    if is_block(block) {
                        self.named(block, Voice::Other);
                    } else if is_typed_outcome(block) {
                        self.found(block);
                    }
                }
            }
            None if is_search_outcome(content) => self.found(content),
            None if is_block(content) => self.named(content, Voice::Other),
            None => {}
        }
    }

    /// A reference or a directive.
    fn named(&mut self, block: &Node<'a>, voice: Voice) {
        let name = || directive_name(block);
        let event = match directive(block) {
            None => Event::Reference(reference_name(block)),
            Some(_) if voice == Voice::Other || !self.with_changes => Event::Ignored(name()),
            Some(Directive::Removal) => Event::Removal(name()),
            Some(Directive::Addition) => {
                if let Some(tool) = directive_definition(block) {
                    self.definitions.push((tool.clone(), Arrival::Added));
                    // A toolset has no name to be told by.
                    if tool::name(tool).is_none() {
                        return;
                    }
                }
                Event::Addition(name())
            }
        };
        self.list.push(event);
    }

    /// What a search found. An entry is a reference even if it does not say so.
    fn found(&mut self, outcome: &Node<'a>) {
        for entry in outcome.get("tool_references").and_then(Node::as_array).unwrap_or_default() {
            self.list.push(Event::Reference(reference_name(entry)));
        }
    }

    fn call(&mut self, name: Option<&Node<'a>>) {
        self.list.extend(name.and_then(Node::as_text).cloned().map(Event::Call));
    }

    /// Whether calls matter.
    pub(super) fn with_calls(&self) -> bool {
        self.with_calls
    }

    /// Moves the definitions into `tools`.
    pub(super) fn bring(&mut self, tools: &mut Tools<'a>, listed: &[Node<'a>], warnings: &mut Warnings) {
        for (definition, arrival) in core::mem::take(&mut self.definitions) {
            tools.bring(definition, arrival, listed, warnings);
        }
    }

    /// Whether a result refers to an unknown tool.
    pub(super) fn refers_to_unknown(&self, tools: &Tools<'_>) -> bool {
        self.list.iter().any(|event| matches!(event, Event::Reference(name) if !tools.knows(name)))
    }

    /// Applies the events to the tools.
    pub(super) fn apply(&self, tools: &mut Tools<'a>, options: &DeferredOptions, warnings: &mut Warnings) {
        tools.begin(options, warnings);
        for event in &self.list {
            match event {
                Event::Reference(name) | Event::Definition(name) => {
                    tools.find(name, warnings);
                }
                Event::Addition(name) => tools.add(name, warnings),
                Event::Removal(name) => tools.remove(name, warnings),
                Event::Ignored(name) => warnings.about("tool-change-ignored", name.display()),
                Event::Call(name) => tools.load(name),
            }
        }
    }
}

/// A change of the tool list in the middle of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    Addition,
    Removal,
}

/// Which directive a block is.
pub(super) fn directive(node: &Node<'_>) -> Option<Directive> {
    let name = type_of(node)?;
    if name.is("tool_addition") {
        Some(Directive::Addition)
    } else if name.is("tool_removal") {
        Some(Directive::Removal)
    } else {
        None
    }
}

/// Is it a `tool_reference`?
pub(super) fn is_reference(node: &Node<'_>) -> bool {
    has_type(node, "tool_reference")
}

/// Is it a block that becomes text, or goes: a reference or a directive?
pub(super) fn is_block(node: &Node<'_>) -> bool {
    is_reference(node) || directive(node).is_some()
}

/// Is it a block that calls a tool, so that what is in it are arguments?
pub(super) fn is_call(node: &Node<'_>) -> bool {
    ["tool_use", "server_tool_use", "mcp_tool_use"].iter().any(|name| has_type(node, name))
}

/// Is it what a search found, or why it failed, in the place of blocks?
pub(super) fn is_search_outcome(node: &Node<'_>) -> bool {
    node.get("tool_references").is_some() || is_typed_outcome(node)
}

/// Does it say so itself?
pub(super) fn is_typed_outcome(node: &Node<'_>) -> bool {
    type_of(node).is_some_and(|name| starts_with(name, "tool_search_tool_") && !name.is("tool_search_tool_result"))
}

/// The name a reference refers to; empty if it has none.
pub(super) fn reference_name<'a>(node: &Node<'a>) -> Text<'a> {
    let named = ["tool_name", "name"].iter().find_map(|key| node.get(key)?.as_text());
    named.or_else(|| node.as_text()).cloned().unwrap_or_else(|| Text::new(""))
}

/// The name a directive is about.
pub(super) fn directive_name<'a>(node: &Node<'a>) -> Text<'a> {
    match directive_definition(node).or_else(|| node.get("tool")) {
        Some(tool) => tool::name(tool).cloned().unwrap_or_else(|| reference_name(tool)),
        None => reference_name(node),
    }
}

/// The definition that an addition brings, if it brings one: in a `tool_definition`, as the API has it, or bare.
/// Source: Anthropic's documentation, mid-conversation tool changes, read 2026-09-22.
pub(super) fn directive_definition<'n, 'a>(node: &'n Node<'a>) -> Option<&'n Node<'a>> {
    let tool = node.get("tool")?;
    match tool.get("definition") {
        Some(definition) if has_type(tool, "tool_definition") => Some(definition),
        _ => Some(tool).filter(|tool| is_definition(tool)),
    }
}

/// Is a directive's `tool` a definition, and not a reference to one?
fn is_definition(tool: &Node<'_>) -> bool {
    !is_reference(tool)
        && tool
            .as_object()
            .is_some_and(|object| object.iter().any(|member| !member.key.is("name") && !member.key.is("tool_name")))
}

/// The error of tools where no API takes them.
pub(in crate::deferred) fn brings_tools(pointer: &str) -> Error {
    let message = "expected tools in a `system` message alone, found them in another one";
    Error::new(Code::InvalidRequest, format!("{pointer}/tools"), message)
}
