//! `toolwire sanitize`: rewrites a schema, a tool list or a request into one dialect.

use toolwire::{
    adapt_request,
    internal::{
        self, describe,
        json::{self, Node},
    },
    options::{Formats, Use},
    reports::{lossless, Quarantined},
    rules::Constraint,
    ToolsOptions,
};

use super::{
    arguments::{choice, not_a_schema, SanitizeArguments},
    defer,
    document::with_report,
    error::{format_location, CommandError, EXIT_FOUND, EXIT_SUCCESS},
    input::{self, Input, Subject},
    position::InputPointers,
    task::{Output, SourceText, Task},
    terminal::{counted, grouped, shown, Terminal},
};

pub(crate) struct Sanitize {
    pub(crate) arguments: SanitizeArguments,
    pub(crate) input: SourceText,
}

impl Task for Sanitize {
    fn finish(self: Box<Self>, terminal: &Terminal) -> Result<Output, CommandError> {
        let Input { subject, pointers } = Input::read(&self.input.text)?;
        if let Subject::Tools(list) = &subject {
            input::require_schema_keys(list, &pointers)?;
        }
        let of_a_schema = self.options().sanitize.used_as != Use::Tool;
        match subject {
            Subject::Tools(_) | Subject::Request(_) if of_a_schema => Err(not_a_schema()),
            Subject::Tools(_) | Subject::Schemas(_) if self.formats() != Formats::Native => Err(CommandError::option(
                "formats",
                "expected a request, found tools or a schema, which have no response format",
            )),
            Subject::Tools(tools) => self.tools(tools, &pointers, terminal),
            Subject::Schemas(_) if self.arguments.repair => Err(CommandError::option(
                "repair",
                "expected tools or a request, found a schema: `toolwire validate --repair --schema` repairs with one",
            )),
            Subject::Schemas(schemas) => self.schemas(schemas, &pointers, terminal),
            Subject::Request(_) => self.request(&pointers, terminal),
        }
    }
}

impl Sanitize {
    fn formats(&self) -> Formats {
        choice(Some(&self.arguments.formats)).unwrap_or(Formats::Native)
    }

    fn options(&self) -> ToolsOptions {
        let mut options = internal::tools_options(self.arguments.dialect);
        options.sanitize = self.arguments.rewriting.options(self.arguments.dialect);
        options.format = choice(self.arguments.format.as_deref());
        options.fallback = self.arguments.fallback;
        options.prefix = choice(Some(&self.arguments.prefix)).unwrap_or(options.prefix);
        options.lenient_types = self.arguments.lenient_types;
        options.repair = self.arguments.repair.then(|| self.arguments.repairing.options(None));
        options
    }

    fn tools(&self, tools: Node<'_>, pointers: &InputPointers, terminal: &Terminal) -> Result<Output, CommandError> {
        let (tools, result) =
            internal::sanitize_tools(tools, &self.options(), true).map_err(|error| pointers.locate(&error))?;
        let mut output = if self.arguments.machine.json {
            Output::json(&with_report("tools", tools, describe::tools(&result, true)))
        } else {
            Output::data(&json::write(&tools), self.arguments.layout.compact)
        };
        self.refusals(&mut output, &result.quarantined, pointers, terminal);
        let losing = result.changes.iter().filter(|about| !lossless(std::slice::from_ref(&about.change))).count();
        self.losses(&mut output, losing, terminal);
        Ok(output.with_exit_code(if result.quarantined.is_empty() { EXIT_SUCCESS } else { EXIT_FOUND }))
    }

    fn request(&self, pointers: &InputPointers, terminal: &Terminal) -> Result<Output, CommandError> {
        let mut options = internal::request_options(self.arguments.dialect);
        options.tools = self.options();
        options.host.clone_from(&self.arguments.host);
        options.model.clone_from(&self.arguments.model);
        options.formats = self.formats();
        let adapted = adapt_request(&self.input.text, &options).map_err(|error| pointers.locate(&error))?;
        let mut output = if self.arguments.machine.json {
            let request = json::read(&adapted.request).map_err(|error| pointers.locate(&error))?;
            Output::json(&with_report("request", request, describe::adapted(&adapted.report, &adapted.restore)))
        } else {
            Output::data(&adapted.request, self.arguments.layout.compact)
        };
        if let Some(report) =
            adapted.report.deferred.as_ref().filter(|report| !report.hidden.is_empty() || !report.loaded.is_empty())
        {
            defer::render_report(report, &mut output, terminal);
        }
        self.refusals(&mut output, &adapted.report.quarantined, pointers, terminal);
        let of_tools = adapted.report.changes.iter().map(|about| &about.change);
        let changes = of_tools.chain(adapted.report.format_changes.iter().map(|about| &about.change));
        let losing = changes.filter(|change| !lossless(std::slice::from_ref(*change))).count();
        self.losses(&mut output, losing, terminal);
        Ok(output.with_exit_code(if adapted.report.quarantined.is_empty() { EXIT_SUCCESS } else { EXIT_FOUND }))
    }

    /// Rewrites one schema, or several. The result for several schemas is a list or JSON Lines, like the input.
    fn schemas(
        &self,
        schemas: Vec<Node<'_>>,
        pointers: &InputPointers,
        terminal: &Terminal,
    ) -> Result<Output, CommandError> {
        let options = self.options().sanitize;
        let (mut rewritten, mut losing) = (Vec::with_capacity(schemas.len()), 0);
        for (at, schema) in schemas.into_iter().enumerate() {
            let (schema, result) = internal::sanitize_with_report(schema, &options).map_err(|error| {
                let (line, pointer) = pointers.of(&format!("/{at}{}", error.pointer()));
                CommandError { line, pointer, ..CommandError::from_core(&error, "") }
            })?;
            losing += result.changes.iter().filter(|change| !lossless(std::slice::from_ref(*change))).count();
            let report = self.arguments.machine.json.then(|| describe::rewrite(&result));
            rewritten.push(match report {
                Some(report) => with_report("schema", schema, report),
                None => schema,
            });
        }
        let compact = self.arguments.layout.compact || self.arguments.machine.json;
        let mut output = match pointers {
            InputPointers::Alone(_) => Output::data(&rewritten.first().map(json::write).unwrap_or_default(), compact),
            InputPointers::Below(_) => Output::data(&json::write(&Node::array(rewritten)), compact),
            InputPointers::Lines(_) => Output::new(rewritten.iter().map(|schema| json::write(schema) + "\n").collect()),
        };
        self.losses(&mut output, losing, terminal);
        Ok(output)
    }

    fn refusals(&self, output: &mut Output, refused: &[Quarantined], pointers: &InputPointers, terminal: &Terminal) {
        let mut left_out: Vec<(&Quarantined, usize)> = Vec::new();
        for tool in refused {
            // Tools beyond the maximum number are reported as one finding.
            let same = |(first, _): &&mut (&Quarantined, usize)| {
                first.rule == Constraint::TooManyTools.id() && first.rule == tool.rule && first.message == tool.message
            };
            match left_out.iter_mut().find(same) {
                Some((_, more)) => *more += 1,
                None => left_out.push((tool, 0)),
            }
        }
        for (tool, more) in left_out {
            let (line, pointer) = pointers.of(&tool.pointer);
            let behind = if more > 0 { format!(" and {} more", grouped(more)) } else { String::new() };
            let name = tool.name.as_ref().map(|name| format!(" `{}`{behind} left out:", shown(name)));
            let location = format_location(&self.input.source, line, &pointer);
            let (label, rule, message) = (terminal.err.bad("toolwire:"), tool.rule, shown(&tool.message));
            output.add_note(&format!("{label} {location}:{} {rule}: {message}", name.unwrap_or_default()));
        }
    }

    fn losses(&self, output: &mut Output, losing: usize, terminal: &Terminal) {
        if losing > 0 && !self.arguments.machine.json {
            let verb = if losing == 1 { "loses" } else { "lose" };
            let text = format!(
                "{} for {} {verb} something; `toolwire explain` shows what",
                counted(losing, "change"),
                self.arguments.dialect
            );
            output.add_note(&format!("{} {text}", terminal.err.doubtful("toolwire:")));
        }
    }
}
