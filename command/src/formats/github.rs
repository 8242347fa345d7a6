//! Workflow commands of GitHub Actions, which show findings as annotations.
//! <https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands>

use toolwire::reports::Severity;

use super::{line, Report};
use crate::{
    finding::{page, summary_and_advice},
    terminal::shown,
};

pub(super) fn render(report: &Report<'_>) -> String {
    let mut out = String::new();
    for group in &report.groups {
        let (_, fix) = summary_and_advice(group.finding.rule);
        let level = match group.finding.severity {
            Severity::Refused => "error",
            Severity::Reinterpreted => "warning",
            Severity::Ignored => "notice",
        };
        let source = report.sources.get(group.location.source);
        let mut properties = Vec::new();
        if let Some(file) = source.and_then(|source| source.file()) {
            properties.push(format!("file={}", property(&file)));
            if let Some(position) = group.location.position {
                properties.push(format!("line={},col={}", position.line, position.column));
            }
        }
        properties.push(format!("title={}", property(&format!("toolwire: {}", group.finding.rule))));
        let pointer = &group.location.pointer;
        let message = format!("{}\n{fix}\n{}\n{}", shown(&line(group)), shown(pointer), page(group.finding.rule));
        out.push_str(&format!("::{level} {}::{}\n", properties.join(","), data(&message)));
    }
    for error in report.failed {
        let location = match error.file.as_deref() {
            Some((file, Some(line))) => format!("file={},line={line},", property(file)),
            Some((file, None)) => format!("file={},", property(file)),
            None => String::new(),
        };
        out.push_str(&format!("::error {location}title=toolwire::{}\n", data(&error.line("toolwire"))));
    }
    out
}

/// A line break in a message would end the command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// In a property, the separators between properties are special, too.
fn property(text: &str) -> String {
    data(&shown(text)).replace(':', "%3A").replace(',', "%2C")
}
