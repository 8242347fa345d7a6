"""A fake backend on this machine: an API that refuses invalid requests, and a model that gives scripted answers."""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

from refuse import RefusedError, refuse, validate

if TYPE_CHECKING:
    from collections.abc import Iterator


class Backend(HTTPServer):
    """Answers each request with the model's next turn, and records the request bodies."""

    def __init__(self, api: str, answers: list[dict[str, Any]]) -> None:
        """Listen on a free port."""
        super().__init__(("127.0.0.1", 0), Handler)
        self.api, self.answers, self.requests = api, answers, list[Any]()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def answer(self, body: Any, beta: str | None) -> tuple[int, dict[str, Any]]:
        """Return the status and the body of an answer."""
        try:
            # Like a gateway that does not know the beta.
            if beta is not None and "tool" in beta:
                refuse(f"unknown beta {beta}")
            validate(self.api, body)
        except RefusedError as refusal:
            return 400, {"error": {"type": "invalid_request_error", "message": str(refusal)}}
        self.requests.append(body)
        if len(self.requests) > len(self.answers):
            return 500, {"error": {"message": "nothing more to say"}}
        return 200, reply(self.api, self.answers[len(self.requests) - 1])


def reply(api: str, model: dict[str, Any]) -> dict[str, Any]:
    """Return the model's turn in the format of the API."""
    text = model.get("text")
    if text is None:
        function = {"name": model["name"], "arguments": json.dumps(model["arguments"])}
        if api == "openai-responses":
            call = {"type": "function_call", "id": f"fc_{model['id']}", "call_id": model["id"], **function}
            return {"object": "response", "output": [{**call, "status": "completed"}]}
        message: dict[str, Any] = {
            "content": None,
            "tool_calls": [{"id": model["id"], "type": "function", "function": function}],
        }
    elif api == "openai-responses":
        content = [{"type": "output_text", "text": text, "annotations": []}]
        return {"object": "response", "output": [{"type": "message", "role": "assistant", "content": content}]}
    else:
        message = {"content": text}
    return {"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", **message}}]}


class Handler(BaseHTTPRequestHandler):
    """Handler of one request."""

    server: Backend

    def do_POST(self) -> None:
        """Read a body and answer it."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        status, answer = self.server.answer(body, self.headers.get("anthropic-beta"))
        encoded = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)

    def log_message(self, *_: Any) -> None:
        """Log nothing; the test reports failures."""


@contextmanager
def backend(api: str, answers: list[dict[str, Any]]) -> Iterator[Backend]:
    """Run a backend within a `with` block. `answers` are the model's turns, one for each request."""
    with Backend(api, answers) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
