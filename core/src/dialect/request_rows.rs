//! Facts about values in requests: ids, members, choices and the order of histories. `requests` gives them to the
//! dialects.

use super::{
    models::Models,
    name_rules::NamePattern,
    request_fact::RequestFact,
    rule::{BetaLocation, Fix, Location, Messages, Parts, Refused, Rule, When},
};
use crate::{options::Api, report::Grade, report::Severity, wire::turns::Speaker};

const CHAT: &[Api] = &[Api::OpenaiChat];
const MESSAGES: &[Api] = &[Api::Anthropic];
const CONVERSE: &[Api] = &[Api::Bedrock];
const RESPONSES: &[Api] = &[Api::OpenaiResponses];
const GOOGLE: &[Api] = &[Api::Gemini, Api::GeminiJsonSchema];

const MODEL: Messages = Messages::By(Speaker::Model);

// Ids of calls.

pub(super) const MISTRAL_IDS: RequestFact =
    Rule::call_ids(CHAT, NamePattern { also: Some(""), min_length: 9, max_length: 9, ..NamePattern::ANY })
        .of(Models::Contain(&["mistral-large", "voxtral-small"]))
        .fact(
            Grade::B,
            "the id of a call has nine letters and digits",
            "live, Mistral Large: `Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9` (gptel#1203, \
        ironclaw#1241); the same check in the templates of self-hosted models (pydantic-ai 2.68)",
        );

pub(super) const CLAUDE_IDS: RequestFact = Rule::call_ids(MESSAGES, NamePattern::ANTHROPIC_ID).fact(
    Grade::A,
    "the id of a call has only letters, digits, `_` and `-`",
    "live: `tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'` (vscode#327597, bifrost#5097 and five more)",
);

pub(super) const CLAUDE_UNIQUE_IDS: RequestFact = Rule::unique_call_ids(MESSAGES, Refused::Repeated).fact(
    Grade::A,
    "the ids of calls differ",
    "live: `` `tool_use` ids must be unique `` (claude-code#20700, claude-code#20901, claude-code#28515, \
        opencode#1279, cua#524)",
);

pub(super) const CHAT_UNIQUE_IDS: RequestFact = Rule::unique_call_ids(CHAT, Refused::RepeatedInMessage).fact(
    Grade::B,
    "the ids of calls in one message differ",
    "live: `Invalid parameter: Duplicate value for 'tool_call_id'` (agno#5116)",
);

pub(super) const RESPONSES_IDS: RequestFact = Rule::call_ids(
    RESPONSES,
    NamePattern { max_length: 64, ..NamePattern::ANY },
)
.fact(
    Grade::A,
    "the id of a call has at most 64 characters",
    "live: `Invalid 'input[346].call_id': string too long. Expected a string with maximum length 64` (9router#393, \
        Aether#829, fastllm#45)",
);

pub(super) const CONVERSE_IDS: RequestFact =
    Rule::call_ids(CONVERSE, NamePattern { also: Some("_.:-"), max_length: 64, ..NamePattern::ANY }).fact(
        Grade::A,
        "the id of a call has 1 to 64 letters, digits, `_`, `.`, `:` and `-`",
        "live: `Member must satisfy regular expression pattern: [a-zA-Z0-9_.:-]+` (maki#38); botocore 1.44; \
        llama_index#22775",
    );

const ITEM_IDS: &str =
    "live: `Invalid 'input[N].id': 'call_…'. Expected an ID that begins with 'fc'.` (nodetool#4252, \
    WaLiAPI#129); all 48 recorded ids have the prefix of their type";

pub(super) const CALL_ITEM_IDS: RequestFact =
    Rule::item_id("function_call", "fc").fact(Grade::B, "the id of a `function_call` begins with `fc`", ITEM_IDS);
pub(super) const MESSAGE_ITEM_IDS: RequestFact =
    Rule::item_id("message", "msg").fact(Grade::B, "the id of a `message` begins with `msg`", ITEM_IDS);
pub(super) const REASONING_ITEM_IDS: RequestFact =
    Rule::item_id("reasoning", "rs").fact(Grade::B, "the id of `reasoning` begins with `rs`", ITEM_IDS);

// Members of requests.

const MISTRAL_TYPES: &str = "no member of Mistral's types (mistralai 3.7.0); live for others: `extra_forbidden`, \
    `Extra inputs are not permitted` (openclaude#739)";

pub(super) const MISTRAL_SEED: RequestFact = Rule::of_chat(&["seed"]).renamed_to("random_seed").fact(
    Grade::B,
    "Mistral has `random_seed` instead of `seed`",
    "live: `extra_forbidden`; mistralai 3.7.0 and LiteLLM 1.110 have `random_seed`",
);
pub(super) const MISTRAL_USER: RequestFact =
    Rule::of_chat(&["user"]).fact(Grade::B, "Mistral does not accept `user`", MISTRAL_TYPES);
pub(super) const MISTRAL_LOGIT_BIAS: RequestFact =
    Rule::of_chat(&["logit_bias"]).fact(Grade::B, "Mistral does not accept `logit_bias`", MISTRAL_TYPES);
pub(super) const MISTRAL_VERBOSITY: RequestFact =
    Rule::of_chat(&["verbosity"]).fact(Grade::B, "Mistral does not accept `verbosity`", MISTRAL_TYPES);

/// Claude's models that sample with settings of their own.
const WITHOUT_SAMPLING: Models = Models::Versions(&[
    "opus-4-7",
    "opus-4-8",
    "opus-5",
    "opus-5-5",
    "sonnet-5",
    "sonnet-5-5",
    "fable-5",
    "fable-5-1",
    "fable-5-2",
    "mythos-5",
    "mythos-5-1",
    "mythos-5-2",
    "haiku-5-5",
]);
const SAMPLING: &str = "live: `` `temperature` is deprecated for this model. `` (pi#7961, for Sonnet 5 and Opus 5); \
    pydantic-ai 2.68 has the same list for `top_p` and `top_k`";

pub(super) const CLAUDE_TEMPERATURE: RequestFact = Rule::member(MESSAGES, &["temperature"])
    .of(WITHOUT_SAMPLING)
    .when(&[When::Unless(&["temperature"], "1")])
    .fact(Grade::B, "Opus 4.7 and later, Sonnet 5, Fable and Mythos do not accept `temperature`", SAMPLING);
pub(super) const CLAUDE_TOP_P: RequestFact = Rule::member(MESSAGES, &["top_p"]).of(WITHOUT_SAMPLING).fact(
    Grade::B,
    "Opus 4.7 and later, Sonnet 5, Fable and Mythos do not accept `top_p`",
    SAMPLING,
);
pub(super) const CLAUDE_TOP_K: RequestFact = Rule::member(MESSAGES, &["top_k"]).of(WITHOUT_SAMPLING).fact(
    Grade::B,
    "Opus 4.7 and later, Sonnet 5, Fable and Mythos do not accept `top_k`",
    SAMPLING,
);

pub(super) const CLAUDE_FORMAT: RequestFact = Rule::member(MESSAGES, &["output_format", "schema"])
    .with_id("missing-member")
    .refusing(Refused::Absent)
    .when(&[When::Has(&["output_format"])])
    .check_only()
    .fact(Grade::A, "`output_format` has a `schema`", "recorded answer: `output_format.schema: Field required`");

pub(super) const XAI_RESPONSES_EFFORT: Rule = Rule::member(RESPONSES, &["reasoning", "effort"]);

pub(super) const CLAUDE_EFFORT: RequestFact = Rule::member(MESSAGES, &["output_config", "effort"])
    .of(Models::Versions(&["haiku-4-5", "sonnet-4-5", "opus-4-1", "opus-4", "sonnet-4"]))
    .fact(
        Grade::B,
        "models before Opus 4.5 and Sonnet 4.6 have no `effort`",
        "live: `This model does not support the effort parameter.` (Bifrost, which quotes the answer; 2026-11)",
    );
pub(super) const CLAUDE_TEMPERATURE_WHILE_THINKING: RequestFact = Rule::member(MESSAGES, &["temperature"])
    .when(&[When::Is(&["thinking", "type"], "\"enabled\""), When::Unless(&["temperature"], "1")])
    .fact(
        Grade::A,
        "`temperature` is 1 while Claude thinks with a budget",
        "recorded answer: `` `temperature` may only be set to 1 when thinking is enabled. `` \
            (claude-sonnet-4-20250514)",
    );
pub(super) const MINIMAX_THINKING: RequestFact = Rule::member(MESSAGES, &["thinking", "type"])
    .with_id("unsupported-value")
    .refusing(Refused::Words(&["enabled"]))
    .of(Models::Contain(&["minimax-m3"]))
    .with_fix(Fix::SetOuter("{\"type\":\"adaptive\"}"))
    .fact(
        Grade::B,
        "MiniMax M3 thinks adaptively, without a budget",
        "live: `invalid thinking.type: \"enabled\" (allowed: adaptive, disabled) (2013)` (pi#6658, cherry-studio)",
    );
pub(super) const GEMINI_PENALTY: RequestFact = Rule::of_chat(&["frequency_penalty"]).fact(
    Grade::B,
    "Gemini's Chat Completions does not accept `frequency_penalty`",
    "live: `Unknown name \"frequency_penalty\": Cannot find field.` (ChatterUI#227, page-assist#418)",
);
pub(super) const XAI_PENALTY: RequestFact =
    Rule::of_chat(&["presence_penalty"]).of(Models::Begin(&["grok-4", "grok-3-beta", "grok-3-mini"])).fact(
        Grade::B,
        "Grok 4 and Grok 3 mini do not accept `presence_penalty`",
        "live: `Model xxx does not support parameter presencePenalty.` (NativeTavern#83, uni-api#105)",
    );
pub(super) const REASONING_STATUS: RequestFact =
    Rule::message(RESPONSES, Messages::Type("reasoning"), &["status"]).refusing(Refused::Null).fact(
        Grade::B,
        "the `status` of reasoning is not null",
        "live: `Unknown parameter: 'input[1].status'.` (openai-python#3008, litellm#13420)",
    );

// Members of messages.

pub(super) const GROQ_REASONING: RequestFact =
    Rule::message(CHAT, MODEL, &["reasoning_content"]).renamed_to("reasoning").fact(
        Grade::A,
        "Groq has `reasoning` in messages, not `reasoning_content`",
        "live: `property 'reasoning_content' is unsupported` (jan#8136); `reasoning` was answered 200 (recorded)",
    );
pub(super) const CEREBRAS_REASONING: RequestFact =
    Rule::message(CHAT, MODEL, &["reasoning_content"]).renamed_to("reasoning").fact(
        Grade::A,
        "Cerebras has `reasoning` in messages, not `reasoning_content`",
        "live: `property 'messages.2.assistant.reasoning_content' is unsupported` (kilocode#10375)",
    );
const MISTRAL_MESSAGES: &str = "live: `extra_forbidden`, `Extra inputs are not permitted` (crush#1590, AstrBot#6065, \
    picoclaw#1502); no member of messages in Mistral's types (mistralai 3.7.0)";
pub(super) const MISTRAL_REASONING: RequestFact = Rule::message(CHAT, MODEL, &["reasoning_content"]).fact(
    Grade::B,
    "Mistral does not accept `reasoning_content` in messages",
    MISTRAL_MESSAGES,
);
pub(super) const MISTRAL_OTHER_REASONING: RequestFact = Rule::message(CHAT, MODEL, &["reasoning"]).fact(
    Grade::B,
    "Mistral does not accept `reasoning` in messages",
    MISTRAL_MESSAGES,
);
pub(super) const MISTRAL_REFUSAL: RequestFact = Rule::message(CHAT, MODEL, &["refusal"]).fact(
    Grade::B,
    "Mistral does not accept `refusal` in messages",
    MISTRAL_MESSAGES,
);
pub(super) const MISTRAL_FUNCTION_CALL: RequestFact = Rule::message(CHAT, MODEL, &["function_call"]).check_only().fact(
    Grade::B,
    "Mistral does not accept `function_call` in messages",
    MISTRAL_MESSAGES,
);
pub(super) const MISTRAL_NAME: RequestFact = Rule::message(CHAT, Messages::By(Speaker::User), &["name"]).fact(
    Grade::B,
    "Mistral does not accept `name` in messages of the user",
    MISTRAL_MESSAGES,
);
pub(super) const MISTRAL_DEVELOPER: RequestFact = Rule::message(CHAT, Messages::Role("developer"), &["role"])
    .with_id("message-role")
    .with_fix(Fix::Set("\"system\""))
    .fact(
        Grade::B,
        "Mistral has the role `system`, not `developer`",
        "the roles of messages in Mistral's types (mistralai 3.7.0); cherry-studio#12325",
    );
pub(super) const DEEPSEEK_REASONING: RequestFact = Rule::message(CHAT, MODEL, &["reasoning_content"])
    .with_id("missing-member")
    .refusing(Refused::Absent)
    .of(Models::Begin(&["deepseek-v4", "deepseek-flash"]))
    .when(&[When::MessageHas("tool_calls"), When::CurrentTurn, When::Unless(&["thinking", "type"], "\"disabled\"")])
    .with_fix(BLANK_REASONING)
    .fact(
        Grade::B,
        "DeepSeek V4 expects the `reasoning_content` of messages with calls back in the same turn",
        "live: `The reasoning_content in the thinking mode must be passed back to the API.` (pi#3636); earlier turns \
            were answered without it (recorded by pydantic-ai); LiteLLM 1.110.2: a blank is the least that the API \
            accepts",
    );
/// A blank in place of reasoning that the client did not keep.
const BLANK_REASONING: Fix = Fix::Insert("reasoning_content", " ");
pub(super) const MOONSHOT_REASONING: RequestFact = Rule::message(CHAT, MODEL, &["reasoning_content"])
    .with_id("missing-member")
    .refusing(Refused::Absent)
    .of(Models::Begin(&["kimi-k2.5", "kimi-k2.6", "kimi-k2.7", "kimi-k2-thinking", "kimi-k3"]))
    .when(&[
        When::MessageHas("tool_calls"),
        When::MessageLacks("reasoning"),
        When::Unless(&["thinking", "type"], "\"disabled\""),
    ])
    .with_fix(BLANK_REASONING)
    .fact(
        Grade::B,
        "Kimi expects the `reasoning_content` of messages with calls back while it thinks",
        "live: `thinking is enabled but reasoning_content is missing in assistant tool call message at index 2` \
            (mastra#12592, openclaw#74846, spacebot#245, continue#11806; K3: oh-my-pi#1078, opencode-kimi-full#11); \
            LiteLLM 1.110.2: a blank is the least that the API accepts",
    );
pub(super) const CHAT_EMPTY_CALLS: RequestFact =
    Rule::message(CHAT, MODEL, &["tool_calls"]).with_id("empty-list").refusing(Refused::Empty).fact(
        Grade::A,
        "`tool_calls` has calls, or is left out",
        "live: `[] is too short - 'messages.1.tool_calls'` (openai-node#1341, home-assistant#118577, \
            openai-python#2061)",
    );

// Members and order of parts.

pub(super) const CLAUDE_CALLER: RequestFact = Rule::part(MESSAGES, Parts::Type("tool_use"), &["caller"])
    // Newer models answered 200 (`claude-haiku-4-5`, `claude-sonnet-4-5`, `claude-opus-4-5`: recordings of langchain).
    .of(Models::Begin(&["claude-sonnet-4-20250514"]))
    .fact(
        Grade::B,
        "Claude Sonnet 4 does not accept `caller` in calls of the history",
        "live: `messages.1.content.1.tool_use.caller: Extra inputs are not permitted` (stagehand-python#249, \
            2025-12-15)",
    );
pub(super) const CLAUDE_CACHED_THINKING: RequestFact =
    Rule::part(MESSAGES, Parts::Type("thinking"), &["cache_control"]).fact(
        Grade::B,
        "thinking has no `cache_control`",
        "live: `thinking.cache_control: Extra inputs are not permitted` (claude-code#55689)",
    );
const EMPTY_TEXT: Rule = Rule::part(MESSAGES, Parts::Text, &["text"])
    .with_id("empty-text")
    .refusing(Refused::Empty)
    .with_fix(Fix::RemovePart);
pub(super) const CLAUDE_EMPTY_TEXT: RequestFact = EMPTY_TEXT.fact(
    Grade::A,
    "text is not empty",
    "live: `text content blocks must be non-empty` (claude-code#59812, hermes#55092)",
);
pub(super) const CLAUDE_BLANK_TEXT: RequestFact = EMPTY_TEXT.refusing(Refused::Blank).when(&[When::OnlyPart]).fact(
    Grade::A,
    "a message does not consist of white space",
    "live: `text content blocks must contain non-whitespace text` (claude-code#23440, claude-code#23197, \
            continue#9605); beside calls it was answered 200 (recorded)",
);
pub(super) const CONVERSE_EMPTY_TEXT: RequestFact = Rule { apis: CONVERSE, ..EMPTY_TEXT }.fact(
    Grade::B,
    "text is not empty",
    "live: `The text field in the ContentBlock object at messages.0.content.0 is blank` (hermes#55092, \
        opencode#48582)",
);
pub(super) const CLAUDE_TEXT_AFTER_CALL: RequestFact = Rule::part(MESSAGES, Parts::Text, &[])
    .with_id("block-order")
    .refusing(Refused::AfterCall)
    .with_fix(Fix::MoveBeforeCalls)
    .fact(
        Grade::A,
        "in a message of the model, text precedes calls",
        "two recorded answers of 2026-05-05: `tool_use` ids were found without `tool_result` blocks immediately after; \
            no recorded request with text after a call was accepted",
    );
pub(super) const CLAUDE_FIRST_CALL: RequestFact = Rule::part(MESSAGES, Parts::Type("tool_use"), &[])
    .with_id("block-order")
    .refusing(Refused::First)
    .when(&[When::Is(&["thinking", "type"], "\"enabled\"")])
    .check_only()
    .fact(
        Grade::B,
        "while thinking is on, the model's last message begins with thinking",
        "live: ``Expected `thinking` or `redacted_thinking`, but found `tool_use`.`` (claude-code#10823, \
            kilocode#5219)",
    );
pub(super) const CLAUDE_SEARCHES: RequestFact = Rule::part(MESSAGES, Parts::Type("server_tool_use"), &[])
    .with_id("search-result")
    // Code that waits for the client's result has none yet (recorded).
    .refusing(Refused::WithoutResult { name: "tool_search", reference: "tool_use_id" })
    .with_fix(Fix::RemovePart)
    .fact(
        Grade::B,
        "a search of the server is followed by its result",
        "live: `was found without a corresponding tool_search_tool_regex_tool_result block` (public report)",
    );
pub(super) const CLAUDE_SYSTEM: RequestFact = Rule::message(MESSAGES, Messages::Role("system"), &["role"])
    .with_id("message-role")
    .of(Models::Versions(&[
        "opus-4",
        "opus-4-0",
        "opus-4-1",
        "opus-4-5",
        "opus-4-6",
        "opus-4-7",
        "sonnet-4",
        "sonnet-4-0",
        "sonnet-4-5",
        "sonnet-4-6",
        "haiku-4-5",
        "3-7-sonnet",
        "3-5-sonnet",
        "3-5-haiku",
        "3-opus",
        "3-sonnet",
        "3-haiku",
    ]))
    .when(&[When::TextOnly])
    .with_fix(Fix::ToUser)
    .fact(
        Grade::A,
        "Claude 4.7 and earlier do not accept the role `system` in `messages`",
        "live: `messages: Unexpected role \"system\"` (claude-code#61412, CLIProxyAPI; Opus 5.5 accepts it: recorded)",
    );
pub(super) const SONNET_5_SYSTEM: RequestFact = RequestFact {
    severity: Severity::Ignored,
    ..Rule::message(MESSAGES, Messages::Role("system"), &["role"])
        .with_id("message-role")
        .of(Models::Versions(&["sonnet-5"]))
        .when(&[When::TextOnly])
        .with_fix(Fix::ToUser)
        .fact(
            Grade::B,
            "Claude Sonnet 5 does not follow messages of the role `system`",
            "live: 200, and the model does not follow the message (pydantic-ai 2.68)",
        )
};
pub(super) const CONVERSE_TOOLS: RequestFact = Rule::part(CONVERSE, Parts::With("toolUse"), &[])
    .with_id("calls-without-tools")
    .refusing(Refused::WithoutTools)
    .with_fix(Fix::DeclareTools)
    .fact(
        Grade::B,
        "a request with calls in its history has tools",
        "live: `The toolConfig field must be defined when using toolUse and toolResult content blocks.` \
            (opencode#34089 and six more)",
    );
pub(super) const BEDROCK_CHAT_TOOLS: RequestFact = Rule::message(CHAT, MODEL, &["tool_calls"])
    .with_id("calls-without-tools")
    .refusing(Refused::WithoutTools)
    .with_fix(Fix::DeclareTools)
    .fact(
        Grade::B,
        "a request with calls in its history has tools, also in Chat Completions before Converse",
        "live: `The toolConfig field must be defined when using the toolUse and toolResult content blocks` \
            (bedrock-access-gateway#239)",
    );
const SIGNATURE: Rule = Rule::part(GOOGLE, Parts::With("functionCall"), &[])
    .with_id("call-signature")
    .refusing(Refused::FirstCallWithout("thoughtSignature"))
    .of(Models::Contain(&["gemini-3"]))
    .with_fix(Fix::Insert("thoughtSignature", "skip_thought_signature_validator"));
pub(super) const GEMINI_SIGNATURE: RequestFact = SIGNATURE.fact(
    Grade::A,
    "the first call of each message in the current turn has a `thoughtSignature`",
    "live, Gemini 3: `Function call is missing a thought_signature` (Antigravity-Manager#3202; pydantic-ai, \
        2026-10-27); Google documents `skip_thought_signature_validator` for calls of other models",
);
const RESULT: Rule = Rule::part(GOOGLE, Parts::With("functionResponse"), &["functionResponse", "response"])
    .with_id("result-not-object")
    .refusing(Refused::NotObject)
    .with_fix(Fix::Wrap("result"));
const RESULT_SOURCE: &str = "live: `Proto field is not repeating, cannot start list.` (AstrBot#7216, vercel/ai#3589)";
pub(super) const GEMINI_RESULT: RequestFact =
    RESULT.fact(Grade::B, "the `response` of a result is an object", RESULT_SOURCE);
pub(super) const GEMINI_SNAKE_RESULT: RequestFact =
    Rule { at: Location::Part(Parts::With("function_response"), &["function_response", "response"]), ..RESULT }.fact(
        Grade::B,
        "the `response` of a result is an object, in snake case, too",
        RESULT_SOURCE,
    );

// Values.

const ADAPTIVE_SOURCE: &str = "live: `thinking.type: enabled` is refused, `adaptive` is accepted (Bifrost's matrix, \
    pydantic-ai 2.68 with the API's text)";
pub(super) const CLAUDE_THINKING_ENABLED: RequestFact = Rule::member(MESSAGES, &["thinking", "type"])
    .with_id("unsupported-value")
    .refusing(Refused::Words(&["enabled"]))
    .of(WITHOUT_SAMPLING)
    .with_fix(Fix::SetOuter("{\"type\":\"adaptive\"}"))
    .fact(
        Grade::B,
        "Opus 4.7 and later, Sonnet 5, Fable and Mythos think adaptively, without a budget",
        ADAPTIVE_SOURCE,
    );
pub(super) const CLAUDE_THINKING_DISABLED: RequestFact = Rule::member(MESSAGES, &["thinking", "type"])
    .with_id("unsupported-value")
    .refusing(Refused::Words(&["disabled"]))
    .of(Models::Versions(&[
        "fable-5",
        "fable-5-1",
        "fable-5-2",
        "mythos-5",
        "mythos-5-1",
        "mythos-5-2",
        "opus-5-5",
        "sonnet-5-5",
    ]))
    .with_fix(Fix::RemoveOuter)
    .fact(Grade::B, "Fable, Mythos, Opus 5.5 and Sonnet 5.5 always think", "pydantic-ai 2.68, with the API's text");

/// Thinking takes its budget from the answer, so a maximum that is lowered to the budget is refused, too.
const BUDGET_64K: When = When::Below(&["thinking", "budget_tokens"], "64000");
const BUDGET_128K: When = When::Below(&["thinking", "budget_tokens"], "128000");
/// Maximum number of tokens of an answer.
pub(super) const CLAUDE_4_5_LIMIT: RequestFact = Rule::maximum(MESSAGES, &["max_tokens"], "64000")
    .of(Models::Versions(&["opus-4-5", "sonnet-4-5", "haiku-4-5", "sonnet-4", "sonnet-4-0"]))
    .when(&[BUDGET_64K])
    .fact(
        Grade::A,
        "Claude 4.5 and Sonnet 4 answer with at most 64,000 tokens",
        "live: `max_tokens: 128001 > 64000, which is the maximum allowed number of output tokens` (claude-code#24451, \
            OpenHands#11090)",
    );
pub(super) const CLAUDE_4_6_LIMIT: RequestFact = Rule::maximum(MESSAGES, &["max_tokens"], "128000")
    .of(Models::Versions(&["opus-4-6", "opus-4-7", "opus-4-8", "sonnet-4-6"]))
    // Only batches read this beta.
    .when(&[BUDGET_128K, When::WithoutBeta("output-300k-2026-03-24", BetaLocation::Header)])
    .fact(
        Grade::A,
        "Claude 4.6 to 4.8 answer with at most 128,000 tokens",
        "live: `max_tokens: 9999999 > 128000, which is the maximum allowed number of output tokens for \
            claude-opus-4-8` (effect#7129)",
    );
pub(super) const CLAUDE_3_5_LIMIT: RequestFact =
    Rule::maximum(MESSAGES, &["max_tokens"], "8192").of(Models::Versions(&["3-5-sonnet", "3-5-haiku"])).fact(
        Grade::B,
        "Claude 3.5 answers with at most 8,192 tokens",
        "live (avante.nvim#1761); Anthropic's documentation",
    );
pub(super) const CLAUDE_3_LIMIT: RequestFact =
    Rule::maximum(MESSAGES, &["max_tokens"], "4096").of(Models::Versions(&["3-opus", "3-haiku"])).fact(
        Grade::A,
        "Claude 3 answers with at most 4,096 tokens",
        "live: `max_tokens: 32000 > 4096, which is the maximum allowed number of output tokens for \
            claude-3-opus-20240229` (chathub#1222)",
    );

// Lists.

const EMPTY_TOOLS: Rule =
    Rule::of_chat(&["tools"]).with_id("empty-list").refusing(Refused::Empty).with_fix(Fix::RemoveList);
/// A choice without tools has a fact of its own.
pub(super) const CHAT_EMPTY_TOOLS: RequestFact = EMPTY_TOOLS.with_fix(Fix::Remove).fact(
    Grade::A,
    "`tools` has tools, or is left out",
    "live: `[] is too short - 'tools'`, `Invalid 'tools': empty array` (qwen-code#2054, koog#786, slackAskBot#9); \
        Responses and Anthropic answered 200 (22 recorded)",
);
pub(super) const DEEPSEEK_EMPTY_TOOLS: RequestFact =
    EMPTY_TOOLS.fact(Grade::B, "`tools` has tools, or is left out", "live (tome#87)");
/// Without tools, requests of Chat Completions often look like Messages.
pub(super) const PORTABLE_EMPTY_TOOLS: RequestFact = Rule { apis: &[Api::OpenaiChat, Api::Anthropic], ..EMPTY_TOOLS }
    .fact(
        Grade::B,
        "`tools` has tools, or is left out",
        "live, DashScope and LM Studio: `[] is too short - 'tools'` (koog#786, anon-kode#20); OpenAI refuses it, too",
    );

// Choices.

const NO_ALLOWED: &str = "pydantic-ai 2.68: the backend has no `allowed_tools`";
const ALLOWED: Rule = Rule::choice(CHAT, Refused::Allowed).with_fix(Fix::Narrow);
/// Backends with Chat Completions without `allowed_tools`.
pub(super) const ALLOWED_TOOLS: RequestFact =
    ALLOWED.fact(Grade::B, "the choice cannot list allowed tools", NO_ALLOWED);
const SNAKE_MODE: &[&str] = &["tool_config", "function_calling_config", "mode"];
const MODE: &[&str] = &["toolConfig", "functionCallingConfig", "mode"];
pub(super) const GEMINI_CHOICE: RequestFact =
    Rule::choice(GOOGLE, Refused::WithoutTools).with_id("choice-without-tools").with_fix(Fix::Remove).fact(
        Grade::B,
        "`functionCallingConfig` needs functions",
        "live: `Function calling config is set without function_declarations.` (pydantic-ai 2.68)",
    );
pub(super) const GEMINI_ALLOWED: RequestFact = Rule::choice(GOOGLE, Refused::AllowedOptional)
    .when(&[When::Unless(MODE, "\"VALIDATED\""), When::Unless(SNAKE_MODE, "\"VALIDATED\"")])
    .with_fix(Fix::Narrow)
    .fact(
        Grade::B,
        "`allowedFunctionNames` needs the mode `ANY` or `VALIDATED`",
        "Google's documentation: `This should only be set when the Mode is ANY or VALIDATED` (any-llm#1300); recorded \
        with `ANY` only",
    );
pub(super) const CONVERSE_NONE: RequestFact = Rule::choice(CONVERSE, Refused::Forbidden).check_only().fact(
    Grade::B,
    "`toolChoice` has no `none`",
    "live: `Unknown parameter in toolConfig.toolChoice: \"none\"` (boto3#4687)",
);

// Tools.

const BETA_MEMBERS: &str = "live, backends with the format of Messages: `Extra inputs are not permitted` \
    (claude-agent-sdk-python#694; issues of claude-code with other backends)";
pub(super) const EAGER_INPUT: RequestFact = Rule::tool(MESSAGES, &["eager_input_streaming"]).fact(
    Grade::B,
    "tools have no `eager_input_streaming`",
    BETA_MEMBERS,
);
pub(super) const INPUT_EXAMPLES: RequestFact =
    Rule::tool(MESSAGES, &["input_examples"]).fact(Grade::B, "tools have no `input_examples`", BETA_MEMBERS);
pub(super) const ALLOWED_CALLERS: RequestFact =
    Rule::tool(MESSAGES, &["allowed_callers"]).fact(Grade::B, "tools have no `allowed_callers`", BETA_MEMBERS);

// Turns.

pub(super) const MISTRAL_TURNS: RequestFact = Rule::message(CHAT, Messages::By(Speaker::User), &[])
    .with_id("turn-order")
    .refusing(Refused::After(Speaker::Tool))
    .with_fix(Fix::InsertMessage("."))
    .fact(
        Grade::A,
        "a message of the model follows results, not one of the user",
        "live: `Unexpected role 'user' after role 'tool'` (hermes#84944, hermes#20154, zed#37021, avante.nvim#2562, \
            datapizza-ai#98, mistral-vibe#578)",
    );
