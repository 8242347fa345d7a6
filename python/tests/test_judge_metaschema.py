"""The 2020-12 meta-schema as a judge, with patterns compiled by Python's `re`, as in OpenAI's API and in SGLang.

(SGLang first corrects type names, for example those of databases, and duplicate ones. Older builds do not, and neither
does this judge.)
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from judging import (
    Complaint,
    Judge,
    Row,
    accepts_outputs,
    agrees_on_inputs,
    installed,
    nested,
    rules,
    still_disputed,
    still_refused,
)

DIALECTS = ["openai-chat", "openai-responses", "anthropic", "portable", "sglang"]
HELD = ["openai-chat", "openai-responses", "sglang"]

KNOWN = rules(
    "keyword-value root-not-schema unknown-type not-a-schema array-items items-not-schema properties-not-object "
    "additional-properties-not-schema required-not-strings combinator-not-list any-of-size enum-not-list "
    "defs-not-object ref-not-string pattern"
)

TOO_DEEP = Row(
    "the judge is recursive: it reads about 80 nested schemas, and SGLang refuses schemas that it cannot read",
    r"too deep for the judge",
    nested(500, {}),
)
OUTPUTS = [TOO_DEEP]
PATTERNS = Row(
    "the table of `anthropic` has no rule for patterns: in tools that are not strict, no refusal is known",
    r"is not a 'regex' at",
    {"type": "object", "properties": {"a": {"type": "string", "pattern": r"^\p{L}+$"}}},
)
ALSO = {"anthropic": [PATTERNS]}
BY_DIALECT = [(name, row) for name in DIALECTS for row in [*OUTPUTS, *ALSO.get(name, [])]]


@cache
def meta_schema() -> Judge:
    jsonschema = installed("jsonschema")
    draft = jsonschema.Draft202012Validator
    meta = draft(draft.META_SCHEMA, format_checker=jsonschema.FormatChecker(["regex"]))

    @cache
    def judge(text: str) -> tuple[Complaint, ...]:
        try:
            errors = list(meta.iter_errors(json.loads(text)))
        except RecursionError:
            return (Complaint("too deep for the judge"),)
        return tuple(Complaint(error.message[:200], pointer(error.absolute_path)) for error in errors)

    return judge


def pointer(path: Any) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_judge_accepts_outputs(dialect: str) -> None:
    accepts_outputs(dialect, meta_schema(), [row for name, row in BY_DIALECT if name == dialect])


@pytest.mark.parametrize(("dialect", "row"), BY_DIALECT, ids=str)
def test_judge_still_refuses_an_output(dialect: str, row: Row) -> None:
    still_refused(dialect, meta_schema(), row)


@pytest.mark.parametrize("dialect", HELD)
def test_judge_agrees_with_check(dialect: str) -> None:
    agrees_on_inputs(dialect, meta_schema(), KNOWN, OUTPUTS)


@pytest.mark.parametrize(("dialect", "row"), [(dialect, row) for dialect in HELD for row in OUTPUTS], ids=str)
def test_judge_still_disagrees_with_check(dialect: str, row: Row) -> None:
    still_disputed(dialect, meta_schema(), KNOWN, row)


def test_judge_can_refuse() -> None:
    judge = meta_schema()
    assert judge('{"type": "any"}') == (Complaint("'any' is not valid under any of the given schemas", "/type"),)
    assert judge('{"properties": {"a/b": {"pattern": "\\\\p{L}"}}}')[0].pointer == "/properties/a~1b/pattern"
    assert judge('{"type": "object"}') == ()
