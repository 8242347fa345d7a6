//! The public functions, on `serde_json::Value` and on text, and the entry point for bindings.

mod arguments;
pub(crate) mod call;
pub(crate) mod describe;
#[cfg(feature = "exchange")]
mod exchange;
mod input;
mod once;
mod request;
mod restore;
mod results;
pub(crate) mod sanitize;
#[cfg(feature = "search")]
mod search;
#[cfg(feature = "serde")]
mod serialize;
pub(crate) mod tools;

pub use arguments::repair_arguments;
pub use arguments::restore_arguments;
pub use arguments::RestorePlan;
#[cfg(feature = "exchange")]
pub use exchange::Exchange;
pub use input::{Form, Input, OwnedForm};
pub use request::{adapt_request, check_request, Adapted, ReplyRestorer, RestoredReply};
pub use request::{apply_deferred_loading, settle_deferral_betas, strip_deferral_betas, Deferred};
pub use restore::{CallStream, Restore, RestoredCall, RestoredClientCall, RestoredContent};
pub use sanitize::{check, normalize_envelope, sanitize, Rewritten};
#[cfg(feature = "search")]
pub use search::{answer_tool_search, search_tools, ToolIndex};
pub use tools::dialects;

pub use arguments::validate_arguments;
pub use results::{fit_result, validate_result};
pub use tools::ToolSet;
pub use tools::{check_tools, deferral_for, dialect_for, sanitize_tools, SanitizedTools};

use crate::json::text_of;
