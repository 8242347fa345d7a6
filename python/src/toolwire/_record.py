"""Base classes of results: frozen records that convert from and to JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping  # noqa: TC003 - needed when hints are evaluated at run time
from dataclasses import FrozenInstanceError, fields
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

if TYPE_CHECKING:
    from typing_extensions import Self


def camel(name: str) -> str:
    """Return the JSON name of an attribute: `output_pointer` becomes `outputPointer`, `from_` becomes `from`."""
    first, *others = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in others)


def plain(value: Any) -> Any:
    """Convert the records and tuples in a value to dicts and lists."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value.to_dict() if hasattr(value, "to_dict") else value


class Record:
    """Base class of dataclasses that convert from and to a JSON object."""

    __slots__ = ()

    _made: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}
    """Converters from JSON, for members that are not JSON values themselves."""

    _optional: ClassVar[frozenset[str]] = frozenset()
    """Members that are omitted from JSON if they are `None`, empty or their default."""

    @classmethod
    def of(cls, members: Mapping[str, Any]) -> Self:
        """Make a record from a JSON object."""
        made = cls._made
        given: dict[str, Any] = {}
        for field in fields(cls):  # type: ignore[arg-type]
            name = field.name
            key = camel(name)
            if key in members:
                value = members[key]
                given[name] = made[name](value) if name in made and value is not None else value
        return cls(**given)

    @classmethod
    def list_of(cls, items: list[Any]) -> tuple[Self, ...]:
        """Make records from a JSON array."""
        return tuple(map(cls.of, items))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object that is the same in every language."""
        items = ((field, getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]
        return {
            camel(field.name): plain(value)
            for field, value in items
            if field.name not in self._optional or (value not in (None, (), {}) and value is not field.default)
        }


class Late:
    """A result with members that are computed when they are first read. It compares and prints like a dataclass."""

    __slots__ = ()

    _names: ClassVar[tuple[str, ...]] = ()
    """Names of the members, in the order of the JSON object."""

    def __setattr__(self, name: str, _: object) -> NoReturn:
        """Refuse: results are immutable."""
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        """Refuse: results are immutable."""
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __repr__(self) -> str:
        """Show every member."""
        members = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._names)
        return f"{type(self).__name__}({members})"

    def __eq__(self, other: object) -> bool:
        """Return whether all members are equal."""
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._names)

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object that is the same in every language."""
        return {camel(name): plain(getattr(self, name)) for name in self._names}


def initialized(result: Late, **members: object) -> None:
    """Set the members of a new result."""
    for name, value in members.items():
        object.__setattr__(result, name, value)
