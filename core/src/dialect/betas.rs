//! What individual hosts refuse in the betas of Anthropic Messages, and which members they accept only with a beta.
//!
//! Hosts compare whole names: Copilot accepts `tool-search-tool-2025-11-19` and refuses `tool-search-tool-2025-10-19`.
//! A beta is removed only if the host's answer, or two published checks of it, say that it is refused.

use super::{
    models::Models,
    request_fact::RequestFact,
    rule::{BetaLocation, Path, Rule, When},
};
use crate::{options::Api, report::Grade};

const MESSAGES: &[Api] = &[Api::Anthropic];
const CONTEXT_MANAGEMENT: &str = "context-management-2025-06-27";
const FAST_MODE: &str = "fast-mode-2026-02-01";
const BINDING: &str = "thinking-binding-controls-2026-08-01";
const DIAGNOSIS: &str = "cache-diagnosis-2026-04-07";

const fn refused_beta(name: &'static [&'static str], statement: &'static str, source: &'static str) -> RequestFact {
    with_date(Rule::beta(MESSAGES, name).fact(Grade::A, statement, source))
}

const fn with_date(fact: RequestFact) -> RequestFact {
    RequestFact { checked: "2026-11-29", ..fact }
}

const fn in_header(path: Path, needs: &'static [When], beta: &'static str) -> Rule {
    Rule::needs_beta(MESSAGES, path, needs, (beta, BetaLocation::Header))
}

const CONTEXT_BY_HEADER: Rule = in_header(
    &["context_management"],
    &[When::WithoutBeta(CONTEXT_MANAGEMENT, BetaLocation::Header)],
    CONTEXT_MANAGEMENT,
);

const TOOL_SEARCH: &str = "tool-search-tool-2025-10-19";

/// The clouds of Amazon and Google.
const ADVANCED_TOOLS: RequestFact =
    with_date(Rule::renamed_beta(MESSAGES, &["advanced-tool-use-2025-11-20"], TOOL_SEARCH).fact(
        Grade::B,
        "the beta of deferred tools is `tool-search-tool-2025-10-19` here",
        "Anthropic's documentation of tool search names the beta by platform; LiteLLM 1.110.2 and \
            envoyproxy/ai-gateway rename it, Bifrost drops it",
    ));

/// Anthropic's API. It refuses unknown betas, and betas to which an organization has no access. The table does not list
/// the latter, because only the client knows its access.
pub(super) const ANTHROPIC: &[RequestFact] = &[
    with_date(CONTEXT_BY_HEADER.fact(
        Grade::B,
        "`context_management` needs its beta",
        "live: `context_management: Extra inputs are not permitted` without the beta \
                (anthropics/claude-code#14135, anthropics/claude-code#39589); Claude Code's gateway protocol: the \
                pair travels together",
    )),
    with_date(in_header(&["speed"], &[When::WithoutBeta(FAST_MODE, BetaLocation::Header)], FAST_MODE).fact(
        Grade::B,
        "`speed` needs its beta",
        "Claude Code's gateway protocol (code.claude.com/docs/en/llm-gateway-protocol): the pair travels together, \
                one half alone is refused",
    )),
    with_date(
        in_header(&["thinking", "block_binding"], &[When::WithoutBeta(BINDING, BetaLocation::Header)], BINDING).fact(
            Grade::B,
            "`block_binding` needs its beta",
            "live: refused without the beta (pydantic-ai 2.68, measured live)",
        ),
    ),
    with_date(in_header(&["diagnostics"], &[When::WithoutBeta(DIAGNOSIS, BetaLocation::Header)], DIAGNOSIS).fact(
        Grade::B,
        "`diagnostics` needs its beta",
        "Claude Code's gateway protocol (code.claude.com/docs/en/llm-gateway-protocol): the pair travels together, \
                one half alone is refused",
    )),
];

const BEDROCK_STATEMENT: &str = "Bedrock's InvokeModel does not know this beta";
/// One beta a request.
const BEDROCK_SOURCE: &str =
    "live 2026-08-03: `invalid beta flag` (CLIProxyAPI#4750, from an endpoint of Bedrock behind \
    a proxy)";
const BEDROCK_CHECKS: &str =
    "live, two published checks without the answers: `invalid beta flag` (envoyproxy/ai-gateway#2512, \
    2026-08-11; vokako/bedrock-api-feature-tests, 2026-07-27)";
const BEDROCK_CHECK: &str = "live, one published check without the answer: `invalid beta flag` \
    (envoyproxy/ai-gateway#2512, 2026-08-11) (confidence C)";

const fn of_bedrock(name: &'static [&'static str]) -> RequestFact {
    refused_beta(name, BEDROCK_STATEMENT, BEDROCK_SOURCE)
}

const fn by_checks(name: &'static [&'static str]) -> RequestFact {
    RequestFact { confidence: Grade::B, source: BEDROCK_CHECKS, ..of_bedrock(name) }
}

const fn by_check(name: &'static [&'static str]) -> RequestFact {
    with_date(Rule::beta(MESSAGES, name).check_only().fact(Grade::C, BEDROCK_STATEMENT, BEDROCK_CHECK))
}

/// Amazon Bedrock, InvokeModel. It reads betas from the body, and its error does not name the refused beta.
pub(super) const INVOKE_MODEL: &[RequestFact] = &[
    ADVANCED_TOOLS,
    of_bedrock(&["oauth-2025-04-20"]),
    of_bedrock(&["prompt-caching-scope-2026-01-05"]),
    of_bedrock(&[FAST_MODE]),
    of_bedrock(&["redact-thinking-2026-02-12"]),
    of_bedrock(&["token-efficient-tools-2026-03-28"]),
    by_checks(&["files-api-2025-04-14"]),
    by_checks(&["code-execution-2025-05-22"]),
    by_check(&["extended-cache-ttl-2025-04-11"]),
    by_check(&["thinking-token-count-2026-05-13"]),
    by_check(&["prompt-caching-2024-07-31"]),
    with_date(Rule::beta(MESSAGES, &[BINDING]).of(Models::Versions(&["sonnet-4-5"])).fact(
        Grade::A,
        "models without bound thinking do not know this beta",
        "live: `invalid beta flag` with Sonnet 4.5; a Fable accepts it (BerriAI/litellm#41203)",
    )),
    with_date(
        Rule::needs_beta(
            MESSAGES,
            &["context_management"],
            &[When::WithoutBeta(CONTEXT_MANAGEMENT, BetaLocation::Body)],
            (CONTEXT_MANAGEMENT, BetaLocation::Body),
        )
        .fact(
            Grade::B,
            "`context_management` needs its beta in the body",
            "live: `context_management: Extra inputs are not permitted` without the beta (sub2api#2726); the beta is \
                accepted (CLIProxyAPI#4750, 2026-08-03)",
        ),
    ),
    with_date(Rule::member(MESSAGES, &["speed"]).fact(
        Grade::B,
        "Bedrock does not accept `speed`, also with its beta",
        "live: `speed: Extra inputs are not permitted` with and without the beta (vokako/bedrock-api-feature-tests, \
            2026-07-27); the beta is refused (CLIProxyAPI#4750)",
    )),
];

/// Amazon Bedrock, Mantle. Like InvokeModel, it answers `invalid beta flag`.
pub(super) const MANTLE: &[RequestFact] = &[
    ADVANCED_TOOLS,
    RequestFact {
        confidence: Grade::B,
        ..refused_beta(
            &["prompt-caching-scope-2026-01-05"],
            "Bedrock's Mantle does not know this beta",
            "LiteLLM 1.110.2 and Bifrost drop it, after Amazon's pages; an unknown beta is answered `invalid beta \
                flag` (a published run of 2026-08-07, SuhaasS/llm-eval)",
        )
    },
];

const VERTEX_STATEMENT: &str = "Vertex does not know this beta";

const fn of_vertex(name: &'static [&'static str], source: &'static str) -> RequestFact {
    refused_beta(name, VERTEX_STATEMENT, source)
}

const OLD_VERTEX: &str =
    "live, in 2025 or older: `Unexpected value(s) … for the anthropic-beta header`; not asked again \
    (confidence C)";

/// Claude at Google Vertex AI. A beta in the body does not enable its member.
pub(super) const VERTEX: &[RequestFact] = &[
    ADVANCED_TOOLS,
    of_vertex(
        &["prompt-caching-scope-2026-01-05"],
        "live, to 2026-06-18: `Unexpected value(s)` (sub2api#3358, sub2api#3150, new-api#2975, BerriAI/litellm#19984); \
            LiteLLM 1.110.2 sends it again",
    ),
    of_vertex(
        &["redact-thinking-2026-02-12"],
        "live, to 2026-06-18: `Unexpected value(s)` (sub2api#3358, sub2api#3150); LiteLLM 1.110.2 sends it again",
    ),
    of_vertex(&["advisor-tool-2026-03-01"], "live 2026-06-18: `Unexpected value(s)` (sub2api#3358)"),
    of_vertex(
        &["thinking-token-count-2026-05-13"],
        "live 2026-07-22: `Unexpected value(s)` (envoyproxy/ai-gateway#2411, sub2api#3358)",
    ),
    of_vertex(&["context-1m-2025-08-07"], "live 2026-06-29: `Unexpected value(s)` (BerriAI/litellm#31607)"),
    with_date(Rule::beta(MESSAGES, &["structured-outputs-2025-12-15"]).of(Models::Versions(&["opus-4-6"])).fact(
        Grade::A,
        VERTEX_STATEMENT,
        "live 2026-02-20: `Unexpected value(s)` with Opus 4.6 (new-api#2975); LiteLLM 1.110.2 sends it",
    )),
    with_date(Rule::beta(MESSAGES, &["structured-outputs-2025-11-13"]).of(Models::Versions(&["sonnet-4-5"])).fact(
        Grade::A,
        VERTEX_STATEMENT,
        "live 2025-12-08: `Unexpected value(s)` with Sonnet 4.5 (vercel/ai#10981, ax-llm/ax#462)",
    )),
    with_date(Rule::beta(MESSAGES, &["oauth-2025-04-20"]).check_only().fact(Grade::C, VERTEX_STATEMENT, OLD_VERTEX)),
    with_date(
        Rule::beta(MESSAGES, &["prompt-caching-2024-07-31"]).check_only().fact(Grade::C, VERTEX_STATEMENT, OLD_VERTEX),
    ),
    with_date(Rule::beta(MESSAGES, &["pdfs-2024-09-25"]).check_only().fact(Grade::C, VERTEX_STATEMENT, OLD_VERTEX)),
    with_date(
        CONTEXT_BY_HEADER.fact(
            Grade::A,
            "`context_management` needs its beta in the header",
            "live: refused with the beta in the body, accepted with it in the header (BerriAI/litellm#22321)",
        ),
    ),
];

/// Claude at Microsoft Foundry.
pub(super) const FOUNDRY: &[RequestFact] = &[refused_beta(
    &["advisor-tool-2026-03-01"],
    "Foundry does not know this beta",
    "live 2026-04: `Unexpected value(s)` (anthropics/claude-code#46105)",
)];

const COPILOT_STATEMENT: &str = "Copilot does not know this beta";
const COPILOT_RECORDED: &str = "recorded 2026-08-24 with Opus 5: `unsupported beta header(s)` \
    (puxu-msft/ghc-api-proxy-py)";

/// GitHub Copilot. The betas that it accepts are a list of names; the constructs for deferred tools need none there.
pub(super) const COPILOT: &[RequestFact] = &[
    refused_beta(&["tool-search-tool-2025-10-19"], COPILOT_STATEMENT, COPILOT_RECORDED),
    refused_beta(&["output-128k-2025-02-19"], COPILOT_STATEMENT, COPILOT_RECORDED),
    refused_beta(
        &["context-1m-2025-08-07"],
        COPILOT_STATEMENT,
        "live 2026-05-25: `unsupported beta header(s)` (copilot-api#103, github/gh-aw#34556)",
    ),
    RequestFact {
        confidence: Grade::B,
        ..refused_beta(
            &["advisor-tool-2026-03-01"],
            COPILOT_STATEMENT,
            "live 2026-05-11, two published checks that quote the answer: `unsupported beta header(s)` (forks of \
                copilot-api)",
        )
    },
    with_date(CONTEXT_BY_HEADER.fact(
        Grade::B,
        "Copilot accepts `context_management` only with its beta",
        "live: `context_management: Extra inputs are not permitted` without the beta (copilot-api#217, \
                copilot-api#175, copilot-api#187, copilot-api#305); the beta is accepted (recorded 2026-08-24, \
                puxu-msft/ghc-api-proxy-py)",
    )),
];
