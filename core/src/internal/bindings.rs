//! The interface for the bindings: functions by their names, on trees and with options as JSON.
//!
//! A binding converts its language's values into [`Node`]s and back. Everything that depends on the function is here.

use alloc::{borrow::Cow, string::String, vec::Vec};

#[cfg(feature = "search")]
use crate::api::ToolIndex;
#[cfg(feature = "exchange")]
use crate::{api::Exchange, options::ExchangeOptions};
use crate::{
    api::{describe, CallStream, ReplyRestorer, Restore, ToolSet},
    error::{Code, Error},
    json::Node,
    options::{
        AdaptOptions, BetaOptions, CheckRequestOptions, DeferralQuery, DeferredOptions, DialectQuery, EnvelopeOptions,
        RepairOptions, ResultOptions, SanitizeOptions, SearchOptions, ToolsOptions,
    },
    report::{AnswerChange, RepairedCall},
};

pub use crate::{
    api::{
        call::{call, call_restore, call_restore_text, call_text, Function, TextOutput, ValueOutput},
        describe::describe_error,
    },
    naming::Naming,
    options::table::Row,
};

/// Options that are read from a JSON object.
pub trait ReadOptions: Sized {
    /// Reads the options, whose names have the spelling of the caller's language.
    ///
    /// # Errors
    /// `unknown-option`, `invalid-option`, and `unknown-dialect` if a dialect is looked up.
    fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error>;
}

macro_rules! read {
    ($($options:ident),* $(,)?) => {
        $(impl ReadOptions for $options {
            fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
                $options::read(node, naming)
            }
        })*
    };
}

read!(
    AdaptOptions,
    CheckRequestOptions,
    DeferralQuery,
    DeferredOptions,
    DialectQuery,
    EnvelopeOptions,
    RepairOptions,
    ResultOptions,
    SanitizeOptions,
    SearchOptions,
    ToolsOptions,
);
#[cfg(feature = "exchange")]
read!(ExchangeOptions);

/// Returns the error that reports a defect in this library, for a panic or a trap. `found` describes the defect.
pub fn defect(found: &str) -> Error {
    Error::internal(found)
}

/// Reads the options of a function.
///
/// # Errors
/// The errors of [`ReadOptions::read`].
pub fn options<T: ReadOptions>(node: &Node<'_>, naming: Naming) -> Result<T, Error> {
    T::read(node, naming)
}

/// Returns the declared options of a type, by the type's name in TypeScript and Python, for the test that compares
/// them.
pub fn option_rows(type_name: &str) -> Vec<Row> {
    match type_name {
        "AdaptOptions" => AdaptOptions::rows(),
        "BetaOptions" => BetaOptions::rows(),
        "CheckRequestOptions" => CheckRequestOptions::rows(),
        "DeferralQuery" => DeferralQuery::rows(),
        "DeferredOptions" => DeferredOptions::all_rows(),
        "DialectQuery" => DialectQuery::rows(),
        "EnvelopeOptions" => EnvelopeOptions::rows(),
        #[cfg(feature = "exchange")]
        "ExchangeOptions" => ExchangeOptions::rows(),
        "RepairOptions" => RepairOptions::rows(),
        "SanitizeOptions" => SanitizeOptions::rows(),
        "ResultOptions" => ResultOptions::rows(),
        "SearchOptions" => SearchOptions::rows(),
        "ToolsOptions" => ToolsOptions::rows(),
        _ => Vec::new(),
    }
}

/// Returns the result of a [`ToolSet`] for some options: the list as JSON text, and the other members except the
/// changes. A binding calls `sanitizeTools` when the changes are first read.
///
/// # Errors
/// Same as [`ToolSet::sanitize`] and [`ReadOptions::read`].
pub fn ready_tools(
    set: &mut ToolSet<String>,
    options: &Node<'_>,
    naming: Naming,
) -> Result<TextOutput<'static>, Error> {
    let ready = set.sanitize(&ToolsOptions::read(options, naming)?)?;
    Ok(TextOutput { text: Cow::Owned(ready.tools.clone()), report: Some(describe::ready_tools(&ready)) })
}

/// [`ToolSet::new`] of a tree.
///
/// # Errors
/// Same as [`ToolSet::new`].
pub fn tool_set(tools: Node<'_>) -> Result<ToolSet<String>, Error> {
    ToolSet::from_node(tools)
}

/// [`ToolSet::update`] with a tree.
///
/// # Errors
/// Same as [`ToolSet::update`].
pub fn update_tools(set: &mut ToolSet<String>, tools: Node<'_>) -> Result<bool, Error> {
    set.update_node(tools)
}

/// Returns the list of a [`ToolSet`] as compact JSON text.
pub fn list_of(set: &ToolSet<String>) -> &str {
    set.list()
}

/// Creates a [`Restore`] from its serialized form.
///
/// # Errors
/// Same as [`Restore::from_json`].
pub fn restore(stored: &Node<'_>) -> Result<Restore, Error> {
    Restore::from_node(stored)
}

/// Creates a [`CallStream`] from a list that contains a serialized [`Restore`] and a tool's name. Returns `None` if
/// `given` is not a list.
///
/// # Errors
/// Same as [`Restore::from_json`], and `invalid-value` if the name is not a string.
pub fn call_stream(given: &Node<'_>) -> Result<Option<CallStream>, Error> {
    let Some(list) = given.as_array() else { return Ok(None) };
    let (stored, name) = (list.first().cloned().unwrap_or_default(), list.get(1).cloned().unwrap_or_default());
    let Some(name) = name.as_text() else {
        let message = alloc::format!("expected the name of a tool to be a string, found {}", name.kind());
        return Err(Error::new(Code::InvalidValue, "/name", message));
    };
    Ok(Some(restore(&stored)?.call_stream(&name.display())))
}

/// Returns true if a call has nothing buffered. A binding may then replace it with a new one.
pub fn is_call_at_rest(call: &CallStream) -> bool {
    call.is_at_rest()
}

/// [`ReplyRestorer::feed`] on trees.
///
/// # Errors
/// `budget-exceeded`, `limit-exceeded`, `too-deep`.
pub fn feed<'a>(stream: &mut ReplyRestorer, event: Node<'a>) -> Result<Vec<Node<'a>>, Error> {
    stream.feed_node(event)
}

/// [`ReplyRestorer::finish`] on trees.
///
/// # Errors
/// `budget-exceeded`.
pub fn finish(stream: &mut ReplyRestorer) -> Result<Vec<Node<'static>>, Error> {
    stream.finish_node()
}

/// Returns a list of the repairs of calls.
pub fn repaired_calls(calls: &[RepairedCall]) -> Node<'static> {
    describe::repaired_calls(calls)
}

/// Returns a list of the changes to an answer.
pub fn answer_changes(changes: &[AnswerChange]) -> Node<'static> {
    describe::answer_changes(changes)
}

/// Returns true if a stream has nothing buffered. A binding may then replace it with a new one.
pub fn is_stream_at_rest(stream: &ReplyRestorer) -> bool {
    stream.is_at_rest()
}

/// [`Exchange::report`] as a tree.
#[cfg(feature = "exchange")]
pub fn report(exchange: &Exchange) -> Node<'static> {
    exchange.report_node()
}

/// [`Exchange::warning`] as a tree.
#[cfg(feature = "exchange")]
pub fn warning(exchange: &Exchange) -> Node<'static> {
    exchange.warning_node()
}

/// Returns true if opening the exchange again would restore its whole state. A binding may then drop it.
#[cfg(feature = "exchange")]
pub fn is_exchange_at_rest(exchange: &Exchange) -> bool {
    exchange.is_at_rest()
}

/// Creates a [`ToolIndex`] from a tool list in a tree.
///
/// # Errors
/// `invalid-request` if `tools` is not a tool list.
#[cfg(feature = "search")]
pub fn index(tools: &Node<'_>) -> Result<ToolIndex, Error> {
    ToolIndex::from_node(tools)
}

/// Like [`ToolIndex::search`], but returns the names as a tree, because a name may contain an unpaired surrogate.
///
/// # Errors
/// Same as [`ToolIndex::search`].
#[cfg(feature = "search")]
pub fn search(index: &ToolIndex, query: &str, options: &SearchOptions) -> Result<Node<'static>, Error> {
    index.search_node(query, options)
}

/// Like [`ToolIndex::answer`], but accepts and returns trees.
///
/// # Errors
/// Same as [`ToolIndex::answer`].
#[cfg(feature = "search")]
pub fn answer(index: &ToolIndex, call: &Node<'_>, options: &SearchOptions) -> Result<Option<Node<'static>>, Error> {
    index.answer_node(call, options)
}
