//! `apply_deferred_loading` with the reference data (`reference`): cases with their expected results, and recorded
//! requests with the promises that hold for every request.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use crate::reference::{sources, Source};
use serde_json::{json, Map, Value};
use toolwire::{
    apply_deferred_loading,
    internal::{
        bindings::{self, Naming},
        json::{read, Node},
    },
    reports::{ClientTool, DeferredReport, Warning},
    DeferredOptions,
};

fn options(value: &Value) -> DeferredOptions {
    bindings::options::<DeferredOptions>(&Node::from_value(value).expect("options are shallow"), Naming::Camel)
        .expect("options are valid")
}

fn report_value(report: &DeferredReport) -> Value {
    // The data uses an older spelling of codes, with underscores.
    let code = |warning: &Warning| warning.code.replace('-', "_");
    // Newer than the cases.
    let is_newer = |warning: &Warning| match warning.code {
        "server-tool-search-dropped" => true,
        "not-translated" => matches!(warning.name.as_deref(), Some("tool_search" | "id")),
        _ => false,
    };
    let warnings: Vec<Value> = report
        .warnings
        .iter()
        .filter(|warning| !is_newer(warning))
        .map(|warning| match &warning.name {
            Some(name) => json!({"code": code(warning), "name": name}),
            None => json!({"code": code(warning)}),
        })
        .collect();
    let mut out = json!({"loaded": report.loaded, "hidden": report.hidden, "warnings": warnings});
    // The data was written before the report had entries for tools outside of namespaces.
    let is_namespaced = |tool: &ClientTool| tool.namespace.as_ref().is_some_and(|namespace| *namespace != tool.name);
    let names: Vec<_> = report.name_map.iter().filter(|(_, tool)| is_namespaced(tool)).collect();
    if !names.is_empty() {
        let names = names
            .into_iter()
            .map(|(flat, tool)| (flat.clone(), json!({"namespace": tool.namespace, "name": tool.name})));
        out["nameMap"] = Value::Object(names.collect::<Map<_, _>>());
    }
    out
}

/// Adds a warning to two cases that were written before the translation between APIs. Its specification (b, 1) requires
/// a warning for a removal that changes the prefix.
fn with_removal_warning(name: &str, mut expected: Value) -> Value {
    let removed = match name {
        "tool_removed_then_added" => "Read",
        "tool_removal_of_visible_tool" => "delete_branch",
        _ => return expected,
    };
    expected["report"]["warnings"] = json!([{"code": "prefix_changed", "name": removed}]);
    expected
}

/// Adds a warning to cases that were written before every removed part was reported.
fn with_removed_parts(name: &str, mut expected: Value) -> Value {
    let warning = match name {
        "caller_field_stripped" => json!({"code": "not_translated", "name": "caller"}),
        "server_search_only_message_dropped"
        | "responses_hosted_history"
        | "wire_anthropic_bm25_history"
        | "wire_anthropic_bm25_history_responses" => json!({"code": "server_tool_search_unavailable"}),
        _ => return expected,
    };
    expected["report"]["warnings"] = json!([warning]);
    expected
}

/// Replaces the text for references to unknown tools in some cases, which were written before the current text: they
/// expect that the tool is announced as available.
fn with_gone_tools(name: &str, expected: Value) -> Value {
    let is_gone =
        ["reference_missing_name", "no_tools_key", "tools_null", "shunt43_reference_without_tools_key"].contains(&name);
    if !is_gone && !name.contains("UnknownToolReference") {
        return expected;
    }
    let text = expected.to_string().replace("is now available.", "is no longer available.");
    serde_json::from_str(&text).expect("JSON")
}

/// Renames `max_tokens` in two cases that were written before its mapping, which takes precedence by the specification.
fn with_mapping(name: &str, mut expected: Value, input: &Value) -> Value {
    let renamed = match name {
        "wire_anthropic_bm25_history_responses" => "max_output_tokens",
        "wire_anthropic_client_search_chat" => "max_completion_tokens",
        _ => return expected,
    };
    let request = expected["request"].as_object_mut().expect("a request");
    // A renamed key keeps its position: after `model`, as in both inputs.
    let mut members = Map::new();
    for (key, value) in std::mem::take(request) {
        let after = key == "model";
        members.insert(key, value);
        if after {
            members.insert(renamed.into(), input["max_tokens"].clone());
        }
    }
    *request = members;
    expected
}

#[test]
fn every_case_has_the_expected_result() {
    for Source { text, is_whole } in sources("deferred_cases.json") {
        let cases: Vec<Value> = serde_json::from_str(&text).expect("the data is JSON");
        assert_eq!(cases.len(), if is_whole { 83 } else { 23 }, "the number of cases");
        let (mut failed, mut without_option) = (Vec::new(), 0);
        for case in &cases {
            let name = case["name"].as_str().expect("a name");
            // Today a rule of the API decides what the option decided.
            if case["options"].get("emptyTools").is_some() {
                without_option += 1;
                continue;
            }
            let (input, options) = (&case["input"], options(&case["options"]));
            let expected = with_gone_tools(name, with_mapping(name, case["expected"].clone(), input));
            let expected = with_removed_parts(name, with_removal_warning(name, expected));
            let done = apply_deferred_loading(input, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
            // Compared as text, because equality of values ignores the order of keys.
            let mut check = |what: &str, found: String, expected: String| {
                if found != expected {
                    failed.push(format!("{name}: {what}\n   found {found}\nexpected {expected}"));
                }
            };
            check("request", done.request.to_string(), expected["request"].to_string());
            check("report", report_value(done.report().expect("a report")).to_string(), expected["report"].to_string());
            let text = input.to_string();
            let by_text = apply_deferred_loading(&text, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
            check("request by text", by_text.request.to_string(), expected["request"].to_string());
            assert_eq!(
                by_text.report().expect("a report"),
                done.report().expect("a report"),
                "{name}: both paths report the same"
            );
            let again = apply_deferred_loading(&by_text.request, &options)
                .map(|done| done.request)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            check("applied twice", again.to_string(), by_text.request.to_string());
        }
        assert!(failed.is_empty(), "{} comparisons failed\n{}", failed.len(), failed.join("\n"));
        assert_eq!(without_option, if is_whole { 1 } else { 0 }, "cases with the option");
        println!("{} cases, {without_option} of them with an option that is a rule today", cases.len());
    }
}

/// Each option alone, and combinations of options that interact.
fn option_sets() -> Vec<Value> {
    let singles = [
        ("announce", vec!["none", "names"]),
        ("mode", vec!["filter", "load-all"]),
        ("order", vec!["catalog", "append"]),
        ("unknownReference", vec!["notice", "unavailable", "drop"]),
        ("forcedTool", vec!["load", "auto"]),
        ("serverToolSearch", vec!["load-all", "drop", "emulate"]),
        ("serverHistory", vec!["drop", "split"]),
    ];
    let mut sets =
        vec![json!({}), json!({"loadUsedTools": true}), json!({"loadedTools": ["get_exchange_rate", "nothing"]})];
    for (key, values) in &singles {
        sets.extend(values.iter().map(|value| json!({*key: value})));
    }
    for search in ["load-all", "drop", "emulate"] {
        for history in ["drop", "split"] {
            for order in ["catalog", "append"] {
                sets.push(json!({
                    "serverToolSearch": search, "serverHistory": history, "order": order, "announce": "names",
                    "loadUsedTools": true, "toolSearchName": "find_tools", "unknownReference": "drop",
                }));
            }
        }
    }
    sets
}

/// Collects objects with types of deferred loading, and flags on tools and calls. Names, arguments, schemas and text
/// belong to the caller and are not searched.
fn leftovers(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| leftovers(item, found)),
        Value::Object(object) => {
            if let Some(name) = object.get("type").and_then(Value::as_str) {
                let known = ["tool_reference", "tool_addition", "tool_removal", "additional_tools", "namespace"];
                if known.contains(&name) || name.starts_with("tool_search") {
                    found.insert(format!("type {name}"));
                }
            }
            for (key, value) in object {
                if ["defer_loading", "namespace"].contains(&key.as_str()) {
                    found.insert(format!("key {key}"));
                }
                let arguments = key == "input" && object.get("type").and_then(Value::as_str) == Some("tool_use");
                if !arguments && !["input_schema", "parameters", "arguments"].contains(&key.as_str()) {
                    leftovers(value, found);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn every_recorded_request_keeps_the_promises_in_every_mode() {
    for Source { text, is_whole } in sources("deferred_requests.jsonl") {
        let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("the data is JSON")).collect();
        assert_eq!(rows.len(), if is_whole { 100 } else { 36 }, "the number of requests");
        let mut runs = 0;
        for (at, row) in rows.iter().enumerate() {
            let request = &row["request"];
            let targets: &[Option<&str>] = match row["format"].as_str() {
                Some("anthropic-messages") => &[None, Some("openai-responses"), Some("openai-chat")],
                _ => &[None, Some("openai-responses"), Some("openai-chat"), Some("anthropic")],
            };
            for target in targets {
                for mut set in option_sets() {
                    if let Some(target) = target {
                        set["target"] = json!(target);
                    }
                    let about = format!("request {at} with {set}");
                    let options = options(&set);
                    let done =
                        apply_deferred_loading(request, &options).unwrap_or_else(|error| panic!("{about}: {error}"));
                    let mut found = BTreeSet::new();
                    leftovers(&done.request, &mut found);
                    assert!(found.is_empty(), "{about}: {found:?} in {}", done.request);
                    let text = request.to_string();
                    let by_text =
                        apply_deferred_loading(&text, &options).unwrap_or_else(|error| panic!("{about}: {error}"));
                    assert_eq!(by_text.request, done.request.to_string(), "{about}: text and value agree");
                    assert_eq!(
                        by_text.report().expect("a report"),
                        done.report().expect("a report"),
                        "{about}: text and value report the same"
                    );
                    let again = apply_deferred_loading(&by_text.request, &options)
                        .map(|done| done.request)
                        .unwrap_or_else(|error| panic!("{about}: {error}"));
                    assert_eq!(again, by_text.request, "{about}: applied twice");
                    assert!(matches!(again, std::borrow::Cow::Borrowed(_)), "{about}: an unchanged request was copied");
                    read(&by_text.request).expect("the output is JSON");
                    runs += 1;
                }
            }
        }
        println!("{} requests, {runs} runs", rows.len());
    }
}

/// A pseudorandom number generator with the same sequence on every machine, so that a failure can be reproduced.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit.max(1)
    }
}

fn parts(value: &Value, out: &mut Vec<Value>) {
    out.push(value.clone());
    match value {
        Value::Array(items) => items.iter().for_each(|item| parts(item, out)),
        Value::Object(object) => object.values().for_each(|value| parts(value, out)),
        _ => {}
    }
}

fn disturb(value: &mut Value, numbers: &mut Numbers, pool: &[Value]) {
    let here = numbers.below(20) == 0;
    match value {
        Value::Array(items) if !items.is_empty() && !here => {
            let at = numbers.below(items.len());
            match numbers.below(8) {
                0 => drop(items.remove(at)),
                1 => items.insert(at, items[at].clone()),
                2 => items.insert(at, pool[numbers.below(pool.len())].clone()),
                _ => disturb(&mut items[at], numbers, pool),
            }
        }
        Value::Object(object) if !object.is_empty() && !here => {
            let key = object.keys().nth(numbers.below(object.len())).cloned().expect("an index below the length");
            match numbers.below(16) {
                0 => drop(object.shift_remove(&key)),
                _ => disturb(&mut object[&key], numbers, pool),
            }
        }
        _ => *value = pool[numbers.below(pool.len())].clone(),
    }
}

/// Includes the features of deferred loading.
fn as_chat(request: &Value) -> Option<Value> {
    let wrapped = |tool: &Value| {
        let mut function = tool.as_object()?.clone();
        let flag = function.shift_remove("defer_loading");
        let schema = function.shift_remove("input_schema")?;
        function.insert("parameters".into(), schema);
        let mut tool = json!({"type": "function", "function": function});
        if let Some(flag) = flag {
            tool["defer_loading"] = flag;
        }
        Some(tool)
    };
    let answered = |message: &Value| match message["content"][0]["type"].as_str() {
        Some("tool_use") => {
            let call = json!({"id": "c", "type": "function", "function": {"name": message["content"][0]["name"], "arguments": "{}"}});
            json!({"role": "assistant", "content": null, "tool_calls": [call]})
        }
        Some("tool_result") => {
            json!({"role": "tool", "tool_call_id": "c", "content": message["content"][0]["content"]})
        }
        _ => message.clone(),
    };
    let mut chat = request.clone();
    let tools: Vec<Value> =
        request["tools"].as_array()?.iter().map(|tool| wrapped(tool).unwrap_or_else(|| tool.clone())).collect();
    chat["tools"] = tools.into();
    chat["messages"] = request["messages"].as_array()?.iter().map(answered).collect::<Vec<_>>().into();
    Some(chat)
}

/// Returns true if a block of deferred loading is left where blocks are: as a message, in the content of a message, or
/// in a result there.
fn block_left(messages: &Value) -> bool {
    fn items(list: &Value) -> impl Iterator<Item = &Value> {
        list.as_array().into_iter().flatten()
    }
    let is_left = |block: &Value| {
        ["tool_reference", "tool_addition", "tool_removal"].contains(&block["type"].as_str().unwrap_or_default())
    };
    let in_block =
        |block: &Value| is_left(block) || block["type"] == "tool_result" && items(&block["content"]).any(is_left);
    items(messages).any(|message| is_left(message) || items(&message["content"]).any(in_block))
}

#[test]
fn disturbed_requests_give_a_clear_error_or_keep_the_promises() {
    for Source { text, .. } in sources("deferred_cases.json") {
        let cases: Vec<Value> = serde_json::from_str(&text).expect("the data is JSON");
        let rounds: usize = std::env::var("DISTURBED_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(20);
        let mut pool = vec![
            json!(null),
            json!(true),
            json!("true"),
            json!(1),
            json!([]),
            json!({}),
            json!(""),
            json!("tool_search"),
        ];
        cases.iter().for_each(|case| parts(&case["input"], &mut pool));
        let sets = option_sets();
        let (mut numbers, mut accepted, mut refused) = (Numbers(7), 0, 0);
        let chats: Vec<Value> = cases.iter().filter_map(|case| as_chat(&case["input"])).collect();
        for _ in 0..rounds {
            for request in cases.iter().map(|case| &case["input"]).chain(&chats) {
                let mut request = request.clone();
                for _ in 0..=numbers.below(4) {
                    disturb(&mut request, &mut numbers, &pool);
                }
                let mut set = sets[numbers.below(sets.len())].clone();
                if let Some(target) =
                    [None, Some("openai-responses"), Some("openai-chat"), Some("anthropic")][numbers.below(4)]
                {
                    set["target"] = json!(target);
                }
                let (options, text) = (options(&set), request.to_string());
                let about = format!("{text}\n with {set}");
                let by_text = apply_deferred_loading(&text, &options);
                match (apply_deferred_loading(&request, &options), by_text) {
                    (Ok(done), Ok(by_text)) => {
                        accepted += 1;
                        assert_eq!(by_text.request, done.request.to_string(), "{about}: text and value agree");
                        assert_eq!(
                            by_text.report().expect("a report"),
                            done.report().expect("a report"),
                            "{about}: text and value report the same"
                        );
                        let left = ["messages", "input"].iter().any(|key| block_left(&done.request[*key]));
                        assert!(!left, "{about}: blocks of deferred loading in {}", done.request);
                        if by_text.request == text {
                            assert!(
                                matches!(by_text.request, std::borrow::Cow::Borrowed(_)),
                                "{about}: an unchanged request was copied"
                            );
                        }
                        let again = apply_deferred_loading(&by_text.request, &options)
                            .map(|done| done.request)
                            .unwrap_or_else(|error| panic!("{about}: {error}"));
                        assert_eq!(again, by_text.request, "{about}: applied twice");
                    }
                    (Err(one), Err(two)) => {
                        refused += 1;
                        assert_eq!(one, two, "{about}: text and value refuse the same");
                        assert!(!one.message().is_empty(), "{about}: an error states the problem");
                    }
                    (one, two) => panic!("{about}: only one path refuses: {one:?} {two:?}"),
                }
            }
        }
        println!("{accepted} accepted, {refused} refused");
        assert!(accepted > refused, "expected most disturbed requests to be accepted");
    }
}
