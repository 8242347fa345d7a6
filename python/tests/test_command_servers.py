"""Tests the command line with MCP servers: local, remote, and declared in a file."""

from __future__ import annotations

import contextlib
import gzip
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

if TYPE_CHECKING:
    from collections.abc import Iterator

MCP_1 = Path(sys.prefix) / "mcp-1"
"""The folder with mcp 1, which `python/dev` installs; the environment itself has mcp 2."""


@pytest.fixture(params=["1", "2"], ids=["mcp-1", "mcp-2"])
def major(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the program with this major version of the SDK. Servers use mcp 2, as they do not inherit the variable."""
    if request.param == "1":
        monkeypatch.setenv("PYTHONPATH", str(MCP_1))
    return request.param


def test_mcp_sdk_has_the_expected_version(major: str) -> None:
    script = "import mcp, importlib.metadata; print(importlib.metadata.version('mcp'))"
    found = subprocess.run([sys.executable, "-c", script], env=clean(), capture_output=True, text=True, check=True)
    assert found.stdout.split(".")[0] == major


SERVER = """
import asyncio
import sys

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

print("hello from the server", file=sys.stderr)


async def list_tools(context, params):
    second = params is not None and params.cursor == "second"
    schema = {"type": "object", "properties": {"b": {"const": "x"}, "a": {"type": "string"}}}
    tool = types.Tool(name="two" if second else "one", input_schema=schema)
    return types.ListToolsResult(tools=[tool], next_cursor=None if second else "second")


async def main():
    server = Server("fake", on_list_tools=list_tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


asyncio.run(main())
"""


@pytest.mark.usefixtures("major")
def test_server_over_stdio_is_read(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER, "utf-8")
    done = run("check", "--dialect", "gemini", "--json", "--", sys.executable, "server.py", place=tmp_path)
    assert (done.returncode, done.stderr.decode()) == (1, "")
    found = json.loads(done.stdout)
    assert found["sources"] == [{"source": f"{sys.executable} server.py", "count": 2}]
    places = {(one["tool"], one["pointer"]) for one in found["findings"]}
    assert ("two", "/tools/1/inputSchema/properties/b/const") in places
    shown = run("sanitize", "--dialect", "mistral", "--compact", "--", sys.executable, "server.py", place=tmp_path)
    assert b'"properties":{"b":{"const":"x"},"a":{"type":"string"}}' in shown.stdout


PLAIN = """
import json
import sys

print("a line for people", flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        version = message["params"]["protocolVersion"]
        server = {"name": "f", "version": "1"}
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
    elif message["method"] == "tools/list":
        result = json.loads(sys.argv[1])
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@pytest.mark.usefixtures("major")
@pytest.mark.parametrize("cursor", [None, ""])
def test_server_may_write_an_empty_cursor_at_the_end(tmp_path: Path, cursor: str | None) -> None:
    (tmp_path / "server.py").write_text(PLAIN, "utf-8")
    page = json.dumps({"tools": [{"name": "a", "inputSchema": {"type": "object"}}], "nextCursor": cursor})
    done = run("matrix", "--json", "--", sys.executable, "server.py", page, place=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["count"] == 1


@pytest.mark.usefixtures("major")
def test_invalid_tools_of_a_server_are_reported(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(PLAIN, "utf-8")
    schema = {"type": "array", "x-own": 1}
    tools = [{"name": "good", "inputSchema": {}}, {"name": "bad", "inputSchema": schema}, {"name": None}, 7]
    page = json.dumps({"tools": tools})
    done = run("check", "-d", "anthropic", "--json", "--", sys.executable, "server.py", page, place=tmp_path)
    assert (done.returncode, done.stderr) == (1, b"")
    found = json.loads(done.stdout)
    assert found["sources"][0]["count"] == len(tools)
    assert {(one["pointer"], one["rule"]) for one in found["findings"]} >= {
        ("/tools/1/inputSchema", "root-object"),
        ("/tools/3", "not-a-tool"),
    }


@pytest.mark.usefixtures("major")
@pytest.mark.parametrize("page", ["{}", '{"tools": "none"}'])
def test_server_without_a_list_is_an_error(tmp_path: Path, page: str) -> None:
    (tmp_path / "server.py").write_text(PLAIN, "utf-8")
    done = run("matrix", "--", sys.executable, "server.py", page, place=tmp_path)
    assert done.returncode == 2
    assert done.stderr.decode().endswith(
        ": the server did not list its tools: expected an answer with a list in `tools`, found none\n"
    )


def test_server_that_fails_is_an_error(tmp_path: Path) -> None:
    script = "import sys; sys.stderr.buffer.write('no token\\x9b2J\\u202e\\n'.encode()); sys.exit(3)"
    done = run("check", "--", sys.executable, "-c", script, place=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(b"no token\\u009b2J\\u202e\n")
    assert b": the server did not list its tools: " in done.stderr
    done = run("check", "--", "no-such-program-anywhere")
    expected = "the server did not list its tools: expected a command, found none with this name"
    assert done.stderr.decode() == f"toolwire: no-such-program-anywhere: {expected}\n"


def test_server_receives_only_the_given_environment() -> None:
    script = "import os, sys; print([os.environ.get(n) for n in ('TOKEN', 'OTHER')], file=sys.stderr); sys.exit(3)"
    server = ("--", sys.executable, "-c", script)
    done = run("check", *server, TOKEN="secret", OTHER="secret too")
    assert done.stderr.startswith(b"[None, None]")
    done = run("check", "--env", "TOKEN", "--env", "UNSET", *server, TOKEN="secret", OTHER="secret too")
    # The message does not contain the value.
    assert done.stderr.decode().startswith("['…', None]")


def test_secret_at_the_truncation_point_of_the_log_is_removed() -> None:
    token = "a-secret-of-forty-characters-0123456789z"
    for length in (16_384, 16_384 + 16 * len(token)):
        script = f"import os, sys; sys.stderr.write(os.environ['TOKEN'] + 'x' * ({length} - 20)); sys.exit(3)"
        done = run("check", "--env", "TOKEN", "--", sys.executable, "-c", script, TOKEN=token)
        assert set(done.stderr.decode().splitlines()[0].removeprefix("…")) == {"x"}


@pytest.mark.usefixtures("major")
def test_server_with_too_many_tools_is_an_error(tmp_path: Path) -> None:
    script = PLAIN.replace("result = json.loads(sys.argv[1])", "result = {'tools': [{}] * 10_001}")
    (tmp_path / "server.py").write_text(script, "utf-8")
    done = run("check", "--", sys.executable, "server.py", place=tmp_path)
    assert done.returncode == 2
    assert done.stderr.endswith(b": expected at most 10000 tools, found more\n")


@pytest.mark.usefixtures("major")
def test_endless_pages_end_with_an_error(tmp_path: Path) -> None:
    result = "time.sleep(0.25); pages += 1; result = {'tools': [], 'nextCursor': 'next' if pages < 60 else ''}"
    script = PLAIN.replace("result = json.loads(sys.argv[1])", result).replace(
        "import json", "import json, time\npages = 0", 1
    )
    (tmp_path / "server.py").write_text(script, "utf-8")
    done = run("matrix", "--timeout", "1", "--", sys.executable, "server.py", place=tmp_path)
    assert done.returncode == 2
    assert b"expected all pages in 10 s" in done.stderr or b"expected an answer in 1 s" in done.stderr


def test_message_about_the_missing_sdk_names_the_command_that_installs_it(tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text("raise ImportError('not here')", "utf-8")
    done = run("matrix", "--", "npx", "-y", "some-server", PYTHONPATH=str(tmp_path))
    assert done.returncode == 2
    assert "uvx 'toolwire[mcp]' … -- SERVER`" in done.stderr.decode()
    done = run("matrix", "--url", "https://me:a-secret@x.test/?key=a-secret", PYTHONPATH=str(tmp_path))
    assert "uvx 'toolwire[mcp]' … --url URL`" in done.stderr.decode()
    assert b"a-secret" not in done.stderr


@pytest.mark.parametrize("found", ["1.23.3", "3.0.0"])
def test_sdk_of_another_version_is_refused(tmp_path: Path, found: str) -> None:
    (tmp_path / "mcp.py").touch()
    metadata = tmp_path / f"mcp-{found}.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Metadata-Version: 2.1\nName: mcp\nVersion: {found}\n", "utf-8")
    done = run("matrix", "--", "npx", "-y", "some-server", PYTHONPATH=str(tmp_path))
    assert done.returncode == 2
    assert "expected the package mcp from 1.24 (" in done.stderr.decode()
    assert f"and below 3, found {found}: run `pip install 'toolwire[mcp]'`" in done.stderr.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no POSIX signals")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_the_server(tmp_path: Path, sent: int, code: int) -> None:
    script = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    child = subprocess.Popen([*PROGRAM, "check", "--", sys.executable, "-c", script], cwd=tmp_path, env=clean())
    pid = tmp_path / "pid"
    for _ in range(100):
        if pid.exists() and pid.read_text("utf-8"):
            break
        time.sleep(0.1)
    child.send_signal(sent)
    assert child.wait(20) == code

    def goes_on() -> bool:
        try:
            os.kill(int(pid.read_text("utf-8")), 0)
        except ProcessLookupError:
            return False
        return True

    # The timeout of 30 s is long, so that only a real failure reaches it.
    for _ in range(300):
        if not goes_on():
            break
        time.sleep(0.1)
    assert not goes_on()


class Remote(BaseHTTPRequestHandler):
    """A server that requires a token and uses streamable HTTP, or only the older SSE (`sse`)."""

    kind = "http"
    stream: Any = None
    large = b""

    def do_GET(self) -> None:
        if self.kind != "sse" or not self.may():
            self.answer(405)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b"event: endpoint\ndata: /messages\n\n")
        self.wfile.flush()
        Remote.stream = self.wfile
        self.server.done.wait(30)  # type: ignore[attr-defined]

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not self.may():
            return
        if self.kind == "slow":
            self.server.done.wait(30)  # type: ignore[attr-defined]
            return
        if self.kind == "sse" and self.path != "/messages":
            self.answer(404)
            return
        result: Any = None
        if request["method"] == "initialize":
            version = request["params"]["protocolVersion"]
            result = {"protocolVersion": version, "capabilities": {"tools": {}}}
            result["serverInfo"] = {"name": "f", "version": "1"}
        elif request["method"] == "tools/list":
            schema = {"type": "object", "properties": {"a": {"enum": []}}}
            result = {"tools": [{"name": "one", "inputSchema": schema}]}
        if self.kind in ("gzip", "large") and request["method"] == "tools/list":
            self.answer(200, self.large, encoding="gzip" if self.kind == "gzip" else "identity")
            return
        message = json.dumps({"jsonrpc": "2.0", "id": request.get("id"), "result": result}).encode()
        if result is None or self.kind == "sse":
            self.answer(202)
        else:
            self.answer(200, message)
        if result is not None and self.kind == "sse":
            Remote.stream.write(b"event: message\ndata: " + message + b"\n\n")
            Remote.stream.flush()

    def do_DELETE(self) -> None:
        self.answer(405)

    def may(self) -> bool:
        known = self.headers["authorization"] == "Bearer secret"
        if not known:
            self.answer(401, f"who are you, {self.path} with {self.headers['authorization']}?".encode())
        return known

    def answer(self, status: int, body: bytes = b"", encoding: str = "identity") -> None:
        self.send_response(status)
        if encoding != "identity":
            self.send_header("content-encoding", encoding)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def served(kind: str, large: bytes = b"") -> Iterator[str]:
    handler = type("Handler", (Remote,), {"kind": kind, "large": large})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        server.done = threading.Event()  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        server.done.set()  # type: ignore[attr-defined]
        server.shutdown()


TOKEN = ("--header", "Authorization: Bearer secret")


@pytest.mark.usefixtures("major")
@pytest.mark.parametrize("kind", ["http", "sse"])
def test_server_at_an_address_is_read(kind: str) -> None:
    with served(kind) as url:
        done = run("check", "-d", "openai-chat", "-q", "--url", url, *TOKEN)
    assert (done.returncode, done.stderr.decode()) == (1, "")
    assert done.stdout.startswith(f"{url}: enum-empty: `one`: ".encode())


@pytest.mark.usefixtures("major")
def test_too_large_answer_of_a_server_is_refused() -> None:
    large = b'{"jsonrpc": "2.0", "id": 1, "result": {"tools": [' + b"{}," * (6 << 20) + b"{}]}}"
    with served("large", large) as url:
        done = run("check", "--url", url, *TOKEN)
    assert done.returncode == 2
    assert done.stderr.endswith(b": expected at most 16 MiB from the server, found more\n")
    with served("gzip", gzip.compress(large)) as url:
        done = run("check", "--url", url, *TOKEN)
    assert done.returncode == 2
    assert done.stderr.endswith(b": expected an answer that is not compressed, found the content encoding `gzip`\n")


def test_server_declared_in_a_file_is_read(tmp_path: Path) -> None:
    with served("http") as url:
        declared = {"mcpServers": {"far": {"url": url, "headers": {"Authorization": "Bearer ${THE_TOKEN}"}}}}
        (tmp_path / ".mcp.json").write_text(json.dumps(declared), "utf-8")
        declared_by = ("--servers", ".mcp.json", "--env", "THE_TOKEN")
        done = run("check", "-d", "openai-chat", "-q", *declared_by, place=tmp_path, THE_TOKEN="secret")
    assert (done.returncode, done.stderr.decode()) == (1, "")
    assert done.stdout.startswith(b".mcp.json (far): enum-empty: ")


@pytest.mark.parametrize("program", [PROGRAM, [sys.executable, "-c", "from toolwire._command import run; run()"]])
def test_modules_of_the_checked_folder_are_not_imported(tmp_path: Path, program: list[str]) -> None:
    for name in ("mcp.py", "httpx2.py", "pydantic.py", "anyio.py"):
        (tmp_path / name).write_text('open("poisoned", "w")\n', "utf-8")
    server = (sys.executable, "-c", "raise SystemExit(3)")
    done = subprocess.run(
        [*program, "check", "--", *server], cwd=tmp_path, env=clean(), capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 2
    assert b"the server did not list its tools" in done.stderr
    assert not (tmp_path / "poisoned").exists()


@pytest.mark.usefixtures("major")
def test_errors_of_a_server_at_an_address_contain_no_secrets() -> None:
    with served("http") as url:
        done = run("check", "--url", url)
    assert done.returncode == 2
    assert b": the server did not list its tools: " in done.stderr
    with served("http") as url:
        secret = ("--url", f"{url}?key=the-query&more=of-it#behind", "--header", "Authorization: Bearer the-token ")
        done = run("check", "--format", "github", *secret)
    output = (done.stdout + done.stderr).decode()
    assert not [word for word in ("the-query", "of-it", "the-token") if word in output]
    done = run("matrix", "--url", "http://x.test:port/mcp")
    expected = "the server did not list its tools: expected an address, found something else"
    assert done.stderr.decode() == f"toolwire: http://x.test:port/mcp: {expected}\n"
    with served("slow") as url:
        done = run("check", "--url", url, "--timeout", "1", *TOKEN)
    assert done.returncode == 2
    assert done.stderr.endswith(b": expected an answer in 1 s, found none\n")
    done = run("check", "--url", "http://127.0.0.1:9/mcp")
    assert done.returncode == 2
    assert b": expected a server at that address, found none" in done.stderr
