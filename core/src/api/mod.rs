//! The public functions: `serde_json::Value` and text in and out, and the form that bindings call.

pub(crate) mod call;
pub(crate) mod call_restore;
mod deferred;
pub(crate) mod describe;
mod dialects;
#[cfg(feature = "search")]
mod exchange;
pub(crate) mod function;
mod input;
mod json_text;
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

pub use deferred::{
    apply_deferred_loading, apply_deferred_loading_json, apply_deferred_loading_json_with_report,
    apply_deferred_loading_with_report, settle_deferral_betas, strip_deferral_betas, Deferred,
};
pub use dialects::dialects;
#[cfg(feature = "search")]
pub use exchange::Exchange;
pub use input::Input;
pub use json_text::JsonText;
pub use repair::{
    repair_arguments, repair_arguments_json, repair_arguments_json_with_report, repair_arguments_with_report,
};
pub use request::{adapt_request, adapt_request_json, Adapted, ReplyRestorer, RestoredReply};
pub use restore::{CallStream, Restore, RestoredCall, RestoredClientCall};
pub use restore_arguments::{restore_arguments, restore_arguments_json};
pub use restore_plan::RestorePlan;
pub use sanitize::{check, normalize_envelope, sanitize, Rewritten};
#[cfg(feature = "search")]
pub use search::{answer_tool_search, answer_tool_search_json, search_tools, search_tools_json, ToolIndex};

pub use tool_set::{ReadyTools, ToolSet};
pub use tools::{check_tools, deferral_for, dialect_for, dialect_for_with_report, sanitize_tools, SanitizedTools};
pub use validate::{validate_arguments, validate_arguments_json};

use crate::json::text_of;
