"""`ToolSet`: a tool list that is sent with every request."""

from __future__ import annotations

from collections import OrderedDict
from copy import deepcopy
from threading import RLock
from typing import TYPE_CHECKING, Any

from . import _toolwire
from ._frozen import frozen
from ._options import SanitizedList
from ._results import ReadyTools
from ._set_aside import without_callables

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .types import ToolsOptions

_MOST = 16
"""The most different options that lists are kept for."""


class _Changes:
    """The changes of a list for some options."""

    def __init__(self, tools: str, options: Any) -> None:
        self._tools, self._options = tools, options

    def report(self) -> dict[str, Any]:
        """Make them."""
        _, late = _toolwire.call_late("sanitizeTools", self._tools, self._options)
        return late.report()


class ToolSet:
    """A tool list that is sent with every request: sanitized once for each dialect, and handed out as it is after that.

    It is known by its contents: what becomes of the list after it was given changes nothing here. `update` takes the
    list that `tools/list_changed` brings, and then only tools that changed are sanitized again.

    >>> tools = ToolSet([{"name": "look.up", "inputSchema": {"type": "object", "properties": {}}}])
    >>> ready = tools.sanitize(dialect="moonshot")
    >>> ready.tools[0]["function"]["name"], ready is tools.sanitize(dialect="moonshot")
    ('look_up', True)
    >>> tools.update([{"name": "look.up", "inputSchema": {"type": "object", "properties": {}}}])
    False
    """

    __slots__ = ("_lock", "_ready", "_set")

    def __init__(self, tools: object, /) -> None:
        """Take a list of tools, as `sanitize_tools` does: a value or JSON text.

        Raises `ToolwireError`: `invalid-request` if it is no list of tools, `invalid-json`, `invalid-value`,
        `too-deep`.
        """
        self._take(_toolwire.ToolSet(tools))

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
        on_set_aside = options.get("on_set_aside")
        # The callable reads which tools are missing: a list for a caller who has none must still warn of them.
        key = repr((callable(on_set_aside), sorted(given.items())))
        with self._lock:
            ready = self._ready.get(key)
            if ready is None:
                ready = self._made(given)
                while len(self._ready) >= _MOST:
                    self._ready.popitem(last=False)
                self._ready[key] = ready
        if callable(on_set_aside) and ready.quarantined:
            on_set_aside(ready.quarantined, SanitizedList(options["dialect"]))
        return ready

    def _made(self, options: ToolsOptions) -> ReadyTools:
        members = self._set.ready(options)
        # What the caller does with the options later must not change what was made for them.
        return ReadyTools(frozen(members.pop("tools")), _Changes(self._set.list(), deepcopy(options)), members)
