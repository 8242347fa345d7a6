"""The way back: `Restore`, and `restore_from` what was kept of one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ._toolwire import call

if TYPE_CHECKING:
    from .types import RestoredCall


class Restore:
    """Brings calls back to what the tools' own servers expect: their names, and arguments in the shape of their schemas.

    Calls come back in a later turn, maybe in another process: keep `to_json()`, and `restore_from` it.

    >>> from toolwire import restore_from, sanitize_tools
    >>> restore = sanitize_tools([{"name": "files.read", "inputSchema": {}}], dialect="moonshot")["restore"]
    >>> restore_from(restore.to_json()).restore("files_read", {"path": "a"})
    {'name': 'files.read', 'arguments': {'path': 'a'}}
    """

    __module__ = "toolwire"  # where callers find it

    __slots__ = ("_json",)

    def __init__(self, kept: dict[str, Any], /) -> None:
        """Take what `sanitize_tools` gives; others use `restore_from`."""
        self._json = kept

    def __repr__(self) -> str:
        """How many tools it has something to undo for."""
        return f"<Restore of {len(self._json['tools'])} tools>"

    def restore(self, name: str, arguments: object, /) -> RestoredCall:
        """Restore a call. A tool that is not known comes back as it is, and so do arguments that are not understood.

        The arguments are a value, or JSON text (`str`, which is what OpenAI's APIs give, or bytes): text gives text.

        Raises `ToolwireError`: `invalid-value`, `too-deep`.
        """
        tools = self._json["tools"]
        kept = {"version": self._json["version"], "tools": {name: tools[name]} if name in tools else {}}
        if isinstance(arguments, bytes | bytearray | memoryview):
            answer = call("restoreCall", (kept, name, str(arguments, "utf-8")), {}, False)
            answer["arguments"] = answer["arguments"].encode()
            return answer
        return call("restoreCall", (kept, name, arguments), {}, False)

    def to_json(self) -> str:
        """Give JSON text, to be kept for a later turn."""
        return json.dumps(self._json, ensure_ascii=False, separators=(",", ":"))


def restore_from(kept: str | bytes | bytearray | dict[str, Any], /) -> Restore:
    """Make a `Restore` from what was kept of one: the JSON text, or the dict parsed from it.

    Raises `ToolwireError`: `invalid-value` if it is something else, and `ValueError` if it is no JSON.

    >>> restore_from('{"version": 1, "tools": {}}')
    <Restore of 0 tools>
    """
    value = kept if isinstance(kept, dict) else json.loads(kept)
    # Restoring something that nothing is known of reads all of it.
    call("restoreCall", (value, "", None), {}, False)
    return Restore(value)
