"""Measure toolwire against other packages that adapt tool schemas to an API: dict to dict, the same real tools.

Usage: run.py file.jsonl: one tool with an `inputSchema` in each line. Prints µs per tool (the fastest of several
rounds, for the tools that both sides accept), the number of tools for which each side fails, and the number of results
that our `check` refuses. The last two are needed to judge the speed, because a package that does less is faster.
"""

from __future__ import annotations

import copy
import json
import os
import platform
import sys
import time
import warnings
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from peers import PEERS, Peer

import toolwire

if TYPE_CHECKING:
    from collections.abc import Callable

# A test runs each benchmark once.
ONCE = os.environ.get("TOOLWIRE_BENCH") == "once"
ROUNDS = 1 if ONCE else 7


def is_refused(schema: Any, dialect: Any) -> bool:
    """Return whether an API would refuse a schema. Ignored and reinterpreted parts do not count."""
    return any(found.severity == "refused" for found in toolwire.check(schema, dialect=dialect))


def rewritten(dialect: Any, schema: Any) -> object:
    """Rewrite a schema with toolwire."""
    return toolwire.sanitize(schema, dialect=dialect).schema


def fails(convert: Callable[[Any], object], schema: object) -> bool:
    """Return whether a package fails for a schema."""
    try:
        convert(schema)
    except Exception:  # packages raise different exceptions
        return True
    return False


def best(contenders: list[Callable[[Any], object]], schemas: list[Any]) -> list[float]:
    """Return each package's fastest round in µs per schema; they run in turn in every round."""
    fastest = [float("inf")] * len(contenders)
    for _ in range(ROUNDS):
        for at, convert in enumerate(contenders):
            start = time.perf_counter()
            for schema in schemas:
                convert(schema)
            fastest[at] = min(fastest[at], (time.perf_counter() - start) / max(1, len(schemas)) * 1e6)
    return fastest


def compare(peer: Peer, schemas: list[Any], known: set[str]) -> None:
    """Print the row of one peer."""
    title = f"{peer.package} {version(peer.package)}"
    if peer.dialect not in known:
        print(f"{title:34} {peer.dialect:18} unknown dialect")
        return
    convert, ours = peer.load(), partial(rewritten, peer.dialect)
    theirs = [schema for schema in schemas if not fails(convert, schema)]
    both = [schema for schema in theirs if not fails(ours, schema)]
    failing = sum(fails(ours, schema) for schema in schemas)
    before = copy.deepcopy(both)
    slow, quick = best([convert, ours], both)
    bad, ours_bad = (
        sum(is_refused(peer.spelled(answer), peer.dialect) for answer in answers)
        for answers in (map(convert, both), map(ours, both))
    )
    if both != before:
        message = f"{title}: expected its input to be unchanged, found it changed"
        raise AssertionError(message)
    print(
        f"{title:34} {peer.dialect:18} {len(schemas) - len(theirs):9} {failing:9} {bad:9} {ours_bad:9}"
        f" {slow:9.1f} {quick:9.1f} {slow / quick:8.1f}x"
    )
    print(f"  {peer.description}")


def main() -> None:
    """Compare with every peer on the tools in a file."""
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    schemas = [json.loads(line)["inputSchema"] for line in lines]
    # Some packages warn when they drop parts of a schema. The warnings would clutter the table.
    warnings.simplefilter("ignore")
    known = {dialect.name for dialect in toolwire.dialects()}
    python = platform.python_version()
    print(f"PyPI: {len(schemas)} tools, Python {python}, µs per tool, best of {ROUNDS} rounds\n")
    print(f"{'':53} {'gives up':>9} {'':9} {'refused':>9} {'':9} {'µs':>9}")
    print(f"{'peer':34} {'our dialect':18}", end="")
    print("".join(f" {name:>9}" for name in ["peer", "ours"] * 3 + ["peer/ours"]))
    for peer in PEERS:
        compare(peer, schemas, known)


if __name__ == "__main__":
    main()
