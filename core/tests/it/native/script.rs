//! Generated conversations: a list of steps, and the resulting state.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{json, Value};

use super::Numbers;

/// The client's search, and the tools that every request lists.
pub(crate) const SEARCH: &str = "ToolSearch";
pub(crate) const BASE: [&str; 2] = ["read", "list"];
/// Deferred tools that a search can find.
pub(crate) const DEFERRED: [&str; 5] = ["rate", "mail", "ship", "plan", "sing"];

/// One step of a conversation.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    User(String),
    Assistant(String),
    System(String),
    /// The calls of one turn, and the text before them, if any.
    Calls(Option<String>, Vec<Call>),
    /// The addition of a tool, with a definition or by its name.
    Add {
        name: String,
        version: Option<usize>,
    },
    Remove(String),
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) result: String,
    /// The tools that the call found, if it is a search.
    pub(crate) found: Option<Vec<String>>,
}

impl Call {
    pub(crate) fn arguments(&self) -> Value {
        json!({"q": self.id})
    }
}

impl Step {
    pub(crate) fn is_by_model(&self) -> bool {
        matches!(self, Step::Assistant(_) | Step::Calls(..))
    }

    /// Returns true for a step that only Anthropic supports.
    fn needs_anthropic(&self) -> bool {
        matches!(self, Step::Remove(_) | Step::Add { version: Some(1..), .. })
    }
}

/// Returns the description of a tool, which differs for each version of its definition.
pub(crate) fn words(name: &str, version: usize) -> String {
    format!("{name} in its version {version}")
}

pub(crate) fn schema() -> Value {
    json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]})
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Truth {
    /// The callable tools, each with its version.
    pub(crate) available: BTreeMap<String, usize>,
    /// Tools that were removed and not added again.
    pub(crate) gone: BTreeSet<String>,
    /// Each tool that was loaded, with the number of calls before that.
    pub(crate) places: BTreeMap<String, usize>,
    /// True if a tool was removed or redefined.
    pub(crate) changed: bool,
    versions: BTreeMap<String, usize>,
    calls: usize,
}

impl Truth {
    pub(crate) fn of(steps: &[Step]) -> Truth {
        let mut truth = Truth::default();
        truth.available.extend(BASE.iter().chain([&SEARCH]).map(|name| ((*name).to_owned(), 0)));
        steps.iter().for_each(|step| truth.step(step));
        truth
    }

    fn load(&mut self, name: &str) {
        let version = self.versions.get(name).copied().unwrap_or_default();
        if self.available.insert(name.to_owned(), version).is_none() {
            self.places.entry(name.to_owned()).or_insert(self.calls);
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Calls(_, calls) => {
                self.calls += calls.len();
                for name in calls.iter().filter_map(|call| call.found.as_ref()).flatten() {
                    // A removed tool remains removed.
                    if !self.gone.contains(name) {
                        self.load(name);
                    }
                }
            }
            Step::Add { name, version } => {
                if let Some(version) = version {
                    self.changed |= *version > 0;
                    self.versions.insert(name.clone(), *version);
                }
                self.gone.remove(name);
                self.load(name);
            }
            Step::Remove(name) => {
                self.changed = true;
                self.available.remove(name);
                self.gone.insert(name.clone());
            }
            Step::User(_) | Step::Assistant(_) | Step::System(_) => {}
        }
    }
}

/// Returns the positions at which a client sends a request: before each step of the model, and at the end.
pub(crate) fn cuts(steps: &[Step]) -> Vec<usize> {
    let is_cut =
        |at: &usize| steps.get(*at).is_none_or(Step::is_by_model) && !matches!(steps[*at - 1], Step::Assistant(_));
    (1..=steps.len()).filter(is_cut).collect()
}

/// Generates a conversation. Without `changes`, it contains no step that only Anthropic supports.
pub(crate) fn generate(numbers: &mut Numbers, changes: bool) -> Vec<Step> {
    let mut maker = Maker { numbers, steps: Vec::new(), ids: 0, added: 0, versions: BTreeMap::new() };
    for turn in 0..2 + maker.numbers.below(3) {
        maker.steps.push(Step::User(format!("user {turn}.")));
        maker.changes(changes);
        for _ in 0..maker.numbers.below(4) {
            maker.calls();
            maker.changes(changes);
        }
        if maker.numbers.below(3) > 0 {
            maker.steps.push(Step::Assistant(format!("answer {turn}.")));
        } else {
            maker.calls();
            maker.steps.push(Step::Assistant(format!("answer {turn} at last.")));
        }
    }
    maker.steps.push(Step::User("the end.".to_owned()));
    maker.steps
}

struct Maker<'n> {
    numbers: &'n mut Numbers,
    steps: Vec<Step>,
    ids: usize,
    added: usize,
    versions: BTreeMap<String, usize>,
}

impl Maker<'_> {
    fn one_of(&mut self, names: Vec<String>) -> Option<String> {
        let at = self.numbers.below(names.len());
        names.into_iter().nth(at)
    }

    fn calls(&mut self) {
        let text = (self.numbers.below(2) == 0).then(|| format!("thinking before {}.", self.ids));
        let calls = (0..=self.numbers.below(3)).map(|_| self.call()).collect();
        self.steps.push(Step::Calls(text, calls));
    }

    fn call(&mut self) -> Call {
        self.ids += 1;
        let (id, result) = (format!("call_{}", self.ids), format!("result {}.", self.ids));
        if self.numbers.below(3) == 0 {
            let count = self.numbers.below(3);
            let found = (0..count).map(|_| DEFERRED[self.numbers.below(DEFERRED.len())].to_owned());
            let found: BTreeSet<String> = found.collect();
            return Call { id, name: SEARCH.to_owned(), result, found: Some(found.into_iter().collect()) };
        }
        let available = Truth::of(&self.steps).available.into_keys().filter(|name| name != SEARCH).collect();
        let name = self.one_of(available).unwrap_or_else(|| "read".to_owned());
        Call { id, name, result, found: None }
    }

    /// The client changes its tools, and adds other messages.
    fn changes(&mut self, changes: bool) {
        for _ in 0..self.numbers.below(3) {
            let truth = Truth::of(&self.steps);
            let loaded = || truth.places.keys().filter(|name| truth.available.contains_key(*name)).cloned();
            let waiting =
                || DEFERRED.iter().map(|name| (*name).to_owned()).filter(|n| !truth.available.contains_key(n));
            let step = match self.numbers.below(7) {
                0 => Some(Step::System(format!("note {}.", self.steps.len()))),
                1 | 2 => {
                    self.added += 1;
                    Some(Step::Add { name: format!("new{}", self.added), version: Some(0) })
                }
                3 => self.one_of(waiting().collect()).map(|name| Step::Add { name, version: None }),
                4 => {
                    let mut any: Vec<String> = loaded().collect();
                    any.extend(["list".to_owned()].into_iter().filter(|name| truth.available.contains_key(name)));
                    self.one_of(any).map(Step::Remove)
                }
                5 => self.one_of(truth.gone.iter().cloned().collect()).map(|name| Step::Add { name, version: None }),
                _ => self.one_of(loaded().collect()).map(|name| {
                    let version = self.versions.entry(name.clone()).or_default();
                    *version += 1;
                    Step::Add { name, version: Some(*version) }
                }),
            };
            self.steps.extend(step.filter(|step| changes || !step.needs_anthropic()));
        }
    }
}
