//! Signals that end the program.

use std::future::Future;

/// Begins to wait for a signal that asks the program to end. The future returns the exit code, as shells report it. A
/// program that starts processes must call this first, because a signal would end it without them before.
#[cfg(unix)]
pub(crate) fn ended() -> impl Future<Output = u8> {
    use tokio::signal::unix::{signal, Signal, SignalKind};
    /// `nohup` starts a program that must survive its terminal.
    fn ignores_hangup() -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask & 1 == 1)
    }
    let begun = |kind: SignalKind| signal(kind).ok();
    let hangup = if ignores_hangup() { None } else { begun(SignalKind::hangup()) };
    let interrupt = begun(SignalKind::interrupt());
    let (quit, terminate) = (begun(SignalKind::quit()), begun(SignalKind::terminate()));
    let wait = |signal: Option<Signal>| async move {
        match signal {
            Some(mut signal) => signal.recv().await,
            None => std::future::pending().await,
        }
    };
    async move {
        tokio::select! {
            _ = wait(hangup) => 129,
            _ = wait(interrupt) => 130,
            _ = wait(quit) => 131,
            _ = wait(terminate) => 143,
        }
    }
}

/// Waits for Ctrl-C. The future returns the exit code.
#[cfg(not(unix))]
pub(crate) fn ended() -> impl Future<Output = u8> {
    async {
        match tokio::signal::ctrl_c().await {
            Ok(()) => 130,
            Err(_) => std::future::pending().await,
        }
    }
}

/// Makes a write beyond the limit for the size of files fail. By default, the signal SIGXFSZ would end the program.
#[cfg(unix)]
pub(crate) fn survive_full_files() {
    /// The number of SIGXFSZ on Linux, macOS and the BSDs.
    const FILE_TOO_LARGE: i32 = 25;
    // The handler stays. If it cannot be installed, the default applies.
    let _ = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(FILE_TOO_LARGE));
}

#[cfg(not(unix))]
pub(crate) fn survive_full_files() {}
