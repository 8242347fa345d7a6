"""Checks that `check` reports an ignored or reinterpreted part if a grammar admits arguments that the schema forbids.

The schemas and instances are those of the official test suite, each below a property of a tool. Schemas with references
or identifiers are skipped, because they would have another meaning there.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

import toolwire
from reference import sources
from test_judge_llama_cpp import converter
from test_judge_vllm import backends

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PLACES = re.compile(
    r'"(\$(ref|id|anchor|defs|dynamicRef|dynamicAnchor|recursiveRef|recursiveAnchor|vocabulary)|definitions|id)"'
)
NARROWS = "object-openness"
"""The constraint that closes objects, so that the grammar admits fewer arguments."""

MIN_ADMITTED = 100
"""Minimum number of forbidden arguments that each grammar admits; fewer would mean that the test compares nothing."""


@cache
def cases() -> list[tuple[dict[str, Any], list[Any]]]:
    """Return tools with one argument, each with the arguments that its schema forbids."""
    rows = (row for source in sources() for row in source.rows("test_suite.jsonl"))
    found = {schema: forbidden for row in rows for schema, forbidden in made(row)}
    return [(json.loads(schema), forbidden) for schema, forbidden in found.items()]


def made(row: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Return the tool of a row, unless its schema has to be at the root."""
    schema = row["schema"]
    if isinstance(schema, dict):
        schema = {keyword: value for keyword, value in schema.items() if keyword != "$schema"}
        if not PLACES.search(json.dumps(schema)):
            tool = {"type": "object", "properties": {"a": schema}, "required": ["a"], "additionalProperties": False}
            yield json.dumps(tool), [{"a": test["data"]} for test in row["tests"] if not test["valid"]]


def llama_cpp(schema: dict[str, Any], arguments: list[Any]) -> list[bool]:
    """Return llama.cpp's verdicts; a refused schema admits nothing."""
    # Its grammars admit no space after a comma or colon.
    texts = [json.dumps(each, separators=(",", ":"), ensure_ascii=False) for each in arguments]
    return converter().accepts(json.dumps(schema), texts)


def vllm(schema: dict[str, Any], arguments: list[Any]) -> list[bool]:
    """Return the verdicts of the backend that vLLM chooses."""
    return [backends().admits(schema, each) is True for each in arguments]


@pytest.mark.parametrize(("dialect", "ask"), [("llama-cpp", llama_cpp), ("vllm", vllm)])
def test_check_reports_what_is_not_enforced(
    dialect: str, ask: Callable[[dict[str, Any], list[Any]], list[bool]]
) -> None:
    check: Any = toolwire.check
    silent = []
    admitted = 0
    for schema, forbidden in cases():
        wrong = [each for each, admits in zip(forbidden, ask(schema, forbidden), strict=True) if admits]
        admitted += len(wrong)
        constraints = {found.constraint for found in check(schema, dialect=dialect)} if wrong else set()
        if wrong and not constraints - {NARROWS}:
            silent.append((schema["properties"]["a"], wrong))
    assert not silent
    assert admitted >= MIN_ADMITTED
