"""Reports tools that are set aside: to the caller's callable, or in one `ToolwireWarning` for each list."""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

from ._error import ToolwireWarning

if TYPE_CHECKING:
    from collections.abc import Mapping

_given: set[str] = set()
"""Keys of the warnings that were already shown."""

_MAX_GIVEN = 256
"""Maximum number of keys, so that the memory of a long-running program does not grow with the number of lists."""

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def warn(warning: Mapping[str, str]) -> None:
    """Show a warning, unless it was already shown."""
    if warning["key"] in _given:
        return
    warnings.warn(f"toolwire: {warning['message']}", ToolwireWarning, stacklevel=_outside())
    # The warning is recorded after it was shown, so that the same list raises again if warnings are errors.
    if len(_given) >= _MAX_GIVEN:
        _given.clear()
    _given.add(warning["key"])


def without_callables(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Replace callables with JSON values, so that the core rejects them for options that accept no callable."""
    if not any(map(callable, options.values())):
        return options
    spelled = {name: "a function" if callable(value) else value for name, value in options.items()}
    return {**spelled, "on_set_aside": "warn"} if callable(options.get("on_set_aside")) else spelled


def _outside() -> int:
    """Return the stack level of the first frame outside this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame, level = frame.f_back, level + 1
    return level


class Unseen:
    """A warning that is shown if the tools are read before the quarantined tools are."""

    __slots__ = ("_warning",)

    def __init__(self, warning: Mapping[str, str] | None) -> None:
        self._warning = warning

    @property
    def is_settled(self) -> bool:
        """True if there is no warning, or if it was shown, or if the quarantined tools were read."""
        return self._warning is None

    def warn(self) -> None:
        """Show the warning, because the tools are read."""
        if self._warning is not None:
            warn(self._warning)
            self._warning = None

    def look(self) -> None:
        """Drop the warning, because the caller has read which tools are missing."""
        self._warning = None
