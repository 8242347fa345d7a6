//! Sockets and timers of `toolwire relay`. `toolwire_command::Relay` decides the upstream of each request, and the
//! reply for the client.

mod body;
mod client;
mod exchange;
mod reload;
mod upstream;

use std::{
    io::Write as _,
    sync::{
        atomic::{AtomicBool, Ordering},
        Arc, Mutex, PoisonError,
    },
    time::Duration,
};

use hyper::{body::Incoming, Request, Response};
use tokio::{
    runtime::{Builder, Runtime},
    sync::Semaphore,
};
use toolwire::internal::json::{self, Node};
use toolwire_command::Relay;

use self::{body::Sent, client::Client as Started, upstream::Address};
use crate::{
    http::{
        client::Clients,
        connection::Limits,
        server::{token_of, Client, Listening, Service},
    },
    logs::{Log, Report},
    signals::{ForwardedSignals, Signals},
    streams,
};

/// Time limit for open requests after the relay is asked to stop.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time limit for the end of requests that are still open after [`PATIENCE`].
const LAST_LINES: Duration = Duration::from_secs(1);

pub(crate) struct Host {
    current: Mutex<Arc<Current>>,
    clients: Clients<Sent>,
    /// Maximum silence of a client or an upstream.
    timeout: Duration,
    log: Log,
    report: Report,
    /// True after the first request.
    is_used: AtomicBool,
    /// Bounds the number of large bodies that are rewritten at the same time.
    work: Arc<Semaphore>,
}

/// The part of a relay that changes with the configuration file. A request keeps the settings with which it began.
pub(crate) struct Current {
    relay: Relay,
    upstreams: Vec<Address>,
}

impl Host {
    fn current(&self) -> Arc<Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Applies new settings to new requests, except for the address to listen on and the timeout.
    fn change(&self, text: &str) -> Result<(), String> {
        let settings = Settings::read(&json::read(text).unwrap_or_default());
        let token = token_of(settings.token.as_deref())?;
        let relay = self.current().relay.with_settings(text, token.as_deref())?;
        let current = Arc::new(Current { relay, upstreams: settings.upstreams });
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = current;
        Ok(())
    }
}

struct Settings {
    listen: (String, u16),
    token: Option<String>,
    upstreams: Vec<Address>,
    most_clients: usize,
    timeout: Duration,
    report: Option<String>,
    /// Configuration file that is read again when it changes.
    config: Option<String>,
    verbose: bool,
    client: Option<Started>,
}

impl Settings {
    fn read(settings: &Node<'_>) -> Settings {
        let text = |node: &Node<'_>, key: &str| node.text_at(key).map(|text| text.display().into_owned());
        let port = |node: &Node<'_>| node.u64_at("port").and_then(|port| u16::try_from(port).ok()).unwrap_or_default();
        let upstream = |node: &Node<'_>| Address {
            is_encrypted: node.bool_at("encrypted").unwrap_or_default(),
            host: text(node, "host").unwrap_or_default(),
            port: port(node),
        };
        let listen = settings.get("listen");
        let most_clients = settings.u64_at("mostClients").and_then(|most| usize::try_from(most).ok());
        Settings {
            listen: (listen.and_then(|node| text(node, "host")).unwrap_or_default(), listen.map_or(0, port)),
            token: text(settings, "token"),
            upstreams: settings.items_at("upstreams").iter().map(upstream).collect(),
            most_clients: most_clients.unwrap_or(1),
            timeout: Duration::from_secs(settings.u64_at("timeout").unwrap_or(1)),
            report: text(settings, "report"),
            config: text(settings, "config"),
            verbose: settings.bool_at("verbose").unwrap_or_default(),
            client: Started::read(settings),
        }
    }
}

/// Reads the settings of the command line again from its current files. Fails with messages about the files.
type Again = fn() -> Result<String, String>;

/// Serves clients until a signal arrives, or until the client that it has started ends. Returns the exit code.
pub(crate) fn run(text: &str, again: Again) -> Result<u8, String> {
    let settings = Settings::read(&json::read(text).unwrap_or_default());
    let token = token_of(settings.token.as_deref())?;
    // The client has the terminal.
    let is_quiet = settings.client.is_some() && !settings.verbose;
    let log = if is_quiet { Log::deferred() } else { Log::new() };
    let current = Current { relay: Relay::new(text, token.as_deref()), upstreams: settings.upstreams };
    let host = Host {
        current: Mutex::new(Arc::new(current)),
        clients: Clients::new(settings.timeout),
        timeout: settings.timeout,
        report: Report::open(settings.report.as_deref())?,
        log,
        is_used: AtomicBool::new(false),
        work: Arc::new(Semaphore::new(std::thread::available_parallelism().map_or(1, usize::from))),
    };
    let runtime = runtime()?;
    let host = Arc::new(host);
    let ended = runtime.block_on(async {
        let mut signals = Signals::begin();
        // Begins early, so that no signal between the start of the client and this is lost.
        let forwarded = settings.client.as_ref().map(|_| ForwardedSignals::begin());
        let (address, port) = &settings.listen;
        let listening = tokio::select! {
            // A name may have to be resolved.
            listening = Listening::begin(address, *port, 4 * settings.most_clients) => listening?,
            code = signals.next() => return Ok(code),
        };
        if !is_quiet {
            host.log.line(&host.current().relay.started(&listening.address));
        }
        if let Some(path) = settings.config {
            tokio::spawn(reload::watch(host.clone(), path, text.to_string(), again));
        }
        let limits = Limits::new(host.timeout);
        let Some((client, forwarded)) = settings.client.as_ref().zip(forwarded) else {
            return Ok(listening.serve(host.clone(), limits, signals.first(), PATIENCE).await);
        };
        if let Some(note) = &client.note {
            print_note(note);
        }
        let started = match client.start(&listening.address) {
            Ok(started) => started,
            Err((code, why)) => {
                print_note(&why);
                return Ok(code);
            }
        };
        let ended = async {
            let code = client::ended(started, forwarded).await;
            // From now on, a signal ends this program.
            drop(signals);
            code
        };
        let code = listening.serve(host.clone(), limits, ended, LAST_LINES).await;
        if is_quiet && !host.is_used.load(Ordering::Relaxed) {
            host.log.line("toolwire: run: the client has sent no request to the relay");
        }
        Ok(code)
    });
    // Requests that are still open write their lines when they are dropped. Threads that resolve names may take longer.
    runtime.shutdown_timeout(LAST_LINES);
    host.log.flush();
    host.log.write_kept();
    ended
}

fn print_note(message: &str) {
    // Standard error is the only way to report an error.
    let _ = writeln!(streams::stderr(), "toolwire: run: {message}");
}

fn runtime() -> Result<Runtime, String> {
    Builder::new_multi_thread().enable_all().build().map_err(|error| crate::system::code(&error))
}

impl Service for Host {
    type Reply = body::Reply;

    async fn answer(self: Arc<Self>, request: Request<Incoming>, client: Client) -> Option<Response<body::Reply>> {
        self.is_used.store(true, Ordering::Relaxed);
        exchange::answer(self, request, client).await
    }
}
