//! Tool search with real tools: the ranking must be better than counting common words, any tool list and any JSON must
//! be handled, and the cost is bounded.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{collections::BTreeSet, fs, path::PathBuf};

use crate::reference::sources;
use serde_json::{json, Value};
use toolwire::{answer_tool_search, search_tools, SearchOptions, ToolIndex};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The flag is true for the list of all tools, and false for the sample.
fn tools() -> impl Iterator<Item = (Vec<Value>, bool)> {
    let list = |text: &str| text.lines().map(|line| serde_json::from_str(line).expect("a tool on each line")).collect();
    sources("mcp_tools.jsonl").map(move |source| (list(&source.text), source.is_whole))
}

struct Case {
    query: String,
    right: BTreeSet<String>,
}

/// Returns the queries whose expected tools are all in the list. These are all queries if the list is complete.
fn cases(tools: &[Value], is_whole: bool) -> Vec<Case> {
    let text =
        fs::read_to_string(root().join("../tests/fixtures/ranking/queries.json")).expect("the queries are committed");
    let list: Vec<Value> = serde_json::from_str(&text).expect("a list of queries");
    let known: BTreeSet<(&str, &str)> =
        tools.iter().filter_map(|tool| Some((tool["name"].as_str()?, tool["source"].as_str()?))).collect();
    let case = |case: &Value| -> Option<Case> {
        let pairs = case["tools"].as_array().expect("a list of tools").iter();
        let pairs: Vec<(&str, &str)> =
            pairs.filter_map(|tool| Some((tool["name"].as_str()?, tool["source"].as_str()?))).collect();
        let query = case["query"].as_str().expect("a query").to_owned();
        let is_there = !pairs.is_empty() && pairs.iter().all(|pair| known.contains(pair));
        assert!(is_there || !is_whole, "`{query}`: every expected tool is in the data");
        is_there.then(|| Case { query, right: pairs.into_iter().map(|(name, _)| name.to_owned()).collect() })
    };
    list.iter().filter_map(case).collect()
}

/// The quality of a ranking: the rate at which an expected tool is first, the rate at which one is among the first
/// five, and the mean reciprocal rank of the first expected tool.
#[derive(Clone, Copy, Debug, Default)]
struct Quality {
    first: f64,
    five: f64,
    reciprocal: f64,
}

fn quality(cases: &[&Case], rank: impl Fn(&str) -> Vec<String>) -> Quality {
    let mut sum = Quality::default();
    for case in cases {
        let names = rank(&case.query);
        let place = names.iter().position(|name| case.right.contains(name));
        sum.first += f64::from(u8::from(place == Some(0)));
        sum.five += f64::from(u8::from(place.is_some_and(|place| place < 5)));
        sum.reciprocal += place.map_or(0.0, |place| 1.0 / (place as f64 + 1.0));
        if std::env::var_os("SHOW_MISSES").is_some() && place.is_none_or(|place| place > 4) {
            println!("  {:?} {}: {:?}", place, case.query, names.iter().take(3).collect::<Vec<_>>());
        }
    }
    let count = cases.len() as f64;
    Quality { first: sum.first / count, five: sum.five / count, reciprocal: sum.reciprocal / count }
}

/// A naive ranking: the number of distinct words of the query that occur anywhere in a tool.
struct Overlap(Vec<(String, BTreeSet<String>)>);

impl Overlap {
    fn words(text: &str) -> BTreeSet<String> {
        text.split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    }

    /// Indexes the tools. If `arguments` is true, the names and descriptions of arguments are indexed, too.
    fn new(tools: &[Value], arguments: bool) -> Self {
        let mut seen = BTreeSet::new();
        let unique = tools.iter().filter(|tool| seen.insert(tool["name"].as_str()));
        let read = |tool: &Value| {
            let name = tool["name"].as_str().unwrap_or_default();
            let schema = if arguments { tool["inputSchema"].to_string() } else { String::new() };
            (
                name.to_owned(),
                Self::words(&format!("{name} {} {schema}", tool["description"].as_str().unwrap_or_default())),
            )
        };
        Overlap(unique.map(read).collect())
    }

    fn rank(&self, query: &str) -> Vec<String> {
        let query = Self::words(query);
        let mut ranked: Vec<(usize, &String)> =
            self.0.iter().map(|(name, words)| (query.intersection(words).count(), name)).collect();
        ranked.sort_by_key(|(common, _)| std::cmp::Reverse(*common));
        ranked.into_iter().filter(|(common, _)| *common > 0).map(|(_, name)| name.clone()).collect()
    }
}

#[test]
fn the_ranking_beats_counting_common_words() {
    for (tools, is_whole) in tools() {
        let cases = cases(&tools, is_whole);
        assert!(cases.len() >= if is_whole { 150 } else { 80 }, "enough queries to tell rankings apart");
        let index = ToolIndex::new(&Value::from(tools.clone())).expect("the tools are a list");
        let ranked = |query: &str| index.search(query, &SearchOptions::default().limit(50)).expect("a query");
        let (names, all) = (Overlap::new(&tools, false), Overlap::new(&tools, true));
        // The weights were chosen with every other query; the remaining queries show whether they generalize.
        let (chosen, unseen): (Vec<_>, Vec<_>) = cases.iter().enumerate().partition(|(place, _)| place % 2 == 0);
        for (what, half) in [("queries for choosing", chosen), ("unseen queries", unseen)] {
            let half: Vec<&Case> = half.into_iter().map(|(_, case)| case).collect();
            let bm25 = quality(&half, ranked);
            let overlaps = [quality(&half, |query| names.rank(query)), quality(&half, |query| all.rank(query))];
            println!("{} {what}, {} tools: first, among the first five, mean reciprocal rank", half.len(), index.len());
            for (name, found) in [
                ("BM25", bm25),
                ("common words, name and description", overlaps[0]),
                ("common words, everything", overlaps[1]),
            ] {
                println!("  {name:36} {:.3} {:.3} {:.3}", found.first, found.five, found.reciprocal);
            }
            for plain in overlaps {
                assert!(
                    bm25.first > plain.first && bm25.five > plain.five && bm25.reciprocal > plain.reciprocal,
                    "BM25 beats counting common words in every measure: {bm25:?}, {plain:?}"
                );
            }
        }
    }
}

fn shapes(tool: &Value) -> [Value; 5] {
    let (name, description, schema) = (&tool["name"], &tool["description"], &tool["inputSchema"]);
    let function = json!({"name": name, "description": description, "parameters": schema});
    [
        tool.clone(),
        json!({"name": name, "description": description, "input_schema": schema, "defer_loading": true}),
        json!({"type": "function", "function": function, "defer_loading": true}),
        json!({"type": "function", "name": name, "description": description, "parameters": schema}),
        json!({"type": "namespace", "name": "", "tools": [function]}),
    ]
}

#[test]
fn searches_find_the_same_tools_in_every_format() {
    for (tools, is_whole) in tools() {
        // Only MCP has titles.
        let plain = |tool: &Value| json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]});
        let shapes: Vec<[Value; 5]> = tools.iter().step_by(5).map(|tool| shapes(&plain(tool))).collect();
        let lists: Vec<Value> = (0..5).map(|which| shapes.iter().map(|shape| shape[which].clone()).collect()).collect();
        let indexes: Vec<ToolIndex> = lists.iter().map(|list| ToolIndex::new(list).expect("a tool list")).collect();
        let options = SearchOptions::default();
        for case in cases(&tools, is_whole) {
            let found = indexes[0].search(&case.query, &options).expect("a query");
            for (index, list) in indexes.iter().zip(&lists).skip(1) {
                assert_eq!(index.search(&case.query, &options).expect("a query"), found, "{}: {}", case.query, list[0]);
            }
        }
        let by_text = search_tools(&lists[0].to_string(), "list issues", &options);
        assert_eq!(by_text, search_tools(&lists[0], "list issues", &options), "text and value find the same");
    }
}

#[test]
fn an_index_can_be_stored_and_shared_by_threads() {
    fn kept<T: Send + Sync + Clone + 'static>() {}
    kept::<ToolIndex>();
}

#[test]
fn any_json_gives_a_result_or_an_error() {
    let leaves =
        [json!(null), json!(true), json!(0.5), json!(""), json!("select:"), json!("query"), json!([]), json!({})];
    let keys = [
        "name",
        "description",
        "input_schema",
        "parameters",
        "function",
        "tools",
        "type",
        "input",
        "arguments",
        "id",
        "query",
        "properties",
    ];
    let kinds = [
        "namespace",
        "tool_use",
        "function_call",
        "function",
        "tool_search",
        "mcp_toolset",
        "tool_search_tool_regex_1",
    ];
    let mut state = 7_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    fn any(
        depth: usize,
        leaves: &[Value],
        keys: &[&str],
        kinds: &[&str],
        next: &mut dyn FnMut(usize) -> usize,
    ) -> Value {
        match next(if depth == 0 { 2 } else { 6 }) {
            0 => leaves[next(leaves.len())].clone(),
            1 => json!(kinds[next(kinds.len())]),
            2 => (0..next(4)).map(|_| any(depth - 1, leaves, keys, kinds, next)).collect(),
            _ => Value::Object(
                (0..next(6))
                    .map(|_| (keys[next(keys.len())].to_owned(), any(depth - 1, leaves, keys, kinds, next)))
                    .collect(),
            ),
        }
    }
    let (mut answered, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let (tools, call) = (any(5, &leaves, &keys, &kinds, &mut next), any(3, &leaves, &keys, &kinds, &mut next));
        match search_tools(&tools, "name query", &SearchOptions::default()) {
            Ok(names) => {
                answered += 1;
                assert!(
                    names.len() <= 5 && names.iter().collect::<BTreeSet<_>>().len() == names.len(),
                    "each once: {names:?}"
                );
            }
            Err(error) => {
                refused += 1;
                assert_eq!(error.code().as_str(), "invalid-request", "{tools}");
            }
        }
        let mut wrapped = call.clone();
        if let Some(members) = wrapped.as_object_mut() {
            members.extend([("type".to_owned(), json!("tool_use")), ("name".to_owned(), json!("tool_search"))]);
        }
        for call in [call, wrapped] {
            match answer_tool_search(&call, &tools, &SearchOptions::default()) {
                Ok(None) => {
                    assert!(call["name"] != "tool_search" || call["type"] != "tool_use", "a search is answered: {call}")
                }
                Ok(Some(answer)) => assert!(
                    answer["content"].is_array() || answer["output"].is_string() || answer["content"].is_string()
                ),
                Err(error) => assert_eq!(error.code().as_str(), "invalid-request"),
            }
        }
    }
    println!("{answered} lists searched, {refused} refused");
    assert!(answered > 1000 && refused > 1000, "expected more accepted and more refused lists");
}

#[test]
fn hostile_lists_are_searched_in_time() {
    // Thousands of tools with the same name, one word repeated a hundred thousand times, one argument below 500 others,
    // and a long query.
    let twins: Vec<Value> =
        (0..20_000).map(|at| json!({"name": "twin", "description": format!("number {at}")})).collect();
    let index = ToolIndex::new(&json!(twins)).expect("a list");
    assert_eq!(
        (index.len(), index.search("number", &SearchOptions::default()).expect("a query")),
        (1, vec!["twin".to_owned()])
    );
    let mut deep = json!({"type": "object", "properties": {"innermost": {}}});
    for _ in 0..120 {
        deep = json!({"type": "object", "properties": {"level": deep}});
    }
    let list = json!([{"name": "deep", "inputSchema": deep}, {"name": "loud", "description": "word ".repeat(100_000)}, {"name": "word"}]);
    let index = ToolIndex::new(&list).expect("a list");
    assert_eq!(index.search("innermost", &SearchOptions::default()).expect("a query"), ["deep"]);
    assert_eq!(
        index.search("word", &SearchOptions::default()).expect("a query"),
        ["word", "loud"],
        "repeating a word does not win"
    );
    let long: String = (0..100_000).map(|at| format!("w{at} word ")).collect();
    assert_eq!(index.search(&long, &SearchOptions::default()).expect("a query").len(), 2);
}
