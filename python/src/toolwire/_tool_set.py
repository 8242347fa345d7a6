"""`ToolSet`: a tool list that is sent with every request."""

from __future__ import annotations

from collections import OrderedDict
from copy import deepcopy
from threading import RLock
from typing import TYPE_CHECKING, Any

from . import _toolwire
from ._frozen import freeze
from ._options import SanitizedList
from ._results import ReadyTools
from ._set_aside import without_callables

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import ToolsOptions

_MAX_READY = 16
"""Maximum number of different options for which lists are kept."""


class _Changes:
    """The changes of a list for some options, made on demand."""

    def __init__(self, tools: str, options: Any) -> None:
        self._tools, self._options = tools, options

    def report(self) -> dict[str, Any]:
        """Make the changes."""
        _, source = _toolwire.call_late("sanitizeTools", self._tools, self._options)
        return source.report()


class ToolSet:
    """A tool list that is sent with every request: sanitized once for each dialect, and then reused.

    The list is read once: later changes to the object that was passed in have no effect. `update` accepts the new list
    after `tools/list_changed`.

    >>> tools = ToolSet([{"name": "look.up", "inputSchema": {"type": "object", "properties": {}}}])
    >>> ready = tools.sanitize(dialect="moonshot")
    >>> ready.tools[0]["function"]["name"], ready is tools.sanitize(dialect="moonshot")
    ('look_up', True)
    >>> tools.update([{"name": "look.up", "inputSchema": {"type": "object", "properties": {}}}])
    False
    """

    __slots__ = ("_cache", "_lock", "_set")

    def __init__(self, tools: object, /) -> None:
        """Read a list of tools, as `sanitize_tools` does: a value or JSON text.

        Raises `ToolwireError`: `invalid-request` if it is not a list of tools, `invalid-json`, `invalid-value`,
        `too-deep`.
        """
        self._initialize(_toolwire.ToolSet(tools))

    def _initialize(self, tools: _toolwire.ToolSet) -> None:
        self._set = tools
        # Reentrant, because making Python objects may run a finalizer that uses this object.
        self._lock = RLock()
        self._cache: OrderedDict[str, ReadyTools] = OrderedDict()

    def __len__(self) -> int:
        """Return the number of tools, including tools that an API runs itself."""
        with self._lock:
            return self._set.size()

    def __repr__(self) -> str:
        """Show the number of tools."""
        return f"<{type(self).__name__} of {len(self)} tools>"

    def update(self, tools: object, /) -> bool:
        """Replace the list; return `False` if the new list is equivalent, in which case all results stay valid.

        Raises the errors of the constructor; in that case the list is unchanged.
        """
        with self._lock:
            return self._clear_if_new(self._set.update(tools))

    def _clear_if_new(self, is_new: bool) -> bool:
        if is_new:
            self._cache.clear()
        return is_new

    def sanitize(self, **options: Unpack[ToolsOptions]) -> ReadyTools:
        """Return the result of `sanitize_tools` for this list, with `json`: the tools as compact JSON text.

        The first call with some options makes the result. Later calls with these options return the same object, which
        cannot be changed. Its `changes` are made when they are read.

        If tools were set aside, a `ToolwireWarning` names them, as in `sanitize_tools`. A callable `on_set_aside` is
        called every time.

        Raises `ToolwireError`: `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-value`,
        `not-representable` if tools have to be set aside and `on_set_aside` is `"error"`.
        """
        core_options: Any = without_callables(options)
        on_set_aside = options.get("on_set_aside")
        # Callers with a callable get separate results: the call reads `quarantined`, which must not silence the warning
        # of other callers.
        key = repr((callable(on_set_aside), sorted(core_options.items())))
        with self._lock:
            ready = self._cache.get(key)
            if ready is None:
                ready = self._compute(core_options)
                while len(self._cache) >= _MAX_READY:
                    self._cache.popitem(last=False)
                self._cache[key] = ready
        if callable(on_set_aside) and ready.quarantined:
            on_set_aside(ready.quarantined, SanitizedList(options["dialect"]))
        return ready

    def _compute(self, options: ToolsOptions) -> ReadyTools:
        members = self._set.ready(options)
        # Copied, so that later changes to the caller's options have no effect.
        return ReadyTools(freeze(members.pop("tools")), _Changes(self._set.list(), deepcopy(options)), members)
