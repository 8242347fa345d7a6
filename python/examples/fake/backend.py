"""A model API on this machine that refuses what the real one would, remembers what it got, and says what it is told to.

Anthropic Messages, OpenAI Chat Completions and Responses, Gemini; whole, and for Anthropic streamed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from toolwire import check_tools
from toolwire.types import DialectName

# What each API takes, by the end of its path: more than that is a 400.
TAKES = {
    "/messages": "model max_tokens messages tools tool_choice stream system temperature metadata",
    "/chat/completions": "model messages tools tool_choice parallel_tool_calls stream temperature n max_tokens",
    "/responses": "model input tools tool_choice stream instructions",
    ":generateContent": "contents tools toolConfig generationConfig",
}
BLOCKS = {"/messages": ("text", "tool_use", "tool_result"), "/chat/completions": ("text",)}


@dataclass
class Backend:
    """What it says, one turn for each request: `{"text"}`, or a call `{"name", "input"}`; and what it got.

    For Chat Completions, the input of a call may be text, as the model wrote it.
    """

    dialect: DialectName
    says: list[dict[str, Any]]
    url: str = ""
    got: list[Any] = field(default_factory=list)

    def refusal(self, path: str, body: dict[str, Any], beta: str) -> str | None:
        """Refuse as an API does."""
        unknown = [name for name in body if name not in TAKES[path].split()]
        if unknown:
            return f"unknown parameter {unknown[0]}"
        if "tool" in beta:
            return f"unknown beta {beta}"
        for tool in body.get("tools", []):
            if '"defer_loading"' in json.dumps(tool) or str(tool.get("type")).startswith("tool_search"):
                return f"unknown feature in {tool}"
        for message in body.get("messages", []):
            content = message.get("content")
            for block in content if isinstance(content, list) else []:
                if block["type"] not in BLOCKS[path]:
                    return f"unknown content type {block['type']}"
        for wrong in check_tools(body.get("tools", []), dialects=[self.dialect]):
            if wrong.severity != "refused":
                continue
            return f"{wrong.tool}: {wrong.message} ({wrong.pointer})"
        return None


@contextmanager
def backend(dialect: DialectName, *says: dict[str, Any]) -> Iterator[Backend]:
    """Start it."""
    fake = Backend(dialect, list(says))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            path = next((end for end in TAKES if self.path.split("?")[0].endswith(end)), None)
            wrong = (
                f"no such path: {self.path}"
                if path is None
                else fake.refusal(path, body, self.headers.get("anthropic-beta", ""))
            )
            if wrong is not None or path is None:
                error = {"type": "error", "error": {"type": "invalid_request_error", "message": wrong}}
                return self.answer(400, "application/json", json.dumps(error))
            fake.got.append(body)
            said = fake.says[len(fake.got) - 1] if len(fake.got) <= len(fake.says) else {"text": "nothing more to say"}
            if body.get("stream"):
                return self.answer(200, "text/event-stream", anthropic_events(said, str(len(fake.got))))
            return self.answer(200, "application/json", json.dumps(REPLIES[path](said, str(len(fake.got)))))

        def answer(self, status: int, kind: str, text: str) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()


def anthropic(said: dict[str, Any], number: str) -> dict[str, Any]:
    calls = {"type": "tool_use", "id": f"toolu_{number}", "name": said.get("name"), "input": said.get("input")}
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": said["text"]} if "text" in said else calls],
        "stop_reason": "end_turn" if "text" in said else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def anthropic_events(said: dict[str, Any], number: str) -> str:
    message = anthropic(said, number)
    (block,) = message["content"]
    if block["type"] == "text":
        begun, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        begun, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": begun},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def chat(said: dict[str, Any], number: str) -> dict[str, Any]:
    given = said.get("input")
    function = {"name": said.get("name"), "arguments": given if isinstance(given, str) else json.dumps(given)}
    calls = [{"id": f"call_{number}", "type": "function", "function": function}]
    message = {"content": said["text"]} if "text" in said else {"content": None, "tool_calls": calls}
    choice = {
        "index": 0,
        "message": {"role": "assistant", **message},
        "finish_reason": "stop" if "text" in said else "tool_calls",
    }
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return {
        "id": number,
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }


def responses(said: dict[str, Any], number: str) -> dict[str, Any]:
    call = {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": said["name"],
        "arguments": json.dumps(said["input"]),
        "status": "completed",
    }
    return {"id": f"resp_{number}", "object": "response", "created_at": 0, "model": "m", "output": [call]}


def gemini(said: dict[str, Any], _number: str) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"functionCall": {"name": said["name"], "args": said["input"]}}]}
    return {"candidates": [{"content": content, "finishReason": "STOP"}]}


REPLIES = {"/messages": anthropic, "/chat/completions": chat, "/responses": responses, ":generateContent": gemini}
