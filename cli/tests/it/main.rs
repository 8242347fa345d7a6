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
mod modern;
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
#[cfg(unix)]
fn kill() -> std::process::Command {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "kill \"$@\"", "kill"]);
    command
}

/// Programs that the tests start ignore hangups, too, as under `nohup`.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

#[allow(clippy::expect_used, reason = "a test fails by panicking")]
#[cfg(unix)]
fn exit_code(child: &mut std::process::Child) -> Option<i32> {
    let mut status = None;
    relay::wait_until(|| {
        status = child.try_wait().expect("a program");
        status.is_some()
    });
    status.and_then(|status| status.code())
}
