"""Python's own engine judges ours: what a tool search by pattern finds is what `re.search` finds."""

import random
import re
import warnings

import pytest

import toolwire

PARTS = r"""a b é ſ K 0 _ - . \d \D \w \W \s \S \b \B \n \t \0 \x41 \u00e9 \U0001F432 \- \/ \. \\ \[ \< \A \Z ^ $ | ( (?: (?P<n>
) [ [^ ] [a-z] [^\w] [\w-] [\s\d] []a] [^]a] [[] [a&&b] * + ? ?? *? *+ {2} {0,2} {1,} {,2} {,} { } (?= (?! \1 \p{L} \z
(?i) (?s) (?m) (?i: (?-i: (?#x) & # """.split()
TEXTS = ["a", "é", "🐲", "ab 0", "_-.", "a\n", "a\nb", "ABC É", "K ſ S", "}{[](", "\x00\t", "٣", "\x1f"]  # noqa: RUF001


def test_patterns_mean_what_python_says() -> None:
    chance = random.Random(2026)  # noqa: S311
    judged = 0
    for _ in range(4000):
        pattern = "".join(chance.choices(PARTS, k=chance.randint(1, 8)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                theirs = re.compile(pattern)
            except re.error:
                with pytest.raises(toolwire.ToolwireError, match="regular expression"):
                    toolwire.search_tools([{"name": "a", "description": "a"}], pattern, mode="regex")
                continue
        for text in TEXTS:
            try:
                ours = toolwire.search_tools([{"name": "%", "description": text}], pattern, mode="regex")
            except toolwire.ToolwireError as error:
                assert error.code == "invalid-pattern"
                # What no engine of this kind has, and numbers of characters in octal.
                assert re.search(r"\(\?[=!]|[*+?}]\+|\\[01]\d?|look|flags", pattern + str(error)), (pattern, str(error))
                break
            found = theirs.search(text) or theirs.search("%")
            assert (ours == ["%"]) == bool(found), (pattern, text)
            judged += 1
    assert judged > 5000, judged
