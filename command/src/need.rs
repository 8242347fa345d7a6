//! The needs of a command that only a host can meet.

use toolwire::internal::json::{self, Member, Node, Object, Text};

use super::document::record;

/// A need that only the host can meet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Need {
    /// The bytes of a file.
    File(String),
    /// The bytes of a file that the user did not name itself, for instance one that matches a pattern. A device or a
    /// pipe fails with `ENOTREG`, because it may have no end.
    RegularFile(String),
    /// A line that the user types after this question; an empty line without a terminal.
    Line(String),
    /// All of standard input.
    Input,
    /// The names in a directory, as a JSON list of strings: names of directories end in `/`, names of links to
    /// directories in `//`. An empty string means the working directory.
    Folder(String),
    /// Environment variables, as a JSON object with the set variables.
    Variables(Vec<String>),
    /// Names of the environment variables that are set and not blank, as a JSON list. Their values are not passed to
    /// the command.
    Set(Vec<String>),
    /// The answer of an API: `{ status, retryAfter, body }` as JSON, with the header `Retry-After` or null, and the
    /// body as text in which the key is replaced by the name of its variable.
    Request(Request),
    /// The tools of an MCP server, from all pages: `{"tools": […]}` as JSON.
    Server(Server),
    /// A [`Proxy`](crate::Proxy) that the host runs until the client closes its end. The settings are JSON: `servers`,
    /// each with the members of [`Need::words`] and its `name`; and `report`, a file or null. The host returns nothing.
    Proxy(String),
    /// A [`Relay`](crate::Relay) that the host runs until it is stopped. The settings are JSON: `listen` (`{ host, port
    /// }`), `token` (the environment variable with the token, or null), `upstreams` (each with `encrypted`, `host` and
    /// `port`), `timeout` in seconds, `report`, a file or null, `config`, a file that the host reads again when it
    /// changes, or null, and `client`, a program that the host runs with the relay, or null: `{ command, variables,
    /// defaults, removed, keys }`. The host returns nothing.
    Relay(String),
}

/// A POST request to an API. Redirects are not followed, because its content is meant for this address only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The URL.
    pub url: String,
    /// The headers, without the header of the key.
    pub headers: Vec<(String, String)>,
    /// The key, if one is sent.
    pub key: Option<Key>,
    /// The body, as JSON.
    pub body: String,
    /// Timeout for the answer, in seconds.
    pub timeout: u32,
    /// Delay before the request is sent, in seconds.
    pub wait: u32,
}

/// A key that only the host knows. The host inserts it into the request, without surrounding whitespace, and removes it
/// from everything that it returns. It reports a key that a header cannot contain as `EKEY`, and a timeout as
/// `ETIMEDOUT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The environment variable that contains the key.
    pub variable: String,
    /// The header in which the key is sent.
    pub header: String,
    /// Text before the key in that header.
    pub before: String,
}

/// An MCP server, with its timeout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Transport to the server.
    pub transport: Transport,
    /// Timeout for starting and for each answer, in seconds.
    pub timeout: u32,
    /// Values of variables that its command, environment, address or headers contain. The host removes them from all
    /// messages about the server.
    pub secrets: Vec<String>,
}

/// Transport to an MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A program that the host starts, with stdio as transport.
    Process {
        /// The program and its arguments.
        command: Vec<String>,
        /// Working directory of the program; `None` for the working directory of the command.
        folder: Option<String>,
        /// Names of the environment variables that it inherits, in addition to those that every program needs. Other
        /// variables are withheld, because a server is a third-party program.
        inherited: Vec<String>,
        /// Additional environment variables, with their values.
        environment: Vec<(String, String)>,
    },
    /// A server at a URL.
    Remote {
        /// The URL.
        url: String,
        /// Headers of each request.
        headers: Vec<(String, String)>,
        /// True for SSE, the older transport. Otherwise streamable HTTP is tried, then SSE.
        sse: bool,
    },
}

impl Need {
    /// Converts the need to strings, for the bindings: its kind, and its parameters. Each variable is a separate
    /// string. A server is JSON: `{ timeout, secrets, command, folder, inherited, environment }` or `{ timeout,
    /// secrets, url, headers, sse }`. A request is JSON: `{ wait, timeout, url, headers, key, body }`, in which `key`
    /// is null or `{ variable, header, before }`.
    pub fn words(self) -> Vec<String> {
        match self {
            Need::File(path) => Vec::from(["file".into(), path]),
            Need::RegularFile(path) => Vec::from(["regular-file".into(), path]),
            Need::Line(question) => Vec::from(["line".into(), question]),
            Need::Input => Vec::from(["input".into()]),
            Need::Folder(path) => Vec::from(["folder".into(), path]),
            Need::Variables(names) => ["variables".into()].into_iter().chain(names).collect(),
            Need::Set(names) => ["set".into()].into_iter().chain(names).collect(),
            Need::Request(request) => Vec::from(["request".into(), json::write(&request.document())]),
            Need::Server(server) => Vec::from(["server".into(), json::write(&server.document())]),
            Need::Proxy(settings) => Vec::from(["proxy".into(), settings]),
            Need::Relay(settings) => Vec::from(["relay".into(), settings]),
        }
    }
}

impl Request {
    fn document(&self) -> Node<'_> {
        let key = self.key.as_ref().map(|key| {
            record([
                ("variable", Node::string(key.variable.as_str())),
                ("header", Node::string(key.header.as_str())),
                ("before", Node::string(key.before.as_str())),
            ])
        });
        record([
            ("wait", Node::count(self.wait.into())),
            ("timeout", Node::count(self.timeout.into())),
            ("url", Node::string(self.url.as_str())),
            ("headers", pairs(&self.headers)),
            ("key", key.unwrap_or_default()),
            ("body", Node::string(self.body.as_str())),
        ])
    }
}

impl Server {
    pub(crate) fn document(&self) -> Node<'_> {
        let timeout = ("timeout", Node::count(self.timeout.into()));
        let secrets = ("secrets", strings(&self.secrets));
        match &self.transport {
            Transport::Process { command, folder, inherited, environment } => record([
                timeout,
                secrets,
                ("command", strings(command)),
                ("folder", folder.as_deref().map_or_else(Node::default, Node::string)),
                ("inherited", strings(inherited)),
                ("environment", pairs(environment)),
            ]),
            Transport::Remote { url, headers, sse } => record([
                timeout,
                secrets,
                ("url", Node::string(url.as_str())),
                ("headers", pairs(headers)),
                ("sse", Node::bool(*sse)),
            ]),
        }
    }
}

impl Server {
    /// Returns the servers in the settings of [`Need::Proxy`], with their names.
    pub fn in_settings(settings: &str) -> Vec<(String, Server)> {
        let settings = json::read(settings).unwrap_or_default();
        let named = |entry: &Node<'_>| Some((text_of(entry.get("name"))?, Server::read(entry)?));
        settings.items_at("servers").iter().filter_map(named).collect()
    }

    fn read(entry: &Node<'_>) -> Option<Server> {
        let list = |key: &str| entry.items_at(key).iter().filter_map(|item| text_of(Some(item))).collect();
        let pairs = |key: &str| {
            let members = entry.object_at(key).map(Object::members).unwrap_or_default().iter();
            members
                .filter_map(|member| Some((member.key.display().into_owned(), text_of(Some(&member.value))?)))
                .collect()
        };
        let transport = match text_of(entry.get("url")) {
            Some(url) => {
                Transport::Remote { url, headers: pairs("headers"), sse: entry.bool_at("sse").unwrap_or_default() }
            }
            None => Transport::Process {
                command: list("command"),
                folder: text_of(entry.get("folder")),
                inherited: list("inherited"),
                environment: pairs("environment"),
            },
        };
        let timeout = entry.u64_at("timeout").and_then(|seconds| u32::try_from(seconds).ok())?;
        Some(Server { transport, timeout, secrets: list("secrets") })
    }
}

fn text_of(node: Option<&Node<'_>>) -> Option<String> {
    Some(node?.as_text()?.display().into_owned())
}

fn strings(words: &[String]) -> Node<'_> {
    Node::array(words.iter().map(|word| Node::string(word.as_str())).collect())
}

fn pairs(pairs: &[(String, String)]) -> Node<'_> {
    let members =
        pairs.iter().map(|(name, value)| Member { key: Text::new(name.as_str()), value: Node::string(value.as_str()) });
    Node::object(Object::from_members(members.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_read_from_settings() {
        let (environment, secrets) = (Vec::from([("B".to_string(), "c".to_string())]), Vec::from(["s".to_string()]));
        let [command, inherited] = ["a", "A"].map(|word| Vec::from([word.to_string()]));
        let process = Transport::Process { command, folder: Some("f".into()), inherited, environment };
        let remote = Transport::Remote { url: "u".into(), headers: Vec::from([("H".into(), "v".into())]), sse: true };
        for transport in [process, remote] {
            let server = Server { transport, timeout: 3, secrets: secrets.clone() };
            let mut entry = server.document();
            entry.set("name", Node::string("n"));
            let settings = json::write(&record([("servers", Node::array(Vec::from([entry])))]));
            assert_eq!(Server::in_settings(&settings), [("n".to_string(), server)]);
        }
    }
}
