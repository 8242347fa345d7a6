//! Cost of validating and repairing arguments relative to parsing them: `cargo run --release --example arguments`.
//!
//! Measures valid calls to published tools (the sample in this repository, and the reference data if it exists next to
//! the checkout), and the same calls with every number and list in quotes. Each row is a ratio to the first row of its
//! table in the same run. In the first table, every row parses arguments and schema from text; in the second, a
//! `Restore` keeps the schemas, and only the arguments are parsed.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a measurement fails by panicking")]

#[path = "../tests/it/repair_recovery/calls.rs"]
#[allow(dead_code, reason = "only the tests use all of it")]
mod calls;
#[path = "../tests/it/reference.rs"]
mod reference;
#[path = "common/rounds.rs"]
#[allow(dead_code, reason = "other benchmarks use the rest")]
mod rounds;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use serde_json::{json, Value};
use toolwire::{
    internal::json, repair_arguments, sanitize_tools, validate_arguments, Dialect, RepairOptions, Restore, ToolsOptions,
};

const ROUNDS: u32 = 15;
/// Approximate number of tools of an agent.
const GROUP: usize = 60;

fn main() {
    let options = RepairOptions::default();
    let calls = calls::generated(true);
    let calls = if calls.is_empty() { calls::generated(false) } else { calls };
    let texts: Vec<(String, String)> =
        calls.iter().map(|call| (call.arguments.to_string(), call.schema.to_string())).collect();
    let spoiled: Vec<(String, String)> =
        calls.iter().map(|call| (quote_values(&call.arguments).to_string(), call.schema.to_string())).collect();
    let bytes = |index: fn(&(String, String)) -> usize| texts.iter().map(index).sum::<usize>() / texts.len().max(1);
    println!(
        "{} calls, {} bytes of arguments and {} of schema on average",
        texts.len(),
        bytes(|one| one.0.len()),
        bytes(|one| one.1.len())
    );
    let read = |(arguments, schema): &(String, String)| json::read(arguments).is_ok() && json::read(schema).is_ok();
    let validate = |(arguments, schema): &(String, String)| validate_arguments(arguments, schema).is_ok();
    let repair = |(arguments, schema): &(String, String)| repair_arguments(arguments, schema, &options).is_ok();
    let rows = [
        ("reading arguments and schema", best(&texts, read)),
        ("validating valid arguments", best(&texts, validate)),
        ("repairing valid arguments", best(&texts, repair)),
        ("repairing arguments with numbers and lists in strings", best(&spoiled, repair)),
    ];
    print(&rows, texts.len());
    let kept = |repair: bool| -> Vec<Restore> { calls.iter().map(|call| restore(&call.schema, repair)).collect() };
    let (repairing, plain) = (kept(true), kept(false));
    let by = |kept: &[Restore], texts: &[(String, String)]| -> Vec<(Restore, String)> {
        kept.iter().zip(texts).map(|(restore, (text, _))| (restore.clone(), text.clone())).collect()
    };
    let call = |(restore, text): &(Restore, String)| restore.call("tool", text).map_or(0, |call| call.arguments.len());
    println!("the schemas are kept");
    let rows = [
        ("reading arguments", best(&texts, |(arguments, _)| json::read(arguments).is_ok())),
        ("restoring valid arguments without repairing", best(&by(&plain, &texts), call)),
        ("restoring and repairing valid arguments", best(&by(&repairing, &texts), call)),
        ("restoring and repairing arguments in strings", best(&by(&repairing, &spoiled), call)),
    ];
    print(&rows, texts.len());
}

/// Returns the restore data of one tool, for an API that accepts its schema unchanged.
fn restore(schema: &Value, repair: bool) -> Restore {
    let options = ToolsOptions::new(Dialect::ANTHROPIC).repair(repair.then(RepairOptions::default));
    sanitize_tools(&json!([{"name": "tool", "inputSchema": schema}]), &options).expect("a list of tools").restore
}

fn print(rows: &[(&str, Duration)], calls: usize) {
    let first = rows[0].1.as_secs_f64();
    for (name, time) in rows {
        let micros = time.as_secs_f64() * 1e6 / calls.max(1) as f64;
        println!("  {name:<54} {micros:6.2} µs per call  {:.2}", time.as_secs_f64() / first);
    }
}

/// Returns the fastest rounds over all calls, in groups as large as the tool list of a request. Applications do not
/// keep 3,000 tools at once, and larger groups would measure cache misses.
fn best<C, T>(texts: &[C], run: impl Fn(&C) -> T) -> Duration {
    let round = |group: &[C]| {
        let start = Instant::now();
        for text in group {
            black_box(run(black_box(text)));
        }
        start.elapsed()
    };
    let fastest = |group: &[C]| (0..rounds::rounds(ROUNDS)).map(|_| round(group)).min().unwrap_or_default();
    texts.chunks(GROUP).map(fastest).sum()
}

/// Returns arguments with numbers, booleans and lists converted to strings.
fn quote_values(arguments: &Value) -> Value {
    let members = arguments.as_object().into_iter().flatten();
    let quoted = |value: &Value| match value {
        Value::Number(_) | Value::Bool(_) | Value::Array(_) => Value::String(value.to_string()),
        other => other.clone(),
    };
    Value::Object(members.map(|(key, value)| (key.clone(), quoted(value))).collect())
}
