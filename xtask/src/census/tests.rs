//! Checks that the census is up to date with the tables, that its counts are right, and that it reveals nothing about
//! any server.
#![allow(clippy::panic, clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    collections::BTreeSet,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use serde_json::Value;
use toolwire::{dialects, rules::Constraint, Dialect};

use super::{
    advice::advice,
    broken::{keywords, rules, ViolationCount},
    count::{Census, Column, Outcome, Verdict},
    figures::{share, Figures},
    files, plot,
    tools::{server, Tools},
    TOOLS,
};
use crate::root;

/// The test harness would capture the line.
fn print_line(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn read_all() -> Option<&'static Figures> {
    static WHOLE: OnceLock<Option<Figures>> = OnceLock::new();
    WHOLE.get_or_init(super::read_all).as_ref()
}

fn sample() -> PathBuf {
    root().join("tests/sample/mcp_tools.jsonl")
}

#[test]
fn the_page_is_fresh_and_names_no_server() {
    let Some(figures) = read_all() else {
        println!("skipped: expected {TOOLS} next to the checkout, found none; the census is not compared with it");
        return;
    };
    let files = files(figures).expect("plots are drawn");
    let stale: Vec<&String> = files
        .iter()
        .filter(|(path, text)| fs::read_to_string(root().join(path)).ok().as_ref() != Some(*text))
        .map(|(path, _)| path)
        .collect();
    assert!(stale.is_empty(), "stale: {stale:?}; write them with `cargo xtask census`, and review the changes");
    let there = fs::read_dir(root().join("docs/census")).into_iter().flatten().flatten();
    let left: Vec<String> = there
        .map(|entry| format!("docs/census/{}", entry.file_name().to_string_lossy()))
        .filter(|path| !files.contains_key(path))
        .collect();
    assert!(left.is_empty(), "plots that no page shows: {left:?}");

    let secrets = secrets(&root().join(TOOLS));
    assert!(secrets.len() > 500, "expected the names of hundreds of tools, found {}", secrets.len());
    let is_of_a_name = |character: char| character.is_ascii_alphanumeric() || "_-./@".contains(character);
    let named: BTreeSet<&str> = files
        .values()
        .flat_map(|text| text.split(|character| !is_of_a_name(character)))
        .filter(|word| secrets.contains(*word))
        .collect();
    assert!(named.is_empty(), "the census names {named:?}");
}

/// Names of servers and tools, except for English words.
fn secrets(tools: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(tools).unwrap_or_default();
    let mut secrets = BTreeSet::new();
    for row in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let names = [row["name"].as_str().unwrap_or_default(), server(row["source"].as_str().unwrap_or_default())];
        secrets.extend(names.map(|name| name.rsplit(':').next().unwrap_or(name).to_owned()));
    }
    secrets.retain(|name| name.contains(['_', '-', '/']));
    secrets
}

#[test]
fn every_listed_rule_has_advice() {
    let sample = Tools::of_file(&sample()).expect("the sample is part of this repository");
    let sample = Figures::of(Census::take(sample));
    for figures in [Some(&sample), read_all()].into_iter().flatten() {
        assert_eq!(figures.rules.len(), 10, "expected the rules that real tools break most often");
        for ViolationCount { name, .. } in &figures.rules {
            assert!(Constraint::ALL.iter().any(|constraint| constraint.id() == name), "`{name}` is not a constraint");
            assert!(advice(name).is_some(), "xtask/src/census/advice.rs: expected advice for `{name}`, found none");
        }
        print_line(&format!(
            "census: {} tools of {} servers",
            figures.census.tools.tools.len(),
            figures.census.tools.servers
        ));
    }
}

#[test]
fn server_name_is_its_source_without_the_version() {
    for (source, name) in [
        ("npm:@scope/package@1.2.3", "npm:@scope/package"),
        ("npm:package@1.2.3", "npm:package"),
        ("pypi:some.package@2026.1.1", "pypi:some.package"),
        ("owner/repository@0123abcd:path/to@/file.json", "owner/repository"),
        ("owner/client (via other/copy@0123abcd):path/one.json", "owner/client"),
        ("npm:@scope/package", "npm:@scope/package"),
    ] {
        assert_eq!(server(source), name, "{source}");
    }
}

fn tools(pairs: &[(&str, &str)]) -> Tools {
    Tools::of(pairs.iter().map(|(server, schema)| ((*server).to_owned(), (*schema).to_owned())))
}

#[test]
fn equal_schemas_are_judged_once_and_counted_separately() {
    let tools = tools(&[("one", "{}"), ("two", "{}"), ("two", "true"), ("two", "{}")]);
    assert_eq!((tools.schemas.len(), tools.servers), (2, 2));
    assert_eq!(tools.tools, [(0, 0), (1, 0), (1, 1), (1, 0)]);
    assert_eq!((tools.tools_of_largest_servers(1), tools.tools_of_largest_servers(9)), (3, 4));
}

#[test]
fn outcome_of_a_tool_is_its_worst_change() {
    for (schema, outcome, refused) in [
        (
            r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}"#,
            Outcome::AsItIs,
            [].as_slice(),
        ),
        (
            r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#,
            Outcome::Closed,
            &["object-not-closed"],
        ),
        (
            r#"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}"#,
            Outcome::Encoded,
            &["not-required"],
        ),
        (
            r#"{"type":"object","properties":{"a":{"type":"string"}}}"#,
            Outcome::Closed,
            &["not-required", "object-not-closed"],
        ),
    ] {
        let verdict = Verdict::of("openai-strict", schema);
        assert_eq!((verdict.outcome, verdict.refused), (outcome, refused.iter().copied().collect()), "{schema}");
    }
}

/// Independent of the tables, because these tests are about totals.
fn verdict(outcome: Outcome, refused: &[&'static str], keywords: &[&str]) -> Verdict {
    let keywords = keywords.iter().map(|keyword| (*keyword).to_owned()).collect();
    let refused = refused.iter().copied().collect();
    Verdict {
        outcome,
        refused,
        keywords,
        reinterpreted: outcome == Outcome::AsItIs,
        ignored: outcome != Outcome::AsItIs,
    }
}

fn dialect(name: &str) -> &'static Dialect {
    dialects().iter().find(|dialect| dialect.name == name).expect("a dialect with this name")
}

/// Three tools of two servers, the last two with the same schema, in two dialects of APIs and one dialect that is not
/// an API.
fn made_up() -> Census {
    let (refused, other, third) = ("refused-keyword", "untyped", "format");
    let columns = [
        ("xai", [verdict(Outcome::Wider, &[refused], &["minimum"]), verdict(Outcome::Closed, &[other, third], &[])]),
        (
            "groq",
            [verdict(Outcome::AsItIs, &[], &[]), verdict(Outcome::Encoded, &[other, refused], &["minimum", "maximum"])],
        ),
        ("portable", [verdict(Outcome::Wider, &[third], &[]), verdict(Outcome::Wider, &[third], &[])]),
    ];
    Census {
        tools: tools(&[("one", "1"), ("one", "2"), ("two", "2")]),
        columns: columns
            .map(|(name, verdicts)| Column { dialect: dialect(name), verdicts: verdicts.into() })
            .into_iter()
            .collect(),
    }
}

#[test]
fn tallies_count_every_tool_and_the_worst_tool_of_each_server() {
    let census = made_up();
    let tallies: Vec<_> = census.columns.iter().map(|column| column.tally(&census.tools)).collect();
    //                                 as is, lossless, encoded, closed, text, wider, narrower, not at all
    assert_eq!((tallies[0].tools.0, tallies[0].servers.0), ([0, 0, 0, 2, 0, 1, 0, 0], [0, 0, 0, 1, 0, 1, 0, 0]));
    assert_eq!((tallies[1].tools.0, tallies[1].servers.0), ([1, 0, 2, 0, 0, 0, 0, 0], [0, 0, 2, 0, 0, 0, 0, 0]));
    // Both counts only include tools that are accepted unchanged.
    assert_eq!((tallies[1].reinterpreted, tallies[1].ignored), (1, 0));
    assert_eq!((tallies[0].reinterpreted, tallies[0].ignored), (0, 0));
}

fn broken(name: &str, [tools, dialects, cases, alone, with_those_before]: [usize; 5]) -> ViolationCount {
    ViolationCount { name: name.to_owned(), tools, dialects, cases, alone, with_those_before }
}

#[test]
fn rules_are_ranked_by_cases_and_tools_that_only_one_rule_refuses_are_counted() {
    let list = rules(&made_up(), 10);
    // Dialects that are not APIs do not count, so `format` has two cases instead of five.
    assert_eq!(
        list,
        [
            broken("untyped", [2, 2, 4, 0, 0]),
            broken("refused-keyword", [3, 2, 3, 1, 3]),
            broken("format", [2, 1, 2, 0, 5]),
        ]
    );
    assert_eq!(rules(&made_up(), 1), [broken("untyped", [2, 2, 4, 0, 0])]);
    assert_eq!(
        keywords(&made_up(), 10),
        [broken("minimum", [3, 2, 3, 1, 1]), broken("maximum", [2, 1, 2, 0, 1])],
        "a tool with another violation gains nothing"
    );
}

#[test]
fn shares_never_round_to_all_or_nothing() {
    for (part, all, shown) in [
        (0, 1547, "0.0 %"),
        (1, 10_000, "0.1 %"),
        (1, 3, "33.3 %"),
        (2, 3, "66.7 %"),
        (9_999, 10_000, "99.9 %"),
        (5, 5, "100.0 %"),
    ] {
        assert_eq!(share(part, all), shown, "{part} of {all}");
    }
}

#[test]
fn plots_have_a_row_for_every_dialect() {
    let figures = Figures::of(made_up());
    let plots = figures.plots().expect("plots are drawn");
    for (name, svg) in &plots {
        assert!(svg.starts_with("<svg role=\"img\" ") && svg.trim_end().ends_with("</svg>"), "{name}: {svg}");
        assert!(svg.contains("<title>") && svg.contains("fill=\"#FFFFFF\""), "{name} has a title and a background");
    }
    let texts = |svg: &str| svg.lines().map(str::to_owned).collect::<BTreeSet<String>>();
    for expected in ["xai", "groq", "portable", "as it is", "not at all", "share of tools", "dialect"] {
        assert!(texts(&plots[0].1).contains(expected), "expected `{expected}` in {}", plots[0].1);
    }
    let many = plot::Bars {
        title: "a < b & c",
        description: "a < b & c",
        x_label: "x",
        y_label: "y",
        longest: 10,
        unit: "",
        segments: &[("s", plot::TAKEN)],
        rows: dialects().iter().chain(dialects()).map(|dialect| (dialect.name, vec![5.0])).collect(),
    };
    let svg = many.draw().expect("plots are drawn");
    assert!(svg.contains("<title>a &lt; b &amp; c</title>"));
    for Dialect { name, .. } in dialects() {
        assert_eq!(svg.lines().filter(|line| line == name).count(), 2, "`{name}` has a label in every plot");
    }
}
