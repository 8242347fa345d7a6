//! Compares toolwire with the crate `jsonschema`, on the same recorded calls to real tools, all of them valid.
//! `make bench-peers` runs it with a file that has one `{ "schema", "arguments" }` per line.
//!
//! The peer compiles a validator per tool and then only walks the arguments; the functions of toolwire compile nothing
//! and read the schema in each call. The table therefore lists the peer twice, with validators compiled once and
//! compiled for each call. It also lists repairs twice: a `Restore` keeps the schemas of a tool list compiled.

use std::{
    env,
    error::Error,
    fs,
    hint::black_box,
    rc::Rc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use toolwire::{Dialect, RepairOptions, Restore, ToolsOptions, repair_arguments, sanitize_tools, validate_arguments};

/// Enough rounds for a stable minimum, few enough to run often.
const ROUNDS: u32 = 15;

/// A call, as values and as text.
struct Call {
    schema: Value,
    arguments: Value,
    schema_text: String,
    text: String,
    /// The peer's validator, compiled once.
    prepared: jsonschema::Validator,
    /// Our restore data for all tools; `name` is the name of this call's tool in it.
    kept: Rc<Restore>,
    name: String,
}

/// A row of the table.
type Row = (&'static str, fn(&Call) -> bool);

const VALUES: [Row; 5] = [
    ("jsonschema 0.60.2, prepared", |call| call.prepared.is_valid(&call.arguments)),
    ("jsonschema 0.60.2, prepared for each call", |call| {
        prepared(&call.schema).is_some_and(|one| one.is_valid(&call.arguments))
    }),
    ("toolwire, validate_arguments", |call| {
        validate_arguments(&call.arguments, &call.schema).is_ok_and(|found| found.valid == Some(true))
    }),
    ("toolwire, Restore::call with kept schemas", |call| call.kept.call(&call.name, &call.arguments).is_ok()),
    ("toolwire, repair_arguments", |call| {
        repair_arguments(&call.arguments, &call.schema, &RepairOptions::default()).is_ok()
    }),
];
const TEXTS: [Row; 5] = [
    ("serde_json + jsonschema, prepared", |call| read(&call.text).is_some_and(|value| call.prepared.is_valid(&value))),
    ("serde_json + jsonschema, prepared for each call", |call| {
        let validator = read(&call.schema_text).and_then(|schema| prepared(&schema));
        validator.zip(read(&call.text)).is_some_and(|(one, value)| one.is_valid(&value))
    }),
    ("toolwire, validate_arguments", |call| {
        validate_arguments(&call.text, &call.schema_text).is_ok_and(|found| found.valid == Some(true))
    }),
    ("toolwire, Restore::call of text with kept schemas", |call| call.kept.call(&call.name, &call.text).is_ok()),
    ("toolwire, repair_arguments", |call| {
        repair_arguments(&call.text, &call.schema_text, &RepairOptions::default()).is_ok()
    }),
];

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("expected a file with one call per line, found no argument")?;
    let mut calls = Vec::new();
    let mut refused = 0;
    let text = fs::read_to_string(&path)?;
    let tools = text.lines().enumerate().map(|(number, line)| {
        serde_json::from_str::<Value>(line)
            .map(|mut row| json!({"name": format!("t{number}"), "inputSchema": row["schema"].take()}))
    });
    let tools = Value::Array(tools.collect::<Result<_, _>>()?);
    let options = ToolsOptions::new(Dialect::ANTHROPIC).repair(RepairOptions::default()).max_tools(usize::MAX);
    let kept = Rc::new(sanitize_tools(&tools, &options)?.restore);
    for (number, line) in text.lines().enumerate() {
        let mut row: Value = serde_json::from_str(line)?;
        let (schema, arguments) = (row["schema"].take(), row["arguments"].take());
        match prepared(&schema).filter(|validator| validator.is_valid(&arguments)) {
            Some(prepared) => {
                let (schema_text, text) = (schema.to_string(), arguments.to_string());
                let (kept, name) = (Rc::clone(&kept), format!("t{number}"));
                calls.push(Call { schema, arguments, schema_text, text, prepared, kept, name });
            }
            None => refused += 1,
        }
    }
    println!(
        "Rust: {} valid calls, µs per call, best of {ROUNDS} rounds; the peer refuses {refused} more",
        calls.len()
    );
    println!(
        "  jsonschema: supports every draft and `pattern`, stops at the first error, compiles a validator per schema"
    );
    println!("  toolwire: reports every error, or that it cannot decide; only a `Restore` compiles schemas");
    for (title, rows) in [("value", VALUES), ("text", TEXTS)] {
        println!("\n{title:50} {:>9} {:>10}", "µs", "to the 1st");
        let times = best(&calls, &rows);
        for ((name, _), time) in rows.iter().zip(&times) {
            let micros = time.as_secs_f64() * 1e6 / calls.len().max(1) as f64;
            println!("{name:50} {micros:9.2} {:9.1}x", time.as_secs_f64() / times[0].as_secs_f64());
        }
    }
    Ok(())
}

/// Compiles a validator that treats `format` as an annotation, as toolwire does.
fn prepared(schema: &Value) -> Option<jsonschema::Validator> {
    jsonschema::options().should_validate_formats(false).build(schema).ok()
}

fn read(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// Returns the number of rounds: one in a test (`TOOLWIRE_BENCH=once`).
fn rounds() -> u32 {
    if env::var("TOOLWIRE_BENCH").is_ok_and(|value| value == "once") { 1 } else { ROUNDS }
}

/// Returns the time of the fastest round of each row over all calls. The rows alternate, so that load on the machine
/// affects all of them.
fn best(calls: &[Call], rows: &[Row]) -> Vec<Duration> {
    let mut fastest = vec![Duration::MAX; rows.len()];
    for _ in 0..rounds() {
        for (time, (name, run)) in fastest.iter_mut().zip(rows) {
            let start = Instant::now();
            let taken = calls.iter().filter(|call| black_box(run(black_box(call)))).count();
            *time = (*time).min(start.elapsed());
            assert_eq!(taken, calls.len(), "{name}: every call is valid");
        }
    }
    fastest
}
