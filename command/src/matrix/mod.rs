//! `toolwire matrix`: evaluates every tool for every dialect, one dialect in each step. Several inputs, such as the
//! servers in an `mcp.json`, have one matrix each. Also reports the chat templates of open models that refuse tools
//! which the server accepts (docs/templates.md).

mod render;

use std::collections::BTreeMap;

use toolwire::{
    internal::{self, json::Node},
    options::Allow,
    reports::{Change, Severity, ToolChange},
    Dialect, Error, SanitizeOptions,
};

use super::{
    arguments::{choice, DialectChoice, Machine, MatrixArguments, Source},
    error::{CommandError, EXIT_FOUND, EXIT_SUCCESS, EXIT_UNUSABLE},
    gather::Gathering,
    input::{Input, Named, Subject},
    outcome::Outcome,
    position::{value_at, InputPointers},
    profile::{Choice, APIS},
    task::{self, Output, SourceText, Task},
    terminal::Terminal,
};

/// A loss, or the reason why a tool cannot be rewritten.
#[derive(Clone, Debug)]
pub(crate) struct Loss {
    pub(crate) outcome: Outcome,
    pub(crate) rule: &'static str,
    /// JSON Pointer into the list.
    pub(crate) pointer: String,
    pub(crate) message: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Reason {
    severity: Severity,
    pub(crate) rule: &'static str,
    /// JSON Pointer into the list.
    pub(crate) pointer: String,
    pub(crate) message: String,
}

pub(crate) fn losses(
    subject: Subject<'_>,
    dialect: &'static Dialect,
    tools: &[Named],
) -> Result<Vec<Vec<Loss>>, Error> {
    let verdicts = Evaluator { dialect, allow: Allow::default(), tools }.verdicts(subject)?;
    Ok(verdicts.into_iter().map(|verdict| verdict.losses).collect())
}

/// Verdict of a dialect on an original tool: its worst finding.
#[derive(Debug)]
pub(crate) struct Grade {
    /// Severity of the finding; `None` if the tool is accepted.
    pub(crate) severity: Option<Severity>,
    pub(crate) reason: Option<Reason>,
}

/// Returns the grade of each tool of an input in a dialect.
pub(crate) fn grades(subject: Subject<'_>, dialect: &'static Dialect, tools: &[Named]) -> Result<Vec<Grade>, Error> {
    let verdicts = Evaluator { dialect, allow: Allow::default(), tools }.verdicts(subject)?;
    let grade = |verdict: Verdict| {
        let severity = match &verdict {
            Verdict { accepted: false, .. } => Some(Severity::Refused),
            Verdict { reinterpreted: true, .. } => Some(Severity::Reinterpreted),
            Verdict { ignored: true, .. } => Some(Severity::Ignored),
            _ => None,
        };
        let reason = verdict.reasons.into_iter().find(|reason| Some(reason.severity) == severity);
        Grade { severity, reason }
    };
    Ok(verdicts.into_iter().map(grade).collect())
}

#[derive(Clone, Debug)]
struct Verdict {
    /// True if the API accepts the original tool.
    accepted: bool,
    /// True if the API constrains the model to other arguments than the schema describes.
    reinterpreted: bool,
    ignored: bool,
    reasons: Vec<Reason>,
    outcome: Outcome,
    losses: Vec<Loss>,
}

struct Column {
    dialect: &'static Dialect,
    verdicts: Vec<Verdict>,
    /// Chat templates that refuse tools which the server accepts.
    templates: Vec<Template>,
}

pub(crate) struct Matrix {
    arguments: MatrixArguments,
    input: SourceText,
    dialects: Vec<&'static Dialect>,
    /// Either `tool` or `schema`.
    noun: &'static str,
    tools: Vec<Named>,
    pointers: InputPointers,
    columns: Vec<Column>,
}

impl Matrix {
    pub(crate) fn new(
        arguments: MatrixArguments,
        input: SourceText,
        dialects: Vec<&'static Dialect>,
    ) -> Result<Matrix, CommandError> {
        let Input { subject, pointers } = Input::read(&input.text)?.require_checkable()?;
        let (noun, tools) = (subject.noun(), subject.entries().map_err(|error| pointers.locate(&error))?);
        Ok(Matrix { arguments, input, dialects, noun, tools, pointers, columns: Vec::new() })
    }

    /// Returns the matrix of an input for a report. Nothing fails in such a matrix.
    pub(crate) fn of_report(input: SourceText, dialects: Vec<&'static Dialect>) -> Result<Matrix, CommandError> {
        let arguments = MatrixArguments {
            source: Source::default(),
            choice: DialectChoice::default(),
            allow: "any".into(),
            fail_on: "never".into(),
            all: false,
            machine: Machine::default(),
        };
        Matrix::new(arguments, input, dialects)
    }

    fn fails(&self) -> bool {
        let mut verdicts = self.columns.iter().flat_map(|column| &column.verdicts);
        let level = self.arguments.fail_on.as_str();
        match (level, Outcome::of_word(level)) {
            ("rejected", _) => verdicts.any(|verdict| !verdict.accepted),
            ("changed", _) => verdicts.any(|verdict| verdict.outcome > Outcome::Unchanged),
            (_, Some(outcome)) => verdicts.any(|verdict| verdict.outcome >= outcome),
            (_, None) => false,
        }
    }

    fn steps(&self) -> usize {
        self.dialects.len()
    }

    fn weight(&self) -> usize {
        self.input.text.len()
    }

    fn label(&self, step: usize) -> &'static str {
        self.dialects.get(step).map_or("", |dialect| dialect.name)
    }

    pub(crate) fn step(&mut self, step: usize) -> Result<(), CommandError> {
        let Some(dialect) = self.dialects.get(step) else { return Ok(()) };
        let allow: Allow = choice(Some(&self.arguments.allow)).unwrap_or_default();
        // The input is read again at every step. This takes a fraction of the step's time, and avoids a
        // self-referential struct.
        let input = Input::read(&self.input.text)?.require_checkable()?;
        let refusing = refusing_templates(dialect, &input.subject, &self.tools);
        let templates = refusing.map_err(|error| self.pointers.locate(&error))?;
        let evaluator = Evaluator { dialect, allow, tools: &self.tools };
        let verdicts = evaluator.verdicts(input.subject).map_err(|error| self.pointers.locate(&error))?;
        self.columns.push(Column { dialect, verdicts, templates });
        Ok(())
    }

    fn is_for_machines(&self) -> bool {
        self.arguments.machine.json
    }

    fn code(&self) -> u8 {
        if self.fails() {
            EXIT_FOUND
        } else {
            EXIT_SUCCESS
        }
    }

    fn output(&self, terminal: &Terminal) -> task::Output {
        if self.is_for_machines() {
            task::Output::json(&self.document())
        } else {
            task::Output::new(self.table(terminal.width, terminal.out))
        }
    }
}

struct Evaluator<'m> {
    dialect: &'static Dialect,
    allow: Allow,
    tools: &'m [Named],
}

impl Evaluator<'_> {
    fn verdicts(&self, subject: Subject<'_>) -> Result<Vec<Verdict>, Error> {
        match subject {
            Subject::Schemas(schemas) => {
                schemas.into_iter().enumerate().map(|(at, schema)| self.schema(at, schema)).collect()
            }
            Subject::Tools(list) | Subject::Request(list) => self.list(list),
        }
    }

    fn options(&self) -> SanitizeOptions {
        internal::schema_options(self.dialect.id()).allow(self.allow)
    }

    fn list(&self, tools: Node<'_>) -> Result<Vec<Verdict>, Error> {
        let mut verdicts: Vec<Verdict> = self.tools.iter().map(|_| untouched()).collect();
        let known: BTreeMap<&str, usize> =
            self.tools.iter().enumerate().map(|(at, tool)| (tool.pointer.as_str(), at)).collect();
        // The first tool for which a client drops a server, with the rule that the tool violates.
        let mut dropped: BTreeMap<Option<String>, (usize, &'static str)> = BTreeMap::new();
        for violation in
            internal::check_tools_in_format(tools.clone(), self.dialect, internal::FindingLimit::EVERY_TOOL)?
        {
            let Some(at) = split_entry(&known, &violation.pointer) else { continue };
            if violation.severity == Severity::Refused && internal::drops_server(&violation) {
                dropped.entry(violation.server.clone()).or_insert((at, violation.constraint.id()));
            }
            if let Some(verdict) = verdicts.get_mut(at) {
                verdict.record_reason(Reason {
                    severity: violation.severity,
                    rule: violation.constraint.id(),
                    pointer: violation.pointer,
                    message: violation.message,
                });
            }
        }
        for (tool, verdict) in self.tools.iter().zip(&mut verdicts) {
            let Some(&(at, rule)) = dropped.get(&tool.server).filter(|_| verdict.accepted) else { continue };
            verdict.record_reason(Reason {
                severity: Severity::Refused,
                rule,
                pointer: self.tools.get(at).map(|cause| cause.pointer.clone()).unwrap_or_default(),
                message: "expected only tools that the client accepts, found one for which it drops the server".into(),
            });
        }
        let mut options = internal::tools_options(self.dialect.id());
        // The list is rewritten in the format of the check. In its own format, a member may have other rules.
        options.format = Some(internal::tool_format_of(self.dialect));
        options.sanitize = self.options();
        let (_, outcome) = internal::sanitize_tools(tools, &options, true)?;
        for ToolChange { change, dialect, .. } in &outcome.changes {
            if let Some(verdict) = split_entry(&known, &change.pointer).and_then(|at| verdicts.get_mut(at)) {
                verdict.add(change, "");
                // `check` reports only the first tool beyond a limit; the tools after it are sent in another dialect.
                verdict.accepted &= *dialect == self.dialect.name;
            }
        }
        for refused in outcome.quarantined {
            if let Some(verdict) = split_entry(&known, &refused.pointer).and_then(|at| verdicts.get_mut(at)) {
                // `check` reports only the first tool beyond a limit; the API refuses the tools after it, too.
                if internal::limits_whole_request(self.dialect, refused.rule) && verdict.accepted {
                    verdict.record_reason(Reason {
                        severity: Severity::Refused,
                        rule: refused.rule,
                        pointer: refused.pointer.clone(),
                        message: refused.message.clone(),
                    });
                }
                verdict.refuse(refused.rule, refused.pointer, refused.message);
            }
        }
        Ok(verdicts)
    }

    fn schema(&self, at: usize, mut schema: Node<'_>) -> Result<Verdict, Error> {
        let options = self.options();
        let above = format!("/{at}");
        let mut verdict = untouched();
        for violation in internal::check(&schema, &options, internal::FindingLimit::EVERY_TOOL)? {
            verdict.record_reason(Reason {
                severity: violation.severity,
                rule: violation.constraint.id(),
                pointer: format!("{above}{}", violation.pointer),
                message: violation.message,
            });
        }
        match internal::sanitize(&mut schema, &options, true) {
            Ok(changes) => changes.iter().for_each(|change| verdict.add(change, &above)),
            Err(error) => {
                verdict.refuse(error.code().as_str(), format!("{above}{}", error.pointer()), error.message().to_owned())
            }
        }
        Ok(verdict)
    }
}

const fn untouched() -> Verdict {
    Verdict {
        accepted: true,
        reinterpreted: false,
        ignored: false,
        reasons: Vec::new(),
        outcome: Outcome::Unchanged,
        losses: Vec::new(),
    }
}

impl Verdict {
    fn record_reason(&mut self, reason: Reason) {
        match reason.severity {
            Severity::Refused => self.accepted = false,
            Severity::Reinterpreted => self.reinterpreted = true,
            Severity::Ignored => self.ignored = true,
        }
        self.reasons.push(reason);
    }

    fn add(&mut self, change: &Change, above: &str) {
        let outcome = Outcome::of(change);
        self.outcome = self.outcome.max(outcome);
        if outcome >= Outcome::Closed {
            let pointer = format!("{above}{}", change.pointer);
            self.losses.push(Loss { outcome, rule: change.rule.id(), pointer, message: change.message.clone() });
        }
    }

    fn refuse(&mut self, rule: &'static str, pointer: String, message: String) {
        self.outcome = Outcome::Refused;
        self.losses = Vec::from([Loss { outcome: Outcome::Refused, rule, pointer, message }]);
    }
}

fn split_entry(known: &BTreeMap<&str, usize>, pointer: &str) -> Option<usize> {
    let ends = pointer.match_indices('/').map(|(end, _)| end).skip(1).chain([pointer.len()]);
    ends.filter_map(|end| pointer.get(..end)).find_map(|above| known.get(above).copied())
}

pub(crate) struct Matrices {
    each: Vec<Matrix>,
    failed: Vec<CommandError>,
    notes: Vec<String>,
}

impl Matrices {
    pub(crate) fn new(arguments: &MatrixArguments, gathered: Gathering) -> Result<Matrices, CommandError> {
        let Gathering { inputs, mut failed, notes, .. } = gathered;
        let choice = arguments.choice.choice().unwrap_or(Choice::Profile(APIS));
        let dialects = choice.dialects(&arguments.choice.exclude);
        if dialects.is_empty() {
            return Err(CommandError::option("exclude", "expected at least one dialect to be left, found none"));
        }
        let mut each = Vec::new();
        for input in inputs {
            let source = input.source.clone();
            match Matrix::new(arguments.clone(), input, dialects.clone()) {
                Ok(matrix) => each.push(matrix),
                Err(error) => failed.push(error.in_source(&source)),
            }
        }
        match failed.pop() {
            // The only input failed.
            Some(error) if each.is_empty() && failed.is_empty() => Err(error),
            last => {
                failed.extend(last);
                Ok(Matrices { each, failed, notes })
            }
        }
    }

    fn position_of(&self, step: usize) -> (usize, usize) {
        let steps = self.each.first().map_or(1, Matrix::steps).max(1);
        (step / steps, step % steps)
    }
}

impl Task for Matrices {
    fn steps(&self) -> usize {
        self.each.iter().map(Matrix::steps).sum()
    }

    fn weight(&self) -> usize {
        self.each.iter().map(Matrix::weight).max().unwrap_or_default()
    }

    fn label(&self, step: usize) -> &'static str {
        let (at, step) = self.position_of(step);
        self.each.get(at).map_or("", |matrix| matrix.label(step))
    }

    fn step(&mut self, step: usize) -> Result<(), CommandError> {
        let (at, step) = self.position_of(step);
        let Some(matrix) = self.each.get_mut(at) else { return Ok(()) };
        matrix.step(step).map_err(|error| error.in_source(&matrix.input.source))
    }

    fn finish(self: Box<Self>, terminal: &Terminal) -> Result<Output, CommandError> {
        let code = self.each.iter().map(Matrix::code).max().unwrap_or_default();
        let mut output = match self.each.as_slice() {
            [] => Output::default(),
            [only] => only.output(terminal),
            several if several.iter().all(Matrix::is_for_machines) => {
                Output::json(&Node::array(several.iter().map(Matrix::document).collect()))
            }
            several => {
                let tables: Vec<String> = several.iter().map(|matrix| matrix.output(terminal).stdout).collect();
                Output::new(tables.join("\n"))
            }
        };
        for line in &self.notes {
            output.add_note(&format!("{} {line}", terminal.err.doubtful("toolwire:")));
        }
        for error in &self.failed {
            output.add_note(&error.render("toolwire", terminal.err));
        }
        Ok(output.with_exit_code(if self.failed.is_empty() { code } else { EXIT_UNUSABLE }))
    }
}

#[derive(Debug)]
pub(crate) struct Template {
    /// Name of the file, as in `--template`.
    pub(crate) file: &'static str,
    /// Tools that the template refuses although the server accepts them.
    pub(crate) refused: usize,
    /// Number of refused tools that cannot be rewritten for the template.
    pub(crate) left: usize,
}

fn refusing_templates(
    dialect: &'static Dialect,
    subject: &Subject<'_>,
    tools: &[Named],
) -> Result<Vec<Template>, Error> {
    let known: Vec<&'static str> =
        dialect.templates().filter(|(_, refused)| refused.is_some()).map(|(file, _)| file).collect();
    if known.is_empty() {
        return Ok(Vec::new());
    }
    let plain = internal::schema_options(dialect.id());
    let is_refused = |schema: &Node<'_>, options: &SanitizeOptions| -> Result<bool, Error> {
        let found = internal::check(schema, options, internal::FindingLimit::LISTED)?;
        Ok(found.iter().any(|violation| violation.severity == Severity::Refused))
    };
    let mut accepted: Vec<&Node<'_>> = Vec::new();
    for schema in schemas(subject, tools) {
        if !is_refused(schema, &plain)? {
            accepted.push(schema);
        }
    }
    let mut found = Vec::new();
    for file in known {
        let options = internal::schema_options(dialect.id()).template(file);
        let mut template = Template { file, refused: 0, left: 0 };
        for schema in &accepted {
            if is_refused(schema, &options)? {
                template.refused += 1;
                template.left += usize::from(internal::sanitize(&mut (*schema).clone(), &options, false).is_err());
            }
        }
        if template.refused > 0 {
            found.push(template);
        }
    }
    found.sort_by_key(|template| std::cmp::Reverse(template.refused));
    Ok(found)
}

fn schemas<'n, 'a>(subject: &'n Subject<'a>, tools: &[Named]) -> Vec<&'n Node<'a>> {
    match subject {
        Subject::Schemas(schemas) => schemas.iter().collect(),
        Subject::Tools(list) | Subject::Request(list) => {
            tools.iter().filter_map(|tool| value_at(list, &tool.pointer).and_then(internal::schema_of)).collect()
        }
    }
}
