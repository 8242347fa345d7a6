//! The settings of a proxy, as JSON. The command `toolwire proxy` makes them from its options, and the host passes them
//! on to a [`Proxy`](super::Proxy).

use toolwire::{
    dialects,
    internal::{
        self,
        json::{self, Node},
    },
    options::{Confidence, Mismatch, StructuredText},
    Dialect, DialectId, Error, RepairOptions, ResultOptions,
};

use super::message::at;
use crate::{
    arguments::{least_confidence, Defer, ProxyArguments},
    clients,
    document::record,
    error::CommandError,
    gather::Gathering,
    hosted::Hosted,
    http::{require_token, Listen},
    need::{Need, Server},
};

/// Environment variables that every server receives, on POSIX and on Windows, as from MCP's SDKs. No other variables
/// are passed.
pub const EVERY_PROGRAM: [&str; 17] = [
    "HOME",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "USER",
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USERNAME",
    "USERPROFILE",
];

#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// Names of the servers. Only the host reads the other settings of a server.
    pub(crate) servers: Vec<String>,
    /// Dialects for which a tool is rewritten, in order: the dialect of the API, then the dialect of the client.
    pub(crate) dialects: Vec<DialectId>,
    /// The client, if known, and the source of the facts about it.
    pub(crate) client: Option<(String, String)>,
    /// Name of the proxy in the client's configuration.
    pub(crate) name: Option<String>,
    /// Minimum confidence of a repair. If it is `None`, calls are not repaired.
    pub(crate) repair: Option<Confidence>,
    /// Maximum length of a tool list that is not replaced by a search. `None` for no limit.
    pub(crate) most: Option<usize>,
    /// Options for fitting results to the `outputSchema` of their tools.
    pub(crate) results: ResultOptions,
    /// Maximum size of a result, in bytes. If it is `None`, results are not cut.
    pub(crate) max_result: Option<usize>,
    /// True if the ids of cut results are numbers, as transcripts need them. Clients could guess such ids.
    pub(crate) counted_ids: bool,
    /// Every change is logged to standard error.
    pub(crate) verbose: bool,
    /// Timeout of the proxy's own requests to a server, in seconds.
    pub(crate) timeout: u32,
    /// Address at which the proxy serves HTTP. If it is `None`, the proxy uses stdio.
    pub(crate) listen: Option<Listen>,
    /// Environment variable that contains the token which clients have to send.
    pub(crate) token: Option<String>,
    /// True if the host listens on an address. Modern clients then share the servers.
    pub(crate) is_listening: bool,
}

impl Settings {
    /// Returns the settings as JSON, together with the host's settings: how to reach each server, and where to write
    /// the report.
    pub(crate) fn document(&self, servers: &[(String, Server)], report: Option<&str>) -> String {
        let list = servers.iter().map(|(name, server)| {
            let mut entry = server.document();
            entry.set("name", Node::string(name.as_str()));
            if let Some(inherited) = entry.array_at("inherited") {
                let inherited = EVERY_PROGRAM.iter().map(|name| Node::string(*name)).chain(inherited.iter().cloned());
                entry.set("inherited", Node::array(inherited.collect()));
            }
            entry
        });
        let number = |count: Option<usize>| count.map_or_else(Node::default, |count| Node::count(count as u64));
        let settings = record([
            ("servers", Node::array(list.collect())),
            ("listen", self.listen.as_ref().map_or_else(Node::default, Listen::document)),
            ("token", self.token.as_deref().map_or_else(Node::default, Node::string)),
            ("report", report.map_or_else(Node::default, Node::string)),
            ("dialects", Node::array(self.dialects.iter().map(|dialect| Node::string(dialect.as_str())).collect())),
            ("client", self.client.as_ref().map_or_else(Node::default, |(name, _)| Node::string(name.as_str()))),
            ("source", self.client.as_ref().map_or_else(Node::default, |(_, source)| Node::string(source.as_str()))),
            ("name", self.name.as_deref().map_or_else(Node::default, Node::string)),
            ("repair", self.repair.map_or_else(Node::default, |least| Node::string(least.as_str()))),
            ("most", number(self.most)),
            ("results", Node::string(self.results.mismatch.as_str())),
            ("structuredText", Node::string(self.results.structured_text.as_str())),
            ("maxResult", number(self.max_result)),
            ("verbose", Node::bool(self.verbose)),
            ("timeout", Node::count(self.timeout.into())),
        ]);
        json::write(&settings)
    }

    pub(crate) fn read(text: &str) -> Result<Settings, Error> {
        let node = json::read(text)?;
        let texts = |key: &str, inner: Option<&str>| -> Vec<String> {
            let list = node.items_at(key);
            let text = |item: &Node<'_>| Some(at(item, inner.as_slice())?.as_text()?.display().into_owned());
            list.iter().filter_map(text).collect()
        };
        let flag = |key: &str| node.bool_at(key).unwrap_or_default();
        let count = |key: &str| node.u64_at(key);
        let text = |key: &str| Some(node.get(key)?.as_text()?.display().into_owned());
        let repair = node.get("repair").filter(|word| !word.is_null());
        Ok(Settings {
            servers: texts("servers", Some("name")),
            dialects: texts("dialects", None).iter().map(|name| name.parse()).collect::<Result<_, Error>>()?,
            client: text("client").zip(text("source")),
            name: text("name"),
            repair: repair.map(|word| if word.is_text("exact") { Confidence::Exact } else { Confidence::Likely }),
            most: count("most").and_then(|most| usize::try_from(most).ok()),
            results: result_options(
                text("results").as_deref().unwrap_or_default(),
                text("structuredText").as_deref().unwrap_or_default(),
            ),
            max_result: count("maxResult").and_then(|max| usize::try_from(max).ok()),
            counted_ids: flag("countedIds"),
            verbose: flag("verbose"),
            timeout: count("timeout").and_then(|seconds| u32::try_from(seconds).ok()).unwrap_or(30),
            // The host and `Listener` read both settings from the JSON text.
            listen: None,
            token: None,
            is_listening: node.get("listen").is_some_and(|listen| !listen.is_null()),
        })
    }

    /// Returns the options for repairs; `None` if arguments are neither changed nor checked.
    pub(crate) fn repair(&self) -> Option<RepairOptions> {
        self.repair.map(|least| RepairOptions::default().confidence(least))
    }
}

fn result_options(results: &str, structured_text: &str) -> ResultOptions {
    let mismatch = match results {
        "refuse" => Mismatch::Refuse,
        "drop" => Mismatch::Drop,
        _ => Mismatch::Pass,
    };
    let when = match structured_text {
        "missing" => StructuredText::Missing,
        "never" => StructuredText::Never,
        _ => StructuredText::Empty,
    };
    ResultOptions::default().mismatch(mismatch).structured_text(when)
}

pub(crate) fn run(arguments: &ProxyArguments, gathered: Gathering) -> Result<Hosted, CommandError> {
    let client = arguments.client.as_deref().and_then(clients::find);
    let api = arguments.dialect.or(client.and_then(|client| client.api)).unwrap_or(clients::PORTABLE);
    let of_client = client.and_then(|client| client.dialect).filter(|dialect| *dialect != api);
    let most_of_api =
        dialects().iter().find(|dialect| dialect.id() == api).and_then(|api: &Dialect| internal::max_tools(api));
    let most = match arguments.defer {
        Defer::Off => None,
        Defer::Above(most) => Some(most),
        Defer::Auto => client.and_then(|client| client.max_tools).into_iter().chain(most_of_api).min(),
    };
    let failed = |message: String| CommandError::new("", message).in_source("proxy");
    let listen = arguments.listen.as_deref().map(Listen::read).transpose();
    let listen = listen.map_err(|error| failed(format!("--listen: {error}")))?;
    if let Some(listen) = &listen {
        require_token(listen, arguments.token_env.as_deref()).map_err(failed)?;
    }
    let max = [Some(api), of_client].into_iter().filter_map(internal::max_server_name).min();
    let length = arguments.name.as_deref().map(|name| name.chars().count());
    if let Some((max, length)) = max.zip(length).filter(|(max, length)| length > max) {
        return Err(failed(format!("--name: expected at most {max} characters for this client, found {length}")));
    }
    let settings = Settings {
        servers: Vec::new(),
        dialects: [api].into_iter().chain(of_client).collect(),
        client: client.map(|client| (client.name.to_string(), client.source.to_string())),
        name: arguments.name.clone(),
        repair: least_confidence(&arguments.repair),
        most,
        results: result_options(&arguments.results, &arguments.structured_text),
        max_result: arguments.max_result,
        counted_ids: false,
        is_listening: false,
        verbose: arguments.verbose,
        timeout: arguments.connection.timeout,
        listen,
        token: arguments.token_env.clone(),
    };
    if gathered.servers.is_empty() {
        return Err(failed("expected a server after `--`, `--url` or `--servers`, found none".into()));
    }
    let settings = settings.document(&gathered.servers, arguments.report.as_deref());
    Ok(Hosted::new("proxy", Need::Proxy(settings)))
}
