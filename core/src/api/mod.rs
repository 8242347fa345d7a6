//! The public functions, on `serde_json::Value` and on text, and the entry point for bindings.

pub(crate) mod call;
pub(crate) mod call_restore;
mod deferred;
pub(crate) mod describe;
mod dialects;
#[cfg(feature = "search")]
mod exchange;
pub(crate) mod function;
mod input;
mod repair;
mod request;
mod restore;
mod restore_arguments;
mod restore_plan;
pub(crate) mod sanitize;
#[cfg(feature = "search")]
mod search;
mod tool_set;
pub(crate) mod tools;
mod validate;

pub use deferred::{apply_deferred_loading, settle_deferral_betas, strip_deferral_betas, Deferred};
pub use dialects::dialects;
#[cfg(feature = "search")]
pub use exchange::Exchange;
pub use input::Input;
pub use repair::repair_arguments;
pub use request::{adapt_request, check_request, Adapted, ReplyRestorer, RestoredReply};
pub use restore::{CallStream, Restore, RestoredCall, RestoredClientCall, RestoredContent};
pub use restore_arguments::restore_arguments;
pub use restore_plan::RestorePlan;
pub use sanitize::{check, normalize_envelope, sanitize, Rewritten};
#[cfg(feature = "search")]
pub use search::{answer_tool_search, search_tools, ToolIndex};

pub use tool_set::{ReadyTools, ToolSet};
pub use tools::{check_tools, deferral_for, dialect_for, sanitize_tools, SanitizedTools};
pub use validate::{validate_arguments, validate_result};

use crate::json::text_of;
