//! The options of `toolwire validate`, and their conversion to the library's options.

use clap::{builder::PossibleValuesParser, Args};

use toolwire::{
    options::{Confidence, Truncated},
    reports::RepairRule,
    RepairOptions,
};

use super::{choice, words, Layout, Machine};

pub(super) const EXAMPLES: &str = "\
Messages contain places, names and kinds of values, but no values of the arguments.

Examples:
  toolwire validate arguments.json --schema schema.json
  toolwire validate arguments.json --schema tools.json --tool search
  echo \"{'ids': '[1, 2]',}\" | toolwire validate --schema schema.json --repair > repaired.json
  toolwire validate --repair --confidence exact --disable fence,comment --schema schema.json < answer.txt

Exit codes: 0 the arguments are valid (with --repair: after repair); 1 they are invalid; 2 unreadable input, or a
schema that cannot be used to judge them.";

#[derive(Args, Debug)]
pub(crate) struct ValidateArguments {
    /// Arguments of one call, as the model wrote them; `-` or no file: standard input
    #[arg(value_name = "ARGUMENTS")]
    pub(crate) file: Option<String>,
    /// Original schema, tool or (with `--tool`) list of tools; `-`: standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: String,
    /// Name of the tool; not needed if there is only one
    #[arg(short, long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Print the repaired arguments, and report the repairs and the remaining violations on standard error
    #[arg(long)]
    pub(crate) repair: bool,
    #[command(flatten)]
    pub(crate) layout: Layout,
    #[command(flatten)]
    pub(crate) machine: Machine,
    // The last member, because its heading applies to all options after it.
    #[command(flatten)]
    pub(crate) repairing: Repairing,
}

/// The options of `--repair`.
#[derive(Args, Debug)]
#[command(next_help_heading = "With --repair")]
pub(crate) struct Repairing {
    /// Minimum confidence of a repair (default: `likely`)
    #[arg(long, value_name = "CONFIDENCE", requires = "repair", value_parser = confidences())]
    pub(crate) confidence: Option<String>,
    /// Repair rules to disable (comma-separated or repeated)
    #[arg(long, value_name = "RULE", value_delimiter = ',', requires = "repair")]
    #[arg(value_parser = rules(), hide_possible_values = true)]
    pub(crate) disable: Vec<String>,
    /// Fill required members that are missing, null or blank with the `default` of their schema
    #[arg(long, requires = "repair")]
    pub(crate) use_defaults: bool,
    /// Remove undeclared members of closed objects
    #[arg(long, requires = "repair")]
    pub(crate) remove_additional: bool,
    /// Handling of truncated text: an error, or adding the missing brackets (default: `refuse`)
    #[arg(long, value_name = "WHAT", requires = "repair", value_parser = words::<Truncated>())]
    pub(crate) truncated: Option<String>,
}

impl Repairing {
    pub(crate) fn options(&self, name: Option<&str>) -> RepairOptions {
        let mut options = RepairOptions::default()
            .disable(self.disable.iter().filter_map(|name| RepairRule::named(name)))
            .use_defaults(self.use_defaults)
            .remove_additional(self.remove_additional)
            .truncated(choice(self.truncated.as_deref()).unwrap_or(Truncated::Refuse));
        if self.confidence.as_deref() == Some(Confidence::Exact.as_str()) {
            options.confidence = Confidence::Exact;
        }
        options.name = name.map(String::from);
        options
    }
}

fn confidences() -> PossibleValuesParser {
    PossibleValuesParser::new([Confidence::Exact, Confidence::Likely].map(Confidence::as_str))
}

fn rules() -> PossibleValuesParser {
    PossibleValuesParser::new(RepairRule::ALL.iter().map(|rule| rule.as_str()))
}
