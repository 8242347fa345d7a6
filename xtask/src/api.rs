//! `core/public-api.txt` and `core/http/public-api.txt`: every public item of the crates for Rust users, a line each,
//! so that a change of the API is seen in the diff.

use std::{
    collections::BTreeMap,
    env,
    error::Error,
    path::PathBuf,
    process::{Command, Stdio},
};

use public_api::Builder;

use crate::root;

const CRATES: [(&str, &str); 2] = [("toolwire", "core"), ("toolwire-http", "core/http")];

/// Returns the listings by their paths. Fails if rustdoc fails, or if its JSON has another version than the library
/// reads. The version changes with Rust.
pub(crate) fn generate() -> Result<BTreeMap<String, String>, Box<dyn Error>> {
    CRATES.into_iter().map(|(name, folder)| Ok((format!("{folder}/public-api.txt"), list_items(name)?))).collect()
}

fn list_items(name: &str) -> Result<String, Box<dyn Error>> {
    let api = Builder::from_rustdoc_json(json(name)?)
        // They are not specific to the crate: `impl<T> From<T> for T`.
        .omit_blanket_impls(true)
        .omit_auto_derived_impls(true)
        .build()?;
    // These two traits of the compiler are not stable.
    let is_stable = |line: &String| !["marker::Freeze ", "marker::UnsafeUnpin "].iter().any(|name| line.contains(name));
    let mut lines: Vec<String> = api.items().map(ToString::to_string).filter(is_stable).collect();
    lines.sort();
    lines.dedup();
    Ok(lines.join("\n") + "\n")
}

fn json(name: &str) -> Result<PathBuf, Box<dyn Error>> {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let target = target.join("public-api");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["rustdoc", "--quiet", "--locked", "--lib", "--all-features", "--package", name, "--target-dir"]);
    cargo.arg(&target).args(["--", "-Z", "unstable-options", "--output-format", "json", "--cap-lints", "allow"]);
    // The JSON is not stable yet. With this variable, the compiler of the project writes it, too.
    cargo.env("RUSTC_BOOTSTRAP", "1").env_remove("RUSTDOCFLAGS").current_dir(root()).stdin(Stdio::null());
    if !cargo.status()?.success() {
        return Err(format!("expected the JSON of `{name}` from rustdoc, found an error").into());
    }
    Ok(target.join("doc").join(name.replace('-', "_")).with_extension("json"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{generate, json};
    use crate::root;

    /// The version of rustdoc's JSON that `public-api` reads.
    const VERSION: u64 = 57;

    /// Returns the reason why this machine cannot make the listings, if its rustdoc writes another version.
    fn unreadable() -> Option<String> {
        let text = fs::read_to_string(json("toolwire").expect("rustdoc writes the JSON")).expect("the file is text");
        let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let found = value["format_version"].as_u64();
        (found != Some(VERSION)).then(|| format!("rustdoc writes JSON of version {found:?}, expected {VERSION}"))
    }

    #[test]
    fn the_listings_of_the_public_api_are_up_to_date() {
        if let Some(reason) = unreadable() {
            println!("skipped: {reason}");
            return;
        }
        for (path, text) in generate().expect("rustdoc writes the JSON") {
            let committed = fs::read_to_string(root().join(&path)).unwrap_or_default();
            let removed: Vec<_> = committed.lines().filter(|line| !text.lines().any(|other| other == *line)).collect();
            let new: Vec<_> = text.lines().filter(|line| !committed.lines().any(|other| other == *line)).collect();
            assert!(
                committed == text,
                "{path}: the public API has changed: if it should, run `cargo xtask api`, and write it to the \
                 changelog\n- {}\n+ {}",
                removed.join("\n- "),
                new.join("\n+ ")
            );
        }
    }
}
