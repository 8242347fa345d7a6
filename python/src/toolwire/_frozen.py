"""Lists and dicts that stay what they are: what is handed out more than once.

They are lists and dicts to whoever reads them, and so to `json.dumps`, pydantic and the SDKs. Copies are plain ones.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    kind = "list" if isinstance(self, list) else "dict"
    message = f"expected no change of what a ToolSet hands out, which others hold too: change a copy ({kind}(…))"
    raise TypeError(message)


class FrozenList(list[Any]):
    """A list that refuses changes."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __copy__(self) -> list[Any]:
        return list(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return [copy.deepcopy(item, memo) for item in self]

    def __reduce_ex__(self, _: object) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return list, (tuple(self),)


class FrozenDict(dict[str, Any]):
    """A dict that refuses changes."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return {key: copy.deepcopy(value, memo) for key, value in self.items()}

    def __reduce_ex__(self, _: object) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return dict, (tuple(self.items()),)


def frozen(value: Any) -> Any:
    """Freeze a value that was read from JSON; without recursion, because it may be deep."""
    root = _empty_like(value)
    rest = [(value, root)]
    while rest:
        source, target = rest.pop()
        # Filled as what they are below, whose methods do not refuse.
        if isinstance(target, FrozenDict):
            for key, value in source.items():
                dict.__setitem__(target, key, inner := _empty_like(value))
                rest.append((value, inner))
        elif isinstance(target, FrozenList):
            for value in source:
                list.append(target, inner := _empty_like(value))
                rest.append((value, inner))
    return root


def _empty_like(value: Any) -> Any:
    if isinstance(value, dict):
        return FrozenDict()
    return FrozenList() if isinstance(value, list) else value
