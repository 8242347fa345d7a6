//! Tool lists and whole requests: names, wrappers, quarantine, and the way back.
//!
//! A list is taken apart (`listing`), every entry is recognised (`shape`), gets a legal name (`names`) and an acceptable schema
//! (`list`, with `budget` for what a request may hold), and what has to be undone is noted (`restore`). A whole request
//! (`request`) also speaks of tools in its history (`calls`) and in what it forces (`choice`). Replies come back whole (`restore`)
//! or in pieces (`stream` with what it holds back in `held`, and `sse`). All of it, for one request of a client, is an `exchange`, which also runs the searches that the
//! client leaves to the provider.

mod arguments;
mod budget;
mod call_sites;
pub(crate) mod check;
mod choice;
#[cfg(feature = "search")]
pub(crate) mod exchange;
mod held;
pub(crate) mod request;
pub(crate) mod restore;
pub(crate) mod sanitize_list;
mod sse;
pub(crate) mod stream_restorer;
pub(crate) mod tool_format;
pub(crate) mod tool_list;
