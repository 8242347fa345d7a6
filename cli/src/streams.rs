//! Standard streams. Another program that shares one may have made it non-blocking, as Node does with pipes and
//! terminals; then, its reads and writes fail instead of waiting.

use std::io::{self, BufRead as _, ErrorKind, Read, Stderr, Stdin, Stdout, Write};
#[cfg(unix)]
use std::os::fd::AsFd;

pub(crate) fn stdin() -> Waiting<Stdin> {
    Waiting(io::stdin())
}

pub(crate) fn stdout() -> Waiting<Stdout> {
    Waiting(io::stdout())
}

pub(crate) fn stderr() -> Waiting<Stderr> {
    Waiting(io::stderr())
}

pub(crate) fn line() -> io::Result<Vec<u8>> {
    let (mut stdin, mut line) = (io::stdin().lock(), Vec::new());
    // After an error, the line continues.
    until_ready(&mut stdin, Wants::Input, |stdin| stdin.read_until(b'\n', &mut line))?;
    Ok(line)
}

/// A stream whose reads and writes wait.
pub(crate) struct Waiting<S>(S);

impl<S: Read + AsFd> Read for Waiting<S> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        until_ready(&mut self.0, Wants::Input, |stream| stream.read(bytes))
    }
}

impl<S: Write + AsFd> Write for Waiting<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        until_ready(&mut self.0, Wants::Output, |stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        until_ready(&mut self.0, Wants::Output, Write::flush)
    }
}

#[derive(Clone, Copy)]
enum Wants {
    Input,
    Output,
}

fn until_ready<S: AsFd, T>(
    stream: &mut S,
    wants: Wants,
    mut act: impl FnMut(&mut S) -> io::Result<T>,
) -> io::Result<T> {
    loop {
        match act(stream) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => wait(stream, wants, error)?,
            done => return done,
        }
    }
}

#[cfg(unix)]
fn wait(stream: &impl AsFd, wants: Wants, _error: io::Error) -> io::Result<()> {
    use rustix::{
        event::{poll, PollFd, PollFlags},
        io::Errno,
    };
    let flags = match wants {
        Wants::Input => PollFlags::IN,
        Wants::Output => PollFlags::OUT,
    };
    match poll(&mut [PollFd::new(stream, flags)], None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn wait(_stream: &impl AsFd, _wants: Wants, error: io::Error) -> io::Result<()> {
    Err(error)
}

/// The streams of Windows always wait.
#[cfg(not(unix))]
pub(crate) trait AsFd {}

#[cfg(not(unix))]
impl<S> AsFd for S {}
