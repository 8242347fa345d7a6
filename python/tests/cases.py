"""The fixture cases that all languages share (described in tests/fixtures/README.md)."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import toolwire
from exact import compact

FIXTURES = Path(__file__).resolve().parents[2] / "tests" / "fixtures"

JUDGING = ("validateArguments", "validateResult")
"""The functions that validate a value against a schema or a tool."""

FITTING = "fitResult"
"""The function that changes a result of a tool."""

FUNCTIONS = (
    "sanitize",
    "normalizeEnvelope",
    "applyDeferredLoading",
    "check",
    "restoreArguments",
    "validateArguments",
    "validateResult",
    "fitResult",
    "sanitizeTools",
    "checkTools",
    "checkRequest",
    "adaptRequest",
    "dialectFor",
    "deferralFor",
    "searchTools",
    "answerToolSearch",
    "stripDeferralBetas",
)
PAIRS = {"searchTools": ("tools", "query"), "answerToolSearch": ("call", "tools")}
"""The functions with two inputs, which are members of the one `input` of a case."""
LOOKUPS = ("dialectFor", "deferralFor")
"""The functions whose query is in their options: they have no input, and therefore only one path."""
LISTS = ("sanitizeTools", "checkTools", "checkRequest", "adaptRequest", *LOOKUPS)
"""The functions on whole lists and requests, and the lookups; test_lists.py runs their cases."""
STRINGS = ("stripDeferralBetas", "repairArguments")
"""The functions that accept any string as a value."""
HEADER = "stripDeferralBetas"
"""The function on an HTTP header, which is not JSON: it has one path, and no options."""
REPAIRS = "repairArguments"
"""The function whose cases test_repair.py runs."""
ELSEWHERE = ("ranking", REPAIRS)
"""Directories whose cases are run elsewhere; core/tests/it/search.rs measures the ranking with the first one."""
WAY_BACK = {"calls", "replies", "streams", "clientCalls", "callStreams", "contents"}
"""Members with restored calls and replies."""
MEMBERS = {"name", "why", "source", "options", "changes", "lossless", "report"} | WAY_BACK
SECONDS = ("schema", "plan")
"""The second input of `restoreArguments`, `validateArguments`, and of `validateResult` and `fitResult` (a tool)."""
REFUSED = "refused"
"""The error of `sanitize` if it refuses the schema, so there is no plan."""
INPUTS = ("input", "inputText", "inputParts")
OUTPUTS = ("expected", "expectedText", "expectedParts", "error")

RAN: Counter[str] = Counter()
"""Number of cases that ran, by function; a case counts once, even if it has several paths."""
RUNS: Counter[str] = Counter()
"""Number of runs, by path."""


def statement(reason: str) -> str:
    """Return the statement of a reason, without confidence and source."""
    return reason.split(" (confidence ", 1)[0]


def spelled(options: Any) -> Any:
    """Convert the names of options to snake_case, including those in nested options."""
    return {snake(name): spelled(value) for name, value in options.items()} if isinstance(options, dict) else options


def as_raised(error: dict[str, str] | None) -> dict[str, str] | None:
    """Convert a pointer into the options to Python's spelling, because options are keyword arguments."""
    if error is None or error["code"] not in ("invalid-option", "unknown-option"):
        return error
    return {**error, "pointer": snake(error["pointer"])}


def snake(name: str) -> str:
    """Convert a camelCase name to snake_case."""
    return re.sub("([A-Z])", lambda match: "_" + match[1].lower(), name)


@dataclass(frozen=True)
class Case:
    """One case of one function."""

    function: str
    topic: str
    members: dict[str, Any]

    def __str__(self) -> str:
        """Return the name for test reports."""
        return f"{self.function}/{self.topic}/{self.members['name']}"

    @property
    def options(self) -> dict[str, Any]:
        """The options as keyword arguments."""
        options: dict[str, Any] = spelled(self.members.get("options", {}))
        return options

    @property
    def has_value(self) -> bool:
        """Return whether the input is a value, which every path accepts, rather than only text; a string is text."""
        given = self.members.get("input")
        return "input" in self.members and (not isinstance(given, str) or self.function in STRINGS)

    def value(self) -> Any:
        """Return the input as a new Python value."""
        return json.loads(json.dumps(self.members["input"]))

    def text(self) -> str:
        """Return the input as text."""
        return compact(self.members["input"]) if "input" in self.members else self._joined("input")

    @property
    def error(self) -> dict[str, str] | None:
        """The expected error, if there is one."""
        error: dict[str, str] | None = self.members.get("error")
        return error

    def expected_text(self) -> str:
        """Return the expected output as text."""
        return compact(self.members["expected"]) if "expected" in self.members else self._joined("expected")

    @property
    def expects_bytes(self) -> bool:
        """True if the output must match the expected text byte for byte."""
        return "expected" not in self.members

    def _joined(self, which: str) -> str:
        if f"{which}Text" in self.members:
            return str(self.members[f"{which}Text"])
        return "".join(part * times for part, times in self.members[f"{which}Parts"])

    def call(self) -> Any:
        """Return the public function."""
        return getattr(toolwire, snake(self.function))


def load() -> list[Case]:
    """Read all cases, and refuse members that the README does not describe."""
    cases = []
    for folder in sorted(path for path in FIXTURES.iterdir() if path.is_dir() and path.name not in ELSEWHERE):
        assert folder.name in FUNCTIONS, f"expected one of {FUNCTIONS}, found a folder `{folder.name}`"
        names: set[str] = set()
        for path in sorted(folder.rglob("*.json")):
            for members in json.loads(path.read_text(encoding="utf-8")):
                at = f"{path.name}: {members.get('name')}"
                unknown = members.keys() - MEMBERS - set(INPUTS) - set(OUTPUTS) - set(SECONDS) - {REFUSED}
                assert not unknown, f"{at} has unknown members {unknown}"
                assert members["why"], f"{at} has no `why`"
                assert sum(name in members for name in INPUTS) == 1, f"{at} needs exactly one of {INPUTS}"
                assert sum(name in members for name in OUTPUTS) == 1, f"{at} needs exactly one of {OUTPUTS}"
                seconds = sum(name in members for name in SECONDS)
                takes_second = folder.name in ("restoreArguments", FITTING, *JUDGING)
                assert seconds == takes_second, f"{at} needs exactly one of {SECONDS}"
                assert not ("plan" in members and "options" in members), f"{at}: a plan does not accept options"
                assert REFUSED not in members or "schema" in members, f"{at}: only a schema can be refused"
                if pair := PAIRS.get(folder.name):
                    assert set(members["input"]) == set(pair), f"{at} needs {pair} in `input`"
                assert members["name"] not in names, f"{at} occurs twice"
                names.add(members["name"])
                cases.append(Case(folder.name, path.stem, members))
    return cases


def shown_violation(violation: dict[str, Any], members: tuple[str, ...]) -> dict[str, Any]:
    """Return the members of a violation that cases contain: its severity only if it is not `refused`."""
    shown = {name: violation[name] for name in members if name != "server" or violation.get(name) is not None}
    if violation["severity"] != "refused":
        shown["severity"] = violation["severity"]
    if violation.get("more"):
        shown["more"] = violation["more"]
    return shown


CASES = load()
EXPECTED_COUNTS: dict[str, int] = json.loads((FIXTURES / "count.json").read_text(encoding="utf-8"))
