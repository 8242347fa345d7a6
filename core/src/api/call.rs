//! The form that bindings call: a function by its name, inputs as trees or text, options as a tree.
//!
//! Everything a binding would otherwise have to know about a function is here, so that bindings translate and nothing
//! more.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use super::{
    describe,
    repair::{repair_node, repair_text},
    sanitize::sanitize_node,
    text_of, tools,
    validate::validate_node,
    Restore, Rewritten,
};
#[cfg(feature = "search")]
use super::{search, ToolIndex};
use crate::{
    check, deferred,
    dialect::{lookup, DIALECTS},
    envelope,
    error::{Code, Error},
    json::{self, Node, Object},
    naming::Naming,
    options::{
        dialects_to_check, AdaptOptions, BetaOptions, DeferralQuery, DeferredOptions, DialectQuery, EnvelopeOptions,
        Native, RepairOptions, SanitizeOptions, ToolsOptions,
    },
    repair::{unreadable, Answered},
    report::Recorder,
    sanitize::{self, decode::Plan},
    tools::{call_repair::Told, check as check_list, client_call, request, restore::RestoreMap},
};
#[cfg(feature = "search")]
use crate::{options::SearchOptions, search::Index};

/// A public function, as bindings know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Function {
    /// `sanitize(schema, options)`
    Sanitize,
    /// `normalizeEnvelope(schema, options)`
    NormalizeEnvelope,
    /// `applyDeferredLoading(request, options)`
    ApplyDeferredLoading,
    /// `stripDeferralBetas(value, options)`: null if nothing is left of it, or was there
    StripDeferralBetas,
    /// `check(schema, options)`
    Check,
    /// `restoreArguments(arguments, schema, options)`, or without options `restoreArguments(arguments, plan)`
    RestoreArguments,
    /// `repairArguments(arguments, schema, options)`
    RepairArguments,
    /// `validateArguments(arguments, schema)`
    ValidateArguments,
    /// `dialects()`
    Dialects,
    /// `sanitizeTools(tools, options)`
    SanitizeTools,
    /// `checkTools(tools, options)`
    CheckTools,
    /// `dialectFor(options)`
    DialectFor,
    /// `deferralFor(options)`
    DeferralFor,
    /// `restoreCall(restore, name, arguments)`: the arguments are a value, or JSON text in a string
    RestoreCall,
    /// `restoreClientCall(restore, call)`
    RestoreClientCall,
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
    /// Every function there is.
    pub const ALL: &'static [Function] = &[
        Function::Sanitize,
        Function::NormalizeEnvelope,
        Function::ApplyDeferredLoading,
        Function::StripDeferralBetas,
        Function::Check,
        Function::RestoreArguments,
        Function::RepairArguments,
        Function::ValidateArguments,
        Function::Dialects,
        Function::SanitizeTools,
        Function::CheckTools,
        Function::DialectFor,
        Function::DeferralFor,
        Function::RestoreCall,
        Function::RestoreClientCall,
        Function::AdaptRequest,
        Function::RestoreReply,
        #[cfg(feature = "search")]
        Function::SearchTools,
        #[cfg(feature = "search")]
        Function::AnswerToolSearch,
    ];

    /// The function's name in JavaScript.
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
            Function::Dialects => "dialects",
            Function::SanitizeTools => "sanitizeTools",
            Function::CheckTools => "checkTools",
            Function::DialectFor => "dialectFor",
            Function::DeferralFor => "deferralFor",
            Function::RestoreCall => "restoreCall",
            Function::RestoreClientCall => "restoreClientCall",
            Function::AdaptRequest => "adaptRequest",
            Function::RestoreReply => "restoreReply",
            #[cfg(feature = "search")]
            Function::SearchTools => "searchTools",
            #[cfg(feature = "search")]
            Function::AnswerToolSearch => "answerToolSearch",
        }
    }

    /// The function of that name.
    pub fn named(name: &str) -> Option<Function> {
        Function::ALL.iter().copied().find(|function| function.name() == name)
    }

    /// Whether the answer is the first input, rewritten.
    const fn rewrites(self) -> bool {
        match self {
            Function::RestoreArguments | Function::RestoreReply => true,
            // They have no input, or a first one that is no call.
            Function::DialectFor | Function::RestoreClientCall => false,
            _ => self.result_name().is_some(),
        }
    }

    /// The name of the value in the result of the `WithReport` forms, for functions that have them.
    pub const fn result_name(self) -> Option<&'static str> {
        match self {
            Function::Sanitize | Function::NormalizeEnvelope => Some("schema"),
            Function::ApplyDeferredLoading | Function::AdaptRequest => Some("request"),
            Function::SanitizeTools => Some("tools"),
            Function::RepairArguments => Some("arguments"),
            Function::StripDeferralBetas | Function::Check | Function::RestoreArguments | Function::Dialects => None,
            Function::DialectFor => Some("dialect"),
            Function::DeferralFor | Function::CheckTools | Function::RestoreCall => None,
            Function::ValidateArguments => None,
            Function::RestoreClientCall => Some("call"),
            Function::RestoreReply => Some("reply"),
            #[cfg(feature = "search")]
            Function::SearchTools | Function::AnswerToolSearch => None,
        }
    }
}

/// What a function gave.
#[derive(Debug)]
pub struct Answer<'a> {
    /// The rewritten value. Nodes that are still intact are the caller's own values.
    pub value: Node<'a>,
    /// What stands beside the value in the `WithReport` forms: an object.
    pub report: Option<Node<'static>>,
    /// Whether intact nodes are to be handed back as the caller's own objects, or copied.
    pub share: bool,
}

/// What a function gave, as text.
#[derive(Debug)]
pub struct TextAnswer<'a> {
    /// JSON text: the input itself if nothing changed.
    pub text: Cow<'a, str>,
    /// What stands beside it in the `WithReport` forms: an object.
    pub report: Option<Node<'static>>,
}

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
                let done = sanitize_node(node, &options)?;
                let report = describe::rewrite(&done);
                return Ok(answer(done.schema, Some(report), options.share));
            }
            sanitize::sanitize(&mut node, &options, false)?;
            Ok(answer(node, None, options.share))
        }
        Function::NormalizeEnvelope => {
            let (options, mut node) = (EnvelopeOptions::read(options, naming)?, input()?);
            let mut recorder = if with_report { Recorder::on() } else { Recorder::off() };
            envelope::normalize(&mut node, &mut recorder);
            let done = Rewritten::new(node, recorder.finish(), Plan::default());
            let report = with_report.then(|| describe::rewrite(&done));
            Ok(answer(done.schema, report, options.share))
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
            let sanitized = tools::sanitize_tools_node(input()?, &options)?;
            let report = with_report.then(|| describe::tools(&sanitized));
            Ok(answer(sanitized.tools, report, options.sanitize.share))
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
        Function::RestoreCall => {
            let (restore_map, name, mut arguments) = (RestoreMap::from_node(&input()?)?, input()?, input()?);
            let Some(name) = name.as_text() else {
                let found = format!("expected the name of a tool as a string, found {}", name.kind());
                return Err(Error::new(Code::InvalidValue, "/name", found));
            };
            let mut told = Told::default();
            restore_map.arguments(name, &mut arguments, (None, true), &mut told)?;
            Ok(answer(describe::call(&restore_map, name, arguments, told.take().pop().as_ref()), None, false))
        }
        Function::RestoreClientCall => {
            let (restore_map, call, mut told) = (RestoreMap::from_node(&input()?)?, input()?, Told::default());
            let call = client_call::write(&restore_map, call, &mut told)?;
            let report = with_report.then(|| describe::repaired_client_call(told.take().pop().as_ref()));
            Ok(answer(call, report, false))
        }
        Function::AdaptRequest => {
            let (options, mut node) = (AdaptOptions::read(options, naming)?, input()?);
            let (report, restore_map) = request::adapt(&mut node, &options)?;
            let report = with_report.then(|| describe::adapted(&report, &Restore(restore_map)));
            Ok(answer(node, report, options.tools.sanitize.share))
        }
        Function::RestoreReply => {
            let (mut reply, restore_map) = (input()?, RestoreMap::from_node(&input()?)?);
            let mut told = Told::default();
            restore_map.reply(&mut reply, &mut told)?;
            let report = with_report.then(|| describe::repaired_reply(&told.take()));
            Ok(answer(reply, report, false))
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

fn missing(function: Function) -> Error {
    Error::new(Code::InvalidValue, "", format!("expected an input for `{}`, found none", function.name()))
}
