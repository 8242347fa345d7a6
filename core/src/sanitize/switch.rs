//! Which rules run: all of them, but in tests that show what each is for.

/// Does the rule of this name run?
#[cfg(not(test))]
pub(in crate::sanitize) const fn runs(_rule: &str) -> bool {
    true
}

#[cfg(test)]
pub(in crate::sanitize) use in_tests::{runs, without};

#[cfg(test)]
mod in_tests {
    extern crate std;

    use core::cell::Cell;

    std::thread_local! {
        static OFF: Cell<Option<&'static str>> = const { Cell::new(None) };
    }

    pub(in crate::sanitize) fn runs(rule: &str) -> bool {
        OFF.with(|off| off.get() != Some(rule))
    }

    /// Runs `inside` while the rule of this name does not.
    pub(in crate::sanitize) fn without<R>(rule: &'static str, inside: impl FnOnce() -> R) -> R {
        OFF.with(|off| off.set(Some(rule)));
        let result = inside();
        OFF.with(|off| off.set(None));
        result
    }
}
