//! What passes ask of a schema as a whole.

pub(in crate::sanitize) mod naming;
pub(in crate::sanitize) mod polarity;
