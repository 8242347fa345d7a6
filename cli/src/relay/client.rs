//! The client of `toolwire run`: a program in the foreground, with the URL of the relay in its variables.

use std::{env, io::ErrorKind, path::Path, process::ExitStatus};
#[cfg(unix)]
use std::{
    sync::{
        atomic::{AtomicBool, Ordering},
        Arc,
    },
    time::{Duration, Instant},
};

use tokio::process::{Child, Command};
use toolwire::internal::json::{self, Member, Node, Object};

use crate::{descriptors, mcp::process::unstarted, signals::ForwardedSignals, system::code};

/// Variables with which programs choose a proxy. Some clients use the variable for `https` for every URL.
const PROXIES: [&str; 6] = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];

/// Exit codes of shells for a client that is not found or cannot be executed.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;
/// Exit code of wrong usage.
const USAGE: u8 = 2;

pub(crate) struct Client {
    /// The program, and the arguments of the user.
    command: Vec<String>,
    /// Arguments before the user's arguments. They contain `{url}` and `{key}`.
    arguments: Vec<String>,
    /// The values contain `{url}`, `{key}`, `{secret}` and `{token-value}`.
    variables: Vec<(String, String)>,
    /// Variables to whose lines the value is added.
    extended: Vec<String>,
    defaults: Vec<(String, String)>,
    removed: Vec<String>,
    keys: Vec<String>,
    /// Variable with the token of the relay.
    token: Option<String>,
    /// A note for the user.
    pub(crate) note: Option<String>,
}

/// Exit code and message.
pub(crate) type Failure = (u8, String);

impl Client {
    pub(crate) fn read(settings: &Node<'_>) -> Option<Client> {
        let client = settings.get("client").filter(|client| !client.is_null())?;
        let text = |node: &Node<'_>| Some(node.as_text()?.display().into_owned());
        let list = |key: &str| client.items_at(key).iter().filter_map(text).collect();
        let pairs = |key: &str| {
            let members = client.object_at(key).map(Object::members).unwrap_or_default().iter();
            members.filter_map(|member| Some((member.key.display().into_owned(), text(&member.value)?))).collect()
        };
        Some(Client {
            command: list("command"),
            arguments: list("arguments"),
            variables: pairs("variables"),
            extended: list("extended"),
            defaults: pairs("defaults"),
            removed: list("removed"),
            keys: list("keys"),
            token: client.get("token").and_then(text),
            note: client.get("note").and_then(text),
        })
    }

    pub(crate) fn start(&self, address: &str) -> Result<Child, Failure> {
        let set = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
        let mut keys = self.keys.iter().filter_map(|name| Some((name.as_str(), set(name)?)));
        let (key, secret) = match keys.next() {
            Some((name, value)) => (name, value.trim().to_string()),
            None if self.keys.is_empty() => ("", String::new()),
            None => {
                let names: Vec<String> = self.keys.iter().map(|name| format!("`{name}`")).collect();
                let names = names.join(" or ");
                return Err((USAGE, format!("expected the key in the variable {names}, found it unset")));
            }
        };
        let token = self.token.as_deref().and_then(set).map(|token| token.trim().to_string()).unwrap_or_default();
        let address = reachable_address(address);
        let url = format!("http://{address}");
        let parts = [("{url}", url.as_str()), ("{key}", key), ("{secret}", &secret), ("{token-value}", &token)];
        let fill = |text: &str| fill_placeholders(text, &parts);
        let (name, user_arguments) =
            self.command.split_first().ok_or((USAGE, "expected a client, found none".to_string()))?;
        #[cfg(windows)]
        let file = crate::mcp::lookup::program(name, None, &[]).unwrap_or_else(|| name.into());
        #[cfg(not(windows))]
        let file = name;
        let mut command = Command::new(file);
        command.args(self.arguments.iter().map(|argument| fill(argument))).args(user_arguments).kill_on_drop(true);
        for name in &self.removed {
            command.env_remove(name);
        }
        if !key.is_empty() && !self.removed.iter().any(|name| name == key) {
            // Some clients read the variable itself.
            command.env(key, &secret);
        }
        for (name, value) in &self.variables {
            let value = fill(value);
            let is_extended = self.extended.contains(name);
            let value = match set(name).filter(|_| is_extended || is_object(&value)) {
                Some(current) if is_extended => format!("{current}\n{value}"),
                // Replacing it would silently drop what the user has set, such as permissions.
                Some(current) => merge_texts(&current, &value).ok_or_else(|| {
                    (USAGE, format!("expected a JSON object in the variable `{name}`, found another text"))
                })?,
                None => value,
            };
            command.env(name, value);
        }
        for (name, value) in self.defaults.iter().filter(|(name, _)| env::var_os(name).is_none()) {
            command.env(name, fill(value));
        }
        // Requests to the relay must not go to a proxy.
        if PROXIES.iter().any(|name| set(name).is_some()) {
            let host = address.rsplit_once(':').map_or(address.as_str(), |(host, _)| host);
            // Some programs expect IPv6 addresses with brackets, and some without.
            let host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
                Some(inner) => format!("{inner},{host}"),
                None => host.into(),
            };
            for (name, other) in [("NO_PROXY", "no_proxy"), ("no_proxy", "NO_PROXY")] {
                let others = set(name).or_else(|| set(other));
                command.env(name, others.map_or_else(|| host.clone(), |others| format!("{others},{host}")));
            }
        }
        let started = command.spawn().map_err(|error| {
            let is_file = if name.contains('/') {
                Path::new(name).is_file()
            } else {
                env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|path| path.join(name).is_file()))
            };
            let (exit, why) = match error.kind() {
                ErrorKind::NotFound if is_file => {
                    (NOT_EXECUTABLE, "expected a script whose interpreter exists, found another".into())
                }
                ErrorKind::NotFound => (NOT_FOUND, unstarted(&code(&error))),
                _ => (NOT_EXECUTABLE, unstarted(&code(&error))),
            };
            (exit, format!("{name}: {why}"))
        });
        descriptors::restore(started.as_ref().ok().and_then(Child::id));
        started
    }
}

/// Placeholders in the values are not replaced.
fn fill_placeholders(text: &str, parts: &[(&str, &str)]) -> String {
    let (mut rest, mut filled) = (text, String::new());
    loop {
        let next = parts.iter().filter_map(|(part, value)| Some((rest.split_once(part)?, value)));
        let Some(((before, after), value)) = next.min_by_key(|((before, _), _)| before.len()) else {
            return filled + rest;
        };
        filled.push_str(before);
        filled.push_str(value);
        rest = after;
    }
}

/// Returns an address for the client. The relay may listen on all addresses.
fn reachable_address(address: &str) -> String {
    for (all, loopback) in [("0.0.0.0:", "127.0.0.1:"), ("[::]:", "[::1]:")] {
        if let Some(port) = address.strip_prefix(all) {
            return format!("{loopback}{port}");
        }
    }
    address.into()
}

fn is_object(text: &str) -> bool {
    json::read(text).is_ok_and(|value| value.as_object().is_some())
}

/// Merges two JSON objects. Returns `None` if a value is not an object.
fn merge_texts(of_user: &str, added: &str) -> Option<String> {
    let (of_user, added) = (json::read(of_user).ok()?, json::read(added).ok()?);
    (of_user.as_object().is_some() && added.as_object().is_some()).then(|| json::write(&merge(&of_user, &added)))
}

fn merge<'a>(of_user: &Node<'a>, added: &Node<'a>) -> Node<'a> {
    let (Some(known), Some(new)) = (of_user.as_object(), added.as_object()) else { return added.clone() };
    let mut members: Vec<Member<'a>> = known.members().to_vec();
    for member in new.members() {
        match members.iter_mut().find(|known| known.key.display() == member.key.display()) {
            Some(known) => known.value = merge(&known.value, &member.value),
            None => members.push(member.clone()),
        }
    }
    Node::object(Object::from_members(members))
}

/// Waits for the end of the client, and passes signals on to it. Returns the exit code, as shells report it.
pub(crate) async fn ended(mut client: Child, mut signals: ForwardedSignals) -> u8 {
    stop_with(&client);
    loop {
        tokio::select! {
            status = client.wait() => return status.map_or(1, exit_code),
            code = signals.next() => pass_on(&client, code),
        }
    }
}

#[cfg(unix)]
fn exit_code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt as _;
    let signal = status.signal().map(|signal| 128 + signal);
    status.code().or(signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(not(unix))]
fn exit_code(status: ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(unix)]
fn process_id(client: &Child) -> Option<rustix::process::Pid> {
    client.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw)
}

#[cfg(unix)]
fn pass_on(client: &Child, code: u8) {
    use rustix::process::{kill_process, Signal};
    let Some((id, signal)) = process_id(client).zip(Signal::from_named_raw(i32::from(code) - 128)) else { return };
    // The client may have ended.
    let _ = kill_process(id, signal);
    // A stopped client would not receive it.
    let _ = kill_process(id, Signal::CONT);
}

/// Does nothing, because the console sends Ctrl-C to all its programs.
#[cfg(not(unix))]
fn pass_on(_client: &Child, _code: u8) {}

/// Stops this program when its client has stopped itself in a terminal, so that the shell gets the terminal back.
/// Continues the client together with this program. Without a shell, this program does not stop: nothing would continue
/// it, and the client needs its relay.
#[cfg(unix)]
fn stop_with(client: &Child) {
    use rustix::process::{kill_process, waitid, Signal, WaitId, WaitIdOptions};
    /// Time after which a Ctrl-Z of the terminal has stopped this program. It stops both programs.
    const TYPED: Duration = Duration::from_millis(100);
    let Some(id) = process_id(client) else { return };
    // The thread ends with the program: a call that waits is not interrupted by the end of the client.
    std::thread::spawn(move || {
        let stopped = |more| waitid(WaitId::Pid(id), WaitIdOptions::STOPPED | more);
        while let Ok(Some(_)) = stopped(WaitIdOptions::NOWAIT) {
            std::thread::sleep(TYPED);
            // If Ctrl-Z was typed, the shell has stopped and continued both programs by now.
            let is_stopped = matches!(stopped(WaitIdOptions::NOHANG), Ok(Some(_)));
            if is_stopped && has_terminal() && stop() {
                let _ = kill_process(id, Signal::CONT);
            }
        }
    });
}

#[cfg(unix)]
fn has_terminal() -> bool {
    let Ok(terminal) = std::fs::File::open("/dev/tty") else { return false };
    rustix::termios::tcgetpgrp(&terminal).is_ok_and(|foreground| foreground == rustix::process::getpgrp())
}

/// Stops this program until a shell continues it. Returns false if it was not stopped: the system refuses to stop a
/// process group to which no shell belongs.
#[cfg(unix)]
fn stop() -> bool {
    use signal_hook::{
        consts::{SIGCONT, SIGTSTP},
        flag, low_level,
    };
    /// Time after which the handler of SIGCONT has run.
    const HANDLED: Duration = Duration::from_millis(100);
    let goes_on = Arc::new(AtomicBool::new(false));
    let Ok(handler) = flag::register(SIGCONT, goes_on.clone()) else { return false };
    // Returns when this program goes on.
    let _ = low_level::raise(SIGTSTP);
    let end = Instant::now() + HANDLED;
    while !goes_on.load(Ordering::SeqCst) && Instant::now() < end {
        std::thread::sleep(HANDLED / 100);
    }
    low_level::unregister(handler);
    goes_on.load(Ordering::SeqCst)
}

#[cfg(not(unix))]
fn stop_with(_client: &Child) {}
