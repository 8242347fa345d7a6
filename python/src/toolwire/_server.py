"""An MCP server's tools, asked for over stdio through the official SDK, which is only needed here."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import tempfile
from typing import Any

# `uvx` may have to download the server first.
PATIENCE_S = 120.0
# More pages than any server has: a cursor that goes round must not go round for ever.
PAGES = 10_000
# How much of what a server said is shown, in case it fails.
LOG = 16_384
NO_LIST = "expected an answer with a list in `tools`, found none"


def tools_of(command: list[str]) -> list[Any]:
    """Start a server, and give the tools of all pages of its `tools/list` as it sent them."""
    try:
        import mcp  # noqa: F401
    except ImportError:
        line = f"uvx 'toolwire[mcp]' … -- {' '.join(command)}"
        message = (
            f"expected the package mcp, which speaks with servers, found none: run `{line}`, or install `toolwire[mcp]`"
        )
        raise RuntimeError(message) from None
    # The SDK would print a traceback for each line that is no message, as servers print for people.
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        try:
            return asyncio.run(_listed(command, log))
        except Exception as error:
            log.seek(0)
            sys.stderr.write(log.read()[-LOG:])
            raise RuntimeError(f"the server did not list its tools: {_why(error)}") from None


async def _listed(command: list[str], log: Any) -> list[Any]:
    from mcp import ClientSession, StdioServerParameters, types
    from mcp.client.stdio import stdio_client
    from pydantic import BaseModel, Field

    from toolwire import __version__

    class Page(BaseModel):
        """Tools as they came: the SDK's own type has its own idea of a tool."""

        tools: Any = None
        next_cursor: Any = Field(None, alias="nextCursor")

    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    client = types.Implementation(name="toolwire", version=__version__)
    tools: list[Any] = []
    async with (
        stdio_client(server, errlog=log) as (read, write),
        ClientSession(read, write, read_timeout_seconds=PATIENCE_S, client_info=client) as session,
    ):
        await session.initialize()
        cursor = None
        for _ in range(PAGES):
            request = types.ListToolsRequest(params=types.PaginatedRequestParams(cursor=cursor))
            result = await session.send_request(request, Page)
            if not isinstance(result.tools, list):
                raise RuntimeError(NO_LIST)
            tools.extend(result.tools)
            cursor = result.next_cursor
            # At the end it should not be there; some servers write `null` or an empty string.
            if cursor is None or cursor == "":
                return tools
    raise RuntimeError(f"expected at most {PAGES} pages, found more")


def _why(error: BaseException) -> str:
    """Give the cause: what runs in a group of tasks fails as a group."""
    while (inside := getattr(error, "exceptions", None)) is not None:
        error = inside[0]
    if isinstance(error, FileNotFoundError):
        return "expected a command, found none of that name"
    return str(error) or type(error).__name__
