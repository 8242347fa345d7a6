"""The shared cases of the functions on whole lists and requests, on every path (tests/fixtures/README.md)."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pytest

import toolwire
from cases import CASES, EXPECTED_COUNTS, LISTS, LOOKUPS, Case, as_raised, shown_violation, statement
from exact import compact, containers, exact, same

if TYPE_CHECKING:
    from collections.abc import Iterable

# The cases read `tools` before `quarantined`, and compare both.
pytestmark = pytest.mark.filterwarnings("ignore::toolwire.ToolwireWarning")

Path: TypeAlias = Literal["object", "str", "bytes"]
PATHS: tuple[Path, ...] = ("object", "str", "bytes")
RUN = [
    (case, path)
    for case in CASES
    if case.function in LISTS
    for path in (PATHS if case.function not in LOOKUPS else PATHS[:1])
    if case.has_value or path != "object"
]
RESULT = {"sanitizeTools": "tools", "adaptRequest": "request"}
FORMATS = {None, "anthropic", "openai-chat", "openai-responses", "gemini-interactions", "bedrock"}
QUARANTINED = {"name", "server", "pointer", "rule"}
CHANGE = {"tool", "server", "dialect", "pointer", "outputPointer", "rule", "accepts", "guidance", "encoded"}


def source(case: Case, path: Path) -> Any:
    """Return the input in the form for a path, as a new object."""
    if path == "object":
        return case.value()
    return case.text() if path == "str" else case.text().encode()


def run(function: str, value: Any, options: dict[str, Any]) -> Any:
    """Call the function with the options that it accepts."""
    if function == "dialectFor":
        return toolwire.dialect_for(**options)
    if function == "deferralFor":
        return toolwire.deferral_for(**options)
    if function == "checkTools":
        return [violation.to_dict() for violation in toolwire.check_tools(value, **options)]
    if function == "checkRequest":
        return [violation.to_dict() for violation in toolwire.check_request(value, **options)]
    found: Any = toolwire.adapt_request if function == "adaptRequest" else toolwire.sanitize_tools
    result = found(value, **options)
    member = RESULT[function]
    return {**result.to_dict(), member: getattr(result, member), "restore": result.restore}


def show(path: Path, value: Any) -> Any:
    """Make the results of different paths comparable."""
    return exact(compact(value) if path == "object" else value)


@pytest.mark.parametrize(("case", "path"), RUN, ids=[f"{case}[{path}]" for case, path in RUN])
def test_case(case: Case, path: Path) -> None:
    value = source(case, path)
    if case.error is not None:
        with pytest.raises(toolwire.ToolwireError) as caught:
            run(case.function, value, case.options)
        assert {"code": caught.value.code, "pointer": caught.value.pointer} == as_raised(case.error)
        assert caught.value.message
        return
    found = run(case.function, value, case.options)
    if case.function == "dialectFor":
        choice = found.to_dict()
        assert list(choice) == ["dialect", "confidence", "because"]
        assert choice["dialect"] == case.members["expected"]
        assert choice["confidence"] in {"A", "B", "C"}
        assert choice["because"]
        assert case.members.get("report", {}).items() <= choice.items()
    elif case.function == "deferralFor":
        assert list(found.to_dict()) == ["target", "native", "confidence", "because", "checked"]
        options = {"target": found.target, "native": found.native}
        assert options == case.members["expected"]
        assert found.because
        assert date.fromisoformat(found.checked)
        # Converse requests are not translated.
        if found.target == "bedrock":
            request = {"modelId": "m", "messages": [{"role": "user", "content": [{"text": "hi"}]}]}
        else:
            request = {"messages": [{"role": "user", "content": "hi"}]}
        assert toolwire.apply_deferred_loading(request, **options).request
    elif case.function == "checkRequest":
        assert all(violation["message"] and violation["source"] for violation in found)
        assert [shown_violation(one, ("constraint", "pointer")) for one in found] == case.members["expected"]
    elif case.function == "checkTools":
        assert all(violation["message"] and violation["source"] for violation in found)
        shown = [shown_violation(one, ("tool", "server", "dialect", "constraint", "pointer")) for one in found]
        assert shown == case.members["expected"]
    else:
        gives(case, path, value, found)


def gives(case: Case, path: Path, value: Any, found: dict[str, Any]) -> None:
    member = RESULT[case.function]
    tools = found[member]
    assert show(path, tools) == exact(case.expected_text())
    if path != "object" and case.expects_bytes:
        assert tools == (case.expected_text() if path == "str" else case.expected_text().encode())
    reports(case, found)
    calls(case, found["restore"])
    replies(case, found["restore"])

    again = run(case.function, tools, case.options)[member]
    assert show(path, again) == show(path, tools), "not idempotent"
    unchanged = show(path, tools) == show(path, value)
    if path == "object":
        assert same(value, source(case, path)), "the input was changed"
        mine = {id(container) for container in containers(value)}
        assert not [container for container in containers(tools) if id(container) in mine], "shares a container"
        shared = run(case.function, value, {**case.options, "share": True})[member]
        assert show(path, shared) == show(path, tools)
        assert (shared is value) == unchanged, "`share` returns what is unchanged"
    elif unchanged:
        assert tools is value, "not the same text object"
    if member == "tools" and "fallback" not in case.options and case.options["dialect"] != "codex":
        violations = run("checkTools", tools, {"dialects": [case.options["dialect"]]})
        assert all(one["severity"] == "ignored" for one in violations), "the dialect does not accept the result"


def essential(changes: Iterable[dict[str, Any]], names: set[str]) -> list[dict[str, Any]]:
    return [
        {**{name: change[name] for name in names & change.keys()}, "reason": statement(change["reason"])}
        for change in changes
    ]


def reports(case: Case, found: dict[str, Any]) -> None:
    restore = found["restore"]
    found = found.get("report", found)
    assert all(tool["message"] for tool in found["quarantined"])
    assert all(change["reason"] and change["message"] for change in found["changes"])
    shown = {
        "quarantined": [{name: tool[name] for name in QUARANTINED & tool.keys()} for tool in found["quarantined"]],
        "changes": essential(found["changes"], CHANGE),
        "dialect": found.get("dialect"),
        "lossless": found.get("lossless"),
        "unforced": found.get("unforced"),
        "choice": {name: found["choice"][name] for name in ("found", "sent")} if found.get("choice") else None,
        "requestChanges": essential(found.get("requestChanges", ()), {"pointer", "rule"}),
        "formatChanges": essential(found.get("formatChanges", ()), CHANGE),
        "betas": found.get("betas"),
        "restore": json.loads(restore.to_json()),
    }
    expected = dict(case.members.get("report", {"quarantined": []}))
    if "deferred" in expected:
        deferred = expected.pop("deferred")
        assert (found["deferred"] is None) == (deferred is None)
        assert {name: found["deferred"][name] for name in deferred or ()} == (deferred or {})
    assert {name: shown[name] for name in expected} == expected
    repairs = bool(case.options.get("repair", case.options.get("lenient_types", case.options.get("lenientTypes"))))
    answers = "answer" in shown["restore"]
    answer = shown["restore"].get("answer", {})
    version = 6 if "schema" in answer else 5 if "tool" in answer else 4 if answers else 3 if repairs else 2
    assert shown["restore"]["version"] == version
    assert ("repair" in shown["restore"]) == repairs
    assert shown["restore"].keys() <= {"version", "tools", "format", "search", "indices", "repair", "answer"}
    assert shown["restore"].get("format") in FORMATS
    if not case.members.keys() & {"report", "calls", "clientCalls", "callStreams"}:
        assert shown["restore"]["tools"] == {}


def calls(case: Case, restore: toolwire.Restore) -> None:
    """Restore by the original and by the stored `Restore`, with the arguments as a value and as text."""
    kept = toolwire.Restore.from_json(restore.to_json())
    assert kept.to_json() == restore.to_json()
    for one in case.members.get("calls", []):
        for way in (restore, kept):
            assert compact(way.call(one["name"], one["arguments"]).to_dict()) == compact(one["expected"])
            if isinstance(one["arguments"], str):
                continue  # arguments in OpenAI's format are already text
            for text in (compact(one["arguments"]), compact(one["arguments"]).encode()):
                answer = way.call(one["name"], text)
                assert type(answer.arguments) is type(text)
                shown = {**answer.to_dict(), "arguments": json.loads(answer.arguments)}
                assert compact(shown) == compact(one["expected"])


def type_of(event: dict[str, Any]) -> Any:
    """Return the type of an event; in Gemini Interactions, it is `event_type`."""
    return event.get("type", event.get("event_type"))


def replies(case: Case, restore: toolwire.Restore) -> None:
    """Restore replies, whole and as streams: as values, as text, and as bytes that are cut anywhere."""
    kept = toolwire.Restore.from_json(restore.to_json())
    for one in case.members.get("replies", []):
        reply, expected = one["input"], compact(one["expected"])
        for way in (restore, kept):
            expected_reports = (one.get("calls", []), one.get("answerChanges", []))
            restored = way.reply(reply)
            assert compact(restored.reply) == expected
            assert (restored.to_dict()["calls"], restored.to_dict()["answerChanges"]) == expected_reports
            shown = way.reply(compact(reply)).to_dict()
            assert (shown["calls"], shown["answerChanges"]) == expected_reports
            assert exact(way.reply(compact(reply)).reply) == exact(expected)
            assert exact(way.reply(compact(reply).encode()).reply.decode()) == exact(expected)
    for one in case.members.get("clientCalls", []):
        for way in (restore, kept):
            if "error" not in one["expected"]:
                restored_call = way.client_call(one["input"]).to_dict()
                assert compact(restored_call["call"]) == compact(one["expected"])
                assert restored_call == {"call": one["expected"], "repaired": one.get("repaired")}
            else:
                with pytest.raises(toolwire.ToolwireError) as caught:
                    way.client_call(one["input"])
                assert caught.value.code == one["expected"]["error"]
    for one in case.members.get("contents", []):
        for way in (restore, kept):
            content = way.content(one["input"])
            flags = (one["complete"], one.get("fenced", False))
            assert (content.content, (content.complete, content.fenced)) == (one["expected"], flags)
            content = way.content(one["input"].encode())
            assert (content.content, (content.complete, content.fenced)) == (one["expected"].encode(), flags)
    for one in case.members.get("callStreams", []):
        call = kept.call_stream(one["name"])
        assert [*map(call.feed, one["pieces"]), call.finish()] == one["expected"]
        assert [one_call.to_dict() for one_call in call.take_repaired_calls()] == one.get("calls", [])
    for one in case.members.get("streams", []):
        expected = compact(one["expected"])
        stream = kept.stream()
        found = [event for fed in one["input"] for event in stream.feed(fed)] + stream.finish()
        assert compact(found) == expected
        assert [call.to_dict() for call in stream.take_repaired_calls()] == one.get("calls", [])
        assert stream.take_repaired_calls() == [], "reported twice"
        assert stream.take_answer_changes() == one.get("answerChanges", [])
        assert stream.take_answer_changes() == [], "reported twice"
        text = "".join(f"event: {type_of(event)}\ndata: {compact(event)}\n\n" for event in one["input"])
        stream = kept.stream()
        out = "".join(stream.feed_text(text[at : at + 7]) for at in range(0, len(text), 7)) + stream.finish_text()
        assert [call.to_dict() for call in stream.take_repaired_calls()] == one.get("calls", [])
        assert stream.take_answer_changes() == one.get("answerChanges", [])
        events = [block.split("\n") for block in out.split("\n\n") if block]
        data = [json.loads(lines[-1].removeprefix("data: ")) for lines in events]
        assert compact(data) == expected
        # An event without a type was sent with the type None; events that are derived from it have no name.
        names = [lines[0].removeprefix("event: ") if len(lines) > 1 else None for lines in events]
        expected_names = [type_of(event) for event in data]
        assert all(name in (kind, str(kind)) for name, kind in zip(names, expected_names, strict=True))
        stream, raw = kept.stream(), text.encode()
        pieces = [stream.feed_text(raw[at : at + 5]) for at in range(0, len(raw), 5)]
        assert b"".join(pieces).decode() + stream.finish_text() == out


def test_every_case_is_run() -> None:
    ran = Counter(case.function for case, path in RUN if path == ("object" if case.function in LOOKUPS else "str"))
    assert {name: ran[name] for name in LISTS} == {name: EXPECTED_COUNTS[name] for name in LISTS}
