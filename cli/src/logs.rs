//! Log and report of long-running commands.

use std::{
    collections::VecDeque,
    fs::{File, OpenOptions},
    io::{self, Write as _},
    sync::{
        mpsc::{channel, Sender},
        Arc, Mutex, MutexGuard, PoisonError,
    },
    thread,
    time::{Duration, Instant},
};

use toolwire::internal::json::Node;

use crate::{files::no_follow, streams, system::code};

/// Maximum size of the unread log, in bytes. Further lines are omitted.
pub(crate) const MAX_LOG: usize = 1 << 20;
/// Maximum number of first lines, and of last lines, that are kept.
const MAX_KEPT: usize = 10;
/// Time limit for writing the rest of the log at the end.
const PATIENCE: Duration = Duration::from_secs(1);

/// The log, on standard error. A thread writes it, so that the program does not wait for a stopped reader.
pub(crate) struct Log {
    /// If it is `None`, the first and the last lines are kept until the end.
    sender: Option<Sender<String>>,
    state: Arc<Mutex<Unread>>,
    kept: Mutex<Kept>,
}

/// Lines that are written at the end, each once.
#[derive(Default)]
struct Kept {
    first: Vec<String>,
    last: VecDeque<String>,
    /// Number of lines between `first` and `last`.
    left_out: usize,
}

impl Kept {
    fn add(&mut self, line: &str) {
        if self.first.iter().chain(&self.last).any(|known| known == line) {
            return;
        }
        if self.first.len() < MAX_KEPT {
            return self.first.push(line.into());
        }
        self.last.push_back(line.into());
        if self.last.len() > MAX_KEPT {
            self.last.pop_front();
            self.left_out += 1;
        }
    }

    fn text(&self) -> String {
        let left_out = (self.left_out > 0).then(|| omission(self.left_out));
        self.first.iter().cloned().chain(left_out).chain(self.last.iter().cloned()).map(|line| line + "\n").collect()
    }
}

fn omission(count: usize) -> String {
    format!("toolwire: {count} lines of the log are left out")
}

#[derive(Default)]
struct Unread {
    bytes: usize,
    /// Number of omitted lines since the last written line.
    left_out: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Log {
    pub(crate) fn new() -> Log {
        let (sender, lines) = channel::<String>();
        let state = Arc::new(Mutex::new(Unread::default()));
        let unread = state.clone();
        thread::spawn(move || {
            for line in lines {
                // Standard error is the only way to report an error.
                let _ = streams::stderr().write_all(line.as_bytes());
                lock(&unread).bytes -= line.len();
            }
        });
        Log { sender: Some(sender), state, kept: Mutex::default() }
    }

    /// Returns a log that keeps its first and its last lines, because another program has the terminal.
    pub(crate) fn deferred() -> Log {
        Log { sender: None, state: Arc::default(), kept: Mutex::default() }
    }

    pub(crate) fn write_kept(&self) {
        if self.sender.is_some() {
            // The thread of the log may wait for a reader, and holds the lock of standard error meanwhile.
            return;
        }
        let text = std::mem::take(&mut *lock(&self.kept)).text();
        if text.is_empty() {
            return;
        }
        let (sender, written) = channel();
        thread::spawn(move || {
            // Standard error is the only way to report an error.
            let _ = streams::stderr().write_all(text.as_bytes());
            let _ = sender.send(());
        });
        let _ = written.recv_timeout(PATIENCE);
    }

    /// Writes a line, unless too much of the log is unread.
    pub(crate) fn line(&self, line: &str) {
        let Some(sender) = &self.sender else { return lock(&self.kept).add(line) };
        let mut state = lock(&self.state);
        if state.bytes > MAX_LOG {
            state.left_out += 1;
            return;
        }
        let mut text = match std::mem::take(&mut state.left_out) {
            0 => String::new(),
            count => omission(count) + "\n",
        };
        text.push_str(line);
        text.push('\n');
        state.bytes += text.len();
        // The thread ends only with the log.
        let _ = sender.send(text);
    }

    pub(crate) fn flush(&self) {
        let end = Instant::now() + PATIENCE;
        while lock(&self.state).bytes > 0 && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A regular file, not a link, to which lines are appended.
pub(crate) struct Report(Option<Mutex<Lines<File>>>);

struct Lines<W> {
    file: W,
    /// True if the file ends with a part of a line.
    is_partial: bool,
    has_failed: bool,
}

impl<W: io::Write> Lines<W> {
    fn new(file: W) -> Lines<W> {
        Lines { file, is_partial: false, has_failed: false }
    }

    fn add(&mut self, line: &str) -> io::Result<()> {
        if self.is_partial {
            // Readers would lose this line, too.
            self.write(b"\n")?;
        }
        self.write(format!("{line}\n").as_bytes())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut written = 0;
        while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
            match self.file.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(length) => {
                    written += length;
                    self.is_partial = written < bytes.len();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Report {
    pub(crate) fn in_settings(settings: &Node<'_>) -> Result<Report, String> {
        Report::open(settings.text_at("report").map(|path| path.display().into_owned()).as_deref())
    }

    pub(crate) fn open(path: Option<&str>) -> Result<Report, String> {
        let Some(path) = path else { return Ok(Report(None)) };
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        no_follow(&mut options);
        let file = options.open(path).map_err(|error| code(&error))?;
        let found = file.metadata().map_err(|error| code(&error))?;
        if found.is_file() {
            Ok(Report(Some(Mutex::new(Lines::new(file)))))
        } else {
            Err("ENOTREG".into())
        }
    }

    /// Appends a line. The first failure is logged.
    pub(crate) fn line(&self, line: &str, log: &Log) {
        let Some(report) = &self.0 else { return };
        let mut report = lock(report);
        let Err(error) = report.add(line) else { return };
        if !std::mem::replace(&mut report.has_failed, true) {
            let code = code(&error);
            log.line(&format!(
                "toolwire: the report has lines missing: expected a writable file, found a write error ({code})"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file, and the free bytes of its disk.
    struct Disk(Vec<u8>, usize);

    impl io::Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let length = bytes.len().min(self.1);
            self.0.extend(bytes.iter().take(length));
            self.1 -= length;
            if length == 0 {
                Err(io::ErrorKind::StorageFull.into())
            } else {
                Ok(length)
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_follows_a_partial_line_on_a_line_of_its_own() {
        for (free, expected) in [(0, "aaa\nccc\n"), (2, "aaa\nbb\nccc\n"), (3, "aaa\nbbb\nccc\n")] {
            let mut lines = Lines::new(Disk(Vec::new(), 4 + free));
            assert!(lines.add("aaa").is_ok() && lines.add("bbb").is_err());
            lines.file.1 = 9;
            assert!(lines.add("ccc").is_ok());
            assert_eq!(String::from_utf8_lossy(&lines.file.0), expected);
        }
    }

    #[test]
    fn first_and_last_lines_are_kept_once() {
        let mut kept = Kept::default();
        assert_eq!(kept.text(), "");
        for line in (0..25).flat_map(|line| [line, line]) {
            kept.add(&line.to_string());
        }
        let lines = |lines: std::ops::Range<usize>| lines.map(|line| format!("{line}\n")).collect::<String>();
        assert!(kept.text().starts_with(&(lines(0..10) + "toolwire: ")), "{}", kept.text());
        assert!(kept.text().ends_with("24\n") && kept.text().lines().count() == 21, "{}", kept.text());
    }
}
