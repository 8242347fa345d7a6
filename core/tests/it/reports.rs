//! Creating a report never exceeds the budget once the schema was rewritten.

use serde_json::{json, Map, Value};
use toolwire::{dialects, sanitize, SanitizeOptions};

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
        let with = |steps: usize| SanitizeOptions::new(dialect).max_steps(steps);
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
