//! A server that is a program, with messages on its standard input and output.

use std::{
    process::Stdio,
    sync::{
        atomic::{AtomicUsize, Ordering},
        Arc, Mutex, PoisonError,
    },
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, ChildStdin, Command},
    sync::{
        mpsc::{unbounded_channel, Sender, UnboundedReceiver, UnboundedSender},
        watch,
    },
    time::timeout,
};

#[cfg(windows)]
use super::lookup;
use super::{
    lines::{Line, Lines},
    Event, MAX_MESSAGE,
};
use crate::{descriptors, system::code};

/// Time limit for each step of stopping a server, and for the output of its remaining processes.
const PATIENCE: Duration = Duration::from_secs(1);
/// Size of a read, in bytes.
const PIECE: usize = 1 << 16;

pub(crate) struct Process {
    group: Arc<Group>,
    /// `None` after the input was closed.
    input: Option<UnboundedSender<Vec<u8>>>,
    /// Number of bytes that the server has not read.
    unread: Arc<AtomicUsize>,
    has_ended: watch::Receiver<bool>,
}

/// The process, and the processes that it has started.
struct Group {
    id: Option<u32>,
    /// The reason, if this program ends the server.
    why: Mutex<Option<String>>,
}

impl Process {
    pub(crate) fn start(
        command: &[String],
        folder: Option<&str>,
        variables: &[(String, String)],
        number: usize,
        events: Sender<(usize, Event)>,
    ) -> Result<Process, String> {
        let (name, arguments) = command.split_first().ok_or("ENOENT")?;
        #[cfg(windows)]
        let name = &lookup::program(name, folder, variables).unwrap_or_else(|| name.into());
        let mut command = Command::new(name);
        command.args(arguments).env_clear().envs(variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        set_process_group(&mut command);
        let mut child = command.spawn().map_err(|error| code(&error))?;
        descriptors::restore(child.id());
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("EPIPE".into());
        };
        let group = Arc::new(Group { id: child.id(), why: Mutex::new(None) });
        let unread = Arc::new(AtomicUsize::new(0));
        let (input, messages) = unbounded_channel();
        tokio::spawn(write(stdin, messages, unread.clone()));
        let reading = tokio::spawn(read(stdout, number, events.clone(), group.clone()));
        let logging = tokio::spawn(log(stderr, number, events.clone()));
        let (ended, has_ended) = watch::channel(false);
        let ended_group = group.clone();
        tokio::spawn(async move {
            let status = exit(child, &ended_group).await;
            // A process outside the group may keep the streams open.
            let aborts = [reading.abort_handle(), logging.abort_handle()];
            let rest = async {
                let _ = reading.await;
                let _ = logging.await;
            };
            let late = timeout(PATIENCE, rest).await.is_err();
            if late {
                aborts.iter().for_each(tokio::task::AbortHandle::abort);
            }
            let why = ended_group.why().clone().unwrap_or(status);
            // Fails only if the receiver is dropped, which ends the connection.
            let _ = events.send((number, Event::Ended(why))).await;
            let _ = ended.send(true);
        });
        Ok(Process { group, input: Some(input), unread, has_ended })
    }

    pub(crate) fn write(&self, message: &[u8]) {
        let Some(input) = &self.input else { return };
        let mut line = Vec::with_capacity(message.len() + 1);
        line.extend_from_slice(message);
        line.push(b'\n');
        // One message may have the maximum size, so it is not counted itself.
        let unread = self.unread.fetch_add(line.len(), Ordering::Relaxed);
        // The server may have ended, which another event reports.
        let _ = input.send(line);
        if unread > MAX_MESSAGE {
            self.stop(Some(format!("it has not read {MAX_MESSAGE} bytes")));
        }
    }

    pub(crate) fn stop(&self, why: Option<String>) {
        self.group.stop(why);
    }

    /// Closes the input of the server, then asks it to end, then ends it.
    pub(crate) async fn close(&mut self) {
        self.input = None;
        if !self.ends_in_time().await {
            self.terminate().await;
        }
    }

    pub(crate) async fn terminate(&mut self) {
        for signal in [Signal::Terminate, Signal::Kill] {
            self.group.send(signal);
            if self.ends_in_time().await {
                return;
            }
        }
    }

    async fn ends_in_time(&mut self) -> bool {
        timeout(PATIENCE, self.has_ended.wait_for(|ended| *ended)).await.is_ok()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !*self.has_ended.borrow() {
            self.group.send(Signal::Kill);
        }
    }
}

impl Group {
    fn why(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.why.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self, why: Option<String>) {
        let mut reason = self.why();
        if reason.is_none() {
            *reason = why;
        }
        self.send(Signal::Kill);
    }
}

/// Waits for the end of the program, and ends its remaining processes. Returns the reason of the end.
async fn exit(mut child: Child, group: &Group) -> String {
    let status = child.wait().await;
    // The group still exists if it has other processes. Otherwise its number is free, and the call fails.
    group.send(Signal::Kill);
    match status {
        Ok(status) => describe_status(status),
        Err(error) => code(&error),
    }
}

async fn write(mut stdin: ChildStdin, mut messages: UnboundedReceiver<Vec<u8>>, unread: Arc<AtomicUsize>) {
    while let Some(message) = messages.recv().await {
        let written = stdin.write_all(&message).await;
        unread.fetch_sub(message.len(), Ordering::Relaxed);
        if written.is_err() {
            // The server has ended, or has closed its input.
            return;
        }
    }
}

async fn read(stdout: impl AsyncRead + Unpin, number: usize, events: Sender<(usize, Event)>, group: Arc<Group>) {
    let mut lines = Lines::new(MAX_MESSAGE);
    let mut stdout = stdout;
    let mut piece = vec![0; PIECE];
    loop {
        let length = stdout.read(&mut piece).await.unwrap_or_default();
        let read = piece.get(..length).unwrap_or_default();
        let found = if length == 0 { lines.end().into_iter().collect() } else { lines.push(read) };
        for line in found {
            let sent = match line {
                Line::Text(message) => events.send((number, Event::Message(message))).await.is_ok(),
                Line::TooLong => {
                    group.stop(Some(format!("it wrote a message of more than {MAX_MESSAGE} bytes")));
                    true
                }
            };
            if !sent {
                return;
            }
        }
        if length == 0 {
            return;
        }
    }
}

async fn log(mut stderr: impl AsyncRead + Unpin, number: usize, events: Sender<(usize, Event)>) {
    let mut piece = vec![0; PIECE];
    loop {
        let length = stderr.read(&mut piece).await.unwrap_or_default();
        let Some(read) = piece.get(..length).filter(|read| !read.is_empty()) else { return };
        if events.send((number, Event::Log(read.into()))).await.is_err() {
            return;
        }
    }
}

#[derive(Clone, Copy)]
enum Signal {
    Terminate,
    Kill,
}

#[cfg(unix)]
fn set_process_group(command: &mut Command) {
    command.process_group(0);
}

#[cfg(unix)]
impl Group {
    fn send(&self, signal: Signal) {
        let id = self.id.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        let signal = match signal {
            Signal::Terminate => rustix::process::Signal::TERM,
            Signal::Kill => rustix::process::Signal::KILL,
        };
        if let Some(id) = id {
            // The processes may have ended.
            let _ = rustix::process::kill_process_group(id, signal);
        }
    }
}

#[cfg(unix)]
fn describe_status(status: std::process::ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    const NAMES: [(i32, &str); 10] = [
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (4, "SIGILL"),
        (6, "SIGABRT"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (13, "SIGPIPE"),
        (15, "SIGTERM"),
    ];
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => {
            let name = NAMES.iter().find(|(number, _)| *number == signal);
            name.map_or_else(|| format!("signal {signal}"), |(_, name)| format!("signal {name}"))
        }
        (None, None) => "an unknown reason".into(),
    }
}

#[cfg(not(unix))]
fn set_process_group(_command: &mut Command) {}

#[cfg(not(unix))]
impl Group {
    fn send(&self, _signal: Signal) {
        let Some(id) = self.id else { return };
        let mut command = std::process::Command::new("taskkill");
        command.args(["/pid", &id.to_string(), "/T", "/F"]);
        // The processes may have ended.
        let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

#[cfg(not(unix))]
fn describe_status(status: std::process::ExitStatus) -> String {
    format!("exit code {}", status.code().unwrap_or_default())
}

pub(crate) fn unstarted(why: &str) -> String {
    match why {
        "ENOENT" => "expected a command, found none with this name".into(),
        why => why.into(),
    }
}
