//! Gemini Interactions. The history consists of steps.

mod built_step;
pub(crate) mod reader;
mod recognition;
pub(crate) mod writer;

use alloc::{boxed::Box, string::String, vec::Vec};

use super::{
    additions::{Additions, ResultOf, UntypedResults},
    answers::{has_only_text, AnswerText, Conversion},
    calls::{as_value, record, ClientCall, SingleCall},
    choice::{ChoiceFormat, Location, Mode, Parallel, Spelling, WithoutTools},
    endpoint::{error_event, of_google, Endpoint},
    events::{BegunCall, Content, Event, Events, Kind, Meaning, Piece, Test},
    prompt::Prompt,
    reply::{text_part, Reply},
    rounds::{Body, ItemList, Rounds, When},
    searches::{SearchResult, SearchResults},
    tool_list::ToolList,
    translation::{Form, Metadata, Strict, Translation},
    turns::{Speaker, Turns},
    units::{
        has_type, Arguments, Name,
        Step::{Items, Member, NotText, Type, With, Without},
        Unit, Units,
    },
    HistoryForms, Wire,
};
use crate::{
    json::{lazy::view, Data, Flags, Node, Text},
    options::{Api, ToolFormat},
};
use built_step::BuiltStep;

pub(super) const FLAG_WORDS: &[(&str, Flags)] = &[("function_result", Flags::CALL)];

pub(super) static WIRE: Wire = Wire {
    endpoint: Endpoint { api: Api::GeminiInteractions, is_shared: false, error: of_google, error_event },
    history: "input",
    forms: HistoryForms {
        is_required: false,
        may_be_text: true,
        may_be_object: true,
        expected: "a string, a content, or an array of contents or steps",
        messages,
    },
    recognizes: Some(recognition::recognizes),
    evidence: None,
    prompt: Prompt::Text { member: "system_instruction", kind: "text" },
    unchanged_members: &[],
    accepted_flags: Flags::SYSTEM,
    stored_history_members: &["previous_interaction_id"],
    has_betas: false,
    wants_json_word: false,
    tools: ToolList::flat(Api::GeminiInteractions, &[ToolFormat::GeminiInteractions]),
    additions: Additions::Results { list: "result", hosted: "tool_search_result", form: UNTYPED_RESULTS },
    units: Units {
        messages: &[
            Unit {
                // A call of OpenAI Responses has a `call_id`, and arguments as text.
                unlike: &[Without("call_id"), With("id"), NotText("arguments")],
                ..Unit::call(&["id"], Arguments::Value("arguments")).of_type("function_call")
            },
            Unit::result(&["call_id"]).may_have_name().of_type("function_result"),
            // A search of OpenAI Responses has a query.
            Unit { name: Name::WholeString, ..Unit::search(&[Member("arguments"), Items("function_names")]) }
                .of_type("tool_search_call"),
            Unit::search(&[Items("result")]).of_type("tool_search_result"),
        ],
        lists: &[],
    },
    turns: Turns {
        roles: &[("user", Speaker::User), ("model", Speaker::Model)],
        by_type_suffix: &[("user_input", Speaker::User), ("_result", Speaker::Tool), ("", Speaker::Model)],
        names_results: true,
        has_items: true,
        text: Some("text"),
        ..Turns::PLAIN
    },
    choice: ChoiceFormat {
        locations: &[Location {
            outer: "generation_config",
            inner: Some("tool_choice"),
            pointer: "/generation_config/tool_choice",
        }],
        spelling: Spelling::Mode(Mode {
            within: Some("allowed_tools"),
            names: &["tools"],
            auto: "auto",
            any: "any",
            pieces: &[],
        }),
        parallel: Parallel::None,
        without_tools: WithoutTools::All,
        writes_default: false,
    },
    reply: Reply {
        messages: &[&[Items("steps")], &[Member("step")], &[Member("interaction"), Items("steps")]],
        ends: &[&[Member("interaction")]],
        cut: &[("status", "incomplete")],
        usage: "usage",
        wrapper: Some("interaction"),
        parts: &[],
        repeated_texts: &[],
        hidden_item_types: &["user_input", "function_result", "thought"],
        is_only_of_format: |_| false,
    },
    single_call: SingleCall { keeps_form: false, forms: &[], write: call },
    answers: AnswerText {
        conversion: Conversion::Unit(as_text),
        is_text: |step| has_type(step, "model_output") && has_only_text(step),
        stop_reasons: &[("status", "requires_action", "completed")],
        repeat: None,
        events: None,
    },
    searches: SearchResults { has_definitions: true, ..SearchResults::references(search_result) },
    alternatives: None,
    events: Some(&EVENTS),
    rounds: Some(Rounds {
        single_round: &[("background", When::True)],
        store: Some("store"),
        body: Body::Items(ItemList { list: "steps", built: Some(|step| Box::new(BuiltStep::new(step))) }),
        reasons: &["completed", "requires_action"],
        without_calls: Some(("requires_action", "completed")),
        is_call: |step| has_type(step, "function_call"),
        is_text: |step| has_type(step, "model_output"),
        reasoning: Some("thought"),
    }),
    translation: Some(Translation {
        form: Form::Typed,
        schema: "parameters",
        strict: Strict::Ignored,
        has_custom: false,
        limit: "max_output_tokens",
        needs_limit: false,
        stop: Some("stop_sequences"),
        metadata: Metadata::None,
    }),
};

/// Returns the steps of a history. A text, a content, or a list of contents becomes a step with input of the user.
fn messages(history: Node<'_>) -> Vec<Node<'_>> {
    const CONTENTS: [&str; 5] = ["text", "image", "audio", "document", "video"];
    let is_content = |node: &Node<'_>| view(node).is_ok_and(|node| CONTENTS.iter().any(|kind| has_type(&node, kind)));
    match history.into_data() {
        Data::Array(items) => match items.first() {
            Some(first) if is_content(first) => user_input(items),
            _ => items,
        },
        Data::String(text) => {
            let text = ("text", Node::new(Data::String(text)));
            user_input(Vec::from([Node::record([("type", Node::literal("text")), text])]))
        }
        Data::Object(input) => {
            let input = Node::new(Data::Object(input));
            match input.text_at("type") {
                Some(_) => user_input(Vec::from([input])),
                None => Vec::from([input]),
            }
        }
        _ => Vec::new(),
    }
}

fn user_input(content: Vec<Node<'_>>) -> Vec<Node<'_>> {
    Vec::from([Node::record([("type", Node::literal("user_input")), ("content", Node::array(content))])])
}

/// Source: google-genai 3.6.1, `_gaos/types/interactions/interactionsseevent.py` (read 2026-11-26).
pub(super) static EVENTS: Events = Events {
    kind: Kind::Value("event_type"),
    list: &[
        Event::new("interaction.created", Meaning::ReplyBegin).with(&["interaction"]),
        Event::new("interaction.in_progress", Meaning::ReplyBegin).with(&["interaction"]),
        Event::new("step.start", Meaning::Begin)
            .with(&["step"])
            .call(BegunCall {
                kind: Some("function_call"),
                name: "name",
                arguments: Arguments::Value("arguments"),
                has_later_copy: true,
            })
            .first_text(&[Member("step"), Type("model_output"), Items("content")]),
        Event::new("step.delta", Meaning::Delta).with(&["delta"]).pieces(&[
            Piece { content: Content::Text, test: Test::Type("text"), path: &["delta", "text"] },
            Piece { content: Content::Arguments, test: Test::Exists, path: &["delta", "arguments"] },
        ]),
        Event::new("step.stop", Meaning::End),
        Event::new("interaction.completed", Meaning::Finish { is_complete: true }).with(&["interaction"]),
        Event::new("error", Meaning::Error),
    ],
    unlisted_item_prefixes: &[("", "index")],
    needless: &["event_type", "event_id", "index", "delta"],
    write: Some(piece),
    ..Events::NONE
};

fn piece(index: Node<'static>, content: Content, piece: Node<'static>) -> Node<'static> {
    let (kind, member) = match content {
        Content::Text => ("text", "text"),
        Content::Arguments => ("arguments_delta", "arguments"),
    };
    let delta = Node::record([("type", Node::literal(kind)), (member, piece)]);
    Node::record([("event_type", Node::literal("step.delta")), ("index", index), ("delta", delta)])
}

fn as_text(step: &mut Node<'_>, text: Option<String>) {
    ["arguments", "name", "call_id", "id", "signature"].into_iter().for_each(|key| drop(step.remove(key)));
    step.set("type", Node::literal("model_output"));
    step.set("content", Node::array(text.map(|text| text_part("text", text)).into_iter().collect()));
}

fn search_result(search: SearchResult) -> Node<'static> {
    let is_failure = search.content.is_failure();
    let mut result = Node::record([
        ("type", Node::literal("function_result")),
        ("name", search.name),
        ("call_id", search.id),
        ("result", search.content.plain()),
    ]);
    if is_failure {
        result.set("is_error", Node::bool(true));
    }
    result
}

fn call(call: ClientCall<'_>) -> Node<'_> {
    record([
        ("type", Some(Node::literal("function_call"))),
        ("id", call.id),
        ("name", Some(call.name)),
        ("arguments", Some(as_value(call.arguments))),
    ])
}

const UNTYPED_RESULTS: UntypedResults =
    UntypedResults { call: call_id_and_name, result: result_id_and_name, has_tools: has_functions, visit: |_, _| {} };

fn call_id_and_name<'n, 'a>(step: &'n Node<'a>) -> Option<(&'n Text<'a>, &'n Text<'a>)> {
    let text = |key: &str| step.text_at(key).filter(|_| has_type(step, "function_call"));
    text("id").zip(text("name"))
}

fn result_id_and_name<'n, 'a>(step: &'n Node<'a>) -> Option<ResultOf<'n, 'a>> {
    has_type(step, "function_result").then(|| (step.text_at("call_id"), step.text_at("name")))
}

fn has_functions(step: &Node<'_>) -> bool {
    step.items_at("result").iter().any(|entry| has_type(entry, "function"))
}
