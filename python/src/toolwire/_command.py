"""The program `toolwire`.

The core decides everything. This file does the input and output: files, standard input, the tools of MCP servers, the
answers of APIs, terminal detection, and the exit code.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import secrets
import shutil
import signal
import stat
import sys
from datetime import date
from typing import TYPE_CHECKING, NoReturn, TextIO

from toolwire import _toolwire

if TYPE_CHECKING:
    from collections.abc import Callable

VARIABLES = ("NO_COLOR", "FORCE_COLOR", "TERM")
UNUSABLE = 2
# Maximum size of a file, in bytes.
MAX_FILE = 2**31 - 1
INTERRUPTED = 130
TERMINATED = 143

# Digests of the files that were read. The keys are their paths, with symbolic links resolved.
_digests: dict[str, bytes] = {}


class _ChangedError(Exception):
    """A file has changed since it was read."""


def _facts(arguments: list[str]) -> str:
    """Return the facts about the environment that the core needs, as JSON."""
    return json.dumps(
        {
            "arguments": [_readable(argument) for argument in arguments],
            "stdin": _is_terminal(sys.stdin),
            "stdout": _is_terminal(sys.stdout),
            "stderr": _is_terminal(sys.stderr),
            "date": date.today().isoformat(),
            "columns": shutil.get_terminal_size().columns if _is_terminal(sys.stdout) else 0,
            "environment": {name: _readable(os.environ[name]) for name in VARIABLES if name in os.environ},
            "folder": _folder(),
            "program": ["uvx", "toolwire"],
        }
    )


def _line(question: str) -> str:
    """Ask a question, and return the line that the user types; an empty string without a terminal."""
    if not _is_terminal(sys.stdin):
        return ""
    _say(sys.stderr, question)
    return sys.stdin.readline()


def _folder() -> str | None:
    """Return the working directory; `None` if it was deleted."""
    try:
        return _readable(os.getcwd())
    except OSError:
        return None


def _is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal. A stream that was closed before the program began is `None`."""
    return stream is not None and stream.isatty()


def _got(kind: str, words: list[str], waiting: Callable[[int], None]) -> bytes:
    """Fetch what the core needs, as bytes."""
    if kind == "server":
        # Imported here because it imports the MCP SDK.
        from toolwire._server import tools_of

        return _json({"tools": tools_of(json.loads(words[0]), waiting)})
    if kind == "request":
        # Imported here because only this command uses HTTP.
        from toolwire._api import answer_of

        return _json(answer_of(json.loads(words[0]), waiting))
    if kind == "proxy":
        # Imported here because only this command runs processes for a long time.
        from toolwire._proxy import run

        run(words[0])
        return b""
    if kind == "line":
        return _line(words[0]).encode()
    if kind == "relay":
        # Imported here because it needs an optional package.
        from toolwire._relay import run as run_relay

        run_relay(words[0])
        return b""
    if kind == "set":
        return _json([name for name in words if os.environ.get(name, "").strip()])
    if kind == "folder":
        with os.scandir(words[0] or ".") as entries:
            return _json([f"{_readable(entry.name)}{_kind(entry)}" for entry in entries])
    if kind == "variables":
        return _json({name: _readable(os.environ[name]) for name in words if name in os.environ})
    if kind == "regular-file":
        return _noted(words[0], _regular(words[0]))
    if kind == "file":
        # `Path` is not used, because it turns an empty name into the working directory.
        with open(words[0], "rb") as file:
            return _noted(words[0], file.read())
    return b"" if sys.stdin is None else sys.stdin.buffer.read()


def _noted(path: str, content: bytes) -> bytes:
    """Keep the digest of a file's content, and return the content."""
    _digests[os.path.realpath(path)] = hashlib.sha256(content).digest()
    return content


def _regular(path: str) -> bytes:
    """Read a file, up to the size that it had when it was opened.

    A device or a pipe, which has no such size, is an error. Files in `/proc` report the size 0.
    """

    def opened(name: str, flags: int) -> int:
        # Without `O_NONBLOCK`, opening a pipe would wait for its other end. Windows does not have the flag.
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))

    with open(path, "rb", opener=opened) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise RuntimeError("ENOTREG")
        if found.st_size > MAX_FILE:
            raise OSError(errno.EFBIG, "too large")
        return file.read(found.st_size)


def _readable(text: str) -> str:
    """Decode a name or a value of the system, whose bytes need not be UTF-8."""
    return os.fsencode(text).decode("utf-8", "replace")


def _kind(entry: os.DirEntry[str]) -> str:
    """Return the suffix that marks a directory (`/`) or a link to one (`//`)."""
    if entry.is_dir(follow_symlinks=False):
        return "/"
    return "//" if entry.is_dir() else ""


def _json(value: object) -> bytes:
    # A lone surrogate, which UTF-8 cannot encode, becomes a JSON escape.
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _say(stream: TextIO | None, text: str) -> None:
    """Write text in UTF-8 with unchanged line ends, whatever the platform's defaults are."""
    if stream is None:
        return
    stream.flush()
    stream.buffer.write(text.encode("utf-8", "surrogatepass"))
    stream.buffer.flush()


_IN_PLACE = (errno.EACCES, errno.EBUSY, errno.EPERM)
"""Errors if a file cannot be replaced: its folder is not writable, or it is a mount point in a container."""


def _write(path: str, content: str, confined: str, like: str) -> None:
    """Write a file. `confined` is the suffix of its path in which no symbolic link is followed."""
    _refuse_links(path, confined)
    # A device or a pipe cannot be replaced, and a rename would remove a link without a target.
    if not like and os.path.lexists(path) and not os.path.isfile(path):
        _overwrite(path, content, confined)
        return
    try:
        _replace(path if confined else os.path.realpath(path), content, like)
    except OSError as error:
        if like or error.errno not in _IN_PLACE:
            raise
        _overwrite(path, content, confined)


def _overwrite(path: str, content: str, confined: str) -> None:
    # Windows does not have the flag.
    unlinked = getattr(os, "O_NOFOLLOW", 0) if confined else 0
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | unlinked, 0o666)
    with open(number, "w", encoding="utf-8", newline="") as file:
        file.write(content)


def _replace(place: str, content: str, like: str) -> None:
    """Replace a file, which is no link. If the program is killed or the disk is full, the file is unchanged.

    If `like` is given, the file gets its permissions, and is not replaced if `like` has changed since it was read.
    """
    mode = stat.S_IMODE(os.stat(like or place).st_mode) & 0o777 if like or os.path.exists(place) else None
    written = content.encode()
    beside = f"{place}.{secrets.token_hex(8)}.tmp"
    # Opened before the `try`, so that another program's file with this name is not removed.
    number = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
    try:
        with open(number, "wb") as file:
            file.write(written)
            file.flush()
            # Otherwise the name could reach the disk before the content does.
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(beside, mode)
        # Checked as late as possible, because nothing locks the file. Compares the content, because time and size do
        # not show every change.
        if like and hashlib.sha256(_regular(like)).digest() != _digests.get(os.path.realpath(like)):
            raise _ChangedError
        os.replace(beside, place)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
    _noted(place, written)


def _refuse_links(path: str, confined: str) -> None:
    """Raise an error if a directory in that suffix, or the file, is a symbolic link or a junction."""
    at = path[: len(path) - len(confined)]
    for step in confined.split("/") if confined else ():
        at += step
        try:
            found = os.lstat(at)
        except FileNotFoundError:
            return
        is_junction = getattr(found, "st_file_attributes", 0) & stat.FILE_ATTRIBUTE_REPARSE_POINT
        if stat.S_ISLNK(found.st_mode) or is_junction:
            raise OSError(errno.ELOOP, "a symbolic link")
        at += "/"


def _reason(error: Exception) -> str:
    """Return the error's code, such as `ENOENT`, or its message."""
    number = error.errno if isinstance(error, OSError) else None
    return errno.errorcode.get(number or 0, str(error))


def main(arguments: list[str] | None = None) -> int:
    """Execute a command line, and return the exit code."""
    command = _toolwire.Command(_facts(sys.argv[1:] if arguments is None else arguments))

    def waiting(seconds: int) -> None:
        # A failure to show the progress does not stop the command.
        with contextlib.suppress(OSError):
            _say(sys.stderr, command.waiting(seconds))

    while (need := command.need()) is not None:
        kind, *words = need
        try:
            command.give(_got(kind, words, waiting))
        except (OSError, RuntimeError, ValueError) as error:
            command.fail(_reason(error))
    while (shown := command.step()) is not None:
        if shown:
            # A failure to show the progress does not stop the command.
            with contextlib.suppress(OSError):
                _say(sys.stderr, shown)
    stdout, stderr, code, files = command.finish()
    failure: OSError | None = None
    for stream, text in ((sys.stdout, stdout), (sys.stderr, stderr)):
        try:
            _say(stream, text)
        except OSError as error:
            # Otherwise Python would flush the stream again when it exits, and report the error.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            # A reader that has closed its end, such as `head`, is not an error.
            if not isinstance(error, BrokenPipeError):
                failure = failure or error
    # If a backup cannot be written, the file that it is for is left unchanged. Other files are written.
    without_backup: set[str] = set()
    for path, content, confined, like in files:
        if path in without_backup:
            continue
        try:
            _write(path, content, confined, like)
        except (OSError, RuntimeError, _ChangedError) as error:
            code = UNUSABLE
            where = _toolwire.Command.heard(path).rstrip("\n")
            if isinstance(error, _ChangedError):
                why = "expected an unchanged file, found one that has changed since it was read"
            elif like and isinstance(error, OSError) and error.errno in _IN_PLACE:
                why = f"expected a file that can be replaced, found one that cannot ({_reason(error)})"
            else:
                why = f"expected a writable file, found one that is not ({_reason(error)})"
            _say(sys.stderr, f"toolwire: {where}: {why}\n")
            if like != path:
                without_backup.add(like)
    if failure is None:
        return code
    why = _reason(failure)
    with contextlib.suppress(OSError):
        _say(sys.stderr, f"toolwire: expected a writable output, found one that fails ({why})\n")
    return UNUSABLE


def _forget_working_folder() -> None:
    """Remove the working directory from the import path, because its content may be untrusted.

    `python -m` and an empty entry in PYTHONPATH add it.
    """
    with contextlib.suppress(OSError):
        here = os.path.realpath(os.getcwd())
        sys.path[:] = [path for path in sys.path if os.path.realpath(path or here) != here]


def run() -> NoReturn:
    """Run the program, and exit."""
    _forget_working_folder()
    # Raises an exception, so that cleanup code ends the servers.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    for name, code in (("SIGHUP", 129), ("SIGQUIT", 131)):
        # Windows does not have these signals. A signal that is ignored, as under `nohup`, stays ignored.
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_, code=code: sys.exit(code))
    try:
        code = main()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:
        # Python's own exit code, 1, would mean that something was found.
        code = UNUSABLE
        with contextlib.suppress(OSError):
            found = _toolwire.Command.heard(str(error)).rstrip("\n")
            _say(
                sys.stderr,
                f"toolwire: internal: found a defect in toolwire ({found}). Please report it with the command line and "
                "an input that shows it at https://github.com/toolwire/toolwire/issues, or privately (see SECURITY.md) "
                "if others could make use of it\n",
            )
    sys.exit(code)
