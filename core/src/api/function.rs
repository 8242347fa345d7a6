//! Functions for bindings, by their names, and their results.

use alloc::{borrow::Cow, format};

use crate::{
    error::{Code, Error},
    json::Node,
};

/// A public function that bindings can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Function {
    /// `sanitize(schema, options)`
    Sanitize,
    /// `normalizeEnvelope(schema, options)`
    NormalizeEnvelope,
    /// `applyDeferredLoading(request, options)`
    ApplyDeferredLoading,
    /// `stripDeferralBetas(value, options)`: null if the result is empty or the header is absent
    StripDeferralBetas,
    /// `check(schema, options)`
    Check,
    /// `restoreArguments(arguments, plan)`
    RestoreArguments,
    /// `repairArguments(arguments, schema, options)`
    RepairArguments,
    /// `validateArguments(arguments, schema)`
    ValidateArguments,
    /// `validateResult(result, tool)`
    ValidateResult,
    /// `dialects()`
    Dialects,
    /// `sanitizeTools(tools, options)`
    SanitizeTools,
    /// `checkTools(tools, options)`
    CheckTools,
    /// `checkRequest(request, options)`
    CheckRequest,
    /// `dialectFor(options)`
    DialectFor,
    /// `deferralFor(options)`
    DeferralFor,
    /// `restoreCall(restore, name, arguments)`: the arguments are a value, or JSON text in a string
    RestoreCall,
    /// `restoreClientCall(restore, call)`
    RestoreClientCall,
    /// `restoreContent(restore, text)`
    RestoreContent,
    /// `adaptRequest(request, options)`
    AdaptRequest,
    /// `restoreReply(reply, restore)`
    RestoreReply,
    /// `searchTools(tools, query, options)`
    #[cfg(feature = "search")]
    SearchTools,
    /// `answerToolSearch(call, tools, options)`: null if the call is not a search
    #[cfg(feature = "search")]
    AnswerToolSearch,
}

impl Function {
    /// All functions.
    pub const ALL: &'static [Function] = &[
        Function::Sanitize,
        Function::NormalizeEnvelope,
        Function::ApplyDeferredLoading,
        Function::StripDeferralBetas,
        Function::Check,
        Function::RestoreArguments,
        Function::RepairArguments,
        Function::ValidateArguments,
        Function::ValidateResult,
        Function::Dialects,
        Function::SanitizeTools,
        Function::CheckTools,
        Function::CheckRequest,
        Function::DialectFor,
        Function::DeferralFor,
        Function::RestoreCall,
        Function::RestoreClientCall,
        Function::RestoreContent,
        Function::AdaptRequest,
        Function::RestoreReply,
        #[cfg(feature = "search")]
        Function::SearchTools,
        #[cfg(feature = "search")]
        Function::AnswerToolSearch,
    ];

    /// Returns the function's name in JavaScript.
    pub const fn name(self) -> &'static str {
        match self {
            Function::Sanitize => "sanitize",
            Function::NormalizeEnvelope => "normalizeEnvelope",
            Function::ApplyDeferredLoading => "applyDeferredLoading",
            Function::StripDeferralBetas => "stripDeferralBetas",
            Function::Check => "check",
            Function::RestoreArguments => "restoreArguments",
            Function::RepairArguments => "repairArguments",
            Function::ValidateArguments => "validateArguments",
            Function::ValidateResult => "validateResult",
            Function::Dialects => "dialects",
            Function::SanitizeTools => "sanitizeTools",
            Function::CheckTools => "checkTools",
            Function::CheckRequest => "checkRequest",
            Function::DialectFor => "dialectFor",
            Function::DeferralFor => "deferralFor",
            Function::RestoreCall => "restoreCall",
            Function::RestoreClientCall => "restoreClientCall",
            Function::RestoreContent => "restoreContent",
            Function::AdaptRequest => "adaptRequest",
            Function::RestoreReply => "restoreReply",
            #[cfg(feature = "search")]
            Function::SearchTools => "searchTools",
            #[cfg(feature = "search")]
            Function::AnswerToolSearch => "answerToolSearch",
        }
    }

    /// Returns the function with this name.
    pub fn named(name: &str) -> Option<Function> {
        Function::ALL.iter().copied().find(|function| function.name() == name)
    }

    /// Returns true if the result is the rewritten first input.
    pub(super) const fn rewrites(self) -> bool {
        match self {
            Function::RestoreArguments | Function::RestoreReply => true,
            // Their first input is the `restore`, not the value that they rewrite.
            Function::RestoreClientCall | Function::RestoreContent => false,
            _ => self.result_name().is_some(),
        }
    }

    /// Returns true if a string in place of input `at` is JSON text, for functions with two inputs. For other
    /// functions, the binding decides whether the input is text.
    #[cfg_attr(not(feature = "search"), allow(unused_variables, reason = "only searches read one of the inputs"))]
    pub(super) const fn reads_text(self, at: usize) -> bool {
        match self {
            Function::RestoreArguments | Function::RepairArguments => true,
            Function::ValidateArguments | Function::ValidateResult => true,
            #[cfg(feature = "search")]
            Function::SearchTools => at == 0,
            #[cfg(feature = "search")]
            Function::AnswerToolSearch => true,
            _ => false,
        }
    }

    /// Returns true if the result is a new value, and is JSON text if the first input is.
    pub(super) const fn answers_in_text(self) -> bool {
        #[cfg(feature = "search")]
        let answers = matches!(self, Function::AnswerToolSearch);
        #[cfg(not(feature = "search"))]
        let answers = false;
        answers
    }

    /// Returns the name of the member that contains the value, if the result is a record.
    pub const fn result_name(self) -> Option<&'static str> {
        match self {
            Function::Sanitize | Function::NormalizeEnvelope => Some("schema"),
            Function::ApplyDeferredLoading | Function::AdaptRequest => Some("request"),
            Function::SanitizeTools => Some("tools"),
            Function::RepairArguments => Some("arguments"),
            Function::StripDeferralBetas | Function::Check | Function::RestoreArguments | Function::Dialects => None,
            Function::DialectFor | Function::DeferralFor | Function::CheckTools | Function::RestoreCall => None,
            Function::CheckRequest | Function::ValidateArguments | Function::ValidateResult => None,
            Function::RestoreClientCall => Some("call"),
            Function::RestoreContent => Some("content"),
            Function::RestoreReply => Some("reply"),
            #[cfg(feature = "search")]
            Function::SearchTools | Function::AnswerToolSearch => None,
        }
    }
}

/// Result of a function.
#[derive(Debug)]
pub struct ValueOutput<'a> {
    /// The value. Nodes that are still intact are the caller's own values.
    pub value: Node<'a>,
    /// Object with the other members of the result, except those that are computed when they are read.
    pub report: Option<Node<'static>>,
    /// True if intact nodes must be returned as the caller's own objects, false if they must be copied.
    pub share: bool,
}

/// Result of a function as text.
#[derive(Debug)]
pub struct TextOutput<'a> {
    /// JSON text: the input itself if nothing changed.
    pub text: Cow<'a, str>,
    /// Other members of the result, as in [`ValueOutput`].
    pub report: Option<Node<'static>>,
}

pub(super) fn missing(function: Function) -> Error {
    Error::new(Code::InvalidValue, "", format!("expected an input for `{}`, found none", function.name()))
}
