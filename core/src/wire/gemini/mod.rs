//! Gemini `generateContent`. SDKs and the API accept every member in camelCase and in snake_case.

pub(crate) mod in_place;
pub(crate) mod reader;

use alloc::{string::String, vec::Vec};

use super::{
    additions::{Additions, ResultOf, UntypedResults},
    alternatives::{Alternatives, MessageText},
    answers::AnswerText,
    calls::{CallForm, SingleCall},
    choice::{ChoiceFormat, Location, Mode, Parallel, Spelling, WithoutTools},
    endpoint::{error_event, of_google, Endpoint},
    messages_of_roles,
    prompt::Prompt,
    reply::Reply,
    responses,
    rounds::{Body, Rounds},
    searches::{SearchContent, SearchResult, SearchResults},
    tool_list::ToolList,
    turns::{AnsweredCall, Blocks, Prefill, Results, Speaker, Turns},
    units::{
        Arguments,
        Step::{Items, Member, Without},
        Unit, Units,
    },
    HistoryForms, Wire,
};
use crate::{
    json::{Data, Flags, Node},
    options::{Api, ToolFormat},
};

pub(super) const GROUPS: [&str; 2] = ["functionDeclarations", "function_declarations"];

const CALL: Unit = Unit { pieces: &["partialArgs", "willContinue"], ..Unit::call(&["id"], Arguments::Value("args")) };
const RESULT: Unit = Unit::result(&["id"]).may_have_name();

pub(super) const FLAG_WORDS: &[(&str, Flags)] = &[
    ("functionCall", Flags::CALL),
    ("function_call", Flags::CALL),
    ("functionResponse", Flags::CALL),
    ("function_response", Flags::CALL),
];

pub(super) static WIRE: Wire = Wire {
    endpoint: Endpoint { api: Api::Gemini, is_shared: false, error: of_google, error_event },
    history: "contents",
    // A token-counting request may have no `contents`.
    forms: HistoryForms {
        is_required: false,
        may_be_text: true,
        may_be_object: true,
        expected: "a string, a content, or an array of contents",
        messages,
    },
    recognizes: None,
    evidence: None,
    prompt: Prompt::Content(&["systemInstruction", "system_instruction"]),
    unchanged_members: &["systemInstruction", "safetySettings"],
    accepted_flags: Flags::SYSTEM,
    stored_history_members: &["cachedContent", "cached_content"],
    has_betas: false,
    wants_json_word: false,
    tools: ToolList {
        groups: &GROUPS,
        members: &["tools", "tool_choice", "parallel_tool_calls", "toolConfig", "tool_config"],
        refuses_empty: true,
        ..ToolList::flat(Api::Gemini, &[ToolFormat::Gemini, ToolFormat::GeminiJsonSchema])
    },
    additions: Additions::None,
    units: Units {
        messages: &[],
        lists: &[(
            "parts",
            &[
                RESULT.at(&[Member("functionResponse")]),
                RESULT.at(&[Member("function_response")]),
                CALL.at(&[Member("functionCall")]),
                // Old messages of Chat Completions also have the member `function_call`, but with `role` and
                // `arguments`.
                Unit { unlike: &[Without("role")], ..CALL }.at(&[Member("function_call"), Without("arguments")]),
            ],
        )],
    },
    turns: Turns {
        prefill: Prefill::Text("model"),
        roles: &[
            ("user", Speaker::User),
            ("model", Speaker::Model),
            ("assistant", Speaker::Model),
            // Older clients use this role for results.
            ("function", Speaker::User),
        ],
        results: Results::Blocks(Blocks {
            list: "parts",
            joins: false,
            is_first: false,
            is_named: true,
            is_hosted_by_model: true,
            no_content: None,
        }),
        result: error_result,
        by_type_suffix: &[("", Speaker::User)],
        ..Turns::PLAIN
    },
    choice: ChoiceFormat {
        locations: &[
            Location {
                outer: "toolConfig",
                inner: Some("functionCallingConfig"),
                pointer: "/toolConfig/functionCallingConfig",
            },
            Location {
                outer: "toolConfig",
                inner: Some("function_calling_config"),
                pointer: "/toolConfig/function_calling_config",
            },
            Location {
                outer: "tool_config",
                inner: Some("functionCallingConfig"),
                pointer: "/tool_config/functionCallingConfig",
            },
            Location {
                outer: "tool_config",
                inner: Some("function_calling_config"),
                pointer: "/tool_config/function_calling_config",
            },
        ],
        spelling: Spelling::Mode(Mode {
            within: None,
            names: &["allowedFunctionNames", "allowed_function_names"],
            auto: "AUTO",
            any: "ANY",
            pieces: &["streamFunctionCallArguments", "stream_function_call_arguments"],
        }),
        parallel: Parallel::None,
        without_tools: WithoutTools::All,
        writes_default: false,
    },
    reply: Reply {
        messages: &[
            &[Items("candidates"), Member("content")],
            // Some gateways wrap a reply.
            &[Member("response"), Items("candidates"), Member("content")],
        ],
        ends: &[&[Items("candidates")], &[Member("response"), Items("candidates")]],
        cut: &[("finishReason", "MAX_TOKENS")],
        usage: "usageMetadata",
        wrapper: None,
        parts: &[],
        repeated_texts: &[],
        hidden_item_types: &[],
        is_only_of_format: |reply| reply.array_at("candidates").is_some(),
    },
    single_call: SingleCall {
        keeps_form: true,
        forms: &[CallForm::in_member("functionCall", "args"), CallForm::in_member("function_call", "args")],
        write: responses::call,
    },
    answers: AnswerText::block(replace_call_with_text),
    searches: SearchResults { in_json: Some(SEARCH_RESULTS_IN_JSON), ..SearchResults::references(search_result) },
    alternatives: Some(&ALTERNATIVES),
    events: None,
    rounds: Some(Rounds {
        single_round: &[],
        store: None,
        body: Body::Message(&ALTERNATIVES),
        reasons: &["STOP"],
        without_calls: None,
        is_call: |part| part.get("functionCall").is_some() || part.get("function_call").is_some(),
        is_text: |part| part.get("text").is_some(),
        reasoning: None,
    }),
    translation: None,
};

static ALTERNATIVES: Alternatives = Alternatives {
    list: "candidates",
    // Some gateways wrap a reply.
    wrappers: &["response"],
    usage: "usageMetadata",
    id: "responseId",
    whole: "content",
    part: "content",
    units: "parts",
    calls: None,
    reason: "finishReason",
    role: "model",
    has_roles: true,
    text: MessageText::InUnits { member: "text", unless: "thought" },
    has_null_reason: false,
    repeats_usage: true,
    needless: None,
};

fn messages(history: Node<'_>) -> Vec<Node<'_>> {
    match history.into_data() {
        Data::String(text) => {
            let text = Node::record([("text", Node::new(Data::String(text)))]);
            Vec::from([WIRE.turns.user_message(Vec::from([text]))])
        }
        history => messages_of_roles(Node::new(history)),
    }
}

fn error_result(call: AnsweredCall<'_>) -> Node<'_> {
    let mut result = Node::empty_object();
    for (key, value) in [("id", &call.id), ("name", &call.name)] {
        if let Some(value) = value {
            result.set(key, Node::string(value.clone()));
        }
    }
    result.set("response", Node::record([("error", call.text)]));
    Node::record([("functionResponse", result)])
}

/// Keeps the signature of a thought, which is a sibling of the call.
fn replace_call_with_text(part: &mut Node<'_>, text: Option<String>) {
    ["functionCall", "function_call"].into_iter().for_each(|key| drop(part.remove(key)));
    part.set("text", Node::string(text.unwrap_or_default()));
}

/// Writes references as a member of `response`, which may be any JSON. The result is therefore valid even before a
/// later step replaces the references with text.
fn search_result(search: SearchResult) -> Node<'static> {
    let key = match &search.content {
        SearchContent::References(_) | SearchContent::Definitions(_) => "tool_references",
        SearchContent::Text(_) => "output",
        SearchContent::Failure(_) => "error",
    };
    let content = Node::record([(key, search.content.plain())]);
    let mut response = Node::record([("name", search.name), ("response", content)]);
    if !search.id.is_null() {
        response.set("id", search.id);
    }
    Node::record([("functionResponse", response)])
}

pub(crate) const FUNCTION_RESPONSES: [&str; 2] = ["functionResponse", "function_response"];

/// Calls are not searched for the names of tools, because each result contains the name of its tool.
const SEARCH_RESULTS_IN_JSON: UntypedResults =
    UntypedResults { call: |_| None, result: result_id_and_name, has_tools: has_references, visit: visit_responses };

fn result_id_and_name<'n, 'a>(part: &'n Node<'a>) -> Option<ResultOf<'n, 'a>> {
    let name = FUNCTION_RESPONSES.iter().find_map(|key| part.get(key)?.get("name")?.as_text())?;
    Some((None, Some(name)))
}

fn has_references(part: &Node<'_>) -> bool {
    let references_at =
        |key: &str| part.get(key).and_then(|result| result.get("response")?.array_at("tool_references"));
    FUNCTION_RESPONSES.iter().any(|key| references_at(key).is_some())
}

fn visit_responses<'a>(part: &mut Node<'a>, visit_response: &mut dyn FnMut(&mut Node<'a>)) {
    for key in FUNCTION_RESPONSES {
        part.visit(key, |result| result.visit("response", &mut *visit_response));
    }
}
