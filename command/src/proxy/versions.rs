//! The versions of MCP, and how a message states its version.
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>

use toolwire::internal::json::{self, Member, Node, Object, Text};

use super::message::{at, empty, text_at};

/// A generation of MCP versions, by how client and server agree on a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// By `initialize`.
    Legacy,
    /// Each request states the version and the client's capabilities in `_meta`. `initialize` does not exist.
    Modern,
}

/// Versions of MCP, the latest first.
const VERSIONS: [(&str, Era); 6] = [
    ("2026-07-28", Era::Modern),
    ("2025-11-25", Era::Legacy),
    ("2025-06-18", Era::Legacy),
    ("2025-03-26", Era::Legacy),
    ("2024-11-05", Era::Legacy),
    ("2024-10-07", Era::Legacy),
];

/// Members of `_meta` of a modern request. Legacy versions negotiate their values with `initialize`.
pub(super) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(super) const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
pub(super) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The member of `_meta` that replaces `logging/setLevel`.
pub(super) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The member of `_meta` of a modern result that names its server.
pub(super) const SERVER: &str = "io.modelcontextprotocol/serverInfo";
/// The member of `_meta` in which messages of a subscription have the id of its request.
pub(super) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The modern request for a server's versions and capabilities.
pub const DISCOVER: &str = "server/discover";
/// Error codes for headers that do not match the message, and for a version that the server does not support.
pub(super) const HEADER_MISMATCH: i32 = -32020;
pub(super) const UNSUPPORTED_VERSION: i32 = -32022;
/// Error codes that only servers of MCP since 2026-07-28 send. -32021 is a missing capability of the client.
pub const MODERN_ERRORS: [i32; 3] = [HEADER_MISMATCH, -32021, UNSUPPORTED_VERSION];

impl Era {
    /// Returns the era of a version, or `None` if the version is unknown.
    pub fn of(version: &str) -> Option<Era> {
        VERSIONS.iter().find(|(name, _)| *name == version).map(|(_, era)| *era)
    }

    /// Returns the latest version.
    pub fn latest(self) -> &'static str {
        VERSIONS.iter().find(|(_, era)| *era == self).map_or("", |(name, _)| name)
    }

    /// Returns the versions of this era, the latest first.
    pub(super) fn versions(self) -> impl Iterator<Item = &'static str> {
        VERSIONS.iter().filter(move |(_, era)| *era == self).map(|(name, _)| *name)
    }
}

/// Returns a modern version that the server and this program support. `result` is the result of [`DISCOVER`].
pub fn discovered(result: &Node<'_>) -> Option<&'static str> {
    let supported = result.items_at("supportedVersions");
    Era::Modern.versions().find(|version| supported.iter().any(|name| name.is_text(version)))
}

pub(super) fn stated(message: &Node<'_>) -> Option<String> {
    text_at(message, &["params", "_meta", VERSION])
}

/// Returns parameters as JSON text, with the latest modern version and this client, as every modern request needs
/// them. `client` and `capabilities` are JSON text.
pub fn modern_params(params: &str, client: Option<&str>, capabilities: &str) -> String {
    let members = [
        (VERSION, Some(Node::string(Era::Modern.latest()))),
        (CLIENT, client.and_then(|client| json::read(client).ok())),
        (CAPABILITIES, Some(json::read(capabilities).unwrap_or_else(|_| empty()))),
    ];
    let mut params = json::read(params).ok().filter(|params| params.as_object().is_some()).unwrap_or_else(empty);
    let mut meta = params.get("_meta").filter(|meta| meta.as_object().is_some()).cloned().unwrap_or_else(empty);
    for (name, value) in members {
        if let Some(value) = value {
            meta.set(name, value);
        }
    }
    params.set("_meta", meta);
    json::write(&params)
}

pub(super) fn unsupported(id: &str, version: &str) -> String {
    let supported = Era::Modern.versions().map(Node::string).collect();
    let member = |key: &'static str, value| Member { key: Text::new(key), value };
    let data = [member("supported", Node::array(supported)), member("requested", Node::string(version))];
    let code = UNSUPPORTED_VERSION.to_string();
    let error = [
        member("code", json::read(&code).unwrap_or_default()),
        member("message", Node::string("Unsupported protocol version")),
        member("data", Node::object(Object::from_members(data.into()))),
    ];
    let error = json::write(&Node::object(Object::from_members(error.into())));
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}")
}

/// Returns the supported versions of an error for an unsupported version; `None` for any other message.
pub(super) fn supported(message: &Node<'_>) -> Option<Vec<String>> {
    let error = message.get("error")?;
    (error.get("code")?.as_number()?.parse() == Ok(UNSUPPORTED_VERSION)).then(|| {
        let list = at(error, &["data", "supported"]).and_then(Node::as_array).unwrap_or_default();
        list.iter().filter_map(|name| Some(name.as_text()?.display().into_owned())).collect()
    })
}
