//! A made-up API for tests. The code that handles it uses only this description.
//!
//! Its history is a `dialogue` of turns by a `person` and a `machine`. A turn consists of `acts`: the machine speaks or
//! uses a tool, the person speaks or hands over what a tool gave.

use alloc::string::String;

use super::{
    additions::Additions,
    answers::AnswerText,
    calls::{as_text as text_of, record, CallForm, ClientCall, SingleCall},
    choice::{Allowed, ChoiceFormat, Forced, Location, Parallel, Spelling, WithoutTools, Words},
    endpoint::{error_event, of_openai, Endpoint},
    events::{BegunCall, Content, Event, Events, Kind, Meaning, Piece, Test},
    prompt::Prompt,
    reply::Reply,
    rounds::{Body, ItemList, Rounds},
    searches::{SearchResult, SearchResults},
    tool_list::ToolList,
    turns::{AnsweredCall, Blocks, Results, Speaker, Turns},
    units::{
        has_type, Arguments, Name,
        Step::{Items, Member},
        Unit, Units,
    },
    HistoryForms, Wire,
};
use crate::{
    json::{Flags, Node},
    options::{Api, ToolFormat},
};

pub(super) const FLAG_WORDS: &[(&str, Flags)] = &[("uses", Flags::CALL), ("gave", Flags::RESULT)];

pub(super) static WIRE: Wire = Wire {
    endpoint: Endpoint { api: Api::MadeUp, is_shared: false, error: of_openai, error_event },
    history: "dialogue",
    forms: HistoryForms::MESSAGES,
    recognizes: None,
    evidence: None,
    prompt: Prompt::Text { member: "manner", kind: "words" },
    unchanged_members: &[],
    accepted_flags: Flags::NONE,
    stored_history_members: &[],
    has_betas: false,
    wants_json_word: false,
    tools: ToolList { members: &["tools", "pick"], ..ToolList::flat(Api::OpenaiChat, &[ToolFormat::OpenaiResponses]) },
    additions: Additions::None,
    units: Units {
        messages: &[],
        lists: &[(
            "acts",
            &[
                Unit { name: Name::Members(&["tool"]), ..Unit::call(&["key"], Arguments::Text("with")) }
                    .of_type("uses"),
                Unit::result(&["of"]).of_type("gave"),
            ],
        )],
    },
    turns: Turns {
        roles: &[("person", Speaker::User), ("machine", Speaker::Model)],
        results: Results::Blocks(Blocks {
            list: "acts",
            joins: false,
            is_first: true,
            is_named: false,
            is_hosted_by_model: false,
            no_content: None,
        }),
        result,
        ..Turns::PLAIN
    },
    choice: ChoiceFormat {
        locations: &[Location { outer: "pick", inner: None, pointer: "/pick" }],
        spelling: Spelling::Words(Words {
            demand: "some",
            is_object: false,
            forced: Forced::Kind,
            allowed: Allowed::None,
        }),
        parallel: Parallel::None,
        without_tools: WithoutTools::All,
        writes_default: false,
    },
    reply: Reply {
        messages: &[&[Member("turn")]],
        ends: &[&[]],
        cut: &[("why", "length")],
        usage: "spent",
        wrapper: None,
        parts: &[],
        repeated_texts: &[],
        hidden_item_types: &[],
        is_only_of_format: |reply| reply.get("turn").is_some(),
    },
    single_call: SingleCall { keeps_form: false, forms: &[CallForm::of_type("uses", "with")], write: call },
    answers: AnswerText { is_text: |act| has_type(act, "speak"), ..AnswerText::block(as_text) },
    searches: SearchResults::references(search_result),
    alternatives: None,
    events: Some(&EVENTS),
    rounds: Some(Rounds {
        single_round: &[],
        store: None,
        body: Body::Items(ItemList { list: "acts", built: None }),
        reasons: &["done"],
        without_calls: None,
        is_call: |act| has_type(act, "uses"),
        is_text: |act| has_type(act, "speak"),
        reasoning: None,
    }),
    translation: None,
};

static EVENTS: Events = Events {
    kind: Kind::Value("beat"),
    list: &[
        Event::new("open", Meaning::Begin)
            .with(&["act"])
            .call(BegunCall {
                kind: Some("uses"),
                name: "tool",
                arguments: Arguments::Text("with"),
                has_later_copy: false,
            })
            .first_text(&[Items("none")])
            .possible_text(),
        Event::new("more", Meaning::Delta).pieces(&[
            Piece { content: Content::Text, test: Test::Exists, path: &["bit", "words"] },
            Piece { content: Content::Arguments, test: Test::Exists, path: &["bit", "with"] },
        ]),
        Event::new("shut", Meaning::End).possible_text(),
        Event::new("over", Meaning::Finish { is_complete: true }),
    ],
    index: &["slot"],
    write: Some(piece),
    ..Events::NONE
};

fn piece(index: Node<'static>, content: Content, piece: Node<'static>) -> Node<'static> {
    let member = match content {
        Content::Text => "words",
        Content::Arguments => "with",
    };
    let bit = Node::record([(member, piece)]);
    Node::record([("beat", Node::literal("more")), ("slot", index), ("bit", bit)])
}

fn result(call: AnsweredCall<'_>) -> Node<'_> {
    Node::record([("type", Node::literal("gave")), ("of", call.id_node()), ("what", call.text)])
}

fn as_text(act: &mut Node<'_>, text: Option<String>) {
    ["tool", "with", "key"].into_iter().for_each(|key| drop(act.remove(key)));
    act.set("type", Node::literal("speak"));
    act.set("words", Node::string(text.unwrap_or_default()));
}

fn search_result(search: SearchResult) -> Node<'static> {
    Node::record([("type", Node::literal("gave")), ("of", search.id), ("what", search.content.plain())])
}

fn call(call: ClientCall<'_>) -> Node<'_> {
    record([
        ("type", Some(Node::literal("uses"))),
        ("key", call.id),
        ("tool", Some(call.name)),
        ("with", Some(text_of(call.arguments))),
    ])
}
