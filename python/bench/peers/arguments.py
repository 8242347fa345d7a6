"""Measure toolwire against JSON Schema validators, with the same valid calls to real tools.

Usage: arguments.py calls.jsonl: one `{"schema", "arguments"}` in each line, as npm/bench/peers/calls.js prints them.
The peers prepare a validator for each schema, and then only run it; the functions of toolwire read the schema in each
call. So each peer has two rows, with the preparation before the measurement and in each call. Repairing has two rows as
well: a `Restore` keeps the prepared schemas of a tool list.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fastjsonschema
import jsonschema_rs

import toolwire

if TYPE_CHECKING:
    from collections.abc import Callable

# A test runs each benchmark once.
ONCE = os.environ.get("TOOLWIRE_BENCH") == "once"
ROUNDS = 1 if ONCE else 7
# Differences between the peers.
NOTES = [
    "fastjsonschema: compiles a schema to Python code (`exec`), drafts up to 7; raises at the first violation",
    "jsonschema-rs: the Rust crate, drafts up to 2020-12; `is_valid` stops at the first violation",
    "toolwire: reports every violation, or that it cannot judge; only a `Restore` prepares schemas in advance",
]


@dataclass
class Call:
    """A call, as values and as text, with the peers' prepared validators."""

    schema: Any
    arguments: Any
    schema_text: str
    text: str
    fast: Callable[[Any], object]
    rust: Callable[[Any], bool]


def fast_for(schema: Any) -> Callable[[Any], object]:
    """Prepare fastjsonschema, with `format` as an annotation, and without inserting defaults into arguments."""
    validate: Callable[[Any], object] = fastjsonschema.compile(schema, use_formats=False, use_default=False)
    return validate


def rust_for(schema: Any) -> Callable[[Any], bool]:
    """Prepare jsonschema-rs."""
    is_valid: Callable[[Any], bool] = jsonschema_rs.validator_for(schema, validate_formats=False).is_valid
    return is_valid


def prepared(line: str) -> Call | None:
    """Read a call; return `None` if a peer raises an error for its schema, or rejects its arguments."""
    row = json.loads(line)
    schema, arguments = row["schema"], row["arguments"]
    try:
        call = Call(schema, arguments, json.dumps(schema), json.dumps(arguments), fast_for(schema), rust_for(schema))
        call.fast(arguments)
    except Exception:  # peers raise different exceptions
        return None
    return call if call.rust(arguments) else None


def table(title: str, rows: list[tuple[str, Callable[[Call], object]]], calls: list[Call]) -> None:
    """Print each row's fastest round in µs per call, and its ratio to the first row. The rows run in turn."""
    fastest = [float("inf")] * len(rows)
    for _ in range(ROUNDS):
        for at, (_, run) in enumerate(rows):
            start = time.perf_counter()
            for call in calls:
                run(call)
            fastest[at] = min(fastest[at], (time.perf_counter() - start) / len(calls) * 1e6)
    print(f"\n{title:52} {'µs':>9} {'to the 1st':>10}")
    for (name, _), micros in zip(rows, fastest, strict=True):
        print(f"{name:52} {micros:9.2f} {micros / fastest[0]:9.1f}x")


def main() -> None:
    """Measure the calls of a file."""
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    calls = [call for call in map(prepared, lines) if call is not None]
    # Only calls that toolwire accepts are measured.
    ours = [call for call in calls if toolwire.validate_arguments(call.arguments, call.schema).valid]
    given_up = f"the peers reject or fail for {len(lines) - len(calls)} more, toolwire for {len(calls) - len(ours)}"
    print(
        f"PyPI: {len(ours)} valid calls, Python {platform.python_version()}, µs per call, best of {ROUNDS}; {given_up}"
    )
    print("".join(f"  {note}\n" for note in NOTES), end="")
    fast, rust = (f"{name} {version(name)}" for name in ("fastjsonschema", "jsonschema-rs"))
    names = {id(call): f"t{number}" for number, call in enumerate(ours)}
    tools = [{"name": names[id(call)], "inputSchema": call.schema} for call in ours]
    restore = toolwire.sanitize_tools(tools, dialect="anthropic", repair=True, max_tools=len(tools)).restore
    values: list[tuple[str, Callable[[Call], object]]] = [
        (f"{rust}, prepared", lambda call: call.rust(call.arguments)),
        (f"{rust}, prepared for each call", lambda call: rust_for(call.schema)(call.arguments)),
        (f"{fast}, prepared", lambda call: call.fast(call.arguments)),
        (f"{fast}, prepared for each call", lambda call: fast_for(call.schema)(call.arguments)),
        ("toolwire, validate_arguments", lambda call: toolwire.validate_arguments(call.arguments, call.schema)),
        ("toolwire, Restore.call with kept schemas", lambda call: restore.call(names[id(call)], call.arguments)),
        ("toolwire, repair_arguments", lambda call: toolwire.repair_arguments(call.arguments, call.schema).arguments),
    ]
    read = json.loads
    texts: list[tuple[str, Callable[[Call], object]]] = [
        ("json + jsonschema-rs, prepared", lambda call: call.rust(read(call.text))),
        (
            "json + jsonschema-rs, prepared for each call",
            lambda call: rust_for(read(call.schema_text))(read(call.text)),
        ),
        ("json + fastjsonschema, prepared", lambda call: call.fast(read(call.text))),
        (
            "toolwire, validate_arguments",
            lambda call: toolwire.validate_arguments(call.text, call.schema_text),
        ),
        ("toolwire, Restore.call with kept schemas", lambda call: restore.call(names[id(call)], call.text)),
        ("toolwire, repair_arguments", lambda call: toolwire.repair_arguments(call.text, call.schema_text).arguments),
    ]
    for title, rows in (("value", values), ("text", texts)):
        table(title, rows, ours)


if __name__ == "__main__":
    main()
