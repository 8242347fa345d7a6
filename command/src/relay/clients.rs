//! `toolwire run`: the clients that can be started with a relay, what they read, and the addresses of known APIs.

use toolwire::{
    json::{self, Member, Node, Object, Text},
    options::Api,
};

use super::{settings, upstream};
use crate::{
    arguments::RunArguments,
    document::record,
    error::CommandError,
    gather::Gathering,
    hosted::Hosted,
    http::Listen,
    need::Need,
    probe::endpoints::{Endpoint, ENDPOINTS},
};

/// Address of the relay for one client: any free port.
const LISTEN: &str = "127.0.0.1:0";
/// The variable that contains the URL of the relay, for every client.
const URL: &str = "TOOLWIRE_URL";

/// A client, and how it learns the address, the key and the model. In texts, `{url}` stands for the base URL, `{key}` for
/// the name of the variable with the key, `{secret}` for the key, and `{model}` for the model. A text with a part that
/// is not known is left out.
#[allow(dead_code, reason = "the page contains the sources, which a test compares")]
struct Client {
    name: &'static str,
    program: &'static str,
    /// Protocol that the client speaks.
    api: Api,
    /// API whose key the client has itself.
    own: Option<&'static str>,
    variables: &'static [(&'static str, &'static str)],
    /// Variables that are set unless the user has set them.
    defaults: &'static [(&'static str, &'static str)],
    /// Variables that are removed, because they contain the key of another API.
    removed: &'static [&'static str],
    /// Arguments before those of the user.
    arguments: &'static [&'static str],
    /// Source of these facts. They were checked on `as_of`. `confidence` is `A` for the client's documentation or code.
    source: &'static str,
    as_of: &'static str,
    confidence: char,
}

const CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        program: "claude",
        api: Api::Anthropic,
        own: Some("anthropic"),
        variables: &[
            ("ANTHROPIC_BASE_URL", "{url}"),
            ("ANTHROPIC_AUTH_TOKEN", "{secret}"),
            ("ANTHROPIC_MODEL", "{model}"),
            ("ANTHROPIC_DEFAULT_OPUS_MODEL", "{model}"),
            ("ANTHROPIC_DEFAULT_SONNET_MODEL", "{model}"),
            ("ANTHROPIC_DEFAULT_HAIKU_MODEL", "{model}"),
        ],
        // The relay answers the searches for deferred tools.
        defaults: &[("ENABLE_TOOL_SEARCH", "true")],
        removed: &["ANTHROPIC_API_KEY"],
        arguments: &[],
        source: "code.claude.com/docs/en/env-vars",
        as_of: "2026-11-29",
        confidence: 'A',
    },
    Client {
        name: "codex",
        program: "codex",
        api: Api::OpenaiResponses,
        own: None,
        variables: &[],
        defaults: &[],
        removed: &[],
        arguments: &[
            "-c",
            "model_provider=\"toolwire\"",
            "-c",
            "model_providers.toolwire.name=\"toolwire\"",
            "-c",
            "model_providers.toolwire.base_url=\"{url}\"",
            "-c",
            "model_providers.toolwire.wire_api=\"responses\"",
            "-c",
            "model_providers.toolwire.env_key=\"{key}\"",
            "-c",
            "model=\"{model}\"",
        ],
        source: "github.com/openai/codex, docs/config.md",
        as_of: "2026-11-29",
        confidence: 'A',
    },
    Client {
        name: "opencode",
        program: "opencode",
        // The package of the provider below.
        api: Api::OpenaiChat,
        own: None,
        variables: &[(
            "OPENCODE_CONFIG_CONTENT",
            concat!(
                r#"{"provider":{"toolwire":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"{url}","#,
                r#""apiKey":"{env:{key}}"},"models":{"{model}":{}}}},"model":"toolwire/{model}"}"#
            ),
        )],
        defaults: &[],
        removed: &[],
        arguments: &[],
        source: "opencode.ai/docs/config",
        as_of: "2026-11-29",
        confidence: 'A',
    },
];

/// Dialects whose API has the Responses protocol at the base URL of Chat Completions.
#[allow(dead_code, reason = "the page contains the sources, which a test compares")]
struct Responses {
    dialect: &'static str,
    source: &'static str,
    as_of: &'static str,
    confidence: char,
}

const RESPONSES: &[Responses] = &[
    Responses {
        dialect: "openai-responses",
        source: "platform.openai.com/docs/api-reference/responses",
        as_of: "2026-11-27",
        confidence: 'A',
    },
    Responses { dialect: "groq", source: "docs/dialects/groq.md", as_of: "2026-11-26", confidence: 'B' },
    Responses {
        dialect: "deepseek",
        source: "api-docs.deepseek.com/guides/responses_api",
        as_of: "2026-11-27",
        confidence: 'A',
    },
    Responses {
        dialect: "moonshot",
        source: "github.com/Wei-Shaw/sub2api/pull/6463",
        as_of: "2026-11-27",
        confidence: 'B',
    },
    Responses {
        dialect: "vllm",
        source: "github.com/vllm-project/vllm/issues/49493",
        as_of: "2026-07-22",
        confidence: 'A',
    },
    Responses {
        dialect: "llama-cpp",
        source: "github.com/ggml-org/llama.cpp/issues/20156",
        as_of: "2026-08-18",
        confidence: 'A',
    },
];

/// Names by which users know an API, in place of its dialect.
const ALIASES: &[(&str, &str)] = &[("kimi", "moonshot"), ("openai", "openai-responses")];

/// Returns the names of the clients.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    CLIENTS.iter().map(|client| client.name)
}

/// Finds the client of a command by the name of its program.
fn of_command(command: &[String]) -> Option<&'static Client> {
    let program = command.first()?.rsplit(['/', '\\']).next()?;
    let stem = [".exe", ".cmd"].iter().find_map(|end| program.strip_suffix(end)).unwrap_or(program);
    CLIENTS.iter().find(|client| client.program == stem)
}

/// Returns the base URL of an API in a protocol, as a client would use it without a relay.
fn base(endpoint: &Endpoint, api: Option<Api>, name: &str) -> Result<String, String> {
    let chat = endpoint.base.unwrap_or(endpoint.example);
    let lacks = |protocol: &str| format!("expected an API that is known to have {protocol}, found `{name}`");
    match api {
        None => Ok(chat.into()),
        Some(Api::OpenaiChat) if matches!(endpoint.wire.format, "openai-chat" | "openai-responses") => Ok(chat.into()),
        Some(Api::OpenaiChat) => Err(lacks("Chat Completions")),
        Some(Api::OpenaiResponses) => {
            let found = RESPONSES.iter().any(|row| row.dialect == endpoint.dialect);
            found.then(|| chat.into()).ok_or_else(|| lacks("OpenAI Responses"))
        }
        Some(api) if endpoint.wire.format == "anthropic-messages" && api == Api::Anthropic => Ok(chat.into()),
        Some(api) => {
            let mut bases =
                endpoint.hosts.iter().filter_map(|host| upstream::below(host, api).map(|path| (host, path)));
            bases.next().map(|(host, path)| format!("https://{host}{path}")).ok_or_else(|| lacks("Anthropic Messages"))
        }
    }
}

/// A client that the host starts with the relay.
#[derive(Clone)]
pub(crate) struct Started {
    command: Vec<String>,
    /// Path of its upstream at the relay.
    path: String,
    model: Option<String>,
    /// Variables of which one contains the key of the API. If the list is empty, the client has its key itself.
    keys: Vec<String>,
    /// Variables of the user for the base URL.
    variables: Vec<String>,
    client: Option<&'static Client>,
}

impl std::fmt::Debug for Started {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Started").field("command", &self.command).finish_non_exhaustive()
    }
}

impl Started {
    /// Returns the client for the host, as JSON: `{ command, variables, defaults, removed, keys }`. The host replaces
    /// `{url}` by the URL of the relay, `{key}` by the first of `keys` that is set, and `{secret}` by its value.
    pub(crate) fn document(&self) -> Node<'_> {
        let known = |text: &str| {
            let text = text.replace("{url}", &format!("{{url}}{}", self.path));
            if !text.contains("{model}") {
                let needs_key = text.contains("{key}") || text.contains("{secret}");
                return (!needs_key || !self.keys.is_empty()).then_some(text);
            }
            // In JSON and TOML, the model is a part of a string.
            let model = self.model.as_deref()?;
            let model = if text.contains('"') { escaped(model) } else { model.into() };
            let text = text.replace("{model}", &model);
            (!text.contains("{key}") || !self.keys.is_empty()).then_some(text)
        };
        let pair = |name: &str, text: String| Member { key: Text::new(name.to_string()), value: Node::string(text) };
        let pairs = |list: &[(&str, &str)]| -> Vec<Member<'static>> {
            list.iter().filter_map(|(name, text)| Some(pair(name, known(text)?))).collect()
        };
        let strings = |list: Vec<String>| Node::array(list.into_iter().map(Node::string).collect());
        let mut variables = Vec::from([pair(URL, "{url}".into())]);
        variables.extend(self.client.map(|client| pairs(client.variables)).unwrap_or_default());
        variables.extend(self.variables.iter().map(|name| pair(name, format!("{{url}}{}", self.path))));
        let defaults = self.client.map(|client| pairs(client.defaults)).unwrap_or_default();
        let removed = self.client.filter(|_| !self.keys.is_empty()).map_or(&[][..], |client| client.removed);
        // An option and its value are two arguments.
        let arguments = self.client.map_or(&[][..], |client| client.arguments).chunks(2);
        let arguments =
            arguments.filter_map(|option| option.iter().map(|text| known(text)).collect::<Option<Vec<_>>>());
        let (program, rest) = self.command.split_at(1.min(self.command.len()));
        let command = program.iter().cloned().chain(arguments.flatten()).chain(rest.iter().cloned());
        record([
            ("command", strings(command.collect())),
            ("variables", Node::object(Object::from_members(variables))),
            ("defaults", Node::object(Object::from_members(defaults))),
            ("removed", strings(removed.iter().map(ToString::to_string).collect())),
            ("keys", strings(self.keys.clone())),
        ])
    }
}

/// Escapes a text for a string in JSON, or a basic string in TOML.
fn escaped(text: &str) -> String {
    let written = json::write(&Node::string(text));
    written.trim_start_matches('"').strip_suffix('"').unwrap_or_default().into()
}

/// Prepares the command for the host.
pub(crate) fn run(arguments: RunArguments, gathered: Gathering) -> Result<Hosted, CommandError> {
    let failed = |message: String| CommandError::new("", message).in_source("run");
    let client = match arguments.client.as_deref() {
        Some(name) => CLIENTS.iter().find(|client| client.name == name),
        None => of_command(&arguments.command),
    };
    if client.is_none() && arguments.variables.is_empty() {
        let known: Vec<String> = CLIENTS.iter().map(|client| format!("`{}`", client.program)).collect();
        let known = known.join(", ");
        let message = format!("expected a known client ({known}), or `--variable NAME`, found neither");
        return Err(failed(message));
    }
    let mut relay = arguments.relay;
    let (mut path, mut keys, mut is_own) = (String::new(), Vec::new(), false);
    match (&arguments.on, &relay.config) {
        (Some(name), Some(_)) => path = format!("/{name}"),
        (Some(name), None) => {
            let dialect =
                ALIASES.iter().find(|(alias, _)| alias == name).map_or(name.as_str(), |(_, dialect)| *dialect);
            let endpoint = Endpoint::of(dialect).filter(|one| !one.base.unwrap_or(one.example).contains("NAME"));
            let endpoint = endpoint.ok_or_else(|| failed(unknown(name)))?;
            relay.upstream = Some(base(endpoint, client.map(|client| client.api), name).map_err(failed)?);
            is_own = client.is_some_and(|client| client.own == Some(endpoint.dialect));
            keys.extend(endpoint.key.variables.iter().map(ToString::to_string));
            // A server of the user has no host by which it could be recognized.
            if endpoint.hosts.is_empty() {
                relay.dialect = relay.dialect.or_else(|| Some(endpoint.dialect.into()));
            }
        }
        (None, _) => {}
    }
    if let Some(name) = arguments.key_env {
        (keys, is_own) = (Vec::from([name]), false);
    }
    if is_own {
        keys.clear();
    }
    let listen = Listen::read(LISTEN).map_err(failed)?;
    let mut settings = settings::of("run", &relay, gathered, Some(listen))?;
    if !path.is_empty() && !settings.upstreams.iter().any(|upstream| upstream.path == path) {
        let paths: Vec<String> = settings.upstreams.iter().map(|one| format!("`{}`", one.path)).collect();
        return Err(failed(format!("--on: expected the path of an upstream ({}), found `{path}`", paths.join(", "))));
    }
    settings.client = Some(Started {
        command: arguments.command,
        path,
        model: arguments.model,
        keys,
        variables: arguments.variables,
        client,
    });
    Ok(Hosted::new("run", Need::Relay(settings.document(relay.report.as_deref()))))
}

fn unknown(name: &str) -> String {
    let aliases = ALIASES.iter().map(|(alias, _)| *alias);
    let known = ENDPOINTS.iter().map(|endpoint| endpoint.dialect).filter(|dialect| !dialect.ends_with("-strict"));
    let known: Vec<&str> = aliases.chain(known).collect();
    format!("--on: expected one of {}, found `{name}`", known.join(", "))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn page_lists_every_fact() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/run.md");
        let page = std::fs::read_to_string(path).expect("the page");
        for Client { program, variables, defaults, removed, source, as_of, confidence, .. } in CLIENTS {
            let row = page.lines().find(|line| line.starts_with(&format!("| `{program}` |"))).unwrap_or_default();
            assert!(row.ends_with(&format!("| {source} ({as_of}, {confidence}) |")), "docs/run.md: {program}");
            for name in variables.iter().chain(*defaults).map(|(name, _)| name).chain(*removed) {
                assert!(row.contains(&format!("`{name}")), "docs/run.md: {program}: {name}");
            }
        }
        for Responses { dialect, source, as_of, confidence } in RESPONSES {
            let row = format!("| `{dialect}` | {source} ({as_of}, {confidence}) |\n");
            assert!(page.contains(&row), "docs/run.md: expected the row {row}");
            assert!(Endpoint::of(dialect).is_some(), "{dialect}");
        }
    }
}
