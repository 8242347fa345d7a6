//! Generators: `cargo xtask` lists them. Each writes files of the repository from the tables, fixtures and data; the
//! tests here check that the committed files are up to date.
#![allow(clippy::panic, clippy::expect_used, reason = "an internal program fails by panicking")]
#![allow(clippy::indexing_slicing, reason = "`value[\"name\"]` of serde_json returns null instead of panicking")]

mod api;
mod bless;
mod census;
mod evidence;
mod pages;
mod texts;

use std::{collections::BTreeMap, env, error::Error, fs, path::PathBuf, process::ExitCode};

fn id(name: &str) -> toolwire::DialectId {
    name.parse().unwrap_or_else(|error| panic!("{error}"))
}

const USAGE: &str = "\
cargo xtask pages               writes the generated pages of the documentation, and the lists of names for npm and Python
cargo xtask evidence            writes docs/evidence.md, which counts the answers of APIs that support each table
cargo xtask evidence 2027-03-01 prints the facts that are outdated on that date
cargo xtask census              writes docs/census.md and its plots, which count real tools (half a minute)
cargo xtask bless FILE...       writes the results of `sanitize` into fixtures, to be reviewed in the diff
cargo xtask reasons [FILE...]   writes the reasons of changes into fixtures, to be reviewed in the diff
cargo xtask api                 writes the lists of public items of the crates, from rustdoc
cargo xtask texts FOLDER        writes the man page and the completions of shells for the program

The census and the evidence read ../shared/data next to the checkout.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["pages"] => pages::generate().and_then(write_files),
        ["evidence"] => evidence::generate().and_then(write_files),
        ["evidence", date] => {
            println!("{}", evidence::aging(date).trim());
            Ok(())
        }
        ["census"] => census::generate().and_then(write_files),
        ["api"] => api::generate().and_then(write_files),
        ["texts", folder] => texts::write(folder.as_ref()),
        ["reasons", files @ ..] => bless::reasons(files),
        ["bless", files @ ..] if !files.is_empty() => bless::files(files),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Writes the files whose text has changed. Paths are relative to the root of the repository.
fn write_files(files: BTreeMap<String, String>) -> Result<(), Box<dyn Error>> {
    for (name, text) in files {
        let path = root().join(&name);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text)?;
        println!("{name}");
    }
    Ok(())
}
