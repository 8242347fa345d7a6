//! Names of system errors, such as `ENOENT`, which the command expects.

use std::io::{self, ErrorKind};

/// Names by the kind of an error. All systems have these kinds.
const KINDS: &[(ErrorKind, &str)] = &[
    (ErrorKind::NotFound, "ENOENT"),
    (ErrorKind::PermissionDenied, "EACCES"),
    (ErrorKind::ConnectionRefused, "ECONNREFUSED"),
    (ErrorKind::ConnectionReset, "ECONNRESET"),
    (ErrorKind::ConnectionAborted, "ECONNABORTED"),
    (ErrorKind::NotConnected, "ENOTCONN"),
    (ErrorKind::AddrInUse, "EADDRINUSE"),
    (ErrorKind::AddrNotAvailable, "EADDRNOTAVAIL"),
    (ErrorKind::NetworkDown, "ENETDOWN"),
    (ErrorKind::NetworkUnreachable, "ENETUNREACH"),
    (ErrorKind::HostUnreachable, "EHOSTUNREACH"),
    (ErrorKind::BrokenPipe, "EPIPE"),
    (ErrorKind::AlreadyExists, "EEXIST"),
    (ErrorKind::NotADirectory, "ENOTDIR"),
    (ErrorKind::IsADirectory, "EISDIR"),
    (ErrorKind::DirectoryNotEmpty, "ENOTEMPTY"),
    (ErrorKind::ReadOnlyFilesystem, "EROFS"),
    (ErrorKind::StorageFull, "ENOSPC"),
    (ErrorKind::FileTooLarge, "EFBIG"),
    (ErrorKind::QuotaExceeded, "EDQUOT"),
    (ErrorKind::ResourceBusy, "EBUSY"),
    (ErrorKind::ExecutableFileBusy, "ETXTBSY"),
    (ErrorKind::TimedOut, "ETIMEDOUT"),
    (ErrorKind::InvalidInput, "EINVAL"),
    (ErrorKind::Unsupported, "ENOSYS"),
    (ErrorKind::OutOfMemory, "ENOMEM"),
    (ErrorKind::UnexpectedEof, "ECONNRESET"),
];

pub(crate) fn code(error: &io::Error) -> String {
    if let Some(code) = unix_code(error) {
        return code.into();
    }
    let known = KINDS.iter().find(|(kind, _)| *kind == error.kind());
    known.map_or_else(|| error.to_string(), |(_, code)| (*code).into())
}

/// Names of errors that have no [`ErrorKind`].
#[cfg(unix)]
fn unix_code(error: &io::Error) -> Option<&'static str> {
    use rustix::io::Errno;
    const CODES: &[(Errno, &str)] = &[
        (Errno::PERM, "EPERM"),
        (Errno::LOOP, "ELOOP"),
        (Errno::NAMETOOLONG, "ENAMETOOLONG"),
        (Errno::NXIO, "ENXIO"),
        (Errno::NODEV, "ENODEV"),
        (Errno::IO, "EIO"),
        (Errno::MFILE, "EMFILE"),
        (Errno::NFILE, "ENFILE"),
    ];
    let found = Errno::from_io_error(error)?;
    CODES.iter().find(|(errno, _)| *errno == found).map(|(_, code)| *code)
}

#[cfg(not(unix))]
fn unix_code(_error: &io::Error) -> Option<&'static str> {
    None
}
