//! The options of `toolwire restore`.

use clap::Args;

use super::{Layout, Machine};

pub(super) const EXAMPLES: &str = "\
Arguments are also repaired if `toolwire sanitize` ran with `--repair`. Repairs and the remaining violations are
reported on standard error.

Examples:
  toolwire sanitize --dialect moonshot --json tools.json > rewritten.json
  toolwire restore --with rewritten.json reply.json
  echo '{\"dollar_ref_\": \"main\"}' | toolwire restore --with rewritten.json --call show_branch
  toolwire sanitize --dialect moonshot --json --repair tools.json > repairing.json
  toolwire restore --repair --with repairing.json reply.json

Exit codes: 0 success; 1 arguments are still invalid after repair; 2 wrong usage, or unreadable input.";

#[derive(Args, Debug)]
pub(crate) struct RestoreArguments {
    /// Output of `toolwire sanitize --json`
    #[arg(long, value_name = "FILE")]
    pub(crate) with: String,
    /// Name of the tool in the model's call: the input is the arguments of the call, not a reply
    #[arg(long, value_name = "NAME")]
    pub(crate) call: Option<String>,
    /// Require repairs: fail if `--with` contains no schemas for them
    #[arg(long)]
    pub(crate) repair: bool,
    /// Reply of the model, or the arguments of one call, as JSON; `-` or no file: standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<String>,
    #[command(flatten)]
    pub(crate) layout: Layout,
    #[command(flatten)]
    pub(crate) machine: Machine,
}
