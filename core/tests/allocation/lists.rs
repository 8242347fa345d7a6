//! The memory of cached tool lists is bounded, whatever they contain.

use serde_json::{json, Value};
use toolwire::{Dialect, Exchange, ExchangeOptions, RepairOptions, ToolListCache};

use crate::counting::live;

fn body(number: usize) -> String {
    let properties: serde_json::Map<String, Value> =
        (0..3_000).map(|at| (format!("p{at}"), json!({"type": "integer"}))).collect();
    let schema = json!({"type": "object", "properties": properties, "required": ["p1"]});
    let tools = json!([{"name": format!("a{number}"), "input_schema": schema}]);
    json!({"model": "m", "messages": [], "tools": tools}).to_string()
}

/// If calls are repaired, the schemas are stored, too: 8 MiB of text once used 96 MiB.
#[test]
fn memory_of_cached_lists_is_bounded() {
    for repair in [false, true] {
        let options = ExchangeOptions::default().dialect(Dialect::OPENAI_STRICT).tool_list_cache(usize::MAX);
        let options = options.repair(repair.then(RepairOptions::default));
        let (cache, before) = (ToolListCache::default(), live());
        for number in 0..40 {
            Exchange::open_cached("http://localhost/v1/messages", &body(number), &options, &cache).expect("opens");
        }
        let kept = live().saturating_sub(before);
        println!("repair: {repair}, {} lists of {} bytes: {kept} bytes", cache.len(), body(0).len());
        assert!(cache.len() > 3, "{} lists", cache.len());
        assert!(kept <= 40 << 20, "{kept} bytes in {} lists, repair: {repair}", cache.len());
    }
}
