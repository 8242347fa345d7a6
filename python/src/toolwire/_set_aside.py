"""Report tools that are set aside: to the callable of the caller, or once for each list by a `ToolwireWarning`."""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

from ._error import ToolwireWarning
from ._frozen import LateDict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
    """A warning that is shown if `tools` is read before `quarantined`."""

    __slots__ = ("_warning",)

    def __init__(self, warning: Mapping[str, str] | None) -> None:
        self._warning = warning

    def read(self, key: object) -> None:
        """Record that an item is read."""
        if key == "quarantined":
            self.look()
        elif key in ("tools", "json") and self._warning is not None:
            warn(self._warning)
            self.look()

    def look(self) -> None:
        """Record that the caller has read which tools are missing."""
        self._warning = None


def _item(name: str, base: type[dict[str, Any]]) -> Any:
    """Wrap a method of a dict that reads one item."""
    inherited = getattr(base, name)

    def method(self: WatchedDict | WatchedReady, key: str, *arguments: Any) -> Any:
        self.unseen.read(key)
        return inherited(self, key, *arguments)

    method.__name__ = name
    return method


def _whole(name: str, base: type[dict[str, Any]]) -> Any:
    """Wrap a method of a dict that reads all items, `quarantined` among them."""
    inherited = getattr(base, name)

    def method(self: WatchedDict | WatchedReady, *arguments: Any) -> Any:
        self.unseen.look()
        return inherited(self, *arguments)

    method.__name__ = name
    return method


class WatchedDict(dict[str, Any]):
    """The result of `sanitize_tools` if tools are missing. Copies are plain dicts."""

    __slots__ = ("unseen",)

    def __init__(self, items: dict[str, Any], unseen: Unseen) -> None:
        super().__init__(items)
        self.unseen = unseen

    __getitem__, get, pop = (_item(name, dict) for name in ("__getitem__", "get", "pop"))
    __iter__, __reversed__, keys, values, items, copy = (
        _whole(name, dict) for name in ("__iter__", "__reversed__", "keys", "values", "items", "copy")
    )
    __eq__, __ne__, __or__, __ror__, __repr__ = (
        _whole(name, dict) for name in ("__eq__", "__ne__", "__or__", "__ror__", "__repr__")
    )
    __hash__ = None

    def __reduce_ex__(self, _: object) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return dict, (tuple(self.items()),)


class WatchedReady(LateDict):
    """The result of a `ToolSet` if tools are missing."""

    __slots__ = ("unseen",)

    def __init__(self, now: dict[str, Any], key: str, make: Callable[[], Any], unseen: Unseen) -> None:
        super().__init__(now, key, make)
        self.unseen = unseen

    __getitem__, get = (_item(name, LateDict) for name in ("__getitem__", "get"))
    __iter__, __reversed__, keys, values, items, copy = (
        _whole(name, LateDict) for name in ("__iter__", "__reversed__", "keys", "values", "items", "copy")
    )
    __eq__, __ne__, __or__, __ror__, __repr__ = (
        _whole(name, LateDict) for name in ("__eq__", "__ne__", "__or__", "__ror__", "__repr__")
    )
    __hash__ = None
