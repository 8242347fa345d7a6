//! Real tools: all of them become acceptable, most of them without loss.

use std::{collections::BTreeMap, time::Instant};

use serde_json::Value;
use toolwire::{internal::json, sanitize, Dialect, SanitizeOptions};

use super::{assert_no_faults, effect, print_uncaptured, sanitize_and_check, shorten};
use crate::reference::{sources, Source};

#[test]
fn all_real_tools_are_sent() {
    for Source { text, is_whole } in sources("mcp_tools.jsonl") {
        let options = SanitizeOptions::new(Dialect::MOONSHOT);
        let (mut effects, mut rules, mut faults) =
            (BTreeMap::<&str, usize>::new(), BTreeMap::<&str, usize>::new(), Vec::new());
        let mut schemas: Vec<String> = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty()) {
            let tool = json::read(line).unwrap_or_else(|error| panic!("{error}"));
            let name = tool
                .get("name")
                .and_then(|name| name.as_text())
                .map(|name| name.display().into_owned())
                .unwrap_or_default();
            let schema = tool.get("inputSchema").map(json::write).unwrap_or_default();
            let value: Value = serde_json::from_str(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
            match sanitize_and_check(&name, &value, &options, &mut faults) {
                Ok(result) => {
                    *effects.entry(effect(&result)).or_default() += 1;
                    let found: std::collections::BTreeSet<&str> =
                        result.changes().expect("a report").iter().map(|change| change.rule.id()).collect();
                    found.into_iter().for_each(|rule| *rules.entry(rule).or_default() += 1);
                }
                Err(error) => faults.push(format!("{name}: {error}\n  in {}", shorten(&schema))),
            }
            schemas.push(schema);
        }
        let start = Instant::now();
        let bytes: usize =
            schemas.iter().map(|schema| sanitize(schema, &options).map_or(0, |done| done.schema.len())).sum();
        let each = start.elapsed().as_secs_f64() * 1e6 / schemas.len().max(1) as f64;
        print_uncaptured(&format!(
            "mcp_tools.jsonl: {} tools, {bytes} bytes, {each:.1} µs each (as this test was built)",
            schemas.len()
        ));
        for (effect, count) in &effects {
            print_uncaptured(&format!("  {effect:<22} {count:>5}"));
        }
        for (rule, count) in &rules {
            print_uncaptured(&format!("    {rule:<26} in {count:>5} tools"));
        }
        assert_no_faults(&faults);
        assert_eq!(effects.values().sum::<usize>(), schemas.len(), "every tool is sent");
        assert_eq!(is_whole, schemas.len() == 1547);
    }
}
