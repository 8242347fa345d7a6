//! Tests whole lists of real MCP tools (`reference`), and lists that are difficult by design.
#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and `value[\"name\"]` of serde_json returns null instead of panicking"
)]

use crate::print_uncaptured;
use std::collections::BTreeSet;

use crate::reference::sources;
use serde_json::{json, Value};
use toolwire::{
    adapt_request, check_tools, dialects,
    options::DuplicateNames,
    reports::{Accepts, Guidance, Severity},
    sanitize_tools, AdaptOptions, Dialect, Exchange, ExchangeOptions, Restore, ToolsOptions,
};

/// The tools are from several servers, so some names occur more than once.
fn real_tools() -> impl Iterator<Item = Vec<Value>> {
    let tool = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("a row");
        json!({ "name": row["name"], "description": row["description"], "inputSchema": row["inputSchema"] })
    };
    sources("mcp_tools.jsonl").map(move |source| source.text.lines().map(tool).collect())
}

fn definition(tool: &Value) -> &Value {
    ["function", "toolSpec"].iter().map(|holder| &tool[holder]).find(|inner| inner.is_object()).unwrap_or(tool)
}

fn definitions(list: &Value) -> Vec<&Value> {
    let entries = list.as_array().expect("a list").iter();
    entries
        .flat_map(|entry| {
            entry["functionDeclarations"]
                .as_array()
                .map_or_else(|| vec![definition(entry)], |inner| inner.iter().collect())
        })
        .collect()
}

#[test]
fn names_of_real_tools_are_unique_and_every_call_is_restored() {
    for all in real_tools() {
        for dialect in dialects() {
            let (mut kept, mut renamed, mut quarantined) = (0, 0, 0);
            // At most as many tools per list as an API accepts.
            for tools in all.chunks(100) {
                let list = json!(tools);
                let found = sanitize_tools(&list, &ToolsOptions::new(dialect.id())).expect("a list");
                let restore = Restore::from_json(&found.restore.to_json()).expect("stored restore data");
                let set_aside: BTreeSet<&str> =
                    found.quarantined.iter().map(|tool| tool.pointer.split('/').nth(1).unwrap_or_default()).collect();
                let accepted: Vec<&Value> = tools
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| !set_aside.contains(at.to_string().as_str()))
                    .map(|(_, tool)| tool)
                    .collect();
                let sent = definitions(&found.tools);
                assert_eq!(sent.len(), accepted.len(), "{}", dialect.name);
                let names: BTreeSet<&str> = sent.iter().map(|tool| tool["name"].as_str().expect("a name")).collect();
                assert_eq!(names.len(), sent.len(), "{}: two tools with the same name", dialect.name);
                for (sent, own) in sent.iter().zip(accepted) {
                    let call = restore.call(sent["name"].as_str().expect("a name"), &json!({})).expect("a call");
                    assert_eq!(call.name, own["name"].as_str().expect("a name"), "{}", dialect.name);
                    renamed += usize::from(sent["name"] != own["name"]);
                }
                for tool in &found.quarantined {
                    assert!(
                        matches!(
                            tool.rule,
                            "duplicate-name" | "not-representable" | "limit-exceeded" | "budget-exceeded"
                        ) || tool.rule.starts_with("too-many-"),
                        "{}: {tool:?}",
                        dialect.name
                    );
                }
                kept += sent.len();
                quarantined += found.quarantined.len();
                let again = sanitize_tools(&found.tools, &ToolsOptions::new(dialect.id())).expect("a list");
                assert_eq!(again.tools, found.tools, "{}: not idempotent", dialect.name);
                if dialect.name != "codex" {
                    let violations = check_tools(&found.tools, &[dialect.id()]).expect("a list");
                    let at_fault = violations.iter().find(|violation| violation.severity != Severity::Ignored);
                    assert!(at_fault.is_none(), "{}: {at_fault:?}", dialect.name);
                }
            }
            print_uncaptured(&format!(
                "{}: {kept} real tools sent, {renamed} renamed, {quarantined} set aside",
                dialect.name
            ));
        }
    }
}

#[test]
fn names_do_not_depend_on_the_order_of_tools() {
    let names = ["a.b", "a_b", "a b", "a/b", "abc", "ls", "ls_", "21", "__1", "é", "è", "e"];
    let list =
        |names: &[&str]| json!(names.iter().map(|name| json!({ "name": name, "inputSchema": {} })).collect::<Vec<_>>());
    let by_name = |names: &[&str]| -> Vec<(String, String)> {
        let list = list(names);
        let found = sanitize_tools(&list, &ToolsOptions::new(Dialect::MOONSHOT)).expect("a list");
        let mut pairs: Vec<(String, String)> = definitions(&found.tools)
            .iter()
            .map(|tool| tool["name"].as_str().expect("a name").to_string())
            .map(|new| (found.restore.call(&new, &json!({})).expect("a call").name, new))
            .collect();
        pairs.sort();
        pairs
    };
    let first = by_name(&names);
    assert_eq!(first.len(), names.len());
    let mut other = names;
    for _ in 0..names.len() {
        other.rotate_left(1);
        assert_eq!(by_name(&other), first);
    }
    other.reverse();
    assert_eq!(by_name(&other), first);
}

/// Any JSON as a list or a request yields a result or an error, and no tool is dropped without a report.
#[test]
fn any_json_gives_a_result_or_an_error() {
    let odd = [
        json!(null),
        json!(true),
        json!(1.5),
        json!(""),
        json!("x"),
        json!([]),
        json!([[]]),
        json!({}),
        json!({"a": {}}),
        json!({"type": null}),
        json!({"type": "function"}),
        json!({"type": "function", "function": null}),
        json!({"type": "function", "function": {"name": {}}}),
        json!({"type": "namespace", "tools": [null]}),
        json!({"type": "namespace", "name": "n", "tools": [{"type": "namespace", "name": "m", "tools": [{"name": "t"}]}]}),
        json!({"functionDeclarations": [null, {"name": "f"}], "x": 1}),
        json!({"functionDeclarations": 3}),
        json!({"toolSpec": {}}),
        json!({"toolSpec": {"name": "t", "inputSchema": 3}}),
        json!({"name": "t", "inputSchema": null, "input_schema": 4}),
        json!({"name": "t", "description": 3, "parameters": true}),
        json!({"name": "\u{0}", "parametersJsonSchema": false}),
        json!({"name": "t", "strict": "yes", "parameters": {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}}),
    ];
    for dialect in dialects() {
        for value in &odd {
            for list in [value.clone(), json!([value]), json!({ "tools": [value, value] }), json!({ "tools": value })] {
                for options in
                    [ToolsOptions::new(dialect.id()), ToolsOptions::new(dialect.id()).fallback(Dialect::CODEX)]
                {
                    let Ok(written) = sanitize_tools(&list, &options) else { continue };
                    let again = sanitize_tools(&written.tools, &options).expect("written tools can be read");
                    assert_eq!(again.tools, written.tools, "{}: {list}", dialect.name);
                    check_tools(&list, &[dialect.id()]).expect("a list is a list");
                }
                for request in [
                    json!({ "messages": [value, {"role": "assistant", "content": value, "tool_calls": value}], "tools": list, "tool_choice": value }),
                    json!({ "input": [value, {"type": "function_call", "name": value}], "tools": list, "tool_choice": {"type": "function", "name": value} }),
                    json!({ "contents": [value, {"parts": value}, {"parts": [{"functionCall": value}]}], "tools": list, "toolConfig": value }),
                ] {
                    let Ok(adapted) = adapt_request(&request, &AdaptOptions::new(dialect.id())) else { continue };
                    for reply in [&request, value] {
                        adapted.restore.reply(reply).expect("a reply");
                        adapted.restore.stream().feed(reply).expect("an event");
                    }
                }
            }
        }
    }
}

#[test]
fn ten_thousand_tools_get_unique_names() {
    let tools: Vec<Value> = (0..10_000)
        .map(|number| {
            let schema =
                json!({"type": "object", "properties": {"$ref": {"type": "string", "const": format!("{number}")}}});
            json!({ "name": format!("server.{}/tool {number}", number % 7), "inputSchema": schema })
        })
        .collect();
    let text = json!(tools).to_string();
    let options = ToolsOptions::new(Dialect::CODEX);
    let found = sanitize_tools(&text, &options).expect("a list");
    assert!(found.quarantined.is_empty());
    let sent: Value = serde_json::from_str(&found.tools).expect("JSON");
    let names: BTreeSet<&str> = definitions(&sent).iter().map(|tool| tool["name"].as_str().expect("a name")).collect();
    assert_eq!(names.len(), 10_000);
    let restore = Restore::from_json(&found.restore.to_json()).expect("stored restore data");
    assert_eq!(restore.call(names.first().expect("a name"), &json!({})).expect("a call").name, "server.0/tool 0");
}

#[test]
fn index_written_by_the_model_is_removed() {
    let tools = json!([{"name": "find", "input_schema": {"type": "object", "properties": {}}}]);
    let options = ToolsOptions::new(Dialect::ANTHROPIC).duplicate_names(DuplicateNames::Rename);
    let restore = sanitize_tools(&tools, &options).expect("a list").restore;
    let call = json!({"type": "tool_use", "id": "t", "name": "find", "input": {}, "index": 7});
    let kept = Restore::from_json(&restore.to_json()).expect("written tools can be read");
    for restore in [restore, kept] {
        assert!(restore.client_call(&call).expect("a call").call.get("index").is_none());
    }
}

/// Returns the recorded requests of Gemini that an API accepted: whole requests, and single schemas in a request.
fn accepted_by_google() -> Option<Vec<(String, Value)>> {
    let read = |name: &str| std::fs::read_to_string(format!("{}/../../shared/data/{name}", env!("CARGO_MANIFEST_DIR")));
    let rows = read("answered_4.jsonl").ok()?;
    let rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).expect("a row"));
    let rows = rows.filter(|row| row["api"] == "gemini" && row["status"] == 200);
    Some(rows.map(|row| (url_of(&row), body_of(&row))).collect())
}

fn url_of(row: &Value) -> String {
    let (host, model) = (row["host"].as_str().unwrap_or_default(), row["model"].as_str().unwrap_or_default());
    format!("https://{host}/v1beta/models/{model}:generateContent")
}

fn body_of(row: &Value) -> Value {
    let contents = json!([{ "role": "user", "parts": [{ "text": "hi" }] }]);
    let carrier = row["carrier"].as_str().unwrap_or_default();
    let schema = &row["input"];
    match row["kind"].as_str() {
        Some("schema") => json!({ "contents": contents,
            "tools": [{ "functionDeclarations": [{ "name": "f", "description": "f", carrier: schema }] }] }),
        Some("format") => json!({ "contents": contents,
            "generationConfig": { "responseMimeType": "application/json", carrier: schema } }),
        _ => row["input"].clone(),
    }
}

#[test]
fn accepted_requests_of_gemini_stay_as_they_are() {
    let Some(requests) = accepted_by_google() else {
        print_uncaptured("skipped: ../shared/data/answered_4.jsonl is absent");
        return;
    };
    let (mut carriers, mut changed, mut lossy) = (0, Vec::new(), 0);
    for (url, request) in &requests {
        let body = request.to_string();
        let is_json_schema =
            ["arametersJsonSchema", "arameters_json_schema"].iter().any(|member| body.contains(member));
        carriers += usize::from(is_json_schema);
        let exchange = Exchange::open(url, &body, &ExchangeOptions::default()).expect("a request").expect("tools");
        let sent: Value = serde_json::from_str(exchange.request()).expect("a request");
        if sent == *request {
            continue;
        }
        let report = exchange.report();
        let of_tools = report.changes.iter().map(|about| &about.change);
        let all: Vec<_> = of_tools.chain(report.format_changes.iter().map(|about| &about.change)).collect();
        let rules =
            all.iter().map(|change| change.rule.id()).chain(report.request_changes.iter().map(|change| change.rule));
        lossy += usize::from(
            all.iter()
                .any(|change| !matches!(change.accepts, Accepts::Same) || matches!(change.guidance, Guidance::Lost)),
        );
        let rules = rules.collect::<BTreeSet<&str>>();
        changed.push((is_json_schema, rules));
    }
    let of_carrier = changed.iter().filter(|(is_json_schema, _)| *is_json_schema).count();
    print_uncaptured(&format!(
        "Gemini: {} accepted requests, {} changed, {lossy} with loss; {carriers} with a JSON Schema, {of_carrier} changed",
        requests.len(),
        changed.len()
    ));
    assert!(requests.len() >= 150, "only {} accepted requests", requests.len());
    assert_eq!(lossy, 0, "an accepted request loses something: {changed:?}");
    assert!(changed.iter().all(|(_, rules)| !rules.is_empty()), "a change is not reported: {changed:?}");
    // `add-properties` for an object without `properties`.
    assert!(of_carrier <= 6, "a schema in `parametersJsonSchema` is sent as it came: {changed:?}");
}
