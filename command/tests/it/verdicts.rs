//! The same list has the same verdicts in the format of every API, in every dialect.

#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and `value[\"name\"]` of serde_json returns null instead of panicking"
)]

use serde_json::{json, Value};
use toolwire_command::{Command, Need, Printed};

/// Tools that no format changes, with one or more reasons for each outcome.
fn tools() -> Vec<Value> {
    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    Vec::from([
        json!({"name": "closed", "inputSchema": {
            "type": "object", "properties": {}, "additionalProperties": false, "required": []}}),
        json!({"name": "strict", "description": "Finds.", "inputSchema": {
            "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
            "additionalProperties": false}}),
        json!({"name": "open", "description": "Finds.", "inputSchema": open}),
        json!({"name": "a.b", "description": "A name that many APIs refuse.", "inputSchema": open}),
        json!({"name": "described", "description": "x".repeat(20_000), "inputSchema": open}),
        json!({"name": "empty", "inputSchema": {"type": "object"}}),
        json!({"name": "keywords", "inputSchema": {
            "type": "object",
            "properties": {
                "of": {"oneOf": [{"type": "string", "pattern": "(?<=a)b"}, {"type": "integer", "minimum": 3}]},
                "tuple": {"type": "array", "prefixItems": [{"type": "string"}]},
                "anything": {},
                "map": {"type": "object", "additionalProperties": {"type": "integer"}},
            },
            "required": ["of"]}}),
        json!({"name": "union", "inputSchema": {
            "type": "object", "anyOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": {"type": "string"}}, "required": ["b"]}]}}),
        json!({"name": "recursive", "inputSchema": {
            "type": "object", "properties": {"node": {"$ref": "#/$defs/node"}},
            "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}}}),
        json!({"name": "nothing", "inputSchema": false}),
        json!({"name": "none"}),
    ])
}

fn function(tool: &Value, member: &str, strict: Option<bool>) -> Value {
    let mut out = json!({});
    for (key, value) in tool.as_object().into_iter().flatten() {
        let key = if key == "inputSchema" { member } else { key };
        out[key] = value.clone();
    }
    if let Some(strict) = strict {
        out["strict"] = json!(strict);
    }
    out
}

fn written(format: &str, strict: Option<bool>) -> Value {
    let each = |member: &str| -> Vec<Value> { tools().iter().map(|tool| function(tool, member, strict)).collect() };
    let typed = |mut tool: Value| {
        tool["type"] = json!("function");
        tool
    };
    match format {
        "mcp" => json!(each("inputSchema")),
        "chat" => each("parameters").into_iter().map(|tool| json!({"type": "function", "function": tool})).collect(),
        "responses" => each("parameters").into_iter().map(typed).collect(),
        "anthropic" => json!(each("input_schema")),
        "gemini" => json!([{"functionDeclarations": each("parameters")}]),
        "gemini-json-schema" => json!([{"functionDeclarations": each("parametersJsonSchema")}]),
        "bedrock" => {
            let tool = |mut tool: Value| {
                if !tool["inputSchema"].is_null() {
                    tool["inputSchema"] = json!({"json": tool["inputSchema"]});
                }
                json!({"toolSpec": tool})
            };
            each("inputSchema").into_iter().map(tool).collect()
        }
        other => panic!("unknown format: {other}"),
    }
}

fn run(arguments: &[&str], list: &Value) -> Printed {
    let mut command = Command::new(&json!({"arguments": arguments}).to_string());
    while let Some(need) = command.need() {
        match need {
            Need::Input => command.give(list.to_string().as_bytes()),
            _ => command.fail("ENOENT"),
        }
    }
    while command.step().is_some() {}
    command.finish()
}

fn document(printed: &Printed) -> Value {
    serde_json::from_str(&printed.stdout)
        .unwrap_or_else(|error| panic!("{error}: {} {}", printed.stdout, printed.stderr))
}

/// Returns a line for each verdict of the matrix, without locations and messages.
fn matrix(list: &Value) -> Vec<String> {
    let document = document(&run(&["matrix", "--profile", "all", "--json"], list));
    let mut lines = Vec::new();
    for tool in document["tools"].as_array().expect("tools") {
        for verdict in tool["dialects"].as_array().expect("dialects") {
            let words = |list: &str, first: &str| {
                let list = verdict[list].as_array().expect("a list");
                let mut words: Vec<String> = list.iter().map(|one| format!("{} {}", one[first], one["rule"])).collect();
                words.sort();
                words.join(", ")
            };
            lines.push(format!(
                "{} {}: accepted {}, reinterpreted {}, ignored {} ({}); {} ({})",
                tool["name"],
                verdict["dialect"],
                verdict["accepted"],
                verdict["reinterpreted"],
                verdict["ignored"],
                words("reasons", "severity"),
                verdict["outcome"],
                words("losses", "outcome"),
            ));
        }
    }
    lines
}

fn losses(list: &Value) -> Vec<String> {
    let document = document(&run(&["check", "--profile", "all", "--rewritten", "closed", "--json"], list));
    let findings = document["findings"].as_array().expect("findings").iter();
    let mut lines: Vec<String> = findings
        .flat_map(|finding| {
            let dialects = finding["dialects"].as_array().cloned().unwrap_or_default();
            let line = |dialect: &Value| {
                format!("{} {} {} {}", finding["tool"], dialect["dialect"], finding["rule"], finding["severity"])
            };
            dialects.iter().map(line).collect::<Vec<_>>()
        })
        .collect();
    lines.sort();
    lines
}

fn same(formats: &[&str], strict: Option<bool>, lines: fn(&Value) -> Vec<String>, what: &str) {
    let (first, others) = formats.split_first().expect("a format");
    let expected = lines(&written(first, strict));
    assert!(expected.len() > 100, "{} lines of `{what}`", expected.len());
    for format in others {
        let found = lines(&written(format, strict));
        let differing: Vec<String> = expected
            .iter()
            .filter(|line| !found.contains(line))
            .map(|line| format!("- {line}"))
            .chain(found.iter().filter(|line| !expected.contains(line)).map(|line| format!("+ {line}")))
            .collect();
        assert!(differing.is_empty(), "`{what}`, {first} and {format}:\n{}", differing.join("\n"));
    }
}

const FORMATS: [&str; 7] = ["mcp", "chat", "responses", "anthropic", "gemini", "gemini-json-schema", "bedrock"];
const WITH_FLAG: [&str; 4] = ["chat", "responses", "anthropic", "bedrock"];

#[test]
fn one_list_has_one_verdict() {
    same(&FORMATS, None, matrix, "matrix");
    same(&FORMATS, None, losses, "check --rewritten");
}

#[test]
fn one_list_with_flags_has_one_verdict() {
    for strict in [true, false] {
        same(&WITH_FLAG, Some(strict), matrix, "matrix");
        same(&WITH_FLAG, Some(strict), losses, "check --rewritten");
    }
}

/// OpenAI's format has a flag that MCP does not have. Setting it loses nothing.
#[test]
fn setting_the_flag_is_no_loss() {
    let tool = json!({"name": "aaa", "parameters": {
        "type": "object", "properties": {}, "additionalProperties": false, "required": []}});
    let list = json!([{"type": "function", "function": tool}]);
    for dialect in ["moonshot", "openai-strict", "openai-responses", "codex"] {
        for level in ["not-strict", "changed", "rejected"] {
            let printed = run(&["matrix", "-d", dialect, "--fail-on", level], &list);
            assert_eq!(printed.exit_code, 0, "{dialect}, {level}: {}", printed.stdout);
        }
    }
}

/// A cause is one finding, although APIs describe it in different words. The rules come by severity, then by the number
/// of the dialects that they affect, then by the number of their findings.
#[test]
fn a_cause_is_one_finding_and_the_heaviest_rule_is_first() {
    let document = document(&run(&["check", "--profile", "all", "--show", "ignored", "--json"], &written("mcp", None)));
    let findings = document["findings"].as_array().expect("findings");
    let mut causes: Vec<String> = Vec::new();
    let mut rules: Vec<(String, Vec<&Value>)> = Vec::new();
    for finding in findings {
        causes.push(format!("{} {} {} {}", finding["rule"], finding["severity"], finding["tool"], finding["pointer"]));
        let rule = format!("{} {}", finding["rule"], finding["severity"]);
        match rules.last_mut() {
            Some((last, of_rule)) if *last == rule => of_rule.push(finding),
            _ => rules.push((rule, Vec::from([finding]))),
        }
    }
    let count = causes.len();
    causes.sort();
    causes.dedup();
    assert_eq!(causes.len(), count, "a cause has several findings");
    let names: std::collections::BTreeSet<&String> = rules.iter().map(|(rule, _)| rule).collect();
    assert_eq!(names.len(), rules.len(), "the findings of a rule stand together: {names:?}");
    let weights: Vec<(usize, usize, usize, &String)> = rules
        .iter()
        .map(|(rule, findings)| {
            let severity =
                ["refused", "reinterpreted", "ignored"].iter().position(|word| findings[0]["severity"] == *word);
            let copies = |finding: &&Value| 1 + finding["copies"].as_array().map_or(0, Vec::len);
            let dialects: std::collections::BTreeSet<&str> = findings
                .iter()
                .flat_map(|finding| finding["dialects"].as_array().into_iter().flatten())
                .filter_map(|dialect| dialect["dialect"].as_str())
                .collect();
            let findings: usize = findings.iter().map(copies).sum();
            (severity.expect("a severity"), usize::MAX - dialects.len(), usize::MAX - findings, rule)
        })
        .collect();
    for pair in weights.windows(2) {
        let ((a, b, c, first), (d, e, f, second)) = (pair[0], pair[1]);
        assert!((a, b, c) <= (d, e, f), "{first} comes before {second}");
    }
    assert!(rules.len() > 10, "only {} rules", rules.len());
}
