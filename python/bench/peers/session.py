"""Measure an agent's session: 50 requests with the same tools, and one change of the list in between.

Usage: session.py tools.jsonl: one tool in each line. The measured time is that of converting the server's tools to JSON
text for the body, for all requests including the first. The peers have no cache: they convert the tools for each
request, as they do when an SDK calls them.
"""

from __future__ import annotations

import copy
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from peers import PEERS

import toolwire

if TYPE_CHECKING:
    from collections.abc import Callable

# A test runs each benchmark once.
ONCE = os.environ.get("TOOLWIRE_BENCH") == "once"
ROUNDS = 1 if ONCE else 9
REQUESTS = 50

LIST = [json.loads(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
CHANGED = copy.deepcopy(LIST)
CHANGED[0]["description"] = f"{CHANGED[0].get('description', '')} (changed)"


def session(make: Callable[[Any], str]) -> int:
    """Convert the tools for each request."""
    return sum(len(make(LIST if request < REQUESTS // 2 else CHANGED)) for request in range(REQUESTS))


def with_memory(dialect: Any) -> int:
    """Do the same with a `ToolSet`, which is updated when the list changes, as by an MCP client."""
    tools, length = toolwire.ToolSet(LIST), 0
    for request in range(REQUESTS):
        if request == REQUESTS // 2:
            tools.update(CHANGED)
        length += len(tools.sanitize(dialect=dialect).json)
    return length


def converted(convert: Callable[[Any], object], tools: list[Any]) -> str:
    """Convert the tools with a peer; tools for which it fails are skipped."""
    made = []
    for tool in tools:
        try:
            schema = convert(tool["inputSchema"])
        except Exception:  # peers raise different exceptions
            continue
        made.append({"name": tool["name"], "description": tool.get("description"), "parameters": schema})
    return json.dumps(made)


def fastest(runs: list[Callable[[], object]]) -> list[float]:
    """Return each function's fastest round in µs per request; they run in turn."""
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
