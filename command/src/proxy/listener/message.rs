//! Client messages received over HTTP, and the responses to refused ones.

use std::collections::BTreeMap;

use toolwire::internal::json::{self, Node};

use crate::{
    http::headers::{self, Headers},
    proxy::{
        message::{self, ambiguous, Outline, INVALID_REQUEST, PARSE_ERROR},
        mirrored::{self, decoded, NAMED},
        versions::{HEADER_MISMATCH, VERSION},
        CANCELLED, TOOLS_CALL,
    },
    terminal::cut,
};

#[derive(Debug)]
pub(super) struct Rejection {
    pub(super) status: u16,
    code: i32,
    why: String,
    /// Id of the message, as JSON text.
    id: String,
}

impl Rejection {
    pub(super) fn new(status: u16, code: i32, why: &str) -> Rejection {
        Rejection { status, code, why: why.into(), id: "null".into() }
    }

    pub(super) fn for_message(mut self, received: &Received) -> Rejection {
        if let Received::Request { id, .. } = received {
            self.id.clone_from(id);
        }
        self
    }

    pub(super) fn body(&self) -> String {
        message::error(&self.id, self.code, &self.why)
    }
}

#[derive(Debug)]
pub(super) enum Received {
    Request {
        /// The id as JSON text, and its key.
        id: String,
        key: String,
        method: String,
        /// Only requests since 2026-07-28 state a version.
        version: Option<String>,
        /// Progress token as JSON text.
        token: Option<String>,
        text: String,
    },
    Notification {
        /// Key of the request that the notification cancels.
        cancels: Option<String>,
    },
    Response,
}

impl Received {
    pub(super) fn read(body: &[u8]) -> Result<Received, Rejection> {
        let text = std::str::from_utf8(body);
        let text = text.map_err(|_| Rejection::new(400, PARSE_ERROR, "expected UTF-8, found other bytes"))?;
        let invalid = |why: &str| Rejection::new(400, INVALID_REQUEST, why);
        let outline = Outline::read(body).filter(|outline| outline.method.is_some() || outline.answers);
        let Some(Outline { id, method, answers }) = outline else {
            return Err(match json::read(text) {
                Err(error) => {
                    Rejection::new(400, PARSE_ERROR, &format!("expected a message as JSON: {}", error.message()))
                }
                Ok(_) => invalid("expected one JSON-RPC message, found something else"),
            });
        };
        if let Some(name) = ambiguous(body) {
            let why = format!(
                "expected each member once, in the exact spelling; found `{}` repeated or misspelled",
                cut(&name, 40)
            );
            return Err(invalid(&why));
        }
        // If the message is nested too deeply for the reader, its token and its cancellation are ignored.
        let parsed = json::read(text).unwrap_or_default();
        let param = |path: &[&str]| {
            let path: Vec<&str> = ["params"].iter().chain(path).copied().collect();
            message::at(&parsed, &path).cloned()
        };
        match (id, method) {
            (Some(id), _) if id == "null" => Err(invalid("expected an id, found null")),
            (_, None) if answers => Ok(Received::Response),
            (Some(id), Some(method)) => Ok(Received::Request {
                key: message::key_of(&id),
                version: param(&["_meta", VERSION]).and_then(|version| Some(version.as_text()?.display().into_owned())),
                token: param(&["_meta", "progressToken"]).map(|token| json::write(&token)),
                id,
                method,
                text: text.into(),
            }),
            (None, Some(method)) => {
                let cancels = param(&["requestId"]).filter(|_| method == CANCELLED);
                Ok(Received::Notification { cancels: cancels.map(|id| json::canonical(&id)) })
            }
            (_, None) => Err(invalid("expected a JSON-RPC message, found something else")),
        }
    }

    /// Intermediaries route a request by its headers, so the headers must match the request.
    pub(super) fn require_headers(&self, headers: &Headers, version: &str) -> Result<(), Rejection> {
        let Received::Request { method, text, .. } = self else { return Ok(()) };
        let parsed = json::read(text).unwrap_or_default();
        let named = NAMED.iter().find(|(named_method, _)| named_method == method);
        let name = match named {
            Some((_, parameter)) => message::text_at(&parsed, &["params", parameter]),
            // Methods of MCP extensions have names in other parameters.
            None => headers::value(headers, mirrored::NAME).and_then(|value| decoded(&value)).filter(|name| {
                let params = parsed.object_at("params");
                params.is_some_and(|params| {
                    params
                        .iter()
                        .any(|member| member.value.as_text().is_some_and(|text| text.display() == name.as_str()))
                })
            }),
        };
        let expected =
            [(mirrored::VERSION, Some(version)), (mirrored::METHOD, Some(method)), (mirrored::NAME, name.as_deref())];
        for (header, value) in expected {
            let found = headers::value(headers, header).filter(|_| headers::count(headers, header) == 1);
            let is_same = match value {
                Some(value) => found.and_then(|found| decoded(&found)).as_deref() == Some(value),
                None => headers::count(headers, header) == 0,
            };
            if !is_same {
                let why = format!("expected the header `{header}` to match the message, found another value or none");
                return Err(Rejection::new(400, HEADER_MISMATCH, &why).for_message(self));
            }
        }
        Ok(())
    }

    /// The headers must repeat the arguments that the schema of a tool marks. `header_schemas` are the schemas, as JSON
    /// text, by the names of their tools.
    pub(super) fn require_parameters(
        &self,
        headers: &Headers,
        header_schemas: &BTreeMap<String, String>,
    ) -> Result<(), Rejection> {
        let Received::Request { method, text, .. } = self else { return Ok(()) };
        if method != TOOLS_CALL || header_schemas.is_empty() {
            return Ok(());
        }
        let parsed = json::read(text).unwrap_or_default();
        let name = message::text_at(&parsed, &["params", "name"]).unwrap_or_default();
        let Some(schema) = header_schemas.get(&name).and_then(|schema| json::read(schema).ok()) else { return Ok(()) };
        let arguments = message::at(&parsed, &["params", "arguments"]).cloned().unwrap_or_default();
        for (header, value) in mirrored::parameters(&schema, &arguments) {
            let found = headers::value(headers, &header).filter(|_| headers::count(headers, &header) == 1);
            if !found.is_some_and(|found| mirrored::is_same(&found, &value)) {
                let why = format!("expected the header `{header}` to match the argument, found another value or none");
                return Err(Rejection::new(400, HEADER_MISMATCH, &why).for_message(self));
            }
        }
        Ok(())
    }

    /// Returns the request with the id `number`. The number also replaces the progress token of the request.
    pub(super) fn with_id(&self, number: u64) -> Option<String> {
        let Received::Request { text, .. } = self else { return None };
        let mut parsed = json::read(text).ok()?;
        parsed.set("id", Node::count(number));
        let meta =
            parsed.as_object_mut()?.get_mut("params").and_then(|params| params.as_object_mut()?.get_mut("_meta"));
        if let Some(meta) = meta.filter(|meta| meta.get("progressToken").is_some()) {
            meta.set("progressToken", Node::count(number));
        }
        Some(json::write(&parsed))
    }
}
