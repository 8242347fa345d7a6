//! Restores structured output: answers that are text, and answers that are calls to a function that replaces the
//! response format.

mod alternatives;
pub(crate) mod call;
pub(crate) mod call_stream;
mod cohere;
mod queue;
pub(crate) mod reply;
mod stream;
pub(crate) mod text;
