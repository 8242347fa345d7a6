//! The entry point for bindings: a function by its name, inputs as trees or text, options as a tree.
//!
//! This module contains everything that depends on the function, so that bindings only convert values.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use super::{
    call_restore::call_restore,
    describe,
    function::{missing, Function, TextOutput, ValueOutput},
    repair::{repair_node, repair_text},
    sanitize::{normalize_node, sanitize_node},
    text_of, tools,
    validate::{validate_node, validate_result_node},
    Restore,
};
#[cfg(feature = "search")]
use super::{search, ToolIndex};
use crate::{
    check, deferred,
    dialect::{lookup, DIALECTS},
    error::{Code, Error},
    json::{self, Node},
    naming::Naming,
    options::{
        dialects_to_check, AdaptOptions, BetaOptions, CheckRequestOptions, DeferralQuery, DeferredOptions,
        DialectQuery, EnvelopeOptions, RepairOptions, SanitizeOptions, ToolsOptions,
    },
    repair::{unreadable, RawArguments},
    sanitize::{self, decode::Plan},
    tools::{check as check_list, check_request, request, restore::RestoreMap},
};
#[cfg(feature = "search")]
use crate::{options::SearchOptions, tools::server_index::ServerIndex};

/// Calls a function on trees. If a function has two inputs, a string in place of either is JSON text, and then the
/// result is text, too.
///
/// # Errors
/// The errors of the function.
pub fn call<'a>(
    function: Function,
    inputs: Vec<Node<'a>>,
    options: &Node<'_>,
    naming: Naming,
    with_report: bool,
) -> Result<ValueOutput<'a>, Error> {
    if inputs.iter().enumerate().any(|(at, input)| function.reads_text(at) && input.as_text().is_some()) {
        return call_mixed(function, inputs, options, naming);
    }
    call_on_trees(function, inputs, options, naming, with_report)
}

/// Calls a function some of whose inputs are JSON text in a string.
///
/// # Errors
/// The errors of the function, and `invalid-json`.
fn call_mixed<'a>(
    function: Function,
    inputs: Vec<Node<'a>>,
    options: &Node<'_>,
    naming: Naming,
) -> Result<ValueOutput<'a>, Error> {
    let texts: Vec<Option<String>> = inputs
        .iter()
        .enumerate()
        .map(|(at, input)| match input.as_text().filter(|_| function.reads_text(at)) {
            Some(text) => text.value().map(|text| Some(text.into_owned())).ok_or_else(|| json::half_a_pair("")),
            None => Ok(None),
        })
        .collect::<Result<_, _>>()?;
    let first = inputs.first().filter(|_| texts.first().is_some_and(Option::is_some)).cloned();
    let mut nodes = Vec::with_capacity(inputs.len());
    for (at, (input, text)) in inputs.into_iter().zip(&texts).enumerate() {
        nodes.push(match text {
            // The arguments from a model may be invalid JSON.
            Some(_) if (function, at) == (Function::RepairArguments, 0) => Node::default(),
            Some(text) => json::read(text)?,
            None => input,
        });
    }
    let source = texts.first().and_then(Option::as_deref);
    if let (Function::RepairArguments, Some(source), [_, schema]) = (function, source, nodes.as_slice()) {
        let repaired = repair_node(RawArguments::text(source)?, schema, &RepairOptions::read(options, naming)?)?;
        let report = Some(describe::repaired(&repaired));
        let value = match (repaired.changed, first) {
            (false, Some(first)) => first,
            _ => Node::string(json::write(&repaired.arguments)),
        };
        return Ok(ValueOutput { value, report, share: false });
    }
    let ValueOutput { value, report, share } = call_on_trees(function, nodes, options, naming, false)?;
    let value = match (source, first) {
        (Some(source), Some(first)) if function.rewrites() => match text_of(source, &value) {
            Cow::Borrowed(_) => first,
            Cow::Owned(text) => Node::string(text),
        },
        (Some(_), _) if function.answers_in_text() && !value.is_null() => Node::string(json::write(&value)),
        _ => value.detached(),
    };
    Ok(ValueOutput { value, report, share })
}

/// Calls a function on trees.
///
/// # Errors
/// The errors of the function.
fn call_on_trees<'a>(
    function: Function,
    inputs: Vec<Node<'a>>,
    options: &Node<'_>,
    naming: Naming,
    with_report: bool,
) -> Result<ValueOutput<'a>, Error> {
    let mut inputs = inputs.into_iter();
    let mut input = || inputs.next().ok_or_else(|| missing(function));
    let output = |value, report, share| ValueOutput { value, report, share };
    match function {
        Function::Sanitize => {
            let (options, mut node) = (SanitizeOptions::read(options, naming)?, input()?);
            if with_report {
                let (schema, report) = sanitize_node(node, &options)?;
                return Ok(output(schema, Some(describe::rewrite(&report)), options.share));
            }
            sanitize::sanitize(&mut node, &options, false)?;
            Ok(output(node, None, options.share))
        }
        Function::NormalizeEnvelope => {
            let options = EnvelopeOptions::read(options, naming)?;
            let (schema, report) = normalize_node(input()?, with_report);
            Ok(output(schema, with_report.then(|| describe::rewrite(&report)), options.share))
        }
        Function::ApplyDeferredLoading => {
            let (options, mut node) = (DeferredOptions::read(options, naming)?, input()?);
            let done = deferred::apply(&mut node, &options, None, with_report)?;
            let report = with_report.then(|| {
                let restore = Restore(RestoreMap::of(done.client, &done.report));
                describe::deferred(&done.report, &restore)
            });
            Ok(output(node, report, options.share))
        }
        Function::StripDeferralBetas => {
            let options = BetaOptions::read(options, naming)?;
            Ok(output(strip_betas(&input()?, &options)?, None, false))
        }
        Function::Check => {
            let options = SanitizeOptions::read(options, naming)?;
            Ok(output(describe::violations(&check::check(&input()?, &options)?), None, false))
        }
        Function::RestoreArguments => {
            let mut arguments = input()?;
            Plan::from_versioned_node(&input()?)?.restore(&mut arguments)?;
            Ok(output(arguments, None, false))
        }
        Function::RepairArguments => {
            let options = RepairOptions::read(options, naming)?;
            let (raw, schema) = (RawArguments::value(input()?).map_err(unreadable)?, input()?);
            let repaired = repair_node(raw, &schema, &options)?;
            let report = describe::repaired(&repaired);
            Ok(output(repaired.arguments, Some(report), false))
        }
        Function::ValidateArguments => {
            let (arguments, schema) = (input()?, input()?);
            Ok(output(describe::validation(&validate_node(&arguments, &schema)?), None, false))
        }
        Function::ValidateResult => {
            let (result, tool) = (input()?, input()?);
            Ok(output(describe::validation(&validate_result_node(&result, &tool)?), None, false))
        }
        Function::Dialects => Ok(output(describe::dialects(DIALECTS), None, false)),
        Function::SanitizeTools => {
            let options = ToolsOptions::read(options, naming)?;
            let (tools, list) = tools::sanitize_tools_node(input()?, &options, with_report)?;
            Ok(output(tools, Some(describe::tools(&list, with_report)), options.sanitize.share))
        }
        Function::CheckTools => {
            let dialects = tools::named(&dialects_to_check(options, naming)?)?;
            Ok(output(describe::tool_violations(&check_list::list(input()?, &dialects)?), None, false))
        }
        Function::CheckRequest => {
            let options = CheckRequestOptions::read(options, naming)?;
            Ok(output(describe::request_violations(&check_request::check(input()?, &options)?), None, false))
        }
        Function::DialectFor => {
            let choice = lookup::dialect_for(&DialectQuery::read(options, naming)?)?;
            Ok(output(describe::choice(&choice), None, false))
        }
        Function::DeferralFor => {
            let choice = lookup::deferral::deferral_for(&DeferralQuery::read(options, naming)?)?;
            Ok(output(describe::deferral(&choice), None, false))
        }
        Function::RestoreCall | Function::RestoreClientCall | Function::RestoreContent => {
            let restore = Restore::from_node(&input()?)?;
            call_restore(&restore, function, inputs.collect())
        }
        Function::AdaptRequest => {
            let (options, mut node) = (AdaptOptions::read(options, naming)?, input()?);
            let (report, restore_map) = request::adapt(&mut node, &options)?;
            let report = describe::adapted(&report, &Restore(restore_map));
            Ok(output(node, Some(report), options.tools.sanitize.share))
        }
        Function::RestoreReply => {
            let (reply, restore) = (input()?, Restore::from_node(&input()?)?);
            call_restore(&restore, function, Vec::from([reply]))
        }
        #[cfg(feature = "search")]
        Function::SearchTools => {
            let (options, tools, query) = (SearchOptions::read(options, naming)?, input()?, input()?);
            let Some(query) = query.as_text() else {
                let found = format!("expected the query to be a string, found {}", query.kind());
                return Err(Error::new(Code::InvalidValue, "/query", found));
            };
            Ok(output(ToolIndex::for_searches(&tools)?.search_node(&query.display(), &options)?, None, false))
        }
        #[cfg(feature = "search")]
        Function::AnswerToolSearch => {
            let (options, call, tools) = (SearchOptions::read(options, naming)?, input()?, input()?);
            let found = search::answer_node(&call, |kept| ServerIndex::new(&tools, kept), &options)?;
            Ok(output(found.unwrap_or_default(), None, false))
        }
    }
}

/// Calls a function on JSON text, except that the query of a search is the text itself.
///
/// # Errors
/// The errors of the function, and `invalid-json`.
pub fn call_text<'a>(
    function: Function,
    inputs: &[&'a str],
    options: &Node<'_>,
    naming: Naming,
    with_report: bool,
) -> Result<TextOutput<'a>, Error> {
    if let (Function::RepairArguments, [arguments, schema]) = (function, inputs) {
        let repaired = repair_text(arguments, schema, &RepairOptions::read(options, naming)?)?;
        let report = describe::repaired(&repaired);
        return Ok(TextOutput { text: repaired.arguments, report: Some(report) });
    }
    let mut nodes = Vec::with_capacity(inputs.len());
    for text in inputs {
        nodes.push(match function {
            Function::ApplyDeferredLoading | Function::AdaptRequest | Function::CheckRequest => {
                crate::request::read(text)?
            }
            #[cfg(feature = "search")]
            Function::SearchTools if nodes.len() == 1 => Node::string(*text),
            _ => json::read(text)?,
        });
    }
    let ValueOutput { value, report, .. } = call_on_trees(function, nodes, options, naming, with_report)?;
    let text = match inputs.first() {
        Some(source) if function.rewrites() => text_of(source, &value),
        _ => Cow::Owned(json::write(&value)),
    };
    Ok(TextOutput { text, report })
}

/// Settles the betas of a header. Null represents an absent header, in the input and in the result.
fn strip_betas<'a>(value: &Node<'_>, options: &BetaOptions) -> Result<Node<'a>, Error> {
    let settled = |value: Option<&str>| {
        let needed: Vec<&str> = options.betas.iter().map(String::as_str).collect();
        let left = deferred::settle_betas(value, options.native, &needed);
        left.map(|left| Node::string(left.into_owned())).unwrap_or_default()
    };
    if value.is_null() {
        return Ok(settled(None));
    }
    let Some(text) = value.as_text() else {
        let found = format!("expected the value of an `anthropic-beta` header to be a string, found {}", value.kind());
        return Err(Error::new(Code::InvalidValue, "", found));
    };
    // A header cannot contain an unpaired surrogate; its escape is passed instead.
    Ok(settled(Some(&text.display())))
}
