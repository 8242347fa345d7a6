//! Anthropic Messages.

pub(crate) mod mentions;
pub(crate) mod reader;
mod recognition;
#[cfg(feature = "exchange")]
pub(crate) mod search_loop;
pub(crate) mod writer;

use alloc::{format, string::String};

use super::{
    additions::Additions,
    answers::AnswerText,
    calls::{as_value, record, CallForm, ClientCall, SingleCall},
    choice::{Allowed, ChoiceFormat, Forced, Parallel, Spelling, WithoutTools, Words, TOOL_CHOICE},
    endpoint::{Endpoint, Refusal},
    events::{BegunCall, Content, Event, Events, Kind, Meaning, Piece, Test},
    prompt::Prompt,
    reply::{text_part, Reply},
    searches::{SearchContent, SearchResult, SearchResults},
    tool_list::ToolList,
    translation::{Form, Metadata, Strict, Translation},
    turns::{AnsweredCall, Blocks, Prefill, Results, Speaker, Turns},
    units::{
        has_type, Arguments,
        Step::{Items, Member, Type},
        Unit, Units,
    },
    HistoryForms, Wire,
};
use crate::{
    json::{self, Flags, Node},
    options::{Api, ToolFormat},
};

pub(super) const FLAG_WORDS: &[(&str, Flags)] = &[
    ("tool_addition", Flags::DEFERRAL),
    ("tool_removal", Flags::DEFERRAL),
    ("server_tool_use", Flags::DEFERRAL),
    ("tool_use", Flags::CALL),
    ("mcp_tool_use", Flags::CALL),
    ("tool_result", Flags::RESULT),
];

pub(super) static WIRE: Wire = Wire {
    endpoint: Endpoint { api: Api::Anthropic, is_shared: true, error, error_event },
    history: "messages",
    forms: HistoryForms::MESSAGES,
    recognizes: None,
    evidence: Some(recognition::evidence),
    prompt: Prompt::Text { member: "system", kind: "text" },
    unchanged_members: &["max_tokens", "metadata", "thinking"],
    accepted_flags: Flags::NONE,
    stored_history_members: &[],
    has_betas: true,
    wants_json_word: false,
    tools: ToolList {
        cache: Some("cache_control"),
        checks_deferral: true,
        ..ToolList::flat(Api::Anthropic, &[ToolFormat::Anthropic])
    },
    additions: Additions::Blocks,
    units: Units {
        messages: &[],
        lists: &[(
            "content",
            &[
                Unit::call(&["id"], Arguments::Value("input")).of_type("tool_use"),
                Unit::reference(&[]).of_type("tool_reference"),
                Unit::reference(&[Member("tool"), Type("tool_reference")]).of_type("tool_addition"),
                Unit::reference(&[Member("tool"), Type("tool_reference")]).of_type("tool_removal"),
                Unit::reference(&[Member("content"), Items("tool_references")]).of_type("tool_search_tool_result"),
                Unit::reference(&[Items("content"), Type("tool_reference")]).of_type("tool_result"),
                Unit::result(&["tool_use_id"]).of_type("tool_result"),
            ],
        )],
    },
    turns: Turns {
        prefill: Prefill::Content,
        roles: &[("user", Speaker::User), ("assistant", Speaker::Model)],
        results: Results::Blocks(Blocks {
            list: "content",
            joins: true,
            is_first: true,
            is_named: false,
            is_hosted_by_model: false,
            no_content: None,
        }),
        result,
        text: Some("text"),
        ..Turns::PLAIN
    },
    choice: ChoiceFormat {
        locations: &[TOOL_CHOICE],
        spelling: Spelling::Words(Words {
            demand: "any",
            is_object: true,
            forced: Forced::Tool,
            allowed: Allowed::None,
        }),
        parallel: Parallel::InChoice,
        without_tools: WithoutTools::NotAuto,
        writes_default: false,
    },
    reply: Reply {
        messages: &[&[Member("message")]],
        ends: &[&[Member("message")], &[Member("delta")]],
        cut: &[("stop_reason", "max_tokens"), ("stop_reason", "model_context_window_exceeded")],
        usage: "usage",
        wrapper: None,
        parts: &[],
        repeated_texts: &[],
        hidden_item_types: &[],
        is_only_of_format: |reply| {
            has_type(reply, "message") && reply.array_at("content").is_some() || has_type(reply, "message_start")
        },
    },
    single_call: SingleCall { keeps_form: false, forms: &[CallForm::of_type("tool_use", "input")], write: call },
    answers: AnswerText { stop_reasons: &[("stop_reason", "tool_use", "end_turn")], ..AnswerText::block(as_text) },
    searches: SearchResults { has_hosted: true, ..SearchResults::references(search_result) },
    alternatives: None,
    events: Some(&EVENTS),
    rounds: None,
    translation: Some(Translation {
        form: Form::Plain,
        schema: "input_schema",
        strict: Strict::Unknown,
        has_custom: false,
        limit: "max_tokens",
        needs_limit: true,
        stop: Some("stop_sequences"),
        // Accepts only `user_id`.
        metadata: Metadata::Own,
    }),
};

pub(super) static EVENTS: Events = Events {
    kind: Kind::Value("type"),
    list: &[
        Event::new("message_start", Meaning::ReplyBegin).with(&["message"]),
        Event::new("content_block_start", Meaning::Begin)
            .with(&["content_block"])
            .call(BegunCall {
                kind: Some("tool_use"),
                name: "name",
                arguments: Arguments::Value("input"),
                has_later_copy: false,
            })
            .first_text(&[Member("content_block"), Type("text")])
            .removed_if_empty()
            .possible_text(),
        Event::new("content_block_delta", Meaning::Delta).pieces(&[
            Piece { content: Content::Text, test: Test::Type("text_delta"), path: &["delta", "text"] },
            Piece { content: Content::Arguments, test: Test::Exists, path: &["delta", "partial_json"] },
        ]),
        Event::new("content_block_stop", Meaning::End).possible_text(),
        Event::new("message_stop", Meaning::Finish { is_complete: true }),
        Event::new("ping", Meaning::KeepAlive),
        Event::new("error", Meaning::Error),
    ],
    needless: &["type", "index", "delta"],
    write: Some(piece),
    ..Events::NONE
};

fn piece(index: Node<'static>, content: Content, piece: Node<'static>) -> Node<'static> {
    let (kind, member) = match content {
        Content::Text => ("text_delta", "text"),
        Content::Arguments => ("input_json_delta", "partial_json"),
    };
    let delta = Node::record([("type", Node::literal(kind)), (member, piece)]);
    Node::record([("type", Node::literal("content_block_delta")), ("index", index), ("delta", delta)])
}

fn result(call: AnsweredCall<'_>) -> Node<'_> {
    Node::record([
        ("type", Node::literal("tool_result")),
        ("tool_use_id", call.id_node()),
        ("content", call.text),
        ("is_error", Node::bool(true)),
    ])
}

fn error_event(body: &str) -> String {
    let error = match json::read(body) {
        Ok(error) if has_type(&error, "error") => json::write(&error),
        _ => json::write(&Node::record([
            ("type", Node::literal("error")),
            ("error", Node::record([("type", Node::literal("api_error")), ("message", Node::string(body))])),
        ])),
    };
    format!("event: error\ndata: {error}\n\n")
}

fn error(refusal: Refusal<'_>) -> Node<'_> {
    let error = Node::record([
        ("type", Node::literal("invalid_request_error")),
        ("message", refusal.message),
        ("code", refusal.code),
        ("pointer", refusal.pointer),
    ]);
    Node::record([("type", Node::literal("error")), ("error", error)])
}

fn as_text(block: &mut Node<'_>, text: Option<String>) {
    ["id", "name", "input", "caller"].into_iter().for_each(|key| drop(block.remove(key)));
    block.set("type", Node::literal("text"));
    block.set("text", Node::string(text.unwrap_or_default()));
}

fn search_result(search: SearchResult) -> Node<'static> {
    let mut result = Node::record([("type", Node::literal("tool_result")), ("tool_use_id", search.id)]);
    if search.content.is_failure() {
        result.set("is_error", Node::bool(true));
    }
    let content = match search.content {
        SearchContent::Text(text) | SearchContent::Failure(text) => Node::array([text_part("text", text)].into()),
        content => content.plain(),
    };
    result.set("content", content);
    result
}

fn call(call: ClientCall<'_>) -> Node<'_> {
    record([
        ("type", Some(Node::literal("tool_use"))),
        ("id", call.id),
        ("name", Some(call.name)),
        ("input", Some(as_value(call.arguments))),
    ])
}
