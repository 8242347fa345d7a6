//! Tool lists and whole requests: names, wrappers, quarantine, and restoring.
//!
//! `servers` merges the lists of several servers into one list, with names by `server_names`. `tool_list` splits a list
//! into entries, and `tool_format` recognizes each entry. Every tool gets a legal name (`names`) and an acceptable
//! schema (`sanitize_list`, in the dialects of `target`; `budget` counts the limits of a request, `wrapper` handles the
//! parts outside the schema, `quarantine` holds the reasons for tools that cannot be sent). `restore` records what to
//! undo, and `restore_json` writes it as JSON. `as_sent` changes only the shape of a list. A whole request (`request`)
//! also has tools in its history (`carriers`), mentions tools there (`call_sites`; those of several servers in
//! `server_mentions`), may force some (`choice`), and usually repeats the list of the previous request (`list_cache`).
//! Its namespaces are kept if the API has them (`retained_namespaces`). Replies come whole (`restore`) or in pieces
//! (`stream_restorer`, which buffers calls in `buffered_calls`, `chat_stream`, `response_stream`, `item_stream`, and
//! `sse`). Calls are written in the client's form (`client_call`, `client_item`, and `call_pieces` with
//! `custom_input`), and their arguments are repaired if that is requested (`call_repair`, and `joined` for encoded
//! arguments). `set_aside` warns about tools that are not sent.

mod adapt_report;
mod answer;
mod answer_block;
mod answer_call;
mod answer_call_stream;
mod answer_candidates;
mod answer_choices;
mod answer_cohere;
mod answer_fence;
mod answer_history;
mod answer_parts;
mod answer_queue;
mod answer_run;
mod answer_stream;
mod arguments;
pub(crate) mod as_sent;
mod backends;
mod budget;
mod buffered_calls;
mod buffered_text;
pub(crate) mod call_pieces;
pub(crate) mod call_repair;
mod call_sites;
mod carriers;
mod chat_stream;
pub(crate) mod check;
mod check_beside;
mod check_formats;
pub(crate) mod check_request;
pub(crate) mod client_call;
mod client_item;
mod converse_changes;
mod converse_stream;
mod custom_input;
mod definitions;
mod format_ladder;
mod format_tools;
pub(crate) mod formats;
mod history_arguments;
mod history_blocks;
mod history_pairs;
mod interactions_stream;
mod item_stream;
mod joined;
#[cfg_attr(not(feature = "search"), allow(dead_code, unreachable_pub, reason = "only exchanges need it"))]
pub(crate) mod list_cache;
mod output_schema;
pub(crate) mod overflow;
pub(crate) mod quarantine;
pub(crate) mod request;
pub(crate) mod request_facts;
mod request_members;
mod response_stream;
pub(crate) mod restore;
mod restore_json;
mod result_names;
mod retained_namespaces;
mod same_names;
pub(crate) mod sanitize_list;
#[cfg(feature = "search")]
pub(crate) mod server_index;
mod server_mentions;
mod server_names;
pub(crate) mod servers;
pub(crate) mod set_aside;
pub(crate) mod sse;
pub(crate) mod stream_restorer;
mod target;
mod text_events;
mod wrapper;
