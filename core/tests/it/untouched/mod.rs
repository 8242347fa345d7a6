//! Recorded requests that a live API accepted (`answered_4.jsonl`, if it exists next to the checkout), through
//! [`Exchange`] with its defaults. `known.json` has the number of requests that change, by dialect and rule, and every
//! difference fails. `cargo test -p toolwire --test it untouched:: -- --nocapture` prints the requests behind the numbers;
//! with `TOOLWIRE_UNTOUCHED=write`, the test writes the numbers again.
//!
//! The rule `unreported` stands for an empty report, `lost` for a part that is neither sent nor reported, and the dialect
//! `refused` for an error.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod lost;

use crate::print_uncaptured;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use lost::Covered;
use serde_json::Value;
use toolwire::{
    reports::{Accepts, AdaptReport, Change, Guidance},
    Exchange, ExchangeOptions,
};

/// Numbers of requests: changed, with loss, and with a change but an empty report.
type Counts = [usize; 3];
/// The numbers, by dialect and rule.
type Table = BTreeMap<String, BTreeMap<String, Counts>>;

fn add(table: &mut Table, (dialect, rule): (&str, &str), is_lossy: bool, is_unreported: bool) {
    let [changed, lossy, unreported] = table.entry(dialect.into()).or_default().entry(rule.into()).or_default();
    *changed += 1;
    *lossy += usize::from(is_lossy);
    *unreported += usize::from(is_unreported);
}

fn url_of(row: &Value) -> String {
    let text = |key: &str| row[key].as_str().unwrap_or_default();
    let (host, model) = (text("host").replace('*', "recorded"), text("model"));
    let path = match text("api") {
        "anthropic" => String::from("v1/messages"),
        "openai-chat" => String::from("v1/chat/completions"),
        "openai-responses" => String::from("v1/responses"),
        "gemini" if host.ends_with("aiplatform.googleapis.com") => {
            format!("v1/projects/p/locations/l/publishers/google/models/{model}:generateContent")
        }
        "gemini" => format!("v1beta/models/{model}:generateContent"),
        other => format!("model/{model}/{other}"),
    };
    format!("https://{host}/{path}")
}

/// Changes with loss accept other arguments, or remove something that the model reads.
fn is_lossy(change: &Change) -> bool {
    change.accepts != Accepts::Same || change.guidance == Guidance::Lost
}

/// Returns the rules in a report, each with true if the rule lost something, and the parts of the input that the report
/// names.
fn read(report: &AdaptReport) -> (BTreeMap<&'static str, bool>, Covered) {
    let (mut rules, mut covered) = (BTreeMap::new(), Covered::default());
    let tools = report.changes.iter().map(|about| &about.change);
    for change in tools.chain(report.format_changes.iter().map(|about| &about.change)) {
        *rules.entry(change.rule.id()).or_default() |= is_lossy(change);
        covered.add_pointer(&change.pointer);
        // Definitions take the places of their references.
        if change.rule.id() == "inline-ref" {
            ["$defs", "definitions"].into_iter().for_each(|table| covered.add_name(table));
        }
    }
    for change in &report.request_changes {
        rules.entry(change.rule).or_default();
        covered.add_pointer(&change.pointer);
    }
    for tool in &report.quarantined {
        rules.insert(tool.rule, true);
        // The pointer points to the reason. The whole entry is gone.
        let entry: Vec<&str> = tool.pointer.split('/').take(3).collect();
        covered.add_pointer(&entry.join("/"));
    }
    if report.choice.is_some() {
        rules.entry("choice").or_default();
        ["/tool_choice", "/toolConfig", "/tool_config"].into_iter().for_each(|pointer| covered.add_pointer(pointer));
    }
    if let Some(deferred) = &report.deferred {
        for warning in &deferred.warnings {
            *rules.entry(warning.code).or_default() |= warning.code == "not-translated";
            warning.name.iter().for_each(|name| covered.add_name(name));
        }
        for name in deferred.loaded.iter().chain(&deferred.hidden) {
            rules.entry("deferred").or_default();
            covered.add_name(name);
        }
        if deferred.tool_search_name.is_some() {
            rules.entry("deferred").or_default();
            covered.add_name("tool_search");
        }
    }
    (rules, covered)
}

#[test]
fn accepted_requests_change_no_more_than_the_table_allows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/answered_4.jsonl");
    let Ok(text) = fs::read_to_string(&path) else {
        return print_uncaptured("skipped: the recorded requests (answered_4.jsonl) are not next to the checkout");
    };
    let mut counts = Table::new();
    let (mut read_rows, mut sent_as_they_came) = (0, 0);
    for row in text.lines() {
        let row: Value = serde_json::from_str(row).expect("JSON");
        let status = row["status"].as_u64().unwrap_or_default();
        if row["kind"] != "request" || !(200..300).contains(&status) {
            continue;
        }
        let body = row["input"].to_string();
        let source = row["source"].as_str().unwrap_or_default();
        let exchange = match Exchange::open(&url_of(&row), &body, &ExchangeOptions::default()) {
            Ok(Some(exchange)) => exchange,
            Ok(None) => continue,
            Err(error) => {
                print_uncaptured(&format!("refused {:?}: {source}", error.code()));
                add(&mut counts, ("refused", error.code().as_str()), true, false);
                continue;
            }
        };
        read_rows += 1;
        if exchange.request() == body {
            sent_as_they_came += 1;
            continue;
        }
        let report = exchange.report();
        let (mut rules, covered) = read(report);
        let is_unreported = rules.is_empty();
        if is_unreported {
            rules.insert("unreported", false);
        }
        let sent: Value = serde_json::from_str(exchange.request()).expect("JSON");
        if let Some(lost) = lost::first(&row["input"], &sent, &covered) {
            print_uncaptured(&format!("{} lost {lost}: {source}", report.dialect));
            rules.insert("lost", true);
        }
        for (rule, is_lossy) in rules {
            add(&mut counts, (report.dialect.as_str(), rule), is_lossy, is_unreported);
            print_uncaptured(&format!("{} {rule}: {source}", report.dialect));
        }
        // The first change with loss of each request, as an example of its kind.
        if let Some(about) = report.changes.iter().find(|about| is_lossy(&about.change)) {
            let Change { pointer, rule, accepts, guidance, message, .. } = &about.change;
            print_uncaptured(&format!("  {rule} at {pointer}, {accepts:?}, {guidance:?}: {message}"));
        }
    }
    print_uncaptured(&format!("{read_rows} requests, {sent_as_they_came} of them sent as they came"));
    hold(&counts);
}

/// No request may lose anything, or change without a report.
fn hold(found: &Table) {
    let is_bad = |[_, lossy, unreported]: &Counts| *lossy > 0 || *unreported > 0;
    let bad: Vec<_> = found.iter().filter(|(_, rules)| rules.values().any(is_bad)).collect();
    assert!(bad.is_empty(), "[changed, lossy, unreported]: {bad:?}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/untouched/known.json");
    if std::env::var("TOOLWIRE_UNTOUCHED").as_deref() == Ok("write") {
        return fs::write(path, text(found)).expect("known.json can be written");
    }
    let known: Table = serde_json::from_str(&fs::read_to_string(path).expect("known.json")).expect("numbers");
    let rows = |table: &Table| -> Vec<(String, String)> {
        let rules = |(of, rules): (&String, &BTreeMap<String, Counts>)| {
            rules.keys().map(|rule| (of.clone(), rule.clone())).collect::<Vec<_>>()
        };
        table.iter().flat_map(rules).collect()
    };
    let counts = |table: &Table, of: &str, rule: &str| -> Counts {
        table.get(of).and_then(|rules| rules.get(rule)).copied().unwrap_or_default()
    };
    let all: BTreeSet<_> = rows(&known).into_iter().chain(rows(found)).collect();
    let rows = all.into_iter().map(|(of, rule)| (counts(&known, &of, &rule), counts(found, &of, &rule), of, rule));
    let lines: Vec<String> = rows
        .filter(|(known, found, ..)| known != found)
        .map(|(known, found, of, rule)| format!("{of}, {rule}: {known:?} -> {found:?}"))
        .collect();
    assert!(
        lines.is_empty(),
        "{} rows of [changed, lossy, unreported] differ from known.json. A number that rose has to be fixed. Once numbers \
         only fell, write them with `TOOLWIRE_UNTOUCHED=write cargo test -p toolwire --test it untouched::`\n{}",
        lines.len(),
        lines.join("\n")
    );
}

fn text(table: &Table) -> String {
    let dialects = table.iter().map(|(dialect, rules)| {
        let rules: Vec<String> = rules.iter().map(|(rule, counts)| format!("    {rule:?}: {counts:?}")).collect();
        format!("  {dialect:?}: {{\n{}\n  }}", rules.join(",\n"))
    });
    format!("{{\n{}\n}}\n", dialects.collect::<Vec<_>>().join(",\n"))
}
