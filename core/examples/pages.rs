//! Writes the generated pages of the documentation: `cargo run -p toolwire --example pages`.

#[path = "../tests/pages/mod.rs"]
#[allow(dead_code, reason = "only the test of the pages uses all of it")]
#[allow(clippy::expect_used, reason = "without the reports there are no pages")]
mod pages;

use std::{fs, io};

fn main() -> io::Result<()> {
    for (path, text) in pages::pages() {
        let path = pages::root().join(path);
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
