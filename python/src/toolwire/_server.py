"""An MCP server's tools, asked for over stdio through the official SDK, which is only needed here."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from toolwire import _toolwire

if TYPE_CHECKING:
    from typing_extensions import Self

# `uvx` may have to download the server first.
PATIENCE_S = 120.0
# More pages than any server has: a cursor that goes round must not go round for ever.
PAGES = 10_000
# How much of what a server said is shown, in case it fails.
LOG = 16_384
NO_LIST = "expected an answer with a list in `tools`, found none"


def tools_of(command: list[str], names: list[str]) -> list[Any]:
    """Start a server, and give the tools of all pages of its `tools/list` as it sent them.

    A server is somebody else's program: it gets the variables of the environment that the SDK thinks safe, and those of
    these names.
    """
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
            return asyncio.run(_listed(command, names, log))
        except Exception as error:
            log.seek(0)
            sys.stderr.write(_toolwire.Command.heard(log.read()[-LOG:]))
            raise RuntimeError(f"the server did not list its tools: {_why(error)}") from None


async def _listed(command: list[str], names: list[str], log: Any) -> list[Any]:
    from mcp import ClientSession, StdioServerParameters, types
    from mcp.client.stdio import get_default_environment, stdio_client
    from pydantic import BaseModel, ValidationError

    from toolwire import __version__

    class Anything(BaseModel):
        """What becomes of the SDK's own reading of an answer."""

    chosen = {name: os.environ[name] for name in names if name in os.environ}
    server = StdioServerParameters(command=command[0], args=command[1:], env=get_default_environment() | chosen)
    client = types.Implementation(name="toolwire", version=__version__)
    tools: list[Any] = []
    async with (
        stdio_client(server, errlog=log) as (messages, write),
        ClientSession(
            heard := _Overheard(messages), write, read_timeout_seconds=PATIENCE_S, client_info=client
        ) as session,
    ):
        await session.initialize()
        cursor = None
        for _ in range(PAGES):
            request = types.ListToolsRequest(params=types.PaginatedRequestParams(cursor=cursor))
            # What it finds wrong with the tools is what the commands are there to say.
            with suppress(ValidationError):
                await session.send_request(request, Anything)
            answer = heard.answer
            if not isinstance(answer, dict) or not isinstance(answer.get("tools"), list):
                raise RuntimeError(NO_LIST)
            tools.extend(answer["tools"])
            cursor = answer.get("nextCursor")
            # At the end it should not be there; some servers write `null` or an empty string.
            if cursor is None or cursor == "":
                return tools
    raise RuntimeError(f"expected at most {PAGES} pages, found more")


class _Overheard:
    """A stream of messages that keeps the latest answer as it came.

    The SDK has its own idea of a tool, drops what it does not know, and refuses all tools for one that is none.
    """

    def __init__(self, stream: Any) -> None:
        self._stream, self.answer = stream, None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return self._heard(await self._stream.__anext__())

    async def receive(self) -> Any:
        return self._heard(await self._stream.receive())

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> bool | None:
        left: bool | None = await self._stream.__aexit__(*error)
        return left

    def _heard(self, item: Any) -> Any:
        answer = getattr(getattr(item, "message", None), "result", None)
        if answer is not None:
            self.answer = answer
        return item


def _why(error: BaseException) -> str:
    """Give the cause: what runs in a group of tasks fails as a group."""
    while (inside := getattr(error, "exceptions", None)) is not None:
        error = inside[0]
    if isinstance(error, FileNotFoundError):
        return "expected a command, found none of that name"
    return str(error) or type(error).__name__
