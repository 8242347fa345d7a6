"""Code that `toolwire.httpx` and `toolwire.httpx2` share: the libraries have the same API, but no common types.

This file contains no rules: `Exchange` decides what is sent, and what the client gets.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from ._error import ToolwireError
from ._exchange import Exchange
from ._options import SentRequest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from typing import TypeAlias

    from ._argument_results import RepairedCall
    from ._options import ExchangeOptions
    from ._results import AdaptReport

    OnReport: TypeAlias = Callable[[AdaptReport, SentRequest], object]
    OnRepair: TypeAlias = Callable[[list[RepairedCall], SentRequest], object]

try:
    # Both libraries need it, except where there are no threads (Emscripten).
    from anyio import to_thread
except ImportError:
    to_thread = None  # type: ignore[assignment]

_Result = TypeVar("_Result")

_BODY_HEADERS = (b"content-length", b"transfer-encoding", b"content-digest", b"repr-digest", b"digest", b"content-md5")
"""Headers that describe the exact bytes of a body, and therefore do not apply to a rewritten one."""

_REPLY_HEADERS = (*_BODY_HEADERS, b"content-encoding", b"etag")
"""Headers that do not apply to a rewritten reply: its body is decompressed, and its `etag` belongs to the original
body."""

_STREAM = re.compile(r"(?:text/event-stream|application/vnd\.amazon\.eventstream)\b", re.IGNORECASE)
"""Content types of event streams: text, and the frames of Amazon's services."""

_LONG_TEXT = 64 * 1024
"""Size in bytes from which another thread processes a text, if the client is asynchronous. Processing a text of this
size takes 0.5 ms, and changing the thread 0.05 ms."""

_IDEMPOTENCY_HEADERS = (b"idempotency-key", b"x-idempotency-key")
"""Headers with which a backend recognizes a repeated request. They are removed when the model is asked again."""


class Transport:
    """Adapts every request with tools to its backend, and restores the reply, whole or streamed."""

    pieces: ClassVar[type[Pieces]]

    def __init__(self, transport: Any, response: type[Any], listeners: Listeners, options: ExchangeOptions) -> None:
        """Wrap another transport."""
        self._shared = _Shared(response, listeners, options)
        self._transport = transport

    def handle_request(self, request: Any) -> Any:
        """Send a request, and repeat it if the model must be asked again."""
        if not _may_be_adapted(request):
            return self._transport.handle_request(request)
        request.read()
        outgoing = self._shared.outgoing(request, self._shared.open_exchange(request))
        if not isinstance(outgoing, _Outgoing):
            return outgoing
        if outgoing.exchange is None:
            return self._transport.handle_request(outgoing.request)
        while True:
            response = self._transport.handle_request(outgoing.next())
            if _is_stream(response):
                return _with_body(response, stream=self.pieces(outgoing, outgoing.exchange, response, self._transport))
            if not _is_json(response):
                return response
            try:
                text = _text(response.read())
            finally:
                response.close()
            if not text:
                return response
            reply = self._shared.restore_reply(outgoing.exchange, text)
            client_response = self._shared.response_for(outgoing, request, response, reply)
            if client_response is not None:
                return client_response

    def close(self) -> None:
        """Close the wrapped transport."""
        self._transport.close()


class AsyncTransport:
    """`Transport` for asynchronous clients."""

    pieces: ClassVar[type[AsyncPieces]]

    def __init__(self, transport: Any, response: type[Any], listeners: Listeners, options: ExchangeOptions) -> None:
        """Wrap another transport."""
        self._shared = _Shared(response, listeners, options)
        self._transport = transport

    async def handle_async_request(self, request: Any) -> Any:
        """Send a request, and repeat it if the model must be asked again."""
        if not _may_be_adapted(request):
            return await self._transport.handle_async_request(request)
        await request.aread()
        outgoing = self._shared.outgoing(
            request, await _run_apart(len(request.content), self._shared.open_exchange, request)
        )
        if not isinstance(outgoing, _Outgoing):
            return outgoing
        if outgoing.exchange is None:
            return await self._transport.handle_async_request(outgoing.request)
        while True:
            response = await self._transport.handle_async_request(outgoing.next())
            if _is_stream(response):
                return _with_body(response, stream=self.pieces(outgoing, outgoing.exchange, response, self._transport))
            if not _is_json(response):
                return response
            try:
                text = _text(await response.aread())
            finally:
                await response.aclose()
            if not text:
                return response
            # If the model has to be asked again, the next request is made, too.
            reply = await _run_apart(
                max(len(text), len(request.content)), self._shared.restore_reply, outgoing.exchange, text
            )
            client_response = self._shared.response_for(outgoing, request, response, reply)
            if client_response is not None:
                return client_response

    async def aclose(self) -> None:
        """Close the wrapped transport."""
        await self._transport.aclose()


class Listeners(NamedTuple):
    """Callbacks for requests and replies."""

    on_report: OnReport | None = None
    on_repair: OnRepair | None = None


class _Shared:
    """The parts of both transports that do no input or output."""

    def __init__(self, response: type[Any], listeners: Listeners, options: ExchangeOptions) -> None:
        self.response, self.listeners, self.options = response, listeners, options
        # Invalid options raise an error here, and not at the first request.
        for name, listener in listeners._asdict().items():
            if listener is not None and not callable(listener):
                message = f"expected `{name}` to be callable, found a value of type `{type(listener).__name__}`"
                raise ToolwireError("invalid-option", f"/{name}", message)
        try:
            Exchange.open("", "", **options)
        except ToolwireError as error:
            if error.code != "unknown-option":
                raise
            message = f"{error.message}; transports take `on_report` and `on_repair`, too"
            raise ToolwireError(error.code, error.pointer, message) from None

    def open_exchange(self, request: Any) -> Exchange | ToolwireError | None:
        """Open an exchange for a request whose body was read, without calling the caller's functions."""
        try:
            # A body that is not UTF-8 is not JSON either; it is sent unchanged.
            request.content.decode()
            return Exchange._open_quietly(str(request.url), request.content, _with_betas(self.options, request))
        except UnicodeDecodeError:
            return None
        except ToolwireError as error:
            return error

    def outgoing(self, request: Any, exchange: Exchange | ToolwireError | None) -> Any:
        """Return the outgoing request, or an error response if no exchange could be opened."""
        if exchange is None:
            return _Outgoing(None, request, self.listeners)
        if isinstance(exchange, ToolwireError):
            return self.refusal_response(request, exchange)
        try:
            exchange._report_set_aside()
        except ToolwireError as error:
            return self.refusal_response(request, error)
        body = request.content
        request = _with_needed_betas(request, _with_betas(self.options, request).get("betas") or (), exchange.betas)
        if exchange._exchange.request_bytes() != body or self.options.get("repair") not in (None, False):
            return _Outgoing(exchange, request, self.listeners)
        # If nothing was rewritten, nothing is restored, unless calls are repaired.
        _report(self.listeners.on_report, exchange, request)
        return _Outgoing(None, request, self.listeners)

    def restore_reply(self, exchange: Exchange, text: str) -> bytes | ToolwireError | None:
        """Return the reply for the client; None if the model must be asked again. Calls no function of the caller."""
        try:
            reply = exchange._exchange.reply(text)
        except ToolwireError as error:
            return error
        return None if reply is None else reply.encode()

    def response_for(
        self, outgoing: _Outgoing, request: Any, response: Any, reply: bytes | ToolwireError | None
    ) -> Any:
        """Return the response for the client; None if the model must be asked again."""
        assert outgoing.exchange is not None
        if isinstance(reply, ToolwireError):
            return self.refusal_response(request, reply)
        if reply is None:
            try:
                outgoing.exchange._report_set_aside()
            except ToolwireError as error:
                return self.refusal_response(request, error)
        outgoing.report_repairs()
        return None if reply is None else _with_body(response, content=reply)

    def refusal_response(self, request: Any, error: ToolwireError) -> Any:
        """Return an error response for a request that cannot be adapted, or whose reply cannot be restored."""
        if error.code == "internal":
            raise error
        # The second header keeps the SDKs of OpenAI and Anthropic from retrying.
        headers = {"content-type": "application/json", "x-should-retry": "false"}
        return self.response(400, headers=headers, content=Exchange.refusal(str(request.url), error).encode())


def _report(on_report: OnReport | None, exchange: Exchange, request: Any) -> None:
    if on_report is not None:
        report = exchange.report
        on_report(report, _sent_request(exchange, request))


def _sent_request(exchange: Exchange, request: Any) -> SentRequest:
    return SentRequest(url=str(request.url), dialect=exchange.report.dialect, body=exchange.request)


class _Outgoing:
    """An outgoing request, which may be sent several times with different bodies."""

    def __init__(self, exchange: Exchange | None, request: Any, listeners: Listeners) -> None:
        self.exchange, self.request, self._listeners = exchange, request, listeners
        self._was_sent = False

    def next(self) -> Any:
        """Return the next request to send."""
        assert self.exchange is not None
        _report(self._listeners.on_report, self.exchange, self.request)
        headers = _without(self.request.headers, *_BODY_HEADERS, *(_IDEMPOTENCY_HEADERS if self._was_sent else ()))
        self._was_sent = True
        return _with_content(self.request, headers, self.exchange._exchange.request_bytes())

    def report_repairs(self) -> None:
        """Pass the reports of calls that were completed since the last call to `on_repair`."""
        if self.exchange is None:
            return
        # Drained even without a callback, because they are kept until read.
        calls = self.exchange.take_repaired_calls()
        if calls and self._listeners.on_repair is not None:
            self._listeners.on_repair(calls, _sent_request(self.exchange, self.request))


class Pieces:
    """The streams of all rounds as one stream, which is read on demand."""

    def __init__(self, outgoing: _Outgoing, exchange: Exchange, response: Any, transport: Any) -> None:
        """Store the first round's response, and what is needed to start the next rounds."""
        self._outgoing, self._exchange, self._response, self._transport = outgoing, exchange, response, transport

    def __iter__(self) -> Iterator[bytes]:
        """Yield the restored reply."""
        exchange = self._exchange
        while True:
            for piece in self._response.iter_bytes():
                restored = exchange.feed_bytes(piece)
                self._outgoing.report_repairs()
                if restored:
                    yield restored
            restored = exchange.finish_bytes()
            self._outgoing.report_repairs()
            if restored:
                yield restored
            if not exchange.asks_again:
                return
            self._response.close()
            self._response = self._transport.handle_request(self._outgoing.next())
            if not _is_stream(self._response):
                yield exchange.failed_bytes(_text(self._response.read()))
                return

    def close(self) -> None:
        """Close the stream of the current round."""
        self._response.close()


class AsyncPieces:
    """`Pieces` for asynchronous clients."""

    def __init__(self, outgoing: _Outgoing, exchange: Exchange, response: Any, transport: Any) -> None:
        """Store the first round's response, and what is needed to start the next rounds."""
        self._outgoing, self._exchange, self._response, self._transport = outgoing, exchange, response, transport

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the restored reply."""
        exchange = self._exchange
        while True:
            async for piece in self._response.aiter_bytes():
                restored = exchange.feed_bytes(piece)
                self._outgoing.report_repairs()
                if restored:
                    yield restored
            # If the model has to be asked again, the end of the stream makes the next request.
            restored = await _run_apart(len(self._outgoing.request.content), exchange._exchange.finish_bytes)
            if exchange.asks_again:
                exchange._report_set_aside()
            self._outgoing.report_repairs()
            if restored:
                yield restored
            if not exchange.asks_again:
                return
            await self._response.aclose()
            self._response = await self._transport.handle_async_request(self._outgoing.next())
            if not _is_stream(self._response):
                yield exchange.failed_bytes(_text(await self._response.aread()))
                return

    async def aclose(self) -> None:
        """Close the stream of the current round."""
        await self._response.aclose()


async def _run_apart(size: int, work: Callable[..., _Result], *arguments: Any) -> _Result:
    """Process a text of `size` bytes, in another thread if it is long, so that the event loop does not wait."""
    if size < _LONG_TEXT or to_thread is None:
        return work(*arguments)
    result: _Result = await to_thread.run_sync(partial(work, *arguments))
    return result


def _may_be_adapted(request: Any) -> bool:
    kind = request.headers.get("content-type", "")
    # A streamed body without a content type may be anything of any length, so it is not read here.
    is_json = _is_read(request) if kind == "" else re.search(r"\bjson\b", kind, re.IGNORECASE) is not None
    return request.method.upper() == "POST" and is_json and "content-encoding" not in request.headers


def _is_read(request: Any) -> bool:
    try:
        request.content  # noqa: B018
    except RuntimeError:  # both libraries' `RequestNotRead` is a subclass
        return False
    return True


def _is_stream(response: Any) -> bool:
    return bool(response.is_success) and _STREAM.match(_kind(response)) is not None


def _is_json(response: Any) -> bool:
    return bool(response.is_success) and re.search(r"\bjson\b", _kind(response), re.IGNORECASE) is not None


def _kind(response: Any) -> str:
    kind: str = response.headers.get("content-type", "")
    return kind


def _text(body: bytes) -> str:
    """Decode a backend's answer as browsers do, so that an invalid byte does not lose the rest of the answer."""
    return body.decode("utf-8-sig", "replace")


def _with_betas(options: ExchangeOptions, request: Any) -> ExchangeOptions:
    """Add the betas of the `anthropic-beta` header to the options."""
    betas = [name for value in options.get("betas") or () for name in _split_names(value)]
    betas += _betas(request)
    return {**options, "betas": betas} if betas else options


def _betas(request: Any) -> list[str]:
    """Return the betas in the `anthropic-beta` header."""
    return _split_names(request.headers.get("anthropic-beta", ""))


def _split_names(header: str) -> list[str]:
    """Return the betas in a header, a list with commas."""
    names = (name.strip() for name in header.split(","))
    return [name for name in names if name]


def _with_needed_betas(request: Any, known: list[str] | tuple[str, ...], needed: list[str]) -> Any:
    """Remove the betas of the header that are not in `needed`, and add those of `needed` that are not in `known`."""
    current = _betas(request)
    kept = [name for name in current if name in needed]
    added = [name for name in needed if name not in known]
    if len(kept) == len(current) and not added:
        return request
    headers = request.headers.copy()
    if kept or added:
        headers["anthropic-beta"] = ",".join([*kept, *added])
    else:
        del headers["anthropic-beta"]
    return _with_content(request, _without(headers, b"content-length", b"transfer-encoding"), request.content)


def _with_content(request: Any, headers: list[tuple[bytes, bytes]], body: bytes) -> Any:
    """Return the same request with different headers and a different body."""
    return type(request)(request.method, request.url, headers=headers, content=body, extensions=request.extensions)


def _with_body(response: Any, *, content: bytes | None = None, stream: Pieces | AsyncPieces | None = None) -> Any:
    """Return the same response with a different body."""
    headers = _without(response.headers, *_REPLY_HEADERS)
    return type(response)(
        response.status_code, headers=headers, content=content, stream=stream, extensions=response.extensions
    )


def _without(headers: Any, *names: bytes) -> list[tuple[bytes, bytes]]:
    """Return the headers except these, as bytes, because the values need not be ASCII."""
    return [(name, value) for name, value in headers.raw if name.lower() not in names]
