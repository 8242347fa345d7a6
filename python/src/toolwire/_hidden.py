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


def hide_secrets(text: str, secrets: Iterable[str], replacement: str, start: int = 0) -> str:
    """Return the text with each secret replaced by `replacement`. Overlapping secrets are replaced as one.

    The part before `start` is removed.
    """
    plain, positions = _unescape(text)
    spans: list[tuple[int, int]] = []
    for secret in secrets:
        spans.extend(_occurrences(text, secret))
        spans.extend((positions[first], positions[last]) for first, last in _occurrences(plain, _unescape(secret)[0]))
    pieces: list[str] = []
    end = 0
    for first, last in sorted(spans):
        if first >= end:
            pieces.append(text[max(end, start) : max(first, start)])
            pieces.append(replacement if last > start else "")
        end = max(end, last)
    return "".join(pieces) + text[max(end, start) :]


def _occurrences(text: str, secret: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each occurrence of a secret in the text."""
    at = text.find(secret) if secret else -1
    while at >= 0:
        yield at, at + len(secret)
        at = text.find(secret, at + len(secret))


def _unescape(text: str) -> tuple[str, range | list[int]]:
    """Return the text without escapes, and the original position of each of its characters and of its end."""
    positions: range | list[int] = range(len(text) + 1)
    for _ in range(DEPTH):
        pieces: list[str] = []
        new_positions: list[int] = []
        end = 0
        for match in ESCAPE.finditer(text):
            character = _character(match)
            pieces += (text[end : match.start()], character)
            new_positions += positions[end : match.start()]
            new_positions += [positions[match.start()]] * len(character)
            end = match.end()
        if not end:
            break
        text, positions = "".join(pieces) + text[end:], new_positions + list(positions[end:])
    return text, positions


def _character(match: re.Match[str]) -> str:
    """Return the character that an escape denotes."""
    groups = match.groupdict()
    if groups["high"]:
        return chr(0x10000 + ((int(groups["high"], 16) & 0x3FF) << 10) + (int(groups["low"], 16) & 0x3FF))
    if groups["unit"]:
        return chr(int(groups["unit"], 16))
    if groups["letter"]:
        return CONTROLS.get(groups["letter"], groups["letter"])
    if groups["bytes"]:
        return bytes.fromhex(groups["bytes"].replace("%", "")).decode("utf-8", "replace")
    if groups["name"]:
        return ENTITIES[groups["name"].lower()]
    point = int(groups["decimal"] or groups["hexadecimal"], 10 if groups["decimal"] else 16)
    return chr(point) if point < 0x110000 else "\ufffd"
