"""A local model API that refuses what the real one would refuse, records requests, and gives scripted replies.

It supports Anthropic Messages, OpenAI Chat Completions and Responses, Gemini and its Interactions. Replies are whole
or, for the first two and the last, streamed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from toolwire import check_tools
from toolwire.types import DialectName

# Members that each API accepts, by the end of its path. A request with another member is refused with status 400.
TAKES = {
    "/messages": "model max_tokens messages tools tool_choice stream system temperature metadata",
    "/chat/completions": (
        "model messages tools tool_choice parallel_tool_calls stream stream_options temperature n max_tokens"
        " max_completion_tokens stop response_format"
    ),
    "/responses": "model input tools tool_choice stream instructions",
    ":generateContent": "contents tools toolConfig generationConfig",
    "/interactions": "model input tools generation_config stream system_instruction store previous_interaction_id",
}
BLOCKS = {"/messages": ("text", "tool_use", "tool_result"), "/chat/completions": ("text", "image_url")}


@dataclass
class Backend:
    """The replies, one for each request: `{"text"}`, or a call `{"name", "input"}`; and the recorded requests.

    For Chat Completions, the input of a call may also be the model's text. Such a reply may have `reasoning`, text and
    several `calls` with ids, which are streamed interleaved; `finish`; a `status`, which makes it a refusal; and `cut`,
    which makes a stream end in the middle ("end") or lose its connection ("reset").
    """

    dialect: DialectName
    script: list[dict[str, Any]]
    url: str = ""
    got: list[Any] = field(default_factory=list)

    def refusal(self, path: str, body: dict[str, Any], beta: str) -> str | None:
        """Return the reason why the API would refuse the request, if it would."""
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
        is_json = body.get("generationConfig", {}).get("responseMimeType") == "application/json"
        if is_json and body.get("tools"):
            return "Function calling with a response mime type: 'application/json' is unsupported"
        if self.dialect == "deepseek" and body.get("response_format", {}).get("type") == "json_schema":
            return "This response_format type is unavailable now"
        if path == "/chat/completions" and (unpaired := unpaired_call(body["messages"])):
            return unpaired
        for wrong in check_tools(body.get("tools", []), dialects=[self.dialect]):
            if wrong.severity != "refused":
                continue
            return f"{wrong.tool}: {wrong.message} ({wrong.pointer})"
        return None


def unpaired_call(messages: list[dict[str, Any]]) -> str | None:
    """Return why Chat Completions refuses calls in the history: a bad name, no result, or a result without a call."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
            if not isinstance(message["content"], str):
                return f"unknown content of a result: {message['content']}"
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            break
        for call in message.get("tool_calls", []):
            if not re.fullmatch(r"[\w-]{1,64}", call["function"]["name"], re.ASCII):
                return f"invalid name of a call: {call['function']['name']}"
            if call["id"] in waiting or len(call["id"]) > 40:
                return f"duplicate or long id of a call: {call['id']}"
            waiting.append(call["id"])
    if waiting:
        return f"an assistant message with 'tool_calls' must be followed by tool messages: {waiting}"
    return None


@contextmanager
def backend(dialect: DialectName, *script: dict[str, Any]) -> Iterator[Backend]:
    """Start the API."""
    fake = Backend(dialect, list(script))

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
            turn = (
                fake.script[len(fake.got) - 1] if len(fake.got) <= len(fake.script) else {"text": "nothing more to say"}
            )
            if "status" in turn:
                error = {"error": {"message": turn["message"], "type": "refused", "code": None}}
                return self.answer(int(turn["status"]), "application/json", json.dumps(error))
            if body.get("stream"):
                events = EVENTS[path]
                missing = 100 if turn.get("cut") == "reset" else 0
                return self.answer(200, "text/event-stream", events(turn, str(len(fake.got))), missing)
            return self.answer(200, "application/json", json.dumps(REPLIES[path](turn, str(len(fake.got)))))

        def answer(self, status: int, kind: str, text: str, missing: int = 0) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(text.encode()) + missing))
            if status == 429:
                self.send_header("retry-after", "7")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Log nothing."""

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


def anthropic(turn: dict[str, Any], number: str) -> dict[str, Any]:
    calls = {"type": "tool_use", "id": f"toolu_{number}", "name": turn.get("name"), "input": turn.get("input")}
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": turn["text"]} if "text" in turn else calls],
        "stop_reason": "end_turn" if "text" in turn else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def anthropic_events(turn: dict[str, Any], number: str) -> str:
    message = anthropic(turn, number)
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


def chat(turn: dict[str, Any], number: str) -> dict[str, Any]:
    calls = []
    for index, call in enumerate(turn.get("calls", [turn] if "name" in turn else [])):
        given = call["input"]
        function = {"name": call["name"], "arguments": given if isinstance(given, str) else json.dumps(given)}
        id_ = call.get("id") or (f"call_{number}.{index}" if index else f"call_{number}")
        calls.append({"id": id_, "type": "function", "function": function})
    message = {"role": "assistant", "content": turn.get("text")}
    if "refusal" in turn:
        message["refusal"] = turn["refusal"]
    if "reasoning" in turn:
        message["reasoning_content"] = turn["reasoning"]
    if calls:
        message["tool_calls"] = calls
    finish = turn.get("finish", "tool_calls" if calls else "stop")
    details = {"cached_tokens": 4}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "prompt_tokens_details": details}
    return {
        "id": number,
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": usage,
    }


def chat_events(turn: dict[str, Any], number: str) -> str:
    whole = chat(turn, number)
    (choice,) = whole["choices"]
    calls = choice["message"].pop("tool_calls", [])
    deltas: list[dict[str, Any]] = [choice["message"]]
    # Every call starts before the first one ends.
    for index, call in enumerate(calls):
        deltas.append({"tool_calls": [{**call, "index": index, "function": {**call["function"], "arguments": ""}}]})
    for half in range(2):
        for index, call in enumerate(calls):
            text = call["function"]["arguments"]
            piece = text[len(text) // 2 :] if half else text[: len(text) // 2]
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]})
    base = {**whole, "object": "chat.completion.chunk", "usage": None}
    events = [{**base, "choices": [choice]} for choice in choices]
    events.append({**base, "choices": [], "usage": whole["usage"]})
    ended = "data: [DONE]\n\n"
    if "cut" in turn:
        events, ended = events[:-3], ""
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + ended


def responses(turn: dict[str, Any], number: str) -> dict[str, Any]:
    call = {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": turn["name"],
        "arguments": json.dumps(turn["input"]),
        "status": "completed",
    }
    return {"id": f"resp_{number}", "object": "response", "created_at": 0, "model": "m", "output": [call]}


def gemini(turn: dict[str, Any], _number: str) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"functionCall": {"name": turn["name"], "args": turn["input"]}}]}
    return {"candidates": [{"content": content, "finishReason": "STOP"}]}


def interactions(turn: dict[str, Any], number: str) -> dict[str, Any]:
    call = {"type": "function_call", "id": f"call_{number}", "name": turn["name"], "arguments": turn["input"]}
    return {"id": f"v1_{number}", "status": "requires_action", "steps": [{"type": "thought", "signature": "s"}, call]}


def interactions_events(turn: dict[str, Any], number: str) -> str:
    whole = interactions(turn, number)
    (_, call) = whole["steps"]
    text = json.dumps(call["arguments"])
    pieces = [{"type": "arguments_delta", "arguments": piece} for piece in (text[:5], text[5:])]
    events: list[dict[str, Any]] = [
        {"event_type": "interaction.created", "interaction": {**whole, "steps": []}},
        {"event_type": "step.start", "index": 1, "step": {**call, "arguments": {}}},
        *({"event_type": "step.delta", "index": 1, "delta": piece} for piece in pieces),
        {"event_type": "step.stop", "index": 1},
        {"event_type": "interaction.completed", "interaction": whole},
    ]
    return "".join(f"event: {event['event_type']}\ndata: {json.dumps(event)}\n\n" for event in events)


REPLIES = {
    "/messages": anthropic,
    "/chat/completions": chat,
    "/responses": responses,
    ":generateContent": gemini,
    "/interactions": interactions,
}
EVENTS = {"/messages": anthropic_events, "/chat/completions": chat_events, "/interactions": interactions_events}
