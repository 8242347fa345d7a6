"""One request of a client and its reply: the cases of tests/exchange, which all languages play."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import toolwire
from cases import spelled

EXCHANGE = Path(__file__).resolve().parents[2] / "tests" / "exchange"


def cases_of(name: str) -> list[Any]:
    cases: list[Any] = json.loads((EXCHANGE / f"{name}.json").read_text(encoding="utf-8"))
    return cases


def written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def opened(case: dict[str, Any], body: str | bytes) -> toolwire.Exchange | None:
    url = case.get("url", "http://localhost/v1/messages")
    return toolwire.Exchange.open(url, body, **spelled(case.get("options", {})))


def text_of(events: list[Any], named: bool, whole: bool) -> str:
    """Events as text, whole or without the line ends behind the last one, which some servers leave out."""
    text = "".join((f"event: {event['type']}\n" if named else "") + f"data: {written(event)}\n\n" for event in events)
    return text if whole else text.rstrip()


def events_of(text: str) -> list[Any]:
    events = []
    for raw in filter(None, text.split("\n\n")):
        *names, data = raw.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert names in ([], [f"event: {event['type']}"])
        events.append(event)
    return events


def fed(exchange: toolwire.Exchange, text: str) -> str:
    pieces = [exchange.feed_text(text[at : at + 7]) for at in range(0, len(text), 7)]
    return "".join(pieces) + exchange.finish_text()


def play(case: dict[str, Any], as_bytes: bool, named: bool = False, whole: bool = True) -> None:
    """Play a case, its request and its replies as text or as bytes."""
    text: str = case.get("bare") or written(case["asked"])
    given = text.encode() if as_bytes else text
    if "error" in case:
        with pytest.raises(toolwire.ToolwireError) as raised:
            opened(case, given)
        assert {"code": raised.value.code, "pointer": raised.value.pointer} == case["error"], raised.value
        return
    exchange = opened(case, given)
    if "passes" in case:
        assert exchange is None
        return
    assert exchange is not None
    streamed = ""
    for number, one in enumerate(case["rounds"]):
        assert exchange.request == (text if one["sent"] is None else written(one["sent"])), number
        assert isinstance(exchange.report["changes"], list)
        last = number == len(case["rounds"]) - 1
        if "events" in one:
            streamed += fed(exchange, text_of(one["events"], named, whole))
            assert exchange.asks_again is not last, number
        else:
            reply = written(one["reply"])
            told = exchange.reply(reply.encode() if as_bytes else reply)
            assert told == (written(case["told"]) if last else None), number
    if isinstance(case["told"], list):
        assert written(events_of(streamed)) == written(case["told"])


@pytest.mark.parametrize("case", cases_of("whole"), ids=lambda case: case["name"])
def test_whole_replies(case: dict[str, Any]) -> None:
    play(case, as_bytes=False)
    play(case, as_bytes=True)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("case", cases_of("streams"), ids=lambda case: case["name"])
def test_streams(case: dict[str, Any], whole: bool) -> None:
    play(case, as_bytes=False, named=True, whole=whole)
    play(case, as_bytes=True, named=False, whole=whole)
