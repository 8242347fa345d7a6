//! One reader for each format: a request's tools and history as a [`Conversation`].
//!
//! The history is taken out of the request; everything else stays there for the writer.

mod anthropic;
mod chat;
mod responses;

use alloc::{format, vec::Vec};

use super::{
    conversation::{Content, Conversation, Event, Part, Role, What},
    namespace::NameMap,
    report::{Warnings, LOST},
    tool::type_of,
    tools::Arrival,
};
use crate::{
    error::{Code, Error},
    json::{Data, Node, Text},
    options::{DeferredOptions, Format, ToolChanges},
};

/// What a reader has to know.
pub(super) struct Reading<'r, 'a> {
    pub(super) options: &'r DeferredOptions,
    pub(super) names: &'r mut NameMap<'a>,
    pub(super) warnings: &'r mut Warnings,
    /// The target's format.
    pub(super) target: Format,
}

/// Takes the history and the tools out of a request.
///
/// # Errors
/// `invalid-request` for a message that is none, or a history that is not in the request.
pub(super) fn take<'a>(
    request: &mut Node<'a>,
    source: Format,
    reading: Reading<'_, 'a>,
) -> Result<Conversation<'a>, Error> {
    let mut reader = Reader { reading, source, conversation: Conversation::default(), has_spoken: false };
    match source {
        Format::Anthropic => anthropic::read(&mut reader, request)?,
        Format::OpenaiResponses => responses::read(&mut reader, request)?,
        Format::OpenaiChat => chat::read(&mut reader, request)?,
    }
    Ok(reader.conversation)
}

struct Reader<'r, 'a> {
    reading: Reading<'r, 'a>,
    source: Format,
    conversation: Conversation<'a>,
    /// Anybody but the client has, or the client in the conversation.
    has_spoken: bool,
}

impl<'a> Reader<'_, 'a> {
    /// Whether the format stays, so that what is not about tools does, too.
    fn stays(&self) -> bool {
        self.source == self.reading.target
    }

    fn push(&mut self, message: usize, what: What<'a>) {
        self.has_spoken |= match &what {
            What::Text { role, .. } | What::Copied(_, role) => *role != Role::System,
            What::Call(_) | What::Result(_) | What::Reasoning(_) => true,
            What::Add(_) | What::Remove(_) => false,
        };
        self.conversation.events.push(Event { message, what });
    }

    /// Whether nobody has spoken yet: what comes here is the head of the prompt.
    fn is_head(&self) -> bool {
        !self.has_spoken
    }

    /// Whether the history may change the tools; if not, the change is told of by the names of its tools.
    fn may_change<'n>(&mut self, names: impl Iterator<Item = &'n Text<'a>>) -> bool
    where
        'a: 'n,
    {
        let may = self.reading.options.tool_changes == ToolChanges::Apply;
        if !may {
            names.for_each(|name| self.reading.warnings.about("tool-change-ignored", name.display()));
        }
        may
    }

    /// Takes in a definition that the history brings.
    fn bring(&mut self, definition: Node<'a>, arrival: Arrival) {
        self.conversation.tools.bring(definition, arrival, &[], self.reading.warnings);
    }

    /// Takes the request's own list in.
    fn list(&mut self, request: &mut Node<'a>) {
        let tools = request.visit("tools", |tools| tools.as_array_mut().map(core::mem::take)).flatten();
        for tool in tools.unwrap_or_default() {
            self.conversation.tools.list_own(tool, self.reading.warnings);
        }
    }

    /// Warns that something is left out, unless nothing is lost.
    fn lose(&mut self, name: &str, value: &Node<'_>) {
        lose(name, value, self.reading.warnings);
    }

    /// Warns about the members of a block beyond those that are translated.
    fn lose_rest(&mut self, block: &Node<'_>, translated: &[&str]) {
        for member in block.as_object().into_iter().flatten() {
            if !translated.iter().any(|key| member.key.is(key)) {
                lose(&member.key.display(), &member.value, self.reading.warnings);
            }
        }
    }

    /// Warns about a block that cannot be translated, by its type.
    fn lose_block(&mut self, block: &Node<'_>) {
        let name = type_of(block).map_or_else(|| "content".into(), Text::display);
        self.reading.warnings.about(LOST, name);
    }

    /// What was said, as parts read by `part`.
    fn content(
        &mut self,
        content: Option<Node<'a>>,
        part: fn(&mut Self, Node<'a>) -> Result<Option<Part<'a>>, Error>,
    ) -> Result<Content<'a>, Error> {
        let content = content.map(super::conversation::opened).transpose()?.map(Node::into_data);
        Ok(match content {
            Some(Data::String(text)) => Content::String(Node::new(Data::String(text))),
            Some(Data::Array(blocks)) => {
                let mut parts = Vec::with_capacity(blocks.len());
                for block in blocks {
                    parts.extend(part(self, block)?);
                }
                Content::Parts(parts)
            }
            None | Some(Data::Null) => Content::Parts(Vec::new()),
            Some(other) => {
                self.lose("content", &Node::new(other));
                Content::Parts(Vec::new())
            }
        })
    }
}

/// Warns that something is left out, unless nothing is lost.
pub(super) fn lose(name: &str, value: &Node<'_>, warnings: &mut Warnings) {
    let nothing = match value.data() {
        Data::Null | Data::Verbatim("null") | Data::Bool(false) | Data::Verbatim("false") => true,
        Data::Array(items) => items.is_empty(),
        _ => false,
    };
    if !nothing {
        warnings.about(LOST, name);
    }
}

/// The error of a message that is no object.
fn no_object(message: &Node<'_>, at: &str) -> Error {
    Error::new(Code::InvalidRequest, at, format!("expected a message as an object, found {}", message.kind()))
}

/// The error of a role that nobody has.
fn no_role(message: &Node<'_>, at: &str, expected: &str) -> Error {
    let found = message.get("role").map_or_else(|| "none".into(), crate::json::write);
    Error::new(Code::InvalidRequest, format!("{at}/role"), format!("expected a `role` of {expected}, found {found}"))
}
