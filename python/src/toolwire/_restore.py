"""`Restore`: restores the model's calls to what the tools' own servers expect."""

from __future__ import annotations

import codecs
import json
from typing import TYPE_CHECKING, Any, overload

from ._argument_results import RepairedCall
from ._ask import BYTES, TEXT, call_for_value
from ._error import ToolwireError
from ._frozen import copy_json
from ._restored import RestoredCall, RestoredClientCall, RestoredContent, RestoredReply
from ._toolwire import CallStream as _CallStream
from ._toolwire import Restore as _Restore

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._names import AnswerChange


class Restore:
    """Restores calls to what the tools' own servers expect: the tools' own names, and arguments that fit their schemas.

    Calls arrive in a later turn, perhaps in another process: store `to_json()`, and pass it to `Restore.from_json`
    there.

    >>> from toolwire import Restore, sanitize_tools
    >>> restore = sanitize_tools([{"name": "files.read", "inputSchema": {}}], dialect="moonshot").restore
    >>> Restore.from_json(restore.to_json()).call("files_read", {"path": "a"}).name
    'files.read'
    """

    __module__ = "toolwire"  # the public module

    __slots__ = ("_core_restore", "_json")

    def __init__(self, stored: dict[str, Any], /) -> None:
        """Make a `Restore` for a result of this package; other code uses `Restore.from_json`."""
        self._json = stored
        # Made by the first call, because many objects are never used.
        self._core_restore: _Restore | None = None

    def _core(self) -> _Restore:
        """Return the core's object, which the first call makes."""
        core_restore = self._core_restore
        if core_restore is None:
            core_restore = self._core_restore = _Restore(self._json)
        return core_restore

    def __deepcopy__(self, _: object) -> Self:
        return type(self)(copy_json(self._json))

    def __reduce__(self) -> tuple[type[Restore], tuple[dict[str, Any]]]:
        """Copy and pickle the JSON form."""
        return (type(self), (self._json,))

    def __repr__(self) -> str:
        """Show the number of tools that need restoring, and whether an answer does."""
        answer = " and the answer" if "answer" in self._json else ""
        return f"<Restore of {len(self._json['tools'])} tools{answer}>"

    def __eq__(self, other: object, /) -> bool:
        """Return true if the JSON forms are equal."""
        return self._json == other._json if isinstance(other, Restore) else NotImplemented

    def __hash__(self) -> int:
        """Hash the JSON form."""
        return hash(self.to_json())

    @classmethod
    def from_json(cls, stored: str | bytes | bytearray | dict[str, Any], /) -> Self:
        """Make a `Restore` from its stored form: the JSON text, or the dict parsed from it.

        Raises `ToolwireError`: `invalid-value` if `stored` is something else, `invalid-json`.

        >>> Restore.from_json('{"version": 2, "tools": {}}')
        <Restore of 0 tools>
        """
        value: dict[str, Any] = stored if isinstance(stored, dict) else _parse(stored)
        # This validates the whole value.
        core_restore = _Restore(value)
        # Copied, so that later changes to the caller's dict have no effect on calls.
        restore = cls(copy_json(value) if value is stored else value)
        restore._core_restore = core_restore
        return restore

    @overload
    def call(self, name: str, arguments: str, /) -> RestoredCall[str]: ...
    @overload
    def call(self, name: str, arguments: bytes | bytearray | memoryview, /) -> RestoredCall[bytes]: ...
    @overload
    def call(self, name: str, arguments: object, /) -> RestoredCall[Any]: ...
    def call(self, name: str, arguments: object, /) -> RestoredCall[Any]:
        """Restore a call from the name and arguments that the model wrote.

        A call to an unknown tool is returned unchanged, and so are arguments of an unexpected form. The arguments are a
        value, or JSON text (`str`, as in OpenAI's APIs, or bytes): text gives text.

        Raises `ToolwireError`: `invalid-value`, `too-deep`.

        >>> from toolwire import sanitize_tools
        >>> restore = sanitize_tools([{"name": "files.read", "inputSchema": {}}], dialect="moonshot").restore
        >>> call = restore.call("files_read", {"path": "a"})
        >>> call.name, call.arguments
        ('files.read', {'path': 'a'})
        """
        if isinstance(arguments, BYTES):
            text = str(arguments, "utf-8", "replace")
            call, _ = self._core().call("restoreCall", (name, text))
            restored = call["arguments"]
            # Bytes that are not UTF-8 are returned unchanged.
            return RestoredCall.of({**call, "arguments": bytes(arguments) if restored == text else restored.encode()})
        return RestoredCall.of(self._core().call("restoreCall", (name, arguments))[0])

    def client_call(self, call: object, /) -> RestoredClientCall:
        """Restore a whole call in the format of the client's own API, and report the repairs of its arguments.

        `call` is a call as it occurs in a reply of any API, as a dict or an SDK's model, or `{"id", "name",
        "arguments"}`. The result has the format of the client's request: an Anthropic `tool_use`, an entry of Chat
        Completions' `tool_calls`, or an item of Responses (`function_call` with its namespace, `custom_tool_call` with
        its input, `tool_search_call`).

        Raises `ToolwireError`: `invalid-value` if `call` is not a call; `too-deep`.

        >>> from toolwire import apply_deferred_loading
        >>> request = {"model": "m", "input": "Where am I?", "tools": [{"type": "custom", "name": "exec"}]}
        >>> restore = apply_deferred_loading(request, target="openai-chat").restore
        >>> restore.client_call({"id": "c1", "name": "exec", "arguments": '{"input":"pwd"}'}).call
        {'type': 'custom_tool_call', 'call_id': 'c1', 'name': 'exec', 'input': 'pwd'}
        """
        value, report = self._core().call("restoreClientCall", (call,))
        return RestoredClientCall.of({"call": value, **(report or {})})

    def call_stream(self, name: str, /) -> CallStream:
        """Return a `CallStream`, which restores the arguments of one call in pieces.

        `name` is the name in the model's call.
        """
        return CallStream(self, name)

    @overload
    def content(self, text: str, /) -> RestoredContent[str]: ...
    @overload
    def content(self, text: bytes | bytearray | memoryview, /) -> RestoredContent[bytes]: ...
    def content(self, text: str | bytes | bytearray | memoryview, /) -> RestoredContent[Any]:
        """Restore text of the model's answer, if the request has a response format that was rewritten.

        The answer is unwrapped, and encoded values are decoded. If the schema was sent in the instructions only, a
        Markdown fence around the answer is removed, too, unless the schema refuses the content. Text that is not JSON,
        or needs no restoring, is returned unchanged. If JSON is truncated, the complete parts are restored. `reply` and
        `stream` do the same.

        Raises `ToolwireError`: `invalid-value` if `text` is not text.

        >>> from toolwire import adapt_request
        >>> schema = {"type": "array", "items": {"type": "string"}}
        >>> form = {"type": "json_schema", "json_schema": {"name": "list", "strict": True, "schema": schema}}
        >>> request = {"model": "gpt-5", "messages": [], "response_format": form}
        >>> restore = adapt_request(request, dialect="openai-strict").restore
        >>> restore.content('{"response": ["a"]}')
        RestoredContent(content='["a"]', complete=True, fenced=False)
        """
        input_text = str(text, "utf-8", "replace") if isinstance(text, BYTES) else text
        value, report = self._core().call("restoreContent", (input_text,))
        if input_text is not text:
            # Bytes that are not UTF-8 are returned unchanged.
            value = bytes(text) if value == input_text else value.encode()  # type: ignore[arg-type]
        return RestoredContent.of({"content": value, **(report or {})})

    @overload
    def reply(self, reply: str, /) -> RestoredReply[str]: ...
    @overload
    def reply(self, reply: bytes | bytearray | memoryview, /) -> RestoredReply[bytes]: ...
    @overload
    def reply(self, reply: object, /) -> RestoredReply[Any]: ...
    def reply(self, reply: object, /) -> RestoredReply[Any]:
        """Restore every call in a whole reply of Anthropic Messages, OpenAI Chat Completions or Responses, or Gemini.

        Structured output is restored, too. The input is not changed. JSON text gives JSON text, and the
        same object if there is nothing to restore. If calls are repaired, `calls` reports the repairs of each call.

        Raises `ToolwireError`: `invalid-json`, `invalid-value`, `too-deep`.

        >>> from toolwire import sanitize_tools
        >>> restore = sanitize_tools([{"name": "files.read"}], dialect="anthropic").restore
        >>> restore.reply({"content": [{"type": "tool_use", "id": "t1", "name": "files_read", "input": {}}]}).reply
        {'content': [{'type': 'tool_use', 'id': 't1', 'name': 'files.read', 'input': {}}]}
        """
        core = self._core()
        value, report = core.reply_text(reply) if isinstance(reply, TEXT) else core.call("restoreReply", (reply,))
        return RestoredReply.of({"reply": value, **(report or {})})

    def stream(self) -> ReplyRestorer:
        """Return a `ReplyRestorer`, which restores a streamed reply."""
        return ReplyRestorer(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object that is the same in every language."""
        return copy_json(self._json)

    def to_json(self) -> str:
        """Return JSON text, to be stored for a later turn."""
        return json.dumps(self._json, ensure_ascii=False, separators=(",", ":"))


class CallStream:
    """Restores the arguments of one call in pieces: for gateways that translate a stream of one API into another's.

    Input for a `custom` tool is unescaped and returned as soon as possible. Arguments that a dialect has encoded are
    held back until the end; all others are returned unchanged at once.

    >>> from toolwire import apply_deferred_loading
    >>> request = {"model": "m", "input": "Where am I?", "tools": [{"type": "custom", "name": "exec"}]}
    >>> pieces = apply_deferred_loading(request, target="openai-chat").restore.call_stream("exec")
    >>> [pieces.feed('{"input":"p'), pieces.feed('wd"}'), pieces.finish()]
    ['p', 'wd', '']
    """

    __module__ = "toolwire"  # the public module

    __slots__ = ("_stream",)

    def __init__(self, restore: Restore, name: str, /) -> None:
        """Start a call, like `Restore.call_stream`."""
        self._stream = _CallStream([restore._json, name])

    def feed(self, piece: str, /) -> str:
        """Return the text to pass on for the next piece of the arguments' text; it may be empty.

        Raises `ToolwireError`: `limit-exceeded` if the text that has to be held back is too large.
        """
        return self._stream.feed(piece)

    def finish(self) -> str:
        """End the call, and return the text that was held back.

        Raises `ToolwireError`: `budget-exceeded` if the arguments take too many steps to restore. They are discarded.
        """
        return self._stream.finish()

    def take_repaired_calls(self) -> list[RepairedCall]:
        """Return the repairs of the call that ended, if calls are repaired and the repairs were not returned before."""
        return list(RepairedCall.list_of(self._stream.take_repaired_calls()))


class ReplyRestorer:
    """Restores a streamed reply: the events of one stream, in their order.

    Names are restored at once. The pieces of a call's arguments pass unchanged, unless the dialect encoded something
    for that tool, or calls are repaired: then the pieces are held back, and the restored arguments follow at the end of
    the call.

    >>> from toolwire import sanitize_tools
    >>> stream = sanitize_tools([{"name": "files.read"}], dialect="anthropic").restore.stream()
    >>> block = {"type": "tool_use", "id": "t1", "name": "files_read", "input": {}}
    >>> stream.feed({"type": "content_block_start", "index": 0, "content_block": block})[0]["content_block"]["name"]
    'files.read'
    """

    __module__ = "toolwire"  # the public module

    __slots__ = ("_decoder", "_stream")

    def __init__(self, restore: Restore, /) -> None:
        """Start a stream, like `Restore.stream`."""
        self._stream = restore._core().stream()
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def feed(self, event: object, /) -> list[Any]:
        """Return the events to pass on for the next event: no event, one or several.

        Raises `ToolwireError`: `invalid-value`, `too-deep`; `budget-exceeded` if the arguments of a call take too many
        steps to restore. They are discarded, so the stream must not be continued.
        """
        return self._stream.feed(event)

    @overload
    def feed_text(self, piece: str, /) -> str: ...
    @overload
    def feed_text(self, piece: bytes, /) -> bytes: ...
    def feed_text(self, piece: str | bytes, /) -> str | bytes:
        """Return the text to pass on for the next piece of an event stream, which may be cut anywhere.

        Text that needs no change passes byte for byte.

        Raises `ToolwireError`: `limit-exceeded` if an event, or the text that has to be held back, is too large: the
        next call returns the text that was ready by then, and the event unchanged. `budget-exceeded` as for `feed`.
        `UnicodeDecodeError` if the bytes are not UTF-8.
        """
        if isinstance(piece, str):
            return self._stream.feed_text(piece)
        return self._stream.feed_text(self._decoder.decode(piece)).encode()

    def take_repaired_calls(self) -> list[RepairedCall]:
        """Return the repairs of the calls that ended since the last call to this method, if calls are repaired."""
        return list(RepairedCall.list_of(self._stream.take_repaired_calls()))

    def take_answer_changes(self) -> list[AnswerChange]:
        """Return the changes to the structured output since the last call to this method."""
        return self._stream.take_answer_changes()

    def finish(self) -> list[Any]:
        """End the stream, and return the events that are still held back because their call never ended.

        Raises `ToolwireError`: `budget-exceeded` as for `feed`.
        """
        return self._stream.finish()

    def finish_text(self) -> str:
        """End a stream of text, and return the text that is held back, including an incomplete last event.

        Raises `ToolwireError`: `limit-exceeded` if the last event cannot be restored. Nothing is lost: the next call
        returns the text that was held back, and that event unchanged. `budget-exceeded` as for `feed`.
        """
        rest, _ = self._decoder.getstate()
        self._decoder.reset()
        # The bytes may end in the middle of a character.
        before = self._stream.feed_text(rest.decode(errors="replace")) if rest else ""
        return before + self._stream.finish_text()


def _parse(text: str | bytes | bytearray) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        # The core's error points to the invalid text. `json` also rejects integers of thousands of digits, unlike the
        # core.
        call_for_value("check", text, {"dialect": "portable"})
        message = "expected what `Restore.to_json` returns, found JSON that Python cannot read"
        raise ToolwireError("invalid-value", "", message) from None
