"""llama.cpp's converter and grammar parser as a judge: a schema that they refuse fails a whole request."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import pytest

from judging import (
    Complaint,
    Judge,
    Row,
    accepts_outputs,
    agrees_on_inputs,
    real_schemas,
    rules,
    schemas,
    still_disputed,
    still_refused,
)
from llama_cpp_judge import PROGRAM, LlamaCpp

if TYPE_CHECKING:
    from collections.abc import Iterator

KNOWN = rules("keyword-too-large keyword-value left-recursion pattern maximum-below-minimum property-name")
"""Constraints that the converter can find. `check` also refuses invalid JSON Schema that the converter ignores."""

OUTPUTS = [
    Row(
        "its JSON parser refuses unpaired surrogates, and the number `1e400`",
        r"no JSON: ",
        {"type": "object", "properties": {"a": {"description": "\ud800"}}},
    ),
]

INPUTS = [
    OUTPUTS[0],
    Row(
        "`check` refuses malformed keywords, but the converter reads only those of the type",
        r"^only check: keyword-value ",
        {"type": "object", "properties": {"a": {"type": "integer", "maxItems": ""}}},
    ),
    Row(
        "the root of a tool is an object, and an invalid schema is `not-a-schema`, which is not compared",
        r"^only the judge: JSON schema error at \S+: schema must be an object",
        {"type": "object", "properties": {"a": {"type": "array", "items": [1]}}},
    ),
    Row(
        "`allOf` with a circular reference crashes the server; `check` reports every `allOf` as reinterpreted",
        r"^only the judge: (the process ended|no answer)",
        {
            "type": "object",
            "properties": {"a": {"allOf": [{"$ref": "#/$defs/m"}]}},
            "$defs": {"m": {"type": "object", "properties": {"c": {"allOf": [{"$ref": "#/$defs/m"}]}}}},
        },
    ),
    Row(
        "the converter reports only the first fault",
        r"^only check: keyword-too-large at",
        {
            "type": "object",
            "properties": {"a": {"type": "string", "minLength": 1.5}, "b": {"type": "array", "maxItems": 3000000000}},
        },
    ),
    Row(
        "next to `oneOf`, the converter does not read `anyOf`",
        r"^only check: left-recursion at",
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/c"}},
            "$defs": {"c": {"oneOf": [{"type": "string"}], "anyOf": [{"$ref": "#/$defs/c"}]}},
        },
    ),
    Row(
        "malformed references, lists and values have separate rules, which are not compared",
        r"^only the judge: JSON schema error at \S+: (must (not be empty|be an array of schemas)|"
        r"(properties|additionalProperties|enum|type|\$ref) must|unrecognized type|cannot resolve|unsupported)",
        {"type": "object", "properties": {"a": {"anyOf": []}}},
    ),
]


@cache
def converter() -> LlamaCpp:
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM.name} of llama.cpp is not built: `python tests/llama_cpp_judge.py FOLDER` says why")
    return LlamaCpp()


@pytest.fixture(autouse=True, scope="module")
def _ended() -> Iterator[None]:
    yield
    if PROGRAM.exists():
        converter().close()


@cache
def llama_cpp() -> Judge:
    program = converter()

    def judge(text: str) -> list[Complaint]:
        error = program.refuses(text)
        if error is None:
            return []
        message = error.removeprefix("JSON schema conversion failed:\n")
        place = re.search(r"JSON schema error at #(\S*):", message)
        return [Complaint(message, place.group(1) if place else "")]

    return judge


def test_outputs_are_accepted() -> None:
    accepts_outputs("llama-cpp", llama_cpp(), OUTPUTS)


@pytest.mark.parametrize("row", OUTPUTS, ids=str)
def test_outputs_are_still_refused(row: Row) -> None:
    still_refused("llama-cpp", llama_cpp(), row)


def test_check_agrees_with_llama_cpp() -> None:
    agrees_on_inputs("llama-cpp", llama_cpp(), KNOWN, INPUTS)


@pytest.mark.parametrize("row", INPUTS, ids=str)
def test_check_still_disagrees_with_llama_cpp(row: Row) -> None:
    still_disputed("llama-cpp", llama_cpp(), KNOWN, row)


def test_check_finds_every_refused_real_tool() -> None:
    """`check` finds every refusal of a real tool."""
    agrees_on_inputs("llama-cpp", llama_cpp(), None, [], real_schemas())


@pytest.mark.parametrize(
    ("schema", "text", "accepted"),
    [
        ('{"type":"object","properties":{"a":{"type":"string","pattern":"^\\\\d$"}}}', '{"a":"x"}', True),
        ('{"type":"object","properties":{"a":{"type":"string","pattern":"^[0-9]$"}}}', '{"a":"x"}', False),
        ('{"type":"object","properties":{"a":{"type":"string"}}}', '{"b":1}', False),
        ('{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]}]}', "5", True),
        ('{"type":"object","properties":{"a":{"type":"array","uniqueItems":true}}}', '{"a":[1,1]}', True),
        ('{"type":"object","properties":{"a":{}}}', '{"a":1}', True),
    ],
)
def test_the_grammar_enforces_the_facts(schema: str, text: str, accepted: bool) -> None:
    assert converter().accepts(schema, [text]) == [accepted]


def test_the_judge_can_refuse() -> None:
    assert llama_cpp()('{"type": "object", "properties": {"a": true}}')
    assert len(schemas()) > 1_000
