//! Compares two versions of the library: dumps the results of every function for every row of some files in every
//! dialect, and groups the differences between two dumps.
//!
//! ```text
//! cargo run --release -p toolwire --example compare -- dump ../shared/data/mcp_tools.jsonl tests/fixtures/sanitize > before.jsonl
//! cargo run --release -p toolwire --example compare -- diff before.jsonl after.jsonl
//! ```
//!
//! `dump --variants` runs requests with every set of options, including requests from `generate`.
//!
//! Every change of a rule must pass this comparison: either the output is identical byte for byte, or each group of
//! differences is reviewed. `diff` groups by function, dialect, kind and rules, and shows the smallest input of each
//! group.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "an internal program, which uses generators of the tests, fails by panicking"
)]

#[path = "../../tests/it/fixtures/as_stream.rs"]
#[allow(dead_code, reason = "only the fixtures use all of it")]
mod as_stream;
mod diff;
mod dump;
mod generate;
#[path = "../../tests/it/routing/generated.rs"]
#[allow(dead_code, reason = "only the routing test uses all of it")]
mod generated;
#[path = "../../tests/it/native/render.rs"]
#[allow(dead_code, reason = "only the native suite uses all of it")]
mod render;
mod replies;
mod row;
#[path = "../../tests/it/native/script.rs"]
#[allow(dead_code, reason = "only the native suite uses all of it")]
mod script;
mod source;
mod variants;
#[path = "../../tests/it/routing/wire.rs"]
#[allow(dead_code, reason = "only the routing test uses all of it")]
mod wire;

use std::{io, process::ExitCode};

/// The random numbers for the conversations of `script`.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit.max(1)
    }
}

const USAGE: &str = "usage: compare dump FILE... [--dialect NAME]... [--function NAME]... [--wrapped] [--variants] [--some N] [--brief]
       compare diff BEFORE AFTER [--messages] [--by-rule] [--most N]
       compare generate COUNT
       compare replies TESTS

dump    writes what every function answers to every row of the files (JSON, JSON Lines, or folders of both) to standard output
        --wrapped   every schema once more, as a property
        --variants  only requests, once for each set of options, not for each dialect
        --some N    of those sets, N for each request, other ones each time
        --brief     digests in place of outputs and reports of more than 200 bytes
diff    groups the differences between two such files; ends with 1 if there are any
        --messages  compares messages and reasons, too
        --by-rule   one group for all dialects
        --most N    shows N groups (40)

generate    writes COUNT made-up requests, one a line
replies     writes what becomes of every reply and stream in the fixtures and exchanges of the folder TESTS, as it is and
            with one event dropped, repeated, moved or without its index";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next();
    let rest: Vec<String> = arguments.collect();
    let result = match command.as_deref() {
        Some("dump") => {
            dump::Request::read(&rest).and_then(|request| dump::run(&request, &mut io::stdout().lock()).map(|()| true))
        }
        Some("generate") => {
            generate::run(rest.first().map_or("", String::as_str), &mut io::stdout().lock()).map(|()| true)
        }
        Some("replies") => {
            replies::run(rest.first().map_or("tests", String::as_str), &mut io::stdout().lock()).map(|()| true)
        }
        Some("diff") => diff::Request::read(&rest).and_then(|request| diff::run(&request, &mut io::stdout().lock())),
        _ => Err(String::from(USAGE)),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
