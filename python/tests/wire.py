"""A transport that acts as the backend of `toolwire.httpx` and `toolwire.httpx2`, and functions that post through it.

The fixture `library` selects one of the two libraries.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx as httpx1
import pytest

import toolwire.httpx

LIBRARIES: list[Any] = [(httpx1, toolwire.httpx)]
try:
    import httpx2

    import toolwire.httpx2

    LIBRARIES.append((httpx2, toolwire.httpx2))
except ImportError:  # Not available for Python 3.10.
    pass

httpx: Any = httpx1
ToolwireTransport: Any = toolwire.httpx.ToolwireTransport
AsyncToolwireTransport: Any = toolwire.httpx.AsyncToolwireTransport

URL = "http://backend.test/v1/messages"
SEARCH = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
ROOM = {
    "name": "book.room",
    "description": "Books a meeting room",
    "input_schema": {"type": "object", "properties": {}},
}
BASE = {"model": "m", "messages": [{"role": "user", "content": "a room"}]}
ASKED: dict[str, Any] = {**BASE, "tools": [SEARCH, {**ROOM, "defer_loading": True}]}
LOADED = {**BASE, "tools": [ROOM]}
JSON_TYPE = {"content-type": "application/json"}
SSE = {"content-type": "text/event-stream; charset=utf-8"}
TOLD = ["server_tool_use", "tool_search_tool_result", "tool_use"]


def message(content: list[Any]) -> dict[str, Any]:
    return {"id": "msg_1", "type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use"}


SEARCHES = message([{"type": "tool_use", "id": "t1", "name": "tool_search", "input": {"query": "meeting room"}}])
CALLS = message([{"type": "tool_use", "id": "t2", "name": "book_room", "input": {}}])


def pieces_of(reply: dict[str, Any]) -> list[bytes]:
    """Return a message as the pieces of a stream."""
    (block,) = reply["content"]
    piece = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**reply, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {**block, "input": {}}},
        {"type": "content_block_delta", "index": 0, "delta": piece},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reply["stop_reason"]}},
        {"type": "message_stop"},
    ]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]


def events_of(text: str) -> list[Any]:
    return [json.loads(data) for data in re.findall(r"^data: (.*)$", text, re.MULTILINE)]


def blocks_of(events: list[Any]) -> list[str]:
    return [event["content_block"]["type"] for event in events if event["type"] == "content_block_start"]


class Pieces:
    """A reply in pieces that records how much of it was read."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces, self.read, self.closed = pieces, 0, False

    def __iter__(self) -> Iterator[bytes]:
        for piece in self.pieces:
            self.read += 1
            yield piece

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            self.read += 1
            yield piece

    def close(self) -> None:
        self.closed = True

    async def aclose(self) -> None:
        self.closed = True


Stream: Any = Pieces


class Backend:
    """Sends prepared replies, one after the other, and records the requests."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.got = list(answers), list[Any]()
        self.transport = httpx.MockTransport(self.answer)

    def answer(self, request: Any) -> Any:
        self.got.append(request)
        return self.answers[len(self.got) - 1]

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(request.content) for request in self.got]


def whole(reply: object, status: int = 200) -> Any:
    return httpx.Response(status, headers=JSON_TYPE, content=json.dumps(reply).encode())


def streamed(reply: dict[str, Any]) -> Any:
    return httpx.Response(200, headers=SSE, stream=Stream(pieces_of(reply)))


Post = Callable[..., Any]


def post_sync(backend: Backend, *, url: str = URL, transport: Any = None, **options: Any) -> Any:
    given = {name: options.pop(name) for name in ("json", "content", "headers", "method") if name in options}
    method = given.pop("method", "POST")
    with httpx.Client(transport=ToolwireTransport(backend.transport, **(transport or {}), **options)) as client:
        return client.request(method, url, **given)


def post_async(backend: Backend, *, url: str = URL, transport: Any = None, **options: Any) -> Any:
    given = {name: options.pop(name) for name in ("json", "content", "headers", "method") if name in options}
    method = given.pop("method", "POST")

    async def run() -> Any:
        adapting = AsyncToolwireTransport(backend.transport, **(transport or {}), **options)
        async with httpx.AsyncClient(transport=adapting) as client:
            return await client.request(method, url, **given)

    return asyncio.run(run())


both = pytest.mark.parametrize("post", [post_sync, post_async], ids=["sync", "async"])
