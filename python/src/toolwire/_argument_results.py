"""Results of validating and repairing arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic, Literal, TypeVar

from ._names import LeftReason, RepairRule, ResultRule  # noqa: TC001 - needed when hints are evaluated at run time
from ._record import Record

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from ._dataclass import dataclass

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class ArgumentViolation(Record):
    """One violation of a schema by arguments."""

    pointer: str
    """JSON Pointer into the arguments, to the invalid value. For a missing member, it points to the object that lacks
    it."""
    schema_pointer: str
    """JSON Pointer into the schema, to the violated keyword. For a keyword behind a reference, it points to the
    definition."""
    keyword: str
    """Name of the violated keyword; `false` if the schema is `false`."""
    message: str
    """Message for humans and models: what was expected, then the kind of value that was found. It contains no argument
    values."""


@dataclass(frozen=True, slots=True)
class Validation(Record):
    """Validity of arguments, and their violations of the tool's own schema."""

    valid: bool | None
    """True if the schema accepts the arguments; `None` if validity cannot be determined."""
    errors: tuple[ArgumentViolation, ...]
    """The violations, at most 100; empty unless `valid` is `False`."""

    _converters: ClassVar = {"errors": ArgumentViolation.list_of}


@dataclass(frozen=True, slots=True)
class ResultChange(Record):
    """One change of a result. It contains locations, names and kinds, but no values of the result."""

    pointer: str
    """JSON Pointer into the given result, to the cause."""
    output_pointer: str | None
    """JSON Pointer into the new result; `None` if the value was removed."""
    rule: ResultRule
    """The kebab-case name of the rule."""
    message: str
    """Human-readable message: what was changed."""


@dataclass(frozen=True, slots=True)
class FittedResult(Record, Generic[T_co]):
    """The result of a call, fitted or unchanged, with a report."""

    result: T_co
    """The result; JSON text if the input was JSON text."""
    changed: bool
    """True if anything was changed."""
    valid: bool | None
    """False if the structured content violates the `outputSchema` or is missing, and cannot be filled from the text;
    `None` if this cannot be determined."""
    changes: tuple[ResultChange, ...]
    """All changes, in the order in which they were made."""
    errors: tuple[ArgumentViolation, ...]
    """The violations in the original result, at most 100, even if `mismatch` removed or replaced their cause. Empty if
    `valid` is `None`."""

    _converters: ClassVar = {"changes": ResultChange.list_of, "errors": ArgumentViolation.list_of}


@dataclass(frozen=True, slots=True)
class Repair(Record):
    """One repair of arguments. It contains locations, names, kinds and offsets, but no argument values."""

    pointer: str
    """JSON Pointer into the original arguments. Within a string that was parsed, it points to the string."""
    output_pointer: str | None
    """JSON Pointer into the result; `None` if the value no longer exists."""
    rule: RepairRule
    """The kebab-case name of the rule."""
    confidence: Literal["exact", "likely"]
    """`exact`: the same value in another notation. `likely`: a guess with one valid outcome."""
    from_: str
    """The kind of the original value; for `property-name` the original name. `text` means text that was not JSON,
    `nothing` means a missing value. In JSON, this member is `from`."""
    to: str
    """The kind of the new value, or the new name; `nothing` if the value was removed."""
    message: str
    """Human-readable message: what was found, and how it was repaired."""


@dataclass(frozen=True, slots=True)
class Left(Record):
    """A violation that remains after repairing."""

    pointer: str
    """JSON Pointer into the result."""
    keyword: str
    """Name of the violated keyword; `false` if the schema is `false`."""
    reason: LeftReason
    """The reason why it was not repaired."""
    message: str
    """Message for humans and models: what was expected, and the kind of value that was found."""


@dataclass(frozen=True, slots=True)
class Repaired(Record, Generic[T_co]):
    """Repaired or unchanged arguments, with a report."""

    arguments: T_co
    """The arguments; JSON text if the input was JSON text."""
    changed: bool
    """True if anything was repaired, or text was parsed."""
    valid: bool | None
    """True if the schema accepts the arguments now; `None` if validity cannot be determined."""
    repairs: tuple[Repair, ...]
    """All repairs, in the order in which they were made."""
    left: tuple[Left, ...]
    """The remaining violations, at most 100; empty unless `valid` is `False`."""
    retry_message: str | None
    """The remaining violations as text, to be sent to the model as the result of its call; `None` if there are
    none."""

    _converters: ClassVar = {"repairs": Repair.list_of, "left": Left.list_of}


@dataclass(frozen=True, slots=True)
class RepairedCall(Record):
    """The repairs of the arguments of one call that was restored."""

    id: str | None
    """The call's id; `None` if the API sent no id."""
    name: str
    """The tool's own name."""
    valid: bool | None
    """True if the tool's own schema accepts the arguments now; `None` if validity cannot be determined."""
    repairs: tuple[Repair, ...]
    """All repairs, in the order in which they were made."""
    left: tuple[Left, ...]
    """The remaining violations, at most 100; empty unless `valid` is `False`. Text that cannot be read is unchanged,
    and is one violation."""
    retry_message: str | None
    """The remaining violations as text, to be sent to the model as the result of its call; `None` if there are
    none."""

    _converters: ClassVar = {"repairs": Repair.list_of, "left": Left.list_of}
