//! Writes `docs/evidence.md`, which counts the API answers that support each table: `cargo run -p toolwire --example
//! evidence`. With a date (`evidence 2027-03-01`) it writes no page and prints the facts that are outdated on that
//! date.
//!
//! The page counts the answers in `../shared/data` next to the checkout. It is not written if that folder is missing.
#![allow(clippy::panic, reason = "an internal program fails by panicking")]
#![allow(clippy::indexing_slicing, reason = "`value[\"name\"]` of serde_json returns null instead of panicking")]

#[path = "../tests/evidence/ledger/mod.rs"]
mod ledger;

use std::{error::Error, fs};

use ledger::{root, Ledger, DATA, PAGE};

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(day) = std::env::args().nth(1) {
        println!("{}", ledger::aging(&day).trim());
        return Ok(());
    }
    let ledger = Ledger::whole().ok_or_else(|| format!("expected {DATA} beside the checkout, found none"))?;
    // The tests would refuse a page with faults.
    if let Some(fault) = ledger.faults.first() {
        return Err(format!("{} faults, the first: {fault}", ledger.faults.len()).into());
    }
    fs::write(root().join(PAGE), ledger.page())?;
    println!("{PAGE}");
    Ok(())
}
