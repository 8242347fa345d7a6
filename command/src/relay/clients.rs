//! `toolwire run`: the addresses of known APIs, and what the host passes to a client.

use toolwire::{
    json::{self, Member, Node, Object, Text},
    options::Api,
};

use super::{settings, upstream};
use crate::{
    agents::{Client, ALIASES, CLIENTS, RESPONSES},
    arguments::RunArguments,
    document::record,
    error::CommandError,
    gather::Gathering,
    hosted::Hosted,
    http::Listen,
    need::Need,
    probe::endpoints::{Endpoint, ENDPOINTS},
};

/// Address of the relay for one client: any free port.
const LISTEN: &str = "127.0.0.1:0";
/// The variable that contains the URL of the relay, for every client.
const URL: &str = "TOOLWIRE_URL";

/// The variable, and its value, for a client of an API without a key.
const NO_KEY: (&str, &str) = ("TOOLWIRE_NO_KEY", "none");

/// Finds the client of a command by the name of its program.
fn of_command(command: &[String]) -> Option<&'static Client> {
    let program = command.first()?.rsplit(['/', '\\']).next()?;
    let stem = [".exe", ".cmd"].iter().find_map(|end| program.strip_suffix(end)).unwrap_or(program);
    CLIENTS.iter().find(|client| client.program == stem)
}

/// Returns the base URL of an API in a protocol, as a client would use it without a relay.
fn base(endpoint: &Endpoint, api: Option<Api>, name: &str) -> Result<String, String> {
    let chat = endpoint.base.unwrap_or(endpoint.example);
    let lacks = |protocol: &str| format!("expected an API that is known to have {protocol}, found `{name}`");
    match api {
        None => Ok(chat.into()),
        Some(Api::OpenaiChat) if matches!(endpoint.wire.format, "openai-chat" | "openai-responses") => Ok(chat.into()),
        Some(Api::OpenaiChat) => Err(lacks("Chat Completions")),
        Some(Api::OpenaiResponses) => {
            let found = RESPONSES.iter().any(|row| row.dialect == endpoint.dialect);
            found.then(|| chat.into()).ok_or_else(|| lacks("OpenAI Responses"))
        }
        Some(api) if endpoint.wire.format == "anthropic-messages" && api == Api::Anthropic => Ok(chat.into()),
        Some(api) => {
            let mut bases =
                endpoint.hosts.iter().filter_map(|host| upstream::below(host, api).map(|path| (host, path)));
            bases.next().map(|(host, path)| format!("https://{host}{path}")).ok_or_else(|| lacks("Anthropic Messages"))
        }
    }
}

/// A client that the host starts with the relay.
struct Started {
    command: Vec<String>,
    /// Path of its upstream at the relay.
    path: String,
    model: Option<String>,
    /// Variables of which one contains the key of the API. If the list is empty, the client has its key itself, or
    /// there is none.
    keys: Vec<String>,
    /// True if the client has the key of the API itself.
    is_own: bool,
    /// Variables of the user for the base URL.
    variables: Vec<String>,
    client: Option<&'static Client>,
}

impl Started {
    /// Returns the client for the host, as JSON: `{ command, arguments, variables, defaults, removed, keys }`. Except
    /// in `command`, which contains the user's arguments, the host replaces `{url}` by the URL of the relay, `{key}` by
    /// the first of `keys` that is set, and `{secret}` by its value.
    ///
    /// # Errors
    /// A message, if the client receives the URL only together with a model.
    fn document(&self) -> Result<Node<'_>, String> {
        let has_no_key = self.client.is_some() && self.keys.is_empty() && !self.is_own;
        let known = |text: &str| {
            let mut text = text.replace("{url}", &format!("{{url}}{}", self.path));
            // Otherwise, the client would send the key or the login that it has for another API.
            if has_no_key {
                text = text.replace("{key}", NO_KEY.0).replace("{secret}", NO_KEY.1);
            }
            if !text.contains("{model}") {
                let needs_key = text.contains("{key}") || text.contains("{secret}");
                return (!needs_key || !self.keys.is_empty()).then_some(text);
            }
            // In JSON and TOML, the model is a part of a string.
            let model = self.model.as_deref()?;
            let model = if text.contains('"') { escaped(model) } else { model.into() };
            let text = text.replace("{model}", &model);
            (!text.contains("{key}") || !self.keys.is_empty()).then_some(text)
        };
        let pair = |name: &str, text: String| Member { key: Text::new(name.to_string()), value: Node::string(text) };
        let pairs = |list: &[(&str, &str)]| -> Vec<Member<'static>> {
            list.iter().filter_map(|(name, text)| Some(pair(name, known(text)?))).collect()
        };
        let strings = |list: Vec<String>| Node::array(list.into_iter().map(Node::string).collect());
        let mut variables = Vec::from([pair(URL, "{url}".into())]);
        if has_no_key {
            variables.push(pair(NO_KEY.0, NO_KEY.1.into()));
        }
        variables.extend(self.client.map(|client| pairs(client.variables)).unwrap_or_default());
        variables.extend(self.variables.iter().map(|name| pair(name, format!("{{url}}{}", self.path))));
        let defaults = self.client.map(|client| pairs(client.defaults)).unwrap_or_default();
        let removed = self.client.filter(|_| !self.is_own).map_or(&[][..], |client| client.removed);
        // An option and its value are two arguments.
        let arguments = self.client.map_or(&[][..], |client| client.arguments).chunks(2);
        let arguments =
            arguments.filter_map(|option| option.iter().map(|text| known(text)).collect::<Option<Vec<_>>>());
        let arguments: Vec<String> = arguments.flatten().collect();
        let has_url = |text: &str| text.contains("{url}");
        let is_told = variables
            .iter()
            .any(|one| one.key.display() != URL && one.value.as_text().is_some_and(|text| has_url(&text.display())));
        if let Some(client) = self.client.filter(|_| !is_told && !arguments.iter().any(|text| has_url(text))) {
            return Err(format!(
                "expected `--model`, without which `{}` does not use the relay, found none",
                client.program
            ));
        }
        Ok(record([
            ("command", strings(self.command.clone())),
            ("arguments", strings(arguments)),
            ("variables", Node::object(Object::from_members(variables))),
            ("defaults", Node::object(Object::from_members(defaults))),
            ("removed", strings(removed.iter().map(ToString::to_string).collect())),
            ("keys", strings(self.keys.clone())),
        ]))
    }
}

/// Escapes a text for a string in JSON, or a basic string in TOML.
fn escaped(text: &str) -> String {
    let written = json::write(&Node::string(text));
    written.trim_start_matches('"').strip_suffix('"').unwrap_or_default().into()
}

/// Prepares the command for the host.
pub(crate) fn run(arguments: RunArguments, gathered: Gathering) -> Result<Hosted, CommandError> {
    let failed = |message: String| CommandError::new("", message).in_source("run");
    let client = match arguments.client.as_deref() {
        Some(name) => CLIENTS.iter().find(|client| client.name == name),
        None => of_command(&arguments.command),
    };
    if client.is_none() && arguments.variables.is_empty() {
        let known: Vec<String> = CLIENTS.iter().map(|client| format!("`{}`", client.program)).collect();
        let known = known.join(", ");
        let message = format!("expected a known client ({known}), or `--variable NAME`, found neither");
        return Err(failed(message));
    }
    let mut relay = arguments.relay;
    let (mut path, mut keys, mut is_own) = (String::new(), Vec::new(), false);
    match (&arguments.on, &relay.config) {
        (Some(name), Some(_)) => path = format!("/{name}"),
        (Some(name), None) => {
            let dialect =
                ALIASES.iter().find(|(alias, _)| alias == name).map_or(name.as_str(), |(_, dialect)| *dialect);
            let endpoint = Endpoint::of(dialect).filter(|one| !one.base.unwrap_or(one.example).contains("NAME"));
            let endpoint = endpoint.ok_or_else(|| failed(unknown(name)))?;
            relay.upstream = Some(base(endpoint, client.map(|client| client.api), name).map_err(failed)?);
            is_own = client.is_some_and(|client| client.own == Some(endpoint.dialect));
            keys.extend(endpoint.key.variables.iter().map(ToString::to_string));
            // A server of the user has no host by which it could be recognized.
            if endpoint.hosts.is_empty() {
                relay.dialect = relay.dialect.or_else(|| Some(endpoint.dialect.into()));
            }
        }
        (None, _) => {}
    }
    if let Some(name) = arguments.key_env {
        (keys, is_own) = (Vec::from([name]), false);
    }
    if is_own {
        keys.clear();
    }
    let listen = Listen::read(LISTEN).map_err(failed)?;
    let mut settings = settings::of("run", &relay, gathered, Some(listen))?;
    if !path.is_empty() && !settings.upstreams.iter().any(|upstream| upstream.path == path) {
        let paths: Vec<String> = settings.upstreams.iter().map(|one| format!("`{}`", one.path)).collect();
        return Err(failed(format!("--on: expected the path of an upstream ({}), found `{path}`", paths.join(", "))));
    }
    let started = Started {
        command: arguments.command,
        path,
        model: arguments.model,
        keys,
        is_own,
        variables: arguments.variables,
        client,
    };
    settings.client = Some(json::write(&started.document().map_err(failed)?));
    Ok(Hosted::new("run", Need::Relay(settings.document(relay.report.as_deref()))))
}

fn unknown(name: &str) -> String {
    let aliases = ALIASES.iter().map(|(alias, _)| *alias);
    let known = ENDPOINTS.iter().map(|endpoint| endpoint.dialect).filter(|dialect| !dialect.ends_with("-strict"));
    let known: Vec<&str> = aliases.chain(known).collect();
    format!("--on: expected one of {}, found `{name}`", known.join(", "))
}
