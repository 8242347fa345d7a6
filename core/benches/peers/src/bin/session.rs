//! An agent's session: the same tools in each of 50 requests, with one change of the list halfway. The measured time is
//! the total cost of the tools in all requests: from the server's list (`Value`) to JSON text for the body. The peers have no cache: they convert the tools again for each request.

use std::{
    env,
    error::Error,
    fs,
    hint::black_box,
    time::{Duration, Instant},
};

use adk_core::SchemaAdapter as _;
use genai::chat::{JsonSchemaDialect, sanitize_json_schema};
use serde_json::{Value, json};
use toolwire::{ToolSet, ToolsOptions, sanitize_tools};

const ROUNDS: u32 = 15;
const REQUESTS: usize = 50;

/// The name of a peer, our dialect for the same task, and its conversion of a schema.
type Peer = (&'static str, &'static str, fn(&Value) -> Value);

const PEERS: [Peer; 3] = [
    ("genai 0.7.2, OpenAI", "openai-strict", |schema| {
        sanitize_json_schema(schema, JsonSchemaDialect::OpenAiStrictTool)
    }),
    ("genai 0.7.2, Anthropic", "anthropic-strict", |schema| {
        sanitize_json_schema(schema, JsonSchemaDialect::AnthropicStructured)
    }),
    ("adk-core 2.3.0, generic", "portable", |schema| adk_core::GenericSchemaAdapter.normalize_schema(schema.clone())),
];

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("expected a file with one MCP tool per line, found no argument")?;
    let tools: Vec<Value> = fs::read_to_string(&path)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let list = Value::Array(tools);
    let mut changed = list.clone();
    changed[0]["description"] = json!("changed");
    let count = list.as_array().map_or(0, Vec::len);
    println!("Rust: {count} tools, {REQUESTS} requests, µs per request, best of {ROUNDS} rounds\n");
    println!(
        "{:26} {:18} {:>14} {:>14} {:>14} {:>14}",
        "peer", "our dialect", "peer", "sanitize_tools", "ToolSet", "peer/ToolSet"
    );
    let each = |make: &dyn Fn(&Value) -> usize| {
        (0..REQUESTS).map(|request| make(if request < REQUESTS / 2 { &list } else { &changed })).sum::<usize>()
    };
    for (name, dialect, convert) in PEERS {
        let options = ToolsOptions::new(dialect.parse()?);
        let theirs = || {
            each(&|list| {
                let tools = list.as_array().into_iter().flatten().map(|tool| {
                    let (name, description) = (&tool["name"], &tool["description"]);
                    json!({"name": name, "description": description, "parameters": convert(&tool["inputSchema"])})
                });
                Value::Array(tools.collect()).to_string().len()
            })
        };
        let anew = || each(&|list| sanitize_tools(list, &options).map_or(0, |found| found.tools.to_string().len()));
        let kept = || {
            let mut set = ToolSet::new(&list.to_string()).expect("it is a list");
            (0..REQUESTS)
                .map(|request| {
                    if request == REQUESTS / 2 {
                        set.update(&changed).expect("it is a list");
                    }
                    set.sanitize(&options).map_or(0, |ready| ready.tools.len())
                })
                .sum::<usize>()
        };
        let [theirs, anew, kept] = best([&theirs, &anew, &kept]);
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / REQUESTS as f64;
        println!(
            "{name:26} {dialect:18} {:14.1} {:14.1} {:14.1} {:13.1}x",
            micros(theirs),
            micros(anew),
            micros(kept),
            theirs.as_secs_f64() / kept.as_secs_f64()
        );
    }
    Ok(())
}

/// Returns the number of rounds: one in a test (`TOOLWIRE_BENCH=once`).
fn rounds() -> u32 {
    if env::var("TOOLWIRE_BENCH").is_ok_and(|value| value == "once") { 1 } else { ROUNDS }
}

/// Returns the fastest round of each function. The functions alternate.
fn best<const N: usize>(runs: [&dyn Fn() -> usize; N]) -> [Duration; N] {
    let mut times = [Duration::MAX; N];
    for _ in 0..rounds() {
        for (time, run) in times.iter_mut().zip(runs) {
            let start = Instant::now();
            black_box(run());
            *time = start.elapsed().min(*time);
        }
    }
    times
}
