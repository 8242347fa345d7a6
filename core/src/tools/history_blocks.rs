//! Describes how APIs represent calls and results as blocks of messages.

use alloc::string::{String, ToString};

use crate::{
    json::{Node, Text},
    options::Api,
    request::tool::has_type,
};

/// An API's representation of calls and results as blocks of messages.
pub(super) struct Blocks {
    /// Member of a message that contains its blocks.
    pub(super) list: &'static str,
    /// Spellings of the member of a block that contains a call; empty if the block itself is the call.
    call: &'static [&'static str],
    /// Spellings of the member of a block that contains a result; empty if the block itself is the result.
    result: &'static [&'static str],
    /// Member of a call that contains its id.
    call_id: &'static str,
    /// Member of a result that contains the id of its call.
    result_id: &'static str,
    /// `type` of calls and of results, if blocks have types.
    types: Option<(&'static str, &'static str)>,
    /// True if results may refer to calls by name.
    is_named: bool,
    /// True if consecutive messages of one role count as one message. If not, all results of a message have to be in
    /// the next message.
    pub(super) joins: bool,
    /// True if results have to precede other content.
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
    /// Returns the representation in an API; `None` if calls and results are not blocks in this API.
    pub(super) const fn of(api: Api) -> Option<&'static Blocks> {
        match api {
            Api::Anthropic => Some(&ANTHROPIC),
            Api::Bedrock => Some(&CONVERSE),
            Api::Gemini => Some(&GEMINI),
            _ => None,
        }
    }

    /// Returns true if blocks have types, which distinguish results of the client from those of tools that the API
    /// runs.
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

    /// Returns the name of a call or a result, if results may refer to calls by name.
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

/// Returns the text of a member that is a string.
pub(super) fn text(node: &Node<'_>, key: &str) -> Option<String> {
    node.text_at(key).map(|text| text.display().to_string())
}
