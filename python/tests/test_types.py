"""The types that type checkers see. mypy reports `ignore` comments without an error, so each of them is needed."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import pytest

import toolwire

if TYPE_CHECKING:
    from typing_extensions import assert_type

    from toolwire.types import (
        Adapted,
        Change,
        ChangeRule,
        DeferralChoice,
        Deferred,
        DialectChoice,
        Repaired,
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
    assert_type(toolwire.restore_arguments("", plan), str)
    assert_type(toolwire.restore_arguments(b"", "{}"), bytes)
    assert_type(toolwire.apply_deferred_loading({}, loaded_tools=["a"], target="openai-chat"), Deferred[Any])
    assert_type(toolwire.applyDeferredLoading("").request, str)
    assert_type(toolwire.adapt_request(b"", dialect="codex"), Adapted[bytes])
    assert_type(toolwire.check(memoryview(b""), dialect="codex"), tuple[Violation, ...])
    assert_type(toolwire.validate_arguments({}, "{}"), Validation)
    assert_type(toolwire.repair_arguments("", {}), Repaired[str])
    assert_type(toolwire.search_tools([], "mail", limit=3, mode="regex"), list[str])
    assert_type(toolwire.answer_tool_search("", b"", tool_search_name="find"), str | None)
    assert_type(toolwire.answer_tool_search(b"", []), bytes | None)
    assert_type(toolwire.ToolIndex("[]").search("mail"), list[str])
    assert_type(toolwire.dialects()[0].facts[0].source, str)
    assert_type(toolwire.dialect_for(host="api.x.ai", exact=True), DialectChoice)
    assert_type(toolwire.Restore.from_json("{}").call("a", "{}").arguments, str)
    assert_type(toolwire.Restore.from_json("{}").reply(b"{}").reply, bytes)
    choice = toolwire.deferral_for(host="api.moonshot.ai", model="kimi-k3", api="openai-chat")
    assert_type(choice, DeferralChoice)
    assert_type(toolwire.apply_deferred_loading({}, target=choice.target, native=choice.native), Deferred[Any])

    toolwire.sanitize({})  # type: ignore[call-overload]
    toolwire.sanitize({}, dialect="codecs")  # type: ignore[call-overload]
    toolwire.sanitize({}, dialect="codex", maxBytes=1)  # type: ignore[call-overload]
    toolwire.restore_arguments({}, {"type": "object"})  # type: ignore[call-overload]
    toolwire.deferral_for(host="api.x.ai", strict=True)  # type: ignore[call-arg]
    toolwire.check({}, dialect="codex", share=True)  # type: ignore[call-arg]
    toolwire.apply_deferred_loading({}, mode="sieve")  # type: ignore[call-overload]
    toolwire.search_tools([], 7)  # type: ignore[arg-type]
    toolwire.search_tools([], "mail", mode="fuzzy")  # type: ignore[arg-type]
    toolwire.ToolIndex([]).search("mail", top=3)  # type: ignore[call-arg]
    toolwire.sanitize({}, dialect="codex").changes = ()  # type: ignore[misc]
    toolwire.sanitize({}, dialect="codex").changes[0].rule = "add-type"  # type: ignore[misc]


def test_dialect_names_are_complete() -> None:
    assert list(get_args(toolwire.types.DialectName)) == [dialect.name for dialect in toolwire.dialects()]


def test_results_have_the_members_that_their_types_name() -> None:
    dialect = toolwire.dialects()[0].to_dict()
    assert {"name", "asOf", "facts"} <= dialect.keys()
    assert list(dialect["facts"][0]) == ["statement", "confidence", "source", "rules", "severity", "checked"]

    rewritten = toolwire.sanitize({"const": 1}, dialect="codex")
    assert list(rewritten.to_dict()) == ["schema", "changes", "lossless", "restorePlan"]
    assert "outputPointer" in rewritten.to_dict()["changes"][0]
    assert repr(rewritten).startswith(
        "Rewritten(schema={'type': 'string', 'enum': [1]}, changes=(Change(pointer='/const', output_pointer="
    )

    found = toolwire.check({"type": "array", "items": []}, dialect="codex-wire")
    assert list(found[0].to_dict()) == ["constraint", "severity", "pointer", "message"]

    refused = toolwire.validate_arguments([], {}).to_dict()
    assert list(refused) == ["valid", "errors"]
    assert list(refused["errors"][0]) == ["pointer", "schemaPointer", "keyword", "message"]

    request = {"messages": [], "tools": [{"name": "a", "input_schema": {}, "defer_loading": True}]}
    deferred = toolwire.apply_deferred_loading(request)
    assert list(deferred.to_dict()) == ["request", "report", "restore"]
    assert list(deferred.report.to_dict()) == ["loaded", "hidden", "warnings", "unreachable", "savedBytes"]
    for result in (deferred, toolwire.adapt_request(request, dialect="anthropic")):
        assert pickle.loads(pickle.dumps(result)) == result
        assert copy.deepcopy(result) == result
    repaired = toolwire.repair_arguments({"a": "1"}, {"properties": {"a": {"type": "integer"}}})
    assert repaired.repairs[0].from_ == "string"
    assert repaired.to_dict()["repairs"][0]["from"] == "string"


def test_type_hints_can_be_read_at_run_time() -> None:
    if not hasattr(__import__("typing"), "NotRequired"):
        pytest.skip("Python 3.10 has no `NotRequired`")
    for name in ("SanitizeOptions", "DeferredOptions", "SearchOptions", "Change", "DeferredReport", "Dialect"):
        assert get_type_hints(getattr(toolwire.types, name))
