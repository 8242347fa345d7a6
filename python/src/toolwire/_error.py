"""The error and the warning of the package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from ._change import Change

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

ErrorCode: TypeAlias = Literal[
    "invalid-json",
    "invalid-value",
    "too-deep",
    "invalid-schema",
    "invalid-request",
    "unknown-dialect",
    "unknown-option",
    "invalid-option",
    "not-representable",
    "too-lossy",
    "budget-exceeded",
    "limit-exceeded",
    "forced-deferred-tool",
    "empty-query",
    "invalid-pattern",
    "pattern-too-long",
    "internal",
]
"""The kind of a `ToolwireError`: a closed list that is the same in every language."""


class ToolwireError(ValueError):
    r"""Error of every function: a code, the location in the input, and a message.

    >>> import toolwire
    >>> try:
    ...     toolwire.sanitize('{"type": ', dialect="codex")
    ... except toolwire.ToolwireError as error:
    ...     print(error.code, error.pointer)
    invalid-json /type
    """

    __module__ = "toolwire"  # the public module, which a traceback shows

    code: ErrorCode
    """The kind of the error, from a closed list that is equal in every language."""

    pointer: str
    """JSON Pointer (RFC 6901) into the input; for errors about options, into the options."""

    message: str
    """Human-readable message: what was expected, then what was found."""

    changes: tuple[Change, ...]
    """With `too-lossy`: all changes that would be needed. Otherwise empty."""

    def __init__(
        self, code: ErrorCode, pointer: str, message: str, changes: Sequence[Change | Mapping[str, Any]] = ()
    ) -> None:
        """Make an error. All four arguments are also in `args`, so that the error can be pickled."""
        all_changes = tuple(change if isinstance(change, Change) else Change.of(change) for change in changes)
        super().__init__(code, pointer, message, all_changes)
        self.code = code
        self.pointer = pointer
        self.message = message
        self.changes = all_changes

    def __str__(self) -> str:
        """Show the code, the pointer unless it is the root's, and the message."""
        at = f" at `{self.pointer}`" if self.pointer else ""
        return f"{self.code}{at}: {self.message}"

    def __repr__(self) -> str:
        """Show the call that makes the error, with only the number of changes."""
        changes = f", changes=<{len(self.changes)}>" if self.changes else ""
        return f"ToolwireError(code={self.code!r}, pointer={self.pointer!r}, message={self.message!r}{changes})"


class ToolwireWarning(UserWarning):
    """Warning that tools are not sent: which tools, for which dialect, why, and what to do.

    Silence it, or make it an error, with `warnings`, or with the option `on_set_aside` of `Exchange.open`, of
    `sanitize_tools` and of the transports.

    >>> import warnings, toolwire
    >>> warnings.simplefilter("ignore", toolwire.ToolwireWarning)
    """

    __module__ = "toolwire"  # the public module
