//! Writes the member `reason` of the changes in fixtures, and leaves every other character of the files alone.
//!
//! Other members are not written: if a change is new, or is about another location or another rule, then the case
//! needs a decision first.

use std::{error::Error, fs, ops::Range, path::Path};

use serde_json::{json, Value};
use toolwire::{
    internal::{
        bindings::{call_text, Function, Naming},
        json::{write, Node},
    },
    reports::Change,
};

use super::spans::{members, Member};

/// The lists of changes in a case and in the report of its function.
const LISTS: [&[&str]; 4] =
    [&["changes"], &["report", "changes"], &["report", "formatChanges"], &["report", "requestChanges"]];

/// Returns true if the file changed.
pub(super) fn file(path: &Path) -> Result<bool, Box<dyn Error>> {
    let old = fs::read_to_string(path)?;
    let is_folder = |function: &&Function| path.components().any(|part| part.as_os_str() == function.name());
    let function = Function::ALL.iter().filter(is_folder).find(|function| **function != Function::FitResult);
    let (Some(function), Value::Array(cases)) = (function, serde_json::from_str(&old)?) else { return Ok(false) };
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for (case, span) in cases.iter().zip(members(&old, 0..old.len())) {
        let lists = lists(case);
        if lists.is_empty() {
            continue;
        }
        let reported = report(*function, case, &old[span.value.clone()])?;
        for path in lists {
            let found = path.iter().fold(&reported, |value, name| &value[*name]);
            let expected = path.iter().fold(case, |value, name| &value[*name]);
            let range = path.iter().try_fold(span.value.clone(), |range, name| {
                members(&old, range).into_iter().find(|member| member.name == *name).map(|member| member.value)
            });
            let changes = members(&old, range.ok_or("a list without a span")?);
            let found = found.as_array().map_or(&[][..], Vec::as_slice);
            let is_other = |(at, found): (usize, &Value)| {
                ["pointer", "rule"].iter().any(|name| expected[at][*name] != found[*name])
            };
            if found.len() != changes.len() || found.iter().enumerate().any(is_other) {
                return Err(format!("{}: the changes differ: bless reasons once they are right", case["name"]).into());
            }
            for (change, found) in changes.iter().zip(found) {
                edits.push(edit(&old, change, statement(found["reason"].as_str().unwrap_or_default()))?);
            }
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut new = old.clone();
    for (range, text) in edits.into_iter().rev() {
        new.replace_range(range, &text);
    }
    if new != old {
        fs::write(path, &new)?;
    }
    Ok(new != old)
}

/// Returns a reason without confidence and source.
fn statement(reason: &str) -> &str {
    reason.split_once(" (confidence ").map_or(reason, |(statement, _)| statement)
}

fn lists(case: &Value) -> Vec<&'static [&'static str]> {
    let has_items = |path: &&[&str]| {
        path.iter().fold(case, |value, name| &value[*name]).as_array().is_some_and(|changes| !changes.is_empty())
    };
    LISTS.into_iter().filter(has_items).collect()
}

/// Returns the report of a function in the form of a case. The changes of `fitResult` have no reasons.
fn report(function: Function, case: &Value, text: &str) -> Result<Value, Box<dyn Error>> {
    let input: String = match (&case["inputText"], &case["inputParts"]) {
        (Value::String(text), _) => text.clone(),
        (_, Value::Array(parts)) => parts
            .iter()
            .map(|part| part[0].as_str().unwrap_or_default().repeat(part[1].as_u64().unwrap_or_default() as usize))
            .collect(),
        // The text of the file keeps the spelling of numbers.
        _ => members(text, 0..text.len())
            .into_iter()
            .find(|member| member.name == "input")
            .map_or_else(String::new, |member| text[member.value].to_owned()),
    };
    let options = Node::from_value(&case["options"])?;
    Ok(match call_text(function, &[&input], &options, Naming::Camel, true) {
        Err(error) => {
            let change = |change: &Change| {
                let reason = change.reason.to_string();
                json!({ "pointer": change.pointer, "rule": change.rule.id(), "reason": reason })
            };
            json!({ "changes": error.changes().iter().map(change).collect::<Vec<_>>() })
        }
        Ok(output) => {
            let report: Value =
                output.report.map_or(Ok(Value::Null), |report| serde_json::from_str(&write(&report)))?;
            let inner = report.get("report").unwrap_or(&report).clone();
            json!({ "changes": report["changes"], "report": inner })
        }
    })
}

/// Returns the edit that writes a reason, in the style of the members before it.
fn edit(text: &str, change: &Member, reason: &str) -> Result<(Range<usize>, String), Box<dyn Error>> {
    let reason = Value::from(reason).to_string();
    let list = members(text, change.value.clone());
    if let Some(member) = list.iter().find(|member| member.name == "reason") {
        return Ok((member.value.clone(), reason));
    }
    let [.., before, last] = list.as_slice() else { return Err("expected a change with two members".into()) };
    let separator = &text[before.value.end..last.key.start];
    let colon = &text[last.key.end..last.value.start];
    Ok((last.value.end..last.value.end, format!("{separator}\"reason\"{colon}{reason}")))
}
