//! Analyses of a whole schema for passes and reports.

pub(in crate::sanitize) mod naming;
pub(in crate::sanitize) mod polarity;
