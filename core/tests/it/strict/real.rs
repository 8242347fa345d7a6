//! Real tools, reported issues, and schemas that real APIs accepted.

use std::collections::BTreeMap;

use serde_json::Value;
use toolwire::{check, reports::Severity, sanitize, SanitizeOptions};

use super::{print_uncaptured, DIALECTS};
use crate::{dialect_id, reference::sources};

#[test]
fn real_schemas_pass_check_after_sanitizing() {
    for (file, member) in
        [("mcp_tools.jsonl", "inputSchema"), ("issue_cases.jsonl", "schema"), ("accepted_schemas.jsonl", "schema")]
    {
        for source in sources(file) {
            let rows: Vec<Value> = source.text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect();
            let mut faults = Vec::new();
            for dialect in DIALECTS {
                let mut tally: BTreeMap<String, usize> = BTreeMap::new();
                let options = SanitizeOptions::new(dialect_id(dialect));
                for row in rows.iter().filter(|row| row[member].is_object()) {
                    let schema = &row[member];
                    let name = row["name"].as_str().unwrap_or_default();
                    let result = match sanitize(schema, &options) {
                        Ok(result) => result,
                        Err(error) => {
                            *tally.entry(format!("error {}", error.code().as_str())).or_default() += 1;
                            let message: String = error.message().chars().take(300).collect();
                            faults.push(format!("{dialect} {name}: {} {message}", error.pointer()));
                            continue;
                        }
                    };
                    let worst = result
                        .changes()
                        .expect("a report")
                        .iter()
                        .fold(toolwire::reports::Accepts::Same, |worst, change| worst.and(change.accepts));
                    let kind = match (
                        result.changes().expect("a report").is_empty(),
                        result.lossless().expect("a report"),
                        result.changes().expect("a report").iter().any(|change| change.encoded),
                    ) {
                        (true, ..) => "clean",
                        (_, true, true) => "lossless, encoded",
                        (_, true, false) => "lossless",
                        _ => worst.as_str(),
                    };
                    *tally.entry(kind.into()).or_default() += 1;
                    if check(&result.schema, &options)
                        .map_or(true, |found| !found.iter().all(|violation| violation.severity == Severity::Ignored))
                    {
                        faults.push(format!("{dialect} {name}: not clean"));
                    }
                    let again = sanitize(&result.schema, &options);
                    if again.map(|again| again.schema.to_string()).ok() != Some(result.schema.to_string()) {
                        faults.push(format!("{dialect} {name}: not idempotent"));
                    }
                }
                print_uncaptured(&format!("{file} {dialect}: {tally:?}"));
            }
            let mut kinds: BTreeMap<String, (usize, String)> = BTreeMap::new();
            for fault in &faults {
                let kind: String = fault.split_once(' ').map_or("", |(dialect, _)| dialect).to_string()
                    + fault.rsplit_once(": ").map_or("", |(_, kind)| kind);
                let kind: String = kind.chars().take(120).collect();
                let entry = kinds.entry(kind).or_insert_with(|| (0, fault.clone()));
                entry.0 += 1;
            }
            for (kind, (count, example)) in kinds {
                print_uncaptured(&format!(
                    "   {count} {kind}   e.g. {}",
                    example.chars().take(250).collect::<String>()
                ));
            }
            assert!(faults.is_empty(), "{} faults", faults.len());
        }
    }
}
