//! `toolwire validate`: validates the arguments of a call against the tool's own schema, and repairs them. Reports on
//! the arguments of a call are printed to standard error: repairs, remaining violations, and the verdict.

use toolwire::{
    internal::{self, describe, json},
    repair_arguments,
    reports::{Confidence, Left, Repair},
    validate_arguments, Code, Error, RepairOptions,
};

use super::{
    arguments::ValidateArguments,
    document::with_report,
    error::{format_location, CommandError, EXIT_FOUND, EXIT_SUCCESS, EXIT_UNUSABLE},
    finding::DOCS,
    input::{pick, Input, Subject},
    position::value_at,
    servers,
    task::{Output, SourceText, Task},
    terminal::{counted, grouped, shown, Paint, Terminal},
};

/// Source in messages whose pointers are into the result.
const RESULT: &str = "<stdout>";

pub(crate) struct Validate {
    pub(crate) arguments: ValidateArguments,
    pub(crate) input: SourceText,
    /// Input that contains the tool's schema.
    pub(crate) schema: SourceText,
}

struct Tool {
    name: Option<String>,
    /// Schema of the arguments, as JSON.
    schema: String,
    /// Line of the tool in its input. `pointer` is relative to that line.
    line: Option<usize>,
    pointer: String,
}

impl Task for Validate {
    fn finish(self: Box<Self>, terminal: &Terminal) -> Result<Output, CommandError> {
        let tool = self.tool().map_err(|error| error.in_source(&self.schema.source))?;
        match self.arguments.repair {
            true => self.repair(&tool, terminal),
            false => self.validate(&tool, terminal),
        }
    }
}

impl Validate {
    fn tool(&self) -> Result<Tool, CommandError> {
        let text = &self.schema.text;
        if servers::declared(text, 0).is_some() {
            let message = "expected a schema or tools, found servers: `validate` does not start servers";
            return Err(CommandError::new("", message));
        }
        let Input { subject, pointers } = Input::read(text)?.require_checkable()?;
        let entries = subject.entries().map_err(|error| pointers.locate(&error))?;
        let picked = pick(&subject, &entries, self.arguments.tool.as_deref(), "validate")?;
        let (line, pointer) = pointers.of(&picked.pointer);
        let schema = match &subject {
            Subject::Schemas(schemas) => {
                entries.iter().position(|entry| entry.pointer == picked.pointer).and_then(|at| schemas.get(at))
            }
            Subject::Tools(list) | Subject::Request(list) => {
                value_at(list, &picked.pointer).and_then(|tool| internal::schema_of(tool))
            }
        };
        // A tool without a schema accepts all arguments, so a verdict would be meaningless.
        let Some(schema) = schema else {
            let error = CommandError::new(pointer, "expected a tool with a schema, found one without");
            return Err(CommandError { line, ..error });
        };
        Ok(Tool { name: picked.name, schema: json::write(schema), line, pointer })
    }

    fn validate(&self, tool: &Tool, terminal: &Terminal) -> Result<Output, CommandError> {
        let found = validate_arguments(self.input.text.as_str(), tool.schema.as_str())
            .map_err(|error| self.failed(&error, tool))?;
        let code = exit_code(found.valid);
        if self.arguments.machine.json {
            return Ok(Output::json(&describe::validation(&found)).with_exit_code(code));
        }
        let mut out = String::new();
        for violation in &found.errors {
            let location = terminal.out.bold(&format_location(&self.input.source, None, &violation.pointer));
            out.push_str(&format!("{location}: {}\n", shown(&violation.message)));
        }
        let mut output = Output::new(out).with_exit_code(code);
        let verdict = Verdict { source: &self.input.source, tool: tool.name.as_deref(), valid: found.valid };
        verdict.add_note(&mut output, found.errors.len(), terminal.err);
        Ok(output)
    }

    fn repair(&self, tool: &Tool, terminal: &Terminal) -> Result<Output, CommandError> {
        let options = self.arguments.repairing.options(tool.name.as_deref());
        let repaired = repair_arguments(self.input.text.as_str(), tool.schema.as_str(), &options)
            .map_err(|error| self.failed(&error, tool))?;
        let code = exit_code(repaired.valid);
        if self.arguments.machine.json {
            let arguments = json::read(&repaired.arguments).map_err(|error| self.failed(&error, tool))?;
            let document = with_report("arguments", arguments, describe::repaired(&repaired));
            return Ok(Output::json(&document).with_exit_code(code));
        }
        let mut output = Output::data(&repaired.arguments, self.arguments.layout.compact).with_exit_code(code);
        let about = Verdict { source: &self.input.source, tool: tool.name.as_deref(), valid: repaired.valid };
        about.add_repaired_notes(&mut output, RESULT, (&repaired.repairs, &repaired.left), terminal.err);
        Ok(output)
    }

    fn failed(&self, error: &Error, tool: &Tool) -> CommandError {
        match error.code() {
            // The code of the error is dropped, because it would set the exit code for findings.
            Code::InvalidSchema => {
                let error = CommandError::new(tool.pointer.as_str(), error.message()).in_source(&self.schema.source);
                CommandError { line: tool.line, ..error }
            }
            Code::InvalidJson if !self.arguments.repair => self.not_json_error(),
            _ => CommandError::from_core(error, ""),
        }
    }

    /// Names the repairs that `--repair` would make, because the strict reader's message would quote a character of the
    /// arguments.
    fn not_json_error(&self) -> CommandError {
        match repair_arguments(self.input.text.as_str(), "{}", &RepairOptions::default()) {
            Ok(done) => {
                let mut rules: Vec<&str> = done.repairs.iter().map(|repair| repair.rule.as_str()).collect();
                rules.dedup();
                let message = format!("expected JSON, found text that `--repair` reads ({})", rules.join(", "));
                CommandError { code: Some(Code::InvalidJson), ..CommandError::new("", message) }
            }
            Err(error) => CommandError::from_core(&error, ""),
        }
    }
}

/// An unknown verdict must not look like success.
fn exit_code(valid: Option<bool>) -> u8 {
    match valid {
        Some(true) => EXIT_SUCCESS,
        Some(false) => EXIT_FOUND,
        None => EXIT_UNUSABLE,
    }
}

/// Maximum number of violations that the library reports.
const VIOLATIONS: usize = 100;
/// Maximum number of repairs that are shown, because arguments may be a long list of numbers in quotes.
const REPAIRS: usize = 100;

pub(crate) struct Verdict<'a> {
    /// Precedes pointers into the arguments: their source, or the call.
    pub(crate) source: &'a str,
    /// Name of the tool, unless `source` contains it.
    pub(crate) tool: Option<&'a str>,
    pub(crate) valid: Option<bool>,
}

impl Verdict<'_> {
    pub(crate) fn add_note(&self, output: &mut Output, violations: usize, paint: Paint) {
        self.line(output, "", &counted_violations(violations), paint);
    }

    /// Pointers of repairs refer to the original arguments, pointers of remaining violations to `result`.
    pub(crate) fn add_repaired_notes(
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
            let location = format_location(self.source, None, &repair.pointer);
            let (rule, message) = (repair.rule.as_str(), shown(&repair.message));
            output.add_note(&format!("{label} {location}: {rule} ({confidence}): {message}"));
        }
        if let Some(more @ 1..) = repairs.len().checked_sub(REPAIRS) {
            output.add_note(&format!("{} and {} more; `--json` has them all", paint.dim("toolwire:"), grouped(more)));
        }
        for left in left {
            let (label, location) = (paint.bad("toolwire:"), format_location(result, None, &left.pointer));
            output.add_note(&format!("{label} {location}: left ({}): {}", left.reason.as_str(), shown(&left.message)));
        }
        let after = match repairs.len() {
            0 => String::new(),
            repairs => format!(" after {}", counted(repairs, "repair")),
        };
        self.line(output, &after, &format!("{} left", counted_violations(left.len())), paint);
    }

    fn line(&self, output: &mut Output, after: &str, violations: &str, paint: Paint) {
        let source = shown(self.source);
        let whose = self.tool.map(|name| format!(" for `{}`", shown(name))).unwrap_or_default();
        let line = match self.valid {
            Some(true) => format!("{} {source}: valid{whose}{after}", paint.good("toolwire:")),
            Some(false) => format!("{} {source}: not valid{whose}{after}: {violations}", paint.bad("toolwire:")),
            None => format!(
                "{} {source}: cannot be judged{whose}{after}: nothing is known to be wrong, but not all of the \
                 schema can be judged, see {DOCS}functions/arguments.md#what-cannot-be-judged",
                paint.doubtful("toolwire:")
            ),
        };
        output.add_note(&line);
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
