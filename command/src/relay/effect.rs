//! What a relay receives from its host, and the actions that it returns.

use toolwire::internal::json::{self, Node};

use crate::{
    document::record,
    http::headers::{self, Headers},
};

/// Head of a client's request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestHead {
    /// The method.
    pub method: String,
    /// The target as in the request line.
    pub target: String,
    /// The pseudo-header `:authority` of HTTP/2, which has the function of `Host`.
    pub authority: Option<String>,
    /// The headers.
    pub headers: Headers,
    /// Time of the request, human-readable.
    pub time: String,
    /// True if the client runs on this machine.
    pub is_local: bool,
}

/// Head of a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplyHead {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: Headers,
}

/// Head of a request to an upstream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpstreamHead {
    /// Index of the upstream in the settings.
    pub upstream: usize,
    /// The method.
    pub method: String,
    /// The path and the query.
    pub target: String,
    /// The headers.
    pub headers: Headers,
}

/// Content encoding of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentEncoding {
    /// `gzip` and `x-gzip`.
    Gzip,
    /// `deflate`: the format zlib or, from some servers, raw deflate.
    Deflate,
    /// `br`.
    Brotli,
    /// `zstd`.
    Zstd,
}

impl ContentEncoding {
    /// Reads the name of a content encoding in lower case.
    pub fn read(name: &str) -> Option<ContentEncoding> {
        match name {
            "gzip" | "x-gzip" => Some(ContentEncoding::Gzip),
            "deflate" => Some(ContentEncoding::Deflate),
            "br" => Some(ContentEncoding::Brotli),
            "zstd" => Some(ContentEncoding::Zstd),
            _ => None,
        }
    }

    /// Returns the name of the content encoding in HTTP.
    pub fn as_str(self) -> &'static str {
        match self {
            ContentEncoding::Gzip => "gzip",
            ContentEncoding::Deflate => "deflate",
            ContentEncoding::Brotli => "br",
            ContentEncoding::Zstd => "zstd",
        }
    }
}

/// Options for reading a body to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Maximum length, compressed or not.
    pub most: u64,
    /// Encoding that the host decodes.
    pub encoding: Option<ContentEncoding>,
}

/// An action for the host, about one request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RelayEffect {
    /// Answers the client with this body, and closes the request.
    Answer(ReplyHead, String),
    /// Reads the client's body to its end, then calls [`RelayRequest::body`]. Calls [`RelayRequest::received`] after
    /// each piece. If the body is too long or cannot be decompressed, calls [`RelayRequest::unread`] instead.
    ///
    /// [`RelayRequest::body`]: super::RelayRequest::body
    /// [`RelayRequest::received`]: super::RelayRequest::received
    /// [`RelayRequest::unread`]: super::RelayRequest::unread
    Read(Reading),
    /// Sends the request to an upstream, with the client's body as it arrives. After the head of the reply,
    /// [`RelayRequest::reply`](super::RelayRequest::reply) is called.
    Forward(UpstreamHead),
    /// Same as [`RelayEffect::Forward`], with the body that the client sent, byte for byte.
    SendBody(UpstreamHead),
    /// Same as [`RelayEffect::Forward`], with this body.
    Send(UpstreamHead, String),
    /// Starts the reply to the client.
    Head(ReplyHead),
    /// Forwards the body of the reply as it arrives, byte for byte, and then closes the request.
    Through,
    /// Reads the body of the reply to its end, then calls [`RelayRequest::whole`](super::RelayRequest::whole). Calls
    /// [`RelayRequest::received`](super::RelayRequest::received) after each piece.
    Collect(Reading),
    /// Calls [`RelayRequest::piece`](super::RelayRequest::piece) with each piece of the decompressed body, and then
    /// [`RelayRequest::end`](super::RelayRequest::end).
    Feed(Option<ContentEncoding>),
    /// Writes a piece of the reply to the client.
    Write(Vec<u8>),
    /// Ends the reply, and closes the request.
    End,
    /// Aborts the client's connection, so that the client does not consider the partial reply complete.
    Abort,
    /// Writes a line to standard error.
    Log(String),
    /// Appends a line to the report file, if there is one.
    Report(String),
}

impl RelayEffect {
    /// Returns the effect as strings, for transcripts and the bindings: its kind, JSON or an empty string, and a
    /// string. A head is `{ status, headers }`, a head for an upstream is `{ upstream, method, target, headers }`, and
    /// a reading is `{ most, encoding }`. Each byte of a header's value is one character, and so is each byte of a
    /// piece that is not UTF-8.
    pub fn words(self) -> [String; 3] {
        let (kind, about, text) = match self {
            RelayEffect::Answer(head, body) => ("answer", head.document(), body),
            RelayEffect::Read(reading) => ("read", reading.document(), String::new()),
            RelayEffect::Forward(head) => ("forward", head.document(), String::new()),
            RelayEffect::SendBody(head) => ("send-body", head.document(), String::new()),
            RelayEffect::Send(head, body) => ("send", head.document(), body),
            RelayEffect::Head(head) => ("head", head.document(), String::new()),
            RelayEffect::Through => ("through", String::new(), String::new()),
            RelayEffect::Collect(reading) => ("collect", reading.document(), String::new()),
            RelayEffect::Feed(encoding) => ("feed", json::write(&record([encoding_member(encoding)])), String::new()),
            RelayEffect::Write(bytes) => ("write", String::new(), as_text(bytes)),
            RelayEffect::End => ("end", String::new(), String::new()),
            RelayEffect::Abort => ("abort", String::new(), String::new()),
            RelayEffect::Log(line) => ("log", String::new(), line),
            RelayEffect::Report(line) => ("report", String::new(), line),
        };
        [kind.into(), about, text]
    }
}

fn as_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| error.as_bytes().iter().copied().map(char::from).collect())
}

impl ReplyHead {
    fn document(&self) -> String {
        json::write(&headers::head(self.status, &self.headers))
    }
}

impl UpstreamHead {
    fn document(&self) -> String {
        json::write(&record([
            ("upstream", Node::count(self.upstream as u64)),
            ("method", Node::string(self.method.as_str())),
            ("target", Node::string(self.target.as_str())),
            ("headers", headers::list(&self.headers)),
        ]))
    }
}

impl Reading {
    fn document(self) -> String {
        json::write(&record([("most", Node::count(self.most)), encoding_member(self.encoding)]))
    }
}

fn encoding_member(encoding: Option<ContentEncoding>) -> (&'static str, Node<'static>) {
    ("encoding", encoding.map_or_else(Node::default, |encoding| Node::string(encoding.as_str())))
}
