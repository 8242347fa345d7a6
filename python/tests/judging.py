"""Comparison of `sanitize` and `check` with independent judges, and the known disagreements.

A judge is code that is independent of toolwire. It must accept every output of `sanitize` for a dialect, and refuse the
same original schemas as `check`. The schemas are those of all available real tools (`reference`), of the corpus
(tests/corpus), of all fixtures, and of tests/judges/keywords.json. Every known disagreement has a row with the reason
and the smallest schema that shows it. A row that no longer applies fails the test, and so does a disagreement without
a row.
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
    """A judge's refusal, with its place. If a judge does not report the place, the pointer is empty."""

    message: str
    pointer: str = ""

    def __str__(self) -> str:
        """Return the text against which rows are matched."""
        return f"{self.message} at `{self.pointer}`"


UNREAD = frozenset({"refused-keyword", "root-keyword"})
"""The constraints whose violation makes `check` skip the content of the refused part."""

Judge: TypeAlias = Callable[[str], Sequence[Complaint]]
"""A function of the text of a schema."""


@dataclass(frozen=True)
class Row:
    """A known disagreement."""

    why: str
    message: str
    """A regular expression that is searched for in the printed disagreement."""
    schema: Any
    """The smallest input of `sanitize` or of `check` that shows the disagreement."""

    def __str__(self) -> str:
        """Return the name for test reports."""
        return self.why


def rules(names: str) -> frozenset[str]:
    """Return a set of constraint names."""
    return frozenset(names.split())


def installed(name: str) -> Any:
    """Import a judge, or skip the test and name the missing package."""
    try:
        with warnings.catch_warnings():
            # Deprecation warnings about a judge's own dependencies are not our concern.
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"`{name}` is not installed: {error}")


def installed_xgrammar() -> Any:
    """Import xgrammar without dependencies that the judge does not need."""
    try:
        return xgrammar_alone.load()
    except ImportError as error:
        pytest.skip(f"`xgrammar` is not installed: {error}")


@cache
def real_schemas() -> list[str]:
    """Return the schemas of all real tools, without duplicates."""
    rows = (row for source in sources() for row in source.rows("mcp_tools.jsonl"))
    return sorted({json.dumps(row["inputSchema"], ensure_ascii=False) for row in rows})


@cache
def schemas() -> list[str]:
    """Return all schemas for the judges without duplicates, including those of fixtures for other dialects."""
    fixtures = (case.text() for case in CASES if case.function == "sanitize")
    return sorted({*real_schemas(), *corpus(), *fixtures, *made_schemas()})


@cache
def corpus() -> list[str]:
    """Return schemas that real tools lack: unions at the root, tuples and outputs."""
    text = (ROOT / "tests" / "corpus" / "schemas.jsonl").read_text(encoding="utf-8")
    return [json.dumps(json.loads(line)["schema"], ensure_ascii=False) for line in text.splitlines()]


def made_schemas() -> Iterable[str]:
    """Return schemas of a property with every keyword and every kind of value, with and without a type."""
    made = json.loads((ROOT / "tests" / "judges" / "keywords.json").read_text(encoding="utf-8"))
    for keyword in made["keywords"]:
        for value in made["values"]:
            for more in ({}, {"type": "string"}):
                yield json.dumps({"type": "object", "properties": {"p": {**more, keyword: value}}})


def nested(depth: int, each: dict[str, Any]) -> Any:
    """Return nested schemas, by `items`."""
    schema: Any = {"type": "string"}
    for _ in range(depth):
        schema = {**each, "items": schema}
    return {"type": "object", "properties": {"a": schema}}


def sanitized(text: str, dialect: str) -> str | None:
    """Return the output of `sanitize`; `None` if it refuses the schema, which the fixtures test."""
    return sanitized_with(text, dialect)


def sanitized_with(text: str, dialect: str, **options: Any) -> str | None:
    """Do the same with options."""
    # Dialects are read from tables here, so no overload of `sanitize` matches.
    sanitize: Any = toolwire.sanitize
    try:
        written: str = sanitize(text, dialect=dialect, **options).schema
    except toolwire.ToolwireError:
        return None
    return written


def outputs(dialect: str, texts: Iterable[str]) -> list[str]:
    """Return the outputs of `sanitize` for a dialect, without duplicates."""
    return sorted({written for text in texts if (written := sanitized(text, dialect)) is not None})


def disputed_outputs(dialect: str, judge: Judge, texts: Iterable[str]) -> list[tuple[str, str]]:
    """Return a judge's complaints about outputs, each with the output."""
    return [(str(complaint), text) for text in outputs(dialect, texts) for complaint in judge(text)]


def disputed_inputs(
    dialect: str, judge: Judge, known: frozenset[str] | None, texts: Iterable[str]
) -> tuple[int, list[tuple[str, str]]]:
    """Return the findings that only `check` or only the judge reports, each with the schema, and the number of schemas.

    `known` are the constraints that the judge can find; `None` means all. Two findings match if the place of one
    contains the place of the other.
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
        # `check` lists at most 100 findings of a kind, and counts the others.
        if not any(one.more for one in violations):
            found += ((f"only the judge: {one}", text) for one in theirs if not our_places.have(one.pointer))
    return read, found


class Places:
    """A set of pointers, for finding one that contains a given pointer or lies within it."""

    def __init__(self, pointers: Iterable[str]) -> None:
        self.themselves = set(pointers)
        self.above = {place for pointer in self.themselves for place in way_to(pointer)}

    def have(self, pointer: str) -> bool:
        return pointer in self.above or not self.themselves.isdisjoint(way_to(pointer))


def way_to(pointer: str) -> list[str]:
    """Return a pointer and all its ancestors."""
    steps = pointer.split("/")
    return ["/".join(steps[:end]) for end in range(1, len(steps) + 1)]


def shown(text: str, pointer: str) -> str:
    """Show the value at a pointer; of two members with the same name, the last one."""
    value = json.loads(text)
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(name)] if isinstance(value, list) else value[name]
        except (LookupError, TypeError):
            return "nothing"
    return compact(value)[:80]


def accepts_outputs(dialect: str, judge: Judge, rows: Sequence[Row] = (), texts: Iterable[str] | None = None) -> None:
    """Check that a judge accepts every output."""
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
    """Compare the judge with `check` for every schema."""
    read, found = disputed_inputs(dialect, judge, known, schemas() if texts is None else texts)
    print(f"{dialect}: {read} different schemas")
    judged(found, rows)


def judged(found: Sequence[tuple[str, str]], rows: Sequence[Row]) -> None:
    patterns = [re.compile(row.message) for row in rows]
    new = [(message, text) for message, text in found if not any(pattern.search(message) for pattern in patterns)]
    for row, pattern in zip(rows, patterns, strict=True):
        print(f"  {len({text for message, text in found if pattern.search(message)})} schemas: {row}")
    new.sort(key=lambda one: len(one[1]))
    assert not new, f"{len(new)} disagreements\n\n" + "\n".join(
        f"{message}\n  {text[:300]}" for message, text in new[:12]
    )


def still_refused(dialect: str, judge: Judge, row: Row) -> None:
    """Check that the smallest example of a row about outputs still shows the disagreement."""
    found = disputed_outputs(dialect, judge, [json.dumps(row.schema)])
    assert any(re.search(row.message, message) for message, _ in found), f"no longer the case, remove the row: {found}"


def still_disputed(dialect: str, judge: Judge, known: frozenset[str] | None, row: Row) -> None:
    """Check that the smallest example of a row about inputs still shows the disagreement."""
    _, found = disputed_inputs(dialect, judge, known, [json.dumps(row.schema)])
    assert any(re.search(row.message, message) for message, _ in found), f"no longer the case, remove the row: {found}"
