//! `dialects`.

use crate::dialect::{Dialect, DIALECTS};

/// Returns the known facts about each dialect, in the order of the documentation.
///
/// ```
/// assert!(toolwire::dialects().iter().any(|dialect| dialect.name == "codex"));
/// ```
pub fn dialects() -> &'static [Dialect] {
    DIALECTS
}
