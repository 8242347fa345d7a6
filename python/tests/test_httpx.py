"""`toolwire.httpx` and `toolwire.httpx2` before a transport that plays the backend.

What is sent, what passes, what comes back.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx as httpx1
import pytest

import toolwire.httpx
from toolwire import ToolwireError

Library: Any = (httpx1, toolwire.httpx)
LIBRARIES = [Library]
try:
    import httpx2

    import toolwire.httpx2

    LIBRARIES.append((httpx2, toolwire.httpx2))
except ImportError:  # Python 3.10 has none
    pass

httpx: Any = httpx1
ToolwireTransport: Any = toolwire.httpx.ToolwireTransport
AsyncToolwireTransport: Any = toolwire.httpx.AsyncToolwireTransport


@pytest.fixture(autouse=True, params=LIBRARIES, ids=lambda library: library[0].__name__)
def _library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test with each library."""
    library, ours = request.param
    monkeypatch.setitem(globals(), "httpx", library)
    for name in ("ToolwireTransport", "AsyncToolwireTransport"):
        monkeypatch.setitem(globals(), name, getattr(ours, name))
    stream = type("Stream", (Pieces, library.SyncByteStream, library.AsyncByteStream), {})
    monkeypatch.setitem(globals(), "Stream", stream)


URL = "http://backend.test/v1/messages"
SEARCH = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
ROOM = {
    "name": "book.room",
    "description": "Books a meeting room",
    "input_schema": {"type": "object", "properties": {}},
}
BASE = {"model": "m", "messages": [{"role": "user", "content": "a room"}]}
ASKED: dict[str, Any] = {**BASE, "tools": [SEARCH, {**ROOM, "defer_loading": True}]}
LOADED = {**BASE, "tools": [ROOM]}
JSON_TYPE = {"content-type": "application/json"}
SSE = {"content-type": "text/event-stream; charset=utf-8"}
TOLD = ["server_tool_use", "tool_search_tool_result", "tool_use"]


def message(content: list[Any]) -> dict[str, Any]:
    return {"id": "msg_1", "type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use"}


SEARCHES = message([{"type": "tool_use", "id": "t1", "name": "tool_search", "input": {"query": "meeting room"}}])
CALLS = message([{"type": "tool_use", "id": "t2", "name": "book_room", "input": {}}])


def pieces_of(said: dict[str, Any]) -> list[bytes]:
    """Write a message as the pieces of a stream."""
    (block,) = said["content"]
    piece = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**said, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {**block, "input": {}}},
        {"type": "content_block_delta", "index": 0, "delta": piece},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": said["stop_reason"]}},
        {"type": "message_stop"},
    ]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]


def events_of(text: str) -> list[Any]:
    return [json.loads(data) for data in re.findall(r"^data: (.*)$", text, re.MULTILINE)]


def blocks_of(events: list[Any]) -> list[str]:
    return [event["content_block"]["type"] for event in events if event["type"] == "content_block_start"]


class Pieces:
    """A reply in pieces, which knows how much of it was read."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces, self.read, self.closed = pieces, 0, False

    def __iter__(self) -> Iterator[bytes]:
        for piece in self.pieces:
            self.read += 1
            yield piece

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            self.read += 1
            yield piece

    def close(self) -> None:
        self.closed = True

    async def aclose(self) -> None:
        self.closed = True


Stream: Any = Pieces


class Backend:
    """Says what it is told to, one reply after the other, and remembers what it got."""

    def __init__(self, *says: Any) -> None:
        self.says, self.got = list(says), list[Any]()
        self.transport = httpx.MockTransport(self.answer)

    def answer(self, request: Any) -> Any:
        self.got.append(request)
        return self.says[len(self.got) - 1]

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(request.content) for request in self.got]


def whole(said: object, status: int = 200) -> Any:
    return httpx.Response(status, headers=JSON_TYPE, content=json.dumps(said).encode())


def streamed(said: dict[str, Any]) -> Any:
    return httpx.Response(200, headers=SSE, stream=Stream(pieces_of(said)))


Post = Callable[..., Any]


def post_sync(backend: Backend, *, url: str = URL, transport: Any = None, **options: Any) -> Any:
    given = {name: options.pop(name) for name in ("json", "content", "headers", "method") if name in options}
    method = given.pop("method", "POST")
    with httpx.Client(transport=ToolwireTransport(backend.transport, **(transport or {}), **options)) as client:
        return client.request(method, url, **given)


def post_async(backend: Backend, *, url: str = URL, transport: Any = None, **options: Any) -> Any:
    given = {name: options.pop(name) for name in ("json", "content", "headers", "method") if name in options}
    method = given.pop("method", "POST")

    async def run() -> Any:
        adapting = AsyncToolwireTransport(backend.transport, **(transport or {}), **options)
        async with httpx.AsyncClient(transport=adapting) as client:
            return await client.request(method, url, **given)

    return asyncio.run(run())


both = pytest.mark.parametrize("post", [post_sync, post_async], ids=["sync", "async"])


@both
def test_searches_are_answered_in_a_whole_reply(post: Post) -> None:
    backend, reports = Backend(whole(SEARCHES), whole(CALLS)), list[Any]()
    response = post(backend, json=ASKED, dialect="anthropic", on_report=reports.append)
    reply = response.json()
    assert [block["type"] for block in reply["content"]] == TOLD
    assert reply["content"][2]["name"] == "book.room"
    assert [[tool["name"] for tool in body["tools"]] for body in backend.bodies] == [
        ["tool_search"],
        ["tool_search", "book_room"],
    ]
    assert all(request.headers["content-length"] == str(len(request.content)) for request in backend.got)
    assert [report["deferred"]["loaded"] for report in reports] == [[], ["book.room"]]


@both
def test_searches_are_answered_in_a_stream(post: Post) -> None:
    backend = Backend(streamed(SEARCHES), streamed(CALLS))
    events = events_of(post(backend, json=ASKED, dialect="anthropic").text)
    assert blocks_of(events) == TOLD
    assert [event["type"] for event in events].count("message_start") == 1
    assert events[-1]["type"] == "message_stop"


def test_the_first_round_passes_before_the_second_is_asked_for() -> None:
    backend = Backend(streamed(SEARCHES), streamed(CALLS))
    with (
        httpx.Client(transport=ToolwireTransport(backend.transport, dialect="anthropic")) as client,
        client.stream("POST", URL, json=ASKED) as response,
    ):
        stream = backend.says[0].stream
        assert isinstance(stream, Stream)
        lines = response.iter_lines()
        assert "message_start" in next(lines)
        assert stream.read == 1
        seen = ""
        while "tool_search_tool_result" not in seen:
            seen += next(lines)
        assert len(backend.got) == 1
        assert blocks_of(events_of("\n".join(lines)))[-1] == "tool_use"
    assert len(backend.got) == 2
    assert all(isinstance(said.stream, Stream) and said.stream.closed for said in backend.says)


def test_giving_up_reaches_the_backend() -> None:
    backend = Backend(streamed(CALLS))
    with (
        httpx.Client(transport=ToolwireTransport(backend.transport, dialect="anthropic")) as client,
        client.stream("POST", URL, json=LOADED) as response,
    ):
        next(response.iter_lines())
    stream = backend.says[0].stream
    assert isinstance(stream, Stream)
    assert (stream.read, stream.closed) == (1, True)


@both
def test_an_error_of_the_second_round(post: Post) -> None:
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
def test_betas(post: Post) -> None:
    left = "files-api-2025-04-14"
    headers = {**JSON_TYPE, "anthropic-beta": f"tool-search-tool-2025-10-19,{left}", "x-api-key": "k"}
    plain = {"model": "m", "messages": [], "tools": []}
    for asked, deferred, expected in [
        (LOADED, True, left),
        (plain, True, left),
        (plain, False, headers["anthropic-beta"]),
    ]:
        backend = Backend(whole(CALLS))
        post(backend, json=asked, headers=headers, dialect="anthropic", deferred=deferred)
        assert backend.got[0].headers["anthropic-beta"] == expected
        assert backend.got[0].headers["x-api-key"] == "k"


@both
def test_gzip(post: Post) -> None:
    packed = gzip.compress(b"".join(pieces_of(CALLS)))
    zipped = {**SSE, "content-encoding": "gzip"}
    backend = Backend(httpx.Response(200, headers=zipped, stream=Stream([packed[:40], packed[40:]])))
    response = post(backend, json=LOADED, dialect="anthropic")
    assert "content-encoding" not in response.headers
    assert events_of(response.text)[1]["content_block"]["name"] == "book.room"
    packed = gzip.compress(json.dumps(CALLS).encode())
    zipped = {**JSON_TYPE, "content-encoding": "gzip"}
    response = post(
        Backend(httpx.Response(200, headers=zipped, stream=Stream([packed]))), json=LOADED, dialect="anthropic"
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
        "no object",
        "a text",
        "a packed body",
        "a GET",
        "a message of a thread",
        "no text",
        "no text and no type",
    ],
)
def test_what_passes_untouched(post: Post, path: str, given: dict[str, Any], body: bytes) -> None:
    reply = b'{ "content": [ ] }'
    backend = Backend(httpx.Response(200, headers=JSON_TYPE, content=reply))
    assert post(backend, url=f"http://backend.test{path}", dialect="anthropic", **given).content == reply
    assert backend.got[0].read() == body


@both
def test_a_body_in_pieces(post: Post) -> None:
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
def test_pieces_without_a_type_are_not_waited_for(post: Post) -> None:
    read, seen = list[int](), list[int]()

    def sync_pieces() -> Iterator[bytes]:
        for at in range(3):
            read.append(at)
            yield b"\xff"

    async def async_pieces() -> AsyncIterator[bytes]:
        for piece in sync_pieces():
            yield piece

    class Unread:
        """A transport that does not read what it is to send."""

        def handle_request(self, _: Any) -> Any:
            seen.append(len(read))
            return httpx.Response(200)

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
def test_headers_and_bodies_that_are_not_ascii(post: Post) -> None:
    odd = [(b"Content-Type", b"application/json"), (b"X-Region", "Z\u00fcrich".encode("latin-1")), (b"x-a", b"1")]
    odd.append((b"x-a", b"2"))
    said = json.dumps(CALLS).encode().replace(b'"id": "t2"', b'"id": "t\xff"')
    backend = Backend(httpx.Response(200, headers=odd, content=b"\xef\xbb\xbf" + said))
    response = post(backend, content=json.dumps(LOADED).encode(), headers=odd, dialect="anthropic")
    for headers in (response.headers, backend.got[0].headers):
        assert headers.get_list("x-a") == ["1", "2"]
        assert (b"x-region", "Z\u00fcrich".encode("latin-1")) in [(name.lower(), value) for name, value in headers.raw]
    assert [response.json()["content"][0][key] for key in ("id", "name")] == ["t\ufffd", "book.room"]


@both
def test_letters_cut_in_two(post: Post) -> None:
    said = b"\xef\xbb\xbf" + b"".join(pieces_of(CALLS)).replace(
        b'"input": {}', '"title": "Gr\u00f6\u00dfe \U0001f388"'.encode()
    )
    said += b": \xff\n\n"
    stream = Stream([said[at : at + 1] for at in range(len(said))])
    text = post(Backend(httpx.Response(200, headers=SSE, stream=stream)), json=LOADED, dialect="anthropic").text
    block = events_of(text)[1]["content_block"]
    assert (block["name"], block["title"]) == ("book.room", "Gr\u00f6\u00dfe \U0001f388")
    assert text.startswith("event: message_start")
    assert text.endswith(": \ufffd\n\n")


@both
def test_replies_that_are_errors_or_something_else(post: Post) -> None:
    for status, kind, text in [(400, "application/json", ' {"error": 1}'), (200, "text/html", "<p>"), (204, "", "")]:
        backend = Backend(httpx.Response(status, headers={"content-type": kind}, content=text))
        response = post(backend, json=ASKED, dialect="anthropic")
        assert (response.status_code, response.text) == (status, text)


def test_wrong_options_are_told_at_once() -> None:
    options: Any
    for options, code in [
        ({"dialect": "antropic"}, "unknown-dialect"),
        ({"dialekt": "anthropic"}, "unknown-option"),
        ({"deferred": {"target": "openai-chat"}}, "invalid-option"),
    ]:
        for transport in (ToolwireTransport, AsyncToolwireTransport):
            with pytest.raises(ToolwireError) as raised:
                transport(**options)
            assert raised.value.code == code


@both
def test_nothing_is_sent_that_cannot_be_adapted(post: Post) -> None:
    backend = Backend()
    forced = {**ASKED, "tool_choice": {"type": "tool", "name": "book.room"}}
    with pytest.raises(ToolwireError, match="book\\.room") as raised:
        post(backend, json=forced, dialect="anthropic", deferred={"forced_tool": "error"})
    assert raised.value.code == "forced-deferred-tool"
    with pytest.raises(ToolwireError) as raised:
        post(backend, content=b'{"model":', headers=JSON_TYPE)
    assert raised.value.code == "invalid-json"
    assert backend.got == []


@both
def test_tools_that_are_set_aside_are_reported(post: Post) -> None:
    backend, reports = Backend(whole(CALLS)), list[Any]()
    tools = [{"name": "bad", "input_schema": {"type": "string"}}, {"name": "good", "input_schema": {}}]
    post(backend, json={**BASE, "tools": tools}, dialect="moonshot", on_report=reports.append)
    assert [(one["name"], one["rule"]) for one in reports[0]["quarantined"]] == [("bad", "not-representable")]
    assert [tool["name"] for tool in backend.bodies[0]["tools"]] == ["good"]


OF_BODY = {
    "content-digest": "sha-256=:AAAA:",
    "repr-digest": "sha-256=:AAAA:",
    "digest": "sha-256=AAAA",
    "content-md5": "AAAA",
}
KEYS = {"idempotency-key": "k", "x-idempotency-key": "k"}


@both
def test_headers_about_another_body_go(post: Post) -> None:
    headers = {**JSON_TYPE, **OF_BODY, "etag": '"1"'}
    says = [httpx.Response(200, headers=headers, content=json.dumps(said)) for said in (SEARCHES, CALLS)]
    backend = Backend(*says)
    response = post(backend, json=ASKED, headers={**OF_BODY, **KEYS, "x-own": "stays"}, dialect="anthropic")
    assert len(response.json()["content"]) == 3
    for name in (*OF_BODY, "etag", "transfer-encoding"):
        assert name not in response.headers
        assert all(name not in request.headers for request in backend.got)
    for name in KEYS:
        # The second round is another request.
        assert [request.headers.get(name) for request in backend.got] == ["k", None]
    assert all(request.headers["x-own"] == "stays" for request in backend.got)


@both
def test_headers_stay_where_nothing_is_rewritten(post: Post) -> None:
    backend = Backend(httpx.Response(200, headers={**JSON_TYPE, "etag": '"1"'}, content=json.dumps(CALLS)))
    response = post(backend, json=BASE, headers={**OF_BODY, **KEYS}, dialect="anthropic")
    assert response.headers["etag"] == '"1"'
    assert all(backend.got[0].headers[name] == value for name, value in (OF_BODY | KEYS).items())
