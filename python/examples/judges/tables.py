"""The tables of known differences. A row that fits nothing fails, so that no row outlives its reason."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SHARED = HERE.parents[3] / "shared" / "data"


def rows_of(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((HERE / name).read_text(encoding="utf-8"))
    return rows


STRICTER = rows_of("stricter.json")
"""Where the type of an SDK is stricter than the API, each with a recorded request that the API accepted."""
KNOWN = rows_of("known.json")
"""Other differences: the property, a regular expression for their texts, and the reason.

The reasons of faults begin with `ours`. A `rare` one needs more conversations than `make test` has.
"""


def is_stricter(judge: str, kind: str) -> bool:
    """Return true if a type is known to refuse what the API accepts."""
    return any(row["judge"] == judge and re.search(row["match"], kind) for row in STRICTER)


def unexplained(what: str, found: Iterable[tuple[str, str]], is_whole: bool) -> list[str]:
    """Return the texts and examples that no row of `known.json` explains.

    Fails if a row explains nothing, and all conversations were compared.
    """
    rows = [row for row in KNOWN if row["what"] == what]
    counts: Counter[str] = Counter()
    left: dict[str, str] = {}
    for text, example in found:
        fitting = [row for row in rows if re.search(row["match"], text)]
        counts.update(row["match"] for row in fitting)
        if not fitting:
            left.setdefault(text, example)
    for row in rows:
        print(f"{counts[row['match']]:6} {what}: {row['why']}")
    idle = [row["why"] for row in rows if not counts[row["match"]] and not row.get("rare")]
    assert not (idle and is_whole), f"remove the rows that fit nothing: {idle}"
    return [f"{text}\n  {example}" for text, example in sorted(left.items())]


def recordings(name: str) -> list[Any]:
    """Return the rows of a file of recorded requests, next to the checkout."""
    text = (SHARED / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if name.endswith("l") else json.loads(text)
