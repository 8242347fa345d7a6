"""`toolwire probe` over HTTP: it sends the key to the API, and nowhere else."""

from __future__ import annotations

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from program import run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY = "secret/with+signs-0123456789"
TOOLS = json.dumps(
    [
        {"name": "good", "description": "It is.", "inputSchema": {"type": "object", "properties": {}}},
        {"name": "bad", "inputSchema": {"type": "object", "properties": {"a": {"type": "array"}}}},
    ]
)
ASKED = ("probe", "-d", "openai-chat", "--model", "m", "--key-env", "THE_KEY")


# The key as .NET and PHP escape it in JSON, in nested JSON, in a URL, and in HTML.
WRITTEN = KEY.replace("+", "\\u002B")
REPEATED = json.dumps(f'{KEY.replace("+", "%2B")} {KEY.replace("+", "&#43;")} "{WRITTEN}"')
ESCAPED = '{"error": {"message": "' + WRITTEN.replace("/", "\\/") + " " + REPEATED[1:] + "}}"


class Api(BaseHTTPRequestHandler):
    """Chat completions: busy at first, then OpenAI's own error for refused tools."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.requests.append((self.path, self.headers["authorization"], body))
        kind = self.path.split("/")[1]
        if kind == "away":
            self.answer(307, b"", location="/v1/chat/completions")
        elif kind == "slow":
            threading.Event().wait(3)
        elif kind == "drips":
            self.drip()
        elif kind == "escaped":
            self.answer(401, ESCAPED.encode())
        elif kind == "key" or self.headers["authorization"] != f"Bearer {KEY}":
            self.answer(401, f"Incorrect API key provided: {self.headers['authorization']}".encode())
        elif len(self.requests) == 1:
            self.answer(429, b"{}", **{"retry-after": "1"})
        elif any(tool["function"]["name"] == "bad" for tool in body["tools"]):
            message = "Invalid schema for function 'bad': In context=('properties', 'a'), array schema missing items."
            self.answer(400, json.dumps({"error": {"message": message}}).encode())
        else:
            self.answer(200, b"{}")

    def drip(self) -> None:
        """Begin an answer, and continue until the client disconnects."""
        begins, again = {
            "header": (b"HTTP/1.1 200 OK\r\nx: ", b"x"),
            "chunk": (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"0"),
            "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        }[self.path.split("/")[2]]
        with contextlib.suppress(OSError):
            self.connection.sendall(begins)
            for _ in range(600):
                self.connection.sendall(again)
                threading.Event().wait(0.1)
        self.close_connection = True

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass

    @property
    def requests(self) -> list[Any]:
        return self.server.requests  # type: ignore[attr-defined]


@contextlib.contextmanager
def api() -> Iterator[tuple[str, list[Any]]]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Api) as server:
        server.daemon_threads = True
        requests: list[Any] = []
        server.requests = requests  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", requests
        server.shutdown()


def test_key_is_only_in_the_header(tmp_path: Path) -> None:
    with api() as (url, requests):
        rows = ("--record", "rows.jsonl")
        done = run(*ASKED, "--json", "--url", f"{url}/v1", *rows, given=TOOLS, place=tmp_path, THE_KEY=f" {KEY}\n")
    assert (done.returncode, done.stderr) == (1, b"")
    found = json.loads(done.stdout)
    assert [tool["api"] for tool in found["tools"]] == ["accepted", "refused"]
    assert found["requests"] == len(requests) == 3, "a request was repeated"
    assert {(path, sent) for path, sent, _ in requests} == {("/v1/chat/completions", f"Bearer {KEY}")}
    assert requests[0][2] == requests[1][2]
    recorded = (tmp_path / "rows.jsonl").read_text("utf-8")
    assert [json.loads(row)["verdict"] for row in recorded.splitlines()] == ["accepted", "rejected"]
    assert json.loads(recorded.splitlines()[0])["recorded"].count("-") == 2
    for text in (done.stdout.decode(), recorded, json.dumps([body for _, _, body in requests])):
        assert KEY not in text
    assert "127.0.0.1" not in recorded


def test_key_that_an_answer_repeats_is_masked() -> None:
    with api() as (url, _):
        done = run(*ASKED, "--url", f"{url}/key", given=TOOLS, THE_KEY=KEY)
    assert done.returncode == 2
    assert done.stderr.endswith(b"found 401: Incorrect API key provided: Bearer (THE_KEY)\n")


def test_key_that_an_answer_repeats_with_escapes_is_masked() -> None:
    with api() as (url, _):
        done = run(*ASKED, "--url", f"{url}/escaped", given=TOOLS, THE_KEY=KEY)
    assert done.returncode == 2
    assert done.stderr.endswith(b'found 401: (THE_KEY) (THE_KEY) (THE_KEY) "(THE_KEY)"\n')


@pytest.mark.parametrize("what", ["header", "chunk", "continue"])
def test_slow_answer_times_out(what: str) -> None:
    with api() as (url, _):
        done = run(*ASKED, "--url", f"{url}/drips/{what}", "--timeout", "1", given=TOOLS, THE_KEY=KEY)
    assert done.returncode == 2
    assert done.stderr.endswith(b": expected an answer in 1 s, found none\n")


def test_key_that_is_not_valid_in_a_header_is_refused() -> None:
    with api() as (url, requests):
        done = run(*ASKED, "--url", f"{url}/v1", given=TOOLS, THE_KEY="one\ntwo-secret")
    assert (done.returncode, requests) == (2, [])
    assert b"two-secret" not in done.stdout + done.stderr


def test_a_redirection_is_not_followed() -> None:
    with api() as (url, requests):
        done = run(*ASKED, "--url", f"{url}/away", given=TOOLS, THE_KEY=KEY)
    assert (done.returncode, len(requests)) == (2, 1)
    assert b"found 307" in done.stderr


def test_server_that_does_not_answer_is_an_error() -> None:
    with api() as (url, _):
        done = run(*ASKED, "--url", f"{url}/slow", "--timeout", "1", given=TOOLS, THE_KEY=KEY)
    assert done.returncode == 2
    assert done.stderr.endswith(b": expected an answer in 1 s, found none\n")


def test_key_without_tls_is_not_sent_through_a_proxy() -> None:
    with api() as (url, requests), api() as (proxy, overheard):
        arguments = (*ASKED, "--url", f"{url}/v1")
        done = run(*arguments, given=TOOLS, THE_KEY=KEY, http_proxy=proxy, no_proxy="", NO_PROXY="")
    assert (done.returncode, overheard) == (1, [])
    assert len(requests) == 3


def test_address_without_a_server_is_an_error() -> None:
    done = run(*ASKED, "--url", "http://127.0.0.1:9/v1", given=TOOLS, THE_KEY=KEY)
    assert done.returncode == 2
    assert done.stderr == b"toolwire: 127.0.0.1:9: expected a server at that address, found none (ECONNREFUSED)\n"
