//! `toolwire defer`: applies deferred loading to a request.

use toolwire::{
    apply_deferred_loading,
    internal::{describe, json},
    reports::DeferredReport,
};

use super::{
    arguments::DeferArguments,
    document::with_report,
    error::{CommandError, EXIT_FOUND, EXIT_SUCCESS},
    task::{Output, SourceText, Task},
    terminal::{counted, grouped, shown, Terminal},
};

pub(crate) struct Defer {
    pub(crate) arguments: DeferArguments,
    pub(crate) input: SourceText,
}

impl Task for Defer {
    fn finish(self: Box<Self>, terminal: &Terminal) -> Result<Output, CommandError> {
        let failed = |error: toolwire::Error| CommandError::from_core(&error, "");
        let done = apply_deferred_loading(&self.input.text, &self.arguments.options()).map_err(failed)?;
        let report = done.report().map_err(failed)?;
        let code = if report.unreachable { EXIT_FOUND } else { EXIT_SUCCESS };
        if self.arguments.machine.json {
            let request = json::read(&done.request).map_err(failed)?;
            return Ok(Output::json(&with_report(
                "request",
                request,
                describe::deferred(report, done.restore().map_err(failed)?),
            ))
            .with_exit_code(code));
        }
        let mut output = Output::data(&done.request, self.arguments.layout.compact).with_exit_code(code);
        render_report(report, &mut output, terminal);
        Ok(output)
    }
}

pub(crate) fn render_report(report: &DeferredReport, output: &mut Output, terminal: &Terminal) {
    let (info, caution) = (terminal.err.dim("toolwire:"), terminal.err.doubtful("toolwire:"));
    let (loaded, hidden) = (counted(report.loaded.len(), "deferred tool"), grouped(report.hidden.len()));
    output.add_note(&format!("{info} {loaded} loaded, {hidden} hidden, {} saved", counted(report.saved_bytes, "byte")));
    for warning in &report.warnings {
        let name = warning.name.as_ref().map(|name| format!(" `{}`", shown(name))).unwrap_or_default();
        let shown_location =
            warning.pointer.as_ref().map(|pointer| format!(" at `{}`", shown(pointer))).unwrap_or_default();
        output.add_note(&format!("{caution} {}{name}{shown_location}", warning.code));
    }
    if report.unreachable {
        let why = "tools are hidden, and the model is not told about them";
        let how = "see `toolwire defer --help`: `--announce`, `--loaded-tool`, `--mode load-all`";
        output.add_note(&format!("{} {why}; {how}", terminal.err.bad("toolwire:")));
    }
}
