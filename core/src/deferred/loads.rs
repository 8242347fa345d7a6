//! What the history says about tools: references, additions, removals and calls, in order, before anything is rewritten.

use alloc::vec::Vec;

use super::{
    catalogue::Catalogue,
    marks,
    open::{may_hold, view},
    report::Warnings,
    tool::{has_type, starts_with, type_of},
};
use crate::{
    error::Error,
    json::{Node, Text},
    options::DeferredOptions,
    sorted::Set,
};

/// One thing that happened to a tool.
pub(super) enum Event<'a> {
    /// It was referred to: found by a search, or named by its finder.
    Reference(Text<'a>),
    /// It was added, by reference or with a definition.
    Addition(Text<'a>),
    /// It was taken away.
    Removal(Text<'a>),
    /// It was called.
    Call(Text<'a>),
    /// Its definition came along.
    Definition(Text<'a>),
}

/// Everything that happened, and the hosted searches with it.
#[derive(Default)]
pub(super) struct Events<'a> {
    pub(super) list: Vec<Event<'a>>,
    /// Definitions that came with the history; the flag says that they stand for deferred ones of the same name.
    pub(super) definitions: Vec<(Node<'a>, bool)>,
    /// Ids of `server_tool_use` blocks.
    pub(super) server_calls: Set<Text<'a>>,
    /// Ids that `tool_search_tool_result` blocks answer.
    pub(super) search_results: Set<Text<'a>>,
    /// Whether calls matter.
    pub(super) with_calls: bool,
}

impl<'a> Events<'a> {
    /// Reads a list of messages, or of blocks. Items that are text and hold none of the words in question are passed over.
    pub(super) fn scan_list(&mut self, list: &Node<'a>) -> Result<(), Error> {
        let wanted = if self.with_calls { marks::DEFERRAL | marks::CALL } else { marks::DEFERRAL };
        for item in list.as_array().unwrap_or_default() {
            if !may_hold(item, wanted) {
                continue;
            }
            self.scan(&*view(item)?);
        }
        Ok(())
    }

    /// Reads one value, wherever it stands. Arguments of calls are the caller's own and are not read.
    pub(super) fn scan(&mut self, node: &Node<'a>) {
        if let Some(items) = node.as_array() {
            items.iter().for_each(|item| self.scan(item));
            return;
        }
        let Some(object) = node.as_object() else { return };
        if is_reference(node) {
            self.list.push(Event::Reference(reference_name(node)));
            return;
        }
        match directive(node) {
            Some(Directive::Addition) => return self.addition(node),
            Some(Directive::Removal) => return self.list.push(Event::Removal(directive_name(node))),
            None => {}
        }
        if is_call(node) {
            if has_type(node, "server_tool_use") {
                self.server_calls.extend(node.get("id").and_then(Node::as_text).cloned());
            } else if self.with_calls {
                self.call(node.get("name"));
            }
            return;
        }
        if has_type(node, "tool_search_tool_result") {
            self.search_results.extend(node.get("tool_use_id").and_then(Node::as_text).cloned());
        }
        for member in object {
            if member.key.is("tool_calls") {
                if self.with_calls {
                    for call in member.value.as_array().unwrap_or_default() {
                        self.call(call.get("function").and_then(|function| function.get("name")));
                    }
                }
            } else if member.key.is("tool_references") {
                // Inside a search's result an entry is a reference even if it does not say so.
                for entry in member.value.as_array().unwrap_or_default() {
                    self.list.push(Event::Reference(reference_name(entry)));
                }
            } else {
                self.scan(&member.value);
            }
        }
    }

    fn call(&mut self, name: Option<&Node<'a>>) {
        self.list.extend(name.and_then(Node::as_text).cloned().map(Event::Call));
    }

    fn addition(&mut self, node: &Node<'a>) {
        let name = directive_name(node);
        if let Some(tool) = node.get("tool").filter(|tool| is_definition(tool)) {
            self.definitions.push((tool.clone(), true));
        }
        self.list.push(Event::Addition(name));
    }

    /// Lets the events happen to the catalogue.
    pub(super) fn resolve(&mut self, catalogue: &mut Catalogue<'a>, options: &DeferredOptions, warnings: &mut Warnings) {
        for (definition, replaces) in core::mem::take(&mut self.definitions) {
            catalogue.bring(definition, replaces, warnings);
        }
        // First what was loaded before this history began: with `order: "append"` the list only grows at its end.
        for name in &options.loaded_tools {
            let text = Text::new(name.as_str());
            if !catalogue.knows(&text) {
                warnings.about("unknown_tool_reference", name.as_str());
            }
            catalogue.load(&text);
        }
        for event in &self.list {
            match event {
                Event::Reference(name) | Event::Addition(name) => {
                    if !catalogue.knows(name) {
                        warnings.about("unknown_tool_reference", name.display());
                    }
                    catalogue.load(name);
                    if matches!(event, Event::Addition(_)) {
                        catalogue.withdraw(name, false);
                    }
                }
                Event::Removal(name) => catalogue.withdraw(name, true),
                Event::Call(name) | Event::Definition(name) => catalogue.load(name),
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

/// Is it a block that calls a tool, so that what is in it are arguments?
pub(super) fn is_call(node: &Node<'_>) -> bool {
    ["tool_use", "server_tool_use", "mcp_tool_use"].iter().any(|name| has_type(node, name))
}

/// Is it what a hosted search found, or why it failed?
pub(super) fn is_search_outcome(node: &Node<'_>) -> bool {
    node.get("tool_references").is_some()
        || type_of(node).is_some_and(|name| starts_with(name, "tool_search_tool_") && !name.is("tool_search_tool_result"))
}

/// The name a reference refers to; empty if it has none.
pub(super) fn reference_name<'a>(node: &Node<'a>) -> Text<'a> {
    let named = ["tool_name", "name"].iter().find_map(|key| node.get(key)?.as_text());
    named.or_else(|| node.as_text()).cloned().unwrap_or_else(|| Text::new(""))
}

/// The name a directive is about.
pub(super) fn directive_name<'a>(node: &Node<'a>) -> Text<'a> {
    match node.get("tool") {
        Some(tool) => super::tool::name(tool).cloned().unwrap_or_else(|| reference_name(tool)),
        None => reference_name(node),
    }
}

/// Is a directive's `tool` a definition, and not a reference to one?
fn is_definition(tool: &Node<'_>) -> bool {
    !is_reference(tool)
        && tool.as_object().is_some_and(|object| object.iter().any(|member| !member.key.is("name") && !member.key.is("tool_name")))
}
