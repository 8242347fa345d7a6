//! The options of `toolwire restore`.

use clap::Args;

use super::{Layout, Machine};

pub(super) const EXAMPLES: &str = "\
Arguments are repaired, too, if `toolwire sanitize` was given `--repair`; what was repaired and is left is on standard \
error.

Examples:
  toolwire sanitize --dialect moonshot --json tools.json > rewritten.json
  toolwire restore --with rewritten.json reply.json
  echo '{\"dollar_ref_\": \"main\"}' | toolwire restore --with rewritten.json --call show_branch
  toolwire sanitize --dialect moonshot --json --repair tools.json > repairing.json
  toolwire restore --repair --with repairing.json reply.json

Exit codes: 0 fine; 1 arguments that were to be repaired are still not valid; 2 an input cannot be read.";

#[derive(Args, Debug)]
pub(crate) struct RestoreArguments {
    /// What `toolwire sanitize --json` printed
    #[arg(long, value_name = "FILE")]
    pub(crate) with: String,
    /// The name in the model's call; then the input is its arguments, and not a reply
    #[arg(long, value_name = "NAME")]
    pub(crate) call: Option<String>,
    /// Arguments have to be repaired: an error if `--with` keeps no schemas for that
    #[arg(long)]
    pub(crate) repair: bool,
    /// The reply, or the arguments of one schema's tool, as JSON; `-` or none: standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<String>,
    #[command(flatten)]
    pub(crate) layout: Layout,
    #[command(flatten)]
    pub(crate) machine: Machine,
}
