//! Writes the census of real tools, `docs/census.md` with its plots: `cargo run --release -p toolwire --example census`.
//!
//! It counts the tools in `../shared/data`, beside the checkout, and writes nothing without them.

#[path = "../tests/census/mod.rs"]
mod census;

use std::{error::Error, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let tools = census::all_tools().ok_or("expected ../shared/data/mcp_tools.jsonl beside the checkout, found none")?;
    for (path, text) in census::files(tools)? {
        let path = census::root().join(path);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        println!("{}", path.display());
        fs::write(path, text)?;
    }
    Ok(())
}
