"""What validating and repairing arguments gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Generic, Literal, TypeVar

from ._names import LeftReason, RepairRule  # noqa: TC001 - for those who read the hints at run time
from ._record import Record

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class ArgumentViolation(Record):
    """One thing that a schema says against arguments."""

    pointer: str
    """JSON Pointer into the arguments: what is wrong. What is missing is wrong with the object that lacks it."""
    schema_pointer: str
    """JSON Pointer into the schema: the keyword that says so, behind a reference where it stands."""
    keyword: str
    """The keyword's name; `false` for a schema that is `false`."""
    message: str
    """For people and models: what was expected, then what kind of value was found; no value of the arguments."""


@dataclass(frozen=True, slots=True)
class Validation(Record):
    """Whether arguments are valid, and what the tool's own schema says against them."""

    valid: bool | None
    """Whether the schema takes them; `None` where that cannot be told."""
    errors: tuple[ArgumentViolation, ...]
    """What it says against them, at most 100; empty unless `valid` is `False`."""

    _made: ClassVar = {"errors": ArgumentViolation.list_of}


@dataclass(frozen=True, slots=True)
class Repair(Record):
    """One repair of arguments. It has places, names, kinds and offsets, and nothing of a value."""

    pointer: str
    """JSON Pointer into the arguments as answered. What stands inside a text has the place of that text."""
    output_pointer: str | None
    """JSON Pointer into the result; `None` if nothing is left."""
    rule: RepairRule
    """The rule."""
    confidence: Literal["exact", "likely"]
    """`exact`: the same value in another notation. `likely`: a guess that has one valid outcome."""
    from_: str
    """The kind of value that was answered; for `property-name` the name. `text` is text that was not JSON, `nothing`
    what was missing. In JSON it is `from`."""
    to: str
    """The kind of value that it is now, or the name; `nothing` if it was left out."""
    message: str
    """For people: what was found and what became of it."""


@dataclass(frozen=True, slots=True)
class Left(Record):
    """What is still wrong after repairing."""

    pointer: str
    """JSON Pointer into the result."""
    keyword: str
    """The keyword that refuses it; `false` for a schema that is `false`."""
    reason: LeftReason
    """Why it was not repaired."""
    message: str
    """For people and models: what was expected and what kind of value was found."""


@dataclass(frozen=True, slots=True)
class Repaired(Record, Generic[T_co]):
    """Arguments, repaired or as they were, and what is said of them."""

    arguments: T_co
    """The arguments: text if text was given."""
    changed: bool
    """Whether anything was repaired, or a text was read."""
    valid: bool | None
    """Whether the schema takes them now; `None` where that cannot be told."""
    repairs: tuple[Repair, ...]
    """Every repair, in the order in which they were made."""
    left: tuple[Left, ...]
    """What is still wrong, at most 100; empty unless `valid` is `False`."""
    retry_message: str | None
    """What is still wrong as one text, to be sent back to the model as the result of its call; `None` if nothing is."""

    _made: ClassVar = {"repairs": Repair.list_of, "left": Left.list_of}


@dataclass(frozen=True, slots=True)
class RepairedCall(Record):
    """What became of the arguments of one call when it was restored."""

    id: str | None
    """The call's id; `None` if the API gave none."""
    name: str
    """The tool's own name."""
    valid: bool | None
    """Whether the tool's own schema takes the arguments now; `None` where that cannot be told."""
    repairs: tuple[Repair, ...]
    """Every repair, in the order in which they were made."""
    left: tuple[Left, ...]
    """What is still wrong, at most 100; empty unless `valid` is `False`. Text that cannot be read stays as it was
    answered, and is wrong as a whole."""
    retry_message: str | None
    """What is still wrong as one text, to be sent back to the model as the result of its call; `None` if nothing is."""

    _made: ClassVar = {"repairs": Repair.list_of, "left": Left.list_of}
