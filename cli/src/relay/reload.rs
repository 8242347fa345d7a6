//! Reads the configuration file of a relay again when it changes.

use std::{fs, sync::Arc, time::Duration};

use tokio::time::sleep;

use super::{Again, Host};

/// Interval in which the file is examined. A file is read once it has not changed for an interval, because it may be
/// written in parts.
const INTERVAL: Duration = Duration::from_millis(500);

/// Returns a value that changes with the file; `None` if there is no file, for example while an editor replaces it.
fn version(path: &str) -> Option<(std::time::SystemTime, u64)> {
    let data = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((data.modified().ok()?, data.len()))
}

/// Watches the file as long as the relay runs.
pub(super) async fn watch(host: Arc<Host>, path: String, again: Again) {
    let mut read = version(&path);
    let mut last = read;
    loop {
        sleep(INTERVAL).await;
        let now = version(&path);
        let is_stable = now == last;
        last = now;
        if now.is_none() || now == read || !is_stable {
            continue;
        }
        read = now;
        // Reading may block.
        let text = tokio::task::spawn_blocking(again).await.unwrap_or_else(|error| Err(error.to_string()));
        let line = match text.and_then(|text| host.change(&text)) {
            Ok(()) => format!("toolwire: {path} was read again"),
            Err(why) => format!("{}\ntoolwire: the settings before the change still apply", why.trim_end()),
        };
        host.log.line(&line);
    }
}
