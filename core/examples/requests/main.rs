//! Measures the milliseconds for a request of 10 MB in Rust, compared with parsing it with `serde_json`. `make bench`
//! runs this example.
//!
//! There are three kinds of content: prose, tool calls, images. The time of copying is shown for comparison, because
//! every result that is not borrowed from its input costs at least a copy.

mod content;
#[path = "../common/rounds.rs"]
mod rounds;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use content::{request, CONTENTS, SIZE};
use serde_json::Value;
use toolwire::{apply_deferred_loading, DeferredOptions, Error};

const ROUNDS: u32 = 15;

fn main() -> Result<(), Error> {
    println!("Rust, a request of 10 MB, milliseconds, and the ratio to parsing it");
    let options = DeferredOptions::default();
    for (name, messages) in CONTENTS {
        let text = request(messages, if rounds::once() { SIZE / 10 } else { SIZE });
        assert!(apply_deferred_loading(&text, &options)?.request.len() < text.len(), "49 tools are hidden");
        let runs: [(&str, &dyn Fn() -> bool); 3] = [
            ("serde_json::Value, parse alone", &|| serde_json::from_str::<Value>(&text).is_ok()),
            ("apply_deferred_loading, text", &|| apply_deferred_loading(&text, &options).is_ok()),
            ("copy alone", &|| !black_box(text.clone()).is_empty()),
        ];
        // The functions alternate, so that load on the machine affects all of them.
        let mut best = [Duration::MAX; 3];
        for _ in 0..rounds::rounds(ROUNDS) {
            for (best, (_, run)) in best.iter_mut().zip(runs) {
                *best = time(run).min(*best);
            }
        }
        let [parsed, ..] = best;
        for ((row, _), time) in runs.iter().zip(best) {
            let ratio = time.as_secs_f64() / parsed.as_secs_f64();
            println!("  {:<46} {:7.2} {ratio:7.2}", format!("{name}, {row}"), time.as_secs_f64() * 1e3);
        }
    }
    Ok(())
}

fn time(run: impl Fn() -> bool) -> Duration {
    let start = Instant::now();
    assert!(black_box(run()), "the request is read");
    start.elapsed()
}
