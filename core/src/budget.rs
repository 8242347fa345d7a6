//! How much work one call may do.
//!
//! A call counts steps, not time, so that it ends after the same work on every machine: a step for each node that is
//! visited, copied, merged or compared. The budget grows with the input, and when it is spent the call ends with
//! `budget-exceeded`. That holds whatever the passes do: the visitor and the copying of nodes pay by themselves, and
//! nothing else recurses over schemas.

use alloc::{format, string::String};
use core::{
    cell::{Cell, OnceCell},
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::{
    error::{Code, Error},
    limits::{MAX_WALK_DEPTH, MOST_STEPS, STEPS, STEPS_PER_NODE},
    naming::Naming,
};

/// The steps that are left of one call, and why it has to end.
pub(crate) struct Budget {
    most: u64,
    left: Cell<u64>,
    /// How the caller spells `maxSteps`, for the message.
    naming: Naming,
    /// What ends the call. Whoever finds it set stops working and returns whatever is at hand.
    failure: OnceCell<Error>,
}

impl Budget {
    /// The budget of a call on an input of so many nodes, or the caller's own.
    pub(crate) fn new(nodes: usize, max_steps: Option<usize>) -> Self {
        let most = max_steps.map_or_else(|| by_size(nodes), |steps| u64::try_from(steps).unwrap_or(u64::MAX));
        Budget { most, left: Cell::new(most), naming: Naming::Camel, failure: OnceCell::new() }
    }

    /// A budget of this many times the steps.
    pub(crate) fn times(mut self, factor: u64) -> Self {
        self.most = self.most.saturating_mul(factor);
        self.left.set(self.most);
        self
    }

    /// The same budget, for a caller who spells options like this.
    pub(crate) fn spelled(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// Pays for work that is about to be done; `false` if there is nothing left to pay with.
    #[inline]
    pub(crate) fn pay(&self, steps: usize) -> bool {
        let left = self.left.get().checked_sub(steps as u64);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Does the call have to end?
    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// The steps that were paid so far.
    pub(crate) fn spent(&self) -> u64 {
        self.most - self.left.get()
    }

    /// Ends the call for a reason of its own: nothing more is paid.
    pub(crate) fn fail(&self, error: Error) {
        self.left.set(0);
        let _ = self.failure.set(error);
    }

    /// The error that ends the call, if it has to end; `at` is where it works.
    ///
    /// # Errors
    /// `budget-exceeded`, or what the call was ended for.
    #[inline]
    pub(crate) fn check(&self, at: impl FnOnce() -> String) -> Result<(), Error> {
        if self.is_spent() {
            return Err(self.error(at()));
        }
        Ok(())
    }

    #[cold]
    fn error(&self, pointer: String) -> Error {
        let most = self.most;
        let exceeded = || {
            let option = self.naming.spell("maxSteps");
            let message =
                format!("expected a schema that needs at most {most} steps, found one that needs more; see `{option}`");
            Error::new(Code::BudgetExceeded, pointer, message)
        };
        self.failure.get_or_init(exceeded).clone()
    }

    /// Ends the call if it works deeper than anything may nest.
    pub(crate) fn enter_level(&self, level: usize, at: impl FnOnce() -> String) -> Result<(), Error> {
        if level > MAX_WALK_DEPTH {
            let message = format!(
                "expected a schema that nests at most {MAX_WALK_DEPTH} levels while it is rewritten, found more"
            );
            self.fail(Error::new(Code::TooDeep, at(), message));
            return self.check(String::new);
        }
        self.check(at)
    }
}

/// The budget of a call on an input with `nodes` nodes, in steps.
pub(crate) fn by_size(nodes: usize) -> u64 {
    let nodes = u64::try_from(nodes).unwrap_or(u64::MAX);
    STEPS.saturating_add(STEPS_PER_NODE.saturating_mul(nodes)).min(MOST_STEPS)
}

/// The steps of all budgets that have ended, in all threads: what the tests of growth read. It wraps around.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

impl Drop for Budget {
    fn drop(&mut self) {
        // Where 64 bits are more than a pointer has, only differences are read.
        #[allow(clippy::cast_possible_truncation, reason = "the sum wraps around, too")]
        TAKEN.fetch_add(self.spent() as usize, Ordering::Relaxed);
    }
}

/// The steps of all calls that have ended in this process.
pub(crate) fn taken() -> usize {
    TAKEN.load(Ordering::Relaxed)
}
