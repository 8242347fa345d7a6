//! OpenAI Responses. The history consists of items.

pub(crate) mod answer;
pub(crate) mod client_item;
pub(crate) mod custom_tools;
pub(crate) mod in_place;
mod inputs;
pub(crate) mod namespaces;
pub(crate) mod reader;
pub(crate) mod retained_namespaces;
pub(crate) mod writer;

use alloc::vec::Vec;

use super::{
    additions::Additions,
    calls::{as_text, as_value, CallForm, CallKind, ClientCall, SingleCall},
    choice::{Allowed, ChoiceFormat, Forced, Parallel, Spelling, WithoutTools, Words, TOOL_CHOICE},
    endpoint::{error_event, of_openai, Endpoint},
    events::{BegunCall, Content, Event, Events, Kind, Meaning, Piece, Test},
    messages_of_roles,
    prompt::Prompt,
    reply::Reply,
    rounds::{Body, ItemList, Rounds, When},
    searches::{SearchItem, SearchResult, SearchResults},
    tool_list::ToolList,
    translation::{Form, Metadata, Strict, Translation},
    turns::{AnsweredCall, Results, Speaker, Turns},
    units::{
        has_type, Arguments,
        Step::{Items, Member, Type},
        Unit, Units,
    },
    HistoryForms, Wire,
};
use crate::{
    json::{Flags, Node},
    options::{Api, ToolFormat},
};

/// Types of items that the client has to answer.
const CALLS: [&str; 9] = [
    "function_call",
    "custom_tool_call",
    "tool_search_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "computer_call",
    "mcp_approval_request",
    "program_call",
];

pub(super) const FLAG_WORDS: &[(&str, Flags)] = &[
    ("additional_tools", Flags::DEFERRAL.union(Flags::CARRIER)),
    ("tool_search_output", Flags::DEFERRAL.union(Flags::CARRIER)),
    ("function_call", Flags::CALL),
    ("custom_tool_call", Flags::CALL),
    ("custom_tool_call_output", Flags::CALL),
    ("function_call_output", Flags::RESULT),
    ("configuration_update", Flags::FORMAT),
];

pub(super) static WIRE: Wire = Wire {
    endpoint: Endpoint { api: Api::OpenaiResponses, is_shared: false, error: of_openai, error_event },
    history: "input",
    forms: HistoryForms {
        is_required: false,
        may_be_text: true,
        may_be_object: false,
        expected: "a string or an array of items",
        messages: messages_of_roles,
    },
    recognizes: None,
    evidence: None,
    prompt: Prompt::Text { member: "instructions", kind: "input_text" },
    unchanged_members: &["max_output_tokens", "metadata", "store", "reasoning"],
    accepted_flags: Flags::SYSTEM,
    stored_history_members: &["previous_response_id", "conversation"],
    has_betas: false,
    wants_json_word: true,
    tools: ToolList {
        has_namespaces: true,
        is_strict: true,
        ..ToolList::flat(Api::OpenaiChat, &[ToolFormat::OpenaiResponses])
    },
    additions: Additions::Items { lists: &["additional_tools"], results: &["tool_search_output"] },
    units: Units {
        messages: &[
            Unit::call(&["call_id", "id"], Arguments::Text("arguments")).of_type("function_call"),
            Unit::call(&["call_id", "id"], Arguments::None).of_type("custom_tool_call"),
            Unit::result(&["call_id"]).of_type("function_call_output"),
            Unit::result(&["call_id"]).of_type("custom_tool_call_output"),
            Unit::search(&[Items("tools"), Type("function")]).of_type("tool_search_output"),
        ],
        lists: &[],
    },
    turns: Turns {
        roles: &[("user", Speaker::User), ("assistant", Speaker::Model)],
        results: Results::Anywhere,
        result,
        by_type_suffix: &[("_output", Speaker::Tool), ("", Speaker::Model)],
        stored_item: Some("item_reference"),
        other_ids: &["call_id", "id"],
        has_items: true,
        has_refusals: true,
        text: Some("input_text"),
        model_text: Some("output_text"),
        ..Turns::PLAIN
    },
    choice: ChoiceFormat {
        locations: &[TOOL_CHOICE],
        spelling: Spelling::Words(Words {
            demand: "required",
            is_object: false,
            forced: Forced::Kind,
            allowed: Allowed::Inline,
        }),
        parallel: Parallel::InRequest,
        without_tools: WithoutTools::All,
        writes_default: true,
    },
    reply: Reply {
        messages: &[
            &[Items("output")],
            &[Member("item")],
            &[Member("response")],
            &[Member("response"), Items("output")],
        ],
        ends: &[&[Member("response")]],
        cut: &[("status", "incomplete")],
        usage: "usage",
        wrapper: Some("response"),
        parts: &[&["part"]],
        repeated_texts: &[&["output_text"]],
        hidden_item_types: &["reasoning"],
        is_only_of_format: |reply| {
            reply.get("object").is_some_and(|object| object.is_text("response")) && reply.array_at("output").is_some()
                || has_type(reply, "response.created")
        },
    },
    single_call: SingleCall {
        keeps_form: false,
        forms: &[
            ITEM,
            CallForm { kind: CallKind::Custom, type_name: Some(CUSTOM_CALL), arguments: "input", ..ITEM },
            CallForm { kind: CallKind::Search, type_name: Some(SEARCH_CALL), ..ITEM },
        ],
        write: call,
    },
    answers: answer::ANSWERS,
    searches: SearchResults {
        has_hosted: false,
        in_json: None,
        item: Some(SearchItem {
            kind: "tool_search_call",
            id: "call_id",
            arguments: "arguments",
            write: search_output,
        }),
        ..SearchResults::references(search_result)
    },
    alternatives: None,
    events: Some(&EVENTS),
    rounds: Some(Rounds {
        // The API stores the history, or replies later.
        single_round: &[("conversation", When::Given), ("background", When::True)],
        store: Some("store"),
        body: Body::Items(ItemList { list: "output", built: None }),
        reasons: &["completed", "requires_action"],
        without_calls: Some(("requires_action", "completed")),
        is_call: |item| CALLS.iter().any(|kind| has_type(item, kind)),
        is_text: |item| has_type(item, "message"),
        reasoning: Some("reasoning"),
    }),
    translation: Some(Translation {
        form: Form::Typed,
        schema: "parameters",
        strict: Strict::Always,
        has_custom: true,
        limit: "max_output_tokens",
        needs_limit: false,
        stop: None,
        metadata: Metadata::Any,
    }),
};

const ABOUT_ITEMS: [(&str, &str); 2] = [("", "output_index"), ("response.", "item_id")];

pub(super) static EVENTS: Events = Events {
    kind: Kind::Value("type"),
    list: &[
        Event::new("response.created", Meaning::ReplyBegin).with(&["response"]),
        Event::new("response.queued", Meaning::ReplyBegin).with(&["response"]),
        Event::new("response.in_progress", Meaning::ReplyBegin).with(&["response"]),
        Event::new("response.output_item.added", Meaning::Begin).with(&["item"]).call(BegunCall {
            kind: Some("function_call"),
            name: "name",
            arguments: Arguments::Text("arguments"),
            has_later_copy: true,
        }),
        Event::new("response.output_item.done", Meaning::End).with(&["item"]),
        Event::new("response.content_part.added", Meaning::BeginPart).with(&["part"]).possible_text(),
        Event::new("response.content_part.done", Meaning::EndPart).with(&["part"]).possible_text(),
        Event::new("response.output_text.delta", Meaning::Delta).pieces(&[Piece {
            content: Content::Text,
            test: Test::Always,
            path: &["delta"],
        }]),
        Event::new("response.output_text.done", Meaning::EndPart).possible_text().repeated_text("text"),
        Event::new("response.function_call_arguments.delta", Meaning::Delta).pieces(&[Piece {
            content: Content::Arguments,
            test: Test::Exists,
            path: &["delta"],
        }]),
        Event::new("response.function_call_arguments.done", Meaning::Snapshot),
        Event::new("response.completed", Meaning::Finish { is_complete: true }).with(&["response"]),
        Event::new("response.incomplete", Meaning::Finish { is_complete: false }).with(&["response"]),
        Event::new("response.failed", Meaning::Finish { is_complete: false }).with(&["response"]),
        // Some servers end with this event of the Realtime API.
        Event::new("response.done", Meaning::Finish { is_complete: true }).with(&["response"]),
        Event::new("error", Meaning::Error),
        // Source: the API's answers in openai-node#1964, openai-java#767 and openai-client#170 (read 2026-11-30).
        Event::new("keepalive", Meaning::KeepAlive),
    ],
    index: &["output_index"],
    ids: &[&["item_id"], &["item", "id"]],
    sequence: Some("sequence_number"),
    item_prefixes: &ABOUT_ITEMS,
    unlisted_item_prefixes: &ABOUT_ITEMS,
    needless: &[
        "type",
        "event_id",
        "id",
        "output_index",
        "content_index",
        "item_id",
        "sequence_number",
        "obfuscation",
        "delta",
    ],
    inputs: Some(&inputs::INPUTS),
    ..Events::NONE
};

fn result(call: AnsweredCall<'_>) -> Node<'_> {
    let kind = if call.is_custom { "custom_tool_call_output" } else { "function_call_output" };
    Node::record([("type", Node::literal(kind)), ("call_id", call.id_node()), ("output", call.text)])
}

fn search_result(search: SearchResult) -> Node<'static> {
    let kind = Node::literal("function_call_output");
    Node::record([("type", kind), ("call_id", search.id), ("output", search.content.plain())])
}

fn search_output(id: Node<'static>, tools: Vec<Node<'static>>) -> Node<'static> {
    Node::record([
        ("type", Node::literal("tool_search_output")),
        ("call_id", id),
        ("execution", Node::literal("client")),
        ("status", Node::literal("completed")),
        ("tools", Node::array(tools)),
    ])
}

const FUNCTION_CALL: &str = "function_call";
const CUSTOM_CALL: &str = "custom_tool_call";
const SEARCH_CALL: &str = "tool_search_call";

const ITEM: CallForm = CallForm { id: Some("call_id"), is_item: true, ..CallForm::of_type(FUNCTION_CALL, "arguments") };

/// Returns the item of a call. If the call already has an item, its other members remain.
pub(super) fn call(call: ClientCall<'_>) -> Node<'_> {
    let (name, key, other) = match call.kind {
        CallKind::Custom => (CUSTOM_CALL, "input", "arguments"),
        CallKind::Function | CallKind::Search => (FUNCTION_CALL, "arguments", "input"),
    };
    let mut item = call.item.unwrap_or_else(Node::empty_object);
    item.set("type", Node::literal(name));
    if let Some(id) = call.id.filter(|_| item.get("call_id").is_none()) {
        item.set("call_id", id);
    }
    item.remove(other);
    if call.kind == CallKind::Search {
        as_search(&mut item, call.arguments);
        return item;
    }
    item.set("name", call.name);
    match call.namespace {
        Some(namespace) => item.set("namespace", Node::string(namespace)),
        None => drop(item.remove("namespace")),
    }
    let is_nothing = call.kind == CallKind::Custom && call.arguments.is_null();
    item.set(key, if is_nothing { Node::literal("") } else { as_text(call.arguments) });
    item
}

fn as_search<'a>(item: &mut Node<'a>, arguments: Node<'a>) {
    item.set("type", Node::literal(SEARCH_CALL));
    item.remove("name");
    item.set("execution", Node::literal("client"));
    if item.get("status").is_none() {
        item.set("status", Node::literal("completed"));
    }
    item.set("arguments", as_value(arguments));
}

/// Returns true if the API's servers run the call. This includes every `tool_search_call` of Gemini Interactions, which
/// has neither `execution` nor `call_id`.
pub(crate) fn is_hosted(call: &Node<'_>) -> bool {
    let is_step = has_type(call, SEARCH_CALL)
        && call.get("execution").is_none()
        && call.get("call_id").is_none()
        && call.get("id").is_some();
    is_step || call.get("execution").is_some_and(|execution| execution.is_text("server"))
}

pub(crate) fn is_client_search(item: &Node<'_>) -> bool {
    match item.get("execution") {
        Some(execution) if !execution.is_null() => execution.is_text("client"),
        // The output of a hosted search has no `call_id`.
        _ => item.text_at("call_id").is_some(),
    }
}
