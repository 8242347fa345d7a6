//! The form that bindings call: a function by its name, inputs as trees or text, options as a tree.
//!
//! Everything a binding would otherwise have to know about a function is here, so that bindings translate and nothing
//! more.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use super::{
    call_restore::call_restore,
    describe,
    function::{missing, Answer, Function, TextAnswer},
    repair::{repair_node, repair_text},
    sanitize::{normalize_node, sanitize_node},
    text_of, tools,
    validate::validate_node,
    Restore,
};
#[cfg(feature = "search")]
use super::{search, ToolIndex};
use crate::{
    check, deferred,
    dialect::{lookup, DIALECTS},
    error::{Code, Error},
    json::{self, Node, Object},
    naming::Naming,
    options::{
        dialects_to_check, AdaptOptions, BetaOptions, DeferralQuery, DeferredOptions, DialectQuery, EnvelopeOptions,
        Native, RepairOptions, SanitizeOptions, ToolsOptions,
    },
    repair::{unreadable, Answered},
    sanitize::{self, decode::Plan},
    tools::{check as check_list, request, restore::RestoreMap},
};
#[cfg(feature = "search")]
use crate::{options::SearchOptions, search::Index};

/// Calls a function on trees.
///
/// # Errors
/// Those of the function.
pub fn call<'a>(
    function: Function,
    inputs: Vec<Node<'a>>,
    options: &Node<'_>,
    naming: Naming,
    with_report: bool,
) -> Result<Answer<'a>, Error> {
    let mut inputs = inputs.into_iter();
    let mut input = || inputs.next().ok_or_else(|| missing(function));
    let answer = |value, report, share| Answer { value, report, share };
    match function {
        Function::Sanitize => {
            let (options, mut node) = (SanitizeOptions::read(options, naming)?, input()?);
            if with_report {
                let (schema, report) = sanitize_node(node, &options)?;
                return Ok(answer(schema, Some(describe::rewrite(&report)), options.share));
            }
            sanitize::sanitize(&mut node, &options, false)?;
            Ok(answer(node, None, options.share))
        }
        Function::NormalizeEnvelope => {
            let options = EnvelopeOptions::read(options, naming)?;
            let (schema, report) = normalize_node(input()?, with_report);
            Ok(answer(schema, with_report.then(|| describe::rewrite(&report)), options.share))
        }
        Function::ApplyDeferredLoading => {
            let (options, mut node) = (DeferredOptions::read(options, naming)?, input()?);
            let done = deferred::apply(&mut node, &options, None, with_report)?;
            let report = with_report.then(|| {
                let restore = Restore(RestoreMap::of(done.client, &done.report));
                describe::deferred(&done.report, &restore)
            });
            Ok(answer(node, report, options.share))
        }
        Function::StripDeferralBetas => {
            let options = BetaOptions::read(options, naming)?;
            Ok(answer(strip_betas(&input()?, &options)?, None, false))
        }
        Function::Check => {
            let options = SanitizeOptions::read(options, naming)?;
            Ok(answer(describe::violations(&check::check(&input()?, &options)?), None, false))
        }
        Function::RestoreArguments if are_none(options) => {
            let mut arguments = input()?;
            Plan::from_kept(&input()?)?.restore(&mut arguments)?;
            Ok(answer(arguments, None, false))
        }
        Function::RestoreArguments => {
            let (options, mut arguments) = (SanitizeOptions::read(options, naming)?, input()?);
            sanitize::restore_arguments(&mut arguments, &input()?, &options)?;
            Ok(answer(arguments, None, options.share))
        }
        Function::RepairArguments => {
            let options = RepairOptions::read(options, naming)?;
            let (answered, schema) = (Answered::value(input()?).map_err(unreadable)?, input()?);
            let repaired = repair_node(answered, &schema, &options)?;
            let report = with_report.then(|| describe::repaired(&repaired));
            Ok(answer(repaired.arguments, report, false))
        }
        Function::ValidateArguments => {
            let (arguments, schema) = (input()?, input()?);
            Ok(answer(describe::validation(&validate_node(&arguments, &schema)?), None, false))
        }
        Function::Dialects => Ok(answer(describe::dialects(DIALECTS), None, false)),
        Function::SanitizeTools => {
            let options = ToolsOptions::read(options, naming)?;
            let (tools, list) = tools::sanitize_tools_node(input()?, &options, with_report)?;
            Ok(answer(tools, Some(describe::tools(&list, with_report)), options.sanitize.share))
        }
        Function::CheckTools => {
            let dialects = tools::named(&dialects_to_check(options, naming)?)?;
            Ok(answer(describe::tool_violations(&check_list::list(input()?, &dialects)?), None, false))
        }
        Function::DialectFor => {
            let choice = lookup::dialect_for(&DialectQuery::read(options, naming)?)?;
            let report = with_report.then(|| describe::choice(&choice));
            Ok(answer(Node::literal(choice.dialect), report, false))
        }
        Function::DeferralFor => {
            let choice = lookup::deferral::deferral_for(&DeferralQuery::read(options, naming)?)?;
            Ok(answer(describe::deferral(&choice), None, false))
        }
        Function::RestoreCall | Function::RestoreClientCall => {
            let restore = Restore::from_node(&input()?)?;
            call_restore(&restore, function, inputs.collect(), with_report)
        }
        Function::AdaptRequest => {
            let (options, mut node) = (AdaptOptions::read(options, naming)?, input()?);
            let (report, restore_map) = request::adapt(&mut node, &options)?;
            let report = with_report.then(|| describe::adapted(&report, &Restore(restore_map)));
            Ok(answer(node, report, options.tools.sanitize.share))
        }
        Function::RestoreReply => {
            let (reply, restore) = (input()?, Restore::from_node(&input()?)?);
            call_restore(&restore, function, Vec::from([reply]), with_report)
        }
        #[cfg(feature = "search")]
        Function::SearchTools => {
            let (options, tools, query) = (SearchOptions::read(options, naming)?, input()?, input()?);
            let Some(query) = query.as_text() else {
                let found = format!("expected a query as a string, found {}", query.kind());
                return Err(Error::new(Code::InvalidValue, "/query", found));
            };
            Ok(answer(ToolIndex::for_searches(&tools)?.search_node(&query.display(), &options)?, None, false))
        }
        #[cfg(feature = "search")]
        Function::AnswerToolSearch => {
            let (options, call, tools) = (SearchOptions::read(options, naming)?, input()?, input()?);
            let found = search::answer_node(&call, |kept| Index::new(&tools, kept), &options)?;
            Ok(answer(found.unwrap_or_default(), None, false))
        }
    }
}

/// Calls a function on JSON text. (The query of a search is itself, not JSON text.)
///
/// # Errors
/// Those of the function, and `invalid-json`.
pub fn call_text<'a>(
    function: Function,
    inputs: &[&'a str],
    options: &Node<'_>,
    naming: Naming,
    with_report: bool,
) -> Result<TextAnswer<'a>, Error> {
    if let (Function::RepairArguments, [arguments, schema]) = (function, inputs) {
        let repaired = repair_text(arguments, schema, &RepairOptions::read(options, naming)?)?;
        let report = with_report.then(|| describe::repaired(&repaired));
        return Ok(TextAnswer { text: repaired.arguments, report });
    }
    let mut nodes = Vec::with_capacity(inputs.len());
    for text in inputs {
        nodes.push(match function {
            Function::ApplyDeferredLoading | Function::AdaptRequest => deferred::read(text)?,
            #[cfg(feature = "search")]
            Function::SearchTools if nodes.len() == 1 => Node::string(*text),
            _ => json::read(text)?,
        });
    }
    let Answer { value, report, .. } = call(function, nodes, options, naming, with_report)?;
    let text = match inputs.first() {
        Some(source) if function.rewrites() => text_of(source, &value),
        _ => Cow::Owned(json::write(&value)),
    };
    Ok(TextAnswer { text, report })
}

/// Are there no options? Python has keyword arguments, which are always there.
fn are_none(options: &Node<'_>) -> bool {
    options.is_null() || options.as_object().is_some_and(Object::is_empty)
}

/// A header that is not there is null, before and after.
fn strip_betas<'a>(value: &Node<'_>, options: &BetaOptions) -> Result<Node<'a>, Error> {
    let settled = |value: Option<&str>| {
        let needed: Vec<&str> = options.betas.iter().map(String::as_str).collect();
        let left = deferred::settle_betas(value, options.native.unwrap_or(Native::None), &needed);
        left.map(|left| Node::string(left.into_owned())).unwrap_or_default()
    };
    if value.is_null() {
        return Ok(settled(None));
    }
    let Some(text) = value.as_text() else {
        let found = format!("expected the value of an `anthropic-beta` header as a string, found {}", value.kind());
        return Err(Error::new(Code::InvalidValue, "", found));
    };
    // Half a surrogate pair stands in no header; its escape passes for itself.
    Ok(settled(Some(&text.display())))
}
