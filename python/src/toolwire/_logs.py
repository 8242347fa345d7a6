"""The log and the report of long-running commands."""

from __future__ import annotations

import contextlib
import errno
import os
import queue
import stat
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import FileIO

# Maximum size of unwritten log lines, in bytes. Further lines are dropped.
MAX_LOG = 1 << 20
# Maximum time for writing the rest of the log at the end, in seconds.
PATIENCE = 1.0


class Log:
    """Writes to standard error in a thread. Lines are dropped while the reader is too slow."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._waiting = self._left_out = 0
        # Both threads change `_waiting`.
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def line(self, text: str) -> None:
        """Write a line."""
        if self._waiting > MAX_LOG:
            self._left_out += 1
            return
        if self._left_out:
            text = f"toolwire: {self._left_out} lines of the log are left out\n{text}"
            self._left_out = 0
        line = text.encode("utf-8", "surrogatepass") + b"\n"
        with self._lock:
            self._waiting += len(line)
        self._queue.put(line)

    def close(self) -> None:
        """Wait until all lines are written, unless the reader is too slow."""
        self._queue.put(None)
        self._thread.join(PATIENCE)

    def _write(self) -> None:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stderr = sys.stderr.fileno()
            while (line := self._queue.get()) is not None:
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(stderr, rest) :]
                with self._lock:
                    self._waiting -= len(line)


class Report:
    """The report: a file to which lines are appended, if there is one."""

    def __init__(self, file: FileIO | None) -> None:
        self._file, self._has_failed = file, False

    def line(self, text: str, failed: Callable[[str], None]) -> None:
        """Write a line. On the first failure, for instance because the disk is full, `failed` is called."""
        if self._file is None:
            return
        try:
            self._file.write(text.encode("utf-8", "surrogatepass") + b"\n")
        except OSError as error:
            if not self._has_failed:
                code = errno.errorcode.get(error.errno or 0, "unknown")
                failed(
                    f"toolwire: the report has lines missing: expected a writable file, found a write error ({code})"
                )
            self._has_failed = True


@contextlib.contextmanager
def report_file(path: str | None) -> Iterator[Report]:
    """Open the report, if there is one: a regular file, not a link, to which lines are appended."""
    if path is None:
        yield Report(None)
        return
    # Windows does not have these two flags.
    safe = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | safe, 0o666)
    with os.fdopen(number, "ab", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise RuntimeError("ENOTREG")
        yield Report(file)
