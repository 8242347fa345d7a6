"""Sockets and timers of `toolwire relay`. Routing and responses are decided in Rust."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import io
import json
import time
from datetime import datetime, timezone
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from toolwire import _http, _toolwire
from toolwire._http import UnreadableError, as_sent, pairs, pieces_of, response_of, unpacked, whole
from toolwire._logs import Log, Report, report_file

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    Effects = list[tuple[str, str, str]]

# Timeout for open requests after a signal to stop, in seconds.
PATIENCE = 10.0
LARGE = 1 << 20


def run(settings: str) -> None:
    """Run until a signal stops the relay."""
    _http.prepare("relay …")
    parsed = json.loads(settings)
    token = _http.token_of(parsed)
    with contextlib.ExitStack() as stack:
        report = stack.enter_context(report_file(parsed["report"]))
        code = asyncio.run(_Host(settings, token, parsed, report).run())
    raise SystemExit(code)


class _Host:
    def __init__(self, text: str, token: str | None, settings: dict[str, Any], report: Report) -> None:
        self._text, self._token, self.settings, self._report = text, token, settings, report
        self._state = _toolwire.Relay(text, token)
        self._last = 0
        self._open: dict[asyncio.Task[Any], _Exchange] = {}
        self._session: Any = None
        self.log = Log()

    async def run(self) -> int:
        """Run until a signal arrives, and return the exit code."""
        import aiohttp

        ended = _http.signalled()
        # Requests and replies pass unchanged: aiohttp adds no headers or cookies, and decompresses nothing.
        self._session = aiohttp.ClientSession(
            auto_decompress=False,
            connector=aiohttp.TCPConnector(limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
            **_http.SIZES,
        )
        try:
            async with _http.Listening(self._take, self.settings["listen"]) as listening:
                self.log.line(self._state.started(listening.address))
                code = await ended
                await listening.stop()
                if self._open:
                    await asyncio.wait(self._open, timeout=PATIENCE)
                return code
        finally:
            await self._session.close()
            self.log.close()

    async def _take(self, request: Any) -> Any:
        self._last += 1
        task = asyncio.current_task()
        assert task is not None
        exchange = _Exchange(self, self._last, request)
        self._open[task] = exchange
        try:
            return await exchange.run()
        finally:
            del self._open[task]
            exchange.close()

    def ask(self, what: Callable[[_toolwire.Relay], Effects]) -> Effects:
        """Ask the core for the next actions. If it panics, open requests are aborted and the relay continues."""
        try:
            return what(self._state)
        except Exception as error:
            self.log.line(f"toolwire: internal: found a defect in toolwire ({error})")
            self._state = _toolwire.Relay(self._text, self._token)
            for exchange in self._open.values():
                exchange.abort()
            raise _GoneError from None

    async def send(self, upstream: int, method: str, target: str, headers: Any, body: Any) -> Any:
        """Send a request, and return the reply once its head has arrived."""
        import aiohttp
        from yarl import URL

        to = self.settings["upstreams"][upstream]
        scheme = "https" if to["encrypted"] else "http"
        host = f"[{to['host']}]" if ":" in to["host"] else to["host"]
        seconds = self.settings["timeout"]
        return await self._session.request(
            method,
            # The query is part of `path`, because yarl would drop a trailing `?`.
            URL.build(scheme=scheme, authority=f"{host}:{to['port']}", path=target, encoded=True),
            headers=headers,
            # aiohttp would write a large `bytes` object in a single call.
            data=io.BytesIO(body) if isinstance(body, bytes) and len(body) > LARGE else body,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=seconds, sock_read=seconds),
        )

    def note(self, kind: str, text: str) -> None:
        """Write a line to the log, or to the report."""
        if kind == "log":
            self.log.line(text)
        else:
            self._report.line(text, self.log.line)


class _StoppedError(Exception):
    """Ends the reading of a body, with the effects of the core."""

    def __init__(self, effects: Effects) -> None:
        super().__init__()
        self.effects = effects


class _GoneError(Exception):
    """Aborts the client's connection without a response."""


class _Exchange:
    """A client's request and its reply."""

    def __init__(self, host: _Host, number: int, request: Any) -> None:
        self._host, self._number, self._request = host, number, request
        self._body = b""
        self._reply: Any = None
        self._response: Any = None
        self._has_failed = False
        # True if the client stopped sending before the end of its request.
        self._is_silent = False
        # Time spent in the core, in seconds.
        self._spent = 0.0

    async def run(self) -> Any:
        """Carry out all actions, and return the response."""
        import aiohttp
        import aiohttp.web

        request = self._request
        peer = request.transport.get_extra_info("peername") if request.transport else None
        head = {
            "method": request.method,
            "target": request.raw_path,
            "headers": pairs(request.raw_headers),
            "time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
            "local": _is_local(peer),
        }
        try:
            await self._carry_out(self._ask(lambda state: state.request(self._number, json.dumps(head))))
        except (_GoneError, ConnectionError, aiohttp.ClientError):
            # The last two mean that the client has disconnected.
            self.abort()
        except Exception as error:
            self._host.log.line(f"toolwire: internal: found a defect in toolwire ({type(error).__name__})")
            self.abort()
        if self._response is None:
            self._response = aiohttp.web.Response(status=500)
        return self._response

    def close(self) -> None:
        """Close the reply without draining it, and report the end of the exchange to the core."""
        if self._reply is not None:
            self._reply.close()
        with contextlib.suppress(_GoneError):
            spent = round(self._spent * 1e6)
            for kind, _, text in self._ask(lambda state: state.closed(self._number, spent)):
                self._host.note(kind, text)

    def _ask(self, what: Callable[[_toolwire.Relay], Effects]) -> Effects:
        begin = time.perf_counter()
        try:
            return self._host.ask(what)
        finally:
            self._spent += time.perf_counter() - begin

    def abort(self) -> None:
        """Abort the client's connection, so that the client does not mistake a partial reply for a complete one."""
        if self._request.transport is not None:
            self._request.transport.abort()

    async def _carry_out(self, effects: Effects) -> None:
        for kind, about, text in effects:
            how = json.loads(about) if about else {}
            if kind == "answer":
                await self._answer(how, text.encode())
            elif kind == "read":
                await self._read(**how)
            elif kind == "forward":
                await self._send(how, self._pieces() if self._request.body_exists else None)
            elif kind == "send-body":
                body, self._body = self._body, b""
                await self._send(how, body)
            elif kind == "send":
                self._body = b""
                await self._send(how, text.encode())
            elif kind == "head":
                await self._head(how)
            elif kind == "through":
                await self._through()
            elif kind == "collect":
                await self._collect(**how)
            elif kind == "feed":
                await self._feed(**how)
            elif kind == "write":
                await self._write(text.encode())
            elif kind == "end":
                await self._response.write_eof()
            elif kind == "abort":
                raise _GoneError
            else:
                self._host.note(kind, text)

    async def _head(self, how: dict[str, Any]) -> None:
        from multidict import CIMultiDict

        headers = CIMultiDict((name, as_sent(value)) for name, value in how["headers"])
        self._response = response_of(how["status"], headers)
        if not self._request.content.at_eof():
            self._response.force_close()
        await self._response.prepare(self._request)

    async def _answer(self, how: dict[str, Any], body: bytes) -> None:
        await self._head(how)
        if self._request.method != "HEAD":
            await self._write(body)
        await self._response.write_eof()

    def take(self, length: int) -> None:
        """Count received bytes of a body."""
        effects = self._ask(lambda state: state.received(self._number, length))
        if effects:
            raise _StoppedError(effects)

    def free(self, length: int) -> None:
        """Do nothing: the core knows when a body is released."""

    async def _read(self, most: int, encoding: str | None) -> None:
        try:
            self._body = await whole(self._pieces(), most, encoding, self)
        except _StoppedError as stopped:
            await self._carry_out(stopped.effects)
            return
        except UnreadableError as error:
            status, why = error.status, str(error)
            await self._carry_out(self._ask(lambda state: state.unread(self._number, status, why)))
            return
        await self._carry_out(self._ask(lambda state: state.body(self._number, self._body)))

    async def _pieces(self) -> AsyncIterator[bytes]:
        try:
            async for piece in pieces_of(self._request, self._host.settings["timeout"]):
                yield piece
        except UnreadableError:
            self._is_silent = True
            raise

    async def _send(self, how: dict[str, Any], body: Any) -> None:
        from multidict import CIMultiDict

        try:
            headers = CIMultiDict((name, as_sent(value)) for name, value in how["headers"])
            self._reply = await self._host.send(how["upstream"], how["method"], how["target"], headers, body)
        except Exception as error:
            await self._failed(error)
            return
        status, head = self._reply.status, json.dumps(pairs(self._reply.raw_headers))
        await self._carry_out(self._ask(lambda state: state.reply(self._number, status, head)))

    async def _failed(self, error: Exception) -> None:
        is_late = self._is_silent or isinstance(error, asyncio.TimeoutError)
        if self._is_silent:
            why = "the client did not send the rest of its request"
        elif is_late:
            why = f"nothing was received for {self._host.settings['timeout']} seconds"
        else:
            why = _reason(error)
        await self._carry_out(self._ask(lambda state: state.failed(self._number, is_late, why)))

    async def _through(self) -> None:
        pieces = self._reply.content.iter_any()
        while (piece := await self._next(pieces)) is not None:
            await self._write(piece)
        await self._response.write_eof()

    async def _collect(self, most: int, encoding: str | None) -> None:
        try:
            body = await whole(self._reply.content.iter_any(), most, encoding, self)
        except _StoppedError as stopped:
            await self._carry_out(stopped.effects)
            return
        except Exception as error:
            await self._failed(error)
            return
        await self._carry_out(self._ask(lambda state: state.whole(self._number, body)))

    async def _feed(self, encoding: str | None) -> None:
        pieces = unpacked(self._reply.content.iter_any(), encoding)
        while (piece := await self._next(pieces)) is not None:
            await self._carry_out(self._ask(partial(_fed, self._number, piece)))
        if not self._has_failed:
            await self._carry_out(self._ask(lambda state: state.end(self._number)))

    async def _next(self, pieces: AsyncIterator[bytes]) -> bytes | None:
        """Return the next piece of a reply; None at the end, and after a failure, which is reported to the client."""
        try:
            return await anext(pieces, None)
        except Exception as error:
            self._has_failed = True
            await self._failed(error)
            return None

    async def _write(self, piece: bytes) -> None:
        """Write to the client. The upstream is paused meanwhile; after the timeout, the connection is aborted."""
        # `wait_for` would create a task for each piece.
        timer = asyncio.get_running_loop().call_later(self._host.settings["timeout"], self.abort)
        try:
            await self._response.write(piece)
        finally:
            timer.cancel()


def _fed(number: int, piece: bytes, state: _toolwire.Relay) -> Effects:
    return state.piece(number, piece)


def _reason(error: Exception) -> str:
    """Return a description of a failure. It omits aiohttp's own message, which would contain URLs and headers."""
    if isinstance(error, UnreadableError):
        return str(error)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and (code := errno.errorcode.get(cause.errno or 0)):
            return code
        cause = cause.__cause__ or cause.__context__
    return type(error).__name__


def _is_local(peer: Any) -> bool:
    try:
        address = ip_address(peer[0])
    except (TypeError, ValueError):
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback
