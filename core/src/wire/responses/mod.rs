//! OpenAI Responses. The history consists of items.

use super::{
    choice::{Allowed, ChoiceFormat, Forced, Parallel, Spelling, WithoutTools, Words, TOOL_CHOICE},
    reply::Reply,
    turns::{typed_text, Answered, Results, Speaker, Turns},
    units::{
        Arguments,
        Step::{Items, Member, Type},
        Unit, Units,
    },
    Wire,
};
use crate::json::Node;

pub(super) const WIRE: Wire = Wire {
    history: "input",
    before: &["previous_response_id", "conversation"],
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
        without_role: &[("_output", Speaker::Tool), ("", Speaker::Model)],
        results: Results::Anywhere,
        stored_item: Some("item_reference"),
        other_ids: &["call_id", "id"],
        names_results: false,
        text: typed_text,
        result,
    },
    choice: ChoiceFormat {
        places: &[TOOL_CHOICE],
        spelling: Spelling::Words(Words {
            demand: "required",
            is_object: false,
            forced: Forced::Kind,
            allowed: Allowed::Inline,
        }),
        parallel: Parallel::InRequest,
        without_tools: WithoutTools::All,
    },
    reply: Reply {
        messages: &[&[Items("output")], &[Member("response")], &[Member("response"), Items("output")]],
        ends: &[&[Member("response")]],
        cut: &[("status", "incomplete")],
    },
};

fn result(answered: Answered<'_>) -> Node<'_> {
    let kind = if answered.is_custom { "custom_tool_call_output" } else { "function_call_output" };
    Node::record([("type", Node::literal(kind)), ("call_id", answered.id_node()), ("output", answered.text)])
}
