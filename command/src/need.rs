//! What only a host can get, and how it is asked for.

use toolwire::json::{self, Member, Node, Object, Text};

use super::document::record;

/// Something that only the host can get.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Need {
    /// The bytes of a file.
    File(String),
    /// The bytes of a file that the user did not name itself, for instance one that matches a pattern. A device or a
    /// pipe fails with `ENOTREG`, because it may have no end.
    RegularFile(String),
    /// A line that somebody types at the terminal, after this question. No terminal is an empty line.
    Line(String),
    /// What comes on standard input, to its end.
    Input,
    /// The names in a folder, as a JSON list of strings: those of folders end in `/`, of links to
    /// folders in `//`. The empty one is where we are.
    Folder(String),
    /// Variables of the environment, as a JSON object of those that are set.
    Variables(Vec<String>),
    /// Which of these variables of the environment are set, and to more than spaces, as a JSON list of their names.
    /// What they hold is not told.
    Set(Vec<String>),
    /// What an API answers: `{ status, retryAfter, body }` as JSON, with the header `Retry-After` or null, and the body
    /// as text in which the name of the key's variable stands for the key.
    Request(Request),
    /// The tools of an MCP server that the host asks: `{"tools": […]}` with the tools of all pages, as JSON.
    Server(Server),
    /// A [`Proxy`](crate::Proxy) that the host runs with these settings until its client has closed its end. They are
    /// JSON, with `servers`: what [`Need::words`] says of each, and its `name`; and `report`, a file or null. The host
    /// gives nothing back.
    Proxy(String),
    /// A [`Relay`](crate::Relay) that the host runs with these settings until it is ended. They are JSON, with `listen`
    /// (`{ host, port }`), `token` (the variable of the environment that holds it, or null), `upstreams` (each with
    /// `encrypted`, `host` and `port`), `timeout` in seconds, and `report`, a file or null. Nothing is given back.
    Relay(String),
}

/// A request to an API, by POST. It is not redirected: what it carries is for this address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Where it goes.
    pub url: String,
    /// What is sent along, beside the key.
    pub headers: Vec<(String, String)>,
    /// The key, if one is sent.
    pub key: Option<Key>,
    /// JSON.
    pub body: String,
    /// How long the answer may take, in seconds.
    pub timeout: u32,
    /// How long to wait before it is sent, in seconds.
    pub wait: u32,
}

/// A key that only the host knows: it puts it into the request, less spaces around it, and takes it out of
/// all that it gives back. One that no header can hold is the failure `EKEY`; no answer in time is `ETIMEDOUT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The variable of the environment that holds it.
    pub variable: String,
    /// The header that it is sent in.
    pub header: String,
    /// What stands before it there.
    pub before: String,
}

/// An MCP server, and how long it may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Where it is.
    pub transport: Transport,
    /// How long it may take to start, and for each answer, in seconds.
    pub timeout: u32,
    /// Values of variables that its command, environment, address or headers contain. The host removes them from all
    /// messages about the server.
    pub secrets: Vec<String>,
}

/// Where an MCP server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A program that is started, and spoken with over stdio.
    Process {
        /// The program and its arguments.
        command: Vec<String>,
        /// The folder that it runs in; `None`: ours.
        folder: Option<String>,
        /// The variables of the environment that it gets beside those that every program needs, by their names. A
        /// server is somebody else's program: what else is in the environment is not for it.
        inherited: Vec<String>,
        /// Variables that it gets, with their values.
        environment: Vec<(String, String)>,
    },
    /// An address.
    Remote {
        /// The address.
        url: String,
        /// What is sent along.
        headers: Vec<(String, String)>,
        /// It speaks SSE, the older transport. Otherwise streamable HTTP is tried, then SSE.
        sse: bool,
    },
}

impl Need {
    /// As words, for bindings: its kind, and what it is about. Variables are several; a server is JSON: `{ timeout,
    /// secrets, command, folder, inherited, environment }` or `{ timeout, secrets, url, headers, sse }`; and so is a
    /// request: `{ wait, timeout, url, headers, key, body }`, with null or `{ variable, header, before }` for the key.
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

fn strings(words: &[String]) -> Node<'_> {
    Node::array(words.iter().map(|word| Node::string(word.as_str())).collect())
}

fn pairs(pairs: &[(String, String)]) -> Node<'_> {
    let members =
        pairs.iter().map(|(name, value)| Member { key: Text::new(name.as_str()), value: Node::string(value.as_str()) });
    Node::object(Object::from_members(members.collect()))
}
