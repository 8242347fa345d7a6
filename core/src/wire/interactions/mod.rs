//! Gemini Interactions. The history consists of steps.

use super::{
    choice::{ChoiceFormat, Mode, Parallel, Place, Spelling, WithoutTools},
    reply::Reply,
    turns::{typed_text, Answered, Results, Speaker, Turns},
    units::{
        Arguments, Name,
        Step::{Items, Member, NotText, With, Without},
        Unit, Units,
    },
    Wire,
};
use crate::json::Node;

pub(super) const WIRE: Wire = Wire {
    history: "input",
    before: &[],
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
        without_role: &[("_result", Speaker::Tool), ("", Speaker::Model)],
        results: Results::Unknown,
        stored_item: None,
        other_ids: &[],
        names_results: true,
        text: typed_text,
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
    },
};

fn result(answered: Answered<'_>) -> Node<'_> {
    let name = answered.name.clone().map(Node::string).unwrap_or_default();
    let kind = ("type", Node::literal("function_result"));
    Node::record([kind, ("call_id", answered.id_node()), ("name", name), ("result", answered.text)])
}
