//! Tracks the compilers of an API that compiles all tools of a request into one grammar: one compiler has to accept all
//! tools.

use alloc::{string::String, vec::Vec};

use crate::{budget::Budget, check, dialect::Dialect, error::Error, json::Node};

/// The compilers that accept all tools so far.
#[derive(Debug, Default)]
pub(super) struct Backends {
    /// For each compiler, true if it accepts all tools so far.
    take_all: Vec<bool>,
    /// True if it was already reported that no compiler accepts all tools.
    is_reported: bool,
}

impl Backends {
    /// Adds a tool. Returns true for the first tool after which no compiler accepts all tools, if at least one compiler
    /// accepts this tool.
    ///
    /// # Errors
    /// Same as [`check::check`].
    pub(super) fn add(&mut self, schema: &Node<'_>, dialect: &Dialect) -> Result<bool, Error> {
        let takes = check::backends(schema, dialect, &Budget::new(schema.values_read(), None))?;
        // A tool that no compiler accepts is reported separately.
        if !takes.contains(&true) {
            return Ok(false);
        }
        if self.take_all.is_empty() {
            self.take_all = takes;
            return Ok(false);
        }
        self.take_all.iter_mut().zip(takes).for_each(|(all, takes)| *all &= takes);
        let is_first = !self.take_all.contains(&true) && !self.is_reported;
        self.is_reported |= is_first;
        Ok(is_first)
    }
}

/// Returns the error message for a tool after which no compiler accepts all tools.
pub(super) fn message() -> String {
    "expected tools that one compiler accepts together, found one that only another compiler accepts".into()
}
