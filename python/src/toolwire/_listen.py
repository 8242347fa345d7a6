"""Sockets and timers of `toolwire proxy --listen`. Routing is in Rust."""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from typing import TYPE_CHECKING, Any

from toolwire import _http, _toolwire
from toolwire._http import LATE, Room, UnreadableError, as_sent, pairs, pieces_of, response_of, whole
from toolwire._logs import Log
from toolwire._proxy import Client, Host

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire._logs import Report

    Effects = list[tuple[str, str, str]]

# Timeout for reading a request body, and for a client that does not read its response, in seconds.
PATIENCE = 60.0
# Timeout for the servers of all sessions to end, in seconds.
LAST_PATIENCE = 5.0
# Maximum number of unsent response bytes before servers are paused.
MAX_WAITING = 1 << 20
# Maximum number of unsent response bytes for a client that cannot pause the servers.
MAX_SHARED = 16 << 20
# Maximum total size of the bodies that are being read, in bytes.
MAX_BODIES = 512 << 20


def serve(settings: str, report: Report) -> int:
    """Run until a signal arrives, and return the exit code."""
    _http.prepare("proxy --listen …")
    parsed = json.loads(settings)
    return asyncio.run(_Front(settings, _http.token_of(parsed), parsed, report).run())


class _Front:
    """The sessions of all clients."""

    def __init__(self, text: str, token: str | None, settings: dict[str, Any], report: Report) -> None:
        self._text, self._token, self._settings, self._report = text, token, settings, report
        self._listener = _toolwire.Listener(text, token)
        self._last = self._last_session = 0
        self.room = Room(MAX_BODIES)
        self._open: dict[int, _Exchange] = {}
        self._sessions: dict[int, _Session] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._timers: dict[int, asyncio.TimerHandle] = {}
        # Pending actions in order, each with the body that preceded it.
        self._work: list[tuple[Effects, bytes]] = []
        self._is_over = False

    async def run(self) -> int:
        """Run until a signal arrives, and return the exit code."""
        self._log = Log()
        ended = _http.signalled()
        try:
            async with _http.Listening(self._take, self._settings["listen"]) as listening:
                self._log.line(self._listener.started(listening.address))
                code = await ended
                self._is_over = True
                await listening.stop()
                for session in self._sessions.values():
                    session.ended.set()
                if self._tasks:
                    _, late = await asyncio.wait(self._tasks, timeout=LAST_PATIENCE)
                    for task in late:
                        task.cancel()
                for exchange in self._open.values():
                    exchange.abort()
                return code
        finally:
            for timer in self._timers.values():
                timer.cancel()
            self._log.close()

    async def _take(self, request: Any) -> Any:
        self._last += 1
        number = self._last
        exchange = self._open[number] = _Exchange(self, number, request)
        head = {
            "method": request.method,
            "target": request.raw_path,
            "headers": pairs(request.raw_headers),
            "id": str(uuid.uuid4()),
        }
        try:
            self.do(lambda listener: listener.request(number, json.dumps(head)))
            return await exchange.run()
        finally:
            del self._open[number]
            exchange.close()
            self.do(lambda listener: listener.closed(number))

    def do(self, decide: Callable[[_toolwire.Listener], Effects], body: bytes = b"") -> None:
        """Carry out the actions after an event, including those of events that arrive meanwhile."""
        if self._is_over:
            return
        try:
            self._work.append((decide(self._listener), body))
        except Exception as error:
            self._restart(error)
            return
        # The call that is already running also carries out these actions.
        if len(self._work) > 1:
            return
        while self._work:
            effects, received = self._work[0]
            try:
                for kind, about, text in effects:
                    self._carry_out(kind, json.loads(about) if about else {}, text, received)
            except Exception as error:
                self._restart(error)
            finally:
                del self._work[0]

    def _restart(self, error: Exception) -> None:
        """End all sessions after a failure of the core or this host. New sessions may start."""
        self._log.line(f"toolwire: internal: found a defect in toolwire ({error})")
        settings = json.dumps({**self._settings, "lastSession": self._last_session})
        self._listener = _toolwire.Listener(settings, self._token)
        del self._work[1:]
        # The remaining actions belong to the ended sessions.
        for effects, _ in self._work:
            effects.clear()
        for exchange in self._open.values():
            exchange.abort()
        for session in self._sessions.values():
            session.ended.set()
        self._sessions.clear()

    def _carry_out(self, kind: str, about: dict[str, Any], text: str, body: bytes) -> None:
        exchange = self._open.get(about.get("request", 0))
        number = about.get("session", 0)
        session = self._sessions.get(number)
        if kind in ("read", "answer", "head", "write", "end"):
            if exchange is not None:
                exchange.push(kind, about, text.encode("utf-8", "surrogatepass"), session)
        elif kind == "open":
            self._last_session = number
            self._begin(number)
        elif kind in ("message", "pass"):
            if session is not None:
                session.push(body if kind == "pass" else text.encode("utf-8", "surrogatepass"))
        elif kind == "close":
            if session is not None:
                session.ended.set()
        elif kind == "alarm":
            self._timers[number] = asyncio.get_running_loop().call_later(about["delay"] / 1000, self._alarm, number)
        else:
            self._log.line(text)

    def _alarm(self, session: int) -> None:
        del self._timers[session]
        self.do(lambda listener: listener.alarm(session))

    def _begin(self, number: int) -> None:
        session = self._sessions[number] = _Session(
            lambda message: self.do(lambda listener: listener.message(number, message))
        )
        task = asyncio.get_running_loop().create_task(self._run(number, session))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, number: int, session: _Session) -> None:
        why = "it has ended"
        try:
            await Host(self._text, self._log, self._report).run(session)
        except Exception as error:
            why = str(error)
        if self._sessions.get(number) is session:
            del self._sessions[number]
            self.do(lambda listener: listener.ended(number, why))


class _Session(Client):
    """The client of one session."""

    def __init__(self, tell: Callable[[bytes], None]) -> None:
        super().__init__()
        self._tell = tell
        self._host: Host | None = None
        # Messages that arrived before the servers were started.
        self._early: list[bytes] = []
        # Responses with too many unsent bytes.
        self._full: set[_Exchange] = set()

    def listen(self, host: Host) -> None:
        self._host = host
        early, self._early = self._early, []
        for message in early:
            host.take(message)

    def push(self, message: bytes) -> None:
        if self._host is None:
            self._early.append(message)
        else:
            self._host.take(message)

    def write(self, message: bytes) -> None:
        self._tell(message)

    def wait(self, exchange: _Exchange) -> None:
        """Pause the servers until the client has read the response."""
        self._full.add(exchange)
        self.room.clear()

    def go_on(self, exchange: _Exchange) -> None:
        self._full.discard(exchange)
        if not self._full:
            self.room.set()


class _Exchange:
    """A client's request and its response."""

    def __init__(self, front: _Front, number: int, request: Any) -> None:
        self._front, self._number, self._request = front, number, request
        self._queue: asyncio.Queue[tuple[str, dict[str, Any], bytes]] = asyncio.Queue()
        self._waiting = 0
        self._session: _Session | None = None
        self._response: Any = None

    def push(self, kind: str, about: dict[str, Any], text: bytes, session: _Session | None) -> None:
        """Queue an effect for this response."""
        if kind == "write" and about["session"] == 0 and self._waiting > MAX_SHARED:
            # Other clients share the servers, which cannot be paused for this one.
            self.abort()
            return
        self._queue.put_nowait((kind, about, text))
        self._waiting += len(text)
        if session is not None and self._waiting > MAX_WAITING:
            self._session = session
            session.wait(self)

    async def run(self) -> Any:
        """Carry out all actions, and return the response."""
        with contextlib.suppress(ConnectionError):
            while True:
                kind, about, text = await self._queue.get()
                if kind == "read":
                    await self._read(about["most"])
                    continue
                if kind in ("answer", "head"):
                    await self._head(about)
                if text and self._request.method != "HEAD":
                    await self._write(text)
                if kind in ("answer", "end"):
                    await self._response.write_eof()
                    return self._response
        # The client has disconnected.
        self.abort()
        return self._response

    def close(self) -> None:
        """Resume the servers, which no longer wait for this client."""
        if self._session is not None:
            self._session.go_on(self)

    def abort(self) -> None:
        """Abort the client's connection."""
        if self._request.transport is not None:
            self._request.transport.abort()

    async def _read(self, most: int) -> None:
        number = self._number
        try:
            body = await asyncio.wait_for(whole(pieces_of(self._request, 0), most, None, self._front.room), PATIENCE)
        except asyncio.TimeoutError:
            status, why = 408, LATE
        except UnreadableError as error:
            status, why = error.status, str(error)
        else:
            self._front.do(lambda listener: listener.body(number, body), body)
            return
        self._front.do(lambda listener: listener.unread(number, status, why))

    async def _head(self, about: dict[str, Any]) -> None:
        from multidict import CIMultiDict

        headers = CIMultiDict((name, as_sent(value)) for name, value in about["headers"])
        self._response = response_of(about["status"], headers)
        if not self._request.content.at_eof():
            self._response.force_close()
        await self._response.prepare(self._request)

    async def _write(self, text: bytes) -> None:
        """Write to the client. After the timeout, the connection is aborted."""
        timer = asyncio.get_running_loop().call_later(PATIENCE, self.abort)
        try:
            await self._response.write(text)
        finally:
            timer.cancel()
        self._waiting -= len(text)
        if self._session is not None and self._waiting <= MAX_WAITING:
            self._session.go_on(self)
