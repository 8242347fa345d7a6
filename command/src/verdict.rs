//! Reports on the arguments of a call, for standard error: repairs, remaining violations, and the verdict.

use toolwire::reports::{Confidence, Left, Repair};

use super::{
    error::place,
    finding::DOCS,
    task::Output,
    terminal::{counted, grouped, shown, Paint},
};

/// Maximum number of violations that the library reports.
const VIOLATIONS: usize = 100;
/// Maximum number of repairs that are shown, because arguments may be a long list of numbers in quotes.
const REPAIRS: usize = 100;

/// Verdict on the arguments of a call.
pub(crate) struct Verdict<'a> {
    /// Name before places in the arguments: their source, or the call.
    pub(crate) source: &'a str,
    /// Name of the tool, unless `source` contains it.
    pub(crate) tool: Option<&'a str>,
    pub(crate) valid: Option<bool>,
}

impl Verdict<'_> {
    /// Writes the verdict on unrepaired arguments.
    pub(crate) fn note(&self, output: &mut Output, violations: usize, paint: Paint) {
        self.line(output, "", &counted_violations(violations), paint);
    }

    /// Writes the repairs, with places in the original arguments, the remaining violations, with places in `result`,
    /// and the verdict.
    pub(crate) fn note_repaired(
        &self,
        output: &mut Output,
        result: &str,
        (repairs, left): (&[Repair], &[Left]),
        paint: Paint,
    ) {
        for repair in repairs.iter().take(REPAIRS) {
            let confidence = repair.confidence.as_str();
            let label = match repair.confidence {
                Confidence::Exact => paint.dim("toolwire:"),
                Confidence::Likely => paint.doubtful("toolwire:"),
            };
            let place = place(self.source, None, &repair.pointer);
            let (rule, message) = (repair.rule.as_str(), shown(&repair.message));
            output.note(&format!("{label} {place}: {rule} ({confidence}): {message}"));
        }
        if let Some(more @ 1..) = repairs.len().checked_sub(REPAIRS) {
            output.note(&format!("{} and {} more; `--json` has them all", paint.dim("toolwire:"), grouped(more)));
        }
        for left in left {
            let (label, place) = (paint.bad("toolwire:"), place(result, None, &left.pointer));
            output.note(&format!("{label} {place}: left ({}): {}", left.reason.as_str(), shown(&left.message)));
        }
        let after = match repairs.len() {
            0 => String::new(),
            repairs => format!(" after {}", counted(repairs, "repair")),
        };
        self.line(output, &after, &format!("{} left", counted_violations(left.len())), paint);
    }

    /// Writes the verdict.
    fn line(&self, output: &mut Output, after: &str, violations: &str, paint: Paint) {
        let source = shown(self.source);
        let whose = self.tool.map(|name| format!(" for `{}`", shown(name))).unwrap_or_default();
        let line = match self.valid {
            Some(true) => format!("{} {source}: valid{whose}{after}", paint.good("toolwire:")),
            Some(false) => format!("{} {source}: not valid{whose}{after}: {violations}", paint.bad("toolwire:")),
            None => format!(
                "{} {source}: cannot be judged{whose}{after}: nothing is known to be wrong, but not all of the \
                 schema can be judged, see {DOCS}functions/validate-arguments.md#what-cannot-be-judged",
                paint.doubtful("toolwire:")
            ),
        };
        output.note(&line);
    }
}

fn counted_violations(count: usize) -> String {
    let counted = counted(count, "violation");
    if count < VIOLATIONS {
        counted
    } else {
        format!("{counted} or more")
    }
}
