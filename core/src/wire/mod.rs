//! What the requests and replies of each API look like: one folder for each API, with one constant that describes it.
//!
//! Other code asks a description ([`of`]) and does not spell a format itself. Most parts of a description are data;
//! functions next to it write what data cannot express.

pub(crate) mod additions;
pub(crate) mod alternatives;
pub(crate) mod answers;
pub(crate) mod anthropic;
pub(crate) mod calls;
pub(crate) mod chat;
pub(crate) mod choice;
pub(crate) mod constructs;
pub(crate) mod converse;
pub(crate) mod endpoint;
pub(crate) mod events;
pub(crate) mod gemini;
pub(crate) mod history_formats;
pub(crate) mod interactions;
#[cfg(test)]
mod made_up;
pub(crate) mod prompt;
pub(crate) mod recognition;
pub(crate) mod reply;
pub(crate) mod responses;
pub(crate) mod rounds;
pub(crate) mod routes;
pub(crate) mod searches;
pub(crate) mod tool_list;
pub(crate) mod translation;
pub(crate) mod turns;
pub(crate) mod units;

use alloc::vec::Vec;
use core::convert::Infallible;

use crate::{
    json::{Child, Data, Flags, Node},
    options::Api,
};
use additions::Additions;
use alternatives::Alternatives;
use answers::AnswerText;
use calls::SingleCall;
use choice::ChoiceFormat;
use endpoint::Endpoint;
use events::Events;
use prompt::Prompt;
use recognition::{Evidence, Recognizes};
use reply::Reply;
use rounds::Rounds;
use searches::SearchResults;
use tool_list::ToolList;
use translation::Translation;
use turns::Turns;
use units::{has_type, Units};

pub(crate) struct Wire {
    endpoint: Endpoint,
    /// Member of a request that holds its history.
    history: &'static str,
    forms: HistoryForms,
    /// `None` if every request with this history has the format, unless another format was recognized before.
    recognizes: Option<Recognizes>,
    /// `None` if messages do not distinguish this format from other formats whose history has the same name. Messages
    /// are then not tested for these other formats either.
    evidence: Option<Evidence>,
    prompt: Prompt,
    /// Members that no step changes in a request without tools and response formats. `exchange::plain` lists the
    /// members that several formats share.
    unchanged_members: &'static [&'static str],
    /// Flags of messages that every API with the format accepts without tools.
    accepted_flags: Flags,
    /// Members of a request that represent history outside of the request.
    stored_history_members: &'static [&'static str],
    /// True if requests name the beta features that they use.
    has_betas: bool,
    /// True if JSON mode requires the word JSON in the history, and the API does not store the instructions.
    wants_json_word: bool,
    tools: ToolList,
    additions: Additions,
    units: Units,
    turns: Turns,
    choice: ChoiceFormat,
    reply: Reply,
    single_call: SingleCall,
    answers: AnswerText,
    searches: SearchResults,
    /// How replies and chunks list alternative messages; `None` if they have a single message.
    alternatives: Option<&'static Alternatives>,
    /// The events of a streamed reply, in addition to chunks.
    events: Option<&'static Events>,
    /// `None` if replies can represent searches, or if searches are never hidden.
    rounds: Option<Rounds>,
    /// `None` if requests are not translated from and to this format.
    translation: Option<Translation>,
}

struct HistoryForms {
    is_required: bool,
    may_be_text: bool,
    may_be_object: bool,
    /// Human-readable.
    expected: &'static str,
    messages: for<'a> fn(Node<'a>) -> Vec<Node<'a>>,
}

impl HistoryForms {
    /// A list of messages, which a request must have.
    const MESSAGES: HistoryForms = HistoryForms {
        is_required: true,
        may_be_text: false,
        may_be_object: false,
        expected: "an array of messages",
        messages: messages_of_roles,
    };
}

fn messages_of_roles(history: Node<'_>) -> Vec<Node<'_>> {
    match history.into_data() {
        Data::Array(items) => items,
        Data::Object(message) => Vec::from([Node::new(Data::Object(message))]),
        Data::String(text) => {
            Vec::from([Node::record([("role", Node::literal("user")), ("content", Node::new(Data::String(text)))])])
        }
        _ => Vec::new(),
    }
}

/// Members with which an entry of a list groups functions, in any format. The first member is written.
pub(crate) const GROUPS: [&str; 2] = gemini::GROUPS;

/// Every description. A part that could belong to several APIs belongs to the first of them in this list.
const ALL: &[&Wire] = &[
    &interactions::WIRE,
    &responses::WIRE,
    &anthropic::WIRE,
    &converse::WIRE,
    &chat::WIRE,
    &gemini::WIRE,
    #[cfg(test)]
    &made_up::WIRE,
];

/// The formats, in the order in which they are recognized.
const RECOGNIZED: &[&Wire] = &[
    &gemini::WIRE,
    &converse::WIRE,
    &interactions::WIRE,
    &responses::WIRE,
    &chat::WIRE,
    &anthropic::WIRE,
    #[cfg(test)]
    &made_up::WIRE,
];

/// Words of each format in a message that may need rewriting: types, roles and members.
pub(crate) const FLAG_WORDS: &[&[(&str, Flags)]] = &[
    &[
        // Members that several formats share, and old messages.
        ("caller", Flags::DEFERRAL),
        ("namespace", Flags::DEFERRAL),
        ("defer_loading", Flags::DEFERRAL),
        ("tool_reference", Flags::DEFERRAL),
        ("tool_references", Flags::DEFERRAL),
    ],
    anthropic::FLAG_WORDS,
    chat::FLAG_WORDS,
    converse::FLAG_WORDS,
    gemini::FLAG_WORDS,
    interactions::FLAG_WORDS,
    responses::FLAG_WORDS,
    #[cfg(test)]
    made_up::FLAG_WORDS,
];

/// The most common format for each name of the history.
pub(crate) const COMMON: [&Wire; 3] = [&chat::WIRE, &responses::WIRE, &gemini::WIRE];

pub(crate) const fn of(api: Api) -> &'static Wire {
    match api {
        Api::Anthropic => &anthropic::WIRE,
        Api::Bedrock => &converse::WIRE,
        Api::Gemini | Api::GeminiJsonSchema => &gemini::WIRE,
        Api::GeminiInteractions => &interactions::WIRE,
        Api::OpenaiChat | Api::LlamaCpp => &chat::WIRE,
        Api::OpenaiResponses => &responses::WIRE,
        #[cfg(test)]
        Api::MadeUp => &made_up::WIRE,
    }
}

impl Wire {
    pub(crate) const fn api(&self) -> Api {
        self.endpoint.api
    }

    pub(crate) const fn has_betas(&self) -> bool {
        self.has_betas
    }

    pub(crate) const fn wants_json_word(&self) -> bool {
        self.wants_json_word
    }

    pub(crate) const fn history(&self) -> &'static str {
        self.history
    }

    pub(crate) const fn requires_messages(&self) -> bool {
        self.forms.is_required && !self.forms.may_be_text
    }

    pub(crate) const fn unchanged_members(&self) -> &'static [&'static str] {
        self.unchanged_members
    }

    pub(crate) const fn accepted_flags(&self) -> Flags {
        self.accepted_flags
    }

    pub(crate) fn accepts_history(&self, history: Option<&Data<'_>>) -> bool {
        match history {
            None => !self.forms.is_required,
            Some(Data::Array(_)) => true,
            Some(Data::String(_)) => self.forms.may_be_text,
            Some(Data::Object(_)) => self.forms.may_be_object,
            Some(_) => false,
        }
    }

    pub(crate) const fn expected_history(&self) -> &'static str {
        self.forms.expected
    }

    pub(crate) const fn translation(&self) -> Option<&Translation> {
        self.translation.as_ref()
    }

    pub(crate) fn is_continued(&self, request: &Node<'_>) -> bool {
        self.stored_history_members.iter().any(|key| !request.get(*key).is_none_or(Node::is_null))
    }

    pub(crate) fn count(&self, request: &Node<'_>) -> usize {
        request.array_at(self.history).map_or(0, <[Node<'_>]>::len)
    }

    pub(crate) const fn choice(&self) -> &ChoiceFormat {
        &self.choice
    }

    pub(crate) const fn tools(&self) -> &ToolList {
        &self.tools
    }

    pub(crate) const fn reply(&self) -> &Reply {
        &self.reply
    }

    pub(crate) const fn single_call(&self) -> &SingleCall {
        &self.single_call
    }

    pub(crate) const fn answers(&self) -> &AnswerText {
        &self.answers
    }

    pub(crate) const fn searches(&self) -> &SearchResults {
        &self.searches
    }

    pub(crate) const fn additions(&self) -> Additions {
        self.additions
    }

    pub(crate) const fn turns(&self) -> &Turns {
        &self.turns
    }
}

pub(crate) fn histories() -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::with_capacity(ALL.len());
    for wire in ALL {
        if !names.contains(&wire.history) {
            names.push(wire.history);
        }
    }
    names
}

/// Returns the members whose items are parsed only if they need rewriting.
pub(crate) fn lazy_members() -> Vec<&'static str> {
    let mut names = histories();
    names.push("system");
    names
}

/// Returns true for a part with text of the user, in any format whose parts have a type.
pub(crate) fn is_text(part: &Node<'_>) -> bool {
    ALL.iter().filter_map(|wire| wire.turns.text).any(|kind| has_type(part, kind))
}

/// Returns true if a request refers to an earlier response or to a cached prefix.
pub(crate) fn is_continued(request: &Node<'_>) -> bool {
    ALL.iter().any(|wire| wire.is_continued(request))
}

pub(crate) fn api_of_reply(reply: &Node<'_>) -> Option<Api> {
    ALL.iter().find(|wire| wire.reply.is_only_of_format(reply)).map(|wire| wire.endpoint.api)
}

pub(crate) fn each<'a>(node: &mut Node<'a>, key: &str, visit: &mut dyn FnMut(usize, &mut Node<'a>)) {
    node.visit(key, |list| {
        // The visitor never fails.
        let _ = list.visit_children::<Infallible>(|child, item| {
            if let Child::Item(at) = child {
                visit(at, item);
            }
            Ok(())
        });
    });
}
