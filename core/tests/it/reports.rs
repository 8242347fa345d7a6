//! Creating a report never exceeds the budget once the schema was rewritten. Reasons are about what changed.
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use serde_json::{json, Map, Value};
use toolwire::{
    apply_deferred_loading, dialects, sanitize, sanitize_tools, Adapted, Deferred, DeferredOptions, Dialect, DialectId,
    Exchange, Rewritten, SanitizeOptions, SanitizedTools, ToolSet, ToolsOptions,
};

use crate::dialect_id;

#[test]
fn results_are_shared_between_threads() {
    fn require_shareable<T: Send + Sync>() {}
    require_shareable::<Rewritten<&Value>>();
    require_shareable::<Rewritten<Value>>();
    require_shareable::<SanitizedTools<&str>>();
    require_shareable::<SanitizedTools<String>>();
    require_shareable::<Deferred<&[u8]>>();
    require_shareable::<Deferred<Vec<u8>>>();
    require_shareable::<Adapted<Value>>();
    require_shareable::<Exchange>();
    require_shareable::<ToolSet<Value>>();
    let schema = json!({"type": "object", "properties": {"a": {"const": 1}}});
    let rewritten = sanitize(&schema, &SanitizeOptions::new(Dialect::GEMINI)).expect("the schema is valid");
    let counts: Vec<usize> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| rewritten.changes().map_or(0, <[_]>::len))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_default()).collect()
    });
    assert_eq!(counts, [rewritten.clone().changes().expect("a report").len(); 4]);
}

fn rewritten_in(dialect: DialectId) -> (Rewritten<Value>, SanitizedTools<String>, Deferred<Vec<u8>>) {
    let schema = json!({"type": "object", "properties": {"a": {"const": 1}}});
    let list = json!([{"name": "a.b", "inputSchema": schema}]).to_string();
    let request = json!({"messages": [{"role": "user", "content": "hi"}], "tools": [
        {"name": "later", "input_schema": schema, "defer_loading": true}]});
    (
        sanitize(&schema, &SanitizeOptions::new(dialect)).expect("a schema").into_owned(),
        sanitize_tools(&list, &ToolsOptions::new(dialect)).expect("a list").into_owned(),
        apply_deferred_loading(request.to_string().as_bytes(), &DeferredOptions::default())
            .expect("a request")
            .into_owned(),
    )
}

#[test]
fn owned_results_still_have_their_reports() {
    let (schema, tools, request) = rewritten_in(Dialect::GEMINI);
    assert!(!schema.changes().expect("a report").is_empty());
    assert_eq!(schema.schema["properties"]["a"].get("const"), None);
    assert!(tools.tools.contains("functionDeclarations") || tools.tools.contains("parameters"));
    assert!(!tools.changes().expect("a report").is_empty());
    assert_eq!(request.report().expect("a report").hidden, ["later"]);
    assert!(!String::from_utf8_lossy(&request.request).contains("later"));
}

/// Returns schemas whose reports take more steps than rewriting.
fn schemas() -> [Value; 3] {
    let properties = |each: &dyn Fn(usize) -> Value| {
        let named: Map<String, Value> = (0..60).map(|at| (format!("p{at}"), each(at))).collect();
        json!({ "type": "object", "properties": named })
    };
    [
        properties(&|at| json!({ "anyOf": [{ "const": at }, { "type": "string", "minLength": 3 }] })),
        properties(&|_| json!({ "type": ["string", "null"], "enum": ["a", "b", null], "format": "uuid" })),
        properties(
            &|at| json!({ "allOf": [{ "minimum": at }, { "type": "integer" }], "oneOf": [{ "maximum": 9 }, true] }),
        ),
    ]
}

#[test]
fn budget_that_suffices_for_the_schema_suffices_for_the_report() {
    let mut written = 0;
    for (dialect, schema) in dialects().iter().flat_map(|one| schemas().map(|schema| (one.name, schema))) {
        let with = |steps: usize| SanitizeOptions::new(dialect_id(dialect)).max_steps(steps);
        if sanitize(&schema, &with(1_000_000)).is_err() {
            continue;
        }
        let (mut too_few, mut enough) = (0_usize, 1_000_000_usize);
        while enough - too_few > 1 {
            let steps = too_few.midpoint(enough);
            if sanitize(&schema, &with(steps)).is_ok() {
                enough = steps;
            } else {
                too_few = steps;
            }
        }
        let result = sanitize(&schema, &with(enough)).expect("the steps suffice");
        assert!(result.restore_plan().is_ok(), "{dialect}: {enough} steps suffice for the schema, not for the report");
        written += 1;
    }
    assert!(written > 60, "only {written} schemas are written");
}

fn tool_with_flag(format: usize, strict: Option<bool>) -> Value {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 2}}});
    let mut tool = match format {
        0 => json!({"name": "f", "input_schema": schema}),
        _ => json!({"name": "f", "parameters": schema}),
    };
    if let Some(strict) = strict {
        tool["strict"] = json!(strict);
    }
    match format {
        0 => json!([tool]),
        1 => json!([{"type": "function", "function": tool}]),
        _ => {
            tool["type"] = json!("function");
            json!([tool])
        }
    }
}

#[test]
fn reasons_of_flags_are_about_flags() {
    let (mut found, mut faults) = (0, Vec::new());
    for dialect in dialects() {
        for (format, strict) in (0..3).flat_map(|format| [None, Some(true), Some(false)].map(|strict| (format, strict)))
        {
            let list = tool_with_flag(format, strict);
            let sent = sanitize_tools(&list, &ToolsOptions::new(dialect.id())).expect("a list");
            for change in sent.changes().expect("changes").iter().map(|tool| &tool.change) {
                if !["strict-flag", "not-strict"].contains(&change.rule.id()) {
                    continue;
                }
                found += 1;
                let (reason, is_true) = (change.reason.to_string(), strict == Some(true));
                // Without the flag, strict mode is lost only if the API has one.
                let is_lost = is_true && !sent.tools.to_string().contains("\"strict\":true");
                if !reason.contains("strict") {
                    faults.push(format!("{} {list}: {reason}", dialect.name));
                }
                if is_lost != (change.rule.id() == "not-strict") {
                    faults.push(format!("{} {list}: {} {}", dialect.name, change.rule, change.message));
                }
            }
        }
    }
    assert!(found > 100 && faults.is_empty(), "{found} changes\n{}", faults.join("\n"));
}
