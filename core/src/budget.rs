//! Limits the work of one call.
//!
//! A call counts steps, not time, so that it ends after equal work on every machine. Each node that is visited, copied,
//! merged or compared is one step. The budget grows with the input. When it is spent, the call ends with
//! `budget-exceeded`. This holds for every pass, because visits, copies, merges and comparisons of nodes charge the
//! budget themselves.

use alloc::{format, string::String};
use core::{
    cell::{Cell, OnceCell},
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::{
    error::{Code, Error},
    limits::{MAX_STEPS, MAX_WALK_DEPTH, STEPS, STEPS_PER_NODE},
    naming::Naming,
};

/// Remaining steps of one call, and the error that ends the call.
pub(crate) struct Budget {
    limit: u64,
    remaining: Cell<u64>,
    /// The caller's spelling of `maxSteps`, for the message.
    naming: Naming,
    /// The error that ends the call. If it is set, functions stop and return an unfinished result.
    failure: OnceCell<Error>,
}

impl Budget {
    /// Creates a budget for an input of `nodes` nodes. `max_steps`, which the caller may set, takes precedence.
    pub(crate) fn new(nodes: usize, max_steps: Option<usize>) -> Self {
        let limit = max_steps.map_or_else(|| by_size(nodes), |steps| u64::try_from(steps).unwrap_or(u64::MAX));
        Budget { limit, remaining: Cell::new(limit), naming: Naming::Camel, failure: OnceCell::new() }
    }

    pub(crate) fn times(mut self, factor: u64) -> Self {
        self.limit = self.limit.saturating_mul(factor);
        self.remaining.set(self.limit);
        self
    }

    pub(crate) fn spelled(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// Pays for work before it is done. Returns false if the budget is spent.
    #[inline]
    pub(crate) fn pay(&self, steps: usize) -> bool {
        let remaining = self.remaining.get().checked_sub(steps as u64);
        self.remaining.set(remaining.unwrap_or(0));
        remaining.is_some()
    }

    /// Pays for each item before it is visited. Ends early if the budget is spent. The call then fails at its next
    /// [`Self::check`].
    #[inline]
    pub(crate) fn each<I: IntoIterator>(&self, items: I) -> impl Iterator<Item = I::Item> + use<'_, I> {
        items.into_iter().take_while(|_| self.pay(1))
    }

    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        self.remaining.get() == 0
    }

    pub(crate) fn remaining(&self) -> u64 {
        self.remaining.get()
    }

    pub(crate) fn spent(&self) -> u64 {
        self.limit - self.remaining.get()
    }

    /// Ends the call with this error: no more steps can be paid.
    pub(crate) fn fail(&self, error: Error) {
        self.remaining.set(0);
        let _ = self.failure.set(error);
    }

    /// Returns an error if the budget is spent. `at` returns the pointer to the current position.
    ///
    /// # Errors
    /// `budget-exceeded`, or the error of [`Self::fail`].
    #[inline]
    pub(crate) fn check(&self, at: impl FnOnce() -> String) -> Result<(), Error> {
        if self.is_spent() {
            return Err(self.error(at()));
        }
        Ok(())
    }

    #[cold]
    fn error(&self, pointer: String) -> Error {
        let limit = self.limit;
        let exceeded = || {
            let option = self.naming.spell("maxSteps");
            let message = format!(
                "expected a schema that needs at most {limit} steps, found one that needs more; see `{option}`"
            );
            Error::new(Code::BudgetExceeded, pointer, message)
        };
        self.failure.get_or_init(exceeded).clone()
    }

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

/// Returns the number of steps of a call whose input has this size.
pub(crate) fn by_size(nodes: usize) -> u64 {
    let nodes = u64::try_from(nodes).unwrap_or(u64::MAX);
    STEPS.saturating_add(STEPS_PER_NODE.saturating_mul(nodes)).min(MAX_STEPS)
}

/// Steps of all finished budgets in all threads, for the growth tests. The number wraps around.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

impl Drop for Budget {
    fn drop(&mut self) {
        // The number may wrap around on 32-bit targets, so only the difference between two numbers is meaningful there.
        #[allow(clippy::cast_possible_truncation, reason = "the sum also wraps around")]
        TAKEN.fetch_add(self.spent() as usize, Ordering::Relaxed);
    }
}

pub(crate) fn taken() -> usize {
    TAKEN.load(Ordering::Relaxed)
}
