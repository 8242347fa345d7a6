//! Tool lists and whole requests: names, wrappers, and quarantine.
//!
//! `servers` merges the lists of several servers into one list with unique names. `tool_list` splits a list into
//! entries, and `tool_format` recognizes each entry. Every tool gets a legal name (`names`) and an acceptable schema
//! (`sanitize_list`, in the dialects of `target`, which also handles the parts outside the schema; `shared_limits`
//! counts the limits of a request, `quarantine` holds the reasons for tools that cannot be sent, and warns about them).
//! `lenient` widens schemas for APIs that validate calls. `as_sent` changes only the shape of a list.
//!
//! The history of a request may contain calls and results (`history`) and mention tools (for several servers
//! `servers::mentions`). A request usually repeats the list of the previous one (`list_cache`).
//!
//! Response formats are rewritten (`formats`), and the facts about a request as a whole are applied (`request_facts`;
//! those about a place of the request: `request_rules`).
//! `check` reports without rewriting. (`adapt` rewrites whole requests; `tool_list` and `tool_format` are files of
//! `request`, and `names` is a file of the core.)

pub(crate) mod as_sent;
pub(crate) mod check;
mod examples;
pub(crate) mod formats;
pub(crate) mod history;
mod lenient;
#[cfg_attr(not(feature = "exchange"), allow(dead_code, unreachable_pub, reason = "only exchanges need it"))]
pub(crate) mod list_cache;
pub(crate) mod mcp_headers;
pub(crate) mod quarantine;
pub(crate) mod request_facts;
pub(crate) mod request_rules;
pub(crate) mod sanitize_list;
pub(crate) mod servers;
mod shared_limits;
pub(crate) mod target;
