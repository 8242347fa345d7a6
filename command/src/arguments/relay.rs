//! The options of `toolwire relay`.

use clap::Args;

use super::RequestOptions;

pub(super) const EXAMPLES: &str = "\
The agent uses the relay's URL as its base URL instead of the API's. Paths, queries and headers pass unchanged,
including keys. The relay adapts the tools, response format and history of each request to the API, and restores
its replies, whole or streamed. http://127.0.0.1:8787/toolwire/last lists the last requests with their
changes: names and rules, without values.

Examples:
  toolwire relay --upstream https://api.moonshot.ai/anthropic
  toolwire relay --upstream http://127.0.0.1:8080 --dialect llama-cpp --verbose
  toolwire relay --config relay.toml

Exit codes: 0 the relay was stopped; 2 wrong usage, or an address on which it cannot listen.";

#[derive(Args, Debug)]
pub(crate) struct RelayArguments {
    /// Base URL of the API, without the path of an endpoint
    #[arg(long, value_name = "URL", conflicts_with = "config")]
    pub(crate) upstream: Option<String>,
    /// Configuration file with several upstreams, chosen by path or by model, which is read again when it changes; no
    /// other file is read
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<String>,
    #[command(flatten)]
    pub(crate) options: RequestOptions,
    /// Address to listen on (default: `127.0.0.1:8787`, for `run` any free port); port 0: any free port
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Option<String>,
    /// Environment variable that holds the token which clients must send in the header `X-Toolwire-Token`
    #[arg(long, value_name = "NAME")]
    pub(crate) token_env: Option<String>,
    /// Maximum silence of an API or a client, in seconds (default: 600)
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=super::MAX_SECONDS))]
    pub(crate) timeout: Option<u32>,
    /// Report every change on standard error: what, for which tool, and why
    #[arg(long)]
    pub(crate) verbose: bool,
    /// Append the names and rules of changes to a file, as JSON Lines, without values
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<String>,
}
