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
    from .types import ExchangeOptions, Quarantined


class Exchange:
    """One request of a client and its reply, for whoever stands between a client and a backend.

    The request is adapted as `adapt_request` does it, the reply restored; and where the model searches for tools
    although the client left that to its provider (Anthropic's `tool_search_tool_*`), the search is answered and the
    model asked again. The client gets one reply, with the blocks that Anthropic's servers would have written; in its
    history they say which tools were found.

    Tools that cannot be sent are set aside. A `ToolwireWarning` tells of them, once for each list, unless
    `on_set_aside` says otherwise.

    It knows no network: `toolwire.httpx2` and `toolwire.httpx` are this for the libraries of those names.

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

    __module__ = "toolwire"  # where callers find it

    __slots__ = ("_exchange", "_on_set_aside", "_url")

    _exchange: _toolwire.Exchange
    _url: str
    _on_set_aside: Callable[[tuple[Quarantined, ...], SentRequest], object] | None

    @classmethod
    def open(
        cls, url: str, body: str | bytes | bytearray | memoryview, /, **options: Unpack[ExchangeOptions]
    ) -> Self | None:
        """Open an exchange for the URL and the JSON body of a request.

        None if it is none that tools are sent with (another path, no conversation), and is to be passed on as it is.
        The path tells the API, and with the host and the model the dialect, unless `dialect` says it.

        Raises what `adapt_request` and `dialect_for` raise; `not-representable` if tools have to be set aside and
        `on_set_aside` is `"error"`. What a callable as `on_set_aside` raises comes through as it is.
        """
        on_set_aside = options.get("on_set_aside")
        opened = _toolwire.Exchange.open(url, body, without_callables(options))
        if opened is None:
            return None
        exchange = cls.__new__(cls)
        exchange._exchange = opened
        exchange._url = url
        exchange._on_set_aside = on_set_aside if callable(on_set_aside) else None
        exchange._tell()
        return exchange

    @staticmethod
    def refusal(url: str, error: ToolwireError, /) -> str:
        """Give the body of an answer with status 400 that says an error as the API at a URL would.

        An SDK takes it for a bad request then. It is for a gateway that could not open an exchange.

        >>> url = "http://localhost/v1/messages"
        >>> try:
        ...     Exchange.open(url, '{"messages": [], "tools": 3}', dialect="anthropic")
        ... except toolwire.ToolwireError as error:
        ...     Exchange.refusal(url, error)[:77]
        '{"type":"error","error":{"type":"invalid_request_error","message":"toolwire: '
        """
        return _toolwire.Exchange.refusal(url, error.code, error.pointer, error.message)

    def __repr__(self) -> str:
        """How long the request is."""
        return f"<Exchange, {len(self.request)} characters to be sent>"

    @property
    def request(self) -> str:
        """What is to be sent: the same text if there is nothing to rewrite.

        Once the model is to be asked again, the next request.
        """
        return self._exchange.request()

    @property
    def report(self) -> AdaptReport:
        """What was done to the request."""
        return AdaptReport.of(self._exchange.report())

    @property
    def betas(self) -> list[str]:
        """The betas of deferred loading that the `anthropic-beta` header of `request` has to name.

        They are `betas` of the deferred part of `report`: see `strip_deferral_betas`.
        """
        return self._exchange.betas()

    @property
    def native(
        self,
    ) -> Literal[
        "none", "references", "changes", "inline", "additional-tools", "tool-search", "kimi", "interactions", "converse"
    ]:
        """The backend's own construct for deferred tools that the request uses.

        With `native="auto"`, it is the one that was looked up by the URL and the model, as `deferral_for` does.
        """
        native: Any = self._exchange.native()
        return native

    def reply(self, reply: str | bytes | bytearray | memoryview, /) -> str | None:
        """Take a whole reply, and give the one for the client.

        None: the model is to be asked again, with `request`.

        Raises `ToolwireError`: `too-deep`, `invalid-option`, and what `open` raises, for the next request.
        """
        told = self._exchange.reply(reply)
        if told is None:
            self._tell()
        return told

    def take_repaired_calls(self) -> list[RepairedCall]:
        """Give what became of the calls that ended since this was asked last, where calls are repaired (`repair`).

        It tells of whole replies and of streams.
        """
        return list(RepairedCall.list_of(self._exchange.take_repaired_calls()))

    def take_answer_changes(self) -> list[AnswerChange]:
        """Return the changes to the answer to a response format since the last call of this method.

        It tells of whole replies and of streams.
        """
        return self._exchange.take_answer_changes()

    def feed_text(self, piece: str, /) -> str:
        """Take the next piece of the text of an event stream, cut anywhere, and give the text to be passed on.

        Raises `ToolwireError`: `limit-exceeded` if an event, or what has to be held back, is larger than any reply.
        What could be passed on by then comes with the next call, and the event as it came.
        """
        return self._exchange.feed_text(piece)

    def finish_text(self) -> str:
        """End a stream: give the text that is still to be passed on.

        If the model is to be asked again, `asks_again` says so, and the next stream goes on where this one ended.

        Raises `ToolwireError`: `limit-exceeded` if the last event cannot be restored. Nothing is lost: the next call
        gives what was held back, and that event as it came. If the next request cannot be made, the text ends with an
        event that says why.
        """
        text = self._exchange.finish_text()
        if self.asks_again:
            self._tell()
        return text

    @property
    def asks_again(self) -> bool:
        """Whether the stream that ended last ended with a search, so that the model is to be asked again."""
        return self._exchange.asks_again()

    def failed_text(self, body: str, /) -> str:
        """Give the text of an event that tells of an error.

        It is for a client that has the beginning of a reply when asking again fails; `body` is what the backend said.
        """
        return self._exchange.failed_text(body)

    def _tell(self) -> None:
        """Tell of tools that are not sent."""
        warning = self._exchange.warning()
        if warning is None:
            return
        if self._on_set_aside is not None:
            report = self.report
            sent = SentRequest(url=self._url, dialect=report.dialect, body=self.request)
            self._on_set_aside(report.quarantined, sent)
            return
        warn(warning)
