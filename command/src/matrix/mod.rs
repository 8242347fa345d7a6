//! `toolwire matrix`: every tool in every dialect, one dialect at a step.

mod evaluate;
mod render;

use self::evaluate::Judge;
use toolwire::{Accepts, Allow, Change, Dialect, Guidance};

use super::{
    arguments::{chosen, meant, MatrixArguments},
    error::{Fault, FINE, FOUND},
    input::{Input, Named, Places},
    task::{self, Given, Task},
    terminal::Terminal,
};

/// What becomes of a tool, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    Unchanged,
    Lossless,
    Encoded,
    Lost,
    Wider,
    Narrower,
    Refused,
}

impl Outcome {
    const ALL: [Outcome; 7] =
        [Outcome::Unchanged, Outcome::Lossless, Outcome::Encoded, Outcome::Lost, Outcome::Wider, Outcome::Narrower, Outcome::Refused];
    /// What `--fail-on` takes, the least severe last. `rejected` and `never` are no outcomes.
    pub(crate) const LEVELS: [&'static str; 8] = ["never", "refused", "narrower", "wider", "lost", "encoded", "changed", "rejected"];

    const fn as_str(self) -> &'static str {
        match self {
            Outcome::Unchanged => "unchanged",
            Outcome::Lossless => "lossless",
            Outcome::Encoded => "encoded",
            Outcome::Lost => "lost",
            Outcome::Wider => "wider",
            Outcome::Narrower => "narrower",
            Outcome::Refused => "refused",
        }
    }

    /// What one change alone would make of a tool.
    fn of(change: &Change) -> Outcome {
        match change.accepts {
            Accepts::Wider => Outcome::Wider,
            Accepts::Narrower | Accepts::Mixed => Outcome::Narrower,
            Accepts::Same if change.guidance == Guidance::Lost => Outcome::Lost,
            Accepts::Same if change.encoded => Outcome::Encoded,
            Accepts::Same => Outcome::Lossless,
        }
    }
}

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
    given: Given,
    dialects: Vec<&'static Dialect>,
    /// `tool` or `schema`.
    noun: &'static str,
    tools: Vec<Named>,
    places: Places,
    columns: Vec<Column>,
}

impl Matrix {
    pub(crate) fn new(arguments: MatrixArguments, given: Given) -> Result<Matrix, Fault> {
        let Input { subject, places } = Input::read(&given.text)?.without_request();
        let (noun, tools) = (subject.noun(), subject.entries().map_err(|error| places.fault(&error))?);
        let dialects = chosen(&arguments.dialects);
        Ok(Matrix { arguments, given, dialects, noun, tools, places, columns: Vec::new() })
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
        self.given.text.len()
    }

    fn label(&self, step: usize) -> &'static str {
        self.dialects.get(step).map_or("", |dialect| dialect.name)
    }

    fn step(&mut self, step: usize) -> Result<(), Fault> {
        let Some(dialect) = self.dialects.get(step) else { return Ok(()) };
        let allow: Allow = meant(Some(&self.arguments.allow)).unwrap_or_default();
        // Read again at every step: it takes a fraction of a step, and nothing has to borrow from itself.
        let input = Input::read(&self.given.text)?.without_request();
        let judge = Judge { dialect, allow, tools: &self.tools };
        let verdicts = judge.all(input.subject).map_err(|error| self.places.fault(&error))?;
        self.columns.push(Column { dialect, verdicts });
        Ok(())
    }

    fn finish(self: Box<Self>, terminal: &Terminal) -> Result<task::Outcome, Fault> {
        let outcome = if self.arguments.machine.json {
            task::Outcome::json(&self.document())
        } else {
            task::Outcome::new(self.table(terminal.width, terminal.out))
        };
        Ok(outcome.ends(if self.fails() { FOUND } else { FINE }))
    }
}
