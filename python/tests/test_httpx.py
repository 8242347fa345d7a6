"""`toolwire.httpx` and `toolwire.httpx2`: requests to the backend, requests that pass unchanged, and replies."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import struct
import threading
import zlib
from typing import TYPE_CHECKING, Any

import pytest
from botocore.eventstream import EventStreamBuffer  # type: ignore[import-untyped]

import wire
from toolwire import ToolwireError
from toolwire.types import SentRequest
from wire import (
    ASKED,
    BASE,
    CALLS,
    JSON_TYPE,
    LOADED,
    ROOM,
    SEARCHES,
    SSE,
    TOLD,
    URL,
    Backend,
    Post,
    blocks_of,
    both,
    events_of,
    pieces_of,
    post_sync,
    streamed,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

pytestmark = pytest.mark.usefixtures("library")


@both
def test_searches_are_answered_in_a_whole_reply(post: Post) -> None:
    backend, reports = Backend(whole(SEARCHES), whole(CALLS)), list[Any]()
    response = post(backend, json=ASKED, dialect="anthropic", on_report=lambda report, _: reports.append(report))
    reply = response.json()
    assert [block["type"] for block in reply["content"]] == TOLD
    assert reply["content"][2]["name"] == "book.room"
    assert [[tool["name"] for tool in body["tools"]] for body in backend.bodies] == [
        ["tool_search"],
        ["tool_search", "book_room"],
    ]
    assert all(request.headers["content-length"] == str(len(request.content)) for request in backend.got)
    assert [report.deferred.loaded for report in reports] == [(), ("book.room",)]


@both
def test_searches_are_answered_in_a_stream(post: Post) -> None:
    backend = Backend(streamed(SEARCHES), streamed(CALLS))
    events = events_of(post(backend, json=ASKED, dialect="anthropic").text)
    assert blocks_of(events) == TOLD
    assert [event["type"] for event in events].count("message_start") == 1
    assert events[-1]["type"] == "message_stop"


def test_first_round_is_passed_on_before_the_second_request() -> None:
    backend = Backend(streamed(SEARCHES), streamed(CALLS))
    with (
        wire.httpx.Client(transport=wire.ToolwireTransport(backend.transport, dialect="anthropic")) as client,
        client.stream("POST", URL, json=ASKED) as response,
    ):
        stream = backend.answers[0].stream
        assert isinstance(stream, wire.Stream)
        lines = response.iter_lines()
        assert "message_start" in next(lines)
        assert stream.read == 1
        seen = ""
        while "tool_search_tool_result" not in seen:
            seen += next(lines)
        assert len(backend.got) == 1
        assert blocks_of(events_of("\n".join(lines)))[-1] == "tool_use"
    assert len(backend.got) == 2
    assert all(isinstance(one.stream, wire.Stream) and one.stream.closed for one in backend.answers)


def test_closing_the_response_closes_the_backends_stream() -> None:
    backend = Backend(streamed(CALLS))
    with (
        wire.httpx.Client(transport=wire.ToolwireTransport(backend.transport, dialect="anthropic")) as client,
        client.stream("POST", URL, json=LOADED) as response,
    ):
        next(response.iter_lines())
    stream = backend.answers[0].stream
    assert isinstance(stream, wire.Stream)
    assert (stream.read, stream.closed) == (1, True)


@both
def test_an_error_of_the_second_round_is_passed_on(post: Post) -> None:
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "later"}}
    response = post(Backend(whole(SEARCHES), whole(overloaded, 529)), json=ASKED, dialect="anthropic")
    assert (response.status_code, response.json()) == (529, overloaded)
    response = post(Backend(streamed(SEARCHES), whole(overloaded, 529)), json=ASKED, dialect="anthropic")
    events = events_of(response.text)
    assert events[-1] == overloaded
    assert blocks_of(events) == TOLD[:2]


@both
def test_rounds_are_bounded(post: Post) -> None:
    backend = Backend(whole(SEARCHES), whole(SEARCHES))
    assert post(backend, json=ASKED, dialect="anthropic", max_rounds=1).json()["stop_reason"] == "pause_turn"
    assert len(backend.got) == 2


@both
def test_gzip_replies_are_restored(post: Post) -> None:
    packed = gzip.compress(b"".join(pieces_of(CALLS)))
    zipped = {**SSE, "content-encoding": "gzip"}
    backend = Backend(wire.httpx.Response(200, headers=zipped, stream=wire.Stream([packed[:40], packed[40:]])))
    response = post(backend, json=LOADED, dialect="anthropic")
    assert "content-encoding" not in response.headers
    assert events_of(response.text)[1]["content_block"]["name"] == "book.room"
    packed = gzip.compress(json.dumps(CALLS).encode())
    zipped = {**JSON_TYPE, "content-encoding": "gzip"}
    response = post(
        Backend(wire.httpx.Response(200, headers=zipped, stream=wire.Stream([packed]))),
        json=LOADED,
        dialect="anthropic",
    )
    assert response.json()["content"][0]["name"] == "book.room"


SPELLED = b' { "model": "m",  "messages": [ ], "tools": [] }'


@both
@pytest.mark.parametrize(
    ("path", "given", "body"),
    [
        ("/v1/messages", {"content": SPELLED, "headers": JSON_TYPE}, SPELLED),
        ("/v1/files", {"content": json.dumps(ASKED)}, json.dumps(ASKED).encode()),
        ("/v1/messages", {"content": b"[1]", "headers": JSON_TYPE}, b"[1]"),
        ("/v1/messages", {"content": b"text", "headers": {"content-type": "text/plain"}}, b"text"),
        ("/v1/messages", {"content": b"zipped", "headers": {**JSON_TYPE, "content-encoding": "br"}}, b"zipped"),
        ("/v1/messages", {"method": "GET"}, b""),
        ("/v1/threads/t/messages", {"content": b' {"role": "user"}', "headers": JSON_TYPE}, b' {"role": "user"}'),
        ("/v1/messages", {"content": b"{\xff}", "headers": JSON_TYPE}, b"{\xff}"),
        ("/v1/messages", {"content": b"{\xff}"}, b"{\xff}"),
    ],
    ids=[
        "nothing to adapt",
        "another path",
        "not an object",
        "plain text",
        "a compressed body",
        "a GET",
        "a message of a thread",
        "not UTF-8",
        "not UTF-8 and no content type",
    ],
)
def test_other_requests_and_replies_are_unchanged(post: Post, path: str, given: dict[str, Any], body: bytes) -> None:
    reply = b'{ "content": [ ] }'
    backend = Backend(wire.httpx.Response(200, headers=JSON_TYPE, content=reply))
    assert post(backend, url=f"http://backend.test{path}", dialect="anthropic", **given).content == reply
    assert backend.got[0].read() == body


@both
def test_a_reply_without_a_body_is_passed_on(post: Post) -> None:
    for status in (204, 200):
        backend = Backend(wire.httpx.Response(status, headers={**JSON_TYPE, "x-of-theirs": "kept"}, content=b""))
        response = post(backend, json=ASKED, dialect="anthropic")
        assert (response.status_code, response.headers["x-of-theirs"], response.content) == (status, "kept", b"")


@both
def test_unreadable_reply_is_closed(post: Post) -> None:
    zipped = {**JSON_TYPE, "content-encoding": "gzip"}
    stream = wire.Stream([b"no gzip"])
    with pytest.raises(wire.httpx.DecodingError):
        post(Backend(wire.httpx.Response(200, headers=zipped, stream=stream)), json=ASKED, dialect="anthropic")
    assert stream.closed


@both
def test_a_body_in_pieces_is_adapted(post: Post) -> None:
    backend = Backend(whole(SEARCHES), whole(CALLS))

    def sync_pieces() -> Iterator[bytes]:
        yield from (json.dumps(ASKED).encode()[:20], json.dumps(ASKED).encode()[20:])

    async def async_pieces() -> AsyncIterator[bytes]:
        for piece in sync_pieces():
            yield piece

    pieces = sync_pieces() if post is post_sync else async_pieces()
    reply = post(backend, content=pieces, headers=JSON_TYPE, dialect="anthropic").json()
    assert [block["type"] for block in reply["content"]] == TOLD
    assert all("transfer-encoding" not in request.headers for request in backend.got)


@both
def test_bodies_without_a_type_are_streamed(post: Post) -> None:
    read, seen = list[int](), list[int]()

    def sync_pieces() -> Iterator[bytes]:
        for at in range(3):
            read.append(at)
            yield b"\xff"

    async def async_pieces() -> AsyncIterator[bytes]:
        for piece in sync_pieces():
            yield piece

    class Unread:
        """A transport that does not read the request body."""

        def handle_request(self, _: Any) -> Any:
            seen.append(len(read))
            return wire.httpx.Response(200)

        async def handle_async_request(self, request: Any) -> Any:
            return self.handle_request(request)

        def close(self) -> None:
            pass

        async def aclose(self) -> None:
            pass

    backend = Backend()
    backend.transport = Unread()
    post(backend, content=sync_pieces() if post is post_sync else async_pieces(), dialect="anthropic")
    assert seen == [0]


@both
def test_characters_split_between_pieces_are_joined(post: Post) -> None:
    streamed_body = b"\xef\xbb\xbf" + b"".join(pieces_of(CALLS)).replace(
        b'"input": {}', '"title": "Gr\u00f6\u00dfe \U0001f388"'.encode()
    )
    streamed_body += b": \xff\n\n"
    stream = wire.Stream([streamed_body[at : at + 1] for at in range(len(streamed_body))])
    text = post(Backend(wire.httpx.Response(200, headers=SSE, stream=stream)), json=LOADED, dialect="anthropic").text
    block = events_of(text)[1]["content_block"]
    assert (block["name"], block["title"]) == ("book.room", "Gr\u00f6\u00dfe \U0001f388")
    assert text.startswith("event: message_start")
    assert text.endswith(": \ufffd\n\n")


@both
def test_errors_and_replies_without_json_are_unchanged(post: Post) -> None:
    for status, kind, text in [(400, "application/json", ' {"error": 1}'), (200, "text/html", "<p>"), (204, "", "")]:
        backend = Backend(wire.httpx.Response(status, headers={"content-type": kind}, content=text))
        response = post(backend, json=ASKED, dialect="anthropic")
        assert (response.status_code, response.text) == (status, text)


def test_wrong_options_raise_at_once() -> None:
    options: Any
    for options, code in [
        ({"dialect": "antropic"}, "unknown-dialect"),
        ({"dialekt": "anthropic"}, "unknown-option"),
        ({"deferred": {"target": "openai"}}, "invalid-option"),
        ({"on_set_aside": "warm"}, "invalid-option"),
        ({"on_report": "warn"}, "invalid-option"),
        ({"onReport": print}, "unknown-option"),
    ]:
        for transport in (wire.ToolwireTransport, wire.AsyncToolwireTransport):
            with pytest.raises(ToolwireError) as raised:
                transport(**options)
            assert raised.value.code == code


@both
def test_unadaptable_requests_are_not_sent(post: Post) -> None:
    backend = Backend()
    forced = {**ASKED, "tool_choice": {"type": "tool", "name": "book.room"}}
    for response, code in [
        (post(backend, json=forced, dialect="anthropic", deferred={"forced_tool": "error"}), "forced-deferred-tool"),
        (post(backend, content=b'{"model":', headers=JSON_TYPE), "invalid-json"),
    ]:
        assert (response.status_code, response.headers["content-type"]) == (400, "application/json")
        assert response.headers["x-should-retry"] == "false"
        error = response.json()["error"]
        assert (error["type"], error["code"]) == ("invalid_request_error", code)
    assert backend.got == []


@both
def test_unadaptable_second_request_is_a_bad_request(post: Post) -> None:
    backend = Backend(whole(SEARCHES))
    search, room = ASKED["tools"]
    body = {**ASKED, "tools": [search, {**room, "input_schema": {"type": "array"}}]}
    response = post(backend, json=body, dialect="anthropic", on_set_aside="error")
    assert (response.status_code, response.json()["error"]["code"]) == (400, "not-representable")
    assert len(backend.got) == 1


@both
def test_exceptions_of_the_callers_callbacks_propagate(post: Post) -> None:
    def mine(*_: object) -> None:
        raise LookupError("mine")

    tools = [{"name": "bad", "input_schema": {"type": "string"}}, {"name": "good", "input_schema": {}}]
    backend, quiet = Backend(), {"on_set_aside": lambda *_: None}
    for options in [{"on_report": mine, **quiet}, {"on_set_aside": mine}]:
        with pytest.raises(LookupError, match="mine"):
            post(backend, json={**BASE, "tools": tools}, dialect="anthropic", **options)
    assert backend.got == []


@both
def test_tools_that_are_set_aside_are_reported(post: Post) -> None:
    backend, reports, reported = Backend(whole(CALLS)), list[Any](), list[Any]()
    tools = [{"name": "bad", "input_schema": {"type": "string"}}, {"name": "good", "input_schema": {}}]
    post(
        backend,
        json={**BASE, "tools": tools},
        dialect="moonshot",
        on_report=lambda *given: reports.append(given),
        on_set_aside=lambda *given: reported.append(given),
    )
    [(report, sent)] = reports
    assert [(one.name, one.rule) for one in report.quarantined] == [("bad", "not-representable")]
    assert report.dialect == "moonshot"
    assert sent == SentRequest(URL, "moonshot", backend.got[0].content.decode())
    assert reported == [(report.quarantined, sent)]
    assert [tool["name"] for tool in backend.bodies[0]["tools"]] == ["good"]


BOOK: dict[str, Any] = {
    **BASE,
    "max_tokens": 100,
    "tools": [{"name": "book", "input_schema": {"type": "object", "properties": {"seats": {"type": "integer"}}}}],
}


def booked(seats: object) -> dict[str, Any]:
    return wire.message([{"type": "tool_use", "id": "t1", "name": "book", "input": {"seats": seats}}])


@both
def test_calls_are_repaired_on_request(post: Post) -> None:
    reported: list[Any] = []
    options = {"dialect": "anthropic", "on_repair": lambda calls, request: reported.append((calls, request))}
    backend = Backend(whole(booked("4")))
    assert post(backend, json=BOOK, repair=True, **options).json()["content"][0]["input"] == {"seats": 4}
    assert backend.bodies == [BOOK]
    (calls, request), *more = reported
    assert [(call.id, call.valid, call.repairs[0].rule) for call in calls] == [("t1", True, "string-to-number")]
    assert (request.url, request.dialect, json.loads(request.body), more) == (URL, "anthropic", BOOK, [])

    reported.clear()
    events = events_of(
        post(Backend(streamed(booked("four"))), json=BOOK, repair={"confidence": "exact"}, **options).text
    )
    pieces = [event["delta"]["partial_json"] for event in events if event["type"] == "content_block_delta"]
    assert pieces == ['{"seats": "four"}']
    ((calls, _),) = reported
    assert calls[0].valid is False
    assert "/seats: expected an integer" in (calls[0].retry_message or "")

    reported.clear()
    assert post(Backend(whole(booked("4"))), json=BOOK, **options).json() == booked("4")
    assert reported == []
    refused: dict[str, dict[str, Any]] = {
        "/on_repair": {"on_repair": 3},
        "/repair": {"repair": "yes"},
        "/repair/name": {"repair": {"name": "book"}},
    }
    for pointer, wrong in refused.items():
        with pytest.raises(ToolwireError) as caught:
            post(Backend(), json=BOOK, **wrong)
        assert caught.value.pointer == pointer


def frame(event: dict[str, Any]) -> bytes:
    """Return a frame of a binary event stream with an event of InvokeModelWithResponseStream."""
    headers = b""
    for name, value in ((b":event-type", b"chunk"), (b":message-type", b"event")):
        headers += bytes([len(name)]) + name + b"\x07" + struct.pack(">H", len(value)) + value
    payload = json.dumps({"bytes": base64.b64encode(json.dumps(event).encode()).decode()}).encode()
    out = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    out += struct.pack(">I", zlib.crc32(out)) + headers + payload
    return out + struct.pack(">I", zlib.crc32(out))


@both
def test_a_stream_of_bedrock_in_frames_is_restored(post: Post) -> None:
    def events(name: str) -> list[dict[str, Any]]:
        block = {"type": "tool_use", "id": "t1", "name": name, "input": {}}
        return [
            {"type": "message_start", "message": {"role": "assistant", "content": []}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "message_stop"},
        ]

    sent = b"".join(map(frame, events("book_room")))
    kind = {"content-type": "application/vnd.amazon.eventstream"}
    backend = Backend(wire.httpx.Response(200, headers=kind, stream=wire.Stream([sent[:50], sent[50:]])))
    body = {"anthropic_version": "bedrock-2023-05-31", "messages": BASE["messages"], "tools": [ROOM]}
    url = "http://backend.test/model/claude/invoke-with-response-stream"
    buffer = EventStreamBuffer()
    buffer.add_data(post(backend, json=body, url=url, dialect="bedrock-anthropic").content)
    read = [json.loads(base64.b64decode(json.loads(message.payload)["bytes"])) for message in buffer]
    assert read == events("book.room")


LARGE = {**LOADED, "messages": [{"role": "user", "content": "x" * 100}] * 2000}


def test_an_event_loop_goes_on_while_a_large_request_is_adapted() -> None:
    threads, turns = list[int](), list[int]()

    async def run() -> int:
        sent = False

        async def turn() -> None:
            while not sent:
                turns.append(1)
                await asyncio.sleep(0)

        backend = Backend(whole(CALLS))
        report = {"on_report": lambda *_: threads.append(threading.get_ident())}
        set_aside = {"on_set_aside": lambda *_: threads.append(threading.get_ident()), "max_tools": 0}
        adapting = wire.AsyncToolwireTransport(backend.transport, dialect="anthropic", **report, **set_aside)
        async with wire.httpx.AsyncClient(transport=adapting) as client:
            turning = asyncio.create_task(turn())
            response = await client.post(URL, json=LARGE)
            sent = True
            await turning
            assert response.json()["content"][0]["name"] == "book_room"
        return threading.get_ident()

    own = asyncio.run(run())
    assert threads == [own, own]
    assert len(turns) > 10


def test_a_large_request_is_cancelled_while_it_is_adapted() -> None:
    async def run() -> None:
        backend = Backend(whole(CALLS))
        adapting = wire.AsyncToolwireTransport(backend.transport, dialect="anthropic")
        async with wire.httpx.AsyncClient(transport=adapting) as client:
            task = asyncio.create_task(client.post(URL, json=LARGE))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert backend.got == []
            response = await client.post(URL, json=LARGE)
            assert response.json()["content"][0]["name"] == "book.room"

    asyncio.run(run())
