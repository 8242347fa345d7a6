//! Tool lists and whole requests: names, wrappers, quarantine, and the way back.
//!
//! A list is taken apart (`listing`), every entry is recognised (`shape`), gets a legal name (`names`) and an acceptable schema
//! (`list`, with `budget` for what a request may hold), and what has to be undone is noted (`restore`).

mod arguments;
mod budget;
pub(crate) mod check;
pub(crate) mod list;
mod listing;
pub(crate) mod names;
pub(crate) mod restore;
mod shape;
