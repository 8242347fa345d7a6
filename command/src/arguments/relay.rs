//! The options of `toolwire relay`.

use clap::{builder::PossibleValuesParser, Args};
use toolwire::{
    internal::Choices,
    options::{Formats, Native, Overflow},
};

use super::{dialects, words, REPAIRS};

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

/// The word for the construct that is determined from host and model.
pub(crate) const AUTO: &str = "auto";
/// Defaults of the other options.
const LIKELY: &str = "likely";
const NATIVE: &str = "native";
const QUARANTINE: &str = "quarantine";

/// Words for the API's native construct for deferred tools.
pub(crate) fn natives() -> Vec<&'static str> {
    [AUTO].into_iter().chain(Native::CHOICES.iter().map(|(word, _)| *word)).collect()
}

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
    pub(crate) options: RequestWords,
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

/// Options for the requests to an API, in words. [`Self::NAMES`] are their names in `relay.toml` and in settings, too.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestWords {
    /// Dialect of the API, if the host, the path and the model do not determine it
    #[arg(short, long, value_name = "DIALECT", value_parser = dialects(), hide_possible_values = true)]
    #[arg(conflicts_with = "config")]
    pub(crate) dialect: Option<String>,
    /// Native construct for deferred tools that the API supports; `auto`: determined by the host and the model
    #[arg(long, value_name = "CONSTRUCT", default_value = AUTO, conflicts_with = "config")]
    #[arg(value_parser = PossibleValuesParser::new(natives()))]
    pub(crate) native: String,
    /// Minimum confidence of a repair; `off`: calls are restored, but not repaired
    #[arg(long, value_name = "CONFIDENCE", default_value = LIKELY, conflicts_with = "config")]
    #[arg(value_parser = PossibleValuesParser::new(REPAIRS))]
    pub(crate) repair: String,
    /// Form in which the schema of a response format is sent
    #[arg(long, value_name = "HOW", default_value = NATIVE, value_parser = words::<Formats>())]
    #[arg(conflicts_with = "config")]
    pub(crate) formats: String,
    /// Handling of a request that has more tools than the API accepts: set aside or defer the excess
    #[arg(long, value_name = "WHAT", default_value = QUARANTINE, value_parser = words::<Overflow>())]
    #[arg(conflicts_with = "config")]
    pub(crate) overflow: String,
}

impl Default for RequestWords {
    fn default() -> RequestWords {
        RequestWords {
            dialect: None,
            native: AUTO.into(),
            repair: LIKELY.into(),
            formats: NATIVE.into(),
            overflow: QUARANTINE.into(),
        }
    }
}

impl RequestWords {
    pub(crate) const NAMES: [&str; 5] = ["dialect", "native", "repair", "formats", "overflow"];

    /// Returns the values, in the order of the names. The dialect may be absent.
    pub(crate) fn values(&self) -> [Option<&str>; 5] {
        let RequestWords { dialect, native, repair, formats, overflow } = self;
        [dialect.as_deref(), Some(native), Some(repair), Some(formats), Some(overflow)]
    }

    /// Sets the option with a name.
    pub(crate) fn set(&mut self, name: &str, value: String) {
        match name {
            "dialect" => self.dialect = Some(value),
            "native" => self.native = value,
            "repair" => self.repair = value,
            "formats" => self.formats = value,
            "overflow" => self.overflow = value,
            _ => {}
        }
    }

    /// Returns the words that an option accepts; `None` for the dialect.
    pub(crate) fn choices(name: &str) -> Option<Vec<&'static str>> {
        fn words<T: Choices>() -> Vec<&'static str> {
            T::CHOICES.iter().map(|(word, _)| *word).collect()
        }
        match name {
            "native" => Some(natives()),
            "repair" => Some(REPAIRS.to_vec()),
            "formats" => Some(words::<Formats>()),
            "overflow" => Some(words::<Overflow>()),
            _ => None,
        }
    }
}
