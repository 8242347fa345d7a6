"""Questions about a value or JSON text, whose answers are values."""

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
        return call_text(function, (value,), options, False)
    return call(function, (value,), options, False)
