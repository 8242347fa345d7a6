//! The entry point for bindings: calls a function by its name, with inputs as trees or text and options as a tree. It
//! also calls the functions of a `Restore` that a binding keeps.
//!
//! This module contains everything that depends on the function, so that bindings only convert values.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use super::{
    arguments::{repair_node, repair_text, validate_node},
    describe,
    sanitize::{normalize_node, sanitize_node},
    text_of, tools, Restore,
};
#[cfg(feature = "search")]
use super::{search, ToolIndex};
use crate::{
    adapt,
    check::{self, findings::FindingLimit},
    deferred,
    dialect::{self, lookup, DIALECTS},
    error::{Code, Error},
    json::{self, Node},
    naming::Naming,
    options::{
        dialects_to_check, AdaptOptions, BetaOptions, CheckRequestOptions, DeferralQuery, DeferredOptions,
        DialectQuery, EnvelopeOptions, Example, RepairOptions, ResultOptions, SanitizeOptions, ToolsOptions,
    },
    repair::{results, unreadable, RawArguments},
    reply::{call_repair::CallReports, client_call, restore::RestoreMap},
    sanitize::{self, decode::Plan},
    tools::check as check_tools,
};
#[cfg(feature = "search")]
use crate::{options::SearchOptions, tools::servers::index::ServerIndex};

/// Calls a function on trees. If a function has two inputs, each may also be JSON text in a string. If the first one
/// is, the result is text, too.
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

/// The inputs may be JSON text in a string.
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

fn call_on_trees<'a>(
    function: Function,
    inputs: Vec<Node<'a>>,
    options: &Node<'_>,
    naming: Naming,
    with_report: bool,
) -> Result<ValueOutput<'a>, Error> {
    let result = run(function, inputs, options, naming, with_report);
    result.map_err(|error| match error.code() {
        Code::UnknownDialect => match dialect_example(function, options, naming) {
            Some(example) => error.append_message(&format!("; for example `{example}`")),
            None => error,
        },
        _ => error,
    })
}

/// Returns a call of the function with the known dialect whose name is nearest to the caller's name, if the function
/// has the option.
fn dialect_example(function: Function, options: &Node<'_>, naming: Naming) -> Option<String> {
    let (input, option) = match function {
        Function::Sanitize | Function::Check => ("schema", "dialect"),
        Function::SanitizeTools => ("tools", "dialect"),
        Function::CheckTools => ("tools", "dialects"),
        Function::AdaptRequest | Function::CheckRequest => ("request", "dialect"),
        _ => return None,
    };
    let names = || DIALECTS.iter().map(|dialect| dialect.name);
    let given_names = options.get(&naming.spell(option))?;
    let given_names =
        given_names.as_array().unwrap_or(core::slice::from_ref(given_names)).iter().filter_map(Node::as_text);
    let unknown = given_names.map(|text| text.display()).find(|name| !names().any(|known| known == &**name))?;
    let nearest = dialect::nearest_name(&unknown);
    let value = if option == "dialects" { format!("[\"{nearest}\"]") } else { format!("\"{nearest}\"") };
    Some(naming.example(&Example { function: function.name(), input, option, value: &value }))
}

fn run<'a>(
    function: Function,
    inputs: Vec<Node<'a>>,
    options: &Node<'_>,
    naming: Naming,
    with_report: bool,
) -> Result<ValueOutput<'a>, Error> {
    let mut inputs = inputs.into_iter();
    let mut input = || inputs.next().ok_or_else(|| missing_input(function));
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
            let options = SanitizeOptions::read_for("check", options, naming)?;
            Ok(output(describe::violations(&check::check(&input()?, &options, FindingLimit::LISTED)?), None, false))
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
            Ok(output(describe::validation(&results::validate(&result, &tool)?), None, false))
        }
        Function::FitResult => {
            let options = ResultOptions::read(options, naming)?;
            let (mut result, tool) = (input()?, input()?);
            let fitted = results::fit(&mut result, &tool, &options)?;
            Ok(output(result, Some(describe::fitted(&fitted)), false))
        }
        Function::Dialects => Ok(output(describe::dialects(DIALECTS), None, false)),
        Function::SanitizeTools => {
            let options = ToolsOptions::read(options, naming)?;
            let (tools, list) = tools::sanitize_tools_node(input()?, &options, with_report)?;
            Ok(output(tools, Some(describe::tools(&list, with_report)), options.sanitize.share))
        }
        Function::CheckTools => {
            let dialects = dialects_to_check(options, naming)?;
            Ok(output(
                describe::tool_violations(&check_tools::list(input()?, &dialects, FindingLimit::LISTED, naming)?),
                None,
                false,
            ))
        }
        Function::CheckRequest => {
            let options = CheckRequestOptions::read(options, naming)?;
            Ok(output(
                describe::request_violations(&check_tools::request(input()?, &options, FindingLimit::LISTED)?),
                None,
                false,
            ))
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
            let (report, restore_map) = adapt::adapt(&mut node, &options)?;
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
            let found =
                search::answer_node(&call, |with_definitions| ServerIndex::new(&tools, with_definitions), &options)?;
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

/// Null represents an absent header, in the input and in the result.
fn strip_betas<'a>(value: &Node<'_>, options: &BetaOptions) -> Result<Node<'a>, Error> {
    let adjust = |value: Option<&str>| {
        let needed: Vec<&str> = options.betas.iter().map(String::as_str).collect();
        let remaining = deferred::adjust_betas(value, options.native, &needed);
        remaining.map(|remaining| Node::string(remaining.into_owned())).unwrap_or_default()
    };
    if value.is_null() {
        return Ok(adjust(None));
    }
    let Some(text) = value.as_text() else {
        let found = format!("expected the value of an `anthropic-beta` header to be a string, found {}", value.kind());
        return Err(Error::new(Code::InvalidValue, "", found));
    };
    // A header cannot contain an unpaired surrogate; its escape is passed instead.
    Ok(adjust(Some(&text.display())))
}

/// Calls a function of a `Restore`. The inputs are the inputs of [`super::call::call`] without the `Restore`.
///
/// # Errors
/// The errors of the function; `invalid-value` if it is not a function of a `Restore`.
pub fn call_restore<'a>(
    restore: &Restore,
    function: Function,
    inputs: Vec<Node<'a>>,
) -> Result<ValueOutput<'a>, Error> {
    let (restore_map, mut reports, mut inputs) = (&restore.0, CallReports::default(), inputs.into_iter());
    let mut input = || inputs.next().ok_or_else(|| missing_input(function));
    let (value, report) = match function {
        Function::RestoreCall => {
            let (name, mut arguments) = (input()?, input()?);
            let Some(name) = name.as_text() else {
                let message = format!("expected the name of a tool to be a string, found {}", name.kind());
                return Err(Error::new(Code::InvalidValue, "/name", message));
            };
            restore_map.arguments(name, &mut arguments, (None, true), &mut reports)?;
            (describe::call(restore_map, name, arguments, reports.take().pop().as_ref()), None)
        }
        Function::RestoreClientCall => {
            let call = client_call::write(restore_map, input()?, &mut reports)?;
            (call, Some(describe::repaired_client_call(reports.take().pop().as_ref())))
        }
        Function::RestoreContent => {
            let text = input()?;
            let Some(answer_text) = text.as_text() else {
                let message = format!("expected the text of an answer to be a string, found {}", text.kind());
                return Err(Error::new(Code::InvalidValue, "", message));
            };
            // In valid JSON, an unpaired surrogate occurs only as an escape.
            let restored = answer_text.value().map(|answer_text| restore_map.content(&answer_text)).unwrap_or_default();
            restored.failure.map_or(Ok(()), Err)?;
            let report = [("complete", Node::bool(!restored.is_cut)), ("fenced", Node::bool(restored.is_unfenced))];
            let report = Node::record(report);
            (restored.text.map_or(text, Node::string), Some(report))
        }
        Function::RestoreReply => {
            let mut reply = input()?;
            restore_map.whole_reply(&mut reply, &mut reports)?;
            (reply, Some(describe::restored_reply(&mut reports)))
        }
        _ => {
            let message = format!("expected a function of a `restore`, found `{}`", function.name());
            return Err(Error::new(Code::InvalidValue, "", message));
        }
    };
    Ok(ValueOutput { value, report, share: false })
}

/// Restores a reply in JSON text.
///
/// # Errors
/// Same as [`call_restore`], and `invalid-json`.
pub fn call_restore_text<'a>(restore: &Restore, reply: &'a str) -> Result<TextOutput<'a>, Error> {
    let inputs = Vec::from([json::read(reply)?]);
    let ValueOutput { value, report, .. } = call_restore(restore, Function::RestoreReply, inputs)?;
    let text: Cow<'a, str> = text_of(reply, &value);
    Ok(TextOutput { text, report })
}

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
    /// `fitResult(result, tool, options)`
    FitResult,
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
        Function::FitResult,
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
            Function::FitResult => "fitResult",
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
    const fn rewrites(self) -> bool {
        match self {
            Function::RestoreArguments | Function::RestoreReply => true,
            // The first input of these functions is the `restore`, not the value that they rewrite.
            Function::RestoreClientCall | Function::RestoreContent => false,
            _ => self.result_name().is_some(),
        }
    }

    /// Returns true if a string in place of input `at` is JSON text, for functions with two inputs. For other
    /// functions, the binding decides if the input is text.
    #[cfg_attr(not(feature = "search"), allow(unused_variables, reason = "only searches read one of the inputs"))]
    const fn reads_text(self, at: usize) -> bool {
        match self {
            Function::RestoreArguments | Function::RepairArguments => true,
            Function::ValidateArguments | Function::ValidateResult | Function::FitResult => true,
            #[cfg(feature = "search")]
            Function::SearchTools => at == 0,
            #[cfg(feature = "search")]
            Function::AnswerToolSearch => true,
            _ => false,
        }
    }

    /// Returns true if the result is a new value. It is JSON text if the first input is JSON text.
    const fn answers_in_text(self) -> bool {
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
            Function::FitResult => Some("result"),
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

fn missing_input(function: Function) -> Error {
    Error::new(Code::InvalidValue, "", format!("expected an input for `{}`, found none", function.name()))
}
