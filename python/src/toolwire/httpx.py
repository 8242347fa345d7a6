"""Transports for `httpx`, on which SDKs stood until 2026, and many still do: `pip install toolwire[httpx]`.

Requests are adapted on their way out, replies restored on their way back, and searches for deferred tools answered on
the way. `toolwire.httpx2` has the same for its successor:

>>> import httpx
>>> from toolwire.httpx import ToolwireTransport
>>> client = httpx.Client(transport=ToolwireTransport(dialect="moonshot"))

which is what the SDKs take as `http_client`. A GET, another path, or a body that is no conversation passes untouched,
and so do replies that are errors. If a request cannot be adapted, nothing is sent: the response has status 400 and says
why in the API's own words, so that an SDK raises its error of a bad request, and does not try again. Tools that cannot
be sent are set aside; a `toolwire.ToolwireWarning` tells of them, unless `on_set_aside` says otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

from . import _transport

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Unpack

    from .types import AdaptReport, ExchangeOptions, RepairedCall, SentRequest

__all__ = ["AsyncToolwireTransport", "ToolwireTransport"]


class _Pieces(_transport.Pieces, httpx.SyncByteStream):
    """A reply that comes in pieces."""


class _AsyncPieces(_transport.AsyncPieces, httpx.AsyncByteStream):
    """A reply that comes in pieces."""


class ToolwireTransport(_transport.Transport, httpx.BaseTransport):
    """Adapts every request with tools to the backend that it goes to, and restores the reply, whole or streamed."""

    pieces = _Pieces

    def __init__(
        self,
        transport: httpx.BaseTransport | None = None,
        *,
        on_report: Callable[[AdaptReport, SentRequest], object] | None = None,
        on_repair: Callable[[list[RepairedCall], SentRequest], object] | None = None,
        **options: Unpack[ExchangeOptions],
    ) -> None:
        """Stand before another transport; by default that of `httpx.Client`.

        `on_report` is told what was done to each request before it is sent, and which: the dialect, every change, which
        tools were set aside, which are loaded. `on_repair` is told what became of the arguments of calls, once each is
        whole, where they are repaired (`repair`). The dialect is told by host, path and model, unless `dialect` says
        it.

        Raises `ToolwireError`: `unknown-option`, `invalid-option`, `unknown-dialect`.
        """
        listeners = _transport.Listeners(on_report, on_repair)
        super().__init__(httpx.HTTPTransport() if transport is None else transport, httpx.Response, listeners, options)


class AsyncToolwireTransport(_transport.AsyncTransport, httpx.AsyncBaseTransport):
    """`ToolwireTransport` for `httpx.AsyncClient`."""

    pieces = _AsyncPieces

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        on_report: Callable[[AdaptReport, SentRequest], object] | None = None,
        on_repair: Callable[[list[RepairedCall], SentRequest], object] | None = None,
        **options: Unpack[ExchangeOptions],
    ) -> None:
        """Stand before another transport, as `ToolwireTransport` does."""
        listeners = _transport.Listeners(on_report, on_repair)
        super().__init__(
            httpx.AsyncHTTPTransport() if transport is None else transport, httpx.Response, listeners, options
        )
