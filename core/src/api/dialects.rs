//! `dialects`.

use crate::dialect::{Dialect, DIALECTS};

/// Everything that is known about each dialect, in the order in which they are documented.
///
/// ```
/// assert!(toolwire::dialects().iter().any(|dialect| dialect.name == "codex"));
/// ```
pub fn dialects() -> &'static [Dialect] {
    DIALECTS
}
