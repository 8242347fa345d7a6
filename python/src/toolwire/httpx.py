"""Transports for `httpx`, on which the SDKs of the model APIs stand: `pip install toolwire[httpx]`.

Requests are adapted on their way out, replies restored on their way back, and searches for deferred tools answered on
the way:

>>> import httpx
>>> from toolwire.httpx import ToolwireTransport
>>> client = httpx.Client(transport=ToolwireTransport(dialect="moonshot"))

which is what the SDKs take as `http_client`. A GET, another path, or a body that is no JSON object passes untouched,
and so do replies that are errors. If a request cannot be adapted, `ToolwireError` is raised and nothing is sent.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

import httpx

from ._exchange import Exchange
from ._request import strip_deferral_betas

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from typing_extensions import Unpack

    from .types import AdaptReport, ExchangeOptions

__all__ = ["AsyncToolwireTransport", "ToolwireTransport"]


class ToolwireTransport(httpx.BaseTransport):
    """Adapts every request with tools to the backend that it goes to, and restores the reply, whole or streamed."""

    def __init__(
        self,
        transport: httpx.BaseTransport | None = None,
        *,
        on_report: Callable[[AdaptReport], object] | None = None,
        **options: Unpack[ExchangeOptions],
    ) -> None:
        """Stand before another transport; by default that of `httpx.Client`.

        `on_report` is told what was done to each request before it is sent: which tools were set aside, which are
        loaded. The dialect is told by host, path and model, unless `dialect` says it.

        Raises `ToolwireError`: `unknown-option`, `invalid-option`, `unknown-dialect`.
        """
        self._desk = _Desk(on_report, options)
        self._transport = httpx.HTTPTransport() if transport is None else transport

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, as often as it takes."""
        if not _may_be_adapted(request):
            return self._transport.handle_request(request)
        request.read()
        outgoing = self._desk.opened(request)
        if outgoing.exchange is None:
            return self._transport.handle_request(outgoing.request)
        while True:
            response = self._transport.handle_request(outgoing.next())
            if _is_stream(response):
                return _told(response, stream=_Pieces(outgoing, outgoing.exchange, response, self._transport))
            if not _is_json(response):
                return response
            reply = outgoing.exchange.reply(response.read())
            response.close()
            if reply is not None:
                return _told(response, content=reply.encode())

    def close(self) -> None:
        """Close the transport behind this one."""
        self._transport.close()


class AsyncToolwireTransport(httpx.AsyncBaseTransport):
    """`ToolwireTransport` for `httpx.AsyncClient`."""

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        on_report: Callable[[AdaptReport], object] | None = None,
        **options: Unpack[ExchangeOptions],
    ) -> None:
        """Stand before another transport, as `ToolwireTransport` does."""
        self._desk = _Desk(on_report, options)
        self._transport = httpx.AsyncHTTPTransport() if transport is None else transport

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, as often as it takes."""
        if not _may_be_adapted(request):
            return await self._transport.handle_async_request(request)
        await request.aread()
        outgoing = self._desk.opened(request)
        if outgoing.exchange is None:
            return await self._transport.handle_async_request(outgoing.request)
        while True:
            response = await self._transport.handle_async_request(outgoing.next())
            if _is_stream(response):
                return _told(response, stream=_AsyncPieces(outgoing, outgoing.exchange, response, self._transport))
            if not _is_json(response):
                return response
            reply = outgoing.exchange.reply(await response.aread())
            await response.aclose()
            if reply is not None:
                return _told(response, content=reply.encode())

    async def aclose(self) -> None:
        """Close the transport behind this one."""
        await self._transport.aclose()


class _Desk:
    """What both transports do with a request before it is sent."""

    def __init__(self, on_report: Callable[[AdaptReport], object] | None, options: ExchangeOptions) -> None:
        self.on_report, self.options = on_report, options
        # Wrong options are told here, and not with the first request.
        Exchange.open("", "", **options)

    def opened(self, request: httpx.Request) -> _Outgoing:
        """Open an exchange for a request that was read."""
        exchange = Exchange.open(str(request.url), request.content, **self.options)
        if exchange is None:
            return _Outgoing(None, request, None)
        body = exchange.request.encode()
        if self.options.get("deferred") is not False:
            request = _without_betas(request)
        if body != request.content:
            return _Outgoing(exchange, request, self.on_report)
        # Nothing to rewrite is nothing to restore.
        if self.on_report is not None:
            self.on_report(exchange.report)
        return _Outgoing(None, request, None)


class _Outgoing:
    """A request on its way out, which may have to be sent several times with another body."""

    def __init__(
        self,
        exchange: Exchange | None,
        request: httpx.Request,
        on_report: Callable[[AdaptReport], object] | None,
    ) -> None:
        self.exchange, self.request, self._on_report = exchange, request, on_report

    def next(self) -> httpx.Request:
        """Make the request that is to be sent now."""
        assert self.exchange is not None
        if self._on_report is not None:
            self._on_report(self.exchange.report)
        return _rewritten(self.request, self.request.headers, self.exchange.request.encode())


class _Pieces(httpx.SyncByteStream):
    """The streams of all rounds as one. Nothing is read before somebody wants it."""

    def __init__(
        self, outgoing: _Outgoing, exchange: Exchange, response: httpx.Response, transport: httpx.BaseTransport
    ) -> None:
        self._outgoing, self._exchange, self._response, self._transport = outgoing, exchange, response, transport

    def __iter__(self) -> Iterator[bytes]:
        exchange = self._exchange
        while True:
            decoder = _utf8()
            for piece in self._response.iter_bytes():
                if text := exchange.feed_text(decoder.decode(piece)):
                    yield text.encode()
            if text := exchange.feed_text(decoder.decode(b"", final=True)) + exchange.finish_text():
                yield text.encode()
            if not exchange.asks_again:
                return
            self._response.close()
            self._response = self._transport.handle_request(self._outgoing.next())
            if not _is_stream(self._response):
                yield exchange.failed_text(self._response.read().decode(errors="replace")).encode()
                return

    def close(self) -> None:
        self._response.close()


class _AsyncPieces(httpx.AsyncByteStream):
    """`_Pieces` for `httpx.AsyncClient`."""

    def __init__(
        self, outgoing: _Outgoing, exchange: Exchange, response: httpx.Response, transport: httpx.AsyncBaseTransport
    ) -> None:
        self._outgoing, self._exchange, self._response, self._transport = outgoing, exchange, response, transport

    async def __aiter__(self) -> AsyncIterator[bytes]:
        exchange = self._exchange
        while True:
            decoder = _utf8()
            async for piece in self._response.aiter_bytes():
                if text := exchange.feed_text(decoder.decode(piece)):
                    yield text.encode()
            if text := exchange.feed_text(decoder.decode(b"", final=True)) + exchange.finish_text():
                yield text.encode()
            if not exchange.asks_again:
                return
            await self._response.aclose()
            self._response = await self._transport.handle_async_request(self._outgoing.next())
            if not _is_stream(self._response):
                yield exchange.failed_text((await self._response.aread()).decode(errors="replace")).encode()
                return

    async def aclose(self) -> None:
        await self._response.aclose()


def _may_be_adapted(request: httpx.Request) -> bool:
    kind = request.headers.get("content-type", "")
    is_json = kind == "" or re.search(r"\bjson\b", kind, re.IGNORECASE) is not None
    return request.method.upper() == "POST" and is_json and "content-encoding" not in request.headers


def _is_stream(response: httpx.Response) -> bool:
    return response.is_success and re.match(r"text/event-stream\b", _kind(response), re.IGNORECASE) is not None


def _is_json(response: httpx.Response) -> bool:
    return response.is_success and re.search(r"\bjson\b", _kind(response), re.IGNORECASE) is not None


def _kind(response: httpx.Response) -> str:
    kind: str = response.headers.get("content-type", "")
    return kind


def _utf8() -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder("utf-8")()


def _without_betas(request: httpx.Request) -> httpx.Request:
    before = request.headers.get("anthropic-beta")
    left = strip_deferral_betas(before)
    if left == before:
        return request
    headers = request.headers.copy()
    if left is None:
        del headers["anthropic-beta"]
    else:
        headers["anthropic-beta"] = left
    return _rewritten(request, headers, request.content)


def _rewritten(request: httpx.Request, headers: httpx.Headers, body: bytes) -> httpx.Request:
    """Give the same request another body, and the headers for it."""
    left = [
        (name, value) for name, value in headers.multi_items() if name not in ("content-length", "transfer-encoding")
    ]
    return httpx.Request(request.method, request.url, headers=left, content=body, extensions=request.extensions)


def _told(
    response: httpx.Response,
    *,
    content: bytes | None = None,
    stream: httpx.SyncByteStream | httpx.AsyncByteStream | None = None,
) -> httpx.Response:
    """Give the same response another body. What was unpacked is packed no longer."""
    gone = ("content-encoding", "content-length", "transfer-encoding")
    headers = [(name, value) for name, value in response.headers.multi_items() if name not in gone]
    return httpx.Response(
        response.status_code, headers=headers, content=content, stream=stream, extensions=response.extensions
    )
