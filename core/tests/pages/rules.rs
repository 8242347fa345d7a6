//! The page of the rules, by phase: what each does, what it serves, the effects it has, and a case.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
};

use serde_json::Value;
use toolwire::{
    internal::bindings::{self, Naming},
    json,
    reports::Change,
    rules::{Phase, Rule},
    sanitize_json_with_report, SanitizeOptions,
};

use super::markdown::{code, fence, GENERATED};

/// Inputs longer than this, in bytes, are no examples.
const LONGEST: usize = 600;

#[derive(Default)]
struct Seen {
    effects: BTreeSet<String>,
    dialects: BTreeSet<String>,
}

/// A case of `sanitize`.
struct Case {
    dialect: String,
    options: SanitizeOptions,
    input: String,
}

fn cases(folder: &Path) -> Vec<Case> {
    let mut files: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    files.iter().flat_map(|file| cases_of(file)).collect()
}

fn cases_of(file: &Path) -> Vec<Case> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap_or_default();
    let case = |case: &Value| {
        let options = case.get("options")?.to_string();
        Some(Case {
            dialect: case.pointer("/options/dialect")?.as_str()?.to_owned(),
            options: bindings::options::<SanitizeOptions>(&json::read(&options).ok()?, Naming::Camel).ok()?,
            input: case.get("input")?.to_string(),
        })
    };
    cases.iter().filter_map(case).collect()
}

/// What every rule was seen to do in the fixtures of `sanitize`.
fn seen(root: &Path) -> BTreeMap<&'static str, Seen> {
    let mut rules: BTreeMap<&'static str, Seen> = BTreeMap::new();
    for folder in ["tests/fixtures/sanitize", "tests/fixtures/sanitize/rules"] {
        for case in cases(&root.join(folder)) {
            let Ok(report) = sanitize_json_with_report(&case.input, &case.options) else { continue };
            for change in &report.changes {
                let seen = rules.entry(change.rule).or_default();
                let encoded = if change.encoded { ", encoded" } else { "" };
                seen.effects.insert(format!(
                    "{}{encoded}, guidance {}",
                    change.accepts.as_str(),
                    change.guidance.as_str()
                ));
                seen.dialects.insert(case.dialect.clone());
            }
        }
    }
    rules
}

pub(super) const fn title(phase: Phase) -> (&'static str, &'static str) {
    match phase {
        Phase::Envelope => ("Envelope", "What `normalizeEnvelope` repairs."),
        Phase::Canonicalize => {
            ("Canonicalize", "One spelling for one meaning: malformed values are repaired, older drafts upgraded.")
        }
        Phase::Resolve => {
            ("Resolve", "References lead to the root's `$defs`, or what they refer to takes their place.")
        }
        Phase::Legalize => {
            ("Legalize", "What the API's grammar cannot say is said in another way, or in the description.")
        }
        Phase::Encode => (
            "Encode",
            "What strict modes cannot say is sent in another form, and `restoreArguments` brings arguments back.",
        ),
        Phase::Fit => ("Fit", "Limits of size: meaning is given up step by step, the cheapest first."),
        Phase::Codex => {
            ("Codex", "What Codex does to every schema; the dialects `codex` and `codex-wire` do the same.")
        }
        Phase::List => ("List", "What `sanitizeTools` does around the schemas."),
        _ => ("Others", ""),
    }
}

/// The page.
pub(crate) fn page(root: &Path) -> String {
    let mut page = format!("{GENERATED}# Rules\n\n");
    page += "A report names a rule for every change. The rules stand here in the order of the phases that they work in. Effects are those seen in the\n";
    page += "fixtures: on the accepted arguments (`same`, `closed`, `wider`, `narrower`, `mixed`; `encoded` means that `restoreArguments` undoes it) and on what\n";
    page += "the model reads (`same`, `moved`, `lost`). Which rules a dialect needs stands on [its own page](dialects/README.md).\n";
    let seen = seen(root);
    let mut phase = None;
    for rule in Rule::ALL {
        if phase != Some(rule.phase()) {
            phase = Some(rule.phase());
            let (name, what) = title(rule.phase());
            let _ = write!(page, "\n## {name}\n\n{what}\n");
        }
        let _ = write!(page, "\n### {}\n\n{}\n", rule.id(), rule.summary());
        if !rule.serves().is_empty() {
            let served: Vec<String> = rule.serves().iter().map(|constraint| code(constraint.id())).collect();
            let _ = write!(page, "\nServes {}.\n", served.join(", "));
        }
        if let Some(seen) = seen.get(rule.id()) {
            let effects: Vec<&str> = seen.effects.iter().map(String::as_str).collect();
            let dialects: Vec<String> = seen.dialects.iter().map(|name| code(name)).collect();
            let _ = write!(page, "\nEffect: {}. In the fixtures of {}.\n", effects.join("; "), dialects.join(", "));
        }
        page += &example(root, *rule).unwrap_or_default();
    }
    page
}

/// The first case of the rule's own file.
fn example(root: &Path, rule: Rule) -> Option<String> {
    let file = root.join(format!("tests/fixtures/sanitize/rules/{}.json", rule.id()));
    let case = cases_of(&file).into_iter().find(|case| case.input.len() <= LONGEST)?;
    let report = sanitize_json_with_report(&case.input, &case.options).ok()?;
    let change: &Change = report.changes.iter().find(|change| change.rule == rule.id())?;
    let at = if change.pointer.is_empty() { "the root".to_owned() } else { code(&change.pointer) };
    let mut text = format!("\nFor `{}`, because {}:\n\n", case.dialect, change.reason);
    let _ = write!(text, "{}becomes\n\n{}", fence("json", &case.input), fence("json", &report.schema));
    let _ = write!(text, "\nAt {at}: {}\n", change.message);
    Some(text)
}
