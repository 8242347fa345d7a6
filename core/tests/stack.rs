//! The stack that must suffice for every call: 512 KiB, the default of threads on macOS. Runs difficult shapes and real
//! tools through every function in every dialect. (The fuzz targets also run in such a thread:
//! `core/fuzz/tests/short.rs`.)
//!
//! `TOOLWIRE_STACK_KIB=128` uses a smaller stack, `TOOLWIRE_EVERY=1` uses every schema of the reference data instead of
//! every tenth.

#![allow(clippy::expect_used, reason = "a test fails by panicking")]

#[path = "it/reference.rs"]
mod reference;

use std::thread;

use reference::sources;
use serde_json::{json, Value};
use toolwire::{
    apply_deferred_loading, check, dialects, normalize_envelope, repair_arguments, restore_arguments, sanitize,
    sanitize_tools, validate_arguments, DeferredOptions, Dialect, RepairOptions, Restore, RestorePlan, SanitizeOptions,
    ToolsOptions,
};

/// The files of reference data, each with the member that holds the schema.
const FILES: [(&str, &str); 3] =
    [("mcp_tools.jsonl", "inputSchema"), ("accepted_schemas.jsonl", "schema"), ("test_suite.jsonl", "schema")];

fn setting(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().map_or(usual, |text| text.parse().expect("a number"))
}

fn stack() -> usize {
    setting("TOOLWIRE_STACK_KIB", 512)
}

fn nest(levels: usize, open: &str, close: &str) -> String {
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
            shapes.push(format!(r#"{{"type":"object","properties":{{"v":{}}}}}"#, nest(levels, open, close)));
        }
    }
    for count in [100, 500] {
        let ring = |wrap: fn(usize) -> String| -> String {
            let table: Vec<String> = (0..count).map(|at| format!(r#""d{at}":{}"#, wrap((at + 1) % count))).collect();
            format!(
                r##"{{"type":"object","properties":{{"v":{{"$ref":"#/$defs/d0"}}}},"$defs":{{{}}}}}"##,
                table.join(",")
            )
        };
        shapes.push(ring(|next| format!(r##"{{"$ref":"#/$defs/d{next}"}}"##)));
        shapes.push(ring(|next| format!(r##"{{"allOf":[{{"$ref":"#/$defs/d{next}"}}]}}"##)));
        shapes.push(ring(|next| {
            format!(r##"{{"type":"object","properties":{{"n":{{"allOf":[{{"$ref":"#/$defs/d{next}"}}]}}}}}}"##)
        }));
        shapes.push(ring(|next| {
            format!(r##"{{"anyOf":[{{"type":"null"}},{{"$ref":"#/$defs/d{next}"}}],"minLength":{next}}}"##)
        }));
    }
    shapes
}

/// Deep arguments, and strings that contain other JSON texts.
fn arguments() -> Vec<String> {
    let mut texts = String::from(r#"{"a":1}"#);
    for _ in 0..4 {
        texts = json!(texts).to_string();
    }
    let deep = |open: &str, close: &str| format!(r#"{{"v":{}1{}}}"#, open.repeat(250), close.repeat(250));
    Vec::from([
        deep(r#"{"a":"#, "}"),
        deep("[", "]"),
        deep(r#"{"n":{"item":["#, "]}}"),
        deep(r#"{"arguments":"#, "}"),
        format!(r#"{{"v":{texts},}}"#),
        format!(r#"{{"v":{}"#, "[".repeat(400)),
    ])
}

fn in_a_small_stack(work: impl FnOnce() -> usize + Send + 'static) -> usize {
    thread::Builder::new().stack_size(stack() * 1024).spawn(work).expect("a thread").join().expect("every call returns")
}

/// The calls only have to return; their results are ignored.
fn all(schema: &str) -> usize {
    let mut calls = 0;
    for dialect in dialects() {
        let options = SanitizeOptions::new(dialect.id());
        let _ = check(schema, &options);
        if let Ok(result) = sanitize(schema, &options) {
            let _ = check(&result.schema, &options);
            let _ = result.restore_plan().and_then(|plan| restore_arguments(r#"{"v":{"v":"[1]"},"a":null}"#, plan));
            let _ = result.restore_plan().and_then(|plan| restore_arguments(schema, plan));
        }
        let tools = format!(r#"[{{"name":"t","description":"d","input_schema":{schema}}}]"#);
        let _ = sanitize_tools(&tools, &ToolsOptions::new(dialect.id()));
        calls += 5;
    }
    let _ = normalize_envelope(schema);
    let repair = RepairOptions::default().use_defaults(true).remove_additional(true);
    let tools = format!(r#"[{{"name":"t","description":"d","input_schema":{schema}}}]"#);
    let sent = sanitize_tools(&*tools, &ToolsOptions::new(Dialect::OPENAI_STRICT).repair(repair.clone()));
    for arguments in arguments().iter().map(String::as_str).chain([schema]) {
        let _ = validate_arguments(arguments, schema);
        let _ = repair_arguments(arguments, schema, &repair).map(|done| done.arguments);
        if let Ok(sent) = &sent {
            let _ = sent.restore.call("t", arguments);
        }
        calls += 3;
    }
    let request = format!(
        r#"{{"messages":[{{"role":"user","content":[{schema}]}}],"tools":[{{"name":"t","defer_loading":true,"input_schema":{schema}}}]}}"#
    );
    let _ = apply_deferred_loading(&request, &DeferredOptions::default()).map(|done| done.request);
    calls + 2
}

#[test]
fn difficult_shapes_fit_into_a_small_stack() {
    let calls = in_a_small_stack(|| shapes().iter().map(|shape| all(shape)).sum());
    println!("{calls} calls in {} KiB", stack());
    assert!(calls > 3_000, "{calls} calls");
}

#[test]
fn real_schemas_fit_into_a_small_stack() {
    for (file, member) in FILES {
        for source in sources(file) {
            // Every schema takes a hundred calls.
            let every = if source.is_whole { setting("TOOLWIRE_EVERY", 10) } else { 2 };
            let calls: usize = in_a_small_stack(move || {
                let rows =
                    source.text.lines().step_by(every).map(|line| serde_json::from_str::<Value>(line).expect("a row"));
                rows.map(|row| all(&row[member].to_string())).sum()
            });
            println!("{file}: {calls} calls in {} KiB", stack());
            assert!(calls > 1_000, "{calls} calls");
        }
    }
}

/// Restore data comes from outside and may be forged: a plan that refers to itself must also terminate.
#[test]
fn forged_plans_do_not_overflow_the_stack() {
    let circle = |name: &str| json!({"$ref": format!("#/$defs/{name}")});
    let encoded = json!({"anyOf": [circle("a"), {"wrapper": "w", "$ref": "#/$defs/b"}], "$defs": {
        "a": {"anyOf": [circle("a"), circle("b")]}, "b": {"anyOf": [{"items": circle("b")}, circle("a")]}, "c": circle("c"),
    }});
    let names = json!({"names": {"a": "b"}, "allOf": [{"$ref": "1"}], "items": {"$ref": "1"}, "$defs": {"1": {"$ref": "1", "allOf": [{"$ref": "1"}]}}});
    let deep = format!("{}1{}", "[".repeat(500), "]".repeat(500));
    let worker = thread::Builder::new().stack_size(stack() * 1024).spawn(move || {
        for mut plan in [json!({"encoded": encoded}), json!({"encoded": {"$ref": "#"}}), json!({"names": names})] {
            let kept = json!({"version": 2, "tools": {"t": {"name": "t", "plan": plan}}});
            let restore = Restore::from_json(&kept.to_string()).expect("a restore");
            for arguments in [deep.as_str(), r#"{"a":[[1]]}"#, "null"] {
                assert_eq!(restore.call("t", arguments).expect("text").name, "t");
            }
            // The plan without a tool list.
            plan["version"] = json!(2);
            let plan = RestorePlan::from_json(&plan.to_string()).expect("a plan");
            for arguments in [deep.as_str(), r#"{"a":[[1]]}"#, "null"] {
                restore_arguments(arguments, &plan).expect("arguments");
            }
        }
    });
    worker.expect("a thread").join().expect("no panic");
}
