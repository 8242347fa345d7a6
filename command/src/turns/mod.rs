//! `toolwire defer --turns`: a conversation turn by turn, as the model has seen it.
//!
//! Which tools that are is never decided here. Each turn's request goes through `apply_deferred_loading`. Where a
//! backend defers tools itself, the library plays its part, too: what it makes of the written request without any
//! construct of a backend's own lists what the model can call.

mod gist;
mod history;
mod prompt;
mod render;

use std::collections::BTreeSet;

use toolwire::{
    apply_deferred_loading_json, apply_deferred_loading_json_with_report,
    internal::{self, describe},
    json::{self, Node},
    options::{ForcedTool, Format, Native, ServerToolSearch},
    reports::Warning,
    DeferredOptions,
};

use self::{
    history::{items, History},
    prompt::{label, waits, Growth, Prompt},
};
use super::{
    arguments::{choice, DeferArguments},
    error::{CommandError, FINE, FOUND},
    task::{Output, SourceText, Task},
    terminal::Terminal,
};

/// A tool that the model can call.
struct Seen {
    name: String,
    /// It stands in `tools` from the beginning of the prompt on; else the history brings it.
    is_listed: bool,
}

/// What the model sees in one turn.
struct Turn {
    /// How many items of the client's history it has.
    end: usize,
    tools: Vec<Seen>,
    came: Vec<String>,
    went: Vec<String>,
    growth: Growth,
    /// The messages from the first on that the turn before did not have, as JSON text.
    messages: Vec<String>,
    /// Those that no turn before has had.
    warnings: Vec<Warning>,
    is_unreachable: bool,
    /// `{ loaded, hidden, … }`, as the library reports it.
    report: String,
}

/// The command at work: a turn at each step.
pub(crate) struct Turns {
    arguments: DeferArguments,
    input: SourceText,
    options: DeferredOptions,
    history: History,
    before: Prompt,
    turns: Vec<Turn>,
    warned: BTreeSet<Warning>,
}

impl Turns {
    pub(crate) fn new(arguments: DeferArguments, input: SourceText) -> Result<Turns, CommandError> {
        let failed = |error: toolwire::Error| CommandError::from_core(&error, "");
        let request = json::read(&input.text).map_err(failed)?;
        let mut options = arguments.options();
        // The beginning of a history may not show the format that all of it does.
        options.format = Some(internal::format_of(&request, &options).map_err(failed)?);
        let history = History::read(&request)?;
        let (before, turns, warned) = Default::default();
        Ok(Turns { arguments, options, history, before, turns, warned, input })
    }

    /// The format that is written.
    fn target(&self) -> Option<Format> {
        choice(self.arguments.target.as_deref()).or(self.options.format)
    }

    fn turn(&mut self, number: usize) -> Result<Turn, toolwire::Error> {
        let request = self.history.request(number);
        let done = apply_deferred_loading_json_with_report(request.as_str(), &self.options)?;
        let written = json::read(&done.request)?;
        let callable = match self.options.native {
            Native::None => labels(&written),
            _ => self.callable(&done.request)?,
        };
        let listed: BTreeSet<String> = labels(&written).into_iter().collect();
        let mut met = BTreeSet::new();
        let callable = callable.into_iter().filter(|name| met.insert(name.clone()));
        let tools: Vec<Seen> = callable.map(|name| Seen { is_listed: listed.contains(&name), name }).collect();
        let past = self.turns.last().map(|turn| turn.tools.as_slice()).unwrap_or_default();
        let prompt = Prompt::of(&written);
        let growth = prompt.since(&self.before);
        self.before = prompt;
        let messages = items(&written, "messages").iter().chain(items(&written, "input"));
        let warnings = &done.report.warnings;
        let new = warnings.iter().filter(|warning| !self.warned.contains(warning)).cloned().collect();
        self.warned.extend(warnings.iter().cloned());
        let described = describe::deferred(&done.report, &done.restore);
        Ok(Turn {
            end: self.history.end(number),
            came: missing(&tools, past),
            went: missing(past, &tools),
            tools,
            messages: messages.skip(growth.first_message).map(json::write).collect(),
            growth,
            warnings: new,
            is_unreachable: done.report.unreachable,
            report: described.get("report").map(json::write).unwrap_or_default(),
        })
    }

    /// The tools that the model can call where the backend has constructs of its own: the library plays the backend.
    fn callable(&self, written: &str) -> Result<Vec<String>, toolwire::Error> {
        let mut options = DeferredOptions::default();
        options.format = self.target();
        // The provider's search is one of the tools, and a choice loads none there.
        options.server_tool_search = ServerToolSearch::Emulate;
        options.forced_tool = ForcedTool::Auto;
        let played = apply_deferred_loading_json(written, &options)?;
        Ok(labels(&json::read(&played)?))
    }
}

/// The tools of a request that are sent at once.
fn labels(request: &Node<'_>) -> Vec<String> {
    items(request, "tools").iter().filter(|tool| !waits(tool)).map(label).collect()
}

/// What the one has and the other has not.
fn missing(one: &[Seen], other: &[Seen]) -> Vec<String> {
    let names: BTreeSet<&str> = other.iter().map(|tool| tool.name.as_str()).collect();
    one.iter().filter(|tool| !names.contains(tool.name.as_str())).map(|tool| tool.name.clone()).collect()
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
        self.turns.push(turn);
        Ok(())
    }

    fn finish(self: Box<Self>, terminal: &Terminal) -> Result<Output, CommandError> {
        // As without `--turns`: the last turn is the request itself.
        let code = if self.turns.last().is_some_and(|turn| turn.is_unreachable) { FOUND } else { FINE };
        let output = match self.arguments.machine.json {
            true => Output::json(&self.document()?),
            false => Output::new(self.text(terminal)),
        };
        Ok(output.with_exit_code(code))
    }
}
