//! A conversation without a format: what each reader makes of a request, and what each writer makes a request of.
//!
//! It knows who said what, which tool was called and what it gave, and when a tool came or went. Whatever only one API
//! has stays with its reader or its writer.

pub(crate) mod pairs;

use alloc::{string::String, vec::Vec};

use super::{
    notice,
    report::{Warnings, LOST},
    tools::{Found, Tools},
};
use crate::{
    collections::{Map, Set},
    error::Error,
    json::{self, Data, Node, Text},
    options::{DeferredOptions, Native},
};

/// A request's history and tools.
#[derive(Default)]
pub(crate) struct Conversation<'a> {
    pub(crate) tools: Tools<'a>,
    pub(crate) events: Vec<Event<'a>>,
    /// The function that stands for the client's search, where the target has no such thing.
    pub(crate) search_name: Option<String>,
    /// The loaded tools that cannot be sent to the target.
    pub(crate) set_aside: Set<Text<'a>>,
    /// The messages of the source, with holes where they were read for another format. Where the format stays they are
    /// in the request until they are written.
    pub(crate) history: Vec<Node<'a>>,
    /// The messages and items that were read although the format stays, by their numbers in the history, without what
    /// was read. Calls and results of Responses carry their items themselves.
    pub(crate) originals: Map<usize, Node<'a>>,
    /// Those of them that say something else now.
    pub(crate) changed: Set<usize>,
    /// References in the place of items of Responses.
    pub(crate) bare: Set<usize>,
    /// The members of items of Responses that were read although the format stays, in order.
    pub(crate) held: Vec<Held>,
    /// The tools to which anything but a result refers, natively and if the format stays.
    pub(crate) referred: Set<Text<'a>>,
    /// What was left out when the history was read.
    pub(crate) losses: Warnings,
    /// The history means the same where it goes, and was left in the request.
    pub(crate) is_in_place: bool,
}

/// Applies what happens in a history to the tools, in its order.
pub(crate) fn apply<'a>(
    events: &mut [Event<'a>],
    tools: &mut Tools<'a>,
    options: &DeferredOptions,
    warnings: &mut Warnings,
) {
    tools.begin(options, warnings);
    for Event { what, .. } in events {
        match what {
            // What a failed call says of tools is nothing that an API honours which has references.
            What::Result(Outcome { content, is_error: true, .. }) if options.native != Native::None => {
                content.each_reference(&mut |reference| {
                    reference.found = tools.state(&reference.name);
                    if reference.found == Found::Unknown {
                        warnings.about("unknown-tool-reference", reference.name.display());
                    }
                });
            }
            What::Text { content, .. } | What::Result(Outcome { content, .. }) | What::Orphan(content) => {
                content.each_reference(&mut |reference| reference.found = tools.find(&reference.name, warnings));
            }
            What::Add(additions) | What::Carry(additions) => {
                for addition in additions {
                    addition.is_known = tools.add(&addition.name, warnings);
                }
            }
            What::Remove { name, .. } => tools.remove(name, warnings),
            What::Ignored(name) => warnings.about("tool-change-ignored", name.display()),
            // A search of Responses calls no function.
            What::Call(Call { name, search: Some(_), .. })
                if !options.search_tools.iter().any(|search| name.is(search.as_str())) => {}
            What::Call(Call { name, .. }) | What::Used(name) if options.load_used_tools => tools.load(name),
            _ => {}
        }
    }
}

/// Whether anything refers to an unknown tool. A failed result refers to none.
pub(crate) fn refers_to_unknown(events: &mut [Event<'_>]) -> bool {
    let mut refers = false;
    for event in events {
        if let What::Text { content, .. } | What::Result(Outcome { content, is_error: false, .. }) = &mut event.what {
            content.each_reference(&mut |reference| refers |= reference.found == Found::Unknown);
        }
    }
    refers
}

impl<'a> Conversation<'a> {
    /// Removes the references outside results: APIs with references read them in results alone, so they load nothing.
    pub(crate) fn lose_references(&mut self) {
        for event in &mut self.events {
            if let What::Text { content: Content::Parts(parts), .. } = &mut event.what {
                let before = parts.len();
                parts.retain(|part| !matches!(part, Part::Reference(_) | Part::Search(_)));
                if parts.len() < before {
                    self.losses.about(LOST, "tool_reference");
                }
            }
        }
    }

    /// Notes which tools each result found and which of those had been taken away, for targets that refer to tools.
    /// What a failed call says of tools is nothing that the API honours.
    /// References in other places stay as they are.
    pub(crate) fn collect_found(&mut self) {
        for event in &mut self.events {
            if let What::Text { content, .. } = &mut event.what {
                content.each_reference(&mut |reference| {
                    if reference.found == Found::Loaded {
                        self.referred.insert(reference.name.clone());
                    }
                });
                if let Content::Parts(parts) = content {
                    for part in parts {
                        if let Part::Reference(Reference { block, .. }) | Part::Search(Search { block, .. }) = part {
                            *part = Part::Own(core::mem::take(block));
                        }
                    }
                }
            }
            let What::Result(outcome) = &mut event.what else { continue };
            let Content::Parts(parts) = &mut outcome.content else { continue };
            if !parts.iter().any(|part| matches!(part, Part::Reference(_) | Part::Search(_))) {
                continue;
            }
            let mut found = Vec::new();
            let mut others = Vec::with_capacity(parts.len());
            let mut is_search = false;
            for part in core::mem::take(parts) {
                let references = match part {
                    Part::Reference(reference) => Vec::from([reference]),
                    Part::Search(search) => {
                        is_search = true;
                        others.extend(search.error.map(|code| Part::Text(Node::string(notice::failed(&code)))));
                        search.references
                    }
                    other => {
                        others.push(other);
                        continue;
                    }
                };
                for reference in references.into_iter().filter(|_| !outcome.is_error) {
                    if reference.found == Found::Withdrawn {
                        outcome.gone.insert(reference.name.clone());
                    }
                    found.push(reference.name);
                }
            }
            *parts = others;
            outcome.found = Some(found).filter(|found| is_search || !found.is_empty());
        }
    }
}

/// A member of an item that was read; the rest of the item stays as it is.
pub(crate) struct Held {
    /// The number of the item, as of an event.
    pub(crate) at: usize,
    pub(crate) member: &'static str,
    /// Who speaks in the item.
    pub(crate) role: Role,
}

/// Something that happened.
pub(crate) struct Event<'a> {
    /// Which message or item of the source it stands in, from 1; 0 is the system prompt.
    pub(crate) at: usize,
    /// Which message of the source it stands in; events of one number are one message where the target has such.
    pub(crate) message: usize,
    /// Which member of that message or item holds it, where several are read: `content` or `output`.
    pub(crate) member: &'static str,
    pub(crate) what: What<'a>,
}

/// What happened.
pub(crate) enum What<'a> {
    /// Somebody said something.
    Text { role: Role, content: Content<'a> },
    /// The model called a tool.
    Call(Call<'a>),
    /// A call was answered.
    Result(Outcome<'a>),
    /// The client added tools, and said so.
    Add(Vec<Addition<'a>>),
    /// The client added tools by their definitions alone.
    Carry(Vec<Addition<'a>>),
    /// The client took a tool away.
    Remove { name: Text<'a>, cache_control: Option<Node<'a>> },
    /// What the model thought, as its maker wrote it.
    Reasoning(Node<'a>),
    /// A message or item that means the same in the target, and who speaks in it.
    Kept(Role),
    /// A call of the API's own servers that is a search for tools if its result says so. Only the reader has it.
    Server { role: Role, block: Node<'a> },
    /// References that are not sent, as those of a search's result without its call: they load tools.
    Orphan(Content<'a>),
    /// A tool was called by something that only the source has.
    Used(Text<'a>),
    /// A tool was added or removed by somebody who may not do that.
    Ignored(Text<'a>),
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The client, about the conversation.
    System,
    /// The client, in the conversation.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// Its name where the client's word is a `system` message.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        }
    }
}

/// What was said: a string, or parts.
pub(crate) enum Content<'a> {
    /// A string node.
    String(Node<'a>),
    Parts(Vec<Part<'a>>),
}

impl<'a> Content<'a> {
    /// All of it as parts; an empty string is none.
    pub(crate) fn into_parts(self) -> Vec<Part<'a>> {
        match self {
            Content::String(text) if text.as_text().is_some_and(Text::is_empty) => Vec::new(),
            Content::String(text) => Vec::from([Part::Text(text)]),
            Content::Parts(parts) => parts,
        }
    }

    /// Shows every reference, in order.
    pub(crate) fn each_reference(&mut self, show: &mut dyn FnMut(&mut Reference<'a>)) {
        let Content::Parts(parts) = self else { return };
        for part in parts {
            match part {
                Part::Reference(reference) => show(reference),
                Part::Search(search) => search.references.iter_mut().for_each(&mut *show),
                _ => {}
            }
        }
    }

    /// A sentence of ours.
    pub(crate) fn sentence(text: impl Into<Text<'a>>) -> Self {
        Content::Parts(Vec::from([Part::Text(Node::string(text))]))
    }
}

/// A part of what was said.
pub(crate) enum Part<'a> {
    /// A string node.
    Text(Node<'a>),
    /// An image by its URL, which may be a `data:` one, with the `detail` that OpenAI's formats have.
    Image { url: Node<'a>, detail: Option<Node<'a>> },
    /// A block that goes to the format it comes from.
    Own(Node<'a>),
    /// A reference to a tool.
    Reference(Reference<'a>),
    /// What a search found, as one block.
    Search(Search<'a>),
    /// A directive of somebody who may not change the tools, in the result of a tool.
    Ignored,
}

/// A reference to a tool.
#[derive(Clone)]
pub(crate) struct Reference<'a> {
    pub(crate) name: Text<'a>,
    /// As it stands in the source.
    pub(crate) block: Node<'a>,
    /// What it refers to, once the history is applied.
    pub(crate) found: Found,
}

/// What a search found.
#[derive(Clone)]
pub(crate) struct Search<'a> {
    pub(crate) references: Vec<Reference<'a>>,
    /// As it stands in the source.
    pub(crate) block: Node<'a>,
    /// Why it failed.
    pub(crate) error: Option<String>,
    /// It stands for the whole content of a result, so that each reference may be a block.
    pub(crate) is_whole: bool,
}

/// A call of a tool.
pub(crate) struct Call<'a> {
    /// A string node.
    pub(crate) id: Node<'a>,
    /// The tool's flat name.
    pub(crate) name: Text<'a>,
    pub(crate) arguments: Arguments<'a>,
    /// It looked for tools, and who ran it.
    pub(crate) search: Option<Searcher>,
    /// The same in the format it comes from.
    pub(crate) own: Option<Node<'a>>,
}

/// Who runs a search for tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Searcher {
    Client,
    Hosted,
}

/// What a tool was called with.
pub(crate) enum Arguments<'a> {
    /// JSON.
    Value(Node<'a>),
    /// A string node that should hold JSON.
    Text(Node<'a>),
    /// A string node in no syntax that a schema knows: the input of a `custom` tool.
    Freeform(Node<'a>),
}

impl<'a> Arguments<'a> {
    /// As the text of JSON.
    pub(crate) fn text(self) -> Node<'a> {
        match self {
            Arguments::Text(text) => text,
            Arguments::Value(value) if value.is_null() => Node::literal("{}"),
            other => {
                let (value, _) = other.value();
                let mut text = String::new();
                json::write_compact(&value, &mut text);
                Node::string(text)
            }
        }
    }

    /// As an object, and whether they were one.
    pub(crate) fn value(self) -> (Node<'a>, bool) {
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
pub(crate) struct Outcome<'a> {
    /// The call's id, a string node.
    pub(crate) id: Node<'a>,
    pub(crate) content: Content<'a>,
    pub(crate) is_error: bool,
    /// The tools that it found, if it was a search.
    pub(crate) found: Option<Vec<Text<'a>>>,
    /// Who ran the search that it is the result of, if it is one's: [`pairs::match_searches`] says so.
    pub(crate) of_search: Option<Searcher>,
    /// Of those that it found, the ones that had been taken away.
    pub(crate) gone: Set<Text<'a>>,
    /// The same in the format it comes from.
    pub(crate) own: Option<Node<'a>>,
}

impl<'a> Outcome<'a> {
    /// What a call gave that did not fail.
    pub(crate) fn new(id: Node<'a>, content: Content<'a>, own: Option<Node<'a>>) -> Self {
        Outcome { id, content, is_error: false, found: None, gone: Set::new(), of_search: None, own }
    }
}

/// A tool that the client added.
pub(crate) struct Addition<'a> {
    pub(crate) name: Text<'a>,
    /// Its definition, if it came along.
    pub(crate) definition: Option<Node<'a>>,
    /// The breakpoint of a prompt cache that stands beside it.
    pub(crate) cache_control: Option<Node<'a>>,
    /// There is such a tool, once the history is applied.
    pub(crate) is_known: bool,
}

/// A tree of its own, of text that was kept as such.
pub(crate) fn opened<'a>(node: Node<'a>) -> Result<Node<'a>, Error> {
    match node.data() {
        Data::Verbatim(text) => json::read(text),
        _ => Ok(node),
    }
}

/// An object's member of a string, as a node; an empty string if it has none.
pub(crate) fn string_of<'a>(object: &Node<'a>, key: &str) -> Node<'a> {
    object.get(key).filter(|value| value.as_text().is_some()).cloned().unwrap_or_else(|| Node::literal(""))
}
