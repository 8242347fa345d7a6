//! OpenAI Chat Completions.

use super::{
    choice::{Allowed, ChoiceFormat, Forced, Parallel, Spelling, WithoutTools, Words, TOOL_CHOICE},
    reply::Reply,
    turns::{typed_text, Answered, Results, Speaker, Turns},
    units::{
        Arguments,
        Step::{Items, Member},
        Unit, Units,
    },
    Wire,
};
use crate::json::Node;

pub(super) const WIRE: Wire = Wire {
    history: "messages",
    before: &[],
    units: Units {
        messages: &[
            // The API allows the tool's name in its result.
            Unit::result(&["tool_call_id"]).named().by("tool"),
            Unit::result(&[]).named().by("function"),
            Unit::call(&[], Arguments::Text("arguments")).at(&[Member("function_call")]),
        ],
        lists: &[(
            "tool_calls",
            &[
                Unit {
                    is_id_outside: true,
                    ..Unit::call(&["id"], Arguments::Text("arguments")).at(&[Member("function")])
                },
                Unit { is_id_outside: true, ..Unit::call(&["id"], Arguments::None).at(&[Member("custom")]) },
            ],
        )],
    },
    turns: Turns {
        roles: &[("user", Speaker::User), ("assistant", Speaker::Model), ("tool", Speaker::Tool)],
        without_role: &[],
        results: Results::Following,
        stored_item: None,
        other_ids: &[],
        names_results: false,
        text: typed_text,
        result,
    },
    choice: ChoiceFormat {
        places: &[TOOL_CHOICE],
        spelling: Spelling::Words(Words {
            demand: "required",
            is_object: false,
            forced: Forced::Nested,
            allowed: Allowed::Nested,
        }),
        parallel: Parallel::InRequest,
        without_tools: WithoutTools::None,
    },
    reply: Reply {
        messages: &[&[Items("choices"), Member("message")]],
        ends: &[&[Items("choices")]],
        cut: &[("finish_reason", "length")],
    },
};

fn result(answered: Answered<'_>) -> Node<'_> {
    let id = ("tool_call_id", answered.id_node());
    Node::record([("role", Node::literal("tool")), id, ("content", answered.text)])
}
