"""Comparison of our pattern engine with Python's: a tool search by pattern finds the same as `re.search`."""

import random
import re
import warnings

import toolwire

PARTS = [
    r"a",
    r"b",
    r"é",
    r"ſ",  # noqa: RUF001
    r"K",
    r"0",
    r"_",
    r"-",
    r".",
    r"\d",
    r"\D",
    r"\w",
    r"\W",
    r"\s",
    r"\S",
    r"\b",
    r"\B",
    r"\n",
    r"\t",
    r"\0",
    r"\x41",
    r"\u00e9",
    r"\U0001F432",
    r"\-",
    r"\/",
    r"\.",
    r"\\",
    r"\[",
    r"\<",
    r"\A",
    r"\Z",
    r"^",
    r"$",
    r"|",
    r"(",
    r"(?:",
    r"(?P<n>",
    r")",
    r"[",
    r"[^",
    r"]",
    r"[a-z]",
    r"[^\w]",
    r"[\w-]",
    r"[\s\d]",
    r"[]a]",
    r"[^]a]",
    r"[[]",
    r"[a&&b]",
    r"*",
    r"+",
    r"?",
    r"??",
    r"*?",
    r"*+",
    r"{2}",
    r"{0,2}",
    r"{1,}",
    r"{,2}",
    r"{,}",
    r"{",
    r"}",
    r"(?=",
    r"(?!",
    r"\1",
    r"\p{L}",
    r"\z",
    r"(?i)",
    r"(?s)",
    r"(?m)",
    r"(?i:",
    r"(?-i:",
    r"(?#x)",
    r"&",
    r"#",
]
TEXTS = ["a", "é", "🐲", "ab 0", "_-.", "a\n", "a\nb", "ABC É", "K ſ S", "}{[](", "\x00\t", "٣", "\x1f"]  # noqa: RUF001


def flaw(pattern: str) -> str | None:
    """Return the error of a search with a pattern, if there is one."""
    try:
        toolwire.search_tools([{"name": "a", "description": "a"}], pattern, mode="regex")
    except toolwire.ToolwireError as error:
        return str(error)
    return None


def test_patterns_follow_python() -> None:
    chance = random.Random(2026)
    judged = 0
    for _ in range(4000):
        pattern = "".join(chance.choices(PARTS, k=chance.randint(1, 8)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                theirs = re.compile(pattern)
            except re.error:
                assert "regular expression" in (flaw(pattern) or ""), pattern
                continue
        refused = flaw(pattern)
        if refused is not None:
            # Features that no linear-time engine has, and octal escapes.
            assert re.search(r"\(\?[=!]|[*+?}]\+|\\[01]\d?|flags", pattern + refused), (pattern, refused)
            continue
        for text in TEXTS:
            ours = toolwire.search_tools([{"name": "%", "description": text}], pattern, mode="regex")
            found = theirs.search(text) or theirs.search("%")
            assert (ours == ["%"]) == bool(found), (pattern, text)
            judged += 1
    assert judged > 5000, judged
