//! What real APIs answered 200 to: `check` finds nothing in it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{rows, say, text, violations};

/// What `strict` of a tool says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strict {
    True,
    /// `false`, or not said where that means the same.
    Not,
    /// Whatever it says: the API does not look at it.
    Any,
}

/// What a recorded request went to, and the dialect whose surface that is.
struct Surface {
    /// How the host ends.
    host: &'static str,
    format: &'static str,
    kinds: &'static [&'static str],
    strict: Strict,
    dialect: &'static str,
}

const TOOL: &[&str] = &["tool"];

/// Where the same validator reads response formats.
const TOOL_OR_RESPONSE: &[&str] = &["tool", "tool-in-input", "response_format"];

const MAPPED: &[Surface] = &[
    Surface {
        host: "api.openai.com",
        format: "openai-chat",
        kinds: TOOL_OR_RESPONSE,
        strict: Strict::True,
        dialect: "openai-strict",
    },
    Surface { host: "api.openai.com", format: "openai-chat", kinds: TOOL, strict: Strict::Not, dialect: "openai-chat" },
    Surface {
        host: "api.openai.com",
        format: "openai-responses",
        kinds: TOOL_OR_RESPONSE,
        strict: Strict::True,
        dialect: "openai-strict",
    },
    // Where `strict` is left out, the API makes the schema strict if it can, and takes it as it is if it cannot.
    Surface {
        host: "api.openai.com",
        format: "openai-responses",
        kinds: &["tool", "tool-in-input"],
        strict: Strict::Not,
        dialect: "openai-responses",
    },
    Surface {
        host: "api.anthropic.com",
        format: "anthropic-messages",
        kinds: &["response_format"],
        strict: Strict::Any,
        dialect: "anthropic-strict",
    },
    Surface {
        host: "api.anthropic.com",
        format: "anthropic-messages",
        kinds: TOOL,
        strict: Strict::True,
        dialect: "anthropic-strict",
    },
    Surface {
        host: "api.anthropic.com",
        format: "anthropic-messages",
        kinds: TOOL,
        strict: Strict::Not,
        dialect: "anthropic",
    },
    Surface {
        host: "googleapis.com",
        format: "gemini-generateContent",
        kinds: &["tool:parameters", "response_format:responseSchema"],
        strict: Strict::Any,
        dialect: "gemini",
    },
    Surface {
        host: "googleapis.com",
        format: "gemini-generateContent",
        kinds: &["tool:parametersJsonSchema", "tool:parameters_json_schema", "response_format:responseJsonSchema"],
        strict: Strict::Any,
        dialect: "gemini-json-schema",
    },
    Surface { host: "api.x.ai", format: "openai-responses", kinds: TOOL, strict: Strict::Any, dialect: "xai" },
    Surface {
        host: "api.deepseek.com",
        format: "openai-chat",
        kinds: TOOL,
        strict: Strict::True,
        dialect: "deepseek-strict",
    },
    Surface { host: "api.deepseek.com", format: "openai-chat", kinds: TOOL, strict: Strict::Not, dialect: "deepseek" },
    Surface { host: "amazonaws.com", format: "bedrock-converse", kinds: TOOL, strict: Strict::Not, dialect: "bedrock" },
    Surface { host: "api.mistral.ai", format: "openai-chat", kinds: TOOL, strict: Strict::Not, dialect: "mistral" },
    Surface { host: "api.groq.com", format: "openai-chat", kinds: TOOL, strict: Strict::Not, dialect: "groq" },
    Surface { host: "api.cerebras.ai", format: "openai-chat", kinds: TOOL, strict: Strict::Any, dialect: "cerebras" },
];

/// Rows that bind no dialect: how the host ends (`""`: any), how the kind begins, and why not. The first that fits
/// counts.
const UNMAPPED: &[(&str, &str, &str)] = &[
    ("", "response_format", "a response format of a host where no dialect is known to hold for them"),
    ("**REDACTED**", "tool", "the host is not told"),
    ("openrouter.ai", "tool", "a router: the request went to a provider that is not told"),
    ("router.huggingface.co", "tool", "a router: the request went to a provider that is not told"),
    ("<GPUSTACK_API_BASE>/chat/completions", "tool", "a server for several engines, one of them not told"),
    (
        "<OLLAMA_API_BASE>/chat/completions",
        "tool",
        "Ollama shows tools to the model and makes no grammar of them: nothing is checked",
    ),
    ("ollama.com", "tool", "Ollama's cloud hands requests on to hosts that are not told"),
    ("api.cohere.com", "tool", "no dialect: Cohere"),
    ("rubyllm.services.ai.azure.com", "tool", "no dialect: Azure, for models of several makers"),
    ("api.aws", "tool", "no dialect: Bedrock's OpenAI-compatible API"),
    ("amazonaws.com", "tool", "no dialect: Bedrock's strict tools"),
    ("api.deepseek.com", "tool", "no dialect: DeepSeek's Responses API"),
    ("api.inference.crusoecloud.com", "tool", "no dialect: Crusoe"),
    ("generativelanguage.googleapis.com", "tool", "no dialect: Gemini's OpenAI-compatible API"),
    ("myorg-myaccount.snowflakecomputing.com", "tool", "no dialect: Snowflake"),
];

/// What `check` refuses though it was accepted: the dialect, the rule, in how many rows, and why the table stays.
const EXCEPTIONS: &[(&str, &str, usize, &str)] = &[
    ("gemini", "unknown-keyword", 1, "`any_of` is the protocol's other name for `anyOf`, and no key of JSON Schema"),
    ("gemini", "untyped", 1, "the same schema"),
    ("gemini-json-schema", "root-object", 1, "a response format whose root is a reference; tools have an object there"),
    (
        "gemini-json-schema",
        "beside-ref",
        1,
        "`title` beside a reference at the root: the documentation refuses it everywhere",
    ),
    (
        "openai-strict",
        "any-of-first-keys",
        1,
        "recorded with sorted keys: `kind`, by which the branches differ, stood first",
    ),
];

fn surface(row: &Value) -> Option<&'static Surface> {
    let strict = row["strict"] == true;
    MAPPED.iter().find(|surface| {
        let strict_fits = match surface.strict {
            Strict::True => strict,
            Strict::Not => !strict,
            Strict::Any => true,
        };
        strict_fits
            && text(row, "host").ends_with(surface.host)
            && text(row, "format") == surface.format
            && surface.kinds.contains(&text(row, "kind"))
    })
}

#[test]
fn accepted_schemas_are_accepted() {
    for (rows, is_whole) in rows("accepted_schemas.jsonl") {
        let (mut mapped, mut unmapped): (BTreeMap<&str, usize>, BTreeMap<&str, usize>) = Default::default();
        let mut excepted: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut faults = Vec::new();
        for row in &rows {
            let name =
                format!("{} {} {} ({})", text(row, "host"), text(row, "kind"), text(row, "name"), text(row, "source"));
            let Some(surface) = surface(row) else {
                let known = UNMAPPED
                    .iter()
                    .find(|(host, kind, _)| text(row, "host").ends_with(host) && text(row, "kind").starts_with(kind));
                match known {
                    Some((_, _, why)) => *unmapped.entry(why).or_default() += 1,
                    None => {
                        faults.push(format!("{name}: neither mapped to a dialect nor named as one that binds none"))
                    }
                }
                continue;
            };
            *mapped.entry(surface.dialect).or_default() += 1;
            let found = violations(&row["schema"], surface.dialect);
            let rules: std::collections::BTreeSet<&str> = found.iter().map(|violation| violation.rule).collect();
            for rule in &rules {
                *excepted.entry((surface.dialect, rule)).or_default() += 1;
            }
            let is_known = |rule: &&str| {
                EXCEPTIONS.iter().any(|(dialect, known, _, _)| *dialect == surface.dialect && known == rule)
            };
            if !rules.iter().all(is_known) {
                faults.push(format!("{name}: {} finds {found:?}\n  in {}", surface.dialect, row["schema"]));
            }
        }
        say(&format!("accepted_schemas.jsonl: {} rows, {} of them mapped", rows.len(), mapped.values().sum::<usize>()));
        for (dialect, count) in &mapped {
            say(&format!("  {dialect:<20} {count:>4}"));
        }
        for (why, count) in &unmapped {
            say(&format!("  {count:>4} unmapped: {why}"));
        }
        for (dialect, rule, count, why) in EXCEPTIONS {
            say(&format!("  {count:>4} rows of {dialect} excepted from `{rule}`: {why}"));
            let found = excepted.get(&(*dialect, *rule)).copied().unwrap_or_default();
            if found > *count || (is_whole && found < *count) {
                faults.push(format!(
                    "{dialect} refuses {found} accepted rows by `{rule}`, the list of exceptions says {count}"
                ));
            }
        }
        assert!(faults.is_empty(), "{} faults\n\n{}\n", faults.len(), faults.join("\n\n"));
    }
}
