//! Gemini Interactions. The history consists of steps.

use super::{
    additions::Additions,
    choice::{ChoiceFormat, Location, Mode, Parallel, Spelling, WithoutTools},
    endpoint::{of_google, Endpoint},
    prompt::Prompt,
    reply::Reply,
    tool_list::ToolList,
    translation::{Form, Metadata, Strict, Translation},
    turns::{Speaker, Turns},
    units::{
        Arguments, Name,
        Step::{Items, Member, NotText, With, Without},
        Unit, Units,
    },
    HistoryForms, Wire,
};
use crate::options::{Api, ToolFormat};

pub(super) static WIRE: Wire = Wire {
    endpoint: Endpoint { api: Api::GeminiInteractions, paths: &["/interactions"], methods: &[], error: of_google },
    history: "input",
    forms: HistoryForms {
        is_required: false,
        may_be_text: true,
        may_be_object: true,
        expected: "a string, a content, or an array of contents or steps",
    },
    prompt: Prompt::Text { member: "system_instruction", kind: "text" },
    before: &["previous_interaction_id"],
    tools: ToolList::flat(Api::GeminiInteractions, &[ToolFormat::GeminiInteractions]),
    additions: Additions::Results { list: "result", hosted: "tool_search_result" },
    units: Units {
        messages: &[
            Unit {
                // A call of OpenAI Responses has a `call_id`, and arguments as text.
                unlike: &[Without("call_id"), With("id"), NotText("arguments")],
                ..Unit::call(&["id"], Arguments::Value("arguments")).of_type("function_call")
            },
            Unit::result(&["call_id"]).named().of_type("function_result"),
            // A search of OpenAI Responses has a query.
            Unit { name: Name::Itself, ..Unit::search(&[Member("arguments"), Items("function_names")]) }
                .of_type("tool_search_call"),
            Unit::search(&[Items("result")]).of_type("tool_search_result"),
        ],
        lists: &[],
    },
    turns: Turns {
        roles: &[("user", Speaker::User), ("model", Speaker::Model)],
        without_role: &[("user_input", Speaker::User), ("_result", Speaker::Tool), ("", Speaker::Model)],
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
    },
    reply: Reply {
        messages: &[&[Items("steps")], &[Member("step")], &[Member("interaction"), Items("steps")]],
        ends: &[&[Member("interaction")]],
        cut: &[("status", "incomplete")],
        usage: "usage",
        is_own: |_| false,
    },
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
