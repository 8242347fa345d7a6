//! Tables of steps, each with the reason for its position. Tests take steps out and move them, to prove the reasons.

/// One step of rewriting a request.
pub(crate) struct Step<Applies: 'static, Run: 'static> {
    pub(crate) name: &'static str,
    /// Returns true if the step may have something to do.
    pub(crate) applies: Applies,
    pub(crate) run: Run,
    /// The last preceding step that this step has to follow, as a fixture shows; `None` if no fixture shows one.
    #[cfg_attr(not(test), allow(dead_code, reason = "a test proves it, and the page shows it"))]
    pub(crate) after: Option<&'static str>,
    /// The first following step that this step has to precede, as a fixture shows; `None` if no fixture shows one.
    #[cfg_attr(not(test), allow(dead_code, reason = "a test proves it, and the page shows it"))]
    pub(crate) before: Option<&'static str>,
    /// Reason for the position of the step.
    #[cfg_attr(not(test), allow(dead_code, reason = "the page shows it"))]
    pub(crate) why: &'static str,
}

/// A table of steps.
pub(crate) type Steps<Applies, Run> = &'static [Step<Applies, Run>];

/// Returns the steps in the order in which they run.
#[cfg(not(test))]
pub(crate) fn order<Applies, Run>(table: Steps<Applies, Run>) -> impl Iterator<Item = &'static Step<Applies, Run>> {
    table.iter()
}

#[cfg(test)]
pub(crate) use changed::order;

/// Runs the steps without one of them, or in another order, to show what each is for.
#[cfg(test)]
pub(crate) mod changed {
    extern crate std;

    use alloc::vec::Vec;
    use core::cell::Cell;

    use super::{Step, Steps};

    /// A change of the table with the step of this name.
    #[derive(Clone, Copy)]
    pub(crate) enum Change {
        Without(&'static str),
        /// The step is moved to the position of the other.
        Moved(&'static str, &'static str),
    }

    std::thread_local! {
        static CHANGE: Cell<Option<Change>> = const { Cell::new(None) };
    }

    pub(crate) fn with<R>(change: Change, inside: impl FnOnce() -> R) -> R {
        CHANGE.with(|cell| cell.set(Some(change)));
        let result = inside();
        CHANGE.with(|cell| cell.set(None));
        result
    }

    pub(crate) fn order<Applies, Run>(table: Steps<Applies, Run>) -> impl Iterator<Item = &'static Step<Applies, Run>> {
        let mut steps: Vec<&Step<Applies, Run>> = table.iter().collect();
        let find = |name: &str| table.iter().position(|step| step.name == name);
        match CHANGE.with(Cell::get) {
            Some(Change::Without(name)) => steps.retain(|step| step.name != name),
            Some(Change::Moved(name, other)) => {
                if let (Some(at), Some(to)) = (find(name), find(other)) {
                    let step = steps.remove(at);
                    steps.insert(to, step);
                }
            }
            None => {}
        }
        steps.into_iter()
    }
}
