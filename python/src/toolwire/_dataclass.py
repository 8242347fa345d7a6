"""Frozen dataclasses with slots, without an import of `dataclasses`.

The module `dataclasses` imports `inspect`, and compiles the methods of each class: for our 34 classes, this took half
of the time of `import toolwire`. The classes of this module share their methods. The attributes that
`dataclasses.fields`, `replace` and `asdict` read are made when they are first read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_T = TypeVar("_T")


class Default:
    """A default that is made for each object, as by `dataclasses.field`."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


class Member:
    """A member of a dataclass."""

    __slots__ = ("default", "is_required", "keyword", "name", "setter")

    def __init__(self, name: str, setter: Callable[[Any, Any], None], keyword: bool, default: Any) -> None:
        self.name, self.setter, self.keyword = name, setter, keyword
        self.is_required, self.default = default is _REQUIRED, default

    def default_value(self) -> Any:
        """Return the default."""
        return self.default.make() if isinstance(self.default, Default) else self.default


_REQUIRED: Any = object()


def field(*, default_factory: Callable[[], Any]) -> Any:
    """Return a default that is made for each object."""
    return Default(default_factory)


def dataclass(*, frozen: bool, slots: bool, kw_only: bool = False) -> Callable[[type[_T]], type[_T]]:
    """Return the decorator that `dataclasses` returns for these arguments, which must be true except for `kw_only`."""
    assert frozen
    assert slots
    return lambda cls: _build(cls, kw_only)


def _build(cls: type[_T], kw_only: bool) -> type[_T]:
    annotations = cls.__annotations__
    names = [name for name, kind in annotations.items() if not kind.startswith("ClassVar")]
    namespace = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
    defaults = {name: namespace.pop(name) for name in names if name in namespace}
    namespace |= {"__annotations__": annotations, "__slots__": tuple(names), **_METHODS, "_kw_only": kw_only}
    namespace["__match_args__"] = () if kw_only else tuple(names)
    for name, method in _REPLACEABLE.items():
        namespace.setdefault(name, method)
    metaclass: Any = type(cls)
    rebuilt = metaclass(cls.__name__, cls.__bases__, namespace)
    rebuilt._members = tuple(
        Member(name, rebuilt.__dict__[name].__set__, kw_only, defaults.get(name, _REQUIRED)) for name in names
    )
    return rebuilt


def _init(self: Any, *positional: Any, **named: Any) -> None:
    """Set every member."""
    cls = type(self)
    members: tuple[Member, ...] = cls._members
    if positional and (cls._kw_only or len(positional) > len(members)):
        count = 0 if cls._kw_only else len(members)
        message = f"{cls.__name__}() takes {count} positional arguments, {len(positional)} were given"
        raise TypeError(message)
    for member, value in zip(members, positional):  # noqa: B905 - there may be fewer values
        member.setter(self, value)
    for member in members[len(positional) :]:
        if member.name in named:
            member.setter(self, named.pop(member.name))
        elif member.is_required:
            message = f"{cls.__name__}() misses the required argument {member.name!r}"
            raise TypeError(message)
        else:
            member.setter(self, member.default_value())
    if named:
        message = f"{cls.__name__}() got an unexpected or repeated argument {next(iter(named))!r}"
        raise TypeError(message)


def _values(self: Any) -> Iterator[Any]:
    return (getattr(self, member.name) for member in type(self)._members)


def _repr(self: Any) -> str:
    members = ", ".join(f"{member.name}={getattr(self, member.name)!r}" for member in type(self)._members)
    return f"{type(self).__qualname__}({members})"


def _eq(self: Any, other: object) -> bool:
    members: tuple[Member, ...] = self._members
    if type(other) is not type(self):
        return NotImplemented
    return all(getattr(self, member.name) == getattr(other, member.name) for member in members)


def _hash(self: Any) -> int:
    return hash(tuple(_values(self)))


def refuse_setting(_self: object, name: str, _value: object) -> NoReturn:
    """Refuse, because the object is immutable."""
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def refuse_deleting(_self: object, name: str) -> NoReturn:
    """Refuse, because the object is immutable."""
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _replace(self: Any, /, **changes: Any) -> Any:
    """Return a copy with other values, as `copy.replace` does."""
    return type(self)(**{member.name: getattr(self, member.name) for member in type(self)._members} | changes)


def _reduce(self: Any) -> tuple[Any, ...]:
    return _unpickle, (type(self), tuple(_values(self)))


def _unpickle(cls: Any, values: tuple[Any, ...]) -> Any:
    record = cls.__new__(cls)
    for member, value in zip(cls._members, values, strict=True):
        member.setter(record, value)
    return record


class _StandardAttribute:
    """An attribute that `dataclasses` or `inspect` reads. `dataclasses` makes it from the members of the class."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, _instance: object, cls: Any) -> Any:
        import dataclasses
        import inspect

        members = []
        for member in cls._members:
            has_factory = isinstance(member.default, Default)
            default: dict[str, Any] = (
                {"default_factory": member.default.make} if has_factory else {"default": member.default}
            )
            standard_field: Any = dataclasses.field(**({} if member.is_required else default))
            members.append((member.name, cls.__annotations__[member.name], standard_field))
        equivalent: Any = dataclasses.make_dataclass(
            cls.__name__, members, frozen=True, slots=True, kw_only=cls._kw_only
        )
        attributes = {
            "__dataclass_fields__": equivalent.__dataclass_fields__,
            "__dataclass_params__": equivalent.__dataclass_params__,
            "__signature__": inspect.signature(equivalent),
        }
        for name, value in attributes.items():
            setattr(cls, name, value)
        return attributes[self._name]


_METHODS: dict[str, Any] = {
    "__setattr__": refuse_setting,
    "__delattr__": refuse_deleting,
    "__replace__": _replace,
    "__reduce__": _reduce,
    **{name: _StandardAttribute(name) for name in ("__dataclass_fields__", "__dataclass_params__", "__signature__")},
}
_REPLACEABLE: dict[str, Any] = {"__init__": _init, "__repr__": _repr, "__eq__": _eq, "__hash__": _hash}
