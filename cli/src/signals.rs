//! Signals that end the program.
//!
//! Handlers of signals stay installed. While nothing waits for a signal, they run its default action.

use std::future::Future;
#[cfg(unix)]
use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
};

#[cfg(unix)]
mod default {
    use std::sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        Arc, OnceLock,
    };

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

    static DEFAULT: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    static WAITING: AtomicUsize = AtomicUsize::new(0);

    /// Prevents the default actions of signals until it is dropped.
    pub(super) struct Prevented;

    pub(super) fn prevent() -> Prevented {
        let default = DEFAULT.get_or_init(|| {
            let default = Arc::new(AtomicBool::new(false));
            for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
                if signal == SIGHUP && super::ignores_hangup() {
                    continue;
                }
                // If a handler cannot be installed, none of them is.
                let _ = signal_hook::flag::register_conditional_default(signal, default.clone());
            }
            default
        });
        WAITING.fetch_add(1, Ordering::SeqCst);
        default.store(false, Ordering::SeqCst);
        Prevented
    }

    impl Drop for Prevented {
        fn drop(&mut self) {
            if WAITING.fetch_sub(1, Ordering::SeqCst) == 1 {
                if let Some(default) = DEFAULT.get() {
                    default.store(true, Ordering::SeqCst);
                }
            }
        }
    }
}

/// Returns true if `nohup` has started the program, which must survive its terminal.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    static IGNORES: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    // Read once, because an installed handler would change the value.
    *IGNORES.get_or_init(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask & 1 == 1)
    })
}

/// Waits for a signal, and returns the exit code, as shells report it. Call this before starting processes, and keep
/// the future until they have ended: otherwise a signal would end the program without them.
pub(crate) fn ended() -> impl Future<Output = u8> {
    Signals::begin().first()
}

/// Signals that ask the program to end. Their default actions are prevented until the value is dropped, also after a
/// signal.
#[cfg(unix)]
pub(crate) struct Signals {
    /// The signals, each with the exit code of a program that it ends, as shells report it.
    signals: [(Option<tokio::signal::unix::Signal>, u8); 4],
    _prevented: default::Prevented,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn begin() -> Signals {
        use tokio::signal::unix::{signal, SignalKind};
        let prevented = default::prevent();
        let listen = |kind: SignalKind| signal(kind).ok();
        let hangup = if ignores_hangup() { None } else { listen(SignalKind::hangup()) };
        let signals = [
            (hangup, 129),
            (listen(SignalKind::interrupt()), 130),
            (listen(SignalKind::quit()), 131),
            (listen(SignalKind::terminate()), 143),
        ];
        Signals { signals, _prevented: prevented }
    }

    /// Returns the exit code of the next signal.
    pub(crate) async fn next(&mut self) -> u8 {
        poll_fn(|context| {
            for (signal, code) in &mut self.signals {
                if signal.as_mut().is_some_and(|signal| signal.poll_recv(context).is_ready()) {
                    return Poll::Ready(*code);
                }
            }
            Poll::Pending
        })
        .await
    }

    /// Waits for the first signal. The future prevents the default actions of other signals, also after the first
    /// signal.
    pub(crate) fn first(self) -> impl Future<Output = u8> {
        First(self)
    }
}

#[cfg(unix)]
struct First(Signals);

#[cfg(unix)]
impl Future for First {
    type Output = u8;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u8> {
        std::pin::pin!(self.0.next()).poll(context)
    }
}

/// Ctrl-C, Ctrl-Break, and the end of the console. After this value is dropped, they end the program.
#[cfg(not(unix))]
pub(crate) struct Signals {
    interrupt: Option<tokio::signal::windows::CtrlC>,
    quit: Option<tokio::signal::windows::CtrlBreak>,
    hangup: Option<tokio::signal::windows::CtrlClose>,
}

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn begin() -> Signals {
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close};
        Signals { interrupt: ctrl_c().ok(), quit: ctrl_break().ok(), hangup: ctrl_close().ok() }
    }

    /// Returns the exit code of the corresponding signal of Unix.
    pub(crate) async fn next(&mut self) -> u8 {
        std::future::poll_fn(|context| {
            let hangup = self.hangup.as_mut().is_some_and(|close| close.poll_recv(context).is_ready());
            let interrupt = self.interrupt.as_mut().is_some_and(|ctrl_c| ctrl_c.poll_recv(context).is_ready());
            let quit = self.quit.as_mut().is_some_and(|ctrl_break| ctrl_break.poll_recv(context).is_ready());
            let found = [(hangup, 129), (interrupt, 130), (quit, 131)].into_iter().find(|(is_found, _)| *is_found);
            found.map_or(std::task::Poll::Pending, |(_, code)| std::task::Poll::Ready(code))
        })
        .await
    }

    pub(crate) async fn first(mut self) -> u8 {
        self.next().await
    }
}

/// Signals from processes, which are forwarded to the client of `toolwire run`. The signals of a terminal (Ctrl-C,
/// Ctrl-\, the end of the connection) reach the client directly. If a process signals the whole group, the client
/// receives the signal twice, because nothing shows this. [`Signals`] has to prevent the default actions.
#[cfg(unix)]
pub(crate) struct ForwardedSignals {
    codes: tokio::sync::mpsc::UnboundedReceiver<u8>,
}

#[cfg(unix)]
impl ForwardedSignals {
    pub(crate) fn begin() -> ForwardedSignals {
        use signal_hook::{
            consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM},
            iterator::{exfiltrator::WithOrigin, SignalsInfo},
        };
        let (sender, codes) = tokio::sync::mpsc::unbounded_channel();
        let hangup = Some(SIGHUP).filter(|_| !ignores_hangup());
        let forwarded = hangup.into_iter().chain([SIGINT, SIGQUIT, SIGTERM]);
        // Without handlers, the client only receives what is typed.
        if let Ok(mut signals) = SignalsInfo::<WithOrigin>::new(forwarded) {
            std::thread::spawn(move || {
                // The signals of a terminal come from no process.
                for origin in signals.forever().filter(|origin| origin.process.is_some()) {
                    if sender.send(u8::try_from(128 + origin.signal).unwrap_or_default()).is_err() {
                        return;
                    }
                }
            });
        }
        ForwardedSignals { codes }
    }

    /// Returns the exit code of the next signal.
    pub(crate) async fn next(&mut self) -> u8 {
        match self.codes.recv().await {
            Some(code) => code,
            None => std::future::pending().await,
        }
    }
}

#[cfg(not(unix))]
pub(crate) use self::Signals as ForwardedSignals;

/// A write beyond the limit for the size of files fails. By default, the signal SIGXFSZ would end the program.
#[cfg(unix)]
pub(crate) fn survive_full_files() {
    /// The number of SIGXFSZ on Linux, macOS and the BSDs.
    const FILE_TOO_LARGE: i32 = 25;
    // The handler stays. If it cannot be installed, the default applies.
    let _ = signal_hook::flag::register(FILE_TOO_LARGE, std::sync::Arc::default());
}

#[cfg(not(unix))]
pub(crate) fn survive_full_files() {}
