//! Writes how many answers stand behind each table, `docs/evidence.md`: `cargo run -p toolwire --example evidence`.
//!
//! It counts the answers in `../shared/data`, beside the checkout, and writes nothing without them.
#![allow(clippy::indexing_slicing, reason = "`value[\"name\"]` of serde_json gives null instead of panicking")]

#[path = "../tests/evidence/ledger/mod.rs"]
mod ledger;

use std::{error::Error, fs};

use ledger::{root, Ledger, DATA, PAGE};

fn main() -> Result<(), Box<dyn Error>> {
    let ledger = Ledger::whole().ok_or_else(|| format!("expected {DATA} beside the checkout, found none"))?;
    // A page of counts that the tests would not let stand.
    if let Some(fault) = ledger.faults.first() {
        return Err(format!("{} faults, the first: {fault}", ledger.faults.len()).into());
    }
    fs::write(root().join(PAGE), ledger.page())?;
    println!("{PAGE}");
    Ok(())
}
