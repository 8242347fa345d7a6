"""Processes, streams and timers of `toolwire proxy`. Routing is in Rust."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

from toolwire import _toolwire
from toolwire._limited import Limit
from toolwire._logs import MAX_LOG, Log, Report, report_file
from toolwire._secrets import without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

# Maximum size of a message, and of output that its reader has not read yet, in bytes.
MAX_MESSAGE = 64 << 20
PIECE = 1 << 16
# Timeout for each step of stopping a server, in seconds.
PATIENCE = 1.0
# Timeout for open requests after the client has disconnected, in seconds. It allows for servers that are still
# starting.
LAST_ANSWERS = 10.0
IS_WINDOWS = sys.platform == "win32"
KILL: int = getattr(signal, "SIGKILL", signal.SIGTERM)


def run(settings: str) -> None:
    """Run until the client disconnects."""
    parsed = json.loads(settings)
    if any("url" in server for server in parsed["servers"]):
        # Imported here because only servers at a URL need the SDK.
        from toolwire._server import prepare

        prepare("--url URL")
    with contextlib.ExitStack() as stack:
        report = stack.enter_context(report_file(parsed["report"]))
        if parsed["listen"] is None:
            asyncio.run(_serve_stdio(settings, report))
            return
        from toolwire._listen import serve

        code = serve(settings, report)
    raise SystemExit(code)


async def _serve_stdio(settings: str, report: Report) -> None:
    log = Log()
    try:
        await Host(settings, log, report).run(_Stdio())
    finally:
        log.close()


class Lines:
    """Joins pieces into lines. A line that exceeds the maximum length is skipped to its end."""

    def __init__(self, most: int, line: Callable[[bytes], None], too_long: Callable[[], None]) -> None:
        self._most, self._line, self._too_long = most, line, too_long
        self._pieces: list[bytes] = []
        self._length, self._skips = 0, False

    def take(self, piece: bytes) -> None:
        """Read a piece, which may contain the ends of several lines."""
        *ended, rest = piece.split(b"\n")
        for part in ended:
            self._add(part)
            self.end()
        self._add(rest)

    def end(self) -> None:
        """End the current line, and handle it unless it is blank or skipped."""
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


class Client:
    """The client of a proxy."""

    def __init__(self) -> None:
        # Set once the client has disconnected.
        self.ended = asyncio.Event()
        # Cleared while the client's output is backed up. Until it is set again, neither the servers nor the client
        # are read.
        self.room = asyncio.Event()
        self.room.set()

    def listen(self, host: Host) -> None:
        """Start passing the client's messages to the host."""
        raise NotImplementedError

    def write(self, message: bytes) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Wait for a limited time until all output is written."""


class _Stdio(Client):
    """The client on standard input and output. Reads and writes block, so each has a thread."""

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._waiting = 0
        self._writer = threading.Thread(target=self._write, daemon=True)
        self._writer.start()

    def listen(self, host: Host) -> None:
        self._lines = Lines(MAX_MESSAGE, host.take, host.refuse)
        threading.Thread(target=self._read, daemon=True).start()

    def write(self, message: bytes) -> None:
        self._waiting += len(message) + 1
        if self._waiting > MAX_MESSAGE:
            self.room.clear()
        self._queue.put(message + b"\n")

    def close(self) -> None:
        self._queue.put(None)
        self._writer.join(PATIENCE)

    # Does not use the streams of `sys`: a thread that waits in one holds a lock that Python needs when it exits.
    def _write(self) -> None:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stdout = sys.stdout.fileno()
            while (message := self._queue.get()) is not None:
                rest = memoryview(message)
                while rest:
                    rest = rest[os.write(stdout, rest) :]
                self._soon(self._written, len(message))
            return
        # The client has closed its end of the pipe.
        self._soon(self.ended.set)

    def _written(self, length: int) -> None:
        self._waiting -= length
        if self._waiting <= MAX_MESSAGE:
            self.room.set()

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError, AttributeError, RuntimeError):
            stdin = sys.stdin.fileno()
            while piece := os.read(stdin, PIECE):
                asyncio.run_coroutine_threadsafe(self._take(piece), self._loop).result()
        self._soon(self._lines.end)
        self._soon(self.ended.set)

    async def _take(self, piece: bytes) -> None:
        self._lines.take(piece)
        await self.room.wait()

    def _soon(self, function: Callable[..., object], *arguments: object) -> None:
        # The loop may already be closed.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function, *arguments)


class Remote:
    """A remote server, through the SDK's transports: streamable HTTP, or SSE if the server supports nothing else."""

    # Error messages of the SDK, which does not report the HTTP status.
    _NO_SUCH_TRANSPORT = ("Not Found", "Server returned an error response")
    _FORGOTTEN = "Session terminated"

    def __init__(
        self, server: dict[str, Any], message: Callable[[bytes], None], undelivered: Callable[[bytes, str], None]
    ) -> None:
        self._server, self._message, self._undelivered = server, message, undelivered
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._stopped = asyncio.Event()

    def send(self, message: bytes) -> None:
        """Queue a message, which is sent once the connection is open."""
        self._queue.put_nowait(message)

    def stop(self) -> None:
        """End the connection, even while a message is being sent."""
        self._stopped.set()
        self._queue.put_nowait(None)

    async def run(self) -> str:
        """Run until the connection ends, and return the reason."""
        from toolwire._server import is_address, why

        if not is_address(self._server["url"]):
            return "expected an address, found something else"
        ways = ["sse"] if self._server["sse"] else ["http", "sse"]
        first = await self._queue.get()
        ended = "it was ended"
        if first is None:
            return ended
        for way in ways:
            try:
                limit = Limit(MAX_MESSAGE, together=False)
                ended = await limit.run(self._by(way, first, limit))
            except Exception as error:
                ended = why(error, self._server["timeout"])
            if ended not in self._NO_SUCH_TRANSPORT:
                break
        return ended

    async def _by(self, way: str, first: bytes, limit: Limit) -> str:
        from toolwire._server import streams

        async with contextlib.AsyncExitStack() as stack:
            messages, write = await streams(way, self._server, None, limit, stack)
            sending = asyncio.create_task(self._send(write, first))
            stack.callback(sending.cancel)
            hearing = asyncio.create_task(self._hear(messages))
            stack.callback(hearing.cancel)
            stopping = asyncio.create_task(self._stopped.wait())
            stack.callback(stopping.cancel)
            await asyncio.wait((sending, hearing, stopping), return_when=asyncio.FIRST_COMPLETED)
            for task in (sending, hearing):
                if task.done():
                    return task.result()
            return "it was ended"

    async def _hear(self, messages: Any) -> str:
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

    async def _send(self, write: Any, message: bytes | None) -> str:
        while message is not None:
            try:
                read = _session_message(message)
            except ValueError:
                self._undelivered(message, "the SDK does not take this message")
            else:
                await write.send(read)
            message = await self._queue.get()
        return "it was ended"


def _session_message(message: bytes) -> Any:
    from mcp.shared.message import SessionMessage

    from toolwire._server import is_first

    if is_first():
        from mcp import types

        first: Any = types.JSONRPCMessage
        return SessionMessage(first.model_validate_json(message))
    from mcp_types import jsonrpc_message_adapter

    return SessionMessage(jsonrpc_message_adapter.validate_json(message))


class _Program:
    """A server process that the proxy started."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        # The reason why the proxy killed the server, if it did.
        self.reason: str | None = None

    def send(self, message: bytes) -> None:
        stdin = self._process.stdin
        if stdin is None or stdin.is_closing():
            return
        stdin.write(message + b"\n")
        # A server that does not read its input is killed.
        if stdin.transport.get_write_buffer_size() > MAX_MESSAGE:
            self.stop(f"it has not read {MAX_MESSAGE} bytes")

    def stop(self, reason: str | None = None) -> None:
        """Kill the server, and record the reason."""
        self.reason = self.reason or reason
        self.kill(KILL)

    def kill(self, number: int) -> None:
        """Send a signal to the server and its child processes."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if IS_WINDOWS:
                subprocess.run(
                    ["taskkill", "/pid", str(self._process.pid), "/T", "/F"], capture_output=True, check=False
                )
            else:
                os.killpg(self._process.pid, number)

    async def close(self) -> None:
        """Stop the server: close its input, then send SIGTERM, then SIGKILL."""
        try:
            if self._process.stdin is not None:
                self._process.stdin.close()
            for number in (signal.SIGTERM, KILL):
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self.exited(), PATIENCE)
                    break
                self.kill(number)
        finally:
            self.kill(KILL)

    async def exited(self) -> None:
        """Wait until the process exits. asyncio's `wait` would also wait until other processes close its streams."""
        while self._process.returncode is None:
            await asyncio.sleep(0.05)

    def release(self) -> None:
        """Close the streams, which another process may keep open. asyncio closes them only after their last writer."""
        self._process._transport.close()  # type: ignore[attr-defined]

    def end(self) -> str:
        """Return the reason why the process ended."""
        code = self._process.returncode or 0
        if self.reason is not None:
            return self.reason
        if code >= 0:
            return f"exit code {code}"
        try:
            return f"signal {signal.Signals(-code).name}"
        except ValueError:
            return f"signal {-code}"


class Host:
    """A proxy between one client and its servers."""

    def __init__(self, settings: str, log: Log, report: Report) -> None:
        self._connection = _toolwire.Proxy(settings)
        self._servers: list[dict[str, Any]] = json.loads(settings)["servers"]
        self._log, self._report = log, report
        self._links: dict[int, _Program | Remote] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._delayed: set[asyncio.Task[None]] = set()
        self._is_over = False
        self._failure: BaseException | None = None

    async def run(self, client: Client) -> None:
        """Run until the client disconnects."""
        self._loop = asyncio.get_running_loop()
        self._client = client
        try:
            await asyncio.gather(*(self._start(at, is_first=True) for at in range(len(self._servers))))
            self._client.listen(self)
            await self._client.ended.wait()
            # Wait for answers to requests that the client sent before it disconnected.
            for _ in range(1000):
                if self._failure is not None or not self._connection.unanswered():
                    break
                await asyncio.sleep(LAST_ANSWERS / 1000)
        finally:
            self._is_over = True
            try:
                await self._close()
            finally:
                # Runs even if closing was interrupted.
                for link in self._links.values():
                    if isinstance(link, _Program):
                        link.kill(KILL)
        self._client.close()
        if self._failure is not None:
            raise self._failure

    def take(self, message: bytes) -> None:
        """Handle a message from the client."""
        self._do(lambda: self._connection.client(message), message)

    def refuse(self) -> None:
        """Reject a message from the client that is too long."""
        self._do(lambda: self._connection.too_long(MAX_MESSAGE))

    async def _close(self) -> None:
        for task in self._delayed:
            task.cancel()
        for link in self._links.values():
            if isinstance(link, Remote):
                link.stop()
        await asyncio.gather(*(link.close() for link in self._links.values() if isinstance(link, _Program)))
        tasks = list(self._tasks)
        if tasks:
            # Connections to remote servers are given time to close.
            _, late = await asyncio.wait(tasks, timeout=PATIENCE)
            for task in late:
                task.cancel()

    async def _start(self, at: int, *, is_first: bool) -> None:
        """Start a server, or connect to it. Raise an error if the only server fails to start the first time."""
        server = self._servers[at]
        if "url" in server:
            remote = Remote(
                server,
                lambda message: self._do(lambda: self._connection.server(at, message), message),
                lambda message, why: self._do(lambda: self._connection.undelivered(at, message, why)),
            )
            self._links[at] = remote
            self._task(self._connected(at, remote))
            return
        environment = {name: os.environ[name] for name in server["inherited"] if name in os.environ}
        # Skips exported shell functions.
        environment = {name: value for name, value in environment.items() if not value.startswith("()")}
        try:
            process = await asyncio.create_subprocess_exec(
                *server["command"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=server["folder"],
                env=environment | server["environment"],
                # A separate process group, so that the server's child processes are killed with it.
                start_new_session=not IS_WINDOWS,
                limit=PIECE,
            )
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            code = errno.errorcode.get(error.errno or 0, str(error))
            why = "expected a command, found none with this name" if missing else code
            if is_first and len(self._servers) == 1:
                raise RuntimeError(f"{server['name']}: {why}") from None
            self._do(lambda: self._connection.ended(at, why))
            return
        program = _Program(process)
        self._links[at] = program
        self._task(self._run(at, program, process))

    async def _run(self, at: int, program: _Program, process: asyncio.subprocess.Process) -> None:
        """Read a server's output until the server ends."""
        lines = Lines(
            MAX_MESSAGE,
            lambda message: self._do(lambda: self._connection.server(at, message), message),
            lambda: program.stop(f"it wrote a message of more than {MAX_MESSAGE} bytes"),
        )
        logged = Lines(
            MAX_LOG,
            lambda line: self._log.line(_toolwire.Command.heard(line.decode("utf-8", "replace")).rstrip("\n")),
            lambda: None,
        )
        hearing = asyncio.gather(self._hear(process.stdout, lines), self._hear(process.stderr, logged))
        try:
            await program.exited()
        finally:
            # Kills leftover child processes, which would keep the streams open.
            program.kill(KILL)
        while not hearing.done():
            await asyncio.wait((hearing,), timeout=PATIENCE)
            if self._client.room.is_set():
                # A process outside the server's group may keep the streams open.
                hearing.cancel()
                break
        with contextlib.suppress(asyncio.CancelledError):
            await hearing
        program.release()
        if self._links.get(at) is program:
            del self._links[at]
        self._do(lambda: self._connection.ended(at, program.end()))

    async def _hear(self, stream: asyncio.StreamReader | None, lines: Lines) -> None:
        assert stream is not None
        while piece := await stream.read(PIECE):
            lines.take(piece)
            await self._client.room.wait()
        lines.end()

    async def _connected(self, at: int, remote: Remote) -> None:
        """Exchange messages with a remote server until the connection ends."""
        why = await remote.run()
        if self._links.get(at) is remote:
            del self._links[at]
        self._do(lambda: self._connection.ended(at, without_secrets(why, self._servers[at])))

    async def _restart(self, at: int, delay: float) -> None:
        await asyncio.sleep(delay)
        if self._is_over:
            return
        await self._start(at, is_first=False)
        if at in self._links:
            self._do(lambda: self._connection.started(at))

    async def _alarm(self, alarm: int, delay: float) -> None:
        await asyncio.sleep(delay)
        self._do(lambda: self._connection.alarm(alarm))

    def _do(self, decide: Callable[[], list[tuple[str, str, str]]], message: bytes = b"") -> None:
        """Carry out the actions after a message or another event."""
        if self._is_over:
            return
        try:
            for kind, number, text in decide():
                self._carry_out(kind, int(number or 0), text, message)
        except Exception as error:
            self._failure = self._failure or error
            self._client.ended.set()

    def _carry_out(self, kind: str, at: int, text: str, message: bytes) -> None:
        link = self._links.get(at)
        if kind == "client":
            self._client.write(text.encode("utf-8", "surrogatepass"))
        elif kind == "pass-client":
            self._client.write(message)
        elif kind in ("server", "pass-server"):
            if link is not None:
                link.send(message if kind == "pass-server" else text.encode("utf-8", "surrogatepass"))
        elif kind == "stop":
            if link is not None:
                link.stop()
        elif kind == "start":
            self._later(self._restart(at, int(text) / 1000))
        elif kind == "alarm":
            self._later(self._alarm(at, int(text) / 1000))
        elif kind == "report":
            self._report.line(text, self._log.line)
        else:
            self._log.line(text)

    def _task(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        """Run delayed work, which is cancelled when the proxy ends."""
        task = self._loop.create_task(work)
        self._delayed.add(task)
        task.add_done_callback(self._delayed.discard)
