//! The body of a constraint's page: the reason, an example of a violation, the fix, and the APIs with the constraint.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use serde_json::Value;
use toolwire::{
    check, check_tools, dialects,
    internal::bindings::{self, Naming},
    json,
    rules::{Constraint, Rule},
    sanitize, sanitize_tools, SanitizeOptions, ToolsOptions,
};

use super::{
    in_code,
    markdown::{cell, code, fence, link_sources},
};

/// Maximum length of an example in bytes.
const MAX_EXAMPLE: usize = 700;

/// An input that violates a constraint.
pub(crate) struct ViolationExample {
    dialect: &'static str,
    input: String,
    is_list: bool,
    pointer: String,
    message: String,
    /// Number of violations in the input. Fewer violations make a better example.
    violations: usize,
}

/// Returns the shortest violation of each constraint in the fixtures.
pub(crate) fn found(root: &Path) -> BTreeMap<&'static str, ViolationExample> {
    let mut best: BTreeMap<&'static str, ViolationExample> = BTreeMap::new();
    let mut add = |rule: &'static str, found: ViolationExample| {
        let weight = |found: &ViolationExample| (found.violations, found.input.len());
        if found.input.len() <= MAX_EXAMPLE && best.get(rule).is_none_or(|known| weight(&found) < weight(known)) {
            best.insert(rule, found);
        }
    };
    for folder in ["check", "sanitize", "sanitize/rules"] {
        for (options, input) in cases(&root.join("tests/fixtures").join(folder)) {
            let Some(options) = json::read(&options)
                .ok()
                .and_then(|options| bindings::options::<SanitizeOptions>(&options, Naming::Camel).ok())
            else {
                continue;
            };
            let Some(dialect) = named(&options.dialect) else { continue };
            let violations = check(&input, &options).unwrap_or_default();
            let count = violations.len();
            for violation in violations {
                let (input, pointer, message) = (input.clone(), violation.pointer, violation.message);
                add(
                    violation.constraint,
                    ViolationExample { dialect, input, is_list: false, pointer, message, violations: count },
                );
            }
        }
    }
    for folder in ["checkTools", "sanitizeTools"] {
        for (options, input) in cases(&root.join("tests/fixtures").join(folder)) {
            let options: Value = serde_json::from_str(&options).unwrap_or_default();
            let listed = options.get("dialects").and_then(Value::as_array).into_iter().flatten();
            for dialect in listed.chain(options.get("dialect")).filter_map(Value::as_str).filter_map(named) {
                let violations = check_tools(&input, &[dialect]).unwrap_or_default();
                let count = violations.len();
                for violation in violations {
                    let (input, pointer, message) = (input.clone(), violation.pointer, violation.message);
                    add(
                        violation.constraint,
                        ViolationExample { dialect, input, is_list: true, pointer, message, violations: count },
                    );
                }
            }
        }
    }
    best
}

fn named(name: &str) -> Option<&'static str> {
    dialects().iter().find(|dialect| dialect.name == name).map(|dialect| dialect.name)
}

/// Returns options and input of each case as JSON text.
pub(super) fn cases(folder: &Path) -> Vec<(String, String)> {
    let mut files: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).unwrap_or_default();
        let list: Vec<Value> = serde_json::from_str(&text).unwrap_or_default();
        cases.extend(list.iter().filter_map(|case| {
            let input = match case.get("inputText").and_then(Value::as_str) {
                Some(text) => text.to_owned(),
                None => case.get("input")?.to_string(),
            };
            Some((case.get("options")?.to_string(), input))
        }));
    }
    cases
}

/// Returns the body of the page, below its heading.
pub(crate) fn body(constraint: Constraint, found: &BTreeMap<&'static str, ViolationExample>) -> String {
    let mut body = format!("\n{}\n\n**How to fix it.** {}\n", constraint.summary(), constraint.fix());
    body += &in_code::section(constraint);
    if let Some(found) = found.get(constraint.id()) {
        body += &example(found);
    }
    let facts = dialects().iter().flat_map(|dialect| {
        dialect.facts.iter().filter(|fact| fact.rules.contains(&constraint)).map(move |fact| (dialect, fact))
    });
    let mut rows = String::new();
    for (dialect, fact) in facts {
        let _ = writeln!(
            rows,
            "| [`{0}`](../dialects/{0}.md) | {1} | {2} | {3} | {4} |",
            dialect.name,
            fact.severity.as_str(),
            cell(fact.statement),
            fact.confidence,
            cell(&link_sources(fact.source))
        );
    }
    if !rows.is_empty() {
        body += "\n## Why, and for which APIs\n\n";
        body += "Confidence: `A` is official or proven, `B` is one live report, `C` is inferred.\n\n";
        let _ = write!(body, "| dialect | effect | fact | confidence | source |\n|---|---|---|---|---|\n{rows}");
    }
    let serving: Vec<String> = Rule::ALL
        .iter()
        .filter(|rule| rule.serves().contains(&constraint))
        .map(|rule| format!("[`{0}`]({0}.md)", rule.id()))
        .collect();
    if !serving.is_empty() {
        let _ = write!(body, "\nChanges of `sanitize` that fix it: {}.\n", serving.join(", "));
    }
    body
}

fn example(found: &ViolationExample) -> String {
    let ViolationExample { dialect, input, is_list, pointer, message, .. } = found;
    let at = if pointer.is_empty() { "the root".to_owned() } else { code(pointer) };
    let mut text = format!("\n## Bad\n\nFor [`{dialect}`](../dialects/{dialect}.md), at {at}: {message}\n\n");
    text += &fence("json", input);
    let good = if *is_list {
        sanitize_tools(input, &ToolsOptions::new(*dialect))
            .ok()
            .filter(|written| written.quarantined.is_empty())
            .map(|written| written.tools.into_owned())
    } else {
        sanitize(input, &SanitizeOptions::new(*dialect)).ok().map(|written| written.schema.into_owned())
    };
    match good {
        Some(good) if good != *input => {
            let function = if *is_list { "sanitizeTools" } else { "sanitize" };
            let _ = write!(text, "\n## Good\n\nThe output of `{function}`:\n\n{}", fence("json", &good));
        }
        _ => text += "\n`sanitize` cannot fix this: change it yourself.\n",
    }
    text
}
