//! Evaluates the tools of a list for one dialect.

use std::collections::BTreeMap;

use toolwire::{
    internal,
    json::Node,
    options::Allow,
    reports::{Change, Severity, ToolChange},
    Dialect, Error, SanitizeOptions, ToolsOptions,
};

use super::{Loss, Named, Reason, Verdict};
use crate::{input::Subject, outcome::Outcome};

/// Evaluates the tools of a list for one dialect.
pub(crate) struct Evaluator<'m> {
    pub(crate) dialect: &'static Dialect,
    pub(crate) allow: Allow,
    pub(crate) tools: &'m [Named],
}

impl Evaluator<'_> {
    /// Returns a verdict for each tool.
    pub(crate) fn all(&self, subject: Subject<'_>) -> Result<Vec<Verdict>, Error> {
        match subject {
            Subject::Schemas(schemas) => {
                schemas.into_iter().enumerate().map(|(at, schema)| self.schema(at, schema)).collect()
            }
            Subject::Tools(list) | Subject::Request(list) => self.list(list),
        }
    }

    fn options(&self) -> SanitizeOptions {
        SanitizeOptions::new(self.dialect.name).allow(self.allow)
    }

    fn list(&self, tools: Node<'_>) -> Result<Vec<Verdict>, Error> {
        let mut verdicts: Vec<Verdict> = self.tools.iter().map(|_| untouched()).collect();
        let known: BTreeMap<&str, usize> =
            self.tools.iter().enumerate().map(|(at, tool)| (tool.pointer.as_str(), at)).collect();
        for violation in internal::check_tools(tools.clone(), &[self.dialect])? {
            if let Some(verdict) = owner(&known, &violation.pointer).and_then(|at| verdicts.get_mut(at)) {
                verdict.meets(Reason {
                    severity: violation.severity,
                    rule: violation.constraint,
                    pointer: violation.pointer,
                    message: violation.message,
                });
            }
        }
        let mut options = ToolsOptions::new(self.dialect.name);
        options.sanitize = self.options();
        let (_, outcome) = internal::sanitize_tools(tools, &options, true)?;
        for ToolChange { change, .. } in &outcome.changes {
            if let Some(verdict) = owner(&known, &change.pointer).and_then(|at| verdicts.get_mut(at)) {
                verdict.add(change, "");
            }
        }
        for refused in outcome.quarantined {
            if let Some(verdict) = owner(&known, &refused.pointer).and_then(|at| verdicts.get_mut(at)) {
                // `check` reports only the first tool beyond a limit; the API refuses the tools after it, too.
                if internal::limits_whole_request(self.dialect, refused.rule) && verdict.accepted {
                    verdict.meets(Reason {
                        severity: Severity::Refused,
                        rule: refused.rule,
                        pointer: refused.pointer.clone(),
                        message: refused.message.clone(),
                    });
                }
                verdict.refuse(refused.rule, refused.pointer, refused.message);
            }
        }
        Ok(verdicts)
    }

    fn schema(&self, at: usize, mut schema: Node<'_>) -> Result<Verdict, Error> {
        let options = self.options();
        let above = format!("/{at}");
        let mut verdict = untouched();
        for violation in internal::check(&schema, &options)? {
            verdict.meets(Reason {
                severity: violation.severity,
                rule: violation.constraint,
                pointer: format!("{above}{}", violation.pointer),
                message: violation.message,
            });
        }
        match internal::sanitize(&mut schema, &options, true) {
            Ok(changes) => changes.iter().for_each(|change| verdict.add(change, &above)),
            Err(error) => {
                verdict.refuse(error.code().as_str(), format!("{above}{}", error.pointer()), error.message().to_owned())
            }
        }
        Ok(verdict)
    }
}

const fn untouched() -> Verdict {
    Verdict {
        accepted: true,
        reinterpreted: false,
        ignored: false,
        reasons: Vec::new(),
        outcome: Outcome::Unchanged,
        losses: Vec::new(),
    }
}

impl Verdict {
    fn meets(&mut self, reason: Reason) {
        match reason.severity {
            Severity::Refused => self.accepted = false,
            Severity::Reinterpreted => self.reinterpreted = true,
            Severity::Ignored => self.ignored = true,
        }
        self.reasons.push(reason);
    }

    fn add(&mut self, change: &Change, above: &str) {
        let outcome = Outcome::of(change);
        // `check` reports only the first strict tool beyond the limit; the tools after it are not accepted either.
        self.accepted &= outcome != Outcome::NotStrict;
        self.outcome = self.outcome.max(outcome);
        if outcome >= Outcome::Closed {
            let pointer = format!("{above}{}", change.pointer);
            self.losses.push(Loss { outcome, rule: change.rule, pointer, message: change.message.clone() });
        }
    }

    fn refuse(&mut self, rule: &'static str, pointer: String, message: String) {
        self.outcome = Outcome::Refused;
        self.losses = Vec::from([Loss { outcome: Outcome::Refused, rule, pointer, message }]);
    }
}

/// Returns the tool that contains the target of a pointer.
fn owner(known: &BTreeMap<&str, usize>, pointer: &str) -> Option<usize> {
    let ends = pointer.match_indices('/').map(|(end, _)| end).skip(1).chain([pointer.len()]);
    ends.filter_map(|end| pointer.get(..end)).find_map(|above| known.get(above).copied())
}
