"""Transports for `httpx`, which the SDKs used until 2026, and many still use: `pip install toolwire[httpx]`.

Requests are adapted before they are sent, replies are restored, and searches for deferred tools are answered in
between. `toolwire.httpx2` contains the same classes for `httpx2`, the successor:

>>> import httpx
>>> from toolwire.httpx import ToolwireTransport
>>> client = httpx.Client(transport=ToolwireTransport(dialect="moonshot"))

Pass the client to an SDK as `http_client`. A GET, another path, or a body without a conversation passes unchanged, and
so do error replies. If a request cannot be adapted, nothing is sent: the response has status 400 and the API's own
error format, so that an SDK raises its error for a refused request and does not retry. Tools that cannot be sent are
set aside; a `toolwire.ToolwireWarning` names them, unless `on_set_aside` is set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    import httpx
except ImportError as missing:
    message = f"expected the package httpx: run `pip install 'toolwire[httpx]'` ({missing})"
    raise ImportError(message) from missing

from . import _transport

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Unpack

    from .types import AdaptReport, ExchangeOptions, RepairedCall, SentRequest

__all__ = ["AsyncToolwireTransport", "ToolwireTransport"]


class _Pieces(_transport.Pieces, httpx.SyncByteStream):
    """A streamed reply."""


class _AsyncPieces(_transport.AsyncPieces, httpx.AsyncByteStream):
    """A streamed reply."""


class ToolwireTransport(_transport.Transport, httpx.BaseTransport):
    """Adapts every request with tools to its backend, and restores the reply, whole or streamed."""

    pieces = _Pieces

    def __init__(
        self,
        transport: httpx.BaseTransport | None = None,
        *,
        on_report: Callable[[AdaptReport, SentRequest], object] | None = None,
        on_repair: Callable[[list[RepairedCall], SentRequest], object] | None = None,
        **options: Unpack[ExchangeOptions],
    ) -> None:
        """Wrap another transport; the default is that of `httpx.Client`.

        `on_report` is called before each request is sent, with a report (the dialect, all changes, the tools that were
        set aside, the loaded tools) and the request. `on_repair` is called when a call is complete, with the repairs of
        its arguments, if calls are repaired (`repair`). The dialect is determined by host, path and model, unless
        `dialect` is given.

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
        """Wrap another transport, like `ToolwireTransport`."""
        listeners = _transport.Listeners(on_report, on_repair)
        super().__init__(
            httpx.AsyncHTTPTransport() if transport is None else transport, httpx.Response, listeners, options
        )
