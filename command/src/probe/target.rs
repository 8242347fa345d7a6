//! The target of requests, with the key and the form of the body: an endpoint of the table, or a server of the user.
//! The URL of an API determines the host and the URLs of requests; tools are in the form in which they are sent.
//!
//! A URL is refused unless all parsers agree on it: the hosts' clients follow WHATWG and RFC 3986, which disagree about
//! the host of `http://a\b/`, among others. The crate `url` would add the IDNA tables to the WebAssembly module.

use std::net::{Ipv4Addr, Ipv6Addr};

use toolwire::{
    internal::{
        self,
        json::{self, Data, Node},
        SentTool,
    },
    reports::Severity,
    Dialect, Error,
};

use super::{
    answer::Private,
    endpoints::{Endpoint, Gateway, ELSEWHERE, GATEWAYS},
};
use crate::{
    arguments::ProbeArguments,
    document::{indented, record},
    error::CommandError,
    input::Subject,
    need::{Key, Request},
    servers::{header, is_name},
    terminal::shown_lines,
};

#[derive(Debug)]
pub(crate) struct Target {
    url: String,
    /// For display, without user and query.
    pub(crate) host: String,
    headers: Vec<(String, String)>,
    /// Number of headers that come from the table; the others may be secret.
    table_header_count: usize,
    /// Variables that may contain the key. `key` is the header and the text before the key.
    pub(crate) variables: Vec<String>,
    key: (&'static str, &'static str),
    body: &'static str,
    /// Member of the body that declares all tools strict.
    strict: Option<&'static str>,
    pub(crate) known: Known,
}

/// Owner of the server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known {
    /// A server of the API that all users share.
    Api,
    /// A server of the API, with a host name for each user.
    Tenant(&'static str),
    Gateway(&'static Gateway),
    Elsewhere,
}

impl Target {
    pub(crate) fn new(
        arguments: &ProbeArguments,
        endpoint: &'static Endpoint,
        strict: Option<&'static str>,
    ) -> Result<Target, CommandError> {
        let fault = |message: &str| CommandError::option("url", message);
        let base = match (&arguments.url, endpoint.base) {
            (Some(url), _) => url.as_str(),
            (None, Some(base)) => base,
            (None, None) => {
                return Err(fault(&format!("expected an address, such as {}, found none", endpoint.example)));
            }
        };
        let address = Address::read(base).map_err(fault)?;
        let host = address.host();
        let path = endpoint.path.replace("{model}", &encoded(&arguments.model));
        let table_headers = endpoint.headers.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string()));
        let mut headers: Vec<(String, String)> = [("content-type".to_string(), "application/json".to_string())].into();
        headers.extend(table_headers);
        let table_header_count = headers.len();
        for text in &arguments.headers {
            headers.push(header(text)?);
        }
        let known = address.public_host().map_or(Known::Elsewhere, |host| known(host, endpoint));
        let usual = match known {
            Known::Api | Known::Tenant(_) => endpoint.key.variables,
            Known::Gateway(gateway) => gateway.variables,
            // A key must not be sent to a server of another owner.
            Known::Elsewhere => &[],
        };
        let key = if let Known::Gateway(_) = known {
            ("authorization", "Bearer ")
        } else {
            (endpoint.key.header, endpoint.key.before)
        };
        let is_sent = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(key.0));
        if is_sent && arguments.key_env.is_some() {
            let message = format!("expected one key, found another in the header `{}`", key.0);
            return Err(CommandError::option("keyEnv", message));
        }
        let variables = match &arguments.key_env {
            // The user may have passed the key itself in place of the name, so the value is not shown.
            Some(name) if !is_name(name) => {
                let message = "expected the name of a variable, found something else";
                return Err(CommandError::option("keyEnv", message));
            }
            Some(name) => Vec::from([name.clone()]),
            None if is_sent => Vec::new(),
            None => usual.iter().map(|name| (*name).to_string()).collect(),
        };
        let has_secrets = !arguments.headers.is_empty() || address.has_query() || !variables.is_empty();
        if has_secrets && !address.keeps_secrets() {
            let message = "expected `https://` or a loopback address for a request with a key, `--header` or a query, \
                           found `http://`";
            return Err(fault(message));
        }
        // The URL is built from the validated parts, so the request goes to the host that was checked.
        let url = address.below(&path);
        Ok(Target { url, host, headers, table_header_count, variables, key, body: endpoint.wire.body, strict, known })
    }

    pub(crate) fn private(&self) -> Private {
        let mut texts = Vec::new();
        for (_, value) in self.headers.iter().skip(self.table_header_count) {
            texts.extend(
                value.split_whitespace().filter(|word| word.len() > 7).map(|word| (word.to_string(), "(header)")),
            );
        }
        let query = self.url.split_once('?').map(|(_, query)| query).unwrap_or_default();
        texts.extend(query.split(['&', '=']).filter(|part| part.len() > 7).map(|part| (part.to_string(), "(query)")));
        if !matches!(self.known, Known::Api) {
            texts.push((self.host.clone(), "(host)"));
            texts.extend(self.host.split_once(':').map(|(name, _)| (name.to_string(), "(host)")));
        }
        Private { texts }
    }

    pub(crate) fn request(
        &self,
        tools: &str,
        arguments: &ProbeArguments,
        variable: Option<&String>,
        wait: u32,
    ) -> Request {
        let key = variable.map(|variable| Key {
            variable: variable.clone(),
            header: self.key.0.into(),
            before: self.key.1.into(),
        });
        let (url, headers, timeout) = (self.url.clone(), self.headers.clone(), arguments.timeout);
        Request { url, headers, key, body: self.body(tools, arguments), timeout, wait }
    }

    fn body(&self, tools: &str, arguments: &ProbeArguments) -> String {
        let mut body = json::read(self.body).unwrap_or_default();
        let tools = json::read(tools).unwrap_or_default();
        let tokens = Node::count(arguments.max_tokens.into());
        // The tools are inserted last, so that placeholders within them are not replaced.
        for (sign, value) in
            [("$tokens", tokens), ("$model", Node::string(arguments.model.as_str())), ("$tools", tools)]
        {
            fill(&mut body, sign, &value);
        }
        if let (Some(member), Some(object)) = (self.strict, body.as_object_mut()) {
            object.set(member, Node::bool(true));
        }
        json::write(&body)
    }

    /// Returns a request for display, without the key, the values of other headers, and the query of the URL.
    pub(crate) fn shown(&self, request: &Request) -> String {
        let url = request.url.split_once('?').map_or(request.url.clone(), |(before, _)| format!("{before}?…"));
        let mut out = format!("POST {url}\n");
        for (at, (name, value)) in request.headers.iter().enumerate() {
            out.push_str(&format!("{name}: {}\n", if at < self.table_header_count { value.as_str() } else { "…" }));
        }
        if let Some(Key { variable, header, before }) = &request.key {
            out.push_str(&format!("{header}: {before}${variable}\n"));
        }
        let out = out + "\n" + &indented(&request.body);
        shown_lines(&out).into_owned()
    }
}

fn known(host: &str, endpoint: &'static Endpoint) -> Known {
    for pattern in endpoint.hosts {
        match *pattern {
            pattern if pattern == host => return Known::Api,
            pattern if matches(pattern, host) => return Known::Tenant(pattern),
            _ => {}
        }
    }
    GATEWAYS.iter().find(|gateway| gateway.host == host).map_or(Known::Elsewhere, Known::Gateway)
}

impl Known {
    pub(crate) fn surface(self, endpoint: &Endpoint) -> &'static str {
        match self {
            Known::Gateway(gateway) => gateway.surface,
            // A server that replaces a hosted API has the surface `elsewhere`; a self-hosted API has the surface in the
            // table.
            Known::Elsewhere if !endpoint.hosts.is_empty() => ELSEWHERE,
            _ => endpoint.surface,
        }
    }
}

fn fill<'a>(node: &mut Node<'a>, sign: &str, value: &Node<'a>) {
    if node.is_text(sign) {
        *node = value.clone();
        return;
    }
    match node.data_mut() {
        Data::Array(items) => items.iter_mut().for_each(|item| fill(item, sign, value)),
        Data::Object(object) => {
            object.members_mut().iter_mut().for_each(|member| fill(&mut member.value, sign, value));
        }
        _ => {}
    }
}

fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            byte if byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte) => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[derive(Debug)]
pub(crate) struct Tool {
    /// Name of the tool; `None` if it has none.
    pub(crate) name: Option<String>,
    /// JSON Pointer into the list.
    pub(crate) pointer: String,
    pub(crate) strict: Option<bool>,
    /// The tool in the API's format, as JSON.
    pub(crate) text: String,
    /// Rules for which `check` expects a refusal.
    pub(crate) rules: Vec<&'static str>,
}

/// Converts the tools to the API's format, and changes nothing else.
pub(crate) fn tools(subject: Subject<'_>, dialect: &'static Dialect) -> Result<Vec<Tool>, Error> {
    let list = match subject {
        Subject::Tools(list) | Subject::Request(list) => list,
        Subject::Schemas(schemas) => {
            let tool = |(at, schema): (usize, _)| {
                record([("name", Node::string(format!("schema_{}", at + 1))), ("inputSchema", schema)])
            };
            Node::array(schemas.into_iter().enumerate().map(tool).collect())
        }
    };
    let sent = internal::as_sent(list, dialect)?.into_iter();
    Ok(sent
        .map(|SentTool { pointer, name, strict, tool }| {
            let text = json::write(&tool);
            let rules = refused(&format!("[{text}]"), dialect);
            Tool { name, pointer, strict, text, rules }
        })
        .collect())
}

/// Returns the rules for which `check` expects a refusal of a list. A rule occurs once for each violation.
pub(crate) fn refused(list: &str, dialect: &'static Dialect) -> Vec<&'static str> {
    let found = json::read(list)
        .and_then(|list| internal::check_tools(list, &[dialect], internal::FindingLimit::EVERY_TOOL))
        .unwrap_or_default();
    let mut rules: Vec<&'static str> =
        found.iter().filter(|one| one.severity == Severity::Refused).map(|one| one.constraint.id()).collect();
    rules.sort_unstable();
    rules
}

pub(crate) fn tool_list<'t>(tools: impl Iterator<Item = &'t Tool>) -> String {
    format!("[{}]", tools.map(|tool| tool.text.as_str()).collect::<Vec<_>>().join(","))
}

/// Returns the rules for which `check` expects a refusal of the tools together, but of none of the tools alone.
pub(crate) fn refused_together(tools: &[&Tool], dialect: &'static Dialect) -> Vec<&'static str> {
    let mut together = refused(&tool_list(tools.iter().copied()), dialect);
    for rule in tools.iter().flat_map(|tool| &tool.rules) {
        if let Some(at) = together.iter().position(|found| found == rule) {
            together.remove(at);
        }
    }
    together.dedup();
    together
}

/// Returns a tool that every API accepts, to test the rest of a request.
pub(crate) fn plain_tool(dialect: &'static Dialect) -> String {
    const PLAIN: &str = r#"[{"name": "ping", "description": "Asks whether a host answers.", "inputSchema": {
        "type": "object",
        "properties": {"host": {"type": "string", "description": "Its name."}},
        "required": ["host"]
    }}]"#;
    let list = json::read(PLAIN).unwrap_or_default();
    let written = internal::sanitize_tools(list, &internal::tools_options(dialect.id()), false);
    let mut tools = written.map(|(tools, _)| tools).unwrap_or_default();
    // Gemini's tools are in a group that the body already contains.
    if let Some(inner) =
        tools.as_array_mut().and_then(|list| list.first_mut()?.visit("functionDeclarations", std::mem::take))
    {
        tools = inner;
    }
    json::write(&tools)
}

/// Maximum length of a DNS name.
const MAX_NAME_LENGTH: usize = 253;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    is_encrypted: bool,
    /// The host in lower case. An IPv6 address is in brackets.
    host: String,
    /// The port; `None` for the scheme's default port.
    port: Option<u16>,
    /// The path, without a trailing `/`.
    path: String,
    query: Option<String>,
}

impl Address {
    /// Reads a URL. Errors never quote it, because it may contain a secret.
    pub(crate) fn read(text: &str) -> Result<Address, &'static str> {
        let (is_encrypted, rest) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => return Err("expected an address with `https://` or `http://`, found something else"),
        };
        if !rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&()*+,;=:@/%?[]".contains(&byte)) {
            return Err(
                "expected an address of plain ASCII without `\\`, `#`, spaces and quotes, found other characters",
            );
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let (path, query) = match behind.split_once('?') {
            Some((path, query)) => (path, Some(query.to_string()).filter(|query| !query.is_empty())),
            None => (behind, None),
        };
        if path.split('/').any(is_dots) || behind.contains(['[', ']']) {
            return Err("expected a path without `.`, `..` and brackets, found one of them");
        }
        let (host, port) = host_and_port(authority)?;
        let usual = if is_encrypted { 443 } else { 80 };
        let path = path.trim_end_matches('/').to_string();
        Ok(Address { is_encrypted, host, port: port.filter(|port| *port != usual), path, query })
    }

    pub(crate) fn host(&self) -> String {
        match self.port {
            Some(port) => format!("{}:{port}", self.host),
            None => self.host.clone(),
        }
    }

    pub(crate) fn public_host(&self) -> Option<&str> {
        self.port.is_none().then_some(self.host.as_str())
    }

    pub(crate) fn below(&self, path: &str) -> String {
        let scheme = if self.is_encrypted { "https" } else { "http" };
        let query = self.query.as_deref().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{scheme}://{}{}{path}{query}", self.host(), self.path)
    }

    /// Returns true if the URL has a query, which may be secret.
    pub(crate) fn has_query(&self) -> bool {
        self.query.is_some()
    }

    /// Returns true if a key may be sent: over HTTPS, or to a loopback address.
    pub(crate) fn keeps_secrets(&self) -> bool {
        let six = || self.host.strip_prefix('[')?.strip_suffix(']')?.parse::<Ipv6Addr>().ok();
        self.is_encrypted
            || self.host == "localhost"
            || self.host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
            || six().is_some_and(|address| address.is_loopback())
    }
}

fn is_dots(segment: &str) -> bool {
    matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..")
}

fn host_and_port(authority: &str) -> Result<(String, Option<u16>), &'static str> {
    const HOST: &str = "expected an address with a valid host and without a user, found an invalid host or a user";
    let (host, port) = match authority.strip_prefix('[') {
        Some(inside) => {
            let (inside, behind) = inside.split_once(']').ok_or(HOST)?;
            let address: Ipv6Addr = inside.parse().map_err(|_| HOST)?;
            (format!("[{address}]"), behind.strip_prefix(':').or(behind.is_empty().then_some("")).ok_or(HOST)?)
        }
        None => {
            let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
            (host.to_ascii_lowercase(), port)
        }
    };
    if !host.starts_with('[') && !is_host_name(&host) {
        return Err(HOST);
    }
    let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    match port.parse::<u16>() {
        _ if authority.ends_with(':') => Err(HOST),
        Ok(number) if is_number && number > 0 => Ok((host, Some(number))),
        Err(_) if port.is_empty() => Ok((host, None)),
        _ => Err("expected a port from 1 to 65535, found something else"),
    }
}

/// Returns true for a DNS name, or an IPv4 address in dotted-decimal form. Some parsers read `0x7f.1` as an IPv4
/// address.
fn is_host_name(host: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let last = host.rsplit('.').next().unwrap_or_default();
    let digits = last.strip_prefix("0x").unwrap_or(last);
    let base = if last.len() == digits.len() { 10 } else { 16 };
    let is_numeric = digits.chars().all(|digit| digit.is_digit(base));
    host.len() <= MAX_NAME_LENGTH && host.split('.').all(is_label) && (!is_numeric || host.parse::<Ipv4Addr>().is_ok())
}

/// Compares a host with a pattern: `*` matches one label, `{region}` matches a label that names an AWS region.
fn matches(pattern: &str, host: &str) -> bool {
    let (mut wanted, mut found) = (pattern.split('.'), host.split('.'));
    loop {
        match (wanted.next(), found.next()) {
            (None, None) => return true,
            (Some("*"), Some(_)) => {}
            (Some("{region}"), Some(label)) if is_region(label) => {}
            (Some(one), Some(other)) if one == other => {}
            _ => return false,
        }
    }
}

/// An AWS region is `eu-central-1` or `us-gov-west-1`. `s3` and `s3-us-west-2` are excluded, because an S3 bucket may
/// be named `bedrock-runtime`.
fn is_region(label: &str) -> bool {
    let parts: Vec<&str> = label.split('-').collect();
    let is_word = |part: &&str| part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_lowercase());
    match parts.as_slice() {
        [area, between @ .., number] => {
            area.len() == 2
                && is_word(area)
                && !between.is_empty()
                && between.iter().all(is_word)
                && !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{matches, Address};

    #[test]
    fn ambiguous_addresses_are_refused() {
        for text in [
            "http://evil\\x.amazonaws.com",
            "https://evil\\@api.openai.com",
            "https://evil.test#.openai.azure.com",
            "https://user@api.openai.com",
            "https://api.openai.com:pass@evil.test",
            "https://api.openai.com%2eevil.test",
            "https://api.openai.com\u{ff0e}evil.test",
            "https://ev\til.test",
            "https://evil.test\n",
            "https://evil.test /v1",
            "https://\u{ad}api.openai.com",
            "https://[::1",
            "https://[fe80::1%25eth0]",
            "https://[::1]x",
            "https://127.1",
            "https://0x7f.0.0.1",
            "https://127.0.0.0x1",
            "https://2130706433",
            "https://1.2.3.4.5",
            "https://01.2.3.4",
            "https://api.openai.com.",
            "https://.openai.azure.com",
            "https://a..b",
            "https://",
            "https:///v1",
            "https://?a",
            "https://a:",
            "https://a:0",
            "https://a:65536",
            "https://a:+1",
            "https://a:1:2",
            "https://a/../v1",
            "https://a/%2E%2e/v1",
            "https://a/./v1",
            "HTTPS://a",
            "https:/a",
            "https:a",
            "ftp://a",
            "//a",
        ] {
            assert!(Address::read(text).is_err(), "{text}");
        }
        for (text, host, written) in [
            ("https://API.openai.com/v1/", "api.openai.com", "https://api.openai.com/v1/x"),
            ("https://a.test:443", "a.test", "https://a.test/x"),
            ("http://a.test:80?b=c", "a.test", "http://a.test/x?b=c"),
            ("http://a_b.test:8000/v1?", "a_b.test:8000", "http://a_b.test:8000/v1/x"),
            ("http://[0:0::1]:8000/v1", "[::1]:8000", "http://[::1]:8000/v1/x"),
            ("http://10.0.0.1/@a:b", "10.0.0.1", "http://10.0.0.1/@a:b/x"),
        ] {
            let read = Address::read(text).map(|address| (address.host(), address.below("/x")));
            assert_eq!(read, Ok((host.into(), written.into())), "{text}");
        }
    }

    #[test]
    fn only_loopback_addresses_are_safe_without_tls() {
        let keeps = |text: &str| Address::read(text).map(|address| address.keeps_secrets());
        for text in ["https://a.test", "http://localhost:1", "http://127.8.9.1", "http://[::1]:1"] {
            assert_eq!(keeps(text), Ok(true), "{text}");
        }
        for text in
            ["http://a.test", "http://localhost.a.test", "http://128.0.0.1", "http://[::2]", "http://127.0.0.1.test"]
        {
            assert_eq!(keeps(text), Ok(false), "{text}");
        }
    }

    #[test]
    fn patterns_match_only_their_hosts() {
        let bedrock = "bedrock-runtime.{region}.amazonaws.com";
        for (pattern, host, expected) in [
            (bedrock, "bedrock-runtime.eu-central-1.amazonaws.com", true),
            (bedrock, "bedrock-runtime.us-gov-west-1.amazonaws.com", true),
            (bedrock, "bedrock-runtime.s3.amazonaws.com", false),
            (bedrock, "bedrock-runtime.s3-us-west-2.amazonaws.com", false),
            (bedrock, "bedrock-runtime.a.us-east-1.amazonaws.com", false),
            (bedrock, "evil.us-east-1.amazonaws.com", false),
            (bedrock, "bedrock-runtime.us-east-1.amazonaws.com.evil.test", false),
            ("*.openai.azure.com", "acme.openai.azure.com", true),
            ("*.openai.azure.com", "a.b.openai.azure.com", false),
            ("*.openai.azure.com", "openai.azure.com", false),
            ("api.openai.com", "xapi.openai.com", false),
        ] {
            assert_eq!(matches(pattern, host), expected, "{host}");
        }
    }
}
