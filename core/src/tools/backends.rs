//! The compilers of an API that makes one grammar of all tools of a request: one of them must take them all.

use alloc::{string::String, vec::Vec};

use crate::{budget::Budget, check, dialect::Dialect, error::Error, json::Node};

/// Which compilers take the tools so far, and which took the tool before.
#[derive(Debug, Default)]
pub(super) struct Backends {
    /// By compiler: has it taken all tools?
    take_all: Vec<bool>,
    /// No compiler is left, and that was said.
    is_told: bool,
}

impl Backends {
    /// Takes a tool in; true where it is the first that leaves no compiler for all, though one takes it alone.
    ///
    /// # Errors
    /// As [`check::check`].
    pub(super) fn add(&mut self, schema: &Node<'_>, dialect: &Dialect) -> Result<bool, Error> {
        let takes = check::backends(schema, dialect, &Budget::new(schema.values_read(), None))?;
        // What none takes is refused by itself.
        if !takes.contains(&true) {
            return Ok(false);
        }
        if self.take_all.is_empty() {
            self.take_all = takes;
            return Ok(false);
        }
        self.take_all.iter_mut().zip(takes).for_each(|(all, takes)| *all &= takes);
        let is_first = !self.take_all.contains(&true) && !self.is_told;
        self.is_told |= is_first;
        Ok(is_first)
    }
}

/// What is wrong then, for people.
pub(super) fn message() -> String {
    "expected tools of which one compiler takes all, found one that only another compiler takes".into()
}
