//! `toolwire proxy --install` and `--undo`: edits a client's own file so that a server runs through the proxy, or
//! directly again. Without `--server`, `--undo` changes every entry that `--install` could have written.

mod entry;

use toolwire::internal::{self, json};

use self::entry::{quoted, Entry};
use super::{
    clients::{self, ClientFile, PATH_VARIABLES},
    error::host_error,
};
use crate::{
    arguments::{Defer, ProxyArguments},
    error::{CommandError, EXIT_FOUND},
    need::Need,
    task::{Output, Task},
    terminal::{shown, shown_lines, Terminal},
    OutputFile,
};

/// Suffix of the backup file, followed by a hash of its content, so that no other backup is overwritten.
const BACKUP: &str = ".toolwire-backup-";
const PROXY: &str = "proxy";
const TOOLWIRE: &str = "toolwire";
/// Commands that `--install` writes before the name of the package, and `npx` as users write it.
const LAUNCHERS: [&[&str]; 6] =
    [&["npx", "-y"], &["npx"], &["cmd", "/c", "npx", "-y"], &["cmd", "/c", "npx"], &["uvx"], &[]];

pub(crate) struct Install {
    file: &'static ClientFile,
    server: Option<String>,
    /// The command line of the proxy, without `--env` and the server.
    program: Vec<String>,
    /// Maximum length of a server's name, if the client limits it together with the names of tools.
    max_server_name: Option<usize>,
    undoes: bool,
    /// True with `--yes`.
    is_agreed: bool,
    /// True if standard input is a terminal.
    can_ask: bool,
    stage: Stage,
    /// Candidate paths of the file, in the order of the attempts.
    paths: Vec<String>,
    path: String,
    /// Content before and after the change.
    before: String,
    after: String,
    changes: Vec<Change>,
    /// Lines about servers whose entries cannot be read.
    skipped: Vec<String>,
}

struct Change {
    server: String,
    before: Program,
    after: Program,
}

type Program = (String, Vec<String>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Variables,
    Reading,
    Asking,
    /// Rereads the file, which may have changed while the user was answering.
    ReadingAgain,
    Agreed,
    Refused,
    Nothing,
}

impl Install {
    pub(crate) fn new(arguments: &ProxyArguments, terminal: &Terminal) -> Result<Install, CommandError> {
        let undoes = arguments.undo.is_some();
        let client = arguments.install.as_deref().or(arguments.undo.as_deref()).unwrap_or_default();
        let failed = |message: &str| CommandError::new("", message).in_source(PROXY);
        let file =
            clients::file_of(client).ok_or_else(|| failed(&format!("expected a known client, found `{client}`")))?;
        let connection = &arguments.connection;
        if !connection.server.is_empty() || connection.url.is_some() {
            return Err(failed(
                "expected only `--server NAME` with `--install` and `--undo`, found a server's command or `--url`",
            ));
        }
        let ([] | [_]) = connection.only.as_slice() else {
            return Err(failed("expected one `--server`, found several: install one at a time"));
        };
        let mut program = terminal.program.clone();
        program.extend([PROXY.into(), "--client".into(), client.into()]);
        let mut add = |name: &str, value: &str| program.extend([name.to_string(), value.to_string()]);
        if let Some(dialect) = &arguments.dialect {
            add("--dialect", dialect.as_str());
        }
        if arguments.repair != "likely" {
            add("--repair", &arguments.repair);
        }
        match arguments.defer {
            Defer::Auto => {}
            Defer::Off => add("--defer", "off"),
            Defer::Above(limit) => add("--defer", &limit.to_string()),
        }
        if arguments.results != "pass" {
            add("--results", &arguments.results);
        }
        if arguments.structured_text != "empty" {
            add("--structured-text", &arguments.structured_text);
        }
        if let Some(size) = arguments.max_result {
            add("--max-result", &size.to_string());
        }
        let paths: Vec<String> = connection.servers.iter().cloned().collect();
        let stage = if paths.is_empty() { Stage::Variables } else { Stage::Reading };
        let dialect = clients::find(client).and_then(|client| client.dialect);
        Ok(Install {
            max_server_name: internal::max_server_name(dialect),
            file,
            server: connection.only.first().cloned(),
            program,
            undoes,
            is_agreed: arguments.yes,
            can_ask: terminal.typed,
            stage,
            paths,
            path: String::new(),
            before: String::new(),
            after: String::new(),
            changes: Vec::new(),
            skipped: Vec::new(),
        })
    }

    fn plan(&mut self, text: &str) -> Result<(), CommandError> {
        let is_toml = self.path.to_ascii_lowercase().ends_with(".toml");
        let path = self.path.clone();
        let failed = |message: String| CommandError::new("", message).in_source(&path);
        let list = self.file.path_of_servers;
        // A server that the user did not name is changed only if `--install` could have written its entry.
        let is_named = self.server.is_some() || !self.undoes;
        let names = match &self.server {
            None if self.undoes => entry::names(text, list, is_toml).map_err(failed)?.into_iter().map(Some).collect(),
            name => Vec::from([name.clone()]),
        };
        let is_only = names.len() == 1;
        let mut after = text.to_string();
        for name in names {
            let entry = match Entry::find(&after, list, name.as_deref(), is_toml) {
                Ok(entry) => entry,
                Err(message) if is_only => return Err(failed(message)),
                Err(message) => {
                    if !entry::has_no_program(&message) {
                        let name = quoted(name.as_deref().unwrap_or_default());
                        self.skipped.push(format!("toolwire: the server {name} is skipped: {message}\n"));
                    }
                    continue;
                }
            };
            let Some(program) = self.changed_program(&entry, is_named).map_err(failed)? else { continue };
            let edited = entry.with_program(&after, &program.0, &program.1);
            entry.verify(&after, &edited, &program, is_toml).map_err(failed)?;
            let server = entry.name().to_string();
            self.changes.push(Change { server, before: (entry.command, entry.arguments), after: program });
            after = edited;
        }
        self.stage = match (self.changes.is_empty(), self.is_agreed, self.can_ask) {
            (true, ..) => Stage::Nothing,
            (_, true, _) => Stage::ReadingAgain,
            (_, _, true) => Stage::Asking,
            _ => Stage::Refused,
        };
        (self.before, self.after) = (text.into(), after);
        Ok(())
    }

    fn changed_program(&self, entry: &Entry, is_named: bool) -> Result<Option<Program>, String> {
        if self.undoes {
            return Ok(proxied_program(&entry.command, &entry.arguments, is_named));
        }
        if is_proxy(&entry.command, &entry.arguments) {
            return Ok(None);
        }
        entry.require_known_variables()?;
        let variables = entry.environment.iter().flat_map(|name| ["--env".to_string(), name.clone()]);
        let server = ["--".to_string(), entry.command.clone()].into_iter().chain(entry.arguments.clone());
        let name = self.max_server_name.filter(|max| entry.name().chars().count() <= *max);
        let name = name.map(|_| format!("--name={}", entry.name()));
        let mut words = self.program.iter().cloned().chain(name).chain(variables).chain(server);
        Ok(words.next().map(|command| (command, words.collect())))
    }

    /// Renders only the changed members, because others may contain secrets.
    fn render_changes(&self) -> String {
        let part = |(command, arguments): &Program, sign: char| {
            let list: Vec<String> = arguments.iter().map(|argument| quoted(argument)).collect();
            let list = if list.is_empty() { String::new() } else { format!("{sign} args = [{}]\n", list.join(", ")) };
            format!("{sign} command = {}\n{list}", quoted(command))
        };
        let change = |Change { server, before, after }: &Change| {
            format!("server {}\n{}{}", quoted(server), part(before, '-'), part(after, '+'))
        };
        let changes: String = self.changes.iter().map(change).collect();
        shown_lines(&format!("{}{}\n{changes}", self.skipped.concat(), self.path)).into_owned()
    }

    fn record_answer(&mut self, answer: &str) {
        let is_yes = ["y", "yes"].iter().any(|yes| answer.trim().eq_ignore_ascii_case(yes));
        self.stage = if is_yes { Stage::ReadingAgain } else { Stage::Refused };
    }
}

/// Returns a hash of a text: FNV-1a, which does not depend on the version of Rust.
fn fingerprint(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

fn words<'w>(command: &'w str, arguments: &'w [String]) -> Vec<&'w str> {
    [command].into_iter().chain(arguments.iter().map(String::as_str)).collect()
}

/// Returns true if a command runs the proxy, which may be anywhere in it, for example in a container.
fn is_proxy(command: &str, arguments: &[String]) -> bool {
    words(command, arguments)
        .windows(2)
        .any(|pair| matches!(pair, [word, PROXY] if is_program(word) || is_package(word)))
}

/// Returns the index of `proxy` if the command starts with the program, or with a launcher and the package.
fn proxy_at(words: &[&str]) -> Option<usize> {
    LAUNCHERS.iter().find_map(|launcher| match words.strip_prefix(*launcher)? {
        [word, PROXY, ..] if is_package(word) || launcher.is_empty() && is_program(word) => Some(launcher.len() + 1),
        _ => None,
    })
}

fn is_program(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
    name.strip_prefix(TOOLWIRE).is_some_and(|extension| matches!(extension, "" | ".exe" | ".cmd"))
}

/// Returns true for the name of the package, also with extras or a version: `toolwire[relay]==1.0`, `toolwire@1.0`.
fn is_package(word: &str) -> bool {
    word.strip_prefix(TOOLWIRE).is_some_and(|rest| rest.is_empty() || rest.starts_with(['@', '[', '=']))
}

/// Returns the server after `--`. Unless `is_named`, the proxy's first option has to be `--client`, as `--install`
/// writes it.
fn proxied_program(command: &str, arguments: &[String], is_named: bool) -> Option<Program> {
    let words = words(command, arguments);
    let options = words.get(proxy_at(&words)? + 1..)?;
    if !is_named && options.first() != Some(&"--client") {
        return None;
    }
    let mut server = options.iter().skip_while(|word| **word != "--").skip(1).map(ToString::to_string);
    Some((server.next()?, server.collect()))
}

impl Task for Install {
    fn need(&self) -> Option<Need> {
        match self.stage {
            Stage::Variables => Some(Need::Variables(PATH_VARIABLES.map(String::from).into())),
            Stage::Reading => self.paths.first().cloned().map(Need::File),
            Stage::Asking => Some(Need::Line(format!("{}Write this change? [y/N] ", self.render_changes()))),
            Stage::ReadingAgain => Some(Need::File(self.path.clone())),
            Stage::Agreed | Stage::Refused | Stage::Nothing => None,
        }
    }

    fn give(&mut self, text: &str) -> Result<(), CommandError> {
        match self.stage {
            Stage::Variables => {
                let values = json::read(text).unwrap_or_default();
                let path = |path: &&str| {
                    let (variable, rest) = path.split_once('/')?;
                    let value = values.text_at(variable)?.display().into_owned();
                    Some(format!("{value}/{rest}")).filter(|_| !value.is_empty())
                };
                self.paths = self.file.paths.iter().filter_map(path).collect();
                self.stage = Stage::Reading;
                if self.paths.is_empty() {
                    return Err(
                        CommandError::new("", "expected the variable HOME or USERPROFILE, found none").in_source(PROXY)
                    );
                }
                Ok(())
            }
            Stage::Reading => {
                self.path = self.paths.remove(0);
                self.plan(text)
            }
            Stage::Asking => {
                self.record_answer(text);
                Ok(())
            }
            Stage::ReadingAgain if text == self.before => {
                self.stage = Stage::Agreed;
                Ok(())
            }
            Stage::ReadingAgain => {
                let message =
                    "expected an unchanged file, found one that changed after it was read: nothing was written";
                Err(CommandError::new("", message).in_source(&self.path))
            }
            Stage::Agreed | Stage::Refused | Stage::Nothing => Ok(()),
        }
    }

    fn fail(&mut self, message: &str) -> Result<(), CommandError> {
        if self.stage == Stage::Asking {
            self.stage = Stage::Refused;
            return Ok(());
        }
        let path = if self.stage == Stage::Reading { self.paths.remove(0) } else { self.path.clone() };
        let (is_missing, mut message) = host_error(message, &path, "file");
        if is_missing && self.stage == Stage::Reading {
            if !self.paths.is_empty() {
                return Ok(());
            }
            message = format!("{message}; use `--servers FILE` for another path");
        }
        Err(CommandError::new("", message).in_source(&path))
    }

    fn finish(self: Box<Self>, _terminal: &Terminal) -> Result<Output, CommandError> {
        let path = shown(&self.path).into_owned();
        match self.stage {
            Stage::Agreed => {
                let backup = format!("{}{BACKUP}{:016x}", self.path, fingerprint(&self.before));
                let file = |path: &str, content: &str| OutputFile {
                    path: path.into(),
                    content: content.into(),
                    like: self.path.clone(),
                    ..OutputFile::default()
                };
                let change = if self.is_agreed { self.render_changes() } else { String::new() };
                let mut output = Output::new(String::new());
                let saved = shown(&backup);
                output
                    .add_note(&format!("{change}toolwire: writing {path}; the previous version is saved as {saved}\n"));
                output.files = Vec::from([file(&backup, &self.before), file(&self.path, &self.after)]);
                Ok(output)
            }
            Stage::Nothing => {
                let what = match (self.undoes, &self.server) {
                    (true, None) => "no server runs through the proxy, as `--install` writes it",
                    (true, Some(_)) => "this server does not run through the proxy",
                    (false, _) => "this server already runs through the proxy",
                };
                let mut output = Output::new(String::new());
                output.add_note(&format!("{}toolwire: {path}: {what}\n", shown_lines(&self.skipped.concat())));
                Ok(output)
            }
            _ => {
                let mut output = Output::default().with_exit_code(EXIT_FOUND);
                output.add_note(&format!(
                    "{}toolwire: nothing was written; pass `--yes` to write this change\n",
                    self.render_changes()
                ));
                Ok(output)
            }
        }
    }
}
