//! The dialects of hosts: the results of `dialect_for` for every host, port and family of models that it knows.

#![allow(clippy::panic, clippy::expect_used, reason = "the generator fails by panicking")]

use std::fmt::Write as _;

use toolwire::{dialect_for, options::Api, reports::DialectChoice, DialectQuery};

use super::markdown::cell;

/// Queries with another known property in addition to the host.
const BESIDE: &[(&str, Option<Api>, Option<&str>)] = &[
    ("Responses", Some(Api::OpenaiResponses), Some("gpt-5.1")),
    ("gpt-5", None, Some("gpt-5.1")),
    ("gpt-4", None, Some("gpt-4.1")),
    ("claude", None, Some("claude-sonnet-4-5")),
    ("gemini", None, Some("gemini-3-pro")),
    ("grok", None, Some("grok-4")),
    ("mistral", None, Some("mistral-large-3")),
    ("kimi", None, Some("kimi-k2")),
    ("deepseek", None, Some("deepseek-v3.2")),
    ("llama", None, Some("llama-4-maverick")),
];

const PORTS: &[(&str, &[&str])] = &[
    ("any host, port 11434", &["gpu.example:11434"]),
    ("localhost and private addresses, port 8000", &["localhost:8000"]),
    ("localhost and private addresses, port 30000", &["10.0.0.1:30000"]),
    ("localhost and private addresses, port 8080", &["192.168.0.1:8080"]),
    ("localhost and private addresses, port 1234", &["host.docker.internal:1234"]),
];

fn with(mut query: DialectQuery, api: Option<Api>, model: Option<&str>) -> DialectQuery {
    (query.api, query.model) = (api, model.map(String::from));
    query
}

fn answer(query: &DialectQuery) -> DialectChoice {
    dialect_for(query).unwrap_or_else(|error| panic!("{query:?}: {error}"))
}

/// With `strict: true`. Empty if no dialect is known.
fn strict(query: &DialectQuery) -> String {
    let found = dialect_for(&query.clone().strict(true).exact(true)).map(|done| done.dialect);
    found.map_or_else(|_| String::new(), |dialect| format!("`{dialect}`"))
}

fn row(host: &str) -> String {
    let query = DialectQuery::default().host(host.replace('*', "x"));
    let plain = answer(&query);
    let mut others = Vec::new();
    for (label, api, model) in BESIDE {
        let beside = answer(&with(query.clone(), *api, *model));
        if beside.dialect != plain.dialect {
            others.push(format!("{label}: `{}` ({})", beside.dialect, beside.confidence));
        }
    }
    format!(
        "`{}` ({}) | {} | {} | {}",
        plain.dialect,
        plain.confidence,
        strict(&query),
        others.join(", "),
        cell(&plain.because)
    )
}

pub(crate) fn section() -> String {
    let mut page = String::from("\n## Dialects by host\n\n");
    page += "The table shows what [`dialectFor`](../functions/tools.md#dialects) returns: the dialect with its confidence, \
    the dialect with `strict: true` (empty: none is known), and the models or\n";
    page += "protocols that change it. `*` matches any characters.\n\n";
    page += "| host | dialect | strict | exceptions | reason |\n|---|---|---|---|---|\n";
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for host in DialectChoice::hosts() {
        let cells = row(host);
        match rows.iter_mut().find(|(known, _)| *known == cells) {
            Some((_, hosts)) => hosts.push(format!("`{host}`")),
            None => rows.push((cells, vec![format!("`{host}`")])),
        }
    }
    for (place, samples) in PORTS {
        rows.extend(samples.iter().map(|sample| (row(sample), vec![(*place).to_owned()])));
    }
    for (cells, hosts) in rows {
        let _ = writeln!(page, "| {} | {cells} |", hosts.join(", "));
    }
    page += "\nFor an unknown host, the model determines the dialect if hardly anyone except its maker serves it:\n\n";
    page += "| model | dialect | strict | dialect at an unknown host |\n|---|---|---|---|\n";
    for (label, api, model) in BESIDE {
        let query = with(DialectQuery::default(), *api, *model);
        let strict = strict(&query);
        let elsewhere = answer(&query.clone().host("llm.example"));
        let _ = writeln!(page, "| {label} | `{}` | {strict} | `{}` |", answer(&query).dialect, elsewhere.dialect);
    }
    page
}
