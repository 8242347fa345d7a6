//! The page of the rules: each by the smallest fixture in which it does something, and the effects it was seen to have.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
};

use serde_json::Value;
use toolwire::{sanitize_json_with_report, Change, SanitizeOptions};

use super::markdown::{code, fence, GENERATED};

struct Example {
    dialect: String,
    input: String,
    output: String,
    change: Change,
    /// How many changes the whole schema has.
    changes: usize,
}

#[derive(Default)]
struct Seen {
    effects: BTreeSet<String>,
    dialects: BTreeSet<String>,
    example: Option<Example>,
}

/// Every rule that changes anything in the fixtures of `sanitize`.
fn seen(root: &Path) -> BTreeMap<&'static str, Seen> {
    let mut rules: BTreeMap<&'static str, Seen> = BTreeMap::new();
    let mut files: Vec<_> =
        fs::read_dir(root.join("tests/fixtures/sanitize")).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    for path in files {
        let text = fs::read_to_string(path).unwrap_or_default();
        let cases: Vec<Value> = serde_json::from_str(&text).unwrap_or_default();
        for case in cases {
            let (Some(input), Some(dialect)) = (case.get("input"), case.pointer("/options/dialect").and_then(Value::as_str)) else {
                continue;
            };
            let input = input.to_string();
            let Ok(report) = sanitize_json_with_report(&input, &SanitizeOptions::new(dialect)) else { continue };
            for change in &report.changes {
                let seen = rules.entry(change.rule).or_default();
                let encoded = if change.encoded { ", encoded" } else { "" };
                seen.effects.insert(format!("{}{encoded}, guidance {}", change.accepts.as_str(), change.guidance.as_str()));
                seen.dialects.insert(dialect.to_owned());
                // The fewest changes, then the shortest input: what is left to see is the rule.
                let size = (report.changes.len(), input.len());
                let smaller = seen.example.as_ref().is_none_or(|example| size < (example.changes, example.input.len()));
                if smaller {
                    let (input, output, change) = (input.clone(), report.schema.clone().into_owned(), change.clone());
                    seen.example = Some(Example { dialect: dialect.to_owned(), input, output, change, changes: size.0 });
                }
            }
        }
    }
    rules
}

/// The page.
pub(crate) fn page(root: &Path) -> String {
    let mut page = format!("{GENERATED}# What `sanitize` does, rule by rule\n\n");
    page += "The report names a rule for every change. Each one here has the smallest case in the fixtures in which it acts, and the effects it has\n";
    page += "there: on the accepted arguments (`same`, `wider`, `narrower`, `mixed`; `encoded` means that `restoreArguments` undoes it) and on what the\n";
    page += "model reads (`same`, `moved`, `lost`). Which rules a dialect needs stands on [its own page](dialects/README.md).\n";
    for (rule, seen) in seen(root) {
        let _ = write!(page, "\n## {rule}\n\n");
        let Some(example) = seen.example else { continue };
        let effects: Vec<String> = seen.effects.into_iter().collect();
        let dialects: Vec<String> = seen.dialects.iter().map(|name| code(name)).collect();
        let _ = writeln!(page, "Effect: {}. In the fixtures of {}.\n", effects.join("; "), dialects.join(", "));
        let _ = writeln!(page, "Because, for `{}`: {}\n", example.dialect, example.change.because);
        let _ = writeln!(page, "{}becomes\n\n{}", fence("json", &example.input), fence("json", &example.output));
        let pointer = if example.change.pointer.is_empty() { "the root".to_owned() } else { code(&example.change.pointer) };
        let _ = writeln!(page, "At {pointer}: {}", example.change.message);
    }
    page
}
