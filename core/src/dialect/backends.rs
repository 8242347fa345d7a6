//! Lists what individual hosts refuse in requests of a format, in addition to the facts of the host's dialect.

use alloc::{format, string::String, vec::Vec};

use super::{
    betas,
    lookup::Host,
    models::Models,
    name_rules::NamePattern,
    request_fact::{FormatRule, Refusal, RequestFact},
    request_rows, requests,
    rule::{Fix, Messages, Parts, Refused, Rule, When},
    Dialect,
};
use crate::{options::Api, report::Grade};

/// Hosts with additional rules for requests of some formats.
#[derive(Debug)]
pub(crate) struct Backend {
    pub(crate) name: &'static str,
    at: HostPattern,
    /// Facts about members of requests.
    facts: &'static [RequestFact],
    /// Facts about betas.
    betas: &'static [RequestFact],
    /// The facts of the dialect whose models the host serves.
    of_models: &'static [RequestFact],
}

#[derive(Debug)]
enum HostPattern {
    /// Patterns of hosts; `*` matches any characters.
    Hosts(&'static [&'static str]),
    /// A port, at hosts in a private network only.
    PrivatePort(u16),
}

impl Backend {
    pub(crate) fn facts(&self) -> impl Iterator<Item = &'static RequestFact> {
        self.facts.iter().chain(self.betas)
    }

    #[cfg(test)]
    pub(crate) fn host(&self) -> &'static str {
        match self.at {
            HostPattern::Hosts(patterns) => patterns.first().copied().unwrap_or_default(),
            HostPattern::PrivatePort(_) => "localhost:1234",
        }
    }

    pub(crate) fn hosts(&self) -> String {
        match self.at {
            HostPattern::Hosts(patterns) => {
                let patterns: Vec<String> = patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
                format!("At {}.", patterns.join(", "))
            }
            HostPattern::PrivatePort(port) => format!("At port {port} of a host in a private network."),
        }
    }

    fn all_facts(&self) -> impl Iterator<Item = &'static RequestFact> {
        self.facts().chain(self.of_models)
    }

    fn serves(&self, host: Option<&Host>) -> bool {
        host.is_some_and(|host| self.is_at(host))
    }

    fn is_at(&self, host: &Host) -> bool {
        match self.at {
            HostPattern::Hosts(patterns) => patterns.iter().any(|pattern| host.is(pattern)),
            HostPattern::PrivatePort(port) => host.has_private_port(port),
        }
    }
}

pub(crate) fn host_has_beta_fact(url: &str, beta: &str) -> bool {
    let host = Host::of(url);
    BACKENDS.iter().filter(|backend| backend.serves(host.as_ref())).flat_map(Backend::all_facts).any(|fact| match &fact
        .refuses
    {
        Refusal::Rule(rule) => rule.names_beta(beta),
        _ => false,
    })
}

/// The facts about requests of a format: from the models that the host serves, from the dialect, and from the host.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestFacts(Vec<&'static RequestFact>);

impl RequestFacts {
    /// `host` may be the URL of a host.
    pub(crate) fn of(dialect: &Dialect, host: Option<&str>, (api, model): (Api, &str)) -> Self {
        let host = host.and_then(Host::of);
        let backends = || BACKENDS.iter().filter(|backend| backend.serves(host.as_ref()));
        // These hosts serve Claude if requests have Anthropic's format and name no other model.
        let is_claude = api == Api::Anthropic && (model.is_empty() || model.contains("claude"));
        let known = dialect.requests();
        let has_others = |backend: &&Backend| is_claude && backend.of_models != known;
        let of_models = backends().filter(has_others).flat_map(|backend| backend.of_models);
        let mut facts: Vec<&'static RequestFact> = of_models.filter(|fact| !known.contains(fact)).collect();
        facts.extend(known);
        facts.extend(backends().flat_map(Backend::facts));
        RequestFacts(facts)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static RequestFact> + '_ {
        self.0.iter().copied()
    }

    /// Returns the rules about response formats. A replacement for a format may also violate them.
    pub(crate) fn formats(&self) -> impl Iterator<Item = FormatRule> + '_ {
        self.iter().filter_map(|fact| match fact.refuses {
            Refusal::Format(rule) => Some(rule),
            _ => None,
        })
    }

    pub(crate) fn history_pairs(&self, api: Api) -> Option<&'static RequestFact> {
        self.iter().find(|fact| match fact.refuses {
            Refusal::HistoryPairs(apis) => apis.contains(&api),
            _ => false,
        })
    }
}

const MESSAGES: &[Api] = &[Api::Anthropic];
const CHAT: &[Api] = &[Api::OpenaiChat];

pub(crate) const BACKENDS: &[Backend] = &[
    Backend {
        name: "Anthropic",
        at: HostPattern::Hosts(&["api.anthropic.com"]),
        facts: &[],
        betas: betas::ANTHROPIC,
        of_models: &[],
    },
    Backend {
        name: "Amazon Bedrock, InvokeModel",
        at: HostPattern::Hosts(&[
            "bedrock-runtime.*.amazonaws.com",
            "bedrock-runtime-fips.*.amazonaws.com",
            "bedrock-runtime.*.api.aws",
        ]),
        facts: &[
            EAGER_INPUT,
            STRICT,
            Rule::member(MESSAGES, &["cache_control"])
                .of(Models::Versions(&[
                    "opus-4",
                    "opus-4-0",
                    "opus-4-1",
                    "opus-4-5",
                    "opus-4-6",
                    "sonnet-4",
                    "sonnet-4-0",
                    "sonnet-4-5",
                    "sonnet-4-6",
                    "haiku-4-5",
                    "3-7-sonnet",
                    "3-5-sonnet",
                    "3-5-haiku",
                ]))
                .fact(Grade::A, "models to 4.6 do not accept `cache_control` of the request", CACHE_SOURCE),
            DIAGNOSTICS,
        ],
        betas: betas::INVOKE_MODEL,
        of_models: requests::ANTHROPIC,
    },
    Backend {
        name: "Amazon Bedrock, Mantle",
        at: HostPattern::Hosts(&["bedrock-mantle.*.api.aws", "bedrock-mantle.*.amazonaws.com"]),
        facts: &[STRICT, DIAGNOSTICS],
        betas: betas::MANTLE,
        of_models: &[],
    },
    Backend {
        name: "Google Vertex AI, Claude",
        at: HostPattern::Hosts(&["aiplatform.googleapis.com", "*-aiplatform.googleapis.com"]),
        facts: &[
            Rule::member(MESSAGES, &["cache_control"]).fact(
                Grade::B,
                "Vertex does not accept `cache_control` of the request",
                CACHE_SOURCE,
            ),
            Rule::member(MESSAGES, &["speed"]).check_only().fact(Grade::C, "Vertex does not accept `speed`", MATRIX),
            Rule::member(MESSAGES, &["mcp_servers"]).check_only().fact(
                Grade::C,
                "Vertex does not accept `mcp_servers`",
                MATRIX,
            ),
            Rule::member(MESSAGES, &["container"]).check_only().fact(
                Grade::C,
                "Vertex does not accept `container`",
                MATRIX,
            ),
        ],
        betas: betas::VERTEX,
        of_models: &[],
    },
    Backend {
        name: "Microsoft Foundry, Claude",
        at: HostPattern::Hosts(&["*.services.ai.azure.com"]),
        facts: &[Rule::member(MESSAGES, &["fallbacks"]).fact(
            Grade::B,
            "Foundry does not accept `fallbacks`",
            "live: `fallbacks: Extra inputs are not permitted` (Bifrost's matrix, which quotes the answer; 2026-07)",
        ),
        Rule::message(MESSAGES, Messages::Role("system"), &["role"])
            .with_id("message-role")
            .when(&[When::TextOnly])
            .with_fix(Fix::ToUser)
            .fact(
                Grade::B,
                "Foundry does not accept the role `system` in `messages`",
                "pydantic-ai 2.68, checked live, without the API's text",
            )],
        betas: betas::FOUNDRY,
        of_models: &[],
    },
    Backend {
        name: "GitHub Copilot",
        at: HostPattern::Hosts(&["api.githubcopilot.com", "*.githubcopilot.com"]),
        facts: &[
            EAGER_INPUT,
            Rule::part(MESSAGES, Parts::With("cache_control"), &["cache_control", "scope"]).fact(
                Grade::A,
                "Copilot does not accept `scope` of `cache_control`",
                CACHE_SCOPE,
            ),
            Rule::system_part(MESSAGES, &["cache_control", "scope"]).fact(
                Grade::A,
                "Copilot does not accept `scope` of `cache_control` in the system prompt",
                CACHE_SCOPE,
            ),
            Rule::tool(MESSAGES, &["cache_control", "scope"]).fact(
                Grade::A,
                "Copilot does not accept `scope` of `cache_control` in tools",
                CACHE_SCOPE,
            ),
            LONG_IDS,
        ],
        betas: betas::COPILOT,
        of_models: requests::ANTHROPIC,
    },
    Backend {
        name: "MiniMax",
        at: HostPattern::Hosts(&["api.minimax.io", "api.minimaxi.com"]),
        facts: &[request_rows::MINIMAX_THINKING],
        betas: &[],
        of_models: &[],
    },
    Backend {
        name: "Azure OpenAI",
        at: HostPattern::Hosts(&["*.openai.azure.com", "*.cognitiveservices.azure.com"]),
        facts: &[LONG_IDS],
        betas: &[],
        of_models: &[],
    },
    Backend {
        name: "Z.ai",
        at: HostPattern::Hosts(&["api.z.ai", "open.bigmodel.cn"]),
        facts: &[
            Rule::member(MESSAGES, &["context_management"]).fact(
                Grade::B,
                "Z.ai does not accept `context_management`",
                ZAI_PARAMETERS,
            ),
            // The format of `output_config` is not left out: without it, nothing enforces the answer.
            Rule::member(MESSAGES, &["output_config", "effort"]).fact(
                Grade::B,
                "Z.ai does not accept `effort` of `output_config`",
                ZAI_PARAMETERS,
            ),
        ],
        betas: &[],
        of_models: &[],
    },
    Backend {
        name: "LM Studio",
        at: HostPattern::PrivatePort(1234),
        facts: &[Rule::choice(CHAT, Refused::Named).with_fix(Fix::Narrow).fact(
            Grade::B,
            "LM Studio accepts only the choices `none`, `auto` and `required`",
            "live: `Invalid tool_choice type: 'object'. Supported string values: none, auto, required` \
                (lmstudio-bug-tracker#670)",
        )],
        betas: &[],
        of_models: &[],
    },
];

const CACHE_SOURCE: &str = "live: `cache_control: Extra inputs are not permitted` (inspect_ai#3851, dust#27109, \
    pydantic-ai 2.68)";
const ZAI_PARAMETERS: &str = "live: `1210 Invalid API parameter, please check the documentation.` (octopus#165, \
    cline#9939, opencode#42616)";
const MATRIX: &str = "Bifrost's matrix of members and providers; no answer of the API was seen (confidence C)";

const CACHE_SCOPE: &str = "live: `system.1.cache_control.ephemeral.scope: Extra inputs are not permitted` \
    (copilot-api#145); recorded 2026-08-24 for the system, a block and a tool, also with the beta \
    (puxu-msft/ghc-api-proxy-py)";

const EAGER_INPUT: RequestFact = RequestFact {
    source:
        "live: `tools.0.custom.eager_input_streaming: Extra inputs are not permitted` (claude-agent-sdk-python#694, \
        opencode#23193, copilot-api#11)",
    ..request_rows::EAGER_INPUT
};

const STRICT: RequestFact = Rule::tool(MESSAGES, &["strict"])
    .of(Models::Versions(&["opus-4-7", "opus-4-8", "sonnet-5", "opus-5-5", "fable-5-1"]))
    .fact(
        Grade::A,
        "Opus 4.7, 4.8 and 5.5, Sonnet 5 and Fable 5.1 do not accept `strict` at Bedrock",
        "live: `tools.0.custom.strict: Extra inputs are not permitted` (litellm#33193, lobehub#19876, vercel/ai#16121, \
            litellm#31582)",
    );

const DIAGNOSTICS: RequestFact = Rule::member(MESSAGES, &["diagnostics"]).fact(
    Grade::B,
    "Bedrock does not accept `diagnostics`",
    "live: `Extra inputs are not permitted` (Bifrost's matrix, which quotes the answer)",
);

/// OpenAI itself accepted 51 and 53 characters on 2026-07-14 (vercel/ai#17233, vercel/ai#17280).
const LONG_IDS: RequestFact =
    Rule::call_ids(CHAT, NamePattern { max_length: 40, ..NamePattern::ANY }).check_only().fact(
        Grade::C,
        "the id of a call has at most 40 characters",
        "live, to 2026-02: `Expected a string with maximum length 40` (opencode#12653, litellm#17343, Portkey#1062); \
            not asked again (confidence C)",
    );
