//! The inputs that a command needs: files, glob patterns, servers, a configuration, a baseline. Some inputs are known
//! only after others were read: for example the servers in a file, and the variables that they use.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use toolwire::internal::json;

use super::{
    arguments::{
        CheckArguments, Command, Connection, DiffArguments, Format, RelayArguments, ReportArguments, Source,
        ValidateArguments,
    },
    config::{self, Config},
    error::{is_json, CommandError},
    glob::{is_pattern, Glob, FOLDERS},
    naming::{name_of_address, name_of_command, normal},
    need::{Need, Server, Transport},
    servers::{self, Declaration, Declared},
    task::{Encoding, Origin, SourceText},
    terminal::{shown, Terminal},
};

/// Project manifests. GitHub rejects SARIF findings without a file, so findings without a file are assigned to a
/// manifest.
const MANIFESTS: [&str; 2] = ["package.json", "pyproject.toml"];

pub(crate) const INPUT: &str = "<stdin>";

#[derive(Debug)]
pub(crate) struct Want {
    pub(crate) need: Need,
    pub(crate) source: String,
    role: Role,
}

#[derive(Debug)]
enum Role {
    Input(Origin),
    /// File that declares servers. Their tools are the input.
    Servers,
    With,
    /// The configuration; optional, unless the command line names it.
    Config {
        is_required: bool,
    },
    /// File of the project to which SARIF can assign findings. Optional.
    Manifest,
    /// The baseline; optional if the command writes it.
    Baseline {
        written: bool,
    },
    /// File to which rows are appended, if it exists.
    Record,
    Glob(Glob),
    Variables {
        file: String,
        servers: Vec<Declared>,
    },
}

#[derive(Debug, Default)]
pub(crate) struct Gathering {
    wants: VecDeque<Want>,
    pub(crate) inputs: Vec<SourceText>,
    pub(crate) with: Option<SourceText>,
    pub(crate) config: Option<Config>,
    pub(crate) baseline: Option<SourceText>,
    /// First file of [`MANIFESTS`] that exists.
    pub(crate) manifest: Option<String>,
    /// Current content of the `--record` file.
    pub(crate) recorded: Option<SourceText>,
    /// Today's date, such as `2026-11-23`, if the host supplied it.
    pub(crate) date: Option<String>,
    /// Errors of inputs that could not be read; used only if `several` is true.
    pub(crate) failed: Vec<CommandError>,
    pub(crate) notes: Vec<String>,
    /// True if each input is checked separately, so that an input may fail.
    several: bool,
    /// True if the servers themselves are the input, and not their tools.
    keeps_servers: bool,
    pub(crate) servers: Vec<(String, Server)>,
    /// True if the input must be tools. A file that declares servers is then an error, and no server is started.
    refuses_servers: bool,
    /// Variables that the file of servers may use.
    environment: Vec<String>,
    /// Servers that the command line names. `declared_names` contains the servers that a file declares.
    only: Vec<String>,
    declared_names: BTreeSet<String>,
    /// Files and streams that are already inputs, to avoid checking an input twice.
    taken: BTreeSet<String>,
    timeout: u32,
    /// Working directory, which is substituted for `${workspaceFolder}` of VS Code.
    folder: String,
    /// Path of the baseline, even if the file does not exist.
    pub(crate) baseline_path: Option<String>,
    /// Suffix of an output file's path in which no symbolic link is followed.
    pub(crate) confined: String,
    baseline_written: bool,
    paths: Paths,
}

impl Gathering {
    pub(crate) fn new(command: &Command, terminal: &Terminal) -> Result<Gathering, CommandError> {
        let folder = terminal.folder.clone().unwrap_or_else(|| ".".into());
        let mut gathering = Gathering { folder, paths: Paths::new(terminal), ..Gathering::default() };
        match command {
            Command::Matrix(arguments) => {
                gathering.several = true;
                gathering.want_source(&arguments.source, terminal)?;
            }
            Command::Check(arguments) => gathering.want_check_inputs(arguments, terminal)?,
            Command::Diff(arguments) => gathering.want_diff_inputs(arguments, terminal)?,
            Command::Sanitize(arguments) => gathering.want_source(&arguments.source, terminal)?,
            Command::Explain(arguments) => gathering.want_source(&arguments.source, terminal)?,
            Command::Defer(arguments) => gathering.want_file(arguments.file.as_deref(), terminal)?,
            Command::Restore(arguments) => {
                gathering.want_file(arguments.file.as_deref(), terminal)?;
                let path = arguments.with.clone();
                gathering.want(Need::File(path.clone()), path, Role::With);
            }
            Command::Validate(arguments) => gathering.want_validate_inputs(arguments, terminal)?,
            Command::Probe(arguments) => {
                gathering.date = terminal.date.clone();
                if !gathering.want_server(&arguments.connection())? {
                    gathering.want_file(arguments.file.as_deref(), terminal)?;
                }
                if let Some(path) = &arguments.record {
                    let path = gathering.paths.read(path);
                    gathering.confined = gathering.paths.relative(&path).into();
                    gathering.want(gathering.paths.file(&path), path, Role::Record);
                }
            }
            Command::Proxy(arguments) if arguments.edits() => {}
            Command::Proxy(arguments) => {
                (gathering.several, gathering.keeps_servers) = (true, true);
                gathering.want_server(&arguments.connection)?;
            }
            Command::Relay(arguments) => gathering.want_relay_file(arguments),
            Command::Run(arguments) => gathering.want_relay_file(&arguments.relay),
            Command::Report(arguments) => gathering.want_report_inputs(arguments, terminal)?,
            Command::Dialects(_) => {}
        }
        Ok(gathering)
    }

    fn want_relay_file(&mut self, arguments: &RelayArguments) {
        if let Some(path) = &arguments.config {
            self.want(Need::File(path.clone()), path.clone(), Role::With);
        }
    }

    pub(crate) fn next(&self) -> Option<&Want> {
        self.wants.front()
    }

    pub(crate) fn give(&mut self, text: String, encoding: Encoding) -> Result<(), CommandError> {
        let Some(Want { source, role, .. }) = self.wants.pop_front() else { return Ok(()) };
        match role {
            Role::Input(origin) => return self.add_input(SourceText { source, text, origin, encoding }),
            Role::Servers => return self.add_declared(&source, &text),
            Role::With => self.with = Some(SourceText { source, text, origin: Origin::File, encoding }),
            Role::Baseline { .. } => self.baseline = Some(SourceText { source, text, origin: Origin::File, encoding }),
            Role::Manifest => self.manifest = self.manifest.take().or(Some(source)),
            Role::Record => self.recorded = Some(SourceText { source, text, origin: Origin::File, encoding }),
            Role::Config { .. } => {
                let config = Config::read(&text, source)?;
                if let (Some(path), None) = (&config.baseline, &self.baseline_path) {
                    let folder = config.source.rfind('/').and_then(|end| config.source.get(..=end));
                    let below = format!("{}{path}", folder.unwrap_or_default());
                    self.confined.clone_from(path);
                    self.want_baseline(Need::RegularFile(below.clone()), below);
                }
                self.config = Some(config);
            }
            Role::Glob(glob) => return self.add_listing(glob, Some(&text), source),
            Role::Variables { file, servers } => {
                let values = json::read(&text).unwrap_or_default();
                let values: BTreeMap<String, String> = values
                    .as_object()
                    .into_iter()
                    .flat_map(|object| object.iter())
                    .filter_map(|member| {
                        let value = member.value.as_text()?;
                        Some((member.key.display().into_owned(), value.display().into_owned()))
                    })
                    .collect();
                return self.servers(&file, servers, &values);
            }
        }
        Ok(())
    }

    pub(crate) fn fail(&mut self, missing: bool, error: CommandError) -> Result<(), CommandError> {
        let Some(Want { source, role, .. }) = self.wants.pop_front() else { return Ok(()) };
        let error = error.in_source(&source);
        match role {
            Role::Config { is_required: false } | Role::Baseline { written: true } | Role::Record if missing => Ok(()),
            Role::Manifest => Ok(()),
            Role::Glob(glob) if missing => self.add_listing(glob, None, source),
            Role::Glob(glob) => {
                let error = error.in_source(&format!("{source} ({})", glob.folder().unwrap_or_default()));
                self.add_failed(error)?;
                self.add_listing(glob, None, source)
            }
            Role::Input(Origin::File) | Role::Servers => self.add_failed(error.in_file(&source, None)),
            Role::Input(Origin::Server(Some((file, position)))) => {
                self.add_failed(error.in_file(&file, Some(position.line)))
            }
            Role::Input(_) => self.add_failed(error),
            _ => Err(error),
        }
    }

    /// Returns an error if no file declares a server of the command line. This is known only at the end.
    pub(crate) fn require_named_servers(&self) -> Result<(), CommandError> {
        match self.only.iter().find(|name| !self.declared_names.contains(*name)) {
            Some(name) if self.failed.is_empty() => {
                let message = format!("expected the name of a server in one of the files, found `{}`", shown(name));
                Err(CommandError::option("server", message))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn add_failed(&mut self, error: CommandError) -> Result<(), CommandError> {
        if !self.several {
            return Err(error);
        }
        self.failed.push(error);
        Ok(())
    }

    fn want(&mut self, need: Need, source: String, role: Role) {
        self.wants.push_back(Want { need, source, role });
    }

    fn want_baseline(&mut self, need: Need, path: String) {
        self.baseline_path = Some(path.clone());
        self.wants.push_front(Want { need, source: path, role: Role::Baseline { written: self.baseline_written } });
    }

    fn want_file(&mut self, file: Option<&str>, terminal: &Terminal) -> Result<(), CommandError> {
        match file {
            Some(path) if path != "-" => {
                let path = self.paths.read(path);
                if self.taken.insert(normal(&path)) {
                    self.want(Need::File(path.clone()), path, Role::Input(Origin::File));
                }
            }
            None if terminal.typed => {
                return Err(CommandError::new(
                    "",
                    "expected a file, a server after `--`, or something on standard input (`-` to type it), found \
                        none; see `--help`",
                ))
            }
            _ => {
                if self.taken.insert("-".into()) {
                    self.want(Need::Input, INPUT.into(), Role::Input(Origin::Stream));
                }
            }
        }
        Ok(())
    }

    /// Adds the server of the command line. Returns true if there is one.
    fn want_server(&mut self, connection: &Connection) -> Result<bool, CommandError> {
        if connection.url.is_none() && !connection.headers.is_empty() {
            return Err(CommandError::option("header", "`--header` needs `--url`, found none"));
        }
        if connection.servers.is_none() && connection.server.is_empty() && !connection.environment.is_empty() {
            return Err(CommandError::option("env", "`--env` needs `--servers` or a server after `--`, found neither"));
        }
        self.refuses_servers = true;
        (self.only, self.timeout) = (connection.only.clone(), connection.timeout);
        if let Some(path) = &connection.servers {
            if path == "-" {
                let message = "expected the name of a file, found `-`: servers are not read from standard input";
                return Err(CommandError::option("servers", message));
            }
            self.environment.clone_from(&connection.environment);
            let path = self.paths.read(path);
            self.taken.insert(normal(&path));
            self.want(Need::File(path.clone()), path, Role::Servers);
            return Ok(true);
        }
        let (transport, source) = match (&connection.url, connection.server.as_slice()) {
            (Some(url), _) => {
                servers::check_url(url).map_err(|message| CommandError::option("url", message))?;
                let headers = connection.headers.iter().map(|text| servers::header(text)).collect::<Result<_, _>>()?;
                (Transport::Remote { url: url.clone(), headers, sse: false }, name_of_address(url))
            }
            (None, []) => return Ok(false),
            (None, command) => {
                let transport = Transport::Process {
                    command: command.into(),
                    folder: None,
                    inherited: connection.environment.clone(),
                    environment: Vec::new(),
                };
                (transport, name_of_command(command))
            }
        };
        let server = Server { transport, timeout: self.timeout, secrets: Vec::new() };
        if self.keeps_servers {
            self.servers.push((source, server));
        } else {
            self.want(Need::Server(server), source, Role::Input(Origin::Server(None)));
        }
        Ok(true)
    }

    fn want_source(&mut self, source: &Source, terminal: &Terminal) -> Result<(), CommandError> {
        if self.want_server(&source.connection)? {
            return Ok(());
        }
        self.want_file(source.file.as_deref(), terminal)
    }

    fn want_check_inputs(&mut self, arguments: &CheckArguments, terminal: &Terminal) -> Result<(), CommandError> {
        self.several = true;
        self.baseline_written = arguments.update_baseline;
        let path = self.paths.read(arguments.config.as_deref().unwrap_or(config::FILE));
        self.want(self.paths.file(&path), path, Role::Config { is_required: arguments.config.is_some() });
        if let Some(path) = &arguments.baseline {
            let path = self.paths.read(path);
            self.confined = self.paths.relative(&path).into();
            self.want_baseline(self.paths.file(&path), path);
        }
        if arguments.format == Format::Sarif && arguments.sarif_file.is_none() {
            self.want_manifests();
        }
        // Files can be combined with `--servers`; both are checked.
        let is_connected = self.want_server(&arguments.connection)?;
        if is_connected && arguments.fixes() {
            let option = if arguments.diff { "diff" } else { "fix" };
            let message = "expected files or standard input, found a server, whose tools are in no file; `toolwire \
                           proxy` rewrites them on the way, and `toolwire sanitize` shows how";
            return Err(CommandError::option(option, message));
        }
        self.want_files(&arguments.files, arguments.no_patterns, is_connected, terminal)
    }

    /// Adds the inputs of a report, and its lock file.
    fn want_report_inputs(&mut self, arguments: &ReportArguments, terminal: &Terminal) -> Result<(), CommandError> {
        self.several = true;
        if let Some(path) = &arguments.lock {
            let path = self.paths.read(path);
            self.want(Need::File(path.clone()), path, Role::With);
        }
        let is_connected = self.want_server(&arguments.connection)?;
        self.want_files(&arguments.files, arguments.no_patterns, is_connected, terminal)
    }

    fn want_files(
        &mut self,
        files: &[String],
        no_patterns: bool,
        is_connected: bool,
        terminal: &Terminal,
    ) -> Result<(), CommandError> {
        if files.is_empty() {
            return if is_connected { Ok(()) } else { self.want_file(None, terminal) };
        }
        for name in files {
            if is_pattern(name) && !no_patterns {
                self.want_listing(Glob::new(self.paths.read(name)), name.clone());
            } else {
                self.want_file(Some(name), terminal)?;
            }
        }
        Ok(())
    }

    fn want_manifests(&mut self) {
        for name in MANIFESTS {
            self.want(Need::RegularFile(name.into()), name.into(), Role::Manifest);
        }
    }

    /// Adds the old and the new input.
    fn want_diff_inputs(&mut self, arguments: &DiffArguments, terminal: &Terminal) -> Result<(), CommandError> {
        if arguments.format == Format::Sarif && arguments.sarif_file.is_none() {
            self.want_manifests();
        }
        let commands = arguments.server.split(|word| word == "--").filter(|command| !command.is_empty());
        let commands: Vec<&[String]> = commands.collect();
        let count = arguments.inputs.len() + commands.len() + arguments.only.len();
        if count != 2 {
            let message = format!(
                "expected two inputs, the old and the new one (files, URLs, servers after `--`, or `--server`), \
                 found {count}; see `--help`"
            );
            return Err(CommandError::new("", message).in_source("diff"));
        }
        let is_address = |input: &&String| servers::check_url(input).is_ok();
        let addresses: Vec<&String> = arguments.inputs.iter().filter(is_address).collect();
        match addresses.as_slice() {
            [] if !arguments.headers.is_empty() => {
                return Err(CommandError::option("header", "`--header` needs a URL, found none"));
            }
            [old, new] if !arguments.headers.is_empty() && origin_of(old) != origin_of(new) => {
                let message = "expected two URLs of one origin, because both servers receive the headers, found two \
                               origins; `--servers` has headers for each server";
                return Err(CommandError::option("header", message));
            }
            _ => {}
        }
        let none = Connection { timeout: arguments.timeout, ..Connection::default() };
        for input in &arguments.inputs {
            if is_address(&input) {
                let (url, headers) = (Some(input.clone()), arguments.headers.clone());
                self.want_server(&Connection { url, headers, ..none.clone() })?;
            } else if input == "-" && arguments.inputs.iter().filter(|input| *input == "-").count() > 1 {
                let message = "expected one input from standard input, found two";
                return Err(CommandError::new("", message).in_source("diff"));
            } else {
                self.refuses_servers = true;
                self.taken.clear();
                self.want_file(Some(input), terminal)?;
            }
        }
        let environment = arguments.environment.clone();
        if commands.is_empty() && arguments.servers.is_none() && !environment.is_empty() {
            return Err(CommandError::option("env", "`--env` needs `--servers` or a server after `--`, found neither"));
        }
        for command in commands {
            let (server, environment) = (command.to_vec(), environment.clone());
            self.want_server(&Connection { server, environment, ..none.clone() })?;
        }
        if arguments.servers.is_some() {
            self.several = true;
            let (servers, only) = (arguments.servers.clone(), arguments.only.clone());
            self.want_server(&Connection { servers, only, environment, ..none })?;
        }
        Ok(())
    }

    fn want_validate_inputs(&mut self, arguments: &ValidateArguments, terminal: &Terminal) -> Result<(), CommandError> {
        self.want_file(arguments.file.as_deref(), terminal)?;
        // Arguments that were passed in place of a file name may contain secrets, so messages must not repeat them.
        self.wants.iter_mut().filter(|want| is_json(&want.source)).for_each(|want| want.source = "ARGUMENTS".into());
        let path = arguments.schema.as_str();
        if path != "-" {
            self.want(Need::File(path.into()), path.into(), Role::With);
        } else if self.taken.insert("-".into()) {
            self.want(Need::Input, INPUT.into(), Role::With);
        } else {
            let message = "expected a file, found standard input, from which the arguments are read";
            return Err(CommandError::option("schema", message));
        }
        Ok(())
    }

    fn want_listing(&mut self, glob: Glob, source: String) {
        let folder = glob.folder().unwrap_or_default().to_string();
        self.wants.push_front(Want { need: Need::Folder(folder), source, role: Role::Glob(glob) });
    }

    fn add_listing(&mut self, mut glob: Glob, names: Option<&str>, source: String) -> Result<(), CommandError> {
        glob.add_listing(names);
        if glob.folder().is_some() {
            self.want_listing(glob, source);
            return Ok(());
        }
        if glob.is_cut() {
            let message = format!("expected a pattern that matches at most {FOLDERS} folders, found more");
            self.add_failed(CommandError::new("", message).in_source(&source))?;
        }
        let found = glob.into_paths();
        if found.is_empty() {
            let message = "expected files that match the pattern, found none";
            return self.add_failed(CommandError::new("", message).in_source(&source));
        }
        let new: Vec<String> = found.into_iter().filter(|path| self.taken.insert(normal(path))).collect();
        for path in new.into_iter().rev() {
            let role = Role::Input(Origin::File);
            self.wants.push_front(Want { need: Need::RegularFile(path.clone()), source: path, role });
        }
        Ok(())
    }

    /// A file that declares servers is an error here, because the content of an input must never start a program.
    fn add_input(&mut self, input: SourceText) -> Result<(), CommandError> {
        let is_given = !matches!(input.origin, Origin::Server(_));
        let list = (is_given && self.refuses_servers).then(|| servers::list_of(&input.text)).flatten();
        let Some((pointer, line)) = list else {
            self.inputs.push(input);
            return Ok(());
        };
        let error = CommandError::new(pointer, servers::DECLARED).in_source(&input.source);
        let is_file = input.origin == Origin::File;
        self.add_failed(if is_file { error.in_file(&input.source, Some(line)) } else { error })
    }

    fn add_declared(&mut self, source: &str, text: &str) -> Result<(), CommandError> {
        let Some(declaration) = servers::declared(text, self.timeout) else {
            let message = "expected servers in `mcpServers` or `servers`, found none";
            return self.add_failed(CommandError::new("", message).in_source(source).in_file(source, None));
        };
        let Declaration { servers: declared, disabled } = declaration;
        let names: Vec<String> = declared.iter().map(|server| format!("`{}`", shown(&server.name))).collect();
        let chosen: Vec<Declared> =
            declared.into_iter().filter(|server| self.only.is_empty() || self.only.contains(&server.name)).collect();
        self.declared_names.extend(chosen.iter().map(|server| server.name.clone()));
        if disabled > 0 {
            self.notes.push(format!("{}: {disabled} of its servers skipped (disabled in the file)", shown(source)));
        }
        let found = if names.is_empty() { "none".to_string() } else { names.join(", ") };
        if chosen.is_empty() {
            let expected =
                if self.only.is_empty() { "at least one server" } else { "the server that `--server` names" };
            let message = format!("expected {expected}, found {found}");
            return self.add_failed(CommandError::new("", message).in_source(source).in_file(source, None));
        }
        if !self.several && chosen.len() > 1 {
            let message = format!("expected one server, or `--server` with the name of one, found {found}");
            return Err(CommandError::new("", message).in_source(source));
        }
        let mut variables = servers::variables(chosen.iter());
        // No other variables are read.
        variables.retain(|name| self.environment.contains(name));
        if variables.is_empty() {
            return self.servers(source, chosen, &BTreeMap::new());
        }
        let role = Role::Variables { file: source.into(), servers: chosen };
        self.wants.push_front(Want { need: Need::Variables(variables), source: source.into(), role });
        Ok(())
    }

    fn servers(
        &mut self,
        file: &str,
        servers: Vec<Declared>,
        values: &BTreeMap<String, String>,
    ) -> Result<(), CommandError> {
        let mut wants = Vec::new();
        for declared_server in servers {
            let source = format!("{file} ({})", declared_server.name);
            let line = declared_server.position.line;
            match declared_server
                .server
                .and_then(|server| servers::with_values(&server, &self.environment, values, &self.folder))
            {
                Ok(server) if self.keeps_servers => self.servers.push((declared_server.name, server)),
                Ok(server) => {
                    let declared = (file.to_string(), declared_server.position);
                    let role = Role::Input(Origin::Server(Some(declared)));
                    wants.push(Want { need: Need::Server(server), source, role });
                }
                Err(message) => {
                    let error = CommandError::new("", message).in_source(&source);
                    self.add_failed(error.in_file(file, Some(line)))?;
                }
            }
        }
        wants.into_iter().rev().for_each(|want| self.wants.push_front(want));
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Paths {
    is_windows: bool,
}

impl Paths {
    /// Detects Windows: there, the absolute path of a directory begins with a drive letter or `\\`.
    pub(crate) fn new(terminal: &Terminal) -> Paths {
        let folder = terminal.folder.as_deref().unwrap_or_default();
        Paths { is_windows: folder.starts_with("\\\\") || has_drive(folder) }
    }

    /// Returns a path with `/` as separator. `\` is a separator only on Windows; elsewhere it may be part of a name.
    pub(crate) fn read(self, path: &str) -> String {
        if self.is_windows {
            path.replace('\\', "/")
        } else {
            path.into()
        }
    }

    /// Returns a path that is relative to the working directory, whose content may be untrusted. Returns an empty
    /// string for an absolute path.
    pub(crate) fn relative(self, path: &str) -> &str {
        let is_absolute = path.starts_with('/') || self.is_windows && has_drive(path);
        if is_absolute {
            ""
        } else {
            path
        }
    }

    /// Returns the need for a file that is not the main input. Only an absolute path may be a device (`/dev/stdin`).
    pub(crate) fn file(self, path: &str) -> Need {
        if self.relative(path).is_empty() {
            Need::File(path.into())
        } else {
            Need::RegularFile(path.into())
        }
    }
}

/// Returns the scheme and the authority of a URL.
fn origin_of(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url.get(start..).and_then(|rest| rest.find(['/', '?', '#'])).map_or(url.len(), |end| start + end);
    url.get(..end).unwrap_or(url)
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [drive, b':', ..] if drive.is_ascii_alphabetic())
}
