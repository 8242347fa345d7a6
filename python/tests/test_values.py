"""The Python values that are JSON, and their conversion."""

from __future__ import annotations

import collections
import decimal
import enum
import fractions
import json
import math
import sys
import types
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import toolwire
from exact import compact, containers, exact, same


def copied(value: object) -> Any:
    """Pass a value through a function that must not change it."""
    schema = {"type": "object", "properties": {"x": {"default": value}}}
    return toolwire.normalize_envelope(schema).schema["properties"]["x"]["default"]


def refused(value: object) -> toolwire.ToolwireError:
    """Pass a value that must be refused, and return the error."""
    with pytest.raises(toolwire.ToolwireError) as caught:
        copied(value)
    return caught.value


AT = "/properties/x/default"

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)
surrogates = st.text(st.characters(categories=("Cs", "L", "P")))


@given(json_values)
def test_any_json_is_copied_unchanged(value: Any) -> None:
    result = copied(value)
    assert same(result, value)
    mine = {id(container) for container in containers(value)}
    assert not [container for container in containers(result) if id(container) in mine]


@given(json_values)
def test_value_and_text_agree(value: Any) -> None:
    schema = {"properties": {"x": {"const": value, "$ref": value}, "y": value}, "$defs": value}
    for options in ({"dialect": "codex"}, {"dialect": "codex-wire"}):
        assert answer(toolwire.sanitize, schema, options) == answer(toolwire.sanitize, compact(schema), options)
    if not isinstance(value, str):  # a string is text rather than a value
        assert answer(toolwire.normalize_envelope, value, {}) == answer(toolwire.normalize_envelope, compact(value), {})


def answer(function: Any, value: object, options: dict[str, Any]) -> object:
    """Return the result of a call as exact JSON, or its error."""
    try:
        result = function(value, **options)
    except toolwire.ToolwireError as error:
        return error.code, error.pointer
    result = result.schema if isinstance(result, toolwire.types.Rewritten) else result
    return exact(result if isinstance(result, str) else compact(result))


@given(surrogates, surrogates)
def test_lone_surrogates_are_kept_unless_they_are_rewritten(text: str, key: str) -> None:
    assert copied(text) is text
    assert copied({key: text}) == {key: text}
    # Rewritten from `const` to `enum`: the value moves, and is still the caller's own object.
    assert toolwire.sanitize({"const": text, "default": {key: 1}}, dialect="codex").schema == {
        "enum": [text],
        "default": {key: 1},
        "type": "string",
    }


@pytest.mark.parametrize("number", [0, -1, 2**63, -(2**63) - 1, 2**70, 10**400, 1.0, -0.0, 1e16, 5e-324, 1.7e308])
def test_numbers_keep_value_and_type(number: float) -> None:
    result = copied(number)
    assert result is number
    assert toolwire.sanitize({"const": number}, dialect="codex").schema["enum"][0] is number


def test_integers_beyond_pythons_digit_limit() -> None:
    digits = sys.get_int_max_str_digits() if hasattr(sys, "get_int_max_str_digits") else 4300
    huge = 10 ** (digits + 1) + 1
    assert copied(huge) is huge
    assert copied(-huge) == -huge


def test_bool_is_not_an_integer() -> None:
    assert copied([True, 1, False, 0]) == [True, 1, False, 0]
    assert [type(item) for item in copied([True, 1])] == [bool, int]
    # For Codex, a boolean is a schema and a number is not.
    assert toolwire.sanitize({"properties": {"a": True}}, dialect="codex").schema["properties"]["a"] == {
        "type": "string"
    }
    assert toolwire.sanitize({"properties": {"a": 1}}, dialect="codex").schema["properties"]["a"] == 1


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, float("nan")],
)
def test_floats_that_json_lacks_are_refused(value: float) -> None:
    error = refused(value)
    assert (error.code, error.pointer) == ("invalid-value", AT)
    assert "expected a finite number" in error.message


@pytest.mark.parametrize(
    "value",
    [
        {1, 2},
        frozenset(),
        b"bytes",
        bytearray(b"bytes"),
        object(),
        object,
        print,
        range(3),
        iter([]),
        1j,
        decimal.Decimal(1),
        fractions.Fraction(1, 2),
        types.MappingProxyType({"a": 1}),
        collections.UserDict({"a": 1}),
        collections.ChainMap({"a": 1}),
        collections.deque([1]),
        {}.keys(),
        ...,
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_that_are_not_json_are_refused_with_a_pointer(value: object) -> None:
    error = refused(["a/b", {"a/b~": value}])
    assert (error.code, error.pointer) == ("invalid-value", AT + "/1/a~1b~0")
    assert f"`{type(value).__qualname__}`" in error.message or type(value).__qualname__ in error.message


@pytest.mark.parametrize("key", [1, 1.5, None, True, (), b"a"], ids=repr)
def test_keys_that_are_not_strings_are_refused(key: object) -> None:
    error = refused({"fine": 1, key: 2})
    assert (error.code, error.pointer) == ("invalid-value", AT)
    assert f"`{type(key).__name__}`" in error.message


def test_first_fault_in_document_order_is_reported() -> None:
    assert refused({"a": {"b": [1, math.nan]}, "c": {1}}).pointer == AT + "/a/b/1"


def test_a_surrogate_in_a_pointer_is_shown_escaped() -> None:
    assert refused({"\ud800": {1}}).pointer == AT + "/\\ud800"


def test_a_tuple_is_an_array() -> None:
    result = copied((1, (2, [3]), ()))
    assert result == [1, [2, [3]], []]
    assert {type(container) for container in containers(result)} == {list}


class Name(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "not this"

    def __hash__(self) -> int:
        return 1


class Count(int):
    def __str__(self) -> str:
        return "not this"

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return "not this"

    def __index__(self) -> int:
        return -1


class Ratio(float):
    def __repr__(self) -> str:
        return "not this"


class Color(str, enum.Enum):
    RED = "red"


class Size(enum.IntEnum):
    LARGE = 3


class Point(NamedTuple):
    x: int
    y: int


class OwnList(list[Any]):
    def __iter__(self) -> Any:
        raise AssertionError("as in `json.dumps`, the stored items count")


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Name("n"), "n"),
        (Count(7), 7),
        (Count(2**80), 2**80),
        (Ratio(0.5), 0.5),
        (Color.RED, "red"),
        (Size.LARGE, 3),
        (Point(1, 2), [1, 2]),
        (OwnList([1, [2]]), [1, [2]]),
        (collections.OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (collections.defaultdict(list, a=[1]), {"a": [1]}),
        (collections.Counter("aab"), {"a": 2, "b": 1}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_subclasses_are_kept(value: Any, plain: object) -> None:
    result = copied(value)
    if isinstance(value, (str, int, float)):
        assert result is value
    else:
        assert type(result) is type(plain)
        assert same(result, plain)


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (Count(7), "7"),
        (Count(2**80), str(2**80)),
        (Ratio(0.5), "0.5"),
        (Name("n"), "n"),
        (Size.LARGE, "3"),
        (Color.RED, "red"),
    ],
)
def test_subclasses_are_read_as_their_stored_value(value: Any, stored: str) -> None:
    with pytest.raises(toolwire.ToolwireError, match=f"found `{stored}`"):
        toolwire.normalize_envelope({}, share=value)


def test_an_ordered_dict_is_read_in_its_own_order() -> None:
    ordered = collections.OrderedDict(a=1, b=2)
    ordered.move_to_end("a")
    assert list(copied(ordered)) == ["b", "a"]


def test_a_dict_subclass_is_read_through_its_items() -> None:
    class Lazy(dict[str, Any]):
        def items(self) -> Any:
            return [("type", "object"), ("properties", {"a": {}})]

    assert json.loads(json.dumps(Lazy(x=1))) == {"type": "object", "properties": {"a": {}}}
    assert toolwire.normalize_envelope(Lazy(x=1)).schema == {"type": "object", "properties": {"a": {}}}


def test_items_that_are_not_pairs_are_refused() -> None:
    class Odd(dict[str, Any]):
        def items(self) -> Any:
            return [("a", 1, 2)]

    assert refused(Odd(a=1)).pointer == AT


def test_an_exception_in_the_callers_code_reaches_the_caller() -> None:
    class Broken(dict[str, Any]):
        def items(self) -> Any:
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        copied(Broken(a=1))


def test_subclass_keys_become_plain_strings() -> None:
    result = copied({Color.RED: 1, Name("n"): 2, "plain": 3})
    assert result == {"red": 1, "n": 2, "plain": 3}
    assert {type(key) for key in result} == {str}


def test_equal_keys_become_one_member() -> None:
    assert copied({"n": 1, "other": 2, Name("n"): 3}) == {"n": 3, "other": 2}
    # A surrogate pair is the same JSON as the character.
    assert copied({"\ud83d\ude00": 1, "\U0001f600": 2}) == {"\ud83d\ude00": 2}


def test_dict_may_change_while_it_is_read() -> None:
    outer: dict[str, Any] = {}

    class Growing(dict[str, Any]):
        def items(self) -> Any:
            outer.update({f"late {index}": index for index in range(100)})
            outer.pop("gone", None)
            items.extend(range(100))
            return super().items()

    items: list[Any] = [Growing(a=1), "after"]
    outer |= {"first": items, "gone": {"x": 1}, "last": 2}
    result = copied(outer)
    assert result["gone"] == {"x": 1}
    assert result["last"] == 2
    assert result["first"][:2] == [{"a": 1}, "after"]


def test_cycle_is_refused_at_the_repeated_ancestor() -> None:
    inner: dict[str, Any] = {"b": [1]}
    inner["b"].append(inner)
    error = refused({"a": inner})
    assert (error.code, error.pointer) == ("invalid-value", AT + "/a/b/1")
    assert "inside itself" in error.message

    itself: list[Any] = []
    itself.append(itself)
    with pytest.raises(toolwire.ToolwireError) as caught:
        toolwire.normalize_envelope({"x": [itself]})
    assert caught.value.pointer == "/x/0/0"


def test_repeated_object_is_not_a_cycle_and_is_copied_twice() -> None:
    twice = {"a": [1]}
    result = copied([twice, twice])
    assert result == [twice, twice]
    assert result[0] is not result[1]
    assert result[0]["a"] is not result[1]["a"]


def test_more_than_512_levels_are_refused() -> None:
    def nested(levels: int) -> Any:
        value: Any = {"deepest": True}
        for _ in range(levels - 1):
            value = {"x": value}
        return value

    deepest = toolwire.normalize_envelope(nested(512)).schema
    for _ in range(511):
        deepest = deepest["x"]
    assert deepest["deepest"] is True
    with pytest.raises(toolwire.ToolwireError) as caught:
        toolwire.normalize_envelope(nested(513))
    assert (caught.value.code, caught.value.pointer) == ("too-deep", "/x" * 512)
    with pytest.raises(toolwire.ToolwireError) as caught:
        toolwire.normalize_envelope(json.dumps(nested(513)))
    assert (caught.value.code, caught.value.pointer) == ("too-deep", "/x" * 512)
    endless: Any = ()
    for _ in range(100_000):
        endless = (endless,)
    assert refused(endless).code == "too-deep"


@pytest.mark.filterwarnings("ignore")
def test_exponentially_shared_object_is_refused() -> None:
    bomb: Any = "x"
    for _ in range(64):
        bomb = [bomb, bomb]
    error = refused(bomb)
    assert error.code == "limit-exceeded"
    assert error.pointer.startswith(AT + "/0/")


def test_input_is_untouched() -> None:
    schema = {"properties": {"a": {"const": 1}}, "required": ("a",)}
    before = repr(schema)
    toolwire.sanitize(schema, dialect="codex")
    toolwire.sanitize(schema, dialect="codex", share=True)
    assert repr(schema) == before


def test_share_returns_unchanged_parts() -> None:
    schema: dict[str, Any] = {"properties": {"changed": {"const": 1}, "kept": {"type": "string", "enum": ["a"]}}}
    result = toolwire.sanitize(schema, dialect="codex", share=True).schema
    assert result is not schema
    assert result["properties"]["kept"] is schema["properties"]["kept"]
    assert result["properties"]["changed"] is not schema["properties"]["changed"]
    whole = collections.OrderedDict(type="object", properties=types.SimpleNamespace)
    whole["properties"] = collections.OrderedDict()
    assert toolwire.normalize_envelope(whole, share=True).schema is whole
    assert type(toolwire.normalize_envelope(whole).schema) is dict


def test_changing_a_result_does_not_change_the_input() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    toolwire.normalize_envelope(schema).schema["properties"]["a"]["type"] = "number"
    assert schema == {"type": "object", "properties": {"a": {"type": "string"}}}


def test_digits_in_arguments_obey_pythons_limit() -> None:
    """Reading decimal digits takes quadratic time: nine seconds for three million, with the GIL held."""
    schema = {"type": "object", "properties": {"v": {}}, "required": ["v"]}
    plan = toolwire.sanitize(schema, dialect="anthropic-strict").restore_plan
    limit = sys.get_int_max_str_digits() if hasattr(sys, "get_int_max_str_digits") else 4300

    def restored(text: str) -> Any:
        return toolwire.restore_arguments({"v": text}, plan)["v"]

    assert restored("1" * limit) == int("1" * limit)
    assert restored("-" + "1" * limit) == int("-" + "1" * limit)
    for text in ("1" * (limit + 1), "-" + "1" * (limit + 1), "1" * 3_000_000):
        with pytest.raises(toolwire.ToolwireError) as caught:
            restored(text)
        assert caught.value.code == "invalid-value"
        assert f"at most {limit} digits" in caught.value.message
    # The caller's integers are not text.
    large = 16**limit
    assert (
        toolwire.normalize_envelope({"properties": {"a": {"const": large}}}).schema["properties"]["a"]["const"] == large
    )


def test_plans_can_contain_names_with_lone_surrogates() -> None:
    schema = {"type": "object", "properties": {"\ud800": {"type": "string"}, "a": {"type": "string"}}}
    answered = {"\ud800": None, "a": "x"}
    plan = toolwire.sanitize(schema, dialect="openai-strict").restore_plan
    tools = [{"name": "tool", "inputSchema": schema}]
    restore = toolwire.sanitize_tools(tools, dialect="openai-strict").restore
    assert toolwire.restore_arguments(answered, json.loads(json.dumps(plan))) == {"a": "x"}
    assert restore.call("tool", answered).arguments == {"a": "x"}
