"""Measure an agent's session: the same tools with each of 50 requests, and one change of the list on the way.

Usage: session.py tools.jsonl: one tool per line. What is timed is all that a request's tools cost, from the tools as
their server lists them to JSON text for the body, the first request included. The peers have no memory: they make the
tools anew for each request, as they do when an SDK is called.
"""

from __future__ import annotations

import copy
import json
import platform
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from peers import PEERS

import toolwire

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 9
REQUESTS = 50

LIST = [json.loads(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
CHANGED = copy.deepcopy(LIST)
CHANGED[0]["description"] = f"{CHANGED[0].get('description', '')} (changed)"


def session(make: Callable[[Any], str]) -> int:
    """Make the tools of each request."""
    return sum(len(make(LIST if request < REQUESTS // 2 else CHANGED)) for request in range(REQUESTS))


def with_memory(dialect: Any) -> int:
    """Do the same with a tool set: it is told of the change, as an MCP client is."""
    tools, length = toolwire.ToolSet(LIST), 0
    for request in range(REQUESTS):
        if request == REQUESTS // 2:
            tools.update(CHANGED)
        length += len(tools.sanitize(dialect=dialect).json)
    return length


def converted(convert: Callable[[Any], object], tools: list[Any]) -> str:
    """Let a peer make the tools; one that it gives up on costs nothing more."""
    made = []
    for tool in tools:
        try:
            schema = convert(tool["inputSchema"])
        except Exception:  # whatever a peer raises is its way to give up
            continue
        made.append({"name": tool["name"], "description": tool.get("description"), "parameters": schema})
    return json.dumps(made)


def fastest(runs: list[Callable[[], object]]) -> list[float]:
    """Give the fastest round of each in µs per request; they take turns."""
    best = [float("inf")] * len(runs)
    for _ in range(ROUNDS):
        for at, run in enumerate(runs):
            start = time.perf_counter()
            run()
            best[at] = min(best[at], (time.perf_counter() - start) / REQUESTS * 1e6)
    return best


def main() -> None:
    """Print the table."""
    print(f"PyPI: {len(LIST)} tools, {REQUESTS} requests, Python {platform.python_version()}, µs per request\n")
    print(f"{'peer':34} {'our dialect':18} {'peer':>14} {'sanitize_tools':>14} {'ToolSet':>14} {'peer/ToolSet':>14}")
    for peer in PEERS:
        convert, dialect = peer.load(), peer.dialect
        theirs, each, ours = fastest(
            [
                lambda convert=convert: session(lambda tools: converted(convert, tools)),  # type: ignore[misc]
                lambda dialect=dialect: session(  # type: ignore[misc]
                    lambda tools: json.dumps(toolwire.sanitize_tools(tools, dialect=dialect).tools)
                ),
                lambda dialect=dialect: with_memory(dialect),  # type: ignore[misc]
            ]
        )
        print(f"{peer.package:34} {dialect:18} {theirs:14.1f} {each:14.1f} {ours:14.1f} {theirs / ours:13.1f}x")


if __name__ == "__main__":
    main()
