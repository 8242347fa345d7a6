//! The page of messages: all messages of reports, violations and errors that the fixtures produce, collected for
//! review.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use serde_json::{json, Value};
use toolwire::{
    internal::{
        bindings::{call_text, describe_error, Function, Naming},
        json,
    },
    reports::RepairRule,
    rules::{Constraint, Rule},
    Code,
};

use super::{
    markdown::{code, GENERATED},
    rules,
};

/// If more messages than this differ only in the text in backticks, they are merged.
const MANY: usize = 2;

/// Messages by the id of a rule, a constraint or a code.
type MessagesById = BTreeMap<String, BTreeSet<String>>;

#[derive(Default)]
struct Messages {
    changes: MessagesById,
    violations: MessagesById,
    repairs: MessagesById,
    /// By keyword.
    arguments: MessagesById,
    errors: MessagesById,
}

impl Messages {
    fn of(root: &Path) -> Self {
        let words = Words::of(&root.join("core/src"));
        let mut messages = Self::default();
        for function in Function::ALL {
            for case in cases(&root.join("tests/fixtures").join(function.name())) {
                for (function, inputs, options) in calls(*function, &case) {
                    messages.run(function, &inputs, &options, &words);
                }
            }
        }
        messages
    }

    fn run(&mut self, function: Function, inputs: &[String], options: &str, words: &Words) {
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let Ok(options) = json::read(options) else { return };
        match call_text(function, &inputs, &options, Naming::Camel, true) {
            Ok(answer) => {
                if let Some(report) = answer.report {
                    self.collect(&json::write(&report), words, false);
                }
                if matches!(
                    function,
                    Function::Check | Function::CheckTools | Function::ValidateArguments | Function::ValidateResult
                ) {
                    self.collect(&answer.text, words, true);
                }
            }
            Err(error) => self.collect(&json::write(&describe_error(&error)), words, false),
        }
    }

    fn collect(&mut self, text: &str, words: &Words, are_violations: bool) {
        let Ok(value) = serde_json::from_str(text) else { return };
        self.collect_from(&value, words, are_violations);
    }

    /// Collects the messages in a report. A message next to a rule belongs to a change or a violation, and a message
    /// next to a code belongs to an error.
    fn collect_from(&mut self, value: &Value, words: &Words, are_violations: bool) {
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        if let Some(message) = text("message") {
            let is_rule = |id: &str| Rule::ALL.iter().any(|rule| rule.id() == id);
            let about = match (text("rule").or(text("constraint")), text("code").or(text("keyword"))) {
                (Some(rule), _) if text("confidence").is_some() && text("from").is_some() => {
                    Some((&mut self.repairs, rule, false))
                }
                (None, Some(keyword)) if text("keyword").is_some() => Some((&mut self.arguments, keyword, false)),
                (Some(rule), _) if !are_violations && is_rule(rule) => Some((&mut self.changes, rule, false)),
                (Some(rule), _) if Constraint::ALL.iter().any(|constraint| constraint.id() == rule) => {
                    Some((&mut self.violations, rule, false))
                }
                // A tool that is set aside has the code of its error.
                (Some(name), _) | (None, Some(name)) => Some((&mut self.errors, name, true)),
                (None, None) => None,
            };
            if let Some((by_id, id, is_error)) = about {
                // Messages of repairs are the same for all inputs, except for the byte and the two names.
                let message = match text("from").and_then(|_| message.rsplit_once(" (byte ")) {
                    Some((message, _)) => format!("{message} (byte N)"),
                    None if text("from").is_some() && !message.contains("declared name") => message.to_owned(),
                    None => words.normalize(message, is_error),
                };
                by_id.entry(id.to_owned()).or_default().insert(message);
            }
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.collect_from(item, words, are_violations)),
            Value::Object(members) => {
                members.values().for_each(|member| self.collect_from(member, words, are_violations))
            }
            _ => {}
        }
    }
}

fn cases(folder: &Path) -> Vec<Value> {
    let mut files = files(folder, "json");
    files.sort();
    files
        .iter()
        .flat_map(|file| {
            serde_json::from_str::<Vec<Value>>(&fs::read_to_string(file).unwrap_or_default()).unwrap_or_default()
        })
        .collect()
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let below = entries.flat_map(|path| if path.is_dir() { files(&path, ending) } else { vec![path] });
    below.filter(|path| path.extension().is_some_and(|found| found == ending)).collect()
}

/// Returns the call of a case, and the call that checks its input.
fn calls(function: Function, case: &Value) -> Vec<(Function, Vec<String>, String)> {
    let options = case.get("options").cloned().unwrap_or(Value::Null);
    let input = case.get("input").cloned().unwrap_or(Value::Null);
    let member = |name: &str| input.get(name).cloned().unwrap_or(Value::Null);
    let inputs = match function {
        // Regular expressions are not in every build, but the page must be the same for all builds.
        Function::SearchTools | Function::AnswerToolSearch
            if options.get("mode").is_some_and(|mode| mode == "regex") =>
        {
            return Vec::new()
        }
        Function::SearchTools => {
            vec![member("tools").to_string(), member("query").as_str().unwrap_or_default().to_owned()]
        }
        Function::AnswerToolSearch => vec![member("call").to_string(), member("tools").to_string()],
        Function::RestoreArguments
        | Function::RepairArguments
        | Function::ValidateArguments
        | Function::ValidateResult
        | Function::FitResult => {
            vec![text(case), case.get("schema").cloned().unwrap_or(Value::Null).to_string()]
        }
        _ => vec![text(case)],
    };
    let dialects: Vec<&Value> = ["dialect", "fallback"].iter().filter_map(|name| options.get(name)).collect();
    let repeated = match function {
        Function::Sanitize => Some((Function::Check, inputs.clone(), options.to_string())),
        Function::SanitizeTools => {
            Some((Function::CheckTools, inputs.clone(), json!({ "dialects": dialects }).to_string()))
        }
        _ => None,
    };
    [Some((function, inputs, options.to_string())), repeated].into_iter().flatten().collect()
}

fn text(case: &Value) -> String {
    let part = |part: &Value| {
        let times =
            part.get(1).and_then(Value::as_u64).and_then(|times| usize::try_from(times).ok()).unwrap_or_default();
        part.get(0).and_then(Value::as_str).unwrap_or_default().repeat(times)
    };
    match (case.get("inputText"), case.get("inputParts")) {
        (Some(Value::String(text)), _) => text.clone(),
        (_, Some(Value::Array(parts))) => parts.iter().map(part).collect(),
        _ => case.get("input").cloned().unwrap_or(Value::Null).to_string(),
    }
}

/// The words that are in backticks in the core's own messages, and keywords. All other text in backticks comes from the
/// input.
struct Words {
    core_words: BTreeSet<String>,
    /// Only errors mention options.
    options: BTreeSet<String>,
}

impl Words {
    fn of(source: &Path) -> Self {
        let (mut core_words, mut options) = (BTreeSet::new(), BTreeSet::new());
        for file in files(source, "rs").iter().filter(|file| !file.to_string_lossy().contains("tests")) {
            let text = fs::read_to_string(file).unwrap_or_default();
            let quoted = || text.split('"').skip(1).step_by(2).map(str::to_owned);
            for line in text.lines().map(str::trim_start).filter(|line| !line.starts_with("//")) {
                let line = line.replace("\\\"", "\"").replace("{{", "{").replace("}}", "}");
                core_words.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
            }
            if file.ends_with("schema/keyword.rs") {
                core_words.extend(quoted());
            }
            if file.parent().is_some_and(|folder| folder.ends_with("options")) {
                options.extend(quoted());
            }
        }
        Self { core_words, options }
    }

    /// Replaces text from the input with `…`, and numbers with N.
    fn normalize(&self, message: &str, is_error: bool) -> String {
        let mut out = String::new();
        for (index, part) in message.split('`').enumerate() {
            match (index % 2, self.core_words.contains(part) || (is_error && self.options.contains(part))) {
                (0, _) => out += &numbers(part),
                (_, true) => out += &format!("`{part}`"),
                (_, false) => out += "`…`",
            }
        }
        for before in ["found", "replaced", "removed", "repaired"] {
            for kind in ["a boolean", "a number", "a string", "an array", "an object", "null"] {
                out = out.replace(&format!("{before} {kind}"), &format!("{before} K"));
            }
        }
        shorten_lists(&out.replace('\n', " "))
    }
}

/// Shortens a list of items in backticks to one item.
fn shorten_lists(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let is_between = |index: usize| index % 2 == 0 && parts.get(index) == Some(&", ");
    let is_listed = |index: usize| index % 2 == 1 && (is_between(index + 1) || is_between(index - 1));
    let mut out: Vec<&str> = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        match (is_listed(index), is_between(index)) {
            (true, _) if !is_between(index - 1) => out.push("…"),
            (true, _) | (_, true) => {}
            _ => out.push(part),
        }
    }
    out.join("`")
}

fn form(message: &str) -> String {
    message
        .split('`')
        .enumerate()
        .map(|(index, part)| if index % 2 == 1 { "…" } else { part })
        .collect::<Vec<_>>()
        .join("`")
}

/// Returns true if `message` equals `wider`, except for names in place of `…`.
fn covers(wider: &str, message: &str) -> bool {
    let (wider, parts): (Vec<&str>, Vec<&str>) = (wider.split('`').collect(), message.split('`').collect());
    let same = |(index, (wide, part)): (usize, (&&str, &&str))| wide == part || (index % 2 == 1 && *wide == "…");
    wider.len() == parts.len() && wider.iter().zip(&parts).enumerate().all(same)
}

/// Replaces whole numbers with N. `2020-12` is a name.
fn numbers(text: &str) -> String {
    let word = |word: &str| {
        let digits = word.trim_matches(['(', ')', ',', ';', '.', ':']);
        let is_number = digits.starts_with(|first: char| first.is_ascii_digit())
            && digits.chars().all(|char| char.is_ascii_digit() || ",.".contains(char));
        if is_number {
            word.replace(digits, "N")
        } else {
            word.to_owned()
        }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

pub(crate) fn page(root: &Path) -> String {
    let messages = Messages::of(root);
    let mut page = format!("{GENERATED}# Messages\n\n");
    page += "This page lists all messages that toolwire shows to people: the messages of changes, violations, repairs \
    and errors that the calls in\n";
    page += "[the fixtures](../tests/fixtures/README.md) produce. `…` stands for a name or a value, N for a number, K for a type of JSON value. Messages may change in any\n";
    page += "release; programs should use the rule or the code. Not included: searches by regular expression, HTTP \
    exchanges, and the command line's own texts.\n";
    page += "\n## Changes\n\nBy [rule](rules.md), in the order of the phases.\n";
    let mut phase = None;
    for rule in Rule::ALL {
        if phase != Some(rule.phase()) {
            phase = Some(rule.phase());
            let _ = write!(page, "\n### {}\n\n", rules::title(rule.phase()).0);
        }
        page += &entry(rule.id(), &messages.changes);
    }
    page += "\n## Violations\n\nBy constraint: the findings of `check` and `checkTools`.\n\n";
    for constraint in Constraint::ALL {
        page += &entry(constraint.id(), &messages.violations);
    }
    page += "\n## Repairs\n\nBy rule: the repairs of [`repairArguments`](functions/arguments.md#repairarguments). N is a byte offset.\n\n";
    for rule in RepairRule::ALL {
        page += &entry(rule.as_str(), &messages.repairs);
    }
    page += "\n## Arguments\n\nBy keyword: the findings of [`validateArguments`](functions/arguments.md#validatearguments), and those that \
        [`repairArguments`](functions/arguments.md#repairarguments) leaves.\n\n";
    for keyword in messages.arguments.keys() {
        page += &entry(keyword, &messages.arguments);
    }
    page += "\n## Errors\n\nBy [code](functions/README.md).\n\n";
    for code in Code::ALL {
        page += &entry(code.as_str(), &messages.errors);
    }
    let known: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    for id in messages.errors.keys().filter(|id| !known.contains(id.as_str())) {
        page += &entry(id, &messages.errors);
    }
    page
}

fn entry(id: &str, by_id: &MessagesById) -> String {
    let Some(messages) = by_id.get(id) else { return format!("- {}: *no fixture produces it*\n", code(id)) };
    let mut entry = format!("- {}\n", code(id));
    let mut forms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    // A message that names part of the input covers the same message that names a keyword.
    for message in
        messages.iter().filter(|message| !messages.iter().any(|wider| wider != *message && covers(wider, message)))
    {
        forms.entry(form(message)).or_default().insert(message.clone());
    }
    // A message that exists for many keywords is listed once.
    for message in forms
        .into_iter()
        .flat_map(|(form, messages)| if messages.len() > MANY { BTreeSet::from([form]) } else { messages })
    {
        let _ = writeln!(entry, "  - {}", message.replace('<', "\\<"));
    }
    entry
}
