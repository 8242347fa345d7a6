"""Independent judges of what `sanitize` writes and `check` says: what they are asked, and where they may disagree.

A judge is code that knows nothing of toolwire. It is asked about what `sanitize` writes for a dialect, of which it
should refuse nothing, and about the schemas themselves, of which it should refuse what `check` does: those of all real
tools there are (`reference`), of the corpus (tests/corpus), of all fixtures, and all of tests/judges/keywords.json.
Every disagreement that is known has a row that says why, with the smallest schema that shows it; a row that no longer
shows it fails, and so does a disagreement without a row.
"""

from __future__ import annotations

import importlib
import json
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import pytest

import toolwire
import xgrammar_alone
from cases import CASES
from exact import compact
from reference import ROOT, sources


@dataclass(frozen=True)
class Complaint:
    """What a judge refuses, and where. A judge that does not say where means the whole schema: the empty pointer."""

    says: str
    pointer: str = ""

    def __str__(self) -> str:
        """Say it as rows match it."""
        return f"{self.says} at `{self.pointer}`"


UNREAD = frozenset({"refused-keyword", "root-keyword"})
"""The rules that make `check` look no further into what they refuse."""

Judge: TypeAlias = Callable[[str], Sequence[Complaint]]
"""Takes the text of a schema."""


@dataclass(frozen=True)
class Row:
    """A disagreement that is known."""

    why: str
    says: str
    """A regular expression, searched for in the disagreement as it is printed."""
    schema: Any
    """The smallest that shows it: the input of `sanitize`, or of `check`."""

    def __str__(self) -> str:
        """Name it as test reports do."""
        return self.why


def rules(names: str) -> frozenset[str]:
    """Give the rules of `check` that are named."""
    return frozenset(names.split())


def installed(name: str) -> Any:
    """Import a judge, or skip saying which one is missing."""
    try:
        with warnings.catch_warnings():
            # What a judge deprecates of its own dependencies is not ours.
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"`{name}` is not installed: {error}")


def installed_xgrammar() -> Any:
    """Import xgrammar, without what it needs for other things."""
    try:
        return xgrammar_alone.load()
    except ImportError as error:
        pytest.skip(f"`xgrammar` is not installed: {error}")


@cache
def real_schemas() -> list[str]:
    """The schemas of all real tools, each once."""
    rows = (row for source in sources() for row in source.rows("mcp_tools.jsonl"))
    return sorted({json.dumps(row["inputSchema"], ensure_ascii=False) for row in rows})


@cache
def schemas() -> list[str]:
    """All schemas that judges are asked of, whatever dialect a fixture is about, each once."""
    fixtures = (case.text() for case in CASES if case.function == "sanitize")
    return sorted({*real_schemas(), *corpus(), *fixtures, *made_schemas()})


@cache
def corpus() -> list[str]:
    """What real tools lack: unions at the root, tuples and outputs."""
    text = (ROOT / "tests" / "corpus" / "schemas.jsonl").read_text(encoding="utf-8")
    return [json.dumps(json.loads(line)["schema"], ensure_ascii=False) for line in text.splitlines()]


def made_schemas() -> Iterable[str]:
    """Give a property of every keyword with every kind of value, alone and in a text."""
    made = json.loads((ROOT / "tests" / "judges" / "keywords.json").read_text(encoding="utf-8"))
    for keyword in made["keywords"]:
        for value in made["values"]:
            for more in ({}, {"type": "string"}):
                yield json.dumps({"type": "object", "properties": {"p": {**more, keyword: value}}})


def nested(depth: int, each: dict[str, Any]) -> Any:
    """Give schemas inside one another, by `items`."""
    schema: Any = {"type": "string"}
    for _ in range(depth):
        schema = {**each, "items": schema}
    return {"type": "object", "properties": {"a": schema}}


def sanitized(text: str, dialect: str) -> str | None:
    """What `sanitize` writes; nothing where it refuses, which is for the fixtures to say."""
    return sanitized_with(text, dialect)


def sanitized_with(text: str, dialect: str, **options: Any) -> str | None:
    """Do the same with options."""
    # Dialects come from tables, so no overload names them.
    sanitize: Any = toolwire.sanitize
    try:
        written: str = sanitize(text, dialect=dialect, **options).schema
    except toolwire.ToolwireError:
        return None
    return written


def outputs(dialect: str, texts: Iterable[str]) -> list[str]:
    """What `sanitize` writes for a dialect, each once."""
    return sorted({written for text in texts if (written := sanitized(text, dialect)) is not None})


def disputed_outputs(dialect: str, judge: Judge, texts: Iterable[str]) -> list[tuple[str, str]]:
    """What a judge says of outputs, each with the output."""
    return [(str(complaint), text) for text in outputs(dialect, texts) for complaint in judge(text)]


def disputed_inputs(
    dialect: str, judge: Judge, known: frozenset[str] | None, texts: Iterable[str]
) -> tuple[int, list[tuple[str, str]]]:
    """What only `check` or only the judge says of schemas that both read, each with the schema; and how many these are.

    `known` are the rules that the judge can know of; where it is None, that is all. The two speak of the same where
    one's place is in the other's.
    """
    check: Any = toolwire.check
    read, found = 0, []
    for text in texts:
        try:
            violations = check(text, dialect=dialect)
        except toolwire.ToolwireError:
            continue
        read += 1
        refused = [one for one in violations if one.severity == "refused"]
        ours = [one for one in refused if known is None or one.constraint in known]
        theirs = judge(text)
        their_places = Places(one.pointer for one in theirs)
        unread = [one for one in refused if one.constraint in UNREAD]
        our_places = Places(one.pointer for one in [*ours, *unread])
        for one in ours:
            if not their_places.have(one.pointer):
                where = f"`{one.pointer}`: {shown(text, one.pointer)}"
                found.append((f"only check: {one.constraint} at {where}", text))
        found += ((f"only the judge: {one}", text) for one in theirs if not our_places.have(one.pointer))
    return read, found


class Places:
    """Pointers, one of which is asked for that lies in one of them, or the other way round."""

    def __init__(self, pointers: Iterable[str]) -> None:
        self.themselves = set(pointers)
        self.above = {place for pointer in self.themselves for place in way_to(pointer)}

    def have(self, pointer: str) -> bool:
        return pointer in self.above or not self.themselves.isdisjoint(way_to(pointer))


def way_to(pointer: str) -> list[str]:
    """Give a pointer and all above it."""
    steps = pointer.split("/")
    return ["/".join(steps[:end]) for end in range(1, len(steps) + 1)]


def shown(text: str, pointer: str) -> str:
    """Show what a pointer leads to; in two members of one name, to the last."""
    value = json.loads(text)
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(name)] if isinstance(value, list) else value[name]
        except (LookupError, TypeError):
            return "nothing"
    return compact(value)[:80]


def accepts_outputs(dialect: str, judge: Judge, rows: Sequence[Row] = (), texts: Iterable[str] | None = None) -> None:
    """Put every output before a judge."""
    texts = schemas() if texts is None else texts
    written = outputs(dialect, texts)
    found = disputed_outputs(dialect, judge, texts)
    print(f"{dialect}: {len(written)} different outputs")
    judged(found, rows)


def agrees_on_inputs(
    dialect: str,
    judge: Judge,
    known: frozenset[str] | None,
    rows: Sequence[Row] = (),
    texts: Iterable[str] | None = None,
) -> None:
    """Compare the judge with `check` on every schema."""
    read, found = disputed_inputs(dialect, judge, known, schemas() if texts is None else texts)
    print(f"{dialect}: {read} different schemas")
    judged(found, rows)


def judged(found: Sequence[tuple[str, str]], rows: Sequence[Row]) -> None:
    patterns = [re.compile(row.says) for row in rows]
    new = [(says, text) for says, text in found if not any(pattern.search(says) for pattern in patterns)]
    for row, pattern in zip(rows, patterns, strict=True):
        print(f"  {len({text for says, text in found if pattern.search(says)})} schemas: {row}")
    new.sort(key=lambda one: len(one[1]))
    assert not new, f"{len(new)} disagreements\n\n" + "\n".join(f"{says}\n  {text[:300]}" for says, text in new[:12])


def still_refused(dialect: str, judge: Judge, row: Row) -> None:
    """Hold a row about outputs to its smallest example."""
    found = disputed_outputs(dialect, judge, [json.dumps(row.schema)])
    assert any(re.search(row.says, says) for says, _ in found), f"no longer so, take the row out: {found}"


def still_disputed(dialect: str, judge: Judge, known: frozenset[str] | None, row: Row) -> None:
    """Hold a row about inputs to its smallest example."""
    _, found = disputed_inputs(dialect, judge, known, [json.dumps(row.schema)])
    assert any(re.search(row.says, says) for says, _ in found), f"no longer so, take the row out: {found}"
