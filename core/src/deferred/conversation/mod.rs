//! A conversation without a format: what each reader makes of a request, and what each writer makes a request of.
//!
//! It knows who said what, which tool was called and what it gave, and when a tool came or went. Whatever only one API
//! has stays with its reader or its writer.

pub(super) mod pairs;
pub(super) mod unavailable;

use alloc::{string::String, vec::Vec};

use super::{
    compact::compact,
    report::Warnings,
    tools::{Found, Tools},
};
use crate::{
    collections::Set,
    error::Error,
    json::{self, Data, Node, Text},
    options::DeferredOptions,
};

/// A request's history and tools.
#[derive(Default)]
pub(super) struct Conversation<'a> {
    pub(super) tools: Tools<'a>,
    pub(super) events: Vec<Event<'a>>,
    /// The function that stands for the client's search, where the target has no such thing.
    pub(super) search_name: Option<String>,
    /// The loaded tools that cannot be sent to the target.
    pub(super) set_aside: Set<Text<'a>>,
    /// The history means the same where it goes, and was left in the request.
    pub(super) is_in_place: bool,
}

impl Conversation<'_> {
    /// Applies what happens in the history to the tools, in its order.
    pub(super) fn apply(&mut self, options: &DeferredOptions, warnings: &mut Warnings) {
        let Conversation { tools, events, .. } = self;
        tools.begin(options, warnings);
        for Event { what, .. } in events.iter_mut() {
            match what {
                What::Result(outcome) => {
                    for name in outcome.found.iter().flatten() {
                        if tools.find(name, warnings) == Found::Withdrawn {
                            outcome.gone.insert(name.clone());
                        }
                    }
                }
                What::Add(additions) => additions.iter().for_each(|addition| tools.add(&addition.name, warnings)),
                What::Remove(name) => tools.remove(name, warnings),
                What::Call(call) if options.load_used_tools => tools.load(&call.name),
                _ => {}
            }
        }
    }
}

/// Something that happened.
pub(super) struct Event<'a> {
    /// Which message of the source it stands in; events of one number are one message where the target has such.
    pub(super) message: usize,
    pub(super) what: What<'a>,
}

/// What happened.
pub(super) enum What<'a> {
    /// Somebody said something.
    Text { role: Role, content: Content<'a> },
    /// The model called a tool.
    Call(Call<'a>),
    /// A call was answered.
    Result(Outcome<'a>),
    /// The client added tools.
    Add(Vec<Addition<'a>>),
    /// The client took a tool away.
    Remove(Text<'a>),
    /// What the model thought, as its maker wrote it.
    Reasoning(Node<'a>),
    /// A message that means the same in the target, as it stands, and who speaks in it.
    Copied(Node<'a>, Role),
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The client, about the conversation.
    System,
    /// The client, in the conversation.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// Its name where the client's word is a `system` message.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        }
    }
}

/// What was said: a string, or parts.
pub(super) enum Content<'a> {
    /// A string node.
    String(Node<'a>),
    Parts(Vec<Part<'a>>),
}

impl<'a> Content<'a> {
    /// All of it as parts; an empty string is none.
    pub(super) fn into_parts(self) -> Vec<Part<'a>> {
        match self {
            Content::String(text) if text.as_text().is_some_and(Text::is_empty) => Vec::new(),
            Content::String(text) => Vec::from([Part::Text(text)]),
            Content::Parts(parts) => parts,
        }
    }

    /// A sentence of ours.
    pub(super) fn sentence(text: impl Into<Text<'a>>) -> Self {
        Content::Parts(Vec::from([Part::Text(Node::string(text))]))
    }
}

/// A part of what was said.
pub(super) enum Part<'a> {
    /// A string node.
    Text(Node<'a>),
    /// An image by its URL, which may be a `data:` one, with the `detail` that OpenAI's formats have.
    Image { url: Node<'a>, detail: Option<Node<'a>> },
    /// A block that goes to the format it comes from.
    Own(Node<'a>),
}

/// A call of a tool.
pub(super) struct Call<'a> {
    /// A string node.
    pub(super) id: Node<'a>,
    /// The tool's flat name.
    pub(super) name: Text<'a>,
    pub(super) arguments: Arguments<'a>,
    /// It looked for tools, and who ran it.
    pub(super) search: Option<Searcher>,
    /// The same in the format it comes from.
    pub(super) own: Option<Node<'a>>,
}

/// Who runs a search for tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Searcher {
    Client,
    Hosted,
}

/// What a tool was called with.
pub(super) enum Arguments<'a> {
    /// JSON.
    Value(Node<'a>),
    /// A string node that should hold JSON.
    Text(Node<'a>),
    /// A string node in no syntax that a schema knows: the input of a `custom` tool.
    Freeform(Node<'a>),
}

impl<'a> Arguments<'a> {
    /// As the text of JSON.
    pub(super) fn text(self) -> Node<'a> {
        match self {
            Arguments::Text(text) => text,
            Arguments::Value(value) if value.is_null() => Node::literal("{}"),
            other => {
                let (value, _) = other.value();
                let mut text = String::new();
                compact(&value, &mut text);
                Node::string(text)
            }
        }
    }

    /// As an object, and whether they were one.
    pub(super) fn value(self) -> (Node<'a>, bool) {
        let value = match self {
            Arguments::Freeform(text) => return (Node::record([("input", text)]), true),
            Arguments::Value(value) => value,
            Arguments::Text(text) => match text.as_text().map(Text::value) {
                Some(Some(text)) if text.trim().is_empty() => return (Node::empty_object(), true),
                Some(Some(text)) => read_owned(&text).unwrap_or_default(),
                _ => Node::default(),
            },
        };
        match value.as_object() {
            Some(_) => (value, true),
            None => (Node::empty_object(), false),
        }
    }
}

/// A text that lives no longer than a call, as a tree that does.
fn read_owned<'a>(text: &str) -> Option<Node<'a>> {
    json::read(text).ok().map(|node| node.detached())
}

/// What a call gave.
pub(super) struct Outcome<'a> {
    /// The call's id, a string node.
    pub(super) id: Node<'a>,
    pub(super) content: Content<'a>,
    pub(super) is_error: bool,
    /// The tools that it found, if it was a search.
    pub(super) found: Option<Vec<Text<'a>>>,
    /// Who ran the search that it is the result of, if it is one's: [`pairs::match_searches`] says so.
    pub(super) of_search: Option<Searcher>,
    /// Of those that it found, the ones that had been taken away.
    pub(super) gone: Set<Text<'a>>,
    /// The same in the format it comes from.
    pub(super) own: Option<Node<'a>>,
}

/// A tool that the client added.
pub(super) struct Addition<'a> {
    pub(super) name: Text<'a>,
    /// Its definition, if it came along.
    pub(super) definition: Option<Node<'a>>,
}

/// A tree of its own, of text that was kept as such.
pub(super) fn opened<'a>(node: Node<'a>) -> Result<Node<'a>, Error> {
    match node.data() {
        Data::Verbatim(text) => json::read(text),
        _ => Ok(node),
    }
}

/// An object's member of a string, as a node; an empty string if it has none.
pub(super) fn string_of<'a>(object: &Node<'a>, key: &str) -> Node<'a> {
    object.get(key).filter(|value| value.as_text().is_some()).cloned().unwrap_or_else(|| Node::literal(""))
}
