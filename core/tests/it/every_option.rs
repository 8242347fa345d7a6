//! A value for every option of the tables in `core/src/options`, as JSON and as the call of its setter. Tests that need
//! every option use it, and fail if a new row has no value here.

use toolwire::{
    options::{
        Announce, Api, Client, CustomTools, DuplicateNames, ForcedTool, Formats, Hints, HistoryArguments, HistoryPairs,
        Mismatch, Mode, Native, OnSetAside, Order, OutputSchemas, Overflow, Prefix, Reasoning, Refs, Removals,
        SearchMode, ServerHistory, ServerToolSearch, StructuredText, ToolChanges, ToolFormat, Truncated,
        UnavailableCalls, UnknownReference, Untyped, Use,
    },
    reports::{Confidence, RepairRule},
    AdaptOptions, CheckRequestOptions, DeferralQuery, DeferredOptions, Dialect, DialectQuery, EnvelopeOptions,
    ExchangeOptions, RepairOptions, ResultOptions, SanitizeOptions, SearchOptions, ToolsOptions,
};

/// A value of an option that differs from the default.
pub(crate) struct Chosen<T> {
    pub(crate) name: &'static str,
    pub(crate) json: &'static str,
    pub(crate) set: fn(T) -> T,
}

macro_rules! chosen {
    ($type:ty; $($name:literal $json:literal |$options:ident| $set:expr;)*) => {
        vec![$(Chosen::<$type> { name: $name, json: $json, set: |$options: $type| $set },)*]
    };
}

/// Options of schemas that every type with a dialect has.
macro_rules! of_schemas {
    ($type:ty) => {
        chosen! { $type;
            "refs" r#""keep""# |options| options.refs(Refs::Keep);
            "untyped" r#""string""# |options| options.untyped(Untyped::String);
            "hints" r#""drop""# |options| options.hints(Hints::Drop);
            "allow" r#""same""# |options| options.allow(toolwire::options::Allow::Same);
            "maxBytes" "2000" |options| options.max_bytes(2_000);
            "maxNodes" "500" |options| options.max_nodes(500);
            "maxSteps" "90000" |options| options.max_steps(90_000);
            "template" r#""Qwen3""# |options| options.template("Qwen3");
        }
    };
}

macro_rules! of_lists {
    ($type:ty) => {
        chosen! { $type;
            "format" r#""openai-chat""# |options| options.format(ToolFormat::OpenaiChat);
            "fallback" r#""portable""# |options| options.fallback(Dialect::PORTABLE);
            "maxTools" "1" |options| options.max_tools(1);
            "repair" "true" |options| options.repair(RepairOptions::default());
            "lenientTypes" "true" |options| options.lenient_types(true);
            "prefix" r#""always""# |options| options.prefix(Prefix::Always);
            "outputSchemas" r#""send""# |options| options.output_schemas(OutputSchemas::Send);
        }
    };
}

/// Options of requests, except `deferred`.
macro_rules! of_requests {
    ($type:ty) => {
        chosen! { $type;
            "wrapper" r#""value""# |options| options.wrapper("value");
            "formats" r#""ladder""# |options| options.formats(Formats::Ladder);
            "historyArguments" r#""keep""# |options| options.history_arguments(HistoryArguments::Keep);
            "betas" r#"["a"]"# |options| options.betas(["a"]);
            "host" r#""api.githubcopilot.com""# |options| options.host("api.githubcopilot.com");
            "historyPairs" r#""complete""# |options| options.history_pairs(HistoryPairs::Complete);
            "model" r#""m""# |options| options.model("m");
            "overflow" r#""defer""# |options| options.overflow(Overflow::Defer);
        }
    };
}

pub(crate) fn sanitize() -> Vec<Chosen<SanitizeOptions>> {
    let own = chosen! { SanitizeOptions;
        "dialect" r#""gemini""# |_options| SanitizeOptions::new(Dialect::GEMINI);
        "use" r#""response""# |options| options.used_as(Use::Response);
        "wrapper" r#""value""# |options| options.wrapper("value");
        "share" "true" |options| { let mut options = options; options.share = true; options };
    };
    own.into_iter().chain(of_schemas!(SanitizeOptions)).collect()
}

pub(crate) fn tools() -> Vec<Chosen<ToolsOptions>> {
    let own = chosen! { ToolsOptions;
        "dialect" r#""gemini""# |_options| ToolsOptions::new(Dialect::GEMINI);
        "share" "true" |options| { let mut options = options; options.sanitize.share = true; options };
        "duplicateNames" r#""rename""# |options| options.duplicate_names(DuplicateNames::Rename);
        "onSetAside" r#""error""# |options| options.on_set_aside(OnSetAside::Error);
    };
    own.into_iter().chain(of_schemas!(ToolsOptions)).chain(of_lists!(ToolsOptions)).collect()
}

pub(crate) fn adapt() -> Vec<Chosen<AdaptOptions>> {
    let own = chosen! { AdaptOptions;
        "dialect" r#""gemini""# |_options| AdaptOptions::new(Dialect::GEMINI);
        "share" "true" |options| { let mut options = options; options.tools.sanitize.share = true; options };
        "deferred" "false" |options| options.deferred(None);
    };
    let lists = of_schemas!(AdaptOptions).into_iter().chain(of_lists!(AdaptOptions));
    own.into_iter().chain(lists).chain(of_requests!(AdaptOptions)).collect()
}

pub(crate) fn exchange() -> Vec<Chosen<ExchangeOptions>> {
    let own = chosen! { ExchangeOptions;
        "dialect" r#""gemini""# |options| options.dialect(Dialect::GEMINI);
        "deferred" "false" |options| options.deferred(None);
        "search" r#"{"mode":"regex","limit":2}"# |options| options.mode(SearchMode::Regex).limit(2);
        "maxRounds" "1" |options| options.max_rounds(1);
        "onSetAside" r#""error""# |options| options.on_set_aside(OnSetAside::Error);
        "toolListCache" "3" |options| options.tool_list_cache(3);
        "betas" r#"["tool-search-tool-2025-10-19"]"# |options| options.betas(["tool-search-tool-2025-10-19"]);
    };
    let lists = of_schemas!(ExchangeOptions).into_iter().chain(of_lists!(ExchangeOptions));
    own.into_iter().chain(lists).chain(of_requests!(ExchangeOptions)).collect()
}

pub(crate) fn deferral() -> Vec<Chosen<DeferredOptions>> {
    chosen! { DeferredOptions;
        "client" r#""codex""# |_options| DeferredOptions::of_client(Client::Codex);
        "announce" r#""names""# |options| options.announce(Announce::Names);
        "target" r#""openai-chat""# |options| options.target(Api::OpenaiChat);
        "mode" r#""load-all""# |options| options.mode(Mode::LoadAll);
        "order" r#""append""# |options| options.order(Order::Append);
        "unknownReference" r#""drop""# |options| options.unknown_reference(UnknownReference::Drop);
        "forcedTool" r#""auto""# |options| options.forced_tool(ForcedTool::Auto);
        "serverToolSearch" r#""drop""# |options| options.server_tool_search(ServerToolSearch::Drop);
        "serverHistory" r#""split""# |options| options.server_history(ServerHistory::Split);
        "native" r#""references""# |options| options.native(Native::References);
        "searchTools" r#"["find"]"# |options| options.search_tools(["find"]);
        "customTools" r#""function""# |options| options.custom_tools(CustomTools::Function);
        "removals" r#""notice""# |options| options.removals(Removals::Notice);
        "unavailableCalls" r#""text""# |options| options.unavailable_calls(UnavailableCalls::Text);
        "reasoning" r#""content""# |options| options.reasoning(Reasoning::Content);
        "maxTokens" "1000" |options| options.max_tokens(1_000);
        "loadedTools" r#"["Read"]"# |options| options.loaded_tools(["Read"]);
        "loadUsedTools" "true" |options| options.load_used_tools(true);
        "toolSearchName" r#""find""# |options| options.tool_search_name("find");
        "toolChanges" r#""ignore""# |options| options.tool_changes(ToolChanges::Ignore);
        "maxRepeatedBytes" "100" |options| options.max_repeated_bytes(100);
        "format" r#""anthropic""# |options| options.format(Api::Anthropic);
        "share" "true" |options| { let mut options = options; options.share = true; options };
    }
}

pub(crate) fn repair() -> Vec<Chosen<RepairOptions>> {
    chosen! { RepairOptions;
        "confidence" r#""exact""# |options| options.confidence(Confidence::Exact);
        "disable" r#"["fence"]"# |options| options.disable([RepairRule::Fence]);
        "useDefaults" "true" |options| options.use_defaults(true);
        "removeAdditional" "true" |options| options.remove_additional(true);
        "truncated" r#""close""# |options| options.truncated(Truncated::Close);
        "name" r#""f""# |options| options.name("f");
    }
}

pub(crate) fn result() -> Vec<Chosen<ResultOptions>> {
    chosen! { ResultOptions;
        "mismatch" r#""drop""# |options| options.mismatch(Mismatch::Drop);
        "structuredText" r#""missing""# |options| options.structured_text(StructuredText::Missing);
    }
}

pub(crate) fn search() -> Vec<Chosen<SearchOptions>> {
    chosen! { SearchOptions;
        "mode" r#""regex""# |options| options.mode(SearchMode::Regex);
        "limit" "2" |options| options.limit(2);
        "toolSearchName" r#""find""# |options| options.tool_search_name("find");
    }
}

pub(crate) fn envelope() -> Vec<Chosen<EnvelopeOptions>> {
    chosen! { EnvelopeOptions;
        "share" "true" |options| { let mut options = options; options.share = true; options };
    }
}

pub(crate) fn check_request() -> Vec<Chosen<CheckRequestOptions>> {
    chosen! { CheckRequestOptions;
        "dialect" r#""gemini""# |_options| CheckRequestOptions::new(Dialect::GEMINI);
        "betas" r#"["a"]"# |options| options.betas(["a"]);
        "host" r#""api.githubcopilot.com""# |options| options.host("api.githubcopilot.com");
        "model" r#""m""# |options| options.model("m");
    }
}

pub(crate) fn dialect_query() -> Vec<Chosen<DialectQuery>> {
    chosen! { DialectQuery;
        "api" r#""gemini""# |options| options.api(Api::Gemini);
        "model" r#""m""# |options| options.model("m");
        "host" r#""h""# |options| options.host("h");
        "strict" "true" |options| options.strict(true);
        "exact" "true" |options| options.exact(true);
    }
}

pub(crate) fn deferral_query() -> Vec<Chosen<DeferralQuery>> {
    chosen! { DeferralQuery;
        "api" r#""gemini""# |options| options.api(Api::Gemini);
        "model" r#""m""# |options| options.model("m");
        "host" r#""h""# |options| options.host("h");
    }
}
