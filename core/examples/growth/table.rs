//! Measures the table of `core/tests/growth/shapes`: steps, bytes and time at three sizes.

use std::time::{Duration, Instant};

use serde_json::Value;
use toolwire::{dialects, internal::steps};

use crate::{
    counting, rounds,
    shapes::{shapes, Work},
    Grouped,
};

/// The sizes, in bytes.
const SIZES: [usize; 3] = [16 << 10, 128 << 10, 1 << 20];
/// Calls that take longer than this are not measured at the next size.
const TOO_LONG: Duration = Duration::from_secs(3);

/// Rows of the table in docs/performance.md, which cover all kinds of input: function, dialect, group and shape.
const ON_THE_PAGE: [(Work, &str, &str, &str); 14] = [
    (Work::Sanitize, "gemini", "properties", "properties"),
    (Work::Sanitize, "gemini", "anyOf over properties", "required"),
    (Work::Sanitize, "llama-cpp", "definitions", "$ref"),
    (Work::Check, "gemini", "anyOf over properties", "properties"),
    (Work::Envelope, "", "properties", "type"),
    (Work::Validate, "", "arguments by additionalProperties", "numbers"),
    (Work::Repair, "", "arguments by additionalProperties", "numbers in quotes"),
    (Work::Repair, "", "arguments by closed", "other names"),
    (Work::Repair, "", "texts of arguments", "no commas"),
    (Work::Restore, "gemini", "arguments by additionalProperties", "numbers"),
    (Work::Tools, "llama-cpp", "tool lists", "tools"),
    (Work::Defer, "", "requests", "Anthropic: one reference a message"),
    (Work::Adapt, "gemini", "requests", "Responses: searches"),
    (Work::Stream, "", "streams", "calls in turn"),
];
/// Sizes in the table of docs/performance.md, in bytes.
const PAGE_SIZES: [usize; 4] = [16 << 10, 64 << 10, 256 << 10, 1 << 20];
/// Number of runs of each call for docs/performance.md; the fastest one counts.
const RUNS: u32 = 3;

/// The cost of one call.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    bytes: usize,
    steps: usize,
    memory: usize,
    time: Duration,
    /// The code of the error that ended the call.
    end: Option<&'static str>,
}

/// The selection on the command line.
#[derive(Default)]
pub(crate) struct Selection {
    /// Words that the name of a row must contain: a function (`sanitize`), a dialect, a group, or a shape.
    pub(crate) words: Vec<String>,
    pub(crate) dialects: Vec<String>,
    /// Sizes in KB, if they differ from [`SIZES`].
    pub(crate) sizes: Vec<usize>,
    /// The part of the table to measure, and the number of parts.
    pub(crate) part: Option<(usize, usize)>,
}

/// Prints a line for each call: `cargo run --example growth -- rows WORD...`.
pub(crate) fn rows(selection: &Selection) {
    let names: Vec<&str> = match selection.dialects.is_empty() {
        true => dialects().iter().map(|dialect| dialect.name).collect(),
        false => selection.dialects.iter().map(String::as_str).collect(),
    };
    for (number, shape) in shapes().iter().enumerate() {
        if selection.part.is_some_and(|(part, of)| number % of != part) {
            continue;
        }
        let sizes: Vec<usize> = match selection.sizes.is_empty() {
            true => SIZES.into(),
            false => selection.sizes.iter().map(|size| size << 10).collect(),
        };
        let mut inputs: Vec<(Vec<String>, usize)> = Vec::new();
        let make = || sizes.iter().map(|size| shape.of_size(*size)).collect();
        for work in shape.works {
            let names: &[&str] = if work.has_dialect() { &names } else { &[""] };
            for dialect in names {
                let row = format!("{}\t{dialect}\t{}\t{}", work.name(), shape.group, shape.name);
                if selection.words.iter().any(|word| !row.split('\t').any(|cell| cell.starts_with(word.as_str()))) {
                    continue;
                }
                if inputs.is_empty() {
                    inputs = make();
                }
                let costs = measure(*work, dialect, &inputs);
                let cells: Vec<String> = costs.iter().map(cell).collect();
                println!(
                    "{row}\t{:.2}\t{:.2}\t{:.2}\t{}",
                    exponent(&costs, |cost| cost.steps as f64),
                    exponent(&costs, |cost| cost.memory as f64),
                    exponent(&costs, |cost| cost.time.as_secs_f64()),
                    cells.join("\t")
                );
            }
        }
    }
}

/// Prints the table of docs/performance.md in Markdown: `cargo run --example growth -- page`.
///
/// # Errors
/// If a row is not among the shapes.
pub(crate) fn page() -> Result<(), Box<dyn std::error::Error>> {
    println!("| function | input | 16 KB | 64 KB | 256 KB | 1 MB | exponents |");
    println!("|---|---|--:|--:|--:|--:|--:|");
    let shapes = shapes();
    for (work, dialect, group, name) in ON_THE_PAGE {
        let shape = shapes.iter().find(|shape| shape.group == group && shape.name == name);
        let shape = shape.ok_or_else(|| format!("expected a row of the shapes, found {group}: {name}"))?;
        let sizes = if rounds::once() { &PAGE_SIZES[..2] } else { &PAGE_SIZES[..] };
        let inputs: Vec<_> = sizes.iter().map(|size| shape.of_size(*size)).collect();
        let mut costs = measure(work, dialect, &inputs);
        for _ in 1..rounds::rounds(RUNS) {
            for (best, again) in costs.iter_mut().zip(measure(work, dialect, &inputs)) {
                best.time = best.time.min(again.time);
            }
        }
        let cells: Vec<String> = costs.iter().map(|cost| page_cell(work, cost)).collect();
        // A call that stops early does not show growth.
        costs.retain(|cost| cost.end.is_none() && !work.is_cut_off(cost.steps));
        let growth = |of: fn(&Cost) -> f64| match costs.iter().all(|cost| of(cost) == 0.0) || costs.len() < 2 {
            true => "–".to_owned(),
            false => format!("{:.2}", exponent(&costs, of)),
        };
        let (steps, time) = (growth(|cost| cost.steps as f64), growth(|cost| cost.time.as_secs_f64()));
        let function = if dialect.is_empty() { work.name().to_owned() } else { format!("{}, {dialect}", work.name()) };
        println!("| {function} | {group}: {name} | {} | {steps} · {time} |", cells.join(" | "));
    }
    Ok(())
}

fn page_cell(work: Work, cost: &Cost) -> String {
    let milliseconds = cost.time.as_secs_f64() * 1e3;
    let steps = match cost.steps {
        0 => "–".to_owned(),
        steps => Grouped(steps).to_string(),
    };
    let end = match cost.end {
        Some(code) => format!(" ({code})"),
        None if work.is_cut_off(cost.steps) => " (unknown)".to_owned(),
        None => String::new(),
    };
    format!("{steps} · {milliseconds:.2}{end}")
}

fn cell(cost: &Cost) -> String {
    let Cost { bytes, steps, memory, time, end } = cost;
    format!(
        "{} KB, {} steps, {} KB allocated, {:.4} s, {}",
        bytes / 1000,
        steps,
        memory / 1000,
        time.as_secs_f64(),
        end.unwrap_or("ok")
    )
}

fn measure(work: Work, dialect: &str, inputs: &[(Vec<String>, usize)]) -> Vec<Cost> {
    let mut costs: Vec<Cost> = Vec::new();
    for (texts, bytes) in inputs {
        if costs.last().is_some_and(|cost| cost.time > TOO_LONG) {
            break;
        }
        let start = Instant::now();
        let ((end, steps), memory) = counting::allocated_by(|| steps::of(|| work.run(dialect, texts).err()));
        let time = start.elapsed();
        costs.push(Cost { bytes: *bytes, steps: steps - work.steps_of_search(texts), memory, time, end });
    }
    costs
}

/// Returns the growth exponent, relative to the input size in bytes, between the last two sizes.
fn exponent(costs: &[Cost], of: impl Fn(&Cost) -> f64) -> f64 {
    let [.., before, last] = costs else { return 0.0 };
    (of(last).max(1e-9) / of(before).max(1e-9)).ln() / (last.bytes as f64 / before.bytes as f64).ln()
}

/// Prints the number of steps that real tools need: `cargo run --example growth -- tools FILE`.
pub(crate) fn tools(file: &str) -> Result<(), Box<dyn std::error::Error>> {
    fn values(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(values).sum(),
            Value::Object(members) => members.values().map(values).sum(),
            _ => 0,
        }
    }
    let mut rows = Vec::new();
    for (number, line) in std::fs::read_to_string(file)?.lines().enumerate() {
        let row: Value = serde_json::from_str(line)?;
        let Some(schema) = row.get("inputSchema") else { continue };
        let (text, values) = (vec![schema.to_string()], values(schema));
        for dialect in dialects() {
            for work in [Work::Sanitize, Work::Check] {
                let start = Instant::now();
                let (_, steps) = steps::of(|| work.run(dialect.name, &text));
                rows.push((steps, values, start.elapsed(), number, dialect.name, work.name()));
            }
        }
    }
    let total: usize = rows.iter().map(|row| row.0).sum();
    let time: Duration = rows.iter().map(|row| row.2).sum();
    println!("{} calls, {total} steps, {:.0} ns a step", rows.len(), time.as_secs_f64() * 1e9 / total as f64);
    rows.sort_by_key(|row| row.0);
    rows.iter().rev().take(12).for_each(|row| println!("most: {row:?}"));
    rows.sort_by_key(|row| row.0 / row.1);
    rows.iter().rev().take(12).for_each(|row| println!("a value: {} {row:?}", row.0 / row.1));
    Ok(())
}
