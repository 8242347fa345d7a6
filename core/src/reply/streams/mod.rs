//! Restores streamed replies: splits them into events, and restores the calls and texts whose pieces the events
//! contain.

mod brackets;
pub(crate) mod buffered_calls;
mod calls;
pub(crate) mod chunk_calls;
pub(crate) mod pieces;
pub(crate) mod restorer;
mod snapshots;
pub(crate) mod sse;
pub(crate) mod text;
