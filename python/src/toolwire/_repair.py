"""Repairing arguments that a model answered wrongly: `repair_arguments` and its forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from ._toolwire import call, call_text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .types import Repaired, RepairedBytes, RepairedText, RepairOptions


def repair_arguments(arguments: object, schema: object, /, **options: Unpack[RepairOptions]) -> Any:
    """Repair arguments that a model answered wrongly, by the tool's own schema.

    A list in a string, a number in quotes, null for an optional member, a name in another spelling, text that is almost
    JSON. What the schema takes is never touched, and nothing is invented; what cannot be repaired stays as it is. A
    `str` is the text of the arguments, `None` is no arguments. The arguments are not changed.

    Options, all by keyword: `confidence`, `disable`, `use_defaults`, `remove_additional`, `truncated`, `name`;
    `toolwire.types.RepairOptions` describes them.

    Raises `ToolwireError`: `invalid-json` for a `str` that cannot be read, `invalid-schema`, `unknown-option`,
    `invalid-option`, `invalid-value`, `too-deep`.

    >>> schema = {"properties": {"ids": {"type": "array", "items": {"type": "integer"}}, "limit": {"type": "integer"}}}
    >>> repair_arguments({"ids": "[1, 2]", "limit": "10"}, schema)
    {'ids': [1, 2], 'limit': 10}
    """
    return call("repairArguments", (arguments, schema), options, False)


def repair_arguments_with_report(arguments: object, schema: object, /, **options: Unpack[RepairOptions]) -> Repaired:
    """Do what `repair_arguments` does, and say what was repaired, what is still wrong, and whether the schema takes it.

    >>> found = repair_arguments_with_report({"limit": "10"}, {"properties": {"limit": {"type": "integer"}}})
    >>> found["valid"], [(repair["pointer"], repair["rule"]) for repair in found["repairs"]]
    (True, [('/limit', 'string-to-number')])
    """
    return call("repairArguments", (arguments, schema), options, True)


@overload
def repair_arguments_json(
    text: str, schema: str | bytes | bytearray | memoryview, /, **options: Unpack[RepairOptions]
) -> str: ...
@overload
def repair_arguments_json(
    text: bytes | bytearray | memoryview,
    schema: str | bytes | bytearray | memoryview,
    /,
    **options: Unpack[RepairOptions],
) -> bytes: ...
def repair_arguments_json(
    text: str | bytes | bytearray | memoryview,
    schema: str | bytes | bytearray | memoryview,
    /,
    **options: Unpack[RepairOptions],
) -> str | bytes:
    r"""Do what `repair_arguments` does, from the text that the model answered to JSON text.

    `str` gives `str`, anything else `bytes`. Text that needs no repair comes back as the very same object.

    Raises what `repair_arguments` raises; the message of `invalid-json` names the reason and the byte.

    >>> repair_arguments_json("```json\n{'path': 'a.txt',}\n```", '{"properties": {"path": {"type": "string"}}}')
    '{"path":"a.txt"}'
    """
    return call_text("repairArguments", (text, schema), options, False)


@overload
def repair_arguments_json_with_report(
    text: str, schema: str | bytes | bytearray | memoryview, /, **options: Unpack[RepairOptions]
) -> RepairedText: ...
@overload
def repair_arguments_json_with_report(
    text: bytes | bytearray | memoryview,
    schema: str | bytes | bytearray | memoryview,
    /,
    **options: Unpack[RepairOptions],
) -> RepairedBytes: ...
def repair_arguments_json_with_report(
    text: str | bytes | bytearray | memoryview,
    schema: str | bytes | bytearray | memoryview,
    /,
    **options: Unpack[RepairOptions],
) -> RepairedText | RepairedBytes:
    """Do what `repair_arguments_json` does, and report as `repair_arguments_with_report` does.

    >>> schema = '{"properties": {"path": {"type": "string"}}}'
    >>> repair_arguments_json_with_report('{"path": "a.txt"}', schema)["changed"]
    False
    """
    return call_text("repairArguments", (text, schema), options, True)
