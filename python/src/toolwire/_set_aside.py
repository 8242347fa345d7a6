"""Reports tools that are set aside: to the caller's callable, or in one `ToolwireWarning` for each list."""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

from ._error import ToolwireWarning

if TYPE_CHECKING:
    from collections.abc import Mapping

_shown_keys: set[str] = set()
"""Keys of the warnings that were already shown."""

_MAX_SHOWN = 256
"""Maximum number of keys, so that the memory of a long-running program does not grow with the number of lists."""

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def warn(warning: Mapping[str, str]) -> None:
    """Show a warning, unless it was already shown."""
    if warning["key"] in _shown_keys:
        return
    warnings.warn(f"toolwire: {warning['message']}", ToolwireWarning, stacklevel=_caller_level())
    # The warning is recorded after it was shown, so that the same list raises again if warnings are errors.
    if len(_shown_keys) >= _MAX_SHOWN:
        _shown_keys.clear()
    _shown_keys.add(warning["key"])


def without_callables(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Replace callables with JSON values, so that the core rejects them for options that accept no callable."""
    if not any(map(callable, options.values())):
        return options
    json_options = {name: "a function" if callable(value) else value for name, value in options.items()}
    return {**json_options, "on_set_aside": "warn"} if callable(options.get("on_set_aside")) else json_options


def _caller_level() -> int:
    """Return the stack level of the first frame outside this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame, level = frame.f_back, level + 1
    return level


class PendingWarning:
    """A warning that is shown if the caller reads the tools before the quarantined tools."""

    __slots__ = ("_warning",)

    def __init__(self, warning: Mapping[str, str] | None) -> None:
        self._warning = warning

    @property
    def is_done(self) -> bool:
        """True if there is no warning, or if it was shown, or if the quarantined tools were read."""
        return self._warning is None

    def warn(self) -> None:
        """Show the warning, because the tools are read."""
        if self._warning is not None:
            warn(self._warning)
            self._warning = None

    def discard(self) -> None:
        """Drop the warning, because the caller has read which tools are missing."""
        self._warning = None
