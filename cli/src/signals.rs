//! Signals that end the program.

/// Waits for a signal that asks the program to end. Returns the exit code, as shells report it.
#[cfg(unix)]
pub(crate) async fn ended() -> u8 {
    use tokio::signal::unix::{signal, SignalKind};
    /// `nohup` starts a program that must survive its terminal.
    fn ignores_hangup() -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask & 1 == 1)
    }
    let wait = |kind: SignalKind, is_wanted: bool| async move {
        match is_wanted.then(|| signal(kind)) {
            Some(Ok(mut signal)) => signal.recv().await,
            _ => std::future::pending().await,
        }
    };
    let hangs_up = !ignores_hangup();
    tokio::select! {
        _ = wait(SignalKind::hangup(), hangs_up) => 129,
        _ = wait(SignalKind::interrupt(), true) => 130,
        _ = wait(SignalKind::quit(), true) => 131,
        _ = wait(SignalKind::terminate(), true) => 143,
    }
}

/// Waits for Ctrl-C. Returns the exit code.
#[cfg(not(unix))]
pub(crate) async fn ended() -> u8 {
    match tokio::signal::ctrl_c().await {
        Ok(()) => 130,
        Err(_) => std::future::pending().await,
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
