//! The options of `toolwire probe`, which asks the API itself.

use clap::{builder::PossibleValuesParser, Args};

use super::{source::Connection, Machine};
use crate::probe::endpoints::ENDPOINTS;

pub(super) const EXAMPLES: &str = "\
The first request has all the tools: if the API takes them, that was all. Otherwise it is asked until it is known
which tools it refuses. Every request costs what one of a few tokens costs, and its tools. `--dry-run` shows the
first one, and sends nothing.

Examples:
  toolwire probe -d openai-chat --model gpt-5-mini --dry-run tools.json
  OPENAI_API_KEY=… toolwire probe -d openai-chat --model gpt-5-mini tools.json
  toolwire probe -d vllm --url http://localhost:8000/v1 --model Qwen/Qwen3-8B tools.json
  toolwire probe -d gemini --model gemini-2.5-flash --record answers.jsonl -- npx -y some-mcp-server

Exit codes: 0 the API takes every tool, as `toolwire check` says; 1 it refuses one, or the two differ; 2 it could not
be asked about all of them.";

#[derive(Args, Debug)]
pub(crate) struct ProbeArguments {
    /// JSON or JSON Lines; `-` or none: standard input
    #[arg(value_name = "FILE", conflicts_with_all = ["server", "servers"])]
    pub(crate) file: Option<String>,
    /// Whose API, and in which mode: the dialect that its answers are compared with
    #[arg(short, long, value_name = "DIALECT", value_parser = asked(), hide_possible_values = true)]
    pub(crate) dialect: String,
    /// The model that is asked
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) model: String,
    /// Another server that speaks as this API does: what stands before `/chat/completions` and the like
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// The variable of the environment that holds the key, where it is not the API's own
    #[arg(long, value_name = "NAME")]
    pub(crate) key_env: Option<String>,
    /// A header for the API, as `Name: value` (repeatable)
    #[arg(long = "header", value_name = "HEADER")]
    pub(crate) headers: Vec<String>,
    /// How long each answer may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) timeout: u32,
    /// Only these tools (repeatable)
    #[arg(short, long = "tool", value_name = "NAME")]
    pub(crate) tools: Vec<String>,
    /// The most requests that are sent, repeated ones included
    #[arg(long, value_name = "REQUESTS", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// The most tokens that the model may answer with
    #[arg(long, value_name = "TOKENS", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tokens: u32,
    /// Prints the first request, without the key, and sends nothing
    #[arg(long, conflicts_with_all = ["record", "json"])]
    pub(crate) dry_run: bool,
    /// Adds what was answered to a file, in the form of the project's evidence, without what is private
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<String>,
    /// In that file, names, texts and values stay: for tools that everybody may read
    #[arg(long, requires = "record")]
    pub(crate) keep_names: bool,
    /// The `mcp.json` whose server is asked for its tools; no other file is read for servers
    #[arg(long, value_name = "FILE", conflicts_with = "server")]
    pub(crate) servers: Option<String>,
    /// Only this server of the file that `--servers` names
    #[arg(long = "server", value_name = "NAME", id = "only", requires = "servers")]
    pub(crate) only: Option<String>,
    /// A variable of the environment that the server after `--` gets, or that `${NAME}` in the file of `--servers` may
    /// use (repeatable)
    #[arg(long = "env", value_name = "NAME")]
    pub(crate) environment: Vec<String>,
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// An MCP server to start (after `--`)
    #[arg(last = true, value_name = "SERVER")]
    pub(crate) server: Vec<String>,
}

impl ProbeArguments {
    /// Returns the server whose tools are the input. (`--url` is the URL of the API.)
    pub(crate) fn connection(&self) -> Connection {
        Connection {
            servers: self.servers.clone(),
            only: self.only.iter().cloned().collect(),
            url: None,
            headers: Vec::new(),
            timeout: self.timeout,
            environment: self.environment.clone(),
            server: self.server.clone(),
        }
    }
}

fn asked() -> PossibleValuesParser {
    PossibleValuesParser::new(ENDPOINTS.iter().map(|endpoint| endpoint.dialect))
}
