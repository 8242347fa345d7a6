"""Calls on inputs that are values or JSON text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._toolwire import call, call_text

if TYPE_CHECKING:
    from collections.abc import Mapping

TEXT = (str, bytes, bytearray, memoryview)
"""The types of JSON text."""


def ask(function: str, value: object, options: Mapping[str, Any]) -> Any:
    """Call a function on one input, text or a value; the answer is a value."""
    if isinstance(value, TEXT):
        return call_text(function, (value,), options)[0]
    return call(function, (value,), options)[0]


def on_two(
    function: str, first: object, second: object, options: Mapping[str, Any]
) -> tuple[Any, dict[str, Any] | None]:
    """Call a function on two inputs, each of which is text or a value.

    What is written in place of a text is text of its type, and the very same object if nothing changed.
    """
    if isinstance(first, TEXT) and isinstance(second, TEXT):
        return call_text(function, (first, second), options)
    text = characters(function, first)
    value, report = call(function, (text, characters(function, second)), options)
    if text is not first and isinstance(value, str):
        value = first if value == text and isinstance(first, bytes) else value.encode()
    return value, report


def characters(function: str, value: object) -> object:
    """Give bytes as a string. Those that are not UTF-8 are the core's to refuse."""
    if not isinstance(value, bytes | bytearray | memoryview):
        return value
    try:
        return str(value, "utf-8")
    except UnicodeDecodeError:
        call_text(function, (value, "true"), {})
        raise
