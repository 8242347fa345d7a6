//! The stack that every call does with: 512 KiB, what threads have on macOS. Hard shapes, and real tools, through
//! every function in every dialect. (The fuzz targets run in such a thread, too: `core/fuzz/tests/short.rs`.)

#![allow(clippy::expect_used, reason = "a test fails by panicking")]

mod reference;

use std::thread;

use reference::sources;
use serde_json::Value;
use toolwire::{
    apply_deferred_loading_json, check_json, dialects, normalize_envelope_json, restore_arguments_json, sanitize_json_with_report,
    sanitize_tools_json, DeferredOptions, SanitizeOptions, ToolsOptions,
};

/// In bytes.
const STACK: usize = 512 * 1024;

/// As many levels of one in another, around an innermost schema.
fn nested(levels: usize, open: &str, close: &str) -> String {
    format!("{}{}{}", open.repeat(levels), r#"{"type":"string"}"#, close.repeat(levels))
}

fn shapes() -> Vec<String> {
    let mut shapes = Vec::new();
    for levels in [250, 2_000] {
        for (open, close) in [
            (r#"{"type":"object","properties":{"a":"#, "}}"),
            (r#"{"type":"object","required":["a"],"additionalProperties":"#, "}"),
            (r#"{"type":"array","items":"#, "}"),
            (r#"{"allOf":["#, "]}"),
            (r#"{"anyOf":[{"type":"null"},"#, "]}"),
            (r#"{"oneOf":[{"type":"null"},"#, "]}"),
            (r#"{"not":"#, "}"),
            (r#"{"if":"#, r#","then":{"minLength":1}}"#),
            (r#"{"properties":{"a":{"allOf":["#, "]}}}"),
            (r#"{"prefixItems":["#, "]}"),
            (r#"{"enum":["#, "]}"),
            (r#"{"default":"#, "}"),
            (r#"{"x-unknown":"#, "}"),
        ] {
            shapes.push(format!(r#"{{"type":"object","properties":{{"v":{}}}}}"#, nested(levels, open, close)));
        }
    }
    for count in [100, 500] {
        let ring = |wrap: fn(usize) -> String| -> String {
            let table: Vec<String> = (0..count).map(|at| format!(r#""d{at}":{}"#, wrap((at + 1) % count))).collect();
            format!(r##"{{"type":"object","properties":{{"v":{{"$ref":"#/$defs/d0"}}}},"$defs":{{{}}}}}"##, table.join(","))
        };
        shapes.push(ring(|next| format!(r##"{{"$ref":"#/$defs/d{next}"}}"##)));
        shapes.push(ring(|next| format!(r##"{{"allOf":[{{"$ref":"#/$defs/d{next}"}}]}}"##)));
        shapes.push(ring(|next| format!(r##"{{"type":"object","properties":{{"n":{{"allOf":[{{"$ref":"#/$defs/d{next}"}}]}}}}}}"##)));
        shapes.push(ring(|next| format!(r##"{{"anyOf":[{{"type":"null"}},{{"$ref":"#/$defs/d{next}"}}],"minLength":{next}}}"##)));
    }
    shapes
}

fn in_a_small_stack(work: impl FnOnce() -> usize + Send + 'static) -> usize {
    thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread").join().expect("every call returns")
}

/// Every function on one schema: what it gives does not matter here, but that it returns.
fn all(schema: &str) -> usize {
    let mut calls = 0;
    for dialect in dialects() {
        let options = SanitizeOptions::new(dialect.name);
        let _ = check_json(schema, &options);
        let _ = restore_arguments_json(r#"{"v":{"v":"[1]"},"a":null}"#, schema, &options);
        let _ = restore_arguments_json(schema, schema, &options);
        if let Ok(result) = sanitize_json_with_report(schema, &options) {
            let _ = check_json(&result.schema, &options);
        }
        let tools = format!(r#"[{{"name":"t","description":"d","input_schema":{schema}}}]"#);
        let _ = sanitize_tools_json(&tools, &ToolsOptions::new(dialect.name));
        calls += 5;
    }
    let _ = normalize_envelope_json(schema);
    let request = format!(
        r#"{{"messages":[{{"role":"user","content":[{schema}]}}],"tools":[{{"name":"t","defer_loading":true,"input_schema":{schema}}}]}}"#
    );
    let _ = apply_deferred_loading_json(&request, &DeferredOptions::default());
    calls + 2
}

#[test]
fn hard_shapes() {
    let calls = in_a_small_stack(|| shapes().iter().map(|shape| all(shape)).sum());
    println!("{calls} calls in {} KiB", STACK / 1024);
    assert!(calls > 3_000, "{calls} calls");
}

#[test]
fn real_tools() {
    for source in sources("mcp_tools.jsonl") {
        let calls: usize = in_a_small_stack(move || {
            // Every tenth of all: each takes a hundred calls.
            let rows = source
                .text
                .lines()
                .step_by(if source.is_whole { 10 } else { 1 })
                .filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let schemas =
                rows.filter_map(|row| ["input_schema", "inputSchema", "schema"].iter().find_map(|key| Some(row.get(key)?.to_string())));
            schemas.map(|schema| all(&schema)).sum()
        });
        println!("{calls} calls in {} KiB", STACK / 1024);
        assert!(calls > 1_000, "{calls} calls");
    }
}
