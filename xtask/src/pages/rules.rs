//! The page of all rules of `sanitize` and of `check`, with a section for each.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
};

use serde_json::Value;
use toolwire::{
    internal::{
        bindings::{self, Naming},
        json,
    },
    normalize_envelope,
    reports::Change,
    rules::{Constraint, Phase, Rule},
    sanitize, sanitize_tools, SanitizeOptions, ToolsOptions,
};

use super::{
    constraints,
    markdown::{code, fence, folded, GENERATED},
};

/// In bytes.
const MAX_EXAMPLE: usize = 600;

#[derive(Default)]
struct Usage {
    effects: BTreeSet<String>,
    dialects: BTreeSet<String>,
}

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

/// Effects of every rule that occur in the fixtures of `sanitize`.
fn effects_by_rule(root: &Path) -> BTreeMap<&'static str, Usage> {
    let mut rules: BTreeMap<&'static str, Usage> = BTreeMap::new();
    for folder in ["tests/fixtures/sanitize", "tests/fixtures/sanitize/rules"] {
        for case in cases(&root.join(folder)) {
            let Ok(report) = sanitize(&case.input, &case.options) else { continue };
            for change in report.changes().expect("a report") {
                let seen = rules.entry(change.rule.id()).or_default();
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
        Phase::Envelope => ("Envelope", "Repairs that `normalizeEnvelope` makes."),
        Phase::Canonicalize => {
            ("Canonicalize", "One form for each meaning: malformed values are repaired, older drafts upgraded.")
        }
        Phase::Resolve => ("Resolve", "References point to the root's `$defs`, or are replaced by their targets."),
        Phase::Legalize => {
            ("Legalize", "Constructs that the API's grammar cannot express are replaced by equivalents, or moved to the description.")
        }
        Phase::Encode => (
            "Encode",
            "Values that strict modes cannot express are encoded, and `restoreArguments` restores the arguments.",
        ),
        Phase::Fit => ("Fit", "Size limits: meaning is dropped step by step, the least costly first."),
        Phase::Codex => {
            ("Codex", "The steps that Codex applies to every schema, emulated by the dialects `codex` and `codex-wire`.")
        }
        Phase::List => ("List", "The changes that `sanitizeTools` makes outside the schemas."),
        _ => ("Others", ""),
    }
}

/// `up` is the relative path to `docs/`.
pub(super) fn link(up: &str, rule: &str) -> String {
    format!("[`{rule}`]({up}rules.md#{rule})")
}

/// The page of the site with the same sections has a filter by word, kind and dialect.
const HEAD: &str = "# Rules: what APIs demand, and what toolwire changes

[What APIs demand](#what-apis-demand) lists the rules whose violations `check`, `checkTools` and `toolwire check` find. The other sections list the changes
that `sanitize` and `sanitizeTools` name in their reports, by phase, in the order in which the phases run. The page of each [dialect](dialects/README.md) has the facts
behind its rules, with sources and confidence.
";

/// Returns the page.
pub(crate) fn page(root: &Path) -> String {
    let found = constraints::find_examples(root);
    let seen = effects_by_rule(root);
    let change = |rule: &Rule| body_of(root, *rule, seen.get(rule.id()));
    let mut page = format!("{GENERATED}{HEAD}\n## What APIs demand\n");
    let mut written = BTreeSet::new();
    for constraint in Constraint::ALL {
        let id = constraint.id();
        written.insert(id);
        let _ = write!(page, "\n### {id}\n{}", constraints::body(*constraint, &found));
        if let Some(rule) = Rule::ALL.iter().find(|rule| rule.id() == id) {
            let _ = write!(page, "\n**The change with this name.** {}", change(rule).trim_start());
        }
    }
    let mut phase = None;
    for rule in Rule::ALL {
        if phase != Some(rule.phase()) {
            phase = Some(rule.phase());
            let (name, what) = title(rule.phase());
            let _ = write!(page, "\n## {name}\n\n{what}\n");
        }
        if written.insert(rule.id()) {
            let _ = write!(page, "\n### {}\n{}", rule.id(), change(rule));
        }
    }
    page
}

fn body_of(root: &Path, rule: Rule, seen: Option<&Usage>) -> String {
    let mut body = format!("\n{}", rule.summary());
    if !rule.serves().is_empty() {
        let served = rule.serves().iter().map(|constraint| format!("[`{0}`](#{0})", constraint.id()));
        let _ = write!(body, " It fixes {}.", served.collect::<Vec<_>>().join(", "));
    }
    body += "\n";
    let example =
        example(root, rule).or_else(|| example_of_tools(root, rule)).or_else(|| example_of_envelope(root, rule));
    body += &example.unwrap_or_default();
    if let Some(seen) = seen {
        let effects: Vec<&str> = seen.effects.iter().map(String::as_str).collect();
        let dialects: Vec<&str> = seen.dialects.iter().map(String::as_str).collect();
        let _ = write!(
            body,
            "\nEffect on the accepted arguments, and on what the model reads: {}. In the fixtures of {}.\n",
            effects.join("; "),
            constraints::dialect_links(&dialects)
        );
    }
    body
}

/// The first short case in the rule's own file.
fn example(root: &Path, rule: Rule) -> Option<String> {
    let file = root.join(format!("tests/fixtures/sanitize/rules/{}.json", rule.id()));
    let case = cases_of(&file).into_iter().find(|case| case.input.len() <= MAX_EXAMPLE)?;
    let report = sanitize(&case.input, &case.options).ok()?;
    let change: &Change = report.changes().expect("a report").iter().find(|change| change.rule == rule)?;
    let at = if change.pointer.is_empty() { "the root".to_owned() } else { code(&change.pointer) };
    let mut text = format!("For [`{0}`](dialects/{0}.md), because {1}:\n\n", case.dialect, change.reason);
    let _ = write!(text, "{}\nbecomes\n\n{}", fence("json", &case.input), fence("json", &report.schema));
    let _ = write!(text, "\nAt {at}: {}\n", change.message);
    Some(folded(&text))
}

/// The shortest tool list that the rule changes.
fn example_of_tools(root: &Path, rule: Rule) -> Option<String> {
    let written =
        constraints::cases(&root.join("tests/fixtures/sanitizeTools")).into_iter().filter_map(|(options, input)| {
            let options = bindings::options::<ToolsOptions>(&json::read(&options).ok()?, Naming::Camel).ok()?;
            let written = sanitize_tools(&input, &options).ok()?;
            let change =
                written.changes().expect("a report").iter().find(|change| change.change.rule == rule)?.change.clone();
            let dialect = options.sanitize.dialect;
            Some((dialect, change, written.tools.into_owned(), input)).filter(|(.., input)| input.len() <= MAX_EXAMPLE)
        });
    let (dialect, change, good, input) = written.min_by_key(|(.., input)| input.len())?;
    let mut text = format!("For [`{dialect}`](dialects/{dialect}.md), because {}:\n\n", change.reason);
    let _ = write!(text, "{}\nbecomes\n\n{}", fence("json", &input), fence("json", &good));
    let _ = write!(text, "\nAt {}: {}\n", code(&change.pointer), change.message);
    Some(folded(&text))
}

/// The shortest envelope that the rule changes.
fn example_of_envelope(root: &Path, rule: Rule) -> Option<String> {
    let written =
        constraints::cases(&root.join("tests/fixtures/normalizeEnvelope")).into_iter().filter_map(|(_, input)| {
            let written = normalize_envelope(&input).ok()?;
            let change = written.changes().expect("a report").iter().find(|change| change.rule == rule)?.clone();
            Some((change, written.schema.into_owned(), input.clone()))
        });
    let (change, good, input) = written.min_by_key(|(.., input)| input.len())?;
    let mut text = String::from("With `normalizeEnvelope`:\n\n");
    let _ = write!(text, "{}\nbecomes\n\n{}", fence("json", &input), fence("json", &good));
    let _ = write!(text, "\n{}\n", change.message);
    Some(folded(&text))
}
