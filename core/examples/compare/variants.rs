//! The option sets for requests: every target with each of its native constructs, and the options for searches, tool
//! changes, removals and custom tools; for `adaptRequest` also every dialect, once with response formats and pairs.

use serde_json::{json, Value};
use toolwire::{dialects, internal::bindings::Function};

const TARGETS: [(&str, &[&str]); 3] = [
    ("anthropic", &["none", "references", "changes", "inline"]),
    ("openai-responses", &["none", "additional-tools", "tool-search"]),
    ("openai-chat", &["none", "kimi"]),
];
/// A dialect for each target that renames tools and rewrites schemas.
const DIALECTS: [(&str, &str); 3] =
    [("anthropic", "anthropic-strict"), ("openai-responses", "openai-strict"), ("openai-chat", "moonshot")];

fn more() -> [Value; 5] {
    [
        json!({}),
        json!({"removals": "notice", "serverHistory": "split", "announce": "names"}),
        json!({"toolChanges": "ignore", "customTools": "function"}),
        json!({"order": "append", "serverToolSearch": "emulate", "customTools": "keep", "reasoning": "content"}),
        json!({"unavailableCalls": "text", "mode": "load-all", "loadUsedTools": true}),
    ]
}

fn with(base: &Value, members: &Value) -> Value {
    let mut all = base.clone();
    if let (Some(all), Some(members)) = (all.as_object_mut(), members.as_object()) {
        all.extend(members.clone());
    }
    all
}

/// Returns every function on requests, with its options.
pub(crate) fn all() -> Vec<(Function, Value)> {
    let mut all = Vec::new();
    for more in more() {
        all.push((Function::ApplyDeferredLoading, more.clone()));
        for (target, natives) in TARGETS {
            for native in natives {
                let set = with(&json!({"target": target, "native": native}), &more);
                all.push((Function::ApplyDeferredLoading, set));
            }
        }
    }
    for dialect in dialects() {
        all.push((Function::AdaptRequest, json!({"dialect": dialect.name})));
        all.push((Function::AdaptRequest, json!({"dialect": dialect.name, "deferred": false})));
        let rest = json!({"formats": "ladder", "historyPairs": "complete", "deferred": {"native": "auto"}});
        all.push((Function::AdaptRequest, with(&json!({"dialect": dialect.name}), &rest)));
    }
    for more in more() {
        for (target, natives) in TARGETS {
            let dialect = DIALECTS.iter().find(|(of, _)| *of == target).map_or("portable", |(_, dialect)| *dialect);
            for native in natives {
                let deferred = with(&json!({"target": target, "native": native}), &more);
                all.push((Function::AdaptRequest, json!({"dialect": dialect, "deferred": deferred})));
            }
        }
    }
    all
}
