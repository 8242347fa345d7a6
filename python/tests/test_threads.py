"""Many threads have the same results as one, and other threads can run while long text is read."""

from __future__ import annotations

import json
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import toolwire


def schema(number: int) -> dict[str, Any]:
    """Return a schema that differs from all others and needs many changes."""
    return {"properties": {f"p{number}_{index}": {"const": index, "title": "é" * number} for index in range(60)}}


def test_threads_do_not_disturb_each_other() -> None:
    def both(number: int) -> tuple[Any, str]:
        value = schema(number)
        return (
            toolwire.sanitize(value, dialect="codex").schema,
            toolwire.sanitize(json.dumps(value, ensure_ascii=False), dialect="codex").schema,
        )

    alone = [both(number) for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            assert list(pool.map(both, range(40))) == alone


@pytest.mark.parametrize("levels", [512])
def test_the_deepest_input_fits_the_stack_of_a_thread(levels: int) -> None:
    text = '{"items":' * (levels - 1) + "{}" + "}" * (levels - 1)
    results: list[Any] = []

    def work() -> None:
        results.append(toolwire.sanitize(text, dialect="codex").schema)
        results.append(toolwire.sanitize(json.loads(text), dialect="codex").schema)

    # CPython requests 1 MiB if the platform's default is smaller (musl); half of that is enough.
    before = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert len(results) == 2
    assert results[0].startswith('{"type":"array","items":')


def test_long_text_is_read_without_the_gil() -> None:
    value = {"properties": {f"p{index}": {"const": index} for index in range(60_000)}}
    text = json.dumps(value)
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            time.sleep(0.0002)
            ticks += 1

    # The interval is so long that a thread is never interrupted: the other one runs only if this one releases the GIL.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    other = threading.Thread(target=tick)
    try:
        other.start()
        before = ticks
        toolwire.sanitize(value, dialect="codex")
        on_values = ticks - before
        before = ticks
        toolwire.sanitize(text, dialect="codex")
        on_text = ticks - before
    finally:
        done.set()
        sys.setswitchinterval(interval)
        other.join()
    # Values cannot be read without the GIL, which shows that the ticks measure what they should.
    assert on_values == 0
    assert on_text > 0


def test_many_threads_can_use_one_restore_and_one_index() -> None:
    tools = [
        {"name": f"files.read{number}", "inputSchema": {"type": "object", "properties": {"$ref": {"type": "string"}}}}
        for number in range(50)
    ]
    restore = toolwire.sanitize_tools(tools, dialect="moonshot").restore
    index = toolwire.ToolIndex(tools)

    def use(number: int) -> tuple[Any, ...]:
        name = f"files_read{number}"
        stream = restore.stream()
        call = {"index": 0, "function": {"name": name, "arguments": json.dumps({"dollar_ref_": number})}}
        events = stream.feed({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
        events += stream.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
        return (
            restore.call(name, {"dollar_ref_": number}),
            index.search(f"files.read{number}", limit=1),
            [event["choices"][0]["delta"]["tool_calls"][0]["function"] for event in events],
        )

    alone = [use(number) for number in range(50)]
    assert alone[7][0].to_dict() == {"name": "files.read7", "arguments": {"$ref": 7}}
    assert alone[7][2][-1] == {"arguments": '{"$ref":7}'}
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            assert list(pool.map(use, range(50))) == alone


def test_many_threads_can_use_one_tool_set() -> None:
    properties = {f"p{number}": {"const": number, "description": "x" * 100} for number in range(100)}
    schema = {"type": "object", "properties": properties}
    listed = [{"name": f"files.read{number}", "inputSchema": schema} for number in range(20)]
    tools = toolwire.ToolSet(listed)
    dialects: list[toolwire.types.DialectName] = ["moonshot", "anthropic", "openai-strict", "gemini", "portable"]
    alone = [toolwire.ToolSet(listed).sanitize(dialect=dialect).json for dialect in dialects]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            tools.update(listed[1:])
            tools.update(listed)
            found = pool.map(lambda dialect: tools.sanitize(dialect=dialect).json, dialects * 4)
            assert list(found) == alone * 4


def test_many_threads_can_use_one_stream() -> None:
    restore = toolwire.Restore.from_json({"version": 2, "tools": {"a_b": {"name": "a.b"}}})
    stream = restore.stream()

    def feed(number: int) -> list[Any]:
        block = {"type": "tool_use", "id": str(number), "name": "a_b", "input": {}}
        return stream.feed({"type": "content_block_start", "index": number, "content_block": block})

    with ThreadPoolExecutor(8) as pool:
        events = list(pool.map(feed, range(2000)))
    assert [(event["index"], event["content_block"]["name"]) for (event,) in events] == [
        (number, "a.b") for number in range(2000)
    ]
    assert stream.finish() == []
