//! All figures of the page and the plots.

use std::error::Error;

use super::{
    broken::{api_columns, keywords, rules, ViolationCount},
    count::{Census, Outcome, OutcomeCounts, Tally},
    plot::{Bars, COLORS, NOT_YET, TAKEN},
};

/// Number of rules in the table.
pub(crate) const RULES: usize = 10;
const KEYWORDS: usize = 10;

pub(crate) struct Figures {
    pub(crate) census: Census,
    /// By dialect.
    pub(crate) tallies: Vec<(&'static str, Tally)>,
    pub(crate) rules: Vec<ViolationCount>,
    pub(crate) keywords: Vec<ViolationCount>,
    /// Pairs of a tool and a dialect of an API.
    pub(crate) cases: usize,
    /// Tools that every API accepts unchanged.
    pub(crate) everywhere: usize,
}

impl Figures {
    pub(crate) fn of(census: Census) -> Figures {
        let tallies = census.columns.iter().map(|column| (column.dialect.name, column.tally(&census.tools))).collect();
        let (rules, keywords) = (rules(&census, RULES), keywords(&census, KEYWORDS));
        let cases = api_columns(&census).count() * census.tools.tools.len();
        let is_taken = |schema: usize| {
            api_columns(&census)
                .all(|column| column.verdicts.get(schema).is_some_and(|verdict| verdict.outcome == Outcome::AsItIs))
        };
        let everywhere = census.tools.tools.iter().filter(|(_, schema)| is_taken(*schema)).count();
        Figures { census, tallies, rules, keywords, cases, everywhere }
    }

    pub(crate) fn alt_of_tools(&self) -> String {
        format!(
            "For each dialect, the shares of {} tools by result; the table below has the numbers",
            number(self.census.tools.tools.len())
        )
    }

    pub(crate) fn alt_of_servers(&self) -> String {
        format!("For each dialect, the shares of {} servers by the result of their worst tool; the table below has the numbers", self.census.tools.servers)
    }

    pub(crate) fn alt_of_rules(&self) -> String {
        format!("The {} rules that are violated in most cases, and the number of cases in which nothing else is refused; the table below has the numbers", self.rules.len())
    }

    pub(crate) fn plots(&self) -> Result<[(&'static str, String); 3], Box<dyn Error>> {
        let outcomes: Vec<_> = Outcome::ALL.map(Outcome::word).into_iter().zip(COLORS).collect();
        let shares = |of: fn(&Tally) -> &OutcomeCounts| {
            let rows = self.tallies.iter().map(move |(name, tally)| {
                let all = of(tally).all().max(1) as f64;
                (*name, of(tally).0.iter().map(|count| *count as f64 / all * 100.0).collect::<Vec<f64>>())
            });
            rows.collect::<Vec<_>>()
        };
        let of_fates = |title: &str, description: &str, x_label: &str, rows| {
            let y_label = "dialect";
            Bars { title, description, x_label, y_label, longest: 100, unit: " %", segments: &outcomes, rows }.draw()
        };
        let rows = self
            .rules
            .iter()
            .map(|broken| (broken.name.as_str(), vec![broken.alone as f64, (broken.cases - broken.alone) as f64]));
        let rules = Bars {
            title: "The rules violated most often",
            description: &self.alt_of_rules(),
            x_label: "cases (a tool on an API surface)",
            y_label: "rule",
            // Slightly more than the longest bar.
            longest: self.rules.iter().map(|broken| broken.cases + broken.cases / 20).max().unwrap_or(0).max(1),
            unit: "",
            segments: &[("accepted once this alone is fixed", TAKEN), ("other rules are violated, too", NOT_YET)],
            rows: rows.collect(),
        };
        Ok([
            (
                "tools.svg",
                of_fates(
                    "Which real tools each API accepts, and what rewriting costs",
                    &self.alt_of_tools(),
                    "share of tools",
                    shares(|tally| &tally.tools),
                )?,
            ),
            (
                "servers.svg",
                of_fates(
                    "Which real servers each API accepts: a server counts as its worst tool",
                    &self.alt_of_servers(),
                    "share of servers",
                    shares(|tally| &tally.servers),
                )?,
            ),
            ("rules.svg", rules.draw()?),
        ])
    }
}

/// Formats a share in percent with one decimal. 0.0 % and 100.0 % are only used for exact values.
pub(crate) fn share(part: usize, all: usize) -> String {
    // In tenths of a percent, rounded to nearest.
    let tenths = (part * 2000 + all) / (all * 2).max(1);
    let tenths = if part == 0 || part == all { tenths } else { tenths.clamp(1, 999) };
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// Formats a number with thousands separators.
pub(crate) fn number(count: usize) -> String {
    match (count / 1000, count % 1000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{},{rest:03}", number(thousands)),
    }
}
