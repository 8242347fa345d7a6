//! `toolwire defer --turns`: shows a conversation turn by turn, as the model saw it.
//!
//! The library decides which tools are visible: each turn's request goes through `apply_deferred_loading`. For a
//! backend with native deferred tools, the library also simulates the backend: it emulates deferred loading for the
//! rewritten request. The result lists the tools that the model can call.

mod history;
mod messages;
mod prompt;
mod render;

use std::collections::BTreeSet;

use toolwire::{
    apply_deferred_loading,
    internal::{
        self, describe,
        json::{self, Node},
    },
    options::{Api, ForcedTool, Native, ServerToolSearch},
    reports::Warning,
    Code, DeferredOptions,
};

use self::{
    history::{items, History},
    prompt::{Growth, Prompt},
};
use super::{
    arguments::{choice, DeferArguments},
    error::{CommandError, EXIT_FOUND, EXIT_SUCCESS},
    task::{Output, SourceText, Task},
    terminal::Terminal,
};
use messages::{is_deferred, label};

/// Maximum size of the output of all turns, in bytes. Without a limit, a conversation whose early messages change
/// repeatedly would be stored once for each turn.
const MAX_STORED_BYTES: usize = 64 << 20;
/// Maximum number of messages that are shown for a turn; the others are counted.
const MESSAGES: usize = 12;

#[derive(Clone)]
struct CallableTool {
    name: String,
    /// True if the tool is in `tools`, at the beginning of the prompt. Otherwise the history loads the tool.
    is_listed: bool,
}

struct Turn {
    /// Number of tools that the model can call.
    tools: usize,
    came: Vec<CallableTool>,
    went: Vec<CallableTool>,
    growth: Growth,
    /// The first messages that are new or changed since the previous turn. Empty for JSON output.
    shown: Vec<ShownMessage>,
    /// Warnings that no earlier turn had.
    warnings: Vec<Warning>,
    is_unreachable: bool,
}

struct ShownMessage {
    who: String,
    words: String,
    /// The message replaces a message of the previous turn.
    is_changed: bool,
}

/// Each step is a turn.
pub(crate) struct Turns {
    arguments: DeferArguments,
    input: SourceText,
    options: DeferredOptions,
    history: History,
    before: Prompt,
    past: Vec<CallableTool>,
    /// The last tool list as text, and the names that it contains. Most lists are the same as in the previous turn.
    listed: (String, BTreeSet<String>),
    warned: BTreeSet<Warning>,
    turns: Vec<Turn>,
    /// The turns as JSON texts, for JSON output.
    documents: Vec<String>,
    stored_bytes: usize,
}

impl Turns {
    pub(crate) fn new(arguments: DeferArguments, input: SourceText) -> Result<Turns, CommandError> {
        let failed = |error: toolwire::Error| CommandError::from_core(&error, "");
        let request = json::read(&input.text).map_err(failed)?;
        let mut options = arguments.options();
        // A prefix of the history may not be enough to detect the format.
        options.format = Some(internal::format_of(&request, &options).map_err(failed)?);
        let history = History::read(&request)?;
        let (before, past, listed, warned, turns, documents, stored_bytes) = Default::default();
        Ok(Turns { arguments, input, options, history, before, past, listed, warned, turns, documents, stored_bytes })
    }

    fn target(&self) -> Option<Api> {
        choice(self.arguments.target.as_deref()).or(self.options.format)
    }

    fn turn(&mut self, number: usize) -> Result<Turn, toolwire::Error> {
        let request = self.history.request(number);
        let done = apply_deferred_loading(request.as_str(), &self.options)?;
        let written = json::read(&done.request)?;
        let tools = self.tools(&done.request, &written)?;
        let prompt = Prompt::of(&written);
        let growth = prompt.since(&self.before);
        self.before = prompt;
        let messages: Vec<&Node<'_>> = items(&written, "messages").iter().chain(items(&written, "input")).collect();
        let (report, restore) = (done.report()?, done.restore()?);
        let warnings = &report.warnings;
        let new = warnings.iter().filter(|warning| !self.warned.contains(warning)).cloned().collect();
        self.warned.extend(warnings.iter().cloned());
        let mut turn = Turn {
            tools: tools.len(),
            came: missing(&tools, &self.past),
            went: missing(&self.past, &tools),
            growth,
            shown: Vec::new(),
            warnings: new,
            is_unreachable: report.unreachable,
        };
        self.past = tools;
        if self.arguments.machine.json {
            let last = self.history.key().zip(self.history.end(number).checked_sub(1));
            let messages = messages.get(turn.growth.first_message..).unwrap_or_default();
            let described = describe::deferred(report, restore);
            let report = described.get("report").cloned().unwrap_or_default();
            self.documents.push(json::write(&turn.document(last, &self.past, messages, report)));
        } else {
            let fresh = turn.growth.new_messages.fresh.iter().take(MESSAGES);
            turn.shown =
                fresh.filter_map(|fresh| Some(ShownMessage::of(messages.get(fresh.at)?, fresh.is_changed))).collect();
        }
        Ok(turn)
    }

    fn tools(&mut self, request: &str, written: &Node<'_>) -> Result<Vec<CallableTool>, toolwire::Error> {
        let callable = match self.options.native {
            Native::None => labels(written),
            _ => self.callable(request)?,
        };
        let list = written.get("tools").map(json::write).unwrap_or_default();
        if self.listed.0 != list {
            self.listed = (String::new(), self.listed(written, &list)?);
            self.listed.0 = list;
        }
        let mut met = BTreeSet::new();
        let callable = callable.into_iter().filter(|name| met.insert(name.clone()));
        Ok(callable.map(|name| CallableTool { is_listed: self.listed.1.contains(&name), name }).collect())
    }

    fn listed(&self, written: &Node<'_>, list: &str) -> Result<BTreeSet<String>, toolwire::Error> {
        if !items(written, "tools").iter().any(|tool| tool.get("tools").is_some()) {
            return Ok(labels(written).into_iter().collect());
        }
        // The library determines the names of tools in namespaces, from a request with an empty history.
        let key = if written.get("input").is_some() { "input" } else { "messages" };
        Ok(self.callable(&format!("{{\"tools\":{list},\"{key}\":[]}}"))?.into_iter().collect())
    }

    /// Returns the callable tools of a backend with native deferred tools, which the library simulates.
    fn callable(&self, written: &str) -> Result<Vec<String>, toolwire::Error> {
        let mut options = DeferredOptions::default();
        options.format = self.target();
        // The provider's search is one of the tools, and `tool_choice` loads no tools there.
        options.server_tool_search = Some(ServerToolSearch::Emulate);
        options.forced_tool = ForcedTool::Auto;
        let played = apply_deferred_loading(written, &options)?.request;
        Ok(labels(&json::read(&played)?))
    }
}

fn labels(request: &Node<'_>) -> Vec<String> {
    items(request, "tools").iter().filter(|tool| !is_deferred(tool)).map(label).collect()
}

fn missing(tools: &[CallableTool], other_tools: &[CallableTool]) -> Vec<CallableTool> {
    let names: BTreeSet<&str> = other_tools.iter().map(|tool| tool.name.as_str()).collect();
    tools.iter().filter(|tool| !names.contains(tool.name.as_str())).cloned().collect()
}

impl Task for Turns {
    fn steps(&self) -> usize {
        self.history.turns()
    }

    fn weight(&self) -> usize {
        self.input.text.len()
    }

    fn label(&self, _step: usize) -> &'static str {
        "turns"
    }

    fn step(&mut self, step: usize) -> Result<(), CommandError> {
        let turn = self.turn(step).map_err(|error| CommandError::from_core(&error, ""))?;
        self.stored_bytes += turn.stored_bytes() + self.documents.last().map(String::len).unwrap_or_default();
        self.turns.push(turn);
        if self.stored_bytes > MAX_STORED_BYTES {
            let (limit, steps, step) = (MAX_STORED_BYTES >> 20, self.steps(), step + 1);
            let message = format!("expected turns that show at most {limit} MiB, found more in {step} of {steps}");
            let message = format!("{message}: leave earlier messages out");
            let pointer = self.history.key().map(|key| format!("/{key}")).unwrap_or_default();
            return Err(CommandError { code: Some(Code::LimitExceeded), ..CommandError::new(pointer, message) });
        }
        Ok(())
    }

    fn finish(self: Box<Self>, terminal: &Terminal) -> Result<Output, CommandError> {
        // The exit code is the same as without `--turns`, because the last turn is the request itself.
        let code = if self.turns.last().is_some_and(|turn| turn.is_unreachable) { EXIT_FOUND } else { EXIT_SUCCESS };
        let compact = false;
        let output = match self.arguments.machine.json {
            true => Output::data(&self.document(), compact),
            false => Output::new(self.text(terminal)),
        };
        Ok(output.with_exit_code(code))
    }
}
