//! Every recorded answer of an API in the data next to the checkout: its dialect, and whether the table agrees. The
//! tests use the results, and `docs/evidence.md` shows their counts.

pub(crate) mod exceptions;
mod hosts;
mod judge;
mod page;
pub(crate) mod programs;
pub(crate) mod providers;
mod surfaces;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    fs,
};

use serde_json::{json, Value};

use self::exceptions::EXCEPTIONS;
pub(crate) use self::page::aging;
use crate::root;

/// Relative to the root of the project.
pub(crate) const DATA: &str = "../shared/data";

/// Relative to the root of the project.
pub(crate) const PAGE: &str = "docs/evidence.md";

/// Returns the page with the counts. An answer that contradicts a table is an error.
pub(crate) fn generate() -> Result<BTreeMap<String, String>, Box<dyn Error>> {
    let ledger = Ledger::read_all().ok_or_else(|| format!("expected {DATA} beside the checkout, found none"))?;
    if let Some(fault) = ledger.faults.first() {
        return Err(format!("{} faults, the first: {fault}", ledger.faults.len()).into());
    }
    Ok(BTreeMap::from([(PAGE.to_owned(), ledger.page())]))
}

type Read = fn(&Value) -> Answer;

const FILES: &[(&str, Read)] = &[
    ("accepted_schemas.jsonl", read_accepted_schema),
    ("answers.jsonl", read_answered_schema),
    ("more/answers.jsonl", read_answered_schema),
    ("answers_3.jsonl", read_answered_schema),
    ("answered_requests.jsonl", read_answered_request),
    ("more/answered_requests.jsonl", read_answered_request),
    ("answered_requests_3.jsonl", read_answered_request),
    ("issue_cases.jsonl", read_issue),
    ("issue_cases_2.jsonl", read_issue),
    ("more/issue_cases_2.jsonl", read_issue),
    ("kimi_dynamic_tools.json", read_kimi_case),
    ("more/kimi_dynamic_tools.json", read_kimi_case),
];

/// The dialect that a row is evidence for.
pub(crate) enum RowDialect {
    Dialect(&'static str),
    /// Nothing, with the reason.
    Nothing(&'static str),
    /// A source that is not in the tables yet, which is a fault.
    Unknown,
}

impl RowDialect {
    fn of(found: Option<Result<&'static str, &'static str>>) -> RowDialect {
        match found {
            Some(Ok(dialect)) => RowDialect::Dialect(dialect),
            Some(Err(why)) => RowDialect::Nothing(why),
            None => RowDialect::Unknown,
        }
    }
}

pub(crate) enum Sent {
    Schema(Value),
    /// The schema of a response format.
    Response(Value),
    Tools(Value),
    /// A complete request with its tools, wherever they are. Its tool choice is also checked.
    Request(Value),
    /// A list of tools, and its request with a history of one message. If the request was accepted, both are checked;
    /// if it was rejected, only the request.
    Whole(Value, Value),
}

pub(crate) struct Answer {
    /// Name of the answer in messages.
    name: String,
    row_dialect: RowDialect,
    /// The text of the error, or its source. `None` if the request was accepted.
    error: Option<String>,
    sent: Sent,
    /// True if the exchange itself was recorded, false if it was only quoted or described.
    recorded: bool,
}

pub(crate) fn text<'a>(row: &'a Value, member: &str) -> &'a str {
    row[member].as_str().unwrap_or_default()
}

fn read_accepted_schema(row: &Value) -> Answer {
    let name = format!("{} {} {} ({})", text(row, "host"), text(row, "kind"), text(row, "name"), text(row, "source"));
    let sent = if text(row, "kind").starts_with("response_format") { Sent::Response } else { Sent::Schema };
    Answer {
        name,
        row_dialect: hosts::row_dialect(row),
        error: None,
        sent: sent(row["schema"].clone()),
        recorded: true,
    }
}

fn exchange_answer(row: &Value, row_dialect: RowDialect, sent: Sent) -> Answer {
    Answer {
        name: format!("{} {} ({})", text(row, "surface"), text(row, "name"), text(row, "source")),
        row_dialect,
        error: (text(row, "verdict") != "accepted").then(|| text(row, "error").to_owned()),
        sent,
        recorded: text(row, "evidence") == "recorded",
    }
}

fn read_answered_schema(row: &Value) -> Answer {
    let is_response = text(row, "kind") == "response-format";
    let sent = if is_response { Sent::Response } else { Sent::Schema };
    exchange_answer(row, surfaces::of_schema(row), sent(row["schema"].clone()))
}

/// Parts of errors about a request's tool choice, its model, or the types and shapes of its tools.
const REQUEST_ERRORS: &[&str] = &[
    "tool_choice",
    "Thinking may not be enabled",
    "is not supported with this model",
    "does not support tools",
    "is not supported by the provided model",
    "Function calling is not enabled",
    "Deep research models only support",
    "must be one of [function, mcp]",
    "Input should be 'function'",
    "Missing required parameter: 'tools[0].name'",
];

fn read_answered_request(row: &Value) -> Answer {
    let tools = row["tools"].clone();
    let is_accepted = text(row, "verdict") == "accepted";
    if !is_accepted && !REQUEST_ERRORS.iter().any(|phrase| text(row, "error").contains(phrase)) {
        return exchange_answer(row, surfaces::of_request(row), Sent::Tools(tools));
    }
    let row_dialect = match text(row, "surface") {
        // DashScope has no dialect. Its facts about requests are the facts of `portable`.
        "alibaba" if !is_accepted => RowDialect::Dialect("portable"),
        // OpenRouter forwards a request to the vendor of the model.
        "openrouter" if !is_accepted && text(row, "model").starts_with("x-ai/") => RowDialect::Dialect("xai"),
        _ => surfaces::of_request(row),
    };
    exchange_answer(row, row_dialect, Sent::Whole(tools, request_of(row)))
}

fn request_of(row: &Value) -> Value {
    let facts = &row["request_facts"];
    let mut request = json!({ "model": row["model"], "tools": row["tools"] });
    let (key, history) = match text(row, "format") {
        "openai-responses" => ("input", json!("hi")),
        "gemini-generateContent" => ("contents", json!([{ "parts": [{ "text": "hi" }] }])),
        _ => ("messages", json!([{ "role": "user", "content": "hi" }])),
    };
    request[key] = history;
    match &facts["thinking"] {
        Value::Null => {}
        Value::Bool(enabled) => request["enable_thinking"] = json!(enabled),
        thinking => request["thinking"] = thinking.clone(),
    }
    if !facts["tool_choice"].is_null() {
        let member = if key == "contents" { "toolConfig" } else { "tool_choice" };
        request[member] = facts["tool_choice"].clone();
    }
    request
}

fn read_issue(row: &Value) -> Answer {
    let (url, error, note) = (text(row, "url"), text(row, "error"), text(row, "note"));
    // Rows without a status come from clients or documentation: those without an error are accepted.
    let is_accepted = row["status"] == 200 || (row["status"].is_null() && row["error"].is_null());
    let mut row_dialect = providers::row_dialect(text(row, "provider"));
    let sent = match (&row["schema"], &row["request"]) {
        (Value::Null, Value::Null) if error.starts_with("tool_choice '") => Sent::Request(with_choice(error)),
        (Value::Null, request @ Value::Object(_)) => Sent::Request(request.clone()),
        (schema, _) => Sent::Schema(schema.clone()),
    };
    if matches!((&row_dialect, &sent), (RowDialect::Dialect(_), Sent::Schema(Value::Null))) {
        row_dialect = RowDialect::Nothing("the thread shows no schema");
    }
    Answer {
        name: format!("{url}: {error} {note}"),
        row_dialect,
        error: (!is_accepted).then(|| format!("{error} | {url}")),
        sent,
        // Running the server's own validator is treated as a recording.
        recorded: ["recorded", "run through"].iter().any(|begin| text(row, "schema_origin").starts_with(begin)),
    }
}

fn with_choice(error: &str) -> Value {
    let choice = match error.split('\'').nth(1) {
        Some("specified") => json!({"type": "function", "function": {"name": "ping"}}),
        choice => json!(choice),
    };
    let parameters = json!({"type": "object", "properties": {}});
    let tool = json!({"type": "function", "function": {"name": "ping", "parameters": parameters}});
    json!({"tools": [tool], "tool_choice": choice})
}

/// Cases that Moonshot refuses for their messages, or for a choice without tools. A list
/// of tools alone cannot show these problems.
const MESSAGE_CASES: &[&str] = &[
    "dynamic_tool_in_user_message",
    "dynamic_tool_in_assistant_message",
    "content_and_dynamic_tools",
    "dynamic_tools_not_array",
    "tool_role_without_tool_call_id",
    "tool_choice_with_empty_tools",
    "tool_choice_required_without_tools",
    "tool_choice_invalid_value",
];

/// Cases that Moonshot refuses for the `type` of a tool.
const TYPE_CASES: &[&str] = &["unsupported_tool_type", "mixed_valid_and_bogus_type_tools"];

fn read_kimi_case(row: &Value) -> Answer {
    let (name, why) = (text(row, "name"), text(row, "why"));
    let is = |names: &[&str]| names.iter().any(|begin| name.starts_with(begin));
    let row_dialect = match () {
        () if is(MESSAGE_CASES) => RowDialect::Nothing("about a request's messages and tool choice, not its tools"),
        () if is(TYPE_CASES) => RowDialect::Nothing("about tools of other types, which are passed on as hosted tools"),
        () => RowDialect::Dialect("moonshot"),
    };
    Answer {
        name: format!("kimi {name}: {why}"),
        row_dialect,
        error: (row["expect"] != 200).then(|| why.to_owned()),
        sent: Sent::Request(row["request"].clone()),
        recorded: false,
    }
}

#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) accepted: usize,
    pub(crate) rejected: usize,
    /// Answers whose exchange was recorded.
    recorded: usize,
    /// Answers to whole requests.
    requests: usize,
    /// Answers to requests with a response format.
    formats: usize,
    /// Rows that contradict the table.
    pub(crate) excepted: usize,
    /// Rejections by the statement of the fact.
    facts: BTreeMap<&'static str, usize>,
}

#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) rows: usize,
    pub(crate) tallies: BTreeMap<&'static str, Tally>,
    /// Number of rows by the reason.
    pub(crate) rows_without_dialect: BTreeMap<&'static str, usize>,
    /// Number of rows by dialect and difference.
    pub(crate) differences: BTreeMap<(&'static str, String), usize>,
    /// Differences that are not exceptions.
    pub(crate) faults: Vec<String>,
}

impl Ledger {
    /// Returns `None` if the files next to the checkout are missing.
    pub(crate) fn read_all() -> Option<Ledger> {
        let mut ledger = Ledger::default();
        for (name, read) in FILES {
            ledger.add(&fs::read_to_string(root().join(DATA).join(name)).ok()?, *read);
        }
        ledger.count_exceptions();
        Some(ledger)
    }

    #[allow(dead_code, reason = "only the tests judge the sample")]
    pub(crate) fn of(name: &str, source: &str) -> Option<Ledger> {
        let (_, read) = FILES.iter().find(|(known, _)| *known == name)?;
        let mut ledger = Ledger::default();
        ledger.add(source, *read);
        Some(ledger)
    }

    fn add(&mut self, source: &str, read: Read) {
        let rows = match serde_json::from_str(source) {
            Ok(Value::Array(rows)) => rows,
            _ => source.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| json!({}))).collect(),
        };
        for row in &rows {
            self.rows += 1;
            self.judge(&read(row));
        }
    }

    fn judge(&mut self, answer: &Answer) {
        let name = &answer.name;
        let dialect = match answer.row_dialect {
            RowDialect::Dialect(dialect) => dialect,
            RowDialect::Nothing(why) => {
                *self.rows_without_dialect.entry(why).or_default() += 1;
                return;
            }
            RowDialect::Unknown => {
                self.faults.push(format!("{name}: neither mapped to a dialect nor listed as one without a dialect"));
                return;
            }
        };
        let judgement = judge::judge(answer, dialect);
        let tally = self.tallies.entry(dialect).or_default();
        *(if answer.error.is_none() { &mut tally.accepted } else { &mut tally.rejected }) += 1;
        tally.recorded += usize::from(answer.recorded);
        tally.formats += usize::from(matches!(answer.sent, Sent::Response(_)));
        tally.requests += usize::from(!matches!(answer.sent, Sent::Schema(_) | Sent::Response(_)));
        tally.excepted += usize::from(!judgement.differences.is_empty());
        for fact in judgement.facts {
            *tally.facts.entry(fact).or_default() += 1;
        }
        for difference in judgement.differences.into_iter().collect::<BTreeSet<_>>() {
            if !EXCEPTIONS.iter().any(|(of, known, ..)| *of == dialect && *known == difference) {
                self.faults.push(format!("{dialect}: {difference}\n  {name}\n  {}", judgement.found));
            }
            *self.differences.entry((dialect, difference)).or_default() += 1;
        }
    }

    /// Adds a fault for each exception that does not apply to exactly its number of rows.
    fn count_exceptions(&mut self) {
        for (dialect, difference, count, _) in EXCEPTIONS {
            let found = self.differences.get(&(*dialect, (*difference).to_owned())).copied().unwrap_or_default();
            if found != *count {
                self.faults.push(format!("{dialect}: {difference}: {found} rows, {count} in the list of exceptions"));
            }
        }
    }

    pub(crate) fn page(&self) -> String {
        page::page(self)
    }
}
