//! Tool lists and whole requests: names, wrappers, quarantine, and the way back.
//!
//! A list of several servers becomes one list (`servers`, with names by `server_names`). A list is taken apart
//! (`tool_list`), every entry is recognised (`tool_format`), gets a legal name (`names`) and an acceptable schema
//! (`sanitize_list`, in the dialects of `target`, with `budget` for what a request may hold, `wrapper` for what stands
//! around the schema, `memory` for schemas that come again and `quarantine` for what cannot be had), and what has to be
//! undone is noted (`restore`, as JSON `restore_kept`). `as_sent` writes nothing but the API's shape. A whole request
//! (`request`) also brings tools in its history (`carriers`), speaks of tools there (`call_sites`; of several servers'
//! in `server_mentions`), forces some (`choice`), and mostly repeats the list of the one before (`list_cache`).
//! Replies come back whole (`restore`) or in pieces (`stream_restorer` with what it holds back in `held`,
//! `chat_stream`, `response_stream`, `item_stream`, and `sse`), calls as their client's own (`client_call`,
//! `client_item`, and `call_pieces` with `custom_input`), and arguments repaired if that is asked for (`call_repair`,
//! encoded ones with `joined`). `set_aside` says which tools are missing.

mod arguments;
pub(crate) mod as_sent;
mod backends;
mod budget;
pub(crate) mod call_pieces;
pub(crate) mod call_repair;
mod call_sites;
mod carriers;
mod chat_stream;
pub(crate) mod check;
pub(crate) mod check_request;
pub(crate) mod client_call;
mod client_item;
mod converse_stream;
mod custom_input;
mod definitions;
mod held;
mod history_arguments;
mod item_stream;
mod joined;
#[cfg_attr(not(feature = "search"), allow(dead_code, unreachable_pub, reason = "it is for exchanges, which search"))]
pub(crate) mod list_cache;
pub(crate) mod memory;
pub(crate) mod quarantine;
pub(crate) mod request;
pub(crate) mod request_facts;
mod request_members;
mod response_stream;
pub(crate) mod restore;
mod restore_kept;
pub(crate) mod sanitize_list;
mod server_mentions;
mod server_names;
pub(crate) mod servers;
pub(crate) mod set_aside;
pub(crate) mod sse;
pub(crate) mod stream_restorer;
mod target;
mod wrapper;
