//! `toolwire report`: static pages about servers, from the data of `matrix` and `check`. Each step judges one server by
//! one dialect, or fixes its findings.

mod badge;
mod html;
mod lock;
mod page;

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
};

use toolwire::{
    internal::json::{self, Node},
    options::Use,
    reports::Severity,
    Dialect,
};

use super::{
    arguments::ReportArguments,
    check,
    document::indented,
    error::{CommandError, EXIT_SUCCESS, EXIT_UNUSABLE},
    finding::{bounded, groups, rank, Findings, Group, Source},
    fix::{self, Fixer, Wanted},
    gather::Gathering,
    input::{Input, Subject},
    matrix::Matrix,
    naming::normal,
    outcome::Outcome,
    position::value_at,
    profile::{ignores_rule, Choice, ORDINARY},
    task::{Encoding, Origin, Output, SourceText, Task},
    terminal::{counted, shown, Terminal},
    OutputFile,
};
use badge::Badge;
use lock::{Lock, Locked};
use page::Facts;

/// Maximum length of the name of a page.
const MAX_NAME: usize = 64;
/// Names of other pages, and names that Windows reserves. `com1` to `com9` and `lpt1` to `lpt9` are reserved, too.
const RESERVED: [&str; 6] = ["index", "report", "con", "prn", "aux", "nul"];
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];
/// Maximum number of characters of a description that are kept.
const DESCRIPTION: usize = 400;
/// Maximum number of tools that are fixed, because a page shows few lines of the difference.
const MAX_FIXED: usize = 50;

/// A tool, as the pages show it.
struct About {
    name: String,
    description: String,
}

/// A server, and the results of the steps so far.
struct Server {
    name: String,
    /// Name of its page.
    slug: String,
    locked: Option<Locked>,
    source: Source,
    matrix: Option<Matrix>,
    tools: Vec<About>,
    /// The document of `matrix --json`.
    document: Node<'static>,
    groups: Vec<Group>,
    /// Difference between the list and the fixed list.
    diff: String,
}

impl Server {
    fn badge(&self) -> Badge {
        let all = self.tools.len() as u64;
        let dialects = self.document.items_at("dialects");
        let accepted = dialects.iter().filter(|dialect| dialect.u64_at("accepted") == Some(all)).count();
        Badge { accepted, dialects: dialects.len() }
    }

    fn verdict(&self) -> String {
        let Badge { accepted, dialects } = self.badge();
        format!("All of them are accepted as they are by {accepted} of {}.", counted(dialects, "dialect"))
    }
}

/// Returns the outcome of a verdict in the document of the matrix.
fn outcome_of(verdict: &Node<'_>) -> Option<Outcome> {
    Outcome::of_word(&verdict.text_at("outcome")?.display())
}

pub(crate) struct Report {
    arguments: ReportArguments,
    profile: Option<String>,
    dialects: Vec<&'static Dialect>,
    servers: Vec<Server>,
    /// Inputs that could not be read or checked.
    failed: Vec<CommandError>,
    notes: Vec<String>,
    date: Option<String>,
}

impl Report {
    pub(crate) fn new(
        arguments: ReportArguments,
        gathered: Gathering,
        terminal: &Terminal,
    ) -> Result<Report, CommandError> {
        let Gathering { inputs, with, mut failed, mut notes, .. } = gathered;
        let lock = with.as_ref().map(|file| Lock::read(&file.text).map_err(|error| file.locate_error(error)));
        let mut lock = lock.transpose()?;
        if arguments.name.is_some() && inputs.len() + failed.len() > 1 {
            return Err(CommandError::option("name", "expected one server with `--name`, found several"));
        }
        let choice = arguments.choice.choice().unwrap_or(Choice::Profile(ORDINARY));
        let dialects = choice.dialects(&arguments.choice.exclude);
        if dialects.is_empty() {
            return Err(CommandError::option("exclude", "expected at least one dialect to be left, found none"));
        }
        let profile = if let Choice::Profile(name) = choice { Some(name.to_string()) } else { None };
        let (mut servers, mut taken) = (Vec::new(), BTreeSet::new());
        for input in inputs {
            let name = arguments.name.clone().unwrap_or_else(|| name_of(&input));
            let locked = match lock.as_mut().map(|lock| lock_entry(lock, &name)) {
                None => None,
                Some(Ok(Some(locked))) => Some(locked),
                Some(Ok(None)) => {
                    notes.push(format!("{}: left out, as the lock file demands", shown(&input.source)));
                    continue;
                }
                Some(Err(error)) => {
                    failed.push(error.in_source(&input.source));
                    continue;
                }
            };
            let (source, place) = (input.source.clone(), input.clone());
            match Server::new(input, name, &mut taken, locked, &dialects) {
                Ok(server) => servers.push(server),
                Err(error) => failed.push(SourceText { source, ..place }.locate_error(error)),
            }
        }
        match failed.pop() {
            Some(error) if servers.is_empty() && failed.is_empty() => return Err(error),
            last => failed.extend(last),
        }
        let date = terminal.date.clone();
        Ok(Report { arguments, profile, dialects, servers, failed, notes, date })
    }

    /// Returns the server that a step belongs to, and the step within it.
    fn server_and_step(&self, step: usize) -> (usize, usize) {
        let steps = self.dialects.len() + 1;
        (step / steps, step % steps)
    }

    fn files(&self) -> Vec<(String, String)> {
        let mut files = Vec::new();
        if self.arguments.lists {
            let list = |server: &Server| (format!("{}.json", server.slug), server.source.input.text.clone());
            return self.servers.iter().map(list).collect();
        }
        let profile = self.profile.as_ref().map(|profile| format!(" ({profile})")).unwrap_or_default();
        let judges = format!("{}{profile}", counted(self.dialects.len(), "dialect"));
        let facts = Facts { date: self.date.as_deref(), judges: &judges };
        for server in &self.servers {
            files.push((format!("{}.html", server.slug), page::server_page(server, &facts)));
            files.push((format!("{}.svg", server.slug), server.badge().svg()));
            files.push((format!("{}.badge.json", server.slug), server.badge().endpoint()));
        }
        let mut servers: Vec<&Server> = self.servers.iter().collect();
        servers.sort_by_key(|server| (&server.name, &server.slug));
        for (at, page) in page::indexes(&servers, &facts).into_iter().enumerate() {
            files.push((page::index_name(at), page));
        }
        files.push(("report.css".into(), include_str!("report.css").into()));
        files.push(("report.js".into(), include_str!("report.js").into()));
        files
    }
}

/// Returns the entry of a server in the lock file; `None` if the server is left out.
fn lock_entry(lock: &Lock, name: &str) -> Result<Option<Locked>, CommandError> {
    match lock.find(name) {
        _ if lock.leaves_out(name) => Ok(None),
        Some((_, true)) => Ok(None),
        Some((locked, false)) => Ok(Some(locked.clone())),
        None => {
            let message = format!("expected a server of the lock file, found `{}`", shown(name));
            Err(CommandError::new("", message))
        }
    }
}

/// Returns the name of an input: the name of its file without the extension, or the name of its server.
fn name_of(input: &SourceText) -> String {
    let source = input.source.as_str();
    match &input.origin {
        Origin::File => {
            let path = normal(source);
            let file = path.rsplit('/').next().unwrap_or_default();
            file.split('.').find(|part| !part.is_empty()).unwrap_or_default().to_string()
        }
        Origin::Server(Some((file, _))) => {
            let name = source.strip_prefix(file.as_str()).unwrap_or(source);
            name.trim_start_matches(" (").trim_end_matches(')').to_string()
        }
        Origin::Server(None) | Origin::Stream => source.to_string(),
    }
}

fn page_name(name: &str) -> String {
    let mut slug = String::new();
    for character in name.chars().map(|character| character.to_ascii_lowercase()) {
        match character {
            'a'..='z' | '0'..='9' => slug.push(character),
            _ if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
        if slug.len() + 8 > MAX_NAME {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    let slug = if slug.is_empty() || slug.starts_with("index") { format!("server-{slug}") } else { slug.to_string() };
    let slug = slug.trim_end_matches('-').to_string();
    let is_device = |name: &&str| {
        slug.strip_prefix(name).is_some_and(|rest| rest.len() == 1 && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    if RESERVED.contains(&slug.as_str()) || NUMBERED_DEVICES.iter().any(is_device) {
        return format!("server-{slug}");
    }
    slug
}

fn slug(name: &str, taken: &mut BTreeSet<String>) -> String {
    let slug = page_name(name);
    let numbers = (2..).map(|number| format!("{slug}-{number}"));
    let mut names = std::iter::once(slug.clone()).chain(numbers);
    let free = names.find(|name| !taken.contains(name)).unwrap_or_default();
    taken.insert(free.clone());
    free
}

impl Server {
    fn new(
        mut input: SourceText,
        name: String,
        taken: &mut BTreeSet<String>,
        locked: Option<Locked>,
        dialects: &[&'static Dialect],
    ) -> Result<Server, CommandError> {
        // All lists have one layout, so that the difference of a fix is short.
        if json::read(&input.text).is_ok() {
            input.text = indented(&input.text) + "\n";
        }
        let Input { subject, pointers } = Input::read(&input.text)?.require_checkable()?;
        let entries = subject.entries().map_err(|error| pointers.locate(&error))?;
        let about = entries.iter().enumerate().map(|(at, entry)| {
            let value = match &subject {
                Subject::Schemas(schemas) => schemas.get(at),
                Subject::Tools(list) | Subject::Request(list) => value_at(list, &entry.pointer),
            };
            let definition = value.and_then(|value| value.get("function").or_else(|| value.get("toolSpec"))).or(value);
            let description = definition.and_then(|value| value.text_at("description"));
            About {
                name: entry.name.clone().unwrap_or_else(|| format!("{} {}", subject.noun(), at + 1)),
                description: description.map(|it| it.display().chars().take(DESCRIPTION).collect()).unwrap_or_default(),
            }
        });
        let (tools, noun) = (about.collect(), subject.noun());
        drop(subject);
        let matrix = Matrix::of_report(input.clone(), dialects.to_vec())?;
        let source = Source { input, noun, pointers, entries, found: Findings::default() };
        let (document, groups, diff) = (Node::default(), Vec::new(), String::new());
        let slug = slug(&name, taken);
        Ok(Server { name, slug, locked, source, matrix: Some(matrix), tools, document, groups, diff })
    }

    fn judge(&mut self, at: usize, dialect: &'static Dialect, profile: Option<&str>) -> Result<(), CommandError> {
        if let Some(matrix) = &mut self.matrix {
            matrix.step(at)?;
        }
        let input = Input::read(&self.source.input.text)?.require_checkable()?;
        let found = check::findings(input.subject, dialect, Use::Tool, &self.source.entries);
        let found = found.map_err(|error| self.source.pointers.locate(&error))?;
        self.source.found.add(found.into_iter().filter(|finding| !ignores_rule(profile, dialect, finding.rule)));
        Ok(())
    }

    /// Groups the findings, and fixes those that can be fixed without a loss.
    fn fix(&mut self, dialects: &[&'static Dialect], profile: Option<&str>) -> Result<(), CommandError> {
        if let Some(matrix) = self.matrix.take() {
            self.document = matrix.document();
        }
        let found = self.source.found.sorted();
        let places = self.source.locations(&found, 0);
        let mut wanted = BTreeMap::<usize, Wanted>::new();
        for (finding, place) in found.iter().zip(&places) {
            let is_fixed = |entry: &usize| wanted.len() < MAX_FIXED || wanted.contains_key(entry);
            if let Some(entry) = place.entry.filter(is_fixed) {
                let rules = finding.reported_by.iter().map(|by| (by.dialect.name, finding.rule));
                wanted.entry(entry).or_default().extend(rules);
            }
        }
        let shown = rank(Severity::Ignored);
        let fixer = Fixer { dialects, profile, used_as: Use::Tool, shown, allows_unsafe: false };
        let text = &self.source.input.text;
        if self.source.input.encoding != Encoding::Utf16 {
            let fixed = fixer.fixed(text, &self.source.entries, &wanted)?;
            self.diff = fix::diff(&format!("{}.json", self.slug), text, &fixed.text);
        }
        self.groups = bounded(groups(found.into_iter().zip(places).collect()), false);
        self.source.found = Findings::default();
        Ok(())
    }
}

impl Task for Report {
    fn steps(&self) -> usize {
        if self.arguments.lists {
            0
        } else {
            self.servers.len() * (self.dialects.len() + 1)
        }
    }

    fn weight(&self) -> usize {
        self.servers.iter().map(|server| server.source.input.text.len()).max().unwrap_or_default()
    }

    fn label(&self, step: usize) -> &'static str {
        self.dialects.get(self.server_and_step(step).1).map_or("fixes", |dialect| dialect.name)
    }

    fn step(&mut self, step: usize) -> Result<(), CommandError> {
        let (at, step) = self.server_and_step(step);
        let profile = self.profile.as_deref();
        let Some(server) = self.servers.get_mut(at) else { return Ok(()) };
        let outcome = match self.dialects.get(step) {
            Some(dialect) => server.judge(step, dialect, profile),
            None => server.fix(&self.dialects, profile),
        };
        outcome.map_err(|error| server.source.input.locate_error(error))
    }

    fn finish(mut self: Box<Self>, terminal: &Terminal) -> Result<Output, CommandError> {
        let folder = self.arguments.out.clone();
        let at = |name: &str| normal(&format!("{folder}/{name}"));
        let files = self.files().into_iter().map(|(name, content)| OutputFile {
            path: at(&name),
            content,
            confined: name,
            keeps_inputs: true,
            ..OutputFile::default()
        });
        let files: Vec<OutputFile> = files.collect();
        let is_input = |file: &&OutputFile| {
            let is_read = |server: &Server| {
                server.source.input.origin == Origin::File && normal(&server.source.input.source) == file.path
            };
            self.servers.iter().any(is_read)
        };
        if let Some(file) = files.iter().find(is_input) {
            let message =
                format!("expected a folder without the inputs, found one in which `{}` is", shown(&file.path));
            return Err(CommandError::option("out", message));
        }
        let what = if self.arguments.lists { "list" } else { "page" };
        let first = if self.arguments.lists { folder.clone() } else { at(&page::index_name(0)) };
        let servers = self.servers.len();
        let mut output = Output::new(format!(
            "{}: {} of {}\n",
            shown(&first),
            counted_pages(&files, what),
            counted(servers, "server")
        ));
        output.files = files;
        for line in mem::take(&mut self.notes) {
            output.add_note(&format!("{} {line}", terminal.err.doubtful("toolwire:")));
        }
        for error in &self.failed {
            output.add_note(&error.render("toolwire", terminal.err));
        }
        Ok(output.with_exit_code(if self.failed.is_empty() { EXIT_SUCCESS } else { EXIT_UNUSABLE }))
    }
}

fn counted_pages(files: &[OutputFile], what: &str) -> String {
    let is_page = |file: &&OutputFile| what != "page" || file.path.ends_with(".html");
    counted(files.iter().filter(is_page).count(), what)
}
