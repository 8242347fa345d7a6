//! The programs that the tests run: judges of dialects and SDKs, with their versions, and the facts without a recent
//! check.

use std::fs;

use serde_json::Value;
use toolwire::dialects;

use super::{root, text};

/// Relative to the root of the project.
const PROGRAMS: &str = "tests/judges/programs.json";

/// Age in days at which a fact without a judge is listed.
const OLD: i64 = 90;

pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) registry: String,
    pub(crate) version: String,
    /// The day since which the tests run this version (ISO 8601).
    pub(crate) since: String,
    /// The dialects that it judges; empty for an SDK.
    pub(crate) dialects: Vec<String>,
    pub(crate) what: String,
}

pub(crate) fn programs() -> Vec<Program> {
    let source = fs::read_to_string(root().join(PROGRAMS)).unwrap_or_else(|error| panic!("{PROGRAMS}: {error}"));
    let rows: Vec<Value> = serde_json::from_str(&source).unwrap_or_else(|error| panic!("{PROGRAMS}: {error}"));
    let program = |row: &Value| {
        let [name, registry, version, since, what] =
            ["name", "registry", "version", "since", "what"].map(|key| text(row, key).to_owned());
        let names = row["dialects"].as_array().into_iter().flatten().filter_map(Value::as_str);
        Program { name, registry, version, since, dialects: names.map(str::to_owned).collect(), what }
    };
    rows.iter().map(program).collect()
}

/// A fact that no judge compares with the API.
pub(crate) struct Aging {
    pub(crate) dialect: &'static str,
    pub(crate) statement: &'static str,
    pub(crate) checked: &'static str,
}

/// More than [`OLD`] days before `day`: facts of dialects without a judge, and facts about requests, which have no
/// judges.
pub(crate) fn old_facts(day: &str) -> Vec<Aging> {
    let judged: Vec<String> = programs().into_iter().flat_map(|program| program.dialects).collect();
    let facts = dialects().iter().flat_map(|dialect| {
        let is_judged = judged.iter().any(|name| name == dialect.name);
        let of_schemas = dialect.facts.iter().filter(move |_| !is_judged).map(|fact| (fact.statement, dialect.as_of));
        let of_requests = dialect.requests().iter().map(|fact| (fact.statement, fact.checked));
        of_schemas.chain(of_requests).map(|(statement, checked)| Aging { dialect: dialect.name, statement, checked })
    });
    facts.filter(|fact| number(day) - number(fact.checked) > OLD).collect()
}

pub(crate) fn newest_day() -> &'static str {
    let of_requests = dialects().iter().flat_map(|dialect| dialect.requests()).map(|fact| fact.checked);
    dialects().iter().map(|dialect| dialect.as_of).chain(of_requests).max().unwrap_or_default()
}

/// Number of a day (ISO 8601), counted from 1 March of the year 0.
fn number(day: &str) -> i64 {
    let parts: Vec<i64> = day.split('-').map(|part| part.parse().unwrap_or_else(|_| panic!("no day: {day}"))).collect();
    let [year, month, day] = parts[..] else { panic!("no day: {day}") };
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day
}

#[test]
fn days_are_counted_across_years() {
    assert_eq!(number("2027-03-01") - number("2026-11-26"), 95);
    assert_eq!(number("2028-03-01") - number("2028-02-28"), 2);
    assert_eq!(number("2026-11-26") - number("2025-11-26"), 365);
}

#[test]
fn facts_are_old_after_three_months() {
    assert!(old_facts(newest_day()).is_empty(), "a fact is too old: check it again, or list it in this test");
    let later = old_facts("2036-01-01");
    let has = |dialect: &str| later.iter().any(|fact| fact.dialect == dialect);
    assert!(has("mistral") && has("anthropic"));
    let judged = dialects().iter().find(|dialect| dialect.name == "llama-cpp").unwrap_or_else(|| panic!("no dialect"));
    let is_of_requests = |old: &Aging| judged.requests().iter().any(|fact| fact.statement == old.statement);
    assert!(later.iter().filter(|old| old.dialect == judged.name).all(is_of_requests));
}

/// The versions in the list must be those that the set-up installs.
#[test]
fn listed_programs_have_their_pinned_versions() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let (pins, examples) = (read("python/pyproject.toml"), read("python/examples/requirements.txt"));
    let packages = read("npm/examples/package.json");
    for Program { name, registry, version, .. } in programs() {
        let is_pinned = match registry.as_str() {
            "npm" => packages.contains(&format!("\"{name}\": \"{version}\"")),
            _ => {
                let (pin, pins_of) = (format!("{name}=={version}"), |text: &str| text.contains(&format!("{name}==")));
                let holds = |text: &str| !pins_of(text) || text.contains(&pin);
                holds(&pins) && holds(&examples) && (pins_of(&pins) || pins_of(&examples))
            }
        };
        assert!(is_pinned, "{PROGRAMS}: expected the version of {name} that set-up installs, found {version}");
    }
}

#[test]
fn judged_dialects_exist() {
    for program in programs() {
        for name in program.dialects {
            assert!(dialects().iter().any(|dialect| dialect.name == name), "{PROGRAMS}: no dialect {name}");
        }
        assert!(number(&program.since) <= number(newest_day()) + OLD, "{PROGRAMS}: {} is in the future", program.since);
    }
}
