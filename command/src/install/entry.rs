//! The entry of a server in a client's file: what stands there, and the edits that put the proxy before the server or
//! take it away. Everything else in the file stays as it is.

use std::ops::Range;

use toml::{
    de::{DeTable, DeValue},
    Spanned,
};
use toolwire::json::{self, Node, Object};

use crate::{
    position::value_span,
    servers::without_comments,
    terminal::{cut, shown},
};

/// The program of a server, and where it stands in the file.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) command: String,
    pub(super) arguments: Vec<String>,
    /// The variables that the file sets.
    pub(super) environment: Vec<String>,
    command_at: Range<usize>,
    arguments_at: Option<Range<usize>>,
    /// What stands before arguments that are added behind the command.
    before: &'static str,
}

impl Entry {
    /// Finds the server in a file: the only one if no name is given.
    ///
    /// # Errors
    /// What was expected, and what was found.
    pub(super) fn find(text: &str, list: &[&str], name: Option<&str>, is_toml: bool) -> Result<Entry, String> {
        if is_toml {
            in_toml(text, list, name)
        } else {
            in_json(text, list, name)
        }
    }

    /// The file with another program.
    pub(super) fn with(&self, text: &str, command: &str, arguments: &[String]) -> String {
        let list: Vec<String> = arguments.iter().map(|argument| quoted(argument)).collect();
        let list = format!("[{}]", list.join(", "));
        let mut edits = Vec::from([(self.command_at.clone(), quoted(command))]);
        match &self.arguments_at {
            Some(at) => edits.push((at.clone(), list)),
            None => edits.push((self.command_at.end..self.command_at.end, format!("{}{list}", self.before))),
        }
        // Stable: what is added behind the command stays behind it.
        edits.sort_by_key(|(at, _)| at.start);
        let (mut out, mut done) = (String::with_capacity(text.len()), 0);
        for (at, new) in edits {
            out.push_str(text.get(done..at.start).unwrap_or_default());
            out.push_str(&new);
            done = at.end;
        }
        out.push_str(text.get(done..).unwrap_or_default());
        out
    }
}

/// A string as both JSON and TOML write it.
pub(super) fn quoted(text: &str) -> String {
    json::write(&Node::string(text.to_string())).replace('\u{7f}', "\\u007f")
}

fn none(list: &[&str], found: &[String], name: Option<&str>) -> String {
    let list = list.join("/");
    let names: Vec<String> = found.iter().map(|name| format!("`{}`", cut(&shown(name), 60))).collect();
    match (name, found) {
        (_, []) => format!("expected a server in `{list}`, found none"),
        (Some(name), _) => format!("expected the server `{}` in `{list}`, found {}", shown(name), names.join(", ")),
        (None, _) => format!("expected `--server NAME` for one of {}, found none", names.join(", ")),
    }
}

/// The only name, or the one that is asked for.
fn chosen<'n>(found: &'n [String], list: &[&str], name: Option<&str>) -> Result<&'n str, String> {
    let one = match (name, found) {
        (None, [only]) => Some(only),
        (None, _) => None,
        (Some(name), _) => found.iter().find(|one| *one == name),
    };
    one.map(String::as_str).ok_or_else(|| none(list, found, name))
}

const NO_PROGRAM: &str =
    "expected a server with `command`, found one at an address, which the client asks itself: put \
    `\"command\": \"npx\", \"args\": [\"-y\", \"toolwire\", \"proxy\", \"--url\", \"…\"]` in its place";

fn in_json(text: &str, list: &[&str], name: Option<&str>) -> Result<Entry, String> {
    let plain = without_comments(text).ok_or("expected JSON, found something else")?;
    let file = json::read(&plain).map_err(|error| error.message().to_string())?;
    let servers = list.iter().try_fold(&file, |node, key| node.get(*key)).and_then(Node::as_object);
    let members = servers.map(Object::members).unwrap_or_default();
    let found: Vec<String> = members.iter().map(|member| member.key.display().into_owned()).collect();
    let name = chosen(&found, list, name)?;
    let entry = members.iter().find(|member| member.key.is(name)).map(|member| &member.value);
    let text_at = |key: &str| entry?.get(key)?.as_text().map(|text| text.display().into_owned());
    let Some(command) = text_at("command") else { return Err(NO_PROGRAM.into()) };
    let arguments = entry.and_then(|entry| entry.get("args"));
    let strings = arguments.and_then(Node::as_array).unwrap_or_default().iter();
    let arguments_are_texts = strings.clone().all(|one| one.as_text().is_some());
    if !arguments_are_texts {
        return Err("expected `args` to be a list of strings, found another".into());
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
        command_at: at("command").ok_or(NO_PROGRAM)?,
        arguments_at: arguments.and_then(|_| at("args")),
        before: ", \"args\": ",
    })
}

fn in_toml(text: &str, list: &[&str], name: Option<&str>) -> Result<Entry, String> {
    let table = DeTable::parse(text).map_err(|error| format!("expected TOML: {}", error.message()))?;
    let mut servers = Some(table.get_ref());
    for key in list {
        servers = servers.and_then(|table| table_at(table, key)).map(|(table, _)| table);
    }
    let found: Vec<String> =
        servers.into_iter().flat_map(|table| table.keys()).map(|key| key.get_ref().to_string()).collect();
    let name = chosen(&found, list, name)?;
    let Some((entry, span)) = servers.and_then(|servers| table_at(servers, name)) else {
        return Err(NO_PROGRAM.into());
    };
    let Some((DeValue::String(command), command_at)) = value_at(entry, "command") else {
        return Err(NO_PROGRAM.into());
    };
    let (mut arguments, mut arguments_at) = (Vec::new(), None);
    if let Some((DeValue::Array(list), at)) = value_at(entry, "args") {
        arguments_at = Some(at);
        for one in list.iter() {
            match one.get_ref() {
                DeValue::String(text) => arguments.push(text.to_string()),
                _ => return Err("expected `args` to be a list of strings, found another".into()),
            }
        }
    }
    let environment = table_at(entry, "env").map(|(table, _)| table).into_iter().flat_map(|table| table.keys());
    let is_inline = text.get(span.start..).is_some_and(|rest| rest.starts_with('{'));
    Ok(Entry {
        command: command.to_string(),
        arguments,
        environment: environment.map(|key| key.get_ref().to_string()).collect(),
        command_at,
        arguments_at,
        before: if is_inline { ", args = " } else { "\nargs = " },
    })
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
            Ok(entry) => entry.with(text, "npx", &arguments),
            Err(error) => error,
        }
    }

    #[test]
    fn everything_else_stays() {
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
    fn variables_are_named() {
        let json = "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"env\": {\"K\": \"v\"}}}}";
        let entry = Entry::find(json, &["mcpServers"], Some("a"), false);
        assert_eq!(entry.map(|entry| entry.environment), Ok(Vec::from(["K".to_string()])));
    }

    #[test]
    fn what_cannot_be_chosen_is_named() {
        let json = "{\"mcpServers\": {\"a\": {\"command\": \"x\"}, \"b\": {\"url\": \"u\"}}}";
        for (name, found) in [
            (None, "expected `--server NAME` for one of `a`, `b`, found none"),
            (Some("c"), "expected the server `c` in `mcpServers`, found `a`, `b`"),
            (Some("b"), "expected a server with `command`, found one at an address"),
        ] {
            let said = Entry::find(json, &["mcpServers"], name, false).map(|_| ());
            assert!(said.as_ref().is_err_and(|error| error.starts_with(found)), "{said:?}");
        }
    }
}
