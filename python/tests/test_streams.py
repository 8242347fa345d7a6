"""The time for a stream of many calls is proportional to its length, wherever the calls are in it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

import toolwire

if TYPE_CHECKING:
    from collections.abc import Iterator

TOOLS = [{"name": "t", "inputSchema": {"type": "object", "additionalProperties": True}}]


def begin(at: int) -> Any:
    return {"type": "content_block_start", "index": at, "content_block": {"type": "tool_use", "id": "i", "name": "t"}}


def piece(at: int) -> Any:
    return {"type": "content_block_delta", "index": at, "delta": {"type": "input_json_delta", "partial_json": "{}"}}


def end(at: int) -> Any:
    return {"type": "content_block_stop", "index": at}


def one_after_another(count: int) -> Iterator[Any]:
    for at in range(count):
        yield from (begin(at), piece(at), end(at))


def all_open_and_the_first_closed_first(count: int) -> Iterator[Any]:
    for step in (begin, piece, end):
        yield from map(step, range(count))


def in_chunks(count: int) -> Iterator[Any]:
    for at in range(count):
        for function in ({"name": "t", "arguments": ""}, {"arguments": "{}"}):
            yield {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": at, "function": function}]}}]}
    yield {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}


def seconds(events: list[Any]) -> float:
    stream = toolwire.sanitize_tools(TOOLS, dialect="openai-strict").restore.stream()
    began = time.thread_time()
    for event in events:
        stream.feed(event)
    assert stream.finish() == []
    return time.thread_time() - began


@pytest.mark.parametrize("events", [one_after_another, all_open_and_the_first_closed_first, in_chunks])
def test_streams_take_linear_time(events: Any) -> None:
    # The ratio would be sixteen for quadratic time. Both streams are measured in turn, in the time of this thread, so
    # that other programs slow both down or neither. One try below the limit is enough.
    few, many = list(events(5_000)), list(events(20_000))
    ratios = (seconds(many) / seconds(few) for _ in range(5))
    assert any(ratio < 9 for ratio in ratios)
