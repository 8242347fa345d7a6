"""Base classes of results: frozen records that convert from and to JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping  # noqa: TC003 - needed when hints are evaluated at run time
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from ._dataclass import refuse_deleting, refuse_setting

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._dataclass import Member


def camel(name: str) -> str:
    """Return the JSON name of an attribute: `output_pointer` becomes `outputPointer`, `from_` becomes `from`."""
    first, *others = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in others)


def to_json_value(value: Any) -> Any:
    """Convert the records and tuples in a value to dicts and lists."""
    if isinstance(value, tuple):
        return [to_json_value(item) for item in value]
    if isinstance(value, dict):
        return {key: to_json_value(item) for key, item in value.items()}
    return value.to_dict() if hasattr(value, "to_dict") else value


class Record:
    """Base class of dataclasses that convert from and to a JSON object."""

    __slots__ = ()

    _converters: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}
    """Converters from JSON, for members that are not JSON values themselves."""

    _optional: ClassVar[frozenset[str]] = frozenset()
    """Members that are omitted from JSON if they are `None`, empty or their default."""

    @classmethod
    def of(cls, members: Mapping[str, Any]) -> Self:
        """Make a record from a JSON object."""
        record = cls.__new__(cls)
        for key, setter, convert, member in _plans.get(cls) or _plan_of(cls):
            if key in members:
                value = members[key]
                setter(record, value if convert is None or value is None else convert(value))
            elif member.is_required:
                message = f"expected a member {key!r} of {cls.__name__}, found none"
                raise TypeError(message)
            else:
                setter(record, member.default_value())
        return record

    @classmethod
    def list_of(cls, items: list[Any]) -> tuple[Self, ...]:
        """Make records from a JSON array."""
        return tuple(map(cls.of, items))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object that is the same in every language."""
        items = ((key, member, getattr(self, member.name)) for key, _, _, member in _plan_of(type(self)))
        return {
            key: to_json_value(value)
            for key, member, value in items
            if member.name not in self._optional or (value not in (None, (), {}) and value is not member.default)
        }


_Step: TypeAlias = "tuple[str, Callable[[Any, Any], None], Callable[[Any], Any] | None, Member]"

_plans: dict[type[Record], list[_Step]] = {}
"""The JSON name, setter, converter and description of each member, by class: a report has many records of few
classes."""


def _plan_of(cls: type[Record]) -> list[_Step]:
    plan = _plans.get(cls)
    if plan is None:
        members: tuple[Member, ...] = cls._members  # type: ignore[attr-defined]
        plan = [(camel(member.name), member.setter, cls._converters.get(member.name), member) for member in members]
        _plans[cls] = plan
    return plan


class LazyRecord:
    """A result with members that are computed when they are first read. It compares and prints like a dataclass."""

    __slots__ = ()

    _names: ClassVar[tuple[str, ...]] = ()
    """Names of the members, in the order of the JSON object."""

    __setattr__ = refuse_setting
    __delattr__ = refuse_deleting

    def __repr__(self) -> str:
        """Show every member."""
        members = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._names)
        return f"{type(self).__name__}({members})"

    def __eq__(self, other: object) -> bool:
        """Return true if all members are equal."""
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._names)

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object that is the same in every language."""
        return {camel(name): to_json_value(getattr(self, name)) for name in self._names}


def set_members(result: LazyRecord, **members: object) -> None:
    """Set the members of a new result."""
    for name, value in members.items():
        object.__setattr__(result, name, value)
