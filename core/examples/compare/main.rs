//! The comparison: what every function answers to every row of some files, in every dialect, and how two such answers
//! differ.
//!
//! ```text
//! cargo run --release -p toolwire --example compare -- dump ../shared/data/mcp_tools.jsonl tests/fixtures/sanitize > before.jsonl
//! cargo run --release -p toolwire --example compare -- diff before.jsonl after.jsonl
//! ```
//!
//! It is the gate of every change of a rule: a change either leaves everything byte for byte as it was, or each group
//! of differences is read and judged. `diff` groups by function, dialect, kind and rules, and shows the smallest input
//! of each group.

mod diff;
mod dump;
mod row;
mod source;

use std::{io, process::ExitCode};

const USAGE: &str = "usage: compare dump FILE... [--dialect NAME]... [--function NAME]... [--wrapped]
       compare diff BEFORE AFTER [--messages] [--by-rule] [--most N]

dump    writes what every function answers to every row of the files (JSON, JSON Lines, or folders of both) to standard output
        --wrapped   every schema once more, as a property
diff    groups the differences between two such files; ends with 1 if there are any
        --messages  compares messages and reasons, too
        --by-rule   one group for all dialects
        --most N    shows N groups (40)";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next();
    let rest: Vec<String> = arguments.collect();
    let result = match command.as_deref() {
        Some("dump") => {
            dump::Request::read(&rest).and_then(|request| dump::run(&request, &mut io::stdout().lock()).map(|()| true))
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
