//! HTTP, for the relay and `proxy --listen`: connections of clients, and content encodings.

pub(crate) mod body;
pub(crate) mod client;
pub(crate) mod connection;
pub(crate) mod decode;
pub(crate) mod framing;
pub(crate) mod server;
mod unread;
