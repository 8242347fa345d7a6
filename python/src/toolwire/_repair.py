"""`repair_arguments`: repairs invalid arguments from a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from ._argument_results import Repaired
from ._ask import call_on_two

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import RepairOptions


@overload
def repair_arguments(arguments: str, schema: object, /, **options: Unpack[RepairOptions]) -> Repaired[str]: ...
@overload
def repair_arguments(
    arguments: bytes | bytearray | memoryview, schema: object, /, **options: Unpack[RepairOptions]
) -> Repaired[bytes]: ...
@overload
def repair_arguments(arguments: object, schema: object, /, **options: Unpack[RepairOptions]) -> Repaired[Any]: ...
def repair_arguments(arguments: object, schema: object, /, **options: Unpack[RepairOptions]) -> Repaired[Any]:
    r"""Repair invalid arguments from a model to fit the tool's own schema.

    For example: a list in a string, a number in quotes, null for an optional member, a misspelt name, text that is
    almost JSON. Values that the schema accepts are never changed, and no values are invented; what cannot be repaired
    is returned unchanged. `None` means that there are no arguments. The input is not changed.

    `str`, `bytes`, `bytearray` and `memoryview` are the text of the model's answer, which need not be JSON, and give
    JSON text; text that needs no repair is returned as the same object. The schema is a value or JSON text.

    Options, all by keyword: `confidence`, `disable`, `use_defaults`, `remove_additional`, `truncated`, `name`;
    `toolwire.types.RepairOptions` describes them.

    Raises `ToolwireError`: `invalid-json` if text cannot be read, `invalid-schema`, `unknown-option`, `invalid-option`,
    `invalid-value`, `too-deep`.

    >>> schema = {"properties": {"ids": {"type": "array", "items": {"type": "integer"}}, "limit": {"type": "integer"}}}
    >>> result = repair_arguments({"ids": "[1, 2]", "limit": "10"}, schema)
    >>> result.arguments, result.valid
    ({'ids': [1, 2], 'limit': 10}, True)
    >>> [(repair.pointer, repair.rule) for repair in result.repairs]
    [('/ids', 'json-string'), ('/limit', 'string-to-number')]
    >>> repair_arguments("```json\n{'ids': [1],}\n```", schema).arguments
    '{"ids":[1]}'
    """
    value, report = call_on_two("repairArguments", arguments, schema, options)
    return Repaired.of({"arguments": value, **(report or {})})
