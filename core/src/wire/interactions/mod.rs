//! Gemini Interactions. The history consists of steps.

use super::{
    additions::Additions,
    choice::{ChoiceFormat, Mode, Parallel, Place, Spelling, WithoutTools},
    endpoint::{of_google, Endpoint},
    prompt::Prompt,
    reply::Reply,
    tool_place::ToolPlace,
    turns::{Answered, Results, Speaker, Turns},
    units::{
        Arguments, Name,
        Step::{Items, Member, NotText, With, Without},
        Unit, Units,
    },
    Wire,
};
use crate::{
    json::Node,
    options::{Api, ToolFormat},
};

pub(super) const WIRE: Wire = Wire {
    endpoint: Endpoint { api: Api::GeminiInteractions, paths: &["/interactions"], methods: &[], error: of_google },
    history: "input",
    prompt: Prompt::Text { member: "system_instruction", kind: "text" },
    before: &["previous_interaction_id"],
    tools: ToolPlace {
        family: Api::GeminiInteractions,
        formats: &[ToolFormat::GeminiInteractions],
        has_namespaces: false,
        config: None,
        pointer: "/tools",
        groups: &[],
        no_tool: None,
        members: &["tools", "tool_choice", "parallel_tool_calls"],
        refuses_empty: false,
        is_strict: false,
        cache: None,
    },
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
        results: Results::Unknown,
        stored_item: None,
        other_ids: &[],
        names_results: true,
        has_items: true,
        has_refusals: false,
        text: Some("text"),
        result,
    },
    choice: ChoiceFormat {
        places: &[Place {
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
};

fn result(answered: Answered<'_>) -> Node<'_> {
    let name = answered.name.clone().map(Node::string).unwrap_or_default();
    let kind = ("type", Node::literal("function_result"));
    Node::record([kind, ("call_id", answered.id_node()), ("name", name), ("result", answered.text)])
}
