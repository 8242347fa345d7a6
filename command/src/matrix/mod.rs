//! `toolwire matrix`: evaluates every tool for every dialect, one dialect in each step.

mod evaluate;
mod render;
mod several;
mod templates;

pub(crate) use self::several::Matrices;
use self::{evaluate::Evaluator, templates::Template};
use toolwire::{options::Allow, reports::Severity, Dialect, Error};

use super::{
    arguments::{choice, MatrixArguments},
    error::{CommandError, FINE, FOUND},
    input::{Input, Named, Subject},
    outcome::Outcome,
    places::Places,
    task::{self, SourceText},
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

/// Reason why an API refuses, reinterprets or partly ignores an original tool.
#[derive(Clone, Debug)]
struct Reason {
    severity: Severity,
    rule: &'static str,
    /// JSON Pointer into the list.
    pointer: String,
    message: String,
}

/// Returns the losses of each tool of an input in a dialect.
pub(crate) fn losses(
    subject: Subject<'_>,
    dialect: &'static Dialect,
    tools: &[Named],
) -> Result<Vec<Vec<Loss>>, Error> {
    let verdicts = Evaluator { dialect, allow: Allow::default(), tools }.all(subject)?;
    Ok(verdicts.into_iter().map(|verdict| verdict.losses).collect())
}

/// Evaluation of one tool for one dialect.
#[derive(Clone, Debug)]
struct Verdict {
    /// True if the API accepts the original tool.
    accepted: bool,
    /// True if the API constrains the model to other arguments than the schema describes.
    reinterpreted: bool,
    /// True if a part of the tool has no effect.
    ignored: bool,
    /// The reasons, if the tool is refused, reinterpreted or partly ignored.
    reasons: Vec<Reason>,
    outcome: Outcome,
    losses: Vec<Loss>,
}

/// The verdicts for one dialect.
struct Column {
    dialect: &'static Dialect,
    /// One verdict for each tool.
    verdicts: Vec<Verdict>,
    /// Chat templates that refuse tools which the server accepts.
    templates: Vec<Template>,
}

/// State of the command.
pub(crate) struct Matrix {
    arguments: MatrixArguments,
    input: SourceText,
    dialects: Vec<&'static Dialect>,
    /// Either `tool` or `schema`.
    noun: &'static str,
    tools: Vec<Named>,
    places: Places,
    columns: Vec<Column>,
}

impl Matrix {
    pub(crate) fn new(
        arguments: MatrixArguments,
        input: SourceText,
        dialects: Vec<&'static Dialect>,
    ) -> Result<Matrix, CommandError> {
        let Input { subject, places } = Input::read(&input.text)?.judged()?;
        let (noun, tools) = (subject.noun(), subject.entries().map_err(|error| places.locate(&error))?);
        Ok(Matrix { arguments, input, dialects, noun, tools, places, columns: Vec::new() })
    }

    /// Returns true if an outcome is as bad as `--fail-on`, or worse.
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

    fn step(&mut self, step: usize) -> Result<(), CommandError> {
        let Some(dialect) = self.dialects.get(step) else { return Ok(()) };
        let allow: Allow = choice(Some(&self.arguments.allow)).unwrap_or_default();
        // The input is read again at every step. This takes a fraction of the step's time, and avoids a
        // self-referential struct.
        let input = Input::read(&self.input.text)?.judged()?;
        let refusing = templates::refusing(dialect, &input.subject, &self.tools);
        let templates = refusing.map_err(|error| self.places.locate(&error))?;
        let evaluator = Evaluator { dialect, allow, tools: &self.tools };
        let verdicts = evaluator.all(input.subject).map_err(|error| self.places.locate(&error))?;
        self.columns.push(Column { dialect, verdicts, templates });
        Ok(())
    }

    fn is_for_machines(&self) -> bool {
        self.arguments.machine.json
    }

    fn code(&self) -> u8 {
        if self.fails() {
            FOUND
        } else {
            FINE
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
