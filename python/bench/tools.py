"""Measure every path on real tools, as ratios to what Python itself takes for the same values in the same run.

Usage: tools.py [file.jsonl]: one tool with an `inputSchema` per line. Prints µs per tool, the best of several rounds.
"""

from __future__ import annotations

import copy
import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import toolwire

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "mcp_tools.jsonl"
ROUNDS = 9


def best(work: Callable[[Any], object], inputs: list[Any]) -> float:
    """Give the time per input in µs: the fastest round, because everything that disturbs one makes it slower."""
    fastest = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for value in inputs:
            work(value)
        fastest = min(fastest, time.perf_counter() - start)
    return fastest / len(inputs) * 1e6


def requests(tools: list[Any]) -> list[Any]:
    """Put the tools into requests of thirty, every second one deferred and some of those loaded."""
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


def table(title: str, rows: list[tuple[str, float]]) -> None:
    """Print rows with their ratio to the first row and to the second."""
    print(f"\n{title}")
    (_, json_time), (_, copy_time) = rows[0], rows[1]
    print(f"{'':44}{'µs':>9}{'/ json':>9}{'/ deepcopy':>12}")
    for name, time_taken in rows:
        print(f"{name:44}{time_taken:9.2f}{time_taken / json_time:9.2f}{time_taken / copy_time:12.2f}")


def measure(
    title: str, values: list[Any], paths: list[tuple[str, Callable[..., Any], Callable[..., Any], dict[str, Any]]]
) -> None:
    """Measure functions on values and on their text."""
    texts = [json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values]
    encoded = [text.encode() for text in texts]
    size = sum(map(len, encoded)) / len(encoded) / 1024
    rows = [
        ("json.loads + json.dumps (text, doing nothing)", best(lambda text: json.dumps(json.loads(text)), texts)),
        ("copy.deepcopy (object, doing nothing)", best(copy.deepcopy, values)),
    ]
    for name, on_value, on_text, options in paths:
        rows += [
            (f"{name}: object", best(partial(on_value, **options), values)),
            (f"{name}: object, share", best(partial(on_value, share=True, **options), values)),
            (f"{name}: str", best(partial(on_text, **options), texts)),
            (f"{name}: bytes", best(partial(on_text, **options), encoded)),
        ]
    table(f"{title}: {len(values)} of {size:.1f} KiB on average", rows)


def main() -> None:
    """Measure all functions on the tools of a file."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    if not path.exists():
        print(f"no tools to measure: expected JSON lines at {path}")
        return
    tools = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    schemas = [tool["inputSchema"] for tool in tools]
    measure(
        "schemas of real tools",
        schemas,
        [
            ("normalize_envelope", toolwire.normalize_envelope, toolwire.normalize_envelope_json, {}),
            ("sanitize codex", toolwire.sanitize, toolwire.sanitize_json, {"dialect": "codex"}),
            ("sanitize codex-wire", toolwire.sanitize, toolwire.sanitize_json, {"dialect": "codex-wire"}),
        ],
    )
    measure(
        "requests with thirty real tools",
        requests(tools),
        [("apply_deferred_loading", toolwire.apply_deferred_loading, toolwire.apply_deferred_loading_json, {})],
    )


if __name__ == "__main__":
    main()
