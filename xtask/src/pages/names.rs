//! The closed lists of names as types, for TypeScript and for Python's type checkers.

use std::fmt::Write as _;

use crate::id;
use toolwire::{
    dialects,
    reports::{AnswerChange, LeftReason, RepairRule, RequestFact, ResultRule, Warning},
    rules::{Constraint, Rule},
    sanitize_tools, ToolsOptions,
};

struct Names {
    type_name: &'static str,
    summary: &'static str,
    /// The names, each with its meaning.
    members: Vec<(&'static str, &'static str)>,
}

fn lists() -> [Names; 9] {
    [
        Names {
            type_name: "Dialect",
            summary: "The names of the dialects, one for each surface of a model API. `dialects()` describes them.",
            members: dialects().iter().map(|dialect| (dialect.name, dialect.surface)).collect(),
        },
        Names {
            type_name: "ChangeRule",
            summary: "The rules that change schemas and tools.",
            members: Rule::ALL.iter().map(|rule| (rule.id(), rule.summary())).collect(),
        },
        Names {
            type_name: "Constraint",
            summary: "The constraints of APIs whose violations `check` and `checkTools` report.",
            members: Constraint::ALL.iter().map(|rule| (rule.id(), rule.summary())).collect(),
        },
        Names {
            type_name: "RequestConstraint",
            summary: "The constraints of APIs whose violations `checkRequest` reports.",
            members: RequestFact::CONSTRAINTS.to_vec(),
        },
        Names {
            type_name: "DeferredWarningCode",
            summary: "The warnings about requests with deferred tools.",
            members: Warning::CODES.to_vec(),
        },
        Names {
            type_name: "RepairRule",
            summary: "The rules by which `repairArguments` repairs.",
            members: RepairRule::ALL.iter().map(|rule| (rule.as_str(), rule.summary())).collect(),
        },
        Names {
            type_name: "LeftReason",
            summary: "The reasons why `repairArguments` leaves something unchanged.",
            members: LeftReason::ALL.iter().map(|reason| (reason.as_str(), reason.summary())).collect(),
        },
        Names {
            type_name: "ResultRule",
            summary: "The rules by which `fitResult` changes results.",
            members: ResultRule::ALL.iter().map(|rule| (rule.as_str(), rule.summary())).collect(),
        },
        Names {
            type_name: "AnswerChange",
            summary: "The changes that `restore` makes to a reply, except to the values of its answer.",
            members: AnswerChange::ALL.iter().map(|change| (change.as_str(), change.summary())).collect(),
        },
    ]
}

/// Generates `npm/src/dialect-names.ts`.
pub(crate) fn typescript_dialects() -> String {
    let [dialects_list, ..] = lists();
    let mut text = unions([dialects_list]);
    text.push_str(
        "\n/** The format in which `sanitizeTools` writes tools for a dialect, unless `format` selects another. */\n",
    );
    text.push_str("export interface DialectFormats {\n");
    for dialect in dialects() {
        let key = if dialect.name.contains('-') { format!("'{}'", dialect.name) } else { dialect.name.to_owned() };
        let format = format_of(dialect.name);
        let _ =
            writeln!(text, "  /** `{}` is written in the format `{format}`. */\n  {key}: '{format}';", dialect.name);
    }
    text.push_str("}\n");
    text
}

/// Generates `npm/src/rules.ts`.
pub(crate) fn typescript_rules() -> String {
    let [_, reported @ ..] = lists();
    unions(reported)
}

fn unions<const N: usize>(lists: [Names; N]) -> String {
    let mut text = String::from("// Generated: `cargo xtask pages`. Edit the tables, not this file.\n");
    for Names { type_name, summary, members } in lists {
        let _ = write!(text, "\n/** {summary} */\nexport type {type_name} =");
        for (name, meaning) in members {
            let _ = write!(text, "\n  /** {}. */\n  | '{name}'", meaning.trim_end_matches('.').replace("*/", "*\\/"));
        }
        text.push_str(";\n");
    }
    text
}

/// Returns the format of a dialect's tools, detected from a tool that is written for the dialect.
fn format_of(dialect: &str) -> &'static str {
    let listed = r#"[{"name": "a", "inputSchema": {"type": "object", "properties": {"b": {"type": "string"}}}}]"#;
    let written = sanitize_tools(listed, &ToolsOptions::new(id(dialect))).map(|written| written.tools.into_owned());
    let written = written.unwrap_or_default();
    [
        ("toolSpec", "bedrock"),
        ("parametersJsonSchema", "gemini-json-schema"),
        ("functionDeclarations", "gemini"),
        ("input_schema", "anthropic"),
        ("inputSchema", "mcp"),
        ("\"function\":{", "openai-chat"),
        ("\"strict\"", "openai-responses"),
        ("\"parameters\"", "gemini-interactions"),
    ]
    .into_iter()
    .find(|(mark, _)| written.contains(mark))
    // A type that does not exist fails to compile, which reveals that a mark is missing here.
    .map_or("a format without a mark", |(_, format)| format)
}

/// Generates `python/src/toolwire/_names.py`.
pub(crate) fn python() -> String {
    let mut text = String::from(
        "\"\"\"The closed lists of names, for type checkers.\n\n\
         Generated: `cargo xtask pages`. Edit the tables, not this file.\n\"\"\"\n\n\
         from __future__ import annotations\n\nfrom typing import Literal, TypeAlias\n",
    );
    for Names { type_name, summary, members } in lists() {
        let type_name = if type_name == "Dialect" { "DialectName" } else { type_name };
        let summary = summary
            .replace("checkTools", "check_tools")
            .replace("checkRequest", "check_request")
            .replace("repairArguments", "repair_arguments");
        let _ = write!(text, "\n{type_name}: TypeAlias = Literal[\n");
        for (name, _) in members {
            let _ = writeln!(text, "    \"{name}\",");
        }
        let _ = write!(text, "]\n\"\"\"{summary}\"\"\"\n");
    }
    text
}
