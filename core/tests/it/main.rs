//! Every test of the crate that needs no process of its own, in one program: an edit of the core links it once.
//! `cargo test -p toolwire --test it fixtures::` runs one module.

mod architecture;
mod conversations;
mod corpus;
mod data;
mod deferred_conversations;
mod deferred_data;
mod every_option;
mod exchange;
mod fixtures;
mod format_words;
mod history_pairs;
mod issue_cases;
mod lists_data;
mod malformed_requests;
mod marks;
mod matrix;
mod moonshot;
mod native;
mod native_data;
mod options;
mod patterns;
mod reference;
mod repair_data;
mod repair_recovery;
mod repeated_lists;
mod report_soundness;
mod reports;
mod request_members;
mod routing;
mod search;
mod streams;
mod strict;
mod tables;
mod untouched;
mod walle;
