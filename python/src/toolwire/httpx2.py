"""Transports for `httpx2`, on which the SDKs of the model APIs stand now: `pip install toolwire[httpx2]`.

Requests are adapted on their way out, replies restored on their way back, and searches for deferred tools answered on
the way:

>>> import httpx2
>>> from toolwire.httpx2 import ToolwireTransport
>>> client = httpx2.Client(transport=ToolwireTransport(dialect="moonshot"))

which is what the SDKs take as `http_client`. A GET, another path, or a body that is no conversation passes untouched,
and so do replies that are errors. If a request cannot be adapted, `ToolwireError` is raised and nothing is sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2

from . import _transport

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Unpack

    from .types import AdaptReport, ExchangeOptions

__all__ = ["AsyncToolwireTransport", "ToolwireTransport"]


class _Pieces(_transport.Pieces, httpx2.SyncByteStream):
    """A reply that comes in pieces."""


class _AsyncPieces(_transport.AsyncPieces, httpx2.AsyncByteStream):
    """A reply that comes in pieces."""


class ToolwireTransport(_transport.Transport, httpx2.BaseTransport):
    """Adapts every request with tools to the backend that it goes to, and restores the reply, whole or streamed."""

    pieces = _Pieces

    def __init__(
        self,
        transport: httpx2.BaseTransport | None = None,
        *,
        on_report: Callable[[AdaptReport], object] | None = None,
        **options: Unpack[ExchangeOptions],
    ) -> None:
        """Stand before another transport; by default that of `httpx2.Client`.

        `on_report` is told what was done to each request before it is sent: which tools were set aside, which are
        loaded. The dialect is told by host, path and model, unless `dialect` says it.

        Raises `ToolwireError`: `unknown-option`, `invalid-option`, `unknown-dialect`.
        """
        super().__init__(httpx2.HTTPTransport() if transport is None else transport, on_report, options)


class AsyncToolwireTransport(_transport.AsyncTransport, httpx2.AsyncBaseTransport):
    """`ToolwireTransport` for `httpx2.AsyncClient`."""

    pieces = _AsyncPieces

    def __init__(
        self,
        transport: httpx2.AsyncBaseTransport | None = None,
        *,
        on_report: Callable[[AdaptReport], object] | None = None,
        **options: Unpack[ExchangeOptions],
    ) -> None:
        """Stand before another transport, as `ToolwireTransport` does."""
        super().__init__(httpx2.AsyncHTTPTransport() if transport is None else transport, on_report, options)
