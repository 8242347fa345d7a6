"""`toolwire relay`: every transcript of tests/relay, and the program between clients and upstreams on real sockets."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import re
import signal
import socket
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from aiohttp import web

from program import PROGRAM, clean, run
from toolwire import _toolwire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from typing_extensions import Self

FOLDER = Path(__file__).parents[2] / "tests" / "relay"
CASES = [
    (path.stem, case)
    for path in sorted(FOLDER.glob("*.json"))
    if path.name != "count.json"
    for case in json.loads(path.read_text(encoding="utf-8"))
]


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def played(relay: _toolwire.Relay, step: dict[str, Any]) -> list[tuple[str, str, str]]:
    def body(value: Any) -> bytes:
        return (value if isinstance(value, str) else compact(value)).encode()

    number = step.get("number", 1)
    if "request" in step:
        return relay.request(number, compact(step["request"]))
    if "received" in step:
        return relay.received(number, step["received"])
    if "body" in step:
        return relay.body(number, body(step["body"]))
    if "unread" in step:
        return relay.unread(number, step["unread"]["status"], step["unread"]["why"])
    if "reply" in step:
        return relay.reply(number, step["reply"]["status"], compact(step["reply"]["headers"]))
    if "whole" in step:
        return relay.whole(number, body(step["whole"]))
    if "piece" in step:
        return relay.piece(number, body(step["piece"]))
    if "end" in step:
        return relay.end(number)
    if "failed" in step:
        return relay.failed(number, step["failed"].get("late", False), step["failed"]["why"])
    return relay.closed(number, step["closed"])


def shown(effects: list[tuple[str, str, str]]) -> list[list[Any]]:
    """Return effects in the form of transcripts, with JSON as a value."""

    def value(text: str) -> Any:
        """Return the text as JSON if nothing of its spelling is lost."""
        try:
            read = json.loads(text)
        except ValueError:
            return text
        return read if compact(read) == text else text

    return [[kind, *(value(word) for word in words if word)] for kind, *words in effects]


def test_number_of_transcripts() -> None:
    assert len(CASES) == json.loads((FOLDER / "count.json").read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize(("file", "case"), CASES, ids=[f"{file}: {case['name']}" for file, case in CASES])
def test_every_transcript(file: str, case: dict[str, Any]) -> None:
    relay = _toolwire.Relay(compact(case["settings"]), case.get("token"))
    for step in case["steps"]:
        assert compact(shown(played(relay, step))) == compact(step["effects"]), file


def chat(name: str, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    tool = {"type": "function", "function": {"name": name, "parameters": schema}}
    return {"model": "m", "messages": [{"role": "user", "content": "Hello"}], "tools": [tool], **more}


def event(delta: Any) -> bytes:
    return f"data: {compact({'choices': [{'index': 0, 'delta': delta}]})}\n\n".encode()


def call(identifier: str, name: str, arguments: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, "id": identifier, "function": {"name": name, "arguments": arguments}}]}


class Between:
    """A fake API, a relay to it, and a client."""

    def __init__(self, answer: Any, *arguments: str, **environment: str) -> None:
        self._answer, self._arguments, self._environment = answer, arguments, environment
        self.shell: str | None = None
        self.host = "127.0.0.1"
        self.log = ""

    async def __aenter__(self) -> Self:
        self._runner = web.ServerRunner(
            web.Server(self._answer, handler_cancellation=True, auto_decompress=False, access_log=None)
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, self.host, 0).start()
        host = f"[{self.host}]" if ":" in self.host else self.host
        self.upstream = f"http://{host}:{self._runner.addresses[0][1]}"
        arguments = ["relay", "--listen", "127.0.0.1:0", "--upstream", self.upstream, *self._arguments]
        program = [*PROGRAM, *arguments]
        if self.shell is not None:
            program = ["sh", "-c", f'{self.shell}; exec "$0" "$@"', *program]
        self.process = await asyncio.create_subprocess_exec(
            *program, stderr=asyncio.subprocess.PIPE, env=clean(**self._environment)
        )
        assert self.process.stderr is not None
        while (found := re.search(r"(http://\S+)/toolwire/last", self.log)) is None:
            line = await self.process.stderr.readline()
            assert line, self.log
            self.log += line.decode()
        self.url = found[1]
        self.reading = asyncio.create_task(self._read())
        self.client = aiohttp.ClientSession(auto_decompress=False, connector=aiohttp.TCPConnector(limit=0))
        return self

    async def _read(self) -> None:
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            self.log += line.decode()

    async def __aexit__(self, *_: object) -> None:
        await self.client.close()
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        await self.reading
        await self._runner.cleanup()

    async def ask(self, body: Any, path: str = "/v1/chat/completions", **headers: str) -> tuple[int, str]:
        data = body if isinstance(body, bytes) else compact(body).encode()
        headers = {"Content-Type": "application/json", **headers}
        async with self.client.post(self.url + path, data=io.BytesIO(data), headers=headers) as reply:
            return reply.status, await reply.text()

    async def get(self, path: str, **headers: str) -> tuple[int, str]:
        async with self.client.get(self.url + path, headers=headers) as reply:
            return reply.status, await reply.text()


def between(
    answer: Any,
    what: Callable[[Between], Awaitable[None]],
    *arguments: str,
    shell: str | None = None,
    host: str = "127.0.0.1",
    **environment: str,
) -> None:
    async def main() -> None:
        run = Between(answer, *arguments, **environment)
        run.shell, run.host = shell, host
        async with run as it:
            await what(it)

    asyncio.run(asyncio.wait_for(main(), 120))


CHAT = ("--dialect", "openai-chat")


def test_requests_without_tools_are_passed_on_byte_for_byte() -> None:
    raw = bytes(range(256))
    seen = []

    async def answer(request: web.BaseRequest) -> web.Response:
        seen.append((request.method, request.raw_path, dict(request.headers), await request.read()))
        return web.Response(status=203, body=raw, headers={"X-One": "1", "Content-Encoding": "br"})

    async def what(it: Between) -> None:
        headers = {"X-Case": "Ä", "Content-Type": "image/png"}
        async with it.client.post(f"{it.url}/v1/files?a=b&c", data=raw, headers=headers) as reply:
            assert (reply.status, reply.headers["X-One"], reply.headers["Content-Encoding"]) == (203, "1", "br")
            assert await reply.read() == raw
        method, path, got, body = seen[0]
        assert (method, path, body) == ("POST", "/v1/files?a=b&c", raw)
        assert got["X-Case"] == "Ä"
        assert got["Host"] == it.upstream.removeprefix("http://")
        async with it.client.head(f"{it.url}/v1/models") as reply:
            assert reply.status == 203

    between(answer, what)


@pytest.mark.parametrize("target", ["/v1/models?", "/?", "/a%2Fb/%7e?x=%20+&y", "//a/?b?c", "/a;b=c,d"])
def test_target_keeps_its_spelling(target: str) -> None:
    seen = []

    async def answer(request: web.BaseRequest) -> web.Response:
        seen.append(request.raw_path)
        return web.Response()

    async def what(it: Between) -> None:
        address = it.url.removeprefix("http://")
        host, port = address.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n".encode())
        assert (await reader.read()).startswith(b"HTTP/1.1 200")
        writer.close()
        assert seen == [target]

    between(answer, what)


def test_an_upstream_may_have_an_ipv6_address() -> None:
    try:
        with socket.socket(socket.AF_INET6) as free:
            free.bind(("::1", 0))
    except OSError as error:
        pytest.skip(f"this machine has no IPv6: {error}")

    async def answer(request: web.BaseRequest) -> web.Response:
        return web.json_response({"path": request.raw_path})

    async def what(it: Between) -> None:
        assert await it.get("/v1/models?a=b") == (200, '{"path": "/v1/models?a=b"}')

    between(answer, what, host="::1")


@pytest.mark.parametrize("packing", ["none", "gzip", "deflate"])
def test_calls_are_restored_for_every_encoding_and_split(packing: str) -> None:
    packs: dict[str, Callable[[bytes], bytes]] = {"none": bytes, "gzip": gzip.compress, "deflate": zlib.compress}
    pack = packs[packing]

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        body = json.loads(await request.read())
        name = body["tools"][0]["function"]["name"]
        assert name == "a_b"
        message = call("c", name, '{"n":"4"}')
        whole = compact({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).encode()
        text = event(message) + b"data: [DONE]\n\n" if body.get("stream") else whole
        kind = "text/event-stream" if body.get("stream") else "application/json"
        headers = {"Content-Type": kind} | ({} if packing == "none" else {"Content-Encoding": packing})
        reply = web.StreamResponse(headers=headers)
        await reply.prepare(request)
        for byte in pack(text):
            await reply.write(bytes([byte]))
        return reply

    async def what(it: Between) -> None:
        for stream in (False, True):
            status, text = await it.ask(chat("a.b", stream=stream))
            assert (status, '"name":"a.b"' in text, '{\\"n\\":4}' in text) == (200, True, True), text
        packed = {} if packing == "none" else {"Content-Encoding": packing}
        status, _ = await it.ask(pack(compact(chat("a.b")).encode()), **packed)
        assert status == 200

    between(answer, what, *CHAT)


def test_event_is_passed_on_before_the_next_one_arrives() -> None:
    go = asyncio.Event()

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        await request.read()
        reply = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await reply.prepare(request)
        await reply.write(event({"content": "first"}))
        await go.wait()
        await reply.write(event({"content": "second"}))
        return reply

    async def what(it: Between) -> None:
        async with it.client.post(f"{it.url}/v1/chat/completions", json=chat("a.b", stream=True)) as reply:
            text = b""
            async for piece in reply.content.iter_any():
                text += piece
                if b"first" in text:
                    go.set()
        assert re.search(rb"first[\s\S]*second", text)

    between(answer, what, *CHAT)


def test_client_that_disconnects_ends_the_request_at_the_api() -> None:
    gone = asyncio.Event()

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        await request.read()
        reply = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await reply.prepare(request)
        await reply.write(event({"content": "first"}))
        try:
            await asyncio.Event().wait()
        finally:
            gone.set()
        return reply

    async def what(it: Between) -> None:
        async with it.client.post(f"{it.url}/v1/chat/completions", json=chat("a.b", stream=True)) as reply:
            await reply.content.readany()
            reply.close()
        await gone.wait()

    between(answer, what, *CHAT)


def test_failure_of_the_api_is_reported_at_every_point() -> None:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        how = request.headers["X-How"]
        assert request.transport is not None
        if how == "silent":
            await asyncio.Event().wait()
        await request.read()
        if how == "reset":
            request.transport.abort()
            return web.Response()
        is_stream = how.startswith("stream")
        kind = "text/event-stream" if is_stream else "application/json"
        reply = web.StreamResponse(headers={"Content-Type": kind})
        await reply.prepare(request)
        await reply.write(event({"content": "first"}) if is_stream else b'{"choices":')
        if how == "stream-silent":
            await asyncio.Event().wait()
        request.transport.close()
        return reply

    async def what(it: Between) -> None:
        for how, expected, words in [
            ("reset", 502, "found none"),
            ("silent", 504, "nothing was received for 1 seconds"),
            ("half", 502, "found none"),
            ("stream", 200, r'first[\s\S]*"type":"relay_error"'),
            ("stream-silent", 200, r"first[\s\S]*nothing was received for 1 seconds"),
        ]:
            status, text = await it.ask(chat("a.b"), **{"X-How": how})
            assert status == expected, f"{how}: {text}"
            assert re.search(words, text), f"{how}: {text}"
        # This reply is streamed to the client as it arrives, so the relay can only abort the connection: the client
        # must not mistake the partial reply for a complete one.
        with pytest.raises(aiohttp.ClientError):
            await it.get("/v1/models", **{"X-How": "half"})

    between(answer, what, *CHAT, "--timeout", "1")


def test_bodies_above_the_limit_are_refused() -> None:
    async def answer(request: web.BaseRequest) -> web.Response:
        length = 0
        async for piece in request.content.iter_any():
            length += len(piece)
        return web.json_response({"length": length, "choices": []})

    async def what(it: Between) -> None:
        large = compact(chat("a_b", user="x" * 50_000_000)).encode()
        status, text = await it.ask(large)
        assert (status, json.loads(text)["length"]) == (200, len(large))
        status, _ = await it.ask(compact(chat("a_b", user="x" * 70_000_000)).encode())
        assert status == 413
        # 100 MB, compressed to 100 kB.
        status, _ = await it.ask(gzip.compress(b" " * 100_000_000), **{"Content-Encoding": "gzip"})
        assert status == 413
        status, _ = await it.ask(b"not packed", **{"Content-Encoding": "gzip"})
        assert status == 400

    between(answer, what, *CHAT)


def test_bodies_in_memory_have_a_common_limit() -> None:
    async def answer(_: web.BaseRequest) -> web.Response:
        return web.Response()

    # 63 MiB, compressed to 63 kB; without the end, so that the relay waits for more.
    packed = gzip.compress(b" " * (63 << 20))[:-8]

    async def what(it: Between) -> None:
        async def pieces() -> AsyncIterator[bytes]:
            yield packed
            await asyncio.Event().wait()

        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}

        async def upload() -> int:
            async with it.client.post(f"{it.url}/v1/embeddings", data=pieces(), headers=headers) as reply:
                return reply.status

        uploads = [asyncio.create_task(upload()) for _ in range(9)]
        done, late = await asyncio.wait(uploads, return_when=asyncio.FIRST_COMPLETED)
        assert [task.result() for task in done] == [503]
        for task in late:
            task.cancel()

    between(answer, what)


def test_status_that_cannot_be_sent_still_gives_an_answer() -> None:
    async def answer(request: web.BaseRequest) -> web.Response:
        assert request.transport is not None
        request.transport.write(b"HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n")
        request.transport.close()
        return web.Response()

    async def what(it: Between) -> None:
        status, body = await it.get("/v1/models")
        assert (status, "the status of its reply is 99" in body) == (502, True), body

    between(answer, what)


def test_gzip_body_may_have_several_members_but_must_be_complete() -> None:
    seen = []

    async def answer(request: web.BaseRequest) -> web.Response:
        seen.append(await request.read())
        return web.json_response({})

    async def what(it: Between) -> None:
        members = gzip.compress(b'{"model":"m",') + gzip.compress(b'"input":"x"}')
        assert (await it.ask(members, "/v1/embeddings", **{"Content-Encoding": "gzip"}))[0] == 200
        assert seen == [b'{"model":"m","input":"x"}']
        half = gzip.compress(b'{"model":"m"}')[:12]
        assert (await it.ask(half, "/v1/embeddings", **{"Content-Encoding": "gzip"}))[0] == 400
        host, port = it.url.removeprefix("http://").split(":")
        lines = [
            "POST /v1/embeddings HTTP/1.1",
            "Host: 127.0.0.1",
            "Content-Type: application/json",
            "Content-Length: 9",
        ]
        # A client that waits for permission to send the body, and then stops in the middle.
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write("\r\n".join([*lines, "Expect: 100-continue", "", ""]).encode())
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"{")
        assert (await reader.readline()).startswith(b"HTTP/1.1 408 ")
        writer.close()

    between(answer, what, "--timeout", "1")


def test_no_key_is_written(tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"

    async def answer(request: web.BaseRequest) -> web.Response:
        assert request.transport is not None
        request.transport.write(b"HTTP/1.1 200 OK\r\nX-Api-Key SECRET\r\n\r\n")
        request.transport.close()
        return web.Response()

    async def what(it: Between) -> None:
        status, text = await it.get("/v1beta/models?key=SECRET")
        assert status == 502
        host, port = it.url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Api-Key SECRET\r\n\r\n")
        await reader.read()
        writer.close()
        _, page = await it.get("/toolwire/last")
        it.process.kill()
        await it.process.wait()
        await it.reading
        for where in (text, page, it.log, report.read_text(encoding="utf-8")):
            assert "SECRET" not in where

    between(answer, what, "--report", str(report))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot limit the size of files")
def test_unwritable_report_is_logged_once(tmp_path: Path) -> None:
    async def answer(_: web.BaseRequest) -> web.Response:
        return web.json_response({})

    async def what(it: Between) -> None:
        for _ in range(20):
            assert (await it.get("/v1/models"))[0] == 200
        it.process.terminate()
        await it.process.wait()
        await it.reading
        assert it.log.count("the report has lines missing") == 1

    between(answer, what, "--report", str(tmp_path / "full.jsonl"), shell="ulimit -f 1")


def test_no_headers_are_added_to_a_reply() -> None:
    async def answer(request: web.BaseRequest) -> web.Response:
        assert request.transport is not None
        request.transport.write(b"HTTP/1.1 200 OK\r\nX-One: 1\r\nContent-Length: 2\r\n\r\nok")
        request.transport.close()
        return web.Response()

    async def what(it: Between) -> None:
        async with it.client.get(f"{it.url}/v1/models") as reply:
            assert sorted(reply.headers) == ["Content-Length", "Date", "X-One"]

    between(answer, what)


def test_concurrent_streams_do_not_mix() -> None:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        body = json.loads(await request.read())
        user, name = body["user"], body["tools"][0]["function"]["name"]
        reply = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await reply.prepare(request)
        for piece in (user, "-", user):
            await reply.write(event({"content": piece}))
            await asyncio.sleep(0.005)
        await reply.write(event(call(user, name, compact({"n": user}))))
        return reply

    async def one(it: Between, number: int) -> None:
        _, text = await it.ask(chat(f"tool.{number}", stream=True, user=str(number)))
        assert text.count(f'"content":"{number}"') == 2
        assert f'"name":"tool.{number}"' in text
        assert f'{{\\"n\\":{number}}}' in text

    async def what(it: Between) -> None:
        await asyncio.gather(*(one(it, number) for number in range(500)))
        _, text = await it.get("/toolwire/metrics")
        assert 'toolwire_requests_total{outcome="adapted"} 500\n' in text

    between(answer, what, *CHAT)


def test_requests_need_the_token_and_the_right_host() -> None:
    async def answer(_: web.BaseRequest) -> web.Response:
        return web.json_response({})

    async def what(it: Between) -> None:
        assert f"in place of {it.upstream}" in it.log
        token = {"X-Toolwire-Token": "secret"}
        assert (await it.get("/v1/models", **token))[0] == 200
        assert (await it.get("/v1/models"))[0] == 401
        assert (await it.get("/v1/models", **token, Host="evil.example"))[0] == 403
        assert (await it.get("/v1/models", **token, Origin="https://evil.example"))[0] == 403
        assert await it.get("/toolwire/health", **token) == (200, "ok\n")
        host, port = it.url.removeprefix("http://").split(":")
        for head in (b"rubbish\r\n\r\n", b"GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"):
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(head)
            assert re.match(rb"HTTP/1.[01] (400|401) ", await reader.readline())
            writer.close()

    between(answer, what, "--token-env", "RELAY_TOKEN", RELAY_TOKEN="secret")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM that a program can handle")
def test_shutdown_finishes_open_requests_and_accepts_no_new_ones() -> None:
    go = asyncio.Event()

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        await request.read()
        reply = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await reply.prepare(request)
        await reply.write(event({"content": "first"}))
        await go.wait()
        await reply.write(event({"content": "last"}))
        return reply

    async def what(it: Between) -> None:
        async with it.client.post(f"{it.url}/v1/chat/completions", json=chat("a.b", stream=True)) as reply:
            text = await reply.content.readany()
            it.process.send_signal(signal.SIGTERM)
            # Wait until the relay refuses new connections, and let the first request end only then.
            while True:
                try:
                    await it.get("/toolwire/health")
                except aiohttp.ClientError:
                    break
            go.set()
            text += await reply.content.read()
        assert re.search(rb"first[\s\S]*last", text)
        assert await it.process.wait() == 143

    between(answer, what, *CHAT)


def test_report_contains_no_values(tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"

    async def answer(request: web.BaseRequest) -> web.Response:
        await request.read()
        message = call("c", "a_b", '{"n":"4"}')
        return web.json_response({"choices": [{"index": 0, "message": message}]})

    async def what(it: Between) -> None:
        messages = [{"role": "user", "content": "secret text of the user"}]
        await it.ask(chat("a.b", messages=messages), "/v1/chat/completions?key=hidden")
        _, page = await it.get("/toolwire/last")
        text = report.read_text(encoding="utf-8")
        assert [json.loads(line)["status"] for line in text.splitlines()] == [200]
        for where in (text, page):
            assert "rename-tool" in where
            assert not re.search(r'secret text|hidden|"4"', where)

    between(answer, what, *CHAT, "--report", str(report))


def test_wrong_usage_is_an_error() -> None:
    for arguments, words in [
        ([], "expected `--upstream URL` or `--config FILE`, found neither"),
        (["--upstream", "http://127.0.0.1:9", "--listen", "0.0.0.0:0"], "expected `--token-env NAME`"),
        (["--upstream", "http://127.0.0.1:9", "--token-env", "NO_SUCH_NAME"], "in the variable NO_SUCH_NAME"),
        (["--upstream", "http://127.0.0.1:9", "--listen", "192.0.2.1:1", "--token-env", "PATH"], "can listen, found"),
    ]:
        done = run("relay", *arguments)
        assert done.returncode == 2, done.stderr
        assert words in done.stderr.decode(), done.stderr
