//! `toolwire defer`: a request through deferred loading.

use toolwire::{apply_deferred_loading_json_with_report, internal::describe, json, DeferredReport};

use super::{
    arguments::DeferArguments,
    error::{Fault, FINE, FOUND},
    sanitize::beside,
    task::{Given, Outcome, Task},
    terminal::{counted, grouped, shown, Terminal},
};

/// The command at work.
pub(crate) struct Defer {
    pub(crate) arguments: DeferArguments,
    pub(crate) given: Given,
}

impl Task for Defer {
    fn finish(self: Box<Self>, terminal: &Terminal) -> Result<Outcome, Fault> {
        let fault = |error: toolwire::Error| Fault::of(&error, "");
        let done = apply_deferred_loading_json_with_report(&self.given.text, &self.arguments.options()).map_err(fault)?;
        let report = &done.report;
        let code = if report.unreachable { FOUND } else { FINE };
        if self.arguments.machine.json {
            let request = json::read(&done.request).map_err(fault)?;
            return Ok(Outcome::json(&beside("request", request, describe::deferred(report))).ends(code));
        }
        let mut outcome = Outcome::text(&done.request, self.arguments.layout.compact).ends(code);
        tell(report, &mut outcome, terminal);
        Ok(outcome)
    }
}

/// Says what was decided, and what is odd about it.
pub(crate) fn tell(report: &DeferredReport, outcome: &mut Outcome, terminal: &Terminal) {
    let (say, warn) = (terminal.err.dim("toolwire:"), terminal.err.doubtful("toolwire:"));
    let (loaded, hidden) = (counted(report.loaded.len(), "deferred tool"), grouped(report.hidden.len()));
    outcome.says(&format!("{say} {loaded} loaded, {hidden} hidden, {} saved", counted(report.saved_bytes, "byte")));
    for warning in &report.warnings {
        let name = warning.name.as_ref().map(|name| format!(" `{}`", shown(name))).unwrap_or_default();
        outcome.says(&format!("{warn} {}{name}", warning.code));
    }
    if report.unreachable {
        let why = "tools are hidden, and nothing tells the model of them";
        let how = "see `toolwire defer --help`: `--announce`, `--loaded-tool`, `--mode load-all`";
        outcome.says(&format!("{} {why}; {how}", terminal.err.bad("toolwire:")));
    }
}
