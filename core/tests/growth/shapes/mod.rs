//! The inputs whose cost must not grow faster than their size, in one table: schemas, arguments, tool lists, requests
//! and streamed replies. The test counts steps, and `examples/growth` measures time.

mod arguments;
mod requests;
mod schemas;

use serde_json::json;
use toolwire::{
    adapt_request, answer_tool_search, apply_deferred_loading, check, check_request, check_tools, fit_result,
    internal::{compare_schemas, json::read, SchemaComparison},
    normalize_envelope,
    options::{Api, HistoryPairs, Native},
    repair_arguments, restore_arguments, sanitize, sanitize_tools, search_tools, validate_arguments, validate_result,
    AdaptOptions, DeferredOptions, DialectId, Exchange, ExchangeOptions, RepairOptions, Restore, ResultOptions,
    SanitizeOptions, SearchOptions, ToolSet, ToolsOptions,
};

#[allow(clippy::expect_used, reason = "a test fails by panicking")]
pub(crate) fn id(name: &str) -> DialectId {
    name.parse().expect("a known dialect")
}

pub(crate) type Table<F> = &'static [(&'static str, F)];

/// The maximum number of steps of one validation or repair. A call that uses all of them returns "unknown" instead of
/// an error.
const JUDGED: usize = 100_000;

/// The backends whose history adds tools: their dialects, formats and constructs.
const NATIVE: [(&str, Api, Native); 4] = [
    ("moonshot", Api::OpenaiChat, Native::Kimi),
    ("xai", Api::OpenaiResponses, Native::AdditionalTools),
    ("anthropic", Api::Anthropic, Native::Inline),
    ("gemini-interactions", Api::GeminiInteractions, Native::Interactions),
];

/// The function that processes the JSON texts of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Work {
    Sanitize,
    /// `sanitize`, with its report.
    Report,
    Check,
    Envelope,
    Validate,
    Repair,
    /// Restores arguments with the plan of the schema alone.
    Restore,
    /// Validates the arguments as structured content, with the schema as the output schema of the tool.
    ValidateResult,
    /// Fits a result with the arguments as structured content.
    FitResult,
    Tools,
    CheckTools,
    Search,
    AnswerSearch,
    /// Sanitizes a list, updates it, and sanitizes it again, from the cache.
    ToolSet,
    Defer,
    Adapt,
    CheckRequest,
    /// `adaptRequest` for a backend whose history adds tools.
    Native,
    /// Opens an exchange.
    Exchange,
    /// Restores a whole reply.
    Reply,
    Stream,
    /// Compares two schemas, as `toolwire diff` does.
    Compare,
}

/// The sizes of compared inputs, in bytes. A call must take long enough to be judged by its time.
pub(crate) type Sizes = [usize; 2];
const SMALL: Sizes = [24 << 10, 96 << 10];
const MEDIUM: Sizes = [64 << 10, 256 << 10];
const LARGE: Sizes = [256 << 10, 1 << 20];

/// The calls whose cost is compared with their paid units, each with the sizes and groups of its inputs.
pub(crate) const MEASURED: [(Work, &str, Sizes, &[&str]); 19] = [
    (
        Work::Report,
        "openai-strict",
        SMALL,
        &["oneOf", "anyOf", "oneOf at the root", "properties", "definitions", "nested unions"],
    ),
    (
        Work::Sanitize,
        "gemini",
        SMALL,
        &["oneOf", "anyOf", "allOf", "shared definitions", "misnamed definitions beside many members"],
    ),
    (Work::Check, "openai-strict", SMALL, &["oneOf", "anyOf", "properties", "definitions"]),
    (Work::Tools, "openai-strict", SMALL, &["tool lists"]),
    (Work::Tools, "anthropic", SMALL, &["tool lists"]),
    (Work::CheckTools, "openai-strict", LARGE, &["tool lists"]),
    (Work::Search, "", MEDIUM, &["tool lists"]),
    (Work::ToolSet, "openai-strict", SMALL, &["tool lists"]),
    (Work::Defer, "", LARGE, &["requests"]),
    (Work::Adapt, "openai-strict", SMALL, &["requests"]),
    (Work::CheckRequest, "openai-strict", LARGE, &["requests"]),
    (Work::Native, "moonshot", MEDIUM, &["additions"]),
    (Work::Native, "xai", MEDIUM, &["additions"]),
    (Work::Native, "anthropic", MEDIUM, &["additions"]),
    (Work::Native, "gemini-interactions", MEDIUM, &["additions"]),
    (Work::Reply, "", LARGE, &["replies"]),
    (Work::Stream, "", LARGE, &["streams"]),
    (Work::FitResult, "", LARGE, &["arguments by items", "arguments by circle"]),
    (Work::Compare, "", MEDIUM, &["compared properties", "compared definitions"]),
];

impl Work {
    /// Returns the name of the function in TypeScript.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Work::Sanitize => "sanitize",
            Work::Report => "changes of sanitize",
            Work::Check => "check",
            Work::Envelope => "normalizeEnvelope",
            Work::Validate => "validateArguments",
            Work::Repair => "repairArguments",
            Work::Restore => "restoreArguments",
            Work::ValidateResult => "validateResult",
            Work::FitResult => "fitResult",
            Work::Tools => "sanitizeTools",
            Work::CheckTools => "checkTools",
            Work::Search => "searchTools",
            Work::AnswerSearch => "answerToolSearch",
            Work::ToolSet => "ToolSet.sanitize",
            Work::Defer => "applyDeferredLoading",
            Work::Adapt => "adaptRequest",
            Work::CheckRequest => "checkRequest",
            Work::Native => "adaptRequest with native constructs",
            Work::Exchange => "Exchange.open",
            Work::Reply => "restore.reply",
            Work::Stream => "restore.stream",
            Work::Compare => "toolwire diff",
        }
    }

    pub(crate) const fn has_dialect(self) -> bool {
        matches!(
            self,
            Work::Sanitize
                | Work::Report
                | Work::Check
                | Work::Restore
                | Work::Tools
                | Work::CheckTools
                | Work::ToolSet
                | Work::Adapt
                | Work::CheckRequest
                | Work::Native
        )
    }

    /// Returns true for functions that validate values within [`JUDGED`] steps.
    pub(crate) const fn is_validation(self) -> bool {
        matches!(self, Work::Validate | Work::Repair) || self.is_of_results()
    }

    const fn is_of_results(self) -> bool {
        matches!(self, Work::ValidateResult | Work::FitResult)
    }

    /// A validation or repair that exhausted its budget may return "unknown".
    pub(crate) const fn is_cut_off(self, steps: usize) -> bool {
        self.is_validation() && steps >= JUDGED
    }

    /// Returns the number of steps of a search that a fixed budget ends; it may be quadratic until then.
    pub(crate) fn steps_of_search(self, texts: &[String]) -> usize {
        match (self, texts) {
            (Work::Compare, [old, new]) => compared(old, new).map_or(0, |found| found.steps),
            _ => 0,
        }
    }

    /// Runs the function.
    pub(crate) fn run(self, dialect: &str, texts: &[String]) -> Result<(), &'static str> {
        let (first, second) = (texts.first().map_or("", String::as_str), texts.get(1).map_or("", String::as_str));
        let code = |error: toolwire::Error| error.code().as_str();
        match self {
            Work::Sanitize => sanitize(first, &SanitizeOptions::new(id(dialect))).map(drop).map_err(code),
            Work::Report => {
                let done = sanitize(first, &SanitizeOptions::new(id(dialect))).map_err(code)?;
                done.changes().map(|_| ()).map_err(code)
            }
            Work::Check => check(first, &SanitizeOptions::new(id(dialect))).map(drop).map_err(code),
            Work::Envelope => normalize_envelope(first).map(drop).map_err(code),
            Work::Validate => validate_arguments(second, first).map(drop).map_err(code),
            Work::Repair => {
                let mut options = RepairOptions::default();
                options.use_defaults = true;
                options.remove_additional = true;
                repair_arguments(second, first, &options).map(drop).map_err(code)
            }
            Work::Restore => sanitize(first, &SanitizeOptions::new(id(dialect)))
                .and_then(|done| restore_arguments(second, done.restore_plan()?).map(drop))
                .map_err(code),
            Work::ValidateResult | Work::FitResult => {
                let tool = format!(r#"{{"name":"t","inputSchema":{{"type":"object"}},"outputSchema":{first}}}"#);
                let result = format!(r#"{{"content":[],"structuredContent":{second}}}"#);
                let (tool, result) = (tool.as_str(), result.as_str());
                match self {
                    Work::ValidateResult => validate_result(result, tool).map(drop).map_err(code),
                    _ => fit_result(result, tool, &ResultOptions::default()).map(drop).map_err(code),
                }
            }
            Work::Tools => sanitize_tools(first, &ToolsOptions::new(id(dialect))).map(drop).map_err(code),
            Work::CheckTools => check_tools(first, &[id(dialect)]).map(drop).map_err(code),
            Work::Search => search_tools(first, "read a path", &SearchOptions::default()).map(drop).map_err(code),
            Work::AnswerSearch => {
                let call = r#"{"type":"tool_use","id":"t","name":"tool_search","input":{"query":"read a path"}}"#;
                answer_tool_search(call, first, &SearchOptions::default()).map(drop).map_err(code)
            }
            Work::ToolSet => {
                let (options, mut set) = (ToolsOptions::new(id(dialect)), ToolSet::new(first).map_err(code)?);
                set.sanitize(&options).map_err(code)?;
                set.update(first).map_err(code)?;
                set.sanitize(&options).map(drop).map_err(code)
            }
            Work::Defer => {
                for target in [None, Some(Api::OpenaiChat), Some(Api::OpenaiResponses)] {
                    let mut options = DeferredOptions::default();
                    options.target = target;
                    apply_deferred_loading(first, &options).map(drop).map_err(code)?;
                }
                Ok(())
            }
            Work::Adapt => {
                let options = AdaptOptions::new(id(dialect)).history_pairs(HistoryPairs::Complete);
                adapt_request(first, &options).map(drop).map_err(code)
            }
            Work::CheckRequest => check_request(first, id(dialect)).map(drop).map_err(code),
            Work::Native => {
                let known = NATIVE.iter().find(|(known, ..)| *known == dialect);
                let deferred =
                    known.map(|(_, target, native)| DeferredOptions::default().target(*target).native(*native));
                adapt_request(first, &AdaptOptions::new(id(dialect)).deferred(deferred)).map(drop).map_err(code)
            }
            Work::Exchange => {
                Exchange::open("https://api.moonshot.ai/v1/chat/completions", first, &ExchangeOptions::default())
                    .map(drop)
                    .map_err(code)
            }
            Work::Reply => stored_restore().map_err(code)?.reply(first).map(drop).map_err(code),
            Work::Stream => {
                let mut stream = stored_restore().map_err(code)?.stream();
                for piece in (0..first.len()).step_by(1 << 10) {
                    // The text is ASCII.
                    let piece = first.get(piece..first.len().min(piece + (1 << 10))).unwrap_or_default();
                    stream.feed_text(piece).map_err(code)?;
                }
                stream.finish_text().map(drop).map_err(code)
            }
            Work::Compare => compared(first, second).map(drop).map_err(code),
        }
    }
}

fn compared(old: &str, new: &str) -> Result<SchemaComparison, toolwire::Error> {
    Ok(compare_schemas(&read(old)?, &read(new)?, true, JUDGED))
}

fn stored_restore() -> Result<Restore, toolwire::Error> {
    let plan = json!({"names": {"names": {"dollar_ref_": "$ref"}}});
    let tools = json!({"a_b": {"name": "a.b"}, "show": {"name": "show", "plan": plan}});
    Restore::from_json(&json!({"version": 4, "tools": tools, "answer": {"wrapper": "response"}}).to_string())
}

const LIST_WORKS: &[Work] = &[Work::Tools, Work::CheckTools, Work::Search, Work::AnswerSearch, Work::ToolSet];

pub(crate) struct Shape {
    /// Group of the input. Tables and lists of exceptions refer to inputs by group and name.
    pub(crate) group: String,
    pub(crate) name: String,
    pub(crate) works: &'static [Work],
    make: Box<dyn Fn(usize) -> Vec<String>>,
}

impl Shape {
    fn new(
        group: impl Into<String>,
        name: impl Into<String>,
        works: &'static [Work],
        make: impl Fn(usize) -> Vec<String> + 'static,
    ) -> Self {
        Shape { group: group.into(), name: name.into(), works, make: Box::new(make) }
    }

    /// Returns an input of about this many bytes, and its exact number of bytes.
    pub(crate) fn of_size(&self, bytes: usize) -> (Vec<String>, usize) {
        let length = |texts: &[String]| texts.iter().map(String::len).sum::<usize>();
        let (mut count, mut texts) = (16, (self.make)(16));
        // Names become longer as their number grows, so the estimate is repeated.
        for _ in 0..3 {
            count = (count * bytes / length(&texts).max(1)).max(1);
            texts = (self.make)(count);
        }
        let size = length(&texts);
        (texts, size)
    }
}

pub(crate) fn shapes() -> Vec<Shape> {
    let mut all = Vec::new();
    let schema_works = &[Work::Sanitize, Work::Report, Work::Check, Work::Envelope];
    let argument_works = &[Work::Validate, Work::Repair];
    for container in schemas::CONTAINERS {
        for element in schemas::ELEMENTS {
            let make = move |count| vec![schemas::schema(*element, *container, count).to_string()];
            all.push(Shape::new(container.0, element.0, schema_works, make));
            for answer in arguments::ANSWERS.iter().take(4) {
                let make = move |count| {
                    let schema = schemas::schema(*element, *container, count).to_string();
                    vec![schema, answer.1(count).to_string()]
                };
                let name = format!("{}, {}", element.0, answer.0);
                all.push(Shape::new(container.0, name, argument_works, make));
            }
        }
    }
    for container in schemas::CONTAINERS.iter().filter(|(name, _)| ["properties", "definitions"].contains(name)) {
        for element in schemas::ELEMENTS {
            // The schemas differ in the number of elements, which the last one shows.
            let make =
                move |count| [count, count + 1].map(|n| schemas::schema(*element, *container, n).to_string()).into();
            all.push(Shape::new(format!("compared {}", container.0), element.0, &[Work::Compare], make));
        }
    }
    for (group, schema) in arguments::SCHEMAS {
        for (name, answer) in arguments::ANSWERS {
            let make = move |count| vec![schema().to_string(), answer(count).to_string()];
            all.push(Shape::new(
                format!("arguments by {group}"),
                *name,
                &[Work::Validate, Work::Repair, Work::Restore, Work::ValidateResult, Work::FitResult],
                make,
            ));
        }
    }
    for (name, text) in arguments::TEXTS {
        let schema = r#"{"type":"object","properties":{"p0":{"type":"array","items":{"type":"integer"}}}}"#;
        let make = move |count| vec![schema.to_owned(), text(count)];
        all.push(Shape::new("texts of arguments", *name, &[Work::Repair], make));
    }
    for (name, list) in requests::LISTS {
        all.push(Shape::new("tool lists", *name, LIST_WORKS, move |count| vec![list(count).to_string()]));
    }
    for (name, request) in requests::REQUESTS {
        let make = move |count| vec![request(count).to_string()];
        all.push(Shape::new("requests", *name, &[Work::Defer, Work::Adapt, Work::CheckRequest, Work::Exchange], make));
    }
    for (name, request) in requests::ADDITIONS {
        all.push(Shape::new("additions", *name, &[Work::Native], move |count| vec![request(count).to_string()]));
    }
    for (name, reply) in requests::REPLIES {
        all.push(Shape::new("replies", *name, &[Work::Reply], move |count| vec![reply(count).to_string()]));
    }
    for (name, stream) in requests::STREAMS {
        all.push(Shape::new("streams", *name, &[Work::Stream], move |count| vec![stream(count)]));
    }
    all
}
