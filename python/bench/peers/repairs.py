"""Compare what toolwire and other packages read from damaged arguments: the texts of the fixtures.

Usage: repairs.py. A text is *right* if the expected arguments come out, *wrong* if others do, and *refused* if none do.
A text that toolwire's fixtures refuse has no right reading: a package that reads it has *invented* one. Packages that
are not installed are left out.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import toolwire

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).resolve().parents[3] / "tests/fixtures/repairArguments"
FILES = ("text.json", "guesses.json", "text-refused.json")


def with_toolwire(text: str, schema: dict[str, Any]) -> object:
    """Read text with toolwire."""
    return json.loads(toolwire.repair_arguments(text, json.dumps(schema)).arguments)


def with_json_repair(text: str, schema: dict[str, Any]) -> object:
    """Read text with json_repair in its schema mode."""
    return import_module("json_repair").loads(text, schema=schema)


def with_partial_json(text: str, _schema: dict[str, Any]) -> object:
    """Read text with partial-json-parser."""
    return import_module("partial_json_parser").loads(text)


def with_baml(text: str, schema: dict[str, Any]) -> object:
    """Read text with BAML, which knows the schema."""
    return import_module("baml").read(text, schema)


READERS: list[tuple[str, str, Callable[[str, dict[str, Any]], object]]] = [
    ("toolwire", "toolwire", with_toolwire),
    ("json_repair, schema mode", "json_repair", with_json_repair),
    ("BAML", "baml_py", with_baml),
    ("partial-json-parser", "partial_json_parser", with_partial_json),
]


def outcome(read: Callable[[str, dict[str, Any]], object], case: dict[str, Any]) -> str:
    """Return what becomes of one text."""
    try:
        found = read(case["inputText"], case["schema"])
    except ImportError:
        # The package lacks one that it needs, which says nothing about the text.
        raise
    # Every package has errors of its own.
    except Exception:
        return "refused"
    if "error" in case:
        return "invented"
    expected = json.loads(case["expectedText"]) if "expectedText" in case else case["expected"]
    return "right" if comparable(found) == comparable(expected) else "wrong"


def comparable(value: object) -> str:
    """Return text that is the same for equal values: 1.0 is 1, but true is not."""

    def number(text: str) -> float:
        return int(float(text)) if float(text).is_integer() else float(text)

    return json.dumps(json.loads(json.dumps(value), parse_float=number), sort_keys=True)


def main() -> None:
    """Print a table."""
    cases = [case for name in FILES for case in json.loads((FIXTURES / name).read_text("utf-8"))]
    cases = [case for case in cases if "inputText" in case and not case.get("options")]
    readable = sum("error" not in case for case in cases)
    print(f"{readable} damaged texts with a reading, {len(cases) - readable} without one\n")
    print(f"{'':28}{'right':>8}{'wrong':>8}{'refused':>9}{'invented':>10}")
    for title, module, read in READERS:
        try:
            import_module(module)
        except ImportError:
            continue
        found = [(outcome(read, case), "error" in case) for case in cases]
        columns = (("right", False), ("wrong", False), ("refused", False), ("invented", True))
        count = [found.count(one) for one in columns]
        print(f"{title:28}{count[0]:>8}{count[1]:>8}{count[2]:>9}{count[3]:>10}")


if __name__ == "__main__":
    main()
