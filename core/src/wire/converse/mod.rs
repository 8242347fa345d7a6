//! Bedrock Converse. The name of a block's member is its kind.

pub(crate) mod in_place;
pub(crate) mod mentions;
pub(crate) mod reader;
mod recognition;

use alloc::string::String;

use super::{
    additions::{Additions, ResultOf, UntypedResults},
    answers::AnswerText,
    calls::{as_value, record, CallForm, ClientCall, SingleCall},
    choice::{ChoiceFormat, Location, Parallel, Spelling, WithoutTools},
    each,
    endpoint::{error_event, of_openai, Endpoint},
    events::{BegunCall, Content, Event, Events, Kind, Meaning, Piece, Test},
    prompt::Prompt,
    reply::Reply,
    searches::{SearchContent, SearchResult, SearchResults},
    tool_list::ToolList,
    turns::{AnsweredCall, Blocks, Prefill, Results, Speaker, Turns},
    units::{
        Arguments,
        Step::{Member, Without},
        Unit, Units,
    },
    HistoryForms, Wire,
};
use crate::{
    json::{Flags, Node, Text},
    options::{Api, ToolFormat},
};

pub(super) const FLAG_WORDS: &[(&str, Flags)] = &[
    ("toolAddition", Flags::DEFERRAL),
    ("toolRemoval", Flags::DEFERRAL),
    ("toolUse", Flags::CALL),
    ("toolResult", Flags::RESULT),
];

pub(super) static WIRE: Wire = Wire {
    // Never sent, because the addresses of Converse have a different form of errors.
    endpoint: Endpoint { api: Api::Bedrock, is_shared: false, error: of_openai, error_event },
    history: "messages",
    forms: HistoryForms::MESSAGES,
    recognizes: Some(recognition::recognizes),
    evidence: None,
    prompt: Prompt::Blocks("system"),
    unchanged_members: &[],
    accepted_flags: Flags::SYSTEM,
    stored_history_members: &[],
    has_betas: false,
    wants_json_word: false,
    tools: ToolList {
        config: Some("toolConfig"),
        pointer: "/toolConfig/tools",
        no_tool: Some("cachePoint"),
        members: &["tools", "tool_choice", "parallel_tool_calls", "toolConfig", "tool_config"],
        refuses_empty: true,
        ..ToolList::flat(Api::Bedrock, &[ToolFormat::Bedrock])
    },
    additions: Additions::Listed,
    units: Units {
        messages: &[],
        lists: &[(
            "content",
            &[
                Unit::result(&["toolUseId"]).at(&[Member("toolResult")]),
                Unit {
                    hosted: Some(("type", "server_tool_use")),
                    ..Unit::call(&["toolUseId"], Arguments::Value("input")).at(&[Member("toolUse")])
                },
                // The tools of a server are not in the list.
                Unit::reference(&[Member("toolAddition"), Member("tool"), Without("serverName")]),
                Unit::reference(&[Member("toolRemoval"), Member("tool"), Without("serverName")]),
            ],
        )],
    },
    turns: Turns {
        prefill: Prefill::Content,
        roles: &[("user", Speaker::User), ("assistant", Speaker::Model)],
        results: Results::Blocks(Blocks {
            list: "content",
            joins: false,
            is_first: false,
            is_named: false,
            is_hosted_by_model: true,
            no_content: Some("cachePoint"),
        }),
        result,
        replaces_calls: true,
        ..Turns::PLAIN
    },
    choice: ChoiceFormat {
        locations: &[Location { outer: "toolConfig", inner: Some("toolChoice"), pointer: "/toolConfig/toolChoice" }],
        spelling: Spelling::Kinds,
        parallel: Parallel::None,
        without_tools: WithoutTools::All,
        writes_default: false,
    },
    reply: Reply {
        messages: &[&[Member("output"), Member("message")]],
        ends: &[&[Member("messageStop")]],
        cut: &[("stopReason", "max_tokens"), ("stopReason", "model_context_window_exceeded")],
        usage: "usage",
        wrapper: None,
        parts: &[],
        repeated_texts: &[],
        hidden_item_types: &[],
        is_only_of_format: |_| false,
    },
    single_call: SingleCall { keeps_form: false, forms: &[CallForm::in_member("toolUse", "input")], write: call },
    answers: AnswerText { stop_reasons: &[("stopReason", "tool_use", "end_turn")], ..AnswerText::block(as_text) },
    searches: SearchResults { in_json: Some(IN_JSON), ..SearchResults::references(search_result) },
    alternatives: None,
    events: Some(&EVENTS),
    rounds: None,
    translation: None,
};

/// Source: Amazon Bedrock, API reference, `ConverseStreamOutput` (read 2026-11-26).
pub(super) static EVENTS: Events = Events {
    kind: Kind::Member,
    list: &[
        // Texts begin with their first piece.
        Event::new("contentBlockStart", Meaning::Begin)
            .with(&["contentBlockStart", "start", "toolUse"])
            .call(BegunCall { kind: None, name: "name", arguments: Arguments::None, has_later_copy: false }),
        Event::new("contentBlockDelta", Meaning::Delta).pieces(&[
            Piece { content: Content::Text, test: Test::Exists, path: &["contentBlockDelta", "delta", "text"] },
            Piece {
                content: Content::Arguments,
                test: Test::Exists,
                path: &["contentBlockDelta", "delta", "toolUse", "input"],
            },
        ]),
        Event::new("contentBlockStop", Meaning::End).possible_text(),
        // Only the usage follows.
        Event::new("messageStop", Meaning::Finish { is_complete: true }).with(&["messageStop"]),
        Event::new("internalServerException", Meaning::Error),
        Event::new("modelStreamErrorException", Meaning::Error),
        Event::new("serviceUnavailableException", Meaning::Error),
        Event::new("throttlingException", Meaning::Error),
        Event::new("validationException", Meaning::Error),
    ],
    index: &["contentBlockIndex"],
    needless: &["contentBlockDelta", "p"],
    write: Some(piece),
    ..Events::NONE
};

fn piece(index: Node<'static>, content: Content, piece: Node<'static>) -> Node<'static> {
    let delta = match content {
        Content::Text => Node::record([("text", piece)]),
        Content::Arguments => Node::record([("toolUse", Node::record([("input", piece)]))]),
    };
    Node::record([("contentBlockDelta", Node::record([("delta", delta), ("contentBlockIndex", index)]))])
}

fn result(call: AnsweredCall<'_>) -> Node<'_> {
    let id = call.id_node();
    let content = Node::array([Node::record([("text", call.text)])].into());
    let error = ("status", Node::literal("error"));
    Node::record([("toolResult", Node::record([("toolUseId", id), ("content", content), error]))])
}

fn as_text(block: &mut Node<'_>, text: Option<String>) {
    block.remove("toolUse");
    block.set("text", Node::string(text.unwrap_or_default()));
}

/// The references are a member of JSON, so that the result is valid before they become text.
fn search_result(search: SearchResult) -> Node<'static> {
    let is_failure = search.content.is_failure();
    let content = match search.content {
        SearchContent::Text(text) | SearchContent::Failure(text) => Node::record([("text", Node::string(text))]),
        content => Node::record([("json", Node::record([("tool_references", content.plain())]))]),
    };
    let mut result = Node::record([("toolUseId", search.id), ("content", Node::array([content].into()))]);
    if is_failure {
        result.set("status", Node::literal("error"));
    }
    Node::record([("toolResult", result)])
}

fn call(call: ClientCall<'_>) -> Node<'_> {
    let inner = [("toolUseId", call.id), ("name", Some(call.name)), ("input", Some(as_value(call.arguments)))];
    Node::record([("toolUse", record(inner))])
}

const IN_JSON: UntypedResults =
    UntypedResults { call: call_id_and_name, result: result_id_and_name, has_tools: has_references, visit };

fn call_id_and_name<'n, 'a>(block: &'n Node<'a>) -> Option<(&'n Text<'a>, &'n Text<'a>)> {
    let call = block.get("toolUse")?;
    call.text_at("toolUseId").zip(call.text_at("name"))
}

fn result_id_and_name<'n, 'a>(block: &'n Node<'a>) -> Option<ResultOf<'n, 'a>> {
    Some((block.get("toolResult")?.text_at("toolUseId"), None))
}

fn has_references(block: &Node<'_>) -> bool {
    let content = block.get("toolResult").map(|result| result.items_at("content")).unwrap_or_default();
    content.iter().any(|block| block.get("json").is_some_and(|json| json.array_at("tool_references").is_some()))
}

fn visit<'a>(block: &mut Node<'a>, look: &mut dyn FnMut(&mut Node<'a>)) {
    block.visit("toolResult", |result| {
        each(result, "content", &mut |_, block| {
            block.visit("json", &mut *look);
        });
    });
}
