"""JSON compared exactly: key order, duplicate keys, `1` against `1.0` against `true`, and how a number is spelled.

Python's own `==` sees none of that, so everything is compared as what `exact` makes of its text. Nothing here recurses:
the inputs are as deep as the limit allows, and so is a comparison of nested lists.
"""

from __future__ import annotations

import json
from typing import Any


class Members(tuple[tuple[str, Any], ...]):
    """The members of an object, in order and with their duplicates."""

    __slots__ = ()


class Number(str):
    """A number as it is spelled."""

    __slots__ = ()


class Token(str):
    """What stands between the values of a text."""

    __slots__ = ()


def exact(text: str | bytes) -> list[tuple[str, object]]:
    """Read JSON text into a flat list that tells apart all that JSON text can."""
    pending: list[object] = [json.loads(text, object_pairs_hook=Members, parse_int=Number, parse_float=Number)]
    tokens: list[tuple[str, object]] = []
    while pending:
        value = pending.pop()
        if isinstance(value, Members):
            tokens.append(("open", "object"))
            pending.append(Token("end"))
            for key, member in reversed(value):
                pending += [member, Token(f"key {key}")]
        elif isinstance(value, list):
            tokens.append(("open", "array"))
            pending += [Token("end"), *reversed(value)]
        else:
            tokens.append((type(value).__name__, value))
    return tokens


def compact(value: object) -> str:
    """Write a value as compact JSON, escaping only what must be: half a surrogate pair has no other spelling."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text


def same(one: object, two: object) -> bool:
    """Tell whether two Python values are the same JSON, exactly."""
    return exact(compact(one)) == exact(compact(two))


def containers(value: object) -> list[object]:
    """List every dict, list and tuple in a value, itself included."""
    found: list[object] = []
    pending = [value]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            found.append(value)
            pending += value.values()
        elif isinstance(value, (list, tuple)):
            found.append(value)
            pending += value
    return found
