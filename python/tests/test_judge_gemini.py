"""Compares `check` with the `Schema` class of Google's SDK, which checks fields, their types, and type names."""

from __future__ import annotations

import json
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from collections.abc import Iterator

DIALECTS = ["gemini", "vertex"]

KNOWN = rules(
    "refused-keyword unknown-keyword unknown-type type-list not-a-schema root-not-schema array-items "
    "items-not-schema properties-not-object required-not-strings combinator-not-list enum-not-list enum-kind "
    "keyword-value"
)

OUTPUTS = [
    Row(
        "the judge accepts at most 254 nested schemas; the limit of the API is not known",
        r"^Recursion error - maximum validation depth exceeded",
        nested(300, {"type": "array"}),
    ),
]
BOTH = [
    Row(
        OUTPUTS[-1].why,
        r"^only the judge: Recursion error - maximum validation depth exceeded",
        nested(300, {"type": "array"}),
    ),
    Row(
        "null means an absent field in the message, but is not a valid keyword value in JSON Schema",
        r"^only check: [^`]*`[^`]*`: null$",
        {"type": "object", "properties": {"a": {"type": "string", "enum": None}}},
    ),
    Row(
        "the SDK accepts booleans as numbers, and 0 and 1 as booleans; the JSON form of the message accepts neither",
        r"^only check: keyword-value at `[^`]*`: (true|false|0|1|1\.0)$",
        {"type": "object", "properties": {"a": {"type": "integer", "maximum": True}}},
    ),
    Row(
        "the SDK accepts type names in any case, and sends them in upper case: the API accepts lower and upper case",
        r"^only check: unknown-type at `[^`]*/type`: \"String\"$",
        {"type": "object", "properties": {"a": {"type": "String"}}},
    ),
    Row(
        "the API accepts a type as its enum number (recorded answers), which the SDK cannot read",
        r"^only the judge: invalid type: 'int' object has no attribute 'upper' at `",
        {"type": "object", "properties": {"a": {"type": 1}}},
    ),
    Row(
        "the API refuses an empty string in `enum`, which the message accepts",
        r"^only check: enum-kind at `[^`]*/enum/\d+`: \"\"$",
        {"type": "object", "properties": {"a": {"type": "string", "enum": ["", "x"]}}},
    ),
    Row(
        "the message accepts anything for `additionalProperties`, and checks nothing in it",
        r"^only check: \S+ at `[^`]*/additional(Properties|_properties)/",
        {"type": "object", "properties": {}, "additionalProperties": {"type": ["string", "null"]}},
    ),
]
INPUTS = {
    "gemini": [
        *BOTH,
        Row(
            "one message for both platforms: only Vertex AI accepts `additionalProperties`",
            r"^only check: refused-keyword at `[^`]*/additional(Properties|_properties)`",
            {"type": "object", "properties": {}, "additionalProperties": False},
        ),
    ],
    "vertex": BOTH,
}


@cache
def message() -> Judge:
    schema = installed("google.genai.types").Schema
    assert schema.model_config["extra"] == "forbid"

    @cache
    def judge(text: str) -> tuple[Complaint, ...]:
        value = json.loads(text)
        names = tuple(invalid_types(value))
        try:
            schema.model_validate(value)
        except ValueError as error:
            return (*names, *(Complaint(one["msg"], pointer(one["loc"])) for one in error.errors()))  # type: ignore[attr-defined]
        return names

    return judge


def invalid_types(value: Any, at: str = "") -> Iterator[Complaint]:
    """Check each `type` alone and remove invalid ones: the SDK only warns about unknown names, and fails on lists."""
    if not isinstance(value, dict):
        return
    if value.get("type") is not None and (fault := fault_of_type(json.dumps(value["type"]))) is not None:
        yield Complaint(fault, f"{at}/type")
        del value["type"]
    for path, below in schemas_below(value):
        yield from invalid_types(below, at + pointer(path))


@cache
def fault_of_type(text: str) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            installed("google.genai.types").Schema.model_validate({"type": json.loads(text)})
    except (UserWarning, ValueError, AttributeError) as error:
        return f"invalid type: {error}"
    return None


def schemas_below(value: dict[str, Any]) -> Iterator[tuple[list[Any], Any]]:
    """Return the schemas in the message's fields: single schemas, lists, and maps."""
    yield ["items"], value.get("items")
    for field in ("anyOf", "any_of"):
        if isinstance(value.get(field), list):
            yield from (([field, index], item) for index, item in enumerate(value[field]))
    for field in ("properties", "defs"):
        if isinstance(value.get(field), dict):
            yield from (([field, name], member) for name, member in value[field].items())


def pointer(path: Any) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_judge_accepts_outputs(dialect: str) -> None:
    accepts_outputs(dialect, message(), OUTPUTS)


@pytest.mark.parametrize(("dialect", "row"), [(name, row) for name in DIALECTS for row in OUTPUTS], ids=str)
def test_judge_still_refuses_an_output(dialect: str, row: Row) -> None:
    still_refused(dialect, message(), row)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_judge_agrees_with_check(dialect: str) -> None:
    agrees_on_inputs(dialect, message(), KNOWN, INPUTS[dialect])


@pytest.mark.parametrize(("dialect", "row"), [(name, row) for name in DIALECTS for row in INPUTS[name]], ids=str)
def test_judge_still_disagrees_with_check(dialect: str, row: Row) -> None:
    still_disputed(dialect, message(), KNOWN, row)


@pytest.mark.parametrize(
    ("schema", "pointers"),
    [
        ({"type": "object", "patternProperties": {}}, ["/patternProperties"]),
        ({"properties": {"a": {"const": 1}}}, ["/properties/a/const"]),
        ({"type": ["string", "null"]}, ["/type"]),
        ({"anyOf": [{"type": "any"}]}, ["/anyOf/0/type"]),
        ({"items": [{}]}, ["/items"]),
        ({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {}}, ["/properties/a/$ref", "/$defs"]),
        # The fields for references and for additional properties belong to Vertex AI.
        ({"properties": {"a": {"ref": "#/defs/a"}}, "defs": {"a": {"type": "STRING"}}}, []),
        ({"type": "OBJECT", "additionalProperties": {"type": "string"}, "propertyOrdering": ["a"]}, []),
        ({"properties": {"type": {"type": "string"}, "items": {"enum": ["x"]}}}, []),
    ],
)
def test_judge_can_refuse(schema: Any, pointers: list[str]) -> None:
    assert [complaint.pointer for complaint in message()(json.dumps(schema))] == pointers
