"""`dialects`: the known facts about the dialects."""

from __future__ import annotations

from ._results import Dialect
from ._toolwire import call


def dialects() -> tuple[Dialect, ...]:
    """Return the known facts about each dialect, in the order of the documentation.

    >>> [dialect.name for dialect in dialects()][:2]
    ['codex', 'codex-wire']
    """
    return Dialect.list_of(call("dialects", (), {})[0])
