//! Files in which clients store their MCP servers: `mcp.json`, `.mcp.json`, `claude_desktop_config.json`, and the files
//! of VS Code, with `servers` instead of `mcpServers`.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use toolwire::internal::{
    self,
    json::{self, Node, Object},
};

use super::{
    error::CommandError,
    need::{Server, Transport},
    position::{positions_in, Position},
    terminal::shown,
};

const LISTS: [&str; 2] = ["mcpServers", "servers"];
/// Key of the list's parent in the settings of VS Code.
const SECTION: &str = "mcp";

#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) name: String,
    /// Position in the file.
    pub(crate) position: Position,
    /// The server, with unexpanded variables, or the error in its declaration.
    pub(crate) server: Result<Server, String>,
}

#[derive(Debug)]
pub(crate) struct Declaration {
    pub(crate) servers: Vec<Declared>,
    pub(crate) disabled: usize,
}

pub(crate) fn declared(text: &str, timeout: u32) -> Option<Declaration> {
    let plain = without_comments(text)?;
    let file = json::read(&plain).ok()?;
    let (above, members) = list(&file)?;
    let (mut found, mut pointers, mut disabled) = (Vec::new(), Vec::new(), 0);
    for member in members.iter() {
        if member.value.bool_at("disabled") == Some(true) {
            disabled += 1;
            continue;
        }
        let name = member.key.display().into_owned();
        let mut pointer = above.to_string();
        internal::push_token(&mut pointer, &name);
        pointers.push(pointer);
        let server = transport(&member.value).map(|transport| Server { transport, timeout, secrets: Vec::new() });
        found.push(Declared { name, position: Position::default(), server });
    }
    for (declared, position) in found.iter_mut().zip(positions_in(text, &plain, pointers.iter().map(String::as_str))) {
        declared.position = position;
    }
    Some(Declaration { servers: found, disabled })
}

pub(crate) const DECLARED: &str = "expected tools or schemas, found a file that declares servers; use `--servers FILE`";

/// Returns the pointer and the line of a file's list of servers; `None` for any other kind of file.
pub(crate) fn list_of(text: &str) -> Option<(String, usize)> {
    let plain = without_comments(text)?;
    let (pointer, _) = list(&json::read(&plain).ok()?)?;
    let position = positions_in(text, &plain, [pointer.as_str()].into_iter()).pop()?;
    Some((pointer, position.line))
}

/// Replaces comments and trailing commas, which VS Code accepts, with spaces. Returns `None` if the result is not JSON.
pub(crate) fn without_comments(text: &str) -> Option<Cow<'_, str>> {
    if json::read(text).is_ok() {
        return Some(Cow::Borrowed(text));
    }
    let mut plain = text.to_string();
    json_strip_comments::strip(&mut plain).ok()?;
    Some(Cow::Owned(plain))
}

fn list<'n>(file: &'n Node<'_>) -> Option<(String, &'n Object<'n>)> {
    if file.get("tools").is_some() {
        return None;
    }
    let (pointer, servers) = LISTS
        .iter()
        .find_map(|list| Some((format!("/{list}"), file.get(list)?)))
        .or_else(|| Some((format!("/{SECTION}/servers"), file.get(SECTION)?.get("servers")?)))?;
    let members =
        servers.as_object().filter(|servers| servers.iter().all(|member| member.value.as_object().is_some()))?;
    Some((pointer, members))
}

fn transport(entry: &Node<'_>) -> Result<Transport, String> {
    let word = |name: &str| entry.text_at(name).map(|text| text.display().into_owned());
    if let Some(program) = word("command") {
        let arguments = entry.items_at("args");
        let arguments = arguments.iter().filter_map(Node::as_text).map(|text| text.display().into_owned());
        return Ok(Transport::Process {
            command: [program].into_iter().chain(arguments).collect(),
            folder: word("cwd"),
            inherited: Vec::new(),
            environment: pairs(entry.get("env")),
        });
    }
    match ["url", "serverUrl", "httpUrl"].into_iter().find_map(word) {
        Some(url) => {
            let sse = word("type").or_else(|| word("transport")).as_deref() == Some("sse");
            Ok(Transport::Remote { url, headers: pairs(entry.get("headers")), sse })
        }
        None => Err("expected a server with `command` or `url`, found one with neither".into()),
    }
}

fn pairs(object: Option<&Node<'_>>) -> Vec<(String, String)> {
    let members = object.and_then(Node::as_object).into_iter().flat_map(|object| object.iter());
    let value = |node: &Node<'_>| match node.as_text() {
        Some(text) => text.display().into_owned(),
        None => json::write(node),
    };
    members.map(|member| (member.key.display().into_owned(), value(&member.value))).collect()
}

pub(crate) fn variables<'s>(servers: impl Iterator<Item = &'s Declared>) -> Vec<String> {
    let mut names = BTreeSet::new();
    for declared in servers {
        let Ok(server) = &declared.server else { continue };
        // Errors are reported when the value is expanded.
        let _ = expand_server(server, "", &mut |name, _| {
            names.insert(name.to_string());
            Ok(String::new())
        });
    }
    names.into_iter().collect()
}

/// Variables outside `allowed` can only have their default (`:-`).
pub(crate) fn with_values(
    server: &Server,
    allowed: &[String],
    values: &BTreeMap<String, String>,
    folder: &str,
) -> Result<Server, String> {
    let mut secrets = Vec::new();
    let mut server = expand_server(server, folder, &mut |name, otherwise| {
        let is_allowed = allowed.iter().any(|variable| variable == name);
        match (values.get(name).filter(|_| is_allowed), otherwise) {
            (Some(value), _) => {
                secrets.push(value.clone());
                Ok(value.clone())
            }
            (None, Some(otherwise)) => Ok(otherwise.to_string()),
            (None, None) if is_allowed => Err(format!("expected the variable `{name}` to be set, found it unset")),
            (None, None) => Err(format!("expected `--env {name}` for the variable `{name}`, found none")),
        }
    })?;
    if let Transport::Remote { url, .. } = &server.transport {
        check_url(url)?;
    }
    server.secrets = secrets;
    Ok(server)
}

type Value<'f> = &'f mut dyn FnMut(&str, Option<&str>) -> Result<String, String>;

fn expand_server(server: &Server, folder: &str, value: Value<'_>) -> Result<Server, String> {
    let mut each = |text: &String| expand(text, folder, value);
    let transport = match &server.transport {
        Transport::Process { command, folder, inherited, environment } => Transport::Process {
            command: command.iter().map(&mut each).collect::<Result<_, _>>()?,
            folder: folder.as_ref().map(&mut each).transpose()?,
            inherited: inherited.clone(),
            environment: values(environment, &mut each)?,
        },
        Transport::Remote { url, headers, sse } => {
            let url = each(url)?;
            // Trailing line breaks of variables are removed, because a header must not contain them.
            let headers = values(headers, &mut each)?.into_iter().map(|(name, value)| trimmed_header(name, &value));
            Transport::Remote { url, headers: headers.collect::<Result<_, _>>()?, sse: *sse }
        }
    };
    Ok(Server { transport, timeout: server.timeout, secrets: Vec::new() })
}

/// Removes the whitespace around the value. The error omits the value, because it may be secret.
fn trimmed_header(name: String, value: &str) -> Result<(String, String), String> {
    match value.trim() {
        value if value.contains(char::is_control) => {
            Err(format!("expected a header `{}` of one line, found control characters in it", shown(&name)))
        }
        value => Ok((name, value.into())),
    }
}

fn values(
    pairs: &[(String, String)],
    each: &mut impl FnMut(&String) -> Result<String, String>,
) -> Result<Vec<(String, String)>, String> {
    pairs.iter().map(|(name, value)| Ok((name.clone(), each(value)?))).collect()
}

/// Expands `${NAME}`, `${NAME:-otherwise}`, `${env:NAME}`, and VS Code's `${workspaceFolder}`.
fn expand(text: &str, folder: &str, value: Value<'_>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, behind)) = after.split_once('}') else { break };
        out.push_str(before);
        rest = behind;
        let (name, otherwise) = match inside.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (inside.strip_prefix("env:").unwrap_or(inside), None),
        };
        match name {
            "workspaceFolder" => out.push_str(folder),
            _ if is_name(name) => out.push_str(&value(name, otherwise)?),
            _ => {
                let found = shown(inside);
                return Err(format!("expected a variable of the environment, found `${{{found}}}`"));
            }
        }
    }
    out.push_str(rest);
    Ok(out)
}

pub(crate) fn is_name(name: &str) -> bool {
    !name.starts_with(|character: char| character.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

/// Returns an error for an invalid URL. Errors never quote the URL, because it may contain a secret.
pub(crate) fn check_url(url: &str) -> Result<(), &'static str> {
    let rest = ["https://", "http://"].into_iter().find_map(|scheme| url.strip_prefix(scheme));
    match rest {
        Some(rest) if !rest.is_empty() && !rest.contains(char::is_whitespace) => Ok(()),
        _ => Err("expected an address with `https://` or `http://`, found something else"),
    }
}

pub(crate) fn header(text: &str) -> Result<(String, String), CommandError> {
    let is_token = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
    match text.split_once(':') {
        Some((name, value)) if is_token(name) => {
            trimmed_header(name.into(), value).map_err(|message| CommandError::option("header", message))
        }
        // The value may be secret, so it is not shown.
        _ => Err(CommandError::option("header", "expected `Name: value`, found something else")),
    }
}
