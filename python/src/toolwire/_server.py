"""Connections to MCP servers through the official SDK, and the tools that the servers list."""

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

# Maximum number of pages, more than any real server has. It bounds cyclic cursors.
PAGES = 10_000
# Maximum number of tools, because the findings of each tool take kilobytes.
TOOLS = 10_000
# Timeout for all pages, in multiples of the timeout for one answer. It bounds servers that generate endless pages.
PATIENCE = 10
# Maximum size of all answers of a remote server, because objects take a hundred times the memory of their text.
MAX_ANSWERS = 16 << 20
# Maximum size of a server's error output that is shown if the server fails, in bytes.
LOG = 16_384
NO_ADDRESS = "expected an address, found something else"
NO_LIST = "expected an answer with a list in `tools`, found none"
# The error codes of mcp 2 and mcp 1 for a timeout.
TIMED_OUT = (-32001, 408)
# The oldest mcp with `streamable_http_client`, and the first version that is not tested.
OLDEST, UNTRIED = (1, 24), (3,)


def tools_of(server: dict[str, Any], waiting: Callable[[int], None]) -> list[Any]:
    """Ask a server that the core describes, and return the tools of all pages of its `tools/list`, unchanged.

    `waiting` is called once a second with the number of seconds, and with 0 at the end.
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
    """Return the end of a server's error output, without secrets."""
    length = log.buffer.seek(0, os.SEEK_END)
    most = LOG + longest_secret(server)
    log.buffer.seek(max(0, length - most))
    text = log.buffer.read(most).decode("utf-8", "replace")
    safe = end_without_secrets(text, server) if length > most else without_secrets(text, server)
    return safe[-LOG:]


def prepare(where: str) -> None:
    """Make sure that the SDK is installed in a tested version, and silence its log."""
    try:
        import mcp  # noqa: F401
    except ImportError:
        line = f"uvx 'toolwire[mcp]' … {where}"
        message = (
            f"expected the package mcp, which connects to servers, found none: run `{line}`, or install `toolwire[mcp]`"
        )
        raise RuntimeError(message) from None
    _refuse_other_versions()
    # The SDK would print a traceback for each line that is not a message, and servers also print text for people.
    # mcp 1 uses several loggers, including the root logger.
    logging.getLogger().addHandler(logging.NullHandler())


def _installed() -> tuple[str, tuple[int, ...]]:
    """Return the version of the SDK as a string, and its first two numbers."""
    try:
        found = version("mcp")
    except PackageNotFoundError:
        # A copy without metadata is treated as the current version.
        return "unknown", (2, 0)
    return found, tuple(map(int, re.findall(r"\d+", found)[:2]))


def is_first() -> bool:
    """Return whether the SDK is mcp 1, which LangChain and pydantic-ai need, because they do not work with mcp 2."""
    return _installed()[1] < (2,)


def _refuse_other_versions() -> None:
    found, numbers = _installed()
    if not OLDEST <= numbers < UNTRIED:
        oldest = ".".join(map(str, OLDEST))
        message = (
            f"expected the package mcp from {oldest} (the first with the current HTTP client) and below {UNTRIED[0]}, "
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
    """Try the transports to a server one after the other."""
    if "url" in server and not is_address(server["url"]):
        raise RuntimeError(NO_ADDRESS)
    ways = ["stdio"] if "command" in server else ["sse"] if server["sse"] else ["http", "sse"]
    failure: Exception | None = None
    for way in ways:
        try:
            limit = Limit(MAX_ANSWERS, together=True)
            tools: list[Any] = await limit.run(_asked(way, server, log, limit))
            return tools
        except Exception as error:
            # If both transports fail, the first error is reported.
            failure = failure or error
            if _is_late(_cause(error)):
                break
    raise failure or RuntimeError(NO_LIST)


def is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # Raises an error if the port is not a number.
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
    # The HTTP library that the SDK depends on.
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
    # A server is a third-party program. It receives only the environment variables that the SDK considers safe, those
    # that the caller names, and those of its own declaration.
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
        """A model that accepts any answer, in place of the SDK's own."""

    timeout = float(server["timeout"])
    # mcp 1 expects the timeout as a `timedelta`, and wraps requests and messages in another model.
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
            # Invalid tools are reported by the commands, not by the SDK.
            with suppress(ValidationError):
                await session.send_request(wrapped(request), Anything)
            answer = heard.answer
            if not isinstance(answer, dict) or not isinstance(answer.get("tools"), list):
                raise RuntimeError(NO_LIST)
            if len(tools) + len(answer["tools"]) > TOOLS:
                raise RuntimeError(f"expected at most {TOOLS} tools, found more")
            tools.extend(answer["tools"])
            cursor = answer.get("nextCursor")
            # The last page should have no cursor, but some servers write `null` or an empty string.
            if cursor is None or cursor == "":
                return tools
            if time.monotonic() > end:
                raise RuntimeError(f"expected all pages in {PATIENCE * server['timeout']} s, found more")
    raise RuntimeError(f"expected at most {PAGES} pages, found more")


def _limit(seconds: float) -> AbstractAsyncContextManager[object]:
    """Return a context with a timeout for opening a stream, which has none itself. On Python 3.10, do nothing."""
    if sys.version_info >= (3, 11):
        return asyncio.timeout(seconds)
    return nullcontext()


class _Overheard:
    """A stream of messages that keeps the latest answer unchanged.

    The SDK drops unknown members of tools, and rejects all tools if one of them is invalid.
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
    """Return the cause of an error. Task groups raise exception groups, which wrap the cause."""
    while (inside := getattr(error, "exceptions", None)) is not None:
        error = inside[0]
    return error


def _is_late(error: BaseException) -> bool:
    code = getattr(getattr(error, "error", None), "code", None)
    return isinstance(error, TimeoutError) or code in TIMED_OUT


def why(error: BaseException, seconds: int) -> str:
    cause = _cause(error)
    if isinstance(cause, FileNotFoundError):
        return "expected a command, found none with this name"
    if _is_late(cause):
        return f"expected an answer in {seconds} s, found none"
    if type(cause).__name__ == "ConnectError":
        return f"expected a server at that address, found none ({cause})"
    return str(cause) or type(cause).__name__
