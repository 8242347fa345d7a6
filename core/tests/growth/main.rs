//! Growth, counted: from 32 to 128 KB, steps and allocated bytes grow with an exponent of at most 1.2. Requests and
//! streams have no budget, so only their bytes are counted.
//!
//! The groups of [`COUNTED`] are asserted, without what is refused at these sizes. `cargo run --release -p toolwire --example growth -- rows` shows all others.

#![allow(clippy::panic, reason = "a test stops where it cannot go on")]

#[path = "../allocation/counting.rs"]
mod counting;
mod shapes;

use shapes::{shapes, Work};
use toolwire::internal::steps;

/// The sizes that are compared, in bytes.
const SIZES: [usize; 2] = [32 << 10, 128 << 10];
/// The most that growth may have in the exponent.
const MOST: f64 = 1.2;
/// Dialects without a limit of size: where one is met, a call goes on with more passes, and that is a leap.
const DIALECTS: [&str; 2] = ["gemini", "llama-cpp"];
const COUNTED: [(Work, &str); 7] = [
    (Work::Sanitize, "anyOf over properties"),
    (Work::Sanitize, "properties"),
    (Work::Sanitize, "definitions"),
    (Work::Check, "anyOf over properties"),
    (Work::Tools, "tool lists"),
    (Work::Defer, "requests"),
    (Work::Stream, "streams"),
];

/// Rows that end their budget at these sizes: references through identifiers, in chains of properties. Do not add any.
const SPENT: [(&str, &str); 2] = [("properties", "$id that refers"), ("properties", "$anchor that refers")];

/// The branches of unions that are counted: of others the work is quadratic until the budget ends it.
const OF_UNIONS: [&str; 5] = ["type", "properties", "required", "required twice", "open object"];

#[test]
fn cost_grows_as_the_input_does() {
    let (mut faults, mut count) = (Vec::new(), 0);
    for shape in shapes() {
        if shape.group.starts_with("anyOf") && !OF_UNIONS.contains(&shape.name.as_str()) {
            continue;
        }
        for work in shape.works.iter().filter(|work| COUNTED.contains(&(**work, shape.group.as_str()))) {
            let inputs = SIZES.map(|size| shape.of_size(size));
            for dialect in if work.has_dialect() { &DIALECTS[..] } else { &[""] } {
                let costs = inputs.each_ref().map(|(texts, bytes)| {
                    let ((end, steps), given) = counting::given(|| steps::of(|| work.run(dialect, texts).err()));
                    (end, *bytes as f64, steps as f64, given as f64)
                });
                let [before, after] = costs;
                let name = (work.name(), dialect, &shape.group, &shape.name);
                if [before.0, after.0].contains(&Some("budget-exceeded")) {
                    if !SPENT.contains(&(shape.group.as_str(), shape.name.as_str())) {
                        faults.push(format!("{name:?}: ends its budget"));
                    }
                    continue;
                }
                if before.0.is_some() || after.0.is_some() {
                    continue;
                }
                count += 1;
                let exponent = |one: f64, two: f64| (two.max(1.0) / one.max(1.0)).ln() / (after.1 / before.1).ln();
                let (steps, given) = (exponent(before.2, after.2), exponent(before.3, after.3));
                if steps > MOST || given > MOST {
                    faults.push(format!("{name:?}: {steps:.2} in steps, {given:.2} in bytes"));
                }
            }
        }
    }
    println!("{count} rows");
    assert!(count > 200, "only {count} rows were counted");
    assert!(faults.is_empty(), "these grow faster than their input:\n{}", faults.join("\n"));
}
