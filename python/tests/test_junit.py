"""The output of `check --format junit` in the cases of tests/command, parsed by a JUnit reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from junitparser import Error, Failure, JUnitXml, TestSuite

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "command"


def cases() -> list[Any]:
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        if path.name != "count.json":
            for case in json.loads(path.read_text("utf-8")):
                if "junit" in case["arguments"]:
                    found.append(pytest.param(case, id=case["name"]))
    return found


@pytest.mark.parametrize("case", cases())
def test_junit_is_read(case: dict[str, Any]) -> None:
    read = JUnitXml.fromstring("\n".join(case["stdout"]).encode())
    counts = (read.tests, read.failures, read.errors)
    tests = failures = errors = 0
    for suite in read:
        assert isinstance(suite, TestSuite)
        for one in suite:
            tests += 1
            failures += any(isinstance(result, Failure) for result in one.result)
            errors += any(isinstance(result, Error) for result in one.result)
    assert counts == (tests, failures, errors)
    assert case["exitCode"] == (2 if errors else 1 if failures else 0)


def test_there_are_cases() -> None:
    assert len(cases()) > 2
