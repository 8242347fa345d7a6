//! The names by which tables, rules and facts find each other: a name that nothing has would be silence.
#![allow(clippy::panic, reason = "a test stops where it cannot go on")]

extern crate std;

use alloc::{format, string::String, vec::Vec};
use std::{collections::BTreeSet, fs, path::Path};

use super::rule::ALL;
use crate::dialect::{Method, DIALECTS, SERVES};

/// The rules of `check_tools`: what a request breaks, whatever its schemas say (see dialect/surface.rs).
const OF_REQUESTS: &[&str] = &[
    "tool-name",
    "strict-flag",
    "no-arguments",
    "description-length",
    "empty-description",
    "too-many-tools",
    "too-many-strict-tools",
    "too-many-optional-properties",
    "too-many-unions",
];

/// Rules of `sanitize` that no single fact asks for: they repair what is no schema in any language, tidy up what other rules leave,
/// or say more than any validator insists on.
const GENERAL: &[&str] = &[
    "drop-identifier",
    "drop-impossible-branch",
    "loosen-unique-items",
    "merge-conflict",
    "merge-in-doubt",
    "merge-texts",
    "prune-definition",
    "respell-dependencies",
    "respell-schema",
];

fn sources(folder: &Path, into: &mut String) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            sources(&path, into);
        } else {
            into.push_str(&fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
        }
    }
}

/// The names of all rules of `sanitize`, as its files spell them.
fn rules_of_sanitize() -> BTreeSet<String> {
    let mut text = String::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sanitize"), &mut text);
    // One name is needed by `restore_arguments` too, so it is a constant.
    let named = ["Effect::same(\"", "const RENAME: &str = \""].into_iter().flat_map(|before| text.split(before).skip(1));
    named.filter_map(|rest| rest.split('"').next()).map(String::from).collect()
}

fn is_of_check(name: &str) -> bool {
    ALL.iter().any(|rule| rule.name() == name)
}

#[test]
fn facts_name_rules_that_there_are() {
    let mut faults = Vec::new();
    for dialect in DIALECTS.iter().filter(|dialect| !matches!(dialect.method, Method::Codex { .. })) {
        for rule in dialect.facts.iter().flat_map(|fact| fact.rules) {
            if !is_of_check(rule) && !OF_REQUESTS.contains(rule) {
                faults.push(format!("{}: a fact names `{rule}`, which is no rule of `check`", dialect.name));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn rules_prevent_what_there_is() {
    let known = rules_of_sanitize();
    let mut faults = Vec::new();
    for (rule, prevents) in SERVES {
        if !known.contains(*rule) {
            faults.push(format!("`{rule}` is no rule of `sanitize`"));
        }
        for checked in prevents.iter().filter(|checked| !is_of_check(checked)) {
            faults.push(format!("`{rule}` prevents `{checked}`, which is no rule of `check`"));
        }
    }
    for rule in &known {
        let (serves, is_general) = (SERVES.iter().any(|(name, _)| name == rule), GENERAL.contains(&rule.as_str()));
        if serves == is_general {
            let which = if serves { "both" } else { "neither" };
            faults.push(format!("`{rule}` stands in {which} of the tables: dialect/serves.rs, or GENERAL here"));
        }
    }
    for rule in GENERAL.iter().filter(|rule| !known.contains(**rule)) {
        faults.push(format!("`{rule}` is no rule of `sanitize`"));
    }
    assert!(faults.is_empty(), "{} faults: {faults:#?}", faults.len());
}
