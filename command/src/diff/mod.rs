//! `toolwire diff`: what changes for users, models, APIs and clients between two lists of tools. Each step compares one
//! pair of tools, or judges one list by one dialect. A witness is a value that only one of two schemas accepts.

pub(crate) mod kinds;
mod tools;

use toolwire::{
    internal::{
        self,
        json::{self, Node},
        SchemaComparison,
    },
    reports::{Grade as Confidence, Severity},
    Dialect,
};

use super::{
    arguments::{DiffArguments, DiffFailOn},
    config::FILE,
    document::record,
    error::{CommandError, EXIT_FOUND, EXIT_SUCCESS},
    finding::{bounded, groups, rank, Finding, Findings, ReportedBy, Source},
    formats::{self, Report},
    gather::Gathering,
    input::Input,
    matrix::{self, Grade, Reason},
    profile::{ignores_rule, Choice, ORDINARY},
    task::{Output, Task},
    terminal::{counted, cut, grouped, Terminal},
};
use kinds::Kind;
use tools::{Pair, Tool};

/// Maximum number of characters of a witness in a message. Documents contain the whole witness.
const MAX_SHOWN_WITNESS: usize = 200;
/// Maximum length of a witness in a document, in bytes.
const MAX_WITNESS: usize = 1 << 16;
/// Limits of a whole run: steps of comparisons, and bytes of witnesses. Each limit grows with the size of the inputs.
const STEPS: usize = 2_000_000;
const STEPS_PER_BYTE: usize = 40;
const WITNESS_BYTES: usize = 1 << 18;
const WITNESS_BYTES_PER_BYTE: usize = 4;
/// Limit of a single comparison: this many times its equal share of the remaining steps, but not less than
/// [`LEAST_STEPS`].
const SHARES: usize = 8;
const LEAST_STEPS: usize = 2_000;

/// Indices of the lists.
const OLD: usize = 0;
const NEW: usize = 1;

pub(crate) struct Diff {
    arguments: DiffArguments,
    profile: Option<String>,
    dialects: Vec<&'static Dialect>,
    /// The old list, then the new list.
    sources: Vec<Source>,
    tools: [Vec<Tool>; 2],
    pairs: Vec<Pair>,
    /// Verdicts of a dialect on the old tools.
    old_grades: Vec<Grade>,
    found: Findings,
    sarif_file: String,
    counts: Counts,
    limits: Limits,
}

/// The remaining limits for the comparisons of a run.
#[derive(Clone, Copy)]
struct Limits {
    steps: usize,
    /// In bytes of witnesses.
    output: usize,
    pairs: usize,
}

/// Number of compared schemas by result.
#[derive(Default)]
struct Counts {
    equal: usize,
    narrower: usize,
    wider: usize,
    both: usize,
    undecided: usize,
}

impl Diff {
    pub(crate) fn new(arguments: DiffArguments, gathered: Gathering) -> Result<Diff, CommandError> {
        let Gathering { mut inputs, failed, manifest, .. } = gathered;
        if let Some(error) = failed.into_iter().next() {
            return Err(error);
        }
        // The old server comes first in `--server`, but not always in the file.
        if let Some(file) = &arguments.servers {
            let index = |source: &str| arguments.only.iter().position(|name| source == format!("{file} ({name})"));
            inputs.sort_by_key(|input| index(&input.source));
        }
        let choice = arguments.choice.choice().unwrap_or(Choice::Profile(ORDINARY));
        let dialects = choice.dialects(&arguments.choice.exclude);
        let profile = if let Choice::Profile(name) = choice { Some(name.to_string()) } else { None };
        let (mut sources, mut lists) = (Vec::new(), Vec::new());
        for input in inputs {
            let read = Input::read(&input.text).and_then(|read| {
                let Input { subject, pointers } = read.require_checkable()?;
                let entries = subject.entries().map_err(|error| pointers.locate(&error))?;
                let tools = tools::tools(&subject, &entries);
                Ok((subject.noun(), pointers, entries, tools))
            });
            let (noun, pointers, entries, tools) = read.map_err(|error| input.locate_error(error))?;
            sources.push(Source { input, noun, pointers, entries, found: Findings::default() });
            lists.push(tools);
        }
        let (Ok(tools), Ok([old, new])) = (<[Vec<Tool>; 2]>::try_from(lists), <&[Source; 2]>::try_from(&*sources))
        else {
            return Err(CommandError::new("", "expected two inputs, the old and the new one, found another number"));
        };
        if old.noun != new.noun {
            let message = format!("expected {}s like the old input, found {}s", old.noun, new.noun);
            return Err(CommandError::new("", message).in_source(&new.input.source));
        }
        let pairs = tools::pairs(&tools[OLD], &tools[NEW]);
        let sarif_file = arguments.sarif_file.clone().or(manifest).unwrap_or_else(|| FILE.into());
        let (old_grades, found, counts) = (Vec::new(), Findings::default(), Counts::default());
        let length: usize = sources.iter().map(|source| source.input.text.len()).sum();
        let limits = Limits {
            steps: STEPS.saturating_add(STEPS_PER_BYTE.saturating_mul(length)),
            output: WITNESS_BYTES.saturating_add(WITNESS_BYTES_PER_BYTE.saturating_mul(length)),
            pairs: pairs.len(),
        };
        Ok(Diff { arguments, profile, dialects, sources, tools, pairs, old_grades, found, sarif_file, counts, limits })
    }

    fn tool(&self, side: usize, at: Option<usize>) -> Option<&Tool> {
        self.tools.get(side)?.get(at?)
    }

    fn grades(&self, side: usize, dialect: &'static Dialect) -> Result<Vec<Grade>, CommandError> {
        let Some(source) = self.sources.get(side) else { return Ok(Vec::new()) };
        // The input is read again at every step, because the tree borrows the text.
        let input = Input::read(&source.input.text).and_then(Input::require_checkable);
        let grades = input.and_then(|input| {
            matrix::grades(input.subject, dialect, &source.entries).map_err(|error| source.pointers.locate(&error))
        });
        grades.map_err(|error| source.input.locate_error(error))
    }

    /// Compares the verdicts of a dialect on both lists.
    fn judge(&mut self, dialect: &'static Dialect) -> Result<(), CommandError> {
        let (old, new) = (std::mem::take(&mut self.old_grades), self.grades(NEW, dialect)?);
        let profile = self.profile.as_deref();
        // `check` does not report what the profile ignores.
        let severity = |grade: &Grade| {
            let is_reported = |reason: &Reason| !ignores_rule(profile, dialect, reason.rule);
            grade.severity.filter(|_| grade.reason.as_ref().is_none_or(is_reported))
        };
        let mut found = Vec::new();
        for pair in &self.pairs {
            let Some((Some(tool), new)) = pair.new.map(|at| (self.tool(NEW, pair.new), new.get(at))) else { continue };
            let Some(new) = new else { continue };
            let old = pair.old.and_then(|at| old.get(at));
            let reason = new.reason.as_ref();
            let (kind, message) = match (old.map(severity), severity(new)) {
                (Some(old), new) if old == new => continue,
                (Some(None | Some(Severity::Ignored | Severity::Reinterpreted)), Some(Severity::Refused)) => {
                    (&kinds::DIALECT_LOST, None)
                }
                (Some(Some(Severity::Refused)), _) => {
                    (&kinds::DIALECT_WON, Some("accepted now, refused before".to_string()))
                }
                // A lower rank is more severe.
                (Some(old), Some(now)) if old.is_none_or(|old| rank(now) < rank(old)) => (&kinds::DIALECT_WORSE, None),
                (Some(old), _) => {
                    let before = old.map_or("", |old| old.as_str());
                    (&kinds::DIALECT_BETTER, Some(format!("no longer {before}")))
                }
                // `check` reports what is wrong with a new tool.
                (None, _) => continue,
            };
            let (pointer, message) = match (message, reason) {
                (None, Some(reason)) => (reason.pointer.clone(), format!("{}: {}", reason.rule, reason.message)),
                (message, _) => (tool.pointer.clone(), message.unwrap_or_default()),
            };
            let by = ReportedBy { dialect, confidence: Confidence::A, source: "", message: None };
            found.push(Finding { reported_by: Vec::from([by]), ..finding(kind, tool, pointer, message) });
        }
        self.found.add(found.into_iter());
        Ok(())
    }

    /// Compares a pair of tools.
    fn compare(&mut self, pair: Pair) {
        let (mut found, mut limits) = (Vec::new(), self.limits);
        match (self.tool(OLD, pair.old), self.tool(NEW, pair.new)) {
            (Some(old), None) => {
                let message = "only the old list has the tool".to_string();
                found.push(finding(&kinds::TOOL_REMOVED, old, String::new(), message));
            }
            (None, Some(new)) => {
                let message = "only the new list has the tool".to_string();
                found.push(finding(&kinds::TOOL_ADDED, new, new.pointer.clone(), message));
            }
            (Some(old), Some(new)) => {
                if old.name != new.name {
                    let name = |tool: &Tool| tool.name.clone().unwrap_or_default();
                    let message = format!("`{}` was `{}`, with the same schema", name(new), name(old));
                    found.push(finding(&kinds::TOOL_RENAMED, new, new.pointer.clone(), message));
                }
                let pair = (&old.input, &new.input);
                // The arguments of a tool are an object.
                let objects_only = new.name.is_some();
                let input = limits.compare(pair.0, pair.1, objects_only);
                let has_changed_texts = input.is_equal && !input.has_same_annotations;
                let kinds = if objects_only { &INPUT_KINDS } else { &SCHEMA_KINDS };
                found.extend(difference(&input, kinds, new, &mut limits));
                let mut results = Vec::from([input]);
                if old.output.is_some() || new.output.is_some() {
                    let schema_or_any = |schema: &Option<String>| schema.clone().unwrap_or_else(|| "{}".into());
                    let objects_only = true;
                    let output = limits.compare(&schema_or_any(&old.output), &schema_or_any(&new.output), objects_only);
                    found.extend(difference(&output, &OUTPUT_KINDS, new, &mut limits));
                    results.push(output);
                }
                if old.text != new.text || has_changed_texts {
                    let what = if old.text != new.text { "title or description" } else { "texts of the schema" };
                    let message = format!("the {what} changed");
                    found.push(finding(&kinds::TEXT_CHANGED, new, new.pointer.clone(), message));
                }
                if old.annotations != new.annotations {
                    let message = "the annotations changed".to_string();
                    found.push(finding(&kinds::ANNOTATIONS_CHANGED, new, new.pointer.clone(), message));
                }
                results.iter().for_each(|result| self.counts.add(result));
            }
            (None, None) => {}
        }
        limits.pairs = limits.pairs.saturating_sub(1);
        self.limits = limits;
        self.found.add(found.into_iter());
    }

    fn summary(&self, levels: [usize; 3]) -> String {
        let [old, new] = &self.tools;
        let noun = self.sources.first().map_or("tool", |source| source.noun);
        let tools = format!("{} before, {} now", counted(old.len(), noun), grouped(new.len()));
        let [breaking, warnings, notes] = levels;
        let Counts { equal, narrower, wider, both, undecided } = self.counts;
        let changed = narrower + wider + both;
        format!(
            "{tools}, {}: {} breaking, {}, {}; {}: {} equal, {} changed, {} not decided",
            self.dialects_text(),
            grouped(breaking),
            counted(warnings, "warning"),
            counted(notes, "note"),
            counted(equal + changed + undecided, "schema"),
            grouped(equal),
            grouped(changed),
            grouped(undecided),
        )
    }

    fn dialects_text(&self) -> String {
        let profile = self.profile.as_ref().map(|profile| format!(" ({profile})")).unwrap_or_default();
        format!("{}{profile}", counted(self.dialects.len(), "dialect"))
    }

    fn document(&self) -> Node<'static> {
        let count = |count: usize| Node::count(count as u64);
        let count_pairs = |test: fn(&Pair) -> bool| count(self.pairs.iter().filter(|pair| test(pair)).count());
        let is_renamed = |pair: &&Pair| {
            let names = (self.tool(OLD, pair.old), self.tool(NEW, pair.new));
            matches!(names, (Some(old), Some(new)) if old.name != new.name)
        };
        let counts = &self.counts;
        record([
            (
                "tools",
                record([
                    ("old", count(self.tools[OLD].len())),
                    ("new", count(self.tools[NEW].len())),
                    ("removed", count_pairs(|pair| pair.new.is_none())),
                    ("added", count_pairs(|pair| pair.old.is_none())),
                    ("renamed", count(self.pairs.iter().filter(is_renamed).count())),
                ]),
            ),
            (
                "schemas",
                record([
                    ("equal", count(counts.equal)),
                    ("narrower", count(counts.narrower)),
                    ("wider", count(counts.wider)),
                    ("both", count(counts.both)),
                    ("undecided", count(counts.undecided)),
                ]),
            ),
        ])
    }
}

impl Counts {
    fn add(&mut self, result: &SchemaComparison) {
        *match (result.is_equal, &result.only_old, &result.only_new) {
            (true, ..) => &mut self.equal,
            (_, Some(_), Some(_)) => &mut self.both,
            (_, Some(_), None) => &mut self.narrower,
            (_, None, Some(_)) => &mut self.wider,
            (_, None, None) => &mut self.undecided,
        } += 1;
    }
}

/// The kinds of differences of one schema of a tool.
struct Kinds {
    narrower: &'static Kind,
    wider: &'static Kind,
    both: &'static Kind,
    undecided: &'static Kind,
    what: &'static str,
}

const INPUT_KINDS: Kinds = Kinds {
    narrower: &kinds::INPUT_NARROWER,
    wider: &kinds::INPUT_WIDER,
    both: &kinds::INPUT_BOTH,
    undecided: &kinds::INPUT_UNDECIDED,
    what: "the schema of the arguments",
};
static SCHEMA_KINDS: Kinds = Kinds { what: "the schema", ..INPUT_KINDS };
static OUTPUT_KINDS: Kinds = Kinds {
    narrower: &kinds::OUTPUT_NARROWER,
    wider: &kinds::OUTPUT_WIDER,
    both: &kinds::OUTPUT_BOTH,
    undecided: &kinds::OUTPUT_UNDECIDED,
    what: "the schema of the results",
};

impl Limits {
    fn compare(&mut self, old: &str, new: &str, objects_only: bool) -> SchemaComparison {
        let (Ok(old), Ok(new)) = (json::read(old), json::read(new)) else { return Default::default() };
        let share = (self.steps / self.pairs.max(1)).saturating_mul(SHARES).min(self.steps);
        let found = internal::compare_schemas(&old, &new, objects_only, share.max(LEAST_STEPS));
        self.steps = self.steps.saturating_sub(found.steps);
        found
    }

    fn spend_output(&mut self, witness: &str) -> bool {
        let fits = witness.len() <= MAX_WITNESS.min(self.output);
        if fits {
            self.output -= witness.len();
        }
        fits
    }
}

fn difference(found: &SchemaComparison, kinds: &Kinds, tool: &Tool, limits: &mut Limits) -> Option<Finding> {
    let quoted = |value: &String| format!("`{}`", cut(value, MAX_SHOWN_WITNESS));
    let (kind, message) = match (&found.only_old, &found.only_new) {
        _ if found.is_equal => return None,
        (Some(old), None) => (kinds.narrower, format!("{} refuses {}, which it accepted", kinds.what, quoted(old))),
        (None, Some(new)) => (kinds.wider, format!("{} accepts {}, which it refused", kinds.what, quoted(new))),
        (Some(old), Some(new)) => (
            kinds.both,
            format!(
                "{} refuses {}, which it accepted, and accepts {}, which it refused",
                kinds.what,
                quoted(old),
                quoted(new)
            ),
        ),
        (None, None) => (kinds.undecided, format!("{} changed; no value was found that only one accepts", kinds.what)),
    };
    let only = [("onlyOld", &found.only_old), ("onlyNew", &found.only_new)];
    let witnesses = only.into_iter().filter_map(|(name, value)| {
        let value = value.as_ref().filter(|value| limits.spend_output(value))?;
        Some((name, value.clone()))
    });
    let witnesses = witnesses.collect();
    Some(Finding { witnesses, ..finding(kind, tool, tool.pointer.clone(), message) })
}

fn finding(kind: &'static Kind, tool: &Tool, pointer: String, message: String) -> Finding {
    Finding {
        tool: tool.name.clone(),
        rule: kind.name,
        severity: kind.severity,
        outcome: None,
        pointer,
        is_of_request: false,
        message,
        unlisted: 0,
        reported_by: Vec::new(),
        witnesses: Vec::new(),
    }
}

impl Task for Diff {
    fn steps(&self) -> usize {
        self.pairs.len() + 2 * self.dialects.len()
    }

    fn weight(&self) -> usize {
        let text: usize = self.sources.iter().map(|source| source.input.text.len()).sum();
        text / self.pairs.len().max(1)
    }

    fn label(&self, step: usize) -> &'static str {
        let dialect = step.checked_sub(self.pairs.len()).and_then(|step| self.dialects.get(step / 2));
        dialect.map_or("schemas", |dialect| dialect.name)
    }

    fn step(&mut self, step: usize) -> Result<(), CommandError> {
        if let Some(pair) = self.pairs.get(step) {
            self.compare(*pair);
            return Ok(());
        }
        let step = step.saturating_sub(self.pairs.len());
        let Some(dialect) = self.dialects.get(step / 2) else { return Ok(()) };
        if step % 2 == 0 {
            self.old_grades = self.grades(OLD, dialect)?;
            return Ok(());
        }
        self.judge(dialect)
    }

    fn finish(self: Box<Self>, terminal: &Terminal) -> Result<Output, CommandError> {
        let findings = self.found.sorted();
        let places = self.sources.get(NEW).map(|new| new.locations(&findings, NEW)).unwrap_or_default();
        let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
        let levels = [Severity::Refused, Severity::Reinterpreted, Severity::Ignored].map(count);
        let fail_on = self.arguments.fail_on.unwrap_or(DiffFailOn::Breaking);
        let fails = |at: usize| fail_on.min_severity().is_some_and(|least| at <= rank(least));
        let mut exceeded = [false; 3];
        for (at, (exceeded, count)) in exceeded.iter_mut().zip(levels).enumerate() {
            *exceeded = count > 0 && fails(at);
        }
        let format = if self.arguments.json { formats::JSON } else { self.arguments.format };
        let code = if exceeded == [false; 3] { EXIT_SUCCESS } else { EXIT_FOUND };
        let is_by_entry = true;
        let report = Report {
            command: "diff",
            outline: Some(self.summary(levels)),
            facts: Some(self.document()),
            profile: self.profile.as_deref(),
            dialects: &self.dialects,
            fail_on: fail_on.as_str(),
            is_rewritten: false,
            exceeded,
            sources: &self.sources,
            groups: bounded(groups(findings.into_iter().zip(places).collect()), is_by_entry),
            failed: &[],
            notes: &[],
            hidden_counts: [0; 3],
            ignored: 0,
            known: 0,
            stale: Vec::new(),
            written: None,
            fixed: None,
            sarif_file: &self.sarif_file,
            code,
            quiet: self.arguments.quiet,
        };
        Ok(formats::render(&report, format, terminal).with_exit_code(code))
    }
}
