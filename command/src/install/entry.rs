//! Edits the entry of a server in a client's file, so that it runs through the proxy or directly. The rest of the file
//! is unchanged.

use std::{borrow::Cow, ops::Range};

use toml::{
    de::{DeTable, DeValue},
    Spanned,
};
use toolwire::internal::json::{self, Member, Node, Object};

use crate::{
    position::{splice, value_span},
    servers::without_comments,
    terminal::{cut, shown},
};

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) command: String,
    pub(super) arguments: Vec<String>,
    /// Names of the variables that the file sets.
    pub(super) environment: Vec<String>,
    /// True if further variables are in a file.
    has_variables_file: bool,
    command_at: Range<usize>,
    arguments_at: Option<Range<usize>>,
    /// Separator before `args`, if they have to be inserted after `command`.
    before: &'static str,
    /// Keys of the members on the path to the server. The last key is the server's name.
    path: Vec<String>,
}

impl Entry {
    /// Finds the server with this name; without a name, the only server of the file.
    pub(super) fn find(text: &str, list: &[&str], name: Option<&str>, is_toml: bool) -> Result<Entry, String> {
        if is_toml {
            find_in_toml(text, list, name)
        } else {
            find_in_json(text, list, name)
        }
    }

    pub(super) fn with_program(&self, text: &str, command: &str, arguments: &[String]) -> String {
        let list: Vec<String> = arguments.iter().map(|argument| quoted(argument)).collect();
        let list = format!("[{}]", list.join(", "));
        let mut edits = Vec::from([(self.command_at.clone(), quoted(command))]);
        match &self.arguments_at {
            Some(at) => edits.push((at.clone(), list)),
            None => edits.push((self.command_at.end..self.command_at.end, format!("{}{list}", self.before))),
        }
        splice(text, edits)
    }
}

impl Entry {
    pub(super) fn name(&self) -> &str {
        self.path.last().map(String::as_str).unwrap_or_default()
    }

    /// The proxy passes only named variables, so their names must be known.
    pub(super) fn require_known_variables(&self) -> Result<(), String> {
        if self.has_variables_file {
            return Err(VARIABLES_FILE.into());
        }
        Ok(())
    }

    /// Checks that an edit changed only the program, because a file may contain a key twice, or dotted keys.
    pub(super) fn verify(
        &self,
        before: &str,
        after: &str,
        program: &(String, Vec<String>),
        is_toml: bool,
    ) -> Result<(), String> {
        let (list, name) = self.path.split_at(self.path.len().saturating_sub(1));
        let list: Vec<&str> = list.iter().map(String::as_str).collect();
        let found = Entry::find(after, &list, name.first().map(String::as_str), is_toml);
        let is_planned = found.is_ok_and(|found| found.command == program.0 && found.arguments == program.1);
        let same = if is_toml { same_toml(before, after, &self.path) } else { same_json(before, after, &self.path) };
        if is_planned && same {
            return Ok(());
        }
        Err("expected an entry that can be edited alone, found duplicate names or keys with dots: nothing was written"
            .into())
    }
}

pub(super) fn names(text: &str, list: &[&str], is_toml: bool) -> Result<Vec<String>, String> {
    let found = if is_toml {
        let table = toml_file(text)?;
        names_in_toml(toml_servers(table.get_ref(), list))
    } else {
        let plain = plain_json(text)?;
        names_in_json(json_servers(&json_file(&plain)?, list))
    };
    if found.is_empty() {
        return Err(no_server_message(list, &found, None));
    }
    Ok(found)
}

const EDITED: [&str; 2] = ["command", "args"];

fn same_json(before: &str, after: &str, path: &[String]) -> bool {
    let read = |text: &str| -> Option<String> {
        let plain = without_comments(text)?;
        let mut node = json::read(&plain).ok()?;
        fn clear(node: &mut Node<'_>, path: &[String]) {
            match path.split_first() {
                Some((first, rest)) => drop(node.visit(first.as_str(), |below| clear(below, rest))),
                None => EDITED.iter().for_each(|member| drop(node.remove(member))),
            }
        }
        clear(&mut node, path);
        Some(json::write(&node))
    };
    read(before).is_some_and(|text| Some(text) == read(after))
}

fn same_toml(before: &str, after: &str, path: &[String]) -> bool {
    fn same_tables(before_value: &DeTable<'_>, after_value: &DeTable<'_>, path: Option<&[String]>) -> bool {
        let is_entry = path.is_some_and(<[String]>::is_empty);
        let count = |table: &DeTable<'_>| table.keys().filter(|key| !(is_entry && is_edited(key.get_ref()))).count();
        count(before_value) == count(after_value)
            && before_value.iter().all(|(key, value)| {
                let name = key.get_ref().as_ref();
                let below = path.and_then(|path| path.split_first()).filter(|(first, _)| *first == name);
                let after_member = value_at(after_value, name).map(|(value, _)| value);
                is_entry && is_edited(name)
                    || after_member.is_some_and(|after_member| {
                        same_values(value.get_ref(), after_member, below.map(|(_, rest)| rest))
                    })
            })
    }
    fn is_edited(name: &str) -> bool {
        EDITED.contains(&name)
    }
    fn same_values(before_value: &DeValue<'_>, after_value: &DeValue<'_>, path: Option<&[String]>) -> bool {
        match (before_value, after_value) {
            (DeValue::Table(before_value), DeValue::Table(after_value)) => same_tables(before_value, after_value, path),
            (DeValue::Array(before_value), DeValue::Array(after_value)) => {
                before_value.len() == after_value.len()
                    && before_value.iter().zip(after_value.iter()).all(|(before_value, after_value)| {
                        same_values(before_value.get_ref(), after_value.get_ref(), None)
                    })
            }
            (DeValue::String(before_value), DeValue::String(after_value)) => before_value == after_value,
            (DeValue::Integer(before_value), DeValue::Integer(after_value)) => {
                format!("{before_value:?}") == format!("{after_value:?}")
            }
            (DeValue::Float(before_value), DeValue::Float(after_value)) => {
                format!("{before_value:?}") == format!("{after_value:?}")
            }
            (DeValue::Boolean(before_value), DeValue::Boolean(after_value)) => before_value == after_value,
            (DeValue::Datetime(before_value), DeValue::Datetime(after_value)) => before_value == after_value,
            _ => false,
        }
    }
    match (DeTable::parse(before), DeTable::parse(after)) {
        (Ok(before), Ok(after)) => same_tables(before.get_ref(), after.get_ref(), Some(path)),
        _ => false,
    }
}

/// Quotes a string so that it is valid in JSON and in TOML.
pub(super) fn quoted(text: &str) -> String {
    json::write(&Node::string(text.to_string())).replace('\u{7f}', "\\u007f")
}

fn no_server_message(list: &[&str], found: &[String], name: Option<&str>) -> String {
    let list = list.join("/");
    let names: Vec<String> = found.iter().map(|name| format!("`{}`", cut(&shown(name), 60))).collect();
    match (name, found) {
        (_, []) => format!("expected a server in `{list}`, found none"),
        (Some(name), _) => format!("expected the server `{}` in `{list}`, found {}", shown(name), names.join(", ")),
        (None, _) => format!("expected `--server NAME` for one of {}, found none", names.join(", ")),
    }
}

fn choose_name<'n>(found: &'n [String], list: &[&str], name: Option<&str>) -> Result<&'n str, String> {
    let chosen = match (name, found) {
        (None, [only]) => Some(only),
        (None, _) => None,
        (Some(name), _) => found.iter().find(|known| *known == name),
    };
    chosen.map(String::as_str).ok_or_else(|| no_server_message(list, found, name))
}

const NO_PROGRAM: &str = "expected a server with `command`, found one without it";
const REMOTE: &str = "expected a server with `command`, found a remote one: replace its `url` with \
    `\"command\": \"npx\", \"args\": [\"-y\", \"toolwire\", \"proxy\", \"--url\", \"…\"]`";
const NO_LIST: &str = "expected `args` to be a list of strings, found something else";
const VARIABLES_FILE: &str =
    "expected the variables of a server in `env`, found `envFile`: pass them with `--env` in an entry that you write \
        yourself";

pub(super) fn has_no_program(message: &str) -> bool {
    message == NO_PROGRAM || message == REMOTE
}

fn plain_json(text: &str) -> Result<Cow<'_, str>, String> {
    without_comments(text).ok_or_else(|| "expected JSON, found something else".into())
}

fn json_file(plain: &str) -> Result<Node<'_>, String> {
    json::read(plain).map_err(|error| error.message().to_string())
}

fn json_servers<'n, 'a>(file: &'n Node<'a>, list: &[&str]) -> &'n [Member<'a>] {
    let servers = list.iter().try_fold(file, |node, key| node.get(*key)).and_then(Node::as_object);
    servers.map(Object::members).unwrap_or_default()
}

fn names_in_json(members: &[Member<'_>]) -> Vec<String> {
    members.iter().map(|member| member.key.display().into_owned()).collect()
}

fn toml_file(text: &str) -> Result<Spanned<DeTable<'_>>, String> {
    DeTable::parse(text).map_err(|error| format!("expected TOML: {}", error.message()))
}

fn toml_servers<'t, 'i>(table: &'t DeTable<'i>, list: &[&str]) -> Option<&'t DeTable<'i>> {
    list.iter().try_fold(table, |table, key| table_at(table, key).map(|(table, _)| table))
}

fn names_in_toml(servers: Option<&DeTable<'_>>) -> Vec<String> {
    servers.into_iter().flat_map(|table| table.keys()).map(|key| key.get_ref().to_string()).collect()
}

fn find_in_json(text: &str, list: &[&str], name: Option<&str>) -> Result<Entry, String> {
    let plain = plain_json(text)?;
    let file = json_file(&plain)?;
    let members = json_servers(&file, list);
    let found = names_in_json(members);
    let name = choose_name(&found, list, name)?;
    let entry = members.iter().find(|member| member.key.is(name)).map(|member| &member.value);
    let text_at = |key: &str| entry?.get(key)?.as_text().map(|text| text.display().into_owned());
    let Some(command) = text_at("command") else {
        let is_remote = ["url", "serverUrl", "httpUrl"].into_iter().any(|key| text_at(key).is_some());
        return Err(if is_remote { REMOTE } else { NO_PROGRAM }.into());
    };
    let arguments = entry.and_then(|entry| entry.get("args"));
    let strings = arguments.and_then(Node::as_array);
    if arguments.is_some_and(|list| !list.is_null() && list.as_array().is_none()) {
        return Err(NO_LIST.into());
    }
    let strings = strings.unwrap_or_default().iter();
    if !strings.clone().all(|item| item.as_text().is_some()) {
        return Err(NO_LIST.into());
    }
    let strings = strings.filter_map(Node::as_text).map(|text| text.display().into_owned()).collect();
    let environment = entry.and_then(|entry| entry.get("env")).and_then(Node::as_object);
    let environment = environment.map(Object::members).unwrap_or_default().iter();
    let mut above: Vec<String> = list.iter().map(ToString::to_string).collect();
    above.push(name.to_string());
    let at = |key: &str| value_span(&plain, above.iter().map(String::as_str).chain([key]));
    Ok(Entry {
        command,
        arguments: strings,
        environment: environment.map(|member| member.key.display().into_owned()).collect(),
        has_variables_file: text_at("envFile").is_some(),
        command_at: at("command").ok_or(NO_PROGRAM)?,
        arguments_at: arguments.and_then(|_| at("args")),
        before: ", \"args\": ",
        path: above,
    })
}

fn find_in_toml(text: &str, list: &[&str], name: Option<&str>) -> Result<Entry, String> {
    let table = toml_file(text)?;
    let servers = toml_servers(table.get_ref(), list);
    let found = names_in_toml(servers);
    let name = choose_name(&found, list, name)?;
    let Some((entry, span)) = servers.and_then(|servers| table_at(servers, name)) else {
        return Err(NO_PROGRAM.into());
    };
    let Some((DeValue::String(command), command_at)) = value_at(entry, "command") else {
        return Err(NO_PROGRAM.into());
    };
    let (arguments, arguments_at) = match value_at(entry, "args") {
        None => (Vec::new(), None),
        Some((list, at)) => (strings_of(list).ok_or(NO_LIST)?, Some(at)),
    };
    let environment = table_at(entry, "env").map(|(table, _)| table).into_iter().flat_map(|table| table.keys());
    // Codex passes these variables on from its own environment.
    let passed = value_at(entry, "env_vars").and_then(|(list, _)| strings_of(list)).unwrap_or_default();
    let is_inline = text.get(span.start..).is_some_and(|rest| rest.starts_with('{'));
    Ok(Entry {
        command: command.to_string(),
        arguments,
        environment: environment.map(|key| key.get_ref().to_string()).chain(passed).collect(),
        has_variables_file: false,
        command_at,
        arguments_at,
        before: if is_inline { ", args = " } else { "\nargs = " },
        path: list.iter().map(ToString::to_string).chain([name.to_string()]).collect(),
    })
}

fn strings_of(list: &DeValue<'_>) -> Option<Vec<String>> {
    let DeValue::Array(list) = list else { return None };
    let string = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    };
    list.iter().map(string).collect()
}

fn value_at<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<(&'t DeValue<'i>, Range<usize>)> {
    let (_, value): (_, &Spanned<DeValue<'i>>) = table.iter().find(|(found, _)| found.get_ref().as_ref() == key)?;
    Some((value.get_ref(), value.span()))
}

fn table_at<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<(&'t DeTable<'i>, Range<usize>)> {
    match value_at(table, key)? {
        (DeValue::Table(table), span) => Some((table, span)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, list: &[&str], is_toml: bool) -> String {
        let arguments = ["-y".to_string(), "a \"b\"".to_string()];
        match Entry::find(text, list, None, is_toml) {
            Ok(entry) => entry.with_program(text, "npx", &arguments),
            Err(error) => error,
        }
    }

    #[test]
    fn other_text_does_not_change() {
        let list = "[\"-y\", \"a \\\"b\\\"\"]";
        for (is_toml, before, after) in [
            (
                false,
                "{\n\t// mine\n \"m\": {\"a\": {\n \"command\" : \"x\" , /* c */ \"args\":[ ]},},\n}\n",
                "{\n\t// mine\n \"m\": {\"a\": {\n \"command\" : \"npx\" , /* c */ \"args\":LIST},},\n}\n",
            ),
            (false, "{\"m\":{\"a\":{\"command\":\"x\"}}}", "{\"m\":{\"a\":{\"command\":\"npx\", \"args\": LIST}}}"),
            (
                true,
                "# mine\n[m.a]\ncommand = 'x' # c\nargs = [\n  \"b\",\n]\n[m.a.env]\nK = \"v\"\n",
                "# mine\n[m.a]\ncommand = \"npx\" # c\nargs = LIST\n[m.a.env]\nK = \"v\"\n",
            ),
            (true, "m = { a = { command = \"x\" } }", "m = { a = { command = \"npx\", args = LIST } }"),
        ] {
            assert_eq!(edited(before, &["m"], is_toml), after.replace("LIST", list));
        }
    }

    #[test]
    fn environment_variables_are_listed() {
        let json = "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"env\": {\"K\": \"v\"}}}}";
        let entry = Entry::find(json, &["mcpServers"], Some("a"), false);
        assert_eq!(entry.map(|entry| entry.environment), Ok(Vec::from(["K".to_string()])));
    }

    #[test]
    fn errors_name_the_servers() {
        let json = "{\"mcpServers\": {\"a\": {\"command\": \"x\"}, \"b\": {\"url\": \"u\"}}}";
        for (name, found) in [
            (None, "expected `--server NAME` for one of `a`, `b`, found none"),
            (Some("c"), "expected the server `c` in `mcpServers`, found `a`, `b`"),
            (Some("b"), "expected a server with `command`, found a remote one"),
        ] {
            let found_entry = Entry::find(json, &["mcpServers"], name, false).map(|_| ());
            assert!(found_entry.as_ref().is_err_and(|error| error.starts_with(found)), "{found_entry:?}");
        }
    }
}
