//! `toolwire check`: what APIs would reject about tools or schemas as they are, one dialect at a step.

use std::collections::BTreeMap;

use toolwire::{
    internal,
    json::{Node, Object, Text},
    reports::Severity,
    Dialect, Error, SanitizeOptions,
};

use super::{
    arguments::{chosen, CheckArguments},
    document::{header, located},
    error::{place, CommandError, FINE, FOUND},
    input::{Input, Places, Subject},
    task::{Output, SourceText, Task},
    terminal::{counted, shown, Terminal},
};

/// Something that is rejected.
struct Finding {
    tool: Option<String>,
    dialect: &'static str,
    rule: &'static str,
    severity: Severity,
    /// Into the list.
    pointer: String,
    message: String,
    confidence: char,
    source: &'static str,
}

/// The command at work.
pub(crate) struct Check {
    arguments: CheckArguments,
    input: SourceText,
    dialects: Vec<&'static Dialect>,
    noun: &'static str,
    count: usize,
    places: Places,
    found: Vec<Finding>,
}

impl Check {
    pub(crate) fn new(arguments: CheckArguments, input: SourceText) -> Result<Check, CommandError> {
        let Input { subject, places } = Input::read(&input.text)?.without_request();
        let (noun, count) = (subject.noun(), subject.entries().map_err(|error| places.locate(&error))?.len());
        let dialects = chosen(&arguments.dialects);
        Ok(Check { arguments, input, dialects, noun, count, places, found: Vec::new() })
    }

    fn document(&self) -> Node<'static> {
        let findings = self.found.iter().map(|found| {
            let mut members = Vec::from([
                (Text::new("tool"), found.tool.clone().map_or_else(Node::default, Node::string)),
                (Text::new("dialect"), Node::string(found.dialect)),
                (Text::new("rule"), Node::string(found.rule)),
                (Text::new("severity"), Node::string(found.severity.as_str())),
            ]);
            members.extend(located(&self.places, &found.pointer));
            members.extend([
                (Text::new("message"), Node::string(found.message.clone())),
                (Text::new("confidence"), Node::string(String::from(found.confidence))),
                (Text::new("source"), Node::string(found.source)),
            ]);
            Node::object(Object::from_iter(members))
        });
        let mut members = header("check", &self.input.source);
        members.extend([
            (Text::new("count"), Node::count(self.count as u64)),
            (
                Text::new("dialects"),
                Node::array(self.dialects.iter().map(|dialect| Node::string(dialect.name)).collect()),
            ),
            (Text::new("violations"), Node::array(findings.collect())),
        ]);
        Node::object(Object::from_iter(members))
    }

    /// A line for each thing that is wrong, as compilers write it, with all the dialects that say so.
    fn lines(&self, terminal: &Terminal) -> String {
        let paint = terminal.out;
        let mut out = String::new();
        for (finding, dialects) in self.grouped() {
            let (line, pointer) = self.places.of(&finding.pointer);
            let tool = finding.tool.as_ref().map(|tool| format!(" `{}`:", shown(tool))).unwrap_or_default();
            let place = place(&self.input.source, line, &pointer);
            // What is refused is the rule; the other two are said.
            let severity = match finding.severity {
                Severity::Refused => String::new(),
                severity => format!(", {}", severity.as_str()),
            };
            let by = format!("[{}{severity}: {}]", finding.rule, dialects.join(", "));
            out.push_str(&format!("{}:{tool} {} {}\n", paint.bold(&place), shown(&finding.message), paint.dim(&by)));
        }
        out
    }

    /// The findings, the same one of several dialects once, tools in their order.
    fn grouped(&self) -> Vec<(&Finding, Vec<&'static str>)> {
        let mut groups: Vec<(&Finding, Vec<&'static str>)> = Vec::new();
        let mut known = BTreeMap::<(&str, &str, &str, &str), usize>::new();
        for finding in &self.found {
            let severity = finding.severity.as_str();
            let key = (finding.pointer.as_str(), finding.rule, severity, finding.message.as_str());
            let at = *known.entry(key).or_insert_with(|| groups.len());
            match groups.get_mut(at) {
                Some((_, dialects)) => dialects.push(finding.dialect),
                None => groups.push((finding, Vec::from([finding.dialect]))),
            }
        }
        groups.sort_by_key(|(finding, _)| order(&finding.pointer));
        groups
    }
}

/// Entries in their order; within one, what was found first.
fn order(pointer: &str) -> Vec<usize> {
    pointer.split('/').skip(1).map_while(|step| step.parse().ok()).collect()
}

impl Task for Check {
    fn steps(&self) -> usize {
        self.dialects.len()
    }

    fn weight(&self) -> usize {
        self.input.text.len()
    }

    fn label(&self, step: usize) -> &'static str {
        self.dialects.get(step).map_or("", |dialect| dialect.name)
    }

    fn step(&mut self, step: usize) -> Result<(), CommandError> {
        let Some(dialect) = self.dialects.get(step) else { return Ok(()) };
        let input = Input::read(&self.input.text)?.without_request();
        let found = findings(input.subject, dialect).map_err(|error| self.places.locate(&error))?;
        self.found.extend(found);
        Ok(())
    }

    fn finish(self: Box<Self>, terminal: &Terminal) -> Result<Output, CommandError> {
        let refused = |found: &&Finding| found.severity == Severity::Refused;
        let code = if self.found.iter().any(|found| refused(&found)) { FOUND } else { FINE };
        if self.arguments.machine.json {
            return Ok(Output::json(&self.document()).with_exit_code(code));
        }
        let mut output = Output::new(self.lines(terminal)).with_exit_code(code);
        let (things, dialects) = (counted(self.count, self.noun), counted(self.dialects.len(), "dialect"));
        let with = |severity: Severity| {
            let at_fault = |dialect: &&&Dialect| {
                self.found.iter().any(|found| found.dialect == dialect.name && found.severity == severity)
            };
            self.dialects.iter().filter(at_fault).count()
        };
        let mut summary = match with(Severity::Refused) {
            0 => format!("{things}, {dialects}: nothing would be rejected"),
            rejecting => format!("{things}, {dialects}: {rejecting} would reject something"),
        };
        for (severity, what) in
            [(Severity::Reinterpreted, "read something otherwise"), (Severity::Ignored, "ignore something")]
        {
            if with(severity) > 0 {
                summary.push_str(&format!(", {} would {what}", with(severity)));
            }
        }
        let summary = if code == FINE { terminal.err.good(&summary) } else { terminal.err.bad(&summary) };
        output.note(&summary);
        Ok(output)
    }
}

fn findings(subject: Subject<'_>, dialect: &'static Dialect) -> Result<Vec<Finding>, Error> {
    let mut found = Vec::new();
    match subject {
        Subject::Tools(list) | Subject::Request(list) => {
            found.extend(internal::check_tools(list, &[dialect])?.into_iter().map(|violation| Finding {
                tool: violation.tool,
                dialect: violation.dialect,
                rule: violation.rule,
                severity: violation.severity,
                pointer: violation.pointer,
                message: violation.message,
                confidence: violation.confidence,
                source: violation.source,
            }));
        }
        Subject::Schemas(schemas) => {
            for (at, schema) in schemas.iter().enumerate() {
                for violation in internal::check(schema, &SanitizeOptions::new(dialect.name))? {
                    let fact = internal::fact_of(dialect, violation.rule, &violation.pointer);
                    found.push(Finding {
                        tool: None,
                        dialect: dialect.name,
                        rule: violation.rule,
                        severity: violation.severity,
                        pointer: format!("/{at}{}", violation.pointer),
                        message: violation.message,
                        confidence: fact.map_or('C', |fact| fact.confidence),
                        source: fact.map_or("", |fact| fact.source),
                    });
                }
            }
        }
    }
    Ok(found)
}
