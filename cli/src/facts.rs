//! Facts for the command about the terminal, the date and the environment.

use std::{
    env,
    ffi::OsString,
    io::{stderr, stdin, stdout, IsTerminal as _},
    path::Path,
};

use toolwire::internal::json::{self, Member, Node, Object, Text};

const VARIABLES: [&str; 3] = ["NO_COLOR", "FORCE_COLOR", "TERM"];

/// The variable that contains the command line of a launcher, as a list in JSON: `["npx", "-y", "toolwire"]`.
const LAUNCHER: &str = "TOOLWIRE_PROGRAM";

/// Returns the arguments. Fails with the first argument that is not UTF-8.
pub(crate) fn arguments() -> Result<Vec<String>, OsString> {
    env::args_os().skip(1).map(OsString::into_string).collect()
}

pub(crate) fn facts() -> String {
    let strings = |list: Vec<String>| Node::array(list.into_iter().map(Node::string).collect());
    let optional = |text: Option<String>| text.map_or_else(Node::default, Node::string);
    let (stdin, stdout, stderr) = (stdin().is_terminal(), stdout().is_terminal(), stderr().is_terminal());
    let columns = if stdout { terminal_size::terminal_size().map(|(width, _)| width.0) } else { None };
    let program = launcher().or_else(|| env::current_exe().ok().map(|path| command_line_for(&path)));
    let folder = env::current_dir().ok().map(|folder| folder.to_string_lossy().into_owned());
    let environment = VARIABLES.iter().filter_map(|name| Some((*name, env::var(name).ok()?)));
    json::write(&record(
        [
            ("arguments", strings(arguments().unwrap_or_default())),
            ("stdin", Node::bool(stdin)),
            ("stdout", Node::bool(stdout)),
            ("stderr", Node::bool(stderr)),
            ("columns", columns.map_or_else(Node::default, |columns| Node::count(columns.into()))),
            ("date", Node::string(jiff::Zoned::now().date().to_string())),
            ("environment", record(environment.map(|(name, value)| (name, Node::string(value))))),
            ("folder", optional(folder)),
            ("program", program.map_or_else(Node::default, strings)),
        ]
        .into_iter(),
    ))
}

fn launcher() -> Option<Vec<String>> {
    let words = env::var(LAUNCHER).ok()?;
    let words = json::read(&words).ok()?;
    let words = words.as_array()?.iter().filter_map(Node::as_text);
    Some(words.map(|word| word.display().into_owned()).collect()).filter(|words: &Vec<String>| !words.is_empty())
}

/// Returns the command line that starts the program at a path. `uvx` keeps the program in a cache, so its path is
/// temporary.
fn command_line_for(path: &Path) -> Vec<String> {
    if path.components().any(|part| part.as_os_str() == "archive-v0") {
        return ["uvx", "toolwire"].map(String::from).into();
    }
    Vec::from([path.to_string_lossy().into_owned()])
}

pub(crate) fn record<'a>(members: impl Iterator<Item = (&'a str, Node<'a>)>) -> Node<'a> {
    Node::object(Object::from_members(members.map(|(key, value)| Member { key: Text::new(key), value }).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_uvx_is_started_by_uvx() {
        let words = |path: &str| command_line_for(Path::new(path)).join(" ");
        assert_eq!(words("/home/a/.cache/uv/archive-v0/3f/bin/toolwire"), "uvx toolwire");
        assert_eq!(words("/home/a/.venv/bin/toolwire"), "/home/a/.venv/bin/toolwire");
    }
}
