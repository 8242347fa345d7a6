//! How APIs write calls and results as blocks of messages.

use alloc::string::{String, ToString};

use crate::{
    json::{Node, Text},
    options::Api,
    request::tool::has_type,
};

/// How an API writes calls and results as blocks of messages.
pub(super) struct Blocks {
    /// The member of a message that holds its blocks.
    pub(super) list: &'static str,
    /// The spellings of the member of a block that holds a call; empty if the block is the call.
    call: &'static [&'static str],
    /// The same for results.
    result: &'static [&'static str],
    /// The member of a call with its id.
    call_id: &'static str,
    /// The member of a result with the id of its call.
    result_id: &'static str,
    /// The types of calls and results, if blocks have types.
    types: Option<(&'static str, &'static str)>,
    /// True if results may refer to calls by their names.
    is_named: bool,
    /// True if messages of one role that follow each other count as one: otherwise, all results of a message are in the
    /// next one.
    pub(super) joins: bool,
    /// True if results stand before other content.
    pub(super) is_first: bool,
}

const ANTHROPIC: Blocks = Blocks {
    list: "content",
    call: &[],
    result: &[],
    call_id: "id",
    result_id: "tool_use_id",
    types: Some(("tool_use", "tool_result")),
    is_named: false,
    joins: true,
    is_first: true,
};

const CONVERSE: Blocks = Blocks {
    list: "content",
    call: &["toolUse"],
    result: &["toolResult"],
    call_id: "toolUseId",
    result_id: "toolUseId",
    types: None,
    is_named: false,
    joins: false,
    is_first: false,
};

const GEMINI: Blocks = Blocks {
    list: "parts",
    call: &["functionCall", "function_call"],
    result: &["functionResponse", "function_response"],
    call_id: "id",
    result_id: "id",
    types: None,
    is_named: true,
    joins: false,
    is_first: false,
};

impl Blocks {
    /// Returns how an API writes blocks; `None` if calls and results are no blocks there.
    pub(super) const fn of(api: Api) -> Option<&'static Blocks> {
        match api {
            Api::Anthropic => Some(&ANTHROPIC),
            Api::Bedrock => Some(&CONVERSE),
            Api::Gemini => Some(&GEMINI),
            _ => None,
        }
    }

    /// Returns true if blocks have types, which tell results of the client from those of tools that the API runs.
    pub(super) const fn has_types(&self) -> bool {
        self.types.is_some()
    }

    /// Returns a block of text.
    pub(super) fn text<'a>(&self, text: Text<'a>) -> Node<'a> {
        let text = ("text", Node::string(text));
        match self.types {
            Some(_) => Node::record([("type", Node::literal("text")), text]),
            None => Node::record([text]),
        }
    }

    /// Returns the call in a block.
    pub(super) fn call<'n, 'a>(&self, block: &'n Node<'a>) -> Option<&'n Node<'a>> {
        inner(block, self.call, self.types.map(|(call, _)| call))
    }

    /// Returns the result in a block.
    pub(super) fn result<'n, 'a>(&self, block: &'n Node<'a>) -> Option<&'n Node<'a>> {
        inner(block, self.result, self.types.map(|(_, result)| result))
    }

    pub(super) fn call_id(&self, call: &Node<'_>) -> Option<String> {
        text(call, self.call_id)
    }

    pub(super) fn result_id(&self, result: &Node<'_>) -> Option<String> {
        text(result, self.result_id)
    }

    /// Returns the name of a call or a result, if results may refer to calls by it.
    pub(super) fn name(&self, one: &Node<'_>) -> Option<String> {
        text(one, "name").filter(|_| self.is_named)
    }
}

fn inner<'n, 'a>(block: &'n Node<'a>, keys: &[&str], kind: Option<&str>) -> Option<&'n Node<'a>> {
    match kind {
        Some(kind) => has_type(block, kind).then_some(block),
        None => keys.iter().find_map(|key| block.get(*key)),
    }
}

/// Returns a member that is a string.
pub(super) fn text(node: &Node<'_>, key: &str) -> Option<String> {
    node.get(key).and_then(Node::as_text).map(|text| text.display().to_string())
}
