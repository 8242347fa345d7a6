//! The page with the counts, in words and tables. It shows no content of the answers.

use std::fmt::Write as _;

use toolwire::{dialects, reports::Severity, Dialect};

use super::{
    programs::{newest_day, old_facts, programs, Program},
    Ledger, Tally, EXCEPTIONS,
};

const HEAD: &str = "\
<!-- Generated: `cargo xtask evidence`. Edit xtask/src/evidence/, not this page. -->

# Evidence

The tests compare the tables of the [dialects](dialects/README.md) with recorded answers of the APIs
(`xtask/src/evidence/`); every disagreement is an exception with a reason. This page counts the answers. They are not
part of this repository: they are in `../shared/data`, next to the checkout.

- An *accepted* row was answered with 200. `check` finds nothing in it that is refused.
- A *rejected* row was refused for its schema or its tools. `check` reports the rule that matches the error.
  The output of `sanitize`, `sanitizeTools` or `adaptRequest` for it is accepted, and the named problem is gone.
  For a row that was refused for its tool choice, its model or another part of the request, `checkRequest` reports it.
- *Recorded*: the exchange itself was recorded, or the server's validator was run. Other rows are quotes of users,
  statements of tests or documentation, and schemas written to match an error message.
- *Requests* are whole lists of tools; all other rows are one schema. *Formats* are response formats.
- *Excepted* rows contradict the table.

";

const FACTS: &str = "\
## Facts

For each fact about a refusal, this section lists the number of rejected rows that show it. A row counts only
for the fact that its error is about, not for others that `check` also finds. None means that no answer here shows the
fact; its source may be documentation, a validator, or a report without its schema (see the pages of the dialects).
Facts that are not about refusals have a dash: a rejection cannot show them. Facts about whole requests name their rule.

";

const COLUMNS: &str = "\
| dialect | accepted | rejected | recorded | requests | formats | excepted | facts about refusals | shown by an answer |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
";

const NO_ANSWERS: &str = "
`moonshot` is also tested with the cases of its validator, and `codex` and `codex-wire` with Codex's tests: those are
not answers. `portable` is not an API; it holds the facts about requests of DashScope, which has no dialect.

## Exceptions

| dialect | disagreement with the table | rows | reason for the exception |
|---|---|--:|---|
";

const PROGRAMS: &str = "\
## Judges and SDKs

The tests run these programs: judges with the output of `sanitize`, and SDKs with the examples. `make judges NEWEST=1`
runs their newest releases, as a workflow does every day. The judge for VS Code's rules and Moonshot's validator
are not packages, so they are not listed.

| program | registry | version | since | judges | use |
|---|---|---|---|---|---|
";

pub(super) fn page(ledger: &Ledger) -> String {
    let mut page = String::from(HEAD);
    let bound: usize = ledger.tallies.values().map(|tally| tally.accepted + tally.rejected).sum();
    let _ = writeln!(page, "{} rows: {bound} are about a dialect, {} are not.\n", ledger.rows, ledger.rows - bound);
    page += COLUMNS;
    for dialect in dialects() {
        let nothing = Tally::default();
        let tally = ledger.tallies.get(dialect.name).unwrap_or(&nothing);
        let refusing = refusing(dialect).count();
        let shown = refusing_statements(dialect).filter(|statement| tally.facts.contains_key(statement)).count();
        let Tally { accepted, rejected, recorded, requests, formats, excepted, .. } = tally;
        let _ = writeln!(page, "| [`{0}`](dialects/{0}.md) | {1} | {refusing} | {shown} |", dialect.name, {
            [accepted, rejected, recorded, requests, formats, excepted].map(usize::to_string).join(" | ")
        });
    }
    page += NO_ANSWERS;
    for (dialect, differences, count, why) in EXCEPTIONS {
        let _ = writeln!(page, "| `{dialect}` | {differences} | {count} | {why} |");
    }
    page += "\n## Rows without a dialect\n\n| reason | rows |\n|---|--:|\n";
    for (why, count) in &ledger.rows_without_dialect {
        let _ = writeln!(page, "| {why} | {count} |");
    }
    let _ = write!(page, "\n{PROGRAMS}");
    for Program { name, registry, version, since, dialects, what } in programs() {
        let judged: Vec<String> = dialects.iter().map(|name| format!("`{name}`")).collect();
        let judged = if judged.is_empty() { "-".to_owned() } else { judged.join(", ") };
        let _ = writeln!(page, "| `{name}` | {registry} | {version} | {since} | {judged} | {what} |");
    }
    // Uses the newest day in the tables instead of today, so that the page does not depend on the clock.
    page += &aging(newest_day());
    let _ = write!(page, "\n{FACTS}");
    for dialect in dialects() {
        facts(&mut page, dialect, ledger.tallies.get(dialect.name));
    }
    page.truncate(page.trim_end().len());
    page + "\n"
}

/// Lists the facts that were last checked long before a day, and that no judge compares with the API.
pub(crate) fn aging(day: &str) -> String {
    let mut page =
        format!("\n## Aging facts\n\nFacts without a judge that were last checked more than 90 days before {day}:\n");
    let old = old_facts(day);
    if old.is_empty() {
        page.truncate(page.len() - 2);
        return page + ": none.\n";
    }
    page += "\n| dialect | fact | checked |\n|---|---|---|\n";
    for fact in old {
        let _ = writeln!(page, "| `{}` | {} | {} |", fact.dialect, fact.statement.replace('|', "\\|"), fact.checked);
    }
    page
}

fn facts(page: &mut String, dialect: &Dialect, tally: Option<&Tally>) {
    let _ = writeln!(page, "### `{}`\n\n| fact | confidence | answers |\n|---|---|--:|", dialect.name);
    for fact in dialect.facts {
        let count = tally.and_then(|tally| tally.facts.get(fact.statement)).copied().unwrap_or_default();
        let shown = match count {
            _ if fact.rules.is_empty() || fact.severity != Severity::Refused => "-".to_owned(),
            0 => "none".to_owned(),
            count => count.to_string(),
        };
        let _ = writeln!(page, "| {} | {} | {shown} |", fact.statement.replace('|', "\\|"), fact.confidence);
    }
    for fact in dialect.requests() {
        let count = tally.and_then(|tally| tally.facts.get(fact.statement)).copied().unwrap_or_default();
        let shown = match count {
            _ if fact.severity != Severity::Refused => "-".to_owned(),
            0 => "none".to_owned(),
            count => count.to_string(),
        };
        let statement = fact.statement.replace('|', "\\|");
        let _ = writeln!(page, "| {statement} (`{}` of a request) | {} | {shown} |", fact.rule(), fact.confidence);
    }
    page.push('\n');
}

fn refusing(dialect: &Dialect) -> impl Iterator<Item = &'static toolwire::reports::Fact> {
    dialect.facts.iter().filter(|fact| !fact.rules.is_empty() && fact.severity == Severity::Refused)
}

fn refusing_statements(dialect: &Dialect) -> impl Iterator<Item = &'static str> {
    refusing(dialect).map(|fact| fact.statement)
}
