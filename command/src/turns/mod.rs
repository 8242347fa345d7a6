//! `toolwire defer --turns`: a conversation turn by turn, as the model has seen it.
//!
//! Which tools that are is never decided here. Each turn's request goes through `apply_deferred_loading`. Where a
//! backend defers tools itself, the library plays its part, too: what it makes of the written request without any
//! construct of a backend's own lists what the model can call.

mod gist;
mod history;
mod news;
mod prompt;
mod render;
mod tool;

use std::collections::BTreeSet;

use toolwire::{
    apply_deferred_loading,
    internal::{self, describe},
    json::{self, Node},
    options::{Api, ForcedTool, Native, ServerToolSearch},
    reports::Warning,
    Code, DeferredOptions,
};

use self::{
    history::{items, History},
    prompt::{Growth, Prompt},
    tool::{label, waits},
};
use super::{
    arguments::{choice, DeferArguments},
    error::{CommandError, FINE, FOUND},
    task::{Output, SourceText, Task},
    terminal::Terminal,
};

/// What all turns together may keep for the output, in bytes. Without an end, a conversation in which an early message
/// changes time and again would be kept once for each turn.
const MOST_KEPT: usize = 64 << 20;
/// A turn of more messages shows these, and how many there are: nobody reads on.
const MESSAGES: usize = 12;

/// A tool that the model can call.
#[derive(Clone)]
struct Seen {
    name: String,
    /// It stands in `tools` from the beginning of the prompt on; else the history brings it.
    is_listed: bool,
}

/// What the model sees in one turn, as far as people are shown it.
struct Turn {
    /// How many tools it can call.
    tools: usize,
    came: Vec<Seen>,
    went: Vec<Seen>,
    growth: Growth,
    /// The messages that the turn before did not have, or not so: the first of them. None, if machines are told.
    said: Vec<Said>,
    /// Those that no turn before has had.
    warnings: Vec<Warning>,
    is_unreachable: bool,
}

/// A message.
struct Said {
    who: String,
    words: String,
    /// It stands where the turn before had another.
    is_changed: bool,
}

/// The command at work: a turn at each step.
pub(crate) struct Turns {
    arguments: DeferArguments,
    input: SourceText,
    options: DeferredOptions,
    history: History,
    /// What of the last turn the next one is compared with.
    before: Prompt,
    past: Vec<Seen>,
    /// The tools that the last list brings by itself, and its text: most lists are those of the turn before.
    listed: (String, BTreeSet<String>),
    warned: BTreeSet<Warning>,
    turns: Vec<Turn>,
    /// The turns as JSON texts, if that is what was asked for.
    documents: Vec<String>,
    kept: usize,
}

impl Turns {
    pub(crate) fn new(arguments: DeferArguments, input: SourceText) -> Result<Turns, CommandError> {
        let failed = |error: toolwire::Error| CommandError::from_core(&error, "");
        let request = json::read(&input.text).map_err(failed)?;
        let mut options = arguments.options();
        // The beginning of a history may not show the format that all of it does.
        options.format = Some(internal::format_of(&request, &options).map_err(failed)?);
        let history = History::read(&request)?;
        let (before, past, listed, warned, turns, documents, kept) = Default::default();
        Ok(Turns { arguments, input, options, history, before, past, listed, warned, turns, documents, kept })
    }

    /// The format that is written.
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
            said: Vec::new(),
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
            let fresh = turn.growth.news.fresh.iter().take(MESSAGES);
            turn.said = fresh.filter_map(|fresh| Some(Said::of(messages.get(fresh.at)?, fresh.is_changed))).collect();
        }
        Ok(turn)
    }

    /// The tools that the model can call, each once.
    fn tools(&mut self, request: &str, written: &Node<'_>) -> Result<Vec<Seen>, toolwire::Error> {
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
        Ok(callable.map(|name| Seen { is_listed: self.listed.1.contains(&name), name }).collect())
    }

    /// The names that a list of tools brings by itself.
    fn listed(&self, written: &Node<'_>, list: &str) -> Result<BTreeSet<String>, toolwire::Error> {
        if !items(written, "tools").iter().any(|tool| tool.get("tools").is_some()) {
            return Ok(labels(written).into_iter().collect());
        }
        // What a tool in a namespace is called, the library knows: of a request that has said nothing yet.
        let key = if written.get("input").is_some() { "input" } else { "messages" };
        Ok(self.callable(&format!("{{\"tools\":{list},\"{key}\":[]}}"))?.into_iter().collect())
    }

    /// The tools that the model can call where the backend has constructs of its own: the library plays the backend.
    fn callable(&self, written: &str) -> Result<Vec<String>, toolwire::Error> {
        let mut options = DeferredOptions::default();
        options.format = self.target();
        // The provider's search is one of the tools, and a choice loads none there.
        options.server_tool_search = ServerToolSearch::Emulate;
        options.forced_tool = ForcedTool::Auto;
        let played = apply_deferred_loading(written, &options)?.request;
        Ok(labels(&json::read(&played)?))
    }
}

/// The tools of a request that are sent at once.
fn labels(request: &Node<'_>) -> Vec<String> {
    items(request, "tools").iter().filter(|tool| !waits(tool)).map(label).collect()
}

/// What the one has and the other has not.
fn missing(one: &[Seen], other: &[Seen]) -> Vec<Seen> {
    let names: BTreeSet<&str> = other.iter().map(|tool| tool.name.as_str()).collect();
    one.iter().filter(|tool| !names.contains(tool.name.as_str())).cloned().collect()
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
        self.kept += turn.kept() + self.documents.last().map(String::len).unwrap_or_default();
        self.turns.push(turn);
        if self.kept > MOST_KEPT {
            let (most, steps, step) = (MOST_KEPT >> 20, self.steps(), step + 1);
            let message = format!("expected turns that show at most {most} MiB, found more in {step} of {steps}");
            let message = format!("{message}: leave earlier messages out");
            let pointer = self.history.key().map(|key| format!("/{key}")).unwrap_or_default();
            return Err(CommandError { code: Some(Code::LimitExceeded), ..CommandError::new(pointer, message) });
        }
        Ok(())
    }

    fn finish(self: Box<Self>, terminal: &Terminal) -> Result<Output, CommandError> {
        // As without `--turns`: the last turn is the request itself.
        let code = if self.turns.last().is_some_and(|turn| turn.is_unreachable) { FOUND } else { FINE };
        let output = match self.arguments.machine.json {
            true => Output::text(&self.document(), false),
            false => Output::new(self.text(terminal)),
        };
        Ok(output.with_exit_code(code))
    }
}
