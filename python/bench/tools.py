"""Measure every path on real tools, relative to Python's own time for the same values in the same run.

Usage: tools.py [file.jsonl]: one tool with an `inputSchema` in each line. Prints µs per tool, the fastest of several
rounds.
"""

from __future__ import annotations

import copy
import json
import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import toolwire

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "mcp_tools.jsonl"
# A test runs each benchmark once.
ONCE = os.environ.get("TOOLWIRE_BENCH") == "once"
ROUNDS = 1 if ONCE else 15

Row: TypeAlias = "tuple[str, Callable[[Any], object], list[Any]]"
"""A name, a function, and its inputs."""
Function: TypeAlias = "tuple[str, Callable[..., Any], Callable[..., Any], dict[str, Any]]"
"""A name, the function for values, the function for text, and options for both."""


def best(rows: list[Row]) -> list[float]:
    """Return the time per input of each row in µs: that of the fastest round, because disturbances only add time.

    The rows run in turn in every round, so that a busy period of the machine affects all of them.
    """
    fastest = [float("inf")] * len(rows)
    for _ in range(ROUNDS):
        for at, (_, work, inputs) in enumerate(rows):
            start = time.perf_counter()
            for value in inputs:
                work(value)
            fastest[at] = min(fastest[at], (time.perf_counter() - start) / len(inputs) * 1e6)
    return fastest


def requests(tools: list[Any]) -> list[Any]:
    """Put the tools into requests of thirty tools each, with every second one deferred and some of those loaded."""
    made = []
    for at in range(0, len(tools), 30):
        some = [
            {"name": f"tool_{at + index}", "description": tool.get("description"), "input_schema": tool["inputSchema"]}
            | ({"defer_loading": True} if index % 2 else {})
            for index, tool in enumerate(tools[at : at + 30])
        ]
        loaded = [{"type": "tool_reference", "tool_name": tool["name"]} for tool in some[1:6:2]]
        messages = [
            {"role": "user", "content": "find me a tool"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": some[0]["name"], "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": loaded}]},
        ]
        made.append({"model": "some-model", "max_tokens": 1, "tools": some, "messages": messages})
    return made


def measure(title: str, values: list[Any], functions: list[Function]) -> None:
    """Measure functions on values and on their text, and print a table."""
    texts = [json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values]
    encoded = [text.encode() for text in texts]
    rows: list[Row] = [
        ("json.loads + json.dumps, doing nothing", lambda text: json.dumps(json.loads(text)), texts),
        ("copy.deepcopy, doing nothing", copy.deepcopy, values),
    ]
    for name, on_value, on_text, options in functions:
        rows += [
            (f"{name}: object", partial(on_value, **options), values),
            (f"{name}: object, share", partial(on_value, share=True, **options), values),
            (f"{name}: str", partial(on_text, **options), texts),
            (f"{name}: bytes", partial(on_text, **options), encoded),
        ]
    times = best(rows)
    size = sum(map(len, encoded)) / len(encoded) / 1024
    print(f"\n{title}: {len(values)} of {size:.1f} KiB on average")
    print(f"{'':42}{'µs':>9}{'/ json':>9}{'/ deepcopy':>12}")
    for (name, _, _), taken in zip(rows, times, strict=True):
        print(f"{name:42}{taken:9.2f}{taken / times[0]:9.2f}{taken / times[1]:12.2f}")


def main() -> None:
    """Measure all functions with the tools in a file."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1] else DATA
    if not path.exists():
        print(f"no tools to measure: expected JSON lines at {path}")
        return
    tools = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    schemas = [tool["inputSchema"] for tool in tools]
    measure(
        "schemas of real tools",
        schemas,
        [
            ("normalize_envelope", toolwire.normalize_envelope, toolwire.normalize_envelope, {}),
            ("sanitize codex", toolwire.sanitize, toolwire.sanitize, {"dialect": "codex"}),
            ("sanitize codex-wire", toolwire.sanitize, toolwire.sanitize, {"dialect": "codex-wire"}),
        ],
    )
    measure(
        "requests with thirty real tools",
        requests(tools),
        [("apply_deferred_loading", toolwire.apply_deferred_loading, toolwire.apply_deferred_loading, {})],
    )


if __name__ == "__main__":
    main()
