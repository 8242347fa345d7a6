"""Tool search: `search_tools`, `answer_tool_search`, and `ToolIndex`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from ._ask import TEXT, on_two
from ._toolwire import Index, call, call_text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .types import SearchOptions


def search_tools(tools: object, query: str, /, **options: Unpack[SearchOptions]) -> list[str]:
    """Name the tools that match a query, best first.

    `tools` is a tool list of any supported format (Anthropic, OpenAI Responses with namespaces, OpenAI Chat
    Completions, MCP), deferred or not, or a dict that has one in `tools`; a value or JSON text. Who searches
    one list often keeps a `ToolIndex`.

    Options, all by keyword: `mode`, `limit`, `tool_search_name`; `toolwire.types.SearchOptions` describes them.

    Raises `ToolwireError`: `empty-query`, `invalid-pattern`, `pattern-too-long`, `invalid-request` if `tools` is no
    tool list, `unknown-option`, `invalid-option`, `invalid-value`, `too-deep`.

    >>> tools = [
    ...     {"name": "send_mail", "description": "Sends a mail", "input_schema": {"type": "object"}},
    ...     {"name": "book_room", "description": "Books a meeting room", "input_schema": {"type": "object"}},
    ... ]
    >>> search_tools(tools, "a room for our meeting")
    ['book_room']
    >>> search_tools(tools, "^send_", mode="regex")
    ['send_mail']
    """
    if isinstance(tools, TEXT):
        if isinstance(query, str):
            # A surrogate without its pair, which UTF-8 does not have, matches nothing.
            query = query.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return call_text("searchTools", (tools, query), options)[0]
    return call("searchTools", (tools, query), options)[0]


@overload
def answer_tool_search(call_: str, tools: object, /, **options: Unpack[SearchOptions]) -> str | None: ...
@overload
def answer_tool_search(
    call_: bytes | bytearray | memoryview, tools: object, /, **options: Unpack[SearchOptions]
) -> bytes | None: ...
@overload
def answer_tool_search(call_: object, tools: object, /, **options: Unpack[SearchOptions]) -> Any | None: ...
def answer_tool_search(call_: object, tools: object, /, **options: Unpack[SearchOptions]) -> Any | None:
    """Answer a model's call of the tool search, for the next turn; `None` if the call is not a search.

    The call is a `tool_use` block (Anthropic; the answer is a `tool_result` block), a `function_call` item (OpenAI
    Responses; a `function_call_output` item) or an entry of `tool_calls` (Chat Completions; a message with the role
    `tool`). It is a search if it calls `tool_search_name`. The answer holds `tool_reference` blocks, which
    `apply_deferred_loading` turns into text, and loads what they name.

    `select:Read,Edit` asks for tools by name. If the list defers tools, only those are found, because the model sees
    the others anyway. A search that fails because of what the model wrote is answered, too, so that the model sees why.

    The call and the tools are each a value or JSON text; a call that is text is answered in text of its type.

    Takes the options of `search_tools`.

    Raises `ToolwireError`: `invalid-request` if `tools` is no tool list, `unknown-option`, `invalid-option`,
    `invalid-value`, `too-deep`.

    >>> tools = [{"name": "send_mail", "description": "Sends a mail", "defer_loading": True}]
    >>> call = {"type": "tool_use", "id": "t1", "name": "tool_search", "input": {"query": "write a mail"}}
    >>> answer_tool_search(call, tools)["content"]
    [{'type': 'tool_reference', 'tool_name': 'send_mail'}]
    >>> answer_tool_search({"type": "tool_use", "id": "t2", "name": "send_mail", "input": {}}, tools) is None
    True
    """
    return on_two("answerToolSearch", call_, tools, options)[0]


class ToolIndex:
    """A tool list made ready for many searches: read once, never changed, safe to share between threads.

    Of several tools with one name the first one counts. Later changes to the list it was made from do not show.

    Raises `ToolwireError` when it is made: `invalid-request` if `tools` is no tool list, `invalid-json`,
    `invalid-value`, `too-deep`.

    >>> index = ToolIndex([{"name": "getUserEmail", "inputSchema": {"type": "object"}}])
    >>> len(index)
    1
    >>> index.search("email")
    ['getUserEmail']
    """

    __module__ = "toolwire"  # where callers find it

    __slots__ = ("_index",)

    def __init__(self, tools: object, /) -> None:
        """Read a tool list, as `search_tools` takes it."""
        self._index = Index(tools)

    def __len__(self) -> int:
        """Say how many tools can be found."""
        return len(self._index)

    def __repr__(self) -> str:
        """How many tools it holds."""
        return f"<ToolIndex of {len(self)} tools>"

    def search(self, query: str, /, **options: Unpack[SearchOptions]) -> list[str]:
        """Do what `search_tools` does, in this list.

        Raises `ToolwireError`: `empty-query`, `invalid-pattern`, `pattern-too-long`, `unknown-option`,
        `invalid-option`, `invalid-value`.
        """
        return self._index.search(query, options)

    @overload
    def answer(self, call_: str, /, **options: Unpack[SearchOptions]) -> str | None: ...
    @overload
    def answer(self, call_: bytes | bytearray | memoryview, /, **options: Unpack[SearchOptions]) -> bytes | None: ...
    @overload
    def answer(self, call_: object, /, **options: Unpack[SearchOptions]) -> Any | None: ...
    def answer(self, call_: object, /, **options: Unpack[SearchOptions]) -> Any | None:
        """Do what `answer_tool_search` does, from this list.

        Raises `ToolwireError`: `unknown-option`, `invalid-option`, `invalid-value`, `too-deep`.

        >>> index = ToolIndex([{"name": "send_mail", "defer_loading": True}])
        >>> call = {"type": "tool_use", "id": "t1", "name": "tool_search", "input": {"query": "select:send_mail"}}
        >>> index.answer(call)["content"]
        [{'type': 'tool_reference', 'tool_name': 'send_mail'}]
        """
        return self._index.answer(call_, options)
