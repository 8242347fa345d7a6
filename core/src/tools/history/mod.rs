//! Adapts the calls and results in the history of a request.

pub(crate) mod calls;
pub(crate) mod names;
pub(crate) mod pairs;
