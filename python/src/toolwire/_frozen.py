"""Immutable lists and dicts, for values that are returned to more than one caller.

They are subclasses of `list` and `dict`, so that `json.dumps`, pydantic and the SDKs accept them. Copies are plain
lists and dicts.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

SCALARS = (str, int, float, type(None))


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    kind = "list" if isinstance(self, list) else "dict"
    message = f"expected no change to a shared value of a ToolSet: change a copy ({kind}(…))"
    raise TypeError(message)


class FrozenList(list[Any]):
    """A list that refuses changes."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __copy__(self) -> list[Any]:
        return list(self)

    def __deepcopy__(self, _: object) -> list[Any]:
        return copy_json(list(self))

    def __reduce_ex__(self, _: object) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return list, (tuple(self),)


class FrozenDict(dict[str, Any]):
    """A dict that refuses changes."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __deepcopy__(self, _: object) -> dict[str, Any]:
        return copy_json(dict(self))

    def __reduce_ex__(self, _: object) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return dict, (tuple(self.items()),)


def freeze(value: Any) -> Any:
    """Make an immutable copy of a value that was read from JSON."""
    return _rebuild(value, FrozenList, FrozenDict)


def copy_json(value: Any) -> Any:
    """Copy a JSON value into plain lists and dicts; other objects in it are copied by `deepcopy`."""
    return _rebuild(value, list, dict)


def _rebuild(value: Any, to_list: type[list[Any]], to_dict: type[dict[str, Any]]) -> Any:
    """Rebuild all lists and dicts, without recursion, because they may be deeply nested."""

    def empty_like(value: Any) -> Any:
        if isinstance(value, dict):
            return to_dict()
        if isinstance(value, list | tuple):
            return to_list()
        return value if isinstance(value, SCALARS) else copy.deepcopy(value)

    root = empty_like(value)
    pending = [(value, root)]
    while pending:
        source, target = pending.pop()
        # Calls the base class's methods, which do not refuse changes.
        if isinstance(target, dict):
            for key, value in source.items():
                dict.__setitem__(target, key, child := empty_like(value))
                pending.append((value, child))
        elif isinstance(target, list):
            for value in source:
                list.append(target, child := empty_like(value))
                pending.append((value, child))
    return root
