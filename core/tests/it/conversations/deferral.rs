//! Requests with deferred tools in the APIs' native constructs, with and without mistakes that the APIs refuse.

use serde_json::{json, Value};
use toolwire::{
    adapt_request,
    options::{HistoryPairs, Native},
    AdaptOptions, DeferredOptions,
};

use super::{
    generator::{conversation, Backend},
    Numbers,
};
use crate::{dialect_id, native::fakes as format_fakes};

const ANTHROPIC: Backend = ("anthropic", "anthropic", "claude-sonnet-4-6");
const RESPONSES: Backend = ("openai-responses", "openai-responses", "gpt-5.5");
const INTERACTIONS: Backend = ("gemini-interactions", "gemini-interactions", "gemini-3-pro");

type Put = fn(&mut Value);

/// Triggers of rules, each with its backend and native construct, the warnings that may report the change, and the
/// function that inserts the trigger into a request.
const TRIGGERS: &[(&str, Backend, Native, &[&str], Put)] = &[
    ("every tool is deferred", ANTHROPIC, Native::References, &["all-deferred"], |request| {
        tools(request).iter_mut().for_each(|tool| tool["defer_loading"] = json!(true));
    }),
    ("a breakpoint of a deferred tool", ANTHROPIC, Native::References, &["cached-deferred"], |request| {
        let list = tools(request);
        list.push(json!({"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}));
        list[0]["defer_loading"] = json!(true);
        list[0]["cache_control"] = json!({"type": "ephemeral"});
    }),
    ("a reference to no tool", ANTHROPIC, Native::References, &["unknown-tool-reference"], |request| {
        tools(request).push(json!({"name": "ToolSearch", "input_schema": {"type": "object", "properties": {}}}));
        let found = json!([{"type": "tool_reference", "tool_name": "gone"}]);
        let messages = request["messages"].as_array_mut().expect("messages");
        let at = messages.len() - 1;
        messages.splice(at..at, [
            json!({"role": "user", "content": "Search."}),
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": "s", "name": "ToolSearch", "input": {}}]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "s", "content": found}]}),
            json!({"role": "assistant", "content": "Nothing."}),
        ]);
    }),
    ("no search", RESPONSES, Native::ToolSearch, &["tool-search-added"], defer_first),
    ("no search", INTERACTIONS, Native::Interactions, &["tool-search-added"], defer_first),
    ("a search", RESPONSES, Native::ToolSearch, &[], |request| {
        defer_first(request);
        tools(request).push(json!({"type": "tool_search"}));
    }),
    ("a search", INTERACTIONS, Native::Interactions, &[], |request| {
        defer_first(request);
        tools(request).push(json!({"type": "tool_search"}));
    }),
];

fn tools(request: &mut Value) -> &mut Vec<Value> {
    request["tools"].as_array_mut().expect("a list")
}

fn defer_first(request: &mut Value) {
    tools(request)[0]["defer_loading"] = json!(true);
}

#[test]
fn adapted_requests_with_deferred_tools_are_accepted() {
    let mut numbers = Numbers(3);
    for number in 0..1_400 {
        let (trigger, backend, native, codes, put) = TRIGGERS[number % TRIGGERS.len()];
        let (api, dialect, _) = backend;
        let mut request = conversation(backend, &mut numbers);
        put(&mut request);
        let about = format!("{number}, {trigger}, {api}");
        let is_accepted = format_fakes::check(api, native.as_str(), &request, &[]).is_ok();
        assert_eq!(is_accepted, codes.is_empty(), "{about}: the fake knows the rule: {request}");
        let deferred = DeferredOptions::default().native(native);
        let options = AdaptOptions::new(dialect_id(dialect)).deferred(deferred).history_pairs(HistoryPairs::Complete);
        let adapted = adapt_request(&request, &options).unwrap_or_else(|error| panic!("{about}: {error}: {request}"));
        let sent = &adapted.request;
        assert_eq!(format_fakes::check(api, native.as_str(), sent, &[]), Ok(()), "{about}: {sent}");
        assert!(!is_accepted || *sent == request, "{about}: {request}\n to {sent}");
        let warnings = adapted.report.deferred.expect("a report").warnings;
        let is_reported = codes.iter().all(|code| warnings.iter().any(|warning| warning.code == *code));
        assert!(is_reported, "{about}: {warnings:?}");
    }
}
