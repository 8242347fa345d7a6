//! `toolwire probe`: asks the API itself which tools it accepts, and compares the answers with `check`.

mod answer;
pub(crate) mod endpoints;
mod record;
mod report;
mod search;
mod target;

use toolwire::{
    internal::{
        self,
        json::{self, Node},
    },
    Dialect,
};

use self::{
    answer::Answer,
    endpoints::Endpoint,
    record::Rows,
    search::{GroupSearch, Refusal, RequestTools, Verdict},
    target::Target,
};
use super::position::InputPointers;
use crate::{
    arguments::ProbeArguments,
    error::CommandError,
    gather::Gathering,
    input::Input,
    need::{Need, Request},
    profile::dialects_named,
    task::{Output, SourceText, Task},
    terminal::{shown, Terminal},
    OutputFile,
};
use answer::Private;
use target::Tool;

/// Maximum number of retries after temporary failures, and maximum delay before each, in seconds.
const MAX_RETRIES: u32 = 3;
const PATIENCE: u32 = 60;

pub(crate) struct Probe {
    arguments: ProbeArguments,
    endpoint: &'static Endpoint,
    dialect: &'static Dialect,
    target: Target,
    private: Private,
    source: String,
    pointers: InputPointers,
    noun: &'static str,
    tools: Vec<Tool>,
    search: GroupSearch,
    /// Environment variable with the key, once it is known.
    variable: Option<String>,
    is_variable_known: bool,
    /// Number of requests so far; then the retries and the delay of the next request.
    sent: u32,
    repeated: u32,
    wait: u32,
    ended: Option<CommandError>,
    recorded: Option<SourceText>,
    /// Suffix of the path of `recorded` in which no symbolic link is followed.
    confined: String,
    date: Option<String>,
}

impl Probe {
    pub(crate) fn new(arguments: ProbeArguments, gathered: Gathering) -> Result<Probe, CommandError> {
        let Gathering { inputs, recorded, date, confined, .. } = gathered;
        let none = || CommandError::new("", "expected an input, found none");
        let input = inputs.into_iter().next().ok_or_else(none)?;
        let dialect = dialects_named(std::slice::from_ref(&arguments.dialect)).first().copied().ok_or_else(none)?;
        let endpoint = Endpoint::of(dialect.name).ok_or_else(none)?;
        let target = Target::new(&arguments, endpoint, internal::strict_member(dialect))?;
        let Input { subject, pointers } = Input::read(&input.text)?.require_checkable()?;
        let noun = subject.noun();
        let mut tools = target::tools(subject, dialect).map_err(|error| pointers.locate(&error))?;
        if let Some(wanted) =
            arguments.tools.iter().find(|wanted| !tools.iter().any(|tool| tool.name.as_ref() == Some(wanted)))
        {
            let message = format!("expected the name of an existing tool, found `{}`", shown(wanted));
            return Err(CommandError::option("tool", message));
        }
        let is_asked = |tool: &Tool| tool.name.as_ref().is_some_and(|name| arguments.tools.contains(name));
        tools.retain(|tool| arguments.tools.is_empty() || is_asked(tool));
        let search = GroupSearch::new(tools.iter().map(|tool| !tool.rules.is_empty()).collect());
        let (private, source) = (target.private(), input.source);
        let is_variable_known = target.variables.is_empty();
        Ok(Probe {
            arguments,
            endpoint,
            dialect,
            target,
            private,
            source,
            pointers,
            noun,
            tools,
            search,
            variable: None,
            is_variable_known,
            sent: 0,
            repeated: 0,
            wait: 0,
            ended: None,
            recorded,
            confined,
            date,
        })
    }

    fn request(&self) -> Option<Request> {
        let tools = match self.search.next()? {
            RequestTools::Plain => target::plain_tool(self.dialect),
            RequestTools::Tools(group) => target::tool_list(group.iter().filter_map(|at| self.tools.get(*at))),
        };
        Some(self.target.request(&tools, &self.arguments, self.variable.as_ref(), self.wait))
    }

    /// The result is the index of the tool in the next request.
    fn index_of_named_tool(&self, refusal: &Refusal) -> Option<usize> {
        let Some(RequestTools::Tools(group)) = self.search.next() else { return None };
        let name = |at: &usize| self.tools.get(*at).and_then(|tool| tool.name.as_deref());
        answer::named(&refusal.text, self.endpoint.wire.numbered, &group.iter().map(name).collect::<Vec<_>>())
    }

    fn end(&mut self, message: String) -> Result<(), CommandError> {
        let error = CommandError::new("", message).in_source(&self.target.host);
        // The verdicts so far are reported, because the user has paid for them.
        if self.search.verdicts.iter().all(Option::is_none) {
            return Err(error);
        }
        self.ended = Some(error);
        Ok(())
    }

    fn on_answer(&mut self, answer: Answer) -> Result<(), CommandError> {
        let repeated = std::mem::take(&mut self.repeated);
        self.wait = 0;
        match answer {
            Answer::Accepted(status) => self.search.accept(status),
            Answer::Refused(refusal) => {
                let named = self.index_of_named_tool(&refusal);
                if let Err(Refusal { status, text }) = self.search.refuse(refusal, named) {
                    return self.end(format!(
                        "expected an answer about tools, found one about the request, which is refused even with a \
                            plain tool: {status}: {text}"
                    ));
                }
            }
            Answer::Busy(_, wait) if repeated < MAX_RETRIES => {
                self.repeated = repeated + 1;
                self.wait = wait.unwrap_or(1 << repeated).min(PATIENCE);
            }
            Answer::Busy(Refusal { status, text }, _) | Answer::Other(Refusal { status, text }) => {
                return self.end(format!("expected an answer about tools, found {status}: {text}"));
            }
        }
        if self.sent >= self.arguments.limit && self.search.next().is_some() {
            let limit = self.arguments.limit;
            return self.end(format!(
                "expected to finish within {limit} requests, found that more are needed (raise `--limit`)"
            ));
        }
        Ok(())
    }

    fn on_variables(&mut self, names: &str) -> Result<(), CommandError> {
        let names = json::read(names).unwrap_or_default();
        let is_set = |name: &&String| names.as_array().unwrap_or_default().iter().any(|set| set.is_text(name.as_str()));
        let wanted = &self.target.variables;
        self.variable = wanted.iter().find(is_set).cloned();
        self.is_variable_known = true;
        if self.variable.is_some() {
            return Ok(());
        }
        let names: Vec<String> = wanted.iter().map(|name| format!("`{name}`")).collect();
        let message = format!("expected the key in the variable {}, found it unset", names.join(" or "));
        Err(CommandError::new("", message).in_source(&self.target.host))
    }

    fn dry_run_output(&self) -> Output {
        let tools = target::tool_list(self.tools.iter());
        let request = self.target.request(&tools, &self.arguments, self.target.variables.first(), 0);
        let mut output = Output::new(self.target.shown(&request));
        output.stdout.push('\n');
        output.add_note(&format!(
            "nothing was sent; the probe would send at least 1 request to {}, and at most {}, in the form of {}",
            shown(&self.target.host),
            self.arguments.limit,
            self.endpoint.documentation
        ));
        output
    }

    /// Returns the new content of the file of rows, and the number of rows that could not be written.
    fn rows(&self) -> (String, usize) {
        let rows = Rows {
            endpoint: self.endpoint,
            dialect: self.dialect,
            target: &self.target,
            model: &self.arguments.model,
            date: self.date.as_deref(),
            keep_names: self.arguments.keep_names,
        };
        // A carriage return would be written as an escape, which is invalid outside strings.
        let mut content = self.recorded.as_ref().map(|file| file.text.replace("\r\n", "\n")).unwrap_or_default();
        if !content.is_empty() && !content.ends_with('\n') {
            content.push('\n');
        }
        let mut left_out = 0;
        for (tool, verdict) in self.tools.iter().zip(&self.search.verdicts) {
            match verdict.as_ref().map(|verdict| rows.row(tool, verdict)) {
                Some(Some(row)) => content.push_str(&row),
                Some(None) => left_out += 1,
                None => {}
            }
        }
        (content, left_out)
    }

    fn accepted(&self) -> Vec<&Tool> {
        let accepted = |(_, verdict): &(&Tool, &Option<Verdict>)| matches!(verdict, Some(Verdict::Accepted(_)));
        self.tools.iter().zip(&self.search.verdicts).filter(accepted).map(|(tool, _)| tool).collect()
    }
}

impl Task for Probe {
    fn need(&self) -> Option<Need> {
        if self.ended.is_some() || self.arguments.dry_run {
            return None;
        }
        if !self.is_variable_known {
            return Some(Need::Set(self.target.variables.clone()));
        }
        self.request().map(Need::Request)
    }

    fn give(&mut self, text: &str) -> Result<(), CommandError> {
        if !self.is_variable_known {
            return self.on_variables(text);
        }
        self.sent += 1;
        let answer = answer::read(text, &self.private);
        self.on_answer(answer)
    }

    fn fail(&mut self, message: &str) -> Result<(), CommandError> {
        if message == "EKEY" {
            let name = self.variable.as_deref().unwrap_or_default();
            return self
                .end(format!("expected a key of visible ASCII characters in the variable `{name}`, found others"));
        }
        self.sent += 1;
        let message = self.private.redact(message, answer::MAX_ANSWER);
        let expected = match message.as_str() {
            "ETIMEDOUT" => format!("expected an answer in {} s, found none", self.arguments.timeout),
            _ => format!("expected a server at that address, found none ({message})"),
        };
        self.end(expected)
    }

    fn awaited(&self) -> Option<(String, u32)> {
        let (host, count, limit) = (shown(&self.target.host), self.sent + 1, self.arguments.limit);
        Some((format!("{host}, request {count} of at most {limit}"), self.arguments.timeout.saturating_add(self.wait)))
    }

    fn finish(mut self: Box<Self>, terminal: &Terminal) -> Result<Output, CommandError> {
        if self.arguments.dry_run {
            return Ok(self.dry_run_output());
        }
        let mut output = report::render(&self, terminal);
        let confined = std::mem::take(&mut self.confined);
        if let Some(path) = &self.arguments.record {
            let (content, left_out) = self.rows();
            output.files.push(OutputFile { path: path.clone(), content, confined, ..OutputFile::default() });
            if left_out > 0 {
                output.add_note(&format!(
                    "toolwire: {}: {left_out} left out, because their verdicts depend on private names \
                        (`--keep-names`)",
                    shown(path)
                ));
            }
        }
        Ok(output)
    }
}

fn text_or_null(text: Option<&str>) -> Node<'_> {
    text.map_or_else(Node::default, Node::string)
}
