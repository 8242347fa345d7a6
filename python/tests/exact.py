"""Exact comparison of JSON: key order, duplicate keys, `1` against `1.0` against `true`, and the spelling of numbers.

Python's own `==` ignores these differences, so everything is compared in the form that `exact` returns. No function
here recurses: the inputs are as deep as the limit allows, and comparing nested lists would recurse, too.
"""

from __future__ import annotations

import json
from typing import Any


class Members(tuple[tuple[str, Any], ...]):
    """The members of an object, in order and with duplicates."""

    __slots__ = ()


class Number(str):
    """A number in its original spelling."""

    __slots__ = ()


class Token(str):
    """The text between values."""

    __slots__ = ()


def exact(text: str | bytes) -> list[tuple[str, object]]:
    """Convert JSON text to a flat list that preserves all differences between JSON texts."""
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
    """Return a value as compact JSON with minimal escaping: only a lone surrogate has no other spelling."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text


def same(one: object, two: object) -> bool:
    """Return whether two Python values are exactly the same JSON."""
    return exact(compact(one)) == exact(compact(two))


def containers(value: object) -> list[object]:
    """Return every dict, list and tuple in a value, including the value itself."""
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
