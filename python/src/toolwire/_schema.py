"""The functions on a tool's schema: `sanitize`, `normalize_envelope`, `check`, and their forms."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, overload

from ._toolwire import call, call_text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .types import (
        CheckOptions,
        EnvelopeOptions,
        RestorePlan,
        Rewritten,
        RewrittenBytes,
        RewrittenText,
        SanitizeOptions,
        Validation,
        Violation,
    )


def sanitize(schema: object, /, **options: Unpack[SanitizeOptions]) -> Any:
    """Rewrite a tool's parameter schema into one dialect, with the least loss of meaning.

    The schema is not changed, and what comes back shares no dict or list with it unless `share` is true.

    Options, all by keyword: `dialect` (required), `refs`, `untyped`, `hints`, `allow`, `max_bytes`, `max_nodes`,
    `max_steps`, `share`; `toolwire.types.SanitizeOptions` describes them.

    Raises `ToolwireError`: `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-value`, `too-deep`,
    `not-representable`, `too-lossy`, and what else the dialect names.

    >>> sanitize({"type": "object", "properties": {"unit": {"const": "celsius"}}}, dialect="codex")
    {'type': 'object', 'properties': {'unit': {'type': 'string', 'enum': ['celsius']}}}
    """
    return call("sanitize", (schema,), options, False)


def sanitize_with_report(schema: object, /, **options: Unpack[SanitizeOptions]) -> Rewritten:
    """Do what `sanitize` does, say what was changed, and leave the plan that `restore_arguments` takes.

    >>> answer = sanitize_with_report({"properties": {"unit": {"const": "celsius"}}}, dialect="codex")
    >>> answer["lossless"]
    True
    >>> answer["changes"][-1]["pointer"]
    '/properties/unit'
    """
    return call("sanitize", (schema,), options, True)


@overload
def sanitize_json(text: str, /, **options: Unpack[SanitizeOptions]) -> str: ...
@overload
def sanitize_json(text: bytes | bytearray | memoryview, /, **options: Unpack[SanitizeOptions]) -> bytes: ...
def sanitize_json(text: str | bytes | bytearray | memoryview, /, **options: Unpack[SanitizeOptions]) -> str | bytes:
    """Do what `sanitize` does, from JSON text to JSON text: `str` gives `str`, anything else `bytes`.

    Key order, number spelling and escapes of what no rule touches are kept. If there is nothing to change, the very
    same object comes back, white space included. Long texts are read without holding the GIL.

    Raises what `sanitize` raises, and `invalid-json` with line and column.

    >>> sanitize_json('{"type": "object", "properties": {"unit": {"const": "celsius"}}}', dialect="codex")
    '{"type":"object","properties":{"unit":{"type":"string","enum":["celsius"]}}}'
    """
    return call_text("sanitize", (text,), options, False)


@overload
def sanitize_json_with_report(text: str, /, **options: Unpack[SanitizeOptions]) -> RewrittenText: ...
@overload
def sanitize_json_with_report(
    text: bytes | bytearray | memoryview, /, **options: Unpack[SanitizeOptions]
) -> RewrittenBytes: ...
def sanitize_json_with_report(
    text: str | bytes | bytearray | memoryview, /, **options: Unpack[SanitizeOptions]
) -> RewrittenText | RewrittenBytes:
    """Do what `sanitize_json` does, say what was changed, and leave the plan that `restore_arguments_json` takes.

    The schema in the answer is text.

    >>> sanitize_json_with_report(b'{"type": "object", "properties": {}}', dialect="codex")
    {'schema': b'{"type": "object", "properties": {}}', 'changes': [], 'lossless': True, 'restorePlan': {'version': 2}}
    """
    return call_text("sanitize", (text,), options, True)


def normalize_envelope(schema: object, /, **options: Unpack[EnvelopeOptions]) -> Any:
    """Repair the envelope of a tool's parameters: the root becomes an object with `properties`.

    Nothing else is touched. The schema is not changed, and what comes back shares no dict or list with it unless
    `share`, the only option, is true.

    Raises `ToolwireError`: `unknown-option`, `invalid-option`, `invalid-value`, `too-deep`.

    >>> normalize_envelope({"properties": {"city": {"$ref": "#/$defs/City"}}})
    {'type': 'object', 'properties': {'city': {'$ref': '#/$defs/City'}}}
    """
    return call("normalizeEnvelope", (schema,), options, False)


def normalize_envelope_with_report(schema: object, /, **options: Unpack[EnvelopeOptions]) -> Rewritten:
    """Do what `normalize_envelope` does, and say what was changed.

    >>> [change["rule"] for change in normalize_envelope_with_report({})["changes"]]
    ['add-type', 'add-properties']
    """
    return call("normalizeEnvelope", (schema,), options, True)


@overload
def normalize_envelope_json(text: str, /, **options: Unpack[EnvelopeOptions]) -> str: ...
@overload
def normalize_envelope_json(text: bytes | bytearray | memoryview, /, **options: Unpack[EnvelopeOptions]) -> bytes: ...
def normalize_envelope_json(
    text: str | bytes | bytearray | memoryview, /, **options: Unpack[EnvelopeOptions]
) -> str | bytes:
    """Do what `normalize_envelope` does, from JSON text to JSON text: `str` gives `str`, anything else `bytes`.

    If there is nothing to repair, the very same object comes back.

    Raises what `normalize_envelope` raises, and `invalid-json` with line and column.

    >>> normalize_envelope_json('{"description": "1.0 stays", "default": 1.0}')
    '{"type":"object","properties":{},"description":"1.0 stays","default":1.0}'
    """
    return call_text("normalizeEnvelope", (text,), options, False)


@overload
def normalize_envelope_json_with_report(text: str, /, **options: Unpack[EnvelopeOptions]) -> RewrittenText: ...
@overload
def normalize_envelope_json_with_report(
    text: bytes | bytearray | memoryview, /, **options: Unpack[EnvelopeOptions]
) -> RewrittenBytes: ...
def normalize_envelope_json_with_report(
    text: str | bytes | bytearray | memoryview, /, **options: Unpack[EnvelopeOptions]
) -> RewrittenText | RewrittenBytes:
    """Do what `normalize_envelope_json` does, and say what was changed; the schema in the answer is text.

    >>> normalize_envelope_json_with_report("true")["schema"]
    '{"type":"object","properties":{}}'
    """
    return call_text("normalizeEnvelope", (text,), options, True)


def check(schema: object, /, **options: Unpack[CheckOptions]) -> list[Violation]:
    """Say what a dialect would reject about a schema as it is. An empty list means accepted.

    Takes the options of `sanitize`.

    Raises `ToolwireError`: `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-value`, `too-deep`.

    >>> found = check({"type": "array", "items": [{"type": "string"}]}, dialect="codex-wire")
    >>> [violation["pointer"] for violation in found]
    ['/items']
    """
    return call("check", (schema,), options, False)


def check_json(text: str | bytes | bytearray | memoryview, /, **options: Unpack[CheckOptions]) -> list[Violation]:
    """Do what `check` does, for JSON text.

    Raises what `check` raises, and `invalid-json` with line and column.

    >>> check_json('{"type": "object"}', dialect="codex-wire")
    []
    """
    return call_text("check", (text,), options, False)


@overload
def restore_arguments(arguments: object, plan: RestorePlan, /) -> Any: ...
@overload
def restore_arguments(arguments: object, schema: object, /, **options: Unpack[SanitizeOptions]) -> Any: ...
def restore_arguments(arguments: object, plan_or_schema: object, /, **options: Any) -> Any:
    """Bring the model's arguments back into the shape of the tool's own schema, where a dialect encoded something.

    Takes the `restorePlan` that `sanitize_with_report` gave. What it does not understand stays as it is.

    Those who hold only the schema give the tool's *original* one and the options that `sanitize` was given. That makes
    the plan anew on each call; keep the `restorePlan` where there are many calls.

    Raises `ToolwireError`: `invalid-value` for what is no plan, or one of another version, and `too-deep`; with a
    schema also `unknown-dialect`, `unknown-option`, `invalid-option`.

    >>> schema = {"type": "object", "properties": {"$ref": {"type": "string"}}}
    >>> rewritten = sanitize_with_report(schema, dialect="moonshot")
    >>> rewritten["schema"]
    {'type': 'object', 'properties': {'dollar_ref_': {'type': 'string'}}}
    >>> restore_arguments({"dollar_ref_": "main"}, rewritten["restorePlan"])
    {'$ref': 'main'}
    >>> restore_arguments({"dollar_ref_": "main"}, schema, dialect="moonshot")
    {'$ref': 'main'}
    """
    return call("restoreArguments", (arguments, plan_or_schema), options, False)


@overload
def restore_arguments_json(arguments: str, plan: RestorePlan | str | bytes | bytearray | memoryview, /) -> str: ...
@overload
def restore_arguments_json(
    arguments: bytes | bytearray | memoryview, plan: RestorePlan | str | bytes | bytearray | memoryview, /
) -> bytes: ...
@overload
def restore_arguments_json(
    arguments: str, schema: str | bytes | bytearray | memoryview, /, **options: Unpack[SanitizeOptions]
) -> str: ...
@overload
def restore_arguments_json(
    arguments: bytes | bytearray | memoryview,
    schema: str | bytes | bytearray | memoryview,
    /,
    **options: Unpack[SanitizeOptions],
) -> bytes: ...
def restore_arguments_json(
    arguments: str | bytes | bytearray | memoryview, plan_or_schema: object, /, **options: Any
) -> str | bytes:
    """Do what `restore_arguments` does, from JSON text to JSON text: `str` gives `str`, anything else `bytes`.

    The plan may be the text that was kept of it. If there is nothing to restore, the very same object comes back.

    Raises what `restore_arguments` raises, and `invalid-json` with line and column.

    >>> plan = sanitize_json_with_report('{"properties": {"required": {}}}', dialect="moonshot")["restorePlan"]
    >>> restore_arguments_json('{"required_": 1}', plan)
    '{"required":1}'
    >>> restore_arguments_json('{"required_": 1}', '{"properties": {"required": {}}}', dialect="moonshot")
    '{"required":1}'
    """
    is_text = isinstance(plan_or_schema, str | bytes | bytearray | memoryview)
    second = plan_or_schema if options or is_text else _written(plan_or_schema)
    return call_text("restoreArguments", (arguments, second), options, False)


def validate_arguments(arguments: object, schema: object, /) -> Validation:
    """Say what the tool's own schema has against the arguments of a call.

    Arguments are an object, also where the root of the schema has no `type`. `valid` is `None` where it cannot be told.
    Nothing of a value is in a message, so errors may be logged and handed to the model.

    Raises `ToolwireError`: `invalid-schema` for what is neither an object nor a boolean, `invalid-value`, `too-deep`.

    >>> found = validate_arguments({"limit": "10"}, {"properties": {"limit": {"type": "integer"}}})
    >>> found["valid"]
    False
    >>> [(error["pointer"], error["message"]) for error in found["errors"]]
    [('/limit', 'expected an integer, found a string')]
    """
    return call("validateArguments", (arguments, schema), {}, False)


def validate_arguments_json(
    arguments: str | bytes | bytearray | memoryview, schema: str | bytes | bytearray | memoryview, /
) -> Validation:
    """Do what `validate_arguments` does, for JSON text.

    Raises what `validate_arguments` raises, and `invalid-json` with line and column.

    >>> validate_arguments_json('{"limit": 10}', '{"properties": {"limit": {"type": "integer"}}}')
    {'valid': True, 'errors': []}
    """
    return call_text("validateArguments", (arguments, schema), {}, False)


def _written(plan: object) -> str:
    """Give the text of a plan."""
    try:
        return json.dumps(plan, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        # What JSON cannot say is no plan, and the core tells why.
        call("restoreArguments", (None, plan), {}, False)
        raise
