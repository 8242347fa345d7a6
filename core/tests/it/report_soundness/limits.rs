//! Maximum number of faults per dialect. The numbers may only decrease.

const LIMITS: &[(&str, usize)] = &[];

/// Returns the maximum number of faults of a dialect, zero by default.
pub(crate) fn of(dialect: &str) -> usize {
    LIMITS.iter().find(|(known, _)| *known == dialect).map_or(0, |(_, limit)| *limit)
}
