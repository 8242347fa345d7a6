//! The page of one dialect: its tables as prose, and the results of `check` and `sanitize` for one schema per keyword,
//! its probe.

use std::{collections::BTreeSet, fmt::Write as _};

use serde_json::{json, Value};
use toolwire::{
    check,
    options::Use,
    reports::{Accepts, Change, Guidance},
    sanitize, Dialect, SanitizeOptions,
};

use super::{
    markdown::{cell, code, fence, link_sources, GENERATED},
    probes::{AT_THE_ROOT, BY_REFERENCE, IN_A_PROPERTY, TOOL},
    rules,
};
use crate::id;

pub(crate) struct Verdict {
    /// The findings of `check` about the probe.
    pub(crate) refused: Vec<&'static str>,
    /// The rules that changed the probe, without duplicates.
    rules: Vec<&'static str>,
    loss: Loss,
    output: Option<Value>,
    error: Option<String>,
}

/// The effect of rewriting a probe, from harmless to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Loss {
    Kept,
    Same,
    Encoded,
    Closed,
    GuidanceLost,
    Wider,
    Narrower,
    Mixed,
    Refused,
}

impl Loss {
    fn of(changes: &[Change]) -> Self {
        changes.iter().map(Self::of_one).max().unwrap_or(Self::Kept)
    }

    fn of_one(change: &Change) -> Self {
        match (change.accepts, change.guidance) {
            (Accepts::Mixed, _) => Self::Mixed,
            (Accepts::Narrower, _) => Self::Narrower,
            (Accepts::Wider, _) => Self::Wider,
            (Accepts::Same | Accepts::Closed, Guidance::Lost) => Self::GuidanceLost,
            (Accepts::Closed, _) => Self::Closed,
            (Accepts::Same, _) if change.encoded => Self::Encoded,
            (Accepts::Same, _) => Self::Same,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Same => "same",
            Self::Encoded => "encoded",
            Self::Closed => "closed",
            Self::GuidanceLost => "text lost",
            Self::Wider => "wider",
            Self::Narrower => "narrower",
            Self::Mixed => "mixed",
            Self::Refused => "error",
        }
    }
}

impl Verdict {
    /// `is_in_probe` returns true for pointers into the probe. `at` is the pointer to the probe in the output.
    fn of(dialect: &str, schema: &Value, at: &str, is_in_probe: impl Fn(&str) -> bool) -> Self {
        let options = SanitizeOptions::new(id(dialect));
        let refused: Vec<&'static str> = check(schema, &options)
            .map(|found| {
                found
                    .iter()
                    .filter(|violation| is_in_probe(&violation.pointer))
                    .map(|violation| violation.constraint.id())
                    .collect()
            })
            .unwrap_or_default();
        let refused = deduplicated(refused);
        match sanitize(schema, &options) {
            Ok(report) => {
                let changes = report.changes().unwrap_or_default().iter();
                let changes: Vec<Change> = changes.filter(|change| is_in_probe(&change.pointer)).cloned().collect();
                let rules = deduplicated(changes.iter().map(|change| change.rule.id()).collect());
                let output = if rules.is_empty() { None } else { report.schema.pointer(at).cloned() };
                Self { refused, rules, loss: Loss::of(&changes), output, error: None }
            }
            Err(error) => {
                let error = Some(error.code().as_str().to_owned());
                Self { refused, rules: Vec::new(), loss: Loss::Refused, output: None, error }
            }
        }
    }

    pub(crate) fn loss(&self) -> Loss {
        self.loss
    }

    fn row(&self, keyword: &str) -> String {
        let accepted = match self.refused.as_slice() {
            [] => "yes".to_owned(),
            rules => {
                format!("no: {}", rules.iter().map(|rule| rules::link("../", rule)).collect::<Vec<_>>().join(", "))
            }
        };
        let becomes = match (&self.error, &self.output) {
            (Some(error), _) => format!("error {}", code(error)),
            (None, Some(output)) => code(&output.to_string()),
            (None, None) if self.rules.is_empty() => String::new(),
            (None, None) => "omitted".to_owned(),
        };
        let rules = self.rules.iter().map(|rule| rules::link("../", rule)).collect::<Vec<_>>().join(", ");
        format!("| {} | {accepted} | {} | {} | {rules} |\n", cell(keyword), cell(&becomes), self.loss.word())
    }
}

fn deduplicated(mut names: Vec<&'static str>) -> Vec<&'static str> {
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    names
}

/// Returns the verdict about a probe as the schema of the property `x`, in an object that as many dialects as possible
/// accept.
pub(crate) fn in_a_property(dialect: &str, probe: &str, definitions: &str) -> Verdict {
    let probe: Value = serde_json::from_str(probe).unwrap_or_default();
    let definitions: Value = serde_json::from_str(definitions).unwrap_or_default();
    let mut schema = json!({"type": "object", "properties": {"x": probe}, "required": ["x"]});
    if definitions.as_object().is_some_and(|members| !members.is_empty()) {
        if let Some(object) = schema.as_object_mut() {
            object.insert("$defs".to_owned(), definitions);
        }
    }
    Verdict::of(dialect, &schema, "/properties/x", |pointer| {
        pointer.starts_with("/properties/x") || pointer.starts_with("/$defs")
    })
}

fn at_the_root(dialect: &str, probe: &str) -> Verdict {
    let schema: Value = serde_json::from_str(probe).unwrap_or_default();
    Verdict::of(dialect, &schema, "", |_| true)
}

pub(crate) fn page(dialect: &Dialect) -> String {
    let name = dialect.name;
    let mut page = format!("{GENERATED}# `{name}`\n\n");
    let _ = writeln!(page, "{}. Documented at <{}>.", dialect.surface, dialect.documentation);
    let _ = writeln!(
        page,
        "Facts checked on {}, revision {}. [All dialects](README.md)\n",
        dialect.as_of, dialect.revision
    );
    let _ =
        writeln!(page, "```ts\nsanitize(schema, {{ dialect: '{name}' }}); // Python: toolwire.sanitize(schema, dialect=\"{name}\")\n```\n");
    if name.starts_with("codex") {
        page +=
            "This dialect describes what Codex does, not what an API accepts; its `check` reports what makes Codex \
        drop a tool.\n\n";
    }
    settings(&mut page, dialect);
    facts(&mut page, dialect);
    requests(&mut page, dialect);
    response_format(&mut page, dialect);
    unverified(&mut page, dialect);
    keywords(&mut page, name);
    tool(&mut page, name);
    page
}

fn settings(page: &mut String, dialect: &Dialect) {
    if !dialect.options.is_empty() {
        let options: Vec<String> = dialect.options.iter().map(|option| code(option)).collect();
        let _ = writeln!(page, "Options beyond `dialect`, `allow` and `share`: {}.\n", options.join(", "));
    }
    if !dialect.limits.is_empty() {
        let limits: Vec<String> = dialect.limits.iter().map(|(name, value)| format!("`{name}` {value}")).collect();
        let _ = writeln!(page, "Limits: {}.\n", limits.join(", "));
    }
    match dialect.encodes {
        [] => *page += "Arguments are never encoded: the model sends the arguments that the tool's server expects.\n\n",
        ways => {
            let _ = writeln!(
                page,
                "Arguments may be encoded, and `restoreArguments` restores them: {}.\n",
                ways.join("; ")
            );
        }
    }
}

fn facts(page: &mut String, dialect: &Dialect) {
    *page += "## Facts\n\nConfidence `A`: official documentation, a validator, source code, or two independent live reports; `B`: one live report;\n`C`: inferred.\n\n";
    *page += "| requirement or behavior of the API | confidence | source | rules of `check` | effect |\n|---|---|---|---|---|\n";
    for fact in dialect.facts {
        let rules: Vec<String> = fact.rules.iter().map(|rule| code(rule.id())).collect();
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} |",
            cell(fact.statement),
            fact.confidence,
            cell(&link_sources(fact.source)),
            rules.join(", "),
            if fact.rules.is_empty() { "" } else { fact.severity.as_str() }
        );
    }
    page.push('\n');
}

fn response_format(page: &mut String, dialect: &Dialect) {
    *page += "## Response formats\n\n";
    let Some(format) = dialect.response_format() else {
        let refused = check(&json!({}), &SanitizeOptions::new(dialect.id()).used_as(Use::Response));
        let why = refused.expect_err("it has none").message().to_owned();
        let why = why.split_once("`: ").map_or_else(|| why.clone(), |(_, why)| why.to_owned());
        let _ = writeln!(page, "None: {why}.\n");
        return;
    };
    let _ = writeln!(
        page,
        "With `use: \"response\"`, the target is: {} ([documentation]({})). Differences from tools:\n",
        format.surface, format.documentation
    );
    *page += "| fact | confidence | source | rules of `check` |\n|---|---|---|---|\n";
    for fact in format.facts.iter().filter(|fact| !dialect.facts.contains(fact)) {
        let rules: Vec<String> = fact.rules.iter().map(|rule| code(rule.id())).collect();
        let source = cell(&link_sources(fact.source));
        let _ = writeln!(page, "| {} | {} | {source} | {} |", cell(fact.statement), fact.confidence, rules.join(", "));
    }
    page.push('\n');
}

fn requests(page: &mut String, dialect: &Dialect) {
    if dialect.requests().is_empty() {
        return;
    }
    *page += "## Rules for requests\n\n`checkRequest` reports violations, and `adaptRequest` fixes those that can be fixed.\n\n";
    *page += "| requirement or behavior of the API | confidence | source | rule | checked |\n|---|---|---|---|---|\n";
    for fact in dialect.requests() {
        let _ = writeln!(
            page,
            "| {} | {} | {} | `{}`{} | {} |",
            cell(fact.statement),
            fact.confidence,
            cell(&link_sources(fact.source)),
            fact.rule(),
            if fact.severity == toolwire::reports::Severity::Refused {
                String::new()
            } else {
                format!(" ({})", fact.severity.as_str())
            },
            fact.checked
        );
    }
    page.push('\n');
}

fn unverified(page: &mut String, dialect: &Dialect) {
    *page += "## Unverified\n\n";
    match dialect.unverified {
        [] => *page += "Nothing known.\n\n",
        points => {
            *page += "The table does not enforce these. A report with the provider's answer would settle them.\n\n";
            for point in points {
                let _ = writeln!(page, "- {point}");
            }
            page.push('\n');
        }
    }
}

const COLUMNS: &str = "accepted unchanged | `sanitize` writes | loss | by rule |\n|---|---|---|---|---|\n";

fn keywords(page: &mut String, name: &str) {
    *page += "## Keyword by keyword\n\nEach row is one required property with that schema. `kept` is returned unchanged; `same` loses nothing; `encoded` loses nothing\n";
    *page += "once arguments are restored; `closed` refuses properties that the schema neither declares nor explicitly allows; `wider` accepts more than the tool does,\n`narrower` less, `mixed` both more and less; `text lost` accepts the same, but the model reads less.\n\n";
    let _ = write!(page, "| property | {COLUMNS}");
    for (keyword, probe) in IN_A_PROPERTY {
        *page += &in_a_property(name, probe, "{}").row(keyword);
    }
    for (keyword, probe, definitions) in BY_REFERENCE {
        *page += &in_a_property(name, probe, definitions).row(keyword);
    }
    let _ = write!(page, "\n| root | {COLUMNS}");
    for (keyword, probe) in AT_THE_ROOT {
        *page += &at_the_root(name, probe).row(keyword);
    }
    page.push('\n');
}

fn tool(page: &mut String, name: &str) {
    *page += "## One tool\n\n";
    let schema: Value = serde_json::from_str(TOOL).unwrap_or_default();
    let _ = writeln!(
        page,
        "<details><summary>The schema that the server publishes</summary>\n\n{}\n</details>\n",
        fence("json", TOOL)
    );
    match sanitize(&schema, &SanitizeOptions::new(id(name))) {
        Err(error) => {
            let _ = writeln!(
                page,
                "`sanitize` fails: `{}` at `{}`: {}",
                error.code().as_str(),
                error.pointer(),
                error.message()
            );
        }
        Ok(report) => {
            let _ = writeln!(
                page,
                "becomes\n\n{}",
                fence("json", &serde_json::to_string_pretty(&report.schema).unwrap_or_default())
            );
            if report.changes().expect("a report").is_empty() {
                *page += "Nothing is changed.\n";
                return;
            }
            *page += "| at | rule | accepted arguments | guidance | change |\n|---|---|---|---|---|\n";
            for change in report.changes().expect("a report") {
                let pointer = if change.pointer.is_empty() { "the root".to_owned() } else { code(&change.pointer) };
                let accepts = change.accepts.as_str();
                let accepts = if change.encoded { format!("{accepts}, encoded") } else { accepts.to_owned() };
                let _ = writeln!(
                    page,
                    "| {} | `{}` | {accepts} | {} | {} |",
                    cell(&pointer),
                    change.rule,
                    change.guidance.as_str(),
                    cell(&change.message)
                );
            }
        }
    }
}
