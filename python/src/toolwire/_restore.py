"""The way back: `Restore`."""

from __future__ import annotations

import codecs
import json
from typing import TYPE_CHECKING, Any, overload

from ._argument_results import RepairedCall
from ._ask import TEXT, ask
from ._error import ToolwireError
from ._frozen import copied
from ._restored import RestoredCall, RestoredClientCall, RestoredContent, RestoredReply
from ._toolwire import CallStream as _CallStream
from ._toolwire import Restore as _Restore

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._names import AnswerChange


class Restore:
    """Brings calls back to what the tools' own servers expect: their names, and arguments as their schemas want them.

    Calls come back in a later turn, maybe in another process: keep `to_json()`, and take it to `Restore.from_json`.

    >>> from toolwire import Restore, sanitize_tools
    >>> restore = sanitize_tools([{"name": "files.read", "inputSchema": {}}], dialect="moonshot").restore
    >>> Restore.from_json(restore.to_json()).call("files_read", {"path": "a"}).name
    'files.read'
    """

    __module__ = "toolwire"  # where callers find it

    __slots__ = ("_json", "_ready")

    def __init__(self, kept: dict[str, Any], /) -> None:
        """Take what `sanitize_tools` gives; others use `Restore.from_json`."""
        self._json = kept
        # Read and prepared by the first call; many are never used.
        self._ready: _Restore | None = None

    def _prepared(self) -> _Restore:
        """Give what the core made of it."""
        ready = self._ready
        if ready is None:
            ready = self._ready = _Restore(self._json)
        return ready

    def __deepcopy__(self, _: object) -> Self:
        return type(self)(copied(self._json))

    def __reduce__(self) -> tuple[type[Restore], tuple[dict[str, Any]]]:
        """Copy and pickle what it is as JSON."""
        return (type(self), (self._json,))

    def __repr__(self) -> str:
        """How many tools it has something to undo for, and whether there is an answer to restore."""
        answer = " and the answer" if "answer" in self._json else ""
        return f"<Restore of {len(self._json['tools'])} tools{answer}>"

    def __eq__(self, other: object, /) -> bool:
        """Whether both undo the same."""
        return self._json == other._json if isinstance(other, Restore) else NotImplemented

    def __hash__(self) -> int:
        """Go by what is undone."""
        return hash(self.to_json())

    @classmethod
    def from_json(cls, kept: str | bytes | bytearray | dict[str, Any], /) -> Self:
        """Make a `Restore` from what was kept of one: the JSON text, or the dict parsed from it.

        Raises `ToolwireError`: `invalid-value` if it is something else, `invalid-json`.

        >>> Restore.from_json('{"version": 2, "tools": {}}')
        <Restore of 0 tools>
        """
        value: dict[str, Any] = kept if isinstance(kept, dict) else _parsed(kept)
        # Preparing it reads all of it.
        ready = _Restore(value)
        # A copy: what is changed in the caller's dict later must not change where calls go.
        restore = cls(copied(value) if value is kept else value)
        restore._ready = ready
        return restore

    @overload
    def call(self, name: str, arguments: str, /) -> RestoredCall[str]: ...
    @overload
    def call(self, name: str, arguments: bytes | bytearray | memoryview, /) -> RestoredCall[bytes]: ...
    @overload
    def call(self, name: str, arguments: object, /) -> RestoredCall[Any]: ...
    def call(self, name: str, arguments: object, /) -> RestoredCall[Any]:
        """Restore a call, by the name that the model knows and its arguments.

        A tool that is not known comes back as it is, and so do arguments that are not understood. The arguments are a
        value, or JSON text (`str`, which is what OpenAI's APIs give, or bytes): text gives text.

        Raises `ToolwireError`: `invalid-value`, `too-deep`.

        >>> from toolwire import sanitize_tools
        >>> restore = sanitize_tools([{"name": "files.read", "inputSchema": {}}], dialect="moonshot").restore
        >>> call = restore.call("files_read", {"path": "a"})
        >>> call.name, call.arguments
        ('files.read', {'path': 'a'})
        """
        if isinstance(arguments, bytes | bytearray | memoryview):
            text = str(arguments, "utf-8", "replace")
            call, _ = self._prepared().call("restoreCall", (name, text))
            restored = call["arguments"]
            # Bytes that are not UTF-8 stay what they are, too.
            return RestoredCall.of({**call, "arguments": bytes(arguments) if restored == text else restored.encode()})
        return RestoredCall.of(self._prepared().call("restoreCall", (name, arguments))[0])

    def client_call(self, call: object, /) -> RestoredClientCall:
        """Restore a whole call in the form of the client's own API, and say what became of its arguments.

        It is a call as it stands in a reply of any API, as a dict or an SDK's model, or `{"id", "name", "arguments"}`.
        It becomes what the client's request asked for: an Anthropic `tool_use`, an entry of Chat Completions'
        `tool_calls`, or an item of Responses (`function_call` with its namespace, `custom_tool_call` with its input,
        `tool_search_call`).

        Raises `ToolwireError`: `invalid-value` if it is no call; `too-deep`.

        >>> from toolwire import apply_deferred_loading
        >>> request = {"model": "m", "input": "Where am I?", "tools": [{"type": "custom", "name": "exec"}]}
        >>> restore = apply_deferred_loading(request, target="openai-chat").restore
        >>> restore.client_call({"id": "c1", "name": "exec", "arguments": '{"input":"pwd"}'}).call
        {'type': 'custom_tool_call', 'call_id': 'c1', 'name': 'exec', 'input': 'pwd'}
        """
        value, report = self._prepared().call("restoreClientCall", (call,))
        return RestoredClientCall.of({"call": value, **(report or {})})

    def call_stream(self, name: str, /) -> CallStream:
        """Restore the arguments of one call piece by piece; the name is the one that the backend knows."""
        return CallStream(self, name)

    @overload
    def content(self, text: str, /) -> RestoredContent[str]: ...
    @overload
    def content(self, text: bytes | bytearray | memoryview, /) -> RestoredContent[bytes]: ...
    def content(self, text: str | bytes | bytearray | memoryview, /) -> RestoredContent[Any]:
        """Restore a text of the model's answer, if the request has a response format that was rewritten.

        It is taken out of its wrapper, and encoded values come back. If the schema was sent in the instructions alone,
        it is taken out of a Markdown fence, too, unless the schema refuses it. Text that is no JSON, or needs nothing,
        stays as it is. Of JSON that breaks off, whatever is whole is restored. `reply` and `stream` do the same.

        Raises `ToolwireError`: `invalid-value` if it is no text.

        >>> from toolwire import adapt_request
        >>> schema = {"type": "array", "items": {"type": "string"}}
        >>> form = {"type": "json_schema", "json_schema": {"name": "list", "strict": True, "schema": schema}}
        >>> request = {"model": "gpt-5", "messages": [], "response_format": form}
        >>> restore = adapt_request(request, dialect="openai-strict").restore
        >>> restore.content('{"response": ["a"]}')
        RestoredContent(content='["a"]', complete=True, fenced=False)
        """
        given = str(text, "utf-8", "replace") if isinstance(text, bytes | bytearray | memoryview) else text
        value, report = self._prepared().call("restoreContent", (given,))
        if given is not text:
            # Bytes that are not UTF-8 stay what they are, too.
            value = bytes(text) if value == given else value.encode()  # type: ignore[arg-type]
        return RestoredContent.of({"content": value, **(report or {})})

    @overload
    def reply(self, reply: str, /) -> RestoredReply[str]: ...
    @overload
    def reply(self, reply: bytes | bytearray | memoryview, /) -> RestoredReply[bytes]: ...
    @overload
    def reply(self, reply: object, /) -> RestoredReply[Any]: ...
    def reply(self, reply: object, /) -> RestoredReply[Any]:
        """Restore every call in a whole reply of Anthropic Messages, OpenAI Chat Completions or Responses, or Gemini.

        The answer to a response format is restored, too. The reply is not changed. JSON text gives JSON text, and the
        very same object if there is nothing to restore. If calls are repaired, `calls` says what became of the
        arguments of each.

        Raises `ToolwireError`: `invalid-json`, `invalid-value`, `too-deep`.

        >>> from toolwire import sanitize_tools
        >>> restore = sanitize_tools([{"name": "files.read"}], dialect="anthropic").restore
        >>> restore.reply({"content": [{"type": "tool_use", "id": "t1", "name": "files_read", "input": {}}]}).reply
        {'content': [{'type': 'tool_use', 'id': 't1', 'name': 'files.read', 'input': {}}]}
        """
        ready = self._prepared()
        value, report = ready.reply_text(reply) if isinstance(reply, TEXT) else ready.call("restoreReply", (reply,))
        return RestoredReply.of({"reply": value, **(report or {})})

    def stream(self) -> ReplyRestorer:
        """Restore a reply that comes in pieces."""
        return ReplyRestorer(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object that every language shares."""
        return copied(self._json)

    def to_json(self) -> str:
        """Give JSON text, to be kept for a later turn."""
        return json.dumps(self._json, ensure_ascii=False, separators=(",", ":"))


class CallStream:
    """The arguments of one call, restored piece by piece: for gateways that turn a stream of one API into another's.

    What a `custom` tool is called with comes unescaped, as soon as it is there. Arguments that a dialect has encoded
    are held back until the end; all others pass as they are.

    >>> from toolwire import apply_deferred_loading
    >>> request = {"model": "m", "input": "Where am I?", "tools": [{"type": "custom", "name": "exec"}]}
    >>> pieces = apply_deferred_loading(request, target="openai-chat").restore.call_stream("exec")
    >>> [pieces.feed('{"input":"p'), pieces.feed('wd"}'), pieces.finish()]
    ['p', 'wd', '']
    """

    __module__ = "toolwire"  # where callers find it

    __slots__ = ("_stream",)

    def __init__(self, restore: Restore, name: str, /) -> None:
        """Start a call; `Restore.call_stream` does the same."""
        self._stream = _CallStream([restore._json, name])

    def feed(self, piece: str, /) -> str:
        """Take the next piece of the arguments' text, and give what is to be passed on, which may be nothing.

        Raises `ToolwireError`: `limit-exceeded` if what has to be held back is larger than any call.
        """
        return self._stream.feed(piece)

    def finish(self) -> str:
        """End the call: give what was still held back."""
        return self._stream.finish()

    def take_repaired_calls(self) -> list[RepairedCall]:
        """Give what became of the arguments of the call that ended, where calls are repaired; once."""
        return list(RepairedCall.list_of(self._stream.take_repaired_calls()))


class ReplyRestorer:
    """Restores a reply that comes in pieces: the events of one stream, in their order.

    Names are restored at once. The pieces of a call's arguments pass as they are, unless the dialect encoded something
    for that tool, or calls are repaired: then they are held back, and come whole, restored, where the call ends.

    >>> from toolwire import sanitize_tools
    >>> stream = sanitize_tools([{"name": "files.read"}], dialect="anthropic").restore.stream()
    >>> block = {"type": "tool_use", "id": "t1", "name": "files_read", "input": {}}
    >>> stream.feed({"type": "content_block_start", "index": 0, "content_block": block})[0]["content_block"]["name"]
    'files.read'
    """

    __module__ = "toolwire"  # where callers find it

    __slots__ = ("_decoder", "_stream")

    def __init__(self, restore: Restore, /) -> None:
        """Start a stream; `Restore.stream` does the same."""
        self._stream = restore._prepared().stream()
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def feed(self, event: object, /) -> list[Any]:
        """Take the next event, and give what is to be passed on: the event, none, or several.

        Raises `ToolwireError`: `invalid-value`, `too-deep`.
        """
        return self._stream.feed(event)

    @overload
    def feed_text(self, piece: str, /) -> str: ...
    @overload
    def feed_text(self, piece: bytes, /) -> bytes: ...
    def feed_text(self, piece: str | bytes, /) -> str | bytes:
        """Take the next piece of the text of an event stream, cut anywhere, and give the text to be passed on.

        What needs no change passes byte for byte.

        Raises `ToolwireError`: `limit-exceeded` if an event, or what has to be held back, is larger than any reply:
        what could be passed on by then comes with the next call, and the event as it came. `UnicodeDecodeError` if the
        bytes are no UTF-8.
        """
        if isinstance(piece, str):
            return self._stream.feed_text(piece)
        return self._stream.feed_text(self._decoder.decode(piece)).encode()

    def take_repaired_calls(self) -> list[RepairedCall]:
        """Give what became of the calls that ended since this was asked last, where calls are repaired."""
        return list(RepairedCall.list_of(self._stream.take_repaired_calls()))

    def take_answer_changes(self) -> list[AnswerChange]:
        """Return the changes to the answer to a response format since the last call of this method."""
        return self._stream.take_answer_changes()

    def finish(self) -> list[Any]:
        """End the stream: give the events that are still held back because their call never ended."""
        return self._stream.finish()

    def finish_text(self) -> str:
        """End a stream of text: give what is still held back, and what came after the last whole event.

        Raises `ToolwireError`: `limit-exceeded` if the last event cannot be restored. Nothing is lost: the next call
        gives what was held back, and that event as it came.
        """
        rest, _ = self._decoder.getstate()
        self._decoder.reset()
        # Bytes that end in the middle of a character.
        before = self._stream.feed_text(rest.decode(errors="replace")) if rest else ""
        return before + self._stream.finish_text()


def _parsed(text: str | bytes | bytearray) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        # The core's error names what is not JSON. `json` refuses more: integers of thousands of digits.
        ask("check", text, {"dialect": "portable"})
        message = "expected what `Restore.to_json` returns, found JSON that Python does not read"
        raise ToolwireError("invalid-value", "", message) from None
