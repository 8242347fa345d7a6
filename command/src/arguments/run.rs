//! The options of `toolwire run`: the options of `toolwire relay`, and the client.

use clap::{builder::PossibleValuesParser, Args};

use super::RelayArguments;
use crate::agents;

pub(super) const EXAMPLES: &str = "\
A relay runs on a free port as long as the client does, and the client uses it instead of the API. For Claude Code
(`claude`), Codex (`codex`) and opencode (`opencode`), the address, the key of the API and the model are passed to the
client; for other programs, name the variable of the base URL. Signals reach the client, whose exit code is that of
the command. The messages of the relay follow after its end, or at once with `--verbose`.

Examples:
  toolwire run --on kimi --model kimi-k3 -- claude
  toolwire run --on groq --model openai/gpt-oss-120b -- codex exec 'Summarize the open issues'
  toolwire run --upstream http://127.0.0.1:8080/v1 --variable OPENAI_BASE_URL -- python agent.py
  toolwire run --config relay.toml --on kimi -- claude

Exit codes: that of the client; 128 and the number of the signal that has ended it; 127 there is no such client;
126 it cannot be executed; 2 wrong usage.";

#[derive(Args, Debug)]
pub(crate) struct RunArguments {
    /// API that the client uses: a known one, or with `--config`, the path of an upstream without its first `/`
    #[arg(long, value_name = "API", conflicts_with = "upstream")]
    pub(crate) on: Option<String>,
    /// Client, if the name of the program does not determine it
    #[arg(long, value_name = "CLIENT", value_parser = PossibleValuesParser::new(agents::names()))]
    pub(crate) client: Option<String>,
    /// Model that the client uses
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Environment variable that holds the key of the API, if it is not the usual one
    #[arg(long, value_name = "NAME")]
    pub(crate) key_env: Option<String>,
    /// Environment variable in which the client expects the base URL of the API (repeatable)
    #[arg(long = "variable", value_name = "NAME")]
    pub(crate) variables: Vec<String>,
    #[command(flatten)]
    pub(crate) relay: RelayArguments,
    /// Client and its arguments (after `--`)
    #[arg(last = true, value_name = "CLIENT", id = "command", required = true)]
    pub(crate) command: Vec<String>,
}
