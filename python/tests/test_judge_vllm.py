"""vLLM's choice of a backend as a judge: a schema that neither xgrammar nor llguidance accepts fails the request."""

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
    schemas,
    still_disputed,
    still_refused,
)
from reference import sources
from test_judge_metaschema import meta_schema
from vllm_backend import Backends, schema_of_calls

DIALECTS = ["vllm"]
"""The dialects that are compared."""
BEYOND = Row(
    "numbers that no backend represents: `1e400`, which Python reads as infinite, and others beyond 64-bit floats",
    r"near: Infinity|number out of range",
    {"type": "object", "properties": {"a": {"maximum": 10**400}}},
)
SURROGATES = Row(
    "both backends refuse unpaired surrogates",
    r"Failed to parse JSON: syntax error at line 1 near: (\"|: \{\})",
    {"type": "object", "properties": {"a": {"description": "\ud800"}}},
)
OUTPUTS = [
    BEYOND,
    SURROGATES,
]
INPUTS = [
    BEYOND,
    Row(
        "a keyword without a `type` is not checked",
        r"^only check: (format|keyword-value) at",
        {"type": "object", "properties": {"a": {"format": "x"}}},
    ),
    Row(
        "a reference at a position without effect is not followed",
        r"^only check: ref-target at `[^`]*`: \"#/(?!\$defs/)",
        {"type": "object", "properties": {"a": {"not": {"$ref": "#/definitions/A"}}}},
    ),
    Row(
        "fault of ours: llguidance follows a pointer through a list, such as that of `anyOf`",
        r"^only check: ref-target at `[^`]*`: \"#/\$defs/[^\"]*/[0-9]+",
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/A/anyOf/0"}},
            "$defs": {"A": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
        },
    ),
    Row(
        "fault of ours: llguidance reads escapes in the name of the table, too: `#/%24defs/`",
        r"^only check: ref-target at `[^`]*`: \"#/\$defs/[^\"]*%",
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/A%20B"}, "b": {"$ref": "#/%24defs/A%20B"}},
            "$defs": {"A B": {"type": "string"}},
        },
    ),
    Row(
        "`check` does not look inside a keyword that is reinterpreted",
        r"^only the judge: Schema 'false' cannot accept any value; Unsatisfiable schema",
        {"type": "object", "properties": {}, "allOf": [False]},
    ),
    Row(
        "llguidance accepts larger counts than xgrammar, and no call is that long",
        r"^only check: keyword-too-large at",
        {"type": "object", "properties": {"a": {"type": "array", "items": {}, "minItems": 2**31}}},
    ),
    Row(
        "xgrammar accepts a definition whose name is empty",
        r"^only check: (definition-name at `/\$defs/`|ref-target at `[^`]*`: \"#/\$defs/\"$)",
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/"}}, "$defs": {"": True}},
    ),
    Row(
        "fault of ours: llguidance accepts a length next to `format` even if another property has `oneOf`",
        r"^only check: refused-keyword at `/properties/a/minLength`",
        {
            "type": "object",
            "properties": {
                "a": {"type": "string", "minLength": 2, "format": "date"},
                "d": {"oneOf": [{"type": "string", "maxLength": 3}, {"type": "integer"}]},
            },
        },
    ),
]
DEEP = 200
"""Maximum depth, because xgrammar takes seconds for 500 nested schemas."""

STRING = {"type": "string"}


@cache
def backends() -> Backends:
    return Backends(installed_xgrammar(), installed("llguidance"))


@cache
def required() -> Judge:
    """Return a judge of whole tools, which are accepted or not; the result of outlines is unknown."""
    chosen = backends()

    @cache
    def judge(text: str) -> tuple[Complaint, ...]:
        if depth(text) > DEEP:
            return ()
        answer = chosen.answer(json.loads(text))
        return (Complaint(" ".join(str(answer.complaint).split())),) if answer.backend == "none" else ()

    return judge


def well_formed() -> list[str]:
    """Return valid schemas that are not left to outlines: backends correct invalid ones in different ways."""
    texts = [text for text in schemas() if is_text(text) and depth(text) <= DEEP]
    return [text for text in texts if not meta_schema()(text) and not outlines(text)]


def is_text(text: str) -> bool:
    try:
        json.dumps(json.loads(text), ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return False
    return True


def outlines(text: str) -> bool:
    return backends().answer(json.loads(text)).backend == "outlines"


def depth(text: str) -> int:
    """Return the nesting depth of objects, counting braces in strings, too."""
    open_now = deepest = 0
    for character in text:
        if character in "{}":
            open_now += 1 if character == "{" else -1
            deepest = max(deepest, open_now)
    return deepest


def argument(**schema: Any) -> dict[str, Any]:
    """Return a tool with one argument."""
    return {"type": "object", "properties": {"a": schema}}


def defining(reference: str, **definitions: Any) -> dict[str, Any]:
    return {**argument(**{"$ref": reference}), **definitions}


# Results of vLLM 0.33.0 itself, and of its source: every row is close to a schema that another backend accepts.
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
    # Both gates also look into values that are not schemas.
    ("llguidance", argument(default={"type": "array", "uniqueItems": True})),
    ("xgrammar", {"type": "object", "properties": {"type": STRING, "uniqueItems": STRING}}),
]


@pytest.mark.parametrize(
    ("backend", "schema"), KNOWN, ids=lambda value: value if isinstance(value, str) else json.dumps(value)
)
def test_judge_chooses_the_same_backend_as_vllm(backend: str, schema: dict[str, Any]) -> None:
    answer = backends().answer(schema)
    assert answer.backend == backend, answer
    assert (answer.complaint is None) == (backend == "xgrammar")


def test_boolean_schema_has_no_backend() -> None:
    assert backends().answer(True).backend == "none"


def test_definitions_are_moved_to_the_root() -> None:
    schema = schema_of_calls({"$defs": {"A": STRING}, "type": "object"})
    assert schema["$defs"] == {"A": STRING}
    assert schema["items"]["anyOf"][0]["properties"]["parameters"] == {"type": "object"}
    assert "$defs" not in schema_of_calls({})


def test_number_of_refused_real_tools_is_that_of_vllm() -> None:
    """The number of refused tools is the same as with vLLM's own code (with llguidance 1.7.6)."""
    if len(sources()) == 1:
        pytest.skip("the complete data of real tools is not next to this checkout")
    rows = sources()[-1].rows("mcp_tools.jsonl")
    answers = [backends().answer(row["inputSchema"]) for row in rows]
    counts = Counter(answer.backend for answer in answers)
    assert counts == {"xgrammar": 1528, "llguidance": 7, "none": 12}
    by_names = [one for one in answers if one.backend == "none" and "propertyNames" in str(one.complaint)]
    assert len(by_names) == 9


@pytest.mark.parametrize("dialect", DIALECTS)
def test_judge_accepts_outputs(dialect: str) -> None:
    accepts_outputs(dialect, required(), OUTPUTS)


@pytest.mark.parametrize(("dialect", "row"), [(name, row) for name in DIALECTS for row in OUTPUTS], ids=str)
def test_judge_still_refuses_an_output(dialect: str, row: Row) -> None:
    still_refused(dialect, required(), row)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_judge_agrees_with_check(dialect: str) -> None:
    agrees_on_inputs(dialect, required(), None, INPUTS, well_formed())


@pytest.mark.parametrize(("dialect", "row"), [(name, row) for name in DIALECTS for row in INPUTS], ids=str)
def test_judge_still_disagrees_with_check(dialect: str, row: Row) -> None:
    still_disputed(dialect, required(), None, row)
