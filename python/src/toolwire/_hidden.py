"""Removes secrets from text, even if their characters are escaped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Maximum depth of nested escapes: JSON in a string of JSON has the depth 2.
DEPTH = 4
# A character as escaped in JSON, in URLs and in HTML. A surrogate pair is one character.
ESCAPE = re.compile(
    r"""\\u(?P<high>d[89ab][\da-f]{2})\\u(?P<low>d[c-f][\da-f]{2})|\\u(?P<unit>[\da-f]{4})|\\(?P<letter>["'\\/bfnrt])"""
    r"""|(?P<bytes>(?:%[0-7]|%[cd][\da-f]%[89ab]|%e[\da-f]%[89ab][\da-f]%[89ab]|%f[0-7](?:%[89ab][\da-f]){2}%[89ab])[\da-f])"""
    r"""|&\#(?P<decimal>\d{1,7});|&\#x(?P<hexadecimal>[\da-f]{1,6});|&(?P<name>amp|lt|gt|quot|apos);""",
    re.IGNORECASE | re.ASCII,
)
CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


def hidden(text: str, secrets: Iterable[str], instead: str, start: int = 0) -> str:
    """Return the text with each secret replaced by `instead`. Overlapping secrets are replaced as one.

    The part before `start` is removed.
    """
    plain, places = _unescaped(text)
    spans: list[tuple[int, int]] = []
    for secret in secrets:
        spans.extend(_found(text, secret))
        spans.extend((places[first], places[last]) for first, last in _found(plain, _unescaped(secret)[0]))
    shown: list[str] = []
    done = 0
    for first, last in sorted(spans):
        if first >= done:
            shown.append(text[max(done, start) : max(first, start)])
            shown.append(instead if last > start else "")
        done = max(done, last)
    return "".join(shown) + text[max(done, start) :]


def _found(text: str, secret: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each occurrence of a secret in the text."""
    at = text.find(secret) if secret else -1
    while at >= 0:
        yield at, at + len(secret)
        at = text.find(secret, at + len(secret))


def _unescaped(text: str) -> tuple[str, range | list[int]]:
    """Return the text without escapes, and the original position of each of its characters and of its end."""
    places: range | list[int] = range(len(text) + 1)
    for _ in range(DEPTH):
        pieces: list[str] = []
        kept: list[int] = []
        done = 0
        for match in ESCAPE.finditer(text):
            character = _meant(match)
            pieces += (text[done : match.start()], character)
            kept += places[done : match.start()]
            kept += [places[match.start()]] * len(character)
            done = match.end()
        if not done:
            break
        text, places = "".join(pieces) + text[done:], kept + list(places[done:])
    return text, places


def _meant(match: re.Match[str]) -> str:
    """Return the character that an escape denotes."""
    found = match.groupdict()
    if found["high"]:
        return chr(0x10000 + ((int(found["high"], 16) & 0x3FF) << 10) + (int(found["low"], 16) & 0x3FF))
    if found["unit"]:
        return chr(int(found["unit"], 16))
    if found["letter"]:
        return CONTROLS.get(found["letter"], found["letter"])
    if found["bytes"]:
        return bytes.fromhex(found["bytes"].replace("%", "")).decode("utf-8", "replace")
    if found["name"]:
        return ENTITIES[found["name"].lower()]
    point = int(found["decimal"] or found["hexadecimal"], 10 if found["decimal"] else 16)
    return chr(point) if point < 0x110000 else "\ufffd"
