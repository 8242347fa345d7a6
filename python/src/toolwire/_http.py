"""HTTP code that `toolwire relay` and `toolwire proxy --listen` share."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import signal
import zlib
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from typing_extensions import Self

# Timeout for the head of a connection's first request, in seconds.
HEAD = 60.0
# Size of a piece, and maximum size of a line and of a field of a head, in bytes.
PIECE = 1 << 16
SIZES: dict[str, Any] = {"max_line_size": PIECE, "max_field_size": PIECE}
LATE = "expected the whole request in time, found a part of it"
SIGNALS = {"SIGHUP": 129, "SIGINT": 130, "SIGQUIT": 131, "SIGTERM": 143}


def prepare(command: str) -> None:
    """Make sure that aiohttp is installed, and silence its log."""
    try:
        import aiohttp  # noqa: F401
    except ImportError:
        message = (
            "expected the package aiohttp, an HTTP server and client, found none: run "
            f"`uvx 'toolwire[relay]' {command}`, or install `toolwire[relay]`"
        )
        raise RuntimeError(message) from None
    # Its messages may contain parts of the received data, including keys.
    logger = logging.getLogger("aiohttp")
    logger.propagate = False
    logger.addHandler(logging.NullHandler())


def token_of(settings: dict[str, Any]) -> str | None:
    """Return the token that clients have to send; `None` if no token is required."""
    variable = settings["token"]
    if variable is None:
        return None
    found = os.environ.get(variable, "").strip()
    if found:
        return found
    raise RuntimeError(f"expected a token in the variable {variable} of the environment, found none")


def signalled() -> asyncio.Future[int]:
    """Return a future whose result is the exit code for the first signal."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[int] = loop.create_future()
    for name, code in SIGNALS.items():
        # Windows has only some of these signals, and its event loop handles none, so Python's default handlers remain.
        number = getattr(signal, name, None)
        if number is None or signal.getsignal(number) is signal.SIG_IGN:
            continue
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, _once(ended, code))
    return ended


def _once(ended: asyncio.Future[int], code: int) -> Callable[[], None]:
    return lambda: None if ended.done() else ended.set_result(code)


class Listening:
    """An HTTP server that listens while the context is open."""

    def __init__(self, take: Callable[[Any], Any], listen: dict[str, Any]) -> None:
        self._take, self._listen = take, listen
        self.address = ""

    async def __aenter__(self) -> Self:
        """Start listening."""
        from aiohttp import web

        async def take(request: Any) -> Any:
            request.protocol.has_asked = True
            return await self._take(request)

        server = _server()(take, handler_cancellation=True, auto_decompress=False, access_log=None, **SIZES)
        self._runner = web.ServerRunner(server)
        await self._runner.setup()
        host, port = self._listen["host"], self._listen["port"]
        where = f"[{host}]" if ":" in host else host
        self._site = web.TCPSite(self._runner, host, port)
        try:
            await self._site.start()
        except OSError as error:
            await self._runner.cleanup()
            why = errno.errorcode.get(error.errno or 0, str(error))
            message = f"expected an address at which it can listen, found {where}:{port} ({why})"
            raise RuntimeError(message) from None
        self.address = f"{where}:{self._runner.addresses[0][1]}"
        return self

    async def stop(self) -> None:
        """Stop accepting connections."""
        await self._site.stop()

    async def __aexit__(self, *error: object) -> None:
        """Close all connections."""
        await self._runner.cleanup()


def _server() -> Any:
    """Return a subclass of aiohttp's server that closes connections that send no request."""
    from aiohttp import web

    class Connection(web.RequestHandler):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.has_asked = False
            asyncio.get_running_loop().call_later(HEAD, self._end_if_silent)

        def _end_if_silent(self) -> None:
            if not self.has_asked and self.transport is not None:
                self.transport.abort()

    class Server(web.Server):
        def __call__(self) -> Connection:
            return Connection(self, loop=self._loop, **self._kwargs)

    return Server


def response_of(status: int, headers: Any) -> Any:
    """Return a response with these headers, without aiohttp's default ones."""
    from aiohttp import web

    given = {name.lower() for name in headers}

    class Response(web.StreamResponse):
        async def _write_headers(self) -> None:
            for name in ("Server", "Content-Type"):
                if name.lower() not in given:
                    self.headers.popall(name, None)
            await super()._write_headers()

    return Response(status=status, headers=headers)


class UnreadableError(Exception):
    """A body that cannot be read. `status` is the HTTP status of the response."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def pairs(raw: Any) -> list[tuple[str, str]]:
    """Return headers as pairs of strings with one character for each byte."""
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in raw]


def as_sent(value: str) -> str:
    """Convert a header value for aiohttp, which encodes it as UTF-8."""
    return value.encode("latin-1").decode("utf-8", "replace")


async def pieces_of(request: Any, seconds: float) -> AsyncIterator[bytes]:
    """Yield the body of a request. `seconds` is the timeout for each piece (0: no timeout)."""
    if request.headers.get("Expect", "").lower() == "100-continue":
        request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    while True:
        try:
            piece = await asyncio.wait_for(request.content.readany(), seconds or None)
        except asyncio.TimeoutError:
            raise UnreadableError(408, LATE) from None
        if not piece:
            return
        yield piece


async def unpacked(pieces: AsyncIterator[bytes], encoding: str | None) -> AsyncIterator[bytes]:
    """Yield a body without its content encoding."""
    if encoding is None:
        async for piece in pieces:
            yield piece
        return
    unpack = _unpacker(encoding)
    async for piece in pieces:
        rest = piece
        while rest:
            if unpack.eof:
                # The next gzip member of the same body (RFC 1952, 2.2).
                unpack = _unpacker(encoding)
            try:
                text = unpack.decompress(rest, PIECE)
            except zlib.error:
                message = f"expected a body with the content encoding {encoding}, found another"
                raise UnreadableError(400, message) from None
            rest = unpack.unused_data if unpack.eof else unpack.unconsumed_tail
            if text:
                yield text
    if not unpack.eof:
        message = f"expected a body with the content encoding {encoding}, found the beginning of one"
        raise UnreadableError(400, message)


def _unpacker(encoding: str) -> Any:
    if encoding in ("gzip", "x-gzip", "deflate"):
        return zlib.decompressobj(zlib.MAX_WBITS | 32)
    message = f"expected the content encoding gzip or deflate, found `{encoding}`, which Python does not support"
    raise UnreadableError(415, message)


class Counter(Protocol):
    """Counts the bytes of the bodies that are being read."""

    def take(self, length: int) -> None:
        """Count bytes; raise an exception if there are too many."""

    def free(self, length: int) -> None:
        """Release bytes."""


class Room:
    """A limit on the total size of the bodies that are being read, in bytes."""

    def __init__(self, most: int) -> None:
        self._most, self._taken = most, 0

    def take(self, length: int) -> None:
        """Reserve this many bytes; fail if the total exceeds the limit."""
        if self._taken + length > self._most:
            raise UnreadableError(503, "expected fewer large bodies at once, found more")
        self._taken += length

    def free(self, length: int) -> None:
        """Release this many bytes."""
        self._taken -= length


async def whole(pieces: AsyncIterator[bytes], most: int, encoding: str | None, room: Counter | None = None) -> bytes:
    """Return a whole body without its content encoding."""
    parts: list[bytes] = []
    length = reserved = 0
    try:
        async for piece in unpacked(pieces, encoding):
            length += len(piece)
            if length > most:
                raise UnreadableError(413, f"expected a body of at most {most} bytes, found a larger one")
            if room is not None:
                room.take(len(piece))
                reserved = length
            parts.append(piece)
    finally:
        if room is not None:
            room.free(reserved)
    return b"".join(parts)
