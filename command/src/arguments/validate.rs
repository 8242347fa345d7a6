//! The options of `toolwire validate`, as the library's.

use clap::{builder::PossibleValuesParser, Args};

use toolwire::{
    options::{Confidence, Truncated},
    reports::RepairRule,
    RepairOptions,
};

use super::{choice, words, Layout, Machine};

pub(super) const EXAMPLES: &str = "\
Messages have places, names and kinds of values, and no value of the arguments.

Examples:
  toolwire validate arguments.json --schema schema.json
  toolwire validate arguments.json --schema tools.json --tool search
  echo \"{'ids': '[1, 2]',}\" | toolwire validate --schema schema.json --repair > repaired.json
  toolwire validate --repair --confidence exact --disable fence,comment --schema schema.json < answer.txt

Exit codes: 0 the schema takes the arguments, with --repair: as they are then; 1 it does not; 2 they cannot be read, \
or it cannot be
judged whether it takes them.";

#[derive(Args, Debug)]
pub(crate) struct ValidateArguments {
    /// The arguments of one call, as the model answered them; `-` or none: standard input
    #[arg(value_name = "ARGUMENTS")]
    pub(crate) file: Option<String>,
    /// The tool's own schema, the tool, or tools with `--tool`; `-`: standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: String,
    /// The tool's name; not needed if there is only one
    #[arg(short, long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Prints the repaired arguments, and what was repaired and is left on standard error
    #[arg(long)]
    pub(crate) repair: bool,
    #[command(flatten)]
    pub(crate) layout: Layout,
    #[command(flatten)]
    pub(crate) machine: Machine,
    // Last, because its heading would apply to all options after it.
    #[command(flatten)]
    pub(crate) repairing: Repairing,
}

/// The options of `--repair`.
#[derive(Args, Debug)]
#[command(next_help_heading = "With --repair")]
pub(crate) struct Repairing {
    /// The least confidence that a repair may have (default: `likely`)
    #[arg(long, value_name = "CONFIDENCE", requires = "repair", value_parser = confidences())]
    pub(crate) confidence: Option<String>,
    /// Rules that are not applied (repeatable)
    #[arg(long, value_name = "RULE", value_delimiter = ',', requires = "repair")]
    #[arg(value_parser = rules(), hide_possible_values = true)]
    pub(crate) disable: Vec<String>,
    /// A required member that is missing, null or blank gets the schema's own default
    #[arg(long, requires = "repair")]
    pub(crate) use_defaults: bool,
    /// Undeclared members of closed objects are left out
    #[arg(long, requires = "repair")]
    pub(crate) remove_additional: bool,
    /// What becomes of text that breaks off (default: `refuse`)
    #[arg(long, value_name = "WHAT", requires = "repair", value_parser = words::<Truncated>())]
    pub(crate) truncated: Option<String>,
}

impl Repairing {
    /// Converts the arguments to the library's options, for a tool of that name.
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
