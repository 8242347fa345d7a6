"""Calls to core functions with values or JSON text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._toolwire import call, call_text

if TYPE_CHECKING:
    from collections.abc import Mapping

BYTES = (bytes, bytearray, memoryview)
"""Types that are read as bytes. A union of types would be made again by each `isinstance`."""

TEXT = (str, *BYTES)
"""Types that are read as JSON text."""


def call_for_value(function: str, value: object, options: Mapping[str, Any]) -> Any:
    """Call a function with one input, text or a value, and return a value."""
    if isinstance(value, TEXT):
        return call_text(function, (value,), options)[0]
    return call(function, (value,), options)[0]


def call_on_two(
    function: str, first: object, second: object, options: Mapping[str, Any]
) -> tuple[Any, dict[str, Any] | None]:
    """Call a function with two inputs, each of which is text or a value.

    If the first input is text, the result is text of its type, and the same object if nothing changed.
    """
    if isinstance(first, TEXT) and isinstance(second, TEXT):
        return call_text(function, (first, second), options)
    text = decode(function, first)
    value, report = call(function, (text, decode(function, second)), options)
    if text is not first and isinstance(value, str):
        value = first if value == text and isinstance(first, bytes) else value.encode()
    return value, report


def decode(function: str, value: object) -> object:
    """Decode bytes. If they are not UTF-8, raise the core's error."""
    if not isinstance(value, BYTES):
        return value
    try:
        return str(value, "utf-8")
    except UnicodeDecodeError:
        call_text(function, (value, "true"), {})
        raise
