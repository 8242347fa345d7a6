//! Markdown tables, for the summary of a job or a comment. Text from servers is always formatted as code, because
//! elsewhere GitHub turns names, numbers and URLs into links, even if they are escaped.

use super::{counts, Report};
use crate::{
    finding::{page, summary_and_advice, Group},
    terminal::shown,
};

pub(super) fn render(report: &Report<'_>) -> String {
    let mut out = format!("## toolwire {}\n\n", report.command);
    if !report.sources.is_empty() {
        out.push_str(&escaped(&report.summary()));
        out.push_str(".\n");
    }
    let mut before = None;
    for group in &report.groups {
        let (rule, word) = (group.finding.rule, group.finding.word());
        if before != Some((rule, word)) {
            let (summary, fix) = summary_and_advice(rule);
            out.push_str(&format!("\n### [{rule}]({}) ({word})\n\n", page(rule)));
            out.push_str(&format!("{} {}\n\n", escaped(summary), escaped(fix)));
            out.push_str("| where | tool | finding | dialects |\n|---|---|---|---|\n");
            before = Some((rule, word));
        }
        out.push_str(&row(report, group));
    }
    let beside = report.notes.iter().chain(&report.stale).cloned();
    for line in report.failed.iter().map(|error| error.line("toolwire")).chain(beside) {
        out.push_str(&format!("\n> {}\n", code(&line)));
    }
    out
}

fn row(report: &Report<'_>, group: &Group) -> String {
    let finding = &group.finding;
    let location = format!("{} {}", report.format_location(&group.location), group.location.pointer);
    let cells = [
        code(location.trim_end()),
        finding.tool.as_deref().map(code).unwrap_or_default(),
        code(&format!("{}{}", finding.message, counts(group))),
        escaped(&finding.dialects().join(", ")),
    ];
    format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
}

/// Formats a text as inline code, delimited by more backticks than occur in a row in the text.
fn code(text: &str) -> String {
    let text = shown(text);
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    // Markdown removes one space from both ends, so one has to be added if the text begins or ends with a space.
    let is_open = |character: char| character == '`' || character == ' ';
    let space = if text.starts_with(is_open) || text.ends_with(is_open) { " " } else { "" };
    if text.is_empty() {
        String::new()
    } else {
        format!("{fence}{space}{text}{space}{fence}")
    }
}

/// Escapes a text of toolwire for one line of Markdown.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for character in shown(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '#' | '!' => {
                out.push('\\');
                out.push(character);
            }
            character => out.push(character),
        }
    }
    out
}
