"""Measure microseconds per real tool in Python, and print one line of JSON for `scripts/figures.mjs`.

Measures the same as `core/examples/figures.rs` in Rust, for text and for objects. The contenders run in turn, and the
fastest round of each counts.
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
import platform
import sys
import time
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import toolwire

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# A test runs each benchmark once.
ONCE = os.environ.get("TOOLWIRE_BENCH") == "once"
ROUNDS = 1 if ONCE else 7
LIST = 60
LISTS = 4
REQUESTS = 50
REPEATED = (
    ("moonshot", "http://localhost/v1/chat/completions"),
    ("openai-strict", "http://localhost/v1/chat/completions"),
    ("anthropic-strict", "http://localhost/v1/messages"),
)
MESSAGES = ("Find the file.", "I will look for it.", "Thank you. Go on.")


def best(contenders: Sequence[tuple[Sequence[Any], Callable[[Any], object], int]]) -> list[float]:
    """Return each contender's fastest time, in µs per input."""
    times = [float("inf")] * len(contenders)
    for _ in range(ROUNDS):
        for at, (inputs, run, count) in enumerate(contenders):
            start = time.perf_counter()
            for value in inputs:
                run(value)
            times[at] = min(times[at], (time.perf_counter() - start) * 1e6 / count)
    return times


def attempt(run: Callable[..., object], dialect: str, value: object) -> None:
    """Call a function; if the dialect cannot express the schema, the time until the error counts."""
    with contextlib.suppress(toolwire.ToolwireError):
        run(value, dialect=dialect)


def reported(value: object, dialect: Any) -> object:
    """Rewrite a schema, and read its report, which is made when it is first read."""
    return toolwire.sanitize(value, dialect=dialect).changes


def written(value: object) -> str:
    """Return compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def repeated(tools: list[Any], dialect: Any, url: str) -> dict[str, float]:
    """Measure an agent's session through an exchange, per request: with a cache of its lists, and without."""
    messages = [{"role": "user", "content": text} for text in MESSAGES]

    def body(some: list[Any], session: int) -> str:
        # Each session has its own text, so that it does not find cached lists of other sessions.
        return f'{{"model":"m","messages":{written(messages)},"tools":{" " * session}{written(some)}}}'

    sessions = iter(range(1000))

    def run(lists: int) -> None:
        session = next(sessions)
        bodies = (body(tools[:LIST], session), body(tools[1:LIST], session))
        for request in range(REQUESTS):
            toolwire.Exchange.open(
                url, bodies[request >= REQUESTS / 2], dialect=dialect, tool_list_cache=lists, on_set_aside=None
            )

    anew, kept = best([([0], run, REQUESTS), ([16], run, REQUESTS)])
    return {"anew": anew, "kept": kept}


def main() -> None:
    """Measure all dialects with the tools in a file."""
    warnings.simplefilter("ignore")
    tools = [json.loads(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
    values = [tool["inputSchema"] for tool in tools]
    texts = [written(value) for value in values]
    some = tools[: LIST * LISTS]
    lists, alone_lists = [some[at : at + LIST] for at in range(0, len(some), LIST)], [[tool] for tool in some]
    alone, clone = best(
        [
            (texts, lambda text: json.dumps(json.loads(text)), len(texts)),
            (values, copy.deepcopy, len(values)),
        ]
    )
    figures = {}
    for known in toolwire.dialects():
        name = known.name
        text, report, value, listed, each = best(
            [
                (texts, partial(attempt, toolwire.sanitize, name), len(texts)),
                (texts, partial(attempt, reported, name), len(texts)),
                (values, partial(attempt, toolwire.sanitize, name), len(values)),
                (lists, partial(attempt, toolwire.sanitize_tools, name), len(some)),
                (alone_lists, partial(attempt, toolwire.sanitize_tools, name), len(some)),
            ]
        )
        figures[name] = {"text": text, "report": report, "object": value, "list": listed, "each": each}
    sessions = {dialect: repeated(tools, dialect, url) for dialect, url in REPEATED}
    version = platform.python_version()
    print(json.dumps({"version": version, "alone": alone, "clone": clone, "dialects": figures, "repeated": sessions}))


if __name__ == "__main__":
    main()
