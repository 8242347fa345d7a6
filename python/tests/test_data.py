"""Real tools, requests and Codex's own cases, from the reference data beside the checkout where that is present."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import toolwire
from cases import snake
from exact import compact, exact

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"no reference data: expected ../shared/data beside the checkout ({DATA})"
)


def lines(name: str) -> list[Any]:
    """Read a file of JSON lines."""
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def outcome(function: Any, value: object, options: dict[str, Any]) -> tuple[object, object]:
    """Give the result as exact JSON and the report, or the error."""
    try:
        answer = function(value, **options)
    except toolwire.ToolwireError as error:
        return "error", (error.code, error.pointer, error.message)
    if isinstance(answer, list):
        return answer, None
    name = "schema" if "schema" in answer else "request"
    result = answer.pop(name)
    return exact(result if isinstance(result, str) else compact(result)), answer


def agree(name: str, value: Any, options: dict[str, Any]) -> None:
    """See that a function gives the same on the value and on its text, and leaves the value alone."""
    form = "" if name == "check" else "_with_report"
    text = compact(value)
    on_value = outcome(getattr(toolwire, name + form), value, options)
    on_text = outcome(getattr(toolwire, name + "_json" + form), text, options)
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
def test_every_real_tool_is_the_same_on_both_paths(name: str, options: dict[str, Any]) -> None:
    tools = lines("mcp_tools.jsonl")
    assert len(tools) == 1547
    for tool in tools:
        agree(name, tool["inputSchema"], options)


def test_requests_of_real_tools_are_the_same_on_both_paths() -> None:
    tools = lines("mcp_tools.jsonl")
    assert len(tools) == 1547
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


def test_requests_that_real_apis_answered_are_the_same_on_both_paths() -> None:
    requests = lines("deferred_requests.jsonl")
    assert len(requests) == 100
    for row in requests:
        agree("apply_deferred_loading", row["request"], {})


def test_deferred_cases_are_the_same_on_both_paths() -> None:
    cases = json.loads((DATA / "deferred_cases.json").read_text(encoding="utf-8"))
    assert len(cases) == 83
    for case in cases:
        agree("apply_deferred_loading", case["input"], {snake(name): value for name, value in case["options"].items()})


CODEX: dict[str, tuple[str, dict[str, Any]]] = {
    "parse_tool_input_schema": ("sanitize", {"dialect": "codex-wire"}),
    "parse_tool_input_schema_without_compaction": ("sanitize", {"dialect": "codex-wire", "max_bytes": None}),
    "normalize_raw_tool_input_schema": ("normalize_envelope", {}),
}
DEVIATIONS = {
    # A modelled keyword that is null is removed before it could count as a hint, for idempotence (spec/codex.md).
    "edge__any_of_null_value": {"type": "object", "properties": {"a": {}}},
    # `properties` of another kind is repaired too, because APIs reject it (spec/envelope.md, rule 4).
    "envelope__properties_string_kept": {"type": "object", "properties": {}},
}


def codex_call(named: str) -> tuple[str, dict[str, Any]]:
    """Translate the name of a function of Codex."""
    limit = re.fullmatch(r"parse_mcp_tool_with_schema_max_bytes\(max_bytes=(\d+)\)", named)
    if limit is None:
        return CODEX[named]
    return "sanitize", {"dialect": "codex-wire", "max_bytes": int(limit[1])}


def test_codex_cases() -> None:
    cases = json.loads((DATA / "codex_cases.json").read_text(encoding="utf-8"))
    assert len(cases) == 92
    wrong = []
    for case in cases:
        name, options = codex_call(case["function"])
        agree(name, case["input"], options)
        expected = DEVIATIONS.get(case["name"], case["expected"])
        found = outcome(getattr(toolwire, name + "_with_report"), case["input"], options)
        if isinstance(expected, dict) and "$error" in expected:
            refused = found[0] == "error" and isinstance(found[1], tuple) and found[1][0] == "not-representable"
            wrong += [] if refused else [case["name"]]
        # By value: upstream sorts `properties`.
        elif found[0] == "error" or getattr(toolwire, name)(case["input"], **options) != expected:
            wrong.append(case["name"])
    assert wrong == []
