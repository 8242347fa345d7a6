//! The table of `core/tests/growth/shapes`, measured: steps, bytes and time at three sizes.

use std::time::{Duration, Instant};

use serde_json::Value;
use toolwire::{dialects, internal::steps};

use crate::{
    counting,
    shapes::{shapes, Work},
};

/// The sizes, in bytes.
const SIZES: [usize; 3] = [16 << 10, 128 << 10, 1 << 20];
/// A call that takes longer than this is not tried with the next size.
const TOO_LONG: Duration = Duration::from_secs(3);

/// What one call took.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    bytes: usize,
    steps: usize,
    memory: usize,
    time: Duration,
    /// The code of the error that ended it.
    end: Option<&'static str>,
}

/// What is asked for on the command line.
#[derive(Default)]
pub(crate) struct Asked {
    /// Words that the name of a row holds: `sanitize`, a dialect, a group, a shape.
    pub(crate) words: Vec<String>,
    pub(crate) dialects: Vec<String>,
    /// The sizes, in KB, if not those of the page.
    pub(crate) sizes: Vec<usize>,
    /// Which part of the table, of how many.
    pub(crate) part: Option<(usize, usize)>,
}

/// Prints a line for each call: what `cargo run --example growth -- rows WORD...` shows.
pub(crate) fn rows(asked: &Asked) {
    let names: Vec<&str> = match asked.dialects.is_empty() {
        true => dialects().iter().map(|dialect| dialect.name).collect(),
        false => asked.dialects.iter().map(String::as_str).collect(),
    };
    for (number, shape) in shapes().iter().enumerate() {
        if asked.part.is_some_and(|(part, of)| number % of != part) {
            continue;
        }
        let sizes: Vec<usize> = match asked.sizes.is_empty() {
            true => SIZES.into(),
            false => asked.sizes.iter().map(|size| size << 10).collect(),
        };
        let mut inputs: Vec<(Vec<String>, usize)> = Vec::new();
        let make = || sizes.iter().map(|size| shape.of_size(*size)).collect();
        for work in shape.works {
            let names: &[&str] = if work.has_dialect() { &names } else { &[""] };
            for dialect in names {
                let row = format!("{}\t{dialect}\t{}\t{}", work.name(), shape.group, shape.name);
                if asked.words.iter().any(|word| !row.split('\t').any(|cell| cell.starts_with(word.as_str()))) {
                    continue;
                }
                if inputs.is_empty() {
                    inputs = make();
                }
                let costs = measured(*work, dialect, &inputs);
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

fn cell(cost: &Cost) -> String {
    let Cost { bytes, steps, memory, time, end } = cost;
    format!(
        "{} KB {} steps {} KB given {:.4} s {}",
        bytes / 1000,
        steps,
        memory / 1000,
        time.as_secs_f64(),
        end.unwrap_or("ok")
    )
}

fn measured(work: Work, dialect: &str, inputs: &[(Vec<String>, usize)]) -> Vec<Cost> {
    let mut costs: Vec<Cost> = Vec::new();
    for (texts, bytes) in inputs {
        if costs.last().is_some_and(|cost| cost.time > TOO_LONG) {
            break;
        }
        let start = Instant::now();
        let ((end, steps), memory) = counting::given(|| steps::of(|| work.run(dialect, texts).err()));
        costs.push(Cost { bytes: *bytes, steps, memory, time: start.elapsed(), end });
    }
    costs
}

/// The exponent of growth in bytes between the last two sizes.
fn exponent(costs: &[Cost], of: impl Fn(&Cost) -> f64) -> f64 {
    let [.., before, last] = costs else { return 0.0 };
    (of(last).max(1e-9) / of(before).max(1e-9)).ln() / (last.bytes as f64 / before.bytes as f64).ln()
}

/// How much of the budget real tools take: what `cargo run --example growth -- tools FILE` shows.
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
