//! Replies of a model: restores in replies the names and arguments that were changed in the request.
//!
//! A *unit* is a block, item, part or step of a message. An *alternative* is one of several messages of a reply (a
//! choice or a candidate). A *piece* is the part of a text or of arguments that one event contains.
//!
//! `restore` records the changes to undo, can be written as JSON, and restores whole replies; `streams` restores
//! replies that arrive in pieces. `answer` restores structured output. `client_call` writes calls in the client's
//! format. `call_repair` repairs arguments if the caller requests it. `call_sites` has small parts of calls.

pub(crate) mod answer;
pub(crate) mod call_repair;
pub(crate) mod call_sites;
pub(crate) mod client_call;
pub(crate) mod restore;
pub(crate) mod streams;
