//! Prints the schemas that the target `sanitize` checks, one row per line: `schemas [FIRST_SEED [COUNT]]`.
//!
//! The example `compare` of the core reads them, to compare two versions of the library.

use std::io::{self, BufWriter, Write as _};

fn main() -> io::Result<()> {
    let mut numbers = std::env::args().skip(1).map_while(|number| number.parse::<u64>().ok());
    let (first, count) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(100_000));
    let mut out = BufWriter::new(io::stdout().lock());
    for seed in first..first.saturating_add(count) {
        if let Some(schema) = toolwire_fuzz::schema(seed) {
            writeln!(out, "{{\"schema\":{schema}}}")?;
        }
    }
    out.flush()
}
