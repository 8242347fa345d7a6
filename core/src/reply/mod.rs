//! Replies of a model: what was changed in the request is restored in them.
//!
//! `restore` records what to undo, and writes it as JSON. Replies come whole (`restore`) or in pieces (`streams`), and
//! may contain structured output (`answer`). Calls are written in the client's form (`client_call`, `client_item`), and
//! their arguments are repaired if that is requested (`call_repair`). `call_sites` has small parts of calls.

pub(crate) mod answer;
pub(crate) mod call_repair;
pub(crate) mod call_sites;
pub(crate) mod client_call;
pub(crate) mod restore;
pub(crate) mod streams;
