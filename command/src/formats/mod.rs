//! Output formats of the findings of `check`.

mod document;
mod github;
mod junit;
mod markdown;
mod sarif;
mod text;

use toolwire::{internal::json::Node, reports::Severity, Dialect};

use super::{
    arguments::Format,
    error::CommandError,
    finding::{rank, Group, Location, Source},
    outcome::Outcome,
    task::{Content, Output},
    terminal::{counted, grouped, shown, Terminal},
};

pub(crate) const JSON: Format = Format::Json;

pub(crate) struct Report<'r> {
    /// Name of the command.
    pub(crate) command: &'static str,
    /// Summary in one line; `None` for the summary of `check`.
    pub(crate) outline: Option<String>,
    /// Further members of the JSON document.
    pub(crate) facts: Option<Node<'r>>,
    pub(crate) profile: Option<&'r str>,
    pub(crate) dialects: &'r [&'static Dialect],
    /// Minimum severity or outcome for the exit code 1.
    pub(crate) fail_on: &'r str,
    pub(crate) is_rewritten: bool,
    /// Severities with too many findings, the worst first.
    pub(crate) exceeded: [bool; 3],
    pub(crate) sources: &'r [Source],
    pub(crate) groups: Vec<Group>,
    pub(crate) failed: &'r [CommandError],
    pub(crate) notes: &'r [String],
    /// Number of findings that are not shown, by severity.
    pub(crate) hidden_counts: [usize; 3],
    pub(crate) ignored: usize,
    /// Number of findings in the baseline.
    pub(crate) known: usize,
    /// Stale entries of the configuration and of the baseline.
    pub(crate) stale: Vec<String>,
    /// Path of the baseline, if it is written.
    pub(crate) written: Option<String>,
    /// File to which SARIF assigns findings of inputs without a file.
    pub(crate) sarif_file: &'r str,
    /// Summary of `--fix`.
    pub(crate) fixed: Option<String>,
    pub(crate) code: u8,
    pub(crate) quiet: bool,
}

pub(crate) fn render(report: &Report<'_>, format: Format, terminal: &Terminal) -> Output {
    let mut output = match format {
        // Without an input, only the notes are written as text. Other formats always write a document.
        Format::Text if report.sources.is_empty() => Output::default(),
        Format::Text => Output::new(text::render(report, terminal.width, terminal.out)),
        Format::Json => Output::json(&document::render(report)),
        Format::Github => Output { content: Content::Commands, ..Output::new(github::render(report)) },
        Format::Sarif => Output::json(&sarif::render(report)),
        Format::Junit => Output::new(junit::render(report)),
        Format::Markdown => Output::new(markdown::render(report)),
    };
    let (caution, paint) = (terminal.err.doubtful("toolwire:"), terminal.err);
    for error in report.failed {
        output.add_note(&error.render("toolwire", paint));
    }
    if let Some(fixed) = report.fixed.as_ref().filter(|_| !report.quiet) {
        output.add_note(fixed);
    }
    // Documents in these two formats contain the notes.
    if !report.quiet && !matches!(format, Format::Json | Format::Markdown) {
        for line in report.notes.iter().chain(&report.stale) {
            output.add_note(&format!("{caution} {line}"));
        }
        if !report.sources.is_empty() {
            let summary = report.summary();
            output.add_note(&if report.code == 0 { paint.good(&summary) } else { paint.bad(&summary) });
        }
        if let Some(hidden_findings_note) = report.hidden_findings_note() {
            output.add_note(&paint.dim(&hidden_findings_note));
        }
    }
    output
}

impl Report<'_> {
    fn title(&self) -> String {
        let noun = if self.sources.iter().all(|source| source.noun == "schema") { "schema" } else { "tool" };
        let count = self.sources.iter().map(|source| source.entries.len()).sum();
        let from = match self.sources {
            [_] => String::new(),
            many => format!(" of {}", counted(many.len(), "source")),
        };
        let profile = self.profile.map(|profile| format!(" ({profile})")).unwrap_or_default();
        format!("{}{from}, {}{profile}", counted(count, noun), counted(self.dialects.len(), "dialect"))
    }

    fn summary(&self) -> String {
        if let Some(outline) = &self.outline {
            return outline.clone();
        }
        let mut words = Vec::new();
        let losses = Outcome::ALL.into_iter().rev().map(|outcome| (outcome.as_str(), true));
        let severities = [("refused", false), ("reinterpreted", false), ("ignored", false)];
        for (word, is_loss) in severities.into_iter().chain(losses) {
            let of = |group: &&Group| group.finding.word() == word && group.finding.outcome.is_some() == is_loss;
            let count: usize =
                self.groups.iter().filter(of).map(|group| 1 + group.copies.len() + group.finding.unlisted).sum();
            if count == 0 {
                continue;
            }
            let what = match word {
                _ if is_loss => format!("{word} when rewritten for"),
                word => format!("{word} by"),
            };
            let has_reported = |dialect: &&&Dialect| {
                let mut reported_by = self.groups.iter().filter(of).flat_map(|group| &group.finding.reported_by);
                reported_by.any(|reported_by| reported_by.dialect.name == dialect.name)
            };
            let by: Vec<&str> = self.dialects.iter().filter(has_reported).map(|dialect| dialect.name).collect();
            let by = match by.as_slice() {
                few if few.len() <= 4 => few.join(", "),
                many => counted(many.len(), "dialect"),
            };
            words.push(format!("{} {what} {by}", counted(count, "finding")));
        }
        let found = if words.is_empty() {
            match self.known {
                _ if self.is_rewritten => "rewriting loses nothing of this outcome or worse".to_string(),
                0 => "nothing is refused".to_string(),
                _ => "nothing new is refused".to_string(),
            }
        } else {
            words.join("; ")
        };
        format!("{}: {found}", self.title())
    }

    fn hidden_findings_note(&self) -> Option<String> {
        let [_, reinterpreted, ignored] = self.hidden_counts;
        let mut words = Vec::new();
        if reinterpreted + ignored > 0 {
            let show = if ignored > 0 { "ignored" } else { "reinterpreted" };
            words.push(format!("{} less severe (`--show {show}`)", grouped(reinterpreted + ignored)));
        }
        if self.ignored > 0 {
            words.push(format!("{} ignored by the configuration", grouped(self.ignored)));
        }
        match &self.written {
            Some(path) => words.push(format!("{} written to {}", grouped(self.known), shown(path))),
            None if self.known > 0 => words.push(format!("{} in the baseline", grouped(self.known))),
            None => {}
        }
        (!words.is_empty()).then(|| format!("not shown: {}", words.join(", ")))
    }

    fn format_location(&self, location: &Location) -> String {
        let Some(source) = self.sources.get(location.source) else { return String::new() };
        let name = shown(&source.input.source).into_owned();
        match location.position.filter(|_| source.is_text()) {
            Some(position) => format!("{name}:{}:{}", position.line, position.column),
            None => name,
        }
    }

    fn fails(&self, severity: Severity) -> bool {
        self.exceeded.get(rank(severity)).copied().unwrap_or_default()
    }
}

fn line(group: &Group) -> String {
    let tool = group.finding.tool.as_ref().map(|tool| format!("`{tool}`: ")).unwrap_or_default();
    format!("{tool}{}{}{}", group.finding.message, counts(group), reporters(group))
}

/// Returns a suffix with the dialects of a finding, if it has any.
fn reporters(group: &Group) -> String {
    let dialects = group.finding.dialects();
    if dialects.is_empty() {
        String::new()
    } else {
        format!(" [{}]", dialects.join(", "))
    }
}

fn counts(group: &Group) -> String {
    let mut suffix = match group.copies.len() {
        0 => String::new(),
        more => format!(" ({} copies of this definition)", grouped(more + 1)),
    };
    if group.finding.unlisted > 0 {
        suffix.push_str(&format!(" ({} more like this are not listed)", grouped(group.finding.unlisted)));
    }
    suffix
}
