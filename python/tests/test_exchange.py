"""One request of a client and its reply: the cases of tests/exchange, which all languages run."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import toolwire
from cases import as_raised, spelled
from toolwire import _set_aside

EXCHANGE = Path(__file__).resolve().parents[2] / "tests" / "exchange"


def cases_of(name: str) -> list[Any]:
    cases: list[Any] = json.loads((EXCHANGE / f"{name}.json").read_text(encoding="utf-8"))
    return cases


def written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def opened(case: dict[str, Any], body: str | bytes) -> toolwire.Exchange | None:
    url = case.get("url", "http://localhost/v1/messages")
    return toolwire.Exchange.open(url, body, **spelled(case.get("options", {})))


def in_python(message: str) -> str:
    """Convert the names of functions and options in a message to Python's."""
    return message.replace("`checkTools`", "`check_tools`").replace("`maxTools`", "`max_tools`")


def name_of(event: Any) -> str:
    """Return the line with an event's name; events of Chat Completions and Gemini have no type."""
    kind = event.get("type", event.get("event_type"))
    return "" if kind is None else f"event: {kind}\n"


def text_of(events: list[Any], named: bool, whole: bool) -> str:
    """Return events as text, with or without the line breaks after the last one, which some servers omit."""
    text = "".join((name_of(event) if named else "") + f"data: {written(event)}\n\n" for event in events)
    return text if whole else text.rstrip()


def events_of(text: str) -> list[Any]:
    events = []
    for raw in filter(None, text.split("\n\n")):
        *names, data = raw.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert "".join(f"{name}\n" for name in names) in ("", name_of(event))
        events.append(event)
    return events


def fed(exchange: toolwire.Exchange, text: str) -> str:
    pieces = [exchange.feed_text(text[at : at + 7]) for at in range(0, len(text), 7)]
    return "".join(pieces) + exchange.finish_text()


def answer(exchange: toolwire.Exchange, one: dict[str, Any], as_bytes: bool, named: bool) -> None:
    if "events" in one:
        exchange.feed_text(text_of(one["events"], named, True))
    else:
        reply = written(one["reply"])
        exchange.reply(reply.encode() if as_bytes else reply)


def play(case: dict[str, Any], as_bytes: bool, named: bool = False, whole: bool = True) -> None:
    """Run a case, with its request and replies as text or as bytes."""
    text: str = case.get("bare") or written(case["asked"])
    given = text.encode() if as_bytes else text
    if "error" in case:
        with pytest.raises(toolwire.ToolwireError) as raised:
            opened(case, given)
        assert {"code": raised.value.code, "pointer": raised.value.pointer} == as_raised(case["error"]), raised.value
        if "refusal" in case:
            url = case.get("url", "http://localhost/v1/messages")
            refusal = toolwire.Exchange.refusal(url, raised.value)
            assert refusal == in_python(written(case["refusal"]))
        return
    _set_aside._shown_keys.clear()
    with warnings.catch_warnings(record=True) as given_warnings:
        warnings.simplefilter("always")
        exchange = opened(case, given)
    expected = [f"toolwire: {in_python(case['warning'])}"] if "warning" in case else []
    assert [str(one.message) for one in given_warnings] == expected
    assert all(one.category is toolwire.ToolwireWarning for one in given_warnings)
    assert all(one.filename == __file__ for one in given_warnings)
    if "passes" in case:
        assert exchange is None
        return
    assert exchange is not None
    streamed = ""
    for number, one in enumerate(case["rounds"]):
        assert exchange.request == (text if one["sent"] is None else written(one["sent"])), number
        assert isinstance(exchange.report.changes, tuple)
        assert exchange.betas == one.get("betas", []), number
        last = number == len(case["rounds"]) - 1
        if "refused" in one:
            with pytest.raises(toolwire.ToolwireError) as raised:
                answer(exchange, one, as_bytes, named)
            assert {"code": raised.value.code, "pointer": raised.value.pointer} == one["refused"]
            return
        if "events" in one:
            streamed += fed(exchange, text_of(one["events"], named, whole))
            assert exchange.asks_again is not last, number
        else:
            reply = written(one["reply"])
            reported = exchange.reply(reply.encode() if as_bytes else reply)
            assert reported == (written(case["told"]) if last else None), number
    assert [call.to_dict() for call in exchange.take_repaired_calls()] == case.get("repaired", [])
    assert exchange.take_answer_changes() == case.get("answerChanges", [])
    if isinstance(case["told"], list):
        assert written(events_of(streamed)) == written(case["told"])


@pytest.mark.parametrize("case", cases_of("whole"), ids=lambda case: case["name"])
def test_whole_replies(case: dict[str, Any]) -> None:
    play(case, as_bytes=False)
    play(case, as_bytes=True)


@pytest.mark.parametrize("case", cases_of("endpoints"), ids=lambda case: case["name"])
def test_endpoints(case: dict[str, Any]) -> None:
    play(case, as_bytes=False)
    play(case, as_bytes=True)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("case", cases_of("streams"), ids=lambda case: case["name"])
def test_streams(case: dict[str, Any], whole: bool) -> None:
    play(case, as_bytes=False, named=True, whole=whole)
    play(case, as_bytes=True, named=False, whole=whole)


BAD = written({"messages": [], "tools": [{"name": "good"}, {"name": "odd", "input_schema": {"type": "array"}}]})
URL = "http://localhost/v1/messages"


def test_warning_is_given_once_unless_a_callback_reports_it() -> None:
    _set_aside._shown_keys.clear()
    reported: list[Any] = []
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        for _ in range(3):
            toolwire.Exchange.open(URL, BAD, dialect="anthropic")
            toolwire.Exchange.open(URL, BAD, dialect="anthropic", on_set_aside=lambda *what: reported.append(what))
        # A different dialect causes a different warning.
        toolwire.Exchange.open(URL, BAD, dialect="bedrock")
    assert len(given) == 2
    start = "toolwire: 1 tool was not sent: `odd` at `/tools/1/input_schema`"
    assert str(given[0].message).startswith(start)
    assert len(reported) == 3
    tools, sent = reported[0]
    assert [tool.name for tool in tools] == ["odd"]
    assert (sent.url, sent.dialect) == (URL, "anthropic")
    assert [tool["name"] for tool in json.loads(sent.body)["tools"]] == ["good"]


def test_warning_as_an_error_is_raised_every_time() -> None:
    for _ in range(2):
        with pytest.raises(toolwire.ToolwireWarning):
            toolwire.Exchange.open(URL, BAD, dialect="mistral")


def test_exceptions_of_callbacks_propagate() -> None:
    def on_set_aside(*_: object) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        toolwire.Exchange.open(URL, BAD, dialect="anthropic", on_set_aside=on_set_aside)


def test_unusable_tool_is_reported_when_a_search_finds_it() -> None:
    tools = [
        {"type": "tool_search_tool_bm25_1", "name": "s"},
        {"name": "later", "description": "rooms", "input_schema": {"type": "array"}, "defer_loading": True},
    ]
    body = written({"messages": [], "tools": tools})
    search = {"type": "tool_use", "id": "t1", "name": "tool_search", "input": {"query": "rooms"}}
    reply = written({"content": [search], "stop_reason": "tool_use"})
    exchange = toolwire.Exchange.open(URL, body, dialect="anthropic")
    assert exchange is not None
    with pytest.warns(toolwire.ToolwireWarning, match="`later` at"):
        assert exchange.reply(reply) is None
    assert "Tool references removed" in exchange.request
    exchange = toolwire.Exchange.open(URL, body, dialect="anthropic", on_set_aside="error")
    assert exchange is not None
    with pytest.raises(toolwire.ToolwireError) as raised:
        exchange.reply(reply)
    assert raised.value.code == "not-representable"
    # If the stream has begun, the client receives the error as an event of the stream.
    exchange = toolwire.Exchange.open(URL, body, dialect="anthropic", on_set_aside="error")
    assert exchange is not None
    piece = {"type": "input_json_delta", "partial_json": '{"query":"rooms"}'}
    events = [
        {"type": "message_start", "message": {"content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {**search, "input": {}}},
        {"type": "content_block_delta", "index": 0, "delta": piece},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]
    last = events_of(fed(exchange, text_of(events, True, True)))[-1]
    assert exchange.asks_again is False
    assert (last["type"], last["error"]["code"]) == ("error", "not-representable")


def test_cached_list_gives_the_same_result() -> None:
    """A cached list gives the same result as a new one."""
    tools = [{"name": "look.up", "inputSchema": {"type": "object", "properties": {"a": {"const": 1}}}}]
    body = json.dumps({"model": "m", "messages": [], "tools": tools})
    url = "http://localhost/v1/chat/completions"
    for dialect in ("moonshot", "openai-strict", "anthropic-strict"):
        opened = [toolwire.Exchange.open(url, body, dialect=dialect, tool_list_cache=lists) for lists in (0, 4, 4)]
        assert all(opened)
        alone, *kept = [(one.request, one.report) for one in opened if one]
        assert kept == [alone, alone]
        assert "look_up" in alone[0]
