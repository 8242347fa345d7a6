"""`toolwire proxy --listen`: every transcript of tests/listen, and the program between HTTP clients and servers."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from program import PROGRAM, clean, run
from toolwire import _toolwire
from toolwire._http import Room, UnreadableError, whole
from toolwire._listen import _Front
from toolwire._logs import Report

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

FOLDER = Path(__file__).parents[2] / "tests" / "listen"
FILES = sorted(path for path in FOLDER.glob("*.json") if path.name != "count.json")
CASES = [(path.stem, case) for path in FILES for case in json.loads(path.read_text("utf-8"))]


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def played(listener: _toolwire.Listener, step: dict[str, Any]) -> list[tuple[str, str, str]]:
    def body(value: Any) -> bytes:
        return (value if isinstance(value, str) else compact(value)).encode()

    number, session = step.get("number", 1), step.get("session", 0)
    if "request" in step:
        return listener.request(number, json.dumps(step["request"]))
    if "body" in step:
        return listener.body(number, body(step["body"]))
    if "unread" in step:
        return listener.unread(number, step["unread"]["status"], step["unread"]["why"])
    if "message" in step:
        return listener.message(session, body(step["message"]))
    if "ended" in step:
        return listener.ended(session, step["ended"])
    if "alarm" in step:
        return listener.alarm(session)
    return listener.closed(number)


def shown(effects: list[tuple[str, str, str]]) -> list[list[Any]]:
    def value(text: str) -> Any:
        """Return the text as JSON if nothing of its spelling is lost."""
        try:
            read = json.loads(text)
        except ValueError:
            return text
        return read if compact(read) == text else text

    return [[kind, *(value(word) for word in rest if word)] for kind, *rest in effects]


def test_number_of_transcripts() -> None:
    assert len(CASES) == json.loads((FOLDER / "count.json").read_text("utf-8"))["cases"]


@pytest.mark.parametrize(("file", "case"), CASES, ids=[f"{file}: {case['name']}" for file, case in CASES])
def test_every_transcript(file: str, case: dict[str, Any]) -> None:
    listener = _toolwire.Listener(json.dumps(case["settings"]), case.get("token"))
    for at, step in enumerate(case["steps"]):
        assert compact(shown(played(listener, step))) == compact(step["effects"]), f"{file}: step {at}"


SERVER = """
import json
import os
import sys
import threading

lock = threading.Lock()


def say(**message):
    with lock:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def text(id, words):
    say(id=id, result={"content": [{"type": "text", "text": words}]})


OBJECT = {"type": "object", "properties": {}}
PROPERTIES = {"$ref": {"type": "string"}, "count": {"type": "integer"}}
FILES = {"type": "object", "properties": PROPERTIES, "required": ["$ref"]}
NAMES = ["files.read", "die", "hang", "slow", "steps", "pid", "big", "flood"]
for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get("id"), message.get("method"), message.get("params", {})
    name, arguments = params.get("name"), params.get("arguments")
    if method == "initialize":
        info = {"name": "fake", "version": "1"}
        version = params["protocolVersion"]
        say(id=id, result={"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})
    elif method == "tools/list":
        tools = [{"name": name, "inputSchema": FILES if name == "files.read" else OBJECT} for name in NAMES]
        say(id=id, result={"tools": tools})
    elif method == "server/discover":
        say(id=id, error={"code": -32601, "message": "no such method"})
    elif name == "die":
        os._exit(3)
    elif name == "slow":
        threading.Timer(0.3, text, (id, arguments["says"])).start()
    elif name == "steps":
        token = params["_meta"]["progressToken"]
        for progress in (1, 2):
            say(method="notifications/progress", params={"progressToken": token, "progress": progress, "total": 2})
        text(id, "there")
    elif name == "flood":
        token = params["_meta"]["progressToken"]
        for progress in range(4_000):
            params = {"progressToken": token, "progress": progress, "message": "x" * 10_000}
            say(method="notifications/progress", params=params)
        text(id, "there")
    elif name == "pid":
        text(id, str(os.getpid()))
    elif name == "big":
        text(id, "y" * (20 << 20))
    elif method == "tools/call" and name != "hang":
        text(id, json.dumps([name, arguments]))
    elif method == "ping":
        say(id=id, result={})
"""
# A server of the SDK, which also supports the protocol version 2026-07-28.
MODERN = """
import asyncio

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


async def list_tools(context, params):
    schema = {"type": "object", "properties": {"$ref": {"type": "string"}}}
    return types.ListToolsResult(tools=[types.Tool(name="files.read", input_schema=schema)])


async def call_tool(context, params):
    await asyncio.sleep(0.2)
    return types.CallToolResult(content=[types.TextContent(type="text", text=str(params.arguments))])


async def main():
    server = Server("modern", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


asyncio.run(main())
"""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@pytest.fixture(name="server")
def server_(tmp_path: Path) -> list[str]:
    path = tmp_path / "server.py"
    path.write_text(SERVER, "utf-8")
    return ["--", sys.executable, str(path)]


class Served:
    """The program, which listens for clients."""

    def __init__(self, arguments: list[str], listen: str = "127.0.0.1:0", **settings: str) -> None:
        program = [*PROGRAM, "proxy", "--listen", listen, *arguments]
        self.process = subprocess.Popen(program, stderr=subprocess.PIPE, env=clean(**settings), text=True)
        assert self.process.stderr is not None
        found = re.search(r"http:\S+", self.process.stderr.readline())
        assert found is not None
        self.url = found[0]


@pytest.fixture(name="served")
def served_(server: list[str]) -> Iterator[Served]:
    served = Served(server)
    yield served
    served.process.kill()
    served.process.communicate()


@asynccontextmanager
async def connected(url: str, mode: str = "legacy") -> AsyncIterator[Any]:
    from mcp.client.client import Client
    from mcp.client.streamable_http import streamable_http_client

    async with Client(streamable_http_client(url), mode=mode, read_timeout_seconds=60) as client:
        yield client


def through(what: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(what(), 60))


def text(result: Any) -> str:
    return "".join(one.text for one in result.content)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.02)


def test_calls_are_restored_repaired_and_refused(served: Served) -> None:
    async def what() -> None:
        async with connected(served.url) as client:
            tools = (await client.list_tools()).tools
            assert list(tools[0].input_schema["properties"]) == ["dollar_ref_", "count"]
            done = await client.call_tool("files_read", {"dollar_ref_": "a", "count": "2"})
            assert json.loads(text(done)) == ["files.read", {"$ref": "a", "count": 2}]
            refused = await client.call_tool("files_read", {"count": 1})
            assert "expected the member `dollar_ref_`" in text(refused)
            done = await client.call_tool("big", {})
            assert len(text(done)) == 20 << 20

    # The SDK accepts events of up to a megabyte. This answer is not an event.
    through(what)


def test_clients_have_separate_servers_of_which_one_may_die(served: Served) -> None:
    async def what() -> None:
        async with connected(served.url) as one, connected(served.url) as other:
            pids = [text(await client.call_tool("pid", {})) for client in (one, other)]
            assert pids[0] != pids[1]
            for turn in range(3):
                both = ((one, "one"), (other, "two"))
                calls = [client.call_tool("slow", {"says": f"{who} {turn}"}) for client, who in both]
                assert [text(done) for done in await asyncio.gather(*calls)] == [f"one {turn}", f"two {turn}"]
            slow = asyncio.create_task(other.call_tool("slow", {"says": "still there"}))
            with pytest.raises(Exception, match="has ended: exit code 3"):
                await one.call_tool("die", {})
            assert text(await slow) == "still there"

    through(what)


def test_progress_arrives_before_the_result(served: Served) -> None:
    async def what() -> None:
        steps: list[float] = []

        async def heard(*progress: Any) -> None:
            steps.append(progress[0])

        async with connected(served.url) as client:
            assert text(await client.call_tool("steps", {}, progress_callback=heard)) == "there"
            assert steps == [1, 2]

    through(what)


def test_clients_of_2026_07_28_share_a_server(tmp_path: Path) -> None:
    path = tmp_path / "modern.py"
    path.write_text(MODERN, "utf-8")
    served = Served(["--", sys.executable, str(path)])

    async def what() -> None:
        async with connected(served.url, "auto") as one, connected(served.url, "auto") as other:
            assert [client.protocol_version for client in (one, other)] == ["2026-07-28", "2026-07-28"]
            for client in (one, other):
                assert (await client.list_tools()).tools[0].name == "files_read"
            calls = [client.call_tool("files_read", {"dollar_ref_": who}) for client, who in ((one, "1"), (other, "2"))]
            assert [text(done) for done in await asyncio.gather(*calls)] == ["{'$ref': '1'}", "{'$ref': '2'}"]

    try:
        through(what)
    finally:
        served.process.kill()
        served.process.communicate()


def test_client_of_2026_07_28_falls_back_for_an_older_server(served: Served) -> None:
    async def what() -> None:
        async with connected(served.url, "auto") as client:
            assert client.protocol_version == "2025-11-25"
            assert int(text(await client.call_tool("pid", {}))) > 0

    through(what)


def test_foreign_pages_hosts_and_wrong_bodies_are_refused(served: Served) -> None:
    async def what() -> None:
        async with aiohttp.ClientSession(headers=HEADERS) as session:

            async def status(body: Any, path: str = "", **headers: str) -> int:
                named = {name.replace("_", "-"): value for name, value in headers.items()}
                data = io.BytesIO(body) if isinstance(body, bytes) else json.dumps(body)
                async with session.post(served.url + path, data=data, headers=named) as answer:
                    return answer.status

            ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
            assert await status(INITIALIZE, Origin="https://evil.example") == 403
            assert await status(INITIALIZE, Host="evil.example:8000") == 403
            assert await status(INITIALIZE, Content_Type="text/plain") == 415
            assert await status(INITIALIZE, "/else") == 404
            assert await status(b"{") == 400
            assert await status(ping) == 400
            assert await status(ping, Mcp_Session_Id="guessed") == 404
            assert await status(b" " * ((4 << 20) + 1)) == 413
            assert await status(INITIALIZE, Origin="http://localhost:6274") == 200

    through(what)


def test_client_may_disconnect_in_a_call_and_its_server_ends_with_the_session(served: Served) -> None:
    async def what() -> None:
        async with aiohttp.ClientSession(headers=HEADERS) as session:
            async with session.post(served.url, json=INITIALIZE) as answer:
                named = {"Mcp-Session-Id": answer.headers["Mcp-Session-Id"]}

            async def call(name: str, **arguments: str) -> Any:
                params = {"name": name, "arguments": arguments}
                message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
                async with session.post(served.url, json=message, headers=named) as answer:
                    assert answer.status == 200
                    return (await answer.json())["result"]["content"][0]["text"]

            async with session.post(
                served.url, json={"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, headers=named
            ) as answer:
                assert len((await answer.json())["result"]["tools"]) == 8
            pid = int(await call("pid"))
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(call("slow", says="for nobody"), 0.1)
            await asyncio.sleep(0.5)
            assert await call("slow", says="heard") == "heard"
            async with session.delete(served.url, headers=named) as answer:
                assert answer.status == 204
            await until(lambda: not is_running(pid))
            async with session.post(served.url, json=INITIALIZE, headers=named) as answer:
                assert answer.status == 404

    through(what)


def test_client_of_2026_07_28_that_does_not_read_does_not_block_others(served: Served) -> None:
    version = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "progressToken": "p"}

    async def what() -> None:
        async with aiohttp.ClientSession(headers=HEADERS, read_bufsize=1 << 12) as session:

            def call(name: str) -> Any:
                message = {
                    "jsonrpc": "2.0",
                    "id": 7,
                    "method": "tools/call",
                    "params": {"name": name, "_meta": version},
                }
                named = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name}
                return session.post(served.url, json=message, headers=named)

            async with call("flood") as unread:
                await asyncio.sleep(1)
                async with call("pid") as answer:
                    assert int((await answer.json())["result"]["content"][0]["text"]) > 0
                # The response is aborted, because too many of its bytes are unsent.
                with pytest.raises(aiohttp.ClientError):
                    await unread.read()

    through(what)


def test_ended_sessions_free_memory_for_others(served: Served) -> None:
    async def what() -> None:
        async with aiohttp.ClientSession(headers=HEADERS) as session:
            for _ in range(80):
                async with session.post(served.url, json=INITIALIZE) as answer:
                    assert answer.status == 200
                    named = {"Mcp-Session-Id": answer.headers["Mcp-Session-Id"]}
                async with session.delete(served.url, headers=named) as answer:
                    assert answer.status == 204

    through(what)


def test_head_has_no_body(served: Served) -> None:
    async def what() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(served.url.split(":")[2].split("/")[0]))
        writer.write(b"HEAD /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 405")
        assert answer.endswith(b"\r\n\r\n")
        writer.close()

    through(what)


def test_memory_for_bodies_is_limited() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"ab"
        yield b"cd"

    async def what() -> None:
        room = Room(5)
        for _ in range(3):
            assert await whole(pieces(), 9, None, room) == b"abcd"
        room.take(2)
        with pytest.raises(UnreadableError) as refused:
            await whole(pieces(), 9, None, room)
        assert refused.value.status == 503
        room.take(3)

    through(what)


def test_sessions_have_new_numbers_after_a_panic(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    logged: list[str] = []

    def begin(number: int) -> None:
        begun.append(number)
        raise ValueError("a defect")

    front: Any = _Front("{}", None, {}, Report(None))
    monkeypatch.setattr(front, "_begin", begin)
    monkeypatch.setattr(front, "_log", SimpleNamespace(line=logged.append), raising=False)
    head = {"method": "POST", "target": "/mcp", "headers": [["Host", "localhost"], *HEADERS.items()], "id": "s"}
    body = json.dumps(INITIALIZE).encode()
    for _ in range(2):
        front.do(lambda listener: listener.request(1, json.dumps(head)))
        front.do(lambda listener: listener.body(1, body))
    assert begun == [1, 2]
    assert logged == ["toolwire: internal: found a defect in toolwire (a defect)"] * 2


def test_another_address_needs_a_token(server: list[str]) -> None:
    refused = run("proxy", "--listen", "0.0.0.0:0", *server)
    assert refused.returncode == 2
    assert b"expected `--token-env NAME` because programs on other machines can connect" in refused.stderr
    served = Served(["--token-env", "PROXY_TOKEN", *server], "0.0.0.0:0", PROXY_TOKEN="secret")

    async def what() -> None:
        async with aiohttp.ClientSession(headers=HEADERS) as session:
            for token, status in (("", 401), ("Secret", 401), ("secret", 200)):
                url = served.url.replace("0.0.0.0", "127.0.0.1")
                async with session.post(url, json=INITIALIZE, headers={"X-Toolwire-Token": token}) as answer:
                    assert answer.status == status

    try:
        through(what)
    finally:
        served.process.kill()
        served.process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_all_servers(served: Served, number: int) -> None:
    async def what() -> None:
        async with connected(served.url) as client:
            pid = int(text(await client.call_tool("pid", {})))
            served.process.send_signal(number)
            await until(lambda: not is_running(pid))
            await until(lambda: served.process.poll() is not None)

    # The client may report that it has lost its server.
    with suppress(Exception):
        through(what)
    assert served.process.returncode == 128 + number
