"""The one error type."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .types import Change, ErrorCode


class ToolwireError(ValueError):
    r"""What went wrong, where, and what was expected.

    >>> import toolwire
    >>> try:
    ...     toolwire.sanitize('{"type": ', dialect="codex")
    ... except toolwire.ToolwireError as error:
    ...     print(error.code, error.pointer)
    invalid-json /type
    """

    __module__ = "toolwire"  # where callers find it, and what a traceback shows

    code: ErrorCode
    """What kind of error this is: one of a closed list that is the same in every language."""

    pointer: str
    """Where in the input, as a JSON Pointer (RFC 6901); for options, where in the options."""

    message: str
    """For people: what was expected, then what was found."""

    changes: tuple[Change, ...]
    """With `too-lossy`: every change that was needed. Otherwise empty."""

    def __init__(
        self, code: ErrorCode, pointer: str, message: str, changes: Sequence[Change | Mapping[str, Any]] = ()
    ) -> None:
        """Take all four; they are also `args`, so that the error pickles."""
        from ._results import Change

        made = tuple(change if isinstance(change, Change) else Change.of(change) for change in changes)
        super().__init__(code, pointer, message, made)
        self.code = code
        self.pointer = pointer
        self.message = message
        self.changes = made

    def __str__(self) -> str:
        """The code, the pointer if it is not the root's, and the message."""
        at = f" at `{self.pointer}`" if self.pointer else ""
        return f"{self.code}{at}: {self.message}"

    def __repr__(self) -> str:
        """The call that makes it; the changes only as their number."""
        changes = f", changes=<{len(self.changes)}>" if self.changes else ""
        return f"ToolwireError(code={self.code!r}, pointer={self.pointer!r}, message={self.message!r}{changes})"


class ToolwireWarning(UserWarning):
    """Tools are not sent: which, for which dialect, why, and what to do.

    `warnings` silences it, or makes it an error, as any other; so does the option `on_set_aside` of `Exchange.open` and
    of the transports.

    >>> import warnings, toolwire
    >>> warnings.simplefilter("ignore", toolwire.ToolwireWarning)
    """

    __module__ = "toolwire"  # where callers find it
