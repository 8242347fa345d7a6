//! JUnit XML for CI systems: a suite for each input, a case for each tool.
//!
//! The XML is written by hand: it has only five elements, and `quick-junit` would add a whole XML reader.

use std::collections::BTreeMap;

use super::{counts, reporters, Report};
use crate::{
    finding::{summary_and_advice, Group, Source},
    terminal::shown,
};

pub(super) fn render(report: &Report<'_>) -> String {
    let mut suites = String::new();
    let (mut tests, mut failures) = (0, 0);
    for (at, source) in report.sources.iter().enumerate() {
        let (suite, count, failed) = suite(report, at, source);
        suites.push_str(&suite);
        tests += count;
        failures += failed;
    }
    for error in report.failed {
        let name = attribute(error.source.as_deref().unwrap_or("toolwire"));
        let message = attribute(&error.message);
        suites.push_str(&format!(
            "  <testsuite name=\"{name}\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\" time=\"0\">\n    \
                <testcase classname=\"{name}\" name=\"read\" time=\"0\">\n      \
                <error type=\"error\" message=\"{message}\"/>\n    </testcase>\n  </testsuite>\n"
        ));
    }
    let errors = report.failed.len();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
            <testsuites name=\"toolwire\" tests=\"{}\" failures=\"{failures}\" \
            errors=\"{errors}\" time=\"0\">\n{suites}</testsuites>\n",
        tests + errors
    )
}

fn suite(report: &Report<'_>, at: usize, source: &Source) -> (String, usize, usize) {
    let mut found = BTreeMap::<Option<usize>, Vec<(&Group, String)>>::new();
    for group in &report.groups {
        for location in [&group.location].into_iter().chain(&group.copies).filter(|location| location.source == at) {
            found.entry(location.entry).or_default().push((group, report.format_location(location)));
        }
    }
    let class = attribute(&source.input.source);
    let (mut cases, mut failures) = (String::new(), 0);
    let mut case = |name: &str, found: &[(&Group, String)]| {
        let name = attribute(name);
        cases.push_str(&format!("    <testcase classname=\"{class}\" name=\"{name}\" time=\"0\""));
        if found.is_empty() {
            cases.push_str("/>\n");
            return;
        }
        let failing: Vec<&(&Group, String)> =
            found.iter().filter(|(group, _)| report.fails(group.finding.severity)).collect();
        let rest: Vec<&(&Group, String)> =
            found.iter().filter(|(group, _)| !report.fails(group.finding.severity)).collect();
        cases.push_str(">\n");
        if let Some((first, _)) = failing.first() {
            failures += 1;
            let (rule, message) = (attribute(first.finding.rule), attribute(&line(first)));
            let text = content(&lines(&failing));
            cases.push_str(&format!("      <failure type=\"{rule}\" message=\"{message}\">{text}</failure>\n"));
        }
        if !rest.is_empty() {
            cases.push_str(&format!("      <system-out>{}</system-out>\n", content(&lines(&rest))));
        }
        cases.push_str("    </testcase>\n");
    };
    for (index, entry) in source.entries.iter().enumerate() {
        let name = entry.name.clone().unwrap_or_else(|| format!("{} {}", source.noun, index + 1));
        case(&name, found.get(&Some(index)).map(Vec::as_slice).unwrap_or_default());
    }
    let mut count = source.entries.len();
    if let Some(of_list) = found.get(&None) {
        case("all tools together", of_list);
        count += 1;
    }
    let head = format!(
        "  <testsuite name=\"{class}\" tests=\"{count}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\" \
            time=\"0\">\n"
    );
    (format!("{head}{cases}  </testsuite>\n"), count, failures)
}

fn lines(found: &[&(&Group, String)]) -> String {
    let line = |(group, location): &&(&Group, String)| {
        let (_, fix) = summary_and_advice(group.finding.rule);
        format!("{}: {}: {}\n{fix}", shown(location), group.finding.rule, shown(&line(group)))
    };
    found.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The tool is omitted, because the case names it.
fn line(group: &Group) -> String {
    format!("{}{}{}", group.finding.message, counts(group), reporters(group))
}

fn content(lines: &str) -> String {
    lines.split('\n').map(attribute).collect::<Vec<_>>().join("\n")
}

/// Characters that XML cannot represent are shown as escapes.
fn attribute(text: &str) -> String {
    let text = shown(text);
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
