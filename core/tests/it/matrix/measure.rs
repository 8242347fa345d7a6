//! Measures the results of `sanitize` for every dialect and every collection of schemas, and their faults.
//!
//! `cargo test` compares the numbers with limits (main.rs), `cargo run --release -p toolwire --example matrix` prints
//! them.

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde_json::{json, Value};
use toolwire::{
    check, dialects,
    reports::{Accepts, Severity},
    sanitize, Dialect, DialectId, SanitizeOptions,
};

/// Schemas of one origin as text, each with its number of occurrences.
pub(crate) struct Collection {
    pub(crate) name: &'static str,
    pub(crate) schemas: Vec<(String, usize)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// Number of schemas that are accepted and returned unchanged.
    pub(crate) unchanged: usize,
    /// Number of schemas that changed without loss.
    pub(crate) lossless: usize,
    /// Number of schemas that accept the same arguments but lose text for the model.
    pub(crate) same: usize,
    pub(crate) closed: usize,
    pub(crate) wider: usize,
    pub(crate) narrower: usize,
    pub(crate) mixed: usize,
    pub(crate) errors: usize,
    /// Number of all these schemas whose arguments must be restored.
    pub(crate) encoded: usize,
    /// Broken promises: outputs that `check` refuses, that change again, or that differ between two runs.
    pub(crate) faults: Vec<String>,
    /// Messages of errors, without duplicates.
    pub(crate) error_counts: BTreeMap<String, usize>,
}

pub(crate) const HEADER: [&str; 10] =
    ["unchanged", "lossless", "same", "closed", "wider", "narrower", "mixed", "errors", "encoded", "faults"];

impl Row {
    pub(crate) fn cells(&self) -> [usize; 10] {
        [
            self.unchanged,
            self.lossless,
            self.same,
            self.closed,
            self.wider,
            self.narrower,
            self.mixed,
            self.errors,
            self.encoded,
            self.faults.len(),
        ]
    }
}

/// Returns the dialects with a grammar. The others emulate Codex and make different promises.
pub(crate) fn described() -> impl Iterator<Item = &'static str> {
    dialects().iter().map(|dialect| dialect.name).filter(|name| !name.starts_with("codex"))
}

/// Folders of the sample, which is part of this repository, and of the complete data, which may exist next to the
/// checkout; relative to this crate.
pub(crate) const SAMPLE: &str = "../tests/sample";
pub(crate) const WHOLE: &str = "../../shared/data";

/// Returns `None` if a collection is missing.
pub(crate) fn collections(folder: &str) -> Option<Vec<Collection>> {
    let read = |name: &str| {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder).join(name);
        let text = fs::read_to_string(path).ok()?;
        Some(text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).collect::<Vec<_>>())
    };
    let plain = |row: Value, member: &str| row.get(member).filter(|schema| !schema.is_null()).map(Value::to_string);
    let gathered = |name, texts: Vec<String>| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        texts.into_iter().for_each(|text| *counts.entry(text).or_default() += 1);
        Collection { name, schemas: counts.into_iter().collect() }
    };
    Some(vec![
        gathered(
            "real tools",
            read("mcp_tools.jsonl")?.into_iter().filter_map(|row| plain(row, "inputSchema")).collect(),
        ),
        gathered("test suite", read("test_suite.jsonl")?.iter().map(wrap).collect()),
        gathered("issue rows", read("issue_cases.jsonl")?.into_iter().filter_map(|row| plain(row, "schema")).collect()),
        gathered(
            "accepted rows",
            read("accepted_schemas.jsonl")?.into_iter().filter_map(|row| plain(row, "schema")).collect(),
        ),
    ])
}

/// Arguments are objects, but most schemas of the official suite describe other values.
fn wrap(row: &Value) -> String {
    let mut inner = row.get("schema").cloned().unwrap_or_default();
    if let Some(object) = inner.as_object_mut() {
        object.entry("$id").or_insert_with(|| json!("https://example.com/inner"));
    }
    let draft = match row.get("draft").and_then(Value::as_str) {
        Some("draft7") => "http://json-schema.org/draft-07/schema#",
        _ => "https://json-schema.org/draft/2020-12/schema",
    };
    json!({"$schema": draft, "type": "object", "properties": {"v": inner}, "required": ["v"]}).to_string()
}

/// The surfaces whose intersection is `portable`.
const SURFACES: [DialectId; 7] = [
    Dialect::OPENAI_CHAT,
    Dialect::OPENAI_RESPONSES,
    Dialect::ANTHROPIC,
    Dialect::GEMINI_JSON_SCHEMA,
    Dialect::MOONSHOT,
    Dialect::DEEPSEEK,
    Dialect::MISTRAL,
];

/// Counts the results for a collection, and checks the promises for each result.
#[allow(clippy::expect_used, reason = "a test fails by panicking")]
pub(crate) fn measure(dialect: &str, collection: &Collection) -> Row {
    let options = SanitizeOptions::new(dialect.parse().expect("a known dialect"));
    let mut row = Row::default();
    for (schema, times) in &collection.schemas {
        let mut fault = |what: String| row.faults.push(format!("{dialect}: {what}\n  in  {}", shorten(schema)));
        let result = match sanitize(schema, &options) {
            Ok(result) => result,
            Err(error) => {
                row.errors += times;
                *row.error_counts.entry(format!("{}: {}", error.code().as_str(), error.message())).or_default() +=
                    times;
                continue;
            }
        };
        let output = result.schema.as_ref();
        match check(output, &options) {
            Ok(found) if found.iter().all(|violation| violation.severity == Severity::Ignored) => {}
            Ok(found) => fault(format!("check finds {found:?}\n  out {}", shorten(output))),
            Err(error) => fault(format!("check: {error}")),
        }
        match sanitize(output, &options).map(|done| done.schema) {
            Ok(again) if again == output => {}
            Ok(again) => fault(format!("not idempotent\n  out {}\n  2nd {}", shorten(output), shorten(&again))),
            Err(error) => fault(format!("refuses its own output: {error}\n  out {}", shorten(output))),
        }
        if sanitize(schema, &options).map(|done| done.schema).ok().as_deref() != Some(output) {
            fault(format!("a second run gives another output\n  out {}", shorten(output)));
        }
        if options.dialect == Dialect::PORTABLE {
            for surface in SURFACES {
                if check(output, &SanitizeOptions::new(surface))
                    .map_or(true, |found| !found.iter().all(|violation| violation.severity == Severity::Ignored))
                {
                    fault(format!("{surface} refuses it\n  out {}", shorten(output)));
                }
            }
        }
        let changes = result.changes().unwrap_or_default();
        let worst = changes.iter().fold(Accepts::Same, |worst, change| worst.and(change.accepts));
        let cell = match worst {
            Accepts::Same if changes.is_empty() => &mut row.unchanged,
            Accepts::Same if result.lossless() == Ok(true) => &mut row.lossless,
            Accepts::Same => &mut row.same,
            Accepts::Closed => &mut row.closed,
            Accepts::Wider => &mut row.wider,
            Accepts::Narrower => &mut row.narrower,
            Accepts::Mixed => &mut row.mixed,
        };
        *cell += times;
        row.encoded += usize::from(changes.iter().any(|change| change.encoded)) * times;
    }
    row
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(700) {
        Some((end, _)) => format!("{}… ({} bytes)", text.get(..end).unwrap_or_default(), text.len()),
        None => text.to_string(),
    }
}
