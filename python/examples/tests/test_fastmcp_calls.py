"""Tests the adapter of FastMCP with unusual middleware, calls and results."""

from __future__ import annotations

import asyncio
from typing import Any

import fastmcp
import pytest
from fastmcp import FastMCP
from fastmcp.server.middleware import Middleware
from fastmcp.tools import Tool
from fastmcp.tools.base import ToolResult

import toolwire
from toolwire.fastmcp import ToolwireMiddleware


class Hides(Middleware):
    """Hides a tool, as servers hide tools from users without permission."""

    async def on_list_tools(self, context: Any, call_next: Any) -> Any:
        """Return all tools but one."""
        return [one for one in await call_next(context) if one.name != "files_read"]


class Adds(Middleware):
    """Adds a tool of its own."""

    async def on_list_tools(self, context: Any, call_next: Any) -> Any:
        """Return one more tool."""
        return [*await call_next(context), Tool.from_function(lambda: "", name="more.files")]

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        """Run the added tool."""
        return ToolResult("added") if context.message.name == "more.files" else await call_next(context)


@pytest.mark.parametrize("is_first", [True, False])
def test_fastmcp_calls_the_tool_that_was_listed(is_first: bool) -> None:
    ours = ToolwireMiddleware(dialect="moonshot")
    hides, adds = Hides(), Adds()
    server = FastMCP[Any]("files", middleware=[ours, hides, adds] if is_first else [adds, hides, ours])
    server.tool(name="files.read")(lambda: "read")
    server.tool(name="files_read")(lambda: "hidden")

    async def run() -> dict[str, str]:
        async with fastmcp.Client(server) as client:
            names = [one.name for one in await client.list_tools()]
            return {name: (await client.call_tool(name)).content[0].text for name in names}

    listed = asyncio.run(run())
    if is_first:
        assert listed == {"files_read": "read", "more_files": "added"}
    else:
        # A middleware before ours lists the tools that it adds itself.
        assert sorted(listed.values()) == ["added", "read"]
        assert "hidden" not in listed.values()


def test_fastmcp_reports_a_middleware_that_answers_the_list_itself() -> None:
    class Answers(Middleware):
        async def on_list_tools(self, context: Any, call_next: Any) -> Any:  # noqa: ARG002
            return []

    server = FastMCP[Any]("files", middleware=[Answers(), ToolwireMiddleware(dialect="moonshot")])
    server.tool(name="files.read")(lambda: "read")

    async def run() -> None:
        async with fastmcp.Client(server) as client:
            await client.call_tool("files_read")

    with pytest.raises(fastmcp.exceptions.ToolError, match="put toolwire's before it"):
        asyncio.run(run())


RATE = {"type": "object", "properties": {"rate": {"type": "number"}}, "required": ["rate"]}
TEXT = {"rate": "none"}
REFUSAL = (
    "The result of `rate.get` does not match its output schema: `/structuredContent/rate`: expected a number, found a "
    "string."
)


@pytest.mark.parametrize(
    ("result", "options", "expected"),
    [
        (
            ToolResult("no rate", structured_content={"error": "x"}, is_error=True),
            {"results": "refuse"},
            (["no rate"], None, True),
        ),
        (ToolResult('{"rate": 1}'), {}, (['{"rate": 1}'], {"rate": 1}, False)),
        (ToolResult("one", structured_content={"rate": 1}), {}, (["one"], {"rate": 1}, False)),
        (
            ToolResult("one", structured_content={"rate": 1}),
            {"structured_text": "missing"},
            (["one", '{"rate":1}'], {"rate": 1}, False),
        ),
        (ToolResult("none", structured_content=TEXT), {"results": "drop"}, (["none"], None, False)),
        (
            ToolResult("none", structured_content=TEXT),
            {"results": "refuse"},
            ([REFUSAL], None, True),
        ),
    ],
)
def test_fastmcp_fits_results(result: ToolResult, options: Any, expected: Any) -> None:
    class Returns(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:  # noqa: ARG002
            return result

    middleware: list[Any] = [ToolwireMiddleware(dialect="moonshot", **options), Returns()]
    server = FastMCP[Any]("rates", middleware=middleware)
    server.tool(name="rate.get", output_schema=RATE)(lambda: {"rate": 1})

    async def run() -> Any:
        async with fastmcp.Client(server) as client:
            (tool,) = await client.list_tools()
            return tool, await client.call_tool_mcp(tool.name, {})

    tool, found = asyncio.run(run())
    assert ([block.text for block in found.content], found.structured_content, bool(found.is_error)) == expected
    assert (tool.output_schema is None) == (options.get("results") == "drop")


@pytest.mark.parametrize("options", [{"results": "strip"}, {"structured_text": "always"}])
def test_fastmcp_refuses_other_words_for_results(options: Any) -> None:
    with pytest.raises(toolwire.ToolwireError) as caught:
        ToolwireMiddleware(dialect="moonshot", **options)
    assert caught.value.code == "invalid-option"
