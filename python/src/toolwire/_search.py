"""Tool search: `search_tools`, `answer_tool_search`, and `ToolIndex`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from ._ask import TEXT, call_on_two
from ._toolwire import Index, call, call_text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import SearchOptions


def search_tools(tools: object, query: str, /, **options: Unpack[SearchOptions]) -> list[str]:
    """Return the names of the tools that match a query, best first.

    `tools` is a tool list of any supported format (Anthropic, OpenAI Responses with namespaces, OpenAI Chat
    Completions, MCP), deferred or not, or a dict with such a list in `tools`; a value or JSON text. For many searches
    of one list, use a `ToolIndex`.

    Options, all by keyword: `mode`, `limit`, `tool_search_name`; `toolwire.types.SearchOptions` describes them.

    Raises `ToolwireError`: `empty-query`, `invalid-pattern`, `pattern-too-long`, `invalid-request` if `tools` is not a
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
            # A lone surrogate, which UTF-8 cannot encode, becomes U+FFFD, which matches nothing.
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
    """Answer a model's call to the tool search, for the next turn. Return `None` if the call is not a search.

    The call is a `tool_use` block (Anthropic; the answer is a `tool_result` block), a `function_call` item (OpenAI
    Responses; the answer is a `function_call_output` item) or an entry of `tool_calls` (Chat Completions; the answer is
    a message with the role `tool`). A call is a search if it calls `tool_search_name`. The answer contains
    `tool_reference` blocks, which `apply_deferred_loading` turns into text, and whose tools it loads.

    `select:Read,Edit` requests tools by name. If the list contains deferred tools, only those are found, because the
    model sees the others anyway. A search that fails because of the model's input is answered with the error, so that
    the model can correct it.

    The call and the tools are each a value or JSON text. If the call is text, the answer is text of the same type.

    The options are those of `search_tools`.

    Raises `ToolwireError`: `invalid-request` if `tools` is not a tool list, `unknown-option`, `invalid-option`,
    `invalid-value`, `too-deep`.

    >>> tools = [{"name": "send_mail", "description": "Sends a mail", "defer_loading": True}]
    >>> call = {"type": "tool_use", "id": "t1", "name": "tool_search", "input": {"query": "write a mail"}}
    >>> answer_tool_search(call, tools)["content"]
    [{'type': 'tool_reference', 'tool_name': 'send_mail'}]
    >>> answer_tool_search({"type": "tool_use", "id": "t2", "name": "send_mail", "input": {}}, tools) is None
    True
    """
    return call_on_two("answerToolSearch", call_, tools, options)[0]


class ToolIndex:
    """A tool list that is indexed for many searches: read once, immutable, and safe to share between threads.

    Of several tools with the same name, the first one is used. Later changes to the original list have no effect.

    The constructor raises `ToolwireError`: `invalid-request` if `tools` is not a tool list, `invalid-json`,
    `invalid-value`, `too-deep`.

    >>> index = ToolIndex([{"name": "getUserEmail", "inputSchema": {"type": "object"}}])
    >>> len(index)
    1
    >>> index.search("email")
    ['getUserEmail']
    """

    __module__ = "toolwire"  # the public module

    __slots__ = ("_index",)

    def __init__(self, tools: object, /) -> None:
        """Read a tool list, in the formats of `search_tools`."""
        self._index = Index(tools)

    def __len__(self) -> int:
        """Return the number of tools that can be found."""
        return len(self._index)

    def __repr__(self) -> str:
        """Show the number of tools."""
        return f"<ToolIndex of {len(self)} tools>"

    def search(self, query: str, /, **options: Unpack[SearchOptions]) -> list[str]:
        """Search this list, like `search_tools`.

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
        """Answer a call from this list, like `answer_tool_search`.

        Raises `ToolwireError`: `unknown-option`, `invalid-option`, `invalid-value`, `too-deep`.

        >>> index = ToolIndex([{"name": "send_mail", "defer_loading": True}])
        >>> call = {"type": "tool_use", "id": "t1", "name": "tool_search", "input": {"query": "select:send_mail"}}
        >>> index.answer(call)["content"]
        [{'type': 'tool_reference', 'tool_name': 'send_mail'}]
        """
        return self._index.answer(call_, options)
