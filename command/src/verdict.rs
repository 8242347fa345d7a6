//! What is printed about the arguments of a call, on standard error: what was repaired, what is left, and the verdict.

use toolwire::reports::{Confidence, Left, Repair};

use super::{
    error::place,
    finding::DOCS,
    task::Output,
    terminal::{counted, grouped, shown, Paint},
};

/// As many violations the library tells.
const VIOLATIONS: usize = 100;
/// As many repairs are shown: arguments may be a long list of numbers in quotes.
const REPAIRS: usize = 100;

/// Whether the schema of a tool takes the arguments of a call.
pub(crate) struct Verdict<'a> {
    /// What places in the arguments stand behind: where they came from, or which call it is.
    pub(crate) source: &'a str,
    /// The tool's name, if it has one that `source` does not say.
    pub(crate) tool: Option<&'a str>,
    pub(crate) valid: Option<bool>,
}

impl Verdict<'_> {
    /// The verdict on arguments as they are.
    pub(crate) fn note(&self, output: &mut Output, violations: usize, paint: Paint) {
        self.line(output, "", &counted_violations(violations), paint);
    }

    /// What was repaired, at its place in the arguments as answered, what is left, at its place in the `result`, and
    /// the verdict.
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

    /// The last line.
    fn line(&self, output: &mut Output, after: &str, violations: &str, paint: Paint) {
        let source = shown(self.source);
        let whose = self.tool.map(|name| format!(" for `{}`", shown(name))).unwrap_or_default();
        let line = match self.valid {
            Some(true) => format!("{} {source}: valid{whose}{after}", paint.good("toolwire:")),
            Some(false) => format!("{} {source}: not valid{whose}{after}: {violations}", paint.bad("toolwire:")),
            None => format!(
                "{} {source}: cannot be judged{whose}{after}: nothing is known to be wrong, but not all of the \
                 schema can be judged, see {DOCS}functions/validate-arguments.md#where-it-cannot-be-told",
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
