//! Terminals, on which a test runs the program.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    fs::{File, OpenOptions},
    io::{Read as _, Write as _},
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    process::Stdio,
    thread::{self, JoinHandle},
};

use rustix::{
    io::{fcntl_setfd, FdFlags},
    pty::{grantpt, openpt, ptsname, unlockpt, OpenptFlags},
    termios::{tcgetattr, tcsetattr, tcsetwinsize, LocalModes, OptionalActions, Winsize},
};

/// A terminal that passes every byte unchanged.
pub(crate) struct Terminal {
    /// The side of the test.
    inside: OwnedFd,
    /// The side of the program.
    outside: File,
}

impl Terminal {
    pub(crate) fn new(columns: u16) -> Terminal {
        let inside = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        // Otherwise, the program holds the side of the test open.
        fcntl_setfd(&inside, FdFlags::CLOEXEC).expect("a terminal");
        grantpt(&inside).and_then(|()| unlockpt(&inside)).expect("a terminal");
        let name = ptsname(&inside, Vec::new()).expect("a name");
        let path = std::ffi::OsStr::from_bytes(name.as_bytes());
        let outside = OpenOptions::new().read(true).write(true).open(path).expect("a terminal");
        let mut attributes = tcgetattr(&outside).expect("a terminal");
        attributes.make_raw();
        tcsetattr(&outside, OptionalActions::Now, &attributes).expect("a terminal");
        tcsetwinsize(&outside, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).expect("a size");
        Terminal { inside, outside }
    }

    pub(crate) fn with_signals(self) -> Terminal {
        let mut attributes = tcgetattr(&self.outside).expect("a terminal");
        attributes.local_modes |= LocalModes::ISIG;
        tcsetattr(&self.outside, OptionalActions::Now, &attributes).expect("a terminal");
        self
    }

    pub(crate) fn stream(&self) -> Stdio {
        self.outside.try_clone().expect("a terminal").into()
    }

    pub(crate) fn input(&self, text: &str) {
        let mut inside = File::from(self.inside.try_clone().expect("a terminal"));
        inside.write_all(text.as_bytes()).expect("a terminal");
    }

    /// Reads until no program has the terminal.
    pub(crate) fn output(self) -> JoinHandle<Vec<u8>> {
        let Terminal { inside, outside } = self;
        drop(outside);
        thread::spawn(move || {
            let (mut inside, mut output, mut piece) = (File::from(inside), Vec::new(), [0; 4096]);
            // The last read fails on Linux, and returns nothing on macOS.
            while let Ok(length @ 1..) = inside.read(&mut piece) {
                output.extend_from_slice(&piece[..length]);
            }
            output
        })
    }
}
