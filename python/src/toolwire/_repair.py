"""Repairing arguments that a model answered wrongly: `repair_arguments`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from ._argument_results import Repaired
from ._ask import on_two

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .types import RepairOptions


@overload
def repair_arguments(arguments: str, schema: object, /, **options: Unpack[RepairOptions]) -> Repaired[str]: ...
@overload
def repair_arguments(
    arguments: bytes | bytearray | memoryview, schema: object, /, **options: Unpack[RepairOptions]
) -> Repaired[bytes]: ...
@overload
def repair_arguments(arguments: object, schema: object, /, **options: Unpack[RepairOptions]) -> Repaired[Any]: ...
def repair_arguments(arguments: object, schema: object, /, **options: Unpack[RepairOptions]) -> Repaired[Any]:
    r"""Repair arguments that a model answered wrongly, by the tool's own schema.

    A list in a string, a number in quotes, null for an optional member, a name in another spelling, text that is almost
    JSON. What the schema takes is never touched, and nothing is invented; what cannot be repaired stays as it is.
    `None` is no arguments. The arguments are not changed.

    `str`, `bytes`, `bytearray` and `memoryview` are the text that the model answered, which need not be JSON, and give
    JSON text; text that needs no repair comes back as the very same object. The schema is a value or JSON text.

    Options, all by keyword: `confidence`, `disable`, `use_defaults`, `remove_additional`, `truncated`, `name`;
    `toolwire.types.RepairOptions` describes them.

    Raises `ToolwireError`: `invalid-json` for a `str` that cannot be read, `invalid-schema`, `unknown-option`,
    `invalid-option`, `invalid-value`, `too-deep`.

    >>> schema = {"properties": {"ids": {"type": "array", "items": {"type": "integer"}}, "limit": {"type": "integer"}}}
    >>> result = repair_arguments({"ids": "[1, 2]", "limit": "10"}, schema)
    >>> result.arguments, result.valid
    ({'ids': [1, 2], 'limit': 10}, True)
    >>> [(repair.pointer, repair.rule) for repair in result.repairs]
    [('/ids', 'json-string'), ('/limit', 'string-to-number')]
    >>> repair_arguments("```json\n{'ids': [1],}\n```", schema).arguments
    '{"ids":[1]}'
    """
    value, report = on_two("repairArguments", arguments, schema, options)
    return Repaired.of({"arguments": value, **(report or {})})
