//! Reads the configuration file of a relay again when it changes.

#[cfg(unix)]
use std::os::unix::fs::MetadataExt as _;
use std::{
    fs,
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::{task::spawn_blocking, time::sleep};

use super::{Again, Host};

/// Interval in which the file is examined. A file is read once it has not changed for an interval, because it may be
/// written in parts.
const INTERVAL: Duration = Duration::from_millis(500);

#[derive(PartialEq)]
struct Version {
    modified: SystemTime,
    length: u64,
    /// Number of the file, and the time at which its data was changed, which programs cannot set.
    #[cfg(unix)]
    file: (u64, i64, i64),
}

/// Returns the version of a file; `None` if the file does not exist, for example while an editor replaces it. File
/// systems may block.
async fn version(path: &str) -> Option<Version> {
    let path = path.to_string();
    spawn_blocking(move || version_of(&path)).await.ok().flatten()
}

fn version_of(path: &str) -> Option<Version> {
    let data = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    #[cfg(unix)]
    let file = (data.ino(), data.ctime(), data.ctime_nsec());
    Some(Version {
        modified: data.modified().ok()?,
        length: data.len(),
        #[cfg(unix)]
        file,
    })
}

/// Applies changes of a file. `before` contains the settings of the first read.
pub(super) async fn watch(host: Arc<Host>, path: String, before: String, again: Again) {
    // The file may have changed since it was read.
    let (mut read, mut last, mut is_missing) = (None, version(&path).await, false);
    let mut before = Some(before);
    loop {
        sleep(INTERVAL).await;
        let now = version(&path).await;
        let is_stable = now == last;
        last = now;
        if is_stable && last.is_none() != is_missing {
            is_missing = last.is_none();
            if is_missing {
                host.log.line(&format!("toolwire: {path} is gone; the settings before the change still apply"));
            }
        }
        if last.is_none() || last == read || !is_stable {
            continue;
        }
        read = version(&path).await;
        let text = spawn_blocking(again).await.unwrap_or_else(|error| Err(error.to_string()));
        if before.take().is_some_and(|before| text.as_ref() == Ok(&before)) {
            continue;
        }
        let line = match text.and_then(|text| host.change(&text)) {
            Ok(()) => format!("toolwire: {path} was read again"),
            Err(why) => format!("{}\ntoolwire: the settings before the change still apply", why.trim_end()),
        };
        host.log.line(&line);
    }
}
