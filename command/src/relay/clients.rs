//! `toolwire run`: the addresses of known APIs, and what the host passes to a client.

use toolwire::{
    internal::json::{self, Member, Node, Object, Text},
    options::Api,
};

use super::{settings, upstream};
use crate::{
    agents::{Client, ALIASES, CLIENTS, PROTOCOLS},
    arguments::{RunArguments, DIALECT},
    document::record,
    error::CommandError,
    gather::Gathering,
    hosted::Hosted,
    http::Listen,
    need::Need,
    probe::endpoints::{Endpoint, ENDPOINTS},
};

/// Default address: any free port.
const LISTEN: &str = "127.0.0.1:0";
/// The variable that contains the URL of the relay, for every client.
const URL: &str = "TOOLWIRE_URL";

/// The variable, and its value, for a client of an API without a key.
const NO_KEY: (&str, &str) = ("TOOLWIRE_NO_KEY", "none");

fn client_of_command(command: &[String]) -> Option<&'static Client> {
    let program = command.first()?.rsplit(['/', '\\']).next()?.to_ascii_lowercase();
    let ends = [".exe", ".cmd", ".bat", ".ps1"];
    let stem = ends.iter().find_map(|end| program.strip_suffix(end)).unwrap_or(&program);
    CLIENTS.iter().find(|client| client.program == stem)
}

/// Returns the base URL that a client would use without a relay.
fn base_url(endpoint: &Endpoint, api: Option<Api>, name: &str) -> Result<String, String> {
    let chat = endpoint.base.unwrap_or(endpoint.example);
    let Some(api) = api else { return Ok(chat.into()) };
    let apis = match endpoint.wire.format {
        "openai-responses" => &[Api::OpenaiResponses, Api::OpenaiChat][..],
        "openai-chat" => &[Api::OpenaiChat],
        "anthropic-messages" => &[Api::Anthropic],
        _ => &[],
    };
    if apis.contains(&api) {
        return Ok(chat.into());
    }
    let dialect = without_strict(endpoint.dialect);
    if let Some(row) = PROTOCOLS.iter().find(|row| row.dialect == dialect && row.api == api) {
        return Ok(row.base.unwrap_or(chat).into());
    }
    let mut below =
        endpoint.hosts.iter().filter_map(|host| upstream::protocol_prefix(host, api).map(|path| (host, path)));
    let found = below.next().map(|(host, path)| format!("https://{host}{path}"));
    found.ok_or_else(|| {
        let protocol = upstream::protocol_name(api);
        format!("expected an API that is known to have {protocol}, found `{name}`")
    })
}

fn without_strict(dialect: &str) -> &str {
    dialect.strip_suffix("-strict").unwrap_or(dialect)
}

struct Started {
    command: Vec<String>,
    /// Path of the client's upstream at the relay.
    path: String,
    model: Option<String>,
    /// Variables that may contain the key of the API. The list is empty if the client has the key itself, or if no key
    /// is needed.
    keys: Vec<String>,
    /// True if the key is sent in `x-api-key`.
    is_api_key: bool,
    /// Variable with the token of the relay.
    token: Option<String>,
    /// True if the client has the key of the API itself.
    is_own: bool,
    /// True if the API is the client's default API.
    is_home: bool,
    /// True if a model of the client is replaced by a model of the API.
    renames_models: bool,
    /// Variables of the user for the base URL.
    variables: Vec<String>,
    client: Option<&'static Client>,
    /// True if the command starts another program, which starts the client. Options of the client would be options of
    /// that program.
    is_wrapped: bool,
}

impl Started {
    /// Returns true if the API has no key. The client must not send the key of another API.
    fn has_no_key(&self) -> bool {
        self.client.is_some() && self.keys.is_empty() && !self.is_own
    }

    /// Replaces the placeholders in a text. Returns `None` if the value of a placeholder is unknown.
    fn fill(&self, text: &str) -> Option<String> {
        let mut text = text.to_string();
        while let Some((start, rest)) = text.split_once("[[") {
            let (fragment, end) = rest.split_once("]]")?;
            text = format!("{start}{}{end}", self.fill(fragment).unwrap_or_default());
        }
        // In JSON and TOML, the model is a part of a string.
        let model = self.model.as_deref();
        let model = model.map(|model| if text.contains('"') { escape(model) } else { model.into() });
        let (key, secret, api_key) = match (self.has_no_key(), self.keys.is_empty()) {
            // Otherwise, the client would send the key or the login that it has for another API.
            (true, _) => (Some(NO_KEY.0), Some(NO_KEY.1), None),
            (false, true) => (None, None, None),
            _ if self.is_api_key => (Some("{key}"), None, Some("{secret}")),
            _ => (Some("{key}"), Some("{secret}"), None),
        };
        let token = self.token.as_deref();
        for (part, value) in [
            ("{secret}", secret),
            ("{api-key}", api_key),
            ("{key}", key),
            ("{model}", model.as_deref()),
            ("{token}", token),
            ("{token-value}", token.map(|_| "{token-value}")),
        ] {
            if text.contains(part) {
                text = text.replace(part, value?);
            }
        }
        Some(text.replace("{url}", &format!("{{url}}{}", self.path)))
    }

    /// Returns the client for the host, as JSON: `{ path, command, arguments, variables, extended, defaults, removed,
    /// keys, token, note }`.
    ///
    /// The host replaces placeholders, except in `command`, which contains the user's arguments. `{url}` is the URL of
    /// the relay, `{key}` the first of `keys` that is set, `{secret}` its value, and `{token-value}` the token.
    ///
    /// Returns an error if the client receives the URL only together with a model.
    fn document(&self) -> Result<Node<'_>, String> {
        let pair = |name: &str, text: String| Member { key: Text::new(name.to_string()), value: Node::string(text) };
        let pairs = |list: &[(&str, &str)]| -> Vec<Member<'static>> {
            list.iter().filter_map(|(name, text)| Some(pair(name, self.fill(text)?))).collect()
        };
        let strings = |list: Vec<String>| Node::array(list.into_iter().map(Node::string).collect());
        let mut variables = Vec::from([pair(URL, "{url}".into())]);
        if self.has_no_key() {
            variables.push(pair(NO_KEY.0, NO_KEY.1.into()));
        }
        let client_variables = self.client.map(|client| pairs(client.variables)).unwrap_or_default();
        let foreign = self.client.filter(|_| !self.is_home).map(|client| pairs(client.foreign)).unwrap_or_default();
        variables.extend(client_variables.into_iter().chain(foreign));
        variables.extend(self.variables.iter().map(|name| pair(name, format!("{{url}}{}", self.path))));
        let defaults = self.client.map(|client| pairs(client.defaults)).unwrap_or_default();
        let removed = self.client.filter(|_| !self.is_own).map_or(&[][..], |client| client.removed);
        let removed = removed.iter().chain(self.client.map_or(&[][..], |client| client.bypasses));
        let removed: Vec<String> = removed.map(ToString::to_string).collect();
        let extended = self.client.map_or(&[][..], |client| client.extended).iter().map(ToString::to_string);
        let extended = extended.filter(|name| !removed.contains(name)).collect();
        // An option and its value are two arguments.
        let of_itself = self.client.filter(|_| !self.is_wrapped);
        let arguments = of_itself.map_or(&[][..], |client| client.arguments).chunks(2);
        let arguments =
            arguments.filter_map(|option| option.iter().map(|text| self.fill(text)).collect::<Option<Vec<_>>>());
        let mut arguments: Vec<String> = arguments.flatten().collect();
        arguments.extend(self.settings_arguments(&variables, &removed));
        let has_url = |text: &str| text.contains("{url}");
        let receives_url = variables.iter().any(|variable| {
            variable.key.display() != URL && variable.value.as_text().is_some_and(|text| has_url(&text.display()))
        });
        if let Some(client) = self.client.filter(|client| self.is_wrapped && !client.arguments.is_empty()) {
            return Err(format!(
                "expected `{}` itself as the command, because it receives the URL as an option, found `{}`",
                client.program,
                self.command.first().map(String::as_str).unwrap_or_default()
            ));
        }
        if let Some(client) = self.client.filter(|_| !receives_url && !arguments.iter().any(|text| has_url(text))) {
            return Err(format!(
                "expected `--model`, without which `{}` does not use the relay, found none",
                client.program
            ));
        }
        let optional = |text: Option<String>| text.map_or_else(Node::default, Node::string);
        Ok(record([
            ("path", Node::string(self.path.as_str())),
            ("command", strings(self.command.clone())),
            ("arguments", strings(arguments)),
            ("variables", Node::object(Object::from_members(variables))),
            ("defaults", Node::object(Object::from_members(defaults))),
            ("extended", strings(extended)),
            ("removed", strings(removed)),
            ("keys", strings(self.keys.clone())),
            ("token", optional(self.token.clone())),
            ("note", optional(self.model_note())),
        ]))
    }

    /// Returns the option with the settings, which contain the variables without secrets, unless the user has set it.
    /// Removed variables are empty in it, because the user's settings may set them.
    fn settings_arguments(&self, variables: &[Member<'_>], removed: &[String]) -> Vec<String> {
        let option = self.client.filter(|_| !self.is_wrapped).and_then(|client| client.settings);
        let is_given = |option: &&str| {
            let mut words = self.command.iter();
            words.any(|word| word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')))
        };
        let Some(option) = option.filter(|option| !is_given(option)) else { return Vec::new() };
        let is_secret = |text: &Node<'_>| {
            let text = text.as_text().map(|text| text.display().into_owned()).unwrap_or_default();
            text.contains("{secret}") || text.contains("{token-value}")
        };
        let relay_names = [URL, NO_KEY.0];
        let public = variables
            .iter()
            .filter(|variable| !relay_names.contains(&&*variable.key.display()) && !is_secret(&variable.value));
        let public = public.map(|variable| Member { key: variable.key.clone(), value: variable.value.clone() });
        let is_set = |name: &str| variables.iter().any(|variable| variable.key.display() == name);
        let emptied = removed
            .iter()
            .filter(|name| !is_set(name))
            .map(|name| Member { key: Text::new(name.clone()), value: Node::string("") });
        let public = public.chain(emptied).collect();
        let settings = record([("env", Node::object(Object::from_members(public)))]);
        Vec::from([option.into(), json::write(&settings)])
    }

    fn model_note(&self) -> Option<String> {
        let client = self.client.filter(|_| self.model.is_none() && !self.renames_models && !self.is_home)?;
        let program = client.program;
        Some(format!("without `--model`, `{program}` asks this API for the models of another one"))
    }
}

/// Escapes a text for a string in JSON, or a basic string in TOML.
fn escape(text: &str) -> String {
    let written = json::write(&Node::string(text));
    written.trim_start_matches('"').strip_suffix('"').unwrap_or_default().into()
}

pub(crate) fn run(arguments: RunArguments, gathered: Gathering) -> Result<Hosted, CommandError> {
    let failed = |message: String| CommandError::new("", message).in_source("run");
    let client = match arguments.client.as_deref() {
        Some(name) => CLIENTS.iter().find(|client| client.name == name),
        None => client_of_command(&arguments.command),
    };
    if client.is_none() && arguments.variables.is_empty() {
        let known: Vec<String> = CLIENTS.iter().map(|client| format!("`{}`", client.program)).collect();
        let known = known.join(", ");
        let message = format!("expected a known client ({known}), or `--variable NAME`, found neither");
        return Err(failed(message));
    }
    // The host fills in the other parts of the texts that contain the model.
    if let Some(model) = arguments.model.as_deref().filter(|model| model.contains(['{', '}'])) {
        return Err(failed(format!("--model: expected the name of a model, found `{model}`")));
    }
    let tokens = arguments.relay.token_env.iter().map(|name| ("--token-env", name));
    let names = arguments.variables.iter().map(|name| ("--variable", name)).chain(tokens);
    let mut names = names.chain(arguments.key_env.iter().map(|name| ("--key-env", name)));
    if let Some((option, name)) = names.find(|(_, name)| !is_variable(name)) {
        return Err(failed(format!("{option}: expected the name of a variable, found `{name}`")));
    }
    let mut relay = arguments.relay;
    let (mut path, mut keys, mut is_own) = (String::new(), Vec::new(), false);
    match (&arguments.on, &relay.config) {
        (Some(name), Some(_)) => path = format!("/{name}"),
        (Some(name), None) => {
            let dialect =
                ALIASES.iter().find(|(alias, _)| alias == name).map_or(name.as_str(), |(_, dialect)| *dialect);
            let endpoint =
                Endpoint::of(dialect).filter(|endpoint| !endpoint.base.unwrap_or(endpoint.example).contains("NAME"));
            let endpoint = endpoint.ok_or_else(|| failed(unknown_dialect(name)))?;
            relay.upstream = Some(base_url(endpoint, client.map(|client| client.api), name).map_err(failed)?);
            is_own = client.is_some_and(|client| client.own == Some(without_strict(endpoint.dialect)));
            // Another program has its key itself.
            keys.extend(client.iter().flat_map(|_| endpoint.key.variables).map(ToString::to_string));
            // A server of the user has no host by which it could be recognized, and a strict form has none of its own.
            if endpoint.hosts.is_empty() || endpoint.dialect != without_strict(endpoint.dialect) {
                let dialect = relay.options.get_mut(DIALECT).filter(|word| word.is_none());
                dialect.into_iter().for_each(|word| *word = Some(endpoint.dialect.into()));
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
    let mut settings = settings::from_arguments("run", &relay, gathered, Some(listen))?;
    if !path.is_empty() && !settings.upstreams.iter().any(|upstream| upstream.path == path) {
        let paths: Vec<String> = settings.upstreams.iter().map(|upstream| format!("`{}`", upstream.path)).collect();
        return Err(failed(format!("--on: expected the path of an upstream ({}), found `{path}`", paths.join(", "))));
    }
    if let Some(name) = settings.token.as_deref().filter(|name| !is_variable(name)) {
        return Err(failed(format!("token-env: expected the name of a variable, found `{name}`")));
    }
    let upstream = settings.upstreams.iter().find(|upstream| upstream.path == path);
    let host = upstream.map(|upstream| upstream.address.host.as_str());
    let home = client.and_then(|client| Endpoint::of(client.home?));
    let home = home.filter(|endpoint| host.is_some_and(|host| endpoint.hosts.contains(&host)));
    let renames_models = settings.upstreams.iter().any(|upstream| upstream.path == path && !upstream.names.is_empty());
    let is_wrapped =
        client_of_command(&arguments.command).map(|client| client.name) != client.map(|client| client.name);
    let started = Started {
        command: arguments.command,
        path,
        model: arguments.model,
        keys,
        is_api_key: home.is_some_and(|endpoint| endpoint.key.header == "x-api-key"),
        token: settings.token.clone(),
        is_own,
        is_home: home.is_some(),
        renames_models,
        variables: arguments.variables,
        client,
        is_wrapped,
    };
    settings.client = Some(json::write(&started.document().map_err(failed)?));
    Ok(Hosted::new("run", Need::Relay(settings.document(relay.report.as_deref()))))
}

/// The host would fill in `{` and `}`.
fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0', '{', '}'])
}

fn unknown_dialect(name: &str) -> String {
    let aliases = ALIASES.iter().map(|(alias, _)| *alias);
    let known = ENDPOINTS.iter().map(|endpoint| endpoint.dialect).filter(|dialect| !dialect.ends_with("-strict"));
    let known: Vec<&str> = aliases.chain(known).collect();
    format!("--on: expected one of {}, found `{name}`", known.join(", "))
}
