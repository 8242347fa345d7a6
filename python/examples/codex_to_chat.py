"""Codex with a backend that supports only Chat Completions: one request of a gateway, and its reply.

Codex uses the Responses API: its tools are in namespaces, some are `custom` tools without a schema, and with *Responses
Lite* all tools are in an item of the history. (This example does not stream the reply to the client; a gateway does
that with `Restore.call_stream`.)
"""

from typing import Any

from openai import OpenAI

from toolwire import adapt_request


def answered(base_url: str, request: dict[str, Any]) -> dict[str, Any]:
    """Ask the backend, and return the answer in the format of Codex's own API."""
    client = OpenAI(base_url=base_url, api_key="none")
    adapted = adapt_request(request, dialect="openai-chat", deferred={"target": "openai-chat"})
    completion = client.chat.completions.create(**adapted.request)
    output: list[Any] = []
    for choice in completion.choices:
        if choice.message.content is not None:
            text = {"type": "output_text", "text": choice.message.content, "annotations": []}
            output.append({"type": "message", "id": "msg_1", "role": "assistant", "content": [text]})
        for call in choice.message.tool_calls or []:
            # In the format of the client's own API: a call to `exec` becomes a `custom_tool_call`, and a call to a tool
            # in a namespace names the namespace.
            output.append(adapted.restore.client_call(call).call)
    return {"id": completion.id, "object": "response", "status": "completed", "output": output}
