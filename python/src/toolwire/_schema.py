"""Functions on a tool's schema (`sanitize`, `normalize_envelope`, `check`) and on its arguments and results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, overload

from ._argument_results import FittedResult, Validation
from ._ask import call_for_value, call_on_two
from ._results import Rewritten, Violation
from ._toolwire import call_late

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import CheckOptions, EnvelopeOptions, ResultOptions, SanitizeOptions
    from ._results import RestorePlan

    Plan: TypeAlias = RestorePlan | str | bytes | bytearray | memoryview


@overload
def sanitize(schema: str, /, **options: Unpack[SanitizeOptions]) -> Rewritten[str]: ...
@overload
def sanitize(schema: bytes | bytearray | memoryview, /, **options: Unpack[SanitizeOptions]) -> Rewritten[bytes]: ...
@overload
def sanitize(schema: object, /, **options: Unpack[SanitizeOptions]) -> Rewritten[Any]: ...
def sanitize(schema: object, /, **options: Unpack[SanitizeOptions]) -> Rewritten[Any]:
    """Rewrite a tool's parameter schema into one dialect, with the minimum loss of meaning.

    The input is not changed, and the result shares no dict or list with it unless `share` is true.

    JSON text gives JSON text: `str` gives `str`, `bytes`, `bytearray` and `memoryview` give `bytes`. Parts that no rule
    changes keep their key order, number spelling and escapes. Text that needs no change is returned as the same object.
    Long texts are read without holding the GIL. Anything else is a value.

    Options, all by keyword: `dialect` (required), `refs`, `untyped`, `hints`, `allow`, `max_bytes`, `max_nodes`,
    `max_steps`, `share`; `toolwire.types.SanitizeOptions` describes them.

    Raises `ToolwireError`: `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-json`, `invalid-value`,
    `too-deep`, `not-representable`, `too-lossy`, and further codes that the dialect documents.

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

    Nothing else is changed. The input is not changed, and the result shares no dict or list with it unless `share`, the
    only option, is true. JSON text gives JSON text, as in `sanitize`.

    Raises `ToolwireError`: `unknown-option`, `invalid-option`, `invalid-json`, `invalid-value`, `too-deep`.

    >>> normalize_envelope({"properties": {"city": {"$ref": "#/$defs/City"}}}).schema
    {'type': 'object', 'properties': {'city': {'$ref': '#/$defs/City'}}}
    >>> [change.rule for change in normalize_envelope({}).changes]
    ['add-type', 'add-properties']
    """
    return Rewritten(*call_late("normalizeEnvelope", schema, options))


def check(schema: object, /, **options: Unpack[CheckOptions]) -> tuple[Violation, ...]:
    """Report what a dialect would refuse, reinterpret or ignore in a schema. An empty result means that it is accepted.

    The schema is a value or JSON text. The options are those of `sanitize`.

    Raises `ToolwireError`: `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-json`, `invalid-value`,
    `too-deep`.

    >>> found = check({"type": "array", "items": [{"type": "string"}]}, dialect="codex-wire")
    >>> [violation.pointer for violation in found]
    ['/items']
    """
    return Violation.list_of(call_for_value("check", schema, options))


@overload
def restore_arguments(arguments: str, plan: Plan, /) -> str: ...
@overload
def restore_arguments(arguments: bytes | bytearray | memoryview, plan: Plan, /) -> bytes: ...
@overload
def restore_arguments(arguments: object, plan: Plan, /) -> Any: ...
def restore_arguments(arguments: object, plan: Plan, /) -> Any:
    """Restore the model's arguments to the form of the tool's own schema, if a dialect encoded something.

    `plan` is the `restore_plan` of `sanitize`, or its JSON text. Arguments of an unexpected form are returned
    unchanged. JSON text gives JSON text, and the same object if there is nothing to restore.

    Raises `ToolwireError`: `invalid-value` if `plan` is not a plan, or has another version; `invalid-json`, `too-deep`.

    >>> schema = {"type": "object", "properties": {"$ref": {"type": "string"}}}
    >>> rewritten = sanitize(schema, dialect="moonshot")
    >>> rewritten.schema
    {'type': 'object', 'properties': {'dollar_ref_': {'type': 'string'}}}
    >>> restore_arguments({"dollar_ref_": "main"}, rewritten.restore_plan)
    {'$ref': 'main'}
    >>> restore_arguments('{"dollar_ref_": "main"}', rewritten.restore_plan)
    '{"$ref":"main"}'
    """
    return call_on_two("restoreArguments", arguments, plan, {})[0]


def validate_arguments(arguments: object, schema: object, /) -> Validation:
    """Validate the arguments of a call against the tool's own schema. Each is a value or JSON text.

    Arguments have to be an object, even if the root of the schema has no `type`. `valid` is `None` if validity cannot
    be determined. Messages contain no argument values, so errors may be logged and sent to the model.

    Raises `ToolwireError`: `invalid-schema` if the schema is neither an object nor a boolean, `invalid-json`,
    `invalid-value`, `too-deep`.

    >>> found = validate_arguments('{"limit": "10"}', {"properties": {"limit": {"type": "integer"}}})
    >>> found.valid
    False
    >>> [(error.pointer, error.message) for error in found.errors]
    [('/limit', 'expected an integer, found a string')]
    """
    return Validation.of(call_on_two("validateArguments", arguments, schema, {})[0])


def validate_result(result: object, tool: object, /) -> Validation:
    """Validate the result of a call against the `outputSchema` of an MCP tool. Each is a value or JSON text.

    `result` is a `CallToolResult` as JSON, `tool` is the tool from `tools/list`. A tool without an `outputSchema`
    accepts every result, and a result with `isError` is not validated. Pointers are into the result and into the tool.

    Raises `ToolwireError`: `invalid-value` if the tool is not an object, `invalid-schema` if the `outputSchema` is
    neither an object nor a boolean, `invalid-json`, `too-deep`.

    >>> tool = {"name": "rate", "outputSchema": {"type": "object", "properties": {"rate": {"type": "number"}}}}
    >>> found = validate_result({"content": [], "structuredContent": {"rate": "1.5"}}, tool)
    >>> [(error.pointer, error.message) for error in found.errors]
    [('/structuredContent/rate', 'expected a number, found a string')]
    """
    return Validation.of(call_on_two("validateResult", result, tool, {})[0])


@overload
def fit_result(result: str, tool: object, /, **options: Unpack[ResultOptions]) -> FittedResult[str]: ...
@overload
def fit_result(
    result: bytes | bytearray | memoryview, tool: object, /, **options: Unpack[ResultOptions]
) -> FittedResult[bytes]: ...
@overload
def fit_result(result: object, tool: object, /, **options: Unpack[ResultOptions]) -> FittedResult[Any]: ...
def fit_result(result: object, tool: object, /, **options: Unpack[ResultOptions]) -> FittedResult[Any]:
    """Fit the result of a call to the `outputSchema` of an MCP tool, so that no client refuses it.

    Clients of the official SDKs refuse a whole result, with its text, if the structured content does not match or is
    missing. Structured content of an error is removed if it does not match. Missing structured content is filled from
    the text if the result has a single text, which is JSON that matches. `mismatch` handles the rest. Structured
    content is added as text if the result has no content. Everything else, such as a task, is returned unchanged.

    `result` is a `CallToolResult` as JSON, `tool` is the tool from `tools/list`; each is a value or JSON text. The
    input is not changed. JSON text gives JSON text, and the same object if nothing changed.

    Options, all by keyword: `mismatch`, `structured_text`; `toolwire.types.ResultOptions` describes them.

    Raises `ToolwireError`: `invalid-value` if the tool is not an object, `invalid-schema` if the `outputSchema` is
    neither an object nor a boolean, `unknown-option`, `invalid-option`, `invalid-json`, `too-deep`.

    >>> tool = {"name": "rate", "outputSchema": {"type": "object", "required": ["rate"]}}
    >>> fitted = fit_result({"isError": True, "content": [], "structuredContent": {"error": "no rate"}}, tool)
    >>> fitted.result
    {'isError': True, 'content': [{'type': 'text', 'text': '{"error":"no rate"}'}]}
    >>> [change.rule for change in fitted.changes]
    ['add-text', 'drop-error-content']
    """
    value, report = call_on_two("fitResult", result, tool, options)
    return FittedResult.of({"result": value, **(report or {})})
