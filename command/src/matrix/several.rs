//! Matrices of several inputs, one after the other: the servers in an `mcp.json`.

use toolwire::json::Node;

use super::Matrix;
use crate::{
    arguments::MatrixArguments,
    error::{CommandError, UNUSABLE},
    gather::Gathering,
    profile::{Choice, APIS},
    task::{Output, Task},
    terminal::Terminal,
};

/// State of the command.
pub(crate) struct Matrices {
    each: Vec<Matrix>,
    /// Inputs that could not be read or checked.
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

    /// Returns the index of the matrix that a step belongs to, and the step within it.
    fn place(&self, step: usize) -> (usize, usize) {
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
        let (at, step) = self.place(step);
        self.each.get(at).map_or("", |matrix| matrix.label(step))
    }

    fn step(&mut self, step: usize) -> Result<(), CommandError> {
        let (at, step) = self.place(step);
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
            output.note(&format!("{} {line}", terminal.err.doubtful("toolwire:")));
        }
        for error in &self.failed {
            output.note(&error.render("toolwire", terminal.err));
        }
        Ok(output.with_exit_code(if self.failed.is_empty() { code } else { UNUSABLE }))
    }
}
