//! Lists the tools of a server, for `check`, `matrix` and `probe`.

use std::{pin::pin, time::Duration};

use tokio::{
    sync::mpsc::{channel, Receiver},
    time::{timeout, Instant},
};
use toolwire::internal::json::{self, Node};
use toolwire_command::{discovered, modern_params, Era, Server, Transport, DISCOVER, EVERY_PROGRAM};

use super::{process::unstarted, secrets, Event, Link};
use crate::{facts::record, signals};

/// Maximum number of pages, more than any server has, because cursors may form a cycle.
const PAGES: usize = 10_000;
/// Maximum number of tools, because the findings about each tool need kilobytes of memory.
const TOOLS: usize = 10_000;
/// Time limit for all pages, as a multiple of the limit for one answer, because endless pages must not take days.
const PATIENCE: u32 = 10;
/// Maximum size of the part of a server's standard error that is shown if the server fails, in bytes.
const LOG: usize = 16_384;
/// Maximum total size of the tools, and of the answers of a server at a URL, in bytes, after decompression. Objects
/// take a hundred times the memory of their text.
const MAX_ANSWERS: usize = 16 << 20;
const NO_LIST: &str = "expected an answer with a list in `tools`, found none";

pub(crate) enum Failure {
    /// A message, and the end of the server's standard error.
    Server { message: String, log: String },
    /// The exit code after a signal.
    Ended(u8),
}

/// Returns `{"tools": […]}`, with the tools of all pages, as the server has sent them.
pub(crate) async fn list(server: &Server) -> Result<Vec<u8>, Failure> {
    let mut server = server.clone();
    let hidden_values = secrets(&server);
    if let Transport::Process { inherited, .. } = &mut server.transport {
        inherited.splice(..0, EVERY_PROGRAM.map(String::from));
    }
    let mut log = LogEnd { bytes: Vec::new(), most: LOG + hidden_values.longest(), is_cut: false };
    let result = list_over_link(&server, &mut log).await.map_err(Failure::Ended)?;
    result.map(String::into_bytes).map_err(|why| {
        let text = String::from_utf8_lossy(&log.bytes);
        let safe = if log.is_cut { hidden_values.hide_end(&text) } else { hidden_values.hide(&text) };
        let from = (safe.len().saturating_sub(LOG)..=safe.len()).find(|at| safe.is_char_boundary(*at));
        Failure::Server {
            message: format!("the server did not list its tools: {}", hidden_values.hide(&why)),
            log: safe.get(from.unwrap_or_default()..).unwrap_or_default().into(),
        }
    })
}

struct LogEnd {
    bytes: Vec<u8>,
    most: usize,
    is_cut: bool,
}

impl LogEnd {
    fn push(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
        if self.bytes.len() > self.most {
            self.is_cut = true;
            self.bytes.drain(..self.bytes.len() - self.most);
        }
    }
}

/// Returns the tools as JSON, or why the server has failed. Fails if a signal ends the program.
async fn list_over_link(server: &Server, log: &mut LogEnd) -> Result<Result<String, String>, u8> {
    // Until the server has ended, a signal must not end the program without it.
    let mut ended = pin!(signals::ended());
    let (sender, events) = channel(4);
    let link = match Link::open(server, 0, sender, Some(MAX_ANSWERS)) {
        Ok(link) => link,
        Err(why) => return Ok(Err(unstarted(&why))),
    };
    let timeout = Duration::from_secs(server.timeout.into());
    let is_remote = matches!(server.transport, Transport::Remote { .. });
    let mut session = Session { link, events, log, last_id: 0, timeout, is_remote };
    let result = tokio::select! {
        result = session.tools() => Ok(result),
        code = &mut ended => Err(code),
    };
    let Session { mut link, mut events, log, .. } = session;
    // The server must not wait for a reader while it ends.
    let rest = async {
        while let Some((_, event)) = events.recv().await {
            if let Event::Log(piece) = event {
                log.push(&piece);
            }
        }
    };
    let mut code = result.as_ref().err().copied();
    let end = async {
        if code.is_none() {
            tokio::select! {
                () = link.close() => {}
                ended = &mut ended => code = Some(ended),
            }
        }
        if code.is_some() {
            link.terminate().await;
        }
        drop(link);
    };
    tokio::join!(end, rest);
    code.map_or(result, Err)
}

/// A connection to a server, with one open request at a time.
struct Session<'l> {
    link: Link,
    events: Receiver<(usize, Event)>,
    log: &'l mut LogEnd,
    last_id: u64,
    timeout: Duration,
    is_remote: bool,
}

enum Unanswered {
    /// The server has refused the request, or did not receive it.
    Refused(String),
    Failed(String),
}

impl Unanswered {
    fn reason(self) -> String {
        match self {
            Unanswered::Refused(why) | Unanswered::Failed(why) => why,
        }
    }
}

impl Session<'_> {
    async fn tools(&mut self) -> Result<String, String> {
        let era = self.open().await?;
        let end = Instant::now() + PATIENCE * self.timeout;
        let (mut tools, mut count, mut cursor) = (String::from("{\"tools\":["), 0, None::<String>);
        for _ in 0..PAGES {
            let parameters = match &cursor {
                None => record(std::iter::empty()),
                Some(cursor) => record([("cursor", json::read(cursor).unwrap_or_default())].into_iter()),
            };
            let page = self.ask(era, "tools/list", parameters, |result| {
                let list = result.array_at("tools")?;
                let next = result.get("nextCursor").filter(|next| !next.is_null() && !next.is_text(""));
                Some((list.iter().map(json::write).collect::<Vec<String>>(), next.map(json::write)))
            });
            let (page, next) = page.await.map_err(Unanswered::reason)?.ok_or(NO_LIST)?;
            count += page.len();
            if count > TOOLS {
                return Err(format!("expected at most {TOOLS} tools, found more"));
            }
            for tool in page {
                if !tools.ends_with('[') {
                    tools.push(',');
                }
                tools.push_str(&tool);
            }
            if tools.len() > MAX_ANSWERS {
                return Err(format!("expected at most {} MiB of tools, found more", MAX_ANSWERS >> 20));
            }
            // The last page should have no cursor, but some servers write `null` or an empty string.
            if next.is_none() {
                return Ok(tools + "]}");
            }
            cursor = next;
            if Instant::now() > end {
                let seconds = (PATIENCE * self.timeout).as_secs();
                return Err(format!("expected all pages in {seconds} s, found more"));
            }
        }
        Err(format!("expected at most {PAGES} pages, found more"))
    }

    /// Determines the era of the server: legacy MCP begins with `initialize`, and servers of modern MCP refuse it.
    async fn open(&mut self) -> Result<Era, String> {
        let parameters = record(
            [
                ("protocolVersion", Node::string(Era::Legacy.latest())),
                ("capabilities", record(std::iter::empty())),
                ("clientInfo", client_info()),
            ]
            .into_iter(),
        );
        let greeted = self.ask(Era::Legacy, "initialize", parameters, |result| {
            let version = result.text_at("protocolVersion").map(|version| version.display().into_owned());
            version.unwrap_or_default()
        });
        match greeted.await {
            Ok(version) if Era::of(&version) != Some(Era::Legacy) => {
                Err(format!("Server's protocol version is not supported: {version}"))
            }
            Ok(_) => {
                self.link.write(br#"{"method":"notifications/initialized","jsonrpc":"2.0"}"#, &[]);
                Ok(Era::Legacy)
            }
            Err(Unanswered::Refused(why)) => {
                let versions = self.ask(Era::Modern, DISCOVER, record(std::iter::empty()), |result| {
                    let names = result.items_at("supportedVersions").iter().filter_map(Node::as_text);
                    let names: Vec<String> = names.map(|name| name.display().into_owned()).collect();
                    discovered(result).map_or(Err(names), |_| Ok(()))
                });
                match versions.await {
                    Ok(Ok(())) => Ok(Era::Modern),
                    Ok(Err(names)) if !names.is_empty() => {
                        Err(format!("Server's protocol versions are not supported: {}", names.join(", ")))
                    }
                    _ => Err(why),
                }
            }
            Err(Unanswered::Failed(why)) => Err(why),
        }
    }

    async fn ask<T>(
        &mut self,
        era: Era,
        method: &str,
        parameters: Node<'_>,
        read: impl FnOnce(&Node<'_>) -> T,
    ) -> Result<T, Unanswered> {
        self.last_id += 1;
        let id = self.last_id;
        let modern_parameters = match era {
            Era::Legacy => None,
            Era::Modern => Some(modern_params(&json::write(&parameters), Some(&json::write(&client_info())), "{}")),
        };
        let parameters =
            modern_parameters.as_deref().map_or(parameters, |modern| json::read(modern).unwrap_or_default());
        let request = record(
            [
                ("method", Node::string(method)),
                ("params", parameters),
                ("jsonrpc", Node::string("2.0")),
                ("id", Node::count(id)),
            ]
            .into_iter(),
        );
        self.link.write(json::write(&request).as_bytes(), &[]);
        let seconds = self.timeout.as_secs();
        let answered = timeout(self.timeout, self.answer(id)).await;
        let late = |_| Unanswered::Failed(format!("expected an answer in {seconds} s, found none"));
        let answer = answered.map_err(late)??;
        let node = json::read(&answer).unwrap_or_default();
        match (node.get("result"), node.get("error")) {
            (Some(result), None) => Ok(read(result)),
            (_, Some(error)) => {
                let message = error.text_at("message").map(|message| message.display().into_owned());
                Err(Unanswered::Refused(message.unwrap_or_else(|| "the server has answered with an error".into())))
            }
            (None, None) => Err(Unanswered::Failed("expected an answer with a result, found none".into())),
        }
    }

    /// Waits for the answer to a request. Meanwhile, answers the server's own requests.
    async fn answer(&mut self, id: u64) -> Result<String, Unanswered> {
        loop {
            match self.events.recv().await {
                None => return Err(Unanswered::Failed("Connection closed".into())),
                // A program explains its end on standard error, so `why` is not shown.
                Some((_, Event::Ended(why))) if self.is_remote => return Err(Unanswered::Failed(why)),
                Some((_, Event::Ended(_))) => return Err(Unanswered::Failed("Connection closed".into())),
                Some((_, Event::Undelivered(message, why))) => {
                    // Some servers refuse notifications, or the answers to their own requests.
                    let message = std::str::from_utf8(&message).ok().and_then(|text| json::read(text).ok());
                    let is_request =
                        |message: Node<'_>| message.get("method").is_some() && message.u64_at("id") == Some(id);
                    if message.is_some_and(is_request) {
                        return Err(Unanswered::Refused(describe_unreachable(why)));
                    }
                }
                Some((_, Event::Log(piece))) => self.log.push(&piece),
                Some((_, Event::Message(message))) => {
                    // Lines that are no messages are ignored: some servers print to their output.
                    let Ok(text) = String::from_utf8(message) else { continue };
                    let text = text.strip_prefix('\u{feff}').map(String::from).unwrap_or(text);
                    let Ok(node) = json::read(&text) else { continue };
                    match (node.get("method"), node.get("id")) {
                        (Some(method), Some(request_id)) => {
                            let answer = if method.is_text("ping") {
                                ("result", record(std::iter::empty()))
                            } else {
                                let error = r#"{"code":-32601,"message":"Method not found"}"#;
                                ("error", json::read(error).unwrap_or_default())
                            };
                            let answer = [("jsonrpc", Node::string("2.0")), ("id", request_id.clone()), answer];
                            self.link.write(json::write(&record(answer.into_iter())).as_bytes(), &[]);
                        }
                        (None, Some(_)) if node.u64_at("id") == Some(id) => return Ok(text),
                        _ => {}
                    }
                }
            }
        }
    }
}

fn client_info() -> Node<'static> {
    record([("name", Node::string("toolwire")), ("version", Node::string(env!("CARGO_PKG_VERSION")))].into_iter())
}

/// Returns the error for a message that a server at a URL did not receive.
fn describe_unreachable(why: String) -> String {
    if why.starts_with('E') && why.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return format!("expected a server at that address, found none ({why})");
    }
    why
}
