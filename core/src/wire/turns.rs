//! How the turns of a conversation alternate, and where the results of calls have to be.

use alloc::{string::String, vec::Vec};

use crate::json::{Node, Text};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Speaker {
    User,
    Model,
    /// The author of a result that is a separate message or item.
    Tool,
    /// Any other author, for example of the system prompt.
    #[default]
    Other,
}

#[derive(Debug)]
pub(crate) enum Results {
    /// Unknown: no rule about pairs is known.
    Unknown,
    /// In a separate item, anywhere after the call.
    Anywhere,
    /// In a separate message directly after the message with the call, or after other results of that message.
    Following,
    /// In a block of the user's message after the turn with the call.
    Blocks(Blocks),
}

#[derive(Debug)]
pub(crate) struct Blocks {
    pub(super) list: &'static str,
    /// True if the API joins consecutive messages of one role. Otherwise, the next message has to contain all results
    /// of a message.
    pub(super) joins: bool,
    /// True if results have to precede other content.
    pub(super) is_first: bool,
    /// True if results may refer to calls by name.
    pub(super) is_named: bool,
    /// True if a result in a message of the model belongs to a tool that the API runs.
    pub(super) is_hosted_by_model: bool,
    /// Member of blocks that are not content.
    pub(super) no_content: Option<&'static str>,
}

impl Blocks {
    pub(crate) const fn list(&self) -> &'static str {
        self.list
    }

    pub(crate) const fn joins(&self) -> bool {
        self.joins
    }

    pub(crate) const fn is_first(&self) -> bool {
        self.is_first
    }

    pub(crate) const fn is_named(&self) -> bool {
        self.is_named
    }

    pub(crate) const fn is_hosted_by_model(&self) -> bool {
        self.is_hosted_by_model
    }

    pub(crate) fn is_content(&self, block: &Node<'_>) -> bool {
        self.no_content.is_none_or(|key| block.get(key).is_none())
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Prefill {
    /// No message can be continued.
    None,
    /// A message of the model without blocks, or with text at its end.
    Content,
    /// A message with this role and text at its end.
    Text(&'static str),
    /// A message with one of these flags.
    Flags(&'static [&'static str]),
}

pub(crate) struct Turns {
    pub(super) roles: &'static [(&'static str, Speaker)],
    /// Author of a message without a `role`, by the end of its `type`.
    pub(super) by_type_suffix: &'static [(&'static str, Speaker)],
    pub(super) results: Results,
    /// Type of references to items outside of the request.
    pub(super) stored_item: Option<&'static str>,
    /// Members with the id of an item that is neither a call nor a result of the client.
    pub(super) other_ids: &'static [&'static str],
    /// True if a result has to name the tool of its call.
    pub(super) names_results: bool,
    /// True if each call in the history is a separate item, and false if messages contain the calls.
    pub(super) has_items: bool,
    /// True if the history can contain refusals of the model.
    pub(super) has_refusals: bool,
    /// True if calls of tools that are not sent may become text although requests are not translated.
    pub(crate) replaces_calls: bool,
    pub(crate) prefill: Prefill,
    /// Member of the model's messages with its reasoning, if it is text.
    pub(crate) reasoning: Option<&'static str>,
    /// The `type` of the user's text; `None` if parts have no type.
    pub(super) text: Option<&'static str>,
    /// The `type` of the model's text, if it differs from the `type` of the user's text.
    pub(crate) model_text: Option<&'static str>,
    /// Returns a part or an item with a placeholder for the result of a call.
    pub(super) result: for<'a> fn(AnsweredCall<'a>) -> Node<'a>,
}

impl Turns {
    /// Defaults: a description adds the roles and results of its format.
    pub(super) const PLAIN: Turns = Turns {
        roles: &[],
        by_type_suffix: &[],
        results: Results::Unknown,
        stored_item: None,
        other_ids: &[],
        names_results: false,
        has_items: false,
        has_refusals: false,
        reasoning: None,
        replaces_calls: false,
        prefill: Prefill::None,
        text: None,
        model_text: None,
        result: |call| call.text,
    };
}

pub(crate) const FAILED: &str = "is_error";

pub(crate) struct AnsweredCall<'a> {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) text: Node<'a>,
    /// True if the call's tool has free-form input.
    pub(crate) is_custom: bool,
}

impl<'a> AnsweredCall<'a> {
    pub(super) fn id_node(&self) -> Node<'a> {
        self.id.clone().map(Node::string).unwrap_or_default()
    }
}

impl Turns {
    pub(crate) const fn results(&self) -> &Results {
        &self.results
    }

    pub(crate) const fn blocks(&self) -> Option<&Blocks> {
        match &self.results {
            Results::Blocks(blocks) => Some(blocks),
            _ => None,
        }
    }

    pub(crate) const fn names_results(&self) -> bool {
        self.names_results
    }

    pub(crate) fn speaker(&self, message: &Node<'_>) -> Speaker {
        let entry = match message.get("role") {
            Some(role) => self.roles.iter().find(|(name, _)| role.is_text(name)),
            None => {
                let kind = message.text_at("type").map(Text::display).unwrap_or_default();
                self.by_type_suffix.iter().find(|(end, _)| kind.ends_with(end))
            }
        };
        entry.map(|(_, speaker)| *speaker).unwrap_or_default()
    }

    pub(crate) fn is_stored(&self, item: &Node<'_>) -> bool {
        self.stored_item.is_some_and(|kind| item.get("type").is_some_and(|value| value.is_text(kind)))
    }

    pub(crate) fn other_ids<'a>(&self, item: &Node<'a>) -> Vec<Text<'a>> {
        self.other_ids.iter().filter_map(|key| item.text_at(*key)).cloned().collect()
    }

    pub(crate) const fn has_items(&self) -> bool {
        self.has_items
    }

    pub(crate) const fn has_refusals(&self) -> bool {
        self.has_refusals
    }

    pub(crate) const fn has_typed_parts(&self) -> bool {
        self.text.is_some()
    }

    pub(crate) fn text<'a>(&self, text: Text<'a>) -> Node<'a> {
        let text = ("text", Node::string(text));
        match self.text {
            Some(kind) => Node::record([("type", Node::literal(kind)), text]),
            None => Node::record([text]),
        }
    }

    pub(crate) fn is_text(&self, part: &Node<'_>) -> bool {
        match self.text {
            Some(kind) => part.get("type").is_some_and(|value| value.is_text(kind)),
            None => part.get("text").is_some(),
        }
    }

    pub(crate) fn result<'a>(&self, call: AnsweredCall<'a>) -> Node<'a> {
        (self.result)(call)
    }

    /// Returns a message by this author. The format must have messages of the author.
    pub(crate) fn message<'a>(&self, speaker: Speaker, text: Text<'a>) -> Node<'a> {
        let role = self.roles.iter().find(|(_, author)| *author == speaker).map_or("", |(role, _)| role);
        let (list, content) = match self.blocks() {
            Some(blocks) => (blocks.list(), Node::array(Vec::from([self.text(text)]))),
            None => ("content", Node::string(text)),
        };
        Node::record([("role", Node::literal(role)), (list, content)])
    }

    pub(crate) fn user_message<'a>(&self, parts: Vec<Node<'a>>) -> Node<'a> {
        let list = self.blocks().map_or("content", Blocks::list);
        Node::record([("role", Node::literal("user")), (list, Node::array(parts))])
    }
}
