"""Clients of Anthropic's API (Claude Code, Anthropic's SDKs) with a backend that supports only Chat Completions.

toolwire translates requests, their history and calls. This gateway sends them, runs the hosted tool search, and
returns whole or streamed replies.
"""

import json
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import urlsplit
from uuid import uuid4

import httpx2
from anthropic_blocks import Blocks
from openai import APIError, OpenAI, Stream
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from toolwire import ToolwireError, adapt_request
from toolwire.types import AdaptReport, DialectName

LARGEST = 64 * 1024 * 1024
ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


@dataclass
class Options:
    """Options of the gateway."""

    dialect: DialectName
    # The backend's model, if the backend does not know the models that clients name.
    model: str | None = None
    # "content": `thinking` blocks become `reasoning_content` and vice versa. "drop": both are left out.
    reasoning: Literal["drop", "content"] = "drop"
    # True if invalid arguments are repaired. Then a streamed call is held back until it ends.
    repair: bool = False
    # Maximum number of requests to the backend for one message, while the model only searches.
    max_rounds: int = 10
    # Called with a report of what the translation of each request changed and left out.
    on_report: Callable[[AdaptReport], object] | None = None


class RefusedError(Exception):
    """A request that the gateway does not send."""

    def __init__(self, status: int, message: str) -> None:
        """Store the message, and the HTTP status of the answer."""
        super().__init__(message)
        self.status = status


def gateway(base_url: str, options: Options, port: int = 0) -> ThreadingHTTPServer:
    """Make the server."""
    # Retries are left to the client. Following a redirect would send the key to another address.
    http_client = httpx2.Client(follow_redirects=False, timeout=600)
    backend = OpenAI(base_url=base_url, api_key="none", max_retries=0, http_client=http_client)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            try:
                client_request = json.loads(self.read())
                if not isinstance(client_request, dict) or not isinstance(client_request.get("messages"), list):
                    raise RefusedError(400, "expected a request with a list of messages")
                # Only the key is sent to the backend, which does not know `anthropic-beta` and the other headers.
                key = self.headers.get("x-api-key") or self.headers.get("authorization", "none").removeprefix("Bearer ")
                self.answer(backend.with_options(api_key=key), client_request)
            except ConnectionError:
                pass  # The client has disconnected.
            except Exception as error:
                status, headers, body = refusal(error)
                self.send(status, body, headers)

        def read(self) -> bytes:
            # Chat Completions has no counterpart of `/v1/messages/count_tokens` and Anthropic's other paths.
            if urlsplit(self.path).path != "/v1/messages":
                raise RefusedError(404, f"unknown path {self.path}")
            size = int(self.headers.get("content-length", 0))
            if size > LARGEST:
                raise RefusedError(413, f"expected at most {LARGEST} bytes")
            return self.rfile.read(size)

        def answer(self, backend: OpenAI, client_request: dict[str, Any]) -> None:
            message = empty(client_request.get("model"))
            with closing(answered(backend, client_request, message, options)) as events:
                # If the backend refuses the request, this raises an error before a status was sent to the client.
                first = next(events)
                if not client_request.get("stream"):
                    for _ in events:
                        pass
                    return self.send(200, message, {})
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                for data in written(first, events):
                    self.wfile.write(f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode())
            return None

        def send(self, status: int, body: dict[str, Any], headers: dict[str, str]) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            for name, value in {
                "content-type": "application/json",
                "content-length": str(len(data)),
                **headers,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def answered(
    backend: OpenAI, client_request: dict[str, Any], message: dict[str, Any], options: Options
) -> Generator[dict[str, Any]]:
    """Yield the events of one message. The backend is asked once, and again after each turn that only searches."""
    kept = {**client_request, "model": options.model or client_request.get("model")}
    kept.pop("metadata", None)  # OpenAI refuses it without `store`.
    content, thinks, rounds = message["content"], options.reasoning == "content", 0
    while message["stop_reason"] is None:
        rounds += 1
        # The model reads its searches in the history, in the same form as in the client's next request.
        answers = [{"role": "assistant", "content": content}] if content else []
        messages = [*client_request["messages"], *answers]
        adapted = adapt_request(
            {**kept, "messages": messages},
            dialect=options.dialect,
            repair=options.repair,
            deferred={"target": "openai-chat", "server_tool_search": "emulate", "reasoning": options.reasoning},
        )
        if options.on_report:
            options.on_report(adapted.report)
        with sent(backend, adapted.request) as chunks:
            if rounds == 1:
                yield {"type": "message_start", "message": message}
            search = adapted.report.deferred.tool_search_name if adapted.report.deferred else None
            blocks = Blocks(content, client_request.get("tools"), adapted.restore, search, json.dumps(messages))
            finished: str | None = None
            usage = None
            for chunk in chunks:
                for choice in chunk.choices[:1]:
                    yield from blocks.take(choice.delta, thinks)
                    finished = choice.finish_reason or finished
                usage = chunk.usage or usage
        if finished is None:
            raise RefusedError(502, "the stream of the backend broke off")
        yield from blocks.advance(True)
        if usage:
            cached = (usage.prompt_tokens_details and usage.prompt_tokens_details.cached_tokens) or 0
            message["usage"]["input_tokens"] += usage.prompt_tokens - cached
            message["usage"]["cache_read_input_tokens"] += cached
            message["usage"]["output_tokens"] += usage.completion_tokens
        if finished == "length":
            message["stop_reason"] = "max_tokens"
        elif finished == "content_filter":
            message["stop_reason"] = "refusal"
        elif blocks.has("call"):
            message["stop_reason"] = "tool_use"
        elif not blocks.has("search"):
            message["stop_reason"] = "end_turn"
        elif rounds >= options.max_rounds:
            message["stop_reason"] = "pause_turn"
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": message["usage"]}
    yield {"type": "message_stop"}


def sent(backend: OpenAI, body: dict[str, Any]) -> AbstractContextManager[Iterable[ChatCompletionChunk]]:
    """Ask the backend, and return its stream. A whole reply becomes a stream of one chunk."""
    completions = backend.chat.completions
    if body.get("stream"):
        stream: Stream[ChatCompletionChunk] = completions.create(**body, stream_options={"include_usage": True})
        return stream
    whole: ChatCompletion = completions.create(**body)
    chunk: dict[str, Any] = whole.to_dict()
    for choice in chunk["choices"]:
        choice["delta"] = choice.pop("message")
        for index, call in enumerate(choice["delta"].get("tool_calls") or []):
            call["index"] = index
    return nullcontext([ChatCompletionChunk.construct(None, **chunk)])


def empty(model: Any) -> dict[str, Any]:
    """Return a message without content."""
    return {
        "id": f"msg_{uuid4().hex}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0},
    }


def written(first: dict[str, Any], rest: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the events. An exception becomes the last event."""
    yield first
    try:
        yield from rest
    except Exception as error:
        yield refusal(error)[2]


def refusal(error: Exception) -> tuple[int, dict[str, str], dict[str, Any]]:
    """Return an error in Anthropic's format: status, headers and body."""
    status, message = 502, str(error)
    headers: dict[str, str] = {}
    if isinstance(error, ToolwireError | json.JSONDecodeError):
        status = 400
    if isinstance(error, RefusedError):
        status = error.status
    if isinstance(error, APIError):
        if isinstance(error.body, dict) and "message" in error.body:
            message = str(error.body["message"])
        response = getattr(error, "response", None)
        if response is not None:
            status = response.status_code if response.status_code >= 400 else 502
            headers = {name: value for name, value in response.headers.items() if name == "retry-after"}
    return status, headers, {"type": "error", "error": {"type": ERRORS.get(status, "api_error"), "message": message}}
