"""Every shared case on every path of this package, with the general checks (tests/fixtures/README.md)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pytest

import toolwire
from cases import (
    CASES,
    EXPECTED_COUNTS,
    FITTING,
    FUNCTIONS,
    HEADER,
    JUDGING,
    LISTS,
    PAIRS,
    RAN,
    REFUSED,
    RUNS,
    Case,
    as_raised,
    shown_violation,
    statement,
)
from exact import compact, containers, exact, same

if TYPE_CHECKING:
    from collections.abc import Callable

Path: TypeAlias = Literal["object", "str", "bytes", "index", "index from str", "index from bytes"]
PATHS: tuple[Path, ...] = ("object", "str", "bytes")
INDEXES: tuple[Path, ...] = ("index", "index from str", "index from bytes")
"""The paths through a `ToolIndex`, for functions that search."""

RUN = [
    (case, path)
    for case in CASES
    if case.function not in LISTS and case.function != "restoreArguments"
    for path in (PATHS + INDEXES if case.function in PAIRS else PATHS[:1] if case.function == HEADER else PATHS)
    if case.has_value or path != "object"
]
BY_PLAN = [
    (case, path)
    for case in CASES
    if case.function == "restoreArguments"
    for path in PATHS
    if case.has_value or path != "object"
]
RESULTS = {"sanitize": "schema", "normalizeEnvelope": "schema", "applyDeferredLoading": "request"}
RESULT = "result"
CHANGE = ("pointer", "outputPointer", "rule", "accepts", "guidance", "encoded")


def source(case: Case, path: Path) -> Any:
    """Return the input in the form for a path, as a new object."""
    if path == "object":
        return case.value()
    return case.text() if path == "str" else case.text().encode()


def run(case: Case, path: Path, value: object, **more: object) -> Any:
    """Call the function, and return its answer, or the members of its result."""
    options = {**case.options, **more}
    RUNS[path] += 1
    result = case.call()(value, *schema(case, path), **options)
    if case.function == "check":
        return [violation.to_dict() for violation in result]
    if case.function in JUDGING:
        assert result == case.call()(value, compact(case.members["schema"]))
        return result.to_dict()
    if case.function not in RESULTS:
        return {RESULT: result}
    # Read after a change of the input: the report must be that of the original input.
    spoiled = spoil(value)
    answer = result.to_dict()
    spoiled()
    assert result == case.call()(value, **options)
    # The object itself, which `to_dict` need not return.
    name = RESULTS[case.function]
    return {**answer, name: getattr(result, name)}


def spoil(value: Any) -> Callable[[], None]:
    """Change a container; the returned function restores it."""
    if isinstance(value, dict):
        kept = dict(value)
        value.clear()

        def mend() -> None:
            value.update(kept)

        return mend
    return lambda: None


def schema(case: Case, path: Path) -> tuple[Any, ...]:
    """Return the case's second input, if it has one, in the form for a path."""
    if "schema" not in case.members:
        return ()
    text = compact(case.members["schema"])
    return (json.loads(text) if path == "object" else text if path == "str" else text.encode(),)


def result_name(case: Case) -> str:
    """Return the name of the rewritten value among the members of the result."""
    return RESULTS.get(case.function, RESULT)


def show(path: Path, value: Any) -> Any:
    """Make the results of different paths comparable."""
    return exact(compact(value) if path == "object" else value)


@pytest.mark.parametrize(("case", "path"), RUN, ids=[f"{case}[{path}]" for case, path in RUN])
def test_case(case: Case, path: Path) -> None:
    RAN[case.function] += path == "str" or case.function == HEADER  # the only path on which every case runs
    if case.function == HEADER:
        RUNS[path] += 1
        assert case.call()(case.value(), **case.options) == json.loads(case.expected_text())
    elif case.function in PAIRS:
        searches(case, path)
    elif case.error is not None:
        fails(case, path)
    elif case.function == "check":
        finds(case, path)
    elif case.function in JUDGING:
        validates(case, path)
    elif case.function == FITTING:
        fits(case, path)
    else:
        gives(case, path)


@pytest.mark.parametrize(("case", "path"), BY_PLAN, ids=[f"{case}[{path}]" for case, path in BY_PLAN])
def test_by_plan(case: Case, path: Path) -> None:
    """The plan, stored as JSON, restores the same as the schema; some cases only have a plan."""
    RAN[case.function] += path == "str"
    RUNS[f"{path} by plan"] += 1
    value = source(case, path)
    error = case.members.get(REFUSED, case.error)
    if error is not None:
        with pytest.raises(toolwire.ToolwireError) as caught:
            by_plan(case, path, value)
        assert {"code": caught.value.code, "pointer": caught.value.pointer} == as_raised(error)
        assert caught.value.message
        return
    result = by_plan(case, path, value)
    assert show(path, result) == exact(case.expected_text())
    if path == "object":
        assert same(value, source(case, path)), "the input was changed"
        mine = {id(container) for container in containers(value)}
        assert not [container for container in containers(result) if id(container) in mine], "shares a container"
    elif show(path, result) == show(path, value):
        assert result is value, "not the same text object"
    elif case.expects_bytes:
        assert result == (case.expected_text() if path == "str" else case.expected_text().encode())


def by_plan(case: Case, path: Path, value: Any) -> Any:
    """Restore by the plan of the case, or by the plan from sanitizing its schema."""
    if "plan" in case.members:
        kept = compact(case.members["plan"])
    else:
        kept = json.dumps(toolwire.sanitize(*schema(case, path), **case.options).restore_plan)
    # The plan is passed as a value, as text, and as bytes.
    first, *others = [toolwire.restore_arguments(value, plan) for plan in (json.loads(kept), kept, kept.encode())]
    assert all(type(other) is type(first) and show(path, other) == show(path, first) for other in others)
    return first


def fails(case: Case, path: Path) -> None:
    RUNS[path] += 1
    with pytest.raises(toolwire.ToolwireError) as caught:
        case.call()(source(case, path), *schema(case, path), **case.options)
    assert {"code": caught.value.code, "pointer": caught.value.pointer} == as_raised(case.error)
    assert caught.value.message
    if "changes" in case.members:
        compare_changes(case, [change.to_dict() for change in caught.value.changes])


def searches(case: Case, path: Path) -> None:
    value = case.value()
    # A string is text rather than a value.
    if path not in ("str", "bytes") and any(
        isinstance(value[name], str) for name in ("call", "tools") if name in value
    ):
        return
    RUNS[path] += 1
    if case.error is not None:
        with pytest.raises(toolwire.ToolwireError) as caught:
            search(case, path, value)
        assert {"code": caught.value.code, "pointer": caught.value.pointer} == as_raised(case.error)
        assert caught.value.message
        return
    result = search(case, path, value)
    on_text = case.function == "answerToolSearch" and path in ("str", "bytes") and result is not None
    if on_text:
        assert type(result) is (str if path == "str" else bytes)
    assert exact(result if on_text else compact(result)) == exact(case.expected_text())
    assert same(value, case.value()), "the input was changed"


def search(case: Case, path: Path, value: dict[str, Any]) -> Any:
    """Call a function with two inputs. The query is the same on all paths."""
    first, second = (value[name] for name in PAIRS[case.function])
    if path == "object":
        return case.call()(first, second, **case.options)
    if path in ("str", "bytes"):
        texts = [
            member if name == "query" else as_text(member, path)
            for name, member in zip(PAIRS[case.function], (first, second), strict=True)
        ]
        return case.call()(*texts, **case.options)
    tools = value["tools"]
    index = toolwire.ToolIndex(tools) if path == "index" else toolwire.ToolIndex(as_text(tools, path))
    ask = index.search if case.function == "searchTools" else index.answer
    wanted = value["query"] if case.function == "searchTools" else value["call"]
    result = ask(wanted, **case.options)
    assert ask(wanted, **case.options) == result, "a search does not change the index"
    return result


def as_text(value: object, path: Path) -> str | bytes:
    """Return a value as text of the type for a path."""
    return compact(value).encode() if path.endswith("bytes") else compact(value)


def finds(case: Case, path: Path) -> None:
    found = run(case, path, source(case, path))
    assert all(violation["message"] for violation in found)
    shown = [shown_violation(violation, ("constraint", "pointer")) for violation in found]
    assert shown == json.loads(case.expected_text())


def validates(case: Case, path: Path) -> None:
    value = source(case, path)
    found = run(case, path, value)
    assert list(found) == ["valid", "errors"]
    assert all(error["message"].startswith("expected ") for error in found["errors"])
    shown = [{name: error[name] for name in error if name != "message"} for error in found["errors"]]
    assert {"valid": found["valid"], "errors": shown} == json.loads(case.expected_text())
    assert value == source(case, path), "the input was changed"


def fits(case: Case, path: Path) -> None:
    value = source(case, path)
    RUNS[path] += 1
    fitted = case.call()(value, *schema(case, path), **case.options)
    assert fitted == case.call()(value, compact(case.members["schema"]), **case.options)
    result, report = fitted.result, fitted.to_dict()
    assert show(path, result) == exact(case.expected_text())
    if path != "object" and case.expects_bytes:
        assert result == (case.expected_text() if path == "str" else case.expected_text().encode())
    assert report["changed"] == bool(report["changes"])
    assert all(one["message"] for one in report["changes"] + report["errors"])
    shown = {
        name: [{key: one[key] for key in one if key != "message"} for one in report[name]]
        for name in ("changes", "errors")
    }
    assert {"valid": report["valid"], **shown} == case.members["report"]
    again = case.call()(result, *schema(case, path), **case.options).result
    assert show(path, again) == show(path, result), "not idempotent"
    if path == "object":
        assert same(value, source(case, path)), "the input was changed"
        mine = {id(container) for container in containers(value)}
        assert not [container for container in containers(result) if id(container) in mine], "shares a container"
    else:
        assert (result is value) == (not fitted.changed), "not the same text object"


def gives(case: Case, path: Path) -> None:
    value = source(case, path)
    answer = run(case, path, value)
    result = answer[result_name(case)]

    assert show(path, result) == exact(case.expected_text())
    if path != "object" and case.expects_bytes:
        assert result == (case.expected_text() if path == "str" else case.expected_text().encode())
    if "changes" in case.members:
        compare_changes(case, answer["changes"])
    if "lossless" in case.members:
        assert answer["lossless"] is case.members["lossless"]
    if "report" in case.members:
        compare_report(case, answer["report"])

    # The general checks.
    # Restored arguments are not valid input again.
    if case.function != "restoreArguments":
        again = run(case, path, result)[result_name(case)]
        assert show(path, again) == show(path, result), "not idempotent"
    unchanged = show(path, result) == show(path, value)
    if path == "object":
        assert same(value, source(case, path)), "the input was changed"
        if not case.options.get("share"):
            mine = {id(container) for container in containers(value)}
            assert not [container for container in containers(result) if id(container) in mine], "shares a container"
        assert {type(container) for container in containers(result)} <= {dict, list}
        shared = run(case, path, value, share=True)[result_name(case)]
        assert show(path, shared) == show(path, result)
        assert (shared is value) == unchanged or not containers(value), "`share` returns what is unchanged"
    elif unchanged:
        assert result is value, "not the same text object"
    if "changes" in answer:
        assert (answer["changes"] == []) == unchanged, "the reported changes do not match the result"
    # `codex` emulates one step of Codex: a schema for which Codex drops the tool passes through it, and `check` reports
    # it.
    if case.function == "sanitize" and case.options["dialect"] != "codex":
        left = [one for one in toolwire.check(result, **case.options) if one.severity != "ignored"]
        assert not left, "the dialect does not accept the output as intended"


def compare_changes(case: Case, changes: list[Any]) -> None:
    assert all(change.keys() == {*CHANGE, "reason", "message"} for change in changes)
    assert all(change["message"] for change in changes)
    found = [{**{name: change[name] for name in CHANGE}, "reason": statement(change["reason"])} for change in changes]
    assert found == [{"encoded": False, **change} for change in case.members["changes"]]


def compare_report(case: Case, report: dict[str, Any]) -> None:
    expected = case.members["report"]
    assert {"loaded", "hidden", "warnings"} <= expected.keys()
    assert {name: report.get(name) for name in expected} == expected


def test_every_case_ran(request: pytest.FixtureRequest) -> None:
    here = [
        item for item in request.session.items if getattr(item, "originalname", "") in ("test_case", "test_by_plan")
    ]
    if len(here) < len(RUN) + len(BY_PLAN):
        pytest.skip(f"only {len(here)} of {len(RUN) + len(BY_PLAN)} fixture runs were selected")
    expected = {**dict.fromkeys(FUNCTIONS, 0), **EXPECTED_COUNTS}
    here_run = [name for name in FUNCTIONS if name not in LISTS]
    assert {name: RAN[name] for name in here_run} == {name: expected[name] for name in here_run}
