"""Report tools that are set aside: to the callable of the caller, or once for each list by a `ToolwireWarning`."""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

from ._error import ToolwireWarning

if TYPE_CHECKING:
    from collections.abc import Mapping

_given: set[str] = set()
"""The keys of warnings that were shown."""

_MOST = 256
"""Maximum number of keys: memory must not grow with the lists of a long-running program."""

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def warn(warning: Mapping[str, str]) -> None:
    """Show a warning once."""
    if warning["key"] in _given:
        return
    warnings.warn(f"toolwire: {warning['message']}", ToolwireWarning, stacklevel=_outside())
    # Only now: if warnings are errors, the same list raises the next time, too.
    if len(_given) >= _MOST:
        _given.clear()
    _given.add(warning["key"])


def without_callables(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Spell callables as JSON, so that an option that must not be a callable is an error of that option."""
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
    """A warning that is shown if the tools are read before the missing ones are."""

    __slots__ = ("_warning",)

    def __init__(self, warning: Mapping[str, str] | None) -> None:
        self._warning = warning

    @property
    def is_told(self) -> bool:
        """Whether there is no warning, or it was shown or seen."""
        return self._warning is None

    def warn(self) -> None:
        """Record that the tools are read."""
        if self._warning is not None:
            warn(self._warning)
            self._warning = None

    def look(self) -> None:
        """Record that the caller has read which tools are missing."""
        self._warning = None
