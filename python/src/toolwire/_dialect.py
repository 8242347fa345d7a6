"""What is known about the dialects."""

from __future__ import annotations

from ._results import Dialect
from ._toolwire import call


def dialects() -> tuple[Dialect, ...]:
    """Tell everything that is known about each dialect, in the order in which they are documented.

    >>> [dialect.name for dialect in dialects()][:2]
    ['codex', 'codex-wire']
    """
    return Dialect.list_of(call("dialects", (), {})[0])
