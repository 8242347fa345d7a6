//! Every test of the program, in one test program.

#[cfg(unix)]
mod acting;
mod client;
mod command;
mod faults;
mod files;
mod http;
#[cfg(unix)]
mod jobs;
mod limits;
mod listen;
mod mcp;
#[cfg(unix)]
mod network;
mod passing;
#[cfg(unix)]
mod played;
mod probe;
mod proxy;
mod relay;
mod remote;
mod run;
#[cfg(unix)]
mod terminal;
mod tools;

/// Returns the shell's own `kill`, because small systems have no such program.
fn kill() -> std::process::Command {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "kill \"$@\"", "kill"]);
    command
}
