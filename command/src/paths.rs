//! Paths of files on the host's system.

use super::{need::Need, terminal::Terminal};

/// Rules for paths on the system that the command runs on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Paths {
    is_windows: bool,
}

impl Paths {
    /// Detects Windows: there, the absolute path of a directory begins with a drive letter or `\\`.
    pub(crate) fn new(terminal: &Terminal) -> Paths {
        let folder = terminal.folder.as_deref().unwrap_or_default();
        Paths { is_windows: folder.starts_with("\\\\") || has_drive(folder) }
    }

    /// Returns a path with `/` as separator. `\` is a separator only on Windows; elsewhere it may be part of a name.
    pub(crate) fn read(self, path: &str) -> String {
        if self.is_windows {
            path.replace('\\', "/")
        } else {
            path.into()
        }
    }

    /// Returns a path that is relative to the working directory, whose content may be untrusted; empty for absolute
    /// paths.
    pub(crate) fn relative(self, path: &str) -> &str {
        let is_absolute = path.starts_with('/') || self.is_windows && has_drive(path);
        if is_absolute {
            ""
        } else {
            path
        }
    }

    /// Returns the need for a file that is not the main input. Only an absolute path may be a device (`/dev/stdin`).
    pub(crate) fn file(self, path: &str) -> Need {
        if self.relative(path).is_empty() {
            Need::File(path.into())
        } else {
            Need::RegularFile(path.into())
        }
    }
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [drive, b':', ..] if drive.is_ascii_alphabetic())
}
