//! Writes the census of real tools, `docs/census.md` with its plots: `cargo run --release -p toolwire --example
//! census`.
//!
//! It counts the tools in `../shared/data` next to the checkout, and writes nothing if that folder is missing.

#[path = "../tests/census/mod.rs"]
#[allow(clippy::expect_used, reason = "without the reports there is no census")]
mod census;

use std::{error::Error, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let figures =
        census::whole().ok_or_else(|| format!("expected {} beside the checkout, found none", census::TOOLS))?;
    for (path, text) in census::files(&figures)? {
        let (name, path) = (path.clone(), census::root().join(path));
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        println!("{name}");
        fs::write(path, text)?;
    }
    Ok(())
}
