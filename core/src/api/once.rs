//! A value that is computed when it is first read, by any thread.

use core::fmt;

use spin::Once;

pub(super) struct OnceValue<T>(Once<T>);

impl<T> OnceValue<T> {
    pub(super) fn new() -> Self {
        OnceValue(Once::new())
    }

    /// Returns the value. If several threads read it at the same time, each thread computes it, because no thread may
    /// spin while another thread makes a report.
    pub(super) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        match self.0.get() {
            Some(value) => value,
            None => {
                let value = make();
                self.0.call_once(|| value)
            }
        }
    }
}

impl<T: Clone> Clone for OnceValue<T> {
    fn clone(&self) -> Self {
        OnceValue(self.0.get().map_or_else(Once::new, |value| Once::initialized(value.clone())))
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceValue<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("OnceValue").field(&self.0.get()).finish()
    }
}
