//! Findings as text, grouped by rule, with the rule's summary and advice.

use super::{counts, reporters, Report};
use crate::{
    finding::{page, summary_and_advice, Group},
    table::wrap_line,
    terminal::{shown, Paint},
};

/// Writes findings as text. With `--quiet`, each finding is one line, as in the output of compilers.
pub(super) fn render(report: &Report<'_>, width: Option<usize>, paint: Paint) -> String {
    let mut out = String::new();
    let within = |text: &str, indent: usize| match width {
        Some(width) if !report.quiet => wrap_line(text, width, indent),
        _ => text.to_string(),
    };
    let mut before = None;
    for group in &report.groups {
        let (rule, severity, word) = (group.finding.rule, group.finding.severity, group.finding.word());
        if report.quiet {
            out.push_str(&line(report, group, &format!(" {rule}:"), paint));
            continue;
        }
        if before != Some((rule, word)) {
            if before.is_some() {
                out.push('\n');
            }
            let shade = if report.fails(severity) { paint.bad(rule) } else { paint.doubtful(rule) };
            let (summary, fix) = summary_and_advice(rule);
            out.push_str(&within(&format!("{shade} ({word}): {summary}\n"), 2));
            out.push_str(&within(&format!("  {fix}\n"), 2));
            out.push_str(&format!("  {}\n", paint.dim(&page(rule))));
            before = Some((rule, word));
        }
        out.push_str(&within(&format!("  {}", line(report, group, "", paint)), 4));
        for (message, dialects) in group.finding.other_messages() {
            let by = paint.dim(&format!("[{}]", dialects.join(", ")));
            out.push_str(&within(&format!("    {} {by}\n", shown(message)), 4));
        }
    }
    out
}

fn line(report: &Report<'_>, group: &Group, rule: &str, paint: Paint) -> String {
    let finding = &group.finding;
    let tool = finding.tool.as_ref().map(|tool| format!(" `{}`:", shown(tool))).unwrap_or_default();
    let location = paint.bold(&report.format_location(&group.location));
    let pointer = match group.location.pointer.as_str() {
        "" => String::new(),
        pointer => format!(" (at {})", shown(pointer)),
    };
    let by = match reporters(group).strip_prefix(' ') {
        Some(by) => format!(" {}", paint.dim(by)),
        None => String::new(),
    };
    format!("{location}:{rule}{tool} {}{}{}{by}\n", shown(&finding.message), counts(group), paint.dim(&pointer))
}
