"""Reads the request types of SDKs as judges of JSON: a value must fit the type, and may have no key that it lacks.

The types are `TypedDict` classes and pydantic models. A check is made from a type once. It reports each fault with a
JSON Pointer. In a union, only the members whose constant keys (`type`, `role`) fit the value are compared.
"""

from __future__ import annotations

import collections.abc
import enum
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import typing_extensions
from pydantic import BaseModel

Fault: TypeAlias = tuple[str, str]
"""A pointer and what is wrong there."""
Place: TypeAlias = "tuple[Place, str | int] | None"
"""The place of a value: that of its parent with its key. It becomes a pointer only in a fault."""
Check: TypeAlias = Callable[[Any, Place], list[Fault]]

LISTS = (list, tuple, set, collections.abc.Iterable, collections.abc.Sequence, collections.abc.Collection)
MAPS = (dict, collections.abc.Mapping)
TAGS = ("type", "role")
"""Keys without which an object of a union is of another member."""
MARKS = (typing_extensions.Required, typing_extensions.NotRequired, typing_extensions.ReadOnly)


@dataclass
class Members:
    """The members of an object: their types, which are required, and the constants that tell records apart."""

    checks: dict[str, Check] = field(default_factory=dict)
    required: set[str] = field(default_factory=set)
    constants: dict[str, set[Any]] = field(default_factory=dict)

    def __call__(self, value: Any, at: Place) -> list[Fault]:
        """Check an object."""
        if not isinstance(value, dict):
            return [(pointer(at), f"expected an object, found {kind_of(value)}")]
        faults = []
        for key, member in value.items():
            check = self.checks.get(key)
            if check is None:
                faults.append((pointer((at, key)), "unknown key"))
            else:
                faults += check(member, (at, key))
        if not self.required <= value.keys():
            faults += [(pointer((at, key)), "missing") for key in sorted(self.required - value.keys())]
        return faults

    def fits(self, value: dict[str, Any]) -> bool:
        """Return true if the constant keys have values of this record."""
        for key, allowed in self.constants.items():
            if key in value:
                if not is_scalar(value[key]) or value[key] not in allowed:
                    return False
            elif key in self.required and key in TAGS:
                return False
        return True


def pointer(at: Place) -> str:
    steps = []
    while at is not None:
        at, key = at
        steps.append(f"/{token(str(key))}")
    return "".join(reversed(steps))


def token(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def kind_of(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return "null" if value is None else names[type(value)]


def is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | bool | int | float)


_made: dict[Any, Check] = {}


def check_of(hint: Any) -> Check:
    """Return the check of a type."""
    try:
        known = _made.get(hint)
    except TypeError:  # not hashable
        return made_from(hint)
    if known is None:
        # A type may contain itself.
        _made[hint] = lambda value, at: _made[hint](value, at)
        known = _made[hint] = made_from(hint)
    return known


def target_of(hint: Any) -> Any | None:
    """Return the target of a type alias."""
    origin = typing_extensions.get_origin(hint)
    if isinstance(origin, typing_extensions.TypeAliasType):
        return origin.__value__[typing_extensions.get_args(hint)]
    return hint.__value__ if isinstance(hint, typing_extensions.TypeAliasType) else None


def made_from(hint: Any) -> Check:
    if (aliased := target_of(hint)) is not None:
        return check_of(aliased)
    origin: Any = typing_extensions.get_origin(hint)
    arguments = typing_extensions.get_args(hint)
    if origin is typing.Annotated or origin in MARKS:
        return check_of(arguments[0])
    if origin in (typing.Literal, typing_extensions.Literal):
        return constants(arguments)
    if origin in (typing.Union, types.UnionType):
        return union(arguments)
    if origin in LISTS:
        return items(check_of(arguments[0]))
    if origin in MAPS:
        return entries(check_of(arguments[1]))
    if typing_extensions.is_typeddict(hint):
        return typed_dict(hint)
    return plain(hint if origin is None else origin)


def plain(hint: Any) -> Check:
    if hint in (Any, object) or isinstance(hint, typing.TypeVar):
        return lambda _value, _at: []
    if hint in (None, type(None)):
        return scalar("null", lambda value: value is None)
    if hint is bool:
        return scalar("a boolean", lambda value: isinstance(value, bool))
    if hint is int:
        return scalar("an integer", lambda value: isinstance(value, int) and not isinstance(value, bool))
    if hint is float:
        return scalar("a number", lambda value: isinstance(value, int | float) and not isinstance(value, bool))
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return constants([member.value for member in hint])
    if isinstance(hint, type) and issubclass(hint, str):
        return scalar("a string", lambda value: isinstance(value, str))
    if hint in LISTS:
        return items(lambda _value, _at: [])
    if hint in MAPS:
        return entries(lambda _value, _at: [])
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return model(hint)
    return NEVER


class Scalar:
    """A value of one kind."""

    def __init__(self, name: str, fits: Callable[[Any], bool]) -> None:
        self.name, self.fits = name, fits

    def __call__(self, value: Any, at: Place) -> list[Fault]:
        """Check the kind."""
        return [] if self.fits(value) else [(pointer(at), f"expected {self.name}, found {kind_of(value)}")]


def scalar(name: str, fits: Callable[[Any], bool]) -> Check:
    return Scalar(name, fits)


class Constants:
    """One of several constants."""

    def __init__(self, values: Iterable[Any]) -> None:
        self.values = list(values)

    def __call__(self, value: Any, at: Place) -> list[Fault]:
        """Check a constant."""
        fits = any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in self.values)
        return [] if fits else [(pointer(at), f"not one of the constants: {str(value)[:40]}")]


def constants(values: Iterable[Any]) -> Check:
    return Constants(values)


class Never:
    """A type without a form in JSON, such as bytes or the models of replies."""

    def __call__(self, _value: Any, at: Place) -> list[Fault]:
        """Refuse every value."""
        return [(pointer(at), "no such value in JSON")]


NEVER = Never()


class Items:
    """A list."""

    def __init__(self, check: Check) -> None:
        self.check = check

    def __call__(self, value: Any, at: Place) -> list[Fault]:
        """Check all items."""
        if not isinstance(value, list):
            return [(pointer(at), f"expected a list, found {kind_of(value)}")]
        return [fault for number, item in enumerate(value) for fault in self.check(item, (at, number))]


def items(check: Check) -> Check:
    return Items(check)


class Entries:
    """An object with any keys."""

    def __init__(self, check: Check) -> None:
        self.check = check

    def __call__(self, value: Any, at: Place) -> list[Fault]:
        """Check all values."""
        if not isinstance(value, dict):
            return [(pointer(at), f"expected an object, found {kind_of(value)}")]
        return [fault for key, one in value.items() for fault in self.check(one, (at, key))]


def entries(check: Check) -> Check:
    return Entries(check)


class Union:
    """One of several types."""

    def __init__(self, hints: Iterable[Any]) -> None:
        flat = [one for hint in hints for one in flattened(hint)]
        self.checks = [check for one in flat if (check := check_of(one)) is not NEVER]
        self.records = [check for check in self.checks if isinstance(check, Members)]
        self.others = [check for check in self.checks if not isinstance(check, Members)]
        self.by_type: dict[Any, list[Members]] = {}

    def of_type(self, kind: Any) -> list[Members]:
        """Return the records that may have this `type`."""
        if not isinstance(kind, str):
            return self.records
        if kind not in self.by_type:
            fitting = [one for one in self.records if kind in one.constants.get("type", {kind})]
            self.by_type[kind] = fitting
        return self.by_type[kind]

    def __call__(self, value: Any, at: Place) -> list[Fault]:
        """Check with each member that has the value's kind and constants, and report the nearest one's faults."""
        records = self.records
        if isinstance(value, dict):
            fitting = [check for check in self.of_type(value.get("type")) if check.fits(value)]
            candidates: list[Check] = [*fitting, *(check for check in self.others if isinstance(check, Entries))]
            candidates += [check for check in self.others if not isinstance(check, KINDS)]
            if records and not fitting and all(isinstance(check, Scalar) for check in candidates):
                keys = {key for check in records for key in check.constants if key in value}
                names = " and ".join(f"`{key}`: `{value[key]}`" for key in sorted(keys)) or "no constant key"
                return [(pointer(at), f"no object of the union has {names}")]
        elif isinstance(value, list):
            candidates = [check for check in self.checks if not isinstance(check, Members | Entries | Constants)]
        else:
            candidates = [check for check in self.checks if not isinstance(check, Members | Entries | Items)]
        best: list[Fault] | None = None
        for check in candidates:
            faults = check(value, at)
            if not faults:
                return []
            # A fault further down means that this member is the one that was meant.
            if best is None or (-depth(faults), len(faults)) < (-depth(best), len(best)):
                best = faults
        return best if best is not None else [(pointer(at), f"no type of the union accepts {kind_of(value)}")]


def depth(faults: list[Fault]) -> int:
    return min(found.count("/") for found, _ in faults)


def flattened(hint: Any) -> list[Any]:
    """Return the members of a union within a union."""
    if (aliased := target_of(hint)) is not None:
        return flattened(aliased)
    origin: Any = typing_extensions.get_origin(hint)
    arguments = typing_extensions.get_args(hint)
    if origin is typing.Annotated:
        return flattened(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return [one for argument in arguments for one in flattened(argument)]
    return [hint]


KINDS = (Members, Entries, Items, Constants)


def union(hints: Iterable[Any]) -> Check:
    return Union(hints)


def typed_dict(hint: Any) -> Check:
    members = Members()
    _made[hint] = members
    for key, (member, required) in hints_of(hint).items():
        add(members, alias_of(member) or key, member, required)
    if not members.checks:
        # Google's types write a `Struct`, an object with any keys, as one without keys.
        _made[hint] = Entries(lambda _value, _at: [])
    return _made[hint]


def hints_of(hint: Any) -> dict[str, tuple[Any, bool]]:
    """Return the type of each key, and true if it is required, with those of bases."""
    found: dict[str, tuple[Any, bool]] = {}
    for base in getattr(hint, "__orig_bases__", ()):
        generic = typing_extensions.get_origin(base) or base
        if typing_extensions.is_typeddict(generic):
            found |= hints_of(generic)
    for key, member in typing_extensions.get_type_hints(hint, include_extras=True).items():
        if key in found:
            continue
        required = bool(hint.__total__)
        origin: Any = typing_extensions.get_origin(member)
        while origin in (*MARKS, typing.Annotated):
            if origin is typing_extensions.Required:
                required = True
            elif origin is typing_extensions.NotRequired:
                required = False
            if origin is typing.Annotated:
                break
            member = typing_extensions.get_args(member)[0]
            origin = typing_extensions.get_origin(member)
        found[key] = (member, required)
    return found


def alias_of(member: Any) -> str | None:
    aliases = (getattr(one, "alias", None) for one in getattr(member, "__metadata__", ()))
    return next((alias for alias in aliases if isinstance(alias, str)), None)


def model(hint: type[BaseModel]) -> Check:
    members = Members()
    _made[hint] = members
    for key, info in hint.model_fields.items():
        add(members, info.alias or key, info.annotation, info.is_required())
    return members


def add(members: Members, key: str, member: Any, required: bool) -> None:
    members.checks[key] = check = check_of(member)
    if required:
        members.required.add(key)
    known = [check] if not isinstance(check, Union) else check.checks
    if known and all(isinstance(one, Constants) for one in known):
        members.constants[key] = {value for one in known if isinstance(one, Constants) for value in one.values}
