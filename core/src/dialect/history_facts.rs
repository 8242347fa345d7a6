//! Facts about calls and results in the history.

use super::request_fact::{Refusal, RequestFact, DAY};
use crate::{options::Api, report::Grade, report::Severity};

const OPENAI_FORMATS: &[Api] = &[Api::OpenaiChat, Api::OpenaiResponses];

/// The formats in which the option `historyPairs` completes pairs.
const PAIRED: &[Api] = &[Api::Anthropic, Api::OpenaiChat, Api::OpenaiResponses, Api::Gemini, Api::Bedrock];

/// Applies to every API, because one invalid call in the history would make every later request fail.
pub(crate) const HISTORY_ARGUMENTS: RequestFact = RequestFact {
    refuses: Refusal::HistoryArguments,
    statement: "the arguments of a call in the history are a JSON object",
    confidence: Grade::A,
    source: "live: `arguments must be a valid JSON object string`, `input must be an object` (codegraff#752, \
        kimi-cli#2165, vllm#43995, CLIProxyAPI#2001, hermes-agent#4838, pi#5468, oh-my-pi#10332)",
    severity: Severity::Refused,
    checked: DAY,
};

/// Applies to every API except Gemini Interactions, for which no rule is known. Reports give this fact as the reason
/// for a change that the caller requested.
pub(crate) const HISTORY_PAIRS: RequestFact = RequestFact {
    refuses: Refusal::HistoryPairs(PAIRED),
    statement: "every call in the history is directly followed by its result, and every result has a call",
    confidence: Grade::C,
    source:
        "Anthropic, OpenAI, DeepSeek, Moonshot, Mistral, Gemini and Bedrock refuse broken pairs; other APIs were not \
        tested (confidence C)",
    severity: Severity::Refused,
    checked: DAY,
};

pub(super) const ANTHROPIC_PAIRS: RequestFact = RequestFact {
    refuses: Refusal::HistoryPairs(&[Api::Anthropic]),
    confidence: Grade::A,
    source: "live: `` `tool_use` ids were found without `tool_result` blocks immediately after `` (claude-code#3512, \
        claude-code#5989, kilocode#5163)",
    ..HISTORY_PAIRS
};

pub(super) const CONVERSE_PAIRS: RequestFact = RequestFact {
    refuses: Refusal::HistoryPairs(&[Api::Bedrock]),
    statement: "the results of all calls of a turn are in the next message, and every result has a call",
    confidence: Grade::A,
    source: "live: `Expected toolResult blocks at messages.2.content for the following Ids` (agno#6698, camel#3954, \
        genkit-ai/aws-bedrock-js-plugin#664; also in two messages, for Claude)",
    ..HISTORY_PAIRS
};

/// Applies to an earlier answer that the model returned as a call and that the client stores as a message.
pub(crate) const ANSWERED: RequestFact = RequestFact {
    refuses: Refusal::HistoryPairs(&[Api::OpenaiResponses]),
    statement: "in the history, reasoning is followed by the item that originally followed it, with its id",
    confidence: Grade::B,
    source: "live: `Item 'rs_…' of type 'reasoning' was provided without its required following item.` \
        (langchainjs#9082, continue#8933)",
    ..HISTORY_PAIRS
};

pub(super) const GEMINI_PAIRS: RequestFact = RequestFact {
    refuses: Refusal::HistoryPairs(&[Api::Gemini]),
    confidence: Grade::A,
    source: "live: `Please ensure that the number of function response parts is equal to the number of function call \
        parts of the function call turn.` (vscode#299295, gemini-cli#5443, gemini-cli#7410, gemini-cli#18509)",
    ..HISTORY_PAIRS
};

/// OpenAI, Chat Completions and Responses.
pub(super) const OPENAI_PAIRS: RequestFact = RequestFact {
    refuses: Refusal::HistoryPairs(OPENAI_FORMATS),
    confidence: Grade::A,
    source:
        "live, Responses: `No tool output found for function call` (CLIProxyAPI#2368, opencode#16717), `No tool call \
        found for function call output` (continue#10092, vscode#320060); Chat Completions: `An assistant message \
        with 'tool_calls' must be followed by tool messages` (oasis#92, cai#111), `messages with role 'tool' must be \
        a response to a preceeding message with 'tool_calls'` (prism-php/prism#175, llm#937)",
    ..HISTORY_PAIRS
};

pub(super) const CHAT_PAIRS: RequestFact =
    RequestFact { refuses: Refusal::HistoryPairs(&[Api::OpenaiChat]), ..OPENAI_PAIRS };

/// Gemini Interactions.
pub(crate) const RESULT_NAME: RequestFact = RequestFact {
    statement: "the result of a call names the function",
    source: "live: `HTTP 400 Invalid input received` for a `function_result` without `name` (inspect-robots#380, \
        2026-08-14)",
    ..HISTORY_NAME
};

/// Every API.
pub(crate) const HISTORY_NAME: RequestFact = RequestFact {
    refuses: Refusal::HistoryName,
    statement: "the tools that the history calls have names that the API accepts",
    confidence: Grade::B,
    source:
        "live, MiniMax: `invalid params, function name is empty` (2013); Gemini, Anthropic and OpenAI apply the rules \
            for tool names to the history",
    severity: Severity::Refused,
    checked: DAY,
};
