"""`ToolSet`: a tool list that is sent with every request."""

from __future__ import annotations

from collections import OrderedDict
from copy import deepcopy
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any

from . import _toolwire
from ._frozen import LateDict, frozen
from ._restore import Restore
from ._set_aside import Unseen, WatchedReady, without_callables

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .types import ReadyTools, ToolsOptions

_MOST = 16
"""The most different options that lists are kept for."""


def _changes(tools: str, options: ToolsOptions) -> Any:
    return frozen(_toolwire.call_text("sanitizeTools", (tools,), options, True)["changes"])


class ToolSet:
    """A tool list that is sent with every request: sanitized once for each dialect, and handed out as it is after that.

    It is known by its contents: what becomes of the list after it was given changes nothing here. `update` takes the
    list that `tools/list_changed` brings, and then only tools that changed are sanitized again.

    >>> tools = ToolSet([{"name": "look.up", "inputSchema": {"type": "object", "properties": {}}}])
    >>> ready = tools.sanitize(dialect="moonshot")
    >>> ready["tools"][0]["function"]["name"], ready is tools.sanitize(dialect="moonshot")
    ('look_up', True)
    >>> tools.update([{"name": "look.up", "inputSchema": {"type": "object", "properties": {}}}])
    False
    """

    __slots__ = ("_lock", "_ready", "_set")

    def __init__(self, tools: object, /) -> None:
        """Take a list of tools, as `sanitize_tools` does.

        Raises `ToolwireError`: `invalid-request` if it is no list of tools, `invalid-value`, `too-deep`.
        """
        self._take(_toolwire.ToolSet(tools))

    @classmethod
    def from_json(cls, text: str | bytes | bytearray | memoryview, /) -> Self:
        """Take a list of tools that is JSON text.

        Raises what the constructor raises, and `invalid-json` with line and column.
        """
        tools = cls.__new__(cls)
        tools._take(_toolwire.ToolSet.from_json(text))
        return tools

    def _take(self, kept: _toolwire.ToolSet) -> None:
        self._set = kept
        # Making Python objects may run a finalizer, and with it another thread.
        self._lock = RLock()
        self._ready: OrderedDict[str, ReadyTools] = OrderedDict()

    def __len__(self) -> int:
        """Count the tools, those that an API runs itself included."""
        with self._lock:
            return self._set.size()

    def __repr__(self) -> str:
        """Say how many tools there are."""
        return f"<{type(self).__name__} of {len(self)} tools>"

    def update(self, tools: object, /) -> bool:
        """Take another list in place of this one; `False`: it says the same, and all that was made stays.

        Raises what the constructor raises; the list stays what it was then.
        """
        with self._lock:
            return self._changed(self._set.update(tools))

    def update_json(self, text: str | bytes | bytearray | memoryview, /) -> bool:
        """Do what `update` does, with a list that is JSON text."""
        with self._lock:
            return self._changed(self._set.update_json(text))

    def _changed(self, is_new: bool) -> bool:
        if is_new:
            self._ready.clear()
        return is_new

    def sanitize(self, **options: Unpack[ToolsOptions]) -> ReadyTools:
        """Give what `sanitize_tools` gives for this list, and `json`, its tools as compact JSON text.

        Made by the first call with such options, the same object after that: it cannot be changed. Its `changes`
        are made when they are read.

        If tools were set aside, a `ToolwireWarning` names them as `sanitize_tools` does it. A callable as
        `on_set_aside` is called every time.

        Raises `ToolwireError`: `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-value`,
        `not-representable` if tools have to be set aside and `on_set_aside` is `"error"`.
        """
        given: Any = without_callables(options)
        key = repr(sorted(given.items()))
        with self._lock:
            ready: Any = self._ready.get(key)
            if ready is None:
                ready = self._made(given)
                while len(self._ready) >= _MOST:
                    self._ready.popitem(last=False)
                self._ready[key] = ready
        on_set_aside = options.get("on_set_aside")
        if callable(on_set_aside) and isinstance(ready, WatchedReady):
            ready.unseen.look()
            on_set_aside(ready["quarantined"], {"dialect": options["dialect"]})
        return ready

    def _made(self, options: ToolsOptions) -> LateDict:
        made: dict[str, Any] = self._set.ready(options)
        restore, warning = Restore(made.pop("restore")), made.pop("warning", None)
        # What the caller does with the options later must not change what was made for them.
        changes = partial(_changes, self._set.list(), deepcopy(options))
        items = {**frozen(made), "restore": restore}
        if warning is None:
            return LateDict(items, "changes", changes)
        return WatchedReady(items, "changes", changes, Unseen(warning))
