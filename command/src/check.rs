//! `toolwire check`: reports what APIs refuse, reinterpret or ignore in tools or schemas. Each step checks one input
//! for one dialect.

use std::collections::{BTreeMap, BTreeSet};

use toolwire::{
    internal::{self, json::Node, FindingLimit},
    options::Use,
    reports::{Grade, RequestViolation, Severity},
    Code, Dialect, Error,
};

use super::{
    arguments::{choice as word, not_a_schema, CheckArguments, FailOn, Format},
    baseline::{Baseline, Scope},
    config::{Config, FILE},
    error::{CommandError, EXIT_FOUND, EXIT_SUCCESS, EXIT_UNUSABLE},
    finding::{bounded, groups, rank, Finding, Findings, Location, ReportedBy, Source},
    fix::{self, Fixer, Reasons, Wanted},
    formats::{self, Report},
    gather::Gathering,
    input::{Input, Named, Subject},
    matrix,
    outcome::Outcome,
    profile::{ignores_rule, Choice, ORDINARY},
    task::{Content, Encoding, Origin, Output, Task},
    terminal::{self, counted, grouped, shown, Terminal},
    OutputFile,
};

pub(crate) struct Check {
    arguments: CheckArguments,
    config: Config,
    baseline: Option<Baseline>,
    /// Suffix of the baseline's path in which no symbolic link is followed.
    confined: String,
    /// File to which SARIF assigns findings of inputs without a file.
    sarif_file: String,
    profile: Option<String>,
    dialects: Vec<&'static Dialect>,
    used_as: Use,
    sources: Vec<Source>,
    failed: Vec<CommandError>,
    notes: Vec<String>,
    fixes: Fixes,
}

#[derive(Default)]
struct Fixes {
    /// The findings to fix, by the index of the source, then of the entry.
    wanted: BTreeMap<usize, BTreeMap<usize, Wanted>>,
    /// Number of reported findings before fixing.
    findings: usize,
    /// Number of findings that only `--unsafe-fixes` removes.
    unsafe_only: usize,
    /// Texts before fixing, by the index of the source.
    originals: BTreeMap<usize, String>,
    reasons: Reasons,
}

impl Check {
    pub(crate) fn new(arguments: CheckArguments, gathered: Gathering) -> Result<Check, CommandError> {
        let Gathering { inputs, config, baseline, mut failed, notes, baseline_path, confined, manifest, .. } = gathered;
        let configured = config.as_ref().map(|config| config.source.clone());
        let sarif_file = arguments.sarif_file.clone().or(configured).or(manifest).unwrap_or_else(|| FILE.into());
        let config = config.unwrap_or_default();
        let choice = match (&arguments.choice.choice(), &config.profile, config.dialects.as_slice()) {
            (Some(choice), _, _) => *choice,
            (None, Some(profile), _) => Choice::Profile(profile),
            (None, None, []) => Choice::Profile(ORDINARY),
            (None, None, names) => Choice::Dialects(names),
        };
        // `exclude` of the configuration does not apply to dialects that the command line names.
        let names_dialects = matches!(arguments.choice.choice(), Some(Choice::Dialects(_)));
        let excluded = config.exclude.iter().filter(|_| !names_dialects);
        let exclude: Vec<String> = arguments.choice.exclude.iter().chain(excluded).cloned().collect();
        let mut dialects = choice.dialects(&exclude);
        let used_as = word(Some(&arguments.used_as)).unwrap_or(Use::Tool);
        if used_as != Use::Tool {
            if arguments.rewritten.is_some() {
                let word = arguments.used_as.as_str();
                let message = format!("expected no `--rewritten` with `--use {word}`: it applies to tools only");
                return Err(CommandError::option("rewritten", message));
            }
            let without = dialects.iter().find(|dialect| table_of(dialect, used_as).is_none());
            if let Some(dialect) = without.filter(|_| matches!(choice, Choice::Dialects(_))) {
                let name = dialect.name;
                let message = match used_as {
                    Use::Output => format!("expected clients of MCP that read `outputSchema`, found `{name}`"),
                    _ => format!("expected dialects whose APIs have response formats, found `{name}`"),
                };
                return Err(CommandError::option("dialect", message));
            }
            dialects.retain(|dialect| table_of(dialect, used_as).is_some());
        }
        if dialects.is_empty() {
            return Err(CommandError::option("exclude", "expected at least one dialect to be left, found none"));
        }
        let profile = if let Choice::Profile(name) = choice { Some(name.to_string()) } else { None };
        let mut sources = Vec::new();
        for input in inputs {
            let read = Input::read(&input.text).and_then(|read| {
                let Input { subject, pointers } = read.require_checkable()?;
                let entries = subject.entries().map_err(|error| pointers.locate(&error))?;
                if used_as != Use::Tool && !matches!(subject, Subject::Schemas(_)) {
                    return Err(not_a_schema());
                }
                Ok((subject.noun(), pointers, entries))
            });
            match read {
                Ok((noun, pointers, entries)) => {
                    sources.push(Source { input, noun, pointers, entries, found: Findings::default() });
                }
                Err(error) => failed.push(input.locate_error(error)),
            }
        }
        let baseline = match (baseline, baseline_path) {
            (Some(text), _) => Some(Baseline::read(&text.text, &text.source)?),
            (None, Some(path)) => Some(Baseline::new(path)),
            (None, None) if arguments.update_baseline => {
                return Err(CommandError::option(
                    "updateBaseline",
                    "`--update-baseline` needs `--baseline`, found none",
                ));
            }
            (None, None) => None,
        };
        let is_document = arguments.json || arguments.format != Format::Text;
        if arguments.fix && is_document && sources.iter().any(|source| source.input.origin == Origin::Stream) {
            let message = "expected `text` with `--fix` and standard input, whose fixed text is written to standard \
                           output, found another";
            return Err(CommandError::option("format", message));
        }
        let fixes = Fixes::default();
        let check = Check {
            config,
            baseline,
            confined,
            sarif_file,
            profile,
            dialects,
            used_as,
            sources,
            failed,
            notes,
            fixes,
            arguments,
        };
        check.require_known_tools()?;
        Ok(check)
    }

    /// A tool that no input contains must not pass as a tool without findings.
    fn require_known_tools(&self) -> Result<(), CommandError> {
        let names: BTreeSet<&str> =
            self.sources.iter().flat_map(|source| &source.entries).filter_map(|entry| entry.name.as_deref()).collect();
        match self.arguments.tools.iter().find(|wanted| !names.contains(wanted.as_str())) {
            Some(wanted) if self.failed.is_empty() => {
                let wanted = shown(wanted);
                Err(CommandError::option("tool", format!("expected the name of an existing tool, found `{wanted}`")))
            }
            _ => Ok(()),
        }
    }

    fn fail_on(&self) -> FailOn {
        match self.arguments.rewritten {
            // The losses are already filtered by the outcome of `--rewritten`.
            Some(_) => FailOn::Refused,
            None => self.arguments.fail_on.or(self.config.fail_on).unwrap_or(FailOn::Refused),
        }
    }

    /// Returns true for each severity with more findings than the configuration allows. Without a limit, no finding is
    /// allowed from the severity `fail_on`.
    fn exceeded(&self, found: &[(Finding, Location)], fail_on: FailOn) -> [bool; 3] {
        // The limits of the configuration are limits for findings, not for losses.
        let limits = if self.arguments.rewritten.is_some() { [None; 3] } else { self.config.limits };
        let mut limits = limits.into_iter();
        [Severity::Refused, Severity::Reinterpreted, Severity::Ignored].map(|severity| {
            let counts = fail_on.min_severity().is_some_and(|min_severity| rank(severity) <= rank(min_severity));
            let limit = limits.next().flatten().or(counts.then_some(0));
            let of_it = found.iter().filter(|(finding, _)| finding.severity == severity);
            let count = of_it.map(|(finding, _)| 1 + finding.unlisted).sum::<usize>();
            limit.is_some_and(|limit| count > limit)
        })
    }

    fn is_asked(&self, finding: &Finding) -> bool {
        let tools = &self.arguments.tools;
        tools.is_empty() || finding.tool.as_ref().is_some_and(|tool| tools.contains(tool))
    }
}

enum Work {
    /// Both members are indices.
    Judge {
        source: usize,
        dialect: usize,
    },
    Fix {
        source: usize,
    },
    /// Checks a fixed source again. Does nothing if no fix changed it.
    JudgeAgain {
        source: usize,
        dialect: usize,
    },
}

impl Check {
    fn work(&self, step: usize) -> Work {
        let (dialects, sources) = (self.dialects.len().max(1), self.sources.len());
        let judging = self.dialects.len() * sources;
        match step {
            step if step < judging => Work::Judge { source: step / dialects, dialect: step % dialects },
            step if step < judging + sources => Work::Fix { source: step - judging },
            step => {
                let step = step - judging - sources;
                Work::JudgeAgain { source: step / dialects, dialect: step % dialects }
            }
        }
    }

    fn judge(&mut self, source: usize, dialect: usize) -> Result<(), CommandError> {
        let (Some(dialect), Some(source)) = (self.dialects.get(dialect), self.sources.get_mut(source)) else {
            return Ok(());
        };
        // The input is read again at every step. This takes a fraction of the step's time, and avoids a
        // self-referential struct.
        let input = Input::read(&source.input.text)?;
        let whole = match &input.subject {
            Subject::Request(request) if self.arguments.rewritten.is_none() => {
                findings_of_request(request, dialect).map_err(|error| input.pointers.locate(&error))?
            }
            _ => Vec::new(),
        };
        let input = input.require_checkable()?;
        let rewritten = self.arguments.rewritten.as_deref().and_then(Outcome::of_word);
        let found = match rewritten {
            None => findings(input.subject, dialect, self.used_as, &source.entries),
            Some(outcome) => losses_of_rewriting(input.subject, dialect, &source.entries, outcome),
        };
        match found {
            Ok(found) => {
                let profile = self.profile.as_deref();
                // Most findings of several dialects are equal. Merging them at once bounds the memory.
                source.found.add(
                    whole.into_iter().chain(found).filter(|finding| !ignores_rule(profile, dialect, finding.rule)),
                );
            }
            Err(error) => {
                let error = source.input.locate_error(source.pointers.locate(&error));
                if !self.failed.iter().any(|known| known.source == error.source && known.message == error.message) {
                    self.failed.push(error);
                }
            }
        }
        Ok(())
    }

    fn located_findings(&self) -> Vec<(Finding, Location)> {
        let mut found = Vec::new();
        for (at, source) in self.sources.iter().enumerate() {
            let findings = source.found.sorted();
            let places = source.locations(&findings, at);
            found.extend(findings.into_iter().zip(places));
        }
        found.retain(|(finding, _)| self.is_asked(finding));
        found
    }

    fn scope(&self) -> Scope<'_> {
        Scope {
            sources: &self.sources,
            source_identities: self.sources.iter().map(Source::identity).collect(),
            dialects: &self.dialects,
            profile: self.profile.as_deref(),
            is_rewritten: self.arguments.rewritten.is_some(),
        }
    }

    /// Returns the rank of the mildest reported severity. Severities that exceed their limit are always reported.
    fn max_shown_rank(&self, exceeded: [bool; 3]) -> usize {
        let show = self.arguments.show.map(|show| show.min_severity());
        let show = show.or(self.fail_on().min_severity()).unwrap_or(Severity::Refused);
        exceeded.iter().rposition(|exceeded| *exceeded).unwrap_or_default().max(rank(show))
    }

    /// Determines the findings to fix: those that a run without `--fix` would report.
    fn want_fixes(&mut self) -> usize {
        let found = self.located_findings();
        let (mut found, ..) = self.config.without_ignored(found);
        if let Some(baseline) = &self.baseline {
            (found, ..) = baseline.clone().without_known(found, &self.scope());
        }
        let shown = self.max_shown_rank(self.exceeded(&found, self.fail_on()));
        found.retain(|(finding, _)| rank(finding.severity) <= shown);
        self.fixes.findings = found.len();
        for (finding, location) in found.iter().filter(|(finding, _)| !finding.is_of_request) {
            let Some(entry) = location.entry else { continue };
            let wanted = self.fixes.wanted.entry(location.source).or_default().entry(entry).or_default();
            wanted.extend(finding.reported_by.iter().map(|by| (by.dialect.name, finding.rule)));
        }
        shown
    }

    fn fix(&mut self, at: usize) {
        let shown = if at == 0 { self.want_fixes() } else { self.max_shown_rank([false; 3]) };
        let (Some(wanted), Some(source)) = (self.fixes.wanted.get(&at), self.sources.get_mut(at)) else { return };
        let fixer = Fixer {
            dialects: &self.dialects,
            profile: self.profile.as_deref(),
            used_as: self.used_as,
            shown,
            allows_unsafe: self.arguments.unsafe_fixes,
        };
        if source.input.encoding == Encoding::Utf16 {
            let name = terminal::shown(&source.input.source);
            self.notes.push(format!("{name}: UTF-16 is not fixed: save the file as UTF-8"));
            return;
        }
        match fixer.fixed(&source.input.text, &source.entries, wanted) {
            Ok(fixed) => {
                self.fixes.unsafe_only += fixed.unsafe_only;
                for (rule, reason) in fixed.reasons {
                    self.fixes.reasons.entry(rule).or_insert(reason);
                }
                if fixed.text != source.input.text {
                    source.found.clear();
                    self.fixes.originals.insert(at, std::mem::replace(&mut source.input.text, fixed.text));
                }
            }
            Err(error) => self.failed.push(source.input.locate_error(error)),
        }
    }

    fn fixes_summary(&self, left: usize) -> Option<String> {
        let Fixes { findings, unsafe_only, originals, reasons, .. } = &self.fixes;
        (*findings > 0).then(|| {
            let verb = if self.arguments.diff { "would fix" } else { "fixed" };
            let count = findings.saturating_sub(left);
            let places =
                if originals.is_empty() { String::new() } else { format!(" in {}", counted(originals.len(), "file")) };
            let rest = match left {
                0 => String::new(),
                1 => "; 1 remains".into(),
                left => format!("; {} remain", grouped(left)),
            };
            let more = match left.min(*unsafe_only) {
                0 => String::new(),
                count => format!(" (`--unsafe-fixes` fixes {}, with a loss)", grouped(count)),
            };
            let mut text =
                format!("{verb} {} of {}{places}{rest}{more}", grouped(count), counted(*findings, "finding"));
            let mut by_reason = BTreeMap::<&str, Vec<String>>::new();
            for (rule, reason) in reasons.iter().filter(|_| left > 0) {
                by_reason.entry(reason).or_default().push(format!("`{rule}`"));
            }
            for (reason, rules) in by_reason {
                text.push_str(&format!("\nnot fixed: {}: {reason}", rules.join(", ")));
            }
            text
        })
    }

    fn fixed_files(&self) -> Vec<OutputFile> {
        let sources = self.fixes.originals.keys().filter_map(|at| self.sources.get(*at));
        let files = sources.filter(|source| source.input.origin == Origin::File).map(|source| {
            let mark = if source.input.encoding == Encoding::MarkedUtf8 { "\u{feff}" } else { "" };
            OutputFile {
                path: source.input.source.clone(),
                content: format!("{mark}{}", source.input.text),
                like: source.input.source.clone(),
                ..OutputFile::default()
            }
        });
        files.collect()
    }

    fn difference(&self, left: usize, code: u8, terminal: &Terminal) -> Output {
        let changed = self.fixes.originals.iter().filter_map(|(at, original)| Some((self.sources.get(*at)?, original)));
        let diffs = changed.map(|(source, original)| fix::diff(&source.input.source, original, &source.input.text));
        let mut output = Output { content: Content::Data, ..Output::new(diffs.collect()) };
        for error in &self.failed {
            output.add_note(&error.render("toolwire", terminal.err));
        }
        if !self.arguments.quiet {
            for note in &self.notes {
                output.add_note(&format!("{} {note}", terminal.err.doubtful("toolwire:")));
            }
            output.add_note(&self.fixes_summary(left).unwrap_or_else(|| "nothing to fix".into()));
        }
        let is_changed = !self.fixes.originals.is_empty();
        output.with_exit_code(match code {
            EXIT_UNUSABLE => EXIT_UNUSABLE,
            _ if is_changed => EXIT_FOUND,
            _ => EXIT_SUCCESS,
        })
    }
}

impl Task for Check {
    fn steps(&self) -> usize {
        let judging = self.dialects.len() * self.sources.len();
        if self.arguments.fixes() {
            2 * judging + self.sources.len()
        } else {
            judging
        }
    }

    fn weight(&self) -> usize {
        self.sources.iter().map(|source| source.input.text.len()).max().unwrap_or_default()
    }

    fn label(&self, step: usize) -> &'static str {
        if step >= self.steps() {
            return "";
        }
        match self.work(step) {
            Work::Judge { dialect, .. } | Work::JudgeAgain { dialect, .. } => {
                self.dialects.get(dialect).map_or("", |dialect| dialect.name)
            }
            Work::Fix { .. } => "fixes",
        }
    }

    fn step(&mut self, step: usize) -> Result<(), CommandError> {
        match self.work(step) {
            Work::Judge { source, dialect } => self.judge(source, dialect),
            Work::Fix { source } => {
                self.fix(source);
                Ok(())
            }
            Work::JudgeAgain { source, dialect } if self.fixes.originals.contains_key(&source) => {
                self.judge(source, dialect)
            }
            Work::JudgeAgain { .. } => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>, terminal: &Terminal) -> Result<Output, CommandError> {
        let findings = self.located_findings();
        let fail_on = self.fail_on();
        let (findings, ignored, mut stale) = self.config.without_ignored(findings);
        let whole = self.arguments.tools.is_empty() && self.failed.is_empty();
        // Stale entries are known only if the run covers all tools and dialects, and neither reports losses nor fixes.
        let choice = &self.arguments.choice;
        let is_restricted =
            choice.choice().is_some() || !choice.exclude.is_empty() || self.arguments.rewritten.is_some();
        if !whole || is_restricted || self.arguments.fixes() {
            stale.clear();
        }
        let baseline = self.baseline.take();
        let confined = std::mem::take(&mut self.confined);
        let scope = self.scope();
        let mut failed = Vec::new();
        let mut files = Vec::new();
        let (mut findings, known) = match baseline {
            Some(_) if self.arguments.update_baseline && !whole => {
                let why = "expected all inputs and no `--tool`, found only some, which cannot become a baseline";
                failed.push(CommandError::option("updateBaseline", why));
                (findings, 0)
            }
            Some(baseline) if self.arguments.update_baseline => {
                let count = findings.len();
                let (path, content) = baseline.written(&findings, &scope);
                files.push(OutputFile { path, content, confined, ..OutputFile::default() });
                (Vec::new(), count)
            }
            Some(baseline) => {
                let (findings, known, gone) = baseline.without_known(findings, &scope);
                if whole && !self.arguments.fixes() {
                    stale.extend(gone);
                }
                (findings, known)
            }
            None => (findings, 0),
        };
        self.failed.extend(failed);
        let exceeded = self.exceeded(&findings, fail_on);
        let limit = self.max_shown_rank(exceeded);
        let mut hidden_counts = [0; 3];
        findings.retain(|(finding, _)| {
            let shows = rank(finding.severity) <= limit;
            if let Some(count) = hidden_counts.get_mut(rank(finding.severity)).filter(|_| !shows) {
                *count += 1 + finding.unlisted;
            }
            shows
        });
        let code = self.failed.iter().map(CommandError::exit_code).max().unwrap_or(EXIT_SUCCESS);
        let code = if code == EXIT_UNUSABLE || exceeded == [false; 3] { code } else { EXIT_FOUND };
        if self.arguments.diff {
            return Ok(self.difference(findings.len(), code, terminal));
        }
        let fixed = self.fixes_summary(findings.len()).filter(|_| self.arguments.fix);
        let written = files.first().map(|file: &OutputFile| file.path.clone());
        files.extend(self.fixed_files());
        let format = if self.arguments.json { formats::JSON } else { self.arguments.format };
        let report = Report {
            command: "check",
            outline: None,
            facts: None,
            profile: self.profile.as_deref(),
            dialects: &self.dialects,
            fail_on: self.arguments.rewritten.as_deref().unwrap_or(fail_on.as_str()),
            is_rewritten: self.arguments.rewritten.is_some(),
            exceeded,
            sources: &self.sources,
            // A document with a case for each tool lists findings of every tool.
            groups: bounded(groups(findings), format == Format::Junit),
            failed: &self.failed,
            notes: &self.notes,
            hidden_counts,
            ignored,
            known,
            stale,
            written,
            fixed,
            sarif_file: &self.sarif_file,
            code,
            quiet: self.arguments.quiet,
        };
        let mut output = formats::render(&report, format, terminal).with_exit_code(code);
        output.files = files;
        let stream = self.sources.iter().find(|source| source.input.origin == Origin::Stream);
        if let Some(stream) = stream.filter(|_| self.arguments.fix) {
            // Standard output is the fixed text, so the findings go to standard error.
            let findings = std::mem::replace(&mut output.stdout, stream.input.text.clone());
            output.stderr.insert_str(0, &findings);
            output.content = Content::Data;
        }
        Ok(output)
    }
}

fn table_of(dialect: &'static Dialect, used_as: Use) -> Option<&'static Dialect> {
    match used_as {
        Use::Response => dialect.response_format(),
        Use::Output => dialect.output_schema(),
        _ => Some(dialect),
    }
}

pub(crate) fn findings(
    subject: Subject<'_>,
    dialect: &'static Dialect,
    used_as: Use,
    entries: &[Named],
) -> Result<Vec<Finding>, Error> {
    let mut found = Vec::new();
    // Tools of several servers may have the same name, so findings use the names of the list's entries.
    let called = |server: Option<&str>, pointer: &str| {
        let is_in = |entry: &&Named| {
            pointer.strip_prefix(entry.pointer.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        server.and_then(|_| entries.iter().find(is_in)).and_then(|entry| entry.name.clone())
    };
    match subject {
        Subject::Tools(list) | Subject::Request(list) => {
            found.extend(internal::check_tools(list, &[dialect], FindingLimit::EVERY_TOOL)?.into_iter().map(
                |violation| Finding {
                    tool: called(violation.server.as_deref(), &violation.pointer).or(violation.tool),
                    rule: violation.constraint.id(),
                    severity: violation.severity,
                    outcome: None,
                    pointer: violation.pointer,
                    is_of_request: false,
                    message: violation.message,
                    unlisted: violation.more,
                    reported_by: Vec::from([ReportedBy {
                        dialect,
                        confidence: violation.confidence,
                        source: violation.source,
                        message: None,
                    }]),
                    witnesses: Vec::new(),
                },
            ));
        }
        Subject::Schemas(schemas) => {
            let options = internal::schema_options(dialect.id()).used_as(used_as);
            let of_use = table_of(dialect, used_as);
            for (at, schema) in schemas.iter().enumerate() {
                for violation in internal::check(schema, &options, FindingLimit::EVERY_TOOL)? {
                    let fact = internal::fact_of(of_use.unwrap_or(dialect), violation.constraint, &violation.pointer);
                    let (confidence, source) = fact.map_or((Grade::C, ""), |fact| (fact.confidence, fact.source));
                    found.push(Finding {
                        tool: None,
                        rule: violation.constraint.id(),
                        severity: violation.severity,
                        outcome: None,
                        pointer: format!("/{at}{}", violation.pointer),
                        is_of_request: false,
                        message: violation.message,
                        unlisted: violation.more,
                        reported_by: Vec::from([ReportedBy { dialect, confidence, source, message: None }]),
                        witnesses: Vec::new(),
                    });
                }
            }
        }
    }
    Ok(found)
}

/// If the API's format is unknown, only the request's tools are checked.
fn findings_of_request(request: &Node<'_>, dialect: &'static Dialect) -> Result<Vec<Finding>, Error> {
    let found = match internal::check_request(request.clone(), dialect.id(), FindingLimit::EVERY_TOOL) {
        Err(error) if matches!(error.code(), Code::TooDeep | Code::BudgetExceeded) => return Err(error),
        found => found.unwrap_or_default(),
    };
    let finding = |violation: RequestViolation| Finding {
        tool: None,
        rule: violation.constraint,
        severity: violation.severity,
        outcome: None,
        pointer: violation.pointer,
        is_of_request: true,
        message: violation.message,
        unlisted: violation.more,
        reported_by: Vec::from([ReportedBy {
            dialect,
            confidence: violation.fact.confidence,
            source: violation.fact.source,
            message: None,
        }]),
        witnesses: Vec::new(),
    };
    Ok(found.into_iter().map(finding).collect())
}

fn losses_of_rewriting(
    subject: Subject<'_>,
    dialect: &'static Dialect,
    entries: &[Named],
    min_outcome: Outcome,
) -> Result<Vec<Finding>, Error> {
    let losses = matrix::losses(subject, dialect, entries)?;
    let found = losses.into_iter().zip(entries).flat_map(|(losses, entry)| {
        losses.into_iter().filter(|loss| loss.outcome >= min_outcome).map(|loss| Finding {
            tool: entry.name.clone(),
            rule: loss.rule,
            severity: Severity::Refused,
            outcome: Some(loss.outcome),
            pointer: loss.pointer,
            is_of_request: false,
            message: loss.message,
            unlisted: 0,
            // A loss is caused by toolwire itself, and rests on no provider fact.
            reported_by: Vec::from([ReportedBy { dialect, confidence: Grade::A, source: "", message: None }]),
            witnesses: Vec::new(),
        })
    });
    Ok(found.collect())
}
