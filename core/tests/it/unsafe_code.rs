//! Every `unsafe` of the repository is in the list of SECURITY.md with its reason, and every crate refuses all other.
#![allow(clippy::panic, clippy::expect_used, reason = "a test fails by panicking")]

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use proc_macro2::{TokenStream, TokenTree};

/// Crates outside the workspace. Users install their product, or the product contains their output.
const OTHERS: [&str; 2] = ["bindings-wasm/bindgen", "examples/cliproxyapi"];

fn count(tokens: TokenStream) -> usize {
    let of = |token| match token {
        TokenTree::Ident(word) => usize::from(word == "unsafe"),
        TokenTree::Group(group) => count(group.stream()),
        _ => 0,
    };
    tokens.into_iter().map(of).sum()
}

fn strings<'t>(text: &'t str, after: &str) -> Vec<&'t str> {
    let list = text.split_once(after).and_then(|(_, rest)| rest.split_once(']')).map_or("", |(list, _)| list);
    list.split('"').skip(1).step_by(2).collect()
}

#[test]
fn unsafe_code_is_listed_and_refused_elsewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is below the root");
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let git = ["ls-files", "--cached", "--others", "--exclude-standard", "*.rs"];
    let listed = Command::new("git").args(git).current_dir(root).output().expect("git runs").stdout;
    let mut places = BTreeMap::<String, [usize; 2]>::new();
    for path in String::from_utf8(listed).expect("paths are text").lines().filter(|path| root.join(path).exists()) {
        let count = count(read(path).parse().unwrap_or_else(|error| panic!("{path}: {error}")));
        if count > 0 {
            places.entry(path.to_owned()).or_default()[0] = count;
        }
    }
    for row in read("SECURITY.md").lines().filter(|row| row.starts_with("| `")) {
        if let [_, path, count, reason, _] = row.split('|').map(str::trim).collect::<Vec<_>>()[..] {
            let path = path.trim_matches('`');
            if path.ends_with(".rs") && !reason.is_empty() {
                places.entry(path.to_owned()).or_default()[1] = count.parse().expect("a number of places");
            }
        }
    }
    assert!(!places.is_empty(), "SECURITY.md has no list");
    for (path, [found, listed]) in &places {
        assert_eq!(found, listed, "{path}: the places with `unsafe`, and their number in the list of SECURITY.md");
    }
    let workspace = read("Cargo.toml");
    assert!(workspace.contains("\nunsafe_code = \"deny\"\n"), "Cargo.toml: the workspace has to deny `unsafe_code`");
    for member in strings(&workspace, "members = [").into_iter().chain(OTHERS) {
        let manifest = read(&format!("{member}/Cargo.toml"));
        let is_refused = ["[lints]\nworkspace = true", "\nunsafe_code = \"deny\"", "\nunsafe_code = \"forbid\""]
            .iter()
            .any(|lint| manifest.contains(lint));
        assert!(is_refused, "{member}: expected `unsafe_code` to be denied or forbidden");
    }
}
