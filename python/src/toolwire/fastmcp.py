"""A middleware for FastMCP servers: `pip install toolwire[fastmcp]`.

Tools are listed in a dialect, for clients that pass them to a model API unchanged, and calls are restored to the names
and arguments that the tools expect:

    server.add_middleware(ToolwireMiddleware(dialect="portable", repair=True))
"""

from __future__ import annotations

import json
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

try:
    from fastmcp.exceptions import ToolError
    from fastmcp.server.middleware import Middleware
    from fastmcp.utilities.versions import dedupe_with_versions
except ImportError as missing:
    message = f"expected the package fastmcp 4 or later: run `pip install 'toolwire[fastmcp]'` ({missing})"
    raise ImportError(message) from missing

from ._framework import Adapter

if TYPE_CHECKING:
    from collections.abc import Sequence

    import mcp_types
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from fastmcp.tools.base import Tool, ToolResult
    from typing_extensions import Unpack

    from ._framework import Turn
    from .types import FrameworkOptions

__all__ = ["ToolwireMiddleware"]

_MAX_LISTS = 16
"""Maximum number of adapted lists that are kept. There are several if the list depends on the session."""

_LISTED: ContextVar[dict[int, Turn] | None] = ContextVar("toolwire_listed", default=None)
"""During the lookup of a call: the adapted list of each middleware, by the middleware's `id`."""


class ToolwireMiddleware(Middleware):
    """Lists a server's tools in a dialect and restores the calls.

    A call that could not be repaired (`repair`) does not run: its result is an error with the `retry_message`, which
    the client shows the model.
    """

    def __init__(self, **options: Unpack[FrameworkOptions]) -> None:
        """Accept the options of `sanitize_tools`, `on_report` and `on_repair`.

        Raises `ToolwireError`: `unknown-option`, `invalid-option`, `unknown-dialect`.
        """
        self._adapter = Adapter(options)
        self._turns: dict[str, Turn] = {}

    async def on_list_tools(
        self,
        context: MiddlewareContext[mcp_types.ListToolsRequest],
        call_next: CallNext[mcp_types.ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        """List the tools in the dialect."""
        tools = await call_next(context)
        turn = self._turn(tools)
        if (listed := _LISTED.get()) is not None:
            listed[id(self)] = turn
        return turn.listed(_newest(tools), _listed)

    async def on_call_tool(
        self,
        context: MiddlewareContext[mcp_types.CallToolRequestParams],
        call_next: CallNext[mcp_types.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Restore a call, and run the tool."""
        params = context.message
        turn = await self._shown(context)
        call = turn.call(None, params.name, params.arguments or {})
        if call.valid is False:
            raise ToolError(call.retry_message)
        update = {"name": call.name, "arguments": call.arguments}
        return await call_next(context.copy(message=params.model_copy(update=update)))

    async def _shown(self, context: MiddlewareContext[Any]) -> Turn:
        """Adapt the list that the client sees. The client may have received it from another process."""
        if context.fastmcp_context is None:
            return self._turn([])
        listed: dict[int, Turn] = {}
        token = _LISTED.set(listed)
        try:
            # Includes the other middlewares, which may hide and add tools.
            await context.fastmcp_context.fastmcp.list_tools()
        finally:
            _LISTED.reset(token)
        if (turn := listed.get(id(self))) is None:
            message = "toolwire: another middleware answers the request for the list of tools: put toolwire's before it"
            raise ToolError(message)
        return turn

    def _turn(self, tools: Sequence[Tool]) -> Turn:
        """Adapt a list, or return the result for an equal list that was adapted before."""
        functions = [
            {"name": tool.name, "description": tool.description or "", "parameters": tool.parameters}
            for tool in _newest(tools)
        ]
        key = json.dumps(functions)
        turn = self._turns.pop(key, None) or self._adapter.turn(
            [{"type": "function", "function": function} for function in functions]
        )
        while len(self._turns) >= _MAX_LISTS:
            del self._turns[next(iter(self._turns))]
        self._turns[key] = turn
        return turn


def _newest(tools: Sequence[Tool]) -> list[Tool]:
    """Return the newest version of each tool, the only one that FastMCP sends to clients."""
    return dedupe_with_versions(tools, lambda tool: tool.name)


def _listed(tool: Tool, sent: dict[str, Any]) -> Tool:
    update = {"name": sent["name"], "description": sent.get("description"), "parameters": sent["parameters"]}
    return tool.model_copy(update=update)
