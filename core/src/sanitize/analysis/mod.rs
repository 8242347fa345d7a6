//! Analyses of a whole schema for passes and reports.

pub(crate) mod naming;
pub(crate) mod polarity;
