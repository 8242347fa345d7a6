//! Moonshot's own tests for servers that offer Kimi, with the expected verdict on each request. Requests that it
//! accepts must stay acceptable. For each request that it refuses, a row of [`REFUSED`] states toolwire's result.

use serde_json::{json, Value};
use toolwire::{adapt_request, internal::json::Node, AdaptOptions, Error};

use super::{
    bindings::{self, Naming},
    fakes::kimi,
    rows,
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    /// This library returns an error before anything is sent.
    Error,
    /// Moonshot accepts the rewritten request, and the report states the changes.
    Mended,
    /// The request is passed on, because Moonshot's own error is more informative.
    Passed,
}

/// Every row that Moonshot refuses, with the result and its reason.
const REFUSED: [(&str, Outcome, &str); 21] = [
    ("dynamic_tool_in_user_message_rejected", Outcome::Error, "users may not add tools"),
    ("dynamic_tool_in_assistant_message_rejected", Outcome::Error, "models may not add tools"),
    ("content_and_dynamic_tools_nonempty_rejected", Outcome::Mended, "the text is moved to a separate message"),
    ("dynamic_tool_missing_required_field_rejected[missing_function]", Outcome::Mended, "a nameless tool is set aside"),
    ("dynamic_tool_missing_required_field_rejected[missing_name]", Outcome::Mended, "a nameless tool is set aside"),
    (
        "dynamic_tool_missing_required_field_rejected[missing_type]",
        Outcome::Passed,
        "toolwire does not choose the type of a tool",
    ),
    ("invalid_dynamic_tool_name_rejected[starts_with_number]", Outcome::Mended, "renamed, and restored in calls"),
    ("invalid_dynamic_tool_name_rejected[empty]", Outcome::Mended, "a nameless tool is set aside"),
    ("invalid_dynamic_tool_name_rejected[special_char]", Outcome::Mended, "renamed, and restored in calls"),
    ("invalid_dynamic_tool_name_rejected[too_long_257]", Outcome::Mended, "renamed, and restored in calls"),
    ("dynamic_tools_not_array_rejected", Outcome::Passed, "a member with a value of another type is sent as it came"),
    ("dynamic_tools_item_not_object_rejected", Outcome::Mended, "a value that is not a tool is set aside"),
    ("duplicate_dynamic_tool_names_rejected", Outcome::Mended, "the first one is used"),
    ("duplicate_tool_names_across_dynamic_messages_rejected", Outcome::Mended, "the first one is used"),
    ("duplicate_tool_name_between_global_and_dynamic_rejected", Outcome::Mended, "the one in the list is used"),
    ("tool_role_without_tool_call_id_rejected", Outcome::Passed, "its call is not known"),
    ("unsupported_tool_type_rejected", Outcome::Passed, "Moonshot has additional types, such as `builtin_function`"),
    ("mixed_valid_and_bogus_type_tools_rejected", Outcome::Passed, "as with a bogus type alone"),
    ("tool_choice_with_empty_tools_rejected", Outcome::Passed, "as without a list of tools"),
    ("tool_choice_required_without_tools_rejected", Outcome::Passed, "it requires a call, but there is no tool"),
    ("tool_choice_invalid_value_rejected", Outcome::Passed, "Moonshot may accept a value that toolwire does not know"),
];

/// The only row that the fake refuses and Moonshot accepts: Moonshot ignores a named choice and calls any tool.
const OVERLOOKED: &str = "tool_choice_named_function_ignored";

/// Rows that are repaired without loss, so there is nothing to report.
const LOSES_NOTHING: [&str; 3] = [
    "content_and_dynamic_tools_nonempty_rejected",
    "duplicate_tool_names_across_dynamic_messages_rejected",
    "duplicate_dynamic_tool_names_rejected",
];

struct Adapted {
    request: Value,
    /// True if the report contains a change to something other than a schema.
    is_reported: bool,
}

fn adapt(request: &Value) -> Result<Adapted, Error> {
    let options = json!({"dialect": "moonshot", "deferred": {"target": "openai-chat", "native": "kimi"}});
    let options: AdaptOptions =
        bindings::options(&Node::from_value(&options).expect("options are shallow"), Naming::Camel)
            .expect("options are valid");
    let text = request.to_string();
    let done = adapt_request(text.as_str(), &options)?;
    let warned = done.report.deferred.is_some_and(|report| !report.warnings.is_empty());
    let renamed = done.report.changes.iter().any(|change| change.change.rule.id().starts_with("rename"));
    let is_reported = warned || renamed || !done.report.quarantined.is_empty();
    Ok(Adapted { request: serde_json::from_str(&done.request).expect("the output is JSON"), is_reported })
}

/// Returns a description of the fault; `None` if the row has the expected result.
fn fault(row: &Value) -> Option<String> {
    let (name, request) = (row["name"].as_str().expect("a name"), &row["request"]);
    let (verdict, found) = (kimi::check(request), adapt(request));
    if row["expect"] == 200 {
        if verdict.is_err() != (name == OVERLOOKED) {
            return Some(format!("Moonshot accepts it, and the fake's verdict is {verdict:?}"));
        }
        return match found {
            Ok(found) => kimi::check(&found.request).err().map(|text| format!("{text} in {}", found.request)),
            Err(error) => Some(error.to_string()),
        };
    }
    if verdict.is_ok() {
        return Some("Moonshot refuses it, and the fake does not".to_owned());
    }
    let outcome = match &found {
        Err(_) => Outcome::Error,
        Ok(found) if kimi::check(&found.request).is_ok() => Outcome::Mended,
        Ok(_) => Outcome::Passed,
    };
    let Some((_, expected, why)) = REFUSED.iter().find(|(known, ..)| *known == name) else {
        return Some(format!("no expected outcome is listed for {outcome:?}"));
    };
    if outcome != *expected {
        return Some(format!("expected {expected:?}, because {why}, found {outcome:?}"));
    }
    let is_silent = found.is_ok_and(|found| outcome == Outcome::Mended && !found.is_reported);
    (is_silent && !LOSES_NOTHING.contains(&name)).then(|| "the report does not mention it".to_owned())
}

#[test]
fn rows_that_moonshot_accepts_are_still_accepted() {
    let rows = rows::judged("kimi_dynamic_tools.json", [23, 14], fault);
    let refused = rows.iter().filter(|row| row["expect"] != 200).count();
    assert!(rows.is_empty() || refused == REFUSED.len(), "expected a row of REFUSED for every refusal");
}
