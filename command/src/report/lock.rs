//! The lock file of a report: the packages of the servers by name and version, with their licences, and the servers
//! whose authors asked to be left out.

use std::collections::BTreeSet;

use toolwire::internal::json::{self, Node};

use super::page_name;
use crate::{
    error::CommandError,
    terminal::{cut, shown},
};

const VERSION: u64 = 1;
/// Registries, and folders of the repository that contains the lock file.
const KINDS: [&str; 3] = ["npm:", "pypi:", "file:"];
const MEMBERS: [&str; 3] = ["version", "servers", "leave-out"];
const SERVER_MEMBERS: [&str; 5] = ["name", "package", "version", "license", "command"];
const MAX_SERVERS: usize = 10_000;

/// A server.
#[derive(Clone, Debug)]
pub(super) struct Locked {
    pub(super) name: String,
    pub(super) package: String,
    pub(super) version: String,
    pub(super) license: String,
}

#[derive(Debug, Default)]
pub(super) struct Lock {
    servers: Vec<Locked>,
    /// Names and packages of servers.
    leave_out: BTreeSet<String>,
}

impl Lock {
    /// Reads a lock file.
    ///
    /// # Errors
    /// The text is not JSON, or a member is missing, unknown or invalid.
    pub(super) fn read(text: &str) -> Result<Lock, CommandError> {
        let file = json::read(text).map_err(|error| CommandError::from_core(&error, ""))?;
        require_known_members(&file, "", &MEMBERS)?;
        if file.u64_at("version") != Some(VERSION) {
            return Err(CommandError::new("/version", "expected 1, the version of the lock file, found another value"));
        }
        let list = file.array_at("servers").ok_or_else(|| CommandError::new("/servers", "expected a list"))?;
        if list.len() > MAX_SERVERS {
            let message = format!("expected at most {MAX_SERVERS} servers, found {}", list.len());
            return Err(CommandError::new("/servers", message));
        }
        let (mut servers, mut names) = (Vec::new(), BTreeSet::new());
        for (at, server) in list.iter().enumerate() {
            let server = read_locked(server, &format!("/servers/{at}"))?;
            if !names.insert(server.name.clone()) {
                let message = format!("expected a name of its own, found `{}` again", server.name);
                return Err(CommandError::new(format!("/servers/{at}/name"), message));
            }
            servers.push(server);
        }
        // A list that is forgotten or misspelt must not publish a server.
        let list = file.array_at("leave-out").ok_or_else(|| CommandError::new("/leave-out", "expected a list"))?;
        let mut leave_out = BTreeSet::new();
        for (at, name) in list.iter().enumerate() {
            let name = name.as_text().map(|name| name.display().into_owned());
            let is_valid = |name: &String| name.len() <= 256 && (is_package(name) || is_name(name));
            let expected = || {
                let message = "expected the name of a server, or its package without a version, such as \
                               `npm:some-server`, found another value";
                CommandError::new(format!("/leave-out/{at}"), message)
            };
            leave_out.insert(comparable(&name.filter(is_valid).ok_or_else(expected)?));
        }
        Ok(Lock { servers, leave_out })
    }

    /// Returns the server with this name, and true if it is left out. A package is left out in every version.
    pub(super) fn find(&self, name: &str) -> Option<(&Locked, bool)> {
        let server = self.servers.iter().find(|server| server.name == name)?;
        Some((server, self.leaves_out(&server.name) || self.leaves_out(&server.package)))
    }

    /// Returns true if a name or package is left out.
    pub(super) fn leaves_out(&self, name: &str) -> bool {
        self.leave_out.contains(&comparable(name))
    }
}

fn read_locked(server: &Node<'_>, pointer: &str) -> Result<Locked, CommandError> {
    require_known_members(server, pointer, &SERVER_MEMBERS)?;
    let text = |member: &str, expected: &str, is_valid: &dyn Fn(&str) -> bool| {
        let value = server.text_at(member).map(|text| text.display().into_owned());
        value.filter(|value| value.len() <= 256 && is_valid(value)).ok_or_else(|| {
            let found = server.get(member).map_or("none".into(), |value| {
                value
                    .as_text()
                    .map_or(value.kind().to_string(), |text| format!("`{}`", cut(&shown(&text.display()), 64)))
            });
            CommandError::new(format!("{pointer}/{member}"), format!("expected {expected}, found {found}"))
        })
    };
    let is_command = |words: &[Node<'_>]| !words.is_empty() && words.iter().all(|word| word.as_text().is_some());
    if server.get("command").is_some_and(|command| !command.as_array().is_some_and(is_command)) {
        let message = "expected the command that starts the server, a list of words, found another value";
        return Err(CommandError::new(format!("{pointer}/command"), message));
    }
    let is_of_npm = server.text_at("package").is_some_and(|package| package.display().starts_with("npm:"));
    let is_version = |value: &str| {
        let numbers = value.split(['+', '-']).next().unwrap_or_default();
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        value.starts_with(|first: char| first.is_ascii_digit())
            && value.chars().all(|character| character.is_ascii_alphanumeric() || ".+-".contains(character))
            // npm reads `1` and `1.x` as ranges.
            && (!is_of_npm || numbers.split('.').count() == 3 && numbers.split('.').all(is_number))
    };
    Ok(Locked {
        name: text("name", PAGE_NAME, &is_name)?,
        package: text(
            "package",
            "a package, such as `npm:some-server`, `pypi:some-server` or `file:folder`",
            &is_package,
        )?,
        version: text("version", "an exact version", &is_version)?,
        license: text("license", "a license (SPDX)", &|value| !value.trim().is_empty())?,
    })
}

const PAGE_NAME: &str =
    "the name of a page: at most 57 small letters, digits and single `-`, neither `index` nor reserved \
    by Windows";

fn is_name(name: &str) -> bool {
    page_name(name) == name
}

/// Returns true for a package of a registry without a version, and for a folder of the repository. No part is
/// an option of a program.
fn is_package(value: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_')
            && part.chars().all(|character| character.is_ascii_alphanumeric() || "._-".contains(character))
    };
    let [npm, pypi, file] = KINDS;
    if let Some(name) = value.strip_prefix(npm) {
        let (scope, name) = match name.strip_prefix('@').map(|name| name.split_once('/')) {
            Some(None) => return false,
            Some(Some((scope, name))) => (Some(scope), name),
            None => (None, name),
        };
        return is_part(name) && scope.is_none_or(is_part);
    }
    if let Some(name) = value.strip_prefix(pypi) {
        return is_part(name) && name.ends_with(|last: char| last.is_ascii_alphanumeric());
    }
    let is_step = |step: &str| step != "." && step != ".." && is_part(step.strip_prefix('.').unwrap_or(step));
    value.strip_prefix(file).is_some_and(|folder| folder.split('/').all(is_step))
}

/// Returns the normal form of a name or package, for comparisons. PyPI treats `Some.Server` and `some_server` as one
/// name (PEP 503); npm had names with capital letters, and leaving out too much is the smaller mistake.
fn comparable(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let [npm, pypi, _] = KINDS;
    match lower.strip_prefix(pypi) {
        Some(rest) => {
            let parts: Vec<&str> = rest.split(['-', '_', '.']).filter(|part| !part.is_empty()).collect();
            format!("{pypi}{}", parts.join("-"))
        }
        None if lower.starts_with(npm) => lower,
        None => name.into(),
    }
}

fn require_known_members(object: &Node<'_>, pointer: &str, members: &[&str]) -> Result<(), CommandError> {
    let Some(object) = object.as_object() else {
        return Err(CommandError::new(pointer, format!("expected an object, found {}", object.kind())));
    };
    match object.iter().find(|member| !members.iter().any(|name| member.key.is(*name))) {
        None => Ok(()),
        Some(member) => {
            let found = cut(&shown(&member.key.display()), 64).into_owned();
            let message = format!("expected only `{}`, found `{found}`", members.join("`, `"));
            Err(CommandError::new(pointer, message))
        }
    }
}
