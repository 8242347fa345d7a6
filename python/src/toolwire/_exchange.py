"""`Exchange`: one request of a client and its reply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from . import _toolwire
from ._argument_results import RepairedCall
from ._options import SentRequest
from ._results import AdaptReport
from ._set_aside import warn, without_callables

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self, Unpack

    from ._error import ToolwireError
    from ._names import AnswerChange
    from ._options import ExchangeOptions
    from ._results import Quarantined


class Exchange:
    """One request of a client and its reply, for programs between a client and a backend.

    The request is adapted as by `adapt_request`, and the reply is restored. If the client left tool search to its
    provider (Anthropic's `tool_search_tool_*`), toolwire answers the model's searches, and the model is asked again.
    The client gets one reply, with the blocks that Anthropic's servers would have written; in the client's history,
    they record which tools were found.

    Tools that cannot be sent are set aside. A `ToolwireWarning` names them once for each list, unless `on_set_aside` is
    set.

    This class does no networking: `toolwire.httpx2` and `toolwire.httpx` use it in transports for those libraries.

    >>> body = '''{"model": "kimi-k2", "messages": [], "tools": [
    ...     {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
    ...     {"name": "book_room", "description": "Books a meeting room", "input_schema": {}, "defer_loading": true}]}'''
    >>> exchange = Exchange.open("http://localhost/v1/messages", body)
    >>> "book_room" in exchange.request
    False
    >>> exchange.reply('''{"stop_reason": "tool_use", "content": [
    ...     {"type": "tool_use", "id": "t1", "name": "tool_search", "input": {"query": "meeting room"}}]}''')
    >>> "book_room" in exchange.request
    True
    """

    __module__ = "toolwire"  # the public module

    __slots__ = ("_exchange", "_on_set_aside", "_url")

    _exchange: _toolwire.Exchange
    _url: str
    _on_set_aside: Callable[[tuple[Quarantined, ...], SentRequest], object] | None

    @classmethod
    def open(
        cls, url: str, body: str | bytes | bytearray | memoryview, /, **options: Unpack[ExchangeOptions]
    ) -> Self | None:
        """Open an exchange for the URL and the JSON body of a request.

        Returns `None` if the request is of a kind that never has tools (another path, or a body without a
        conversation); pass it on unchanged. The API is determined by the path, and the dialect by path, host and model,
        unless `dialect` is given.

        Raises the errors of `adapt_request` and `dialect_for`, and `not-representable` if tools have to be set aside
        and `on_set_aside` is `"error"`. Exceptions of a callable `on_set_aside` are passed on.
        """
        exchange = cls._open_quietly(url, body, options)
        if exchange is not None:
            exchange._report_set_aside()
        return exchange

    @classmethod
    def _open_quietly(
        cls, url: str, body: str | bytes | bytearray | memoryview, options: ExchangeOptions, /
    ) -> Self | None:
        """Open an exchange without calling the caller's functions, so that another thread can do it."""
        on_set_aside = options.get("on_set_aside")
        opened = _toolwire.Exchange.open(url, body, without_callables(options))
        if opened is None:
            return None
        exchange = cls.__new__(cls)
        exchange._exchange = opened
        exchange._url = url
        exchange._on_set_aside = on_set_aside if callable(on_set_aside) else None
        return exchange

    @staticmethod
    def refusal(url: str, error: ToolwireError, /) -> str:
        """Return the body of an answer with status 400 that reports an error in the format of the API at a URL.

        An SDK treats the answer as a refused request. It is for gateways that could not open an exchange.

        >>> url = "http://localhost/v1/messages"
        >>> try:
        ...     Exchange.open(url, '{"messages": [], "tools": 3}', dialect="anthropic")
        ... except toolwire.ToolwireError as error:
        ...     Exchange.refusal(url, error)[:77]
        '{"type":"error","error":{"type":"invalid_request_error","message":"toolwire: '
        """
        return _toolwire.Exchange.refusal(url, error.code, error.pointer, error.message)

    def __repr__(self) -> str:
        """Show the length of the request."""
        return f"<Exchange, {len(self.request)} characters to be sent>"

    @property
    def request(self) -> str:
        """The request to send: the same text if nothing has to be rewritten.

        If the model has to be asked again, this is the next request.
        """
        return self._exchange.request()

    @property
    def report(self) -> AdaptReport:
        """The report of the changes to the request."""
        return AdaptReport.of(self._exchange.report())

    @property
    def betas(self) -> list[str]:
        """The betas that the header `anthropic-beta` of `request` has to name.

        They are the betas of the option `betas` that the backend knows, and the betas that the request needs. An empty
        list means that the header must not be sent.
        """
        return self._exchange.betas()

    @property
    def native(
        self,
    ) -> Literal[
        "none", "references", "changes", "inline", "additional-tools", "tool-search", "kimi", "interactions", "converse"
    ]:
        """The backend's native construct for deferred tools that the request uses.

        It is determined from the URL and the model, as by `deferral_for`, unless the options name one.
        """
        native: Any = self._exchange.native()
        return native

    def reply(self, reply: str | bytes | bytearray | memoryview, /) -> str | None:
        """Return the client's reply for a whole reply of the backend.

        Returns `None` if the model has to be asked again, with `request`.

        Raises `ToolwireError`: `too-deep`, `invalid-option`, and the errors of `open`, for the next request.
        """
        answer = self._exchange.reply(reply)
        if answer is None:
            self._report_set_aside()
        return answer

    def take_repaired_calls(self) -> list[RepairedCall]:
        """Return the repairs of the calls that ended since the last call to this method.

        They include calls of whole replies and of streams. Without `repair`, the list is empty.
        """
        return list(RepairedCall.list_of(self._exchange.take_repaired_calls()))

    def take_answer_changes(self) -> list[AnswerChange]:
        """Return the changes to the structured output since the last call to this method.

        They include changes of whole replies and of streams.
        """
        return self._exchange.take_answer_changes()

    def feed_text(self, piece: str, /) -> str:
        """Return the client's text for the next piece of an event stream, which may be cut anywhere.

        Raises `ToolwireError`: `limit-exceeded` if an event, or the text that has to be held back, is too large. The
        next call returns the text that was ready by then, and the event unchanged.
        """
        return self._exchange.feed_text(piece)

    def finish_text(self) -> str:
        """End a stream, and return the rest of the text.

        If the model has to be asked again, `asks_again` is true, and the next stream continues this one.

        Raises `ToolwireError`: `limit-exceeded` if the last event cannot be restored. Nothing is lost: the next call
        returns the text that was held back, and that event unchanged. If the next request cannot be made, the text ends
        with an error event.
        """
        text = self._exchange.finish_text()
        if self.asks_again:
            self._report_set_aside()
        return text

    def feed_bytes(self, piece: bytes, /) -> bytes:
        """Return the client's bytes for the next piece of an event stream, which may be cut anywhere.

        A stream of Amazon Bedrock may consist of binary frames (`application/vnd.amazon.eventstream`), which only this
        method accepts. In a stream of text, bytes that are not UTF-8 become U+FFFD.

        Raises `ToolwireError`: the errors of `feed_text`; `invalid-value` for bytes that are no frame, after frames.
        """
        return self._exchange.feed_bytes(piece)

    def finish_bytes(self) -> bytes:
        """End a stream that `feed_bytes` received, as `finish_text` does, and return the rest."""
        piece = self._exchange.finish_bytes()
        if self.asks_again:
            self._report_set_aside()
        return piece

    @property
    def asks_again(self) -> bool:
        """True if the last stream ended with a search, so the model must be asked again."""
        return self._exchange.asks_again()

    def failed_text(self, body: str, /) -> str:
        """Return the text of an error event.

        It is for a client that already has the beginning of a reply when asking again fails; `body` is the backend's
        answer.
        """
        return self._exchange.failed_text(body)

    def failed_bytes(self, body: str, /) -> bytes:
        """Return the bytes of an error event, as `failed_text` does, for a client that has bytes of `feed_bytes`."""
        return self._exchange.failed_bytes(body)

    def _report_set_aside(self) -> None:
        """Report tools that are not sent."""
        warning = self._exchange.warning()
        if warning is None:
            return
        if self._on_set_aside is not None:
            report = self.report
            sent = SentRequest(url=self._url, dialect=report.dialect, body=self.request)
            self._on_set_aside(report.quarantined, sent)
            return
        warn(warning)
