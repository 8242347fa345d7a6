//! Detects the format of a request and checks its basic structure.

use alloc::{format, string::String, vec::Vec};

use super::{
    tool::{self, INNER_CUSTOM, INNER_FUNCTION},
    tool_format,
};
use crate::{
    dialect,
    error::{Code, Error},
    json::{
        lazy::{may_hold, view},
        Data, Flags, Node,
    },
    options::{AdaptOptions, Api, DeferredOptions, Native},
    wire,
};

/// Returns the format of a request, by its shape, the options and the API that the dialect belongs to.
///
/// # Errors
/// Same as [`recognize`].
pub(crate) fn of_request(request: &Node<'_>, options: &AdaptOptions) -> Result<Api, Error> {
    let given =
        |key: &str| request.get(key).is_some_and(|node| !matches!(node.data(), Data::Null | Data::Verbatim("null")));
    match options.tools.format {
        Some(format) => Ok(tool_format::request_api_of(format).unwrap_or(Api::Gemini)),
        None if given("contents") => Ok(Api::Gemini),
        None if is_converse(request) => Ok(Api::Bedrock),
        None => {
            let dialect = dialect::of(&options.tools.sanitize).ok();
            let home = dialect.and_then(|dialect| tool_format::api_of(dialect.tools.format));
            let deferred = options.deferred.as_ref();
            let chosen = deferred.and_then(|deferred| deferred.format);
            let sent_to = Home {
                is_interactions: home == Some(Api::GeminiInteractions),
                has_code_execution: dialect.is_some_and(|dialect| dialect.lists_type("code_execution")),
            };
            let mut read_as = deferred.cloned().unwrap_or_default();
            if chosen.is_none() && given("input") {
                if is_interactions(request, sent_to)? {
                    return Ok(Api::GeminiInteractions);
                }
                read_as.format = Some(Api::OpenaiResponses);
            }
            super::format_of(request, &read_as, home)
        }
    }
}

/// The source and target formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FormatPair {
    pub(crate) format: Api,
    /// The target format, often equal to the source format.
    pub(crate) target: Api,
}

/// Detects the format of a request.
///
/// # Errors
/// `invalid-request` if the value is not a request, `invalid-option` if it cannot be converted to `target`.
pub(crate) fn recognize(request: &Node<'_>, options: &DeferredOptions) -> Result<FormatPair, Error> {
    if request.as_object().is_none() {
        return Err(Error::new(
            Code::InvalidRequest,
            "",
            format!("expected the request to be an object, found {}", request.kind()),
        ));
    }
    for (option, api) in [("target", options.target), ("format", options.format)] {
        if let Some(api) = api.filter(|api| !api.has_deferral()) {
            let known: Vec<String> = Api::WITH_DEFERRAL.iter().map(|(word, _)| format!("\"{word}\"")).collect();
            let message = format!("expected `{option}` to be one of {}, found `{}`", known.join(", "), api.as_str());
            return Err(Error::new(Code::InvalidOption, format!("/{option}"), message));
        }
    }
    let format = match options.format {
        Some(format) => format,
        None => by_shape(request, options.target)?,
    };
    let wire = wire::of(format);
    check(request, wire.history(), wire.expected_history(), |history| wire.takes_history(history))?;
    let is_translated = options.target.is_some_and(|target| target != format);
    let is_untranslated = |api: Api| wire::of(api).translation().is_none();
    if is_translated && (is_untranslated(format) || options.target.is_some_and(is_untranslated)) {
        let message = "expected the request's own format as `target`, because requests of Bedrock Converse and Gemini \
            `generateContent` are not translated, found another format";
        return Err(Error::new(Code::InvalidOption, "/target", message));
    }
    // A list of groups may be a single one.
    if wire.tools().groups().is_empty() {
        check(request, "tools", "an array of tools", |node| matches!(node, None | Some(Data::Null | Data::Array(_))))?;
    }
    let target = options.target.unwrap_or(format);
    if let Some(fits) = options.native.api().filter(|fits| *fits != target) {
        let fitting = Native::CHOICES.iter().filter(|(_, native)| native.api().is_none_or(|format| format == target));
        let fitting: Vec<String> = fitting.map(|(name, _)| format!("`{name}`")).collect();
        let (found, fits, target) = (options.native.as_str(), fits.as_str(), target.as_str());
        return Err(Error::new(
            Code::InvalidOption,
            "/native",
            format!(
                "expected a construct of the format `{target}` ({}), found `{found}`, which belongs to `{fits}`",
                fitting.join(", ")
            ),
        ));
    }
    Ok(FormatPair { format, target })
}

fn check(request: &Node<'_>, key: &str, expected: &str, fits: impl Fn(Option<&Data<'_>>) -> bool) -> Result<(), Error> {
    let node = match request.get(key) {
        Some(node) => Some(view(node)?),
        None => None,
    };
    if fits(node.as_deref().map(Node::data)) {
        return Ok(());
    }
    let found = node.as_deref().map_or("none", Node::kind);
    Err(Error::new(
        Code::InvalidRequest,
        format!("/{key}"),
        format!("expected `{key}` to be {expected}, found {found}"),
    ))
}

fn by_shape(request: &Node<'_>, target: Option<Api>) -> Result<Api, Error> {
    let given = |key: &str| -> Result<bool, Error> {
        Ok(match request.get(key) {
            Some(node) => !view(node)?.is_null(),
            None => false,
        })
    };
    if given("input")? {
        Ok(if is_interactions(request, Home::default())? { Api::GeminiInteractions } else { Api::OpenaiResponses })
    } else if is_converse(request) {
        Ok(Api::Bedrock)
    } else if given("contents")? {
        Ok(Api::Gemini)
    } else if given("messages")? {
        Ok(if is_chat(request, target)? { Api::OpenaiChat } else { Api::Anthropic })
    } else {
        let (pointer, found) = match ["messages", "input", "contents"].iter().find(|key| request.get(key).is_some()) {
            Some(key) => (format!("/{key}"), "null"),
            None => (String::new(), "none"),
        };
        Err(Error::new(
            Code::InvalidRequest,
            pointer,
            format!("expected a request with `messages`, `input` or `contents`, found {found}"),
        ))
    }
}

/// Returns true for a request of Bedrock Converse. Gateways accept some of its members in Chat Completions requests,
/// but those have `model` or `tools`.
///
/// Source: botocore 1.43.127, `bedrock-runtime`: `ConverseRequest`.
pub(crate) fn is_converse(request: &Node<'_>) -> bool {
    const MEMBERS: [&str; 9] = [
        "additionalModelRequestFields",
        "additionalModelResponseFieldPaths",
        "guardrailConfig",
        "inferenceConfig",
        "modelId",
        "outputConfig",
        "performanceConfig",
        "promptVariables",
        "requestMetadata",
    ];
    let given =
        |key: &str| request.get(key).is_some_and(|node| !matches!(node.data(), Data::Null | Data::Verbatim("null")));
    let is_named = given("toolConfig") || !given("model") && MEMBERS.iter().any(|key| given(key));
    is_named && given("messages") && !given("tools")
}

/// Members that do not exist in OpenAI Responses.
const INTERACTIONS_ONLY: [&str; 12] = [
    "agent",
    "agent_config",
    "cached_content",
    "continuation_token",
    "generation_config",
    "previous_interaction_id",
    "response_mime_type",
    "response_modalities",
    "safety_settings",
    "system_instruction",
    "video_config",
    "webhook_config",
];

/// Members that do not exist in Gemini Interactions.
const RESPONSES_ONLY: [&str; 20] = [
    "client_metadata",
    "conversation",
    "include",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "reasoning",
    "safety_identifier",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "top_p",
    "truncation",
    "user",
];

/// The API that a request is sent to, if known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Home {
    /// True for Interactions. Only relevant if the request itself does not determine the format.
    pub(crate) is_interactions: bool,
    /// True for a Responses API with `code_execution`, such as xAI's.
    pub(crate) has_code_execution: bool,
}

/// Returns true if a request with `input` is one of Gemini Interactions, and false if it is one of OpenAI Responses.
/// Sources of the lists: google-genai 3.6.1, `_gaos/types/interactions/{createmodelinteraction,tool,step}.py`, and
/// openai-python's `types/responses` (read 2026-11-26).
///
/// # Errors
/// `invalid-json` if a part of the request is text that cannot be parsed.
pub(crate) fn is_interactions(request: &Node<'_>, home: Home) -> Result<bool, Error> {
    let has = |key: &&str| {
        request.get(*key).is_some_and(|value| !matches!(value.data(), Data::Null | Data::Verbatim("null")))
    };
    if INTERACTIONS_ONLY.iter().any(&has) {
        return Ok(true);
    }
    if RESPONSES_ONLY.iter().any(has) {
        return Ok(false);
    }
    if let Some(tools) = request.get("tools") {
        let tools = view(tools)?;
        if let Some(found) =
            tools.as_array().unwrap_or_default().iter().find_map(|entry| is_entry_of_interactions(entry, home))
        {
            return Ok(found);
        }
    }
    if let Some(input) = request.get("input") {
        let input = view(input)?;
        if input.as_object().is_some() {
            return Ok(true);
        }
        for item in input.as_array().unwrap_or_default() {
            if let Some(found) = is_step(&*view(item)?) {
                return Ok(found);
            }
        }
    }
    // Routers prefix the model with the vendor, and do not offer Interactions.
    let model = request.get("model").map(view).transpose()?;
    let is_gemini = model.is_some_and(|model| model.as_text().is_some_and(|name| tool::starts_with(name, "gemini-")));
    Ok(home.is_interactions || is_gemini)
}

/// Returns true for an entry of a tool list that exists only in Gemini Interactions, false for one that exists only in
/// OpenAI Responses, and `None` for any other.
fn is_entry_of_interactions(entry: &Node<'_>, home: Home) -> Option<bool> {
    const THEIRS: [&str; 5] = ["mcp_server", "google_search", "google_maps", "url_context", "retrieval"];
    const OF_RESPONSES: [&str; 7] =
        ["custom", "namespace", "mcp", "web_search", "web_search_preview", "code_interpreter", "image_generation"];
    let is = |name: &&str| tool::has_type(entry, name);
    if THEIRS.iter().any(&is) || entry.get("short_description").is_some() {
        return Some(true);
    }
    if is(&"tool_search") && entry.get("name").is_some() || is(&"code_execution") && !home.has_code_execution {
        return Some(true);
    }
    (OF_RESPONSES.iter().any(is) || entry.get("strict").is_some()).then_some(false)
}

/// Returns true for an item of the input that exists only in Gemini Interactions, false for one that exists only in
/// OpenAI Responses, and `None` for any other.
fn is_step(item: &Node<'_>) -> Option<bool> {
    const STEPS: [&str; 10] = [
        "user_input",
        "model_output",
        "thought",
        "function_result",
        "tool_search_result",
        "text",
        "image",
        "audio",
        "document",
        "video",
    ];
    if item.get("role").is_some() {
        return Some(false);
    }
    if STEPS.iter().any(|name| tool::has_type(item, name)) {
        return Some(true);
    }
    let is_call = tool::has_type(item, "function_call") || tool::has_type(item, "tool_search_call");
    if is_call {
        let is_item = item.get("call_id").is_some() || item.get("execution").is_some();
        return Some(!is_item);
    }
    // Calls of hosted tools, and their results. Both APIs have `file_search_call`.
    const HOSTED: [&str; 6] =
        ["code_execution_", "google_", "mcp_server_", "processing_", "retrieval_", "url_context_"];
    let kind = tool::type_of(item).filter(|kind| !kind.is("file_search_call"))?;
    Some(HOSTED.iter().any(|start| tool::starts_with(kind, start)) || kind.is("file_search_result"))
}

/// Members that do not exist in Anthropic requests. They only count if Chat Completions is the target: a Chat
/// Completions request written by this library must be detected as such even if it has no tools left.
const CHAT_ONLY: [&str; 37] = [
    "audio",
    "chat_template_kwargs",
    "enable_thinking",
    "format",
    "frequency_penalty",
    "function_call",
    "functions",
    "guided_json",
    "json_schema",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "min_p",
    "modalities",
    "n",
    "parallel_tool_calls",
    "plugins",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_retention",
    "provider",
    "reasoning",
    "reasoning_effort",
    "repetition_penalty",
    "response_format",
    "safety_identifier",
    "seed",
    "stop",
    "store",
    "stream_options",
    "structured_outputs",
    "top_logprobs",
    "transforms",
    "user",
    "verbosity",
    "web_search_options",
];

/// Returns true if a request has features that only Anthropic has: a top-level `system`, tools with `input_schema`, or
/// blocks for calls and results.
fn has_shape_of_anthropic(request: &Node<'_>) -> Result<bool, Error> {
    if request.get("system").is_some() {
        return Ok(true);
    }
    if let Some(tools) = request.get("tools") {
        let tools = view(tools)?;
        if tools.as_array().unwrap_or_default().iter().any(|tool| tool.get("input_schema").is_some()) {
            return Ok(true);
        }
    }
    for message in request.items_at("messages") {
        if !may_hold(message, Flags::CALL | Flags::RESULT) {
            continue;
        }
        let message = view(message)?;
        let is_of_a_call = |block: &Node<'_>| {
            block.get("type").is_some_and(|kind| kind.is_text("tool_use") || kind.is_text("tool_result"))
        };
        if message.items_at("content").iter().any(is_of_a_call) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_chat(request: &Node<'_>, target: Option<Api>) -> Result<bool, Error> {
    let given =
        |key: &str| request.get(key).is_some_and(|node| !matches!(node.data(), Data::Null | Data::Verbatim("null")));
    // These response formats do not exist in other APIs with `messages`.
    let is_of_anthropic = given("output_config") || given("output_format");
    if given("response_format") && !is_of_anthropic && !has_shape_of_anthropic(request)? {
        return Ok(true);
    }
    let target = target.filter(|_| !is_of_anthropic);
    let has_chat_member = || CHAT_ONLY.iter().any(|key| request.get(key).is_some());
    if target == Some(Api::OpenaiChat) && has_chat_member() && !has_shape_of_anthropic(request)? {
        return Ok(true);
    }
    if let Some(tools) = request.get("tools") {
        let tools = view(tools)?;
        // Anthropic's older clients wrap a definition, or its flags, in `custom`.
        let is_custom = |tool: &Node<'_>| {
            let custom = tool.get(INNER_CUSTOM).filter(|custom| custom.get("input_schema").is_none());
            custom.is_some_and(|custom| custom.get("name").is_some())
        };
        let wraps = |tool: &Node<'_>| {
            is_custom(tool) || tool.get(INNER_FUNCTION).is_some_and(|function| function.as_object().is_some())
        };
        if tools.as_array().unwrap_or_default().iter().any(wraps) {
            return Ok(true);
        }
    }
    for message in request.items_at("messages") {
        if !may_hold(message, Flags::CHAT) {
            continue;
        }
        let message = view(message)?;
        // Kimi's system messages may add tools.
        let brings_tools = message.get("tools").is_some_and(|tools| tools.as_array().is_some());
        let answers = message.get("role").is_some_and(|role| role.is_text("tool"));
        if answers || brings_tools || message.get("tool_calls").is_some() {
            return Ok(true);
        }
    }
    // In Anthropic's format, no conversation begins with a system message.
    let begins = request.items_at("messages").first().map(view).transpose()?;
    let is_prompt = begins.is_some_and(|first| {
        let is_text = first.get("content").is_some_and(|content| content.as_text().is_some());
        is_text && first.get("role").is_some_and(|role| role.is_text("system"))
    });
    Ok(is_prompt && !is_of_anthropic && !has_shape_of_anthropic(request)?)
}
