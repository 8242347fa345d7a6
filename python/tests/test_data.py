"""Real tools, requests and Codex's own cases.

They come from the sample in this repository, and from the whole reference data if it is next to the checkout.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

import toolwire
from cases import snake
from exact import compact, exact
from reference import Source, sources

if TYPE_CHECKING:
    from collections.abc import Callable

reference = pytest.mark.parametrize("source", sources(), ids=lambda source: source.name)


def outcome(function: Any, value: object, options: dict[str, Any]) -> tuple[object, object]:
    """Return the result as exact JSON and the report, or the error."""
    try:
        answer = function(value, **options)
    except toolwire.ToolwireError as error:
        return "error", (error.code, error.pointer, error.message)
    if isinstance(answer, list):
        return answer, None
    name = "schema" if "schema" in answer else "request"
    result = answer.pop(name)
    return exact(result if isinstance(result, str) else compact(result)), answer


def called(name: str) -> Callable[..., Any]:
    """Return a function whose result is JSON."""

    def call(value: Any, **options: Any) -> Any:
        result = getattr(toolwire, name)(value, **options)
        return [one.to_dict() for one in result] if isinstance(result, tuple) else result.to_dict()

    return call


def agree(name: str, value: Any, options: dict[str, Any]) -> None:
    """Check that a function returns the same for a value and for its text, and does not change the value."""
    text = compact(value)
    on_value = outcome(called(name), value, options)
    on_text = outcome(called(name), text, options)
    assert on_value == on_text
    assert compact(value) == text


SCHEMA_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("normalize_envelope", {}),
    ("sanitize", {"dialect": "codex"}),
    ("sanitize", {"dialect": "codex-wire"}),
    ("check", {"dialect": "codex"}),
    ("check", {"dialect": "codex-wire"}),
]


@pytest.mark.parametrize(("name", "options"), SCHEMA_CALLS, ids=lambda part: str(part))
@reference
def test_every_real_tool_is_the_same_on_both_paths(source: Source, name: str, options: dict[str, Any]) -> None:
    tools = source.rows("mcp_tools.jsonl")
    assert len(tools) == source.count(whole=1547, sample=143)
    for tool in tools:
        agree(name, tool["inputSchema"], options)


@reference
def test_requests_of_real_tools_are_the_same_on_both_paths(source: Source) -> None:
    tools = source.rows("mcp_tools.jsonl")
    assert len(tools) == source.count(whole=1547, sample=143)
    for at in range(0, len(tools), 20):
        some = [
            {
                "name": f"tool_{index}",
                "description": tool.get("description", ""),
                "input_schema": tool["inputSchema"],
                **({"defer_loading": True} if index % 3 else {}),
            }
            for index, tool in enumerate(tools[at : at + 20], at)
        ]
        found = [{"type": "tool_reference", "tool_name": tool["name"]} for tool in some[1:4]]
        messages = [
            {"role": "user", "content": "find me a tool"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": some[0]["name"], "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": found}]},
        ]
        request = {"model": "some-model", "max_tokens": 1, "tools": some, "messages": messages}
        agree("apply_deferred_loading", request, {})
        agree("apply_deferred_loading", request, {"target": "openai-responses"})


@reference
def test_requests_that_real_apis_answered_are_the_same_on_both_paths(source: Source) -> None:
    requests = source.rows("deferred_requests.jsonl")
    assert len(requests) == source.count(whole=100, sample=36)
    for row in requests:
        agree("apply_deferred_loading", row["request"], {})


@reference
def test_deferred_cases_are_the_same_on_both_paths(source: Source) -> None:
    cases = source.rows("deferred_cases.json")
    assert len(cases) == source.count(whole=83, sample=23)
    for case in cases:
        agree("apply_deferred_loading", case["input"], {snake(name): value for name, value in case["options"].items()})


CODEX: dict[str, tuple[str, dict[str, Any]]] = {
    "parse_tool_input_schema": ("sanitize", {"dialect": "codex-wire"}),
    "parse_tool_input_schema_without_compaction": ("sanitize", {"dialect": "codex-wire", "max_bytes": None}),
    "normalize_raw_tool_input_schema": ("normalize_envelope", {}),
}
DEVIATIONS = {
    # A modelled keyword that is null is removed before it could count as a hint, for idempotence.
    "edge__any_of_null_value": {"type": "object", "properties": {"a": {}}},
    # `properties` of another type is repaired too, because APIs reject it.
    "envelope__properties_string_kept": {"type": "object", "properties": {}},
}


def codex_call(named: str) -> tuple[str, dict[str, Any]]:
    """Return the function and options for a function of Codex."""
    limit = re.fullmatch(r"parse_mcp_tool_with_schema_max_bytes\(max_bytes=(\d+)\)", named)
    if limit is None:
        return CODEX[named]
    return "sanitize", {"dialect": "codex-wire", "max_bytes": int(limit[1])}


@reference
def test_codex_cases_give_the_expected_results(source: Source) -> None:
    cases = source.rows("codex_cases.json")
    assert len(cases) == source.count(whole=92, sample=80)
    wrong = []
    for case in cases:
        name, options = codex_call(case["function"])
        agree(name, case["input"], options)
        expected = DEVIATIONS.get(case["name"], case["expected"])
        found = outcome(called(name), case["input"], options)
        if isinstance(expected, dict) and "$error" in expected:
            refused = found[0] == "error" and isinstance(found[1], tuple) and found[1][0] == "not-representable"
            wrong += [] if refused else [case["name"]]
        # Compared by value, because upstream sorts `properties`.
        elif found[0] == "error" or called(name)(case["input"], **options)["schema"] != expected:
            wrong.append(case["name"])
    assert wrong == []
