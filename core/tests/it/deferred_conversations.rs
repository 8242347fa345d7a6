//! Deferred loading over the turns of an agent, in each request format: the conversations of
//! tests/deferred-conversations, which all languages run.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{fs, path::Path};

use serde_json::{json, Value};
use toolwire::{
    answer_tool_search, apply_deferred_loading,
    internal::{
        bindings::{self, Naming},
        json::Node,
    },
    reports::DeferredReport,
    Deferred, DeferredOptions, SearchOptions, ToolIndex,
};

fn conversation(name: &str) -> Value {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/deferred-conversations").join(name).with_extension("json");
    serde_json::from_str(&fs::read_to_string(path).expect("a conversation")).expect("it is JSON")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Rewrites a request and checks the result: it contains no feature of deferred loading, a second run changes nothing,
/// and text and values have equal results.
fn send<'r>(request: &'r Value, options: &DeferredOptions) -> Deferred<&'r Value> {
    let sent = apply_deferred_loading(request, options).expect("the request is rewritten");
    let text = sent.request.to_string();
    for word in ["tool_reference", "tool_search_tool", "defer_loading", "\"type\":\"tool_search\""] {
        assert!(!text.contains(word), "no `{word}` in {text}");
    }
    if options.target.is_none() {
        let again = apply_deferred_loading(&sent.request, options).expect("once more");
        assert_eq!(again.request.to_string(), text, "applying twice changes nothing");
    }
    let spelled = request.to_string();
    let from_text = apply_deferred_loading(&spelled, options).expect("the same from text");
    assert_eq!((&*from_text.request, from_text.report()), (&*text, sent.report()));
    sent
}

fn names(request: &Value) -> Vec<&str> {
    let name = |tool: &Value| {
        ["/function/name", "/name"].iter().find_map(|place| tool.pointer(place)).and_then(Value::as_str).is_some()
    };
    assert!(list(&request["tools"]).iter().all(name), "every tool has a name: {request}");
    list(&request["tools"])
        .iter()
        .filter_map(|tool| tool.pointer("/function/name").or(tool.get("name"))?.as_str())
        .collect()
}

fn members(report: &DeferredReport) -> Value {
    json!({
        "loaded": report.loaded, "hidden": report.hidden, "unreachable": report.unreachable,
        "warnings": report.warnings,
    })
}

fn play(name: &str, target: Option<&str>) {
    let script = conversation(name);
    let mut options = script["options"].clone();
    if let Some(target) = target {
        options["target"] = json!(target);
    }
    let search = bindings::options::<SearchOptions>(
        &Node::from_value(&script["searchOptions"]).expect("options"),
        Naming::Camel,
    )
    .expect("options");
    let member = script["history"].as_str().expect("the name of the member with the history");
    let sent_member = if target == Some("openai-responses") { "input" } else { member };
    let (mut tools, mut history, mut loaded) = (list(&script["tools"]).to_vec(), Vec::new(), json!([]));
    assert!(list(&script["turns"]).len() > 8, "expected the whole conversation");
    for turn in list(&script["turns"]) {
        let what = &turn["what"];
        tools.retain(|tool| {
            !list(&turn["without"])
                .iter()
                .any(|gone| gone == &tool["name"] || Some(gone) == tool.pointer("/function/name"))
        });
        if turn["compacts"] == true {
            history.clear();
        }
        history.extend_from_slice(list(&turn["add"]));
        if let Some(kept) = turn.get("loadedTools") {
            assert_eq!(kept, &loaded, "{what}: the report");
        }
        options["loadedTools"] = turn.get("loadedTools").cloned().unwrap_or_else(|| json!([]));
        let read = bindings::options::<DeferredOptions>(&Node::from_value(&options).expect("options"), Naming::Camel)
            .expect("options");
        let request = json!({"model": "m", member: history, "tools": tools});
        let sent = send(&request, &read);
        let report = sent.report().expect("a report");

        let mut expected = turn["sent"].clone();
        if let Some(target) = target {
            let other = expected["translated"][target].clone();
            expected["last"] = other["last"].clone();
            if let Some(warnings) = other.get("warnings") {
                expected["report"]["warnings"] = warnings.clone();
            }
        }
        assert_eq!(json!(names(&sent.request)), expected["tools"], "{what}");
        assert_eq!(list(&sent.request[sent_member]).last(), Some(&expected["last"]), "{what}");
        assert_eq!(members(report), expected["report"], "{what}");
        // A compaction two turns later needs the tools that were loaded before it.
        if turn["compacts"] != true {
            loaded = json!(report.loaded);
        }

        history.extend(turn.get("said").cloned());
        if let Some(call) = turn.get("call") {
            let answer = answer_tool_search(call, &json!(tools), &search).expect("an answer");
            assert_eq!(json!(answer), turn["answer"], "{what}");
            let index = ToolIndex::new(&json!(tools)).expect("a catalogue");
            assert_eq!(index.answer(call, &search).expect("an answer"), answer, "{what}: the index answers the same");
        }
    }
}

#[test]
fn anthropic_conversation_is_rewritten() {
    play("anthropic", None);
}

#[test]
fn responses_conversation_is_rewritten() {
    play("openai-responses", None);
}

#[test]
fn chat_conversation_is_rewritten() {
    play("openai-chat", None);
}

/// The agent uses Anthropic's format and the backend another one.
#[test]
fn anthropic_conversation_is_translated() {
    play("anthropic", Some("openai-responses"));
    play("anthropic", Some("openai-chat"));
}
