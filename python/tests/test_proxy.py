"""`toolwire proxy`: every transcript of tests/proxy, and the program between the SDK's clients and servers."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from program import PROGRAM, clean, run
from toolwire import _toolwire
from toolwire._limited import Limit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

FOLDER = Path(__file__).parents[2] / "tests" / "proxy"
FILES = sorted(path for path in FOLDER.glob("*.json") if path.name != "count.json")
CASES = [(path.stem, case) for path in FILES for case in json.loads(path.read_text("utf-8"))]


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def played(proxy: _toolwire.Proxy, step: dict[str, Any]) -> list[tuple[str, str, str]]:
    def message(value: Any) -> bytes:
        return (value if isinstance(value, str) else compact(value)).encode()

    if "client" in step:
        return proxy.client(message(step["client"]))
    if "server" in step:
        return proxy.server(step["server"], message(step["message"]))
    if "ended" in step:
        return proxy.ended(step["ended"], step["why"])
    if "started" in step:
        return proxy.started(step["started"])
    if "alarm" in step:
        return proxy.alarm(step["alarm"])
    if "undelivered" in step:
        return proxy.undelivered(step["undelivered"], message(step["message"]), step["why"])
    return proxy.too_long(step["tooLong"])


def shown(effects: list[tuple[str, str, str]]) -> list[list[Any]]:
    def value(text: str) -> Any:
        """Return the text as JSON if nothing of its spelling is lost."""
        try:
            read = json.loads(text)
        except ValueError:
            return text
        return read if compact(read) == text else text

    return [
        [kind, *([int(number)] if number else []), *([value(text)] if text else [])] for kind, number, text in effects
    ]


def test_number_of_transcripts() -> None:
    assert len(CASES) == json.loads((FOLDER / "count.json").read_text("utf-8"))["cases"]


@pytest.mark.parametrize(("file", "case"), CASES, ids=[f"{file}: {case['name']}" for file, case in CASES])
def test_every_transcript(file: str, case: dict[str, Any]) -> None:
    proxy = _toolwire.Proxy(json.dumps(case["settings"]))
    for at, step in enumerate(case["steps"]):
        assert compact(shown(played(proxy, step))) == compact(step["effects"]), f"{file}: step {at}"


SERVER = """
import asyncio
import json
import os
import subprocess
import sys

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

OBJECT = {"type": "object", "properties": {}}
FILES = {
    "type": "object",
    "properties": {"$ref": {"type": "string"}, "count": {"type": "integer"}},
    "required": ["$ref"],
}


async def list_tools(context, params):
    named = {"files.read": FILES, "die": OBJECT, "child": OBJECT, "rubbish": OBJECT}
    tools = [types.Tool(name=name, input_schema=schema) for name, schema in named.items()]
    return types.ListToolsResult(tools=tools)


async def call_tool(context, params):
    if params.name == "die":
        os._exit(3)
    if params.name == "leave":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(20)"], start_new_session=True)
        os._exit(3)
    answer = json.dumps([params.name, params.arguments])
    if params.name == "child":
        sleeping = [sys.executable, "-c", "import time; time.sleep(1000)"]
        answer = str(subprocess.Popen(sleeping, stdout=subprocess.DEVNULL).pid)
    if params.name == "rubbish":
        print("Listening on port 3000", flush=True)
    return types.CallToolResult(content=[types.TextContent(type="text", text=answer)])


async def main():
    server = Server("fake", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


asyncio.run(main())
"""


@pytest.fixture(name="server")
def server_(tmp_path: Path) -> Path:
    path = tmp_path / "server.py"
    path.write_text(SERVER, "utf-8")
    return path


def through(arguments: list[str], what: Callable[[Any], Awaitable[None]]) -> None:
    """Run a function with a session of the SDK that is connected to the proxy."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async def main() -> None:
        program = [*PROGRAM, "proxy", *arguments]
        parameters = StdioServerParameters(command=program[0], args=program[1:], env=clean())
        async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            await what(session)

    asyncio.run(asyncio.wait_for(main(), 120))


def text(result: Any) -> str:
    return "".join(one.text for one in result.content)


def test_calls_are_restored_repaired_and_refused(server: Path) -> None:
    async def what(session: Any) -> None:
        tools = (await session.list_tools()).tools
        assert tools[0].name == "files_read"
        assert list(tools[0].input_schema["properties"]) == ["dollar_ref_", "count"]
        done = await session.call_tool("files_read", {"dollar_ref_": "a", "count": "2"})
        assert json.loads(text(done)) == ["files.read", {"$ref": "a", "count": 2}]
        refused = await session.call_tool("files_read", {"count": 1})
        assert refused.is_error
        assert "expected the member `dollar_ref_`" in text(refused)
        done = await session.call_tool("rubbish", {})
        assert json.loads(text(done)) == ["rubbish", {}]

    through(["--", sys.executable, str(server)], what)


def test_crashed_server_is_restarted(server: Path) -> None:
    async def what(session: Any) -> None:
        from mcp import MCPError

        await session.list_tools()
        with pytest.raises(MCPError, match="has ended: exit code 3"):
            await session.call_tool("die", {})
        while True:
            try:
                done = await session.call_tool("files_read", {"dollar_ref_": "b"})
                break
            except MCPError:
                await asyncio.sleep(0.1)
        assert json.loads(text(done)) == ["files.read", {"$ref": "b"}]

    through(["--", sys.executable, str(server)], what)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process groups")
def test_end_is_noticed_although_another_process_keeps_the_output_open(server: Path) -> None:
    async def what(session: Any) -> None:
        from mcp import MCPError

        await session.list_tools()
        with pytest.raises(MCPError, match="has ended: exit code 3"):
            await session.call_tool("leave", {})

    through(["--", sys.executable, str(server)], what)


LEAVING = """
import os, subprocess, sys
for line in sys.stdin:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"], start_new_session=True)
    os._exit(3)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lists the descriptors of a process")
def test_restarts_leave_no_descriptors_open(tmp_path: Path) -> None:
    (tmp_path / "leaving.py").write_text(LEAVING, "utf-8")
    program = [*PROGRAM, "proxy", "--", sys.executable, str(tmp_path / "leaving.py")]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        counts = []
        for number in range(200):
            process.stdin.write(compact({"jsonrpc": "2.0", "id": number, "method": "ping"}).encode() + b"\n")
            process.stdin.flush()
            if "has ended" in json.loads(process.stdout.readline())["error"]["message"]:
                # The first restart begins after half a second.
                time.sleep(0.25)
                counts.append(len(os.listdir(f"/proc/{process.pid}/fd")))
                if len(counts) == 3:
                    break
            time.sleep(0.05)
        process.stdin.close()
    assert counts[0] == counts[2], counts


def test_several_servers_appear_as_one(server: Path, tmp_path: Path) -> None:
    entry = {"command": sys.executable, "args": [str(server)]}
    config = tmp_path / "mcp.json"
    servers = {"one": entry, "two": entry, "gone": {"command": "no-such-command"}}
    config.write_text(json.dumps({"mcpServers": servers}), "utf-8")

    async def what(session: Any) -> None:
        tools = (await session.list_tools()).tools
        assert len(tools) == 8
        name = next(tool.name for tool in tools if tool.name.startswith("two__files_read"))
        assert json.loads(text(await session.call_tool(name, {"dollar_ref_": "c"}))) == ["files.read", {"$ref": "c"}]

    through(["--servers", str(config)], what)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A zombie process counts as ended.
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text("utf-8").rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no POSIX signals")
@pytest.mark.parametrize("how", ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "input"])
def test_exit_ends_all_started_processes(server: Path, how: str) -> None:
    program = [*PROGRAM, "proxy", "--", sys.executable, str(server)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=clean()) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def ask(number: int, method: str, **params: Any) -> Any:
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(message).encode() + b"\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            return json.loads(process.stdout.readline())  # type: ignore[union-attr]

        info = {"name": "test", "version": "1"}
        ask(0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=info)
        process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        ask(1, "tools/list")
        child = int(ask(2, "tools/call", name="child", arguments={})["result"]["content"][0]["text"])
        assert is_running(child)
        if how == "input":
            process.stdin.close()
        else:
            process.send_signal(getattr(signal, how))
        code = process.wait()
    assert code == {"SIGHUP": 129, "SIGINT": 130, "SIGQUIT": 131, "SIGTERM": 143, "input": 0}[how]
    while is_running(child):
        time.sleep(0.05)


TALKING = """
import json
import subprocess
import sys

# Output for people, before any request.
print("Listening on port 3000", flush=True)
print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "tools/list":
        # It exits, but a process that it started keeps its output open.
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
        sys.exit(3)
    if "id" in message:
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def test_servers_may_write_before_any_request_and_leave_processes_behind(tmp_path: Path) -> None:
    script = tmp_path / "talking.py"
    script.write_text(TALKING, "utf-8")
    entry = {"command": sys.executable, "args": [str(script)]}
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"one": entry, "two": entry}}), "utf-8")
    messages = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    ]
    program = [*PROGRAM, "proxy", "--servers", str(config)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        answers: dict[Any, Any] = {}
        for message in messages:
            process.stdin.write(compact(message).encode() + b"\n")
            process.stdin.flush()
            while message["id"] not in answers:
                found = json.loads(process.stdout.readline())
                answers[found.get("id")] = found
        process.stdin.close()
        assert process.wait() == 0
    assert "has ended: exit code 3" in answers[1]["error"]["message"]


def test_requests_before_the_end_of_the_input_are_answered(server: Path) -> None:
    messages = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
    ]
    given = "".join(compact(message) + "\n" for message in messages)
    done = run("proxy", "--", sys.executable, str(server), given=given)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [0, 1]


def test_report_to_a_pipe_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    if sys.platform == "win32":
        pytest.skip("this system has no named pipes in folders")
    os.mkfifo(pipe)
    done = run("proxy", "--report", str(pipe), "--", sys.executable, "-c", "pass")
    assert done.returncode == 2


def test_unknown_command_is_an_error() -> None:
    done = run("proxy", "--", "no-such-command")
    assert done.returncode == 2
    expected_error = "toolwire: proxy: no-such-command: expected a command, found none with this name\n"
    assert done.stderr.decode() == expected_error


def test_messages_pass_byte_for_byte(tmp_path: Path) -> None:
    echo = tmp_path / "echo.py"
    answer = b'{"jsonrpc": "2.0", "id": 12345678901234567890, "result": {"n": 1.0e400}}'
    lines = [
        "import sys",
        "for line in sys.stdin.buffer:",
        f"    sys.stdout.buffer.write({answer!r} + b'\\r\\n')",
        "    sys.stderr.buffer.write(line)",
        "    sys.stdout.flush()",
        "    sys.stderr.flush()",
    ]
    echo.write_text("\n".join(lines), "utf-8")
    program = [*PROGRAM, "proxy", "--", sys.executable, str(echo)]
    line = b'{"jsonrpc":"2.0",  "id":12345678901234567890,"method":"vendor/own","params":{"n":0.10,"s":"\\u00e9"}}\n'
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean()
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(line)
        process.stdin.flush()
        assert process.stdout.readline() == answer + b"\n"
        assert process.stderr.readline() == line
        process.stdin.close()
        assert process.wait() == 0


class Remote(BaseHTTPRequestHandler):
    """A remote server with one session over streamable HTTP, which the test can delete."""

    session: str | None = None
    keys: list[str | None]

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.keys.append(self.headers["x-key"])
        if message["method"] == "initialize":
            type(self).session = "s"
            version = message["params"]["protocolVersion"]
            info = {"name": "remote", "version": "1"}
            self.answer(message, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})
        elif self.session is None:
            self.plain(404)
        elif "id" not in message:
            self.plain(202)
        elif message["method"] == "tools/list":
            schema = {"type": "object", "properties": {"$ref": {"type": "string"}}}
            self.answer(message, {"tools": [{"name": "a.b", "inputSchema": schema}]})
        else:
            self.answer(message, {"content": [{"type": "text", "text": json.dumps(message["params"]["arguments"])}]})

    def do_GET(self) -> None:
        self.plain(405)

    def do_DELETE(self) -> None:
        self.plain(200)

    def answer(self, message: Any, result: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("mcp-session-id", "s")
        self.end_headers()
        self.wfile.write(body)

    def plain(self, status: int) -> None:
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def test_forgotten_session_at_a_url_is_opened_again() -> None:
    keys: list[str | None] = []
    handler = type("Handler", (Remote,), {"keys": keys})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()

        async def what(session: Any) -> None:
            from mcp import MCPError

            async def call() -> Any:
                return json.loads(text(await session.call_tool("a_b", {"dollar_ref_": "x"})))

            assert [tool.name for tool in (await session.list_tools()).tools] == ["a_b"]
            assert await call() == {"$ref": "x"}
            handler.session = None  # type: ignore[attr-defined]
            with pytest.raises(MCPError, match="has ended: Session terminated"):
                await call()
            while True:
                try:
                    assert await call() == {"$ref": "x"}
                    break
                except MCPError as error:
                    assert "is restarting" in str(error)  # noqa: PT017
                    await asyncio.sleep(0.1)

        through(["--url", f"http://127.0.0.1:{http.server_port}/mcp", "--header", "X-Key: k"], what)
        http.shutdown()
    assert set(keys) == {"k"}


class Answer:
    """A response of an HTTP library, with the members that `Limit` uses."""

    def __init__(self, kind: str, pieces: list[bytes]) -> None:
        self.headers, self._pieces = {"content-type": kind}, pieces

    async def aiter_bytes(self, _: int | None = None) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


@pytest.mark.parametrize(
    ("kind", "pieces", "together", "fits"),
    [
        ("application/json", [b"x" * (1 << 20)] * 2, True, True),
        ("application/json", [b"x" * (1 << 20)] * 2 + [b"x"], False, False),
        ("text/event-stream", [b"x" * 999_999, b"\n", b"\n"] * 5, False, True),
        ("text/event-stream", [b"x" * 999_999, b"\r\n\r", b"\n"] * 5, False, True),
        ("text/event-stream", [b"x" * 999_999, b"\n\n"] * 5, True, False),
        ("text/event-stream", [b"\n\n"] + [b"x" * 999_999, b"\n"] * 5, False, False),
    ],
)
def test_size_of_answers_from_a_url_is_limited(kind: str, pieces: list[bytes], together: bool, fits: bool) -> None:
    async def read(limit: Limit) -> int:
        response: Any = Answer(kind, pieces)
        await limit.response(response)
        return sum([len(piece) async for piece in response.aiter_bytes()])

    async def main() -> int:
        limit = Limit(2 << 20, together=together)
        return await limit.run(read(limit))

    if fits:
        assert asyncio.run(main()) == sum(map(len, pieces))
    else:
        with pytest.raises(RuntimeError, match="expected at most 2 MiB from the server, found more"):
            asyncio.run(main())


@pytest.mark.parametrize(
    ("coding", "fits"), [("none", True), ("UTF-8", True), ("gzip", False), ("identity, BR", False)]
)
def test_compressed_answers_are_refused(coding: str, fits: bool) -> None:
    """`none` keeps servers from compressing an event stream, and is not an encoding."""

    async def read(limit: Limit) -> int:
        response: Any = Answer("text/event-stream", [b"data: 1\n\n"])
        response.headers["content-encoding"] = coding
        await limit.response(response)
        return sum([len(piece) async for piece in response.aiter_bytes()])

    async def main() -> int:
        limit = Limit(1 << 20, together=False)
        return await limit.run(read(limit))

    if fits:
        assert asyncio.run(main()) == 9
    else:
        with pytest.raises(RuntimeError, match="expected an answer that is not compressed"):
            asyncio.run(main())
