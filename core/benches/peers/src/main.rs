//! Compares toolwire with other Rust crates that rewrite tool schemas for an API, on the same real tools: text in, text
//! out, and `serde_json::Value` in and out. `make bench-peers` runs it with a file that has one MCP tool per line.
//!
//! The peers have no text form, so their text time includes parsing and printing with serde_json, which their users
//! need. The table also shows how many results our `check` refuses, because a crate that does less work is faster.

use std::{
    env,
    error::Error,
    fs,
    hint::black_box,
    time::{Duration, Instant},
};

use adk_core::SchemaAdapter as _;
use genai::chat::{JsonSchemaDialect, sanitize_json_schema};
use rig_core::providers::openai::responses_api::ResponsesToolDefinition;
use serde_json::Value;
use toolwire::{Dialect, DialectId, SanitizeOptions, check, reports::Severity, sanitize};

/// Enough rounds for a stable minimum, few enough to run often.
const ROUNDS: u32 = 15;

struct Peer {
    name: &'static str,
    /// Description of the peer's conversion.
    description: &'static str,
    /// Our dialect for the same task.
    dialect: DialectId,
    convert: fn(&Value) -> Value,
}

/// None of the conversions can fail: they leave unknown constructs unchanged.
const PEERS: [Peer; 4] = [
    Peer {
        name: "genai 0.7.2, OpenAI",
        description: "sanitize_json_schema: closes objects, requires every property",
        dialect: Dialect::OPENAI_STRICT,
        convert: |schema| sanitize_json_schema(schema, JsonSchemaDialect::OpenAiStrictTool),
    },
    Peer {
        name: "genai 0.7.2, Anthropic",
        description: "sanitize_json_schema: closes objects",
        dialect: Dialect::ANTHROPIC_STRICT,
        convert: |schema| sanitize_json_schema(schema, JsonSchemaDialect::AnthropicStructured),
    },
    Peer {
        name: "rig-core 0.44.0, OpenAI",
        description: "a strict function tool: closes objects, requires every property",
        dialect: Dialect::OPENAI_STRICT,
        convert: |schema| ResponsesToolDefinition::strict_function("", "", schema.clone()).parameters,
    },
    Peer {
        name: "adk-core 2.3.0, generic",
        description: "GenericSchemaAdapter: strips `$schema`, conditions and formats, `const` to `enum`",
        dialect: Dialect::PORTABLE,
        convert: |schema| adk_core::GenericSchemaAdapter.normalize_schema(schema.clone()),
    },
];

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("expected a file with one MCP tool per line, found no argument")?;
    let mut schemas = Vec::new();
    for line in fs::read_to_string(&path)?.lines() {
        let mut tool: Value = serde_json::from_str(line)?;
        schemas.push(tool.get_mut("inputSchema").ok_or("expected a tool with an `inputSchema` on each line")?.take());
    }
    println!("Rust: {} tools, µs per tool, best of {ROUNDS} rounds\n", schemas.len());
    println!(
        "{:26} {:16} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n{:26} {:16} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "",
        "",
        "gives up",
        "refused",
        "",
        "text, µs",
        "",
        "",
        "value, µs",
        "",
        "",
        "peer",
        "our dialect",
        "ours",
        "peer",
        "ours",
        "peer",
        "ours",
        "peer/ours",
        "peer",
        "ours",
        "peer/ours"
    );
    for peer in &PEERS {
        compare(peer, &schemas);
    }
    Ok(())
}

fn compare(peer: &Peer, schemas: &[Value]) {
    let options = SanitizeOptions::new(peer.dialect);
    let both: Vec<&Value> = schemas.iter().filter(|schema| sanitize(*schema, &options).is_ok()).collect();
    let texts: Vec<String> = both.iter().map(|schema| schema.to_string()).collect();
    let text = best(
        &texts,
        |text| serde_json::from_str(text).map(|schema| (peer.convert)(&schema).to_string()),
        |text| sanitize(text, &options),
    );
    let value = best(&both, |schema| (peer.convert)(schema), |schema| sanitize(*schema, &options));
    let refused = |run: &dyn Fn(&Value) -> Option<Value>| {
        // APIs do not refuse violations that are ignored or reinterpreted.
        let accepted = |answer: &Value| {
            check(answer, &options).is_ok_and(|found| found.iter().all(|one| one.severity != Severity::Refused))
        };
        both.iter().filter(|schema| !run(schema).is_some_and(|answer| accepted(&answer))).count()
    };
    let (theirs, our) = (
        refused(&|schema| Some((peer.convert)(schema))),
        refused(&|schema| Some(sanitize(schema, &options).ok()?.schema)),
    );
    print!("{:26} {:16} {:9} {theirs:9} {our:9}", peer.name, peer.dialect, schemas.len() - both.len());
    for (peer, ours) in [text, value] {
        print!(
            " {:9.2} {:9.2} {:8.2}x",
            micros(peer, both.len()),
            micros(ours, both.len()),
            peer.as_secs_f64() / ours.as_secs_f64()
        );
    }
    println!("\n  {}", peer.description);
}

fn micros(time: Duration, inputs: usize) -> f64 {
    time.as_secs_f64() * 1e6 / inputs.max(1) as f64
}

/// Returns the number of rounds: one in a test (`TOOLWIRE_BENCH=once`).
fn rounds() -> u32 {
    if env::var("TOOLWIRE_BENCH").is_ok_and(|value| value == "once") { 1 } else { ROUNDS }
}

/// Returns the time of the fastest round of each function over all inputs. The functions alternate, so that load on the
/// machine affects both.
fn best<'a, I, A, B>(inputs: &'a [I], one: impl Fn(&'a I) -> A, two: impl Fn(&'a I) -> B) -> (Duration, Duration) {
    let (mut first, mut second) = (Duration::MAX, Duration::MAX);
    for _ in 0..rounds() {
        first = first.min(round(inputs, &one));
        second = second.min(round(inputs, &two));
    }
    (first, second)
}

fn round<'a, I, T>(inputs: &'a [I], run: &impl Fn(&'a I) -> T) -> Duration {
    let start = Instant::now();
    for input in inputs {
        black_box(run(black_box(input)));
    }
    start.elapsed()
}
