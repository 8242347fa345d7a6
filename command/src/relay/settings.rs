//! The settings of a relay, as JSON. The command writes them, and the host passes them on.

use std::collections::BTreeMap;

use toolwire::json::{self, Member, Node, Object, Text};

use super::upstream::{Upstream, Words};
use crate::{
    document::record,
    http::address::{Address, Listen},
};

/// Default address to listen on.
pub(crate) const LISTEN: &str = "127.0.0.1:8787";
/// Default of the maximum number of open requests.
const MAX_CLIENTS: usize = 1_000;
/// Default timeout for a silent upstream, in seconds. Reasoning models think for minutes.
pub(crate) const TIMEOUT: u32 = 600;

/// Settings of a relay.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) listen: Listen,
    /// Environment variable that contains the token which clients have to send.
    pub(crate) token: Option<String>,
    pub(crate) upstreams: Vec<Upstream>,
    /// Maximum number of open requests.
    pub(crate) most_clients: usize,
    /// Timeout for a silent upstream or client, in seconds.
    pub(crate) timeout: u32,
    /// True if every change is logged to standard error.
    pub(crate) verbose: bool,
    /// True if the host writes a line for every request to a report file.
    pub(crate) reports: bool,
}

impl Settings {
    pub(crate) fn new(listen: Listen, upstreams: Vec<Upstream>) -> Settings {
        let (most_clients, timeout) = (MAX_CLIENTS, TIMEOUT);
        Settings { listen, token: None, upstreams, most_clients, timeout, verbose: false, reports: false }
    }

    /// Returns the settings as JSON, together with those for the host: the address to listen on, the upstreams'
    /// addresses, the token's environment variable, and the path of the report.
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
        settings.token = word(&node, "token");
        let most = number("mostClients").and_then(|most| usize::try_from(most).ok());
        settings.most_clients = most.unwrap_or(settings.most_clients);
        settings.timeout = number("timeout").and_then(|time| u32::try_from(time).ok()).unwrap_or(settings.timeout);
        settings.verbose = node.bool_at("verbose").unwrap_or_default();
        settings.reports = word(&node, "report").is_some();
        settings
    }

    /// Returns the startup message, with the address.
    pub(crate) fn greeting(&self, address: &str) -> String {
        let mut lines = format!("toolwire relay: listening at {address}");
        for one in &self.upstreams {
            let models = if one.models.is_empty() { String::new() } else { format!(" ({})", one.models.join(", ")) };
            let url = one.address.url(&one.address.base);
            lines.push_str(&format!("\n  http://{address}{}{models} in place of {url}", one.path));
        }
        lines.push_str(&format!("\n  http://{address}/toolwire/last shows what was changed"));
        lines
    }
}

fn upstream(one: &Upstream) -> Node<'_> {
    let strings = |list: &'_ [String]| Node::array(list.iter().map(|text| Node::string(text.clone())).collect());
    let member =
        |(key, value): (&String, &String)| Member { key: Text::new(key.clone()), value: Node::string(value.clone()) };
    let Words { dialect, native, repair, formats, overflow } = &one.options;
    let address = &one.address;
    record([
        ("url", Node::string(address.url(&address.base))),
        ("encrypted", Node::bool(address.is_encrypted)),
        // Sockets require the address without brackets.
        ("host", Node::string(address.host.trim_start_matches('[').trim_end_matches(']'))),
        ("port", Node::count(address.port.into())),
        ("path", Node::string(one.path.as_str())),
        ("models", strings(&one.models)),
        ("modelNames", Node::object(Object::from_members(one.names.iter().map(member).collect()))),
        ("dialect", dialect.as_deref().map_or_else(Node::default, Node::string)),
        ("native", Node::string(native.as_str())),
        ("repair", Node::string(repair.as_str())),
        ("formats", Node::string(formats.as_str())),
        ("overflow", Node::string(overflow.as_str())),
    ])
}

fn word(node: &Node<'_>, key: &str) -> Option<String> {
    Some(node.get(key)?.as_text()?.display().into_owned())
}

fn read_upstream(node: &Node<'_>) -> Option<Upstream> {
    let text = |node: &Node<'_>| Some(node.as_text()?.display().into_owned());
    let models = node.items_at("models").iter().filter_map(text).collect();
    let names = node.object_at("modelNames").map(Object::members).unwrap_or_default().iter();
    let names: BTreeMap<String, String> =
        names.filter_map(|member| Some((member.key.display().into_owned(), text(&member.value)?))).collect();
    let defaults = Words::default();
    let or = |key: &str, default: String| word(node, key).unwrap_or(default);
    let options = Words {
        dialect: word(node, "dialect"),
        native: or("native", defaults.native),
        repair: or("repair", defaults.repair),
        formats: or("formats", defaults.formats),
        overflow: or("overflow", defaults.overflow),
    };
    let address = Address::read(&word(node, "url")?).ok()?;
    Some(Upstream { address, path: or("path", String::new()), models, names, options })
}
