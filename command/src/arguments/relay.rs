//! The options of `toolwire relay`.

use clap::{builder::PossibleValuesParser, Args};
use toolwire::{
    internal::Choices as _,
    options::{Formats, Native, Overflow},
};

use super::{dialects, words, REPAIRS};

pub(super) const EXAMPLES: &str = "\
The agent's base URL is the relay's in place of the API's: paths, queries and headers pass as they are, keys included. \
Tools, response
formats and histories of requests are adapted to the API, and its replies are restored, whole and streamed. \
http://127.0.0.1:8787/toolwire/last
shows what was done, with names and rules and without values.

Examples:
  toolwire relay --upstream https://api.moonshot.ai/anthropic
  toolwire relay --upstream http://127.0.0.1:8080 --dialect llama-cpp --verbose
  toolwire relay --config relay.toml

Exit codes: 0 it was ended; 2 wrong usage, or an address at which it cannot listen.";

/// The word for the construct that is determined from host and model.
pub(crate) const AUTO: &str = "auto";

/// Words for the API's native construct for deferred tools.
pub(crate) fn natives() -> Vec<&'static str> {
    [AUTO].into_iter().chain(Native::CHOICES.iter().map(|(word, _)| *word)).collect()
}

#[derive(Args, Debug)]
pub(crate) struct RelayArguments {
    /// The URL of the API, without the paths that the agent asks for
    #[arg(long, value_name = "URL", conflicts_with = "config")]
    pub(crate) upstream: Option<String>,
    /// A file with several upstreams, by path or by model; no other file is read
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<String>,
    /// The dialect of the API, where host, path and model do not tell it
    #[arg(short, long, value_name = "DIALECT", value_parser = dialects(), hide_possible_values = true)]
    #[arg(conflicts_with = "config")]
    pub(crate) dialect: Option<String>,
    /// The API's own construct for deferred tools; `auto`: the one that is known of host and model
    #[arg(long, value_name = "CONSTRUCT", default_value = AUTO, conflicts_with = "config")]
    #[arg(value_parser = PossibleValuesParser::new(natives()))]
    pub(crate) native: String,
    /// The least confidence of a repair; `off`: calls are only restored
    #[arg(long, value_name = "CONFIDENCE", default_value = "likely", conflicts_with = "config")]
    #[arg(value_parser = PossibleValuesParser::new(REPAIRS))]
    pub(crate) repair: String,
    /// How the schema of a response format is sent
    #[arg(long, value_name = "HOW", default_value = "native", value_parser = words::<Formats>())]
    #[arg(conflicts_with = "config")]
    pub(crate) formats: String,
    /// What becomes of more tools than the API takes
    #[arg(long, value_name = "WHAT", default_value = "quarantine", value_parser = words::<Overflow>())]
    #[arg(conflicts_with = "config")]
    pub(crate) overflow: String,
    /// Where to listen (default: `127.0.0.1:8787`); port 0: any that is free
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Option<String>,
    /// The variable of the environment with the token that clients send in the header `X-Toolwire-Token`
    #[arg(long, value_name = "NAME")]
    pub(crate) token_env: Option<String>,
    /// How long an API or a client may be silent, in seconds (default: 600)
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=super::source::LONGEST))]
    pub(crate) timeout: Option<u32>,
    /// Says on standard error what was changed, for which tool and why
    #[arg(long)]
    pub(crate) verbose: bool,
    /// Adds names and rules of what was changed to a file, as JSON Lines
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<String>,
}
