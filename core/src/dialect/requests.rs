//! Facts about requests that APIs refuse as a whole, as data, including calls and results in the history. `tools`
//! repairs and checks requests with these facts.

pub use super::request_fact::RequestFact;
pub(crate) use super::{
    history_facts::{ANSWERED, HISTORY_ARGUMENTS, HISTORY_NAME, HISTORY_PAIRS, RESULT_NAME},
    models::Models,
    request_fact::{FormatRule, Refusal, Thinks},
    rule::Rule,
};

use super::{
    formats,
    history_facts::{ANTHROPIC_PAIRS, CHAT_PAIRS, CONVERSE_PAIRS, GEMINI_PAIRS, OPENAI_PAIRS},
    request_fact::DAY,
    request_rows as rows,
    rule::{Fix, When},
};
use crate::{options::Api, report::Grade, report::Severity};

/// Converts `reasoning` of Responses and of OpenRouter to the corresponding member of Chat Completions.
const EFFORT: Fix = Fix::Take { part: "effort", name: "reasoning_effort" };

/// Type of OpenAI's `custom` tools, which the option `customTools` may keep.
const CUSTOM: &str = "custom";

/// Anthropic Messages and OpenAI's formats, for facts about APIs that do not have Messages. Messages is included
/// because some requests of Chat Completions are indistinguishable from it.
const EVERY_FORMAT: &[Api] = &[Api::Anthropic, Api::OpenaiChat, Api::OpenaiResponses];

/// OpenAI's formats. A server may treat the types of tools in Messages differently.
const OPENAI_FORMATS: &[Api] = &[Api::OpenaiChat, Api::OpenaiResponses];

/// Claude's models that always think, or that call tools only by their own choice.
const FORCED_BY_MODEL: RequestFact = RequestFact {
    statement:
        "Fable 5.1 and 5.2, Mythos 5.1 and 5.2, Opus 5.5 and Sonnet 5.5 do not accept a tool choice that forces \
        a call",
    confidence: Grade::B,
    ..RequestFact::while_thinking(
        Models::Versions(&["fable-5-1", "fable-5-2", "mythos-5-1", "mythos-5-2", "opus-5-5", "sonnet-5-5"]),
        Thinks::Always,
        "pydantic-ai 2.68, with the API's text (live, 2026-09-02; Fable 5, Mythos 5 and Haiku 5.5 accept it); \
            LiteLLM's model map, 1.110 (confidence B)",
    )
};

/// Applies to Opus 4.6 instead of the next fact.
const FORCED_WHILE_OPUS_4_6_THINKS: RequestFact = RequestFact {
    statement:
        "the tool choice must not force a call while Opus 4.6 thinks with a budget; adaptive thinking accepts it",
    ..RequestFact::while_thinking(
        Models::Versions(&["opus-4-6"]),
        Thinks::IfExtended,
        "three recorded requests with adaptive thinking and a forced call were answered 200 (Opus 4.6; \
            langchain-aws#1141); with a budget: `Thinking may not be enabled when tool_choice forces tool use.` \
            (confidence A)",
    )
};

const FORCED_WHILE_CLAUDE_THINKS: RequestFact = RequestFact::while_thinking(
    Models::All,
    Thinks::IfAsked,
    "Anthropic, extended thinking; live: `Thinking may not be enabled when tool_choice forces tool use.` (22 of 22 \
        recorded requests, one of Opus 4.8 with adaptive thinking; oh-my-pi#341, pydantic-ai#6957; confidence A)",
);

/// Anthropic, at every host.
pub(crate) const ANTHROPIC: &[RequestFact] = &[
    FORCED_BY_MODEL,
    FORCED_WHILE_OPUS_4_6_THINKS,
    FORCED_WHILE_CLAUDE_THINKS,
    ANTHROPIC_PAIRS,
    rows::CLAUDE_IDS,
    rows::CLAUDE_UNIQUE_IDS,
    rows::CLAUDE_CALLER,
    rows::CLAUDE_CACHED_THINKING,
    rows::CLAUDE_EMPTY_TEXT,
    rows::CLAUDE_BLANK_TEXT,
    rows::CLAUDE_TEXT_AFTER_CALL,
    rows::CLAUDE_FIRST_CALL,
    rows::CLAUDE_TEMPERATURE,
    rows::CLAUDE_TOP_P,
    rows::CLAUDE_TOP_K,
    rows::CLAUDE_THINKING_ENABLED,
    rows::CLAUDE_THINKING_DISABLED,
    rows::CLAUDE_FORMAT,
    rows::CLAUDE_EFFORT,
    rows::CLAUDE_TEMPERATURE_WHILE_THINKING,
    rows::CLAUDE_SEARCHES,
    rows::CLAUDE_SYSTEM,
    rows::SONNET_5_SYSTEM,
    rows::CLAUDE_4_5_LIMIT,
    rows::CLAUDE_4_6_LIMIT,
    rows::CLAUDE_3_5_LIMIT,
    rows::CLAUDE_3_LIMIT,
    formats::CLAUDE_MODELS,
    formats::PREFILL,
    formats::CLAUDE_PREFILL,
];

pub(crate) const BEDROCK: &[RequestFact] = &[
    CONVERSE_PAIRS,
    rows::CONVERSE_IDS,
    rows::CONVERSE_EMPTY_TEXT,
    rows::CONVERSE_TOOLS,
    rows::BEDROCK_CHAT_TOOLS,
    rows::CONVERSE_NONE,
];

pub(crate) const BEDROCK_ANTHROPIC: &[RequestFact] = &[
    FORCED_BY_MODEL,
    FORCED_WHILE_OPUS_4_6_THINKS,
    FORCED_WHILE_CLAUDE_THINKS,
    ANTHROPIC_PAIRS,
    CONVERSE_PAIRS,
    rows::CONVERSE_IDS,
    rows::CONVERSE_EMPTY_TEXT,
    rows::CONVERSE_TOOLS,
    rows::BEDROCK_CHAT_TOOLS,
    rows::CONVERSE_NONE,
    formats::CLAUDE_MODELS,
    formats::PREFILL,
    formats::CLAUDE_PREFILL,
];

const DEEPSEEK_SOURCE: &str =
    "live: `Thinking mode does not support this tool_choice` (rig, two recordings of 2026-08-22; DeepSeek-V3#1376, \
    litellm#37470, opencode-mem#253, freelens#122; confidence A)";

/// DeepSeek's own API.
pub(crate) const DEEPSEEK: &[RequestFact] = &[
    RequestFact::while_thinking(Models::Contain(&["reasoner"]), Thinks::Always, DEEPSEEK_SOURCE),
    RequestFact {
        statement: "DeepSeek V4 thinks unless `thinking.type` is `disabled`; the tool choice must not force a call \
            then",
        ..RequestFact::while_thinking(
            Models::Begin(&["deepseek-v4", "deepseek-flash"]),
            Thinks::ByDefault,
            DEEPSEEK_SOURCE,
        )
    },
    RequestFact::while_thinking(Models::All, Thinks::IfAsked, DEEPSEEK_SOURCE),
    RequestFact {
        source: "live: `An assistant message with 'tool_calls' must be followed by tool messages responding to each \
            'tool_call_id'.` (TuriX-CUA#15, dify#32222, gptme#3421)",
        ..CHAT_PAIRS
    },
    RequestFact {
        refuses: Refusal::ToolTypes {
            apis: &[Api::OpenaiResponses],
            accepts: &["web_search", "tool_search", "namespace", CUSTOM],
        },
        statement: "Responses ignores hosted tools other than `web_search`",
        severity: Severity::Ignored,
        source: "DeepSeek's documentation, quoted: `mcp` and other built-in tools are ignored (cc-switch#6653, \
            kelivo#906, one-api#403). `web_search` worked (hermes-agent#80480), and was ignored on 2026-09-13 \
            (kelivo#1030). Namespaces and searches work according to codex#44710 and OmniRoute#10195; searches do not \
            according to cc-switch#6653",
        ..NO_TOOLS
    },
    RequestFact {
        refuses: Refusal::ToolTypes { apis: &[Api::OpenaiChat], accepts: &[] },
        statement: "DeepSeek's Chat Completions accepts only functions",
        source: "live: ``tools[7].type: unknown variant `namespace`, expected `function` `` (litellm#30722)",
        ..NO_TOOLS
    },
    rows::DEEPSEEK_REASONING,
    rows::DEEPSEEK_EMPTY_TOOLS,
    rows::ALLOWED_TOOLS,
    formats::DEEPSEEK_SCHEMA,
    formats::DEEPSEEK_WORD,
];

const MOONSHOT_SOURCE: &str =
    "live: `tool_choice 'required' is incompatible with thinking enabled`, `tool_choice 'specified' is \
    incompatible …` (inspect_ai#5152, big-AGI#1161, oh-my-pi#1077, sim#5716; confidence A); K3 accepts `required`";

/// Moonshot's own API.
pub(crate) const MOONSHOT: &[RequestFact] = &[
    RequestFact {
        refuses: Refusal::ChoiceWhileThinking {
            models: Models::Begin(&["kimi-k3"]),
            thinks: Thinks::IfAsked,
            required: true,
        },
        statement: "the tool choice must not name a tool while Kimi K3 thinks",
        ..RequestFact::while_thinking(Models::All, Thinks::IfAsked, MOONSHOT_SOURCE)
    },
    RequestFact::while_thinking(Models::Contain(&["thinking"]), Thinks::Always, MOONSHOT_SOURCE),
    RequestFact {
        statement: "Kimi K2.5, K2.6 and K2.7 think unless `thinking.type` is `disabled`; the tool choice must not \
            force a call then",
        ..RequestFact::while_thinking(
            Models::Begin(&["kimi-k2.5", "kimi-k2.6", "kimi-k2.7"]),
            Thinks::ByDefault,
            MOONSHOT_SOURCE,
        )
    },
    RequestFact::while_thinking(Models::All, Thinks::IfAsked, MOONSHOT_SOURCE),
    RequestFact {
        source: "live, kimi-k2.6: `The following tool_call_ids did not have response messages` (kimi-cli#1977, \
            kimi-cli#2405)",
        ..CHAT_PAIRS
    },
    rows::MOONSHOT_REASONING,
    rows::ALLOWED_TOOLS,
];

/// Backends whose API is not known, and Alibaba's DashScope.
pub(crate) const PORTABLE: &[RequestFact] = &[
    RequestFact::while_thinking(
        Models::All,
        Thinks::IfEnabled,
        "live, DashScope: `The tool_choice parameter does not support being set to required or object in thinking \
            mode` (38 recorded requests; eino#994; confidence A)",
    ),
    METADATA,
    rows::PORTABLE_EMPTY_TOOLS,
    rows::EAGER_INPUT,
    rows::INPUT_EXAMPLES,
    rows::ALLOWED_CALLERS,
    rows::MINIMAX_THINKING,
];

/// OpenAI's models at any host, because gateways forward the member. Restricted by model, because other models may
/// accept it.
const METADATA: RequestFact = Rule::of_chat(&["metadata"])
    .of(Models::Begin(&["gpt-3", "gpt-4", "gpt-5", "o1", "o3", "o4"]))
    .when(&[When::Unless(&["store"], "true")])
    .fact(
        Grade::A,
        "`metadata` needs `store: true`",
        "live: `The 'metadata' parameter is only allowed when 'store' is enabled.` (qwen-code#243, langchaingo#1484; \
            through gateways litellm#23108, axonhub#1380)",
    );

/// Every backend with a Responses API, except OpenAI's and Azure's.
pub(crate) const CUSTOM_TOOLS: RequestFact = RequestFact {
    refuses: Refusal::ToolKind,
    statement: "only OpenAI's and Azure's Responses have `custom` tools",
    confidence: Grade::A,
    source: "live: `only function tools are accepted` (vm0#28274, sub2api#5659, unsloth#9121, copilot-api#117, \
        codex#16397)",
    severity: Severity::Refused,
    checked: DAY,
};

/// Every API for which the tools of namespaces are written directly into the tool list.
pub(crate) const NAMESPACES: RequestFact = RequestFact {
    refuses: Refusal::Namespaces,
    statement: "the tools of namespaces are in the tool list itself",
    confidence: Grade::B,
    source: "live: backends refuse `type: \"namespace\"` (coder#28656); OpenAI and DeepSeek accept it (codex#44710, \
            #44729)",
    severity: Severity::Refused,
    checked: DAY,
};

/// Every API.
pub(crate) const EMPTY_NAMESPACE: RequestFact = RequestFact {
    refuses: Refusal::EmptyNamespace,
    statement: "a namespace has tools",
    confidence: Grade::C,
    source: "a list of tools has no place for a namespace without tools (confidence C)",
    severity: Severity::Refused,
    checked: DAY,
};

const WITHOUT_TOOLS: RequestFact = RequestFact {
    refuses: Refusal::ChoiceWithoutTools { accepts_none: false, is_of_parallel_calls: false, accepts_auto: &[] },
    statement: "`tool_choice` needs `tools`",
    confidence: Grade::A,
    source: "",
    severity: Severity::Refused,
    checked: DAY,
};

/// Applies to every API: a list that loses all tools also loses the choice.
pub(crate) const EMPTIED_LIST: RequestFact = RequestFact {
    statement: "a tool choice needs `tools`",
    confidence: Grade::C,
    source: "OpenAI, xAI and vLLM refuse a tool choice without tools; no answer of the others is known (confidence C)",
    ..WITHOUT_TOOLS
};

pub(crate) const OPENAI: &[RequestFact] = &[
    RequestFact {
        refuses: Refusal::ChoiceWithoutTools {
            accepts_none: false,
            is_of_parallel_calls: true,
            accepts_auto: &[Api::OpenaiResponses],
        },
        statement: "`tool_choice` and `parallel_tool_calls` need `tools`, except for `auto` in Responses",
        source: "live: `'tool_choice' is only allowed when 'tools' are specified.` (opencode#48857, openclaw#44229, \
        Gym#1925; confidence A), in Chat Completions; Codex 0.171.0 compacts with `auto` and without tools",
        ..WITHOUT_TOOLS
    },
    RequestFact {
        source: "live: `Tool choice '<name>' not found in 'tools' parameter.` (pydantic-ai 2.68)",
        ..ABSENT_TOOL
    },
    OPENAI_PAIRS,
    RequestFact {
        statement: "models for deep research accept only hosted tools",
        source: "live: `Deep research models only support the 'web_search_preview', 'code_interpreter', 'mcp', and \
            'file_search' tools.` (12 recorded requests of 2025-10-14)",
        refuses: Refusal::ModelWithoutTools { models: Models::Contain(&["deep-research"]), accepts_hosted: true },
        ..NO_TOOLS
    },
    RequestFact {
        refuses: Refusal::NoParameters(Models::Contain(&["minimax"])),
        statement: "MiniMax's own API refuses a function without `parameters`",
        source: "live: `invalid params, function parameters is empty (2013)` without `parameters`, 200 with \
            `{\"type\":\"object\",\"properties\":{}}` (MiniMax-M2.1, M2.5, M2.7; qwen-code#11834, 2026-09-14)",
        confidence: Grade::A,
        severity: Severity::Refused,
        checked: "2026-11-29",
    },
    Rule::of_chat(&["max_tokens"])
        .of(Models::Begin(&["o1", "o3", "o4-", "gpt-5", "gpt-6"]))
        .renamed_to("max_completion_tokens")
        .fact(
            Grade::A,
            "reasoning models accept `max_completion_tokens` instead of `max_tokens`",
            "live: `Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' \
                instead.` (gollm#33, ESPHomeDesigner#379, ComfyUI-Griptape#312, overleaf-copilot#43)",
        ),
    Rule::of_chat(&["parallel_tool_calls"]).of(Models::Begin(&["o1", "o3", "o4-mini"])).fact(
        Grade::A,
        "o1, o3, o3-mini and o4-mini do not accept `parallel_tool_calls`",
        "live: `Unsupported parameter: 'parallel_tool_calls' is not supported with this model.` (o1: langchain#29416; \
            o3-mini: semantic-kernel#10365; o4-mini: tensorzero#2805, fast-agent#279; o3: defog#171)",
    ),
    METADATA,
    rows::RESPONSES_IDS,
    rows::CALL_ITEM_IDS,
    rows::MESSAGE_ITEM_IDS,
    rows::REASONING_ITEM_IDS,
    rows::REASONING_STATUS,
    rows::CHAT_UNIQUE_IDS,
    rows::CHAT_EMPTY_CALLS,
    rows::CHAT_EMPTY_TOOLS,
    Rule::of_chat(&["verbosity"])
        .of(Models::Begin(&["gpt-4o", "gpt-4.1"]))
        .when(&[When::Unless(&["verbosity"], "\"medium\"")])
        .fact(
            Grade::A,
            "gpt-4o and gpt-4.1 accept only the `verbosity` `medium`",
            "live: `Unsupported value: 'verbosity' does not support 'low' with this model. Supported values are: \
            'medium'.` (concordia#164, Roo-Code#7054)",
        ),
    formats::OPENAI_WORD,
    formats::OPENAI_NAME,
    formats::UPDATES,
];

pub(crate) const XAI: &[RequestFact] = &[
    RequestFact {
        source:
            "live: `A tool_choice was set on the request but no tools were specified.` (litellm#25477, grok2api#1043, \
        sub2api#4439; confidence A)",
        ..WITHOUT_TOOLS
    },
    RequestFact {
        source: "live: `Required function is not present in the provided tools.` (11 recorded requests of 2025-10-15)",
        ..ABSENT_TOOL
    },
    RequestFact {
        refuses: Refusal::ToolTypes {
            apis: &[Api::OpenaiResponses],
            accepts: &[
                "web_search",
                "x_search",
                "code_interpreter",
                "code_execution",
                "file_search",
                "collections_search",
                "mcp",
                "live_search",
                CUSTOM,
            ],
        },
        statement: "hosted tools are `web_search`, `x_search`, `code_interpreter` (`code_execution`), `file_search` \
            (`collections_search`), `live_search` and `mcp`",
        source: "xAI's pages of server-side tools (dive#170, TanStack/ai#812); live, cli-chat-proxy.grok.com: HTTP \
            422 for `web_search_preview` (sub2api#5160)",
        ..NO_TOOLS
    },
    RequestFact {
        refuses: Refusal::ToolTypes { apis: &[Api::OpenaiChat], accepts: &["live_search"] },
        statement: "Chat Completions accepts functions and `live_search`",
        source: "live: ``tools[55].type: unknown variant `x_search`, expected `function` or `live_search` `` \
            (cindy#2927)",
        ..NO_TOOLS
    },
    XAI_EFFORT.of(XAI_NO_EFFORT_TAGGED).fact(Grade::A, XAI_EFFORT_STATEMENT, XAI_EFFORT_SOURCE),
    XAI_EFFORT.of(XAI_NO_EFFORT).fact(Grade::A, XAI_EFFORT_STATEMENT, XAI_EFFORT_SOURCE),
    rows::ALLOWED_TOOLS,
    rows::XAI_RESPONSES_EFFORT.of(XAI_NO_EFFORT_TAGGED).fact(Grade::A, XAI_EFFORT_STATEMENT, XAI_EFFORT_SOURCE),
    rows::XAI_RESPONSES_EFFORT.of(XAI_NO_EFFORT).fact(Grade::A, XAI_EFFORT_STATEMENT, XAI_EFFORT_SOURCE),
    rows::XAI_PENALTY,
];

const XAI_NO_EFFORT_TAGGED: Models = Models::Tagged(&["grok-3", "grok-4"]);
const XAI_NO_EFFORT: Models =
    Models::Begin(&["grok-4-0709", "grok-4-fast", "grok-4-1-fast", "grok-4.20-0309", "grok-code-fast-1"]);
const XAI_EFFORT: Rule = Rule::of_chat(&["reasoning_effort"]);
const XAI_EFFORT_STATEMENT: &str =
    "Grok 3, Grok 4, their fast variants and grok-code-fast-1 do not accept `reasoning_effort`";
const XAI_EFFORT_SOURCE: &str = "live: `Model grok-4.20-reasoning does not support parameter reasoningEffort.` \
    (hermes-agent#23435 with a matrix of models, grok2api#814, copilot-cli#2932)";

pub(crate) const VLLM: &[RequestFact] = &[
    RequestFact {
        refuses: Refusal::ChoiceWithoutTools {
            accepts_none: true,
            is_of_parallel_calls: false,
            accepts_auto: &[Api::OpenaiResponses],
        },
        statement: "`tool_choice` needs `tools`, unless it is `none`",
        source: "vLLM's own check of requests: ``When using `tool_choice`, `tools` must be set.`` (vllm#21052; \
            confidence A)",
        ..WITHOUT_TOOLS
    },
    RequestFact {
        refuses: Refusal::ToolTypes {
            apis: OPENAI_FORMATS,
            accepts: &["web_search", "web_search_preview", "code_interpreter", "mcp", CUSTOM],
        },
        statement: "hosted tools are `web_search`, `web_search_preview`, `code_interpreter` and `mcp`, in Responses",
        confidence: Grade::C,
        source: "vLLM has these for gpt-oss and none for other types (praxis-proxy/ai#636, vllm#28261); a server \
            rejects or ignores the rest (bifrost#7094; confidence C)",
        ..NO_TOOLS
    },
];

pub(crate) const LLAMA_CPP: &[RequestFact] = &[
    RequestFact {
        refuses: Refusal::ToolTypes { apis: &[Api::OpenaiResponses], accepts: &[CUSTOM] },
        statement: "Responses skips tools that are not functions, and older builds refuse them",
        severity: Severity::Ignored,
        source: "live: `unsupported Responses tool type 'web_search' skipped` (llama.cpp#23465); older builds: \
            `'type' of tool must be 'function'` (llama.cpp#20156, llama.cpp#22389, codex#10635)",
        ..NO_TOOLS
    },
    RequestFact {
        refuses: Refusal::ToolTypes { apis: &[Api::OpenaiChat], accepts: &[] },
        statement: "llama.cpp's Chat Completions accepts only functions",
        confidence: Grade::A,
        source: "llama.cpp, `common_chat_tools_parse_oaicompat`: `Unsupported tool type`",
        ..NO_TOOLS
    },
];

const ABSENT_TOOL: RequestFact = RequestFact {
    refuses: Refusal::ChoiceOfAbsentTool,
    statement: "the tool choice names a tool of the request",
    confidence: Grade::B,
    source: "",
    severity: Severity::Refused,
    checked: DAY,
};

const NO_TOOLS: RequestFact = RequestFact {
    refuses: Refusal::ModelWithoutTools { models: Models::All, accepts_hosted: false },
    statement: "some models do not accept tools",
    confidence: Grade::B,
    source: "",
    severity: Severity::Refused,
    checked: DAY,
};

pub(crate) const MISTRAL: &[RequestFact] = &[
    RequestFact {
        refuses: Refusal::ToolTypes { apis: EVERY_FORMAT, accepts: &[] },
        statement: "Chat Completions accepts only functions",
        source: "live: `Input should be 'function'` for `web_search` (26 recorded requests)",
        ..NO_TOOLS
    },
    RequestFact {
        statement: "the history has as many results as calls",
        source: "live: `Not the same number of function calls and responses` (mistralai/client-ts#106, camel#1467)",
        ..CHAT_PAIRS
    },
    Rule::of_chat(&["max_completion_tokens"]).renamed_to("max_tokens").fact(
        Grade::A,
        "Mistral accepts `max_tokens` instead of `max_completion_tokens`",
        "live: `extra_forbidden`, `[\"body\",\"max_completion_tokens\"]`, `Extra inputs are not permitted` (eca#231, \
            eca#315, openclaude#739)",
    ),
    Rule::of_chat(&["store"]).fact(
        Grade::B,
        "Mistral does not accept `store`",
        "live: `extra_forbidden`, `[\"body\",\"store\"]` (openclaude#739, its fix #1047)",
    ),
    Rule::of_chat(&["thinking"]).fact(
        Grade::B,
        "Mistral does not accept `thinking`",
        "live: `Extra inputs are not permitted` for `{\"type\":\"disabled\"}` (jcode#261)",
    ),
    rows::MISTRAL_IDS,
    rows::MISTRAL_SEED,
    rows::MISTRAL_USER,
    rows::MISTRAL_LOGIT_BIAS,
    rows::MISTRAL_VERBOSITY,
    rows::MISTRAL_REASONING,
    rows::MISTRAL_OTHER_REASONING,
    rows::MISTRAL_REFUSAL,
    rows::MISTRAL_FUNCTION_CALL,
    rows::MISTRAL_NAME,
    rows::MISTRAL_DEVELOPER,
    rows::MISTRAL_TURNS,
    rows::ALLOWED_TOOLS,
];

const GROQ_TYPES: RequestFact = RequestFact {
    refuses: Refusal::ToolTypes { apis: EVERY_FORMAT, accepts: &["mcp", "browser_search", "code_interpreter"] },
    statement: "hosted tools are `mcp`, and for some models `browser_search` and `code_interpreter`",
    source:
        "live: `tools[0].type must be one of [function, mcp]` (49 recorded requests); Groq documents the other two \
        for gpt-oss",
    ..NO_TOOLS
};

pub(crate) const GROQ: &[RequestFact] = &[
    GROQ_TYPES,
    RequestFact {
        refuses: Refusal::ModelWithoutTools { models: Models::Contain(&["llama-guard"]), accepts_hosted: false },
        statement: "Llama Guard does not accept tools",
        source: "live: `` `tool calling` is not supported with this model `` (10 recorded requests of 2025-10-03)",
        ..NO_TOOLS
    },
    Rule::of_chat(&["prompt_cache_key"]).fact(
        Grade::A,
        "Groq does not accept `prompt_cache_key`",
        "live: `property 'prompt_cache_key' is unsupported` (eigent#1827, picoclaw#956)",
    ),
    Rule::of_chat(&["store"]).fact(
        Grade::B,
        "Groq does not accept `store`",
        "live: `property 'store' is unsupported, did you mean 'stop'?` (chatbot#21; livekit-agents#1276)",
    ),
    Rule::of_chat(&["reasoning"]).with_fix(EFFORT).fact(
        Grade::B,
        "Groq has `reasoning_effort`, not `reasoning`",
        "live: `property 'reasoning' is unsupported` (llms#64)",
    ),
    Rule::of_chat(&["verbosity"]).fact(
        Grade::B,
        "Groq does not accept `verbosity`",
        "live: `property 'verbosity' is unsupported` (cherry-studio#11435)",
    ),
    Rule::of_chat(&["metadata"]).of(Models::Begin(&["gpt-oss"])).fact(
        Grade::B,
        "gpt-oss at Groq does not accept `metadata`",
        "live: `` `metadata` is not supported with this model `` (hass_local_openai_llm#59)",
    ),
    formats::GROQ_TOOLS,
    rows::GROQ_REASONING,
    rows::ALLOWED_TOOLS,
];

pub(crate) const CEREBRAS: &[RequestFact] = &[
    RequestFact {
        refuses: Refusal::ChoiceByModel { models: Models::Begin(&["gpt-oss"]), is_any: false },
        statement: "gpt-oss accepts only the choices `auto` and `none`",
        source: "live: `Unsupported tool_choice: required. Expected 'auto' or 'none'.` (4 recorded requests)",
        ..NO_TOOLS
    },
    Rule::of_chat(&["thinking"]).fact(
        Grade::A,
        "Cerebras does not accept `thinking`",
        "live: `body.thinking: property 'body.thinking' is unsupported` (opencode#6648, cherry-studio#11191)",
    ),
    Rule::of_chat(&["store"]).fact(
        Grade::B,
        "Cerebras does not accept `store`",
        "live: `body.store: property 'body.store' is unsupported` (openclaude#740; livekit-agents#1276)",
    ),
    Rule::of_chat(&["metadata"]).fact(
        Grade::B,
        "Cerebras does not accept `metadata`",
        "live: `metadata: property 'metadata' is unsupported` (livekit-agents#1274)",
    ),
    Rule::of_chat(&["reasoning"]).with_fix(EFFORT).fact(
        Grade::B,
        "Cerebras has `reasoning_effort`, not `reasoning`",
        "live: `property 'reasoning' is unsupported` (Empryo#209)",
    ),
    Rule::of_chat(&["enable_thinking"]).fact(
        Grade::B,
        "Cerebras does not accept `enable_thinking`",
        "live: `property 'enable_thinking' is unsupported` (Empryo#209)",
    ),
    rows::CEREBRAS_REASONING,
    rows::ALLOWED_TOOLS,
];

pub(crate) const COHERE: &[RequestFact] = &[
    RequestFact {
        refuses: Refusal::ChoiceByModel { models: Models::Contain(&["aya"]), is_any: true },
        statement: "Aya does not accept `tool_choice`",
        source: "live: `tool_choice is not supported for this model` (12 recorded requests)",
        ..NO_TOOLS
    },
    RequestFact {
        refuses: Refusal::ModelWithoutTools { models: Models::Begin(&["command-light"]), accepts_hosted: false },
        statement: "`command-light` does not accept tools",
        source: "live: `tool use is not supported by the provided model: command-light.` (4 recorded requests)",
        ..NO_TOOLS
    },
    formats::COHERE_TOOLS,
];

/// The answers of the Messages APIs of Moonshot and DeepSeek are known only from another gateway's table.
pub(crate) const FIREWORKS: &[RequestFact] = &[RequestFact {
    refuses: Refusal::ToolTypes { apis: &[Api::Anthropic], accepts: &[] },
    statement: "Messages has no tools that Anthropic runs",
    source:
        "live, Fireworks: `Input should be 'function', 'web_search_preview' or 'code_interpreter'` for a hosted tool \
        of Claude Code (shelley#242)",
    ..NO_TOOLS
}];

pub(crate) const OLLAMA: &[RequestFact] = &[
    RequestFact {
        refuses: Refusal::ModelWithoutTools { models: Models::Tagged(&["gemma3"]), accepts_hosted: false },
        statement: "Gemma 3 does not accept tools, because its template has no place for them",
        source: "live: `registry.ollama.ai/library/gemma3:1b does not support tools` (34 recorded requests of \
            2025-08-17)",
        ..NO_TOOLS
    },
    RequestFact {
        refuses: Refusal::ToolTypes { apis: OPENAI_FORMATS, accepts: &["web_search", "tool_search", CUSTOM] },
        statement: "the only hosted tool is `web_search`",
        confidence: Grade::C,
        source: "Ollama added `web_search`, by that exact name (ollama#17686), and the client's `tool_search` \
            (ollama#18223) to Responses; its answer to other types was not seen (confidence C)",
        ..NO_TOOLS
    },
    rows::ALLOWED_TOOLS,
];

const GEMINI_IMAGES: RequestFact = RequestFact {
    refuses: Refusal::ModelWithoutTools { models: Models::Contain(&["image-generation"]), accepts_hosted: false },
    statement: "image generation models do not accept tools",
    source: "live: `Function calling is not enabled for models/gemini-2.0-flash-preview-image-generation` (6 recorded \
        requests)",
    ..NO_TOOLS
};

/// Gemini Interactions, which supports `store` and similar members.
pub(crate) const GEMINI_INTERACTIONS: &[RequestFact] = &[GEMINI_IMAGES];

/// Vertex: `generateContent`.
pub(crate) const VERTEX: &[RequestFact] = &[
    GEMINI_PAIRS,
    RequestFact {
        source: "live: `Multiple tools are supported only when they are all search tools` (litellm#26682, \
            litellm#26882, dotnet-genai#248)",
        ..GOOGLE_TOOLS
    },
    CACHED_CONTENT,
    rows::GEMINI_SIGNATURE,
    rows::GEMINI_RESULT,
    rows::GEMINI_SNAKE_RESULT,
    rows::GEMINI_ALLOWED,
    rows::GEMINI_CHOICE,
];

/// Gemini: `generateContent` and the OpenAI-compatible Chat Completions.
pub(crate) const GEMINI: &[RequestFact] = &[
    GEMINI_PAIRS,
    GEMINI_IMAGES,
    Rule::of_chat(&["store"]).fact(
        Grade::A,
        "Gemini's Chat Completions does not accept `store`",
        "live: `Invalid JSON payload received. Unknown name \"store\": Cannot find field.` (openhanako#394, \
            routstr-core#505, agents#45)",
    ),
    Rule::of_chat(&["metadata"]).fact(
        Grade::B,
        "Gemini's Chat Completions does not accept `metadata`",
        "live: `Unknown name \"metadata\": Cannot find field.` (agents#45)",
    ),
    Rule::of_chat(&["prompt_cache_key"]).fact(
        Grade::B,
        "Gemini's Chat Completions does not accept `prompt_cache_key`",
        "live: `Unknown name \"prompt_cache_key\": Cannot find field.` (cursor-byok#112)",
    ),
    formats::GEMINI_TOOLS,
    formats::GEMINI_HOSTED,
    formats::GEMINI_MAPS,
    GOOGLE_TOOLS,
    RequestFact {
        refuses: Refusal::FunctionsBesideHosted {
            api: Api::Gemini,
            models: Models::Contain(&["gemini-3"]),
            hosted: GOOGLE_HOSTED,
            unless: Some((GOOGLE_CONFIG, "includeServerSideToolInvocations")),
        },
        statement: "Gemini 3 accepts functions together with Google's own tools if the request has \
            `includeServerSideToolInvocations`",
        source: "live: `Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with \
            Function calling.` (eino-ext#761, Open-WebUI-Functions#159)",
        ..GOOGLE_TOOLS
    },
    CACHED_CONTENT,
    rows::GEMINI_SIGNATURE,
    rows::GEMINI_RESULT,
    rows::GEMINI_SNAKE_RESULT,
    rows::GEMINI_ALLOWED,
    rows::GEMINI_CHOICE,
    rows::GEMINI_PENALTY,
];

/// Members that identify entries of the list as tools that Google runs. `computerUse` is not included, because the
/// client receives its calls.
const GOOGLE_HOSTED: &[&str] =
    &["googleSearch", "googleSearchRetrieval", "urlContext", "codeExecution", "googleMaps", "fileSearch"];

const GOOGLE_CONFIG: &[&str] = &["toolConfig", "tool_config"];

const GOOGLE_TOOLS: RequestFact = RequestFact {
    refuses: Refusal::FunctionsBesideHosted {
        api: Api::Gemini,
        models: Models::Contain(&["gemini-1", "gemini-2"]),
        hosted: GOOGLE_HOSTED,
        unless: None,
    },
    statement: "Gemini does not accept functions together with Google's own tools before Gemini 3",
    confidence: Grade::A,
    severity: Severity::Refused,
    source: "live: `Tool use with function calling is unsupported` (go-genai#323, lobehub#7463, js-genai#435, \
        celeste-python#197)",
    checked: DAY,
};

/// A cache already contains a system prompt, tools and their configuration.
const CACHED_CONTENT: RequestFact = RequestFact {
    refuses: Refusal::BesideCache {
        api: Api::Gemini,
        cache: &["cachedContent", "cached_content"],
        members: &[
            ("tools", "/tools"),
            ("toolConfig", "/toolConfig"),
            ("tool_config", "/tool_config"),
            ("systemInstruction", "/systemInstruction"),
            ("system_instruction", "/system_instruction"),
        ],
    },
    statement: "`cachedContent` does not allow a system prompt, tools or `toolConfig`",
    source: "live: `CachedContent can not be used with GenerateContent request setting system_instruction, tools or \
        tool_config.` (litellm#17304, vercel/ai#3333, langchain-google#978), on Vertex `Tool config, tools and system \
        instruction should not be set in the request when using cached content.` (instructor#2580, python-genai#348)",
    ..GOOGLE_TOOLS
};
