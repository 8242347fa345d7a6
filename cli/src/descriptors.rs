//! The limit of open files. Its usual values (1,024 on Linux, 256 on macOS) are lower than the number of connections
//! that a server may have.

/// Number of descriptors for everything except connections.
const RESERVE: u64 = 64;

/// Raises the limit of this process. Returns the number of clients that may be connected, at most `most`. Each client
/// may need a second connection, to an API or a server.
pub(crate) fn for_clients(most: usize) -> usize {
    clients(most, raise())
}

fn clients(most: usize, limit: Option<u64>) -> usize {
    let affordable = limit.map(|limit| limit.saturating_sub(RESERVE) / 2).and_then(|half| usize::try_from(half).ok());
    affordable.map_or(most, |clients| clients.clamp(1, most))
}

#[cfg(unix)]
pub(crate) use self::limit::{raise, restore};

#[cfg(unix)]
mod limit {
    use std::sync::OnceLock;

    use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};

    /// Enough for all connections. A higher limit would slow programs that close every possible descriptor when they
    /// start.
    const ENOUGH: u64 = 1 << 14;
    /// The highest limit that macOS accepts by default.
    const FEWER: u64 = 10_240;

    /// The limit before it was raised.
    static BEFORE: OnceLock<Rlimit> = OnceLock::new();

    /// Raises the limit, and returns it; `None` if there is no limit.
    pub(crate) fn raise() -> Option<u64> {
        let before = *BEFORE.get_or_init(|| getrlimit(Resource::Nofile));
        let limit = before.current?;
        for wanted in [ENOUGH, FEWER] {
            let wanted = before.maximum.map_or(wanted, |maximum| maximum.min(wanted));
            let raised = Rlimit { current: Some(wanted), maximum: before.maximum };
            if wanted > limit && setrlimit(Resource::Nofile, raised).is_ok() {
                return Some(wanted);
            }
        }
        Some(limit)
    }

    /// Restores the limit for a program that was just started, because old programs cannot use greater descriptors.
    /// Only Linux allows this; the standard library has no safe way to change a program before it starts.
    #[cfg(target_os = "linux")]
    pub(crate) fn restore(id: Option<u32>) {
        let id = id.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        if let Some((id, before)) = id.zip(BEFORE.get()) {
            // The program may have ended, or belong to another user.
            let _ = rustix::process::prlimit(Some(id), Resource::Nofile, *before);
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn restore(_id: Option<u32>) {}
}

/// Windows has no such limit.
#[cfg(not(unix))]
fn raise() -> Option<u64> {
    None
}

#[cfg(not(unix))]
pub(crate) fn restore(_id: Option<u32>) {}

#[cfg(test)]
mod tests {
    use super::clients;

    #[test]
    fn each_client_may_need_a_second_connection() {
        for (limit, found) in
            [(None, 4_000), (Some(1 << 14), 4_000), (Some(1_024), 480), (Some(256), 96), (Some(64), 1), (Some(10), 1)]
        {
            assert_eq!(clients(4_000, limit), found, "{limit:?}");
        }
    }
}
