"""The shared fixtures of `repair_arguments`, as values and as text, with and without a report."""

from __future__ import annotations

import json
from typing import Any

import pytest

import toolwire
from cases import EXPECTED_COUNTS, FIXTURES, REPAIRS, as_raised, spelled
from exact import compact

CASES = [case for path in sorted((FIXTURES / REPAIRS).glob("*.json")) for case in json.loads(path.read_text("utf-8"))]
FORMS = ("object", "str", "bytes")
RUN = [
    (case, form)
    for case in CASES
    for form in FORMS
    # A string is text rather than a value.
    if form != "object" or not isinstance(case.get("inputText", case.get("input")), str)
]


@pytest.mark.parametrize(("case", "form"), RUN, ids=[f"{case['name']}[{form}]" for case, form in RUN])
def test_case(case: dict[str, Any], form: str) -> None:
    options = spelled(case.get("options", {}))
    value = case.get("inputText", case.get("input"))
    text = case.get("inputText", compact(case.get("input")))
    schema = case["schema"] if form == "object" else json.dumps(case["schema"])
    given: Any = {"object": value, "str": text, "bytes": text.encode()}[form]
    if "error" in case:
        with pytest.raises(toolwire.ToolwireError) as caught:
            toolwire.repair_arguments(given, schema, **options)
        assert {"code": caught.value.code, "pointer": caught.value.pointer} == as_raised(case["error"])
        reason = case.get("report", {}).get("reason")
        assert reason is None or f"({reason}, at byte " in str(caught.value)
        return
    answer = toolwire.repair_arguments(given, schema, **options)
    report = answer.to_dict()
    assert list(report) == ["arguments", "changed", "valid", "repairs", "left", "retryMessage"]
    # If the arguments are text, the schema may be text or a value.
    assert toolwire.repair_arguments(given, case["schema"], **options) == answer
    found = answer.arguments
    if form == "object":
        expected = json.loads(case["expectedText"]) if "expectedText" in case else case["expected"]
        assert found == expected
        assert answer.changed == (compact(found) != compact(given))
        assert given == case.get("inputText", case.get("input")), "the input was changed"
    else:
        assert type(found) is type(given)
        shown = found if form == "str" else found.decode()
        if "expectedText" in case:
            assert shown == case["expectedText"]
        else:
            assert compact(json.loads(shown)) == compact(case["expected"])
        assert answer.changed == (found != given)
        assert answer.changed or found is given
    judge(case["report"], report)


def judge(expected: dict[str, Any], answer: dict[str, Any]) -> None:
    assert all(repair["message"].startswith("found ") for repair in answer["repairs"])
    assert all(left["message"].startswith("expected ") for left in answer["left"])
    report = {
        name: [{key: one[key] for key in one if key != "message"} for one in answer[name]]
        for name in ("repairs", "left")
    }
    retry = {"retryMessage": answer["retryMessage"]} if "retryMessage" in expected else {}
    assert {"valid": answer["valid"], **report, **retry} == {"repairs": [], "left": [], **expected}
    assert (answer["retryMessage"] is None) == (answer["left"] == [])


def test_number_of_cases_matches_count_json() -> None:
    assert len(CASES) == EXPECTED_COUNTS[REPAIRS]
