//! Counts the calls whose passes ran again, to show how many of them had no reason to.

use core::sync::atomic::{AtomicUsize, Ordering};

static REWRITTEN: AtomicUsize = AtomicUsize::new(0);
static AGAIN: AtomicUsize = AtomicUsize::new(0);
static NEEDLESS: AtomicUsize = AtomicUsize::new(0);

/// Calls of the pipeline in this process. The numbers wrap around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rounds {
    /// Schemas that the passes rewrote.
    pub rewritten: usize,
    /// Those with a second round.
    pub again: usize,
    /// Those whose second round changed nothing.
    pub needless: usize,
}

impl Rounds {
    pub(crate) fn taken() -> Self {
        let [rewritten, again, needless] = [&REWRITTEN, &AGAIN, &NEEDLESS].map(|count| count.load(Ordering::Relaxed));
        Rounds { rewritten, again, needless }
    }

    pub(crate) fn since(self, before: Self) -> Self {
        Rounds {
            rewritten: self.rewritten.wrapping_sub(before.rewritten),
            again: self.again.wrapping_sub(before.again),
            needless: self.needless.wrapping_sub(before.needless),
        }
    }
}

pub(super) fn count_first() {
    REWRITTEN.fetch_add(1, Ordering::Relaxed);
}

pub(super) fn count_second(has_changed: bool) {
    AGAIN.fetch_add(1, Ordering::Relaxed);
    if !has_changed {
        NEEDLESS.fetch_add(1, Ordering::Relaxed);
    }
}
