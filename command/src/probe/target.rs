//! The target of requests, with the key and the form of the body: an endpoint of the table, or a server of the user.

use toolwire::json::{self, Data, Node};

use super::{
    address::{matches, Address},
    endpoints::{Endpoint, Gateway, ELSEWHERE, GATEWAYS},
    redact::Private,
};
use crate::{
    arguments::ProbeArguments,
    error::CommandError,
    indent::indented,
    need::{Key, Request},
    servers::{header, is_name},
    terminal::shown_lines,
};

/// Target of requests.
#[derive(Debug)]
pub(crate) struct Target {
    url: String,
    /// The host for display, without user and query.
    pub(crate) host: String,
    headers: Vec<(String, String)>,
    /// Number of headers that come from the table; the others may be secret.
    own: usize,
    /// Environment variables that may contain the key. `key` is the header and the text before the key.
    pub(crate) variables: Vec<String>,
    key: (&'static str, &'static str),
    body: &'static str,
    /// Member that declares all tools strict.
    strict: Option<&'static str>,
    pub(crate) known: Known,
}

/// Owner of the server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known {
    /// The API's own server, the same for all users.
    Api,
    /// The API's own server, with a host name for each user.
    Tenant(&'static str),
    Gateway(&'static Gateway),
    /// Unknown.
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
                return Err(fault(&format!("expected an address, as {}, found none", endpoint.example)));
            }
        };
        let address = Address::read(base).map_err(fault)?;
        let host = address.host();
        let path = endpoint.path.replace("{model}", &encoded(&arguments.model));
        let own = endpoint.headers.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string()));
        let mut headers: Vec<(String, String)> = [("content-type".to_string(), "application/json".to_string())].into();
        headers.extend(own);
        let own = headers.len();
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
        Ok(Target { url, host, headers, own, variables, key, body: endpoint.wire.body, strict, known })
    }

    /// Returns the private strings that an answer may repeat.
    pub(crate) fn private(&self) -> Private {
        let mut texts = Vec::new();
        for (_, value) in self.headers.iter().skip(self.own) {
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

    /// Returns the request with these tools.
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

    /// Renders a request for display: without the key, the values of other headers, and the query of the URL.
    pub(crate) fn shown(&self, request: &Request) -> String {
        let url = request.url.split_once('?').map_or(request.url.clone(), |(before, _)| format!("{before}?…"));
        let mut out = format!("POST {url}\n");
        for (at, (name, value)) in request.headers.iter().enumerate() {
            out.push_str(&format!("{name}: {}\n", if at < self.own { value.as_str() } else { "…" }));
        }
        if let Some(Key { variable, header, before }) = &request.key {
            out.push_str(&format!("{header}: {before}${variable}\n"));
        }
        let out = out + "\n" + &indented(&request.body);
        shown_lines(&out).into_owned()
    }
}

fn known(host: &str, endpoint: &'static Endpoint) -> Known {
    for own in endpoint.hosts {
        match *own {
            own if own == host => return Known::Api,
            own if matches(own, host) => return Known::Tenant(own),
            _ => {}
        }
    }
    GATEWAYS.iter().find(|gateway| gateway.host == host).map_or(Known::Elsewhere, Known::Gateway)
}

impl Known {
    /// Returns the name of the server in rows of evidence.
    pub(crate) fn surface(self, endpoint: &Endpoint) -> &'static str {
        match self {
            Known::Gateway(gateway) => gateway.surface,
            // A self-hosted API has its own surface; a server that replaces a hosted API is another surface.
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

/// Percent-encodes a part of a path.
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
