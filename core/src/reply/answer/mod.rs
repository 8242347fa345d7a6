//! Restores structured output: answers that are text, and answers that are calls to a function that replaces the
//! response format.

pub(crate) mod alternatives;
pub(crate) mod call;
pub(crate) mod call_stream;
pub(crate) mod queue;
pub(crate) mod reply;
pub(crate) mod stream;
pub(crate) mod text;
