//! Measures the microseconds per tool in Rust, compared with parsing and printing alone. `make bench` runs this example
//! with a file that has one MCP tool per line.

#[path = "common/rounds.rs"]
#[allow(dead_code, reason = "other benchmarks use the rest")]
mod rounds;

use std::{
    env,
    error::Error,
    fs,
    hint::black_box,
    time::{Duration, Instant},
};

use serde_json::Value;
use toolwire::{normalize_envelope, sanitize, Dialect, SanitizeOptions};

/// Enough rounds for a stable minimum, few enough to run often.
const ROUNDS: u32 = 15;

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("expected a file with one MCP tool per line, found no argument")?;
    let mut values = Vec::new();
    for line in fs::read_to_string(&path)?.lines() {
        let mut tool: Value = serde_json::from_str(line)?;
        values.push(tool.get_mut("inputSchema").ok_or("expected a tool with an `inputSchema` on each line")?.take());
    }
    let texts: Vec<String> = values.iter().map(Value::to_string).collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    println!(
        "Rust, {} tools, {} bytes each on average, microseconds per tool",
        texts.len(),
        bytes / texts.len().max(1)
    );

    let (codex, wire, moonshot) = (
        SanitizeOptions::new(Dialect::CODEX),
        SanitizeOptions::new(Dialect::CODEX_WIRE),
        SanitizeOptions::new(Dialect::MOONSHOT),
    );
    let row = |name: &str, time: Duration| {
        println!("  {name:<40} {:7.2}", time.as_secs_f64() * 1e6 / texts.len().max(1) as f64)
    };
    row(
        "serde_json::Value, parse and print alone",
        best(&texts, |text| serde_json::from_str::<Value>(text).map(|value| value.to_string())),
    );
    row("sanitize codex, text", best(&texts, |text| sanitize(text, &codex)));
    row("sanitize codex-wire, text", best(&texts, |text| sanitize(text, &wire)));
    row("sanitize moonshot, text", best(&texts, |text| sanitize(text, &moonshot)));
    row("sanitize moonshot, text with report", best(&texts, |text| read_report(text, &moonshot)));
    row("sanitize codex-wire, text with report", best(&texts, |text| read_report(text, &wire)));
    row("normalize_envelope, text", best(&texts, normalize_envelope));
    row("sanitize codex, value", best(&values, |value| sanitize(value, &codex)));
    row("sanitize moonshot, value", best(&values, |value| sanitize(value, &moonshot)));
    row("sanitize codex-wire, value", best(&values, |value| sanitize(value, &wire)));
    row("normalize_envelope, value", best(&values, normalize_envelope));
    Ok(())
}

/// Returns a report, which is created when it is read.
fn read_report(text: &String, options: &SanitizeOptions) -> Option<Vec<toolwire::reports::Change>> {
    sanitize(text, options).ok()?.changes().ok().map(<[_]>::to_vec)
}

/// Returns the fastest of several rounds over all inputs, to exclude other load on the machine.
fn best<'a, I, T>(inputs: &'a [I], run: impl Fn(&'a I) -> T) -> Duration {
    let round = |_| {
        let start = Instant::now();
        for input in inputs {
            black_box(run(black_box(input)));
        }
        start.elapsed()
    };
    (0..rounds::rounds(ROUNDS)).map(round).min().unwrap_or_default()
}
