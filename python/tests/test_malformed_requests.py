"""Malformed requests (tests/malformed-requests): any JSON value in a request, as an option, a tool list or a call."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import toolwire
from cases import snake

if TYPE_CHECKING:
    from collections.abc import Callable

PATH = Path(__file__).resolve().parents[2] / "tests" / "malformed-requests" / "requests.json"
INPUTS = json.loads(PATH.read_text(encoding="utf-8"))
CALL = {"type": "tool_use", "id": "t", "name": "tool_search", "input": {"query": "a d"}}


def written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def outcome(run: Callable[[], Any]) -> Any:
    """Return the result of a call, or its error as a tuple."""
    try:
        return run()
    except toolwire.ToolwireError as error:
        assert error.message  # noqa: PT017
        return (error.code, error.pointer, error.message)


def disturbed(request: Any, place: str, value: Any) -> Any:
    """Return the request with a different value at a place."""
    if not place:
        return copy.deepcopy(value)
    node = changed = copy.deepcopy(request)
    *steps, last = [int(step) if step.isdigit() else step for step in place[1:].split("/")]
    for step in steps:
        node = node[step]
    node[last] = copy.deepcopy(value)
    return changed


def test_malformed_values_anywhere_in_a_request_agree_on_both_paths() -> None:
    accepted = refused = 0
    sets: list[Any] = [{snake(name): value for name, value in options.items()} for options in INPUTS["options"]]
    for row in INPUTS["requests"]:
        for place in row["places"]:
            for value in INPUTS["values"]:
                request = disturbed(row["request"], place, value)
                if isinstance(request, str):
                    continue  # a string is text rather than a value
                text = written(request)
                for options in sets:
                    given = outcome(lambda: written(toolwire.apply_deferred_loading(request, **options).request))  # noqa: B023
                    same = outcome(lambda: toolwire.apply_deferred_loading(text, **options).request)  # noqa: B023
                    assert same == given, (text, options)
                    if isinstance(given, str):
                        accepted += 1
                        assert toolwire.apply_deferred_loading(given, **options).request == given, (text, options)
                    else:
                        refused += 1
                assert written(request) == text, "the input was changed"
    assert accepted > 20_000
    assert refused > 1_000


def test_malformed_option_is_accepted_or_named_in_the_error() -> None:
    for name in INPUTS["optionNames"]:
        for value in INPUTS["values"]:
            options: Any = {snake(name): value}
            given = outcome(lambda: toolwire.apply_deferred_loading({"messages": []}, **options).request)  # noqa: B023
            if isinstance(given, tuple):
                assert given[0] in ("invalid-option", "unknown-option", "invalid-request"), given
                assert given[0] == "invalid-request" or given[1].startswith(f"/{snake(name)}"), given


def test_malformed_tool_lists_and_calls_are_searched_or_refused() -> None:
    for value in INPUTS["values"]:
        for tools in (value, [value], {"tools": value}, {"tools": [value, value]}):
            found = outcome(lambda: toolwire.search_tools(tools, "a d"))  # noqa: B023
            assert outcome(lambda: toolwire.ToolIndex(tools).search("a d")) == found  # noqa: B023
            answered = outcome(lambda: toolwire.answer_tool_search(CALL, tools))  # noqa: B023
            if isinstance(found, tuple):
                assert answered == found
            else:
                assert toolwire.ToolIndex(tools).answer(CALL) == answered
        outcome(lambda: toolwire.answer_tool_search(value, []))  # noqa: B023
