"""MCP servers through the official SDK: how they are reached, and their tools."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
import tempfile
import time
from contextlib import AsyncExitStack, nullcontext, suppress
from datetime import timedelta
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from toolwire import _toolwire
from toolwire._limited import ENCODING, Limit
from toolwire._secrets import end_without_secrets, longest_secret, without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from typing_extensions import Self

# More pages than any server has: a cursor that goes round must not go round for ever.
PAGES = 10_000
# Maximum number of tools: each of them takes kilobytes of findings.
TOOLS = 10_000
# How many times its limit for one answer a server may take for all pages: those that it makes up must not take days.
PATIENCE = 10
# Maximum size of all answers of a server at an address: objects take a hundred times the memory of their text.
MOST = 16 << 20
# How much of what a server said is shown if it fails, in bytes.
LOG = 16_384
NO_ADDRESS = "expected an address, found something else"
NO_LIST = "expected an answer with a list in `tools`, found none"
# The error codes of mcp 2 and mcp 1 for a timeout.
TIMED_OUT = (-32001, 408)
# The oldest mcp with `streamable_http_client`, and the first version that is not tested.
OLDEST, UNTRIED = (1, 24), (3,)


def tools_of(server: dict[str, Any], waiting: Callable[[int], None]) -> list[Any]:
    """Ask a server, as the core describes it, and give the tools of all pages of its `tools/list` as it sent them.

    `waiting` is told once a second how long it takes, and 0 at the end.
    """
    prepare("-- SERVER" if "command" in server else "--url URL")
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        try:
            return asyncio.run(_watched(server, log, waiting))
        except Exception as error:
            sys.stderr.write(_toolwire.Command.heard(_end_of(log, server)))
            reason = without_secrets(why(error, server["timeout"]), server)
            raise RuntimeError(f"the server did not list its tools: {reason}") from None


def _end_of(log: Any, server: dict[str, Any]) -> str:
    """Give the end of what a server said, without secrets."""
    length = log.buffer.seek(0, os.SEEK_END)
    most = LOG + longest_secret(server)
    log.buffer.seek(max(0, length - most))
    text = log.buffer.read(most).decode("utf-8", "replace")
    safe = end_without_secrets(text, server) if length > most else without_secrets(text, server)
    return safe[-LOG:]


def prepare(where: str) -> None:
    """Make sure that the SDK is there, in a version that is tried, and says nothing by itself."""
    try:
        import mcp  # noqa: F401
    except ImportError:
        line = f"uvx 'toolwire[mcp]' … {where}"
        message = (
            f"expected the package mcp, which speaks with servers, found none: run `{line}`, or install `toolwire[mcp]`"
        )
        raise RuntimeError(message) from None
    _refuse_other_versions()
    # The SDK would print a traceback for each line that is no message, as servers print for people. mcp 1 logs to
    # several loggers, the root among them.
    logging.getLogger().addHandler(logging.NullHandler())


def _installed() -> tuple[str, tuple[int, ...]]:
    """Give the version of the SDK as it is written, and its first two numbers."""
    try:
        found = version("mcp")
    except PackageNotFoundError:
        # A copy without metadata is tried as the current one.
        return "unknown", (2, 0)
    return found, tuple(map(int, re.findall(r"\d+", found)[:2]))


def is_first() -> bool:
    """Tell whether the SDK is mcp 1, as it is beside LangChain and pydantic-ai, which do not work with mcp 2."""
    return _installed()[1] < (2,)


def _refuse_other_versions() -> None:
    found, numbers = _installed()
    if not OLDEST <= numbers < UNTRIED:
        oldest = ".".join(map(str, OLDEST))
        message = (
            f"expected the package mcp from {oldest} (the first with today's client of HTTP) to before {UNTRIED[0]}, "
            f"found {found}: run `pip install 'toolwire[mcp]'`"
        )
        raise RuntimeError(message)


async def _watched(server: dict[str, Any], log: Any, waiting: Callable[[int], None]) -> list[Any]:
    async def tell() -> None:
        seconds = 0
        try:
            while True:
                await asyncio.sleep(1)
                seconds += 1
                waiting(seconds)
        finally:
            if seconds:
                waiting(0)

    telling = asyncio.create_task(tell())
    try:
        return await _first(server, log)
    finally:
        telling.cancel()
        with suppress(asyncio.CancelledError):
            await telling


async def _first(server: dict[str, Any], log: Any) -> list[Any]:
    """Go the ways to reach a server, one after the other."""
    if "url" in server and not is_address(server["url"]):
        raise RuntimeError(NO_ADDRESS)
    ways = ["stdio"] if "command" in server else ["sse"] if server["sse"] else ["http", "sse"]
    failure: Exception | None = None
    for way in ways:
        try:
            limit = Limit(MOST, together=True)
            tools: list[Any] = await limit.run(_asked(way, server, log, limit))
            return tools
        except Exception as error:
            # Of two ways to reach an address the first one's reason is the better one.
            failure = failure or error
            if _is_late(_cause(error)):
                break
    raise failure or RuntimeError(NO_LIST)


def is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # Which it has only if it is a number.
        _ = parts.port
    except ValueError:
        return False
    return bool(parts.hostname)


async def streams(way: str, server: dict[str, Any], log: Any, limit: Limit, stack: AsyncExitStack) -> tuple[Any, Any]:
    from mcp import StdioServerParameters
    from mcp.client.sse import sse_client
    from mcp.client.stdio import get_default_environment, stdio_client
    from mcp.client.streamable_http import streamable_http_client

    timeout = float(server["timeout"])
    # The SDK's own client of HTTP, which it brings along.
    own: Any = None if way == "stdio" else import_module("httpx" if is_first() else "httpx2")
    hooks = {"response": [limit.response]}
    if way == "sse":

        def limited(headers: Any = None, timeout: Any = None, auth: Any = None) -> Any:
            return own.AsyncClient(headers=headers, timeout=timeout, auth=auth, event_hooks=hooks)

        headers = ENCODING | server["headers"]
        sse = await stack.enter_async_context(
            sse_client(
                server["url"],
                headers=headers,
                timeout=timeout,
                sse_read_timeout=timeout,
                httpx_client_factory=limited,
            )
        )
        return sse[0], sse[1]
    if way == "http":
        client = await stack.enter_async_context(
            own.AsyncClient(headers=ENCODING | server["headers"], timeout=timeout, event_hooks=hooks)
        )
        http = await stack.enter_async_context(streamable_http_client(server["url"], http_client=client))
        return http[0], http[1]
    # A server is somebody else's program: it gets the variables of the environment that the SDK thinks safe, those of
    # the names that the caller gave, and those that its own declaration has.
    inherited = {name: os.environ[name] for name in server["inherited"] if name in os.environ}
    command, *arguments = server["command"]
    parameters = StdioServerParameters(
        command=command,
        args=arguments,
        cwd=server["folder"],
        env=get_default_environment() | inherited | server["environment"],
    )
    stdio = await stack.enter_async_context(stdio_client(parameters, errlog=log))
    return stdio[0], stdio[1]


async def _asked(way: str, server: dict[str, Any], log: Any, limit: Limit) -> list[Any]:
    from mcp import ClientSession, types
    from pydantic import BaseModel, ValidationError

    from toolwire import __version__

    class Anything(BaseModel):
        """What becomes of the SDK's own reading of an answer."""

    timeout = float(server["timeout"])
    # mcp 1 has the time as a `timedelta`, and puts requests and messages into one more model.
    patience: Any = timedelta(seconds=timeout) if is_first() else timeout
    wrapped: Any = types.ClientRequest if is_first() else lambda request: request
    client = types.Implementation(name="toolwire", version=__version__)
    tools: list[Any] = []
    async with AsyncExitStack() as stack:
        async with _limit(timeout):
            messages, write = await streams(way, server, log, limit, stack)
            heard = _Overheard(messages)
            session = await stack.enter_async_context(
                ClientSession(heard, write, read_timeout_seconds=patience, client_info=client)
            )
            await session.initialize()
        cursor = None
        end = time.monotonic() + PATIENCE * timeout
        for _ in range(PAGES):
            request = types.ListToolsRequest(params=types.PaginatedRequestParams(cursor=cursor))
            # What it finds wrong with the tools is what the commands are there to say.
            with suppress(ValidationError):
                await session.send_request(wrapped(request), Anything)
            answer = heard.answer
            if not isinstance(answer, dict) or not isinstance(answer.get("tools"), list):
                raise RuntimeError(NO_LIST)
            if len(tools) + len(answer["tools"]) > TOOLS:
                raise RuntimeError(f"expected at most {TOOLS} tools, found more")
            tools.extend(answer["tools"])
            cursor = answer.get("nextCursor")
            # At the end it should not be there; some servers write `null` or an empty string.
            if cursor is None or cursor == "":
                return tools
            if time.monotonic() > end:
                raise RuntimeError(f"expected all pages in {PATIENCE * server['timeout']} s, found more")
    raise RuntimeError(f"expected at most {PAGES} pages, found more")


def _limit(seconds: float) -> AbstractAsyncContextManager[object]:
    """Give what opens a stream a limit, which it does not have of its own; Python 3.10 has none to give."""
    if sys.version_info >= (3, 11):
        return asyncio.timeout(seconds)
    return nullcontext()


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
        message = getattr(item, "message", None)
        answer = getattr(getattr(message, "root", message), "result", None)
        if answer is not None:
            self.answer = answer
        return item


def _cause(error: BaseException) -> BaseException:
    """Give the cause: what runs in a group of tasks fails as a group."""
    while (inside := getattr(error, "exceptions", None)) is not None:
        error = inside[0]
    return error


def _is_late(error: BaseException) -> bool:
    code = getattr(getattr(error, "error", None), "code", None)
    return isinstance(error, TimeoutError) or code in TIMED_OUT


def why(error: BaseException, seconds: int) -> str:
    cause = _cause(error)
    if isinstance(cause, FileNotFoundError):
        return "expected a command, found none of that name"
    if _is_late(cause):
        return f"expected an answer in {seconds} s, found none"
    if type(cause).__name__ == "ConnectError":
        return f"expected a server at that address, found none ({cause})"
    return str(cause) or type(cause).__name__
