"""A change of a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from ._names import ChangeRule  # noqa: TC001 - needed when hints are evaluated at run time
from ._record import Record

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from ._dataclass import dataclass

Accepts: TypeAlias = Literal["same", "closed", "wider", "narrower", "mixed"]
"""The effect of a change on the set of accepted arguments.

`closed`: no arguments are newly accepted. All arguments that are no longer accepted contain, in some object, a property
that the schema does not name, and the schema did not state that it accepts other properties."""

Guidance: TypeAlias = Literal["same", "moved", "lost"]
"""The effect of a change on what the model reads about the tool."""


@dataclass(frozen=True, slots=True)
class Change(Record):
    """One change: its location, rule, effect and reason."""

    pointer: str
    """JSON Pointer into the input, to the cause of the change."""
    output_pointer: str | None
    """JSON Pointer into the output, to the effect of the change; `None` if it no longer exists."""
    rule: ChangeRule
    """The kebab-case name of the rule."""
    accepts: Accepts
    """The effect on the set of accepted arguments; if `encoded` is true, the effect after restoring."""
    guidance: Guidance
    """The effect on what the model reads about the tool."""
    encoded: bool
    """True if the change encodes arguments, so they have to be restored."""
    reason: str
    """The provider fact that the rule serves, with its confidence, and the error text that the rule prevents."""
    message: str
    """Human-readable description of the change."""
