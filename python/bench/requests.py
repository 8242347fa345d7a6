"""Measure a request of 10 MB relative to Python's time for parsing it, with three kinds of content.

The rows run in turn in every round; the table shows the fastest round of each. A second table shows how long an
asynchronous client holds the event loop: the longest wait of another task.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import time
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx

import toolwire
from toolwire.httpx import AsyncToolwireTransport

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

# A test runs each benchmark once.
ONCE = os.environ.get("TOOLWIRE_BENCH") == "once"
ROUNDS = 1 if ONCE else 11
SIZE = 1_000_000 if ONCE else 10_000_000
URL = "http://localhost/v1/messages"
SENTENCE = 'The harbour was quiet that morning; "too quiet", said the captain, and lit his pipe once more.\n'


def written(value: object) -> str:
    """Return compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def prose() -> list[Any]:
    """Return turns of 5 KB of text, with a line break and two quotation marks in every hundred characters."""
    text = SENTENCE * 50
    roles = ("user", "assistant")
    return [{"role": roles[at % 2], "content": text} for at in range(SIZE // (len(text) + 3 * 50))]


def tool_calls() -> list[Any]:
    """Return calls with a few arguments and results of 1 KB of JSON text, with a quote in every ten characters."""
    row = {"id": 1024, "path": "src/harbour/captain.rs", "kind": "file", "size": 52311, "tags": ["a", "b"]}
    text = written(row) * 11
    made = []
    for at in range(SIZE // 1540):
        identifier = f"toolu_{at:06}"
        arguments = {"path": "src/harbour", "depth": 3, "pattern": "*.rs", "hidden": False}
        call = {"type": "tool_use", "id": identifier, "name": "list_files", "input": arguments}
        result = {"type": "tool_result", "tool_use_id": identifier, "content": [{"type": "text", "text": text}]}
        made.append({"role": "assistant", "content": [{"type": "text", "text": "Let me look."}, call]})
        made.append({"role": "user", "content": [result]})
    return made


def images() -> list[Any]:
    """Return images of half a megabyte."""
    data = "iVBORw0KGgoAAAANSUhEUgAAB4AAAAQ4CAYAAADo08FDAAAgAElEQVR4nOzdd5xU" * 8192
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    content = [{"type": "text", "text": "What is this?"}, image]
    return [{"role": "user", "content": content}] * (SIZE // len(data))


def request(messages: list[Any]) -> str:
    """Return a request with these messages and fifty deferred tools, one of which the messages load."""
    properties = {f"argument_{at}": {"type": "string", "description": SENTENCE} for at in range(12)}
    schema = {"type": "object", "properties": properties, "required": ["argument_0"]}
    tools = [
        {"name": f"tool_{at}", "description": SENTENCE, "input_schema": schema, "defer_loading": True}
        for at in range(50)
    ]
    loaded = [{"type": "tool_reference", "tool_name": "tool_7"}]
    search = {"type": "tool_use", "id": "t", "name": "search", "input": {}}
    history = [
        *messages,
        {"role": "assistant", "content": [search]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": loaded}]},
    ]
    return written({"model": "m", "max_tokens": 1000, "messages": history, "tools": tools})


def measure(name: str, messages: list[Any]) -> None:
    """Measure one content, and print its rows."""
    text = request(messages)
    encoded = text.encode()
    rows: list[tuple[str, Callable[[], object]]] = [
        ("json.loads of bytes, alone", lambda: json.loads(encoded)),
        ("apply_deferred_loading, bytes", lambda: toolwire.apply_deferred_loading(encoded).request),
        ("apply_deferred_loading, str", lambda: toolwire.apply_deferred_loading(text).request),
        ("copy alone, bytes", lambda: bytes(bytearray(encoded))),
    ]
    fastest = [float("inf")] * len(rows)
    for _ in range(ROUNDS):
        for at, (_, work) in enumerate(rows):
            start = time.perf_counter()
            work()
            fastest[at] = min(fastest[at], (time.perf_counter() - start) * 1e3)
    for (row, _), taken in zip(rows, fastest, strict=True):
        print(f"  {f'{name}, {row}':52}{taken:9.2f}{taken / fastest[0]:8.2f}")


async def longest_wait(work: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """Return the longest wait of a task that is always ready while some work runs, and the time of the work."""
    longest, is_done = 0.0, False

    async def tick() -> None:
        nonlocal longest
        last = time.perf_counter()
        while not is_done:
            await asyncio.sleep(0)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0)
    start = time.perf_counter()
    await work()
    taken = time.perf_counter() - start
    is_done = True
    await ticking
    return longest * 1e3, taken * 1e3


async def measure_event_loop(body: bytes) -> None:
    """Measure clients whose API answers at once, and print their rows."""
    reply = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Done."}]}
    api = httpx.MockTransport(lambda _: httpx.Response(200, json=reply))
    transports = {"httpx alone": api, "AsyncToolwireTransport": AsyncToolwireTransport(api, dialect="moonshot")}
    for name, transport in transports.items():
        client = httpx.AsyncClient(transport=transport)
        post = partial(client.post, URL, content=body, headers={"content-type": "application/json"})
        times = [await longest_wait(post) for _ in range(ROUNDS)]
        print(f"  {name:52}{min(held for held, _ in times):9.2f}{min(taken for _, taken in times):8.2f}")


def main() -> None:
    """Measure all contents."""
    print(f"Python {platform.python_version()}, a request of 10 MB, milliseconds, and the ratio to parsing it")
    measure("prose", prose())
    measure("tool calls", tool_calls())
    measure("images", images())
    print("\nthe same in prose: milliseconds in which the event loop is held, and in all")
    warnings.simplefilter("ignore")
    asyncio.run(measure_event_loop(request(prose()).encode()))


if __name__ == "__main__":
    main()
