//! The options of `toolwire probe`, which asks the API itself.

use clap::{builder::PossibleValuesParser, Args};

use super::{Connection, Machine};
use crate::probe::endpoints::ENDPOINTS;

pub(super) const EXAMPLES: &str = "\
The first request contains all tools. If the API refuses it, further requests determine which tools it refuses.
Each request uses tokens: its tools as input, and a few as output. `--dry-run` prints the first request and sends
nothing.

Examples:
  toolwire probe -d openai-chat --model gpt-5-mini --dry-run tools.json
  OPENAI_API_KEY=… toolwire probe -d openai-chat --model gpt-5-mini tools.json
  toolwire probe -d vllm --url http://localhost:8000/v1 --model Qwen/Qwen3-8B tools.json
  toolwire probe -d gemini --model gemini-2.5-flash --record answers.jsonl -- npx -y some-mcp-server

Exit codes: 0 the API accepts every tool, and `toolwire check` agrees; 1 the API refuses a tool, or the two disagree;
2 not every tool could be tested.";

#[derive(Args, Debug)]
pub(crate) struct ProbeArguments {
    /// JSON or JSON Lines file; `-` or no file: standard input
    #[arg(value_name = "FILE", conflicts_with_all = ["server", "servers"])]
    pub(crate) file: Option<String>,
    /// Dialect of the API, in one of its modes; the API's answers are compared with it
    #[arg(short, long, value_name = "DIALECT", value_parser = probed_dialects(), hide_possible_values = true)]
    pub(crate) dialect: String,
    /// Model to send the requests to
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) model: String,
    /// Base URL of another server with the same API: the URL without `/chat/completions` and the like
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Environment variable that holds the key, if it is not the API's usual one
    #[arg(long, value_name = "NAME")]
    pub(crate) key_env: Option<String>,
    /// Header for the API, as `Name: value` (repeatable)
    #[arg(long = "header", value_name = "HEADER")]
    pub(crate) headers: Vec<String>,
    /// Maximum time for each answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) timeout: u32,
    /// Only these tools (repeatable)
    #[arg(short, long = "tool", value_name = "NAME")]
    pub(crate) tools: Vec<String>,
    /// Maximum number of requests, including retries
    #[arg(long, value_name = "REQUESTS", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Maximum number of tokens of each answer
    #[arg(long, value_name = "TOKENS", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tokens: u32,
    /// Print the first request, without the key, and send nothing
    #[arg(long, conflicts_with_all = ["record", "json"])]
    pub(crate) dry_run: bool,
    /// Append the answers to a file, in the format of the project's evidence, without private data
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<String>,
    /// Keep names, descriptions and values in the file, for public tools
    #[arg(long, requires = "record")]
    pub(crate) keep_names: bool,
    /// An `mcp.json` with the server whose tools are sent; no other file is searched for servers
    #[arg(long, value_name = "FILE", conflicts_with = "server")]
    pub(crate) servers: Option<String>,
    /// Use this server of `--servers`
    #[arg(long = "server", value_name = "NAME", id = "only", requires = "servers")]
    pub(crate) only: Option<String>,
    /// Environment variable to pass to the server after `--`, or to substitute for `${NAME}` in the file of `--servers`
    /// (repeatable)
    #[arg(long = "env", value_name = "NAME")]
    pub(crate) environment: Vec<String>,
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// Command that starts an MCP server (after `--`)
    #[arg(last = true, value_name = "SERVER")]
    pub(crate) server: Vec<String>,
}

impl ProbeArguments {
    /// `--url` is the URL of the API, not of a server.
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

fn probed_dialects() -> PossibleValuesParser {
    PossibleValuesParser::new(ENDPOINTS.iter().map(|endpoint| endpoint.dialect))
}
