//! OpenAI Chat Completions.

pub(crate) mod cohere;
pub(crate) mod reader;
mod recognition;
pub(crate) mod writer;

use super::{
    additions::Additions,
    alternatives::{Alternatives, MessageText, PiecedCalls},
    answers::{is_text, AnswerText, Conversion, MessageForm},
    calls::{as_text, record, CallForm, CallKind, ClientCall, SingleCall},
    choice::{Allowed, ChoiceFormat, Forced, Parallel, Spelling, WithoutTools, Words, TOOL_CHOICE},
    endpoint::{error_event, of_openai, Endpoint},
    events::{Content, Event, Events, Kind, Meaning, Piece, Test},
    prompt::Prompt,
    reply::Reply,
    rounds::{Body, Rounds, When},
    searches::{SearchResult, SearchResults},
    tool_list::ToolList,
    translation::{Form, Metadata, Strict, Translation},
    turns::{AnsweredCall, Prefill, Results, Speaker, Turns},
    units::{
        Arguments, Name,
        Step::{Items, Member},
        Unit, Units,
    },
    HistoryForms, Wire,
};
use crate::{
    json::{Flags, Node},
    options::{Api, ToolFormat},
};

pub(super) const FLAG_WORDS: &[(&str, Flags)] = &[
    // A message of Kimi that adds tools.
    ("tools", Flags::DEFERRAL.union(Flags::CHAT)),
    ("tool", Flags::CHAT),
    ("function", Flags::CHAT),
    ("tool_calls", Flags::CHAT.union(Flags::CALL)),
];

pub(super) static WIRE: Wire = Wire {
    endpoint: Endpoint { api: Api::OpenaiChat, is_shared: false, error: of_openai, error_event },
    history: "messages",
    forms: HistoryForms::MESSAGES,
    recognizes: Some(recognition::recognizes),
    evidence: Some(recognition::evidence),
    prompt: Prompt::Message { roles: &["system", "developer"] },
    unchanged_members: &[],
    accepted_flags: Flags::SYSTEM,
    stored_history_members: &[],
    has_betas: false,
    wants_json_word: false,
    tools: ToolList { refuses_empty: true, ..ToolList::flat(Api::OpenaiChat, &[ToolFormat::OpenaiChat]) },
    additions: Additions::System,
    units: Units {
        messages: &[
            // The API allows the tool's name in its result.
            Unit::result(&["tool_call_id", "call_id", "id"]).may_have_name().by_author("tool"),
            Unit::result(&[]).may_have_name().by_author("function"),
            Unit::call(&[], Arguments::Text("arguments")).at(&[Member("function_call")]),
        ],
        lists: &[(
            "tool_calls",
            &[
                Unit {
                    is_id_outside: true,
                    ..Unit::call(&["id", "call_id"], Arguments::Text("arguments")).at(&[Member("function")])
                },
                Unit { is_id_outside: true, ..Unit::call(&["id", "call_id"], Arguments::None).at(&[Member("custom")]) },
                // An entry of any other kind.
                Unit { name: Name::None, ..Unit::call(&["id"], Arguments::None) },
            ],
        )],
    },
    turns: Turns {
        // DeepSeek and Mistral use `prefix`; Moonshot uses `partial`.
        prefill: Prefill::Flags(&["prefix", "partial"]),
        roles: &[("user", Speaker::User), ("assistant", Speaker::Model), ("tool", Speaker::Tool)],
        results: Results::Following,
        result,
        has_refusals: true,
        reasoning: Some("reasoning_content"),
        text: Some("text"),
        ..Turns::PLAIN
    },
    choice: ChoiceFormat {
        locations: &[TOOL_CHOICE],
        spelling: Spelling::Words(Words {
            demand: "required",
            is_object: false,
            forced: Forced::Nested,
            allowed: Allowed::Nested,
        }),
        parallel: Parallel::InRequest,
        without_tools: WithoutTools::None,
        writes_default: false,
    },
    reply: Reply {
        messages: &[&[Items("choices"), Member("message")]],
        ends: &[&[Items("choices")]],
        cut: &[("finish_reason", "length")],
        usage: "usage",
        wrapper: None,
        parts: &[],
        repeated_texts: &[],
        hidden_item_types: &[],
        is_only_of_format: |reply| reply.array_at("choices").is_some(),
    },
    single_call: SingleCall {
        keeps_form: false,
        forms: &[
            CallForm::in_member("function", "arguments"),
            CallForm { kind: CallKind::Custom, ..CallForm::in_member("custom", "input") },
        ],
        write: call,
    },
    answers: AnswerText {
        conversion: Conversion::Member("content", form),
        is_text,
        // Includes the reasons of Cohere and Ollama.
        stop_reasons: &[
            ("finish_reason", "tool_calls", "stop"),
            ("finish_reason", "TOOL_CALL", "COMPLETE"),
            ("finish_reason", "tool_call", "stop"),
            ("done_reason", "tool_calls", "stop"),
        ],
        repeat: None,
        events: None,
    },
    searches: SearchResults::references(search_result),
    alternatives: Some(&ALTERNATIVES),
    events: Some(&COHERE_EVENTS),
    rounds: Some(Rounds {
        // Each choice would need a separate conversation.
        single_round: &[("n", When::AboveOne)],
        store: None,
        body: Body::Message(&ALTERNATIVES),
        reasons: &["tool_calls", "stop", "function_call"],
        without_calls: Some(("tool_calls", "stop")),
        is_call: |_| true,
        is_text: |_| false,
        reasoning: None,
    }),
    translation: Some(Translation {
        form: Form::Wrapped,
        schema: "parameters",
        strict: Strict::IfTrue,
        has_custom: true,
        limit: "max_completion_tokens",
        needs_limit: false,
        stop: Some("stop"),
        metadata: Metadata::Any,
    }),
};

static ALTERNATIVES: Alternatives = Alternatives {
    list: "choices",
    wrappers: &[],
    usage: "usage",
    id: "id",
    whole: "message",
    part: "delta",
    units: "tool_calls",
    calls: Some(PiecedCalls { inner: &["function", "custom"], name: "name", arguments: "arguments" }),
    reason: "finish_reason",
    role: "assistant",
    has_roles: false,
    text: MessageText::Member("content"),
    has_null_reason: true,
    repeats_usage: false,
    needless: Some(&[
        "id",
        "object",
        "created",
        "model",
        "provider",
        "system_fingerprint",
        "service_tier",
        "obfuscation",
    ]),
};

/// Cohere's own API, Chat v2, streams events.
pub(super) static COHERE_EVENTS: Events = Events {
    kind: Kind::Value("type"),
    list: &[
        Event::new("content-start", Meaning::Begin)
            .with(&["delta", "message", "content"])
            .first_text(&[Member("delta"), Member("message"), Member("content")])
            .possible_text(),
        Event::new("content-delta", Meaning::Delta).pieces(&[Piece {
            content: Content::Text,
            test: Test::Exists,
            path: &["delta", "message", "content", "text"],
        }]),
        Event::new("content-end", Meaning::End).possible_text(),
        Event::new("message-end", Meaning::Finish { is_complete: true }),
    ],
    write: Some(piece),
    ..Events::NONE
};

fn piece(index: Node<'static>, _content: Content, piece: Node<'static>) -> Node<'static> {
    let content = Node::record([("content", Node::record([("text", piece)]))]);
    let delta = Node::record([("message", content)]);
    Node::record([("type", Node::literal("content-delta")), ("index", index), ("delta", delta)])
}

fn result(call: AnsweredCall<'_>) -> Node<'_> {
    let id = ("tool_call_id", call.id_node());
    Node::record([("role", Node::literal("tool")), id, ("content", call.text)])
}

/// The reply of Cohere's API has a list of parts. In the reply of Ollama's API, arguments are values.
fn form(reply: &Node<'_>) -> MessageForm {
    MessageForm { has_parts: reply.get("finish_reason").is_some(), has_values: reply.get("done").is_some() }
}

fn search_result(search: SearchResult) -> Node<'static> {
    let content = ("content", search.content.plain());
    Node::record([("role", Node::literal("tool")), ("tool_call_id", search.id), content])
}

fn call(call: ClientCall<'_>) -> Node<'_> {
    let (inner, key) = match call.kind {
        CallKind::Custom => ("custom", "input"),
        CallKind::Function | CallKind::Search => ("function", "arguments"),
    };
    let holder = Node::record([("name", call.name), (key, as_text(call.arguments))]);
    record([("type", Some(Node::literal(inner))), ("id", call.id), (inner, Some(holder))])
}
