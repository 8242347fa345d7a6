"""Generated schemas with unusual Python values: values and text give the same result, which is that of Rust."""

from __future__ import annotations

import collections
import decimal
import enum
import json
import math
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import toolwire
from exact import compact, exact

ROOT = Path(__file__).resolve().parents[2]
NAMES = [dialect.name for dialect in toolwire.dialects()]
# The same examples in every run; the bounds below limit size and time.
FIXED = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=250,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


class Mapped(dict[str, Any]):
    """A dict whose methods return members that differ from its stored ones."""

    def __getitem__(self, key: str) -> Any:
        return "lie"

    def items(self) -> Any:
        return [("type", "lie")]


class Subclassed(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "lie"


class Counted(int):
    def __str__(self) -> str:
        return "lie"


class Colored(str, enum.Enum):
    RED = "string"


class Numbered(enum.IntEnum):
    ONE = 1


CYCLE: list[Any] = [1]
CYCLE.append({"a": CYCLE})
DEEP: Any = 1
for _ in range(600):
    DEEP = [DEEP]

ODD: list[Any] = [
    math.nan,
    -math.inf,
    -0.0,
    5e-324,
    10**400,
    -(10**4000),
    True,
    (1, (2,)),
    (),
    b"type",
    bytearray(b"{}"),
    {1: "a"},
    {None: 1, "type": "string"},
    {("a",): 1},
    {1, 2},
    range(3),
    object(),
    decimal.Decimal(1),
    Mapped(type="string"),
    collections.OrderedDict(type="string"),
    Subclassed("string"),
    {Subclassed("type"): Subclassed("integer")},
    Counted(3),
    Colored.RED,
    Numbered.ONE,
    CYCLE,
    DEEP,
    "\ud800",
    {"\udfff": "a\ud83d"},
    {"__class__": {"type": "string"}, "": 1},
]

keys = st.sampled_from(["a", "b", "1", "type", "$ref", "properties", "é", "a b", "\ud800"])
kinds = st.sampled_from(["string", "integer", "number", "boolean", "null", "object", "array"])
references = st.sampled_from(["#", "#/$defs/D", "#/properties/a", "#/properties/b/items", "#here", "x"])
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def schemas(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Generate schemas, biased towards rewritten parts; `values` are values for places that accept any value."""

    def larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        some, named = st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)
        return st.fixed_dictionaries(
            {},
            optional={
                "type": kinds | st.lists(kinds, max_size=3) | values,
                "properties": named,
                "required": st.lists(keys, max_size=3, unique=True) | values,
                "additionalProperties": inner,
                "patternProperties": st.dictionaries(st.sampled_from(["^a", "\\d", "é"]), inner, max_size=2),
                "items": inner | some,
                "allOf": some,
                "anyOf": some,
                "oneOf": some,
                "not": inner,
                "if": inner,
                "$defs": st.fixed_dictionaries({"D": inner}),
                "$anchor": st.just("here"),
                "enum": st.lists(plain, max_size=3) | values,
                "const": plain | values,
                "default": plain | values,
                "minimum": st.integers() | st.floats(allow_nan=False, allow_infinity=False) | values,
                "maxLength": st.integers(-1, 20) | values,
                "nullable": st.booleans(),
                "description": st.text() | values,
                "x-other": values,
            },
        )

    leaf = st.booleans() | st.fixed_dictionaries({"type": kinds}) | st.fixed_dictionaries({"$ref": references})
    return st.recursive(leaf, larger, max_leaves=8)


def restored(arguments: Any, schema: Any, dialect: Any) -> Any:
    """Restore arguments by the plan of a schema."""
    plan = toolwire.sanitize(schema, dialect=dialect).restore_plan
    return toolwire.restore_arguments(arguments, plan)


def outcome(function: Any, *inputs: object, **options: Any) -> object:
    """Return the result of a call as exact JSON, or its error."""
    try:
        result = function(*inputs, **options)
    except toolwire.ToolwireError as error:
        assert error.code != "internal", error  # noqa: PT017
        return error.code, error.pointer, error.message
    if isinstance(result, toolwire.types.Rewritten):
        result = result.schema
    return exact(result if isinstance(result, str) else compact(result))


@settings(FIXED)
@given(schemas(plain), st.sampled_from(NAMES))
def test_values_and_text_agree(schema: Any, dialect: str) -> None:
    text = compact(schema)
    by_value = outcome(toolwire.sanitize, schema, dialect=dialect)
    assert by_value == outcome(toolwire.sanitize, text, dialect=dialect)
    assert compact(schema) == text, "the input was changed"


def test_odd_values_are_refused_with_a_pointer_or_read_as_json_dumps_writes_them() -> None:
    counts = collections.Counter[str]()

    @settings(FIXED)
    @given(schemas(st.sampled_from(ODD)), st.sampled_from(NAMES))
    def tried(schema: Any, dialect: str) -> None:
        by_value = outcome(toolwire.sanitize, schema, dialect=dialect)
        if isinstance(by_value, tuple) and by_value[0] in ("invalid-value", "too-deep"):
            counts["refused"] += 1
            return
        # A value that is accepted is JSON for Python, too, and its text gives the same result.
        assert by_value == outcome(toolwire.sanitize, compact(schema), dialect=dialect)
        counts["accepted"] += 1

    tried()
    assert counts["refused"] > 50
    assert counts["accepted"] > 50
    assert toolwire.normalize_envelope({"type": "object", "properties": {}}).schema == {
        "type": "object",
        "properties": {},
    }


@settings(FIXED)
@given(
    st.dictionaries(keys, plain | st.sampled_from(ODD), max_size=3),
    st.sampled_from(["openai-strict", "anthropic-strict", "moonshot", "gemini"]),
)
def test_odd_arguments_are_restored_like_their_text(arguments: Any, dialect: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "object"}, "b": {"type": ["string", "null"]}}}
    by_value = outcome(restored, arguments, schema, dialect)
    if isinstance(by_value, tuple) and by_value[0] in ("invalid-value", "too-deep"):
        return
    by_text = outcome(restored, compact(arguments), compact(schema), dialect)
    assert by_value == by_text


@pytest.mark.skipif(
    shutil.which("cargo") is None or not (ROOT / "core").exists(), reason="the core's source is not here"
)
def test_reports_agree_with_rust_in_every_dialect(tmp_path: Path) -> None:
    sample: list[Any] = []

    @settings(FIXED, max_examples=150, phases=[Phase.generate])
    @given(schemas(plain))
    def generated(schema: Any) -> None:
        if isinstance(schema, dict):
            sample.append(schema)

    generated()
    file = tmp_path / "generated.jsonl"
    file.write_text("".join(f"{compact({'schema': schema})}\n" for schema in sample), encoding="utf-8")
    # With the features of the whole workspace, like Rust's tests: `cargo run` would compile the crates again.
    build = ["build", "--quiet", "--locked", "--workspace", "--example", "compare"]
    subprocess.run(["cargo", *build], cwd=ROOT, check=True)
    compare = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "examples" / "compare"
    dump = [str(compare), "dump", "--function", "sanitize", str(file)]
    lines = subprocess.run(dump, cwd=ROOT, check=True, capture_output=True).stdout.splitlines()
    inputs: dict[str, str] = {}
    compared = 0
    for row in map(json.loads, lines):
        if "id" in row:
            inputs[row["id"]] = row["text"]
        if row.get("function") != "sanitize":
            continue
        text, dialect = inputs[row["input"]], row["dialect"]
        try:
            found: Any = toolwire.sanitize(text, dialect=dialect)
        except toolwire.ToolwireError as error:
            assert [error.code, error.pointer, error.message] == row["error"], (dialect, text)  # noqa: PT017
        else:
            assert "error" not in row, (dialect, text)
            found = found.to_dict()
            assert found.pop("schema") == row.get("output", text), (dialect, text)
            # A report is text if a name in it has a lone surrogate.
            report = json.loads(row["report"]) if isinstance(row["report"], str) else row["report"]
            assert found == report, (dialect, text)
        compared += 1
    assert compared >= 50 * len(NAMES)
