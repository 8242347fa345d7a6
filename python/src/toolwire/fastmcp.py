"""A middleware for FastMCP servers: `pip install toolwire[fastmcp]`.

Tools are listed in a dialect, for clients that pass them to a model API unchanged, and calls are restored to the names
and arguments that the tools expect:

    server.add_middleware(ToolwireMiddleware(dialect="portable", repair=True))
"""

from __future__ import annotations

import json
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

try:
    from fastmcp.exceptions import ToolError
    from fastmcp.server.middleware import Middleware
    from fastmcp.tools.base import ToolResult
    from fastmcp.utilities.versions import dedupe_with_versions
    from mcp_types import TextContent
except ImportError as missing:
    message = f"expected the package fastmcp 4 or later: run `pip install 'toolwire[fastmcp]'` ({missing})"
    raise ImportError(message) from missing

from ._error import ToolwireError
from ._framework import Adapter, FrameworkOptions
from ._schema import fit_result

if TYPE_CHECKING:
    from collections.abc import Sequence

    import mcp_types
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from fastmcp.tools.base import Tool
    from typing_extensions import Unpack

    from ._framework import Turn
    from .types import ResultOptions

    AdaptedList: TypeAlias = tuple[Turn, dict[str, dict[str, Any] | None]]
    """An adapted list, and the output schemas of its tools by their own names."""

__all__ = ["ToolwireMiddleware"]

_MAX_LISTS = 16
"""Maximum number of adapted lists that are kept. There are several if the list depends on the session."""

_ADAPTED_LISTS: ContextVar[dict[int, AdaptedList] | None] = ContextVar("toolwire_listed", default=None)
"""During the lookup of a call: the adapted list of each middleware, by the middleware's `id`."""


class MiddlewareOptions(FrameworkOptions, total=False):
    """Keyword arguments of `ToolwireMiddleware`."""

    results: Literal["pass", "refuse", "drop"] | None
    """Handling of a result that does not match the output schema of its tool, as the option `mismatch` of `fit_result`.
    With `"drop"`, the tools are listed without output schemas, because clients require structured content that matches
    the schema. By
    default `"pass"`."""
    structured_text: Literal["empty", "missing", "never"] | None
    """Results whose structured content is also added as text, as in `fit_result`. By default `"empty"`."""


class ToolwireMiddleware(Middleware):
    """Lists a server's tools in a dialect and restores the calls.

    A call that could not be repaired (`repair`) does not run: its result is an error with the `retry_message`, which
    the client shows the model.
    """

    def __init__(self, **options: Unpack[MiddlewareOptions]) -> None:
        """Accept the options of `sanitize_tools`, `on_report`, `on_repair`, `results` and `structured_text`.

        Raises `ToolwireError`: `unknown-option`, `invalid-option`, `unknown-dialect`.
        """
        results = options.pop("results", None)
        if results not in (None, "pass", "refuse", "drop"):
            message = f'expected `results` to be "pass", "refuse" or "drop", found `{results}`'
            raise ToolwireError("invalid-option", "/results", message)
        structured_text = options.pop("structured_text", None)
        self._result_options: ResultOptions = {"mismatch": results, "structured_text": structured_text}
        fit_result({}, {}, **self._result_options)
        self._adapter = Adapter(options)
        self._turns: dict[str, Turn] = {}

    async def on_list_tools(
        self,
        context: MiddlewareContext[mcp_types.ListToolsRequest],
        call_next: CallNext[mcp_types.ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        """List the tools in the dialect."""
        tools = await call_next(context)
        turn = self._adapt(tools)
        if (adapted_lists := _ADAPTED_LISTS.get()) is not None:
            adapted_lists[id(self)] = turn, {tool.name: tool.output_schema for tool in _newest(tools)}
        return turn.sent_list(_newest(tools), self._sent_tool)

    async def on_call_tool(
        self,
        context: MiddlewareContext[mcp_types.CallToolRequestParams],
        call_next: CallNext[mcp_types.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Restore a call, and run the tool."""
        params = context.message
        turn, output_schemas = await self._client_list(context)
        call = turn.call(None, params.name, params.arguments or {})
        if call.valid is False:
            raise ToolError(call.retry_message)
        update = {"name": call.name, "arguments": call.arguments}
        result = await call_next(context.copy(message=params.model_copy(update=update)))
        return self._fit(result, call.name, output_schemas.get(call.name))

    def _sent_tool(self, tool: Tool, sent: dict[str, Any]) -> Tool:
        update = {"name": sent["name"], "description": sent.get("description"), "parameters": sent["parameters"]}
        if self._result_options.get("mismatch") == "drop":
            update["output_schema"] = None
        return tool.model_copy(update=update)

    def _fit(self, result: ToolResult, name: str, output_schema: dict[str, Any] | None) -> ToolResult:
        # The result may be a task.
        if not isinstance(result, ToolResult) or (output_schema is None and result.structured_content is None):
            return result
        result_json: dict[str, Any] = {
            "content": [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content],
            "isError": result.is_error,
        }
        if result.structured_content is not None:
            result_json["structuredContent"] = result.structured_content
        fitted = fit_result(result_json, {"name": name, "outputSchema": output_schema}, **self._result_options)
        structured = fitted.result.get("structuredContent")
        if not fitted.changed or not isinstance(structured, dict | None):
            return result
        kept_blocks = 0 if any(change.rule == "refuse-result" for change in fitted.changes) else len(result.content)
        texts = [TextContent(type="text", text=block["text"]) for block in fitted.result["content"][kept_blocks:]]
        update = {
            "content": [*result.content[:kept_blocks], *texts],
            "structured_content": structured,
            "is_error": fitted.result["isError"],
        }
        return result.model_copy(update=update)

    async def _client_list(self, context: MiddlewareContext[Any]) -> AdaptedList:
        """Adapt the list that the client sees. The client may have received it from another process."""
        if context.fastmcp_context is None:
            return self._adapt([]), {}
        adapted_lists: dict[int, AdaptedList] = {}
        token = _ADAPTED_LISTS.set(adapted_lists)
        try:
            # Includes the other middlewares, which may hide and add tools.
            await context.fastmcp_context.fastmcp.list_tools()
        finally:
            _ADAPTED_LISTS.reset(token)
        if (adapted_list := adapted_lists.get(id(self))) is None:
            message = "toolwire: another middleware answers the request for the list of tools: put toolwire's before it"
            raise ToolError(message)
        return adapted_list

    def _adapt(self, tools: Sequence[Tool]) -> Turn:
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
