"""What type checkers see. Each ignored error must be one: mypy complains about comments that ignore nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import pytest

import toolwire

if TYPE_CHECKING:
    from typing_extensions import assert_type

    from toolwire.types import (
        Change,
        ChangeRule,
        DeferralChoice,
        Deferred,
        DialectChoice,
        RestorePlan,
        Rewritten,
        SanitizedTools,
        Validation,
        Violation,
    )

    assert_type(toolwire.sanitize({}, dialect="codex"), Rewritten[Any])
    assert_type(toolwire.sanitize("", dialect="codex"), Rewritten[str])
    assert_type(toolwire.sanitize(b"", dialect="codex-wire", max_bytes=None, share=True).schema, bytes)
    assert_type(toolwire.sanitize(bytearray(), dialect="codex").schema, bytes)
    assert_type(toolwire.normalize_envelope(b""), Rewritten[bytes])
    assert_type(toolwire.sanitize("", dialect="codex").changes, tuple[Change, ...])
    assert_type(toolwire.sanitize({}, dialect="codex").changes[0].rule, ChangeRule)
    assert_type(toolwire.sanitize_tools("", dialect="codex").tools, str)
    assert_type(toolwire.sanitize_tools([], dialect="codex"), SanitizedTools[list[Any]])
    assert_type(toolwire.ToolSet([]).sanitize(dialect="codex").json, str)
    plan = toolwire.sanitize({}, dialect="codex").restore_plan
    assert_type(plan, RestorePlan)
    assert_type(toolwire.restore_arguments({}, plan), Any)
    assert_type(toolwire.restore_arguments({}, {}, dialect="codex"), Any)
    assert_type(toolwire.restore_arguments_json("", plan), str)
    assert_type(toolwire.restore_arguments_json(b"", "{}"), bytes)
    assert_type(toolwire.restore_arguments_json(b"", "{}", dialect="codex"), bytes)
    assert_type(toolwire.apply_deferred_loading_with_report({}, loaded_tools=["a"], target="openai-chat"), Deferred)
    assert_type(toolwire.applyDeferredLoading({}), Any)
    assert_type(toolwire.check(memoryview(b""), dialect="codex"), tuple[Violation, ...])
    assert_type(toolwire.validate_arguments({}, {}), Validation)
    assert_type(toolwire.validate_arguments_json(b"{}", "{}"), Validation)
    assert_type(toolwire.search_tools([], "mail", limit=3, mode="regex"), list[str])
    assert_type(toolwire.search_tools_json(b"[]", "mail"), list[str])
    assert_type(toolwire.answer_tool_search_json("", b"", tool_search_name="find"), str | None)
    assert_type(toolwire.answer_tool_search_json(b"", ""), bytes | None)
    assert_type(toolwire.ToolIndex.from_json("[]"), toolwire.ToolIndex)
    assert_type(toolwire.ToolIndex([]).search("mail"), list[str])
    assert_type(toolwire.dialects()[0]["facts"][0]["source"], str)
    assert_type(toolwire.dialect_for_with_report(host="api.x.ai", exact=True), DialectChoice)
    choice = toolwire.deferral_for(host="api.moonshot.ai", model="kimi-k3", api="openai-chat")
    assert_type(choice, DeferralChoice)
    assert_type(toolwire.apply_deferred_loading({}, target=choice["target"], native=choice["native"]), Any)

    toolwire.sanitize({})  # type: ignore[call-overload]
    toolwire.sanitize({}, dialect="codecs")  # type: ignore[call-overload]
    toolwire.sanitize({}, dialect="codex", maxBytes=1)  # type: ignore[call-overload]
    toolwire.restore_arguments({}, {"type": "object"})  # type: ignore[call-overload]
    toolwire.restore_arguments_json("", {}, dialect="codex")  # type: ignore[call-overload]
    toolwire.deferral_for(host="api.x.ai", strict=True)  # type: ignore[call-arg]
    toolwire.check({}, dialect="codex", share=True)  # type: ignore[call-arg]
    toolwire.apply_deferred_loading({}, mode="sieve")  # type: ignore[arg-type]
    toolwire.search_tools([], 7)  # type: ignore[arg-type]
    toolwire.search_tools([], "mail", mode="fuzzy")  # type: ignore[arg-type]
    toolwire.ToolIndex([]).search("mail", top=3)  # type: ignore[call-arg]
    toolwire.sanitize({}, dialect="codex").changes = ()  # type: ignore[misc]
    toolwire.sanitize({}, dialect="codex").changes[0].rule = "add-type"  # type: ignore[misc]


def test_the_named_dialects_are_those_there_are() -> None:
    assert list(get_args(toolwire.types.DialectName)) == [dialect["name"] for dialect in toolwire.dialects()]


def test_results_have_the_members_that_their_types_name() -> None:
    dialect = toolwire.dialects()[0]
    assert dialect.keys() == toolwire.types.Dialect.__annotations__.keys()
    assert dialect["facts"][0].keys() == toolwire.types.Fact.__annotations__.keys()

    rewritten = toolwire.sanitize({"const": 1}, dialect="codex")
    assert list(rewritten.to_dict()) == ["schema", "changes", "lossless", "restorePlan"]
    assert "outputPointer" in rewritten.to_dict()["changes"][0]
    assert repr(rewritten).startswith(
        "Rewritten(schema={'type': 'string', 'enum': [1]}, changes=(Change(pointer='/const', output_pointer="
    )

    choice = toolwire.deferral_for(host="api.anthropic.com")
    assert choice.keys() == toolwire.types.DeferralChoice.__annotations__.keys()

    found = toolwire.check({"type": "array", "items": []}, dialect="codex-wire")
    assert list(found[0].to_dict()) == ["constraint", "severity", "pointer", "message"]

    refused = toolwire.validate_arguments([], {})
    assert refused.keys() == toolwire.types.Validation.__annotations__.keys()
    assert refused["errors"][0].keys() == toolwire.types.ArgumentViolation.__annotations__.keys()

    request = {"messages": [], "tools": [{"name": "a", "input_schema": {}, "defer_loading": True}]}
    deferred = toolwire.apply_deferred_loading_with_report(request)
    assert deferred.keys() == toolwire.types.Deferred.__annotations__.keys()
    sometimes = {"nameMap", "betas", "toolSearchName"}
    assert deferred["report"].keys() == toolwire.types.DeferredReport.__annotations__.keys() - sometimes


def test_hints_can_be_read_at_run_time() -> None:
    if not hasattr(__import__("typing"), "NotRequired"):
        pytest.skip("Python 3.10 has no `NotRequired`")
    for name in ("SanitizeOptions", "DeferredOptions", "SearchOptions", "Change", "DeferredReport", "Dialect"):
        assert get_type_hints(getattr(toolwire.types, name))
