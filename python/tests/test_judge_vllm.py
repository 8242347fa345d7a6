"""vLLM's choice of a backend judges: what neither xgrammar nor llguidance takes fails the request."""

from __future__ import annotations

import json
from collections import Counter
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
    installed_xgrammar,
    still_disputed,
    still_refused,
)
from reference import sources
from vllm_backend import Backends, schema_of_calls

DIALECTS: list[str] = []
"""The dialects that are judged."""
OUTPUTS: list[Row] = []
INPUTS: list[Row] = []

DEEP = 200
"""What is deeper is not asked: xgrammar is seconds at 500 schemas inside one another."""

STRING = {"type": "string"}


@cache
def backends() -> Backends:
    return Backends(installed_xgrammar(), installed("llguidance"))


@cache
def required() -> Judge:
    """Ask of a whole tool, which is taken or not; nobody says what outlines would do."""
    chosen = backends()

    @cache
    def judge(text: str) -> tuple[Complaint, ...]:
        if depth(text) > DEEP:
            return ()
        answer = chosen.answer(json.loads(text))
        return (Complaint(str(answer.complaint)),) if answer.backend == "none" else ()

    return judge


def depth(text: str) -> int:
    """Count the objects inside one another, braces in texts among them."""
    open_now = deepest = 0
    for character in text:
        if character in "{}":
            open_now += 1 if character == "{" else -1
            deepest = max(deepest, open_now)
    return deepest


def argument(**schema: Any) -> dict[str, Any]:
    """Give a tool with one argument."""
    return {"type": "object", "properties": {"a": schema}}


def defining(reference: str, **definitions: Any) -> dict[str, Any]:
    return {**argument(**{"$ref": reference}), **definitions}


# What was run with vLLM 0.33.0 itself, and what its source says: for every row the nearest that another backend takes.
KNOWN: list[tuple[str, dict[str, Any]]] = [
    *(
        ("none", argument(type="array", items=STRING, **{keyword: value}))
        for keyword, value in {"uniqueItems": True, "contains": STRING, "minContains": 1, "maxContains": 2}.items()
    ),
    ("none", argument(type=["array", "null"], items=STRING, uniqueItems=True)),
    ("xgrammar", argument(items=STRING, uniqueItems=True)),
    ("none", {"type": "object", "propertyNames": STRING, "additionalProperties": {}}),
    ("xgrammar", {"type": "object", "additionalProperties": {}}),
    ("none", argument(type="object", propertyNames=STRING, properties={})),
    ("none", argument(type="object", propertyNames=STRING, unevaluatedProperties=False)),
    ("xgrammar", argument(type="object", propertyNames=STRING, unevaluatedProperties=True)),
    ("none", argument(type="object", propertyNames={"pattern": "^a", "maxLength": 3})),
    ("xgrammar", argument(type="object", propertyNames={"pattern": "^a"})),
    ("none", argument(type="string", format="json")),
    ("none", argument(type="string", format=["json"])),
    ("xgrammar", argument(type="string", format="uri")),
    ("xgrammar", argument(type="number", format="double")),
    ("llguidance", argument(type="string", format="date", maxLength=9)),
    ("none", argument(type="string", format="uri-template", maxLength=9)),
    ("none", argument(type="string", pattern=r"(a)\1")),
    ("none", argument(type="string", pattern=r"\ba")),
    ("llguidance", argument(type="string", pattern=r"^\p{L}+$")),
    ("xgrammar", argument(type="string", pattern="^(?=a)")),
    ("llguidance", argument(type="string", pattern="^a", minLength=2)),
    ("outlines", argument(type="object", properties={"x": STRING}, patternProperties={"^a": STRING})),
    ("outlines", argument(type="object", patternProperties={"^a": STRING, "^b": STRING})),
    ("xgrammar", argument(type="object", patternProperties={"^a": STRING})),
    ("none", argument(type="STRING")),
    ("none", argument(type="string", minLength=1.0)),
    ("xgrammar", argument(type="string", minLength=1)),
    ("none", defining("#/definitions/A", definitions={"A": STRING})),
    ("xgrammar", defining("#/$defs/A", **{"$defs": {"A": STRING}})),
    ("llguidance", defining("#/$defs/A~1B", **{"$defs": {"A/B": STRING}})),
    ("none", defining("#/properties/a")),
    ("xgrammar", defining("#")),
    ("llguidance", argument(type="integer", multipleOf=2)),
    ("none", argument(type="integer", multipleOf=2, **{"not": {"const": 4}})),
    ("xgrammar", argument(type="integer", **{"not": {"const": 4}})),
    ("llguidance", {"type": "object", "properties": {"a": False}}),
    ("llguidance", argument(type="array", items=[STRING])),
    ("llguidance", argument(type="integer", exclusiveMinimum=True)),
    ("llguidance", argument(type="integer", maximum=2**64)),
    ("xgrammar", {}),
    # Both gates look into what is no schema.
    ("llguidance", argument(default={"type": "array", "uniqueItems": True})),
    ("xgrammar", {"type": "object", "properties": {"type": STRING, "uniqueItems": STRING}}),
]


@pytest.mark.parametrize(
    ("backend", "schema"), KNOWN, ids=lambda value: value if isinstance(value, str) else json.dumps(value)
)
def test_it_chooses_as_vllm_does(backend: str, schema: dict[str, Any]) -> None:
    answer = backends().answer(schema)
    assert answer.backend == backend, answer
    assert (answer.complaint is None) == (backend == "xgrammar")


def test_what_is_no_object_has_no_backend() -> None:
    assert backends().answer(True).backend == "none"


def test_definitions_are_carried_to_the_root() -> None:
    schema = schema_of_calls({"$defs": {"A": STRING}, "type": "object"})
    assert schema["$defs"] == {"A": STRING}
    assert schema["items"]["anyOf"][0]["properties"]["parameters"] == {"type": "object"}
    assert "$defs" not in schema_of_calls({})


def test_real_tools() -> None:
    """As many are refused as were when vLLM's own code was asked (with llguidance 1.7.6)."""
    if len(sources()) == 1:
        pytest.skip("the data of all real tools does not lie beside this checkout")
    rows = sources()[-1].rows("mcp_tools.jsonl")
    answers = [backends().answer(row["inputSchema"]) for row in rows]
    counts = Counter(answer.backend for answer in answers)
    assert counts == {"xgrammar": 1528, "llguidance": 7, "none": 12}
    by_names = [one for one in answers if one.backend == "none" and "propertyNames" in str(one.complaint)]
    assert len(by_names) == 9


@pytest.mark.parametrize("dialect", DIALECTS)
def test_it_takes_outputs(dialect: str) -> None:
    accepts_outputs(dialect, required(), OUTPUTS)


@pytest.mark.parametrize(("dialect", "row"), [(name, row) for name in DIALECTS for row in OUTPUTS], ids=str)
def test_it_still_refuses_an_output(dialect: str, row: Row) -> None:
    still_refused(dialect, required(), row)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_it_agrees_with_check(dialect: str) -> None:
    agrees_on_inputs(dialect, required(), None, INPUTS)


@pytest.mark.parametrize(("dialect", "row"), [(name, row) for name in DIALECTS for row in INPUTS], ids=str)
def test_it_still_disagrees_with_check(dialect: str, row: Row) -> None:
    still_disputed(dialect, required(), None, row)
