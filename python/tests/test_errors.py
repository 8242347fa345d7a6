"""`ToolwireError`, options, and text that is not JSON."""

from __future__ import annotations

import copy
import pickle
from typing import Any, get_args

import pytest

import toolwire
from cases import CASES
from toolwire.types import CheckOptions, DeferredOptions, EnvelopeOptions, ErrorCode, SanitizeOptions

FORMS = [
    (toolwire.sanitize, {"dialect": "codex"}, SanitizeOptions),
    (toolwire.normalize_envelope, {}, EnvelopeOptions),
    (toolwire.apply_deferred_loading, {}, DeferredOptions),
    (toolwire.check, {"dialect": "codex"}, CheckOptions),
]


def caught(function: Any, *inputs: object, **options: object) -> toolwire.ToolwireError:
    """Call a function that must fail, and return the error."""
    with pytest.raises(toolwire.ToolwireError) as info:
        function(*inputs, **options)
    return info.value


def test_error_attributes_and_base_class() -> None:
    error = caught(toolwire.sanitize, '{"type": ', dialect="codex")
    assert isinstance(error, ValueError)
    assert (error.code, error.pointer, error.changes) == ("invalid-json", "/type", ())
    assert str(error) == f"invalid-json at `/type`: {error.message}"
    assert repr(error) == f"ToolwireError(code='invalid-json', pointer='/type', message={error.message!r})"
    assert str(caught(toolwire.sanitize, "", dialect="codex")).startswith("invalid-json: expected")
    assert f"{type(error).__module__}.{type(error).__qualname__}" == "toolwire.ToolwireError"


@pytest.mark.parametrize("value", [7, ["a"], b"a", {"anthropic-beta": "a"}])
def test_header_must_be_a_string_or_none(value: object) -> None:
    assert toolwire.strip_deferral_betas(None) is None
    error = caught(toolwire.strip_deferral_betas, value)
    assert (error.code, error.pointer) == ("invalid-value", "")


def test_too_lossy_carries_its_changes() -> None:
    error = caught(toolwire.sanitize, {"properties": {"a": {"const": 1}, "b": True}}, dialect="codex", allow="same")
    assert error.code == "too-lossy"
    assert error.changes
    assert all(change.rule and change.reason and change.message for change in error.changes)
    assert f"changes=<{len(error.changes)}>" in repr(error)
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(twin) is toolwire.ToolwireError
        assert twin.args == error.args
        assert (twin.code, twin.pointer, twin.message) == (error.code, error.pointer, error.message)
        assert twin.changes == error.changes
        assert str(twin) == str(error)


def test_codes_of_the_fixtures_match_the_type() -> None:
    codes = {case.error["code"] for case in CASES if case.error}
    assert codes
    assert codes <= set(get_args(ErrorCode))


@pytest.mark.parametrize(("function", "options", "known"), FORMS, ids=lambda form: getattr(form, "__name__", ""))
def test_an_unknown_option_error_lists_the_known_ones(function: Any, options: dict[str, Any], known: Any) -> None:
    error = caught(function, {}, **options, no_such_option=1)
    assert (error.code, error.pointer) == ("unknown-option", "/no_such_option")
    assert "found `no_such_option`" in error.message
    for name in known.__annotations__:
        assert f"`{name}`" in error.message
    # The message contains an example of a valid call.
    assert f"{error.message.rsplit('for example `', 1)[1].split('(')[0]}" in dir(toolwire)


@pytest.mark.parametrize(("function", "options", "known"), FORMS, ids=lambda form: getattr(form, "__name__", ""))
def test_every_option_in_the_types_is_known_to_the_core(function: Any, options: dict[str, Any], known: Any) -> None:
    for name in known.__annotations__:
        if name != "dialect":
            # A value that no option accepts: the code shows whether the name is known.
            error = caught(function, {}, **{**options, name: {"no": "such value"}})
            assert error.code == "invalid-option", name


def test_missing_dialect_is_an_error_with_an_example() -> None:
    untyped: Any = toolwire.sanitize
    error = caught(untyped, {})
    assert (error.code, error.pointer) == ("invalid-option", "/dialect")
    assert '`sanitize(schema, dialect="codex")`' in error.message


def test_messages_use_snake_case_option_names() -> None:
    schema: Any = {"type": "object", "properties": {"a": {"type": "string"}}}
    for error in (
        caught(toolwire.sanitize, schema, dialect="openai-strict", max_steps=3),
        caught(toolwire.check, schema, dialect="openai-strict", max_steps=3),
    ):
        assert (error.code, error.pointer) == ("budget-exceeded", "")
        assert "see `max_steps`" in error.message
    error = caught(toolwire.sanitize, schema, dialect="groq", max_bytes=3)
    assert (error.code, error.pointer) == ("invalid-option", "/max_bytes")
    assert "`max_nodes`" in error.message


def test_the_error_of_an_unknown_dialect_lists_the_known_ones() -> None:
    error = caught(toolwire.sanitize, {}, dialect="codecs")
    assert (error.code, error.pointer) == ("unknown-dialect", "/dialect")
    for dialect in toolwire.dialects():
        assert f"`{dialect.name}`" in error.message


@pytest.mark.parametrize(
    ("options", "pointer"),
    [
        ({"loaded_tools": {"a"}}, "/loaded_tools"),
        ({"loaded_tools": ["a", b"b"]}, "/loaded_tools/1"),
        ({"tool_search_name": b"search"}, "/tool_search_name"),
        ({"tool_search_name": "\ud800"}, "/tool_search_name"),
        ({"mode": float("nan")}, "/mode"),
        ({"mode": "sieve"}, "/mode"),
        ({"load_used_tools": 1}, "/load_used_tools"),
    ],
)
def test_option_of_the_wrong_type_is_refused(options: Any, pointer: str) -> None:
    error = caught(toolwire.apply_deferred_loading, {"messages": []}, **options)
    assert (error.code, error.pointer) == ("invalid-option", pointer)
    assert "expected" in error.message
    assert "found" in error.message


def test_max_bytes_none_means_no_limit() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": "x" * 6000}}}
    assert toolwire.sanitize(schema, dialect="codex-wire", max_bytes=None).schema == schema
    assert "description" not in toolwire.sanitize(schema, dialect="codex-wire").schema["properties"]["a"]


@pytest.mark.parametrize(
    ("text", "pointer", "place"),
    [
        (b"\xff", "", "line 1, column 1"),
        (b'{"a": ["\xc3\xa9\xff"]}', "/a/0", "line 1, column 10"),
        (b'{\n "b": "\xf0\x9f\x98', "/b", "line 2, column 8"),
        (b"{} \xff", "", "line 1, column 4"),
        ('{"a": ["\u00e9\ud800"]}', "/a/0", "line 1, column 10"),
        ("\ud800", "", "line 1, column 1"),
    ],
)
def test_text_that_is_not_utf8_is_refused(text: Any, pointer: str, place: str) -> None:
    for form in (text, bytearray(text), memoryview(text)) if isinstance(text, bytes) else (text,):
        error = caught(toolwire.check, form, dialect="codex")
        assert (error.code, error.pointer) == ("invalid-json", pointer)
        bad = "expected UTF-8, found the byte `0x" if isinstance(text, bytes) else "expected valid Unicode,"
        assert error.message.startswith(bad)
        assert place in error.message
