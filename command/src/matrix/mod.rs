//! `toolwire matrix`: every tool in every dialect, one dialect at a step.

mod evaluate;
mod render;

use self::evaluate::Evaluator;
use toolwire::{options::Allow, Dialect};

use super::{
    arguments::{choice, chosen, MatrixArguments},
    error::{CommandError, FINE, FOUND},
    input::{Input, Named, Places},
    outcome::Outcome,
    task::{self, SourceText, Task},
    terminal::Terminal,
};

/// Something that is lost, or why there is nothing.
#[derive(Clone, Debug)]
struct Loss {
    outcome: Outcome,
    rule: &'static str,
    /// Into the list.
    pointer: String,
    message: String,
}

/// What one dialect means for one tool.
#[derive(Clone, Debug)]
struct Verdict {
    /// The API takes it as it is.
    accepted: bool,
    /// It holds the model to other arguments than the schema says.
    reinterpreted: bool,
    /// Something in it has no effect.
    ignored: bool,
    outcome: Outcome,
    losses: Vec<Loss>,
}

/// All tools in one dialect.
struct Column {
    dialect: &'static Dialect,
    /// As many as there are tools.
    verdicts: Vec<Verdict>,
}

/// The command at work.
pub(crate) struct Matrix {
    arguments: MatrixArguments,
    input: SourceText,
    dialects: Vec<&'static Dialect>,
    /// `tool` or `schema`.
    noun: &'static str,
    tools: Vec<Named>,
    places: Places,
    columns: Vec<Column>,
}

impl Matrix {
    pub(crate) fn new(arguments: MatrixArguments, input: SourceText) -> Result<Matrix, CommandError> {
        let Input { subject, places } = Input::read(&input.text)?.without_request();
        let (noun, tools) = (subject.noun(), subject.entries().map_err(|error| places.locate(&error))?);
        let dialects = chosen(&arguments.dialects);
        Ok(Matrix { arguments, input, dialects, noun, tools, places, columns: Vec::new() })
    }

    /// Whether something is as bad as the caller does not want it.
    fn fails(&self) -> bool {
        let mut verdicts = self.columns.iter().flat_map(|column| &column.verdicts);
        let level = self.arguments.fail_on.as_str();
        match (level, Outcome::ALL.into_iter().find(|outcome| outcome.as_str() == level)) {
            ("rejected", _) => verdicts.any(|verdict| !verdict.accepted),
            ("changed", _) => verdicts.any(|verdict| verdict.outcome > Outcome::Unchanged),
            (_, Some(outcome)) => verdicts.any(|verdict| verdict.outcome >= outcome),
            (_, None) => false,
        }
    }
}

impl Task for Matrix {
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
        // Read again at every step: it takes a fraction of a step, and nothing has to borrow from itself.
        let input = Input::read(&self.input.text)?.without_request();
        let evaluator = Evaluator { dialect, allow, tools: &self.tools };
        let verdicts = evaluator.all(input.subject).map_err(|error| self.places.locate(&error))?;
        self.columns.push(Column { dialect, verdicts });
        Ok(())
    }

    fn finish(self: Box<Self>, terminal: &Terminal) -> Result<task::Output, CommandError> {
        let output = if self.arguments.machine.json {
            task::Output::json(&self.document())
        } else {
            task::Output::new(self.table(terminal.width, terminal.out))
        };
        Ok(output.with_exit_code(if self.fails() { FOUND } else { FINE }))
    }
}
