//! The section of a constraint: the fix, an example of a violation, and the APIs with the constraint.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
};

use serde_json::Value;
use toolwire::{
    check, check_tools, dialects,
    internal::{
        bindings::{self, Naming},
        json,
    },
    options::Use,
    reports::Severity,
    rules::{Constraint, Rule},
    sanitize, sanitize_tools, Dialect, SanitizeOptions, ToolsOptions,
};

use super::{
    in_code,
    markdown::{code, fence, folded},
};
use crate::id;

/// Maximum size of an example, in bytes.
const MAX_EXAMPLE: usize = 700;

/// An input that violates a constraint, and the output that does not violate it.
pub(crate) struct ViolationExample {
    dialect: &'static str,
    used_as: Use,
    input: String,
    is_list: bool,
    severity: Severity,
    pointer: String,
    message: String,
    /// Fewer violations make a better example.
    violations: usize,
    /// Output of `sanitize` or `sanitizeTools`, if it does not violate the constraint.
    fixed: Option<String>,
}

impl ViolationExample {
    fn weight(&self) -> (bool, usize, usize) {
        (self.fixed.is_none(), self.violations, self.input.len())
    }
}

/// The best example of each constraint.
#[derive(Default)]
struct BestExamples(BTreeMap<&'static str, ViolationExample>);

impl BestExamples {
    fn add(&mut self, rule: &'static str, found: ViolationExample) {
        if found.input.len() <= MAX_EXAMPLE && self.0.get(rule).is_none_or(|known| found.weight() < known.weight()) {
            self.0.insert(rule, found);
        }
    }

    /// Adds the violations of a schema as examples of the constraints that `wanted` selects.
    fn add_schema(&mut self, input: &str, options: &SanitizeOptions, wanted: &dyn Fn(&str) -> bool) {
        let Some(dialect) = dialect_name(options.dialect.as_str()).filter(|_| input.len() <= MAX_EXAMPLE) else {
            return;
        };
        let violations = check(input, options).unwrap_or_default();
        if !violations.iter().any(|violation| wanted(violation.constraint.id())) {
            return;
        }
        let output = sanitize(input, options).ok().map(|written| written.schema.into_owned());
        let remaining = output.as_ref().map(|output| check(output.as_str(), options).unwrap_or_default());
        let count = violations.len();
        for violation in violations.into_iter().filter(|violation| wanted(violation.constraint.id())) {
            let rule = violation.constraint;
            let is_gone =
                remaining.as_ref().is_some_and(|remaining| remaining.iter().all(|found| found.constraint != rule));
            let found = ViolationExample {
                dialect,
                used_as: options.used_as,
                input: input.to_owned(),
                is_list: false,
                severity: violation.severity,
                pointer: violation.pointer,
                message: violation.message,
                violations: count,
                fixed: output.clone().filter(|_| is_gone),
            };
            self.add(rule.id(), found);
        }
    }

    fn add_list(&mut self, input: &str, dialect: &'static str, wanted: &dyn Fn(&str) -> bool) {
        let violations = check_tools(input, &[id(dialect)]).unwrap_or_default();
        if !violations.iter().any(|violation| wanted(violation.constraint.id())) {
            return;
        }
        let written = sanitize_tools(input, &ToolsOptions::new(id(dialect))).ok();
        let output = written.filter(|written| written.quarantined.is_empty()).map(|written| written.tools.into_owned());
        let remaining = output.as_ref().map(|output| check_tools(output.as_str(), &[id(dialect)]).unwrap_or_default());
        let count = violations.len();
        for violation in violations.into_iter().filter(|violation| wanted(violation.constraint.id())) {
            let rule = violation.constraint;
            let is_gone =
                remaining.as_ref().is_some_and(|remaining| remaining.iter().all(|found| found.constraint != rule));
            let found = ViolationExample {
                dialect,
                used_as: Use::Tool,
                input: input.to_owned(),
                is_list: true,
                severity: violation.severity,
                pointer: violation.pointer,
                message: violation.message,
                violations: count,
                fixed: output.clone().filter(|_| is_gone),
            };
            self.add(rule.id(), found);
        }
    }
}

/// Returns the best example of each constraint from the fixtures. If no fixture with its options has a fix, every
/// schema is tried in every dialect with the constraint, also as a response format.
pub(crate) fn find_examples(root: &Path) -> BTreeMap<&'static str, ViolationExample> {
    let mut best = BestExamples::default();
    let (mut schemas, mut lists) = (BTreeSet::new(), BTreeSet::new());
    for folder in ["check", "sanitize", "sanitize/rules"] {
        for (options, input) in cases(&root.join("tests/fixtures").join(folder)) {
            let read = json::read(&options).ok();
            let read = read.and_then(|options| bindings::options::<SanitizeOptions>(&options, Naming::Camel).ok());
            if let Some(options) = read {
                best.add_schema(&input, &options, &|_| true);
                schemas.insert(input);
            }
        }
    }
    for folder in ["checkTools", "sanitizeTools"] {
        for (options, input) in cases(&root.join("tests/fixtures").join(folder)) {
            let options: Value = serde_json::from_str(&options).unwrap_or_default();
            let listed = options.get("dialects").and_then(Value::as_array).into_iter().flatten();
            for dialect in listed.chain(options.get("dialect")).filter_map(Value::as_str).filter_map(dialect_name) {
                best.add_list(&input, dialect, &|_| true);
            }
            lists.insert(input);
        }
    }
    let is_open =
        |best: &BestExamples, rule: &Constraint| best.0.get(rule.id()).is_some_and(|found| found.fixed.is_none());
    for dialect in dialects() {
        let rules = Constraint::ALL.iter().filter(|rule| dialect.facts.iter().any(|fact| fact.rules.contains(rule)));
        let open: Vec<&str> = rules.filter(|rule| is_open(&best, rule)).map(|rule| rule.id()).collect();
        let wanted = |rule: &str| open.contains(&rule);
        if open.is_empty() {
            continue;
        }
        for used_as in [Use::Tool, Use::Response] {
            let options = SanitizeOptions::new(dialect.id()).used_as(used_as);
            schemas.iter().for_each(|input| best.add_schema(input, &options, &wanted));
        }
        lists.iter().for_each(|input| best.add_list(input, dialect.name, &wanted));
    }
    best.0
}

fn dialect_name(name: &str) -> Option<&'static str> {
    dialects().iter().find(|dialect| dialect.name == name).map(|dialect| dialect.name)
}

/// Returns the options and the input of each case, as JSON text.
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

pub(crate) fn body(constraint: Constraint, found: &BTreeMap<&'static str, ViolationExample>) -> String {
    let mut body = format!("\n{} **Fix:** {}\n", constraint.summary(), constraint.fix());
    body += &in_code::section(constraint);
    if let Some(found) = found.get(constraint.id()) {
        body += &example(found);
    }
    let mut sentences = Vec::new();
    for effect in [Severity::Refused, Severity::Reinterpreted, Severity::Ignored] {
        let has_fact = |dialect: &&Dialect| {
            dialect.facts.iter().any(|fact| fact.severity == effect && fact.rules.contains(&constraint))
        };
        let names: Vec<&str> = dialects().iter().filter(has_fact).map(|dialect| dialect.name).collect();
        if !names.is_empty() {
            let others: Vec<&str> =
                dialects().iter().map(|dialect| dialect.name).filter(|name| !names.contains(name)).collect();
            let by = match others.len() {
                0 => "all dialects".to_owned(),
                few if few < names.len() => format!("all dialects except {}", dialect_links(&others)),
                _ => dialect_links(&names),
            };
            sentences.push(format!("{} by {by}.", capitalize(effect.as_str())));
        }
    }
    let serving: Vec<String> = Rule::ALL
        .iter()
        .filter(|rule| rule.serves().contains(&constraint))
        .map(|rule| format!("[`{0}`](#{0})", rule.id()))
        .collect();
    if !serving.is_empty() {
        sentences.push(format!("Fixed by {}.", serving.join(", ")));
    }
    if !sentences.is_empty() {
        let _ = write!(body, "\n{}\n", sentences.join(" "));
    }
    body
}

/// Returns links to the facts of dialects.
pub(super) fn dialect_links(dialects: &[&str]) -> String {
    dialects.iter().map(|name| format!("[`{name}`](dialects/{name}.md)")).collect::<Vec<_>>().join(", ")
}

fn capitalize(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

fn example(found: &ViolationExample) -> String {
    let ViolationExample { dialect, used_as, input, is_list, severity, pointer, message, fixed, .. } = found;
    let at = if pointer.is_empty() { "the root".to_owned() } else { code(pointer) };
    let format = if *used_as == Use::Response { ", as a response format (`use: \"response\"`)" } else { "" };
    let mut text = format!("For [`{dialect}`](dialects/{dialect}.md){format}, at {at}: {message}\n\n");
    text += &fence("json", input);
    match fixed {
        Some(good) => {
            let function = if *is_list { "sanitizeTools" } else { "sanitize" };
            let _ = write!(text, "\nThe output of `{function}`:\n\n{}", fence("json", good));
        }
        None if *severity == Severity::Ignored => text += "\n`sanitize` leaves this, because the API accepts it.\n",
        None => text += "\n`sanitize` cannot fix this: change it yourself.\n",
    }
    folded(&text)
}
