"""What validating and repairing arguments gives, for type checkers. Keys of results are JSON and so in camelCase."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from ._names import LeftReason, RepairRule  # noqa: TC001 - for those who read the hints at run time


class ArgumentViolation(TypedDict):
    """One thing that a schema says against arguments."""

    pointer: str
    """JSON Pointer into the arguments: what is wrong. What is missing is wrong with the object that lacks it."""
    schemaPointer: str
    """JSON Pointer into the schema: the keyword that says so, behind a reference where it stands."""
    keyword: str
    """The keyword's name; `false` for a schema that is `false`."""
    message: str
    """For people and models: what was expected, then what kind of value was found; no value of the arguments."""


class Validation(TypedDict):
    """Whether arguments are valid, and what the tool's own schema says against them."""

    valid: bool | None
    """Whether the schema takes them; `None` where that cannot be told."""
    errors: list[ArgumentViolation]
    """What it says against them, at most 100; empty unless `valid` is `False`."""


_RepairFrom = TypedDict("_RepairFrom", {"from": str})  # no name that a class could spell


class Repair(_RepairFrom):
    """One repair of arguments. It has places, names, kinds and offsets, and nothing of a value.

    `from` is the kind of value that was answered; for `property-name` the name. `text` is text that was not JSON,
    `nothing` what was missing.
    """

    pointer: str
    """JSON Pointer into the arguments as answered. What stands inside a text has the place of that text."""
    outputPointer: str | None  # noqa: N815 - JSON, as in every language
    """JSON Pointer into the result; `None` if nothing is left."""
    rule: RepairRule
    """The rule."""
    confidence: Literal["exact", "likely"]
    """`exact`: the same value in another notation. `likely`: a guess that has one valid outcome."""
    to: str
    """The kind of value that it is now, or the name; `nothing` if it was left out."""
    message: str
    """For people: what was found and what became of it."""


class Left(TypedDict):
    """What is still wrong after repairing."""

    pointer: str
    """JSON Pointer into the result."""
    keyword: str
    """The keyword that refuses it; `false` for a schema that is `false`."""
    reason: LeftReason
    """Why it was not repaired."""
    message: str
    """For people and models: what was expected and what kind of value was found."""


class Repaired(TypedDict):
    """Arguments, repaired or as they were, and what is said of them."""

    arguments: Any
    """The arguments."""
    changed: bool
    """Whether anything was repaired, or a text was read."""
    valid: bool | None
    """Whether the schema takes them now; `None` where that cannot be told."""
    repairs: list[Repair]
    """Every repair, in the order in which they were made."""
    left: list[Left]
    """What is still wrong, at most 100; empty unless `valid` is `False`."""
    retryMessage: str | None
    """What is still wrong as one text, to be sent back to the model as the result of its call; `None` if nothing is."""


class RepairedText(TypedDict):
    """As `Repaired`; the arguments are JSON text."""

    arguments: str
    changed: bool
    valid: bool | None
    repairs: list[Repair]
    left: list[Left]
    retryMessage: str | None


class RepairedBytes(TypedDict):
    """As `Repaired`; the arguments are JSON text."""

    arguments: bytes
    changed: bool
    valid: bool | None
    repairs: list[Repair]
    left: list[Left]
    retryMessage: str | None


class RepairedCall(TypedDict):
    """What became of the arguments of one call when it was restored."""

    id: str | None
    """The call's id; `None` if the API gave none."""
    name: str
    """The tool's own name."""
    valid: bool | None
    """Whether the tool's own schema takes the arguments now; `None` where that cannot be told."""
    repairs: list[Repair]
    """Every repair, in the order in which they were made."""
    left: list[Left]
    """What is still wrong, at most 100; empty unless `valid` is `False`. Text that cannot be read stays as it was
    answered, and is wrong as a whole."""
    retryMessage: str | None
    """What is still wrong as one text, to be sent back to the model as the result of its call; `None` if nothing is."""
