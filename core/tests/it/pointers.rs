//! The pointers of reports: each points to a part of the given input, and the part belongs to the tool that the entry
//! names. Pointers to parts of the output do the same for the output.
//!
//! The inputs come from all fixtures and exchanges, the requests of `marks`, and recorded requests, if they exist
//! next to the checkout. Each request is also adapted to other backends. `TOOLWIRE_POINTERS=KIND` prints the inputs of
//! the faults whose kind contains `KIND`.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use crate::print_uncaptured;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::marks::generator::{request, Marker, APIS};
use serde_json::{json, Value};
use toolwire::{
    internal::{
        bindings::{self, call, Function, Naming},
        describe,
        json::{write, Node},
    },
    Exchange, ExchangeOptions, Restore,
};

/// Numbers of faults and an example, by kind.
type Faults = BTreeMap<String, (usize, String)>;

/// The backends to which every request is adapted, in addition to its own: a dialect, and the options of deferred
/// tools.
const WAYS: [(&str, &str, &str); 18] = [
    ("anthropic", "anthropic", "none"),
    ("anthropic-strict", "anthropic", "references"),
    ("anthropic", "anthropic", "changes"),
    ("anthropic-strict", "anthropic", "inline"),
    ("openai-strict", "openai-chat", "none"),
    ("xai", "openai-responses", "none"),
    ("openai-strict", "openai-responses", "additional-tools"),
    ("xai", "openai-responses", "tool-search"),
    ("moonshot", "openai-chat", "kimi"),
    ("gemini-interactions", "gemini-interactions", "none"),
    ("gemini-interactions", "gemini-interactions", "interactions"),
    ("gemini", "gemini", "none"),
    ("bedrock", "bedrock", "none"),
    ("bedrock", "bedrock", "converse"),
    ("deepseek", "openai-chat", "none"),
    ("azure-strict", "openai-responses", "none"),
    ("cohere", "openai-chat", "none"),
    ("portable", "anthropic", "none"),
];

/// Number of backends for each request.
const BACKENDS: usize = 4;

/// Returns the pointers to all enclosing parts, from the outermost one to the pointer itself.
fn prefixes(pointer: &str) -> impl DoubleEndedIterator<Item = &str> {
    let mut ends: Vec<usize> = pointer.match_indices('/').map(|(at, _)| at).collect();
    ends.push(pointer.len());
    ends.into_iter().map(|end| &pointer[..end])
}

/// The rules about a member that a tool lacks. They point to this member.
const MISSING: [&str; 1] = ["nameless-tool"];

/// Returns true if the part of an entry exists, or could be added to an object.
fn resolves(input: &Value, pointer: &str, rule: &Value) -> bool {
    let above = pointer.rsplit_once('/').map(|(above, _)| above);
    let is_missing = MISSING.iter().any(|known| rule == known);
    input.pointer(pointer).is_some() || is_missing && above.and_then(|above| input.pointer(above)).is_some()
}

fn names_of(entry: &Value) -> Vec<&str> {
    let inner = ["function", "custom", "toolSpec", "tool"].into_iter().filter_map(|key| entry.get(key));
    inner.chain([entry]).filter_map(|holder| holder["name"].as_str()).collect()
}

/// Returns true if a name in a report is the name of a tool. The name may be alone, after the name of its namespace or
/// server, with a number or a digest, or cut before the digest.
fn is_name_of(known: &str, name: &str) -> bool {
    let is_inside = name.match_indices(known).any(|(start, _)| {
        let (before, after) = (&name[..start], &name[start + known.len()..]);
        (before.is_empty() || before.ends_with(['_', '.'])) && (after.is_empty() || after.starts_with('_'))
    });
    let cut = name.rsplit_once('_').filter(|(_, digest)| digest.len() == 13).map(|(cut, _)| cut);
    let own = cut.and_then(|cut| cut.rsplit_once("__")).map(|(_, own)| own);
    is_inside || own.or(cut).is_some_and(|cut| !cut.is_empty() && known.starts_with(cut))
}

fn is_of_tool(input: &Value, pointer: &str, name: &str) -> bool {
    let around: Vec<&Value> = prefixes(pointer).filter_map(|prefix| input.pointer(prefix)).collect();
    // A function replaces a search, which has no name or another one.
    let is_search = |entry: &&Value| entry["type"].as_str().is_some_and(|kind| kind.starts_with("tool_search"));
    let mut names = around.iter().copied().flat_map(names_of);
    names.any(|known| is_name_of(known, name)) || name.contains("search") && around.iter().any(is_search)
}

/// The tool may have a new name in the output.
fn is_of_sent_tool(output: &Value, pointer: &str, name: &str) -> bool {
    let legal = |name: &str| name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
    let around: Vec<&Value> = prefixes(pointer).filter_map(|prefix| output.pointer(prefix)).collect();
    let mut names = around.iter().copied().flat_map(names_of).map(legal);
    let name = legal(name);
    let is_cut =
        |sent: &str| sent.rsplit_once('_').is_some_and(|(cut, digest)| digest.len() == 13 && name.starts_with(cut));
    names.any(|sent| is_name_of(&name, &sent) || is_name_of(&sent, &name) || is_cut(&sent))
        || is_of_tool(output, pointer, &name)
}

fn kind(pointer: &str) -> String {
    let tokens = pointer.split('/').skip(1).take(4).map(|token| match token.parse::<usize>() {
        Ok(_) => "/*".to_owned(),
        Err(_) => format!("/{token}"),
    });
    tokens.collect()
}

struct Judge<'v> {
    name: &'v str,
    options: &'v Value,
    input: &'v Value,
    output: Value,
    faults: &'v mut Faults,
    count: &'v mut usize,
}

impl<'v> Judge<'v> {
    fn new(
        (name, options, input): (&'v str, &'v Value, &'v Value),
        (faults, count): (&'v mut Faults, &'v mut usize),
    ) -> Self {
        Judge { name, options, input, output: Value::Null, faults, count }
    }

    fn fault(&mut self, list: &str, (entry, member): (&Value, &str), what: &str) {
        let pointer = entry[member].as_str().unwrap_or_default();
        let rule = ["rule", "code", "constraint"].iter().find_map(|key| entry[*key].as_str()).unwrap_or_default();
        let kind = format!("{list} {what}: {rule} {}", kind(pointer));
        let example = format!("{} {} with {}", self.name, entry, self.options);
        if std::env::var("TOOLWIRE_POINTERS").is_ok_and(|shown| kind.contains(&shown)) {
            print_uncaptured(&format!("{kind}\n  {example}\n  {}\n  {}", self.input, self.output));
        }
        self.faults.entry(kind).or_insert((0, example)).0 += 1;
    }

    /// The member `tool` of an entry has the name of its tool.
    fn entries(&mut self, list: &str, entries: &Value, tool: Option<&str>) {
        for entry in entries.as_array().into_iter().flatten() {
            let Some(pointer) = entry["pointer"].as_str() else { continue };
            *self.count += 1;
            let name = tool.and_then(|member| entry[member].as_str()).filter(|name| !name.is_empty());
            if !resolves(self.input, pointer, &entry["rule"]) {
                self.fault(list, (entry, "pointer"), "does not resolve");
            } else if name.is_some_and(|name| !is_of_tool(self.input, pointer, name)) {
                self.fault(list, (entry, "pointer"), "belongs to another tool");
            }
            let Some(pointer) = entry["outputPointer"].as_str() else { continue };
            *self.count += 1;
            if self.output.pointer(pointer).is_none() {
                self.fault(list, (entry, "outputPointer"), "does not resolve in the output");
            } else if name.is_some_and(|name| !is_of_sent_tool(&self.output, pointer, name)) {
                self.fault(list, (entry, "outputPointer"), "belongs to another tool of the output");
            }
        }
    }

    fn request_report(&mut self, report: &Value) {
        self.entries("changes", &report["changes"], Some("tool"));
        self.entries("quarantined", &report["quarantined"], Some("name"));
        self.entries("requestChanges", &report["requestChanges"], None);
        self.entries("formatChanges", &report["formatChanges"], None);
        self.warnings(&report["deferred"]["warnings"]);
    }

    fn warnings(&mut self, warnings: &Value) {
        self.entries("warnings", warnings, None);
    }
}

/// Errors have no report.
fn judge(function: Function, judge: &mut Judge<'_>) {
    let (Ok(input), Ok(options)) = (Node::from_value(judge.input), Node::from_value(judge.options)) else { return };
    let Ok(done) = call(function, vec![input], &options, Naming::Camel, true) else { return };
    let parsed = |node: &Node<'_>| serde_json::from_str::<Value>(&write(node)).expect("JSON");
    let report = done.report.as_ref().map(parsed).unwrap_or_default();
    let output = parsed(&done.value);
    match function {
        Function::CheckTools => return judge.entries("findings", &output, Some("tool")),
        Function::CheckRequest => return judge.entries("findings", &output, None),
        _ => judge.output = output,
    }
    match function {
        Function::AdaptRequest => judge.request_report(&report["report"]),
        Function::ApplyDeferredLoading => judge.warnings(&report["report"]["warnings"]),
        _ => {
            judge.entries("changes", &report["changes"], Some("tool"));
            judge.entries("quarantined", &report["quarantined"], Some("name"));
        }
    }
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests")
}

fn list_of(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("cases");
    serde_json::from_str(&text).expect("a list of cases")
}

/// Returns the cases whose input is a value or JSON text.
fn fixtures(function: Function) -> Vec<(String, Value, Value)> {
    let mut files: Vec<PathBuf> = fs::read_dir(tests().join("fixtures").join(function.name()))
        .expect("fixtures")
        .flatten()
        .map(|file| file.path())
        .collect();
    files.sort();
    let cases = files.iter().flat_map(|file| list_of(file));
    let parts = cases.filter_map(|case| {
        let input = match case["inputText"].as_str() {
            Some(text) => serde_json::from_str(text).ok()?,
            None => case.get("input")?.clone(),
        };
        let options = case.get("options").cloned().unwrap_or_else(|| json!({}));
        Some((case["name"].as_str().unwrap_or_default().to_owned(), options, input))
    });
    parts.collect()
}

fn recorded_requests() -> Vec<(String, Value)> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let mut requests = Vec::new();
    for (file, member) in [("answered_4.jsonl", "input"), ("deferred_requests.jsonl", "request")] {
        let Ok(text) = fs::read_to_string(data.join(file)) else {
            print_uncaptured(&format!("skipped: the recorded requests ({file}) are not next to the checkout"));
            continue;
        };
        for line in text.lines() {
            let mut row: Value = serde_json::from_str(line).expect("JSON");
            if row.get("kind").is_some_and(|kind| kind != "request") || !row[member].is_object() {
                continue;
            }
            let source = row["source"].as_str().unwrap_or_default().to_owned();
            requests.push((source, row[member].take()));
        }
    }
    requests
}

#[test]
fn every_pointer_points_to_a_part_of_its_tool() {
    let (mut faults, mut count) = (Faults::new(), 0);
    let mut requests: Vec<(String, Value)> = Vec::new();
    let functions = [
        Function::AdaptRequest,
        Function::ApplyDeferredLoading,
        Function::CheckRequest,
        Function::CheckTools,
        Function::SanitizeTools,
    ];
    for function in functions {
        for (name, options, input) in fixtures(function) {
            judge(function, &mut Judge::new((&name, &options, &input), (&mut faults, &mut count)));
            if input.is_object() && function != Function::SanitizeTools && function != Function::CheckTools {
                requests.push((name, input));
            }
        }
    }
    for file in ["whole.json", "streams.json"] {
        for case in list_of(&tests().join("exchange").join(file)) {
            let name = case["name"].as_str().unwrap_or_default();
            let options = case.get("options").cloned().unwrap_or_else(|| json!({}));
            let Ok(read) = Node::from_value(&options) else { continue };
            let Ok(read) = bindings::options::<ExchangeOptions>(&read, Naming::Camel) else { continue };
            let url = case["url"].as_str().unwrap_or("http://localhost/v1/messages");
            let Ok(Some(exchange)) = Exchange::open(url, &case["asked"].to_string(), &read) else { continue };
            let report = write(&describe::adapted(exchange.report(), &Restore::default()));
            let report: Value = serde_json::from_str(&report).expect("JSON");
            let judged = &mut Judge::new((name, &options, &case["asked"]), (&mut faults, &mut count));
            judged.output = serde_json::from_str(exchange.request()).expect("JSON");
            judged.request_report(&report["report"]);
            requests.push((name.to_owned(), case["asked"].clone()));
        }
    }
    for api in APIS {
        for deferred in [false, true] {
            let marked = Marker::default().fill(&request(api, deferred));
            // Each of these requests is adapted to all backends.
            requests.extend((0..WAYS.len()).map(|_| (format!("marks of {api}"), marked.clone())));
        }
    }
    requests.extend(recorded_requests());
    for (number, (name, input)) in requests.iter().enumerate() {
        for way in 0..BACKENDS {
            let (dialect, target, native) = WAYS[(number * BACKENDS + way) % WAYS.len()];
            let options = json!({"dialect": dialect, "deferred": {"target": target, "native": native}});
            let judged = &mut Judge::new((name, &options, input), (&mut faults, &mut count));
            judge(Function::AdaptRequest, judged);
        }
    }
    print_uncaptured(&format!("{count} pointers of {} requests", requests.len()));
    let lines = faults.iter().map(|(kind, (count, example))| format!("{count} {kind}\n      {example}"));
    let lines: Vec<String> = lines.collect();
    assert!(lines.is_empty(), "{} kinds of faults\n{}", lines.len(), lines.join("\n"));
}
