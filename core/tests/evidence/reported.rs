//! What real APIs answered 400 to, as users quoted it: `check` names the problem.

use std::collections::BTreeMap;

use super::{rows, say, text, violations};

/// Which API a row speaks of, and the dialect of it.
const PROVIDERS: &[(&str, &str)] = &[
    ("openai", "openai-chat"),
    ("openai(copilot)", "openai-chat"),
    ("openai strict", "openai-strict"),
    ("anthropic", "anthropic"),
    ("gemini", "gemini"),
    ("gemini parameters", "gemini"),
    ("vertex", "vertex"),
    ("moonshot", "moonshot"),
    ("fireworks/ollama cloud", "fireworks"),
];

/// Providers that no dialect speaks of.
const UNMAPPED: &[(&str, &str)] = &[
    ("anthropic (Claude Code drops silently)", "a client, not an API"),
    ("anthropic-compatible gateway", "not told which"),
    ("openai codex (old)", "of requests, not of schemas: deferred loading"),
    ("openai responses", "of requests, not of schemas: deferred loading"),
    ("MCP TypeScript SDK (client)", "a client, not an API"),
];

/// What the API answered, and the rule by which `check` must say the same. The first that fits counts.
const SAME: &[(&str, &str)] = &[
    ("array schema missing items", "array-without-items"),
    ("object schema missing properties", "object-without-properties"),
    ("'object' is not of type 'object', 'boolean'", "not-a-schema"),
    ("None is not of type 'object', 'boolean'", "items-not-schema"),
    ("got 'type: \"None\"'", "root-object"),
    ("'any' is not valid under any of the given schemas", "unknown-type"),
    ("'allOf' is not permitted", "refused-keyword"),
    ("does not support oneOf, allOf, or anyOf at the top level", "root-keyword"),
    // The API left `$ref` out, and then missed what it had led to.
    ("items: missing field", "refused-keyword"),
    ("enum[0]' (TYPE_STRING)", "enum-kind"),
    ("Proto field is not repeating, cannot start list", "type-list"),
    ("schema didn't specify the schema type field", "untyped"),
    ("are not defined in the schema properties", "required-unknown"),
    ("when using anyOf, type should be defined in anyOf items", "type-beside-any-of"),
    ("is not defined in properties", "required-unknown"),
    ("references must start with", "ref-form"),
    ("items must be an object", "array-items"),
    ("conflicting keywords found after $ref expansion", "ref-shared"),
    ("type is not defined", "untyped"),
    ("could not understand the instance", "untyped"),
];

/// Rows in which `check` does not name the problem, and why it need not.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "https://github.com/makenotion/notion-mcp-server/issues/102",
        "really strict mode: `allOf` is accepted where it is not",
    ),
    (
        "https://github.com/MoonshotAI/kimi-cli/issues/2061",
        "outdated: the validator accepts descriptions on both sides of a reference",
    ),
    ("https://github.com/earendil-works/pi/issues/4138", "outdated: the validator accepts schemas without a type"),
];

#[test]
fn reported_rejections_are_named() {
    for (rows, _) in rows("issue_cases.jsonl") {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let mut unmapped = Vec::new();
        let mut faults = Vec::new();
        for row in &rows {
            let (url, error) = (text(row, "url"), text(row, "error"));
            let Some((_, dialect)) = PROVIDERS.iter().find(|(provider, _)| *provider == text(row, "provider")) else {
                match UNMAPPED.iter().find(|(provider, _)| *provider == text(row, "provider")) {
                    Some((provider, why)) => unmapped.push(format!("{provider}: {why} ({url})")),
                    None => faults.push(format!(
                        "{url}: the provider `{}` is neither mapped nor named as unmapped",
                        row["provider"]
                    )),
                }
                continue;
            };
            if row["schema"].is_null() {
                unmapped.push(format!("{dialect}: no schema told ({url})"));
                continue;
            }
            // A schema that was written to fit the message binds only where nothing better speaks, and nothing better
            // does here but where an exception says so.
            let is_quoted = text(row, "schema_origin").starts_with("quoted");
            *counts.entry(if is_quoted { "quoted" } else { "reconstructed" }).or_default() += 1;
            let Some((_, rule)) = SAME.iter().find(|(says, _)| error.contains(says)) else {
                faults.push(format!("{url}: no rule is known for {error:?}"));
                continue;
            };
            let found = violations(&row["schema"], dialect);
            let is_named = found.iter().any(|violation| violation.rule == *rule);
            match EXCEPTIONS.iter().find(|(known, _)| *known == url) {
                Some((_, why)) if !is_named && !is_quoted => {
                    *counts.entry("excepted").or_default() += 1;
                    say(&format!("  excepted: {url}: {why}"));
                }
                Some(_) => faults.push(format!("{url}: named, or quoted, and yet an exception")),
                None if is_named => {}
                None => faults.push(format!(
                    "{url}: {dialect} does not find `{rule}`\n  {error}\n  {}\n  {found:?}",
                    row["schema"]
                )),
            }
        }
        say(&format!("issue_cases.jsonl: {} rows, {counts:?}, {} that bind no dialect", rows.len(), unmapped.len()));
        for row in &unmapped {
            say(&format!("  unmapped: {row}"));
        }
        assert!(faults.is_empty(), "{} faults\n\n{}\n", faults.len(), faults.join("\n\n"));
    }
}
