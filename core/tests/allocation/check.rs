//! The peak memory of `check_tools`.

use serde_json::{json, Map, Value};
use toolwire::{check_tools, Dialect};

use crate::counting::peak_of;

/// Maximum number of bytes for each byte of a list.
const MAX_PEAK: usize = 20;
/// Maximum for lists of empty objects: a node of 40 bytes for three bytes of text, in a vector with room for twice as
/// many.
const MAX_PEAK_OF_EMPTY: usize = 30;
/// Maximum for lists of numbers: a node of 40 bytes for two bytes of text, in a vector with room for twice as many.
const MAX_PEAK_OF_NUMBERS: usize = 45;

fn list(count: usize, tool: impl Fn(usize) -> Value) -> Value {
    (0..count).map(tool).collect()
}

fn object(count: usize, name: &str, schema: &Value) -> Value {
    let properties: Map<String, Value> = (0..count).map(|at| (format!("{name}{at}"), schema.clone())).collect();
    json!({"name": "t", "inputSchema": {"type": "object", "properties": properties}})
}

/// Once 105 bytes for each byte of a list of numbers, 79 for empty objects, 42 for servers, and 39 for tools with one
/// name.
#[test]
fn checking_a_list_needs_little_memory() {
    let named = |at| json!({"name": format!("t{at}")});
    let server = |at| json!({"server": format!("s{at}"), "tools": list(100, |at| json!({"name": format!("t{at}"), "inputSchema": {}}))});
    let lists = [
        ("numbers", MAX_PEAK_OF_NUMBERS, list(20_000, |_| json!(0))),
        ("objects", MAX_PEAK_OF_EMPTY, list(20_000, |_| json!({}))),
        ("names", MAX_PEAK, list(10_000, named)),
        ("bad names", MAX_PEAK, list(10_000, |at| json!({"name": format!("t {at}")}))),
        ("one name", MAX_PEAK, list(10_000, |_| json!({"name": "a"}))),
        ("hosted", MAX_PEAK, list(10_000, |_| json!({"type": "web_search"}))),
        ("without a name", MAX_PEAK, list(10_000, |_| json!({"inputSchema": {}}))),
        ("small", MAX_PEAK, list(5_000, |at| json!({"name": format!("t{at}"), "inputSchema": {"type": "object"}}))),
        ("declarations", MAX_PEAK_OF_EMPTY, json!([{"functionDeclarations": list(10_000, named)}])),
        ("large", MAX_PEAK, json!([object(10_000, "p", &json!({"type": "string"}))])),
        ("invalid", MAX_PEAK, json!([object(10_000, "p ", &json!({"type": "strin"}))])),
        ("empty", MAX_PEAK_OF_EMPTY, json!([object(10_000, "p", &json!({}))])),
        ("servers", MAX_PEAK, list(100, server)),
    ];
    let mut faults = Vec::new();
    for (name, limit, list) in lists {
        let text = list.to_string();
        for dialect in [Dialect::OPENAI_STRICT, Dialect::LLAMA_CPP] {
            let (found, peak) = peak_of(|| check_tools(text.as_str(), &[dialect]).expect("a list").len());
            println!(
                "{name}, {dialect}: {} bytes, {:.1} for each, {found}",
                text.len(),
                peak as f64 / text.len() as f64
            );
            if peak > limit * text.len() {
                faults.push(format!("{name}, {dialect}: {peak} bytes for {}", text.len()));
            }
        }
    }
    assert!(faults.is_empty(), "too much memory: {faults:#?}");
}
