//! The client of `toolwire run`: a program in the foreground, with the URL of the relay in its variables.

use std::{env, process::ExitStatus};

use tokio::process::{Child, Command};
use toolwire::json::{Node, Object};

use crate::{mcp::process::unstarted, signals::Signals, system::code};

/// Variables with which programs choose a proxy. Some clients use that of `https` for every URL.
const PROXIES: [&str; 6] = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];

/// A client that has not been started.
pub(crate) struct Client {
    /// The program, and the arguments of the user.
    command: Vec<String>,
    /// Arguments before those of the user, which contain `{url}` and `{key}`.
    arguments: Vec<String>,
    /// Each with its value, which contains `{url}`, `{key}` and `{secret}`.
    variables: Vec<(String, String)>,
    defaults: Vec<(String, String)>,
    removed: Vec<String>,
    keys: Vec<String>,
}

impl Client {
    /// Reads the member `client` of the settings.
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
            defaults: pairs("defaults"),
            removed: list("removed"),
            keys: list("keys"),
        })
    }

    /// Starts the client. Fails with a message.
    pub(crate) fn start(&self, address: &str) -> Result<Child, String> {
        let set = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
        let mut keys = self.keys.iter().filter_map(|name| Some((name.as_str(), set(name)?)));
        let (key, secret) = match keys.next() {
            Some((name, value)) => (name, value.trim().to_string()),
            None if self.keys.is_empty() => ("", String::new()),
            None => {
                let names: Vec<String> = self.keys.iter().map(|name| format!("`{name}`")).collect();
                return Err(format!("expected the key in the variable {}, found it unset", names.join(" or ")));
            }
        };
        // A relay that listens on all addresses is reached on this machine.
        let address = address.replace("0.0.0.0:", "127.0.0.1:").replace("[::]:", "[::1]:");
        let url = format!("http://{address}");
        let known = |text: &str| text.replace("{url}", &url).replace("{key}", key).replace("{secret}", &secret);
        let (name, given) = self.command.split_first().ok_or("expected a client, found none")?;
        let mut command = Command::new(name);
        command.args(self.arguments.iter().map(|argument| known(argument))).args(given).kill_on_drop(true);
        self.removed.iter().for_each(|name| {
            command.env_remove(name);
        });
        for (name, value) in &self.variables {
            command.env(name, known(value));
        }
        for (name, value) in self.defaults.iter().filter(|(name, _)| env::var_os(name).is_none()) {
            command.env(name, known(value));
        }
        // Requests to the relay must not go to a proxy.
        if PROXIES.iter().any(|name| set(name).is_some()) {
            let host = address.rsplit_once(':').map_or(address.as_str(), |(host, _)| host);
            for (name, other) in [("NO_PROXY", "no_proxy"), ("no_proxy", "NO_PROXY")] {
                let others = set(name).or_else(|| set(other));
                command.env(name, others.map_or_else(|| host.into(), |others| format!("{others},{host}")));
            }
        }
        command.spawn().map_err(|error| format!("{name}: {}", unstarted(&code(&error))))
    }
}

/// Waits for the end of a client, and passes signals on to it. Returns its exit code, as shells report it.
pub(crate) async fn ended(mut client: Child, mut signals: Signals) -> u8 {
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

/// Sends a signal to a client, unless its terminal has sent the signal: clients end at the second Ctrl-C.
#[cfg(unix)]
fn pass_on(client: &Child, code: u8) {
    use std::io::IsTerminal as _;

    use rustix::process::{kill_process, Pid, Signal};
    let signal = Signal::from_named_raw(i32::from(code) - 128);
    let is_typed = matches!(signal, Some(Signal::INT | Signal::QUIT)) && std::io::stdin().is_terminal();
    let id = client.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let (Some(id), Some(signal), false) = (id, signal, is_typed) {
        // The client may have ended.
        let _ = kill_process(id, signal);
    }
}

/// Does nothing, because the console sends Ctrl-C to all its programs.
#[cfg(not(unix))]
fn pass_on(_client: &Child, _code: u8) {}
