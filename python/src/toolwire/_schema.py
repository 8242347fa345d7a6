"""The functions on a tool's schema: `sanitize`, `normalize_envelope`, `check`, and on arguments."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, overload

from ._ask import ask
from ._results import Rewritten, Violation
from ._toolwire import call, call_late, call_text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .types import (
        CheckOptions,
        EnvelopeOptions,
        RestorePlan,
        SanitizeOptions,
        Validation,
    )


@overload
def sanitize(schema: str, /, **options: Unpack[SanitizeOptions]) -> Rewritten[str]: ...
@overload
def sanitize(schema: bytes | bytearray | memoryview, /, **options: Unpack[SanitizeOptions]) -> Rewritten[bytes]: ...
@overload
def sanitize(schema: object, /, **options: Unpack[SanitizeOptions]) -> Rewritten[Any]: ...
def sanitize(schema: object, /, **options: Unpack[SanitizeOptions]) -> Rewritten[Any]:
    """Rewrite a tool's parameter schema into one dialect, with the least loss of meaning.

    The schema is not changed, and what comes back shares no dict or list with it unless `share` is true.

    JSON text gives JSON text: `str` gives `str`, `bytes`, `bytearray` and `memoryview` give `bytes`. Key order, number
    spelling and escapes of what no rule touches are kept. Text that needs no change comes back as the very same object.
    Long texts are read without holding the GIL. Anything else is a value.

    Options, all by keyword: `dialect` (required), `refs`, `untyped`, `hints`, `allow`, `max_bytes`, `max_nodes`,
    `max_steps`, `share`; `toolwire.types.SanitizeOptions` describes them.

    Raises `ToolwireError`: `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-json`, `invalid-value`,
    `too-deep`, `not-representable`, `too-lossy`, and what else the dialect names.

    >>> result = sanitize({"type": "object", "properties": {"unit": {"const": "celsius"}}}, dialect="codex")
    >>> result.schema
    {'type': 'object', 'properties': {'unit': {'type': 'string', 'enum': ['celsius']}}}
    >>> result.lossless, [(change.rule, change.pointer) for change in result.changes]
    (True, [('const-to-enum', '/properties/unit/const'), ('infer-type', '/properties/unit')])
    >>> sanitize(b'{"type": "object", "properties": {}}', dialect="codex").schema
    b'{"type": "object", "properties": {}}'
    """
    return Rewritten(*call_late("sanitize", schema, options))


@overload
def normalize_envelope(schema: str, /, **options: Unpack[EnvelopeOptions]) -> Rewritten[str]: ...
@overload
def normalize_envelope(
    schema: bytes | bytearray | memoryview, /, **options: Unpack[EnvelopeOptions]
) -> Rewritten[bytes]: ...
@overload
def normalize_envelope(schema: object, /, **options: Unpack[EnvelopeOptions]) -> Rewritten[Any]: ...
def normalize_envelope(schema: object, /, **options: Unpack[EnvelopeOptions]) -> Rewritten[Any]:
    """Repair the envelope of a tool's parameters: the root becomes an object with `properties`.

    Nothing else is touched. The schema is not changed, and what comes back shares no dict or list with it unless
    `share`, the only option, is true. JSON text gives JSON text, as `sanitize` does it.

    Raises `ToolwireError`: `unknown-option`, `invalid-option`, `invalid-json`, `invalid-value`, `too-deep`.

    >>> normalize_envelope({"properties": {"city": {"$ref": "#/$defs/City"}}}).schema
    {'type': 'object', 'properties': {'city': {'$ref': '#/$defs/City'}}}
    >>> [change.rule for change in normalize_envelope({}).changes]
    ['add-type', 'add-properties']
    """
    return Rewritten(*call_late("normalizeEnvelope", schema, options))


def check(schema: object, /, **options: Unpack[CheckOptions]) -> tuple[Violation, ...]:
    """Say what a dialect would reject about a schema as it is, a value or JSON text. Nothing means accepted.

    Takes the options of `sanitize`.

    Raises `ToolwireError`: `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-json`, `invalid-value`,
    `too-deep`.

    >>> found = check({"type": "array", "items": [{"type": "string"}]}, dialect="codex-wire")
    >>> [violation.pointer for violation in found]
    ['/items']
    """
    return Violation.list_of(ask("check", schema, options))


@overload
def restore_arguments(arguments: object, plan: RestorePlan, /) -> Any: ...
@overload
def restore_arguments(arguments: object, schema: object, /, **options: Unpack[SanitizeOptions]) -> Any: ...
def restore_arguments(arguments: object, plan_or_schema: object, /, **options: Any) -> Any:
    """Bring the model's arguments back into the shape of the tool's own schema, where a dialect encoded something.

    Takes the `restore_plan` that `sanitize` gave. What it does not understand stays as it is.

    Those who hold only the schema give the tool's *original* one and the options that `sanitize` was given. That makes
    the plan anew on each call; keep the `restore_plan` where there are many calls.

    Raises `ToolwireError`: `invalid-value` for what is no plan, or one of another version, and `too-deep`; with a
    schema also `unknown-dialect`, `unknown-option`, `invalid-option`.

    >>> schema = {"type": "object", "properties": {"$ref": {"type": "string"}}}
    >>> rewritten = sanitize(schema, dialect="moonshot")
    >>> rewritten.schema
    {'type': 'object', 'properties': {'dollar_ref_': {'type': 'string'}}}
    >>> restore_arguments({"dollar_ref_": "main"}, rewritten.restore_plan)
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

    >>> plan = sanitize('{"properties": {"required": {}}}', dialect="moonshot").restore_plan
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
