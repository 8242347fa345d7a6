"""JSON objects as models write them: generated values, and text in the notations that `repair_arguments` reads.

The text is the same on every machine, and is stored with its original value.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STRINGS = (
    "src/main.rs",
    "a, b: {c} [d]",
    "it's",
    'say "hi"',
    "http://a.b/c#d",
    "line\nbreak\tand tab",
    "C:\\Dev\\Main",
    "# no // comment /* here */",
    "“quoted”",
    "```js```",
    "True, None",
    "Grüße 😀",
    "null",
    "",
    " x ",
)
NAMES = ("path", "line", "$ref", "a-b", "two words", "it's", "Größe", "_x1", "true", "1st", "a:b")
NUMBERS = ("0", "-1", "42", "2.5", "1.50", "1e3", "-0.25E-2", "9007199254740993")
QUOTED = re.compile(r'[{\[,:]\s*"')
PLAIN_NAME = re.compile(r"[A-Za-z_$][\w$-]*", re.ASCII)


class Numbers:
    """Pseudorandom numbers that are the same on every machine."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, limit: int) -> int:
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % limit

    def of(self, values: Any) -> Any:
        return values[self.below(len(values))]


@dataclass
class Number:
    """A number with its spelling."""

    spelling: str


@dataclass
class Spoiled:
    """Text with its notations and its original value. `is_meant` is false if the text may have a different meaning."""

    text: str
    notations: tuple[str, ...]
    value: Any
    is_meant: bool


def generated(numbers: Numbers, depth: int = 0) -> Any:
    """Generate a value; at the root, it is an object."""
    kind = 0 if depth == 0 else numbers.below(10)
    if kind == 0 and depth < 3:
        names = {numbers.of(NAMES) for _ in range(1 + numbers.below(3))}
        return {name: generated(numbers, depth + 1) for name in sorted(names)}
    if kind == 1 and depth < 3:
        return [generated(numbers, depth + 1) for _ in range(numbers.below(4))]
    if kind < 5:
        return Number(numbers.of(NUMBERS))
    return numbers.of((True, False, None)) if kind == 5 else numbers.of(STRINGS)


@dataclass
class Writer:
    """Writes a value in some notations, at pseudorandom places."""

    numbers: Numbers
    uses: tuple[str, ...]
    literals: dict[Any, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.literals = {True: "true", False: "false", None: "null"}
        if "python-literal" in self.uses:
            self.literals = {True: "True", False: "False", None: "None"}
        if "undefined" in self.uses:
            self.literals[None] = "undefined"

    def does(self, notation: str) -> bool:
        return notation in self.uses and self.numbers.below(2) == 0

    def gap(self) -> str:
        """Return whitespace and comments before a token."""
        return self.numbers.of(("", "", " ", "\n  ")) + self.mark()

    def mark(self) -> str:
        """Return a comment between tokens, if comments are used."""
        blank = ""
        if self.does("comment"):
            blank += self.numbers.of((" /* one, two: {3} */ ", " // it's\n", ' # "four"\n'))
        if self.does("byte-order-mark"):
            blank += self.numbers.of(("\ufeff", "\u00a0"))
        if self.does("escaped-line-break"):
            blank += "\\n"
        return blank

    def string(self, text: str) -> str:
        written = json.dumps(text, ensure_ascii=False)[1:-1]
        if "control-character" in self.uses:
            written = written.replace("\\n", "\n").replace("\\t", "\t")
        if "invalid-escape" in self.uses:
            written = written.replace("\\\\", "\\")
        if "bare-quote" in self.uses:
            written = written.replace('\\"', '"')
        if "smart-quotes" in self.uses:
            return "“" + written.replace('\\"', '"') + "”"
        if self.does("single-quotes"):
            return "'" + written.replace('\\"', '"').replace("'", "\\'") + "'"
        if self.does("bare-apostrophe"):
            return f"'{written}'"
        if "escaped-apostrophe" in self.uses:
            written = written.replace("'", "\\'")
        return f'"{written}"'

    def name(self, text: str) -> str:
        if "unquoted-key" in self.uses and PLAIN_NAME.fullmatch(text):
            return text
        return self.string(text)

    def comma(self) -> str:
        if "missing-comma" in self.uses and self.numbers.below(2) == 0:
            return "\n"
        return ",," if self.does("two-commas") else ","

    def items(self, written: list[str], brackets: str) -> str:
        text = "".join((self.comma() if at else "") + self.gap() + one + self.mark() for at, one in enumerate(written))
        if written and self.does("extra-comma"):
            text = f",{text}" if self.numbers.below(4) == 0 else f"{text},"
        if self.does("ellipsis"):
            text += ", ..."
        return brackets[0] + text + (self.gap() if written else "") + brackets[1]

    def value(self, value: Any) -> str:
        if isinstance(value, Number):
            return value.spelling
        if isinstance(value, list):
            return self.items([self.value(item) for item in value], "[]")
        if isinstance(value, dict):
            members = (
                self.name(name) + self.mark() + ":" + self.gap() + self.value(inner) for name, inner in value.items()
            )
            return self.items(list(members), "{}")
        if isinstance(value, str):
            if "bare-word" in self.uses and value.isidentifier() and value != "null":
                return value
            return self.string(value)
        return self.literals[value]


def _misnested(text: str, numbers: Numbers) -> str:
    """Remove a bracket from the last run of brackets, or replace it with one of a different kind."""
    body = text.rstrip("]}")
    run = text[len(body) :]
    at = numbers.below(len(run))
    other = {"]": "}", "}": "]"}[run[at]]
    return body + run[:at] + numbers.of(("", other)) + run[at + 1 :]


def _struck(text: str, numbers: Numbers) -> str:
    """Delete a character, or repeat it."""
    at = numbers.below(len(text))
    return text[:at] + numbers.of(("", text[at] * 2)) + text[at + 1 :]


# Notations that concern the text as a whole.
WHOLE: dict[str, Callable[[str, Numbers], str]] = {
    "fence": lambda text, numbers: numbers.of(
        (f"```json\n{text}\n```", f"```\n{text}\n```", f"```json5\n{text}", f"```{text}```")
    ),
    "surrounding-text": lambda text, numbers: numbers.of(
        (
            f"Sure: {text}",
            f"{text}\n</invoke>",
            f"Calling it.\n{text}\nDone.",
            f"Here:\n```json\n{text}\n```\nIt's done.",
        )
    ),
    "comma-behind": lambda text, _: f"{text},",
    "extra-bracket": lambda text, numbers: text + numbers.of(("}", "]", "}}]")),
    "misnested-bracket": _misnested,
    "repeated-value": lambda text, numbers: text + numbers.of(("", "\n", " ")) + text,
    "empty-value": lambda text, numbers: numbers.of((f"{{}}{text}", f"{text}\n{{}}")),
    "escaped-text": lambda text, _: json.dumps(text, ensure_ascii=False)[1:-1],
    "json-string": lambda text, _: json.dumps(text, ensure_ascii=False),
    "two-values": lambda text, _: text + '{"other":1}',
    "cut-off": lambda text, numbers: text[: 1 + numbers.below(len(text) - 1)],
    "struck": _struck,
}
INSIDE = (
    "single-quotes",
    "smart-quotes",
    "escaped-apostrophe",
    "unquoted-key",
    "python-literal",
    "undefined",
    "comment",
    "byte-order-mark",
    "control-character",
    "invalid-escape",
    "extra-comma",
    "missing-comma",
    "escaped-line-break",
    "bare-apostrophe",
    "bare-quote",
    "bare-word",
    "two-commas",
    "ellipsis",
)
# Notations after which the text may have a different meaning.
UNMEANT = {"struck", "cut-off", "two-values"}


def spoiled(count: int, seed: int) -> Iterator[Spoiled]:
    """Generate texts with up to three notations inside and up to one of the whole text."""
    numbers = Numbers(seed)
    whole = (*WHOLE, *[None] * len(WHOLE))
    for _ in range(count):
        value = generated(numbers)
        around = numbers.of(whole)
        inside = tuple({numbers.of(INSIDE): None for _ in range(0 if around in UNMEANT else numbers.below(4))})
        written = Writer(numbers, inside).value(value)
        text = written if around is None else WHOLE[around](written, numbers)
        notations = (*inside, *([around] if around else []))
        # Without quotes around a string, escaped text cannot be distinguished from a string with backslashes.
        is_meant = around not in UNMEANT and not (around == "escaped-text" and not QUOTED.search(written))
        yield Spoiled(text, notations, plain(value), is_meant)


def plain(value: Any) -> Any:
    """Convert the numbers to Python numbers."""
    if isinstance(value, Number):
        return json.loads(value.spelling)
    if isinstance(value, list):
        return [plain(item) for item in value]
    return {name: plain(inner) for name, inner in value.items()} if isinstance(value, dict) else value
