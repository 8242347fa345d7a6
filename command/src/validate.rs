//! `toolwire validate`: validates the arguments of a call against the tool's own schema, and repairs them.

use toolwire::{
    internal::{self, describe},
    json, repair_arguments, validate_arguments, Code, Error, RepairOptions,
};

use super::{
    arguments::ValidateArguments,
    document::with_report,
    error::{place, CommandError, FINE, FOUND, UNUSABLE},
    input::{Input, Subject},
    pick::pick,
    places::value_at,
    servers,
    task::{Output, SourceText, Task},
    terminal::{shown, Terminal},
    verdict::Verdict,
};

/// Name of the source in messages with pointers into the result.
const RESULT: &str = "<stdout>";

/// State of the command.
pub(crate) struct Validate {
    pub(crate) arguments: ValidateArguments,
    pub(crate) input: SourceText,
    /// Input that contains the tool's schema.
    pub(crate) schema: SourceText,
}

/// The tool that was called.
struct Tool {
    name: Option<String>,
    /// JSON text.
    schema: String,
    /// Line of the tool in its input; `pointer` is its place in that line.
    line: Option<usize>,
    pointer: String,
}

impl Task for Validate {
    fn finish(self: Box<Self>, terminal: &Terminal) -> Result<Output, CommandError> {
        let tool = self.tool().map_err(|error| error.in_source(&self.schema.source))?;
        match self.arguments.repair {
            true => self.repaired(&tool, terminal),
            false => self.validated(&tool, terminal),
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
        let Input { subject, places } = Input::read(text)?.judged()?;
        let entries = subject.entries().map_err(|error| places.locate(&error))?;
        let named = pick(&subject, &entries, self.arguments.tool.as_deref(), "validate")?;
        let (line, pointer) = places.of(&named.pointer);
        let schema = match &subject {
            Subject::Schemas(schemas) => {
                entries.iter().position(|entry| entry.pointer == named.pointer).and_then(|at| schemas.get(at))
            }
            Subject::Tools(list) | Subject::Request(list) => {
                value_at(list, &named.pointer).and_then(|tool| internal::schema_of(tool))
            }
        };
        // A tool without a schema accepts all arguments, so a verdict would be meaningless.
        let Some(schema) = schema else {
            let error = CommandError::new(pointer, "expected a tool with a schema, found one without");
            return Err(CommandError { line, ..error });
        };
        Ok(Tool { name: named.name, schema: json::write(schema), line, pointer })
    }

    fn validated(&self, tool: &Tool, terminal: &Terminal) -> Result<Output, CommandError> {
        let found = validate_arguments(self.input.text.as_str(), tool.schema.as_str())
            .map_err(|error| self.failed(&error, tool))?;
        let code = exit_code(found.valid);
        if self.arguments.machine.json {
            return Ok(Output::json(&describe::validation(&found)).with_exit_code(code));
        }
        let mut out = String::new();
        for violation in &found.errors {
            let place = terminal.out.bold(&place(&self.input.source, None, &violation.pointer));
            out.push_str(&format!("{place}: {}\n", shown(&violation.message)));
        }
        let mut output = Output::new(out).with_exit_code(code);
        let verdict = Verdict { source: &self.input.source, tool: tool.name.as_deref(), valid: found.valid };
        verdict.note(&mut output, found.errors.len(), terminal.err);
        Ok(output)
    }

    fn repaired(&self, tool: &Tool, terminal: &Terminal) -> Result<Output, CommandError> {
        let options = self.arguments.repairing.options(tool.name.as_deref());
        let done = repair_arguments(self.input.text.as_str(), tool.schema.as_str(), &options)
            .map_err(|error| self.failed(&error, tool))?;
        let code = exit_code(done.valid);
        if self.arguments.machine.json {
            let arguments = json::read(&done.arguments).map_err(|error| self.failed(&error, tool))?;
            let document = with_report("arguments", arguments, describe::repaired(&done));
            return Ok(Output::json(&document).with_exit_code(code));
        }
        let mut output = Output::text(&done.arguments, self.arguments.layout.compact).with_exit_code(code);
        let about = Verdict { source: &self.input.source, tool: tool.name.as_deref(), valid: done.valid };
        about.note_repaired(&mut output, RESULT, (&done.repairs, &done.left), terminal.err);
        Ok(output)
    }

    fn failed(&self, error: &Error, tool: &Tool) -> CommandError {
        match error.code() {
            // The code of the error is dropped, because it would set the exit code for findings.
            Code::InvalidSchema => {
                let error = CommandError::new(tool.pointer.as_str(), error.message()).in_source(&self.schema.source);
                CommandError { line: tool.line, ..error }
            }
            Code::InvalidJson if !self.arguments.repair => self.no_json(),
            _ => CommandError::from_core(error, ""),
        }
    }

    /// Returns the error for arguments that are not JSON. It names the repairs that `--repair` would make, because the
    /// strict reader's message would quote a character of the arguments.
    fn no_json(&self) -> CommandError {
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

/// Exit code; an unknown verdict must not look like success.
fn exit_code(valid: Option<bool>) -> u8 {
    match valid {
        Some(true) => FINE,
        Some(false) => FOUND,
        None => UNUSABLE,
    }
}
