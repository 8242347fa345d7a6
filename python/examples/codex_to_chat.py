"""Codex in front of a backend that knows Chat Completions only: what a gateway does with one request and its reply.

Codex speaks Responses: its tools stand in namespaces, some are `custom` tools without a schema, and with *Responses
Lite* all of them come in an item of the history. (How the reply is streamed to the client is the gateway's own
business: `Restore.call_stream`.)
"""

from typing import Any

from openai import OpenAI

from toolwire import adapt_request


def answered(base_url: str, request: dict[str, Any]) -> dict[str, Any]:
    """Ask the backend, and give what Codex reads as the answer of its own API."""
    client = OpenAI(base_url=base_url, api_key="none")
    adapted = adapt_request(request, dialect="openai-chat", deferred={"target": "openai-chat"})
    completion = client.chat.completions.create(**adapted.request)
    output: list[Any] = []
    for choice in completion.choices:
        if choice.message.content is not None:
            text = {"type": "output_text", "text": choice.message.content, "annotations": []}
            output.append({"type": "message", "id": "msg_1", "role": "assistant", "content": [text]})
        for call in choice.message.tool_calls or []:
            # In the form of the client's own API: a call of `exec` is a `custom_tool_call`, one of a namespace's tool
            # names it.
            output.append(adapted.restore.client_call(call).call)
    return {"id": completion.id, "object": "response", "status": "completed", "output": output}
