"""Anthropic's SDK, the gateway, and a fake Chat Completions backend: its requests, and the client's replies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from time import sleep
from typing import Any

import anthropic
import anthropic_to_chat
import pytest
from anthropic import Anthropic
from anthropic.types import Message
from fake.backend import Backend, backend

DONE = {"text": "Done."}
USER = {"role": "user", "content": "A room in Oslo, and its plan."}
STRING = {"type": "string"}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "files.read",
        "description": "Reads a file",
        "input_schema": {"type": "object", "properties": {"path": STRING, "$ref": STRING}},
    },
    {
        "name": "book.room",
        "description": "Books a meeting room",
        "input_schema": {"type": "object", "properties": {"room": STRING}, "required": ["room"]},
    },
]
HOSTED = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
DEFERRED = [HOSTED, TOOLS[0], {**TOOLS[1], "defer_loading": True}]
READ = {"name": "files_read", "input": {"path": "plan.txt", "$ref": "main"}}
BOOK = {"name": "book_room", "input": {"room": "Oslo"}}
SEARCH = {"name": "tool_search", "input": {"query": "meeting room"}}
REFERENCE = {"type": "tool_reference", "tool_name": "book.room"}
BOTH = pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])


@dataclass
class Setting:
    """A client, connected to a backend through the gateway."""

    fake: Backend
    client: Anthropic

    def ask(self, streams: bool, *messages: Any, **more: Any) -> Message:
        """Ask for a whole or streamed reply. In a stream, check that each block ends before the next one starts."""
        request: Any = {"model": "claude", "max_tokens": 1000, "metadata": {"user_id": "u"}, "tools": TOOLS}
        request.update(more, messages=messages)
        if not streams:
            message: Message = self.client.messages.create(**request)
            return message
        with self.client.messages.stream(**request) as stream:
            begun: int | None = None
            for event in stream:
                if event.type == "content_block_start":
                    assert begun is None
                    begun = event.index
                elif event.type in ("content_block_delta", "content_block_stop"):
                    assert event.index == begun
                    begun = None if event.type == "content_block_stop" else begun
            return stream.get_final_message()


@contextmanager
def setting(*script: dict[str, Any], dialect: Any = "openai-chat", at: str = "", **options: Any) -> Iterator[Setting]:
    with backend(dialect, *script) as fake:
        server = anthropic_to_chat.gateway(f"{at or fake.url}/v1", anthropic_to_chat.Options(dialect, **options))
        with running(server) as url, Anthropic(base_url=url, api_key="k", max_retries=0) as client:
            yield Setting(fake, client)


@contextmanager
def running(server: ThreadingHTTPServer) -> Iterator[str]:
    server.daemon_threads = True
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def served(handler: type[BaseHTTPRequestHandler]) -> AbstractContextManager[str]:
    return running(ThreadingHTTPServer(("127.0.0.1", 0), handler))


def content_of(message: Message) -> list[dict[str, Any]]:
    return [block.to_dict() for block in message.content]


def types_of(message: Message) -> list[str]:
    return [block.type for block in message.content]


def calls_of(message: Message) -> list[tuple[str, object]]:
    return [(block.name, block.input) for block in message.content if block.type == "tool_use"]


def turn(message: Message, answer: Callable[[str], dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the message and the results of its calls, in the form of the next request."""
    calls = [block for block in message.content if block.type == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": block.id, **answer(block.name)} for block in calls]
    return [{"role": "assistant", "content": content_of(message)}, {"role": "user", "content": results}]


def booked(_: str) -> dict[str, Any]:
    return {"content": "booked"}


@BOTH
def test_text_is_translated(streams: bool) -> None:
    system = [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}]
    with setting(DONE, model="gpt-5") as to:
        message = to.ask(streams, USER, system=system)
    assert content_of(message) == [{"type": "text", "text": "Done."}]
    assert (message.stop_reason, message.model, message.role) == ("end_turn", "claude", "assistant")
    usage = message.usage
    assert (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens) == (6, 4, 5)
    (body,) = to.fake.got
    assert (body["model"], body.get("stream", False)) == ("gpt-5", streams)
    assert body["messages"] == [{"role": "system", "content": "Be kind."}, USER]


@BOTH
def test_text_and_parallel_calls_and_the_next_turn_are_translated(streams: bool) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}

    def answer(name: str) -> dict[str, Any]:
        return {"content": "no such room", "is_error": True} if name == "book.room" else {"content": [image]}

    with setting({"text": "I look.", "calls": [READ, BOOK, {**READ, "input": ""}]}, BOOK, DONE) as to:
        first = to.ask(streams, USER)
        assert types_of(first) == ["text", "tool_use", "tool_use", "tool_use"]
        assert calls_of(first) == [("files.read", READ["input"]), ("book.room", BOOK["input"]), ("files.read", {})]
        assert first.stop_reason == "tool_use"
        history = [USER, *turn(first, answer)]
        second = to.ask(streams, *history)
        assert calls_of(second) == [("book.room", BOOK["input"])]
        assert to.ask(streams, *history, *turn(second, booked)).stop_reason == "end_turn"
    _, before, last = to.fake.got
    roles = [message["role"] for message in last["messages"]]
    assert roles == ["user", "assistant", "tool", "tool", "tool", "user", "assistant", "tool"]
    names = [call["function"]["name"] for call in last["messages"][1]["tool_calls"]]
    assert names == ["files_read", "book_room", "files_read"]
    assert last["messages"][: len(before["messages"])] == before["messages"]


@BOTH
def test_encoded_arguments_are_restored(streams: bool) -> None:
    encoded = {"name": "files_read", "input": {"path": "plan.txt", "dollar_ref_": "main"}}
    with setting({"calls": [encoded, BOOK]}, dialect="moonshot") as to:
        assert calls_of(to.ask(streams, USER)) == [("files.read", READ["input"]), ("book.room", BOOK["input"])]


@BOTH
def test_arguments_that_are_not_json_are_repaired(streams: bool) -> None:
    with setting({"calls": [{"name": "book_room", "input": "{'room': 'Oslo',}"}, READ]}, repair=True) as to:
        assert calls_of(to.ask(streams, USER)) == [("book.room", BOOK["input"]), ("files.read", READ["input"])]


@BOTH
def test_a_hosted_search_and_the_next_turn_are_translated(streams: bool) -> None:
    with setting({"text": "I search.", **SEARCH}, {"text": "Found.", "calls": [BOOK, READ]}, DONE) as to:
        first = to.ask(streams, USER, tools=DEFERRED)
        content = {"type": "tool_search_tool_search_result", "tool_references": [REFERENCE]}
        assert content_of(first)[:4] == [
            {"type": "text", "text": "I search."},
            {"type": "server_tool_use", "id": "srvtoolu_call_1", "name": HOSTED["name"], "input": SEARCH["input"]},
            {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_call_1", "content": content},
            {"type": "text", "text": "Found."},
        ]
        assert calls_of(first) == [("book.room", BOOK["input"]), ("files.read", READ["input"])]
        assert (first.stop_reason, first.usage.output_tokens) == ("tool_use", 10)
        second = to.ask(streams, USER, *turn(first, booked), tools=DEFERRED)
        assert content_of(second) == [{"type": "text", "text": "Done."}]
    names = [[tool["function"]["name"] for tool in body["tools"]] for body in to.fake.got]
    found = ["tool_search", "files_read", "book_room"]
    assert names == [found[:2], found, found]
    # The next turn starts with the same messages, so that a prompt cache hits.
    _, before, last = (body["messages"] for body in to.fake.got)
    assert last[: len(before)] == before
    assert "'book_room' is now available" in before[-1]["content"]


@BOTH
def test_search_next_to_a_call_waits_for_the_result_of_the_call(streams: bool) -> None:
    with setting({"calls": [READ, SEARCH]}, BOOK) as to:
        first = to.ask(streams, USER, tools=DEFERRED)
        assert types_of(first) == ["tool_use", "server_tool_use", "tool_search_tool_result"]
        assert (first.stop_reason, content_of(first)[1]["id"]) == ("tool_use", "srvtoolu_call_1_1")
        second = to.ask(streams, USER, *turn(first, booked), tools=DEFERRED)
    assert calls_of(second) == [("book.room", BOOK["input"])]
    assert len(to.fake.got) == 2


@BOTH
def test_ids_that_the_backend_gives_to_several_calls_become_different(streams: bool) -> None:
    search, read, book = ({**call, "id": "call_0"} for call in (SEARCH, READ, BOOK))
    history: list[Any] = [USER]
    with setting(*({"calls": calls} for calls in ([search], [search], [read, book], [book])), DONE) as to:
        for _ in range(2):
            history += turn(to.ask(streams, *history, tools=DEFERRED), booked)
        to.ask(streams, *history, tools=DEFERRED)
    messages = to.fake.got[-1]["messages"]
    ids = [call["id"] for message in messages for call in message.get("tool_calls", [])]
    assert len(set(ids)) == 5
    assert ids[0] == "srvtoolu_call_0"
    roles = [message["role"] for message in messages]
    assert " ".join(roles) == "user assistant tool assistant tool assistant tool tool assistant tool"


@BOTH
def test_searches_without_results_or_query_are_answered_and_too_many_pause_the_turn(streams: bool) -> None:
    script: list[dict[str, Any]] = [{**SEARCH, "input": {"query": "zebra"}}, {**SEARCH, "input": '{"que'}, SEARCH, DONE]
    with setting(*script, max_rounds=3) as to:
        first = to.ask(streams, USER, tools=DEFERRED)
        found = [block["content"] for block in content_of(first) if block["type"] == "tool_search_tool_result"]
        assert found == [
            {"type": "tool_search_tool_search_result", "tool_references": []},
            {"type": "tool_search_tool_result_error", "error_code": "invalid_tool_input"},
            {"type": "tool_search_tool_search_result", "tool_references": [REFERENCE]},
        ]
        assert first.stop_reason == "pause_turn"
        # A client continues by sending the message back.
        again = to.ask(streams, USER, {"role": "assistant", "content": content_of(first)}, tools=DEFERRED)
    assert again.stop_reason == "end_turn"


@BOTH
def test_reasoning_becomes_thinking_and_is_restored_or_left_out(streams: bool) -> None:
    with setting({**SEARCH, "reasoning": "Hm."}, {**BOOK, "reasoning": "Aha."}, DONE, reasoning="content") as to:
        first = to.ask(streams, USER, tools=DEFERRED)
        types = ["thinking", "server_tool_use", "tool_search_tool_result", "thinking", "tool_use"]
        assert types_of(first) == types
        assert content_of(first)[0] == {"type": "thinking", "thinking": "Hm.", "signature": ""}
        to.ask(streams, USER, *turn(first, booked), tools=DEFERRED)
    messages = to.fake.got[2]["messages"]
    assert [message["reasoning_content"] for message in messages if "reasoning_content" in message] == ["Hm.", "Aha."]
    with setting({**BOOK, "reasoning": "Hm."}) as to:
        assert types_of(to.ask(streams, USER)) == ["tool_use"]


@BOTH
def test_stop_reasons_are_translated(streams: bool) -> None:
    script = [{"text": "So", "finish": finish} for finish in ("length", "content_filter", "stop")]
    # Some backends end calls with `stop`.
    with setting(*script, {**BOOK, "finish": "stop"}, {"refusal": "I will not."}) as to:
        reasons = [to.ask(streams, USER).stop_reason for _ in range(4)]
        assert content_of(to.ask(streams, USER)) == [{"type": "text", "text": "I will not."}]
    assert reasons == ["max_tokens", "refusal", "end_turn", "tool_use"]


@BOTH
# The SDK expects an object instead of the truncated text.
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_truncated_call_does_not_break_the_next_turn(streams: bool) -> None:
    with setting({"name": "book_room", "input": '{"room": "Os', "finish": "length"}, DONE) as to:
        first = to.ask(streams, USER)
        assert (first.stop_reason, content_of(first)[0]["name"]) == ("max_tokens", "book.room")
        to.ask(streams, USER, *turn(first, lambda _: {"content": "expected JSON", "is_error": True}))
    (call,) = to.fake.got[1]["messages"][1]["tool_calls"]
    assert isinstance(json.loads(call["function"]["arguments"]), dict)


@BOTH
def test_errors_of_the_backend_and_the_gateway_have_anthropics_format(streams: bool) -> None:
    script = [{"status": status, "message": "not so"} for status in (400, 429, 503)]
    kinds = ["invalid_request_error", "rate_limit_error", "api_error"]
    with setting(*script) as to:
        for refusal, kind in zip(script, kinds, strict=True):
            with pytest.raises(anthropic.APIStatusError) as raised:
                to.ask(streams, USER)
            error = {"type": "error", "error": {"type": kind, "message": "not so"}}
            assert (raised.value.status_code, raised.value.body) == (refusal["status"], error)
            pause = raised.value.response.headers.get("retry-after")
            assert pause == ("7" if refusal["status"] == 429 else None)
        with pytest.raises(anthropic.BadRequestError, match="list of messages"):
            to.client.messages.create(model="claude", max_tokens=1, messages="none")  # type: ignore[arg-type]
        with pytest.raises(anthropic.BadRequestError, match="tools"):
            to.ask(streams, USER, tools="none")
    assert len(to.fake.got) == 3


@pytest.mark.parametrize("cut", ["end", "reset"])
def test_stream_that_is_cut_in_a_call_ends_with_an_error(cut: str) -> None:
    types: list[str] = []
    with setting({"text": "I look.", **READ, "cut": cut}) as to, pytest.raises(anthropic.APIError) as raised:  # noqa: PT012
        request: Any = {"model": "claude", "max_tokens": 9, "messages": [USER], "tools": TOOLS}
        with to.client.messages.stream(**request) as stream:
            types.extend(event.type for event in stream)
    assert isinstance(raised.value.body, dict)
    assert raised.value.body["error"]["type"] == "api_error"
    assert "message_stop" not in types


def test_other_paths_of_the_api_are_unknown() -> None:
    with setting() as to, pytest.raises(anthropic.NotFoundError):
        to.client.messages.count_tokens(model="claude", messages=[{"role": "user", "content": "go"}])


def test_a_redirect_is_not_followed_and_the_key_is_passed_on() -> None:
    seen: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.headers["authorization"])
            self.send_response(307)
            self.send_header("location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")  # type: ignore[attr-defined]
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with served(Handler) as url, setting(at=url) as to:
        with pytest.raises(anthropic.APIStatusError) as raised:
            to.ask(False, USER)
        assert raised.value.status_code == 502
    assert seen == ["Bearer k"]


def test_client_that_disconnects_ends_the_request_to_the_backend() -> None:
    ended = Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            chunk = {"id": "1", "choices": [{"index": 0, "delta": {"content": "So"}, "finish_reason": None}]}
            try:
                for _ in range(1000):
                    self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                    sleep(0.01)
            except ConnectionError:
                ended.set()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with served(Handler) as url, setting(at=url) as to:
        request: Any = {"model": "claude", "max_tokens": 9, "messages": [USER]}
        with to.client.messages.stream(**request) as stream:
            assert next(iter(stream.text_stream)) == "So"
        assert ended.wait(10)
