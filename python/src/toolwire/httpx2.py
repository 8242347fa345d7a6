"""Transports for `httpx2`, which the current SDKs of the model APIs use: `pip install toolwire[httpx2]`.

Requests are adapted before they are sent, replies are restored, and searches for deferred tools are answered in
between:

>>> import httpx2
>>> from toolwire.httpx2 import ToolwireTransport
>>> client = httpx2.Client(transport=ToolwireTransport(dialect="moonshot"))

Pass the client to an SDK as `http_client`. A GET, another path, or a body without a conversation passes unchanged, and
so do error replies. If a request cannot be adapted, nothing is sent: the response has status 400 and the API's own
error format, so that an SDK raises its error for a refused request and does not retry. Tools that cannot be sent are
set aside; a `toolwire.ToolwireWarning` names them, unless `on_set_aside` is set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    import httpx2
except ImportError as missing:
    message = f"expected the package httpx2: run `pip install 'toolwire[httpx2]'` ({missing})"
    raise ImportError(message) from missing

from . import _transport

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Unpack

    from .types import AdaptReport, ExchangeOptions, RepairedCall, SentRequest

__all__ = ["AsyncToolwireTransport", "ToolwireTransport"]


class _Pieces(_transport.Pieces, httpx2.SyncByteStream):
    """A streamed reply."""


class _AsyncPieces(_transport.AsyncPieces, httpx2.AsyncByteStream):
    """A streamed reply."""


class ToolwireTransport(_transport.Transport, httpx2.BaseTransport):
    """Adapts every request with tools to its backend, and restores the reply, whole or streamed."""

    pieces = _Pieces

    def __init__(
        self,
        transport: httpx2.BaseTransport | None = None,
        *,
        on_report: Callable[[AdaptReport, SentRequest], object] | None = None,
        on_repair: Callable[[list[RepairedCall], SentRequest], object] | None = None,
        **options: Unpack[ExchangeOptions],
    ) -> None:
        """Wrap another transport; the default is that of `httpx2.Client`.

        `on_report` is called before each request is sent, with a report (the dialect, all changes, the tools that were
        set aside, the loaded tools) and the request. `on_repair` is called when a call is complete, with the repairs of
        its arguments, if calls are repaired (`repair`). The dialect is determined by host, path and model, unless
        `dialect` is given.

        Raises `ToolwireError`: `unknown-option`, `invalid-option`, `unknown-dialect`.
        """
        listeners = _transport.Listeners(on_report, on_repair)
        super().__init__(
            httpx2.HTTPTransport() if transport is None else transport, httpx2.Response, listeners, options
        )


class AsyncToolwireTransport(_transport.AsyncTransport, httpx2.AsyncBaseTransport):
    """`ToolwireTransport` for `httpx2.AsyncClient`."""

    pieces = _AsyncPieces

    def __init__(
        self,
        transport: httpx2.AsyncBaseTransport | None = None,
        *,
        on_report: Callable[[AdaptReport, SentRequest], object] | None = None,
        on_repair: Callable[[list[RepairedCall], SentRequest], object] | None = None,
        **options: Unpack[ExchangeOptions],
    ) -> None:
        """Wrap another transport, like `ToolwireTransport`."""
        listeners = _transport.Listeners(on_report, on_repair)
        super().__init__(
            httpx2.AsyncHTTPTransport() if transport is None else transport, httpx2.Response, listeners, options
        )
