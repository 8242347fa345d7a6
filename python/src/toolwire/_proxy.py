"""`toolwire proxy`: its processes, its streams and its clock. What happens to a message is decided in Rust."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

from toolwire import _toolwire
from toolwire._secrets import without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable

# The most bytes of a message, and of what has not been read yet.
MOST = 64 << 20
PIECE = 1 << 16
# How long a server may take to end by itself, and then after it was told to, in seconds.
PATIENCE = 2.0
IS_WINDOWS = sys.platform == "win32"


def run(settings: str) -> None:
    """Run until the client has closed its end."""
    told = json.loads(settings)
    if any("url" in server for server in told["servers"]):
        # Only here: programs are spoken with without it.
        from toolwire._server import prepare

        prepare("--url URL")
    with contextlib.ExitStack() as stack:
        report = None
        if told["report"] is not None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
            report = stack.enter_context(os.fdopen(os.open(told["report"], flags, 0o666), "ab", buffering=0))
        asyncio.run(_Host(settings, told["servers"], report).run())


class Lines:
    """Puts lines together from pieces. A line that is longer than any message is skipped to its end."""

    def __init__(self, most: int, line: Callable[[bytes], None], too_long: Callable[[], None]) -> None:
        self._most, self._line, self._too_long = most, line, too_long
        self._pieces: list[bytes] = []
        self._length, self._skips = 0, False

    def take(self, piece: bytes) -> None:
        """Take a piece, which may have the end of several lines."""
        *ended, rest = piece.split(b"\n")
        for part in ended:
            self._add(part)
            self.end()
        self._add(rest)

    def end(self) -> None:
        """End a line."""
        line, skips = b"".join(self._pieces), self._skips
        self._pieces, self._length, self._skips = [], 0, False
        if skips:
            return
        line = line.removesuffix(b"\r")
        if line.strip(b" \t"):
            self._line(line)

    def _add(self, piece: bytes) -> None:
        if self._skips or not piece:
            return
        self._length += len(piece)
        if self._length > self._most:
            self._skips, self._pieces = True, []
            self._too_long()
            return
        self._pieces.append(piece)


class _Client:
    """The client: reading and writing block, so that each has a thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, lines: Lines, fail: Callable[[BaseException], None]) -> None:
        self._loop, self._lines, self._fail = loop, lines, fail
        self.ended = asyncio.Event()
        # Clear while the client has much to read: then no server is heard.
        self.room = asyncio.Event()
        self.room.set()
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._waiting = 0
        self._writer = threading.Thread(target=self._write, daemon=True)
        self._writer.start()
        threading.Thread(target=self._read, daemon=True).start()

    def write(self, message: bytes) -> None:
        self._waiting += len(message) + 1
        if self._waiting > MOST:
            self.room.clear()
        self._queue.put(message + b"\n")

    def close(self) -> None:
        """Wait until everything is written, if the client reads."""
        self._queue.put(None)
        self._writer.join(PATIENCE)

    # Not through the streams of `sys`: a thread that waits in one of them holds a lock that Python wants at its end.
    def _write(self) -> None:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stdout = sys.stdout.fileno()
            while (message := self._queue.get()) is not None:
                rest = memoryview(message)
                while rest:
                    rest = rest[os.write(stdout, rest) :]
                self._soon(self._written, len(message))
            return
        # Nobody is there to read.
        self._soon(self.ended.set)

    def _written(self, length: int) -> None:
        self._waiting -= length
        if self._waiting <= MOST:
            self.room.set()

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stdin = sys.stdin.fileno()
            while piece := os.read(stdin, PIECE):
                taken = threading.Event()
                self._soon(self._take, piece, taken)
                taken.wait()
        self._soon(self._lines.end)
        self._soon(self.ended.set)

    def _take(self, piece: bytes, taken: threading.Event) -> None:
        try:
            self._lines.take(piece)
        finally:
            taken.set()

    def _soon(self, function: Callable[..., object], *arguments: object) -> None:
        # The loop may have ended.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function, *arguments)


class Remote:
    """A server at an address, through the SDK's transports: streamable HTTP, and SSE if that is all that it has."""

    # The SDK's own words in place of a status of HTTP.
    _NO_SUCH_TRANSPORT = ("Not Found", "Server returned an error response")
    _FORGOTTEN = "Session terminated"

    def __init__(self, server: dict[str, Any], message: Callable[[bytes], None]) -> None:
        self._server, self._message = server, message
        self._queue: asyncio.Queue[bytes] = asyncio.Queue()

    def send(self, message: bytes) -> None:
        """Send a message, once the connection is there."""
        self._queue.put_nowait(message)

    async def run(self) -> str:
        """Run until the connection ends; gives the reason."""
        from toolwire._server import is_address, why

        if not is_address(self._server["url"]):
            return "expected an address, found something else"
        ways = ["sse"] if self._server["sse"] else ["http", "sse"]
        first = await self._queue.get()
        ended = ""
        for way in ways:
            try:
                ended = await self._by(way, first)
            except Exception as error:
                ended = why(error, self._server["timeout"])
            if ended not in self._NO_SUCH_TRANSPORT:
                break
        return ended

    async def _by(self, way: str, first: bytes) -> str:
        from toolwire._server import streams

        async with contextlib.AsyncExitStack() as stack:
            messages, write = await streams(way, self._server, None, stack)
            await write.send(_session_message(first))
            sending = asyncio.create_task(self._send(write))
            stack.callback(sending.cancel)
            has_answered = False
            async for item in messages:
                if isinstance(item, Exception):
                    raise item
                found = getattr(item.message, "root", item.message)
                words = getattr(getattr(found, "error", None), "message", None)
                if words == self._FORGOTTEN or (not has_answered and words in self._NO_SUCH_TRANSPORT):
                    return str(words)
                has_answered = True
                self._message(found.model_dump_json(by_alias=True, exclude_unset=True).encode())
        return "the connection was closed"

    async def _send(self, write: Any) -> None:
        while True:
            await write.send(_session_message(await self._queue.get()))


def _session_message(message: bytes) -> Any:
    from mcp.shared.message import SessionMessage

    from toolwire._server import is_first

    if is_first():
        from mcp import types

        first: Any = types.JSONRPCMessage
        return SessionMessage(first.model_validate_json(message))
    from mcp_types import jsonrpc_message_adapter

    return SessionMessage(jsonrpc_message_adapter.validate_json(message))


class _Host:
    def __init__(self, settings: str, servers: list[dict[str, Any]], report: Any) -> None:
        self._connection = _toolwire.Proxy(settings)
        self._servers, self._report = servers, report
        self._running: dict[int, asyncio.subprocess.Process] = {}
        self._remotes: dict[int, Remote] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_over = False
        self._failure: BaseException | None = None

    async def run(self) -> None:
        self._loop = asyncio.get_running_loop()
        lines = Lines(
            MOST,
            lambda message: self._do(lambda: self._connection.client(message), message),
            lambda: self._do(lambda: self._connection.too_long(MOST)),
        )
        try:
            for at in range(len(self._servers)):
                await self._start(at, is_first=True)
            self._client = _Client(self._loop, lines, self._fail)
            await self._client.ended.wait()
        finally:
            self._is_over = True
            tasks = list(self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*(_ended(process) for process in self._running.values()))
            # Sessions at addresses are closed.
            await asyncio.wait(tasks, timeout=PATIENCE) if tasks else None
        self._client.close()
        if self._failure is not None:
            raise self._failure

    async def _start(self, at: int, *, is_first: bool) -> None:
        """Start a server, or connect to it. If it is the only one and was never there, its absence is an error."""
        server = self._servers[at]
        if "url" in server:
            remote = Remote(server, lambda message: self._do(lambda: self._connection.server(at, message), message))
            self._remotes[at] = remote
            self._task(self._connected(at, remote))
            return
        environment = {name: os.environ[name] for name in server["inherited"] if name in os.environ}
        # A function of the shell is no value.
        environment = {name: value for name, value in environment.items() if not value.startswith("()")}
        try:
            process = await asyncio.create_subprocess_exec(
                *server["command"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=server["folder"],
                env=environment | server["environment"],
                # A group of its own, so that what it starts itself ends with it.
                start_new_session=not IS_WINDOWS,
                limit=PIECE,
            )
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            why = "expected a command, found none of that name" if missing else str(error)
            if is_first and len(self._servers) == 1:
                raise RuntimeError(f"{server['name']}: {why}") from None
            self._do(lambda: self._connection.ended(at, why))
            return
        self._running[at] = process
        self._task(self._hear(at, process))

    async def _hear(self, at: int, process: asyncio.subprocess.Process) -> None:
        """Take the messages of a server until it ends."""
        reasons: list[str] = []

        def too_long() -> None:
            reasons.append(f"it wrote a message of more than {MOST} bytes")
            _kill(process, signal.SIGTERM if IS_WINDOWS else signal.SIGKILL)

        lines = Lines(MOST, lambda message: self._do(lambda: self._connection.server(at, message), message), too_long)
        assert process.stdout is not None
        while piece := await process.stdout.read(PIECE):
            lines.take(piece)
            await self._client.room.wait()
        lines.end()
        code = await process.wait()
        if not reasons:
            reasons.append(f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}")
        if self._running.get(at) is process:
            del self._running[at]
        self._do(lambda: self._connection.ended(at, reasons[0]))

    async def _connected(self, at: int, remote: Remote) -> None:
        """Speak with a server at an address until the connection ends."""
        why = await remote.run()
        if self._remotes.get(at) is remote:
            del self._remotes[at]
        self._do(lambda: self._connection.ended(at, without_secrets(why, self._servers[at])))

    async def _restart(self, at: int, pause: float) -> None:
        await asyncio.sleep(pause)
        await self._start(at, is_first=False)
        if at in self._running or at in self._remotes:
            self._do(lambda: self._connection.started(at))

    async def _alarm(self, alarm: int, pause: float) -> None:
        await asyncio.sleep(pause)
        self._do(lambda: self._connection.alarm(alarm))

    def _do(self, decide: Callable[[], list[tuple[str, str, str]]], message: bytes = b"") -> None:
        """Do what there is to do after a message, or after something else."""
        if self._is_over:
            return
        try:
            for kind, number, text in decide():
                self._carry_out(kind, int(number or 0), text, message)
        except Exception as error:
            self._fail(error)

    def _carry_out(self, kind: str, at: int, text: str, message: bytes) -> None:
        if kind == "client":
            self._client.write(text.encode("utf-8", "surrogatepass"))
        elif kind == "pass-client":
            self._client.write(message)
        elif kind == "server":
            self._to_server(at, text.encode("utf-8", "surrogatepass"))
        elif kind == "pass-server":
            self._to_server(at, message)
        elif kind == "start":
            self._task(self._restart(at, int(text) / 1000))
        elif kind == "alarm":
            self._task(self._alarm(at, int(text) / 1000))
        elif kind == "report":
            if self._report is not None:
                self._report.write(text.encode("utf-8", "surrogatepass") + b"\n")
        elif sys.stderr is not None:
            with contextlib.suppress(OSError):
                sys.stderr.write(f"{text}\n")
                sys.stderr.flush()

    def _to_server(self, at: int, message: bytes) -> None:
        remote = self._remotes.get(at)
        if remote is not None:
            remote.send(message)
        process = self._running.get(at)
        if process is None or process.stdin is None or process.stdin.is_closing():
            return
        process.stdin.write(message + b"\n")
        # One that does not read is not there.
        if process.stdin.transport.get_write_buffer_size() > MOST:
            _kill(process, signal.SIGTERM if IS_WINDOWS else signal.SIGKILL)

    def _task(self, work: Any) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _fail(self, error: BaseException) -> None:
        self._failure = self._failure or error
        self._client.ended.set()


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Let a server end: its input is closed, then it is told to end, then it is ended."""
    if process.stdin is not None:
        process.stdin.close()
    for number in ("SIGTERM", "SIGKILL"):
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(process.wait(), PATIENCE)
            break
        _kill(process, getattr(signal, number, signal.SIGTERM))
    else:
        await process.wait()
    # What it has started and left behind.
    _kill(process, getattr(signal, "SIGKILL", signal.SIGTERM))


def _kill(process: asyncio.subprocess.Process, number: int) -> None:
    """Send a signal to a server and to what it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if IS_WINDOWS:
            subprocess.run(["taskkill", "/pid", str(process.pid), "/T", "/F"], capture_output=True, check=False)
        else:
            os.killpg(process.pid, number)
