//! Processes, streams and timers of `toolwire proxy`. `toolwire_command::Proxy` decides what happens to each message.
//!
//! A client is a pair of channels: standard input and output, or a session of `--listen`.

use std::{
    future::Future,
    io::{self, Read as _, Write as _},
    pin::pin,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use tokio::{
    runtime::Builder,
    sync::{
        mpsc::{channel, unbounded_channel, Receiver, Sender, UnboundedReceiver, UnboundedSender},
        watch,
    },
    time::{sleep, sleep_until, Instant},
};
use toolwire::internal::json;
use toolwire_command::{Command, Effect, Proxy, Secrets, Server};

use crate::{
    logs::{Log, Report, MAX_LOG},
    mcp::{
        lines::{Line, Lines},
        process::unstarted,
        secrets, Event, Link, MAX_MESSAGE,
    },
    signals, streams,
    system::code,
};

/// Time limit for open requests after the client has closed its end. It allows for servers that are still starting.
const LAST_ANSWERS: Duration = Duration::from_secs(10);
/// Time limit for writing the last messages.
const LAST_WRITES: Duration = Duration::from_secs(1);
/// Number of messages that wait for a reader.
const WAITING: usize = 4;
/// Size of a read, in bytes.
const PIECE: usize = 1 << 16;

/// Serves standard input and output until the client closes its end. Returns an exit code if a signal arrives before
/// that.
pub(crate) fn run(settings: &str) -> Result<Option<u8>, String> {
    let parsed = json::read(settings).unwrap_or_default();
    let report = Arc::new(Report::in_settings(&parsed)?);
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| code(&error))?;
    let log = Arc::new(Log::new());
    let (output, writer) = stdout();
    let ended = runtime.block_on(async {
        // Until the servers have ended, a signal must not end the program without them.
        let mut ended = pin!(signals::ended());
        serve(settings, (stdin(), output), (log.clone(), report), ended.as_mut()).await
    });
    // Dropping the runtime would wait for the threads that resolve host names.
    runtime.shutdown_background();
    wait_for_writer(&writer);
    log.flush();
    ended
}

/// Serves a client until it closes its end, or until `ended` returns an exit code. Returns this exit code, after the
/// servers have ended.
pub(crate) async fn serve(
    settings: &str,
    (client, output): (Receiver<Incoming>, Sender<Vec<u8>>),
    (log, report): (Arc<Log>, Arc<Report>),
    ended: impl Future<Output = u8>,
) -> Result<Option<u8>, String> {
    let (sender, events) = channel(WAITING);
    let (timers, alarms) = unbounded_channel();
    let servers: Vec<(String, Server)> = Server::in_settings(settings);
    let mut host = Host {
        proxy: Proxy::new(settings),
        links: servers.iter().map(|_| None).collect(),
        secrets: servers.iter().map(|(_, server)| secrets(server)).collect(),
        log_lines: servers.iter().map(|_| Lines::new(MAX_LOG)).collect(),
        servers,
        sender,
        timers,
        output,
        log,
        report,
    };
    let mut inbox = Inbox { client, events, alarms };
    let mut ended = pin!(ended);
    let mut result = tokio::select! {
        biased;
        code = &mut ended => Ok(Some(code)),
        result = host.serve(&mut inbox) => result.map(|()| None),
    };
    let mut is_signalled = matches!(result, Ok(Some(_)));
    let (signal, signalled) = watch::channel(is_signalled);
    let close = |mut link: Link| {
        let mut signalled = signalled.clone();
        async move {
            let is_signalled = tokio::select! {
                biased;
                _ = signalled.wait_for(|signalled| *signalled) => true,
                () = link.close() => false,
            };
            if is_signalled {
                link.terminate().await;
            }
        }
    };
    let ends: Vec<_> = host.links.drain(..).flatten().map(|link| tokio::spawn(close(link))).collect();
    // The servers must not wait for a reader while they end.
    drop(host);
    loop {
        tokio::select! {
            event = inbox.events.recv() => if event.is_none() { break },
            code = &mut ended, if !is_signalled => {
                is_signalled = true;
                result = Ok(Some(code));
                // Every link has a receiver.
                let _ = signal.send(true);
            }
        }
    }
    for end in ends {
        let _ = end.await;
    }
    result
}

struct Inbox {
    client: Receiver<Incoming>,
    events: Receiver<(usize, Event)>,
    alarms: UnboundedReceiver<Timer>,
}

pub(crate) enum Incoming {
    Line(Line),
    Failed(String),
}

#[derive(Clone, Copy)]
enum Timer {
    Start(usize),
    Alarm(u64),
}

struct Host {
    proxy: Proxy,
    servers: Vec<(String, Server)>,
    links: Vec<Option<Link>>,
    secrets: Vec<Secrets>,
    /// Standard error of the servers.
    log_lines: Vec<Lines>,
    sender: Sender<(usize, Event)>,
    timers: UnboundedSender<Timer>,
    output: Sender<Vec<u8>>,
    log: Arc<Log>,
    report: Arc<Report>,
}

/// The client no longer reads.
struct Gone;

impl Host {
    async fn serve(&mut self, inbox: &mut Inbox) -> Result<(), String> {
        for at in 0..self.servers.len() {
            if let Err(why) = self.start(at) {
                if let [(name, _)] = self.servers.as_slice() {
                    return Err(format!("{name}: {why}"));
                }
                let effects = self.proxy.ended(at, &why);
                if self.carry_out(effects, &[]).await.is_err() {
                    return Ok(());
                }
            }
        }
        let mut failure = None;
        let mut end = None;
        loop {
            let is_over = end.is_some() && self.proxy.unanswered() == 0;
            if is_over || end.is_some_and(|end| Instant::now() >= end) {
                return failure.map_or(Ok(()), Err);
            }
            let limit = end.unwrap_or_else(|| Instant::now() + Duration::from_secs(3600));
            let done = tokio::select! {
                incoming = inbox.client.recv(), if end.is_none() => match incoming {
                    Some(Incoming::Line(Line::Text(message))) => {
                        let effects = self.proxy.client(&message);
                        self.carry_out(effects, &message).await
                    }
                    Some(Incoming::Line(Line::TooLong)) => {
                        let effects = self.proxy.too_long(MAX_MESSAGE);
                        self.carry_out(effects, &[]).await
                    }
                    found => {
                        if let Some(Incoming::Failed(why)) = found {
                            failure = Some(why);
                        }
                        end = Some(Instant::now() + LAST_ANSWERS);
                        Ok(())
                    }
                },
                Some((at, event)) = inbox.events.recv() => self.on_event(at, event).await,
                Some(timer) = inbox.alarms.recv() => self.on_timer(timer).await,
                () = sleep_until(limit) => Ok(()),
            };
            if done.is_err() {
                return Ok(());
            }
        }
    }

    fn start(&mut self, at: usize) -> Result<(), String> {
        let Some((_, server)) = self.servers.get(at) else { return Ok(()) };
        let link = Link::open(server, at, self.sender.clone(), None).map_err(|why| self.hide(at, &unstarted(&why)))?;
        if let Some(slot) = self.links.get_mut(at) {
            *slot = Some(link);
        }
        Ok(())
    }

    fn hide(&self, at: usize, text: &str) -> String {
        self.secrets.get(at).map_or_else(|| text.into(), |secrets| secrets.hide(text))
    }

    async fn on_event(&mut self, at: usize, event: Event) -> Result<(), Gone> {
        match event {
            Event::Message(message) => {
                let effects = self.proxy.server(at, &message);
                self.carry_out(effects, &message).await
            }
            Event::Undelivered(message, why) => {
                let effects = self.proxy.undelivered(at, &message, &self.hide(at, &why));
                self.carry_out(effects, &message).await
            }
            Event::Log(piece) => {
                let lines = self.log_lines.get_mut(at).map(|lines| lines.push(&piece)).unwrap_or_default();
                self.write_log(lines);
                Ok(())
            }
            Event::Ended(why) => {
                let last = self.log_lines.get_mut(at).and_then(Lines::end);
                self.write_log(last.into_iter().collect());
                if let Some(link) = self.links.get_mut(at) {
                    *link = None;
                }
                let effects = self.proxy.ended(at, &self.hide(at, &why));
                self.carry_out(effects, &[]).await
            }
        }
    }

    fn write_log(&self, lines: Vec<Line>) {
        for line in lines {
            if let Line::Text(line) = line {
                self.log.line(Command::escape_log(&String::from_utf8_lossy(&line)).trim_end());
            }
        }
    }

    async fn on_timer(&mut self, timer: Timer) -> Result<(), Gone> {
        let effects = match timer {
            Timer::Alarm(alarm) => self.proxy.alarm(alarm),
            Timer::Start(at) => match self.start(at) {
                Ok(()) => self.proxy.started(at),
                Err(why) => self.proxy.ended(at, &why),
            },
        };
        self.carry_out(effects, &[]).await
    }

    async fn carry_out(&mut self, effects: Vec<Effect>, message: &[u8]) -> Result<(), Gone> {
        let mut headers = Vec::new();
        for effect in effects {
            match effect {
                Effect::ToClient(text) => self.write(text.into_bytes()).await?,
                Effect::PassToClient => self.write(message.into()).await?,
                Effect::Headers(_, named) => headers = named,
                Effect::ToServer(at, text) => self.send(at, text.as_bytes(), &std::mem::take(&mut headers)),
                Effect::PassToServer(at) => self.send(at, message, &std::mem::take(&mut headers)),
                Effect::Stop(at) => {
                    if let Some(Some(link)) = self.links.get(at) {
                        link.stop();
                    }
                }
                Effect::Start(at, delay) => self.start_timer(delay, Timer::Start(at)),
                Effect::Alarm(alarm, delay) => self.start_timer(delay, Timer::Alarm(alarm)),
                Effect::Log(line) => self.log.line(&line),
                Effect::Report(line) => self.report.line(&line, &self.log),
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes a message to the client, and waits for the client. Meanwhile, nothing is read, so that memory stays
    /// bounded.
    async fn write(&self, message: Vec<u8>) -> Result<(), Gone> {
        self.output.send(message).await.map_err(|_| Gone)
    }

    fn send(&self, at: usize, message: &[u8], headers: &[(String, String)]) {
        if let Some(Some(link)) = self.links.get(at) {
            link.write(message, headers);
        }
    }

    fn start_timer(&self, delay: u64, timer: Timer) {
        let timers = self.timers.clone();
        tokio::spawn(async move {
            sleep(Duration::from_millis(delay)).await;
            // The host may have ended.
            let _ = timers.send(timer);
        });
    }
}

/// Reads standard input on a separate thread, because reading it cannot be interrupted.
fn stdin() -> Receiver<Incoming> {
    let (sender, receiver) = channel(WAITING);
    thread::spawn(move || {
        let (mut stdin, mut lines, mut piece) = (streams::stdin(), Lines::new(MAX_MESSAGE), vec![0; PIECE]);
        loop {
            let read = match stdin.read(&mut piece) {
                Ok(length) => piece.get(..length).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    let _ = sender.blocking_send(Incoming::Failed(code(&error)));
                    return;
                }
            };
            let found = if read.is_empty() { lines.end().into_iter().collect() } else { lines.push(read) };
            for line in found {
                if sender.blocking_send(Incoming::Line(line)).is_err() {
                    return;
                }
            }
            if read.is_empty() {
                return;
            }
        }
    });
    receiver
}

/// Writes to standard output on a separate thread. The channel closes if the client no longer reads.
fn stdout() -> (Sender<Vec<u8>>, JoinHandle<()>) {
    let (sender, mut receiver) = channel::<Vec<u8>>(WAITING);
    let writer = thread::spawn(move || {
        let mut stdout = streams::stdout();
        while let Some(mut message) = receiver.blocking_recv() {
            message.push(b'\n');
            if stdout.write_all(&message).and_then(|()| stdout.flush()).is_err() {
                return;
            }
        }
    });
    (sender, writer)
}

/// Waits for the end of the writer, but only for a limited time, because the client may have stopped reading.
fn wait_for_writer(writer: &JoinHandle<()>) {
    let end = std::time::Instant::now() + LAST_WRITES;
    while !writer.is_finished() && std::time::Instant::now() < end {
        thread::sleep(Duration::from_millis(1));
    }
}
