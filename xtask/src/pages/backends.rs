//! The page about hosts with rules of their own.

use std::fmt::Write as _;

use toolwire::internal::hosts;

use super::markdown::{cell, link_sources};

const TEXT: &str = include_str!("backends.md");
const HOSTS_MARK: &str = "<!-- hosts -->\n";

pub(super) fn page() -> String {
    let (before, after) = TEXT.split_once(HOSTS_MARK).expect("a place for the hosts");
    let mut page = String::from(before);
    for backend in hosts::backends() {
        let _ = writeln!(page, "### {}\n\n{}\n", backend.name, backend.hosts);
        page +=
            "| requirement or behavior of the API | confidence | source | rule | checked |\n|---|---|---|---|---|\n";
        for (beta, fact) in backend.facts {
            let statement = match beta {
                Some(beta) => format!("`{beta}`: {}", fact.statement),
                None => fact.statement.to_owned(),
            };
            let (statement, source) = (cell(&statement), cell(&link_sources(fact.source)));
            let (confidence, rule, checked) = (fact.confidence, fact.rule(), fact.checked);
            let _ = writeln!(page, "| {statement} | {confidence} | {source} | `{rule}` | {checked} |");
        }
        page.push('\n');
    }
    page.pop();
    page + after
}
