//! The options of `toolwire report`.

use clap::Args;

use super::{Connection, DialectChoice};

pub(super) const EXAMPLES: &str = "\
Writes index.html, and for each server a page (NAME.html), a badge (NAME.svg) and the JSON of a shields endpoint
(NAME.badge.json), at most 100 KB each. NAME is the name of the file or of the server, as a name for files. The pages need
no network. The folder must exist.

Examples:
  toolwire report --out site tools.json
  toolwire report --out site --lock servers.lock.json 'lists/*.json'
  toolwire report --out site --servers .mcp.json
  toolwire report --out lists --lists --name some-server -- npx -y some-mcp-server";

#[derive(Args, Debug)]
pub(crate) struct ReportArguments {
    /// JSON or JSON Lines files, one for each server; `*`, `**` and `?` are patterns; `-` or no file: standard input
    #[arg(value_name = "FILE", conflicts_with_all = ["server", "url"])]
    pub(crate) files: Vec<String>,
    /// Read every FILE as a literal name, without patterns
    #[arg(long)]
    pub(crate) no_patterns: bool,
    /// Folder to write to
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: String,
    /// File with the package, the version and the licence of each server, and the servers to leave out
    #[arg(long, value_name = "FILE")]
    pub(crate) lock: Option<String>,
    /// Write only the lists of tools (NAME.json), for another report or for `toolwire diff`
    #[arg(long)]
    pub(crate) lists: bool,
    /// Name of the only server, instead of that of its file or command
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) connection: Connection,
    #[command(flatten)]
    pub(crate) choice: DialectChoice,
}
