//! The settings of a relay, as JSON. The command `toolwire relay` makes them from its options and from `relay.toml`
//! (several upstreams, by path or by model). The host passes them on to a [`Relay`](super::Relay).

use std::collections::BTreeMap;

use toml::{
    de::{DeTable, DeValue},
    Spanned,
};
use toolwire::internal::json::{self, Member, Node, Object, Text};

use super::upstream::Upstream;
use crate::{
    arguments::{RelayArguments, RequestOption, RequestOptions, DIALECT, REQUEST_OPTIONS},
    document::record,
    error::CommandError,
    gather::Gathering,
    hosted::Hosted,
    http::{is_loopback, require_token, Address, Listen},
    need::Need,
    toml_file::TomlFile,
};

/// Default address.
pub(crate) const LISTEN: &str = "127.0.0.1:8787";
/// Default of the maximum number of open requests.
const MAX_CLIENTS: usize = 1_000;
/// Default timeout for a silent upstream, in seconds. Reasoning models think for minutes.
pub(crate) const TIMEOUT: u32 = 600;

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) listen: Listen,
    /// Environment variable that contains the token which clients have to send.
    pub(crate) token: Option<String>,
    pub(crate) upstreams: Vec<Upstream>,
    pub(crate) most_clients: usize,
    /// Timeout for a silent upstream or client, in seconds.
    pub(crate) timeout: u32,
    /// True if every change is logged to standard error.
    pub(crate) verbose: bool,
    /// True if the host writes a line for every request to a report file.
    pub(crate) reports: bool,
    /// The host reads this file again when it changes.
    pub(crate) config: Option<String>,
    /// The client that the host starts, as JSON.
    pub(crate) client: Option<String>,
}

impl Settings {
    pub(crate) fn new(listen: Listen, upstreams: Vec<Upstream>) -> Settings {
        let (most_clients, timeout) = (MAX_CLIENTS, TIMEOUT);
        Settings {
            listen,
            token: None,
            upstreams,
            most_clients,
            timeout,
            verbose: false,
            reports: false,
            config: None,
            client: None,
        }
    }

    /// Returns an error if other machines can reach the address and no token is required, or if the relay is its own
    /// upstream. `token` is the token that clients have to send, or its variable.
    pub(super) fn check(&self, token: Option<&str>) -> Result<(), String> {
        require_token(&self.listen, token)?;
        let is_itself = |upstream: &&Upstream| {
            self.listen.port != 0 && upstream.address.port == self.listen.port && is_loopback(&upstream.address.host)
        };
        match self.upstreams.iter().find(is_itself) {
            Some(upstream) => {
                let url = upstream.address.url(&upstream.address.base);
                Err(format!("expected the URL of an API, found the relay's own: `{url}`"))
            }
            None => Ok(()),
        }
    }

    /// Checks new settings against the settings of the start. The required token must not change, nor the address
    /// for the key of a started client.
    pub(super) fn check_change(&self, start: &Settings) -> Result<(), String> {
        let path = start.client_path();
        if self.token != start.token && (path.is_some() || start.token.is_some()) {
            return Err("expected the token of the start, found another or none: start the command again".into());
        }
        path.map_or(Ok(()), |path| self.check_paths(start, &path))
    }

    /// Checks that the client's path, and each path below it, existed at the start with an equal address.
    fn check_paths(&self, start: &Settings, of_client: &str) -> Result<(), String> {
        let is_below = |upstream: &&Upstream| {
            upstream.path.strip_prefix(of_client).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_known = |upstream: &Upstream| {
            start.upstreams.iter().any(|old| (&old.path, &old.address) == (&upstream.path, &upstream.address))
        };
        if let Some(upstream) = self.upstreams.iter().filter(is_below).find(|upstream| !is_known(upstream)) {
            let (path, url) = (shown_path(&upstream.path), upstream.address.url(&upstream.address.base));
            return Err(format!(
                "expected the address that the file had for {path} at the start, because it receives the client's \
                 key, found `{url}`: start the command again"
            ));
        }
        let is_gone = |upstream: &&Upstream| !self.upstreams.iter().any(|new| new.path == upstream.path);
        match start.upstreams.iter().filter(is_below).find(is_gone) {
            // Another upstream with a shorter path would receive its requests.
            Some(upstream) => Err(format!(
                "expected an upstream for {}, which the client may use, found none: start the command again",
                shown_path(&upstream.path)
            )),
            None => Ok(()),
        }
    }

    fn client_path(&self) -> Option<String> {
        text_member(&json::read(self.client.as_deref()?).ok()?, "path")
    }

    pub(crate) fn document(&self, report: Option<&str>) -> String {
        let optional = |text: Option<&str>| text.map_or_else(Node::default, |text| Node::string(text.to_string()));
        let settings = record([
            ("listen", self.listen.document()),
            ("token", optional(self.token.as_deref())),
            ("upstreams", Node::array(self.upstreams.iter().map(upstream).collect())),
            ("mostClients", Node::count(self.most_clients as u64)),
            ("timeout", Node::count(self.timeout.into())),
            ("verbose", Node::bool(self.verbose)),
            ("report", optional(report)),
            ("config", optional(self.config.as_deref())),
            ("client", self.client.as_deref().and_then(|client| json::read(client).ok()).unwrap_or_default()),
        ]);
        json::write(&settings)
    }

    /// Reads the JSON of [`Self::document`]. Missing members get their defaults.
    pub(crate) fn read(text: &str) -> Settings {
        let node = json::read(text).unwrap_or_default();
        let number = |key: &str| node.u64_at(key);
        let upstreams = node.items_at("upstreams").iter();
        let listen = Listen::in_settings(&node);
        let mut settings = Settings::new(listen, upstreams.filter_map(read_upstream).collect());
        settings.token = text_member(&node, "token");
        let most = number("mostClients").and_then(|most| usize::try_from(most).ok());
        settings.most_clients = most.unwrap_or(settings.most_clients);
        settings.timeout = number("timeout").and_then(|time| u32::try_from(time).ok()).unwrap_or(settings.timeout);
        settings.verbose = node.bool_at("verbose").unwrap_or_default();
        settings.reports = text_member(&node, "report").is_some();
        settings.client = node.get("client").filter(|client| !client.is_null()).map(json::write);
        settings
    }

    pub(crate) fn greeting(&self, address: &str) -> String {
        let mut lines = format!("toolwire relay: listening on {address}");
        for upstream in &self.upstreams {
            let models =
                if upstream.models.is_empty() { String::new() } else { format!(" ({})", upstream.models.join(", ")) };
            let url = upstream.address.url(&upstream.address.base);
            lines.push_str(&format!("\n  http://{address}{}{models} in place of {url}", upstream.path));
        }
        lines.push_str(&format!("\n  http://{address}/toolwire/last shows what was changed"));
        lines
    }
}

fn shown_path(path: &str) -> String {
    match path {
        "" => "every path".into(),
        path => format!("the path `{path}`"),
    }
}

fn upstream(upstream: &Upstream) -> Node<'_> {
    let strings = |list: &'_ [String]| Node::array(list.iter().map(|text| Node::string(text.clone())).collect());
    let member =
        |(key, value): (&String, &String)| Member { key: Text::new(key.clone()), value: Node::string(value.clone()) };
    let address = &upstream.address;
    let options = upstream.options.iter();
    let options = options.map(|(option, word)| (option.name, word.map_or_else(Node::default, Node::string)));
    let mut settings = Vec::from([
        ("url", Node::string(address.url(&address.base))),
        ("encrypted", Node::bool(address.is_encrypted)),
        // Sockets require the address without brackets.
        ("host", Node::string(address.host.trim_start_matches('[').trim_end_matches(']'))),
        ("port", Node::count(address.port.into())),
        ("path", Node::string(upstream.path.as_str())),
        ("models", strings(&upstream.models)),
        ("modelNames", Node::object(Object::from_members(upstream.names.iter().map(member).collect()))),
    ]);
    settings.extend(options);
    let members = settings.into_iter().map(|(key, value)| Member { key: Text::new(key), value });
    Node::object(Object::from_members(members.collect()))
}

fn text_member(node: &Node<'_>, key: &str) -> Option<String> {
    Some(node.get(key)?.as_text()?.display().into_owned())
}

fn read_upstream(node: &Node<'_>) -> Option<Upstream> {
    let text = |node: &Node<'_>| Some(node.as_text()?.display().into_owned());
    let models = node.items_at("models").iter().filter_map(text).collect();
    let names = node.object_at("modelNames").map(Object::members).unwrap_or_default().iter();
    let names: BTreeMap<String, String> =
        names.filter_map(|member| Some((member.key.display().into_owned(), text(&member.value)?))).collect();
    let mut options = RequestOptions::default();
    for name in REQUEST_OPTIONS.iter().map(|option| option.name) {
        if let (Some(value), Some(option)) = (text_member(node, name), options.get_mut(name)) {
            *option = Some(value);
        }
    }
    let address = Address::read(&text_member(node, "url")?).ok()?;
    Some(Upstream { address, path: text_member(node, "path").unwrap_or_default(), models, names, options })
}

pub(crate) fn run(arguments: &RelayArguments, gathered: Gathering) -> Result<Hosted, CommandError> {
    let settings = from_arguments("relay", arguments, gathered, None)?;
    Ok(Hosted::new("relay", Need::Relay(settings.document(arguments.report.as_deref()))))
}

/// `listen` replaces the address of the file and the default.
pub(super) fn from_arguments(
    command: &str,
    arguments: &RelayArguments,
    gathered: Gathering,
    listen: Option<Listen>,
) -> Result<Settings, CommandError> {
    let failed = |message: String| CommandError::new("", message).in_source(command);
    let file = match gathered.with {
        Some(file) => ConfigFile::read(&file.text, &file.source)?,
        None => {
            let Some(url) = &arguments.upstream else {
                let message = "expected `--upstream URL` or `--config FILE`, found neither";
                return Err(failed(message.into()));
            };
            let address = Address::read(url).map_err(|error| failed(format!("--upstream: {error}")))?;
            let options = arguments.options.clone();
            let upstream = Upstream { address, options, ..Upstream::default() };
            ConfigFile { upstreams: Vec::from([upstream]), ..ConfigFile::default() }
        }
    };
    let listen = match (&arguments.listen, listen.or(file.listen)) {
        (Some(text), _) => Listen::read(text).map_err(|error| failed(format!("--listen: {error}")))?,
        (None, Some(listen)) => listen,
        (None, None) => Listen::read(LISTEN).map_err(failed)?,
    };
    let mut settings = Settings::new(listen, file.upstreams);
    settings.token = arguments.token_env.clone().or(file.token);
    settings.timeout = arguments.timeout.or(file.timeout).unwrap_or(settings.timeout);
    settings.verbose = arguments.verbose;
    settings.config.clone_from(&arguments.config);
    settings.check(settings.token.as_deref()).map_err(failed)?;
    Ok(settings)
}

const KEYS: [&str; 4] = ["listen", "token-env", "timeout", "upstream"];
const UPSTREAM_KEYS: [&str; 4] = ["url", "path", "models", "model-names"];

#[derive(Debug, Default)]
struct ConfigFile {
    listen: Option<Listen>,
    token: Option<String>,
    timeout: Option<u32>,
    upstreams: Vec<Upstream>,
}

impl ConfigFile {
    /// An unknown key is an error, like an unknown option on the command line.
    fn read(text: &str, source: &str) -> Result<ConfigFile, CommandError> {
        TomlFile::read(text, source, config)
    }
}

fn config(file: &TomlFile<'_>, table: &DeTable<'_>) -> Result<ConfigFile, CommandError> {
    let mut config = ConfigFile::default();
    for (key, value) in table.iter() {
        match key.get_ref().as_ref() {
            "listen" => config.listen = Some(checked(file, value, Listen::read)?),
            "token-env" => config.token = Some(file.string(value)?),
            "timeout" => {
                let DeValue::Integer(number) = value.get_ref() else {
                    return Err(file.unexpected(value, "a number of seconds"));
                };
                let seconds = number.as_str().parse().ok().filter(|seconds| *seconds > 0);
                config.timeout = Some(seconds.ok_or_else(|| file.unexpected(value, "a number of seconds above 0"))?);
            }
            "upstream" => {
                let DeValue::Array(list) = value.get_ref() else {
                    return Err(file.unexpected(value, "`[[upstream]]`, a list of tables"));
                };
                for entry in list.iter() {
                    config.upstreams.push(upstream_of_entry(file, entry)?);
                }
            }
            other => return Err(file.unknown(key.span(), other, &KEYS)),
        }
    }
    if config.upstreams.is_empty() {
        return Err(CommandError::new("", "expected `[[upstream]]` with a `url`, found none"));
    }
    Ok(config)
}

fn upstream_of_entry(file: &TomlFile<'_>, entry: &Spanned<DeValue<'_>>) -> Result<Upstream, CommandError> {
    let DeValue::Table(table) = entry.get_ref() else { return Err(file.unexpected(entry, "a table")) };
    let (mut upstream, mut has_url) = (Upstream::default(), false);
    for (key, value) in table.iter() {
        match key.get_ref().as_ref() {
            "url" => (upstream.address, has_url) = (checked(file, value, Address::read)?, true),
            "path" => upstream.path = checked(file, value, path)?,
            "models" => upstream.models = file.nonempty_strings(value)?,
            "model-names" => {
                let DeValue::Table(names) = value.get_ref() else {
                    return Err(file.unexpected(value, "a table: a client's name for a model, and the API's"));
                };
                for (name, value) in names.iter() {
                    upstream.names.insert(name.get_ref().to_string(), file.string(value)?);
                }
            }
            name => {
                let Some((option, word)) = RequestOption::named(name).zip(upstream.options.get_mut(name)) else {
                    let options = REQUEST_OPTIONS.iter().map(|option| option.name);
                    let known: Vec<&str> = UPSTREAM_KEYS.into_iter().chain(options).collect();
                    return Err(file.unknown(key.span(), name, &known));
                };
                *word = Some(match name {
                    DIALECT => file.dialect(value)?,
                    _ => file.one_of(value, &(option.words)())?,
                });
            }
        }
    }
    if !has_url {
        return Err(file.unexpected(entry, "a `url` of the API"));
    }
    Ok(upstream)
}

fn path(text: &str) -> Result<String, String> {
    let path = text.trim_end_matches('/');
    let takes = |character: char| character.is_ascii_alphanumeric() || matches!(character, '/' | '-' | '_' | '.' | '~');
    if path.is_empty() || !path.starts_with('/') || path.starts_with("/toolwire") || !path.chars().all(takes) {
        return Err(format!("expected a path such as `/kimi`, other than `/toolwire`, found `{text}`"));
    }
    Ok(path.into())
}

fn checked<T>(
    file: &TomlFile<'_>,
    value: &Spanned<DeValue<'_>>,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, CommandError> {
    let text = file.string(value)?;
    read(&text).map_err(|message| file.error(Some(value.span()), &message))
}

#[cfg(test)]
mod tests {
    use toolwire::Dialect;

    use super::*;

    #[test]
    fn file_with_several_upstreams_is_read() {
        let text = "listen = \"127.0.0.1:9000\"\ntimeout = 60\n[[upstream]]\npath = \"/kimi/\"\n\
            url = \"https://api.moonshot.ai/anthropic\"\ndialect = \"moonshot\"\n[upstream.model-names]\n\
            claude = \"kimi-k3\"\n[[upstream]]\nmodels = \"deepseek-*\"\nurl = \"https://api.deepseek.com\"\n";
        let config = ConfigFile::read(text, "relay.toml").unwrap_or_default();
        assert_eq!(config.timeout, Some(60));
        assert_eq!(config.upstreams.len(), 2);
        let kimi = config.upstreams.first().cloned().unwrap_or_default();
        assert_eq!((kimi.path.as_str(), kimi.name_for_model("claude")), ("/kimi", Some("kimi-k3")));
        assert_eq!(kimi.options.exchange_options().dialect, Some(Dialect::MOONSHOT));
    }

    #[test]
    fn keys_at_the_top_level_are_options_of_the_command() {
        let command = <crate::arguments::CommandLine as clap::CommandFactory>::command();
        let relay = command.find_subcommand("relay").map(|relay| relay.get_arguments().filter_map(clap::Arg::get_long));
        let options: Vec<&str> = relay.into_iter().flatten().collect();
        // A file has several upstreams.
        let missing: Vec<&&str> = KEYS.iter().filter(|key| !options.contains(key)).collect();
        assert_eq!(missing, [] as [&&str; 0]);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, found) in [
            (
                "lisen = \"a\"",
                "relay.toml:1: expected one of `listen`, `token-env`, `timeout`, `upstream`, found `lisen`",
            ),
            ("timeout = 5", "expected `[[upstream]]` with a `url`, found none"),
            ("[[upstream]]\npath = \"/a\"", "expected a `url` of the API"),
            ("[[upstream]]\nurl = \"https://u:k@a\"", "relay.toml:2: expected a URL without a user"),
            ("[[upstream]]\nurl = \"https://a\"\nnative = \"x\"", "relay.toml:3: expected one of `auto`, "),
            (
                "[[upstream]]\nurl = \"https://a\"\npath = \"/toolwire\"",
                "relay.toml:3: expected a path such as `/kimi`",
            ),
            ("timeout = 0\n[[upstream]]\nurl = \"https://a\"", "relay.toml:1: expected a number of seconds above 0"),
        ] {
            let message = ConfigFile::read(text, "relay.toml").map(|_| String::new());
            let message = message.unwrap_or_else(|error| error.line(""));
            assert!(message.contains(found), "{text}: {message}");
        }
    }
}
