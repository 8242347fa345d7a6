//! Checks the reference data (`reference`): Codex's own cases and real MCP tools.
#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and `value[\"name\"]` of serde_json returns null instead of panicking"
)]

use crate::print_uncaptured;

use crate::reference::{sources, Source};
use serde_json::{json, Value};
use toolwire::{
    check, internal::json as tree, normalize_envelope, options::Limit, reports::Change, sanitize, Dialect, Error,
    SanitizeOptions,
};

/// Returns toolwire's result of a case, if it intentionally differs from the upstream result.
fn deviation(name: &str) -> Option<Value> {
    match name {
        // A known keyword with the value null is removed first, for idempotence.
        "edge__any_of_null_value" => Some(json!({"type": "object", "properties": {"a": {}}})),
        // `properties` with a value that is not an object becomes `{}`; the pull request leaves it unchanged, and the
        // API refuses it.
        "envelope__properties_string_kept" => Some(json!({"type": "object", "properties": {}})),
        _ => None,
    }
}

#[test]
fn codex_cases_give_the_expected_results() {
    for Source { text, .. } in sources("codex_cases.json") {
        let cases: Vec<Value> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("codex_cases.json: {error}"));
        let mut failures = Vec::new();
        let mut deviations = 0;
        for case in &cases {
            let name = case["name"].as_str().unwrap_or_default();
            let input = &case["input"];
            let wire = SanitizeOptions::new(Dialect::CODEX_WIRE);
            let found = match case["function"].as_str().unwrap_or_default() {
                "normalize_raw_tool_input_schema" => normalize_envelope(input).map(|done| done.schema),
                "parse_tool_input_schema" => sanitize(input, &wire).map(|done| done.schema),
                "parse_tool_input_schema_without_compaction" => {
                    sanitize(input, &wire.max_bytes(Limit::Unlimited)).map(|done| done.schema)
                }
                other => {
                    match other
                        .strip_prefix("parse_mcp_tool_with_schema_max_bytes(max_bytes=")
                        .and_then(|rest| rest.strip_suffix(')'))
                    {
                        Some(bytes) => {
                            sanitize(input, &wire.max_bytes(bytes.parse().map_or(Limit::Unlimited, Limit::AtMost)))
                                .map(|done| done.schema)
                        }
                        None => panic!("`{name}`: unknown function `{other}`"),
                    }
                }
            };
            let expected = match deviation(name) {
                Some(ours) => {
                    deviations += 1;
                    ours
                }
                None => case["expected"].clone(),
            };
            // Upstream sorts `properties`, so objects are compared without their order, which is serde_json's equality.
            match (found, expected.get("$error")) {
                (Ok(found), None) if found == expected => {}
                (Err(error), Some(_)) if error.code().as_str() == "not-representable" => {}
                (found, _) => failures.push(format!(
                    "{name}\n  expected {expected}\n  found    {}",
                    found.map_or_else(|e| e.to_string(), |v| v.to_string())
                )),
            }
        }
        print_uncaptured(&format!("codex_cases.json: {} cases, {deviations} named deviations", cases.len()));
        assert_eq!(deviations, 2, "every named deviation has its case");
        assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
    }
}

struct Function {
    name: &'static str,
    on_value: fn(&Value) -> Result<Value, Error>,
    on_text: fn(&str) -> Result<String, Error>,
    changes: fn(&str) -> Result<Vec<Change>, Error>,
}

const FUNCTIONS: &[Function] = &[
    Function {
        name: "codex",
        on_value: |value| Ok(sanitize(value, &SanitizeOptions::new(Dialect::CODEX))?.schema),
        on_text: |text| Ok(sanitize(text, &SanitizeOptions::new(Dialect::CODEX))?.schema.into_owned()),
        changes: |text| Ok(sanitize(text, &SanitizeOptions::new(Dialect::CODEX))?.changes()?.to_vec()),
    },
    Function {
        name: "codex-wire",
        on_value: |value| Ok(sanitize(value, &SanitizeOptions::new(Dialect::CODEX_WIRE))?.schema),
        on_text: |text| Ok(sanitize(text, &SanitizeOptions::new(Dialect::CODEX_WIRE))?.schema.into_owned()),
        changes: |text| Ok(sanitize(text, &SanitizeOptions::new(Dialect::CODEX_WIRE))?.changes()?.to_vec()),
    },
    Function {
        name: "normalizeEnvelope",
        on_value: |value| Ok(normalize_envelope(value)?.schema),
        on_text: |text| Ok(normalize_envelope(text)?.schema.into_owned()),
        changes: |text| Ok(normalize_envelope(text)?.changes()?.to_vec()),
    },
];

#[test]
fn every_function_accepts_real_tools() {
    for Source { text, is_whole } in sources("mcp_tools.jsonl") {
        let mut failures = Vec::new();
        // These counts are taken from the report alone; 96 tools have no descriptions.
        let (mut tools, mut refused, mut without_descriptions, mut without_constraints) = (0, 0, 0, 0);
        for line in text.lines().filter(|line| !line.is_empty()) {
            tools += 1;
            let tool = tree::read(line).unwrap_or_else(|error| panic!("{error}"));
            let name = tool
                .get("name")
                .and_then(|name| name.as_text())
                .map(|name| name.display().into_owned())
                .unwrap_or_default();
            let schema = tool.get("inputSchema").map(tree::write).unwrap_or_default();
            let value: Value = serde_json::from_str(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
            for function in FUNCTIONS {
                let fault = |what: &str| format!("{} of {name}: {what}", function.name);
                match ((function.on_value)(&value), (function.on_text)(&schema)) {
                    (Ok(from_value), Ok(from_text)) => {
                        let parsed: Option<Value> = serde_json::from_str(&from_text).ok();
                        if parsed.map(|value| value.to_string()) != Some(from_value.to_string()) {
                            failures.push(fault("value and text differ"));
                        }
                        if (function.on_text)(&from_text).as_ref() != Ok(&from_text) {
                            failures.push(fault("not idempotent on text"));
                        }
                        if (function.on_value)(&from_value).map(|again| again.to_string()) != Ok(from_value.to_string())
                        {
                            failures.push(fault("not idempotent on values"));
                        }
                        let changes = (function.changes)(&schema).unwrap_or_default();
                        if changes.is_empty() != (from_text == schema) {
                            failures.push(fault("the report does not show whether something changed"));
                        }
                        if function.name == "codex-wire" {
                            if check(&from_value, &SanitizeOptions::new(Dialect::CODEX_WIRE))
                                .is_ok_and(|violations| !violations.is_empty())
                            {
                                failures.push(fault("check finds violations in the output"));
                            }
                            without_descriptions +=
                                usize::from(changes.iter().any(|change| change.rule.id() == "compact-descriptions"));
                            without_constraints += usize::from(changes.iter().any(loses_constraint_or_default));
                        }
                    }
                    (Err(value), Err(text)) if value.code() == text.code() && value.pointer() == text.pointer() => {
                        refused += 1
                    }
                    (value, text) => {
                        failures.push(fault(&format!("by value: {:?}, by text: {:?}", value.err(), text.err())))
                    }
                }
            }
        }
        print_uncaptured(&format!(
            "mcp_tools.jsonl: {tools} tools through {} functions, {refused} refused",
            FUNCTIONS.len()
        ));
        print_uncaptured(&format!("  codex-wire: {without_descriptions} lose every description, {without_constraints} a constraint or default"));
        assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
        assert_eq!(refused, 0);
        if is_whole {
            assert_eq!((tools, without_descriptions), (1547, 96), "tools, without descriptions");
        }
    }
}

fn loses_constraint_or_default(change: &Change) -> bool {
    let keyword = change.pointer.rsplit('/').next().unwrap_or_default();
    change.rule.id() == "drop-keyword"
        && (change.accepts.as_str() != "same" || ["default", "format"].contains(&keyword))
}
