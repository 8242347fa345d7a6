"""Deferred tools and Anthropic's own tool search, on a backend with Anthropic's protocol that supports neither.

Only the line with `http_client` is specific to toolwire.
"""

from collections.abc import Callable

import httpx2
from anthropic import Anthropic
from anthropic.types import Message, MessageParam, ToolResultBlockParam, ToolUnionParam

from toolwire.httpx2 import ToolwireTransport

# The list may contain the tools of several servers. The model sees only those that it has found.
TOOLS: list[ToolUnionParam] = [
    {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
    {
        "name": "book.room",
        "description": "Books a meeting room",
        "input_schema": {"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]},
        "defer_loading": True,
    },
    {
        "name": "mail.send",
        "description": "Sends a letter to somebody",
        "input_schema": {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]},
        "defer_loading": True,
    },
]


def book(base_url: str, streams: bool, call: Callable[[str, object], str]) -> list[MessageParam]:
    """Ask the model until it makes no more calls."""
    http_client = httpx2.Client(transport=ToolwireTransport(dialect="moonshot"))
    client = Anthropic(base_url=base_url, api_key="none", http_client=http_client)
    messages: list[MessageParam] = [{"role": "user", "content": "A room in Oslo, please."}]
    while True:
        if streams:
            with client.messages.stream(model="kimi-k2", max_tokens=1000, messages=messages, tools=TOOLS) as stream:
                message: Message = stream.get_final_message()
        else:
            message = client.messages.create(model="kimi-k2", max_tokens=1000, messages=messages, tools=TOOLS)
        # The content includes the searches as Anthropic's blocks, which tell the next request what was found.
        messages.append({"role": "assistant", "content": message.content})
        results: list[ToolResultBlockParam] = [
            {"type": "tool_result", "tool_use_id": block.id, "content": call(block.name, block.input)}
            for block in message.content
            if block.type == "tool_use"
        ]
        if not results:
            return messages
        messages.append({"role": "user", "content": results})
